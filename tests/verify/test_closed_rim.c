/* A skin that lies on the rim of a nozzle is blown up: what flows in is what it holds, wherever in
   a cell the rim is.

   Where the centres of the rim's cells are in the wall, below the skin, the open parts of these
   cells are above it. Before, what was blown slipped along the rim to the skin's end: 17 % were
   lost in 2D, 50 to 90 % in 3D, with exit 0, and the region was none.
   Control: a skin that ends before the rim does leak. */
#include <math.h>
#include <stdio.h>

#include "world_case.h"

static const char RIM[] =
    "local dim, y, w = param('dim', 2, ''), param('y', 0.516, ''), param('w', 0.3, '')\n"
    "local kind, over = param('fluid', 'smoke', ''), param('over', 0.1, '')\n"
    "local n = dim == 2 and 40 or 20\n"
    "local function v(x, y) return dim == 2 and {x, y} or {x, y, x} end\n"
    "local g = v(0, kind == 'water' and -9.8 or 0)\n"
    "g[3] = dim == 3 and 0 or nil\n"
    "local hole = box { lo = v(w + 1e-9, -1), hi = v(1 - w - 1e-9, 3) }\n"
    "local up, f = dim == 2 and {0, 0.2} or {0, 0.2, 0}, w + 1e-9 - math.min(over, 0)\n"
    "local free = box { lo = v(f, -1), hi = v(1 - f, 3) }\n"
    "local skin = { name = 'skin', spacing = 0.5 / n, density = kind == 'water' and 20 or 1,\n"
    "               stretch = kind == 'water' and 2e4 or 20,\n"
    "               fixed = difference { box { lo = v(-1, -1), hi = v(2, 2) }, free } }\n"
    "if dim == 2 then skin.from, skin.to = {w - over, y}, {1 - w + over, y}\n"
    "else skin.corner = {w - over, y, w - over}\n"
    "  skin.along, skin.across = {1 - 2 * w + 2 * over, 0, 0}, {0, 0, 1 - 2 * w + 2 * over}\n"
    "end\n"
    "return scene {\n"
    "  domain   = box { size = v(1, 1), cells = v(n, n), top = 'open' },\n"
    "  fluid    = kind == 'water' and water { density = 1000, gravity = g, max_dt = 0.02,\n"
    "               initial_water = box { lo = v(w, 0), hi = v(1 - w, y) } } or\n"
    "             smoke { density = 1, gravity = g, max_dt = 0.02 },\n"
    "  sources  = { inflow { shape = box { lo = v(w, -0.1), hi = v(1 - w, 0.055) },\n"
    "                        velocity = up, ramp = cosine(0.1) } },\n"
    "  solids   = { obstacle { shape = difference { box { lo = v(-1, -1), hi = v(2, y) }, hole } "
    "},\n"
    "               springs(skin) },\n"
    "  dynamics = dynamics { gravity = g, dt = 0.02, contact = false },\n"
    "  coupling = couple { method = param('coupling', 'xpm', ''), tolerance = 1e-3 },\n"
    "  output   = { frames = 1, every = 1 },\n"
    "}\n";

/* What the region's volume on the grid, which follows that of the skin, lacks at the end of what
   flowed in; 1: it is no region. */
static double lost(const char *dim, const char *y, const char *w, const char *over,
                   const char *fluid, const char *coupling)
{
  const mn_setting s[] = {{"dim", dim},   {"y", y},         {"w", w},
                          {"over", over}, {"fluid", fluid}, {"coupling", coupling}};
  double inflow = 0, end = dim[0] == '2' ? 0.4 : 0.16;
  world_case c;
  world_open(&c, RIM, s, 6, 1);
  while (c.info.time < end - 1e-9 && c.info.closed_regions < 2 && world_step(&c))
    inflow += c.info.closed_regions ? c.info.region[0].inflow * c.info.dt : 0;
  CHECK_OK(c.ctx, c.status);
  double part = c.info.closed_regions == 1 ? fabs(c.info.region[0].error) / inflow : 1;
  printf("%sD, rim at %s, %s, over %s, %s, %s: %.2g of %.4f m^%s lost\n", dim, y, w, over, fluid,
         coupling, part, inflow, dim);
  world_close(&c);
  return part;
}

static void test_rim(void **state)
{
  (void)state;
  static const char *const height[] = {"0.5", "0.51", "0.513", "0.516", "0.52", "0.5245"};
  for (int k = 0; k < 6; k++) {
    CHECK_LE(lost("2", height[k], "0.3", "0.1", "smoke", "xpm"), 1e-9);
    CHECK_LE(lost("2", height[k], "0.309", "0.05", "smoke", "xpm"), 1e-9);
  }
  CHECK_LE(lost("2", "0.516", "0.3", "0.1", "smoke", "monolithic"), 1e-6);
  CHECK_LE(lost("2", "0.516", "0.3", "0.1", "water", "xpm"), 1e-6);
  CHECK_LE(lost("2", "0.52", "0.31", "0.1", "water", "xpm"), 1e-6);
  CHECK_DONE();
}

static void test_rim_3d(void **state)
{
  (void)state;
  CHECK_LE(lost("3", "0.51", "0.3", "0.1", "smoke", "xpm"), 1e-9);
  CHECK_LE(lost("3", "0.53", "0.3", "0.1", "smoke", "xpm"), 1e-9);
  CHECK_LE(lost("3", "0.545", "0.31", "0.1", "smoke", "xpm"), 1e-9);
  CHECK_DONE();
}

static void test_control(void **state)
{
  (void)state;
  CHECK_LE(lost("2", "0.516", "0.3", "-0.05", "smoke", "xpm"), 0.5);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rim),
      cmocka_unit_test(test_rim_3d),
      cmocka_unit_test(test_control),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
