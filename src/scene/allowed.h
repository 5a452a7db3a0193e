/* What a parameter may be: the fourth argument of param(name, default, text, allowed).

     { "modulus", "spring" }           one of these texts; `couplings` is a list that scenes find
     { from = 0, to = 1 }              a number in this range; each end may be left out
     { above = 0 }                     a number greater than this
     { multiple = 80 }                 80, 160, 240...; `from` and `to` may stand beside it */
#ifndef MN_SCENE_ALLOWED_H
#define MN_SCENE_ALLOWED_H

#include <lua.h>
#include <stddef.h>

/* Raises a Lua error unless the table at `index` is one of these and fits a default like that at
   `like`; nil and none are fine. */
void mn_allowed_check(lua_State *L, int index, int like, const char *name);
/* 1: the value at `value` is allowed. */
int mn_allowed_fits(lua_State *L, int index, int value);
/* In words: "a multiple of 80", "modulus, spring"; "" for nil. */
void mn_allowed_words(lua_State *L, int index, char *words, size_t size);
/* The global `couplings`: the methods of couple{}. */
void mn_allowed_open(lua_State *L);

#endif
