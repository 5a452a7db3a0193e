/* coupling.method = "auto": the table of decisions, and what a world makes of it: what it picks and
   why, and that picking leaves no trace in the state. */
#include "check.h"
#include "couple/pick.h"
#include "la/sparse_lu.h"
#include "meniscus/scene.h"
#include "world/world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void test_table(void **state)
{
  (void)state;
  static const struct {
    mn_coupling_facts facts;
    mn_coupling_method method;
    const char *why;
  } table[] = {
      {{.black_box = "solid \"piston\"", .mu = NAN}, MN_COUPLE_XPM, "piston"},
      {{.black_box = "fluid \"mine\"", .mu = 1e-6}, MN_COUPLE_XPM, "mine"},
      {{.mu = 1e-6}, MN_COUPLE_XPM, "must agree"}, /* it may close a region yet */
      {{.mu = 0.011}, MN_COUPLE_XPM, "0.011"},
      {{.mu = 1000}, MN_COUPLE_XPM, "must agree"},
      {{.mu = NAN}, MN_COUPLE_XPM, "nothing is known"},
      {{.mu = 1e-6, .closed_regions = 2}, MN_COUPLE_XPM, "2 closed regions"},
      {{.mu = 10, .closed_regions = 1}, MN_COUPLE_XPM, "1 closed region"},
      {{.mu = 0}, MN_COUPLE_WEAK, "gives way"},
      {{.mu = 0, .released = 1}, MN_COUPLE_XPM, "let go later"},
      {{.mu = 0, .released = 1, .separating = 1}, MN_COUPLE_MONOLITHIC, "let go later"},
      {{.mu = 10, .dim = 2, .cells = 20000, .direct = 1}, MN_COUPLE_MONOLITHIC, "one system"},
      {{.mu = 10, .dim = 2, .cells = 20001, .direct = 1}, MN_COUPLE_XPM, "must agree"},
      {{.mu = 10, .dim = 3, .cells = 4000, .direct = 1}, MN_COUPLE_MONOLITHIC, "4000 cells"},
      {{.mu = 10, .dim = 3, .cells = 4096, .direct = 1}, MN_COUPLE_XPM, "must agree"},
      {{.mu = 1, .dim = 2, .cells = 100, .direct = 1}, MN_COUPLE_XPM, "must agree"},
      {{.mu = 10, .dim = 2, .cells = 100}, MN_COUPLE_XPM, "must agree"}, /* no direct solver */
      {{.mu = 10, .dim = 2, .cells = 100, .direct = 1, .separating = 1},
       MN_COUPLE_MONOLITHIC,
       "can leave"},
      {{.mu = 10, .dim = 3, .cells = 1e6, .separating = 1}, MN_COUPLE_MONOLITHIC, "can leave"},
      {{.mu = 0.9, .dim = 2, .cells = 100, .separating = 1}, MN_COUPLE_XPM, "must agree"},
      {{.mu = 10, .dim = 2, .cells = 100, .direct = 1, .closed_regions = 1},
       MN_COUPLE_XPM,
       "enclose"},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    char why[MN_WHY_MAX] = "";
    mn_coupling_method method = mn_coupling_pick(&table[i].facts, why);
    printf("  %-8s %s\n", mn_coupling_method_name(method), why);
    CHECK(method == table[i].method);
    CHECK(strstr(why, table[i].why) != NULL);
  }
  CHECK_DONE();
}

/* A world of one body in a box of smoke, 1 m wide, with this coupling. */
static mn_world *open_world(mn_context *ctx, const char *coupling, const char *solids,
                            mn_model **model)
{
  char text[2000];
  mn_world *world = NULL;
  snprintf(text, sizeof text,
           "return scene { domain = box { size = {1, 1}, cells = {20, 20}, top = 'open' },\n"
           "  fluid = smoke { density = 1, gravity = {0, 0} }, solids = { %s },\n"
           "  sources = { inflow { shape = box { lo = {0.4, -1}, hi = {0.6, 0.1} },\n"
           "                       velocity = {0, 1} } },\n"
           "  coupling = couple { method = '%s', tolerance = 1e-3 },\n"
           "  dynamics = dynamics { gravity = {0, 0}, dt = 0.02, check_start = false },\n"
           "  output = { frames = 100, every = 0.02 } }",
           solids, coupling);
  CHECK_OK(ctx, mn_scene_load_text(ctx, "test", "", text, NULL, 0, model));
  CHECK_OK(ctx, mn_world_create(ctx, *model, &world));
  return world;
}

