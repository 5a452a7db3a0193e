#!/bin/bash
# meniscus compare: all couplings into one folder with one report; a coupling that fails is told and the others go on.
set -eu
program=$1
export OMP_WAIT_POLICY=passive
work=$(mktemp -d /tmp/mn_compare_XXXXXX)
trap 'rm -rf "$work"' EXIT
failed=0
cd "$work"

expect() { # status, extended regular expression that the output must match, command...
  local status=0 wanted=$1 words=$2
  shift 2
  "$@" > out 2>&1 || status=$?
  if [ $status = "$wanted" ] && { [ -z "$words" ] || grep -Eq -- "$words" out; }; then
    echo "ok    $wanted  $(tail -c 300 out | tr '\n' ' ')"
  else
    echo "FAIL  $*: exit $status instead of $wanted, or no \"$words\" in: $(cat out)"
    failed=1
  fi
}
has() { grep -Eq -- "$2" "$1" || { echo "FAIL  $1 has no \"$2\"" && failed=1; }; }
compare() { "$program" compare piston -p n=8 "$@"; }

expect 0 "xpm +done" compare --couplings rmi,xpm --frames 4 -o good
for file in good/report.html good/rmi/steps.csv good/xpm/report.html good/xpm/run.json; do
  [ -s $file ] || { echo "FAIL  no $file" && failed=1; }
done
has good/report.html "coupling iterations per substep"
has good/report.html "piston_position_x"
has good/report.html "curve1" # a second curve in the same plot
has good/report.html "greatest distance of the interface"
has good/report.html "data:image/png"
[ "$(ls good/pictures | wc -l)" = 4 ] || { echo "FAIL  pictures: $(ls good/pictures)" && failed=1; }
# both iterate to 5 % of a cell in every substep: nearer than half a cell after four frames, and not the same
python3 - <<'PY' || failed=1
import csv, json
rows = {r["coupling"]: r for r in csv.DictReader(open("good/compare.csv"))}
same = json.load(open("good/compare.json"))["couplings"]
d = list(csv.DictReader(open("good/differences.csv")))
assert [r["coupling"] for r in same] == ["rmi", "xpm"] and rows["rmi"]["max_distance"] == ""
assert len(d) == 4 and abs(max(float(r["max_xpm"]) for r in d) - float(rows["xpm"]["max_distance"])) < 1e-15
assert 0 < float(rows["xpm"]["max_distance"]) < 0.5, rows["xpm"]
assert float(rows["xpm"]["rms_distance"]) <= float(rows["xpm"]["max_distance"])
assert float(rows["xpm"]["momentum_lost"]) >= 0 and same[1]["status"] == 0
print("ok    numbers:", rows["xpm"]["max_distance"], "cells")
PY
expect 0 "xpm +done" compare --couplings rmi,xpm --frames 4 --at 0.1 -o good
[ "$(ls good/pictures | wc -l)" = 1 ] || { echo "FAIL  --at: $(ls good/pictures)" && failed=1; }

# One fails: exit 1, its sentence in the report, the other one complete.
expect 1 "weak coupling diverged" compare --couplings weak,xpm --frames 4 -o mixed
has mixed/report.html "weak coupling diverged"
has mixed/xpm/run.json '"state":[^"]*"done"'
has mixed/weak/run.json '"state":[^"]*"failed"'
expect 1 '"coupling":"xpm","status":0' compare --couplings weak,xpm --frames 2 -o mixed --json

# The first one fails before the time of a picture that is asked for, the other one does not come to it either.
expect 1 "no coupling came to 0.1 s" compare --couplings weak --frames 4 --at 0.1 -o early
has early/report.html "weak coupling diverged"

# One cannot even start: "auto" looks at the bodies, and an old record of it lies in its folder. It is told, the other one goes on.
cat > ring.lua <<'SCENE'
local coupling = param("coupling", "xpm", "", couplings)
local broken = param("broken", false, "")
return scene {
  domain = box { size = {1, 1}, cells = {16, 16}, top = "open" },
  fluid = smoke { density = 1, gravity = {0, 0}, outside = (broken and coupling == "auto") and "empty" or "fluid", max_dt = 0.01 },
  solids = { springs { shape = disk { center = {0.5, 0.5}, radius = 0.25 }, spacing = 0.06, density = 1, stretch = 100,
                       cut = (broken and coupling == "auto") and box { lo = {0.4, 0.6}, hi = {0.6, 1} } or nil } },
  dynamics = dynamics { gravity = {0, 0} },
  coupling = couple { method = coupling },
  output = { frames = 1, every = 0.02 },
}
SCENE
expect 0 "auto .*done" "$program" compare ring.lua --couplings auto,xpm -o ring
expect 1 "auto +refused: .*enclose no fluid" "$program" compare ring.lua --couplings auto,xpm -p broken=true -o ring
has ring/report.html "enclose no fluid"
has ring/compare.csv "^xpm,xpm,0,"
has ring/compare.csv "^auto,,2,"

# "auto" says what it picked and why: check, log, run.json and the report
expect 0 "coupling auto: (xpm|monolithic), because" "$program" check piston -p n=8 -p coupling=auto
expect 0 '"coupling":"(xpm|monolithic)","why":"' "$program" check piston -p n=8 -p coupling=auto --json
expect 0 'coupling "auto" picks "(xpm|monolithic)": ' "$program" run piston -p n=8 -p coupling=auto --frames 1 -o auto
has auto/run.json '"asked":[^"]*"auto"'
has auto/run.json '"method":[^"]*"(xpm|monolithic)"'
has auto/run.json '"why":[^"]*"'
has auto/report.html "(xpm|monolithic), tolerance .*; picked: "

grep -q "one method" out && echo "FAIL  couplings that differ are called one method" && failed=1
"$program" show piston | sed 's/method = coupling/method = "xpm"/' > same.lua
expect 0 "xpm and rmi are one method in this scene" "$program" compare same.lua -p n=8 --couplings xpm,rmi --frames 1 -o same

expect 2 "needs --couplings" compare -o a
expect 2 "--at holds 99: the runs end at 0.1 s" compare --couplings xpm --frames 2 --at 0.05,99 -o a
expect 2 "must be times" compare --couplings xpm --at soon -o a
expect 2 "twice" compare --couplings xpm,xpm -o a
expect 2 "must be names" compare --couplings xpm,,rmi -o a
expect 2 "must be names" compare --couplings ../x -o a
expect 2 "strong.*did you mean|strong.*allowed" compare --couplings xpm,strong -o a
expect 2 "is what --couplings sets" compare --couplings xpm -p coupling=rmi -o a
expect 2 "needs a scene with a fluid, bodies, and a parameter coupling" "$program" compare plume --couplings xpm -o a
expect 2 "parameters of a scene are set by -p NAME=VALUE" "$program" run piston --coupling xpm -o a
expect 2 "needs a scene" "$program" compare --couplings xpm
[ ! -e a ] || { echo "FAIL  bad input left a folder" && failed=1; }
exit $failed
