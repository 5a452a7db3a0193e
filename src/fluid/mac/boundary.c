/* Values where the fluid is not: ghosts beyond the domain, faces that walls close, the inside of
   solids. Interpolation near a wall reads them, so they decide what the wall does to advection:

       slip, open   the value inside continued as a constant
       no-slip      reflected about the wall's velocity, so that interpolation meets it at the wall
       solids       slip: continued layer by layer into the solid; no-slip: the solid's velocity

   Viscous liquid is continued into the air with its slope, so that a rigid turn goes on. Where the
   grid itself carries velocity (markers, level set), what is continued comes back into the liquid
   with the next step, and a slope between two faces of a thin film or of spray comes back greater:
   it doubled in a step. There the lesser of two slopes counts, none where they differ in sign or
   two are not known, and nothing leaves the range of the liquid's own values: the carried velocity
   then is a mean of values that the liquid had, and cannot grow.

   Nothing is continued across thin surfaces.

   Verified by tests/verify/test_viscous_water.c (turning disk, falling block). */
#include "fluid/mac/internal.h"

#include <math.h>
#include <string.h>

#include "base/status.h"

mn_status mn_extension_create(mn_context *ctx, const mn_field *like, mn_extension *e)
{
  *e = (mn_extension){.capacity = like->size};
  if (like->size > UINT32_MAX)
    return mn_fail(ctx, MN_BAD_INPUT, "domain.cells: %zu points, allowed: at most %u", like->size,
                   UINT32_MAX);
  mn_status status = MN_NEW(ctx, "extension plan", like->size, &e->layer);
  if (status == MN_OK)
    status = MN_NEW(ctx, "extension plan", like->size, &e->point);
  if (status == MN_OK)
    status = MN_NEW(ctx, "extension plan", (size_t)mn_slabs(like), &e->found);
  if (status != MN_OK)
    mn_extension_destroy(e);
  return status;
}

void mn_extension_destroy(mn_extension *e)
{
  mn_free(e->point);
  mn_free(e->layer);
  mn_free(e->found);
  *e = (mn_extension){0};
}

/* mn_field_point, in 32 bits: divisions that take a third of the time. */
static inline void point_of(const mn_field *f, uint32_t c, int at[3])
{
  uint32_t sy = (uint32_t)f->stride[1], sz = (uint32_t)f->stride[2];
  int three = f->grid->dim == 3;
  uint32_t in_plane = three ? c % sz : c;
  at[0] = (int)(in_plane % sy) - MN_GHOST;
  at[1] = (int)(in_plane / sy) - MN_GHOST;
  at[2] = three ? (int)(c / sz) - MN_GHOST : 0;
}

/* May values go from point `at` to the next along the axis, or back? */
static inline int linked(const mn_extension *e, const mn_field *f, const int at[3], int axis,
                         int up)
{
  return (up ? at[axis] < f->n[axis] - 1 : at[axis] > 0) &&
         (!e->surface || mn_barrier_linked(e->surface, f->place, at, axis, up));
}

/* Is a point that has a value beside c, and nothing between them? */
static inline int is_reached(const mn_field *like, const mn_extension *e, const int at[3],
                             int64_t c)
{
  for (int a = 0; a < like->grid->dim; a++)
    if ((e->layer[c - like->stride[a]] == 0 && linked(e, like, at, a, 0)) ||
        (e->layer[c + like->stride[a]] == 0 && linked(e, like, at, a, 1)))
      return 1;
  return 0;
}

enum { CHUNK = 32 };

/* Whether one of the points from `layer` on, on a row, may be of the first layer. */
static inline int may_reach(const unsigned char *layer, int64_t sy, int64_t sz, const int dim)
{
  unsigned char any = 0;
  for (int l = 0; l < CHUNK; l++) {
    const unsigned char *p = layer + l;
    unsigned char near = (unsigned char)((p[-1] == 0) | (p[1] == 0) | (p[-sy] == 0) | (p[sy] == 0));
    if (dim == 3)
      near |= (unsigned char)((p[-sz] == 0) | (p[sz] == 0));
    any |= (unsigned char)(near & (p[0] == MN_OUT_OF_REACH));
  }
  return any;
}

/* Points of the first layer on the row j, k, to `point`; returns how many. */
static int64_t reach_from_row(const mn_field *like, const mn_extension *e, int j, int k,
                              uint32_t *point)
{
  int64_t base = like->at - like->data + mn_index(like, 0, j, k), count = 0;
  int64_t sy = like->stride[1], sz = like->stride[2];
  for (int i0 = 0; i0 < like->n[0]; i0 += CHUNK) {
    int end = i0 + CHUNK < like->n[0] ? i0 + CHUNK : like->n[0];
    const unsigned char *layer = e->layer + base + i0;
    if (end == i0 + CHUNK &&
        !(like->grid->dim == 3 ? may_reach(layer, sy, sz, 3) : may_reach(layer, sy, sz, 2)))
      continue;
    for (int i = i0; i < end; i++)
      if (e->layer[base + i] == MN_OUT_OF_REACH && is_reached(like, e, (int[]){i, j, k}, base + i))
        point[count++] = (uint32_t)(base + i);
  }
  return count;
}

