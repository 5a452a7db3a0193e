/* What limits a substep, and when a wall has jumped: how fast walls, sources and solids are driven.

   The step is the one in which nothing moves further than `cfl` cells: the fluid at its present
   speed, what drives it at its greatest speed until a frame later (a pulse between two frames
   counts), and a fall through one cell. Verified by tests/verify/test_moving_solid.c. */
#include "fluid/mac/internal.h"

#include <math.h>

static double greatest(const mn_mac *mac, const mn_field *f, double minus)
{
  int slabs = mn_slabs(f);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(f, s, &k, &j0, &j1);
    double most = 0;
    for (int j = j0; j < j1; j++)
      for (int64_t q = mn_index(f, 0, j, k); q < mn_index(f, f->n[0], j, k); q++)
        most = fmax(most, fabs(f->at[q] - minus));
    mac->slab[s] = most;
  }
  return mn_reduce(mac->grid.exec, MN_MAX, mac->slab, slabs);
}

/* The greatest speed of walls, sources and solids between now and a frame later. */
static double driven_speed(const mn_mac *mac)
{
  const mn_model_def *def = mac->def;
  double t = mac->state.scalars[0], ahead = t + def->output.every, fastest = 0, value, rate;
  for (int side = 0; side < 2 * def->domain.dim; side++) {
    const mn_side_def *s = &def->domain.side[side];
    mn_timefn_bounds(&s->ramp, t, ahead, &value, &rate);
    fastest = fmax(fastest, mn_length(s->velocity) * value);
  }
  for (int i = 0; i < def->source_count; i++) {
    const mn_source_def *s = &def->sources[i];
    mn_timefn_bounds(&s->ramp, t, ahead, &value, &rate);
    fastest = fmax(fastest, s->blows ? fmax(mn_length(s->velocity), fabs(s->speed)) * value : 0);
  }
  for (int i = 0; i < def->solid_count; i++) {
    const mn_solid_def *s = &def->solids[i];
    double turning;
    if (!s->moving)
      continue;
    mn_timefn_bounds(&s->motion.path, t, ahead, &value, &rate);
    mn_timefn_bounds(&s->motion.turn, t, ahead, &value, &turning);
    fastest =
        fmax(fastest, mn_length(s->motion.translate) * rate + mn_mac_solid_reach(mac, i) * turning);
  }
  return fastest;
}

double mn_mac_max_dt(void *self)
{
  mn_mac *mac = self;
  const mn_fluid_def *fluid = &mac->def->fluid;
  double speed = fmax(driven_speed(mac), mn_mac_bodies_speed(mac));
  for (int a = 0; a < mac->grid.dim; a++)
    speed = fmax(speed, greatest(mac, &mac->state.u[a], 0));
  double g = mn_length(fluid->gravity);
  double push = mn_length(fluid->body_force) / fluid->density +
                (mac->def->fluid.kind == MN_FLUID_WATER ? g : 0);
  if (mac->state.smoke.data && fluid->smoke_weight != 0)
    push += g * fabs(fluid->smoke_weight) * greatest(mac, &mac->state.smoke, 0);
  if (mac->state.temperature.data && fluid->expansion != 0)
    push += g * fabs(fluid->expansion) * greatest(mac, &mac->state.temperature, fluid->ambient);
  speed += sqrt(mac->grid.dx * push); /* what a fall through one cell adds */
  return speed > 0 ? fluid->cfl * mac->grid.dx / speed : INFINITY;
}

/* A wall whose velocity changes by more than this part of the greatest speed in one step has
 * jumped. */
static const double JUMP = 0.25;

/* How much the walls' velocities changed from the last substep to this one, m/s. A jump acts like a
   blow: its pressure is an impulse of this step alone, and carried into the next it would create
   motion from nothing (a plate that stopped, and 24 % more energy one step later). */
static double wall_jump(const mn_mac *mac)
{
  const mn_model_def *def = mac->def;
  double t = mac->geometry.time, dt = mac->dt, start = t - dt, last = mac->state.scalars[1],
         most = mn_mac_bodies_jump(mac);
  for (int i = 0; i < def->source_count; i++) {
    const mn_source_def *s = &def->sources[i];
    double change = mn_timefn_eval(&s->ramp, t) - mn_timefn_eval(&s->ramp, start);
    if (s->blows)
      most = fmax(most, fmax(mn_length(s->velocity), fabs(s->speed)) * fabs(change));
  }
  for (int i = 0; i < def->solid_count; i++) {
    const mn_solid_def *s = &def->solids[i];
    if (!s->moving)
      continue;
    double before[2], now[2];
    const mn_timefn *f[2] = {&s->motion.path, &s->motion.turn};
    for (int n = 0; n < 2; n++) {
      double here = mn_timefn_eval(f[n], start);
      now[n] = (mn_timefn_eval(f[n], t) - here) / dt;
      before[n] = last > 0 ? (here - mn_timefn_eval(f[n], start - last)) / last
                           : mn_timefn_rate(f[n], start);
    }
    most = fmax(most, mn_length(s->motion.translate) * fabs(now[0] - before[0]) +
                          mn_mac_solid_reach(mac, i) * fabs(now[1] - before[1]));
  }
  return most;
}

int mn_mac_wall_jumped(const mn_mac *mac)
{
  return wall_jump(mac) > JUMP * mac->speed;
}
