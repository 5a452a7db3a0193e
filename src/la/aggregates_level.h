/* Levels of la/aggregates.h: what setting up and solving share. */
#ifndef MN_LA_AGGREGATES_LEVEL_H
#define MN_LA_AGGREGATES_LEVEL_H

#include "la/aggregates.h"

enum {
  MN_AGGREGATE_LEVELS = 12,
  MN_AGGREGATE_LAST = 48,
  MN_AGGREGATE_MOST = 256,
  MN_AGGREGATE_VECTORS = 4,
  MN_AGGREGATE_STEPS = 24 /* of conjugate gradients that are remembered */
};

typedef struct mn_level {
  int n;                   /* nodes */
  int32_t *start;          /* [n + 1] blocks of a row, columns rising */
  int32_t *col;            /* of a block */
  int32_t *diagonal;       /* [n] the row's block on the diagonal */
  float *value;            /* [12 blocks] by columns of 4 */
  float *inverse;          /* [12 n] of the diagonal blocks */
  uint8_t *size;           /* [n] freedoms; those that a node lacks stay 0 */
  int32_t *to;             /* [n] node of the next level */
  int32_t *into;           /* [blocks] block of the next level */
  float *b, *x, *r, *kept; /* [4 n] */
} mn_level;

struct mn_aggregates {
  mn_context *ctx;
  int levels;
  mn_level level[MN_AGGREGATE_LEVELS];
  double *dense, *dense_x; /* Cholesky factor of the last level, by rows */
  /* the matrix as it came */
  int64_t freedoms;
  int64_t *start, *col; /* the pattern that the levels are of */
  int32_t *place;       /* [freedoms] in vectors of the first level */
  int32_t *entry;       /* [entries of K] in its values */
  float *lumped;        /* [4 n] row sums of H^T w H that its diagonal has */
  float *own;           /* [12 n] inverses of the diagonal blocks of A */
  int64_t rows;
  int64_t *h_start;
  int32_t *h_place; /* [entries of H] */
  float *h, *w;
  size_t h_room, row_room;
  float *v[MN_AGGREGATE_VECTORS]; /* [4 n] */
  /* what the last conjugate gradients did, and the eigenvalues of M A that it shows */
  double step[MN_AGGREGATE_STEPS], turn[MN_AGGREGATE_STEPS];
  int steps;
  double least, greatest;
};

void mn_levels_free(mn_aggregates *a);

#endif
