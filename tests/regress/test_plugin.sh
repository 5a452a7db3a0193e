#!/bin/bash
# Solids and fluids from shared objects: the examples run and resume with the same bits; what cannot be loaded is bad
# input (2). What misbehaves in a run: test_plugin_faults.sh.
set -eu
program=$1 source_dir=$2 build=$3
export OMP_WAIT_POLICY=passive
work=$(mktemp -d /tmp/mn_plugin_XXXXXX)
trap 'rm -rf "$work"' EXIT
failed=0
cd "$work"
cp "$source_dir/examples/plugin_solid/piston.lua" "$build/examples/plugin_solid/plugin_solid.so" .

expect() { # status, extended regular expression that the output must match, command...
  local status=0 wanted=$1 words=$2
  shift 2
  "$@" > out 2>&1 || status=$?
  if [ $status = "$wanted" ] && { [ -z "$words" ] || grep -Eq -- "$words" out; }; then
    echo "ok    $wanted  $(head -c 400 out | tr '\n' ' ')"
  else
    echo "FAIL  $*: exit $status instead of $wanted, or no \"$words\" in: $(cat out)"
    failed=1
  fi
}
state_hash() { sed -n 's/.*"state_hash":[^"]*"\([0-9a-f]*\)".*/\1/p' "$1/run.json"; }

# A variant of the example: its code, and what is different.
variant() { # name, C code
  printf '#define mn_plugin_get good_get\nconst struct mn_plugin *good_get(void);\n#include "%s"\n#undef mn_plugin_get\n%s\n' \
    "$source_dir/examples/plugin_solid/plugin_solid.c" "$2" > "$1.c"
  cc -shared -fPIC -std=c17 -I "$source_dir/include" "$1.c" -o "$1.so" -lm
}
run() { "$program" run piston.lua -p file="$1" -o "$2" --quiet "${@:3}"; }

# ---- it runs, looks as it should, and resumes --------------------------------------------------------
expect 0 "good" "$program" check piston.lua
# a coupling that cannot couple a black box is refused by name, and the others go on
status=0
"$program" compare piston.lua --couplings xpm,monolithic,auto --frames 1 -o compared > out 2>&1 || status=$?
[ $status = 1 ] && grep -q "monolithic *refused" out && grep -q "tells no operators" compared/report.html &&
  grep -q "^auto,xpm,0," compared/compare.csv || { echo "FAIL  compare with a plug-in: exit $status, $(cat out)" && failed=1; }
expect 0 "" run ./plugin_solid.so whole --frames 6
expect 0 "" run ./plugin_solid.so part --frames 3
expect 0 "" "$program" resume part --frames 6 --quiet
if [ -n "$(state_hash whole)" ] && [ "$(state_hash whole)" = "$(state_hash part)" ]; then
  echo "ok    resumed: the same state"
else
  echo "FAIL  a resumed run differs" && failed=1
fi
# From another folder, where the scene's file names would lead nowhere.
expect 0 "" run ./plugin_solid.so moved --frames 3
expect 0 "" env -C / "$program" resume "$work/moved" --frames 6 --quiet
[ "$(state_hash whole)" = "$(state_hash moved)" ] || { echo "FAIL  resumed from another folder it differs" && failed=1; }
# A quarter of a swing of 1 cm: the piston is near its turn, at 0.625 + 0.01 m.
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } $1 > 0.245 && $1 < 0.255 { x = $c["piston_position_x"] }
  END { d = x - 0.635; if (d < 0) d = -d; if (d < 0.0005) print "ok    turns at", x; else { print "FAIL  turns at", x; exit 1 } }' \
  whole/probes.csv || failed=1

# ---- bad input ---------------------------------------------------------------------------------------
expect 2 "solids.file is .*missing.so.*No such file" run ./missing.so a
echo "no library" > text.so
expect 2 "cannot be loaded" run ./text.so a
echo "int other;" | cc -shared -fPIC -x c - -o other.so
expect 2 "no function mn_plugin_get" run ./other.so a
variant old 'const mn_plugin *mn_plugin_get(void) { static const mn_plugin p = {.version = 0}; return &p; }'
expect 2 "version 0 of the plug-in interface, this program has version 1" run ./old.so a
variant empty 'const mn_plugin *mn_plugin_get(void) { static const mn_plugin p = {.version = 1}; return &p; }'
expect 2 "makes no solid" run ./empty.so a
variant half 'static mn_status m(const mn_plugin_host *h, mn_solid *s) { static mn_solid_ops o; o = ops; o.look = 0;
  mn_status t = make_solid(h, s); s->ops = &o; return t; }
  const mn_plugin *mn_plugin_get(void) { static const mn_plugin p = {.version = 1, .make_solid = m}; return &p; }'
expect 2 "table has no look" run ./half.so a
variant picky 'static mn_status m(const mn_plugin_host *h, mn_solid *s) { (void)s; return h->fail(h->ctx, MN_BAD_INPUT,
  "mass is %g: too little", h->number(h, "mass", 0)); }
  const mn_plugin *mn_plugin_get(void) { static const mn_plugin p = {.version = 1, .make_solid = m}; return &p; }'
expect 2 "picky.so.*mass is 25: too little" run ./picky.so a
sed 's/mass = 100 \* H,/5,/' piston.lua > odd.lua
expect 2 "a table of numbers" "$program" check odd.lua
sed "s/solids   = {/& rigid { density = 1, shape = disk { center = {0.2, 0.1}, radius = 0.05 } },/" piston.lua > both.lua
expect 2 "all bodies of a scene" "$program" check both.lua
sed '/fluid    =/d' piston.lua > dry.lua
expect 2 "needs a fluid" "$program" check dry.lua

# ---- a fluid: a lump of mass that moves with the surface, behind the program's own piston ---------------
cp "$source_dir/examples/plugin_fluid/lump.lua" "$build/examples/plugin_fluid/plugin_fluid.so" .
for coupling in xpm aitken; do # 10 kg and 90 kg more on the spring of 100 kg: it swings once in a second
  expect 0 "" "$program" run lump.lua -p coupling=$coupling -o lump --quiet
  expect 0 "" "$program" run lump.lua -p coupling=$coupling -o lump_part --quiet --frames 3
  expect 0 "" "$program" resume lump_part --frames 11 --quiet
  [ "$(state_hash lump)" = "$(state_hash lump_part)" ] || { echo "FAIL  a resumed run differs" && failed=1; }
  awk -F, 'NR > 2 && last < 0.5 && $2 >= 0.5 { t = $1 - ($1 - at) * ($2 - 0.5) / ($2 - last) } { last = $2; at = $1 }
    END { if (t > 0.995 && t < 1.005) print "ok    period", t, "s"; else { print "FAIL  period", t, "s"; exit 1 } }' lump/probes.csv || failed=1
done
sed 's/solids *= {/sources = { inflow { velocity = {1, 0}, shape = disk { center = {0.1, 0.1}, radius = 0.1 } } }, &/' lump.lua > blown.lua
expect 2 "sources: they need smoke or water" "$program" check blown.lua

exit $failed
