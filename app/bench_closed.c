/* Closed regions: chapter 4 of [Akbay thesis], and its figures 2.6 and 2.12.

   akbay-4     every scene of the chapter, by default short and coarse: p0 beside its exact value
               where there is one, net outflow of the regions over the inflow (m^2/s where nothing
               flows in), the growth of the volumes over what flowed in, and fluid solves per
               substep of xpm and of the relaxed iteration as printed (Algorithm 8: p0 corrected by
               the solid's momentum once in an iteration, from X^n, the printed omega and
               tolerance). One solve in a substep no coupling can do without: of bodies at rest
               xpm takes just that, relaxed two, so that the ratio of all solves tends to 2 the
               longer they rest; further ones are counted as well. Both are held to the residual
               S(F(X)) - X. The printed rule tests the relaxed step, omega times that: "by its own
               stop" relaxed ends as printed, told with the net outflow it then leaves. With --full
               the thesis' grids and times; solves are then compared over the whole times on the
               coarse grids.
   akbay-2.6   the closed balloon without p0 and with it; -o as below.
   akbay-2.12  the same balloon by P (no p0), P-BPP (relaxed; p0 by the fluid's momentum as in 2018,
               and by the solid's), XPM as published with the latter, and by default, and by one
               system (M), which finds p0 with the flow. Solves of M are of that system. With -o
               the shapes side by side, and area and p0 over time.

   Demanded: p0 to 1e-6 at rest and 3 % of the nested balloons, net outflow 1e-8, volumes 0.5 %,
   relaxed at least three times the solves of xpm while anything moves, and three times the further
   ones over all of the time. */
#include "bench.h"

#include <math.h>
#include <string.h>

enum { MOST_SETTINGS = 12, MOST_REGIONS = 3 };

typedef struct closed_result {
  int failed;
  double iterations;       /* mean */
  double outflow;          /* m^2/s, the greatest net outflow */
  double inflow;           /* m^2/s, the greatest of a region */
  double flown, grown;     /* m^2, all regions */
  double p0[MOST_REGIONS]; /* Pa, rising */
  int regions;
  double probe, start; /* the first one: change since the start, and there */
} closed_result;

static void take_regions(const mn_step_info *info, closed_result *r)
{
  r->regions = 0;
  for (int k = 0; k < info->closed_regions; k++) {
    const mn_region_info *g = &info->region[k];
    r->outflow = fmax(r->outflow, fabs(g->net_outflow));
    r->inflow = fmax(r->inflow, fabs(g->inflow));
    r->flown += info->dt * g->inflow;
    r->grown += info->dt * (g->inflow + g->net_outflow);
    if (r->regions == MOST_REGIONS)
      continue;
    int at = r->regions++;
    for (; at > 0 && r->p0[at - 1] > g->p0; at--)
      r->p0[at] = r->p0[at - 1];
    r->p0[at] = g->p0;
  }
}

static void note_closed(void *user, const mn_world *world, const mn_step_info *info)
{
  closed_result *r = user;
  double probe = mn_world_probe(world, 0);
  if (!info) {
    r->start = probe;
    return;
  }
  take_regions(info, r);
  r->iterations += info->coupling_iterations;
  r->probe = probe - r->start;
}

static int run_closed(const app_bench_run *bench, const char *scene, const mn_setting *settings,
                      int count, double until, closed_result *r)
{
  *r = (closed_result){0};
  app_bench_job job = {.scene = scene,
                       .settings = settings,
                       .count = count,
                       .until = until,
                       .each = note_closed,
                       .user = r};
  int bad = app_bench_scene(bench, &job);
  r->failed = job.failed;
  r->iterations = r->failed ? INFINITY : job.steps ? r->iterations / job.steps : 0;
  return bad;
}

/* ---- chapter 4 ------------------------------------------------------------------------------- */

