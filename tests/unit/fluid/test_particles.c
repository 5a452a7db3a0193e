/* Particles: the sort, the conservation of momentum and angular momentum by the transfers,
   splitting and merging. */
#include "water_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fluid/mac/internal.h"

enum { COUNT = 200 };

/* A liquid whose particles are replaced by `count` random ones away from the walls. */
static void scattered(mac_case *c, int dim, mn_transfer transfer)
{
  water_case_begin(c, dim, mn_v3(1, 1, dim == 3 ? 1 : 0), 8);
  c->def.fluid.transfer = transfer;
  CHECK_OK(c->ctx, mn_shape_box(c->ctx, dim, mn_v3(-1, -1, -1), mn_v3(2, 0.5, 2),
                                &c->def.fluid.initial_water));
  mac_case_start(c);
  mn_mac *mac = c->fluid.self;
  mn_particles *p = &mac->water.next;
  CHECK_OK(c->ctx, mn_particles_reserve(c->ctx, COUNT, p));
  p->count = COUNT;
  uint64_t seed = 7;
  for (size_t i = 0; i < COUNT; i++) {
    double *row = mn_particle(p, i);
    for (int n = 0; n < p->width; n++)
      row[n] = 2 * check_random(&seed) - 1;
    for (int a = 0; a < dim; a++)
      row[a] = 0.2 + 0.6 * check_random(&seed);
    row[2 * dim] = mac->water.unit * (0.5 + check_random(&seed));
  }
  CHECK_OK(c->ctx, mn_water_sort(mac, 0));
  assert_int_equal(p->count, COUNT);
}

static void test_sort(void **state)
{
  (void)state;
  mac_case c;
  scattered(&c, 3, MN_TRANSFER_APIC);
  mn_mac *mac = c.fluid.self;
  const mn_particle_cells *cells = &mac->water.cells;
  const mn_particles *p = &mac->water.next;
  int64_t all = 8 * 8 * 8;
  assert_int_equal(cells->start[0], 0);
  assert_int_equal(cells->start[all], COUNT);
  for (int64_t q = 0; q < all; q++)
    for (int64_t i = cells->start[q]; i < cells->start[q + 1]; i++)
      assert_int_equal(mn_particle_cell(cells, &mac->grid, mn_particle(p, (size_t)i)), q);
  double kept[16]; /* stable: sorting again changes nothing; removal keeps the order */
  memcpy(kept, mn_particle(p, 5), sizeof kept);
  CHECK_OK(c.ctx, mn_water_sort(mac, 0));
  assert_memory_equal(kept, mn_particle(p, 5), sizeof kept);
  for (int i = 0; i < COUNT; i++)
    cells->cell[i] = i < 5 ? -1 : 0;
  CHECK_OK(c.ctx, mn_water_sort(mac, COUNT));
  assert_int_equal(p->count, COUNT - 5);
  assert_memory_equal(kept, mn_particle(p, 0), sizeof kept);
  mac_case_end(&c);
}

typedef struct sums {
  mn_vec3 momentum, spin;
} sums;

/* Momentum and angular momentum of the particles; of the affine part too if `affine`:
   sum over the faces of w r (c.r) = c_b dx^2 s_b (1 - s_b) along each axis b. */
static sums of_particles(const mac_case *c, int affine)
{
  const mn_mac *mac = c->fluid.self;
  const mn_particles *p = &mac->water.next;
  double dx = mac->grid.dx;
  int dim = p->dim;
  sums s = {0};
  for (size_t i = 0; i < p->count; i++) {
    const double *x = mn_particle(p, i), *v = mn_particle_v(p, i), *g = mn_particle_c(p, i);
    double volume = *mn_particle_volume(p, i);
    mn_vec3 place = {{0, 0, 0}}, speed = {{0, 0, 0}};
    for (int a = 0; a < dim; a++) {
      place.v[a] = x[a];
      speed.v[a] = v[a];
    }
    s.momentum = mn_madd(s.momentum, volume, speed);
    s.spin = mn_madd(s.spin, volume, mn_cross(place, speed));
    for (int a = 0; a < dim && affine; a++)
      for (int b = 0; b < dim; b++) {
        double t = x[b] / dx - (a == b ? 0 : 0.5), part = t - floor(t);
        mn_vec3 arm = {{0, 0, 0}}, push = {{0, 0, 0}};
        arm.v[b] = 1;
        push.v[a] = volume * g[a * dim + b] * dx * dx * part * (1 - part);
        s.spin = mn_add(s.spin, mn_cross(arm, push));
      }
  }
  return s;
}

