/* Closed regions: chapter 4 of [Akbay thesis], and its figures 2.6 and 2.12.

   akbay-4     every scene of the chapter, by default short and coarse: p0 beside its exact value
               where there is one, net outflow of the regions over the inflow (m^2/s where nothing
               flows in), the growth of the volumes over what flowed in, and fluid solves per
               substep of xpm and of the relaxed iteration as printed (Algorithm 8: p0 corrected by
               the solid's momentum once in an iteration, from X^n, the printed omega and
               tolerance).
   akbay-2.6   the closed balloon without p0 and with it.
   akbay-2.12  the same balloon by P (no p0), P-BPP (relaxed; p0 by the fluid's momentum as in 2018,
               and by the solid's), XPM as published with the latter, and by default. There is no
               monolithic method yet.

   Demanded: p0 to 1e-6 at rest and 3 % of the nested balloons, net outflow 1e-8, volumes 0.5 %,
   relaxed at least three times the solves of xpm. */
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
  double until, short_until; /* s: full, and of the short run and of the relaxed one */
  const char *n, *short_n;   /* the thesis' resolution, and a coarse one */
  double
      p0[MOST_REGIONS]; /* Pa, rising, at any time or at the end of the short run; 0: not known */
  double tolerance;     /* of them, relative */
} closed_case;

/* Nested balloons at 2 s, EA = 5e4 N, with the springs' damping: tests/verify/nested_exact.h. */
static const closed_case CASE[] = {
    {"4.3.1 supported body", "supported-body", {{0}}, 5, 0.3, "192", "24", {14703.92}, 1e-6},
    {"4.3.2 thick balloon", "balloon-solid", {{0}}, 15, 0.5, "300", "60", {0}, 0},
    {"4.3.3 instability", "instability", {{0}}, 4, 0.15, "480", "240", {0}, 0},
    {"4.3.4 thin balloon", "balloon-shell", {{0}}, 15, 0.5, "280", "56", {0}, 0},
    {"4.3.5 piston at rest", "hydraulic-piston", {{0}}, 10, 0.4, "500", "50", {9825.8363636}, 1e-6},
    {"4.3.5 piston, force", "hydraulic-piston", {{"force", "true"}}, 60, 3, "500", "50", {0}, 0},
    {"4.3.6 two balloons", "two-balloons", {{0}}, 15, 0.5, "400", "80", {0}, 0},
    {"4.3.6 not symmetric", "two-balloons", {{"right", "0.5"}}, 15, 0.5, "400", "80", {0}, 0},
    {"4.3.7 nested balloons",
     "nested-balloons",
     {{"dt", "0.1"}},
     10,
     2,
     "480",
     "60",
     {740.97, 2637.8, 9739.2},
     0.03},
    {"4.3.8 multi-section",
     "multi-piston",
     {{0}},
     16,
     0.4,
     "500",
     "40",
     {504.7, 989.8, 1522.2666667},
     1e-6},
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
    app_bench_compare(run, c->row, column, (app_bench_number){r->p0[k], c->p0[k], 0, 0});
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

int app_bench_closed(app_bench_run *run)
{
  for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
    const closed_case *c = &CASE[i];
    const char *n = run->full ? c->n : c->short_n;
    closed_result r[2];
    for (int relaxed = 0; relaxed < 2; relaxed++) {
      mn_setting s[MOST_SETTINGS] = {{"coupling", relaxed ? "relaxed" : "xpm"},
                                     {"published", relaxed ? "true" : "false"},
                                     {"closed", relaxed ? "solid" : "eliminated"}};
      int count = 3;
      add_settings(c, n, s, &count);
      double until = run->full && !relaxed ? c->until : c->short_until;
      int bad = run_closed(run, c->scene, s, count, until, &r[relaxed]);
      if (bad)
        return bad;
    }
    compare_regions(run, c, &r[0]);
    app_bench_compare(run, c->row, "solves, relaxed", (app_bench_number){r[1].iterations, 0, 0, 0});
    app_bench_compare(run, c->row, "solves, xpm", (app_bench_number){r[0].iterations, 0, 0, 0});
    app_bench_compare(run, c->row, "relaxed/xpm",
                      (app_bench_number){r[0].failed ? 0 : r[1].iterations / r[0].iterations, 0,
                                         APP_AT_LEAST, 3});
  }
  return 0;
}

/* ---- figures 2.6 and 2.12 -------------------------------------------------------------------- */

int app_bench_closed_balloon(app_bench_run *run)
{
  static const struct {
    const char *name, *coupling, *published, *closed;
    int inflates;
  } how[] = {{"P, no p0", "relaxed", "true", "none", 0},
             {"P-BPP, fluid's momentum", "relaxed", "true", "fluid", -1},
             {"P-BPP, solid's momentum", "relaxed", "true", "solid", 1},
             {"XPM, solid's momentum", "xpm", "true", "solid", 1},
             {"best", "xpm", "false", "eliminated", 1}};
  int both = !strcmp(run->name, "akbay-2.6");
  double until = run->full ? 4 : 1;
  for (int k = 0; k < 5; k++) {
    if (both && k > 0 && k < 4)
      continue;
    mn_setting s[] = {{"coupling", how[k].coupling},
                      {"published", how[k].published},
                      {"closed", how[k].closed},
                      {"n", run->full ? "96" : "48"}};
    closed_result r;
    int bad = run_closed(run, "closed-balloon", s, 4, until, &r);
    if (bad)
      return bad;
    double flown = 0.5 * 0.125 * (until - 0.1);
    app_bench_number grown = {r.failed ? -INFINITY : r.probe / flown, 1, APP_AT_LEAST, 0.995};
    if (how[k].inflates < 0) /* light against the air in a dual cell, or it fails */
      grown.reference = 0;
    if (how[k].inflates == 0)
      grown.bound = APP_AT_MOST, grown.reference = 0.5, grown.published = 0;
    app_bench_compare(run, how[k].name, "growth/inflow", grown);
    app_bench_compare(run, how[k].name, "p0", (app_bench_number){r.p0[0], 0, 0, 0});
    app_bench_compare(run, how[k].name, "solves", (app_bench_number){r.iterations, 0, 0, 0});
  }
  return 0;
}
