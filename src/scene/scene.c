/* Scene text to model: run the text in a sandbox, read the tables it returns, make the model. */
#include "meniscus/scene.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"
#include "scene/builtin.h"
#include "scene/nearest.h"
#include "scene/reader.h"

static const size_t MOST_TEXT = (size_t)4 << 20; /* bytes of a scene */

/* ---- built-in scenes ------------------------------------------------------------------------- */

int mn_builtin_scene_count(void)
{
  return mn_builtin_scenes_count;
}

const char *mn_builtin_scene_name(int i)
{
  return i >= 0 && i < mn_builtin_scenes_count ? mn_builtin_scenes[i].name : NULL;
}

const char *mn_builtin_scene_text(int i)
{
  return i >= 0 && i < mn_builtin_scenes_count ? mn_builtin_scenes[i].text : NULL;
}

static const mn_builtin_scene *find_builtin(const char *name)
{
  for (int i = 0; i < mn_builtin_scenes_count; i++)
    if (!strcmp(mn_builtin_scenes[i].name, name))
      return &mn_builtin_scenes[i];
  return NULL;
}

/* ---- where a scene comes from ---------------------------------------------------------------- */

static int ends_in_lua(const char *name)
{
  size_t n = strlen(name);
  return n > 4 && !strcmp(name + n - 4, ".lua");
}

