/* Overlap where a drift ends. Its touches are linear: with w the spin, a point at r goes to
   x + dt v + exp(dt w) r, not x + dt (v + w x r), and another point of the body may be the first to
   arrive. So bodies are moved as they will be, and what overlaps there, at a point p with normal n,
   is one more touch of the next round:

       gap(u) = gap(u_k) + dt n.(u - u_k) >= min(0, gap at the start),      u at the arms of the end

   a Newton step for the gap where it matters (sequential linearisation). The touches of the start
   stay: they hold what would tunnel. The impulse acts at p, moved back with the mean displacement
   of the two centres: at one point, so that angular momentum is kept, and arms are those of the
   end but for how far the two slide over each other.
   Limits: local; a finite partner is left by the nearest face, so bodies must not be deep in it,
   which the touches of the start see to. Verified by tests/unit/solid/test_contact_landing.c. */
#include "solid/contact_internal.h"

static const double LEFT = 0.1;  /* of the slop: overlap that is left alone, */
static const double MORE = 0.01; /* and that a substep may add to it */

static const double SIDE = 0.5; /* cosine: normals at start and end are of one side */

/* Moved by a drift with this twist, as rigid_move.c does. */
static mn_rigid_state drifted(const mn_rigid_body *b, const mn_rigid_state *pose, mn_twist u,
                              double dt)
{
  mn_rigid_state s = *pose;
  if (b->def.joint == MN_JOINT_HINGE)
    s.rate = mn_dot(b->def.axis, u.w);
  else if (b->def.joint == MN_JOINT_PRISMATIC)
    s.rate = mn_dot(b->def.axis, u.v);
  if (!b->moves) {
    s.x = mn_madd(s.x, dt, u.v);
    s.q = mn_quat_unit(mn_quat_mul(mn_quat_exp(mn_scale(dt, u.w)), s.q));
    return s;
  }
  mn_vec3 w = mn_quat_rotate(mn_quat_conjugate(s.q), u.w);
  mn_vec3 l = mn_mat3_apply(mn_mat3_transpose(b->axes), w);
  for (int a = 0; a < 3; a++)
    l.v[a] *= b->inertia.v[a];
  s.v = u.v;
  s.L = mn_quat_rotate(s.q, mn_mat3_apply(b->axes, l));
  mn_rigid_drift(b, &s, dt);
  return s;
}

static int turns(mn_twist u)
{
  return mn_dot(u.w, u.w) > 0;
}

/* Spheres keep to their straight paths past what does not turn: there the touch of the start is
   exact. */
static int bends(const mn_contact *c, const mn_touch *t, const mn_twist *u)
{
  if (t->b < 0 || t->kind == MN_TOUCH_BALLS)
    return 0;
  return turns(u[t->b]) ||
         ((t->kind == MN_TOUCH_POINT || t->kind == MN_TOUCH_EDGE) && turns(u[t->a])) ||
         (t->kind == MN_TOUCH_BALL && c->rigid->body[t->a].def.joint != MN_JOINT_NONE);
}

/* How deep contact points of a lie in b at the start, <= 0. */
static double start_gap(const mn_touches *start, int a, int b)
{
  size_t lo = 0, hi = start->count;
  double least = 0;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    const mn_touch *t = &start->at[mid];
    if (t->key.a < a || (t->key.a == a && t->key.b < b))
      lo = mid + 1;
    else
      hi = mid;
  }
  for (; lo < start->count && start->at[lo].a == a && start->at[lo].b == b; lo++)
    if (!(start->at[lo].key.feature & MN_TOUCH_END))
      least = mn_min(least, start->at[lo].gap);
  return least;
}

double mn_contact_start_gap(const mn_touches *start, int a, int b)
{
  return mn_min(start_gap(start, a, b), start_gap(start, b, a));
}

/* The touch at the end, as one at the start; 0: it has come through the other, and n is that of the
   wrong side. */
static int bring_back(mn_contact *c, const mn_rigid_state *pose, double gap, double floor,
                      mn_touch *t)
{
  const mn_rigid_body *A = &c->rigid->body[t->a], *B = &c->rigid->body[t->b];
  mn_vec3 da = mn_sub(c->ends[t->a].x, pose[t->a].x), db = mn_sub(c->ends[t->b].x, pose[t->b].x);
  double share = !B->moves ? 1 : !A->moves ? 0 : A->mass / (A->mass + B->mass);
  mn_touch probe = *t;
  t->gap = mn_contact_gap(c, pose, &probe);
  t->room = gap - floor;
  mn_vec3 end = mn_sub(t->at, mn_madd(mn_scale(share, da), 1 - share, db));
  t->at = mn_scale(0.5, mn_add(probe.at, end));
  return mn_dot(probe.n, t->n) > SIDE;
}

static mn_touch *known(mn_touches *touches, size_t count, mn_touch_key key)
{
  for (size_t i = 0; i < count; i++) {
    const mn_touch_key *k = &touches->at[i].key;
    if (k->a == key.a && k->b == key.b && k->feature == key.feature)
      return &touches->at[i];
  }
  return NULL;
}

mn_status mn_contact_find_ends(mn_contact *c, const mn_rigid_state *pose, const mn_twist *u,
                               const mn_touches *start, double dt, int *bad)
{
  mn_contact_nodes none = {0};
  int bent = 0;
  *bad = 0;
  for (size_t i = 0; i < start->count && !bent; i++)
    bent = bends(c, &start->at[i], u);
  if (!bent)
    return MN_OK;
  for (int i = 0; i < c->rigid->count; i++)
    c->ends[i] = drifted(&c->rigid->body[i], &pose[i], u[i], dt);
  size_t old = c->end.count;
  MN_TRY(mn_contact_find(c, c->ends, u, u, &none, NULL, 0, &c->settle));
  size_t kept = 0;
  for (size_t i = 0; i < old; i++) { /* the same place of the body, where it goes now */
    mn_touch t = c->end.at[i];
    double gap = mn_contact_gap(c, c->ends, &t);
    if (bring_back(c, pose, gap, mn_contact_start_gap(start, t.a, t.b), &t))
      c->end.at[kept++] = t;
  }
  c->end.count = kept;
  for (size_t i = 0; i < c->settle.count; i++) {
    mn_touch t = c->settle.at[i];
    double floor = mn_contact_start_gap(start, t.a, t.b), slop = c->def.slop * t.size;
    if (!bends(c, &t, u) || t.gap >= mn_min(floor, -LEFT * slop) - MORE * slop ||
        !bring_back(c, pose, t.gap, floor, &t))
      continue;
    *bad = 1;
    t.key.feature |= MN_TOUCH_END;
    mn_touch *same = known(&c->end, kept, t.key);
    if (same)
      *same = t;
    else
      MN_TRY(mn_contact_append(c->ctx, &c->end, &t));
  }
  c->settle.count = 0;
  return MN_OK;
}
