/* STL, ASCII and binary (little-endian). A file is binary if its size is what a binary header says,
   since some of those begin with "solid" too, or if it holds a byte that no text has: then its size
   is wrong. Facets are counted from 1. Each facet brings its own three corners, which are
   merged where they are equal. Facet normals are ignored: the order of the corners tells. */
#include "geom/mesh_file.h"

#include <ctype.h>
#include <string.h>

#include "base/status.h"

enum { HEADER = 84, RECORD = 50 };

static uint32_t little32(const char *p)
{
  const unsigned char *b = (const unsigned char *)p;
  return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double little_float(const char *p)
{
  uint32_t bits = little32(p);
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

static mn_status add_facet(mn_mesh_draft *draft, const mn_vec3 corner[3], int64_t facet)
{
  int64_t n = (int64_t)draft->vertices;
  for (int c = 0; c < 3; c++)
    MN_TRY(mn_draft_vertex(draft, corner[c], facet));
  return mn_draft_triangle(draft, n, n + 1, n + 2, facet);
}

static mn_status read_binary(mn_mesh_draft *draft, const char *data, uint32_t count)
{
  for (uint32_t f = 0; f < count; f++) {
    const char *p = data + HEADER + (size_t)RECORD * f + 12;
    mn_vec3 corner[3];
    for (int c = 0; c < 3; c++)
      for (int a = 0; a < 3; a++)
        corner[c].v[a] = little_float(p + 12 * c + 4 * a);
    MN_TRY(add_facet(draft, corner, (int64_t)f + 1));
  }
  return MN_OK;
}

/* ---- ASCII ----------------------------------------------------------------------------------- */

static void next_keyword(mn_cursor *cursor, char word[16])
{
  mn_skip_space(cursor);
  mn_next_word(cursor, word, 16);
  for (char *p = word; *p; p++)
    *p = (char)tolower((unsigned char)*p);
}

static mn_status expect(const mn_mesh_draft *draft, mn_cursor *cursor, const char *wanted)
{
  char word[16];
  next_keyword(cursor, word);
  if (strcmp(word, wanted))
    return mn_fail(draft->ctx, MN_BAD_INPUT, "%s: line %lld: found '%s', expected '%s'",
                   draft->path, (long long)cursor->line, word, wanted);
  return MN_OK;
}

static mn_status read_numbers(const mn_mesh_draft *draft, mn_cursor *cursor, mn_vec3 *x)
{
  for (int a = 0; a < 3; a++)
    if (!mn_next_double(cursor, &x->v[a]))
      return mn_fail(draft->ctx, MN_BAD_INPUT, "%s: line %lld: expected three numbers", draft->path,
                     (long long)cursor->line);
  return MN_OK;
}

static mn_status read_facet(mn_mesh_draft *draft, mn_cursor *cursor, int64_t facet)
{
  mn_vec3 corner[3], normal;
  MN_TRY(expect(draft, cursor, "normal"));
  MN_TRY(read_numbers(draft, cursor, &normal));
  MN_TRY(expect(draft, cursor, "outer"));
  MN_TRY(expect(draft, cursor, "loop"));
  for (int c = 0; c < 3; c++) {
    MN_TRY(expect(draft, cursor, "vertex"));
    MN_TRY(read_numbers(draft, cursor, &corner[c]));
  }
  MN_TRY(expect(draft, cursor, "endloop"));
  MN_TRY(expect(draft, cursor, "endfacet"));
  return add_facet(draft, corner, facet);
}

static mn_status read_ascii(mn_mesh_draft *draft, const char *data, size_t bytes)
{
  mn_cursor cursor = {data, data + bytes, 1};
  int open = 0; /* inside solid ... endsolid */
  for (;;) {
    char word[16];
    next_keyword(&cursor, word);
    int64_t facet = (int64_t)draft->triangles + 1;
    if (!strcmp(word, "facet") && open)
      MN_TRY(read_facet(draft, &cursor, facet));
    else if (!strcmp(word, "solid") || !strcmp(word, "endsolid")) {
      open = word[0] == 's';
      mn_skip_line(&cursor); /* its name */
    } else if (!word[0] && cursor.at >= cursor.end && !open)
      return MN_OK;
    else
      return mn_fail(draft->ctx, MN_BAD_INPUT, "%s: line %lld: found '%s', expected '%s'",
                     draft->path, (long long)cursor.line, word,
                     open ? "facet' or 'endsolid" : "solid");
  }
}

mn_status mn_read_stl(mn_mesh_draft *draft, const char *data, size_t bytes)
{
  draft->place = "facet";
  draft->index_base = MN_NO_INDEX;
  size_t start = 0;
  while (start < bytes && isspace((unsigned char)data[start]))
    start++;
  uint32_t count = bytes >= HEADER ? little32(data + HEADER - 4) : 0;
  size_t needed = HEADER + (size_t)RECORD * count;
  int ascii = bytes - start >= 5 && !strncmp(data + start, "solid", 5);
  if (bytes >= HEADER && bytes == needed)
    MN_TRY(read_binary(draft, data, count));
  else if (ascii && !memchr(data, 0, bytes))
    MN_TRY(read_ascii(draft, data, bytes));
  else if (bytes < HEADER)
    return mn_fail(draft->ctx, MN_BAD_INPUT,
                   "%s: found %zu bytes, but an STL file begins with 'solid' or has at least %d",
                   draft->path, bytes, HEADER);
  else
    return mn_fail(draft->ctx, MN_BAD_INPUT,
                   "%s: a binary STL file of %u facets must have %zu bytes, found %zu: it is %s",
                   draft->path, count, needed, bytes,
                   bytes < needed ? "cut off" : "longer than its header says");
  return mn_draft_merge(draft);
}
