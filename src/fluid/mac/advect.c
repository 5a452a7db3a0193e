/* Advection: what the fluid carries, velocity included.

       D q / D t = 0:   q(x, t + dt) = q(X, t),   X the point whose path ends in x

   Paths by the three-stage Runge-Kutta scheme of Ralston along a velocity frozen at the middle of
   the step. Semi-Lagrangian: linear interpolation at X, first order. MacCormack [Selle et al.
   2008]:

       a = A q,   b = A^-1 a,   q' = a + (q - b)/2

   second order; q' is clamped to the values around X (limiter), and where a path meets the domain's
   sides, or comes near thin shells (shell.c), the semi-Lagrangian value a stands. Unconditionally
   stable.

   Verified by tests/verify/test_taylor_green.c and tests/unit/fluid/test_advect.c. */
#include "fluid/mac/internal.h"

#include <math.h>

#include "fluid/mac/trace.h"

typedef struct job {
  const mn_mac *mac;
  const mn_field *open;  /* what lies behind closed faces does not count; NULL: it does */
  const mn_shell *shell; /* NULL: none */
  double dt;
  mn_tracer tracer;
  const mn_field *from;
  const mn_field *there; /* A q, in the second pass */
  const double *outside;
  mn_field *to;
} job;

/* Where what arrives at point (i, j, k) of `to` was. */
static inline mn_vec3 departure(const job *w, int i, int j, int k, const int dim)
{
  mn_place place = w->to->place;
  mn_vec3 x = mn_v3(i + mn_offset(place, 0), j + mn_offset(place, 1), k + mn_offset(place, 2));
  return mn_tracer_path(&w->tracer, x, mn_tracer_velocity_at(&w->tracer, place, i, j, k, dim), dim);
}

/* What comes in through an open side: a scalar has its value outside, a velocity falls to it over a
   cell, as fluid does that is drawn in from rest. */
static inline double entering(const job *w, mn_vec3 x, int side, double at_side)
{
  if (w->from->place == MN_CELL)
    return *w->outside;
  double beyond = side % 2 ? x.v[side / 2] - w->tracer.end[side / 2] : -x.v[side / 2];
  return beyond < 1 ? mn_lerp(beyond, at_side, *w->outside) : *w->outside;
}

/* The value at a point whose path comes near shells, which has no second order there; a hole where
   there is none. */
static double carried_past_shells(const job *w, int i, int j, int k, int64_t q)
{
  const mn_mac *mac = w->mac;
  mn_vec3 raw;
  int cut;
  if (w->to->place != MN_CELL &&
      mn_immersed_blocks(w->shell->end.surface, (int)w->to->place, i, j, k))
    return w->from->at[q]; /* a blocked face: what is carried there does not count */
  double value = mn_shell_carried(mac, w->dt, w->from, mn_position(w->to, i, j, k), &raw, &cut);
  if (isnan(value)) {
    w->shell->hole[w->to->at - w->to->data + q] = 1;
    return w->from->at[q];
  }
  int side = cut || !w->outside ? -1 : mn_tracer_side(&w->tracer, raw, mac->grid.dim);
  if (side >= 0 && mac->def->domain.side[side].kind == MN_SIDE_OPEN)
    value = entering(w, raw, side, value);
  return value;
}

/* Whether the path of a point comes near shells; if not, *x is where it began. */
static inline int meets_shells(const job *w, int i, int j, int k, mn_vec3 *x, const int dim)
{
  if (mn_shell_is_far(w->shell, &w->mac->grid, i, j, k))
    return 0;
  mn_place place = w->to->place;
  mn_vec3 at = mn_v3(i + mn_offset(place, 0), j + mn_offset(place, 1), k + mn_offset(place, 2));
  mn_vec3 k1 = mn_tracer_velocity_at(&w->tracer, place, i, j, k, dim);
  return !mn_shell_passes_by(w->shell, &w->tracer, at, k1, x);
}

/* Nothing moves where the path to this point would be followed, and nothing is carried: far from
   water, which half of a scene often is. What is left out is the mean of zeros. */
static inline int is_still(const job *w, int i, int j, int k, int64_t q, const int dim)
{
  const mn_tracer *t = &w->tracer;
  int a = (int)w->to->place;
  if (w->from->at[q] != 0 || a == MN_CELL)
    return 0;
  for (int b = 0; b < dim; b++) {
    int64_t stride[3] = {1, t->sy[b], t->sz[b]};
    const double *p = t->u[b] + i + j * t->sy[b] + (dim == 3 ? k * t->sz[b] : 0);
    if (p[0] != 0 ||
        (a != b && (p[stride[b]] != 0 || p[-stride[a]] != 0 || p[stride[b] - stride[a]] != 0)))
      return 0;
  }
  return 1;
}

