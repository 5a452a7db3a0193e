/* Redistancing against a plain solver of the same equations, and against the exact distance. */
#include "water_case.h"

#include <math.h>
#include <string.h>

#include "fluid/mac/internal.h"

static const double REACH = 4; /* cells; as in redistance.c */
enum { FINE = 40 };

static void begin(mac_case *c, int dim, int n)
{
  water_case_begin(c, dim, mn_v3(1, 1, dim == 3 ? 1 : 0), n);
  CHECK_OK(c->ctx, mn_shape_box(c->ctx, dim, mn_v3(-1, -1, -1), mn_v3(2, 0.5, 2),
                                &c->def.fluid.initial_water));
  mac_case_start(c);
}

/* Distance to a ball, cut by the low x side, and to a small one beside it. */
static double two_balls(mn_vec3 x, int dim)
{
  double z = dim == 3 ? x.z - 0.45 : 0;
  mn_vec3 a = mn_v3(x.x - 0.2, x.y - 0.5, z), b = mn_v3(x.x - 0.85, x.y - 0.6, z);
  return fmin(mn_length(a) - 0.3, mn_length(b) - 0.11);
}

static void fill(mn_field *phi, int distorted)
{
  for (int k = 0; k < phi->n[2]; k++)
    for (int j = 0; j < phi->n[1]; j++)
      for (int i = 0; i < phi->n[0]; i++) {
        mn_vec3 x = mn_position(phi, i, j, k);
        double d = two_balls(x, phi->grid->dim);
        double far = fabs(d) > 1.1 * phi->grid->dx; /* beside the surface it is right */
        mn_set(phi, i, j, k, distorted && far ? d * (2 + sin(20 * x.x)) : d);
      }
  mn_mac_fill_cells(phi);
}

static int kept(const mn_field *phi, int i, int j, int k)
{
  int at[3] = {i, j, k};
  int64_t q = mn_index(phi, i, j, k);
  for (int a = 0; a < phi->grid->dim; a++)
    for (int up = 0; up < 2; up++)
      if ((up ? at[a] < phi->n[a] - 1 : at[a] > 0) &&
          (phi->at[q + (up ? 1 : -1) * phi->stride[a]] < 0) != (phi->at[q] < 0))
        return 1;
  return 0;
}

/* d with sum over the axes of max(d - m, 0)^2 = dx^2, by bisection. */
static double godunov(const double m[3], int dim, double dx)
{
  double lo = fmin(m[0], dim == 3 ? fmin(m[1], m[2]) : m[1]), hi = lo + dx;
  for (int n = 0; n < 60; n++) {
    double d = 0.5 * (lo + hi), sum = 0;
    for (int a = 0; a < dim; a++)
      sum += d > m[a] ? (d - m[a]) * (d - m[a]) : 0;
    *(sum < dx * dx ? &lo : &hi) = d;
  }
  return 0.5 * (lo + hi);
}

/* |distances| by passes over all cells until nothing changes, without any limit. */
static double *plainly(const mn_field *phi)
{
  double *d = test_malloc(phi->size * sizeof *d);
  int64_t base = phi->at - phi->data;
  int dim = phi->grid->dim, changed = 1;
  for (size_t q = 0; q < phi->size; q++)
    d[q] = INFINITY;
  for (int pass = 0; changed; pass++) {
    changed = 0;
    for (int k = 0; k < phi->n[2]; k++)
      for (int j = 0; j < phi->n[1]; j++)
        for (int i = 0; i < phi->n[0]; i++) {
          int64_t q = base + mn_index(phi, i, j, k);
          if (kept(phi, i, j, k)) {
            d[q] = fabs(phi->data[q]);
            continue;
          }
          double m[3] = {INFINITY, INFINITY, INFINITY};
          for (int a = 0; a < dim; a++)
            m[a] = fmin(d[q - phi->stride[a]], d[q + phi->stride[a]]);
          double value = godunov(m, dim, phi->grid->dx);
          if (pass == 0 || value < d[q] - 1e-14) {
            d[q] = fmin(d[q], value);
            changed = 1;
          }
        }
  }
  return d;
}

/* Greatest difference from `plain` limited to `reach` cells, in cells. */
static double difference(const mn_field *old, const mn_field *phi, const double *plain,
                         double reach)
{
  double worst = 0, dx = phi->grid->dx;
  for (int k = 0; k < phi->n[2]; k++)
    for (int j = 0; j < phi->n[1]; j++)
      for (int i = 0; i < phi->n[0]; i++) {
        int64_t q = mn_index(phi, i, j, k);
        double d = fmin(plain[phi->at - phi->data + q], reach * dx);
        worst = fmax(worst, fabs(copysign(d, old->at[q]) - phi->at[q]) / dx);
      }
  return worst;
}

static void check_plain(int dim)
{
  mac_case c;
  begin(&c, dim, dim == 3 ? 24 : FINE);
  mn_mac *mac = c.fluid.self;
  mn_field *phi = &mac->liquid_next, *old = &mac->state.liquid;
  fill(phi, 1);
  mn_field_copy(old, phi);
  double *plain = plainly(phi);
  mn_liquid_redistance(mac, phi);
  CHECK_LE(difference(old, phi, plain, REACH), 1e-10);
  for (int threads = 2; threads <= 3; threads++) { /* the same bits */
    mn_field_copy(&mac->b, phi);
    mn_field_copy(phi, old);
    mac->exec.threads = threads;
    mn_liquid_redistance(mac, phi);
    assert_memory_equal(mac->b.data, phi->data, phi->size * sizeof *phi->data);
  }
  CHECK_DONE();
  CHECK_LE(difference(old, phi, plain, INFINITY), 1); /* it does stop there */
  CHECK_MUST_HAVE_FAILED();
  test_free(plain);
  mac_case_end(&c);
}

static void test_plain_2d(void **state)
{
  (void)state;
  check_plain(2);
}

static void test_plain_3d(void **state)
{
  (void)state;
  check_plain(3);
}

/* First order in dx at a given distance; two to four cells from the surface, as here, second. */
static void test_exact(void **state)
{
  (void)state;
  double h[3], error[3] = {0};
  for (int r = 0; r < 3; r++) {
    mac_case c;
    begin(&c, 2, FINE << r);
    mn_mac *mac = c.fluid.self;
    mn_field *phi = &mac->liquid_next;
    fill(phi, 1);
    mn_liquid_redistance(mac, phi);
    h[r] = mac->grid.dx;
    int points = 0;
    for (int j = 0; j < phi->n[1]; j++)
      for (int i = 0; i < phi->n[0]; i++) {
        double d = two_balls(mn_position(phi, i, j, 0), 2);
        if (fabs(d) > 2 * h[r] && fabs(d) < 4 * h[r]) {
          error[r] += fabs(mn_get(phi, i, j, 0) - d);
          points++;
        }
      }
    error[r] /= points;
    mac_case_end(&c);
  }
  CHECK_ORDER(h, error, 3, 2, 0.3);
  CHECK_LE(error[0] / h[0], 0.1);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain_2d),
                                     cmocka_unit_test(test_plain_3d), cmocka_unit_test(test_exact)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
