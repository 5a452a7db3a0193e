#include "scene/allowed.h"

#include <lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "couple/couple.h"
#include "scene/nearest.h"
#include "scene/sandbox.h"

enum { CHOICES_MAX = 64 };
static const double NEAR = 1e-9; /* of a multiple: 0.3 is three times 0.1 */

typedef enum limit { FROM, ABOVE, TO, MULTIPLE, BOUNDS } limit;
static const char *const bound_names[BOUNDS] = {"from", "above", "to", "multiple"};

static int has_bound(lua_State *L, int index, limit which, double *value)
{
  lua_getfield(L, index, bound_names[which]);
  int found = lua_type(L, -1) == LUA_TNUMBER;
  *value = found ? lua_tonumber(L, -1) : 0;
  lua_pop(L, 1);
  return found;
}

static int choice_count(lua_State *L, int index)
{
  return lua_istable(L, index) ? (int)lua_rawlen(L, index) : 0;
}

/* ---- what a scene may ask for ---------------------------------------------------------------- */

static void check_choices(lua_State *L, int index, int like, const char *name)
{
  int count = choice_count(L, index);
  if (lua_type(L, like) != LUA_TSTRING)
    luaL_error(L, "param \"%s\": a list of texts is allowed, but its default is a %s", name,
               luaL_typename(L, like));
  if (count > CHOICES_MAX)
    luaL_error(L, "param \"%s\": found %d texts to choose from, allowed: at most %d", name, count,
               CHOICES_MAX);
  mn_sandbox_charge(L, count, 1);
  for (int i = 1; i <= count; i++) {
    if (lua_rawgeti(L, index, i) != LUA_TSTRING)
      luaL_error(L, "param \"%s\": found a %s among what is allowed, which must be texts", name,
                 luaL_typename(L, -1));
    lua_pop(L, 1);
  }
}

static void check_bounds(lua_State *L, int index, int like, const char *name)
{
  if (lua_type(L, like) != LUA_TNUMBER)
    luaL_error(L, "param \"%s\": a range is allowed, but its default is a %s", name,
               luaL_typename(L, like));
  lua_pushnil(L);
  for (int keys = 0; lua_next(L, index); keys++, lua_pop(L, 1)) {
    mn_nearest nearest = {.word = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?"};
    int known = 0;
    for (int b = 0; b < BOUNDS; b++) {
      known = known || !strcmp(bound_names[b], nearest.word);
      mn_nearest_offer(&nearest, bound_names[b]);
    }
    if (!known || keys > BOUNDS)
      luaL_error(L, "param \"%s\": found %s in what is allowed: must be from, above, to, multiple",
                 name, nearest.word);
    if (lua_type(L, -1) != LUA_TNUMBER || !isfinite(lua_tonumber(L, -1)))
      luaL_error(L, "param \"%s\": %s of what is allowed must be a finite number", name,
                 nearest.word);
  }
  double multiple;
  if (has_bound(L, index, MULTIPLE, &multiple) && !(multiple > 0))
    luaL_error(L, "param \"%s\": multiple is %f: must be greater than 0", name, multiple);
}

void mn_allowed_check(lua_State *L, int index, int like, const char *name)
{
  if (lua_isnoneornil(L, index))
    return;
  if (!lua_istable(L, index))
    luaL_error(L,
               "param \"%s\": found a %s for what is allowed, must be a list of texts or a range, "
               "as in { from = 0, to = 1 }",
               name, luaL_typename(L, index));
  if (choice_count(L, index))
    check_choices(L, index, like, name);
  else
    check_bounds(L, index, like, name);
  if (!mn_allowed_fits(L, index, like)) {
    char words[512];
    mn_allowed_words(L, index, words, sizeof words);
    luaL_error(L, "param \"%s\": its default is not allowed: must be %s", name, words);
  }
}

/* ---- values ---------------------------------------------------------------------------------- */

int mn_allowed_fits(lua_State *L, int index, int value)
{
  if (lua_isnoneornil(L, index))
    return 1;
  int count = choice_count(L, index), found = 0;
  for (int i = 1; i <= count; i++) {
    lua_rawgeti(L, index, i);
    found = found || lua_rawequal(L, -1, value);
    lua_pop(L, 1);
  }
  if (count)
    return found;
  double v = lua_tonumber(L, value), bound;
  if ((has_bound(L, index, FROM, &bound) && v < bound) ||
      (has_bound(L, index, ABOVE, &bound) && v <= bound) ||
      (has_bound(L, index, TO, &bound) && v > bound))
    return 0;
  return !has_bound(L, index, MULTIPLE, &bound) ||
         (v / bound > 0.5 && fabs(v / bound - round(v / bound)) < NEAR);
}

void mn_allowed_words(lua_State *L, int index, char *words, size_t size)
{
  size_t used = 0;
  words[0] = 0;
  if (lua_isnoneornil(L, index))
    return;
  int count = choice_count(L, index);
  for (int i = 1; i <= count && used < size; i++) {
    lua_rawgeti(L, index, i);
    used +=
        (size_t)snprintf(words + used, size - used, "%s%s", i > 1 ? ", " : "", lua_tostring(L, -1));
    lua_pop(L, 1);
  }
  if (count)
    return;
  double bound, low = 0;
  if (has_bound(L, index, MULTIPLE, &bound))
    used += bound == 1 ? (size_t)snprintf(words, size, "a whole number")
                       : (size_t)snprintf(words, size, "a multiple of %.10g", bound);
  const char *space = used ? ", " : "";
  int above = has_bound(L, index, ABOVE, &low);
  int from = !above && has_bound(L, index, FROM, &low), to = has_bound(L, index, TO, &bound);
  words += used;
  size -= used;
  if (from && to)
    snprintf(words, size, "%sfrom %.10g to %.10g", space, low, bound);
  else if (above && to)
    snprintf(words, size, "%sgreater than %.10g and at most %.10g", space, low, bound);
  else if (from)
    snprintf(words, size, "%sat least %.10g", space, low);
  else if (above)
    snprintf(words, size, "%sgreater than %.10g", space, low);
  else if (to)
    snprintf(words, size, "%sat most %.10g", space, bound);
}

void mn_allowed_open(lua_State *L)
{
  lua_pushglobaltable(L);
  lua_newtable(L);
  for (int m = 0; m <= MN_COUPLE_AUTO; m++) {
    lua_pushstring(L, mn_coupling_method_name((mn_coupling_method)m));
    lua_rawseti(L, -2, m + 1);
  }
  lua_setfield(L, -2, "couplings");
  lua_pop(L, 1);
}
