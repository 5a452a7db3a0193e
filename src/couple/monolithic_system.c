/* The matrices of monolithic.h: H = W E, B = D H, K' = K/g + H^T (m/dt) H; and the right-hand
   sides. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "couple/monolithic_system.h"
#include "math/vec.h"

/* Of the solid's inertia: what masses below 0 must leave of it where water may let go. */
static const double LEFT = 0.5;

void mn_mono_system_destroy(mn_mono_system *s)
{
  mn_csr_rows *matrices[] = {&s->WE, &s->H, &s->HT, &s->DT,     &s->D,    &s->B,
                             &s->BT, &s->K, &s->A,  &s->K_rest, &s->K_own};
  for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
    mn_csr_rows_destroy(matrices[i]);
  void *all[] = {s->g,          s->U,     s->F,     s->right_cells, s->right_solid, s->held,
                 s->pinned,     s->x,     s->b,     s->work,        s->border,      s->region_rows,
                 s->border_row, s->reply, s->small, s->parent,      s->rigid,       s->inverse};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mn_free(all[i]);
  mn_lu_destroy(&s->lu);
  mn_sparse_destroy(&s->factor);
  mn_sparse_destroy(&s->rest);
  mn_sparse_destroy(&s->weighed);
  mn_aggregates_destroy(&s->mesh);
  mn_arena_destroy(&s->arena);
  *s = (mn_mono_system){0};
}

static size_t more(size_t n)
{
  return n + n / 8 + 16;
}

static mn_status make_room(mn_mono_system *s)
{
  mn_context *ctx = s->ctx;
  s->cells = s->fluid.cells;
  s->rows = s->fluid.rows;
  s->own = s->freedoms = (size_t)s->solid.K.rows;
  if (s->cells > s->cell_room) {
    s->cell_room = 0;
    MN_TRY(MN_RENEW(ctx, "right-hand sides", more(s->cells), &s->right_cells));
    MN_TRY(MN_RENEW(ctx, "held cells", more(s->cells), &s->held));
    s->cell_room = more(s->cells);
  }
  if (s->rows > s->row_room || !s->U) {
    s->row_room = 0;
    MN_TRY(MN_RENEW(ctx, "velocities of faces", more(s->rows), &s->U));
    MN_TRY(MN_RENEW(ctx, "forces on faces", more(s->rows), &s->F));
    s->row_room = more(s->rows);
  }
  return MN_OK;
}

static mn_status make_freedoms(mn_mono_system *s)
{
  mn_context *ctx = s->ctx;
  s->freedoms = s->own + s->borders;
  if (s->freedoms > s->freedom_room || !s->g) {
    s->freedom_room = 0;
    MN_TRY(MN_RENEW(ctx, "rates of freedoms", more(s->freedoms), &s->g));
    MN_TRY(MN_RENEW(ctx, "right-hand sides", more(s->freedoms), &s->right_solid));
    s->freedom_room = more(s->freedoms);
  }
  return MN_OK;
}

/* Held as the fluid last had them, if it knows. */
static void begin_held(mn_mono_system *s)
{
  int known = 0;
  for (size_t i = 0; i < s->cells; i++)
    known |= s->fluid.p[i] != 0;
  for (size_t i = 0; i < s->cells; i++)
    s->held[i] = s->fluid.bound && s->fluid.bound[i] && known && s->fluid.p[i] <= 0;
  s->held_known = 1;
}

/* ---- the rates of freedoms ------------------------------------------------------------------- */

/* g of the freedoms that points have, 0 of the others; whether all points have the same. */
static int rates_of_points(mn_mono_system *s)
{
  const mn_interface *f = &s->boxes->face;
  const mn_sparse_matrix *E = &s->solid.E;
  int same = 1;
  memset(s->g, 0, s->own * sizeof *s->g);
  for (size_t i = 0; i < f->count; i++) {
    same &= f->lead[i] == f->lead[0];
    for (int64_t e = E->start[3 * i]; e < E->start[3 * i + 3]; e++)
      s->g[E->col[e]] = (1 + f->lead[i]) / s->dt;
  }
  return same;
}

/* Freedoms inside bodies go by the rule of those they are joined with. */
static void find_rates(mn_mono_system *s)
{
  const mn_sparse_matrix *K = &s->solid.K;
  const mn_interface *f = &s->boxes->face;
  int same = rates_of_points(s), changed = !same;
  double common = f->count ? (1 + f->lead[0]) / s->dt : 1 / s->dt;
  while (changed) {
    changed = 0;
    for (int64_t i = 0; i < K->rows; i++)
      for (int64_t e = K->start[i]; e < K->start[i + 1] && s->g[i] == 0; e++)
        if (s->g[K->col[e]] > 0) {
          s->g[i] = s->g[K->col[e]];
          changed = 1;
        }
  }
  for (size_t i = 0; i < s->freedoms; i++)
    s->g[i] = s->g[i] > 0 ? s->g[i] : common;
  s->symmetric = 1;
  for (int64_t i = 0; i < K->rows && !same; i++)
    for (int64_t e = K->start[i]; e < K->start[i + 1]; e++)
      s->symmetric &= s->g[K->col[e]] == s->g[i];
}

