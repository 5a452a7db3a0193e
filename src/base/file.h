/* Files that are whole or absent: written beside the final name, synced, renamed. */
#ifndef MN_BASE_FILE_H
#define MN_BASE_FILE_H

#include <stdio.h>

#include "meniscus/base.h"

/* Makes a folder and its parents; fine if it is there. */
MN_MUST_CHECK mn_status mn_make_folder(mn_context *ctx, const char *path);
/* Writes all bytes under `path` atomically. */
MN_MUST_CHECK mn_status mn_write_file(mn_context *ctx, const char *path, const void *data,
                                      size_t bytes);
/* The whole file, zero-terminated; to be freed with mn_free. `limit` bytes at most. */
MN_MUST_CHECK mn_status mn_read_file(mn_context *ctx, const char *path, size_t limit, char **data,
                                     size_t *bytes);
/* Removes a folder and what is in it; fine if it is not there. */
MN_MUST_CHECK mn_status mn_remove_tree(mn_context *ctx, const char *path);

/* For writers that stream: opens path + ".part"; close syncs and renames, or removes it when
   `keep` is 0 or a write failed. */
MN_MUST_CHECK mn_status mn_open_part(mn_context *ctx, const char *path, FILE **file);
MN_MUST_CHECK mn_status mn_close_part(mn_context *ctx, const char *path, FILE *file, int keep);

#endif
