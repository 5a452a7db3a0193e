/* Bodies of all shapes that 3D scenes offer, files of every format among them: mass, motion, and
   that they stand on the floor. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "world/world.h"

typedef struct run {
  mn_context *ctx;
  mn_model *model;
  mn_world *world;
} run;

static mn_status load(mn_context *ctx, const char *solid, const char *rest, mn_model **model)
{
  char text[4096];
  snprintf(text, sizeof text,
           "return scene { domain = box { size = {2, 2, 2}, cells = {16, 16, 16} },"
           " solids = { %s }, %s }",
           solid, rest);
  return mn_scene_load_text(ctx, "t.lua", check_folder, text, NULL, 0, model);
}

static run start(const char *solid, const char *rest)
{
  run r = {.ctx = check_context(2)};
  CHECK_OK(r.ctx, load(r.ctx, solid, rest, &r.model));
  CHECK_OK(r.ctx, mn_world_create(r.ctx, r.model, &r.world));
  return r;
}

static void end(run *r)
{
  mn_world_destroy(&r->world);
  mn_model_destroy(&r->model);
  mn_context_destroy(&r->ctx);
}

/* Free, without weight, at 0.5 m/s along x: mass by the momentum, and the angular momentum. */
static double mass_of(const char *solid, double *angular)
{
  run r = start(solid, "dynamics = dynamics { dt = 0.01, gravity = {0, 0, 0}, contact = false },"
                       " output = { frames = 1, every = 0.1 }");
  mn_step_info info;
  for (int n = 0; n < 3; n++)
    CHECK_OK(r.ctx, mn_world_step(r.world, 1, &info));
  double mass = info.body_momentum.x / 0.5;
  if (angular)
    *angular = info.body_angular.y - mass * 0.5; /* without that of the centre, z p_x at z = 1 */
  end(&r);
  return mass;
}

static void test_masses(void **state)
{
  (void)state;
  double L, m;
  m = mass_of("rigid { shape = cylinder { a = {1, 0.5, 1}, b = {1, 1.5, 1}, radius = 0.4 },"
              " density = 100, velocity = {0.5, 0, 0}, spin = {0, 3, 0} }",
              &L);
  CHECK_NEAR(m, 100 * MN_PI * 0.16, 1e-10);
  CHECK_NEAR(L, 3 * m * 0.16 / 2, 1e-8);
  m = mass_of("rigid { shape = cylinder { a = {1, 0.5, 1}, b = {1, 1.5, 1}, radius = 0.4,"
              " inner = 0.3 }, density = 100, velocity = {0.5, 0, 0}, spin = {0, 3, 0} }",
              &L);
  CHECK_NEAR(m, 100 * MN_PI * 0.07, 1e-10);
  CHECK_NEAR(L, 3 * m * 0.25 / 2, 1e-8);
  m = mass_of("elastic { shape = cylinder { a = {1, 0.5, 1}, b = {1, 1.5, 1}, radius = 0.4 },"
              " spacing = 0.1, young = 1e4, density = 100, velocity = {0.5, 0, 0} }",
              NULL);
  CHECK_NEAR(m, 100 * 0.16 * MN_PI, 1e-8); /* its elements, of 24 sides, have 1 % less volume */
  m = mass_of(
      "elastic { shape = cylinder { a = {1, 0.5, 1}, b = {1.6, 1.3, 1}, radius = 0.4,"
      " inner = 0.3 }, spacing = 2.2/24, young = 1e4, density = 100, velocity = {0.5, 0, 0} }",
      NULL);
  CHECK_NEAR(m, 100 * 0.07 * MN_PI, 1e-8);
  m = mass_of("shell { from = {1, 0.5, 1}, to = {1, 1.5, 1}, radius = 0.4, spacing = 0.105,"
              " thickness = 0.01, young = 1e4, density = 100, velocity = {0.5, 0, 0} }",
              NULL);
  CHECK_NEAR(m, 100 * 0.01 * 24 * 2 * 0.4 * sin(MN_PI / 24), 1e-8);
  m = mass_of("springs { from = {1, 0.5, 1}, to = {1.6, 1.3, 1}, radius = 0.4, spacing = 0.105,"
              " stretch = 10, density = 2, velocity = {0.5, 0, 0} }",
              NULL);
  CHECK_NEAR(m, 2 * 24 * 2 * 0.4 * sin(MN_PI / 24), 1e-8);
  CHECK_DONE();
}

