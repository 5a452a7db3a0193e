/* Runs a model into a directory: steps, frames, previews, series, report, checkpoints. */
#ifndef MENISCUS_RUN_H
#define MENISCUS_RUN_H

#include "meniscus/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_run_def {
  const char *directory;    /* made if missing */
  const char *scene_text;   /* stored beside the results for resume; may be NULL */
  const char *scene_folder; /* where its mesh files are; may be NULL */
  int frames;               /* -1: the model's */
  double until;             /* s; < 0: the model's */
  int resume;               /* continue from the last checkpoint in the directory */
  int from_frame;           /* with resume: from the checkpoint of that frame; -1: the last */
  void (*progress)(void *user, const mn_world *world, const mn_step_info *info); /* may be NULL */
  void *progress_user;
} mn_run_def;

mn_run_def mn_run_def_default(void);

/* Files are complete under their final names whatever happens: each is written beside and renamed.
 */
MN_MUST_CHECK mn_status mn_run(mn_context *ctx, const mn_model *model, const mn_run_def *def);

/* Where that run ends: as the def asks, else as it was asked when it was started (resume), else as
   the scene says. With both frames and until the earlier counts. */
MN_MUST_CHECK mn_status mn_run_extent(mn_context *ctx, const mn_model *model, const mn_run_def *def,
                                      int *frames, double *until);

/* Reads the scene text and settings of an earlier run, and makes its model. */
MN_MUST_CHECK mn_status mn_run_open(mn_context *ctx, const char *directory, mn_model **model);

#ifdef __cplusplus
}
#endif
#endif
