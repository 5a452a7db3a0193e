/* Water carried by particles against what is known: rest, free fall, the period of a standing wave,
   a dam break, conservation of volume, and that no particle ever trespasses. */
#include "water_case.h"

#include <math.h>
#include <stdio.h>

static const double G = 9.81;

/* ---- rest ------------------------------------------------------------------------------------ */

typedef struct rest {
  double speed, pressure_error, volume_drift, late_speed;
} rest;

static rest stand(mn_transfer transfer, int n, double fill, double jitter, int inclined)
{
  mac_case c;
  water_case_begin(&c, 2, mn_v3(1, 1, 0), n);
  mn_solid_def plane = {.name = "plane"};
  c.def.fluid.transfer = transfer;
  c.def.fluid.jitter = jitter;
  CHECK_OK(c.ctx, mn_shape_half_space(c.ctx, 2, mn_v3(0, fill, 0), mn_v3(0, 1, 0),
                                      &c.def.fluid.initial_water));
  if (inclined) {
    CHECK_OK(c.ctx,
             mn_shape_half_space(c.ctx, 2, mn_v3(0.61, 0.0, 0), mn_v3(-0.8, 0.6, 0), &plane.shape));
    c.def.solids = &plane;
    c.def.solid_count = 1;
  }
  mac_case_start(&c);
  rest r = {0};
  double before = mn_mac_measure(&c.fluid).volume;
  for (int i = 0; i < 200; i++) {
    mac_case_run(&c, c.time + 0.01, 0.01);
    r.late_speed = mn_mac_measure(&c.fluid).max_speed;
    r.speed = check_worst(r.speed, r.late_speed);
  }
  r.volume_drift = fabs(mn_mac_measure(&c.fluid).volume / before - 1);
  mn_mac_view v = mn_mac_look(&c.fluid);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      double y = (j + 0.5) / n, p = 1000 * G * (fill - y);
      if (y < fill && mn_get(v.volume, i, j, 0) > 0)
        r.pressure_error = check_worst(r.pressure_error,
                                       fabs(mn_get(v.pressure, i, j, 0) - p) / (1000 * G * fill));
    }
  printf("rest, %d cells, fill %g: speed %.2e, at the end %.2e, pressure error %.2e, drift %.2e\n",
         n, fill, r.speed, r.late_speed, r.pressure_error, r.volume_drift);
  mac_case_end(&c);
  return r;
}

static void test_rest(void **state)
{
  (void)state;
  const mn_transfer transfers[] = {MN_TRANSFER_APIC, MN_TRANSFER_MARKER};
  for (int t = 0; t < 2; t++) {
    rest aligned = stand(transfers[t], 32, 0.5, 0, 0), cut = stand(transfers[t], 32, 0.503, 0, 0);
    CHECK_LE(aligned.speed, 1e-8 * sqrt(G * 0.5));
    CHECK_LE(aligned.pressure_error, 1e-9);
    CHECK_LE(aligned.volume_drift, 1e-9);
    CHECK_LE(cut.speed, 1e-8 * sqrt(G * 0.5));
    CHECK_LE(cut.pressure_error, 0.05 / 32 / 0.503); /* the surface lies within 0.05 cells */
    CHECK_LE(cut.volume_drift, 1e-9);
  }
  CHECK_DONE();
}

/* At the contact with a slope the surface is right to a part of a cell only: the water there
   settles, with little motion. */
static void test_rest_at_slope(void **state)
{
  (void)state;
  rest r = stand(MN_TRANSFER_APIC, 32, 0.503, 0, 1);
  CHECK_LE(r.speed, 0.5);
  CHECK_LE(r.late_speed, 0.1);
  CHECK_LE(r.volume_drift, 2e-3);
  CHECK_DONE();
}

static void test_control_scattered_particles(void **state)
{
  (void)state;
  CHECK_LE(stand(MN_TRANSFER_APIC, 32, 0.5, 1, 0).speed, 1e-8 * sqrt(G * 0.5));
  CHECK_MUST_HAVE_FAILED();
}

/* ---- free fall ------------------------------------------------------------------------------- */

/* A disk (ball) falls: v = v0 + g t in every particle; returns the worst error of v, and of the
   particles' places relative to each other through *shape. */
