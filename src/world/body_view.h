/* What writers and pictures may look at of a body, at the current time. Arrays are borrowed. */
#ifndef MN_WORLD_BODY_VIEW_H
#define MN_WORLD_BODY_VIEW_H

#include "meniscus/base.h"

typedef struct mn_body_view {
  const char *name;
  int dim;   /* of space */
  int thin;  /* 1: a curve, cloth or shell: both its sides are seen */
  int rigid; /* 1: the mesh is only its surface */
  /* the mesh, as in geom/simplex_mesh.h */
  int corners, order;
  size_t points, cells;
  const mn_vec3 *x; /* m */
  const mn_vec3 *v; /* m/s */
  const uint32_t *cell;
  /* the surface: `dim` points each (edges in 2D, triangles in 3D), normals outward; a rod in 3D has
     none */
  size_t facets;
  const uint32_t *facet;
  /* per cell; each may be NULL */
  const double *stress;   /* Pa, von Mises: of elastic bodies, and of shells in their plane */
  const double *tension;  /* N: of rods and springs; of cloth the mean of a triangle's three */
  const double *jacobian; /* of elastic bodies: volume over that at rest */
} mn_body_view;

#endif
