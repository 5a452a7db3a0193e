/* How work is executed: threads now, ranks later. The rule that keeps bits equal for any number of
   threads: a parallel loop writes only its own entries, and sums are formed per slab (a plane in
   3D, a row in 2D, a fixed block of particles), then added in slab order by mn_reduce.

   Loops are written in place as
       #pragma omp parallel for schedule(static) num_threads(exec->threads)
   and use no other OpenMP construct (tests/tsan/gomp.c replaces the runtime under tsan). */
#ifndef MN_BASE_EXEC_H
#define MN_BASE_EXEC_H

#include "meniscus/base.h"

typedef struct mn_exec {
  int threads;
} mn_exec;

typedef enum mn_reduction { MN_SUM, MN_MAX, MN_MIN } mn_reduction;

/* The one door for reductions: over the slabs in their order, then over the ranks. */
double mn_reduce(const mn_exec *exec, mn_reduction op, const double *slab, int count);

#endif
