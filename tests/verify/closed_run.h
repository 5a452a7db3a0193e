/* Runs of the built-in scenes of closed regions, and what must hold in all of them. */
#ifndef MN_TESTS_CLOSED_RUN_H
#define MN_TESTS_CLOSED_RUN_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "meniscus/meniscus.h"

typedef struct closed_run {
  mn_context *ctx;
  mn_model *model;
  mn_world *world;
  mn_step_info info; /* of the last substep */
  mn_status status;
  double area[MN_REGIONS_MAX]; /* m^2 that flowed into region id - 1, by its own account */
  /* over all substeps but the first */
  int steps, solves, most, retries;
  double outflow; /* m^2/s, greatest net outflow of a region */
  double error;   /* m^2, greatest error of its volume */
} closed_run;

/* Settings are "key=value" up to a NULL. */
static inline void closed_open(closed_run *r, const char *scene, const char *const *settings)
{
  mn_setting s[16];
  char text[16][2][64];
  size_t count = 0;
  *r = (closed_run){.ctx = check_context(1)};
  for (; settings && settings[count]; count++) {
    CHECK(sscanf(settings[count], "%63[^=]=%63s", text[count][0], text[count][1]) == 2);
    s[count] = (mn_setting){text[count][0], text[count][1]};
  }
  CHECK_OK(r->ctx, mn_scene_load(r->ctx, scene, s, count, &r->model));
  CHECK_OK(r->ctx, mn_world_create(r->ctx, r->model, &r->world));
}

static inline void closed_close(closed_run *r)
{
  mn_world_destroy(&r->world);
  mn_model_destroy(&r->model);
  mn_context_destroy(&r->ctx);
}

/* To time t; 0: the run could not go on. */
static inline int closed_until(closed_run *r, double t)
{
  while (r->status == MN_OK && mn_world_time(r->world) < t - 1e-9) {
    r->status = mn_world_step(r->world, t, &r->info);
    if (r->status != MN_OK) {
      printf("%s\n", mn_context_message(r->ctx));
      break;
    }
    r->steps++;
    r->solves += r->info.coupling_iterations;
    r->most = r->info.coupling_iterations > r->most ? r->info.coupling_iterations : r->most;
    r->retries += r->info.retries;
    for (int k = 0; k < r->info.closed_regions; k++) {
      const mn_region_info *g = &r->info.region[k];
      if (g->id >= 1 && g->id <= MN_REGIONS_MAX)
        r->area[g->id - 1] += r->info.dt * (g->inflow + g->net_outflow);
      r->outflow = check_worst(r->outflow, fabs(g->net_outflow));
      r->error = check_worst(r->error, fabs(g->error));
    }
  }
  return r->status == MN_OK;
}

static inline double closed_mean(const closed_run *r)
{
  return r->status == MN_OK && r->steps ? (double)r->solves / r->steps : INFINITY;
}

/* The region that holds most of its neighbourhood of x; NULL: none. */
static inline const mn_region_info *closed_near(const closed_run *r, double x, double y)
{
  const mn_region_info *best = NULL;
  double least = INFINITY;
  for (int k = 0; k < r->info.closed_regions; k++) {
    const mn_region_info *g = &r->info.region[k];
    double far = hypot(g->center.x - x, g->center.y - y);
    if (far < least)
      least = far, best = g;
  }
  return best;
}

static inline double closed_p0(const closed_run *r, double x, double y)
{
  const mn_region_info *g = closed_near(r, x, y);
  return g ? g->p0 : NAN;
}

/* Integral of the ramp 1/2 (1 - cos pi t) up to 1 s, then 1. */
static inline double closed_ramped(double t)
{
  return t < 1 ? t / 2 - sin(3.14159265358979323846 * t) / (2 * 3.14159265358979323846) : t - 0.5;
}

/* m^2/s per m/s in the middle, of a parabolic inflow of 1 m on cells of h. */
static inline double closed_parabola(double h)
{
  return 2.0 / 3 + h * h / 3;
}

#endif
