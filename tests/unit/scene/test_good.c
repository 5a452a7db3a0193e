/* What a scene says is what the def holds; what it leaves out has the schema's default. */
#include "scene_check.h"

#include <math.h>
#include <stdlib.h>

#include "base/context.h"

static const char *const everything =
    "local f = 0.25\n"
    "return scene {\n"
    "  title = 'All', reproduces = 'nothing',\n"
    "  domain = box { size = {1, 2, 1}, cells = {4, 8.0, 4}, origin = {-1, 0, 0},\n"
    "                 left = 'open', top = wall { velocity = {1, 0, 2}, ramp = linear(3) } },\n"
    "  fluid = smoke { density = 2, viscosity = 0.1, gravity = {0, -1, 0}, ambient = 300,\n"
    "                  temperature = true, advection = 'semilagrangian', limiter = false,\n"
    "                  initial_velocity = function(x, y, z) return x, y + 1, z, 4 end,\n"
    "                  initial_smoke = function(x) return 2 + x end },\n"
    "  sources = { inflow { name = 'jet', velocity = {1, 0, 0}, profile = 'parabolic',\n"
    "                       shape = sphere { center = {0, 0, 0}, radius = 0.5 },\n"
    "                       ramp = cosine { from = 1, to = 2, start = 3, duration = 4 } },\n"
    "              emitter { shape = box { lo = {0, 0, 0}, hi = {1, 1, 1} }, smoke = 0.5,\n"
    "                        temperature = 350 } },\n"
    "  solids = { obstacle { name = 'ball', noslip = true,\n"
    "               shape = difference { box { center = {0, 0, 0}, size = {2, 2, 2} },\n"
    "                                    union { sphere { center = {0, 0, 0}, radius = 0.5 },\n"
    "                                            capsule { a = {0, 0, 0}, b = {0, 1, 0},\n"
    "                                                      radius = 0.1 } } },\n"
    "               motion = motion { translate = {0, 1, 0}, path = keys { {0, 0}, {1, 2} },\n"
    "                                 axis = {1, 0, 0}, turn = rate(2) } },\n"
    "             obstacle { shape = transform { shape = torus { center = {0, 0, 0}, major = 1,\n"
    "                                                            minor = 0.25 },\n"
    "                                            translate = {0, 0, 5}, scale = 2 } } },\n"
    "  probes = { pressure { at = {-0.5, 1, 0.5} }, pressure { at = {-0.5, 0.5, 0.5} },\n"
    "             velocity { at = {-0.5, 1, 0.5}, axis = 'z' },\n"
    "             velocity { at = {-0.5, 1, 0.5} }, flux { axis = 'y', position = 1 },\n"
    "             volume { of = 'ball' }, divergence { name = 'div' } },\n"
    "  output = output { frames = 7, every = 1/4, show = 'speed', range = {0, f} },\n"
    "}\n";

static void check_parts(const mn_model_def *d)
{
  CHECK(!strcmp(d->title, "All") && !strcmp(d->name, "t") && !strcmp(d->reproduces, "nothing"));
  CHECK(d->domain.dim == 3 && d->domain.cells[1] == 8);
  CHECK_NEAR(d->domain.origin.x, -1, 0);
  CHECK(d->domain.side[0].kind == MN_SIDE_OPEN && d->domain.side[1].kind == MN_SIDE_SLIP);
  CHECK(d->domain.side[3].kind == MN_SIDE_NOSLIP);
  CHECK_NEAR(d->domain.side[3].velocity.z, 2, 0);
  CHECK_NEAR(mn_timefn_eval(&d->domain.side[3].ramp, 1.5), 0.5, 1e-15);
  CHECK_NEAR(mn_timefn_eval(&d->domain.side[0].ramp, 1.5), 1, 0);
  CHECK_NEAR(d->fluid.density, 2, 0);
  CHECK(d->fluid.temperature == 1 && d->fluid.limiter == 0 && d->fluid.order == 2);
  CHECK(d->fluid.advection == MN_ADVECT_SEMILAGRANGIAN);
  CHECK_NEAR(d->fluid.initial_temperature.value.x, 300, 0);
  CHECK(d->source_count == 2 && d->sources[0].blows == 1 && d->sources[1].blows == 0);
  CHECK(d->sources[0].profile == MN_PROFILE_PARABOLIC);
  CHECK_NEAR(d->sources[0].temperature, 300, 0);
  CHECK_NEAR(d->sources[1].temperature, 350, 0);
  CHECK_NEAR(d->sources[0].smoke, 1, 0);
  CHECK_NEAR(d->sources[1].smoke, 0.5, 0);
  CHECK_NEAR(mn_timefn_eval(&d->sources[0].ramp, 5), 1.5, 1e-15);
  CHECK(d->solid_count == 2 && d->solids[0].moving && !d->solids[1].moving);
  CHECK_NEAR(mn_timefn_eval(&d->solids[0].motion.path, 0.5), 1, 0);
  CHECK_NEAR(mn_timefn_eval(&d->solids[0].motion.turn, 3), 6, 0);
  CHECK_NEAR(d->solids[0].motion.axis.x, 1, 0);
  CHECK(d->output.frames == 7 && !strcmp(d->output.show, "speed"));
  CHECK_NEAR(d->output.range[1], 0.25, 0);
}

