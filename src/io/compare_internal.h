/* The parts of a comparison: what each run left (compare.c), where its interface was
   (compare_interface.c), pictures (compare_pictures.c) and the page (compare_page.c). */
#ifndef MN_IO_COMPARE_INTERNAL_H
#define MN_IO_COMPARE_INTERNAL_H

#include "io/series.h"
#include "meniscus/compare.h"

enum { MN_COMPARE_PICTURES = 24 };

typedef struct mn_comparison {
  mn_context *ctx;
  const mn_model_def *def;
  const mn_compare_def *what;
  int count;
  mn_compare_row *rows;
  size_t points[MN_COMPARE_MAX]; /* of the interface; 0: it has none, or was not kept */
  mn_table steps[MN_COMPARE_MAX], probes[MN_COMPARE_MAX];
  mn_table differences; /* columns time, then max_NAME, rms_NAME of all runs but the first */
  int picture_count, picture[MN_COMPARE_PICTURES]; /* frames */
} mn_comparison;

/* Fills `differences` and writes them; max_distance and rms_distance of the rows. */
MN_MUST_CHECK mn_status mn_compare_interfaces(mn_comparison *c);
/* Chooses frames and writes the pictures. */
MN_MUST_CHECK mn_status mn_compare_pictures(mn_comparison *c);
MN_MUST_CHECK mn_status mn_compare_page(mn_comparison *c);

/* Removes the files PREFIX + number + SUFFIX of a folder with a number beyond `last`: what earlier
   comparisons left. */
void mn_compare_sweep(const char *folder, const char *prefix, const char *suffix, int last);

#endif
