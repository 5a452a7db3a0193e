/* Gmsh's MSH files, ASCII, versions 2.2 and 4.1 [Geuzaine and Remacle 2009]. Sections other than
   $MeshFormat, $Nodes and $Elements are skipped. Verified by tests/unit/geom/test_gmsh.c. */
#include "geom/gmsh.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"
#include "geom/mesh_file.h"
#include "math/vec.h"

enum { NODES_MAX = 10, TYPES = 12, FILE_LIMIT = 1 << 30 };

/* By Gmsh's element type; corners 0: not read. */
static const struct {
  int corners, order;
} TYPE[TYPES] = {
    [1] = {2, 1}, [2] = {3, 1}, [4] = {4, 1}, [8] = {2, 2}, [9] = {3, 2}, [11] = {4, 2}};
/* Nodes that each type has, for skipping the others (quadrangles, hexahedra, points, ...). */
static int nodes_of(int type)
{
  static const int count[] = {0, 2, 3, 4, 4, 8, 6, 5, 3, 6, 9, 10, 27, 18, 14, 1, 8, 20, 15, 13};
  return type > 0 && type < (int)(sizeof count / sizeof *count) ? count[type] : 0;
}

typedef struct reading {
  mn_context *ctx;
  const char *path;
  mn_cursor at;
  int version; /* 2 or 4 */
  int64_t nodes, elements;
  int64_t node_room, element_room;
  struct tagged {
    int64_t tag;
    mn_vec3 x;
    int32_t used; /* number in the mesh + 1 */
  } * node;
  struct element {
    int type;
    int64_t tag, line;
    int64_t node[NODES_MAX];
  } * element;
} reading;

static mn_status bad(const reading *r, const char *sentence)
{
  return mn_fail(r->ctx, MN_BAD_INPUT, "%s: line %lld: %s", r->path, (long long)r->at.line,
                 sentence);
}

static mn_status next_integer(reading *r, int64_t *value)
{
  mn_skip_space(&r->at);
  return mn_next_integer(&r->at, value) ? MN_OK : bad(r, "expected a whole number");
}

static mn_status next_point(reading *r, mn_vec3 *x)
{
  for (int a = 0; a < 3; a++) {
    mn_skip_space(&r->at);
    if (!mn_next_double(&r->at, &x->v[a]) || !isfinite(x->v[a]))
      return bad(r, "expected a coordinate: a node has three");
  }
  return MN_OK;
}

static mn_status add_node(reading *r, int64_t tag, mn_vec3 x)
{
  if (r->nodes == r->node_room) {
    int64_t more = 2 * r->node_room + 256;
    MN_TRY(mn_grow(r->ctx, "nodes of a mesh", (size_t)r->nodes, (size_t)more, sizeof *r->node,
                   (void **)&r->node));
    r->node_room = more;
  }
  r->node[r->nodes].tag = tag;
  r->node[r->nodes++].x = x;
  return MN_OK;
}

static mn_status add_element(reading *r, int type, int64_t tag)
{
  int count = nodes_of(type);
  if (!count)
    return mn_fail(r->ctx, MN_BAD_INPUT,
                   "%s: line %lld: element type %d is not known; allowed are lines, triangles and "
                   "tetrahedra, linear or quadratic",
                   r->path, (long long)r->at.line, type);
  struct element e = {.type = type, .tag = tag, .line = r->at.line};
  for (int i = 0; i < count; i++) {
    int64_t node;
    MN_TRY(next_integer(r, &node));
    if (i < NODES_MAX)
      e.node[i] = node;
  }
  if (type == 15) /* a point: no body is made of it */
    return MN_OK;
  if (r->elements == r->element_room) {
    int64_t more = 2 * r->element_room + 256;
    MN_TRY(mn_grow(r->ctx, "elements of a mesh", (size_t)r->elements, (size_t)more,
                   sizeof *r->element, (void **)&r->element));
    r->element_room = more;
  }
  r->element[r->elements++] = e;
  return MN_OK;
}

/* ---- sections -------------------------------------------------------------------------------- */

