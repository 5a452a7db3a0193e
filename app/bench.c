#include "bench.h"

#include <math.h>
#include <string.h>

static const app_option options[] = {
    {"--full", NULL, "the large sizes too"},
    {"--size", "N", "only this size: 32, 64, 128 or 256 (lai-...); cells (others)"},
    {"--frames", "N", "means over so many frames instead of 100 (lai-...)"},
    {"--solver", "NAME", "only this solver's column (lai-...)"},
    {"--row", "TEXT",
     "only rows that begin so, as 4.3.5 (akbay-4) or foam (akbay-2.4, monolithic-cost)"},
    {"-o", "DIR", "pictures and plots of akbay-2.6 and 2.12"},
    {"--threads", "N", "threads to use (lai-..., akbay-...)"},
    {"--json", NULL, "one JSON object per number"},
    {0},
};

static const app_bench_entry benches[] = {
    {"pressure", "the linear pressure solve: iterations, work units, threads, memory", "1 min",
     app_bench_pressure},
    {"lcp", "the LCP of separating walls by the default solver, against the linear solve", "3 min",
     app_bench_lcp},
    {"lai-6.1", "iterations per pressure equation, half a circle of water, 2D", "1 min",
     app_bench_lai},
    {"lai-6.2", "the same, half a sphere, 3D", "30 min", app_bench_lai},
    {"lai-6.3", "the same, the maze, 2D", "10 s", app_bench_lai},
    {"lai-6.4", "iterations at frame 10, half a sphere", "4 min", app_bench_lai},
    {"lai-6.5", "iterations at frame 70, sphere and block", "15 min", app_bench_lai},
    {"lai-6.6", "iterations at frame 10, joined spheres", "4 min", app_bench_lai},
    {"lai-6.7", "linear systems per pressure equation, half a circle, 2D", "1 min", app_bench_lai},
    {"lai-6.8", "the same, half a sphere, 3D", "30 min", app_bench_lai},
    {"lai-6.9", "seconds per pressure equation, half a circle, 2D", "1 min", app_bench_lai},
    {"lai-6.10", "the same, half a sphere, 3D", "30 min", app_bench_lai},
    {"lai-6.11", "the same, the maze, 2D", "10 s", app_bench_lai},
    {"lai-6.12", "iterations of variants of fas at frame 10, half a sphere", "4 min",
     app_bench_lai},
    {"lai-circle", "lai-6.1, 6.7 and 6.9 from one simulation", "1 min", app_bench_lai},
    {"lai-sphere", "lai-6.2, 6.8 and 6.10 from one simulation", "30 min", app_bench_lai},
    {"lai-maze", "lai-6.3 and 6.11 from one simulation", "10 s", app_bench_lai},
    {"lai-frame-10", "lai-6.4 and 6.12 from one simulation", "4 min", app_bench_lai},
    {"solid-newton", "a Newton step of 100,000 tetrahedra: assembly, factorisation, solve", "1 min",
     app_bench_solid_newton},
    {"akbay-2.1", "fluid solves per substep of all couplings, cloth in smoke", "5 min",
     app_bench_akbay_cloth},
    {"akbay-2.2", "what conservative impulses save, cloth in smoke", "4 min", app_bench_akbay_gain},
    {"akbay-2.11", "fluid solves over 540 substeps, balloon in smoke", "3 min",
     app_bench_akbay_balloon},
    {"akbay-2.4", "time in fluid, solid and interface, 3D scenes", "5 min", app_bench_akbay_time},
    {"akbay-2.6", "a closed balloon without p0, and with it", "20 s", app_bench_closed_balloon},
    {"akbay-2.12", "the same by P, P-BPP, XPM and M: growth, p0, solves; shapes (-o)", "1 min",
     app_bench_closed_balloon},
    {"chentanez", "jet against two rubber sheets: which coupling bears which step", "1 min",
     app_bench_chentanez},
    {"monolithic-cost", "a solve of fluid and solid as one system, in pressure solves", "5 min",
     app_bench_monolithic_cost},
    {"akbay-4", "closed regions: p0, net outflow, fluid solves, all scenes of the chapter", "2 min",
     app_bench_closed},
    {0},
};

void app_bench_row(app_bench_run *run, const char *row, const char *column, double measured,
                   const char *source, app_bound bound, double reference)
{
  int holds = bound == APP_AT_MOST ? measured <= reference : measured >= reference;
  run->rows++;
  run->judged++;
  run->held += holds;
  if (run->json) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "bench", run->name);
    cJSON_AddStringToObject(o, "row", row);
    cJSON_AddStringToObject(o, "column", column);
    cJSON_AddNumberToObject(o, "measured", measured);
    cJSON_AddNumberToObject(o, source, reference);
    cJSON_AddBoolToObject(o, "holds", holds);
    app_print_json(o);
    return;
  }
  if (run->rows == 1)
    printf("%-28s %-32s %12s  %-9s %14s  %s\n", "row", "column", "measured", "", "", "holds");
  printf("%-28s %-32s %12.5g  %-9s %2s %11.5g  %s\n", row, column, measured, source,
         bound == APP_AT_MOST ? "<=" : ">=", reference, holds ? "yes" : "no");
  fflush(stdout);
}

