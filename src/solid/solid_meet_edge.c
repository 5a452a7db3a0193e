/* Edges of thin bodies across edges of other deformable ones, in 3D.

   Nodes against facets both ways let edges cross between their nodes: a cloth over a ball with
   facets as large as its own sinks into it by about their sagitta. With unit directions e_a, e_b of
   two edges, n = +- e_a x e_b, and the nearest points at parts u and v of the edges,

       gap = n . (x_b - x_a) - thickness,       weights 1 - u, u, -(1 - v), -v

   is a row like that of a node. The pair counts where the distance has a local minimum: both points
   within their edges, and a's edge the farthest of its two facets along n, b's along -n (for
   smooth sheets n is about across both). Flat on flat every crossing would be one; so the two must
   stand out together by a quarter of the thickness at least. n points to the inside of an elastic
   partner, between thin bodies to where the other one is at the start. As for nodes the plane is
   that of where the pass before ended, with the gap of the start, and asks for no more room than
   was lacking there.

   Limits: local, as nodes are what keeps bodies apart that meet fast; pairs of two elastic bodies
   are left to their nodes. Verified by tests/unit/solid/test_contact_drape.c. */
#include <stdlib.h>

#include "solid/solid_meet.h"

static const double PARALLEL = 0.05; /* sine */
static const double SLANT = 0.1;     /* sine by which n may leave a minimum */
static const double MARGIN = 0.1;    /* of a facet's side: this near is watched */
static const double SAGITTA = 0.25;  /* of the thickness: where less would sink in, nodes do */
static const double DEEP = 0.25;     /* of a facet's side: deeper is the far side */

/* ---- edges ----------------------------------------------------------------------------------- */

static int by_ends(const void *pa, const void *pb)
{
  const mn_meet_edge *a = pa, *b = pb;
  for (int k = 0; k < 2; k++)
    if (a->node[k] != b->node[k])
      return a->node[k] < b->node[k] ? -1 : 1;
  return a->across[0] < b->across[0] ? -1 : a->across[0] > b->across[0];
}

mn_status mn_meet_edges_create(mn_meet *m, int dim, const mn_facet *facet, size_t facets)
{
  if (dim != 3)
    return MN_OK;
  size_t n = 0, kept = 0;
  MN_TRY(MN_NEW(m->ctx, "edges of facets", 3 * facets, &m->edge));
  for (size_t i = 0; i < facets; i++) {
    const mn_facet *f = &facet[i];
    for (int k = 0; f->corners == 3 && k < 3; k++) {
      uint32_t a = f->node[k], b = f->node[(k + 1) % 3];
      m->edge[n++] = (mn_meet_edge){.node = {a < b ? a : b, a < b ? b : a},
                                    .across = {f->node[(k + 2) % 3], UINT32_MAX},
                                    .turn = {a < b ? 1 : -1, 0},
                                    .body = f->body,
                                    .two_sided = f->two_sided};
    }
  }
  if (n)
    qsort(m->edge, n, sizeof *m->edge, by_ends);
  for (size_t i = 0; i < n; i++) {
    mn_meet_edge *e = &m->edge[i];
    mn_meet_edge *last = kept ? &m->edge[kept - 1] : NULL;
    if (last && last->node[0] == e->node[0] && last->node[1] == e->node[1])
      last->across[1] = e->across[0], last->turn[1] = e->turn[0];
    else
      m->edge[kept++] = *e;
  }
  m->edges = kept;
  MN_TRY(MN_NEW(m->ctx, "boxes of edges", kept, &m->edge_lo));
  MN_TRY(MN_NEW(m->ctx, "boxes of edges", kept, &m->edge_hi));
  return MN_NEW(m->ctx, "edges nearby", kept, &m->edge_found);
}

void mn_meet_edges_destroy(mn_meet *m)
{
  mn_free(m->edge);
  mn_free(m->edge_lo);
  mn_free(m->edge_hi);
  mn_free(m->edge_found);
  mn_boxgrid_destroy(&m->edge_grid);
}

/* ---- a pair ---------------------------------------------------------------------------------- */

typedef struct crossing {
  double u, v; /* parts of the edges */
  mn_vec3 n, way;
} crossing;

