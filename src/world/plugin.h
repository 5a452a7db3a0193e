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
/* After its box was destroyed. Fine with NULL. */
void mn_plugin_unload(mn_loaded **loaded);

#endif
