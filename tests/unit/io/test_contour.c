/* Contours: closed manifolds, Euler characteristic, second-order length, area and position. */
#include "check.h"

#include <stdlib.h>

#include "base/context.h"
#include "base/memory.h"
#include "io/contour.h"

static const mn_vec3 CENTRE = {{0.513, 0.487, 0.521}};
static const double RADIUS = 0.31;

static double ball(int dim, mn_vec3 x)
{
  mn_vec3 d = mn_sub(x, CENTRE);
  if (dim == 2)
    d.z = 0;
  /* not a distance, so that the linear interpolant has an error to converge */
  return mn_dot(d, d) - RADIUS * RADIUS;
}

static double ring(mn_vec3 x)
{
  mn_vec3 d = mn_sub(x, CENTRE);
  return hypot(hypot(d.x, d.y) - 0.27, d.z) - 0.11;
}

static void make(mn_context *ctx, int dim, int n, int torus, mn_grid *grid, mn_field *f,
                 mn_contour *c)
{
  *grid = mn_grid_make(&ctx->exec, dim, (int[]){n, n, n}, 1.0 / n, mn_v3(0, 0, 0));
  CHECK_OK(ctx, mn_field_create(ctx, grid, MN_NODE, "distance", f));
  for (int k = 0; k < f->n[2]; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++) {
        mn_vec3 x = mn_position(f, i, j, k);
        mn_set(f, i, j, k, torus ? ring(x) : ball(dim, x));
      }
  CHECK_OK(ctx, mn_contour_make(ctx, f, c));
}

static double measure(const mn_contour *c)
{
  double sum = 0;
  for (size_t i = 0; i < c->cells; i++) {
    const int64_t *p = c->index + (size_t)c->dim * i;
    mn_vec3 a = mn_sub(c->x[p[1]], c->x[p[0]]);
    sum +=
        c->dim == 2 ? mn_length(a) : 0.5 * mn_length(mn_cross(a, mn_sub(c->x[p[2]], c->x[p[0]])));
  }
  return sum;
}

/* Signed volume (area) inside: negative if the orientation is wrong. */
static double enclosed(const mn_contour *c)
{
  double sum = 0;
  for (size_t i = 0; i < c->cells; i++) {
    const int64_t *p = c->index + (size_t)c->dim * i;
    mn_vec3 a = mn_sub(c->x[p[0]], CENTRE), b = mn_sub(c->x[p[1]], CENTRE);
    if (c->dim == 2)
      sum += 0.5 * (a.x * b.y - a.y * b.x);
    else
      sum += mn_dot(a, mn_cross(b, mn_sub(c->x[p[2]], CENTRE))) / 6;
  }
  return sum;
}

