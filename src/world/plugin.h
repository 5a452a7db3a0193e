/* Boxes from shared objects: the only place that loads foreign code, and only files that a scene
   names. */
#ifndef MN_WORLD_PLUGIN_H
#define MN_WORLD_PLUGIN_H

#include "meniscus/box.h"
#include "meniscus/model.h"

typedef struct mn_loaded mn_loaded;

/* MN_BAD_INPUT if there is no such file, symbol or version, or its tables are not whole. The def is
   borrowed and must outlive the box. */
MN_MUST_CHECK mn_status mn_plugin_fluid(mn_context *ctx, const mn_model_def *def,
                                        mn_loaded **loaded, mn_fluid *fluid);
MN_MUST_CHECK mn_status mn_plugin_solid(mn_context *ctx, const mn_model_def *def,
                                        mn_loaded **loaded, mn_solid *solid);
/* Whether its arrays of state still are what it showed at first; MN_FAILED if not. */
MN_MUST_CHECK mn_status mn_plugin_check_state(mn_context *ctx, mn_loaded *loaded);
/* Its arrays, as they were when last in order; returns how many. */
int mn_plugin_arrays(mn_context *ctx, mn_loaded *loaded, mn_array *arrays, int capacity);
/* After its box was destroyed. Fine with NULL. */
void mn_plugin_unload(mn_loaded **loaded);

#endif
