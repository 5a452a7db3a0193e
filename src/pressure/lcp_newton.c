/* Newton's method on the minimum map, the thesis's baseline [Andersen et al. 2017; Erleben 2013].

       H(p) = min(D p, A p - b) at separating cells, A p - b elsewhere;   J d = -H,   p += tau d

   J takes a cell's row from the smaller argument. Held cells: d = -p; the rest is a symmetric
   system for plain conjugate gradients, as in the authors' code. tau by halving until 1/2 |H|^2
   falls; when it does not within some halvings the whole step is taken, which for an M-matrix is a
   step of policy iteration and so makes progress. Deviation: the first argument is scaled by the
   diagonal (see lcp_policy.c). Iterations count those of CG and of the line search.
   Tests: tests/unit/pressure/test_lcp_oracle.c, test_lcp.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "pressure/lcp_internal.h"

enum { MOST_OUTER = 200, HALVINGS = 6, RESTARTS = 4 };
static const double DECREASE = 1e-4;

/* Whether the cell's row of J is that of the condition p = 0. */
static int held(const mn_lcp_flat *f, int u)
{
  return f->bound[u] && f->A.diagonal[u] * f->x[u] < -f->r[u];
}

static double merit(const mn_lcp_flat *f)
{
  double sum = 0;
  mn_flat_residual(f);
  for (int u = 0; u < f->A.count; u++) {
    double h = f->bound[u] ? fmin(f->A.diagonal[u] * f->x[u], -f->r[u]) : -f->r[u];
    sum += h * h;
  }
  return sum / 2;
}

/* r = rhs - A d over the free cells (mask 0); returns r.r */
static double free_residual(const mn_lcp_flat *f, const double *mask, const double *rhs,
                            const double *d, double *r, double *worst)
{
  double sum = 0;
  mn_rows_multiply(&f->A, d, r);
  *worst = 0;
  for (int u = 0; u < f->A.count; u++) {
    r[u] = mask[u] > 0 ? 0 : rhs[u] - r[u];
    sum += r[u] * r[u];
    *worst = fmax(*worst, fabs(r[u]));
  }
  return sum;
}

/* Conjugate gradients for the free cells of d; the held ones are given. Returns its iterations. */
static int solve_free(mn_lcp_flat *f, const double *mask, double tolerance, int most, double *d)
{
  double *r = f->work[2], *s = f->work[3], *q = f->work[4], *rhs = f->work[5], worst;
  int n = f->A.count, iterations = 0;
  memcpy(rhs, f->r, (size_t)n * sizeof *rhs);
  for (int start = 0; start < RESTARTS; start++) {
    double rr = free_residual(f, mask, rhs, d, r, &worst);
    memcpy(s, r, (size_t)n * sizeof *s);
    if (worst <= tolerance || iterations >= most)
      break;
    while (worst > 0.5 * tolerance && iterations < most) {
      double sq = 0, next = 0;
      mn_rows_multiply(&f->A, s, q);
      for (int u = 0; u < n; u++)
        sq += s[u] * q[u];
      if (!(sq > 0))
        break;
      worst = 0;
      for (int u = 0; u < n; u++) {
        if (mask[u] > 0)
          continue;
        d[u] += rr / sq * s[u];
        r[u] -= rr / sq * q[u];
        next += r[u] * r[u];
        worst = fmax(worst, fabs(r[u]));
      }
      for (int u = 0; u < n; u++)
        s[u] = r[u] + next / rr * s[u];
      rr = next;
      iterations++;
    }
  }
  return iterations;
}

/* p += tau d; returns the evaluations. */
static int search_line(mn_lcp_flat *f, const double *d, double before)
{
  double tau = 1, *start = f->work[2];
  memcpy(start, f->x, (size_t)f->A.count * sizeof *start);
  for (int h = 0; h <= HALVINGS; h++, tau /= 2) {
    for (int u = 0; u < f->A.count; u++)
      f->x[u] = start[u] + tau * d[u];
    if (merit(f) <= (1 - 2 * DECREASE * tau) * before)
      return h + 1;
  }
  for (int u = 0; u < f->A.count; u++)
    f->x[u] = start[u] + d[u];
  return HALVINGS + 1;
}

mn_status mn_lcp_newton(mn_lcp_solver *v, const mn_lcp_task *t)
{
  mn_lcp_flat *f = &v->flat;
  mn_solve_report *out = &t->report->solve;
  MN_TRY(mn_lcp_flatten(v, t, 6));
  double *d = f->work[0], *mask = f->work[1];
  for (int k = 0; k < MOST_OUTER; k++) {
    double before = merit(f); /* leaves r */
    out->residual = mn_flat_residual(f);
    if (out->residual <= t->tolerance || out->iterations >= t->max_iterations)
      break;
    for (int u = 0; u < f->A.count; u++) {
      mask[u] = held(f, u);
      d[u] = mask[u] > 0 ? -f->x[u] : 0;
    }
    out->iterations += solve_free(f, mask, t->tolerance, t->max_iterations - out->iterations, d);
    out->iterations += search_line(f, d, before);
    t->report->outer++;
  }
  mn_lcp_unflatten(f, t->p);
  return MN_OK;
}
