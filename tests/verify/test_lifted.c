/* Light bodies that are lifted off water. The condition on pressures holds where they are, half a
   cell below the wall: alone it would let water draw at a body by the weight and the inertia of
   that half cell, however light the body is (at 16, 32, 64 cells a plate of 10 kg/m^3 that is
   pulled up by ten times its weight had 0.02, 0.9 and 5.5 m/s after 0.1 s; src/fluid/mac/loose.c).
   Exact: a (t - dt), a = 9 g, with the substep in which it is found that the water draws.
   Bodies thrown under water, on all sides of which it lets go: mirrored scenes have mirrored
   answers, and these do not hang on the length of the substep. */
#include <math.h>
#include <stdio.h>

#include "world_case.h"

static const char PLATE[] =
    "local n = param('n', 16, '')\n"
    "local pull = param('pull', 10, '')\n"
    "local pi = param('lcp', 'fast', '')\n"
    "local y = 0.5 + param('up', 0, '') / n\n"
    "return scene {\n"
    "  domain = box { size = {2, 1}, cells = {2 * n, n}, top = 'open' },\n"
    "  fluid = water { max_dt = param('dt', 0.01, ''), walls = param('walls', 'separating', ''), "
    "lcp_solver = pi,\n"
    "                  initial_water = box { lo = {-1, -1}, hi = {3, y} } },\n"
    "  solids = { rigid { name = 'plate', velocity = {0, param('v', 0, '')}, joint = 'slider', "
    "joint_axis = {0, 1}, density = 10,\n"
    "                     force = {0, pull * 1.25 * 9.81},\n"
    "                     shape = box { lo = {0.5, y}, hi = {1.5, y + 0.125} } } },\n"
    "  dynamics = dynamics { dt = 0.01 },\n"
    "  coupling = couple { method = param('coupling', 'xpm', ''), tolerance = 1e-4 },\n"
    "  output = { frames = 2, every = 0.05 },\n"
    "}\n";

/* Its velocity after 0.1 s; the surface of the water, on which it lies, is at 1/2 m and `up` cells.
 */
static double plate(const char *n, const char *coupling, const char *walls, const char *lcp,
                    const char *pull, const char *up)
{
  const mn_setting s[] = {{"n", n},     {"coupling", coupling}, {"walls", walls},
                          {"lcp", lcp}, {"pull", pull},         {"up", up}};
  world_case c;
  world_open(&c, PLATE, s, 6, 1);
  while (c.info.time < 0.1 - 1e-9 && world_step(&c))
    continue;
  CHECK_OK(c.ctx, c.status);
  double v = c.info.body_momentum.y / 1.25;
  printf("%s cells and %s, %s, %s walls, %s, pulled by %s of its weight: %.6g m/s, imbalance %.2g "
         "N\n",
         n, up, coupling, walls, lcp, pull, v, c.imbalance);
  CHECK_LE(c.imbalance, 0.03); /* of 110 N */
  world_close(&c);
  return v;
}

static void test_plate(void **state)
{
  (void)state;
  static const char *const couplings[] = {"xpm", "monolithic", "simultaneous"};
  double exact = 9 * 9.81 * 0.1;
  for (int k = 0; k < 3; k++)
    for (int n = 0; n < 2; n++)
      CHECK_NEAR(plate(n ? "32" : "16", couplings[k], "separating", "fast", "10", "0"), exact,
                 0.01 * exact);
  CHECK_NEAR(plate("48", "monolithic", "separating", "fast", "10", "0"), exact, 0.01 * exact);
  CHECK_NEAR(plate("16", "monolithic", "separating", "fast", "0.5", "0"), 0, 0.1); /* it floats */
  CHECK_NEAR(plate("16", "monolithic", "sticking", "fast", "10", "0"), 0,
             0.1); /* nothing lets go */
  CHECK_DONE();
  CHECK_NEAR(plate("16", "xpm", "sticking", "fast", "10", "0"), exact, 0.01 * exact);
  CHECK_MUST_HAVE_FAILED();
}

