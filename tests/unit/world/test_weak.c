/* A weak coupling that blows up is told before the motion is absurd, and the state before stays; a
   heavy body is left alone. */
#include "check.h"
#include "meniscus/scene.h"
#include "world/world.h"

#include <math.h>
#include <stdio.h>

/* Largest displacement in a substep, in cells, of the spring piston with mass M before it fails, or
   in so many substeps; *failed if it did. */
static double swing(const char *M, int steps, int *failed)
{
  mn_context *ctx = check_context(1);
  mn_model *model;
  mn_world *world;
  mn_step_info info;
  const mn_setting settings[] = {{"coupling", "weak"}, {"M", M}, {"n", "8"}};
  const double dt = 0.005, dx = 0.25 / 8;
  double most = 0;
  CHECK_OK(ctx, mn_scene_load(ctx, "piston", settings, 3, &model));
  CHECK_OK(ctx, mn_world_create(ctx, model, &world));
  *failed = 0;
  for (int n = 0; n < steps && !*failed; n++) {
    uint64_t before = mn_world_hash(world);
    *failed = mn_world_step(world, (n + 1) * dt, &info) != MN_OK;
    most = check_worst(most, fabs(mn_world_probe(world, 1)) * dt / dx);
    if (*failed)
      CHECK(mn_world_hash(world) == before);
  }
  if (*failed)
    CHECK_FAILS(ctx, mn_world_step(world, 10, &info), MN_FAILED, "the weak coupling diverged");
  printf("M %s: %lld substeps, at most %.2g cells in one\n", M, (long long)mn_world_steps(world),
         most);
  mn_world_destroy(&world);
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  return most;
}

static void test_weak(void **state)
{
  (void)state;
  static const char *const light[] = {"1", "10", "50", "200", "500"};
  int failed;
  for (int i = 0; i < 5; i++) {
    CHECK_LE(swing(light[i], 100, &failed), 2);
    CHECK(failed);
  }
  CHECK_LE(swing("10000", 60, &failed), 0.05);
  CHECK(!failed);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_weak)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
