/* Contact over a substep: find, guess, solve, remember.

   The drift's velocities must leave n.u >= -gap/dt; if the impulses set in motion what was not
   looked at (a ball struck by another), the touches are found again with the new velocities, a few
   rounds. Settling stops what touches at the new place or, after an impact of speed v, makes it
   part with e v. v is what the approach would have at the moment of touching: v^2 = v0^2 + 2 a gap,
   a the free acceleration, so that a ball falling freely keeps its energy for e = 1. */
#include <string.h>

#include "solid/contact_internal.h"

enum { ROUNDS = 4, END_ROUNDS = 16, SOFT_ROWS = 600 };

mn_contact_def mn_contact_def_default(void)
{
  return (mn_contact_def){.slop = 1e-3,
                          .squeeze = 0.05,
                          .bounce_speed = 1e-3,
                          .tolerance = 1e-6,
                          .max_iterations = 100,
                          .thickness = 1e-3,
                          .node_friction = 0.3,
                          .sweep = 1,
                          .search = 1,
                          .ends = 1,
                          .middles = 2};
}

static mn_status make(mn_contact *c, size_t nodes)
{
  mn_context *ctx = c->ctx;
  size_t n = (size_t)c->rigid->count;
  MN_TRY(MN_NEW(ctx, "contact boxes", n, &c->lo));
  MN_TRY(MN_NEW(ctx, "contact boxes", n, &c->hi));
  MN_TRY(MN_NEW(ctx, "contact boxes", n, &c->half));
  MN_TRY(MN_NEW(ctx, "contact boxes", n, &c->middle));
  MN_TRY(MN_NEW(ctx, "contact boxes", n, &c->found));
  size_t points = 0;
  for (size_t i = 0; i < n; i++)
    points = c->rigid->body[i].points > points ? c->rigid->body[i].points : points;
  MN_TRY(MN_NEW(ctx, "contact points", points, &c->near));
  MN_TRY(mn_contact_make_edges(c));
  MN_TRY(MN_NEW(ctx, "mobilities", n, &c->mobile));
  c->soft_rows = 3 * (size_t)c->rigid->springs;
  c->soft_rows = c->soft_rows <= SOFT_ROWS ? c->soft_rows : 0;
  MN_TRY(MN_NEW(ctx, "springs", c->soft_rows * (c->soft_rows + 1), &c->soft));
  MN_TRY(MN_NEW(ctx, "contact velocities", n, &c->start));
  MN_TRY(MN_NEW(ctx, "contact velocities", n, &c->free));
  MN_TRY(MN_NEW(ctx, "poses after a drift", n, &c->ends));
  MN_TRY(MN_NEW(ctx, "contact nodes", nodes, &c->node_start));
  MN_TRY(MN_NEW(ctx, "contact nodes", nodes, &c->node_free));
  MN_TRY(MN_NEW(ctx, "contact nodes", nodes, &c->node_used));
  for (size_t i = 0; i < n; i++) {
    mn_vec3 lo, hi;
    mn_shape_bounds(c->rigid->body[i].def.shape, &lo, &hi);
    int bounded = isfinite(mn_length(mn_sub(hi, lo)));
    mn_vec3 far = mn_v3(HUGE_VAL, HUGE_VAL, HUGE_VAL);
    c->half[i] = bounded ? mn_scale(0.5, mn_sub(hi, lo)) : far;
    if (bounded)
      c->middle[i] = mn_sub(mn_scale(0.5, mn_add(lo, hi)), c->rigid->body[i].center);
  }
  return MN_OK;
}

mn_status mn_contact_create(mn_context *ctx, const mn_contact_def *def, const mn_rigid *rigid,
                            size_t nodes, mn_contact **contact)
{
  *contact = NULL;
  mn_contact *c;
  if (!(def->slop >= 0) || !(def->tolerance >= 0) || def->max_iterations < 1 ||
      !(def->thickness >= 0))
    return mn_fail(ctx, MN_BAD_INPUT,
                   "contact: slop %g, tolerance %g, max_iterations %d, thickness %g; they must not "
                   "be negative, and one iteration is the least",
                   def->slop, def->tolerance, def->max_iterations, def->thickness);
  MN_TRY(MN_NEW(ctx, "contact", 1, &c));
  c->ctx = ctx, c->def = *def, c->rigid = rigid, c->node_count = nodes;
  mn_status status = make(c, nodes);
  if (status != MN_OK)
    mn_contact_destroy(&c);
  *contact = c;
  return status;
}

