/* CSV series: exact numbers, resume after a cut at any byte, a full disk. */
#include "check.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "io/series.h"
#include "unit/io/folder.h"

static mn_step_info step_info(int64_t step)
{
  mn_step_info s = {.step = step, .time = (double)step / 3, .dt = 1.0 / 3};
  s.pressure.iterations = (int)(5 + step % 3);
  s.pressure.residual = 1e-9 / (double)(step + 7);
  s.pressure.divergence = -0.0;
  s.pressure.net_flow = 5e-324;
  s.kinetic_energy = 0.1 * (double)step;
  s.momentum = (mn_vec3){{1e300, -1.0 / 7, 0}};
  s.particle_volume = 2.0 / 3;
  s.fluid_s = 0.25;
  s.retries = 2;
  return s;
}

static void write_steps(mn_context *ctx, const char *path, int64_t from, int64_t to)
{
  mn_series series;
  CHECK_OK(ctx, mn_steps_open(ctx, path, &series));
  for (int64_t i = from; i <= to; i++) {
    mn_step_info s = step_info(i);
    CHECK_OK(ctx, mn_steps_add(ctx, &series, &s));
  }
  CHECK_OK(ctx, mn_series_close(ctx, &series));
}

static void test_numbers_come_back_to_the_bit(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  folder f;
  folder_make(&f);
  const char *path = folder_file(&f, "steps.csv");
  write_steps(ctx, path, 1, 20);
  mn_table t;
  CHECK_OK(ctx, mn_table_read(ctx, path, &t));
  CHECK(t.rows == 20 && t.columns == 60);
  CHECK(strcmp(t.names[0], "step") == 0 && strcmp(t.names[12], "other_s") == 0);
  for (size_t i = 0; i < t.rows; i++) {
    mn_step_info s = step_info((int64_t)i + 1);
    CHECK(mn_table_column(&t, "time")[i] == s.time);
    CHECK(mn_table_column(&t, "pressure_residual")[i] == s.pressure.residual);
    CHECK(mn_table_column(&t, "momentum_x")[i] == 1e300);
    CHECK(mn_table_column(&t, "momentum_y")[i] == -1.0 / 7);
    CHECK(mn_table_column(&t, "net_flow")[i] == 5e-324);
    CHECK(mn_table_column(&t, "retries")[i] == 2);
    CHECK(mn_table_column(&t, "particle_volume")[i] == 2.0 / 3);
  }
  CHECK(mn_table_column(&t, "absent") == NULL);
  mn_table_free(&t);
  folder_remove(ctx, &f);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Of a version with other columns. */
static void test_other_columns_are_refused(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  folder f;
  mn_series series;
  folder_make(&f);
  char path[256];
  strcpy(path, folder_file(&f, "steps.csv"));
  CHECK_OK(ctx, mn_write_file(ctx, path, "step,time,dt\n1,2,3\n", 19));
  CHECK_FAILS(ctx, mn_steps_open(ctx, path, &series), MN_BAD_INPUT, "other columns");
  folder_remove(ctx, &f);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* A run is killed after any number of bytes, cut back to step 3, and goes on: always the same file.
 */
static void test_resume_from_any_cut(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  folder f;
  folder_make(&f);
  char path[256];
  strcpy(path, folder_file(&f, "steps.csv"));
  write_steps(ctx, path, 1, 6);
  char *whole, *now;
  size_t bytes, size, row3 = 0;
  CHECK_OK(ctx, mn_read_file(ctx, path, 1 << 20, &whole, &bytes));
  for (int lines = 0; lines < 4; row3++)
    lines += whole[row3] == '\n';
  for (size_t cut = row3; cut <= bytes; cut += cut + 7 < bytes ? 7 : 1) {
    CHECK_OK(ctx, mn_write_file(ctx, path, whole, cut));
    CHECK_OK(ctx, mn_series_truncate(ctx, path, 3));
    write_steps(ctx, path, 4, 6);
    CHECK_OK(ctx, mn_read_file(ctx, path, 1 << 20, &now, &size));
    CHECK(size == bytes && memcmp(now, whole, bytes) == 0);
    mn_free(now);
  }
  /* without the cut, a half line stays in the middle: the reader says so */
  CHECK_OK(ctx, mn_write_file(ctx, path, whole, bytes - 9));
  write_steps(ctx, path, 7, 7);
  mn_table t;
  CHECK_FAILS(ctx, mn_table_read(ctx, path, &t), MN_BAD_INPUT, "line 7");
  CHECK_OK(ctx, mn_write_file(ctx, path, whole, 10)); /* a half header */
  CHECK_OK(ctx, mn_series_truncate(ctx, path, 3));
  write_steps(ctx, path, 1, 6);
  CHECK_OK(ctx, mn_read_file(ctx, path, 1 << 20, &now, &size));
  CHECK(size == bytes && memcmp(now, whole, bytes) == 0);
  mn_free(now);
  mn_free(whole);
  CHECK_OK(ctx, mn_series_truncate(ctx, folder_file(&f, "absent.csv"), 3));
  folder_remove(ctx, &f);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_probes_have_a_column_each(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  folder f;
  folder_make(&f);
  const char *path = folder_file(&f, "probes.csv");
  mn_probe_def probes[2] = {{.name = "lift, drag\n"}, {.name = "p"}};
  mn_model_def def = {.probe_count = 2, .probes = probes};
  mn_series series;
  CHECK_OK(ctx, mn_probes_open(ctx, path, &def, &series));
  for (int i = 0; i < 5; i++)
    CHECK_OK(ctx, mn_probes_add(ctx, &series, 0.1 * i, (double[]){i / 3.0, NAN}));
  CHECK_OK(ctx, mn_series_close(ctx, &series));
  CHECK_OK(ctx, mn_series_close(ctx, &series));
  CHECK_OK(ctx, mn_series_truncate(ctx, path, 0.1 * 3));
  mn_table t;
  CHECK_OK(ctx, mn_table_read(ctx, path, &t));
  CHECK(t.columns == 3 && t.rows == 4);
  CHECK(strcmp(t.names[1], "lift  drag ") == 0);
  CHECK(t.values[4 + 2] == 2 / 3.0 && isnan(t.values[8]));
  mn_table_free(&t);
  folder_remove(ctx, &f);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_full_disk_keeps_whole_rows(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  folder f;
  folder_make(&f);
  char path[256];
  strcpy(path, folder_file(&f, "steps.csv"));
  write_steps(ctx, path, 1, 3);
  struct rlimit old, small;
  getrlimit(RLIMIT_FSIZE, &old);
  small = old;
  small.rlim_cur = 800; /* bytes: in the middle of row 4 */
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  mn_series series;
  mn_status status = mn_steps_open(ctx, path, &series);
  for (int64_t i = 4; status == MN_OK && i < 100; i++) {
    mn_step_info s = step_info(i);
    status = mn_steps_add(ctx, &series, &s);
  }
  setrlimit(RLIMIT_FSIZE, &old);
  CHECK_FAILS(ctx, status, MN_ENVIRONMENT, "cannot write");
  CHECK_OK(ctx, mn_series_close(ctx, &series));
  mn_table t;
  CHECK_OK(ctx, mn_table_read(ctx, path, &t));
  CHECK_GE((double)t.rows, 3);
  CHECK_LE((double)t.rows, 6);
  CHECK(t.text[0] == 's');
  mn_table_free(&t);
  folder_remove(ctx, &f);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_bad_tables_are_refused(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  folder f;
  folder_make(&f);
  const char *path = folder_file(&f, "t.csv");
  mn_table t;
  const char *bad[][2] = {{"", "no header"},
                          {"a,b", "no header"},
                          {"a,b\n1,2\n1\n", "line 3"},
                          {"a,b\n1,x\n", "column b"},
                          {"a,b\n1,2,3\n", "column b"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    CHECK_OK(ctx, mn_write_file(ctx, path, bad[i][0], strlen(bad[i][0])));
    CHECK_FAILS(ctx, mn_table_read(ctx, path, &t), MN_BAD_INPUT, bad[i][1]);
  }
  CHECK_OK(ctx, mn_write_file(ctx, path, "a,b\n1,2\n3", 9)); /* a half row is not there yet */
  CHECK_OK(ctx, mn_table_read(ctx, path, &t));
  CHECK(t.rows == 1);
  mn_table_free(&t);
  folder_remove(ctx, &f);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers_come_back_to_the_bit),
      cmocka_unit_test(test_other_columns_are_refused),
      cmocka_unit_test(test_resume_from_any_cut),
      cmocka_unit_test(test_probes_have_a_column_each),
      cmocka_unit_test(test_full_disk_keeps_whole_rows),
      cmocka_unit_test(test_bad_tables_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
