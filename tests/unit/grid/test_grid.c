#include "check.h"

#include <math.h>

#include "base/context.h"
#include "grid/grid.h"

static const int cells[3] = {6, 5, 4};
static const double dx = 0.25;

static mn_grid make_grid(mn_context *ctx, int dim)
{
  return mn_grid_make(&ctx->exec, dim, cells, dx, mn_v3(-0.5, 1, 2));
}

static double linear(mn_vec3 x)
{
  return 0.7 + 1.3 * x.x - 2.1 * x.y + 0.4 * x.z;
}

/* Every point of a field, ghosts included. */
static void fill_with_ghosts(mn_field *f, double (*fn)(mn_vec3))
{
  int gz = f->grid->dim == 3 ? MN_GHOST : 0;
  for (int k = -gz; k < f->n[2] + gz; k++)
    for (int j = -MN_GHOST; j < f->n[1] + MN_GHOST; j++)
      for (int i = -MN_GHOST; i < f->n[0] + MN_GHOST; i++)
        mn_set(f, i, j, k, fn(mn_position(f, i, j, k)));
}

static mn_vec3 random_point(const mn_grid *g, uint64_t *seed, double beyond)
{
  mn_vec3 x = {0};
  for (int a = 0; a < g->dim; a++)
    x.v[a] = g->origin.v[a] - beyond + check_random(seed) * (g->n[a] * g->dx + 2 * beyond);
  return x;
}