/* Wherever the wall stands in its cell. */
static void test_places(void **state)
{
  (void)state;
  static const char *const up[] = {"0.1", "0.2", "0.35", "0.5", "0.65", "0.8", "0.95"};
  double exact = 9 * 9.81 * 0.1;
  for (int k = 0; k < 7; k++) {
    CHECK_NEAR(plate("16", "monolithic", "separating", "fast", "10", up[k]), exact, 0.01 * exact);
    CHECK_NEAR(plate("32", "xpm", "separating", "fast", "10", up[k]), exact, 0.01 * exact);
  }
  CHECK_DONE();
}

/* v after one substep of a plate that is thrown up, and after 0.05 s. */
static void thrown(const char *coupling, const char *dt, const char *walls, double *first,
                   double *last)
{
  const mn_setting s[] = {
      {"coupling", coupling}, {"dt", dt}, {"v", "4"}, {"pull", "0"}, {"walls", walls}};
  world_case c;
  world_open(&c, PLATE, s, 5, 1);
  for (*first = NAN; c.info.time < 0.05 - 1e-9 && world_step(&c);)
    if (isnan(*first))
      *first = c.info.body_momentum.y / 1.25 + 9.81 * c.info.time;
  CHECK_OK(c.ctx, c.status);
  *last = c.info.body_momentum.y / 1.25 + 9.81 * c.info.time;
  printf("thrown up at 4 m/s, %s, dt %s, %s walls: %.9g, %.9g m/s + g t\n", coupling, dt, walls,
         *first, *last);
  world_close(&c);
}

static void test_thrown(void **state)
{
  (void)state;
  static const char *const dt[] = {"0.01", "0.0025", "0.001"};
  double first, last;
  for (int k = 0; k < 6; k++) {
    thrown(k % 2 ? "xpm" : "monolithic", dt[k / 2], "separating", &first, &last);
    CHECK_NEAR(first, 4, 1e-6);
    CHECK_NEAR(last, 4, 1e-4);
  }
  CHECK_DONE();
  thrown("monolithic", "0.001", "sticking", &first, &last);
  CHECK_NEAR(last, 4, 1e-4);
  CHECK_MUST_HAVE_FAILED();
}

/* Every solver of the LCP knows the links of loose cells. */
static void test_solvers(void **state)
{
  (void)state;
  static const char *const solvers[] = {"fas", "pi-pcg", "pi-mg", "pe-pcg", "pe-mg",
                                        "fmg", "newton", "pgs",   "mprgp"};
  double v = plate("16", "xpm", "separating", "fast", "10", "0");
  for (int k = 0; k < 9; k++)
    CHECK_NEAR(plate("16", "xpm", "separating", solvers[k], "10", "0"), v, 1e-3 * v);
  CHECK_DONE();
}

static const char PISTON[] =
    "return scene {\n"
    "  domain = box { size = {1, 2}, cells = {16, 32}, top = 'open' },\n"
    "  fluid = water { max_dt = 0.01, walls = param('walls', 'separating', ''),\n"
    "                  initial_water = box { lo = {-1, -1}, hi = {2, param('fill', 1, '')} } },\n"
    "  solids = { rigid { name = 'piston', joint = 'slider', joint_axis = {0, 1}, density = 1,\n"
    "                     force = {0, 24}, shape = box { lo = {0, 1}, hi = {1, 1.25} } } },\n"
    "  dynamics = dynamics { dt = 0.01, contact = false },\n"
    "  coupling = couple { method = param('coupling', 'monolithic', ''), tolerance = 1e-6 },\n"
    "  output = { frames = 2, every = 0.05 },\n"
    "}\n";

