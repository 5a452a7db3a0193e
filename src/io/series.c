#include "io/series.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "io/run_folder.h"

static const char STEP_COLUMNS[] =
    "step,time,dt,coupling_iterations,coupling_residual,modes,pressure_iterations,"
    "pressure_residual,divergence,fluid_s,solid_s,couple_s,other_s,kinetic_energy,fluid_volume,"
    "smoke_total,momentum_x,momentum_y,momentum_z,net_flow,retries,pressure_outer,held_cells,"
    "least_pressure,greatest_pressure,least_slack,complementarity,solid_iterations,"
    "body_kinetic_energy,body_elastic_energy,body_potential_energy,body_momentum_x,"
    "body_momentum_y,body_momentum_z,body_angular_x,body_angular_y,body_angular_z,capped,diverged,"
    "imbalance,handed_over,particle_volume,volume_mended,closed_regions";
static const char REGION_COLUMNS[] =
    "step,time,id,p0,inflow,net_outflow,volume,volume_error,center_x,center_y,center_z,cells\n";

enum { FILE_LIMIT = 1 << 30 }; /* bytes of a series that are read back */

/* Appends and flushes. What a full disk cuts short is taken back, so that the file keeps whole
   rows. */
static mn_status append(mn_context *ctx, mn_series *series, mn_text *row)
{
  if (row->failed)
    return mn_fail(ctx, MN_ENVIRONMENT, "out of memory: a row of %s", series->path);
  size_t bytes = row->size;
  errno = 0;
  int bad = fwrite(row->data, 1, bytes, series->file) != bytes || fflush(series->file);
  int error = errno;
  mn_text_free(row);
  if (bad) {
    if (ftruncate(fileno(series->file), series->size)) {
      /* Nothing more can be done here; mn_series_truncate drops the half row. */
    }
    return mn_fail(ctx, MN_ENVIRONMENT, "cannot write %s: %s", series->path, strerror(error));
  }
  series->size += (long)bytes;
  return MN_OK;
}

/* Rows with other columns than the header says could not be read back. */
static mn_status check_header(mn_context *ctx, const char *path, const mn_text *header)
{
  char *data;
  size_t bytes;
  if (header->failed)
    return mn_fail(ctx, MN_ENVIRONMENT, "out of memory: a row of %s", path);
  MN_TRY(mn_read_file(ctx, path, FILE_LIMIT, &data, &bytes));
  int same = bytes >= header->size && !memcmp(data, header->data, header->size);
  mn_free(data);
  return same ? MN_OK
              : mn_fail(ctx, MN_BAD_INPUT,
                        "%s has other columns than this version writes: run the scene anew", path);
}

static mn_status open_series(mn_context *ctx, const char *path, mn_text *header, mn_series *series)
{
  mn_status status = MN_OK;
  *series = (mn_series){0};
  if (snprintf(series->path, sizeof series->path, "%s", path) >= (int)sizeof series->path)
    status = mn_fail(ctx, MN_BAD_INPUT, "path is too long: %.80s...", path);
  else if (!(series->file = fopen(path, "ab")) || fseek(series->file, 0, SEEK_END) ||
           (series->size = ftell(series->file)) < 0)
    status = mn_fail(ctx, MN_ENVIRONMENT, "cannot write %s: %s", path, strerror(errno));
  else if (series->size == 0)
    status = append(ctx, series, header);
  else
    status = check_header(ctx, path, header);
  mn_text_free(header);
  if (status != MN_OK && series->file) {
    fclose(series->file);
    series->file = NULL;
  }
  return status;
}

mn_status mn_steps_open(mn_context *ctx, const char *path, mn_series *series)
{
  mn_text header = {0};
  mn_text_add(&header, "%s", STEP_COLUMNS);
  for (int k = 1; k <= MN_REGION_COLUMNS; k++)
    mn_text_add(&header, ",p0_%d,net_outflow_%d", k, k);
  mn_text_add(&header, "\n");
  return open_series(ctx, path, &header, series);
}

