/* How easily faces move: s_r, near H_r K'^-1 H_r^T, for the fluid's preconditioner; the greater of
   two looks at it.

   K' block by block: the freedoms of a rigid body, or the axes of a node, which a stiff cloth binds
   in its plane and leaves free across it. A node then moves while its neighbours stand: exact for
   rigid bodies, too stiff for a cloth that is bent, where a node cannot move across without
   stretching its sides.

   Waves: forces along the normals, F_r = A_r n_r cos(k.x), move the faces by U = H K'^-1 H^T F; s
   is U_r/F_r of the wave that moves it most. They see what a cloth can do together with its
   neighbours. Only of thin bodies that deform: those that fill space move as one under long waves,
   which would open their faces too far (an elastic disk: 18 iterations, 10 without).

   Squeezing, for large bodies that fill space: the same pressure everywhere moves none of them as
   one, and tells how far their surface gives way by itself: a soft one by a layer as thick as a
   wave goes in a substep, of which a single face moves only a corner (foam of 9,261 nodes, 64^3
   cells: the face alone opens by 0.04, the surface by 0.37; 26 iterations, 17 with it). */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "couple/monolithic_system.h"
#include "math/vec.h"

enum { BLOCK = 6 };

static int64_t root(int64_t *parent, int64_t i)
{
  while (parent[i] != i)
    i = parent[i] = parent[parent[i]];
  return i;
}

static void join(int64_t *parent, int64_t a, int64_t b)
{
  a = root(parent, a);
  b = root(parent, b);
  parent[a > b ? a : b] = a > b ? b : a;
}

/* Freedoms that belong together have the same root, which is the first of them. */
static void find_blocks(const mn_mono_system *s, int64_t *parent)
{
  const mn_interface *f = &s->boxes->face;
  const mn_sparse_matrix *E = &s->solid.E;
  for (int64_t i = 0; i < (int64_t)s->freedoms; i++)
    parent[i] = i;
  for (size_t i = 0; i < f->count; i++) {
    const int64_t *start = &E->start[3 * i];
    if (f->rigid[i]) {
      for (int64_t e = start[0] + 1; e < start[3]; e++)
        join(parent, E->col[start[0]], E->col[e]);
      continue;
    }
    for (int a = 1; a < 3; a++) /* the same nodes in the same order, if none is fixed in part */
      for (int64_t k = 0; k < start[1] - start[0] && start[a + 1] - start[a] == start[1] - start[0];
           k++)
        join(parent, E->col[start[0] + k], E->col[start[a] + k]);
  }
}

/* The freedoms of a block and the Cholesky factor of K' there. */
typedef struct block {
  int64_t first; /* -1: none */
  int n;         /* 0: not positive */
  int64_t col[BLOCK];
  double L[BLOCK][BLOCK];
} block;

