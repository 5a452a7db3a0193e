/* UMFPACK [Davis 2004]. It takes columns: rows of A are the columns of A^T, so that A x = b is
   asked of it as the transposed system of the arrays as they are. */
#include "la/sparse_lu.h"

#include "base/status.h"

#if MN_HAVE_UMFPACK

#include <string.h>
#include <umfpack.h>

#include "base/memory.h"
#include "la/blas.h"

_Static_assert(sizeof(SuiteSparse_long) == sizeof(int64_t), "CSR indices are UMFPACK's");

struct mn_lu {
  mn_context *ctx;
  mn_csr a; /* borrowed */
  void *symbolic, *numeric;
  int64_t n;
  int64_t *start, *col; /* the analysed pattern */
  size_t start_room, col_room;
  double control[UMFPACK_CONTROL];
  SuiteSparse_long *wi; /* for a solve: it then allocates nothing */
  double *w;
  size_t work_room;
};

int mn_lu_available(void)
{
  return 1;
}

mn_status mn_lu_create(mn_context *ctx, mn_lu **out)
{
  MN_TRY(MN_NEW(ctx, "a sparse LU", 1, out));
  (*out)->ctx = ctx;
  umfpack_dl_defaults((*out)->control);
  (*out)->control[UMFPACK_PRL] = 0;                         /* a library never prints */
  (*out)->control[UMFPACK_ORDERING] = UMFPACK_ORDERING_AMD; /* METIS would draw random numbers */
  return MN_OK;
}

void mn_lu_destroy(mn_lu **lu)
{
  mn_lu *l = *lu;
  if (!l)
    return;
  umfpack_dl_free_numeric(&l->numeric);
  umfpack_dl_free_symbolic(&l->symbolic);
  mn_free(l->start);
  mn_free(l->col);
  mn_free(l->wi);
  mn_free(l->w);
  mn_free(l);
  *lu = NULL;
}

static mn_status failed(const mn_lu *l, const char *what, int64_t status)
{
  if (status == UMFPACK_ERROR_out_of_memory)
    return mn_fail(l->ctx, MN_ENVIRONMENT, "out of memory: the sparse LU %s", what);
  return mn_fail(l->ctx, MN_FAILED, "UMFPACK: the sparse LU %s failed (status %lld)", what,
                 (long long)status);
}

static int same_pattern(const mn_lu *l, const mn_csr *a)
{
  return l->symbolic && l->n == a->rows &&
         !memcmp(l->start, a->start, ((size_t)a->rows + 1) * sizeof *a->start) &&
         !memcmp(l->col, a->col, (size_t)mn_csr_entries(a) * sizeof *a->col);
}

static mn_status keep_pattern(mn_lu *l, const mn_csr *a)
{
  size_t starts = (size_t)a->rows + 1, cols = (size_t)mn_csr_entries(a);
  if (starts > l->start_room) {
    l->start_room = l->work_room = 0;
    MN_TRY(MN_RENEW(l->ctx, "the pattern of a sparse LU", starts, &l->start));
    MN_TRY(MN_RENEW(l->ctx, "work of a sparse LU", starts, &l->wi));
    MN_TRY(MN_RENEW(l->ctx, "work of a sparse LU", 5 * starts, &l->w));
    l->start_room = l->work_room = starts;
  }
  if (cols > l->col_room) {
    l->col_room = 0;
    MN_TRY(MN_RENEW(l->ctx, "the pattern of a sparse LU", cols + cols / 4, &l->col));
    l->col_room = cols + cols / 4;
  }
  memcpy(l->start, a->start, starts * sizeof *a->start);
  memcpy(l->col, a->col, cols * sizeof *a->col);
  l->n = a->rows;
  return MN_OK;
}

mn_status mn_lu_factorise(mn_lu *l, const mn_csr *a, int *singular)
{
  double info[UMFPACK_INFO];
  *singular = 0;
  if (a->rows != a->cols)
    return mn_fail(l->ctx, MN_FAILED, "a sparse LU of %lld x %lld entries", (long long)a->rows,
                   (long long)a->cols);
  mn_blas_one_thread();
  if (!same_pattern(l, a)) {
    umfpack_dl_free_symbolic(&l->symbolic);
    MN_TRY(keep_pattern(l, a));
    int64_t status = umfpack_dl_symbolic(a->rows, a->cols, a->start, a->col, a->value, &l->symbolic,
                                         l->control, info);
    if (status < 0)
      return failed(l, "analysis", status);
  }
  umfpack_dl_free_numeric(&l->numeric);
  int64_t status =
      umfpack_dl_numeric(a->start, a->col, a->value, l->symbolic, &l->numeric, l->control, info);
  if (status < 0)
    return failed(l, "factorisation", status);
  *singular = status == UMFPACK_WARNING_singular_matrix;
  l->a = *a;
  return MN_OK;
}

mn_status mn_lu_solve(mn_lu *l, const double *b, double *x)
{
  double info[UMFPACK_INFO];
  int64_t status = umfpack_dl_wsolve(UMFPACK_At, l->a.start, l->a.col, l->a.value, x, b, l->numeric,
                                     l->control, info, l->wi, l->w);
  return status < 0 ? failed(l, "solve", status) : MN_OK;
}

#else

int mn_lu_available(void)
{
  return 0;
}

mn_status mn_lu_create(mn_context *ctx, mn_lu **lu)
{
  *lu = NULL;
  return mn_fail(ctx, MN_FAILED,
                 "sparse LU factorisation needs UMFPACK: this is a build without GPL parts "
                 "(MENISCUS_GPL=OFF)");
}

void mn_lu_destroy(mn_lu **lu)
{
  *lu = NULL;
}

mn_status mn_lu_factorise(mn_lu *lu, const mn_csr *a, int *singular)
{
  (void)lu, (void)a;
  *singular = 1;
  return MN_OK;
}

mn_status mn_lu_solve(mn_lu *lu, const double *b, double *x)
{
  (void)lu, (void)b, (void)x;
  return MN_FAILED;
}

#endif
