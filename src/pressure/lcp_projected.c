/* Two plain references for the pressure LCP.

   pgs: projected Gauss-Seidel [Lai 2021, algorithm 5], sweeps forwards and backwards in turn, with
   over-relaxation (projected SOR [Cryer 1971]), which for a symmetric positive matrix converges
   for every factor in (0, 2).
   mprgp: conjugate gradients on the free cells, a projected gradient step when a bound is hit
   (expansion), a step along the bound cells' gradient when that dominates (proportioning)
   [Dostal, Schoberl 2005], on the matrix scaled to a unit diagonal: its spectrum is below 2, hence
   the fixed step 1.
   Tests: tests/unit/pressure/test_lcp_oracle.c, test_lcp.c. */
#include <math.h>

#include "base/status.h"
#include "pressure/lcp_internal.h"

static const double OVER = 1.5;
static const double STEP = 0.95; /* <= 2 / ||A||, ||A|| < 2 */

mn_status mn_lcp_pgs(mn_lcp_solver *v, const mn_lcp_task *t)
{
  mn_lcp_flat *f = &v->flat;
  mn_solve_report *out = &t->report->solve;
  enum { CHECK_EVERY = 4, PATIENCE = 1000 };
  MN_TRY(mn_lcp_flatten(v, t, 0));
  t->report->outer = 1;
  out->residual = mn_flat_residual(f);
  mn_lcp_watch watch = mn_lcp_watch_start(out->residual, PATIENCE);
  int hopeless = !isfinite(out->residual);
  while (!hopeless && out->residual > t->tolerance && out->iterations < t->max_iterations) {
    mn_rows_sweep(&f->A, f->bound, NULL, f->b, OVER, out->iterations & 1, f->x);
    out->iterations++;
    if (out->iterations % CHECK_EVERY)
      continue;
    out->residual = mn_flat_residual(f);
    hopeless = mn_lcp_watch_hopeless(&watch, out->residual);
  }
  mn_lcp_unflatten(f, t->p);
  return MN_OK;
}

/* ---- mprgp, in y = sqrt(D) x ---------------------------------------------------------------- */

/* q = A y with the unit-diagonal matrix: scaled here, not stored. root: sqrt of the diagonal. */
static void multiply(const mn_lcp_flat *f, const double *root, const double *y, double *q)
{
  const mn_rows *A = &f->A;
  for (int r = 0; r < A->count; r++) {
    double sum = 0;
    for (int e = A->start[r]; e < A->start[r + 1]; e++)
      sum += A->value[e] * y[A->column[e]] / root[A->column[e]];
    q[r] = y[r] + sum / root[r];
  }
}

static double free_part(const mn_lcp_flat *f, const double *y, const double *g, int u)
{
  return f->bound[u] && !(y[u] > 0) ? 0 : g[u];
}

static double bound_part(const mn_lcp_flat *f, const double *y, const double *g, int u)
{
  return f->bound[u] && !(y[u] > 0) ? fmin(g[u], 0) : 0;
}

/* Whether the gradient on the bound is small enough to go on with the free cells. */
static int proportional(const mn_lcp_flat *f, const double *y, const double *g)
{
  double bound = 0, free = 0;
  for (int u = 0; u < f->A.count; u++) {
    double phi = free_part(f, y, g, u), beta = bound_part(f, y, g, u);
    double reduced = f->bound[u] && phi > 0 ? fmin(y[u] / STEP, phi) : phi;
    bound += beta * beta;
    free += reduced * phi;
  }
  return bound <= free;
}

static double residual(const mn_lcp_flat *f, const double *root, const double *y, const double *g)
{
  double worst = 0;
  for (int u = 0; u < f->A.count; u++) {
    double slack = g[u] * root[u];
    if (f->bound[u])
      slack = fmin(f->weight[u] * y[u] / root[u], slack);
    worst = fabs(slack) > worst || isnan(slack) ? fabs(slack) : worst;
  }
  return worst;
}

static void gradient(const mn_lcp_flat *f, const double *root, const double *y, double *g)
{
  multiply(f, root, y, g);
  for (int u = 0; u < f->A.count; u++)
    g[u] -= f->b[u] / root[u];
}

