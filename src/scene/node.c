#include "scene/node.h"

#include <lauxlib.h>
#include <string.h>

#include "scene/sandbox.h"

#define NODE "constructor"

const mn_node *mn_node_at(lua_State *L, int index)
{
  return luaL_testudata(L, index, NODE);
}

void mn_node_push_table(lua_State *L, int index)
{
  lua_getiuservalue(L, index, 1);
}

int mn_node_has_key(lua_State *L, int index, const char *key)
{
  mn_node_push_table(L, index);
  lua_pushstring(L, key);
  int has = lua_rawget(L, -2) != LUA_TNIL;
  lua_pop(L, 2);
  return has;
}

/* Line of the innermost Lua function: that of the constructor's name, even in a tail call. */
static int current_line(lua_State *L)
{
  lua_Debug frame;
  for (int level = 1; lua_getstack(L, level, &frame); level++) {
    lua_getinfo(L, "l", &frame);
    if (frame.currentline > 0)
      return frame.currentline;
  }
  return 0;
}

/* cosine(2) is short for cosine { duration = 2 }: the first key. */
static int wrap_number(lua_State *L, const mn_ctor *ctor)
{
  if (ctor->group != MN_GROUP_TIME || ctor->list || !lua_isnumber(L, 1))
    return 0;
  lua_createtable(L, 0, 1);
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, ctor->own->name);
  lua_replace(L, 1);
  return 1;
}

/* Upvalue 1: the constructor's number. */
static int construct(lua_State *L)
{
  const mn_ctor *ctor = &mn_ctors[lua_tointeger(L, lua_upvalueindex(1))];
  if (lua_gettop(L) != 1 || (lua_type(L, 1) != LUA_TTABLE && !wrap_number(L, ctor))) {
    const mn_node *other = lua_gettop(L) == 1 ? mn_node_at(L, 1) : NULL;
    const char *found = other                ? other->ctor->name
                        : lua_gettop(L) == 0 ? "nothing"
                        : lua_gettop(L) > 1  ? "several values"
                                             : luaL_typename(L, 1);
    return luaL_error(L, "%s: found %s, allowed: a table, as in %s { ... }", ctor->name, found,
                      ctor->name);
  }
  mn_node *node = lua_newuserdatauv(L, sizeof *node, 1);
  *node = (mn_node){ctor, current_line(L)};
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  luaL_setmetatable(L, NODE);
  return 1;
}

void mn_nodes_open(lua_State *L)
{
  luaL_newmetatable(L, NODE);
  lua_pop(L, 1);
  lua_pushglobaltable(L);
  for (int i = 0; i < MN_CTOR_COUNT; i++) {
    if (i == MN_CTOR_BOX) /* the same function as the domain's; where it is used says which */
      continue;
    lua_pushinteger(L, i);
    lua_pushcclosure(L, construct, 1);
    lua_setfield(L, -2, mn_ctors[i].name);
  }
  lua_pop(L, 1);
}
