/* Edges of one polyhedron against edges of another.

   Two polyhedra that come together meet with a corner on a face or with an edge across an edge.
   With unit directions e_a, e_b of two edges and x_a, x_b the nearest points of their lines,

       n = +- e_a x e_b / |e_a x e_b|,     gap = n . (x_a - x_b)

   and the two touch there if x_a and x_b lie on the edges, n is one of the directions in which b's
   edge is the farthest of b, and -n is one of a's: the arcs of the Gauss map cross [Gottschalk
   1996]. Then the planes across n through x_a and x_b separate the bodies (convex ones wholly,
   others nearby), and gap is linear in a translation. Flat on flat, n is the normal of both faces:
   crossings of their edges are the corners of the area in which they touch.

   Overlapping, the crossing must lie in both bodies, and close to the end of an edge whose corner
   is in the other body the corner is what touches: a vertical edge that stands a hair's breadth in
   the floor would else catch on the rims of tiles. Moving, a pair counts if it meets on straight
   paths (conservative advancement with the distance of the edges). Limits: edges that cross at less
   than about half a degree are left to their corners. Verified by
   tests/unit/solid/test_contact_edges.c. */
#include "solid/contact_internal.h"

#include <stdlib.h>

static const double PARALLEL = 0.01; /* sine between two edges */
static const double SLANT = 0.01;    /* sine by which n may leave the arcs */

/* An edge in the world. */
struct mn_edge_view {
  mn_vec3 end[2], along, into[2];
  double length;
  mn_vec3 lo, hi; /* where it may be within the substep */
  uint32_t edge;
};

static mn_edge_view view(const mn_rigid_body *b, const mn_rigid_state *s, uint32_t i)
{
  const mn_sharp_edge *e = &b->sharp.edge[i];
  mn_edge_view v = {.edge = i};
  for (int k = 0; k < 2; k++) {
    v.end[k] = mn_rigid_point(b, s, e->end[k]);
    v.into[k] = mn_quat_rotate(s->q, e->into[k]);
  }
  v.along = mn_sub(v.end[1], v.end[0]);
  v.length = mn_length(v.along);
  v.along = mn_scale(1 / v.length, v.along);
  return v;
}

typedef struct crossing {
  double u, v; /* m, from the first ends, of the lines' nearest points */
  mn_vec3 n, xa, xb;
  double gap;
  int faces;  /* n is a direction of both */
  int inside; /* xa, xb lie on the edges */
} crossing;

/* 0: (almost) parallel. */
static int cross(const mn_edge_view *a, const mn_edge_view *b, crossing *x)
{
  mn_vec3 n = mn_cross(a->along, b->along), r = mn_sub(a->end[0], b->end[0]);
  double sine = mn_length(n), c = mn_dot(a->along, b->along);
  if (!(sine > PARALLEL))
    return 0;
  n = mn_scale(1 / sine, n);
  if (mn_dot(n, mn_add(b->into[0], b->into[1])) > 0)
    n = mn_scale(-1, n);
  double p = mn_dot(a->along, r), q = mn_dot(b->along, r);
  x->u = (c * q - p) / (sine * sine);
  x->v = (q - c * p) / (sine * sine);
  x->xa = mn_madd(a->end[0], mn_clamp(x->u, 0, a->length), a->along);
  x->xb = mn_madd(b->end[0], mn_clamp(x->v, 0, b->length), b->along);
  x->n = n;
  x->gap = mn_dot(n, mn_sub(x->xa, x->xb));
  x->inside = x->u >= 0 && x->u <= a->length && x->v >= 0 && x->v <= b->length;
  x->faces = 1;
  for (int k = 0; k < 2; k++)
    x->faces &= mn_dot(n, b->into[k]) <= SLANT && mn_dot(n, a->into[k]) >= -SLANT;
  return 1;
}

/* Distance of two segments; their nearest points [Ericson 2005, 5.1.9]. */
static double segments(const mn_edge_view *a, const mn_edge_view *b)
{
  mn_vec3 r = mn_sub(a->end[0], b->end[0]);
  double c = mn_dot(a->along, b->along), p = mn_dot(a->along, r), q = mn_dot(b->along, r);
  double sine2 = 1 - c * c, u = sine2 > 1e-12 ? mn_clamp((c * q - p) / sine2, 0, a->length) : 0;
  double v = mn_clamp(q + c * u, 0, b->length);
  u = mn_clamp(c * v - p, 0, a->length);
  return mn_length(mn_sub(mn_madd(a->end[0], u, a->along), mn_madd(b->end[0], v, b->along)));
}