static double dot(const double *a, const double *b, int n)
{
  double sum = 0;
  for (int u = 0; u < n; u++)
    sum += a[u] * b[u];
  return sum;
}

/* y -= alpha d, g -= alpha q; a bounded y that would pass 0 stops there. */
static void advance(const mn_lcp_flat *f, double alpha, const double *d, const double *q, double *y,
                    double *g)
{
  for (int u = 0; u < f->A.count; u++) {
    y[u] -= alpha * d[u];
    g[u] -= alpha * q[u];
    if (f->bound[u] && y[u] < 0)
      y[u] = 0;
  }
}

/* Along d as far as the bounds allow, then a projected gradient step on the free cells. */
static void expand(const mn_lcp_flat *f, const double *root, double alpha, const double *d,
                   const double *q, double *y, double *g)
{
  advance(f, alpha, d, q, y, g);
  for (int u = 0; u < f->A.count; u++) {
    y[u] -= STEP * free_part(f, y, g, u);
    if (f->bound[u] && y[u] < 0)
      y[u] = 0;
  }
  gradient(f, root, y, g);
}

static void mprgp_step(const mn_lcp_flat *f, const double *root, double *y, double *g, double *d,
                       double *q)
{
  int n = f->A.count;
  if (!proportional(f, y, g)) {
    for (int u = 0; u < n; u++)
      d[u] = bound_part(f, y, g, u);
    multiply(f, root, d, q);
    advance(f, dot(g, d, n) / dot(d, q, n), d, q, y, g);
    for (int u = 0; u < n; u++)
      d[u] = free_part(f, y, g, u);
    return;
  }
  multiply(f, root, d, q);
  double dq = dot(d, q, n), alpha = dot(g, d, n) / dq, feasible = INFINITY;
  for (int u = 0; u < n; u++)
    if (f->bound[u] && d[u] > 0)
      feasible = fmin(feasible, y[u] / d[u]);
  if (!(alpha <= feasible)) {
    expand(f, root, feasible, d, q, y, g);
    for (int u = 0; u < n; u++)
      d[u] = free_part(f, y, g, u);
    return;
  }
  advance(f, alpha, d, q, y, g);
  double gamma = 0;
  for (int u = 0; u < n; u++)
    gamma += free_part(f, y, g, u) * q[u];
  for (int u = 0; u < n; u++)
    d[u] = free_part(f, y, g, u) - gamma / dq * d[u];
}

mn_status mn_lcp_mprgp(mn_lcp_solver *v, const mn_lcp_task *t)
{
  mn_lcp_flat *f = &v->flat;
  mn_solve_report *out = &t->report->solve;
  MN_TRY(mn_lcp_flatten(v, t, 5));
  double *root = f->work[0], *y = f->work[1], *g = f->work[2], *d = f->work[3], *q = f->work[4];
  int n = f->A.count, restarts = 0;
  for (int u = 0; u < n; u++) {
    root[u] = sqrt(f->A.diagonal[u]);
    y[u] = root[u] * (f->bound[u] ? fmax(f->x[u], 0) : f->x[u]);
  }
  t->report->outer = 1;
  enum { RESTARTS = 20 }; /* with the true gradient, when the updated one met the tolerance */
  enum { PATIENCE = 5000 };
  mn_lcp_watch watch = mn_lcp_watch_start(out->initial_residual, PATIENCE);
  int hopeless = 0;
  for (; restarts < RESTARTS; restarts++) {
    gradient(f, root, y, g);
    for (int u = 0; u < n; u++)
      d[u] = free_part(f, y, g, u);
    out->residual = residual(f, root, y, g);
    if (hopeless || !(out->residual > t->tolerance) || out->iterations >= t->max_iterations)
      break;
    do {
      mprgp_step(f, root, y, g, d, q);
      out->iterations++;
      out->residual = residual(f, root, y, g);
      hopeless = mn_lcp_watch_hopeless(&watch, out->residual);
    } while (!hopeless && out->residual > 0.9 * t->tolerance &&
             out->iterations < t->max_iterations);
  }
  for (int u = 0; u < n; u++)
    f->x[u] = y[u] / root[u];
  mn_lcp_unflatten(f, t->p);
  return MN_OK;
}
