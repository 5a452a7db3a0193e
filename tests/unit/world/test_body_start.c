/* Bodies that lie in each other at the start, in obstacles or beyond the sides are refused, by name
   and depth; touching, resting and clamped ones are not. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "world/world.h"

static const char HEAD[] =
    "return scene { domain = box { size = {1, 1}, cells = {16, 16}, top = 'open' }, solids = { ";
static const char HEAD3[] =
    "return scene { domain = box { size = {1, 1, 1}, cells = {16, 16, 16} }, solids = { ";

static mn_status try_text(mn_context *ctx, const char *head, const char *solids, const char *more)
{
  char text[4096];
  mn_model *model = NULL;
  mn_world *world = NULL;
  snprintf(text, sizeof text, "%s%s }%s }", head, solids, more);
  mn_status status = mn_scene_load_text(ctx, "t.lua", ".", text, NULL, 0, &model);
  if (status == MN_OK)
    status = mn_world_create(ctx, model, &world);
  mn_world_destroy(&world);
  mn_model_destroy(&model);
  return status;
}

static void refused(const char *head, const char *solids, const char *one, const char *other,
                    const char *depth)
{
  mn_context *ctx = check_context(1);
  mn_status status = try_text(ctx, head, solids, "");
  const char *said = mn_context_message(ctx);
  CHECK(status == MN_BAD_INPUT);
  int named = strstr(said, one) && strstr(said, other) && strstr(said, depth);
  if (!named)
    printf("  said: %s\n", said);
  CHECK(named);
  CHECK(strstr(said, "check_start") != NULL);
  CHECK_OK(ctx, try_text(ctx, head, solids, ", dynamics = dynamics { check_start = false }"));
  mn_context_destroy(&ctx);
}

static void taken(const char *head, const char *solids)
{
  mn_context *ctx = check_context(1);
  CHECK_OK(ctx, try_text(ctx, head, solids, ""));
  mn_context_destroy(&ctx);
}

#define BALL(name, x, y, r)                                                                        \
  "rigid { name = '" name "', shape = disk { center = {" #x ", " #y "}, radius = " #r              \
  " }, density = 1 },"
#define BLOCK(name, lo, hi)                                                                        \
  "rigid { name = '" name "', shape = box { lo = {" lo "}, hi = {" hi "} }, density = 1 },"
#define SOFT(name, lo, hi)                                                                         \
  "elastic { name = '" name "', shape = box { lo = {" lo "}, hi = {" hi                            \
  "} }, density = 1000, young = 1e5 },"

static void test_refused(void **state)
{
  (void)state;
  refused(HEAD, BALL("a", 0.5, 0.5, 0.1) BALL("b", 0.65, 0.5, 0.1), "\"a\"", "\"b\"", "0.05 m");
  refused(HEAD, BALL("a", 0.5, 0.05, 0.1), "\"a\"", "bottom side", "0.05 m");
  refused(HEAD, BALL("a", 1.5, 0.5, 0.1), "\"a\"", "outside the domain", "axis 1");
  refused(HEAD, BALL("a", 0.5, 1.5, 0.1), "\"a\"", "outside the domain", "axis 2");
  refused(HEAD,
          "obstacle { name = 'o', shape = disk { center = {0.5, 0.5}, radius = 0.2 } }," BALL(
              "a", 0.5, 0.5, 0.1),
          "\"a\"", "obstacle \"o\"", "0.3 m");
  refused(HEAD, BLOCK("a", "0.2, 0.4", "0.8, 0.5") BLOCK("b", "0.4, 0.45", "0.6, 0.9"), "\"a\"",
          "\"b\"", "0.05 m");
  refused(HEAD,
          "obstacle { name = 'o', shape = box { lo = {0.503, -1}, hi = {0.513, 2} } }," BLOCK(
              "a", "0.2, 0.4", "0.8, 0.5"),
          "\"a\"", "obstacle \"o\"", " m deep"); /* a plate through a block */
  refused(HEAD, SOFT("s", "0.2, -0.1", "0.6, 0.3"), "\"s\"", "bottom side", "0.1 m");
  refused(HEAD, SOFT("s", "0.2, 0.2", "0.6, 0.6") BALL("a", 0.4, 0.4, 0.05), "\"s\"", "\"a\"",
          "0.25 m");
  refused(HEAD, SOFT("s", "0.2, 0.2", "0.6, 0.6") BLOCK("a", "0.35, 0.35", "0.45, 0.45"), "\"s\"",
          "\"a\"", "0.15 m");
  refused(HEAD, SOFT("s", "0.2, 0.2", "0.6, 0.6") SOFT("q", "0.5, 0.2", "0.9, 0.6"), "\"s\"",
          "\"q\"", "0.1 m");
  refused(HEAD,
          "obstacle { shape = disk { center = {0.5, 0.5}, radius = 0.2 } },"
          "springs { name = 'line', from = {0.1, 0.55}, to = {0.9, 0.55}, density = 1, "
          "stretch = 10 },",
          "\"line\"", "obstacle 1", "0.15 m");
  refused(HEAD3,
          "rigid { name = 'a', shape = sphere { center = {0.5, 0.5, 0.5}, radius = 0.1 }, "
          "density = 1 }, elastic { name = 's', shape = box { lo = {0.55, 0.3, 0.3}, hi = "
          "{0.9, 0.7, 0.7} }, density = 1000, young = 1e5 }",
          "\"a\"", "\"s\"", "0.05 m");
  CHECK_DONE();
}