double mn_contact_edge_gap(const mn_contact *c, const mn_rigid_state *a, const mn_rigid_state *b,
                           mn_touch *t)
{
  mn_edge_view ea = view(&c->rigid->body[t->a], a, t->node[0]);
  mn_edge_view eb = view(&c->rigid->body[t->b], b, t->node[1]);
  crossing x;
  if (!cross(&ea, &eb, &x))
    return segments(&ea, &eb);
  t->n = x.n;
  t->at = mn_scale(0.5, mn_add(x.xa, x.xb));
  return x.gap;
}

/* ---- which of them touch --------------------------------------------------------------------- */

typedef struct pair {
  mn_contact *c;
  const mn_rigid_body *A, *B;
  const mn_rigid_state *pose;
  const mn_twist *free, *twist;
  double dt;
  mn_touch *touch;
} pair;

static double distance(const pair *p, const mn_rigid_body *b, int i, mn_vec3 x)
{
  p->c->tests++;
  return mn_shape_distance(b->def.shape, mn_rigid_start(b, &p->pose[i], x));
}

/* A corner at the end of the edge, near the crossing at u, is what touches. */
static int corner_touches(const pair *p, const mn_edge_view *e, const int goes_on[2], double u,
                          double gap, const mn_rigid_body *other, int other_index)
{
  double size = p->touch->size, near = mn_max(-gap, MN_SLIVER * p->c->def.slop * size);
  for (int k = 0; k < 2; k++) {
    double far = k ? e->length - u : u;
    if (goes_on[k] || far >= near)
      continue;
    if (gap > MN_TOUCHING * size ||
        distance(p, other, other_index, e->end[k]) < 2 * MN_TOUCHING * size)
      return 1;
  }
  return 0;
}

static int holds(const pair *p, const mn_edge_view *a, const mn_edge_view *b, const crossing *x)
{
  const mn_touch *t = p->touch;
  double within = MN_TOUCHING * t->size - SLANT * x->gap;
  if (!x->faces || !x->inside ||
      corner_touches(p, a, p->A->sharp.edge[a->edge].goes_on, x->u, x->gap, p->B, t->b) ||
      corner_touches(p, b, p->B->sharp.edge[b->edge].goes_on, x->v, x->gap, p->A, t->a))
    return 0;
  return x->gap >= -MN_TOUCHING * t->size ||
         (distance(p, p->B, t->b, x->xa) <= within && distance(p, p->A, t->a, x->xb) <= within);
}

/* Whether the two, apart at the start, come together within dt on these paths. */
static int meet(const pair *p, const mn_edge_view *a, const mn_edge_view *b, const mn_twist *twist,
                double bound)
{
  enum { STEPS = 32 };
  const mn_touch *t = p->touch;
  double near = MN_TOUCHING * t->size, s = 0, d = segments(a, b);
  mn_edge_view ea = *a, eb = *b;
  for (int k = 0; k < STEPS && d > near; k++) {
    if (d > bound * (p->dt - s))
      return 0;
    s = mn_min(p->dt, s + d / bound);
    mn_rigid_state pa = mn_pose_moved(&p->pose[t->a], twist[t->a], s);
    mn_rigid_state pb = mn_pose_moved(&p->pose[t->b], twist[t->b], s);
    ea = view(p->A, &pa, a->edge), eb = view(p->B, &pb, b->edge);
    d = segments(&ea, &eb);
    p->c->tests++;
  }
  crossing x;
  if (d > near || !cross(&ea, &eb, &x) || !x.faces)
    return 0;
  double skip = MN_SLIVER * p->c->def.slop * t->size;
  const int *on_a = p->A->sharp.edge[a->edge].goes_on, *on_b = p->B->sharp.edge[b->edge].goes_on;
  return x.u >= (on_a[0] ? 0 : skip) && x.u <= a->length - (on_a[1] ? 0 : skip) &&
         x.v >= (on_b[0] ? 0 : skip) && x.v <= b->length - (on_b[1] ? 0 : skip);
}

