/* Several runs of one scene, side by side: what `meniscus compare` writes. */
#ifndef MENISCUS_COMPARE_H
#define MENISCUS_COMPARE_H

#include "meniscus/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What run.json says of one of them. */
typedef struct mn_compare_row {
  char name[MN_NAME_MAX];
  int exit_status;
  char reason[1024];
  double time; /* s, how far it came */
  int64_t steps, retries, capped, diverged;
  double average_iterations, most_iterations; /* of the coupling; NaN without one */
  double wall_s;
} mn_compare_row;

/* Reads the runs in DIRECTORY/NAME and writes DIRECTORY/report.html: a table, and the coupling's
   series and all probes with a curve for each run. `rows` gets an entry for each name. */
MN_MUST_CHECK mn_status mn_compare(mn_context *ctx, const mn_model *model, const char *directory,
                                   const char *const *names, int count, mn_compare_row *rows);

enum { MN_COMPARE_MAX = 8 }; /* runs on one page */

#ifdef __cplusplus
}
#endif
#endif
