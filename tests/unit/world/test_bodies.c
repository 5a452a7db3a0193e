/* Bodies in a world: from a scene's text to known motion, probes, checkpoints, and what is refused.
   The solvers have their own tests in tests/unit/solid. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "world/world.h"

static const char HEAD[] = "return scene { domain = box { size = {1, 1}, cells = {16, 16} }, ";

typedef struct run {
  mn_context *ctx;
  mn_model *model;
  mn_world *world;
} run;

static mn_status load(mn_context *ctx, const char *rest, mn_model **model)
{
  char text[4096];
  snprintf(text, sizeof text, "%s%s }", HEAD, rest);
  return mn_scene_load_text(ctx, "t.lua", ".", text, NULL, 0, model);
}

static run start(const char *rest)
{
  run r = {.ctx = check_context(2)};
  CHECK_OK(r.ctx, load(r.ctx, rest, &r.model));
  CHECK_OK(r.ctx, mn_world_create(r.ctx, r.model, &r.world));
  return r;
}

static void advance(run *r, double until)
{
  mn_step_info info;
  while (mn_world_time(r->world) < until)
    CHECK_OK(r->ctx, mn_world_step(r->world, until, &info));
}

static void end(run *r)
{
  mn_world_destroy(&r->world);
  mn_model_destroy(&r->model);
  mn_context_destroy(&r->ctx);
}

/* A disk falls: y = y0 - g t^2/2 and v = -g t, exact for both orders of the rigid rule. */
static void test_rigid_falls(void **state)
{
  (void)state;
  run r = start("solids = { rigid { name = 'd', shape = disk { center = {0.5, 0.8}, radius = 0.1 },"
                " density = 2, velocity = {0.1, 0}, spin = 3 } },"
                "dynamics = dynamics { dt = 0.01 },"
                "probes = { position { of = 'd', axis = 'y' }, position { of = 'd', axis = 'x' },"
                " body_velocity { of = 'd', axis = 'y' }, angle { of = 'd' }, body_energy {},"
                " area { of = 'd' }, position { of = 'd', at = {0.6, 0.8}, axis = 'y' } },"
                "output = { frames = 1, every = 0.2 }");
  double m = 2 * MN_PI * 0.01, e0 = 0.5 * m * 0.01 + 0.5 * (0.5 * m * 0.01) * 9;
  CHECK_NEAR(mn_world_probe(r.world, 4), e0, 1e-12);
  advance(&r, 0.2);
  CHECK_NEAR(mn_world_probe(r.world, 0), 0.8 - 0.5 * 9.81 * 0.04, 1e-12);
  CHECK_NEAR(mn_world_probe(r.world, 1), 0.52, 1e-12);
  CHECK_NEAR(mn_world_probe(r.world, 2), -9.81 * 0.2, 1e-12);
  CHECK_NEAR(mn_world_probe(r.world, 3), 0.6, 1e-9);
  CHECK_NEAR(mn_world_probe(r.world, 5), MN_PI * 0.01, 1e-12);
  CHECK_NEAR(mn_world_probe(r.world, 6), 0.8 - 0.5 * 9.81 * 0.04 + 0.1 * sin(0.6), 1e-9);
  end(&r);
  CHECK_DONE();
}

/* Momenta of a step: m v, and I w + m x cross v about the origin, of a rigid and an elastic body.
 */
static void test_momenta(void **state)
{
  (void)state;
  run r = start("solids = { rigid { name = 'd', shape = disk { center = {0.5, 0.8}, radius = 0.1 },"
                " density = 2, velocity = {0.1, 0.2}, spin = 3 },"
                " elastic { name = 'e', shape = box { lo = {0.1, 0.2}, hi = {0.3, 0.4} },"
                " young = 1e3, density = 5, velocity = {0, 0.3} } },"
                "dynamics = dynamics { dt = 0.01, gravity = {0, 0} },"
                "output = { frames = 1, every = 0.2 }");
  mn_step_info info;
  double m = 2 * MN_PI * 0.01, e = 5 * 0.04;
  for (int n = 0; n < 5; n++)
    CHECK_OK(r.ctx, mn_world_step(r.world, 1, &info));
  CHECK_NEAR(info.body_momentum.x, 0.1 * m, 1e-12);
  CHECK_NEAR(info.body_momentum.y, 0.2 * m + 0.3 * e, 1e-12);
  CHECK_NEAR(info.body_angular.z, m * (0.5 * 0.01 * 3 + 0.5 * 0.2 - 0.8 * 0.1) + e * 0.2 * 0.3,
             1e-11);
  CHECK(info.body_angular.x == 0 && info.body_angular.y == 0);
  end(&r);
  CHECK_DONE();
}

