/* Closed triangle meshes: read, checked, and searched for their signed distance. */
#ifndef MN_GEOM_MESH_H
#define MN_GEOM_MESH_H

#include "meniscus/base.h"

typedef struct mn_mesh mn_mesh;

/* Reads OBJ, PLY or STL, checks that the surface is closed, and builds the search tree. */
MN_MUST_CHECK mn_status mn_mesh_read(mn_context *ctx, const char *path, mn_mesh **mesh);
void mn_mesh_destroy(mn_mesh **mesh);

/* Distance to the surface, negative inside. Any number of threads at a time. */
double mn_mesh_distance(const mn_mesh *mesh, mn_vec3 x);
/* Greatest u . x over the mesh. */
double mn_mesh_support(const mn_mesh *mesh, mn_vec3 u);

#endif
