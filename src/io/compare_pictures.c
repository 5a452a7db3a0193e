/* Previews of several runs side by side, one picture for each chosen frame. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"
#include "io/compare_internal.h"
#include "io/image.h"
#include "io/run_folder.h"

enum { WANTED = 6, WIDEST = 2000, HEAD = 34, GAP = 6 };

/* ---- which frames ---------------------------------------------------------------------------- */

static void add_frame(mn_comparison *c, int frame)
{
  for (int i = 0; i < c->picture_count; i++)
    if (c->picture[i] == frame)
      return;
  c->picture[c->picture_count++] = frame;
}

static void choose_frames(mn_comparison *c)
{
  int last = 0;
  for (int i = 0; i < c->count; i++)
    last = c->rows[i].frame > last ? c->rows[i].frame : last;
  for (int k = 0; k < c->what->time_count; k++) {
    double frame = round(c->what->times[k] / c->def->output.every);
    if (frame > last)
      mn_log(c->ctx, MN_LOG_WARNING, "no coupling came to %g s: there is no picture of it",
             c->what->times[k]);
    else
      add_frame(c, (int)fmax(frame, 0));
  }
  for (int k = 1; k <= WANTED && !c->what->time_count && last; k++)
    if ((last * k) / WANTED > 0)
      add_frame(c, last * k / WANTED);
}

/* ---- one picture ----------------------------------------------------------------------------- */

/* Leaves an empty image if the run has no such frame. */
static mn_status read_preview(mn_comparison *c, int run, int frame, mn_image *image)
{
  char path[MN_PATH_MAX], *data;
  size_t bytes;
  *image = (mn_image){0};
  if (frame > c->rows[run].frame)
    return MN_OK;
  MN_TRY(mn_path(c->ctx, path, "%s/%s/preview/frame_%06d.png", c->what->directory,
                 c->rows[run].name, frame));
  if (access(path, F_OK))
    return MN_OK;
  MN_TRY(mn_read_file(c->ctx, path, (size_t)1 << 28, &data, &bytes));
  mn_status status = mn_image_decode(c->ctx, data, bytes, image);
  mn_free(data);
  return status;
}

/* Means of `shrink` x `shrink` pixels. */
static void paste(mn_image *to, const mn_image *from, int x, int y, int shrink)
{
  for (int j = 0; j < from->height / shrink; j++)
    for (int i = 0; i < from->width / shrink; i++) {
      mn_rgb sum = {0, 0, 0};
      for (int b = 0; b < shrink; b++)
        for (int a = 0; a < shrink; a++) {
          mn_rgb p = mn_image_get(from, shrink * i + a, shrink * j + b);
          sum = (mn_rgb){sum.r + p.r, sum.g + p.g, sum.b + p.b};
        }
      double n = shrink * shrink;
      mn_image_blend(to, x + i, y + j, (mn_rgb){sum.r / n, sum.g / n, sum.b / n}, 1);
    }
}

static void write_name(const mn_comparison *c, int run, mn_image *image, int x, int missing)
{
  const mn_compare_row *r = &c->rows[run];
  char words[256];
  if (*r->method && strcmp(r->method, r->name))
    snprintf(words, sizeof words, "%s (%s)", r->name, r->method);
  else
    snprintf(words, sizeof words, "%s", r->name);
  mn_image_text(image, x + 14, HEAD - 10, 13, mn_rgb_hex(0x20262c), words);
  snprintf(words, sizeof words,
           r->exit_status == MN_BAD_INPUT ? "refused"
           : r->exit_status               ? "failed at %.4g s"
                                          : "no picture",
           r->time);
  if (missing)
    mn_image_text(image, x + 14, HEAD + 40, 12, mn_rgb_hex(0x7f1d1d), words);
}

static mn_status compose(mn_comparison *c, int frame, mn_image *panel, int *any)
{
  char path[MN_PATH_MAX];
  mn_image image;
  int width = 0, height = 0;
  for (int i = 0; i < c->count; i++) {
    width = panel[i].width > width ? panel[i].width : width;
    height = panel[i].height > height ? panel[i].height : height;
  }
  *any = width > 0;
  if (!*any)
    return MN_OK;
  int shrink = (c->count * (width + GAP) + WIDEST - 1) / WIDEST;
  int step = width / shrink + GAP, whole = c->count * step, tall = height / shrink + HEAD;
  MN_TRY(mn_image_create(c->ctx, whole + whole % 2, tall + tall % 2, mn_rgb_hex(0xffffff), &image));
  for (int i = 0; i < c->count; i++) {
    if (panel[i].data)
      paste(&image, &panel[i], i * step, HEAD, shrink);
    write_name(c, i, &image, i * step, !panel[i].data);
  }
  mn_status status = mn_path(c->ctx, path, "%s/pictures/frame_%06d.png", c->what->directory, frame);
  if (status == MN_OK)
    status = mn_image_write(c->ctx, &image, path);
  mn_image_destroy(&image);
  return status;
}

static mn_status one_picture(mn_comparison *c, int frame, int *any)
{
  mn_image panel[MN_COMPARE_MAX] = {{0}};
  mn_status status = MN_OK;
  for (int i = 0; i < c->count && status == MN_OK; i++)
    status = read_preview(c, i, frame, &panel[i]);
  if (status == MN_OK)
    status = compose(c, frame, panel, any);
  for (int i = 0; i < c->count; i++)
    mn_image_destroy(&panel[i]);
  return status;
}

mn_status mn_compare_pictures(mn_comparison *c)
{
  char path[MN_PATH_MAX];
  int kept = 0;
  choose_frames(c);
  MN_TRY(mn_path(c->ctx, path, "%s/pictures", c->what->directory));
  mn_compare_sweep(path, "frame_", ".png", -1);
  if (c->picture_count && c->def->output.preview)
    MN_TRY(mn_make_folder(c->ctx, path));
  for (int k = 0; k < c->picture_count; k++) {
    int any = 0;
    MN_TRY(one_picture(c, c->picture[k], &any));
    if (any)
      c->picture[kept++] = c->picture[k];
  }
  c->picture_count = kept;
  return MN_OK;
}
