/* Multigrid for the matrix of a mesh, as the preconditioner of conjugate gradients:

       A = S K + H^T diag(w) H,

   K symmetric, of nodes with up to three freedoms; S a diagonal that commutes with K; H of few rows
   (faces of a grid that nodes move). For matrices too large, or too dense with the second part, to
   be factorised in every step. Single precision within; callers refine. */
#ifndef MN_LA_AGGREGATES_H
#define MN_LA_AGGREGATES_H

#include "la/csr.h"

typedef struct mn_aggregates mn_aggregates;

MN_MUST_CHECK mn_status mn_aggregates_create(mn_context *ctx, mn_aggregates **aggregates);
void mn_aggregates_destroy(mn_aggregates **aggregates);

/* scale[rows of K], w[rows of H]. The pattern of levels is kept while that of K stands. *positive:
   0 if a pivot shows that A is not, or if there are more bodies than this is made for. K, H, scale
   and w are copied. */
MN_MUST_CHECK mn_status mn_aggregates_setup(mn_aggregates *a, const mn_csr *K, const double *scale,
                                            const mn_csr *H, const double *w, int *positive);

/* The same without coarse levels: sweeps alone (aggregates_sweeps.c) answer at a third of the cost
   where a freedom hardly feels those far away; else they take many iterations. */
MN_MUST_CHECK mn_status mn_aggregates_setup_sweeps(mn_aggregates *a, const mn_csr *K,
                                                   const double *scale, const mn_csr *H,
                                                   const double *w, int *positive);

typedef struct mn_aggregates_report {
  int iterations;
  int positive;  /* 0: there is a direction in which A is not */
  int converged; /* 0: not in `most` iterations */
} mn_aggregates_report;

/* x <- A^-1 b, until a step is at most `relative` of x in the norm of A: what is left is less. x
   may be b. */
void mn_aggregates_solve(mn_aggregates *a, double relative, int most, const double *b, double *x,
                         mn_aggregates_report *report);

/* How many steps of mn_aggregates_fixed bring an answer within `error`, in the norm of A, by the
   eigenvalues that the last mn_aggregates_solve has seen (a few iterations show enough). */
int mn_aggregates_look(mn_aggregates *a, double error);
/* x near A^-1 b by so many steps, which are the same for every b: what x is of b is linear,
   symmetric and positive, as conjugate gradients around it want. x may be b. */
void mn_aggregates_fixed(mn_aggregates *a, int steps, const double *b, double *x);
/* U[rows of H] near H A^-1 H^T F in the same way. */
void mn_aggregates_fixed_rows(mn_aggregates *a, int steps, const double *F, double *U);

/* d <- the last answer of those above + keep d, x += step d: as who asks sums up what was asked. */
void mn_aggregates_follow(const mn_aggregates *a, double keep, double step, double *d, double *x);

/* U[rows of H] += H times the last answer. */
void mn_aggregates_follow_rows(const mn_aggregates *a, double *U);

/* x near A^-1 b: one cycle, or one sweep forwards and backwards. x may be b. */
void mn_aggregates_cycle(mn_aggregates *a, const double *b, double *x);

/* y <- S K x in double precision. Of K what is below the diagonal counts, and is taken for what is
   above. */
void mn_aggregates_multiply(const mn_aggregates *a, const double *x, double *y);

/* open[rows of H] <- H_r D^-1 H_r^T, D the blocks of A on the diagonal. */
void mn_aggregates_mobility(const mn_aggregates *a, double *open);

#endif
