#!/bin/sh
# Brings the composed stack back to a backup of `docker compose --profile backups`: the database, and the objects of that
# time. What was erased since is erased again. Nothing is served meanwhile. The database of now is dumped first, so that
# this can be undone: `list` shows that dump, and its exact time names it.
#
#   deploy/docker/restore.sh                          # the newest backup
#   deploy/docker/restore.sh 2026-03-01T12:00:00Z     # the newest until then
#   docker compose --profile backups run --rm backup list
set -eu
cd "$(dirname "$0")/../.."
compose() { docker compose --profile backups --profile gpu --profile tools "$@"; }

running=$(compose ps --services --status running |
  grep -xE 'api|media-worker|gpu-worker|gpu-worker-cuda|webhook-dispatcher|backup') || true
trap 'echo "The services are still stopped. Repeat this, or: docker compose start" $running >&2' EXIT
# Word by word: names of services.
# shellcheck disable=SC2086
[ -z "$running" ] || compose stop $running
compose run --rm backup restore ${1:+--to "$1"}
compose run --rm admin erased apply ||
  echo 'Not everything is erased again yet. Repeat: docker compose run --rm admin erased apply' >&2
trap - EXIT
[ -n "$running" ] || exit 0
# shellcheck disable=SC2086
compose start $running
# `start` returns before anything answers, and only the newest releases of Compose have `start --wait`.
health() { docker inspect --format '{{with .State.Health}}{{.Status}}{{end}}' "$1"; }
# shellcheck disable=SC2086
for container in $(compose ps --quiet $running); do
  while [ "$(health "$container")" = starting ]; do sleep 1; done
  case $(health "$container") in healthy | '') ;; *) echo "not healthy: docker logs $container" >&2 && exit 1 ;; esac
done
# shellcheck disable=SC2086
compose ps $running
