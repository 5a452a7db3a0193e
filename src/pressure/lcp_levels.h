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

typedef struct mn_lcp_level {
  int dim, n[3];
  int *number; /* per cell, x fastest: its row, or one of the two above */
  mn_rows own; /* matrix of a coarse level */
  const mn_rows *A;
  int width; /* entries of an interpolation row */
  int *from; /* coarse row, or -1 */
  double *weight;
  int *user_start, *user; /* per coarse row: its places in from */
  unsigned char *cut;     /* level 0: rows without interpolation */
  double *x, *b, *r;
  int *marker;          /* Galerkin product: per coarse row */
  mn_lcp_coarse direct; /* what own was discretised from */
  double *whole;        /* diagonal of a discretised matrix, held rows included */
  mn_buffer buffer[11];
} mn_lcp_level;

typedef struct mn_lcp_levels {
  mn_lcp_design design;
  int count;
  int fresh; /* no Galerkin product yet since the build */
  mn_lcp_level level[MN_LCP_MOST_LEVELS];
} mn_lcp_levels;

/* Levels below the flat system of the solver. */
MN_MUST_CHECK mn_status mn_lcp_levels_build(mn_lcp_solver *v, const mn_lcp *lcp,
                                            mn_lcp_design design);
/* Coarse matrices for the present cut rows. Discretised ones know nothing of them: there a coarse
   cell is held at 0 when one of its children is cut off. */
MN_MUST_CHECK mn_status mn_lcp_levels_product(mn_context *ctx, mn_lcp_levels *levels);
/* coarse->b = P^T r; discretised matrices take the mean instead of the sum */
void mn_lcp_level_restrict(const mn_lcp_levels *levels, int l);
/* x += P coarse->x */
void mn_lcp_level_correct(const mn_lcp_levels *levels, int l, double *x);
/* One linear V-cycle on level l >= 1 for x from b. */
void mn_lcp_level_cycle(mn_lcp_levels *levels, int l);

#endif
