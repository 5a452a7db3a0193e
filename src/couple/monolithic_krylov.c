/* The one system by Krylov methods, the solid's part factorised (Cholesky), the fluid's by its
   multigrid.

   cg: the positive-definite form. With v = K'^-1 (right_solid + B^T p)

       (L + B K'^-1 B^T) p = right_cells - B K'^-1 right_solid,

   symmetric and positive definite where K' is [cf. Robinson-Mosher 2011, who eliminate the solid's
   velocities as well]. minres: the symmetric indefinite form

       | L     B  | |p|   |  right_cells |
       | B^T  -K' | |v| = | -right_solid |        [Paige 1975]

   Both preconditioned with M near (L + D diag(s) D^T)^-1, s the mobility of the faces, and K'^-1.
   s_r = H_r K'^-1 H_r^T would be the true diagonal of what the solid opens; here K'^-1 is that of
   the freedoms which the face has. Bodies that move as one are few outliers of the spectrum.

   v comes from p by the solid's own equation at last, so that momentum is kept to rounding however
   well p is known. Held cells: left out. Constants that nothing tells stay as they are. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "couple/monolithic_system.h"

enum { KRYLOV_MOST = 1000 };
/* Of the right-hand side: below is rounding. */
static const double ROUND_OFF = 1e-13;

/* ---- parts ----------------------------------------------------------------------------------- */

static double dot(size_t n, const double *a, const double *b)
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

static double largest(size_t n, const double *a)
{
  double most = 0;
  for (size_t i = 0; i < n; i++)
    most = fabs(a[i]) > most || a[i] != a[i] ? fabs(a[i]) : most;
  return most;
}

static void drop_held(const mn_mono_system *s, double *y)
{
  for (size_t i = 0; i < s->cells; i++)
    if (s->held[i])
      y[i] = 0;
}

/* v <- K'^-1 (b + B^T p); b NULL: 0 */
static mn_status answer_of_solid(mn_mono_system *s, const double *b, const double *p, double *v)
{
  const mn_csr *BT = &s->BT.a;
  for (int64_t i = 0; i < BT->rows; i++) {
    double sum = b ? b[i] : 0;
    for (int64_t e = BT->start[i]; e < BT->start[i + 1]; e++)
      sum += BT->value[e] * p[BT->col[e]];
    v[i] = sum;
  }
  return s->freedoms ? mn_sparse_solve(s->factor, 1, v, v) : MN_OK;
}

static void add_flow(const mn_mono_system *s, double sign, const double *v, double *y)
{
  const mn_csr *B = &s->B.a;
  for (int64_t i = 0; i < B->rows; i++) {
    double sum = 0;
    for (int64_t e = B->start[i]; e < B->start[i + 1]; e++)
      sum += B->value[e] * v[B->col[e]];
    y[i] += sign * sum;
  }
}

/* Mobility of the faces, by the diagonal of K'. */
static void find_mobility(const mn_mono_system *s, double *open)
{
  const mn_csr *H = &s->H.a, *K = &s->K.a;
  for (int64_t r = 0; r < H->rows; r++) {
    open[r] = 0;
    for (int64_t e = H->start[r]; e < H->start[r + 1]; e++) {
      double k = K->value[mn_csr_find(K, H->col[e], H->col[e])];
      open[r] += H->value[e] * H->value[e] / k;
    }
  }
}

/* Factor of K', preconditioner of the fluid. *positive: 0 if K' has none. */
static mn_status prepare(mn_mono_system *s, int *positive)
{
  mn_factor_report report = {.positive_definite = 1};
  if (!s->factor)
    MN_TRY(mn_sparse_create(s->ctx, &s->factor));
  if (s->freedoms)
    MN_TRY(mn_sparse_factorise(s->factor, &s->K.a, &report));
  *positive = report.positive_definite;
  if (!*positive)
    return MN_OK;
  find_mobility(s, s->F);
  return mn_boxes_prepare(s->boxes, s->F, s->held);
}

static mn_status make_work(mn_mono_system *s, size_t vectors, size_t length)
{
  if (vectors * length <= s->work_room)
    return MN_OK;
  s->work_room = 0;
  MN_TRY(MN_RENEW(s->ctx, "Krylov vectors", vectors * (length + length / 8), &s->work));
  s->work_room = vectors * (length + length / 8);
  return MN_OK;
}

