/* Skins that closed regions press on: loads of a constant pressure are even, and turn with them.

   Drum: a slack skin lies flat on what fills the tank below it. m g is borne by p0 + level, the
   weight of the fluid by its walls, and nothing moves: p0 = m g + rho g H/2, the mean. (Water's
   part of mean 0, -rho g H/2 at the skin, went through the kernel of the faces: loads that differed
   by 40 % of m g from point to point, which no slack skin bears. 0.01 J in the first substep, then
   tens of J.) Loads of one solve, with the level asked for and, as the control, without.

   Ring: a slack skin of no weight in water at rest, in a sealed tank and under a lid; and the drum
   with a ball as heavy as water in it. Nothing moves. (Levels were means over all bodies of a
   region, at whatever depth: 2 J with a lid, 1 J with a ball, in half a second.)
   Control: the ring weighs something, and sinks.

   Balloon: light and stiff, blown up from a source in its middle, p far above what its inertia
   holds. It stays round: length and energy are those of a circle that grows. (p0 pressed along the
   normals of the prediction: wrinkles grew by a quarter in each substep, to 40 J.) Control: without
   p0.

   Ball: soft and light, pressed from all sides by the fluid under a lid: once pressed together it
   rests, and p0 is the lid's force over its area. (3 to 18 J.) Control: while it is pressed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "couple/boxes.h"
#include "world_case.h"

static const double PI = 3.14159265358979323846;

static const char DRUM[] =
    "local dim, kind = param('dim', 2, ''), param('fluid', 'water', '')\n"
    "local H, body   = param('H', 1, ''), param('body', 'springs', '')\n"
    "local ball      = param('ball', 0, '')\n"
    "local n         = dim == 2 and 16 or 8\n"
    "local function v(x, y, z) return dim == 2 and {x, y} or {x, y, z} end\n"
    "local g, e = v(0, -9.8, 0), 1e-6\n"
    "local rim = difference { box { lo = v(-1, -1, -1), hi = v(2, 2, 2) },\n"
    "                         box { lo = v(e, -1, e), hi = v(1 - e, 2, 1 - e) } }\n"
    "local skin = { name = 'skin', density = 20, fixed = rim, spacing = 0.5 / n }\n"
    "if dim == 2 then skin.from, skin.to = {0, H}, {1, H}\n"
    "else skin.corner, skin.along, skin.across = {0, H, 0}, {1, 0, 0}, {0, 0, 1} end\n"
    "if body == 'springs' then skin.stretch, skin.stretch_damping = 1e4, 50\n"
    "else skin.stretch, skin.bend, skin.damping_stiffness = 300, 1e-3, 0.005 end\n"
    "return scene {\n"
    "  domain   = box { size = v(1, 1.5, 1), cells = v(n, 1.5 * n, n), top = 'open' },\n"
    "  fluid    = kind == 'water' and water { density = 1000, gravity = g, max_dt = 0.01,\n"
    "               initial_water = box { lo = v(0, 0, 0), hi = v(1, H, 1) } }\n"
    "             or smoke { density = 1000, gravity = g, max_dt = 0.01, outside = 'empty' },\n"
    "  solids   = { body == 'springs' and springs(skin) or rod(skin), ball > 0 and\n"
    "    rigid { density = ball, shape = disk { center = {0.5, 0.4}, radius = 0.15 } } or nil },\n"
    "  dynamics = dynamics { gravity = g, dt = 0.01, contact = false },\n"
    "  coupling = couple { method = 'xpm' },\n"
    "  output   = { frames = 100, every = 0.01 },\n"
    "}\n";

/* ---- at rest --------------------------------------------------------------------------------- */

static void rest(const char *dim, const char *fluid, const char *H, const char *body, double until)
{
  const mn_setting s[] = {{"dim", dim}, {"fluid", fluid}, {"H", H}, {"body", body}};
  double energy = 0;
  world_case c;
  world_open(&c, DRUM, s, 4, 1);
  while (c.info.time < until - 1e-9 && world_step(&c))
    energy = check_worst(energy, c.info.body_kinetic_energy);
  printf("%s D, %s, H = %s, %s: %d substeps, at most %.1e J, p0 %.6f Pa\n", dim, fluid, H, body,
         c.steps, energy, c.info.region[0].p0);
  CHECK_OK(c.ctx, c.status);
  CHECK(c.info.closed_regions == 1);
  CHECK_LE(energy, 1e-11);
  if (floor(16 * atof(H)) == 16 * atof(H)) /* else the grid has another height */
    CHECK_NEAR(c.info.region[0].p0 / (20 * 9.8 + 500 * 9.8 * atof(H)), 1, 1e-8);
  world_close(&c);
}

static void test_rest(void **state)
{
  (void)state;
  rest("2", "water", "1", "springs", 1);
  rest("2", "water", "1", "rod", 0.3);
  rest("2", "water", "0.97", "springs", 0.3);
  rest("2", "smoke", "1", "springs", 0.3);
  rest("3", "water", "0.5", "springs", 0.1);
  CHECK_DONE();
}

/* ---- loads ----------------------------------------------------------------------------------- */

