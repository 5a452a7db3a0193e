/* Damped structural instability at the resolution of [Akbay thesis, 4.3.3], to 4 s: what flows in
   is what the area grows by, through the snap of the lower arc as well; with the sources exchanged
   the run is the mirror image to 1e-8 until then. When it snaps (in the thesis at about 2.5 s, at
   an unknown rise) is told, not demanded: it hangs on the least imperfection. */
#include "closed_run.h"

static void test_arcs(void **state)
{
  (void)state;
  closed_run r[2];
  double apart = 0, snap = INFINITY, inflow = closed_parabola(0.025) * 20.1, last = 0.45;
  closed_open(&r[0], "instability", (const char *const[]){"n=480", NULL});
  closed_open(&r[1], "instability", (const char *const[]){"n=480", "left=10.1", "right=10", NULL});
  for (int n = 1; n <= 80; n++) {
    double t = n / 20.0, y[2][4];
    if (!closed_until(&r[0], t) || (snap > t && !closed_until(&r[1], t)))
      break;
    for (int i = 0; i < 4; i++)
      for (int m = 0; m < 2; m++)
        y[m][i] = mn_world_probe(r[m].world, m && (i == 1 || i == 2) ? 3 - i : i);
    if (y[0][0] < last - 0.05 && snap > t)
      snap = t; /* fast: 1 m/s */
    for (int i = 0; i < 4 && snap > t; i++)
      apart = check_worst(apart, fabs(y[0][i] - y[1][i]));
    last = y[0][0];
    if (n >= 5) /* of what has flowed in, which is next to nothing at first */
      CHECK_NEAR(r[0].area[0] / (inflow * closed_ramped(t)), 1, 1e-8);
  }
  for (int m = 0; m < 2; m++) {
    CHECK_OK(r[m].ctx, r[m].status);
    CHECK_LE(r[m].outflow / inflow, 1e-8);
  }
  CHECK_LE(apart, 1e-8);
  CHECK_NEAR(mn_world_time(r[0].world), 4, 1e-9);
  printf(
      "snaps at %g s; mirror images apart by %.2g m before; net outflow %.2g of the inflow; %.3f "
      "iterations, %d retries\n",
      snap, apart, r[0].outflow / inflow, closed_mean(&r[0]), r[0].retries);
  closed_close(&r[0]);
  closed_close(&r[1]);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_arcs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
