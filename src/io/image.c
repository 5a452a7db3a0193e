#include "io/image.h"

#include <math.h>
#include <png.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"

mn_status mn_image_create(mn_context *ctx, int width, int height, mn_rgb colour, mn_image *image)
{
  *image = (mn_image){width, height, NULL};
  MN_TRY(MN_NEW(ctx, "a picture", 3 * (size_t)width * (size_t)height, &image->data));
  mn_image_rectangle(image, 0, 0, width, height, colour, 1);
  return MN_OK;
}

void mn_image_destroy(mn_image *image)
{
  mn_free(image->data);
  *image = (mn_image){0};
}

/* ---- drawing --------------------------------------------------------------------------------- */

mn_rgb mn_image_get(const mn_image *image, int x, int y)
{
  const uint8_t *p = image->data + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
  return (mn_rgb){p[0] / 255.0, p[1] / 255.0, p[2] / 255.0};
}

static uint8_t to_byte(double v)
{
  return (uint8_t)(v <= 0 ? 0 : v >= 1 ? 255 : 255 * v + 0.5);
}

void mn_image_blend(mn_image *image, int x, int y, mn_rgb colour, double alpha)
{
  if (x < 0 || y < 0 || x >= image->width || y >= image->height)
    return;
  mn_rgb c = alpha < 1 ? mn_rgb_mix(mn_image_get(image, x, y), colour, alpha) : colour;
  uint8_t *p = image->data + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
  p[0] = to_byte(c.r);
  p[1] = to_byte(c.g);
  p[2] = to_byte(c.b);
}

void mn_image_rectangle(mn_image *image, int x, int y, int width, int height, mn_rgb colour,
                        double alpha)
{
  for (int j = y; j < y + height; j++)
    for (int i = x; i < x + width; i++)
      mn_image_blend(image, i, j, colour, alpha);
}

/* Coverage from the distance to the segment, with round ends. */
void mn_image_line(mn_image *image, double x0, double y0, double x1, double y1, double width,
                   mn_rgb colour, double alpha)
{
  double dx = x1 - x0, dy = y1 - y0, length2 = dx * dx + dy * dy, reach = 0.5 * width + 1;
  int lo_x = (int)floor(fmax(fmin(x0, x1) - reach, 0)),
      lo_y = (int)floor(fmax(fmin(y0, y1) - reach, 0));
  int hi_x = (int)ceil(fmin(fmax(x0, x1) + reach, image->width));
  int hi_y = (int)ceil(fmin(fmax(y0, y1) + reach, image->height));
  for (int j = lo_y; j < hi_y; j++)
    for (int i = lo_x; i < hi_x; i++) {
      double px = i + 0.5 - x0, py = j + 0.5 - y0;
      double t = length2 > 0 ? (px * dx + py * dy) / length2 : 0;
      t = t < 0 ? 0 : t > 1 ? 1 : t;
      double cover = 0.5 * width + 0.5 - hypot(px - t * dx, py - t * dy);
      if (cover > 0)
        mn_image_blend(image, i, j, colour, alpha * (cover < 1 ? cover : 1));
    }
}

static int inside(const double *xy, int count, double x, double y)
{
  int in = 0;
  for (int i = 0, j = count - 1; i < count; j = i++) {
    double xi = xy[2 * i], yi = xy[2 * i + 1], xj = xy[2 * j], yj = xy[2 * j + 1];
    if ((yi > y) != (yj > y) && x < (xj - xi) * (y - yi) / (yj - yi) + xi)
      in = !in;
  }
  return in;
}

void mn_image_polygon(mn_image *image, const double *xy, int count, mn_rgb colour, double alpha)
{
  enum { SAMPLES = 4 }; /* along each axis of a pixel */
  double lo[2] = {1e30, 1e30}, hi[2] = {-1e30, -1e30};
  for (int i = 0; i < 2 * count; i++) {
    lo[i & 1] = fmin(lo[i & 1], xy[i]);
    hi[i & 1] = fmax(hi[i & 1], xy[i]);
  }
  int x0 = (int)floor(fmax(lo[0], 0)), x1 = (int)ceil(fmin(hi[0], image->width));
  int y0 = (int)floor(fmax(lo[1], 0)), y1 = (int)ceil(fmin(hi[1], image->height));
  for (int j = y0; j < y1; j++)
    for (int i = x0; i < x1; i++) {
      int hits = 0;
      for (int s = 0; s < SAMPLES * SAMPLES; s++)
        hits +=
            inside(xy, count, i + (s % SAMPLES + 0.5) / SAMPLES, j + (s / SAMPLES + 0.5) / SAMPLES);
      if (hits)
        mn_image_blend(image, i, j, colour, alpha * hits / (SAMPLES * SAMPLES));
    }
}

