/* The density of particles against the sum that defines it, one cell after the other. */
#include "water_case.h"

#include <math.h>
#include <string.h>

#include "fluid/mac/internal.h"

enum { COUNT = 3000, CELLS = 9 };

/* A box without solids; particles anywhere in it, on the walls too. */
static void scattered(mac_case *c, int dim)
{
  water_case_begin(c, dim, mn_v3(1, 1, dim == 3 ? 1 : 0), CELLS);
  c->def.domain.side[3].kind = MN_SIDE_OPEN;
  CHECK_OK(c->ctx, mn_shape_box(c->ctx, dim, mn_v3(-1, -1, -1), mn_v3(2, 0.5, 2),
                                &c->def.fluid.initial_water));
  mac_case_start(c);
  mn_mac *mac = c->fluid.self;
  mn_particles *p = &mac->water.next;
  CHECK_OK(c->ctx, mn_particles_reserve(c->ctx, COUNT, p));
  p->count = COUNT;
  uint64_t seed = 3;
  for (size_t i = 0; i < COUNT; i++) {
    double *row = mn_particle(p, i);
    memset(row, 0, (size_t)p->width * sizeof *row);
    for (int a = 0; a < dim; a++)
      row[a] = 1.1 * check_random(&seed) - 0.05; /* the sort brings back those outside */
    row[p->volume] = mac->water.unit * (0.5 + check_random(&seed));
  }
  CHECK_OK(c->ctx, mn_water_sort(mac, 0));
}

static double spline(double t)
{
  t = fabs(t);
  return t < 0.5 ? 0.75 - t * t : t < 1.5 ? 0.5 * (1.5 - t) * (1.5 - t) : 0;
}

/* What a particle brings to a cell along an axis; its images behind closed sides bring theirs. */
static double brought(int axis, int at, double x, int images)
{
  double w = spline(x - at - 0.5);
  if (at == 0)
    w += images * spline(-x - 0.5);
  if (at == CELLS - 1 && axis != 1) /* the high y side is open */
    w += images * spline(2 * CELLS - x - at - 0.5);
  return w;
}

/* The greatest difference from the sum over all particles. */
static double error_of(const mac_case *c, int images)
{
  const mn_mac *mac = c->fluid.self;
  const mn_particles *p = &mac->water.next;
  const mn_field *d = &mac->water.density;
  double dx = mac->grid.dx, worst = 0;
  for (int k = 0; k < d->n[2]; k++)
    for (int j = 0; j < d->n[1]; j++)
      for (int i = 0; i < d->n[0]; i++) {
        int at[3] = {i, j, k};
        double sum = 0;
        for (size_t q = 0; q < p->count; q++) {
          double w = *mn_particle_volume(p, q);
          for (int a = 0; a < p->dim; a++)
            w *= brought(a, at[a], mn_particle(p, q)[a] / dx, images);
          sum += w;
        }
        sum /= pow(dx, p->dim) * mn_get(&mac->water.space, i, j, k);
        worst = fmax(worst, fabs(sum - mn_get(d, i, j, k)));
      }
  return worst;
}

static void check(int dim)
{
  mac_case c;
  scattered(&c, dim);
  mn_mac *mac = c.fluid.self;
  mn_field *d = &mac->water.density;
  CHECK_OK(c.ctx, mn_water_density(mac));
  CHECK_LE(error_of(&c, 1), 1e-13 * COUNT);
  double *one = test_malloc(d->size * sizeof *one);
  memcpy(one, d->data, d->size * sizeof *one);
  for (int threads = 2; threads <= CELLS + 2; threads += 3) {
    mn_field_fill(d, NAN);
    mac->exec.threads = threads;
    CHECK_OK(c.ctx, mn_water_density(mac));
    for (int k = 0; k < d->n[2]; k++)
      for (int j = 0; j < d->n[1]; j++)
        assert_memory_equal(d->at + mn_index(d, 0, j, k),
                            one + (d->at - d->data) + mn_index(d, 0, j, k),
                            (size_t)d->n[0] * sizeof *one);
  }
  test_free(one);
  CHECK_DONE();
  CHECK_LE(error_of(&c, 0), 1e-3); /* without images it is another */
  CHECK_MUST_HAVE_FAILED();
  mac_case_end(&c);
}

static void test_2d(void **state)
{
  (void)state;
  check(2);
}

static void test_3d(void **state)
{
  (void)state;
  check(3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_2d), cmocka_unit_test(test_3d)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
