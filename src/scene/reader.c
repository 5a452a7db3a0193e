#include "scene/reader.h"

#include <lauxlib.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/status.h"
#include "scene/field.h"
#include "scene/nearest.h"

enum { MOST_NESTING = 64 };

/* ---- where we are ---------------------------------------------------------------------------- */

mn_place_mark mn_reader_enter(mn_reader *r, int line, const char *format, ...)
{
  mn_place_mark mark = {r->line, r->path_length};
  if (line > 0)
    r->line = line;
  va_list args;
  va_start(args, format);
  size_t room = sizeof r->path - r->path_length;
  int n = vsnprintf(r->path + r->path_length, room, format, args);
  va_end(args);
  r->path_length += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
  return mark;
}

void mn_reader_leave(mn_reader *r, mn_place_mark mark)
{
  r->line = mark.line;
  r->path_length = mark.path_length;
  r->path[r->path_length] = 0;
}

mn_status mn_reader_blame(mn_reader *r, mn_status status)
{
  return mn_fail_prefix(r->ctx, status, "%s:%d: %s", r->box->name, r->line, r->path);
}

mn_status mn_reader_fail(mn_reader *r, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  vsnprintf(r->ctx->message, sizeof r->ctx->message, format, args);
  va_end(args);
  return mn_reader_blame(r, MN_BAD_INPUT);
}

/* What the user wrote, in a few words. */
static void describe(lua_State *L, int index, char *out, size_t size)
{
  const mn_node *node = mn_node_at(L, index);
  switch (lua_type(L, index)) {
  case LUA_TNIL:
  case LUA_TNONE:
    snprintf(out, size, "nothing");
    break;
  case LUA_TNUMBER:
    snprintf(out, size, "%.10g", lua_tonumber(L, index));
    break;
  case LUA_TBOOLEAN:
    snprintf(out, size, "%s", lua_toboolean(L, index) ? "true" : "false");
    break;
  case LUA_TSTRING:
    snprintf(out, size, "\"%.60s\"", lua_tostring(L, index));
    break;
  case LUA_TTABLE:
    if (lua_rawlen(L, index))
      snprintf(out, size, "a list of %llu", (unsigned long long)lua_rawlen(L, index));
    else
      snprintf(out, size, "a table");
    break;
  default:
    if (node)
      snprintf(out, size, "%s { ... }", node->ctor->name);
    else
      snprintf(out, size, "a %s", luaL_typename(L, index));
  }
}

mn_status mn_reader_bad(mn_reader *r, int index, const char *allowed)
{
  char found[128];
  describe(r->L, index, found, sizeof found);
  return mn_reader_fail(r, "found %s, allowed: %s", found, allowed);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* "a number > 0 m" */
static void allowed_number(const mn_key *key, const char *what, char *out, size_t size)
{
  int n = snprintf(out, size, "%s", what);
  switch (key->bound) {
  case MN_POSITIVE:
    n += snprintf(out + n, size - (size_t)n, " > 0");
    break;
  case MN_NOT_NEGATIVE:
    n += snprintf(out + n, size - (size_t)n, " >= 0");
    break;
  case MN_BETWEEN:
    n += snprintf(out + n, size - (size_t)n, " from %.10g to %.10g", key->lo, key->hi);
    break;
  case MN_ANY:
    break;
  }
  if (*key->unit)
    snprintf(out + n, size - (size_t)n, " (%s)", key->unit);
}

static int within(const mn_key *key, double value)
{
  return isfinite(value) && (key->bound != MN_POSITIVE || value > 0) &&
         (key->bound != MN_NOT_NEGATIVE || value >= 0) &&
         (key->bound != MN_BETWEEN || (value >= key->lo && value <= key->hi));
}

static mn_status read_number(mn_reader *r, int index, const mn_key *key, double *out)
{
  int whole = key->type == MN_KEY_INTEGER || key->type == MN_KEY_CELLS;
  double value = lua_type(r->L, index) == LUA_TNUMBER ? lua_tonumber(r->L, index) : NAN;
  if (!within(key, value) || (whole && value != floor(value))) {
    char allowed[128];
    allowed_number(key, whole ? "a whole number" : "a number", allowed, sizeof allowed);
    return mn_reader_bad(r, index, allowed);
  }
  *out = value;
  return MN_OK;
}

mn_status mn_read_list(mn_reader *r, int index, const char *allowed, int most, int *count)
{
  lua_State *L = r->L;
  *count = 0;
  if (!lua_istable(L, index))
    return mn_reader_bad(r, index, allowed);
  size_t n = lua_rawlen(L, index), seen = 0;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    lua_Integer i = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : 0;
    if (i >= 1 && (size_t)i <= n) {
      seen++;
      continue;
    }
    if (lua_type(L, -2) == LUA_TSTRING)
      return mn_reader_fail(r, "found the key '%.60s' in a list, allowed: %s", lua_tostring(L, -2),
                            allowed);
    return mn_reader_fail(r, "found a list with gaps or odd keys, allowed: %s", allowed);
  }
  if (seen != n)
    return mn_reader_fail(r, "found a list with gaps (a nil in it?), allowed: %s", allowed);
  if (n > (size_t)most)
    return mn_reader_fail(r, "found %llu entries, allowed: at most %d", (unsigned long long)n,
                          most);
  *count = (int)n;
  return MN_OK;
}

