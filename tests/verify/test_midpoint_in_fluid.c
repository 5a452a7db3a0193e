/* Light bodies that bend, in smoke without gravity or sources: kinetic and elastic energy can only
   fall, with the midpoint rule as with others. A flap in a swirl, wider and narrower than a cell; a
   slab on a spring, a ring of springs; as one system and by asking both sides in turn.
   Controls: the rule that conserves (mn_deform_def.fade 0) makes energy without end, and so do
   masses below 0 (mn_fluid_ops.lacking) that stiffness hides. */
#include "couple/couple_internal.h"
#include "solid/deform_internal.h"
#include "solid/solid_internal.h"
#include "world_case.h"

#include <math.h>
#include <stdio.h>

static const char SCENE[] =
    "local case   = param('case', 'flap', '')\n"
    "local method = param('method', 'monolithic', '')\n"
    "local n      = param('n', 32, '')\n"
    "local dt     = param('dt', 0.01, '')\n"
    "local top    = param('top', 'slip', '')\n"
    "local rule   = param('rule', 'midpoint', '')\n"
    "local k, swirl, b = math.pi\n"
    "local base = box { lo = {-1, -1}, hi = {2, 0.001} }\n"
    "if case == 'flap' then\n"
    "  swirl = function(x, y)\n"
    "    return math.sin(k * x) * math.cos(k * y), -math.cos(k * x) * math.sin(k * y)\n"
    "  end\n"
    "  b = { elastic { name = 'b', density = 0.1, young = 100, order = 2, spacing = 0.03,\n"
    "                  shape = box { lo = {0.47, 0}, hi = {0.53, 0.6} }, fixed = base } }\n"
    "elseif case == 'slab' then\n"
    "  b = { elastic { name = 'b', density = 0.1, young = 100, velocity = {1, 0},\n"
    "                  shape = box { lo = {0.35, 0.3}, hi = {0.45, 0.7} }, spacing = 0.05 },\n"
    "        link { of = 'b', at = {0.45, 0.5}, to_at = {0.8, 0.5}, stiffness = 20 } }\n"
    "else\n"
    "  b = { springs { name = 'b', density = 0.002, stretch = 100, bend = 10, spacing = 0.03,\n"
    "                  shape = disk { center = {0.4, 0.5}, radius = 0.2 }, velocity = {0.5, 0} } "
    "}\n"
    "end\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {n, n}, top = top },\n"
    "  fluid    = smoke { density = 1, gravity = {0, 0}, max_dt = dt, initial_velocity = swirl },\n"
    "  solids   = b,\n"
    "  dynamics = dynamics { dt = dt, integrator = rule, gravity = {0, 0} },\n"
    "  coupling = couple { method = method },\n"
    "  probes   = { kinetic_energy {}, body_energy {} },\n"
    "  output   = { frames = 50, every = 0.02 },\n"
    "}\n";

enum { CONSERVING = 1, LEAVE_MASSES = 2 };

typedef struct energies {
  double first, end, rise; /* J; rise: over the least so far, at most */
  int substeps;
} energies;

static energies follow(const char *body, const char *method, const char *n, const char *top,
                       const char *rule, const char *dt, double until, int control)
{
  const mn_setting s[] = {{"case", body}, {"method", method}, {"n", n},
                          {"top", top},   {"rule", rule},     {"dt", dt}};
  energies e = {0};
  world_case c;
  world_open(&c, SCENE, s, 6, 1);
  mn_coupling *coupling = c.world->coupling;
  mn_fluid_ops without = *coupling->boxes.fluid.ops;
  without.lacking = NULL;
  if (control & LEAVE_MASSES)
    coupling->boxes.fluid.ops = &without;
  if (control & CONSERVING)
    ((mn_solids *)c.world->solid.self)->deform->def.fade = 0;
  double least = INFINITY;
  while (c.info.time < until - 1e-9 && (!control || e.rise <= e.first) && world_step(&c)) {
    e.end = mn_world_probe(c.world, 0) + mn_world_probe(c.world, 1);
    e.first = e.first > 0 ? e.first : e.end; /* bodies have met the fluid */
    least = fmin(least, e.end);
    e.rise = fmax(e.rise, e.end - least);
  }
  if (!control)
    CHECK_OK(c.ctx, c.status);
  e.substeps = c.steps;
  printf("%s, %s, %s cells, top %s, %s, dt %s%s%s: %.4f J, at the end %.4f, rise %.2f %%; %d "
         "substeps\n",
         body, method, n, top, rule, dt, control & CONSERVING ? ", conserving" : "",
         control & LEAVE_MASSES ? ", masses left" : "", e.first, e.end, 100 * e.rise / e.first,
         e.substeps);
  world_close(&c);
  return e;
}

static void falls(const char *body, const char *method, const char *n, const char *top,
                  const char *rule, const char *dt, double until)
{
  energies e = follow(body, method, n, top, rule, dt, until, 0);
  CHECK_LE(e.rise, 0.02 * e.first);
  CHECK_LE(e.end, e.first);
}

static void test_falls(void **state)
{
  (void)state;
  static const char *const METHOD[] = {"monolithic", "xpm"};
  for (int m = 0; m < 2; m++) {
    falls("flap", METHOD[m], "32", "slip", "midpoint", "0.01", 0.3);
    falls("flap", METHOD[m], "16", "open", "midpoint", "0.005", 0.3);
    falls("slab", METHOD[m], "32", "slip", "midpoint", "0.01", 0.5);
  }
  falls("flap", "simultaneous", "32", "slip", "midpoint", "0.01", 0.5);
  falls("ring", "monolithic", "32", "slip", "midpoint", "0.01", 0.5);
  falls("flap", "monolithic", "16", "open", "newmark", "0.005", 0.5);
  CHECK_DONE();
}

static void test_controls(void **state)
{
  (void)state;
  energies e = follow("flap", "monolithic", "32", "slip", "midpoint", "0.01", 0.5, CONSERVING);
  CHECK_GE(e.rise, 0.5 * e.first);
  e = follow("slab", "monolithic", "32", "slip", "midpoint", "0.01", 1, CONSERVING);
  CHECK_GE(e.rise, 0.2 * e.first); /* 0.32 in 139 substeps */
  e = follow("flap", "monolithic", "16", "open", "midpoint", "0.005", 0.5, LEAVE_MASSES);
  CHECK_GE(e.rise, 0.5 * e.first);
  e = follow("flap", "monolithic", "16", "open", "newmark", "0.005", 0.5, LEAVE_MASSES);
  CHECK_GE(e.rise, 0.5 * e.first);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_falls),
      cmocka_unit_test(test_controls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
