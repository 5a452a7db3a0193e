#include <string.h>

#include "world/body_mesh.h"

#include "base/memory.h"
#include "base/status.h"
#include "geom/fill.h"
#include "geom/gmsh.h"
#include "geom/shape.h"
#include "geom/structured.h"
#include "geom/surface_mesh.h"
#include "math/vec.h"
#include "solid/mass.h"

/* R/r of a torus below which a lattice fills it better: around the hole steps get too short. */
static const double FAT_TORUS = 2;

enum { FINER = 6, FINEST = 1000 }; /* halvings of the spacing; cells across, beyond which none is */

static int cells_of(double length, double spacing, int least)
{
  double n = floor(length / spacing + 0.5);
  return n < least ? least : n > 1e6 ? 1000000 : (int)n;
}

static mn_status cylinder_mesh(mn_context *ctx, const mn_shape *s, double h, mn_simplex_mesh *mesh)
{
  const mn_vec3 zero = {{0, 0, 0}};
  double length = mn_length(s->b);
  int along = cells_of(length, h, 1);
  if (s->r > 0)
    MN_TRY(mn_mesh_tube(ctx, zero, s->r, s->R, length, cells_of(s->R - s->r, h, 1),
                        cells_of(MN_PI * (s->R + s->r), h, 8), along, mesh));
  else
    MN_TRY(mn_mesh_cylinder(ctx, zero, s->R, length, cells_of(s->R, h, 2), along, mesh));
  mn_mesh_onto_axis(s->a, s->b, mesh);
  return MN_OK;
}

static mn_status solid_mesh(mn_context *ctx, const mn_shape *shape, double h, mn_simplex_mesh *mesh)
{
  int dim = shape->dim;
  if (shape->kind == MN_SHAPE_TRANSFORM) {
    MN_TRY(solid_mesh(ctx, shape->part[0], h / shape->r, mesh));
    mn_shape_place(shape, mesh);
    return MN_OK;
  }
  if (shape->kind == MN_SHAPE_BOX) {
    int cells[3] = {1, 1, 1};
    for (int a = 0; a < dim; a++)
      cells[a] = cells_of(2 * shape->b.v[a], h, 1);
    return mn_mesh_box(ctx, dim, mn_sub(shape->a, shape->b), mn_scale(2, shape->b), cells, mesh);
  }
  if (dim == 2 && shape->kind == MN_SHAPE_SPHERE)
    return mn_mesh_disk(ctx, shape->a, shape->r, cells_of(shape->r, h, 2), mesh);
  if (dim == 2 && shape->kind == MN_SHAPE_TORUS)
    return mn_mesh_ring(ctx, shape->a, shape->R - shape->r, shape->R + shape->r,
                        cells_of(2 * shape->r, h, 1), cells_of(2 * MN_PI * shape->R, h, 8), mesh);
  if (dim == 3 && shape->kind == MN_SHAPE_SPHERE)
    return mn_mesh_ball(ctx, shape->a, shape->r, cells_of(shape->r, h, 2), mesh);
  if (dim == 3 && shape->kind == MN_SHAPE_TORUS && shape->R >= FAT_TORUS * shape->r)
    return mn_mesh_torus(ctx, shape->a, shape->b, shape->R, shape->r, cells_of(shape->r, h, 2),
                         cells_of(2 * MN_PI * shape->R, h, 12), mesh);
  if (shape->kind == MN_SHAPE_CYLINDER)
    return cylinder_mesh(ctx, shape, h, mesh);
  return mn_fill(ctx, shape, h, mesh);
}

static mn_status surface_mesh(mn_context *ctx, const mn_shape *shape, double h,
                              mn_simplex_mesh *mesh)
{
  if (shape->kind == MN_SHAPE_TRANSFORM) {
    MN_TRY(surface_mesh(ctx, shape->part[0], h / shape->r, mesh));
    mn_shape_place(shape, mesh);
    return MN_OK;
  }
  if (shape->dim == 2 && shape->kind == MN_SHAPE_SPHERE)
    return mn_mesh_circle(ctx, 2, shape->a, shape->r, cells_of(2 * MN_PI * shape->r, h, 8), mesh);
  mn_simplex_mesh full;
  MN_TRY(solid_mesh(ctx, shape, h, &full));
  mn_status status = mn_surface_of_mesh(ctx, &full, mesh);
  mn_simplex_mesh_destroy(&full);
  return status;
}

/* No mesh of a file within the shape meets itself. */
static mn_status check_crossings(mn_context *ctx, const mn_shape *shape)
{
  if (shape->kind == MN_SHAPE_MESH)
    return mn_mesh_check_crossings(ctx, shape->mesh);
  for (int i = 0; i < shape->count; i++)
    MN_TRY(check_crossings(ctx, shape->part[i]));
  return MN_OK;
}

