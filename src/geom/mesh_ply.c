/* PLY, ASCII and binary of both byte orders. Read are x, y, z of `vertex` and the list
   vertex_indices (or vertex_index) of `face`; polygons are cut into a fan. Other elements and
   properties are skipped. */
#include "geom/mesh_file.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"

enum { ELEMENTS_MAX = 16, PROPERTIES_MAX = 64, NAME_MAX_LENGTH = 32 };

typedef enum format { ASCII, LITTLE, BIG } format;
typedef enum number { I8, U8, I16, U16, I32, U32, F32, F64 } number;
typedef enum role { SKIP, X, Y, Z, INDICES } role;

static const int size_of[] = {1, 1, 2, 2, 4, 4, 4, 8};

typedef struct property {
  number type;
  int list;
  number count_type;
  role role;
} property;

typedef struct element {
  char name[NAME_MAX_LENGTH];
  int64_t count;
  int properties;
  property property[PROPERTIES_MAX];
} element;

typedef struct ply {
  mn_mesh_draft *draft;
  mn_cursor cursor;
  format format;
  int elements;
  element element[ELEMENTS_MAX];
} ply;

/* ---- header ---------------------------------------------------------------------------------- */

static mn_status bad_header(const ply *p, const char *found, const char *allowed)
{
  return mn_fail(p->draft->ctx, MN_BAD_INPUT, "%s: line %lld: found '%s', allowed: %s",
                 p->draft->path, (long long)p->cursor.line, found, allowed);
}

static mn_status next_type(ply *p, number *type, int integer)
{
  static const char *const name[][2] = {
      {"char", "int8"}, {"uchar", "uint8"}, {"short", "int16"},   {"ushort", "uint16"},
      {"int", "int32"}, {"uint", "uint32"}, {"float", "float32"}, {"double", "float64"}};
  char word[NAME_MAX_LENGTH];
  mn_next_word(&p->cursor, word, sizeof word);
  for (int t = I8; t <= (integer ? U32 : F64); t++)
    if (!strcmp(word, name[t][0]) || !strcmp(word, name[t][1])) {
      *type = (number)t;
      return MN_OK;
    }
  return bad_header(p, word,
                    integer ? "an integer type (char to uint, int8 to uint32)"
                            : "a type (char to double, int8 to float64)");
}

static mn_status read_property(ply *p)
{
  char word[NAME_MAX_LENGTH];
  if (p->elements == 0)
    return bad_header(p, "property", "an element before the first property");
  element *e = &p->element[p->elements - 1];
  if (e->properties == PROPERTIES_MAX)
    return bad_header(p, "property", "at most 64 properties of an element");
  property *q = &e->property[e->properties++];
  mn_cursor before = p->cursor;
  mn_next_word(&p->cursor, word, sizeof word);
  q->list = !strcmp(word, "list");
  if (q->list)
    MN_TRY(next_type(p, &q->count_type, 1));
  else
    p->cursor = before;
  MN_TRY(next_type(p, &q->type, 0));
  mn_next_word(&p->cursor, word, sizeof word);
  if (!strcmp(e->name, "vertex") && !q->list && word[0] && !word[1])
    q->role = word[0] == 'x' ? X : word[0] == 'y' ? Y : word[0] == 'z' ? Z : SKIP;
  if (!strcmp(e->name, "face") && q->list &&
      (!strcmp(word, "vertex_indices") || !strcmp(word, "vertex_index")))
    q->role = INDICES;
  if (q->role == INDICES && q->type > U32)
    return bad_header(p, word, "a list of an integer type");
  return MN_OK;
}

static mn_status read_element(ply *p)
{
  if (p->elements == ELEMENTS_MAX)
    return bad_header(p, "element", "at most 16 elements");
  element *e = &p->element[p->elements++];
  mn_next_word(&p->cursor, e->name, sizeof e->name);
  if (!mn_next_integer(&p->cursor, &e->count) || e->count < 0)
    return bad_header(p, e->name, "element NAME COUNT with a count of 0 or more");
  return MN_OK;
}

static mn_status read_format(ply *p)
{
  static const char *const name[] = {"ascii", "binary_little_endian", "binary_big_endian"};
  char word[NAME_MAX_LENGTH];
  mn_next_word(&p->cursor, word, sizeof word);
  for (int f = ASCII; f <= BIG; f++)
    if (!strcmp(word, name[f])) {
      p->format = (format)f;
      return MN_OK;
    }
  return bad_header(p, word, "ascii, binary_little_endian, binary_big_endian");
}

static int has(const element *e, role wanted)
{
  for (int i = 0; i < e->properties; i++)
    if (e->property[i].role == wanted)
      return 1;
  return 0;
}

