/* The parts of a scene: domain, fluid, lists of sources, solids and probes, output. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/status.h"
#include "scene/reader.h"

enum { MOST_ENTRIES = 10000 };

/* Reads the keys of a node under another path and line; the node's table is on the stack meanwhile.
 */
static mn_status read_node_keys(mn_reader *r, const mn_ctor *ctor, int index, void *out)
{
  mn_place_mark mark = mn_reader_enter(r, mn_node_at(r->L, index)->line, "%s", "");
  mn_node_push_table(r->L, index);
  MN_TRY(mn_read_keys(r, ctor, lua_gettop(r->L), out, NULL));
  lua_pop(r->L, 1);
  mn_reader_leave(r, mark);
  return MN_OK;
}

/* ---- domain ---------------------------------------------------------------------------------- */

/* Cells are cubes of edge h. Suggests counts if the size is a multiple of the first spacing, else a
   size. */
static mn_status check_cubic(mn_reader *r, const mn_domain_def *d)
{
  double h = d->size.x / d->cells[0];
  for (int a = 1; a < d->dim; a++) {
    double other = d->size.v[a] / d->cells[a];
    if (fabs(other - h) <= 1e-6 * h) /* sizes such as 1/3 are not exact */
      continue;
    double n = d->size.v[a] / h, whole = floor(n + 0.5);
    mn_reader_enter(r, 0, ".cells");
    if (whole >= 1 && fabs(n - whole) <= 1e-6 * n)
      return mn_reader_fail(r,
                            "cells must be cubic, but are %.7g m along axis 1 and %.7g m along "
                            "axis %d; cells[%d] = %.0f would do",
                            h, other, a + 1, a + 1, whole);
    return mn_reader_fail(r,
                          "cells must be cubic, but are %.7g m along axis 1 and %.7g m along axis "
                          "%d; size[%d] = %.7g with cells[%d] = %.0f would do",
                          h, other, a + 1, a + 1, h * fmax(whole, 1), a + 1, fmax(whole, 1));
  }
  return MN_OK;
}

static mn_status read_domain(mn_reader *r, int index)
{
  const mn_node *node = mn_node_at(r->L, index);
  mn_domain_def *d = &r->def->domain;
  if (!node || node->ctor != &mn_ctors[MN_CTOR_DOMAIN])
    return mn_reader_bad(r, index, "box { size = {...}, cells = {...} }");
  d->dim = 0; /* until the size is known */
  mn_place_mark mark = mn_reader_enter(r, node->line, "%s", "");
  MN_TRY(read_node_keys(r, node->ctor, index, d));
  MN_TRY(check_cubic(r, d));
  mn_reader_leave(r, mark);
  return MN_OK;
}

/* ---- fluid ----------------------------------------------------------------------------------- */