static void free_guesses(mn_guesses *g)
{
  mn_free(g->key);
  mn_free(g->value);
}

void mn_contact_destroy(mn_contact **contact)
{
  mn_contact *c = *contact;
  if (c) {
    void *all[] = {c->lo,        c->hi,       c->half,      c->middle,     c->found,
                   c->mobile,    c->start,    c->free,      c->node_start, c->node_free,
                   c->node_used, c->drift.at, c->settle.at, c->near,       c->again.at,
                   c->end.at,    c->ends,     c->edges[0],  c->edges[1],   c->soft};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
      mn_free(all[i]);
    free_guesses(&c->now);
    free_guesses(&c->next);
    free_guesses(&c->saved);
    mn_boxgrid_destroy(&c->grid);
    mn_free(c);
  }
  *contact = NULL;
}

/* ---- guesses --------------------------------------------------------------------------------- */

static mn_status reserve(mn_context *ctx, mn_guesses *g, size_t count)
{
  if (count <= g->capacity)
    return MN_OK;
  size_t more = count + count / 2 + 64;
  MN_TRY(mn_grow(ctx, "contact guesses", g->capacity, more, sizeof *g->key, (void **)&g->key));
  MN_TRY(mn_grow(ctx, "contact guesses", g->capacity, more, sizeof *g->value, (void **)&g->value));
  g->capacity = more;
  return MN_OK;
}

static mn_status copy_guesses(mn_context *ctx, mn_guesses *to, const mn_guesses *from)
{
  MN_TRY(reserve(ctx, to, from->count));
  to->count = from->count;
  if (from->count) {
    memcpy(to->key, from->key, from->count * sizeof *from->key);
    memcpy(to->value, from->value, from->count * sizeof *from->value);
  }
  return MN_OK;
}

static int compare(const int64_t a[3], const mn_touch_key *k)
{
  int64_t b[3] = {k->a, k->b, k->feature};
  for (int i = 0; i < 3; i++)
    if (a[i] != b[i])
      return a[i] < b[i] ? -1 : 1;
  return 0;
}

/* Both lists rise: one walk. `part` 0: of the drift, 4: of the settling. */
static void take_guesses(const mn_guesses *g, mn_touches *touches, int part)
{
  size_t k = 0;
  for (size_t i = 0; i < touches->count; i++) {
    mn_touch *t = &touches->at[i];
    while (k < g->count && compare(g->key[k], &t->key) < 0)
      k++;
    t->impulse = 0, t->tangent = mn_v3(0, 0, 0);
    if (k < g->count && compare(g->key[k], &t->key) == 0) {
      const double *v = g->value[k] + part;
      mn_vec3 s = mn_v3(v[1], v[2], v[3]);
      t->impulse = v[0];
      t->tangent = mn_madd(s, -mn_dot(t->n, s), t->n);
      double length = mn_length(t->tangent), most = t->friction * t->impulse;
      if (length > most)
        t->tangent = mn_scale(most / length, t->tangent);
    }
  }
}

/* Whether those of the start are the ones that were solved. */
static int same_touches(const mn_touches *solved, const mn_touches *found)
{
  size_t k = 0;
  for (size_t i = 0; i < solved->count; i++) {
    const mn_touch_key *key = &solved->at[i].key;
    if (key->feature & MN_TOUCH_END)
      continue;
    int64_t a[3] = {key->a, key->b, key->feature};
    if (k == found->count || compare(a, &found->at[k++].key) != 0)
      return 0;
  }
  return k == found->count;
}

/* Touches of the drift, with the impulses of both parts. */
static mn_status leave_guesses(mn_contact *c)
{
  mn_guesses *g = &c->next;
  MN_TRY(reserve(c->ctx, g, c->drift.count));
  g->count = c->drift.count;
  size_t k = 0;
  for (size_t i = 0; i < g->count; i++) {
    const mn_touch *t = &c->drift.at[i];
    g->key[i][0] = t->key.a, g->key[i][1] = t->key.b, g->key[i][2] = t->key.feature;
    double *v = g->value[i];
    memset(v, 0, sizeof *g->value);
    v[0] = t->impulse, v[1] = t->tangent.x, v[2] = t->tangent.y, v[3] = t->tangent.z;
    while (k < c->settle.count && compare(g->key[i], &c->settle.at[k].key) > 0)
      k++;
    if (k < c->settle.count && compare(g->key[i], &c->settle.at[k].key) == 0) {
      t = &c->settle.at[k];
      v[4] = t->impulse, v[5] = t->tangent.x, v[6] = t->tangent.y, v[7] = t->tangent.z;
    }
  }
  return MN_OK;
}

