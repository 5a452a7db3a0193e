#include "check.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "grid/fractions.h"

/* ---- helpers --------------------------------------------------------------------------------- */

typedef double distance_fn(const void *user, mn_vec3 x);

typedef struct cut {
  mn_grid grid;
  mn_field node, open[3], volume;
} cut;

/* Fields borrow the address of the grid, so a cut is filled in place. */
static void fill_cut(mn_context *ctx, cut *c, distance_fn *d, const void *user)
{
  static const char *const name[3] = {"open x", "open y", "open z"};
  CHECK_OK(ctx, mn_field_create(ctx, &c->grid, MN_NODE, "nodes", &c->node));
  CHECK_OK(ctx, mn_field_create(ctx, &c->grid, MN_CELL, "volume", &c->volume));
  for (int a = 0; a < c->grid.dim; a++)
    CHECK_OK(ctx, mn_field_create(ctx, &c->grid, (mn_place)a, name[a], &c->open[a]));
  for (int k = 0; k < c->node.n[2]; k++)
    for (int j = 0; j < c->node.n[1]; j++)
      for (int i = 0; i < c->node.n[0]; i++)
        mn_set(&c->node, i, j, k, d(user, mn_position(&c->node, i, j, k)));
  mn_face_fractions(&c->node, c->open);
  mn_cell_fractions(&c->node, &c->volume);
}

static void free_cut(cut *c)
{
  mn_field_destroy(&c->node);
  mn_field_destroy(&c->volume);
  for (int a = 0; a < c->grid.dim; a++)
    mn_field_destroy(&c->open[a]);
}

typedef struct plane {
  mn_vec3 normal;
  double offset;
} plane;

static double plane_distance(const void *user, mn_vec3 x)
{
  const plane *p = user;
  return mn_dot(p->normal, x) - p->offset;
}

static double ball_distance(const void *user, mn_vec3 x)
{
  return mn_length(mn_sub(x, mn_v3(0.013, -0.027, 0.0))) - *(const double *)user;
}

/* Exact part of the box [0, h]^m, shifted to `corner`, where n . x > offset: the
   inclusion-exclusion formula of the cumulative distribution of a weighted sum of uniform
   variables, P(sum a_i u_i < t) = sum over subsets S of (-1)^|S| (t - sum_S a_i)_+^m / (m! prod
   a_i). */
static double exact_part(int m, const double normal[], const double corner[], double h,
                         double offset)
{
  double t = offset, a[3];
  int used = 0;
  for (int i = 0; i < m; i++) {
    t -= normal[i] * corner[i];
    double w = normal[i] * h;
    if (w < 0) { /* mirror: u -> 1 - u */
      t -= w;
      w = -w;
    }
    a[used++] = w;
  }
  double sum = 0, product = 1;
  for (int s = 0; s < 1 << used; s++) {
    double left = t;
    int odd = 0;
    for (int i = 0; i < used; i++)
      if (s >> i & 1) {
        left -= a[i];
        odd = !odd;
      }
    if (left > 0)
      sum += (odd ? -1 : 1) * pow(left, used);
  }
  for (int i = 0; i < used; i++)
    product *= a[i] * (i + 1);
  return 1 - mn_clamp(sum / product, 0, 1);
}

static double random_in(uint64_t *seed, double lo, double hi)
{
  return lo + (hi - lo) * check_random(seed);
}

static mn_vec3 random_normal(uint64_t *seed, int dim)
{
  mn_vec3 n;
  do /* no component so small that exact_part cancels */
    n = mn_v3(random_in(seed, -1, 1), random_in(seed, -1, 1),
              dim == 3 ? random_in(seed, -1, 1) : 0);
  while (mn_length(n) > 1 || fabs(n.x) < 0.05 || fabs(n.y) < 0.05 ||
         (dim == 3 && fabs(n.z) < 0.05));
  return mn_scale(1 / mn_length(n), n);
}

/* ---- planes ---------------------------------------------------------------------------------- */

/* Greatest errors over a grid cut by a plane: of faces, cells, and of the identity
   dx^2 (w_hi - w_lo)_a = n_a area for every cell, with area = - d volume / d offset. */