static double fall(int dim, mn_transfer transfer, double floor_gap, double *shape)
{
  mac_case c;
  water_case_begin(&c, dim, mn_v3(1, 1, dim == 3 ? 1 : 0), dim == 2 ? 32 : 16);
  c.def.fluid.transfer = transfer;
  mn_vec3 v0 = mn_v3(0.3, 0.1, dim == 3 ? -0.2 : 0);
  c.def.fluid.initial_velocity.value = v0;
  CHECK_OK(c.ctx, mn_shape_sphere(c.ctx, dim, mn_v3(0.4, 0.2 + floor_gap, dim == 3 ? 0.5 : 0), 0.2,
                                  &c.def.fluid.initial_water));
  mac_case_start(&c);
  const mn_particles *p = mn_mac_look(&c.fluid).particles;
  double x0[64][3], first[3], worst = 0;
  size_t some = 64, every = p->count / some;
  for (size_t i = 0; i < some; i++)
    for (int a = 0; a < dim; a++)
      x0[i][a] = mn_particle(p, i * every)[a] - mn_particle(p, 0)[a];
  /* sorting keeps the order while all cross cells together: follow them by their places */
  for (int a = 0; a < dim; a++)
    first[a] = mn_particle(p, 0)[a];
  water_sums s0 = water_case_sums(&c);
  mac_case_run(&c, 0.2, 0.005);
  water_sums s1 = water_case_sums(&c);
  p = mn_mac_look(&c.fluid).particles;
  *shape = 0;
  for (size_t i = 0; i < p->count; i++)
    for (int a = 0; a < dim; a++)
      worst = check_worst(worst, fabs(mn_mac_particle_velocity(&c.fluid, i).v[a] - v0.v[a] -
                                      (a == 1) * -G * c.time));
  for (size_t i = 0; i < some; i++) {
    double nearest = 1;
    for (size_t q = 0; q < p->count; q++) {
      double d = 0;
      for (int a = 0; a < dim; a++) {
        double moved = (s1.moment.v[a] - s0.moment.v[a]) / s0.volume;
        d = fmax(d, fabs(mn_particle(p, q)[a] - first[a] - x0[i][a] - moved));
      }
      nearest = fmin(nearest, d);
    }
    *shape = check_worst(*shape, nearest);
  }
  printf("free fall, %dD, transfer %d: velocity error %.2e m/s, shape %.2e m\n", dim, (int)transfer,
         worst, *shape);
  mac_case_end(&c);
  return worst;
}

static void test_free_fall(void **state)
{
  (void)state;
  double shape;
  CHECK_LE(fall(2, MN_TRANSFER_APIC, 0.4, &shape), 1e-12);
  CHECK_LE(shape, 1e-12);
  CHECK_LE(fall(2, MN_TRANSFER_FLIP, 0.4, &shape), 1e-12);
  CHECK_LE(shape, 1e-12);
  CHECK_LE(fall(3, MN_TRANSFER_APIC, 0.4, &shape), 1e-12);
  CHECK_LE(shape, 1e-12);
  CHECK_LE(fall(2, MN_TRANSFER_MARKER, 0.4, &shape), 1e-12);
  CHECK_LE(shape, 1e-12);
  CHECK_LE(fall(3, MN_TRANSFER_MARKER, 0.4, &shape), 1e-12);
  CHECK_LE(shape, 1e-12);
  CHECK_DONE();
}

/* Drops too thin for a surface, one particle each, fly as spray: v = g t in all of them. */
static double spray(mn_transfer transfer, double gravity)
{
  mac_case c;
  water_case_begin(&c, 2, mn_v3(1, 1, 0), 16);
  c.def.fluid.transfer = transfer;
  c.def.fluid.gravity = mn_v3(0, -gravity, 0);
  mn_shape *drops[2];
  for (int i = 0; i < 2; i++)
    CHECK_OK(c.ctx, mn_shape_sphere(c.ctx, 2, mn_v3((4.25 + 7 * i) / 16, 13.25 / 16, 0), 0.25 / 16,
                                    &drops[i]));
  CHECK_OK(c.ctx, mn_shape_union(c.ctx, drops, 2, &c.def.fluid.initial_water));
  mac_case_start(&c);
  mac_case_run(&c, 0.3, 0.01);
  const mn_particles *p = mn_mac_look(&c.fluid).particles;
  double worst = p->count ? 0 : 1;
  for (size_t i = 0; i < p->count; i++)
    worst = check_worst(worst, fabs(mn_mac_particle_velocity(&c.fluid, i).y + G * c.time));
  printf("spray, transfer %d: %zu particles, velocity error %.2e m/s\n", (int)transfer, p->count,
         worst);
  mac_case_end(&c);
  return worst;
}

