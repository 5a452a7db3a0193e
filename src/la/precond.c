/* Incomplete Cholesky without fill.

   Equation        M = L L^T ~ A, L with the pattern of A's lower triangle.
   Scheme          right-looking, column by column: after column k is scaled, the update
                   -L_ik L_jk is added to entry (i, j) if A has one there. Otherwise it is dropped
                   (IC(0)) or added, times tau, to the diagonals of rows i and j, so that
                   M and A agree on smooth vectors (MIC(0)).
   Source          [Meijerink 1977] for IC, [Gustafsson 1978] for MIC; tau and the guard sigma as in
                   [Bridson 2015, section 5.1].
   Deviation       the guard serves any symmetric matrix: a pivot below sigma A_kk is replaced by
                   A_kk. An M-matrix never needs it with IC.
   Limits          the triangular solves are serial: simple and the same for any thread count. The
                   fast path for grids is multigrid (src/pressure).
   Verified by     tests/unit/la/test_pcg.c (exact factor of a matrix without fill, preserved row
                   sums, iteration counts on Poisson problems). */
#include "la/precond.h"

#include <math.h>

#include "base/memory.h"
#include "base/status.h"

static const double TAU = 0.97;   /* share of the dropped fill that goes to the diagonal */
static const double SIGMA = 0.25; /* least pivot, as a share of A_kk */

void mn_precond_destroy(mn_precond *m)
{
  mn_free(m->inverse);
  mn_free(m->pivot);
  mn_csr_destroy(&m->upper);
  *m = (mn_precond){0};
}

static mn_status reserve(mn_context *ctx, const mn_csr *a, size_t entries, mn_precond *m)
{
  size_t n = (size_t)a->rows;
  if (n > m->n_capacity || !m->inverse) {
    m->n_capacity = 0;
    MN_TRY(mn_grow(ctx, "a preconditioner", 0, n, sizeof(double), (void **)&m->inverse));
    MN_TRY(mn_grow(ctx, "a preconditioner", 0, n, sizeof(double), (void **)&m->pivot));
    MN_TRY(mn_grow(ctx, "a preconditioner", 0, n + 1, sizeof(int64_t), (void **)&m->upper.start));
    m->n_capacity = n;
  }
  if (entries > m->entry_capacity || !m->upper.col) {
    m->entry_capacity = 0;
    MN_TRY(mn_grow(ctx, "a preconditioner", 0, entries, sizeof(int64_t), (void **)&m->upper.col));
    MN_TRY(mn_grow(ctx, "a preconditioner", 0, entries, sizeof(double), (void **)&m->upper.value));
    m->entry_capacity = entries;
  }
  return MN_OK;
}

/* The diagonal to `pivot`, the strict upper triangle to `upper`. */
static mn_status copy_upper(mn_context *ctx, const mn_csr *a, mn_precond *m)
{
  size_t entries = 0;
  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t e = a->start[i]; e < a->start[i + 1]; e++)
      entries += a->col[e] > i;
  MN_TRY(reserve(ctx, a, entries, m));
  m->n = m->upper.rows = m->upper.cols = a->rows;
  int64_t to = 0;
  for (int64_t i = 0; i < a->rows; i++) {
    m->upper.start[i] = to;
    int64_t d = mn_csr_find(a, i, i);
    m->pivot[i] = d < 0 ? 0 : a->value[d];
    if (!(m->pivot[i] > 0) || !isfinite(m->pivot[i]))
      return mn_fail(ctx, MN_FAILED,
                     "the matrix is not positive definite: its diagonal entry %lld is %g",
                     (long long)i, m->pivot[i]);
    for (int64_t e = a->start[i]; e < a->start[i + 1]; e++)
      if (a->col[e] > i) {
        m->upper.col[to] = a->col[e];
        m->upper.value[to++] = a->value[e];
      }
  }
  m->upper.start[a->rows] = to;
  return MN_OK;
}

/* Column k, already scaled, updates column i = upper.col[at] of the rest. */
static void update_column(mn_precond *m, int64_t at, int64_t end, double tau)
{
  mn_csr *u = &m->upper;
  int64_t i = u->col[at], f = u->start[i], f_end = u->start[i + 1];
  m->pivot[i] -= u->value[at] * u->value[at];
  for (int64_t e = at + 1; e < end; e++) {
    int64_t j = u->col[e];
    double fill = u->value[at] * u->value[e];
    while (f < f_end && u->col[f] < j)
      f++;
    if (f < f_end && u->col[f] == j) {
      u->value[f] -= fill;
    } else {
      m->pivot[i] -= tau * fill;
      m->pivot[j] -= tau * fill;
    }
  }
}

static void factorise(const mn_csr *a, mn_precond *m)
{
  mn_csr *u = &m->upper;
  double tau = m->kind == MN_PRECOND_MIC ? TAU : 0;
  for (int64_t k = 0; k < m->n; k++) {
    double diagonal = a->value[mn_csr_find(a, k, k)];
    double pivot = m->pivot[k] < SIGMA * diagonal ? diagonal : m->pivot[k];
    m->inverse[k] = 1 / sqrt(pivot);
    for (int64_t e = u->start[k]; e < u->start[k + 1]; e++)
      u->value[e] *= m->inverse[k];
    for (int64_t e = u->start[k]; e < u->start[k + 1]; e++)
      update_column(m, e, u->start[k + 1], tau);
  }
}

mn_status mn_precond_setup(mn_context *ctx, mn_precond_kind kind, const mn_csr *a, mn_precond *m)
{
  m->kind = kind;
  MN_TRY(copy_upper(ctx, a, m));
  if (kind == MN_PRECOND_JACOBI) {
    for (int64_t i = 0; i < m->n; i++)
      m->inverse[i] = 1 / m->pivot[i];
  } else {
    factorise(a, m);
  }
  return MN_OK;
}

void mn_precond_apply(const mn_exec *exec, const mn_precond *m, const double *r, double *z)
{
  const mn_csr *u = &m->upper;
  if (m->kind == MN_PRECOND_JACOBI) {
#pragma omp parallel for schedule(static) num_threads(exec->threads)
    for (int64_t i = 0; i < m->n; i++)
      z[i] = m->inverse[i] * r[i];
    return;
  }
  for (int64_t i = 0; i < m->n; i++)
    z[i] = r[i];
  for (int64_t k = 0; k < m->n; k++) { /* L y = r */
    z[k] *= m->inverse[k];
    for (int64_t e = u->start[k]; e < u->start[k + 1]; e++)
      z[u->col[e]] -= u->value[e] * z[k];
  }
  for (int64_t k = m->n - 1; k >= 0; k--) { /* L^T z = y */
    double sum = z[k];
    for (int64_t e = u->start[k]; e < u->start[k + 1]; e++)
      sum -= u->value[e] * z[u->col[e]];
    z[k] = sum * m->inverse[k];
  }
}
