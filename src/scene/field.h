/* Functions of position written in Lua, kept for the life of a model. */
#ifndef MN_SCENE_FIELD_H
#define MN_SCENE_FIELD_H

#include "scene/sandbox.h"

/* Makes `out` call the function on top of the stack, and pops it. `components` are 1, 2 or 3;
   `where` is FILE:LINE: path for messages. Values must be finite and at least `lowest`. */
MN_MUST_CHECK mn_status mn_field_bind(mn_sandbox *box, const char *where, int components,
                                      double lowest, mn_field_fn *out);
void mn_fields_free(mn_lua_field **fields);

#endif
