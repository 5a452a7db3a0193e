/* Driven solids that begin flush with a closed side of the domain, or outside it, push water from
   the first cell on. A floor that rises through the bottom lifts all of it at its own velocity; a
   piston at the left side moves it as one that begins within the domain does. Control: a floor that
   slides along itself.

   Bodies that stand on a closed side, or go through it, off the grid: no water presses from beyond
   the side. At rest the force is what presses on the rest of their surface, p A; one that can slide
   through the floor goes down. Control: a body just above the floor, which floats. */
#include "water_case.h"
#include "world_case.h"

#include <math.h>
#include <stdio.h>

typedef struct pushed {
  double first, last; /* mean velocity of the water over the solid's: greatest, at the end */
  double volume;      /* lost, of all */
} pushed;

/* The floor's upper side begins at y = top. */
static pushed raise(int dim, double top, mn_vec3 way)
{
  mac_case c;
  mn_solid_def floor = {.name = "floor", .moving = 1};
  pushed p = {0};
  water_case_begin(&c, dim, mn_v3(1, 1, dim == 3), dim == 3 ? 12 : 32);
  c.def.domain.side[3].kind = MN_SIDE_OPEN;
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, dim, mn_v3(-1, top > 0 ? top : 0, -1), mn_v3(2, 0.5, 2),
                               &c.def.fluid.initial_water));
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, dim, mn_v3(-3, -3, -3), mn_v3(4, top, 4), &floor.shape));
  floor.motion.translate = way;
  floor.motion.path = (mn_timefn){.kind = MN_TIME_RATE, .rate = 1};
  c.def.solids = &floor;
  c.def.solid_count = 1;
  mac_case_start(&c);
  double before = water_case_sums(&c).volume, wet = before;
  while (c.time < 0.3 - 1e-9) {
    mac_case_run(&c, c.time + 0.01, 0.01);
    water_sums s = water_case_sums(&c);
    p.last = s.momentum.y / s.volume / 0.5;
    if (c.time > 0.05 - top / 0.5)
      p.first = check_worst(p.first, fabs(p.last - 1));
    wet = fmin(wet, mn_mac_measure(&c.fluid).volume);
  }
  p.volume = 1 - wet / before;
  printf("%dD, floor from %g m: water at %.4f of its velocity, off by %.4f at most; volume %.1e\n",
         dim, top, p.last, p.first, p.volume);
  mac_case_end(&c);
  return p;
}

static void test_floor(void **state)
{
  (void)state;
  static const double top[] = {0, -0.01, 0.1};
  for (int k = 0; k < 4; k++) {
    pushed p = raise(k == 3 ? 3 : 2, top[k % 3], mn_v3(0, 0.5, 0));
    CHECK_NEAR(p.last, 1, 0.01);
    CHECK_LE(p.first, 0.05);
    CHECK_LE(p.volume, 0.01);
  }
  CHECK_DONE();
  CHECK_NEAR(raise(2, 0, mn_v3(0.5, 0, 0)).last, 1, 0.01);
  CHECK_MUST_HAVE_FAILED();
}

/* Energy of 1.6 m of water, 0.4 m deep, that a piston sets in motion; its face begins at x0. */
static double make_wave(double x0)
{
  mac_case c;
  mn_solid_def piston = {.name = "piston", .moving = 1};
  water_case_begin(&c, 2, mn_v3(2, 0.75, 0), 64);
  c.def.domain.origin = mn_v3(-x0, 0, 0);
  c.def.domain.side[3].kind = MN_SIDE_OPEN;
  CHECK_OK(c.ctx,
           mn_shape_box(c.ctx, 2, mn_v3(0, -1, 0), mn_v3(3, 0.4, 0), &c.def.fluid.initial_water));
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, 2, mn_v3(-3, -1, 0), mn_v3(0, 2, 0), &piston.shape));
  piston.motion.translate = mn_v3(0.1, 0, 0);
  piston.motion.path = (mn_timefn){.kind = MN_TIME_COSINE, .to = 1, .duration = 1};
  c.def.solids = &piston;
  c.def.solid_count = 1;
  mac_case_start(&c);
  double energy[2] = {0};
  for (int k = 0; k < 2; k++) {
    mac_case_run(&c, 0.2 + 0.1 * k, 0.01);
    energy[k] = mn_mac_measure(&c.fluid).kinetic_energy;
  }
  printf("piston, face %g m from the side: %.4f J at 0.2 s, %.4f J at 0.3 s\n", x0, energy[0],
         energy[1]);
  mac_case_end(&c);
  return energy[1];
}

static void test_piston(void **state)
{
  (void)state;
  double flush = make_wave(0), within = make_wave(0.25); /* there the far wall is nearer */
  CHECK_NEAR(flush / within, 1, 0.08);
  CHECK_DONE();
}

/* A belt wider than the box slides along itself: water that slips on it stands still, whatever part
   of the cells at the sides the belt fills. */