/* to <- A q in the rows [j0, j1) of plane k, and the bounds for the correction, if there is one */
static inline void carry_rows(const job *w, int k, int j0, int j1, const int dim)
{
  const mn_mac *mac = w->mac;
  int limiter = mac->def->fluid.limiter, bounds = mac->lo != NULL;
  double least, most;
  int64_t base = w->to->at - w->to->data;
  for (int j = j0; j < j1; j++)
    for (int i = 0; i < w->to->n[0]; i++) {
      int64_t q = mn_index(w->to, i, j, k);
      double *lo = bounds ? &mac->lo[base + q] : &least, *hi = bounds ? &mac->hi[base + q] : &most;
      mn_vec3 x;
      if ((w->open && !(w->open->at[q] > 0)) || (!bounds && is_still(w, i, j, k, q, dim))) {
        w->to->at[q] = 0;
        continue;
      }
      if (w->shell && meets_shells(w, i, j, k, &x, dim)) {
        *lo = *hi = w->to->at[q] = carried_past_shells(w, i, j, k, q);
        continue;
      }
      x = departure(w, i, j, k, dim);
      int side = mn_tracer_side(&w->tracer, x, dim);
      double value = bounds ? mn_tracer_sample_range(&w->tracer, w->from, x, lo, hi, dim)
                            : mn_tracer_sample(&w->tracer, w->from, x, dim);
      if (side >= 0) {
        if (w->outside && mac->def->domain.side[side].kind == MN_SIDE_OPEN)
          value = entering(w, x, side, value);
        *lo = *hi = value;
      } else if (!limiter) {
        *lo = -INFINITY;
        *hi = INFINITY;
      }
      w->to->at[q] = value;
    }
}

/* The path back or the one forth came near shells. */
static inline int stays_first_order(const job *w, int i, int j, int k, int64_t q, const int dim)
{
  mn_vec3 x;
  return !mn_shell_is_far(w->shell, &w->mac->grid, i, j, k) &&
         (w->mac->lo[q] == w->mac->hi[q] || meets_shells(w, i, j, k, &x, dim));
}

/* to <- a + (q - A^-1 a)/2 within the bounds, a in `there` */
static inline void correct_rows(const job *w, int k, int j0, int j1, const int dim)
{
  const mn_mac *mac = w->mac;
  int64_t base = w->to->at - w->to->data;
  for (int j = j0; j < j1; j++)
    for (int i = 0; i < w->to->n[0]; i++) {
      int64_t q = mn_index(w->to, i, j, k);
      mn_vec3 x;
      if (w->shell && stays_first_order(w, i, j, k, base + q, dim)) {
        w->to->at[q] = w->there->at[q];
        continue;
      }
      x = departure(w, i, j, k, dim);
      int outside = mn_tracer_side(&w->tracer, x, dim) >= 0;
      double back = outside ? w->from->at[q] : mn_tracer_sample(&w->tracer, w->there, x, dim);
      double value = w->there->at[q] + 0.5 * (w->from->at[q] - back);
      w->to->at[q] = mn_clamp(value, mac->lo[base + q], mac->hi[base + q]);
    }
}

static void carry(const job *w)
{
  int slabs = mn_slabs(w->to), dim = w->mac->grid.dim;
#pragma omp parallel for schedule(static) num_threads(w->mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(w->to, s, &k, &j0, &j1);
    if (dim == 2)
      carry_rows(w, k, j0, j1, 2);
    else
      carry_rows(w, k, j0, j1, 3);
  }
}

static void correct(const job *w)
{
  int slabs = mn_slabs(w->to), dim = w->mac->grid.dim;
#pragma omp parallel for schedule(static) num_threads(w->mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(w->to, s, &k, &j0, &j1);
    if (dim == 2)
      correct_rows(w, k, j0, j1, 2);
    else
      correct_rows(w, k, j0, j1, 3);
  }
}

void mn_mac_advect(mn_mac *mac, double dt, const mn_field *from, const double *outside,
                   mn_field *to)
{
  const mn_shell *shell = mac->shell.on ? &mac->shell : NULL;
  double otherwise = outside ? *outside : mac->grid.dx;
  /* the projection gives closed faces the walls' velocities; viscosity looks at them before, and
     bodies may open them yet */
  int skip = mn_water_is_marked(mac) && from->place < MN_CELL && !(mac->def->fluid.viscosity > 0) &&
             !mac->bodies.on;
  const mn_field *open = skip ? &mac->geometry.open[from->place] : NULL;
  job w = {mac, open, shell, dt, mn_tracer_make(mac->trace, dt), from, NULL, outside, to};
  if (!mn_mac_corrects(mac)) {
    carry(&w);
    if (shell)
      mn_shell_refill(mac, to, otherwise);
    return;
  }
  mn_field there = mn_field_view(&mac->grid, from->place, mac->scratch); /* A q */
  w.to = &there;
  carry(&w);
  if (shell)
    mn_shell_refill(mac, &there, otherwise);
  if (from->place == MN_CELL)
    mn_mac_fill_cells(&there);
  else
    mn_mac_fill_velocity(mac, mac->geometry.time, &there, (int)from->place);
  w.tracer.scale = -w.tracer.scale;
  w.there = &there;
  w.to = to;
  correct(&w);
}
