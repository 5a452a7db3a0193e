/* Meshes of simplices with regular connectivity, and what every mesh needs: quadratic nodes, the
   boundary. Meshes made here are owned by the caller: mn_simplex_mesh_destroy. */
#ifndef MN_GEOM_STRUCTURED_H
#define MN_GEOM_STRUCTURED_H

#include "geom/simplex_mesh.h"

/* A box (a rectangle in 2D) of cells[] cells, each cut into 6 tetrahedra (2 triangles). */
MN_MUST_CHECK mn_status mn_mesh_box(mn_context *ctx, int dim, mn_vec3 low, mn_vec3 size,
                                    const int cells[3], mn_simplex_mesh *mesh);
/* 2D: a disk of `rings` rings, 6 k triangles' sides around ring k. */
MN_MUST_CHECK mn_status mn_mesh_disk(mn_context *ctx, mn_vec3 center, double radius, int rings,
                                     mn_simplex_mesh *mesh);
/* 2D: the ring between two circles; `around` >= 3 cells. */
MN_MUST_CHECK mn_status mn_mesh_ring(mn_context *ctx, mn_vec3 center, double inner, double outer,
                                     int through, int around, mn_simplex_mesh *mesh);
/* 3D: that ring drawn out along z by `length`. */
MN_MUST_CHECK mn_status mn_mesh_tube(mn_context *ctx, mn_vec3 center, double inner, double outer,
                                     double length, int through, int around, int along,
                                     mn_simplex_mesh *mesh);
/* 3D: a disk of `rings` rings drawn out along z by `length`. */
MN_MUST_CHECK mn_status mn_mesh_cylinder(mn_context *ctx, mn_vec3 center, double radius,
                                         double length, int rings, int along,
                                         mn_simplex_mesh *mesh);
/* Turns a mesh made along z onto the axis from a: x e1 + y e2 + z d, d along `axis`. */
void mn_mesh_onto_axis(mn_vec3 a, mn_vec3 axis, mn_simplex_mesh *mesh);
/* 3D: a ball of `layers` layers, the surface an icosahedron's of 20 layers^2 triangles. */
MN_MUST_CHECK mn_status mn_mesh_ball(mn_context *ctx, mn_vec3 center, double radius, int layers,
                                     mn_simplex_mesh *mesh);
/* 3D: the surface of that ball alone, triangles counter-clockwise from outside. */
MN_MUST_CHECK mn_status mn_mesh_sphere(mn_context *ctx, mn_vec3 center, double radius, int layers,
                                       mn_simplex_mesh *mesh);
/* 3D: a torus around a unit axis: a disk of `rings` rings carried round in `around` >= 3 steps. */
MN_MUST_CHECK mn_status mn_mesh_torus(mn_context *ctx, mn_vec3 center, mn_vec3 axis, double major,
                                      double minor, int rings, int around, mn_simplex_mesh *mesh);
/* 3D: a sheet of triangles, origin + s u + t v, 0 <= s, t <= 1. */
MN_MUST_CHECK mn_status mn_mesh_sheet(mn_context *ctx, mn_vec3 origin, mn_vec3 u, mn_vec3 v, int nu,
                                      int nv, mn_simplex_mesh *mesh);
/* 3D: the wall of a tube, open at both ends, around the axis from a to b; normals outward. */
MN_MUST_CHECK mn_status mn_mesh_pipe(mn_context *ctx, mn_vec3 a, mn_vec3 b, double radius,
                                     int around, int along, mn_simplex_mesh *mesh);
/* Segments from a to b; segments around a circle in the plane z = center.z, counter-clockwise. */
MN_MUST_CHECK mn_status mn_mesh_line(mn_context *ctx, int dim, mn_vec3 a, mn_vec3 b, int segments,
                                     mn_simplex_mesh *mesh);
MN_MUST_CHECK mn_status mn_mesh_circle(mn_context *ctx, int dim, mn_vec3 center, double radius,
                                       int segments, mn_simplex_mesh *mesh);

/* The same mesh with a node in the middle of every edge, after the old nodes. */
MN_MUST_CHECK mn_status mn_simplex_mesh_quadratic(mn_context *ctx, const mn_simplex_mesh *linear,
                                                  mn_simplex_mesh *quadratic);
/* The facets that belong to one element only, oriented outward: [count][nodes of a facet], corners,
   then middles. MN_BAD_INPUT if more than two elements share a facet or two overlap. To be freed
   with mn_free. */
MN_MUST_CHECK mn_status mn_simplex_mesh_boundary(mn_context *ctx, const mn_simplex_mesh *mesh,
                                                 uint32_t **facet, size_t *count);

#endif
