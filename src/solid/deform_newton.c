/* One implicit equation for all schemes, solved by Newton's method on its potential.

       r(y) = m M (y - y0) + C (d (y - y1) + w) + dE/dx (y) - f = 0

   is the gradient of  Phi(y) = m/2 |y - y0|_M^2 + (y - y1).C (d/2 (y - y1) + w) + E(y) - f.(y -
   y1), since C is that of the start of the step. Newton's matrix A = m M + d C + K(y), with K
   projected to be positive semidefinite, gives a direction of descent; a step is shortened until no
   element is inverted and Phi falls (Armijo) [Nocedal 2006]. What presses on the bodies
   (deform_press.c) and inertia that is added (deform_added.c) add their potentials.

   A factor is kept as long as it pays: if the residual falls so that at most REUSE more solves with
   it are expected to reach the tolerance, it is used again; else A is assembled and factorised at
   y.

   Converged: the greatest residual on a free axis is below tolerance times the greatest force on
   one (inertia, elastic, external), or below the rounding of the forces, 16 eps max A_ii L with
   L the size of all bodies or, far from the origin, a quarter of the greatest coordinate. One step
   is taken even so: a body follows changes of its loads that are below what would be converged, as
   the volumes of closed regions need. Axes that are prescribed are moved to their target by the
   same steps. Verified by tests/unit/solid/test_deform.c. */
#include "solid/deform_internal.h"

#include <float.h>
#include <string.h>

#include "base/status.h"
#include "base/timer.h"

enum { REUSE = 6, RETRY = 10, HALVINGS = 40, SHIFTS = 8 };

void mn_deform_unflatten(const mn_deform *d, const double *flat, mn_vec3 *vectors)
{
  size_t dim = (size_t)d->def.dim;
  for (size_t i = 0; i < d->nodes; i++)
    for (size_t k = 0; k < dim; k++)
      vectors[i].v[k] = flat[i * dim + k];
}

mn_status mn_deform_fail_inverted(mn_deform *d, const mn_inverted *bad, const char *when)
{
  const mn_energy_group *g = d->group + bad->group;
  const char *name = g->body >= 0 ? d->body[g->body].name : "link";
  uint32_t first = g->body >= 0 ? d->body[g->body].first : 0;
  uint32_t node = g->node[bad->element * (size_t)g->nodes];
  mn_vec3 x = d->position ? d->position[node] : d->x[node];
  return mn_fail(d->ctx, MN_FAILED,
                 "%s: %s %zu is inverted or not finite %s (its node %u is at %g, %g, %g)", name,
                 g->ops->name, bad->element, when, node - first, x.x, x.y, x.z);
}

mn_status mn_deform_damping(mn_deform *d, const mn_vec3 *x)
{
  mn_inverted bad;
  if (!d->damped)
    return MN_OK;
  memset(d->C, 0, (size_t)mn_csr_entries(&d->assembly.pattern) * sizeof *d->C);
  if (!mn_assembly_hessian(&d->assembly, x, 1, 1, d->C, &bad))
    return mn_deform_fail_inverted(d, &bad, "at the start of the step");
  mn_assembly_damping(&d->assembly, x, d->C);
  for (size_t i = 0; i < d->nodes; i++)
    for (int k = 0; k < d->def.dim && d->alpha[i] > 0; k++)
      d->C[mn_assembly_diagonal(&d->assembly, i, k)] += d->alpha[i] * d->mass[i];
  return MN_OK;
}

/* ---- the function ---------------------------------------------------------------------------- */

typedef mn_deform_point point;

/* d->position <- x1(y) */
static void place_end(mn_deform *d, const double *y)
{
  size_t dim = (size_t)d->def.dim;
  for (size_t i = 0; i < mn_deform_dofs(d); i++) {
    double x = d->x[i / dim].v[i % dim];
    d->position[i / dim].v[i % dim] = x + d->terms.sx * (y[i] - x);
  }
}

/* Into d->gradient: dE/dx (y) or, conserving, the mean gradient up to x1(y). */
static int elastic_forces(mn_deform *d, const double *y, int conserving, double *energy,
                          mn_inverted *bad)
{
  *energy = 0;
  mn_deform_unflatten(d, y, d->position);
  if (!conserving)
    return mn_assembly_energy(&d->assembly, d->position, -1, energy, d->gradient, bad);
  place_end(d, y);
  return mn_assembly_mean_gradient(&d->assembly, d->x, d->position, d->gradient, bad);
}

