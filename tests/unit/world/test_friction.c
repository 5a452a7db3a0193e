/* Friction of all kinds of bodies on a slope of tan = 1/2 in scenes: mu below it slides with
   g (sin - mu cos), above it sticks; of a pair the geometric mean counts. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "world/world.h"

static const double TAN = 0.5;

/* How far the body has slid down after T; the slope is an obstacle, the body `solid` has friction
   f in its text. */
static double slide(int dim, const char *solid, double body, double slope, double dt, double T)
{
  char text[4096], made[2048];
  mn_context *ctx = check_context(1);
  mn_model *model = NULL;
  mn_world *world = NULL;
  mn_step_info info;
  snprintf(made, sizeof made, solid, body);
  snprintf(text, sizeof text,
           "local down = {%s}\n"
           "return scene { domain = box { size = {%s}, cells = {%s}, origin = {%s}, left = 'open',"
           " right = 'open', bottom = 'open', top = 'open' },"
           "solids = { obstacle { shape = half_space { point = {%s}, normal = {%s} },"
           " friction = %.17g }, %s }, dynamics = dynamics { dt = %g, gravity = {%s} },"
           "probes = { position { of = 'a', axis = 'x' }, position { of = 'a', axis = 'y' } } }",
           dim == 2 ? "1, 0" : "1, 0, 0", dim == 2 ? "8, 4" : "8, 4, 4",
           dim == 2 ? "64, 32" : "32, 16, 16", dim == 2 ? "-4, -2" : "-4, -2, -2",
           dim == 2 ? "0, 0" : "0, 0, 0", dim == 2 ? "0, 1" : "0, 1, 0", slope, made, dt,
           dim == 2 ? "9.81 / math.sqrt(5), -2 * 9.81 / math.sqrt(5)"
                    : "9.81 / math.sqrt(5), -2 * 9.81 / math.sqrt(5), 0");
  CHECK_OK(ctx, mn_scene_load_text(ctx, "t.lua", ".", text, NULL, 0, &model));
  CHECK_OK(ctx, mn_world_create(ctx, model, &world));
  double x0 = mn_world_probe(world, 0);
  while (mn_world_time(world) < T - 1e-9)
    CHECK_OK(ctx, mn_world_step(world, T, &info));
  double x = mn_world_probe(world, 0) - x0;
  mn_world_destroy(&world);
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  return x;
}

static double acceleration(double mu)
{
  return 9.81 * (TAN - mu) / sqrt(1 + TAN * TAN);
}

#define RIGID(size)                                                                                \
  "rigid { name = 'a', shape = box { lo = {0, 0" size ", density = 500, friction = %.17g }"
static const char RIGID2[] = RIGID("}, hi = {0.4, 0.2} }");
static const char RIGID3[] = RIGID(", 0}, hi = {0.4, 0.2, 0.3} }");
static const char ELASTIC[] =
    "elastic { name = 'a', shape = box { lo = {0, 0.001}, hi = {0.4, 0.201} }, spacing = 0.1,"
    " density = 500, young = 1e6, damping_stiffness = 0.01, friction = %.17g }";
static const char SPRINGS[] =
    "springs { name = 'a', corner = {0, 0.001, 0}, along = {0.4, 0, 0}, across = {0, 0, 0.4},"
    " spacing = 0.1, density = 0.5, stretch = 50, bend = 0.1, stretch_damping = 0.1,"
    " friction = %.17g }";
static const char SHELL[] =
    "shell { name = 'a', corner = {0, 0.001, 0}, along = {0.4, 0, 0}, across = {0, 0, 0.4},"
    " spacing = 0.1, density = 500, thickness = 0.002, young = 1e5, friction = %.17g }";
static const char ROD[] =
    "rod { name = 'a', from = {0, 0.001}, to = {0.4, 0.001}, spacing = 0.1, density = 0.5,"
    " stretch = 100, bend = 1e-3, friction = %.17g }";

typedef struct kind {
  const char *name, *text;
  int dim;
  double slides, sticks; /* allowed: error of the way relative to it; creep in 1 s, m */
} kind;

