/* A gate comes down onto the floor between two chambers of fluid, each under a loaded piston: one
   closed region becomes two. In the gap of height h the fluid is squeezed out; between plates of
   length L that close at V it has the energy

       rho V^2 L^3 / (24 h)       (inviscid, u = V x / h),

   which nothing bounds as h goes to 0. Gaps below a twentieth of a cell count as closed, so that it
   is bounded by the grid: 0.05 dx, 7 J here, besides what the chambers have (5 J); a driven body
   under xpm, whose substeps shrink as the gap closes, makes 32. Before, jets as wide as a cell came
   out of the gap: 1e8 J, of which 1e5 stayed. Volumes are kept, and the pistons end where they were
   parted. Control: a gate of ten times the speed.

   Likewise gates that go flush with a wall, and plungers that land on one and leave it: whatever
   they displace comes back. And blocks that meet in the open. */
#include <math.h>
#include <stdio.h>

#include "world_case.h"

static const char SCENE[] =
    "local body, late = param('body', true, ''), param('shuts', 0.3, '')\n"
    "local gate = box { lo = {0.45, 0}, hi = {0.55, 0.25} }\n"
    "local path = keys { {0, 1}, {0.2, 1}, {0.2 + late, 0} }\n"
    "local way = motion { translate = {0, 0.15}, path = path }\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {32, 32}, top = 'open' },\n"
    "  fluid    = smoke { density = 1000, outside = 'empty', max_dt = 0.01 },\n"
    "  solids   = {\n"
    "    obstacle { shape = box { lo = {0.4, 0.25}, hi = {0.6, 2} } },\n"
    "    body and rigid { name = 'gate', shape = gate, density = 1000, motion = way,\n"
    "                     collides = false } or obstacle { shape = gate, motion = way },\n"
    "    rigid { name = 'l', shape = box { lo = {0, 0.6}, hi = {0.4, 0.7} }, density = 800,\n"
    "            joint = 'slider', damper = 2000 },\n"
    "    rigid { name = 'r', shape = box { lo = {0.6, 0.5}, hi = {1, 0.6} }, density = 800,\n"
    "            joint = 'slider', damper = 2000 } },\n"
    "  dynamics = dynamics { dt = 0.01, contact = false, check_start = false },\n"
    "  coupling = couple { method = param('coupling', 'xpm', '') },\n"
    "  probes   = { position { of = 'l', axis = 'y' }, position { of = 'r', axis = 'y' } },\n"
    "  output   = { frames = 1, every = 1 },\n"
    "}\n";

typedef struct shut {
  double most, end; /* J, of the fluid */
  double moved;     /* m, by the pistons after the gate has shut */
  double lost;      /* m^2, of the regions' volumes */
  int regions;
} shut;

static shut run(const mn_setting *settings, int count)
{
  shut s = {0};
  double y[2] = {0};
  world_case c;
  world_open(&c, SCENE, settings, count, 1);
  while (c.info.time < 0.7 - 1e-9 && world_step(&c)) {
    s.most = fmax(s.most, c.info.kinetic_energy);
    for (int p = 0; p < 2; p++) {
      double now = mn_world_probe(c.world, p);
      s.moved = c.info.time > 0.51 ? fmax(s.moved, fabs(now - y[p])) : 0;
      y[p] = c.info.time > 0.51 ? y[p] : now;
    }
    for (int r = 0; r < c.info.closed_regions; r++)
      s.lost = fmax(s.lost, fabs(c.info.region[r].error));
  }
  CHECK_OK(c.ctx, c.status);
  s.end = c.info.kinetic_energy;
  s.regions = c.info.closed_regions;
  printf("%s, body %s: at most %.3g J, at the end %.3g J; pistons move by %.2g m; %.2g m^2 off\n",
         settings[0].value, settings[1].value, s.most, s.end, s.moved, s.lost);
  world_close(&c);
  return s;
}

static void test_shuts(void **state)
{
  (void)state;
  static const char *const method[] = {"xpm", "monolithic"};
  for (int m = 0; m < 2; m++)
    for (int body = 0; body < 2; body++) {
      shut s = run((mn_setting[]){{"coupling", method[m]}, {"body", body ? "true" : "false"}}, 2);
      CHECK_LE(s.most, 50);
      CHECK_LE(s.end, 3);
      CHECK_LE(s.moved, 1e-3);
      CHECK_LE(s.lost, 5e-4);
      CHECK(s.regions == 2);
    }
  CHECK_DONE();
  CHECK_LE(run((mn_setting[]){{"coupling", "xpm"}, {"body", "false"}, {"shuts", "0.03"}}, 3).most,
           50);
  CHECK_MUST_HAVE_FAILED();
}

/* A gate falls fast onto the floor between two chambers, and goes back until it is flush with the
   wall that it comes out of, or a little less or more. As it goes flush no face of the grid shows
   its last motion, which pistons make room for: substeps that ended there were refused, and ever
   shorter ones accepted, down to 1e-12 s (1e13 J, pistons 1 km away, exit 0). */
