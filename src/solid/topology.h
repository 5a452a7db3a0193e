/* How the elements of thin meshes hang together. */
#ifndef MN_SOLID_TOPOLOGY_H
#define MN_SOLID_TOPOLOGY_H

#include "geom/simplex_mesh.h"
#include "solid/surface.h"

/* An edge of a triangle mesh, from a to b as the first triangle has it, with the corners across:
   MN_NO_NODE if there is no second triangle. */
typedef struct mn_edge {
  uint32_t a, b, left, right;
  uint32_t triangle[2];
} mn_edge;
#define MN_NO_NODE UINT32_MAX

/* A node of a curve between two segments. */
typedef struct mn_joint {
  uint32_t before, node, after;
} mn_joint;

/* Edges in a fixed order. MN_BAD_INPUT: more than two triangles at an edge, or neighbours that run
   opposite ways. To be freed with mn_free. */
MN_MUST_CHECK mn_status mn_edges_find(mn_context *ctx, const mn_simplex_mesh *mesh,
                                      const char *name, mn_edge **edge, size_t *count);
/* Joints by node number. MN_BAD_INPUT: segments head to head, or more than two at a node, unless it
   may branch: then the first two that run one way are joined there. */
MN_MUST_CHECK mn_status mn_joints_find(mn_context *ctx, const mn_simplex_mesh *mesh,
                                       const char *name, int branches, mn_joint **joint,
                                       size_t *count);
#endif
