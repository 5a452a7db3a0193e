/* Eight springs in space at once, a spring to a lane: what springs.c does one by one, operation by
   operation, so that the bits are the same, but for what is above the diagonal of matrices: that is
   the mirror image of what is below, to the last bit. Verified by tests/unit/solid/test_energy.c.
 */
#include "solid/thin.h"

enum { LANES = MN_ENERGY_LANES, SIDE = 6 };

typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef lanes stored __attribute__((aligned(8), may_alias)); /* in an array */

typedef struct eight {
  lanes k, L, l, d[3]; /* stiffness, length at rest, length, unit vector from a to b */
} eight;

/* Lanes beyond `count` repeat the last spring. */
static void take(const mn_energy_group *g, size_t first, size_t count, const mn_vec3 *x, eight *t)
{
  lanes square;
  for (size_t k = 0; k < LANES; k++) {
    size_t e = first + (k < count ? k : count - 1);
    const mn_vec3 *a = &x[g->node[2 * e]], *b = &x[g->node[2 * e + 1]];
    t->L[k] = g->data[e * MN_SPRING_STRIDE + MN_SPRING_LENGTH];
    t->k[k] = g->data[e * MN_SPRING_STRIDE + MN_SPRING_STIFFNESS];
    for (int i = 0; i < 3; i++)
      t->d[i][k] = b->v[i] - a->v[i];
  }
  square = t->d[0] * t->d[0] + t->d[1] * t->d[1] + t->d[2] * t->d[2];
  for (size_t k = 0; k < LANES; k++)
    t->l[k] = sqrt(square[k]);
  lanes inverse = 1 / t->l;
  for (int i = 0; i < 3; i++)
    for (size_t k = 0; k < LANES; k++)
      t->d[i][k] = t->l[k] > 0 ? inverse[k] * t->d[i][k] : 0;
}

static void set_gradient(const eight *t, size_t count, double *gradient)
{
  for (int i = 0; i < 3; i++) {
    lanes f = t->k * (t->l - t->L) * t->d[i];
    for (size_t k = 0; k < count; k++) {
      gradient[k * SIDE + (size_t)i] = -f[k];
      gradient[k * SIDE + (size_t)(3 + i)] = f[k];
    }
  }
}

/* B - B over - B B, what is not above the diagonal */
static void set_hessian(const eight *t, stored *hessian)
{
  lanes across;
  for (size_t k = 0; k < LANES; k++)
    across[k] = t->L[k] == 0 ? t->k[k] : t->l[k] > 0 ? t->k[k] * (1 - t->L[k] / t->l[k]) : 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      lanes B = (t->k - across) * t->d[i] * t->d[j];
      B = i == j ? B + across : B + 0;
      hessian[(3 + i) * SIDE + j] = -B;
      if (j <= i)
        hessian[i * SIDE + j] = hessian[(3 + i) * SIDE + 3 + j] = B;
    }
}

void mn_springs_eight(const mn_energy_group *g, size_t first, size_t count, const mn_vec3 *x,
                      double *energy, double *gradient, double *hessian, uint8_t *fine)
{
  eight t;
  take(g, first, count, x, &t);
  lanes E = t.k / 2 * (t.l - t.L) * (t.l - t.L);
  for (size_t k = 0; k < count; k++)
    fine[k] = (uint8_t)(isfinite(t.l[k]) != 0);
  for (size_t k = 0; k < count && energy; k++)
    energy[k] = E[k];
  if (gradient)
    set_gradient(&t, count, gradient);
  if (hessian)
    set_hessian(&t, (stored *)hessian);
}