mn_status mn_read_numbers(mn_reader *r, int index, const mn_key *key, int least, int most,
                          double *out, int *count)
{
  static const char *const shown[] = {"", "", "{x, y}", "{x, y, z}"};
  char what[64], allowed[160];
  if (least == most)
    snprintf(what, sizeof what, "%s, %d numbers%s", shown[least], least,
             key->type == MN_KEY_VECTOR || key->type == MN_KEY_CELLS ? " as the domain has axes"
                                                                     : "");
  else
    snprintf(what, sizeof what, "{x, y} or {x, y, z}, numbers");
  allowed_number(key, what, allowed, sizeof allowed);
  MN_TRY(mn_read_list(r, index, allowed, 1 << 30, count));
  if (*count < least || *count > most)
    return mn_reader_bad(r, index, allowed);
  for (int i = 0; i < *count; i++) {
    mn_place_mark mark = mn_reader_enter(r, 0, "[%d]", i + 1);
    lua_rawgeti(r->L, index, i + 1);
    MN_TRY(read_number(r, lua_gettop(r->L), key, &out[i]));
    lua_pop(r->L, 1);
    mn_reader_leave(r, mark);
  }
  return MN_OK;
}

static mn_status read_vector(mn_reader *r, int index, const mn_key *key, mn_vec3 *out)
{
  int dim = r->def->domain.dim, count;
  double v[3] = {0, 0, 0};
  if (key->type == MN_KEY_AXIS) {
    if (dim == 2)
      return mn_reader_fail(r, "not allowed in 2D, where the axis is z");
    MN_TRY(mn_read_numbers(r, index, key, 3, 3, v, &count));
    if (v[0] == 0 && v[1] == 0 && v[2] == 0)
      return mn_reader_fail(r, "found {0, 0, 0}, allowed: a direction");
  } else
    MN_TRY(mn_read_numbers(r, index, key, dim ? dim : 2, dim ? dim : 3, v, &count));
  if (!dim) /* domain.size is the first vector of a scene and tells its dimension */
    r->def->domain.dim = count;
  memcpy(out->v, v, sizeof v);
  return MN_OK;
}

static mn_status read_spin(mn_reader *r, int index, const mn_key *key, mn_vec3 *out)
{
  if (r->def->domain.dim == 3)
    return read_vector(r, index, key, out);
  *out = (mn_vec3){{0, 0, 0}};
  return read_number(r, index, key, &out->z);
}

