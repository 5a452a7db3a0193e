/* A fresh folder in /tmp, and paths in it. */
#ifndef MN_TESTS_FOLDER_H
#define MN_TESTS_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "check.h"

typedef struct folder {
  char path[64], inner[256];
} folder;

static inline void folder_make(folder *f)
{
  strcpy(f->path, "/tmp/meniscus_io_XXXXXX");
  assert_non_null(mkdtemp(f->path));
}
static inline const char *folder_file(folder *f, const char *name)
{
  snprintf(f->inner, sizeof f->inner, "%s/%s", f->path, name);
  return f->inner;
}
static inline void folder_remove(mn_context *ctx, folder *f)
{
  CHECK_OK(ctx, mn_remove_tree(ctx, f->path));
}

#endif
