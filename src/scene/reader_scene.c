/* The parts of a scene: domain, fluid, lists of sources, solids and probes, output. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/status.h"
#include "couple/couple.h"
#include "meniscus/scene.h"
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

/* ---- plug-ins -------------------------------------------------------------------------------- */

/* File names in a scene are relative to its folder. */
static mn_status resolve_file(mn_reader *r, char file[MN_PATH_MAX])
{
  char path[2 * MN_PATH_MAX];
  if (!*file || *file == '/' || !r->folder || !*r->folder)
    return MN_OK;
  snprintf(path, sizeof path, "%s/%s", r->folder, file);
  if (strlen(path) >= MN_PATH_MAX)
    return mn_reader_fail(r, "the file's path is too long");
  strcpy(file, path);
  return MN_OK;
}

static mn_status read_plugin(mn_reader *r, int index, mn_plugin_def *out)
{
  *out = (mn_plugin_def){0};
  MN_TRY(read_node_keys(r, &mn_ctors[MN_CTOR_PLUGIN], index, out));
  mn_place_mark mark = mn_reader_enter(r, mn_node_at(r->L, index)->line, ".file");
  if (!*out->file)
    return mn_reader_fail(r, "found an empty name, allowed: a shared object");
  MN_TRY(resolve_file(r, out->file));
  mn_reader_leave(r, mark);
  return MN_OK;
}

/* ---- fluid ----------------------------------------------------------------------------------- */

static mn_status read_fluid(mn_reader *r, int index)
{
  const mn_node *node = mn_node_at(r->L, index);
  if (node && node->ctor == &mn_ctors[MN_CTOR_PLUGIN]) {
    r->def->fluid = mn_fluid_def_default(MN_FLUID_PLUGIN);
    return read_plugin(r, index, &r->def->fluid_plugin);
  }
  MN_TRY(mn_read_node(r, index, MN_GROUP_FLUID, "smoke { ... }, water { ... } or plugin { ... }",
                      &node));
  r->def->fluid = mn_fluid_def_default((mn_fluid_kind)node->ctor->kind);
  MN_TRY(read_node_keys(r, node->ctor, index, &r->def->fluid));
  mn_tell_idle_fluid_keys(r, index);
  return MN_OK;
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
  MN_TRY(read_node_keys(r, node->ctor, index, out));
  mn_tell_idle_source_keys(r, index);
  return MN_OK;
}

/* All or none of the keys that only make sense together. */
static mn_status given_together(mn_reader *r, int index, const char *const *keys, int *given)
{
  int count = 0, wanted = 0;
  for (; keys[wanted]; wanted++)
    count += mn_node_has_key(r->L, index, keys[wanted]);
  *given = count > 0;
  if (count && count < wanted)
    return mn_reader_fail(r, "found %s %s, allowed: %s, %s%s%s together",
                          mn_node_has_key(r->L, index, keys[0]) ? "only" : "no", keys[0], keys[0],
                          keys[1], keys[2] ? ", " : "", keys[2] ? keys[2] : "");
  return MN_OK;
}

static mn_status read_obstacle(mn_reader *r, int index, mn_solid_def *out)
{
  *out = mn_solid_def_default();
  MN_TRY(read_node_keys(r, mn_node_at(r->L, index)->ctor, index, out));
  out->moving = mn_node_has_key(r->L, index, "motion");
  return MN_OK;
}

static mn_status read_body(mn_reader *r, int index, mn_body_def *out)
{
  static const char *const line[] = {"from", "to", NULL};
  static const char *const sheet[] = {"corner", "along", "across", NULL};
  const mn_node *node = mn_node_at(r->L, index);
  *out = mn_body_def_default((mn_body_kind)node->ctor->kind);
  MN_TRY(read_node_keys(r, node->ctor, index, out));
  mn_place_mark mark = mn_reader_enter(r, node->line, "%s", "");
  out->moving = mn_node_has_key(r->L, index, "motion");
  MN_TRY(given_together(r, index, line, &out->line));
  MN_TRY(given_together(r, index, sheet, &out->sheet));
  MN_TRY(resolve_file(r, out->file));
  mn_reader_leave(r, mark);
  return MN_OK;
}