/* A ball that falls on the domain's floor stays there. */
static void test_floor_holds(void **state)
{
  (void)state;
  run r =
      start("solids = { rigid { name = 'd', shape = disk { center = {0.5, 0.15}, radius = 0.1 },"
            " density = 2 } }, dynamics = dynamics { dt = 0.01 },"
            "probes = { position { of = 'd', axis = 'y' }, force { of = 'd', axis = 'y' } },"
            "output = { frames = 1, every = 1 }");
  advance(&r, 1);
  CHECK_NEAR(mn_world_probe(r.world, 0), 0.1, 2e-3);
  CHECK_NEAR(mn_world_probe(r.world, 1), 2 * MN_PI * 0.01 * 9.81, 1e-3); /* its weight */
  end(&r);
  r = start("solids = { rigid { name = 'd', shape = disk { center = {0.5, 0.15}, radius = 0.1 },"
            " density = 2 } }, dynamics = dynamics { dt = 0.01, contact = false },"
            "probes = { position { of = 'd', axis = 'y' } }, output = { frames = 1, every = 1 }");
  advance(&r, 1); /* control: without contact it is gone */
  CHECK_LE(mn_world_probe(r.world, 0), -4);
  end(&r);
  CHECK_DONE();
}

/* So does an elastic one; its middle sinks a little. */
static void test_elastic_lands(void **state)
{
  (void)state;
  run r = start("solids = { elastic { name = 'd', shape = disk { center = {0.5, 0.2}, radius = 0.1 "
                "}, spacing = 0.03, density = 1000, young = 4e4, damping_stiffness = 0.02 } },"
                "dynamics = dynamics { dt = 0.01 }, probes = { position { of = 'd', axis = 'y' },"
                " volume_ratio { of = 'd' } }, output = { frames = 1, every = 1 }");
  advance(&r, 1);
  CHECK_NEAR(mn_world_probe(r.world, 0), 0.095, 0.006);
  CHECK_GE(mn_world_probe(r.world, 1), 0.3);
  end(&r);
  CHECK_DONE();
}

/* A slider on a spring swings with 2 pi sqrt(m/k). */
static void test_slider(void **state)
{
  (void)state;
  run r = start(
      "solids = { rigid { name = 'p', shape = box { lo = {0.4, 0.4}, hi = {0.6, 0.6} },"
      " density = 25, joint = 'slider', joint_axis = {0, 1}, velocity = {0, 0.5},"
      " spring = 40 } },"
      "dynamics = dynamics { dt = 0.002, gravity = {0, 0}, contact = false },"
      "probes = { position { of = 'p', axis = 'y' }, body_velocity { of = 'p', axis = 'y' } },"
      "output = { frames = 1, every = 1 }");
  double period = 2 * MN_PI * sqrt(1.0 / 40);
  advance(&r, period);
  CHECK_NEAR(mn_world_probe(r.world, 0), 0.5, 1e-4);
  CHECK_NEAR(mn_world_probe(r.world, 1), 0.5, 1e-4);
  advance(&r, 1.5 * period);
  CHECK_NEAR(mn_world_probe(r.world, 1), -0.5, 1e-4);
  end(&r);
  CHECK_DONE();
}

static const char BAR[] =
    "solids = { elastic { name = 'bar', shape = box { lo = {0.2, 0.5}, hi = {0.8, 0.6} },"
    " spacing = 0.05, order = 2, young = 1e5, density = 1000,"
    " fixed = box { lo = {0, 0}, hi = {0.2001, 1} } },"
    " springs { name = 'line', from = {0.1, 0.9}, to = {0.5, 0.9}, spacing = 0.05, density = 0.2,"
    " stretch = 500, bend = 0.1, fixed = disk { center = {0.1, 0.9}, radius = 0.01 } } },"
    "dynamics = dynamics { dt = 0.01, contact = false },"
    "probes = { position { of = 'bar', at = {0.8, 0.55}, axis = 'y' }, stretch { of = 'line' },"
    " volume_ratio { of = 'bar' }, area { of = 'bar' }, body_energy {} },"
    "output = { frames = 4, every = 0.05 }";

/* A checkpoint in the middle gives the same bits. */
static void test_checkpoint(void **state)
{
  (void)state;
  char path[128];
  snprintf(path, sizeof path, "%s/one", check_folder);
  run a = start(BAR), b = start(BAR);
  CHECK_NEAR(mn_world_probe(a.world, 3), 0.06, 1e-12);
  advance(&a, 0.1);
  CHECK_OK(a.ctx, mn_world_save(a.world, path));
  CHECK_OK(b.ctx, mn_world_load(b.world, path));
  CHECK(mn_world_hash(a.world) == mn_world_hash(b.world));
  advance(&a, 0.2);
  CHECK(mn_world_hash(a.world) != mn_world_hash(b.world)); /* control */
  advance(&b, 0.2);
  CHECK(mn_world_hash(a.world) == mn_world_hash(b.world));
  CHECK_LE(mn_world_probe(a.world, 0), 0.545); /* it hangs down */
  CHECK_GE(mn_world_probe(a.world, 1), 1);
  CHECK_GE(mn_world_probe(a.world, 2), 0.5);
  end(&a);
  end(&b);
  CHECK_DONE();
}

