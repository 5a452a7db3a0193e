/* A checkpoint: a folder with one .npy per array of the state and manifest.json:

       format    of this layout; program: the version that wrote it; scene, cells: what it is of
       clock     time (as a number to read, time_hex to be exact), step, frame
       arrays    name, file, type, shape, bytes, checksum of each
       state     hash of clock and arrays, the same as mn_world_hash
       note      what the caller wanted to keep with it

   It is written as FOLDER.part, every file and the folder synced, then renamed: a folder under its
   final name is whole. A load verifies everything before it changes the world. */
#include "world/checkpoint.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "world/npy.h"

static const size_t MANIFEST_LIMIT = (size_t)1 << 24;

static mn_status join(mn_context *ctx, char path[MN_PATH_MAX], const char *folder, const char *end)
{
  if (snprintf(path, MN_PATH_MAX, "%s%s", folder, end) >= MN_PATH_MAX)
    return mn_fail(ctx, MN_BAD_INPUT, "path is too long: %.80s...", folder);
  return MN_OK;
}

static mn_status sync_folder(mn_context *ctx, const char *path)
{
  int fd = open(path, O_RDONLY);
  int bad = fd < 0 || fsync(fd), error = errno;
  if (fd >= 0)
    close(fd);
  return bad ? mn_fail(ctx, MN_ENVIRONMENT, "cannot sync %s: %s", path, strerror(error)) : MN_OK;
}

static void hex_text(uint64_t value, char text[20])
{
  snprintf(text, 20, "%016" PRIx64, value);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void add_clock(cJSON *root, const mn_clock *clock)
{
  char hex[40];
  snprintf(hex, sizeof hex, "%a", clock->time);
  cJSON *c = cJSON_AddObjectToObject(root, "clock");
  cJSON_AddNumberToObject(c, "time", clock->time);
  cJSON_AddStringToObject(c, "time_hex", hex);
  cJSON_AddNumberToObject(c, "step", (double)clock->step);
  cJSON_AddNumberToObject(c, "frame", (double)clock->frame);
}

static void add_array(cJSON *list, const mn_array *a)
{
  static const char *const types[] = {"float64", "int64", "uint8"};
  char file[sizeof a->name + 8], sum[20];
  snprintf(file, sizeof file, "%.47s.npy", a->name);
  hex_text(mn_hash(MN_HASH_START, a->data, mn_array_bytes(a)), sum);
  cJSON *row = cJSON_CreateObject();
  cJSON_AddStringToObject(row, "name", a->name);
  cJSON_AddStringToObject(row, "file", file);
  cJSON_AddStringToObject(row, "type", types[a->type]);
  cJSON *shape = cJSON_AddArrayToObject(row, "shape");
  for (int i = 0; i < a->rank; i++)
    cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)a->shape[i]));
  cJSON_AddNumberToObject(row, "bytes", (double)mn_array_bytes(a));
  cJSON_AddStringToObject(row, "checksum", sum);
  cJSON_AddItemToArray(list, row);
}

static mn_status write_manifest(mn_world *w, const char *path, const mn_array *arrays, int count,
                                const char *note)
{
  const mn_domain_def *d = &w->def->domain;
  char state[20];
  cJSON *root = cJSON_CreateObject();
  cJSON_AddNumberToObject(root, "format", MN_CHECKPOINT_FORMAT);
  cJSON_AddStringToObject(root, "program", mn_version());
  cJSON_AddStringToObject(root, "scene", w->def->name);
  cJSON_AddItemToObject(root, "cells", cJSON_CreateIntArray(d->cells, d->dim));
  add_clock(root, &w->clock);
  cJSON *list = cJSON_AddArrayToObject(root, "arrays");
  for (int i = 0; i < count; i++)
    add_array(list, &arrays[i]);
  hex_text(mn_state_hash(&w->clock, arrays, count), state);
  cJSON_AddStringToObject(root, "state", state);
  if (note)
    cJSON_AddItemToObject(root, "note", cJSON_Parse(note));
  char *text = cJSON_Print(root);
  cJSON_Delete(root);
  if (!text)
    return mn_fail(w->ctx, MN_ENVIRONMENT, "out of memory: a checkpoint's manifest");
  mn_text file = {0};
  mn_text_add(&file, "%s\n", text);
  cJSON_free(text);
  mn_status status = file.failed ? mn_fail(w->ctx, MN_ENVIRONMENT, "out of memory: a manifest")
                                 : mn_write_file(w->ctx, path, file.data, file.size);
  mn_text_free(&file);
  return status;
}

