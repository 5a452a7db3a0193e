#!/bin/bash
# A fluid and bodies that move each other: the same state hash for any number of threads, and after a kill and a resume,
# with every coupling: the history of the coupling is part of the state.
set -eu
. "$2/tests/repro/common.sh"

cat > "$work/coupled.lua" <<'LUA'
local coupling = param("coupling", "xpm", "")
local seen_by = param("rigid", "points", "")
local hard = param("hard", false, "iterations that do not suffice: substeps are retried")
return scene {
  title    = "A light disk that turns and a jet",
  domain   = box { size = {1, 1}, cells = {32, 32}, top = "open" },
  fluid    = smoke { density = 1, gravity = {0, 0} },
  sources  = { inflow { shape = box { lo = {0.4, -0.1}, hi = {0.6, 0.06} }, velocity = {0, 0.5}, ramp = cosine(0.1) } },
  solids   = { rigid { name = "disk", density = 0.2, shape = disk { center = {0.45, 0.4}, radius = 0.12 }, spin = 2 } },
  dynamics = dynamics { gravity = {0, 0}, dt = 0.02 },
  coupling = couple { method = coupling, rigid = seen_by, tolerance = hard and 2e-3 or 0.05,
                      max_iterations = hard and 3 or 30, omega = 0.3 },
  probes   = { position { of = "disk", axis = "y" }, angle { of = "disk" } },
  output   = { frames = 10, every = 0.04, preview = false, checkpoint_frames = 1, checkpoint_keep = 3 },
}
LUA

hash_of() { # threads, options
  local threads=$1
  shift
  rm -rf "$work/run"
  "$program" run "$work/coupled.lua" "$@" -o "$work/run" --threads "$threads" --quiet
  state_hash "$work/run"
}

for options in "coupling=xpm" "coupling=xpm -p rigid=freedoms" "coupling=rmi" "coupling=aitken" "coupling=xpm -p hard=true"; do
  # shellcheck disable=SC2086
  set -- -p $options
  first=$(hash_of 1 "$@")
  rm -rf "$work/whole" && mv "$work/run" "$work/whole"
  same "$options: 2 threads" "$first" "$(hash_of 2 "$@")"
  # Stopped in the middle and taken up again, by another number of threads.
  rm -rf "$work/part"
  "$program" run "$work/coupled.lua" "$@" -o "$work/part" --frames 4 --quiet
  "$program" resume "$work/part" --frames 10 --threads 2 --quiet
  same_runs "$options: resumed" "$work/whole" "$work/part"
done
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { retries += $c["retries"] } END { exit !(retries > 0) }' \
  "$work/whole/steps.csv" || fail "no substep was retried: the last case proves nothing"

# The control: the coupling's history does enter the hash.
a=$(hash_of 1 -p coupling=xpm --frames 2)
b=$(hash_of 1 -p coupling=rmi --frames 2)
if [ "$a" != "$b" ]; then ok "another coupling changes the hash"; else fail "the hash does not see the coupling"; fi
exit $failed