static mn_status read_cells(mn_reader *r, int index, const mn_key *key, int out[3])
{
  double v[3] = {1, 1, 1};
  int dim = r->def->domain.dim, count;
  MN_TRY(mn_read_numbers(r, index, key, dim, dim, v, &count));
  for (int i = 0; i < 3; i++)
    out[i] = (int)v[i];
  return MN_OK;
}

static mn_status read_range(mn_reader *r, int index, const mn_key *key, double out[2])
{
  int count;
  MN_TRY(mn_read_numbers(r, index, key, 2, 2, out, &count));
  if (out[0] > out[1])
    return mn_reader_fail(r, "found {%g, %g}, allowed: the smaller number first", out[0], out[1]);
  return MN_OK;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static mn_status read_text(mn_reader *r, int index, size_t size, char *out)
{
  if (lua_type(r->L, index) != LUA_TSTRING)
    return mn_reader_bad(r, index, "a text in quotes");
  size_t n;
  const char *text = lua_tolstring(r->L, index, &n);
  if (n >= size || strlen(text) != n)
    return mn_reader_fail(r, "found %zu bytes, allowed: a text of at most %zu", n, size - 1);
  memcpy(out, text, n + 1);
  return MN_OK;
}

static mn_status read_choice(mn_reader *r, int index, const char *choices, int *out)
{
  char allowed[256] = "one of ";
  size_t n = strlen(allowed);
  for (const char *c = choices; *c && n + 4 < sizeof allowed; c++) {
    if (c == choices)
      allowed[n++] = '"';
    if (*c == ' ') {
      memcpy(allowed + n, "\", \"", 4);
      n += 4;
    } else
      allowed[n++] = *c;
  }
  snprintf(allowed + n, sizeof allowed - n, "\"");
  if (lua_type(r->L, index) != LUA_TSTRING)
    return mn_reader_bad(r, index, allowed);
  *out = mn_schema_choice(choices, lua_tostring(r->L, index));
  return *out < 0 ? mn_reader_bad(r, index, allowed) : MN_OK;
}

static mn_status read_flag(mn_reader *r, int index, int *out)
{
  if (!lua_isboolean(r->L, index))
    return mn_reader_bad(r, index, "true or false");
  *out = lua_toboolean(r->L, index);
  return MN_OK;
}

/* ---- fields, sides, motions ------------------------------------------------------------------ */

static mn_status read_field(mn_reader *r, int index, const mn_key *key, mn_field_fn *out)
{
  int components = key->type == MN_KEY_VECTOR_FN ? r->def->domain.dim : 1;
  if (lua_isfunction(r->L, index)) {
    char where[MN_TEXT_MAX];
    snprintf(where, sizeof where, "%.120s:%d: %.100s", r->box->name, r->line, r->path);
    lua_pushvalue(r->L, index);
    return mn_field_bind(r->box, where, components, key->bound == MN_NOT_NEGATIVE ? 0 : -INFINITY,
                         out);
  }
  if (key->type == MN_KEY_SMOKE && mn_node_at(r->L, index)) {
    MN_TRY(mn_read_shape(r, index));
    r->def->fluid.initial_smoke_shape = mn_take_shape(r);
    return MN_OK;
  }
  if (components > 1 && lua_istable(r->L, index)) {
    mn_key vector = *key;
    vector.type = MN_KEY_VECTOR;
    return read_vector(r, index, &vector, &out->value);
  }
  if (components == 1 && lua_type(r->L, index) == LUA_TNUMBER)
    return read_number(r, index, key, &out->value.x);
  return mn_reader_bad(r, index,
                       components > 1              ? "a vector or function(x, y, z)"
                       : key->type == MN_KEY_SMOKE ? "a number, function(x, y, z) or a shape"
                                                   : "a number or function(x, y, z)");
}

mn_status mn_read_node(mn_reader *r, int index, mn_group group, const char *allowed,
                       const mn_node **node)
{
  *node = mn_node_at(r->L, index);
  if (!*node || (*node)->ctor->group != group)
    return mn_reader_bad(r, index, allowed);
  return MN_OK;
}

/* Reads the keys of the node at `index` into `out`, inside its own line. */
static mn_status read_inside(mn_reader *r, const mn_ctor *ctor, int index, void *out)
{
  mn_place_mark mark = mn_reader_enter(r, mn_node_at(r->L, index)->line, "%s", "");
  mn_node_push_table(r->L, index);
  MN_TRY(mn_read_keys(r, ctor, lua_gettop(r->L), out, NULL));
  lua_pop(r->L, 1);
  mn_reader_leave(r, mark);
  return MN_OK;
}

static mn_status read_side(mn_reader *r, int index, const mn_key *key, mn_side_def *out)
{
  int choice, axis = (int)((key->offset - offsetof(mn_domain_def, side)) / sizeof *out) / 2;
  const mn_node *node = mn_node_at(r->L, index);
  if (axis >= r->def->domain.dim)
    return mn_reader_fail(r, "not allowed in a 2D domain");
  if (!node) {
    if (lua_type(r->L, index) != LUA_TSTRING)
      return mn_reader_bad(r, index, "\"slip\", \"noslip\", \"open\" or wall { ... }");
    MN_TRY(read_choice(r, index, key->choices, &choice));
    out->kind = (mn_side_kind)choice;
    return MN_OK;
  }
  if (node->ctor != &mn_ctors[MN_CTOR_WALL])
    return mn_reader_bad(r, index, "\"slip\", \"noslip\", \"open\" or wall { ... }");
  MN_TRY(read_inside(r, node->ctor, index, out));
  mn_vec3 v = out->velocity;
  if (v.v[axis] != 0)
    return mn_reader_fail(r, "found a velocity of %g m/s across the wall, allowed: along it",
                          v.v[axis]);
  if (out->kind != MN_SIDE_NOSLIP && (v.x != 0 || v.y != 0 || v.z != 0))
    return mn_reader_fail(r, "found a velocity, allowed: only with kind = \"noslip\"");
  return MN_OK;
}

static mn_status read_motion(mn_reader *r, int index, mn_motion *out)
{
  const mn_node *node = mn_node_at(r->L, index);
  if (!node || node->ctor != &mn_ctors[MN_CTOR_MOTION])
    return mn_reader_bad(r, index, "motion { ... }");
  return read_inside(r, node->ctor, index, out);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static mn_status read_value(mn_reader *r, int index, const mn_key *key, void *out)
{
  int choice;
  double number;
  switch (key->type) {
  case MN_KEY_NUMBER:
    return read_number(r, index, key, out);
  case MN_KEY_INTEGER:
    MN_TRY(read_number(r, index, key, &number));
    *(int *)out = (int)number;
    return MN_OK;
  case MN_KEY_FLAG:
    return read_flag(r, index, out);
  case MN_KEY_NAME:
    return read_text(r, index, MN_NAME_MAX, out);
  case MN_KEY_TEXT:
    return read_text(r, index, MN_TEXT_MAX, out);
  case MN_KEY_FILE:
    return read_text(r, index, MN_PATH_MAX, out);
  case MN_KEY_CHOICE:
    MN_TRY(read_choice(r, index, key->choices, &choice));
    *(int *)out = choice + (int)key->lo;
    return MN_OK;
  case MN_KEY_WORD:
    MN_TRY(read_choice(r, index, key->choices, &choice));
    return read_text(r, index, MN_NAME_MAX, out);
  case MN_KEY_VECTOR:
  case MN_KEY_AXIS:
    return read_vector(r, index, key, out);
  case MN_KEY_SPIN:
    return read_spin(r, index, key, out);
  case MN_KEY_CELLS:
    return read_cells(r, index, key, out);
  case MN_KEY_RANGE:
    return read_range(r, index, key, out);
  case MN_KEY_TIME:
    return mn_read_time(r, index, out);
  case MN_KEY_SHAPE:
    MN_TRY(mn_read_shape(r, index));
    *(mn_shape **)out = mn_take_shape(r);
    return MN_OK;
  case MN_KEY_SIDE:
    return read_side(r, index, key, out);
  case MN_KEY_MOTION:
    return read_motion(r, index, out);
  case MN_KEY_TABLE:
    return mn_read_number_table(r, index, out);
  case MN_KEY_SCALAR_FN:
  case MN_KEY_VECTOR_FN:
  case MN_KEY_SMOKE:
    return read_field(r, index, key, out);
  default:
    return mn_read_part(r, key, index);
  }
}

static const mn_key *find_key(const mn_ctor *ctor, const char *name)
{
  const mn_key *key;
  for (int i = 0; (key = mn_schema_key(ctor, i)); i++)
    if (!strcmp(key->name, name))
      return key;
  return NULL;
}

static mn_status unknown_key(mn_reader *r, const mn_ctor *ctor, const char *name)
{
  mn_nearest nearest = {.word = name};
  char known[512] = "";
  size_t n = 0;
  const mn_key *key;
  for (int i = 0; (key = mn_schema_key(ctor, i)); i++) {
    mn_nearest_offer(&nearest, key->name);
    if (n + MN_NAME_MAX < sizeof known)
      n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "", key->name);
  }
  mn_reader_enter(r, 0, ".%.60s", name);
  if (nearest.best)
    return mn_reader_fail(r, "unknown key, did you mean '%s'? allowed: %s", nearest.best, known);
  return mn_reader_fail(r, "unknown key, allowed: %s", known);
}

/* Refuses keys that the constructor does not have; of several the first in the alphabet. */
static mn_status check_keys(mn_reader *r, const mn_ctor *ctor, int index)
{
  lua_State *L = r->L;
  const char *unknown = NULL;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) {
      char found[128];
      describe(L, lua_gettop(L), found, sizeof found);
      return mn_reader_fail(r, "found %s without a key, allowed: %s { KEY = VALUE, ... }", found,
                            ctor->name);
    }
    const char *name = lua_tostring(L, -2);
    if (!find_key(ctor, name) && (!unknown || strcmp(name, unknown) < 0))
      unknown = name; /* stays alive in the table */
  }
  return unknown ? unknown_key(r, ctor, unknown) : MN_OK;
}

