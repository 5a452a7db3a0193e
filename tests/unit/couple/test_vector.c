/* Interfaces as vectors: points and the freedoms of rigid bodies, there and back. */
#include <string.h>

#include "check.h"
#include "couple/vector.h"
#include "math/quat.h"
#include "math/vec.h"

enum { BODIES = 2, PER_BODY = 7, LOOSE = 3, N = BODIES * PER_BODY + LOOSE };

/* Two rigid bodies and some points of a deformable one, mixed. */
static void make(mn_context *ctx, int dim, mn_interface *f)
{
  uint64_t seed = 7;
  CHECK_OK(ctx, mn_interface_create(ctx, dim, N, 0, f));
  for (int i = 0; i < N; i++) {
    f->body[i] = i % 3 == 2 && i / 3 < LOOSE ? 5 : i % 2 ? 0 : 3;
    f->rigid[i] = f->body[i] != 5;
    for (int a = 0; a < dim; a++)
      f->X[i].v[a] = 10 * f->body[i] + check_random(&seed);
  }
}

static mn_vec3 moved(mn_vec3 x, int body, double angle, int dim)
{
  mn_vec3 axis = dim == 2 ? mn_v3(0, 0, 1) : mn_scale(1 / sqrt(14), mn_v3(1, 2, 3));
  mn_vec3 y = mn_rotate(x, axis, body == 3 ? -angle : angle);
  y = mn_add(y, mn_v3(0.3 * body, -0.1, 0.2));
  if (dim == 2)
    y.z = 0;
  return y;
}

static void check_dimension(int dim, int freedoms)
{
  mn_context *ctx = check_context(1);
  mn_interface f;
  mn_vector_map map;
  make(ctx, dim, &f);
  CHECK_OK(ctx, mn_vector_map_create(ctx, &f, freedoms, &map));
  size_t loose = 0;
  for (int i = 0; i < N; i++)
    loose += !f.rigid[i];
  size_t per_body = dim == 2 ? 3 : 6;
  CHECK(map.size == (freedoms ? BODIES * per_body + loose * (size_t)dim : (size_t)(N * dim)));
  mn_vec3 start[N], X[N], back[N];
  double x[3 * N];
  memcpy(start, f.X, sizeof start);
  mn_vector_map_start(&map, start);
  for (double angle = 0; angle < 1.5; angle += 0.3) {
    double worst = 0;
    for (int i = 0; i < N; i++)
      X[i] = moved(start[i], f.body[i], angle, dim);
    mn_vector_map_pack(&map, X, x);
    mn_vector_map_unpack(&map, x, back);
    for (int i = 0; i < N; i++)
      worst = check_worst(worst, mn_length(mn_sub(back[i], X[i])));
    CHECK_LE(worst, 1e-13);
    for (int b = 0; b < map.bodies; b++) { /* the scaled rotation vector */
      double turn = 0;
      for (size_t k = (size_t)dim; k < per_body; k++)
        turn += x[map.body[b].first + k] * x[map.body[b].first + k];
      CHECK_NEAR(sqrt(turn), angle * map.body[b].radius, 1e-13);
    }
  }
  mn_vector_map_pack(&map, start, x);
  for (size_t k = 0; k < map.size; k++)
    CHECK_LE(fabs(x[k]), 1e-13);
  mn_vector_map_destroy(&map);
  mn_interface_destroy(&f);
  mn_context_destroy(&ctx);
}

static void test_both_ways(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int freedoms = 0; freedoms < 2; freedoms++)
      check_dimension(dim, freedoms);
  CHECK_DONE();
}

/* A deformed set of points has no rigid motion: the best fit keeps its size. Control: points would
   reproduce it. */
static void test_deformed(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_interface f;
  mn_vector_map map;
  mn_vec3 start[N], X[N], back[N];
  double x[3 * N];
  make(ctx, 2, &f);
  memcpy(start, f.X, sizeof start);
  for (int i = 0; i < N; i++)
    X[i] = mn_scale(1.1, start[i]);
  for (int freedoms = 0; freedoms < 2; freedoms++) {
    CHECK_OK(ctx, mn_vector_map_create(ctx, &f, freedoms, &map));
    mn_vector_map_start(&map, start);
    mn_vector_map_pack(&map, X, x);
    mn_vector_map_unpack(&map, x, back);
    double worst = 0;
    for (int i = 0; i < N; i++)
      if (f.rigid[i])
        worst = check_worst(worst, mn_length(mn_sub(back[i], X[i])));
    if (freedoms)
      CHECK_GE(worst, 0.01);
    else
      CHECK_LE(worst, 1e-13);
    mn_vector_map_destroy(&map);
  }
  mn_interface_destroy(&f);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_both_ways),
                                     cmocka_unit_test(test_deformed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
