/* Fluid in closed regions only (outside = "empty"): exact columns, weights and translations. */
#include "body_case.h"
#include "fluid/mac/internal.h"
#include "mac_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static mn_enclosed ask(mac_case *c, const mn_interface *f)
{
  mn_enclosed e = {0};
  CHECK_OK(c->ctx, c->fluid.ops->enclose(c->fluid.self, f, &e));
  return e;
}

static void begin(mac_case *c, mn_interface *f, double dt)
{
  CHECK_OK(c->ctx, c->fluid.ops->begin(c->fluid.self, c->time, dt));
  (void)ask(c, f);
}

static void solve(mac_case *c, mn_interface *f)
{
  CHECK_OK(c->ctx, c->fluid.ops->solve(c->fluid.self, f, &c->report));
}

/* Two plates across a duct that is open at both ends. */
static void plates(mn_context *ctx, double x0, double x1, double height, mn_interface *f)
{
  enum { PIECES = 16 };
  CHECK_OK(ctx, mn_interface_create(ctx, 2, 2 * (PIECES + 1), 2 * PIECES, f));
  f->impulse = f->frozen = 1;
  for (uint32_t p = 0; p < 2; p++)
    for (uint32_t i = 0; i <= PIECES; i++) {
      uint32_t n = p * (PIECES + 1) + i;
      f->X[n] = mn_v3(p ? x1 : x0, (1.2 * i / PIECES - 0.1) * height, 0);
      f->N[n] = mn_v3(1, 0, 0);
      f->body[n] = (int)p;
      f->two_sided[n] = f->rigid[n] = 1;
      if (i < PIECES) {
        f->element[2 * (p * PIECES + i)] = n;
        f->element[2 * (p * PIECES + i) + 1] = n + 1;
      }
    }
}

/* -force / acceleration of both plates, over the mass between them. */
static double column(double x0, double x1, mn_outside outside)
{
  mac_case c;
  mn_interface f;
  const double dt = 0.01, speed = 1e-3, height = 0.5;
  mac_case_begin(&c, 2, mn_v3(2, height, 0), 16);
  c.def.domain.side[0].kind = c.def.domain.side[1].kind = MN_SIDE_OPEN;
  c.def.fluid.density = 3;
  c.def.fluid.outside = outside;
  c.def.fluid.pressure_tolerance = 1e-13;
  mac_case_start(&c);
  plates(c.ctx, x0, x1, height, &f);
  CHECK_OK(c.ctx, c.fluid.ops->meet(c.fluid.self, &f));
  begin(&c, &f, dt);
  double force = 0;
  for (size_t i = 0; i < f.count; i++)
    f.V[i] = mn_v3(speed, 0, 0);
  solve(&c, &f);
  for (size_t i = 0; i < f.count; i++)
    force += f.load[i].x;
  mn_interface_destroy(&f);
  mac_case_end(&c);
  return -force * dt / speed / (3 * height * (x1 - x0));
}

static void test_column(void **state)
{
  (void)state;
  double worst = 0;
  for (int n = 0; n < 9; n++)
    worst = check_worst(
        worst,
        fabs(column(2 * (4 + 0.125 * n) / 16, 2 * (11 + 0.09 * n) / 16, MN_OUTSIDE_EMPTY) - 1));
  CHECK_LE(worst, 1e-10);
  CHECK_DONE();
  CHECK_NEAR(column(0.53, 1.41, MN_OUTSIDE_FLUID), 1, 1e-2);
  CHECK_MUST_HAVE_FAILED();
}

/* A piston that is held over fluid with weight: with mean 0 the pressure below it is -rho g H/2; on
   top is nothing, or the weight of what is there. */
static void test_weight(void **state)
{
  (void)state;
  const double W = 0.6, H = 0.47, h = 0.15, top = 1.2, rho = 2, g = 9.8;
  for (int empty = 0; empty < 2; empty++) {
    mac_case c;
    body_case b;
    mac_case_begin(&c, 2, mn_v3(W, top, 0), 24);
    c.def.domain.side[3].kind = MN_SIDE_OPEN;
    c.def.fluid.gravity = mn_v3(0, -g, 0);
    c.def.fluid.density = rho;
    c.def.fluid.outside = empty ? MN_OUTSIDE_EMPTY : MN_OUTSIDE_FLUID;
    mac_case_start(&c);
    body_box(&b, c.ctx, 2, mn_v3(W, h, 0), 0.02);
    body_put(&b, mn_v3(W / 2, H + h / 2, 0), 0, mn_v3(0, 0, 0), 0);
    CHECK_OK(c.ctx, c.fluid.ops->meet(c.fluid.self, &b.face));
    for (int step = 0; step < 3; step++) {
      begin(&c, &b.face, 0.01);
      solve(&c, &b.face);
      double above = empty ? 0 : rho * g * (top - H - h) * W;
      CHECK_NEAR(body_force(&b).y, -rho * g * H / 2 * W - above, 1e-9);
      CHECK_NEAR(body_force(&b).x, 0, 1e-9);
      const double p0 = 50;
      CHECK_OK(c.ctx, c.fluid.ops->lift(c.fluid.self, &p0, 1));
      CHECK_OK(c.ctx, c.fluid.ops->commit(c.fluid.self));
      c.time += 0.01;
    }
    /* what is shown: p0 in the middle, its weight below; nothing outside */
    mn_mac_view v = mn_mac_look(&c.fluid);
    double y = mn_position(v.pressure, 3, 2, 0).y;
    CHECK_NEAR(mn_get(v.pressure, 3, 2, 0), 50 + rho * g * (H / 2 - y), 2e-3 * rho * g);
    if (empty)
      CHECK_NEAR(mn_get(v.pressure, 3, 40, 0), 0, 0);
    body_destroy(&b);
    mac_case_end(&c);
  }
  CHECK_DONE();
}

