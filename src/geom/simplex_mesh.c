#include "geom/simplex_mesh.h"

#include "base/memory.h"
#include "base/status.h"

mn_status mn_simplex_mesh_create(mn_context *ctx, int dim, int corners, size_t nodes,
                                 size_t elements, mn_simplex_mesh *mesh)
{
  *mesh = (mn_simplex_mesh){.dim = dim, .corners = corners, .order = 1};
  if (nodes > UINT32_MAX)
    return mn_fail(ctx, MN_BAD_INPUT, "a mesh of %zu nodes, allowed: up to %u (a larger spacing)",
                   nodes, UINT32_MAX);
  mn_status status = MN_NEW(ctx, "nodes of a mesh", nodes, &mesh->node);
  if (status == MN_OK)
    status = MN_NEW(ctx, "elements of a mesh", elements * (size_t)corners, &mesh->element);
  if (status != MN_OK)
    mn_simplex_mesh_destroy(mesh);
  mesh->nodes = nodes;
  mesh->elements = elements;
  return status;
}

void mn_simplex_mesh_destroy(mn_simplex_mesh *mesh)
{
  mn_free(mesh->node);
  mn_free(mesh->element);
  mn_free(mesh->number);
  *mesh = (mn_simplex_mesh){0};
}
