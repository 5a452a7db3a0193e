/* Energy density psi(F), stress P = dpsi/dF and tangent dP/dF of isotropic materials.

   The stress is written in F itself. The tangent is diagonal but for a dim x dim block in the frame
   of the singular value decomposition F = U diag(s) V^T [Smith 2019, Teran 2005]: with psi_i =
   dpsi/ds_i and W_ij = u_i v_j^T,

       stretch:  A_ij = d^2 psi/ds_i ds_j        between W_ii and W_jj
       twist:    (psi_i + psi_j)/(s_i + s_j)     along (W_ij - W_ji)/sqrt 2
       flip:     (psi_i - psi_j)/(s_i - s_j)     along (W_ij + W_ji)/sqrt 2

   so that its eigenvalues are known: those below 0 are cut off there. The quotients are simplified
   by hand for each material, so that equal singular values need no care; only the twist of the
   fixed corotated material has a pole, at s_i + s_j = 0 (an inverted element), where the
   denominator is bounded away from 0.

   Limits: St. Venant-Kirchhoff softens under compression and must not be used below s = 0.6.
   Verified by tests/unit/solid/test_material.c. */
#include "solid/material.h"

#include "math/svd.h"

mn_material mn_material_make(mn_material_kind kind, double young, double poisson)
{
  return (mn_material){kind, young / (2 * (1 + poisson)),
                       young * poisson / ((1 + poisson) * (1 - 2 * poisson))};
}

/* ---- stress ---------------------------------------------------------------------------------- */

/* det(F) F^-T */
static mn_mat3 cofactor(const mn_mat3 *F)
{
  mn_mat3 c;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int r0 = (i + 1) % 3, r1 = (i + 2) % 3, c0 = (j + 1) % 3, c1 = (j + 2) % 3;
      c.m[i][j] = F->m[r0][c0] * F->m[r1][c1] - F->m[r0][c1] * F->m[r1][c0];
    }
  return c;
}

/* F = U diag(s) V^T of the upper left block; the third axis is left alone. s[1] < 0 if det < 0. */
static void svd_plane(const mn_mat3 *F, mn_mat3 *U, double s[3], mn_mat3 *V)
{
  double p = (F->m[0][0] + F->m[1][1]) / 2, q = (F->m[0][0] - F->m[1][1]) / 2;
  double r = (F->m[1][0] + F->m[0][1]) / 2, t = (F->m[1][0] - F->m[0][1]) / 2;
  double big = hypot(p, t), small = hypot(q, r);
  double sum = atan2(t, p), difference = q == 0 && r == 0 ? 0 : atan2(r, q);
  double u = (sum + difference) / 2, v = (difference - sum) / 2;
  s[0] = big + small;
  s[1] = big - small;
  s[2] = 1;
  *U = *V = mn_mat3_identity();
  U->m[0][0] = U->m[1][1] = cos(u);
  U->m[1][0] = sin(u);
  U->m[0][1] = -U->m[1][0];
  V->m[0][0] = V->m[1][1] = cos(v);
  V->m[1][0] = sin(v);
  V->m[0][1] = -V->m[1][0];
}

static void decompose(int dim, const mn_mat3 *F, mn_mat3 *U, double s[3], mn_mat3 *V)
{
  if (dim == 2)
    svd_plane(F, U, s, V);
  else
    mn_svd(F, U, s, V);
}

static double square_norm(const mn_mat3 *F)
{
  double n = mn_mat3_norm(*F);
  return n * n;
}

/* |F|^2 - 3 - 2 ln J: near the rest shape both are small differences of terms near 3, so there in
   A = F^T F - I, with J^2 - 1 = tr A + (its second invariant) + det A. */
static double distortion(const mn_mat3 *F, double log_j)
{
  mn_mat3 A = mn_mat3_mul(mn_mat3_transpose(*F), *F);
  for (int i = 0; i < 3; i++)
    A.m[i][i] -= 1;
  if (!(mn_mat3_norm(A) < 0.1))
    return square_norm(F) - 3 - 2 * log_j;
  double trace = A.m[0][0] + A.m[1][1] + A.m[2][2], second = 0;
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3;
    second += A.m[i][i] * A.m[j][j] - A.m[i][j] * A.m[j][i];
  }
  return trace - log1p(trace + second + mn_mat3_determinant(A));
}

