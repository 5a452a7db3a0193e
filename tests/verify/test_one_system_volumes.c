/* Enclosed volumes and pressures under the couplings by one system, in the scenes of closed regions
   that are cheap enough; the others in long_one_system_volumes.c.

   The volume that the surfaces of a region enclose follows what flows in; p0 is that of xpm, and as
   smooth: the sum of its second differences over that of its values. Controls: with the faces
   alone (closed = "none") volumes drift and p0 swings. */
#include <math.h>
#include <stdio.h>

#include "one_system_volumes.h"

static void test_volumes(void **state)
{
  (void)state;
  static const volume_case CASES[] = {
      {"balloon-shell", 0.6, 1e-5, 0, {"n=56", NULL}},
      {"two-balloons", 0.3, 1e-5, 0, {"n=80", "right=0.5", NULL}},
      {"nested-balloons", 1, 1e-5, 0, {"n=48", "dt=0.05", NULL}},
      {"closed-balloon", 0.3, 1e-4, 0, {"n=32", NULL}},
      {"smoke-balloon", 0.1, 1e-4, 0, {"n=16", NULL}},
      /* at its default tolerance the p0 of xpm itself is 3 % off */
      {"water-balloon", 0.1, 1e-4, 0.005, {"n=16", "tolerance=0.001", NULL}},
  };
  for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++)
    volume_compare(&CASES[k]);
  CHECK_DONE();
}

static void test_faces_alone(void **state)
{
  (void)state;
  static const char *const settings[] = {"n=48", "dt=0.05", "coupling=monolithic", "closed=none",
                                         NULL};
  volume_result grid, surfaces;
  volume_run("nested-balloons", 1, 0, settings, &grid);
  static const char *const kept[] = {"n=48", "dt=0.05", "coupling=monolithic", NULL};
  volume_run("nested-balloons", 1, 0, kept, &surfaces);
  CHECK_GE(grid.off, 1e4 * surfaces.off); /* of volumes */
  CHECK_GE(grid.rough, 2 * surfaces.rough);
  CHECK_LE(grid.off, 1e-2);
  CHECK_DONE();
  CHECK_LE(grid.off, 1e-6);
  CHECK_MUST_HAVE_FAILED();
}

/* Bodies with velocities of their own at the end: what a ramp leaves dies out. */
static const char PUMP[] =
    "local coupling = param('coupling', 'monolithic', '')\n"
    "return scene {\n"
    "  domain   = box { size = {1, 3}, cells = {8, 24}, top = 'open' },\n"
    "  fluid    = smoke { density = 1, gravity = {0, 0}, outside = 'empty', max_dt = 0.02 },\n"
    "  sources  = { inflow { shape = box { lo = {-1, -1}, hi = {2, 0.25} }, velocity = {0, 0.5},\n"
    "                        ramp = cosine(0.6) } },\n"
    "  solids   = { rigid { name = 'piston', joint = 'slider', joint_axis = {0, 1}, density = 10,\n"
    "                       shape = box { lo = {0, 1.03}, hi = {1, 1.4} } } },\n"
    "  dynamics = dynamics { gravity = {0, -9.8}, dt = 0.02, contact = false },\n"
    "  coupling = couple { method = coupling, tolerance = 1e-6 },\n"
    "  probes   = { position { of = 'piston', axis = 'y' } },\n"
    "  output   = { frames = 10, every = 0.2 },\n"
    "}\n";

static void test_pump(void **state)
{
  (void)state;
  static const char *const METHOD[] = {"monolithic", "simultaneous"};
  for (int k = 0; k < 2; k++) {
    const mn_setting s[] = {{"coupling", METHOD[k]}};
    world_case c;
    double error = 0, swing = 0, before = 0;
    world_open(&c, PUMP, s, 1, 1);
    double start = mn_world_probe(c.world, 0), weight = 9.8 * 10 * 0.37;
    while (mn_world_time(c.world) < 1.6 - 1e-9 && world_step(&c)) {
      double t = mn_world_time(c.world), p0 = c.info.region[0].p0;
      error = fmax(error, fabs(c.info.region[0].error));
      if (t > 0.9) /* the ramp has ended */
        swing = check_worst(swing, fabs(p0 - before));
      before = p0;
    }
    CHECK_OK(c.ctx, c.status);
    double went = mn_world_probe(c.world, 0) - start;
    printf("%s: pumped %.9f m (exact 0.65), volume off by %.1e at most, %.1e at last, p0 %.9g\n",
           METHOD[k], went, error, fabs(c.info.region[0].error), before);
    CHECK_NEAR(went / (0.5 * (1.6 - 0.3)), 1, 1e-6);
    CHECK_LE(error / 0.65, 5e-3);
    CHECK_LE(fabs(c.info.region[0].error) / 0.65, 1e-7);
    CHECK_NEAR(before / weight, 1, 1e-6);
    CHECK_LE(swing / weight, 1e-5);
    world_close(&c);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_volumes),
                                     cmocka_unit_test(test_faces_alone),
                                     cmocka_unit_test(test_pump)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
