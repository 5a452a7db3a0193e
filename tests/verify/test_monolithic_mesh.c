/* Large deformable bodies in the one system, whose matrix is not factorised
   (src/couple/monolithic_mesh.c): the same motion as by sparse LU of the whole, iterations that do
   not grow with the grid, momentum that is kept. A sheet and a cube across a jet in 3D. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "couple/couple.h"
#include "world_case.h"

static const char SCENE[] =
    "local n      = param('n', 8, '')\n"
    "local solver = param('solver', 'cg', '')\n"
    "local kind   = param('kind', 'sheet', '')\n"
    "local weight = param('weight', 1, '')\n"
    "local body = kind == 'sheet' and springs { corner = {0.2, 0.5, 0.2}, along = {0.6, 0, 0},\n"
    "    across = {0, 0, 0.6}, spacing = 0.6 / 32, density = 0.1 * weight, stretch = 20,\n"
    "    bend = 0.01 }\n"
    "  or elastic { shape = box { center = {0.5, 0.5, 0.5}, size = {0.4, 0.4, 0.4} },\n"
    "    spacing = 0.4 / 9, density = 1.5 * weight, young = 40, poisson = 0.2 }\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1, 1}, cells = {n, n, n}, top = 'open' },\n"
    "  fluid    = smoke { density = 1, gravity = {0, 0, 0}, dt = 1 / 64, cfl = 20 },\n"
    "  sources  = { inflow { shape = box { lo = {0.25, -1, 0.25}, hi = {0.75, 0.125, 0.75} },\n"
    "                        velocity = {0, 1, 0} } },\n"
    "  solids   = { body },\n"
    "  dynamics = dynamics { gravity = {0, 0, 0}, dt = 1 / 64, contact = false },\n"
    "  coupling = couple { method = 'monolithic', solver = solver, adapt = false,\n"
    "                      tolerance = 1e-8, max_iterations = 40 },\n"
    "  output   = { frames = 3, every = 1 / 64 },\n"
    "}\n";

/* Runs some substeps; iterations per system. X: places of the points at the end, to be freed. */
static double run(const char *kind, const char *solver, const char *weight, const char *n,
                  int steps, mn_vec3 **X, size_t *count)
{
  mn_setting s[] = {{"n", n}, {"solver", solver}, {"kind", kind}, {"weight", weight}};
  world_case c;
  int iterations = 0;
  double imbalance = 0;
  world_open(&c, SCENE, s, 4, 1);
  while (c.steps < steps && world_step(&c)) {
    iterations += c.info.pressure.iterations;
    imbalance = fmax(imbalance, c.info.imbalance);
  }
  CHECK_OK(c.ctx, c.status);
  CHECK(c.retries == 0);
  const mn_interface *f = mn_coupling_interface(c.world->coupling);
  *count = f->count;
  *X = malloc(f->count * sizeof **X);
  memcpy(*X, f->X, f->count * sizeof **X);
  double per = (double)iterations / (c.solves ? c.solves : 1);
  printf("%s, %s, weight %s, %s cells: %zu points, %.1f iterations, imbalance %.1e\n", kind, solver,
         weight, n, *count, per, imbalance);
  CHECK_LE(imbalance, 1e-12);
  world_close(&c);
  return per;
}

static double farthest(const mn_vec3 *a, const mn_vec3 *b, size_t count)
{
  double most = 0;
  for (size_t i = 0; i < count; i++)
    most = fmax(most, mn_length(mn_sub(a[i], b[i])));
  return most;
}

/* Tolerances of the coupling are 1e-8 cells, of the pressure 1e-6 of its right-hand side. */
static void same_as_direct(const char *kind, const char *weight)
{
  mn_vec3 *X, *Y, *start;
  size_t n, m;
  run(kind, "cg", weight, "8", 0, &start, &n);
  run(kind, "cg", weight, "8", 2, &X, &n);
  run(kind, "direct", weight, "8", 2, &Y, &m);
  CHECK(n == m);
  double way = farthest(Y, start, n), off = farthest(X, Y, n);
  printf("      moved by %.2e m, apart by %.1e of that\n", way, off / way);
  CHECK_GE(way, 1e-4);
  CHECK_LE(off, 1e-7 * way);
  free(X);
  free(Y);
  free(start);
}

static void test_same_motion(void **state)
{
  (void)state;
  same_as_direct("sheet", "1");
  same_as_direct("sheet", "0.001");
  same_as_direct("foam", "1");
  CHECK_DONE();
}

static const char FLOAT[] =
    "return scene {\n"
    "  domain   = box { size = {1, 1, 1}, cells = {8, 8, 8}, top = 'open' },\n"
    "  fluid    = water { initial_water = box { lo = {-1, -1, -1}, hi = {2, 0.6, 2} },\n"
    "                     max_dt = 0.01, pressure_tolerance = 1e-9 },\n"
    "  solids   = { elastic { name = 'b', density = 300, young = 1e4, spacing = 0.045,\n"
    "                         shape = box { center = {0.51, 0.5, 0.49}, size = {0.41, 0.4, 0.4} } "
    "} "
    "},\n"
    "  coupling = couple { method = 'monolithic', solver = param('solver', 'cg', ''),\n"
    "                      tolerance = 1e-8, max_iterations = 40 },\n"
    "  probes   = { position { of = 'b', axis = 'y' } },\n"
    "  output   = { frames = 3, every = 0.01 },\n"
    "}\n";

static double float_height(const char *solver, double *way)
{
  mn_setting s[] = {{"solver", solver}};
  world_case c;
  world_open(&c, FLOAT, s, 1, 1);
  double start = mn_world_probe(c.world, 0);
  while (c.steps < 3 && world_step(&c))
    continue;
  CHECK_OK(c.ctx, c.status);
  double y = mn_world_probe(c.world, 0);
  *way = fabs(y - start);
  printf("floating, %s: %.3e m\n", solver, y - start);
  world_close(&c);
  return y;
}

/* Water that can leave the body asks whether it is too light, in a matrix that large bodies do not
   have. */
static void test_water_that_lets_go(void **state)
{
  (void)state;
  double way, other, cg = float_height("cg", &way), direct = float_height("direct", &other);
  CHECK_GE(way, 1e-4);
  CHECK_NEAR(cg, direct, 1e-6 * way);
  CHECK_DONE();
}

static void test_iterations(void **state)
{
  (void)state;
  mn_vec3 *X;
  size_t n;
  double coarse = run("sheet", "cg", "1", "16", 2, &X, &n);
  free(X);
  double fine = run("sheet", "cg", "1", "32", 2, &X, &n);
  free(X);
  CHECK_LE(coarse, 14);
  CHECK_LE(fine, 1.3 * fmax(coarse, 8));
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_motion),
                                     cmocka_unit_test(test_water_that_lets_go),
                                     cmocka_unit_test(test_iterations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
