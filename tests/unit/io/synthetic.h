/* A view with analytic fields, so that writers and previews are tested without a solver. */
#ifndef MN_TESTS_SYNTHETIC_H
#define MN_TESTS_SYNTHETIC_H

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "check.h"
#include "fluid/mac/mac.h"

typedef struct synthetic {
  mn_grid grid;
  mn_field velocity[3], open[3], pressure, smoke, temperature, liquid, solid, volume;
  mn_mac_view view;
} synthetic;

typedef double synthetic_fn(mn_vec3 x);
static double synthetic_z; /* of the centre of things: 0 in 2D, 0.5 in 3D */

static inline void synthetic_set(mn_field *f, synthetic_fn *fn)
{
  int ghost[3] = {MN_GHOST, MN_GHOST, f->grid->dim == 3 ? MN_GHOST : 0};
  for (int k = -ghost[2]; k < f->n[2] + ghost[2]; k++)
    for (int j = -ghost[1]; j < f->n[1] + ghost[1]; j++)
      for (int i = -ghost[0]; i < f->n[0] + ghost[0]; i++)
        mn_set(f, i, j, k, fn(mn_position(f, i, j, k)));
}

static inline double synthetic_zero(mn_vec3 x)
{
  (void)x;
  return 0;
}
static inline double synthetic_one(mn_vec3 x)
{
  (void)x;
  return 1;
}
static inline double synthetic_u(mn_vec3 x)
{
  return sin(MN_PI * x.x) * cos(MN_PI * x.y);
}
static inline double synthetic_v(mn_vec3 x)
{
  return -cos(MN_PI * x.x) * sin(MN_PI * x.y);
}
static inline double synthetic_w(mn_vec3 x)
{
  return 0.25 * x.x - 0.5 * x.z;
}
static inline double synthetic_pressure(mn_vec3 x)
{
  return 3 * x.x - 2 * x.y + 5 * x.z - 0.4;
}
/* A puff with rolls. */
static inline double synthetic_smoke(mn_vec3 x)
{
  double y = x.y - 0.35 - 0.12 * sin(9 * x.x) * cos(7 * x.z);
  double r = hypot(x.x - 0.45 + 0.05 * sin(14 * x.y), x.z - synthetic_z);
  return 1 / (1 + exp((hypot(r, 0.6 * y) - 0.22) / 0.02));
}
static inline double synthetic_temperature(mn_vec3 x)
{
  return 293 + 80 * exp(-30 * ((x.x - 0.5) * (x.x - 0.5) + (x.y - 0.4) * (x.y - 0.4)));
}
/* Distance to a ball of radius 0.17, in 2D a disk. */
static inline double synthetic_solid(mn_vec3 x)
{
  return mn_length(mn_sub(x, mn_v3(0.62, 0.72, synthetic_z))) - 0.17;
}
static inline double synthetic_liquid(mn_vec3 x)
{
  return x.y - 0.5 - 0.05 * sin(8 * x.x) * cos(6 * x.z);
}

static inline void synthetic_field(mn_context *ctx, const mn_grid *grid, mn_place place,
                                   synthetic_fn *fn, mn_field *f)
{
  CHECK_OK(ctx, mn_field_create(ctx, grid, place, "a test field", f));
  synthetic_set(f, fn);
}

static inline void synthetic_make(mn_context *ctx, int dim, const int cells[3], double dx,
                                  mn_vec3 origin, int water, synthetic *s)
{
  *s = (synthetic){.grid = mn_grid_make(&ctx->exec, dim, cells, dx, origin)};
  synthetic_z = dim == 3 ? 0.5 : 0;
  synthetic_fn *u[3] = {synthetic_u, synthetic_v, synthetic_w};
  for (int a = 0; a < dim; a++) {
    synthetic_field(ctx, &s->grid, (mn_place)a, u[a], &s->velocity[a]);
    synthetic_field(ctx, &s->grid, (mn_place)a, synthetic_one, &s->open[a]);
  }
  synthetic_field(ctx, &s->grid, MN_CELL, synthetic_pressure, &s->pressure);
  synthetic_field(ctx, &s->grid, MN_CELL, synthetic_smoke, &s->smoke);
  synthetic_field(ctx, &s->grid, MN_CELL, synthetic_temperature, &s->temperature);
  synthetic_field(ctx, &s->grid, MN_CELL, synthetic_liquid, &s->liquid);
  synthetic_field(ctx, &s->grid, MN_CELL, synthetic_one, &s->volume);
  synthetic_field(ctx, &s->grid, MN_NODE, synthetic_solid, &s->solid);
  for (int k = 0; k < s->volume.n[2]; k++)
    for (int j = 0; j < s->volume.n[1]; j++)
      for (int i = 0; i < s->volume.n[0]; i++)
        mn_set(&s->volume, i, j, k,
               mn_clamp(0.5 + synthetic_solid(mn_position(&s->volume, i, j, k)) / dx, 0, 1));
  s->view = (mn_mac_view){.grid = &s->grid,
                          .velocity = s->velocity,
                          .pressure = &s->pressure,
                          .smoke = water ? NULL : &s->smoke,
                          .temperature = &s->temperature,
                          .liquid = water ? &s->liquid : NULL,
                          .solid = &s->solid,
                          .obstacles = &s->solid,
                          .open = s->open,
                          .volume = &s->volume};
}

static inline void synthetic_free(synthetic *s)
{
  for (int a = 0; a < 3; a++) {
    mn_field_destroy(&s->velocity[a]);
    mn_field_destroy(&s->open[a]);
  }
  mn_field_destroy(&s->pressure);
  mn_field_destroy(&s->smoke);
  mn_field_destroy(&s->temperature);
  mn_field_destroy(&s->liquid);
  mn_field_destroy(&s->solid);
  mn_field_destroy(&s->volume);
}

#endif