/* Greatest |load + more N| of a point over `unit` N, N upwards. */
static double uneven(const mn_interface *f, double more, double unit)
{
  double worst = 0;
  for (size_t i = 0; i < f->count; i++) {
    double N = 0;
    for (size_t e = 0; e < f->elements; e++) {
      const uint32_t *at = f->element + 2 * e;
      if (at[0] == i || at[1] == i)
        N += 0.5 * fabs(f->X[at[1]].x - f->X[at[0]].x);
    }
    mn_vec3 sum = mn_add(f->load[i], mn_v3(0, more * N, 0));
    worst = check_worst(worst, mn_length(sum) / (unit * N));
  }
  return worst;
}

static void test_loads(void **state)
{
  (void)state;
  world_case c;
  mn_boxes b;
  mn_enclosed said;
  double level = 0, weight = 1000 * 9.8 * 0.5; /* of half the depth */
  world_open(&c, DRUM, NULL, 0, 1);
  CHECK_OK(c.ctx, mn_boxes_create(c.ctx, 2, 1, c.world->fluid, c.world->solid, &b));
  CHECK_OK(c.ctx, mn_boxes_begin(&b, 0, 0.01));
  b.face.impulse = b.face.frozen = b.agreed.impulse = b.agreed.frozen = 1;
  CHECK_OK(c.ctx, mn_boxes_enclose(&b, &said));
  CHECK(said.count == 1);
  b.face.level = &level;
  CHECK_OK(c.ctx, mn_boxes_solve_fluid(&b));
  double asked = uneven(&b.face, 0, weight);
  b.face.level = NULL;
  CHECK_OK(c.ctx, mn_boxes_solve_fluid(&b));
  double unasked = uneven(&b.face, weight, weight);
  printf("level %.9g Pa; loads off by %.1e of it, and %.3f if it is not asked for\n", level, asked,
         unasked);
  CHECK_NEAR(level / weight, -1, 1e-8);
  CHECK_LE(asked, 1e-8);
  CHECK_DONE();
  CHECK_LE(unasked, 1e-3);
  CHECK_MUST_HAVE_FAILED();
  mn_boxes_destroy(&b);
  world_close(&c);
}

/* ---- at several depths ----------------------------------------------------------------------- */

static const char RING[] =
    "local kind, n = param('kind', 'sealed', ''), param('n', 16, '')\n"
    "local sealed, lid, g = kind == 'sealed', kind == 'lid', {0, -9.8}\n"
    "local shape = disk { center = {0.5, 0.4}, radius = 0.2 }\n"
    "return scene {\n"
    "  domain   = box { size = {1, sealed and 1 or 1.5}, cells = {n, (sealed and 1 or 1.5) * n},\n"
    "                   top = sealed and 'slip' or 'open' },\n"
    "  fluid    = water { density = 1000, gravity = g, max_dt = 0.01,\n"
    "                     initial_water = box { lo = {0, 0}, hi = {1, 1} } },\n"
    "  solids   = {\n"
    "    springs { name = 'ring', shape = shape, density = 20, spacing = 0.5 / n, stretch = 1e4,\n"
    "              stretch_damping = 50 },\n"
    "    lid and rigid { name = 'lid', density = 1000, joint = 'slider', joint_axis = {0, 1},\n"
    "                    shape = box { lo = {0, 1}, hi = {1, 1.25} } } or nil },\n"
    "  dynamics = dynamics { gravity = {0, -param('weight', 0, '')}, dt = 0.01, contact = false "
    "},\n"
    "  coupling = couple { method = 'xpm' },\n"
    "  output   = { frames = 100, every = 0.01 },\n"
    "}\n";

static void lie(const char *scene, const mn_setting *s, int settings)
{
  double energy = 0;
  world_case c;
  world_open(&c, scene, s, settings, 1);
  while (c.info.time < 0.3 - 1e-9 && world_step(&c))
    energy = check_worst(energy, c.info.body_kinetic_energy);
  printf("%s = %s, %s = %s: %d substeps, at most %.1e J\n", s[0].name, s[0].value, s[1].name,
         s[1].value, c.steps, energy);
  CHECK_OK(c.ctx, c.status);
  CHECK(c.retries == 0);
  CHECK_LE(energy, 1e-9);
  world_close(&c);
}

static void test_depths(void **state)
{
  (void)state;
  lie(RING, (mn_setting[]){{"kind", "sealed"}, {"n", "16"}}, 2);
  lie(RING, (mn_setting[]){{"kind", "lid"}, {"n", "16"}}, 2);
  lie(RING, (mn_setting[]){{"kind", "lid"}, {"n", "20"}}, 2);
  lie(DRUM, (mn_setting[]){{"ball", "1000"}, {"H", "1"}}, 2);
  CHECK_DONE();
  lie(RING, (mn_setting[]){{"kind", "lid"}, {"weight", "1"}}, 2);
  CHECK_MUST_HAVE_FAILED();
}

/* ---- the balloon ----------------------------------------------------------------------------- */

