#!/bin/bash
# Iterations of the one system's Krylov solvers in 3D, at 32 and 64 cells across: a ball that floats in water, rigid (half as
# heavy as water, by cg; a hundredth, by minres) and elastic, a balloon on a nozzle (shell, closed), a block of foam in a jet.
# They must not grow; those of the elastic ball do until it is 25 cells across, and have a bound.
set -eu
program=$1
export OMP_WAIT_POLICY=passive
work=$(mktemp -d /tmp/mn_krylov_XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > float.lua <<'SCENE'
local n = param("n", 32, "cells across", { multiple = 4 })
local kind = param("kind", "rigid", "", { "rigid", "elastic" })
local density = param("density", 500, "kg/m^3")
local solver = param("solver", "auto", "")
local ball = sphere { center = {0.5, 0.5, 0.5}, radius = 0.2 }
return scene {
  domain = box { size = {1, 1, 1}, cells = {n, n, n}, top = "open" },
  fluid = water { walls = "sticking", max_dt = 0.25 / n, initial_water = box { lo = {-1, -1, -1}, hi = {2, 0.5, 2} } },
  solids = { kind == "rigid" and rigid { density = density, shape = ball }
             or elastic { density = density, young = 1e5, poisson = 0.3, spacing = 0.06, shape = ball } },
  dynamics = dynamics { dt = 0.25 / n },
  coupling = couple { method = "monolithic", solver = solver },
  output = { frames = 1, every = 0.5 / n, vtk = false, preview = false },
}
SCENE
for n in 32 64; do
  until=$(python3 -c "print(0.9 / $n)")
  "$program" run float.lua -p n=$n -o rigid_$n --quiet
  "$program" run float.lua -p n=$n -p density=10 -p solver=minres -o light_$n --quiet
  "$program" run float.lua -p n=$n -p kind=elastic -o elastic_$n --quiet
  "$program" run smoke-balloon -p n=$n -p coupling=monolithic --until "$until" -o balloon_$n --quiet
  "$program" run foam-in-smoke -p n=$n -p coupling=monolithic --until "$until" -o foam_$n --quiet
done
python3 - <<'PY'
import csv
def most(run):
    rows = list(csv.DictReader(open(run + "/steps.csv")))
    return max(int(r["pressure_iterations"]) / int(r["coupling_iterations"]) for r in rows)
failed = 0
for case, bound, flat in (("rigid", 14, True), ("light", 26, True), ("balloon", 15, True), ("foam", 20, True), ("elastic", 24, False)):
    coarse, fine = most(case + "_32"), most(case + "_64")
    good = fine <= bound and coarse <= bound and (not flat or fine <= 1.25 * coarse)
    failed |= not good
    print("ok   " if good else "FAIL ", case, "ball" if case in ("rigid", "light", "elastic") else "", "iterations at 32 and 64 cells:", coarse, fine, "bound", bound)
raise SystemExit(failed)
PY
