#!/bin/sh
# check-secrets.sh IMAGE
#
# Starts a service's image with made-up secrets, as hardened as Compose starts it, and does in the container what a
# decoder could do that a file has taken over (hijacked.cjs). Fails if that yields a secret, a connection or a debugger.
# Needs docker and nothing else; the service finds no database and waits for it.
set -eu
image=$1
hijacked=$(cat "$(dirname "$0")/hijacked.cjs")
# What hijacked.cjs looks for. A master key consists of 64 hexadecimal digits.
secret=c0ffee$(od -An -N13 -tx1 /dev/urandom | tr -d ' \n')

container=$(docker run --detach --network none --read-only --tmpfs /tmp --volume /work --cap-drop ALL \
  --security-opt no-new-privileges \
  --env DATABASE_URL="postgres://lipsync:$secret@127.0.0.1:1/lipsync" --env REDIS_URL="redis://:$secret@127.0.0.1:1" \
  --env S3_ENDPOINT=http://127.0.0.1:1 --env S3_BUCKET=lipsync --env S3_ACCESS_KEY_ID="$secret" \
  --env S3_SECRET_ACCESS_KEY="$secret" --env MASTER_KEY="$secret$secret" --env PUBLIC_BASE_URL=http://localhost \
  "$image")
trap 'docker rm --force --volumes "$container" >/dev/null' EXIT

seconds=0
until docker exec "$container" node /app/healthcheck.cjs 2>/dev/null; do
  seconds=$((seconds + 1))
  [ "$(docker inspect --format '{{.State.Running}}' "$container")" = true ] && [ "$seconds" -lt 60 ] ||
    { docker logs "$container" >&2; echo "$image does not start" >&2; exit 1; }
  sleep 1
done

for task in read connect debug; do
  gained=$(docker exec "$container" node -e "$hijacked" "$task")
  [ -z "$gained" ] || { printf '%s gives a hijacked decoder (%s):\n%s\n' "$image" "$task" "$gained" >&2; exit 1; }
done
echo "$image gives a hijacked decoder nothing"
