/* The mesh of a body from its def. */
#ifndef MN_WORLD_BODY_MESH_H
#define MN_WORLD_BODY_MESH_H

#include "geom/simplex_mesh.h"
#include "meniscus/body.h"

/* Boxes, disks, rings and circles get regular meshes, other shapes are filled; thin bodies take the
   surface. A transform has the mesh of its shape, transformed. `spacing` counts where the def has
   none. For a rigid body: a mesh to look at, of triangles: a filled one in 2D, the surface of
   mn_shape_surface in 3D. */
MN_MUST_CHECK mn_status mn_body_mesh(mn_context *ctx, int dim, const mn_body_def *def,
                                     double spacing, mn_simplex_mesh *mesh);

#endif