static const char FLUSH[] =
    "local stop = param('stop', 0, 'm, below the wall')\n"
    "local way = keys { {0, 0}, {0.1, 0}, {0.4, 1}, {0.7, 1}, {1, 2 * stop} }\n"
    "local function piston(name, x, density)\n"
    "  return rigid { name = name, shape = box { lo = {x, 1}, hi = {x + 0.875, 1.25} },\n"
    "                 density = density, joint = 'slider', damper = 3000 }\n"
    "end\n"
    "return scene {\n"
    "  domain   = box { size = {2, 2}, cells = {32, 32}, top = 'open' },\n"
    "  fluid    = smoke { density = 1000, outside = 'empty', max_dt = 0.01 },\n"
    "  solids   = {\n"
    "    obstacle { shape = box { lo = {0.875, 0.5}, hi = {1.125, 3} } },\n"
    "    rigid { name = 'gate', shape = box { lo = {0.9375, 0.5}, hi = {1.0625, 1} },\n"
    "            density = 1000, motion = motion { translate = {0, -0.5}, path = way } },\n"
    "    piston('l', 0, 2000), piston('r', 1.125, 1000) },\n"
    "  dynamics = dynamics { dt = 0.01, contact = false, check_start = false },\n"
    "  probes   = { position { of = 'l', axis = 'y' }, position { of = 'r', axis = 'y' } },\n"
    "  output   = { frames = 1, every = 1.2 },\n"
    "}\n";

static void check_flush(double stop)
{
  char text[32];
  snprintf(text, sizeof text, "%g", stop);
  double most = 0, lost = 0;
  int parted = 0;
  world_case c;
  world_open(&c, FLUSH, (mn_setting[]){{"stop", text}}, 1, 1);
  while (c.info.time < 1.2 - 1e-9 && c.steps < 400 && world_step(&c)) {
    most = fmax(most, c.info.kinetic_energy);
    parted |= c.info.closed_regions == 2;
    for (int r = 0; r < c.info.closed_regions; r++)
      lost = fmax(lost, fabs(c.info.region[r].error));
  }
  CHECK_OK(c.ctx, c.status);
  double room = mn_world_probe(c.world, 0) + mn_world_probe(c.world, 1) - 2.25;
  double displaced = fmax(0, stop) * 0.125 / 0.875; /* by the gate, over the pistons' width */
  printf(
      "stops %g m below: %d substeps, %d retries, at most %.3g J; room off by %.2g m, %.2g m^2\n",
      stop, c.steps, c.retries, most, room - displaced, lost);
  CHECK(parted && c.info.closed_regions == 1);
  CHECK(c.retries == 0);
  CHECK_LE(most, 100);
  CHECK_LE(lost, 1e-12);
  CHECK_LE(fabs(room - displaced), stop < 0 ? 0.002 : 1e-9); /* the wall's: it has no hole there */
  world_close(&c);
}

static void test_goes_flush(void **state)
{
  (void)state;
  check_flush(0);
  check_flush(0.01);
  check_flush(-0.02);
  CHECK_DONE();
}

/* A plunger lands on a sill and leaves it, two times; a piston at the same fluid gives way, and
   must come back: y = 0.7 m. In the substep in which it left, the gap was thinner than the grid can
   tell, and the half of its side that is nearer to the plunger's flank, on the domain's wall, was
   taken to face nothing, too: 0.0035 m of the piston in each turn, and no error was told. Of an
   obstacle nothing was counted as soon as the gap was within a cell: a layer of cells was lost as
   it landed, and came back too much as it left. */
static const char PLUNGER[] =
    "local path = keys { {0, 0}, {0.3, 1}, {0.4, 1}, {0.7, 0}, {1, 1}, {1.1, 1}, {1.4, 0} }\n"
    "local deep, body = param('deep', false, '3D'), param('body', true, '')\n"
    "local function block(lo, hi)\n"
    "  if deep then lo[3], hi[3] = 0, 0.5 end\n"
    "  return box { lo = lo, hi = hi }\n"
    "end\n"
    "local shape = block({0, 0.7}, {0.8, 0.9})\n"
    "local way = motion { translate = {0, -0.3, deep and 0 or nil}, path = path }\n"
    "return scene {\n"
    "  domain   = box { size = deep and {2, 2, 0.5} or {2, 2},\n"
    "                   cells = deep and {20, 20, 5} or {40, 40}, top = 'open' },\n"
    "  fluid    = smoke { density = 1, outside = 'empty', max_dt = 0.02 },\n"
    "  solids   = {\n"
    "    obstacle { shape = block({0.8, 0.4}, {1.2, 3}) },\n"
    "    obstacle { shape = block({-1, -1}, {0.6, 0.4}) },\n"
    "    body and rigid { name = 'plunger', shape = shape, density = 10, motion = way }\n"
    "         or obstacle { shape = shape, motion = way },\n"
    "    rigid { name = 'piston', shape = block({1.2, 0.6}, {2, 0.8}), density = 50,\n"
    "            joint = 'slider' } },\n"
    "  dynamics = dynamics { dt = 0.02, contact = false, check_start = false },\n"
    "  coupling = couple { method = param('coupling', 'xpm', '') },\n"
    "  probes   = { position { of = 'piston', axis = 'y' } },\n"
    "  output   = { frames = 1, every = 2 },\n"
    "}\n";

