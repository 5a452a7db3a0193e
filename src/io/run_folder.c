#include "io/run_folder.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"

enum { KEEP_LAST = 2 };
static const char LOCK[] = ".lock";

mn_status mn_path(mn_context *ctx, char path[MN_PATH_MAX], const char *format, ...)
{
  va_list args;
  va_start(args, format);
  int used = vsnprintf(path, MN_PATH_MAX, format, args);
  va_end(args);
  if (used < 0 || used >= MN_PATH_MAX)
    return mn_fail(ctx, MN_BAD_INPUT, "path is too long: %.80s...", path);
  return MN_OK;
}

static int ends_with(const char *name, const char *end)
{
  size_t a = strlen(name), b = strlen(end);
  return a >= b && !strcmp(name + a - b, end);
}

/* ---- whose directory ------------------------------------------------------------------------- */

static mn_status is_run(mn_context *ctx, const char *directory, int *found)
{
  char path[MN_PATH_MAX], *text;
  size_t bytes;
  *found = 0;
  MN_TRY(mn_path(ctx, path, "%s/run.json", directory));
  if (access(path, F_OK))
    return MN_OK;
  MN_TRY(mn_read_file(ctx, path, (size_t)1 << 24, &text, &bytes));
  cJSON *root = cJSON_ParseWithLength(text, bytes);
  const cJSON *program = cJSON_GetObjectItemCaseSensitive(root, "program");
  *found = cJSON_IsString(program) && !strcmp(program->valuestring, "meniscus");
  cJSON_Delete(root);
  mn_free(text);
  return MN_OK;
}

/* A name that stands in the way; what a run leaves that was killed at its very start does not. */
static mn_status first_entry(mn_context *ctx, const char *directory, char name[256])
{
  name[0] = 0;
  DIR *dir = opendir(directory);
  if (!dir)
    return mn_fail(ctx, MN_ENVIRONMENT, "cannot open %s: %s", directory, strerror(errno));
  for (struct dirent *e; !*name && (e = readdir(dir));)
    if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && strcmp(e->d_name, LOCK) &&
        strcmp(e->d_name, "run.json.part"))
      snprintf(name, 256, "%s", e->d_name);
  closedir(dir);
  return MN_OK;
}

mn_status mn_folder_claim(mn_context *ctx, const char *directory, int *lock)
{
  char path[MN_PATH_MAX], found[256];
  int ours;
  *lock = -1;
  MN_TRY(mn_make_folder(ctx, directory));
  MN_TRY(first_entry(ctx, directory, found));
  MN_TRY(is_run(ctx, directory, &ours));
  if (*found && !ours)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s is not empty and holds no run of meniscus (there is %s in it): choose "
                   "another directory with -o, or empty it",
                   directory, found);
  MN_TRY(mn_path(ctx, path, "%s/%s", directory, LOCK));
  *lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (*lock < 0)
    return mn_fail(ctx, MN_ENVIRONMENT, "cannot write into %s: %s", directory, strerror(errno));
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(*lock, F_SETLK, &whole) && (errno == EACCES || errno == EAGAIN)) {
    mn_folder_release(lock);
    return mn_fail(ctx, MN_ENVIRONMENT, "another meniscus is running in %s", directory);
  }
  return MN_OK;
}

void mn_folder_release(int *lock)
{
  if (*lock >= 0)
    close(*lock);
  *lock = -1;
}

/* ---- what is ours ---------------------------------------------------------------------------- */

/* Frame of grid_000012.vti and the like: a word, a number of six digits or more, an extension of
   ours; -1 for other names. */
static int64_t frame_of(const char *name)
{
  static const char *const extensions[] = {".vti", ".vtp", ".vtu", ".png"};
  const char *dash = strrchr(name, '_'), *dot = strrchr(name, '.');
  if (!dash || !dot || dot - dash < 7)
    return -1;
  for (const char *c = dash + 1; c < dot; c++)
    if (!isdigit((unsigned char)*c))
      return -1;
  for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
    if (!strcmp(dot, extensions[i]))
      return strtoll(dash + 1, NULL, 10);
  return -1;
}

/* -1 for names that are no checkpoints */
static int parse_saved(const char *name, mn_saved *saved)
{
  long long frame, step;
  int used = 0;
  *saved = (mn_saved){.kept = !strncmp(name, "kept_", 5)};
  const char *rest = name + (saved->kept ? 5 : 0);
  if (sscanf(rest, "frame_%lld_step_%lld%n", &frame, &step, &used) != 2 || rest[used])
    return -1;
  saved->frame = frame;
  saved->step = step;
  snprintf(saved->name, sizeof saved->name, "%.90s", name);
  return 0;
}

void mn_saved_name(mn_saved *saved)
{
  snprintf(saved->name, sizeof saved->name, "%sframe_%06lld_step_%08lld",
           saved->kept ? "kept_" : "", (long long)saved->frame, (long long)saved->step);
}

typedef struct limits {
  int64_t frame, step;
} limits;

static int drop_part(const char *name, limits after)
{
  (void)after;
  return ends_with(name, ".part");
}

static int drop_frame(const char *name, limits after)
{
  return frame_of(name) > after.frame || (after.frame < 0 && !strcmp(name, "frames.pvd"));
}

