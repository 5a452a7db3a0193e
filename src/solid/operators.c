/* The solids as linear operators, for couplings that solve them and a fluid as one system
   (include/meniscus/operators.h).

   Freedoms: those of the rigid bodies (operators_rigid.c), then the free axes of the nodes, as
   changes of their places at the end of the substep (deform_operators.c):

       K = | rigid bodies, joined by springs      0     |      E = | motion of the points of bodies
   | | 0                                   A/sx   |          | weights of points on nodes     |

   E^T load is what the loads do on the freedoms: the weights that move the points, so that power is
   kept to rounding. An iteration of K q = r + E^T load ends where `solve` ends under the same loads
   acting at the same X, but for contact. Where something touches (operators_touch.c) a coupling
   asks `solve`, which makes what it found the iterate: about it r = -E^T load, so that q is what a
   change of the loads does, and K holds what touches.

   The pattern stands while no node is fixed or let go and the sampling is the same; then a
   linearisation only writes values. Verified by tests/unit/solid/test_operators.c. */
#include "meniscus/operators.h"

#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "solid/deform_internal.h"
#include "solid/solid_internal.h"

typedef struct mn_linear {
  mn_rigid_iterate *body;
  int64_t rigid, freedoms; /* of rigid bodies; all */
  int64_t *freedom;        /* [nodes dim]: of each axis; -1: fixed */
  uint8_t *fixed;          /* [nodes] as the pattern has them */
  size_t points;           /* of the sampling that E is of */
  int made, crossed;       /* the pattern stands; it is that of a contact */
  int solved;              /* the iterate is that of a solve */
  mn_node_pair *joined; /* [pairs] of rigid bodies, both ways round and with themselves, rising */
  size_t pairs, pair_room;
  mn_csr K, E;
  size_t K_room, E_room, row_room, point_room; /* entries; rows */
  int64_t *from;                               /* of K: where in A, for the nodes' rows */
  int64_t own;                                 /* entries of K of rigid bodies */
  double *r, *q;                               /* [freedoms]; [nodes dim] */
} mn_linear;

static size_t dofs(const mn_solids *s)
{
  return s->nodes.nodes * (size_t)s->def.dim;
}

static mn_status make(mn_solids *s)
{
  mn_linear *l;
  size_t n = (size_t)s->rigid->count;
  MN_TRY(MN_NEW(s->ctx, "the solids' operators", 1, &l));
  s->linear = l;
  MN_TRY(MN_NEW(s->ctx, "the solids' operators", n, &l->body));
  MN_TRY(MN_NEW(s->ctx, "the solids' operators", dofs(s), &l->freedom));
  MN_TRY(MN_NEW(s->ctx, "the solids' operators", s->nodes.nodes, &l->fixed));
  MN_TRY(MN_NEW(s->ctx, "the solids' operators", dofs(s), &l->q));
  MN_TRY(MN_NEW(s->ctx, "the solids' operators", 6 * n + dofs(s), &l->r));
  return MN_NEW(s->ctx, "the solids' operators", 6 * n + dofs(s) + 1, &l->K.start);
}

void mn_solids_linear_destroy(mn_solids *s)
{
  mn_linear *l = s->linear;
  if (!l)
    return;
  void *all[] = {l->body, l->freedom, l->fixed, l->q, l->r, l->from, l->joined};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mn_free(all[i]);
  mn_csr_destroy(&l->K);
  mn_csr_destroy(&l->E);
  mn_free(l);
  s->linear = NULL;
}

/* ---- pattern --------------------------------------------------------------------------------- */

/* Room for entries; what was there is lost. */
static mn_status reserve(mn_solids *s, mn_csr *m, size_t entries, size_t *room, int64_t **from)
{
  if (entries <= *room && m->col)
    return MN_OK;
  size_t more = entries + entries / 8 + 16;
  *room = 0;
  MN_TRY(MN_RENEW(s->ctx, "the solids' operators", more, &m->col));
  MN_TRY(MN_RENEW(s->ctx, "the solids' operators", more, &m->value));
  if (from)
    MN_TRY(MN_RENEW(s->ctx, "the solids' operators", more, from));
  *room = more;
  return MN_OK;
}

