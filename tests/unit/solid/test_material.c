/* Materials against known answers, finite differences and closed forms (validation C2). */
#include <math.h>

#include "check.h"
#include "math/svd.h"
#include "solid/material.h"
#include "base/memory.h"
#include "la/dense.h"

static const mn_material_kind KINDS[3] = {MN_NEO_HOOKEAN, MN_FIXED_COROTATED, MN_ST_VENANT};

static mn_mat3 random_rotation(int dim, uint64_t *seed)
{
  if (dim == 2) {
    double a = 2 * MN_PI * check_random(seed);
    return (mn_mat3){{{cos(a), -sin(a), 0}, {sin(a), cos(a), 0}, {0, 0, 1}}};
  }
  mn_mat3 m, R, S;
  for (int i = 0; i < 9; i++)
    m.m[i / 3][i % 3] = check_random(seed) - 0.5;
  mn_polar(&m, &R, &S);
  return R;
}

/* F with singular values between 0.4 and 2; with `thin` the least one makes J = 1e-3. */
static mn_mat3 random_f(int dim, int thin, uint64_t *seed, double *least)
{
  double s[3] = {1, 1, 1};
  *least = 2;
  for (int i = 0; i < dim; i++)
    s[i] = 0.4 + 1.6 * check_random(seed);
  if (thin)
    s[dim - 1] = 1e-3 / (dim == 2 ? s[0] : s[0] * s[1]);
  for (int i = 0; i < dim; i++)
    *least = fmin(*least, s[i]);
  mn_mat3 U = random_rotation(dim, seed), V = random_rotation(dim, seed);
  return mn_mat3_mul(U, mn_mat3_mul(mn_mat3_diagonal(s[0], s[1], s[2]), V));
}

static mn_mat3 direction(int dim, uint64_t *seed)
{
  mn_mat3 d = mn_mat3_diagonal(0, 0, 0);
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++)
      d.m[i][j] = check_random(seed) - 0.5;
  return mn_mat3_scale(1 / mn_mat3_norm(d), d);
}

static double psi_at(const mn_material *m, int dim, mn_mat3 F, double h, mn_mat3 d, mn_mat3 *P)
{
  double psi;
  F = mn_mat3_add(F, mn_mat3_scale(h, d));
  assert_int_equal(mn_material_stress(m, dim, &F, &psi, P), 1);
  return psi;
}

static double inner(const mn_mat3 *a, const mn_mat3 *b)
{
  double sum = 0;
  for (int i = 0; i < 9; i++)
    sum += a->m[i / 3][i % 3] * b->m[i / 3][i % 3];
  return sum;
}

/* Worst relative errors of P and dP/dF along random directions, by differences of fourth order. */
static void differences(const mn_material *m, int dim, int samples, double spoil, double worst[2])
{
  uint64_t seed = 7;
  worst[0] = worst[1] = 0;
  for (int n = 0; n < samples; n++) {
    double least, D[81], psi;
    mn_mat3 F = random_f(dim, n % 4 == 0, &seed, &least), d = direction(dim, &seed), P, at[4];
    double h = 1e-3 * least, e[4];
    static const double STEP[4] = {-2, -1, 1, 2}, WEIGHT[4] = {1. / 12, -2. / 3, 2. / 3, -1. / 12};
    assert_int_equal(mn_material_stress(m, dim, &F, &psi, &P), 1);
    assert_int_equal(mn_material_tangent(m, dim, &F, 0, D), 1);
    D[0] *= 1 + spoil;
    mn_mat3 dP = mn_mat3_diagonal(0, 0, 0), exact = dP;
    double dpsi = 0;
    for (int k = 0; k < 4; k++) {
      e[k] = psi_at(m, dim, F, STEP[k] * h, d, &at[k]);
      dpsi += WEIGHT[k] * e[k] / h;
      dP = mn_mat3_add(dP, mn_mat3_scale(WEIGHT[k] / h, at[k]));
    }
    for (int r = 0; r < dim * dim; r++)
      for (int c = 0; c < dim * dim; c++)
        exact.m[r / dim][r % dim] += D[r * dim * dim + c] * d.m[c / dim][c % dim];
    double off = 0;
    for (int i = 0; i < dim; i++)
      for (int j = 0; j < dim; j++)
        off += pow(exact.m[i][j] - dP.m[i][j], 2);
    worst[0] = check_worst(worst[0], fabs(dpsi - inner(&P, &d)) / mn_mat3_norm(P));
    worst[1] = check_worst(worst[1], sqrt(off) / mn_mat3_norm(exact));
  }
}

static void test_differences(void **state)
{
  (void)state;
  for (int k = 0; k < 3; k++)
    for (int dim = 2; dim <= 3; dim++) {
      mn_material m = mn_material_make(KINDS[k], 1e5, 0.3);
      double worst[2];
      differences(&m, dim, 1000, 0, worst);
      CHECK_LE(worst[0], 1e-6);
      CHECK_LE(worst[1], 1e-6);
    }
  CHECK_DONE();
  mn_material m = mn_material_make(MN_NEO_HOOKEAN, 1e5, 0.3);
  double worst[2];
  differences(&m, 3, 50, 1e-3, worst); /* one entry of dP/dF wrong by a thousandth */
  CHECK_LE(worst[1], 1e-6);
  CHECK_MUST_HAVE_FAILED();
}

