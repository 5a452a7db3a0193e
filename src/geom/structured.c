/* Grids of cells cut into simplices. Cubes are cut into 6 tetrahedra along their main diagonal
   [Freudenthal 1942], squares along diagonals that alternate where the counts allow it.
   Verified by tests/unit/geom/test_structured.c. */
#include "geom/structured.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/vec.h"

/* ---- grids ----------------------------------------------------------------------------------- */

/* Cells n[], nodes s[]; axis 1 may close on itself. */
typedef struct lattice {
  size_t n[3], s[3];
} lattice;

static lattice make_lattice(int a, int b, int c, int wrap)
{
  return (lattice){{(size_t)a, (size_t)b, (size_t)c},
                   {(size_t)a + 1, (size_t)b + !wrap, (size_t)c + 1}};
}

static uint32_t lattice_node(const lattice *l, size_t i, size_t j, size_t k)
{
  return (uint32_t)((k * l->s[1] + j % l->s[1]) * l->s[0] + i);
}

static void cut_squares(const lattice *l, uint32_t *out)
{
  int alternate = l->s[1] != l->n[1] || l->n[1] % 2 == 0;
  for (size_t j = 0; j < l->n[1]; j++)
    for (size_t i = 0; i < l->n[0]; i++) {
      uint32_t q[4] = {lattice_node(l, i, j, 0), lattice_node(l, i + 1, j, 0),
                       lattice_node(l, i + 1, j + 1, 0), lattice_node(l, i, j + 1, 0)};
      size_t s = alternate && (i + j) % 2;
      for (size_t t = 0; t < 2; t++) { /* corners s, s+1, s+2 and s, s+2, s+3 */
        *out++ = q[s];
        *out++ = q[(s + 1 + t) % 4];
        *out++ = q[(s + 2 + t) % 4];
      }
    }
}

static void cut_cubes(const lattice *l, uint32_t *out)
{
  /* paths from corner 0 to corner 7 along the axes, in the order that makes volumes positive */
  static const int PATH[6][2] = {{1, 3}, {3, 2}, {2, 6}, {6, 4}, {4, 5}, {5, 1}};
  for (size_t k = 0; k < l->n[2]; k++)
    for (size_t j = 0; j < l->n[1]; j++)
      for (size_t i = 0; i < l->n[0]; i++) {
        uint32_t c[8];
        for (size_t b = 0; b < 8; b++)
          c[b] = lattice_node(l, i + (b & 1), j + (b >> 1 & 1), k + (b >> 2));
        for (int p = 0; p < 6; p++) {
          *out++ = c[0];
          *out++ = c[PATH[p][0]];
          *out++ = c[PATH[p][1]];
          *out++ = c[7];
        }
      }
}

mn_status mn_mesh_box(mn_context *ctx, int dim, mn_vec3 low, mn_vec3 size, const int cells[3],
                      mn_simplex_mesh *mesh)
{
  lattice l = make_lattice(cells[0], cells[1], dim == 3 ? cells[2] : 0, 0);
  size_t squares = l.n[0] * l.n[1];
  MN_TRY(mn_simplex_mesh_create(ctx, dim, dim + 1, l.s[0] * l.s[1] * l.s[2],
                                dim == 2 ? 2 * squares : 6 * squares * l.n[2], mesh));
  for (size_t k = 0; k < l.s[2]; k++)
    for (size_t j = 0; j < l.s[1]; j++)
      for (size_t i = 0; i < l.s[0]; i++) {
        size_t at[3] = {i, j, k};
        mn_vec3 x = low;
        for (int d = 0; d < dim; d++)
          x.v[d] += size.v[d] * (double)at[d] / cells[d];
        mesh->node[lattice_node(&l, i, j, k)] = x;
      }
  if (dim == 2)
    cut_squares(&l, mesh->element);
  else
    cut_cubes(&l, mesh->element);
  return MN_OK;
}

static mn_vec3 polar(mn_vec3 center, double r, double part)
{
  return mn_v3(center.x + r * cos(2 * MN_PI * part), center.y + r * sin(2 * MN_PI * part),
               center.z);
}

