/* Pictures in memory: 8-bit RGB, sRGB as on a screen; row 0 is at the top. */
#ifndef MN_IO_IMAGE_H
#define MN_IO_IMAGE_H

#include "base/text.h"
#include "meniscus/base.h"

typedef struct mn_rgb {
  double r, g, b; /* in [0, 1] */
} mn_rgb;

typedef struct mn_image {
  int width, height;
  uint8_t *data; /* 3 width height */
} mn_image;

MN_MUST_CHECK mn_status mn_image_create(mn_context *ctx, int width, int height, mn_rgb colour,
                                        mn_image *image);
void mn_image_destroy(mn_image *image);

static inline mn_rgb mn_rgb_hex(uint32_t rrggbb)
{
  return (mn_rgb){(double)(rrggbb >> 16 & 255) / 255, (double)(rrggbb >> 8 & 255) / 255,
                  (double)(rrggbb & 255) / 255};
}
static inline mn_rgb mn_rgb_mix(mn_rgb a, mn_rgb b, double t)
{
  return (mn_rgb){a.r + t * (b.r - a.r), a.g + t * (b.g - a.g), a.b + t * (b.b - a.b)};
}

/* Pixels outside the picture are left alone by all that follow. Lengths are in pixels; pixel
   (i, j) covers [i, i + 1] x [j, j + 1]. */
mn_rgb mn_image_get(const mn_image *image, int x, int y);
void mn_image_blend(mn_image *image, int x, int y, mn_rgb colour, double alpha);
void mn_image_line(mn_image *image, double x0, double y0, double x1, double y1, double width,
                   mn_rgb colour, double alpha);
void mn_image_rectangle(mn_image *image, int x, int y, int width, int height, mn_rgb colour,
                        double alpha);
/* Even-odd rule, anti-aliased; xy holds count pairs. */
void mn_image_polygon(mn_image *image, const double *xy, int count, mn_rgb colour, double alpha);

/* Text in a stroke font, printable ASCII; (x, y) is the left end of the base line, `size` the
   height of a capital. */
void mn_image_text(mn_image *image, double x, double y, double size, mn_rgb colour,
                   const char *text);
double mn_image_text_width(double size, const char *text);

typedef enum mn_map {
  MN_MAP_SMOKE,   /* dark to light */
  MN_MAP_HEAT,    /* black body */
  MN_MAP_SPEED,   /* sequential, of even lightness steps */
  MN_MAP_DIVERGE, /* blue, white, red: 0.5 is the middle */
  MN_MAP_WATER    /* pale to deep blue */
} mn_map;
/* t is clamped to [0, 1]. */
mn_rgb mn_map_colour(mn_map map, double t);

/* PNG into memory (freed with mn_text_free) and into a file, atomically. */
MN_MUST_CHECK mn_status mn_image_encode(mn_context *ctx, const mn_image *image, mn_text *png);
MN_MUST_CHECK mn_status mn_image_write(mn_context *ctx, const mn_image *image, const char *path);

/* A PNG of any kind; what it lets through is white. Destroy the image afterwards. */
MN_MUST_CHECK mn_status mn_image_decode(mn_context *ctx, const void *png, size_t bytes,
                                        mn_image *image);

/* Appends data as base64. */
void mn_base64(mn_text *text, const void *data, size_t bytes);

#endif
