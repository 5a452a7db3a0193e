/* The faces of the one system: W E, how they move with the solid's freedoms, and products with H, D
   and B = D H, which go from face to face: cells are many, and most have no part in them (as sparse
   matrices D and B were a sixth of a solve with a ball on 128^3 cells).

   A row of W of a rigid body has all its points, whose product with E is six numbers: the
   velocities of the face by a unit of each freedom, which the fluid's `gather` tells of all bodies
   at once (a ball of 6,000 points on 32^3 cells: 0.3 s less a substep). */
#include <string.h>

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

/* A point between up to three nodes. */
typedef struct corners {
  double weight[3];
  int32_t node[3];
} corners;

/* What multiply_points reads, close together. */
typedef struct points {
  corners *of;    /* [points] */
  int32_t nodes;  /* that points have */
  int64_t *first; /* [nodes] freedoms of a node: this and the next two, by axes */
  int32_t *number, *owner, *list;
  double *sum; /* [nodes] */
} points;

/* Of point i; 0: not along all axes the same way, or more than three. */
static int find_corners(const mn_sparse_matrix *E, int64_t i, points *p)
{
  int64_t at[3] = {E->start[3 * i], E->start[3 * i + 1], E->start[3 * i + 2]};
  int64_t count = at[1] - at[0];
  if (count > 3 || at[2] - at[1] != count || E->start[3 * i + 3] - at[2] != count)
    return 0;
  p->of[i] = (corners){.node = {0}};
  for (int64_t k = 0; k < count; k++) {
    int64_t col = E->col[at[0] + k];
    double weight = E->value[at[0] + k];
    for (int a = 1; a < 3; a++)
      if (E->col[at[a] + k] != col + a || E->value[at[a] + k] != weight)
        return 0;
    if (p->number[col] < 0) {
      p->number[col] = p->nodes;
      p->first[p->nodes++] = col;
    }
    p->of[i].node[k] = p->number[col];
    p->of[i].weight[k] = weight;
  }
  return 1;
}

/* W E of deformable bodies whose points lie between nodes. Rows are summed up in a dense one
   without branches, which nothing foretells, and not sorted; entries that are 0 are left out. */
static mn_status multiply_points(mn_mono_system *s, const mn_sparse_matrix *W, const points *p)
{
  mn_csr_rows *WE = &s->WE;
  MN_TRY(mn_csr_rows_begin(s->ctx, WE, W->rows, s->solid.E.cols));
  memset(p->owner, -1, (size_t)p->nodes * sizeof *p->owner);
  memset(p->sum, 0, (size_t)p->nodes * sizeof *p->sum);
  for (int64_t r = 0; r < W->rows; r++) {
    int64_t count = 0, to = WE->a.start[r], axis = 0;
    for (int64_t e = W->start[r]; e < W->start[r + 1]; e++) {
      const corners *c = &p->of[W->col[e] / 3];
      axis = W->col[e] % 3;
      for (int k = 0; k < 3; k++) {
        int32_t node = c->node[k];
        p->list[count] = node;
        count += p->owner[node] != (int32_t)r;
        p->owner[node] = (int32_t)r;
        p->sum[node] += W->value[e] * c->weight[k];
      }
    }
    MN_TRY(mn_csr_rows_reserve(s->ctx, WE, to + count));
    for (int64_t k = 0; k < count; k++) {
      double *sum = &p->sum[p->list[k]];
      WE->a.col[to] = p->first[p->list[k]] + axis;
      WE->a.value[to] = *sum;
      to += *sum != 0;
      *sum = 0;
    }
    WE->a.start[r + 1] = to;
  }
  WE->row = W->rows;
  return MN_OK;
}

/* The same, if points are so. */
static mn_status try_points(mn_mono_system *s, const mn_sparse_matrix *W, int *done)
{
  const mn_sparse_matrix *E = &s->solid.E;
  size_t cols = (size_t)E->cols;
  points p = {0};
  *done = E->rows % 3 == 0 && E->cols > 0 && W->rows < INT32_MAX;
  if (!*done)
    return MN_OK;
  MN_TRY(MN_PUSH(s->ctx, &s->arena, (size_t)E->rows / 3, &p.of));
  MN_TRY(MN_PUSH(s->ctx, &s->arena, cols, &p.first));
  MN_TRY(MN_PUSH(s->ctx, &s->arena, cols, &p.number));
  MN_TRY(MN_PUSH(s->ctx, &s->arena, cols, &p.owner));
  MN_TRY(MN_PUSH(s->ctx, &s->arena, cols + 1, &p.list));
  MN_TRY(MN_PUSH(s->ctx, &s->arena, cols, &p.sum));
  memset(p.number, -1, cols * sizeof *p.number);
  for (int64_t i = 0; 3 * i < E->rows && *done; i++)
    *done = find_corners(E, i, &p);
  return *done ? multiply_points(s, W, &p) : MN_OK;
}

/* W E with the rows of rigid bodies by `gather`. */
static mn_status multiply(mn_mono_system *s, const mn_sparse_matrix *W, const int32_t *body,
                          int rigid)
{
  const mn_interface *face = &s->boxes->face;
  const mn_sparse_matrix *E = &s->solid.E;
  int64_t *freedom;
  mn_vec3 *V;
  double *U;
  int bodies = 0;
  for (size_t i = 0; i < face->count; i++)
    bodies = face->body[i] >= bodies ? face->body[i] + 1 : bodies;
  MN_TRY(MN_PUSH(s->ctx, &s->arena, MOST_FREEDOMS * (size_t)bodies, &freedom));
  MN_TRY(MN_PUSH(s->ctx, &s->arena, face->count, &V));
  MN_TRY(MN_PUSH(s->ctx, &s->arena, MOST_FREEDOMS * s->rows, &U));
  list_freedoms(s, bodies, freedom);
  if (rigid)
    gather_freedoms(s, freedom, V, U);
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
  int rigid = 0, done = 0;
  MN_TRY(mn_boxes_weights(s->boxes, &W, &body));
  if (!body) {
    mn_csr w = mn_csr_view(&W), e = mn_csr_view(&s->solid.E);
    return mn_csr_rows_product(s->ctx, &w, &e, &s->WE);
  }
  for (size_t i = 0; i < f->count; i++)
    rigid |= f->rigid[i];
  mn_arena_mark mark = mn_arena_save(&s->arena);
  mn_status status = rigid ? MN_OK : try_points(s, &W, &done);
  if (status == MN_OK && !done)
    status = multiply(s, &W, body, rigid);
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
