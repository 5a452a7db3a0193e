#!/bin/bash
# Bodies: the same state hash for 1, 2 and 4 threads, for two runs, and after a kill and a resume.
set -eu
. "$2/tests/repro/common.sh"

# The built-in scenes without pictures, which would take most of the time; a checkpoint every second frame.
for name in cantilever balls cloth-on-ball soft-drop soft-pool; do
  sed 's/output *= {/& preview = false, checkpoint_frames = 2, checkpoint_keep = 4,/' "$2/scenes/$name.lua" > "$work/$name.lua"
done

hash_of() { # threads, scene and options
  local threads=$1 name=$2
  shift 2
  rm -rf "$work/run"
  "$program" run "$work/$name.lua" "$@" -o "$work/run" --threads "$threads" --quiet
  state_hash "$work/run"
}

# Kills a run when it has written so many frames and resumes it on two threads. A run that was done before the signal
# came (the machine is busy) proves nothing: again.
killed() { # frames, scene and options
  local frame name=$2 pid try
  frame=$work/killed/frames/bodies_$(printf %06d "$1").vtu
  shift 2
  for try in 1 2 3 4 5; do
    rm -rf "$work/killed"
    "$program" run "$work/$name.lua" "$@" -o "$work/killed" --quiet &
    pid=$!
    while kill -0 "$pid" 2> /dev/null && [ ! -f "$frame" ]; do sleep 0.005; done
    kill -KILL "$pid" 2> /dev/null || true
    wait "$pid" 2> /dev/null || true
    [ "$(state_of "$work/killed")" = done ] || break
    [ $try != 5 ] || fail "$name was always done before it was killed"
  done
  ls "$work/killed/checkpoint" | grep -q . || fail "$name has no checkpoint to resume from"
  "$program" resume "$work/killed" --threads 2 --quiet
}

all() { # frames at which to kill, scene and options
  local first name=$2 cut=$1
  shift
  first=$(hash_of 1 "$@")
  rm -rf "$work/whole" && mv "$work/run" "$work/whole"
  same "$name: a second run" "$first" "$(hash_of 1 "$@")"
  same "$name: 2 threads" "$first" "$(hash_of 2 "$@")"
  same "$name: 4 threads" "$first" "$(hash_of 4 "$@")"
  killed "$cut" "$@"
  same_runs "$name: killed and resumed" "$work/whole" "$work/killed"
}

# Large enough that the threads are used: 4777 nodes.
all 3 cantilever -p n=200 --frames 6
all 5 balls -p balls=12 --frames 16
all 3 cloth-on-ball -p n=14 --frames 8
all 7 soft-drop -p n=24 --frames 12
all 9 soft-pool -p n=16 -p disks=3 --frames 11 # they meet before frame 7

# The control: a hash that never changes would pass all of the above.
a=$(hash_of 1 balls -p balls=3 --frames 2)
b=$(hash_of 1 balls -p balls=3 --frames 3)
if [ "$a" != "$b" ]; then ok "one more frame changes the hash"; else fail "hash does not see a frame"; fi
c=$(hash_of 1 balls -p balls=4 --frames 2)
if [ "$a" != "$c" ]; then ok "one more ball changes the hash"; else fail "hash does not see a ball"; fi
exit $failed
