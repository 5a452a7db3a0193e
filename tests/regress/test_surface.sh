#!/bin/bash
# Water surfaces that a run writes, read with VTK: closed bodies, also where water touches walls and solids, that end
# at both; a drop has the Euler characteristic of a sphere, 2.
set -eu
program=$1 source=$2
if ! /usr/bin/python3 -c 'import vtkmodules.vtkIOXML' 2> /dev/null; then
  echo "skipped: /usr/bin/python3 has no VTK (Debian: python3-vtk9)"
  exit 0
fi
work=$(mktemp -d /tmp/mn_surface_XXXXXX)
trap 'rm -rf "$work"' EXIT
closed() { /usr/bin/python3 "$source/tests/regress/closed_surface.py" "$@"; }
reach() { /usr/bin/python3 "$source/tests/regress/surface_reach.py" "$@"; }

cat > "$work/drop.lua" << 'LUA'
return scene { domain = box { size = {1, 1, 1}, cells = {20, 20, 20} },
  fluid = water { initial_water = sphere { center = {0.52, 0.6, 0.47}, radius = 0.25 } },
  output = { frames = 2, every = 0.05, preview = false } }
LUA
cat > "$work/pool.lua" << 'LUA'
return scene { domain = box { size = {1, 1, 1}, cells = {16, 16, 16}, right = "open" },
  fluid = water { initial_water = box { lo = {-1, -1, -1}, hi = {0.5, 0.6, 2} } },
  solids = { obstacle { shape = sphere { center = {0.7, 0.1, 0.5}, radius = 0.2 } } },
  output = { frames = 4, every = 0.05, preview = false } }
LUA
"$program" run "$work/drop.lua" -o "$work/drop" --quiet
"$program" run "$work/pool.lua" -o "$work/pool" --quiet
for f in "$work"/drop/frames/liquid_*.vtp; do closed "$f" 2; done
for f in "$work"/pool/frames/liquid_*.vtp; do closed "$f"; done
closed "$work/pool/frames/liquid_000000.vtp" 2
for f in "$work"/pool/frames/liquid_*.vtp; do reach "$f" 0.0625 0.7 0.1 0.5 0.2; done
# the controls: a wrong number, and the solids, whose surface ends at the floor
if closed "$work/drop/frames/liquid_000000.vtp" 0; then echo "FAIL: 0 passes for 2"; exit 1; fi
if closed "$work/pool/frames/solids_000000.vtp"; then echo "FAIL: an open surface passes"; exit 1; fi
if reach "$work/pool/frames/liquid_000000.vtp" 0.0625 0.3 0.5 0.5 0.2; then echo "FAIL: a ball in the water passes"; exit 1; fi
