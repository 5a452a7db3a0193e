/* A fluid or a solid of your own as a shared object that a scene names:

       fluid  = plugin { file = "./libmine.so", numbers = { mass = 3 } }
       solids = { plugin { name = "mine", file = "./libmine.so", numbers = { mass = 3 } } }

   The object exports one function, mn_plugin_get, and fills one of the tables of box.h; every
   coupling then works with it. It need not be linked to the library: what it may call is in the
   host. examples/plugin_solid/ is a whole one. Loading it runs its code with all rights of the
   program: name only files that you trust. */
#ifndef MENISCUS_PLUGIN_H
#define MENISCUS_PLUGIN_H

#include "meniscus/box.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Counts up when box.h or this header changes so that older objects would misbehave. */
#define MN_PLUGIN_VERSION 1

/* What the program offers. Borrowed; stands as long as the box. */
typedef struct mn_plugin_host {
  mn_context *ctx;
  int dim;
  double dx;            /* m, width of a cell of the domain */
  mn_vec3 origin, size; /* m, the domain */
  /* The number of that name in the scene; `missing` if it is not there. */
  double (*number)(const struct mn_plugin_host *host, const char *name, double missing);
  /* Keeps a sentence (a printf format) and returns `status`: return host->fail(host->ctx, ...). */
  mn_status (*fail)(mn_context *ctx, mn_status status, const char *format, ...) MN_PRINTF(3, 4);
  const void *numbers; /* the program's */
} mn_plugin_host;

typedef struct mn_plugin {
  int version; /* MN_PLUGIN_VERSION */
  /* Make a box; either may be NULL. ops->destroy frees it. */
  mn_status (*make_fluid)(const mn_plugin_host *host, mn_fluid *fluid);
  mn_status (*make_solid)(const mn_plugin_host *host, mn_solid *solid);
} mn_plugin;

/* The one symbol of the object. */
const mn_plugin *mn_plugin_get(void);

#ifdef __cplusplus
}
#endif
#endif
