#!/bin/bash
# Solids from shared objects: the example runs and resumes with the same bits; what cannot be loaded is bad input (2);
# what misbehaves in a run ends it (1) with its name and words, and the last good state is kept.
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
# The same with another solve of the box.
solving() { # name, body of the function after the real solve
  variant "$1" "static int solves;
static mn_status bad_solve(void *self, mn_interface *f, mn_solve_report *r) {
  piston *s = self; mn_status status = solve(self, f, r); (void)s;
  if (++solves > 6) { $2 }
  return status; }
static mn_status bad_make(const mn_plugin_host *h, mn_solid *solid) {
  static mn_solid_ops bad; bad = ops; bad.solve = bad_solve; bad.name = \"bad piston\";
  mn_status status = make_solid(h, solid); solid->ops = &bad; return status; }
const mn_plugin *mn_plugin_get(void) {
  static const mn_plugin p = {.version = MN_PLUGIN_VERSION, .make_solid = bad_make}; return &p; }"
}
run() { "$program" run piston.lua -p file="$1" -o "$2" --quiet "${@:3}"; }

# ---- it runs, looks as it should, and resumes --------------------------------------------------------
expect 0 "good" "$program" check piston.lua
expect 0 "" run ./plugin_solid.so whole --frames 6
expect 0 "" run ./plugin_solid.so part --frames 3
expect 0 "" "$program" resume part --frames 6 --quiet
if [ -n "$(state_hash whole)" ] && [ "$(state_hash whole)" = "$(state_hash part)" ]; then
  echo "ok    resumed: the same state"
else
  echo "FAIL  a resumed run differs" && failed=1
fi
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

# ---- misbehaviour in a run: exit 1, its name, the state before the substep kept ------------------------
bad() { # name, words
  expect 1 "the solid \"bad piston\".*$2" run "./$1.so" "$1"
  ls "$1/checkpoint" | grep -q . || { echo "FAIL  $1: no checkpoint" && failed=1; }
  tail -1 "$1/probes.csv" | grep -qv nan || { echo "FAIL  $1: probes with NaN" && failed=1; }
}
solving nan 'f->X[3].x = NAN;'
bad nan "position that is not finite, at point 3"
solving size 'f->count = 1000;'
bad size "points were agreed, it left 1000"
solving beyond 'f->V[f->count].x = 1;'
bad beyond "wrote beyond"
solving word 's->host->fail(s->host->ctx, MN_FAILED, "the rod is bent by %d degrees", 7); return MN_FAILED;'
bad word "the rod is bent by 7 degrees"
solving dumb 'return MN_BAD_INPUT;'
bad dumb "no message"
solving slow 'r->reason = MN_ITERATION_LIMIT;'
bad slow "did not converge"
exit $failed
