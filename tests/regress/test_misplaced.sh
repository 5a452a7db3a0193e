#!/bin/bash
# Sources that can do nothing where they are: refused if that never changes, else told; and what is all right passes.
set -eu
program=$1
export OMP_WAIT_POLICY=passive
work=$(mktemp -d /tmp/mn_misplaced_XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0

# expect STATUS PATTERN(of the message, '' for none) OTHER-KEYS [DIMENSION]
expect() {
  local n='{16, 16}' size='{1, 1}' low='{0, 0}' high='{0.4, 0.6}' status=0
  if [ "${4-2}" = 3 ]; then n='{16, 16, 16}' size='{1, 1, 1}' low='{0, 0, 0}' high='{0.4, 0.6, 1}'; fi
  cat > scene.lua << LUA
return scene { domain = box { size = $size, cells = $n },
  fluid = water { initial_water = box { lo = $low, hi = $high } }, $3 output = { frames = 1 } }
LUA
  "$program" check scene.lua > out 2> err || status=$?
  if [ "$status" = "$1" ] && { [ -n "$2" ] && grep -Eq "$2" err || [ -z "$2$(cat err)" ]; }; then
    echo "ok    $1 '$2': $3"
  else
    echo "FAIL  $1 '$2': $3: status $status" && cat err && failed=1
  fi
}
block='shape = box { lo = {0.5, 0.5}, hi = {0.9, 0.9} }'
moves="$block, motion = motion { translate = {0, 0.1}, path = linear(1) }"
tap='inflow { name = "tap", shape = box { lo = {0.6, 0.6}, hi = {0.7, 0.7} }, velocity = {0.3, -1} }'
sink='drain { name = "sink", shape = box { lo = {0.6, 0.6}, hi = {0.7, 0.7} } }'

expect 2 'sources\[1\] tap: the inflow blows into solids only' "solids = { obstacle { $block } }, sources = { $tap },"
expect 0 'warning: .*sources\[1\] tap: .*until they have moved' "solids = { obstacle { $moves } }, sources = { $tap },"
expect 0 'warning: .*sources\[1\] tap: .*until they have moved' "solids = { rigid { $block, density = 500 } }, sources = { $tap },"
expect 2 'sources\[1\] sink: the drain lies inside solids' "solids = { obstacle { $block } }, sources = { $sink },"
expect 0 'warning: .*sources\[1\] sink: the drain lies.*until they have moved' "solids = { obstacle { $moves } }, sources = { $sink },"
expect 2 'sources\[2\] tap: the inflow lies inside a drain' "sources = { drain { $block }, $tap },"
expect 2 'initial_water: all of it lies inside the drain sources\[1\] pit and is taken away' 'sources = { drain { name = "pit", shape = box { lo = {-1, -1}, hi = {0.5, 0.7} } } },'
expect 0 'warning: .*initial_water: all of it lies inside the drain' "sources = { drain { shape = box { lo = {-1, -1}, hi = {0.5, 0.7} } }, $tap },"
expect 2 'the inflow blows into solids only' 'solids = { obstacle { shape = sphere { center = {0.7, 0.5, 0.5}, radius = 0.25 } } },
  sources = { inflow { shape = sphere { center = {0.7, 0.5, 0.5}, radius = 0.12 }, velocity = {0, 0, 1} } },' 3

expect 0 'warning: .*sources\[1\] tap: the inflow blows at nothing but itself' 'sources = { inflow { name = "tap", shape = box { lo = {-1, -1}, hi = {2, 2} }, velocity = {0, -1} } },'

# an opening is enough
expect 0 '' "solids = { obstacle { shape = difference { box { lo = {0.5, 0.5}, hi = {0.9, 0.9} }, box { lo = {0.6, 0}, hi = {0.7, 0.7} } } } }, sources = { $tap },"
expect 0 '' "solids = { obstacle { $block } }, sources = { drain { shape = box { lo = {0.6, 0.6}, hi = {0.7, 0.92} } } },"
expect 0 '' "sources = { drain { $block }, inflow { shape = box { lo = {0.6, 0.4}, hi = {0.7, 0.7} }, velocity = {0.3, -1} } },"
expect 0 '' "solids = { springs { shape = disk { center = {0.65, 0.65}, radius = 0.2 }, density = 1, stretch = 10 } }, sources = { $tap }," # inside a balloon
expect 0 '' 'sources = { drain { shape = box { lo = {-1, -1}, hi = {0.3, 0.7} } } },'

# obstacles that were meant to move
expect 0 'warning: solids\[1\].motion.translate has no effect: path is 0' "solids = { obstacle { $block, motion = motion { translate = {0, 0.1} } } },"
expect 0 '' "solids = { obstacle { $moves } },"

# the fluid takes walls that would leak as thicker
plate() { echo "solids = { obstacle { shape = transform { shape = box { center = {0, 0}, size = {0.8, $1} }, angle = $2, translate = {0.5, $3} } } },"; }
expect 0 'warning: .*obstacle 1 has walls that are too thin for the grid, down to 1\.2 cells' "$(plate 0.075 0.785 0.5)"
expect 0 'warning: .*obstacle 1 has walls that are too thin for the grid, down to 0\.16 cells' "$(plate 0.01 0 0.53)"
expect 0 '' "$(plate 0.14 0.785 0.5)"
expect 0 '' "$(plate 0.075 0 0.5)"
expect 0 '' "$(plate 0.01 0 0.5)"
exit $failed
