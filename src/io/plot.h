/* Line plots as inline SVG, and the escaping that HTML and SVG need. */
#ifndef MN_IO_PLOT_H
#define MN_IO_PLOT_H

#include "base/text.h"

typedef struct mn_curve {
  const double *x, *y; /* non-finite values leave a gap */
  size_t count;
} mn_curve;

typedef struct mn_plot {
  const char *title, *unit; /* of y; x is time in s */
  const double *x, *y;      /* non-finite values leave a gap */
  size_t count;
  int decades;            /* 1: logarithmic, if the positive values span more than two decades */
  const mn_curve *others; /* more curves in the same frame, of the classes curve1, curve2, ... */
  int other_count;
} mn_plot;

void mn_plot_svg(mn_text *text, const mn_plot *plot);
/* Characters with a meaning in HTML as entities; control characters are left out. */
void mn_text_escape(mn_text *text, const char *words);

/* Round numbers in steps of 1, 2 or 5 times a power of ten that divide [lo, hi] into about
   `wanted` parts; returns how many there are, at most `room`. */
int mn_plot_ticks(double lo, double hi, int wanted, double *ticks, int room);

#endif