static mn_status read_fluid(mn_reader *r, int index)
{
  const mn_node *node;
  MN_TRY(mn_read_node(r, index, MN_GROUP_FLUID, "smoke { ... } or water { ... }", &node));
  r->def->fluid = mn_fluid_def_default((mn_fluid_kind)node->ctor->kind);
  return read_node_keys(r, node->ctor, index, &r->def->fluid);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static mn_status read_source(mn_reader *r, int index, mn_source_def *out)
{
  const mn_node *node;
  MN_TRY(mn_read_node(r, index, MN_GROUP_SOURCE, "inflow { ... }, emitter { ... } or drain { ... }",
                      &node));
  *out = mn_source_def_default();
  out->blows = node->ctor->kind;
  out->drains = node->ctor == &mn_ctors[MN_CTOR_DRAIN];
  return read_node_keys(r, node->ctor, index, out);
}

static mn_status read_solid(mn_reader *r, int index, mn_solid_def *out)
{
  const mn_node *node = mn_node_at(r->L, index);
  if (!node || node->ctor != &mn_ctors[MN_CTOR_OBSTACLE])
    return mn_reader_bad(r, index, "obstacle { ... }");
  *out = mn_solid_def_default();
  MN_TRY(read_node_keys(r, node->ctor, index, out));
  mn_node_push_table(r->L, index);
  lua_pushliteral(r->L, "motion");
  out->moving = lua_rawget(r->L, -2) != LUA_TNIL;
  lua_pop(r->L, 2);
  return MN_OK;
}

static mn_status read_probe(mn_reader *r, int index, mn_probe_def *out)
{
  const mn_node *node;
  MN_TRY(mn_read_node(r, index, MN_GROUP_PROBE,
                      "a probe: pressure, velocity, smoke_at, temperature_at, kinetic_energy, "
                      "flux, volume, area or divergence",
                      &node));
  *out = (mn_probe_def){.kind = (mn_probe_kind)node->ctor->kind};
  MN_TRY(read_node_keys(r, node->ctor, index, out));
  mn_place_mark mark = mn_reader_enter(r, node->line, "%s", "");
  if (out->axis >= r->def->domain.dim) {
    mn_reader_enter(r, 0, ".axis");
    return mn_reader_fail(r, "found \"z\", allowed in 2D: \"x\", \"y\"");
  }
  mn_reader_leave(r, mark);
  return MN_OK;
}

/* Makes the array and reads each entry; the count is raised before an entry is read, so that what
   it holds is found when reading stops half way. */
static mn_status read_entries(mn_reader *r, const mn_key *key, int index)
{
  mn_model_def *def = r->def;
  int sources = key->type == MN_KEY_SOURCES, solids = key->type == MN_KEY_SOLIDS;
  int count;
  char allowed[128];
  snprintf(allowed, sizeof allowed, "a list, as in %s = { %.*s { ... } }", key->name,
           (int)strcspn(key->choices, " "), key->choices);
  MN_TRY(mn_read_list(r, index, allowed, MOST_ENTRIES, &count));
  if (count == 0)
    return MN_OK;
  MN_TRY(sources  ? MN_NEW(r->ctx, "sources", (size_t)count, &def->sources)
         : solids ? MN_NEW(r->ctx, "solids", (size_t)count, &def->solids)
                  : MN_NEW(r->ctx, "probes", (size_t)count, &def->probes));
  for (int i = 0; i < count; i++) {
    *(sources ? &def->source_count : solids ? &def->solid_count : &def->probe_count) = i + 1;
    mn_place_mark mark = mn_reader_enter(r, 0, "[%d]", i + 1);
    lua_rawgeti(r->L, index, i + 1);
    int entry = lua_gettop(r->L);
    MN_TRY(mn_reader_mark(r, entry));
    MN_TRY(sources  ? read_source(r, entry, &def->sources[i])
           : solids ? read_solid(r, entry, &def->solids[i])
                    : read_probe(r, entry, &def->probes[i]));
    lua_pop(r->L, 1);
    mn_reader_leave(r, mark);
  }
  return MN_OK;
}

static mn_status read_output(mn_reader *r, int index)
{
  const mn_node *node = mn_node_at(r->L, index);
  const mn_ctor *ctor = &mn_ctors[MN_CTOR_OUTPUT];
  if (node && node->ctor == ctor)
    return read_node_keys(r, ctor, index, &r->def->output);
  if (!lua_istable(r->L, index))
    return mn_reader_bad(r, index, "{ frames = ..., every = ... }");
  return mn_read_keys(r, ctor, index, &r->def->output, NULL);
}

mn_status mn_read_part(mn_reader *r, const mn_key *key, int index)
{
  MN_TRY(mn_reader_mark(r, index));
  switch (key->type) {
  case MN_KEY_DOMAIN:
    return read_domain(r, index);
  case MN_KEY_FLUID:
    return read_fluid(r, index);
  case MN_KEY_OUTPUT:
    return read_output(r, index);
  default:
    return read_entries(r, key, index);
  }
}

/* ---- lines of the parts, for the model's own checks -------------------------------------------
 */

mn_status mn_reader_mark(mn_reader *r, int index)
{
  const mn_node *node = mn_node_at(r->L, index);
  if (!node)
    return MN_OK;
  if (r->part_count == r->part_capacity) {
    int capacity = r->part_capacity ? 2 * r->part_capacity : 16;
    MN_TRY(mn_grow(r->ctx, "lines of a scene", (size_t)r->part_count, (size_t)capacity,
                   sizeof *r->parts, (void **)&r->parts));
    r->part_capacity = capacity;
  }
  mn_part_line *part = &r->parts[r->part_count++];
  snprintf(part->path, sizeof part->path, "%.30s", r->path + strlen("scene."));
  part->line = node->line;
  return MN_OK;
}

mn_status mn_reader_blame_part(mn_reader *r, const char *name, mn_status status)
{
  static const char *const parts[] = {"domain", "fluid", "sources", "solids", "probes", "output"};
  char message[MN_MESSAGE_MAX];
  snprintf(message, sizeof message, "%s", mn_context_message(r->ctx));
  int line = r->line, path = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    path = path || !strncmp(message, parts[i], strlen(parts[i]));
  for (int i = 0; i < r->part_count; i++) {
    size_t n = strlen(r->parts[i].path);
    if (!strncmp(message, r->parts[i].path, n) && strchr(". :", message[n]))
      line = r->parts[i].line;
  }
  return mn_fail(r->ctx, status, "%s:%d: %s%s", name, line, path ? "scene." : "", message);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int name_taken(const mn_model_def *def, const char *name)
{
  for (int i = 0; i < def->probe_count; i++)
    if (!strcmp(def->probes[i].name, name))
      return 1;
  return 0;
}

/* A name for probes without one: what they measure, with a number if that is taken. */
static void name_probe(mn_model_def *def, mn_probe_def *p)
{
  static const char *const kinds[] = {"pressure",       "velocity", "smoke",  "temperature",
                                      "kinetic_energy", "flux",     "volume", "divergence"};
  static const char *const axes[] = {"_x", "_y", "_z"};
  int has_axis = p->kind == MN_PROBE_FLUX || (p->kind == MN_PROBE_VELOCITY && p->axis >= 0);
  char base[MN_NAME_MAX];
  if (p->kind == MN_PROBE_VOLUME)
    snprintf(base, sizeof base, "%s_%.40s", def->domain.dim == 2 ? "area" : "volume", p->of);
  else
    snprintf(base, sizeof base, "%s%s",
             p->kind == MN_PROBE_VELOCITY && !has_axis ? "speed" : kinds[p->kind],
             has_axis ? axes[p->axis] : "");
  char name[MN_NAME_MAX];
  snprintf(name, sizeof name, "%s", base);
  for (int i = 2; name_taken(def, name); i++)
    snprintf(name, sizeof name, "%.50s_%d", base, i);
  strcpy(p->name, name);
}

mn_status mn_read_scene(mn_reader *r, int index)
{
  const mn_node *node = mn_node_at(r->L, index);
  static const char *const wanted = "a scene ends with: return scene { ... }";
  if (!node || node->ctor != &mn_ctors[MN_CTOR_SCENE]) {
    const char *found = node ? node->ctor->name
                        : lua_type(r->L, index) == LUA_TNIL
                            ? "nothing"
                            : lua_typename(r->L, lua_type(r->L, index));
    return mn_fail(r->ctx, MN_BAD_INPUT, "%s: returns %s, but %s", r->box->name, found, wanted);
  }
  mn_reader_enter(r, node->line, "scene");
  MN_TRY(read_node_keys(r, node->ctor, index, r->def));
  for (int i = 0; i < r->def->probe_count; i++)
    if (!*r->def->probes[i].name)
      name_probe(r->def, &r->def->probes[i]);
  if (!*r->def->output.show)
    strcpy(r->def->output.show, r->def->fluid.kind == MN_FLUID_WATER ? "water" : "smoke");
  return MN_OK;
}
