/* Impulses of all touches: projected Gauss-Seidel on the velocities [Moreau 1988; Jean 1999].

   Of each touch with relative velocity u of a against b, normal n, normal impulse l, tangential t:

       0 <= l  perp  n.u - target >= 0,    |t| <= mu l,  t opposes sliding (t = -mu l u_t/|u_t|)

   l <- max(0, l - m (n.u - target)), t <- disk(mu l)(t - m_t u_t), with m, m_t the effective masses
   along n and of the slowest tangent. Springs are rows with a compliance: l <- l - m (J u - v + e
   l). Sweeps run to and fro in the order of the keys, so that results do not depend on threads, and
   are the steps of a nonlinear conjugate gradient method [Silcowitz 2010], which piles need.
   Impulses act on both partners at one point: momentum and angular momentum are conserved to
   round-off. Verified by tests/unit/solid/test_contact*.c. */
#include "solid/contact_internal.h"

static mn_vec3 row3(const double W[6][6], int i, mn_vec3 p, mn_vec3 t)
{
  mn_vec3 r;
  for (int a = 0; a < 3; a++) {
    const double *w = W[i + a];
    r.v[a] = w[0] * p.x + w[1] * p.y + w[2] * p.z + w[3] * t.x + w[4] * t.y + w[5] * t.z;
  }
  return r;
}

static void add_impulse(const mn_mobile *m, mn_twist *t, mn_vec3 arm, double sign, mn_vec3 p)
{
  if (!m->moves)
    return;
  mn_vec3 torque = mn_cross(arm, p);
  if (m->free) {
    t->v = mn_madd(t->v, sign * m->inverse_mass, p);
    t->w = mn_madd(t->w, sign, mn_mat3_apply(m->inverse, torque));
  } else {
    t->v = mn_madd(t->v, sign, row3(m->W, 0, p, torque));
    t->w = mn_madd(t->w, sign, row3(m->W, 3, p, torque));
  }
}

static double inverse_mass(const mn_contact_nodes *n, uint32_t i)
{
  return n->fixed && n->fixed[i] ? 0 : 1 / n->mass[i];
}

static void apply(const mn_contact *c, const mn_touch *t, mn_twist *twist, mn_contact_nodes *nodes,
                  mn_vec3 p)
{
  add_impulse(&c->mobile[t->a], &twist[t->a], t->ra, 1, p);
  if (t->b >= 0)
    add_impulse(&c->mobile[t->b], &twist[t->b], t->rb, -1, p);
  else if (nodes)
    for (int k = 0; k < t->nodes; k++) {
      uint32_t i = t->node[k];
      nodes->v[i] = mn_madd(nodes->v[i], -t->weight[k] * inverse_mass(nodes, i), p);
    }
}

mn_vec3 mn_touch_velocity(const mn_touch *t, const mn_twist *twist, const mn_vec3 *node_v)
{
  mn_vec3 u = mn_twist_at(twist[t->a], t->ra);
  if (t->b >= 0)
    return mn_sub(u, mn_twist_at(twist[t->b], t->rb));
  for (int k = 0; k < t->nodes; k++)
    u = mn_madd(u, -t->weight[k], node_v[t->node[k]]);
  return u;
}

void mn_contact_mobility(mn_contact *c, const mn_rigid_state *pose)
{
  for (int i = 0; i < c->rigid->count; i++) {
    const mn_rigid_body *b = &c->rigid->body[i];
    mn_mobile *m = &c->mobile[i];
    m->moves = b->moves;
    m->free = b->def.joint == MN_JOINT_NONE;
    mn_rigid_mobility(b, &pose[i], m->W);
    m->inverse_mass = b->moves ? 1 / b->mass : 0;
    for (int p = 0; p < 3; p++)
      for (int q = 0; q < 3; q++)
        m->inverse.m[p][q] = m->W[3 + p][3 + q];
  }
}

/* 1/kg */
static double nodes_response(const mn_touch *t, const mn_contact_nodes *nodes)
{
  double sum = 0;
  for (int k = 0; k < t->nodes; k++)
    sum += t->weight[k] * t->weight[k] * inverse_mass(nodes, t->node[k]);
  return sum;
}