static double bound_of(const pair *p, const mn_twist *twist)
{
  mn_twist a = twist[p->touch->a], b = twist[p->touch->b];
  return mn_length(mn_sub(a.v, b.v)) + p->A->bound * mn_length(a.w) + p->B->bound * mn_length(b.w);
}

static mn_status consider(const pair *p, const mn_edge_view *a, const mn_edge_view *b,
                          mn_touches *out)
{
  mn_touch *t = p->touch;
  crossing x;
  p->c->tests++;
  if (!cross(a, b, &x))
    return MN_OK;
  int now = x.faces && x.inside;
  if (!(now && x.gap <= MN_TOUCHING * t->size)) {
    if (p->dt == 0 || !p->c->def.sweep || !(x.gap > 0) ||
        mn_dot(x.n, mn_add(a->into[0], a->into[1])) < 0)
      return MN_OK;
    double u = bound_of(p, p->twist), w = p->free == p->twist ? u : bound_of(p, p->free);
    int watched = now && x.gap <= MN_NEIGHBOUR * t->size && u * p->dt <= t->size / 4;
    if (!(watched && holds(p, a, b, &x)) && !meet(p, a, b, p->twist, u) &&
        (p->free == p->twist || !meet(p, a, b, p->free, w)))
      return MN_OK;
  } else if (!holds(p, a, b, &x)) {
    return MN_OK;
  }
  t->node[0] = a->edge, t->node[1] = b->edge;
  t->key.feature =
      MN_TOUCH_EDGES | ((int64_t)a->edge * (int64_t)p->B->sharp.edges + (int64_t)b->edge);
  t->n = x.n, t->gap = x.gap;
  t->at = mn_scale(0.5, mn_add(x.xa, x.xb));
  return mn_contact_append(p->c->ctx, out, t);
}

/* ---- all of a pair --------------------------------------------------------------------------- */

/* Whether all of body i is beyond the plane of a face at an edge of body j, a face that the touch
   is not on, but for less than the touch is deep, or for a sliver; and stays so with the velocities
   of the substep's start. Then that face is what separates the two. */
static int beyond(const mn_contact *c, const mn_rigid_state *pose, const mn_touches *all,
                  const mn_touch *t, double dt, double sliver, int i, int j, const mn_sharp_edge *e)
{
  const mn_rigid_body *A = &c->rigid->body[i], *B = &c->rigid->body[j];
  double least = mn_min(-sliver, t->gap), rounding = MN_FLUSH * sliver;
  mn_vec3 x = mn_rigid_point(B, &pose[j], e->end[0]);
  for (int k = 0; k < 2; k++) {
    mn_vec3 m = mn_quat_rotate(pose[j].q, e->out[k]);
    if (fabs(mn_dot(m, t->n)) > MN_SAME_FACE)
      continue;
    double low = dt > 0 ? dt * mn_min(0, mn_dot(m, mn_sub(c->start[i].v, c->start[j].v))) : 0;
    for (size_t q = 0; q < A->sharp.corners && low >= least; q++)
      low = mn_min(low, mn_dot(m, mn_sub(mn_rigid_point(A, &pose[i], A->sharp.corner[q]), x)));
    if (low >= mn_min(-rounding, t->gap) || (low >= least && mn_contact_led(c, all, t, i, j, m)))
      return 1;
  }
  return 0;
}

/* The same for the faces of body j at its edges near x. */
static int beyond_at(const mn_contact *c, const mn_rigid_state *pose, const mn_touches *all,
                     const mn_touch *t, double dt, int i, int j, mn_vec3 x)
{
  const mn_rigid_body *B = &c->rigid->body[j];
  double sliver = MN_SLIVER * c->def.slop * t->size;
  for (size_t k = 0; k < B->sharp.edges; k++) {
    const mn_sharp_edge *e = &B->sharp.edge[k];
    double w[3];
    mn_nearest_weights(2, e->end, x, w);
    mn_vec3 y = mn_add(mn_scale(w[0], e->end[0]), mn_scale(w[1], e->end[1]));
    if (mn_length(mn_sub(x, y)) <= sliver && beyond(c, pose, all, t, dt, sliver, i, j, e))
      return 1;
  }
  return 0;
}

