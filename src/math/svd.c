/* Decompositions of 3 x 3 matrices by Jacobi rotations.

   Symmetric eigenproblem: A <- J^T A J with a rotation J in the plane (p, q) that makes a_pq zero,
   over all three planes in turn until nothing changes [Golub 2013, section 8.5].

   Singular values: one-sided rotations of the columns, B <- B J from B = F, until they are
   orthogonal; then B = U diag(sigma) [Hestenes 1958]. Unlike the eigenvalues of F^T F this keeps
   small singular values accurate to round-off relative to the largest. U is completed by a cross
   product, so that both U and V are rotations and a reflection in F shows as the sign of the least
   singular value, as elasticity wants it [Irving 2004].

   Converges quadratically, in 4 to 6 sweeps; any finite F. Verified by tests/unit/math/test_svd.c.
 */
#include "math/svd.h"

#include <float.h>

enum { SWEEPS_MAX = 30 };

/* c, s of the rotation that takes the symmetric [app apq; apq aqq] to diagonal form. */
static void jacobi_rotation(double app, double apq, double aqq, double *c, double *s)
{
  double zeta = (aqq - app) / (2 * apq);
  double t = (zeta >= 0 ? 1 : -1) / (fabs(zeta) + hypot(1, zeta));
  *c = 1 / hypot(1, t);
  *s = *c * t;
}

/* Columns p, q of M: M <- M J. */
static void rotate_columns(mn_mat3 *M, int p, int q, double c, double s)
{
  for (int i = 0; i < 3; i++) {
    double x = M->m[i][p], y = M->m[i][q];
    M->m[i][p] = c * x - s * y;
    M->m[i][q] = s * x + c * y;
  }
}

static void swap_columns(mn_mat3 *M, int p, int q)
{
  for (int i = 0; i < 3; i++) { /* with a sign: the determinant stays */
    double x = M->m[i][p];
    M->m[i][p] = M->m[i][q];
    M->m[i][q] = -x;
  }
}

void mn_eigen_symmetric(const mn_mat3 *A, double value[3], mn_mat3 *V)
{
  mn_mat3 a = *A;
  *V = mn_mat3_identity();
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < i; j++)
      a.m[i][j] = a.m[j][i];
  for (int sweep = 0, turned = 1; turned && sweep < SWEEPS_MAX; sweep++) {
    turned = 0;
    for (int p = 0; p < 2; p++)
      for (int q = p + 1; q < 3; q++) {
        double apq = a.m[p][q], size = fabs(a.m[p][p]) + fabs(a.m[q][q]);
        if (apq == 0 || fabs(apq) < 0.1 * DBL_EPSILON * size)
          continue;
        double c, s;
        jacobi_rotation(a.m[p][p], apq, a.m[q][q], &c, &s);
        rotate_columns(&a, p, q, c, s);
        a = mn_mat3_transpose(a);
        rotate_columns(&a, p, q, c, s);
        a.m[p][q] = a.m[q][p] = 0;
        rotate_columns(V, p, q, c, s);
        turned = 1;
      }
  }
  for (int i = 0; i < 3; i++)
    value[i] = a.m[i][i];
  for (int pass = 0; pass < 3; pass++) { /* bubble sort: (0,1), (1,2), (0,1) */
    int i = pass % 2;
    if (value[i] < value[i + 1]) {
      double v = value[i];
      value[i] = value[i + 1];
      value[i + 1] = v;
      swap_columns(V, i, i + 1);
    }
  }
}

/* ---- singular values ------------------------------------------------------------------------- */

static double column_length(const mn_mat3 *B, int j)
{
  return mn_length(mn_mat3_column(B, j));
}

/* B <- B J, V <- V J until the columns of B are orthogonal, then in descending order. */
static void orthogonalise(mn_mat3 *B, mn_mat3 *V)
{
  for (int sweep = 0, turned = 1; turned && sweep < SWEEPS_MAX; sweep++) {
    turned = 0;
    for (int p = 0; p < 2; p++)
      for (int q = p + 1; q < 3; q++) {
        mn_vec3 x = mn_mat3_column(B, p), y = mn_mat3_column(B, q);
        double xx = mn_dot(x, x), yy = mn_dot(y, y), xy = mn_dot(x, y);
        if (xy == 0 || fabs(xy) <= DBL_EPSILON * sqrt(xx) * sqrt(yy))
          continue;
        double c, s;
        jacobi_rotation(xx, xy, yy, &c, &s);
        rotate_columns(B, p, q, c, s);
        rotate_columns(V, p, q, c, s);
        turned = 1;
      }
  }
  for (int pass = 0; pass < 3; pass++) {
    int i = pass % 2;
    if (column_length(B, i) < column_length(B, i + 1)) {
      swap_columns(B, i, i + 1);
      swap_columns(V, i, i + 1);
    }
  }
}

/* A unit vector across the unit vector u. */
static mn_vec3 across(mn_vec3 u)
{
  double ax = fabs(u.x), ay = fabs(u.y), az = fabs(u.z);
  mn_vec3 e = ax <= ay && ax <= az ? mn_v3(1, 0, 0) : ay <= az ? mn_v3(0, 1, 0) : mn_v3(0, 0, 1);
  mn_vec3 v = mn_cross(u, e);
  return mn_scale(1 / mn_length(v), v);
}

/* Power of two near the greatest entry: scaling by it is exact. */
static double scale_of(const mn_mat3 *F)
{
  double most = 0;
  int exponent;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      most = fmax(most, fabs(F->m[i][j]));
  if (!(most > 0) || !isfinite(most))
    return 1;
  frexp(most, &exponent);
  return ldexp(1, exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent);
}

void mn_svd(const mn_mat3 *F, mn_mat3 *U, double sigma[3], mn_mat3 *V)
{
  static const double NOTHING = 1e-150; /* of scaled columns: their squares underflow */
  double scale = scale_of(F);
  mn_mat3 B = mn_mat3_scale(1 / scale, *F);
  *V = mn_mat3_identity();
  orthogonalise(&B, V);
  mn_vec3 b[3], u[3];
  for (int j = 0; j < 3; j++)
    b[j] = mn_mat3_column(&B, j);
  sigma[0] = mn_length(b[0]);
  sigma[1] = mn_length(b[1]);
  u[0] = sigma[0] > NOTHING ? mn_scale(1 / sigma[0], b[0]) : mn_v3(1, 0, 0);
  u[1] = sigma[1] > NOTHING ? mn_scale(1 / sigma[1], b[1]) : across(u[0]);
  u[2] = mn_cross(u[0], u[1]);
  sigma[2] = copysign(mn_length(b[2]), mn_dot(u[2], b[2]));
  *U = mn_mat3_columns(u[0], u[1], u[2]);
  for (int j = 0; j < 3; j++)
    sigma[j] *= scale;
}

void mn_polar(const mn_mat3 *F, mn_mat3 *R, mn_mat3 *S)
{
  mn_mat3 U, V;
  double sigma[3];
  mn_svd(F, &U, sigma, &V);
  mn_mat3 Vt = mn_mat3_transpose(V);
  *R = mn_mat3_mul(U, Vt);
  *S = mn_mat3_mul(V, mn_mat3_mul(mn_mat3_diagonal(sigma[0], sigma[1], sigma[2]), Vt));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < i; j++)
      S->m[i][j] = S->m[j][i]; /* symmetric to the bit */
}