/* ---- colour maps: a few colours at even distances, linear in between ------------------------- */

mn_rgb mn_map_colour(mn_map map, double t)
{
  static const struct {
    int count;
    uint32_t colour[8];
  } maps[] = {
      [MN_MAP_SMOKE] = {6, {0x0f1420, 0x24334d, 0x4a6079, 0x8194a0, 0xbfc5c1, 0xfbf5e6}},
      [MN_MAP_HEAT] = {6, {0x0b0a16, 0x4a1245, 0x9c2036, 0xdb5a1f, 0xf6ab2e, 0xfff5cc}},
      [MN_MAP_SPEED] = {6, {0x2a1547, 0x2f4687, 0x22758b, 0x2fa077, 0x8dc44f, 0xf6e34b}},
      [MN_MAP_DIVERGE] = {7,
                          {0x1c3d87, 0x4b84c5, 0xb3cfe7, 0xf7f5f2, 0xf0bf9f, 0xd1604c, 0x871427}},
      [MN_MAP_WATER] = {4, {0xeef6fb, 0x9cc9e6, 0x3f88c5, 0x0b3c6e}},
  };
  int last = maps[map].count - 1;
  double s = (t > 0 ? t < 1 ? t : 1 : 0) * last;
  int i = (int)s < last ? (int)s : last - 1;
  return mn_rgb_mix(mn_rgb_hex(maps[map].colour[i]), mn_rgb_hex(maps[map].colour[i + 1]), s - i);
}

/* ---- files ----------------------------------------------------------------------------------- */

mn_status mn_image_encode(mn_context *ctx, const mn_image *image, mn_text *png)
{
  *png = (mn_text){0};
  png_image head = {.version = PNG_IMAGE_VERSION,
                    .width = (png_uint_32)image->width,
                    .height = (png_uint_32)image->height,
                    .format = PNG_FORMAT_RGB};
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(head);
  void *memory;
  MN_TRY(mn_alloc(ctx, "a PNG file", bytes, 1, &memory));
  mn_status status = MN_OK;
  if (!png_image_write_to_memory(&head, memory, &bytes, 0, image->data, 0, NULL))
    status = mn_fail(ctx, MN_ENVIRONMENT, "cannot make a PNG: %s", head.message);
  else
    mn_text_add_bytes(png, memory, bytes);
  mn_free(memory);
  if (png->failed)
    status = mn_fail(ctx, MN_ENVIRONMENT, "out of memory: a PNG file");
  return status;
}

mn_status mn_image_decode(mn_context *ctx, const void *png, size_t bytes, mn_image *image)
{
  enum { LARGEST = 1 << 15 };
  png_image head = {.version = PNG_IMAGE_VERSION};
  png_color white = {255, 255, 255};
  *image = (mn_image){0};
  if (!png_image_begin_read_from_memory(&head, png, bytes))
    return mn_fail(ctx, MN_BAD_INPUT, "cannot read a PNG: %s", head.message);
  head.format = PNG_FORMAT_RGB;
  if (head.width > LARGEST || head.height > LARGEST) {
    png_image_free(&head);
    return mn_fail(ctx, MN_BAD_INPUT, "a PNG of %u x %u pixels: at most %d are read", head.width,
                   head.height, (int)LARGEST);
  }
  mn_status status =
      mn_image_create(ctx, (int)head.width, (int)head.height, mn_rgb_hex(0xffffff), image);
  if (status != MN_OK)
    png_image_free(&head);
  else if (!png_image_finish_read(&head, &white, image->data, 0, NULL)) {
    mn_image_destroy(image);
    status = mn_fail(ctx, MN_BAD_INPUT, "cannot read a PNG: %s", head.message);
  }
  return status;
}

mn_status mn_image_write(mn_context *ctx, const mn_image *image, const char *path)
{
  mn_text png;
  MN_TRY(mn_image_encode(ctx, image, &png));
  mn_status status = mn_write_file(ctx, path, png.data, png.size);
  mn_text_free(&png);
  return status;
}

void mn_base64(mn_text *text, const void *data, size_t bytes)
{
  static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const uint8_t *p = data;
  char line[4 * 256];
  size_t used = 0;
  for (size_t i = 0; i < bytes; i += 3) {
    size_t n = bytes - i < 3 ? bytes - i : 3;
    uint32_t word = (uint32_t)p[i] << 16 | (n > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
                    (n > 2 ? (uint32_t)p[i + 2] : 0);
    for (size_t c = 0; c < 4; c++)
      line[used++] = c <= n ? DIGITS[word >> (18 - 6 * c) & 63] : '=';
    if (used == sizeof line || i + 3 >= bytes) {
      mn_text_add_bytes(text, line, used);
      used = 0;
    }
  }
}