static void test_spray(void **state)
{
  (void)state;
  CHECK_LE(spray(MN_TRANSFER_APIC, G), 1e-12);
  CHECK_LE(spray(MN_TRANSFER_MARKER, G), 1e-12);
  CHECK_DONE();
  CHECK_LE(spray(MN_TRANSFER_MARKER, 0.999 * G), 1e-12);
  CHECK_MUST_HAVE_FAILED();
}

/* Drops of less than a cell fly against a wall, without weight: greatest speed of a particle in 1
   s, over that at the start. Some of their faces are in the air beside a surface, some beyond any.
 */
static mn_status drop_velocity(void *user, mn_vec3 x, mn_vec3 *v)
{
  (void)user;
  *v = mn_v3(-1 - 0.5 * sin(40 * x.y), 0.3 * cos(31 * x.y), 0);
  return MN_OK;
}

static double drops_at_wall(mn_transfer transfer, int n, double shift)
{
  enum { DROPS = 12 };
  mac_case c;
  mn_solid_def wall = {.name = "wall"};
  mn_shape *drops[DROPS];
  water_case_begin(&c, 2, mn_v3(1, 1, 0), n);
  c.def.fluid.transfer = transfer;
  c.def.fluid.walls = MN_WALLS_SEPARATING;
  c.def.fluid.gravity = mn_v3(0, 0, 0);
  c.def.fluid.initial_velocity = (mn_field_fn){.eval = drop_velocity};
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, 2, mn_v3(-1, -1, 0), mn_v3(0.5, 2, 0), &wall.shape));
  c.def.solids = &wall;
  c.def.solid_count = 1;
  for (int i = 0; i < DROPS; i++) {
    double part = fmod(shift + 0.618034 * i, 1), other = fmod(shift + 0.414214 * i, 1);
    CHECK_OK(c.ctx,
             mn_shape_sphere(c.ctx, 2, mn_v3(0.5 + (0.1 + 0.25 * other) / n, 0.1 + 0.8 * part, 0),
                             (0.3 + 0.4 * other) / n, &drops[i]));
  }
  CHECK_OK(c.ctx, mn_shape_union(c.ctx, drops, DROPS, &c.def.fluid.initial_water));
  mac_case_start(&c);
  double most = 0;
  for (int i = 0; i < 200; i++) {
    mac_case_run(&c, c.time + 0.005, 0.005);
    for (size_t p = 0; p < mn_mac_look(&c.fluid).particles->count; p++)
      most = check_worst(most, mn_length(mn_mac_particle_velocity(&c.fluid, p)) / 1.53);
  }
  printf("drops at a wall, transfer %d, %d cells, %g: greatest speed %.3g\n", (int)transfer, n,
         shift, most);
  mac_case_end(&c);
  return most;
}

static void test_drops_at_wall(void **state)
{
  (void)state;
  const mn_transfer transfers[] = {MN_TRANSFER_APIC, MN_TRANSFER_FLIP};
  for (int t = 0; t < 2; t++)
    for (int i = 0; i < 6; i++)
      CHECK_LE(drops_at_wall(transfers[t], 24, 0.17 * i), 1.5);
  CHECK_DONE();
}

static void test_control_fall_onto_floor(void **state)
{
  (void)state;
  double shape;
  CHECK_LE(fall(2, MN_TRANSFER_APIC, 0.05, &shape), 1e-12);
  CHECK_MUST_HAVE_FAILED();
}

/* ---- waves, dam break ------------------------------------------------------------------------ */

static void test_sloshing(void **state)
{
  (void)state;
  slosh r = water_case_slosh(32, 0.5, MN_TRANSFER_APIC, 4, G);
  CHECK_NEAR(r.period, 1.181816, 0.01 * 1.181816);
  CHECK_NEAR(r.kept, 1, 0.05);
  CHECK_DONE();
}