/* An obstacle, a body or a link: each goes to its own list. */
static mn_status read_solid(mn_reader *r, int index)
{
  const mn_node *node = mn_node_at(r->L, index);
  if (node && node->ctor == &mn_ctors[MN_CTOR_OBSTACLE])
    return read_obstacle(r, index, &r->def->solids[r->def->solid_count++]);
  if (node && node->ctor == &mn_ctors[MN_CTOR_LINK]) {
    mn_link_def *link = &r->def->links[r->def->link_count++];
    *link = mn_link_def_default();
    return read_node_keys(r, node->ctor, index, link);
  }
  if (node && node->ctor->group == MN_GROUP_BODY && node->ctor != &mn_ctors[MN_CTOR_DYNAMICS])
    return read_body(r, index, &r->def->bodies[r->def->body_count++]);
  if (node && node->ctor == &mn_ctors[MN_CTOR_PLUGIN] && *r->def->solid_plugin.file)
    return mn_reader_fail(r, "found a second plug-in, allowed: one");
  if (node && node->ctor == &mn_ctors[MN_CTOR_PLUGIN])
    return read_plugin(r, index, &r->def->solid_plugin);
  return mn_reader_bad(r, index,
                       "obstacle { ... }, rigid { ... }, elastic { ... }, springs { ... }, "
                       "shell { ... }, rod { ... }, link { ... } or plugin { ... }");
}

static mn_status read_probe(mn_reader *r, int index, mn_probe_def *out)
{
  const mn_node *node;
  MN_TRY(mn_read_node(r, index, MN_GROUP_PROBE,
                      "a probe: pressure, velocity, smoke_at, temperature_at, kinetic_energy, "
                      "flux, volume, area, divergence, position, body_velocity, angle, "
                      "body_energy, force, stretch or volume_ratio",
                      &node));
  *out = (mn_probe_def){.kind = (mn_probe_kind)node->ctor->kind};
  MN_TRY(read_node_keys(r, node->ctor, index, out));
  out->at_point = mn_node_has_key(r->L, index, "at");
  mn_place_mark mark = mn_reader_enter(r, node->line, "%s", "");
  if (out->axis >= r->def->domain.dim) {
    mn_reader_enter(r, 0, ".axis");
    return mn_reader_fail(r, "found \"z\", allowed in 2D: \"x\", \"y\"");
  }
  mn_reader_leave(r, mark);
  return MN_OK;
}

