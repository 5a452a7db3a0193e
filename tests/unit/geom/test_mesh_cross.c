/* Surfaces that meet themselves, and those that do not. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/status.h"
#include "check.h"
#include "geom/mesh.h"
#include "math/vec.h"

enum { TEXT = 1 << 22 };
static char text[TEXT];
static size_t length;
static int vertices;

static void begin(void)
{
  length = 0;
  vertices = 0;
}

static void vertex(double x, double y, double z)
{
  length += (size_t)snprintf(text + length, TEXT - length, "v %.17g %.17g %.17g\n", x, y, z);
}

static void face(int a, int b, int c)
{
  length += (size_t)snprintf(text + length, TEXT - length, "f %d %d %d\n", vertices + a,
                             vertices + b, vertices + c);
}

static void cube(mn_vec3 lo, mn_vec3 size)
{
  static const int quad[6][4] = {{1, 3, 4, 2}, {5, 6, 8, 7}, {1, 2, 6, 5},
                                 {3, 7, 8, 4}, {1, 5, 7, 3}, {2, 4, 8, 6}};
  for (int c = 0; c < 8; c++)
    vertex(lo.x + size.x * (c & 1), lo.y + size.y * (c >> 1 & 1), lo.z + size.z * (c >> 2));
  for (int f = 0; f < 6; f++) {
    face(quad[f][0], quad[f][1], quad[f][2]);
    face(quad[f][0], quad[f][2], quad[f][3]);
  }
  vertices += 8;
}

/* A closed tube of the radius r along a closed curve in the plane z = lift(t). */
typedef mn_vec3 curve(double t);

static mn_vec3 circle(double t)
{
  return mn_v3(cos(t), sin(t), 0);
}

static mn_vec3 eight_flat(double t) /* meets itself in the middle */
{
  return mn_v3(sin(t), sin(2 * t) / 2, 0);
}

static mn_vec3 eight_lifted(double t) /* passes over itself, 0.6 apart */
{
  return mn_v3(sin(t), sin(2 * t) / 2, 0.3 * cos(t));
}

static void tube(curve *at, double r, int along, int around)
{
  for (int i = 0; i < along; i++) {
    double t = 2 * MN_PI * i / along;
    mn_vec3 c = at(t), d = mn_sub(at(t + 1e-5), at(t - 1e-5)), up = mn_v3(0, 0, 1);
    mn_vec3 n = mn_cross(d, up);
    n = mn_scale(1 / mn_length(n), n);
    mn_vec3 b = mn_cross(n, d);
    b = mn_scale(1 / mn_length(b), b);
    for (int j = 0; j < around; j++) {
      double a = 2 * MN_PI * j / around;
      mn_vec3 x = mn_madd(mn_madd(c, r * cos(a), n), r * sin(a), b);
      vertex(x.x, x.y, x.z);
    }
  }
  for (int i = 0; i < along; i++)
    for (int j = 0; j < around; j++) {
      int i1 = (i + 1) % along, j1 = (j + 1) % around;
      int p = 1 + i * around + j, q = 1 + i1 * around + j;
      int s = 1 + i * around + j1, u = 1 + i1 * around + j1;
      face(p, q, u);
      face(p, u, s);
    }
  vertices += along * around;
}

/* A ball of rings between poles whose triangles are thin. */
static void ball(int n, double x)
{
  vertex(x, 0, 1);
  vertex(x, 0, -1);
  for (int i = 1; i < n; i++)
    for (int j = 0; j < 2 * n; j++)
      vertex(x + sin(MN_PI * i / n) * cos(MN_PI * j / n), sin(MN_PI * i / n) * sin(MN_PI * j / n),
             cos(MN_PI * i / n));
  for (int j = 0; j < 2 * n; j++) {
    int next = (j + 1) % (2 * n), last = 3 + (n - 2) * 2 * n;
    face(1, 3 + j, 3 + next);
    face(2, last + next, last + j);
    for (int i = 0; i + 2 < n; i++) {
      int a = 3 + i * 2 * n, b = a + 2 * n;
      face(a + j, b + j, b + next);
      face(a + j, b + next, a + next);
    }
  }
  vertices += 2 + (n - 1) * 2 * n;
}

/* A bar from z = -1 to 2 in three pieces, with corners at z = 0 and 1, within one triangle there.
 */
static void pillar(void)
{
  for (int k = 0; k < 4; k++)
    for (int c = 0; c < 4; c++)
      vertex(c == 1 || c == 2 ? 0.8 : 0.5, c >= 2 ? 0.3 : 0.1, k - 1);
  for (int k = 0; k < 3; k++)
    for (int c = 0; c < 4; c++) {
      int a = 1 + 4 * k + c, b = 1 + 4 * k + (c + 1) % 4;
      face(a, b, b + 4);
      face(a, b + 4, a + 4);
    }
  face(1, 3, 2), face(1, 4, 3), face(13, 14, 15), face(13, 15, 16);
  vertices += 16;
}

static mn_status judge(mn_context *ctx)
{
  mn_mesh *mesh;
  CHECK(length + 1 < TEXT);
  CHECK_OK(ctx, mn_mesh_parse(ctx, "t.obj", text, length, &mesh));
  if (!mesh)
    return MN_OK;
  clock_t start = clock();
  mn_status status = mn_mesh_check_crossings(ctx, mesh);
  printf("%zu triangles: %.3f s%s%s\n", mesh->triangles, (double)(clock() - start) / CLOCKS_PER_SEC,
         status == MN_OK ? "" : ", ", status == MN_OK ? "" : mn_context_message(ctx));
  mn_mesh_destroy(&mesh);
  return status;
}

