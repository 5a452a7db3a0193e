/* Solvers side by side: every pressure equation of a running simulation of water is also given to
   other solvers, which start where the simulation's own one starts and change nothing.

   The equation has one solution, so what another solver would have found in the step before is, to
   the tolerance, the start it is given here: its counts are those of a run of its own. */
#ifndef MENISCUS_CONTEST_H
#define MENISCUS_CONTEST_H

#include "meniscus/box.h"
#include "meniscus/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One solver and what it needed. */
typedef struct mn_contestant {
  /* "mic-pcg", "mgpcg": the linear equation of sticking walls by MIC(0)-PCG or multigrid CG (from
     the geometry, as fast); else an LCP solver's name, which needs separating walls */
  const char *solver;
  int every;          /* takes part in every so many-th equation; 1: all; 0: none for now */
  int max_iterations; /* then it has failed */
  int64_t equations;
  int64_t failed; /* of them not solved to the tolerance; they count with their iterations */
  int64_t parted; /* of them with cells that part from a wall: true LCPs */
  int64_t iterations, outer;
  double seconds;   /* wall, with setup, without assembly of the matrix */
  double worst;     /* greatest residual over tolerance of all its equations, not a sum */
  mn_reason reason; /* of the last equation */
  /* called after each of its equations; may be NULL */
  void (*solved)(void *user, const struct mn_contestant *self);
  void *user;
} mn_contestant;

typedef struct mn_contest mn_contest;

/* Follows the world until it is destroyed, which must be before the world. The array is borrowed;
   its first three members may be changed at any time, all others start from what they hold. On
   large grids a solver is in memory only while it works. */
MN_MUST_CHECK mn_status mn_contest_create(mn_context *ctx, mn_world *world,
                                          mn_contestant *contestants, int count,
                                          mn_contest **contest);
void mn_contest_destroy(mn_contest **contest);

#ifdef __cplusplus
}
#endif
#endif
