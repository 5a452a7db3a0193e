/* Bodies on joints that lie flush with walls pass these, and their ends, as if nothing was there:
   joint and wall bear whatever presses one on the other, and nothing tells that the touch between
   them does, nor how much friction it would have. Free bodies pass what they are led along by what
   they lie on, and lie on the least of ledges. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "world_case.h"

/* Falls on a slider, `turn` rad from the vertical: beside walls and past their lower ends, or from
   above in between them. `reach`: m, by which a wall is under it; `lean`: rad, by which its slider
   leads into a wall. */
static const char SLIDE[] =
    "local kind, dim, turn = param('kind', 'box', ''), param('dim', 2, ''), param('turn', 0, '')\n"
    "local high, reach, lean = param('high', 0, ''), param('reach', 0, ''), param('lean', 0, '')\n"
    "local function at(x, y, z) return dim == 3 and {x, y, z} or {x, y} end\n"
    "local function B(x0, y0, x1, y1)\n"
    "  return box { lo = at(x0, y0, 0.3), hi = at(x1, y1, 0.7) }\n"
    "end\n"
    "local function T(s)\n"
    "  return transform { shape = s, angle = turn, translate = at(2.5, 0, 0) }\n"
    "end\n"
    "local function wall(x0, x1)\n"
    "  if kind == 'union' then return union { B(x0, 0.9, x1, 1.5), B(x0, 1.5, x1, 2.5) } end\n"
    "  if kind == 'difference' then\n"
    "    local m = (x0 + x1) / 2\n"
    "    return difference { B(x0, 0.9, x1, 2.5), B(m - 0.01, 1, m + 0.01, 1.2) }\n"
    "  end\n"
    "  return B(x0, 0.9, x1, 2.5)\n"
    "end\n"
    "local body = B(0.3, high + 1.5, 0.7, high + 2)\n"
    "if kind == 'disk' then body = disk { center = {0.5, high + 1.7}, radius = 0.2 } end\n"
    "if kind == 'steps' then\n"
    "  body = union { B(0.3, high + 1.5, 0.7, high + 1.8), B(0.4, high + 1.7, 0.6, high + 2) }\n"
    "end\n"
    "return scene {\n"
    "  domain = box { size = at(4, 6, 1), cells = at(40, 60, 10) },\n"
    "  solids = {\n"
    "    obstacle { name = 'right', friction = 0.3, shape = T(wall(0.7 - reach, 0.9)) },\n"
    "    obstacle { name = 'left', friction = 0.3, shape = T(wall(0.1, 0.3)) },\n"
    "    rigid { name = 'body', density = 100, friction = 0.3, joint = 'slider', shape = T(body),\n"
    "            joint_axis = at(-math.sin(turn + lean), math.cos(turn + lean), 0) } },\n"
    "  dynamics = dynamics { gravity = at(0, -9.8, 0), dt = 0.01 },\n"
    "  probes = { body_velocity { of = 'body', axis = 'y' }, force { of = 'body', axis = 'x' },\n"
    "             force { of = 'body', axis = 'y' } },\n"
    "  output = { frames = 4, every = 0.1 },\n"
    "}\n";

typedef struct slide {
  const char *kind, *dim, *turn, *high, *reach, *lean;
} slide;

/* m/s, by which it misses the velocity of the free fall along the slider after 0.4 s; *force: N,
   the greatest that it felt. */
static double missed(slide s, double *force)
{
  const mn_setting settings[] = {
      {"kind", s.kind}, {"dim", s.dim ? s.dim : "2"},       {"turn", s.turn},
      {"high", s.high}, {"reach", s.reach ? s.reach : "0"}, {"lean", s.lean ? s.lean : "0"}};
  world_case c;
  world_open(&c, SLIDE, settings, 6, 1);
  *force = 0;
  while (mn_world_time(c.world) < 0.4 - 1e-9 && world_step(&c))
    *force = fmax(*force, hypot(mn_world_probe(c.world, 1), mn_world_probe(c.world, 2)));
  CHECK_OK(c.ctx, c.status);
  double down = cos(atof(s.turn)), v = mn_world_probe(c.world, 0);
  world_close(&c);
  print_message("%s, %sD, %s rad, from %s m up: %.4f m/s, %.1e off, force %.1e N\n", s.kind,
                s.dim ? s.dim : "2", s.turn, s.high, v, v + 9.8 * 0.4 * down * down, *force);
  return fabs(v + 9.8 * 0.4 * down * down);
}

