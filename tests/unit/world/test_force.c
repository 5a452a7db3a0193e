/* The probe `force` of bodies of all kinds: what rests on a floor is borne with its weight, what
   bodies do to each other is equal and opposite; and the warnings that a scene's dynamics brings.
 */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "world/world.h"

static mn_world *start(mn_context *ctx, const char *text, mn_model **model)
{
  mn_world *world;
  CHECK_OK(ctx, mn_scene_load_text(ctx, "t.lua", ".", text, NULL, 0, model));
  CHECK_OK(ctx, mn_world_create(ctx, *model, &world));
  return world;
}

static void advance(mn_context *ctx, mn_world *world, double until)
{
  mn_step_info info;
  while (mn_world_time(world) < until - 1e-9)
    CHECK_OK(ctx, mn_world_step(world, until, &info));
}

/* A block on the floor and a rigid box on it, damped to rest: the box bears on the block, both on
   the floor. The mean over some substeps: what is left of the motion swings about it. */
static void test_stack(void **state)
{
  (void)state;
  static const char *const integrators[] = {"euler", "newmark", "midpoint", "explicit"};
  for (int k = 0; k < 4; k++) {
    char text[1024];
    mn_context *ctx = check_context(1);
    mn_model *model;
    int explicitly = k == 3;
    snprintf(text, sizeof text,
             "return scene { domain = box { size = {1, 1}, cells = {8, 8} }, solids = {"
             " elastic { name = 'e', shape = box { lo = {0.25, 0}, hi = {0.75, 0.25} },"
             " density = 1000, young = 1e5, damping_mass = 20, spacing = 0.125 },"
             " rigid { name = 'r', shape = box { lo = {0.3, 0.25}, hi = {0.7, 0.5} }, density = "
             "300 } }, dynamics = dynamics { dt = %g, integrator = '%s', tolerance = 1e-11 },"
             "probes = { force { of = 'e', axis = 'y' }, force { of = 'r', axis = 'y' },"
             " force { of = 'e', axis = 'x' } }, output = { frames = 1, every = 10 } }",
             explicitly ? 5e-4 : 5e-3, integrators[k]);
    mn_world *world = start(ctx, text, &model);
    double block = 1000 * 0.5 * 0.25 * 9.81, box = 300 * 0.4 * 0.25 * 9.81;
    double on_block = 0, on_box = 0, aside = 0;
    int count = explicitly ? 200 : 100;
    advance(ctx, world, 1.5);
    for (int i = 0; i < count; i++) {
      mn_step_info info;
      CHECK_OK(ctx, mn_world_step(world, 10, &info));
      on_block += mn_world_probe(world, 0) / count;
      on_box += mn_world_probe(world, 1) / count;
      aside += mn_world_probe(world, 2) / count;
    }
    printf("%s: %g on the block (%g), %g on the box (%g)\n", integrators[k], on_block, block,
           on_box, box);
    CHECK_NEAR(on_box, box, 2e-3 * box);
    CHECK_NEAR(on_block, block, 2e-3 * block); /* the floor's less the box's */
    CHECK_NEAR(aside, 0, 1e-2 * block);
    mn_world_destroy(&world);
    mn_model_destroy(&model);
    mn_context_destroy(&ctx);
  }
  CHECK_DONE();
}

/* Without gravity, in each substep: force times dt is the change of momentum, of a ball thrown at
   a cloth, of two elastic disks that meet, with and without friction. */
static void check_impulses(const char *text, const double mass[2], int steps)
{
  mn_context *ctx = check_context(1);
  mn_model *model;
  mn_world *world = start(ctx, text, &model);
  double v[2], worst = 0, most = 0;
  for (int i = 0; i < 2; i++)
    v[i] = mn_world_probe(world, 2 + i);
  for (int n = 0; n < steps; n++) {
    mn_step_info info;
    double f[2];
    CHECK_OK(ctx, mn_world_step(world, 10, &info));
    for (int i = 0; i < 2; i++) {
      double now = mn_world_probe(world, 2 + i);
      f[i] = mn_world_probe(world, i);
      worst = check_worst(worst, fabs(f[i] - mass[i] * (now - v[i]) / info.dt));
      most = fmax(most, fabs(f[i]));
      v[i] = now;
    }
    worst = check_worst(worst, fabs(f[0] + f[1]));
  }
  CHECK_GE(most, 1e-2); /* they met */
  CHECK_LE(worst, 1e-6 * most);
  mn_world_destroy(&world);
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
}

