#!/usr/bin/env bash
# PostgreSQL with TLS, the database and the roles of the runbook ("Install", step 1), everything else at its defaults
# (on Debian that includes JIT).
#   postgres.sh version   what is installed; ends with 77 where nothing is
#   postgres.sh run       sets it up in $PARTS_DIR/$PART at the first time, then becomes the server
# POSTGRES_BIN_DIR: which one. POSTGRES_PORT. POSTGRES_PASSWORD: of the login lipsync_a.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
bin=${POSTGRES_BIN_DIR:-$(find /usr/lib/postgresql -name initdb -printf '%h\n' 2> /dev/null | sort -V | tail -1)}
[ -x "$bin/initdb" ] || { echo 'postgres is not installed (apt-get install postgresql)'; exit 77; }
[ "$1" = version ] && { "$bin/initdb" --version | grep -oE '[0-9]+\.[0-9]+' | head -1; exit; }

dir=$PARTS_DIR/${PART:-postgres}
"$here/authority.sh"
# Postgres refuses to run as root.
account=$(id -un) as=()
if [ "$account" = root ]; then
  account=$(id -un postgres 2> /dev/null || echo nobody)
  as=(setpriv --reuid "$account" --regid "$(id -g "$account")" --clear-groups)
fi
if [ ! -e "$dir/ready" ]; then
  mkdir -p "$dir" && cp "$PARTS_DIR"/tls/server.{pem,key} "$dir"
  # It also refuses a key that others can read.
  chmod 700 "$dir" && chmod 600 "$dir/server.key" && chown -R "$account" "$dir"
  "${as[@]}" "$bin/initdb" -D "$dir/data" --username postgres --auth=reject --encoding UTF8 --locale C > /dev/null
  printf 'hostssl all all 127.0.0.1/32 scram-sha-256\nhostssl all all ::1/128 scram-sha-256\n' > "$dir/data/pg_hba.conf"
  "${as[@]}" "$bin/postgres" --single -D "$dir/data" postgres > /dev/null << SQL
CREATE ROLE lipsync NOLOGIN
CREATE DATABASE lipsync OWNER lipsync
CREATE ROLE lipsync_a LOGIN PASSWORD '${POSTGRES_PASSWORD:?}' IN ROLE lipsync
ALTER ROLE lipsync_a SET role = 'lipsync'
SQL
  touch "$dir/ready"
fi
exec "${as[@]}" "$bin/postgres" -D "$dir/data" -c port="${POSTGRES_PORT:-5432}" -c listen_addresses=localhost \
  -c unix_socket_directories= -c ssl=on -c ssl_cert_file="$dir/server.pem" -c ssl_key_file="$dir/server.key"