static void make_ring(body_case *b, mac_case *c, int dim)
{
  if (dim == 2)
    body_disk(b, c->ctx, 0.25, 90);
  else
    body_ball(b, c->ctx, 0.27, 3);
  for (size_t i = 0; i < b->face.count; i++)
    b->face.two_sided[i] = 1;
}

/* A shell that goes steadily, full of smoke: what is in it goes along, all of it and unmixed. */
static void carry(int dim, int order, int see_through, double *smoke, double *speed)
{
  mac_case c;
  body_case b;
  int steps = dim == 2 ? 40 : 10;
  const double dt = 0.01;
  const mn_vec3 v = mn_v3(0.9, dim == 3 ? -0.4 : -0.5, dim == 3 ? 0.6 : 0);
  mac_case_begin(&c, dim, mn_v3(1, 1, dim == 3 ? 1 : 0), dim == 2 ? 32 : 16);
  for (int s = 0; s < 2 * dim; s++)
    c.def.domain.side[s].kind = MN_SIDE_OPEN;
  c.def.fluid.outside = MN_OUTSIDE_EMPTY;
  c.def.fluid.order = order;
  c.def.fluid.initial_smoke.value.x = 1;
  c.def.fluid.initial_velocity.value = v;
  mac_case_start(&c);
  mn_mac *mac = c.fluid.self;
  mac->shell.see_through = see_through;
  make_ring(&b, &c, dim);
  mn_vec3 x = mn_v3(0.33, 0.63, dim == 3 ? 0.4 : 0);
  body_put(&b, x, 0, v, 0);
  CHECK_OK(c.ctx, c.fluid.ops->meet(c.fluid.self, &b.face));
  *smoke = *speed = 0;
  for (int step = 0; step < steps; step++) {
    x = mn_madd(x, dt, v);
    CHECK_OK(c.ctx, c.fluid.ops->begin(c.fluid.self, c.time, dt));
    body_put(&b, x, 0, v, 0);
    mn_enclosed e = ask(&c, &b.face);
    CHECK(e.count == 1);
    solve(&c, &b.face);
    CHECK_OK(c.ctx, c.fluid.ops->commit(c.fluid.self));
    c.time += dt;
    mn_mac_view view = mn_mac_look(&c.fluid);
    const mn_field *f = view.smoke;
    for (int k = 0; k < f->n[2]; k++)
      for (int j = 0; j < f->n[1]; j++)
        for (int i = 0; i < f->n[0]; i++) {
          int live = mn_get(view.volume, i, j, k) > 0;
          *smoke = check_worst(*smoke, fabs(mn_get(f, i, j, k) - live));
          for (int a = 0; a < dim && live; a++)
            if (mn_get(&view.open[a], i, j, k) > 0)
              *speed = check_worst(*speed, fabs(mn_get(&view.velocity[a], i, j, k) - v.v[a]));
        }
  }
  body_destroy(&b);
  mac_case_end(&c);
}

static void test_carry(void **state)
{
  (void)state;
  double smoke, speed;
  for (int dim = 2; dim <= 3; dim++)
    for (int order = 1; order <= 2; order++) {
      carry(dim, order, 0, &smoke, &speed);
      printf("%dD, order %d: smoke off by %.1e, velocity by %.1e m/s\n", dim, order, smoke, speed);
      CHECK_LE(smoke, 1e-12);
      CHECK_LE(speed, 1e-7);
    }
  CHECK_DONE();
  carry(2, 1, 1, &smoke, &speed); /* as if the shell were no barrier to what is carried */
  CHECK_LE(smoke, 1e-12);
  CHECK_LE(speed, 1e-7);
  CHECK_MUST_HAVE_FAILED();
}

/* Nothing enclosed: refused. */
static void test_refused(void **state)
{
  (void)state;
  mac_case c;
  mn_interface f;
  mac_case_begin(&c, 2, mn_v3(2, 0.5, 0), 16);
  c.def.domain.side[0].kind = c.def.domain.side[1].kind = c.def.domain.side[3].kind = MN_SIDE_OPEN;
  c.def.fluid.outside = MN_OUTSIDE_EMPTY;
  mac_case_start(&c);
  plates(c.ctx, 0.5, 1.5, 0.5, &f);
  CHECK_FAILS(c.ctx, c.fluid.ops->meet(c.fluid.self, &f), MN_BAD_INPUT, "enclose no fluid");
  mn_interface_destroy(&f);
  mac_case_end(&c);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_column), cmocka_unit_test(test_weight),
                                     cmocka_unit_test(test_carry), cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
