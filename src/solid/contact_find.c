/* What can touch within a substep: swept boxes in a sorted grid, then gaps and normals.

   A touch is kept if the two come together on their straight paths, by conservative advancement:
   s <- s + gap(s) / (bound of the relative speed) until the gap is small or s > dt. Its normal and
   gap are those at the start, where n . (moved a - moved b) >= 0 separates them whatever lies
   between, for convex partners exactly: nothing tunnels, and impulses along the line that joins
   the two points give no net torque.

   Gaps: spheres exactly; a sphere's centre, the contact points of a body or the nodes of a
   deformable one against the signed distance of a shape; spheres and contact points against facets
   (both sides, that of the start counts). From contact points that are near, the deepest place of
   the surface between them (contact_shape.c). Two polyhedra touch with corners and edges alone
   (contact_edge.c). Deformable bodies among each other: solid_meet.c.
   Verified by tests/unit/solid/test_contact*.c. */
#include "solid/contact_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct finder {
  mn_contact *c;
  const mn_rigid_state *pose;
  const mn_twist *free, *twist; /* a path of either kind may touch */
  const mn_contact_nodes *nodes;
  const mn_vec3 *node_free;
  double dt;
  mn_touches *out;
} finder;

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Distance and normal in the world of body b at x. */
static double body_distance(finder *f, int b, const mn_rigid_state *s, mn_vec3 x, mn_vec3 hint,
                            mn_vec3 *n)
{
  const mn_rigid_body *body = &f->c->rigid->body[b];
  mn_vec3 y = mn_rigid_start(body, s, x);
  double d = mn_shape_distance(body->def.shape, y);
  f->c->tests++;
  if (n) {
    double size = isfinite(body->bound) ? body->bound : 1;
    mn_vec3 h = mn_quat_rotate(mn_quat_conjugate(s->q), hint);
    *n = mn_quat_rotate(s->q, mn_contact_normal(body->def.shape, y, size, h, &d));
  }
  return d;
}

void mn_nearest_weights(int corners, const mn_vec3 *p, mn_vec3 x, double w[3])
{
  w[0] = 1, w[1] = w[2] = 0;
  mn_vec3 ab = mn_sub(p[1], p[0]), ax = mn_sub(x, p[0]);
  if (corners == 2) {
    double l = mn_dot(ab, ab);
    w[1] = l > 0 ? mn_clamp(mn_dot(ax, ab) / l, 0, 1) : 0;
    w[0] = 1 - w[1];
    return;
  }
  mn_vec3 ac = mn_sub(p[2], p[0]), n = mn_cross(ab, ac);
  double area = mn_dot(n, n);
  if (area > 0) {
    w[1] = mn_dot(mn_cross(ax, ac), n) / area;
    w[2] = mn_dot(mn_cross(ab, ax), n) / area;
    w[0] = 1 - w[1] - w[2];
    if (w[0] >= 0 && w[1] >= 0 && w[2] >= 0)
      return;
  }
  double best = HUGE_VAL, least[3] = {1, 0, 0};
  for (int e = 0; e < 3; e++) {
    mn_vec3 edge[2] = {p[e], p[(e + 1) % 3]};
    double u[3];
    mn_nearest_weights(2, edge, x, u);
    double d = mn_length(mn_sub(x, mn_add(mn_scale(u[0], edge[0]), mn_scale(u[1], edge[1]))));
    if (d < best) {
      best = d;
      least[e] = u[0], least[(e + 1) % 3] = u[1], least[(e + 2) % 3] = 0;
    }
  }
  memcpy(w, least, sizeof least);
}

/* ---- gaps ------------------------------------------------------------------------------------ */

static mn_vec3 node_moved(const finder *f, const mn_vec3 *v, uint32_t i, double s)
{
  return s > 0 ? mn_madd(f->nodes->x[i], s, v[i]) : f->nodes->x[i];
}

