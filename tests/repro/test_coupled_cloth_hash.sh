#!/bin/bash
# Cloth in smoke, a body in water, ones that slide along a wall and the floor, by one system that hands over now and then: the same bits for
# any number of threads, and after a stop and a resume.
set -eu
. "$2/tests/repro/common.sh"

cat > "$work/cloth.lua" <<'LUA'
local n = 24
return scene {
  title    = "Cloth in smoke",
  domain   = box { size = {1, 1.5}, cells = {n, 3 * n / 2}, top = "open" },
  fluid    = smoke { density = 1, gravity = {0, 0}, dt = 0.02 },
  sources  = { inflow { shape = box { lo = {0.35, -1}, hi = {0.65, 0.1} }, velocity = {0, 1}, ramp = cosine(0.1) } },
  solids   = { rod { name = "cloth", from = {0.2, 0.4}, to = {0.8, 0.42}, spacing = 0.5 / n, density = 0.05, stretch = 20, bend = 1e-5 } },
  dynamics = dynamics { gravity = {0, 0}, dt = 0.02, contact = false },
  probes   = { position { of = "cloth", axis = "y" } },
  output   = { frames = 10, every = 0.06, preview = false, checkpoint_frames = 1, checkpoint_keep = 3 },
}
LUA
cat > "$work/float.lua" <<'LUA'
return scene {
  title    = "A light disk in water",
  domain   = box { size = {1, 1}, cells = {24, 24}, top = "open" },
  fluid    = water { initial_water = box { lo = {-1, -1}, hi = {2, 0.5} } },
  solids   = { rigid { name = "disk", density = 300, shape = disk { center = {0.45, 0.62}, radius = 0.12 } } },
  dynamics = dynamics { dt = 0.01 },
  probes   = { position { of = "disk", axis = "y" }, angle { of = "disk" } },
  output   = { frames = 10, every = 0.03, preview = false, checkpoint_frames = 1, checkpoint_keep = 3 },
}
LUA

cat > "$work/slide.lua" <<'LUA'
return scene {
  title    = "A light box slides with friction near the floor",
  domain   = box { size = {1, 1}, cells = {12, 12}, top = "open" },
  fluid    = smoke { density = 1, gravity = {0, -9.81}, pressure_tolerance = 1e-11, max_dt = 0.01 },
  solids   = { rigid { name = "body", density = 0.1, friction = 0.5, velocity = {1, 0},
                       shape = box { lo = {0.4, 0.02}, hi = {0.6, 0.17} } } },
  dynamics = dynamics { gravity = {0, -9.81}, dt = 0.01 },
  coupling = couple { method = "monolithic", tolerance = 1e-12 },
  probes   = { position { of = "body", axis = "x" } },
  output   = { frames = 30, every = 0.01, preview = false, checkpoint_frames = 1, checkpoint_keep = 3 },
}
LUA

cat > "$work/rise.lua" <<'LUA'
return scene {
  title    = "A light block rises along a wall",
  domain   = box { size = {1, 1}, cells = {40, 40}, top = "open" },
  fluid    = water { initial_water = box { lo = {-1, -1}, hi = {2, 0.3} }, max_dt = 0.005 },
  solids   = { rigid { name = "block", density = 100, shape = box { lo = {0, 0.05}, hi = {0.2, 0.25} } } },
  dynamics = dynamics { dt = 0.005 },
  coupling = couple { method = "monolithic", tolerance = 1e-3 },
  probes   = { position { of = "block", axis = "y" } },
  output   = { frames = 15, every = 0.02, preview = false, checkpoint_frames = 1, checkpoint_keep = 3 },
}
LUA

for scene in cloth float rise slide; do
  stop=4 frames=10
  [ $scene = rise ] && stop=8 frames=15
  [ $scene = slide ] && stop=20 frames=30 # after the last substep that was handed over
  for threads in 1 2; do
    "$program" run "$work/$scene.lua" -o "$work/$scene$threads" --threads $threads --quiet
  done
  same_runs "$scene: 2 threads" "$work/${scene}1" "$work/${scene}2"
  "$program" run "$work/$scene.lua" -o "$work/${scene}_stopped" --frames $stop --quiet
  "$program" resume "$work/${scene}_stopped" --frames $frames --threads 2 --quiet
  same_runs "$scene: resumed" "$work/${scene}1" "$work/${scene}_stopped"
done

# The scene hands over at all.
grep -q '"xpm":' "$work/slide1/run.json" || fail "slide: nothing was handed over"

# The control: a resumed run without the coupling's history would differ.
sed 's/dynamics = dynamics/coupling = couple { reuse = 0 }, &/' "$work/cloth.lua" > "$work/other.lua"
"$program" run "$work/other.lua" -o "$work/other" --quiet
if [ "$(state_hash "$work/other")" != "$(state_hash "$work/cloth1")" ]; then ok "the history counts"; else fail "the history has no effect"; fi
exit $failed
