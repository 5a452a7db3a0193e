/* Bodies that the fluid cannot see well, said once each: smaller or thinner than a cell, or out of
   the domain. Seen through the interface alone, so that plug-ins are watched as well. A resumed run
   says it again. Verified by tests/unit/world/test_watch.c. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/vec.h"
#include "world/world.h"

/* A closed body is thin if twice its volume over its surface, which is the thickness of a plate and
   the radius of a disk, is below this part of a cell. */
static const double THIN = 0.5;

typedef struct extent {
  size_t points;
  int two_sided;
  mn_vec3 lo, hi;
  double volume, area;
} extent;

struct mn_watch {
  int count; /* bodies of the interface */
  extent *of;
  int *gone; /* 1: it was told that it left, or started outside */
};

static double part_of_volume(const mn_interface *f, size_t e)
{
  const uint32_t *p = f->element + (size_t)f->dim * e;
  mn_vec3 a = f->X[p[0]], b = f->X[p[1]];
  return f->dim == 2 ? 0.5 * (a.x * b.y - a.y * b.x) : mn_dot(a, mn_cross(b, f->X[p[2]])) / 6;
}

static void measure(const mn_interface *f, int count, extent *of)
{
  for (int b = 0; b < count; b++)
    of[b] =
        (extent){.lo = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}}, .hi = {{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}}};
  for (size_t i = 0; i < f->count; i++) {
    extent *x = &of[f->body[i]];
    x->points++;
    x->two_sided |= f->two_sided[i];
    x->area += f->area[i];
    for (int a = 0; a < 3; a++) {
      x->lo.v[a] = mn_min(x->lo.v[a], f->X[i].v[a]);
      x->hi.v[a] = mn_max(x->hi.v[a], f->X[i].v[a]);
    }
  }
  for (size_t e = 0; e < f->elements; e++)
    of[f->body[f->element[(size_t)f->dim * e]]].volume += part_of_volume(f, e);
}

static void label(const mn_world *w, int body, char *text, size_t size)
{
  if (w->bodies)
    mn_bodies_label(w->bodies, body, text, size);
  else
    snprintf(text, size, "body %d of \"%s\"", body + 1, w->solid.ops->name);
}

static void warn_small(const mn_world *w, int body, const extent *x, double dx)
{
  mn_vec3 size = mn_sub(x->hi, x->lo);
  double longest = mn_max(size.x, mn_max(size.y, w->def->domain.dim == 3 ? size.z : 0));
  double thickness = x->two_sided || !(x->area > 0) ? HUGE_VAL : 2 * fabs(x->volume) / x->area;
  char name[96] = "a body";
  if (longest >= dx && thickness >= THIN * dx)
    return;
  label(w, body, name, sizeof name);
  if (longest < dx)
    mn_log(w->ctx, MN_LOG_WARNING,
           "%s is %.2g m long, and a cell is %.2g m wide: the fluid cannot resolve it; take more "
           "cells",
           name, longest, dx);
  else
    mn_log(w->ctx, MN_LOG_WARNING,
           "%s is about %.2g m thick, and a cell is %.2g m wide: the fluid cannot resolve it, and "
           "flows through where it finds no room for it; take more cells, or a thin body (shell, "
           "cloth, rod)",
           name, thickness, dx);
}

/* All of its points beyond one side. */
static int is_outside(const mn_domain_def *d, const extent *x)
{
  for (int a = 0; a < d->dim; a++)
    if (x->lo.v[a] > d->origin.v[a] + d->size.v[a] || x->hi.v[a] < d->origin.v[a])
      return 1;
  return 0;
}

mn_status mn_world_watch_start(mn_world *w)
{
  const mn_interface *f = w->coupling ? mn_coupling_interface(w->coupling) : NULL;
  if (!f || !w->on_grid)
    return MN_OK;
  int count = 0;
  for (size_t i = 0; i < f->count; i++)
    count = f->body[i] >= count ? f->body[i] + 1 : count;
  if ((size_t)count > f->count) /* a plug-in's odd numbers */
    return MN_OK;
  MN_TRY(MN_NEW(w->ctx, "bodies to watch", 1, &w->watch));
  MN_TRY(MN_NEW(w->ctx, "bodies to watch", (size_t)count, &w->watch->of));
  MN_TRY(MN_NEW(w->ctx, "bodies to watch", (size_t)count, &w->watch->gone));
  w->watch->count = count;
  measure(f, count, w->watch->of);
  for (int b = 0; b < count; b++)
    if (w->watch->of[b].points) {
      warn_small(w, b, &w->watch->of[b], w->def->domain.size.x / w->def->domain.cells[0]);
      w->watch->gone[b] = is_outside(&w->def->domain, &w->watch->of[b]);
    }
  return MN_OK;
}

void mn_world_watch(const mn_world *w)
{
  mn_watch *watch = w->watch;
  if (!watch)
    return;
  measure(mn_coupling_interface(w->coupling), watch->count, watch->of);
  for (int b = 0; b < watch->count; b++) {
    int gone = watch->of[b].points && is_outside(&w->def->domain, &watch->of[b]);
    char name[96] = "a body";
    if (gone && !watch->gone[b]) {
      label(w, b, name, sizeof name);
      mn_log(w->ctx, MN_LOG_WARNING,
             "at %.4g s %s has left the domain: outside %s; make the domain larger if it matters",
             w->clock.time, name,
             w->def->fluid.kind == MN_FLUID_SMOKE
                 ? "there is fluid at rest, which carries it but does not resist its motion"
                 : "nothing acts on it but gravity");
    }
    watch->gone[b] = watch->gone[b] || gone;
  }
}

void mn_world_watch_end(mn_world *w)
{
  if (w->watch) {
    mn_free(w->watch->of);
    mn_free(w->watch->gone);
  }
  mn_free(w->watch);
  w->watch = NULL;
}
