#include "geom/simplex_mesh.h"

#include "base/memory.h"

void mn_simplex_mesh_destroy(mn_simplex_mesh *mesh)
{
  mn_free(mesh->node);
  mn_free(mesh->element);
  *mesh = (mn_simplex_mesh){0};
}
