/* The back end without GPL parts: L D L^T by LDL, up-looking, one row at a time, ordered by AMD
   [Davis 2005; Amestoy 2004]. Against CHOLMOD, on
   3D Poisson matrices: as fast at 12^3 unknowns, 3 times slower at 22^3, 9 times at 32^3. */
#if !MN_HAVE_CHOLMOD

#include "la/sparse_backend.h"

#include <amd.h>
#include <ldl.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

_Static_assert(sizeof(SuiteSparse_long) == sizeof(int64_t), "CSR indices are SuiteSparse's");

/* Names as in LDL's documentation. */
struct mn_sparse_backend_data {
  mn_context *ctx;
  int64_t n, row_capacity, entry_capacity;
  SuiteSparse_long *P, *Pinv, *Lp, *Parent, *Lnz, *Flag, *Pattern, *Li;
  double *D, *Y, *Lx;
};

const char *mn_sparse_backend(void)
{
  return "ldl";
}

mn_status mn_sparse_backend_create(mn_context *ctx, mn_sparse_backend_data **out)
{
  MN_TRY(MN_NEW(ctx, "a sparse factor", 1, out));
  (*out)->ctx = ctx;
  return MN_OK;
}

void mn_sparse_backend_destroy(mn_sparse_backend_data **data)
{
  mn_sparse_backend_data *d = *data;
  if (!d)
    return;
  void *arrays[] = {d->P,       d->Pinv, d->Lp, d->Parent, d->Lnz, d->Flag,
                    d->Pattern, d->Li,   d->D,  d->Y,      d->Lx};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    mn_free(arrays[i]);
  mn_free(d);
  *data = NULL;
}

static mn_status reserve_rows(mn_sparse_backend_data *d, int64_t n)
{
  if (n <= d->row_capacity)
    return MN_OK;
  d->row_capacity = 0;
  void **arrays[] = {(void **)&d->P,       (void **)&d->Pinv, (void **)&d->Lp,
                     (void **)&d->Parent,  (void **)&d->Lnz,  (void **)&d->Flag,
                     (void **)&d->Pattern, (void **)&d->D,    (void **)&d->Y};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    MN_TRY(mn_grow(d->ctx, "a sparse factor", 0, (size_t)n + 1, 8, arrays[i]));
  d->row_capacity = n;
  return MN_OK;
}

static mn_status reserve_factor(mn_sparse_backend_data *d, int64_t entries)
{
  if (entries <= d->entry_capacity && d->Li)
    return MN_OK;
  d->entry_capacity = 0;
  MN_TRY(mn_grow(d->ctx, "a sparse factor", 0, (size_t)entries, sizeof *d->Li, (void **)&d->Li));
  MN_TRY(mn_grow(d->ctx, "a sparse factor", 0, (size_t)entries, sizeof *d->Lx, (void **)&d->Lx));
  d->entry_capacity = entries;
  return MN_OK;
}

mn_status mn_sparse_backend_analyse(mn_sparse_backend_data *d, const mn_csr *a)
{
  MN_TRY(reserve_rows(d, a->rows));
  d->n = a->rows;
  int status = (int)amd_l_order(d->n, a->start, a->col, d->P, NULL, NULL);
  if (status == AMD_OUT_OF_MEMORY)
    return mn_fail(d->ctx, MN_ENVIRONMENT, "out of memory: the ordering of a sparse matrix");
  if (status == AMD_INVALID)
    return mn_fail(d->ctx, MN_FAILED, "AMD refused the pattern of a sparse matrix");
  ldl_l_symbolic(d->n, a->start, a->col, d->Lp, d->Parent, d->Lnz, d->Flag, d->P, d->Pinv);
  return reserve_factor(d, d->Lp[d->n]);
}

mn_status mn_sparse_backend_factorise(mn_sparse_backend_data *d, const mn_csr *a, int64_t *column,
                                      int64_t *entries)
{
  int64_t done = ldl_l_numeric(d->n, a->start, a->col, a->value, d->Lp, d->Parent, d->Lnz, d->Li,
                               d->Lx, d->D, d->Y, d->Pattern, d->Flag, d->P, d->Pinv);
  *column = -1;
  *entries = d->Lp[d->n] + d->n;
  for (int64_t k = 0; k < d->n && k <= done; k++)
    if (k == done || !(d->D[k] > 0)) { /* LDL itself stops only at a pivot of 0 */
      *column = d->P[k];
      break;
    }
  return MN_OK;
}

mn_status mn_sparse_backend_solve(mn_sparse_backend_data *d, int64_t n, int count, const double *b,
                                  double *x)
{
  for (int c = 0; c < count; c++) { /* Y holds one right-hand side in the factor's order */
    ldl_l_perm(n, d->Y, (double *)b + (size_t)c * (size_t)n, d->P);
    ldl_l_lsolve(n, d->Y, d->Lp, d->Li, d->Lx);
    ldl_l_dsolve(n, d->Y, d->D);
    ldl_l_ltsolve(n, d->Y, d->Lp, d->Li, d->Lx);
    ldl_l_permt(n, x + (size_t)c * (size_t)n, d->Y, d->P);
  }
  return MN_OK;
}

#else
typedef int mn_sparse_ldl_left_out; /* ISO C wants a declaration in every file */
#endif
