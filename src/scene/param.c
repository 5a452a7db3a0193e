/* param(name, default, text, allowed): what -p NAME=VALUE can change. */
#include <ctype.h>
#include <lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "meniscus/scene.h"
#include "scene/allowed.h"
#include "scene/nearest.h"
#include "scene/sandbox.h"

enum { PARAMS_MAX = 256 };

/* As -p takes it: read back, it gives the same value and the same kind of number. */
static void write_value(lua_State *L, int index, char text[MN_TEXT_MAX])
{
  if (lua_isinteger(L, index))
    snprintf(text, MN_TEXT_MAX, "%lld", (long long)lua_tointeger(L, index));
  else if (lua_type(L, index) == LUA_TNUMBER) {
    double value = lua_tonumber(L, index);
    for (int digits = 15; digits <= 17; digits++) {
      snprintf(text, MN_TEXT_MAX, "%.*g", digits, value);
      if (strtod(text, NULL) == value)
        break;
    }
    if (!strpbrk(text, ".eE"))
      strcat(text, ".0");
  } else if (lua_isboolean(L, index))
    strcpy(text, lua_toboolean(L, index) ? "true" : "false");
  else
    snprintf(text, MN_TEXT_MAX, "%s", lua_tostring(L, index));
}

static const char *type_word(lua_State *L, int index)
{
  return lua_isboolean(L, index)             ? "true or false"
         : lua_type(L, index) == LUA_TNUMBER ? "a number"
                                             : "a text";
}

/* Pushes the setting's value with the type of the default at index 2; 0 if it has another type. */
static int push_setting(lua_State *L, const char *value)
{
  if (lua_type(L, 2) == LUA_TSTRING) {
    lua_pushstring(L, value);
    return strlen(value) < MN_TEXT_MAX;
  }
  if (lua_isboolean(L, 2)) {
    lua_pushboolean(L, !strcmp(value, "true"));
    return !strcmp(value, "true") || !strcmp(value, "false");
  }
  return lua_stringtonumber(L, value) && isfinite(lua_tonumber(L, -1));
}

static void check_default(lua_State *L, const char *name)
{
  int type = lua_type(L, 2);
  if (type != LUA_TNUMBER && type != LUA_TSTRING && type != LUA_TBOOLEAN)
    luaL_error(L,
               "param \"%s\": found a default of type %s, allowed: a number, a text, true, false",
               name, luaL_typename(L, 2));
  if (type == LUA_TNUMBER && !isfinite(lua_tonumber(L, 2)))
    luaL_error(L, "param \"%s\": found the default %f, allowed: a finite number", name,
               lua_tonumber(L, 2));
  if (type == LUA_TSTRING && lua_rawlen(L, 2) >= MN_TEXT_MAX)
    luaL_error(L, "param \"%s\": its default has %d bytes, allowed: %d", name,
               (int)lua_rawlen(L, 2), MN_TEXT_MAX - 1);
}

static const char *check_name(lua_State *L, const mn_sandbox *box)
{
  if (lua_type(L, 1) != LUA_TSTRING)
    luaL_error(L,
               "param: found a name of type %s, allowed: a text, as in param(\"n\", 64, \"cells\")",
               luaL_typename(L, 1));
  const char *name = lua_tostring(L, 1);
  int good = isalpha((unsigned char)*name) || *name == '_';
  for (const char *c = name; *c; c++)
    good = good && (isalnum((unsigned char)*c) || *c == '_');
  if (!good || lua_rawlen(L, 1) >= MN_NAME_MAX || strlen(name) != lua_rawlen(L, 1))
    luaL_error(L, "param: found the name \"%s\", allowed: letters, digits and _, at most %d", name,
               MN_NAME_MAX - 1);
  for (int i = 0; i < box->param_count; i++)
    if (!strcmp(box->params[i].name, name))
      luaL_error(L, "param \"%s\" is declared twice", name);
  if (box->param_count == PARAMS_MAX)
    luaL_error(L, "param \"%s\": a scene has at most %d parameters", name, PARAMS_MAX);
  return name;
}

