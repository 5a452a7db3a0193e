/* Meshes of simplices as bodies are made of: segments (curves, rods), triangles (2D bodies, cloth,
   shells) or tetrahedra (3D bodies), linear or quadratic. Plain arrays, owned. */
#ifndef MN_GEOM_SIMPLEX_MESH_H
#define MN_GEOM_SIMPLEX_MESH_H

#include "meniscus/base.h"

typedef struct mn_simplex_mesh {
  int dim;     /* of space: 2 or 3; z = 0 in 2D */
  int corners; /* of an element: 2 segment, 3 triangle, 4 tetrahedron */
  int order;   /* 1: corners only; 2: and the middle of every edge */
  size_t nodes, elements;
  mn_vec3 *node; /* m, at rest */
  /* [elements][mn_simplex_nodes]: corners, then the middles of the edges 01, 12, 20 (triangle) and
     01, 12, 20, 03, 13, 23 (tetrahedron), as VTK has them. Of positive area or volume where
     corners - 1 = dim. */
  uint32_t *element;
  int64_t *number; /* of each element in its file, for messages; NULL: they count from 1 */
} mn_simplex_mesh;

static inline long long mn_simplex_number(const mn_simplex_mesh *mesh, size_t element)
{
  return mesh->number ? (long long)mesh->number[element] : (long long)element + 1;
}

/* Nodes of an element. */
static inline int mn_simplex_nodes(int corners, int order)
{
  return order == 1 ? corners : corners * (corners + 1) / 2;
}

/* Of order 1, zeroed. */
MN_MUST_CHECK mn_status mn_simplex_mesh_create(mn_context *ctx, int dim, int corners, size_t nodes,
                                               size_t elements, mn_simplex_mesh *mesh);
/* Two elements that share space, or all corners: pair[0] < pair[1]; equal if there are none. */
MN_MUST_CHECK mn_status mn_simplex_mesh_overlap(mn_context *ctx, const mn_simplex_mesh *mesh,
                                                size_t pair[2]);
/* Frees the arrays; fine on a zeroed mesh. */
void mn_simplex_mesh_destroy(mn_simplex_mesh *mesh);

#endif
