#include "scene/sandbox.h"

#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/status.h"
#include "scene/field.h"

/* What an allocation costs, in instructions: measured to take about as long. */
enum { HOOK_EVERY = 1000, WORK_PER_BLOCK = 8, BYTES_PER_WORK = 64 };

mn_sandbox *mn_sandbox_of(lua_State *L)
{
  return *(mn_sandbox **)lua_getextraspace(L);
}

static double processor_seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void *refuse(mn_sandbox *box, const char *why, int environment)
{
  if (!box->refused) {
    box->refused = why;
    box->environment = environment;
  }
  return NULL;
}

/* Lua's allocator. Once refused it stays refused, or Lua would try again after a collection; but
   shrinking must never fail. For a new object `old_size` is its type. */
static void *allocate(void *user, void *block, size_t old_size, size_t size)
{
  mn_sandbox *box = user;
  size_t old = block ? old_size : 0;
  if (size == 0) {
    free(block);
    box->memory -= old;
    return NULL;
  }
  if (size > old) {
    if (box->refused)
      return NULL;
    if (!block && old_size == LUA_TSTRING && size > MN_SCENE_STRING)
      return refuse(box, "a string of more than 16 kB", 0);
    if (size - old > MN_SCENE_MEMORY - box->memory)
      return refuse(box, "more than 256 MB of memory", 0);
    if (++box->ctx->allocations == box->ctx->fail_allocation)
      return refuse(box, "memory that the machine does not have", 1);
    box->work += WORK_PER_BLOCK + (int64_t)(size / BYTES_PER_WORK);
  }
  void *p = realloc(block, size);
  if (p)
    box->memory += size - old; /* wraps around and back when it shrinks */
  else if (size > old)
    return refuse(box, "memory that the machine does not have", 1);
  else
    p = block;
  return p;
}

/* ---- instructions ---------------------------------------------------------------------------- */

static void check_limits(lua_State *L, int level)
{
  mn_sandbox *box = mn_sandbox_of(L);
  const char *why = NULL;
  if (box->work > box->work_limit)
    why = lua_pushfstring(L, "stopped after %I instructions: endless loop?",
                          (lua_Integer)box->work_limit);
  else if (box->ctx->interrupted && *box->ctx->interrupted) {
    box->interrupted = 1;
    why = "interrupted";
  } else if (processor_seconds() > box->deadline)
    why = "stopped after 60 s of computing: endless loop?";
  if (!why)
    return;
  luaL_where(L, level);
  lua_pushstring(L, why);
  lua_concat(L, 2);
  lua_error(L);
}

void mn_sandbox_charge(lua_State *L, int64_t work, int level)
{
  mn_sandbox *box = mn_sandbox_of(L);
  int64_t before = box->work;
  box->work += work;
  if (box->work / HOOK_EVERY != before / HOOK_EVERY)
    check_limits(L, level);
}

static void count_hook(lua_State *L, lua_Debug *ar)
{
  (void)ar;
  mn_sandbox_of(L)->work += HOOK_EVERY;
  check_limits(L, 0);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static mn_status explain(mn_sandbox *box, int status)
{
  lua_State *L = box->L;
  mn_status result = MN_BAD_INPUT;
  if (status == LUA_ERRMEM || box->refused) {
    result = box->environment ? MN_ENVIRONMENT : MN_BAD_INPUT;
    mn_fail(box->ctx, result, "%s: the scene asks for %s", box->name,
            box->refused ? box->refused : "too much memory");
  } else if (box->interrupted)
    result = mn_fail(box->ctx, MN_INTERRUPTED, "%s: interrupted", box->name);
  else if (lua_type(L, -1) == LUA_TSTRING) {
    /* Lua starts its messages with FILE:LINE, a user's error("...", 0) does not. */
    const char *text = lua_tostring(L, -1);
    size_t n = strlen(box->name);
    int placed = !strncmp(text, box->name, n) || !strncmp(text, "...", 3);
    mn_fail(box->ctx, result, "%s%s%s", placed ? "" : box->name, placed ? "" : ": ", text);
  } else
    mn_fail(box->ctx, result, "%s: stopped by error() with a %s", box->name, luaL_typename(L, -1));
  lua_pop(L, 1);
  return result;
}

static void start(mn_sandbox *box, int64_t instructions)
{
  box->work = 0;
  box->work_limit = instructions;
  box->deadline = processor_seconds() + MN_SCENE_SECONDS;
  box->refused = NULL;
  box->environment = box->interrupted = 0;
}

mn_status mn_sandbox_call(mn_sandbox *box, int arguments, int results, int64_t instructions)
{
  start(box, instructions);
  int status = lua_pcall(box->L, arguments, results, 0);
  return status == LUA_OK ? MN_OK : explain(box, status);
}

mn_status mn_sandbox_compile(mn_sandbox *box, const char *text)
{
  start(box, MN_SCENE_INSTRUCTIONS);
  char chunk[MN_PATH_MAX + 1];
  snprintf(chunk, sizeof chunk, "@%s", box->name);
  if (!strncmp(text, "\xef\xbb\xbf", 3)) /* a byte order mark */
    text += 3;
  int status = luaL_loadbufferx(box->L, text, strlen(text), chunk, "t");
  return status == LUA_OK ? MN_OK : explain(box, status);
}

/* ---- life ------------------------------------------------------------------------------------ */

static int open_all(lua_State *L)
{
  mn_library_open(L);
  mn_nodes_open(L);
  mn_params_open(L);
  return 0;
}

mn_status mn_sandbox_create(mn_context *ctx, const char *name, mn_sandbox **out)
{
  *out = NULL;
  if (strlen(name) >= MN_PATH_MAX)
    return mn_fail(ctx, MN_BAD_INPUT, "the scene's name is too long: %.60s...", name);
  mn_sandbox *box;
  MN_TRY(MN_NEW(ctx, "a scene", 1, &box));
  box->ctx = ctx;
  strcpy(box->name, name);
  box->L = lua_newstate(allocate, box);
  mn_status status = MN_OK;
  if (!box->L)
    status = mn_fail(ctx, MN_ENVIRONMENT, "out of memory: a scene cannot be read");
  else {
    *(mn_sandbox **)lua_getextraspace(box->L) = box;
    lua_sethook(box->L, count_hook, LUA_MASKCOUNT, HOOK_EVERY);
    lua_pushcfunction(box->L, open_all);
    status = mn_sandbox_call(box, 0, 0, MN_SCENE_INSTRUCTIONS);
  }
  if (status != MN_OK)
    mn_sandbox_destroy(&box);
  *out = box;
  return status;
}

void mn_sandbox_destroy(mn_sandbox **box)
{
  if (!*box)
    return;
  if ((*box)->L)
    lua_close((*box)->L);
  mn_fields_free(&(*box)->fields);
  mn_free((*box)->params);
  mn_free(*box);
  *box = NULL;
}
