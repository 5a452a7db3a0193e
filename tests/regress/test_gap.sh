#!/bin/bash
# Water that leaves the walls of a closed region, which one system lets it do, is told, once. Control: it is pressed.
set -eu
program=$1
export OMP_WAIT_POLICY=passive
work=$(mktemp -d /tmp/mn_gap_XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > piston.lua <<'SCENE'
local pull = param("pull", 2000, "N")
return scene {
  domain   = box { size = {0.5, 1}, cells = {8, 16}, top = "open" },
  fluid    = water { initial_water = box { lo = {-1, -1}, hi = {2, 0.5} }, max_dt = 0.01 },
  solids   = { rigid { name = "p", shape = box { lo = {0, 0.5}, hi = {0.5, 0.6} }, density = 1000, joint = "slider",
                       force = {0, pull} } },
  dynamics = dynamics { dt = 0.01, contact = false },
  coupling = couple { method = "monolithic" },
  output   = { frames = 5, every = 0.02, vtk = false, preview = false },
}
SCENE
"$program" run piston.lua -o drawn --quiet 2> words
"$program" run piston.lua -p pull=-2000 -o pressed --quiet 2> none
[ "$(grep -c 'closed region 1 has .* more room .* let go of walls' words)" = 1 ] || { echo "FAIL  warned: $(cat words)" && exit 1; }
[ ! -s none ] || { echo "FAIL  control: $(cat none)" && exit 1; }
echo "ok    $(cat words)"