/* ---- the two parts --------------------------------------------------------------------------- */

void mn_contact_begin(mn_contact *c, const mn_twist *twist, const mn_vec3 *node_v, double kick)
{
  memcpy(c->start, twist, (size_t)c->rigid->count * sizeof *twist);
  if (c->node_count)
    memcpy(c->node_start, node_v, c->node_count * sizeof *node_v);
  c->kick = kick;
}

static void sum_impulses(mn_contact *c, const mn_touches *touches, mn_vec3 *P, mn_vec3 *T)
{
  memset(P, 0, (size_t)c->rigid->count * sizeof *P);
  memset(T, 0, (size_t)c->rigid->count * sizeof *T);
  for (size_t i = 0; i < touches->count; i++) {
    const mn_touch *t = &touches->at[i];
    mn_vec3 p = mn_madd(t->tangent, t->impulse, t->n);
    P[t->a] = mn_add(P[t->a], p);
    T[t->a] = mn_add(T[t->a], mn_cross(t->ra, p));
    if (t->b >= 0) {
      P[t->b] = mn_sub(P[t->b], p);
      T[t->b] = mn_sub(T[t->b], mn_cross(t->rb, p));
    }
  }
}

static void fill_report(mn_contact *c, const mn_touches *touches, mn_contact_report *report)
{
  report->touches = (int)touches->count;
  report->tests = c->tests, report->work = c->work;
  for (size_t i = 0; i < touches->count; i++) {
    const mn_touch *t = &touches->at[i];
    double deep = -t->gap - (t->b < 0 ? c->def.thickness : 0);
    report->penetration = mn_max(report->penetration, deep);
  }
}

/* Speed at which a touch of the drift will meet; 0: it does not. */
static double impact_speed(const mn_contact *c, const mn_touch *t, double dt)
{
  double v0 = -mn_dot(t->n, mn_touch_velocity(t, c->start, c->node_start));
  double v1 = -mn_dot(t->n, mn_touch_velocity(t, c->free, c->node_free));
  double a = c->kick > 0 ? (v1 - v0) / c->kick : 0, v2 = v0 * v0 + 2 * a * mn_max(0, t->gap);
  double v = v2 > 0 ? sqrt(v2) : 0;
  int rests = v <= c->def.bounce_speed + 2 * mn_max(0, a) * dt;
  return v1 > 0 && v0 + a * dt > 0 && !rests ? v : 0;
}

void mn_contact_set_mobility(mn_contact *c, const uint8_t *changed, const double (*W)[6][6])
{
  c->changed = changed;
  c->changed_W = W;
}

/* The mobilities of a drift. */
static void set_mobility(mn_contact *c, const mn_rigid_state *pose)
{
  mn_contact_mobility(c, pose);
  for (int i = 0; c->changed && i < c->rigid->count; i++)
    if (c->changed[i]) {
      c->mobile[i].free = 0;
      memcpy(c->mobile[i].W, c->changed_W[i], sizeof c->mobile[i].W);
    }
}

/* Least normal velocity: the gap may close, to the end of the drift. What is found at its end is
   linear in the change of u from the round before; it asks for no more than the gap of the start.
 */
static double drift_target(const mn_touch *t, const mn_twist *u, double dt)
{
  if (!(t->key.feature & MN_TOUCH_END))
    return -mn_max(0, t->gap) / dt;
  return mn_dot(t->n, mn_touch_velocity(t, u, NULL)) - t->room / dt;
}

/* Whether another round is due: touches that were not looked at, or overlap at the end. Then
   c->drift has them. */
