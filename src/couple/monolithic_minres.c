/* The one system in its symmetric, indefinite form, by MINRES [Paige 1975], in the pressures and
   the freedoms r of rigid bodies, which are few. Those of deformable ones, d, are eliminated:

       v_d = K'_dd^-1 (right_d + B_d^T p - K'_dr v_r)       in
       | L     B  | |p|   |  right_cells |
       | B^T  -K' | |v| = | -right_solid |

   Preconditioned block by block; what belongs to K' is the inertia of the fluid that moves with the
   rigid bodies, M being the fluid's preconditioner:

       p: M near (L + D diag(s) D^T)^-1, s the mobility of faces by deformable bodies alone
       v_r: (K'_rr + B_r^T M B_r)^-1, dense

   With exact blocks the eigenvalues lie in [-1, -0.618] and [1, 1.618] whatever the bodies weigh,
   also where K'_rr is not positive: the fluid's mass at a face may be below 0, and more than a very
   light body weighs.

   The residual is measured from (p, v) itself: of the cells as the fluid allows, of the bodies to
   rounding, so that momentum is kept. Limit: K'_dd must be positive. Verified by
   tests/unit/couple/test_monolithic_system.c, tests/verify/test_monolithic_solvers.c. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "couple/monolithic_system.h"
#include "la/dense.h"

/* Of rigid bodies more are taken for deformable ones: a cycle of the multigrid for each costs more
   than it saves. */
enum { RIGID_MOST = 48 };
/* Of the right-hand side: below is rounding. */
static const double ROUND_OFF = 1e-13, SOLID_ROUND_OFF = 1e-11;

/* ---- the preconditioner ---------------------------------------------------------------------- */

static mn_status list_rigid(mn_mono_system *s)
{
  const mn_interface *f = &s->boxes->face;
  const mn_sparse_matrix *E = &s->solid.E;
  if (s->freedoms > s->rigid_room) {
    s->rigid_room = 0;
    MN_TRY(MN_RENEW(s->ctx, "rigid freedoms", s->freedoms + s->freedoms / 8, &s->rigid));
    s->rigid_room = s->freedoms + s->freedoms / 8;
  }
  for (size_t i = 0; i < s->freedoms; i++)
    s->rigid[i] = -1;
  for (size_t i = 0; i < f->count; i++)
    for (int64_t e = E->start[3 * i]; e < E->start[3 * i + 3] && f->rigid[i]; e++)
      s->rigid[E->col[e]] = 0;
  s->rigid_count = 0;
  for (size_t i = 0; i < s->freedoms; i++)
    if (s->rigid[i] == 0)
      s->rigid[i] = (int64_t)s->rigid_count++;
  if (s->rigid_count <= RIGID_MOST)
    return MN_OK;
  for (size_t i = 0; i < s->freedoms; i++)
    s->rigid[i] = -1;
  s->rigid_count = 0;
  return MN_OK;
}

/* K' without rigid freedoms, of which it is the unit matrix. */
static mn_status factorise_rest(mn_mono_system *s, int *positive)
{
  mn_factor_report report = {.positive_definite = 1};
  const mn_csr *K = &s->K.a;
  MN_TRY(mn_csr_rows_begin(s->ctx, &s->K_rest, K->rows, K->cols));
  for (int64_t i = 0; i < K->rows; i++) {
    if (s->rigid[i] >= 0)
      mn_csr_rows_add(&s->K_rest, i, 1);
    for (int64_t e = K->start[i]; e < K->start[i + 1] && s->rigid[i] < 0; e++)
      if (s->rigid[K->col[e]] < 0)
        mn_csr_rows_add(&s->K_rest, K->col[e], K->value[e]);
    MN_TRY(mn_csr_rows_next(s->ctx, &s->K_rest));
  }
  if (!s->rest)
    MN_TRY(mn_sparse_create(s->ctx, &s->rest));
  if (s->freedoms > s->rigid_count)
    MN_TRY(mn_sparse_factorise(s->rest, &s->K_rest.a, &report));
  *positive = report.positive_definite;
  return MN_OK;
}

mn_status mn_mono_deformable_positive(mn_mono_system *s, int *positive)
{
  MN_TRY(list_rigid(s));
  return factorise_rest(s, positive);
}

