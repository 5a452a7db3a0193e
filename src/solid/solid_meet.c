/* Where deformable bodies may touch each other within a substep.

   Every surface node is held against the facets of other bodies nearby, both ways round. Of these
   only local minima of the distance count: a facet whose nearest point lies on an edge or corner
   from which a neighbour comes nearer is none, so that a node slides over a meshed surface as over
   a smooth one, and hollows give several. A touch is the plane across the way to the nearest
   point, with the gap it has at the start. Which way: that at the end of the path, where the pass
   before led; corners ahead then do not hold a sliding node up. If that path comes nearer than half
   the thickness (by conservative advancement) and may lead through the body, since that is thin or
   the path longer than a quarter of a facet, then that at the start: for convex bodies this plane
   separates whatever the step, so that nothing tunnels, and thin bodies keep nodes on their side.

   A node that lies in an elastic body (the nearest facet decides, at edges and corners the
   angle-weighted mean normal) is pushed out the shortest way, by at most two thicknesses in a
   substep. No plane asks for more room than the node lacked at the start: it gives no energy.

   Cost: linear, by sorted grids of bodies and facets. In 3D edges of thin bodies:
   solid_meet_edge.c. Quadratic bodies are cut at their middle nodes (solid_press.c). Limits: edges
   of two elastic bodies pass each other between their nodes; no contact of a body with itself.
   Verified by tests/unit/solid/test_contact_soft.c. */
#include "solid/solid_meet.h"

#include <string.h>

static const double MARGIN = 0.1;  /* of a facet's side: this near is always watched */
static const double CORNER = 1e-9; /* weights below are none */

typedef struct finder {
  mn_meet *m;
  const mn_deform_view *view;
  const mn_contact_nodes *nodes;
  const mn_vec3 *free;
  const mn_contact_def *def;
  int64_t first_key;
  double dt;
  mn_touches *out;
} finder;

mn_status mn_meet_create(mn_meet *m, mn_context *ctx, const mn_deform_view *view,
                         const mn_facet *facet, size_t facets)
{
  m->ctx = ctx;
  size_t bodies = (size_t)view->bodies;
  size_t most = facets > bodies ? facets : bodies;
  MN_TRY(MN_NEW(ctx, "boxes of facets", facets, &m->facet_lo));
  MN_TRY(MN_NEW(ctx, "boxes of facets", facets, &m->facet_hi));
  MN_TRY(MN_NEW(ctx, "facets nearby", most, &m->found));
  MN_TRY(MN_NEW(ctx, "facets nearby", facets, &m->near));
  MN_TRY(MN_NEW(ctx, "boxes of bodies", bodies, &m->body_lo));
  MN_TRY(MN_NEW(ctx, "boxes of bodies", bodies, &m->body_hi));
  MN_TRY(MN_NEW(ctx, "boxes of bodies", bodies, &m->body));
  MN_TRY(MN_NEW(ctx, "bodies of nodes", view->nodes, &m->node_body));
  return mn_meet_edges_create(m, view->dim, facet, facets);
}

