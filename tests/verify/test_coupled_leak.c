/* Dye below a flexible cloth that a stream moves stays below it. The cloth hangs across a duct, its
   ends beyond the walls; the stream that comes from below swells it. With the
   default coupling: its place on the grid is frozen where it was predicted, and where it ends the
   solid says, within the tolerance; cells between these places change sides with it. */
#include <math.h>
#include <stdio.h>

#include "fluid/mac/internal.h"
#include "world_case.h"

static const char DUCT[] =
    "return scene {\n"
    "  domain   = box { size = {1, 1.5}, cells = {20, 30}, bottom = 'through', top = 'through' },\n"
    "  fluid    = smoke { density = 1, gravity = {0, 0}, dt = 0.02, initial_velocity = {0, 0.5},\n"
    "                     initial_smoke = box { lo = {-1, -1}, hi = {2, 0.6} } },\n"
    "  solids   = { rod { name = 'cloth', from = {-0.06, 0.6}, to = {1.06, 0.6}, spacing = 0.03,\n"
    "                     density = 0.05, stretch = 2, bend = 1e-5, velocity = {0, 0.5},\n"
    "                     fixed = union { box { lo = {-1, 0}, hi = {-0.02, 1} },\n"
    "                                     box { lo = {1.02, 0}, hi = {2, 1} } } } },\n"
    "  dynamics = dynamics { gravity = {0, 0}, dt = 0.02, contact = false, check_start = false },\n"
    "  coupling = couple {},\n"
    "  probes   = { position { of = 'cloth', axis = 'y' } },\n"
    "  output   = { frames = 2000, every = 0.02 },\n"
    "}\n";

/* 1: x is below the cloth, which no vertical line meets twice. */
static int below(const mn_interface *f, mn_vec3 x)
{
  int crossings = 0;
  for (size_t e = 0; e < f->elements; e++) {
    mn_vec3 a = f->X[f->element[2 * e]], b = f->X[f->element[2 * e + 1]];
    if ((a.x <= x.x) == (b.x <= x.x))
      continue;
    crossings += a.y + (b.y - a.y) * (x.x - a.x) / (b.x - a.x) > x.y;
  }
  return crossings % 2;
}

typedef struct leak {
  double above, below; /* m^2 of dye */
  double swell;        /* m, by which the middle of the cloth moved at most */
} leak;

static leak run(int see_through, int steps)
{
  world_case c;
  leak result = {0};
  world_open(&c, DUCT, NULL, 0, 1);
  mn_mac *mac = c.world->fluid.self;
  mac->shell.see_through = see_through;
  double start = mn_world_probe(c.world, 0);
  while (c.steps < steps && world_step(&c)) {
    mn_mac_view view = mn_mac_look(&c.world->fluid);
    CHECK_OK(c.ctx, mn_coupling_look(c.world->coupling));
    const mn_interface *f = mn_coupling_interface(c.world->coupling);
    double sum[2] = {0}, cell = view.grid->dx * view.grid->dx;
    for (int j = 0; j < view.smoke->n[1]; j++)
      for (int i = 0; i < view.smoke->n[0]; i++)
        sum[below(f, mn_position(view.smoke, i, j, 0))] += mn_get(view.smoke, i, j, 0) * cell;
    result.above = check_worst(result.above, sum[0]);
    result.below = sum[1];
    result.swell = fmax(result.swell, fabs(mn_world_probe(c.world, 0) - start));
  }
  CHECK_OK(c.ctx, c.status);
  printf("%s: %.1e m^2 above, %.3f below, cloth moved by %.3f m, iterations %.2f\n",
         see_through ? "seen through" : "one-sided", result.above, result.below, result.swell,
         (double)c.solves / c.steps);
  world_close(&c);
  return result;
}

static void test_no_leak(void **state)
{
  (void)state;
  leak tight = run(0, 150);
  CHECK_LE(tight.above, 1e-12);
  CHECK_GE(tight.below, 0.1);
  CHECK_GE(tight.swell, 0.03); /* half a cell and more: centres of cells change sides */
  CHECK_DONE();
  CHECK_LE(run(1, 20).above, 1e-12);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_leak)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
