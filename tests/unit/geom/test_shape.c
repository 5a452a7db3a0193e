#include "check.h"

#include <math.h>
#include <stdio.h>

#include "base/context.h"
#include "geom/shape.h"
#include "math/vec.h"

/* ---- helpers --------------------------------------------------------------------------------- */

static double random_in(uint64_t *seed, double lo, double hi)
{
  return lo + (hi - lo) * check_random(seed);
}

static mn_vec3 random_point(uint64_t *seed, int dim, double half)
{
  mn_vec3 x = mn_v3(random_in(seed, -half, half), random_in(seed, -half, half), 0);
  x.z = dim == 3 ? random_in(seed, -half, half) : 0;
  return x;
}

typedef struct named_shape {
  const char *name;
  mn_shape *shape;
} named_shape;

enum { PRIMITIVES = 5 };

static void make_primitives(mn_context *ctx, int dim, named_shape s[PRIMITIVES])
{
  s[0].name = "box";
  CHECK_OK(ctx, mn_shape_box(ctx, dim, mn_v3(-0.3, -0.5, -0.2), mn_v3(0.4, 0.1, 0.3), &s[0].shape));
  s[1].name = "sphere";
  CHECK_OK(ctx, mn_shape_sphere(ctx, dim, mn_v3(0.1, -0.2, 0.15), 0.45, &s[1].shape));
  s[2].name = "half-space";
  CHECK_OK(ctx, mn_shape_half_space(ctx, dim, mn_v3(0.1, 0.1, 0.1), mn_v3(3, -2, 1), &s[2].shape));
  s[3].name = "capsule";
  CHECK_OK(ctx, mn_shape_capsule(ctx, dim, mn_v3(-0.4, -0.1, 0.2), mn_v3(0.3, 0.4, -0.3), 0.2,
                                 &s[3].shape));
  s[4].name = "torus";
  CHECK_OK(ctx,
           mn_shape_torus(ctx, dim, mn_v3(0.05, 0, -0.1), mn_v3(1, 2, 2), 0.5, 0.17, &s[4].shape));
}

static void destroy_all(named_shape *s, int count)
{
  for (int i = 0; i < count; i++)
    mn_shape_destroy(&s[i].shape);
}

static mn_vec3 gradient(const mn_shape *s, int dim, mn_vec3 x)
{
  mn_vec3 g = {0};
  double h = 1e-6;
  for (int a = 0; a < dim; a++) {
    mn_vec3 hi = x, lo = x;
    hi.v[a] += h;
    lo.v[a] -= h;
    g.v[a] = (mn_shape_distance(s, hi) - mn_shape_distance(s, lo)) / (2 * h);
  }
  return g;
}

/* Distance to the zero set by sampling it: the least |x - y| over points y of the surface, which
   are found by bisection on many chords. Independent of any formula; from above only. */
static double sampled_distance(const mn_shape *s, const mn_vec3 *surface, int count, mn_vec3 x)
{
  double best = INFINITY;
  for (int i = 0; i < count; i++)
    best = fmin(best, mn_length(mn_sub(x, surface[i])));
  return mn_shape_distance(s, x) < 0 ? -best : best;
}

static int sample_surface(const mn_shape *s, int dim, uint64_t *seed, mn_vec3 *out, int count)
{
  int found = 0;
  for (int trial = 0; trial < 100 * count && found < count; trial++) {
    mn_vec3 a = random_point(seed, dim, 1.5), b = random_point(seed, dim, 1.5);
    double da = mn_shape_distance(s, a), db = mn_shape_distance(s, b);
    if ((da < 0) == (db < 0))
      continue;
    for (int i = 0; i < 60; i++) {
      mn_vec3 m = mn_scale(0.5, mn_add(a, b));
      if ((mn_shape_distance(s, m) < 0) == (da < 0))
        a = m;
      else
        b = m;
    }
    out[found++] = a;
  }
  return found;
}

/* ---- primitives ------------------------------------------------------------------------------ */

