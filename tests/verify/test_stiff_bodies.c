/* Stiff bodies under one system: a linear step of one that turns stretches it a little, which is
   much energy. A bar that turns freely above water, touched by nothing: it goes on by the
   midpoint rule as it did, and by backward Euler as it does without a fluid. One that falls on
   water moves as a rigid one does. Control: one linear step (simultaneous). */
#include <math.h>
#include <stdio.h>

#include "world_case.h"

static const char SPIN[] =
    "local E, s = param('E', 1e10, ''), param('s', 1, '')\n"
    "local coupling, rule = param('coupling', 'monolithic', ''), param('rule', 'euler', '')\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {16, 16}, top = 'open' },\n"
    "  fluid    = water { initial_water = box { lo = {-1, -1}, hi = {2, 0.1} }, max_dt = 0.01 },\n"
    "  solids   = { elastic { name = 'b', density = 1000 * s, young = E, spacing = 0.0625,\n"
    "    shape = box { center = {0.5, 0.6}, size = {0.5, 0.125} }, release = 0.02,\n"
    "    fixed = box { lo = {0, 0}, hi = {1, 1} },\n"
    "    motion = motion { pivot = {0.5, 0.6}, turn = rate(5) } } },\n"
    "  dynamics = dynamics { gravity = {0, 0}, integrator = rule },\n"
    "  coupling = couple { method = coupling },\n"
    "  output   = { frames = 30, every = 0.01 },\n"
    "}\n";

/* Angular momentum and energy after 0.3 s over those at 0.02 s. */
static void spin(const char *E, const char *s, const char *coupling, const char *rule,
                 double turn[2])
{
  mn_setting set[] = {{"E", E}, {"s", s}, {"coupling", coupling}, {"rule", rule}};
  world_case c;
  double start[2] = {0};
  world_open(&c, SPIN, set, 4, 1);
  while (mn_world_time(c.world) < 0.3 - 1e-9 && world_step(&c)) {
    turn[0] = c.info.body_angular.z;
    turn[1] = c.info.body_kinetic_energy + c.info.body_elastic_energy;
    for (int k = 0; k < 2 && mn_world_time(c.world) < 0.021; k++)
      start[k] = turn[k];
  }
  CHECK_OK(c.ctx, c.status);
  turn[0] /= start[0];
  turn[1] /= start[1];
  printf("E %s, s %s, %s, %s: L %.5f, energy %.5f, %.1f systems a substep\n", E, s, coupling, rule,
         turn[0], turn[1], (double)c.solves / c.steps);
  world_close(&c);
}

static void test_turning(void **state)
{
  (void)state;
  static const char *const cases[][2] = {
      {"1e4", "1"}, {"1e6", "0.001"}, {"1e10", "1"}, {"1e10", "0.001"}, {"2e11", "8"}};
  double one[2], other[2];
  for (int k = 0; k < 5; k++) {
    spin(cases[k][0], cases[k][1], "monolithic", "midpoint", one);
    CHECK_NEAR(one[0], 1, 5e-3);
    CHECK_NEAR(one[1], 1, 3e-2);
    spin(cases[k][0], cases[k][1], "monolithic", "euler", one);
    spin(cases[k][0], cases[k][1], "xpm", "euler", other); /* which solves the bodies' equations */
    CHECK_NEAR(one[0], other[0], 1e-2);
    CHECK_NEAR(one[1], other[1], 2e-2);
  }
  CHECK_DONE();
  spin("1e10", "1", "simultaneous", "euler", one);
  CHECK_NEAR(one[0], other[0], 1e-2);
  CHECK_MUST_HAVE_FAILED();
}

static const char FALL[] =
    "local E, s = param('E', 1e10, ''), param('s', 0.5, '')\n"
    "local shape = transform { shape = box { center = {0, 0}, size = {0.5, 0.1} }, angle = 0.5,\n"
    "                          translate = {0.5, 0.6} }\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {32, 32}, top = 'open' },\n"
    "  fluid    = water { initial_water = box { lo = {-1, -1}, hi = {2, 0.6} }, max_dt = 0.01 },\n"
    "  solids   = { E == 0 and rigid { name = 'b', density = 1000 * s, shape = shape }\n"
    "    or elastic { name = 'b', density = 1000 * s, young = E, shape = shape, spacing = 0.05 } "
    "},\n"
    "  coupling = couple { method = 'monolithic' },\n"
    "  probes   = { position { of = 'b', axis = 'y' }, position { of = 'b', axis = 'x' } },\n"
    "  output   = { frames = 10, every = 0.03 },\n"
    "}\n";