/* The first layer, slab by slab, each at a place of its own that is large enough; then together. */
static int64_t first_layer(const mn_field *like, mn_extension *e)
{
  int slabs = mn_slabs(like);
  int64_t room = like->grid->dim == 3 ? like->stride[2] : like->stride[1], count = 0;
#pragma omp parallel for schedule(static) num_threads(like->grid->exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(like, s, &k, &j0, &j1);
    e->found[s] = 0;
    for (int j = j0; j < j1; j++)
      e->found[s] += reach_from_row(like, e, j, k, e->point + s * room + e->found[s]);
  }
  for (int s = 0; s < slabs; s++) {
    memmove(e->point + count, e->point + s * room, (size_t)e->found[s] * sizeof *e->point);
    count += e->found[s];
  }
  for (int64_t q = 0; q < count; q++)
    e->layer[e->point[q]] = 1;
  return count;
}

/* Adds the points beside those of the layer before that nothing has reached. In which order they
   come does not matter: each takes its value from earlier layers only. */
static int64_t next_layer(const mn_field *like, mn_extension *e, int layer, int64_t count)
{
  for (int64_t q = e->start[layer - 2]; q < e->start[layer - 1]; q++) {
    uint32_t c = e->point[q];
    int at[3];
    point_of(like, c, at);
    for (int a = 0; a < like->grid->dim; a++)
      for (int up = 0; up < 2; up++) {
        int64_t to = c + (up ? like->stride[a] : -like->stride[a]);
        if (e->layer[to] != MN_OUT_OF_REACH || !linked(e, like, at, a, up))
          continue;
        e->layer[to] = (unsigned char)layer;
        e->point[count++] = (uint32_t)to;
      }
  }
  return count;
}

void mn_extension_plan(const mn_field *like, mn_extension *e)
{
  e->start[0] = 0;
  for (int layer = 1; layer <= MN_EXTENSION_LAYERS; layer++) {
    e->start[layer] =
        layer == 1 ? first_layer(like, e) : next_layer(like, e, layer, e->start[layer - 1]);
    e->layers = layer;
    if (e->start[layer] == e->start[layer - 1])
      break;
  }
}

/* No thin surface lies between c and the two points behind it. */
static int is_straight(const mn_extension *e, const mn_field *f, int64_t c, int64_t step)
{
  int at[3], axis = 0;
  while (f->stride[axis] != (step < 0 ? -step : step))
    axis++;
  mn_field_point(f, c, at);
  for (int n = 0; n < 2; n++) {
    if (!linked(e, f, at, axis, step < 0))
      return 0;
    at[axis] += step < 0 ? 1 : -1;
  }
  return 1;
}

/* The value continued from c to the neighbour beyond, `step` away. Two steps back from a point of
   the domain there are ghosts at worst, whose layer says that they have no value. */
static double continued(const mn_extension *e, const mn_field *f, int64_t c, int64_t step,
                        int layer, mn_continuation how)
{
  double value = f->data[c];
  if (how == MN_CONTINUE_CONSTANT || layer > MN_LINEAR_LAYERS || e->layer[c - step] >= layer)
    return value;
  if (e->surface && !is_straight(e, f, c, step))
    return value;
  double slope = value - f->data[c - step];
  if (how == MN_CONTINUE_SLOPE)
    return value + slope;
  if (e->layer[c - 2 * step] >= layer)
    return value;
  double before = f->data[c - step] - f->data[c - 2 * step];
  if (!(slope * before > 0))
    return value;
  return value + (fabs(slope) < fabs(before) ? slope : before);
}

/* Least and greatest of the values to be continued. */
static void range_of_values(const mn_extension *e, const mn_field *f, double *least, double *most)
{
  enum { PARTS = 64 };
  double low[PARTS], high[PARTS];
  int64_t size = (int64_t)f->size;
#pragma omp parallel for schedule(static) num_threads(f->grid->exec->threads)
  for (int part = 0; part < PARTS; part++) {
    double lo = INFINITY, hi = -INFINITY;
    for (int64_t q = size * part / PARTS; q < size * (part + 1) / PARTS; q++)
      if (e->layer[q] == 0) {
        lo = f->data[q] < lo ? f->data[q] : lo;
        hi = f->data[q] > hi ? f->data[q] : hi;
      }
    low[part] = lo;
    high[part] = hi;
  }
  *least = mn_reduce(f->grid->exec, MN_MIN, low, PARTS);
  *most = mn_reduce(f->grid->exec, MN_MAX, high, PARTS);
}

