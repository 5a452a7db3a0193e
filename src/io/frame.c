#include "io/frame.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "io/contour.h"
#include "io/liquid_surface.h"
#include "io/vtk.h"

/* ---- grid fields: single precision, the checkpoint has the rest ------------------------------ */

static void cell_of(const mn_grid *g, size_t index, int c[3])
{
  size_t nx = (size_t)g->n[0], ny = (size_t)g->n[1];
  c[0] = (int)(index % nx);
  c[1] = (int)(index / nx % ny);
  c[2] = (int)(index / nx / ny);
}

static void fill_cells(const void *user, size_t first, size_t count, void *out)
{
  const mn_field *f = user;
  float *to = out;
  int c[3];
  for (size_t i = 0; i < count; i++) {
    cell_of(f->grid, first + i, c);
    to[i] = (float)mn_get(f, c[0], c[1], c[2]);
  }
}

/* Means of opposite faces: second-order at the cell's centre. */
static mn_vec3 centre_velocity(const mn_mac_view *view, const int c[3])
{
  mn_vec3 u = mn_v3(0, 0, 0);
  for (int a = 0; a < view->grid->dim; a++) {
    const mn_field *f = &view->velocity[a];
    int64_t at = mn_index(f, c[0], c[1], c[2]);
    u.v[a] = 0.5 * (f->at[at] + f->at[at + f->stride[a]]);
  }
  return u;
}

static void fill_velocity(const void *user, size_t first, size_t count, void *out)
{
  const mn_mac_view *view = user;
  float *to = out;
  int c[3];
  for (size_t i = 0; i < count; i++) {
    cell_of(view->grid, first + i, c);
    mn_vec3 u = centre_velocity(view, c);
    for (int a = 0; a < 3; a++)
      to[3 * i + (size_t)a] = (float)u.v[a];
  }
}

static void fill_speed(const void *user, size_t first, size_t count, void *out)
{
  const mn_mac_view *view = user;
  float *to = out;
  int c[3];
  for (size_t i = 0; i < count; i++) {
    cell_of(view->grid, first + i, c);
    to[i] = (float)mn_length(centre_velocity(view, c));
  }
}

static mn_status write_grid(mn_context *ctx, const mn_mac_view *view, double time, const char *path)
{
  const mn_grid *g = view->grid;
  size_t cells = (size_t)g->n[0] * (size_t)g->n[1] * (size_t)g->n[2];
  const struct {
    const char *name;
    const mn_field *field;
  } scalars[] = {{"pressure", view->pressure},
                 {"smoke", view->smoke},
                 {"temperature", view->temperature},
                 {"liquid", view->liquid},
                 {"volume", view->volume}};
  mn_vtk_array arrays[8];
  int count = 0;
  for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
    if (scalars[i].field)
      arrays[count++] =
          (mn_vtk_array){scalars[i].name, MN_VTK_F32, 1, cells, NULL, fill_cells, scalars[i].field};
  arrays[count++] = (mn_vtk_array){"velocity", MN_VTK_F32, 3, cells, NULL, fill_velocity, view};
  arrays[count++] = (mn_vtk_array){"speed", MN_VTK_F32, 1, cells, NULL, fill_speed, view};
  mn_vec3 origin = g->origin;
  for (int a = 0; a < 3; a++)
    origin.v[a] = a < g->dim ? origin.v[a] + g->dx * g->lo[a] : 0;
  int extent[3] = {g->n[0], g->n[1], g->dim == 3 ? g->n[2] : 0};
  mn_vtk_data data = {.cell_count = count, .cell = arrays};
  return mn_vtk_image(ctx, path, extent, origin, g->dx, time, &data);
}

/* ---- surfaces -------------------------------------------------------------------------------- */

static mn_status write_surface(mn_context *ctx, const mn_contour *c, double time, const char *path)
{
  int64_t *offsets;
  MN_TRY(MN_NEW(ctx, "offsets of a surface", c->cells, &offsets));
  for (size_t i = 0; i < c->cells; i++)
    offsets[i] = (int64_t)(i + 1) * c->dim;
  mn_vtk_cells cells = {c->cells, offsets, c->index};
  mn_vtk_array normal = {"normal", MN_VTK_F64, 3, c->points, c->n, NULL, NULL};
  mn_vtk_data data = {.point_count = 1, .point = &normal, .normals = "normal"};
  mn_status status = mn_vtk_poly(ctx, path, c->points, c->x, NULL, c->dim == 2 ? &cells : NULL,
                                 c->dim == 3 ? &cells : NULL, time, &data);
  mn_free(offsets);
  return status;
}

