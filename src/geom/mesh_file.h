/* What the mesh readers share: a growing list of vertices and triangles, and number parsing. */
#ifndef MN_GEOM_MESH_FILE_H
#define MN_GEOM_MESH_FILE_H

#include "meniscus/base.h"

enum { MN_NO_INDEX = -1 }; /* STL: vertices have no numbers */

/* A mesh being read. Indices are kept as found until all vertices are known. */
typedef struct mn_mesh_draft {
  mn_context *ctx;
  const char *path;
  const char *place;  /* what `where` counts, from 1: "line", "face", "facet" */
  int64_t index_base; /* of the file's indices, for messages: OBJ 1, PLY 0 */
  mn_vec3 *vertex;
  size_t vertices, vertex_capacity;
  int64_t (*triangle)[3]; /* from 0 */
  int64_t *where;         /* of each triangle in the file */
  size_t triangles, triangle_capacity;
} mn_mesh_draft;

MN_MUST_CHECK mn_status mn_draft_vertex(mn_mesh_draft *draft, mn_vec3 x, int64_t where);
MN_MUST_CHECK mn_status mn_draft_triangle(mn_mesh_draft *draft, int64_t a, int64_t b, int64_t c,
                                          int64_t where);
/* Vertices with equal coordinates become one. */
MN_MUST_CHECK mn_status mn_draft_merge(mn_mesh_draft *draft);
/* Triangles use the first of vertices with equal coordinates; all keep their numbers. */
MN_MUST_CHECK mn_status mn_draft_join(mn_mesh_draft *draft);
/* Indices in range, no degenerate triangle, every edge between two triangles of one orientation. */
MN_MUST_CHECK mn_status mn_draft_check(mn_mesh_draft *draft);
void mn_draft_free(mn_mesh_draft *draft);

/* Readers of the whole text or bytes of a file, zero-terminated. */
MN_MUST_CHECK mn_status mn_read_obj(mn_mesh_draft *draft, const char *data, size_t bytes);
MN_MUST_CHECK mn_status mn_read_ply(mn_mesh_draft *draft, const char *data, size_t bytes);
MN_MUST_CHECK mn_status mn_read_stl(mn_mesh_draft *draft, const char *data, size_t bytes);

/* A place in a text, with the number of its line. */
typedef struct mn_cursor {
  const char *at, *end;
  int64_t line;
} mn_cursor;

void mn_skip_blanks(mn_cursor *cursor); /* within the line; a backslash continues it */
void mn_skip_line(mn_cursor *cursor);
void mn_skip_space(mn_cursor *cursor); /* over line ends too */
/* The next word of the line, empty at its end; longer ones are cut. */
void mn_next_word(mn_cursor *cursor, char *word, size_t size);
/* 0 if there is no number, or if something is glued to it. */
int mn_next_double(mn_cursor *cursor, double *value);
int mn_next_integer(mn_cursor *cursor, int64_t *value); /* may be followed by anything */

#endif