/* Along walls and past their ends, or in between them. */
static void test_slides(void **state)
{
  (void)state;
  static const char *const KIND[] = {"box", "union", "difference", "steps", "disk"};
  static const char *const TURN[] = {"0", "0.35", "0.58"};
  double force;
  for (int k = 0; k < 5; k++)
    for (int turn = 0; turn < 3; turn++)
      for (int high = 0; high < 2; high++) {
        CHECK_LE(missed((slide){KIND[k], "2", TURN[turn], high ? "1.2" : "0", NULL, NULL}, &force),
                 1e-9);
        CHECK_LE(force, 1e-9);
      }
  for (int turn = 0; turn < 2; turn++) {
    CHECK_LE(missed((slide){"box", "3", TURN[turn], "1.2", NULL, NULL}, &force), 1e-9);
    CHECK_LE(missed((slide){"union", "3", TURN[turn], "0", NULL, NULL}, &force), 1e-9);
  }
  /* the axis given with three digits: beside the walls all the same */
  CHECK_LE(missed((slide){"box", "2", "0.5", "0", NULL, "3e-5"}, &force), 1e-3);
  CHECK_DONE();
}

/* Controls: a wall that does reach under the body holds it, and so does one into which its slider
   leads. */
static void test_held(void **state)
{
  (void)state;
  double force;
  CHECK_GE(missed((slide){"box", "2", "0", "1.2", "0.01", NULL}, &force), 3.9);
  CHECK_GE(missed((slide){"union", "2", "0", "1.2", "0.01", NULL}, &force), 3.9);
  CHECK_GE(missed((slide){"disk", "2", "0", "1.2", "0.01", NULL}, &force), 3.9);
  CHECK_GE(missed((slide){"box", "3", "0", "1.2", "0.01", NULL}, &force), 3.9);
  CHECK_GE(missed((slide){"box", "2", "0", "0", NULL, "0.01"}, &force), 3.9);
  CHECK_DONE();
}

/* A free plank that falls on two ledges, which reach `reach` under its ends. */
static const char LEDGES[] =
    "local kind, dim, turn = param('kind', 'box', ''), param('dim', 2, ''), param('turn', 0, '')\n"
    "local reach = param('reach', 0, '')\n"
    "local function at(x, y, z) return dim == 3 and {x, y, z} or {x, y} end\n"
    "local function B(x0, y0, x1, y1, z)\n"
    "  return box { lo = at(x0, y0, -z), hi = at(x1, y1, z) }\n"
    "end\n"
    "local function T(s)\n"
    "  return transform { shape = s, angle = turn, translate = at(0.5, 0.5, 0.5) }\n"
    "end\n"
    "local plank = B(-0.3, 0.01, 0.3, 0.06, 0.1)\n"
    "if kind == 'union' then plank = union { plank, B(-0.05, 0.06, 0.05, 0.1, 0.1) } end\n"
    "return scene {\n"
    "  domain = box { size = at(1, 1, 1), cells = at(8, 8, 8) },\n"
    "  solids = {\n"
    "    obstacle { name = 'left', shape = T(B(-0.4, -0.3, -0.3 + reach, 0, 0.2)) },\n"
    "    obstacle { name = 'right', shape = T(B(0.3 - reach, -0.3, 0.4, 0, 0.2)) },\n"
    "    rigid { name = 'plank', density = 500, shape = T(plank) } },\n"
    "  dynamics = dynamics { gravity = at(9.8 * math.sin(turn), -9.8 * math.cos(turn), 0),\n"
    "                        dt = 0.005 },\n"
    "  probes = { position { of = 'plank', axis = 'x' }, position { of = 'plank', axis = 'y' } },\n"
    "  output = { frames = 2, every = 0.1 },\n"
    "}\n";

