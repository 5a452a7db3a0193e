/* Meshes: from a file to something that answers distances. */
#include "geom/mesh.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"
#include "geom/mesh_file.h"
#include "math/vec.h"

static const size_t FILE_MAX_BYTES = (size_t)1 << 34;

typedef mn_status reader(mn_mesh_draft *draft, const char *data, size_t bytes);

static mn_status choose_reader(mn_context *ctx, const char *path, reader **read)
{
  const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
  const char *ending = dot ? dot : "";
  *read = !strcasecmp(ending, ".obj")   ? mn_read_obj
          : !strcasecmp(ending, ".ply") ? mn_read_ply
          : !strcasecmp(ending, ".stl") ? mn_read_stl
                                        : NULL;
  if (!*read)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s: the ending is '%s', allowed for a mesh are .obj, .ply and .stl", path,
                   ending);
  return MN_OK;
}

static mn_status from_draft(mn_mesh_draft *draft, mn_mesh *mesh)
{
  MN_TRY(mn_alloc(draft->ctx, "mesh triangles", draft->triangles, sizeof *mesh->triangle,
                  (void **)&mesh->triangle));
  mesh->triangles = draft->triangles;
  for (size_t t = 0; t < mesh->triangles; t++)
    for (int c = 0; c < 3; c++)
      mesh->triangle[t][c] = (uint32_t)draft->triangle[t][c];
  mesh->vertex = draft->vertex;
  mesh->vertices = draft->vertices;
  mesh->where = draft->where;
  mesh->place = draft->place;
  draft->vertex = NULL;
  draft->where = NULL;
  MN_TRY(MN_NEW(draft->ctx, "a mesh's name", strlen(draft->path) + 1, &mesh->path));
  strcpy(mesh->path, draft->path);
  return mn_mesh_build_tree(draft->ctx, mesh);
}

mn_status mn_mesh_parse(mn_context *ctx, const char *path, const char *data, size_t bytes,
                        mn_mesh **mesh)
{
  *mesh = NULL;
  reader *read;
  mn_mesh_draft draft = {.ctx = ctx, .path = path};
  mn_status status = choose_reader(ctx, path, &read);
  if (status == MN_OK)
    status = read(&draft, data, bytes);
  if (status == MN_OK)
    status = mn_draft_check(&draft);
  if (status == MN_OK)
    status = MN_NEW(ctx, "a mesh", 1, mesh);
  if (status == MN_OK)
    status = from_draft(&draft, *mesh);
  mn_draft_free(&draft);
  if (status != MN_OK)
    mn_mesh_destroy(mesh);
  return status;
}

mn_status mn_mesh_read(mn_context *ctx, const char *path, mn_mesh **mesh)
{
  *mesh = NULL;
  reader *read;
  char *data;
  size_t bytes;
  MN_TRY(choose_reader(ctx, path, &read)); /* before a file of another kind is read */
  MN_TRY(mn_read_file(ctx, path, FILE_MAX_BYTES, &data, &bytes));
  mn_status status = mn_mesh_parse(ctx, path, data, bytes, mesh);
  mn_free(data);
  return status;
}

void mn_mesh_destroy(mn_mesh **mesh)
{
  if (*mesh) {
    mn_free((*mesh)->vertex);
    mn_free((*mesh)->triangle);
    mn_free((*mesh)->node);
    mn_free((*mesh)->path);
    mn_free((*mesh)->where);
    mn_free(*mesh);
  }
  *mesh = NULL;
}

double mn_mesh_distance(const mn_mesh *mesh, mn_vec3 x)
{
  double d = mn_mesh_unsigned_distance(mesh, x);
  return d > 0 && mn_mesh_inside(mesh, x) ? -d : d;
}

/* Over the triangles, not the vertices: a file may hold vertices that no face uses. */
double mn_mesh_support(const mn_mesh *mesh, mn_vec3 u)
{
  double most = -INFINITY;
  for (size_t t = 0; t < mesh->triangles; t++)
    for (int c = 0; c < 3; c++)
      most = mn_max(most, mn_dot(u, mesh->vertex[mesh->triangle[t][c]]));
  return most;
}
