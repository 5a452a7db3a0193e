/* VTK files. Run alone: bytes do not depend on threads, a full disk and failing allocations leave
   nothing behind. With a folder as argument: writes samples there, which test_vtk.sh reads with
   VTK.
 */
#include "check.h"

#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "io/frame.h"
#include "io/preview.h"
#include "io/vtk.h"
#include "unit/io/folder.h"
#include "unit/io/synthetic.h"

/* Not a multiple of the block size, many blocks; the value of tuple i, component c. */
static double sample_value(size_t i, int c)
{
  return sin(0.37 * (double)i + c) * 1e3 + (double)i / 7;
}

static void fill_sample(const void *user, size_t first, size_t count, void *out)
{
  int components = *(const int *)user;
  double *to = out;
  for (size_t i = 0; i < count; i++)
    for (int c = 0; c < components; c++)
      *to++ = sample_value(first + i, c);
}

static void write_image(mn_context *ctx, const char *path, const int cells[3])
{
  static const int one = 1, three = 3;
  size_t total = 1, points = 1;
  for (int a = 0; a < 3; a++) {
    total *= cells[a] ? (size_t)cells[a] : 1;
    points *= (size_t)cells[a] + 1;
  }
  mn_vtk_array cell[2] = {{"scalar", MN_VTK_F64, 1, total, NULL, fill_sample, &one},
                          {"vector", MN_VTK_F64, 3, total, NULL, fill_sample, &three}};
  mn_vtk_array point = {"nodal", MN_VTK_F64, 1, points, NULL, fill_sample, &one};
  mn_vtk_data data = {.cell_count = 2, .cell = cell, .point_count = 1, .point = &point};
  CHECK_OK(ctx, mn_vtk_image(ctx, path, cells, mn_v3(-1.5, 0.1, 2), 0.1, 0.75, &data));
}

/* A vertex, two lines, a triangle and a square. */
static void write_poly(mn_context *ctx, const char *path)
{
  const mn_vec3 x[5] = {{{0, 0, 0}}, {{1, 0, 0}}, {{1, 1, 0}}, {{0, 1, 0}}, {{0.1, 0.2, 0.3}}};
  const int64_t vert[] = {4}, vert_end[] = {1}, line[] = {0, 2, 4, 3, 2}, line_end[] = {2, 5};
  const int64_t poly[] = {0, 1, 2, 0, 1, 2, 3}, poly_end[] = {3, 7};
  const double part[] = {1, 2, 3, 4, 0.1},
               pull[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
  mn_vtk_cells verts = {1, vert_end, vert}, lines = {2, line_end, line},
               polys = {2, poly_end, poly};
  mn_vtk_array cell = {"part", MN_VTK_F64, 1, 5, part, NULL, NULL};
  mn_vtk_array point = {"pull", MN_VTK_F64, 3, 5, pull, NULL, NULL};
  mn_vtk_data data = {.cell_count = 1, .cell = &cell, .point_count = 1, .point = &point};
  CHECK_OK(ctx, mn_vtk_poly(ctx, path, 5, x, &verts, &lines, &polys, 0.5, &data));
}

static void write_grid(mn_context *ctx, const char *path)
{
  const mn_vec3 x[5] = {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}, {{1, 1, 1}}};
  const int64_t list[] = {0, 1, 2, 3, 1, 2, 3, 4, 0, 1, 2}, end[] = {4, 8, 11};
  const uint8_t types[] = {10, 10, 5};
  const int64_t id[] = {7, INT64_C(1) << 40, -3};
  mn_vtk_cells cells = {3, end, list};
  mn_vtk_array cell = {"id", MN_VTK_I64, 1, 3, id, NULL, NULL};
  mn_vtk_data data = {.cell_count = 1, .cell = &cell};
  CHECK_OK(ctx, mn_vtk_grid(ctx, path, 5, x, &cells, types, 0.5, &data));
}

/* Frames 0 and 3 in 2D (smoke) and 3D (water) with a solid, one without anything to contour. */
static void write_frames(mn_context *ctx, folder *f)
{
  for (int dim = 2; dim <= 3; dim++) {
    synthetic s;
    char inner[256];
    strcpy(inner, folder_file(f, dim == 2 ? "frames2" : "frames3"));
    CHECK_OK(ctx, mn_make_folder(ctx, inner));
    synthetic_make(ctx, dim, (int[]){20, 24, 18}, 0.05, mn_v3(0, 0, 0), dim == 3, &s);
    CHECK_OK(ctx, mn_frame_write_view(ctx, &s.view, NULL, 0, 1, 0, 0, inner));
    CHECK_OK(ctx, mn_frame_write_view(ctx, &s.view, NULL, 0, 1, 3, 0.3, inner));
    CHECK_OK(ctx, mn_frame_write_view(ctx, &s.view, NULL, 0, 0, 9, 0.9, inner)); /* beyond `last` */
    CHECK_OK(ctx, mn_frames_index(ctx, inner, 0.1, 8));
    if (dim == 3) {
      mn_field_fill(&s.solid, 1);
      CHECK_OK(ctx, mn_make_folder(ctx, folder_file(f, "empty")));
      CHECK_OK(ctx, mn_frame_write_view(ctx, &s.view, NULL, 0, 1, 0, 0, folder_file(f, "empty")));
    }
    synthetic_free(&s);
  }
}

static void write_samples(mn_context *ctx, const char *path)
{
  folder f;
  snprintf(f.path, sizeof f.path, "%s", path);
  write_image(ctx, folder_file(&f, "image2.vti"), (const int[]){211, 97, 0});
  write_image(ctx, folder_file(&f, "image3.vti"), (const int[]){31, 17, 43});
  write_image(ctx, folder_file(&f, "one.vti"), (const int[]){1, 1, 1});
  write_poly(ctx, folder_file(&f, "poly.vtp"));
  write_grid(ctx, folder_file(&f, "grid.vtu"));
  write_frames(ctx, &f);
}

