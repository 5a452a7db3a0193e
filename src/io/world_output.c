/* What a world hands to the writers: the thin layer between mn_world and files. */
#include "base/context.h"
#include "base/status.h"
#include "io/frame.h"
#include "io/preview.h"
#include "math/motion.h"
#include "world/world.h"

/* The view of a world; without a fluid it is the domain's grid and the obstacles' distance, made
   for the occasion. */
typedef struct look {
  mn_mac_view view;
  mn_grid grid;
  mn_field solid;
  const mn_body_view *bodies;
  int body_count;
  mn_body_view surface; /* of a plug-in */
} look;

static double obstacle_distance(const mn_world *w, mn_vec3 x)
{
  double least = INFINITY;
  for (int i = 0; i < w->def->solid_count; i++) {
    const mn_solid_def *s = &w->def->solids[i];
    mn_vec3 at = s->moving ? mn_motion_rest(&s->motion, w->clock.time, x) : x;
    least = mn_min(least, mn_shape_distance(s->shape, at));
  }
  return least;
}

static mn_status look_without_fluid(mn_world *w, look *l)
{
  const mn_domain_def *d = &w->def->domain;
  double dx = d->size.x / d->cells[0];
  mn_vec3 origin = d->origin;
  if (d->dim == 2)
    origin.z = -0.5 * dx;
  l->grid = mn_grid_make(&w->ctx->exec, d->dim, d->cells, dx, origin);
  l->view.grid = &l->grid;
  if (!w->def->solid_count)
    return MN_OK;
  MN_TRY(mn_field_create(w->ctx, &l->grid, MN_NODE, "obstacles of a picture", &l->solid));
  for (int k = 0; k < l->solid.n[2]; k++)
    for (int j = 0; j < l->solid.n[1]; j++)
      for (int i = 0; i < l->solid.n[0]; i++)
        mn_set(&l->solid, i, j, k, obstacle_distance(w, mn_position(&l->solid, i, j, k)));
  l->view.solid = l->view.obstacles = &l->solid;
  return MN_OK;
}

/* Of a solid that is a plug-in there is nothing to see but its surface. */
static void look_at_surface(mn_world *w, look *l)
{
  const mn_interface *f = mn_coupling_interface(w->coupling);
  const char *name = w->def->solid_plugin.name;
  l->surface = (mn_body_view){.name = *name ? name : w->solid.ops->name,
                              .dim = f->dim,
                              .thin = 1,
                              .corners = f->dim,
                              .order = 1,
                              .points = f->count,
                              .cells = f->elements,
                              .x = f->X,
                              .v = f->V,
                              .cell = f->element,
                              .facets = f->elements,
                              .facet = f->element};
  l->bodies = &l->surface;
  l->body_count = 1;
}

static mn_status look_at(mn_world *w, look *l)
{
  *l = (look){0};
  MN_TRY(mn_bodies_look(w->bodies, &l->bodies, &l->body_count));
  if (w->solid_plugin && w->coupling)
    look_at_surface(w, l);
  if (!w->on_grid)
    return look_without_fluid(w, l);
  l->view = mn_mac_look(&w->fluid);
  return MN_OK;
}

mn_status mn_frame_write(mn_world *w, const char *frames_folder)
{
  look l;
  mn_status status = look_at(w, &l);
  if (status == MN_OK)
    status = mn_frame_write_view(w->ctx, &l.view, l.bodies, l.body_count, w->def->solid_count > 0,
                                 mn_world_frame(w), w->clock.time, frames_folder);
  mn_field_destroy(&l.solid);
  return status;
}

mn_status mn_preview_write(mn_world *w, const char *path)
{
  look l;
  mn_image image = {0};
  mn_status status = look_at(w, &l);
  if (status == MN_OK)
    status =
        mn_preview_draw(w->ctx, &l.view, l.bodies, l.body_count, w->def, w->clock.time, &image);
  if (status == MN_OK)
    status = mn_image_write(w->ctx, &image, path);
  mn_image_destroy(&image);
  mn_field_destroy(&l.solid);
  return status;
}
