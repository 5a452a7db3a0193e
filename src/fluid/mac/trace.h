/* Paths and interpolation in index space: positions in cells from the low corner of the local box,
   velocities in cells per step. The inner loop of advection: about 3 times faster than mn_sample,
   to which it agrees to rounding (tests/unit/fluid/test_advect.c). `dim` is a constant at every
   call, so that each dimension gets code of its own. */
#ifndef MN_FLUID_MAC_TRACE_H
#define MN_FLUID_MAC_TRACE_H

#include "grid/grid.h"

typedef struct mn_tracer {
  const double *u[3];   /* point (0, 0, 0) of each component */
  int64_t sy[3], sz[3]; /* strides of each component */
  double end[3];        /* cells along each axis */
  double scale;         /* -dt/dx: a path is followed back */
} mn_tracer;

static inline mn_tracer mn_tracer_make(const mn_field u[3], double dt)
{
  const mn_grid *g = u[0].grid;
  mn_tracer t = {.scale = -dt / g->dx};
  for (int a = 0; a < g->dim; a++) {
    t.u[a] = u[a].at;
    t.sy[a] = u[a].stride[1];
    t.sz[a] = u[a].stride[2];
    t.end[a] = g->n[a];
  }
  return t;
}

/* Where a coordinate falls among points on the faces (0, 1, 2, ...) and among centred ones
   (0.5, 1.5, ...): lower index and fraction. Clamped to the domain; centred points have a ghost at
   either end. */
typedef struct mn_split {
  int face, cell;
  double face_part, cell_part;
} mn_split;

static inline mn_split mn_split_at(double x, double end)
{
  x = x < 0 ? 0 : x;
  x = x > end ? end : x;
  mn_split s;
  s.face = x >= 0 ? (int)x : 0; /* NaN: a valid index */
  s.face = s.face < (int)end ? s.face : (int)end - 1;
  s.face_part = x - s.face;
  s.cell = x >= 0 ? (int)(x + 0.5) - 1 : 0; /* floor(x - 0.5) */
  s.cell_part = x - 0.5 - s.cell;
  return s;
}

static inline double mn_lerp(double t, double a, double b)
{
  return a + t * (b - a);
}

static inline double mn_blend(const double *p, int64_t sy, int64_t sz, double tx, double ty,
                              double tz, const int dim)
{
  double low = mn_lerp(ty, mn_lerp(tx, p[0], p[1]), mn_lerp(tx, p[sy], p[sy + 1]));
  if (dim == 2)
    return low;
  p += sz;
  double high = mn_lerp(ty, mn_lerp(tx, p[0], p[1]), mn_lerp(tx, p[sy], p[sy + 1]));
  return mn_lerp(tz, low, high);
}

static inline mn_vec3 mn_tracer_velocity(const mn_tracer *t, mn_vec3 x, const int dim)
{
  mn_split a = mn_split_at(x.x, t->end[0]), b = mn_split_at(x.y, t->end[1]);
  mn_split c = dim == 3 ? mn_split_at(x.z, t->end[2]) : (mn_split){0};
  mn_vec3 u;
  u.x = mn_blend(t->u[0] + a.face + b.cell * t->sy[0] + c.cell * t->sz[0], t->sy[0], t->sz[0],
                 a.face_part, b.cell_part, c.cell_part, dim);
  u.y = mn_blend(t->u[1] + a.cell + b.face * t->sy[1] + c.cell * t->sz[1], t->sy[1], t->sz[1],
                 a.cell_part, b.face_part, c.cell_part, dim);
  u.z = dim == 2 ? 0
                 : mn_blend(t->u[2] + a.cell + b.cell * t->sy[2] + c.face * t->sz[2], t->sy[2],
                            t->sz[2], a.cell_part, b.cell_part, c.face_part, dim);
  return u;
}

/* The velocity at point (i, j, k) of a place: means of the values around it, without interpolation.
 */
static inline mn_vec3 mn_tracer_velocity_at(const mn_tracer *t, mn_place place, int i, int j, int k,
                                            const int dim)
{
  mn_vec3 u = {{0, 0, 0}};
  for (int b = 0; b < dim; b++) {
    int64_t stride[3] = {1, t->sy[b], t->sz[b]};
    const double *p = t->u[b] + i + j * t->sy[b] + (dim == 3 ? k * t->sz[b] : 0);
    if ((int)place == b)
      u.v[b] = p[0];
    else if (place == MN_CELL)
      u.v[b] = 0.5 * (p[0] + p[stride[b]]);
    else
      u.v[b] = 0.25 * (p[0] + p[stride[b]] + p[-stride[place]] + p[stride[b] - stride[place]]);
  }
  return u;
}

/* Where the path that ends in x began, k1 the velocity at x: Ralston's third-order scheme. */
static inline mn_vec3 mn_tracer_path(const mn_tracer *t, mn_vec3 x, mn_vec3 k1, const int dim)
{
  double h = t->scale;
  mn_vec3 k2 = mn_tracer_velocity(t, mn_madd(x, 0.5 * h, k1), dim);
  mn_vec3 k3 = mn_tracer_velocity(t, mn_madd(x, 0.75 * h, k2), dim);
  mn_vec3 k = mn_v3(2 * k1.x + 3 * k2.x + 4 * k3.x, 2 * k1.y + 3 * k2.y + 4 * k3.y,
                    2 * k1.z + 3 * k2.z + 4 * k3.z);
  return mn_madd(x, h / 9, k);
}

/* -1 inside the domain, else a side beyond which x lies. */
static inline int mn_tracer_side(const mn_tracer *t, mn_vec3 x, const int dim)
{
  for (int a = 0; a < dim; a++) {
    if (x.v[a] < 0)
      return 2 * a;
    if (x.v[a] > t->end[a])
      return 2 * a + 1;
  }
  return -1;
}

/* Lower corner of the stencil around x, and the fractions. */
static inline const double *mn_tracer_stencil(const mn_tracer *t, const mn_field *f, mn_vec3 x,
                                              double part[3], const int dim)
{
  const double *p = f->at;
  for (int a = 0; a < dim; a++) {
    mn_split s = mn_split_at(x.v[a], t->end[a]);
    int face = (int)f->place == a;
    p += (face ? s.face : s.cell) * f->stride[a];
    part[a] = face ? s.face_part : s.cell_part;
  }
  return p;
}

static inline double mn_tracer_sample(const mn_tracer *t, const mn_field *f, mn_vec3 x,
                                      const int dim)
{
  double part[3] = {0};
  const double *p = mn_tracer_stencil(t, f, x, part, dim);
  return mn_blend(p, f->stride[1], f->stride[2], part[0], part[1], part[2], dim);
}

/* The same with the least and greatest value of the stencil. */
static inline double mn_tracer_sample_range(const mn_tracer *t, const mn_field *f, mn_vec3 x,
                                            double *lo, double *hi, const int dim)
{
  double part[3] = {0};
  const double *p = mn_tracer_stencil(t, f, x, part, dim);
  double least = p[0], most = p[0];
  for (int c = 1; c < (dim == 3 ? 8 : 4); c++) {
    double v = p[(c & 1) + (c >> 1 & 1) * f->stride[1] + (dim == 3 ? (c >> 2) * f->stride[2] : 0)];
    least = v < least ? v : least;
    most = v > most ? v : most;
  }
  *lo = least;
  *hi = most;
  return mn_blend(p, f->stride[1], f->stride[2], part[0], part[1], part[2], dim);
}

#endif
