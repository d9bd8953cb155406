#!/bin/sh
# For cron, or n8n's node Execute Command: NAME.mp4 and NAME.wav in a folder become NAME.musetalk.mp4.
#   */5 * * * *  flock -n /srv/dubs/.lock  sh watch-folder.sh /srv/dubs
# What fails for good leaves NAME.failed, which says why; delete it to try again.
cd "${1:?usage: watch-folder.sh FOLDER}" || exit
for voice in *.wav; do
  name=${voice%.wav}
  [ -e "$name.mp4" ] && [ ! -e "$name.musetalk.mp4" ] && [ ! -e "$name.failed" ] || continue
  lipsync render "$name.mp4" "$voice" --quiet > /dev/null 2> ".$name.log"
  status=$?
  case $status in
    0) rm ".$name.log" ;;
    # No key, no service, no time: the next run tries again.
    3 | 6 | 130 | 143) cat ".$name.log" >&2; exit $status ;;
    *) mv ".$name.log" "$name.failed" ;;
  esac
done