static sums of_grid(const mac_case *c, const mn_field u[3])
{
  const mn_mac *mac = c->fluid.self;
  sums s = {0};
  for (int a = 0; a < mac->grid.dim; a++)
    for (int k = 0; k < u[a].n[2]; k++)
      for (int j = 0; j < u[a].n[1]; j++)
        for (int i = 0; i < u[a].n[0]; i++) {
          mn_vec3 push = {{0, 0, 0}};
          push.v[a] =
              mn_get(&mac->water.weight[a], i, j, k) * mac->water.unit * mn_get(&u[a], i, j, k);
          s.momentum = mn_add(s.momentum, push);
          s.spin = mn_add(s.spin, mn_cross(mn_position(&u[a], i, j, k), push));
        }
  return s;
}

static double far_apart(mn_vec3 a, mn_vec3 b)
{
  return mn_length(mn_sub(a, b)) / fmax(mn_length(a), 1e-3);
}

static double hat(double t)
{
  return fmax(0, 1 - fabs(t));
}

/* The way to the grid against its definition, every face asking every particle; some of these stand
   on faces and in centres of cells, some in cells at the walls. */
static double off_definition(int dim, mn_transfer transfer, double skew)
{
  mac_case c;
  scattered(&c, dim, transfer);
  mn_mac *mac = c.fluid.self;
  mn_particles *p = &mac->water.next;
  double dx = mac->grid.dx, worst = 0;
  uint64_t seed = 3;
  for (size_t i = 0; i < p->count; i++)
    for (int a = 0; a < dim; a++)
      mn_particle(p, i)[a] = i % 3 ? 0.01 + 0.98 * check_random(&seed)
                                   : 0.5 * dx * (int)(1 + 15 * check_random(&seed));
  CHECK_OK(c.ctx, mn_water_sort(mac, 0));
  mn_water_to_grid(mac, p, mac->star);
  for (int f = 0; f < dim; f++)
    for (int k = 0; k < mac->star[f].n[2]; k++)
      for (int j = 0; j < mac->star[f].n[1]; j++)
        for (int i = 0; i < mac->star[f].n[0]; i++) {
          mn_vec3 face = mn_position(&mac->star[f], i, j, k);
          double W = 0, momentum = 0;
          for (size_t n = 0; n < p->count; n++) {
            const double *x = mn_particle(p, n), *g = mn_particle_c(p, n) + f * dim;
            double w = *mn_particle_volume(p, n), v = mn_particle_v(p, n)[f];
            for (int b = 0; b < dim; b++) {
              w *= hat((face.v[b] - x[b]) / dx + skew);
              v += transfer == MN_TRANSFER_APIC ? g[b] * (face.v[b] - x[b]) : 0;
            }
            W += w;
            momentum += w * v;
          }
          double weight = mn_get(&mac->water.weight[f], i, j, k),
                 u = mn_get(&mac->star[f], i, j, k);
          worst = fmax(worst, fabs(weight - W / mac->water.unit));
          if (weight > 1e-3)
            worst = fmax(worst, fabs(u - momentum / W));
        }
  mac_case_end(&c);
  return worst;
}

static void test_to_grid_is_its_definition(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++) {
    CHECK_LE(off_definition(dim, MN_TRANSFER_APIC, 0), 1e-11);
    CHECK_LE(off_definition(dim, MN_TRANSFER_FLIP, 0), 1e-11);
    CHECK_GE(off_definition(dim, MN_TRANSFER_APIC, 1e-3), 1e-4); /* control: faces elsewhere */
  }
  CHECK_DONE();
}

static void check_to_grid(int dim, mn_transfer transfer)
{
  mac_case c;
  scattered(&c, dim, transfer);
  mn_mac *mac = c.fluid.self;
  mn_water_to_grid(mac, &mac->water.next, mac->star);
  sums before = of_particles(&c, 1), after = of_grid(&c, mac->star);
  CHECK_LE(far_apart(before.momentum, after.momentum), 1e-12);
  CHECK_LE(far_apart(before.spin, after.spin), 1e-12);
  mac_case_end(&c);
}

static void test_to_grid_conserves(void **state)
{
  (void)state;
  check_to_grid(2, MN_TRANSFER_APIC);
  check_to_grid(3, MN_TRANSFER_APIC);
  CHECK_DONE();
}

