/* What the LCP solvers share: the solver object, and the system as compressed rows. */
#ifndef MN_PRESSURE_LCP_INTERNAL_H
#define MN_PRESSURE_LCP_INTERNAL_H

#include "pressure/lcp.h"
#include "pressure/system.h"

/* A square sparse matrix, the diagonal apart. Rows with diagonal 0 hold no equation. Rows are
   grouped in slabs such that two slabs of even number are not coupled, nor two of odd number: a
   Gauss-Seidel sweep does all even ones at a time, then all odd ones. */
typedef struct mn_rows {
  const mn_exec *exec;
  int count;
  int *start, *column; /* off-diagonal entries of row r: [start[r], start[r + 1]) */
  double *value, *diagonal;
  int slabs, *slab; /* rows of slab s: [slab[s], slab[s + 1]) */
  mn_buffer buffer[5];
} mn_rows;

/* The LCP without the grid: unknowns are numbered in memory order. */
typedef struct mn_lcp_flat {
  mn_rows A;
  int64_t *point;       /* of each unknown, in the data of a field */
  int *number;          /* per point with ghosts: its row, or -1 */
  unsigned char *bound; /* p >= 0 */
  double *weight;       /* max(diagonal, 1): makes p comparable to A p - b */
  double *x, *b, *r;    /* of each unknown */
  double *work[6];      /* as many numbers each, of the solver */
  double *partial;      /* per slab */
  int *plane;           /* first row of each plane (2D: line) of the grid, and one more */
  mn_buffer buffer[15];
} mn_lcp_flat;

/* Passes over the rows of the grid (lcp_rows.c). */
typedef struct mn_lcp_passes {
  int *range;      /* per row j + n[1] k: first unknown, behind the last */
  double *partial; /* per slab */
  size_t unknowns;
  size_t walls;
  int64_t *wall; /* the separating cells, in the data of a field */
  mn_buffer buffer[3];
} mn_lcp_passes;

struct mn_lcp_levels;
struct mn_lcp_fast;

struct mn_lcp_solver {
  mn_context *ctx;
  const mn_grid *grid;
  mn_lcp_solver_kind kind;
  mn_field r; /* b - A p */
  mn_lcp_passes passes;
  mn_stencil system;         /* policy and penalty: the linear system of an outer iteration; only
                                the diagonal is its own */
  mn_stencil_solver *linear; /* its solver */
  mn_field before;           /* policy: the last iterate */
  unsigned char *active;     /* per point with ghosts */
  mn_lcp_flat flat;          /* the others */
  struct mn_lcp_levels *levels;
  struct mn_lcp_fast *fast;
  mn_buffer measured; /* per slab, of the measurement */
};

/* What a method is asked. It fills solve.iterations, solve.residual and outer of the report. */
typedef struct mn_lcp_task {
  const mn_lcp *lcp;
  const mn_field *b;
  double tolerance;
  int max_iterations;
  mn_field *p;
  mn_lcp_report *report;
} mn_lcp_task;

typedef mn_status mn_lcp_method(mn_lcp_solver *solver, const mn_lcp_task *task);
mn_lcp_method mn_lcp_policy, mn_lcp_penalty, mn_lcp_newton, mn_lcp_pgs, mn_lcp_mprgp, mn_lcp_fas,
    mn_lcp_fmg, mn_lcp_fast_solve;

MN_MUST_CHECK mn_status mn_lcp_passes_build(mn_context *ctx, mn_lcp_passes *w, const mn_lcp *lcp);
void mn_lcp_passes_free(mn_lcp_passes *w);
/* r = b - A p. Returns the greatest |min(weight p, A p - b)| over separating cells and |A p - b|
   over the others; weight = max(diagonal, 1), which makes it at least the residual of the report.
 */
double mn_lcp_passes_residual(const mn_lcp_passes *w, const mn_lcp *lcp, const mn_field *b,
                              const mn_field *p, mn_field *r);
/* Numbers the unknowns, copies the matrix, b and p; `work` vectors are wanted. */
MN_MUST_CHECK mn_status mn_lcp_flatten(mn_lcp_solver *solver, const mn_lcp_task *task, int work);
void mn_lcp_unflatten(const mn_lcp_flat *flat, mn_field *p);
/* r = b - A x of the flat system; returns the same number as mn_lcp_passes_residual. */
double mn_flat_residual(const mn_lcp_flat *flat);
void mn_flat_free(mn_lcp_flat *flat);

/* Slabs take MN_SLAB_PLANES planes (in 2D lines) of a grid of `planes` each; plane[i] is the first
   row of plane i, plane[planes] the number of rows. */
enum { MN_SLAB_PLANES = 2 };
MN_MUST_CHECK mn_status mn_rows_reserve(mn_context *ctx, const mn_exec *exec, int planes,
                                        const int *plane, size_t entries, mn_rows *A);
void mn_rows_free(mn_rows *A);
/* Threads worth their start for so many rows; results do not depend on them. */
int mn_rows_threads(const mn_rows *A);
/* One Gauss-Seidel sweep with relaxation omega, forwards or backwards. Where `bound` (which may be
   NULL) x is at least `least`, 0 if that is NULL. */
void mn_rows_sweep(const mn_rows *A, const unsigned char *bound, const double *least,
                   const double *b, double omega, int backwards, double *x);
/* y = A x, 0 in rows without equation. */
void mn_rows_multiply(const mn_rows *A, const double *x, double *y);

/* Watches the residuals of an iteration: it is hopeless when they grew beyond all measure, and when
   the least one has not halved for `patience` iterations. */
typedef struct mn_lcp_watch {
  double first, mark; /* residuals: at the start, when the count began */
  int patience, since;
} mn_lcp_watch;
mn_lcp_watch mn_lcp_watch_start(double residual, int patience);
int mn_lcp_watch_hopeless(mn_lcp_watch *watch, double residual);

void mn_lcp_levels_free(struct mn_lcp_levels **levels);
size_t mn_lcp_levels_bytes(const struct mn_lcp_levels *levels);
void mn_lcp_fast_free(struct mn_lcp_fast **fast);
size_t mn_lcp_fast_bytes(const struct mn_lcp_fast *fast);
/* Fills what the report says about p, from p, b and the problem alone. */
MN_MUST_CHECK mn_status mn_lcp_measure(mn_lcp_solver *solver, const mn_lcp_task *task);

static inline double mn_lcp_weight(double diagonal)
{
  return diagonal > 1 ? diagonal : 1;
}
/* Distance from a point's address to its place in arrays that run with data. */
static inline int64_t mn_lcp_origin(const mn_lcp *lcp)
{
  return lcp->matrix.diagonal.at - lcp->matrix.diagonal.data;
}

#endif