static int drop_checkpoint(const char *name, limits after)
{
  mn_saved saved;
  return !parse_saved(name, &saved) && saved.step > after.step;
}

/* Takes the final name away first: a checkpoint under its name is whole, also when we are killed.
 */
static mn_status discard(mn_context *ctx, const char *path)
{
  char part[MN_PATH_MAX];
  if (ends_with(path, ".part"))
    return mn_remove_tree(ctx, path);
  MN_TRY(mn_path(ctx, part, "%s.part", path));
  MN_TRY(mn_remove_tree(ctx, part));
  if (rename(path, part))
    return mn_fail(ctx, MN_ENVIRONMENT, "cannot remove %s: %s", path, strerror(errno));
  return mn_remove_tree(ctx, part);
}

/* Removes the entries of a folder that `drop` names; fine if the folder is not there. */
static mn_status remove_some(mn_context *ctx, const char *folder,
                             int (*drop)(const char *name, limits after), limits after)
{
  DIR *dir = opendir(folder);
  if (!dir)
    return errno == ENOENT
               ? MN_OK
               : mn_fail(ctx, MN_ENVIRONMENT, "cannot open %s: %s", folder, strerror(errno));
  mn_status status = MN_OK;
  for (struct dirent *e; status == MN_OK && (e = readdir(dir));) {
    char path[MN_PATH_MAX];
    if (!drop(e->d_name, after))
      continue;
    status = mn_path(ctx, path, "%s/%s", folder, e->d_name);
    if (status == MN_OK)
      status = discard(ctx, path);
  }
  closedir(dir);
  return status;
}

mn_status mn_folder_tidy(mn_context *ctx, const char *directory)
{
  static const char *const folders[] = {"", "/frames", "/preview", "/checkpoint"};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    char path[MN_PATH_MAX];
    MN_TRY(mn_path(ctx, path, "%s%s", directory, folders[i]));
    MN_TRY(remove_some(ctx, path, drop_part, (limits){0}));
  }
  return MN_OK;
}

mn_status mn_folder_take_back(mn_context *ctx, const char *directory, int64_t frame, int64_t step)
{
  char path[MN_PATH_MAX];
  limits after = {frame, step};
  MN_TRY(mn_path(ctx, path, "%s/checkpoint", directory));
  MN_TRY(remove_some(ctx, path, drop_checkpoint, after));
  MN_TRY(mn_path(ctx, path, "%s/frames", directory));
  MN_TRY(remove_some(ctx, path, drop_frame, after));
  MN_TRY(mn_path(ctx, path, "%s/preview", directory));
  return remove_some(ctx, path, drop_frame, after);
}

mn_status mn_folder_clear(mn_context *ctx, const char *directory)
{
  static const char *const files[] = {"steps.csv", "probes.csv", "regions.csv", "report.html",
                                      "scene.lua"};
  static const char *const folders[] = {"frames", "preview", "checkpoint"};
  char path[MN_PATH_MAX];
  MN_TRY(mn_folder_tidy(ctx, directory));
  MN_TRY(mn_folder_take_back(ctx, directory, -1, -1));
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    MN_TRY(mn_path(ctx, path, "%s/%s", directory, files[i]));
    MN_TRY(mn_remove_tree(ctx, path));
  }
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    MN_TRY(mn_path(ctx, path, "%s/%s", directory, folders[i]));
    if (rmdir(path) && errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST)
      return mn_fail(ctx, MN_ENVIRONMENT, "cannot remove %s: %s", path, strerror(errno));
  }
  return MN_OK;
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

static int by_step(const void *a, const void *b)
{
  const mn_saved *x = a, *y = b;
  return x->step < y->step ? -1 : x->step > y->step;
}

mn_status mn_folder_checkpoints(mn_context *ctx, const char *directory, mn_saved **list, int *count)
{
  char path[MN_PATH_MAX];
  *list = NULL;
  *count = 0;
  MN_TRY(mn_path(ctx, path, "%s/checkpoint", directory));
  DIR *dir = opendir(path);
  if (!dir)
    return MN_OK;
  int capacity = 0;
  mn_status status = MN_OK;
  for (struct dirent *e; status == MN_OK && (e = readdir(dir));) {
    mn_saved saved;
    if (parse_saved(e->d_name, &saved))
      continue;
    if (*count == capacity) {
      int more = capacity ? 2 * capacity : 8;
      status = mn_grow(ctx, "a list of checkpoints", (size_t)capacity, (size_t)more, sizeof saved,
                       (void **)list);
      capacity = status == MN_OK ? more : capacity;
    }
    if (status == MN_OK)
      (*list)[(*count)++] = saved;
  }
  closedir(dir);
  if (*count)
    qsort(*list, (size_t)*count, sizeof **list, by_step);
  return status;
}

mn_status mn_folder_prune(mn_context *ctx, const char *directory)
{
  mn_saved *list;
  int count;
  mn_status status = mn_folder_checkpoints(ctx, directory, &list, &count);
  for (int i = 0; status == MN_OK && i < count - KEEP_LAST; i++) {
    char path[MN_PATH_MAX];
    if (list[i].kept)
      continue;
    status = mn_path(ctx, path, "%s/checkpoint/%s", directory, list[i].name);
    if (status == MN_OK)
      status = discard(ctx, path);
  }
  mn_free(list);
  return status;
}