static mn_status write_files(mn_world *w, const char *folder, const char *note)
{
  mn_array arrays[MN_ARRAYS_MAX];
  int count = mn_world_arrays(w, arrays);
  char path[MN_PATH_MAX], end[80];
  MN_TRY(mn_make_folder(w->ctx, folder));
  for (int i = 0; i < count; i++) {
    snprintf(end, sizeof end, "/%.47s.npy", arrays[i].name);
    MN_TRY(join(w->ctx, path, folder, end));
    MN_TRY(mn_npy_write(w->ctx, path, &arrays[i]));
  }
  MN_TRY(join(w->ctx, path, folder, "/manifest.json"));
  MN_TRY(write_manifest(w, path, arrays, count, note));
  return sync_folder(w->ctx, folder);
}

/* The parent's entry must reach the disk as well. */
static mn_status sync_parent(mn_context *ctx, const char *folder)
{
  char parent[MN_PATH_MAX];
  MN_TRY(join(ctx, parent, folder, ""));
  char *slash = strrchr(parent, '/');
  if (slash == parent)
    slash[1] = 0;
  else if (slash)
    *slash = 0;
  return sync_folder(ctx, slash ? parent : ".");
}

/* `part` takes the name `folder`; an older checkpoint of that name is moved aside and removed. */
static mn_status take_name(mn_context *ctx, const char *part, const char *folder)
{
  struct stat info;
  char path[MN_PATH_MAX], old[MN_PATH_MAX];
  MN_TRY(join(ctx, old, folder, ".old.part"));
  MN_TRY(mn_remove_tree(ctx, old));
  if (!lstat(folder, &info)) {
    MN_TRY(join(ctx, path, folder, "/manifest.json"));
    if (stat(path, &info))
      return mn_fail(ctx, MN_BAD_INPUT, "%s exists and is not a checkpoint: left as it is", folder);
    if (rename(folder, old))
      return mn_fail(ctx, MN_ENVIRONMENT, "cannot replace %s: %s", folder, strerror(errno));
  }
  if (rename(part, folder)) {
    int error = errno;
    if (rename(old, folder) && errno != ENOENT)
      mn_log(ctx, MN_LOG_WARNING, "the earlier checkpoint stays as %s", old);
    return mn_fail(ctx, MN_ENVIRONMENT, "cannot write %s: %s", folder, strerror(error));
  }
  MN_TRY(sync_parent(ctx, folder));
  return mn_remove_tree(ctx, old);
}

int mn_checkpoint_possible(const mn_world *w)
{
  return !w->lost;
}

mn_status mn_checkpoint_write(mn_world *w, const char *folder, const char *note)
{
  char part[MN_PATH_MAX];
  MN_TRY(join(w->ctx, part, folder, ".part"));
  MN_TRY(mn_remove_tree(w->ctx, part));
  mn_status status = write_files(w, part, note);
  if (status == MN_OK)
    status = take_name(w->ctx, part, folder);
  if (status != MN_OK) {
    char why[MN_MESSAGE_MAX];
    memcpy(why, w->ctx->message, sizeof why);
    if (mn_remove_tree(w->ctx, part) != MN_OK)
      mn_log(w->ctx, MN_LOG_WARNING, "%s", w->ctx->message);
    return mn_fail(w->ctx, status, "%s", why);
  }
  return MN_OK;
}

