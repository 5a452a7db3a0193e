/* A lid that comes down to a part of a cell above still water, and goes up again: the air below it
   is thinner than the grid knows, and the water stays at rest, at walls that it can leave as at
   others, in 2D and 3D, where the lid has the water's width. (It was taken for a press on a full
   tank, exit 1.) The control is such a press. */
#include "world_case.h"

#include <math.h>
#include <stdio.h>

static const char LID[] =
    "local n, dim, stop = param('n', 16, ''), param('dim', 2, ''), param('stop', 0.46, '')\n"
    "local walls = param('walls', 'separating', '')\n"
    "local function v(x, y, z) if dim == 3 then return {x, y, z} else return {x, y} end end\n"
    "return scene {\n"
    "  domain = box { size = v(1, 1, 0.5), cells = v(n, n, n / 2) },\n"
    "  fluid  = water { walls = walls,\n"
    "                   initial_water = box { lo = v(-1, -1, -1), hi = v(2, 0.45, 2) } },\n"
    "  solids = { obstacle { shape = box { lo = v(-1, 0.6, -1), hi = v(2, 0.7, 2) },\n"
    "                        motion = motion { translate = v(0, stop - 0.6, 0),\n"
    "                                          path = keys { {0, 0}, {0.2, 1}, {0.4, 0} } } } },\n"
    "  probes = { pressure { at = v(0.4, 0.1, 0.2) } },\n"
    "  output = { frames = 10, every = 0.05 },\n"
    "}\n";

/* Greatest energy, J. *status: how it ended; *pressure: at the end, 0.35 m below the surface. */
static double most_energy(const mn_setting *settings, int count, mn_status *status,
                          double *pressure)
{
  world_case c;
  double most = 0;
  world_open(&c, LID, settings, count, 1);
  while (mn_world_time(c.world) < 0.5 - 1e-9 && world_step(&c))
    most = check_worst(most, c.info.kinetic_energy);
  *status = c.status;
  *pressure = mn_world_probe(c.world, 0);
  printf("to %.3g s, greatest energy %.2e J, pressure %.6g Pa\n", mn_world_time(c.world), most,
         *pressure);
  world_close(&c);
  return most;
}

static void test_lid_near(void **state)
{
  (void)state;
  static const char *const cells[] = {"16", "20", "24", "32", "48"};
  mn_status status;
  double pressure;
  for (int n = 0; n < 5; n++)
    for (int sticking = 0; sticking < 2; sticking++) {
      mn_setting s[] = {{"n", cells[n]}, {"walls", sticking ? "sticking" : "separating"}};
      CHECK_LE(most_energy(s, 2, &status, &pressure), 1e-3);
      CHECK(status == MN_OK);
      CHECK_NEAR(pressure / (9.81e3 * 0.35), 1, 1e-3);
    }
  CHECK_LE(most_energy((mn_setting[]){{"dim", "3"}}, 1, &status, &pressure), 1e-3);
  CHECK(status == MN_OK);
  CHECK_NEAR(pressure / (9.81e3 * 0.35), 1, 1e-3);
  CHECK_DONE();
  most_energy((mn_setting[]){{"stop", "0.44"}}, 1, &status, &pressure);
  CHECK(status == MN_OK);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lid_near)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
