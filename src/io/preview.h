/* Pictures of a state, one per frame. */
#ifndef MN_IO_PREVIEW_H
#define MN_IO_PREVIEW_H

#include "fluid/mac/mac.h"
#include "io/image.h"
#include "meniscus/world.h"
#include "world/body_view.h"

/* A PNG of the field def.output.show: in 2D a colour map with solids, bodies and sources, in 3D
   the view along a camera's rays. Without a fluid only the view's grid, and its solids if any. */
MN_MUST_CHECK mn_status mn_preview_write(mn_world *world, const char *path);
/* The same of any view, into a picture that the caller destroys. */
MN_MUST_CHECK mn_status mn_preview_draw(mn_context *ctx, const mn_mac_view *view,
                                        const mn_body_view *bodies, int body_count,
                                        const mn_model_def *def, double time, mn_image *image);

#endif
