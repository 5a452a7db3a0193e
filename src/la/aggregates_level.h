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
  int64_t rows, heavy;  /* of H; of these have a mass, and stand first (aggregates_faces.c) */
  int64_t *h_start;
  int32_t *h_row; /* [rows] as they came */
  int32_t *h_col; /* [entries of H] */
  float *h, *w;
  int32_t columns;   /* freedoms that H has, */
  int32_t *h_place;  /* [4 n + 4] and where they are */
  int32_t *h_number; /* [4 n] scratch */
  float *h_x, *h_y;  /* [4 n + 4] at these */
  size_t h_room, row_room;
  float *v[MN_AGGREGATE_VECTORS]; /* [4 n] */
  double unit;                    /* of the last answer, in the last of these */
  /* sweeps alone (aggregates_sweeps.c) */
  int swept;                 /* set up for these, and not for levels */
  float *low;                /* [9 blocks + 4] of K below the diagonal, by rows of 3 */
  float *block;              /* [12 n] on it, with `lumped`; alone: P */
  float *beyond;             /* [12 n] alone: 2 P - D */
  size_t low_end;            /* 9 blocks */
  double *exact, *exact_own; /* the same of S K, without `lumped` */
  double *wide;              /* [8 n] for products in double precision */
  /* what the last conjugate gradients did, and the eigenvalues of M A that it shows */
  double step[MN_AGGREGATE_STEPS], turn[MN_AGGREGATE_STEPS];
  int steps;
  double least, greatest;
};

void mn_levels_free(mn_aggregates *a);
/* The inverse of a symmetric block of so many freedoms, 0 beyond, with more on its diagonal (NULL:
   nothing); 0: it is not positive. */
int mn_levels_invert(const float *A, const float *more, int size, float *inverse);

/* aggregates_faces.c: H and w; the row sums of H^T w H into `lumped`, its own diagonal into v[0] */
MN_MUST_CHECK mn_status mn_faces_set(mn_aggregates *a, const mn_csr *H, const double *w);
void mn_faces_free(mn_aggregates *a);
void mn_faces_lump(const mn_aggregates *a);
/* y += H^T w H x */
void mn_levels_add_faces(const mn_aggregates *a, const float *x, float *y);
/* y <- factor H^T F,  U <- factor H x */
void mn_faces_press(const mn_aggregates *a, double factor, const double *F, float *y);
void mn_faces_move(const mn_aggregates *a, double factor, const float *x, double *U);

/* K's values below and on the diagonal, without what faces add. */
MN_MUST_CHECK mn_status mn_sweeps_set(mn_aggregates *a, const mn_csr *K, const double *scale);
/* The pivots P, with what faces add on the diagonal; 0: A is not positive. */
int mn_sweeps_pivots(mn_aggregates *a);
void mn_sweeps_free(mn_aggregates *a);
/* x <- (D + L)^-1 b; r, padding aside, b - A x without R; b <- D x */
void mn_sweeps_before(const mn_aggregates *a, float *b, float *x, float *r);
/* From D x of the sweep before and what coarse levels add to x: t, and x after the sweep back; A x
   is t + L x + R x. */
void mn_sweeps_after(const mn_aggregates *a, const float *Dx, const float *c, float *t, float *x);
/* y += L x */
void mn_sweeps_add_low(const mn_aggregates *a, const float *x, float *y);
/* s: of the residual r, (P + L)^-1 r; y <- 0 */
void mn_sweeps_begin(const mn_aggregates *a, float *s, float *y);
/* y <- take P s + keep y, d <- (P + L^T)^-1 y: the direction take B^-1 r + keep d */
void mn_sweeps_turn(const mn_aggregates *a, float take, const float *s, float keep, float *y,
                    float *d);
/* q <- (P + L)^-1 A d; y.q is d.A d */
void mn_sweeps_product(const mn_aggregates *a, const float *y, const float *d, float *q);
/* r.B^-1 r */
double mn_sweeps_norm(const mn_aggregates *a, const float *s);

#endif