typedef struct closed_case {
  const char *row, *scene;
  mn_setting s[4];           /* of both runs; up to a NULL */
  double until, short_until; /* s: the thesis', and of the short run */
  const char *n, *short_n;   /* the thesis' resolution, and a coarse one */
  double
      p0[MOST_REGIONS]; /* Pa, rising, at any time or at the end of the short run; 0: not known */
  double tolerance;     /* of them, relative */
  const char *stop;     /* cells: the printed tolerance over the printed omega */
} closed_case;

/* Nested balloons at 2 s, EA = 5e4 N, with the springs' damping: tests/verify/nested_exact.h. */
static const closed_case CASE[] = {
    {"4.3.1 supported body",
     "supported-body",
     {{0}},
     5,
     0.3,
     "192",
     "24",
     {14703.92},
     1e-6,
     "1e-4"},
    {"4.3.2 thick balloon", "balloon-solid", {{0}}, 15, 0.5, "300", "60", {0}, 0, "2e-2"},
    {"4.3.3 instability", "instability", {{0}}, 4, 0.15, "480", "240", {0}, 0, "2e-2"},
    {"4.3.4 thin balloon", "balloon-shell", {{0}}, 15, 0.5, "280", "56", {0}, 0, "2e-2"},
    {"4.3.5 piston at rest",
     "hydraulic-piston",
     {{0}},
     10,
     0.4,
     "500",
     "50",
     {9825.8363636},
     1e-6,
     "1e-4"},
    {"4.3.5 piston, force",
     "hydraulic-piston",
     {{"force", "true"}},
     60,
     3,
     "500",
     "50",
     {0},
     0,
     "1e-4"},
    {"4.3.6 two balloons", "two-balloons", {{0}}, 15, 0.5, "400", "80", {0}, 0, "2e-2"},
    {"4.3.6 not symmetric",
     "two-balloons",
     {{"right", "0.5"}},
     15,
     0.5,
     "400",
     "80",
     {0},
     0,
     "2e-2"},
    {"4.3.7 nested balloons",
     "nested-balloons",
     {{"dt", "0.1"}},
     10,
     2,
     "480",
     "60",
     {740.97, 2637.8, 9739.2},
     0.03,
     "2e-2"},
    {"4.3.8 multi-section",
     "multi-piston",
     {{0}},
     16,
     0.4,
     "500",
     "40",
     {504.7, 989.8, 1522.2666667},
     1e-6,
     "1e-4"},
};

static void add_settings(const closed_case *c, const char *n, mn_setting *s, int *count)
{
  for (int i = 0; i < 4 && c->s[i].name; i++)
    s[(*count)++] = c->s[i];
  s[(*count)++] = (mn_setting){"n", n};
}

static void compare_regions(app_bench_run *run, const closed_case *c, const closed_result *r)
{
  char column[32];
  for (int k = 0; k < r->regions; k++) {
    snprintf(column, sizeof column, "p0, region %d of %d", k + 1, r->regions);
    double exact = run->full && r->inflow > 0 ? 0 : c->p0[k]; /* of the short run, if it changes */
    app_bench_compare(run, c->row, column, (app_bench_number){r->p0[k], exact, 0, 0});
    if (c->p0[k] > 0 && !run->full)
      app_bench_compare(
          run, c->row, "  off by",
          (app_bench_number){fabs(r->p0[k] / c->p0[k] - 1), 0, APP_AT_MOST, c->tolerance});
  }
  double unit = r->inflow > 0 ? r->inflow : 1;
  app_bench_compare(run, c->row, r->inflow > 0 ? "net outflow/inflow" : "net outflow",
                    (app_bench_number){r->outflow / unit, 0, APP_AT_MOST, 1e-8});
  if (r->flown > 0)
    app_bench_compare(run, c->row, "volume, off by %",
                      (app_bench_number){100 * fabs(r->grown / r->flown - 1), 0, APP_AT_MOST, 0.5});
}

enum { XPM, RELAXED, PRINTED, RUNS }; /* relaxed by the residual, and by its own stop */