/* ---- the matrices ---------------------------------------------------------------------------- */

static mn_status build_flows(mn_mono_system *s)
{
  const mn_csr *WE = &s->WE.a;
  if (!s->borders) { /* the same */
    mn_csr_rows same = s->H;
    s->H = s->WE;
    s->WE = same;
    return s->large ? MN_OK : mn_csr_rows_transpose(s->ctx, &s->H.a, &s->HT);
  }
  MN_TRY(mn_csr_rows_begin(s->ctx, &s->H, (int64_t)s->rows, (int64_t)s->freedoms));
  for (int64_t r = 0; r < WE->rows; r++) {
    for (int64_t e = WE->start[r]; e < WE->start[r + 1]; e++)
      mn_csr_rows_add(&s->H, WE->col[e], WE->value[e]);
    for (size_t k = 0; k < s->borders; k++) {
      int breath = s->border[k].kind == MN_MONO_BREATH;
      double part = breath ? mn_mono_breath(s, s->border[k].grid, (size_t)r) : 0;
      if (part != 0)
        mn_csr_rows_add(&s->H, (int64_t)(s->own + k), part);
    }
    MN_TRY(mn_csr_rows_next(s->ctx, &s->H));
  }
  return mn_csr_rows_transpose(s->ctx, &s->H.a, &s->HT);
}

/* K' of the first n freedoms, with a part of the solid's own K. */
static mn_status build_solid(mn_mono_system *s, int64_t n, double part)
{
  const mn_sparse_matrix *K = &s->solid.K;
  const mn_csr *H = &s->H.a, *HT = &s->HT.a;
  MN_TRY(mn_csr_rows_begin(s->ctx, &s->K, n, n));
  for (int64_t i = 0; i < n; i++) {
    mn_csr_rows_add(&s->K, i, 0);
    for (int64_t e = i < K->rows ? K->start[i] : 0; i < K->rows && e < K->start[i + 1]; e++)
      mn_csr_rows_add(&s->K, K->col[e], part * K->value[e] / s->g[K->col[e]]);
    for (int64_t e = HT->start[i]; e < HT->start[i + 1] && s->masses; e++) {
      int64_t r = HT->col[e];
      double rate = HT->value[e] * mn_mono_mass(s, (size_t)r) / s->dt;
      for (int64_t f = H->start[r]; f < H->start[r + 1] && H->col[f] < n; f++)
        mn_csr_rows_add(&s->K, H->col[f], rate * H->value[f]);
    }
    if (n > (int64_t)s->own)
      mn_mono_border_entries(s, (size_t)i);
    MN_TRY(mn_csr_rows_next(s->ctx, &s->K));
  }
  return MN_OK;
}

mn_status mn_mono_build(mn_mono_system *s)
{
  MN_TRY(make_room(s));
  if (!s->held_known)
    begin_held(s);
  MN_TRY(mn_mono_build_faces(s));
  MN_TRY(mn_mono_find_constants(s));
  MN_TRY(make_freedoms(s));
  find_rates(s);
  s->large = mn_mono_is_large(s, s->solver);
  MN_TRY(build_flows(s));
  return s->large ? MN_OK : build_solid(s, (int64_t)s->freedoms, 1);
}

static int has_deformable(const mn_mono_system *s)
{
  const mn_interface *f = &s->boxes->face;
  for (size_t i = 0; i < f->count; i++)
    if (!f->rigid[i])
      return 1;
  return 0;
}

mn_status mn_mono_weigh(mn_mono_system *s, int *light)
{
  mn_factor_report report = {.positive_definite = 1};
  int below = 0, bound = s->fluid.bound != NULL;
  for (size_t r = 0; r < s->rows; r++)
    below |= mn_mono_mass(s, r) < 0;
  *light = 0;
  if (!below || !s->own || !(bound || has_deformable(s)))
    return MN_OK;
  if (!s->weighed)
    MN_TRY(mn_sparse_create(s->ctx, &s->weighed));
  if (s->large) /* which goes without it elsewhere */
    MN_TRY(mn_csr_rows_transpose(s->ctx, &s->H.a, &s->HT));
  MN_TRY(build_solid(s, (int64_t)s->own, bound ? 1 - LEFT : 1));
  if (bound)
    MN_TRY(mn_sparse_factorise(s->weighed, &s->K.a, &report));
  else
    MN_TRY(mn_mono_deformable_positive(s, &report.positive_definite));
  *light = !report.positive_definite;
  if (s->large)
    return MN_OK;
  return build_solid(s, (int64_t)s->freedoms, 1);
}

