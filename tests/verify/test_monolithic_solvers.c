/* Krylov solvers of the one system: iterations per linear system that depend neither on the grid
   nor on what bodies weigh. A disk (minres), a cloth and an elastic disk (cg) in smoke, on grids of
   32 to 128 cells a side; a ball in 3D, 16 and 32. Control: cg for a disk that is lighter than the
   fluid it moves, which the theory says grows with the added mass. */
#include <math.h>
#include <stdio.h>

#include "world_case.h"

static const char SCENE[] =
    "local n      = param('n', 32, '')\n"
    "local ratio  = param('ratio', 1, '')\n"
    "local solver = param('solver', 'cg', '')\n"
    "local kind   = param('kind', 'rigid', '')\n"
    "local disk_  = disk { center = {0.45, 0.4}, radius = 0.15 }\n"
    "local body = kind == 'rigid' and rigid { density = ratio, shape = disk_ }\n"
    "  or kind == 'elastic' and elastic { density = ratio, young = 1e3, poisson = 0.3,\n"
    "                                     shape = disk_, spacing = 1 / 32 }\n"
    "  or rod { from = {0.2, 0.4}, to = {0.8, 0.45}, spacing = 1 / (2 * n),\n"
    "           density = 0.1 * ratio, stretch = 20, bend = 1e-5 }\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {n, n}, top = 'open' },\n"
    "  fluid    = smoke { density = 1, gravity = {0, -1}, dt = 1 / 64 },\n"
    "  sources  = { inflow { shape = box { lo = {0.35, -1}, hi = {0.65, 0.0625} },\n"
    "                        velocity = {0, 1} } },\n"
    "  solids   = { body },\n"
    "  dynamics = dynamics { gravity = {0, -1}, dt = 1 / 64, contact = false },\n"
    "  coupling = couple { method = 'monolithic', solver = solver, adapt = false },\n"
    "  output   = { frames = 4, every = 1 / 64 },\n"
    "}\n";

static const char BALL[] =
    "local n      = param('n', 16, '')\n"
    "local ratio  = param('ratio', 1, '')\n"
    "local solver = param('solver', 'minres', '')\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1, 1}, cells = {n, n, n}, top = 'open' },\n"
    "  fluid    = smoke { density = 1, gravity = {0, -1, 0}, dt = 1 / 64 },\n"
    "  solids   = { rigid { density = ratio, shape = sphere { center = {0.45, 0.4, 0.5},\n"
    "                       radius = 0.2 } } },\n"
    "  dynamics = dynamics { gravity = {0, -1, 0}, dt = 1 / 64, contact = false },\n"
    "  coupling = couple { method = 'monolithic', solver = solver, adapt = false },\n"
    "  output   = { frames = 3, every = 1 / 64 },\n"
    "}\n";

/* Iterations per linear system. */
static double count(const char *scene, const char *kind, const char *solver, const char *ratio,
                    const char *n, int steps)
{
  mn_setting s[] = {{"n", n}, {"ratio", ratio}, {"solver", solver}, {"kind", kind}};
  world_case c;
  int iterations = 0;
  world_open(&c, scene, s, scene == BALL ? 3 : 4, 1);
  while (c.steps < steps && world_step(&c))
    iterations += c.info.pressure.iterations;
  CHECK_OK(c.ctx, c.status);
  CHECK(c.retries == 0);
  double per = (double)iterations / c.solves;
  printf("%s, %s, ratio %s, %s cells: %.1f iterations per system\n", kind, solver, ratio, n, per);
  world_close(&c);
  return per;
}

static void flat(const char *kind, const char *solver, const char *ratio, double most)
{
  double coarse = count(SCENE, kind, solver, ratio, "32", 4),
         middle = count(SCENE, kind, solver, ratio, "64", 3),
         fine = count(SCENE, kind, solver, ratio, "128", 2);
  CHECK_LE(coarse, most);
  CHECK_LE(middle, most);
  CHECK_LE(fine, most);
  CHECK_LE(fine, 1.3 * fmax(coarse, 8));
}

static void test_rigid(void **state)
{
  (void)state;
  flat("rigid", "minres", "10", 22);
  flat("rigid", "minres", "0.1", 22);
  flat("rigid", "minres", "0.001", 22);
  flat("rigid", "cg", "10", 12);
  CHECK_DONE();
  CHECK_LE(count(SCENE, "rigid", "cg", "0.01", "64", 2), 22);
  CHECK_MUST_HAVE_FAILED();
}

static void test_deformable(void **state)
{
  (void)state;
  flat("cloth", "cg", "10", 12);
  flat("cloth", "cg", "1", 12);
  flat("cloth", "cg", "0.01", 12);
  flat("elastic", "cg", "1", 12);
  CHECK_DONE();
}

static void test_space(void **state)
{
  (void)state;
  static const char *const ratios[] = {"10", "0.01"};
  for (int k = 0; k < 2; k++) {
    double coarse = count(BALL, "ball", "minres", ratios[k], "16", 2),
           fine = count(BALL, "ball", "minres", ratios[k], "32", 2);
    CHECK_LE(coarse, 24);
    CHECK_LE(fine, 1.2 * coarse);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rigid),
                                     cmocka_unit_test(test_deformable),
                                     cmocka_unit_test(test_space)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