static int factorise_small(int n, double A[BLOCK][BLOCK])
{
  for (int j = 0; j < n; j++) {
    for (int k = 0; k < j; k++)
      A[j][j] -= A[j][k] * A[j][k];
    if (!(A[j][j] > 0))
      return 0;
    A[j][j] = sqrt(A[j][j]);
    for (int i = j + 1; i < n; i++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
  }
  return 1;
}

static double entry(const mn_csr *K, int64_t i, int64_t j)
{
  int64_t at = mn_csr_find(K, i, j);
  return at < 0 ? 0 : K->value[at];
}

/* The same of H, whose columns are not in order. */
static double face_entry(const mn_csr *H, int64_t r, int64_t j)
{
  double sum = 0;
  for (int64_t e = H->start[r]; e < H->start[r + 1]; e++)
    sum += H->col[e] == j ? H->value[e] : 0;
  return sum;
}

/* h^T K'^-1 h = |L^-1 h|^2 over the freedoms of one block. */
static double of_block(const block *b, const double *h)
{
  double x[BLOCK], sum = 0;
  for (int j = 0; j < b->n; j++) {
    x[j] = h[j];
    for (int k = 0; k < j; k++)
      x[j] -= b->L[j][k] * x[k];
    x[j] /= b->L[j][j];
    sum += x[j] * x[j];
  }
  return sum;
}

/* All freedoms of the block with this root, which follow it closely; how many. */
static int members(const mn_mono_system *s, int64_t *parent, int64_t first, int64_t *col)
{
  int n = 0;
  for (int64_t i = first; i < (int64_t)s->freedoms && i < first + 2 * BLOCK && n < BLOCK; i++)
    if (root(parent, i) == first)
      col[n++] = i;
  return n;
}

static void take_block(const mn_mono_system *s, int64_t first, block *b)
{
  b->first = first;
  b->n = members(s, s->parent, first, b->col);
  for (int i = 0; i < b->n; i++)
    for (int j = 0; j <= i; j++)
      b->L[i][j] = entry(&s->K.a, b->col[i], b->col[j]);
  if (!factorise_small(b->n, b->L))
    b->n = 0;
}

/* By blocks of K'. Rows of a rigid body follow each other: its block is made once. */
static mn_status by_blocks(mn_mono_system *s, int rigid, double *open)
{
  const mn_csr *H = &s->H.a;
  block b = {.first = -1};
  if (s->freedoms > s->parent_room) {
    s->parent_room = 0;
    MN_TRY(MN_RENEW(s->ctx, "blocks of freedoms", s->freedoms + s->freedoms / 8, &s->parent));
    s->parent_room = s->freedoms + s->freedoms / 8;
  }
  find_blocks(s, s->parent);
  for (int64_t r = 0; r < H->rows; r++) {
    open[r] = 0;
    for (int64_t e = H->start[r]; e < H->start[r + 1]; e++) {
      if (H->col[e] >= (int64_t)s->own)
        continue; /* a breath */
      int64_t first = root(s->parent, H->col[e]), done = 0;
      for (int64_t k = H->start[r]; k < e; k++)
        done |= root(s->parent, H->col[k]) == first;
      if (done || (!rigid && s->rigid[first] >= 0))
        continue;
      if (first != b.first)
        take_block(s, first, &b);
      double h[BLOCK];
      for (int i = 0; i < b.n; i++)
        h[i] = face_entry(H, r, b.col[i]);
      open[r] += of_block(&b, h);
    }
  }
  return MN_OK;
}

/* ---- waves ----------------------------------------------------------------------------------- */

/* Wave lengths in cells; along each axis, two phases. */
static const double LENGTHS[] = {16, 64};
enum { WAVES = 2, PHASES = 2 };
/* Faces that lie nearly along the surface tell nothing. */
static const double STEEP = 0.3;

static int is_cloth(const mn_interface *f, size_t i)
{
  return f->two_sided[i] && !f->rigid[i];
}

/* n_r cos(k.x) of one wave. */
static void set_wave(mn_mono_system *s, int axis, double length, int phase, mn_vec3 *N)
{
  const mn_interface *f = &s->boxes->face;
  for (size_t i = 0; i < f->count; i++) {
    double x = 6.283185307179586 * f->X[i].v[axis] / length + 0.5 * 3.141592653589793 * phase;
    N[i] = mn_scale(is_cloth(f, i) ? cos(x) : 0, f->N[i]);
  }
}

/* Scratch of a look. */
typedef struct look {
  mn_vec3 *N; /* [points] forces on them */
  double *F, *U, *v;
} look;

static mn_status look_begin(mn_mono_system *s, look *l)
{
  MN_TRY(MN_PUSH(s->ctx, &s->arena, s->boxes->face.count, &l->N));
  MN_TRY(MN_PUSH(s->ctx, &s->arena, s->rows, &l->F));
  MN_TRY(MN_PUSH(s->ctx, &s->arena, s->rows, &l->U));
  return MN_PUSH(s->ctx, &s->arena, s->freedoms, &l->v);
}

/* open <- the greater of it and the answer to A F along the normals. */
static mn_status look_at(mn_mono_system *s, mn_sparse_factor *factor, look *l, double *open)
{
  mn_boxes_gather_of(s->boxes, l->N, l->F);
  for (size_t r = 0; r < s->rows; r++)
    l->U[r] = s->fluid.area[r] * l->F[r];
  memset(l->v, 0, s->freedoms * sizeof *l->v);
  mn_mono_add_forces(s, 1, l->U, l->v);
  memset(l->v + s->own, 0, s->borders * sizeof *l->v);
  MN_TRY(factor ? mn_sparse_solve(factor, 1, l->v, l->v) : mn_mono_mesh_answer(s, l->v));
  mn_mono_faces_of(s, l->v, l->U);
  for (size_t r = 0; r < s->rows; r++)
    if (fabs(l->F[r]) > STEEP && s->fluid.area[r] > 0)
      open[r] = fmax(open[r], l->U[r] / (s->fluid.area[r] * l->F[r]));
  return MN_OK;
}

static mn_status by_waves(mn_mono_system *s, mn_sparse_factor *factor, double *open)
{
  look l;
  mn_arena_mark mark = mn_arena_save(&s->arena);
  MN_TRY(look_begin(s, &l));
  for (int wave = 0; wave < WAVES * PHASES * s->boxes->face.dim; wave++) {
    if (!factor && wave % WAVES)
      continue; /* where a look costs more, the long waves are left out */
    double length = LENGTHS[wave % WAVES] * s->dx;
    set_wave(s, wave / (WAVES * PHASES), length, wave / WAVES % PHASES, l.N);
    MN_TRY(look_at(s, factor, &l, open));
  }
  mn_arena_reset(&s->arena, mark);
  return MN_OK;
}

/* The same pressure everywhere. */
static mn_status by_squeezing(mn_mono_system *s, double *open)
{
  const mn_interface *f = &s->boxes->face;
  look l;
  mn_arena_mark mark = mn_arena_save(&s->arena);
  MN_TRY(look_begin(s, &l));
  for (size_t i = 0; i < f->count; i++)
    l.N[i] = f->N[i];
  MN_TRY(look_at(s, NULL, &l, open));
  mn_arena_reset(&s->arena, mark);
  return MN_OK;
}

int mn_mono_any_cloth(const mn_mono_system *s)
{
  const mn_interface *f = &s->boxes->face;
  for (size_t i = 0; i < f->count; i++)
    if (is_cloth(f, i))
      return 1;
  return 0;
}

mn_status mn_mono_mobility(mn_mono_system *s, mn_sparse_factor *factor, int rigid, double *open)
{
  MN_TRY(by_blocks(s, rigid, open));
  if (!mn_mono_any_cloth(s))
    return MN_OK;
  return by_waves(s, factor, open);
}

mn_status mn_mono_mobility_of_waves(mn_mono_system *s, double *open)
{
  return mn_mono_any_cloth(s) ? by_waves(s, NULL, open) : by_squeezing(s, open);
}