static void join(mn_linear *l, int a, int b)
{
  if (l->body[a].freedoms && l->body[b].freedoms)
    l->joined[l->pairs++] = (mn_node_pair){(uint32_t)a, (uint32_t)b};
}

static int by_pair(const void *a, const void *b)
{
  const mn_node_pair *p = a, *q = b;
  if (p->row != q->row)
    return p->row < q->row ? -1 : 1;
  return p->col < q->col ? -1 : p->col > q->col;
}

/* Bodies whose freedoms meet in K: by springs and by touches. */
static mn_status join_bodies(mn_solids *s, mn_linear *l)
{
  const mn_touches *touches = &s->contact->drift;
  size_t most = (size_t)s->rigid->count + 2 * (size_t)s->rigid->springs + 2 * touches->count, n = 0;
  if (most > l->pair_room) {
    l->pair_room = 0;
    MN_TRY(MN_RENEW(s->ctx, "the solids' operators", most + most / 8, &l->joined));
    l->pair_room = most + most / 8;
  }
  l->pairs = 0;
  for (int i = 0; i < s->rigid->count; i++)
    join(l, i, i);
  for (int i = 0; i < s->rigid->springs; i++)
    if (s->rigid->spring[i].b >= 0) {
      join(l, s->rigid->spring[i].a, s->rigid->spring[i].b);
      join(l, s->rigid->spring[i].b, s->rigid->spring[i].a);
    }
  for (size_t i = 0; l->solved && i < touches->count; i++)
    if (touches->at[i].b >= 0) {
      join(l, touches->at[i].a, touches->at[i].b);
      join(l, touches->at[i].b, touches->at[i].a);
    }
  if (l->pairs)
    qsort(l->joined, l->pairs, sizeof *l->joined, by_pair);
  for (size_t i = 0; i < l->pairs; i++)
    if (i == 0 || by_pair(&l->joined[n - 1], &l->joined[i]) != 0)
      l->joined[n++] = l->joined[i];
  l->pairs = n;
  return MN_OK;
}

/* Rows of the rigid bodies; without K: only counts. */
static int64_t rigid_rows(const mn_linear *l, mn_csr *K)
{
  int64_t e = 0;
  for (size_t i = 0, end; i < l->pairs; i = end) {
    const mn_rigid_iterate *row = &l->body[l->joined[i].row];
    for (end = i; end < l->pairs && l->joined[end].row == l->joined[i].row;)
      end++;
    for (int f = 0; f < row->freedoms; f++) {
      if (K)
        K->start[row->first + f] = e;
      for (size_t j = i; j < end; j++) {
        const mn_rigid_iterate *col = &l->body[l->joined[j].col];
        for (int g = 0; g < col->freedoms; g++, e++)
          if (K)
            K->col[e] = col->first + g;
      }
    }
  }
  return e;
}

/* Rows of the nodes: those of A between free axes; A NULL: the diagonal. */
static int64_t node_rows(const mn_solids *s, mn_linear *l, const mn_csr *A, int64_t e, int write)
{
  for (size_t i = 0; i < dofs(s); i++) {
    int64_t row = l->freedom[i], from = A ? A->start[i] : (int64_t)i;
    int64_t to = A ? A->start[i + 1] : (int64_t)i + 1;
    if (row < 0)
      continue;
    if (write)
      l->K.start[row] = e;
    for (int64_t k = from; k < to; k++) {
      int64_t col = l->freedom[A ? A->col[k] : k];
      if (col < 0)
        continue;
      if (write) {
        l->K.col[e] = col;
        l->from[e] = k;
      }
      e++;
    }
  }
  return e;
}

