/* Time series as CSV: steps.csv, probes.csv and regions.csv. Numbers are printed with %.17g, so that they are
   read back to the same bits. Rows are appended and flushed one by one. */
#ifndef MN_IO_SERIES_H
#define MN_IO_SERIES_H

#include <stdio.h>

#include "meniscus/world.h"

enum { MN_REGION_COLUMNS = 8 }; /* regions 1 to this have columns in steps.csv */

typedef struct mn_series {
  FILE *file;
  long size; /* bytes of whole rows */
  int columns;
  char path[MN_PATH_MAX];
} mn_series;

/* Opens for appending; a new or empty file gets the header first. */
MN_MUST_CHECK mn_status mn_steps_open(mn_context *ctx, const char *path, mn_series *series);
MN_MUST_CHECK mn_status mn_probes_open(mn_context *ctx, const char *path, const mn_model_def *def,
                                       mn_series *series);
MN_MUST_CHECK mn_status mn_steps_add(mn_context *ctx, mn_series *series, const mn_step_info *info);
/* values[def.probe_count] */
MN_MUST_CHECK mn_status mn_probes_add(mn_context *ctx, mn_series *series, double time,
                                      const double *values);
/* A row of regions.csv for each closed region; the file is made with the first one. */
MN_MUST_CHECK mn_status mn_regions_add(mn_context *ctx, const char *directory, mn_series *series,
                                       const mn_step_info *info);
/* Fine on a closed or zeroed one. */
MN_MUST_CHECK mn_status mn_series_close(mn_context *ctx, mn_series *series);

/* Before a resume: drops the rows whose first column (step, or time) is greater than `last`, and a
   half-written last line. The file is replaced atomically; fine if it is not there. */
MN_MUST_CHECK mn_status mn_series_truncate(mn_context *ctx, const char *path, double last);

/* A CSV file read back; whole rows only. */
typedef struct mn_table {
  int columns;
  size_t rows;
  char **names;
  double *values; /* column after column */
  char *text;     /* what names point into */
} mn_table;
MN_MUST_CHECK mn_status mn_table_read(mn_context *ctx, const char *path, mn_table *table);
void mn_table_free(mn_table *table);
/* NULL if there is none */
const double *mn_table_column(const mn_table *table, const char *name);

#endif
