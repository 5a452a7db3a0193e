/* Bodies that are let go, and a wall across a curve of springs. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "meniscus/scene.h"
#include "world/world.h"

typedef struct run {
  mn_context *ctx;
  mn_model *model;
  mn_world *world;
} run;

static mn_status load(mn_context *ctx, const char *solid, const char *probes, mn_model **model)
{
  char text[4096];
  snprintf(text, sizeof text,
           "return scene { domain = box { size = {4, 4}, cells = {16, 16} }, solids = { %s },"
           " dynamics = dynamics { gravity = {0, -10}, dt = 0.01, contact = false },"
           " probes = { %s }, output = { frames = 10, every = 0.1 } }",
           solid, probes);
  return mn_scene_load_text(ctx, "t.lua", check_folder, text, NULL, 0, model);
}

static run start(const char *solid, const char *probes)
{
  run r = {.ctx = check_context(1)};
  CHECK_OK(r.ctx, load(r.ctx, solid, probes, &r.model));
  CHECK_OK(r.ctx, mn_world_create(r.ctx, r.model, &r.world));
  return r;
}

static void end(run *r)
{
  mn_world_destroy(&r->world);
  mn_model_destroy(&r->model);
  mn_context_destroy(&r->ctx);
}

/* Height of a line of springs, held as a whole, at time t. */
static double height(double release, double t)
{
  char solid[512];
  snprintf(solid, sizeof solid,
           "springs { name = 'line', from = {1, 3}, to = {2, 3}, spacing = 0.25, density = 1,"
           " stretch = 100, fixed = box { lo = {0, 0}, hi = {4, 4} }, release = %.17g }",
           release);
  run r = start(solid, "position { name = 'y', of = 'line', axis = 'y' }");
  mn_step_info info;
  while (mn_world_time(r.world) < t - 1e-9)
    CHECK_OK(r.ctx, mn_world_step(r.world, t, &info));
  double y = mn_world_probe(r.world, 0);
  end(&r);
  return y;
}

/* Backward Euler: k steps of dt after the release it has fallen by g dt^2 k (k + 1)/2. */
static void test_release(void **state)
{
  (void)state;
  CHECK_NEAR(height(0, 0.5), 3, 0);
  CHECK_NEAR(height(0.3, 0.3), 3, 0);
  CHECK_NEAR(height(0.3, 0.5), 3 - 10 * 1e-4 * 20 * 21 / 2, 1e-12);
  CHECK_DONE();
}

/* A square with a wall: four sides and the wall weigh 5 m of it, and it has 20 segments. */
static void test_wall(void **state)
{
  (void)state;
  const char *square = "springs { name = 'b', shape = box { lo = {1, 1}, hi = {3, 3} }, spacing = "
                       "0.5, density = 2, stretch = 100, velocity = {0.5, 0} %s }";
  char solid[512];
  mn_step_info info;
  for (int wall = 0; wall <= 1; wall++) {
    snprintf(solid, sizeof solid, square, wall ? ", from = {2, 1.1}, to = {2, 2.9}" : "");
    run r = start(solid, "stretch { of = 'b' }");
    CHECK_OK(r.ctx, mn_world_step(r.world, 1, &info));
    CHECK_NEAR(info.body_momentum.x, 0.5 * 2 * (wall ? 10 : 8), 1e-12);
    end(&r);
  }
  mn_context *ctx = check_context(1);
  mn_model *model = NULL;
  snprintf(solid, sizeof solid, square, ", bend = 1, from = {1, 1}, to = {1.1, 1}");
  CHECK_OK(ctx, load(ctx, solid, "", &model));
  mn_world *world = NULL;
  CHECK_FAILS(ctx, mn_world_create(ctx, model, &world), MN_BAD_INPUT, "same node");
  mn_model_destroy(&model);
  CHECK_FAILS(ctx,
              load(ctx,
                   "rod { shape = disk { center = {2, 2}, radius = 1 }, from = {1, 2}, to = {3, "
                   "2}, density = 1, stretch = 1 }",
                   "", &model),
              MN_BAD_INPUT, "exactly one");
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_release),
      cmocka_unit_test(test_wall),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