static const char BALLOON[] =
    "local closed, method = param('closed', 'eliminated', ''), param('method', 'xpm', '')\n"
    "local ring = disk { center = {0, 0}, radius = 0.25 }\n"
    "return scene {\n"
    "  domain   = box { origin = {-0.5, -0.5}, size = {1, 1}, cells = {24, 24}, top = 'open' },\n"
    "  fluid    = smoke { density = 1, gravity = {0, 0}, max_dt = 0.02, outside = 'empty' },\n"
    "  sources  = { inflow { shape = disk { center = {0, 0}, radius = 0.1 }, speed = 0.2 } },\n"
    "  solids   = { springs { name = 'ring', shape = ring, spacing = 0.04, density = 1,\n"
    "               stretch = 2.5e7, stretch_damping = 5e5 } },\n"
    "  dynamics = dynamics { gravity = {0, 0}, dt = 0.02, contact = false },\n"
    "  coupling = couple { method = method, tolerance = 0.01,\n"
    "               closed = method == 'xpm' and closed or nil },\n"
    "  probes   = { area { of = 'ring' }, stretch { of = 'ring' } },\n"
    "  output   = { frames = 100, every = 0.02 },\n"
    "}\n";

static void blow_up(const char *method, const char *closed)
{
  const mn_setting s[] = {{"closed", closed}, {"method", method}};
  double most = 0, inflow = 0;
  world_case c;
  world_open(&c, BALLOON, s, 2, 1);
  double area = mn_world_probe(c.world, 0);
  while (c.info.time < 1.6 - 1e-9 && world_step(&c)) {
    most = check_worst(most, c.info.body_kinetic_energy);
    inflow = c.info.closed_regions ? c.info.region[0].inflow : NAN;
  }
  double end = mn_world_probe(c.world, 0), r = sqrt(end / PI), v = inflow / (2 * PI * r);
  double slow = 0.5 * 2 * PI * 0.25 * v * v, stretch = mn_world_probe(c.world, 1);
  printf("%s, %s: %d substeps, stretch %.6f, of a circle %.6f; at most %.4f J, at the end %.4f "
         "(%.4f)\n",
         method, closed, c.steps, stretch, sqrt(end / area), most, c.info.body_kinetic_energy,
         slow);
  CHECK_OK(c.ctx, c.status);
  CHECK(c.retries == 0);
  CHECK_NEAR(stretch / sqrt(end / area), 1, 1e-5);
  CHECK_NEAR(c.info.body_kinetic_energy / slow, 1, 0.02);
  CHECK_LE(most, 4 * slow);
  world_close(&c);
}

static void test_balloon(void **state)
{
  (void)state;
  blow_up("xpm", "eliminated");
  blow_up("monolithic", "eliminated");
  CHECK_DONE();
  blow_up("xpm", "none");
  CHECK_MUST_HAVE_FAILED();
}

/* ---- the ball ---------------------------------------------------------------------------------
 */

static const char BALL[] =
    "local n = param('n', 32, '')\n"
    "return scene {\n"
    "  domain   = box { size = {2, 2}, cells = {n, n}, top = 'open' },\n"
    "  fluid    = smoke { density = 1, gravity = {0, 0}, outside = 'empty', max_dt = 0.01 },\n"
    "  solids   = {\n"
    "    elastic { name = 'ball', shape = disk { center = {1, 0.7}, radius = 0.3 },\n"
    "              spacing = 0.06, density = 10, young = 5000, poisson = 0.4 },\n"
    "    rigid { name = 'lid', density = 500, joint = 'slider', joint_axis = {0, 1},\n"
    "            shape = box { lo = {0, 1.4}, hi = {2, 1.6} }, force = {0, -4000},\n"
    "            force_ramp = cosine(0.3) } },\n"
    "  dynamics = dynamics { gravity = {0, 0}, dt = 0.01, contact = false },\n"
    "  coupling = couple { method = param('method', 'xpm', ''), tolerance = 1e-3,\n"
    "                      max_iterations = 100 },\n"
    "  output   = { frames = 100, every = 0.02 },\n"
    "}\n";

static void press(const char *method, const char *n, double after)
{
  world_case c;
  double most = 0;
  world_open(&c, BALL, (mn_setting[]){{"method", method}, {"n", n}}, 2, 1);
  while (c.info.time < 1.5 - 1e-9 && world_step(&c))
    if (c.info.time > after)
      most = check_worst(most, c.info.body_kinetic_energy);
  CHECK_OK(c.ctx, c.status);
  printf("ball, %s, %s cells: %d substeps, at most %.2e J after %g s, p0 %.3f Pa\n", method, n,
         c.steps, most, after, c.info.region[0].p0);
  CHECK_NEAR(c.info.region[0].p0 / 2000, 1, 1e-3);
  CHECK_LE(most, 0.01);
  world_close(&c);
}

static void test_ball(void **state)
{
  (void)state;
  press("xpm", "32", 0.5);
  press("monolithic", "32", 0.5);
  press("xpm", "20", 0.7);
  press("monolithic", "16", 0.7);
  CHECK_DONE();
  press("xpm", "32", 0);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rest), cmocka_unit_test(test_loads),
                                     cmocka_unit_test(test_depths), cmocka_unit_test(test_balloon),
                                     cmocka_unit_test(test_ball)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
