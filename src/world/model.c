/* From a def to an immutable model: the copy and who owns what. */
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "world/world.h"

static mn_status copy_array(mn_context *ctx, const char *what, const void *from, int count,
                            size_t size, void **to)
{
  *to = NULL;
  if (count < 0 || (count > 0 && !from))
    return mn_fail(ctx, MN_BAD_INPUT, "%s: a count of %d without entries", what, count);
  if (!count)
    return MN_OK;
  MN_TRY(mn_alloc(ctx, what, (size_t)count, size, to));
  memcpy(*to, from, (size_t)count * size);
  return MN_OK;
}

/* The model's own arrays; what it could not allocate is NULL with count 0. */
static mn_status copy_arrays(mn_context *ctx, const mn_model_def *from, mn_model_def *to)
{
  to->source_count = to->solid_count = to->body_count = to->link_count = to->probe_count =
      to->param_count = 0;
  to->sources = NULL;
  to->solids = NULL;
  to->bodies = NULL;
  to->links = NULL;
  to->probes = NULL;
  to->params = NULL;
  MN_TRY(copy_array(ctx, "sources", from->sources, from->source_count, sizeof *from->sources,
                    (void **)&to->sources));
  to->source_count = from->source_count;
  MN_TRY(copy_array(ctx, "solids", from->solids, from->solid_count, sizeof *from->solids,
                    (void **)&to->solids));
  to->solid_count = from->solid_count;
  MN_TRY(copy_array(ctx, "bodies", from->bodies, from->body_count, sizeof *from->bodies,
                    (void **)&to->bodies));
  to->body_count = from->body_count;
  MN_TRY(copy_array(ctx, "links", from->links, from->link_count, sizeof *from->links,
                    (void **)&to->links));
  to->link_count = from->link_count;
  MN_TRY(copy_array(ctx, "probes", from->probes, from->probe_count, sizeof *from->probes,
                    (void **)&to->probes));
  to->probe_count = from->probe_count;
  MN_TRY(copy_array(ctx, "parameters", from->params, from->param_count, sizeof *from->params,
                    (void **)&to->params));
  to->param_count = from->param_count;
  return MN_OK;
}

static void free_arrays(mn_model_def *def)
{
  mn_free(def->sources);
  mn_free(def->solids);
  mn_free(def->bodies);
  mn_free(def->links);
  mn_free(def->probes);
  mn_free(def->params);
}

/* After the model has taken them over, the caller's def must not reach them any more. */
static void forget_owned(mn_model_def *def)
{
  def->fluid.initial_smoke_shape = NULL;
  def->fluid.initial_water = NULL;
  for (int i = 0; i < def->source_count; i++)
    def->sources[i].shape = NULL;
  for (int i = 0; i < def->solid_count; i++)
    def->solids[i].shape = NULL;
  for (int i = 0; i < def->body_count; i++)
    def->bodies[i].shape = def->bodies[i].fixed = def->bodies[i].cut = NULL;
  for (int i = 0; i < def->probe_count; i++)
    def->probes[i].shape = NULL;
  def->owner = NULL;
}

void mn_model_def_release(mn_model_def *def)
{
  mn_shape_destroy(&def->fluid.initial_smoke_shape);
  mn_shape_destroy(&def->fluid.initial_water);
  for (int i = 0; def->sources && i < def->source_count; i++)
    mn_shape_destroy(&def->sources[i].shape);
  for (int i = 0; def->solids && i < def->solid_count; i++)
    mn_shape_destroy(&def->solids[i].shape);
  for (int i = 0; def->bodies && i < def->body_count; i++) {
    mn_shape_destroy(&def->bodies[i].shape);
    mn_shape_destroy(&def->bodies[i].fixed);
    mn_shape_destroy(&def->bodies[i].cut);
  }
  for (int i = 0; def->probes && i < def->probe_count; i++)
    mn_shape_destroy(&def->probes[i].shape);
  if (def->release && def->owner)
    def->release(def->owner);
  def->owner = NULL;
}

mn_status mn_model_create(mn_context *ctx, mn_model_def *def, mn_model **out)
{
  *out = NULL;
  mn_model *model = NULL;
  mn_status status = MN_NEW(ctx, "a model", 1, &model);
  if (status == MN_OK) {
    model->def = *def;
    status = copy_arrays(ctx, def, &model->def);
    if (status == MN_OK)
      status = mn_model_check(ctx, &model->def);
  }
  if (status != MN_OK) {
    if (model)
      free_arrays(&model->def);
    mn_free(model);
    mn_model_def_release(def);
    return status;
  }
  forget_owned(def);
  *out = model;
  return MN_OK;
}

void mn_model_destroy(mn_model **model)
{
  if (!*model)
    return;
  mn_model_def_release(&(*model)->def);
  free_arrays(&(*model)->def);
  mn_free(*model);
  *model = NULL;
}

const mn_model_def *mn_model_get(const mn_model *model)
{
  return &model->def;
}