static int is_file(const char *path)
{
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* NULL in `builtin` means that `scene` is a path. */
static mn_status resolve(mn_context *ctx, const char *scene, const mn_builtin_scene **builtin)
{
  *builtin = NULL;
  if (strchr(scene, '/') || ends_in_lua(scene))
    return MN_OK;
  *builtin = find_builtin(scene);
  if (*builtin || is_file(scene))
    return MN_OK;
  mn_nearest nearest = {.word = scene};
  for (int i = 0; i < mn_builtin_scenes_count; i++)
    mn_nearest_offer(&nearest, mn_builtin_scenes[i].name);
  return mn_fail(ctx, MN_BAD_INPUT,
                 "no scene named \"%.200s\"%s%s%s; `meniscus list` shows the built-in ones, a path "
                 "names a file",
                 scene, nearest.best ? ", did you mean " : "", nearest.best ? nearest.best : "",
                 nearest.best ? "?" : "");
}

mn_status mn_scene_text(mn_context *ctx, const char *scene, char **text)
{
  *text = NULL;
  const mn_builtin_scene *builtin;
  MN_TRY(resolve(ctx, scene, &builtin));
  char *data = NULL;
  size_t bytes = builtin ? strlen(builtin->text) : 0;
  if (!builtin)
    MN_TRY(mn_read_file(ctx, scene, MOST_TEXT, &data, &bytes));
  mn_status status = MN_OK;
  if (data && memchr(data, 0, bytes))
    status = mn_fail(ctx, MN_BAD_INPUT, "%s: holds a zero byte, allowed: a Lua text", scene);
  else if (!(*text = malloc(bytes + 1)))
    status = mn_fail(ctx, MN_ENVIRONMENT, "out of memory: %s needs %zu bytes", scene, bytes);
  else {
    memcpy(*text, builtin ? builtin->text : data, bytes);
    (*text)[bytes] = 0;
  }
  mn_free(data);
  return status;
}

mn_status mn_scene_folder(mn_context *ctx, const char *scene, char folder[MN_PATH_MAX])
{
  folder[0] = 0;
  const mn_builtin_scene *builtin;
  MN_TRY(resolve(ctx, scene, &builtin));
  if (builtin)
    return MN_OK;
  const char *slash = strrchr(scene, '/');
  int n = !slash ? 0 : slash == scene ? 1 : (int)(slash - scene);
  char here[MN_PATH_MAX] = ""; /* the whole path: a run may be resumed from elsewhere */
  if (*scene != '/' && !getcwd(here, sizeof here))
    return mn_fail(ctx, MN_ENVIRONMENT, "the working directory has no path: %s", strerror(errno));
  const char *between = *here && n && strcmp(here, "/") ? "/" : "";
  if (strlen(here) + (size_t)n + 1 >= MN_PATH_MAX)
    return mn_fail(ctx, MN_BAD_INPUT, "path is too long: %.80s...", scene);
  snprintf(folder, MN_PATH_MAX, "%s%s%.*s", here, between, n, scene);
  return MN_OK;
}

/* ---- text to model --------------------------------------------------------------------------- */

/* Last part of a path, without .lua. */
static void base_name(const char *path, char name[MN_NAME_MAX])
{
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  size_t n = strlen(base);
  if (ends_in_lua(base))
    n -= 4;
  n = n < MN_NAME_MAX ? n : MN_NAME_MAX - 1;
  memcpy(name, base, n);
  name[n] = 0;
}

static int read_protected(lua_State *L)
{
  mn_reader *r = lua_touserdata(L, 2);
  r->status = mn_read_scene(r, 1);
  return 0;
}

/* Runs the text and reads what it returns. */
static mn_status compile(mn_sandbox *box, mn_reader *r, const char *text)
{
  MN_TRY(mn_sandbox_compile(box, text));
  MN_TRY(mn_sandbox_call(box, 0, 1, MN_SCENE_INSTRUCTIONS));
  MN_TRY(mn_params_check(box));
  lua_pushcfunction(box->L, read_protected);
  lua_insert(box->L, -2);
  lua_pushlightuserdata(box->L, r);
  MN_TRY(mn_sandbox_call(box, 2, 0, MN_SCENE_INSTRUCTIONS));
  return r->status;
}

/* Calls each field function once, so that a mistake shows before a run starts. */
static mn_status try_fields(const mn_model_def *def)
{
  const mn_field_fn *fields[] = {&def->fluid.initial_velocity, &def->fluid.initial_smoke,
                                 &def->fluid.initial_temperature, &def->fluid.viscosity_factor};
  mn_vec3 x = {0}, value;
  for (int i = 0; i < def->domain.dim; i++)
    x.v[i] = def->domain.origin.v[i] + 0.5 * def->domain.size.v[i];
  for (int i = 0; i < 4; i++)
    if (fields[i]->eval)
      MN_TRY(fields[i]->eval(fields[i]->user, x, &value));
  return MN_OK;
}

static void release_sandbox(void *owner)
{
  mn_sandbox *box = owner;
  mn_sandbox_destroy(&box);
}

mn_status mn_scene_load_text(mn_context *ctx, const char *name, const char *folder,
                             const char *text, const mn_setting *settings, int setting_count,
                             mn_model **model)
{
  *model = NULL;
  if (strlen(text) > MOST_TEXT)
    return mn_fail(ctx, MN_BAD_INPUT, "%s: %zu bytes, allowed: at most %zu", name, strlen(text),
                   MOST_TEXT);
  mn_model_def def = mn_model_def_default();
  mn_sandbox *box = NULL;
  MN_TRY(mn_sandbox_create(ctx, name, &box));
  mn_reader reader = {.box = box, .L = box->L, .ctx = ctx, .def = &def, .folder = folder};
  base_name(name, def.name);
  def.owner = box;
  def.release = release_sandbox;

  mn_status status = mn_params_start(box, settings, setting_count);
  if (status == MN_OK)
    status = compile(box, &reader, text);
  if (status == MN_OK)
    status = try_fields(&def);
  while (reader.shape_count > 0)
    mn_shape_destroy(&reader.shapes[--reader.shape_count]);
  mn_free(reader.shapes);

  mn_param *params = box->params; /* from here on the model may own the box */
  def.params = params;
  def.param_count = box->param_count;
  box->params = NULL;
  box->settings = NULL;
  if (status == MN_OK) {
    status = mn_model_create(ctx, &def, model);
    if (status == MN_BAD_INPUT)
      mn_reader_blame_part(&reader, name, status);
  } else
    mn_model_def_release(&def);
  mn_free(def.sources);
  mn_free(def.solids);
  mn_free(def.links);
  mn_free(def.bodies);
  mn_free(def.probes);
  mn_free(params);
  mn_free(reader.parts);
  return status;
}

mn_status mn_scene_load(mn_context *ctx, const char *scene, const mn_setting *settings,
                        int setting_count, mn_model **model)
{
  *model = NULL;
  char *text, folder[MN_PATH_MAX];
  MN_TRY(mn_scene_folder(ctx, scene, folder));
  MN_TRY(mn_scene_text(ctx, scene, &text));
  mn_status status = mn_scene_load_text(ctx, scene, folder, text, settings, setting_count, model);
  free(text);
  return status;
}
