/* Enclosed volumes and pressures under the couplings by one system, in all scenes of closed
   regions: see test_one_system_volumes.c. Where bodies touch (pinch) the volume is kept by what
   contact leaves of it. */
#include <math.h>
#include <stdio.h>

#include "one_system_volumes.h"

static void test_volumes(void **state)
{
  (void)state;
  static const volume_case CASES[] = {
      {"supported-body", 1, 1e-9, 0, {"n=24", NULL}},
      {"balloon-solid", 2, 1e-5, 0, {"n=60", NULL}},
      {"balloon-shell", 3, 1e-5, 0, {"n=56", NULL}},
      {"instability", 0.5, 1e-4, 0, {"n=240", NULL}},
      {"hydraulic-piston", 3, 1e-9, 0, {"force=true", NULL}},
      {"two-balloons", 2, 1e-5, 0, {"n=80", NULL}},
      {"two-balloons", 2, 1e-5, 0, {"n=80", "right=0.5", NULL}},
      {"nested-balloons", 2, 1e-5, 0, {"n=60", "dt=0.05", NULL}},
      {"multi-piston", 2, 1e-9, 0, {"n=40", NULL}},
      {"closed-balloon", 2, 1e-4, 0, {"n=32", NULL}},
      {"smoke-balloon", 0.8, 1e-4, 0, {"n=16", NULL}},
      {"water-balloon", 0.5, 1e-4, 0, {"n=16", NULL}},
      {"hydraulic-press", 2, 1e-9, 0, {"n=16", NULL}},
  };
  for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++)
    volume_compare(&CASES[k]);
  CHECK_DONE();
}

/* Regions that come and go: the accounts alone. */
static void test_coming_and_going(void **state)
{
  (void)state;
  static const char *const METHOD[] = {"coupling=monolithic", "coupling=simultaneous"};
  for (int m = 0; m < 2; m++) {
    volume_result v;
    volume_run("pinch", 3, 0, (const char *const[]){METHOD[m], NULL}, &v);
    CHECK_LE(v.off, 5e-3);
    volume_run("port", 2, 0, (const char *const[]){METHOD[m], NULL}, &v);
    CHECK_LE(v.off, 1e-9);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_volumes),
                                     cmocka_unit_test(test_coming_and_going)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
