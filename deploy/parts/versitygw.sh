#!/usr/bin/env bash
# The Versity S3 gateway over a folder, with TLS.
#   versitygw.sh version | run     as postgres.sh
# VERSITYGW_BIN, S3_PORT, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
bin=${VERSITYGW_BIN:-$(command -v versitygw || echo /opt/versitygw/versitygw)}
[ -x "$bin" ] || { echo 'versitygw is not installed (its image has it: deploy/parts/install.sh)'; exit 77; }
[ "$1" = version ] && { "$bin" --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -1; exit; }

dir=$PARTS_DIR/versitygw
"$here/authority.sh"
mkdir -p "$dir"
export ROOT_ACCESS_KEY_ID=${S3_ACCESS_KEY_ID:?} ROOT_SECRET_ACCESS_KEY=${S3_SECRET_ACCESS_KEY:?}
exec "$bin" --port "127.0.0.1:${S3_PORT:-7070}" --cert "$PARTS_DIR/tls/server.pem" --key "$PARTS_DIR/tls/server.key" \
  --region us-east-1 posix "$dir"
