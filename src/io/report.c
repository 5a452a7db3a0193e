#include "io/report.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "couple/couple.h"
#include "io/image.h"
#include "io/plot.h"
#include "io/series.h"
#include "pressure/lcp.h"

enum { PICTURES = 6, PICTURE_BYTES = 6 << 20, NAME_SIZE = 256 };

typedef struct page {
  mn_context *ctx;
  const char *directory;
  const mn_model_def *def;
  const cJSON *run; /* NULL if there is none */
  mn_table steps, probes;
  mn_text out;
} page;

const char mn_page_style[] =
    "body{font:15px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif;color:#1f2933;"
    "background:#fff;max-width:960px;margin:0 auto;padding:24px 20px 60px}"
    "h1{font-size:28px;margin:0 0 4px}h2{font-size:19px;margin:38px 0 10px;padding-bottom:4px;"
    "border-bottom:1px solid #d9dfe5}p{margin:6px 0}.soft{color:#5b6875}"
    ".facts{display:flex;flex-wrap:wrap;gap:8px 20px;margin:18px 0}"
    ".facts div{min-width:70px}.facts b{display:block;font-size:18px;font-weight:600}"
    ".facts span{color:#5b6875;font-size:13px}"
    ".state{display:inline-block;padding:1px 10px;border-radius:10px;font-size:13px;"
    "background:#dff3e4;color:#14532d}.state.bad{background:#fde2e1;color:#7f1d1d}"
    ".pictures,.plots{display:flex;flex-wrap:wrap;gap:14px}.pictures figure{margin:0;width:300px}"
    ".pictures img{width:100%;height:auto;display:block}"
    "figcaption{font-size:12px;color:#5b6875;text-align:center}"
    "table{border-collapse:collapse;font-size:14px;margin:6px 0}"
    "th,td{text-align:left;padding:3px 18px 3px 0;border-bottom:1px solid #eceff2;"
    "vertical-align:top}th{font-weight:600;color:#3d4a57}td.num{text-align:right;"
    "font-variant-numeric:tabular-nums}"
    ".plot .grid{stroke:#e6eaee;stroke-width:1}.plot .frame{fill:none;stroke:#aab4be}"
    ".plot .curve{fill:none;stroke:#1f6fb2;stroke-width:1.5;stroke-linejoin:round}"
    ".plot text{font:11px system-ui,sans-serif;fill:#5b6875}"
    ".plot .name{font-size:13px;font-weight:600;fill:#1f2933}"
    ".bar{display:inline-block;height:11px;background:#1f6fb2;vertical-align:middle}"
    "code{background:#f3f5f7;padding:2px 6px;border-radius:4px;font-size:13px}";

/* ---- run.json -------------------------------------------------------------------------------- */

static const char *run_text(const page *p, const char *name)
{
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(p->run, name);
  return cJSON_IsString(item) ? item->valuestring : "";
}