/* The same of a body that is faster than the fluid, and says how long substeps are: it is beyond
 * the box. */
static void test_fast_checkpoint(void **state)
{
  (void)state;
  static const char FAST[] =
      "fluid = smoke {}, solids = { rigid { name = 'd', density = 1000, velocity = {0, 8},"
      " shape = disk { center = {0.5, 2}, radius = 0.1 } } },"
      "dynamics = dynamics { contact = false, check_start = false },"
      "coupling = couple { method = 'xpm' },"
      "output = { frames = 10, every = 0.05 }";
  char path[128];
  snprintf(path, sizeof path, "%s/fast", check_folder);
  run a = start(FAST), b = start(FAST);
  advance(&a, 0.15);
  CHECK_OK(a.ctx, mn_world_save(a.world, path));
  CHECK_OK(b.ctx, mn_world_load(b.world, path));
  mn_step_info of_a, of_b;
  CHECK_OK(a.ctx, mn_world_step(a.world, 0.2, &of_a));
  CHECK_OK(b.ctx, mn_world_step(b.world, 0.2, &of_b));
  printf("substeps of %.6f and, resumed, %.6f s\n", of_a.dt, of_b.dt);
  CHECK(of_a.dt == of_b.dt);
  CHECK_LE(of_a.dt, 0.049); /* the body's speed has a say */
  CHECK(mn_world_hash(a.world) == mn_world_hash(b.world));
  end(&a);
  end(&b);
  CHECK_DONE();
}

static void test_refused(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static const struct {
    const char *rest, *words;
  } cases[] = {
      {"solids = { rigid { shape = disk { center = {0,0}, radius = 1 } } }", "density: missing"},
      {"solids = { elastic { density = 1, young = 1 } }, dynamics = dynamics { contact = false }",
       "exactly one"},
      {"solids = { shell { density = 1, young = 1, thickness = 1, shape = disk { center = {0,0},"
       " radius = 1 } } }",
       "3D only"},
      {"solids = { springs { density = 1, stretch = 1, from = {0, 0} } }", "together"},
      {"solids = { dynamics {} }", "allowed: obstacle"},
      {"solids = { rigid { density = 1, shape = disk { center = {0,0}, radius = 1 }, spring = 1 } "
       "}",
       "slider"},
      {"solids = { rigid { name = 'a', density = 1, shape = disk { center = {0,0}, radius = 1 } } "
       "},"
       "probes = { stretch { of = 'a' } }",
       "rigid body has none"},
      {"solids = { rigid { name = 'a', density = 1, shape = disk { center = {0,0}, radius = 1 } } "
       "},"
       "probes = { position { of = 'b', axis = 'x' } }",
       "name of a body"},
      {"solids = { rigid { density = 1, shape = disk { center = {0,0}, radius = 1 } } },"
       "probes = { pressure { at = {0.5, 0.5} } }",
       "has none"},
      {"fluid = smoke {}, coupling = couple { tolerance = 0 },"
       "solids = { rigid { density = 1, shape = disk { center = {0.5, 0.5}, radius = 0.1 } } }",
       "coupling.tolerance"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mn_model *model = NULL;
    CHECK_FAILS(ctx, load(ctx, cases[i].rest, &model), MN_BAD_INPUT, cases[i].words);
  }
  /* found when the bodies are made */
  static const struct {
    const char *rest, *words;
  } late[] = {
      {"solids = { elastic { name = 'e', density = 1, young = 1, shape = disk { center = {0.5, "
       "0.5},"
       " radius = 0.2 }, fixed = disk { center = {9, 9}, radius = 0.1 } } }, dynamics = dynamics { "
       "contact = false }",
       "none of its nodes"},
      {"solids = { elastic { name = 'e', density = 1, young = 1, file = 'nowhere.msh' } }, "
       "dynamics = dynamics { contact = false }",
       "body \"e\""},
  };
  for (size_t i = 0; i < sizeof late / sizeof *late; i++) {
    mn_model *model;
    mn_world *world;
    CHECK_OK(ctx, load(ctx, late[i].rest, &model));
    CHECK_FAILS(ctx, mn_world_create(ctx, model, &world), MN_BAD_INPUT, late[i].words);
    CHECK(!world);
    mn_model_destroy(&model);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_momenta),         cmocka_unit_test(test_rigid_falls),
      cmocka_unit_test(test_floor_holds),     cmocka_unit_test(test_elastic_lands),
      cmocka_unit_test(test_slider),          cmocka_unit_test(test_checkpoint),
      cmocka_unit_test(test_fast_checkpoint), cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, check_folder_make, check_folder_remove);
}
