/* Surfaces as meshes: of shapes, closed and oriented; finer ones of given ones; their volume.

   A surface has `corners` = dim: segments with the outside to their right in 2D, triangles
   counter-clockwise from outside in 3D. */
#ifndef MN_GEOM_SURFACE_MESH_H
#define MN_GEOM_SURFACE_MESH_H

#include "geom/simplex_mesh.h"
#include "meniscus/shape.h"

/* The surface of a shape, its edges about `spacing` (m) long: at most spacing in 2D, at most
   MN_LONGEST_EDGE times spacing in 3D. Nodes lie on the surface; corners and edges of boxes,
   cylinders and files are kept, those of compositions as far as surface_sharpen.c finds them. A
   file's own triangles are kept where they are small enough. MN_BAD_INPUT if the shape has no end
   or is empty. */
#define MN_LONGEST_EDGE 1.5
MN_MUST_CHECK mn_status mn_shape_surface(mn_context *ctx, const mn_shape *shape, double spacing,
                                         mn_simplex_mesh *mesh);

/* Moves the nodes of a mesh of the inner shape of a transform to where that puts them. */
void mn_shape_place(const mn_shape *transform, mn_simplex_mesh *mesh);

/* Area (2D) or volume that a closed surface bounds, and its centroid (may be NULL). */
double mn_surface_volume(const mn_simplex_mesh *mesh, mn_vec3 *center);
/* The vector area of each node: of its elements' an equal part to each corner. For a closed surface
   sum a = 0, sum x cross a = 0 and sum a x^T = volume 1, exactly: constant and linear pressures
   p(x) a give the right force. */
void mn_surface_areas(int dim, const mn_vec3 *x, size_t nodes, const uint32_t *element,
                      size_t elements, mn_vec3 *area);
/* Moves the nodes so that volume and centroid of a closed surface are these, to round-off: all
   along their normals by the same length, then all by the same vector. Polygons in a circle and
   polyhedra in a sphere are too small. MN_BAD_INPUT if the surface is too coarse for that. */
MN_MUST_CHECK mn_status mn_surface_match(mn_context *ctx, double volume, mn_vec3 center,
                                         mn_simplex_mesh *mesh);

/* The boundary of a mesh of triangles in 2D or tetrahedra of order 1. */
MN_MUST_CHECK mn_status mn_surface_of_mesh(mn_context *ctx, const mn_simplex_mesh *full,
                                           mn_simplex_mesh *mesh);

/* A surface cut finer: points within the elements of a coarser one. */
typedef struct mn_refined {
  size_t points, elements;
  uint32_t *parent;    /* of each point: a coarse element that it lies in */
  double (*weight)[3]; /* of the corners of that */
  uint32_t *element;   /* [corners * elements] */
  uint32_t *origin;    /* of each element: the coarse one that it is part of */
} mn_refined;

/* Cuts edges until none is longer than `longest` (m): segments into equal parts, triangles by
   halving edges, at once for all elements at an edge, so that the pieces meet. Every node that is
   used becomes a point, every point on a coarse edge belongs to both its elements. */
MN_MUST_CHECK mn_status mn_surface_refine(mn_context *ctx, int corners, const mn_vec3 *x,
                                          size_t nodes, const uint32_t *element, size_t elements,
                                          double longest, mn_refined *refined);
void mn_refined_destroy(mn_refined *refined);

#endif