static void check_plunger(const char *method, const char *deep, const char *body)
{
  world_case c;
  mn_setting settings[] = {{"coupling", method}, {"deep", deep}, {"body", body}};
  world_open(&c, PLUNGER, settings, 3, 1);
  while (c.info.time < 2 - 1e-9 && world_step(&c))
    ;
  CHECK_OK(c.ctx, c.status);
  CHECK(c.info.closed_regions == 1);
  double off = mn_world_probe(c.world, 0) - 0.7, lost = fabs(c.info.region[0].error);
  printf("%s, 3D %s, body %s: the piston comes back to %.2g m; %.2g m^%d told\n", method, deep,
         body, off, lost, *deep == 't' ? 3 : 2);
  CHECK_LE(fabs(off), 1e-6);
  CHECK_LE(lost, 1e-6);
  world_close(&c);
}

static void test_lifts_off(void **state)
{
  (void)state;
  check_plunger("xpm", "false", "true");
  check_plunger("monolithic", "false", "true");
  check_plunger("monolithic", "true", "true");
  CHECK_DONE();
}

static void test_obstacle_lifts_off(void **state)
{
  (void)state;
  check_plunger("xpm", "false", "false");
  check_plunger("monolithic", "false", "false");
  check_plunger("xpm", "true", "false");
  CHECK_DONE();
}

/* ---- in the open -----------------------------------------------------------------------------
 */

/* Two blocks that meet at x = c, wherever in a cell, of which one or both are driven; or one falls
   onto the other. As one of them reached a node the gap, of up to a cell, was gone for the grid:
   1e8 to 1e21 J, and the end of most runs. */
static const char BLOCKS[] =
    "local c, v, both = param('c', 0.5, ''), param('v', 1, ''), param('both', false, '')\n"
    "local function way(x) return motion { translate = {x, 0}, path = keys { {0, 0}, {0.2 / v, "
    "0.2} } } end\n"
    "local function block(x, motion)\n"
    "  return obstacle { shape = box { lo = {x, 0.3}, hi = {x + 0.2, 0.7} }, motion = motion }\n"
    "end\n"
    "local open = 'open'\n"
    "return scene {\n"
    "  domain = box { size = {1, 1}, cells = {32, 32}, top = open, bottom = open, left = open,\n"
    "                 right = open },\n"
    "  fluid  = smoke { max_dt = 0.01 },\n"
    "  solids = { block(c - 0.4, way(1)), both and block(c + 0.2, way(-1)) or block(c) },\n"
    "  output = { frames = 1, every = 0.3 },\n"
    "}\n";

static const char STACK[] = "local function body(name, y)\n"
                            "  return rigid { name = name, shape = box { lo = {0.3, y}, hi = {0.7, "
                            "y + 0.1} }, density = 500 }\n"
                            "end\n"
                            "local n = param('n', 24, '')\n"
                            "return scene {\n"
                            "  domain   = box { size = {1, 1}, cells = {n, n}, top = 'open' },\n"
                            "  fluid    = smoke { max_dt = 0.01 },\n"
                            "  solids   = { body('a', 0), body('b', 0.35) },\n"
                            "  dynamics = dynamics { dt = 0.01 },\n"
                            "  coupling = couple { method = param('coupling', 'xpm', '') },\n"
                            "  output   = { frames = 1, every = 1 },\n"
                            "}\n";

static void test_blocks_meet(void **state)
{
  (void)state;
  static const char *const place[] = {"0.49", "0.5", "0.508", "0.52"};
  for (int k = 0; k < 4; k++)
    for (int both = 0; both < 2; both++)
      CHECK_LE(world_most_energy(BLOCKS,
                                 (mn_setting[]){{"c", place[k]}, {"both", both ? "true" : "false"}},
                                 2, 0.3),
               60);
  static const char *const n[] = {"24", "36"}, *const method[] = {"xpm", "monolithic"};
  for (int k = 0; k < 2; k++)
    for (int m = 0; m < 2; m++)
      CHECK_LE(
          world_most_energy(STACK, (mn_setting[]){{"n", n[k]}, {"coupling", method[m]}}, 2, 0.5),
          49); /* what gravity gives */
  CHECK_DONE();
  CHECK_LE(world_most_energy(BLOCKS, (mn_setting[]){{"c", "0.49"}, {"v", "10"}}, 2, 0.03), 60);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shuts), cmocka_unit_test(test_goes_flush),
      cmocka_unit_test(test_lifts_off), cmocka_unit_test(test_obstacle_lifts_off),
      cmocka_unit_test(test_blocks_meet)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
