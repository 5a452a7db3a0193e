/* C5: CSM3 of [Turek 2006], the bar let go from rest, by Newmark's trapezium: mean and amplitude of
   the tip's path, and its frequency. Values of featflow.de: -14.305 +- 14.305 [1.0995] and
   -63.607 +- 65.160 [1.0995], in 1e-3 m and Hz. */
#include <math.h>

#include "check.h"
#include "csm_case.h"

typedef struct swing {
  double mean[2], amplitude[2], frequency;
} swing;

/* Mean and amplitude are half the sum and difference of the extremes of the last swing; the
   frequency is counted by downward passages through the middle. */
static swing let_go(mn_scheme scheme, int fine, double dt, double until)
{
  mn_context *ctx = check_context(2);
  csm_def c = {.nx = 35 * fine,
               .ny = 2 * fine,
               .order = 2,
               .material = MN_ST_VENANT,
               .mu = 0.5e6,
               .scheme = scheme};
  uint32_t tip = 0;
  mn_deform_report report;
  mn_deform *d = csm_make(ctx, &c, &tip);
  mn_deform_view view = mn_deform_get(d);
  const double MIDDLE = -63.6e-3;
  double low[2] = {0}, high[2] = {0}, last = 0, passed = 0, first = 0;
  swing s = {{0}, {0}, 0};
  int passages = 0, steps = (int)lround(until / dt);
  for (int n = 1; n <= steps; n++) {
    CHECK_OK(ctx, mn_deform_begin(d, (n - 1) * dt, dt));
    CHECK_OK(ctx, mn_deform_solve(d, NULL, &report));
    CHECK_OK(ctx, mn_deform_commit(d));
    mn_vec3 u = mn_sub(view.x[tip], view.rest[tip]);
    if (last > MIDDLE && u.y <= MIDDLE) { /* a swing ends here */
      for (int k = 0; k < 2 && passages; k++) {
        s.mean[k] = (high[k] + low[k]) / 2;
        s.amplitude[k] = (high[k] - low[k]) / 2;
      }
      for (int k = 0; k < 2; k++)
        low[k] = HUGE_VAL, high[k] = -HUGE_VAL;
      passed = (n - (u.y - MIDDLE) / (u.y - last)) * dt;
      first = passages++ ? first : passed;
    }
    for (int k = 0; k < 2 && passages; k++) {
      low[k] = fmin(low[k], u.v[k]);
      high[k] = fmax(high[k], u.v[k]);
    }
    last = u.y;
  }
  s.frequency = (passages - 1) / (passed - first);
  print_message("%d swings: x %.3f +- %.3f, y %.3f +- %.3f e-3, %.4f Hz\n", passages - 1,
                1e3 * s.mean[0], 1e3 * s.amplitude[0], 1e3 * s.mean[1], 1e3 * s.amplitude[1],
                s.frequency);
  mn_deform_destroy(&d);
  mn_context_destroy(&ctx);
  return s;
}

static void check_swing(swing s)
{
  CHECK_NEAR(s.mean[0] / -14.305e-3, 1, 0.015);
  CHECK_NEAR(s.amplitude[0] / 14.305e-3, 1, 0.015);
  CHECK_NEAR(s.mean[1] / -63.607e-3, 1, 0.015);
  CHECK_NEAR(s.amplitude[1] / 65.160e-3, 1, 0.015);
  CHECK_NEAR(s.frequency, 1.0995, 0.015 * 1.0995);
}

static void test_csm3(void **state)
{
  (void)state;
  check_swing(let_go(MN_NEWMARK, 2, 0.005, 10));
  check_swing(let_go(MN_NEWMARK, 1, 0.005, 10));
  CHECK_DONE();
  check_swing(let_go(MN_BACKWARD_EULER, 1, 0.005, 10)); /* loses its swing */
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_csm3)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
