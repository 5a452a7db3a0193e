/* The spring piston on the grid for five swings: every coupling, every mass. */
#include "piston_case.h"

#include <string.h>

static void test_swings(void **state)
{
  (void)state;
  for (double M = 1; M < 2e4; M *= 10)
    for (int m = 0; m < 5; m++) {
      if (m == 4 && M < 1e4) /* weak */
        continue;
      swing s = piston_swing(PISTON_METHODS[m], M, "1e-6", 5.1);
      printf("M %6g %-7s: period %.5f s, amplitude %.6f of the start, %.6f of the discrete one, "
             "%.1e cells off, iterations %.2f\n",
             M, PISTON_METHODS[m], s.period, s.kept, s.amplitude, s.error, s.average);
      CHECK(s.status == MN_OK);
      CHECK_NEAR(s.period, 1, 0.005);
      if (m == 4)
        continue;
      CHECK_NEAR(s.amplitude, 1, 1e-3);
      CHECK_NEAR(s.kept, 1, 1e-3);
      CHECK_LE(s.error, 10 * 1e-6 * 100);
    }
  CHECK_DONE();
}

static void test_weak_diverges(void **state)
{
  (void)state;
  const double light[] = {50, 10, 1};
  for (int i = 0; i < 3; i++) {
    swing s = piston_swing("weak", light[i], "1e-5", 1);
    printf("M %g: %s\n", light[i], s.why);
    CHECK(s.status == MN_FAILED);
    CHECK(strstr(s.why, "weak coupling diverged") != NULL);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_swings),
                                     cmocka_unit_test(test_weak_diverges)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