static int inside_by_definition(int which, int dim, mn_vec3 x)
{
  if (dim == 2)
    x.z = 0;
  mn_vec3 p;
  switch (which) {
  case 0:
    return x.x > -0.3 && x.x < 0.4 && x.y > -0.5 && x.y < 0.1 &&
           (dim == 2 || (x.z > -0.2 && x.z < 0.3));
  case 1:
    p = mn_sub(x, mn_v3(0.1, -0.2, dim == 3 ? 0.15 : 0));
    return mn_dot(p, p) < 0.45 * 0.45;
  case 2:
    return 3 * (x.x - 0.1) - 2 * (x.y - 0.1) + (dim == 3 ? x.z - 0.1 : 0) < 0;
  case 3:
    for (int i = 0; i <= 2000; i++) {
      double t = i / 2000.0;
      p = mn_sub(x, mn_v3(-0.4 + 0.7 * t, -0.1 + 0.5 * t, dim == 3 ? 0.2 - 0.5 * t : 0));
      if (mn_dot(p, p) < 0.04)
        return 1;
    }
    return 0;
  default:
    p = mn_sub(x, mn_v3(0.05, 0, dim == 3 ? -0.1 : 0));
    double h = dim == 3 ? (p.x + 2 * p.y + 2 * p.z) / 3 : 0;
    double rho = sqrt(mn_dot(p, p) - h * h);
    return (rho - 0.5) * (rho - 0.5) + h * h < 0.17 * 0.17;
  }
}

