/* What a back end of the sparse factorisation implements; sparse.c does checks, the reuse of the
   analysis and the messages. Exactly one back end is compiled in. */
#ifndef MN_LA_SPARSE_BACKEND_H
#define MN_LA_SPARSE_BACKEND_H

#include "la/sparse.h"

typedef struct mn_sparse_backend_data mn_sparse_backend_data;

MN_MUST_CHECK mn_status mn_sparse_backend_create(mn_context *ctx, mn_sparse_backend_data **out);
void mn_sparse_backend_destroy(mn_sparse_backend_data **data);
/* Forgets any analysis before. */
MN_MUST_CHECK mn_status mn_sparse_backend_analyse(mn_sparse_backend_data *data, const mn_csr *a);
/* column: -1 or the first column of A whose pivot is not positive. */
MN_MUST_CHECK mn_status mn_sparse_backend_factorise(mn_sparse_backend_data *data, const mn_csr *a,
                                                    int64_t *column, int64_t *entries);
MN_MUST_CHECK mn_status mn_sparse_backend_solve(mn_sparse_backend_data *data, int64_t n, int count,
                                                const double *b, double *x);

#endif