static mn_status new_solids(mn_reader *r, size_t count)
{
  MN_TRY(MN_NEW(r->ctx, "solids", count, &r->def->solids));
  MN_TRY(MN_NEW(r->ctx, "links", count, &r->def->links));
  return MN_NEW(r->ctx, "bodies", count, &r->def->bodies);
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
         : solids ? new_solids(r, (size_t)count)
                  : MN_NEW(r->ctx, "probes", (size_t)count, &def->probes));
  for (int i = 0; i < count; i++) {
    if (!solids)
      *(sources ? &def->source_count : &def->probe_count) = i + 1;
    mn_place_mark mark = mn_reader_enter(r, 0, "[%d]", i + 1);
    lua_rawgeti(r->L, index, i + 1);
    int entry = lua_gettop(r->L);
    MN_TRY(mn_reader_mark(r, entry));
    MN_TRY(sources  ? read_source(r, entry, &def->sources[i])
           : solids ? read_solid(r, entry)
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

static mn_status read_dynamics(mn_reader *r, int index)
{
  const mn_node *node = mn_node_at(r->L, index);
  const mn_ctor *ctor = &mn_ctors[MN_CTOR_DYNAMICS];
  if (!node || node->ctor != ctor)
    return mn_reader_bad(r, index, "dynamics { dt = ..., integrator = ... }");
  return read_node_keys(r, ctor, index, &r->def->dynamics);
}

/* Keys of couple{} that only some methods heed. */
typedef struct heeded {
  const char *key;
  unsigned methods; /* bits 1 << mn_coupling_method */
  const char *names;
} heeded;

enum {
  LEARNS = 1 << MN_COUPLE_XPM | 1 << MN_COUPLE_RMI,
  RELAXES = 1 << MN_COUPLE_AITKEN | 1 << MN_COUPLE_RELAXED,
  WEAK = 1 << MN_COUPLE_WEAK,
  NEWTON = 1 << MN_COUPLE_MONOLITHIC,
  SOLVES = NEWTON | 1 << MN_COUPLE_SIMULTANEOUS,
  AUTO = 1 << MN_COUPLE_AUTO
};
#define ITERATES LEARNS | RELAXES, "xpm, rmi, aitken and relaxed"
#define CONVERGES LEARNS | RELAXES | NEWTON, "xpm, rmi, aitken, relaxed and monolithic"
#define ASKS LEARNS | RELAXES | WEAK, "xpm, rmi, aitken, relaxed and weak"

static const heeded heeded_keys[] = {{"tolerance", AUTO | CONVERGES},
                                     {"max_iterations", AUTO | CONVERGES},
                                     {"published", ~AUTO, "methods that were published"},
                                     {"frozen", CONVERGES},
                                     {"rigid", ITERATES},
                                     {"mass", ITERATES},
                                     {"predictor", AUTO | ASKS},
                                     {"closed", AUTO | ASKS},
                                     {"omega", RELAXES, "aitken and relaxed"},
                                     {"reuse", LEARNS, "xpm and rmi"},
                                     {"filter", LEARNS, "xpm and rmi"},
                                     {"solver", SOLVES, "simultaneous and monolithic"},
                                     {"elastic", NEWTON, "monolithic"}};

/* Key `key` has no effect because of `why`. A scene whose method is a parameter may hold the keys
   of all methods, so that couplings can be compared: there only who set the key's own parameter, to
   something else than its default (a run that is resumed sets all of them), is told. */
static mn_status idle_coupling_key(mn_reader *r, int index, const char *key, const char *why)
{
  const mn_sandbox *box = r->box;
  int chosen = 0, set = 0;
  for (int i = 0; i < box->param_count; i++) {
    const mn_param *p = &box->params[i];
    chosen |= !strcmp(p->name, "coupling");
    set |= !strcmp(p->name, key) && strcmp(p->value, p->initial);
  }
  if (chosen && set)
    mn_log(r->ctx, MN_LOG_WARNING, "coupling.%s has no effect: %s", key, why);
  if (chosen)
    return MN_OK;
  mn_reader_enter(r, mn_node_at(r->L, index)->line, ".%s", key);
  return mn_reader_fail(r, "has no effect: %s; leave it out", why);
}

static mn_status check_heeded(mn_reader *r, int index, const mn_coupling_def *d)
{
  char why[192];
  for (size_t i = 0; i < sizeof heeded_keys / sizeof *heeded_keys; i++) {
    const heeded *h = &heeded_keys[i];
    if (h->methods >> d->method & 1 || !mn_node_has_key(r->L, index, h->key))
      continue;
    if (!strcmp(h->key, "closed") && SOLVES >> d->method & 1 && d->closed == MN_CLOSED_NONE)
      continue; /* the one system's own way to leave volumes to the grid */
    snprintf(why, sizeof why, "method is \"%s\", and it is used by %s only",
             mn_coupling_method_name(d->method), h->names);
    MN_TRY(idle_coupling_key(r, index, h->key, why));
  }
  if (!d->reuse && LEARNS >> d->method & 1 && mn_node_has_key(r->L, index, "filter"))
    return idle_coupling_key(r, index, "filter",
                             "reuse is 0, so that there are no secants to filter");
  return MN_OK;
}

/* Keys that are not given have defaults by method. */
static mn_status read_coupling(mn_reader *r, int index)
{
  const mn_node *node = mn_node_at(r->L, index);
  const mn_ctor *ctor = &mn_ctors[MN_CTOR_COUPLE];
  mn_coupling_def *d = &r->def->coupling;
  if (!node || node->ctor != ctor)
    return mn_reader_bad(r, index, "couple { method = ..., ... }");
  MN_TRY(read_node_keys(r, ctor, index, d));
  mn_coupling_def best = mn_coupling_def_default(d->method, d->published);
  if (!mn_node_has_key(r->L, index, "load"))
    d->load = best.load;
  if (!mn_node_has_key(r->L, index, "reuse"))
    d->reuse = best.reuse;
  if (!mn_node_has_key(r->L, index, "mass"))
    d->mass = best.mass;
  if (!mn_node_has_key(r->L, index, "frozen"))
    d->frozen = best.frozen;
  return check_heeded(r, index, d);
}

mn_status mn_read_part(mn_reader *r, const mn_key *key, int index)
{
  MN_TRY(mn_reader_mark(r, index));
  switch (key->type) {
  case MN_KEY_DOMAIN:
    return read_domain(r, index);
  case MN_KEY_FLUID:
    return read_fluid(r, index);
  case MN_KEY_DYNAMICS:
    return read_dynamics(r, index);
  case MN_KEY_COUPLING:
    return read_coupling(r, index);
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
  static const char *const parts[] = {"domain", "fluid",    "sources",  "solids",
                                      "probes", "dynamics", "coupling", "output"};
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
  static const char *const kinds[] = {"pressure",       "velocity", "smoke",       "temperature",
                                      "kinetic_energy", "flux",     "volume",      "divergence",
                                      "position",       "velocity", "angle",       "energy",
                                      "force",          "stretch",  "volume_ratio"};
  static const char *const axes[] = {"_x", "_y", "_z"};
  int of_body = p->kind >= MN_PROBE_POSITION;
  int has_axis = p->kind == MN_PROBE_FLUX || (p->kind == MN_PROBE_VELOCITY && p->axis >= 0) ||
                 p->kind == MN_PROBE_POSITION || p->kind == MN_PROBE_BODY_VELOCITY ||
                 p->kind == MN_PROBE_FORCE;
  char base[MN_NAME_MAX];
  if (of_body)
    snprintf(base, sizeof base, "%.40s%s%s%s", p->of, *p->of ? "_" : "", kinds[p->kind],
             has_axis ? axes[p->axis] : "");
  else if (p->kind == MN_PROBE_VOLUME)
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

/* Written, but nothing there is to be coupled. */
static void tell_idle_coupling(const mn_reader *r)
{
  const mn_model_def *def = r->def;
  int fluid = def->fluid.kind != MN_FLUID_NONE;
  int bodies = def->body_count > 0 || *def->solid_plugin.file;
  for (int i = 0; i < r->part_count && !(fluid && bodies); i++)
    if (!strcmp(r->parts[i].path, "coupling"))
      mn_log(r->ctx, MN_LOG_WARNING,
             "%s:%d: scene.coupling has no effect: there is no %s to couple", r->box->name,
             r->parts[i].line, fluid ? "body that moves" : "fluid");
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
  r->def->fluid.kind = MN_FLUID_NONE; /* until one is read */
  MN_TRY(read_node_keys(r, node->ctor, index, r->def));
  tell_idle_coupling(r);
  mn_tell_idle_walls(r, index);
  for (int i = 0; i < r->def->probe_count; i++)
    if (!*r->def->probes[i].name)
      name_probe(r->def, &r->def->probes[i]);
  if (!*r->def->output.show)
    strcpy(r->def->output.show, r->def->fluid.kind == MN_FLUID_WATER   ? "water"
                                : r->def->fluid.kind == MN_FLUID_SMOKE ? "smoke"
                                                                       : "bodies");
  return MN_OK;
}
