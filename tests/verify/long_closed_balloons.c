/* Balloons blown up, at the resolution of [Akbay thesis, 4.3.2 and 4.3.4] and for its 15 s: the
   area follows the inflow, and p0 rises. */
#include "closed_run.h"

/* A region's growth at 10 s and at the end, and p0 from second to second after the ramp. */
static void grow(const char *scene, const char *const *settings, double h, int probe)
{
  closed_run r;
  closed_open(&r, scene, settings);
  double inflow = closed_parabola(h), last = 0, start = probe < 0 ? 0 : mn_world_probe(r.world, 0);
  for (int t = 1; t <= 15 && closed_until(&r, t); t++) {
    double grown = inflow * closed_ramped(t);
    CHECK_NEAR(r.info.closed_regions, 1, 0);
    CHECK_NEAR(r.area[0] / grown, 1, 1e-8);
    if (probe >= 0)
      CHECK_NEAR((mn_world_probe(r.world, probe) - start) / grown, 1, 1e-8);
    if (t > 2)
      CHECK_GE(r.info.region[0].p0, last);
    last = r.info.region[0].p0;
  }
  CHECK_OK(r.ctx, r.status);
  CHECK_LE(r.outflow / inflow, 1e-8);
  CHECK_LE(closed_mean(&r), 3);
  printf("%s: p0 %g Pa at 15 s, net outflow %.2g of the inflow, %.3f iterations\n", scene, last,
         r.outflow / inflow, closed_mean(&r));
  closed_close(&r);
}

static void test_shell(void **state)
{
  (void)state;
  grow("balloon-shell", (const char *const[]){"n=280", NULL}, 0.02, 0);
  CHECK_DONE();
}

static void test_solid(void **state)
{
  (void)state;
  grow("balloon-solid", (const char *const[]){"n=300", NULL}, 0.02, -1);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shell),
      cmocka_unit_test(test_solid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
