/* Meshes that fill a shape: isosurface stuffing on a body-centred lattice. */
#ifndef MN_GEOM_FILL_H
#define MN_GEOM_FILL_H

#include "geom/simplex_mesh.h"
#include "meniscus/shape.h"

/* How good the elements are. */
typedef struct mn_mesh_quality {
  double least_angle, greatest_angle; /* degrees; between faces in 3D, edges in 2D */
  double least_size, greatest_size;   /* m^3 (m^2 in 2D) of an element */
  size_t worst;                       /* the element with the least angle */
  double volume;                      /* m^3 (m^2 in 2D) of all */
} mn_mesh_quality;

/* Fills the shape with triangles (2D) or tetrahedra (3D) whose inner edges are about `spacing`
   long. Nodes on the surface lie on it to 1e-9 of the spacing; edges and corners sharper than the
   spacing are cut off. MN_BAD_INPUT if the shape has no bounds, is empty, or is thinner than the
   lattice can see. */
MN_MUST_CHECK mn_status mn_fill(mn_context *ctx, const mn_shape *shape, double spacing,
                                mn_simplex_mesh *mesh);

mn_mesh_quality mn_mesh_measure(const mn_simplex_mesh *mesh);

#endif
