/* Closed regions in space: the smoke balloon takes up what the jet blows in, and the hydraulic
   press lifts its large piston by a fourth of what the small one sinks, at first with the
   acceleration of both masses and the fluid between; without p0 both fall. The water balloon:
   test_closed_water.c; the release of the smoke balloon: long_closed_3d.c. */
#include "closed_run.h"

static void test_smoke_balloon(void **state)
{
  (void)state;
  closed_run r;
  closed_open(&r, "smoke-balloon", (const char *const[]){"n=16", NULL});
  double before = mn_world_probe(r.world, 0);
  CHECK(closed_until(&r, 0.25));
  CHECK_NEAR(r.info.closed_regions, 1, 0);
  double grown = mn_world_probe(r.world, 0) - before, inflow = r.info.region[0].inflow;
  printf("smoke balloon: grew by %g m^3, off by %.1e of it, net outflow %.1e of the inflow, %.1f "
         "iterations\n",
         grown, grown / r.area[0] - 1, r.outflow / inflow, closed_mean(&r));
  CHECK_NEAR(grown / r.area[0], 1, 1e-6);
  CHECK_GE(r.area[0], 1.5e-3);
  CHECK_LE(r.outflow / inflow, 1e-8);
  closed_close(&r);
  CHECK_DONE();
}

static void press(const char *closed)
{
  closed_run r;
  char setting[32];
  snprintf(setting, sizeof setting, "closed=%s", closed);
  closed_open(&r, "hydraulic-press", (const char *const[]){"n=16", setting, NULL});
  double large = mn_world_probe(r.world, 0), small = mn_world_probe(r.world, 1);
  CHECK(closed_until(&r, 2));
  large = mn_world_probe(r.world, 0) - large;
  small = mn_world_probe(r.world, 1) - small;
  printf("%s: large %+g m, small %+g m, net outflow %.1e\n", closed, large, small, r.outflow);
  CHECK_GE(large, 0.05);
  CHECK_NEAR(small / large, -4, 1e-9);
  CHECK_LE(r.outflow, 1e-9);
  closed_close(&r);
}

static void test_press(void **state)
{
  (void)state;
  press("eliminated");
  CHECK_DONE();
}

static void test_press_without(void **state)
{
  (void)state;
  press("none");
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_smoke_balloon),
      cmocka_unit_test(test_press),
      cmocka_unit_test(test_press_without),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
