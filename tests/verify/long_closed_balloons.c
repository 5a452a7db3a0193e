/* Balloons to the times of [Akbay thesis, 4.3.2, 4.3.4, 4.3.6, 4.3.7], not at its resolution:
   volumes follow the inflow and p0 rises; two balloons with equal sources stay mirror images; three
   nested ones follow the exact answer. */
#include "nested_exact.h"

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
  grow("balloon-shell", NULL, 0.1, 0);
  CHECK_DONE();
}

static void test_solid(void **state)
{
  (void)state;
  grow("balloon-solid", NULL, 0.05, -1);
  CHECK_DONE();
}

/* Both balloons in one run: p0 at 5, 10, 15 s, of the left and the right one. */
static void blow_two(double right, double p0[3][2])
{
  closed_run r;
  char setting[32];
  snprintf(setting, sizeof setting, "right=%g", right);
  closed_open(&r, "two-balloons", (const char *const[]){setting, NULL});
  double inflow = closed_parabola(0.1), split = 0, wall = 0;
  for (int n = 1; n <= 60 && closed_until(&r, n / 4.0); n++) {
    const mn_region_info *a = closed_near(&r, -2, 0), *b = closed_near(&r, 2, 0);
    split = check_worst(split, fabs(a->p0 - b->p0) / fabs(a->p0));
    wall = check_worst(wall, fabs(mn_world_probe(r.world, 0)));
    if (n % 20 == 0) {
      p0[n / 20 - 1][0] = a->p0, p0[n / 20 - 1][1] = b->p0;
      double grown = inflow * closed_ramped(n / 4.0);
      CHECK_NEAR(r.area[a->id - 1] / grown, 1, 1e-8);
      CHECK_NEAR(r.area[b->id - 1] / grown, right, 1e-8);
    }
  }
  CHECK_OK(r.ctx, r.status);
  CHECK_NEAR(r.info.closed_regions, 2, 0);
  CHECK_LE(r.outflow / inflow, 1e-8);
  CHECK_LE(closed_mean(&r), 3);
  printf("right %g: p0 %g and %g Pa at 15 s, apart by up to %.2g, wall %.2g m off; net outflow %.2g"
         " of the inflow, %.3f iterations\n",
         right, p0[2][0], p0[2][1], split, wall, r.outflow / inflow, closed_mean(&r));
  if (right == 1) {
    CHECK_LE(split, 1e-8);
    CHECK_LE(wall, 1e-6 * 0.1);
  } else
    CHECK_GE(mn_world_probe(r.world, 0), 0.1);
  closed_close(&r);
}

static void test_two(void **state)
{
  (void)state;
  double same[3][2] = {{0}}, half[3][2] = {{0}};
  blow_two(1, same);
  blow_two(0.5, half);
  for (int k = 0; k < 3; k++) {
    CHECK_GE(half[k][0], half[k][1]);
    CHECK_LE(half[k][0], same[k][0]);
  }
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
      cmocka_unit_test(test_shell),
      cmocka_unit_test(test_solid),
      cmocka_unit_test(test_two),
      cmocka_unit_test(test_nested),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