#define DISK(density)                                                                              \
  "rigid { density = " density ", shape = disk { center = {0.5, 0.5}, radius = 0.1 } }"
#define BALLOON                                                                                    \
  "rod { shape = disk { center = {0.5, 0.5}, radius = 0.2 }, density = 0.1, stretch = 10, "        \
  "bend = 1e-4 }"
#define PISTON                                                                                     \
  "rigid { density = 3, joint = 'slider', joint_axis = {0, 1}, "                                   \
  "shape = box { lo = {-0.2, 0.5}, hi = {1.2, 0.7} } }"

#define LID "obstacle { shape = box { lo = {-1, 0.9}, hi = {2, 2} } }, "

static void test_worlds(void **state)
{
  (void)state;
  const struct {
    const char *solids, *method, *why;
  } table[] = {
      {DISK("1000"), "xpm", "0.001 of them"}, /* a disk moves its own area of fluid: exact */
      {DISK("50"), "xpm", "0.02 of them"},
      {DISK("0.1"), mn_lu_available() ? "monolithic" : "xpm", "about 10 "},
      {BALLOON, "xpm", "1 closed region"},
      {PISTON, "xpm", "1 closed region"},
      /* a rigid body does not make room in a sealed box, a skin does */
      {LID DISK("0.1"), mn_lu_available() ? "monolithic" : "xpm", "about 10 "},
      {LID BALLOON, "xpm", "2 closed regions"},
  };
  mn_context *ctx = check_context(1);
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    mn_model *model = NULL;
    const char *why, *method;
    mn_world *world = open_world(ctx, "auto", table[i].solids, &model);
    method = mn_world_coupling(world, &why);
    printf("  %-8s %s\n", method, why);
    CHECK(!strcmp(method, table[i].method));
    CHECK(strstr(why, table[i].why) != NULL);
    CHECK_NEAR(world->how.tolerance, 1e-3, 0); /* the scene's keys count */
    mn_world_destroy(&world);
    mn_model_destroy(&model);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* The survey begins a substep and takes it back: bits are those of the method named outright. */
static void test_no_trace(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  uint64_t hash[2][2];
  for (int picked = 0; picked < 2; picked++) {
    mn_model *model = NULL;
    mn_world *world = open_world(ctx, picked ? "auto" : "xpm", BALLOON, &model);
    hash[picked][0] = mn_world_hash(world);
    for (int f = 0; f < 3; f++)
      CHECK_OK(ctx, mn_world_next_frame(world));
    hash[picked][1] = mn_world_hash(world);
    mn_world_destroy(&world);
    mn_model_destroy(&model);
  }
  CHECK(hash[0][0] == hash[1][0]);
  CHECK(hash[0][1] == hash[1][1]);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* What nobody picked is not told, and a coupling itself knows no "auto". */
static void test_named(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_model *model = NULL;
  const char *why;
  mn_world *world = open_world(ctx, "rmi", DISK("1"), &model);
  CHECK(!strcmp(mn_world_coupling(world, &why), "rmi") && !*why);
  mn_coupling_def def = mn_coupling_def_default(MN_COUPLE_AUTO, 0);
  mn_coupling *coupling;
  CHECK_FAILS(ctx, mn_coupling_create(ctx, &def, 2, 0.05, world->fluid, world->solid, &coupling),
              MN_BAD_INPUT, "auto");
  mn_world_destroy(&world);
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_worlds),
                                     cmocka_unit_test(test_no_trace), cmocka_unit_test(test_named)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