static void check_shapes(const mn_model_def *d)
{
  CHECK_NEAR(mn_shape_distance(d->sources[0].shape, (mn_vec3){{1, 0, 0}}), 0.5, 1e-15);
  /* inside the box, outside the hole: -min(distance to the box's side, to the hole) */
  CHECK_NEAR(mn_shape_distance(d->solids[0].shape, (mn_vec3){{0.8, 0, 0}}), -0.2, 1e-15);
  CHECK_GE(mn_shape_distance(d->solids[0].shape, (mn_vec3){{0, 0.7, 0}}), 0);
  /* the tube's centre line: a circle of radius 2 at z = 5 */
  CHECK_NEAR(mn_shape_distance(d->solids[1].shape, (mn_vec3){{2, 0, 5}}), -0.5, 1e-14);
}

static void test_everything(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_model *model;
  CHECK_OK(ctx, mn_scene_load_text(ctx, "x/t.lua", "", everything, NULL, 0, &model));
  const mn_model_def *d = mn_model_get(model);
  check_parts(d);
  check_shapes(d);
  static const char *const names[] = {"pressure", "pressure_2",  "velocity_z", "speed",
                                      "flux_y",   "volume_ball", "div"};
  CHECK(d->probe_count == 7);
  for (int i = 0; i < 7; i++)
    CHECK(!strcmp(d->probes[i].name, names[i]));
  CHECK(d->probes[2].axis == 2 && d->probes[3].axis == -1 && d->probes[4].axis == 1);
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* A field function is called through the def; it lives as long as the model. */
static void test_field_functions(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_model *model;
  static const char *const text = FLUID_OF(
      "initial_velocity = function(x, y, z) if x > 5 then error('far') end return {y, x + z} end,"
      "initial_smoke = function(x) return x * x end");
  CHECK_OK(ctx, mn_scene_load_text(ctx, "t.lua", "", text, NULL, 0, &model));
  const mn_fluid_def *f = &mn_model_get(model)->fluid;
  for (int i = 0; i < 1000; i++) {
    mn_vec3 v, x = {{0.001 * i, 2, 0}};
    CHECK_OK(ctx, f->initial_velocity.eval(f->initial_velocity.user, x, &v));
    CHECK(v.x == 2 && v.y == x.x && v.z == 0);
    CHECK_OK(ctx, f->initial_smoke.eval(f->initial_smoke.user, x, &v));
    CHECK(v.x == x.x * x.x);
  }
  mn_vec3 far = {{6, 0, 0}}, v;
  CHECK_FAILS(ctx, f->initial_velocity.eval(f->initial_velocity.user, far, &v), MN_BAD_INPUT,
              "t.lua:3: far");
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_minimal_scene_has_the_defaults_of_c(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_model *model;
  CHECK_OK(ctx, mn_scene_load_text(ctx, "t.lua", "", SCENE_OF(""), NULL, 0, &model));
  const mn_model_def *d = mn_model_get(model);
  mn_model_def c = mn_model_def_default();
  CHECK(d->domain.dim == 2 && d->domain.cells[2] == 1);
  CHECK_NEAR(d->fluid.density, c.fluid.density, 0);
  CHECK_NEAR(d->fluid.gravity.y, c.fluid.gravity.y, 0);
  CHECK_NEAR(d->fluid.cfl, c.fluid.cfl, 0);
  CHECK_NEAR(d->fluid.ambient, c.fluid.initial_temperature.value.x, 0);
  CHECK_NEAR(d->output.every, c.output.every, 0);
  CHECK_NEAR(c.fluid.gravity.y, -9.81, 0);
  CHECK_NEAR(mn_fluid_def_default(MN_FLUID_WATER).density, 1000, 0);
  CHECK(mn_source_def_default().ramp.to == 1 && mn_source_def_default().blows);
  CHECK(mn_solid_def_default().motion.axis.z == 1);
  CHECK(c.domain.side[2].kind == MN_SIDE_SLIP && c.domain.side[2].ramp.to == 1);
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_reference_page_is_up_to_date(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  char *made, *kept = NULL;
  CHECK_OK(ctx, mn_scene_reference(ctx, &made));
  FILE *file = fopen(MN_SOURCE_DIR "/docs/reference.md", "rb");
  CHECK(file != NULL);
  if (file) {
    size_t room = strlen(made) + 2;
    kept = calloc(1, room);
    assert_non_null(kept);
    fread(kept, 1, room - 1, file);
    fclose(file);
  }
  /* To renew it: meniscus show --reference > docs/reference.md */
  CHECK(kept && !strcmp(made, kept));
  free(kept);
  free(made);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_everything),
      cmocka_unit_test(test_field_functions),
      cmocka_unit_test(test_minimal_scene_has_the_defaults_of_c),
      cmocka_unit_test(test_reference_page_is_up_to_date),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