static void plane_errors(mn_context *ctx, int dim, plane p, double *face, double *cell,
                         double *divergence)
{
  cut c = {.grid = mn_grid_make(&ctx->exec, dim, (int[3]){5, 4, 3}, 0.2, mn_v3(-0.5, -0.4, -0.3))};
  fill_cut(ctx, &c, plane_distance, &p);
  double h = c.grid.dx;
  for (int a = 0; a < dim; a++) {
    const mn_field *w = &c.open[a];
    for (int k = 0; k < w->n[2]; k++)
      for (int j = 0; j < w->n[1]; j++)
        for (int i = 0; i < w->n[0]; i++) {
          mn_vec3 x = mn_position(w, i, j, k);
          double normal[2], corner[2];
          int m = 0;
          for (int b = 0; b < dim; b++)
            if (b != a) {
              normal[m] = p.normal.v[b];
              corner[m++] = x.v[b] - 0.5 * h;
            }
          double exact = exact_part(m, normal, corner, h, p.offset - p.normal.v[a] * x.v[a]);
          *face = check_worst(*face, fabs(mn_get(w, i, j, k) - exact));
        }
  }
  const mn_field *v = &c.volume;
  for (int k = 0; k < v->n[2]; k++)
    for (int j = 0; j < v->n[1]; j++)
      for (int i = 0; i < v->n[0]; i++) {
        mn_vec3 x = mn_position(v, i, j, k);
        double corner[3] = {x.x - 0.5 * h, x.y - 0.5 * h, x.z - 0.5 * h};
        double exact = exact_part(dim, p.normal.v, corner, h, p.offset);
        *cell = check_worst(*cell, fabs(mn_get(v, i, j, k) - exact));
        double step = 1e-4 * h;
        double area = (exact_part(dim, p.normal.v, corner, h, p.offset - step) -
                       exact_part(dim, p.normal.v, corner, h, p.offset + step)) *
                      h / (2 * step);
        for (int a = 0; a < dim; a++) {
          double jump = mn_get(&c.open[a], i + (a == 0), j + (a == 1), k + (a == 2)) -
                        mn_get(&c.open[a], i, j, k);
          *divergence = check_worst(*divergence, fabs(jump - p.normal.v[a] * area));
        }
      }
  free_cut(&c);
}

