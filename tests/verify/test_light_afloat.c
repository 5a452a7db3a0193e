/* Light rigid bodies on water that can leave them, by asking both sides in turn (xpm).

   A raft of 300 kg/m^3 dropped by 2 cm, disks of 10 to 30 kg/m^3 that touch the water: they come to
   rest where the one system lets them, and no substep throws them up once they float. What the
   fluid gives and what the body does agree: rigid bodies are off by no more than a part of the
   tolerance in the time of a fall through a cell, however short the substep.
   Controls: masses below 0 left to the fluid (mn_fluid_ops.lacking) throw the raft up; the same
   tolerance in every substep leaves gaps of tens of times that in short ones. */
#include "couple/couple_internal.h"
#include "world_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char SCENE[] =
    "local rho    = param('rho', 300, '')\n"
    "local dt     = param('dt', 0.01, '')\n"
    "local raft   = param('raft', true, '')\n"
    "local method = param('method', 'xpm', '')\n"
    "local shape  = raft and box { center = {0.5, 0.55}, size = {0.6, 0.06} }\n"
    "               or disk { center = {0.5, 0.6}, radius = 0.1 }\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {20, 20}, top = 'open' },\n"
    "  fluid    = water { initial_water = box { lo = {-1, -1}, hi = {2, 0.5} }, max_dt = dt },\n"
    "  solids   = { rigid { name = 'b', shape = shape, density = rho } },\n"
    "  dynamics = dynamics { dt = dt },\n"
    "  coupling = couple { method = method },\n"
    "  probes   = { position { of = 'b', axis = 'y' }, body_velocity { of = 'b', axis = 'y' } },\n"
    "  output   = { frames = 30, every = 1 / 30 },\n"
    "}\n";

typedef struct floating {
  double thrown; /* m/s, greatest gain of upward velocity in a substep after the impact, */
  double end;    /* m, y at the end of a second */
  double gap;    /* m/s, between body and what the fluid took it to be, worst */
} floating;

enum { LEAVE_MASSES = 1, LEAVE_GAPS = 2 };

static floating let_float(const char *raft, const char *rho, const char *dt, const char *method,
                          int leave)
{
  const mn_setting s[] = {{"raft", raft}, {"rho", rho}, {"dt", dt}, {"method", method}};
  floating b = {0};
  world_case c;
  world_open(&c, SCENE, s, 4, 1);
  mn_coupling *coupling = c.world->coupling;
  mn_fluid_ops without = *coupling->boxes.fluid.ops;
  without.lacking = NULL;
  if (leave & LEAVE_MASSES)
    coupling->boxes.fluid.ops = &without;
  if (leave & LEAVE_GAPS)
    mn_coupling_set_fall(coupling, 0);
  double v = 0;
  while (c.info.time < 1 - 1e-9 && world_step(&c)) {
    double now = mn_world_probe(c.world, 1);
    if (c.info.time > 0.3)
      b.thrown = fmax(b.thrown, now - v);
    v = now;
    b.gap = fmax(b.gap, c.info.coupling_residual / c.info.dt);
  }
  CHECK_OK(c.ctx, c.status);
  b.end = mn_world_probe(c.world, 0);
  printf("%s of %s kg/m^3, dt %s s, %s%s%s: at most %.3f m/s up in a substep, y %.4f m, gap %.2e "
         "m/s, %d substeps\n",
         raft[0] == 't' ? "raft" : "disk", rho, dt, method,
         leave & LEAVE_MASSES ? ", masses left" : "", leave & LEAVE_GAPS ? ", gaps left" : "",
         b.thrown, b.end, b.gap, c.steps);
  world_close(&c);
  return b;
}

static void test_afloat(void **state)
{
  (void)state;
  static const struct {
    const char *raft, *rho, *dt;
  } scene[] = {{"true", "300", "0.01"},
               {"true", "300", "0.002"},
               {"false", "10", "0.01"},
               {"false", "20", "0.01"},
               {"false", "30", "0.01"}};
  const double calm = 0.25 * 0.05 * sqrt(9.81 * 0.05); /* m/s */
  for (size_t i = 0; i < sizeof scene / sizeof *scene; i++) {
    floating one = let_float(scene[i].raft, scene[i].rho, scene[i].dt, "monolithic", 0);
    floating b = let_float(scene[i].raft, scene[i].rho, scene[i].dt, "xpm", 0);
    CHECK_LE(b.thrown, 0.15);
    CHECK_NEAR(b.end, one.end, 0.02);
    CHECK_LE(b.gap, 1.01 * calm);
  }
  CHECK_DONE();
  CHECK_LE(let_float("true", "300", "0.01", "xpm", LEAVE_MASSES | LEAVE_GAPS).thrown, 0.15);
  CHECK_LE(let_float("true", "300", "0.002", "xpm", LEAVE_GAPS).gap, 1.01 * calm);
  CHECK_MUST_HAVE_FAILED();
}

/* One solve of each side cannot bear them: the substep that would throw one up is refused. */
static void test_weak(void **state)
{
  (void)state;
  for (int disk = 0; disk < 2; disk++) {
    const mn_setting s[] = {
        {"raft", disk ? "false" : "true"}, {"rho", disk ? "10" : "300"}, {"method", "weak"}};
    world_case c;
    double highest = 0;
    world_open(&c, SCENE, s, 3, 1);
    while (c.info.time < 1 - 1e-9 && world_step(&c))
      highest = fmax(highest, mn_world_probe(c.world, 1));
    printf("weak: at most %.3f m/s up; %s\n", highest, mn_context_message(c.ctx));
    CHECK(c.status == MN_FAILED);
    CHECK(strstr(mn_context_message(c.ctx), "weak coupling diverged") != NULL);
    CHECK_LE(highest, 0.5); /* accepted before: 4.1 and 10.6 m/s */
    world_close(&c);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_afloat), cmocka_unit_test(test_weak)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
