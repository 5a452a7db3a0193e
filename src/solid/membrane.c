/* Membranes: triangles in 3D that resist stretch and shear in their plane.

   F (3 x 2) takes rest to space, C = F^T F. With the weight w = thickness times area,

       E = w psi(C),  dE/dx_a = w F S G_a,
       K_ab = w [ (G_a . S G_b) I + F (l (Q G_a)(Q G_b)^T + m ((G_a . Q G_b) Q + (Q G_b)(Q G_a)^T))
   F^T ]

   St. Venant-Kirchhoff in plane stress: S = l tr(E) I + 2 m E, Q = I, m = mu, l = 2 mu lambda /
   (lambda + 2 mu). Incompressible Neo-Hookean: psi = mu/2 (tr C + 1/det C - 3), S = mu (I -
   C^-1/det C), Q = C^-1, l = 2 mu/det C, m = mu/det C. The second part of K is positive
   semidefinite for both; the projection replaces S by its positive part in the first (tension
   field). Verified by tests/unit/solid/test_energy.c. */
#include "solid/thin.h"

#include "base/memory.h"
#include "base/status.h"

enum { WEIGHT, INVERSE, MEMBRANE_STRIDE = 5 }; /* INVERSE: 2 x 2, of the rest edges */

typedef struct law {
  double S[2][2], Q[2][2], l, m;
} law;

static double st_venant(const mn_material *mat, double C[2][2], law *r)
{
  double l = 2 * mat->mu * mat->lambda / (mat->lambda + 2 * mat->mu), m = mat->mu;
  double E[2][2] = {{(C[0][0] - 1) / 2, C[0][1] / 2}, {C[0][1] / 2, (C[1][1] - 1) / 2}};
  double trace = E[0][0] + E[1][1];
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      r->S[i][j] = 2 * m * E[i][j] + (i == j ? l * trace : 0);
      r->Q[i][j] = i == j;
    }
  r->l = l;
  r->m = m;
  return l / 2 * trace * trace +
         m * (E[0][0] * E[0][0] + E[1][1] * E[1][1] + 2 * E[0][1] * E[0][1]);
}

static double neo_hookean(const mn_material *mat, double C[2][2], law *r)
{
  double det = C[0][0] * C[1][1] - C[0][1] * C[0][1], mu = mat->mu;
  r->Q[0][0] = C[1][1] / det;
  r->Q[1][1] = C[0][0] / det;
  r->Q[0][1] = r->Q[1][0] = -C[0][1] / det;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      r->S[i][j] = mu * ((i == j) - r->Q[i][j] / det);
  r->l = 2 * mu / det;
  r->m = mu / det;
  /* tr C + 1/det C - 3 without small differences, in A = C - I */
  double a = C[0][0] - 1, b = C[1][1] - 1, small = a * b - C[0][1] * C[0][1];
  return mu / 2 * ((a + b) * (a + b + small) - small) / det;
}

/* S <- its positive part. */
static void tension(double S[2][2])
{
  double mean = (S[0][0] + S[1][1]) / 2, half = (S[0][0] - S[1][1]) / 2;
  double r = hypot(half, S[0][1]), low = mean - r, high = mean + r;
  if (low >= 0)
    return;
  if (high <= 0) {
    S[0][0] = S[0][1] = S[1][0] = S[1][1] = 0;
    return;
  }
  /* high n n^T = high (S - low I)/(high - low) */
  double scale = high / (2 * r);
  S[0][0] = scale * (S[0][0] - low);
  S[1][1] = scale * (S[1][1] - low);
  S[0][1] = S[1][0] = scale * S[0][1];
}

static void deformation(const double *data, const mn_vec3 *x, mn_vec3 F[2], double C[2][2])
{
  mn_vec3 p = mn_sub(x[1], x[0]), q = mn_sub(x[2], x[0]);
  const double *D = data + INVERSE;
  for (int j = 0; j < 2; j++)
    F[j] = mn_madd(mn_scale(D[j], p), D[2 + j], q);
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      C[i][j] = mn_dot(F[i], F[j]);
}

static void add_block(const law *r, const mn_vec3 F[2], const double Ga[2], const double Gb[2],
                      double w, double *H /* of stride 9 */)
{
  double Qa[2], Qb[2], gSg = 0, gQg = 0, B[2][2];
  for (int i = 0; i < 2; i++) {
    Qa[i] = r->Q[i][0] * Ga[0] + r->Q[i][1] * Ga[1];
    Qb[i] = r->Q[i][0] * Gb[0] + r->Q[i][1] * Gb[1];
    gSg += Ga[i] * (r->S[i][0] * Gb[0] + r->S[i][1] * Gb[1]);
    gQg += Ga[i] * (r->Q[i][0] * Gb[0] + r->Q[i][1] * Gb[1]);
  }
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      B[i][j] = r->l * Qa[i] * Qb[j] + r->m * (gQg * r->Q[i][j] + Qb[i] * Qa[j]);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double sum = i == j ? gSg : 0;
      for (int k = 0; k < 2; k++)
        for (int l = 0; l < 2; l++)
          sum += F[k].v[i] * B[k][l] * F[l].v[j];
      H[i * 9 + j] = w * sum;
    }
}