/* m, by which it has come down after 0.2 s. */
static double sunk(const char *kind, const char *dim, const char *turn, const char *reach)
{
  const mn_setting settings[] = {{"kind", kind}, {"dim", dim}, {"turn", turn}, {"reach", reach}};
  world_case c;
  world_open(&c, LEDGES, settings, 4, 1);
  mn_vec3 x = mn_v3(mn_world_probe(c.world, 0), mn_world_probe(c.world, 1), 0);
  while (mn_world_time(c.world) < 0.2 - 1e-9 && world_step(&c))
    ;
  CHECK_OK(c.ctx, c.status);
  x = mn_sub(x, mn_v3(mn_world_probe(c.world, 0), mn_world_probe(c.world, 1), 0));
  world_close(&c);
  print_message("plank, %s, %sD, at %s rad, ledges reach %s m: %.6f m\n", kind, dim, turn, reach,
                mn_length(x));
  return mn_length(x);
}

/* It lies on less than the 0.15 % of its size by which a body that lies on something else, or is on
   a joint, passes others; and falls freely between them where they do not reach under it. */
static void test_lies(void **state)
{
  (void)state;
  static const char *const KIND[] = {"box", "union"}, *const TURN[] = {"0", "0.4"};
  for (int i = 0; i < 8; i++) {
    const char *kind = KIND[i % 2], *turn = TURN[i / 2 % 2], *dim = i < 4 ? "2" : "3";
    CHECK_NEAR(sunk(kind, dim, turn, "1e-5"), 0.01, 1e-6);
    CHECK_NEAR(sunk(kind, dim, turn, "0"), 0.196, 1e-9);
  }
  CHECK_DONE();
}

/* A free body slides off one block of the floor onto the next ones, which lie `step` lower each:
   its corner comes before theirs at any height. */
static const char FLOOR[] =
    "local kind, step, v = param('kind', 'union', ''), param('step', 0, ''), param('v', 1, '')\n"
    "local function B(x0, y0, x1, y1) return box { lo = {x0, y0}, hi = {x1, y1} } end\n"
    "local body = B(0.5, 1, 0.8, 1.1)\n"
    "if kind == 'union' then body = union { body, B(0.61, 1.1, 0.69, 1.1375) } end\n"
    "return scene {\n"
    "  domain = box { size = {2, 2}, cells = {8, 8} },\n"
    "  solids = {\n"
    "    obstacle { name = 'a', friction = 0, shape = B(0.1, 0.7, 0.6, 1) },\n"
    "    obstacle { name = 'b', friction = 0, shape = B(0.6, 0.7, 0.85, 1 - step) },\n"
    "    obstacle { name = 'c', friction = 0, shape = B(0.85, 0.7, 1.9, 1 - 2 * step) },\n"
    "    rigid { name = 'body', density = 500, velocity = {v, 0}, shape = body } },\n"
    "  dynamics = dynamics { dt = 0.005 },\n"
    "  probes = { body_velocity { of = 'body', axis = 'x' } },\n"
    "  output = { frames = 2, every = 0.1 },\n"
    "}\n";

/* No friction, and no more than the fall from two steps to win. */
static void test_steps(void **state)
{
  (void)state;
  static const char *const KIND[] = {"box", "union"};
  static const char *const STEP[] = {"0", "1e-6", "2e-5", "1e-4", "1e-3", "1e-5"};
  for (int i = 0; i < 12; i++) {
    const mn_setting set[] = {
        {"kind", KIND[i % 2]}, {"step", STEP[i / 2]}, {"v", i < 10 ? "1" : "2.5"}};
    double step = atof(STEP[i / 2]), start = atof(set[2].value);
    world_case c;
    world_open(&c, FLOOR, set, 3, 1);
    while (mn_world_time(c.world) < 0.2 - 1e-9 && world_step(&c))
      ;
    CHECK_OK(c.ctx, c.status);
    double v = mn_world_probe(c.world, 0);
    world_close(&c);
    print_message("%s, steps of %g m, %g m/s: %.6f m/s\n", KIND[i % 2], step, start, v);
    CHECK_GE(v, start - 1e-6);
    CHECK_LE(v, sqrt(start * start + 2 * 9.81 * 2 * step) + 1e-6);
  }
  CHECK_DONE();
}

