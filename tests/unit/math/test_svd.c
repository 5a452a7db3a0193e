#include "check.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>

#include "math/quat.h"
#include "math/svd.h"

static double random_in(uint64_t *seed, double lo, double hi)
{
  return lo + (hi - lo) * check_random(seed);
}

static mn_mat3 random_matrix(uint64_t *seed)
{
  mn_mat3 a;
  for (int i = 0; i < 9; i++)
    a.m[i / 3][i % 3] = random_in(seed, -1, 1);
  return a;
}

static mn_mat3 random_rotation(uint64_t *seed)
{
  mn_quat q = {random_in(seed, -1, 1), random_in(seed, -1, 1), random_in(seed, -1, 1),
               random_in(seed, -1, 1)};
  return mn_quat_matrix(mn_quat_unit(q));
}

static double difference(mn_mat3 a, mn_mat3 b)
{
  return mn_mat3_norm(mn_mat3_add(a, mn_mat3_scale(-1, b)));
}

/* |R^T R - I| and |det R - 1| */
static double rotation_error(mn_mat3 r)
{
  double e = difference(mn_mat3_mul(mn_mat3_transpose(r), r), mn_mat3_identity());
  return check_worst(e, fabs(mn_mat3_determinant(r) - 1));
}

static mn_mat3 compose(mn_mat3 u, const double s[3], mn_mat3 v)
{
  return mn_mat3_mul(u, mn_mat3_mul(mn_mat3_diagonal(s[0], s[1], s[2]), mn_mat3_transpose(v)));
}

static double row_size(const mn_mat3 *f)
{
  double most = 0;
  for (int i = 0; i < 9; i++)
    most = check_worst(most, fabs(f->m[i / 3][i % 3]));
  return most;
}

typedef struct errors {
  double back, rotation, order, lapack, polar, symmetric;
} errors;

static void check_one(const mn_mat3 *f, errors *e)
{
  mn_mat3 u, v, r, s, copy = *f;
  double sigma[3], lapack[3], work[2], size = row_size(f), safe = size > 0 ? size : 1;
  mn_svd(f, &u, sigma, &v);
  e->back = check_worst(e->back, difference(mn_mat3_scale(1 / safe, compose(u, sigma, v)),
                                            mn_mat3_scale(1 / safe, *f)));
  e->rotation = check_worst(e->rotation, check_worst(rotation_error(u), rotation_error(v)));
  e->order =
      check_worst(e->order, check_worst(sigma[1] - sigma[0], fabs(sigma[2]) - sigma[1]) / safe);
  assert_int_equal(LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'N', 3, 3, &copy.m[0][0], 3, lapack, NULL,
                                  3, NULL, 3, work),
                   0);
  for (int i = 0; i < 3; i++)
    e->lapack = check_worst(e->lapack, fabs(fabs(sigma[i]) - lapack[i]) / safe);
  mn_polar(f, &r, &s);
  e->rotation = check_worst(e->rotation, rotation_error(r));
  e->polar = check_worst(e->polar, difference(mn_mat3_scale(1 / safe, mn_mat3_mul(r, s)),
                                              mn_mat3_scale(1 / safe, *f)));
  e->symmetric = check_worst(e->symmetric, difference(s, mn_mat3_transpose(s)));
}

static void report(const char *name, const errors *e)
{
  printf("%s\n", name);
  CHECK_LE(e->back, 5e-15);
  CHECK_LE(e->rotation, 5e-15);
  CHECK_LE(e->order, 0);
  CHECK_LE(e->lapack, 5e-15);
  CHECK_LE(e->polar, 1e-14);
  CHECK_LE(e->symmetric, 0);
}

static void test_singular_values_of_all_kinds(void **state)
{
  (void)state;
  uint64_t seed = 1;
  static const double given[][3] = {
      {1, 0.5, 0.1},   {1, 1, 1},         {2, 1, 1},     {1, 1, 0.3}, {1, 1e-9, 1e-9},
      {1, 0.5, 1e-16}, {1, 1e-20, 1e-40}, {1, 0, 0},     {1, 1, 0},   {1, 0.5, -0.5},
      {1, 1, -1},      {1, 0.3, -1e-14},  {1, 1e-200, 0}};
  errors random = {0}, made = {0};
  for (int trial = 0; trial < 20000; trial++) {
    mn_mat3 f = random_matrix(&seed);
    check_one(&f, &random);
  }
  report("random matrices", &random);
  for (size_t i = 0; i < sizeof given / sizeof *given; i++)
    for (int trial = 0; trial < 300; trial++) {
      mn_mat3 f = compose(random_rotation(&seed), given[i], random_rotation(&seed));
      check_one(&f, &made);
      mn_mat3 u, v;
      double sigma[3];
      mn_svd(&f, &u, sigma, &v);
      for (int k = 0; k < 3; k++) /* sign included, where it is above round-off */
        if (fabs(given[i][k]) > 1e-13 || k < 2)
          made.lapack = check_worst(made.lapack, fabs(sigma[k] - given[i][k]));
    }
  report("given singular values, reflections included", &made);
  CHECK_DONE();
}