static void number_freedoms(const mn_solids *s, mn_linear *l)
{
  size_t dim = (size_t)s->def.dim;
  l->rigid = 0;
  for (int i = 0; i < s->rigid->count; i++)
    l->rigid += l->body[i].freedoms;
  l->freedoms = l->rigid;
  for (size_t i = 0; i < dofs(s); i++)
    l->freedom[i] = s->nodes.fixed[i / dim] >> (i % dim) & 1 ? -1 : l->freedoms++;
  if (s->nodes.nodes)
    memcpy(l->fixed, s->nodes.fixed, s->nodes.nodes);
}

static mn_status make_K(mn_solids *s, mn_linear *l, const mn_csr *A)
{
  MN_TRY(join_bodies(s, l));
  l->own = rigid_rows(l, NULL);
  int64_t entries = node_rows(s, l, A, l->own, 0);
  MN_TRY(reserve(s, &l->K, (size_t)entries, &l->K_room, &l->from));
  rigid_rows(l, &l->K);
  node_rows(s, l, A, l->own, 1);
  l->K.rows = l->K.cols = l->freedoms;
  l->K.start[l->freedoms] = entries;
  return MN_OK;
}

/* Whether freedom f of a body moves its points along the axis. */
static int may_move(const mn_solids *s, int body, int f, int axis)
{
  if (axis >= s->def.dim)
    return 0;
  if (s->rigid->body[body].def.joint != MN_JOINT_NONE)
    return 1;
  if (f < s->def.dim)
    return f == axis;
  return s->def.dim == 2 || f - 3 != axis;
}

static int64_t point_rows(const mn_solids *s, const mn_linear *l, mn_csr *E)
{
  int64_t e = 0;
  for (size_t k = 0; k < s->points; k++) {
    const mn_rigid_iterate *b = &l->body[s->point[k].body];
    for (int a = 0; a < 3; a++) {
      if (E)
        E->start[3 * k + (size_t)a] = e;
      for (int f = 0; f < b->freedoms; f++)
        if (may_move(s, s->point[k].body, f, a)) {
          if (E)
            E->col[e] = b->first + f;
          e++;
        }
    }
  }
  return e;
}

/* The rows of points on nodes, whose values are the weights. */
static int64_t surface_rows(const mn_solids *s, const mn_linear *l, int64_t e, mn_csr *E)
{
  size_t dim = (size_t)s->def.dim;
  for (size_t k = 0; k < 3 * s->surface.count; k++) {
    const mn_surface_point *p = &s->surface.point[k / 3];
    size_t axis = k % 3;
    int64_t first = e;
    if (E)
      E->start[3 * s->points + k] = e;
    for (int q = 0; q < p->nodes && axis < dim; q++) {
      int64_t col = l->freedom[p->node[q] * dim + axis];
      if (col < 0)
        continue;
      int64_t at = e++;
      for (; E && at > first && E->col[at - 1] > col; at--) { /* columns rise */
        E->col[at] = E->col[at - 1];
        E->value[at] = E->value[at - 1];
      }
      if (E) {
        E->col[at] = col;
        E->value[at] = p->weight[q];
      }
    }
  }
  return e;
}

static mn_status make_E(mn_solids *s, mn_linear *l)
{
  size_t rows = 3 * (s->points + s->surface.count);
  int64_t own = point_rows(s, l, NULL), entries = surface_rows(s, l, own, NULL);
  if (rows + 1 > l->row_room) {
    l->row_room = 0;
    MN_TRY(MN_RENEW(s->ctx, "the solids' operators", rows + 1, &l->E.start));
    l->row_room = rows + 1;
  }
  MN_TRY(reserve(s, &l->E, (size_t)entries, &l->E_room, NULL));
  point_rows(s, l, &l->E);
  surface_rows(s, l, own, &l->E);
  l->E.rows = (int64_t)rows, l->E.cols = l->freedoms;
  l->E.start[rows] = entries;
  return MN_OK;
}

