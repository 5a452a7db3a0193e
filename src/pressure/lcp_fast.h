/* The default LCP solver: its levels and first guess (see lcp_fast.c). */
#ifndef MN_PRESSURE_LCP_FAST_H
#define MN_PRESSURE_LCP_FAST_H

#include "pressure/lcp_internal.h"
#include "pressure/mgpcg.h"

/* One grid: the caller's, or a coarser one that gives it a first guess. */
typedef struct mn_lcp_fast {
  mn_context *ctx;
  const mn_grid *grid;
  mn_system system;
  mn_regions *regions;
  mn_mgpcg mgpcg;
  struct mn_lcp_fast *coarser;
  /* the caller's grid: where the system comes from */
  mn_pressure *pressure; /* the geometry, or */
  mn_stencil_view view;  /* a matrix, */
  const mn_lcp *lcp;     /* of this problem */
  mn_regions own_regions;
  /* a coarser grid: aggregates of 2^dim cells */
  mn_grid own_grid;
  const mn_mg_level *from; /* its matrix, a level of the finer grid's multigrid */
  mn_field b, p;
  uint8_t *wall; /* per cell: a condition on one of the children */
  mn_buffer buffer;
} mn_lcp_fast;

/* Fills `coarser`, creating it first if it has to be; b is averaged. Returns its greatest |b|. */
MN_MUST_CHECK mn_status mn_lcp_fast_coarsen(mn_lcp_fast *f, const mn_field *b, double *size);
/* p and the held cells of f from its coarser problem. */
void mn_lcp_fast_interpolate(mn_lcp_fast *f, const mn_field *b, mn_field *p);

static inline int64_t mn_lcp_fast_at(const mn_lcp_fast *f, const mn_field *x, int n)
{
  const mn_mg_bound *t = &f->mgpcg.mg.bound[n];
  return mn_index(x, t->i, t->j, t->k);
}

#endif