static void test_special_and_scaled_matrices(void **state)
{
  (void)state;
  uint64_t seed = 2;
  errors e = {0};
  mn_mat3 f = {0};
  check_one(&f, &e);
  for (int i = 0; i < 512; i++) { /* all with entries 0 and 1 */
    for (int k = 0; k < 9; k++)
      f.m[k / 3][k % 3] = i >> k & 1;
    check_one(&f, &e);
  }
  static const double scale[] = {1e-300, 1e-150, 1e150, 1e300};
  for (int s = 0; s < 4; s++)
    for (int trial = 0; trial < 200; trial++) {
      f = mn_mat3_scale(scale[s], random_matrix(&seed));
      double sigma[3], plain[3];
      mn_mat3 u, v, small = mn_mat3_scale(1 / scale[s], f);
      mn_svd(&f, &u, sigma, &v);
      e.rotation = check_worst(e.rotation, check_worst(rotation_error(u), rotation_error(v)));
      mn_svd(&small, &u, plain, &v);
      for (int k = 0; k < 3; k++)
        e.lapack = check_worst(e.lapack, fabs(sigma[k] / scale[s] - plain[k]));
    }
  report("patterns of 0 and 1, and scaled ones", &e);
  CHECK_DONE();
}

static void test_polar_is_the_nearest_rotation(void **state)
{
  (void)state;
  uint64_t seed = 3;
  double closer = 0, stretch = 0;
  for (int trial = 0; trial < 300; trial++) {
    mn_mat3 f = random_matrix(&seed), r, s;
    mn_polar(&f, &r, &s);
    double best = difference(f, r);
    for (int k = 0; k < 30; k++) {
      mn_vec3 v = mn_v3(random_in(&seed, -1, 1), random_in(&seed, -1, 1), random_in(&seed, -1, 1));
      mn_mat3 other = mn_mat3_mul(mn_quat_matrix(mn_quat_exp(mn_scale(0.1 * k, v))), r);
      closer = check_worst(closer, best - difference(f, other));
    }
    /* a rotation times a stretch gives both back */
    mn_mat3 q = random_rotation(&seed), v = random_rotation(&seed);
    double value[3] = {random_in(&seed, 0.1, 3), random_in(&seed, 0.1, 3),
                       random_in(&seed, 0.1, 3)};
    mn_mat3 spd = compose(v, value, v), product = mn_mat3_mul(q, spd);
    mn_polar(&product, &r, &s);
    stretch = check_worst(stretch, check_worst(difference(r, q), difference(s, spd)));
  }
  CHECK_LE(closer, 1e-14);
  CHECK_LE(stretch, 2e-13);
  CHECK_DONE();
}

static void test_symmetric_eigenvalues(void **state)
{
  (void)state;
  uint64_t seed = 4;
  double back = 0, rotation = 0, lapack = 0, order = 0;
  for (int trial = 0; trial < 20000; trial++) {
    mn_mat3 a = random_matrix(&seed), v;
    a = mn_mat3_add(a, mn_mat3_transpose(a));
    if (trial % 4 == 1) /* clusters */
      a = mn_mat3_add(mn_mat3_identity(), mn_mat3_scale(1e-9, a));
    if (trial % 4 == 2) { /* rank one */
      mn_vec3 x = mn_mat3_column(&a, 0);
      for (int i = 0; i < 9; i++)
        a.m[i / 3][i % 3] = x.v[i / 3] * x.v[i % 3];
    }
    double value[3], expected[3];
    mn_eigen_symmetric(&a, value, &v);
    mn_mat3 copy = a;
    back = check_worst(back, difference(compose(v, value, v), a) / mn_mat3_norm(a));
    rotation = check_worst(rotation, rotation_error(v));
    order = check_worst(order, check_worst(value[1] - value[0], value[2] - value[1]));
    assert_int_equal(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'U', 3, &copy.m[0][0], 3, expected), 0);
    for (int i = 0; i < 3; i++)
      lapack = check_worst(lapack, fabs(value[i] - expected[2 - i]) / mn_mat3_norm(a));
  }
  CHECK_LE(back, 5e-15);
  CHECK_LE(rotation, 5e-15);
  CHECK_LE(order, 0);
  CHECK_LE(lapack, 5e-15);
  CHECK_DONE();
}

/* The eigenvalues of F^T F lose small singular values: the check against LAPACK must see it. */
static void test_negative_control_normal_equations(void **state)
{
  (void)state;
  uint64_t seed = 5;
  mn_mat3 f = compose(random_rotation(&seed), (double[]){1, 0.5, 1e-10}, random_rotation(&seed)), v;
  double value[3];
  mn_mat3 normal = mn_mat3_mul(mn_mat3_transpose(f), f);
  mn_eigen_symmetric(&normal, value, &v);
  CHECK_NEAR(sqrt(fabs(value[2])), 1e-10, 5e-15);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_singular_values_of_all_kinds),
      cmocka_unit_test(test_special_and_scaled_matrices),
      cmocka_unit_test(test_polar_is_the_nearest_rotation),
      cmocka_unit_test(test_symmetric_eigenvalues),
      cmocka_unit_test(test_negative_control_normal_equations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
