#!/bin/bash
# Plug-ins that misbehave (misbehave.c, one fault each): a run ends (1) with the box's name and words, and the state before
# the substep is the one that stays, bit for bit (but for what the coupling learned, which it forgets); what is wrong from the start is told before the first step.
set -eu
program=$1 source_dir=$2
export OMP_WAIT_POLICY=passive
work=$(mktemp -d /tmp/mn_faults_XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"
examples=$source_dir/examples failed=0

build() { # solid or fluid, more
  cc -shared -fPIC -std=c17 -I "$source_dir/include" -DEXAMPLE="\"$examples/plugin_$1/plugin_$1.c\"" "${@:2}" \
    "$source_dir/tests/regress/misbehave.c" -o "$1.so" -lm
}
build solid
build fluid -DFLUID
faults=($(grep -o ' F([A-Z_]*,' "$source_dir/tests/regress/misbehave.c" | sed 's/ F(//; s/,//'))
number() { # of a fault by name
  for i in "${!faults[@]}"; do [ "${faults[i]}" = "$1" ] && echo "$i" && return; done
  echo "no fault $1" >&2 && exit 1
}
for side in solid fluid; do # the examples' scenes with two numbers more
  scene=$examples/plugin_$side/$([ $side = solid ] && echo piston || echo lump).lua
  sed 's/return scene/local fault, after = param("fault", 0, ""), param("after", 0, "")\n&/; s/velocity = v0/&, fault = fault, after = after/' \
    "$scene" | sed '/shape = box/,$ s/, fault = fault, after = after//' | sed 's/frames = 11, every = 0.1/frames = 2, every = 0.02, vtk = false, preview = false/; s/, vtk = false }/ }/' > $side.lua
done
run() { # side, fault, after, folder
  "$program" run "$1.lua" -p file="./$1.so" -p fault="$(number "$2")" -p after="$3" -o "$4" --quiet
}
saved() { ls -d "$1"/checkpoint/*/ | tail -1; } # newest checkpoint
same_state() { # folders
  local one two file
  one=$(saved "$1") two=$(saved "$2")
  for file in "$two"/*.npy; do
    case $file in */coupling_* | */rmi_*) continue ;; esac
    cmp "$file" "$one/${file##*/}" || return 1
  done
  [ "$(ls "$one" | wc -l)" -gt 2 ]
}
ends() { # side, fault, after, exit status, words
  local status=0
  run "$1" "$2" "$3" bad > out 2>&1 || status=$?
  if [ $status = "$4" ] && grep -Eq -- "$5" out; then
    echo "ok    $1 $2: $(head -c 300 out | tr '\n' ' ')"
  else
    echo "FAIL  $1 $2: exit $status instead of $4, or no \"$5\" in: $(cat out)" && failed=1
  fi
}
# What it returns as an error is meant, and answers that are no numbers are a fault: no shorter steps are tried.
at_once() { # side, fault, words
  fails "$@"
  grep -q halvings out && { echo "FAIL  $1 $2: tried again" && failed=1; }
  return 0
}
# What goes wrong in the substep after the first frame: a run that ends there has the same state.
fails() { # side, fault, words, time
  ends "$1" "$2" "${4:-0.0199}" 1 "the $1 \"bad box\".*$3"
  same_state "whole_$1" bad || { echo "FAIL  $1 $2: another state than before" && failed=1; }
}
for side in solid fluid; do
  last=$([ $side = solid ] && echo 0.0099 || echo 0.0149) # start of the frame's last step: they learn the time in begin
  "$program" run $side.lua -p file=./$side.so -o whole_$side --quiet --frames 1
  run $side NONE 0 bad || { echo "FAIL  $side without a fault" && failed=1; }
  at_once $side COUNT "points.* were agreed, it left 1000"
  at_once $side ELEMENTS "changed the size of the interface"
  at_once $side DIM "changed the size of the interface"
  at_once $side NULL_X "replaced arrays"
  at_once $side OTHER_X "replaced arrays"
  at_once $side NULL_LOAD "replaced arrays"
  at_once $side BEYOND "wrote beyond"
  at_once $side WORDS ": the rod is bent by 7 degrees"
  at_once $side NULL_AND_WORDS ": the rod is bent by 7 degrees"
  at_once $side SILENT "status 2 and no message"
  at_once $side STRANGE "status 77 and no message"
  fails $side SLOW "did not converge"
  grep -q halvings out || { echo "FAIL  $side SLOW: a report is no error, shorter steps are to be tried" && failed=1; }
  fails $side REASON "did not converge"
  at_once $side BEGIN_WORDS "bent by 7"
  at_once $side COMMIT_WORDS "bent by 7"
  fails $side SAVE_WORDS "could not save its state: .*bent by 7" "$last"
  at_once $side ARRAYS_MORE "has 1000 arrays of state"
  at_once $side ARRAYS_NEGATIVE "has -1 arrays of state"
  at_once $side ARRAYS_NULL "without data"
  for fault in TINY ZERO NEGATIVE NAN; do # found at the start of a step: the last one stands
    ends $side DT_$fault 0.0149 1 "the $side \"bad box\" allows no time step that is of use: its max_dt says (1e-12|-?0|-1|-?nan) s"
    ends $side DT_$fault 0 1 "at 0 s .step 0. the $side \"bad box\" allows no time step"
  done
  ends $side RESTORE_WORDS 0.0199 1 "the $side \"bad box\" could not restore its state: .*bent by 7"
  ls bad/checkpoint/*step_*2 > /dev/null 2>&1 && { echo "FAIL  $side: a state that was lost is saved" && failed=1; }
  ends $side MAKE_STRANGE 0 2 "$side.*so\" failed with status 77 and no message"
  ends $side MAKE_NO_OPS 0 2 "has no ops"
  ends $side ARRAYS_MORE 0 2 "the $side \"bad box\" has 1000 arrays"
done
at_once solid NAN_X "position that is not finite, at point 3"
at_once solid NAN_V "velocity that is not finite, at point 3"
at_once solid NAN_N "normal or an area below 0 or one that is not finite, at point 3"
at_once solid AREA "normal or an area below 0"
at_once solid HUGE_X "position that is not finite, at point 3 of .*below 1e30"
at_once solid LOOK_NULL "replaced arrays"
at_once solid LOOK_NULL_AND_WORDS "bent by 7"
at_once solid LOOK_NAN "not finite, at point 3"
at_once solid LOOK_ELEMENT "element 1 with point 100000"
at_once solid LOOK_BODY "body -1"
ends solid LOOK_WORDS 0 1 "the solid \"bad box\": the rod"
ends solid NO_POINTS 0 2 "the solid \"bad box\" has 0 points and 0 elements"
ends solid NO_ELEMENTS 0 2 "the solid \"bad box\" has 66 points and 0 elements"
ends solid MANY_POINTS 0 1 "asks for 18446744073709551614 points"
ends solid MORE_POINTS 0 1 "wrote beyond the 67 points"
ends solid SAMPLE_WORDS 0 1 "the solid \"bad box\": the rod"
at_once fluid NAN_LOAD "load that is not finite, at point 3"
at_once fluid NAN_MASS "mass below 0 or one that is not finite, at point 3"
at_once fluid HUGE_LOAD "load that is not finite, at point 3 of .*below 1e30"
exit $failed
