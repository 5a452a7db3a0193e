/* What the tolerance promises is what is left of the true error: every one of the first 24 substeps
   against a dense monolithic one (dense_case.h), for eight masses of the cloth, lying flat in the
   jet or set askew, at 5 % and at 0.5 % of a cell. */
#include "dense_case.h"

enum { SUBSTEPS = 24 };

static void check_tolerance(const char *askew, const char *tolerance)
{
  static const char *const MASS[] = {"0.001", "0.01", "0.1", "0.2", "0.5", "0.8", "1", "2"};
  for (int m = 0; m < 8; m++) {
    double worst = 0;
    for (int before = 0; before < SUBSTEPS; before++)
      worst = fmax(worst, compare(MASS[m], "xpm", tolerance, before, askew).cells);
    printf("askew %s, M = %s: at most %.2f of the tolerance of %s cells\n", askew, MASS[m],
           worst / atof(tolerance), tolerance);
    CHECK_LE(worst, atof(tolerance));
  }
  CHECK_DONE();
}

static void test_flat(void **state)
{
  (void)state;
  check_tolerance("0", "0.05");
  check_tolerance("0", "0.005");
}

static void test_askew(void **state)
{
  (void)state;
  check_tolerance("0.1", "0.05");
  check_tolerance("0.1", "0.005");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_flat), cmocka_unit_test(test_askew)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