static mn_status missing_key(mn_reader *r, const mn_ctor *ctor, const mn_key *key)
{
  mn_reader_enter(r, 0, ".%s", key->name);
  return mn_reader_fail(r, "missing, but %s needs it: %s", ctor->name,
                        *key->text ? key->text : "see the reference");
}

mn_status mn_read_keys(mn_reader *r, const mn_ctor *ctor, int index, void *out, unsigned *given)
{
  lua_State *L = r->L;
  if (r->depth >= MOST_NESTING)
    return mn_reader_fail(r, "nested more than %d deep", MOST_NESTING);
  luaL_checkstack(L, 10, "a scene nested too deep");
  r->depth++;
  mn_schema_defaults(ctor, out);
  MN_TRY(check_keys(r, ctor, index));
  const mn_key *key;
  for (int i = 0; (key = mn_schema_key(ctor, i)); i++) {
    void *at = (char *)out + key->offset;
    lua_pushstring(L, key->name);
    if (lua_rawget(L, index) != LUA_TNIL) {
      mn_place_mark mark = mn_reader_enter(r, 0, ".%s", key->name);
      MN_TRY(read_value(r, lua_gettop(L), key, at));
      mn_reader_leave(r, mark);
      if (given)
        *given |= 1u << i;
    } else if (!key->initial)
      return missing_key(r, ctor, key);
    else if (!strcmp(key->initial, "ambient")) /* first member of a field function: its value.x */
      *(double *)at = r->def->fluid.ambient;
    lua_pop(L, 1);
  }
  r->depth--;
  return MN_OK;
}
