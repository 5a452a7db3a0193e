/* Bodies drawn into a layer of samples with depth, for pictures to mix with what the grid holds. */
#ifndef MN_IO_BODY_LAYER_H
#define MN_IO_BODY_LAYER_H

#include "io/camera.h"
#include "io/image.h"
#include "world/body_view.h"

enum { MN_LAYER_SAMPLES = 2 }; /* along each axis of a pixel */

typedef struct mn_body_layer {
  int width, height; /* samples */
  float *depth;      /* m along the camera's direction; 0: nothing there */
  float (*normal)[3];
  uint32_t *colour; /* 0xrrggbb */
} mn_body_layer;

/* What a pixel shows of the bodies. */
typedef struct mn_layer_pixel {
  double cover; /* 0 to 1 */
  double depth; /* m */
  mn_vec3 normal;
  mn_rgb colour;
} mn_layer_pixel;

/* Colours tell bodies apart or, if most > 0, show their stress (tension) from 0 to `most`. */
MN_MUST_CHECK mn_status mn_body_layer_make(mn_context *ctx, const mn_body_view *bodies, int count,
                                           const mn_camera *camera, int width, int height,
                                           double most, mn_body_layer *layer);
void mn_body_layer_free(mn_body_layer *layer);
mn_layer_pixel mn_body_layer_pixel(const mn_body_layer *layer, int i, int j);

/* Outlines of flat bodies and curves, on top. */
void mn_body_outlines(const mn_body_view *bodies, int count, const mn_camera *camera, double most,
                      mn_image *image);
/* 1: no body has a stress, but some a tension: that is shown in its place. */
int mn_body_by_tension(const mn_body_view *bodies, int count);
/* Greatest stress (tension) of all bodies; 0 if none has any. */
double mn_body_stress(const mn_body_view *bodies, int count);
mn_rgb mn_body_colour(int body);

#endif
