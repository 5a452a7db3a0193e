#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/status.h"

enum { PATH_SIZE = 4096 };

static mn_status path_too_long(mn_context *ctx, const char *path)
{
  return mn_fail(ctx, MN_BAD_INPUT, "path is too long: %.80s...", path);
}

mn_status mn_make_folder(mn_context *ctx, const char *path)
{
  char part[PATH_SIZE];
  if (strlen(path) >= sizeof part)
    return path_too_long(ctx, path);
  strcpy(part, path);
  for (char *p = part + 1;; p++) {
    if (*p && *p != '/')
      continue;
    char keep = *p;
    *p = 0;
    if (mkdir(part, 0777) && errno != EEXIST)
      return mn_fail(ctx, MN_ENVIRONMENT, "cannot make the folder %s: %s", part, strerror(errno));
    *p = keep;
    if (!keep)
      break;
  }
  struct stat info;
  if (stat(path, &info) || !S_ISDIR(info.st_mode))
    return mn_fail(ctx, MN_ENVIRONMENT, "%s is not a folder", path);
  return MN_OK;
}

static mn_status part_name(mn_context *ctx, const char *path, char part[PATH_SIZE])
{
  if (snprintf(part, PATH_SIZE, "%s.part", path) >= PATH_SIZE)
    return path_too_long(ctx, path);
  return MN_OK;
}

mn_status mn_open_part(mn_context *ctx, const char *path, FILE **file)
{
  char part[PATH_SIZE];
  MN_TRY(part_name(ctx, path, part));
  *file = fopen(part, "wb");
  if (!*file)
    return mn_fail(ctx, MN_ENVIRONMENT, "cannot write %s: %s", part, strerror(errno));
  return MN_OK;
}

mn_status mn_close_part(mn_context *ctx, const char *path, FILE *file, int keep)
{
  char part[PATH_SIZE];
  MN_TRY(part_name(ctx, path, part));
  int bad = ferror(file) || fflush(file) || fsync(fileno(file));
  int error = errno;
  if (fclose(file) && !bad) {
    bad = 1;
    error = errno;
  }
  if (keep && !bad && rename(part, path)) {
    bad = 1;
    error = errno;
  }
  if (!keep || bad)
    unlink(part);
  if (bad)
    return mn_fail(ctx, MN_ENVIRONMENT, "cannot write %s: %s", path, strerror(error));
  return MN_OK;
}

mn_status mn_write_file(mn_context *ctx, const char *path, const void *data, size_t bytes)
{
  FILE *file;
  MN_TRY(mn_open_part(ctx, path, &file));
  fwrite(data, 1, bytes, file);
  return mn_close_part(ctx, path, file, 1);
}

mn_status mn_read_file(mn_context *ctx, const char *path, size_t limit, char **data, size_t *bytes)
{
  *data = NULL;
  FILE *file = fopen(path, "rb");
  if (!file)
    return mn_fail(ctx, MN_BAD_INPUT, "cannot read %s: %s", path, strerror(errno));
  struct stat info;
  mn_status status = MN_OK;
  if (fstat(fileno(file), &info) || !S_ISREG(info.st_mode))
    status = mn_fail(ctx, MN_BAD_INPUT, "cannot read %s: not a file", path);
  else if ((size_t)info.st_size > limit)
    status = mn_fail(ctx, MN_BAD_INPUT, "cannot read %s: %lld bytes, at most %zu are allowed", path,
                     (long long)info.st_size, limit);
  else
    status = mn_alloc(ctx, path, (size_t)info.st_size + 1, 1, (void **)data);
  if (status == MN_OK) {
    *bytes = fread(*data, 1, (size_t)info.st_size, file);
    if (*bytes != (size_t)info.st_size)
      status = mn_fail(ctx, MN_ENVIRONMENT, "cannot read %s: %s", path, strerror(errno));
  }
  fclose(file);
  if (status != MN_OK) {
    mn_free(*data);
    *data = NULL;
  }
  return status;
}

mn_status mn_remove_tree(mn_context *ctx, const char *path)
{
  struct stat info;
  if (lstat(path, &info))
    return MN_OK;
  if (S_ISDIR(info.st_mode)) {
    DIR *dir = opendir(path);
    if (!dir)
      return mn_fail(ctx, MN_ENVIRONMENT, "cannot open %s: %s", path, strerror(errno));
    mn_status status = MN_OK;
    for (struct dirent *e; status == MN_OK && (e = readdir(dir));) {
      char inner[PATH_SIZE];
      if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
        continue;
      if (snprintf(inner, sizeof inner, "%s/%s", path, e->d_name) >= (int)sizeof inner)
        status = path_too_long(ctx, path);
      else
        status = mn_remove_tree(ctx, inner);
    }
    closedir(dir);
    MN_TRY(status);
    if (rmdir(path))
      return mn_fail(ctx, MN_ENVIRONMENT, "cannot remove %s: %s", path, strerror(errno));
  } else if (unlink(path))
    return mn_fail(ctx, MN_ENVIRONMENT, "cannot remove %s: %s", path, strerror(errno));
  return MN_OK;
}
