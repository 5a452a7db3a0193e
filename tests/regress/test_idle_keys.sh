#!/bin/bash
# Keys that were written but have no effect are told, those that have one are not, and no built-in scene is told of.
set -eu
program=$1
export OMP_WAIT_POLICY=passive
work=$(mktemp -d /tmp/mn_idle_XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0

# told NUMBER PATTERN KEYS-OF-THE-WATER [KEYS-OF-THE-DOMAIN] [OTHER KEYS] [OPTIONS]: so many warnings, each with the pattern
told() {
  cat > scene.lua << LUA
local transfer = param("transfer", "apic", "how velocity travels")
return scene { domain = box { size = {1, 1}, cells = {16, 16}, ${4-} },
  fluid = water { initial_water = box { lo = {0, 0}, hi = {0.4, 0.6} }, $3 }, ${5-} output = { frames = 1 } }
LUA
  local status=0 all with
  "$program" check scene.lua ${6-} > out 2>&1 || status=$?
  all=$(grep -c 'warning:' out || true)
  with=$(grep -c "warning:.*$2" out || true)
  if [ "$status $all $with" = "0 $1 $1" ]; then
    echo "ok    $1 x '$2': $3 ${4-} ${5-} ${6-}"
  else
    echo "FAIL  $1 x '$2': $3 ${4-} ${5-} ${6-}: status $status, $all warnings, $with as expected" && cat out && failed=1
  fi
}
levelset='transfer = "levelset", walls = "sticking"'
told 1 'scene.lua:3: scene.fluid.jitter has no effect.*no particles' "$levelset, jitter = 0.5"
told 1 'fluid.volume_control has no effect.*no particles' "$levelset, volume_control = true" # its default, but written
told 1 'fluid.advection has no effect.*carried by particles' 'advection = "semilagrangian"'
told 1 'fluid.limiter has no effect.*carried by particles' 'limiter = true, transfer = "flip"'
told 1 'fluid.order has no effect: only smoke' 'order = 1'
told 1 'fluid.order has no effect: only smoke' "$levelset, order = 2"
told 1 'fluid.viscosity_factor has no effect: viscosity is 0' 'viscosity_factor = 2'
told 1 'domain.bottom is "noslip", but fluid.viscosity is 0' '' 'bottom = "noslip"'
told 1 'domain.top is "noslip" and moves, but' '' 'top = wall { velocity = {1, 0} }'
ball='shape = disk { center = {0.7, 0.3}, radius = 0.1 }'
told 1 'obstacle 1 has noslip = true, but fluid.viscosity is 0' '' '' "solids = { obstacle { noslip = true, $ball } },"
tap='shape = box { lo = {0.6, 0.7}, hi = {0.8, 0.8} }, velocity = {0, -1}'
told 1 'sources\[1\].smoke has no effect: the fluid is water' '' '' "sources = { inflow { $tap, smoke = 1 } },"
told 1 'sources\[1\].temperature has no effect: the fluid is water' '' '' "sources = { inflow { $tap, temperature = 300 } },"
told 1 'obstacle 1 far lies outside the domain' '' '' 'solids = { obstacle { name = "far", shape = disk { center = {3, 0}, radius = 0.5 } } },'

# what has an effect, or was not written
told 0 x 'jitter = 0.5, volume_control = false'
told 0 x "$levelset, advection = \"maccormack\", limiter = false"
told 0 x 'viscosity = 0.1, viscosity_factor = 2' 'bottom = "noslip", top = wall { velocity = {1, 0} }' "solids = { obstacle { noslip = true, $ball } },"
told 0 x '' 'left = wall { friction = 0.1 }, top = "open"' "sources = { inflow { $tap } }, solids = { obstacle { $ball } },"
told 0 x '' '' 'solids = { obstacle { shape = disk { center = {3, 0}, radius = 0.5 }, motion = motion { translate = {-3, 0}, path = linear(1) } } },'
# a scene may hold keys for all values of its parameter
told 0 x 'transfer = transfer, walls = "sticking", jitter = 0.5' '' '' '-p transfer=levelset'
told 1 'fluid.advection' 'transfer = transfer, walls = "sticking", advection = "maccormack"'

for scene in $("$program" list --json | python3 -c 'import json, sys; [print(json.loads(l)["name"]) for l in sys.stdin]'); do
  "$program" check "$scene" > out 2>&1 || { echo "FAIL  $scene is refused" && failed=1; }
  if grep 'warning:' out; then echo "FAIL  $scene warns of itself" && failed=1; fi
done
exit $failed
