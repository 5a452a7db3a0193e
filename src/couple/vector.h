/* The vector that an iteration sees of an interface: displacements since the start of the substep,
   in metres. Of a point dim numbers; of a rigid body seen by its freedoms its translation and its
   rotation vector times its mean radius [Akbay 2018, 2.3.4], 3 numbers in 2D and 6 in 3D.

   Rotations are measured from the start of the substep, not from the last iterate as in the paper:
   within a substep both are small, the difference is of second order, and columns of one substep
   then share one frame. Verified by tests/unit/couple/test_vector.c. */
#ifndef MN_COUPLE_VECTOR_H
#define MN_COUPLE_VECTOR_H

#include "meniscus/box.h"

typedef struct mn_vector_body {
  size_t first;   /* its place in the vector */
  size_t points;  /* how many it has, */
  size_t begin;   /* and where they start in the map's list */
  mn_vec3 center; /* m, mean of its points at the start of the substep */
  double radius;  /* m, mean distance of its points from there */
} mn_vector_body;

typedef struct mn_vector_map {
  int dim;
  size_t count;   /* points */
  size_t size;    /* of the vector */
  size_t *first;  /* [count] place of a point of its own; of a rigid body's: its number */
  uint8_t *rigid; /* [count] 1: `first` is the number of a body */
  size_t *list;   /* [count] the rigid bodies' points, body by body */
  int bodies;
  mn_vector_body *body;
  const mn_vec3 *start; /* m, positions at the start of the substep; borrowed */
} mn_vector_map;

/* `freedoms`: rigid bodies by their freedoms, else by points. */
MN_MUST_CHECK mn_status mn_vector_map_create(mn_context *ctx, const mn_interface *interface,
                                             int freedoms, mn_vector_map *map);
void mn_vector_map_destroy(mn_vector_map *map);

/* A substep begins with the points there; they must stand until the next call. */
void mn_vector_map_start(mn_vector_map *map, const mn_vec3 *start);
/* From positions to the vector. Of rigid bodies the motion that fits the points best. */
void mn_vector_map_pack(const mn_vector_map *map, const mn_vec3 *X, double *x);
void mn_vector_map_unpack(const mn_vector_map *map, const double *x, mn_vec3 *X);

#endif
