/* Wavefront OBJ: `v x y z` and `f a b c ...` with a = vertex[/texture][/normal], counted from 1, or
   from the end when negative. Polygons are cut into a fan. Everything else is skipped. */
#include "geom/mesh_file.h"

#include <string.h>

#include "base/status.h"

static mn_status bad_line(const mn_mesh_draft *draft, int64_t line, const char *allowed)
{
  return mn_fail(draft->ctx, MN_BAD_INPUT, "%s: line %lld: %s", draft->path, (long long)line,
                 allowed);
}

static mn_status read_vertex(mn_mesh_draft *draft, mn_cursor *cursor)
{
  mn_vec3 x;
  int64_t line = cursor->line;
  for (int a = 0; a < 3; a++)
    if (!mn_next_double(cursor, &x.v[a]))
      return bad_line(draft, line, "a vertex must have three numbers: v x y z");
  return mn_draft_vertex(draft, x, line);
}

static mn_status read_face(mn_mesh_draft *draft, mn_cursor *cursor)
{
  int64_t line = cursor->line, first = 0, last = 0, found;
  int count = 0;
  for (;; count++) {
    mn_skip_blanks(cursor);
    if (cursor->at >= cursor->end || *cursor->at == '\n' || *cursor->at == '#')
      break;
    if (!mn_next_integer(cursor, &found))
      return bad_line(draft, line, "a face must have vertex numbers: f a b c");
    char rest[64]; /* texture and normal */
    if (cursor->at < cursor->end && *cursor->at == '/')
      mn_next_word(cursor, rest, sizeof rest);
    int64_t n = (int64_t)draft->vertices;
    if (found == 0 || found < -n)
      return mn_fail(draft->ctx, MN_BAD_INPUT,
                     "%s: line %lld: vertex index %lld, allowed are 1 to %lld or -1 to -%lld",
                     draft->path, (long long)line, (long long)found, (long long)n, (long long)n);
    int64_t index = found > 0 ? found - 1 : n + found;
    if (count == 0)
      first = index;
    else if (count >= 2)
      MN_TRY(mn_draft_triangle(draft, first, last, index, line));
    last = index;
  }
  if (count < 3)
    return mn_fail(draft->ctx, MN_BAD_INPUT,
                   "%s: line %lld: a face with %d vertices, it must have at least 3", draft->path,
                   (long long)line, count);
  return MN_OK;
}

mn_status mn_read_obj(mn_mesh_draft *draft, const char *data, size_t bytes)
{
  draft->place = "line";
  draft->index_base = 1;
  for (mn_cursor cursor = {data, data + bytes, 1}; cursor.at < cursor.end; mn_skip_line(&cursor)) {
    char word[8];
    mn_next_word(&cursor, word, sizeof word);
    if (!strcmp(word, "v"))
      MN_TRY(read_vertex(draft, &cursor));
    else if (!strcmp(word, "f"))
      MN_TRY(read_face(draft, &cursor));
  }
  return MN_OK;
}