static double least_eigenvalue(mn_context *ctx, int n, const double *D, double *size)
{
  mn_arena arena = {0};
  double w[9];
  CHECK_OK(ctx, mn_dense_eigen(ctx, &arena, n, D, w, NULL));
  mn_arena_destroy(&arena);
  *size = fmax(fabs(w[0]), fabs(w[n - 1]));
  return w[0];
}

/* The projected tangent has no negative eigenvalue, is the exact one where that has none, and
   otherwise keeps its positive part. */
static void test_projection(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  uint64_t seed = 3;
  int cut = 0;
  for (int n = 0; n < 3000; n++) {
    int dim = 2 + n % 2, size = dim * dim;
    mn_material m = mn_material_make(KINDS[n % 3], 1, 0.4);
    double least, D[81], Q[81], scale, changed = 0;
    mn_mat3 F = random_f(dim, n % 5 == 0, &seed, &least);
    if (n % 7 == 0 && m.kind != MN_NEO_HOOKEAN) /* inverted */
      F = mn_mat3_mul(F, mn_mat3_diagonal(1, -1, 1));
    assert_int_equal(mn_material_tangent(&m, dim, &F, 0, D), 1);
    assert_int_equal(mn_material_tangent(&m, dim, &F, 1, Q), 1);
    double exact = least_eigenvalue(ctx, size, D, &scale);
    for (int i = 0; i < size * size; i++)
      changed = fmax(changed, fabs(D[i] - Q[i]));
    cut += exact < -1e-9 * scale;
    if (least_eigenvalue(ctx, size, Q, &scale) < -1e-12 * scale)
      CHECK_GE(least_eigenvalue(ctx, size, Q, &scale), -1e-12 * scale);
    if (exact > 0 && changed > 1e-12 * scale)
      CHECK_LE(changed, 1e-12 * scale);
  }
  CHECK_GE(cut, 300); /* the exact ones do have negative eigenvalues: the check means something */
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Lateral stretch that makes the lateral stress vanish, by bisection. */
static double lateral(const mn_material *m, double l1, double *P11)
{
  double low = 0.2, high = 3, psi;
  mn_mat3 P;
  for (int n = 0; n < 200; n++) {
    double middle = (low + high) / 2;
    mn_mat3 F = mn_mat3_diagonal(l1, middle, middle);
    assert_int_equal(mn_material_stress(m, 3, &F, &psi, &P), 1);
    if (P.m[1][1] > 0)
      high = middle;
    else
      low = middle;
  }
  *P11 = P.m[0][0];
  return low;
}

static void test_neo_hookean_table(void **state)
{
  (void)state;
  static const double STRETCH[5] = {0.5, 0.8, 1.2, 1.5, 2.0};
  static const double STRESS[5] = {-93535.2057, -24000.5382, 17492.9147, 37828.0176, 64674.4660};
  mn_material m = mn_material_make(MN_NEO_HOOKEAN, 1e5, 0.3);
  double P11, psi;
  mn_mat3 P;
  for (int i = 0; i < 5; i++) {
    lateral(&m, STRETCH[i], &P11);
    CHECK_NEAR(P11, STRESS[i], 1e-4); /* printed to four decimals: 1e-8 of 1e5 would be 1e-3 */
  }
  CHECK_NEAR(lateral(&m, 0.5, &P11), 1.21076739, 1e-8);
  double l = lateral(&m, 1.5, &P11);
  CHECK_NEAR(l, 0.88017459, 1e-8);
  CHECK_NEAR(P11 / (l * l), 48828.7861, 1e-4);
  mn_mat3 F = mn_mat3_identity();
  F.m[0][1] = 0.5;
  assert_int_equal(mn_material_stress(&m, 3, &F, &psi, &P), 1);
  CHECK_NEAR(P.m[0][1], 19230.7692, 1e-4);
  CHECK_DONE();
  m.mu *= 1 + 1e-7;
  lateral(&m, 2, &P11);
  CHECK_NEAR(P11, STRESS[4], 1e-4);
  CHECK_MUST_HAVE_FAILED();
}

static void test_rotation_and_inversion(void **state)
{
  (void)state;
  double a = 37 * MN_PI / 180, psi, D[81];
  mn_mat3 R = {{{cos(a), -sin(a), 0}, {sin(a), cos(a), 0}, {0, 0, 1}}}, P;
  mn_mat3 flipped = mn_mat3_diagonal(1, -0.5, 1), flat = mn_mat3_diagonal(1, 0, 1);
  for (int k = 0; k < 3; k++)
    for (int dim = 2; dim <= 3; dim++) {
      mn_material m = mn_material_make(KINDS[k], 1e5, 0.3);
      assert_int_equal(mn_material_stress(&m, dim, &R, &psi, &P), 1);
      CHECK_LE(mn_mat3_norm(P), 1e-12 * 1e5);
      CHECK_LE(fabs(psi), 1e-12 * 1e5);
      int bears = KINDS[k] != MN_NEO_HOOKEAN;
      CHECK(mn_material_stress(&m, dim, &flipped, &psi, &P) == bears);
      CHECK(mn_material_stress(&m, dim, &flat, &psi, &P) == bears);
      CHECK(mn_material_tangent(&m, dim, &flipped, 1, D) == bears);
    }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_differences),
      cmocka_unit_test(test_projection),
      cmocka_unit_test(test_neo_hookean_table),
      cmocka_unit_test(test_rotation_and_inversion),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