int mn_contact_sliver(const mn_contact *c, const mn_rigid_state *pose, const mn_touches *all,
                      const mn_touch *t, double dt)
{
  const mn_rigid_body *A = &c->rigid->body[t->a], *B = &c->rigid->body[t->b];
  double sliver = MN_SLIVER * c->def.slop * t->size;
  if (t->kind == MN_TOUCH_EDGE)
    return beyond(c, pose, all, t, dt, sliver, t->a, t->b, &B->sharp.edge[t->node[1]]) ||
           beyond(c, pose, all, t, dt, sliver, t->b, t->a, &A->sharp.edge[t->node[0]]);
  mn_vec3 x = mn_rigid_start(B, &pose[t->b], mn_madd(t->at, -0.5 * t->gap, t->n));
  return beyond_at(c, pose, all, t, dt, t->a, t->b, x) ||
         beyond_at(c, pose, all, t, dt, t->b, t->a, t->spot);
}

static int by_lo(const void *pa, const void *pb)
{
  const mn_edge_view *a = pa, *b = pb;
  if (a->lo.x != b->lo.x)
    return a->lo.x < b->lo.x ? -1 : 1;
  return a->edge < b->edge ? -1 : a->edge > b->edge;
}

/* Edges of body i that may come near the other within the substep. */
static size_t collect(const pair *p, int i, int other, mn_edge_view *list)
{
  const mn_rigid_body *b = &p->c->rigid->body[i];
  double v = mn_max(mn_length(p->twist[i].v), mn_length(p->free[i].v));
  double w = mn_max(mn_length(p->twist[i].w), mn_length(p->free[i].w));
  double reach =
      p->dt * (v + w * b->bound) + (p->dt > 0 ? MN_NEIGHBOUR : MN_TOUCHING) * p->touch->size;
  size_t count = 0;
  for (uint32_t k = 0; k < b->sharp.edges; k++) {
    mn_edge_view e = view(b, &p->pose[i], k);
    int apart = 0;
    for (int q = 0; q < 3; q++) {
      e.lo.v[q] = mn_min(e.end[0].v[q], e.end[1].v[q]) - reach;
      e.hi.v[q] = mn_max(e.end[0].v[q], e.end[1].v[q]) + reach;
      apart |= e.lo.v[q] > p->c->hi[other].v[q] || e.hi.v[q] < p->c->lo[other].v[q];
    }
    if (!apart)
      list[count++] = e;
  }
  return count;
}

mn_status mn_contact_find_edges(mn_contact *c, const mn_rigid_state *pose, const mn_twist *free,
                                const mn_twist *twist, double dt, mn_touch *t, mn_touches *out)
{
  pair p = {c, &c->rigid->body[t->a], &c->rigid->body[t->b], pose, free, twist, dt, t};
  t->kind = MN_TOUCH_EDGE;
  size_t na = collect(&p, t->a, t->b, c->edges[0]);
  size_t nb = na ? collect(&p, t->b, t->a, c->edges[1]) : 0;
  if (nb > 1)
    qsort(c->edges[1], nb, sizeof *c->edges[1], by_lo);
  for (size_t i = 0; i < na; i++) {
    const mn_edge_view *a = &c->edges[0][i];
    for (size_t j = 0; j < nb; j++) {
      const mn_edge_view *b = &c->edges[1][j];
      if (b->lo.x > a->hi.x)
        break;
      if (b->hi.x >= a->lo.x && b->lo.y <= a->hi.y && b->hi.y >= a->lo.y && b->lo.z <= a->hi.z &&
          b->hi.z >= a->lo.z)
        MN_TRY(consider(&p, a, b, out));
    }
  }
  return MN_OK;
}

mn_status mn_contact_make_edges(mn_contact *c)
{
  size_t most = 0;
  for (int i = 0; i < c->rigid->count; i++)
    most = c->rigid->body[i].sharp.edges > most ? c->rigid->body[i].sharp.edges : most;
  for (int k = 0; k < 2; k++)
    MN_TRY(MN_NEW(c->ctx, "edges near each other", most, &c->edges[k]));
  return MN_OK;
}
