/* Plug-ins: a file and a table of numbers, of which the plug-in knows the names. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "scene/reader.h"

static int by_name(const mn_plugin_number *list, int count, const char *name)
{
  int at = 0;
  while (at < count && strcmp(list[at].name, name) < 0)
    at++;
  return at;
}

/* { name = number, ... }, kept in the order of the names: Lua's own differs from run to run. */
mn_status mn_read_number_table(mn_reader *r, int index, mn_plugin_numbers *out)
{
  static const char *const wanted = "a table of numbers, as in { mass = 1, stiffness = 200 }";
  lua_State *L = r->L;
  out->count = 0;
  if (!lua_istable(L, index))
    return mn_reader_bad(r, index, wanted);
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING)
      return mn_reader_fail(r, "found a value without a name, allowed: %s", wanted);
    const char *name = lua_tostring(L, -2);
    double value = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : NAN;
    if (strlen(name) >= MN_NAME_MAX)
      return mn_reader_fail(r, "found the name '%.60s...', allowed: at most %d bytes", name,
                            MN_NAME_MAX - 1);
    if (!isfinite(value)) {
      mn_reader_enter(r, 0, ".%.60s", name);
      return mn_reader_bad(r, lua_gettop(L), "a finite number");
    }
    if (out->count == MN_PLUGIN_NUMBERS_MAX)
      return mn_reader_fail(r, "found more than %d numbers", MN_PLUGIN_NUMBERS_MAX);
    int at = by_name(out->entry, out->count, name);
    memmove(out->entry + at + 1, out->entry + at, (size_t)(out->count - at) * sizeof *out->entry);
    snprintf(out->entry[at].name, MN_NAME_MAX, "%s", name);
    out->entry[at].value = value;
    out->count++;
  }
  return MN_OK;
}
