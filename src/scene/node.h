/* What a constructor such as sphere { ... } returns: its kind, the line where it stands and the
   table it was given. Nothing is checked until the whole scene is there (reader.c). */
#ifndef MN_SCENE_NODE_H
#define MN_SCENE_NODE_H

#include <lua.h>

#include "world/schema.h"

typedef struct mn_node {
  const mn_ctor *ctor;
  int line;
} mn_node;

/* NULL if the value is something else. */
const mn_node *mn_node_at(lua_State *L, int index);
/* Its table. */
void mn_node_push_table(lua_State *L, int index);
/* Whether it gives this key. */
int mn_node_has_key(lua_State *L, int index, const char *key);

#endif
