/* Isosurface stuffing [Labelle and Shewchuk 2007], in two and three dimensions by one code.

   Lattice: the corners and centres of cubes of edge a. A tetrahedron joins two neighbouring centres
   with an edge of the face between them; in 2D a triangle joins a centre with an edge of its
   square. Where the sign of the distance changes along an edge, the surface cuts it. A vertex that
   has a cut nearer than a threshold moves there: then no element is thin. What is left of each
   simplex inside is a convex polytope, cut into simplices from its vertex of least number, and each
   of its faces the same way: two neighbours agree on the face between them, so that the mesh
   conforms.

   The thresholds are the source's for its tetrahedra: dihedral angles from 10.8 to 164.8 degrees
   for a smooth surface that the lattice resolves. There the split of quadrilaterals is by parity;
   here by number, which is simpler and, measured, hardly worse.
   Verified by tests/unit/geom/test_fill.c: volumes of known shapes with their order, conformity,
   closed surfaces, angles. */
#include "geom/fill.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/vec.h"

/* Fractions of an edge: a cut nearer to a vertex draws it. */
static const double NEAR_LONG = 0.24999, NEAR_SHORT = 0.41189;

enum { MARGIN = 2, CUT_STEPS = 60, MOST_CELLS = 1 << 28 };

typedef struct filling {
  mn_context *ctx;
  const mn_shape *shape;
  int dim, n[3]; /* cubes */
  double a;      /* m, their edge */
  mn_vec3 lo;
  size_t corners, vertices; /* of the lattice */
  mn_vec3 *x;
  double *d;          /* distance; exactly 0 after a vertex has moved to the surface */
  int32_t *node;      /* of the mesh, per vertex; -1: not used */
  uint64_t *cut_key;  /* open addressing: (lower vertex, upper vertex) + 1 */
  uint32_t *cut_node; /* and the mesh's node there */
  size_t cut_capacity, cuts;
  mn_simplex_mesh *mesh;
  size_t node_capacity, element_capacity;
} filling;

/* ---- lattice --------------------------------------------------------------------------------- */

static size_t corner_at(const filling *f, int i, int j, int k)
{
  return ((size_t)k * (size_t)(f->n[1] + 1) + (size_t)j) * (size_t)(f->n[0] + 1) + (size_t)i;
}

static size_t centre_at(const filling *f, int i, int j, int k)
{
  return f->corners + ((size_t)k * (size_t)f->n[1] + (size_t)j) * (size_t)f->n[0] + (size_t)i;
}

static mn_status make_lattice(filling *f, double spacing)
{
  mn_vec3 lo, hi;
  mn_shape_bounds(f->shape, &lo, &hi);
  /* the short edge of a tetrahedron is 0.87 a, the long one a */
  f->a = spacing;
  double cubes = 1;
  for (int a = 0; a < f->dim; a++) {
    double extent = hi.v[a] - lo.v[a];
    if (!isfinite(extent))
      return mn_fail(f->ctx, MN_BAD_INPUT,
                     "the shape has no end along axis %d: a body needs a bounded shape", a + 1);
    if (extent < 0)
      return mn_fail(f->ctx, MN_BAD_INPUT, "the shape is empty: there is nothing to fill");
    double n = ceil(extent / f->a) + 2 * MARGIN;
    cubes *= n;
    if (cubes > MOST_CELLS)
      return mn_fail(f->ctx, MN_BAD_INPUT,
                     "a spacing of %g m makes more than %d cells; allowed: at least %.3g m",
                     spacing, MOST_CELLS, spacing * pow(cubes / MOST_CELLS, 1.0 / f->dim));
    f->n[a] = (int)n;
    /* centred, so that a symmetric shape gets a symmetric mesh */
    f->lo.v[a] = 0.5 * (lo.v[a] + hi.v[a]) - 0.5 * f->n[a] * f->a;
  }
  size_t planes = f->dim == 3 ? (size_t)f->n[2] + 1 : 1;
  f->corners = (size_t)(f->n[0] + 1) * (size_t)(f->n[1] + 1) * planes;
  f->vertices = f->corners + (size_t)f->n[0] * (size_t)f->n[1] * (size_t)f->n[2];
  MN_TRY(MN_NEW(f->ctx, "a lattice", f->vertices, &f->x));
  MN_TRY(MN_NEW(f->ctx, "a lattice", f->vertices, &f->d));
  MN_TRY(MN_NEW(f->ctx, "a lattice", f->vertices, &f->node));
  for (int k = 0; k < (f->dim == 3 ? f->n[2] + 1 : 1); k++)
    for (int j = 0; j <= f->n[1]; j++)
      for (int i = 0; i <= f->n[0]; i++) {
        mn_vec3 x = mn_madd(f->lo, f->a, mn_v3(i, j, k)), half = mn_v3(0.5, 0.5, 0.5);
        if (f->dim == 2)
          half.z = x.z = 0;
        f->x[corner_at(f, i, j, k)] = x;
        if (i < f->n[0] && j < f->n[1] && (f->dim == 2 || k < f->n[2]))
          f->x[centre_at(f, i, j, k)] = mn_madd(x, f->a, half);
      }
  int threads = mn_context_threads(f->ctx);
  int64_t count = (int64_t)f->vertices;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int64_t v = 0; v < count; v++) {
    f->d[v] = mn_shape_distance(f->shape, f->x[v]);
    f->node[v] = -1;
  }
  return MN_OK;
}