/* A ball against a shape with hollows: the nearest point, or one near direction k - 1. */
static double ball_gap(finder *f, const mn_touch *t, mn_vec3 x, const mn_rigid_state *b, mn_vec3 *n)
{
  double r = f->c->rigid->body[t->a].radius;
  const mn_rigid_body *B = &f->c->rigid->body[t->b];
  if (t->feature == 0 && mn_contact_bound_only(B->def.shape)) { /* beyond an edge d is too small */
    mn_vec3 y = mn_rigid_start(B, b, x), foot;
    double d = mn_shape_distance(B->def.shape, y), size = isfinite(B->bound) ? B->bound : r;
    if (d > 0 && (d = mn_contact_nearest(B->def.shape, size, y, &foot, &f->c->tests)) < HUGE_VAL) {
      *n = mn_quat_rotate(b->q, mn_scale(1 / d, mn_sub(y, foot)));
      return d - r;
    }
  }
  if (t->feature == 0)
    return body_distance(f, t->b, b, x, mn_v3(0, 0, 0), n) - r;
  mn_vec3 e = {0};
  e.v[(t->feature - 1) / 2] = t->feature % 2 ? 1 : -1;
  mn_vec3 p = mn_madd(x, r, mn_quat_rotate(b->q, e));
  body_distance(f, t->b, b, p, mn_v3(0, 0, 0), n);
  return body_distance(f, t->b, b, mn_madd(x, -r, *n), mn_v3(0, 0, 0), n);
}

/* Where to the nodes of a touch go, past its rigid body: at edges, the side that they come to. */
static mn_vec3 coming(const finder *f, const mn_touch *t)
{
  mn_vec3 v = {0};
  for (int k = 0; k < t->nodes; k++)
    v = mn_madd(v, t->weight[k], mn_sub(f->node_free[t->node[k]], f->free[t->a].v));
  double speed = mn_length(v);
  return speed > 0 ? mn_scale(1 / speed, v) : v;
}

/* Gap, normal and point of a touch after s on the paths given. */
static double measure(finder *f, mn_touch *t, const mn_twist *twist, const mn_vec3 *node_v,
                      double s)
{
  const mn_rigid_body *A = &f->c->rigid->body[t->a];
  mn_rigid_state a = mn_pose_moved(&f->pose[t->a], twist[t->a], s), b;
  if (t->b >= 0)
    b = mn_pose_moved(&f->pose[t->b], twist[t->b], s);
  mn_vec3 x, d, p[3];
  double gap, far, thickness = f->c->def.thickness;
  switch (t->kind) {
  case MN_TOUCH_BALLS:
    x = mn_rigid_point(A, &a, A->ball);
    d = mn_sub(x, mn_rigid_point(&f->c->rigid->body[t->b], &b, f->c->rigid->body[t->b].ball));
    far = mn_length(d);
    gap = far - A->radius - f->c->rigid->body[t->b].radius;
    t->n = far > 0 ? mn_scale(1 / far, d) : mn_v3(0, 1, 0);
    t->at = mn_madd(x, -A->radius - 0.5 * gap, t->n);
    f->c->tests++;
    return gap;
  case MN_TOUCH_BALL:
    x = mn_rigid_point(A, &a, A->ball);
    gap = ball_gap(f, t, x, &b, &t->n);
    t->at = mn_madd(x, -A->radius - 0.5 * gap, t->n);
    return gap;
  case MN_TOUCH_POINT:
    x = mn_rigid_point(A, &a, t->spot);
    gap = body_distance(f, t->b, &b, x, mn_quat_rotate(a.q, t->face), &t->n);
    t->at = mn_madd(x, -0.5 * gap, t->n);
    return gap;
  case MN_TOUCH_EDGE:
    f->c->tests++;
    return mn_contact_edge_gap(f->c, &a, &b, t);
  case MN_TOUCH_NODE:
    t->at = node_moved(f, node_v, t->node[0], s);
    gap = body_distance(f, t->a, &a, t->at, coming(f, t), &t->n) - thickness;
    t->n = mn_scale(-1, t->n);
    return gap;
  case MN_TOUCH_FACET_BALL:
  case MN_TOUCH_FACET_POINT:
    break;
  }
  for (int k = 0; k < t->nodes; k++)
    p[k] = node_moved(f, node_v, t->node[k], s);
  x = mn_rigid_point(A, &a, t->kind == MN_TOUCH_FACET_BALL ? A->ball : A->point[t->feature]);
  mn_nearest_weights(t->nodes, p, x, t->weight);
  t->at = mn_v3(0, 0, 0);
  for (int k = 0; k < t->nodes; k++)
    t->at = mn_madd(t->at, t->weight[k], p[k]);
  d = mn_sub(x, t->at);
  far = mn_length(d);
  t->n = far > 0 ? mn_scale(1 / far, d) : mn_v3(0, 1, 0);
  f->c->tests++;
  return far - thickness - (t->kind == MN_TOUCH_FACET_BALL ? A->radius : 0);
}

