/* Bodies with round flanks that just fit a tube off the grid's lines, as pistons: what flows in
   lifts them by its volume over the bore, and p0 is their weight over it. The fluid cannot tell
   what faces their sides near where they touch. A region that had more and more of these crept
   round the body, from substep to substep, and its row with it: balls with radii of 2.5, 5 and 10
   cells rose 13, 8 and 4 % too far within these 0.6 s, one in 3D 17 %, a drop with a slender upper
   half 17 %, a ball that turns 16 %, with exit 0 and volume_error 1e-17. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "world_case.h"

static const char SCENE[] =
    "local dim, m, w = param('dim', 2, ''), param('m', 1, ''), param('w', 0.307, 'm')\n"
    "local shape, spin, g = param('shape', 'ball', ''), param('spin', 0, 'rad/s'), 9.8\n"
    "local deep, x, r, y = dim == 3, 0.38, w / 2, 0.6\n"
    "local function v(a, b, c) return deep and {a, b, c} or {a, b} end\n"
    "local function wide(c, y0, y1, half)\n"
    "  return box { lo = v(c - half, y0, c - half), hi = v(c + half, y1, c + half) }\n"
    "end\n"
    "local ball = sphere { center = v(x, y, x), radius = r }\n"
    "local drop = not deep and union { ball, intersection { wide(x, y, y + 0.3, r),\n"
    "  half_space { point = {x - r, y}, normal = {-1, 0.15} },\n"
    "  half_space { point = {x + r, y}, normal = {1, 0.15} } } }\n"
    "local bore = deep and cylinder { a = {x, 0.1, x}, b = {x, 2, x}, radius = r } or\n"
    "  wide(x, 0.1, 2, r)\n"
    "local vessel = difference { wide(x, -1, 1.2, 1), bore }\n"
    "return scene {\n"
    "  domain   = box { size = v(0.75, 1.25, 0.75), cells = v(12 * m, 20 * m, 12 * m),\n"
    "                   top = 'open' },\n"
    "  fluid    = smoke { density = 1, gravity = v(0, 0, 0), outside = 'empty', max_dt = 0.02 },\n"
    "  sources  = { inflow { shape = box { lo = v(0.375, 0.125, 0.375),\n"
    "                                      hi = v(0.4375, 0.1875, 0.4375) },\n"
    "                        velocity = v(0, deep and 4 or 0.9, 0), ramp = cosine(0.3) } },\n"
    "  solids   = {\n"
    "    obstacle { shape = vessel, friction = 0 },\n"
    "    rigid { name = 'p', shape = shape == 'ball' and ball or drop, density = 50, friction = "
    "0,\n"
    "            joint = spin == 0 and 'slider' or nil, spin = not deep and spin or nil } },\n"
    "  dynamics = dynamics { gravity = v(0, -g, 0), dt = 0.02, contact = spin ~= 0,\n"
    "                        check_start = false },\n"
    "  coupling = couple { method = param('coupling', 'xpm', '') },\n"
    "  probes   = { position { of = 'p', axis = 'y' }, force { of = 'p', axis = 'y' } },\n"
    "  output   = { frames = 1, every = 0.6 },\n"
    "}\n";

enum { SETTINGS_MAX = 4 };

/* Settings are "key=value". How far the rise and p0 are off, relative. */
static void lift(const char *const settings[SETTINGS_MAX], double rise_bound, double p0_bound)
{
  const double pi = 3.14159265358979323846, ramp = 0.3, end = 0.6; /* s */
  mn_setting s[SETTINGS_MAX];
  char text[SETTINGS_MAX][2][32];
  int count = 0, deep = 0;
  for (; count < SETTINGS_MAX && settings[count]; count++) {
    CHECK(sscanf(settings[count], "%31[^=]=%31s", text[count][0], text[count][1]) == 2);
    s[count] = (mn_setting){text[count][0], text[count][1]};
    deep |= !strcmp(settings[count], "dim=3");
    printf("%s ", settings[count]);
  }
  double bore = deep ? pi * 0.2535 * 0.2535 : 0.307;
  double inflow = deep ? 4 * 0.0625 * 0.0625 : 0.9 * 0.0625;
  world_case c;
  world_open(&c, SCENE, s, count, 1);
  double from = mn_world_probe(c.world, 0);
  while (c.info.time < end - 1e-9 && world_step(&c))
    ;
  CHECK_OK(c.ctx, c.status);
  CHECK(c.info.closed_regions == 1);
  double rise = (mn_world_probe(c.world, 0) - from) * bore / (inflow * (end - ramp / 2)) - 1;
  double p0 = c.info.region[0].p0 * bore / mn_world_probe(c.world, 1) - 1;
  printf("rise off by %.2g, p0 by %.2g\n", rise, p0);
  CHECK_LE(fabs(rise), rise_bound);
  CHECK_LE(fabs(p0), p0_bound);
  world_close(&c);
}

static void test_rises_by_its_bore(void **state)
{
  (void)state;
  lift((const char *const[SETTINGS_MAX]){"m=1"}, 2e-2, 2e-2);
  lift((const char *const[SETTINGS_MAX]){"m=2"}, 6e-3, 6e-3);
  lift((const char *const[SETTINGS_MAX]){"m=4"}, 2e-3, 2e-3);
  lift((const char *const[SETTINGS_MAX]){"m=2", "coupling=monolithic"}, 6e-3, 6e-3);
  lift((const char *const[SETTINGS_MAX]){"m=2", "shape=drop"}, 4e-3, 4e-3);
  lift((const char *const[SETTINGS_MAX]){"m=2", "shape=drop", "coupling=monolithic"}, 4e-3, 4e-3);
  lift((const char *const[SETTINGS_MAX]){"dim=3", "w=0.507"}, 6e-3, 6e-3);
  CHECK_DONE();
}

/* What it faced before turns with it: sides are parted by where they are. */
static void test_turns(void **state)
{
  (void)state;
  lift((const char *const[SETTINGS_MAX]){"spin=6"}, 1.2e-2, 1e-2);
  lift((const char *const[SETTINGS_MAX]){"spin=6", "coupling=monolithic"}, 1.2e-2, 1e-2);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rises_by_its_bore),
      cmocka_unit_test(test_turns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
