/* Lid-driven cavity at Re 400 and 1000 against Ghia's table. */
#include "cavity.h"
#include "check.h"

static void test_re_400(void **state)
{
  (void)state;
  CHECK_LE(cavity_deviation(400, 128, 40, 1), 0.015);
  CHECK_DONE();
}

static void test_re_1000(void **state)
{
  (void)state;
  CHECK_LE(cavity_deviation(1000, 128, 60, 1), 0.03);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_re_400),
      cmocka_unit_test(test_re_1000),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
