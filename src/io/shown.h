/* The scalar that a preview shows, at cell centres, ready to be sampled. */
#ifndef MN_IO_SHOWN_H
#define MN_IO_SHOWN_H

#include "fluid/mac/mac.h"
#include "io/image.h"

typedef struct mn_shown {
  char label[64]; /* with its unit */
  mn_map map;
  int dim, n[3];
  double dx; /* m; several cells of the grid where that is finer than a picture can show */
  mn_vec3 origin;
  int nothing;   /* 1: there is no fluid */
  double lo, hi; /* range of the colour map */
  double stress; /* Pa at the top of the bodies' colours; 0: colours tell them apart */
  float *value;
} mn_shown;

/* At most `limit` cells along an axis; `stress` is the greatest of the bodies, or their tension.
   Values are continued into the solids, so that what is drawn at a wall is the fluid's. */
MN_MUST_CHECK mn_status mn_shown_make(mn_context *ctx, const mn_mac_view *view,
                                      const mn_model_def *def, int limit, double stress,
                                      int tension, mn_shown *shown);
void mn_shown_free(mn_shown *shown);

/* Where v lies in the range: 0 to 1, not clamped. */
static inline double mn_shown_part(const mn_shown *s, double v)
{
  return (v - s->lo) / (s->hi - s->lo);
}
/* Smooth (Catmull-Rom) in the plane, for 2D. */
double mn_shown_smooth(const mn_shown *shown, double x, double y);

/* The colour bar with its label and range, in a strip of this width whose top left is (x, y), and
   the time. */
enum { MN_STRIP_HEIGHT = 46, MN_STRIP_MIN_WIDTH = 340 };
void mn_shown_strip(const mn_shown *shown, double time, mn_image *image, int x, int y, int width,
                    mn_rgb ink);

#endif