static void test_slope(void **state)
{
  (void)state;
  static const kind kinds[] = {
      {"rigid, 2D", RIGID2, 2, 1e-3, 1e-6}, {"rigid, 3D", RIGID3, 3, 1e-3, 1e-6},
      {"elastic", ELASTIC, 2, 0.06, 2e-4},  {"springs", SPRINGS, 3, 0.015, 1e-6},
      {"shell", SHELL, 3, 0.015, 1e-6},     {"rod", ROD, 2, 0.015, 1e-6}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const kind *k = &kinds[i];
    double slow = slide(k->dim, k->text, 0.49, 0.49, 0.01, 1);
    double fast = slide(k->dim, k->text, 0.2, 0.2, 0.01, 1);
    double pair = slide(k->dim, k->text, 0.8, 0.2, 0.01, 1); /* 0.4 */
    double free = slide(k->dim, k->text, 0, 5, 0.01, 1);
    double stuck = slide(k->dim, k->text, 0.51, 0.51, 0.01, 1);
    printf("%-10s way over exact: mu 0.49 %.4f, 0.2 %.4f, sqrt(0.8 0.2) %.4f, 0 %.4f; mu 0.51 "
           "%.2e m\n",
           k->name, slow / (0.5 * acceleration(0.49)), fast / (0.5 * acceleration(0.2)),
           pair / (0.5 * acceleration(0.4)), free / (0.5 * acceleration(0)), stuck);
    CHECK_NEAR(slow / (0.5 * acceleration(0.49)), 1, k->slides);
    CHECK_NEAR(fast / (0.5 * acceleration(0.2)), 1, k->slides);
    CHECK_NEAR(pair / (0.5 * acceleration(0.4)), 1, k->slides);
    CHECK_NEAR(free / (0.5 * acceleration(0)), 1, k->slides);
    CHECK_LE(fabs(stuck), k->sticks);
  }
  CHECK_DONE();
}

/* Close to the angle of friction, rigid: 0.499 slides, 0.501 does not. */
static void test_close(void **state)
{
  (void)state;
  CHECK_NEAR(slide(2, RIGID2, 0.499, 0.499, 0.01, 1) / (0.5 * acceleration(0.499)), 1, 0.02);
  CHECK_LE(fabs(slide(2, RIGID2, 0.501, 0.501, 0.01, 1)), 1e-6);
  CHECK_DONE();
}

typedef struct probes {
  double x, top; /* m: how far, how high after the first touch */
} probes;

/* A box that slides with 1 m/s on the domain's floor, and a ball that falls 0.4 m beside it. */
static probes on_floor(const char *floor)
{
  char text[2048];
  mn_context *ctx = check_context(1);
  mn_model *model = NULL;
  mn_world *world = NULL;
  mn_step_info info;
  probes p = {0};
  snprintf(text, sizeof text,
           "return scene { domain = box { size = {4, 1}, cells = {64, 16}, %s }, solids = {"
           " rigid { name = 'a', shape = box { lo = {0.5, 0}, hi = {0.7, 0.1} }, density = 1,"
           " velocity = {1, 0}, friction = 0.4 },"
           " rigid { name = 'b', shape = disk { center = {3, 0.5}, radius = 0.1 }, density = 1 } },"
           " dynamics = dynamics { dt = 0.002 },"
           " probes = { position { of = 'a', axis = 'x' }, position { of = 'b', axis = 'y' },"
           " body_velocity { of = 'b', axis = 'y' } } }",
           floor);
  CHECK_OK(ctx, mn_scene_load_text(ctx, "t.lua", ".", text, NULL, 0, &model));
  CHECK_OK(ctx, mn_world_create(ctx, model, &world));
  int bounced = 0;
  while (mn_world_time(world) < 0.5 - 1e-9) {
    CHECK_OK(ctx, mn_world_step(world, 0.5, &info));
    bounced |= mn_world_probe(world, 2) > 0;
    if (bounced)
      p.top = fmax(p.top, mn_world_probe(world, 1) - 0.1);
  }
  p.x = mn_world_probe(world, 0) - 0.6;
  mn_world_destroy(&world);
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  return p;
}

static void test_walls(void **state)
{
  (void)state;
  probes p = on_floor("bottom = wall { kind = 'slip', friction = 0.9, restitution = 0.5 }");
  CHECK_NEAR(p.x, 1 / (2 * 9.81 * 0.6), 1e-3); /* v^2 / (2 g mu), mu = sqrt(0.4 0.9) */
  CHECK_NEAR(p.top, 0.25 * 0.4, 2e-3);
  p = on_floor("bottom = wall { kind = 'noslip', friction = 0 }");
  CHECK_NEAR(p.x, 0.5, 1e-9);
  CHECK_LE(p.top, 1e-3);
  p = on_floor("left = 'open'"); /* by default 0.3, no bounce */
  CHECK_NEAR(p.x, 1 / (2 * 9.81 * sqrt(0.12)), 1e-3);
  CHECK_LE(p.top, 1e-3);
  CHECK_DONE();
}

