/* The page about several runs of a scene: report.html. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "io/compare_internal.h"
#include "io/image.h"
#include "io/plot.h"
#include "io/report.h"
#include "io/run_folder.h"

enum { PICTURE_BYTES = 16 << 20, PARTS = 4 };

static const char COLORS[MN_COMPARE_MAX][8] = {"#1f6fb2", "#d1495b", "#2e933c", "#e08e0b",
                                               "#7d4fa8", "#0c8a8a", "#8c564b", "#52525b"};

typedef struct page {
  mn_comparison *c;
  mn_text out;
} page;

/* ---- head and tables ------------------------------------------------------------------------- */

static void add_head(page *p)
{
  const mn_model_def *def = p->c->def;
  const char *title = *def->title ? def->title : def->name;
  mn_text *o = &p->out;
  mn_text_add(o,
              "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
  mn_text_escape(o, title);
  mn_text_add(o, "</title>\n<style>%s", mn_page_style);
  for (int i = 0; i < p->c->count; i++)
    mn_text_add(o, ".plot .curve%d{stroke:%s}.key%d{background:%s}", i, COLORS[i], i, COLORS[i]);
  mn_text_add(o, ".key{display:inline-block;width:18px;height:4px;margin-right:6px;"
                 "vertical-align:middle}.pictures figure.wide{width:100%%}</style>\n</head>\n"
                 "<body>\n<h1>");
  mn_text_escape(o, title);
  mn_text_add(o, "</h1>\n<p class=\"soft\">scene ");
  mn_text_escape(o, def->name);
  mn_text_add(o, " under %d couplings", p->c->count);
  for (int i = 0; i < def->param_count; i++)
    if (strcmp(def->params[i].name, "coupling")) {
      mn_text_add(o, " &middot; ");
      mn_text_escape(o, def->params[i].name);
      mn_text_add(o, " = ");
      mn_text_escape(o, def->params[i].value);
    }
  mn_text_add(o, "</p>\n");
}

static void add_number(mn_text *o, const char *format, double value)
{
  mn_text_add(o, "<td class=\"num\">");
  if (isfinite(value))
    mn_text_add(o, format, value);
  mn_text_add(o, "</td>");
}

static void add_name(page *p, int i)
{
  mn_text *o = &p->out;
  const mn_compare_row *r = &p->c->rows[i];
  mn_text_add(o, "<tr><td><span class=\"key key%d\"></span><a href=\"", i);
  mn_text_escape(o, r->name);
  mn_text_add(o, "/report.html\">");
  mn_text_escape(o, r->name);
  mn_text_add(o, "</a>");
  if (*r->method && strcmp(r->method, r->name)) {
    mn_text_add(o, " (");
    mn_text_escape(o, r->method);
    mn_text_add(o, ")");
  }
  mn_text_add(o, "</td>");
}

static void add_rows(page *p)
{
  mn_text *o = &p->out;
  mn_text_add(o, "<table>\n<tr><th>coupling</th><th></th><th>time</th><th>substeps</th>"
                 "<th>iterations per substep</th><th>most</th><th>tries capped</th>"
                 "<th>diverged</th><th>wall time</th><th>fluid</th><th>solid</th>"
                 "<th>coupling</th></tr>\n");
  for (int i = 0; i < p->c->count; i++) {
    const mn_compare_row *r = &p->c->rows[i];
    add_name(p, i);
    mn_text_add(o, "<td><span class=\"state%s\">%s</span></td>", r->exit_status ? " bad" : "",
                r->exit_status == MN_BAD_INPUT ? "refused"
                : r->exit_status               ? "failed"
                                               : "done");
    add_number(o, "%.4g s", r->time);
    add_number(o, "%.0f", (double)r->steps);
    add_number(o, "%.2f", r->average_iterations);
    add_number(o, "%.0f", r->most_iterations);
    add_number(o, "%.0f", (double)r->capped);
    add_number(o, "%.0f", (double)r->diverged);
    add_number(o, "%.3g s", r->wall_s);
    add_number(o, "%.3g s", r->fluid_s);
    add_number(o, "%.3g s", r->solid_s);
    add_number(o, "%.3g s", r->couple_s);
    mn_text_add(o, "</tr>\n");
  }
  mn_text_add(o, "</table>\n");
  for (int i = 0; i < p->c->count; i++)
    if (p->c->rows[i].exit_status) {
      mn_text_add(o, "<p><span class=\"key key%d\"></span>", i);
      mn_text_escape(o, p->c->rows[i].name);
      mn_text_add(o, ": ");
      mn_text_escape(o, p->c->rows[i].reason);
      mn_text_add(o, "</p>\n");
    }
}

static void add_conservation(page *p)
{
  mn_text *o = &p->out;
  mn_text_add(o,
              "<h2>Conservation, and distance from %s</h2>\n<table>\n<tr><th>coupling</th>"
              "<th>greatest imbalance</th><th>momentum lost</th><th>volume of the fluid</th>"
              "<th>closed regions' volumes</th><th>interface, greatest</th><th>rms</th></tr>\n",
              p->c->rows[0].name);
  for (int i = 0; i < p->c->count; i++) {
    const mn_compare_row *r = &p->c->rows[i];
    add_name(p, i);
    add_number(o, "%.3g N", r->imbalance);
    add_number(o, "%.3g kg m/s", r->momentum_lost);
    add_number(o, "%.3g m^3", r->volume_change);
    add_number(o, "%.3g m^3", r->volume_error);
    add_number(o, "%.3g cells", r->max_distance);
    add_number(o, "%.3g cells", r->rms_distance);
    mn_text_add(o, "</tr>\n");
  }
  mn_text_add(o,
              "</table>\n<p class=\"soft\">Imbalance: force that the bodies felt less that of "
              "the fluid; momentum lost: the same over time. Volumes: greatest change, of closed "
              "regions less what flowed in (m^2 in 2D). Interface: greatest over all frames of "
              "the distance between the same points of the surface.</p>\n");
}

/* ---- pictures -------------------------------------------------------------------------------- */

static mn_status add_pictures(page *p)
{
  mn_comparison *c = p->c;
  size_t left = PICTURE_BYTES;
  if (c->picture_count)
    mn_text_add(&p->out, "<h2>Pictures</h2>\n<div class=\"pictures\">\n");
  for (int k = 0; k < c->picture_count; k++) {
    char path[MN_PATH_MAX], *data;
    size_t bytes;
    MN_TRY(mn_path(c->ctx, path, "%s/pictures/frame_%06d.png", c->what->directory, c->picture[k]));
    MN_TRY(mn_read_file(c->ctx, path, (size_t)1 << 28, &data, &bytes));
    if (bytes <= left) {
      left -= bytes;
      mn_text_add(&p->out,
                  "<figure class=\"wide\"><img alt=\"frame %d\" src=\"data:image/png;base64,",
                  c->picture[k]);
      mn_base64(&p->out, data, bytes);
      mn_text_add(&p->out, "\"><figcaption>%.4g s</figcaption></figure>\n",
                  c->picture[k] * c->def->output.every);
    }
    mn_free(data);
  }
  if (c->picture_count)
    mn_text_add(&p->out, "</div>\n");
  return MN_OK;
}

/* ---- plots ----------------------------------------------------------------------------------- */

static void draw(page *p, mn_curve *curves, const char *title, const char *unit, int decades)
{
  int any = 0;
  for (int i = 0; i < p->c->count; i++)
    for (size_t r = 0; r < curves[i].count && !any; r++)
      any = curves[i].y[r] != 0 && isfinite(curves[i].y[r]);
  mn_plot plot = {.title = title,
                  .unit = unit,
                  .x = curves[0].x,
                  .y = curves[0].y,
                  .count = curves[0].count,
                  .decades = decades,
                  .others = curves + 1,
                  .other_count = p->c->count - 1};
  if (any)
    mn_plot_svg(&p->out, &plot);
}

/* One frame with the column of every run that has it. */
static void add_plot(page *p, const mn_table *tables, const char *column, const char *title,
                     const char *unit, int decades)
{
  mn_curve curves[MN_COMPARE_MAX];
  for (int i = 0; i < p->c->count; i++) {
    const double *time = mn_table_column(&tables[i], "time");
    const double *y = mn_table_column(&tables[i], column);
    curves[i] = (mn_curve){time, y, time && y ? tables[i].rows : 0};
  }
  draw(p, curves, title, unit, decades);
}

static void add_differences(page *p)
{
  static const char *const WHAT[2][2] = {{"max", "greatest distance of the interface"},
                                         {"rms", "rms distance of the interface"}};
  const mn_table *t = &p->c->differences;
  for (int k = 0; k < 2; k++) {
    mn_curve curves[MN_COMPARE_MAX] = {{0}};
    for (int i = 1; i < p->c->count; i++) {
      char column[MN_NAME_MAX + 8];
      snprintf(column, sizeof column, "%s_%s", WHAT[k][0], p->c->rows[i].name);
      const double *y = mn_table_column(t, column);
      curves[i] = (mn_curve){mn_table_column(t, "time"), y, y ? t->rows : 0};
    }
    draw(p, curves, WHAT[k][1], "cells", 1);
  }
}

/* Sums of columns of steps.csv, over time or as they are. */
typedef struct sum {
  const char *part[PARTS]; /* up to a NULL */
  const char *title, *unit;
  int running; /* 1: added up from the start */
} sum;

static mn_status add_sum(page *p, const sum *s)
{
  mn_curve curves[MN_COMPARE_MAX] = {{0}};
  double *y[MN_COMPARE_MAX] = {0};
  mn_status status = MN_OK;
  for (int i = 0; i < p->c->count && status == MN_OK; i++) {
    const mn_table *t = &p->c->steps[i];
    status = MN_NEW(p->c->ctx, "a plot", t->rows + 1, &y[i]);
    for (int k = 0; k < PARTS && s->part[k] && status == MN_OK; k++) {
      const double *v = mn_table_column(t, s->part[k]);
      for (size_t r = 0; v && r < t->rows; r++)
        y[i][r] += v[r];
    }
    for (size_t r = 1; s->running && status == MN_OK && r < t->rows; r++)
      y[i][r] += y[i][r - 1];
    const double *time = mn_table_column(t, "time");
    curves[i] = (mn_curve){time, y[i], time ? t->rows : 0};
  }
  if (status == MN_OK)
    draw(p, curves, s->title, s->unit, 0);
  for (int i = 0; i < p->c->count; i++)
    mn_free(y[i]);
  return status;
}

static void add_single_plots(page *p)
{
  static const struct {
    const char *column, *title, *unit;
    int decades;
  } plots[] = {
      {"coupling_iterations", "coupling iterations per substep", "", 0},
      {"coupling_residual", "motion of the interface left by the coupling", "m", 1},
      {"modes", "modes of the reduced model", "", 0},
      {"pressure_iterations", "pressure iterations per substep", "", 0},
      {"dt", "substep", "s", 0},
      {"imbalance", "force on the bodies less that of the fluid", "N", 1},
      {"divergence", "greatest divergence", "1/s", 1},
      {"kinetic_energy", "kinetic energy of the fluid", "J", 0},
      {"body_kinetic_energy", "kinetic energy of the bodies", "J", 0},
      {"body_elastic_energy", "elastic energy of the bodies", "J", 0},
      {"p0_1", "mean pressure of closed region 1", "Pa", 0},
      {"p0_2", "mean pressure of closed region 2", "Pa", 0},
      {"p0_3", "mean pressure of closed region 3", "Pa", 0},
  };
  for (size_t i = 0; i < sizeof plots / sizeof *plots; i++)
    add_plot(p, p->c->steps, plots[i].column, plots[i].title, plots[i].unit, plots[i].decades);
}

static mn_status add_plots(page *p)
{
  static const sum sums[] = {
      {{"fluid_s", "solid_s", "couple_s", "other_s"}, "wall time in substeps", "s", 1},
      {{"momentum_x", "body_momentum_x"}, "momentum of fluid and bodies along x", "kg m/s", 0},
      {{"momentum_y", "body_momentum_y"}, "momentum of fluid and bodies along y", "kg m/s", 0},
      {{"momentum_z", "body_momentum_z"}, "momentum of fluid and bodies along z", "kg m/s", 0},
      {{"fluid_volume"}, "volume of the fluid", "m^3", 0},
  };
  const mn_model_def *def = p->c->def;
  mn_text_add(&p->out, "<h2>Interface</h2>\n<div class=\"plots\">\n");
  add_differences(p);
  mn_text_add(&p->out, "</div>\n<h2>Coupling</h2>\n<div class=\"plots\">\n");
  add_single_plots(p);
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
    MN_TRY(add_sum(p, &sums[i]));
  mn_text_add(&p->out, "</div>\n<h2>Probes</h2>\n<div class=\"plots\">\n");
  for (int i = 0; i < def->probe_count; i++)
    add_plot(p, p->c->probes, def->probes[i].name, def->probes[i].name,
             mn_probe_unit(def, def->probes[i].name), 0);
  mn_text_add(&p->out, "</div>\n<p class=\"soft\">Meniscus %s</p>\n</body>\n</html>\n",
              mn_version());
  return MN_OK;
}

mn_status mn_compare_page(mn_comparison *c)
{
  page p = {.c = c};
  char path[MN_PATH_MAX];
  add_head(&p);
  add_rows(&p);
  add_conservation(&p);
  mn_status status = add_pictures(&p);
  if (status == MN_OK)
    status = add_plots(&p);
  if (status == MN_OK && p.out.failed)
    status = mn_fail(c->ctx, MN_ENVIRONMENT, "out of memory: the report");
  if (status == MN_OK)
    status = mn_path(c->ctx, path, "%s/report.html", c->what->directory);
  if (status == MN_OK)
    status = mn_write_file(c->ctx, path, p.out.data, p.out.size);
  mn_text_free(&p.out);
  return status;
}
