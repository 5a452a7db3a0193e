/* Probes on fields with known values: linear functions are interpolated exactly; a flux is the sum
   over the plane's faces; volumes of solids are second-order. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/vec.h"
#include "world/world.h"

enum { PROBES = 14 };

static mn_shape *disk_at(mn_context *ctx, int dim, double radius)
{
  mn_shape *shape;
  CHECK_OK(ctx,
           mn_shape_sphere(ctx, dim, (mn_vec3){{0.5, 0.5, dim == 3 ? 0.5 : 0}}, radius, &shape));
  return shape;
}

static double linear(mn_vec3 x)
{
  return 1 + 2 * x.x - 3 * x.y + 0.5 * x.z;
}

static void fill(const mn_field *borrowed, double (*f)(mn_vec3 x), double factor)
{
  mn_field *field = (mn_field *)borrowed; /* a test may write what a writer may only read */
  int g = MN_GHOST, gz = field->grid->dim == 3 ? g : 0;
  for (int k = -gz; k < field->n[2] + gz; k++)
    for (int j = -g; j < field->n[1] + g; j++)
      for (int i = -g; i < field->n[0] + g; i++)
        mn_set(field, i, j, k, factor * f(mn_position(field, i, j, k)));
}

static mn_probe_def probe(int kind, int axis, mn_vec3 at)
{
  static int number;
  mn_probe_def p = {.kind = (mn_probe_kind)kind, .axis = axis, .at = at};
  snprintf(p.name, sizeof p.name, "p%d", number++);
  return p;
}

static void run_dimension(mn_context *ctx, int dim)
{
  mn_model_def def = mn_model_def_default();
  mn_probe_def probes[PROBES];
  mn_vec3 at = mn_v3(0.37, 0.61, dim == 3 ? 0.23 : 0);
  int n = 0;
  probes[n++] = probe(MN_PROBE_VELOCITY, 0, at);
  probes[n++] = probe(MN_PROBE_VELOCITY, dim - 1, at);
  probes[n++] = probe(MN_PROBE_VELOCITY, -1, at);
  probes[n++] = probe(MN_PROBE_SMOKE, 0, at);
  probes[n] = probe(MN_PROBE_FLUX, 0, at);
  probes[n++].position = 0.51; /* nearest plane: 0.5 */
  probes[n] = probe(MN_PROBE_FLUX, 1, at);
  probes[n].shape = disk_at(ctx, dim, 0.3);
  probes[n++].position = 0.5;
  probes[n] = probe(MN_PROBE_VOLUME, 0, at);
  strcpy(probes[n++].of, "fluid");
  def.domain.dim = dim;
  def.domain.size = mn_v3(1, 1, dim == 3 ? 1 : 0);
  def.domain.cells[0] = def.domain.cells[1] = 16;
  def.domain.cells[2] = dim == 3 ? 16 : 1;
  def.probe_count = n;
  def.probes = probes;
  mn_model *model;
  mn_world *world;
  CHECK_OK(ctx, mn_model_create(ctx, &def, &model));
  CHECK_OK(ctx, mn_world_create(ctx, model, &world));
  mn_mac_view view = mn_mac_look(&world->fluid);
  for (int a = 0; a < dim; a++)
    fill(&view.velocity[a], linear, a + 1);
  fill(view.smoke, linear, 1);
  double u = linear(at);
  CHECK_NEAR(mn_world_probe(world, 0), u, 1e-13);
  CHECK_NEAR(mn_world_probe(world, 1), dim * u, 1e-13);
  CHECK_NEAR(mn_world_probe(world, 2), fabs(u) * sqrt(dim == 3 ? 14 : 5), 1e-12);
  CHECK_NEAR(mn_world_probe(world, 3), u, 1e-13);
  /* integral of a linear function over the plane x = 1/2: its value in the middle */
  CHECK_NEAR(mn_world_probe(world, 4), linear(mn_v3(0.5, 0.5, dim == 3 ? 0.5 : 0)), 1e-12);
  /* over the part of y = 1/2 in the disk: faces whose centre is inside, counted by hand */
  double sum = 0, dx = 1.0 / 16;
  for (int i = 0; i < 16; i++)
    for (int k = 0; k < (dim == 3 ? 16 : 1); k++) {
      mn_vec3 x = mn_v3((i + 0.5) * dx, 0.5, dim == 3 ? (k + 0.5) * dx : 0);
      double r2 = (x.x - 0.5) * (x.x - 0.5) + (dim == 3 ? (x.z - 0.5) * (x.z - 0.5) : 0);
      sum += r2 <= 0.09 ? 2 * linear(x) * (dim == 3 ? dx * dx : dx) : 0;
    }
  CHECK_NEAR(mn_world_probe(world, 5), sum, 1e-12);
  CHECK_NEAR(mn_world_probe(world, 6), 1, 1e-12);
  mn_world_destroy(&world);
  mn_model_destroy(&model);
}