static double speed_bound(const finder *f, const mn_touch *t, const mn_twist *twist,
                          const mn_vec3 *node_v)
{
  const mn_rigid_body *A = &f->c->rigid->body[t->a];
  double turn = A->radius > 0 ? mn_length(mn_sub(A->ball, A->center)) : A->bound;
  double w = mn_length(twist[t->a].w), v = w > 0 ? w * turn : 0;
  if (t->b >= 0) {
    const mn_rigid_body *B = &f->c->rigid->body[t->b];
    turn = B->radius > 0 ? mn_length(mn_sub(B->ball, B->center)) : B->bound;
    w = mn_length(twist[t->b].w);
    /* an unbounded partner turns the other's place past it */
    turn = isfinite(turn) ? turn : A->bound + mn_length(mn_sub(f->pose[t->a].x, f->pose[t->b].x));
    return v + (w > 0 ? w * turn : 0) + mn_length(mn_sub(twist[t->a].v, twist[t->b].v));
  }
  double most = 0;
  for (int k = 0; k < t->nodes; k++)
    most = mn_max(most, mn_length(mn_sub(twist[t->a].v, node_v[t->node[k]])));
  return v + most;
}

/* Whether the two come together within dt on these paths. */
static int meets(finder *f, const mn_touch *t, double gap, const mn_twist *twist,
                 const mn_vec3 *node_v)
{
  double near = MN_TOUCHING * t->size, s = 0, bound = speed_bound(f, t, twist, node_v);
  mn_touch probe = *t;
  if (gap <= MN_NEIGHBOUR * t->size && bound * f->dt <= t->size / 4)
    return 1; /* others may push it there, and the linear gap is good for such steps */
  for (int k = 0; k < 32; k++) {
    if (gap <= near)
      return 1;
    if (gap > bound * (f->dt - s))
      return 0;
    s += mn_max(gap, near) / bound;
    gap = measure(f, &probe, twist, node_v, mn_min(s, f->dt));
  }
  return 1; /* undecided: keep it, the solver will see */
}

/* A facet that is not before a contact point but beside it, on the same surface, or in the body:
   the point is no obstacle, and the body's distance from the place on the facet tells what counts.
 */
static void look_beside(finder *f, mn_touch *t)
{
  mn_vec3 n;
  double far = t->gap + f->c->def.thickness;
  double d = body_distance(f, t->a, &f->pose[t->a], t->at, coming(f, t), &n);
  if (d >= 0.5 * far && far > 0)
    return;
  t->gap = d - f->c->def.thickness;
  t->n = mn_scale(-1, n);
}

mn_status mn_contact_append(mn_context *ctx, mn_touches *o, const mn_touch *t)
{
  if (o->count == o->capacity) {
    size_t more = 2 * o->capacity + 64;
    MN_TRY(mn_grow(ctx, "contacts", o->count, more, sizeof *o->at, (void **)&o->at));
    o->capacity = more;
  }
  o->at[o->count++] = *t;
  return MN_OK;
}

static mn_vec3 velocity_at(const finder *f, const mn_touch *t, const mn_twist *twist)
{
  mn_vec3 ra = mn_sub(t->at, f->pose[t->a].x), rb = mn_sub(t->at, f->pose[t->b].x);
  mn_vec3 va = mn_add(twist[t->a].v, mn_cross(twist[t->a].w, ra));
  return mn_sub(va, mn_add(twist[t->b].v, mn_cross(twist[t->b].w, rb)));
}

/* A point before a corner or an edge of b, or on it but for rounding, which went along a face of it
   when the substep began: of the planes that hold b there and leave the point outside, that of this
   face may be crossed less than the one across the way to the corner. So a corner that passes a
   hair's breadth beneath another one is not met by it. (Where the two planes differ by more,
   mn_contact_passed tells.) */
