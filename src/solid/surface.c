#include "solid/surface.h"

#include "base/memory.h"
#include "math/vec.h"

/* Shape functions of a facet and their derivatives along the two sides that leave corner 0, at
   barycentric coordinates L. */
static void shape(const mn_facet *f, const double L[3], mn_surface_point *p)
{
  static const int EDGE[3][2] = {{0, 1}, {1, 2}, {2, 0}};
  int corners = f->corners, edges = corners == 2 ? 1 : 3, quadratic = f->nodes > corners;
  double d[MN_FACET_NODES_MAX][3] = {{0}}; /* dN/dL */
  for (int a = 0; a < corners; a++) {
    p->weight[a] = quadratic ? L[a] * (2 * L[a] - 1) : L[a];
    d[a][a] = quadratic ? 4 * L[a] - 1 : 1;
  }
  for (int e = 0; quadratic && e < edges; e++) {
    int i = EDGE[e][0], j = EDGE[e][1];
    p->weight[corners + e] = 4 * L[i] * L[j];
    d[corners + e][i] = 4 * L[j];
    d[corners + e][j] = 4 * L[i];
  }
  for (int a = 0; a < f->nodes; a++) {
    p->t1[a] = d[a][1] - d[a][0];
    p->t2[a] = corners == 3 ? d[a][2] - d[a][0] : 0;
  }
}

/* How many parts each side of a facet is cut into. */
static size_t parts(const mn_facet *f, const mn_vec3 *x, double spacing)
{
  double longest = 0;
  for (int a = 0; a < f->corners; a++) {
    mn_vec3 side = mn_sub(x[f->node[a]], x[f->node[(a + 1) % f->corners]]);
    longest = mn_max(longest, mn_length(side));
  }
  double n = ceil(longest / spacing - 1e-9);
  return n < 1 ? 1 : (size_t)n;
}

/* The middle of part k of a facet whose sides are cut into n. */
static void middle(const mn_facet *f, size_t n, size_t k, double L[3])
{
  if (f->corners == 2) {
    L[1] = ((double)k + 0.5) / (double)n;
    L[0] = 1 - L[1];
    return;
  }
  size_t row = 0; /* rows of 2 (n - row) - 1 triangles, upright and overturned in turn */
  while (k >= 2 * (n - row) - 1) {
    k -= 2 * (n - row) - 1;
    row++;
  }
  double third = k % 2 ? 2.0 / 3 : 1.0 / 3;
  L[1] = ((double)(k / 2) + third) / (double)n;
  L[2] = ((double)row + third) / (double)n;
  L[0] = 1 - L[1] - L[2];
}

static size_t count_of(const mn_facet *f, size_t n)
{
  return f->corners == 2 ? n : n * n;
}

mn_status mn_surface_points_create(mn_context *ctx, int dim, const mn_facet *facet, size_t facets,
                                   const mn_vec3 *x, double spacing, mn_surface_points *points)
{
  size_t count = 0;
  *points = (mn_surface_points){.dim = dim};
  for (size_t f = 0; f < facets; f++)
    count += count_of(facet + f, parts(facet + f, x, spacing));
  mn_status status = MN_NEW(ctx, "points of a surface", count, &points->point);
  if (status != MN_OK)
    return status;
  for (size_t i = 0; i < facets; i++) {
    const mn_facet *f = facet + i;
    size_t n = parts(f, x, spacing), all = count_of(f, n);
    for (size_t k = 0; k < all; k++) {
      mn_surface_point *p = points->point + points->count++;
      double L[3] = {0};
      middle(f, n, k, L);
      shape(f, L, p);
      for (int a = 0; a < f->nodes; a++)
        p->node[a] = f->node[a];
      p->nodes = f->nodes;
      p->two_sided = f->two_sided;
      p->body = f->body;
      p->facet = i;
      p->c = (f->corners == 2 ? 1.0 : 0.5) / (double)all;
    }
  }
  return MN_OK;
}

void mn_surface_points_destroy(mn_surface_points *points)
{
  mn_free(points->point);
  *points = (mn_surface_points){0};
}

static mn_vec3 combine(const mn_surface_point *p, const double *weight, const mn_vec3 *at)
{
  mn_vec3 sum = mn_v3(0, 0, 0);
  for (int a = 0; a < p->nodes; a++)
    sum = mn_madd(sum, weight[a], at[p->node[a]]);
  return sum;
}

void mn_surface_gather(const mn_surface_points *points, const mn_vec3 *x, const mn_vec3 *v,
                       mn_interface *interface, size_t first)
{
  for (size_t i = 0; i < points->count; i++) {
    const mn_surface_point *p = points->point + i;
    mn_vec3 t1 = combine(p, p->t1, x), t2 = combine(p, p->t2, x), area;
    interface->X[first + i] = combine(p, p->weight, x);
    interface->V[first + i] = combine(p, p->weight, v);
    area = points->dim == 2 ? mn_v3(t1.y, -t1.x, 0) : mn_cross(t1, t2);
    double size = mn_length(area);
    interface->N[first + i] = size > 0 ? mn_scale(1 / size, area) : mn_v3(0, 0, 0);
    if (points->dim == 3 && mn_length(t2) == 0)
      size = mn_length(t1); /* a rod in space has a length, but no side */
    interface->area[first + i] = p->c * size;
  }
}

void mn_surface_scatter(const mn_surface_points *points, const mn_interface *interface,
                        size_t first, mn_vec3 *force)
{
  for (size_t i = 0; i < points->count; i++) {
    const mn_surface_point *p = points->point + i;
    for (int a = 0; a < p->nodes; a++)
      force[p->node[a]] = mn_madd(force[p->node[a]], p->weight[a], interface->load[first + i]);
  }
}