static void test_control_sloshing_gravity(void **state)
{
  (void)state;
  slosh r = water_case_slosh(32, 0.5, MN_TRANSFER_APIC, 2, 0.95 * G);
  CHECK_NEAR(r.period, 1.181816, 0.01 * 1.181816);
  CHECK_MUST_HAVE_FAILED();
}

/* The front converges, with first order, to potential flow. The experiment lags behind that by a
   time that passes at the release (docs/theory/water.md): as measured, it is missed (rms 8 %
   wanted; potential flow itself is off by 16 %); with the delay that others publish for it, it
   holds. */
static void test_dam_break(void **state)
{
  (void)state;
  double h[3] = {4, 2, 1}, error[3];
  dam r[3];
  for (int i = 0; i < 3; i++) {
    r[i] = water_case_dam(10 << i, 0, MN_TRANSFER_APIC, G);
    error[i] = r[i].exact;
    CHECK_LE(r[i].drift, 0.01);
  }
  CHECK_LE(error[1], 0.03);
  CHECK_LE(error[2], 0.02);
  CHECK_ORDER(h, error, 3, 1, 0.25);
  CHECK_LE(r[1].measured, 0.08);
  CHECK_LE(r[1].measured_worst, 0.15);
  CHECK_LE(r[1].raw, 0.163); /* of potential flow; not the target, which is 0.08 */
  dam square = water_case_dam(20, 1, MN_TRANSFER_APIC, G);
  CHECK_LE(square.exact, 0.04);
  CHECK_LE(square.measured, 0.08);
  CHECK_LE(square.measured_worst, 0.15);
  CHECK_DONE();
}

static void test_dam_break_transfers(void **state)
{
  (void)state;
  const mn_transfer other[] = {MN_TRANSFER_MARKER, MN_TRANSFER_LEVELSET};
  for (int i = 0; i < 2; i++) {
    dam r = water_case_dam(20, 0, other[i], G);
    CHECK_LE(r.exact, 0.05);
    CHECK_LE(r.drift, other[i] == MN_TRANSFER_LEVELSET ? 0.02 : 0.01);
  }
  CHECK_DONE();
}

static void test_control_dam_gravity(void **state)
{
  (void)state;
  CHECK_LE(water_case_dam(20, 0, MN_TRANSFER_APIC, 0.9 * G).exact, 0.03);
  CHECK_MUST_HAVE_FAILED();
}

/* The collapsing column stretches its lattice of particles five times; the water stays whole.
   (Without split particles in the gaps: streaks of air on the floor from 0.23 s on.) */
static void test_no_holes(void **state)
{
  (void)state;
  const double a = 0.05715;
  mac_case c;
  int holes = 0;
  water_case_begin(&c, 2, mn_v3(8 * a, 4 * a, 0), 160);
  c.def.fluid.pressure_tolerance = 1e-6;
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, 2, mn_v3(-a, -a, 0), mn_v3(a, 2 * a, 0),
                               &c.def.fluid.initial_water));
  mac_case_start(&c);
  while (c.time < 0.26) {
    mac_case_run_cfl(&c, c.time + 0.02);
    const mn_field *phi = mn_mac_look(&c.fluid).liquid;
    for (int i = 0; i < phi->n[0]; i++)
      for (int j = phi->n[1] - 1, wet = 0; j >= 0; j--) {
        wet |= mn_get(phi, i, j, 0) < 0;
        holes += wet && mn_get(phi, i, j, 0) >= 0;
      }
  }
  CHECK_LE(holes, 0);
  mac_case_end(&c);
  CHECK_DONE();
}

static void test_sealed_volume(void **state)
{
  (void)state;
  water_case_check_sealed(48, MN_TRANSFER_APIC, 0.005);
  water_case_check_sealed(32, MN_TRANSFER_MARKER, 0.01);
  water_case_check_sealed(32, MN_TRANSFER_FLIP, 0.01);
  CHECK_DONE();
}

static void test_control_without_volume_control(void **state)
{
  (void)state;
  CHECK_LE(water_case_sealed_drift(32, 5, MN_TRANSFER_APIC, 0).end, 0.01);
  CHECK_MUST_HAVE_FAILED();
}

/* ---- thin sheets ----------------------------------------------------------------------------- */

/* A tilted sheet 0.8 cells thick falls: greatest relative error of its volume as reported, by its
   particles or by its surface. */