static mn_status make_pattern(mn_solids *s, const mn_csr *A)
{
  mn_linear *l = s->linear;
  int crossed = l->solved; /* touches: blocks that come and go */
  if (l->made && !crossed && !l->crossed && l->points == s->points + s->surface.count &&
      (!s->nodes.nodes || memcmp(l->fixed, s->nodes.fixed, s->nodes.nodes) == 0))
    return MN_OK;
  l->made = 0;
  number_freedoms(s, l);
  MN_TRY(make_K(s, l, A));
  MN_TRY(make_E(s, l));
  l->points = s->points + s->surface.count;
  l->made = 1, l->crossed = crossed;
  return MN_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void set_rigid(mn_solids *s, mn_linear *l)
{
  memset(l->K.value, 0, (size_t)l->own * sizeof *l->K.value);
  for (int i = 0; i < s->rigid->count; i++) {
    const mn_rigid_iterate *b = &l->body[i];
    for (int f = 0; f < b->freedoms; f++) {
      int64_t at = mn_csr_find(&l->K, b->first + f, b->first);
      for (int g = 0; g < b->freedoms; g++)
        l->K.value[at + g] = b->K[f][g];
      l->r[b->first + f] = b->r[f];
    }
  }
  mn_iterate_springs(s, l->body, &l->K);
  if (l->solved)
    mn_iterate_touches(s, l->body, &l->K);
  for (size_t k = 0; k < s->points; k++) {
    int i = s->point[k].body;
    const mn_rigid_state *pose = &s->rigid->next[i];
    mn_vec3 at = mn_rigid_point(&s->rigid->body[i], pose, s->point[k].x);
    for (size_t row = 3 * k; row < 3 * k + 3; row++)
      for (int64_t e = l->E.start[row]; e < l->E.start[row + 1]; e++) {
        int f = (int)l->E.col[e] - l->body[i].first;
        l->E.value[e] = mn_freedom_motion(s, i, pose, f, at).v[row % 3];
      }
  }
}

/* Whether K is A: nothing is fixed, no body is rigid, nothing scaled. It is then not copied. */
static int is_whole(const mn_solids *s, const mn_linear *l, const mn_deform_linear *d)
{
  return d->A && d->sx == 1 && l->rigid == 0 && l->freedoms == (int64_t)dofs(s);
}

static void set_nodes(mn_solids *s, mn_linear *l, const mn_deform_linear *d)
{
  size_t dim = (size_t)s->def.dim;
  int64_t entries = is_whole(s, l, d) ? 0 : mn_csr_entries(&l->K);
  int threads = entries < 65536 ? 1 : s->ctx->exec.threads;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int64_t e = l->own; e < entries; e++)
    l->K.value[e] = d->A ? d->A->value[l->from[e]] / d->sx
                         : s->nodes.mass[(size_t)l->from[e] / dim] / (s->dt * s->dt);
  for (size_t i = 0; i < dofs(s); i++)
    if (l->freedom[i] >= 0)
      l->r[l->freedom[i]] = d->r[i];
}

/* r = -E^T load */
static void balance_loads(const mn_interface *f, mn_linear *l)
{
  memset(l->r, 0, (size_t)l->freedoms * sizeof *l->r);
  for (int64_t i = 0; f->count && i < l->E.rows; i++)
    for (int64_t e = l->E.start[i]; e < l->E.start[i + 1]; e++)
      l->r[l->E.col[e]] -= l->E.value[e] * f->load[i / 3].v[i % 3];
}

void mn_solids_keep_drift(mn_solids *s, int i, const mn_rigid_state *half)
{
  if (s->linear && s->linear->body[i].freedoms)
    s->linear->body[i].half = *half;
}

void mn_solids_linear_solved(mn_solids *s, int solved)
{
  if (s->linear)
    s->linear->solved = solved;
}