/* ---- where the surface cuts ------------------------------------------------------------------ */

/* The point between an inner and an outer end where the distance is 0, by bisection: distances of
   compositions are good for their sign only. */
static mn_vec3 find_cut(const filling *f, mn_vec3 inside, mn_vec3 outside)
{
  double lo = 0, hi = 1;
  mn_vec3 way = mn_sub(outside, inside);
  for (int i = 0; i < CUT_STEPS && hi - lo > 1e-12; i++) {
    double m = 0.5 * (lo + hi);
    *(mn_shape_distance(f->shape, mn_madd(inside, m, way)) < 0 ? &lo : &hi) = m;
  }
  return mn_madd(inside, 0.5 * (lo + hi), way);
}

static int crosses(const filling *f, size_t v, size_t w)
{
  return (f->d[v] < 0 && f->d[w] > 0) || (f->d[v] > 0 && f->d[w] < 0);
}

/* The vertices at the other ends of v's edges: cube edges, and corner-centre diagonals; centres of
   neighbouring cubes are joined in 3D only. Returns how many; long ones first. */
static int neighbours(const filling *f, size_t v, size_t out[32], int *long_count)
{
  int centre = v >= f->corners, at[3], count = 0;
  int w[3] = {f->n[0] + !centre, f->n[1] + !centre, f->dim == 3 ? f->n[2] + !centre : 1};
  size_t r = centre ? v - f->corners : v;
  at[0] = (int)(r % (size_t)w[0]);
  at[1] = (int)(r / (size_t)w[0] % (size_t)w[1]);
  at[2] = (int)(r / (size_t)w[0] / (size_t)w[1]);
  for (int a = 0; a < f->dim; a++)
    for (int side = -1; side <= 1; side += 2) {
      int b[3] = {at[0], at[1], at[2]};
      b[a] += side;
      if (b[a] >= 0 && b[a] < w[a] && (!centre || f->dim == 3))
        out[count++] = centre ? centre_at(f, b[0], b[1], b[2]) : corner_at(f, b[0], b[1], b[2]);
    }
  *long_count = count;
  for (int c = 0; c < 1 << f->dim; c++) {
    int b[3], ok = 1;
    for (int a = 0; a < 3; a++) {
      int far = a < f->dim ? c >> a & 1 : 0;
      b[a] = a < f->dim ? at[a] + (centre ? far : -far) : 0;
      int limit = a < f->dim ? f->n[a] + (centre ? 1 : 0) : 1;
      ok = ok && b[a] >= 0 && b[a] < limit;
    }
    if (ok)
      out[count++] = centre ? corner_at(f, b[0], b[1], b[2]) : centre_at(f, b[0], b[1], b[2]);
  }
  return count;
}

/* Draws v to the nearest cut that is closer than the threshold. */
static void warp(filling *f, size_t v)
{
  size_t ends[32];
  int longs, count = neighbours(f, v, ends, &longs);
  double nearest = INFINITY;
  mn_vec3 to = f->x[v];
  for (int e = 0; e < count; e++) {
    if (!crosses(f, v, ends[e]))
      continue;
    int inner = f->d[v] < 0;
    mn_vec3 cut = find_cut(f, f->x[inner ? v : ends[e]], f->x[inner ? ends[e] : v]);
    double way = mn_length(mn_sub(cut, f->x[v]));
    double edge = mn_length(mn_sub(f->x[ends[e]], f->x[v]));
    if (way < (e < longs ? NEAR_LONG : NEAR_SHORT) * edge && way < nearest) {
      nearest = way;
      to = cut;
    }
  }
  if (nearest < INFINITY) {
    f->x[v] = to;
    f->d[v] = 0;
  }
}

