/* A stand-alone solid to measure: one Newton step of a bar of tetrahedra. */
#ifndef MENISCUS_SOLID_PROBLEM_H
#define MENISCUS_SOLID_PROBLEM_H

#include "meniscus/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_newton_result {
  int64_t nodes, elements, unknowns;
  int64_t matrix_entries, factor_entries;
  double analyse_s;  /* ordering and symbolic factorisation, once */
  double assembly_s; /* energy, gradient and projected Hessians, summed */
  double factor_s, solve_s;
} mn_newton_result;

/* A Neo-Hookean bar of about `elements` linear tetrahedra, four times as long as wide, bent; the
   best times of `repeat` Newton steps of backward Euler with dt = 1/60 s. */
MN_MUST_CHECK mn_status mn_newton_problem(mn_context *ctx, int64_t elements, int repeat,
                                          mn_newton_result *result);

#ifdef __cplusplus
}
#endif
#endif
