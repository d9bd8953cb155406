#!/bin/sh
# Writes .env beside docker-compose.yml with new secrets, readable only by its owner. Keeps an existing file, because
# the data in the volumes is bound to its secrets.
set -eu
cd "$(dirname "$0")/../.."
[ ! -e .env ] || { echo '.env exists already' >&2; exit 1; }
umask 077
random() { od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'; }
sed -e "s/^POSTGRES_PASSWORD=$/&$(random 24)/" -e "s/^REDIS_PASSWORD=$/&$(random 24)/" \
  -e "s/^S3_ACCESS_KEY_ID=$/&dev$(random 8)/" -e "s/^S3_SECRET_ACCESS_KEY=$/&$(random 24)/" \
  -e "s/^MASTER_KEY=$/&$(random 32)/" .env.example >.env
echo 'wrote .env'
