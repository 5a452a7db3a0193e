#include "solid/surface.h"

#include "base/memory.h"
#include "base/status.h"
#include "geom/surface_mesh.h"
#include "math/vec.h"

/* ---- facets as flat elements of their nodes -------------------------------------------------- */

/* Quadratic facets are cut at their middles: local nodes of the parts. */
static const int PART2[2][2] = {{0, 2}, {2, 1}};
static const int PART3[4][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}, {3, 4, 5}};

static int parts_of(const mn_facet *f)
{
  return f->nodes == f->corners ? 1 : f->corners == 2 ? 2 : 4;
}

/* Local node of corner c of a part. */
static int part_corner(const mn_facet *f, int part, int c)
{
  return f->nodes == f->corners ? c : f->corners == 2 ? PART2[part][c] : PART3[part][c];
}

int mn_facet_parts(const mn_facet *f, mn_facet part[MN_FACET_PARTS_MAX])
{
  int count = parts_of(f);
  for (int k = 0; k < count; k++) {
    part[k] = *f;
    part[k].nodes = f->corners;
    for (int c = 0; c < f->corners; c++)
      part[k].node[c] = f->node[part_corner(f, k, c)];
  }
  return count;
}

/* Barycentric coordinates of a local node. */
static void place_of(const mn_facet *f, int local, double L[3])
{
  L[0] = L[1] = L[2] = 0;
  if (local < f->corners) {
    L[local] = 1;
    return;
  }
  int edge = local - f->corners;
  L[edge] = 0.5;
  L[(edge + 1) % f->corners] = 0.5;
}

/* Shape functions of a facet at barycentric coordinates L. */
static void set_weights(const mn_facet *f, const double L[3], mn_surface_point *p)
{
  int corners = f->corners, edges = corners == 2 ? 1 : 3, quadratic = f->nodes > corners;
  for (int a = 0; a < corners; a++)
    p->weight[a] = quadratic ? L[a] * (2 * L[a] - 1) : L[a];
  for (int e = 0; quadratic && e < edges; e++)
    p->weight[corners + e] = 4 * L[e] * L[(e + 1) % corners];
}

/* ---- points ---------------------------------------------------------------------------------- */

/* The parts of all facets: their nodes, and which facet and part each is. */
typedef struct coarse {
  uint32_t *element, *facet;
  uint8_t *part;
  size_t count;
} coarse;

static mn_status list_parts(mn_context *ctx, int dim, const mn_facet *facet, size_t facets,
                            coarse *c)
{
  size_t count = 0;
  for (size_t i = 0; i < facets; i++)
    count += facet[i].corners == dim ? (size_t)parts_of(facet + i) : 0;
  MN_TRY(MN_NEW(ctx, "facets of a surface", (size_t)dim * count, &c->element));
  MN_TRY(MN_NEW(ctx, "facets of a surface", count, &c->facet));
  MN_TRY(MN_NEW(ctx, "facets of a surface", count, &c->part));
  for (size_t i = 0; i < facets; i++)
    for (int k = 0; facet[i].corners == dim && k < parts_of(facet + i); k++) {
      for (int a = 0; a < dim; a++)
        c->element[(size_t)dim * c->count + (size_t)a] =
            facet[i].node[part_corner(facet + i, k, a)];
      c->facet[c->count] = (uint32_t)i;
      c->part[c->count++] = (uint8_t)k;
    }
  return MN_OK;
}

static void set_point(const coarse *c, const mn_facet *facet, uint32_t parent, const double *weight,
                      mn_surface_point *p)
{
  const mn_facet *f = facet + c->facet[parent];
  double L[3] = {0}, at[3];
  for (int a = 0; a < f->corners; a++) {
    place_of(f, part_corner(f, c->part[parent], a), at);
    for (int b = 0; b < 3; b++)
      L[b] += weight[a] * at[b];
  }
  set_weights(f, L, p);
  for (int a = 0; a < f->nodes; a++)
    p->node[a] = f->node[a];
  p->nodes = f->nodes;
  p->two_sided = f->two_sided;
  p->body = f->body;
}

static mn_status make(mn_context *ctx, int dim, const mn_facet *facet, size_t facets,
                      const mn_vec3 *x, size_t nodes, double longest, coarse *c, mn_refined *fine,
                      mn_surface_points *points)
{
  MN_TRY(list_parts(ctx, dim, facet, facets, c));
  MN_TRY(mn_surface_refine(ctx, dim, x, nodes, c->element, c->count, longest, fine));
  MN_TRY(MN_NEW(ctx, "points of a surface", fine->points, &points->point));
  MN_TRY(MN_NEW(ctx, "points of a surface", fine->points, &points->area));
  points->count = fine->points;
  for (size_t i = 0; i < fine->points; i++)
    set_point(c, facet, fine->parent[i], fine->weight[i], points->point + i);
  points->elements = fine->elements;
  points->element = fine->element;
  fine->element = NULL; /* taken over */
  return MN_OK;
}

mn_status mn_surface_points_create(mn_context *ctx, int dim, const mn_facet *facet, size_t facets,
                                   const mn_vec3 *x, size_t nodes, double spacing,
                                   mn_surface_points *points)
{
  coarse c = {0};
  mn_refined fine = {0};
  *points = (mn_surface_points){.dim = dim};
  double longest = dim == 3 ? MN_LONGEST_EDGE * spacing : spacing;
  mn_status status = make(ctx, dim, facet, facets, x, nodes, longest, &c, &fine, points);
  mn_refined_destroy(&fine);
  mn_free(c.element);
  mn_free(c.facet);
  mn_free(c.part);
  if (status != MN_OK)
    mn_surface_points_destroy(points);
  return status;
}

void mn_surface_points_destroy(mn_surface_points *points)
{
  mn_free(points->point);
  mn_free(points->element);
  mn_free(points->area);
  *points = (mn_surface_points){0};
}

/* ---- there and back -------------------------------------------------------------------------- */

static mn_vec3 combine(const mn_surface_point *p, const mn_vec3 *at)
{
  mn_vec3 sum = mn_v3(0, 0, 0);
  for (int a = 0; a < p->nodes; a++)
    sum = mn_madd(sum, p->weight[a], at[p->node[a]]);
  return sum;
}

void mn_surface_gather(mn_surface_points *points, const mn_vec3 *x, const mn_vec3 *v,
                       mn_interface *interface, size_t first)
{
  for (size_t i = 0; i < points->count; i++) {
    interface->X[first + i] = combine(points->point + i, x);
    interface->V[first + i] = combine(points->point + i, v);
  }
  mn_surface_areas(points->dim, interface->X + first, points->count, points->element,
                   points->elements, points->area);
  for (size_t i = 0; i < points->count; i++) {
    double size = mn_length(points->area[i]);
    interface->area[first + i] = size;
    interface->N[first + i] = size > 0 ? mn_scale(1 / size, points->area[i]) : mn_v3(0, 0, 0);
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
