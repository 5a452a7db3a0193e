#include "check.h"

#include <math.h>
#include <string.h>

#include "math/quat.h"

static double random_in(uint64_t *seed, double lo, double hi)
{
  return lo + (hi - lo) * check_random(seed);
}

static mn_vec3 random_vector(uint64_t *seed)
{
  double x = random_in(seed, -1, 1), y = random_in(seed, -1, 1);
  return mn_v3(x, y, random_in(seed, -1, 1));
}

static mn_vec3 unit(mn_vec3 v)
{
  return mn_scale(1 / mn_length(v), v);
}

static double apart(mn_vec3 a, mn_vec3 b)
{
  return mn_length(mn_sub(a, b));
}

/* ---- vectors --------------------------------------------------------------------------------- */

static void test_vectors(void **state)
{
  (void)state;
  mn_vec3 a = mn_v3(1, 2, 3), b = mn_v3(-2, 5, 0.5);
  CHECK_NEAR(mn_dot(a, b), 9.5, 1e-15);
  CHECK_LE(apart(mn_cross(a, b), mn_v3(-14, -6.5, 9)), 1e-15);
  CHECK_LE(apart(mn_madd(a, 2, b), mn_v3(-3, 12, 4)), 1e-15);
  CHECK_NEAR(mn_length(mn_v3(2, 3, 6)), 7, 1e-15);
  CHECK(mn_clamp(-1, 0, 2) == 0 && mn_clamp(3, 0, 2) == 2 && mn_clamp(1, 0, 2) == 1);
  /* a right-handed quarter turn */
  CHECK_LE(apart(mn_rotate(mn_v3(1, 0, 0), mn_v3(0, 0, 1), MN_PI / 2), mn_v3(0, 1, 0)), 1e-15);
  uint64_t seed = 1;
  double length = 0, along = 0, back = 0;
  for (int i = 0; i < 1000; i++) {
    mn_vec3 x = random_vector(&seed), axis = unit(random_vector(&seed));
    double angle = random_in(&seed, -7, 7);
    mn_vec3 y = mn_rotate(x, axis, angle);
    length = check_worst(length, fabs(mn_length(y) - mn_length(x)));
    along = check_worst(along, fabs(mn_dot(axis, y) - mn_dot(axis, x)));
    back = check_worst(back, apart(mn_rotate(y, axis, -angle), x));
  }
  CHECK_LE(length, 1e-14);
  CHECK_LE(along, 1e-14);
  CHECK_LE(back, 1e-14);
  CHECK_DONE();
}

/* ---- matrices -------------------------------------------------------------------------------- */

static void test_matrices(void **state)
{
  (void)state;
  uint64_t seed = 2;
  double inverse = 0, determinant = 0, transpose = 0, product = 0;
  for (int trial = 0; trial < 1000; trial++) {
    mn_vec3 c[3];
    for (int i = 0; i < 3; i++)
      c[i] = random_vector(&seed);
    mn_mat3 a = mn_mat3_columns(c[0], c[1], c[2]), b = {0}, i;
    mn_vec3 x = random_vector(&seed), y = random_vector(&seed);
    double d = mn_mat3_determinant(a);
    determinant = check_worst(determinant, fabs(d - mn_dot(c[0], mn_cross(c[1], c[2]))));
    transpose = check_worst(transpose, fabs(mn_dot(y, mn_mat3_apply(a, x)) -
                                            mn_dot(mn_mat3_apply(mn_mat3_transpose(a), y), x)));
    CHECK(mn_mat3_inverse(a, &b));
    i = mn_mat3_mul(a, b);
    if (fabs(d) > 0.01)
      inverse = check_worst(inverse, mn_mat3_norm(mn_mat3_add(i, mn_mat3_diagonal(-1, -1, -1))));
    product = fmax(
        product, apart(mn_mat3_apply(mn_mat3_mul(a, a), x), mn_mat3_apply(a, mn_mat3_apply(a, x))));
  }
  CHECK_LE(determinant, 1e-14);
  CHECK_LE(transpose, 1e-14);
  CHECK_LE(inverse, 1e-12);
  CHECK_LE(product, 1e-14);
  mn_mat3 singular = mn_mat3_diagonal(1, 0, 2), untouched = mn_mat3_identity();
  CHECK(!mn_mat3_inverse(singular, &untouched) && untouched.m[1][1] == 1);
  CHECK(!mn_mat3_inverse(mn_mat3_diagonal(1, NAN, 1), &untouched));
  CHECK_DONE();
}

