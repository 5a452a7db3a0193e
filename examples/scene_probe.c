/* Loads a built-in scene with a parameter of its own choice, runs some frames and reads the scene's
   probes: what a parameter study does.

   cc scene_probe.c $(pkg-config --cflags --libs --static meniscus) */
#include <math.h>
#include <meniscus/meniscus.h>
#include <stdio.h>

static mn_status study(mn_context *ctx, const char *heat, double *energy)
{
  mn_setting settings[] = {{"n", "32"}, {"heat", heat}};
  mn_model *model = NULL;
  mn_world *world = NULL;
  mn_status status = mn_scene_load(ctx, "plume", settings, 2, &model);
  if (status == MN_OK)
    status = mn_world_create(ctx, model, &world);
  for (int frame = 0; frame < 8 && status == MN_OK; frame++)
    status = mn_world_next_frame(world);
  if (status == MN_OK) {
    const mn_model_def *def = mn_model_get(model);
    printf("heat %s K, t = %.3f s\n", heat, mn_world_time(world));
    for (int i = 0; i < def->probe_count; i++) {
      double value = mn_world_probe(world, i);
      printf("  %-16s %g\n", def->probes[i].name, value);
      if (def->probes[i].kind == MN_PROBE_KINETIC_ENERGY)
        *energy = value;
    }
  }
  mn_world_destroy(&world);
  mn_model_destroy(&model);
  return status;
}

int main(void)
{
  mn_context_def def = mn_context_def_default();
  mn_context *ctx;
  if (mn_context_create(&def, &ctx) != MN_OK)
    return MN_ENVIRONMENT;
  double cool = NAN, hot = NAN;
  mn_status status = study(ctx, "20", &cool);
  if (status == MN_OK)
    status = study(ctx, "80", &hot);
  if (status != MN_OK)
    fprintf(stderr, "scene_probe: %s\n", mn_context_message(ctx));
  mn_context_destroy(&ctx);
  if (status != MN_OK)
    return (int)status;
  return hot > cool ? 0 : MN_FAILED; /* more heat, more motion */
}
