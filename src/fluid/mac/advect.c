/* Advection: what the fluid carries, velocity included.

       D q / D t = 0:   q(x, t + dt) = q(X, t),   X the point whose path ends in x

   Paths by the three-stage Runge-Kutta scheme of Ralston along a velocity frozen at the middle of
   the step. Semi-Lagrangian: linear interpolation at X, first order. MacCormack [Selle et al.
   2008]:

       a = A q,   b = A^-1 a,   q' = a + (q - b)/2

   second order; q' is clamped to the values around X (limiter), and where a path meets the domain's
   sides the semi-Lagrangian value a stands. Unconditionally stable.

   Verified by tests/verify/test_taylor_green.c and tests/unit/fluid/test_advect.c. */
#include "fluid/mac/internal.h"

#include <math.h>

static inline mn_vec3 trace_path(const mn_field u[3], mn_vec3 x, double dt)
{
  mn_vec3 k1 = mn_sample_velocity(u, x);
  mn_vec3 k2 = mn_sample_velocity(u, mn_madd(x, -0.5 * dt, k1));
  mn_vec3 k3 = mn_sample_velocity(u, mn_madd(x, -0.75 * dt, k2));
  mn_vec3 k = mn_v3(2 * k1.x + 3 * k2.x + 4 * k3.x, 2 * k1.y + 3 * k2.y + 4 * k3.y,
                    2 * k1.z + 3 * k2.z + 4 * k3.z);
  return mn_madd(x, -dt / 9, k);
}

/* -1 inside the domain, else a side beyond which x lies. */
static inline int side_beyond(const mn_grid *g, mn_vec3 x)
{
  for (int a = 0; a < g->dim; a++) {
    if (x.v[a] < g->origin.v[a])
      return 2 * a;
    if (x.v[a] > g->origin.v[a] + g->dx * g->global_n[a])
      return 2 * a + 1;
  }
  return -1;
}

/* to <- A from, and the bounds for the limiter */
static void carry(mn_mac *mac, double dt, const mn_field *from, const double *outside, mn_field *to)
{
  const mn_grid *g = &mac->grid;
  int limiter = mac->def->fluid.limiter, slabs = mn_slabs(to);
  int64_t base = to->at - to->data;
#pragma omp parallel for schedule(static) num_threads(g->exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(to, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < to->n[0]; i++) {
        int64_t q = mn_index(to, i, j, k);
        mn_vec3 x = trace_path(mac->trace, mn_position(to, i, j, k), dt);
        int side = side_beyond(g, x);
        double *lo = &mac->lo[base + q], *hi = &mac->hi[base + q];
        if (side >= 0) {
          int enters = outside && mac->def->domain.side[side].kind == MN_SIDE_OPEN;
          to->at[q] = *lo = *hi = enters ? *outside : mn_sample(from, x);
        } else {
          to->at[q] = mn_sample_range(from, x, lo, hi);
          if (!limiter) {
            *lo = -INFINITY;
            *hi = INFINITY;
          }
        }
      }
  }
}

void mn_mac_advect(mn_mac *mac, double dt, const mn_field *from, const double *outside,
                   mn_field *to)
{
  if (mac->def->fluid.advection == MN_ADVECT_SEMILAGRANGIAN) {
    carry(mac, dt, from, outside, to);
    return;
  }
  mn_field there = mn_field_view(&mac->grid, from->place, mac->scratch); /* A q */
  carry(mac, dt, from, outside, &there);
  if (from->place == MN_CELL)
    mn_mac_fill_cells(&there);
  else
    mn_mac_fill_velocity(mac, mac->geometry.time, &there, (int)from->place);
  int slabs = mn_slabs(to);
  int64_t base = to->at - to->data;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(to, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < to->n[0]; i++) {
        int64_t q = mn_index(to, i, j, k);
        mn_vec3 x = trace_path(mac->trace, mn_position(to, i, j, k), -dt);
        double back = side_beyond(&mac->grid, x) >= 0 ? from->at[q] : mn_sample(&there, x);
        double value = there.at[q] + 0.5 * (from->at[q] - back);
        to->at[q] = mn_clamp(value, mac->lo[base + q], mac->hi[base + q]);
      }
  }
}