/* ---- quaternions ----------------------------------------------------------------------------- */

static void test_quaternions_rotate_as_vectors_do(void **state)
{
  (void)state;
  uint64_t seed = 3;
  double rotate = 0, matrix = 0, chain = 0, undo = 0;
  for (int i = 0; i < 1000; i++) {
    mn_vec3 x = random_vector(&seed), a = unit(random_vector(&seed)),
            b = unit(random_vector(&seed));
    double s = random_in(&seed, -7, 7), t = random_in(&seed, -7, 7);
    mn_quat p = mn_quat_from_axis(a, s), q = mn_quat_from_axis(b, t);
    rotate = check_worst(rotate, apart(mn_quat_rotate(p, x), mn_rotate(x, a, s)));
    matrix = check_worst(matrix, apart(mn_mat3_apply(mn_quat_matrix(p), x), mn_rotate(x, a, s)));
    mn_vec3 both = mn_rotate(mn_rotate(x, b, t), a, s);
    chain = check_worst(chain, apart(mn_quat_rotate(mn_quat_mul(p, q), x), both));
    undo = check_worst(undo, apart(mn_quat_rotate(mn_quat_conjugate(p), mn_quat_rotate(p, x)), x));
  }
  CHECK_LE(rotate, 1e-14);
  CHECK_LE(matrix, 1e-14);
  CHECK_LE(chain, 1e-14);
  CHECK_LE(undo, 1e-14);
  mn_quat q = mn_quat_unit((mn_quat){2, -4, 1, 2});
  CHECK_NEAR(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1, 1e-15);
  q = mn_quat_unit((mn_quat){0, 0, 0, 0});
  CHECK(q.w == 1 && q.x == 0);
  CHECK_DONE();
}

static void test_exp_and_log_at_all_angles(void **state)
{
  (void)state;
  uint64_t seed = 4;
  static const double angles[] = {0,    1e-300, 1e-20, 1e-9,         1e-5,         9.99e-5,
                                  1e-4, 0.1,    1,     MN_PI - 1e-9, MN_PI - 1e-6, 3};
  double round_trip = 0, same = 0, other_sign = 0;
  for (size_t i = 0; i < sizeof angles / sizeof *angles; i++)
    for (int trial = 0; trial < 100; trial++) {
      mn_vec3 axis = unit(random_vector(&seed)), v = mn_scale(angles[i], axis);
      mn_quat q = mn_quat_exp(v), p = mn_quat_from_axis(axis, angles[i]);
      same =
          check_worst(same, fabs(q.w - p.w) + fabs(q.x - p.x) + fabs(q.y - p.y) + fabs(q.z - p.z));
      round_trip =
          check_worst(round_trip, apart(mn_quat_log(q), v) / (angles[i] > 0 ? angles[i] : 1));
      mn_quat minus = {-q.w, -q.x, -q.y, -q.z};
      other_sign = check_worst(other_sign, apart(mn_quat_log(minus), v));
    }
  CHECK_LE(same, 4e-15);
  CHECK_LE(round_trip, 4e-15);
  CHECK_LE(other_sign, 1e-14);
  /* beyond pi the shorter way round */
  CHECK_LE(apart(mn_quat_log(mn_quat_exp(mn_v3(0, 0, 4))), mn_v3(0, 0, 4 - 2 * MN_PI)), 1e-14);
  CHECK_DONE();
}