/* Without the affine part angular momentum is lost. */
static void test_control_to_grid_of_flip(void **state)
{
  (void)state;
  check_to_grid(3, MN_TRANSFER_FLIP);
  CHECK_MUST_HAVE_FAILED();
}

/* Whatever the grid holds, the particles get its momentum and angular momentum. */
static void check_from_grid(int dim, int affine)
{
  mac_case c;
  scattered(&c, dim, MN_TRANSFER_APIC);
  mn_mac *mac = c.fluid.self;
  mn_water_to_grid(mac, &mac->water.next, mac->star); /* the weights */
  mn_field_fill(&mac->state.liquid, -1);              /* no spray */
  uint64_t seed = 3;
  for (int a = 0; a < dim; a++)
    for (size_t q = 0; q < mac->star[a].size; q++)
      mac->star[a].data[q] = 2 * check_random(&seed) - 1;
  mn_water_from_grid(mac, mac->star, NULL, 0, &mac->water.next);
  sums before = of_grid(&c, mac->star), after = of_particles(&c, affine);
  CHECK_LE(far_apart(before.momentum, after.momentum), 1e-12);
  CHECK_LE(far_apart(before.spin, after.spin), 1e-12);
  mac_case_end(&c);
}

static void test_from_grid_conserves(void **state)
{
  (void)state;
  check_from_grid(2, 1);
  check_from_grid(3, 1);
  CHECK_DONE();
}

static void test_control_from_grid_without_affine_part(void **state)
{
  (void)state;
  check_from_grid(2, 0);
  CHECK_MUST_HAVE_FAILED();
}

/* Full FLIP with an unchanged grid velocity leaves the particles alone; PIC gives them the grid's.
 */
static void test_flip_blend(void **state)
{
  (void)state;
  mac_case c;
  scattered(&c, 2, MN_TRANSFER_FLIP);
  mn_mac *mac = c.fluid.self;
  for (int a = 0; a < 2; a++)
    mn_field_fill(&mac->star[a], 2);
  double before = mn_particle_v(&mac->water.next, 9)[0];
  mn_water_from_grid(mac, mac->star, mac->star, 1, &mac->water.next);
  CHECK_NEAR(mn_particle_v(&mac->water.next, 9)[0], before, 1e-14);
  mn_water_from_grid(mac, mac->star, mac->star, 0.25, &mac->water.next);
  CHECK_NEAR(mn_particle_v(&mac->water.next, 9)[0], 0.25 * before + 0.75 * 2, 1e-14);
  mac_case_end(&c);
  CHECK_DONE();
}

/* Too many in one cell and too few in another: both are mended, volume and momentum stay. */
static void test_resample(void **state)
{
  (void)state;
  mac_case c;
  scattered(&c, 2, MN_TRANSFER_FLIP);
  mn_mac *mac = c.fluid.self;
  mn_particles *p = &mac->water.next;
  mn_field_fill(&mac->liquid_next, -1); /* all is deep */
  for (size_t i = 0; i < COUNT; i++) {
    double *row = mn_particle(p, i);
    row[4] = mac->water.unit;
    if (i < 40) /* all in cell (1, 1) */
      row[0] = row[1] = 0.125 * (1.1 + 0.02 * (double)i);
  }
  CHECK_OK(c.ctx, mn_water_sort(mac, 0));
  double volume = 0, after = 0;
  for (size_t i = 0; i < p->count; i++)
    volume += *mn_particle_volume(p, i);
  mn_vec3 momentum = of_particles(&c, 0).momentum;
  int64_t crowd = mac->water.cells.start[10] - mac->water.cells.start[9];
  size_t count = p->count;
  CHECK_OK(c.ctx, mn_water_resample(mac));
  CHECK(mac->water.cells.start[10] - mac->water.cells.start[9] < crowd);
  CHECK(p->count != count);
  for (size_t i = 0; i < p->count; i++)
    after += *mn_particle_volume(p, i);
  CHECK_NEAR(after, volume, 1e-14);
  CHECK_LE(far_apart(momentum, of_particles(&c, 0).momentum), 1e-12);
  mac_case_end(&c);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sort),
      cmocka_unit_test(test_to_grid_is_its_definition),
      cmocka_unit_test(test_to_grid_conserves),
      cmocka_unit_test(test_control_to_grid_of_flip),
      cmocka_unit_test(test_from_grid_conserves),
      cmocka_unit_test(test_control_from_grid_without_affine_part),
      cmocka_unit_test(test_flip_blend),
      cmocka_unit_test(test_resample),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