static void test_positions_and_sizes(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (int dim = 2; dim <= 3; dim++) {
    mn_grid g = make_grid(ctx, dim);
    CHECK(g.n[0] == 6 && g.n[1] == 5 && g.n[2] == (dim == 3 ? 4 : 1));
    for (int place = MN_FACE_X; place <= MN_NODE; place++) {
      if (dim == 2 && place == MN_FACE_Z)
        continue;
      mn_field f;
      CHECK_OK(ctx, mn_field_create(ctx, &g, (mn_place)place, "field", &f));
      size_t size = 1;
      for (int a = 0; a < 3; a++) {
        int node = a < dim && (place == MN_NODE || place == a);
        CHECK(f.n[a] == g.n[a] + node);
        size *= (size_t)f.n[a] + (a < dim ? 2 * MN_GHOST : 0);
      }
      CHECK(f.size == size);
      mn_vec3 first = mn_position(&f, 0, 0, 0);
      CHECK_NEAR(first.x, -0.5 + (place == MN_FACE_X || place == MN_NODE ? 0 : dx / 2), 1e-15);
      CHECK_NEAR(first.y, 1 + (place == MN_FACE_Y || place == MN_NODE ? 0 : dx / 2), 1e-15);
      CHECK_NEAR(first.z, dim == 2 ? 0 : 2 + (place == MN_FACE_Z || place == MN_NODE ? 0 : dx / 2),
                 1e-15);
      mn_vec3 step = mn_sub(mn_position(&f, 3, 2, 0), first);
      CHECK_NEAR(step.x, 3 * dx, 1e-15);
      CHECK_NEAR(step.y, 2 * dx, 1e-15);
      /* the corners of the memory are the outermost ghosts */
      CHECK(&f.at[mn_index(&f, -MN_GHOST, -MN_GHOST, dim == 3 ? -MN_GHOST : 0)] == f.data);
      CHECK(&f.at[mn_index(&f, f.n[0] + MN_GHOST - 1, f.n[1] + MN_GHOST - 1,
                           dim == 3 ? f.n[2] + MN_GHOST - 1 : 0)] == f.data + f.size - 1);
      mn_field_destroy(&f);
    }
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Multilinear interpolation reproduces linear functions in the whole domain, up to its sides, where
   centred places read ghosts. */
static void test_sampling_is_exact_for_linear_functions(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (int dim = 2; dim <= 3; dim++) {
    mn_grid g = make_grid(ctx, dim);
    for (int place = MN_FACE_X; place <= MN_NODE; place++) {
      if (dim == 2 && place == MN_FACE_Z)
        continue;
      mn_field f;
      CHECK_OK(ctx, mn_field_create(ctx, &g, (mn_place)place, "field", &f));
      fill_with_ghosts(&f, linear);
      uint64_t seed = 1;
      double inside = 0, range = 0;
      for (int trial = 0; trial < 2000; trial++) {
        mn_vec3 x = random_point(&g, &seed, 0);
        double lo, hi, v = mn_sample_range(&f, x, &lo, &hi);
        inside = check_worst(inside, fabs(mn_sample(&f, x) - linear(x)));
        range = check_worst(range, check_worst(lo - v, v - hi) + (v == mn_sample(&f, x) ? 0 : 1));
      }
      CHECK_LE(inside, 1e-14);
      CHECK_LE(range, 1e-15);
      mn_field_destroy(&f);
    }
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Beyond the domain a sample is that of the nearest position within it. */
static void test_sampling_clamps_far_positions(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (int dim = 2; dim <= 3; dim++) {
    mn_grid g = make_grid(ctx, dim);
    for (int place = MN_CELL; place <= MN_NODE; place++) {
      mn_field f;
      CHECK_OK(ctx, mn_field_create(ctx, &g, (mn_place)place, "field", &f));
      fill_with_ghosts(&f, linear);
      double worst = 0;
      uint64_t seed = 2;
      for (int trial = 0; trial < 1000; trial++) {
        mn_vec3 x = random_point(&g, &seed, trial % 2 ? 1 : 1e6), y = x;
        for (int a = 0; a < dim; a++)
          y.v[a] = mn_clamp(x.v[a], g.origin.v[a], g.origin.v[a] + g.n[a] * g.dx);
        worst = check_worst(worst, fabs(mn_sample(&f, x) - linear(y)));
      }
      CHECK_LE(worst, 1e-14);
      CHECK(isnan(mn_sample(&f, mn_v3(1, NAN, 1)))); /* and does not read out of bounds */
      CHECK(isfinite(mn_sample(&f, mn_v3(INFINITY, -INFINITY, INFINITY))));
      mn_field_destroy(&f);
    }
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* A sample at a point is that point's value, and only its neighbours matter in between. */
static void test_sampling_hits_the_points(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_grid g = make_grid(ctx, 3);
  mn_field f;
  CHECK_OK(ctx, mn_field_create(ctx, &g, MN_FACE_Y, "field", &f));
  uint64_t seed = 3;
  for (size_t i = 0; i < f.size; i++)
    f.data[i] = check_random(&seed);
  double worst = 0;
  for (int k = 0; k < f.n[2]; k++)
    for (int j = 0; j < f.n[1]; j++)
      for (int i = 0; i < f.n[0]; i++)
        worst =
            check_worst(worst, fabs(mn_sample(&f, mn_position(&f, i, j, k)) - mn_get(&f, i, j, k)));
  CHECK_LE(worst, 1e-14);
  mn_vec3 a = mn_position(&f, 1, 2, 1), b = mn_position(&f, 2, 2, 1);
  CHECK_NEAR(mn_sample(&f, mn_scale(0.5, mn_add(a, b))),
             0.5 * (mn_get(&f, 1, 2, 1) + mn_get(&f, 2, 2, 1)), 1e-15);
  mn_field_destroy(&f);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static double constant_two(mn_vec3 x)
{
  (void)x;
  return 2;
}

static void test_velocity_copy_and_fill(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (int dim = 2; dim <= 3; dim++) {
    mn_grid g = make_grid(ctx, dim);
    mn_field u[3], copy;
    for (int a = 0; a < dim; a++)
      CHECK_OK(ctx, mn_field_create(ctx, &g, (mn_place)a, "velocity", &u[a]));
    fill_with_ghosts(&u[0], linear);
    fill_with_ghosts(&u[1], constant_two);
    if (dim == 3)
      mn_field_fill(&u[2], -3);
    mn_vec3 x = mn_v3(0.1, 1.4, dim == 3 ? 2.3 : 0), v = mn_sample_velocity(u, x);
    CHECK_NEAR(v.x, linear(x), 1e-14);
    CHECK_NEAR(v.y, 2, 1e-15);
    CHECK_NEAR(v.z, dim == 3 ? -3 : 0, 1e-15);
    CHECK_OK(ctx, mn_field_create(ctx, &g, MN_FACE_X, "copy", &copy));
    mn_field_copy(&copy, &u[0]);
    CHECK(mn_get(&copy, -2, 3, 0) == mn_get(&u[0], -2, 3, 0) && copy.data != u[0].data);
    mn_field_destroy(&copy);
    for (int a = 0; a < dim; a++)
      mn_field_destroy(&u[a]);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Slabs visit every point once. */
static void test_slabs_cover_a_field(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (int dim = 2; dim <= 3; dim++) {
    mn_grid g = make_grid(ctx, dim);
    mn_field f;
    CHECK_OK(ctx, mn_field_create(ctx, &g, MN_NODE, "field", &f));
    for (int s = 0; s < mn_slabs(&f); s++) {
      int k, j0, j1;
      mn_slab(&f, s, &k, &j0, &j1);
      for (int j = j0; j < j1; j++)
        for (int i = 0; i < f.n[0]; i++)
          mn_set(&f, i, j, k, mn_get(&f, i, j, k) + 1);
    }
    double sum = 0, most = 0;
    for (size_t i = 0; i < f.size; i++) {
      sum += f.data[i];
      most = check_worst(most, f.data[i]);
    }
    CHECK_NEAR(sum, (double)f.n[0] * f.n[1] * f.n[2], 0);
    CHECK_NEAR(most, 1, 0);
    mn_field_destroy(&f);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static double quadratic(mn_vec3 x)
{
  return x.x * x.x;
}

/* Linear interpolation is not exact for a parabola: the check must see it. */
static void test_negative_control_quadratic(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_grid g = make_grid(ctx, 2);
  mn_field f;
  CHECK_OK(ctx, mn_field_create(ctx, &g, MN_CELL, "field", &f));
  fill_with_ghosts(&f, quadratic);
  mn_vec3 x = mn_v3(0.25, 1.5, 0);
  CHECK_NEAR(mn_sample(&f, x), quadratic(x), 1e-14);
  mn_field_destroy(&f);
  mn_context_destroy(&ctx);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_positions_and_sizes),
      cmocka_unit_test(test_sampling_is_exact_for_linear_functions),
      cmocka_unit_test(test_sampling_clamps_far_positions),
      cmocka_unit_test(test_sampling_hits_the_points),
      cmocka_unit_test(test_velocity_copy_and_fill),
      cmocka_unit_test(test_slabs_cover_a_field),
      cmocka_unit_test(test_negative_control_quadratic),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
