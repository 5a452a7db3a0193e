/* Sixty scenes under the couplings by one system, 8 frames each: densities from 0.001 to 10,000
   times the fluid's, stiffness from 1e2 to 1e10. tests/verify/sweep_case.h says what they are. The
   one that stops (16) is a soft elastic block, as light as a tenth of the water, that shoots up:
   the cells where water leaves it are not found. */
#include "sweep_case.h"

static void test_monolithic(void **state)
{
  (void)state;
  sweep_all("monolithic", 8, 1);
  CHECK_DONE();
}

static void test_simultaneous(void **state)
{
  (void)state;
  sweep_all("simultaneous", 8, 1);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_monolithic),
                                     cmocka_unit_test(test_simultaneous)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
