/* Keys of a fluid and of its sources that were written, but that another key makes idle: a warning
   each. Keys whose value alone tells that they were written are left to the model's checks, which
   hold for C users as well (mn_warn_idle_fluid_keys). Verified by tests/regress/test_idle_keys.sh.
 */
#include <string.h>

#include "base/context.h"
#include "base/status.h"
#include "math/vec.h"
#include "scene/reader.h"

typedef enum idle_if { NO_PARTICLES, PARTICLES, ANY_WATER, NO_VISCOSITY } idle_if;

/* Key `key` is idle under a condition, which the key `by` decides. */
static const struct {
  const char *key, *by;
  idle_if when;
  const char *why;
} idle_keys[] = {
    {"jitter", "transfer", NO_PARTICLES, "transfer is \"levelset\", and there are no particles"},
    {"volume_control", "transfer", NO_PARTICLES,
     "transfer is \"levelset\", and there are no particles"},
    {"advection", "transfer", PARTICLES,
     "water is carried by particles; only transfer = \"levelset\" uses it"},
    {"limiter", "transfer", PARTICLES,
     "water is carried by particles; only transfer = \"levelset\" uses it"},
    {"order", "transfer", ANY_WATER, "only smoke uses it"},
    {"viscosity_factor", "viscosity", NO_VISCOSITY, "viscosity is 0"},
};

static int is_idle(idle_if when, const mn_fluid_def *f)
{
  int water = f->kind == MN_FLUID_WATER, level_set = f->transfer == MN_TRANSFER_LEVELSET;
  switch (when) {
  case NO_PARTICLES:
    return water && level_set;
  case PARTICLES:
    return water && !level_set;
  case ANY_WATER:
    return water;
  case NO_VISCOSITY:
    return !(f->viscosity > 0);
  }
  return 0;
}

/* A parameter of that name has another value than the scene's own: a scene may hold keys for all of
   its values. */
static int is_chosen(const mn_sandbox *box, const char *name)
{
  for (int i = 0; i < box->param_count; i++)
    if (!strcmp(box->params[i].name, name) && strcmp(box->params[i].value, box->params[i].initial))
      return 1;
  return 0;
}

static void tell(const mn_reader *r, int line, const char *key, const char *why)
{
  mn_log(r->ctx, MN_LOG_WARNING, "%s:%d: %s.%s has no effect: %s", r->box->name, line, r->path, key,
         why);
}

void mn_tell_idle_fluid_keys(mn_reader *r, int index)
{
  for (size_t i = 0; i < sizeof idle_keys / sizeof *idle_keys; i++)
    if (is_idle(idle_keys[i].when, &r->def->fluid) &&
        mn_node_has_key(r->L, index, idle_keys[i].key) && !is_chosen(r->box, idle_keys[i].by))
      tell(r, mn_node_at(r->L, index)->line, idle_keys[i].key, idle_keys[i].why);
}

void mn_tell_idle_source_keys(mn_reader *r, int index)
{
  static const char *const keys[] = {"smoke", "temperature"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys && r->def->fluid.kind == MN_FLUID_WATER; i++)
    if (mn_node_has_key(r->L, index, keys[i]))
      tell(r, mn_node_at(r->L, index)->line, keys[i], "the fluid is water, which carries none");
}

/* Whether the value on top of the stack, a side, says that it is no-slip or moves; wall { friction
   =
   ... } for bodies does not. */
static int says_noslip(lua_State *L)
{
  const mn_node *wall = mn_node_at(L, -1);
  if (!wall)
    return 1; /* a word */
  return mn_node_has_key(L, lua_gettop(L), "kind") || mn_node_has_key(L, lua_gettop(L), "velocity");
}

/* Pushes the field of the node at `index`; returns 1 if it is there. */
static int push_field(lua_State *L, int index, const char *key)
{
  mn_node_push_table(L, index);
  lua_pushstring(L, key);
  int has = lua_rawget(L, -2) != LUA_TNIL;
  lua_remove(L, -2);
  return has;
}

void mn_tell_idle_walls(mn_reader *r, int scene)
{
  static const char *const sides[6] = {"left", "right", "bottom", "top", "back", "front"};
  const mn_model_def *def = r->def;
  int on_grid = def->fluid.kind == MN_FLUID_WATER || def->fluid.kind == MN_FLUID_SMOKE;
  lua_State *L = r->L;
  if (!on_grid || def->fluid.viscosity > 0 || is_chosen(r->box, "viscosity"))
    return;
  push_field(L, scene, "domain");
  int domain = lua_gettop(L);
  for (int s = 0; s < 2 * def->domain.dim; s++) {
    if (push_field(L, domain, sides[s]) && def->domain.side[s].kind == MN_SIDE_NOSLIP &&
        says_noslip(L))
      mn_log(r->ctx, MN_LOG_WARNING,
             "%s:%d: scene.domain.%s is \"noslip\"%s, but fluid.viscosity is 0: the fluid slides "
             "along it, and only interpolation in the cells beside it sees more of it",
             r->box->name, mn_node_at(L, domain)->line, sides[s],
             mn_length(def->domain.side[s].velocity) > 0 ? " and moves" : "");
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}