/* The description of argument 3, with what is allowed. */
static void describe(lua_State *L, mn_param *p, const char *allowed)
{
  if (!lua_isnil(L, 3) && lua_type(L, 3) != LUA_TSTRING)
    luaL_error(L, "param \"%s\": found a description of type %s, allowed: a text", p->name,
               luaL_typename(L, 3));
  const char *text = lua_isnil(L, 3) ? "" : lua_tostring(L, 3);
  int room = (int)sizeof p->text - 1 - (int)strlen(allowed) - (int)strlen("; allowed: ");
  if (*allowed)
    snprintf(p->text, sizeof p->text, "%.*s%sallowed: %s", room > 0 ? room : 0, text,
             *text ? "; " : "", allowed);
  else
    snprintf(p->text, sizeof p->text, "%s", text);
}

/* Leaves the value on the stack: the default, or what was set. */
static void push_value(lua_State *L, const mn_sandbox *box, const mn_param *p, const char *allowed)
{
  lua_pushvalue(L, 2);
  for (int i = 0; i < box->setting_count; i++)
    if (!strcmp(box->settings[i].name, p->name) &&
        (!push_setting(L, box->settings[i].value) || !mn_allowed_fits(L, 4, lua_gettop(L))))
      luaL_error(L, "parameter %s: found \"%s\", allowed: %s (default %s)", p->name,
                 box->settings[i].value, *allowed ? allowed : type_word(L, 2), p->initial);
}

static int param(lua_State *L)
{
  mn_sandbox *box = mn_sandbox_of(L);
  if (!box->params) /* at work before the model runs only; field functions come too late */
    return luaL_error(L, "param: parameters are declared at the top of a scene, not in a function "
                         "that the simulation calls");
  lua_settop(L, 4);
  char allowed[MN_TEXT_MAX];
  const char *name = check_name(L, box);
  check_default(L, name);
  mn_allowed_check(L, 4, 2, name);
  mn_allowed_words(L, 4, allowed, sizeof allowed);
  mn_param *p = &box->params[box->param_count];
  *p = (mn_param){0};
  strcpy(p->name, name);
  write_value(L, 2, p->initial);
  describe(L, p, allowed);
  push_value(L, box, p, allowed);
  write_value(L, -1, p->value);
  box->param_count++;
  return 1;
}

void mn_params_open(lua_State *L)
{
  lua_pushglobaltable(L);
  lua_pushcfunction(L, param);
  lua_setfield(L, -2, "param");
  lua_pop(L, 1);
  mn_allowed_open(L);
}

mn_status mn_params_start(mn_sandbox *box, const mn_setting *settings, int count)
{
  for (int i = 0; i < count; i++)
    for (int j = 0; j < i; j++)
      if (!strcmp(settings[i].name, settings[j].name))
        return mn_fail(box->ctx, MN_BAD_INPUT, "parameter %s is set twice: %s and %s",
                       settings[i].name, settings[j].value, settings[i].value);
  box->settings = settings;
  box->setting_count = count;
  return MN_NEW(box->ctx, "parameters", PARAMS_MAX, &box->params);
}

mn_status mn_params_check(mn_sandbox *box)
{
  for (int i = 0; i < box->setting_count; i++) {
    mn_nearest nearest = {.word = box->settings[i].name};
    int known = 0;
    for (int k = 0; k < box->param_count; k++) {
      known = known || !strcmp(box->params[k].name, nearest.word);
      mn_nearest_offer(&nearest, box->params[k].name);
    }
    if (known)
      continue;
    mn_text list = {0};
    for (int k = 0; k < box->param_count; k++)
      mn_text_add(&list, "%s%s", k ? ", " : "", box->params[k].name);
    mn_fail(box->ctx, MN_BAD_INPUT, "%s: unknown parameter %s%s%s%s; its parameters: %.2000s",
            box->name, nearest.word, nearest.best ? ", did you mean " : "",
            nearest.best ? nearest.best : "", nearest.best ? "?" : "",
            list.data ? list.data : "none");
    mn_text_free(&list);
    return MN_BAD_INPUT;
  }
  return MN_OK;
}
