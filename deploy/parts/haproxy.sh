#!/usr/bin/env bash
# HAProxy before two Redis servers: one address that leads to the primary, also after a failover by Sentinel. It passes
# TLS through, so clients verify Redis itself.
#   haproxy.sh version | run     as postgres.sh
# HAPROXY_PORT. REDIS_PORTS: of the two. REDIS_PASSWORD: of its user haproxy (redis.sh).
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
command -v haproxy > /dev/null || { echo 'haproxy is not installed (apt-get install haproxy)'; exit 77; }
[ "$1" = version ] && { haproxy -v | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -1; exit; }

dir=$PARTS_DIR/haproxy
"$here/authority.sh"
mkdir -p "$dir"
{
  cat << CFG
defaults
  mode tcp
  timeout connect 2s
  timeout check 2s
  # Connections of the services are quiet for as long as there is no work; the kernel finds the dead ones.
  timeout client 1h
  timeout server 1h
  option clitcpka
  option srvtcpka

frontend redis
  bind 127.0.0.1:${HAPROXY_PORT:-6380}
  default_backend primary

backend primary
  option tcp-check
  tcp-check connect ssl
  tcp-check send AUTH\ haproxy\ ${REDIS_PASSWORD:?}\r\n
  tcp-check expect string +OK
  tcp-check send ROLE\r\n
  tcp-check expect string master
  # Clients of a server that is no longer primary are disconnected, and reconnect to the one that is.
  default-server check inter 1s fall 2 rise 1 check-ssl verify required ca-file $PARTS_DIR/tls/ca.pem on-marked-down shutdown-sessions
CFG
  for port in ${REDIS_PORTS:-6379 6381}; do echo "  server redis-$port 127.0.0.1:$port"; done
} > "$dir/haproxy.cfg"
exec haproxy -db -f "$dir/haproxy.cfg"
