/* The faces of the one system: W E, how they move with the solid's freedoms, and products with H, D
   and B = D H, which go from face to face: cells are many, and most have no part in them (as sparse
   matrices D and B were a sixth of a solve with a ball on 128^3 cells).

   A row of W of a rigid body has all its points, whose product with E is six numbers: the
   velocities of the face by a unit of each freedom, which the fluid's `gather` tells of all bodies
   at once (a ball of 6,000 points on 32^3 cells: 0.3 s less a substep). */
#include "base/status.h"
#include "couple/monolithic_system.h"

enum { MOST_FREEDOMS = 6 };

/* freedom[MOST_FREEDOMS body + k]: the k-th of each rigid body, rising; -1: it has fewer. */
static void list_freedoms(const mn_mono_system *s, int bodies, int64_t *freedom)
{
  const mn_interface *f = &s->boxes->face;
  const mn_sparse_matrix *E = &s->solid.E;
  for (int k = 0; k < MOST_FREEDOMS * bodies; k++)
    freedom[k] = -1;
  for (size_t i = 0; i < f->count; i++) {
    int64_t *own = freedom + MOST_FREEDOMS * f->body[i];
    if (!f->rigid[i] || (i && f->body[i] == f->body[i - 1]))
      continue;
    for (int64_t e = E->start[3 * i]; e < E->start[3 * i + 3]; e++) {
      int at = 0, last;
      while (at < MOST_FREEDOMS && own[at] >= 0 && own[at] < E->col[e])
        at++;
      if (at == MOST_FREEDOMS || own[at] == E->col[e])
        continue;
      for (last = MOST_FREEDOMS - 1; last > at; last--)
        own[last] = own[last - 1];
      own[at] = E->col[e];
    }
  }
}

/* U[k rows + r]: of a unit of the k-th freedom of the row's body. */
static void gather_freedoms(mn_mono_system *s, const int64_t *freedom, mn_vec3 *V, double *U)
{
  const mn_interface *f = &s->boxes->face;
  const mn_sparse_matrix *E = &s->solid.E;
  for (size_t k = 0; k < MOST_FREEDOMS; k++) {
    for (size_t i = 0; i < f->count; i++)
      for (size_t a = 0; a < 3; a++) {
        V[i].v[a] = 0;
        for (int64_t e = E->start[3 * i + a]; e < E->start[3 * i + a + 1] && f->rigid[i]; e++)
          if (E->col[e] == freedom[MOST_FREEDOMS * (size_t)f->body[i] + k])
            V[i].v[a] = E->value[e];
      }
    mn_boxes_gather_of(s->boxes, V, U + k * s->rows);
  }
}

/* Whether W E has the rows of W with other names of columns, in the same order: every point has
   freedoms of its own, or none. Then no row has to be summed up and sorted. */
static int is_one_to_one(const mn_sparse_matrix *E)
{
  int64_t last = -1;
  for (int64_t i = 0; i < E->rows; i++) {
    if (E->start[i + 1] - E->start[i] > 1)
      return 0;
    for (int64_t e = E->start[i]; e < E->start[i + 1]; last = E->col[e++])
      if (E->col[e] <= last)
        return 0;
  }
  return 1;
}

/* W E of deformable bodies, E being one to one. */
static mn_status rename_columns(mn_mono_system *s, const mn_sparse_matrix *W)
{
  const mn_sparse_matrix *E = &s->solid.E;
  mn_csr *WE = &s->WE.a;
  MN_TRY(mn_csr_rows_begin(s->ctx, &s->WE, W->rows, E->cols));
  MN_TRY(mn_csr_rows_reserve(s->ctx, &s->WE, W->start[W->rows]));
  for (int64_t r = 0, to = 0; r < W->rows; r++) {
    for (int64_t e = W->start[r]; e < W->start[r + 1]; e++) {
      int64_t f = E->start[W->col[e]];
      if (f == E->start[W->col[e] + 1])
        continue;
      WE->col[to] = E->col[f];
      WE->value[to++] = W->value[e] * E->value[f];
    }
    WE->start[r + 1] = to;
  }
  s->WE.row = W->rows;
  return MN_OK;
}

