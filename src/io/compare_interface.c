/* Where the interface was in each run, and how far from where it was in the first.

   Points are those of the material: the same scene samples the same surfaces in the same order,
   whatever couples them, so that point i of one run is point i of another. Distances are over the
   width of a cell; rms is over the points, each counted once. Verified by
   tests/unit/io/test_compare.c. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "io/compare_internal.h"
#include "io/run_folder.h"
#include "math/vec.h"
#include "world/npy.h"
#include "world/world.h"

static mn_array points_array(size_t count)
{
  return (mn_array){.name = "points", .type = MN_F64, .rank = 2, .shape = {count, 3}};
}

static mn_status point_file(mn_context *ctx, const char *directory, const char *name, int frame,
                            char path[MN_PATH_MAX])
{
  return mn_path(ctx, path, "%s/interface/%s_%06d.npy", directory, name, frame);
}

mn_status mn_compare_note(const mn_world *w, const char *directory, const char *name)
{
  char path[MN_PATH_MAX];
  if (!w->coupling)
    return MN_OK;
  MN_TRY(mn_coupling_look(w->coupling));
  const mn_interface *f = mn_coupling_interface(w->coupling);
  mn_array array = points_array(f->count);
  array.data = f->X;
  MN_TRY(mn_path(w->ctx, path, "%s/interface", directory));
  MN_TRY(mn_make_folder(w->ctx, path));
  MN_TRY(point_file(w->ctx, directory, name, mn_world_frame(w), path));
  return mn_npy_write(w->ctx, path, &array);
}

/* ---- differences ----------------------------------------------------------------------------- */

/* *found: whether the run kept them. */
static mn_status read_points(mn_comparison *c, int run, int frame, mn_vec3 *x, int *found)
{
  char path[MN_PATH_MAX];
  mn_array array = points_array(c->points[run]);
  *found = 0;
  if (frame > c->rows[run].frame || !c->points[run])
    return MN_OK;
  MN_TRY(point_file(c->ctx, c->what->directory, c->rows[run].name, frame, path));
  if (access(path, F_OK))
    return MN_OK;
  *found = 1;
  return mn_npy_read(c->ctx, path, &array, x);
}

static void measure(const mn_vec3 *a, const mn_vec3 *b, size_t count, double dx, double *most,
                    double *rms)
{
  double sum = 0, greatest = 0;
  for (size_t i = 0; i < count; i++) {
    mn_vec3 d = mn_sub(a[i], b[i]);
    sum += mn_dot(d, d);
    greatest = fmax(greatest, mn_dot(d, d));
  }
  *most = sqrt(greatest) / dx;
  *rms = fmin(sqrt(sum / (double)count) / dx, *most); /* rounding, if all are the same */
}

static double larger(double a, double b)
{
  return isnan(a) || b > a ? b : a;
}

static mn_status one_frame(mn_comparison *c, int frame, mn_vec3 *first, mn_vec3 *other,
                           mn_text *rows)
{
  const mn_domain_def *d = &c->def->domain;
  int reference;
  MN_TRY(read_points(c, 0, frame, first, &reference));
  mn_text_add(rows, "%.17g", frame * c->def->output.every);
  for (int i = 1; i < c->count; i++) {
    double most = NAN, rms = NAN;
    int found = 0;
    if (reference && c->points[i] == c->points[0])
      MN_TRY(read_points(c, i, frame, other, &found));
    if (found) {
      measure(first, other, c->points[0], d->size.x / d->cells[0], &most, &rms);
      c->rows[i].max_distance = larger(c->rows[i].max_distance, most);
      c->rows[i].rms_distance = larger(c->rows[i].rms_distance, rms);
    }
    mn_text_add(rows, ",%.17g,%.17g", most, rms);
  }
  mn_text_add(rows, "\n");
  return MN_OK;
}

static mn_status all_frames(mn_comparison *c, int frames, mn_text *rows)
{
  mn_vec3 *first = NULL, *other = NULL;
  mn_status status = MN_NEW(c->ctx, "points of the interface", c->points[0] + 1, &first);
  if (status == MN_OK)
    status = MN_NEW(c->ctx, "points of the interface", c->points[0] + 1, &other);
  for (int f = 1; f <= frames && status == MN_OK; f++)
    status = one_frame(c, f, first, other, rows);
  mn_free(first);
  mn_free(other);
  return status;
}

mn_status mn_compare_interfaces(mn_comparison *c)
{
  char path[MN_PATH_MAX];
  mn_text text = {0};
  int frames = 0;
  MN_TRY(mn_path(c->ctx, path, "%s/interface", c->what->directory));
  for (int i = 0; i < c->count; i++) {
    char prefix[MN_NAME_MAX + 2];
    snprintf(prefix, sizeof prefix, "%s_", c->rows[i].name);
    mn_compare_sweep(path, prefix, ".npy", c->rows[i].frame);
    if (i)
      frames = c->rows[i].frame > frames ? c->rows[i].frame : frames;
  }
  frames = c->rows[0].frame < frames ? c->rows[0].frame : frames;
  mn_text_add(&text, "time");
  for (int i = 1; i < c->count; i++)
    mn_text_add(&text, ",max_%s,rms_%s", c->rows[i].name, c->rows[i].name);
  mn_text_add(&text, "\n");
  mn_status status = all_frames(c, frames, &text);
  if (status == MN_OK && text.failed)
    status = mn_fail(c->ctx, MN_ENVIRONMENT, "out of memory: differences of the interface");
  if (status == MN_OK)
    status = mn_path(c->ctx, path, "%s/differences.csv", c->what->directory);
  if (status == MN_OK)
    status = mn_write_file(c->ctx, path, text.data, text.size);
  mn_text_free(&text);
  return status == MN_OK ? mn_table_read(c->ctx, path, &c->differences) : status;
}