static mn_touch along_face(finder *f, const mn_touch *t)
{
  static const double FLAT = 1e-4;  /* of r: the face is a plane */
  static const double SAME = 1e-9;  /* cosine, less than 1: the same normal */
  static const double ALONG = 0.05; /* sine */
  static const double REST = 1e-9;  /* of the size; of 1 m/s where dt is 0 */
  double r = MN_SLIVER * f->c->def.slop * t->size, off = mn_max(0, -t->gap);
  mn_touch face = *t;
  if (t->kind != MN_TOUCH_POINT || off > MN_FLUSH * r)
    return face;
  double gap = f->dt > 0 ? mn_max(0, t->gap) : 0, dt = f->dt > 0 ? f->dt : 1;
  mn_vec3 u = velocity_at(f, t, f->free), v = velocity_at(f, t, f->c->start), m;
  mn_vec3 way = mn_madd(v, -mn_dot(t->n, v), t->n);
  double left = gap + dt * mn_dot(t->n, u), far = mn_length(way);
  if (left >= 0 || gap + dt * mn_dot(t->n, v) >= -REST * t->size || !(far > 0))
    return face;
  way = mn_scale(r / far, way);
  mn_vec3 foot = mn_madd(t->at, -0.5 * t->gap, t->n), x = mn_add(foot, way);
  double d = body_distance(f, t->b, &f->pose[t->b], x, mn_v3(0, 0, 0), &m), side = mn_dot(m, t->n);
  if (fabs(d - mn_dot(m, way)) > FLAT * r + 2 * off || side <= MN_SAME_FACE || side > 1 - SAME ||
      mn_dot(m, v) < -ALONG * mn_length(v) || side * gap + dt * mn_dot(m, u) <= left)
    return face;
  face.at = mn_madd(mn_madd(t->at, 0.5 * t->gap, t->n), -0.5 * side * t->gap, m);
  face.n = m;
  face.gap = side * t->gap;
  return face;
}

