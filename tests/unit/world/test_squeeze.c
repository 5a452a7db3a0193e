/* What has no way out stops the run, with names and the last good state; what can give or slip away
   goes on. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "world/world.h"

typedef struct end {
  mn_status status;
  double time, x; /* s; m, of the body's middle */
  char why[1024];
} end;

/* A body between an obstacle that stands and one that comes nearer with 0.1 m/s, or the floor. */
static end press(const char *body, const char *more, double until)
{
  char text[2048];
  mn_context *ctx = check_context(1);
  mn_model *model = NULL;
  mn_world *world = NULL;
  mn_step_info info;
  end e = {0};
  snprintf(
      text, sizeof text,
      "return scene { domain = box { size = {2, 1}, cells = {32, 16}, top = 'open' }, solids = {"
      " obstacle { name = 'anvil', shape = box { lo = {0.2, 0.2}, hi = {0.5, 0.8} } },"
      " obstacle { name = 'hammer', shape = box { lo = {0.95, 0.2}, hi = {1.3, 0.8} },"
      " motion = motion { translate = {-1, 0}, path = rate(0.1) } }, %s },"
      " dynamics = dynamics { dt = 0.01, gravity = {0, 0}%s },"
      " probes = { position { of = 'a', axis = 'x' } } }",
      body, more);
  CHECK_OK(ctx, mn_scene_load_text(ctx, "t.lua", ".", text, NULL, 0, &model));
  CHECK_OK(ctx, mn_world_create(ctx, model, &world));
  while (mn_world_time(world) < until - 1e-9 && e.status == MN_OK)
    e.status = mn_world_step(world, until, &info);
  e.time = mn_world_time(world);
  e.x = mn_world_probe(world, 0);
  snprintf(e.why, sizeof e.why, "%s", mn_context_message(ctx));
  printf("until %.3f s: %s\n", e.time, *e.why ? e.why : "goes on");
  mn_world_destroy(&world);
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  return e;
}

static const char BLOCK[] =
    "rigid { name = 'a', shape = box { lo = {0.55, 0.4}, hi = {0.85, 0.6} }, density = 500 }";
static const char BALL[] =
    "rigid { name = 'a', shape = disk { center = {0.7, 0.5}, radius = 0.15 }, density = 500 }";

/* The gap is 0.45 m, the body 0.3 m: after 1.5 s there is no room. */
static void test_squeeze(void **state)
{
  (void)state;
  static const char *const bodies[] = {BLOCK, BALL};
  for (int i = 0; i < 2; i++) {
    end e = press(bodies[i], "", 3);
    CHECK(e.status == MN_FAILED);
    CHECK(strstr(e.why, "a is pressed") && strstr(e.why, "hammer") && strstr(e.why, "anvil"));
    CHECK_GE(e.time, 1.5);
    CHECK_LE(e.time, 1.7); /* 5 % of half the size at 0.05 m/s on either side */
    CHECK_NEAR(e.x, 0.65, 0.01);
  }
  CHECK_DONE();
}

/* A soft one gives; a ball between slanted sides slips away; without contact nothing is in the way.
 */
static void test_goes_on(void **state)
{
  (void)state;
  end e = press("elastic { name = 'a', shape = box { lo = {0.55, 0.4}, hi = {0.85, 0.6} },"
                " spacing = 0.05, density = 500, young = 1e5, poisson = 0.3 }",
                "", 2.2);
  CHECK(e.status == MN_OK);
  e = press(BALL, ", contact = false", 3);
  CHECK(e.status == MN_OK);
  e = press("rigid { name = 'a', shape = disk { center = {0.7, 0.86}, radius = 0.15 },"
            " density = 500, friction = 0 }",
            "", 2.5);
  CHECK(e.status == MN_OK); /* above the corners: it is pushed out */
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_squeeze),
                                     cmocka_unit_test(test_goes_on)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