/* ---- vectors --------------------------------------------------------------------------------- */

static void right_of_border(mn_mono_system *s)
{
  for (size_t k = 0; k < s->borders; k++) {
    const mn_mono_border *b = &s->border[k];
    double rate = b->volume >= 0 ? s->volume[b->volume].rate : 0, *right = s->right_solid + s->own;
    if (b->kind == MN_MONO_NET)
      right[k] = mn_mono_net(s, b->grid);
    else if (b->kind == MN_MONO_SWEPT)
      right[k] = rate;
    else if (b->kind == MN_MONO_TIED)
      right[k] = rate - mn_mono_net(s, b->grid);
  }
}

mn_status mn_mono_right(mn_mono_system *s)
{
  const mn_interface *f = &s->boxes->face;
  const mn_sparse_matrix *E = &s->solid.E;
  mn_boxes_gather(s->boxes, s->U);
  if (s->settled) {
    mn_boxes_gather_of(s->boxes, s->settled, s->F);
    for (size_t r = 0; r < s->rows; r++)
      s->U[r] += s->F[r];
  }
  memcpy(s->right_cells, s->fluid.c, s->cells * sizeof *s->right_cells);
  mn_mono_add_outflow(s, -1, s->U, s->right_cells);
  for (size_t r = 0; r < s->rows; r++)
    s->F[r] = -mn_mono_mass(s, r) / s->dt * (s->U[r] - s->fluid.before[r]);
  memcpy(s->right_solid, s->solid.r, s->own * sizeof *s->right_solid);
  memset(s->right_solid + s->own, 0, s->borders * sizeof *s->right_solid);
  mn_mono_add_forces(s, 1, s->F, s->right_solid);
  for (size_t i = 0; i < f->count; i++)
    for (size_t a = 0; a < 3; a++)
      for (int64_t e = E->start[3 * i + a]; e < E->start[3 * i + a + 1]; e++)
        s->right_solid[E->col[e]] += E->value[e] * s->fluid.rest[i].v[a];
  right_of_border(s);
  return MN_OK;
}

void mn_mono_slack(mn_mono_system *s, const double *p, const double *v, double *slack)
{
  mn_boxes_apply(s->boxes, p, slack);
  mn_mono_add_flow(s, 1, v, slack);
  for (size_t i = 0; i < s->cells; i++)
    slack[i] -= s->right_cells[i];
}

/* load += p0 (N - W^T d) of closed regions: surfaces feel p0 by their own areas, not by those of
   the faces. */
static mn_status bridge(mn_mono_system *s, mn_vec3 *load)
{
  size_t points = s->boxes->face.count;
  mn_vec3 *part;
  s->bridge = mn_v3(0, 0, 0);
  if (!s->volumes)
    return MN_OK;
  mn_arena_mark mark = mn_arena_save(&s->arena);
  MN_TRY(MN_PUSH(s->ctx, &s->arena, points, &part));
  mn_mono_pressed(s, s->F);
  mn_status status = mn_boxes_scatter(s->boxes, s->F, part);
  for (size_t i = 0; i < points && status == MN_OK; i++) {
    part[i] = mn_scale(-1, part[i]);
    for (int r = 0; r < s->volumes; r++)
      if (s->volume[r].row)
        part[i] = mn_madd(part[i], s->volume[r].p0, s->volume[r].row[i]);
    load[i] = mn_add(load[i], part[i]);
    s->bridge = mn_add(s->bridge, part[i]);
  }
  mn_arena_reset(&s->arena, mark);
  return status;
}

mn_status mn_mono_load(mn_mono_system *s, double *p, const double *v, mn_vec3 *load)
{
  const mn_csr *H = &s->H.a;
  mn_mono_free_parts(s, v, p);
  mn_mono_press(s, p, s->F);
  for (int64_t r = 0; r < H->rows; r++) {
    double U = s->U[r];
    for (int64_t e = H->start[r]; e < H->start[r + 1]; e++)
      U += H->value[e] * v[H->col[e]];
    s->F[r] -= mn_mono_mass(s, (size_t)r) / s->dt * (U - s->fluid.before[r]);
  }
  MN_TRY(mn_boxes_scatter(s->boxes, s->F, load));
  for (size_t i = 0; i < s->boxes->face.count; i++)
    for (int a = 0; a < 3; a++)
      load[i].v[a] += s->fluid.rest[i].v[a];
  return bridge(s, load);
}