static double sheet(int by_surface)
{
  mac_case c;
  double dx = 1.0 / 32, exact = 0.6 * 0.8 * dx, worst = 0;
  mn_shape *flat = NULL;
  water_case_begin(&c, 2, mn_v3(1, 1, 0), 32);
  CHECK_OK(c.ctx,
           mn_shape_box(c.ctx, 2, mn_v3(-0.3, -0.4 * dx, 0), mn_v3(0.3, 0.4 * dx, 0), &flat));
  CHECK_OK(c.ctx, mn_shape_transform(c.ctx, flat, mn_v3(0.5, 0.7, 0), mn_v3(0, 0, 1), 0.3, 1,
                                     &c.def.fluid.initial_water));
  mac_case_start(&c);
  for (int i = 0; i < 25; i++) {
    mac_case_run(&c, c.time + 0.01, 0.005);
    mn_mac_totals t = mn_mac_measure(&c.fluid);
    worst = check_worst(worst, fabs((by_surface ? t.volume : t.particles) / exact - 1));
  }
  printf("sheet of 0.8 cells, by its %s: volume off by %.2e\n",
         by_surface ? "surface" : "particles", worst);
  mac_case_end(&c);
  return worst;
}

static void test_sheet(void **state)
{
  (void)state;
  CHECK_LE(sheet(0), 2e-3); /* the shape's own, by samples at its rim */
  CHECK_DONE();
}

static void test_control_sheet(void **state)
{
  (void)state;
  CHECK_LE(sheet(1), 2e-3);
  CHECK_MUST_HAVE_FAILED();
}

/* ---- inflows and drains ---------------------------------------------------------------------- */

/* A jet blows into the air, and a drain takes it away if it is there: the volume of the particles
   over that which the jet brought. */
static double jet(int dim, int drain, double claimed)
{
  mac_case c;
  water_case_begin(&c, dim, mn_v3(1, 1, dim == 3 ? 1 : 0), dim == 2 ? 32 : 16);
  c.def.fluid.gravity = mn_v3(0, 0, 0);
  double width = 4.0 / 16, speed = 0.7, until = 0.5;
  mn_source_def sources[2] = {mn_source_def_default(), mn_source_def_default()};
  sources[0].velocity = mn_v3(speed, 0, 0);
  sources[1].blows = 0;
  sources[1].drains = 1;
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, dim, mn_v3(-1, 0.5, 0.5),
                               mn_v3(2.0 / 16, 0.5 + width, 0.5 + width), &sources[0].shape));
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, dim, mn_v3(0.25, 0.25, 0.25), mn_v3(0.375, 0.9, 0.9),
                               &sources[1].shape));
  CHECK_OK(c.ctx, mn_shape_sphere(c.ctx, dim, mn_v3(-5, 0, 0), 0.1, &c.def.fluid.initial_water));
  c.def.sources = sources;
  c.def.source_count = 1 + drain;
  mac_case_start(&c);
  mac_case_run(&c, until, 0.009);
  double brought = speed * until * width * (dim == 3 ? width : 1) * claimed;
  double ratio = water_case_sums(&c).volume / brought;
  printf("jet, %dD: volume over what was brought %.4f\n", dim, ratio);
  mn_shape_destroy(&sources[0].shape);
  mn_shape_destroy(&sources[1].shape);
  c.def.source_count = 0;
  mac_case_end(&c);
  return ratio;
}

static void test_inflow(void **state)
{
  (void)state;
  CHECK_NEAR(jet(2, 0, 1), 1, 0.05); /* a layer of the lattice is 0.045 of it */
  CHECK_NEAR(jet(3, 0, 1), 1, 0.09);
  CHECK_LE(jet(2, 1, 1), 0.5); /* 0.125 m of 0.35 m are left before the drain */
  CHECK_GE(jet(2, 1, 1), 0.25);
  CHECK_DONE();
}

/* An inflow in mid-air, `thick` cells along x and 4 along the others, blows as far as `layers`
   layers of the lattice of fresh particles along each axis, in `steps` substeps: what came, over
   the area of its sides times the velocity through them. */
