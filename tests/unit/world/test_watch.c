/* Warnings about bodies that the fluid cannot see: small, thin, without surface, gone. Once each,
   with name and size; none about bodies that are fine. */
#include "check.h"
#include "meniscus/scene.h"
#include "world/world.h"

#include <stdio.h>
#include <string.h>

typedef struct heard {
  int count;
  char text[8][400];
} heard;

static void hear(void *user, mn_log_level level, const char *text)
{
  heard *h = user;
  if (level != MN_LOG_WARNING || h->count == 8)
    return;
  snprintf(h->text[h->count++], sizeof *h->text, "%s", text);
}

/* Warnings of a scene with these solids, after so many frames. */
static heard run_in(int dim, const char *kind, const char *solids, int frames)
{
  heard h = {0};
  char text[2000];
  mn_context_def def = mn_context_def_default();
  mn_context *ctx;
  mn_model *model;
  mn_world *world;
  def.log = hear;
  def.log_user = &h;
  assert_int_equal(mn_context_create(&def, &ctx), MN_OK);
  snprintf(text, sizeof text,
           "return scene { domain = box { size = %s, cells = %s, top = 'open' },\n"
           "  fluid = %s, solids = { %s }, dynamics = dynamics { gravity = %s, dt = 0.05 },\n"
           "  output = { frames = 100, every = 0.05 } }",
           dim == 2 ? "{1, 1}" : "{1, 1, 1}", dim == 2 ? "{20, 20}" : "{8, 8, 8}", kind, solids,
           dim == 2 ? "{0, 0}" : "{0, 0, 0}");
  CHECK_OK(ctx, mn_scene_load_text(ctx, "test", "", text, NULL, 0, &model));
  CHECK_OK(ctx, mn_world_create(ctx, model, &world));
  for (int i = 0; i < frames; i++)
    CHECK_OK(ctx, mn_world_next_frame(world));
  mn_world_destroy(&world);
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  for (int i = 0; i < h.count; i++)
    printf("  %s\n", h.text[i]);
  return h;
}

static heard run(const char *kind, const char *solids, int frames)
{
  return run_in(2, kind, solids, frames);
}

#define SMOKE "smoke { density = 1, gravity = {0, 0} }"
#define AIR "smoke { density = 1 }"
#define LINE "from = {0.5, 0.9, 0.5}, to = {0.5, 0.3, 0.5}, spacing = 0.1, density = 1"
#define HEARD(h, i, words) CHECK((h).count > (i) && strstr((h).text[i], words) != NULL)

static void test_small(void **state)
{
  (void)state;
  heard h = run(
      SMOKE,
      "rigid { name = 'crumb', density = 1, shape = disk { center = {0.5, 0.5}, radius = 0.02 } }",
      2);
  CHECK(h.count == 1);
  HEARD(h, 0, "body \"crumb\" is 0.041 m long, and a cell is 0.05 m wide");
  h = run(SMOKE,
          "rigid { name = 'sheet', density = 1, shape = transform { translate = {0.5, 0.5}, angle "
          "= 0.5,\n"
          "  shape = box { center = {0, 0}, size = {0.4, 0.02} } } }",
          2);
  CHECK(h.count == 1);
  HEARD(h, 0, "body \"sheet\" is about 0.02 m thick");
  h = run(
      SMOKE,
      "rigid { name = 'ball', density = 1, shape = disk { center = {0.5, 0.5}, radius = 0.1 } },\n"
      "rod { name = 'cloth', from = {0.2, 0.2}, to = {0.8, 0.2}, density = 1, stretch = 20 }",
      1);
  CHECK(h.count == 0);
  CHECK_DONE();
}

/* Curves in 3D have no surface; cloth and tubes do, and without a fluid nothing is missing. */
static void test_no_surface(void **state)
{
  (void)state;
  static const struct {
    const char *fluid, *solid, *says;
  } cases[] = {{AIR, "rod { name = 'reed', " LINE ", stretch = 10, bend = 1e-3 }",
                "body \"reed\" is a rod in 3D, which has no surface: it feels no fluid"},
               {AIR, "rod { " LINE ", stretch = 10, bend = 1e-3 }", "body 1 is a rod in 3D"},
               {"water { initial_water = box { lo = {0, 0, 0}, hi = {1, 0.5, 1} } }",
                "springs { name = 'string', " LINE ", stretch = 10 }",
                "body \"string\" is a curve in 3D, which has no surface"},
               {"nil", "rod { name = 'reed', " LINE ", stretch = 10, bend = 1e-3 }", NULL},
               {AIR, "shell { " LINE ", radius = 0.1, young = 1e4, thickness = 0.01 }", NULL},
               {AIR,
                "springs { corner = {0.2, 0.5, 0.2}, along = {0.6, 0, 0}, across = {0, 0, 0.6},"
                " spacing = 0.1, density = 1, stretch = 10 }",
                NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    heard h = run_in(3, cases[i].fluid, cases[i].solid, 0);
    CHECK(h.count == (cases[i].says != NULL));
    if (cases[i].says)
      HEARD(h, 0, cases[i].says);
  }
  CHECK_DONE();
}

static void test_gone(void **state)
{
  (void)state;
  const char *ball = "rigid { name = 'ball', density = 5, velocity = {0, 4}, shape = disk { center "
                     "= {0.5, 0.8}, radius = 0.1 } }";
  heard h = run(SMOKE, ball, 5);
  CHECK(h.count == 1);
  HEARD(h, 0, "body \"ball\" has left the domain: outside there is fluid at rest");
  h = run("water { gravity = {0, 0}, initial_water = box { lo = {-1, -1}, hi = {2, 0.3} } }", ball,
          5);
  CHECK(h.count == 1);
  HEARD(h, 0, "nothing acts on it but gravity");
  CHECK(run(SMOKE, ball, 1).count == 0); /* not yet */
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_small), cmocka_unit_test(test_no_surface), cmocka_unit_test(test_gone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