/* Phi and r at y; the residual of prescribed axes is 0. 0: inverted. */
int mn_deform_evaluate(mn_deform *d, const double *y, int conserving, mn_deform_point *p,
                       mn_inverted *bad)
{
  size_t dim = (size_t)d->def.dim, n = mn_deform_dofs(d);
  double elastic, kinetic = 0, viscous = 0, work = 0;
  if (!elastic_forces(d, y, conserving, &elastic, bad))
    return 0;
  if (d->damped && d->terms.d > 0) {
    mn_csr C = d->assembly.pattern;
    C.value = d->C;
    for (size_t i = 0; i < n; i++)
      d->residual[i] = d->terms.d * (y[i] - d->y1[i]);
    mn_csr_multiply(&d->ctx->exec, &C, d->residual, d->Cu);
  }
  *p = (point){0};
  double press = mn_deform_press_at(d, y) + mn_deform_added_at(d, y);
  for (size_t i = 0; i < n; i++) {
    double u = y[i] - d->y1[i], away = y[i] - d->y0[i];
    double inertia = d->terms.m * d->mass[i / dim] * away, damping = d->Cu[i] + d->Cw[i];
    kinetic += inertia * away / 2;
    viscous += u * (d->Cu[i] / 2 + d->Cw[i]);
    work += d->force[i] * u;
    d->residual[i] =
        inertia + damping + d->gradient[i] - d->force[i] - d->pressed[i] - d->dragged[i];
    if (mn_deform_is_fixed(d, i)) {
      d->residual[i] = 0;
      continue;
    }
    p->residual = mn_max(fabs(d->residual[i]), p->residual);
    p->scale = mn_max(mn_max(fabs(inertia), fabs(d->gradient[i])), p->scale);
    p->scale = mn_max(mn_max(fabs(d->force[i]), fabs(damping)), p->scale);
    p->scale = mn_max(fabs(d->pressed[i]), p->scale);
  }
  p->potential = kinetic + viscous + elastic - work + press;
  p->size = kinetic + fabs(viscous) + fabs(elastic) + fabs(work) + press;
  if (isfinite(p->potential) && isfinite(p->residual))
    return 1;
  *bad = (mn_inverted){0, 0};
  return 0;
}

static int evaluate(mn_deform *d, const double *y, point *p, mn_inverted *bad)
{
  return mn_deform_evaluate(d, y, 0, p, bad);
}

/* ---- the matrix ------------------------------------------------------------------------------ */

/* Rows and columns of prescribed axes become those of the identity times the greatest entry. */
static void constrain(mn_deform *d, double greatest, double shift)
{
  const mn_csr *a = &d->assembly.pattern;
  int threads = a->rows < 4096 ? 1 : d->ctx->exec.threads;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t e = a->start[i]; e < a->start[i + 1]; e++) {
      int cut = mn_deform_is_fixed(d, (size_t)i) || mn_deform_is_fixed(d, (size_t)a->col[e]);
      d->constrained.value[e] = a->col[e] == i ? (cut ? greatest : a->value[e] + shift)
                                : cut          ? 0
                                               : a->value[e];
    }
}

mn_status mn_deform_assemble_whole(mn_deform *d, const double *y, int psd)
{
  const mn_csr *a = &d->assembly.pattern;
  size_t entries = (size_t)mn_csr_entries(a);
  mn_inverted bad;
  memset(a->value, 0, entries * sizeof *a->value);
  mn_deform_unflatten(d, y, d->position);
  if (d->conserving)
    place_end(d, y);
  if (d->conserving
          ? !mn_assembly_mean_hessian(&d->assembly, d->x, d->position, psd, a->value, &bad)
          : !mn_assembly_hessian(&d->assembly, d->position, psd, 0, a->value, &bad))
    return mn_deform_fail_inverted(d, &bad, "at the start of the step");
  for (size_t e = 0; d->damped && d->terms.d > 0 && e < entries; e++)
    a->value[e] += d->terms.d * d->C[e];
  double greatest = 0;
  for (size_t i = 0; i < d->nodes; i++)
    for (int k = 0; k < d->def.dim; k++) {
      double *diagonal = a->value + mn_assembly_diagonal(&d->assembly, i, k);
      *diagonal += d->terms.m * d->mass[i];
    }
  MN_TRY(mn_deform_cross_begin(d));
  mn_deform_added_matrix(d, a->value);
  for (size_t i = 0; i < d->nodes; i++)
    for (int k = 0; k < d->def.dim; k++)
      greatest = mn_max(a->value[mn_assembly_diagonal(&d->assembly, i, k)], greatest);
  /* the potential of what presses is no difference of large terms, however stiff */
  d->energy_floor = 16 * DBL_EPSILON * greatest * d->extent * d->far;
  mn_deform_press_matrix(d, y, a->value);
  for (size_t i = 0; i < d->nodes; i++)
    for (int k = 0; k < d->def.dim; k++)
      greatest = mn_max(a->value[mn_assembly_diagonal(&d->assembly, i, k)], greatest);
  d->floor = 16 * DBL_EPSILON * greatest * d->far;
  d->greatest = greatest > 0 ? greatest : 1;
  return MN_OK;
}

