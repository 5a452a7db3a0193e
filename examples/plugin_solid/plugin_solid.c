/* A solid of one's own: a piston on a spring across a duct, in two dimensions.

       cc -shared -fPIC -I PREFIX/include plugin_solid.c -o plugin_solid.so
       meniscus run piston.lua

   Backward Euler, with f the sum of the loads and m that of the fictitious masses:

       (M + m + dt^2 k) v = M v^n - dt k x^n + dt f + m V        x = x^n + dt v */
#include <math.h>
#include <stdlib.h>

#include "meniscus/plugin.h"

typedef struct piston {
  const mn_plugin_host *host;
  double mass, spring;        /* kg/m, N/m^2: per metre of depth */
  double middle, half, width; /* m: where it starts, half its thickness, across the duct */
  size_t across;              /* points on each of its two faces */
  double x, v;                /* the state: m from the middle, m/s */
  double x_next, v_next, x_saved, v_saved, dt;
} piston;

/* Writes the closed surface: up the right face, then down the left one. */
static void place(const piston *s, mn_interface *f, double x, double v)
{
  for (size_t i = 0; i < f->count; i++) {
    int right = i < s->across;
    size_t k = right ? i : f->count - 1 - i;
    double part = (double)k / (double)(s->across - 1);
    double end = k == 0 || k == s->across - 1 ? 0.5 : 1;
    f->X[i] = (mn_vec3){{s->middle + x + (right ? s->half : -s->half),
                         s->host->origin.y + (2 * part - 0.5) * s->width, 0}};
    f->V[i] = (mn_vec3){{v, 0, 0}};
    f->N[i] = (mn_vec3){{right ? 1 : -1, 0, 0}};
    f->area[i] = end * 2 * s->width / (double)(s->across - 1);
  }
}

static void destroy(void *self)
{
  free(self);
}

static double max_dt(void *self)
{
  (void)self;
  return INFINITY;
}

static mn_status begin(void *self, double t, double dt)
{
  piston *s = self;
  (void)t;
  s->dt = dt;
  return MN_OK;
}

static mn_status solve(void *self, mn_interface *f, mn_solve_report *report)
{
  piston *s = self;
  double force = 0, extra = 0, dt = s->dt;
  for (size_t i = 0; i < f->count; i++) {
    force += f->load[i].x + f->mass[i] * f->V[i].x / dt;
    extra += f->mass[i];
  }
  double inertia = s->mass + extra + dt * dt * s->spring;
  if (!(inertia > 0))
    return s->host->fail(s->host->ctx, MN_FAILED, "a piston of %g kg cannot move", s->mass);
  s->v_next = (s->mass * s->v - dt * s->spring * s->x + dt * force) / inertia;
  s->x_next = s->x + dt * s->v_next;
  place(s, f, s->x_next, s->v_next);
  report->reason = MN_CONVERGED;
  report->iterations = 1;
  return MN_OK;
}

static mn_status commit(void *self)
{
  piston *s = self;
  s->x = s->x_next;
  s->v = s->v_next;
  return MN_OK;
}

static mn_status save(void *self)
{
  piston *s = self;
  s->x_saved = s->x;
  s->v_saved = s->v;
  return MN_OK;
}

static mn_status restore(void *self)
{
  piston *s = self;
  s->x = s->x_saved;
  s->v = s->v_saved;
  return MN_OK;
}

/* What a checkpoint must hold. */
static int arrays(void *self, mn_array *list, int capacity)
{
  piston *s = self;
  if (capacity > 0)
    list[0] = (mn_array){"plugin_piston_x", MN_F64, 1, {1}, &s->x, 0};
  if (capacity > 1)
    list[1] = (mn_array){"plugin_piston_v", MN_F64, 1, {1}, &s->v, 0};
  return 2;
}

/* The faces reach beyond the duct's walls by half its width, so that nothing passes. */
static mn_status sample(void *self, double spacing, size_t *count, size_t *elements)
{
  piston *s = self;
  s->across = (size_t)ceil(2 * s->width / spacing) + 1;
  *count = *elements = 2 * s->across;
  return MN_OK;
}

/* Segments with the fluid on their right, seen along their direction. */
static mn_status look(void *self, mn_interface *f)
{
  piston *s = self;
  place(s, f, s->x, s->v);
  for (size_t i = 0; i < f->count; i++) {
    f->body[i] = 0;
    f->two_sided[i] = 0;
    f->rigid[i] = 1;
    f->element[2 * i] = (uint32_t)i;
    f->element[2 * i + 1] = (uint32_t)((i + 1) % f->count);
  }
  return MN_OK;
}

static const mn_solid_ops ops = {
    .name = "spring piston",
    .destroy = destroy,
    .max_dt = max_dt,
    .begin = begin,
    .solve = solve,
    .commit = commit,
    .save = save,
    .restore = restore,
    .arrays = arrays,
    .sample = sample,
    .look = look,
};

static mn_status make_solid(const mn_plugin_host *host, mn_solid *solid)
{
  if (host->dim != 2)
    return host->fail(host->ctx, MN_BAD_INPUT, "this piston is for two dimensions");
  piston *s = calloc(1, sizeof *s);
  if (!s)
    return host->fail(host->ctx, MN_ENVIRONMENT, "out of memory: a piston");
  s->host = host;
  s->mass = host->number(host, "mass", 1);
  s->spring = host->number(host, "spring", 0);
  s->half = 0.5 * host->number(host, "thickness", 4 * host->dx);
  s->middle = host->origin.x + 0.5 * host->size.x;
  s->width = host->size.y;
  s->v = host->number(host, "velocity", 0);
  *solid = (mn_solid){&ops, s};
  return MN_OK;
}

const mn_plugin *mn_plugin_get(void)
{
  static const mn_plugin plugin = {.version = MN_PLUGIN_VERSION, .make_solid = make_solid};
  return &plugin;
}