/* The value of a point of a layer: the mean of what goes on from its neighbours. */
static double continued_to(const mn_extension *e, const mn_field *f, uint32_t c, int layer,
                           mn_continuation how, double least, double most)
{
  double sum = 0;
  int number = 0, index[3];
  point_of(f, c, index);
  for (int a = 0; a < f->grid->dim; a++) {
    if (e->layer[c - f->stride[a]] < layer && linked(e, f, index, a, 0)) {
      sum += continued(e, f, c - f->stride[a], f->stride[a], layer, how);
      number++;
    }
    if (e->layer[c + f->stride[a]] < layer && linked(e, f, index, a, 1)) {
      sum += continued(e, f, c + f->stride[a], -f->stride[a], layer, how);
      number++;
    }
  }
  return number ? mn_clamp(sum / number, least, most) : f->data[c];
}

void mn_extension_apply(const mn_extension *e, mn_continuation how, mn_field *f)
{
  double least = -INFINITY, most = INFINITY;
  if (how == MN_CONTINUE_LIMITED)
    range_of_values(e, f, &least, &most);
  for (int layer = 1; layer <= e->layers; layer++) {
#pragma omp parallel for schedule(static) num_threads(f->grid->exec->threads)
    for (int64_t q = e->start[layer - 1]; q < e->start[layer]; q++)
      f->data[e->point[q]] = continued_to(e, f, e->point[q], layer, how, least, most);
  }
}

double mn_mac_side_velocity(const mn_mac *mac, int side, double time, int axis)
{
  const mn_side_def *s = &mac->def->domain.side[side];
  return s->velocity.v[axis] * mn_timefn_eval(&s->ramp, time);
}

/* Ghosts below and above along `axis`: ghost(-1 - g) = offset + sign * value(g). The other axes are
   covered with the ghosts filled before, so that corners get values too. */
static void fill_axis(mn_field *f, int axis, const double sign[2], const double offset[2])
{
  int lo[3], hi[3];
  for (int a = 0; a < 3; a++) {
    int ghost = a < f->grid->dim && a < axis ? MN_GHOST : 0;
    lo[a] = a == axis ? 0 : -ghost;
    hi[a] = a == axis ? 1 : f->n[a] + ghost;
  }
  int n = f->n[axis];
  int64_t s = f->stride[axis];
  for (int k = lo[2]; k < hi[2]; k++)
    for (int j = lo[1]; j < hi[1]; j++)
      for (int i = lo[0]; i < hi[0]; i++) {
        double *p = f->at + mn_index(f, i, j, k);
        for (int g = 0; g < MN_GHOST; g++) {
          int inner = g < n ? g : n - 1;
          p[(-1 - g) * s] = offset[0] + sign[0] * p[inner * s];
          p[(n + g) * s] = offset[1] + sign[1] * p[(n - 1 - inner) * s];
        }
      }
}

void mn_mac_fill_cells(mn_field *f)
{
  for (int a = 0; a < f->grid->dim; a++)
    fill_axis(f, a, (double[]){1, 1}, (double[]){0, 0});
  mn_sync(f);
}

void mn_mac_fill_velocity(const mn_mac *mac, double time, mn_field *u, int axis)
{
  for (int a = 0; a < mac->grid.dim; a++) {
    double sign[2] = {1, 1}, offset[2] = {0, 0};
    for (int high = 0; high < 2; high++) {
      int side = 2 * a + high;
      if (a != axis && mac->def->domain.side[side].kind == MN_SIDE_NOSLIP) {
        sign[high] = -1;
        offset[high] = 2 * mn_mac_side_velocity(mac, side, time, axis);
      }
    }
    fill_axis(u, a, sign, offset);
  }
  mn_sync(u);
}

void mn_mac_close(const mn_mac *mac, double time, const mn_field *held, mn_field u[3])
{
  const mn_mac_geometry *g = &mac->geometry;
  for (int a = 0; a < mac->grid.dim; a++) {
    const mn_extension *e = &g->face_extension[a];
    int64_t size = (int64_t)u[a].size;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
    for (int64_t q = 0; q < size; q++)
      if (g->kind[a][q] > MN_FACE_STUCK)
        u[a].data[q] = g->kind[a][q] == MN_FACE_EDGE ? 0 : g->wall[a].data[q];
      else if (e->layer[q] == MN_OUT_OF_REACH)
        u[a].data[q] = 0; /* far from the liquid */
    mn_extension_apply(e, mac->continuation, &u[a]);
    if (held && held->data)
      mn_separate_faces(mac, held, a, &u[a]);
    mn_mac_fill_velocity(mac, time, &u[a], a);
  }
}
