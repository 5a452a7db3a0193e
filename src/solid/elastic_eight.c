/* Eight linear tetrahedra of a Neo-Hookean material at once, an element to a lane: what elastic.c
   and material.c do one by one, operation by operation, so that the bits are the same (foam of
   48,000 tetrahedra: 7 ms in place of 17 for the matrix and the forces).
   Verified by tests/unit/solid/test_energy.c. */
#include "solid/elastic.h"

enum { LANES = MN_ENERGY_LANES, NODES = 4, SIDE = 12 };

typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef lanes stored __attribute__((aligned(8), may_alias)); /* in an array */

static lanes all(double x)
{
  return x - (lanes){0};
}

typedef struct eight {
  lanes w, G[NODES][3], F[3][3], J, log_j;
} eight;

/* Lanes beyond `count` repeat the last element. */
static void take(const mn_energy_group *g, size_t first, size_t count, const mn_vec3 *x, eight *t)
{
  lanes at[NODES][3];
  for (size_t k = 0; k < LANES; k++) {
    size_t e = first + (k < count ? k : count - 1);
    const double *data = g->data + e * (size_t)g->stride;
    t->w[k] = data[0];
    for (int a = 0; a < NODES; a++) {
      const mn_vec3 *node = &x[g->node[e * NODES + (size_t)a]];
      for (int j = 0; j < 3; j++) {
        t->G[a][j][k] = data[1 + 3 * a + j];
        at[a][j][k] = node->v[j];
      }
    }
  }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      t->F[i][j] = all(0);
      for (int a = 0; a < NODES; a++)
        t->F[i][j] += at[a][i] * t->G[a][j];
    }
}

static lanes determinant(lanes a[3][3])
{
  return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
         a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
         a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
}

/* J F^-T */
static lanes cofactor(lanes F[3][3], int i, int j)
{
  int r0 = (i + 1) % 3, r1 = (i + 2) % 3, c0 = (j + 1) % 3, c1 = (j + 2) % 3;
  return F[r0][c0] * F[r1][c1] - F[r0][c1] * F[r1][c0];
}

/* As in material.c, whose two branches are taken lane by lane. */
static void add_energy(const mn_material *m, eight *t, size_t count, double *energy)
{
  lanes A[3][3], norm = all(0), square = all(0), trace, second = all(0);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      A[i][j] = t->F[0][i] * t->F[0][j] + t->F[1][i] * t->F[1][j] + t->F[2][i] * t->F[2][j];
      A[i][j] -= i == j ? 1 : 0;
      norm += A[i][j] * A[i][j];
      square += t->F[i][j] * t->F[i][j];
    }
  trace = A[0][0] + A[1][1] + A[2][2];
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3;
    second += A[i][i] * A[j][j] - A[i][j] * A[j][i];
  }
  lanes argument = trace + second + determinant(A);
  for (size_t k = 0; k < count; k++) {
    double log_j = t->log_j[k], size = sqrt(square[k]);
    double distortion =
        sqrt(norm[k]) < 0.1 ? trace[k] - log1p(argument[k]) : size * size - 3 - 2 * log_j;
    energy[k] = t->w[k] * (m->mu / 2 * distortion + m->lambda / 2 * log_j * log_j);
  }
}

static void set_gradient(const mn_material *m, eight *t, size_t count, double *gradient)
{
  lanes P[3][3], load = (m->lambda * t->log_j - m->mu) / t->J;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      P[i][j] = load * cofactor(t->F, i, j) + m->mu * t->F[i][j];
  for (int a = 0; a < NODES; a++)
    for (int i = 0; i < 3; i++) {
      lanes f = all(0);
      for (int j = 0; j < 3; j++)
        f += P[i][j] * t->G[a][j];
      f = t->w * f;
      for (size_t k = 0; k < count; k++)
        gradient[k * SIDE + (size_t)(3 * a + i)] = f[k];
    }
}

static void set_hessian(const mn_material *m, eight *t, stored *hessian)
{
  lanes h[NODES][3], load = m->lambda * t->log_j - m->mu;
  for (int i = 0; i < 3; i++) {
    lanes column[3];
    for (int j = 0; j < 3; j++)
      column[j] = cofactor(t->F, i, j) / t->J;
    for (int a = 0; a < NODES; a++)
      h[a][i] = column[0] * t->G[a][0] + column[1] * t->G[a][1] + column[2] * t->G[a][2];
  }
  for (int b = 0; b < NODES; b++)
    for (int a = b; a < NODES; a++) {
      lanes product = all(0);
      for (int j = 0; j < 3; j++)
        product += t->G[a][j] * t->G[b][j];
      for (int i = 0; i < 3; i++)
        for (int k = 0; k < (a == b ? i + 1 : 3); k++) {
          lanes same = i == k ? m->mu * product : all(0);
          hessian[(3 * a + i) * SIDE + 3 * b + k] =
              t->w * (same + m->lambda * h[a][i] * h[b][k] - load * h[b][i] * h[a][k]);
        }
    }
}

void mn_elastic_eight(const mn_energy_group *g, size_t first, size_t count, const mn_vec3 *x,
                      double *energy, double *gradient, double *hessian, uint8_t *fine)
{
  eight t;
  take(g, first, count, x, &t);
  t.J = determinant(t.F);
  t.log_j = all(0);
  for (size_t k = 0; k < LANES; k++) {
    int good = isfinite(t.J[k]) && t.J[k] > 0;
    if (k < count)
      fine[k] = (uint8_t)good;
    t.log_j[k] = good ? log(t.J[k]) : 0;
  }
  if (energy)
    add_energy(&g->material, &t, count, energy);
  if (gradient)
    set_gradient(&g->material, &t, count, gradient);
  if (hessian)
    set_hessian(&g->material, &t, (stored *)hessian);
}
