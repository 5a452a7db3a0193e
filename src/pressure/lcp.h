/* The pressure LCP of walls that liquid can leave, and every solver for it.

       0 <= p  perp  A p - b >= 0   on cells that touch a solid,     A p = b   elsewhere

   A and the unknowns as in pressure.h [Lai 2021, eq. 3.40, with the sign of b changed]. The
   residual is
   ||min(p, A p - b)||_inf on the first kind of cells and |A p - b| on the others.

   One object describes the system; every solver takes it and fills the same report. */
#ifndef MN_PRESSURE_LCP_H
#define MN_PRESSURE_LCP_H

#include "pressure/pressure.h"
#include "pressure/stencil.h"

typedef struct mn_lcp {
  mn_stencil matrix;         /* A, in 1/m^2 */
  unsigned char *separating; /* per point with ghosts: 1 where p >= 0 is the condition */
  unsigned char *air;        /* the same: 1 where there is no unknown because p is 0 there */
  /* of the last assembly, arrays borrowed; some solvers make coarser problems of it. Without it
     (a matrix written by hand) they work on one level. */
  mn_pressure_geometry geometry;
  int has_geometry;
  int geometry_only; /* the matrix, separating and air are not filled: for MN_LCP_FAST alone */
  /* Options of that case. The caller filled separating itself, with 1 only where an open fraction
     is < 1. The geometry was analysed already (borrowed). */
  int marked;
  mn_pressure *analysed;
} mn_lcp;

const char *mn_lcp_solver_name(mn_lcp_solver_kind kind); /* "fast", "fas", "pi-pcg", ... */

typedef struct mn_lcp_report {
  mn_solve_report solve;
  int outer;       /* policy, penalty or Newton iterations */
  double decrease; /* policy: greatest fall of p from one outer iterate to the next */
  int active;      /* cells with p = 0 held by the condition */
  /* measured after the solve, independently of how the solver measured itself */
  double residual;        /* as above, in b's unit */
  double least_p;         /* min p over separating cells */
  double least_slack;     /* min (A p - b) over separating cells */
  double complementarity; /* |p . (A p - b)| / (||p|| ||b||) over separating cells */
} mn_lcp_report;

typedef struct mn_lcp_solver mn_lcp_solver;

MN_MUST_CHECK mn_status mn_lcp_create(mn_context *ctx, const mn_grid *grid, mn_lcp *lcp);
void mn_lcp_destroy(mn_lcp *lcp);
size_t mn_lcp_unknowns(const mn_lcp *lcp);
/* Fills the matrix and marks the cells with any open fraction < 1 as separating (domain sides that
   are closed count as solids). */
MN_MUST_CHECK mn_status mn_lcp_assemble(mn_context *ctx, const mn_pressure_geometry *geometry,
                                        mn_lcp *lcp);

/* The same problem without its matrix: MN_LCP_FAST takes rows from the geometry, which saves most
   of its setup. The geometry must stand until the solve is done. Takes the options back. */
void mn_lcp_set_geometry(const mn_pressure_geometry *geometry, mn_lcp *lcp);

MN_MUST_CHECK mn_status mn_lcp_solver_create(mn_context *ctx, const mn_grid *grid,
                                             mn_lcp_solver_kind kind, mn_lcp_solver **solver);
void mn_lcp_solver_destroy(mn_lcp_solver **solver);
size_t mn_lcp_solver_bytes(const mn_lcp_solver *solver); /* allocated by the solver */
/* From p (a warm start: its zero set is the first guess of the active set) to a residual <=
   tolerance. MN_OK whatever the reason. */
MN_MUST_CHECK mn_status mn_lcp_solve(mn_lcp_solver *solver, const mn_lcp *lcp, const mn_field *b,
                                     double tolerance, int max_iterations, mn_field *p,
                                     mn_lcp_report *report);

#endif
