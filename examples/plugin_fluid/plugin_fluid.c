/* A fluid of one's own: a lump of mass that moves with the bodies' surface, and a drag on it.

       cc -shared -fPIC -I PREFIX/include plugin_fluid.c -o plugin_fluid.so
       meniscus run lump.lua

   With u the mean velocity of the surface, A its area, c the drag (kg/s):

       load on a point = -(m (u - u^n)/dt + c u) area/A */
#include <stdlib.h>

#include "meniscus/plugin.h"

typedef struct lump {
  const mn_plugin_host *host;
  double mass, drag, step; /* kg, kg/s, s: per metre of depth in 2D */
  mn_vec3 u;               /* the state: m/s */
  mn_vec3 u_next, u_saved;
  double dt;
} lump;

static void destroy(void *self)
{
  free(self);
}

static double max_dt(void *self)
{
  return ((lump *)self)->step;
}

static mn_status begin(void *self, double t, double dt)
{
  (void)t;
  ((lump *)self)->dt = dt;
  return MN_OK;
}

/* Reads V and area of the surface, writes load and mass. From the state at the start of the substep
   in every call: a coupling calls it several times. */
static mn_status solve(void *self, mn_interface *f, mn_solve_report *report)
{
  lump *s = self;
  double area = 0;
  mn_vec3 u = {{0, 0, 0}}, force;
  for (size_t i = 0; i < f->count; i++)
    area += f->area[i];
  if (!(area > 0))
    return s->host->fail(s->host->ctx, MN_FAILED, "there is no surface to move with");
  for (size_t i = 0; i < f->count; i++)
    for (int a = 0; a < f->dim; a++)
      u.v[a] += f->area[i] / area * f->V[i].v[a];
  for (int a = 0; a < 3; a++)
    force.v[a] = -s->mass * (u.v[a] - s->u.v[a]) / s->dt - s->drag * u.v[a];
  for (size_t i = 0; i < f->count; i++) {
    for (int a = 0; a < 3; a++)
      f->load[i].v[a] = f->area[i] / area * force.v[a];
    f->mass[i] = 0;
  }
  s->u_next = u;
  report->reason = MN_CONVERGED;
  report->iterations = 1;
  return MN_OK;
}

static mn_status commit(void *self)
{
  lump *s = self;
  s->u = s->u_next;
  return MN_OK;
}

static mn_status save(void *self)
{
  lump *s = self;
  s->u_saved = s->u;
  return MN_OK;
}

static mn_status restore(void *self)
{
  lump *s = self;
  s->u = s->u_saved;
  return MN_OK;
}

/* What a checkpoint must hold. */
static int arrays(void *self, mn_array *list, int capacity)
{
  lump *s = self;
  if (capacity > 0)
    list[0] = (mn_array){"plugin_lump_u", MN_F64, 1, {3}, s->u.v, 0};
  return 1;
}

static const mn_fluid_ops ops = {
    .name = "lump",
    .destroy = destroy,
    .max_dt = max_dt,
    .begin = begin,
    .solve = solve,
    .commit = commit,
    .save = save,
    .restore = restore,
    .arrays = arrays,
};

static mn_status make_fluid(const mn_plugin_host *host, mn_fluid *fluid)
{
  lump *s = calloc(1, sizeof *s);
  if (!s)
    return host->fail(host->ctx, MN_ENVIRONMENT, "out of memory: a lump");
  s->host = host;
  s->mass = host->number(host, "mass", 1);
  s->drag = host->number(host, "drag", 0);
  s->step = host->number(host, "dt", 0.005);
  s->u.x = host->number(host, "velocity", 0);
  *fluid = (mn_fluid){&ops, s};
  return MN_OK;
}

const mn_plugin *mn_plugin_get(void)
{
  static const mn_plugin plugin = {.version = MN_PLUGIN_VERSION, .make_fluid = make_fluid};
  return &plugin;
}
