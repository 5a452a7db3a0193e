/* The mean gradient of an element's energy over a step from x0 to x1: forces g with

       sum g = 0,   sum xm x g = 0,   g . (x1 - x0) = E(x1) - E(x0),     xm = (x0 + x1)/2

   so that a step  M (v1 - v0)/h = -g,  (x1 - x0)/h = (v0 + v1)/2  conserves momentum, angular
   momentum and energy, whatever the energy and the step: a discrete gradient [Gonzalez 1996] in a
   form that asks nothing of E but that rigid motions leave it alone.

   The way d = x1 - x0 is split into the nearest rigid motion of xm and the rest z:

       d = t + w x r + z,   r = xm - centre,   sum z = 0,   sum r x z = 0.

   Then x1 = R (S r) + z/2 and x0 = R^T (S r) - z/2 but for their centres, where R turns about w by
   the angle atan(|w|/2) and S is symmetric: turned back by R and R^T, the two ends X1 = R^T x1 and
   X0 = R x0 differ by (R + R^T)/2 z alone, and with their middle Xm

       b = (R + R^T)/2 dE/dx (Xm),   b . z = E(x1) - E(x0) + O(|z|^3).

   g = P b + c z, P taking rigid motions of xm away, and c from the energy: the correction is of
   second order in z and does not see rotations, however long. (At xm itself in place of Xm the
   correction would be of second order in w, with a direction, z/|z|, that jumps.)

   Energies of one node (anchors) are held by the world: see there. Where c is lost in
   the rounding of E it is taken as 0, gently. Verified by tests/unit/solid/test_conserve.c. */
#include "solid/energy.h"

#include <float.h>

#include "math/mat.h"
#include "math/svd.h"

/* Rigid motions of points r about their centre: axes and the moments of inertia about them, 0 for
   one on which all points lie. */
typedef struct rigid {
  int nodes;
  const mn_vec3 *r;
  mn_vec3 axis[3];
  double moment[3];
} rigid;

