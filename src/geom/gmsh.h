/* Meshes in Gmsh's format. */
#ifndef MN_GEOM_GMSH_H
#define MN_GEOM_GMSH_H

#include "geom/simplex_mesh.h"

/* Reads the elements of the highest dimension of an ASCII .msh file of version 2.2 or 4.1: lines,
   triangles or tetrahedra, linear or quadratic, all alike. In 2D z is dropped and must be the same
   everywhere. Nodes that no element uses are left out. An element that is inverted or
   flat, or shares space with another one, is refused. MN_BAD_INPUT names the file, the line and what is allowed. */
MN_MUST_CHECK mn_status mn_gmsh_read(mn_context *ctx, const char *path, int dim,
                                     mn_simplex_mesh *mesh);
/* The same from memory; data[bytes] must be 0. */
MN_MUST_CHECK mn_status mn_gmsh_parse(mn_context *ctx, const char *path, const char *data,
                                      size_t bytes, int dim, mn_simplex_mesh *mesh);

#endif
