/* The sixty scenes of tests/verify/sweep_case.h for 1 s, under the couplings by one system and xpm.
 */
#include "sweep_case.h"

static void test_monolithic(void **state)
{
  (void)state;
  sweep_all("monolithic", 50, 3);
  CHECK_DONE();
}

static void test_simultaneous(void **state)
{
  (void)state;
  sweep_all("simultaneous", 50, 3);
  CHECK_DONE();
}

static void test_xpm(void **state)
{
  (void)state;
  sweep_all("xpm", 50, 3);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_monolithic),
                                     cmocka_unit_test(test_simultaneous),
                                     cmocka_unit_test(test_xpm)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
