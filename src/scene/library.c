/* The safe part of Lua's standard library, with replacements where the original would be endless,
   unrepeatable or blind to the limits. */
#include <lauxlib.h>
#include <lualib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "scene/nearest.h"
#include "scene/sandbox.h"

/* ---- functions whose work inside C is counted ------------------------------------------------ */

/* Upvalue 1: the original, which has no upvalues of its own and so may run in this frame. */
static int counted(lua_State *L)
{
  lua_CFunction original = lua_tocfunction(L, lua_upvalueindex(1));
  mn_sandbox_charge(L, 1 + (int64_t)lua_rawlen(L, 1), 1);
  int results = original(L);
  mn_sandbox_charge(L, results, 1);
  return results;
}

/* Sorting n values takes about n log2 n comparisons. */
static int counted_sort(lua_State *L)
{
  lua_CFunction original = lua_tocfunction(L, lua_upvalueindex(1));
  double n = (double)lua_rawlen(L, 1);
  mn_sandbox_charge(L, (int64_t)(2 * n * log2(n + 2)), 1);
  return original(L);
}

/* string.rep(s, n [, sep]), refused before it is built: n copies of "" would take for ever. */
static int checked_rep(lua_State *L)
{
  lua_CFunction original = lua_tocfunction(L, lua_upvalueindex(1));
  double n = (double)luaL_checkinteger(L, 2);
  double bytes = n * (double)(1 + lua_rawlen(L, 1) + lua_rawlen(L, 3));
  if (bytes > (double)(2 * MN_SCENE_STRING))
    return luaL_error(L, "string.rep: %d copies make too long a string, allowed: 16 kB",
                      (int)(n < 1e9 ? n : 1e9));
  return original(L);
}

typedef struct library_function {
  const char *name;
  lua_CFunction wrapper;
} library_function;

static const library_function string_functions[] = {
    {"byte", counted},  {"char", counted},    {"format", counted},  {"len", counted},
    {"lower", counted}, {"rep", checked_rep}, {"reverse", counted}, {"sub", counted},
    {"upper", counted}, {NULL, NULL}};
static const library_function table_functions[] = {
    {"concat", counted},    {"insert", counted}, {"pack", counted}, {"remove", counted},
    {"sort", counted_sort}, {"unpack", counted}, {NULL, NULL}};
static const library_function utf8_functions[] = {
    {"char", counted}, {"codepoint", counted}, {"len", counted}, {"offset", counted}, {NULL, NULL}};

/* Leaves on the stack a table of the named functions of the library that `open` makes. */
static void open_library(lua_State *L, const char *name, lua_CFunction open,
                         const library_function *list)
{
  lua_pushcfunction(L, open);
  lua_pushstring(L, name);
  lua_call(L, 1, 1);
  lua_newtable(L);
  for (; list->name; list++) {
    lua_getfield(L, -2, list->name);
    lua_pushcclosure(L, list->wrapper, 1);
    lua_setfield(L, -2, list->name);
  }
  lua_remove(L, -2);
}

/* ---- math.random ----------------------------------------------------------------------------- */

/* splitmix64 (Steele, Lea, Flood 2014): one word of state, the same on every machine */
static uint64_t random_bits(mn_sandbox *box)
{
  uint64_t z = box->random += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static int math_random(lua_State *L)
{
  double u = (double)(random_bits(mn_sandbox_of(L)) >> 11) * 0x1p-53;
  if (lua_gettop(L) == 0) {
    lua_pushnumber(L, u);
    return 1;
  }
  lua_Integer lo = lua_gettop(L) > 1 ? luaL_checkinteger(L, 1) : 1;
  lua_Integer hi = luaL_checkinteger(L, lua_gettop(L) > 1 ? 2 : 1);
  luaL_argcheck(L, lo <= hi, 1, "interval is empty");
  double width = (double)hi - (double)lo + 1;
  luaL_argcheck(L, width <= 0x1p52, 1, "interval is too large");
  lua_pushinteger(L, lo + (lua_Integer)floor(u * width));
  return 1;
}

static int math_randomseed(lua_State *L)
{
  double seed = luaL_checknumber(L, 1);
  memcpy(&mn_sandbox_of(L)->random, &seed, sizeof seed);
  return 0;
}

/* ---- pairs in the order of the keys ---------------------------------------------------------- */

typedef struct sort_key {
  const char *text; /* NULL: a number */
  double number;
  lua_Integer index; /* in the list of keys as found */
} sort_key;

static int compare_keys(const void *a, const void *b)
{
  const sort_key *x = a, *y = b;
  if (!x->text != !y->text)
    return x->text ? 1 : -1;
  if (x->text)
    return strcmp(x->text, y->text);
  return x->number < y->number ? -1 : x->number > y->number;
}

/* The list of the keys of table 1, sorted, on the stack. */
static void push_sorted_keys(lua_State *L)
{
  lua_newtable(L);
  int list = lua_gettop(L);
  lua_Integer count = 0;
  for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
    int type = lua_type(L, -2);
    if (type != LUA_TSTRING && type != LUA_TNUMBER)
      luaL_error(L, "pairs: found a %s as key, allowed: numbers and strings",
                 lua_typename(L, type));
    lua_pushvalue(L, -2);
    lua_rawseti(L, list, ++count);
  }
  mn_sandbox_charge(L, 40 * count, 1);
  sort_key *keys = lua_newuserdatauv(L, (size_t)(count + 1) * sizeof *keys, 0);
  for (lua_Integer i = 0; i < count; i++) {
    int text = lua_rawgeti(L, list, i + 1) == LUA_TSTRING;
    keys[i] = (sort_key){text ? lua_tostring(L, -1) : NULL, text ? 0 : lua_tonumber(L, -1), i + 1};
    lua_pop(L, 1); /* the text stays alive in the list */
  }
  qsort(keys, (size_t)count, sizeof *keys, compare_keys);
  lua_createtable(L, count < 1 << 20 ? (int)count : 0, 0);
  for (lua_Integer i = 0; i < count; i++) {
    lua_rawgeti(L, list, keys[i].index);
    lua_rawseti(L, -2, i + 1);
  }
}

