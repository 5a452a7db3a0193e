/* Lid-driven cavity at Re 100 against Ghia's table (whose own error there is up to 0.008). */
#include "cavity.h"
#include "check.h"

static void test_re_100(void **state)
{
  (void)state;
  CHECK_LE(cavity_deviation(100, 64, 25, 1), 0.015);
  CHECK_DONE();
}

static void test_control_slow_lid(void **state)
{
  (void)state;
  CHECK_LE(cavity_deviation(100, 32, 25, 0.95), 0.015);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_re_100),
      cmocka_unit_test(test_control_slow_lid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
