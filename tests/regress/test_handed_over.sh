#!/bin/bash
# Where contact does not settle in the one system, xpm finishes the substep: a warning, once; steps.csv marks such
# substeps, run.json and the report count them, also after a resume. Control: a tolerance at which it settles.
set -eu
program=$1
export OMP_WAIT_POLICY=passive
work=$(mktemp -d /tmp/mn_handed_XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"
# A light box sinks nowhere, but slides with friction along the floor it lies near: friction follows the normal force.
cat > slide.lua <<'SCENE'
local tolerance = param("tolerance", 1e-12, "")
return scene {
  domain   = box { size = {1, 1}, cells = {12, 12}, top = "open" },
  fluid    = smoke { density = 1, gravity = {0, -9.81}, pressure_tolerance = 1e-11, max_dt = 0.01 },
  solids   = { rigid { name = "body", density = 0.1, friction = 0.5, velocity = {1, 0},
                       shape = box { lo = {0.4, 0.02}, hi = {0.6, 0.17} } } },
  dynamics = dynamics { gravity = {0, -9.81}, dt = 0.01 },
  coupling = couple { method = "monolithic", tolerance = tolerance },
  output   = { frames = 50, every = 0.01, vtk = false, preview = false },
}
SCENE
"$program" run slide.lua -o whole --quiet 2> words
"$program" run slide.lua -p tolerance=1e-5 -o settled --quiet 2> none
"$program" run slide.lua -o cut --frames 25 --quiet 2> /dev/null
"$program" resume cut --frames 50 --quiet 2> /dev/null
[ "$(grep -c 'contact did not settle.*"xpm" finished' words)" = 1 ] || { echo "FAIL  warned: $(cat words)" && exit 1; }
[ ! -s none ] || { echo "FAIL  control: $(cat none)" && exit 1; }
grep -q "substeps finished by</td><td>xpm: [1-9]" whole/report.html || { echo "FAIL  the report does not say so" && exit 1; }
python3 - <<'PY'
import csv, json
def count(run):
    by = json.load(open(run + "/run.json"))["coupling"]["substeps_by"]
    rows = list(csv.DictReader(open(run + "/steps.csv")))
    marked = sum(int(r["handed_over"]) for r in rows)
    assert marked == by.get("xpm", 0) and sum(by.values()) == len(rows), (run, by, marked)
    return marked
whole, settled, cut = (count(run) for run in ("whole", "settled", "cut"))
print("ok   ", whole, "of the substeps finished by xpm,", cut, "after a resume,", settled, "where contact settles")
assert whole > 0 and settled == 0 and cut == whole
PY