static int eval_with(double (*psi)(const mn_material *, double[2][2], law *),
                     const mn_energy_group *g, size_t e, const mn_vec3 *x, int psd, double *energy,
                     double *gradient, double *hessian)
{
  const double *data = g->data + e * MEMBRANE_STRIDE, *D = data + INVERSE;
  double C[2][2], G[3][2] = {{-D[0] - D[2], -D[1] - D[3]}, {D[0], D[1]}, {D[2], D[3]}};
  mn_vec3 F[2];
  law r;
  deformation(data, x, F, C);
  if (!(C[0][0] * C[1][1] - C[0][1] * C[0][1] > 0))
    return 0;
  *energy = data[WEIGHT] * psi(&g->material, C, &r);
  for (int a = 0; gradient && a < 3; a++)
    for (int i = 0; i < 3; i++) {
      double SG[2] = {r.S[0][0] * G[a][0] + r.S[0][1] * G[a][1],
                      r.S[1][0] * G[a][0] + r.S[1][1] * G[a][1]};
      gradient[3 * a + i] = data[WEIGHT] * (F[0].v[i] * SG[0] + F[1].v[i] * SG[1]);
    }
  if (hessian) {
    if (psd)
      tension(r.S);
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++)
        add_block(&r, F, G[a], G[b], data[WEIGHT], hessian + 27 * a + 3 * b);
  }
  return isfinite(*energy);
}

static int st_venant_eval(const mn_energy_group *g, size_t e, const mn_vec3 *x, int psd,
                          double *energy, double *gradient, double *hessian)
{
  return eval_with(st_venant, g, e, x, psd, energy, gradient, hessian);
}

static int neo_hookean_eval(const mn_energy_group *g, size_t e, const mn_vec3 *x, int psd,
                            double *energy, double *gradient, double *hessian)
{
  return eval_with(neo_hookean, g, e, x, psd, energy, gradient, hessian);
}

static const mn_energy_ops st_venant_ops = {"triangle", st_venant_eval, NULL};
static const mn_energy_ops neo_hookean_ops = {"triangle", neo_hookean_eval, NULL};

mn_status mn_membrane_make(mn_context *ctx, const mn_simplex_mesh *mesh, uint32_t first,
                           const mn_shell_def *def, mn_energy_group *g)
{
  int rubber = def->membrane == MN_MEMBRANE_NEO_HOOKEAN;
  g->ops = rubber ? &neo_hookean_ops : &st_venant_ops;
  g->dim = 3;
  g->nodes = 3;
  g->count = mesh->elements;
  g->stride = MEMBRANE_STRIDE;
  g->material = mn_material_make(MN_ST_VENANT, def->young, rubber ? 0 : def->poisson);
  if (rubber)
    g->material.mu = def->young / 3; /* incompressible */
  MN_TRY(MN_NEW(ctx, "triangles of a shell", 3 * g->count, &g->node));
  MN_TRY(MN_NEW(ctx, "triangles of a shell", MEMBRANE_STRIDE * g->count, &g->data));
  for (size_t e = 0; e < g->count; e++) {
    mn_vec3 X[3];
    for (size_t a = 0; a < 3; a++) {
      X[a] = mesh->node[mesh->element[3 * e + a]];
      g->node[3 * e + a] = first + mesh->element[3 * e + a];
    }
    mn_vec3 p = mn_sub(X[1], X[0]), q = mn_sub(X[2], X[0]);
    double along = mn_length(p), twice = mn_length(mn_cross(p, q)), *data;
    if (!(twice > 0))
      return mn_fail(ctx, MN_BAD_INPUT, "%s: element %lld, a triangle, has no area", def->name,
                     mn_simplex_number(mesh, e));
    double up = twice / along, over = mn_dot(p, q) / along; /* rest edges: (along, 0), (over, up) */
    data = g->data + e * MEMBRANE_STRIDE;
    data[WEIGHT] = def->thickness * twice / 2;
    data[INVERSE] = 1 / along;
    data[INVERSE + 1] = -over / (along * up);
    data[INVERSE + 2] = 0;
    data[INVERSE + 3] = 1 / up;
  }
  return MN_OK;
}

int mn_energy_is_membrane(const mn_energy_group *g)
{
  return g->ops == &st_venant_ops || g->ops == &neo_hookean_ops;
}

mn_mat3 mn_membrane_stress(const mn_energy_group *g, size_t e, const mn_vec3 *x)
{
  double C[2][2];
  mn_vec3 F[2];
  mn_mat3 sigma = mn_mat3_diagonal(0, 0, 0);
  law r;
  deformation(g->data + e * MEMBRANE_STRIDE, x, F, C);
  double det = C[0][0] * C[1][1] - C[0][1] * C[0][1], J = 1; /* rubber keeps its volume */
  if (g->ops == &neo_hookean_ops) {
    neo_hookean(&g->material, C, &r);
  } else {
    st_venant(&g->material, C, &r);
    J = sqrt(det); /* the thickness is taken as that at rest */
  }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 2; k++)
        for (int l = 0; l < 2; l++)
          sigma.m[i][j] += F[k].v[i] * r.S[k][l] * F[l].v[j] / J;
  return sigma;
}
