#include "geom/mesh.h"

#include <math.h>

#include "base/status.h"

/* Interim: the next commit of this branch brings the meshes. */
mn_status mn_mesh_read(mn_context *ctx, const char *path, mn_mesh **mesh)
{
  *mesh = NULL;
  return mn_fail(ctx, MN_BAD_INPUT, "%s: meshes cannot be read yet", path);
}

void mn_mesh_destroy(mn_mesh **mesh)
{
  *mesh = NULL;
}

double mn_mesh_distance(const mn_mesh *mesh, mn_vec3 x)
{
  (void)mesh, (void)x;
  return INFINITY;
}

double mn_mesh_support(const mn_mesh *mesh, mn_vec3 u)
{
  (void)mesh, (void)u;
  return INFINITY;
}
