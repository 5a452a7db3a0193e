/* The equation of the conserving midpoint rule: as deform_newton.c has it, but with the mean
   gradient g(x, x1) of the step (mean_gradient.c) in place of dE/dx (y), x1 = 2 y - x:

       r(y) = 4/h^2 M (y - y0) + C 2/h (y - x) + g(x, x1) - f = 0.

   g is no gradient in y and its Jacobian not symmetric: there is no potential to lower. It differs
   from dE/dx (y) by a term of second order in the step, so that Newton's method for the plain
   midpoint rule, which has a potential, goes first; from its solution the steps p = -A^-1 r, with
   the factor at hand, are combined by Anderson's method [Walker 2011]:

       y <- y + p - sum_j c_j (dy_j + dp_j),   c minimises |p - sum_j c_j dp_j|

   over the last KEEP differences of y and p. Where the residual grows much, it goes back to the
   best y, takes the matrix of there and, failing that, halves the steps. Converged as in
   deform_newton.c. Verified by tests/unit/solid/test_conserve.c. */
#include "solid/deform_internal.h"

#include <float.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/timer.h"

enum { KEEP = 8, HALVINGS = 30 };

mn_status mn_deform_conserve_create(mn_deform *d)
{
  size_t n = mn_deform_dofs(d);
  if (d->def.scheme != MN_MIDPOINT)
    return MN_OK;
  MN_TRY(MN_NEW(d->ctx, "the steps before", KEEP * n, &d->past_y));
  MN_TRY(MN_NEW(d->ctx, "the steps before", KEEP * n, &d->past_p));
  MN_TRY(MN_NEW(d->ctx, "the steps before", n, &d->last_p));
  return MN_NEW(d->ctx, "the steps before", n, &d->best_y);
}

static double dot(size_t n, const double *a, const double *b)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

/* Orthogonal factors of the differences by Gram and Schmidt, newest first, leaving out those that
   depend on others: step <- p - sum c (dy + dp). */
static void combine(mn_deform *d, int kept, int newest)
{
  size_t n = mn_deform_dofs(d);
  double G[KEEP][KEEP], c[KEEP], b[KEEP];
  int slot[KEEP], m = 0;
  for (int k = 0; k < kept; k++) { /* Cholesky of the normal equations, row by row */
    int s = (newest - k + KEEP) % KEEP;
    const double *p = d->past_p + (size_t)s * n;
    double own = dot(n, p, p), left = own;
    for (int j = 0; j < m; j++) {
      double sum = dot(n, p, d->past_p + (size_t)slot[j] * n);
      for (int i = 0; i < j; i++)
        sum -= G[m][i] * G[j][i];
      G[m][j] = sum / G[j][j];
      left -= G[m][j] * G[m][j];
    }
    if (!(left > 1e-12 * own))
      continue;
    G[m][m] = sqrt(left);
    slot[m] = s;
    b[m] = dot(n, p, d->step);
    m++;
  }
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < i; j++)
      b[i] -= G[i][j] * b[j];
    b[i] /= G[i][i];
  }
  for (int i = m - 1; i >= 0; i--) {
    c[i] = b[i];
    for (int j = i + 1; j < m; j++)
      c[i] -= G[j][i] * c[j];
    c[i] /= G[i][i];
  }
  for (int k = 0; k < m; k++) {
    const double *dy = d->past_y + (size_t)slot[k] * n, *dp = d->past_p + (size_t)slot[k] * n;
    for (size_t i = 0; i < n; i++)
      d->step[i] -= c[k] * (dy[i] + dp[i]);
  }
}

/* y <- y + length step, shortened until nothing is inverted; past_y[newest] gets what was added. */
static int go(mn_deform *d, double length, int newest, mn_deform_point *now, mn_inverted *bad)
{
  size_t n = mn_deform_dofs(d);
  for (int k = 0; k < HALVINGS; k++, length /= 2) {
    for (size_t i = 0; i < n; i++)
      d->trial[i] = d->y[i] + length * d->step[i];
    if (!mn_deform_evaluate(d, d->trial, 1, now, bad))
      continue;
    double *old = d->y, *dy = d->past_y + (size_t)newest * n;
    d->y = d->trial;
    d->trial = old;
    for (size_t i = 0; i < n; i++)
      dy[i] = d->y[i] - old[i];
    return 1;
  }
  return 0;
}

static double greatest(size_t n, const double *a)
{
  double most = 0;
  for (size_t i = 0; i < n; i++)
    most = mn_max(fabs(a[i]), most);
  return most;
}

mn_status mn_deform_conserve(mn_deform *d, mn_deform_report *report)
{
  size_t n = mn_deform_dofs(d), bytes = n * sizeof(double);
  mn_deform_point now;
  mn_inverted bad = {0, 0};
  double best = HUGE_VAL, length = 1;
  int first = report->iterations;                 /* Newton's */
  int kept = 0, newest = 0, fresh = 0, since = 0; /* steps since the last factor or retreat */
  int slow = 0; /* how often a factor served too long: kinks of contact mislead what is combined */
  if (!mn_deform_evaluate(d, d->y, 1, &now, &bad))
    return mn_deform_fail_inverted(d, &bad, "at the end of the step");
  for (;; report->iterations++, since++) {
    double goal = mn_max(d->def.tolerance * now.scale, d->floor);
    report->residual = now.residual;
    report->scale = now.scale;
    report->reason = MN_CONVERGED;
    if (now.residual <= goal)
      return MN_OK;
    report->reason = MN_ITERATION_LIMIT;
    if (report->iterations - first >= d->def.max_iterations)
      return mn_deform_gave_up(d, report, "the conserving midpoint rule did not converge");
    int lost = now.residual > 8 * best;
    if (now.residual < best) {
      best = now.residual;
      memcpy(d->best_y, d->y, bytes);
    }
    if (lost) {
      memcpy(d->y, d->best_y, bytes);
      length = fresh ? length / 2 : 1;
    }
    int worn = since > (slow % 2 ? 3 : 2 * KEEP);
    slow += worn;
    if (!d->has_factor || (lost && !fresh) || worn) {
      MN_TRY(mn_deform_factorise(d, d->y, 0, report));
      fresh = 1, lost = 1;
    }
    if (lost) {
      kept = since = 0;
      if (!mn_deform_evaluate(d, d->y, 1, &now, &bad))
        return mn_deform_fail_inverted(d, &bad, "at the end of the step");
    }
    MN_TRY(mn_deform_direction(d, 0, report));
    if (greatest(n, d->step) <= 16 * DBL_EPSILON * d->far) {
      report->reason = MN_STALLED; /* the best that rounding allows */
      return MN_OK;
    }
    if (since > 0) {
      double *dp = d->past_p + (size_t)newest * n;
      for (size_t i = 0; i < n; i++)
        dp[i] = d->step[i] - d->last_p[i];
      kept = kept < KEEP ? kept + 1 : KEEP;
    }
    memcpy(d->last_p, d->step, bytes);
    if (slow % 2 == 0) /* else Newton's own steps */
      combine(d, kept, newest);
    newest = (newest + 1) % KEEP;
    double start = mn_seconds();
    if (!go(d, length, newest, &now, &bad))
      return mn_deform_fail_inverted(d, &bad, "on the way to the end of the step");
    report->assembly_s += mn_seconds() - start;
  }
}
