/* Sparse matrices made anew in every step, row by row: their room is kept, and a row is summed up
   in a dense one before its entries are put in order. Verified by tests/unit/la/test_lu.c. */
#ifndef MN_LA_CSR_ROWS_H
#define MN_LA_CSR_ROWS_H

#include "la/csr.h"

typedef struct mn_csr_rows {
  mn_csr a;
  size_t row_room, entry_room;
  /* the row that is summed up */
  double *sum;    /* [cols] */
  int64_t *owner; /* [cols] row + 1 of the last row with an entry there */
  int64_t *list;  /* [cols] columns of the row */
  size_t col_room;
  int64_t count; /* of them */
  int64_t row;   /* rows that are done */
} mn_csr_rows;

void mn_csr_rows_destroy(mn_csr_rows *m);
/* A matrix of that many rows, all to come. */
MN_MUST_CHECK mn_status mn_csr_rows_begin(mn_context *ctx, mn_csr_rows *m, int64_t rows,
                                          int64_t cols);
/* Adds to the present row; in what order, is the caller's: the same order gives the same bits. */
static inline void mn_csr_rows_add(mn_csr_rows *m, int64_t col, double value)
{
  if (m->owner[col] == m->row + 1) {
    m->sum[col] += value;
    return;
  }
  m->owner[col] = m->row + 1;
  m->sum[col] = value;
  m->list[m->count++] = col;
}
/* The row is complete; the next one comes. */
MN_MUST_CHECK mn_status mn_csr_rows_next(mn_context *ctx, mn_csr_rows *m);

/* Room for so many entries in all: for who fills `a` by itself. */
MN_MUST_CHECK mn_status mn_csr_rows_reserve(mn_context *ctx, mn_csr_rows *m, int64_t entries);

/* out <- A^T */
MN_MUST_CHECK mn_status mn_csr_rows_transpose(mn_context *ctx, const mn_csr *a, mn_csr_rows *out);
/* out <- A B */
MN_MUST_CHECK mn_status mn_csr_rows_product(mn_context *ctx, const mn_csr *a, const mn_csr *b,
                                            mn_csr_rows *out);

#endif
