/* A run's directory: who may use it, what in it is ours, which checkpoints it holds. */
#ifndef MN_IO_RUN_FOLDER_H
#define MN_IO_RUN_FOLDER_H

#include "meniscus/model.h"

/* printf into a path; MN_BAD_INPUT if it is too long. */
MN_MUST_CHECK mn_status mn_path(mn_context *ctx, char path[MN_PATH_MAX], const char *format, ...)
    MN_PRINTF(3, 4);

/* Makes the directory if needed, and locks it until mn_folder_release. A directory that holds
   something else than a run is refused with MN_BAD_INPUT, one that cannot be written or is in use
   with MN_ENVIRONMENT. */
MN_MUST_CHECK mn_status mn_folder_claim(mn_context *ctx, const char *directory, int *lock);
void mn_folder_release(int *lock);

/* Removes half-written files (.part) of a run that was killed. */
MN_MUST_CHECK mn_status mn_folder_tidy(mn_context *ctx, const char *directory);
/* Removes frames and previews after `frame` and checkpoints after `step`; (-1, -1): all. Files of
   others in the same folders stay. */
MN_MUST_CHECK mn_status mn_folder_take_back(mn_context *ctx, const char *directory, int64_t frame,
                                            int64_t step);
/* Removes all files of an earlier run but run.json, which the new run replaces. */
MN_MUST_CHECK mn_status mn_folder_clear(mn_context *ctx, const char *directory);

/* A checkpoint by its name: [kept_]frame_000012_step_00000345 */
typedef struct mn_saved {
  int64_t frame, step;
  int kept; /* for good */
  char name[96];
} mn_saved;

void mn_saved_name(mn_saved *saved);
/* In the order of their steps; *list is to be freed with mn_free. */
MN_MUST_CHECK mn_status mn_folder_checkpoints(mn_context *ctx, const char *directory,
                                              mn_saved **list, int *count);
/* Keeps the last two and those kept for good. */
MN_MUST_CHECK mn_status mn_folder_prune(mn_context *ctx, const char *directory);

#endif
