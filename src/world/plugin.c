#include "world/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/status.h"
#include "meniscus/plugin.h"
#include "world/world.h"

struct mn_loaded {
  void *handle;
  const mn_plugin *plugin;
  mn_plugin_host host;
};

typedef const mn_plugin *get_plugin(void);

static double number(const mn_plugin_host *host, const char *name, double missing)
{
  const mn_plugin_def *def = host->numbers;
  for (int i = 0; i < def->numbers.count; i++)
    if (!strcmp(def->numbers.entry[i].name, name))
      return def->numbers.entry[i].value;
  return missing;
}

/* ---- loading --------------------------------------------------------------------------------- */

static mn_status open_file(mn_context *ctx, const char *key, const char *file, mn_loaded *l)
{
  char path[MN_PATH_MAX + 2];
  snprintf(path, sizeof path, "%s%s", strchr(file, '/') ? "" : "./", file); /* no search path */
  if (access(path, R_OK))
    return mn_fail(ctx, MN_BAD_INPUT, "%s.file is \"%s\": %s", key, file, strerror(errno));
  l->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!l->handle)
    return mn_fail(ctx, MN_BAD_INPUT, "%s.file cannot be loaded: %s", key, dlerror());
  get_plugin *get;
  void *symbol = dlsym(l->handle, "mn_plugin_get");
  memcpy(&get, &symbol, sizeof get); /* ISO C has no cast from an object to a function */
  if (!symbol)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s.file \"%s\" has no function mn_plugin_get: it is no plug-in, see "
                   "meniscus/plugin.h",
                   key, file);
  l->plugin = get();
  if (!l->plugin)
    return mn_fail(ctx, MN_BAD_INPUT, "%s.file \"%s\": mn_plugin_get gave nothing", key, file);
  if (l->plugin->version != MN_PLUGIN_VERSION)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s.file \"%s\" was made for version %d of the plug-in interface, this program "
                   "has version %d: compile it again with this version's headers",
                   key, file, l->plugin->version, MN_PLUGIN_VERSION);
  return MN_OK;
}

static mn_status load(mn_context *ctx, const char *key, const mn_plugin_def *def,
                      const mn_domain_def *d, mn_loaded **out)
{
  mn_loaded *l;
  MN_TRY(MN_NEW(ctx, "a plug-in", 1, &l));
  *out = l;
  l->host = (mn_plugin_host){.ctx = ctx,
                             .dim = d->dim,
                             .dx = d->size.x / d->cells[0],
                             .origin = d->origin,
                             .size = d->size,
                             .number = number,
                             .fail = mn_fail,
                             .numbers = def};
  return open_file(ctx, key, def->file, l);
}

void mn_plugin_unload(mn_loaded **loaded)
{
  if (*loaded && (*loaded)->handle)
    dlclose((*loaded)->handle);
  mn_free(*loaded);
  *loaded = NULL;
}

/* ---- boxes that are whole -------------------------------------------------------------------- */

static mn_status incomplete(mn_context *ctx, const char *key, const char *what)
{
  return mn_fail(ctx, MN_BAD_INPUT, "%s: the plug-in's table has no %s", key, what);
}

/* Its arrays can be written to checkpoints beside those of the program. */
static mn_status check_arrays(mn_context *ctx, const char *key, const mn_array *arrays, int count)
{
  if (count < 0 || count > MN_ARRAYS_MAX / 4)
    return mn_fail(ctx, MN_BAD_INPUT, "%s: the plug-in has %d arrays of state, allowed: at most %d",
                   key, count, MN_ARRAYS_MAX / 4);
  for (int i = 0; i < count; i++) {
    const mn_array *a = &arrays[i];
    if (!*a->name || !memchr(a->name, 0, sizeof a->name) || strpbrk(a->name, "/\\") ||
        a->rank < 1 || a->rank > 4 || (int)a->type < MN_F64 || a->type > MN_U8)
      return mn_fail(ctx, MN_BAD_INPUT,
                     "%s: array %d of the plug-in's state \"%.47s\" needs a name without slashes, "
                     "a rank from 1 to 4 and a type of box.h",
                     key, i, a->name);
    if (!a->data && mn_array_bytes(a))
      return mn_fail(ctx, MN_BAD_INPUT, "%s: array \"%s\" of the plug-in's state has no data", key,
                     a->name);
  }
  return MN_OK;
}

mn_status mn_plugin_fluid(mn_context *ctx, const mn_model_def *def, mn_loaded **loaded,
                          mn_fluid *fluid)
{
  const char *key = "fluid";
  mn_array arrays[MN_ARRAYS_MAX];
  MN_TRY(load(ctx, key, &def->fluid_plugin, &def->domain, loaded));
  if (!(*loaded)->plugin->make_fluid)
    return mn_fail(ctx, MN_BAD_INPUT, "%s.file \"%s\" makes no fluid", key, def->fluid_plugin.file);
  mn_fluid made = {0};
  mn_status status = (*loaded)->plugin->make_fluid(&(*loaded)->host, &made);
  if (status != MN_OK)
    return mn_fail_prefix(ctx, status, "fluid: the plug-in \"%s\"", def->fluid_plugin.file);
  const mn_fluid_ops *o = made.ops;
  if (!o || !o->destroy)
    return incomplete(ctx, key, o ? "destroy" : "ops");
  *fluid = made; /* from here on it is destroyed with the world */
  const char *missing = !o->name || !*o->name ? "name"
                        : !o->max_dt          ? "max_dt"
                        : !o->begin           ? "begin"
                        : !o->solve           ? "solve"
                        : !o->commit          ? "commit"
                        : !o->save            ? "save"
                        : !o->restore         ? "restore"
                        : !o->arrays          ? "arrays"
                                              : NULL;
  return missing ? incomplete(ctx, key, missing)
                 : check_arrays(ctx, key, arrays, o->arrays(made.self, arrays, MN_ARRAYS_MAX));
}

mn_status mn_plugin_solid(mn_context *ctx, const mn_model_def *def, mn_loaded **loaded,
                          mn_solid *solid)
{
  const char *key = "solids";
  mn_array arrays[MN_ARRAYS_MAX];
  MN_TRY(load(ctx, key, &def->solid_plugin, &def->domain, loaded));
  if (!(*loaded)->plugin->make_solid)
    return mn_fail(ctx, MN_BAD_INPUT, "%s: file \"%s\" makes no solid", key,
                   def->solid_plugin.file);
  mn_solid made = {0};
  mn_status status = (*loaded)->plugin->make_solid(&(*loaded)->host, &made);
  if (status != MN_OK)
    return mn_fail_prefix(ctx, status, "solids: the plug-in \"%s\"", def->solid_plugin.file);
  const mn_solid_ops *o = made.ops;
  if (!o || !o->destroy)
    return incomplete(ctx, key, o ? "destroy" : "ops");
  *solid = made;
  const char *missing = !o->name || !*o->name ? "name"
                        : !o->max_dt          ? "max_dt"
                        : !o->begin           ? "begin"
                        : !o->solve           ? "solve"
                        : !o->commit          ? "commit"
                        : !o->save            ? "save"
                        : !o->restore         ? "restore"
                        : !o->arrays          ? "arrays"
                        : !o->sample          ? "sample"
                        : !o->look            ? "look"
                                              : NULL;
  return missing ? incomplete(ctx, key, missing)
                 : check_arrays(ctx, key, arrays, o->arrays(made.self, arrays, MN_ARRAYS_MAX));
}
