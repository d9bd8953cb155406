#!/usr/bin/env bash
# ./render.sh talk.mp4 voice.wav result.mp4, with curl and jq
set -euo pipefail
video=$1 voice=$2 result=$3

json='Content-Type: application/json'
api() {
  curl -sS --fail-with-body --retry 3 -H "Authorization: Bearer $LIPSYNC_API_KEY" "$@"
}

upload() { # file, media_type, content_type: prints the asset's id
  local asked upload
  asked=$(jq -n --arg media "$2" --arg content "$3" --argjson bytes "$(wc -c <"$1")" \
    '{media_type: $media, content_type: $content, size_bytes: $bytes}')
  upload=$(api "$LIPSYNC_BASE_URL/v1/uploads" -H "$json" -d "$asked")
  curl -sS --fail --upload-file "$1" -H "Content-Type: $3" \
    "$(jq -r .upload_url <<<"$upload")"
  api -X POST "$(jq -r .complete_url <<<"$upload")" >/dev/null
  jq -r .asset_id <<<"$upload"
}

video_id=$(upload "$video" video video/mp4)
voice_id=$(upload "$voice" audio audio/wav)
asked=$(jq -n --arg video "$video_id" --arg voice "$voice_id" \
  '{video: {asset_id: $video}, audio: {asset_id: $voice},
    engines: ["musetalk"], sync_mode: "cut_off"}')
# With this key the request can be sent again without rendering twice.
render=$(api "$LIPSYNC_BASE_URL/v1/renders" -H "$json" \
  -H "Idempotency-Key: $(date +%s)-$$" -d "$asked")

while :; do
  render=$(api "$(jq -r .status_url <<<"$render")")
  echo "$(jq -r .stage <<<"$render") $(jq -r .progress_percent <<<"$render") %"
  case $(jq -r .status <<<"$render") in
    completed) break ;;
    failed | cancelled) jq .error <<<"$render" >&2 && exit 1 ;;
  esac
  sleep 2
done
curl -sS --fail -o "$result" "$(jq -r '.engines[0].output.url' <<<"$render")"