/* Where the bar is after 0.2 s; *most: its greatest energy. */
static mn_vec3 fall(const char *E, const char *s, double *most)
{
  mn_setting set[] = {{"E", E}, {"s", s}};
  world_case c;
  *most = 0;
  world_open(&c, FALL, set, 2, 1);
  while (mn_world_time(c.world) < 0.2 - 1e-9 && world_step(&c))
    *most = check_worst(*most, c.info.body_kinetic_energy + c.info.body_elastic_energy);
  CHECK_OK(c.ctx, c.status);
  mn_vec3 x = {{mn_world_probe(c.world, 1), mn_world_probe(c.world, 0), 0}};
  printf("bar, E %s, s %s: at (%.4f, %.4f), at most %.3f J\n", E, s, x.x, x.y, *most);
  world_close(&c);
  return x;
}

static void test_falling(void **state)
{
  (void)state;
  static const char *const cases[][2] = {{"1e9", "0.03"}, {"1e10", "0.3"}, {"1e10", "0.5"}};
  for (int k = 0; k < 3; k++) {
    double elastic, rigid;
    mn_vec3 x = fall(cases[k][0], cases[k][1], &elastic), y = fall("0", cases[k][1], &rigid);
    CHECK_LE(mn_length(mn_sub(x, y)), 0.02); /* rules in time differ */
    CHECK_NEAR(elastic, rigid, 0.15 * rigid);
  }
  CHECK_DONE();
}

/* A heavy disk and a light one on a link fall in water; the heavy one lands at 0.23 s. */
static const char LINK[] =
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {24, 24}, top = 'open' },\n"
    "  fluid    = water { initial_water = box { lo = {-1, -1}, hi = {2, 0.5} }, max_dt = 0.01 },\n"
    "  solids   = {\n"
    "    rigid { name = 'b', density = 1, shape = disk { center = {0.3, 0.3}, radius = 0.1 } },\n"
    "    rigid { name = 'c', density = 1e4, shape = disk { center = {0.7, 0.3}, radius = 0.1 } },\n"
    "    link { of = 'b', at = {0.4, 0.3}, to = 'c', to_at = {0.6, 0.3},\n"
    "           stiffness = param('k', 1e9, '') } },\n"
    "  coupling = couple { method = param('coupling', 'monolithic', '') },\n"
    "  output   = { frames = 10, every = 0.03 },\n"
    "}\n";

/* J: the greatest energy of the disks by 0.22 s; *after: after 0.24 s. */
static double fall_linked(const char *k, const char *coupling, double *after)
{
  mn_setting set[] = {{"k", k}, {"coupling", coupling}};
  world_case c;
  double most = 0;
  *after = 0;
  world_open(&c, LINK, set, 2, 1);
  while (mn_world_time(c.world) < 0.3 - 1e-9 && world_step(&c)) {
    double energy = c.info.body_kinetic_energy + c.info.body_elastic_energy;
    double *part = mn_world_time(c.world) < 0.22 ? &most : after;
    if (part == &most || mn_world_time(c.world) > 0.24)
      *part = check_worst(*part, energy);
  }
  CHECK_OK(c.ctx, c.status);
  printf("link of %s N/m, %s: %.2f J, then %.2f, %.1f systems a substep\n", k, coupling, most,
         *after, (double)c.solves / c.steps);
  world_close(&c);
  return most;
}

static void test_linked(void **state)
{
  (void)state;
  static const char *const stiffness[] = {"1e6", "1e9", "1e11"};
  double first = 0, after;
  for (int k = 0; k < 3; k++) {
    double one = fall_linked(stiffness[k], "monolithic", &after);
    CHECK_LE(after, 5);
    double other = fall_linked(stiffness[k], "xpm", &after);
    CHECK_LE(after, 5);
    CHECK_NEAR(one, other, 0.05 * other); /* times of substeps differ */
    first = k ? first : one;
    CHECK_NEAR(one, first, 0.05 * first);
  }
  CHECK_DONE();
  CHECK_NEAR(fall_linked("1", "xpm", &after), first, 0.05 * first); /* as good as none */
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_turning), cmocka_unit_test(test_falling),
                                     cmocka_unit_test(test_linked)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