static double blow(int dim, mn_transfer transfer, int thick, mn_vec3 layers, int steps)
{
  mac_case c;
  int n = dim == 2 ? 32 : 16;
  double dx = 1.0 / n, until = 0.4, brought = 0;
  mn_vec3 hi = mn_v3(2 + thick, 6, 6), lo = mn_v3(2, 2, 2);
  mn_source_def source = mn_source_def_default();
  water_case_begin(&c, dim, mn_v3(1, 1, dim == 3 ? 1 : 0), n);
  c.def.fluid.gravity = mn_v3(0, 0, 0);
  c.def.fluid.transfer = transfer;
  source.velocity = mn_scale(0.5 * dx / until, layers);
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, dim, mn_scale(dx, lo), mn_scale(dx, hi), &source.shape));
  CHECK_OK(c.ctx, mn_shape_sphere(c.ctx, dim, mn_v3(-5, 0, 0), 0.1, &c.def.fluid.initial_water));
  c.def.sources = &source;
  c.def.source_count = 1;
  mac_case_start(&c);
  mac_case_run(&c, until, until / steps);
  for (int a = 0; a < dim; a++) {
    double area = 1;
    for (int b = 0; b < dim; b++)
      area *= b == a ? 1 : dx * (hi.v[b] - lo.v[b]);
    brought += until * fabs(source.velocity.v[a]) * area;
  }
  double ratio = water_case_sums(&c).volume / brought;
  printf("oblique, %dD, %d thick, %g %g %g: volume over what was brought %.4f\n", dim, thick,
         layers.x, layers.y, layers.z, ratio);
  mn_shape_destroy(&source.shape);
  c.def.source_count = 0;
  mac_case_end(&c);
  return ratio;
}

/* Whole layers: what comes is exact. */
static void test_oblique_inflow(void **state)
{
  (void)state;
  CHECK_NEAR(blow(2, MN_TRANSFER_APIC, 4, mn_v3(24, 0, 0), 13), 1, 1e-12);
  CHECK_NEAR(blow(2, MN_TRANSFER_APIC, 4, mn_v3(24, 24, 0), 13), 1, 1e-12);
  CHECK_NEAR(blow(2, MN_TRANSFER_FLIP, 4, mn_v3(24, 10, 0), 13), 1, 1e-12);
  CHECK_NEAR(blow(2, MN_TRANSFER_MARKER, 4, mn_v3(14, -3, 0), 13), 1, 1e-12);
  CHECK_NEAR(blow(2, MN_TRANSFER_APIC, 1, mn_v3(24, 0, 0), 6), 1, 1e-12); /* further than thick */
  CHECK_NEAR(blow(3, MN_TRANSFER_APIC, 4, mn_v3(12, 0, 0), 7), 1, 1e-12);
  CHECK_NEAR(blow(3, MN_TRANSFER_APIC, 4, mn_v3(12, 8, 6), 7), 1, 1e-12);
  CHECK_DONE();
}

/* A nozzle `wide` cells wide (and deep) and `length` cells long, turned about z by `angle`, blows
   along its length: flow over speed times its cross-section, of the particles after `until`, or,
   0, of the flow through the open top of a box of smoke. */
static double nozzle(int dim, int n, double wide, double length, double angle, double until)
{
  mac_case c;
  double dx = 1.0 / n, speed = 0.7, section = wide * dx * (dim == 3 ? wide * dx : 1), flow = 0;
  mn_source_def source = mn_source_def_default();
  mn_shape *box = NULL;
  if (until > 0)
    water_case_begin(&c, dim, mn_v3(1, 1, dim == 3 ? 1 : 0), n);
  else
    mac_case_begin(&c, dim, mn_v3(1, 1, dim == 3 ? 1 : 0), n);
  c.def.fluid.gravity = mn_v3(0, 0, 0);
  source.velocity = mn_v3(speed * cos(angle), speed * sin(angle), 0);
  mn_vec3 half = mn_scale(0.5 * dx, mn_v3(length, wide, wide));
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, dim, mn_scale(-1, half), half, &box));
  CHECK_OK(c.ctx, mn_shape_transform(c.ctx, box, mn_v3(0.31, 0.33, 0.5), mn_v3(0, 0, 1), angle, 1,
                                     &source.shape));
  if (until > 0)
    CHECK_OK(c.ctx, mn_shape_sphere(c.ctx, dim, mn_v3(-5, 0, 0), 0.1, &c.def.fluid.initial_water));
  else
    c.def.domain.side[3].kind = MN_SIDE_OPEN;
  c.def.sources = &source;
  c.def.source_count = 1;
  mac_case_start(&c);
  mac_case_run(&c, until > 0 ? until : 0.01, 0.01);
  if (until > 0)
    flow = water_case_sums(&c).volume / until;
  mn_mac_view view = mn_mac_look(&c.fluid);
  for (int k = 0; k < (dim == 3 ? n : 1) && !(until > 0); k++)
    for (int i = 0; i < n; i++)
      flow += mn_get(&view.velocity[1], i, n, k) * dx * (dim == 3 ? dx : 1);
  printf("nozzle, %dD, %g wide, %g long, %.0f degrees, %s: flow over speed times section %.4f\n",
         dim, wide, length, angle * 180 / MN_PI, until > 0 ? "particles" : "smoke",
         flow / (speed * section));
  mn_shape_destroy(&source.shape);
  c.def.source_count = 0;
  mac_case_end(&c);
  return flow / (speed * section);
}