mn_status mn_world_save(mn_world *w, const char *folder)
{
  return mn_checkpoint_write(w, folder, NULL);
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct loading {
  mn_context *ctx;
  const char *folder;
  cJSON *root;
  mn_clock clock;
  int count;
  mn_array arrays[MN_ARRAYS_MAX]; /* the world's; data point to what was read */
} loading;

static mn_status damaged(const loading *l, const char *what)
{
  return mn_fail(l->ctx, MN_BAD_INPUT, "checkpoint %s is damaged: %s", l->folder, what);
}

static mn_status read_manifest(loading *l)
{
  char path[MN_PATH_MAX], *text;
  size_t bytes;
  MN_TRY(join(l->ctx, path, l->folder, "/manifest.json"));
  if (access(path, F_OK))
    return mn_fail(l->ctx, MN_BAD_INPUT, "%s is not a checkpoint: it has no manifest.json",
                   l->folder);
  MN_TRY(mn_read_file(l->ctx, path, MANIFEST_LIMIT, &text, &bytes));
  l->root = cJSON_ParseWithLength(text, bytes);
  mn_free(text);
  if (!cJSON_IsObject(l->root))
    return damaged(l, "manifest.json cannot be read");
  const cJSON *format = cJSON_GetObjectItemCaseSensitive(l->root, "format");
  if (!cJSON_IsNumber(format))
    return damaged(l, "manifest.json has no format number");
  if (format->valueint > MN_CHECKPOINT_FORMAT) {
    const cJSON *program = cJSON_GetObjectItemCaseSensitive(l->root, "program");
    return mn_fail(l->ctx, MN_BAD_INPUT,
                   "checkpoint %s was written by a newer version of meniscus (%s, format %d); this "
                   "is %s, which reads up to format %d",
                   l->folder, cJSON_IsString(program) ? program->valuestring : "unknown",
                   format->valueint, mn_version(), MN_CHECKPOINT_FORMAT);
  }
  return MN_OK;
}

static mn_status check_scene(const loading *l, const mn_model_def *def)
{
  const cJSON *scene = cJSON_GetObjectItemCaseSensitive(l->root, "scene");
  const cJSON *cells = cJSON_GetObjectItemCaseSensitive(l->root, "cells");
  if (!cJSON_IsString(scene) || !cJSON_IsArray(cells))
    return damaged(l, "manifest.json does not say of which scene");
  if (strcmp(scene->valuestring, def->name))
    return mn_fail(l->ctx, MN_BAD_INPUT, "checkpoint %s is of the scene \"%.64s\", not of \"%s\"",
                   l->folder, scene->valuestring, def->name);
  int same = cJSON_GetArraySize(cells) == def->domain.dim, n[3] = {1, 1, 1};
  for (int a = 0; a < cJSON_GetArraySize(cells) && a < 3; a++) {
    const cJSON *item = cJSON_GetArrayItem(cells, a);
    n[a] = cJSON_IsNumber(item) ? item->valueint : -1;
    same = same && n[a] == def->domain.cells[a];
  }
  if (!same)
    return mn_fail(
        l->ctx, MN_BAD_INPUT,
        "checkpoint %s has another resolution: %d x %d x %d cells, the scene has %d x %d "
        "x %d",
        l->folder, n[0], n[1], n[2], def->domain.cells[0], def->domain.cells[1],
        def->domain.cells[2]);
  return MN_OK;
}

static mn_status read_clock(loading *l)
{
  const cJSON *c = cJSON_GetObjectItemCaseSensitive(l->root, "clock");
  const cJSON *time = cJSON_GetObjectItemCaseSensitive(c, "time_hex");
  const cJSON *step = cJSON_GetObjectItemCaseSensitive(c, "step");
  const cJSON *frame = cJSON_GetObjectItemCaseSensitive(c, "frame");
  if (!cJSON_IsString(time) || !cJSON_IsNumber(step) || !cJSON_IsNumber(frame))
    return damaged(l, "manifest.json has no clock");
  char *end;
  l->clock.time = strtod(time->valuestring, &end);
  if (end == time->valuestring || *end)
    return damaged(l, "its time is not a number");
  l->clock.step = (int64_t)step->valuedouble;
  l->clock.frame = (int64_t)frame->valuedouble;
  return MN_OK;
}

static const cJSON *find_array(const loading *l, const char *name)
{
  const cJSON *list = cJSON_GetObjectItemCaseSensitive(l->root, "arrays"), *row;
  cJSON_ArrayForEach(row, list)
  {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(row, "name");
    if (cJSON_IsString(item) && !strcmp(item->valuestring, name))
      return row;
  }
  return NULL;
}

/* The length that a variable array had when it was written. */
static mn_status read_length(const loading *l, const cJSON *row, mn_array *a)
{
  const cJSON *shape = cJSON_GetObjectItemCaseSensitive(row, "shape");
  const cJSON *length = cJSON_GetArrayItem(shape, 0);
  if (!cJSON_IsNumber(length) || !(length->valuedouble >= 0 && length->valuedouble < 1e15))
    return damaged(l, "manifest.json has no shape of an array");
  a->shape[0] = (size_t)length->valuedouble;
  return MN_OK;
}

/* Reads the array into memory of its own and compares it with its checksum. */
static mn_status read_array(loading *l, mn_array *a)
{
  char path[MN_PATH_MAX], end[80], sum[20];
  const cJSON *row = find_array(l, a->name);
  const cJSON *checksum = cJSON_GetObjectItemCaseSensitive(row, "checksum");
  a->data = NULL;
  if (!row)
    return mn_fail(l->ctx, MN_BAD_INPUT,
                   "checkpoint %s has no array \"%s\": it is of another scene or another version",
                   l->folder, a->name);
  if (!cJSON_IsString(checksum))
    return damaged(l, "manifest.json has no checksum");
  if (a->variable)
    MN_TRY(read_length(l, row, a));
  snprintf(end, sizeof end, "/%.47s.npy", a->name);
  MN_TRY(join(l->ctx, path, l->folder, end));
  size_t bytes = mn_array_bytes(a);
  MN_TRY(mn_alloc(l->ctx, "a checkpoint's array", bytes, 1, &a->data));
  MN_TRY(mn_npy_read(l->ctx, path, a, a->data));
  hex_text(mn_hash(MN_HASH_START, a->data, bytes), sum);
  if (strcmp(sum, checksum->valuestring))
    return mn_fail(l->ctx, MN_BAD_INPUT,
                   "checkpoint %s is damaged: %s.npy does not match its checksum", l->folder,
                   a->name);
  return MN_OK;
}

static mn_status read_all(loading *l, const mn_model_def *def)
{
  MN_TRY(read_manifest(l));
  MN_TRY(check_scene(l, def));
  MN_TRY(read_clock(l));
  for (int i = 0; i < l->count; i++)
    MN_TRY(read_array(l, &l->arrays[i]));
  char hash[20];
  hex_text(mn_state_hash(&l->clock, l->arrays, l->count), hash);
  const cJSON *state = cJSON_GetObjectItemCaseSensitive(l->root, "state");
  if (!cJSON_IsString(state) || strcmp(hash, state->valuestring))
    return damaged(l, "clock and arrays do not match the hash of the state");
  return MN_OK;
}

static mn_status copy_note(const loading *l, char **note)
{
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(l->root, "note");
  if (!note || !item)
    return MN_OK;
  char *text = cJSON_PrintUnformatted(item);
  if (!text)
    return mn_fail(l->ctx, MN_ENVIRONMENT, "out of memory: a checkpoint's note");
  mn_status status = mn_alloc(l->ctx, "a checkpoint's note", strlen(text) + 1, 1, (void **)note);
  if (status == MN_OK)
    strcpy(*note, text);
  cJSON_free(text);
  return status;
}

mn_status mn_checkpoint_read(mn_world *w, const char *folder, char **note)
{
  loading l = {.ctx = w->ctx, .folder = folder};
  if (note)
    *note = NULL;
  mn_array own[MN_ARRAYS_MAX];
  l.count = mn_world_arrays(w, own);
  for (int i = 0; i < l.count; i++) {
    l.arrays[i] = own[i];
    l.arrays[i].data = NULL;
  }
  mn_status status = read_all(&l, w->def);
  if (status == MN_OK)
    status = copy_note(&l, note);
  if (status == MN_OK && w->fluid.ops && w->fluid.ops->resize)
    status = w->fluid.ops->resize(w->fluid.self, l.arrays, l.count);
  if (status == MN_OK && w->solid.ops && w->solid.ops->resize)
    status = w->solid.ops->resize(w->solid.self, l.arrays, l.count);
  if (status == MN_OK)
    mn_world_arrays(w, own);
  if (status == MN_OK) {
    w->clock = l.clock;
    for (int i = 0; i < l.count; i++)
      if (mn_array_bytes(&own[i])) /* an empty array may have no memory */
        memcpy(own[i].data, l.arrays[i].data, mn_array_bytes(&own[i]));
    mn_world_measure(w);
    status = mn_world_look(w);
    if (status == MN_OK && w->coupling && w->clock.step > 0)
      status = mn_coupling_return(w->coupling);
  }
  for (int i = 0; i < l.count; i++)
    mn_free(l.arrays[i].data);
  cJSON_Delete(l.root);
  return status;
}

mn_status mn_world_load(mn_world *w, const char *folder)
{
  return mn_checkpoint_read(w, folder, NULL);
}