void mn_meet_destroy(mn_meet *m)
{
  void *all[] = {m->facet_lo, m->facet_hi, m->found, m->near,
                 m->body_lo,  m->body_hi,  m->body,  m->node_body};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mn_free(all[i]);
  mn_meet_edges_destroy(m);
  mn_boxgrid_destroy(&m->facets);
  mn_boxgrid_destroy(&m->bodies);
  *m = (mn_meet){0};
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static void cover(mn_vec3 *lo, mn_vec3 *hi, mn_vec3 x)
{
  for (int a = 0; a < 3; a++) {
    lo->v[a] = mn_min(lo->v[a], x.v[a]);
    hi->v[a] = mn_max(hi->v[a], x.v[a]);
  }
}

/* Boxes of facets at the start, swept ones of bodies; sizes. */
static void set_boxes(finder *f)
{
  mn_meet *m = f->m;
  const mn_contact_nodes *n = f->nodes;
  mn_vec3 far = mn_v3(HUGE_VAL, HUGE_VAL, HUGE_VAL);
  for (size_t i = 0; i < n->count; i++)
    m->node_body[i] = -1;
  for (int b = 0; b < f->view->bodies; b++) {
    m->body[b] = (mn_meet_body){0};
    m->body_lo[b] = far, m->body_hi[b] = mn_scale(-1, far);
  }
  for (size_t i = 0; i < n->facets; i++) {
    const mn_facet *facet = &n->facet[i];
    mn_meet_body *body = &m->body[facet->body];
    m->facet_lo[i] = far, m->facet_hi[i] = mn_scale(-1, far);
    body->one_sided = !facet->two_sided;
    for (int k = 0; k < facet->corners; k++) {
      uint32_t j = facet->node[k], next = facet->node[(k + 1) % facet->corners];
      cover(&m->facet_lo[i], &m->facet_hi[i], n->x[j]);
      body->facet = mn_max(body->facet, mn_length(mn_sub(n->x[next], n->x[j])));
      if (m->node_body[j] < 0) {
        m->node_body[j] = facet->body;
        body->u = mn_add(body->u, n->v[j]);
        body->surface++;
      }
    }
  }
}

/* Mean velocities, and how far nodes stray from them. */
static void set_speeds(finder *f)
{
  mn_meet *m = f->m;
  const mn_contact_nodes *n = f->nodes;
  for (int b = 0; b < f->view->bodies; b++)
    if (m->body[b].surface)
      m->body[b].u = mn_scale(1.0 / m->body[b].surface, m->body[b].u);
  for (size_t i = 0; i < n->count; i++) {
    if (m->node_body[i] < 0)
      continue;
    int b = m->node_body[i];
    mn_meet_body *body = &m->body[b];
    body->spread = mn_max(body->spread, mn_length(mn_sub(n->v[i], body->u)));
    body->spread = mn_max(body->spread, mn_length(mn_sub(f->free[i], body->u)));
    cover(&m->body_lo[b], &m->body_hi[b], n->x[i]);
    cover(&m->body_lo[b], &m->body_hi[b], mn_madd(n->x[i], f->dt, n->v[i]));
    cover(&m->body_lo[b], &m->body_hi[b], mn_madd(n->x[i], f->dt, f->free[i]));
  }
}

static double margin(const finder *f, int a, int b)
{
  return MARGIN * mn_min(f->m->body[a].facet, f->m->body[b].facet);
}

/* m: a node of a cannot come nearer to b than this. */
static double way_bound(const finder *f, int a, int b)
{
  const mn_meet_body *A = &f->m->body[a], *B = &f->m->body[b];
  return f->dt * (A->spread + B->spread + mn_length(mn_sub(A->u, B->u)));
}

static double reach_of(const finder *f, int a, int b)
{
  double bound = way_bound(f, a, b), shallow = mn_min(bound, f->m->body[b].facet / 4);
  return f->def->thickness + margin(f, a, b) + bound + shallow;
}

static mn_status set_reach(finder *f)
{
  mn_meet *m = f->m;
  uint32_t bodies = (uint32_t)f->view->bodies;
  MN_TRY(mn_boxgrid_build(&m->bodies, m->ctx, m->body_lo, m->body_hi, bodies));
  for (uint32_t a = 0; a < bodies; a++) {
    if (!m->body[a].surface)
      continue;
    double more = f->def->thickness + MARGIN * m->body[a].facet;
    mn_vec3 wide = mn_v3(more, more, more);
    uint32_t found = mn_boxgrid_query(&m->bodies, mn_sub(m->body_lo[a], wide),
                                      mn_add(m->body_hi[a], wide), m->found);
    for (uint32_t k = 0; k < found; k++) {
      int b = (int)m->found[k];
      if (b != (int)a && m->body[b].surface)
        m->body[a].reach = mn_max(m->body[a].reach, reach_of(f, (int)a, b));
    }
  }
  return MN_OK;
}

/* ---- one node and one body ------------------------------------------------------------------- */

/* After s on the path at hand. */
static mn_vec3 moved(const finder *f, uint32_t i, double s)
{
  return s > 0 ? mn_madd(f->nodes->x[i], s, f->nodes->v[i]) : f->nodes->x[i];
}

/* Way from a node to the nearest point of a facet, after s. */
static mn_vec3 way_to(const finder *f, uint32_t node, uint32_t facet, double s, double weight[3])
{
  const mn_facet *t = &f->nodes->facet[facet];
  mn_vec3 p[3], x = moved(f, node, s), way = mn_scale(-1, x);
  for (int k = 0; k < t->corners; k++)
    p[k] = moved(f, t->node[k], s);
  mn_nearest_weights(t->corners, p, x, weight);
  for (int k = 0; k < t->corners; k++)
    way = mn_madd(way, weight[k], p[k]);
  return way;
}

/* Whether facet b has all corners on which the nearest point of a rests. */
static int has_feature(const finder *f, const mn_meet_near *a, const mn_meet_near *b)
{
  const mn_facet *s = &f->nodes->facet[a->facet], *t = &f->nodes->facet[b->facet];
  for (int k = 0; k < s->corners; k++) {
    int has = a->weight[k] <= CORNER;
    for (int q = 0; q < t->corners && !has; q++)
      has = t->node[q] == s->node[k];
    if (!has)
      return 0;
  }
  return 1;
}

static int is_minimum(const finder *f, const mn_meet_near *near, uint32_t count, uint32_t i)
{
  double same = 1e-12 * f->m->body[f->nodes->facet[near[i].facet].body].facet;
  for (uint32_t j = 0; j < count; j++) {
    double closer = near[i].distance - near[j].distance;
    if (j != i && (closer > same || (closer >= -same && j < i)) &&
        has_feature(f, &near[i], &near[j]))
      return 0;
  }
  return 1;
}

/* Outward, of a facet after s; in 3D times its angle at `node`, if that is one of its corners. */
static mn_vec3 facet_normal(const finder *f, uint32_t facet, int64_t node, double s)
{
  const mn_facet *t = &f->nodes->facet[facet];
  mn_vec3 x[3], a;
  double angle = 1;
  for (int k = 0; k < t->corners; k++)
    x[k] = moved(f, t->node[k], s);
  a = mn_sub(x[1], x[0]);
  mn_vec3 n = t->corners == 3 ? mn_cross(a, mn_sub(x[2], x[0])) : mn_v3(a.y, -a.x, 0);
  for (int k = 0; t->corners == 3 && k < 3; k++)
    if ((int64_t)t->node[k] == node) {
      mn_vec3 p = mn_sub(x[(k + 1) % 3], x[k]), q = mn_sub(x[(k + 2) % 3], x[k]);
      angle = atan2(mn_length(mn_cross(p, q)), mn_dot(p, q));
    }
  double length = mn_length(n);
  return mn_scale(length > 0 ? angle / length : 0, n);
}

/* The outward direction where the nearest point lies: of a facet, an edge or a corner. */
static mn_vec3 outward(const finder *f, const mn_meet_near *near, uint32_t count, uint32_t i,
                       double s)
{
  const mn_facet *t = &f->nodes->facet[near[i].facet];
  int64_t corner = -1;
  int resting = 0;
  for (int k = 0; k < t->corners; k++)
    if (near[i].weight[k] > CORNER)
      corner = t->node[k], resting++;
  corner = resting == 1 ? corner : -1;
  mn_vec3 n = {0};
  for (uint32_t j = 0; j < count; j++)
    if (has_feature(f, &near[i], &near[j]))
      n = mn_add(n, facet_normal(f, near[j].facet, corner, s));
  double length = mn_length(n);
  return length > 0 ? mn_scale(1 / length, n) : mn_v3(0, 1, 0);
}

/* Whether on its path the node comes nearer to the facets than half the thickness. */
static int dips(const finder *f, uint32_t node, const uint32_t *found, uint32_t count, double bound)
{
  double close = 0.5 * f->def->thickness, s = 0, w[3];
  for (int k = 0; k < 32; k++) {
    double gap = HUGE_VAL;
    for (uint32_t i = 0; i < count; i++)
      gap = mn_min(gap, mn_length(way_to(f, node, found[i], s, w)));
    if (gap <= 1.01 * close)
      return 1;
    if (gap - close > bound * (1 - s / f->dt))
      return 0;
    s = mn_min(f->dt, s + f->dt * (gap - close) / bound);
  }
  return 1; /* undecided */
}

/* How far along n the node goes relative to the point of the facet. */
static double goes(const finder *f, const mn_touch *t)
{
  mn_vec3 u = {0};
  for (int k = 0; k < t->nodes; k++)
    u = mn_madd(u, t->weight[k], f->nodes->v[t->node[k]]);
  return f->dt * mn_dot(t->n, u);
}

static mn_status put(finder *f, const mn_touch *t)
{
  mn_touches *o = f->out;
  int moves = 0;
  for (int k = 0; k < t->nodes; k++)
    moves |= t->weight[k] != 0 && ~f->nodes->fixed[t->node[k]] & ((1 << f->view->dim) - 1);
  if (!moves)
    return MN_OK;
  if (o->count == o->capacity) {
    size_t more = 2 * o->capacity + 64;
    MN_TRY(mn_grow(f->m->ctx, "contacts", o->capacity, more, sizeof *o->at, (void **)&o->at));
    o->capacity = more;
  }
  o->at[o->count++] = *t;
  return MN_OK;
}

/* The plane with normal n at the nearest point. Its gap, at the start, is not less than what the
   node lacks there to the facet itself: a plane that turned gives no energy. */
static mn_touch touch_of(const finder *f, uint32_t node, const mn_meet_near *near, mn_vec3 n)
{
  const mn_facet *facet = &f->nodes->facet[near->facet];
  mn_touch t = {.kind = MN_TOUCH_NODE, .a = -1, .b = -1, .nodes = 1 + facet->corners, .n = n};
  t.node[0] = node, t.weight[0] = 1;
  double friction = 0, h = f->def->thickness, w[3];
  for (int k = 0; k < facet->corners; k++) {
    t.node[k + 1] = facet->node[k];
    t.weight[k + 1] = -near->weight[k];
    t.at = mn_madd(t.at, near->weight[k], f->nodes->x[facet->node[k]]);
    friction += near->weight[k] * f->nodes->friction[facet->node[k]];
  }
  t.friction = sqrt(mn_max(0, friction) * f->nodes->friction[node]);
  t.gap = mn_dot(n, mn_sub(t.at, f->nodes->x[node])) - h;
  if (t.gap < 0) {
    mn_vec3 way = way_to(f, node, near->facet, 0, w);
    double from = mn_dot(way, facet_normal(f, near->facet, -1, 0)) <= 0 || facet->two_sided
                      ? mn_length(way) - h
                      : -mn_length(way) - h; /* from behind it */
    t.gap = mn_max(t.gap, mn_max(mn_min(0, from), -2 * h));
  }
  return t;
}

static uint32_t gather(finder *f, uint32_t node, const uint32_t *found, uint32_t count, double s,
                       double reach, uint32_t *nearest)
{
  uint32_t kept = 0;
  *nearest = 0;
  for (uint32_t k = 0; k < count; k++) {
    mn_meet_near *n = &f->m->near[kept];
    *n = (mn_meet_near){.facet = found[k]};
    n->way = way_to(f, node, found[k], s, n->weight);
    n->distance = mn_length(n->way);
    if (n->distance < f->m->near[*nearest].distance)
      *nearest = kept;
    kept += n->distance <= reach;
  }
  return kept;
}

/* found[count]: the facets of one other body. */
static mn_status against(finder *f, uint32_t node, const uint32_t *found, uint32_t count)
{
  mn_meet_near *near = f->m->near;
  int a = f->m->node_body[node], b = f->nodes->facet[found[0]].body, inside = 0;
  int one_sided = f->m->body[b].one_sided;
  double watch = margin(f, a, b), bound = way_bound(f, a, b), size = f->m->body[b].facet;
  double h = f->def->thickness, s = f->dt, shallow = mn_min(bound, size / 4);
  uint32_t first, all = count;
  for (;;) { /* planes of the end of the path or, if it leads through the body, of its start */
    double reach = s > 0 ? h + watch + shallow : reach_of(f, a, b);
    count = gather(f, node, found, all, s, reach, &first);
    inside = count && one_sided && mn_dot(near[first].way, outward(f, near, count, first, s)) >= 0;
    if (s == 0 || (inside && near[first].distance <= shallow) || (one_sided && bound <= size / 4) ||
        !f->def->sweep || !dips(f, node, found, all, bound))
      break;
    s = 0;
  }
  if (!count)
    return MN_OK;
  mn_touch_key key = {f->first_key + node, f->first_key + (int64_t)f->nodes->count + b, 0};
  if (inside) {
    double far = near[first].distance;
    mn_vec3 n = far > 0 ? mn_scale(-1 / far, near[first].way)
                        : mn_scale(-1, outward(f, near, count, first, s));
    mn_touch t = touch_of(f, node, &near[first], n);
    t.key = key;
    return put(f, &t);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (!is_minimum(f, near, count, i) || near[i].distance == 0)
      continue;
    if (one_sided && mn_dot(near[i].way, outward(f, near, count, i, s)) >= 0)
      continue; /* the far side of the body */
    mn_touch t = touch_of(f, node, &near[i], mn_scale(1 / near[i].distance, near[i].way));
    t.key = key;
    key.feature++;
    if (near[i].distance - h <= watch || (s == 0 && goes(f, &t) > t.gap - watch))
      MN_TRY(put(f, &t));
  }
  return MN_OK;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static mn_status node_against_all(finder *f, uint32_t node)
{
  mn_meet *m = f->m;
  double r = m->body[m->node_body[node]].reach;
  mn_vec3 wide = mn_v3(r, r, r), x = f->nodes->x[node];
  uint32_t found = mn_boxgrid_query(&m->facets, mn_sub(x, wide), mn_add(x, wide), m->found);
  for (uint32_t first = 0, last; first < found; first = last) { /* facets are sorted by body */
    int b = f->nodes->facet[m->found[first]].body;
    for (last = first; last < found && f->nodes->facet[m->found[last]].body == b;)
      last++;
    if (b != m->node_body[node])
      MN_TRY(against(f, node, m->found + first, last - first));
  }
  return MN_OK;
}

mn_status mn_meet_find(mn_meet *m, const mn_deform_view *view, const mn_contact_nodes *nodes,
                       const mn_vec3 *free, const mn_contact_def *def, int64_t first_key, double dt,
                       mn_touches *touches)
{
  finder f = {m, view, nodes, free, def, first_key, dt, touches};
  int near = 0;
  if (view->bodies < 2)
    return MN_OK;
  set_boxes(&f);
  set_speeds(&f);
  MN_TRY(set_reach(&f));
  for (int b = 0; b < view->bodies; b++)
    near |= m->body[b].reach > 0;
  if (!near)
    return MN_OK;
  MN_TRY(mn_boxgrid_build(&m->facets, m->ctx, m->facet_lo, m->facet_hi, (uint32_t)nodes->facets));
  for (uint32_t i = 0; i < nodes->count; i++)
    if (m->node_body[i] >= 0 && m->body[m->node_body[i]].reach > 0)
      MN_TRY(node_against_all(&f, i));
  return mn_meet_find_edges(m, nodes, def, first_key, dt, touches);
}