/* Change of the relative velocity for an impulse p. */
static mn_vec3 response(const mn_contact *c, const mn_touch *t, const mn_contact_nodes *nodes,
                        mn_vec3 p)
{
  mn_twist a = {0}, b = {0};
  add_impulse(&c->mobile[t->a], &a, t->ra, 1, p);
  mn_vec3 u = mn_twist_at(a, t->ra);
  if (t->b >= 0) {
    add_impulse(&c->mobile[t->b], &b, t->rb, -1, p);
    return mn_sub(u, mn_twist_at(b, t->rb));
  }
  return nodes ? mn_madd(u, nodes_response(t, nodes), p) : u; /* of the rigid partner alone */
}

/* The greatest response along a tangent. */
static double tangent_response(const mn_contact *c, const mn_touch *t,
                               const mn_contact_nodes *nodes)
{
  mn_vec3 e = fabs(t->n.x) < 0.6 ? mn_v3(1, 0, 0) : mn_v3(0, 1, 0);
  mn_vec3 t1 = c->rigid->dim == 2 ? mn_v3(-t->n.y, t->n.x, 0) : mn_cross(t->n, e);
  t1 = mn_scale(1 / mn_length(t1), t1);
  mn_vec3 t2 = mn_cross(t->n, t1), u1 = response(c, t, nodes, t1);
  double k11 = mn_dot(t1, u1);
  if (c->rigid->dim == 3) { /* the greatest eigenvalue of the tangential block */
    mn_vec3 u2 = response(c, t, nodes, t2);
    double k12 = mn_dot(t2, u1), k22 = mn_dot(t2, u2);
    k11 = 0.5 * (k11 + k22) + sqrt(0.25 * (k11 - k22) * (k11 - k22) + k12 * k12);
  }
  return k11;
}

int mn_contact_slides_along(const mn_contact *c, int i, mn_vec3 x, mn_vec3 n)
{
  const mn_rigid_def *d = &c->rigid->body[i].def;
  mn_vec3 way = d->axis;
  if (d->joint != MN_JOINT_HINGE && d->joint != MN_JOINT_PRISMATIC)
    return 0;
  if (d->joint == MN_JOINT_HINGE)
    way = mn_cross(way, mn_sub(x, d->point));
  return fabs(mn_dot(n, way)) <= MN_ALONG * mn_length(way);
}

/* The response along the normal. What slides along does not give way there. */
static double normal_response(const mn_contact *c, const mn_touch *t, const mn_contact_nodes *nodes)
{
  int a = mn_contact_slides_along(c, t->a, t->at, t->n);
  int b = t->b >= 0 && mn_contact_slides_along(c, t->b, t->at, t->n);
  mn_twist other = {0};
  if (!a && !b)
    return mn_dot(t->n, response(c, t, nodes, t->n));
  if (t->b < 0)
    return nodes ? nodes_response(t, nodes) : 0;
  if (!a)
    add_impulse(&c->mobile[t->a], &other, t->ra, 1, t->n);
  else if (!b)
    add_impulse(&c->mobile[t->b], &other, t->rb, 1, t->n);
  return mn_dot(t->n, mn_twist_at(other, a ? t->rb : t->ra));
}

/* Masses are 0 if neither partner can give way. Then what a guess says of the force between them,
   of when the normal was another one, would stay for ever, and its friction with it: joints and
   walls bear the load, and nothing tells how much of it passes through the touch. */
static void prepare(const mn_contact *c, const mn_rigid_state *pose, const mn_contact_nodes *nodes,
                    mn_touch *t)
{
  t->ra = mn_sub(t->at, pose[t->a].x);
  t->rb = t->b >= 0 ? mn_sub(t->at, pose[t->b].x) : mn_v3(0, 0, 0);
  double k = normal_response(c, t, nodes);
  t->mass = k > 0 ? 1 / k : 0;
  if (!(k > 0))
    t->impulse = 0, t->tangent = mn_v3(0, 0, 0);
  double k11 = tangent_response(c, t, nodes);
  t->tangent_mass = k11 > 0 ? 1 / k11 : 0;
}