/* A wheel on a hinge beside a wall turns on. */
static const char WHEEL[] =
    "local turn = param('turn', 0, '')\n"
    "local function T(s)\n"
    "  return transform { shape = s, angle = turn, translate = {1.53, 1.3} }\n"
    "end\n"
    "return scene {\n"
    "  domain = box { size = {3, 3}, cells = {30, 30} },\n"
    "  solids = {\n"
    "    obstacle { name = 'wall', friction = 0.5,\n"
    "               shape = T(box { lo = {0.4, -0.3}, hi = {0.8, 0.3} }) },\n"
    "    rigid { name = 'wheel', density = 100, friction = 0.5, joint = 'hinge', spin = 2,\n"
    "            joint_point = {1.53, 1.3}, shape = disk { center = {1.53, 1.3}, radius = 0.4 } }\n"
    "  },\n"
    "  dynamics = dynamics { gravity = {0, -9.8}, dt = 0.01 },\n"
    "  probes = { angle { of = 'wheel' } },\n"
    "  output = { frames = 5, every = 0.1 },\n"
    "}\n";

static void test_wheel(void **state)
{
  (void)state;
  static const char *const TURN[] = {"0", "0.3", "0.7", "1.1"};
  for (int k = 0; k < 4; k++) {
    const mn_setting set = {"turn", TURN[k]};
    world_case c;
    world_open(&c, WHEEL, &set, 1, 1);
    while (mn_world_time(c.world) < 0.5 - 1e-9 && world_step(&c))
      ;
    print_message("wheel, wall at %s rad: turned by %.6f\n", TURN[k], mn_world_probe(c.world, 0));
    CHECK_NEAR(mn_world_probe(c.world, 0), 1, 1e-9);
    world_close(&c);
  }
  CHECK_DONE();
}

/* A heavy piston and a light one on the smoke in a U-tube: the heavy one passes the lower end of
   the wall between them and lands on the floor. */
static const char TUBE[] =
    "local coupling, wall = param('coupling', 'xpm', ''), param('wall', 'box', '')\n"
    "local n, dt = param('n', 30, ''), param('dt', 0.01, '')\n"
    "local function B(x0, y0, x1, y1) return box { lo = {x0, y0}, hi = {x1, y1} } end\n"
    "return scene {\n"
    "  domain   = box { size = {3, 3}, cells = {n, n}, top = 'open' },\n"
    "  fluid    = smoke { density = 1, gravity = {0, 0}, max_dt = dt },\n"
    "  solids   = {\n"
    "    obstacle { name = 'wall', friction = 0.3,\n"
    "               shape = wall == 'box' and B(1, 0.4, 2, 4)\n"
    "                       or union { B(1, 0.4, 2, 1.2), B(1, 1.2, 2, 4) } },\n"
    "    rigid { name = 'heavy', density = 100, friction = 0.3, joint = 'slider',\n"
    "            joint_axis = {0, 1}, shape = B(0, 1, 1, 1.5) },\n"
    "    rigid { name = 'light', density = 10, friction = 0.3, joint = 'slider',\n"
    "            joint_axis = {0, 1}, shape = B(2, 1, 3, 1.5) } },\n"
    "  dynamics = dynamics { gravity = {0, -9.8}, dt = dt },\n"
    "  coupling = couple { method = coupling },\n"
    "  probes   = { position { of = 'heavy', axis = 'y' },\n"
    "               body_velocity { of = 'heavy', axis = 'y' },\n"
    "               force { of = 'heavy', axis = 'x' }, force { of = 'heavy', axis = 'y' } },\n"
    "  output   = { frames = 7, every = 0.1 },\n"
    "}\n";