/* inverse <- (K'_rr + B_r^T M B_r)^-1 */
static mn_status invert_rigid(mn_mono_system *s)
{
  size_t n = s->rigid_count, cells = s->cells;
  const mn_csr *HT = &s->HT.a, *K = &s->K.a;
  if (!n)
    return MN_OK;
  if (2 * n * n > s->inverse_room) {
    s->inverse_room = 0;
    MN_TRY(MN_RENEW(s->ctx, "inertia of rigid bodies", 2 * n * n, &s->inverse));
    s->inverse_room = 2 * n * n;
  }
  MN_TRY(mn_mono_work(s, 2, cells));
  double *y = s->work, *z = y + cells, *N = s->inverse + n * n;
  memset(N, 0, n * n * sizeof *N);
  for (int64_t i = 0; i < HT->rows; i++) {
    if (s->rigid[i] < 0)
      continue;
    memset(y, 0, cells * sizeof *y);
    memset(s->F, 0, s->rows * sizeof *s->F);
    for (int64_t e = HT->start[i]; e < HT->start[i + 1]; e++)
      s->F[HT->col[e]] = HT->value[e];
    mn_mono_add_outflow(s, 1, s->F, y);
    mn_mono_drop_held(s, y);
    mn_boxes_precondition(s->boxes, y, z);
    s->krylov++;
    mn_mono_press(s, z, s->F);
    for (int64_t j = 0; j < HT->rows; j++)
      for (int64_t e = HT->start[j]; e < HT->start[j + 1] && s->rigid[j] >= 0; e++)
        N[(size_t)s->rigid[i] * n + (size_t)s->rigid[j]] += HT->value[e] * s->F[HT->col[e]];
    for (int64_t e = K->start[i]; e < K->start[i + 1]; e++)
      if (s->rigid[K->col[e]] >= 0)
        N[(size_t)s->rigid[i] * n + (size_t)s->rigid[K->col[e]]] += K->value[e];
  }
  double *identity = s->inverse;
  memset(identity, 0, n * n * sizeof *identity);
  for (size_t i = 0; i < n; i++) {
    identity[i * n + i] = 1;
    for (size_t j = 0; j < i; j++)
      N[i * n + j] = N[j * n + i] = 0.5 * (N[i * n + j] + N[j * n + i]);
  }
  if (mn_dense_solve_spd(s->ctx, &s->arena, (int)n, N, (int)n, identity, s->inverse) == MN_OK)
    return MN_OK;
  for (int64_t i = 0; i < K->rows; i++) /* K' is below 0, and M too small to make up for it */
    for (int64_t e = K->start[i]; e < K->start[i + 1] && s->rigid[i] >= 0; e++) {
      size_t at = (size_t)s->rigid[i] * n;
      if (s->rigid[K->col[e]] >= 0)
        N[at + (size_t)s->rigid[K->col[e]]] -= K->value[e];
      if (K->col[e] == i)
        N[at + (size_t)s->rigid[i]] += fabs(K->value[e]);
    }
  return mn_dense_solve_spd(s->ctx, &s->arena, (int)n, N, (int)n, identity, s->inverse);
}

static mn_status prepare(mn_mono_system *s, int *positive)
{
  MN_TRY(list_rigid(s));
  MN_TRY(factorise_rest(s, positive));
  if (!*positive)
    return MN_OK;
  MN_TRY(mn_mono_mobility(s, s->rest, s->rigid_count == 0, s->F));
  MN_TRY(mn_boxes_prepare(s->boxes, s->F, s->held));
  return invert_rigid(s);
}

static void precondition(mn_mono_system *s, const double *y, double *z)
{
  size_t n = s->rigid_count;
  mn_boxes_precondition(s->boxes, y, z);
  for (size_t i = 0; i < n; i++) {
    z[s->cells + i] = 0;
    for (size_t j = 0; j < n; j++)
      z[s->cells + i] += s->inverse[i * n + j] * y[s->cells + j];
  }
}

/* ---- the iteration --------------------------------------------------------------------------- */

/* v of all freedoms from x = (p, v_r); `right` the forces on them, NULL: none. */
static mn_status spread(mn_mono_system *s, const double *right, const double *x, double *v)
{
  const mn_csr *K = &s->K.a;
  if (right)
    memcpy(v, right, s->freedoms * sizeof *v);
  else
    memset(v, 0, s->freedoms * sizeof *v);
  mn_mono_press(s, x, s->F);
  mn_mono_add_forces(s, 1, s->F, v);
  for (int64_t i = 0; i < K->rows && s->rigid_count; i++)
    for (int64_t e = K->start[i]; e < K->start[i + 1]; e++)
      if (s->rigid[K->col[e]] >= 0)
        v[i] -= K->value[e] * x[s->cells + (size_t)s->rigid[K->col[e]]];
  if (s->freedoms > s->rigid_count)
    MN_TRY(mn_sparse_solve(s->rest, 1, v, v));
  for (size_t i = 0; i < s->freedoms; i++)
    if (s->rigid[i] >= 0)
      v[i] = x[s->cells + (size_t)s->rigid[i]];
  return MN_OK;
}