/* ---- functions of time ----------------------------------------------------------------------- */

static void test_time_functions(void **state)
{
  (void)state;
  mn_timefn f = mn_timefn_constant(3.5);
  CHECK(mn_timefn_eval(&f, -1) == 3.5 && mn_timefn_eval(&f, 1e9) == 3.5);
  f = (mn_timefn){.kind = MN_TIME_LINEAR, .from = 1, .to = 3, .start = 2, .duration = 4};
  CHECK(mn_timefn_eval(&f, 0) == 1 && mn_timefn_eval(&f, 2) == 1 && mn_timefn_eval(&f, 4) == 2);
  CHECK(mn_timefn_eval(&f, 6) == 3 && mn_timefn_eval(&f, 60) == 3);
  f.kind = MN_TIME_COSINE;
  CHECK_NEAR(mn_timefn_eval(&f, 3), 2 - sqrt(0.5), 1e-15);
  CHECK_NEAR(mn_timefn_eval(&f, 4), 2, 1e-15);
  CHECK(mn_timefn_eval(&f, 1) == 1);
  CHECK_NEAR(mn_timefn_eval(&f, 7), 3, 1e-15);
  double h = 1e-5; /* smooth at both ends */
  CHECK_LE(fabs(mn_timefn_eval(&f, 2 + h) - 1) / h, 1e-4);
  CHECK_LE(fabs(mn_timefn_eval(&f, 6 - h) - 3) / h, 1e-4);
  f.duration = 0; /* a step, taken at `start` */
  CHECK(mn_timefn_eval(&f, 1.999) == 1 && fabs(mn_timefn_eval(&f, 2) - 3) < 1e-15);
  f = (mn_timefn){.kind = MN_TIME_RATE, .from = 1, .rate = -2, .start = 0.5};
  CHECK(mn_timefn_eval(&f, 1.5) == -1 && mn_timefn_eval(&f, 0) == 2);
  f = (mn_timefn){
      .kind = MN_TIME_WAVE, .mean = 1, .amplitude = 2, .frequency = 0.25, .phase = MN_PI / 6};
  CHECK_NEAR(mn_timefn_eval(&f, 0), 2, 1e-14);
  CHECK_NEAR(mn_timefn_eval(&f, 1), 1 + sqrt(3), 1e-14);
  CHECK_NEAR(mn_timefn_eval(&f, 4), 2, 1e-14);
  f = (mn_timefn){
      .kind = MN_TIME_KEYS, .key_count = 3, .key_time = {1, 2, 4}, .key_value = {10, 20, 0}};
  CHECK(mn_timefn_eval(&f, 0) == 10 && mn_timefn_eval(&f, 1) == 10);
  CHECK(mn_timefn_eval(&f, 1.5) == 15 && mn_timefn_eval(&f, 2) == 20);
  CHECK(mn_timefn_eval(&f, 3) == 10 && mn_timefn_eval(&f, 4) == 0 && mn_timefn_eval(&f, 9) == 0);
  f.key_count = 0;
  CHECK(mn_timefn_eval(&f, 1) == 0);
  CHECK_DONE();
}

