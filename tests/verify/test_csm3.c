/* C5: CSM3 of [Turek 2006], the bar let go from rest, by Newmark's trapezium: mean and amplitude of
   the tip's path, and its frequency. Values of featflow.de: -14.305 +- 14.305 [1.0995] and
   -63.607 +- 65.160 [1.0995], in 1e-3 m and Hz. */
#include <math.h>

#include "check.h"
#include "csm_case.h"

typedef struct swing {
  double mean[2], amplitude[2], frequency;
} swing;

/* Over the last whole swing: mean and amplitude are half the sum and difference of extremes. */
static swing let_go(mn_scheme scheme, double dt, double until)
{
  mn_context *ctx = check_context(2);
  csm_def c = {
      .nx = 70, .ny = 4, .order = 2, .material = MN_ST_VENANT, .mu = 0.5e6, .scheme = scheme};
  uint32_t tip = 0;
  mn_deform_report report;
  mn_deform *d = csm_make(ctx, &c, &tip);
  mn_deform_view view = mn_deform_get(d);
  double low[2] = {0}, high[2] = {0}, last = 0, before = 0, top = 0, first_top = 0;
  int tops = 0, steps = (int)lround(until / dt);
  for (int n = 0; n < steps; n++) {
    CHECK_OK(ctx, mn_deform_begin(d, n * dt, dt));
    CHECK_OK(ctx, mn_deform_solve(d, NULL, &report));
    CHECK_OK(ctx, mn_deform_commit(d));
    mn_vec3 u = mn_sub(view.x[tip], view.rest[tip]);
    for (int k = 0; k < 2; k++) {
      low[k] = fmin(low[k], u.v[k]);
      high[k] = n < 0.5 / dt ? -HUGE_VAL : fmax(high[k], u.v[k]); /* after the first swing down */
    }
    if (n > 0.5 / dt && last > before && last >= u.y) { /* a maximum, by a parabola */
      double shift = (before - u.y) / (2 * (before - 2 * last + u.y));
      top = (n + shift) * dt;
      first_top = tops++ ? first_top : top;
    }
    before = last;
    last = u.y;
  }
  swing s = {.frequency = (tops - 1) / (top - first_top)};
  if (tops == 1)
    s.frequency = 1 / top; /* it started at a maximum */
  for (int k = 0; k < 2; k++) {
    s.mean[k] = (high[k] + low[k]) / 2;
    s.amplitude[k] = (high[k] - low[k]) / 2;
  }
  print_message("%d tops: x %.3f +- %.3f, y %.3f +- %.3f e-3, %.4f Hz\n", tops, 1e3 * s.mean[0],
                1e3 * s.amplitude[0], 1e3 * s.mean[1], 1e3 * s.amplitude[1], s.frequency);
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
  check_swing(let_go(MN_NEWMARK, 0.005, 2.0));
  CHECK_DONE();
  check_swing(let_go(MN_BACKWARD_EULER, 0.005, 2.0)); /* loses its swing */
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_csm3)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
