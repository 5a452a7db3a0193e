/* A field function is called by the solver once per point when a world is made. One Lua state is
   used by one thread at a time: callers evaluate fields serially. */
#include "scene/field.h"

#include <lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

struct mn_lua_field {
  mn_lua_field *next;
  mn_sandbox *box;
  int reference; /* in the registry */
  int components;
  double lowest;
  char where[MN_TEXT_MAX];
};

static mn_status bad_value(const mn_lua_field *f, mn_vec3 x, const char *found)
{
  static const char *const allowed[] = {"", "a number", "two numbers", "three numbers"};
  return mn_fail(f->box->ctx, MN_BAD_INPUT,
                 "%s: at (%g, %g, %g) the function returns %s, allowed: %s%s", f->where, x.x, x.y,
                 x.z, found, allowed[f->components], f->lowest >= 0 ? " that is not negative" : "");
}

/* Results `first`... of the stack: numbers, or one table of numbers. */
static mn_status take_results(const mn_lua_field *f, mn_vec3 x, mn_vec3 *value)
{
  lua_State *L = f->box->L;
  int first = lua_gettop(L) - 2;
  *value = (mn_vec3){0};
  int table = lua_istable(L, first);
  for (int i = 0; i < f->components; i++) {
    if (table)
      lua_rawgeti(L, first, i + 1);
    else
      lua_pushvalue(L, first + i);
    char found[80];
    if (lua_type(L, -1) != LUA_TNUMBER) {
      snprintf(found, sizeof found, "%s as value %d", luaL_typename(L, -1), i + 1);
      return bad_value(f, x, found);
    }
    double v = lua_tonumber(L, -1);
    if (!isfinite(v) || v < f->lowest) {
      snprintf(found, sizeof found, "%g as value %d", v, i + 1);
      return bad_value(f, x, found);
    }
    value->v[i] = v;
    lua_pop(L, 1);
  }
  return MN_OK;
}

static mn_status eval(void *user, mn_vec3 x, mn_vec3 *value)
{
  const mn_lua_field *f = user;
  lua_State *L = f->box->L;
  int top = lua_gettop(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, f->reference);
  for (int i = 0; i < 3; i++)
    lua_pushnumber(L, x.v[i]);
  mn_status status = mn_sandbox_call(f->box, 3, 3, MN_SCENE_FIELD_INSTRUCTIONS);
  if (status == MN_OK)
    status = take_results(f, x, value);
  lua_settop(L, top);
  return status;
}

mn_status mn_field_bind(mn_sandbox *box, const char *where, int components, double lowest,
                        mn_field_fn *out)
{
  mn_lua_field *f;
  MN_TRY(MN_NEW(box->ctx, "a field function", 1, &f));
  f->next = box->fields;
  box->fields = f;
  f->box = box;
  f->components = components;
  f->lowest = lowest;
  snprintf(f->where, sizeof f->where, "%s", where);
  f->reference = luaL_ref(box->L, LUA_REGISTRYINDEX);
  *out = (mn_field_fn){.eval = eval, .user = f};
  return MN_OK;
}

void mn_fields_free(mn_lua_field **fields)
{
  while (*fields) {
    mn_lua_field *next = (*fields)->next;
    mn_free(*fields);
    *fields = next;
  }
}