static mn_status look_again(mn_contact *c, const mn_rigid_state *pose, const mn_twist *twist,
                            const mn_contact_nodes *nodes, double dt, int round, int *again)
{
  int bad = 0;
  MN_TRY(mn_contact_find(c, pose, c->free, twist, nodes, c->node_free, dt, &c->again));
  if (c->def.ends)
    MN_TRY(mn_contact_find_ends(c, pose, twist, &c->again, dt, &bad));
  *again = (bad && round < END_ROUNDS) || (round < ROUNDS && !same_touches(&c->drift, &c->again));
  if (!*again)
    return MN_OK;
  c->drift.count = 0;
  for (size_t i = 0; i < c->again.count; i++)
    MN_TRY(mn_contact_append(c->ctx, &c->drift, &c->again.at[i]));
  for (size_t i = 0; i < c->end.count; i++)
    MN_TRY(mn_contact_append(c->ctx, &c->drift, &c->end.at[i]));
  mn_contact_sort(&c->drift);
  return MN_OK;
}

mn_status mn_contact_drift(mn_contact *c, const mn_rigid_state *pose, mn_twist *twist,
                           mn_contact_nodes *nodes, mn_soft_row *soft, int soft_count, double dt,
                           mn_vec3 *P, mn_vec3 *T, mn_twist *push, mn_contact_report *report)
{
  size_t n = (size_t)c->rigid->count, bytes = nodes->count * sizeof *nodes->v;
  *report = (mn_contact_report){0};
  c->tests = c->work = 0;
  memcpy(c->free, twist, n * sizeof *twist);
  if (nodes->count)
    memcpy(c->node_free, nodes->v, bytes);
  set_mobility(c, pose);
  mn_touches *touches = &c->drift;
  c->settle.count = c->end.count = 0;
  MN_TRY(mn_contact_find(c, pose, c->free, c->free, nodes, c->node_free, dt, touches));
  for (int round = 1;; round++) {
    take_guesses(round > 1 ? &c->next : &c->now, touches, 0);
    mn_contact_prepare(c, pose, nodes, touches);
    for (size_t i = 0; i < touches->count; i++)
      touches->at[i].target = drift_target(&touches->at[i], twist, dt);
    memcpy(twist, c->free, n * sizeof *twist);
    if (nodes->count)
      memcpy(nodes->v, c->node_free, bytes);
    mn_contact_sweeps(c, touches, twist, nodes, soft, soft_count, dt, report);
    report->rounds = round;
    MN_TRY(leave_guesses(c));
    if (touches->count == 0 || !c->def.sweep || report->lost)
      break;
    int again = 0;
    MN_TRY(look_again(c, pose, twist, nodes, dt, round, &again));
    if (!again)
      break;
  }
  mn_contact_push(c, touches, dt, push);
  for (size_t i = 0; i < touches->count; i++)
    touches->at[i].approach = impact_speed(c, &touches->at[i], dt);
  sum_impulses(c, touches, P, T);
  fill_report(c, touches, report);
  return MN_OK;
}

static const mn_touch *find_touch(const mn_touches *touches, mn_touch_key key)
{
  size_t lo = 0, hi = touches->count;
  int64_t k[3] = {key.a, key.b, key.feature};
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    int order = compare(k, &touches->at[mid].key);
    if (order == 0)
      return &touches->at[mid];
    if (order < 0)
      hi = mid;
    else
      lo = mid + 1;
  }
  return NULL;
}

/* Least velocity of parting of a touch at the new place, which met in the drift, there or at its
   end. */
static double settle_target(const mn_contact *c, const mn_touch *t, double u)
{
  mn_touch_key key = t->key;
  double target = 0;
  for (int end = 0; end < 2; end++, key.feature |= MN_TOUCH_END) {
    const mn_touch *d = find_touch(&c->drift, key);
    if (d && d->approach > 0 && (d->impulse > 0 || u < 0))
      target = mn_max(target, t->restitution * d->approach);
  }
  return target;
}

/* What presses on a body of the pair, other than its partner, the most. */
static int presser(const mn_contact *c, int body, int partner)
{
  double most = 0;
  int by = -1;
  for (size_t i = 0; i < c->drift.count; i++) {
    const mn_touch *t = &c->drift.at[i];
    int other = t->a == body ? t->b : t->b == body ? t->a : -1;
    if (other >= 0 && other != partner && t->impulse > most)
      most = t->impulse, by = other;
  }
  return by;
}

