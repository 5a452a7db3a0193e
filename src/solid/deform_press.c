/* Contact inside the implicit equation of deformable bodies: a unilateral penalty and friction.

   A row holds a point of a facet, d = sum w (x1 - x) its way in the substep, and the plane that it
   must not pass, frozen for the substep. With g = gap - n.d and s = (d - slide) across n

       V(x1) = k/2 min(0, g)^2 + F psi(|s|),   psi(r) = r^2/(2 e) for r < e, r - e/2 beyond

   is convex and differentiable: the force is -dV/dx1, Newton's line search sees V, and no penalty
   is too stiff. F, the friction's most, is that of the normal force before: it lags, within a
   substep, until caller and rows agree [Kane 1999; Li 2020].

   The scheme's equation is one for y, x1 = x + sx (y - x): it gets the force times c and the
   potential times c/sx, so that the momentum over the substep is dt times the force: c = 1, and
   c = 1/gamma for Newmark, where contact is implicit and does not enter the acceleration that the
   next step starts with [Kane 1999]: with it contact would be felt twice, and chatter. (gamma <
   1/2, which gains energy by itself, is taken for 1/2: momentum is then not conserved.)
   The work of the penalty in a substep, k max(0, -g1) (g1 - g0), is at most what its potential
   falls by: contact adds no energy but what was stored in the penalty.
   Verified by tests/unit/solid/test_contact_elastic.c. */
#include "solid/deform_internal.h"

#include <string.h>

void mn_deform_set_press(mn_deform *d, mn_press *press, size_t count)
{
  if ((d->presses == 0) != (count == 0))
    d->has_factor = 0; /* between rows that differ little Newton's method judges the factor */
  d->press = press;
  d->presses = count;
  memset(d->pressed, 0, mn_deform_dofs(d) * sizeof *d->pressed);
}

static double part(const mn_deform *d)
{
  return d->def.scheme == MN_NEWMARK ? 1 / mn_max(0.5, d->def.gamma) : 1;
}

/* n.d - gap, how deep; across: the slide s. */
static double depth(const mn_deform *d, const mn_press *p, const double *y, mn_vec3 *across)
{
  size_t dim = (size_t)d->def.dim;
  mn_vec3 way = {0};
  for (int k = 0; k < p->nodes; k++)
    for (size_t a = 0; a < dim; a++)
      way.v[a] += p->weight[k] * d->terms.sx * (y[p->node[k] * dim + a] - d->x[p->node[k]].v[a]);
  mn_vec3 s = mn_sub(way, p->slide);
  *across = mn_madd(s, -mn_dot(p->n, s), p->n);
  return mn_dot(p->n, way) - p->gap;
}

double mn_deform_press_at(mn_deform *d, const double *y)
{
  size_t dim = (size_t)d->def.dim;
  double potential = 0, c = part(d);
  if (d->presses)
    memset(d->pressed, 0, mn_deform_dofs(d) * sizeof *d->pressed);
  for (size_t i = 0; i < d->presses; i++) {
    mn_press *p = &d->press[i];
    mn_vec3 s;
    double deep = mn_max(0, depth(d, p, y, &s)), far = mn_length(s);
    p->normal = p->stiffness * deep;
    p->force = mn_scale(-p->normal, p->n);
    p->force = mn_madd(p->force, -p->friction / mn_max(far, p->stick), s);
    potential += p->normal * deep / 2 +
                 p->friction * (far < p->stick ? far * far / (2 * p->stick) : far - p->stick / 2);
    for (int k = 0; k < p->nodes; k++)
      for (size_t a = 0; a < dim; a++)
        d->pressed[p->node[k] * dim + a] += c * p->weight[k] * p->force.v[a];
  }
  return c / d->terms.sx * potential;
}

void mn_deform_press_matrix(mn_deform *d, const double *y, double *value)
{
  int dim = d->def.dim;
  double c = part(d) * d->terms.sx;
  for (size_t i = 0; i < d->presses; i++) {
    const mn_press *p = &d->press[i];
    mn_vec3 s;
    double k = depth(d, p, y, &s) > 0 ? p->stiffness : 0, far = mn_length(s);
    double across = p->friction / mn_max(far, p->stick), along = far < p->stick ? across : 0;
    mn_vec3 e = far > 0 ? mn_scale(1 / far, s) : mn_v3(0, 0, 0);
    for (int q = 0; q < p->nodes; q++)
      for (int r = 0; r < p->nodes; r++) {
        double *block = p->across ? mn_deform_cross_block(d, p->node[q], p->node[r]) : NULL;
        for (int a = 0; a < dim; a++)
          for (int b = 0; b < dim; b++) {
            double plane = (a == b) - p->n.v[a] * p->n.v[b];
            double h =
                k * p->n.v[a] * p->n.v[b] + across * plane + (along - across) * e.v[a] * e.v[b];
            double *entry =
                block ? block + a * dim + b
                      : value + mn_assembly_entry(&d->assembly, p->node[q], a, p->node[r], b);
            *entry += c * p->weight[q] * p->weight[r] * h;
          }
      }
  }
}
