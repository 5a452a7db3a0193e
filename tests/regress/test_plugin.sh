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

# ---- a fluid: a lump of mass that moves with the surface, behind the program's own piston ---------------
cat > lump.c <<'C'
#include <stdlib.h>
#include "meniscus/plugin.h"
typedef struct lump { double mass, u, u_next, u_saved, dt; } lump;
static void destroy(void *s) { free(s); }
static double max_dt(void *s) { (void)s; return 0.005; }
static mn_status begin(void *s, double t, double dt) { (void)t; ((lump *)s)->dt = dt; return MN_OK; }
static mn_status solve(void *self, mn_interface *f, mn_solve_report *r) {
  lump *s = self;
  double area = 0, mean = 0;
  for (size_t i = 0; i < f->count; i++) area += f->area[i], mean += f->area[i] * f->V[i].x;
  s->u_next = mean / area;
  for (size_t i = 0; i < f->count; i++) {
    f->load[i] = (mn_vec3){{-s->mass * (s->u_next - s->u) / s->dt * f->area[i] / area, 0, 0}};
    f->mass[i] = 0;
  }
  r->reason = MN_CONVERGED;
  return MN_OK; }
static mn_status commit(void *s) { ((lump *)s)->u = ((lump *)s)->u_next; return MN_OK; }
static mn_status save(void *s) { ((lump *)s)->u_saved = ((lump *)s)->u; return MN_OK; }
static mn_status restore(void *s) { ((lump *)s)->u = ((lump *)s)->u_saved; return MN_OK; }
static int arrays(void *s, mn_array *a, int n) {
  if (n > 0) a[0] = (mn_array){"lump_u", MN_F64, 1, {1}, &((lump *)s)->u, 0};
  return 1; }
static const mn_fluid_ops ops = {.name = "lump", .destroy = destroy, .max_dt = max_dt, .begin = begin, .solve = solve,
  .commit = commit, .save = save, .restore = restore, .arrays = arrays};
static mn_status make(const mn_plugin_host *h, mn_fluid *fluid) {
  lump *s = calloc(1, sizeof *s);
  s->mass = h->number(h, "mass", 1);
  s->u = h->number(h, "velocity", 0);
  *fluid = (mn_fluid){&ops, s};
  return MN_OK; }
const mn_plugin *mn_plugin_get(void) { static const mn_plugin p = {.version = MN_PLUGIN_VERSION, .make_fluid = make}; return &p; }
C
cc -shared -fPIC -std=c17 -I "$source_dir/include" lump.c -o lump.so
cat > lump.lua <<'LUA'
local coupling = param("coupling", "xpm", "")
local v0 = 0.02 * math.pi
return scene {
  domain   = box { size = {1, 1}, cells = {16, 16}, left = "open", right = "open" },
  fluid    = plugin { file = "lump.so", numbers = { mass = 90, velocity = v0 } },
  solids   = { rigid { name = "piston", density = 1000, shape = box { center = {0.5, 0.5}, size = {0.1, 0.1} },
                       joint = "slider", joint_axis = {1, 0}, velocity = {v0, 0}, spring = 100 * 4 * math.pi^2 } },
  dynamics = dynamics { gravity = {0, 0}, dt = 0.005 },
  coupling = couple { method = coupling, tolerance = 1e-4 },
  probes   = { position { of = "piston", axis = "x" } },
  output   = { frames = 11, every = 0.1, vtk = false },
}
LUA
for coupling in xpm aitken; do # 10 kg and 90 kg more on the spring of 100 kg: it swings once in a second
  expect 0 "" "$program" run lump.lua -p coupling=$coupling -o lump --quiet
  awk -F, 'NR > 2 && last < 0.5 && $2 >= 0.5 { t = $1 - ($1 - at) * ($2 - 0.5) / ($2 - last) } { last = $2; at = $1 }
    END { if (t > 0.995 && t < 1.005) print "ok    period", t, "s"; else { print "FAIL  period", t, "s"; exit 1 } }' lump/probes.csv || failed=1
done
sed 's/solids *= {/sources = { inflow { velocity = {1, 0}, shape = disk { center = {0.1, 0.1}, radius = 0.1 } } }, &/' lump.lua > blown.lua
expect 2 "sources: they need smoke or water" "$program" check blown.lua

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