static double slide(const char *top, const char *speed, const char *noslip)
{
  static const char SCENE[] =
      "local top = param('top', 0.2037, '')\n"
      "return scene {\n"
      "  domain = box { size = {1, 1}, cells = {32, 32} },\n"
      "  fluid  = water { initial_water = half_space { point = {0, 0.8}, normal = {0, 1} },\n"
      "                   viscosity = 1e-3, max_dt = 0.05 },\n"
      "  solids = { obstacle { shape = box { lo = {-5, -1}, hi = {5, top} },\n"
      "    noslip = param('noslip', false, ''),\n"
      "    motion = motion { translate = {1, 0}, path = rate(param('speed', 2, '')) } } },\n"
      "  output = { frames = 1, every = 0.5 },\n"
      "}\n";
  mn_setting set[] = {{"top", top}, {"speed", speed}, {"noslip", noslip}};
  double most = world_most_energy(SCENE, set, 3, 0.5);
  printf("belt up to %s m, %s m/s: %.2e J\n", top, speed, most);
  return most;
}

static void test_belt(void **state)
{
  (void)state;
  static const char *const top[] = {"0.2037", "0.203125", "0.2"};
  for (int i = 0; i < 3; i++) {
    CHECK_LE(slide(top[i], "2", "false"), 1e-3); /* 0.2 J before */
    CHECK_LE(slide(top[i], "-2", "false"), 1e-3);
  }
  CHECK_DONE();
  CHECK_LE(slide("0.2037", "2", "true"), 1e-3); /* that drags water along */
  CHECK_MUST_HAVE_FAILED();
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* Water 0.6 m deep; a block from lo to hi (x, y; in space as wide along z as along x). */
static const char BLOCK[] =
    "local n, dim = param('n', 40, ''), param('dim', 2, '')\n"
    "local x0, x1, y0, y1 = param('x0', 0.705, ''), param('x1', 0.835, ''), param('y0', 0, ''),\n"
    "                       param('y1', 0.2, '')\n"
    "local slides = param('slides', false, '')\n"
    "local function v(x, y, z) if dim == 3 then return {x, y, z} else return {x, y} end end\n"
    "return scene {\n"
    "  domain   = box { size = v(1, 1, 1), cells = v(n, n, n) },\n"
    "  fluid    = water { gravity = v(0, -9.81, 0),\n"
    "                     initial_water = box { lo = v(0, 0, 0), hi = v(1, 0.6, 1) } },\n"
    "  solids   = { rigid { name = 'block', density = 500, collides = false,\n"
    "                       joint = slides and 'slider' or 'fixed',\n"
    "                       joint_axis = slides and v(0, 1, 0) or nil,\n"
    "                       shape = box { lo = v(x0, y0, x0), hi = v(x1, y1, x1) } } },\n"
    "  dynamics = dynamics { gravity = v(0, -9.81, 0), check_start = false, contact = false },\n"
    "  coupling = couple { method = param('coupling', 'xpm', '') },\n"
    "  probes   = { force { of = 'block', axis = 'x' }, force { of = 'block', axis = 'y' },\n"
    "               body_velocity { of = 'block', axis = 'y' } },\n"
    "  output   = { frames = 10, every = 0.05 },\n"
    "}\n";

/* A probe after 0.05 s. */
static double feel(int probe, const mn_setting *set, int count)
{
  world_case w;
  world_open(&w, BLOCK, set, count, 1);
  while (mn_world_time(w.world) < 0.05 - 1e-9 && world_step(&w))
    ;
  CHECK_OK(w.ctx, w.status);
  double value = mn_world_probe(w.world, probe);
  world_close(&w);
  return value;
}

#define FEEL(probe, ...)                                                                           \
  feel(probe, (mn_setting[]){__VA_ARGS__},                                                         \
       (int)(sizeof(mn_setting[]){__VA_ARGS__} / sizeof(mn_setting)))

static void test_body_on_side(void **state)
{
  (void)state;
  const double press = 1000 * 9.81 * 0.4; /* Pa, on the top */
  static const char *const coupling[] = {"xpm", "monolithic"};
  CHECK_NEAR(FEEL(1, {"n", "40"}) / (-press * 0.13), 1, 0.01);
  CHECK_NEAR(FEEL(1, {"y0", "-0.1"}) / (-press * 0.13), 1, 0.01);
  CHECK_NEAR(FEEL(1, {"x0", "0.71"}, {"x1", "0.765"}) / (-press * 0.055), 1, 0.02);
  CHECK_NEAR(FEEL(1, {"x1", "0.83"}, {"n", "80"}) / (-press * 0.125), 1, 0.01);
  CHECK_NEAR(FEEL(1, {"dim", "3"}, {"n", "20"}, {"x0", "0.37"}, {"x1", "0.63"}, {"y0", "-0.1"}) /
                 (-press * 0.26 * 0.26),
             1, 0.02);
  double side = 1000 * 9.81 * 0.33 * 0.13; /* N, on a block through the left side */
  CHECK_NEAR(FEEL(0, {"x0", "-0.1"}, {"x1", "0.3"}, {"y0", "0.205"}, {"y1", "0.335"}) / -side, 1,
             0.01);
  for (int k = 0; k < 2; k++) {
    mn_setting slides[] = {{"slides", "true"}, {"n", "20"},    {"x0", "0.47"},
                           {"x1", "0.53"},     {"y0", "-0.2"}, {"coupling", coupling[k]}};
    CHECK_LE(feel(1, slides, 6), 0);
    CHECK_LE(feel(2, slides, 6), -9.81 * 0.05);
  }
  CHECK_DONE();
  CHECK_LE(FEEL(1, {"y0", "0.03"}), 0);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_floor), cmocka_unit_test(test_piston),
                                     cmocka_unit_test(test_belt),
                                     cmocka_unit_test(test_body_on_side)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
