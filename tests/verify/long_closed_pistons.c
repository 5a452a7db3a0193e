/* Pistons at rest, at the resolution of [Akbay thesis, 4.3.1, 4.3.5, 4.3.8] and for its 5, 10 and
   16 seconds: they stay where they are, p0 is that of their weight, and a substep takes one solve
   of the fluid. Out of balance: long_closed_released.c. */
#include "closed_run.h"

static void told(const char *what, const closed_run *r)
{
  printf("%s: net outflow %.2g m^2/s, %d substeps, %.3f iterations, %d retries\n", what, r->outflow,
         r->steps, closed_mean(r), r->retries);
  CHECK_LE(r->outflow, 1e-10);
  CHECK_LE(closed_mean(r), 1.1);
}

static void test_supported(void **state)
{
  (void)state;
  closed_run r;
  closed_open(&r, "supported-body", (const char *const[]){"n=192", NULL});
  CHECK(closed_until(&r, 5));
  CHECK_NEAR(mn_world_probe(r.world, 0), 0.875, 1e-3 * 0.003125);
  CHECK_NEAR(r.info.region[0].p0 / 14703.92, 1, 1e-9);
  told("supported body", &r);
  closed_close(&r);
  CHECK_DONE();
}

static void test_hydraulic(void **state)
{
  (void)state;
  closed_run r;
  closed_open(&r, "hydraulic-piston", (const char *const[]){"n=500", NULL});
  CHECK(closed_until(&r, 10));
  for (int i = 0; i < 2; i++)
    CHECK_NEAR(mn_world_probe(r.world, i), 5.5, 1e-3 * 0.02);
  CHECK_NEAR(r.info.region[0].p0 / (9849 - 9.8 * 104.0 / 44), 1, 1e-6);
  told("hydraulic piston", &r);
  closed_close(&r);
  CHECK_DONE();
}

static void test_sections(void **state)
{
  (void)state;
  static const double at[4] = {9.5, 6.5, 9.25, 5};
  closed_run r;
  closed_open(&r, "multi-piston", (const char *const[]){"n=500", NULL});
  CHECK(closed_until(&r, 16));
  CHECK_NEAR(r.info.closed_regions, 3, 0);
  for (int i = 0; i < 4; i++)
    CHECK_NEAR(mn_world_probe(r.world, i), at[i], 1e-3 * 0.02);
  CHECK_NEAR(closed_p0(&r, 4, 2.7) / 1522.2666667, 1, 1e-6);
  CHECK_NEAR(closed_p0(&r, 3, 8) / 989.8, 1, 1e-6);
  CHECK_NEAR(closed_p0(&r, 9, 7.5) / 504.7, 1, 1e-6);
  told("multi-section", &r);
  closed_close(&r);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_supported),
      cmocka_unit_test(test_hydraulic),
      cmocka_unit_test(test_sections),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
