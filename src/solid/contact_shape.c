/* Shapes as contact sees them: outward normals, and the point of one surface that lies deepest in
   another body.

   Sampled points miss the deepest place of a curved or composed surface: between points h apart on
   a curvature 1/R by up to h^2/8R. From a sample x on the surface of a, with d_b and n_b distance
   and normal of b, the place is sought by

       x <- P_a(x - (d_b(x) + c) n_b(x)),        P_a: back to the surface of a, along its normals

   the nearest point of a to the level d_b = -c: alternating projections, whose fixed points are
   the local minima of d_b on the surface of a, on faces, edges and corners alike. On a sphere
   against a plane the distance from the minimum shrinks by R/(R + c) a step; every third step is
   extrapolated (Aitken). Steps that do not lower d_b are halved.
   Limits: d of intersections and differences is a bound away from their surfaces; near them, where
   points of contact are, it is exact. Verified by tests/unit/solid/test_contact_shapes.c. */
#include "solid/contact_internal.h"

/* Outward normal near the surface. Near an edge of a box the face that `hint`, the normal of the
   partner, is most opposed to; *d becomes the distance from that face. Of a mesh the same, but that
   at concave edges the face in which x is deepest counts. */
static mn_vec3 box_normal(const mn_shape *s, mn_vec3 x, mn_vec3 hint, double *d)
{
  mn_vec3 n = {0};
  double most = -HUGE_VAL, least = HUGE_VAL, best = -HUGE_VAL;
  for (int a = 0; a < s->dim; a++) {
    most = mn_max(most, fabs(x.v[a] - s->a.v[a]) - s->b.v[a]);
    least = mn_min(least, s->b.v[a]);
  }
  double edge = 1e-2 * least;
  if (most > edge) { /* outside: from the nearest point */
    for (int a = 0; a < s->dim; a++) {
      double r = x.v[a] - s->a.v[a];
      n.v[a] = r - mn_clamp(r, -s->b.v[a], s->b.v[a]);
    }
    return mn_scale(1 / mn_length(n), n);
  }
  int axis = 0;
  for (int a = 0; a < s->dim; a++) {
    double r = x.v[a] - s->a.v[a], q = fabs(r) - s->b.v[a];
    double score = q < most - edge ? -HUGE_VAL : q / least - 100 * hint.v[a] * (r < 0 ? -1 : 1);
    if (score > best)
      best = score, axis = a;
  }
  double r = x.v[axis] - s->a.v[axis];
  n.v[axis] = r < 0 ? -1 : 1;
  *d = fabs(r) - s->b.v[axis];
  return n;
}

mn_vec3 mn_contact_normal(const mn_shape *s, mn_vec3 x, double size, mn_vec3 hint, double *d)
{
  mn_vec3 n = {0};
  if (s->kind == MN_SHAPE_BOX)
    return box_normal(s, x, hint, d);
  if (s->kind == MN_SHAPE_HALF_SPACE)
    return s->b;
  if (s->kind == MN_SHAPE_TRANSFORM) {
    mn_vec3 y = mn_sub(x, s->a), h = hint, z;
    y = mn_madd(mn_madd(mn_scale(y.x, s->row[0]), y.y, s->row[1]), y.z, s->row[2]);
    h = mn_madd(mn_madd(mn_scale(h.x, s->row[0]), h.y, s->row[1]), h.z, s->row[2]);
    *d /= s->r;
    z = mn_contact_normal(s->part[0], mn_scale(1 / s->r, y), size / s->r, h, d);
    *d *= s->r;
    return mn_v3(mn_dot(s->row[0], z), mn_dot(s->row[1], z), mn_dot(s->row[2], z));
  }
  double eps = 1e-6 * size, edge = 1e-3 * size;
  if (s->kind == MN_SHAPE_MESH && *d <= edge && mn_dot(hint, hint) > 0 &&
      mn_mesh_face(s->mesh, x, fabs(*d) + edge, *d + eps, hint, &n, d))
    return n;
  for (int a = 0; a < s->dim; a++) {
    mn_vec3 lo = x, hi = x;
    lo.v[a] -= eps, hi.v[a] += eps;
    n.v[a] = mn_shape_distance(s, hi) - mn_shape_distance(s, lo);
  }
  double length = mn_length(n);
  return length > 0 ? mn_scale(1 / length, n) : mn_v3(0, 1, 0);
}

