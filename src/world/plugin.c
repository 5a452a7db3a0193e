#include "world/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/status.h"
#include "meniscus/plugin.h"
#include "world/world.h"

enum { PLUGIN_ARRAYS_MAX = MN_ARRAYS_MAX / 4 };

struct mn_loaded {
  void *handle;
  const mn_plugin *plugin;
  mn_plugin_host host;
  /* its state, as it last showed it in order */
  const char *kind, *name; /* "fluid" or "solid", and its own */
  int (*arrays)(void *self, mn_array *arrays, int capacity);
  void *self;
  mn_array agreed[PLUGIN_ARRAYS_MAX];
  int count; /* -1: not yet */
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

/* It refused, in its own words if it has any. */
static mn_status unmade(mn_context *ctx, const char *key, const char *file, mn_status status)
{
  mn_status kind = status == MN_ENVIRONMENT || status == MN_FAILED ? status : MN_BAD_INPUT;
  if (!*ctx->message)
    return mn_fail(ctx, kind, "%s: the plug-in \"%s\" failed with status %d and no message", key,
                   file, (int)status);
  return mn_fail_prefix(ctx, kind, "%s: the plug-in \"%s\"", key, file);
}

static mn_status incomplete(mn_context *ctx, const char *key, const char *what)
{
  return mn_fail(ctx, MN_BAD_INPUT, "%s: the plug-in's table has no %s", key, what);
}

/* Its arrays can be written to checkpoints beside those of the program. */
static mn_status check_arrays(mn_context *ctx, const mn_loaded *l, const mn_array *arrays,
                              int count)
{
  if (count < 0 || count > PLUGIN_ARRAYS_MAX)
    return mn_fail(ctx, MN_BAD_INPUT, "the %s \"%s\" has %d arrays of state, allowed: from 0 to %d",
                   l->kind, l->name, count, PLUGIN_ARRAYS_MAX);
  for (int i = 0; i < count; i++) {
    const mn_array *a = &arrays[i];
    if (!*a->name || !memchr(a->name, 0, sizeof a->name) || strpbrk(a->name, "/\\") ||
        a->rank < 1 || a->rank > 4 || (int)a->type < MN_F64 || a->type > MN_U8)
      return mn_fail(ctx, MN_BAD_INPUT,
                     "the %s \"%s\" has an array %d of state \"%.47s\" that needs a name without "
                     "slashes, a rank from 1 to 4 and a type of box.h",
                     l->kind, l->name, i, a->name);
    if (!a->data && mn_array_bytes(a))
      return mn_fail(ctx, MN_BAD_INPUT, "the %s \"%s\" has an array \"%s\" of state without data",
                     l->kind, l->name, a->name);
  }
  return MN_OK;
}

/* The same arrays as before; only variable ones may be longer or shorter. */
static mn_status compare_arrays(mn_context *ctx, const mn_loaded *l, const mn_array *arrays,
                                int count)
{
  if (count != l->count)
    return mn_fail(ctx, MN_FAILED, "the %s \"%s\" now has %d arrays of state, it had %d", l->kind,
                   l->name, count, l->count);
  for (int i = 0; i < count; i++) {
    const mn_array *a = &arrays[i], *b = &l->agreed[i];
    size_t first = a->variable ? 1 : 0, rank = (size_t)a->rank;
    if (strcmp(a->name, b->name) || a->type != b->type || a->rank != b->rank ||
        a->variable != b->variable ||
        memcmp(a->shape + first, b->shape + first, (rank - first) * sizeof *a->shape))
      return mn_fail(ctx, MN_FAILED,
                     "the %s \"%s\" changed the name, type or size of its array \"%s\" of state",
                     l->kind, l->name, b->name);
  }
  return MN_OK;
}

mn_status mn_plugin_check_state(mn_context *ctx, mn_loaded *l)
{
  mn_array found[MN_ARRAYS_MAX];
  int count = l->arrays(l->self, found, MN_ARRAYS_MAX);
  mn_status status = check_arrays(ctx, l, found, count);
  if (l->count < 0)
    MN_TRY(status); /* bad input, as all that does not load */
  else if (status != MN_OK)
    return MN_FAILED;
  if (l->count >= 0)
    MN_TRY(compare_arrays(ctx, l, found, count));
  l->count = count;
  memcpy(l->agreed, found, (size_t)count * sizeof *found);
  return MN_OK;
}

/* Those of a plug-in that has lost its mind are taken as it last showed them. */
int mn_plugin_arrays(mn_context *ctx, mn_loaded *l, mn_array *arrays, int capacity)
{
  char words[sizeof ctx->message];
  memcpy(words, ctx->message, sizeof words);
  if (mn_plugin_check_state(ctx, l) != MN_OK)
    memcpy(ctx->message, words, sizeof words);
  for (int i = 0; i < l->count && i < capacity; i++)
    arrays[i] = l->agreed[i];
  return l->count;
}

/* Its state for the first time. */
static mn_status know(mn_context *ctx, mn_loaded *l, const char *kind, const char *name,
                      int (*arrays)(void *, mn_array *, int), void *self, int resizes)
{
  l->kind = kind;
  l->name = name;
  l->arrays = arrays;
  l->self = self;
  l->count = -1;
  MN_TRY(mn_plugin_check_state(ctx, l));
  for (int i = 0; i < l->count; i++)
    if (l->agreed[i].variable && !resizes)
      return mn_fail(ctx, MN_BAD_INPUT,
                     "the %s \"%s\" has an array \"%s\" of variable size, but its table has no "
                     "resize",
                     kind, name, l->agreed[i].name);
  return MN_OK;
}

mn_status mn_plugin_fluid(mn_context *ctx, const mn_model_def *def, mn_loaded **loaded,
                          mn_fluid *fluid)
{
  const char *key = "fluid";
  MN_TRY(load(ctx, key, &def->fluid_plugin, &def->domain, loaded));
  if (!(*loaded)->plugin->make_fluid)
    return mn_fail(ctx, MN_BAD_INPUT, "%s.file \"%s\" makes no fluid", key, def->fluid_plugin.file);
  mn_fluid made = {0};
  ctx->message[0] = 0; /* so that a plug-in without words is not given another's */
  mn_status status = (*loaded)->plugin->make_fluid(&(*loaded)->host, &made);
  if (status != MN_OK)
    return unmade(ctx, key, def->fluid_plugin.file, status);
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
                 : know(ctx, *loaded, "fluid", o->name, o->arrays, made.self, o->resize != NULL);
}

mn_status mn_plugin_solid(mn_context *ctx, const mn_model_def *def, mn_loaded **loaded,
                          mn_solid *solid)
{
  const char *key = "solids";
  MN_TRY(load(ctx, key, &def->solid_plugin, &def->domain, loaded));
  if (!(*loaded)->plugin->make_solid)
    return mn_fail(ctx, MN_BAD_INPUT, "%s: file \"%s\" makes no solid", key,
                   def->solid_plugin.file);
  mn_solid made = {0};
  ctx->message[0] = 0;
  mn_status status = (*loaded)->plugin->make_solid(&(*loaded)->host, &made);
  if (status != MN_OK)
    return unmade(ctx, key, def->solid_plugin.file, status);
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
                 : know(ctx, *loaded, "solid", o->name, o->arrays, made.self, o->resize != NULL);
}
