/* Comparisons of runs: distances of known interfaces, the worst values, pictures side by side, runs
   that failed or never started, and what an earlier comparison left. */
#include "check.h"
#include "base/file.h"
#include "base/memory.h"
#include "io/image.h"
#include "io/series.h"
#include "meniscus/compare.h"
#include "meniscus/scene.h"
#include "world/npy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { POINTS = 4, RUNS = 3, WIDTH = 40, HEIGHT = 20, HEAD = 34, GAP = 6 };

static const char *const NAMES[RUNS] = {"one", "two", "three"};
static char folder[64];

static mn_model *make_model(mn_context *ctx)
{
  mn_model *model = NULL;
  CHECK_OK(ctx, mn_scene_load_text(ctx, "test", "",
                                   "return scene { domain = box { size = {1, 1}, cells = {10, 10}, "
                                   "top = 'open' }, fluid = smoke {}, output = { frames = 3, every "
                                   "= 0.5 } }",
                                   NULL, 0, &model));
  return model;
}

static void put(mn_context *ctx, const char *name, const char *file, const char *text)
{
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  CHECK_OK(ctx, mn_make_folder(ctx, path));
  snprintf(path, sizeof path, "%s/%s/%s", folder, name, file);
  CHECK_OK(ctx, mn_write_file(ctx, path, text, strlen(text)));
}

/* A run that came to this frame, with the interface shifted by `shift` m in the point 0 and the
   second frame. */
static void fake_run(mn_context *ctx, int run, int frame, double shift, int status)
{
  char text[700], path[256];
  mn_vec3 x[POINTS];
  snprintf(text, sizeof text,
           "{\"exit_status\":%d,\"exit_reason\":\"%s\",\"time\":%g,\"frame\":%d,\"wall_s\":2,"
           "\"totals\":{\"steps\":4,\"retries\":1},\"coupling\":{\"method\":\"xpm\",\"points\":%d,"
           "\"average_iterations\":2.5,\"most_iterations\":4},"
           "\"invariants\":{\"imbalance\":{\"worst\":0.25},\"volume_change\":{\"worst\":0.125}}}",
           status, status ? "it \\\"broke\\\"" : "done", 0.5 * frame, frame, (int)POINTS);
  put(ctx, NAMES[run], "run.json", text);
  put(ctx, NAMES[run], "steps.csv", "step,time,dt,imbalance\n1,0.5,0.5,0.25\n2,0.75,0.25,0.125\n");
  put(ctx, NAMES[run], "regions.csv", "step,time,id,volume_error\n1,0.5,1,-0.5\n1,0.5,2,0.25\n");
  for (int f = 1; f <= frame; f++) {
    for (int i = 0; i < POINTS; i++)
      x[i] = (mn_vec3){{0.1 * i + (f == 2 && !i ? shift : 0), 0.5, 0}};
    mn_array array = {.type = MN_F64, .rank = 2, .shape = {POINTS, 3}, .data = x};
    snprintf(path, sizeof path, "%s/interface", folder);
    CHECK_OK(ctx, mn_make_folder(ctx, path));
    snprintf(path, sizeof path, "%s/interface/%s_%06d.npy", folder, NAMES[run], f);
    CHECK_OK(ctx, mn_npy_write(ctx, path, &array));
    mn_image image;
    mn_rgb colour = {run == 0, run == 1, run == 2};
    CHECK_OK(ctx, mn_image_create(ctx, WIDTH, HEIGHT, colour, &image));
    snprintf(path, sizeof path, "%s/%s/preview", folder, NAMES[run]);
    CHECK_OK(ctx, mn_make_folder(ctx, path));
    snprintf(path, sizeof path, "%s/%s/preview/frame_%06d.png", folder, NAMES[run], f);
    CHECK_OK(ctx, mn_image_write(ctx, &image, path));
    mn_image_destroy(&image);
  }
}

static int exists(const char *file)
{
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  return !access(path, F_OK);
}

static mn_image read_picture(mn_context *ctx, const char *file)
{
  char path[256], *data;
  size_t bytes;
  mn_image image;
  snprintf(path, sizeof path, "%s/pictures/%s", folder, file);
  CHECK_OK(ctx, mn_read_file(ctx, path, 1 << 24, &data, &bytes));
  CHECK_OK(ctx, mn_image_decode(ctx, data, bytes, &image));
  mn_free(data);
  return image;
}

