#include "check.h"

static mn_shape *sphere(mn_context *ctx, int dim)
{
  mn_shape *s;
  CHECK_OK(ctx, mn_shape_sphere(ctx, dim, (mn_vec3){{0.5, 0.5, 0.5}}, 0.1, &s));
  return s;
}

/* Every place of a model that holds a shape refuses one of the other dimension. */
static void test_shapes_of_the_wrong_dimension(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static const char *const words[] = {"fluid.initial_smoke_shape", "sources[1].shape",
                                      "solids[1].shape", "probes[1].shape"};
  for (int wrong = 0; wrong <= 4; wrong++)
    for (int dim = 2; dim <= 3; dim++) {
      mn_model_def def = mn_model_def_default();
      def.domain.dim = dim;
      def.domain.size = (mn_vec3){{1, 1, 1}};
      for (int a = 0; a < 3; a++)
        def.domain.cells[a] = a < dim ? 8 : 1;
      mn_source_def source = {.name = "a", .blows = 0, .ramp = mn_timefn_constant(1)};
      mn_solid_def solid = {.name = "b"};
      mn_probe_def probe = {.name = "c", .kind = MN_PROBE_FLUX, .position = 0.5};
      int other = 5 - dim;
      def.fluid.initial_smoke_shape = sphere(ctx, wrong == 0 ? other : dim);
      source.shape = sphere(ctx, wrong == 1 ? other : dim);
      solid.shape = sphere(ctx, wrong == 2 ? other : dim);
      probe.shape = sphere(ctx, wrong == 3 ? other : dim);
      def.sources = &source;
      def.solids = &solid;
      def.probes = &probe;
      def.source_count = def.solid_count = def.probe_count = 1;
      mn_model *model;
      if (wrong == 4) /* all right: the same model is accepted */
        CHECK_OK(ctx, mn_model_create(ctx, &def, &model));
      else
        CHECK_FAILS(ctx, mn_model_create(ctx, &def, &model), MN_BAD_INPUT, words[wrong]);
      mn_model_destroy(&model);
    }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes_of_the_wrong_dimension)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
