/* The pressure system on vectors over its unknowns, for who solves it together with other things.
   Unknowns are numbered cell by cell, x fastest, then y, then z. */
#ifndef MN_PRESSURE_UNKNOWNS_H
#define MN_PRESSURE_UNKNOWNS_H

#include "meniscus/operators.h"
#include "pressure/system.h"

/* The row of an irregular cell. */
typedef struct mn_unknown_cell {
  int32_t number, i;
  double c[6], excess, diagonal;
} mn_unknown_cell;

/* Cells one after the other along x whose rows are the same, with couplings 1 along x. */
typedef struct mn_unknown_line {
  int32_t first, count;
  int32_t near[4]; /* numbers of the first one's neighbours: y below, above, z below, above */
  double c[4], diagonal;
} mn_unknown_line;

/* Any other cell: its entry and its neighbours' numbers, its own where it has none. */
typedef struct mn_unknown_single {
  int32_t entry, near[6];
} mn_unknown_single;

typedef struct mn_unknowns {
  int dim;
  const mn_exec *exec;
  const mn_regions *regions; /* borrowed, as they were when listed */
  size_t count;
  int32_t *run;          /* number of the first cell of each run of `regions` */
  int32_t *first_cell;   /* per row, and one more: entries of `cell` */
  int32_t *first_line;   /* the same of `line` */
  int32_t *first_single; /* and of `single` */
  mn_unknown_cell *cell;
  mn_unknown_line *line;
  mn_unknown_single *single;
  int64_t *start, *col; /* of the last matrix */
  double *value;
  mn_buffer buffer[10];
} mn_unknowns;

/* Of a system and its regions. Allocates only when it needs more than before. */
MN_MUST_CHECK mn_status mn_unknowns_list(mn_context *ctx, const mn_system *system,
                                         const mn_regions *regions, mn_unknowns *u);
void mn_unknowns_free(mn_unknowns *u);
/* Number of a cell of the grid, -1 if it is no unknown. */
int32_t mn_unknowns_number(const mn_unknowns *u, int i, int j, int k);
/* Its entry among the irregular cells, -1 if it is none. */
int32_t mn_unknowns_entry(const mn_unknowns *u, int i, int j, int k);
/* x <- factor field, and the unknowns of field <- x */
void mn_unknowns_gather(const mn_unknowns *u, double factor, const mn_field *field, double *x);
void mn_unknowns_spread(const mn_unknowns *u, const double *x, mn_field *field);
/* y = factor A x, A divided by the system's scale */
void mn_unknowns_multiply(const mn_unknowns *u, double factor, const double *x, double *y);
/* r = b - factor A x */
void mn_unknowns_residual(const mn_unknowns *u, double factor, const double *b, const double *x,
                          double *r);
/* factor A; arrays are borrowed until the next call */
MN_MUST_CHECK mn_status mn_unknowns_matrix(mn_context *ctx, mn_unknowns *u, double factor,
                                           mn_sparse_matrix *A);

#endif
