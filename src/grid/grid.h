/* The staggered grid and the fields on it.

   A grid is a local box of cubic cells inside a global one; in one process the two are equal. A
   field holds one number per cell, per face of one axis, or per node, with a ghost layer around
   the local box. Point (i, j, k) of a field stands at

       origin + dx (lo + (i, j, k) + offset),   offset = 1/2 along the axes where it is centred.

   In 2D n[2] = 1, there are no ghosts along z and no z-faces. Ghost values beyond the domain are
   what the boundary conditions say; ghost values inside the domain come from mn_sync. */
#ifndef MN_GRID_GRID_H
#define MN_GRID_GRID_H

#include "base/exec.h"
#include "math/vec.h"
#include "meniscus/base.h"

enum { MN_GHOST = 2 };

typedef struct mn_grid {
  int dim;
  int n[3];  /* local cells; n[2] = 1 in 2D */
  int lo[3]; /* global index of local cell (0, 0, 0) */
  int global_n[3];
  double dx; /* m */
  mn_vec3
      origin; /* m, low corner of the global box; in 2D z is -dx/2, so that cells lie at z = 0 */
  const mn_exec *exec;
} mn_grid;

typedef enum mn_place { MN_FACE_X, MN_FACE_Y, MN_FACE_Z, MN_CELL, MN_NODE } mn_place;

typedef struct mn_field {
  const mn_grid *grid; /* borrowed */
  mn_place place;
  int n[3];          /* local points: cells + 1 along the axes where it is not centred */
  int64_t stride[3]; /* stride[0] = 1 */
  double *at;        /* address of point (0, 0, 0) */
  double *data;      /* all points with ghosts */
  size_t size;       /* their number */
  /* for interpolation: point index s = x per_dx - shift, within [low, high]; lower index <= last */
  double per_dx, shift[3], low[3], high[3];
  int last[3];
} mn_field;

mn_grid mn_grid_make(const mn_exec *exec, int dim, const int cells[3], double dx, mn_vec3 origin);

/* All zero. The grid is borrowed. */
MN_MUST_CHECK mn_status mn_field_create(mn_context *ctx, const mn_grid *grid, mn_place place,
                                        const char *name, mn_field *field);
void mn_field_destroy(mn_field *field);
/* A field on memory of the caller, mn_field_size(grid, place) numbers; not to be destroyed. */
mn_field mn_field_view(const mn_grid *grid, mn_place place, double *data);
size_t mn_field_size(const mn_grid *grid, mn_place place);
void mn_field_copy(mn_field *to, const mn_field *from);
void mn_field_fill(mn_field *field, double value);

/* Makes ghosts inside the domain agree with their owners. To be called after writing a field whose
   neighbours will be read; nothing to do in one process. */
void mn_sync(mn_field *field);

static inline int64_t mn_index(const mn_field *f, int i, int j, int k)
{
  return i + j * f->stride[1] + k * f->stride[2];
}
/* (i, j, k) of an index into f->data. */
static inline void mn_field_point(const mn_field *f, int64_t c, int at[3])
{
  int three = f->grid->dim == 3;
  at[0] = (int)(c % f->stride[1]) - MN_GHOST;
  at[1] = (int)((three ? c % f->stride[2] : c) / f->stride[1]) - MN_GHOST;
  at[2] = three ? (int)(c / f->stride[2]) - MN_GHOST : 0;
}
static inline double mn_get(const mn_field *f, int i, int j, int k)
{
  return f->at[mn_index(f, i, j, k)];
}
static inline void mn_set(mn_field *f, int i, int j, int k, double value)
{
  f->at[mn_index(f, i, j, k)] = value;
}

/* Offset of a field's points along an axis: 1/2 where it is centred, else 0. */
static inline double mn_offset(mn_place place, int axis)
{
  return place == MN_NODE || (int)place == axis ? 0.0 : 0.5;
}
static inline mn_vec3 mn_position(const mn_field *f, int i, int j, int k)
{
  const mn_grid *g = f->grid;
  return mn_v3(g->origin.x + g->dx * (g->lo[0] + i + mn_offset(f->place, 0)),
               g->origin.y + g->dx * (g->lo[1] + j + mn_offset(f->place, 1)),
               g->dim == 2 ? 0.0 : g->origin.z + g->dx * (g->lo[2] + k + mn_offset(f->place, 2)));
}

/* Slabs for parallel loops and ordered sums: planes in 3D, rows in 2D. mn_slab(f) of them; slab s
   has the rows [j0, j1) of plane k. */
static inline int mn_slabs(const mn_field *f)
{
  return f->grid->dim == 3 ? f->n[2] : f->n[1];
}
static inline void mn_slab(const mn_field *f, int s, int *k, int *j0, int *j1)
{
  int three = f->grid->dim == 3;
  *k = three ? s : 0;
  *j0 = three ? 0 : s;
  *j1 = three ? f->n[1] : s + 1;
}

/* Lower stencil index and fraction along an axis. Positions are clamped to the domain, whose edge
   lies between the last point and its ghost where the field is centred. NaN gives a valid index and
   a NaN fraction. */
static inline int mn_stencil_index(const mn_field *f, int a, double x, double *fraction)
{
  double s = mn_clamp(x * f->per_dx - f->shift[a], f->low[a], f->high[a]);
  int i = s >= f->low[a] ? (int)(s + 1) - 1 : 0; /* floor: s >= -1 */
  i = i < f->last[a] ? i : f->last[a];
  *fraction = s - i;
  return i;
}

/* Multilinear interpolation at x; outside the domain, at the nearest point of it. Uses one layer of
   ghosts. */
static inline double mn_sample(const mn_field *f, mn_vec3 x)
{
  double tx, ty, tz;
  int i = mn_stencil_index(f, 0, x.x, &tx), j = mn_stencil_index(f, 1, x.y, &ty);
  const double *p = f->at + i + j * f->stride[1];
  int64_t sy = f->stride[1];
  if (f->grid->dim == 2)
    return (1 - ty) * ((1 - tx) * p[0] + tx * p[1]) + ty * ((1 - tx) * p[sy] + tx * p[sy + 1]);
  p += mn_stencil_index(f, 2, x.z, &tz) * f->stride[2];
  const double *q = p + f->stride[2];
  double a = (1 - ty) * ((1 - tx) * p[0] + tx * p[1]) + ty * ((1 - tx) * p[sy] + tx * p[sy + 1]);
  double b = (1 - ty) * ((1 - tx) * q[0] + tx * q[1]) + ty * ((1 - tx) * q[sy] + tx * q[sy + 1]);
  return (1 - tz) * a + tz * b;
}

/* The same, with the least and greatest value of the stencil. */
double mn_sample_range(const mn_field *f, mn_vec3 x, double *lo, double *hi);

/* The vector of a staggered velocity. */
static inline mn_vec3 mn_sample_velocity(const mn_field u[3], mn_vec3 x)
{
  return mn_v3(mn_sample(&u[0], x), mn_sample(&u[1], x),
               u[0].grid->dim == 3 ? mn_sample(&u[2], x) : 0.0);
}

#endif
