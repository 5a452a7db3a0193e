/* Advection alone: a bump carried round by a rigid rotation comes back as it was. */
#include "mac_case.h"

#include <math.h>
#include <stdio.h>

#include "fluid/mac/internal.h"
#include "fluid/mac/trace.h"

static double bump(mn_vec3 x)
{
  double r2 = (x.x - 0.5) * (x.x - 0.5) + (x.y - 0.7) * (x.y - 0.7);
  return exp(-r2 / (2 * 0.1 * 0.1));
}

typedef struct outcome {
  double l1, low, high;
} outcome;

static outcome turn(int n, int dim, mn_advection method, int limiter, int box)
{
  mac_case c;
  mac_case_begin(&c, dim, mn_v3(1, 1, dim == 3 ? 0.25 : 0), n);
  c.def.fluid.advection = method;
  c.def.fluid.limiter = limiter;
  mac_case_start(&c);
  mn_mac *mac = c.fluid.self;
  for (int a = 0; a < dim; a++) {
    mn_field *u = &mac->trace[a];
    for (int k = 0; k < u->n[2]; k++)
      for (int j = 0; j < u->n[1]; j++)
        for (int i = 0; i < u->n[0]; i++) {
          mn_vec3 x = mn_position(u, i, j, k);
          mn_set(u, i, j, k, a == 0 ? 0.5 - x.y : a == 1 ? x.x - 0.5 : 0);
        }
    mn_mac_fill_cells(u);
  }
  mn_field *s = &mac->state.smoke, *to = &mac->smoke_next;
  for (int k = 0; k < s->n[2]; k++)
    for (int j = 0; j < s->n[1]; j++)
      for (int i = 0; i < s->n[0]; i++) {
        mn_vec3 x = mn_position(s, i, j, k);
        mn_set(s, i, j, k, box ? fabs(x.x - 0.5) < 0.1 && fabs(x.y - 0.7) < 0.1 : bump(x));
      }
  mn_mac_fill_cells(s);
  int steps = 4 * n;
  outcome r = {0};
  for (int i = 0; i < steps; i++) {
    mn_mac_advect(mac, 2 * MN_PI / steps, s, NULL, to);
    mn_mac_fill_cells(to);
    mn_field_copy(s, to);
  }
  for (int k = 0; k < s->n[2]; k++)
    for (int j = 0; j < s->n[1]; j++)
      for (int i = 0; i < s->n[0]; i++) {
        double v = mn_get(s, i, j, k);
        r.l1 += fabs(v - bump(mn_position(s, i, j, k))) / (n * n * s->n[2]);
        r.low = fmin(r.low, v);
        r.high = check_worst(r.high, v);
      }
  mac_case_end(&c);
  return r;
}

static void check_orders(mn_advection method, int limiter, double order, int dim)
{
  double h[3], error[3];
  for (int i = 0; i < 3; i++) {
    int n = (dim == 3 ? 20 : 32) << i;
    h[i] = 1.0 / n;
    error[i] = turn(n, dim, method, limiter, 0).l1;
  }
  CHECK_ORDER(h, error, 3, order, 0.2);
}

static void test_orders(void **state)
{
  (void)state;
  check_orders(MN_ADVECT_MACCORMACK, 0, 2, 2);
  check_orders(MN_ADVECT_MACCORMACK, 1, 2, 2);
  CHECK_DONE();
  check_orders(MN_ADVECT_SEMILAGRANGIAN, 1, 2, 2); /* first order only */
  CHECK_MUST_HAVE_FAILED();
}

static void test_limiter_keeps_the_bounds(void **state)
{
  (void)state;
  outcome r = turn(48, 2, MN_ADVECT_MACCORMACK, 1, 1);
  CHECK_GE(r.low, 0);
  CHECK_LE(r.high, 1);
  CHECK_DONE();
  r = turn(48, 2, MN_ADVECT_MACCORMACK, 0, 1);
  CHECK_GE(r.low, 0);
  CHECK_LE(r.high, 1);
  CHECK_MUST_HAVE_FAILED();
}