/* Bodies that have no way out: rigid ones whose overlap is deep and has grown. */
static void find_squeeze(const mn_contact *c, mn_squeeze *squeeze)
{
  static const double GROWN = 1.001;
  double worst = c->def.squeeze;
  for (size_t i = 0; i < c->settle.count; i++) {
    const mn_touch *t = &c->settle.at[i];
    if (t->b < 0 || -t->gap <= worst * t->size ||
        -t->gap <= -GROWN * mn_contact_start_gap(&c->drift, t->a, t->b))
      continue;
    worst = -t->gap / t->size;
    int body = c->mobile[t->a].moves ? t->a : t->b, into = body == t->a ? t->b : t->a;
    int by = presser(c, body, into);
    if (by < 0 && c->mobile[into].moves && (by = presser(c, into, body)) >= 0) {
      int swap = body;
      body = into, into = swap;
    }
    *squeeze = (mn_squeeze){body, into, by, -t->gap, t->size};
  }
}

mn_status mn_contact_settle(mn_contact *c, const mn_rigid_state *pose, mn_twist *twist,
                            mn_contact_nodes *nodes, double dt, mn_vec3 *P, mn_vec3 *T,
                            mn_contact_report *report)
{
  (void)dt;
  *report = (mn_contact_report){0};
  c->tests = c->work = 0;
  mn_contact_mobility(c, pose);
  MN_TRY(mn_contact_find(c, pose, twist, twist, nodes, nodes->v, 0, &c->settle));
  take_guesses(&c->now, &c->settle, 4);
  mn_contact_prepare(c, pose, nodes, &c->settle);
  for (size_t i = 0; i < c->settle.count; i++) {
    mn_touch *t = &c->settle.at[i];
    t->target = settle_target(c, t, mn_dot(t->n, mn_touch_velocity(t, twist, nodes->v)));
  }
  mn_contact_sweeps(c, &c->settle, twist, nodes, NULL, 0, 0, report);
  report->rounds = 1;
  sum_impulses(c, &c->settle, P, T);
  fill_report(c, &c->settle, report);
  find_squeeze(c, &report->squeeze);
  return MN_OK;
}

/* ---- state ----------------------------------------------------------------------------------- */

/* Merges touches of another solver in; both lists rise. */
static mn_status merge_guesses(mn_contact *c, const mn_touches *more)
{
  mn_guesses *g = &c->now;
  size_t i = g->count, j = more->count, to = i + j;
  MN_TRY(reserve(c->ctx, g, to));
  g->count = to;
  while (j > 0) {
    const mn_touch *t = &more->at[j - 1];
    to--;
    if (i > 0 && compare(g->key[i - 1], &t->key) > 0) {
      i--;
      memcpy(g->key[to], g->key[i], sizeof *g->key);
      memcpy(g->value[to], g->value[i], sizeof *g->value);
      continue;
    }
    j--;
    g->key[to][0] = t->key.a, g->key[to][1] = t->key.b, g->key[to][2] = t->key.feature;
    memset(g->value[to], 0, sizeof *g->value);
    double *v = g->value[to];
    v[0] = t->impulse, v[1] = t->tangent.x, v[2] = t->tangent.y, v[3] = t->tangent.z;
  }
  return MN_OK;
}

void mn_contact_guess(const mn_contact *c, mn_touches *touches)
{
  take_guesses(&c->now, touches, 0);
}

void mn_contact_clear(mn_contact *c)
{
  c->drift.count = c->settle.count = 0;
}

mn_status mn_contact_commit(mn_contact *c, const mn_touches *more)
{
  MN_TRY(leave_guesses(c));
  MN_TRY(copy_guesses(c->ctx, &c->now, &c->next));
  return merge_guesses(c, more);
}

mn_status mn_contact_save(mn_contact *c)
{
  return copy_guesses(c->ctx, &c->saved, &c->now);
}

mn_status mn_contact_restore(mn_contact *c)
{
  return copy_guesses(c->ctx, &c->now, &c->saved);
}

mn_status mn_contact_resize(mn_contact *c, size_t count)
{
  MN_TRY(reserve(c->ctx, &c->now, count));
  c->now.count = count;
  return MN_OK;
}

int mn_contact_arrays(mn_contact *c, mn_array *arrays, int capacity)
{
  if (capacity > 0)
    arrays[0] = (mn_array){.name = "contact_keys",
                           .type = MN_I64,
                           .rank = 2,
                           .shape = {c->now.count, 3},
                           .data = c->now.key,
                           .variable = 1};
  if (capacity > 1)
    arrays[1] = (mn_array){.name = "contact_impulses",
                           .type = MN_F64,
                           .rank = 2,
                           .shape = {c->now.count, 8},
                           .data = c->now.value,
                           .variable = 1};
  return 2;
}
