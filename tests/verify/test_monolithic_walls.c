/* Walls that let go, at bodies that move: water under a piston that is pulled up. With separating
   walls it lets go at once, and gravity alone acts on the piston; with sticking ones it holds the
   piston, by suction, as incompressible water must. And a light disk that rises through the
   surface: what it leaves behind never pulls. */
#include <math.h>
#include <stdio.h>

#include "la/sparse_lu.h"
#include "world_case.h"

static const char LIFT[] =
    "local coupling = param('coupling', 'monolithic', '')\n"
    "local walls    = param('walls', 'separating', '')\n"
    "local solver   = param('solver', 'auto', '')\n"
    "local push     = param('v', 1, '')\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {16, 16}, top = 'open' },\n"
    "  fluid    = water { gravity = {0, -9.8}, walls = walls, dt = 0.01,\n"
    "                     initial_water = box { lo = {-1, -1}, hi = {2, 0.4} } },\n"
    "  solids   = { rigid { name = 'piston', density = 2000, velocity = {0, push},\n"
    "                       shape = box { lo = {0, 0.39}, hi = {1, 0.61} } } },\n"
    "  dynamics = dynamics { gravity = {0, -9.8}, dt = 0.01, contact = false,\n"
    "                        check_start = false },\n"
    "  coupling = couple { method = coupling, solver = solver, tolerance = 1e-9 },\n"
    "  output   = { frames = 4, every = 0.01 },\n"
    "}\n";

/* The piston's velocity after so many substeps. */
static double lift(const char *coupling, const char *walls, const char *solver, const char *v,
                   int steps, mn_solve_report *report)
{
  const mn_setting s[] = {{"coupling", coupling}, {"walls", walls}, {"solver", solver}, {"v", v}};
  world_case c;
  world_open(&c, LIFT, s, 4, 1);
  while (c.steps < steps && world_step(&c))
    continue;
  CHECK_OK(c.ctx, c.status);
  CHECK(c.retries == 0);
  double mass = 2000 * 0.22, up = c.info.body_momentum.y / mass;
  *report = c.info.pressure;
  printf("%s, %s walls, %s, pushed %s m/s: %.12g m/s after %d substeps, %d cells let go\n",
         coupling, walls, solver, v, up, steps, report->held);
  world_close(&c);
  return up;
}

static void test_lift(void **state)
{
  (void)state;
  static const char *const solvers[] = {"direct", "cg", "minres"};
  static const char *const methods[] = {"monolithic", "simultaneous"};
  mn_solve_report r;
  for (int k = 0; k < 6; k++) {
    if (k < 2 && !mn_lu_available())
      continue;
    const char *method = methods[k % 2], *solver = solvers[k / 2];
    CHECK_NEAR(lift(method, "separating", solver, "1", 1, &r), 1 - 9.8 * 0.01, 1e-9);
    CHECK_GE(r.held, 10);
    CHECK_GE(r.least_p, -1e-6);
    CHECK_LE(r.complementarity, 1e-9);
    CHECK_NEAR(lift(method, "separating", solver, "1", 3, &r), 1 - 9.8 * 0.03, 1e-9);
    CHECK_NEAR(lift(method, "sticking", solver, "1", 1, &r), 0, 1e-9);
    CHECK_NEAR(lift(method, "separating", solver, "-1", 1, &r), 0, 1e-9); /* it carries */
    CHECK(r.held == 0);
  }
  CHECK_DONE();
  CHECK_NEAR(lift("monolithic", "sticking", "auto", "1", 1, &r), 1 - 9.8 * 0.01, 1e-3);
  CHECK_MUST_HAVE_FAILED();
}

/* The gap is no air that would hold the piston back, however wide it is: it is thrown, goes as any
   stone does, and falls back. */
static void test_throw(void **state)
{
  (void)state;
  mn_solve_report r;
  CHECK_NEAR(lift("monolithic", "separating", "auto", "2", 20, &r), 2 - 9.8 * 0.2, 1e-9);
  CHECK_NEAR(lift("simultaneous", "separating", "auto", "2", 30, &r), 2 - 9.8 * 0.3, 1e-9);
  CHECK_NEAR(lift("monolithic", "separating", "auto", "1", 60, &r), 0, 0.05); /* it lies again */
  CHECK_DONE();
  CHECK_NEAR(lift("xpm", "separating", "auto", "2", 20, &r), 2 - 9.8 * 0.2, 1e-3);
  CHECK_MUST_HAVE_FAILED();
}

static const char RISE[] =
    "local coupling = param('coupling', 'monolithic', '')\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1.5}, cells = {16, 24}, top = 'open' },\n"
    "  fluid    = water { gravity = {0, -9.8}, walls = 'separating',\n"
    "                     initial_water = box { lo = {-1, -1}, hi = {2, 0.6} } },\n"
    "  solids   = { rigid { name = 'd', density = 50, shape = disk { center = {0.5, 0.25},\n"
    "                       radius = 0.15 } } },\n"
    "  dynamics = dynamics { gravity = {0, -9.8} },\n"
    "  coupling = couple { method = coupling, tolerance = 1e-3 },\n"
    "  probes   = { position { of = 'd', axis = 'y' } },\n"
    "  output   = { frames = 14, every = 0.05 },\n"
    "}\n";

/* Height at the end; *let_go: substeps in which cells at walls or at the disk did, *pull: the
   greatest suction. */
static double rise(const char *coupling, int *let_go, double *pull)
{
  const mn_setting s[] = {{"coupling", coupling}};
  world_case c;
  double highest = 0;
  world_open(&c, RISE, s, 1, 1);
  *let_go = 0;
  *pull = 0;
  for (int frame = 0; frame < 14; frame++)
    while (mn_world_frame(c.world) == frame && world_step(&c)) {
      *let_go += c.info.pressure.held > 0;
      *pull = fmax(*pull, -c.info.pressure.least_p / fmax(1, c.info.pressure.greatest_p));
      highest = fmax(highest, mn_coupling_interface(c.world->coupling)->X[0].y);
    }
  CHECK_OK(c.ctx, c.status);
  printf("%s: a point of the disk at most at %.4f m, cells let go in %d of %d substeps, suction "
         "%.1e of the pressure\n",
         coupling, highest, *let_go, c.steps, *pull);
  world_close(&c);
  return highest;
}

static void test_rise(void **state)
{
  (void)state;
  int let_go;
  double pull, one = rise("monolithic", &let_go, &pull);
  CHECK_GE(one, 0.7);
  CHECK_GE(let_go, 5);
  CHECK_LE(pull, 1e-9);
  double other = rise("xpm", &let_go, &pull);
  CHECK_NEAR(one, other, 0.1); /* splashes differ */
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lift), cmocka_unit_test(test_throw),
                                     cmocka_unit_test(test_rise)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