/* Cylinders and tubes, upright and lying, rest on the floor. */
static void test_standing(void **state)
{
  (void)state;
  static const char *const shape[4] = {
      "cylinder { a = {1, 0, 1}, b = {1, 0.6, 1}, radius = 0.3 }",
      "cylinder { a = {1, 0, 1}, b = {1, 0.6, 1}, radius = 0.3, inner = 0.2 }",
      "cylinder { a = {0.7, 0.3, 1}, b = {1.3, 0.3, 1}, radius = 0.3 }",
      "cylinder { a = {0.7, 0.3, 1}, b = {1.3, 0.3, 1}, radius = 0.3, inner = 0.2 }"};
  for (int i = 0; i < 4; i++) {
    char solid[512];
    snprintf(solid, sizeof solid, "rigid { name = 'c', shape = %s, density = 100 }", shape[i]);
    run r = start(solid, "dynamics = dynamics { dt = 0.01 },"
                         " probes = { position { of = 'c', axis = 'y' }, angle { of = 'c' } },"
                         " output = { frames = 1, every = 0.5 }");
    mn_step_info info;
    while (mn_world_time(r.world) < 0.5)
      CHECK_OK(r.ctx, mn_world_step(r.world, 0.5, &info));
    CHECK_NEAR(mn_world_probe(r.world, 0), 0.3, 1e-3);
    CHECK_LE(fabs(mn_world_probe(r.world, 1)), 1e-2);
    end(&r);
  }
  CHECK_DONE();
}

/* ---- files ----------------------------------------------------------------------------------- */

static const double BOX[8][3] = {{0.5, 0.5, 0.5}, {1.5, 0.5, 0.5}, {1.5, 1, 0.5}, {0.5, 1, 0.5},
                                 {0.5, 0.5, 1.1}, {1.5, 0.5, 1.1}, {1.5, 1, 1.1}, {0.5, 1, 1.1}};
static const int TRIANGLE[12][3] = {{0, 2, 1}, {0, 3, 2}, {4, 5, 6}, {4, 6, 7},
                                    {0, 1, 5}, {0, 5, 4}, {1, 2, 6}, {1, 6, 5},
                                    {2, 3, 7}, {2, 7, 6}, {3, 0, 4}, {3, 4, 7}};

static void write_files(int triangles)
{
  char path[128];
  snprintf(path, sizeof path, "%s/box.obj", check_folder);
  FILE *f = fopen(path, "w");
  for (int i = 0; i < 8; i++)
    fprintf(f, "v %g %g %g\n", BOX[i][0], BOX[i][1], BOX[i][2]);
  for (int t = 0; t < triangles; t++)
    fprintf(f, "f %d %d %d\n", TRIANGLE[t][0] + 1, TRIANGLE[t][1] + 1, TRIANGLE[t][2] + 1);
  fclose(f);
  snprintf(path, sizeof path, "%s/box.ply", check_folder);
  f = fopen(path, "w");
  fprintf(f,
          "ply\nformat ascii 1.0\nelement vertex 8\nproperty double x\nproperty double y\n"
          "property double z\nelement face %d\nproperty list uchar int vertex_indices\n"
          "end_header\n",
          triangles);
  for (int i = 0; i < 8; i++)
    fprintf(f, "%g %g %g\n", BOX[i][0], BOX[i][1], BOX[i][2]);
  for (int t = 0; t < triangles; t++)
    fprintf(f, "3 %d %d %d\n", TRIANGLE[t][0], TRIANGLE[t][1], TRIANGLE[t][2]);
  fclose(f);
  snprintf(path, sizeof path, "%s/box.stl", check_folder);
  f = fopen(path, "w");
  fprintf(f, "solid box\n");
  for (int t = 0; t < triangles; t++) {
    fprintf(f, "facet normal 0 0 0\nouter loop\n");
    for (int c = 0; c < 3; c++) {
      const double *x = BOX[TRIANGLE[t][c]];
      fprintf(f, "vertex %g %g %g\n", x[0], x[1], x[2]);
    }
    fprintf(f, "endloop\nendfacet\n");
  }
  fprintf(f, "endsolid box\n");
  fclose(f);
}

