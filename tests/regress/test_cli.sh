#!/bin/bash
# The command line as others rely on it: words, exit statuses, JSON that can be parsed, and how a run ends.
set -eu
program=$1
export OMP_WAIT_POLICY=passive # idle threads sleep: the machine may be busy
work=$(mktemp -d /tmp/mn_cli_XXXXXX)
trap 'rm -rf "$work"' EXIT
failed=0
cd "$work"

fail() { echo "FAIL  $*" && failed=1; }
ok() { echo "ok    $*"; }
is() { if [ "$2" = "$3" ]; then ok "$1: $2"; else fail "$1: found \"$2\", expected \"$3\""; fi; }
# json FILE EXPRESSION: of `rows`, the list of objects in the file
json() { python3 -c "import json,sys; rows = [json.loads(l) for l in open(sys.argv[1])]; print($2)" "$1"; }
field() { python3 -c "import json,sys; run = json.load(open(sys.argv[1])); print($2)" "$1/run.json"; }

cat > jet.lua <<'LUA'
local top = param("top", "open", "the upper side")
local start = param("start", -1, "s, when the jet begins")
return scene {
  title   = "A jet in a box",
  domain  = box { size = {1, 1}, cells = {24, 24}, top = top },
  fluid   = smoke {},
  sources = { inflow { shape = disk { center = {0.5, 0.2}, radius = 0.1 }, velocity = {0, 1},
                       ramp = linear { start = start, duration = 0.1 } } },
  probes  = { kinetic_energy {}, flux { axis = "y", position = 1 } },
  output  = { frames = 3, every = 0.1, preview = false },
}
LUA

# help and version
"$program" help > help.txt || fail "help: exit $?"
grep -q "meniscus compare" help.txt || fail "help does not print the usage"
"$program" help run | grep -q "^usage: meniscus run" || fail "help run"
"$program" help nothing > /dev/null || fail "help nothing: exit $?"
"$program" --version | grep -q '^meniscus [0-9]' || fail "--version"
for command in run resume check list show pressure bench compare; do
  "$program" --help | grep -q "meniscus $command" || fail "--help does not name $command"
  "$program" $command --help > help.txt || fail "$command --help"
  grep -q "^usage: meniscus $command" help.txt || fail "$command --help has no usage"
  "$program" $command --hlep 2> err && fail "$command takes --hlep"
  grep -q 'did you mean --help' err || fail "$command --hlep: $(cat err)"
done
status=0
"$program" > out 2> err || status=$?
is "without a command" $status 2

# list, show, check
"$program" list --json > list.json
is "list: as many lines as objects" "$(json list.json 'len(rows)')" "$("$program" list | wc -l)"
json list.json 'all(r["name"] and r["title"] for r in rows)' | grep -q True || fail "list --json lacks names"
"$program" show jet.lua > again.lua
"$program" check again.lua > out || fail "what show prints is no scene"
grep -q -- '--   top  *open  *the upper side' again.lua || fail "show lists no parameters"
"$program" show --reference | grep -q viscosity || fail "show --reference"
is "check --json" "$("$program" check jet.lua --json > c.json && json c.json 'rows[0]["cells"]')" "[24, 24]"
sed 's/  probes/  coupling = couple {},\n&/' jet.lua > idle.lua
"$program" check idle.lua 2>&1 | grep -q 'idle.lua:9: scene.coupling has no effect: there is no body' || fail "a coupling without bodies is not told"

# what is allowed, but hardly meant
wall() { # x of its far side, cfl, words, motion: a wall in water on cells of 1/32 m, whose nodes are at 0.5 and 0.53125
  cat > wall.lua << EOF
return scene { domain = box { size = {1, 1}, cells = {32, 32} }, fluid = water { cfl = $2, initial_water = box { lo = {0, 0}, hi = {0.4, 0.6} } },
               solids = { obstacle { shape = box { lo = {0.505, -1}, hi = {$1, 2} }, ${4:-} } }, output = { frames = 1, every = 0.1 } }
EOF
  "$program" check wall.lua 2>&1 | grep -c 'warning:.*'"$3"
}
is "an obstacle between nodes is told" "$(wall 0.53 1 'too thin for the grid')" 1
is "one with a node near one side is told" "$(wall 0.54 1 'too thin for the grid')" 1
is "one that is thick enough is not" "$(wall 0.56 1 'too thin for the grid')" 0
moves='motion = motion { translate = {0.1, 0}, path = linear(1) }'
is "a thin one that moves is told" "$(wall 0.535 1 'too thin for the grid' "$moves")" 1
is "a thick one is not" "$(wall 0.56 1 'too thin for the grid' "$moves")" 0
is "water in long substeps is told" "$(wall 0.54 10 'fluid.cfl = 10')" 1

