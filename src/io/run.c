/* Runs a model into a directory (docs/cli.md describes the files).

   The order at the end of a frame is what makes a run killed at any moment resumable: the rows of
   the series are synced, the frame and its preview written, and only then the checkpoint that
   counts them as done. A resume takes back whatever is newer than the checkpoint it starts from. */
#include "meniscus/run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/timer.h"
#include "io/frame.h"
#include "io/preview.h"
#include "io/report.h"
#include "io/run_folder.h"
#include "io/run_record.h"
#include "io/series.h"
#include "world/checkpoint.h"

typedef struct run {
  mn_context *ctx;
  const mn_model *compiled;
  const mn_model_def *model;
  const mn_run_def *def;
  const char *directory;
  int lock;
  mn_world *world;
  mn_run_settings settings;
  mn_record record;
  mn_series steps, probes, regions;
  double *values;     /* of the probes */
  double start;       /* wall clock of this session */
  double saved_at;    /* wall clock of the last checkpoint */
  int64_t saved_step; /* its step; -1: none */
} run;

mn_run_def mn_run_def_default(void)
{
  return (mn_run_def){.frames = -1, .until = -1, .from_frame = -1};
}

static double wall(const run *r)
{
  return r->record.wall_s + (mn_seconds() - r->start);
}

/* ---- what a run writes ----------------------------------------------------------------------- */

static mn_status write_record(run *r, const char *state, const char *reason, mn_status exit_status,
                              int hash)
{
  mn_run_status status = {state, reason, (int)exit_status, wall(r), hash};
  return mn_record_write(r->ctx, r->directory, &r->settings, &r->record, r->world, &status);
}

static mn_status sync_series(run *r, mn_series *series)
{
  if (series->file && (fflush(series->file) || fsync(fileno(series->file))))
    return mn_fail(r->ctx, MN_ENVIRONMENT, "cannot write %s: %s", series->path, strerror(errno));
  return MN_OK;
}

static mn_status write_checkpoint(run *r, int keep)
{
  mn_saved saved = {mn_world_frame(r->world), mn_world_steps(r->world), keep, ""};
  if (saved.step == r->saved_step)
    return MN_OK;
  char path[MN_PATH_MAX], *note;
  mn_saved_name(&saved);
  MN_TRY(sync_series(r, &r->steps));
  MN_TRY(sync_series(r, &r->probes));
  MN_TRY(sync_series(r, &r->regions));
  MN_TRY(mn_path(r->ctx, path, "%s/checkpoint", r->directory));
  MN_TRY(mn_make_folder(r->ctx, path));
  MN_TRY(mn_path(r->ctx, path, "%s/checkpoint/%s", r->directory, saved.name));
  MN_TRY(mn_record_note(r->ctx, &r->record, wall(r), &note));
  mn_status status = mn_checkpoint_write(r->world, path, note);
  mn_free(note);
  MN_TRY(status);
  r->saved_at = mn_seconds();
  r->saved_step = saved.step;
  return mn_folder_prune(r->ctx, r->directory);
}

static mn_status write_frame(run *r)
{
  char path[MN_PATH_MAX];
  const mn_output_def *o = &r->model->output;
  int frame = mn_world_frame(r->world);
  if (o->vtk) {
    MN_TRY(mn_path(r->ctx, path, "%s/frames", r->directory));
    MN_TRY(mn_make_folder(r->ctx, path));
    MN_TRY(mn_frame_write(r->world, path));
    MN_TRY(mn_frames_index(r->ctx, path, o->every, frame));
  }
  if (o->preview) {
    MN_TRY(mn_path(r->ctx, path, "%s/preview", r->directory));
    MN_TRY(mn_make_folder(r->ctx, path));
    MN_TRY(mn_path(r->ctx, path, "%s/preview/frame_%06d.png", r->directory, frame));
    MN_TRY(mn_preview_write(r->world, path));
  }
  return write_record(r, "running", "", MN_OK, 0);
}

