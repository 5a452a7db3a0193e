#include "la/sparse.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "la/blas.h"
#include "la/sparse_backend.h"

struct mn_sparse_factor {
  mn_context *ctx;
  mn_sparse_backend_data *backend;
  int64_t n;
  int64_t *start, *col; /* the analysed pattern: compared exactly, a hash could lie */
  size_t start_capacity, col_capacity;
  int analysed, factorised;
  int64_t bad_column;
};

mn_status mn_sparse_create(mn_context *ctx, mn_sparse_factor **out)
{
  MN_TRY(MN_NEW(ctx, "a sparse factor", 1, out));
  (*out)->ctx = ctx;
  (*out)->bad_column = -1;
  mn_status status = mn_sparse_backend_create(ctx, &(*out)->backend);
  if (status != MN_OK)
    mn_sparse_destroy(out);
  return status;
}

void mn_sparse_destroy(mn_sparse_factor **factor)
{
  if (!*factor)
    return;
  mn_sparse_backend_destroy(&(*factor)->backend);
  mn_free((*factor)->start);
  mn_free((*factor)->col);
  mn_free(*factor);
  *factor = NULL;
}

static int same_pattern(const mn_sparse_factor *f, const mn_csr *a)
{
  return f->analysed && f->n == a->rows &&
         !memcmp(f->start, a->start, ((size_t)a->rows + 1) * sizeof *a->start) &&
         !memcmp(f->col, a->col, (size_t)mn_csr_entries(a) * sizeof *a->col);
}

static mn_status keep_pattern(mn_sparse_factor *f, const mn_csr *a)
{
  size_t starts = (size_t)a->rows + 1, cols = (size_t)mn_csr_entries(a);
  if (starts > f->start_capacity) {
    MN_TRY(mn_grow(f->ctx, "the pattern of a sparse factor", 0, starts, sizeof *f->start,
                   (void **)&f->start));
    f->start_capacity = starts;
  }
  if (cols > f->col_capacity) {
    MN_TRY(mn_grow(f->ctx, "the pattern of a sparse factor", 0, cols, sizeof *f->col,
                   (void **)&f->col));
    f->col_capacity = cols;
  }
  memcpy(f->start, a->start, starts * sizeof *f->start);
  if (cols)
    memcpy(f->col, a->col, cols * sizeof *f->col);
  f->n = a->rows;
  return MN_OK;
}

mn_status mn_sparse_analyse(mn_sparse_factor *f, const mn_csr *a)
{
  if (a->rows != a->cols || a->rows < 1)
    return mn_fail(f->ctx, MN_BAD_INPUT, "sparse Cholesky needs a square matrix, not %lld x %lld",
                   (long long)a->rows, (long long)a->cols);
  if (same_pattern(f, a))
    return MN_OK;
  mn_blas_one_thread();
  f->analysed = f->factorised = 0;
  f->bad_column = -1;
  MN_TRY(keep_pattern(f, a));
  MN_TRY(mn_sparse_backend_analyse(f->backend, a));
  f->analysed = 1;
  return MN_OK;
}

mn_status mn_sparse_factorise(mn_sparse_factor *f, const mn_csr *a, mn_factor_report *report)
{
  *report = (mn_factor_report){.column = -1, .analysed = !same_pattern(f, a)};
  MN_TRY(mn_sparse_analyse(f, a));
  mn_blas_one_thread();
  f->factorised = 0;
  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t e = a->start[i]; e < a->start[i + 1]; e++)
      if (!isfinite(a->value[e]))
        return mn_fail(f->ctx, MN_FAILED, "sparse Cholesky: entry (%lld, %lld) is %g", (long long)i,
                       (long long)a->col[e], a->value[e]);
  MN_TRY(mn_sparse_backend_factorise(f->backend, a, &report->column, &report->entries));
  f->bad_column = report->column;
  f->factorised = report->positive_definite = report->column < 0;
  return MN_OK;
}

mn_status mn_sparse_solve(mn_sparse_factor *f, int count, const double *b, double *x)
{
  if (f->bad_column >= 0)
    return mn_fail(f->ctx, MN_FAILED, "the sparse matrix is not positive definite at column %lld",
                   (long long)f->bad_column);
  if (!f->factorised)
    return mn_fail(f->ctx, MN_FAILED, "the sparse matrix was not factorised");
  mn_blas_one_thread();
  return mn_sparse_backend_solve(f->backend, f->n, count, b, x);
}
