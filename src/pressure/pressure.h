/* The pressure system on a staggered grid with cut cells, and its solvers.

       A p = b,   A = -div (w grad p)      [1/m^2 times the unit of p]

   w: open fraction of a face. Unknowns: cells with some open face and, with a liquid level set,
   phi < 0. Across the surface the neighbour's p is 0 at the distance theta dx, theta = phi_c /
   (phi_c - phi_n) clamped to >= theta_min (ghost fluid). Beyond an open domain side p is 0 at the
   face. `anchor` links a cell to p = 0 besides, by anchor/dx^2. A region without any opening has a
   null space of its own: b must sum to zero over it. */
#ifndef MN_PRESSURE_PRESSURE_H
#define MN_PRESSURE_PRESSURE_H

#include "grid/grid.h"
#include "meniscus/box.h"
#include "meniscus/model.h"

typedef struct mn_pressure mn_pressure;

typedef struct mn_pressure_geometry {
  const mn_field *open;   /* [dim]; 0 on closed domain sides and on faces with a given velocity */
  const mn_field *liquid; /* level set at cell centres, negative in the liquid; NULL: no surface */
  unsigned open_sides;    /* bit s: domain side s is open where w > 0 */
  double theta_min;       /* 0.01 */
  int thin; /* 1: some walls have no thickness, and the multigrid heeds it: fewer iterations */
  const mn_field *anchor; /* cells: links to p = 0; only where some open fraction is < 1, and some
                             is > 0. NULL: none */
} mn_pressure_geometry;

/* One connected region of unknowns. */
typedef struct mn_pressure_region {
  size_t cells;
  int closed;     /* no surface and no open side: p is known up to a constant */
  int first[3];   /* one of its cells, to name it */
  double rhs_sum; /* of the last solve's b, in its unit; 0 if compatible */
} mn_pressure_region;

MN_MUST_CHECK mn_status mn_pressure_create(mn_context *ctx, const mn_grid *grid,
                                           mn_pressure_solver solver, mn_pressure **pressure);
void mn_pressure_destroy(mn_pressure **pressure);

/* Analyses a geometry: unknowns, regions, coarse levels. Arrays of `geometry` are borrowed until
   the next call. Allocates only when it needs more than before. */
MN_MUST_CHECK mn_status mn_pressure_assemble(mn_pressure *pressure,
                                             const mn_pressure_geometry *geometry);

/* The same without coarse levels, for callers that solve otherwise: regions and gradient only. */
MN_MUST_CHECK mn_status mn_pressure_analyse(mn_pressure *pressure,
                                            const mn_pressure_geometry *geometry);
/* What `assemble` does beyond that. */
MN_MUST_CHECK mn_status mn_pressure_coarsen(mn_pressure *pressure);
/* Records the sum of b over each closed region (rhs_sum). */
void mn_pressure_sum_regions(mn_pressure *pressure, const mn_field *b);

/* Solves to ||A p - b||_inf <= tolerance (in b's unit), starting from p; p is 0 outside the
   unknowns. In closed regions |sum of b| must be <= sum_tolerance, which the caller derives from
   its velocity scale (a part of the sum of |b| would not do: b itself may be round-off): else
   reason MN_INCOMPATIBLE, nothing is solved, and the region holds the sum. What remains within that
   bound is spread evenly; p has mean 0 there. The report's divergence and net_flow are left to the
   caller. MN_OK whatever the reason. */
MN_MUST_CHECK mn_status mn_pressure_solve(mn_pressure *pressure, const mn_field *b,
                                          double tolerance, double sum_tolerance,
                                          int max_iterations, mn_field *p, mn_solve_report *report);

/* grad p on the faces as A sees it: w > 0 faces only, 0 elsewhere; across the surface (0 -
 * p)/(theta dx). */
void mn_pressure_gradient(const mn_pressure *pressure, const mn_field *p, mn_field gradient[3]);

size_t mn_pressure_unknowns(const mn_pressure *pressure);
size_t mn_pressure_bytes(const mn_pressure *pressure); /* allocated by the solver */
int mn_pressure_region_count(const mn_pressure *pressure);
mn_pressure_region mn_pressure_get_region(const mn_pressure *pressure, int region);
/* Region of a local cell, -1 if it is no unknown. */
int mn_pressure_region_of(const mn_pressure *pressure, int i, int j, int k);

#endif
