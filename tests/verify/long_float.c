/* Floating disks: where they come to rest, and that they stay there.

   A disk of radius R and density s times that of the water is immersed to the depth d with
   s = (theta - sin(theta) cos(theta))/pi, d = R (1 - cos(theta)): 0.596027, 1, 1.403973 R for
   s = 1/4, 1/2, 3/4. The water rises: its level is (its volume + s pi R^2) over the width. */
#include <math.h>
#include <stdio.h>

#include "world_case.h"

static const char FLOAT[] =
    "local s = param('s', 0.5, '')\n"
    "local y = param('y', 0.5, '')\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {32, 32}, top = 'open' },\n"
    "  fluid    = water { gravity = {0, -9.8}, viscosity = 0.005,\n"
    "                     initial_water = box { lo = {-1, -1}, hi = {2, 0.5} } },\n"
    "  solids   = { rigid { name = 'disk', density = 1000 * s, joint = 'slider',\n"
    "                       joint_axis = {0, 1}, damper = 400,\n"
    "                       shape = disk { center = {0.5, y}, radius = 0.19 } } },\n"
    "  dynamics = dynamics { gravity = {0, -9.8}, dt = 0.01 },\n"
    "  probes   = { position { of = 'disk', axis = 'y' }, volume { of = 'fluid' } },\n"
    "  output   = { frames = 10000, every = 0.01 },\n"
    "}\n";
static const double R = 0.19, DX = 1.0 / 32, SETTLED = 4, WATCHED = 10; /* m, m, s, s */

/* Means of the height over a second, once settled and ten seconds later; the volume of water. */
static void rest(const char *s, const char *y, double *first, double *last, double *volume)
{
  const mn_setting settings[] = {{"s", s}, {"y", y}};
  world_case c;
  int counts[2] = {0};
  *first = *last = 0;
  world_open(&c, FLOAT, settings, 2, 2);
  while (mn_world_time(c.world) < SETTLED + WATCHED + 1 - 1e-9 && world_step(&c)) {
    double t = mn_world_time(c.world), at = mn_world_probe(c.world, 0);
    if (t > SETTLED && t <= SETTLED + 1)
      *first += at, counts[0]++;
    if (t > SETTLED + WATCHED)
      *last += at, counts[1]++;
  }
  CHECK_OK(c.ctx, c.status);
  *first /= counts[0];
  *last /= counts[1];
  *volume = mn_world_probe(c.world, 1);
  world_close(&c);
}

static void test_depth(void **state)
{
  (void)state;
  static const char *const ratio[] = {"0.25", "0.5", "0.75"}, *const start[] = {"0.6", "0.5",
                                                                                "0.45"};
  const double s[] = {0.25, 0.5, 0.75}, depth[] = {0.596027, 1, 1.403973};
  for (int i = 0; i < 3; i++) {
    double first, last, volume;
    rest(ratio[i], start[i], &first, &last, &volume);
    double level = volume + s[i] * MN_PI * R * R, exact = level + R - depth[i] * R;
    printf("s %s: %.4f m, %+.3f cells from %.4f; drift %+.4f cells in 10 s\n", ratio[i], first,
           (first - exact) / DX, exact, (last - first) / DX);
    CHECK_NEAR(first, exact, 0.5 * DX);
    CHECK_NEAR(last, first, 0.1 * DX);
  }
  CHECK_DONE();
}

static void test_sinks(void **state)
{
  (void)state;
  double first, last, volume;
  rest("10", "0.5", &first, &last, &volume);
  CHECK_NEAR(last, R, 0.1 * DX); /* on the bottom */
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_depth), cmocka_unit_test(test_sinks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