typedef struct ride {
  double x, v; /* m, m/s */
} ride;

/* A block, at rest at first, for T on a floor that runs to the right with `wall`. */
static ride on_belt(const char *wall, const char *body, double T)
{
  char text[2048];
  mn_context *ctx = check_context(1);
  mn_model *model = NULL;
  mn_world *world = NULL;
  mn_step_info info;
  snprintf(text, sizeof text,
           "return scene { domain = box { size = {4, 1}, cells = {64, 16}, bottom = wall { %s } },"
           " solids = { %s }, dynamics = dynamics { dt = 0.005 }, probes = {"
           " position { of = 'a', axis = 'x' }, body_velocity { of = 'a', axis = 'x' } } }",
           wall, body);
  CHECK_OK(ctx, mn_scene_load_text(ctx, "t.lua", ".", text, NULL, 0, &model));
  CHECK_OK(ctx, mn_world_create(ctx, model, &world));
  double x0 = mn_world_probe(world, 0);
  while (mn_world_time(world) < T - 1e-9)
    CHECK_OK(ctx, mn_world_step(world, T, &info));
  ride r = {mn_world_probe(world, 0) - x0, mn_world_probe(world, 1)};
  printf("belt { %s }: after %.2f s %.6f m, %.6f m/s\n", wall, T, r.x, r.v);
  mn_world_destroy(&world);
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  return r;
}

/* A side that moves along itself drags what lies on it with mu g up to its own speed; one that
   starts slower than that takes it along; one without friction does not. */
static void test_belt(void **state)
{
  (void)state;
  static const char block[] = "rigid { name = 'a', shape = box { lo = {0.5, 0}, hi = {0.9, 0.1} },"
                              " density = 500, friction = 0.4 }";
  static const char soft[] =
      "elastic { name = 'a', shape = box { lo = {0.5, 0}, hi = {0.9, 0.1} },"
      " spacing = 0.05, density = 500, young = 1e6, damping_stiffness = 0.01,"
      " friction = 0.4 }";
  double a = 0.4 * 9.81;
  ride r = on_belt("velocity = {1, 0}, friction = 0.4", block, 0.2);
  CHECK_NEAR(r.v / (a * 0.2), 1, 1e-6);
  CHECK_NEAR(r.x / (0.5 * a * 0.04), 1, 1e-6);
  r = on_belt("velocity = {1, 0}, friction = 0.4", block, 0.5);
  CHECK_NEAR(r.v, 1, 1e-6);
  CHECK_NEAR(r.x, 0.5 - 0.5 / a, 1e-3); /* slips for 1/a */
  r = on_belt("velocity = {1, 0}, friction = 0.4, ramp = linear(0.5)", block, 0.4);
  CHECK_NEAR(r.v, 0.8, 1e-6);
  CHECK_NEAR(r.x, 0.16, 1e-4);
  r = on_belt("velocity = {1, 0}, friction = 0", block, 0.5);
  CHECK_LE(fabs(r.x), 1e-12);
  r = on_belt("velocity = {1, 0}, friction = 0.4", soft, 0.2);
  CHECK_NEAR(r.v / (a * 0.2), 1, 0.01);
  r = on_belt("velocity = {1, 0}, friction = 0", soft, 0.2);
  CHECK_LE(fabs(r.v), 1e-6);
  CHECK_DONE();
}

/* Numbers that make no sense are refused. */
static void test_refused(void **state)
{
  (void)state;
  static const char *const bad[] = {
      "domain = box { size = {1, 1}, cells = {8, 8}, left = wall { friction = -1 } }",
      "domain = box { size = {1, 1}, cells = {8, 8}, left = wall { restitution = 1.5 } }",
      "domain = box { size = {1, 1}, cells = {8, 8} }, solids = { obstacle { shape = disk { center "
      "= {0, 0}, radius = 1 }, friction = -0.1 } }"};
  static const char *const words[] = {"friction", "restitution", "friction"};
  for (int i = 0; i < 3; i++) {
    char text[512];
    mn_context *ctx = check_context(1);
    mn_model *model = NULL;
    snprintf(text, sizeof text, "return scene { %s, fluid = smoke {} }", bad[i]);
    CHECK_FAILS(ctx, mn_scene_load_text(ctx, "t.lua", ".", text, NULL, 0, &model), MN_BAD_INPUT,
                words[i]);
    mn_context_destroy(&ctx);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_slope), cmocka_unit_test(test_close),
                                     cmocka_unit_test(test_walls), cmocka_unit_test(test_belt),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
