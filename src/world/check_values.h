/* Checks of single values of a def. Each message names the key as a scene spells it, the value
   found and what is allowed. */
#ifndef MN_WORLD_CHECK_VALUES_H
#define MN_WORLD_CHECK_VALUES_H

#include "meniscus/model.h"

#define MN_LIGHT_SPEED 299792458.0 /* m/s */

/* "KEY is VALUE: must be ALLOWED". */
MN_MUST_CHECK mn_status mn_bad_value(mn_context *ctx, const char *key, double value,
                                     const char *allowed);
MN_MUST_CHECK mn_status mn_check_finite(mn_context *ctx, const char *key, double value);
MN_MUST_CHECK mn_status mn_check_positive(mn_context *ctx, const char *key, double value);
MN_MUST_CHECK mn_status mn_check_not_negative(mn_context *ctx, const char *key, double value);
MN_MUST_CHECK mn_status mn_check_range(mn_context *ctx, const char *key, int value, int lo, int hi);
/* Finite, and without a third component in two dimensions. */
MN_MUST_CHECK mn_status mn_check_vector(mn_context *ctx, int dim, const char *key, mn_vec3 v);
/* The same, and not faster than light. */
MN_MUST_CHECK mn_status mn_check_velocity(mn_context *ctx, int dim, const char *key, mn_vec3 v);
MN_MUST_CHECK mn_status mn_check_timefn(mn_context *ctx, const char *key, const mn_timefn *f);
MN_MUST_CHECK mn_status mn_check_motion(mn_context *ctx, int dim, const char *key,
                                        const mn_motion *motion);
/* Names become columns of CSV files and parts of file names. */
MN_MUST_CHECK mn_status mn_check_name(mn_context *ctx, const char *key, const char *name);
/* Of `count` names, the first at `first` and each `stride` bytes on, no two are alike; entries
   without a name are no clash. */
MN_MUST_CHECK mn_status mn_check_unique(mn_context *ctx, const char *list, const char *first,
                                        size_t stride, int count);

#endif