static void test_taken(void **state)
{
  (void)state;
  taken(HEAD, BALL("a", 0.5, 0.1, 0.1) BALL("b", 0.7, 0.1, 0.1));
  taken(HEAD, BALL("a", 0.5, 0.0999, 0.1)); /* by a thousandth of its size */
  taken(HEAD, BALL("a", 0.5, 1.05, 0.1));   /* half of it beyond an open side */
  taken(HEAD, BLOCK("a", "0.2, 0", "0.4, 0.2") BLOCK("b", "0.2, 0.2", "0.4, 0.4"));
  taken(HEAD, SOFT("s", "0.2, 0", "0.6, 0.3") SOFT("q", "0.2, 0.3", "0.6, 0.6"));
  taken(HEAD, SOFT("s", "0.2, 0", "0.6, 0.3") BALL("a", 0.4, 0.4, 0.1));
  /* clamped inside a wall; a balloon around a ball; prescribed, from outside; without contact */
  taken(HEAD, "elastic { shape = box { lo = {-0.1, 0.4}, hi = {0.5, 0.5} }, density = 1000, "
              "young = 1e5, spacing = 0.05, fixed = box { lo = {-1, 0}, hi = {0.0001, 1} } },");
  taken(HEAD, "springs { shape = disk { center = {0.5, 0.5}, radius = 0.3 }, density = 1, stretch "
              "= 10 }," BALL("a", 0.5, 0.5, 0.1));
  taken(HEAD, "rigid { shape = disk { center = {0.5, 1.5}, radius = 0.1 }, density = 1, motion = "
              "motion { translate = {0, -1}, path = rate(1) } },");
  taken(HEAD, "rigid { shape = disk { center = {0.5, 0}, radius = 0.1 }, density = 1, collides = "
              "false }," SOFT("s", "0.2, 0", "0.8, 0.2"));
  taken(HEAD, "elastic { shape = box { lo = {0.2, -0.1}, hi = {0.6, 0.3} }, density = 1000, young "
              "= 1e5, collides = false },");
  CHECK_DONE();
}

/* A body that does not collide falls through the floor; a deformable one too. */
static void test_collides(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_model *model = NULL;
  mn_world *world = NULL;
  mn_step_info info;
  char text[2048];
  snprintf(text, sizeof text, "%s%s }, dynamics = dynamics { dt = 0.01 }, probes = { %s } }", HEAD,
           "rigid { name = 'a', shape = disk { center = {0.3, 0.1}, radius = 0.1 }, density = 1,"
           " collides = false },"
           "elastic { name = 's', shape = box { lo = {0.5, 0}, hi = {0.8, 0.3} }, density = 1000,"
           " young = 1e5, collides = false },"
           "springs { name = 'l', from = {0.5, 0.5}, to = {0.9, 0.5}, density = 1, stretch = 100,"
           " collides = false }",
           "position { of = 'a', axis = 'y' }, position { of = 's', axis = 'y' },"
           " position { of = 'l', axis = 'y' }");
  CHECK_OK(ctx, mn_scene_load_text(ctx, "t.lua", ".", text, NULL, 0, &model));
  CHECK_OK(ctx, mn_world_create(ctx, model, &world));
  while (mn_world_time(world) < 0.5)
    CHECK_OK(ctx, mn_world_step(world, 0.5, &info));
  double fall = 0.5 * 9.81 * 0.25, start[] = {0.1, 0.15, 0.5};
  for (int i = 0; i < 3; i++)
    CHECK_NEAR(mn_world_probe(world, i), start[i] - fall, 0.03);
  mn_world_destroy(&world);
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused), cmocka_unit_test(test_taken),
                                     cmocka_unit_test(test_collides)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