static void test_length_area_volume_are_second_order(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (int dim = 2; dim <= 3; dim++) {
    double h[4], size_error[4], inside_error[4], place_error[4], normal_error[4];
    double exact = dim == 2 ? 2 * MN_PI * RADIUS : 4 * MN_PI * RADIUS * RADIUS;
    double full = dim == 2 ? MN_PI * RADIUS * RADIUS : 4 * MN_PI / 3 * pow(RADIUS, 3);
    for (int g = 0; g < 4; g++) {
      mn_grid grid;
      mn_field f;
      mn_contour c;
      make(ctx, dim, 8 << g, 0, &grid, &f, &c);
      h[g] = grid.dx;
      size_error[g] = fabs(measure(&c) - exact) / exact;
      inside_error[g] = fabs(enclosed(&c) - full) / full;
      place_error[g] = normal_error[g] = 0;
      for (size_t i = 0; i < c.points; i++) {
        mn_vec3 d = mn_sub(c.x[i], CENTRE);
        if (dim == 2)
          d.z = 0;
        place_error[g] = fmax(place_error[g], fabs(mn_length(d) - RADIUS));
        mn_vec3 n = mn_scale(1 / mn_length(d), d);
        normal_error[g] = fmax(normal_error[g], mn_length(mn_sub(c.n[i], n)));
      }
      mn_contour_free(&c);
      mn_field_destroy(&f);
    }
    CHECK_ORDER(h, size_error, 4, 2, 0.2);
    CHECK_ORDER(h, inside_error, 4, 2, 0.2);
    CHECK_ORDER(h, place_error, 4, 2, 0.2);
    for (int g = 0; g < 4; g++)
      CHECK_LE(normal_error[g], 1e-12); /* differences of a quadratic field are exact */
    CHECK_DONE();
    CHECK_ORDER(h, size_error, 4, 3, 0.2);
    CHECK_MUST_HAVE_FAILED();
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static int by_edge(const void *a, const void *b)
{
  const int64_t *p = a, *q = b;
  return p[0] != q[0] ? (p[0] > q[0]) - (p[0] < q[0]) : (p[1] > q[1]) - (p[1] < q[1]);
}

/* Every edge belongs to two triangles, walked once in each direction; V - E + F. */
static int euler(const mn_contour *c, int *closed)
{
  size_t edges = 3 * c->cells;
  int64_t(*list)[2] = malloc(edges * sizeof *list);
  for (size_t i = 0; i < c->cells; i++)
    for (size_t e = 0; e < 3; e++) {
      list[3 * i + e][0] = c->index[3 * i + e];
      list[3 * i + e][1] = c->index[3 * i + (e + 1) % 3];
    }
  qsort(list, edges, sizeof *list, by_edge);
  *closed = 1;
  for (size_t i = 0; i < edges; i++) {
    int64_t back[2] = {list[i][1], list[i][0]};
    *closed = *closed && bsearch(back, list, edges, sizeof *list, by_edge) &&
              (i == 0 || by_edge(list[i], list[i - 1]) != 0);
  }
  free(list);
  return (int)((int64_t)c->points - (int64_t)edges / 2 + (int64_t)c->cells);
}

static void test_surfaces_are_closed_with_the_right_topology(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (int torus = 0; torus < 2; torus++)
    for (int n = 9; n <= 33; n += 8) {
      mn_grid grid;
      mn_field f;
      mn_contour c;
      int closed;
      make(ctx, 3, n, torus, &grid, &f, &c);
      CHECK_NEAR(euler(&c, &closed), torus ? 0 : 2, 0);
      CHECK(closed);
      CHECK_GE(enclosed(&c), 0.05);
      CHECK_DONE();
      /* negative control: without one triangle it is open */
      c.cells--;
      euler(&c, &closed);
      CHECK(closed);
      CHECK_MUST_HAVE_FAILED();
      mn_contour_free(&c);
      mn_field_destroy(&f);
    }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_outlines_are_closed(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_grid grid;
  mn_field f;
  mn_contour c;
  make(ctx, 2, 21, 0, &grid, &f, &c);
  CHECK(c.points == c.cells);
  int *in, *out;
  CHECK_OK(ctx, MN_NEW(ctx, "ends", c.points, &in));
  CHECK_OK(ctx, MN_NEW(ctx, "ends", c.points, &out));
  for (size_t i = 0; i < c.cells; i++) {
    out[c.index[2 * i]]++;
    in[c.index[2 * i + 1]]++;
  }
  for (size_t i = 0; i < c.points; i++)
    CHECK(in[i] == 1 && out[i] == 1);
  mn_free(in);
  mn_free(out);
  mn_contour_free(&c);
  mn_field_fill(&f, 1);
  CHECK_OK(ctx, mn_contour_make(ctx, &f, &c));
  CHECK(c.points == 0 && c.cells == 0);
  mn_contour_free(&c);
  mn_field_destroy(&f);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_length_area_volume_are_second_order),
      cmocka_unit_test(test_surfaces_are_closed_with_the_right_topology),
      cmocka_unit_test(test_outlines_are_closed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
