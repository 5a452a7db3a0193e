/* A Lua state for text that nobody has checked: no files, no processes, no code loading; memory,
   instructions and processor time are limited; the same text gives the same values in every run.

   What is left out, and why:
     io, os, package, require, dofile, loadfile, load, debug, collectgarbage   reach outside
     coroutine           the instruction hook is per coroutine
     pcall, xpcall       could catch the limits; a handler of xpcall runs without the hook
     setmetatable, getmetatable, rawset...   finalizers run without the hook
     string.find, match, gmatch, gsub        a pattern can run for ever inside C
     string.dump, pack, unpack; table.move   bytecode; not needed; unbounded loops inside C
     next                its order depends on addresses; pairs here goes in the order of the keys */
#ifndef MN_SCENE_SANDBOX_H
#define MN_SCENE_SANDBOX_H

#include <lua.h>

#include "meniscus/model.h"

#define MN_SCENE_MEMORY ((size_t)256 << 20)           /* bytes */
#define MN_SCENE_STRING ((size_t)16 << 10)            /* bytes of one string */
#define MN_SCENE_INSTRUCTIONS INT64_C(50000000)       /* for the whole scene */
#define MN_SCENE_FIELD_INSTRUCTIONS INT64_C(10000000) /* for one call of a field function */
#define MN_SCENE_SECONDS 60.0                         /* of processor time: a safety net */

typedef struct mn_lua_field mn_lua_field;

typedef struct mn_sandbox {
  mn_context *ctx;
  lua_State *L;
  char name[MN_PATH_MAX]; /* of the scene, in messages */

  size_t memory;       /* bytes in use */
  const char *refused; /* why memory was refused; NULL if it was not */
  int environment;     /* it was the machine that refused it */
  int64_t work;        /* instructions, and bytes moved by C functions, since the last start */
  int64_t work_limit;
  double deadline; /* processor seconds */
  int interrupted;

  uint64_t random;  /* state of math.random */
  mn_param *params; /* declared so far, in this order */
  int param_count;
  const struct mn_setting *settings; /* while the scene runs */
  int setting_count;
  mn_lua_field *fields; /* a list: functions that the model calls */
} mn_sandbox;

MN_MUST_CHECK mn_status mn_sandbox_create(mn_context *ctx, const char *name, mn_sandbox **out);
void mn_sandbox_destroy(mn_sandbox **box);

/* lua_pcall under the limits; an error becomes a status with a sentence. */
MN_MUST_CHECK mn_status mn_sandbox_call(mn_sandbox *box, int arguments, int results,
                                        int64_t instructions);
/* Leaves the compiled text on the stack. */
MN_MUST_CHECK mn_status mn_sandbox_compile(mn_sandbox *box, const char *text);

mn_sandbox *mn_sandbox_of(lua_State *L);
/* Counts work done inside C; raises a Lua error beyond the limit. */
void mn_sandbox_charge(lua_State *L, int64_t work, int level);

/* Fill the globals; called in protected mode. */
void mn_library_open(lua_State *L); /* library.c: the safe part of Lua's own */
void mn_nodes_open(lua_State *L);   /* node.c: the constructors */
void mn_params_open(lua_State *L);  /* param.c */

/* param.c: before the scene runs; and after it: were all settings asked for? */
MN_MUST_CHECK mn_status mn_params_start(mn_sandbox *box, const struct mn_setting *settings,
                                        int count);
MN_MUST_CHECK mn_status mn_params_check(mn_sandbox *box);

#endif
