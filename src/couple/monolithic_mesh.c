/* The one system with large deformable bodies. K' = K/g + H^T (m/dt) H is not factorised: the
   fluid's masses make a sheet's factor wide, and that of a body that fills space is dense at once.
   K'^-1 is done by conjugate gradients with a multigrid of the mesh (la/aggregates.h), loosely. The
   fluid's solver takes them as they are for directions of search, and v follows the pressures by
   the same answers; where it forms a true residual, v is brought nearer to K'^-1 (right_solid + B^T
   p) by what is left of that equation in double precision, so that looseness is mended as the rest
   is:

       v += K'^-1 (right_solid + B^T p - K' v),      r = right_cells - L p - B v

   until r is below the tolerance, and what is left of the solid's equation below SOLID.
   [theory: docs/theory/monolithic.md]

   Verified by tests/unit/la/test_aggregates.c, tests/verify/test_monolithic_mesh.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "couple/monolithic_system.h"

/* The last step of an answer, as a part of it: of v; for directions of search, where what is loose
   is mended with the next residual (a sheet of 10,000 nodes at 32^3, 64^3, 128^3 cells takes 9, 8,
   12 iterations with 0.1 as with 0.003); of the first one, which shows what K' is like. */
static const double LOOSE = 0.003, SEARCH = 0.1, FIRST = 1e-4;
/* What answers may be off where their steps are always the same: for directions of search; for what
   these left of v; for v under the first pressures, which nothing has followed. That is for bodies
   that fill space: forces on cloth do not show all that it can do. */
static const double ROUGH = 0.01, NEAR = 0.003, FINE = 1e-4;
/* Of the greatest force on a freedom: what may be left of the solid's equation. */
static const double SOLID = 1e-9;
/* Conjugate gradients that need more are no gain; those of sweeps alone, beside levels. */
enum { MOST = 60, SWEEPS = 12, ROUNDS = 12 };