static void stress_neo_hookean(const mn_material *m, const mn_mat3 *F, double J, double *psi,
                               mn_mat3 *P)
{
  double log_j = log(J);
  *psi = m->mu / 2 * distortion(F, log_j) + m->lambda / 2 * log_j * log_j;
  if (!P)
    return;
  *P = mn_mat3_scale((m->lambda * log_j - m->mu) / J, cofactor(F));
  *P = mn_mat3_add(*P, mn_mat3_scale(m->mu, *F));
}

static void stress_corotated(const mn_material *m, int dim, const mn_mat3 *F, double J, double *psi,
                             mn_mat3 *P)
{
  mn_mat3 U, V;
  double s[3];
  decompose(dim, F, &U, s, &V);
  mn_mat3 R = mn_mat3_mul(U, mn_mat3_transpose(V));
  mn_mat3 strain = mn_mat3_add(*F, mn_mat3_scale(-1, R));
  *psi = m->mu * square_norm(&strain) + m->lambda / 2 * (J - 1) * (J - 1);
  if (P)
    *P = mn_mat3_add(mn_mat3_scale(2 * m->mu, strain),
                     mn_mat3_scale(m->lambda * (J - 1), cofactor(F)));
}

static void stress_st_venant(const mn_material *m, const mn_mat3 *F, double *psi, mn_mat3 *P)
{
  mn_mat3 E = mn_mat3_mul(mn_mat3_transpose(*F), *F);
  for (int i = 0; i < 3; i++)
    E.m[i][i] -= 1;
  E = mn_mat3_scale(0.5, E);
  double trace = E.m[0][0] + E.m[1][1] + E.m[2][2];
  *psi = m->mu * square_norm(&E) + m->lambda / 2 * trace * trace;
  if (!P)
    return;
  mn_mat3 S = mn_mat3_scale(2 * m->mu, E);
  for (int i = 0; i < 3; i++)
    S.m[i][i] += m->lambda * trace;
  *P = mn_mat3_mul(*F, S);
}

int mn_material_stress(const mn_material *material, int dim, const mn_mat3 *F, double *psi,
                       mn_mat3 *P)
{
  double J = mn_mat3_determinant(*F);
  if (!isfinite(J) || (material->kind == MN_NEO_HOOKEAN && J <= 0))
    return 0;
  switch (material->kind) {
  case MN_NEO_HOOKEAN:
    stress_neo_hookean(material, F, J, psi, P);
    break;
  case MN_FIXED_COROTATED:
    stress_corotated(material, dim, F, J, psi, P);
    break;
  case MN_ST_VENANT:
    stress_st_venant(material, F, psi, P);
    break;
  }
  return 1;
}

/* ---- tangent --------------------------------------------------------------------------------- */

/* Stretch block, and twist and flip of the pair across axis k: of the axes k + 1 and k + 2. */
typedef struct modes {
  double A[3][3], twist[3], flip[3];
} modes;

static void modes_neo_hookean(const mn_material *m, const double s[3], modes *d)
{
  double load = m->lambda * log(s[0] * s[1] * s[2]) - m->mu;
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    d->A[i][i] = m->mu + (m->lambda - load) / (s[i] * s[i]);
    d->A[j][k] = d->A[k][j] = m->lambda / (s[j] * s[k]);
    d->twist[i] = m->mu + load / (s[j] * s[k]);
    d->flip[i] = m->mu - load / (s[j] * s[k]);
  }
}

static void modes_corotated(const mn_material *m, const double s[3], modes *d)
{
  static const double LEAST = 1e-6; /* of s_i + s_j: a pole where an element is turned inside out */
  double J = s[0] * s[1] * s[2], load = m->lambda * (J - 1);
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    double sum = s[j] + s[k];
    sum = fabs(sum) < LEAST ? copysign(LEAST, sum) : sum;
    d->A[i][i] = 2 * m->mu + m->lambda * s[j] * s[k] * s[j] * s[k];
    d->A[j][k] = d->A[k][j] = m->lambda * s[i] * s[k] * s[i] * s[j] + load * s[i];
    d->twist[i] = 2 * m->mu * (1 - 2 / sum) + load * s[i];
    d->flip[i] = 2 * m->mu - load * s[i];
  }
}

