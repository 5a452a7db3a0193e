/* A substep of the coupling against a dense monolithic one (dense_case.h): the same answer whatever
   the cloth weighs, and at a tolerance no further from it than that says, cloth lying flat in the
   jet or set askew. Every substep of these: long_monolithic.c. */
#include "dense_case.h"

static void test_same_answer(void **state)
{
  (void)state;
  static const char *const MASS[] = {"10", "1", "0.1", "0.01", "0.001"};
  for (int i = 0; i < 5; i++) {
    difference e = compare(MASS[i], "xpm", "1e-9", 6, "0");
    CHECK_LE(e.x, 1e-6);
    CHECK_LE(e.load, 1e-5);
    CHECK_LE(e.iterations, 30); /* slow modes of light cloth are learned, not waited for */
  }
  static const char *const others[] = {"rmi", "aitken", "relaxed"};
  for (int i = 0; i < 3; i++) {
    difference e = compare("1", others[i], "1e-9", 4, "0");
    CHECK_LE(e.x, 1e-6);
    CHECK_LE(e.load, 1e-5);
  }
  CHECK_DONE();
}

static void check_tolerance(const char *M, int before, const char *askew)
{
  CHECK_LE(compare(M, "xpm", "0.05", before, askew).cells, 0.05);
  CHECK_LE(compare(M, "xpm", "0.005", before, askew).cells, 0.005);
}

/* One of the substeps in which the cloth folds; of light cloth also the second, when little is
   known. */
static void test_tolerance(void **state)
{
  (void)state;
  static const char *const MASS[] = {"2", "0.5", "0.1", "0.01", "0.001"};
  for (int i = 0; i < 5; i++) {
    check_tolerance(MASS[i], 20, "0");
    check_tolerance(MASS[i], 20, "0.1");
    if (i >= 2)
      check_tolerance(MASS[i], 1, "0.1");
  }
  CHECK_DONE();
  CHECK_LE(compare("0.1", "xpm", "0.05", 20, "0").x, 1e-6); /* the reference tells them apart */
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_answer),
                                     cmocka_unit_test(test_tolerance)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
