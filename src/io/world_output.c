/* What a world hands to the writers: the thin layer between mn_world and files. */
#include "base/context.h"
#include "base/status.h"
#include "io/frame.h"
#include "io/preview.h"
#include "world/world.h"

mn_status mn_frame_write(mn_world *world, const char *frames_folder)
{
  mn_mac_view view = mn_mac_look(&world->fluid);
  return mn_frame_write_view(world->ctx, &view, world->def->solid_count > 0, mn_world_frame(world),
                             world->clock.time, frames_folder);
}

mn_status mn_preview_write(mn_world *world, const char *path)
{
  mn_mac_view view = mn_mac_look(&world->fluid);
  mn_image image = {0};
  mn_status status = mn_preview_draw(world->ctx, &view, world->def, world->clock.time, &image);
  if (status == MN_OK)
    status = mn_image_write(world->ctx, &image, path);
  mn_image_destroy(&image);
  return status;
}
