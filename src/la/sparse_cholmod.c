/* The CHOLMOD back end: supernodal or simplicial L L^T, whichever its flop count favours
   [Chen 2008]. Its long-integer interface takes CSR arrays as they are. */
#if MN_HAVE_CHOLMOD

#include "la/sparse_backend.h"

#include <cholmod.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

_Static_assert(sizeof(SuiteSparse_long) == sizeof(int64_t), "CSR indices are CHOLMOD's");

struct mn_sparse_backend_data {
  mn_context *ctx;
  cholmod_common common;
  cholmod_factor *factor;
  cholmod_dense *x, *y, *e; /* kept between solves, so that a solve does not allocate */
};

const char *mn_sparse_backend(void)
{
  return "cholmod";
}

static void set_up(cholmod_common *c)
{
  cholmod_l_start(c);
  c->print = 0; /* a library never prints */
  c->nmethods = 1;
  c->method[0].ordering = CHOLMOD_AMD;
  c->postorder = 1;
  c->final_ll = 1; /* L D L^T would accept an indefinite matrix */
  c->quick_return_if_not_posdef = 1;
}

mn_status mn_sparse_backend_create(mn_context *ctx, mn_sparse_backend_data **out)
{
  MN_TRY(MN_NEW(ctx, "a sparse factor", 1, out));
  (*out)->ctx = ctx;
  set_up(&(*out)->common);
  return MN_OK;
}

void mn_sparse_backend_destroy(mn_sparse_backend_data **data)
{
  mn_sparse_backend_data *d = *data;
  if (!d)
    return;
  cholmod_l_free_factor(&d->factor, &d->common);
  cholmod_l_free_dense(&d->x, &d->common);
  cholmod_l_free_dense(&d->y, &d->common);
  cholmod_l_free_dense(&d->e, &d->common);
  cholmod_l_finish(&d->common);
  mn_free(d);
  *data = NULL;
}

/* Borrows the arrays of A; rows of a symmetric matrix are its columns. */
static cholmod_sparse view(const mn_csr *a)
{
  return (cholmod_sparse){.nrow = (size_t)a->rows,
                          .ncol = (size_t)a->cols,
                          .nzmax = (size_t)mn_csr_entries(a),
                          .p = a->start,
                          .i = a->col,
                          .x = a->value,
                          .stype = -1, /* our upper triangle by rows is a lower one by columns */
                          .itype = CHOLMOD_LONG,
                          .xtype = CHOLMOD_REAL,
                          .dtype = CHOLMOD_DOUBLE,
                          .sorted = 1,
                          .packed = 1};
}

static mn_status failed(mn_sparse_backend_data *d, const char *what)
{
  int status = d->common.status;
  if (status == CHOLMOD_OUT_OF_MEMORY || status == CHOLMOD_TOO_LARGE)
    return mn_fail(d->ctx, MN_ENVIRONMENT, "out of memory: the sparse %s", what);
  return mn_fail(d->ctx, MN_FAILED, "CHOLMOD: the sparse %s failed (status %d)", what, status);
}

mn_status mn_sparse_backend_analyse(mn_sparse_backend_data *d, const mn_csr *a)
{
  cholmod_sparse matrix = view(a);
  cholmod_l_free_factor(&d->factor, &d->common);
  d->factor = cholmod_l_analyze(&matrix, &d->common);
  return d->factor ? MN_OK : failed(d, "analysis");
}

/* CHOLMOD 3 assembles supernodes on four threads of its own, asked or not, a team for each: on a
   busy machine a small factorisation waited for them most of its time (a cloth of 225 nodes: 97 s,
   alone 38 s). With no level of parallelism allowed it has one. Weak:
   OpenMP's run-time may be another under the sanitizers. */
extern int omp_get_max_active_levels(void) __attribute__((weak));
extern void omp_set_max_active_levels(int levels) __attribute__((weak));

static int factorise_alone(cholmod_sparse *matrix, mn_sparse_backend_data *d)
{
  int known = omp_get_max_active_levels && omp_set_max_active_levels;
  int levels = known ? omp_get_max_active_levels() : 0;
  if (known)
    omp_set_max_active_levels(0);
  int done = cholmod_l_factorize(matrix, d->factor, &d->common);
  if (known)
    omp_set_max_active_levels(levels);
  return done;
}

static int64_t factor_entries(const cholmod_factor *l)
{
  if (l->is_super)
    return (int64_t)l->xsize;
  int64_t entries = 0;
  for (size_t j = 0; j < l->n; j++)
    entries += ((SuiteSparse_long *)l->nz)[j];
  return entries;
}

mn_status mn_sparse_backend_factorise(mn_sparse_backend_data *d, const mn_csr *a, int64_t *column,
                                      int64_t *entries)
{
  cholmod_sparse matrix = view(a);
  *column = -1;
  int done = factorise_alone(&matrix, d);
  if (!done || d->common.status < 0)
    return failed(d, "factorisation");
  if (d->common.status == CHOLMOD_NOT_POSDEF || d->factor->minor < d->factor->n) {
    *column = ((SuiteSparse_long *)d->factor->Perm)[d->factor->minor];
    return MN_OK;
  }
  *entries = factor_entries(d->factor);
  return MN_OK;
}

mn_status mn_sparse_backend_solve(mn_sparse_backend_data *d, int64_t n, int count, const double *b,
                                  double *x)
{
  if (count < 1)
    return MN_OK;
  size_t size = (size_t)n * (size_t)count;
  cholmod_dense rhs = {.nrow = (size_t)n,
                       .ncol = (size_t)count,
                       .nzmax = size,
                       .d = (size_t)n,
                       .x = (double *)b, /* only read */
                       .xtype = CHOLMOD_REAL,
                       .dtype = CHOLMOD_DOUBLE};
  /* CHOLMOD 3.0.14 crashes when there is no memory for Y but some for E: make Y here. */
  if (!cholmod_l_ensure_dense(&d->y, rhs.nrow, rhs.ncol, rhs.d, CHOLMOD_REAL, &d->common))
    return failed(d, "solve");
  if (!cholmod_l_solve2(CHOLMOD_A, d->factor, &rhs, NULL, &d->x, NULL, &d->y, &d->e, &d->common))
    return failed(d, "solve");
  memcpy(x, d->x->x, size * sizeof *x);
  return MN_OK;
}

#else
typedef int mn_sparse_cholmod_left_out; /* ISO C wants a declaration in every file */
#endif
