/* The list of vertices and triangles that the mesh readers fill, and their text scanner. */
#include "geom/mesh_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

/* Coordinates beyond this would overflow in products of three lengths. */
static const double COORDINATE_MAX = 1e50;

static size_t doubled(size_t capacity)
{
  return capacity ? 2 * capacity : 256;
}

mn_status mn_draft_vertex(mn_mesh_draft *draft, mn_vec3 x, int64_t where)
{
  for (int a = 0; a < 3; a++)
    if (!(fabs(x.v[a]) <= COORDINATE_MAX))
      return mn_fail(draft->ctx, MN_BAD_INPUT,
                     "%s: %s %lld: vertex coordinate %c is %g, allowed are finite numbers up to %g",
                     draft->path, draft->place, (long long)where, "xyz"[a], x.v[a], COORDINATE_MAX);
  if (draft->vertices == UINT32_MAX)
    return mn_fail(draft->ctx, MN_BAD_INPUT, "%s: more than %u vertices", draft->path, UINT32_MAX);
  if (draft->vertices == draft->vertex_capacity) {
    size_t capacity = doubled(draft->vertex_capacity);
    MN_TRY(mn_grow(draft->ctx, "mesh vertices", draft->vertices, capacity, sizeof *draft->vertex,
                   (void **)&draft->vertex));
    draft->vertex_capacity = capacity;
  }
  draft->vertex[draft->vertices++] = x;
  return MN_OK;
}

mn_status mn_draft_triangle(mn_mesh_draft *draft, int64_t a, int64_t b, int64_t c, int64_t where)
{
  if (draft->triangles == UINT32_MAX / 4) /* edges and tree nodes are counted in 32 bits */
    return mn_fail(draft->ctx, MN_BAD_INPUT, "%s: more than %u triangles", draft->path,
                   UINT32_MAX / 4);
  if (draft->triangles == draft->triangle_capacity) {
    size_t capacity = doubled(draft->triangle_capacity);
    MN_TRY(mn_grow(draft->ctx, "mesh triangles", draft->triangles, capacity,
                   sizeof *draft->triangle, (void **)&draft->triangle));
    MN_TRY(mn_grow(draft->ctx, "mesh triangles", draft->triangles, capacity, sizeof *draft->where,
                   (void **)&draft->where));
    draft->triangle_capacity = capacity;
  }
  int64_t *t = draft->triangle[draft->triangles];
  t[0] = a;
  t[1] = b;
  t[2] = c;
  draft->where[draft->triangles++] = where;
  return MN_OK;
}

void mn_draft_free(mn_mesh_draft *draft)
{
  mn_free(draft->vertex);
  mn_free(draft->triangle);
  mn_free(draft->where);
  draft->vertex = NULL;
  draft->triangle = NULL;
  draft->where = NULL;
}

/* ---- merging --------------------------------------------------------------------------------- */

typedef struct placed {
  mn_vec3 x;
  size_t index;
} placed;

static int by_place(const void *pa, const void *pb)
{
  const placed *a = pa, *b = pb;
  for (int i = 0; i < 3; i++)
    if (a->x.v[i] != b->x.v[i])
      return a->x.v[i] < b->x.v[i] ? -1 : 1;
  return a->index < b->index ? -1 : a->index > b->index;
}

/* name[i]: the first vertex at the place of vertex i. */
static mn_status name_first(mn_mesh_draft *draft, size_t **name)
{
  size_t n = draft->vertices;
  placed *sorted;
  MN_TRY(MN_NEW(draft->ctx, "vertices to merge", n, &sorted));
  mn_status status = MN_NEW(draft->ctx, "vertices to merge", n, name);
  for (size_t i = 0; i < n && status == MN_OK; i++)
    sorted[i] = (placed){draft->vertex[i], i};
  if (status == MN_OK)
    qsort(sorted, n, sizeof *sorted, by_place);
  for (size_t i = 0, first = 0; i < n && status == MN_OK; i++) {
    mn_vec3 a = sorted[first].x, b = sorted[i].x;
    if (a.x != b.x || a.y != b.y || a.z != b.z)
      first = i;
    (*name)[sorted[i].index] = sorted[first].index;
  }
  mn_free(sorted);
  return status;
}

static void rename_corners(mn_mesh_draft *draft, const size_t *name)
{
  for (size_t t = 0; t < draft->triangles; t++)
    for (int c = 0; c < 3; c++)
      draft->triangle[t][c] = (int64_t)name[draft->triangle[t][c]];
}

mn_status mn_draft_join(mn_mesh_draft *draft)
{
  size_t *name;
  MN_TRY(name_first(draft, &name));
  rename_corners(draft, name);
  mn_free(name);
  return MN_OK;
}

mn_status mn_draft_merge(mn_mesh_draft *draft)
{
  size_t kept = 0, *name;
  MN_TRY(name_first(draft, &name));
  for (size_t i = 0; i < draft->vertices; i++)
    if (name[i] == i) { /* name[i] <= i, so the ones before are renamed already */
      draft->vertex[kept] = draft->vertex[i];
      name[i] = kept++;
    } else
      name[i] = name[name[i]];
  draft->vertices = kept;
  rename_corners(draft, name);
  mn_free(name);
  return MN_OK;
}

/* ---- text ------------------------------------------------------------------------------------ */

static int is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

void mn_skip_blanks(mn_cursor *cursor)
{
  for (;;) {
    while (cursor->at < cursor->end && is_blank(*cursor->at))
      cursor->at++;
    const char *p = cursor->at;
    if (p >= cursor->end || *p != '\\')
      return;
    p += p + 1 < cursor->end && p[1] == '\r' ? 2 : 1;
    if (p >= cursor->end || *p != '\n')
      return;
    cursor->at = p + 1;
    cursor->line++;
  }
}

void mn_skip_line(mn_cursor *cursor)
{
  while (cursor->at < cursor->end && *cursor->at != '\n')
    cursor->at++;
  if (cursor->at < cursor->end)
    cursor->at++;
  cursor->line++;
}

void mn_skip_space(mn_cursor *cursor)
{
  while (cursor->at < cursor->end && (is_blank(*cursor->at) || *cursor->at == '\n'))
    cursor->line += *cursor->at++ == '\n';
}

static int at_word_end(const mn_cursor *cursor)
{
  return cursor->at >= cursor->end || is_blank(*cursor->at) || *cursor->at == '\n';
}

void mn_next_word(mn_cursor *cursor, char *word, size_t size)
{
  size_t length = 0;
  mn_skip_blanks(cursor);
  for (; !at_word_end(cursor); cursor->at++)
    if (length + 1 < size)
      word[length++] = *cursor->at;
  word[length] = 0;
}

int mn_next_double(mn_cursor *cursor, double *value)
{
  mn_skip_blanks(cursor);
  if (at_word_end(cursor))
    return 0;
  char *stop;
  *value = strtod(cursor->at, &stop);
  if (stop == cursor->at)
    return 0;
  cursor->at = stop;
  return at_word_end(cursor);
}

int mn_next_integer(mn_cursor *cursor, int64_t *value)
{
  mn_skip_blanks(cursor);
  if (at_word_end(cursor))
    return 0;
  char *stop;
  errno = 0;
  *value = strtoll(cursor->at, &stop, 10);
  if (stop == cursor->at || errno)
    return 0;
  cursor->at = stop;
  return 1;
}
