#!/usr/bin/env bash
# Redis with TLS and an access list, alone or watched by Sentinel.
#   redis.sh version | run            as postgres.sh; data in $PARTS_DIR/$PART
#   redis.sh sentinel                 watches the primary at REDIS_PORT; run three
# REDIS_PORT, REDIS_PASSWORD (of every user). REDIS_REPLICA_OF: port of the primary, for a replica. SENTINEL_PORT.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
bin=${REDIS_SERVER_BIN:-redis-server}
command -v "$bin" > /dev/null || { echo 'redis is not installed (apt-get install redis-server)'; exit 77; }
[ "$1" = version ] && { "$bin" --version | grep -oE 'v=[0-9.]+' | cut -c3-; exit; }

dir=$PARTS_DIR/${PART:-redis} tls=$PARTS_DIR/tls
"$here/authority.sh"
mkdir -p "$dir"
base="bind 127.0.0.1
port 0
dir $dir
tls-cert-file $tls/server.pem
tls-key-file $tls/server.key
tls-ca-cert-file $tls/ca.pem
tls-auth-clients no
tls-replication yes"

# Both programs write what they learn (who is primary) into their file, so it is made only once.
if [ "$1" = sentinel ]; then
  [ -e "$dir/sentinel.conf" ] || cat > "$dir/sentinel.conf" << CONF
$base
tls-port ${SENTINEL_PORT:-26379}
sentinel monitor lipsync 127.0.0.1 ${REDIS_PORT:-6379} 2
sentinel auth-user lipsync sentinel
sentinel auth-pass lipsync ${REDIS_PASSWORD:?}
sentinel down-after-milliseconds lipsync 3000
sentinel failover-timeout lipsync 10000
CONF
  exec "$bin" "$dir/sentinel.conf" --sentinel
fi

# The services' user gets the keys and the two channels (cancellations, new messages) of the service, and of the commands the least set
# that works: scripts, of which BullMQ and the rate limiter consist, with the kinds of data that these touch, and INFO,
# from which BullMQ reads the version.
[ -e "$dir/redis.conf" ] || cat > "$dir/users.acl" << ACL
user default off
user lipsync on >${REDIS_PASSWORD:?} ~lipsync:* &lipsync:cancel &lipsync:wake -@all +@connection +@hash +@list +@set +@sortedset +@stream +@string +@keyspace -@dangerous +eval +evalsha +publish +subscribe +time +info
user replica on >$REDIS_PASSWORD -@all +ping +psync +replconf
user haproxy on >$REDIS_PASSWORD -@all +role
user sentinel on >$REDIS_PASSWORD allchannels -@all +multi +exec +slaveof +ping +subscribe +publish +info +role +config|rewrite +client|setname +client|kill +script|kill
ACL
[ -e "$dir/redis.conf" ] || cat > "$dir/redis.conf" << CONF
$base
tls-port ${REDIS_PORT:-6379}
aclfile $dir/users.acl
masteruser replica
masterauth $REDIS_PASSWORD
appendonly yes
maxmemory-policy noeviction
${REDIS_REPLICA_OF:+replicaof 127.0.0.1 $REDIS_REPLICA_OF}
CONF
exec "$bin" "$dir/redis.conf"