static mn_shape_kind kind_within(const mn_shape *s)
{
  while (s->kind == MN_SHAPE_TRANSFORM)
    s = s->part[0];
  return s->kind;
}

int mn_contact_concave(const mn_shape *s)
{
  while (s->kind == MN_SHAPE_TRANSFORM)
    s = s->part[0];
  mn_shape_kind kind = s->kind;
  return (kind == MN_SHAPE_CYLINDER && s->r > 0) || kind == MN_SHAPE_MESH ||
         kind == MN_SHAPE_TORUS || kind == MN_SHAPE_UNION || kind == MN_SHAPE_DIFFERENCE;
}

/* Corners are the first of a box to meet a plane. Meshes have points on corners, edges and faces,
   and normals that are too vague at their edges for a search. */
int mn_contact_needs_search(const mn_shape *a, const mn_shape *b)
{
  mn_shape_kind kind = kind_within(a);
  return kind != MN_SHAPE_MESH && !(kind == MN_SHAPE_BOX && kind_within(b) == MN_SHAPE_HALF_SPACE);
}

int mn_contact_bound_only(const mn_shape *s)
{
  if (s->kind == MN_SHAPE_INTERSECTION || s->kind == MN_SHAPE_DIFFERENCE)
    return 1;
  for (int i = 0; i < s->count; i++)
    if (mn_contact_bound_only(s->part[i]))
      return 1;
  return 0;
}

/* ---- passing by ------------------------------------------------------------------------------ */

/* Round ones have no faces that end. */
static int has_corners(const mn_shape *s)
{
  mn_shape_kind kind = kind_within(s);
  return kind != MN_SHAPE_SPHERE && kind != MN_SHAPE_HALF_SPACE && kind != MN_SHAPE_CAPSULE &&
         kind != MN_SHAPE_TORUS;
}

static double distance_at(mn_contact *c, const mn_rigid_state *pose, int i, mn_vec3 x, mn_vec3 *n)
{
  const mn_rigid_body *b = &c->rigid->body[i];
  mn_vec3 y = mn_rigid_start(b, &pose[i], x);
  double d = mn_shape_distance(b->def.shape, y), same = d;
  c->tests++;
  if (n) {
    double size = isfinite(b->bound) ? b->bound : 1;
    mn_vec3 m = mn_contact_normal(b->def.shape, y, size, mn_v3(0, 0, 0), &same);
    *n = mn_quat_rotate(pose[i].q, m);
  }
  return d;
}

/* Whether a's surface, where it touches, goes up along the face of b with normal m, but for a
   sliver r, and not in over b. A ball does so where its joint leads it along that face. */
static int goes_up(mn_contact *c, const mn_rigid_state *pose, const mn_touch *t, mn_vec3 m,
                   double r)
{
  static const double IN = 2, UP = 1.8; /* slivers: from where to look at a, how far it must be */
  mn_vec3 spot = mn_madd(t->at, 0.5 * t->gap, t->n);
  if (t->kind != MN_TOUCH_BALL)
    return fabs(mn_dot(m, t->n)) <= MN_SAME_FACE &&
           distance_at(c, pose, t->a, mn_madd(spot, -IN * r, m), NULL) >= UP * r;
  const mn_rigid_body *A = &c->rigid->body[t->a], *B = &c->rigid->body[t->b];
  if ((A->moves && !mn_contact_slides_along(c, t->a, t->at, m)) ||
      (B->moves && !mn_contact_slides_along(c, t->b, t->at, m)))
    return 0;
  return mn_dot(m, mn_madd(mn_scale(t->gap, t->n), A->radius, t->n)) >= A->radius - r;
}

static int is_free(const mn_contact *c, int i)
{
  const mn_rigid_body *b = &c->rigid->body[i];
  return b->moves && b->def.joint == MN_JOINT_NONE;
}

/* Where b's surface turns away beside the foot of the touch, within r, is another face of it:
   looked at from outside, beside the foot and below. (Across concave edges that place is inside b.)
   If a goes up along it, and does not move in with the velocities of the substep's start, the two
   pass each other. `all`: only along a face that the two are led along. */