static double piston(const char *coupling, const char *walls, const char *fill)
{
  const mn_setting s[] = {{"coupling", coupling}, {"walls", walls}, {"fill", fill}};
  world_case c;
  world_open(&c, PISTON, s, 3, 1);
  while (c.info.time < 0.1 - 1e-9 && world_step(&c))
    continue;
  CHECK_OK(c.ctx, c.status);
  double v = c.info.body_momentum.y / 0.25;
  printf("piston, %s, %s walls, water up to %s m: %.8g m/s\n", coupling, walls, fill, v);
  world_close(&c);
  return v;
}

/* On sealed water; on air that cannot leave it stays. */
static void test_sealed(void **state)
{
  (void)state;
  double exact = (24 / 0.25 - 9.81) * 0.1;
  CHECK_NEAR(piston("monolithic", "separating", "1"), exact, 1e-6 * exact);
  CHECK_NEAR(piston("simultaneous", "separating", "1"), exact, 1e-6 * exact);
  CHECK_NEAR(piston("monolithic", "separating", "0.5"), 0, 1e-6);
  CHECK_DONE();
  CHECK_NEAR(piston("monolithic", "sticking", "1"), exact, 1e-6 * exact);
  CHECK_MUST_HAVE_FAILED();
}

/* ---- water that comes back ------------------------------------------------------------------- */

/* Water rises under a plate that is held, and past it. */
static const char RISING[] =
    "local n = 16\n"
    "local y = 0.5 + param('up', 0.2, '') / n\n"
    "return scene {\n"
    "  domain = box { size = {1, 1}, cells = {n, n}, top = 'open' },\n"
    "  fluid = water { initial_water = box { lo = {-1, -1}, hi = {2, 0.45} } },\n"
    "  sources = { inflow { shape = box { lo = {-1, 0.0625}, hi = {0.0625, 0.125} },\n"
    "                       velocity = {0.8, 0} } },\n"
    "  solids = { rigid { shape = box { lo = {0.25, y}, hi = {0.75, y + 0.15} }, density = 2000,\n"
    "                     joint = 'fixed' } },\n"
    "  coupling = couple { method = param('coupling', 'xpm', '') },\n"
    "  output = { frames = 1, every = 4 },\n"
    "}\n";

/* A jet of 2 m/s, without weight, meets a plate that is held. */
static const char JET[] =
    "return scene {\n"
    "  domain = box { size = {1, 1}, cells = {64, 64}, left = 'open', right = 'open', top = "
    "'open',\n"
    "                 bottom = 'open' },\n"
    "  fluid = water { gravity = {0, 0}, initial_velocity = {2, 0},\n"
    "                  initial_water = box { lo = {0.05, 0.4375}, hi = {0.15, 0.5625} } },\n"
    "  sources = { inflow { shape = box { lo = {-1, 0.4375}, hi = {0.0625, 0.5625} },\n"
    "                       velocity = {2, 0} } },\n"
    "  solids = { rigid { shape = box { lo = {0.6, 0.1}, hi = {0.7, 0.9} }, density = 2000,\n"
    "                     joint = 'fixed' } },\n"
    "  output = { frames = 1, every = 4 },\n"
    "}\n";

/* Water under its surface over that of its particles, less 1, at t = until. */
static double lost(const char *scene, const mn_setting *s, int count, double until)
{
  world_case c;
  world_open(&c, scene, s, count, 1);
  while (c.info.time < until - 1e-9 && world_step(&c))
    continue;
  CHECK_OK(c.ctx, c.status);
  double part = c.info.fluid_volume / c.info.particle_volume - 1;
  printf("%s %s: %.4f m^2 under the surface, %.4f of particles, %.3g J\n",
         count ? "rising," : "jet", count ? s[0].value : "", c.info.fluid_volume,
         c.info.particle_volume, c.info.kinetic_energy);
  CHECK_LE(c.info.kinetic_energy, 250);
  world_close(&c);
  return part;
}

