#!/bin/bash
# The same state hash for 1, 2 and 4 threads and for two runs, on three scenes.
set -eu
. "$2/tests/repro/common.sh"

hash_of() { # threads, scene and options
  local threads=$1
  shift
  rm -rf "$work/run"
  "$program" run "$@" -o "$work/run" --threads "$threads" --quiet
  state_hash "$work/run"
}

three() { # scene and options
  local first
  first=$(hash_of 1 "$@")
  same "$1: a second run" "$first" "$(hash_of 1 "$@")"
  same "$1: 2 threads" "$first" "$(hash_of 2 "$@")"
  same "$1: 4 threads" "$first" "$(hash_of 4 "$@")"
}

# Large enough that four threads are used (a thread gets at least 8192 cells).
three smoke-disk -p n=128 --frames 1
three smoke-sphere -p n=28 --frames 1
three moving-plate -p n=136 --frames 1
three dam-break -p n=30 --frames 1
three ceiling -p n=136 --frames 2
three lid -p n=136 --frames 1

# Water that parts from a wall: stopped and resumed.
whole=$(hash_of 1 ceiling -p n=40 --frames 8)
rm -rf "$work/cut"
"$program" run ceiling -p n=40 --frames 3 -o "$work/cut" --quiet
"$program" resume "$work/cut" --frames 8 --threads 2 --quiet
same "ceiling: resumed" "$whole" "$(state_hash "$work/cut")"

# The control: a hash that never changes would pass all of the above.
a=$(hash_of 1 smoke-disk -p n=24 --frames 2)
b=$(hash_of 1 smoke-disk -p n=24 --frames 3)
if [ "$a" != "$b" ]; then ok "one more frame changes the hash"; else fail "hash does not see a frame"; fi
exit $failed
