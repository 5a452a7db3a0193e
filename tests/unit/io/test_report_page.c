/* The report: ticks, curves, escaping, missing and broken inputs. With a folder as argument: writes
   a sample run there, which test_report.sh parses. */
#include "check.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "io/image.h"
#include "io/plot.h"
#include "io/report.h"
#include "io/series.h"
#include "unit/io/folder.h"

static mn_probe_def probes[] = {{.name = "lift <N> & \"more\"", .kind = MN_PROBE_PRESSURE},
                                {.name = "steady", .kind = MN_PROBE_VOLUME},
                                {.name = "gaps"}};
static mn_param params[] = {{"n", "64", "32", "cells & <more>"}};
static mn_solid_def solids[] = {{.name = "a'disk", .moving = 1}};
static mn_source_def sources[] = {{.name = "<script>alert(1)</script>", .blows = 1}};

static mn_model_def sample_def(void)
{
  mn_model_def d = {.name = "sample",
                    .title = "A <b>bold</b> title & \"quotes\"\x01",
                    .reproduces = "nothing",
                    .domain = {.dim = 2, .size = {{1, 2, 0}}, .cells = {32, 64, 1}},
                    .probe_count = 3,
                    .probes = probes,
                    .param_count = 1,
                    .params = params,
                    .solid_count = 1,
                    .solids = solids,
                    .source_count = 1,
                    .sources = sources};
  return d;
}

static const char RUN[] =
    "{\"version\":\"0.1.0\",\"state\":\"done\",\"exit_reason\":\"all <frames> written\","
    "\"exit_status\":0,\"threads\":2,\"wall_s\":12.5,\"time\":2,\"frame\":20,"
    "\"totals\":{\"steps\":3000,\"pressure_iterations\":15000,\"retries\":0},"
    "\"invariants\":{\"divergence\":{\"worst\":1e-7,\"unit\":\"1/s\",\"step\":12,\"time\":0.1,"
    "\"text\":\"greatest |div u| < all\"}},\"state_hash\":\"0123456789abcdef\"}";

static void write_run(mn_context *ctx, folder *f)
{
  mn_model_def def = sample_def();
  mn_series steps, values;
  CHECK_OK(ctx, mn_write_file(ctx, folder_file(f, "run.json"), RUN, strlen(RUN)));
  CHECK_OK(ctx, mn_steps_open(ctx, folder_file(f, "steps.csv"), &steps));
  CHECK_OK(ctx, mn_probes_open(ctx, folder_file(f, "probes.csv"), &def, &values));
  for (int i = 1; i <= 3000; i++) {
    double t = i / 1500.0;
    mn_step_info s = {.step = i, .time = t, .dt = 1.0 / 1500, .fluid_s = 0.003, .other_s = 0.001};
    s.pressure.iterations = 5 + i % 3;
    s.pressure.residual = 1e-6 * exp(-5 * t);
    s.pressure.divergence = 1e-7 * (1 + sin(20 * t));
    s.kinetic_energy = i == 1777 ? 9 : sin(t) * sin(t);
    s.fluid_volume = 2 + 1e-9 * sin(9 * t);
    CHECK_OK(ctx, mn_steps_add(ctx, &steps, &s));
    if (i % 15 == 0)
      CHECK_OK(ctx, mn_probes_add(ctx, &values, t,
                                  (double[]){exp(-t) * cos(30 * t), 2, i % 300 ? t : NAN}));
  }
  CHECK_OK(ctx, mn_series_close(ctx, &steps));
  CHECK_OK(ctx, mn_series_close(ctx, &values));
  CHECK_OK(ctx, mn_make_folder(ctx, folder_file(f, "preview")));
  for (int i = 0; i <= 20; i++) {
    mn_image image;
    char name[64];
    CHECK_OK(ctx, mn_image_create(ctx, 64, 48, mn_map_colour(MN_MAP_SPEED, i / 20.0), &image));
    snprintf(name, sizeof name, "preview/frame_%06d.png", i);
    CHECK_OK(ctx, mn_image_write(ctx, &image, folder_file(f, name)));
    mn_image_destroy(&image);
  }
  CHECK_OK(ctx, mn_report_write(ctx, f->path, &def));
}

static int count(const char *text, const char *words)
{
  int n = 0;
  for (; (text = strstr(text, words)); text++)
    n++;
  return n;
}

