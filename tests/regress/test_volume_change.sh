#!/bin/bash
# volume_change in run.json is that of the fluid: bodies that are cut out of it in the first substep do not count, also
# after a resume. Control: foam that is squeezed changes it.
set -eu
program=$1
export OMP_WAIT_POLICY=passive
work=$(mktemp -d /tmp/mn_change_XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$program" run port -p n=12 --until 0.4 -o rigid --quiet
"$program" run port -p n=12 --frames 2 -o cut --quiet
"$program" resume cut --frames 4 --quiet
"$program" run foam-in-smoke -p n=20 --until 0.1 -o soft --quiet
python3 - <<'PY'
import csv, json
def change(run):
    return json.load(open(run + "/run.json"))["invariants"]["volume_change"]["worst"]
rows = [float(r["fluid_volume"]) for r in csv.DictReader(open("soft/steps.csv"))]
soft = max(abs(v - rows[0]) for v in rows)
print("ok    pistons", change("rigid"), "resumed", change("cut"), "foam", change("soft"), "m^3")
assert change("rigid") <= 1e-9 and change("cut") <= 1e-9
assert soft > 1e-6 and abs(change("soft") - soft) <= 1e-12
PY
