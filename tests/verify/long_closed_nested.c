/* Nested balloons at the resolution of [Akbay thesis, 4.3.7], to 10 s, against the exact answer. */
#include "nested_exact.h"

static void test_nested(void **state)
{
  (void)state;
  static const double at[3] = {2, 5, 10};
  closed_run c;
  closed_open(&c, "nested-balloons", (const char *const[]){"n=480", NULL});
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
      double gain = mn_world_probe(c.world, i) - start[i];
      CHECK_NEAR(gain / (0.9 * 3.14159265358979 * closed_ramped(at[k])), 1, 1e-7);
      CHECK_NEAR(sqrt(mn_world_probe(c.world, i) / factor) / r[i], 1, 2e-3);
      for (int n = 0; n < c.info.closed_regions; n++)
        if (fabs(c.info.region[n].p0 - p0[i]) < fabs(least - p0[i]))
          least = c.info.region[n].p0;
      CHECK_NEAR(least / p0[i], 1, 0.03);
    }
  }
  CHECK_LE(c.outflow / (0.9 * 3.14159265358979), 1e-8);
  printf("nested: net outflow %.2g of the inflow, %.3f iterations\n",
         c.outflow / (0.9 * 3.14159265358979), closed_mean(&c));
  closed_close(&c);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nested),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