static void test_three_dimensions_agree_with_two(void **state)
{
  (void)state;
  double two = turn(32, 2, MN_ADVECT_MACCORMACK, 1, 0).l1;
  CHECK_NEAR(turn(32, 3, MN_ADVECT_MACCORMACK, 1, 0).l1, two, 1e-12);
  CHECK_DONE();
}

/* The plain version of a path and a sample. */
static mn_vec3 path_ref(const mn_field u[3], mn_vec3 x, double dt)
{
  mn_vec3 k1 = mn_sample_velocity(u, x);
  mn_vec3 k2 = mn_sample_velocity(u, mn_madd(x, -0.5 * dt, k1));
  mn_vec3 k3 = mn_sample_velocity(u, mn_madd(x, -0.75 * dt, k2));
  mn_vec3 k = mn_add(mn_add(mn_scale(2, k1), mn_scale(3, k2)), mn_scale(4, k3));
  return mn_madd(x, -dt / 9, k);
}

static void test_index_space_agrees_with_the_plain_version(void **state)
{
  (void)state;
  uint64_t seed = 3;
  for (int dim = 2; dim <= 3; dim++) {
    mac_case c;
    mac_case_begin(&c, dim, mn_v3(1, 0.75, dim == 3 ? 0.5 : 0), 12);
    c.def.domain.origin = mn_v3(-0.3, 0.2, dim == 3 ? 0.1 : 0);
    mac_case_start(&c);
    mn_mac *mac = c.fluid.self;
    const mn_grid *g = &mac->grid;
    for (int a = 0; a < dim; a++)
      for (size_t q = 0; q < mac->trace[a].size; q++)
        mac->trace[a].data[q] = check_random(&seed) - 0.5;
    double dt = 0.3, worst = 0;
    mn_tracer t = mn_tracer_make(mac->trace, dt);
    for (int n = 0; n < 2000; n++) {
      mn_vec3 cells = mn_v3(0, 0, 0), x = g->origin;
      for (int a = 0; a < dim; a++) {
        cells.v[a] = (1.2 * check_random(&seed) - 0.1) * g->n[a];
        x.v[a] += g->dx * cells.v[a];
      }
      mn_vec3 k1 = mn_tracer_velocity(&t, cells, dim);
      mn_vec3 fast = mn_tracer_path(&t, cells, k1, dim), plain = path_ref(mac->trace, x, dt);
      for (int a = 0; a < dim; a++)
        worst = check_worst(worst, fabs(g->origin.v[a] + g->dx * fast.v[a] - plain.v[a]));
      for (int a = 0; a < dim; a++) {
        double lo, hi, lo_ref, hi_ref;
        double v = mn_tracer_sample_range(&t, &mac->trace[a], cells, &lo, &hi, dim);
        worst = check_worst(worst, fabs(v - mn_sample_range(&mac->trace[a], x, &lo_ref, &hi_ref)));
        worst = check_worst(worst, fabs(v - mn_tracer_sample(&t, &mac->trace[a], cells, dim)));
      }
    }
    for (int place = 0; place < dim + 1; place++) {
      mn_place at = place < dim ? (mn_place)place : MN_CELL;
      mn_vec3 x =
          mn_v3(4 + mn_offset(at, 0), 3 + mn_offset(at, 1), dim == 3 ? 2 + mn_offset(at, 2) : 0);
      mn_vec3 u = mn_tracer_velocity(&t, x, dim),
              mean = mn_tracer_velocity_at(&t, at, 4, 3, dim == 3 ? 2 : 0, dim);
      worst = check_worst(worst, mn_length(mn_sub(u, mean)));
    }
    CHECK_LE(worst, 1e-13);
    mac_case_end(&c);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_orders),
      cmocka_unit_test(test_limiter_keeps_the_bounds),
      cmocka_unit_test(test_three_dimensions_agree_with_two),
      cmocka_unit_test(test_index_space_agrees_with_the_plain_version),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