static void test_values_of_linear_fields(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  run_dimension(ctx, 2);
  run_dimension(ctx, 3);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* A flux of water is that of the water: velocities go on into the air beside it. */
static void test_flux_of_water(void **state)
{
  (void)state;
  static const char SCENE[] =
      "local y, kind = param('y', 0.75, ''), param('kind', 'water', '')\n"
      "return scene {\n"
      "  domain = box { size = {1, 1}, cells = {32, 32}, left = 'open', right = 'open' },\n"
      "  fluid  = kind == 'smoke' and smoke { initial_velocity = {2, 0} } or\n"
      "           water { gravity = {0, 0}, initial_velocity = {2, 0},\n"
      "                   initial_water = box { lo = {-1, 0.25}, hi = {2, y} } },\n"
      "  probes = { flux { axis = 'x', position = 0.5 }, flux { axis = 'y', position = 0.5 } },\n"
      "  output = { frames = 1, every = 1 },\n"
      "}\n";
  static const char *const top[] = {"0.75", "0.761", "0.77"};
  mn_context *ctx = check_context(1);
  for (int k = 0; k < 4; k++) {
    mn_model *model;
    mn_world *world;
    mn_setting s[] = {{"y", k < 3 ? top[k] : "1"}, {"kind", k < 3 ? "water" : "smoke"}};
    CHECK_OK(ctx, mn_scene_load_text(ctx, "flux", "", SCENE, s, 2, &model));
    CHECK_OK(ctx, mn_world_create(ctx, model, &world));
    if (k == 3)
      CHECK_DONE(); /* control: smoke is everywhere */
    CHECK_NEAR(mn_world_probe(world, 0), 2 * (atof(s[0].value) - 0.25), k ? 0.2 / 32 : 1e-9);
    CHECK_NEAR(mn_world_probe(world, 1), 0, 1e-12);
    mn_world_destroy(&world);
    mn_model_destroy(&model);
  }
  mn_context_destroy(&ctx);
  CHECK_MUST_HAVE_FAILED();
}

/* A disk that moves: its area on three grids at second order, as the root mean square over some
   positions (one error alone may be small by luck). */
static void test_volume_of_a_solid_is_second_order(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  double h[3], error[3];
  for (int i = 0; i < 3; i++) {
    int cells = 24 << i;
    mn_model_def def = mn_model_def_default();
    mn_solid_def solid = {.name = "disk", .moving = 1};
    mn_probe_def p = probe(MN_PROBE_VOLUME, 0, mn_v3(0, 0, 0));
    solid.shape = disk_at(ctx, 2, 0.23);
    solid.motion.path = mn_timefn_constant(1);
    solid.motion.turn = mn_timefn_constant(0);
    strcpy(p.of, "disk");
    def.domain.size = mn_v3(1, 1, 0);
    def.domain.cells[0] = def.domain.cells[1] = cells;
    def.domain.cells[2] = 1;
    def.solid_count = def.probe_count = 1;
    def.solids = &solid;
    def.probes = &p;
    mn_model *model;
    mn_world *world;
    CHECK_OK(ctx, mn_model_create(ctx, &def, &model));
    CHECK_OK(ctx, mn_world_create(ctx, model, &world));
    h[i] = 1.0 / cells;
    double squares = 0;
    uint64_t seed = 5;
    for (int k = 0; k < 20; k++) {
      mn_vec3 *translate = &mn_model_get(model)->solids[0].motion.translate;
      *translate = mn_v3(0.2 * check_random(&seed), -0.2 * check_random(&seed), 0);
      squares += pow(mn_world_probe(world, 0) - MN_PI * 0.23 * 0.23, 2);
    }
    error[i] = sqrt(squares / 20);
    mn_world_destroy(&world);
    mn_model_destroy(&model);
  }
  CHECK_LE(error[2], 1e-4);
  CHECK_ORDER(h, error, 3, 2, 0.3);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values_of_linear_fields),
      cmocka_unit_test(test_flux_of_water),
      cmocka_unit_test(test_volume_of_a_solid_is_second_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
