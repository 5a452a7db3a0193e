#include "grid/grid.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

mn_grid mn_grid_make(const mn_exec *exec, int dim, const int cells[3], double dx, mn_vec3 origin)
{
  mn_grid g = {.dim = dim, .dx = dx, .origin = origin, .exec = exec};
  for (int a = 0; a < 3; a++)
    g.n[a] = g.global_n[a] = a < dim ? cells[a] : 1;
  if (dim == 2)
    g.origin.z = -0.5 * dx;
  return g;
}

mn_field mn_field_view(const mn_grid *grid, mn_place place, double *data)
{
  mn_field f = {
      .grid = grid, .place = place, .data = data, .at = data, .per_dx = 1 / grid->dx, .size = 1};
  for (int a = 0; a < 3; a++) {
    int active = a < grid->dim, ghost = active ? MN_GHOST : 0;
    int centred = mn_offset(place, a) > 0;
    f.n[a] = grid->n[a] + (active && !centred);
    f.stride[a] = (int64_t)f.size;
    f.size *= (size_t)f.n[a] + 2 * (size_t)ghost;
    f.at = data ? f.at + ghost * f.stride[a] : NULL;
    f.shift[a] = grid->origin.v[a] / grid->dx + grid->lo[a] + mn_offset(place, a);
    f.low[a] = centred ? -0.5 : 0;
    f.high[a] = f.n[a] - (centred ? 0.5 : 1);
    f.last[a] = f.n[a] - 2 + centred;
  }
  return f;
}

size_t mn_field_size(const mn_grid *grid, mn_place place)
{
  return mn_field_view(grid, place, NULL).size;
}

mn_status mn_field_create(mn_context *ctx, const mn_grid *grid, mn_place place, const char *name,
                          mn_field *f)
{
  double *data;
  *f = (mn_field){0};
  MN_TRY(MN_NEW(ctx, name, mn_field_size(grid, place), &data));
  *f = mn_field_view(grid, place, data);
  return MN_OK;
}

void mn_field_destroy(mn_field *f)
{
  mn_free(f->data);
  *f = (mn_field){0};
}

/* Numbers [*first, *last) of part `n` of as many as there are threads. */
static void part_of(const mn_field *f, int n, size_t *first, size_t *last)
{
  size_t parts = (size_t)f->grid->exec->threads;
  *first = f->size / parts * (size_t)n;
  *last = n + 1 < f->grid->exec->threads ? f->size / parts * ((size_t)n + 1) : f->size;
}

void mn_field_copy(mn_field *to, const mn_field *from)
{
  int threads = from->grid->exec->threads;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int n = 0; n < threads; n++) {
    size_t first, last;
    part_of(from, n, &first, &last);
    memcpy(to->data + first, from->data + first, (last - first) * sizeof *from->data);
  }
}

void mn_field_fill(mn_field *f, double value)
{
  int threads = f->grid->exec->threads;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int n = 0; n < threads; n++) {
    size_t first, last;
    part_of(f, n, &first, &last);
    for (size_t i = first; i < last; i++)
      f->data[i] = value;
  }
}

void mn_sync(mn_field *field)
{
  (void)field; /* one process: there are no ghosts inside the domain */
}

double mn_sample_range(const mn_field *f, mn_vec3 x, double *lo, double *hi)
{
  double tx, ty, tz = 0;
  int i = mn_stencil_index(f, 0, x.x, &tx), j = mn_stencil_index(f, 1, x.y, &ty), k = 0;
  if (f->grid->dim == 3)
    k = mn_stencil_index(f, 2, x.z, &tz);
  const double *p = f->at + mn_index(f, i, j, k);
  *lo = *hi = p[0];
  for (int c = 1; c < (f->grid->dim == 3 ? 8 : 4); c++) {
    double v = p[(c & 1) + ((c >> 1) & 1) * f->stride[1] + (c >> 2) * f->stride[2]];
    *lo = v < *lo ? v : *lo;
    *hi = v > *hi ? v : *hi;
  }
  return mn_sample(f, x);
}
