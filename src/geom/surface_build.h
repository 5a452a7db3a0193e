/* A surface mesh that grows. */
#ifndef MN_GEOM_SURFACE_BUILD_H
#define MN_GEOM_SURFACE_BUILD_H

#include "geom/shape.h"
#include "geom/surface_mesh.h"

typedef struct mn_surface_build {
  mn_context *ctx;
  mn_simplex_mesh *mesh;
  double spacing; /* m */
  size_t node_capacity, element_capacity;
} mn_surface_build;

MN_MUST_CHECK mn_status mn_build_node(mn_surface_build *build, mn_vec3 x, uint32_t *node);
/* k counts in 3D only */
MN_MUST_CHECK mn_status mn_build_element(mn_surface_build *build, uint32_t i, uint32_t j,
                                         uint32_t k);
/* Into how many parts of at most `spacing` a length is cut. */
int mn_build_pieces(double length, double spacing, int least);

/* Puts back the edges and corners of the shape that a mesh with nodes on its surface cuts off; the
   spacing is that of the mesh. */
MN_MUST_CHECK mn_status mn_build_sharp(mn_surface_build *build, const mn_shape *shape);
/* Capsules, cylinders and tori in 3D. */
MN_MUST_CHECK mn_status mn_build_revolved(mn_surface_build *build, const mn_shape *shape);

#endif
