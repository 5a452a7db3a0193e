/* Driven solids that begin flush with a closed side of the domain, or outside it, push water from
   the first cell on. A floor that rises through the bottom lifts all of it at its own velocity; a
   piston at the left side moves it as one that begins within the domain does. Control: a floor that
   slides along itself. */
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

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_floor), cmocka_unit_test(test_piston),
                                     cmocka_unit_test(test_belt)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
