/* Checkpoints with a note of the caller in the manifest. */
#ifndef MN_WORLD_CHECKPOINT_H
#define MN_WORLD_CHECKPOINT_H

#include "world/world.h"

/* Newer programs raise it when older ones could misread a checkpoint. */
enum { MN_CHECKPOINT_FORMAT = 1 };

/* 0: a solver could not restore its state after a failure, so that there is none to write. */
int mn_checkpoint_possible(const mn_world *world);
/* mn_world_save; `note` is JSON that comes back with mn_checkpoint_read, or NULL. */
MN_MUST_CHECK mn_status mn_checkpoint_write(mn_world *world, const char *folder, const char *note);
/* mn_world_load; *note is to be freed with mn_free, NULL if there is none. The world is either as
   it was or wholly loaded. */
MN_MUST_CHECK mn_status mn_checkpoint_read(mn_world *world, const char *folder, char **note);

#endif
