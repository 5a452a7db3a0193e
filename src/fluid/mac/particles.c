/* Storage and order of the particles: growing blocks and a stable counting sort by cell.
   Verified by tests/unit/fluid/test_particles.c. */
#include "fluid/mac/particles.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

mn_status mn_particles_create(mn_context *ctx, int dim, int markers, size_t capacity,
                              mn_particles *p)
{
  *p = (mn_particles){.dim = dim,
                      .width = markers ? dim + 1 : 2 * dim + 1 + dim * dim,
                      .volume = markers ? dim : 2 * dim};
  return mn_particles_reserve(ctx, capacity ? capacity : 1, p);
}

void mn_particles_destroy(mn_particles *p)
{
  mn_free(p->data);
  *p = (mn_particles){0};
}

/* Room for `count` where there is too little: an eighth more at least. */
static size_t enough(size_t count, size_t room)
{
  return count > room + room / 8 ? count : room + room / 8;
}

mn_status mn_particles_reserve(mn_context *ctx, size_t count, mn_particles *p)
{
  if (count <= p->capacity)
    return MN_OK;
  size_t capacity = enough(count, p->capacity);
  MN_TRY(mn_grow(ctx, "particles", p->capacity, capacity, (size_t)p->width * sizeof(double),
                 (void **)&p->data));
  p->capacity = capacity;
  return MN_OK;
}

mn_status mn_particles_copy(mn_context *ctx, const mn_particles *from, mn_particles *to)
{
  MN_TRY(mn_particles_reserve(ctx, from->count, to));
  memcpy(to->data, from->data, from->count * (size_t)from->width * sizeof(double));
  to->count = from->count;
  return MN_OK;
}

mn_status mn_particle_cells_create(mn_context *ctx, const mn_grid *grid, mn_particle_cells *c)
{
  *c = (mn_particle_cells){.n = {grid->n[0], grid->n[1], grid->n[2]}};
  size_t cells = (size_t)grid->n[0] * (size_t)grid->n[1] * (size_t)grid->n[2];
  return MN_NEW(ctx, "particle cells", cells + 1, &c->start);
}

void mn_particle_cells_destroy(mn_particle_cells *c)
{
  mn_free(c->start);
  mn_free(c->cell);
  mn_free(c->rows);
  *c = (mn_particle_cells){0};
}

mn_status mn_particle_cells_reserve(mn_context *ctx, size_t count, mn_particle_cells *c)
{
  if (count <= c->capacity)
    return MN_OK;
  size_t capacity = enough(count, c->capacity);
  MN_TRY(mn_grow(ctx, "particle cells", c->capacity, capacity, sizeof *c->cell, (void **)&c->cell));
  c->capacity = capacity;
  return MN_OK;
}

/* The room to sort must match the particles' own capacity: the two are swapped. */
static mn_status reserve_rows(mn_context *ctx, const mn_particles *p, mn_particle_cells *c)
{
  if (c->room >= p->capacity)
    return MN_OK;
  mn_free(c->rows);
  c->rows = NULL;
  c->room = 0;
  MN_TRY(mn_alloc(ctx, "room to sort particles", p->capacity, (size_t)p->width * sizeof(double),
                  (void **)&c->rows));
  c->room = p->capacity;
  return MN_OK;
}

/* Rows [first, last) to their places; those that stay together are moved together. */
static void move_rows(const mn_particle_cells *c, const mn_particles *p, int64_t first,
                      int64_t last)
{
  for (int64_t i = first, end; i < last; i = end) {
    for (end = i + 1; end < last && c->cell[end] == c->cell[i] + (end - i); end++)
      continue;
    if (c->cell[i] >= 0)
      memcpy(c->rows + c->cell[i] * p->width, mn_particle(p, (size_t)i),
             (size_t)(end - i) * (size_t)p->width * sizeof(double));
    else
      end = i + 1;
  }
}

mn_status mn_particles_sort(mn_context *ctx, const mn_grid *grid, mn_particle_cells *c,
                            mn_particles *p)
{
  int64_t cells = (int64_t)c->n[0] * c->n[1] * c->n[2], count = (int64_t)p->count, kept = 0;
  MN_TRY(mn_particle_cells_reserve(ctx, p->count, c));
  MN_TRY(reserve_rows(ctx, p, c));
  memset(c->start, 0, (size_t)(cells + 1) * sizeof *c->start);
  for (int64_t i = 0; i < count; i++)
    if (c->cell[i] >= 0)
      c->start[c->cell[i] + 1]++;
  for (int64_t q = 0; q < cells; q++)
    c->start[q + 1] += c->start[q];
  kept = c->start[cells];
  for (int64_t i = 0; i < count; i++) /* from here on cell[] holds where each goes */
    if (c->cell[i] >= 0)
      c->cell[i] = c->start[c->cell[i]]++;
  for (int64_t q = cells; q > 0; q--) /* each start now stands at the next one's */
    c->start[q] = c->start[q - 1];
  c->start[0] = 0;
  int parts = grid->exec->threads;
#pragma omp parallel for schedule(static) num_threads(parts)
  for (int s = 0; s < parts; s++)
    move_rows(c, p, count * s / parts, count * (s + 1) / parts);
  double *rows = c->rows;
  size_t room = c->room;
  c->rows = p->data;
  c->room = p->capacity;
  p->data = rows;
  p->capacity = room;
  p->count = (size_t)kept;
  return MN_OK;
}