mn_status mn_probes_open(mn_context *ctx, const char *path, const mn_model_def *def,
                         mn_series *series)
{
  mn_text header = {0};
  mn_text_add(&header, "time");
  for (int i = 0; i < def->probe_count; i++) {
    mn_text_add(&header, ",");
    /* A name is free text: what would break the table becomes a space. */
    for (const char *c = def->probes[i].name; *c; c++)
      mn_text_add(&header, "%c", *c == ',' || *c == '"' || *c == '\n' || *c == '\r' ? ' ' : *c);
  }
  mn_text_add(&header, "\n");
  MN_TRY(open_series(ctx, path, &header, series));
  series->columns = def->probe_count;
  return MN_OK;
}

mn_status mn_steps_add(mn_context *ctx, mn_series *series, const mn_step_info *s)
{
  mn_text row = {0};
  mn_text_add(&row, "%lld,%.17g,%.17g,%d,%.17g,%d,%d,%.17g,%.17g", (long long)s->step, s->time,
              s->dt, s->coupling_iterations, s->coupling_residual, s->modes, s->pressure.iterations,
              s->pressure.residual, s->pressure.divergence);
  mn_text_add(&row, ",%.17g,%.17g,%.17g,%.17g", s->fluid_s, s->solid_s, s->couple_s, s->other_s);
  mn_text_add(&row, ",%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%d", s->kinetic_energy,
              s->fluid_volume, s->smoke_total, s->momentum.x, s->momentum.y, s->momentum.z,
              s->pressure.net_flow, s->retries);
  mn_text_add(&row, ",%d,%d,%.17g,%.17g,%.17g,%.17g", s->pressure.outer, s->pressure.held,
              s->pressure.least_p, s->pressure.greatest_p, s->pressure.least_slack,
              s->pressure.complementarity);
  mn_text_add(&row, ",%d,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g", s->solid.iterations,
              s->body_kinetic_energy, s->body_elastic_energy, s->body_potential_energy,
              s->body_momentum.x, s->body_momentum.y, s->body_momentum.z);
  mn_text_add(&row, ",%.17g,%.17g,%.17g", s->body_angular.x, s->body_angular.y, s->body_angular.z);
  mn_text_add(&row, ",%d,%d,%.17g,%d,%.17g,%.17g,%d", s->capped, s->diverged, s->imbalance,
              s->handed_over, s->particle_volume, s->volume_mended, s->closed_regions);
  for (int k = 1; k <= MN_REGION_COLUMNS; k++) {
    mn_region_info found = {0};
    for (int r = 0; r < s->closed_regions; r++)
      if (s->region[r].id == k)
        found = s->region[r];
    mn_text_add(&row, ",%.17g,%.17g", found.p0, found.net_outflow);
  }
  mn_text_add(&row, "\n");
  return append(ctx, series, &row);
}

mn_status mn_regions_add(mn_context *ctx, const char *directory, mn_series *series,
                         const mn_step_info *s)
{
  mn_text rows = {0}, header = {0};
  char path[MN_PATH_MAX];
  if (!s->closed_regions)
    return MN_OK;
  if (!series->file) {
    MN_TRY(mn_path(ctx, path, "%s/regions.csv", directory));
    mn_text_add(&header, "%s", REGION_COLUMNS);
    MN_TRY(open_series(ctx, path, &header, series));
  }
  for (int r = 0; r < s->closed_regions; r++) {
    const mn_region_info *i = &s->region[r];
    mn_text_add(&rows, "%lld,%.17g,%d,%.17g,%.17g,%.17g,%.17g,%.17g", (long long)s->step, s->time,
                i->id, i->p0, i->inflow, i->net_outflow, i->volume, i->error);
    mn_text_add(&rows, ",%.17g,%.17g,%.17g,%zu\n", i->center.x, i->center.y, i->center.z, i->cells);
  }
  return append(ctx, series, &rows);
}