static int grazes(mn_contact *c, const mn_rigid_state *pose, const mn_touches *all,
                  const mn_touch *t, double dt, double r)
{
  static const double BELOW = 0.5, OUTSIDE = 0.1;
  int sides = c->rigid->dim == 2 ? 2 : 8, ball = t->kind == MN_TOUCH_BALL;
  double below = ball ? 0 : BELOW * r;
  mn_vec3 foot = mn_madd(t->at, -0.5 * t->gap, t->n), m, side[2];
  mn_vec3 v = mn_sub(c->start[t->a].v, c->start[t->b].v);
  mn_vec3 e = fabs(t->n.x) < 0.6 ? mn_v3(1, 0, 0) : mn_v3(0, 1, 0);
  side[0] = c->rigid->dim == 2 ? mn_v3(-t->n.y, t->n.x, 0) : mn_cross(t->n, e);
  side[0] = mn_scale(1 / mn_length(side[0]), side[0]);
  side[1] = mn_cross(t->n, side[0]);
  for (int k = 0; k < sides; k++) {
    double turn = 2 * MN_PI * k / sides;
    mn_vec3 way = mn_madd(mn_scale(cos(turn), side[0]), sides > 2 ? sin(turn) : 0, side[1]);
    mn_vec3 x = mn_madd(mn_madd(foot, r, way), -below, t->n);
    if (distance_at(c, pose, t->b, x, &m) > (ball ? 0 : OUTSIDE * r) && dt * mn_dot(m, v) >= -r &&
        goes_up(c, pose, t, m, r) && (!all || mn_contact_led(c, all, t, t->a, t->b, m)))
      return 1;
  }
  return 0;
}

/* mn_contact_sliver where one of the two is no polyhedron. Not two free bodies: what a corner of
   one does not hold of the other turns both, as where faces of one height meet. */
static int passes_round(mn_contact *c, const mn_rigid_state *pose, const mn_touches *all,
                        const mn_touch *t, double dt)
{
  double r = MN_SLIVER * c->def.slop * t->size;
  int free_one = is_free(c, t->a) || is_free(c, t->b);
  if (c->across || !c->def.search || (is_free(c, t->a) && is_free(c, t->b)) ||
      !has_corners(c->rigid->body[t->b].def.shape) ||
      (t->kind == MN_TOUCH_BALL && c->rigid->body[t->a].def.joint == MN_JOINT_NONE))
    return 0;
  return grazes(c, pose, all, t, dt, r) || (free_one && grazes(c, pose, NULL, t, dt, MN_FLUSH * r));
}

/* A free body that one of these presses along m, or has nearly reached it; others go where their
   joint or motion leads them. */
static int held_along(const mn_contact *c, const mn_touches *all, const mn_touch *t, int i,
                      mn_vec3 m)
{
  if (!is_free(c, i))
    return 1;
  for (size_t k = 0; k < all->count; k++) {
    const mn_touch *q = &all->at[k];
    double side = q->a == i ? mn_dot(q->n, m) : q->b == i ? -mn_dot(q->n, m) : 0;
    if (side > MN_SAME_FACE && q->gap <= MN_SLIVER * c->def.slop * t->size)
      return 1;
  }
  return 0;
}

int mn_contact_led(const mn_contact *c, const mn_touches *all, const mn_touch *t, int i, int j,
                   mn_vec3 m)
{
  return held_along(c, all, t, i, m) && held_along(c, all, t, j, mn_scale(-1, m));
}

int mn_contact_sharp(const mn_contact *c, int a, int b)
{
  const mn_rigid_body *body = c->rigid->body;
  if (c->across && c->rigid->dim == 2)
    return 0;
  return c->def.search && body[a].sharp.corners && body[b].sharp.corners;
}

int mn_contact_passed(mn_contact *c, const mn_rigid_state *pose, const mn_touches *all,
                      const mn_touch *t, double dt)
{
  if (t->kind == MN_TOUCH_EDGE || (t->kind == MN_TOUCH_POINT && mn_contact_sharp(c, t->a, t->b)))
    return mn_contact_sliver(c, pose, all, t, dt);
  return (t->kind == MN_TOUCH_POINT || t->kind == MN_TOUCH_BALL) &&
         passes_round(c, pose, all, t, dt);
}