/* Means against the midpoint rule, and exact where nothing changes. */
static void test_timefn_mean(void **state)
{
  (void)state;
  const mn_timefn functions[] = {
      {.kind = MN_TIME_CONSTANT, .to = -2},
      {.kind = MN_TIME_LINEAR, .from = 1, .to = 3, .start = 2, .duration = 4},
      {.kind = MN_TIME_COSINE, .from = 1, .to = -3, .start = 2, .duration = 4},
      {.kind = MN_TIME_LINEAR, .from = 1, .to = 3, .start = 2},
      {.kind = MN_TIME_RATE, .from = 1, .rate = -2, .start = 0.5},
      {.kind = MN_TIME_WAVE, .mean = 1, .amplitude = 2, .frequency = 0.7, .phase = 0.3},
      {.kind = MN_TIME_KEYS, .key_count = 3, .key_time = {1, 2, 4}, .key_value = {10, 20, 0}}};
  const double span[][2] = {{0, 1}, {0, 7}, {1, 3}, {2.5, 3.7}, {3, 9}, {6.5, 8}};
  enum { PIECES = 20000 };
  for (size_t n = 0; n < sizeof functions / sizeof *functions; n++)
    for (size_t q = 0; q < sizeof span / sizeof *span; q++) {
      double sum = 0, a = span[q][0], h = (span[q][1] - a) / PIECES;
      for (int i = 0; i < PIECES; i++)
        sum += mn_timefn_eval(&functions[n], a + (i + 0.5) * h) / PIECES;
      CHECK_NEAR(mn_timefn_mean(&functions[n], a, span[q][1]), sum, n == 3 ? 2e-4 : 1e-6);
    }
  CHECK(mn_timefn_mean(&functions[2], 6, 6.1) == -3);
  CHECK(mn_timefn_mean(&functions[2], 5, 5) == mn_timefn_eval(&functions[2], 5));
  CHECK_DONE();
}

/* Quaternions do not commute: the chain in the wrong order must be seen. */
static void test_negative_control_wrong_order(void **state)
{
  (void)state;
  mn_quat p = mn_quat_from_axis(mn_v3(1, 0, 0), 1), q = mn_quat_from_axis(mn_v3(0, 1, 0), 1);
  mn_vec3 x = mn_v3(1, 2, 3);
  CHECK_LE(apart(mn_quat_rotate(mn_quat_mul(q, p), x), mn_quat_rotate(p, mn_quat_rotate(q, x))),
           1e-14);
  CHECK_MUST_HAVE_FAILED();
}

/* mn_timefn_bounds is never below what the function does. */
static void test_timefn_bounds_hold(void **state)
{
  (void)state;
  const mn_timefn functions[] = {
      {.kind = MN_TIME_CONSTANT, .to = -2},
      {.kind = MN_TIME_LINEAR, .from = 1, .to = -3, .start = 0.2, .duration = 0.5},
      {.kind = MN_TIME_COSINE, .from = 0, .to = 2, .start = 0.1, .duration = 0.3},
      {.kind = MN_TIME_RATE, .from = 1, .rate = -4, .start = 0.1},
      {.kind = MN_TIME_WAVE, .mean = 0.5, .amplitude = 2, .frequency = 7, .phase = 1},
      {.kind = MN_TIME_KEYS,
       .key_count = 4,
       .key_time = {0, 0.31, 0.33, 0.9},
       .key_value = {0, 1, -5, 0}},
  };
  double short_value = 0, short_rate = 0; /* by how much a bound is too low */
  for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
    for (int start = 0; start < 10; start++) {
      double t0 = 0.1 * start, t1 = t0 + 0.1, value, rate;
      mn_timefn_bounds(&functions[f], t0, t1, &value, &rate);
      for (int i = 0; i < 1000; i++) {
        double t = t0 + (t1 - t0) * i / 1000;
        short_value = check_worst(short_value, fabs(mn_timefn_eval(&functions[f], t)) - value);
        short_rate = check_worst(short_rate, fabs(mn_timefn_rate(&functions[f], t)) - rate);
      }
    }
  CHECK_LE(short_value, 1e-12);
  CHECK_LE(short_rate, 1e-9);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_vectors),
      cmocka_unit_test(test_matrices),
      cmocka_unit_test(test_quaternions_rotate_as_vectors_do),
      cmocka_unit_test(test_exp_and_log_at_all_angles),
      cmocka_unit_test(test_time_functions),
      cmocka_unit_test(test_timefn_mean),
      cmocka_unit_test(test_timefn_bounds_hold),
      cmocka_unit_test(test_negative_control_wrong_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
