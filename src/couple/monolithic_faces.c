/* The faces of the one system: W E, how they move with the solid's freedoms, and D, what flows out
   of cells through them.

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
  mn_status status = multiply(s, &W, body, freedom, U);
  mn_arena_reset(&s->arena, mark);
  return status;
}

mn_status mn_mono_build_faces(mn_mono_system *s)
{
  MN_TRY(build_WE(s));
  MN_TRY(mn_csr_rows_begin(s->ctx, &s->DT, (int64_t)s->rows, (int64_t)s->cells));
  for (size_t r = 0; r < s->rows; r++) {
    const int32_t *at = &s->fluid.cell[2 * r];
    if (at[0] >= 0)
      mn_csr_rows_add(&s->DT, at[0], s->fluid.area[r]);
    if (at[1] >= 0)
      mn_csr_rows_add(&s->DT, at[1], -s->fluid.area[r]);
    MN_TRY(mn_csr_rows_next(s->ctx, &s->DT));
  }
  return mn_csr_rows_transpose(s->ctx, &s->DT.a, &s->D);
}