void mn_touch_mobility(const mn_contact *c, const mn_rigid_state *pose, mn_touch *t, double *normal,
                       double *tangent)
{
  t->ra = mn_sub(t->at, pose[t->a].x);
  *normal = mn_dot(t->n, response(c, t, NULL, t->n));
  *tangent = tangent_response(c, t, NULL);
}

void mn_contact_prepare(mn_contact *c, const mn_rigid_state *pose, const mn_contact_nodes *nodes,
                        mn_touches *touches)
{
  for (size_t i = 0; i < touches->count; i++)
    prepare(c, pose, nodes, &touches->at[i]);
}

/* One touch; the change of its relative velocity. */
static double relax(mn_contact *c, mn_touch *t, mn_twist *twist, mn_contact_nodes *nodes)
{
  mn_vec3 u = mn_touch_velocity(t, twist, nodes->v);
  double l = mn_max(0, t->impulse - t->mass * (mn_dot(t->n, u) - t->target));
  double change = l - t->impulse;
  t->impulse = l;
  mn_vec3 p = mn_scale(change, t->n);
  double moved = t->mass > 0 ? fabs(change) / t->mass : 0;
  if (change != 0)
    apply(c, t, twist, nodes, p);
  if (t->friction > 0 && t->tangent_mass > 0) {
    u = mn_touch_velocity(t, twist, nodes->v);
    mn_vec3 slide = mn_madd(u, -mn_dot(t->n, u), t->n);
    mn_vec3 s = mn_madd(t->tangent, -t->tangent_mass, slide);
    double length = mn_length(s), most = t->friction * l;
    if (length > most)
      s = mn_scale(most / length, s);
    p = mn_sub(s, t->tangent);
    t->tangent = s;
    apply(c, t, twist, nodes, p);
    moved = mn_max(moved, mn_length(p) / t->tangent_mass);
  }
  c->work++;
  return moved;
}

static mn_vec3 soft_velocity(const mn_soft_row *r, const mn_twist *twist)
{
  mn_vec3 u = mn_twist_at(twist[r->a], r->ra);
  return r->b < 0 ? u : mn_sub(u, mn_twist_at(twist[r->b], r->rb));
}

static void soft_apply(const mn_contact *c, const mn_soft_row *r, mn_twist *twist, double impulse)
{
  mn_vec3 p = mn_scale(impulse, r->d);
  add_impulse(&c->mobile[r->a], &twist[r->a], r->ra, 1, p);
  if (r->b >= 0)
    add_impulse(&c->mobile[r->b], &twist[r->b], r->rb, -1, p);
}

/* l = -h (force + rate (J u - at)): J u + l/(h rate) = at - force/rate. */
static double relax_soft(mn_contact *c, mn_soft_row *r, mn_twist *twist)
{
  if (!(r->rate > 0))
    return 0;
  mn_twist a = {0}, b = {0};
  add_impulse(&c->mobile[r->a], &a, r->ra, 1, r->d);
  double k = mn_dot(r->d, mn_twist_at(a, r->ra)), soft = 1 / (r->h * r->rate);
  if (r->b >= 0) {
    add_impulse(&c->mobile[r->b], &b, r->rb, 1, r->d);
    k += mn_dot(r->d, mn_twist_at(b, r->rb));
  }
  double u = mn_dot(r->d, soft_velocity(r, twist));
  double change = -(u + soft * r->impulse - r->at + r->force / r->rate) / (k + soft);
  r->impulse += change;
  soft_apply(c, r, twist, change);
  c->work++;
  return fabs(change) * k;
}

