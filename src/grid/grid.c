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

mn_status mn_field_create(mn_context *ctx, const mn_grid *grid, mn_place place, const char *name,
                          mn_field *f)
{
  *f = (mn_field){.grid = grid, .place = place};
  int ghost[3];
  size_t total[3], size = 1;
  for (int a = 0; a < 3; a++) {
    int active = a < grid->dim;
    ghost[a] = active ? MN_GHOST : 0;
    f->n[a] = grid->n[a] + (active && (place == MN_NODE || (int)place == a));
    total[a] = (size_t)f->n[a] + 2 * (size_t)ghost[a];
    f->stride[a] = (int64_t)size;
    size *= total[a];
  }
  f->size = size;
  MN_TRY(MN_NEW(ctx, name, size, &f->data));
  f->at = f->data + ghost[0] + ghost[1] * f->stride[1] + ghost[2] * f->stride[2];
  return MN_OK;
}

void mn_field_destroy(mn_field *f)
{
  mn_free(f->data);
  *f = (mn_field){0};
}

void mn_field_copy(mn_field *to, const mn_field *from)
{
  memcpy(to->data, from->data, from->size * sizeof *from->data);
}

void mn_field_fill(mn_field *f, double value)
{
  for (size_t i = 0; i < f->size; i++)
    f->data[i] = value;
}

void mn_sync(mn_field *field)
{
  (void)field; /* one process: there are no ghosts inside the domain */
}

/* Lower stencil index and fraction along an axis, clamped to the points and one ghost layer. */
static inline int stencil(const mn_field *f, int a, double x, double *fraction)
{
  const mn_grid *g = f->grid;
  double s = (x - g->origin.v[a]) / g->dx - g->lo[a] - mn_offset(f->place, a);
  int centred = mn_offset(f->place, a) > 0;
  s = mn_clamp(s, -centred, f->n[a] - 1 + centred);
  int i = s >= -centred ? (int)floor(s) : -centred; /* NaN: a valid index, and NaN as the result */
  if (i > f->n[a] - 2 + centred)
    i = f->n[a] - 2 + centred;
  *fraction = s - i;
  return i;
}

double mn_sample(const mn_field *f, mn_vec3 x)
{
  double tx, ty, tz = 0;
  int i = stencil(f, 0, x.x, &tx), j = stencil(f, 1, x.y, &ty), k = 0;
  if (f->grid->dim == 3)
    k = stencil(f, 2, x.z, &tz);
  const double *p = f->at + mn_index(f, i, j, k);
  int64_t sy = f->stride[1], sz = f->stride[2];
  double a = (1 - ty) * ((1 - tx) * p[0] + tx * p[1]) + ty * ((1 - tx) * p[sy] + tx * p[sy + 1]);
  if (f->grid->dim == 2)
    return a;
  p += sz;
  double b = (1 - ty) * ((1 - tx) * p[0] + tx * p[1]) + ty * ((1 - tx) * p[sy] + tx * p[sy + 1]);
  return (1 - tz) * a + tz * b;
}

double mn_sample_range(const mn_field *f, mn_vec3 x, double *lo, double *hi)
{
  double tx, ty, tz = 0;
  int i = stencil(f, 0, x.x, &tx), j = stencil(f, 1, x.y, &ty), k = 0;
  if (f->grid->dim == 3)
    k = stencil(f, 2, x.z, &tz);
  const double *p = f->at + mn_index(f, i, j, k);
  *lo = *hi = p[0];
  for (int c = 1; c < (f->grid->dim == 3 ? 8 : 4); c++) {
    double v = p[(c & 1) + ((c >> 1) & 1) * f->stride[1] + (c >> 2) * f->stride[2]];
    *lo = v < *lo ? v : *lo;
    *hi = v > *hi ? v : *hi;
  }
  return mn_sample(f, x);
}

mn_vec3 mn_sample_velocity(const mn_field u[3], mn_vec3 x)
{
  return mn_v3(mn_sample(&u[0], x), mn_sample(&u[1], x),
               u[0].grid->dim == 3 ? mn_sample(&u[2], x) : 0.0);
}
