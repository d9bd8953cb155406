#!/usr/bin/env bash
# install.sh [ceph]: installs the parts from Debian's packages (12 or later, or Ubuntu 24.04), as root, and starts none.
# npm test -- parts itself installs nothing. versitygw is no package: the pipelines take it out of its image.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt=(apt-get -o DPkg::Lock::Timeout=300 -qq)

# Asked before a package starts a service: 101 means no.
if [ ! -e /usr/sbin/policy-rc.d ]; then
  trap 'rm -f /usr/sbin/policy-rc.d' EXIT
  printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d
fi
"${apt[@]}" update
"${apt[@]}" install -y --no-install-recommends postgresql redis-server nginx-light haproxy openssl ca-certificates \
  $([ "${1:-}" = ceph ] && echo ceph-mon ceph-mgr ceph-osd radosgw)

# Debian 12 has PgBouncer 1.18, too old for prepared statements in transaction mode. Debian 13's is unpacked beside the
# system, with its own C library and the others that it needs.
newest=$(apt-cache policy pgbouncer | awk '/Candidate/ { print $2 }')
if dpkg --compare-versions "$newest" ge 1.21; then
  "${apt[@]}" install -y --no-install-recommends pgbouncer
elif [ ! -x /opt/pgbouncer/pgbouncer ]; then
  root=/opt/pgbouncer && mkdir -p $root/apt/lists/partial $root/apt/cache/archives/partial && : > $root/apt/status
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main" > $root/apt/sources
  other=(apt-get -qq -o Dir::Etc::SourceList=$root/apt/sources -o Dir::Etc::SourceParts=/dev/null
    -o Dir::State::Lists=$root/apt/lists -o Dir::State::Status=$root/apt/status -o Dir::Cache=$root/apt/cache
    -o APT::Sandbox::User=root -o Debug::NoLocking=1)
  "${other[@]}" update
  "${other[@]}" install -y --no-install-recommends --download-only pgbouncer
  for package in $root/apt/cache/archives/{pgbouncer,lib,zlib}*.deb; do dpkg-deb -x "$package" $root/root; done
  rm -r $root/apt
  cat > $root/pgbouncer << 'RUN'
#!/bin/sh
cd /opt/pgbouncer/root && exec ./usr/lib/*/ld-linux-*.so.* --library-path "$(echo usr/lib/*-linux-gnu*)" usr/sbin/pgbouncer "$@"
RUN
  chmod +x $root/pgbouncer
fi