static mn_status add_probes(run *r)
{
  for (int i = 0; i < r->model->probe_count; i++)
    r->values[i] = mn_world_probe(r->world, i);
  return mn_probes_add(r->ctx, &r->probes, mn_world_time(r->world), r->values);
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* A frame's time, or the end if that comes first. Both may mean the same moment and differ in the
   last bits: then it is the frame's. */
static double next_stop(const run *r)
{
  double every = r->model->output.every;
  double frame = (double)(mn_world_frame(r->world) + 1) * every;
  return frame <= r->settings.until + 1e-9 * every ? frame : r->settings.until;
}

static int finished(const run *r)
{
  return mn_world_time(r->world) >= r->settings.until - 1e-9 * r->model->output.every;
}

static int checkpoint_due(const run *r, int new_frame)
{
  const mn_output_def *o = &r->model->output;
  int frame = mn_world_frame(r->world);
  return (new_frame && o->checkpoint_frames && frame % o->checkpoint_frames == 0) ||
         (o->checkpoint_minutes > 0 && mn_seconds() - r->saved_at > 60 * o->checkpoint_minutes);
}

static mn_status one_step(run *r)
{
  const mn_output_def *o = &r->model->output;
  int before = mn_world_frame(r->world);
  mn_step_info info = {0};
  mn_status status = mn_world_step(r->world, next_stop(r), &info);
  if (status != MN_OK) /* the tries of a substep that failed count as well */
    mn_record_tries(&r->record, &info);
  MN_TRY(status);
  mn_record_add(&r->record, &info);
  MN_TRY(mn_steps_add(r->ctx, &r->steps, &info));
  MN_TRY(mn_regions_add(r->ctx, r->directory, &r->regions, &info));
  MN_TRY(add_probes(r));
  int frame = mn_world_frame(r->world), new_frame = frame > before;
  if (new_frame)
    MN_TRY(write_frame(r));
  int keep = new_frame && o->checkpoint_keep && frame % o->checkpoint_keep == 0;
  if (keep || checkpoint_due(r, new_frame))
    MN_TRY(write_checkpoint(r, keep));
  if (r->def->progress)
    r->def->progress(r->def->progress_user, r->world, &info);
  return MN_OK;
}

static mn_status loop(run *r)
{
  while (!finished(r)) {
    if (r->ctx->interrupted && *r->ctx->interrupted)
      return mn_fail(r->ctx, MN_INTERRUPTED, "interrupted at %.6g s, frame %d of %d",
                     mn_world_time(r->world), mn_world_frame(r->world), r->settings.frames);
    MN_TRY(one_step(r));
  }
  return MN_OK;
}

/* ---- start and end --------------------------------------------------------------------------- */

/* What run.json says about the scene. */
static mn_status describe_scene(run *r)
{
  const char *text = r->def->scene_text, *folder = r->def->scene_folder;
  mn_shapes_hash(r->model, r->settings.shapes_hash);
  if (text)
    snprintf(r->settings.scene_hash, sizeof r->settings.scene_hash, "%016" PRIx64,
             mn_hash(MN_HASH_START, text, strlen(text)));
  if (folder && *folder) { /* absolute: a resume may start elsewhere */
    char here[MN_PATH_MAX] = "";
    if (*folder != '/' && !getcwd(here, sizeof here - 1))
      return mn_fail(r->ctx, MN_ENVIRONMENT, "cannot tell the current folder: %s", strerror(errno));
    MN_TRY(mn_path(r->ctx, r->settings.folder, "%s%s%s", here, *here ? "/" : "", folder));
  }
  return MN_OK;
}

static mn_status store_scene(run *r)
{
  char path[MN_PATH_MAX];
  const char *text = r->def->scene_text;
  if (!text)
    return MN_OK;
  MN_TRY(mn_path(r->ctx, path, "%s/scene.lua", r->directory));
  return mn_write_file(r->ctx, path, text, strlen(text));
}

static mn_status start_fresh(run *r)
{
  r->record = (mn_record){.first_volume = r->world->coupling ? -1 : r->world->totals.volume};
  r->saved_step = -1;
  MN_TRY(add_probes(r));
  return write_frame(r);
}

static mn_status open_series(run *r)
{
  char path[MN_PATH_MAX];
  MN_TRY(mn_path(r->ctx, path, "%s/steps.csv", r->directory));
  MN_TRY(mn_steps_open(r->ctx, path, &r->steps));
  MN_TRY(mn_path(r->ctx, path, "%s/probes.csv", r->directory));
  return mn_probes_open(r->ctx, path, r->model, &r->probes);
}

static mn_status begin_new(run *r)
{
  MN_TRY(describe_scene(r));
  MN_TRY(mn_folder_clear(r->ctx, r->directory));
  MN_TRY(write_record(r, "running", "", MN_OK, 0)); /* from now on the directory is a run's */
  MN_TRY(store_scene(r));
  MN_TRY(open_series(r));
  return start_fresh(r);
}

/* The newest checkpoint that can be loaded, or that of `from_frame`. *found is 0 if there is none.
 */
static mn_status load_checkpoint(run *r, int *found)
{
  mn_saved *list;
  int count, from = r->def->from_frame;
  *found = 0;
  mn_status status = mn_folder_checkpoints(r->ctx, r->directory, &list, &count);
  for (int i = 0; status == MN_OK && !*found && i < count; i++) {
    const mn_saved *saved = &list[from >= 0 ? i : count - 1 - i];
    char path[MN_PATH_MAX], *note = NULL;
    if (from >= 0 && saved->frame != from)
      continue;
    status = mn_path(r->ctx, path, "%s/checkpoint/%s", r->directory, saved->name);
    if (status == MN_OK)
      status = mn_checkpoint_read(r->world, path, &note);
    *found = status == MN_OK;
    if (*found) {
      mn_record_parse(note, &r->record);
      r->saved_step = saved->step;
    }
    mn_free(note);
    if (status == MN_BAD_INPUT) {
      mn_log(r->ctx, MN_LOG_WARNING, "%s; trying an earlier one", mn_context_message(r->ctx));
      status = MN_OK;
    }
  }
  mn_free(list);
  return status;
}

static mn_status no_such_checkpoint(run *r)
{
  mn_saved *list;
  int count;
  char frames[512] = "none";
  size_t used = 0;
  MN_TRY(mn_folder_checkpoints(r->ctx, r->directory, &list, &count));
  for (int i = 0; i < count && used < sizeof frames - 32; i++)
    used += (size_t)snprintf(frames + used, sizeof frames - used, "%s%lld", i ? ", " : "",
                             (long long)list[i].frame);
  mn_free(list);
  return mn_fail(r->ctx, MN_BAD_INPUT,
                 "%s has no checkpoint of frame %d; there are checkpoints of the frames: %s",
                 r->directory, r->def->from_frame, frames);
}

/* A load that fails leaves the world as it was: a start from the beginning needs no new one. */
static mn_status begin_resumed(run *r)
{
  char path[MN_PATH_MAX];
  int found;
  MN_TRY(mn_folder_tidy(r->ctx, r->directory));
  MN_TRY(load_checkpoint(r, &found));
  if (!found && r->def->from_frame >= 0)
    return no_such_checkpoint(r);
  MN_TRY(mn_path(r->ctx, path, "%s/report.html", r->directory));
  MN_TRY(mn_remove_tree(r->ctx, path)); /* it tells of less than there will be: see complete */
  int64_t frame = found ? mn_world_frame(r->world) : -1;
  int64_t step = found ? mn_world_steps(r->world) : -1;
  MN_TRY(mn_folder_take_back(r->ctx, r->directory, frame, step));
  MN_TRY(mn_path(r->ctx, path, "%s/steps.csv", r->directory));
  MN_TRY(mn_series_truncate(r->ctx, path, (double)step));
  MN_TRY(mn_path(r->ctx, path, "%s/regions.csv", r->directory));
  MN_TRY(mn_series_truncate(r->ctx, path, (double)step));
  MN_TRY(mn_path(r->ctx, path, "%s/probes.csv", r->directory));
  MN_TRY(mn_series_truncate(r->ctx, path, found ? mn_world_time(r->world) : -1));
  MN_TRY(open_series(r));
  if (!found) {
    mn_log(r->ctx, MN_LOG_WARNING,
           "%s has no checkpoint that can be read: starting from the "
           "beginning",
           r->directory);
    return start_fresh(r);
  }
  mn_log(r->ctx, MN_LOG_INFO, "continuing from frame %d, %.6g s", (int)frame,
         mn_world_time(r->world));
  if (r->model->output.vtk) {
    MN_TRY(mn_path(r->ctx, path, "%s/frames", r->directory));
    MN_TRY(mn_make_folder(r->ctx, path));
    MN_TRY(mn_frames_index(r->ctx, path, r->model->output.every, (int)frame));
  }
  return write_record(r, "running", "", MN_OK, 0);
}

/* The last good state, the record and the report, whatever ended the run. The first failure is the
   one that is told. */
static mn_status end(run *r, mn_status status)
{
  char why[MN_MESSAGE_MAX];
  const char *state = status == MN_OK            ? "done"
                      : status == MN_INTERRUPTED ? "interrupted"
                                                 : "failed";
  snprintf(why, sizeof why, "%s", status == MN_OK ? "done" : mn_context_message(r->ctx));
  const mn_output_def *o = &r->model->output;
  int wanted = o->checkpoint_frames || o->checkpoint_minutes > 0;
  mn_status more = MN_OK;
  /* After any other failure a frame may be missing that a checkpoint would count as written. */
  int due = status == MN_INTERRUPTED || status == MN_FAILED || (status == MN_OK && wanted);
  if (due && mn_checkpoint_possible(r->world))
    more = write_checkpoint(r, 0);
  if (more == MN_OK)
    more = write_record(r, state, why, status, 1);
  if (more == MN_OK)
    more = mn_report_write(r->ctx, r->directory, r->model);
  if (status == MN_OK && more != MN_OK) {
    snprintf(why, sizeof why, "%s", mn_context_message(r->ctx));
    if (write_record(r, "failed", why, more, 0) != MN_OK)
      mn_log(r->ctx, MN_LOG_WARNING, "%s", mn_context_message(r->ctx));
    return mn_fail(r->ctx, more, "%s", why);
  }
  return status == MN_OK ? MN_OK : mn_fail(r->ctx, status, "%s", why);
}

/* A finished run is left as it is, but for what a kill after its last record left undone. */
static mn_status complete(run *r)
{
  char path[MN_PATH_MAX];
  double whole = r->model->output.frames * r->model->output.every;
  if (r->settings.until < whole - 1e-9 * r->model->output.every)
    mn_log(r->ctx, MN_LOG_INFO,
           "%s is finished: it was asked to end at %g s; to go on to the scene's end, resume it "
           "with --until %g",
           r->directory, r->settings.until, whole);
  else
    mn_log(r->ctx, MN_LOG_INFO, "%s is finished: nothing to resume", r->directory);
  MN_TRY(mn_folder_tidy(r->ctx, r->directory));
  MN_TRY(mn_path(r->ctx, path, "%s/report.html", r->directory));
  return access(path, F_OK) ? mn_report_write(r->ctx, r->directory, r->model) : MN_OK;
}

static mn_status run_in_folder(run *r)
{
  if (r->def->resume)
    MN_TRY(mn_settings_read(r->ctx, r->directory, &r->settings));
  MN_TRY(mn_run_extent(r->ctx, r->compiled, r->def, &r->settings.frames, &r->settings.until));
  if (r->def->resume && !strcmp(r->settings.state, "done") && r->def->from_frame < 0 &&
      r->settings.time >= r->settings.until - 1e-9 * r->model->output.every)
    return complete(r);
  MN_TRY(mn_world_create(r->ctx, r->compiled, &r->world));
  MN_TRY(MN_NEW(r->ctx, "probes", (size_t)r->model->probe_count + 1, &r->values));
  MN_TRY(r->def->resume ? begin_resumed(r) : begin_new(r));
  return end(r, loop(r));
}

mn_status mn_run(mn_context *ctx, const mn_model *model, const mn_run_def *def)
{
  run r = {.ctx = ctx,
           .compiled = model,
           .model = mn_model_get(model),
           .def = def,
           .directory = def->directory,
           .lock = -1,
           .start = mn_seconds(),
           .saved_step = -1};
  r.saved_at = r.start;
  if (!def->directory || !*def->directory)
    return mn_fail(ctx, MN_BAD_INPUT, "a run needs a directory");
  MN_TRY(mn_folder_claim(ctx, def->directory, &r.lock));
  mn_status status = run_in_folder(&r);
  char why[MN_MESSAGE_MAX]; /* the first failure is the one that is told */
  memcpy(why, ctx->message, sizeof why);
  mn_status steps = mn_series_close(ctx, &r.steps), probes = mn_series_close(ctx, &r.probes);
  mn_status regions = mn_series_close(ctx, &r.regions);
  if (status != MN_OK)
    memcpy(ctx->message, why, sizeof why);
  else
    status = steps != MN_OK ? steps : probes != MN_OK ? probes : regions;
  mn_free(r.settings.params);
  mn_free(r.values);
  mn_world_destroy(&r.world);
  mn_folder_release(&r.lock);
  return status;
}
