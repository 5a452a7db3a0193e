/* A set-up made in C, without a scene file: warm smoke rises in a closed box. Prints the kinetic
   energy as it grows.

   cc smoke_in_c.c $(pkg-config --cflags --libs --static meniscus) */
#include <meniscus/meniscus.h>
#include <stdio.h>

/* A box of 1 m x 2 m with a warm plate near the floor. The model takes over the shape. */
static mn_status make_model(mn_context *ctx, mn_model **model)
{
  mn_model_def def = mn_model_def_default();
  def.domain.size = (mn_vec3){{1, 2, 0}};
  def.domain.cells[0] = 32;
  def.domain.cells[1] = 64;
  def.fluid.temperature = 1;
  def.fluid.ambient = 293;
  def.fluid.expansion = 1 / 293.0;
  def.fluid.initial_temperature.value.x = 293;
  def.fluid.gravity = (mn_vec3){{0, -9.81, 0}};

  mn_source_def plate = {
      .name = "plate", .ramp = mn_timefn_constant(1), .smoke = 1, .temperature = 373};
  mn_vec3 lo = {{0.4, 0.1, 0}}, hi = {{0.6, 0.2, 0}};
  mn_status status = mn_shape_box(ctx, 2, lo, hi, &plate.shape);
  if (status != MN_OK)
    return status;
  def.sources = &plate;
  def.source_count = 1;
  return mn_model_create(ctx, &def, model);
}

static mn_status run(mn_world *world)
{
  double before = 0;
  for (int tenth = 1; tenth <= 5; tenth++) {
    mn_step_info info = {0};
    while (mn_world_time(world) < 0.1 * tenth) {
      mn_status status = mn_world_step(world, 0.1 * tenth, &info);
      if (status != MN_OK)
        return status;
    }
    printf("t = %.1f s  %3lld steps  kinetic energy %.6f J  divergence %.1e 1/s\n", info.time,
           (long long)info.step, info.kinetic_energy, info.pressure.divergence);
    if (!(info.kinetic_energy > before)) {
      fprintf(stderr, "smoke_in_c: warm smoke must speed up\n");
      return MN_FAILED;
    }
    before = info.kinetic_energy;
  }
  return MN_OK;
}

int main(void)
{
  mn_context_def def = mn_context_def_default();
  mn_context *ctx;
  if (mn_context_create(&def, &ctx) != MN_OK)
    return MN_ENVIRONMENT;
  mn_model *model = NULL;
  mn_world *world = NULL;
  mn_status status = make_model(ctx, &model);
  if (status == MN_OK)
    status = mn_world_create(ctx, model, &world);
  if (status == MN_OK)
    status = run(world);
  if (status != MN_OK)
    fprintf(stderr, "smoke_in_c: %s\n", mn_context_message(ctx));
  mn_world_destroy(&world);
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  return (int)status;
}
