/* Couples two models of your own, without a grid or a scene: a light flap on a spring and water
   that sloshes. Neither knows the other; mn_rmi finds the position and the force on which they
   agree.

   cc rmi_alone.c $(pkg-config --cflags --libs --static meniscus) */
#include <meniscus/rmi.h>
#include <stdio.h>

/* Water: a force against acceleration (its added mass) and sloshing modes. */
typedef struct water {
  double dt, flap, flap_speed, height[3], speed[3], next[3];
} water;

static mn_status push(void *user, const double *x, double *p)
{
  water *w = user;
  double dt = w->dt, speed = (x[0] - w->flap) / dt;
  p[0] = -5 * (speed - w->flap_speed) / dt;
  for (int i = 0; i < 3; i++) { /* implicit Euler of height'' + (i+1) height = flap speed */
    double k = i + 1.0;
    w->next[i] = (w->height[i] + dt * w->speed[i] + dt * dt * speed) / (1 + dt * dt * k);
    p[0] -= k * w->next[i];
  }
  return MN_OK;
}

/* Flap: 0.1 kg on a spring, implicit Euler, driven from outside during the first second. */
typedef struct flap {
  double dt, x, v, drive;
} flap;

static mn_status swing(void *user, const double *p, const double *x_at, double *x)
{
  flap *f = user;
  (void)x_at;
  double mass = 0.1, spring = 4, free = f->x + f->dt * f->v;
  x[0] = (mass * free + f->dt * f->dt * (p[0] + f->drive)) / (mass + f->dt * f->dt * spring);
  return MN_OK;
}

int main(void)
{
  mn_context_def context_def = mn_context_def_default();
  mn_rmi_def def = mn_rmi_def_default();
  def.x_size = def.p_size = 1;
  def.tolerance = 1e-8; /* m */
  water w = {.dt = 0.05};
  flap f = {.dt = 0.05};
  mn_rmi *rmi = NULL;
  mn_context *ctx = NULL;
  mn_status status = mn_context_create(&context_def, &ctx);
  if (status == MN_OK)
    status = mn_rmi_create(ctx, &def, &rmi);
  puts("time s   flap m     force N    fluid solves   added mass ratio");
  for (int step = 0; status == MN_OK && step < 60; step++) {
    double x, p;
    mn_rmi_report r;
    f.drive = step < 20;
    status = mn_rmi_step(rmi, f.dt, &f.x, push, &w, swing, &f, &x, &p, &r);
    if (status == MN_OK)
      status = mn_rmi_accept(rmi); /* fails, and says so, if the step did not converge */
    if (status != MN_OK)
      break;
    for (int i = 0; i < 3; i++) {
      w.speed[i] = (w.next[i] - w.height[i]) / w.dt;
      w.height[i] = w.next[i];
    }
    f.v = w.flap_speed = (x - f.x) / f.dt;
    f.x = w.flap = x;
    if (step % 10 == 9)
      printf("%4.1f %12.5f %10.4f %8d %16.1f\n", (step + 1) * f.dt, x, p, r.iterations, r.mu);
  }
  if (status != MN_OK)
    fprintf(stderr, "%s\n", ctx ? mn_context_message(ctx) : "out of memory");
  mn_rmi_destroy(&rmi);
  mn_context_destroy(&ctx);
  return status;
}