static void test_clean(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_vec3 one = mn_v3(1, 1, 1), o = mn_v3(0, 0, 0);
  begin(), cube(o, one);
  CHECK_OK(ctx, judge(ctx));
  begin(), cube(o, one), cube(mn_v3(1.001, 0, 0), one);
  CHECK_OK(ctx, judge(ctx));
  begin(), cube(o, one), cube(mn_v3(0.2, 0.2, 0.2), mn_v3(0.5, 0.5, 0.5)); /* nested */
  CHECK_OK(ctx, judge(ctx));
  begin(), cube(o, one), cube(one, one); /* a corner in common, as two vertices */
  CHECK_OK(ctx, judge(ctx));
  begin(), cube(mn_v3(1e6, -1e6, 1e6), mn_v3(1e-3, 1, 1e-3)); /* far off and slender */
  CHECK_OK(ctx, judge(ctx));
  for (int n = 4; n <= 64; n *= 4) {
    begin(), ball(n, 0);
    CHECK_OK(ctx, judge(ctx));
    begin(), tube(circle, 0.4, 4 * n, n);
    CHECK_OK(ctx, judge(ctx));
  }
  begin(), ball(72, 0); /* 20448 triangles */
  CHECK_OK(ctx, judge(ctx));
  begin(), ball(16, 0), ball(16, 2.01);
  CHECK_OK(ctx, judge(ctx));
  begin(), tube(eight_lifted, 0.1, 200, 24);
  CHECK_OK(ctx, judge(ctx));
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_refused(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_vec3 one = mn_v3(1, 1, 1), o = mn_v3(0, 0, 0);
  const struct {
    mn_vec3 lo, size;
  } second[] = {
      {{{0.3, 0.4, 0.45}}, {{1, 1, 1}}},
      {{{0.5, 0.5, 0.5}}, {{1, 1, 1}}},      /* through the faces' diagonals */
      {{{0.25, 0.25, -1}}, {{0.5, 0.5, 3}}}, /* a bar right through */
      {{{0.25, 0.25, 0}}, {{0.5, 0.5, 2}}},  /* from face to beyond */
      {{{0.5, 0, 0}}, {{1, 1, 1}}},          /* along it */
      {{{0, 0, 0}}, {{1, 1, 1}}},            /* the same again */
      {{{0, 0, 0}}, {{1, 1, 2}}},            /* within the same walls */
      {{{0.25, 0.25, 1}}, {{0.5, 0.5, 1}}},  /* touches from above */
  };
  for (size_t i = 0; i < sizeof second / sizeof *second; i++) {
    begin(), cube(o, one), cube(second[i].lo, second[i].size);
    CHECK_FAILS(ctx, judge(ctx), MN_BAD_INPUT, "must not meet itself");
  }
  begin(), cube(o, one), pillar(); /* its vertices lie in the faces that it passes through */
  CHECK_FAILS(ctx, judge(ctx), MN_BAD_INPUT, "must not meet itself");
  /* flat: the top of a pyramid is pushed into its base, and beyond an edge */
  strcpy(text, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0.2 0.2 0\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
  length = strlen(text);
  CHECK_FAILS(ctx, judge(ctx), MN_BAD_INPUT, "must not meet itself");
  begin(), ball(16, 0), ball(16, 1.99); /* only the foremost triangles meet */
  CHECK_FAILS(ctx, judge(ctx), MN_BAD_INPUT, "must not meet itself");
  begin(), tube(eight_flat, 0.1, 200, 24);
  CHECK_FAILS(ctx, judge(ctx), MN_BAD_INPUT, "t.obj: line ");
  begin(), tube(eight_lifted, 0.31, 200, 24); /* too thick for the gap */
  CHECK_FAILS(ctx, judge(ctx), MN_BAD_INPUT, "must not meet itself");
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* The two triangles are named by their lines: a thorn of one tetrahedron through one face, and a
   face bent through its neighbour at a common corner. */
static void test_names(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static const char apart[] = "v 0 0 0\nv 4 0 0\nv 0 4 0\nv 0 0 4\n"
                              "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
                              "v 1 1 -2\nv 1.5 1 -2\nv 1 1.5 -2\nv 1.1 1.1 1\n"
                              "f 5 7 6\nf 5 6 8\nf 5 8 7\nf 6 7 8\n";
  strcpy(text, apart);
  length = strlen(text);
  CHECK_FAILS(ctx, judge(ctx), MN_BAD_INPUT, "line 5: a triangle crosses");
  /* a double pyramid whose lower tip 6 is pushed up through the upper faces beside corner 1 */
  static const char bent[] = "v 2 0 0\nv 0 2 0\nv -2 0 0\nv 0 -2 0\nv 0 0 1\nv %s\n"
                             "f 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n"
                             "f 2 1 6\nf 3 2 6\nf 4 3 6\nf 1 4 6\n";
  length = (size_t)snprintf(text, TEXT, bent, "0.3 0.3 -1");
  CHECK_OK(ctx, judge(ctx));
  length = (size_t)snprintf(text, TEXT, bent, "0.6 0.5 0.9");
  CHECK_FAILS(ctx, judge(ctx), MN_BAD_INPUT, "must not meet itself");
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_clean), cmocka_unit_test(test_refused),
                                     cmocka_unit_test(test_names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