/* W E with the rows of rigid bodies by `gather`. */
static mn_status multiply(mn_mono_system *s, const mn_sparse_matrix *W, const int32_t *body,
                          const int64_t *freedom, const double *U)
{
  const mn_sparse_matrix *E = &s->solid.E;
  MN_TRY(mn_csr_rows_begin(s->ctx, &s->WE, W->rows, E->cols));
  for (int64_t r = 0; r < W->rows; r++) {
    for (int64_t e = W->start[r]; e < W->start[r + 1]; e++)
      for (int64_t f = E->start[W->col[e]]; f < E->start[W->col[e] + 1]; f++)
        mn_csr_rows_add(&s->WE, E->col[f], W->value[e] * E->value[f]);
    for (int k = 0; k < MOST_FREEDOMS && body[r] >= 0; k++) {
      int64_t col = freedom[MOST_FREEDOMS * body[r] + k];
      double u = U[(size_t)k * s->rows + (size_t)r];
      if (col >= 0 && u != 0)
        mn_csr_rows_add(&s->WE, col, u);
    }
    MN_TRY(mn_csr_rows_next(s->ctx, &s->WE));
  }
  return MN_OK;
}

static mn_status build_WE(mn_mono_system *s)
{
  const mn_interface *f = &s->boxes->face;
  mn_sparse_matrix W;
  const int32_t *body;
  int64_t *freedom;
  mn_vec3 *V;
  double *U;
  int bodies = 0;
  MN_TRY(mn_boxes_weights(s->boxes, &W, &body));
  if (!body) {
    mn_csr w = mn_csr_view(&W), e = mn_csr_view(&s->solid.E);
    return mn_csr_rows_product(s->ctx, &w, &e, &s->WE);
  }
  for (size_t i = 0; i < f->count; i++)
    bodies = f->body[i] >= bodies ? f->body[i] + 1 : bodies;
  mn_arena_mark mark = mn_arena_save(&s->arena);
  MN_TRY(MN_PUSH(s->ctx, &s->arena, MOST_FREEDOMS * (size_t)bodies, &freedom));
  MN_TRY(MN_PUSH(s->ctx, &s->arena, f->count, &V));
  MN_TRY(MN_PUSH(s->ctx, &s->arena, MOST_FREEDOMS * s->rows, &U));
  list_freedoms(s, bodies, freedom);
  int any = 0;
  for (size_t i = 0; i < f->count; i++)
    any |= f->rigid[i];
  if (any)
    gather_freedoms(s, freedom, V, U);
  mn_status status = !any && is_one_to_one(&s->solid.E) ? rename_columns(s, &W)
                                                        : multiply(s, &W, body, freedom, U);
  mn_arena_reset(&s->arena, mark);
  return status;
}

mn_status mn_mono_build_faces(mn_mono_system *s)
{
  return build_WE(s);
}

/* ---- products -------------------------------------------------------------------------------- */

void mn_mono_faces_of(const mn_mono_system *s, const double *v, double *U)
{
  const mn_csr *H = &s->H.a;
  for (int64_t r = 0; r < H->rows; r++) {
    double sum = 0;
    for (int64_t e = H->start[r]; e < H->start[r + 1]; e++)
      sum += H->value[e] * v[H->col[e]];
    U[r] = sum;
  }
}

void mn_mono_add_forces(const mn_mono_system *s, double sign, const double *F, double *y)
{
  const mn_csr *H = &s->H.a;
  for (int64_t r = 0; r < H->rows; r++)
    for (int64_t e = H->start[r]; e < H->start[r + 1]; e++)
      y[H->col[e]] += sign * H->value[e] * F[r];
}

void mn_mono_add_outflow(const mn_mono_system *s, double sign, const double *U, double *y)
{
  const int32_t *cell = s->fluid.cell;
  for (size_t r = 0; r < s->rows; r++) {
    double flow = sign * s->fluid.area[r] * U[r];
    if (cell[2 * r] >= 0)
      y[cell[2 * r]] += flow;
    if (cell[2 * r + 1] >= 0)
      y[cell[2 * r + 1]] -= flow;
  }
}

void mn_mono_press(const mn_mono_system *s, const double *p, double *F)
{
  const int32_t *cell = s->fluid.cell;
  for (size_t r = 0; r < s->rows; r++)
    F[r] = s->fluid.area[r] * ((cell[2 * r] >= 0 ? p[cell[2 * r]] : 0) -
                               (cell[2 * r + 1] >= 0 ? p[cell[2 * r + 1]] : 0));
}

void mn_mono_add_flow(const mn_mono_system *s, double sign, const double *v, double *y)
{
  mn_mono_faces_of(s, v, s->F);
  mn_mono_add_outflow(s, sign, s->F, y);
}