/* ---- the tests of this program --------------------------------------------------------------- */

static void test_bytes_do_not_depend_on_threads(void **state)
{
  (void)state;
  folder f;
  folder_make(&f);
  char *data[2];
  size_t bytes[2];
  for (int i = 0; i < 2; i++) {
    mn_context *ctx = check_context(i ? 4 : 1);
    const char *path = folder_file(&f, "a.vti");
    write_image(ctx, path, (const int[]){61, 57, 33});
    CHECK_OK(ctx, mn_read_file(ctx, path, 1 << 28, &data[i], &bytes[i]));
    mn_context_destroy(&ctx);
  }
  CHECK(bytes[0] == bytes[1] && memcmp(data[0], data[1], bytes[0]) == 0);
  mn_free(data[0]);
  mn_free(data[1]);
  mn_context *ctx = check_context(1);
  folder_remove(ctx, &f);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static int files_in(const char *path)
{
  int count = 0;
  DIR *dir = opendir(path);
  assert_non_null(dir);
  for (struct dirent *e; (e = readdir(dir));)
    count += e->d_name[0] != '.';
  closedir(dir);
  return count;
}

/* A limit on the size of files stands for a full disk: write(2) fails in the same way. */
static void test_full_disk_leaves_nothing(void **state)
{
  (void)state;
  mn_context *ctx = check_context(2);
  folder f;
  folder_make(&f);
  synthetic s;
  synthetic_make(ctx, 3, (int[]){20, 24, 18}, 0.05, mn_v3(0, 0, 0), 0, &s);
  mn_model_def def = {0};
  mn_image image;
  CHECK_OK(ctx, mn_preview_draw(ctx, &s.view, NULL, 0, &def, 0, &image));
  struct rlimit old, small;
  getrlimit(RLIMIT_FSIZE, &old);
  signal(SIGXFSZ, SIG_IGN);
  const rlim_t limits[] = {0, 100, 3000, 20000};
  for (int i = 0; i < 4; i++) {
    small = old;
    small.rlim_cur = limits[i];
    setrlimit(RLIMIT_FSIZE, &small);
    mn_status frame = mn_frame_write_view(ctx, &s.view, NULL, 0, 0, 0, 0, f.path);
    char message[256];
    snprintf(message, sizeof message, "%s", mn_context_message(ctx));
    mn_status picture = mn_image_write(ctx, &image, folder_file(&f, "p.png"));
    mn_status index = limits[i] < 100 ? mn_frames_index(ctx, f.path, 0.1, 8) : MN_ENVIRONMENT;
    setrlimit(RLIMIT_FSIZE, &old);
    CHECK(frame == MN_ENVIRONMENT && picture == MN_ENVIRONMENT && index == MN_ENVIRONMENT);
    CHECK(strstr(message, "cannot write") != NULL);
    CHECK_NEAR(files_in(f.path), 0, 0);
  }
  CHECK_OK(ctx,
           mn_frame_write_view(ctx, &s.view, NULL, 0, 0, 0, 0, f.path)); /* without the limit */
  CHECK_NEAR(files_in(f.path), 1, 0);
  mn_image_destroy(&image);
  synthetic_free(&s);
  folder_remove(ctx, &f);
  CHECK_FAILS(ctx, mn_frame_write_view(ctx, &s.view, NULL, 0, 0, 0, 0, f.path), MN_ENVIRONMENT,
              "cannot write");
  CHECK_FAILS(ctx, mn_frames_index(ctx, f.path, 1, 8), MN_ENVIRONMENT, "cannot open");
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Every allocation fails once; the address sanitizer sees what is not freed. */
static void test_failing_allocations_leave_nothing(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  folder f;
  folder_make(&f);
  synthetic s;
  synthetic_make(ctx, 3, (int[]){10, 12, 10}, 0.1, mn_v3(0, 0, 0), 1, &s);
  mn_model_def def = {0};
  int failed = 0;
  for (mn_status status = MN_ENVIRONMENT; status != MN_OK && failed < 1000; failed++) {
    ctx->fail_allocation = ctx->allocations + failed + 1;
    status = mn_frame_write_view(ctx, &s.view, NULL, 0, 1, 0, 0, f.path);
    if (status == MN_OK)
      status = mn_frames_index(ctx, f.path, 0.1, 8);
    mn_image image = {0};
    if (status == MN_OK)
      status = mn_preview_draw(ctx, &s.view, NULL, 0, &def, 0, &image);
    if (status == MN_OK)
      status = mn_image_write(ctx, &image, folder_file(&f, "p.png"));
    mn_image_destroy(&image);
    CHECK(status == MN_OK || status == MN_ENVIRONMENT);
    CHECK(access(folder_file(&f, "grid_000000.vti.part"), F_OK) != 0);
    CHECK(access(folder_file(&f, "solids_000000.vtp.part"), F_OK) != 0);
  }
  CHECK_GE(failed, 15);
  CHECK_LE(failed, 500);
  ctx->fail_allocation = 0;
  synthetic_free(&s);
  folder_remove(ctx, &f);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(int argc, char **argv)
{
  if (argc == 2) {
    mn_context *ctx = check_context(2);
    write_samples(ctx, argv[1]);
    mn_context_destroy(&ctx);
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bytes_do_not_depend_on_threads),
      cmocka_unit_test(test_full_disk_leaves_nothing),
      cmocka_unit_test(test_failing_allocations_leave_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
