/* Shapes and time functions. */
#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/vec.h"
#include "scene/reader.h"

enum { MOST_NESTING = 64, MOST_SHAPES = 100000 };

#define SHAPES_ALLOWED                                                                             \
  "a shape: box, sphere, disk, half_space, capsule, cylinder, torus, mesh, union, "                \
  "intersection, difference or transform"
#define TIMES_ALLOWED "a number, cosine, linear, rate, wave or keys"

/* ---- shapes ---------------------------------------------------------------------------------- */

mn_shape *mn_take_shape(mn_reader *r)
{
  return r->shapes[--r->shape_count];
}

/* Room for one more before it is made, so that it can never be lost. */
static mn_status reserve_shape(mn_reader *r)
{
  if (r->shape_total >= MOST_SHAPES)
    return mn_reader_fail(r, "the scene has more than %d shapes", MOST_SHAPES);
  r->shape_total++;
  if (r->shape_count < r->shape_capacity)
    return MN_OK;
  int capacity = r->shape_capacity ? 2 * r->shape_capacity : 16;
  MN_TRY(mn_grow(r->ctx, "shapes", (size_t)r->shape_count, (size_t)capacity, sizeof *r->shapes,
                 (void **)&r->shapes));
  r->shape_capacity = capacity;
  return MN_OK;
}

static mn_status make_box(mn_reader *r, const mn_shape_args *a, unsigned given, mn_shape **out)
{
  enum { LO_HI = 3, CENTER_SIZE = 12 };
  if (given != LO_HI && given != CENTER_SIZE)
    return mn_fail(r->ctx, MN_BAD_INPUT, "allowed: either lo and hi, or center and size");
  mn_vec3 lo = a->lo, hi = a->hi;
  if (given == CENTER_SIZE) {
    lo = mn_madd(a->center, -0.5, a->size);
    hi = mn_madd(a->center, 0.5, a->size);
  }
  for (int i = 0; i < r->def->domain.dim; i++)
    if (!(lo.v[i] < hi.v[i]))
      return mn_fail(r->ctx, MN_BAD_INPUT, "found lo[%d] = %g and hi[%d] = %g, allowed: lo < hi",
                     i + 1, lo.v[i], i + 1, hi.v[i]);
  return mn_shape_box(r->ctx, r->def->domain.dim, lo, hi, out);
}

static mn_status make_mesh(mn_reader *r, const char *file, mn_shape **out)
{
  char path[2 * MN_PATH_MAX];
  int relative = file[0] != '/' && r->folder && *r->folder;
  snprintf(path, sizeof path, "%s%s%s", relative ? r->folder : "", relative ? "/" : "", file);
  return mn_shape_mesh(r->ctx, path, out);
}

/* Everything but lists. The part of a transform lies on the stack. */
static mn_status make_shape(mn_reader *r, mn_ctor_id id, const mn_shape_args *a, unsigned given,
                            mn_shape **out)
{
  mn_context *ctx = r->ctx;
  int dim = r->def->domain.dim;
  switch (id) {
  case MN_CTOR_BOX:
    return make_box(r, a, given, out);
  case MN_CTOR_DISK:
    if (dim == 3)
      return mn_fail(ctx, MN_BAD_INPUT, "a disk is flat; in 3D, take a sphere or a capsule");
    return mn_shape_sphere(ctx, dim, a->center, a->radius, out);
  case MN_CTOR_SPHERE:
    return mn_shape_sphere(ctx, dim, a->center, a->radius, out);
  case MN_CTOR_HALF_SPACE:
    if (mn_length(a->normal) == 0)
      return mn_fail(ctx, MN_BAD_INPUT, "normal: found 0, allowed: a direction");
    return mn_shape_half_space(ctx, dim, a->point, a->normal, out);
  case MN_CTOR_CAPSULE:
    return mn_shape_capsule(ctx, dim, a->a, a->b, a->radius, out);
  case MN_CTOR_CYLINDER:
    return mn_shape_cylinder(ctx, dim, a->a, a->b, a->radius, a->inner, out);
  case MN_CTOR_TORUS:
    return mn_shape_torus(ctx, dim, a->center, a->axis, a->major, a->minor, out);
  case MN_CTOR_MESH:
    if (dim == 2)
      return mn_fail(ctx, MN_BAD_INPUT, "a mesh needs a 3D domain");
    return make_mesh(r, a->file, out);
  default:
    return mn_shape_transform(ctx, a->shape, a->translate, a->axis, a->angle, a->scale, out);
  }
}

/* The parts lie on the stack from `first` on; they are replaced by their composition. */
static mn_status compose(mn_reader *r, mn_ctor_id id, int first)
{
  mn_shape **parts = r->shapes + first, *out = NULL;
  int count = r->shape_count - first;
  r->shape_count = first; /* taken over in every case */
  mn_status status = id == MN_CTOR_UNION ? mn_shape_union(r->ctx, parts, count, &out)
                     : id == MN_CTOR_INTERSECTION
                         ? mn_shape_intersection(r->ctx, parts, count, &out)
                         : mn_shape_difference(r->ctx, parts, count, &out);
  if (status != MN_OK)
    return mn_reader_blame(r, status);
  r->shapes[r->shape_count++] = out;
  return MN_OK;
}