/* "-" where there is nothing to tell. */
static void number_text(double value, char text[16])
{
  if (value == 0)
    snprintf(text, 16, "-");
  else if (isfinite(value))
    snprintf(text, 16, "%.5g", value);
  else
    snprintf(text, 16, "failed");
}

void app_bench_compare(app_bench_run *run, const char *row, const char *column, app_bench_number n)
{
  int judged = n.reference != 0;
  int holds = n.bound == APP_AT_MOST ? n.measured <= n.reference : n.measured >= n.reference;
  run->rows++;
  run->judged += judged;
  run->held += judged && holds;
  if (run->json) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "bench", run->name);
    cJSON_AddStringToObject(o, "row", row);
    cJSON_AddStringToObject(o, "column", column);
    cJSON_AddNumberToObject(o, "measured", n.measured); /* null unless finite */
    if (n.published != 0)
      cJSON_AddNumberToObject(o, "published", n.published);
    if (judged)
      cJSON_AddNumberToObject(o, n.bound == APP_AT_MOST ? "at_most" : "at_least", n.reference);
    cJSON_AddItemToObject(o, "holds", judged ? cJSON_CreateBool(holds) : cJSON_CreateNull());
    app_print_json(o);
    return;
  }
  char measured[16], published[16], reference[16];
  number_text(n.measured, measured);
  number_text(n.published, published);
  number_text(n.reference, reference);
  if (run->rows == 1)
    printf("%-9s %-28s %-22s %12s %12s   %-12s %s\n", "table", "row", "column", "measured",
           "published", "bound", "holds");
  printf("%-9s %-28s %-22s %12s %12s %2s %-12s %s\n", run->name, row, column, measured, published,
         !judged                  ? ""
         : n.bound == APP_AT_MOST ? "<="
                                  : ">=",
         reference,
         !judged ? "-"
         : holds ? "yes"
                 : "no");
  fflush(stdout);
}

static int list_benches(int json)
{
  if (!json)
    printf("%-15s %-7s on two idle cores, without --full\n", "name", "about");
  for (const app_bench_entry *b = benches; b->name; b++) {
    if (json) {
      cJSON *o = cJSON_CreateObject();
      cJSON_AddStringToObject(o, "bench", b->name);
      cJSON_AddStringToObject(o, "text", b->text);
      cJSON_AddStringToObject(o, "takes", b->takes);
      app_print_json(o);
    } else {
      printf("%-15s %-7s %s\n", b->name, b->takes, b->text);
    }
  }
  return 0;
}

/* Options that only some benches heed: those whose names begin so. */
static int refuse_idle(app_args *args, const char *name)
{
  static const struct {
    const char *option, *heeded_by;
  } some[] = {{"--frames", "lai-"},
              {"--solver", "lai-"},
              {"--row", "akbay-4 akbay-2.4 monolithic-cost"},
              {"-o", "akbay-2.6 akbay-2.12"}};
  for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
    int lai = !strcmp(some[i].heeded_by, "lai-") && !strncmp(name, "lai-", 4);
    if (app_get(args, some[i].option) && !lai && !strstr(some[i].heeded_by, name))
      return app_error(MN_BAD_INPUT, "bench: %s has no effect on %s, only on %s%s", some[i].option,
                       name, some[i].heeded_by, some[i].heeded_by[0] == 'l' ? "..." : "");
  }
  return 0;
}

static int bench(app_args *args)
{
  int json = app_get(args, "--json") != NULL;
  if (!args->word_count)
    return list_benches(json);
  const char *names[sizeof benches / sizeof *benches] = {0};
  for (int i = 0; benches[i].name; i++) {
    names[i] = benches[i].name;
    if (strcmp(args->words[0], benches[i].name))
      continue;
    app_bench_run run = {args, app_get(args, "--full") != NULL, json, benches[i].name, 0, 0, 0};
    int status = refuse_idle(args, benches[i].name);
    if (!status)
      status = benches[i].run(&run);
    if (!status && !json)
      printf("%d of %d hold\n", run.held, run.judged);
    return status;
  }
  const char *near = app_nearest(args->words[0], names);
  return app_error(MN_BAD_INPUT, "no bench \"%s\"%s%s%s (meniscus bench lists them)",
                   args->words[0], near ? "; did you mean " : "", near ? near : "",
                   near ? "?" : "");
}

const app_command app_bench = {
    "bench",
    "bench [NAME] [--size N] [--full] [--frames N] [--solver NAME] [--row TEXT] [-o DIR] "
    "[--threads N] [--json]",
    "reproduce a table of measured numbers; without a name: list them",
    "Numbers that depend on the machine are ratios measured in one run.",
    1,
    options,
    bench,
};