static uint32_t nearest_node(const mn_simplex_mesh *mesh, mn_vec3 x)
{
  uint32_t best = 0;
  for (uint32_t i = 1; i < mesh->nodes; i++)
    if (mn_length(mn_sub(mesh->node[i], x)) < mn_length(mn_sub(mesh->node[best], x)))
      best = i;
  return best;
}

/* Adds a straight line between the two nodes nearest to its ends. */
static mn_status add_wall(mn_context *ctx, const mn_body_def *def, double h, mn_simplex_mesh *mesh)
{
  uint32_t a = nearest_node(mesh, def->from), b = nearest_node(mesh, def->to);
  mn_vec3 from = mesh->node[a], to = mesh->node[b];
  double length = mn_length(mn_sub(to, from));
  size_t count = (size_t)cells_of(length, h, 1), first = mesh->nodes, old = mesh->elements;
  if (a == b)
    return mn_fail(ctx, MN_BAD_INPUT, "from and to are nearest to the same node of the shape");
  MN_TRY(mn_grow(ctx, "nodes", first, first + count, sizeof *mesh->node, (void **)&mesh->node));
  MN_TRY(mn_grow(ctx, "segments", 2 * old, 2 * (old + count), sizeof *mesh->element,
                 (void **)&mesh->element));
  for (size_t i = 0; i < count; i++) {
    uint32_t *e = mesh->element + 2 * (old + i);
    e[0] = i == 0 ? a : (uint32_t)(first + i - 1);
    e[1] = i + 1 == count ? b : (uint32_t)(first + i);
    if (i + 1 < count)
      mesh->node[mesh->nodes++] = mn_madd(from, (double)(i + 1) / (double)count, mn_sub(to, from));
  }
  mesh->elements += count;
  return MN_OK;
}

/* A file must hold what the body is made of. */
static mn_status read_mesh(mn_context *ctx, int dim, const mn_body_def *def, mn_simplex_mesh *mesh)
{
  static const char *const kinds[] = {"lines", "triangles", "tetrahedra"};
  static const char *const bodies[] = {"a rigid body", "an elastic body", "a body of springs",
                                       "a shell", "a rod"};
  int least = def->kind == MN_BODY_ELASTIC ? dim + 1 : def->kind == MN_BODY_SHELL ? 3 : 2;
  int most = def->kind == MN_BODY_ELASTIC ? dim + 1 : def->kind == MN_BODY_ROD ? 2 : dim;
  MN_TRY(mn_gmsh_read(ctx, def->file, dim, mesh));
  if (mesh->corners >= least && mesh->corners <= most)
    return MN_OK;
  return mn_fail(ctx, MN_BAD_INPUT, "%s: holds %s; %s in %d dimensions is made of %s%s%s",
                 def->file, kinds[mesh->corners - 2], bodies[def->kind], dim, kinds[least - 2],
                 most > least ? " or " : "", most > least ? kinds[most - 2] : "");
}

static mn_status linear_mesh(mn_context *ctx, int dim, const mn_body_def *def, double h,
                             mn_simplex_mesh *mesh)
{
  if (*def->file)
    return read_mesh(ctx, dim, def, mesh);
  if (def->line && def->tube > 0)
    return mn_mesh_pipe(ctx, def->from, def->to, def->tube, cells_of(2 * MN_PI * def->tube, h, 8),
                        cells_of(mn_length(mn_sub(def->to, def->from)), h, 1), mesh);
  if (def->line && !def->shape)
    return mn_mesh_line(ctx, dim, def->from, def->to,
                        cells_of(mn_length(mn_sub(def->to, def->from)), h, 1), mesh);
  if (def->sheet)
    return mn_mesh_sheet(ctx, def->corner, def->along, def->across,
                         cells_of(mn_length(def->along), h, 1),
                         cells_of(mn_length(def->across), h, 1), mesh);
  MN_TRY(check_crossings(ctx, def->shape));
  if (def->kind == MN_BODY_ELASTIC || (def->kind == MN_BODY_RIGID && dim == 2))
    return solid_mesh(ctx, def->shape, h, mesh);
  if (def->kind == MN_BODY_RIGID)
    return mn_shape_surface(ctx, def->shape, h, mesh);
  MN_TRY(surface_mesh(ctx, def->shape, h, mesh));
  return def->line ? add_wall(ctx, def, h, mesh) : MN_OK;
}

