/* Grid levels of fas, its ablations and fmg: interpolation between them and their matrices. */
#ifndef MN_PRESSURE_LCP_LEVELS_H
#define MN_PRESSURE_LCP_LEVELS_H

#include "pressure/lcp_coarse.h"
#include "pressure/lcp_internal.h"

enum { MN_LCP_MOST_LEVELS = 16, MN_LCP_COARSEST = 4 };

typedef enum mn_lcp_weights {
  MN_LCP_BARYCENTRIC, /* parent and the next cell along each axis [Lai 2021, 5.3.2] */
  MN_LCP_TRILINEAR,
  MN_LCP_CONSTANT /* parent only */
} mn_lcp_weights;

typedef struct mn_lcp_design {
  mn_lcp_weights weights;
  int one_sided; /* weights towards solid cells are shared out among the others */
  int galerkin;  /* coarse matrices P^T A P, else discretised on averaged geometry */
  int sweeps;    /* before and after the coarse correction */
} mn_lcp_design;

/* Cells that are no unknowns. */
enum { MN_LCP_SOLID = -1, MN_LCP_AIR = -2 };

/* Coarse cells that P^T A P couples differ by at most two along each axis. */
enum { MN_LCP_REACH = 2, MN_LCP_BOX = 125 };

typedef struct mn_lcp_level {
  int dim, n[3];
  int *number;           /* per cell, x fastest: its row, or one of the two above */
  unsigned char *joined; /* per cell, bit a: coupled to its lower neighbour along axis a */
  int *plane;            /* first row of each plane (2D: line), and one more */
  int *key;    /* per row: x + 5 y + 25 z; differences name an offset within MN_LCP_REACH */
  mn_rows own; /* matrix of a coarse level */
  const mn_rows *A;
  int offsets, offset[MN_LCP_BOX][3]; /* of the cells that the matrix couples */
  /* Interpolation: row r has the places [r << shift, (r + 1) << shift). */
  int shift;
  int *from; /* coarse row, or -1 */
  double *weight;
  int *user_start, *user; /* per coarse row: its places in from */
  unsigned char *cut;     /* rows without interpolation */
  unsigned char *changed; /* rows whose cut (level 0) or matrix row (others) changed */
  double *x, *b, *r;      /* x and b: coarse levels only */
  mn_lcp_coarse direct;   /* what own was discretised from */
  double *whole;          /* diagonal of a discretised matrix, held rows included */
  unsigned char *bound;   /* fmg, coarse levels: x >= least */
  double *least;
  double *way, *image; /* fmg: the correction d from below, and A d */
  mn_buffer buffer[18];
} mn_lcp_level;

typedef struct mn_lcp_levels {
  mn_lcp_design design;
  int count;
  int fresh; /* no Galerkin product yet since the build */
  mn_lcp_level level[MN_LCP_MOST_LEVELS];
} mn_lcp_levels;

static inline size_t mn_lcp_cell(const mn_lcp_level *L, int i, int j, int k)
{
  return (size_t)i + (size_t)L->n[0] * ((size_t)j + (size_t)L->n[1] * (size_t)k);
}

/* The candidates of an interpolation row: which axes are stepped along, as bits, and the weight. */
int mn_lcp_candidates(mn_lcp_weights kind, int dim, int step[8], double weight[8]);

/* Levels below the flat system of the solver. */
MN_MUST_CHECK mn_status mn_lcp_levels_build(mn_lcp_solver *v, const mn_lcp *lcp,
                                            mn_lcp_design design);
/* Galerkin (lcp_galerkin.c): which coarse rows are coupled, then their values for the present cut
   rows; rows that changed[] does not reach are kept unless `fresh`. */
void mn_lcp_galerkin_offsets(const mn_lcp_level *fine, mn_lcp_weights weights, mn_lcp_level *L);
MN_MUST_CHECK mn_status mn_lcp_galerkin_pattern(mn_context *ctx, const mn_exec *exec,
                                                mn_lcp_level *L);
void mn_lcp_galerkin_products(mn_lcp_levels *levels);
/* Discretised matrices (lcp_direct.c) know nothing of cut rows: a coarse cell is held at 0 when one
   of its children is cut off. */
MN_MUST_CHECK mn_status mn_lcp_direct_rows(mn_context *ctx, const mn_exec *exec, mn_lcp_level *L);
void mn_lcp_direct_hold(mn_lcp_levels *levels);

static inline int mn_lcp_planes(const mn_lcp_level *L)
{
  return L->dim == 3 ? L->n[2] : L->n[1];
}

/* coarse->b = P^T r; discretised matrices take the mean instead of the sum */
void mn_lcp_level_restrict(const mn_lcp_levels *levels, int l);
/* x += P coarse->x */
void mn_lcp_level_correct(const mn_lcp_levels *levels, int l, double *x);
/* r = b - A x on level l >= 1 */
void mn_lcp_level_residual(mn_lcp_levels *levels, int l);
/* One linear V-cycle on level l >= 1 for x from b. */
void mn_lcp_level_cycle(mn_lcp_levels *levels, int l);

#endif