static mn_status read_parts(mn_reader *r, mn_ctor_id id, int table)
{
  int count, first = r->shape_count;
  MN_TRY(mn_read_list(r, table, "a list of shapes", MOST_SHAPES, &count));
  int least = id == MN_CTOR_DIFFERENCE ? 2 : 1;
  if (count < least)
    return mn_reader_fail(r, "found %d shapes, allowed: at least %d", count, least);
  for (int i = 1; i <= count; i++) {
    mn_place_mark mark = mn_reader_enter(r, 0, "[%d]", i);
    lua_rawgeti(r->L, table, i);
    MN_TRY(mn_read_shape(r, lua_gettop(r->L)));
    lua_pop(r->L, 1);
    mn_reader_leave(r, mark);
  }
  return compose(r, id, first);
}

static mn_status read_single(mn_reader *r, mn_ctor_id id, int table)
{
  mn_shape_args args = {0};
  unsigned given = 0;
  /* A transform's part is its last key: nothing can fail while only `args` holds it. */
  MN_TRY(mn_read_keys(r, &mn_ctors[id], table, &args, &given));
  mn_shape *out = NULL;
  mn_status status = make_shape(r, id, &args, given, &out);
  if (status != MN_OK)
    return mn_reader_blame(r, status);
  r->shapes[r->shape_count++] = out;
  return MN_OK;
}

mn_status mn_read_shape(mn_reader *r, int index)
{
  const mn_node *node = mn_node_at(r->L, index);
  mn_ctor_id id = node ? (mn_ctor_id)(node->ctor - mn_ctors) : MN_CTOR_SCENE;
  if (id == MN_CTOR_DOMAIN) /* box { ... } used as a shape */
    id = MN_CTOR_BOX;
  if (mn_ctors[id].group != MN_GROUP_SHAPE)
    return mn_reader_bad(r, index, SHAPES_ALLOWED);
  if (r->depth >= MOST_NESTING)
    return mn_reader_fail(r, "shapes nested more than %d deep", MOST_NESTING);
  r->depth++;
  luaL_checkstack(r->L, 10, "shapes nested too deep");
  mn_place_mark mark = mn_reader_enter(r, node->line, "%s", "");
  mn_node_push_table(r->L, index);
  int table = lua_gettop(r->L);
  MN_TRY(reserve_shape(r));
  MN_TRY(mn_ctors[id].list ? read_parts(r, id, table) : read_single(r, id, table));
  lua_pop(r->L, 1);
  mn_reader_leave(r, mark);
  r->depth--;
  return MN_OK;
}

/* ---- time functions -------------------------------------------------------------------------- */

static mn_status read_time_keys(mn_reader *r, int table, mn_timefn *f)
{
  static const mn_key pair = {.name = "key", .type = MN_KEY_RANGE, .unit = ""};
  MN_TRY(mn_read_list(r, table, "keys { {time, value}, ... }", MN_TIMEFN_KEYS_MAX, &f->key_count));
  if (f->key_count == 0)
    return mn_reader_fail(r, "found no keys, allowed: keys { {time, value}, ... }");
  for (int i = 0; i < f->key_count; i++) {
    mn_place_mark mark = mn_reader_enter(r, 0, "[%d]", i + 1);
    lua_rawgeti(r->L, table, i + 1);
    double v[2];
    int count;
    MN_TRY(mn_read_numbers(r, lua_gettop(r->L), &pair, 2, 2, v, &count));
    lua_pop(r->L, 1);
    if (i && v[0] <= f->key_time[i - 1])
      return mn_reader_fail(r, "found the time %g s after %g s, allowed: rising times", v[0],
                            f->key_time[i - 1]);
    f->key_time[i] = v[0];
    f->key_value[i] = v[1];
    mn_reader_leave(r, mark);
  }
  return MN_OK;
}

mn_status mn_read_time(mn_reader *r, int index, mn_timefn *out)
{
  const mn_node *node = mn_node_at(r->L, index);
  if (lua_type(r->L, index) == LUA_TNUMBER) {
    double value = lua_tonumber(r->L, index);
    if (!(value - value == 0)) /* NaN or infinite */
      return mn_reader_bad(r, index, TIMES_ALLOWED);
    *out = mn_timefn_constant(value);
    return MN_OK;
  }
  if (!node || node->ctor->group != MN_GROUP_TIME)
    return mn_reader_bad(r, index, TIMES_ALLOWED);
  *out = (mn_timefn){.kind = (mn_timefn_kind)node->ctor->kind};
  mn_place_mark mark = mn_reader_enter(r, node->line, "%s", "");
  mn_node_push_table(r->L, index);
  int table = lua_gettop(r->L);
  MN_TRY(node->ctor->list ? read_time_keys(r, table, out)
                          : mn_read_keys(r, node->ctor, table, out, NULL));
  lua_pop(r->L, 1);
  mn_reader_leave(r, mark);
  return MN_OK;
}