/* Whether K and E do not depend on the iterate. */
static int is_linear(const mn_solids *s)
{
  for (int i = 0; i < s->rigid->count; i++)
    if (s->rigid->body[i].moves && s->rigid->body[i].def.joint != MN_JOINT_PRISMATIC)
      return 0;
  return s->rigid->springs == 0 && (!s->deform || mn_deform_scheme(s->deform) == MN_EXPLICIT);
}

static mn_sparse_matrix view(const mn_csr *a)
{
  return (mn_sparse_matrix){a->rows, a->cols, a->start, a->col, a->value};
}

/* ---- the table ------------------------------------------------------------------------------- */

static mn_status start(void *self, mn_interface *f)
{
  mn_solids *s = self;
  if (!s->linear) {
    mn_status status = make(s);
    if (status != MN_OK) {
      mn_solids_linear_destroy(s);
      return status;
    }
  }
  MN_TRY(mn_solids_take(s, f));
  if (s->deform) {
    mn_deform_start(s->deform);
    s->nodes = mn_deform_get(s->deform);
  }
  s->linear->solved = 0;
  s->touch.count = 0;
  s->report.settle = s->report.drift = (mn_contact_report){0};
  s->report.press_depth = 0;
  mn_contact_clear(s->contact);
  if (s->nodes.bodies)
    memset(s->kick_force, 0, (size_t)s->nodes.bodies * sizeof *s->kick_force);
  mn_springs_begin(s);
  mn_iterate_start(s, s->linear->body);
  mn_iterate_place(s, s->linear->body);
  mn_solids_show(s, f);
  return MN_OK;
}

static mn_status check_started(mn_solids *s)
{
  return s->linear ? MN_OK : mn_fail(s->ctx, MN_BAD_INPUT, "solids: linearise before start");
}

static mn_status linearise(void *self, const mn_interface *f, mn_solid_linear *out)
{
  mn_solids *s = self;
  mn_deform_linear d = {0};
  MN_TRY(check_started(s));
  mn_linear *l = s->linear;
  MN_TRY(mn_solids_take(s, f));
  if (s->deform)
    MN_TRY(mn_deform_linearise(s->deform, out->curvature, &d));
  MN_TRY(make_pattern(s, d.A));
  double scale;
  mn_iterate_linearise(s, l->body, f, &scale);
  set_rigid(s, l);
  if (s->deform)
    set_nodes(s, l, &d);
  if (l->solved)
    balance_loads(f, l);
  *out = (mn_solid_linear){.curvature = out->curvature,
                           .K = view(is_whole(s, l, &d) ? d.A : &l->K),
                           .E = view(&l->E),
                           .r = l->r,
                           .scale = mn_max(scale, d.scale),
                           .linear = is_linear(s) && !l->solved};
  return MN_OK;
}

static mn_status advance(void *self, const double *q, double step, mn_interface *f, double *taken)
{
  mn_solids *s = self;
  MN_TRY(check_started(s));
  mn_linear *l = s->linear;
  MN_TRY(mn_solids_take(s, f));
  *taken = step;
  if (s->deform) {
    for (size_t i = 0; i < dofs(s); i++)
      l->q[i] = l->freedom[i] >= 0 ? q[l->freedom[i]] : 0;
    MN_TRY(mn_deform_advance(s->deform, s->node_load, l->q, step, taken));
    s->nodes = mn_deform_get(s->deform);
  }
  l->solved = 0;
  mn_iterate_advance(s, l->body, q, *taken);
  mn_iterate_place(s, l->body);
  memcpy(s->bare, s->rigid->next, (size_t)s->rigid->count * sizeof *s->bare);
  MN_TRY(mn_solids_check_finite(s));
  mn_solids_show(s, f);
  return MN_OK;
}

static double missed(void *self)
{
  const mn_solids *s = self;
  double links = mn_iterate_missed(s, s->linear->body);
  return mn_max(links, s->deform ? mn_deform_missed(s->deform) : 0);
}

const mn_solid_operators mn_solids_operators = {start, linearise, advance, mn_solids_touches,
                                                missed};
