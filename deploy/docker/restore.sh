#!/bin/sh
# Brings the composed stack back to a backup of `docker compose --profile backups`: the database, and the objects of that
# time. What was erased since is erased again. Nothing is served meanwhile. The database of now is dumped first, so that
# this can be undone the same way.
#
#   deploy/docker/restore.sh                          # the newest backup
#   deploy/docker/restore.sh 2026-03-01T12:00:00Z     # the newest until then
#   docker compose --profile backups run --rm backup list
set -eu
cd "$(dirname "$0")/../.."
docker compose --profile backups stop api media-worker gpu-worker webhook-dispatcher backup
docker compose --profile backups run --rm backup restore ${1:+--to "$1"}
docker compose --profile tools run --rm admin erased apply
docker compose --profile backups up --wait
