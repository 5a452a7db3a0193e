#!/bin/bash
# SIGINT and SIGTERM: exit 130, a checkpoint, and a resume that ends like a run left alone. Then the
# other ways to resume: a finished run, from a kept frame, a damaged checkpoint, none at all, more frames.
set -eu
. "$2/tests/repro/common.sh"
"$program" run "$work/restart.lua" -o "$work/whole" --quiet

same "the last two checkpoints and those kept for good" \
  "$(ls "$work/whole/checkpoint" | sed 's/_step.*//' | tr '\n' ' ')" \
  "frame_000010 kept_frame_000004 kept_frame_000008 kept_frame_000012 "

for signal in INT TERM; do
  dir=$work/$signal
  "$program" run "$work/restart.lua" -o "$dir" --quiet 2> "$work/log" &
  pid=$!
  until [ -f "$dir/frames/grid_000003.vti" ]; do sleep 0.002; done
  kill -s $signal $pid
  status=0
  wait $pid || status=$?
  same "SIG$signal: exit status" "$status" 130
  same "SIG$signal: state" "$(state_of "$dir")" interrupted
  grep -q "meniscus: interrupted" "$work/log" || fail "SIG$signal is not told"
  [ -n "$(ls "$dir/checkpoint")" ] || fail "SIG$signal: no checkpoint"
  "$program" resume "$dir" --quiet
  same_runs "SIG$signal and resume" "$work/whole" "$dir"
done

told=$("$program" resume "$work/whole" 2>&1)
case $told in *finished*) ok "a finished run: $told" ;; *) fail "a finished run: $told" ;; esac
# Killed after its last record, while it wrote the report.
cp -r "$work/whole" "$work/cut"
mv "$work/cut/report.html" "$work/cut/report.html.part"
"$program" resume "$work/cut" --quiet
same_runs "killed in its report" "$work/whole" "$work/cut"
[ -f "$work/cut/report.html" ] || fail "killed in its report: there is none"

cp -r "$work/whole" "$work/back"
"$program" resume "$work/back" --from-frame 4 --quiet
same_runs "from frame 4" "$work/whole" "$work/back"
status=0
"$program" resume "$work/back" --from-frame 3 2> "$work/log" || status=$?
same "from a frame that was not kept" "$status" 2
grep -q "checkpoints of the frames: 4, 8, 1" "$work/log" || fail "frames are not listed: $(cat "$work/log")"

# The newest checkpoint is damaged: the one before is used, with a warning.
"$program" run "$work/restart.lua" -o "$work/damaged" --quiet --frames 6
same "an older one is gone" "$(ls "$work/damaged/checkpoint" | sed 's/_step.*//' | tr '\n' ' ')" \
  "frame_000006 kept_frame_000004 "
cp -r "$work/damaged" "$work/bare"
newest=$(ls -d "$work"/damaged/checkpoint/frame_000006_*)
printf x | dd of="$newest/u.npy" bs=1 seek=500 conv=notrunc status=none
"$program" resume "$work/damaged" --frames 12 --quiet 2> "$work/log"
grep -q "warning.*checksum.*earlier" "$work/log" || fail "no warning: $(cat "$work/log")"
same_runs "after a damaged checkpoint" "$work/whole" "$work/damaged"

rm -rf "$work/bare/checkpoint"
"$program" resume "$work/bare" --frames 12 --quiet 2> "$work/log"
grep -q "warning.*from the beginning" "$work/log" || fail "no warning: $(cat "$work/log")"
same_runs "without any checkpoint" "$work/whole" "$work/bare"

# Pictures are taken back and made again as well.
"$program" run "$work/restart.lua" -p preview=true -o "$work/pictures" --quiet --frames 4
cp -r "$work/pictures" "$work/again"
rm -rf "$work"/again/checkpoint/kept_frame_000004_*
sed -i 's/"state":\([^"]*\)"done"/"state":\1"running"/' "$work/again/run.json"
rm "$work/again/preview/frame_000003.png"
"$program" resume "$work/again" --quiet
same_runs "pictures after a resume" "$work/pictures" "$work/again"
exit $failed