mn_status mn_mesh_tube(mn_context *ctx, mn_vec3 center, double inner, double outer, double length,
                       int through, int around, int along, mn_simplex_mesh *mesh)
{
  lattice l = make_lattice(through, around, along, 1);
  size_t squares = l.n[0] * l.n[1];
  int dim = along > 0 ? 3 : 2;
  MN_TRY(mn_simplex_mesh_create(ctx, dim, dim + 1, l.s[0] * l.s[1] * l.s[2],
                                dim == 2 ? 2 * squares : 6 * squares * l.n[2], mesh));
  for (size_t k = 0; k < l.s[2]; k++)
    for (size_t j = 0; j < l.s[1]; j++)
      for (size_t i = 0; i < l.s[0]; i++) {
        double r = inner + (outer - inner) * (double)i / through;
        mn_vec3 x = polar(center, r, (double)j / around);
        x.z += dim == 3 ? length * (double)k / along : 0;
        mesh->node[lattice_node(&l, i, j, k)] = x;
      }
  if (dim == 2)
    cut_squares(&l, mesh->element);
  else
    cut_cubes(&l, mesh->element);
  return MN_OK;
}

void mn_mesh_onto_axis(mn_vec3 a, mn_vec3 axis, mn_simplex_mesh *mesh)
{
  mn_vec3 d = mn_scale(1 / mn_length(axis), axis);
  mn_vec3 unit = fabs(d.x) < 0.6 ? mn_v3(1, 0, 0) : mn_v3(0, 1, 0), e1 = mn_cross(unit, d);
  e1 = mn_scale(1 / mn_length(e1), e1);
  mn_vec3 e2 = mn_cross(d, e1); /* e1, e2, d is right-handed */
  for (size_t i = 0; i < mesh->nodes; i++) {
    mn_vec3 x = mesh->node[i];
    mesh->node[i] = mn_madd(mn_madd(mn_madd(a, x.x, e1), x.y, e2), x.z, d);
  }
}

mn_status mn_mesh_pipe(mn_context *ctx, mn_vec3 a, mn_vec3 b, double radius, int around, int along,
                       mn_simplex_mesh *mesh)
{
  lattice l = make_lattice(along, around, 0, 1);
  double length = mn_length(mn_sub(b, a));
  MN_TRY(mn_simplex_mesh_create(ctx, 3, 3, l.s[0] * l.s[1], 2 * l.n[0] * l.n[1], mesh));
  for (size_t j = 0; j < l.s[1]; j++)
    for (size_t i = 0; i < l.s[0]; i++) { /* down the axis: outward normals */
      mn_vec3 x = polar(mn_v3(0, 0, 0), radius, (double)j / around);
      x.z = length * (1 - (double)i / along);
      mesh->node[lattice_node(&l, i, j, 0)] = x;
    }
  cut_squares(&l, mesh->element);
  mn_mesh_onto_axis(a, mn_sub(b, a), mesh);
  return MN_OK;
}

mn_status mn_mesh_ring(mn_context *ctx, mn_vec3 center, double inner, double outer, int through,
                       int around, mn_simplex_mesh *mesh)
{
  return mn_mesh_tube(ctx, center, inner, outer, 0, through, around, 0, mesh);
}

mn_status mn_mesh_sheet(mn_context *ctx, mn_vec3 origin, mn_vec3 u, mn_vec3 v, int nu, int nv,
                        mn_simplex_mesh *mesh)
{
  lattice l = make_lattice(nu, nv, 0, 0);
  MN_TRY(mn_simplex_mesh_create(ctx, 3, 3, l.s[0] * l.s[1], 2 * l.n[0] * l.n[1], mesh));
  for (size_t j = 0; j < l.s[1]; j++)
    for (size_t i = 0; i < l.s[0]; i++)
      mesh->node[lattice_node(&l, i, j, 0)] =
          mn_madd(mn_madd(origin, (double)i / nu, u), (double)j / nv, v);
  cut_squares(&l, mesh->element);
  return MN_OK;
}

/* Node p of ring k, which has 6 k; ring 0 is the centre. */
static uint32_t disk_node(size_t k, size_t p)
{
  return k == 0 ? 0 : (uint32_t)(1 + 3 * k * (k - 1) + p % (6 * k));
}

mn_status mn_mesh_disk(mn_context *ctx, mn_vec3 center, double radius, int rings,
                       mn_simplex_mesh *mesh)
{
  size_t n = (size_t)rings;
  MN_TRY(mn_simplex_mesh_create(ctx, 2, 3, 1 + 3 * n * (n + 1), 6 * n * n, mesh));
  uint32_t *out = mesh->element;
  mesh->node[0] = center;
  for (size_t k = 1; k <= n; k++) {
    for (size_t p = 0; p < 6 * k; p++)
      mesh->node[disk_node(k, p)] =
          polar(center, radius * (double)k / rings, (double)p / (6 * (double)k));
    for (size_t side = 0; side < 6; side++)
      for (size_t p = 0; p < k; p++) {
        uint32_t in = disk_node(k - 1, side * (k - 1) + p);
        uint32_t a = disk_node(k, side * k + p), b = disk_node(k, side * k + p + 1);
        *out++ = in, *out++ = a, *out++ = b;
        if (p + 1 < k)
          *out++ = in, *out++ = b, *out++ = disk_node(k - 1, side * (k - 1) + p + 1);
      }
  }
  return MN_OK;
}

