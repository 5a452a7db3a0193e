/* Nested balloons [Akbay thesis, 4.3.7] against the exact answer in radial symmetry
   (nested_exact.h): radii, areas, and the three coupled p0. To 10 s: long_closed_*.c. */
#include "nested_exact.h"

/* The answer itself, against numbers that were computed apart. */
static void test_reference(void **state)
{
  (void)state;
  static const double t[3] = {1, 2, 10};
  static const double radius[3][3] = {
      {1.64317, 2.58844, 3.56371}, {1.89737, 2.75681, 3.68782}, {3.28634, 3.84708, 4.56070}};
  static const double soft[3][3] = {
      {65.36, 15.63, 4.23}, {184.20, 49.29, 13.79}, {567.57, 205.72, 66.12}};
  static const double stiff[3][3] = {
      {3831.5, 935.5, 254.5}, {9564.4, 2588.1, 726.8}, {28443.1, 10324.8, 3322.2}};
  for (int k = 0; k < 3; k++) {
    double r[3], p[3], q[3];
    nested_exact(t[k], 1000, 0, r, p);
    nested_exact(t[k], 5e4, 0, r, q);
    for (int i = 0; i < 3; i++) {
      CHECK_NEAR(r[i], radius[k][i], 1e-5);
      CHECK_NEAR(p[i], soft[k][i], 0.05);
      CHECK_NEAR(q[i], stiff[k][i], 0.1);
    }
  }
  CHECK_DONE();
}

static void test_nested(void **state)
{
  (void)state;
  closed_run c;
  closed_open(&c, "nested-balloons", (const char *const[]){"n=60", "dt=0.1", NULL});
  double start[3];
  for (int i = 0; i < 3; i++)
    start[i] = mn_world_probe(c.world, i);
  CHECK(closed_until(&c, 2));
  CHECK_NEAR(c.info.closed_regions, 3, 0);
  double r[3], p0[3], least[3] = {1e9, 1e9, 1e9};
  nested_exact(2, 5e4, 1500, r, p0);
  for (int i = 0; i < 3; i++) { /* the outer regions keep their area: all rings gain the same */
    double gain = mn_world_probe(c.world, i) - start[i];
    CHECK_NEAR(gain / (0.9 * 3.14159265358979 * 1.5), 1, 1e-7);
    double factor = start[i] / ((1.5 + i) * (1.5 + i));
    CHECK_NEAR(sqrt(mn_world_probe(c.world, i) / factor) / r[i], 1, 2e-3);
  }
  for (int k = 0; k < 3; k++) /* by rank: all have the same centre */
    for (int i = 0; i < 3; i++) {
      double p = c.info.region[k].p0;
      if (fabs(p - p0[i]) < fabs(least[i] - p0[i]))
        least[i] = p;
    }
  for (int i = 0; i < 3; i++)
    CHECK_NEAR(least[i] / p0[i], 1, 0.03);
  CHECK_LE(c.outflow / (0.9 * 3.14159265358979), 1e-8);
  CHECK_LE(closed_mean(&c), 2.5);
  printf("%g iterations, net outflow %g\n", closed_mean(&c), c.outflow);
  closed_close(&c);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reference),
      cmocka_unit_test(test_nested),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
