/* A lid that comes down to a part of a cell above still water, and goes up again: the air below it
   is thinner than the grid knows, and the water stays at rest, at walls that it can leave as at
   others, in 2D and 3D, where the lid has the water's width. (It was taken for a press on a full
   tank, exit 1.) The control is such a press. And a sealed tank that is filled, or pressed
   together, has room until it is full, and no longer, however its water is stirred. */
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

/* A jet into a sealed tank that holds 0.9975 m^2, or walls that close on 0.24 m^2 of water until
   there is no air. */
static const char SEALED[] =
    "local walls, jet = param('walls', 'separating', ''), param('jet', true, '')\n"
    "local function side(lo, hi, way)\n"
    "  return obstacle { shape = box { lo = {lo, -1}, hi = {hi, 2} },\n"
    "                    motion = motion { translate = {way, 0}, path = linear(1) } }\n"
    "end\n"
    "return scene {\n"
    "  domain  = box { size = {1, 1}, cells = {40, 40} },\n"
    "  fluid   = water { walls = walls, initial_water = box { lo = {-1, -1},\n"
    "                    hi = {2, jet and 0.4 or 0.3} } },\n"
    "  sources = jet and { inflow { shape = box { lo = {0.45, -1}, hi = {0.55, 0.05} },\n"
    "                               velocity = {0, 4} } } or {},\n"
    "  solids  = jet and {} or { side(-0.5, 0.1, 0.35), side(0.9, 1.5, -0.35) },\n"
    "  output  = { frames = 40, every = 0.05 },\n"
    "}\n";

/* Seconds until the tank is full and the run ends, as it must. */
static double until_full(const char *walls, const char *jet)
{
  world_case c;
  world_open(&c, SEALED, (mn_setting[]){{"walls", walls}, {"jet", jet}}, 2, 1);
  while (mn_world_time(c.world) < 2 - 1e-9 && world_step(&c))
    ;
  double t = mn_world_time(c.world);
  printf("%s, %s: full at %.4g s\n", jet, walls, t);
  CHECK(c.status == MN_FAILED);
  world_close(&c);
  return t;
}

/* Before: 1.76 and 0.83 s, with 10 and 9 % more than the tank held. */
static void test_full(void **state)
{
  (void)state;
  CHECK_NEAR(until_full("separating", "true"), (0.995 - 0.3975) / 0.4, 0.02);
  CHECK_NEAR(until_full("sticking", "true"), (0.995 - 0.3975) / 0.4, 0.02);
  CHECK_NEAR(until_full("separating", "false"), 0.8, 0.01);
  CHECK_NEAR(until_full("sticking", "false"), 0.8, 0.01);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lid_near), cmocka_unit_test(test_full)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
