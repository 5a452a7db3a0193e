/* The frames of a run: what ParaView opens. */
#ifndef MN_IO_FRAME_H
#define MN_IO_FRAME_H

#include "fluid/mac/mac.h"
#include "meniscus/world.h"
#include "world/body_view.h"

/* Writes grid_000012.vti (all fields at cells) for the world's current frame and, if the scene has
   obstacles, solids_000012.vtp (their outline or surface); for water also liquid_000012.vtp; for
   bodies bodies_000012.vtu. The folder must exist. */
MN_MUST_CHECK mn_status mn_frame_write(mn_world *world, const char *frames_folder);
/* The same of any view; without a fluid it holds only the grid and the solids. */
MN_MUST_CHECK mn_status mn_frame_write_view(mn_context *ctx, const mn_mac_view *view,
                                            const mn_body_view *bodies, int body_count, int solids,
                                            int frame, double time, const char *frames_folder);

MN_MUST_CHECK mn_status mn_frame_write_bodies(mn_context *ctx, const mn_body_view *bodies,
                                              int count, double time, const char *path);

/* Rewrites frames.pvd in the folder from the files present up to frame `last` (later ones are
   leftovers of a run that was taken back); the time of a frame is its number * every. */
MN_MUST_CHECK mn_status mn_frames_index(mn_context *ctx, const char *frames_folder, double every,
                                        int last);

#endif
