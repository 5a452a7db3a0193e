/* Corners of solids deep in water: cells there run low on particles as water slides past them, and
   must not be taken for air, whose p = 0 strikes like a hammer. A box moved slowly to and fro under
   0.5 m of water: the pressure stays that of the depth. Control: with holes left where particles
   lack. */
#include "water_case.h"

#include <math.h>
#include <stdio.h>

#include "fluid/mac/internal.h"

typedef struct stirred {
  double pressure, energy; /* greatest, Pa, J */
} stirred;

static stirred stir(int dim, int n, mn_transfer transfer, int walls, int hollow)
{
  mac_case c;
  mn_solid_def box = {.name = "box", .moving = 1};
  stirred s = {0};
  double deep = dim == 3 ? 0.5 : 0;
  water_case_begin(&c, dim, mn_v3(1, 1, deep), n);
  c.def.domain.side[3].kind = MN_SIDE_OPEN;
  c.def.fluid.transfer = transfer;
  c.def.fluid.walls = walls;
  CHECK_OK(c.ctx, mn_shape_half_space(c.ctx, dim, mn_v3(0, 0.8, 0), mn_v3(0, 1, 0),
                                      &c.def.fluid.initial_water));
  CHECK_OK(c.ctx,
           mn_shape_box(c.ctx, dim, mn_v3(0.4, 0.235, 0.17), mn_v3(0.6, 0.365, 0.33), &box.shape));
  box.motion.translate = mn_v3(0.15, 0, 0);
  box.motion.path =
      (mn_timefn){.kind = MN_TIME_WAVE, .amplitude = 0.5, .frequency = 0.25, .phase = -MN_PI / 2};
  c.def.solids = &box;
  c.def.solid_count = 1;
  mac_case_start(&c);
  ((mn_mac *)c.fluid.self)->water.hollow = hollow;
  while (c.time < (dim == 3 ? 1.5 : 3)) {
    mac_case_run_cfl(&c, c.time + 0.05);
    s.pressure = check_worst(s.pressure, c.report.greatest_p);
    s.energy = check_worst(s.energy, mn_mac_measure(&c.fluid).kinetic_energy);
  }
  printf("%dD, %d cells, transfer %d, walls %d%s: at most %.0f Pa, %.3f J\n", dim, n, (int)transfer,
         walls, hollow ? ", holes" : "", s.pressure, s.energy);
  mac_case_end(&c);
  return s;
}

static void test_corners(void **state)
{
  (void)state;
  const double rest = 1000 * 9.81 * 0.8;
  static const mn_transfer transfer[] = {MN_TRANSFER_APIC, MN_TRANSFER_FLIP, MN_TRANSFER_MARKER};
  for (int k = 0; k < 5; k++) {
    stirred s = k < 3    ? stir(2, 48, transfer[k], MN_WALLS_SEPARATING, 0)
                : k == 3 ? stir(2, 64, MN_TRANSFER_APIC, MN_WALLS_STICKING, 0)
                         : stir(3, 24, MN_TRANSFER_APIC, MN_WALLS_SEPARATING, 0);
    CHECK_LE(s.pressure, 1.05 * rest);
    CHECK_LE(s.energy, 0.3); /* the box gives it 0.2 */
  }
  CHECK_DONE();
  CHECK_LE(stir(2, 48, MN_TRANSFER_APIC, MN_WALLS_SEPARATING, 1).energy, 0.3);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_corners)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
