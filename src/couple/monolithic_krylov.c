/* The one system in its positive-definite form, by conjugate gradients: with v = K'^-1 (right_solid
   + B^T p)

       (L + B K'^-1 B^T) p = right_cells - B K'^-1 right_solid,

   symmetric and positive definite where K' is [cf. Robinson-Mosher 2011, who eliminate the solid's
   velocities as well]. K' is factorised (Cholesky); the preconditioner is the fluid's, near (L + D
   diag(s) D^T)^-1 with s the mobility of the faces (monolithic_mobility.c). Bodies that move as one
   are few outliers of its spectrum, the farther out the lighter they are. Where K' is not positive
   (the fluid's mass at a face may be below 0, and more than a very light body weighs), the
   symmetric form is taken instead (monolithic_minres.c).

   v comes from p by the solid's own equation at last, so that momentum is kept to rounding however
   well p is known. Held cells: left out. Constants that nothing tells stay as they are.

   Verified by tests/unit/couple/test_monolithic_system.c, tests/verify/test_monolithic_solvers.c.
 */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "couple/monolithic_system.h"

/* Of the right-hand side: below is rounding. */
static const double ROUND_OFF = 1e-13;
/* The tolerance relative to p = 0 is that of a fluid alone; without it light bodies fly. */
static const double STRICTER = 0.01;
/* Sum over a body's freedoms of the fluid's inertia over its own, from which on minres is faster (a
   disk of 10, 0.1, 0.001 of the fluid's density, 64 cells a side: 6, 25, 125 iterations; minres:
   12, 14, 14, which take longer). */
static const double LIGHT = 8;

/* ---- parts ----------------------------------------------------------------------------------- */

double mn_mono_dot(size_t n, const double *a, const double *b)
{
  enum { BLOCK = 4096 }; /* sums of sums round less */
  double sum = 0;
  for (size_t i = 0; i < n; i += BLOCK) {
    double part = 0;
    for (size_t j = i; j < n && j < i + BLOCK; j++)
      part += a[j] * b[j];
    sum += part;
  }
  return sum;
}

double mn_mono_largest(size_t n, const double *a)
{
  double most = 0;
  for (size_t i = 0; i < n; i++)
    most = fabs(a[i]) > most || a[i] != a[i] ? fabs(a[i]) : most;
  return most;
}

void mn_mono_drop_held(const mn_mono_system *s, double *y)
{
  for (size_t i = 0; i < s->cells; i++)
    if (s->held[i])
      y[i] = 0;
}

/* v <- K'^-1 (b + B^T p); b NULL: 0 */
static mn_status answer_of_solid(mn_mono_system *s, const double *b, const double *p, double *v)
{
  if (b)
    memcpy(v, b, s->freedoms * sizeof *v);
  else
    memset(v, 0, s->freedoms * sizeof *v);
  mn_mono_press(s, p, s->F);
  mn_mono_add_forces(s, 1, s->F, v);
  return mn_mono_answer(s, v);
}

mn_status mn_mono_work(mn_mono_system *s, size_t vectors, size_t length)
{
  if (vectors * length <= s->work_room)
    return MN_OK;
  s->work_room = 0;
  MN_TRY(MN_RENEW(s->ctx, "Krylov vectors", vectors * (length + length / 8), &s->work));
  s->work_room = vectors * (length + length / 8);
  return MN_OK;
}

mn_status mn_mono_unsolved(mn_mono_system *s, const char *name, double residual, double tolerance)
{
  return mn_fail(s->ctx, MN_FAILED,
                 "the coupled system was not solved by %s in %d iterations (residual %.3g, allowed "
                 "%.3g m^%d/s)",
                 name, MN_MONO_KRYLOV_MOST, residual, tolerance, s->boxes->face.dim);
}

/* What of the cells' equations is left, with v the answer to p: into r. */
static mn_status left(mn_mono_system *s, const double *p, double *v, double *r, double *size)
{
  MN_TRY(answer_of_solid(s, s->right_solid, p, v));
  mn_boxes_apply(s->boxes, p, r);
  mn_mono_add_flow(s, 1, v, r);
  for (size_t i = 0; i < s->cells; i++)
    r[i] = s->right_cells[i] - r[i];
  mn_mono_drop_held(s, r);
  *size = mn_mono_largest(s->cells, r);
  return MN_OK;
}

/* ---- positive definite ----------------------------------------------------------------------- */

/* y <- (L + B K'^-1 B^T) x */
static mn_status apply_positive(mn_mono_system *s, const double *x, double *v, double *y)
{
  MN_TRY(answer_of_solid(s, NULL, x, v));
  mn_boxes_apply(s->boxes, x, y);
  mn_mono_add_flow(s, 1, v, y);
  mn_mono_drop_held(s, y);
  return MN_OK;
}

/* By operators alone: for fluids that have no solver of their own. */
static mn_status cg(mn_mono_system *s, double tolerance, double *p, double *v, double *residual)
{
  size_t n = s->cells;
  MN_TRY(mn_mono_work(s, 4, n));
  double *r = s->work, *z = r + n, *d = z + n, *y = d + n, old = 0;
  MN_TRY(left(s, p, v, r, residual));
  for (int k = 0; k<MN_MONO_KRYLOV_MOST && * residual> tolerance; k++) {
    mn_boxes_precondition(s->boxes, r, z);
    mn_mono_drop_constants(s, z);
    double rz = mn_mono_dot(n, r, z);
    for (size_t i = 0; i < n; i++)
      d[i] = z[i] + (k ? rz / old * d[i] : 0);
    MN_TRY(apply_positive(s, d, v, y));
    double curve = mn_mono_dot(n, d, y);
    if (!(curve > 0) || !(rz > 0))
      break; /* rounding, or a number that is none */
    for (size_t i = 0; i < n; i++) {
      p[i] += rz / curve * d[i];
      r[i] -= rz / curve * y[i];
    }
    old = rz;
    *residual = mn_mono_largest(n, r);
    s->krylov++;
  }
  return MN_OK;
}

