#include "mac_case.h"

#include <math.h>
#include <string.h>

void mac_case_begin(mac_case *c, int dim, mn_vec3 size, int nx)
{
  memset(c, 0, sizeof *c);
  c->ctx = check_context(1);
  c->def = mn_model_def_default();
  mn_domain_def *d = &c->def.domain;
  d->dim = dim;
  d->size = size;
  double dx = size.x / nx;
  for (int a = 0; a < 3; a++)
    d->cells[a] = a < dim ? (int)lround(size.v[a] / dx) : 1;
  for (int s = 0; s < 6; s++)
    d->side[s].kind = MN_SIDE_SLIP;
  c->def.fluid.density = 1;
  c->def.fluid.gravity = mn_v3(0, 0, 0);
  c->def.fluid.pressure_tolerance = 1e-11;
}

void mac_case_start(mac_case *c)
{
  CHECK_OK(c->ctx, mn_mac_create(c->ctx, &c->def, &c->fluid));
}

static void step(mac_case *c, double dt)
{
  const mn_fluid_ops *ops = c->fluid.ops;
  CHECK_OK(c->ctx, ops->begin(c->fluid.self, c->time, dt));
  CHECK_OK(c->ctx, ops->solve(c->fluid.self, NULL, &c->report));
  CHECK_OK(c->ctx, ops->commit(c->fluid.self));
  c->worst_divergence = check_worst(c->worst_divergence, c->report.divergence);
  c->time += dt;
  c->steps++;
}

void mac_case_run(mac_case *c, double until, double dt)
{
  int n = (int)ceil((until - c->time) / dt - 1e-9);
  double each = (until - c->time) / n;
  for (int i = 0; i < n; i++)
    step(c, each);
}

void mac_case_run_cfl(mac_case *c, double until)
{
  while (c->time < until - 1e-12) {
    double dt = fmin(c->fluid.ops->max_dt(c->fluid.self), until - c->time);
    step(c, dt);
  }
}

void mac_case_end(mac_case *c)
{
  if (c->fluid.ops)
    c->fluid.ops->destroy(c->fluid.self);
  mn_model_def_release(&c->def);
  mn_context_destroy(&c->ctx);
}

void mac_case_error(const mac_case *c, exact_fn *exact, double *l2, double *linf)
{
  mn_mac_view v = mn_mac_look(&c->fluid);
  double sum = 0;
  size_t count = 0;
  *linf = 0;
  for (int a = 0; a < v.grid->dim; a++) {
    const mn_field *u = &v.velocity[a];
    for (int k = 0; k < u->n[2]; k++)
      for (int j = 0; j < u->n[1]; j++)
        for (int i = 0; i < u->n[0]; i++) {
          double e = mn_get(u, i, j, k) - exact(mn_position(u, i, j, k), c->time).v[a];
          sum += e * e;
          *linf = check_worst(*linf, fabs(e));
          count++;
        }
  }
  *l2 = sqrt(sum / (double)count);
}