void mn_deform_constrain(mn_deform *d)
{
  constrain(d, d->greatest, 0);
}

mn_status mn_deform_assemble(mn_deform *d, const double *y, int psd)
{
  MN_TRY(mn_deform_assemble_whole(d, y, psd));
  mn_deform_constrain(d);
  return MN_OK;
}

/* Assembles and factorises; `definite` says whether there is a factor. */
static mn_status try_factor(mn_deform *d, const double *y, int psd, mn_factor_report *factor,
                            mn_deform_report *report)
{
  double start = mn_seconds();
  MN_TRY(mn_deform_assemble(d, y, psd));
  double middle = mn_seconds();
  MN_TRY(mn_deform_cross_factorise(d, factor));
  report->factorisations++;
  report->assembly_s += middle - start;
  report->factor_s += mn_seconds() - middle;
  return MN_OK;
}

mn_status mn_deform_factorise(mn_deform *d, const double *y, int psd, mn_deform_report *report)
{
  mn_factor_report factor = {0};
  d->has_factor = d->projected = 0;
  if (!psd)
    MN_TRY(try_factor(d, y, 0, &factor, report));
  if (!factor.positive_definite) {
    MN_TRY(try_factor(d, y, 1, &factor, report));
    d->projected = 1;
  }
  double shift = 0, greatest = d->floor / (16 * DBL_EPSILON * d->far);
  for (int k = 0; k < SHIFTS && !factor.positive_definite; k++) {
    /* K is only semidefinite: a static body that is free to move, or one on the point of buckling
     */
    shift = shift > 0 ? 100 * shift : 1e-12 * greatest;
    constrain(d, greatest, shift);
    MN_TRY(mn_deform_cross_factorise(d, &factor));
    report->factorisations++;
  }
  if (!factor.positive_definite)
    return mn_fail(d->ctx, MN_FAILED,
                   "the solid's matrix is not positive definite at node %lld: not enough nodes are "
                   "held, or a number is not finite",
                   (long long)factor.column / d->def.dim);
  d->has_factor = 1;
  return MN_OK;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Whether prescribed axes are where they should be. */
static int at_target(const mn_deform *d)
{
  for (size_t i = 0; i < mn_deform_dofs(d); i++)
    if (mn_deform_is_fixed(d, i) && d->y[i] != d->target[i])
      return 0;
  return 1;
}

/* step = -A^-1 r, with prescribed axes going to their target. */
mn_status mn_deform_direction(mn_deform *d, int moving, mn_deform_report *report)
{
  double start = mn_seconds();
  size_t n = mn_deform_dofs(d);
  const mn_csr *a = &d->assembly.pattern;
  for (size_t i = 0; i < n; i++)
    d->step[i] = mn_deform_is_fixed(d, i) ? d->target[i] - d->y[i] : 0;
  if (moving) { /* trial is free as yet */
    mn_csr_multiply(&d->ctx->exec, a, d->step, d->trial);
    mn_deform_cross_multiply(d, d->step, d->trial);
  }
  double greatest = d->floor / (16 * DBL_EPSILON * d->far);
  for (size_t i = 0; i < n; i++)
    d->step[i] = mn_deform_is_fixed(d, i) ? greatest * d->step[i]
                                          : -d->residual[i] - (moving ? d->trial[i] : 0);
  MN_TRY(mn_sparse_solve(d->active, 1, d->step, d->step));
  for (size_t i = 0; i < n; i++)
    if (mn_deform_is_fixed(d, i))
      d->step[i] = d->target[i] - d->y[i]; /* exactly */
  report->solve_s += mn_seconds() - start;
  return MN_OK;
}

static double greatest_step(const mn_deform *d)
{
  double most = 0;
  for (size_t i = 0; i < mn_deform_dofs(d); i++)
    most = mn_max(fabs(d->step[i]), most);
  return most;
}

/* y <- y + step, shortened as needed; 0 if no length will do. `now` becomes the new point. Where
   the residual stays `within`, energies have no say: a step from rest to rest changes them by less
   than they are rounded, and one cut short would not follow the loads. */
static int advance(mn_deform *d, int moving, double within, point *now, int *shortened,
                   mn_inverted *bad)
{
  size_t n = mn_deform_dofs(d);
  double slope = 0, length = 1;
  for (size_t i = 0; i < n; i++)
    slope += d->residual[i] * d->step[i];
  *shortened = 0;
  for (int k = 0; k < HALVINGS; k++, length /= 2, *shortened = 1) {
    point next;
    for (size_t i = 0; i < n; i++)
      d->trial[i] = d->y[i] + length * d->step[i];
    if (length == 1)
      for (size_t i = 0; moving && i < n; i++)
        if (mn_deform_is_fixed(d, i))
          d->trial[i] = d->target[i];
    if (!evaluate(d, d->trial, &next, bad))
      continue;
    /* energies near the rest shape are small differences of terms as large as floor L: where these
       hide the change, the residual decides */
    double rounding = 64 * DBL_EPSILON * (now->size + next.size);
    if (next.residual < now->residual)
      rounding += d->energy_floor;
    if (!moving && !(next.residual <= within) &&
        next.potential > now->potential + 1e-4 * length * slope + rounding)
      continue;
    double *old = d->y;
    d->y = d->trial;
    d->trial = old;
    *now = next;
    return 1;
  }
  return 0;
}

/* Whether the factor at hand should be given up after the residual fell by `rate`. */
static int worn_out(double rate, double residual, double goal)
{
  if (!(rate < 0.7))
    return 1;
  return residual > goal && log(goal / residual) / log(rate) > REUSE;
}

mn_status mn_deform_gave_up(mn_deform *d, const mn_deform_report *report, const char *what)
{
  return mn_fail(d->ctx, MN_FAILED,
                 "deformable bodies: %s after %d iterations: residual %.3g N where forces reach "
                 "%.3g N (tolerance %g): a smaller step may help",
                 what, report->iterations, report->residual, report->scale, d->def.tolerance);
}

/* Loads changed by less than what is converged. The residual at the same y before is rounding, or
   as good, and its elastic forces are the same to the bit: the difference of the two is the change
   of the loads alone. The body follows that, not the rounding of its stiffest part. */
static void leave_rest(mn_deform *d)
{
  size_t n = mn_deform_dofs(d);
  if (d->rests && !memcmp(d->y, d->rest_y, n * sizeof *d->y))
    for (size_t i = 0; i < n; i++)
      d->residual[i] -= d->rest_r[i];
}

static void keep_rest(mn_deform *d)
{
  size_t n = mn_deform_dofs(d);
  memcpy(d->rest_y, d->y, n * sizeof *d->y);
  memcpy(d->rest_r, d->residual, n * sizeof *d->residual);
  d->rests = 1;
}

mn_status mn_deform_newton(mn_deform *d, mn_deform_report *report)
{
  point now;
  mn_inverted bad = {0, 0};
  double start = mn_seconds();
  if (!evaluate(d, d->y, &now, &bad))
    return mn_deform_fail_inverted(d, &bad, "at the start of the step");
  report->assembly_s += mn_seconds() - start;
  report->initial_residual = now.residual;
  int fresh = 0, renew = !d->has_factor;
  double retry = HUGE_VAL; /* below this residual the exact matrix is tried */
  for (;; report->iterations++) {
    int moving = !at_target(d), shortened;
    double goal = mn_max(d->def.tolerance * now.scale, d->floor), before = now.residual;
    report->residual = now.residual;
    report->scale = now.scale;
    report->reason = MN_CONVERGED;
    int converged = !moving && now.residual <= goal;
    if (converged && (report->iterations > 0 || now.residual == 0)) {
      keep_rest(d);
      return MN_OK;
    }
    if (converged)
      leave_rest(d);
    report->reason = MN_ITERATION_LIMIT;
    if (report->iterations >= d->def.max_iterations)
      return mn_deform_gave_up(d, report, "Newton's method did not converge");
    fresh = renew;
    if (renew) {
      MN_TRY(mn_deform_factorise(d, d->y, now.residual > retry, report));
      retry = !d->projected ? HUGE_VAL : now.residual > retry ? retry : now.residual / RETRY;
    }
    MN_TRY(mn_deform_direction(d, moving, report));
    start = mn_seconds();
    int advanced = advance(d, moving, converged ? goal : 0, &now, &shortened, &bad);
    report->assembly_s += mn_seconds() - start;
    report->line_searches += shortened;
    if (!advanced && fresh) { /* the best that rounding allows, or stuck */
      report->reason = MN_STALLED;
      if (greatest_step(d) <= 64 * DBL_EPSILON * d->far)
        return evaluate(d, d->y, &now, &bad) ? MN_OK
                                             : mn_deform_fail_inverted(d, &bad, "at the end");
      return mn_deform_gave_up(d, report, "no step along Newton's direction lowers the potential");
    }
    if (!advanced && !evaluate(d, d->y, &now, &bad))
      return mn_deform_fail_inverted(d, &bad, "in a line search");
    goal = mn_max(d->def.tolerance * now.scale, d->floor);
    renew = !advanced || shortened || moving || worn_out(now.residual / before, now.residual, goal);
  }
}