# run: progress, names, where it ends
"$program" run jet.lua --threads 1 > out
is "one line per frame" "$(grep -c '^frame [1-3]/3 ' out)" 3
is "default directory" "$(field runs/jet 'run["state"], run["exit_status"], run["frame"]')" "done 0 3"
"$program" run jet.lua -o j --json > out
is "JSON frames" "$(json out '[r["frame"] for r in rows if r["event"] == "frame"]')" "[1, 2, 3]"
is "JSON end" "$(json out 'rows[-1]["event"], rows[-1]["status"]')" "end 0"
is "steps" "$(json out 'sum(r["substeps"] for r in rows if r["event"] == "frame")')" "$(field j 'run["totals"]["steps"]')"
[ -z "$("$program" run jet.lua -o j --quiet 2>&1)" ] || fail "--quiet is not quiet"
"$program" run jet.lua -o j --quiet --until 0.25
is "--until between frames" "$(field j 'run["time"], run["frame"]')" "0.25 2"
is "last row" "$(tail -1 j/steps.csv | cut -d, -f2)" 0.25
"$program" resume j --quiet --frames 3
is "lengthened" "$(field j 'run["frame"]')" 3
"$program" run jet.lua -o j --quiet --frames 0
is "no frames: the initial state" "$(ls j/frames | tr '\n' ' ')" "frames.pvd grid_000000.vti "
"$program" run jet.lua -o j --quiet --frames 1 -p start=0.05
is "parameters" "$(field j 'run["parameters"]["start"]')" 0.05

# a simulation that cannot go on: exit 1, the reason, the last good state
status=0
"$program" run jet.lua -p top=slip -p start=0.15 -o closed --quiet 2> err || status=$?
is "a closed box that is blown into from 0.15 s on" $status 1
grep -Eq 'meniscus: .*closed.*(m\^2/s|m\^3/s)' err || fail "reason: $(cat err)"
is "recorded" "$(field closed 'run["state"], run["exit_status"]')" "failed 1"
is "its last good state" "$(ls closed/checkpoint | sort -t_ -k4 | tail -1)" \
  "$(printf 'frame_%06d_step_%08d' "$(field closed 'run["frame"]')" "$(field closed 'run["totals"]["steps"]')")"
grep -q 'flow' closed/report.html || fail "the report does not give the reason"

# a directory in use
"$program" run jet.lua -o busy --quiet --frames 100000 2> /dev/null &
pid=$!
until [ -f busy/frames/grid_000001.vti ]; do sleep 0.01; done
status=0
"$program" run jet.lua -o busy --quiet 2> err || status=$?
is "a directory in use" $status 3
grep -q 'another meniscus is running' err || fail "in use: $(cat err)"
kill -INT $pid
wait $pid || status=$?
is "its run was not disturbed" $status 130
# built-in scenes can be resumed as well
"$program" run taylor-green -p n=16 -o built --quiet --frames 1
"$program" resume built --quiet --frames 2
is "a built-in scene resumed" "$(field built 'run["scene"], run["frame"]')" "taylor-green 2"

# a parameter that this coupling does not heed is told of when it was set, not when a run goes on
"$program" run port -p n=12 -o port --quiet --until 0.02 2> err
"$program" resume port --quiet --until 0.04 2>> err
is "no warning of what nobody set" "$(cat err)" ""
"$program" run port -p n=12 -p omega=0.3 -o port --quiet --until 0.02 2> err
grep -q 'coupling.omega has no effect' err || fail "omega under xpm: $(cat err)"

# measurements
"$program" pressure --n 16 --json > p.json
is "pressure" "$(json p.json 'rows[0]["solver"], rows[0]["reason"], rows[0]["residual"] <= 1e-6')" "mgpcg converged True"
json p.json '[rows[0][k] for k in "n unknowns solver threads iterations outer setup_s solve_s residual complementarity wu_s peak_mb".split()]' > /dev/null || fail "pressure lacks a key"
for solver in fast fas pi-pcg pi-mg pe-pcg pe-mg fmg newton pgs mprgp fas-trilinear fas-constant fas-plain-walls fas-direct; do
  "$program" pressure --n 16 --solver $solver --json > p.json
  is "pressure --solver $solver" "$(json p.json 'rows[0]["solver"], rows[0]["reason"], rows[0]["residual"] <= 1e-6, rows[0]["complementarity"] < 1e-6, rows[0]["outer"] > 0')" "$solver converged True True True"
done
"$program" pressure --n 16 --solver pgs --iterations 4 > out 2>&1 && fail "pgs stopped early is no failure"
"$program" pressure --problem mms-disk --solver fas > out 2>&1 && fail "mms-disk as an LCP"
grep -q 'mms-disk has no surface' out || fail "mms-disk as an LCP: $(cat out)"
is "bench lists" "$("$program" bench --json > b.json && json b.json 'rows[0]["bench"]')" pressure
is "bench says how long" "$(json b.json 'all(r["takes"] for r in rows)')" True
"$program" bench lai-maze --size 32 --json > b.json 2> progress || fail "bench lai-maze"
is "bench lai-maze" "$(json b.json '[r["holds"] for r in rows if r["bench"] == "lai-6.3" and r["column"] == "fas"]')" "[True]"
is "its published numbers" "$(json b.json 'rows[0]["published"], rows[0]["at_most"] > 4.41, rows[1]["holds"], rows[-1]["bench"]')" "4.41 True None lai-6.11"
grep -q 'lai-maze: maze, n = 32, separating walls, frame 100/100' progress || fail "progress of a bench"
exit $failed