mn_status mn_mesh_line(mn_context *ctx, int dim, mn_vec3 a, mn_vec3 b, int segments,
                       mn_simplex_mesh *mesh)
{
  size_t n = (size_t)segments;
  MN_TRY(mn_simplex_mesh_create(ctx, dim, 2, n + 1, n, mesh));
  for (size_t i = 0; i <= n; i++)
    mesh->node[i] = mn_madd(a, (double)i / segments, mn_sub(b, a));
  for (size_t i = 0; i < n; i++) {
    mesh->element[2 * i] = (uint32_t)i;
    mesh->element[2 * i + 1] = (uint32_t)i + 1;
  }
  return MN_OK;
}

mn_status mn_mesh_circle(mn_context *ctx, int dim, mn_vec3 center, double radius, int segments,
                         mn_simplex_mesh *mesh)
{
  size_t n = (size_t)segments;
  MN_TRY(mn_simplex_mesh_create(ctx, dim, 2, n, n, mesh));
  for (size_t i = 0; i < n; i++) {
    mesh->node[i] = polar(center, radius, (double)i / segments);
    mesh->element[2 * i] = (uint32_t)i;
    mesh->element[2 * i + 1] = (uint32_t)((i + 1) % n);
  }
  return MN_OK;
}

/* ---- edges and facets ------------------------------------------------------------------------ */

static const int EDGE[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};

/* Up to three corners, sorted, and where they came from. */
typedef struct key {
  uint32_t corner[3];
  uint32_t slot;
  uint64_t element;
} key;

static int compare_corners(const key *a, const key *b)
{
  for (int i = 0; i < 3; i++)
    if (a->corner[i] != b->corner[i])
      return a->corner[i] < b->corner[i] ? -1 : 1;
  return 0;
}

static int compare(const void *pa, const void *pb)
{
  const key *a = pa, *b = pb;
  int order = compare_corners(a, b);
  if (order)
    return order;
  if (a->element != b->element)
    return a->element < b->element ? -1 : 1;
  return a->slot < b->slot ? -1 : a->slot > b->slot;
}

static key make_key(const uint32_t *corner, int count, uint64_t element, uint32_t slot)
{
  key k = {{UINT32_MAX, UINT32_MAX, UINT32_MAX}, slot, element};
  for (int i = 0; i < count; i++) {
    int j = i;
    for (; j > 0 && k.corner[j - 1] > corner[i]; j--)
      k.corner[j] = k.corner[j - 1];
    k.corner[j] = corner[i];
  }
  return k;
}

static void number_edges(const mn_simplex_mesh *lin, key *edge, size_t edges, mn_simplex_mesh *out)
{
  size_t corners = (size_t)lin->corners, nodes = (size_t)mn_simplex_nodes(lin->corners, 2);
  qsort(edge, edges, sizeof *edge, compare);
  for (size_t i = 0; i < edges; i++) {
    if (i == 0 || compare_corners(edge + i, edge + i - 1)) {
      mn_vec3 sum = mn_add(lin->node[edge[i].corner[0]], lin->node[edge[i].corner[1]]);
      out->node[out->nodes++] = mn_scale(0.5, sum);
    }
    out->element[edge[i].element * nodes + corners + edge[i].slot] = (uint32_t)(out->nodes - 1);
  }
}