int mn_mono_is_large(const mn_mono_system *s, mn_coupling_solver solver)
{
  const mn_interface *f = &s->boxes->face;
  if (s->own < MN_MONO_LARGE || s->factored || s->borders || s->pins || !s->symmetric ||
      !mn_boxes_has_conjugate(s->boxes) || mn_mono_choose(s, solver) == MN_SOLVER_DIRECT ||
      solver == MN_SOLVER_MINRES)
    return 0;
  for (size_t i = 0; i < f->count; i++)
    if (f->rigid[i] && s->solid.E.start[3 * i] < s->solid.E.start[3 * i + 3])
      return 0;
  return 1;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* y += H^T F, z += H^T f: H is read once */
static void add_two_forces(const mn_mono_system *s, const double *F, double *y, const double *f,
                           double *z)
{
  const mn_csr *H = &s->H.a;
  for (int64_t r = 0; r < H->rows; r++)
    for (int64_t e = H->start[r]; e < H->start[r + 1]; e++) {
      y[H->col[e]] += H->value[e] * F[r];
      z[H->col[e]] += H->value[e] * f[r];
    }
}

/* y <- right_solid + H^T F - K' v, U = H v; returns the greatest of right_solid + H^T F. */
static double solid_residual(mn_mono_system *s, const double *F, const double *v, const double *U,
                             double *y)
{
  double *Kv = s->mesh_Kv;
  mn_aggregates_multiply(s->mesh, v, Kv);
  for (size_t r = 0; r < s->rows; r++)
    s->F[r] = mn_mono_mass(s, r) / s->dt * U[r];
  memcpy(y, s->right_solid, s->freedoms * sizeof *y);
  add_two_forces(s, F, y, s->F, Kv);
  double most = mn_mono_largest(s->freedoms, y);
  for (size_t i = 0; i < s->freedoms; i++)
    y[i] -= Kv[i];
  return most;
}

/* v <- K'^-1 v */
static mn_status answer(mn_mono_system *s, double loose, double *v)
{
  mn_aggregates_report report;
  mn_aggregates_solve(s->mesh, loose, MOST, v, v, &report);
  s->mesh_iterations += report.iterations;
  if (!report.positive || !report.converged)
    s->lost = 1; /* what was found is used; the caller then does it another way */
  return MN_OK;
}

/* v <- near K'^-1 v by steps that are the same for all */
static void fixed_answer(mn_mono_system *s, int steps, double *v)
{
  mn_aggregates_fixed(s->mesh, steps, v, v);
  s->mesh_iterations += steps;
}

/* U <- H K'^-1 H^T F */
static mn_status answer_of_faces(void *self, const double *F, double *U)
{
  mn_mono_system *s = self;
  if (s->mesh_steps) {
    mn_aggregates_fixed_rows(s->mesh, s->mesh_steps, F, U);
    s->mesh_iterations += s->mesh_steps;
    return MN_OK;
  }
  memset(s->mesh_dv, 0, s->freedoms * sizeof *s->mesh_dv);
  mn_mono_add_forces(s, 1, F, s->mesh_dv);
  MN_TRY(answer(s, SEARCH, s->mesh_dv));
  mn_mono_faces_of(s, s->mesh_dv, U);
  return MN_OK;
}

/* A step of v towards the solid's answer to F; mesh_U is H v and follows, in single precision.
   *left: what was left of its equation before, as a part of the greatest force; `last`: nothing
   better than SOLID is asked. */
static mn_status approach(mn_mono_system *s, const double *F, int last, double *left)
{
  double forces = solid_residual(s, F, s->mesh_v, s->mesh_U, s->mesh_dv);
  *left = mn_mono_largest(s->freedoms, s->mesh_dv);
  *left = *left > 0 ? *left / forces : 0;
  if (*left <= SOLID)
    return MN_OK;
  double loose = last ? fmin(fmax(0.1 * SOLID / *left, LOOSE), SEARCH) : LOOSE;
  if (s->mesh_steps)
    fixed_answer(s, s->mesh_follows ? s->mesh_near : s->mesh_fine, s->mesh_dv);
  else
    MN_TRY(answer(s, loose, s->mesh_dv));
  for (size_t i = 0; i < s->freedoms; i++)
    s->mesh_v[i] += s->mesh_dv[i];
  mn_aggregates_follow_rows(s->mesh, s->mesh_U);
  return MN_OK;
}

/* v goes with the pressures, as far as answers were known. */
static void follow(void *self, double keep, double step)
{
  mn_mono_system *s = self;
  mn_aggregates_follow(s->mesh, keep, step, s->mesh_d, s->mesh_v);
  s->mesh_follows = 1;
}

static mn_status whole_answer_of_faces(void *self, const double *F, double *U)
{
  mn_mono_system *s = self;
  double left;
  mn_mono_faces_of(s, s->mesh_v, s->mesh_U);
  MN_TRY(approach(s, F, 0, &left));
  s->mesh_follows = 0;
  memcpy(U, s->mesh_U, s->rows * sizeof *U);
  return MN_OK;
}

mn_status mn_mono_mesh_answer(mn_mono_system *s, double *v)
{
  if (s->mesh_steps)
    fixed_answer(s, s->mesh_steps, v);
  else
    mn_aggregates_cycle(s->mesh, v, v);
  return MN_OK;
}

/* ---- the solve ------------------------------------------------------------------------------- */

static void look(mn_mono_system *s)
{
  s->mesh_steps = mn_aggregates_look(s->mesh, ROUGH);
  s->mesh_near = mn_aggregates_look(s->mesh, NEAR);
  s->mesh_fine = mn_aggregates_look(s->mesh, FINE);
}

/* The solid's own answer v <- K'^-1 right_solid, which shows what K' is like: by sweeps alone if a
   few do, else with levels. */
static mn_status prepare(mn_mono_system *s, double *v, int *positive)
{
  mn_csr K = mn_csr_view(&s->solid.K);
  int cloth = mn_mono_any_cloth(s);
  if (!s->mesh)
    MN_TRY(mn_aggregates_create(s->ctx, &s->mesh));
  MN_TRY(mn_mono_work(s, 1, s->freedoms + s->rows));
  double *scale = s->work, *w = scale + s->freedoms;
  for (size_t i = 0; i < s->freedoms; i++)
    scale[i] = 1 / s->g[i];
  for (size_t r = 0; r < s->rows; r++)
    w[r] = mn_mono_mass(s, r) / s->dt;
  s->mesh_steps = 0;
  if (!cloth) {
    mn_aggregates_report report;
    MN_TRY(mn_aggregates_setup_sweeps(s->mesh, &K, scale, &s->H.a, w, positive));
    if (!*positive)
      return MN_OK;
    mn_aggregates_solve(s->mesh, FIRST, SWEEPS, s->right_solid, v, &report);
    s->mesh_iterations += report.iterations;
    if (report.converged && report.positive) {
      look(s);
      return MN_OK;
    }
  }
  MN_TRY(mn_aggregates_setup(s->mesh, &K, scale, &s->H.a, w, positive));
  if (!*positive)
    return MN_OK;
  memcpy(v, s->right_solid, s->freedoms * sizeof *v);
  MN_TRY(answer(s, cloth ? LOOSE : FIRST, v));
  if (!cloth)
    look(s);
  return MN_OK;
}

/* v to the end of its equation under p; *moved: the greatest flow into a face's cells that this
   made. */
static mn_status settle(mn_mono_system *s, const double *p, double *F, double *moved)
{
  double left = 1, *before = F + s->rows;
  const double *U = s->mesh_U;
  mn_mono_press(s, p, F);
  memcpy(before, U, s->rows * sizeof *U);
  for (int k = 0; k < ROUNDS && left > SOLID && !s->lost; k++) {
    mn_mono_faces_of(s, s->mesh_v, s->mesh_U);
    MN_TRY(approach(s, F, 1, &left));
  }
  s->lost |= !(left <= SOLID);
  *moved = 0;
  for (size_t r = 0; r < s->rows; r++)
    *moved = fmax(*moved, 6 * s->fluid.area[r] * fabs(U[r] - before[r]));
  return MN_OK;
}

static mn_status iterate(mn_mono_system *s, double tolerance, double *F, double *p)
{
  double moved = INFINITY;
  for (int k = 0; k < ROUNDS && moved > 0.2 * tolerance && !s->lost; k++) {
    mn_solve_report report = {0};
    MN_TRY(mn_boxes_conjugate(s->boxes, answer_of_faces, whole_answer_of_faces, follow, s,
                              s->right_cells, 0.8 * tolerance, MN_MONO_KRYLOV_MOST, p, &report));
    s->krylov += report.iterations;
    s->lost |= report.reason != MN_CONVERGED;
    MN_TRY(settle(s, p, F, &moved));
  }
  s->lost |= !(moved <= 0.2 * tolerance);
  return MN_OK;
}

/* What may be left in cells, from the residual at p = 0 with v its answer; mesh_U <- H v. */
static mn_status find_tolerance(mn_mono_system *s, double *tolerance)
{
  double *r;
  mn_arena_mark mark = mn_arena_save(&s->arena);
  MN_TRY(MN_PUSH(s->ctx, &s->arena, s->cells, &r));
  memcpy(r, s->right_cells, s->cells * sizeof *r);
  mn_mono_faces_of(s, s->mesh_v, s->mesh_U);
  mn_mono_add_outflow(s, -1, s->mesh_U, r);
  mn_mono_drop_held(s, r);
  *tolerance = mn_mono_tolerance(s, mn_mono_largest(s->cells, r));
  mn_arena_reset(&s->arena, mark);
  return MN_OK;
}

mn_status mn_mono_mesh(mn_mono_system *s, double *p, double *v)
{
  double tolerance, *F;
  int positive;
  MN_TRY(prepare(s, v, &positive));
  s->lost |= !positive;
  if (s->lost)
    return MN_OK;
  mn_aggregates_mobility(s->mesh, s->F);
  MN_TRY(mn_mono_mobility_of_waves(s, s->F));
  MN_TRY(mn_boxes_prepare(s->boxes, s->F, s->held));
  mn_arena_mark mark = mn_arena_save(&s->arena);
  MN_TRY(MN_PUSH(s->ctx, &s->arena, 2 * s->rows, &F));
  MN_TRY(MN_PUSH(s->ctx, &s->arena, s->rows, &s->mesh_U));
  MN_TRY(MN_PUSH(s->ctx, &s->arena, s->freedoms, &s->mesh_d));
  MN_TRY(MN_PUSH(s->ctx, &s->arena, s->freedoms, &s->mesh_dv));
  MN_TRY(MN_PUSH(s->ctx, &s->arena, s->freedoms, &s->mesh_Kv));
  s->mesh_v = v;
  s->mesh_follows = 0;
  MN_TRY(find_tolerance(s, &tolerance));
  mn_mono_drop_held(s, p);
  mn_status status = iterate(s, tolerance, F, p);
  mn_arena_reset(&s->arena, mark);
  s->mesh_v = s->mesh_d = s->mesh_dv = s->mesh_Kv = s->mesh_U = NULL;
  return status;
}
