#include "io/preview.h"

#include <math.h>

#include "base/status.h"
#include "io/body_layer.h"
#include "io/preview3d.h"
#include "io/shown.h"

enum { LONG_SIDE = 640, MARGIN = 14 };

typedef struct flat {
  const mn_mac_view *view;
  const mn_model_def *def;
  const mn_shown *shown;
  mn_body_layer layer;
  mn_image *image;
  int left, top, width, height; /* of the domain in the picture */
  double pixel;                 /* m */
} flat;

static double limit01(double x)
{
  return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* The fluid at x, a point of the plane. */
static mn_rgb fluid_colour(const flat *p, mn_vec3 x)
{
  const mn_rgb air = mn_rgb_hex(0xf4f6f8);
  if (p->shown->nothing)
    return air;
  double value = mn_shown_smooth(p->shown, x.x, x.y);
  if (p->shown->map == MN_MAP_WATER) { /* deeper is darker; a bright rim at the surface */
    double depth = -value / (p->pixel * LONG_SIDE);
    mn_rgb water = mn_map_colour(MN_MAP_WATER, 0.95 - 0.4 * exp(-4 * fmax(depth, 0)));
    water = mn_rgb_mix(water, mn_rgb_hex(0xd7ecfa), 0.8 * limit01(1.5 - fabs(value) / p->pixel));
    return mn_rgb_mix(air, water, limit01(0.5 - value / p->pixel));
  }
  mn_rgb colour = mn_map_colour(p->shown->map, mn_shown_part(p->shown, value));
  if (p->view->liquid)
    colour = mn_rgb_mix(air, colour, limit01(0.5 - mn_sample(p->view->liquid, x) / p->pixel));
  return colour;
}

/* Coverage from the distances: a pixel is inside as far as its centre lies beyond the surface. */
static mn_rgb pixel_colour(const flat *p, mn_vec3 x)
{
  mn_rgb colour = fluid_colour(p, x);
  for (int s = 0; s < p->def->source_count; s++) {
    double d = mn_shape_distance(p->def->sources[s].shape, x) / p->pixel;
    colour = mn_rgb_mix(colour, mn_rgb_hex(0xf28c28), 0.85 * limit01(1.3 - fabs(d)));
  }
  if (p->view->obstacles) {
    double d = mn_sample(p->view->obstacles, x) / p->pixel;
    colour = mn_rgb_mix(colour, mn_rgb_hex(0x99a1a9), limit01(0.5 - d));
    colour = mn_rgb_mix(colour, mn_rgb_hex(0x22282e), limit01(1.6 - fabs(d + 0.6)));
  }
  return colour;
}

/* Bodies lie on top of what the grid holds. */
static mn_rgb add_bodies(const flat *p, int i, int j, mn_rgb colour)
{
  mn_layer_pixel body = mn_body_layer_pixel(&p->layer, i, j);
  return mn_rgb_mix(colour, body.colour, body.cover);
}

static void draw_rows(const flat *p, int threads)
{
  const mn_grid *g = p->view->grid;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int j = 0; j < p->height; j++)
    for (int i = 0; i < p->width; i++) {
      mn_vec3 x = mn_v3(g->origin.x + (i + 0.5) * p->pixel,
                        g->origin.y + (p->height - j - 0.5) * p->pixel, 0);
      int px = p->left + i, py = p->top + j;
      mn_image_blend(p->image, px, py, add_bodies(p, px, py, pixel_colour(p, x)), 1);
    }
}

static mn_status draw_flat(mn_context *ctx, const mn_mac_view *view, const mn_body_view *bodies,
                           int body_count, const mn_model_def *def, double time, mn_image *image)
{
  const mn_grid *g = view->grid;
  mn_shown shown;
  MN_TRY(mn_shown_make(ctx, view, def, 2 * LONG_SIDE, mn_body_stress(bodies, body_count),
                       mn_body_by_tension(bodies, body_count), &shown));
  flat p = {.view = view, .def = def, .shown = &shown, .image = image};
  int longest = g->n[0] > g->n[1] ? g->n[0] : g->n[1];
  p.pixel = g->dx * longest / LONG_SIDE;
  p.width = (int)lround(fmax(g->n[0] * g->dx / p.pixel, 1));
  p.height = (int)lround(fmax(g->n[1] * g->dx / p.pixel, 1));
  int inner = p.width > MN_STRIP_MIN_WIDTH ? p.width : MN_STRIP_MIN_WIDTH;
  p.left = MARGIN + (inner - p.width) / 2;
  p.top = MARGIN;
  int width = inner + 2 * MARGIN, height = p.height + MARGIN + 8 + MN_STRIP_HEIGHT;
  mn_status status = mn_image_create(ctx, width + width % 2, height + height % 2,
                                     mn_rgb_hex(0xffffff), image); /* even, for video codecs */
  mn_camera camera = {.flat = 1,
                      .scale = 1 / p.pixel,
                      .cx = p.left - g->origin.x / p.pixel,
                      .cy = p.top + p.height + g->origin.y / p.pixel};
  if (status == MN_OK)
    status = mn_body_layer_make(ctx, bodies, body_count, &camera, image->width, image->height,
                                shown.stress, &p.layer);
  if (status == MN_OK) {
    mn_rgb ink = mn_rgb_hex(0x20262c);
    mn_image_rectangle(image, p.left - 1, p.top - 1, p.width + 2, p.height + 2, ink, 1);
    draw_rows(&p, mn_context_threads(ctx));
    mn_body_outlines(bodies, body_count, &camera, shown.stress, image);
    mn_shown_strip(&shown, time, image, MARGIN, p.top + p.height + 8, inner, ink);
  }
  mn_body_layer_free(&p.layer);
  mn_shown_free(&shown);
  return status;
}

mn_status mn_preview_draw(mn_context *ctx, const mn_mac_view *view, const mn_body_view *bodies,
                          int body_count, const mn_model_def *def, double time, mn_image *image)
{
  *image = (mn_image){0};
  if (view->grid->dim == 3)
    return mn_preview_draw_3d(ctx, view, bodies, body_count, def, time, image);
  return draw_flat(ctx, view, bodies, body_count, def, time, image);
}
