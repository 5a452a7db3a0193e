/* Norms of differences against sums in long double, for every remainder of the number of lanes. */
#include "check.h"
#include "la/norms.h"

#include <math.h>

enum { MOST = 1003 };

static void test_against_long_double(void **state)
{
  (void)state;
  static double a[MOST], b[MOST], e[MOST];
  uint64_t seed = 7;
  for (size_t i = 0; i < MOST; i++) {
    a[i] = check_random(&seed) - 0.5;
    b[i] = 1e3 * (check_random(&seed) - 0.5);
    e[i] = check_random(&seed) - 0.2;
  }
  double worst = 0, unlike = 0;
  for (size_t n = 0; n < MOST; n += n < 40 ? 1 : 107) {
    long double most = 0, square = 0, gap = 0, dot = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
      long double d = (long double)a[i] - b[i];
      most = fmaxl(most, fabsl(d));
      square += (long double)a[i] * a[i];
      gap += d * d;
      dot += e[i] * d;
      size += fabsl(e[i] * d);
    }
    double scale = n ? 1 : 0;
    worst = check_worst(worst, fabs((double)(mn_norm_max(n, a, b) - most)) / 1e3);
    worst =
        check_worst(worst, fabs((double)(mn_norm_square(n, a) - square)) / (double)(square + 1));
    worst =
        check_worst(worst, fabs((double)(mn_norm_square_gap(n, a, b) - gap)) / (double)(gap + 1));
    worst =
        check_worst(worst, fabs((double)(mn_norm_dot_gap(n, e, a, b) - dot)) / (double)(size + 1));
    unlike = fmax(unlike, scale * fabs(mn_norm_square(n, a) - mn_norm_square_gap(n, a, b)));
  }
  CHECK_LE(worst, 2e-15);
  CHECK_DONE();
  CHECK_LE(unlike, 2e-15); /* the control: b counts */
  CHECK_MUST_HAVE_FAILED();
}

static void test_infinite(void **state)
{
  (void)state;
  for (size_t at = 0; at < 20; at++) {
    double a[20] = {0}, b[20] = {0};
    a[at] = INFINITY;
    CHECK(isinf(mn_norm_max(20, a, b)));
    a[at] = -3;
    CHECK_NEAR(mn_norm_max(20, a, b), 3, 0);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_long_double),
                                     cmocka_unit_test(test_infinite)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
