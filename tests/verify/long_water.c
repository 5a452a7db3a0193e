/* The longer cases of water carried by particles: sloshing over five periods at 128 cells, the
   dam break on finer grids and with FLIP, ten seconds in a sealed tank. */
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
  dam fine = water_case_dam(80, 0, MN_TRANSFER_APIC, G);
  CHECK_LE(fine.exact, 0.01);
  CHECK_LE(fine.drift, 0.01);
  dam flip = water_case_dam(40, 0, MN_TRANSFER_FLIP, G);
  CHECK_LE(flip.exact, 0.02);
  CHECK_LE(flip.drift, 0.01);
  CHECK_LE(water_case_dam(40, 1, MN_TRANSFER_APIC, G).exact, 0.025);
  CHECK_DONE();
}

static void test_sealed_volume(void **state)
{
  (void)state;
  water_case_check_sealed(64, MN_TRANSFER_APIC, 0.005);
  water_case_check_sealed(64, MN_TRANSFER_FLIP, 0.005);
  water_case_check_sealed(64, MN_TRANSFER_MARKER, 0.005);
  water_case_check_sealed(48, MN_TRANSFER_FLIP, 0.005);
  water_case_check_sealed(48, MN_TRANSFER_MARKER, 0.005);
  water_case_check_sealed(32, MN_TRANSFER_APIC, 0.01);
  CHECK_DONE();
}

static void test_control_without_volume_control(void **state)
{
  (void)state;
  CHECK_LE(water_case_sealed_drift(64, 10, MN_TRANSFER_APIC, 0).end, 0.01);
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
