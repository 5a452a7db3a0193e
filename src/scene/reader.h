/* Reads the tables of a finished scene into defs, key by key, as the schema says. Runs inside a
   protected Lua call: an allocation that fails may jump out at any point, so everything that needs
   freeing is reachable from the reader or the def at every moment. */
#ifndef MN_SCENE_READER_H
#define MN_SCENE_READER_H

#include "scene/node.h"
#include "scene/sandbox.h"

/* Where a part of the scene was made, for mistakes that only the whole model shows. */
typedef struct mn_part_line {
  char path[32]; /* as the model's checks spell it: domain, probes[2] */
  int line;
} mn_part_line;

typedef struct mn_reader {
  mn_sandbox *box;
  lua_State *L;
  mn_context *ctx;
  mn_model_def *def;  /* being filled */
  const char *folder; /* of mesh files */
  mn_status status;   /* of the whole reading */

  int line; /* of the innermost constructor */
  char path[512];
  size_t path_length;
  int depth;

  mn_shape **shapes; /* made, but not yet part of anything */
  int shape_count, shape_capacity;
  int shape_total; /* ever made */

  mn_part_line *parts;
  int part_count, part_capacity;
} mn_reader;

/* Where the reader stands; saved before going inside, restored when coming back. */
typedef struct mn_place_mark {
  int line;
  size_t path_length;
} mn_place_mark;

mn_place_mark mn_reader_enter(mn_reader *r, int line, const char *format, ...) MN_PRINTF(3, 4);
void mn_reader_leave(mn_reader *r, mn_place_mark mark);

/* Remembers the line of the node at `index` for the path without its leading "scene.". */
MN_MUST_CHECK mn_status mn_reader_mark(mn_reader *r, int index);
/* Puts FILE:LINE: in front of a sentence of the model's checks, and "scene." if it starts with the
   path of a part. The sandbox may be gone by then. */
mn_status mn_reader_blame_part(mn_reader *r, const char *name, mn_status status);

/* FILE:LINE: PATH: sentence */
mn_status mn_reader_fail(mn_reader *r, const char *format, ...) MN_PRINTF(2, 3);
/* FILE:LINE: PATH: found VALUE, allowed: ... */
mn_status mn_reader_bad(mn_reader *r, int index, const char *allowed);
/* Puts FILE:LINE: PATH in front of a sentence that something else has written. */
mn_status mn_reader_blame(mn_reader *r, mn_status status);

/* Fills the struct from the table at `index`: defaults first, then what is there. Bit i of `given`
   (may be NULL) says that key i was there. */
MN_MUST_CHECK mn_status mn_read_keys(mn_reader *r, const mn_ctor *ctor, int index, void *out,
                                     unsigned *given);
/* The same for a value that must be a node of one of the constructors first..last. */
MN_MUST_CHECK mn_status mn_read_node(mn_reader *r, int index, mn_group group, const char *allowed,
                                     const mn_node **node);
/* Number of entries of a list; refuses keys that are not 1..n. The value must be a plain table. */
MN_MUST_CHECK mn_status mn_read_list(mn_reader *r, int index, const char *allowed, int most,
                                     int *count);

MN_MUST_CHECK mn_status mn_read_numbers(mn_reader *r, int index, const mn_key *key, int least,
                                        int most, double *out, int *count);
MN_MUST_CHECK mn_status mn_read_time(mn_reader *r, int index, mn_timefn *out);
/* The shape lies on top of r->shapes; mn_take_shape moves it to its place. */
MN_MUST_CHECK mn_status mn_read_shape(mn_reader *r, int index);
mn_shape *mn_take_shape(mn_reader *r);
/* reader_plugin.c */
MN_MUST_CHECK mn_status mn_read_number_table(mn_reader *r, int index, mn_plugin_numbers *out);
/* Warns of keys that were written but have no effect (idle_keys.c): of the fluid just read, of a
   source after the fluid, and of the domain's sides when all is read. */
void mn_tell_idle_fluid_keys(mn_reader *r, int index);
void mn_tell_idle_source_keys(mn_reader *r, int index);
void mn_tell_idle_walls(mn_reader *r, int scene);
/* The parts of a scene: reader_scene.c */
MN_MUST_CHECK mn_status mn_read_part(mn_reader *r, const mn_key *key, int index);
MN_MUST_CHECK mn_status mn_read_scene(mn_reader *r, int index);

#endif
