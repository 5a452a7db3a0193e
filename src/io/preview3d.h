/* The view of a three-dimensional state along the rays of a camera. */
#ifndef MN_IO_PREVIEW3D_H
#define MN_IO_PREVIEW3D_H

#include "fluid/mac/mac.h"
#include "io/image.h"
#include "world/body_view.h"

MN_MUST_CHECK mn_status mn_preview_draw_3d(mn_context *ctx, const mn_mac_view *view,
                                           const mn_body_view *bodies, int body_count,
                                           const mn_model_def *def, double time, mn_image *image);

#endif