static void test_primitives_have_exact_distances(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static mn_vec3 surface[4000];
  for (int dim = 2; dim <= 3; dim++) {
    named_shape s[PRIMITIVES];
    make_primitives(ctx, dim, s);
    for (int i = 0; i < PRIMITIVES; i++) {
      uint64_t seed = 11;
      int wrong = 0, count = sample_surface(s[i].shape, dim, &seed, surface, 4000);
      double eikonal = 0, high = 0, low = 0;
      for (int trial = 0; trial < 400; trial++) {
        mn_vec3 x = random_point(&seed, dim, 0.9);
        double d = mn_shape_distance(s[i].shape, x);
        if (fabs(d) > 1e-3)
          wrong += (d < 0) != inside_by_definition(i, dim, x);
        /* the gradient has length 1 but on the few points near a ridge */
        double slope = mn_length(gradient(s[i].shape, dim, x));
        eikonal += fabs(slope - 1) > 1e-6;
        double sampled = fabs(sampled_distance(s[i].shape, surface, count, x));
        high = check_worst(high, fabs(d) - sampled);
        low = check_worst(low, sampled - fabs(d));
      }
      printf("%s in %dD, %d surface points\n", s[i].name, dim, count);
      CHECK_LE((double)wrong, 0);
      CHECK_LE(eikonal, 4);
      CHECK_LE(high, 1e-12);                 /* never more than the distance to a surface point */
      CHECK_LE(low, dim == 2 ? 0.01 : 0.12); /* nor less than the sampling can tell */
    }
    destroy_all(s, PRIMITIVES);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Cylinders and tubes, 3D only: the same, and their boxes. */
static void test_cylinders(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static mn_vec3 surface[4000];
  mn_vec3 a = mn_v3(-0.3, -0.2, 0.1), b = mn_v3(0.3, 0.4, 0.4), d = mn_scale(1 / 0.9, mn_sub(b, a));
  for (int hollow = 0; hollow < 2; hollow++) {
    mn_shape *s;
    double inner = hollow * 0.25;
    CHECK_OK(ctx, mn_shape_cylinder(ctx, 3, a, b, 0.4, inner, &s));
    uint64_t seed = 11;
    int wrong = 0, count = sample_surface(s, 3, &seed, surface, 4000);
    double high = 0, low = 0;
    mn_vec3 lo, hi;
    mn_shape_bounds(s, &lo, &hi);
    for (int i = 0; i < 3; i++) {
      double reach = 0.4 * sqrt(1 - d.v[i] * d.v[i]);
      CHECK_NEAR(lo.v[i], mn_min(a.v[i], b.v[i]) - reach, 1e-14);
      CHECK_NEAR(hi.v[i], mn_max(a.v[i], b.v[i]) + reach, 1e-14);
    }
    for (int trial = 0; trial < 400; trial++) {
      mn_vec3 x = random_point(&seed, 3, 0.9), p = mn_sub(x, a);
      double z = mn_dot(p, d), rho = mn_length(mn_madd(p, -z, d));
      double dist = mn_shape_distance(s, x), sampled = fabs(sampled_distance(s, surface, count, x));
      wrong += (dist < 0) != (z > 0 && z < 0.9 && rho < 0.4 && rho >= inner);
      high = check_worst(high, fabs(dist) - sampled);
      low = check_worst(low, sampled - fabs(dist));
    }
    CHECK(wrong == 0);
    CHECK_LE(high, 1e-12);
    CHECK_LE(low, 0.12);
    mn_shape_destroy(&s);
  }
  mn_shape *s;
  CHECK_FAILS(ctx, mn_shape_cylinder(ctx, 2, a, b, 0.4, 0, &s), MN_BAD_INPUT, "3 dimensions");
  CHECK_FAILS(ctx, mn_shape_cylinder(ctx, 3, a, a, 0.4, 0, &s), MN_BAD_INPUT, "length is 0");
  CHECK_FAILS(ctx, mn_shape_cylinder(ctx, 3, a, b, 0.4, 0.4, &s), MN_BAD_INPUT, "inner");
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_two_dimensions_ignore_z(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  named_shape s[PRIMITIVES];
  make_primitives(ctx, 2, s);
  for (int i = 0; i < PRIMITIVES; i++) {
    CHECK(mn_shape_dim(s[i].shape) == 2);
    CHECK(mn_shape_distance(s[i].shape, mn_v3(0.3, 0.2, 5)) ==
          mn_shape_distance(s[i].shape, mn_v3(0.3, 0.2, 0)));
  }
  mn_shape *disk;
  CHECK_OK(ctx, mn_shape_sphere(ctx, 2, mn_v3(0, 0, NAN), 1, &disk));
  CHECK_NEAR(mn_shape_distance(disk, mn_v3(3, 4, 0)), 4, 1e-15);
  mn_shape_destroy(&disk);
  destroy_all(s, PRIMITIVES);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* ---- compositions ---------------------------------------------------------------------------- */

static void test_compositions_are_set_operations(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (int dim = 2; dim <= 3; dim++)
    for (int kind = 0; kind < 3; kind++) {
      named_shape s[PRIMITIVES], t[PRIMITIVES];
      make_primitives(ctx, dim, s);
      make_primitives(ctx, dim, t);
      mn_shape *part[3] = {t[1].shape, t[0].shape, t[3].shape}, *whole;
      CHECK_OK(ctx, (kind == 0   ? mn_shape_union
                     : kind == 1 ? mn_shape_intersection
                                 : mn_shape_difference)(ctx, part, 3, &whole));
      uint64_t seed = 3;
      int wrong = 0;
      double lipschitz = 0;
      for (int trial = 0; trial < 5000; trial++) {
        mn_vec3 x = random_point(&seed, dim, 0.9), y = random_point(&seed, dim, 0.9);
        int a = mn_shape_distance(s[1].shape, x) < 0, b = mn_shape_distance(s[0].shape, x) < 0;
        int c = mn_shape_distance(s[3].shape, x) < 0;
        int in = kind == 0 ? a || b || c : kind == 1 ? a && b && c : a && !b && !c;
        wrong += in != (mn_shape_distance(whole, x) < 0);
        lipschitz =
            fmax(lipschitz, fabs(mn_shape_distance(whole, x) - mn_shape_distance(whole, y)) /
                                mn_length(mn_sub(x, y)));
      }
      CHECK_LE((double)wrong, 0);
      CHECK_LE(lipschitz, 1 + 1e-9);
      mn_shape_destroy(&whole);
      destroy_all(s, PRIMITIVES);
      mn_shape_destroy(&t[2].shape);
      mn_shape_destroy(&t[4].shape);
    }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_transform_moves_the_distance(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (int dim = 2; dim <= 3; dim++) {
    named_shape s[PRIMITIVES], t[PRIMITIVES];
    make_primitives(ctx, dim, s);
    make_primitives(ctx, dim, t);
    mn_vec3 axis = dim == 3 ? mn_v3(2, -1, 2) : mn_v3(0, 0, 3), shift = mn_v3(0.3, -0.2, 0.5);
    double angle = 0.7, scale = 1.7, worst = 0;
    mn_vec3 unit = mn_scale(1 / mn_length(axis), axis);
    uint64_t seed = 5;
    for (int i = 0; i < PRIMITIVES; i++) {
      CHECK_OK(ctx, mn_shape_transform(ctx, t[i].shape, shift, axis, angle, scale, &t[i].shape));
      for (int trial = 0; trial < 200; trial++) {
        mn_vec3 x = random_point(&seed, dim, 1);
        mn_vec3 y = mn_add(shift, mn_rotate(mn_scale(scale, x), unit, angle));
        worst = check_worst(worst, fabs(mn_shape_distance(t[i].shape, y) -
                                        scale * mn_shape_distance(s[i].shape, x)));
      }
    }
    CHECK_LE(worst, 1e-14);
    destroy_all(s, PRIMITIVES);
    destroy_all(t, PRIMITIVES);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* Every inside point is within the bounds, and surface points come close to each of them. */
static void check_tight(const mn_shape *s, int dim, double slack)
{
  static mn_vec3 surface[3000];
  uint64_t seed = 19;
  int count = sample_surface(s, dim, &seed, surface, 3000);
  mn_vec3 lo, hi;
  mn_shape_bounds(s, &lo, &hi);
  double outside = 0, gap = 0;
  for (int a = 0; a < dim; a++) {
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < count; i++) {
      least = fmin(least, surface[i].v[a]);
      most = check_worst(most, surface[i].v[a]);
    }
    outside = check_worst(outside, check_worst(lo.v[a] - least, most - hi.v[a]));
    gap = check_worst(gap, check_worst(least - lo.v[a], hi.v[a] - most));
  }
  CHECK_LE(outside, 1e-12);
  CHECK_LE(gap, slack);
}

static void check_bounds(const mn_shape *s, mn_vec3 low, mn_vec3 high)
{
  mn_vec3 lo, hi;
  mn_shape_bounds(s, &lo, &hi);
  CHECK_LE(mn_length(mn_sub(lo, low)), 1e-14);
  CHECK_LE(mn_length(mn_sub(hi, high)), 1e-14);
}

static void test_bounds_hold_and_are_tight(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (int dim = 2; dim <= 3; dim++) {
    named_shape s[PRIMITIVES];
    make_primitives(ctx, dim, s);
    mn_shape *part[4] = {s[0].shape, s[1].shape, s[3].shape, s[4].shape}, *whole;
    for (int i = 0; i < 4; i++) {
      check_tight(part[i], dim, 0.07);
      CHECK_OK(ctx, mn_shape_transform(ctx, part[i], mn_v3(0.2, 0.1, 0), mn_v3(0, 0, 1), 0.6, 0.9,
                                       &part[i]));
      check_tight(part[i], dim, 0.07);
    }
    CHECK_OK(ctx, mn_shape_union(ctx, part, 4, &whole));
    check_tight(whole, dim, 0.07);
    mn_shape_destroy(&whole);
    mn_shape_destroy(&s[2].shape);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_bounds_of_half_spaces(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_vec3 lo, hi;
  mn_shape *s, *part[2];
  CHECK_OK(ctx, mn_shape_half_space(ctx, 2, mn_v3(0, 0.4, 0), mn_v3(0, 2, 0), &s));
  mn_shape_bounds(s, &lo, &hi);
  CHECK(lo.x == -INFINITY && hi.x == INFINITY && lo.y == -INFINITY && lo.z == 0 && hi.z == 0);
  CHECK_NEAR(hi.y, 0.4, 1e-15);
  CHECK_OK(ctx, mn_shape_transform(ctx, s, mn_v3(1, 0, 0), mn_v3(0, 0, 1), MN_PI / 2, 2, &s));
  mn_shape_bounds(s, &lo, &hi); /* now x > 1 - 0.8 is inside */
  CHECK_NEAR(lo.x, 0.2, 1e-14);
  CHECK(hi.x == INFINITY && lo.y == -INFINITY && hi.y == INFINITY);
  part[0] = s;
  CHECK_OK(ctx, mn_shape_sphere(ctx, 2, mn_v3(0, 0, 0), 1, &part[1]));
  CHECK_OK(ctx, mn_shape_intersection(ctx, part, 2, &s));
  mn_shape_bounds(s, &lo, &hi);
  CHECK_NEAR(lo.x, 0.2, 1e-14);
  CHECK_NEAR(hi.x, 1, 1e-14);
  mn_shape_destroy(&s);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* A block of half-spaces, or of a half-space less others, turned: what each bounds alone is not
   finite along any axis. And a tetrahedron, along whose axes none ever is. */
static void test_bounds_of_turned_half_spaces(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (int dim = 2; dim <= 3; dim++)
    for (int less = 0; less < 2; less++) {
      mn_shape *side[6], *whole;
      for (int i = 0; i < 2 * dim; i++) {
        mn_vec3 n = {0};
        n.v[i / 2] = i % 2 ? 1 : -1;
        mn_vec3 out = less && i > 0 ? mn_scale(-1, n) : n;
        CHECK_OK(ctx, mn_shape_half_space(ctx, dim, mn_scale(0.1 * (i + 1), n), out, &side[i]));
      }
      CHECK_OK(ctx, less ? mn_shape_difference(ctx, side, 2 * dim, &whole)
                         : mn_shape_intersection(ctx, side, 2 * dim, &whole));
      mn_vec3 axis = dim == 2 ? mn_v3(0, 0, 1) : mn_v3(1, 2, 2);
      CHECK_OK(ctx, mn_shape_transform(ctx, whole, mn_v3(0.2, 0.1, 0), axis, 0.6, 0.9, &whole));
      check_tight(whole, dim, 0.07);
      mn_shape_destroy(&whole);
    }
  mn_shape *side[4], *whole;
  for (int i = 0; i < 4; i++) {
    mn_vec3 n = mn_v3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, (i & 1) == i >> 1 ? 1 : -1);
    CHECK_OK(ctx, mn_shape_half_space(ctx, 3, mn_scale(0.1, n), n, &side[i]));
  }
  CHECK_OK(ctx, mn_shape_intersection(ctx, side, 4, &whole));
  check_bounds(whole, mn_v3(-0.3, -0.3, -0.3), mn_v3(0.3, 0.3, 0.3));
  mn_shape_destroy(&whole);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void test_bad_sizes_are_named(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_vec3 o = {0}, e = mn_v3(1, 1, 1), x = mn_v3(1, 0, 0);
  mn_shape *s;
  CHECK_FAILS(ctx, mn_shape_box(ctx, 3, o, mn_v3(1, 0, 1), &s), MN_BAD_INPUT, "y-size is 0");
  CHECK_FAILS(ctx, mn_shape_box(ctx, 3, o, mn_v3(1, 1, -2), &s), MN_BAD_INPUT, "z-size is -2");
  CHECK_FAILS(ctx, mn_shape_box(ctx, 2, o, mn_v3(NAN, 1, 1), &s), MN_BAD_INPUT, "nan");
  CHECK_FAILS(ctx, mn_shape_sphere(ctx, 3, o, 0, &s), MN_BAD_INPUT, "radius is 0");
  CHECK_FAILS(ctx, mn_shape_sphere(ctx, 3, o, -1, &s), MN_BAD_INPUT, "radius is -1");
  CHECK_FAILS(ctx, mn_shape_sphere(ctx, 3, o, NAN, &s), MN_BAD_INPUT, "radius is nan");
  CHECK_FAILS(ctx, mn_shape_sphere(ctx, 3, o, INFINITY, &s), MN_BAD_INPUT, "radius is inf");
  CHECK_FAILS(ctx, mn_shape_sphere(ctx, 3, mn_v3(0, 0, NAN), 1, &s), MN_BAD_INPUT, "z-component");
  CHECK_FAILS(ctx, mn_shape_half_space(ctx, 3, o, o, &s), MN_BAD_INPUT, "zero vector");
  CHECK_FAILS(ctx, mn_shape_half_space(ctx, 2, o, mn_v3(0, 0, 1), &s), MN_BAD_INPUT, "zero vector");
  CHECK_FAILS(ctx, mn_shape_capsule(ctx, 3, o, e, -0.5, &s), MN_BAD_INPUT, "radius is -0.5");
  CHECK_FAILS(ctx, mn_shape_torus(ctx, 3, o, o, 1, 0.5, &s), MN_BAD_INPUT, "axis");
  CHECK_FAILS(ctx, mn_shape_torus(ctx, 3, o, x, 1, 1, &s), MN_BAD_INPUT, "less than the major");
  CHECK_FAILS(ctx, mn_shape_torus(ctx, 2, o, x, 1, 0, &s), MN_BAD_INPUT, "minor radius is 0");
  CHECK_FAILS(ctx, mn_shape_union(ctx, NULL, 0, &s), MN_BAD_INPUT, "at least one");
  for (int i = 0; i < 6; i++) {
    mn_shape *part;
    CHECK_OK(ctx, mn_shape_sphere(ctx, i == 5 ? 2 : 3, o, 1, &part));
    static const char *const words[6] = {"scale is 0",  "scale is nan", "angle is nan",
                                         "translation", "zero vector",  "must be along z"};
    CHECK_FAILS(ctx,
                mn_shape_transform(ctx, part, i == 3 ? mn_v3(INFINITY, 0, 0) : o, i == 4 ? o : x,
                                   i == 2 ? NAN : 1,
                                   i == 0   ? 0
                                   : i == 1 ? NAN
                                            : 1,
                                   &s),
                MN_BAD_INPUT, words[i]);
    CHECK(s == NULL);
  }
  mn_shape *mixed[2];
  CHECK_OK(ctx, mn_shape_sphere(ctx, 2, o, 1, &mixed[0]));
  CHECK_OK(ctx, mn_shape_sphere(ctx, 3, o, 1, &mixed[1]));
  CHECK_FAILS(ctx, mn_shape_union(ctx, mixed, 2, &s), MN_BAD_INPUT, "2 and 3 dimensions");
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_deep_nesting_is_refused(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_shape *s;
  CHECK_OK(ctx, mn_shape_sphere(ctx, 2, mn_v3(0, 0, 0), 1, &s));
  mn_status status = MN_OK;
  int depth = 1;
  while (status == MN_OK && depth++ < 100000)
    status = mn_shape_union(ctx, &s, 1, &s);
  CHECK_FAILS(ctx, status, MN_BAD_INPUT, "at most 256");
  CHECK(s == NULL && depth == 257);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Fails every allocation once; leaks show under the asan preset. */
static void test_allocation_failures_release_the_parts(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_status status = MN_ENVIRONMENT;
  int fail = 0;
  for (; status != MN_OK && fail < 100; fail++) {
    ctx->allocations = 0;
    ctx->fail_allocation = fail;
    mn_shape *part[2] = {0}, *s = NULL;
    status = mn_shape_sphere(ctx, 3, mn_v3(0, 0, 0), 1, &part[0]);
    if (status == MN_OK)
      status = mn_shape_box(ctx, 3, mn_v3(0, 0, 0), mn_v3(1, 1, 1), &part[1]);
    if (status == MN_OK)
      status = mn_shape_difference(ctx, part, 2, &s);
    else {
      mn_shape_destroy(&part[0]);
      continue;
    }
    if (status == MN_OK)
      status = mn_shape_transform(ctx, s, mn_v3(1, 0, 0), mn_v3(0, 0, 1), 1, 2, &s);
    CHECK((status == MN_OK) == (s != NULL));
    mn_shape_destroy(&s);
    if (fail == 0)
      status = MN_ENVIRONMENT; /* the run without a failure does not end the sweep */
  }
  CHECK(fail == 8); /* 6 allocations, each failed once, then success */
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Two boxes on a lattice of 1/4, `shift` lattice steps aside, that have a part of a face in common;
   in 3D they are extended along z alike. */
static mn_shape *two_boxes(mn_context *ctx, int dim, int shift)
{
  mn_shape *part[2], *s;
  double y = 0.25 * shift;
  CHECK_OK(ctx, mn_shape_box(ctx, dim, mn_v3(-0.75, -0.5, -0.5), mn_v3(0, 0.5, 0.5), &part[0]));
  CHECK_OK(ctx, mn_shape_box(ctx, dim, mn_v3(0, y - 0.5, -0.5), mn_v3(1, y + 0.5, 0.5), &part[1]));
  CHECK_OK(ctx, mn_shape_union(ctx, part, 2, &s));
  return s;
}

/* Nothing ends where two parts have a face in common; and |d| is no more than the distance: all
   points nearer than that are in one of the boxes. */
static void test_shared_faces(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  uint64_t seed = 11;
  for (int dim = 2; dim <= 3; dim++)
    for (int shift = 0; shift < 4; shift++) {
      mn_shape *s = two_boxes(ctx, dim, shift);
      double open = 1 - 0.25 * shift, middle = 0.125 * shift, outside = 0, steep = 0;
      CHECK_LE(mn_shape_distance(s, mn_v3(0, middle, 0)), -0.6 * mn_min(0.375, 0.5 * open));
      CHECK_LE(mn_shape_distance(s, mn_v3(1e-4, middle, 0)), -0.6 * mn_min(0.375, 0.5 * open));
      if (shift) /* below the second box, and at the end of the common part */
        CHECK_NEAR(mn_shape_distance(s, mn_v3(0, -0.5 + 0.125 * shift, 0)), 0, 1e-12);
      CHECK_NEAR(mn_shape_distance(s, mn_v3(0, 0.5, 0)), 0, 1e-12);
      for (int i = 0; i < 2000; i++) {
        mn_vec3 x = random_point(&seed, dim, 0.6), u = random_point(&seed, dim, 1);
        if (i % 2)
          x.x = 0;
        double d = mn_shape_distance(s, x);
        if (mn_length(u) < 0.1)
          continue;
        steep = mn_max(steep, fabs(mn_shape_distance(s, mn_madd(x, 1e-3, u)) - d) / mn_length(u));
        if (d >= 0)
          continue;
        mn_vec3 z = mn_madd(x, -0.999 * d / mn_length(u), u);
        outside = mn_max(
            outside, mn_min(mn_shape_distance(s->part[0], z), mn_shape_distance(s->part[1], z)));
      }
      CHECK_LE(outside, 1e-9);
      CHECK_LE(steep, 1.0001e-3);
      mn_shape_destroy(&s);
    }
  mn_shape *part[3], *s;
  CHECK_OK(ctx, mn_shape_box(ctx, 3, mn_v3(-2, -2, -2), mn_v3(2, 2, 2), &part[0]));
  CHECK_OK(ctx, mn_shape_box(ctx, 3, mn_v3(-1, -1, -1), mn_v3(1, 0, 1), &part[1]));
  CHECK_OK(ctx, mn_shape_cylinder(ctx, 3, mn_v3(0.1, 0, 0), mn_v3(0.1, 1, 0), 0.4, 0, &part[2]));
  CHECK_OK(ctx, mn_shape_difference(ctx, part, 3, &s));
  CHECK_GE(mn_shape_distance(s, mn_v3(0.1, 0, 0)), 0.39);       /* a pipe out of a tank: open, */
  CHECK_NEAR(mn_shape_distance(s, mn_v3(0.8, 0, 0)), 0, 1e-12); /* but for the lid around it */
  mn_shape_destroy(&s);
  CHECK_OK(ctx, mn_shape_box(ctx, 2, mn_v3(-2, -2, 0), mn_v3(2, 2, 0), &s));
  for (int i = 0; i < 40; i++) { /* one taken away after the other; it must not take for ever */
    part[0] = s;
    CHECK_OK(ctx, mn_shape_box(ctx, 2, mn_v3(-1 + 0.05 * i, -1, 0), mn_v3(-0.95 + 0.05 * i, 1, 0),
                               &part[1]));
    CHECK_OK(ctx, mn_shape_difference(ctx, part, 2, &s));
  }
  for (int i = 1; i < 40; i++)
    CHECK_GE(mn_shape_distance(s, mn_v3(-1 + 0.05 * i, 0.3, 0)), 0.01);
  mn_shape_destroy(&s);
  CHECK_OK(ctx, mn_shape_box(ctx, 2, mn_v3(-1, -1, 0), mn_v3(0, 0, 0), &part[0]));
  CHECK_OK(ctx, mn_shape_box(ctx, 2, mn_v3(0, 0, 0), mn_v3(1, 1, 0), &part[1]));
  CHECK_OK(ctx, mn_shape_union(ctx, part, 2, &s));
  CHECK_NEAR(mn_shape_distance(s, mn_v3(0, 0, 0)), 0, 1e-12); /* a corner is no face */
  CHECK_NEAR(mn_shape_distance(s, mn_v3(0, -0.3, 0)), 0, 1e-12);
  mn_shape_destroy(&s);
  CHECK_OK(ctx, mn_shape_box(ctx, 2, mn_v3(-1, -1, 0), mn_v3(-1e-6, 1, 0), &part[0]));
  CHECK_OK(ctx, mn_shape_box(ctx, 2, mn_v3(0, -1, 0), mn_v3(1, 1, 0), &part[1]));
  CHECK_OK(ctx, mn_shape_union(ctx, part, 2, &s));
  CHECK_DONE();
  CHECK_LE(mn_shape_distance(s, mn_v3(0, 0, 0)), -0.1); /* control: a slit between them is one */
  mn_shape_destroy(&s);
  mn_context_destroy(&ctx);
  CHECK_MUST_HAVE_FAILED();
}

/* A union's inside is not an exact distance: the check of the primitives must see that. */
static void test_negative_control_inexact_distance(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_shape *part[2], *s;
  CHECK_OK(ctx, mn_shape_box(ctx, 2, mn_v3(-0.5, -0.5, 0), mn_v3(0, 0.5, 0), &part[0]));
  CHECK_OK(ctx, mn_shape_box(ctx, 2, mn_v3(0, -0.5, 0), mn_v3(0.5, 0.5, 0), &part[1]));
  CHECK_OK(ctx, mn_shape_union(ctx, part, 2, &s));
  CHECK_NEAR(mn_shape_distance(s, mn_v3(0.05, 0, 0)), -0.45, 1e-3);
  mn_shape_destroy(&s);
  mn_context_destroy(&ctx);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_primitives_have_exact_distances),
      cmocka_unit_test(test_cylinders),
      cmocka_unit_test(test_two_dimensions_ignore_z),
      cmocka_unit_test(test_compositions_are_set_operations),
      cmocka_unit_test(test_shared_faces),
      cmocka_unit_test(test_transform_moves_the_distance),
      cmocka_unit_test(test_bounds_hold_and_are_tight),
      cmocka_unit_test(test_bounds_of_half_spaces),
      cmocka_unit_test(test_bounds_of_turned_half_spaces),
      cmocka_unit_test(test_bad_sizes_are_named),
      cmocka_unit_test(test_deep_nesting_is_refused),
      cmocka_unit_test(test_allocation_failures_release_the_parts),
      cmocka_unit_test(test_negative_control_inexact_distance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
