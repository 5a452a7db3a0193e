/* The pressure LCP on coarser grids, from averaged geometry: open fractions of the four (in 2D two)
   faces that make up a coarse one, level set of the children [Chentanez, Mueller 2012]. */
#ifndef MN_PRESSURE_LCP_COARSE_H
#define MN_PRESSURE_LCP_COARSE_H

#include "pressure/lcp_internal.h"

typedef struct mn_lcp_coarse {
  mn_grid grid;
  mn_field open[3], liquid, anchor, b, p;
  mn_pressure_geometry geometry;
  mn_lcp lcp;
} mn_lcp_coarse;

/* Whether a grid can be halved: all its numbers of cells are even and above `least`. */
int mn_lcp_can_halve(const mn_grid *grid, int least);
/* Creates what is missing, then averages. The object must not be moved. */
MN_MUST_CHECK mn_status mn_lcp_coarsen(mn_context *ctx, const mn_lcp *fine, mn_lcp_coarse *coarse);
void mn_lcp_coarse_destroy(mn_lcp_coarse *coarse);
/* Mean of the children; those that are no unknowns of `fine` count as 0. */
void mn_lcp_restrict(const mn_lcp *fine, const mn_field *b, mn_field *coarse);

#endif
