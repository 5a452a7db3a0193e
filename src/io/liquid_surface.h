/* The water as a closed body. */
#ifndef MN_IO_LIQUID_SURFACE_H
#define MN_IO_LIQUID_SURFACE_H

#include "fluid/mac/mac.h"
#include "io/contour.h"

/* Of a view with a liquid: it ends at the domain's sides, exactly, and at solids. */
MN_MUST_CHECK mn_status mn_liquid_surface(mn_context *ctx, const mn_mac_view *view,
                                          mn_contour *out);

#endif