/* A spacing that is a slip of the pen is told before it fills the memory. */
static mn_status check_count(mn_context *ctx, const mn_body_def *def, int dim, double h)
{
  static const double MOST[4] = {0, 1e5, 4e6, 1e8}; /* segments, cells of a sheet, of a body */
  double count = 1;
  int axes = def->line && !def->shape ? 1 : def->sheet ? 2 : dim;
  mn_vec3 lo = mn_v3(0, 0, 0), hi = lo;
  if (def->kind == MN_BODY_RIGID || *def->file)
    return MN_OK;
  if (axes == 1)
    count = mn_length(mn_sub(def->to, def->from)) / h;
  else if (def->sheet)
    count = mn_length(def->along) / h * (mn_length(def->across) / h);
  else
    mn_shape_bounds(def->shape, &lo, &hi);
  for (int a = 0; def->shape && a < dim; a++)
    count *= (hi.v[a] - lo.v[a]) / h;
  if (!(count > MOST[axes]) || isinf(count)) /* a shape without end is told later */
    return MN_OK;
  return mn_fail(ctx, MN_BAD_INPUT,
                 "spacing is %g m, which would make about %.3g %s; at most %.0e are taken", h,
                 count, axes == 1 ? "segments" : "cells", MOST[axes]);
}

static mn_vec3 middle_of(const mn_simplex_mesh *mesh, const uint32_t *element)
{
  mn_vec3 sum = mn_v3(0, 0, 0);
  for (int c = 0; c < mesh->corners; c++)
    sum = mn_add(sum, mesh->node[element[c]]);
  return mn_scale(1.0 / mesh->corners, sum);
}

/* Leaves out the elements whose middle is inside the shape, and the nodes that none needs then.
 */
static mn_status cut_mesh(mn_context *ctx, const mn_shape *cut, mn_simplex_mesh *mesh)
{
  size_t each = (size_t)mn_simplex_nodes(mesh->corners, mesh->order), kept = 0, used = 0;
  uint32_t *name;
  for (size_t e = 0; e < mesh->elements; e++)
    if (mn_shape_distance(cut, middle_of(mesh, mesh->element + each * e)) > 0) {
      if (mesh->number)
        mesh->number[kept] = mesh->number[e];
      memmove(mesh->element + each * kept++, mesh->element + each * e,
              each * sizeof *mesh->element);
    }
  if (!kept)
    return mn_fail(ctx, MN_BAD_INPUT, "`cut` leaves none of its %zu elements", mesh->elements);
  MN_TRY(MN_NEW(ctx, "names of nodes", mesh->nodes, &name));
  for (size_t i = 0; i < each * kept; i++)
    name[mesh->element[i]] = 1;
  for (size_t i = 0; i < mesh->nodes; i++)
    if (name[i]) {
      mesh->node[used] = mesh->node[i];
      name[i] = (uint32_t)used++;
    }
  for (size_t i = 0; i < each * kept; i++)
    mesh->element[i] = name[mesh->element[i]];
  mesh->elements = kept;
  mesh->nodes = used;
  mn_free(name);
  return MN_OK;
}

/* A rigid body's mesh is only to be looked at: it may be finer than the cells. */
static mn_status rigid_mesh(mn_context *ctx, int dim, const mn_body_def *def, double h,
                            mn_simplex_mesh *mesh)
{
  mn_mass mass;
  mn_vec3 lo, hi;
  MN_TRY(mn_mass_of_shape(ctx, def->shape, 0, &mass)); /* an empty one would be sought for long */
  MN_TRY(check_crossings(ctx, def->shape));
  mn_shape_bounds(def->shape, &lo, &hi);
  double least = mn_length(mn_sub(hi, lo)) / FINEST;
  mn_status status = linear_mesh(ctx, dim, def, h, mesh);
  for (int i = 0; status == MN_BAD_INPUT && dim == 2 && i < FINER && h > least; i++) {
    h /= 2;
    status = linear_mesh(ctx, dim, def, h, mesh);
  }
  if (status == MN_BAD_INPUT)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "its shape is too thin to be meshed: parts of it must be at least about %.2g m "
                   "thick",
                   mn_length(mn_sub(hi, lo)) / (dim == 2 ? FINEST : 150));
  return status;
}

mn_status mn_body_mesh(mn_context *ctx, int dim, const mn_body_def *def, double spacing,
                       mn_simplex_mesh *mesh)
{
  double h = def->spacing > 0 ? def->spacing : spacing;
  *mesh = (mn_simplex_mesh){0};
  MN_TRY(check_count(ctx, def, dim, h));
  mn_status status = def->kind == MN_BODY_RIGID ? rigid_mesh(ctx, dim, def, h, mesh)
                                                : linear_mesh(ctx, dim, def, h, mesh);
  if (status == MN_OK && def->cut)
    status = cut_mesh(ctx, def->cut, mesh);
  if (status == MN_OK && def->kind == MN_BODY_ELASTIC && def->order == 2 && mesh->order == 1) {
    mn_simplex_mesh linear = *mesh;
    status = mn_simplex_mesh_quadratic(ctx, &linear, mesh);
    mesh->number = linear.number;
    linear.number = NULL;
    mn_simplex_mesh_destroy(&linear);
  }
  if (status != MN_OK)
    mn_simplex_mesh_destroy(mesh);
  return status;
}