static mn_status read_format(reading *r)
{
  double version;
  int64_t binary;
  mn_skip_space(&r->at);
  if (!mn_next_double(&r->at, &version) || !mn_next_integer(&r->at, &binary))
    return bad(r, "expected the version, the kind of file and the size of a number");
  r->version = version >= 2 && version < 3 ? 2 : version >= 4.1 && version < 5 ? 4 : 0;
  if (!r->version)
    return mn_fail(r->ctx, MN_BAD_INPUT,
                   "%s: line %lld: version %g of Gmsh's format, allowed: 2.2 and 4.1", r->path,
                   (long long)r->at.line, version);
  if (binary)
    return bad(r, "a binary file, allowed: ASCII (Mesh.Binary = 0 in Gmsh)");
  return MN_OK;
}

static mn_status read_nodes(reading *r)
{
  int64_t blocks, count, ignored;
  if (r->version == 2) {
    MN_TRY(next_integer(r, &count));
    for (int64_t i = 0; i < count; i++) {
      int64_t tag;
      mn_vec3 x;
      MN_TRY(next_integer(r, &tag));
      MN_TRY(next_point(r, &x));
      MN_TRY(add_node(r, tag, x));
    }
    return MN_OK;
  }
  MN_TRY(next_integer(r, &blocks));
  for (int i = 0; i < 3; i++) /* how many in all, least and greatest tag */
    MN_TRY(next_integer(r, &ignored));
  for (int64_t b = 0; b < blocks; b++) {
    int64_t parametric;
    MN_TRY(next_integer(r, &ignored)); /* dimension of the entity */
    MN_TRY(next_integer(r, &ignored)); /* its tag */
    MN_TRY(next_integer(r, &parametric));
    MN_TRY(next_integer(r, &count));
    if (parametric)
      return bad(r, "nodes with parametric coordinates, allowed: without "
                    "(Mesh.SaveParametric = 0 in Gmsh)");
    int64_t first = r->nodes;
    for (int64_t i = 0; i < count; i++) {
      int64_t tag;
      MN_TRY(next_integer(r, &tag));
      MN_TRY(add_node(r, tag, mn_v3(0, 0, 0)));
    }
    for (int64_t i = 0; i < count; i++)
      MN_TRY(next_point(r, &r->node[first + i].x));
  }
  return MN_OK;
}

static mn_status read_elements(reading *r)
{
  int64_t blocks, count, tag, type, ignored;
  if (r->version == 2) {
    MN_TRY(next_integer(r, &count));
    for (int64_t i = 0; i < count; i++) {
      int64_t tags;
      MN_TRY(next_integer(r, &tag));
      MN_TRY(next_integer(r, &type));
      MN_TRY(next_integer(r, &tags));
      for (int64_t t = 0; t < tags; t++)
        MN_TRY(next_integer(r, &ignored));
      MN_TRY(add_element(r, (int)mn_clamp((double)type, 0, 1000), tag));
    }
    return MN_OK;
  }
  MN_TRY(next_integer(r, &blocks));
  for (int i = 0; i < 3; i++)
    MN_TRY(next_integer(r, &ignored));
  for (int64_t b = 0; b < blocks; b++) {
    MN_TRY(next_integer(r, &ignored));
    MN_TRY(next_integer(r, &ignored));
    MN_TRY(next_integer(r, &type));
    MN_TRY(next_integer(r, &count));
    for (int64_t i = 0; i < count; i++) {
      MN_TRY(next_integer(r, &tag));
      MN_TRY(add_element(r, (int)mn_clamp((double)type, 0, 1000), tag));
    }
  }
  return MN_OK;
}

static mn_status read_sections(reading *r)
{
  while (r->at.at < r->at.end) {
    char word[32];
    mn_next_word(&r->at, word, sizeof word);
    mn_skip_line(&r->at);
    if (!strcmp(word, "$MeshFormat"))
      MN_TRY(read_format(r));
    else if (!strcmp(word, "$Nodes") || !strcmp(word, "$Elements")) {
      if (!r->version)
        return bad(r, "no $MeshFormat before it: not a file of Gmsh");
      MN_TRY(word[1] == 'N' ? read_nodes(r) : read_elements(r));
    }
  }
  if (!r->version || !r->nodes || !r->elements)
    return mn_fail(r->ctx, MN_BAD_INPUT, "%s: holds no %s: not a whole file of Gmsh", r->path,
                   !r->version ? "$MeshFormat"
                   : !r->nodes ? "nodes"
                               : "elements");
  return MN_OK;
}