static double number_of(const cJSON *object, const char *name)
{
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
  return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static mn_status read_run(page *p, cJSON **run)
{
  char path[MN_PATH_MAX], *text = NULL;
  size_t bytes;
  *run = NULL;
  if (snprintf(path, sizeof path, "%s/run.json", p->directory) >= (int)sizeof path)
    return mn_fail(p->ctx, MN_BAD_INPUT, "path is too long: %.80s...", p->directory);
  if (access(path, F_OK))
    return MN_OK;
  MN_TRY(mn_read_file(p->ctx, path, (size_t)1 << 24, &text, &bytes));
  *run = cJSON_ParseWithLength(text, bytes);
  mn_free(text);
  if (!*run)
    return mn_fail(p->ctx, MN_BAD_INPUT, "%s is not valid JSON", path);
  p->run = *run;
  return MN_OK;
}

static mn_status read_table(page *p, const char *name, mn_table *table)
{
  char path[MN_PATH_MAX];
  if (snprintf(path, sizeof path, "%s/%s", p->directory, name) >= (int)sizeof path)
    return mn_fail(p->ctx, MN_BAD_INPUT, "path is too long: %.80s...", p->directory);
  return access(path, F_OK) ? MN_OK : mn_table_read(p->ctx, path, table);
}

/* ---- head ------------------------------------------------------------------------------------ */

static void add_fact(page *p, const char *name, const char *format, double value)
{
  if (!isfinite(value))
    return;
  mn_text_add(&p->out, "<div><b>");
  mn_text_add(&p->out, format, value);
  mn_text_add(&p->out, "</b><span>%s</span></div>\n", name);
}

static void add_head(page *p)
{
  const mn_model_def *d = p->def;
  const char *title = *d->title ? d->title : d->name;
  mn_text *o = &p->out;
  mn_text_add(o,
              "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
  mn_text_escape(o, title);
  mn_text_add(o, "</title>\n<style>%s</style>\n</head>\n<body>\n<h1>", mn_page_style);
  mn_text_escape(o, title);
  mn_text_add(o, "</h1>\n<p class=\"soft\">scene ");
  mn_text_escape(o, d->name);
  if (*d->reproduces) {
    mn_text_add(o, " &middot; ");
    mn_text_escape(o, d->reproduces);
  }
  mn_text_add(o, "</p>\n");
  if (!p->run)
    return;
  int good = number_of(p->run, "exit_status") == 0;
  mn_text_add(o, "<p><span class=\"state%s\">", good ? "" : " bad");
  mn_text_escape(o, run_text(p, "state"));
  mn_text_add(o, "</span> ");
  if (strcmp(run_text(p, "state"), run_text(p, "exit_reason")))
    mn_text_escape(o, run_text(p, "exit_reason"));
  mn_text_add(o, "</p>\n");
}

static void add_facts(page *p)
{
  const mn_domain_def *d = &p->def->domain;
  const cJSON *totals = cJSON_GetObjectItemCaseSensitive(p->run, "totals");
  mn_text_add(&p->out, "<div class=\"facts\">\n");
  add_fact(p, "simulated", "%.4g s", number_of(p->run, "time"));
  add_fact(p, "frames", "%.0f", number_of(p->run, "frame"));
  add_fact(p, "substeps", "%.0f", number_of(totals, "steps"));
  mn_text_add(&p->out, "<div><b>%d &times; %d", d->cells[0], d->cells[1]);
  if (d->dim == 3)
    mn_text_add(&p->out, " &times; %d", d->cells[2]);
  mn_text_add(&p->out, "</b><span>cells</span></div>\n");
  add_fact(p, "pressure iterations", "%.0f", number_of(totals, "pressure_iterations"));
  add_fact(p, "substeps retried", "%.0f", number_of(totals, "retries"));
  const cJSON *coupling = cJSON_GetObjectItemCaseSensitive(p->run, "coupling");
  add_fact(p, "coupling iterations per substep", "%.2f", number_of(coupling, "average_iterations"));
  add_fact(p, "most of them", "%.0f", number_of(coupling, "most_iterations"));
  add_fact(p, "wall time", "%.3g s", number_of(p->run, "wall_s"));
  add_fact(p, "threads", "%.0f", number_of(p->run, "threads"));
  mn_text_add(&p->out, "</div>\n");
}

/* ---- pictures -------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
  return strcmp(a, b);
}

static mn_status list_pictures(page *p, const char *folder, char (**names)[NAME_SIZE],
                               size_t *count)
{
  size_t room = 0;
  mn_status status = MN_OK;
  *names = NULL;
  *count = 0;
  DIR *dir = opendir(folder);
  if (!dir)
    return MN_OK;
  for (struct dirent *e; status == MN_OK && (e = readdir(dir));) {
    size_t length = strlen(e->d_name);
    if (length < 4 || length >= NAME_SIZE || strcmp(e->d_name + length - 4, ".png"))
      continue;
    if (*count == room) {
      room = 2 * room + 64;
      status = mn_grow(p->ctx, "the list of pictures", *count, room, NAME_SIZE, (void **)names);
    }
    if (status == MN_OK)
      strcpy((*names)[(*count)++], e->d_name);
  }
  closedir(dir);
  if (*count)
    qsort(*names, *count, NAME_SIZE, by_name);
  return status;
}

static mn_status add_picture(page *p, const char *folder, const char *name, size_t *left)
{
  char path[MN_PATH_MAX], *data;
  size_t bytes;
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
    return MN_OK;
  MN_TRY(mn_read_file(p->ctx, path, (size_t)1 << 28, &data, &bytes));
  if (bytes <= *left) {
    *left -= bytes;
    mn_text_add(&p->out, "<figure><img alt=\"");
    mn_text_escape(&p->out, name);
    mn_text_add(&p->out, "\" src=\"data:image/png;base64,");
    mn_base64(&p->out, data, bytes);
    mn_text_add(&p->out, "\"><figcaption>");
    mn_text_escape(&p->out, name);
    mn_text_add(&p->out, "</figcaption></figure>\n");
  }
  mn_free(data);
  return MN_OK;
}

/* A handful, evenly spread; the first frame often shows nothing yet, so it is left out when there
   are enough others. */
static mn_status add_pictures(page *p)
{
  char folder[MN_PATH_MAX], (*names)[NAME_SIZE];
  size_t count, left = PICTURE_BYTES;
  if (snprintf(folder, sizeof folder, "%s/preview", p->directory) >= (int)sizeof folder)
    return mn_fail(p->ctx, MN_BAD_INPUT, "path is too long: %.80s...", p->directory);
  mn_status status = list_pictures(p, folder, &names, &count);
  size_t wanted = count < PICTURES ? count : PICTURES;
  if (wanted)
    mn_text_add(&p->out, "<h2>Pictures</h2>\n<div class=\"pictures\">\n");
  for (size_t i = 0; status == MN_OK && i < wanted; i++)
    status =
        add_picture(p, folder, names[count > PICTURES ? (i + 1) * (count - 1) / wanted : i], &left);
  if (wanted)
    mn_text_add(&p->out, "</div>\n");
  mn_free(names);
  return status;
}

/* ---- plots ----------------------------------------------------------------------------------- */

/* Nothing to tell: all zero, or one coupling iteration throughout. */
static int is_dull(const char *column, const double *v, size_t count)
{
  double dull = !strcmp(column, "coupling_iterations");
  for (size_t i = 0; i < count; i++)
    if (v[i] != 0 && v[i] != dull)
      return 0;
  return 1;
}

const char *mn_probe_unit(const mn_model_def *def, const char *name)
{
  static const char *const UNITS[] = {
      [MN_PROBE_PRESSURE] = "Pa",      [MN_PROBE_VELOCITY] = "m/s",
      [MN_PROBE_SMOKE] = "",           [MN_PROBE_TEMPERATURE] = "K",
      [MN_PROBE_KINETIC_ENERGY] = "J", [MN_PROBE_FLUX] = "m^3/s",
      [MN_PROBE_VOLUME] = "m^3",       [MN_PROBE_DIVERGENCE] = "1/s",
      [MN_PROBE_POSITION] = "m",       [MN_PROBE_BODY_VELOCITY] = "m/s",
      [MN_PROBE_ANGLE] = "rad",        [MN_PROBE_BODY_ENERGY] = "J",
      [MN_PROBE_FORCE] = "N",          [MN_PROBE_STRETCH] = "",
      [MN_PROBE_VOLUME_RATIO] = ""};
  for (int i = 0; i < def->probe_count; i++)
    if (!strcmp(def->probes[i].name, name) && def->probes[i].kind <= MN_PROBE_VOLUME_RATIO)
      return UNITS[def->probes[i].kind];
  return "";
}

static void add_probes(page *p)
{
  const mn_table *t = &p->probes;
  if (t->columns < 2 || !t->rows)
    return;
  mn_text_add(&p->out, "<h2>Probes</h2>\n<div class=\"plots\">\n");
  for (int c = 1; c < t->columns; c++) {
    mn_plot plot = {.title = t->names[c],
                    .unit = mn_probe_unit(p->def, t->names[c]),
                    .x = t->values,
                    .y = t->values + (size_t)c * t->rows,
                    .count = t->rows};
    mn_plot_svg(&p->out, &plot);
  }
  mn_text_add(&p->out, "</div>\n");
}

/* p0 and |net outflow| of the closed regions. */
static mn_status add_regions(page *p)
{
  const double *time = mn_table_column(&p->steps, "time");
  const double *found = mn_table_column(&p->steps, "closed_regions");
  size_t rows = p->steps.rows;
  double *size;
  if (!time || !found || !rows || is_dull("closed_regions", found, rows))
    return MN_OK;
  MN_TRY(MN_NEW(p->ctx, "a plot", rows, &size));
  mn_text_add(&p->out, "<h2>Closed regions</h2>\n<div class=\"plots\">\n");
  for (int k = 1; k <= MN_REGION_COLUMNS; k++) {
    char column[2][32], title[2][64];
    snprintf(column[0], sizeof column[0], "p0_%d", k);
    snprintf(column[1], sizeof column[1], "net_outflow_%d", k);
    snprintf(title[0], sizeof title[0], "mean pressure of region %d", k);
    snprintf(title[1], sizeof title[1], "|net outflow| of region %d", k);
    for (int i = 0; i < 2; i++) {
      const double *y = mn_table_column(&p->steps, column[i]);
      if (!y || is_dull(column[i], y, rows))
        continue;
      for (size_t n = 0; n < rows; n++)
        size[n] = i ? fabs(y[n]) : y[n];
      mn_plot plot = {.title = title[i],
                      .unit = i ? "m^3/s" : "Pa",
                      .x = time,
                      .y = size,
                      .count = rows,
                      .decades = i};
      mn_plot_svg(&p->out, &plot);
    }
  }
  mn_text_add(&p->out, "</div>\n");
  mn_free(size);
  return MN_OK;
}

static void add_steps(page *p)
{
  static const struct {
    const char *column, *title, *unit;
    int decades;
  } plots[] = {
      {"kinetic_energy", "kinetic energy", "J", 0},
      {"smoke_total", "smoke in the domain", "m^3", 0},
      {"fluid_volume", "fluid volume", "m^3", 0},
      {"particle_volume", "volume of the particles that carry water", "m^3", 0},
      {"volume_mended", "volume put back under the level set's surface", "m^3", 0},
      {"momentum_x", "momentum along x", "kg m/s", 0},
      {"momentum_y", "momentum along y", "kg m/s", 0},
      {"momentum_z", "momentum along z", "kg m/s", 0},
      {"dt", "substep", "s", 0},
      {"pressure_iterations", "pressure iterations per substep", "", 0},
      {"pressure_residual", "pressure residual", "1/s", 1},
      {"divergence", "greatest divergence", "1/s", 1},
      {"net_flow", "net flow into closed regions, mended on the grid", "m^3/s", 1},
      {"coupling_iterations", "coupling iterations per substep", "", 0},
      {"coupling_residual", "motion of the interface left by the coupling", "m", 1},
      {"modes", "modes of the coupling's reduced model", "", 0},
      {"imbalance", "force on the bodies less that of the fluid", "N", 1},
      {"retries", "retries of a substep", "", 0},
      {"held_cells", "cells whose water parts from a wall", "", 0},
      {"pressure_outer", "outer iterations of the pressure per substep", "", 0},
      {"complementarity", "complementarity at separating walls", "", 1},
      {"body_kinetic_energy", "kinetic energy of the bodies", "J", 0},
      {"body_elastic_energy", "elastic energy of the bodies", "J", 0},
      {"body_potential_energy", "potential energy of the bodies", "J", 0},
      {"body_momentum_x", "momentum of the bodies along x", "kg m/s", 0},
      {"body_momentum_y", "momentum of the bodies along y", "kg m/s", 0},
      {"body_momentum_z", "momentum of the bodies along z", "kg m/s", 0},
      {"body_angular_x", "angular momentum of the bodies about x", "kg m^2/s", 0},
      {"body_angular_y", "angular momentum of the bodies about y", "kg m^2/s", 0},
      {"body_angular_z", "angular momentum of the bodies about z", "kg m^2/s", 0},
      {"solid_iterations", "Newton iterations of the bodies per substep", "", 0},
  };
  const double *time = mn_table_column(&p->steps, "time");
  if (!time || !p->steps.rows)
    return;
  mn_text_add(&p->out, "<h2>Substeps</h2>\n<div class=\"plots\">\n");
  for (size_t i = 0; i < sizeof plots / sizeof *plots; i++) {
    const double *y = mn_table_column(&p->steps, plots[i].column);
    if (!y || is_dull(plots[i].column, y, p->steps.rows))
      continue;
    mn_plot plot = {.title = plots[i].title,
                    .unit = plots[i].unit,
                    .x = time,
                    .y = y,
                    .count = p->steps.rows,
                    .decades = plots[i].decades};
    mn_plot_svg(&p->out, &plot);
  }
  mn_text_add(&p->out, "</div>\n");
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void add_invariants(page *p)
{
  const cJSON *list = cJSON_GetObjectItemCaseSensitive(p->run, "invariants"), *row;
  if (!cJSON_IsObject(list) || !list->child)
    return;
  mn_text *o = &p->out;
  mn_text_add(o, "<h2>Invariants</h2>\n<table>\n<tr><th>name</th><th>worst</th><th>unit</th>"
                 "<th>at time</th><th>substep</th><th>what it is</th></tr>\n");
  cJSON_ArrayForEach(row, list)
  {
    const cJSON *unit = cJSON_GetObjectItemCaseSensitive(row, "unit");
    const cJSON *what = cJSON_GetObjectItemCaseSensitive(row, "text");
    mn_text_add(o, "<tr><td>");
    mn_text_escape(o, row->string);
    mn_text_add(o, "</td><td class=\"num\">%.3g</td><td>", number_of(row, "worst"));
    mn_text_escape(o, cJSON_IsString(unit) ? unit->valuestring : "");
    mn_text_add(o, "</td><td class=\"num\">%.4g s</td><td class=\"num\">%.0f</td><td>",
                number_of(row, "time"), number_of(row, "step"));
    mn_text_escape(o, cJSON_IsString(what) ? what->valuestring : "");
    mn_text_add(o, "</td></tr>\n");
  }
  mn_text_add(o, "</table>\n");
}

static void add_timings(page *p)
{
  static const char *const PHASES[][2] = {
      {"fluid_s", "fluid"}, {"solid_s", "solid"}, {"couple_s", "coupling"}, {"other_s", "other"}};
  double seconds[4], total = 0;
  for (int i = 0; i < 4; i++) {
    const double *v = mn_table_column(&p->steps, PHASES[i][0]);
    seconds[i] = 0;
    for (size_t r = 0; v && r < p->steps.rows; r++)
      seconds[i] += v[r];
    total += seconds[i];
  }
  if (!(total > 0))
    return;
  mn_text_add(&p->out, "<h2>Time spent in substeps</h2>\n<table>\n");
  for (int i = 0; i < 4; i++)
    mn_text_add(&p->out,
                "<tr><td>%s</td><td class=\"num\">%.3g s</td><td class=\"num\">%.1f %%</td>"
                "<td><span class=\"bar\" style=\"width:%.0fpx\"></span></td></tr>\n",
                PHASES[i][1], seconds[i], 100 * seconds[i] / total, 300 * seconds[i] / total);
  mn_text_add(&p->out, "</table>\n");
}

static void add_parameters(page *p)
{
  mn_text *o = &p->out;
  if (p->def->param_count) {
    mn_text_add(o, "<h2>Parameters</h2>\n<table>\n<tr><th>name</th><th>value</th><th>default</th>"
                   "<th>meaning</th></tr>\n");
    for (int i = 0; i < p->def->param_count; i++) {
      const mn_param *a = &p->def->params[i];
      const char *cells[] = {a->name, a->value, a->initial, a->text};
      mn_text_add(o, "<tr>");
      for (int c = 0; c < 4; c++) {
        mn_text_add(o, "<td>");
        mn_text_escape(o, cells[c]);
        mn_text_add(o, "</td>");
      }
      mn_text_add(o, "</tr>\n");
    }
    mn_text_add(o, "</table>\n");
  }
}

static void add_row(mn_text *o, const char *name, const char *format, ...) MN_PRINTF(3, 4);
static void add_row(mn_text *o, const char *name, const char *format, ...)
{
  char words[512];
  va_list args;
  va_start(args, format);
  vsnprintf(words, sizeof words, format, args);
  va_end(args);
  mn_text_add(o, "<tr><td>%s</td><td>", name);
  mn_text_escape(o, words);
  mn_text_add(o, "</td></tr>\n");
}

static void add_fluid(mn_text *o, const mn_fluid_def *f)
{
  add_row(o, "fluid", "%s, density %g kg/m^3, viscosity %g m^2/s, gravity (%g, %g, %g) m/s^2",
          f->kind == MN_FLUID_WATER ? "water" : "smoke", f->density, f->viscosity, f->gravity.x,
          f->gravity.y, f->gravity.z);
  add_row(o, "advection", "%s, order %d in time, %g cells per substep",
          f->advection == MN_ADVECT_MACCORMACK ? "MacCormack" : "semi-Lagrangian", f->order,
          f->cfl);
  int separating = f->kind == MN_FLUID_WATER && f->walls == MN_WALLS_SEPARATING;
  add_row(o, "pressure", "%s%s, relative tolerance %g%s",
          separating                              ? "LCP by "
          : f->pressure_solver == MN_PRESSURE_PCG ? "MIC(0)-PCG"
                                                  : "multigrid-PCG",
          separating ? mn_lcp_solver_name(f->lcp_solver) : "", f->pressure_tolerance,
          separating                  ? "; walls let water go"
          : f->kind == MN_FLUID_WATER ? "; walls hold water"
                                      : "");
}

/* As run.json has it: "auto" has picked one there. */
static void add_coupling(page *p)
{
  const cJSON *coupling = cJSON_GetObjectItemCaseSensitive(p->run, "coupling");
  const cJSON *method = cJSON_GetObjectItemCaseSensitive(coupling, "method");
  const cJSON *why = cJSON_GetObjectItemCaseSensitive(coupling, "why");
  const mn_coupling_def *d = &p->def->coupling;
  const cJSON *by = cJSON_GetObjectItemCaseSensitive(coupling, "substeps_by"), *item;
  if (cJSON_GetArraySize(by) > 1)
    cJSON_ArrayForEach(item, by)
        add_row(&p->out, "substeps finished by", "%s: %.0f", item->string, item->valuedouble);
  add_row(&p->out, "coupling", "%s, tolerance %g cells, at most %d iterations%s%s",
          cJSON_IsString(method) ? method->valuestring : mn_coupling_method_name(d->method),
          d->tolerance, d->max_iterations, cJSON_IsString(why) ? "; picked: " : "",
          cJSON_IsString(why) ? why->valuestring : "");
}

static void add_setup(page *p)
{
  static const char *const SIDES[] = {"left", "right", "bottom", "top", "back", "front"};
  static const char *const KINDS[] = {"slip", "no-slip", "open", "through"};
  const mn_domain_def *d = &p->def->domain;
  mn_text *o = &p->out;
  mn_text_add(o, "<h2>Set-up</h2>\n<table>\n");
  if (d->dim == 3)
    add_row(o, "domain", "%g x %g x %g m", d->size.x, d->size.y, d->size.z);
  else
    add_row(o, "domain", "%g x %g m", d->size.x, d->size.y);
  mn_text_add(o, "<tr><td>sides</td><td>");
  for (int s = 0; s < 2 * d->dim; s++)
    mn_text_add(o, "%s%s %s", s ? ", " : "", SIDES[s], KINDS[d->side[s].kind]);
  mn_text_add(o, "</td></tr>\n");
  if (p->def->fluid.kind == MN_FLUID_PLUGIN)
    add_row(o, "fluid", "plug-in %s", p->def->fluid_plugin.file);
  else if (p->def->fluid.kind != MN_FLUID_NONE)
    add_fluid(o, &p->def->fluid);
  if (*p->def->solid_plugin.file)
    add_row(o, "solid", "plug-in %s", p->def->solid_plugin.file);
  for (int i = 0; i < p->def->solid_count; i++)
    add_row(o, "solid", "%s%s%s", p->def->solids[i].name,
            p->def->solids[i].moving ? ", moving" : "",
            p->def->solids[i].noslip ? ", no-slip" : "");
  static const char *const BODIES[] = {"rigid", "elastic", "springs", "shell", "rod"};
  for (int i = 0; i < p->def->body_count; i++)
    add_row(o, "body", "%s%s%s, density %g", p->def->bodies[i].name,
            *p->def->bodies[i].name ? ", " : "", BODIES[p->def->bodies[i].kind],
            p->def->bodies[i].density);
  int bodies = p->def->body_count > 0 || *p->def->solid_plugin.file;
  if (p->def->fluid.kind != MN_FLUID_NONE && bodies)
    add_coupling(p);
  for (int i = 0; i < p->def->source_count; i++)
    add_row(o,
            p->def->sources[i].blows    ? "inflow"
            : p->def->sources[i].drains ? "drain"
                                        : "emitter",
            "%s", p->def->sources[i].name);
  mn_text_add(o, "</table>\n");
}

static void add_foot(page *p)
{
  const char *version = p->run ? run_text(p, "version") : "";
  mn_text_add(&p->out, "<p class=\"soft\">Meniscus ");
  mn_text_escape(&p->out, *version ? version : mn_version());
  if (*run_text(p, "state_hash")) {
    mn_text_add(&p->out, " &middot; state ");
    mn_text_escape(&p->out, run_text(p, "state_hash"));
  }
  mn_text_add(&p->out, " &middot; open <code>frames/frames.pvd</code> in ParaView for the fields"
                       "</p>\n</body>\n</html>\n");
}

/* ---- the whole ------------------------------------------------------------------------------- */

static mn_status write_page(page *p)
{
  MN_TRY(read_table(p, "steps.csv", &p->steps));
  MN_TRY(read_table(p, "probes.csv", &p->probes));
  add_head(p);
  add_facts(p);
  MN_TRY(add_pictures(p));
  add_probes(p);
  MN_TRY(add_regions(p));
  add_steps(p);
  add_invariants(p);
  add_timings(p);
  add_parameters(p);
  add_setup(p);
  add_foot(p);
  if (p->out.failed)
    return mn_fail(p->ctx, MN_ENVIRONMENT, "out of memory: the report");
  char path[MN_PATH_MAX];
  if (snprintf(path, sizeof path, "%s/report.html", p->directory) >= (int)sizeof path)
    return mn_fail(p->ctx, MN_BAD_INPUT, "path is too long: %.80s...", p->directory);
  return mn_write_file(p->ctx, path, p->out.data, p->out.size);
}

mn_status mn_report_write(mn_context *ctx, const char *directory, const mn_model_def *def)
{
  page p = {.ctx = ctx, .directory = directory, .def = def};
  cJSON *run;
  mn_status status = read_run(&p, &run);
  if (status == MN_OK)
    status = write_page(&p);
  cJSON_Delete(run);
  mn_table_free(&p.steps);
  mn_table_free(&p.probes);
  mn_text_free(&p.out);
  return status;
}
