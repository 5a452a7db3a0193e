# For the scripts of this folder: a fresh folder, checks, a small scene with all that is in a state.
program=$1
export OMP_WAIT_POLICY=passive # idle threads sleep: the machine may be busy
work=$(mktemp -d /tmp/mn_repro_XXXXXX)
trap 'rm -rf "$work"' EXIT
failed=0

fail() { echo "FAIL  $*" && failed=1; }
ok() { echo "ok    $*"; }
same() { # what, a, b
  if [ -n "$2" ] && [ "$2" = "$3" ]; then ok "$1: $2"; else fail "$1: \"$2\" and \"$3\" differ"; fi
}
state_hash() { sed -n 's/.*"state_hash":[^"]*"\([0-9a-f]*\)".*/\1/p' "$1/run.json"; }
state_of() { sed -n 's/.*"state":[^"]*"\([a-z]*\)".*/\1/p' "$1/run.json"; }
# The columns of steps.csv that are no wall times.
steps() { cut -d, -f1-9,14- "$1/steps.csv"; }

# Two runs left the same results: state, series, frames, pictures, and nothing half-written.
same_runs() { # what, a, b
  same "$1: state hash" "$(state_hash "$2")" "$(state_hash "$3")"
  [ "$(steps "$2")" = "$(steps "$3")" ] || fail "$1: steps.csv differ"
  cmp -s "$2/probes.csv" "$3/probes.csv" || fail "$1: probes.csv differ"
  diff -rq "$2/frames" "$3/frames" || fail "$1: frames differ"
  [ ! -d "$2/preview" ] || diff -rq "$2/preview" "$3/preview" || fail "$1: previews differ"
  [ -z "$(find "$2" "$3" -name '*.part')" ] || fail "$1: half-written files are left"
}

cat > "$work/restart.lua" <<'LUA'
local n = param("n", 40, "cells across the box")
local preview = param("preview", false, "write pictures: most of the time of so small a run")
return scene {
  title   = "Everything a checkpoint holds",
  domain  = box { size = {1, 1}, cells = {n, n}, top = "open" },
  fluid   = smoke { gravity = {0, -9.81}, temperature = true, expansion = 3e-3, viscosity = 1e-3 },
  sources = { inflow { shape = disk { center = {0.5, 0.1}, radius = 0.06 }, velocity = {0, 1},
                       ramp = cosine(0.2), smoke = 1, temperature = 340 } },
  solids  = { obstacle { name = "plate", shape = box { center = {0.5, 0.6}, size = {0.3, 0.08} },
                         motion = motion { translate = {0.1, 0}, path = wave { amplitude = 1, frequency = 1 } } } },
  probes  = { velocity { at = {0.5, 0.4} }, area { of = "smoke" }, kinetic_energy {} },
  output  = { frames = 12, every = 0.03, checkpoint_frames = 2, checkpoint_keep = 4,
              preview = preview },
}
LUA