static void modes_st_venant(const mn_material *m, const double s[3], modes *d)
{
  double trace = (s[0] * s[0] + s[1] * s[1] + s[2] * s[2] - 3) / 2;
  double load = m->lambda * trace - m->mu;
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    double squares = s[j] * s[j] + s[k] * s[k];
    d->A[i][i] = (3 * m->mu + m->lambda) * s[i] * s[i] + load;
    d->A[j][k] = d->A[k][j] = m->lambda * s[j] * s[k];
    d->twist[i] = m->mu * (squares - s[j] * s[k]) + load;
    d->flip[i] = m->mu * (squares + s[j] * s[k]) + load;
  }
}

/* A <- its positive semidefinite part, the leading dim x dim block alone. */
static void cut_stretch(int dim, double A[3][3])
{
  mn_mat3 a = mn_mat3_diagonal(0, 0, 0), V;
  double w[3];
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++)
      a.m[i][j] = A[i][j];
  double two = a.m[0][0] * a.m[1][1] - a.m[0][1] * a.m[0][1];
  if (a.m[0][0] > 0 && two > 0 && (dim == 2 || mn_mat3_determinant(a) > 0))
    return; /* positive definite */
  mn_eigen_symmetric(&a, w, &V);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      A[i][j] = 0;
      for (int k = 0; k < 3; k++)
        A[i][j] += mn_max(w[k], 0) * V.m[i][k] * V.m[j][k];
    }
}

static void cut(int dim, modes *d)
{
  cut_stretch(dim, d->A);
  for (int k = dim == 2 ? 2 : 0; k < 3; k++) {
    d->twist[k] = mn_max(d->twist[k], 0);
    d->flip[k] = mn_max(d->flip[k], 0);
  }
}

/* D = sum over (i, j) of W_ij T_ij^T, where T_ij is what the tangent makes of W_ij. */
static void rotate(int dim, const modes *d, const mn_mat3 *U, const mn_mat3 *V, double *D)
{
  int size = dim * dim;
  double W[3][3][9], T[9];
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++)
      for (int a = 0; a < dim; a++)
        for (int b = 0; b < dim; b++)
          W[i][j][a * dim + b] = U->m[a][i] * V->m[b][j];
  for (int e = 0; e < size * size; e++)
    D[e] = 0;
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) {
      if (i == j) {
        for (int e = 0; e < size; e++) {
          T[e] = 0;
          for (int k = 0; k < dim; k++)
            T[e] += d->A[i][k] * W[k][k][e];
        }
      } else {
        int across = 3 - i - j;
        double same = (d->flip[across] + d->twist[across]) / 2;
        double other = (d->flip[across] - d->twist[across]) / 2;
        for (int e = 0; e < size; e++)
          T[e] = same * W[i][j][e] + other * W[j][i][e];
      }
      for (int r = 0; r < size; r++)
        for (int c = 0; c < size; c++)
          D[r * size + c] += W[i][j][r] * T[c];
    }
}

int mn_material_tangent(const mn_material *material, int dim, const mn_mat3 *F, int psd, double *D)
{
  double J = mn_mat3_determinant(*F), s[3];
  if (!isfinite(J) || (material->kind == MN_NEO_HOOKEAN && J <= 0))
    return 0;
  mn_mat3 U, V;
  modes d;
  decompose(dim, F, &U, s, &V);
  switch (material->kind) {
  case MN_NEO_HOOKEAN:
    modes_neo_hookean(material, s, &d);
    break;
  case MN_FIXED_COROTATED:
    modes_corotated(material, s, &d);
    break;
  case MN_ST_VENANT:
    modes_st_venant(material, s, &d);
    break;
  }
  if (psd)
    cut(dim, &d);
  rotate(dim, &d, &U, &V, D);
  return 1;
}