static mn_status not_positive(mn_mono_system *s)
{
  return mn_fail(s->ctx, MN_FAILED,
                 "the solid's part of the coupled system is not positive definite: coupling.solver "
                 "must be \"direct\"%s",
                 mn_lu_available() ? "" : ", which a build without GPL parts has not");
}

static mn_status unconverged(mn_mono_system *s, const char *name, double residual, double tolerance)
{
  return mn_fail(s->ctx, MN_FAILED,
                 "the coupled system was not solved by %s in %d iterations (residual %.3g, allowed "
                 "%.3g m^%d/s)",
                 name, KRYLOV_MOST, residual, tolerance, s->boxes->face.dim);
}

/* ---- positive definite ----------------------------------------------------------------------- */

/* y <- (L + B K'^-1 B^T) x */
static mn_status apply_positive(mn_mono_system *s, const double *x, double *v, double *y)
{
  MN_TRY(answer_of_solid(s, NULL, x, v));
  mn_boxes_apply(s->boxes, x, y);
  add_flow(s, 1, v, y);
  drop_held(s, y);
  return MN_OK;
}

mn_status mn_mono_cg(mn_mono_system *s, double *p, double *v)
{
  size_t n = s->cells;
  int positive;
  MN_TRY(prepare(s, &positive));
  if (!positive)
    return not_positive(s);
  MN_TRY(make_work(s, 4, n));
  double *r = s->work, *z = r + n, *d = z + n, *y = d + n;
  drop_held(s, p);
  /* r = right_cells - L p - B v, v the answer to p */
  MN_TRY(answer_of_solid(s, s->right_solid, p, v));
  mn_boxes_apply(s->boxes, p, y);
  add_flow(s, 1, v, y);
  for (size_t i = 0; i < n; i++)
    r[i] = s->right_cells[i] - y[i];
  drop_held(s, r);
  double tolerance = fmax(s->fluid.tolerance, ROUND_OFF * largest(n, s->right_cells)), old = 0;
  int k = 0;
  for (; k < KRYLOV_MOST && largest(n, r) > tolerance; k++) {
    mn_boxes_precondition(s->boxes, r, z);
    double rz = dot(n, r, z);
    for (size_t i = 0; i < n; i++)
      d[i] = z[i] + (k ? rz / old * d[i] : 0);
    MN_TRY(apply_positive(s, d, v, y));
    double curve = dot(n, d, y);
    if (!(curve > 0) || !(rz > 0))
      break; /* rounding, or a number that is none */
    for (size_t i = 0; i < n; i++) {
      p[i] += rz / curve * d[i];
      r[i] -= rz / curve * y[i];
    }
    old = rz;
  }
  s->krylov += k;
  if (!(largest(n, r) <= tolerance))
    return unconverged(s, "cg", largest(n, r), tolerance);
  return answer_of_solid(s, s->right_solid, p, v);
}

/* ---- symmetric indefinite -------------------------------------------------------------------- */

/* y <- A x on (p, v) */
static void apply_symmetric(mn_mono_system *s, const double *x, double *y)
{
  const mn_csr *BT = &s->BT.a, *K = &s->K.a;
  const double *v = x + s->cells;
  mn_boxes_apply(s->boxes, x, y);
  add_flow(s, 1, v, y);
  drop_held(s, y);
  for (int64_t i = 0; i < BT->rows; i++) {
    double sum = 0;
    for (int64_t e = BT->start[i]; e < BT->start[i + 1]; e++)
      sum += BT->value[e] * x[BT->col[e]];
    for (int64_t e = K->start[i]; e < K->start[i + 1]; e++)
      sum -= K->value[e] * v[K->col[e]];
    y[s->cells + (size_t)i] = sum;
  }
}

static mn_status precondition_both(mn_mono_system *s, const double *y, double *z)
{
  mn_boxes_precondition(s->boxes, y, z);
  memcpy(z + s->cells, y + s->cells, s->freedoms * sizeof *z);
  return s->freedoms ? mn_sparse_solve(s->factor, 1, z + s->cells, z + s->cells) : MN_OK;
}