/* What a unit impulse of row q adds to the speed of row r. */
static double soft_response(const mn_contact *c, const mn_soft_row *r, const mn_soft_row *q)
{
  double sum = 0;
  for (int e = 0; e < 4; e++) { /* ends of r, of q */
    int i = e & 1 ? r->b : r->a, j = e & 2 ? q->b : q->a;
    mn_twist t = {0};
    if (i < 0 || i != j)
      continue;
    add_impulse(&c->mobile[i], &t, e & 2 ? q->rb : q->ra, e & 2 ? -1 : 1, q->d);
    sum += (e & 1 ? -1 : 1) * mn_dot(r->d, mn_twist_at(t, e & 1 ? r->rb : r->ra));
  }
  return sum;
}

/* c->soft <- the Cholesky factor of J W J^T + 1/(h rate); 0: too many rows, or rounding. */
static int factorise_soft(mn_contact *c, const mn_soft_row *soft, int n)
{
  if (n < 2 || (size_t)n > c->soft_rows)
    return 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double *L = c->soft, sum = i == j;
      if (soft[i].rate > 0 && soft[j].rate > 0)
        sum = soft_response(c, &soft[i], &soft[j]) + (i == j ? 1 / (soft[i].h * soft[i].rate) : 0);
      double whole = sum;
      for (int k = 0; k < j; k++)
        sum -= L[i * n + k] * L[j * n + k];
      if (i == j && !(sum > 1e-13 * whole))
        return 0;
      L[i * n + j] = i == j ? sqrt(sum) : sum / L[j * n + j];
    }
  return 1;
}

/* All rows at once, touches as they are. */
static double solve_soft(mn_contact *c, mn_soft_row *soft, int n, mn_twist *twist)
{
  double *x = c->soft + c->soft_rows * c->soft_rows, moved = 0;
  const double *L = c->soft;
  for (int i = 0; i < n; i++) {
    const mn_soft_row *r = &soft[i];
    x[i] = r->rate > 0 ? r->at - r->force / r->rate - r->impulse / (r->h * r->rate) -
                             mn_dot(r->d, soft_velocity(r, twist))
                       : 0;
    moved = mn_max(moved, fabs(x[i]));
    for (int k = 0; k < i; k++)
      x[i] -= L[i * n + k] * x[k];
    x[i] /= L[i * n + i];
  }
  for (int i = n; i-- > 0;) {
    for (int k = i + 1; k < n; k++)
      x[i] -= L[k * n + i] * x[k];
    x[i] /= L[i * n + i];
  }
  for (int i = 0; i < n; i++) {
    soft[i].impulse += x[i];
    soft_apply(c, &soft[i], twist, x[i]);
  }
  c->work += (size_t)n;
  return moved;
}

/* The step just made is minus a gradient; conjugate directions follow [Silcowitz 2010]. The next
   step projects what is added here. */
static void accelerate(mn_contact *c, mn_touches *touches, mn_twist *twist, mn_contact_nodes *nodes,
                       double *gradient)
{
  double size = 0;
  for (size_t i = 0; i < touches->count; i++) {
    mn_touch *t = &touches->at[i];
    t->last = mn_sub(mn_madd(t->tangent, t->impulse, t->n), t->last);
    size += mn_dot(t->last, t->last) / (t->mass > 0 ? t->mass : 1); /* in the metric of masses */
  }
  double beta = *gradient > 0 ? size / *gradient : 0;
  *gradient = size;
  if (beta > 1)
    beta = 0; /* start anew */
  for (size_t i = 0; i < touches->count; i++) {
    mn_touch *t = &touches->at[i];
    mn_vec3 more = mn_scale(beta, t->search);
    t->search = mn_add(more, t->last);
    if (beta == 0)
      continue;
    double along = mn_dot(t->n, more);
    t->impulse += along;
    t->tangent = mn_add(t->tangent, mn_madd(more, -along, t->n));
    apply(c, t, twist, nodes, more);
  }
}

