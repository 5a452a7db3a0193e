/* [Lai 2021], chapter 6, at more sizes than test_lai.c: the circle at 128 and 256 cells a side with
   the growth from 32, the sphere at 32 and 64, frame 10 of the sphere at 128 with two variants of
   fas (table 6.12): with coarse levels discretised anew it must not converge. That plain walls make
   it diverge could not be reproduced (docs/theory/lcp.md); they only slow it down. */
#include "lai_case.h"

static void check_run(const mn_contestant *fas, const mn_contestant *pi, double published,
                      double outer)
{
  CHECK(fas->failed == 0 && pi->failed == 0);
  CHECK_LE(mean_iterations(fas), 1.5 * published);
  CHECK_LE(mean_outer(pi), outer);
}

static void test_circle_128(void **state)
{
  (void)state;
  mn_contestant who[] = {{.solver = "fas", .max_iterations = 400},
                         {.solver = "pi-mg", .max_iterations = 400},
                         {.solver = "fas-constant", .max_iterations = 60}};
  run_lai_case("half-circle", 128, "separating", 100, 0, who, 3);
  check_run(&who[0], &who[1], 14.07, 2.0);
  CHECK_DONE();
  check_run(&who[2], &who[1], 14.07, 2.0);
  CHECK_MUST_HAVE_FAILED();
}

/* The LCP may cost twice the linear solve at most, in iterations of the same multigrid CG (the
   seconds are a row of `meniscus bench lai-6.9`), and counts grow with the cells as the thesis's.
 */
static void test_circle_growth(void **state)
{
  (void)state;
  enum { FAS, PI_MG, PI_PCG, FAST, LINEAR, SOLVERS };
  static const char *const names[SOLVERS] = {"fas", "pi-mg", "pi-pcg", "fast", "mgpcg"};
  mn_contestant who[3][SOLVERS];
  for (int s = 0; s < 3; s++) {
    for (int i = 0; i < SOLVERS; i++)
      who[s][i] = (mn_contestant){.solver = names[i], .max_iterations = 2000};
    run_lai_case("half-circle", s ? 64 << s : 32, "separating", 100, 0, who[s], SOLVERS);
    CHECK_LE(mean_iterations(&who[s][FAST]), 2 * mean_iterations(&who[s][LINEAR]));
  }
  check_run(&who[2][FAS], &who[2][PI_MG], 18.26, 2.0);
  for (int i = 0; i < SOLVERS; i++) {
    double growth = mean_iterations(&who[2][i]) / mean_iterations(&who[0][i]);
    CHECK(who[2][i].failed == 0);
    CHECK_LE(growth, i == PI_PCG ? 10 : 3);
  }
  CHECK_DONE();
  CHECK_LE(mean_iterations(&who[2][PI_PCG]) / mean_iterations(&who[0][PI_PCG]), 3);
  CHECK_MUST_HAVE_FAILED();
}

static void test_sphere(void **state)
{
  (void)state;
  static const double published[2] = {9.75, 10.44};
  double iterations[2];
  for (int s = 0; s < 2; s++) {
    mn_contestant who[] = {{.solver = "fas", .max_iterations = 400},
                           {.solver = "pi-mg", .max_iterations = 400}};
    run_lai_case("half-sphere", 32 << s, "separating", 100, 0, who, 2);
    check_run(&who[0], &who[1], published[s], 3.5);
    iterations[s] = mean_iterations(&who[0]);
  }
  CHECK_LE(iterations[1] / iterations[0], 3);
  CHECK_DONE();
}

static void test_variants(void **state)
{
  (void)state;
  mn_contestant who[] = {{.solver = "fas", .max_iterations = 400},
                         {.solver = "fas-direct", .max_iterations = 250},
                         {.solver = "fas-plain-walls", .max_iterations = 250}};
  run_lai_case("half-sphere", 128, "separating", 9, 1, who, 3);
  CHECK(who[0].failed == 0);
  CHECK_LE(mean_iterations(&who[0]), 1.5 * 8);
  CHECK(who[1].failed == 1);
  CHECK_GE(mean_iterations(&who[2]), 1.5 * mean_iterations(&who[0]));
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_circle_128), cmocka_unit_test(test_circle_growth),
      cmocka_unit_test(test_sphere), cmocka_unit_test(test_variants)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