static void test_distances(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_model *model = make_model(ctx);
  mn_compare_row rows[RUNS];
  fake_run(ctx, 0, 3, 0, 0);
  fake_run(ctx, 1, 3, 0.05, 0); /* half a cell of one of four points */
  fake_run(ctx, 2, 1, 9, 1);    /* failed after the first frame */
  put(ctx, "interface", "three_000002.npy", "stale");
  put(ctx, "pictures", "frame_000077.png", "stale");
  put(ctx, "pictures", "mine.png", "of somebody else");
  mn_compare_def def = {.directory = folder, .names = NAMES, .count = RUNS};
  CHECK_OK(ctx, mn_compare(ctx, model, &def, rows));
  CHECK_NEAR(rows[1].max_distance, 0.5, 1e-12);
  CHECK_NEAR(rows[1].rms_distance, 0.25, 1e-12);
  CHECK_NEAR(rows[2].max_distance, 0, 0);
  CHECK(isnan(rows[0].max_distance));
  CHECK(rows[2].exit_status == 1 && strstr(rows[2].reason, "broke"));
  CHECK_NEAR(rows[0].momentum_lost, 0.15625, 1e-15);
  CHECK_NEAR(rows[0].imbalance, 0.25, 0);
  CHECK_NEAR(rows[0].volume_change, 0.125, 0);
  CHECK_NEAR(rows[0].volume_error, 0.5, 0);
  CHECK(exists("compare.csv") && exists("compare.json") && exists("report.html"));
  CHECK(!exists("interface/three_000002.npy") && !exists("pictures/frame_000077.png"));
  CHECK(exists("pictures/mine.png") && exists("interface/three_000001.npy"));
  mn_table t;
  char path[128];
  snprintf(path, sizeof path, "%s/differences.csv", folder);
  CHECK_OK(ctx, mn_table_read(ctx, path, &t));
  CHECK(t.rows == 3);
  CHECK_NEAR(mn_table_column(&t, "max_two")[1], 0.5, 1e-12);
  CHECK_NEAR(mn_table_column(&t, "max_two")[2], 0, 0);
  CHECK(isnan(mn_table_column(&t, "rms_three")[1]));
  mn_table_free(&t);
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_pictures(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_model *model = make_model(ctx);
  mn_compare_row rows[RUNS];
  const double times[] = {0.51, 0.49, 1.4}; /* frames 1, 1 and 3 */
  mn_compare_def def = {
      .directory = folder, .names = NAMES, .count = RUNS, .times = times, .time_count = 3};
  CHECK_OK(ctx, mn_compare(ctx, model, &def, rows));
  CHECK(exists("pictures/frame_000001.png") && !exists("pictures/frame_000002.png"));
  mn_image first = read_picture(ctx, "frame_000001.png");
  mn_image last = read_picture(ctx, "frame_000003.png");
  CHECK(first.width == RUNS * (WIDTH + GAP) && first.height == HEIGHT + HEAD);
  int y = HEAD + HEIGHT - 2;
  for (int i = 0; i < RUNS; i++) {
    mn_rgb c = mn_image_get(&first, i * (WIDTH + GAP) + 2, y);
    CHECK(c.r == (i == 0) && c.g == (i == 1) && c.b == (i == 2));
  }
  mn_rgb gone = mn_image_get(&last, 2 * (WIDTH + GAP) + 2, y); /* the one that failed */
  CHECK(gone.r == 1 && gone.g == 1 && gone.b == 1);
  mn_image_destroy(&first);
  mn_image_destroy(&last);
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* One that was refused is told with its sentence, whatever lies in its folder; one that failed
   later left a record with that sentence, and counts as far as it came. */
static void test_refused(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_model *model = make_model(ctx);
  mn_compare_row rows[RUNS];
  const char *const reasons[RUNS] = {NULL, "needs more than a black box", NULL};
  mn_compare_def def = {.directory = folder, .names = NAMES, .reasons = reasons, .count = RUNS};
  CHECK_OK(ctx, mn_compare(ctx, model, &def, rows));
  CHECK(rows[1].exit_status == MN_BAD_INPUT && !strcmp(rows[1].reason, reasons[1]));
  CHECK(isnan(rows[1].max_distance));
  fake_run(ctx, 1, 1, 0, MN_FAILED);
  const char *const failed[RUNS] = {NULL, "it \"broke\"", NULL};
  def.reasons = failed;
  CHECK_OK(ctx, mn_compare(ctx, model, &def, rows));
  CHECK(rows[1].exit_status == MN_FAILED && !strcmp(rows[1].reason, failed[1]));
  CHECK_NEAR(rows[1].time, 0.5, 0);
  /* pictures of what no run came to are left out */
  const double times[] = {0.5, 99};
  char path[256];
  def.times = times;
  def.time_count = 2;
  CHECK_OK(ctx, mn_compare(ctx, model, &def, rows));
  snprintf(path, sizeof path, "%s/pictures/frame_%06d.png", folder, 198);
  CHECK(access(path, F_OK) != 0);
  snprintf(path, sizeof path, "%s/pictures/frame_%06d.png", folder, 1);
  CHECK(access(path, F_OK) == 0);
  snprintf(path, sizeof path, "%s/pictures/frame_%06d.png", folder, 2);
  CHECK(access(path, F_OK) != 0); /* 99 s is not the last frame there is */
  def.times = NULL;
  def.time_count = 0;
  def.count = MN_COMPARE_MAX + 1;
  CHECK_FAILS(ctx, mn_compare(ctx, model, &def, rows), MN_BAD_INPUT, "9 runs");
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Bytes that are no PNG, and one that is cut short. */
static void test_bad_png(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_image image, small;
  mn_text png;
  CHECK_FAILS(ctx, mn_image_decode(ctx, "no picture", 10, &image), MN_BAD_INPUT, "PNG");
  CHECK_OK(ctx, mn_image_create(ctx, 8, 8, (mn_rgb){0, 0, 1}, &small));
  CHECK_OK(ctx, mn_image_encode(ctx, &small, &png));
  CHECK_FAILS(ctx, mn_image_decode(ctx, png.data, png.size - 30, &image), MN_BAD_INPUT, "PNG");
  CHECK_OK(ctx, mn_image_decode(ctx, png.data, png.size, &image));
  CHECK(image.width == 8 && !memcmp(image.data, small.data, 3 * 64));
  mn_image_destroy(&image);
  mn_image_destroy(&small);
  mn_text_free(&png);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static int make_folder(void **state)
{
  (void)state;
  strcpy(folder, "/tmp/mn_compare_XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_status status = mn_remove_tree(ctx, folder);
  mn_context_destroy(&ctx);
  return status == MN_OK ? 0 : -1;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_distances), cmocka_unit_test(test_pictures),
      cmocka_unit_test(test_refused), cmocka_unit_test(test_bad_png)};
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
