/* Thin surfaces that move: closed ones change the side of exactly the points that they pass, also
   where everything lies on a lattice; paths meet them where and when they should. */
#include "check.h"

#include <math.h>
#include <stdio.h>

#include "geom/predicates.h"
#include "grid/sweep.h"
#include "math/vec.h"

enum { MOST = 64 };

/* A closed surface of its own: a polygon, or an octahedron whose faces were split once. */
typedef struct closed {
  int dim;
  mn_immersed im;
  uint32_t element[3 * MOST];
  int body_of[MOST];
  uint8_t two_sided[MOST];
  mn_vec3 X[2][MOST];
} closed;

static void add_element(closed *c, uint32_t a, uint32_t b, uint32_t d)
{
  uint32_t p[3] = {a, b, d};
  for (int i = 0; i < c->dim; i++)
    c->element[(size_t)c->dim * c->im.elements + (size_t)i] = p[i];
  c->two_sided[c->im.elements++] = 1;
}

static void make_topology(closed *c, int dim)
{
  *c = (closed){.dim = dim};
  c->im.element = c->element;
  c->im.body_of = c->body_of;
  c->im.two_sided = c->two_sided;
  if (dim == 2) {
    c->im.points = 9;
    for (uint32_t i = 0; i < 9; i++)
      add_element(c, i, (i + 1) % 9, 0);
  } else {
    c->im.points = 6; /* +x -x +y -y +z -z */
    for (uint32_t s = 0; s < 8; s++)
      add_element(c, s & 1, 2 + (s >> 1 & 1), 4 + (s >> 2 & 1));
  }
  c->im.two_sided_elements = c->im.elements;
}

/* Coordinates of an 8-cell lattice when `lattice`, else anywhere in the unit box. */
static mn_vec3 anywhere(int dim, int lattice, uint64_t *seed)
{
  mn_vec3 x = {{0, 0, 0}};
  for (int a = 0; a < dim; a++)
    x.v[a] = lattice ? floor(9 * check_random(seed)) / 8 : check_random(seed);
  return x;
}

/* Inside at `time`, by the crossings of a way to a point far outside. */
static int side(const closed *c, mn_vec3 x, int time)
{
  int count = 0;
  for (size_t e = 0; e < c->im.elements; e++) {
    mn_vec3 v[3];
    for (int i = 0; i < c->dim; i++)
      v[i] = c->X[time][c->element[(size_t)c->dim * e + (size_t)i]];
    count += mn_segment_crosses(c->dim, v, x, mn_v3(31, 17, c->dim == 3 ? 23 : 0)) != 0;
  }
  return count & 1;
}

/* How many of many random cases go wrong: points passed, and paths. */
static void count_wrong(int dim, int lattice, int drop, int *passed_wrong, int *apart_wrong,
                        int *passed)
{
  mn_context *ctx = check_context(1);
  mn_exec exec = {.threads = 1};
  mn_grid grid = mn_grid_make(&exec, dim, (int[]){8, 8, dim == 3 ? 8 : 1}, 0.125,
                              mn_v3(0, 0, dim == 3 ? 0 : -0.0625));
  mn_sweep s = mn_sweep_none(ctx, &grid);
  uint64_t seed = 7;
  *passed_wrong = *apart_wrong = *passed = 0;
  for (int round = 0; round < 60; round++) {
    closed c;
    make_topology(&c, dim);
    for (size_t i = 0; i < c.im.points; i++) {
      c.X[0][i] = anywhere(dim, lattice, &seed);
      c.X[1][i] = check_random(&seed) < 0.3 ? c.X[0][i] : anywhere(dim, lattice, &seed);
    }
    CHECK_OK(ctx, mn_sweep_make(&s, &c.im, c.X[0], c.X[1]));
    s.elements -= drop ? 1 : 0; /* the control: a hole */
    for (int n = 0; n < 100; n++) {
      mn_vec3 x0 = anywhere(dim, lattice, &seed), x1 = anywhere(dim, lattice, &seed);
      int a = side(&c, x0, 0), b = side(&c, x1, 0), d = side(&c, x1, 1);
      int passes = drop ? 0 : mn_sweep_passes(&s, x1);
      *passed += passes > 0;
      *passed_wrong += (passes & 1) != (b != d);
      *apart_wrong += (drop ? 0 : mn_sweep_apart(&s, x0, x1)) != (a != d);
      /* the straight path: parity as well, but for rounding, which needs a point on an element */
      if (!lattice && !drop)
        *apart_wrong += (mn_sweep_meets(&s, x0, x1, 0, NULL) & 1) != (a != d);
    }
  }
  mn_sweep_destroy(&s);
  mn_context_destroy(&ctx);
}

