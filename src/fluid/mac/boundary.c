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
  mn_status status = MN_NEW(ctx, "extension plan", like->size, &e->layer);
  if (status == MN_OK)
    status = MN_NEW(ctx, "extension plan", like->size, &e->point);
  if (status != MN_OK)
    mn_extension_destroy(e);
  return status;
}

void mn_extension_destroy(mn_extension *e)
{
  mn_free(e->point);
  mn_free(e->layer);
  *e = (mn_extension){0};
}

/* Calls the plan's points in index order: the plan, and so every sum, is the same for any threads.
 */
/* May values go from point `at` to the next along the axis, or back? */
static inline int linked(const mn_extension *e, const mn_field *f, const int at[3], int axis,
                         int up)
{
  return (up ? at[axis] < f->n[axis] - 1 : at[axis] > 0) &&
         (!e->surface || mn_barrier_linked(e->surface, f->place, at, axis, up));
}

static void add_layer(const mn_field *like, mn_extension *e, int layer, int64_t *count)
{
  int dim = like->grid->dim;
  int64_t base = like->at - like->data;
  for (int k = 0; k < like->n[2]; k++)
    for (int j = 0; j < like->n[1]; j++)
      for (int i = 0; i < like->n[0]; i++) {
        int64_t c = base + mn_index(like, i, j, k);
        if (e->layer[c] != MN_OUT_OF_REACH)
          continue;
        int index[3] = {i, j, k}, near = 0;
        for (int a = 0; a < dim; a++) {
          near |= e->layer[c - like->stride[a]] < layer && linked(e, like, index, a, 0);
          near |= e->layer[c + like->stride[a]] < layer && linked(e, like, index, a, 1);
        }
        if (near)
          e->point[(*count)++] = c;
      }
  for (int64_t q = e->start[layer - 1]; q < *count; q++)
    e->layer[e->point[q]] = (unsigned char)layer;
}

void mn_extension_plan(const mn_field *like, mn_extension *e)
{
  int64_t count = 0;
  e->start[0] = 0;
  for (int layer = 1; layer <= MN_EXTENSION_LAYERS; layer++) {
    add_layer(like, e, layer, &count);
    e->start[layer] = count;
    e->layers = layer;
    if (count == e->start[layer - 1])
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
  *least = INFINITY;
  *most = -INFINITY;
  for (size_t q = 0; q < f->size; q++)
    if (e->layer[q] == 0) {
      *least = fmin(*least, f->data[q]);
      *most = fmax(*most, f->data[q]);
    }
}

void mn_extension_apply(const mn_extension *e, mn_continuation how, mn_field *f)
{
  int dim = f->grid->dim;
  double least = -INFINITY, most = INFINITY;
  if (how == MN_CONTINUE_LIMITED)
    range_of_values(e, f, &least, &most);
  for (int layer = 1; layer <= e->layers; layer++)
    for (int64_t q = e->start[layer - 1]; q < e->start[layer]; q++) {
      int64_t c = e->point[q];
      int index[3];
      mn_field_point(f, c, index);
      double sum = 0;
      int number = 0;
      for (int a = 0; a < dim; a++) {
        if (e->layer[c - f->stride[a]] < layer && linked(e, f, index, a, 0)) {
          sum += continued(e, f, c - f->stride[a], f->stride[a], layer, how);
          number++;
        }
        if (e->layer[c + f->stride[a]] < layer && linked(e, f, index, a, 1)) {
          sum += continued(e, f, c + f->stride[a], -f->stride[a], layer, how);
          number++;
        }
      }
      if (number)
        f->data[c] = mn_clamp(sum / number, least, most);
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
        u[a].data[q] = g->wall[a].data[q];
      else if (e->layer[q] == MN_OUT_OF_REACH)
        u[a].data[q] = 0; /* far from the liquid */
    mn_extension_apply(e, mac->continuation, &u[a]);
    if (held && held->data)
      mn_separate_faces(mac, held, a, &u[a]);
    mn_mac_fill_velocity(mac, time, &u[a], a);
  }
}