static int run_case(const app_bench_run *run, const closed_case *c, int which, const char *n,
                    double until, closed_result *r)
{
  int relaxed = which != XPM;
  mn_setting s[MOST_SETTINGS] = {{"coupling", relaxed ? "relaxed" : "xpm"},
                                 {"published", relaxed ? "true" : "false"},
                                 {"closed", relaxed ? "solid" : "eliminated"}};
  int count = 3;
  if (which == PRINTED)
    s[count++] = (mn_setting){"tolerance", c->stop};
  add_settings(c, n, s, &count);
  return run_closed(run, c->scene, s, count, until, r);
}

static void compare_solves(app_bench_run *run, const closed_case *c, const closed_result *r)
{
  double xpm = r[XPM].iterations, relaxed = r[RELAXED].iterations;
  double unit = r[PRINTED].inflow > 0 ? r[PRINTED].inflow : 1;
  app_bench_number ratio = {isfinite(xpm) ? relaxed / xpm : 0, 0, APP_AT_LEAST, 3};
  if (run->full)
    ratio.reference = 0; /* told only */
  app_bench_compare(run, c->row, "solves, relaxed", (app_bench_number){relaxed, 0, 0, 0});
  app_bench_compare(run, c->row, "  by its own stop",
                    (app_bench_number){r[PRINTED].iterations, 0, 0, 0});
  app_bench_compare(run, c->row, "  and its net outflow",
                    (app_bench_number){r[PRINTED].outflow / unit, 0, 0, 0});
  app_bench_compare(run, c->row, "solves, xpm", (app_bench_number){xpm, 0, 0, 0});
  app_bench_compare(run, c->row, "relaxed/xpm", ratio);
  app_bench_compare(
      run, c->row, "further, xpm/relaxed",
      (app_bench_number){relaxed > 1 ? (xpm - 1) / (relaxed - 1) : 1, 0, APP_AT_MOST, 1.0 / 3});
}

int app_bench_closed(app_bench_run *run)
{
  const char *only = app_get(run->args, "--row");
  int any = 0;
  for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
    const closed_case *c = &CASE[i];
    double until = run->full ? c->until : c->short_until;
    closed_result fine, r[RUNS];
    if (only && strncmp(c->row, only, strlen(only)))
      continue;
    any = 1;
    for (int which = 0; which < RUNS; which++) {
      int bad = run_case(run, c, which, c->short_n, until, &r[which]);
      if (bad)
        return bad;
    }
    fine = r[XPM];
    int bad = run->full ? run_case(run, c, XPM, c->n, until, &fine) : 0;
    if (bad)
      return bad;
    compare_regions(run, c, &fine);
    compare_solves(run, c, r);
  }
  return any ? 0 : app_error(MN_BAD_INPUT, "--row is \"%s\": rows begin with 4.3.1 to 4.3.8", only);
}

/* ---- figures 2.6 and 2.12 -------------------------------------------------------------------- */

typedef struct balloon {
  const char *folder, *name; /* of its run, if pictures are asked for; of its row */
  const char *coupling, *published, *closed;
  int inflates; /* -1: nothing is demanded */
} balloon;

static const balloon BALLOON[] = {
    {"p", "P, no p0", "relaxed", "true", "none", 0},
    {"p-bpp-fluid", "P-BPP, fluid's momentum", "relaxed", "true", "fluid", -1},
    {"p-bpp", "P-BPP, solid's momentum", "relaxed", "true", "solid", 1},
    {"xpm", "XPM, solid's momentum", "xpm", "true", "solid", 1},
    {"best", "best", "xpm", "false", "eliminated", 1},
    {"m", "M", "monolithic", NULL, NULL, 1},
    {"m-linear", "M, linear (simultaneous)", "simultaneous", NULL, NULL, 1},
};
enum { BALLOONS = sizeof BALLOON / sizeof *BALLOON, BALLOON_SETTINGS = 4 };