mn_status mn_simplex_mesh_quadratic(mn_context *ctx, const mn_simplex_mesh *lin,
                                    mn_simplex_mesh *out)
{
  size_t corners = (size_t)lin->corners, per = corners * (corners - 1) / 2;
  size_t edges = lin->elements * per, nodes = corners + per;
  key *edge = NULL;
  *out = (mn_simplex_mesh){.dim = lin->dim, .corners = lin->corners, .order = 2};
  MN_TRY(MN_NEW(ctx, "edges of a mesh", edges, &edge));
  mn_status status = MN_NEW(ctx, "nodes of a mesh", lin->nodes + edges, &out->node);
  if (status == MN_OK)
    status = MN_NEW(ctx, "elements of a mesh", lin->elements * nodes, &out->element);
  if (status != MN_OK) {
    mn_free(edge);
    mn_simplex_mesh_destroy(out);
    return status;
  }
  for (size_t i = 0; i < lin->nodes; i++)
    out->node[i] = lin->node[i];
  out->nodes = lin->nodes;
  out->elements = lin->elements;
  for (size_t e = 0; e < lin->elements; e++) {
    const uint32_t *c = lin->element + e * corners;
    for (size_t a = 0; a < corners; a++)
      out->element[e * nodes + a] = c[a];
    for (size_t k = 0; k < per; k++) {
      uint32_t ends[2] = {c[EDGE[k][0]], c[EDGE[k][1]]};
      edge[e * per + k] = make_key(ends, 2, e, (uint32_t)k);
    }
  }
  number_edges(lin, edge, edges, out);
  mn_free(edge);
  return MN_OK;
}

/* Facet k of an element, seen from outside: local corners, then local middles. */
static const int SIDE2[3][3] = {{0, 1, 3}, {1, 2, 4}, {2, 0, 5}};
static const int SIDE3[4][6] = {
    {0, 2, 1, 6, 5, 4}, {0, 1, 3, 4, 8, 7}, {1, 2, 3, 5, 9, 8}, {2, 0, 3, 6, 7, 9}};

/* Whether two elements list the three corners of a facet in the same turning sense. */
static int same_sense(const uint32_t *a, const uint32_t *b, int corners)
{
  if (corners == 2)
    return a[0] == b[0];
  int at = a[0] == b[0] ? 0 : a[0] == b[1] ? 1 : 2;
  return a[1] == b[(at + 1) % 3];
}

static void facet_corners(const mn_simplex_mesh *mesh, const key *k, int count, uint32_t *out)
{
  size_t nodes = (size_t)mn_simplex_nodes(mesh->corners, mesh->order);
  const int *local = mesh->corners == 3 ? SIDE2[k->slot] : SIDE3[k->slot];
  for (int i = 0; i < count; i++)
    out[i] = mesh->element[k->element * nodes + (size_t)local[i]];
}

static mn_status pick_boundary(mn_context *ctx, const mn_simplex_mesh *mesh, const key *side,
                               size_t sides, uint32_t *facet, size_t *count)
{
  int corners = mesh->corners - 1, nodes = mn_simplex_nodes(corners, mesh->order);
  *count = 0;
  for (size_t i = 0; i < sides;) {
    size_t n = 1;
    while (i + n < sides && !compare_corners(side + i, side + i + n))
      n++;
    if (n > 2)
      return mn_fail(ctx, MN_BAD_INPUT, "elements %llu, %llu and %llu share one side",
                     (unsigned long long)side[i].element, (unsigned long long)side[i + 1].element,
                     (unsigned long long)side[i + 2].element);
    if (n == 2) {
      uint32_t a[3], b[3];
      facet_corners(mesh, side + i, corners, a);
      facet_corners(mesh, side + i + 1, corners, b);
      if (same_sense(a, b, corners))
        return mn_fail(ctx, MN_BAD_INPUT, "elements %llu and %llu lie on one side of a facet",
                       (unsigned long long)side[i].element,
                       (unsigned long long)side[i + 1].element);
    } else {
      facet_corners(mesh, side + i, nodes, facet + *count * (size_t)nodes);
      (*count)++;
    }
    i += n;
  }
  return MN_OK;
}

mn_status mn_simplex_mesh_boundary(mn_context *ctx, const mn_simplex_mesh *mesh, uint32_t **facet,
                                   size_t *count)
{
  int corners = mesh->corners - 1, nodes = mn_simplex_nodes(corners, mesh->order);
  size_t per = (size_t)mesh->corners, sides = mesh->elements * per;
  key *side = NULL;
  MN_TRY(MN_NEW(ctx, "sides of elements", sides, &side));
  for (size_t e = 0; e < mesh->elements; e++)
    for (size_t k = 0; k < per; k++) {
      key at = {{0}, (uint32_t)k, e};
      uint32_t c[3];
      facet_corners(mesh, &at, corners, c);
      side[e * per + k] = make_key(c, corners, e, (uint32_t)k);
    }
  qsort(side, sides, sizeof *side, compare);
  mn_status status = MN_NEW(ctx, "the boundary of a mesh", sides * (size_t)nodes, facet);
  if (status == MN_OK)
    status = pick_boundary(ctx, mesh, side, sides, *facet, count);
  mn_free(side);
  return status;
}
