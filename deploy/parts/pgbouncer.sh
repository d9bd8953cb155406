#!/usr/bin/env bash
# PgBouncer in transaction mode before postgres.sh, with TLS on both sides.
#   pgbouncer.sh version | run     as postgres.sh
# PGBOUNCER_BIN, PGBOUNCER_PORT, POSTGRES_PORT, POSTGRES_PASSWORD. docs/capacity.md ("A pooler") gives the reasons.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
bin=${PGBOUNCER_BIN:-$(command -v pgbouncer || echo /opt/pgbouncer/pgbouncer)}
[ -x "$bin" ] || { echo 'pgbouncer is not installed (deploy/parts/install.sh)'; exit 77; }
version=$("$bin" --version | grep -oE '[0-9]+\.[0-9]+(\.[0-9]+)?' | head -1)
# Before 1.21 it loses the prepared statements of the services in transaction mode.
printf '1.21\n%s\n' "$version" | sort -VC || { echo "pgbouncer $version is too old (deploy/parts/install.sh)"; exit 77; }
[ "$1" = version ] && { echo "$version"; exit; }

dir=$PARTS_DIR/pgbouncer
"$here/authority.sh"
as=() && [ "$(id -u)" = 0 ] && as=(setpriv --reuid postgres --regid postgres --clear-groups)
mkdir -p "$dir" && cp "$PARTS_DIR"/tls/{ca,server}.pem "$PARTS_DIR/tls/server.key" "$dir"
# The password, and not its SCRAM secret, which is of use only while it is the very one that Postgres has.
echo "\"lipsync_a\" \"${POSTGRES_PASSWORD:?}\"" > "$dir/users.txt"
cat > "$dir/pgbouncer.ini" << INI
[databases]
; What the services ask for at connecting and PgBouncer cannot follow (see below), for every connection to Postgres. An
; address, because PgBouncer's resolver takes localhost for ::1.
lipsync = host=127.0.0.1 port=${POSTGRES_PORT:-5432} connect_query='SET statement_timeout = 15000; SET idle_in_transaction_session_timeout = 30000; SET jit = off'

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${PGBOUNCER_PORT:-6432}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = $dir/users.txt
client_tls_sslmode = require
client_tls_cert_file = $dir/server.pem
client_tls_key_file = $dir/server.key
server_tls_sslmode = verify-full
server_tls_ca_file = $dir/ca.pem

pool_mode = transaction
; The services' statements are prepared; 0 (the default before 1.24) breaks them.
max_prepared_statements = 200
default_pool_size = 20
max_client_conn = 1000
; Never add \`options\`: it carries the time zone, which PgBouncer does follow.
ignore_startup_parameters = statement_timeout, idle_in_transaction_session_timeout, jit
; After Postgres was away, ask it again within a second; by default fifteen pass in which every query fails.
server_login_retry = 1
INI
chmod 700 "$dir" && [ ${#as[@]} -gt 0 ] && chown -R postgres:postgres "$dir"
exec "${as[@]}" "$bin" "$dir/pgbouncer.ini"