static mn_status write_solids(mn_context *ctx, const mn_mac_view *view, double time,
                              const char *path)
{
  mn_contour c;
  MN_TRY(mn_contour_make(ctx, view->solid, &c));
  mn_status status = write_surface(ctx, &c, time, path);
  mn_contour_free(&c);
  return status;
}

static mn_status write_liquid(mn_context *ctx, const mn_mac_view *view, double time,
                              const char *path)
{
  mn_contour c;
  MN_TRY(mn_liquid_surface(ctx, view, &c));
  mn_status status = write_surface(ctx, &c, time, path);
  mn_contour_free(&c);
  return status;
}

static mn_status frame_path(mn_context *ctx, const char *folder, const char *kind, int frame,
                            const char *ending, char path[MN_PATH_MAX])
{
  if (snprintf(path, MN_PATH_MAX, "%s/%s_%06d.%s", folder, kind, frame, ending) >= MN_PATH_MAX)
    return mn_fail(ctx, MN_BAD_INPUT, "path is too long: %.80s...", folder);
  return MN_OK;
}

mn_status mn_frame_write_view(mn_context *ctx, const mn_mac_view *view, const mn_body_view *bodies,
                              int body_count, int solids, int frame, double time,
                              const char *folder)
{
  char path[MN_PATH_MAX];
  if (body_count) {
    MN_TRY(frame_path(ctx, folder, "bodies", frame, "vtu", path));
    MN_TRY(mn_frame_write_bodies(ctx, bodies, body_count, time, path));
  }
  if (solids && view->solid) {
    MN_TRY(frame_path(ctx, folder, "solids", frame, "vtp", path));
    MN_TRY(write_solids(ctx, view, time, path));
  }
  if (view->liquid) {
    MN_TRY(frame_path(ctx, folder, "liquid", frame, "vtp", path));
    MN_TRY(write_liquid(ctx, view, time, path));
  }
  if (!view->velocity)
    return MN_OK;
  MN_TRY(frame_path(ctx, folder, "grid", frame, "vti", path));
  return write_grid(ctx, view, time, path);
}

/* ---- the collection -------------------------------------------------------------------------- */

static const char *const KINDS[] = {"grid_%6d.vti%n", "solids_%6d.vtp%n", "liquid_%6d.vtp%n",
                                    "bodies_%6d.vtu%n"};

typedef struct entry {
  int frame, part;
  char name[32];
} entry;

static int parse_entry(const char *name, entry *e)
{
  for (int part = 0; part < (int)(sizeof KINDS / sizeof *KINDS); part++) {
    int length = 0;
    if (sscanf(name, KINDS[part], &e->frame, &length) == 1 && length && !name[length] &&
        e->frame >= 0 && (size_t)length < sizeof e->name) {
      e->part = part;
      strcpy(e->name, name);
      return 1;
    }
  }
  return 0;
}

static int by_frame(const void *a, const void *b)
{
  const entry *p = a, *q = b;
  return p->frame != q->frame ? (p->frame > q->frame) - (p->frame < q->frame) : p->part - q->part;
}

static mn_status list_frames(mn_context *ctx, const char *folder, int last, entry **list,
                             size_t *count)
{
  *list = NULL;
  *count = 0;
  DIR *dir = opendir(folder);
  if (!dir)
    return mn_fail(ctx, MN_ENVIRONMENT, "cannot open %s: %s", folder, strerror(errno));
  mn_status status = MN_OK;
  size_t room = 0;
  entry e;
  for (struct dirent *d; status == MN_OK && (d = readdir(dir));) {
    if (!parse_entry(d->d_name, &e) || e.frame > last)
      continue;
    if (*count == room) {
      room = 2 * room + 64;
      status = mn_grow(ctx, "the list of frames", *count, room, sizeof **list, (void **)list);
    }
    if (status == MN_OK)
      (*list)[(*count)++] = e;
  }
  closedir(dir);
  if (*count)
    qsort(*list, *count, sizeof **list, by_frame);
  return status;
}

mn_status mn_frames_index(mn_context *ctx, const char *folder, double every, int last)
{
  entry *list;
  size_t count;
  mn_vtk_item *items = NULL;
  mn_status status = list_frames(ctx, folder, last, &list, &count);
  if (status == MN_OK)
    status = MN_NEW(ctx, "the collection of frames", count, &items);
  if (status == MN_OK) {
    for (size_t i = 0; i < count; i++)
      items[i] = (mn_vtk_item){list[i].frame * every, list[i].part, list[i].name};
    char path[MN_PATH_MAX];
    if (snprintf(path, sizeof path, "%s/frames.pvd", folder) >= (int)sizeof path)
      status = mn_fail(ctx, MN_BAD_INPUT, "path is too long: %.80s...", folder);
    else
      status = mn_vtk_collection(ctx, path, items, count);
  }
  mn_free(items);
  mn_free(list);
  return status;
}