static void test_files(void **state)
{
  (void)state;
  static const char *const ending[3] = {"obj", "ply", "stl"};
  char solid[512];
  for (int i = 0; i < 3; i++) {
    double L, filled;
    write_files(12);
    snprintf(solid, sizeof solid,
             "rigid { shape = mesh { file = 'box.%s' }, density = 100, velocity = {0.5, 0, 0} }",
             ending[i]);
    CHECK_NEAR(mass_of(solid, &L), 30, 1e-10);
    snprintf(solid, sizeof solid,
             "elastic { shape = mesh { file = 'box.%s' }, spacing = 0.1, young = 1e4,"
             " density = 100, velocity = {0.5, 0, 0} }",
             ending[i]);
    filled = mass_of(solid, NULL);
    CHECK_NEAR(filled, 30, 1); /* the lattice cuts off edges */
    snprintf(solid, sizeof solid,
             "rigid { name = 'b', shape = mesh { file = 'box.%s' }, density = 100 }", ending[i]);
    run r = start(solid, "dynamics = dynamics { dt = 0.01 }, probes = { position { of = 'b',"
                         " axis = 'y' } }, output = { frames = 1, every = 0.2 }");
    mn_step_info info;
    while (mn_world_time(r.world) < 0.2)
      CHECK_OK(r.ctx, mn_world_step(r.world, 0.2, &info));
    CHECK_NEAR(mn_world_probe(r.world, 0), 0.75 - 0.5 * 9.81 * 0.04, 1e-10);
    end(&r);
    write_files(11); /* control: a hole is refused, by the file's name */
    mn_context *ctx = check_context(1);
    mn_model *model;
    char words[16];
    snprintf(words, sizeof words, "box.%s", ending[i]);
    CHECK_FAILS(ctx, load(ctx, solid, "output = { frames = 1, every = 1 }", &model), MN_BAD_INPUT,
                words);
    mn_context_destroy(&ctx);
  }
  CHECK_DONE();
}

static void test_refused(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static const struct {
    const char *solid, *words;
  } bad[] = {
      {"rigid { density = 1, shape = cylinder { a = {0, 0, 0}, b = {0, 0, 0}, radius = 1 } }",
       "length is 0"},
      {"rigid { density = 1, shape = cylinder { a = {0, 0, 0}, b = {0, 1, 0}, radius = 0.1,"
       " inner = 0.2 } }",
       "inner radius is 0.2"},
      {"shell { density = 1, young = 1, thickness = 1, from = {0, 0, 0}, to = {0, 1, 0} }",
       "radius of a tube"},
      {"springs { density = 1, stretch = 1, radius = 1, corner = {0, 0, 0}, along = {1, 0, 0},"
       " across = {0, 1, 0} }",
       "needs from and to"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    mn_model *model;
    CHECK_FAILS(ctx, load(ctx, bad[i].solid, "output = { frames = 1, every = 1 }", &model),
                MN_BAD_INPUT, bad[i].words);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_masses), cmocka_unit_test(test_standing),
                                     cmocka_unit_test(test_files), cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, check_folder_make, check_folder_remove);
}