void mn_contact_sweeps(mn_contact *c, mn_touches *touches, mn_twist *twist, mn_contact_nodes *nodes,
                       mn_soft_row *soft, int soft_count, double dt, mn_contact_report *report)
{
  enum { MORE = 4 };
  static const double PART = 0.5; /* of the slop: overlap that a substep may add */
  /* Of the smallest body: by which the last sweep may move something in a substep. Under loads that
     throw bodies about (of a coupling that went astray, say) sweeps come to no end. */
  static const double LOST = 0.25;
  double scale = 0, size = HUGE_VAL;
  for (size_t i = 0; i < touches->count; i++)
    scale = mn_max(scale, mn_length(mn_touch_velocity(&touches->at[i], twist, nodes->v)));
  for (size_t i = 0; i < touches->count; i++)
    size = mn_min(size, touches->at[i].size);
  double quiet = dt > 0 ? PART * c->def.slop * size / dt : HUGE_VAL;
  for (int i = 0; i < soft_count; i++)
    scale = mn_max(scale, fabs(mn_dot(soft[i].d, soft_velocity(&soft[i], twist))));
  for (size_t i = 0; i < touches->count; i++) { /* the guess acts */
    mn_touch *t = &touches->at[i];
    if (t->impulse != 0 || mn_dot(t->tangent, t->tangent) != 0)
      apply(c, t, twist, nodes, mn_madd(t->tangent, t->impulse, t->n));
  }
  for (int i = 0; i < soft_count; i++)
    soft_apply(c, &soft[i], twist, soft[i].impulse);
  size_t n = touches->count;
  if (n + (size_t)soft_count == 0)
    return;
  double gradient = 0;
  int factor = factorise_soft(c, soft, soft_count);
  for (size_t i = 0; i < n; i++)
    touches->at[i].search = mn_v3(0, 0, 0);
  for (int k = 0; k < MORE * c->def.max_iterations; k++) {
    for (size_t i = 0; i < n; i++)
      touches->at[i].last =
          mn_madd(touches->at[i].tangent, touches->at[i].impulse, touches->at[i].n);
    double moved = 0; /* there and back: a symmetric step */
    if (factor)
      moved = solve_soft(c, soft, soft_count, twist);
    for (int i = 0; i < soft_count && !factor; i++)
      moved = mn_max(moved, relax_soft(c, &soft[i], twist));
    for (size_t i = 0; i < n; i++)
      moved = mn_max(moved, relax(c, &touches->at[i], twist, nodes));
    for (size_t i = n; i-- > 0;)
      moved = mn_max(moved, relax(c, &touches->at[i], twist, nodes));
    for (int i = soft_count; i-- > 0 && !factor;)
      moved = mn_max(moved, relax_soft(c, &soft[i], twist));
    report->iterations++;
    report->residual = moved;
    if (moved <= c->def.tolerance * scale || (k + 1 >= c->def.max_iterations && moved <= quiet))
      break;
    report->lost = k + 1 == MORE * c->def.max_iterations && moved * dt > LOST * size;
    if (n > 1)
      accelerate(c, touches, twist, nodes, &gradient);
  }
}

/* ---- overlap --------------------------------------------------------------------------------- */

/* Velocities that part overlapping bodies by a fifth of what exceeds the slop; they carry no
   momentum into the next substep, so that overlap does not turn into energy. */
void mn_contact_push(mn_contact *c, const mn_touches *touches, double dt, mn_twist *push)
{
  enum { SWEEPS = 20 };
  static const double PART = 0.2;
  for (int i = 0; i < c->rigid->count; i++)
    push[i] = (mn_twist){0};
  int deep = 0;
  for (size_t i = 0; i < touches->count; i++) {
    mn_touch *t = &touches->at[i];
    deep |= t->b >= 0 && t->gap < -c->def.slop * t->size;
    t->approach = 0; /* serves as the push's impulse here */
  }
  for (int k = 0; deep && k < SWEEPS; k++)
    for (size_t i = 0; i < touches->count; i++) {
      mn_touch *t = &touches->at[i];
      if (t->b < 0)
        continue;
      double excess = -t->gap - c->def.slop * t->size;
      double target = excess > 0 ? PART * excess / dt : -mn_max(0, t->gap) / dt;
      double u = mn_dot(t->n, mn_touch_velocity(t, push, NULL));
      double l = mn_max(0, t->approach - t->mass * (u - target));
      apply(c, t, push, NULL, mn_scale(l - t->approach, t->n));
      t->approach = l;
      c->work++;
    }
}
