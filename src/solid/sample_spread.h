/* Of many small pieces of a surface, few that are evenly spread. */
#ifndef MN_SOLID_SAMPLE_SPREAD_H
#define MN_SOLID_SAMPLE_SPREAD_H

#include "solid/sample.h"

/* Points about `spacing` apart from pieces about a quarter of it. */
MN_MUST_CHECK mn_status mn_sample_spread(mn_context *ctx, int dim, const mn_sample *fine,
                                         double spacing, mn_sample *out);
MN_MUST_CHECK mn_status mn_sample_push(mn_context *ctx, mn_sample *s, mn_vec3 x, mn_vec3 n,
                                       double area);

#endif