/* ---- the mesh -------------------------------------------------------------------------------- */

static int by_tag(const void *a, const void *b)
{
  const struct tagged *p = a, *q = b;
  return p->tag < q->tag ? -1 : p->tag > q->tag;
}

static struct tagged *find_node(const reading *r, int64_t tag)
{
  struct tagged key = {.tag = tag};
  return bsearch(&key, r->node, (size_t)r->nodes, sizeof *r->node, by_tag);
}

/* All elements of the highest dimension must be of one type. */
static mn_status choose_type(const reading *r, int *type, size_t *count)
{
  *type = 0;
  *count = 0;
  static const int dimension[] = {0, 1, 2, 2, 3, 3, 3, 3, 1, 2, 2, 3, 3, 3, 3, 0, 2, 3, 3, 3};
  for (int64_t i = 0; i < r->elements; i++)
    if (!*type || dimension[r->element[i].type] > dimension[*type])
      *type = r->element[i].type;
  for (int64_t i = 0; i < r->elements; i++) {
    const struct element *e = &r->element[i];
    if (dimension[e->type] != dimension[*type])
      continue;
    if (e->type >= TYPES || !TYPE[e->type].corners || e->type != *type)
      return mn_fail(r->ctx, MN_BAD_INPUT,
                     "%s: line %lld: element %lld is of type %d; allowed: triangles or "
                     "tetrahedra, all of one order",
                     r->path, (long long)e->line, (long long)e->tag, e->type);
    ++*count;
  }
  return MN_OK;
}

static mn_status add_to_mesh(reading *r, const struct element *e, mn_simplex_mesh *m)
{
  /* Gmsh counts the last two edges of a tetrahedron the other way round. */
  static const int order[NODES_MAX] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 8};
  int nodes = mn_simplex_nodes(m->corners, m->order);
  uint32_t *to = m->element + (size_t)nodes * m->elements;
  for (int i = 0; i < nodes; i++) {
    int64_t tag = e->node[nodes == NODES_MAX ? order[i] : i];
    struct tagged *node = find_node(r, tag);
    if (!node)
      return mn_fail(r->ctx, MN_BAD_INPUT,
                     "%s: line %lld: element %lld names node %lld, which is "
                     "not in $Nodes",
                     r->path, (long long)e->line, (long long)e->tag, (long long)tag);
    if (!node->used) {
      m->node[m->nodes++] = node->x;
      node->used = (int32_t)m->nodes;
    }
    to[i] = (uint32_t)node->used - 1;
  }
  m->number[m->elements++] = e->tag;
  return MN_OK;
}

static const char *const kinds[] = {"line", "triangle", "tetrahedron"}; /* by corners - 2 */

/* Of the corners; curved edges are looked at where the element is used. */
static mn_status check_size(const reading *r, const struct element *e, const mn_simplex_mesh *m)
{
  const uint32_t *n =
      m->element + (m->elements - 1) * (size_t)mn_simplex_nodes(m->corners, m->order);
  mn_vec3 u = mn_sub(m->node[n[1]], m->node[n[0]]);
  double size = mn_length(u);
  if (m->corners >= 3) {
    mn_vec3 area = mn_scale(0.5, mn_cross(u, mn_sub(m->node[n[2]], m->node[n[0]])));
    size = m->corners == 4 ? mn_dot(area, mn_sub(m->node[n[3]], m->node[n[0]])) / 3
           : m->dim == 2   ? area.z
                           : mn_length(area);
  }
  if (size > 0)
    return MN_OK;
  static const char *const sizes[] = {"length", "area", "volume"};
  int k = m->corners - 2;
  return mn_fail(r->ctx, MN_BAD_INPUT,
                 "%s: line %lld: element %lld, a %s, is %s: its %s is %g m%s, it must be positive",
                 r->path, (long long)e->line, (long long)e->tag, kinds[k],
                 size < 0 ? "inverted" : "flat", sizes[k], size,
                 k == 2   ? "^3"
                 : k == 1 ? "^2"
                          : "");
}

/* Element number i of the mesh, as the file has it. */
static const struct element *from_file(const reading *r, int type, size_t i)
{
  const struct element *e = r->element;
  for (;; e++)
    if (e->type == type && !i--)
      return e;
}

