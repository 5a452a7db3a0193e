/* The whole system by sparse LU: rows of cells, then of freedoms,

       |  L    B  | |p|   | right_cells |
       | -B^T  K' | |v| = | right_solid |

   not symmetric as it stands, as [Chentanez 2006, eq. 3] prints it. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "couple/monolithic_system.h"

/* Beyond so many unknowns a factorisation costs more than the Krylov solve. */
enum { DIRECT_MOST_2D = 20000, DIRECT_MOST_3D = 4000 };

mn_coupling_solver mn_mono_choose(const mn_mono_system *s, mn_coupling_solver solver)
{
  size_t most = s->boxes->face.dim == 2 ? DIRECT_MOST_2D : DIRECT_MOST_3D;
  if (solver != MN_SOLVER_AUTO)
    return solver;
  if (mn_lu_available() && (!s->symmetric || s->cells + s->freedoms <= most))
    return MN_SOLVER_DIRECT;
  return MN_SOLVER_AUTO; /* cg or minres: when the bodies have been weighed */
}

static double diagonal_of(const mn_sparse_matrix *L, int64_t i)
{
  for (int64_t e = L->start[i]; e < L->start[i + 1]; e++)
    if (L->col[e] == i)
      return L->value[e];
  return 0;
}

/* Where a cell is held, it tells the constant. */
static int holds(const mn_mono_system *s, int32_t region)
{
  for (size_t i = 0; i < s->cells; i++)
    if (s->held[i] && s->fluid.region[i] == region)
      return 1;
  return 0;
}

/* B = D H and its transpose. */
static mn_status build_flows(mn_mono_system *s)
{
  MN_TRY(mn_csr_rows_begin(s->ctx, &s->DT, (int64_t)s->rows, (int64_t)s->cells));
  for (size_t r = 0; r < s->rows; r++) {
    const int32_t *at = &s->fluid.cell[2 * r];
    if (at[0] >= 0)
      mn_csr_rows_add(&s->DT, at[0], s->fluid.area[r]);
    if (at[1] >= 0)
      mn_csr_rows_add(&s->DT, at[1], -s->fluid.area[r]);
    MN_TRY(mn_csr_rows_next(s->ctx, &s->DT));
  }
  MN_TRY(mn_csr_rows_transpose(s->ctx, &s->DT.a, &s->D));
  MN_TRY(mn_csr_rows_product(s->ctx, &s->D.a, &s->H.a, &s->B));
  return mn_csr_rows_transpose(s->ctx, &s->B.a, &s->BT);
}

static mn_status fill(mn_mono_system *s)
{
  mn_sparse_matrix L;
  MN_TRY(mn_boxes_matrix(s->boxes, &L));
  MN_TRY(build_flows(s));
  const mn_csr *B = &s->B.a, *BT = &s->BT.a, *K = &s->K.a;
  int64_t cells = (int64_t)s->cells, freedoms = (int64_t)s->freedoms;
  double most = 0;
  for (int64_t i = 0; i < cells; i++)
    most = fmax(most, diagonal_of(&L, i));
  most = most > 0 ? most : 1;
  MN_TRY(mn_csr_rows_begin(s->ctx, &s->A, cells + freedoms, cells + freedoms));
  for (int64_t i = 0; i < cells; i++) {
    double keep = s->held[i] ? 0 : 1;
    mn_csr_rows_add(&s->A, i, s->held[i] ? most : 0);
    for (size_t k = 0; k < s->pins; k++)
      if (s->pinned[k] == i)
        mn_csr_rows_add(&s->A, i, holds(s, s->fluid.region[i]) ? 0 : most);
    for (int64_t e = L.start[i]; e < L.start[i + 1]; e++)
      mn_csr_rows_add(&s->A, L.col[e], keep * L.value[e]);
    for (int64_t e = B->start[i]; e < B->start[i + 1]; e++)
      mn_csr_rows_add(&s->A, cells + B->col[e], keep * B->value[e]);
    MN_TRY(mn_csr_rows_next(s->ctx, &s->A));
  }
  for (int64_t i = 0; i < freedoms; i++) {
    for (int64_t e = BT->start[i]; e < BT->start[i + 1]; e++)
      mn_csr_rows_add(&s->A, BT->col[e], -BT->value[e]);
    for (int64_t e = K->start[i]; e < K->start[i + 1]; e++)
      mn_csr_rows_add(&s->A, cells + K->col[e], K->value[e]);
    MN_TRY(mn_csr_rows_next(s->ctx, &s->A));
  }
  return MN_OK;
}

mn_status mn_mono_direct(mn_mono_system *s, double *p, double *v)
{
  size_t n = s->cells + s->freedoms;
  int singular;
  if (!s->lu)
    MN_TRY(mn_lu_create(s->ctx, &s->lu));
  if (n > s->x_room) {
    s->x_room = 0;
    MN_TRY(MN_RENEW(s->ctx, "a coupled solution", n + n / 8, &s->x));
    MN_TRY(MN_RENEW(s->ctx, "a coupled right-hand side", n + n / 8, &s->b));
    s->x_room = n + n / 8;
  }
  MN_TRY(fill(s));
  MN_TRY(mn_lu_factorise(s->lu, &s->A.a, &singular));
  if (singular)
    return mn_fail(s->ctx, MN_FAILED,
                   "the coupled system of %zu pressures and %zu freedoms is singular: a part of "
                   "the bodies or of the fluid is bound to nothing",
                   s->cells, s->freedoms);
  for (size_t i = 0; i < s->cells; i++)
    s->b[i] = s->held[i] ? 0 : s->right_cells[i];
  memcpy(s->b + s->cells, s->right_solid, s->freedoms * sizeof *s->b);
  MN_TRY(mn_lu_solve(s->lu, s->b, s->x));
  memcpy(p, s->x, s->cells * sizeof *p);
  memcpy(v, s->x + s->cells, s->freedoms * sizeof *v);
  return MN_OK;
}

mn_status mn_mono_solve(mn_mono_system *s, mn_coupling_solver solver, double *p, double *v)
{
  solver = mn_mono_choose(s, solver);
  if (solver == MN_SOLVER_DIRECT)
    return mn_mono_direct(s, p, v);
  if (!s->symmetric)
    return mn_fail(s->ctx, MN_BAD_INPUT,
                   "bodies of different integrators are linked, so that the coupled system is not "
                   "symmetric: coupling.solver must be \"direct\"");
  if (s->large)
    return mn_mono_mesh(s, p, v);
  return solver == MN_SOLVER_MINRES && !s->borders ? mn_mono_minres(s, p, v)
                                                   : mn_mono_cg(s, solver == MN_SOLVER_AUTO, p, v);
}
