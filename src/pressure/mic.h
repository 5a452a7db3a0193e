/* Conjugate gradients with the modified incomplete Cholesky factorisation MIC(0), in double and in
   one thread: the plain reference of the fast solvers. */
#ifndef MN_PRESSURE_MIC_H
#define MN_PRESSURE_MIC_H

#include "pressure/stencil.h"
#include "pressure/system.h"

typedef struct mn_mic {
  mn_field factor; /* 1 / pivot */
  mn_field r, z, d, q;
  int (*range)[2]; /* per row j + n[1] k: where its unknowns are */
} mn_mic;

MN_MUST_CHECK mn_status mn_mic_create(mn_context *ctx, const mn_grid *grid, mn_place place,
                                      mn_mic *pcg);
void mn_mic_destroy(mn_mic *pcg);
void mn_mic_setup(mn_mic *pcg, const mn_stencil *s);
/* `regions`: its closed regions are singular, b is made to sum to 0 there; may be NULL. */
void mn_mic_solve(mn_mic *pcg, const mn_stencil *s, mn_regions *regions, const mn_field *b,
                  double tolerance, int max_iterations, mn_field *x, mn_solve_report *report);

#endif