/* Shapes across the axes: their stairs bring nothing. */
static void test_tilted_inflow(void **state)
{
  (void)state;
  const double degree = MN_PI / 180;
  CHECK_NEAR(nozzle(2, 64, 8, 4, 30 * degree, 0.8), 1, 0.02);
  CHECK_NEAR(nozzle(2, 64, 8, 16, 30 * degree, 0.8), 1, 0.02);
  CHECK_NEAR(nozzle(2, 64, 8, 16, -20 * degree, 0.4), 1, 0.02);
  CHECK_NEAR(nozzle(2, 64, 8, 16, 45 * degree, 0), 1, 0.02);
  CHECK_NEAR(nozzle(2, 64, 8, 16, 70 * degree, 0), 1, 0.02);
  CHECK_NEAR(nozzle(3, 32, 6, 8, 30 * degree, 0.7), 1, 0.02);
  CHECK_NEAR(nozzle(3, 32, 6, 8, 30 * degree, 0), 1, 0.02);
  CHECK_DONE();
}

/* Water carried by a level set, under its surface: volume that came over what was brought. */
static double feed(mn_vec3 velocity)
{
  mac_case c;
  mn_source_def source = mn_source_def_default();
  double dx = 1.0 / 32, until = 0.3;
  water_case_begin(&c, 2, mn_v3(1, 1, 0), 32);
  c.def.fluid.transfer = MN_TRANSFER_LEVELSET;
  c.def.fluid.walls = MN_WALLS_STICKING;
  c.def.domain.side[3].kind = MN_SIDE_OPEN;
  source.velocity = velocity;
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, 2, mn_v3(14 * dx, 5 * dx, 0), mn_v3(18 * dx, 9 * dx, 0),
                               &source.shape));
  CHECK_OK(c.ctx,
           mn_shape_box(c.ctx, 2, mn_v3(-1, -1, 0), mn_v3(2, 0.5, 0), &c.def.fluid.initial_water));
  c.def.sources = &source;
  c.def.source_count = 1;
  mac_case_start(&c);
  double before = mn_mac_measure(&c.fluid).volume;
  mac_case_run(&c, until, 0.01);
  double brought = until * 4 * dx * (fabs(velocity.x) + fabs(velocity.y));
  double ratio = (mn_mac_measure(&c.fluid).volume - before) / brought;
  printf("level set fed with %g %g m/s: %.4f of what was brought\n", velocity.x, velocity.y, ratio);
  mn_shape_destroy(&source.shape);
  c.def.source_count = 0;
  mac_case_end(&c);
  return ratio;
}

static void test_level_set_inflow(void **state)
{
  (void)state;
  CHECK_NEAR(feed(mn_v3(0.7, 0, 0)), 1, 0.02);
  CHECK_NEAR(feed(mn_v3(0.4, 0.3, 0)), 1, 0.02);
  CHECK_DONE();
}

static void test_control_inflow(void **state)
{
  (void)state;
  CHECK_NEAR(jet(2, 0, 1.1), 1, 0.05);
  CHECK_MUST_HAVE_FAILED();
}