static void test_impulses(void **state)
{
  (void)state;
  const double disk = 100 * MN_PI * 0.01, line = 2 * 0.8;
  static const char TAIL[] =
      "probes = { force { of = 'a', axis = 'y' }, force { of = 'b', axis = 'y' },"
      " body_velocity { of = 'a', axis = 'y' }, body_velocity { of = 'b', axis = 'y' } },"
      "output = { frames = 1, every = 10 } }";
  char text[2048];
  snprintf(text, sizeof text,
           "return scene { domain = box { size = {1, 1}, cells = {8, 8} }, solids = {"
           " springs { name = 'a', from = {0.1, 0.4}, to = {0.9, 0.4}, density = 2, stretch = 500,"
           " spacing = 0.05 },"
           " rigid { name = 'b', shape = disk { center = {0.45, 0.52}, radius = 0.1 }, density = "
           "100, velocity = {0, -1} } },"
           "dynamics = dynamics { dt = 5e-3, gravity = {0, 0}, tolerance = 1e-12 }, %s",
           TAIL);
  check_impulses(text, (double[2]){line, disk}, 20);
  for (int k = 0; k < 2; k++) {
    snprintf(text, sizeof text,
             "return scene { domain = box { size = {1, 1}, cells = {8, 8} }, solids = {"
             " elastic { name = 'a', shape = disk { center = {0.5, 0.3}, radius = 0.1 }, density = "
             "100, young = 1e4, spacing = 0.05 },"
             " elastic { name = 'b', shape = disk { center = {0.55, 0.51}, radius = 0.1 }, density "
             "= 100, young = 1e4, spacing = 0.05, velocity = {0, -1} } },"
             "dynamics = dynamics { dt = 2e-3, gravity = {0, 0}, tolerance = 1e-12, integrator = "
             "'%s' }, %s",
             k ? "midpoint" : "euler", TAIL);
    check_impulses(text, (double[2]){disk, disk}, 20);
  }
  CHECK_DONE();
}

/* Bodies far from the origin, where coordinates have few digits left for their motion. */
static void test_far(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_model *model;
  mn_world *world = start(
      ctx,
      "return scene { domain = box { origin = {1e5, 1e5}, size = {1, 1}, cells = {8, 8} }, solids ="
      " { elastic { name = 'e', shape = disk { center = {1e5 + 0.5, 1e5 + 0.1}, radius = 0.1 },"
      " density = 1000, young = 1e5, damping_mass = 20 } }, dynamics = dynamics { dt = 5e-3 },"
      "probes = { force { of = 'e', axis = 'y' } }, output = { frames = 1, every = 10 } }",
      &model);
  advance(ctx, world, 0.5);
  double weight = 1000 * MN_PI * 0.01 * 9.81;
  CHECK_NEAR(mn_world_probe(world, 0), weight, 2e-3 * weight);
  mn_world_destroy(&world);
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* ---- warnings -------------------------------------------------------------------------------- */

static void keep(void *user, mn_log_level level, const char *text)
{
  if (level == MN_LOG_WARNING)
    snprintf(user, 512, "%s", text);
}

static void test_newmark_warns(void **state)
{
  (void)state;
#define CURVE "springs { from = {0.2, 0.5}, to = {0.8, 0.5}, density = 1, stretch = 10"
  static const struct {
    const char *rest;
    int warns;
  } cases[] = {
      {"solids = { " CURVE " } }, dynamics = dynamics { integrator = 'newmark' }", 1},
      {"solids = { rod { from = {0.2, 0.5}, to = {0.8, 0.5}, density = 1, stretch = 10, bend = "
       "1e-3 } }, dynamics = dynamics { integrator = 'newmark' }",
       1},
      {"fluid = smoke {}, solids = { " CURVE " } }, dynamics = dynamics { integrator = 'newmark' }",
       1},
      {"solids = { " CURVE ", stretch_damping = 1 } }, dynamics = dynamics { integrator = "
       "'newmark' }",
       0},
      {"solids = { " CURVE " } }, dynamics = dynamics { integrator = 'midpoint' }", 0},
      {"solids = { elastic { shape = disk { center = {0.5, 0.5}, radius = 0.2 }, density = 1, "
       "young = 1e3 } }, dynamics = dynamics { integrator = 'newmark' }",
       0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[1024], warning[512] = "";
    mn_context_def def = mn_context_def_default();
    mn_context *ctx;
    mn_model *model;
    def.log = keep;
    def.log_user = warning;
    assert_int_equal(mn_context_create(&def, &ctx), MN_OK);
    snprintf(text, sizeof text,
             "return scene { domain = box { size = {1, 1}, cells = {8, 8} }, %s }", cases[i].rest);
    CHECK_OK(ctx, mn_scene_load_text(ctx, "t.lua", ".", text, NULL, 0, &model));
    CHECK((strstr(warning, "may gain energy in long steps: body 1 is thin and undamped") != NULL) ==
          cases[i].warns);
    mn_model_destroy(&model);
    mn_context_destroy(&ctx);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_stack), cmocka_unit_test(test_impulses),
                                     cmocka_unit_test(test_far),
                                     cmocka_unit_test(test_newmark_warns)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