/* A wall on the near side of its cell's centre that water has once let go of holds it again. */
static void test_comes_back(void **state)
{
  (void)state;
  static const char *const up[] = {"0.1", "0.2", "0.4", "0.7"};
  for (int k = 0; k < 4; k++) {
    const mn_setting s[] = {{"up", up[k]}, {"coupling", k == 2 ? "monolithic" : "xpm"}};
    CHECK_NEAR(lost(RISING, s, 2, 4), 0, 0.005);
  }
  CHECK_NEAR(lost(JET, NULL, 0, 1), 0, 0.005);
  CHECK_DONE();
}

/* A light box in the middle, thrown under water. */
static const char UNDER[] =
    "local n = param('n', 32, '')\n"
    "return scene {\n"
    "  domain = box { size = {1, 1.5}, cells = {n, 3 * n / 2}, top = 'open' },\n"
    "  fluid = water { max_dt = param('dt', 0.002, ''),\n"
    "                  initial_water = box { lo = {-1, -1}, hi = {2, 0.5} } },\n"
    "  solids = { rigid { shape = box { lo = {0.41, 0.3}, hi = {0.59, 0.42} }, density = 200,\n"
    "                     velocity = {param('vx', 0, ''), param('vy', 0, '')} } },\n"
    "  coupling = couple { method = param('coupling', 'xpm', ''), tolerance = 1e-8 },\n"
    "  output = { frames = 1, every = 0.01 },\n"
    "}\n";

/* Its velocity after 0.01 s. */
static mn_vec3 thrown_under(const char *coupling, const char *vx, const char *vy, const char *n,
                            const char *dt)
{
  const mn_setting s[] = {{"coupling", coupling}, {"vx", vx}, {"vy", vy}, {"n", n}, {"dt", dt}};
  world_case c;
  world_open(&c, UNDER, s, 5, 1);
  while (c.info.time < 0.01 - 1e-9 && world_step(&c))
    continue;
  CHECK_OK(c.ctx, c.status);
  mn_vec3 v = mn_scale(1 / (200 * 0.18 * 0.12), c.info.body_momentum);
  printf("thrown under water at (%s, %s), %s, %s cells, dt %s: %.9g %.9g m/s\n", vx, vy, coupling,
         n, dt, v.x, v.y);
  world_close(&c);
  return v;
}

static void test_mirrored(void **state)
{
  (void)state;
  static const char *const couplings[] = {"xpm", "monolithic"}, n[] = "32", dt[] = "0.002";
  for (int k = 0; k < 2; k++) {
    CHECK_NEAR(thrown_under(couplings[k], "0", "3", n, dt).x, 0, 1e-5);
    mn_vec3 right = thrown_under(couplings[k], "2", "0", n, dt);
    mn_vec3 left = thrown_under(couplings[k], "-2", "0", n, dt);
    CHECK_NEAR(right.x + left.x, 0, 1e-3);
    CHECK_NEAR(right.y, left.y, 1e-3);
  }
  CHECK_DONE();
}

/* Water that lets go of its lower side does not hold it back, in no substep however short. */
static void test_substeps(void **state)
{
  (void)state;
  static const char *const dt[] = {"0.002", "0.001", "0.0005"};
  double coarse = thrown_under("monolithic", "0", "3", "32", "0.005").y;
  double fine = thrown_under("monolithic", "0", "3", "64", "0.0025").y;
  for (int k = 0; k < 3; k++) {
    CHECK_NEAR(thrown_under("monolithic", "0", "3", "32", dt[k]).y, coarse, 0.15 * coarse);
    CHECK_NEAR(thrown_under("monolithic", "0", "3", "64", dt[k]).y, fine, 0.07 * fine);
  }
  CHECK_NEAR(thrown_under("xpm", "0", "3", "64", "0.001").y, fine, 0.07 * fine);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plate),    cmocka_unit_test(test_places),
      cmocka_unit_test(test_thrown),   cmocka_unit_test(test_solvers),
      cmocka_unit_test(test_sealed),   cmocka_unit_test(test_comes_back),
      cmocka_unit_test(test_mirrored), cmocka_unit_test(test_substeps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
