/* The smoke balloon of figure 2.7 to its end: filled, let go, and off: its region ends when the
   neck has left the nozzle, it empties and rises. The water balloon of figure 2.4 over a second:
   its volume follows the stream, and it stays full of water. Coarser than published. */
#include "closed_run.h"

#include <stdlib.h>

static void test_release(void **state)
{
  (void)state;
  closed_run r;
  closed_open(&r, "smoke-balloon", (const char *const[]){"n=16", "speed=3", "release=0.5", NULL});
  double before = mn_world_probe(r.world, 0);
  CHECK(closed_until(&r, 0.5));
  double full = mn_world_probe(r.world, 0), y = mn_world_probe(r.world, 2);
  CHECK_NEAR((full - before) / r.area[0], 1, 1e-6);
  CHECK_NEAR(r.info.closed_regions, 1, 0);
  CHECK(closed_until(&r, 0.65));
  printf("volume %g -> %g -> %g m^3, height %g -> %g m, %d regions\n", before, full,
         mn_world_probe(r.world, 0), y, mn_world_probe(r.world, 2), r.info.closed_regions);
  CHECK_NEAR(r.info.closed_regions, 0, 0);
  CHECK_GE(full / before, 1.4);
  CHECK_LE(mn_world_probe(r.world, 0) / before, 1.05);
  CHECK_GE(mn_world_probe(r.world, 2) - y, 0.2);
  CHECK_GE(mn_world_probe(r.world, 3), 0.5); /* still rising */
  closed_close(&r);
  CHECK_DONE();
}

/* Its neck leaves the nozzle at other times and pressures: xpm, which finds no agreement there, is
   helped (half of these ended with exit 1). */
static void test_releases(void **state)
{
  (void)state;
  static const char *const release[] = {"0.42", "0.46", "0.52"};
  for (int k = 0; k < 6; k++) {
    char setting[32];
    closed_run r;
    snprintf(setting, sizeof setting, "release=%s", release[k % 3]);
    closed_open(&r, "smoke-balloon",
                (const char *const[]){"n=16", k < 3 ? "speed=3" : "speed=2.5", setting, NULL});
    CHECK(closed_until(&r, atof(release[k % 3]) + 0.06));
    printf("let go at %s s: %d substeps, %.3f m/s, %d regions\n", release[k % 3], r.steps,
           mn_world_probe(r.world, 3), r.info.closed_regions);
    CHECK_NEAR(r.info.closed_regions, 0, 0);
    CHECK_GE(mn_world_probe(r.world, 3), 1.5);
    CHECK_LE(r.steps, 80);
    closed_close(&r);
  }
  CHECK_DONE();
}

static void test_water_balloon(void **state)
{
  (void)state;
  closed_run r;
  closed_open(&r, "water-balloon", (const char *const[]){"n=16", NULL});
  double before = mn_world_probe(r.world, 0);
  CHECK(closed_until(&r, 1));
  double grown = mn_world_probe(r.world, 0) - before;
  double water = mn_world_probe(r.world, 3), room = r.info.region[0].volume;
  printf("water balloon: grew by %g m^3, %.1e off; water %g in %g m^3\n", grown,
         grown / r.area[0] - 1, water, room);
  CHECK_NEAR(r.info.closed_regions, 1, 0);
  CHECK_NEAR(grown / r.area[0], 1, 5e-3);
  CHECK_LE(r.outflow / r.info.region[0].inflow, 1e-8);
  CHECK_GE(water / room, 0.9);
  closed_close(&r);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_release),
      cmocka_unit_test(test_releases),
      cmocka_unit_test(test_water_balloon),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
