/* Closed regions to the times of [Akbay thesis, chapter 4]: volumes follow the inflow, p0 of nested
   balloons the exact answer, pistons stay and swing. Not at its resolution. */
#include "nested_exact.h"

static void grow(const char *scene, const char *const *settings, double inflow, double until,
                 int regions)
{
  closed_run r;
  closed_open(&r, scene, settings);
  CHECK(closed_until(&r, until));
  CHECK_NEAR(r.info.closed_regions, regions, 0);
  CHECK_NEAR(r.area[0] / (inflow * closed_ramped(until)), 1, 1e-6);
  CHECK_LE(r.outflow / inflow, 1e-8);
  CHECK_LE(closed_mean(&r), 3);
  closed_close(&r);
}

static void test_balloons(void **state)
{
  (void)state;
  grow("balloon-shell", NULL, closed_parabola(0.1), 15, 1);
  grow("balloon-solid", NULL, closed_parabola(0.05), 15, 1);
  grow("two-balloons", NULL, closed_parabola(0.1), 15, 2);
  CHECK_DONE();
}

static void test_nested(void **state)
{
  (void)state;
  static const double at[3] = {2, 5, 10};
  closed_run c;
  closed_open(&c, "nested-balloons", NULL);
  double start[3];
  for (int i = 0; i < 3; i++)
    start[i] = mn_world_probe(c.world, i);
  for (int k = 0; k < 3; k++) {
    double r[3], p0[3];
    CHECK(closed_until(&c, at[k]));
    CHECK_NEAR(c.info.closed_regions, 3, 0);
    nested_exact(at[k], 5e4, 1500, r, p0);
    for (int i = 0; i < 3; i++) {
      double factor = start[i] / ((1.5 + i) * (1.5 + i)), least = 1e9;
      CHECK_NEAR(sqrt(mn_world_probe(c.world, i) / factor) / r[i], 1, 2e-3);
      for (int n = 0; n < c.info.closed_regions; n++)
        if (fabs(c.info.region[n].p0 - p0[i]) < fabs(least - p0[i]))
          least = c.info.region[n].p0;
      CHECK_NEAR(least / p0[i], 1, 0.03);
    }
  }
  closed_close(&c);
  CHECK_DONE();
}

static void test_pistons(void **state)
{
  (void)state;
  static const double at[4] = {9.5, 6.5, 9.25, 5};
  closed_run r;
  closed_open(&r, "supported-body", NULL);
  CHECK(closed_until(&r, 5));
  CHECK_NEAR(mn_world_probe(r.world, 0), 0.875, 1e-3 * 0.025);
  CHECK_LE(fabs(r.info.region[0].net_outflow), 1e-10);
  closed_close(&r);
  closed_open(&r, "hydraulic-piston", NULL);
  CHECK(closed_until(&r, 10));
  CHECK_NEAR(mn_world_probe(r.world, 0), 5.5, 1e-3 * 0.2);
  closed_close(&r);
  closed_open(&r, "multi-piston", NULL);
  CHECK(closed_until(&r, 16));
  for (int i = 0; i < 4; i++)
    CHECK_NEAR(mn_world_probe(r.world, i), at[i], 1e-3 * 0.1);
  CHECK_LE(fabs(r.info.region[0].net_outflow), 1e-10);
  closed_close(&r);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_balloons),
      cmocka_unit_test(test_nested),
      cmocka_unit_test(test_pistons),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