static rigid rigid_of(int nodes, const mn_vec3 *r)
{
  static const double ON_AXIS = 1e-24; /* of the greatest moment; r is rounded to 1e-16 */
  rigid m = {.nodes = nodes, .r = r};
  mn_mat3 I = mn_mat3_diagonal(0, 0, 0), V;
  double value[3];
  for (int a = 0; a < nodes; a++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        I.m[i][j] += (i == j ? mn_dot(r[a], r[a]) : 0) - r[a].v[i] * r[a].v[j];
  mn_eigen_symmetric(&I, value, &V); /* values descend */
  for (int k = 0; k < 3; k++) {
    m.axis[k] = mn_mat3_column(&V, k);
    for (int a = 0; a < nodes; a++) { /* anew: a small value is lost in the sum above */
      mn_vec3 arm = mn_cross(m.axis[k], r[a]);
      m.moment[k] += mn_dot(arm, arm);
    }
    if (!(m.moment[k] > ON_AXIS * value[0]))
      m.moment[k] = 0;
  }
  return m;
}

/* u <- u without the rigid motion that is nearest; returned, less its translation. */
static mn_vec3 take_away(const rigid *m, mn_vec3 *u)
{
  mn_vec3 mean = mn_v3(0, 0, 0), all = mn_v3(0, 0, 0);
  for (int a = 0; a < m->nodes; a++)
    mean = mn_madd(mean, 1.0 / m->nodes, u[a]);
  for (int a = 0; a < m->nodes; a++)
    u[a] = mn_sub(u[a], mean);
  for (int pass = 0; pass < 2; pass++) { /* twice: to rounding, though axes are rounded too */
    mn_vec3 torque = mn_v3(0, 0, 0), w = mn_v3(0, 0, 0);
    for (int a = 0; a < m->nodes; a++)
      torque = mn_add(torque, mn_cross(m->r[a], u[a]));
    for (int k = 0; k < 3; k++)
      if (m->moment[k] > 0)
        w = mn_madd(w, mn_dot(m->axis[k], torque) / m->moment[k], m->axis[k]);
    for (int a = 0; a < m->nodes; a++)
      u[a] = mn_sub(u[a], mn_cross(w, m->r[a]));
    all = mn_add(all, w);
  }
  return all;
}

/* cosine of the angle whose tangent is |t|, and the projector's part along t */
typedef struct half_turn {
  mn_vec3 t;
  double cosine, along;
} half_turn;

/* (R + R^T)/2 u */
static mn_vec3 turn_mean(const half_turn *h, mn_vec3 u)
{
  return mn_madd(mn_scale(h->cosine, u), h->along * mn_dot(h->t, u), h->t);
}

/* R u for side = 1, R^T u for -1 */
static mn_vec3 turn(const half_turn *h, double side, mn_vec3 u)
{
  return mn_madd(turn_mean(h, u), side * h->cosine, mn_cross(h->t, u));
}

static mn_vec3 center_of(int nodes, const mn_vec3 *x)
{
  mn_vec3 c = mn_v3(0, 0, 0);
  for (int a = 0; a < nodes; a++)
    c = mn_madd(c, 1.0 / nodes, x[a]);
  return c;
}

/* An anchor is held by the world, which may take momentum: the gradient at the middle, corrected
   along the way for its work (an anchor of no length is quadratic and needs none). */
static int held_gradient(const mn_energy_group *g, size_t e, const mn_vec3 *x0, const mn_vec3 *x1,
                         double *gradient)
{
  mn_vec3 x = mn_scale(0.5, mn_add(x0[0], x1[0])), d = mn_sub(x1[0], x0[0]);
  double E0, E1, E, work = 0, dd = mn_dot(d, d);
  if (!g->ops->eval(g, e, x0, 0, &E0, NULL, NULL) || !g->ops->eval(g, e, x1, 0, &E1, NULL, NULL) ||
      !g->ops->eval(g, e, &x, 0, &E, gradient, NULL))
    return 0;
  for (int i = 0; i < g->dim; i++)
    work += gradient[i] * d.v[i];
  double missing = E1 - E0 - work, rounding = 16 * DBL_EPSILON * (E0 + E1 + fabs(work));
  for (int i = 0; dd > 0 && fabs(missing) > rounding && i < g->dim; i++)
    gradient[i] += missing / dd * d.v[i];
  return 1;
}

/* A step of an element, split. */
typedef struct step {
  mn_vec3 X0[MN_ENERGY_NODES_MAX], X1[MN_ENERGY_NODES_MAX]; /* the ends, turned back */
  mn_vec3 Xm[MN_ENERGY_NODES_MAX];
  mn_vec3 r[MN_ENERGY_NODES_MAX], z[MN_ENERGY_NODES_MAX];
  rigid motions;
  half_turn h;
} step;

static void split(int n, const mn_vec3 *x0, const mn_vec3 *x1, step *s)
{
  mn_vec3 c0 = center_of(n, x0), c1 = center_of(n, x1);
  for (int a = 0; a < n; a++) {
    s->X0[a] = mn_sub(x0[a], c0);
    s->X1[a] = mn_sub(x1[a], c1);
    s->r[a] = mn_scale(0.5, mn_add(s->X0[a], s->X1[a]));
    s->z[a] = mn_sub(s->X1[a], s->X0[a]);
  }
  s->motions = rigid_of(n, s->r);
  half_turn h = {.t = mn_scale(0.5, take_away(&s->motions, s->z))};
  h.cosine = 1 / sqrt(1 + mn_dot(h.t, h.t));
  h.along = h.cosine * h.cosine / (1 + h.cosine);
  s->h = h;
  for (int a = 0; a < n; a++) {
    s->X0[a] = turn(&h, 1, s->X0[a]);
    s->X1[a] = turn(&h, -1, s->X1[a]);
    s->Xm[a] = mn_scale(0.5, mn_add(s->X0[a], s->X1[a]));
  }
}

void mn_energy_middle(const mn_energy_group *g, const mn_vec3 *x0, const mn_vec3 *x1,
                      mn_vec3 *middle)
{
  step s;
  if (g->nodes == 1) {
    middle[0] = mn_scale(0.5, mn_add(x0[0], x1[0]));
    return;
  }
  split(g->nodes, x0, x1, &s);
  for (int a = 0; a < g->nodes; a++)
    middle[a] = s.Xm[a];
}

int mn_energy_mean_gradient(const mn_energy_group *g, size_t e, const mn_vec3 *x0,
                            const mn_vec3 *x1, double *gradient)
{
  mn_vec3 b[MN_ENERGY_NODES_MAX];
  double E0, E1, Em;
  int n = g->nodes, dim = g->dim;
  step s;
  if (n == 1)
    return held_gradient(g, e, x0, x1, gradient);
  split(n, x0, x1, &s);
  if (!g->ops->eval(g, e, s.X0, 0, &E0, NULL, NULL) ||
      !g->ops->eval(g, e, s.X1, 0, &E1, NULL, NULL) ||
      !g->ops->eval(g, e, s.Xm, 0, &Em, gradient, NULL))
    return 0;
  double work = 0, zz = 0, size = fabs(E0) + fabs(E1);
  for (int a = 0; a < n; a++) {
    b[a] = mn_v3(gradient[a * dim], gradient[a * dim + 1], dim == 3 ? gradient[a * dim + 2] : 0);
    size += mn_length(b[a]) * mn_length(s.Xm[a]);
    b[a] = turn_mean(&s.h, b[a]);
    work += mn_dot(b[a], s.z[a]);
    zz += mn_dot(s.z[a], s.z[a]);
  }
  take_away(&s.motions, b);
  double missing = E1 - E0 - work, rounding = 16 * DBL_EPSILON * size;
  double c = 0;
  if (zz > 0 && missing != 0)
    c = missing / zz * (missing * missing / (missing * missing + rounding * rounding));
  for (int a = 0; a < n; a++)
    for (int i = 0; i < dim; i++)
      gradient[a * dim + i] = b[a].v[i] + c * s.z[a].v[i];
  return isfinite(c);
}