/* Places after dt on the path at hand; dt 0: at the start. */
static mn_vec3 place(const mn_contact_nodes *nodes, uint32_t i, double dt)
{
  return mn_madd(nodes->x[i], dt, nodes->v[i]);
}

/* 0: parallel, or past each other. */
static int cross(const mn_contact_nodes *nodes, const mn_meet_edge *a, const mn_meet_edge *b,
                 double dt, crossing *x)
{
  mn_vec3 p = place(nodes, a->node[0], dt), q = place(nodes, b->node[0], dt);
  mn_vec3 ea = mn_sub(place(nodes, a->node[1], dt), p),
          eb = mn_sub(place(nodes, b->node[1], dt), q);
  mn_vec3 r = mn_sub(p, q), n = mn_cross(ea, eb);
  double aa = mn_dot(ea, ea), bb = mn_dot(eb, eb), ab = mn_dot(ea, eb), nn = mn_dot(n, n);
  if (!(nn > PARALLEL * PARALLEL * aa * bb))
    return 0;
  double pa = mn_dot(ea, r), pb = mn_dot(eb, r);
  x->u = (ab * pb - bb * pa) / nn;
  x->v = (aa * pb - ab * pa) / nn;
  x->n = mn_scale(1 / sqrt(nn), n);
  x->way = mn_sub(mn_madd(q, x->v, eb), mn_madd(p, x->u, ea));
  return x->u > 0 && x->u < 1 && x->v > 0 && x->v < 1;
}

/* How far facet k of an edge rises along n, as a sine. */
static double rise(const mn_contact_nodes *nodes, const mn_meet_edge *e, int k, double dt,
                   mn_vec3 n)
{
  mn_vec3 p = place(nodes, e->node[0], dt), along = mn_sub(place(nodes, e->node[1], dt), p);
  mn_vec3 into = mn_sub(place(nodes, e->across[k], dt), p);
  into = mn_madd(into, -mn_dot(into, along) / mn_dot(along, along), along);
  double length = mn_length(into);
  return length > 0 ? mn_dot(n, into) / length : 0;
}

/* Towards the inside of an elastic body at its edge: against the normals of its facets. */
static double inward(const mn_contact_nodes *nodes, const mn_meet_edge *e, double dt, mn_vec3 n)
{
  mn_vec3 p = place(nodes, e->node[0], dt), along = mn_sub(place(nodes, e->node[1], dt), p);
  double sum = 0;
  for (int k = 0; k < 2 && e->across[k] != UINT32_MAX; k++) {
    mn_vec3 out = mn_cross(along, mn_sub(place(nodes, e->across[k], dt), p));
    double length = mn_length(out);
    sum -= length > 0 ? e->turn[k] * mn_dot(n, out) / length : 0;
  }
  return sum;
}

static double length_of(const mn_contact_nodes *nodes, const mn_meet_edge *e)
{
  return mn_length(mn_sub(nodes->x[e->node[1]], nodes->x[e->node[0]]));
}

/* How far an edge stands out along n over a flat one, m. */
static double stands_out(const mn_contact_nodes *nodes, const mn_meet_edge *e, double dt, mn_vec3 n)
{
  double turn = -rise(nodes, e, 0, dt, n);
  turn -= e->across[1] != UINT32_MAX ? rise(nodes, e, 1, dt, n) : 0;
  return length_of(nodes, e) * turn / 8;
}

static int is_minimum(const mn_contact_nodes *nodes, const mn_meet_edge *a, const mn_meet_edge *b,
                      double dt, mn_vec3 n)
{
  for (int k = 0; k < 2; k++)
    if ((a->across[k] != UINT32_MAX && rise(nodes, a, k, dt, n) > SLANT) ||
        (b->across[k] != UINT32_MAX && rise(nodes, b, k, dt, n) < -SLANT))
      return 0;
  return 1;
}