static void test_closed_surfaces_pass_what_changes_side(void **state)
{
  (void)state;
  int passed_wrong, apart_wrong, passed;
  for (int dim = 2; dim <= 3; dim++)
    for (int lattice = 0; lattice < 2; lattice++) {
      count_wrong(dim, lattice, 0, &passed_wrong, &apart_wrong, &passed);
      printf("%dD%s: %d of 6000 points passed\n", dim, lattice ? " on a lattice" : "", passed);
      CHECK_LE(passed_wrong, 0);
      CHECK_LE(apart_wrong, 0);
      CHECK_GE(passed, 500);
    }
  CHECK_DONE();
  count_wrong(2, 0, 1, &passed_wrong, &apart_wrong, &passed);
  CHECK_LE(passed_wrong, 0);
  CHECK_MUST_HAVE_FAILED();
}

/* A flat sheet x = 0.2 that goes to 0.6, and points that go along with it or not. */
static void test_first_meeting(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_exec exec = {.threads = 1};
  for (int dim = 2; dim <= 3; dim++) {
    mn_grid grid = mn_grid_make(&exec, dim, (int[]){8, 8, dim == 3 ? 8 : 1}, 0.125,
                                mn_v3(0, 0, dim == 3 ? 0 : -0.0625));
    closed c = {.dim = dim};
    c.im.element = c.element;
    c.im.body_of = c.body_of;
    c.im.two_sided = c.two_sided;
    mn_vec3 corner[4] = {{{0.2, 0, 0}}, {{0.2, 1, 0}}, {{0.2, 0, 1}}, {{0.2, 1, 1}}};
    c.im.points = dim == 2 ? 2 : 4;
    for (size_t i = 0; i < c.im.points; i++) {
      c.X[0][i] = corner[i];
      c.X[1][i] = mn_add(corner[i], mn_v3(0.4, 0, 0));
    }
    add_element(&c, 1, 0, 2);
    if (dim == 3)
      add_element(&c, 1, 2, 3);
    c.im.two_sided_elements = c.im.elements;
    mn_sweep s = mn_sweep_none(ctx, &grid);
    CHECK_OK(ctx, mn_sweep_make(&s, &c.im, c.X[0], c.X[1]));
    CHECK_NEAR(s.way, 0.4, 1e-15);
    mn_sweep_hit hit;
    double z = dim == 3 ? 0.3 : 0;
    mn_vec3 a = mn_v3(0.5, 0.25, z), b = mn_v3(0.5, 0.75, z);
    CHECK(mn_sweep_meets(&s, a, b, 0, &hit) == 1);
    CHECK_NEAR(hit.t, 0.75, 1e-14);
    mn_vec3 x = mn_sweep_place(&s, &hit, 0);
    CHECK_NEAR(mn_length(mn_sub(x, mn_v3(0.2, 0.625, z))), 0, 1e-14);
    x = mn_sweep_place(&s, &hit, 1);
    CHECK_NEAR(mn_length(mn_sub(x, mn_v3(0.6, 0.625, z))), 0, 1e-14);
    CHECK_NEAR(fabs(mn_sweep_normal(&s, hit.element, 1).x), 1, 1e-15);
    /* with the sheet, on either side; and through it, there and back in the sheet's frame */
    CHECK(mn_sweep_meets(&s, mn_v3(0.19, 0.3, z), mn_v3(0.59, 0.3, z), 0, &hit) == 0);
    CHECK(mn_sweep_meets(&s, mn_v3(0.21, 0.3, z), mn_v3(0.61, 0.3, z), 0, &hit) == 0);
    CHECK(mn_sweep_meets(&s, mn_v3(0.21, 0.3, z), mn_v3(0.59, 0.3, z), 0, &hit) == 1);
    CHECK_NEAR(hit.t, 0.5, 1e-14);
    CHECK(!mn_sweep_apart(&s, mn_v3(0.19, 0.3, z), mn_v3(0.59, 0.3, z)));
    CHECK(!mn_sweep_apart(&s, mn_v3(0.21, 0.3, z), mn_v3(0.61, 0.3, z)));
    CHECK(mn_sweep_apart(&s, mn_v3(0.21, 0.3, z), mn_v3(0.59, 0.3, z)));
    CHECK(mn_sweep_passes(&s, a) == 1 && mn_sweep_passes(&s, mn_v3(0.7, 0.2, z)) == 0);
    mn_sweep_destroy(&s);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_closed_surfaces_pass_what_changes_side),
      cmocka_unit_test(test_first_meeting),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