/* U <- H K'^-1 H^T F */
static mn_status answer_of_faces(void *self, const double *F, double *U)
{
  mn_mono_system *s = self;
  double *v = s->work;
  memset(v, 0, s->freedoms * sizeof *v);
  mn_mono_add_forces(s, 1, F, v);
  MN_TRY(mn_mono_answer(s, v));
  mn_mono_faces_of(s, v, U);
  return MN_OK;
}

/* By the fluid's solver, which is faster. */
static mn_status conjugate(mn_mono_system *s, double tolerance, double *p, double *v,
                           double *residual)
{
  size_t n = s->cells;
  mn_solve_report report = {0};
  MN_TRY(mn_mono_work(s, 1, s->freedoms + n + 1));
  double *b = s->work + s->freedoms;
  memset(b, 0, n * sizeof *b);
  memcpy(v, s->right_solid, s->freedoms * sizeof *v);
  MN_TRY(mn_mono_answer(s, v));
  mn_mono_add_flow(s, -1, v, b);
  for (size_t i = 0; i < n; i++)
    b[i] += s->right_cells[i];
  mn_mono_drop_held(s, b);
  MN_TRY(mn_boxes_conjugate(s->boxes, answer_of_faces, NULL, NULL, s, b, tolerance,
                            MN_MONO_KRYLOV_MOST, p, &report));
  s->krylov += report.iterations;
  *residual = report.residual;
  return MN_OK;
}

double mn_mono_tolerance(const mn_mono_system *s, double most)
{
  double walls = mn_mono_largest(s->cells, s->right_cells);
  return fmax(fmax(s->fluid.tolerance, ROUND_OFF * walls), STRICTER * s->fluid.relative * most);
}

/* Of the right-hand side at p = 0 and p0 = 0, into s->work's beginning. */
static mn_status find_tolerance(mn_mono_system *s, double *v, double *tolerance)
{
  MN_TRY(mn_mono_work(s, 1, s->cells));
  double *y = s->work;
  memcpy(v, s->right_solid, s->own * sizeof *v);
  memset(v + s->own, 0, s->borders * sizeof *v);
  if (s->own)
    MN_TRY(mn_sparse_solve(s->factor, 1, v, v));
  memcpy(y, s->right_cells, s->cells * sizeof *y);
  mn_mono_add_flow(s, -1, v, y);
  mn_mono_drop_held(s, y);
  *tolerance = mn_mono_tolerance(s, mn_mono_largest(s->cells, y));
  return MN_OK;
}

/* Whether rigid bodies weigh less than a part of the fluid that moves with them: y^T M y with y =
   sum of +-B_f / sqrt(K'_ff) over their freedoms is about the sum of these ratios. */
static mn_status are_light(mn_mono_system *s, int *light)
{
  const mn_interface *f = &s->boxes->face;
  const mn_sparse_matrix *E = &s->solid.E;
  int body = -1, bodies = 0;
  MN_TRY(mn_mono_work(s, 2, s->cells + s->freedoms));
  double *y = s->work, *z = y + s->cells, *weight = z + s->cells;
  memset(y, 0, s->cells * sizeof *y);
  memset(weight, 0, s->freedoms * sizeof *weight);
  for (size_t i = 0; i < f->count; i++)
    for (int64_t e = E->start[3 * i]; e < E->start[3 * i + 3] && f->rigid[i]; e++) {
      int64_t k = mn_csr_find(&s->K.a, E->col[e], E->col[e]);
      weight[E->col[e]] = (E->col[e] % 2 ? -1 : 1) / sqrt(s->K.a.value[k]);
      bodies += f->body[i] != body;
      body = f->body[i];
    }
  *light = 0;
  if (!bodies)
    return MN_OK;
  mn_mono_add_flow(s, 1, weight, y);
  mn_mono_drop_held(s, y);
  mn_boxes_precondition(s->boxes, y, z);
  *light = mn_mono_dot(s->cells, y, z) > LIGHT * bodies;
  return MN_OK;
}

mn_status mn_mono_cg(mn_mono_system *s, int weigh, double *p, double *v)
{
  int positive, light = 0;
  double residual, tolerance;
  MN_TRY(mn_mono_factorise(s, &positive));
  if (!positive)
    return mn_mono_minres(s, p, v);
  MN_TRY(mn_mono_mobility(s, s->factor, 1, s->F));
  MN_TRY(mn_boxes_prepare(s->boxes, s->F, s->held));
  if (weigh && !s->borders)
    MN_TRY(are_light(s, &light));
  if (light)
    return mn_mono_minres(s, p, v);
  MN_TRY(find_tolerance(s, v, &tolerance));
  mn_mono_drop_held(s, p);
  mn_mono_drop_constants(s, p);
  if (mn_boxes_has_conjugate(s->boxes) && !s->borders) /* in floats free constants cost much */
    MN_TRY(conjugate(s, tolerance, p, v, &residual));
  else
    MN_TRY(cg(s, tolerance, p, v, &residual));
  if (!(residual <= tolerance) && s->borders && mn_lu_available())
    return mn_mono_direct(s, p, v); /* a preconditioner that is not positive, at thin gaps */
  if (!(residual <= tolerance))
    return mn_mono_unsolved(s, "cg", residual, tolerance);
  return answer_of_solid(s, s->right_solid, p, v);
}