static mn_status read_header(ply *p)
{
  char word[NAME_MAX_LENGTH];
  int formats = 0;
  mn_next_word(&p->cursor, word, sizeof word);
  if (strcmp(word, "ply"))
    return mn_fail(p->draft->ctx, MN_BAD_INPUT, "%s: a PLY file begins with 'ply'", p->draft->path);
  for (;;) {
    mn_skip_line(&p->cursor);
    if (p->cursor.at >= p->cursor.end)
      return mn_fail(p->draft->ctx, MN_BAD_INPUT, "%s: the header has no end_header",
                     p->draft->path);
    mn_next_word(&p->cursor, word, sizeof word);
    if (!strcmp(word, "format")) {
      formats++;
      MN_TRY(read_format(p));
    } else if (!strcmp(word, "element"))
      MN_TRY(read_element(p));
    else if (!strcmp(word, "property"))
      MN_TRY(read_property(p));
    else if (!strcmp(word, "end_header"))
      break;
    else if (strcmp(word, "comment") && strcmp(word, "obj_info") && word[0])
      return bad_header(p, word, "format, element, property, comment, obj_info, end_header");
  }
  mn_skip_line(&p->cursor);
  if (!formats)
    return mn_fail(p->draft->ctx, MN_BAD_INPUT, "%s: the header has no format", p->draft->path);
  for (int e = 0; e < p->elements; e++) {
    const element *el = &p->element[e];
    if (!strcmp(el->name, "vertex") && !(has(el, X) && has(el, Y) && has(el, Z)))
      return mn_fail(p->draft->ctx, MN_BAD_INPUT, "%s: the vertices must have x, y and z",
                     p->draft->path);
    if (!strcmp(el->name, "face") && !has(el, INDICES))
      return mn_fail(p->draft->ctx, MN_BAD_INPUT, "%s: the faces must have a list vertex_indices",
                     p->draft->path);
  }
  return MN_OK;
}

/* ---- body ------------------------------------------------------------------------------------ */

static double decode(number type, uint64_t bits)
{
  float f;
  double d;
  uint32_t low = (uint32_t)bits;
  switch (type) {
  case I8:
    return (int8_t)(uint8_t)bits;
  case I16:
    return (int16_t)(uint16_t)bits;
  case I32:
    return (int32_t)low;
  case F32:
    memcpy(&f, &low, sizeof f);
    return f;
  case F64:
    memcpy(&d, &bits, sizeof d);
    return d;
  default:
    return (double)bits;
  }
}

static int next_value(ply *p, number type, double *value)
{
  if (p->format == ASCII) {
    mn_skip_space(&p->cursor);
    return mn_next_double(&p->cursor, value);
  }
  int size = size_of[type];
  if (p->cursor.end - p->cursor.at < size)
    return 0;
  uint64_t bits = 0;
  for (int i = 0; i < size; i++)
    bits = bits << 8 | (unsigned char)p->cursor.at[p->format == BIG ? i : size - 1 - i];
  p->cursor.at += size;
  *value = decode(type, bits);
  return 1;
}

static mn_status bad_value(const ply *p, const element *e, int64_t item)
{
  return mn_fail(p->draft->ctx, MN_BAD_INPUT,
                 "%s: %s %lld of %lld: the file ends here or holds something that is no number",
                 p->draft->path, e->name, (long long)item + 1, (long long)e->count);
}

static mn_status read_indices(ply *p, const element *e, const property *q, int64_t item,
                              double count)
{
  if (!(count >= 3))
    return mn_fail(p->draft->ctx, MN_BAD_INPUT,
                   "%s: face %lld: %g vertices, it must have at least 3", p->draft->path,
                   (long long)item + 1, count);
  int64_t first = 0, last = 0;
  for (int64_t i = 0; (double)i < count; i++) {
    double value;
    if (!next_value(p, q->type, &value))
      return bad_value(p, e, item);
    if (!(value >= -2147483648.0 && value <= 4294967295.0) || value != (double)(int64_t)value)
      return mn_fail(p->draft->ctx, MN_BAD_INPUT, "%s: face %lld: %g is no vertex index",
                     p->draft->path, (long long)item + 1, value);
    int64_t index = (int64_t)value;
    if (i == 0)
      first = index;
    else if (i >= 2)
      MN_TRY(mn_draft_triangle(p->draft, first, last, index, item + 1));
    last = index;
  }
  return MN_OK;
}

static mn_status read_item(ply *p, const element *e, int64_t item, mn_vec3 *x)
{
  for (int i = 0; i < e->properties; i++) {
    const property *q = &e->property[i];
    double value;
    if (!next_value(p, q->list ? q->count_type : q->type, &value))
      return bad_value(p, e, item);
    if (q->role == INDICES) {
      MN_TRY(read_indices(p, e, q, item, value));
    } else if (q->list) {
      double skipped;
      for (double n = 0; n < value; n++)
        if (!next_value(p, q->type, &skipped))
          return bad_value(p, e, item);
    } else if (q->role != SKIP)
      x->v[q->role - X] = value;
  }
  return MN_OK;
}

mn_status mn_read_ply(mn_mesh_draft *draft, const char *data, size_t bytes)
{
  ply p = {.draft = draft, .cursor = {data, data + bytes, 1}};
  draft->index_base = 0;
  MN_TRY(read_header(&p));
  for (int i = 0; i < p.elements; i++) {
    const element *e = &p.element[i];
    int vertex = !strcmp(e->name, "vertex");
    draft->place = vertex ? "vertex" : "face";
    /* Without properties there is nothing to read, however many items the header claims. */
    for (int64_t item = 0; item < e->count && e->properties > 0; item++) {
      mn_vec3 x = {0};
      MN_TRY(read_item(&p, e, item, &x));
      if (vertex)
        MN_TRY(mn_draft_vertex(draft, x, item + 1));
    }
  }
  draft->place = "face";
  return MN_OK;
}