/* y <- A x, v the velocities that go with x */
static mn_status apply(mn_mono_system *s, const double *right, const double *x, double *v,
                       double *y)
{
  const mn_csr *HT = &s->HT.a, *K = &s->K.a;
  MN_TRY(spread(s, right, x, v));
  mn_boxes_apply(s->boxes, x, y);
  mn_mono_add_flow(s, 1, v, y);
  mn_mono_drop_held(s, y);
  mn_mono_press(s, x, s->F);
  for (int64_t i = 0; i < HT->rows; i++) {
    double sum = 0;
    if (s->rigid[i] < 0)
      continue;
    for (int64_t e = HT->start[i]; e < HT->start[i + 1]; e++)
      sum += HT->value[e] * s->F[HT->col[e]];
    for (int64_t e = K->start[i]; e < K->start[i + 1]; e++)
      sum -= K->value[e] * v[K->col[e]];
    y[s->cells + (size_t)s->rigid[i]] = sum;
  }
  return MN_OK;
}

/* r <- right-hand side - A x, and v */
static mn_status residual_of(mn_mono_system *s, const double *x, double *v, double *r)
{
  MN_TRY(apply(s, s->right_solid, x, v, r));
  for (size_t i = 0; i < s->cells; i++)
    r[i] = s->held[i] ? 0 : s->right_cells[i] - r[i];
  for (size_t i = 0; i < s->freedoms; i++)
    if (s->rigid[i] >= 0) {
      size_t at = s->cells + (size_t)s->rigid[i];
      r[at] = -s->right_solid[i] - r[at];
    }
  return MN_OK;
}

typedef struct goal {
  double cells, solid;
} goal;

static int reached(const mn_mono_system *s, const goal *g, const double *r)
{
  return mn_mono_largest(s->cells, r) <= g->cells &&
         mn_mono_largest(s->rigid_count, r + s->cells) <= g->solid;
}

/* Rounding of the forces on rigid bodies, those of p included: where nothing else acts on them
   there is no other measure. */
static void widen(const mn_mono_system *s, const double *p, goal *g)
{
  const mn_csr *HT = &s->HT.a;
  const int32_t *cell = s->fluid.cell;
  for (size_t r = 0; r < s->rows; r++)
    s->F[r] = s->fluid.area[r] * fmax(cell[2 * r] >= 0 ? fabs(p[cell[2 * r]]) : 0,
                                      cell[2 * r + 1] >= 0 ? fabs(p[cell[2 * r + 1]]) : 0);
  for (int64_t i = 0; i < HT->rows; i++) {
    double sum = 0;
    for (int64_t e = HT->start[i]; e < HT->start[i + 1] && s->rigid[i] >= 0; e++)
      sum += fabs(HT->value[e] * s->F[HT->col[e]]);
    g->solid = fmax(g->solid, SOLID_ROUND_OFF * sum);
  }
}

/* The largest of the right-hand side with the bodies as they would move with the fluid's inertia,
   before any other pressure. */
static mn_status find_goal(mn_mono_system *s, double *x, double *v, double *y, goal *g)
{
  double walls = mn_mono_largest(s->cells, s->right_cells), forces = 0;
  memset(y, 0, (s->cells + s->rigid_count) * sizeof *y);
  for (size_t i = 0; i < s->freedoms; i++)
    if (s->rigid[i] >= 0) {
      y[s->cells + (size_t)s->rigid[i]] = s->right_solid[i];
      forces = fmax(forces, fabs(s->right_solid[i]));
    }
  precondition(s, y, x);
  memset(x, 0, s->cells * sizeof *x);
  MN_TRY(spread(s, s->right_solid, x, v));
  memcpy(y, s->right_cells, s->cells * sizeof *y);
  mn_mono_add_flow(s, -1, v, y);
  mn_mono_drop_held(s, y);
  g->solid = fmax(SOLID_ROUND_OFF * forces, DBL_EPSILON * s->solid.scale);
  g->cells = fmax(fmax(s->fluid.tolerance, ROUND_OFF * walls),
                  s->fluid.relative * mn_mono_largest(s->cells, y));
  return MN_OK;
}

