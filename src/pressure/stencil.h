/* A symmetric M-matrix with one unknown per point of a box, coupled along the axes:

       (A x)_c = diagonal_c x_c - sum over the axes a of (off[a]_c x_{c-a} + off[a]_{c+a} x_{c+a})

   Rows with diagonal 0 are no unknowns: x counts as 0 there, and a solve neither reads nor writes
   it. The implicit viscosity of each velocity component is one;
   the pressure system can be written as one. */
#ifndef MN_PRESSURE_STENCIL_H
#define MN_PRESSURE_STENCIL_H

#include "grid/grid.h"
#include "meniscus/box.h"
#include "meniscus/model.h"

typedef struct mn_stencil {
  mn_field diagonal; /* any place; off and x, b share it */
  mn_field off[3];   /* off[a] at c: coupling of c and its lower neighbour along a; >= 0 */
} mn_stencil;

typedef struct mn_stencil_solver mn_stencil_solver;

MN_MUST_CHECK mn_status mn_stencil_create(mn_context *ctx, const mn_grid *grid, mn_place place,
                                          mn_stencil *s);
void mn_stencil_destroy(mn_stencil *s);

/* Scratch for systems of one place on one grid. MN_PRESSURE_PCG: MIC(0)-PCG; MN_PRESSURE_MGPCG:
   multigrid-preconditioned CG. */
MN_MUST_CHECK mn_status mn_stencil_solver_create(mn_context *ctx, const mn_grid *grid,
                                                 mn_place place, mn_pressure_solver kind,
                                                 mn_stencil_solver **solver);
void mn_stencil_solver_destroy(mn_stencil_solver **solver);
/* To be called when the coefficients changed; then solve for any number of right-hand sides, from
   x, to ||A x - b||_inf <= tolerance. */
MN_MUST_CHECK mn_status mn_stencil_setup(mn_stencil_solver *solver, const mn_stencil *s);
MN_MUST_CHECK mn_status mn_stencil_solve(mn_stencil_solver *solver, const mn_field *b,
                                         double tolerance, int max_iterations, mn_field *x,
                                         mn_solve_report *report);
/* r = b - A x; its infinity norm is returned. */
double mn_stencil_residual(const mn_stencil *s, const mn_field *b, const mn_field *x, mn_field *r);

#endif