static void test_no_water_is_refused(void **state)
{
  (void)state;
  mac_case c;
  water_case_begin(&c, 2, mn_v3(1, 1, 0), 16);
  CHECK_OK(c.ctx, mn_shape_sphere(c.ctx, 2, mn_v3(3, 0, 0), 0.1, &c.def.fluid.initial_water));
  CHECK_FAILS(c.ctx, mn_mac_create(c.ctx, &c.def, &c.fluid), MN_BAD_INPUT, "holds no water");
  mn_shape_destroy(&c.def.fluid.initial_water);
  mn_solid_def block = {.name = "block"};
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, 2, mn_v3(0, 0, 0), mn_v3(0.6, 0.6, 0), &block.shape));
  CHECK_OK(c.ctx, mn_shape_sphere(c.ctx, 2, mn_v3(0.3, 0.3, 0), 0.1, &c.def.fluid.initial_water));
  c.def.solids = &block;
  c.def.solid_count = 1;
  CHECK_FAILS(c.ctx, mn_mac_create(c.ctx, &c.def, &c.fluid), MN_BAD_INPUT, "holds no water");
  mac_case_end(&c);
  CHECK_DONE();
}

/* ---- no trespassing -------------------------------------------------------------------------- */

/* A column collapses onto a disk that moves through it; checked after every step. */
static double trespass(int dim, int n, int steps, int forget_motion, double *lost)
{
  mac_case c;
  water_case_begin(&c, dim, mn_v3(1, 1, dim == 3 ? 1 : 0), n);
  c.def.fluid.pressure_tolerance = 1e-6;
  mn_solid_def disk = {.name = "disk", .moving = 1};
  disk.motion.translate = mn_v3(0.4, 0.1, 0);
  disk.motion.path = (mn_timefn){.kind = MN_TIME_LINEAR, .to = 1, .duration = 0.5};
  CHECK_OK(c.ctx,
           mn_shape_sphere(c.ctx, dim, mn_v3(0.3, 0.3, dim == 3 ? 0.5 : 0), 0.15, &disk.shape));
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, dim, mn_v3(-1, -1, -1), mn_v3(0.5, 0.6, 2),
                               &c.def.fluid.initial_water));
  c.def.solids = &disk;
  c.def.solid_count = 1;
  mac_case_start(&c);
  double before = water_case_sums(&c).volume, worst = -1;
  for (int i = 0; i < steps; i++) {
    mac_case_run(&c, c.time + 0.005, 0.005);
    double path = mn_timefn_eval(&disk.motion.path, forget_motion ? 0 : c.time);
    worst = check_worst(worst,
                        water_case_trespass(&c, disk.shape, mn_scale(path, disk.motion.translate)));
  }
  *lost = fabs(water_case_sums(&c).volume / before - 1);
  printf("trespass, %dD: %.2e m, volume of particles lost %.2e\n", dim, worst, *lost);
  mac_case_end(&c);
  return worst;
}

static void test_no_trespassing(void **state)
{
  (void)state;
  double lost;
  CHECK_LE(trespass(2, 32, 120, 0, &lost), 0);
  CHECK_LE(lost, 1e-12);
  CHECK_LE(trespass(3, 12, 40, 0, &lost), 0);
  CHECK_LE(lost, 1e-12);
  CHECK_DONE();
}

static void test_control_trespassing(void **state)
{
  (void)state;
  double lost;
  CHECK_LE(trespass(2, 24, 60, 1, &lost), 0);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rest),
      cmocka_unit_test(test_rest_at_slope),
      cmocka_unit_test(test_control_scattered_particles),
      cmocka_unit_test(test_free_fall),
      cmocka_unit_test(test_spray),
      cmocka_unit_test(test_drops_at_wall),
      cmocka_unit_test(test_control_fall_onto_floor),
      cmocka_unit_test(test_sloshing),
      cmocka_unit_test(test_control_sloshing_gravity),
      cmocka_unit_test(test_dam_break),
      cmocka_unit_test(test_dam_break_transfers),
      cmocka_unit_test(test_control_dam_gravity),
      cmocka_unit_test(test_no_holes),
      cmocka_unit_test(test_sealed_volume),
      cmocka_unit_test(test_control_without_volume_control),
      cmocka_unit_test(test_sheet),
      cmocka_unit_test(test_control_sheet),
      cmocka_unit_test(test_inflow),
      cmocka_unit_test(test_oblique_inflow),
      cmocka_unit_test(test_tilted_inflow),
      cmocka_unit_test(test_level_set_inflow),
      cmocka_unit_test(test_control_inflow),
      cmocka_unit_test(test_no_water_is_refused),
      cmocka_unit_test(test_no_trespassing),
      cmocka_unit_test(test_control_trespassing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
