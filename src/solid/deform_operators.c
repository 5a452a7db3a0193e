/* The implicit equation of deformable bodies as a linear system about an iterate.

   With r(y) of deform_newton.c without loads and A its matrix, a change q of x1 = x + sx (y - x)
   obeys, on the axes that are free,

       A q/sx = -r(y) - A_fc (target - y)_c + load

   so that a caller can solve it together with that of what gives the load. The step is Newton's
   own: the exact Hessian while A is positive definite, else the projected one; prescribed axes (c)
   go to their target by the same step. Where the iteration ends, mn_deform_solve ends under the
   same loads. The midpoint rule's forces are mean gradients (deform_conserve.c), A that of dE/dx at
   the middle: steps then converge linearly, the faster the less an element is strained in a
   substep. Explicit bodies: x1 = x + h v + h^2 M^-1 (load - ...), exact with A = M/h^2, sx = 1.

   The first step from y = x^n is the tangent at d^n of [Chentanez 2006, eq. 1]: see
   docs/theory/monolithic.md. Verified by tests/unit/solid/test_operators.c. */
#include "solid/deform_internal.h"

#include <float.h>
#include <string.h>

#include "base/status.h"

enum { HALVINGS = 40 };

static int is_explicit(const mn_deform *d)
{
  return d->def.scheme == MN_EXPLICIT;
}

/* Velocities and accelerations of an explicit iterate x1 (in y). */
static void finish_explicit(mn_deform *d)
{
  size_t dim = (size_t)d->def.dim;
  for (size_t i = 0; i < mn_deform_dofs(d); i++) {
    size_t node = i / dim, k = i % dim;
    if (!mn_deform_is_fixed(d, i)) {
      d->x1[node].v[k] = d->y[i];
      d->v1[node].v[k] = (d->y[i] - d->x[node].v[k]) / d->dt;
    }
    d->a1[node].v[k] = (d->v1[node].v[k] - d->v[node].v[k]) / d->dt;
  }
}

static void finish(mn_deform *d)
{
  if (is_explicit(d))
    finish_explicit(d);
  else
    mn_deform_finish(d);
  d->solved = 1;
}

void mn_deform_start(mn_deform *d)
{
  size_t dim = (size_t)d->def.dim;
  mn_deform_set_press(d, NULL, 0);
  mn_deform_set_added(d, NULL, NULL, NULL);
  for (size_t i = 0; i < mn_deform_dofs(d); i++)
    d->y[i] = d->x[i / dim].v[i % dim];
  d->first_step = 1;
  finish(d);
}

/* Whether prescribed axes are still on their way; d->step: what is left of it, 0 on free ones. */
static int on_the_way(mn_deform *d)
{
  int any = 0;
  for (size_t i = 0; i < mn_deform_dofs(d); i++) {
    d->step[i] = mn_deform_is_fixed(d, i) ? d->target[i] - d->y[i] : 0;
    any = any || d->step[i] != 0;
  }
  return any;
}

static mn_status linearise_explicit(mn_deform *d, mn_deform_linear *linear)
{
  size_t dim = (size_t)d->def.dim;
  double h = d->dt, scale = 0;
  for (size_t i = 0; i < mn_deform_dofs(d); i++) {
    double m = d->mass[i / dim], free = d->x[i / dim].v[i % dim] + h * d->v[i / dim].v[i % dim];
    double inertia = m * (d->y[i] - free) / (h * h), force = d->force[i] - d->gradient[i];
    d->residual[i] = mn_deform_is_fixed(d, i) ? 0 : force - inertia;
    if (!mn_deform_is_fixed(d, i))
      scale = mn_max(scale, mn_max(fabs(force), fabs(inertia)));
  }
  *linear = (mn_deform_linear){.sx = 1, .r = d->residual, .scale = scale};
  return MN_OK;
}

/* A at the iterate, in d->assembly.pattern or, with blocks of contact, in d->cross.sum. Who takes
   the free axes alone needs no constraints. */
static mn_status set_matrix(mn_deform *d, mn_curvature curvature)
{
  mn_deform_report report = {0};
  if (curvature == MN_CURVATURE_CHECKED)
    return mn_deform_factorise(d, d->y, 0, &report);
  d->has_factor = 0;
  int psd = curvature == MN_CURVATURE_POSITIVE;
  MN_TRY(mn_deform_assemble_whole(d, d->y, psd));
  if (!d->cross.count)
    return MN_OK;
  mn_deform_constrain(d);
  return mn_deform_cross_sum(d);
}