/* ---- search ---------------------------------------------------------------------------------- */

/* Onto the surface, along normals: exact for faces, and onto an edge by turns of its two faces. */
static int project(const mn_shape *s, double size, mn_vec3 *x, size_t *tests)
{
  enum { STEPS = 12 };
  for (int k = 0; k < STEPS; k++) {
    double d = mn_shape_distance(s, *x), same = d;
    ++*tests;
    if (fabs(d) <= 1e-7 * size)
      return 1;
    mn_vec3 n = mn_contact_normal(s, *x, size, mn_v3(0, 0, 0), &same);
    *x = mn_madd(*x, -d, n);
  }
  return 0;
}

double mn_contact_nearest(const mn_shape *s, double size, mn_vec3 x, mn_vec3 *foot, size_t *tests)
{
  enum { STEPS = 8 };
  mn_vec3 y = x;
  if (!project(s, size, &y, tests))
    return HUGE_VAL;
  double best = mn_length(mn_sub(x, y));
  *foot = y;
  for (int k = 0; k < STEPS; k++) { /* nearer along the surface */
    double d = 0;
    mn_vec3 n = mn_contact_normal(s, y, size, mn_v3(0, 0, 0), &d), way = mn_sub(x, y);
    y = mn_add(y, mn_madd(way, -mn_dot(n, way), n));
    if (!project(s, size, &y, tests) || mn_length(mn_sub(x, y)) >= best - 1e-9 * size)
      break;
    best = mn_length(mn_sub(x, y));
    *foot = y;
  }
  return best;
}

/* Distance and normal of b at a point x of a, all as they are at a's start. */
typedef struct view {
  const mn_rigid_body *a, *b;
  const mn_rigid_state *pa, *pb;
  size_t *tests;
} view;

static double other_distance(const view *v, mn_vec3 x, mn_vec3 *n)
{
  mn_vec3 y = mn_rigid_start(v->b, v->pb, mn_rigid_point(v->a, v->pa, x));
  double d = mn_shape_distance(v->b->def.shape, y), same = d;
  ++*v->tests;
  if (n) {
    double size = isfinite(v->b->bound) ? v->b->bound : 1;
    *n = mn_contact_normal(v->b->def.shape, y, size, mn_v3(0, 0, 0), &same);
    *n = mn_quat_rotate(mn_quat_conjugate(v->pa->q), mn_quat_rotate(v->pb->q, *n));
  }
  return d;
}

double mn_contact_deepest(const mn_rigid_body *a, const mn_rigid_state *pa, const mn_rigid_body *b,
                          const mn_rigid_state *pb, double step, mn_vec3 *x, size_t *tests)
{
  enum { STEPS = 12 };
  view v = {a, b, pa, pb, tests};
  mn_vec3 n, before = {0};
  double best = other_distance(&v, *x, &n), size = a->bound, c = step, last = 0;
  for (int k = 0; k < STEPS; k++) {
    mn_vec3 y = mn_madd(*x, -(mn_max(best, 0) + c), n);
    if (!project(a->def.shape, size, &y, tests))
      break;
    double d = other_distance(&v, y, NULL);
    if (d > best - 1e-9 * size) {
      if (mn_length(mn_sub(y, *x)) <= 1e-5 * size || c < 0.1 * step)
        break;
      c *= 0.5, last = 0;
      continue;
    }
    mn_vec3 way = mn_sub(y, *x);
    double length = mn_length(way), ratio = last > 0 ? length / last : 0;
    *x = y, best = d;
    if (k % 3 == 2 && ratio < 0.98 && mn_dot(way, before) > 0.9 * length * last) {
      y = mn_madd(*x, ratio / (1 - ratio), way);
      if (project(a->def.shape, size, &y, tests) && (d = other_distance(&v, y, NULL)) < best)
        *x = y, best = d;
      length = 0; /* a new sequence */
    }
    last = length, before = way;
    best = other_distance(&v, *x, &n);
  }
  return best;
}
