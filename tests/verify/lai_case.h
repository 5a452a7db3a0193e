/* A scene of [Lai 2021] with several pressure solvers side by side on each of its equations. */
#ifndef MN_TESTS_LAI_CASE_H
#define MN_TESTS_LAI_CASE_H

#include <stdio.h>

#include "check.h"
#include "meniscus/meniscus.h"

/* Runs the scene for `frames` frames; if `meet` is not 0 the solvers take part only in the first
   substep after them. Returns the hash of the state. */
static uint64_t run_lai_case(const char *scene, int n, const char *walls, int frames, int meet,
                             mn_contestant *who, int count)
{
  mn_context *ctx = check_context(2);
  char cells[16];
  snprintf(cells, sizeof cells, "%d", n);
  mn_setting settings[] = {{"n", cells}, {"walls", walls}};
  mn_model *model = NULL;
  mn_world *world = NULL;
  mn_contest *contest = NULL;
  for (int i = 0; i < count; i++)
    who[i].every = meet ? 0 : 1;
  CHECK_OK(ctx, mn_scene_load(ctx, scene, settings, 2, &model));
  CHECK_OK(ctx, mn_world_create(ctx, model, &world));
  if (count)
    CHECK_OK(ctx, mn_contest_create(ctx, world, who, count, &contest));
  for (int f = 0; f < frames; f++)
    CHECK_OK(ctx, mn_world_next_frame(world));
  for (int i = 0; i < count && meet; i++)
    who[i].every = 1;
  mn_step_info info;
  if (meet)
    CHECK_OK(ctx, mn_world_step(world, 0.01 * (frames + 1), &info));
  uint64_t hash = mn_world_hash(world);
  for (int i = 0; i < count; i++)
    printf("%s %d, %s walls: %-16s %8.2f iterations, %.2f systems, %lld of %lld unsolved\n", scene,
           n, walls, who[i].solver, (double)who[i].iterations / (double)who[i].equations,
           (double)who[i].outer / (double)who[i].equations, (long long)who[i].failed,
           (long long)who[i].equations);
  mn_contest_destroy(&contest);
  mn_world_destroy(&world);
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  return hash;
}

static double mean_iterations(const mn_contestant *c)
{
  return (double)c->iterations / (double)c->equations;
}

static double mean_outer(const mn_contestant *c)
{
  return (double)c->outer / (double)c->equations;
}

#endif