mn_status mn_deform_linearise(mn_deform *d, mn_curvature curvature, mn_deform_linear *linear)
{
  mn_deform_point now;
  mn_inverted bad = {0, 0};
  size_t n = mn_deform_dofs(d);
  if (!d->began)
    return mn_fail(d->ctx, MN_BAD_INPUT, "deformable bodies: linearise before begin");
  mn_deform_set_force(d, NULL, 1);
  if (is_explicit(d))
    return linearise_explicit(d, linear);
  d->pending = 0;
  int conserving = d->def.scheme == MN_MIDPOINT;
  d->conserving = conserving;
  mn_status status = set_matrix(d, curvature);
  d->conserving = 0;
  MN_TRY(status);
  if (!mn_deform_evaluate(d, d->y, conserving, &now, &bad))
    return mn_deform_fail_inverted(d, &bad, "at the start of the step");
  int moving = on_the_way(d);
  if (moving) {
    mn_csr_multiply(&d->ctx->exec, &d->assembly.pattern, d->step, d->trial);
    mn_deform_cross_multiply(d, d->step, d->trial);
  }
  for (size_t i = 0; i < n; i++)
    d->residual[i] = mn_deform_is_fixed(d, i) ? 0 : -d->residual[i] - (moving ? d->trial[i] : 0);
  *linear = (mn_deform_linear){.A = d->cross.count ? &d->cross.sum : &d->assembly.pattern,
                               .sx = d->terms.sx,
                               .r = d->residual,
                               .scale = mn_max(now.scale, d->floor / d->def.tolerance)};
  return MN_OK;
}

/* Whether forces can be taken at y, and at x1(y). d->residual <- that of the scheme there. */
static int is_whole(mn_deform *d, const double *y, mn_deform_point *point, mn_inverted *bad)
{
  mn_deform_point end;
  if (!mn_deform_evaluate(d, y, 0, point, bad))
    return 0;
  return d->def.scheme != MN_MIDPOINT || mn_deform_evaluate(d, y, 1, &end, bad);
}

/* What a step leaves of the equation, r(y), does work along that step: 0 where forces are linear,
   else three to four times the energy by which the end lies above the lowest point (errors of
   forces grow with the square of the step, or with the cube where a stiff body turns). A first step
   after which the potential still falls adds no energy: loads that do not turn with a light body
   would turn it over if it were followed. */
static void measure_missed(mn_deform *d, double step)
{
  size_t dim = (size_t)d->def.dim;
  d->missed = 0;
  for (int b = 0; b < d->bodies; b++) {
    const mn_deform_body *body = &d->body[b];
    double work = 0;
    for (size_t i = dim * body->first; i < dim * (body->first + body->nodes); i++)
      work += d->residual[i] * step * d->step[i];
    int onward = d->first_step && work < 0 && d->def.scheme != MN_MIDPOINT;
    d->missed = mn_max(d->missed, sqrt(2 * (onward ? 0 : fabs(work)) / body->mass));
  }
}

double mn_deform_missed(const mn_deform *d)
{
  return is_explicit(d) ? 0 : d->missed;
}

/* Slope of the potential along the step, for the loads at hand; 0: there is nothing to lower. */
static double slope_of(mn_deform *d, mn_deform_point *now)
{
  mn_inverted bad;
  double slope = 0;
  if (d->def.scheme == MN_MIDPOINT || !mn_deform_evaluate(d, d->y, 0, now, &bad))
    return 0;
  for (size_t i = 0; i < mn_deform_dofs(d); i++)
    slope += d->residual[i] * d->step[i];
  return mn_min(slope, 0);
}

static mn_status advance_explicit(mn_deform *d, const double *q, double step, double *taken)
{
  for (size_t i = 0; i < mn_deform_dofs(d); i++)
    if (!mn_deform_is_fixed(d, i))
      d->y[i] += step * q[i];
  *taken = step;
  finish(d);
  return mn_deform_check_end(d);
}

mn_status mn_deform_advance(mn_deform *d, const mn_vec3 *load, const double *q, double step,
                            double *taken)
{
  size_t n = mn_deform_dofs(d);
  mn_inverted bad = {0, 0};
  mn_deform_point now = {0}, next;
  if (is_explicit(d))
    return advance_explicit(d, q, step, taken);
  int moving = on_the_way(d);
  for (size_t i = 0; i < n; i++)
    if (!mn_deform_is_fixed(d, i))
      d->step[i] = q[i] / d->terms.sx;
  mn_deform_set_force(d, load, 1);
  double slope = moving || d->first_step || step < 0 ? 0 : slope_of(d, &now);
  for (int k = 0; k < HALVINGS; k++, step /= 2) {
    for (size_t i = 0; i < n; i++)
      d->trial[i] =
          step == 1 && mn_deform_is_fixed(d, i) ? d->target[i] : d->y[i] + step * d->step[i];
    if (!is_whole(d, d->trial, &next, &bad))
      continue;
    double rounding = 64 * DBL_EPSILON * (now.size + next.size) + d->energy_floor;
    if (slope < 0 && next.potential > now.potential + 1e-4 * step * slope + rounding)
      continue;
    double *old = d->y;
    d->y = d->trial;
    d->trial = old;
    *taken = step;
    measure_missed(d, step);
    d->first_step = 0;
    finish(d);
    return MN_OK;
  }
  return mn_deform_fail_inverted(d, &bad, "however short the step");
}
