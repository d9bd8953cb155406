#!/usr/bin/env bash
# Ceph's S3 gateway with TLS, over a cluster of one monitor and one object server in memory: a gateway to try, and no
# example of a cluster.
#   ceph.sh version | cluster | run     run, as in postgres.sh, is the gateway; the cluster comes first
# CEPH_MON_PORT, S3_PORT, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
for program in radosgw ceph-mon ceph-osd; do
  command -v $program > /dev/null || { echo "$program is not installed (deploy/parts/install.sh ceph)"; exit 77; }
done
[ "$1" = version ] && { radosgw --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -1; exit; }

dir=$PARTS_DIR/ceph
export CEPH_CONF=$dir/ceph.conf
"$here/authority.sh"

if [ "$1" = cluster ]; then
  mkdir -p "$dir"/{mon,osd}
  id=$(cat /proc/sys/kernel/random/uuid) monitor=[v2:127.0.0.1:${CEPH_MON_PORT:-3300}]
  cat > "$CEPH_CONF" << CONF
[global]
fsid = $id
mon host = $monitor
public addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
; The gateway wants it encrypted by default, which takes keys.
ms mon client mode = crc
mon data = $dir/mon
osd data = $dir/osd
osd objectstore = memstore
memstore device bytes = 2147483648
run dir = $dir
admin socket = $dir/\$name.\$pid.asok
log file = $dir/\$name.log
; One copy, on the one machine there is.
osd pool default size = 1
osd pool default min size = 1
mon allow pool size one = true
osd crush chooseleaf type = 0
osd pool default pg num = 4
CONF
  monmaptool --create --fsid "$id" --addv a "$monitor" "$dir/monmap" > /dev/null
  ceph-mon --mkfs -i a --monmap "$dir/monmap" --keyring /dev/null
  ceph-mon -f -i a &
  ceph osd create > /dev/null
  ceph-osd -i 0 --mkfs
  exec ceph-osd -f -i 0
fi

if [ ! -e "$dir/users" ]; then
  radosgw-admin user create --uid lipsync --display-name lipsync \
    --access-key "${S3_ACCESS_KEY_ID:?}" --secret-key "${S3_SECRET_ACCESS_KEY:?}" > "$dir/users"
fi
exec radosgw -f -n client.gateway \
  --rgw-frontends "beast ssl_endpoint=127.0.0.1:${S3_PORT:-7480} ssl_certificate=$PARTS_DIR/tls/server.both.pem"
