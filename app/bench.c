#include "bench.h"

#include <string.h>

static const app_option options[] = {
    {"--full", NULL, "the large sizes too"},
    {"--json", NULL, "one JSON object per number"},
    {0},
};

static const app_bench_entry benches[] = {
    {"pressure", "the linear pressure solve: iterations, work units, threads, memory",
     app_bench_pressure},
    {0},
};

void app_bench_row(app_bench_run *run, const char *row, const char *column, double measured,
                   const char *source, app_bound bound, double reference)
{
  int holds = bound == APP_AT_MOST ? measured <= reference : measured >= reference;
  run->rows++;
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

static int list_benches(int json)
{
  for (const app_bench_entry *b = benches; b->name; b++) {
    if (json) {
      cJSON *o = cJSON_CreateObject();
      cJSON_AddStringToObject(o, "bench", b->name);
      cJSON_AddStringToObject(o, "text", b->text);
      app_print_json(o);
    } else {
      printf("%-12s %s\n", b->name, b->text);
    }
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
    app_bench_run run = {args, app_get(args, "--full") != NULL, json, benches[i].name, 0, 0};
    int status = benches[i].run(&run);
    if (!status && !json)
      printf("%d of %d hold\n", run.held, run.rows);
    return status;
  }
  const char *near = app_nearest(args->words[0], names);
  return app_error(MN_BAD_INPUT, "no bench \"%s\"%s%s%s (meniscus bench lists them)",
                   args->words[0], near ? "; did you mean " : "", near ? near : "",
                   near ? "?" : "");
}

const app_command app_bench = {
    "bench",
    "bench [NAME] [--full] [--json]",
    "reproduce a table of measured numbers; without a name: list them",
    "Numbers that depend on the machine are ratios measured in one run.",
    1,
    options,
    bench,
};
