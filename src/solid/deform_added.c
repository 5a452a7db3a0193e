/* Inertia that a coupling adds to the points of the surface, inside the equation of motion.

   Point i has weights w_ia on nodes a, V_i = sum_a w_ia (x1_a - x_a)/dt its mean velocity, and
   feels

       f_i = -m_i (V_i - V_i in)/dt,    the gradient of -P,   P = sum_i m_i/(2 sx) |V_i - V_i in|^2

   with respect to y, x1 = x + sx (y - x). It enters as a load does, for all schemes: the matrix
   gets sx/dt^2 w^T m w, the consistent mass. Where V in is what comes out, nothing was felt.
   Explicit bodies solve (M + w^T m w) v1 = M v + dt f + w^T m V in, by conjugate gradients: as many
   steps as the points differ from the nodes, one if they are the same. Verified by
   tests/unit/solid/test_added.c. */
#include "solid/deform_internal.h"

#include <string.h>

#include "base/status.h"

enum { STEPS = 500 };
static const double ENOUGH = 1e-15; /* of the residual's start */

void mn_deform_set_added(mn_deform *d, const mn_surface_points *points, const double *mass,
                         const mn_vec3 *velocity)
{
  if ((d->added.points == NULL) != (points == NULL))
    d->pending = d->began; /* between masses that differ Newton's method judges the factor */
  d->added = (mn_added){points, mass, velocity};
  memset(d->dragged, 0, mn_deform_dofs(d) * sizeof *d->dragged);
}

/* sum_a w_a u_a of the flat vector u. */
static mn_vec3 at_point(const mn_deform *d, const mn_surface_point *p, const double *u)
{
  mn_vec3 sum = {0};
  for (int a = 0; a < p->nodes; a++)
    for (int k = 0; k < d->def.dim; k++)
      sum.v[k] += p->weight[a] * u[p->node[a] * (size_t)d->def.dim + (size_t)k];
  return sum;
}

static void give(const mn_deform *d, const mn_surface_point *p, mn_vec3 f, double *force)
{
  for (int a = 0; a < p->nodes; a++)
    for (int k = 0; k < d->def.dim; k++)
      force[p->node[a] * (size_t)d->def.dim + (size_t)k] += p->weight[a] * f.v[k];
}

/* force = -w^T m (w u - V in)/dt; returns sum m/2 |w u - V in|^2. */
static double drag(const mn_deform *d, const double *u, double *force)
{
  double sum = 0;
  memset(force, 0, mn_deform_dofs(d) * sizeof *force);
  for (size_t i = 0; i < d->added.points->count; i++) {
    const mn_surface_point *p = d->added.points->point + i;
    double m = d->added.mass[i];
    if (m == 0)
      continue;
    mn_vec3 gap = mn_sub(at_point(d, p, u), d->added.velocity[i]);
    sum += 0.5 * m * mn_dot(gap, gap);
    give(d, p, mn_scale(-m / d->dt, gap), force);
  }
  return sum;
}

double mn_deform_added_at(mn_deform *d, const double *y)
{
  size_t dim = (size_t)d->def.dim;
  if (!d->added.points)
    return 0;
  for (size_t i = 0; i < mn_deform_dofs(d); i++)
    d->mean[i] = d->terms.sx * (y[i] - d->x[i / dim].v[i % dim]) / d->dt;
  return drag(d, d->mean, d->dragged) / d->terms.sx;
}

void mn_deform_added_matrix(const mn_deform *d, double *value)
{
  double c = d->terms.sx / (d->dt * d->dt);
  for (size_t i = 0; d->added.points && i < d->added.points->count; i++) {
    const mn_surface_point *p = d->added.points->point + i;
    double m = c * d->added.mass[i];
    for (int q = 0; m != 0 && q < p->nodes; q++)
      for (int r = 0; r < p->nodes; r++) {
        double entry = m * p->weight[q] * p->weight[r];
        for (int k = 0; entry != 0 && k < d->def.dim; k++)
          value[mn_assembly_entry(&d->assembly, p->node[q], k, p->node[r], k)] += entry;
      }
  }
}