typedef struct fall {
  double y, v;    /* m, m/s at the time asked for */
  double side;    /* N, greatest */
  double braked;  /* N, greatest force upwards */
  double differs; /* m/s: the way in a substep over its length from the mean velocity, greatest */
  double energy;  /* J, of the fluid, greatest */
  int retries, handed;
} fall;

/* Forces and velocities before it lands. */
static fall drop(const char *coupling, const char *wall, const char *n, const char *dt,
                 double until)
{
  const mn_setting settings[] = {{"coupling", coupling}, {"wall", wall}, {"n", n}, {"dt", dt}};
  world_case c;
  fall f = {0};
  double y = 1.25, v = 0;
  world_open(&c, TUBE, settings, 4, 1);
  while (mn_world_time(c.world) < until - 1e-9 && world_step(&c)) {
    f.y = mn_world_probe(c.world, 0), f.v = mn_world_probe(c.world, 1);
    if (mn_world_time(c.world) < 0.5) {
      f.side = fmax(f.side, fabs(mn_world_probe(c.world, 2)));
      f.braked = fmax(f.braked, mn_world_probe(c.world, 3));
      f.differs = fmax(f.differs, fabs((f.y - y) / c.info.dt - (f.v + v) / 2));
    }
    y = f.y, v = f.v;
    f.energy = fmax(f.energy, c.info.kinetic_energy);
    f.handed += c.info.handed_over;
  }
  f.retries = c.retries;
  CHECK_OK(c.ctx, c.status);
  world_close(&c);
  print_message("%s, wall a %s, n %s, dt %s: at %.2f s %.5f m, %.4f m/s; side %.1f N, braked by "
                "%.1f N, way and velocity differ by %.1e m/s; %.0f J, %d retries, %d handed over\n",
                coupling, wall, n, dt, until, f.y, f.v, f.side, f.braked, f.differs, f.energy,
                f.retries, f.handed);
  return f;
}

static void check_fall(fall f, fall reference)
{
  CHECK_NEAR(f.y, reference.y, 0.015);
  CHECK_NEAR(f.v, reference.v, 0.05);
  CHECK_LE(f.side, 50);
  CHECK_LE(f.braked, 400);
  CHECK_LE(f.differs, 0.01);
}

static void test_tube(void **state)
{
  (void)state;
  static const char *const COUPLING[] = {"xpm", "rmi", "aitken"};
  fall reference = drop("monolithic", "box", "30", "0.005", 0.5);
  check_fall(reference, reference);
  check_fall(drop("monolithic", "box", "30", "0.01", 0.5), reference);
  for (int k = 0; k < 3; k++)
    check_fall(drop(COUPLING[k], "box", "30", "0.01", 0.5), reference);
  check_fall(drop("xpm", "union", "30", "0.01", 0.5), reference);
  check_fall(drop("xpm", "box", "30", "0.02", 0.5), reference);
  check_fall(drop("xpm", "box", "24", "0.01", 0.5), reference);
  CHECK_DONE();
}

/* And lies there. The last of the layer below it, less than a twentieth of a cell, is gone for the
   grid: what the piston's underside still displaces is told (interface.unseen), else no substep is
   short enough. */
static void test_lands(void **state)
{
  (void)state;
  static const char *const COUPLING[] = {"xpm", "rmi", "aitken", "monolithic"};
  for (int k = 0; k < 4; k++) {
    fall f = drop(COUPLING[k], "box", "30", "0.01", 0.7);
    CHECK_NEAR(f.y, 0.25, 1e-6);
    CHECK_NEAR(f.v, 0, 1e-6);
    CHECK(f.retries == 0 && f.handed == 0);
    CHECK_LE(f.energy, 250);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_slides), cmocka_unit_test(test_held),
                                     cmocka_unit_test(test_lies),   cmocka_unit_test(test_steps),
                                     cmocka_unit_test(test_wheel),  cmocka_unit_test(test_tube),
                                     cmocka_unit_test(test_lands)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