static int balloon_settings(const app_bench_run *run, const balloon *b, mn_setting *s)
{
  int count = 0;
  s[count++] = (mn_setting){"coupling", b->coupling};
  s[count++] = (mn_setting){"n", run->full ? "96" : "48"};
  if (b->published)
    s[count++] = (mn_setting){"published", b->published};
  if (b->closed)
    s[count++] = (mn_setting){"closed", b->closed};
  return count;
}

/* Figure 2.6 has the first and the best alone. */
static int is_shown(const app_bench_run *run, const balloon *b)
{
  return strcmp(run->name, "akbay-2.6") || !strcmp(b->folder, "p") || !strcmp(b->folder, "best");
}

/* One that fails is compared as far as it came. */
static mn_status draw_balloon(const app_bench_run *run, mn_context *ctx, const balloon *b,
                              const char *directory, double until, mn_model **model)
{
  char folder[MN_PATH_MAX];
  mn_setting s[BALLOON_SETTINGS];
  int count = balloon_settings(run, b, s);
  snprintf(folder, sizeof folder, "%s/%s", directory, b->folder);
  mn_run_def def = mn_run_def_default();
  def.directory = folder;
  def.until = until;
  mn_model_destroy(model);
  mn_status status = mn_scene_load(ctx, "closed-balloon", s, (size_t)count, model);
  if (status == MN_OK)
    status = mn_run(ctx, *model, &def);
  return status == MN_FAILED ? MN_OK : status;
}

/* Shapes side by side, and area and p0 over time: a comparison as of `meniscus compare`. */
static int draw_balloons(const app_bench_run *run, const char *directory, double until)
{
  const char *names[BALLOONS];
  int count = 0;
  mn_context *ctx;
  mn_model *model = NULL;
  mn_compare_row rows[BALLOONS];
  int bad = app_context(run->args, &ctx);
  if (bad)
    return bad;
  mn_status status = MN_OK;
  for (int k = 0; k < BALLOONS && status == MN_OK; k++)
    if (BALLOON[k].inflates >= 0 && is_shown(run, &BALLOON[k])) {
      names[count++] = BALLOON[k].folder;
      status = draw_balloon(run, ctx, &BALLOON[k], directory, until, &model);
    }
  mn_compare_def what = {.directory = directory, .names = names, .count = count};
  if (status == MN_OK)
    status = mn_compare(ctx, model, &what, rows);
  if (status != MN_OK)
    app_fail(ctx, status);
  else if (!run->json)
    printf("shapes, area and p0 over time: %s/report.html, %s/pictures\n", directory, directory);
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  return (int)status;
}

int app_bench_closed_balloon(app_bench_run *run)
{
  double until = run->full ? 4 : 1, flown = 0.5 * 0.125 * (until - 0.1);
  const char *directory = app_get(run->args, "-o");
  for (int k = 0; k < BALLOONS; k++) {
    const balloon *b = &BALLOON[k];
    if (!is_shown(run, b))
      continue;
    mn_setting s[BALLOON_SETTINGS];
    closed_result r;
    int count = balloon_settings(run, b, s);
    int bad = run_closed(run, "closed-balloon", s, count, until, &r);
    if (bad)
      return bad;
    app_bench_number grown = {r.failed ? -INFINITY : r.probe / flown, 1, APP_AT_LEAST, 0.995};
    if (b->inflates < 0) /* light against the air in a dual cell, or it fails */
      grown.reference = 0;
    if (b->inflates == 0)
      grown.bound = APP_AT_MOST, grown.reference = 0.5, grown.published = 0;
    app_bench_compare(run, b->name, "growth/inflow", grown);
    app_bench_compare(run, b->name, "p0", (app_bench_number){r.p0[0], 0, 0, 0});
    app_bench_compare(run, b->name, "solves", (app_bench_number){r.iterations, 0, 0, 0});
  }
  return directory ? draw_balloons(run, directory, until) : 0;
}