/* ---- explicit -------------------------------------------------------------------------------- */

/* out = (M + w^T m w) u on the free axes. */
static void multiply(const mn_deform *d, const double *u, double *out)
{
  size_t dim = (size_t)d->def.dim;
  for (size_t i = 0; i < mn_deform_dofs(d); i++)
    out[i] = d->mass[i / dim] * u[i];
  for (size_t i = 0; i < d->added.points->count; i++)
    if (d->added.mass[i] != 0) {
      const mn_surface_point *p = d->added.points->point + i;
      give(d, p, mn_scale(d->added.mass[i], at_point(d, p, u)), out);
    }
  for (size_t i = 0; i < mn_deform_dofs(d); i++)
    if (mn_deform_is_fixed(d, i))
      out[i] = 0;
}

/* The diagonal of M + w^T m w. */
static void set_diagonal(const mn_deform *d, double *diagonal)
{
  size_t dim = (size_t)d->def.dim;
  for (size_t i = 0; i < mn_deform_dofs(d); i++)
    diagonal[i] = d->mass[i / dim];
  for (size_t i = 0; i < d->added.points->count; i++) {
    const mn_surface_point *p = d->added.points->point + i;
    for (int a = 0; a < p->nodes; a++)
      for (size_t k = 0; k < dim; k++)
        diagonal[p->node[a] * dim + k] += d->added.mass[i] * p->weight[a] * p->weight[a];
  }
}

static double dot(size_t n, const double *a, const double *b)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

mn_status mn_deform_added_solve(mn_deform *d, double *r, double *u)
{
  size_t n = mn_deform_dofs(d);
  double *diagonal = d->y0, *p = d->y1, *q = d->trial; /* free in an explicit substep */
  set_diagonal(d, diagonal);
  memset(u, 0, n * sizeof *u);
  double last = 0, start = 0, size = 0;
  for (int k = 0; k <= STEPS; k++) {
    for (size_t i = 0; i < n; i++)
      q[i] = mn_deform_is_fixed(d, i) ? 0 : r[i] / diagonal[i];
    size = dot(n, r, q);
    start = k ? start : size;
    if (size <= ENOUGH * ENOUGH * start)
      return MN_OK;
    for (size_t i = 0; i < n; i++)
      p[i] = q[i] + (k ? size / last * p[i] : 0);
    multiply(d, p, q);
    double step = size / dot(n, p, q);
    for (size_t i = 0; i < n; i++) {
      u[i] += step * p[i];
      r[i] -= step * (mn_deform_is_fixed(d, i) ? 0 : q[i]);
    }
    last = size;
  }
  if (size <= 1e-20 * start)
    return MN_OK;
  return mn_fail(d->ctx, MN_FAILED, "the added mass of explicit bodies was not solved in %d steps",
                 STEPS);
}

mn_status mn_deform_added_explicit(mn_deform *d)
{
  size_t dim = (size_t)d->def.dim, n = mn_deform_dofs(d);
  if (!d->added.points)
    return MN_OK;
  for (size_t i = 0; i < n; i++)
    d->mean[i] = (d->x1[i / dim].v[i % dim] - d->x[i / dim].v[i % dim]) / d->dt;
  drag(d, d->mean, d->dragged);
  for (size_t i = 0; i < n; i++)
    d->residual[i] = mn_deform_is_fixed(d, i) ? 0 : d->dt * d->dragged[i];
  MN_TRY(mn_deform_added_solve(d, d->residual, d->step));
  for (size_t i = 0; i < n; i++) {
    if (mn_deform_is_fixed(d, i))
      continue;
    d->v1[i / dim].v[i % dim] += d->step[i];
    d->x1[i / dim].v[i % dim] += d->dt * d->step[i];
    d->a1[i / dim].v[i % dim] += d->step[i] / d->dt;
  }
  return MN_OK;
}
