#!/usr/bin/env bash
# Ceph's S3 gateway with TLS, over a cluster of one monitor and one object server in memory: a gateway to try, and no
# example of a cluster.
#   ceph.sh version | cluster | run     run, as in postgres.sh, is the gateway; the cluster comes first
# CEPH_MON_PORT, CEPH_SETUP_PORT, S3_PORT, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY. A second pair signs uploads: the
# access key with -uploads, and the same secret.
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

if [ ! -e "$dir/ready" ]; then
  user() { radosgw-admin user create --uid "$1" --display-name "$1" --access-key "$2" --secret-key "${S3_SECRET_ACCESS_KEY:?}"; }
  user lipsync "${S3_ACCESS_KEY_ID:?}" > /dev/null
  user lipsync-uploads "$S3_ACCESS_KEY_ID-uploads" > /dev/null
  # The bucket and who may do what in it, by S3 itself, before anybody else may use it.
  radosgw -f -n client.setup --rgw-frontends "beast endpoint=127.0.0.1:${CEPH_SETUP_PORT:-7481}" &
  s3() { # path, body
    curl -sSf -X PUT --aws-sigv4 aws:amz:us-east-1:s3 --user "$S3_ACCESS_KEY_ID:$S3_SECRET_ACCESS_KEY" \
      --header "x-amz-content-sha256: $(printf %s "$2" | sha256sum | cut -d' ' -f1)" --header content-type:text/plain \
      --retry 60 --retry-delay 1 --retry-connrefused "http://127.0.0.1:${CEPH_SETUP_PORT:-7481}/lipsync$1" --data-binary "$2"
  }
  s3 '' ''
  # Uploads are signed by the second user (runbook, "The pair that signs uploads"). What it uploads belongs to it, so the
  # first one needs its rights here although the bucket is its own.
  s3 '?policy=' '{"Version": "2012-10-17", "Statement": [
    {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam:::user/lipsync"}, "Resource": "arn:aws:s3:::lipsync/*",
     "Action": ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"]},
    {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam:::user/lipsync"}, "Resource": "arn:aws:s3:::lipsync",
     "Action": "s3:ListBucket"},
    {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam:::user/lipsync-uploads"}, "Action": "s3:PutObject",
     "Resource": "arn:aws:s3:::lipsync/uploads/*"}]}'
  s3 '?publicAccessBlock=' '<PublicAccessBlockConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
    <IgnorePublicAcls>true</IgnorePublicAcls></PublicAccessBlockConfiguration>'
  kill %1 && touch "$dir/ready"
fi
exec radosgw -f -n client.gateway \
  --rgw-frontends "beast ssl_endpoint=127.0.0.1:${S3_PORT:-7480} ssl_certificate=$PARTS_DIR/tls/server.both.pem"
