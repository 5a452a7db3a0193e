/* Two balloons with a common wall, at the resolution of [Akbay thesis, 4.3.6] and for its 15 s:
   with equal sources they stay mirror images; with half the flow on the right the wall moves there,
   and both pressures are lower. */
#include "closed_run.h"

/* Both balloons in one run: p0 at 5, 10, 15 s, of the left and the right one. */
static void blow_two(double right, double p0[3][2])
{
  closed_run r;
  char setting[32];
  snprintf(setting, sizeof setting, "right=%g", right);
  closed_open(&r, "two-balloons", (const char *const[]){setting, "n=400", NULL});
  double inflow = closed_parabola(0.02), split = 0, wall = 0;
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
    CHECK_LE(wall, 1e-6 * 0.02);
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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
