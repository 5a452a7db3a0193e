/* What thin surfaces pass over on their way from one place to another.

   Each point of the surface goes straight from X[0] (time 0) to X[1] (time 1). In space-time an
   element sweeps a prism, cut into simplices in the order of its points' numbers, so that
   neighbours share their sides: the swept surface is as watertight as the surface itself, and
   exact signs (geom/predicates.h) say who is met. A path goes straight as well, from x0 at time 0
   to x1 at time 1.

   For a closed surface and any points x0, x1 without rounding:
       side of x1 at time 1  =  side of x0 at time 0, turned once for each crossing
   of the way that first goes from x0 to x1 at time 0 and then waits at x1 while the surface moves.
   mn_sweep_apart counts along that way, by body. */
#ifndef MN_GRID_SWEEP_H
#define MN_GRID_SWEEP_H

#include "grid/immersed.h"

typedef struct mn_sweep {
  mn_context *ctx;     /* borrowed, as is */
  const mn_grid *grid; /* the grid */
  size_t points;
  mn_vec3 *X[2];
  size_t elements;  /* two-sided ones only */
  uint32_t *point;  /* [dim * elements], ascending in each */
  uint32_t *number; /* of each in the interface */
  uint64_t *mark;   /* of its body: marks of an even number of crossings cancel by xor */
  int (*low)[3];    /* lowest cell that its box touches */
  int64_t *start;   /* of each cell's entries in `item` */
  uint32_t *item;   /* elements whose boxes touch the cell */
  double way;       /* m, the furthest that a point goes */
  size_t point_room, element_room, item_room;
} mn_sweep;

/* Where a path meets a surface. */
typedef struct mn_sweep_hit {
  double t;         /* time, in [0, 1] */
  size_t element;   /* of the sweep */
  double weight[3]; /* of its points */
} mn_sweep_hit;

mn_sweep mn_sweep_none(mn_context *ctx, const mn_grid *grid);
void mn_sweep_destroy(mn_sweep *s);
/* The two-sided elements of `like`, from X0 to X1. */
MN_MUST_CHECK mn_status mn_sweep_make(mn_sweep *s, const mn_immersed *like, const mn_vec3 *X0,
                                      const mn_vec3 *X1);

/* All below: from any number of threads. */

/* How often the surfaces pass the point x. */
int mn_sweep_passes(const mn_sweep *s, mn_vec3 x);
/* Does the straight path from x0 to x1 meet a surface? The first time, or the last if `backward`;
   hit may be NULL. */
int mn_sweep_meets(const mn_sweep *s, mn_vec3 x0, mn_vec3 x1, int backward, mn_sweep_hit *hit);
/* 1: x1 at time 1 is on another side of some body than x0 at time 0. Exact for closed bodies and
   those that end at walls. */
int mn_sweep_apart(const mn_sweep *s, mn_vec3 x0, mn_vec3 x1);
/* Both in one go: 1 if they meet, and the hit; else 2 if they are apart; else 0. */
int mn_sweep_parts(const mn_sweep *s, mn_vec3 x0, mn_vec3 x1, int backward, mn_sweep_hit *hit);
/* An element within `distance` of x at time 0, the nearest: 1, and its nearest place as a hit. */
int mn_sweep_touches(const mn_sweep *s, mn_vec3 x, double distance, mn_sweep_hit *hit);
/* A hit's place at time 0 or 1. */
mn_vec3 mn_sweep_place(const mn_sweep *s, const mn_sweep_hit *hit, int time);
/* Unit normal of an element there; 0 if it has none. */
mn_vec3 mn_sweep_normal(const mn_sweep *s, size_t element, int time);

#endif
