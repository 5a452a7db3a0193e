/* What all surfaces need: volume, areas of nodes, matching a volume.

   With c_e the mean of an element's corners and A_e its vector area, V = sum A_e . c_e / dim; the
   centroid from signed simplices between the elements and a fixed point. Verified by
   tests/unit/geom/test_surface_mesh.c. */
#include "geom/surface_mesh.h"

#include <float.h>

#include "base/memory.h"
#include "base/status.h"
#include "geom/structured.h"
#include "math/vec.h"

enum { MATCH_STEPS = 30 };

static mn_vec3 element_area(int dim, const mn_vec3 *x, const uint32_t *e)
{
  mn_vec3 u = mn_sub(x[e[1]], x[e[0]]);
  if (dim == 2)
    return mn_v3(u.y, -u.x, 0);
  return mn_scale(0.5, mn_cross(u, mn_sub(x[e[2]], x[e[0]])));
}

void mn_surface_areas(int dim, const mn_vec3 *x, size_t nodes, const uint32_t *element,
                      size_t elements, mn_vec3 *area)
{
  for (size_t i = 0; i < nodes; i++)
    area[i] = mn_v3(0, 0, 0);
  for (size_t e = 0; e < elements; e++) {
    const uint32_t *corner = element + (size_t)dim * e;
    mn_vec3 a = element_area(dim, x, corner);
    for (int c = 0; c < dim; c++)
      area[corner[c]] = mn_madd(area[corner[c]], 1.0 / dim, a);
  }
}

double mn_surface_volume(const mn_simplex_mesh *mesh, mn_vec3 *center)
{
  int dim = mesh->dim;
  double volume = 0;
  mn_vec3 first = mn_v3(0, 0, 0), p = mesh->elements ? mesh->node[mesh->element[0]] : first;
  for (size_t e = 0; e < mesh->elements; e++) {
    const uint32_t *corner = mesh->element + (size_t)dim * e;
    mn_vec3 sum = mn_v3(0, 0, 0), a = element_area(dim, mesh->node, corner);
    for (int c = 0; c < dim; c++)
      sum = mn_add(sum, mn_sub(mesh->node[corner[c]], p));
    double v = mn_dot(a, sum) / (dim * dim);
    volume += v;
    first = mn_madd(first, v / (dim + 1), sum);
  }
  if (center)
    *center = volume != 0 ? mn_madd(p, 1 / volume, first) : p;
  return volume;
}

/* dV/ds where nodes move along n: sum a . n. */
static double swept(const mn_simplex_mesh *mesh, const mn_vec3 *n, mn_vec3 *area)
{
  double sum = 0;
  mn_surface_areas(mesh->dim, mesh->node, mesh->nodes, mesh->element, mesh->elements, area);
  for (size_t i = 0; i < mesh->nodes; i++)
    sum += mn_dot(area[i], n[i]);
  return sum;
}

static mn_status match(mn_context *ctx, double volume, mn_vec3 center, mn_simplex_mesh *mesh,
                       mn_vec3 *n, mn_vec3 *area)
{
  mn_vec3 c;
  double miss = volume - mn_surface_volume(mesh, &c), start = fabs(miss);
  double rounding = fmax(1e-13, 0.125 * DBL_EPSILON * (double)mesh->elements) * volume;
  mn_surface_areas(mesh->dim, mesh->node, mesh->nodes, mesh->element, mesh->elements, n);
  for (size_t i = 0; i < mesh->nodes; i++) {
    double length = mn_length(n[i]);
    n[i] = length > 0 ? mn_scale(1 / length, n[i]) : mn_v3(0, 0, 0);
  }
  /* a first step that is within rounding would only spoil exact places */
  for (int k = 0; k < MATCH_STEPS && fabs(miss) > (k ? 1 : 32) * DBL_EPSILON * volume; k++) {
    double s = miss / swept(mesh, n, area), before = fabs(miss);
    for (size_t i = 0; i < mesh->nodes; i++)
      mesh->node[i] = mn_madd(mesh->node[i], s, n[i]);
    miss = volume - mn_surface_volume(mesh, &c);
    if (k && fabs(miss) >= before)
      break;
  }
  if (!(fabs(miss) <= rounding) || !(start <= 0.6 * volume))
    return mn_fail(ctx, MN_BAD_INPUT,
                   "a surface of %zu points bounds %g of the volume %g of its body: the spacing is "
                   "too coarse for it; use a smaller one",
                   mesh->nodes, volume - miss, volume);
  mn_vec3 move = mn_sub(center, c);
  double size = pow(volume, 1.0 / mesh->dim);
  for (size_t i = 0; i < mesh->nodes && mn_length(move) > 8 * DBL_EPSILON * size; i++)
    mesh->node[i] = mn_add(mesh->node[i], move);
  return MN_OK;
}

mn_status mn_surface_match(mn_context *ctx, double volume, mn_vec3 center, mn_simplex_mesh *mesh)
{
  mn_vec3 *n = NULL, *area = NULL;
  mn_status status = MN_NEW(ctx, "normals of a surface", mesh->nodes, &n);
  if (status == MN_OK)
    status = MN_NEW(ctx, "areas of a surface", mesh->nodes, &area);
  if (status == MN_OK)
    status = match(ctx, volume, center, mesh, n, area);
  mn_free(n);
  mn_free(area);
  return status;
}

/* ---- the boundary of a mesh ------------------------------------------------------------------ */

/* The nodes that the facets use, and the facets as elements. */
static mn_status keep_facets(mn_context *ctx, const mn_simplex_mesh *full, const uint32_t *facet,
                             size_t facets, mn_simplex_mesh *mesh)
{
  uint32_t *number;
  size_t corners = (size_t)full->corners - 1;
  *mesh = (mn_simplex_mesh){.dim = full->dim, .corners = full->corners - 1, .order = 1};
  MN_TRY(MN_NEW(ctx, "nodes of a surface", full->nodes, &number));
  mn_status status = MN_NEW(ctx, "nodes of a surface", full->nodes, &mesh->node);
  if (status == MN_OK)
    status = MN_NEW(ctx, "facets of a surface", facets * corners, &mesh->element);
  for (size_t i = 0; i < facets * corners && status == MN_OK; i++) {
    if (!number[facet[i]]) {
      mesh->node[mesh->nodes++] = full->node[facet[i]];
      number[facet[i]] = (uint32_t)mesh->nodes;
    }
    mesh->element[i] = number[facet[i]] - 1;
  }
  mesh->elements = facets;
  mn_free(number);
  return status;
}

mn_status mn_surface_of_mesh(mn_context *ctx, const mn_simplex_mesh *full, mn_simplex_mesh *mesh)
{
  uint32_t *facet = NULL;
  size_t facets = 0;
  *mesh = (mn_simplex_mesh){0};
  mn_status status = mn_simplex_mesh_boundary(ctx, full, &facet, &facets);
  if (status == MN_OK)
    status = keep_facets(ctx, full, facet, facets, mesh);
  mn_free(facet);
  if (status != MN_OK)
    mn_simplex_mesh_destroy(mesh);
  return status;
}
