/* Probes: scalars of the state asked for by the scene. Sums here run on one thread, in the order of
   the cells. */
#include <math.h>
#include <string.h>

#include "grid/grid.h"
#include "math/motion.h"
#include "world/world.h"

/* dx^2 in 3D; in 2D per metre of depth */
static double face_area(const mn_grid *g)
{
  return g->dim == 3 ? g->dx * g->dx : g->dx;
}

/* Part of the face (i, j, k) across `axis` that liquid wets: exact where the surface is along the
   grid, else right to second order. */
static double wet_part(const mn_field *liquid, int axis, int i, int j, int k)
{
  int at[3] = {i, j, k};
  int64_t c = mn_index(liquid, i, j, k);
  double above = liquid->at[at[axis] < liquid->n[axis] ? c : c - liquid->stride[axis]];
  double below = at[axis] > 0 ? liquid->at[c - liquid->stride[axis]] : above;
  return mn_clamp(0.5 - 0.5 * (below + above) / liquid->grid->dx, 0, 1);
}

/* Q = sum of w u A over the faces of the grid plane nearest to `position`; of water, what is wet of
   them: velocities go on into the air. */
static double flux(const mn_mac_view *view, const mn_probe_def *probe)
{
  const mn_grid *g = view->grid;
  int a = probe->axis, first[3] = {0}, last[3];
  double plane = floor((probe->position - g->origin.v[a]) / g->dx + 0.5);
  const mn_field *u = &view->velocity[a], *open = &view->open[a];
  for (int b = 0; b < 3; b++)
    last[b] = u->n[b] - 1;
  first[a] = last[a] = (int)mn_clamp(plane, 0, u->n[a] - 1);
  double sum = 0;
  for (int k = first[2]; k <= last[2]; k++)
    for (int j = first[1]; j <= last[1]; j++)
      for (int i = first[0]; i <= last[0]; i++)
        if (!probe->shape || mn_shape_distance(probe->shape, mn_position(u, i, j, k)) <= 0)
          sum += mn_get(open, i, j, k) * mn_get(u, i, j, k) *
                 (view->liquid ? wet_part(view->liquid, a, i, j, k) : 1);
  return sum * face_area(g);
}

/* Part of a cell inside a solid: its distance at the centre over a cell's width, a second-order
   measure of volume for smooth surfaces. */
static double solid_volume(const mn_world *w, const mn_solid_def *solid)
{
  const mn_domain_def *d = &w->def->domain;
  double dx = d->size.x / d->cells[0], sum = 0;
  for (int k = 0; k < d->cells[2]; k++)
    for (int j = 0; j < d->cells[1]; j++)
      for (int i = 0; i < d->cells[0]; i++) {
        mn_vec3 x = mn_madd(d->origin, dx, mn_v3(i + 0.5, j + 0.5, k + 0.5));
        if (d->dim == 2)
          x.z = 0;
        if (solid->moving)
          x = mn_motion_rest(&solid->motion, w->clock.time, x);
        sum += mn_clamp(0.5 - mn_shape_distance(solid->shape, x) / dx, 0, 1);
      }
  return sum * pow(dx, d->dim);
}

static double volume(const mn_world *w, const char *of)
{
  if (!strcmp(of, "fluid"))
    return w->totals.volume;
  if (!strcmp(of, "smoke"))
    return w->totals.smoke;
  for (int i = 0; i < w->def->solid_count; i++)
    if (!strcmp(of, w->def->solids[i].name))
      return solid_volume(w, &w->def->solids[i]);
  mn_probe_def of_body = {.kind = MN_PROBE_VOLUME};
  memcpy(of_body.of, of, MN_NAME_MAX);
  if (w->bodies)
    return mn_bodies_probe(w->bodies, &of_body);
  return NAN; /* the model was checked: not reached */
}

/* Of a plug-in: mean over its surface. */
static double surface_mean(const mn_world *w, const mn_probe_def *p)
{
  const mn_interface *f = w->coupling ? mn_coupling_interface(w->coupling) : NULL;
  double sum = 0, area = 0;
  for (size_t i = 0; f && i < f->count; i++) {
    mn_vec3 v = p->kind == MN_PROBE_POSITION ? f->X[i] : f->V[i];
    sum += f->area[i] * v.v[p->axis];
    area += f->area[i];
  }
  return area > 0 ? sum / area : NAN;
}

double mn_world_probe(const mn_world *w, int index)
{
  if (index < 0 || index >= w->def->probe_count)
    return NAN;
  const mn_probe_def *p = &w->def->probes[index];
  if (p->kind == MN_PROBE_VOLUME)
    return volume(w, p->of);
  if (p->kind >= MN_PROBE_POSITION)
    return w->bodies ? mn_bodies_probe(w->bodies, p) : surface_mean(w, p);
  if (!w->on_grid)
    return NAN;
  mn_mac_view view = mn_mac_look(&w->fluid);
  switch (p->kind) {
  case MN_PROBE_PRESSURE:
    return mn_sample(view.pressure, p->at);
  case MN_PROBE_VELOCITY: {
    mn_vec3 u = mn_sample_velocity(view.velocity, p->at);
    return p->axis < 0 ? mn_length(u) : u.v[p->axis];
  }
  case MN_PROBE_SMOKE:
    return view.smoke ? mn_sample(view.smoke, p->at) : NAN;
  case MN_PROBE_TEMPERATURE:
    return view.temperature ? mn_sample(view.temperature, p->at) : NAN;
  case MN_PROBE_KINETIC_ENERGY:
    return w->totals.kinetic_energy;
  case MN_PROBE_FLUX:
    return flux(&view, p);
  case MN_PROBE_DIVERGENCE:
    return w->totals.divergence;
  default:
    break;
  }
  return NAN;
}
