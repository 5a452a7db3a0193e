/* The longer cases of water carried by particles: sloshing over five periods at 128 cells, the
   dam break on a finer grid and with FLIP, ten seconds in a sealed tank. */
#include "water_case.h"

static const double G = 9.81;

static void test_sloshing(void **state)
{
  (void)state;
  slosh half = water_case_slosh(128, 0.5, MN_TRANSFER_APIC, 10, G);
  CHECK_NEAR(half.period, 1.181816, 0.01 * 1.181816);
  slosh shallow = water_case_slosh(64, 0.25, MN_TRANSFER_APIC, 10, G);
  CHECK_NEAR(shallow.period, 1.397612, 0.01 * 1.397612);
  slosh flip = water_case_slosh(64, 0.5, MN_TRANSFER_FLIP, 10, G);
  CHECK_NEAR(flip.period, 1.181816, 0.01 * 1.181816);
  CHECK_DONE();
}

static void test_dam_break(void **state)
{
  (void)state;
  for (int transfer = MN_TRANSFER_APIC; transfer <= MN_TRANSFER_FLIP; transfer++) {
    dam r = water_case_dam(40, (mn_transfer)transfer, G);
    CHECK_LE(r.rms, 0.05);
    CHECK_LE(r.worst, 0.1);
    CHECK_LE(r.drift, 0.01);
  }
  CHECK_DONE();
}

static void test_sealed_volume(void **state)
{
  (void)state;
  CHECK_LE(water_case_sealed_drift(64, 10, MN_TRANSFER_APIC, 1), 0.01);
  CHECK_LE(water_case_sealed_drift(64, 10, MN_TRANSFER_FLIP, 1), 0.01);
  CHECK_DONE();
}

static void test_control_without_volume_control(void **state)
{
  (void)state;
  CHECK_LE(water_case_sealed_drift(64, 10, MN_TRANSFER_APIC, 0), 0.01);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sloshing),
      cmocka_unit_test(test_dam_break),
      cmocka_unit_test(test_sealed_volume),
      cmocka_unit_test(test_control_without_volume_control),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