/* The touch of two edges, if there is one. */
static int touch_of(const mn_contact_nodes *nodes, const mn_meet_edge *a, const mn_meet_edge *b,
                    double h, double dt, mn_touch *t)
{
  crossing x, first;
  if (!cross(nodes, a, b, dt, &x))
    return 0;
  /* where the other one is: below an elastic surface, or as at the start */
  double side = !b->two_sided   ? inward(nodes, b, dt, x.n)
                : !a->two_sided ? -inward(nodes, a, dt, x.n)
                                : 0;
  mn_vec3 start = {0};
  const double w[4] = {-(1 - x.u), -x.u, 1 - x.v, x.v};
  const uint32_t node[4] = {a->node[0], a->node[1], b->node[0], b->node[1]};
  for (int k = 0; k < 4; k++)
    start = mn_madd(start, w[k], nodes->x[node[k]]);
  if (a->two_sided && b->two_sided)
    side = mn_dot(x.n, start);
  if (side < 0)
    x.n = mn_scale(-1, x.n);
  double side_length = mn_min(length_of(nodes, a), length_of(nodes, b));
  double distance = mn_dot(x.n, x.way);
  if (side == 0 || distance - h > MARGIN * side_length || distance < -DEEP * side_length ||
      !is_minimum(nodes, a, b, dt, x.n) ||
      stands_out(nodes, a, dt, x.n) + stands_out(nodes, b, dt, mn_scale(-1, x.n)) < SAGITTA * h)
    return 0;
  t->n = x.n;
  t->gap = mn_dot(x.n, start) - h;
  if (t->gap < 0) {
    int known = cross(nodes, a, b, 0, &first);
    double from = known ? (mn_dot(first.n, x.n) < 0 ? -1 : 1) * mn_dot(first.n, first.way) - h : 0;
    t->gap = mn_max(t->gap, mn_max(mn_min(0, from), -2 * h));
  }
  for (int k = 0; k < 4; k++) {
    t->node[k] = node[k];
    t->weight[k] = -w[k];
  }
  t->at = mn_madd(mn_scale(1 - x.v, nodes->x[node[2]]), x.v, nodes->x[node[3]]);
  t->friction = sqrt(nodes->friction[node[0]] * nodes->friction[node[2]]);
  return 1;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int moves(const mn_contact_nodes *nodes, const mn_touch *t)
{
  for (int k = 0; k < t->nodes; k++)
    if (~nodes->fixed[t->node[k]] & 7)
      return 1;
  return 0;
}

mn_status mn_meet_find_edges(mn_meet *m, const mn_contact_nodes *nodes, const mn_contact_def *def,
                             int64_t first_key, double dt, mn_touches *touches)
{
  if (!m->edges || !def->search)
    return MN_OK;
  for (size_t i = 0; i < m->edges; i++) {
    mn_vec3 a = nodes->x[m->edge[i].node[0]], b = nodes->x[m->edge[i].node[1]];
    for (int q = 0; q < 3; q++) {
      m->edge_lo[i].v[q] = mn_min(a.v[q], b.v[q]);
      m->edge_hi[i].v[q] = mn_max(a.v[q], b.v[q]);
    }
  }
  MN_TRY(mn_boxgrid_build(&m->edge_grid, m->ctx, m->edge_lo, m->edge_hi, (uint32_t)m->edges));
  for (uint32_t i = 0; i < m->edges; i++) {
    const mn_meet_edge *a = &m->edge[i];
    double r = m->node_body[a->node[0]] < 0 ? 0 : m->body[a->body].reach;
    mn_vec3 wide = mn_v3(r, r, r);
    uint32_t found = r > 0 ? mn_boxgrid_query(&m->edge_grid, mn_sub(m->edge_lo[i], wide),
                                              mn_add(m->edge_hi[i], wide), m->edge_found)
                           : 0;
    int64_t count = (int64_t)nodes->count;
    for (uint32_t k = 0; k < found; k++) {
      const mn_meet_edge *b = &m->edge[m->edge_found[k]];
      mn_touch t = {.kind = MN_TOUCH_NODE, .a = -1, .b = -1, .nodes = 4};
      t.key = (mn_touch_key){first_key + count + i, first_key + count + b->body, m->edge_found[k]};
      if (b->body > a->body && m->node_body[b->node[0]] >= 0 && (a->two_sided || b->two_sided) &&
          touch_of(nodes, a, b, def->thickness, dt, &t) && moves(nodes, &t))
        MN_TRY(mn_contact_append(m->ctx, touches, &t));
    }
  }
  return MN_OK;
}