/* Upvalues: the table, its sorted keys, the position. */
static int next_pair(lua_State *L)
{
  lua_Integer i = lua_tointeger(L, lua_upvalueindex(3));
  do {
    if (lua_rawgeti(L, lua_upvalueindex(2), ++i) == LUA_TNIL)
      return 1;
    lua_pushvalue(L, -1);
    lua_rawget(L, lua_upvalueindex(1));
    if (!lua_isnil(L, -1))
      break;
    lua_pop(L, 2); /* removed meanwhile */
  } while (1);
  lua_pushinteger(L, i);
  lua_replace(L, lua_upvalueindex(3));
  return 2;
}

static int sorted_pairs(lua_State *L)
{
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  push_sorted_keys(L);
  lua_pushvalue(L, 1);
  lua_insert(L, -2);
  lua_pushinteger(L, 0);
  lua_pushcclosure(L, next_pair, 3);
  return 1;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Without the addresses that change from run to run. */
static int plain_tostring(lua_State *L)
{
  luaL_checkany(L, 1);
  int type = lua_type(L, 1);
  if (type == LUA_TTABLE || type == LUA_TFUNCTION || type == LUA_TUSERDATA)
    lua_pushstring(L, lua_typename(L, type));
  else
    luaL_tolstring(L, 1, NULL);
  return 1;
}

static int print_to_log(lua_State *L)
{
  int count = lua_gettop(L);
  luaL_Buffer line;
  luaL_buffinit(L, &line);
  for (int i = 1; i <= count; i++) {
    if (i > 1)
      luaL_addchar(&line, ' ');
    lua_pushcfunction(L, plain_tostring);
    lua_pushvalue(L, i);
    lua_call(L, 1, 1);
    luaL_addvalue(&line);
  }
  luaL_pushresult(&line);
  mn_log(mn_sandbox_of(L)->ctx, MN_LOG_INFO, "%s", lua_tostring(L, -1));
  return 0;
}

/* ---- globals --------------------------------------------------------------------------------- */

/* Reading a name that nobody set: most likely a slip. Upvalue 1: the globals. */
static int unknown_name(lua_State *L)
{
  const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
  static const char *const removed =
      "io os package require dofile loadfile load debug collectgarbage coroutine pcall xpcall "
      "setmetatable getmetatable rawset rawget rawequal rawlen next _G";
  size_t n = strlen(name);
  for (const char *p = strstr(removed, name); n && p; p = strstr(p + 1, name))
    if ((p == removed || p[-1] == ' ') && (p[n] == ' ' || !p[n]))
      return luaL_error(L, "'%s' is not available in a scene", name);
  mn_nearest nearest = {.word = name};
  const char *first = NULL; /* of several words at the same distance the first in the alphabet */
  for (lua_pushnil(L); lua_next(L, lua_upvalueindex(1)); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING)
      continue;
    mn_nearest one = {.word = name};
    mn_nearest_offer(&one, lua_tostring(L, -2));
    if (one.best && (!first || one.distance < nearest.distance ||
                     (one.distance == nearest.distance && strcmp(one.best, first) < 0))) {
      nearest = one;
      first = one.best;
    }
  }
  if (first)
    return luaL_error(L, "unknown name '%s', did you mean '%s'?", name, first);
  return luaL_error(L, "unknown name '%s'", name);
}

static void keep_base_functions(lua_State *L)
{
  static const char *const kept[] = {"assert", "error", "ipairs", "select", "tonumber", "type"};
  lua_pushcfunction(L, luaopen_base); /* fills the globals */
  lua_call(L, 0, 1);
  lua_newtable(L);
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    lua_getfield(L, -2, kept[i]);
    lua_setfield(L, -2, kept[i]);
  }
  lua_pushvalue(L, -1);
  lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
}

void mn_library_open(lua_State *L)
{
  keep_base_functions(L);
  lua_remove(L, -2);
  open_library(L, "string", luaopen_string, string_functions);
  lua_pushliteral(L, ""); /* methods of strings, as in ("x"):upper(), see the same table */
  lua_getmetatable(L, -1);
  lua_pushvalue(L, -3);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 2);
  lua_setfield(L, -2, "string");
  open_library(L, "table", luaopen_table, table_functions);
  lua_setfield(L, -2, "table");
  open_library(L, "utf8", luaopen_utf8, utf8_functions);
  lua_setfield(L, -2, "utf8");

  lua_pushcfunction(L, luaopen_math);
  lua_call(L, 0, 1);
  lua_pushcfunction(L, math_random);
  lua_setfield(L, -2, "random");
  lua_pushcfunction(L, math_randomseed);
  lua_setfield(L, -2, "randomseed");
  lua_setfield(L, -2, "math");

  lua_pushcfunction(L, sorted_pairs);
  lua_setfield(L, -2, "pairs");
  lua_pushcfunction(L, plain_tostring);
  lua_setfield(L, -2, "tostring");
  lua_pushcfunction(L, print_to_log);
  lua_setfield(L, -2, "print");

  lua_newtable(L); /* the globals' own metatable, out of reach of the scene */
  lua_pushvalue(L, -2);
  lua_pushcclosure(L, unknown_name, 1);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_pop(L, 1);
}