/* What of the cells' equations is left, with v the answer to p: into r. */
static mn_status left(mn_mono_system *s, const double *p, double *v, double *r, double *size)
{
  MN_TRY(answer_of_solid(s, s->right_solid, p, v));
  mn_boxes_apply(s->boxes, p, r);
  add_flow(s, 1, v, r);
  for (size_t i = 0; i < s->cells; i++)
    r[i] = s->right_cells[i] - r[i];
  drop_held(s, r);
  *size = largest(s->cells, r);
  return MN_OK;
}

/* The recurrences of [Elman 2014, Algorithm 4.1]; names as there. */
static mn_status minres(mn_mono_system *s, double *x, double tolerance, double *v)
{
  size_t n = s->cells + s->freedoms;
  double *u0 = s->work, *u1 = u0 + n, *z = u1 + n, *w0 = z + n, *w1 = w0 + n, *Az = w1 + n,
         *next = Az + n, *r = next + n, size;
  memset(u0, 0, n * sizeof *u0);
  memset(w0, 0, 2 * n * sizeof *w0);
  apply_symmetric(s, x, u1);
  for (size_t i = 0; i < n; i++)
    u1[i] = (i < s->cells ? s->right_cells[i] : -s->right_solid[i - s->cells]) - u1[i];
  drop_held(s, u1);
  MN_TRY(precondition_both(s, u1, z));
  double gamma0 = 1, gamma1 = sqrt(fmax(0, dot(n, z, u1))), eta = gamma1, s0 = 0, s1 = 0, c0 = 1,
         c1 = 1;
  for (int k = 0; k < KRYLOV_MOST && gamma1 > 0; k++) {
    for (size_t i = 0; i < n; i++)
      z[i] /= gamma1;
    apply_symmetric(s, z, Az);
    double delta = dot(n, Az, z);
    for (size_t i = 0; i < n; i++)
      next[i] = Az[i] - delta / gamma1 * u1[i] - (k ? gamma1 / gamma0 : 0) * u0[i];
    double *spare = u0;
    u0 = u1;
    u1 = next;
    next = spare;
    MN_TRY(precondition_both(s, u1, Az));
    double gamma2 = sqrt(fmax(0, dot(n, Az, u1)));
    double a0 = c1 * delta - c0 * s1 * gamma1, a1 = sqrt(a0 * a0 + gamma2 * gamma2),
           a2 = s1 * delta + c0 * c1 * gamma1, a3 = s0 * gamma1;
    c0 = c1;
    s0 = s1;
    c1 = a0 / a1;
    s1 = gamma2 / a1;
    for (size_t i = 0; i < n; i++) {
      double w = (z[i] - a3 * w0[i] - a2 * w1[i]) / a1;
      w0[i] = w1[i];
      w1[i] = w;
      x[i] += c1 * eta * w;
      z[i] = Az[i];
    }
    eta = -s1 * eta;
    gamma0 = gamma1;
    gamma1 = gamma2;
    s->krylov++;
    MN_TRY(left(s, x, v, r, &size));
    if (size <= tolerance)
      return MN_OK;
  }
  MN_TRY(left(s, x, v, r, &size));
  return size <= tolerance ? MN_OK : unconverged(s, "minres", size, tolerance);
}

mn_status mn_mono_minres(mn_mono_system *s, double *p, double *v)
{
  size_t n = s->cells + s->freedoms;
  int positive;
  MN_TRY(prepare(s, &positive));
  if (!positive)
    return not_positive(s);
  MN_TRY(make_work(s, 10, n));
  double *x = s->work + 8 * n, *answer = x + n, size,
         tolerance = fmax(s->fluid.tolerance, ROUND_OFF * largest(s->cells, s->right_cells));
  drop_held(s, p);
  memcpy(x, p, s->cells * sizeof *x);
  MN_TRY(left(s, p, v, s->work, &size));
  memcpy(x + s->cells, v, s->freedoms * sizeof *x);
  if (size > tolerance)
    MN_TRY(minres(s, x, tolerance, answer));
  memcpy(p, x, s->cells * sizeof *p);
  return answer_of_solid(s, s->right_solid, p, v);
}