/* ---- nodes of the mesh ----------------------------------------------------------------------- */

static mn_status add_node(filling *f, mn_vec3 x, uint32_t *out)
{
  mn_simplex_mesh *m = f->mesh;
  if (m->nodes == f->node_capacity) {
    size_t more = 2 * f->node_capacity + 256;
    MN_TRY(mn_grow(f->ctx, "nodes of a mesh", m->nodes, more, sizeof *m->node, (void **)&m->node));
    f->node_capacity = more;
  }
  *out = (uint32_t)m->nodes;
  m->node[m->nodes++] = x;
  return MN_OK;
}

static mn_status vertex_node(filling *f, size_t v, uint32_t *out)
{
  if (f->node[v] < 0) {
    MN_TRY(add_node(f, f->x[v], out));
    f->node[v] = (int32_t)*out;
  }
  *out = (uint32_t)f->node[v];
  return MN_OK;
}

static size_t cut_slot(const filling *f, uint64_t key)
{
  size_t at = (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & (f->cut_capacity - 1);
  while (f->cut_key[at] && f->cut_key[at] != key)
    at = (at + 1) & (f->cut_capacity - 1);
  return at;
}

static mn_status grow_cuts(filling *f)
{
  filling old = *f;
  f->cut_capacity = old.cut_capacity ? 2 * old.cut_capacity : 1024;
  f->cut_key = NULL;
  f->cut_node = NULL;
  mn_status status = MN_NEW(f->ctx, "cuts of a mesh", f->cut_capacity, &f->cut_key);
  if (status == MN_OK)
    status = MN_NEW(f->ctx, "cuts of a mesh", f->cut_capacity, &f->cut_node);
  for (size_t i = 0; i < old.cut_capacity && status == MN_OK; i++)
    if (old.cut_key[i]) {
      size_t at = cut_slot(f, old.cut_key[i]);
      f->cut_key[at] = old.cut_key[i];
      f->cut_node[at] = old.cut_node[i];
    }
  mn_free(old.cut_key);
  mn_free(old.cut_node);
  return status;
}

/* The node on the edge from the inner vertex v to the outer one w. */
static mn_status cut_node(filling *f, size_t v, size_t w, uint32_t *out)
{
  if (2 * f->cuts >= f->cut_capacity)
    MN_TRY(grow_cuts(f));
  uint64_t key = (uint64_t)v * f->vertices + w + 1;
  size_t at = cut_slot(f, key);
  if (!f->cut_key[at]) {
    MN_TRY(add_node(f, find_cut(f, f->x[v], f->x[w]), &f->cut_node[at]));
    f->cut_key[at] = key;
    f->cuts++;
  }
  *out = f->cut_node[at];
  return MN_OK;
}

/* ---- elements -------------------------------------------------------------------------------- */

static double size_of(const mn_simplex_mesh *m, const uint32_t *p)
{
  mn_vec3 u = mn_sub(m->node[p[1]], m->node[p[0]]), v = mn_sub(m->node[p[2]], m->node[p[0]]);
  if (m->corners == 3)
    return 0.5 * mn_cross(u, v).z;
  return mn_dot(mn_cross(u, v), mn_sub(m->node[p[3]], m->node[p[0]])) / 6;
}

static mn_status add_element(filling *f, const uint32_t *p)
{
  mn_simplex_mesh *m = f->mesh;
  size_t corners = (size_t)m->corners;
  if (m->elements == f->element_capacity) {
    size_t more = 2 * f->element_capacity + 256;
    MN_TRY(mn_grow(f->ctx, "elements of a mesh", corners * m->elements, corners * more,
                   sizeof *m->element, (void **)&m->element));
    f->element_capacity = more;
  }
  uint32_t *to = m->element + corners * m->elements;
  memcpy(to, p, corners * sizeof *p);
  if (size_of(m, to) < 0) {
    uint32_t swap = to[0];
    to[0] = to[1];
    to[1] = swap;
  }
  m->elements++;
  return MN_OK;
}

typedef struct polygon {
  int count;
  uint32_t node[4];
} polygon;

/* What is inside of the polygon of lattice vertices v. */
static mn_status clip(filling *f, const size_t *v, int count, polygon *out)
{
  out->count = 0;
  for (int i = 0; i < count; i++) {
    size_t a = v[i], b = v[(i + 1) % count];
    if (f->d[a] <= 0)
      MN_TRY(vertex_node(f, a, &out->node[out->count++]));
    if (crosses(f, a, b)) {
      int inner = f->d[a] < 0;
      MN_TRY(cut_node(f, inner ? a : b, inner ? b : a, &out->node[out->count++]));
    }
  }
  return MN_OK;
}

/* The face inside a tetrahedron that the surface makes: what lies on 0, in order. */
static mn_status surface_face(filling *f, const size_t v[4], polygon *out)
{
  size_t in[4], on[4], off[4];
  int ins = 0, ons = 0, offs = 0;
  for (int i = 0; i < 4; i++)
    if (f->d[v[i]] < 0)
      in[ins++] = v[i];
    else if (f->d[v[i]] > 0)
      off[offs++] = v[i];
    else
      on[ons++] = v[i];
  out->count = 0;
  if (!offs)
    return MN_OK;
  for (int i = 0; i < ons; i++)
    MN_TRY(vertex_node(f, on[i], &out->node[out->count++]));
  for (int i = 0; i < ins; i++)
    for (int j = 0; j < offs; j++) /* back and forth: around the quadrilateral */
      MN_TRY(cut_node(f, in[i], off[i % 2 ? offs - 1 - j : j], &out->node[out->count++]));
  return MN_OK;
}

static int least(const polygon *p)
{
  int at = 0;
  for (int i = 1; i < p->count; i++)
    at = p->node[i] < p->node[at] ? i : at;
  return at;
}

static int holds(const polygon *p, uint32_t node)
{
  for (int i = 0; i < p->count; i++)
    if (p->node[i] == node)
      return 1;
  return 0;
}

/* Triangles of the polygon from its least node; in 3D each with `apex`, unless it is among them. */
static mn_status fan(filling *f, const polygon *p, const uint32_t *apex)
{
  int first = least(p);
  for (int i = 1; i + 1 < p->count; i++) {
    uint32_t q[4] = {p->node[first], p->node[(first + i) % p->count],
                     p->node[(first + i + 1) % p->count], apex ? *apex : 0};
    MN_TRY(add_element(f, q));
  }
  return MN_OK;
}

static mn_status add_triangle(filling *f, const size_t v[3])
{
  polygon p;
  if (!(f->d[v[0]] < 0) && !(f->d[v[1]] < 0) && !(f->d[v[2]] < 0))
    return MN_OK;
  MN_TRY(clip(f, v, 3, &p));
  return p.count >= 3 ? fan(f, &p, NULL) : MN_OK;
}

static mn_status add_tetrahedron(filling *f, const size_t v[4])
{
  static const int face[4][3] = {{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}};
  polygon side[5];
  uint32_t apex = UINT32_MAX;
  if (!(f->d[v[0]] < 0) && !(f->d[v[1]] < 0) && !(f->d[v[2]] < 0) && !(f->d[v[3]] < 0))
    return MN_OK;
  for (int s = 0; s < 4; s++)
    MN_TRY(clip(f, (size_t[3]){v[face[s][0]], v[face[s][1]], v[face[s][2]]}, 3, &side[s]));
  MN_TRY(surface_face(f, v, &side[4]));
  for (int s = 0; s < 5; s++)
    for (int i = 0; side[s].count >= 3 && i < side[s].count; i++)
      apex = side[s].node[i] < apex ? side[s].node[i] : apex;
  for (int s = 0; s < 5; s++)
    if (side[s].count >= 3 && !holds(&side[s], apex))
      MN_TRY(fan(f, &side[s], &apex));
  return MN_OK;
}

static mn_status fill_square(filling *f, int i, int j)
{
  size_t c[4] = {corner_at(f, i, j, 0), corner_at(f, i + 1, j, 0), corner_at(f, i + 1, j + 1, 0),
                 corner_at(f, i, j + 1, 0)};
  for (int e = 0; e < 4; e++)
    MN_TRY(add_triangle(f, (size_t[3]){c[e], c[(e + 1) % 4], centre_at(f, i, j, 0)}));
  return MN_OK;
}

/* The four tetrahedra around the link from the cube's centre to that of the next along `a`. */
static mn_status fill_link(filling *f, const int at[3], int a)
{
  int b = (a + 1) % 3, c = (a + 2) % 3, next[3] = {at[0], at[1], at[2]};
  next[a]++;
  if (next[a] >= f->n[a])
    return MN_OK;
  size_t ring[4];
  for (int e = 0; e < 4; e++) {
    int p[3] = {next[0], next[1], next[2]};
    p[b] += e == 1 || e == 2;
    p[c] += e >= 2;
    ring[e] = corner_at(f, p[0], p[1], p[2]);
  }
  size_t from = centre_at(f, at[0], at[1], at[2]), to = centre_at(f, next[0], next[1], next[2]);
  for (int e = 0; e < 4; e++)
    MN_TRY(add_tetrahedron(f, (size_t[4]){from, to, ring[e], ring[(e + 1) % 4]}));
  return MN_OK;
}

static mn_status fill_lattice(filling *f)
{
  for (int k = 0; k < f->n[2]; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++) {
        if (f->dim == 2)
          MN_TRY(fill_square(f, i, j));
        for (int a = 0; a < 3 && f->dim == 3; a++)
          MN_TRY(fill_link(f, (int[3]){i, j, k}, a));
      }
  if (f->mesh->elements)
    return MN_OK;
  return mn_fail(f->ctx, MN_BAD_INPUT,
                 "a spacing of %g m finds nothing of the shape; allowed: less than its thickness",
                 f->a);
}

mn_status mn_fill(mn_context *ctx, const mn_shape *shape, double spacing, mn_simplex_mesh *mesh)
{
  int dim = mn_shape_dim(shape);
  *mesh = (mn_simplex_mesh){.dim = dim, .corners = dim + 1, .order = 1};
  if (!(spacing > 0) || !isfinite(spacing))
    return mn_fail(ctx, MN_BAD_INPUT, "a spacing of %g m, allowed: > 0", spacing);
  filling f = {.ctx = ctx, .shape = shape, .dim = dim, .n = {1, 1, 1}, .mesh = mesh};
  mn_status status = make_lattice(&f, spacing);
  for (size_t v = 0; v < f.vertices && status == MN_OK; v++)
    warp(&f, v);
  if (status == MN_OK)
    status = fill_lattice(&f);
  mn_free(f.x);
  mn_free(f.d);
  mn_free(f.node);
  mn_free(f.cut_key);
  mn_free(f.cut_node);
  if (status != MN_OK)
    mn_simplex_mesh_destroy(mesh);
  return status;
}

/* ---- quality --------------------------------------------------------------------------------- */

/* Angle in degrees between two faces of a tetrahedron that share the edge pq, r and s beyond it; in
   2D r is the corner and p, q its neighbours. */
static double dihedral(mn_vec3 p, mn_vec3 q, mn_vec3 r, mn_vec3 s)
{
  mn_vec3 e = mn_sub(q, p), a = mn_sub(r, p), b = mn_sub(s, p);
  a = mn_madd(a, -mn_dot(a, e) / mn_dot(e, e), e);
  b = mn_madd(b, -mn_dot(b, e) / mn_dot(e, e), e);
  return atan2(mn_length(mn_cross(a, b)), mn_dot(a, b)) * 180 / MN_PI;
}

static double corner_angle(mn_vec3 r, mn_vec3 p, mn_vec3 q)
{
  mn_vec3 a = mn_sub(p, r), b = mn_sub(q, r);
  return atan2(mn_length(mn_cross(a, b)), mn_dot(a, b)) * 180 / MN_PI;
}

mn_mesh_quality mn_mesh_measure(const mn_simplex_mesh *m)
{
  mn_mesh_quality q = {180, 0, INFINITY, 0, 0, 0};
  size_t nodes = (size_t)mn_simplex_nodes(m->corners, m->order);
  for (size_t e = 0; e < m->elements; e++) {
    const uint32_t *p = m->element + nodes * e;
    mn_vec3 x[4];
    for (int i = 0; i < m->corners; i++)
      x[i] = m->node[p[i]];
    static const int edge[6][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2},
                                   {1, 2, 0, 3}, {1, 3, 0, 2}, {2, 3, 0, 1}};
    for (int i = 0; i < (m->corners == 4 ? 6 : 3); i++) {
      double angle = m->corners == 4
                         ? dihedral(x[edge[i][0]], x[edge[i][1]], x[edge[i][2]], x[edge[i][3]])
                         : corner_angle(x[i], x[(i + 1) % 3], x[(i + 2) % 3]);
      if (angle < q.least_angle) {
        q.least_angle = angle;
        q.worst = e;
      }
      q.greatest_angle = mn_max(q.greatest_angle, angle);
    }
    double size = size_of(m, p);
    q.least_size = mn_min(q.least_size, size);
    q.greatest_size = mn_max(q.greatest_size, size);
    q.volume += size;
  }
  return q;
}