/* The recurrences of [Elman 2014, Algorithm 4.1]; names as there. r, the residual that they carry
   along, is checked by the true one in the end. */
static mn_status minres(mn_mono_system *s, goal *g, double *x, double *v)
{
  size_t n = s->cells + s->rigid_count;
  double *u0 = s->work, *u1 = u0 + n, *z = u1 + n, *w0 = z + n, *w1 = w0 + n, *Aw0 = w1 + n,
         *Aw1 = Aw0 + n, *Az = Aw1 + n, *next = Az + n, *r = next + n, *Mu = r + n;
  memset(u0, 0, n * sizeof *u0);
  memset(w0, 0, 4 * n * sizeof *w0); /* and A w */
  MN_TRY(residual_of(s, x, v, u1));
  memcpy(r, u1, n * sizeof *r);
  precondition(s, u1, z);
  double gamma0 = 1, gamma1 = sqrt(fmax(0, mn_mono_dot(n, z, u1))), eta = gamma1, s0 = 0, s1 = 0,
         c0 = 1, c1 = 1;
  for (int k = 0; k < MN_MONO_KRYLOV_MOST && gamma1 > 0 && !reached(s, g, r); k++) {
    for (size_t i = 0; i < n; i++)
      z[i] /= gamma1;
    MN_TRY(apply(s, NULL, z, v, Az));
    double delta = mn_mono_dot(n, Az, z);
    for (size_t i = 0; i < n; i++)
      next[i] = Az[i] - delta / gamma1 * u1[i] - (k ? gamma1 / gamma0 : 0) * u0[i];
    double *spare = u0;
    u0 = u1;
    u1 = next;
    next = spare;
    precondition(s, u1, Mu);
    double gamma2 = sqrt(fmax(0, mn_mono_dot(n, Mu, u1)));
    double a0 = c1 * delta - c0 * s1 * gamma1, a1 = sqrt(a0 * a0 + gamma2 * gamma2),
           a2 = s1 * delta + c0 * c1 * gamma1, a3 = s0 * gamma1;
    c0 = c1;
    s0 = s1;
    c1 = a0 / a1;
    s1 = gamma2 / a1;
    for (size_t i = 0; i < n; i++) {
      double w = (z[i] - a3 * w0[i] - a2 * w1[i]) / a1;
      double Aw = (Az[i] - a3 * Aw0[i] - a2 * Aw1[i]) / a1;
      w0[i] = w1[i];
      w1[i] = w;
      Aw0[i] = Aw1[i];
      Aw1[i] = Aw;
      x[i] += c1 * eta * w;
      r[i] -= c1 * eta * Aw;
      z[i] = Mu[i];
    }
    eta = -s1 * eta;
    gamma0 = gamma1;
    gamma1 = gamma2;
    s->krylov++;
    widen(s, x, g); /* bodies on which nothing acts but p would never be done */
  }
  return MN_OK;
}

mn_status mn_mono_minres(mn_mono_system *s, double *p, double *v)
{
  int positive;
  goal g;
  if (s->borders) /* closed regions belong to K' (monolithic_border.c), which must then be positive
                   */
    positive = 0;
  else
    MN_TRY(prepare(s, &positive));
  if (!positive && !s->borders && !s->fluid.positive) {
    s->light = 1; /* better equations are to be had */
    return MN_OK;
  }
  if (!positive && mn_lu_available())
    return mn_mono_direct(s, p, v);
  if (!positive)
    return mn_fail(
        s->ctx, MN_FAILED,
        "bodies are so light that the fluid's mass in the cells they share "
        "is below theirs, which only coupling.solver = \"direct\" can solve: this build, "
        "without GPL parts, has none");
  size_t n = s->cells + s->rigid_count;
  MN_TRY(mn_mono_work(s, 13, n));
  double *x = s->work + 11 * n, *y = x + n;
  MN_TRY(find_goal(s, x, v, y, &g));
  mn_mono_drop_held(s, p);
  memcpy(x, p, s->cells * sizeof *x);
  for (int round = 0; round < 3; round++) { /* rounding of a round is met by the next */
    MN_TRY(minres(s, &g, x, v));
    MN_TRY(residual_of(s, x, v, y));
    if (reached(s, &g, y))
      break;
  }
  if (!reached(s, &g, y))
    return mn_mono_unsolved(s, "minres", mn_mono_largest(s->cells, y), g.cells);
  memcpy(p, x, s->cells * sizeof *p);
  return MN_OK;
}