static mn_status consider(finder *f, mn_touch *t)
{
  t->gap = measure(f, t, f->twist, f->nodes->v, 0);
  if (t->gap > MN_TOUCHING * t->size) {
    if (f->dt == 0 || !f->c->def.sweep)
      return MN_OK;
    if (!meets(f, t, t->gap, f->twist, f->nodes->v) &&
        (f->free == f->twist || !meets(f, t, t->gap, f->free, f->node_free)))
      return MN_OK;
  }
  if (t->kind == MN_TOUCH_FACET_POINT)
    look_beside(f, t);
  mn_touch touch = along_face(f, t);
  return mn_contact_append(f->c->ctx, f->out, &touch);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static void pair_numbers(const finder *f, mn_touch *t)
{
  const mn_rigid_body *A = &f->c->rigid->body[t->a];
  double fb = t->nodes ? f->nodes->friction[t->node[0]] : 0, rb = 0, size = A->bound;
  if (t->b >= 0) {
    const mn_rigid_body *B = &f->c->rigid->body[t->b];
    fb = B->def.friction, rb = B->def.restitution;
    size = mn_min(size, B->bound);
  }
  t->friction = sqrt(A->def.friction * fb);
  t->restitution = mn_max(A->def.restitution, rb);
  t->size = isfinite(size) ? size : 1;
}

static int by_gap(const void *a, const void *b)
{
  const mn_near *p = a, *q = b;
  return p->gap != q->gap ? (p->gap < q->gap ? -1 : 1) : p->point < q->point ? -1 : 1;
}

/* From samples that are near, the deepest first and none close to one already taken: the deepest
   places between them. */
static mn_status search_between(finder *f, mn_touch *t, uint32_t near)
{
  const mn_contact *c = f->c;
  const mn_rigid_body *A = &c->rigid->body[t->a], *B = &c->rigid->body[t->b];
  double apart = 1.5 * A->spacing, step = mn_min(2 * A->spacing, 0.5 * B->bound);
  qsort(c->near, near, sizeof *c->near, by_gap);
  for (uint32_t k = 0, taken = 0; k < near; k++) {
    mn_vec3 x = A->point[c->near[k].point];
    int close = 0;
    for (uint32_t j = 0; j < taken && !close; j++)
      close = mn_length(mn_sub(x, A->point[c->near[j].point])) < apart;
    if (close)
      continue;
    uint32_t i = c->near[k].point;
    mn_near swap = c->near[k];
    c->near[k] = c->near[taken], c->near[taken++] = swap;
    t->spot = x, t->face = A->normal[i];
    double d =
        mn_contact_deepest(A, &f->pose[t->a], B, &f->pose[t->b], step, &t->spot, &f->c->tests);
    for (uint32_t j = 0; j < near && !close; j++) /* a sample nearby is as deep */
      close = c->near[j].gap <= d + 1e-6 * A->bound &&
              mn_length(mn_sub(t->spot, A->point[c->near[j].point])) < apart;
    if (close)
      continue;
    t->face = mn_contact_normal(A->def.shape, t->spot, A->bound, mn_v3(0, 0, 0), &d);
    t->feature = (uint32_t)A->points + i;
    t->key = (mn_touch_key){t->a, t->b, (int64_t)A->points + (int64_t)i};
    MN_TRY(consider(f, t));
  }
  return MN_OK;
}

static mn_status points_of(finder *f, int a, int b)
{
  const mn_rigid_body *A = &f->c->rigid->body[a], *B = &f->c->rigid->body[b];
  mn_vec3 lo, hi;
  mn_touch t = {.kind = MN_TOUCH_POINT, .a = a, .b = b};
  pair_numbers(f, &t);
  lo = f->c->lo[b], hi = f->c->hi[b];
  uint32_t near = 0;
  int sharp = mn_contact_sharp(f->c, a, b);
  size_t points = sharp ? A->sharp.corners : A->points;
  const mn_vec3 *point = sharp ? A->sharp.corner : A->point;
  const mn_vec3 *normal = sharp ? A->sharp.normal : A->normal;
  int search = !sharp && f->c->def.search && mn_contact_needs_search(A->def.shape, B->def.shape);
  double reach = f->dt * (mn_length(f->twist[a].v) + mn_length(f->free[a].v) +
                          A->bound * (mn_length(f->twist[a].w) + mn_length(f->free[a].w)));
  double far = reach + (search ? A->spacing : 0);
  for (size_t i = 0; i < points; i++) {
    mn_vec3 x = mn_rigid_point(A, &f->pose[a], point[i]);
    int outside = 0;
    if (isfinite(B->bound))
      for (int k = 0; k < f->c->rigid->dim; k++)
        outside |= x.v[k] < lo.v[k] - far || x.v[k] > hi.v[k] + far;
    if (outside)
      continue;
    t.feature = (uint32_t)i;
    t.key = (mn_touch_key){a, b, (int64_t)i};
    t.spot = point[i], t.face = normal[i];
    MN_TRY(consider(f, &t));
    if (search && t.gap < far)
      f->c->near[near++] = (mn_near){t.gap, (uint32_t)i};
  }
  return near ? search_between(f, &t, near) : MN_OK;
}

static mn_status ball_and_shape(finder *f, int a, int b)
{
  mn_touch t = {.kind = MN_TOUCH_BALL, .a = a, .b = b, .key = {a, b, 0}};
  pair_numbers(f, &t);
  size_t first = f->out->count;
  MN_TRY(consider(f, &t));
  if (!mn_contact_concave(f->c->rigid->body[b].def.shape))
    return MN_OK;
  for (int k = 1; k <= 2 * f->c->rigid->dim; k++) {
    t.feature = (uint32_t)k, t.key.feature = k;
    size_t before = f->out->count;
    MN_TRY(consider(f, &t));
    for (size_t i = first; i < before && f->out->count > before; i++)
      if (mn_dot(f->out->at[i].n, f->out->at[before].n) > 0.9) /* the same contact again */
        f->out->count = before;
  }
  return MN_OK;
}

static mn_status pair(finder *f, int a, int b)
{
  const mn_rigid_body *A = &f->c->rigid->body[a], *B = &f->c->rigid->body[b];
  if (!A->moves && !B->moves)
    return MN_OK;
  if (A->radius > 0 && B->radius > 0) {
    mn_touch t = {.kind = MN_TOUCH_BALLS, .a = a, .b = b, .key = {a, b, 0}};
    pair_numbers(f, &t);
    return consider(f, &t);
  }
  if (A->radius > 0)
    return ball_and_shape(f, a, b);
  if (B->radius > 0)
    return ball_and_shape(f, b, a);
  MN_TRY(points_of(f, a, b));
  MN_TRY(points_of(f, b, a));
  if (!mn_contact_sharp(f->c, a, b) || f->c->rigid->dim == 2)
    return MN_OK;
  mn_touch t = {.a = a, .b = b, .key = {a, b, 0}};
  pair_numbers(f, &t);
  return mn_contact_find_edges(f->c, f->pose, f->free, f->twist, f->dt, &t, f->out);
}

static mn_status node_against(finder *f, uint32_t i, int a)
{
  mn_touch t = {.kind = MN_TOUCH_NODE, .a = a, .b = -1, .nodes = 1, .node = {i}, .weight = {1}};
  t.key = (mn_touch_key){a, f->c->rigid->count + (int64_t)i, 0};
  pair_numbers(f, &t);
  return consider(f, &t);
}

static mn_status facet_against(finder *f, size_t i, int a, mn_vec3 lo, mn_vec3 hi)
{
  const mn_facet *facet = &f->nodes->facet[i];
  const mn_rigid_body *A = &f->c->rigid->body[a];
  mn_touch t = {.kind = MN_TOUCH_FACET_BALL, .a = a, .b = -1, .nodes = facet->corners};
  for (int k = 0; k < t.nodes; k++)
    t.node[k] = facet->node[k];
  t.key = (mn_touch_key){a, f->c->rigid->count + (int64_t)(f->nodes->count + i), 0};
  pair_numbers(f, &t);
  if (A->radius > 0)
    return consider(f, &t);
  t.kind = MN_TOUCH_FACET_POINT;
  double reach = f->dt * (mn_length(f->twist[a].v) + A->bound * mn_length(f->twist[a].w)) +
                 f->c->def.thickness;
  for (size_t k = 0; k < A->points; k++) {
    mn_vec3 x = mn_rigid_point(A, &f->pose[a], A->point[k]);
    int outside = 0;
    for (int c = 0; c < 3; c++)
      outside |= x.v[c] < lo.v[c] - reach || x.v[c] > hi.v[c] + reach;
    if (outside)
      continue;
    t.feature = (uint32_t)k, t.key.feature = (int64_t)k;
    MN_TRY(consider(f, &t));
  }
  return MN_OK;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void widen(mn_vec3 *lo, mn_vec3 *hi, mn_vec3 v, double dt)
{
  for (int a = 0; a < 3; a++) {
    lo->v[a] += mn_min(0, dt * v.v[a]);
    hi->v[a] += mn_max(0, dt * v.v[a]);
  }
}

static void swept_box(const finder *f, int i)
{
  mn_contact *c = f->c;
  const mn_rigid_body *b = &c->rigid->body[i];
  if (!b->def.collides) { /* meets nothing */
    c->lo[i] = mn_v3(HUGE_VAL, HUGE_VAL, HUGE_VAL);
    c->hi[i] = mn_v3(-HUGE_VAL, -HUGE_VAL, -HUGE_VAL);
    return;
  }
  double extra = 0, w = mn_max(mn_length(f->twist[i].w), mn_length(f->free[i].w));
  if (isfinite(b->bound))
    extra = MN_TOUCHING * b->bound + (b->radius > 0 ? 0 : f->dt * w * b->bound);
  mn_mat3 R = mn_quat_matrix(f->pose[i].q);
  mn_vec3 m = mn_add(f->pose[i].x, mn_mat3_apply(R, c->middle[i]));
  for (int a = 0; a < 3; a++) {
    double h = extra;
    for (int k = 0; k < c->rigid->dim; k++)
      if (R.m[a][k] != 0) /* an unbounded half size times 0 */
        h += fabs(R.m[a][k]) * c->half[i].v[k];
    c->lo[i].v[a] = isfinite(h) ? m.v[a] - h : -HUGE_VAL;
    c->hi[i].v[a] = isfinite(h) ? m.v[a] + h : HUGE_VAL;
  }
  mn_vec3 lo = c->lo[i], hi = c->hi[i];
  widen(&c->lo[i], &c->hi[i], f->twist[i].v, f->dt);
  widen(&lo, &hi, f->free[i].v, f->dt);
  for (int a = 0; a < 3; a++) {
    c->lo[i].v[a] = mn_min(c->lo[i].v[a], lo.v[a]);
    c->hi[i].v[a] = mn_max(c->hi[i].v[a], hi.v[a]);
  }
}

static int by_key(const void *a, const void *b)
{
  const mn_touch_key *p = &((const mn_touch *)a)->key, *q = &((const mn_touch *)b)->key;
  if (p->a != q->a)
    return p->a < q->a ? -1 : 1;
  if (p->b != q->b)
    return p->b < q->b ? -1 : 1;
  return p->feature < q->feature ? -1 : p->feature > q->feature;
}

static mn_status find_nodes(finder *f)
{
  mn_contact *c = f->c;
  const mn_contact_nodes *n = f->nodes;
  if (n->within)
    memcpy(c->node_used, n->within, n->count);
  else
    memset(c->node_used, 0, n->count);
  for (size_t i = 0; i < n->facets; i++) {
    mn_vec3 lo = mn_v3(HUGE_VAL, HUGE_VAL, HUGE_VAL), hi = mn_scale(-1, lo);
    for (int k = 0; k < n->facet[i].corners; k++) {
      uint32_t j = n->facet[i].node[k];
      c->node_used[j] = 1;
      mn_vec3 a = n->x[j], b = a;
      widen(&a, &b, n->v[j], f->dt);
      widen(&a, &b, f->node_free[j], f->dt);
      for (int q = 0; q < 3; q++) {
        lo.v[q] = mn_min(lo.v[q], a.v[q] - c->def.thickness);
        hi.v[q] = mn_max(hi.v[q], b.v[q] + c->def.thickness);
      }
    }
    uint32_t found = mn_boxgrid_query(&c->grid, lo, hi, c->found);
    for (uint32_t k = 0; k < found; k++)
      MN_TRY(facet_against(f, i, (int)c->found[k], lo, hi));
  }
  for (uint32_t i = 0; i < n->count; i++) {
    if (!c->node_used[i])
      continue;
    mn_vec3 lo = n->x[i], hi = lo;
    widen(&lo, &hi, n->v[i], f->dt);
    widen(&lo, &hi, f->node_free[i], f->dt);
    for (int q = 0; q < 3; q++)
      lo.v[q] -= c->def.thickness, hi.v[q] += c->def.thickness;
    uint32_t found = mn_boxgrid_query(&c->grid, lo, hi, c->found);
    for (uint32_t k = 0; k < found; k++)
      MN_TRY(node_against(f, i, (int)c->found[k]));
  }
  return MN_OK;
}

/* ---- what is passed by -----------------------------------------------------------------------
 */

/* Touches of bodies that pass each other but for a sliver (mn_contact_passed). All touches must be
   known: they tell what a body is led along. */
static void leave_out_passed(finder *f)
{
  mn_touches *o = f->out;
  size_t kept = 0;
  for (size_t i = 0; i < o->count; i++) {
    mn_touch *t = &o->at[i];
    t->passed = t->b >= 0 && mn_contact_passed(f->c, f->pose, o, t, f->dt);
  }
  for (size_t i = 0; i < o->count; i++)
    if (!o->at[i].passed)
      o->at[kept++] = o->at[i];
  o->count = kept;
}

/* ---- fewer of them ----------------------------------------------------------------------------
 */

/* Farther from the chosen ones by the measure of `stage`: a point, a line, a triangle's far side.
 */
static double spread(const mn_touch *t, const mn_touch *chosen[4], int stage)
{
  mn_vec3 a = mn_sub(t->at, chosen[0]->at);
  if (stage == 1)
    return mn_dot(a, a);
  mn_vec3 line = mn_sub(chosen[1]->at, chosen[0]->at), side = mn_cross(line, a);
  if (stage == 2)
    return mn_dot(side, side);
  mn_vec3 other = mn_cross(line, mn_sub(chosen[2]->at, chosen[0]->at));
  return -mn_dot(side, other); /* on the other side of the line */
}

/* Of the points of one body on one side of another, all of which lie near a plane, those that span
   the most carry the same load: the deepest, and up to dim - 1 (2D) or 3 others, first among those
   as deep. Fewer touches that repeat each other make the sweeps converge. */
static size_t thin(mn_touch *first, size_t count, int dim)
{
  static const double SAME = 0.95;  /* cosine between normals of one side */
  static const double LEVEL = 1e-3; /* of the size: as near as the nearest */
  const mn_touch *chosen[4];
  int most = dim == 2 ? 2 : 4;
  size_t kept = 0;
  for (size_t i = 0; i < count;
       i++) { /* marks: nodes = 1 kept, 2 done, in the field of node touches */
    if (first[i].nodes)
      continue;
    mn_vec3 n = first[i].n;
    chosen[0] = &first[i];
    for (size_t j = i; j < count; j++)
      if (!first[j].nodes && mn_dot(first[j].n, n) > SAME && first[j].gap < chosen[0]->gap)
        chosen[0] = &first[j];
    double level = chosen[0]->gap + LEVEL * first[i].size;
    int k = 1;
    for (; k < most; k++) {
      const mn_touch *best = NULL;
      double far = 1e-12 * first[i].size * first[i].size;
      for (size_t j = i; j < count; j++)
        if (!first[j].nodes && mn_dot(first[j].n, n) > SAME && first[j].gap <= level) {
          double d = spread(&first[j], chosen, k);
          if (d > far)
            best = &first[j], far = d;
        }
      if (!best && level == HUGE_VAL)
        break;
      if (best)
        chosen[k] = best;
      else
        level = HUGE_VAL, k--; /* then also those farther off */
    }
    for (size_t j = i; j < count; j++)
      if (!first[j].nodes && mn_dot(first[j].n, n) > SAME) {
        int keep = 0;
        for (int q = 0; q < k; q++)
          keep |= chosen[q] == &first[j];
        first[j].nodes = keep ? 1 : 2;
      }
  }
  for (size_t i = 0; i < count; i++) {
    int keep = first[i].nodes == 1;
    first[i].nodes = 0;
    if (keep)
      first[kept++] = first[i];
  }
  return kept;
}

static void thin_all(mn_touches *touches, int dim)
{
  size_t kept = 0;
  for (size_t i = 0, j; i < touches->count; i = j) {
    mn_touch *t = &touches->at[i];
    for (j = i + 1; j < touches->count && touches->at[j].a == t->a && touches->at[j].b == t->b; j++)
      ;
    size_t count = j - i;
    if (t->kind == MN_TOUCH_POINT || t->kind == MN_TOUCH_EDGE)
      count = thin(t, count, dim);
    memmove(&touches->at[kept], t, count * sizeof *t);
    kept += count;
  }
  touches->count = kept;
}

static mn_status start(finder *f)
{
  mn_contact *c = f->c;
  f->out->count = 0;
  for (int i = 0; i < c->rigid->count; i++)
    swept_box(f, i);
  return mn_boxgrid_build(&c->grid, c->ctx, c->lo, c->hi, (uint32_t)c->rigid->count);
}

double mn_contact_gap(mn_contact *c, const mn_rigid_state *pose, mn_touch *touch)
{
  finder f = {.c = c, .pose = pose};
  return measure(&f, touch, c->free, NULL, 0);
}

void mn_contact_sort(mn_touches *touches)
{
  if (touches->count)
    qsort(touches->at, touches->count, sizeof *touches->at, by_key);
}

mn_status mn_contact_find_nodes(mn_contact *c, const mn_rigid_state *pose, const mn_twist *free,
                                const mn_twist *twist, const mn_contact_nodes *nodes,
                                const mn_vec3 *node_free, double dt, mn_touches *touches)
{
  finder f = {c, pose, free, twist, nodes, node_free, dt, touches};
  MN_TRY(start(&f));
  MN_TRY(find_nodes(&f));
  mn_contact_sort(touches);
  return MN_OK;
}

mn_status mn_contact_find(mn_contact *c, const mn_rigid_state *pose, const mn_twist *free,
                          const mn_twist *twist, const mn_contact_nodes *nodes,
                          const mn_vec3 *node_free, double dt, mn_touches *touches)
{
  finder f = {c, pose, free, twist, nodes, node_free, dt, touches};
  int n = c->rigid->count;
  MN_TRY(start(&f));
  for (int i = 0; i < n; i++) {
    const mn_rigid_body *b = &c->rigid->body[i];
    if (!b->def.collides || !b->moves) /* each pair has one that moves and asks */
      continue;
    uint32_t found = mn_boxgrid_query(&c->grid, c->lo[i], c->hi[i], c->found);
    for (uint32_t k = 0; k < found; k++) {
      int j = (int)c->found[k];
      if (j != i && (j > i || !c->rigid->body[j].moves))
        MN_TRY(pair(&f, i, j));
    }
  }
  if (nodes->count)
    MN_TRY(find_nodes(&f));
  leave_out_passed(&f);
  c->tests += c->grid.tests;
  mn_contact_sort(touches);
  thin_all(touches, c->rigid->dim);
  return MN_OK;
}