static mn_status check_overlap(const reading *r, int type, const mn_simplex_mesh *m)
{
  size_t pair[2];
  MN_TRY(mn_simplex_mesh_overlap(r->ctx, m, pair));
  if (pair[0] == pair[1])
    return MN_OK;
  const struct element *a = from_file(r, type, pair[0]), *b = from_file(r, type, pair[1]);
  mn_vec3 x = m->node[m->element[pair[1] * (size_t)mn_simplex_nodes(m->corners, m->order)]];
  return mn_fail(r->ctx, MN_BAD_INPUT,
                 "%s: line %lld: element %lld, a %s near (%g, %g, %g), %s element %lld of line "
                 "%lld; the elements of a body must not share space",
                 r->path, (long long)b->line, (long long)b->tag, kinds[m->corners - 2], x.x, x.y,
                 x.z, m->corners > m->dim ? "overlaps" : "crosses or repeats", (long long)a->tag,
                 (long long)a->line);
}

static mn_status make_mesh(reading *r, int dim, mn_simplex_mesh *m)
{
  int type;
  size_t count;
  MN_TRY(choose_type(r, &type, &count));
  *m = (mn_simplex_mesh){.dim = dim, .corners = TYPE[type].corners, .order = TYPE[type].order};
  if (m->corners - 1 > dim)
    return mn_fail(r->ctx, MN_BAD_INPUT, "%s: holds tetrahedra, the scene has two dimensions",
                   r->path);
  qsort(r->node, (size_t)r->nodes, sizeof *r->node, by_tag);
  for (int64_t i = 1; i < r->nodes; i++)
    if (r->node[i].tag == r->node[i - 1].tag)
      return mn_fail(r->ctx, MN_BAD_INPUT, "%s: node %lld is there twice", r->path,
                     (long long)r->node[i].tag);
  MN_TRY(MN_NEW(r->ctx, "nodes of a mesh", (size_t)r->nodes, &m->node));
  MN_TRY(MN_NEW(r->ctx, "elements of a mesh",
                count * (size_t)mn_simplex_nodes(m->corners, m->order), &m->element));
  MN_TRY(MN_NEW(r->ctx, "elements of a mesh", count, &m->number));
  for (int64_t i = 0; i < r->elements; i++)
    if (r->element[i].type == type) {
      MN_TRY(add_to_mesh(r, &r->element[i], m));
      MN_TRY(check_size(r, &r->element[i], m));
    }
  for (size_t i = 0; i < m->nodes && dim == 2; i++) {
    if (m->node[i].z != m->node[0].z)
      return mn_fail(r->ctx, MN_BAD_INPUT,
                     "%s: nodes at z = %g and %g m, allowed in two dimensions: a plane", r->path,
                     m->node[0].z, m->node[i].z);
  }
  for (size_t i = 0; i < m->nodes && dim == 2; i++)
    m->node[i].z = 0;
  return check_overlap(r, type, m);
}

mn_status mn_gmsh_parse(mn_context *ctx, const char *path, const char *data, size_t bytes, int dim,
                        mn_simplex_mesh *mesh)
{
  *mesh = (mn_simplex_mesh){0};
  reading r = {.ctx = ctx, .path = path, .at = {data, data + bytes, 1}};
  mn_status status = read_sections(&r);
  if (status == MN_OK)
    status = make_mesh(&r, dim, mesh);
  mn_free(r.node);
  mn_free(r.element);
  if (status != MN_OK)
    mn_simplex_mesh_destroy(mesh);
  return status;
}

mn_status mn_gmsh_read(mn_context *ctx, const char *path, int dim, mn_simplex_mesh *mesh)
{
  const char *dot = strrchr(path, '.');
  if (dot && (!strcasecmp(dot, ".obj") || !strcasecmp(dot, ".ply") || !strcasecmp(dot, ".stl"))) {
    *mesh = (mn_simplex_mesh){0};
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s: `file` is for meshes of Gmsh (.msh); a surface is a shape: shape = mesh { "
                   "file = ... }",
                   path);
  }
  char *data;
  size_t bytes;
  MN_TRY(mn_read_file(ctx, path, FILE_LIMIT, &data, &bytes));
  mn_status status = mn_gmsh_parse(ctx, path, data, bytes, dim, mesh);
  mn_free(data);
  return status;
}
