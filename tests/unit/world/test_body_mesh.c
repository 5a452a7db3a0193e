/* Meshes of turned, moved and scaled bodies are those of the bodies as they were, moved: exact
   volumes, corners kept. */
#include "check.h"

#include <stdio.h>

#include "geom/fill.h"
#include "geom/surface_mesh.h"
#include "math/vec.h"
#include "world/body_mesh.h"

static const char BOX[] = "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 0 1 0\nv 0 0 1\nv 2 0 1\nv 2 1 1\n"
                          "v 0 1 1\nf 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\n"
                          "f 4 1 5 8\n";
static const double SCALE[2] = {0.3, 1.5};

enum { BLOCK, FILE_BOX, CYLINDER };

/* Twice transformed; in 2D about z. */
static mn_shape *turned(mn_context *ctx, int dim, int what)
{
  mn_shape *s;
  char path[128];
  if (what == FILE_BOX) {
    snprintf(path, sizeof path, "%s/box.obj", check_folder);
    FILE *file = fopen(path, "w");
    fputs(BOX, file);
    fclose(file);
    CHECK_OK(ctx, mn_shape_mesh(ctx, path, &s));
  } else if (what == CYLINDER) {
    CHECK_OK(ctx, mn_shape_cylinder(ctx, 3, mn_v3(0, 0, 0), mn_v3(2, 0, 0), 0.5, 0, &s));
  } else {
    CHECK_OK(ctx, mn_shape_box(ctx, dim, mn_v3(0, 0, 0), mn_v3(2, 1, 1), &s));
  }
  mn_vec3 axis = dim == 3 ? mn_v3(1, 2, -1) : mn_v3(0, 0, 1);
  CHECK_OK(ctx, mn_shape_transform(ctx, s, mn_v3(0.4, 0.1, 0), axis, 0.6, SCALE[0], &s));
  CHECK_OK(ctx, mn_shape_transform(ctx, s, mn_v3(1, 2, 0), mn_v3(0, 0, 1), 0.5, SCALE[1], &s));
  return s;
}

/* Rodrigues' rotation. */
static mn_vec3 moved(mn_vec3 x, mn_vec3 by, mn_vec3 axis, double angle, double scale)
{
  mn_vec3 k = mn_scale(1 / mn_length(axis), axis), y = mn_scale(cos(angle), x);
  y = mn_madd(y, sin(angle), mn_cross(k, x));
  y = mn_madd(y, (1 - cos(angle)) * mn_dot(k, x), k);
  return mn_madd(by, scale, y);
}

/* The greatest distance of a corner of the turned box from the nearest node. */
static double corners_off(const mn_simplex_mesh *m)
{
  double most = 0;
  for (int c = 0; c < (m->dim == 3 ? 8 : 4); c++) {
    mn_vec3 x = mn_v3(2 * (c & 1), c >> 1 & 1, c >> 2);
    x = moved(x, mn_v3(0.4, 0.1, 0), m->dim == 3 ? mn_v3(1, 2, -1) : mn_v3(0, 0, 1), 0.6, SCALE[0]);
    x = moved(x, mn_v3(1, 2, 0), mn_v3(0, 0, 1), 0.5, SCALE[1]);
    double least = HUGE_VAL;
    for (size_t i = 0; i < m->nodes; i++)
      least = mn_min(least, mn_length(mn_sub(m->node[i], x)));
    most = mn_max(most, least);
  }
  return most;
}

/* What the surface of a mesh, full or a surface itself, bounds. */
static double volume_of(mn_context *ctx, const mn_simplex_mesh *m)
{
  mn_simplex_mesh surface;
  if (m->corners == m->dim)
    return mn_surface_volume(m, NULL);
  CHECK_OK(ctx, mn_surface_of_mesh(ctx, m, &surface));
  double volume = mn_surface_volume(&surface, NULL);
  mn_simplex_mesh_destroy(&surface);
  return volume;
}

static void test_turned(void **state)
{
  (void)state;
  static const char *const names[] = {"box", "file", "cylinder"};
  mn_context *ctx = check_context(1);
  for (int dim = 2; dim <= 3; dim++)
    for (int what = BLOCK; what <= (dim == 3 ? CYLINDER : BLOCK); what++)
      for (int kind = MN_BODY_RIGID; kind <= MN_BODY_ELASTIC; kind++) {
        mn_simplex_mesh m;
        mn_shape *shape = turned(ctx, dim, what);
        mn_body_def def = {.kind = (mn_body_kind)kind, .shape = shape, .file = "", .order = 1};
        double s = SCALE[0] * SCALE[1], exact = pow(s, dim) * 2;
        if (what == CYLINDER)
          exact *= MN_PI / 4;
        CHECK_OK(ctx, mn_body_mesh(ctx, dim, &def, 0.1, &m));
        double off = corners_off(&m), volume = volume_of(ctx, &m) / exact;
        printf("%dD, %s %s: %zu nodes, volume - 1 = %.1e, corners off by %.1e\n", dim,
               kind == MN_BODY_RIGID ? "rigid" : "elastic", names[what], m.nodes, volume - 1, off);
        if (what == CYLINDER) {
          CHECK_LE(volume, 1); /* a polygon in its circle */
          CHECK_GE(volume, 0.9);
        } else if (what == BLOCK || kind == MN_BODY_RIGID) {
          CHECK_NEAR(volume, 1, 1e-13);
          CHECK_LE(off, 1e-14);
        }
        mn_simplex_mesh_destroy(&m);
        mn_shape_destroy(&shape);
      }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* The control: a lattice that does not turn cuts the corners off. */
static void test_filled(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_shape *shape = turned(ctx, 2, BLOCK);
  mn_simplex_mesh m;
  CHECK_OK(ctx, mn_fill(ctx, shape, 0.1, &m));
  CHECK_LE(corners_off(&m), 1e-3);
  mn_simplex_mesh_destroy(&m);
  mn_shape_destroy(&shape);
  mn_context_destroy(&ctx);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_turned), cmocka_unit_test(test_filled)};
  return cmocka_run_group_tests(tests, check_folder_make, check_folder_remove);
}