static void test_planes_are_exact(void **state)
{
  (void)state;
  mn_context *ctx = check_context(2);
  uint64_t seed = 1;
  for (int dim = 2; dim <= 3; dim++) {
    double face = 0, cell = 0, divergence = 0;
    for (int trial = 0; trial < 300; trial++) {
      plane p = {random_normal(&seed, dim), random_in(&seed, -0.4, 0.4)};
      plane_errors(ctx, dim, p, &face, &cell, &divergence);
    }
    CHECK_LE(face, 1e-9); /* the snap of 1e-10 dx and the cancellation of exact_part */
    CHECK_LE(cell, 1e-9);
    CHECK_LE(divergence, 1e-4); /* of the finite difference: kinks of the area over the offset */
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* ---- convergence ----------------------------------------------------------------------------- */

/* Solid volume and wall area of a ball: sum over the cells of 1 - v, and of |jump of w|. */
static void ball_errors(mn_context *ctx, int dim, int n, double radius, double *volume,
                        double *area)
{
  cut c = {.grid =
               mn_grid_make(&ctx->exec, dim, (int[3]){n, n, n}, 1.0 / n, mn_v3(-0.5, -0.5, -0.5))};
  fill_cut(ctx, &c, ball_distance, &radius);
  double h = c.grid.dx, solid = 0, wall = 0;
  for (int k = 0; k < c.volume.n[2]; k++)
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++) {
        solid += 1 - mn_get(&c.volume, i, j, k);
        mn_vec3 jump = {0};
        for (int a = 0; a < dim; a++)
          jump.v[a] = mn_get(&c.open[a], i + (a == 0), j + (a == 1), k + (a == 2)) -
                      mn_get(&c.open[a], i, j, k);
        wall += mn_length(jump);
      }
  double r2 = radius * radius;
  *volume = fabs(solid * pow(h, dim) - (dim == 3 ? 4 * MN_PI / 3 * r2 * radius : MN_PI * r2));
  *area = fabs(wall * pow(h, dim - 1) - (dim == 3 ? 4 * MN_PI * r2 : 2 * MN_PI * radius));
  free_cut(&c);
}

static void test_curved_walls_converge_at_second_order(void **state)
{
  (void)state;
  mn_context *ctx = check_context(2);
  for (int dim = 2; dim <= 3; dim++) {
    double h[4], volume[4] = {0}, area[4] = {0};
    for (int g = 0; g < 4; g++) {
      int n = (dim == 2 ? 16 : 12) << g;
      h[g] = 1.0 / n;
      for (int r = 0; r < 8; r++) { /* several radii: the error of one oscillates with n */
        double v, a;
        ball_errors(ctx, dim, n, 0.3 + 0.01 * r, &v, &a);
        volume[g] += v / 8;
        area[g] += a / 8;
      }
    }
    CHECK_ORDER(h, volume, 4, 2, 0.15);
    CHECK_ORDER(h, area, 4, 2, 0.15);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* ---- single squares, edges and cubes --------------------------------------------------------- */

static double cube(mn_context *ctx, const double d[8])
{
  cut c = {.grid = mn_grid_make(&ctx->exec, 3, (int[3]){1, 1, 1}, 1, mn_v3(0, 0, 0))};
  CHECK_OK(ctx, mn_field_create(ctx, &c.grid, MN_NODE, "nodes", &c.node));
  CHECK_OK(ctx, mn_field_create(ctx, &c.grid, MN_CELL, "volume", &c.volume));
  for (int i = 0; i < 8; i++)
    mn_set(&c.node, i & 1, i >> 1 & 1, i >> 2, d[i]);
  mn_cell_fractions(&c.node, &c.volume);
  double v = mn_get(&c.volume, 0, 0, 0);
  mn_field_destroy(&c.node);
  mn_field_destroy(&c.volume);
  return v;
}

/* All sign patterns with zeros, and random values: within [0, 1], w(d) + w(-d) = 1, and 0 or 1
   exactly where no corner has the other sign. */
static void test_every_sign_pattern_is_symmetric(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  uint64_t seed = 7;
  double worst = 0;
  int wrong = 0;
  for (int corners = 2; corners <= 8; corners *= 2) {
    int patterns = (int)lround(pow(3, corners));
    for (int trial = 0; trial < patterns * (corners == 8 ? 1 : 50); trial++) {
      double d[8], minus[8];
      int positive = 0, negative = 0;
      for (int i = 0, code = trial; i < corners; i++, code /= 3) {
        d[i] = (code % 3 - 1) * (trial < patterns ? 1.0 : random_in(&seed, 0.01, 1));
        minus[i] = -d[i];
        positive += d[i] > 0;
        negative += d[i] < 0;
      }
      double w = corners == 2   ? mn_edge_fraction(d[0], d[1])
                 : corners == 4 ? mn_square_fraction(d)
                                : cube(ctx, d);
      double m = corners == 2   ? mn_edge_fraction(minus[0], minus[1])
                 : corners == 4 ? mn_square_fraction(minus)
                                : cube(ctx, minus);
      if (!positive)
        wrong += w != 0;
      else if (!negative)
        wrong += w != 1;
      else
        wrong += !(w > 0 && w < 1);
      if (positive || negative)
        worst = check_worst(worst, fabs(w + m - 1));
    }
  }
  CHECK_LE((double)wrong, 0);
  CHECK_LE(worst, 1e-14);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_known_squares(void **state)
{
  (void)state;
  CHECK_NEAR(mn_edge_fraction(1, -3), 0.25, 1e-15);
  CHECK_NEAR(mn_edge_fraction(-3, 1), 0.25, 1e-15);
  CHECK_NEAR(mn_edge_fraction(0, 0), 0, 0);
  CHECK_NEAR(mn_square_fraction((double[]){1, -1, -1, -1}), 0.125, 1e-15);
  CHECK_NEAR(mn_square_fraction((double[]){1, -3, 1, -3}), 0.25, 1e-15);
  CHECK_NEAR(mn_square_fraction((double[]){1, 1, -3, -3}), 0.25, 1e-15);
  CHECK_NEAR(mn_square_fraction((double[]){3, -1, -1, 3}), 1 - 2 * 0.5 / 16, 1e-15); /* joined */
  CHECK_NEAR(mn_square_fraction((double[]){1, -3, -3, 1}), 2 * 0.5 / 16, 1e-15);     /* apart */
  CHECK_NEAR(mn_square_fraction((double[]){-3, 1, 1, -3}), 2 * 0.5 / 16, 1e-15);
  CHECK_NEAR(mn_square_fraction((double[]){1, -1, -1, 1}), 0.5, 1e-15);
  /* continuous where a corner of a saddle passes through zero */
  double below[] = {1, -1e-9, -5, 1}, above[] = {1, 1e-9, -5, 1};
  CHECK_NEAR(mn_square_fraction(below), mn_square_fraction(above), 1e-8);
  CHECK_DONE();
}

/* ---- walls on the grid, threads, negative control -------------------------------------------- */

static void test_a_wall_on_the_nodes_is_closed_despite_round_off(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (int sign = -1; sign <= 1; sign++) {
    plane p = {mn_v3(1, 0, 0), 0.1 + sign * 1e-14}; /* face 6 of 10 */
    cut c = {.grid = mn_grid_make(&ctx->exec, 3, (int[3]){10, 2, 2}, 0.1, mn_v3(-0.5, 0, 0))};
    fill_cut(ctx, &c, plane_distance, &p);
    CHECK(mn_get(&c.open[0], 6, 1, 1) == 0);
    CHECK(mn_get(&c.open[0], 7, 1, 1) == 1);
    CHECK(mn_get(&c.open[1], 5, 1, 1) == 0);
    CHECK(mn_get(&c.open[1], 6, 1, 1) == 1);
    CHECK(mn_get(&c.volume, 5, 1, 1) == 0);
    CHECK(mn_get(&c.volume, 6, 1, 1) == 1);
    free_cut(&c);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_same_bits_for_any_number_of_threads(void **state)
{
  (void)state;
  mn_context *one = check_context(1), *four = check_context(4);
  double radius = 0.33;
  int cells[3] = {9, 7, 8};
  for (int dim = 2; dim <= 3; dim++) {
    cut a = {.grid = mn_grid_make(&one->exec, dim, cells, 0.1, mn_v3(-0.5, -0.5, -0.5))};
    cut b = {.grid = mn_grid_make(&four->exec, dim, cells, 0.1, mn_v3(-0.5, -0.5, -0.5))};
    fill_cut(one, &a, ball_distance, &radius);
    fill_cut(four, &b, ball_distance, &radius);
    CHECK(!memcmp(a.volume.data, b.volume.data, a.volume.size * sizeof(double)));
    for (int d = 0; d < dim; d++)
      CHECK(!memcmp(a.open[d].data, b.open[d].data, a.open[d].size * sizeof(double)));
    free_cut(&a);
    free_cut(&b);
  }
  mn_context_destroy(&one);
  mn_context_destroy(&four);
  CHECK_DONE();
}

/* Fractions of 0, 1/2 or 1 (a stair-case wall) must not pass as second order. */
static void test_negative_control_staircase(void **state)
{
  (void)state;
  double h[3], error[3];
  for (int g = 0; g < 3; g++) {
    int n = 16 << g;
    h[g] = 1.0 / n;
    double solid = 0;
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++)
        solid += ball_distance(&(double){0.3},
                               mn_v3((i + 0.5) * h[g] - 0.5, (j + 0.5) * h[g] - 0.5, 0)) < 0;
    error[g] = fabs(solid * h[g] * h[g] - MN_PI * 0.09) + 1e-3 * h[g];
  }
  CHECK_ORDER(h, error, 3, 2, 0.15);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_planes_are_exact),
      cmocka_unit_test(test_curved_walls_converge_at_second_order),
      cmocka_unit_test(test_every_sign_pattern_is_symmetric),
      cmocka_unit_test(test_known_squares),
      cmocka_unit_test(test_a_wall_on_the_nodes_is_closed_despite_round_off),
      cmocka_unit_test(test_same_bits_for_any_number_of_threads),
      cmocka_unit_test(test_negative_control_staircase),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
