/* Several runs of one scene, side by side: what `meniscus compare` writes. */
#ifndef MENISCUS_COMPARE_H
#define MENISCUS_COMPARE_H

#include "meniscus/world.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MN_COMPARE_MAX = 8 }; /* runs on one page */

/* What is known of one of them. NaN: not known, or there is none. */
typedef struct mn_compare_row {
  char name[MN_NAME_MAX];
  int exit_status;
  char reason[1024];
  char method[MN_NAME_MAX]; /* of the coupling: what "auto" picked */
  double time;              /* s, how far it came */
  int frame;
  int64_t steps, retries, capped, diverged;
  double average_iterations, most_iterations; /* of the coupling */
  double wall_s, fluid_s, solid_s, couple_s;  /* whole run; inside the substeps */
  /* conservation */
  double imbalance;     /* N, greatest: force that the bodies felt less that of the fluid */
  double momentum_lost; /* kg m/s: imbalance over time */
  double volume_change; /* m^3, greatest, of the fluid */
  double volume_error;  /* m^3, greatest of closed regions: their change less what flowed in */
  /* of the interface's points from those of the first run, in cells, over all frames of both */
  double max_distance, rms_distance;
} mn_compare_row;

typedef struct mn_compare_def {
  const char *directory; /* the runs are in DIRECTORY/NAME */
  const char *const *names;
  const char *const *reasons; /* NULL, or why a run failed; NULL: it did not. One that left no
                                 record of that was not even started */
  int count;
  const double *times; /* s, of the pictures, each the nearest frame; NULL: six, evenly spread */
  int time_count;
} mn_compare_def;

/* Keeps the points of the interface in DIRECTORY/interface/NAME_000012.npy: to be called at the
   frames of a run, for mn_compare. Does nothing in a world without a coupling. */
MN_MUST_CHECK mn_status mn_compare_note(const mn_world *world, const char *directory,
                                        const char *name);

/* Reads the runs and writes into DIRECTORY:
     report.html        a table, pictures side by side, the differences of the interface, and the
                        coupling's series and all probes with a curve for each run
     pictures/          frame_000012.png: the previews of all runs in one
     compare.csv, .json a row for each run
     differences.csv    a row for each frame: max_NAME and rms_NAME, in cells
   A run that failed is compared as far as it came. rows[count] gets what is in compare.csv. */
MN_MUST_CHECK mn_status mn_compare(mn_context *ctx, const mn_model *model,
                                   const mn_compare_def *def, mn_compare_row *rows);

#ifdef __cplusplus
}
#endif
#endif
