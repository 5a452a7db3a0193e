/* Particles that carry a liquid: one row of doubles each, kept sorted by the cell they are in, so
   that every sum over the particles near a point runs in an order of its own, whatever the number
   of threads. */
#ifndef MN_FLUID_MAC_PARTICLES_H
#define MN_FLUID_MAC_PARTICLES_H

#include "grid/grid.h"
#include "meniscus/base.h"

/* A row: position x [m], velocity v [m/s], volume [m^dim], velocity gradient c [1/s] with
   c[axis * dim + b] = d v_axis / d x_b. 16 numbers, two cache lines, in 3D; 9 in 2D. Markers, which
   only say where the liquid is, have position and volume: 4 and 3 numbers. */
typedef struct mn_particles {
  int dim, width;
  int volume; /* place of the volume in a row */
  size_t count, capacity;
  double *data;
} mn_particles;

static inline double *mn_particle(const mn_particles *p, size_t i)
{
  return p->data + i * (size_t)p->width;
}
/* v and c: not of markers */
static inline double *mn_particle_v(const mn_particles *p, size_t i)
{
  return mn_particle(p, i) + p->dim;
}
static inline double *mn_particle_volume(const mn_particles *p, size_t i)
{
  return mn_particle(p, i) + p->volume;
}
static inline double *mn_particle_c(const mn_particles *p, size_t i)
{
  return mn_particle(p, i) + 2 * p->dim + 1;
}

/* Cells that particles fall in, and a stable counting sort by them. */
typedef struct mn_particle_cells {
  int n[3];
  int64_t *start;  /* first particle of each cell, cells + 1 entries */
  int64_t *cell;   /* of each particle before the sort; -1: to be removed. After it of no use */
  double *rows;    /* room to sort */
  size_t capacity; /* of cell */
  size_t room;     /* particles that fit in rows */
} mn_particle_cells;

/* Empty, with room for `capacity` (at least one, so that data is never NULL). */
MN_MUST_CHECK mn_status mn_particles_create(mn_context *ctx, int dim, int markers, size_t capacity,
                                            mn_particles *p);
void mn_particles_destroy(mn_particles *p);
/* Room for `count` particles; grows by an eighth at least, so that a run soon stops allocating. */
MN_MUST_CHECK mn_status mn_particles_reserve(mn_context *ctx, size_t count, mn_particles *p);
MN_MUST_CHECK mn_status mn_particles_copy(mn_context *ctx, const mn_particles *from,
                                          mn_particles *to);

MN_MUST_CHECK mn_status mn_particle_cells_create(mn_context *ctx, const mn_grid *grid,
                                                 mn_particle_cells *c);
void mn_particle_cells_destroy(mn_particle_cells *c);
/* Room for `count` marks in c->cell. */
MN_MUST_CHECK mn_status mn_particle_cells_reserve(mn_context *ctx, size_t count,
                                                  mn_particle_cells *c);
/* The cell of a point, (i, j, k) of n; points outside the grid count to the nearest cell. In 2D
   at[2] is left alone. */
static inline void mn_particle_place(const int n[3], const mn_grid *grid, const double *x,
                                     int at[3])
{
  for (int a = 0; a < grid->dim; a++) {
    double s = (x[a] - grid->origin.v[a]) / grid->dx;
    at[a] = s > 0 ? (s < n[a] ? (int)s : n[a] - 1) : 0;
  }
}
static inline int64_t mn_particle_cell(const mn_particle_cells *c, const mn_grid *grid,
                                       const double *x)
{
  int at[3] = {0, 0, 0};
  mn_particle_place(c->n, grid, x, at);
  return at[0] + (int64_t)c->n[0] * (at[1] + (int64_t)c->n[1] * at[2]);
}
/* Sorts p by c->cell, removes those marked -1 and fills c->start. */
MN_MUST_CHECK mn_status mn_particles_sort(mn_context *ctx, const mn_grid *grid,
                                          mn_particle_cells *c, mn_particles *p);

/* Particles of the cells i0 to i1 (clipped) of row j, k: [first, last). */
static inline void mn_particle_run(const mn_particle_cells *c, int i0, int i1, int j, int k,
                                   int64_t *first, int64_t *last)
{
  *first = *last = 0;
  i0 = i0 < 0 ? 0 : i0;
  i1 = i1 < c->n[0] ? i1 : c->n[0] - 1;
  if (j < 0 || j >= c->n[1] || k < 0 || k >= c->n[2] || i0 > i1)
    return;
  int64_t row = (int64_t)c->n[0] * (j + (int64_t)c->n[1] * k);
  *first = c->start[row + i0];
  *last = c->start[row + i1 + 1];
}

#endif
