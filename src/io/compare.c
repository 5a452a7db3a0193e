/* One page about several runs of a scene. */
#include "meniscus/compare.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "io/plot.h"
#include "io/report.h"
#include "io/series.h"

static const char COLORS[MN_COMPARE_MAX][8] = {"#1f6fb2", "#d1495b", "#2e933c", "#e08e0b",
                                               "#7d4fa8", "#0c8a8a", "#8c564b", "#52525b"};

typedef struct page {
  mn_context *ctx;
  const mn_model_def *def;
  const char *directory;
  int count;
  mn_compare_row *rows;
  mn_table steps[MN_COMPARE_MAX], probes[MN_COMPARE_MAX];
  mn_text out;
} page;

/* ---- reading --------------------------------------------------------------------------------- */

static double number_of(const cJSON *object, const char *name)
{
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
  return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static int64_t count_of(const cJSON *object, const char *name)
{
  double value = number_of(object, name);
  return isfinite(value) ? (int64_t)value : 0;
}

static mn_status path_of(page *p, int i, const char *file, char path[MN_PATH_MAX])
{
  if (snprintf(path, MN_PATH_MAX, "%s/%s/%s", p->directory, p->rows[i].name, file) >= MN_PATH_MAX)
    return mn_fail(p->ctx, MN_BAD_INPUT, "path is too long: %.80s...", p->directory);
  return MN_OK;
}

static mn_status read_run(page *p, int i)
{
  char path[MN_PATH_MAX], *text;
  size_t bytes;
  mn_compare_row *row = &p->rows[i];
  MN_TRY(path_of(p, i, "run.json", path));
  MN_TRY(mn_read_file(p->ctx, path, (size_t)1 << 24, &text, &bytes));
  cJSON *run = cJSON_ParseWithLength(text, bytes);
  mn_free(text);
  if (!run)
    return mn_fail(p->ctx, MN_BAD_INPUT, "%s is not valid JSON", path);
  const cJSON *totals = cJSON_GetObjectItemCaseSensitive(run, "totals");
  const cJSON *coupling = cJSON_GetObjectItemCaseSensitive(run, "coupling");
  const cJSON *reason = cJSON_GetObjectItemCaseSensitive(run, "exit_reason");
  row->exit_status = (int)count_of(run, "exit_status");
  snprintf(row->reason, sizeof row->reason, "%s",
           cJSON_IsString(reason) ? reason->valuestring : "");
  row->time = number_of(run, "time");
  row->wall_s = number_of(run, "wall_s");
  row->steps = count_of(totals, "steps");
  row->retries = count_of(totals, "retries");
  row->capped = count_of(coupling, "capped");
  row->diverged = count_of(coupling, "diverged");
  row->average_iterations = number_of(coupling, "average_iterations");
  row->most_iterations = number_of(coupling, "most_iterations");
  cJSON_Delete(run);
  return MN_OK;
}

static mn_status read_table(page *p, int i, const char *file, mn_table *table)
{
  char path[MN_PATH_MAX];
  MN_TRY(path_of(p, i, file, path));
  return access(path, F_OK) ? MN_OK : mn_table_read(p->ctx, path, table);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void add_head(page *p)
{
  const char *title = *p->def->title ? p->def->title : p->def->name;
  mn_text *o = &p->out;
  mn_text_add(o,
              "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
  mn_text_escape(o, title);
  mn_text_add(o, "</title>\n<style>%s", mn_page_style);
  for (int i = 0; i < p->count; i++)
    mn_text_add(o, ".plot .curve%d{stroke:%s}.key%d{background:%s}", i, COLORS[i], i, COLORS[i]);
  mn_text_add(o, ".key{display:inline-block;width:18px;height:4px;margin-right:6px;"
                 "vertical-align:middle}</style>\n</head>\n<body>\n<h1>");
  mn_text_escape(o, title);
  mn_text_add(o, "</h1>\n<p class=\"soft\">scene ");
  mn_text_escape(o, p->def->name);
  mn_text_add(o, " under %d couplings</p>\n", p->count);
}

static void add_count(mn_text *o, const char *format, double value)
{
  mn_text_add(o, "<td class=\"num\">");
  if (isfinite(value))
    mn_text_add(o, format, value);
  mn_text_add(o, "</td>");
}

static void add_rows(page *p)
{
  mn_text *o = &p->out;
  mn_text_add(o, "<table>\n<tr><th>coupling</th><th></th><th>time</th><th>substeps</th>"
                 "<th>iterations per substep</th><th>most</th><th>tries capped</th>"
                 "<th>diverged</th><th>wall time</th><th></th></tr>\n");
  for (int i = 0; i < p->count; i++) {
    const mn_compare_row *r = &p->rows[i];
    mn_text_add(o, "<tr><td><span class=\"key key%d\"></span><a href=\"", i);
    mn_text_escape(o, r->name);
    mn_text_add(o, "/report.html\">");
    mn_text_escape(o, r->name);
    mn_text_add(o, "</a></td><td><span class=\"state%s\">%s</span></td>",
                r->exit_status ? " bad" : "", r->exit_status ? "failed" : "done");
    add_count(o, "%.4g s", r->time);
    add_count(o, "%.0f", (double)r->steps);
    add_count(o, "%.2f", r->average_iterations);
    add_count(o, "%.0f", r->most_iterations);
    add_count(o, "%.0f", (double)r->capped);
    add_count(o, "%.0f", (double)r->diverged);
    add_count(o, "%.3g s", r->wall_s);
    mn_text_add(o, "<td>");
    if (r->exit_status)
      mn_text_escape(o, r->reason);
    mn_text_add(o, "</td></tr>\n");
  }
  mn_text_add(o, "</table>\n");
}

/* One frame with the column of every run that has it. */
static void add_plot(page *p, const mn_table *tables, const char *column, const char *title,
                     const char *unit, int decades)
{
  mn_curve curves[MN_COMPARE_MAX];
  int any = 0;
  for (int i = 0; i < p->count; i++) {
    const double *time = mn_table_column(&tables[i], "time");
    const double *y = mn_table_column(&tables[i], column);
    curves[i] = (mn_curve){time, y, time && y ? tables[i].rows : 0};
    for (size_t r = 0; r < curves[i].count; r++)
      any = any || y[r] != 0;
  }
  if (!any)
    return;
  mn_plot plot = {.title = title,
                  .unit = unit,
                  .x = curves[0].x,
                  .y = curves[0].y,
                  .count = curves[0].count,
                  .decades = decades,
                  .others = curves + 1,
                  .other_count = p->count - 1};
  mn_plot_svg(&p->out, &plot);
}

static void add_plots(page *p)
{
  static const struct {
    const char *column, *title, *unit;
    int decades;
  } plots[] = {
      {"coupling_iterations", "coupling iterations per substep", "", 0},
      {"coupling_residual", "motion of the interface left by the coupling", "m", 1},
      {"modes", "modes of the reduced model", "", 0},
      {"imbalance", "force on the bodies less that of the fluid", "N", 1},
      {"dt", "substep", "s", 0},
      {"kinetic_energy", "kinetic energy of the fluid", "J", 0},
      {"body_kinetic_energy", "kinetic energy of the bodies", "J", 0},
  };
  mn_text_add(&p->out, "<h2>Coupling</h2>\n<div class=\"plots\">\n");
  for (size_t i = 0; i < sizeof plots / sizeof *plots; i++)
    add_plot(p, p->steps, plots[i].column, plots[i].title, plots[i].unit, plots[i].decades);
  mn_text_add(&p->out, "</div>\n<h2>Probes</h2>\n<div class=\"plots\">\n");
  for (int i = 0; i < p->def->probe_count; i++)
    add_plot(p, p->probes, p->def->probes[i].name, p->def->probes[i].name,
             mn_probe_unit(p->def, p->def->probes[i].name), 0);
  mn_text_add(&p->out, "</div>\n<p class=\"soft\">Meniscus %s</p>\n</body>\n</html>\n",
              mn_version());
}

static mn_status write_page(page *p)
{
  char path[MN_PATH_MAX];
  for (int i = 0; i < p->count; i++) {
    MN_TRY(read_run(p, i));
    MN_TRY(read_table(p, i, "steps.csv", &p->steps[i]));
    MN_TRY(read_table(p, i, "probes.csv", &p->probes[i]));
  }
  add_head(p);
  add_rows(p);
  add_plots(p);
  if (p->out.failed)
    return mn_fail(p->ctx, MN_ENVIRONMENT, "out of memory: the report");
  if (snprintf(path, sizeof path, "%s/report.html", p->directory) >= (int)sizeof path)
    return mn_fail(p->ctx, MN_BAD_INPUT, "path is too long: %.80s...", p->directory);
  return mn_write_file(p->ctx, path, p->out.data, p->out.size);
}

mn_status mn_compare(mn_context *ctx, const mn_model *model, const char *directory,
                     const char *const *names, int count, mn_compare_row *rows)
{
  if (count < 1 || count > MN_COMPARE_MAX)
    return mn_fail(ctx, MN_BAD_INPUT, "a comparison of %d runs: must be from 1 to %d", count,
                   MN_COMPARE_MAX);
  page p = {
      .ctx = ctx, .def = mn_model_get(model), .directory = directory, .count = count, .rows = rows};
  for (int i = 0; i < count; i++) {
    rows[i] = (mn_compare_row){0};
    snprintf(rows[i].name, sizeof rows[i].name, "%s", names[i]);
  }
  mn_status status = write_page(&p);
  for (int i = 0; i < count; i++) {
    mn_table_free(&p.steps[i]);
    mn_table_free(&p.probes[i]);
  }
  mn_text_free(&p.out);
  return status;
}