static void test_page_has_what_it_should(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  folder f;
  folder_make(&f);
  write_run(ctx, &f);
  char *page;
  size_t bytes;
  CHECK_OK(ctx, mn_read_file(ctx, folder_file(&f, "report.html"), 1 << 26, &page, &bytes));
  CHECK_NEAR(count(page, "<img "), 6, 0);
  CHECK_NEAR(count(page, "frame_000020.png</figcaption>"), 1, 0); /* the last one is there */
  /* 3 probes; kinetic energy, volume, dt, iterations, residual, divergence: all that is not zero */
  CHECK_NEAR(count(page, "<svg "), 9, 0);
  CHECK_NEAR(count(page, "<script"), 0, 0);
  CHECK_NEAR(count(page, "<b>bold"), 0, 0);
  CHECK(count(page, "all &#60;frames&#62; written") == 1);
  CHECK(count(page, "1e-07</td>") == 1);
  CHECK(count(page, " minus 2") == 1);
  CHECK(count(page, "75.0 %") == 1);
  CHECK_NEAR(count(page, "http"), count(page, "http://www.w3.org/2000/svg"), 0);
  CHECK_LE((double)bytes, 400e3);
  mn_free(page);
  folder_remove(ctx, &f);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_missing_and_broken_inputs(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  folder f;
  folder_make(&f);
  mn_model_def def = sample_def();
  CHECK_OK(ctx, mn_report_write(ctx, f.path, &def)); /* nothing but the def */
  CHECK_OK(ctx, mn_write_file(ctx, folder_file(&f, "run.json"), "{\"a\":", 5));
  CHECK_FAILS(ctx, mn_report_write(ctx, f.path, &def), MN_BAD_INPUT, "not valid JSON");
  CHECK_OK(ctx, mn_write_file(ctx, folder_file(&f, "run.json"), "[1,\"a\"]", 7));
  CHECK_OK(ctx, mn_report_write(ctx, f.path, &def));
  CHECK_OK(ctx, mn_write_file(ctx, folder_file(&f, "steps.csv"), "step,time\nx,y\n", 14));
  CHECK_FAILS(ctx, mn_report_write(ctx, f.path, &def), MN_BAD_INPUT, "line 2");
  CHECK_OK(ctx, mn_write_file(ctx, folder_file(&f, "steps.csv"), "step,time\n", 10));
  CHECK_OK(ctx, mn_report_write(ctx, f.path, &def));
  unlink(folder_file(&f, "report.html"));
  struct rlimit old, small;
  getrlimit(RLIMIT_FSIZE, &old);
  small = old;
  small.rlim_cur = 1000;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  mn_status status = mn_report_write(ctx, f.path, &def);
  setrlimit(RLIMIT_FSIZE, &old);
  CHECK_FAILS(ctx, status, MN_ENVIRONMENT, "report.html");
  CHECK(access(folder_file(&f, "report.html"), F_OK) != 0);
  CHECK(access(folder_file(&f, "report.html.part"), F_OK) != 0);
  folder_remove(ctx, &f);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_ticks_are_round(void **state)
{
  (void)state;
  double t[16];
  CHECK_NEAR(mn_plot_ticks(0, 1, 5, t, 16), 6, 0);
  CHECK_NEAR(t[1], 0.2, 1e-15);
  CHECK_NEAR(mn_plot_ticks(-0.03, 0.07, 5, t, 16), 5, 0); /* -0.02, 0, ..., 0.06 */
  CHECK_NEAR(t[0], -0.02, 1e-15);
  CHECK(t[1] == 0);
  CHECK_NEAR(mn_plot_ticks(1234, 8765, 4, t, 16), 4, 0); /* 2000, ..., 8000 */
  CHECK_NEAR(t[0], 2000, 0);
  CHECK(mn_plot_ticks(1, 1, 5, t, 16) == 0 && mn_plot_ticks(0, INFINITY, 5, t, 16) == 0);
  uint64_t seed = 1;
  for (int i = 0; i < 1000; i++) {
    double lo = 200 * check_random(&seed) - 100, hi = lo + pow(10, 12 * check_random(&seed) - 6);
    int n = mn_plot_ticks(lo, hi, 5, t, 16);
    CHECK(n >= 2 && n <= 9);
  }
  CHECK_DONE();
}

/* A peak of one sample among 100000 is still drawn, and non-finite values break the line. */
static void test_curves_keep_their_peaks(void **state)
{
  (void)state;
  enum { COUNT = 100000 };
  static double x[COUNT], y[COUNT];
  for (int i = 0; i < COUNT; i++)
    x[i] = i;
  y[31415] = 1;
  mn_text text = {0};
  mn_plot_svg(&text, &(mn_plot){.title = "peak", .x = x, .y = y, .count = COUNT});
  CHECK_LE((double)text.size, 40e3);
  double top = INFINITY;
  for (char *p = strstr(text.data, "points=\"") + 8, *end; *p != '"'; p = end + 1) {
    strtod(p, &end);
    top = fmin(top, strtod(end + 1, &end));
  }
  CHECK_LE(top, 40); /* px from the top */
  mn_text_free(&text);
  double broken[] = {1, 2, NAN, 3, INFINITY, 4, 5};
  mn_plot_svg(&text, &(mn_plot){.title = "gaps", .x = x, .y = broken, .count = 7});
  CHECK_NEAR(count(text.data, "<polyline"), 3, 0);
  CHECK(!strstr(text.data, "nan") && !strstr(text.data, "inf"));
  mn_text_free(&text);
  mn_plot_svg(&text, &(mn_plot){.title = "none", .x = x, .y = y, .count = 0});
  CHECK(strstr(text.data, "no data") != NULL);
  mn_text_free(&text);
  CHECK_DONE();
}

int main(int argc, char **argv)
{
  if (argc == 2) {
    mn_context *ctx = check_context(1);
    folder f;
    snprintf(f.path, sizeof f.path, "%s", argv[1]);
    write_run(ctx, &f);
    mn_context_destroy(&ctx);
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_page_has_what_it_should),
      cmocka_unit_test(test_missing_and_broken_inputs),
      cmocka_unit_test(test_ticks_are_round),
      cmocka_unit_test(test_curves_keep_their_peaks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