mn_status mn_probes_add(mn_context *ctx, mn_series *series, double time, const double *values)
{
  mn_text row = {0};
  mn_text_add(&row, "%.17g", time);
  for (int i = 0; i < series->columns; i++)
    mn_text_add(&row, ",%.17g", values[i]);
  mn_text_add(&row, "\n");
  return append(ctx, series, &row);
}

mn_status mn_series_close(mn_context *ctx, mn_series *series)
{
  FILE *file = series->file;
  series->file = NULL;
  if (file && fclose(file))
    return mn_fail(ctx, MN_ENVIRONMENT, "cannot write %s: %s", series->path, strerror(errno));
  return MN_OK;
}

mn_status mn_series_truncate(mn_context *ctx, const char *path, double last)
{
  if (access(path, F_OK))
    return MN_OK;
  char *data;
  size_t bytes, kept = 0;
  MN_TRY(mn_read_file(ctx, path, FILE_LIMIT, &data, &bytes));
  int header = 1;
  for (char *line = data, *end; (end = memchr(line, '\n', bytes - (size_t)(line - data)));
       line = end + 1) {
    size_t length = (size_t)(end - line) + 1;
    if (header || strtod(line, NULL) <= last) {
      memmove(data + kept, line, length);
      kept += length;
    }
    header = 0;
  }
  mn_status status = kept == bytes ? MN_OK : mn_write_file(ctx, path, data, kept);
  mn_free(data);
  return status;
}

/* ---- reading back ---------------------------------------------------------------------------- */

/* Splits the header in place. */
static mn_status read_names(mn_context *ctx, char *line, mn_table *table)
{
  table->columns = 1;
  for (char *c = line; *c; c++)
    table->columns += *c == ',';
  MN_TRY(MN_NEW(ctx, "column names", (size_t)table->columns, &table->names));
  for (int i = 0; i < table->columns; i++) {
    table->names[i] = line;
    line += strcspn(line, ",");
    *line++ = 0;
  }
  return MN_OK;
}

static mn_status read_rows(mn_context *ctx, const char *path, char *line, size_t rows,
                           mn_table *table)
{
  size_t columns = (size_t)table->columns;
  if (rows > SIZE_MAX / columns)
    return mn_fail(ctx, MN_BAD_INPUT, "%s has too many columns", path);
  MN_TRY(MN_NEW(ctx, "a table", rows * columns, &table->values));
  table->rows = rows;
  for (size_t row = 0; row < rows; row++) {
    for (size_t c = 0; c < columns; c++) {
      char *end;
      table->values[c * rows + row] = strtod(line, &end);
      if (end == line || *end != (c + 1 < columns ? ',' : '\n'))
        return mn_fail(ctx, MN_BAD_INPUT, "%s, line %zu, column %s: expected a number", path,
                       row + 2, table->names[c]);
      line = end + 1;
    }
  }
  return MN_OK;
}

mn_status mn_table_read(mn_context *ctx, const char *path, mn_table *table)
{
  *table = (mn_table){0};
  size_t bytes, lines = 0;
  MN_TRY(mn_read_file(ctx, path, FILE_LIMIT, &table->text, &bytes));
  for (size_t i = 0; i < bytes; i++)
    lines += table->text[i] == '\n';
  char *first = memchr(table->text, '\n', bytes);
  mn_status status = MN_OK;
  if (!first)
    status = mn_fail(ctx, MN_BAD_INPUT, "%s has no header line", path);
  else {
    *first = 0;
    status = read_names(ctx, table->text, table);
    if (status == MN_OK)
      status = read_rows(ctx, path, first + 1, lines - 1, table);
  }
  if (status != MN_OK)
    mn_table_free(table);
  return status;
}

void mn_table_free(mn_table *table)
{
  mn_free(table->names);
  mn_free(table->values);
  mn_free(table->text);
  *table = (mn_table){0};
}

const double *mn_table_column(const mn_table *table, const char *name)
{
  for (int i = 0; i < table->columns; i++)
    if (!strcmp(table->names[i], name))
      return table->values + (size_t)i * table->rows;
  return NULL;
}
