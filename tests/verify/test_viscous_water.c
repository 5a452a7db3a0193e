/* Viscous water: the stress that vanishes at the free surface, walls, varying viscosity, order. The
   viscous step is called alone (`spread`) where the answer is that of the viscous step alone. */
#include "water_case.h"
#include "world_case.h"

#include <math.h>
#include <stdio.h>

#include "fluid/mac/internal.h"

/* star <- star after dt of viscosity, and of `gradient` as acceleration */
static void spread(mac_case *c, double dt)
{
  mn_mac *mac = c->fluid.self;
  mn_mac_geometry_update(mac, c->time + dt, dt, NULL, 0);
  CHECK_OK(c->ctx, mn_mac_diffuse(mac, dt));
  c->time += dt;
}

typedef mn_vec3 flow_fn(mn_vec3 x, double t);

static void set_flow(mac_case *c, mn_field u[3], flow_fn *flow)
{
  mn_mac *mac = c->fluid.self;
  for (int a = 0; a < mac->grid.dim; a++)
    for (int k = 0; k < u[a].n[2]; k++)
      for (int j = 0; j < u[a].n[1]; j++)
        for (int i = 0; i < u[a].n[0]; i++)
          mn_set(&u[a], i, j, k, flow(mn_position(&u[a], i, j, k), c->time).v[a]);
}

static mn_vec3 still(mn_vec3 x, double t)
{
  (void)x, (void)t;
  return mn_v3(0, 0, 0);
}

/* Worst deviation of star from a flow, over the unknowns of the viscous step. */
static double deviation(const mac_case *c, flow_fn *flow)
{
  const mn_mac *mac = c->fluid.self;
  double worst = 0;
  for (int a = 0; a < mac->grid.dim; a++) {
    const mn_field *u = &mac->star[a], *mass = &mac->stress.mass[a];
    for (int k = 0; k < u->n[2]; k++)
      for (int j = 0; j < u->n[1]; j++)
        for (int i = 0; i < u->n[0]; i++)
          if (mn_get(mass, i, j, k) > 0)
            worst = check_worst(
                worst, fabs(mn_get(u, i, j, k) - flow(mn_position(u, i, j, k), c->time).v[a]));
  }
  return worst;
}

/* ---- A10 (a): a disk (ball) that turns freely ------------------------------------------------ */

static const mn_vec3 SPIN = {{0.7, -0.4, 1}};

static mn_vec3 turning(mn_vec3 x, double t)
{
  (void)t;
  mn_vec3 r = mn_sub(x, mn_v3(0.45, 0.52, 0.5));
  return mn_add(mn_v3(0.3, -0.2, 0.1), mn_cross(SPIN, r));
}
static mn_vec3 turning_flat(mn_vec3 x, double t)
{
  (void)t;
  return mn_v3(0.3 - (x.y - 0.52), -0.2 + (x.x - 0.45), 0);
}
/* A rigid motion and a wild strain. */
static mn_vec3 wild(mn_vec3 x, double t)
{
  mn_vec3 u = x.z == 0 ? turning_flat(x, t) : turning(x, t);
  u.x += 0.5 * sin(40 * x.y + 10 * x.x * x.x);
  u.y += 0.5 * cos(30 * x.x * x.y) + x.x * x.x;
  u.z += 0.5 * sin(25 * x.x * x.z);
  return u;
}

static void begin_blob(mac_case *c, int dim, int n, double nu)
{
  water_case_begin(c, dim, mn_v3(1, 1, dim == 3 ? 1 : 0), n);
  c->def.fluid.gravity = mn_v3(0, 0, 0);
  c->def.fluid.viscosity = nu;
  CHECK_OK(c->ctx, mn_shape_sphere(c->ctx, dim, mn_v3(0.5, 0.5, dim == 3 ? 0.5 : 0), 0.3,
                                   &c->def.fluid.initial_water));
  mac_case_start(c);
  mn_mac *mac = c->fluid.self;
  set_flow(c, mac->gradient, still);
}

/* Momentum and angular momentum of star in the inner product of the viscous step. */
static void momenta(const mac_case *c, mn_vec3 *linear, mn_vec3 *angular)
{
  const mn_mac *mac = c->fluid.self;
  *linear = *angular = mn_v3(0, 0, 0);
  for (int a = 0; a < mac->grid.dim; a++) {
    const mn_field *u = &mac->star[a];
    for (int k = 0; k < u->n[2]; k++)
      for (int j = 0; j < u->n[1]; j++)
        for (int i = 0; i < u->n[0]; i++) {
          mn_vec3 p = {{0, 0, 0}};
          p.v[a] = mn_get(&mac->stress.mass[a], i, j, k) * mn_get(u, i, j, k) *
                   pow(mac->grid.dx, mac->grid.dim);
          mn_vec3 x = mn_sub(mn_position(u, i, j, k), mn_v3(0.5, 0.5, 0.5));
          *linear = mn_add(*linear, p);
          *angular = mn_add(*angular, mn_cross(x, p));
        }
  }
}

/* `stiffness` = nu dt/dx^2 */
static void check_free_body(int dim, int n, double stiffness)
{
  mac_case c;
  begin_blob(&c, dim, n, 1);
  mn_mac *mac = c.fluid.self;
  double dt = stiffness * mac->grid.dx * mac->grid.dx;
  flow_fn *rigid = dim == 2 ? turning_flat : turning;
  set_flow(&c, mac->star, rigid);
  spread(&c, dt);
  double change = deviation(&c, rigid);
  int rigid_iterations = mac->stress.report.iterations;
  set_flow(&c, mac->star, wild);
  mn_vec3 p0, l0, p1, l1;
  momenta(&c, &p0, &l0);
  spread(&c, dt);
  momenta(&c, &p1, &l1);
  double dp = mn_length(mn_sub(p1, p0)) / mn_length(p0);
  double dl = dim == 2 ? fabs(l1.z - l0.z) / fabs(l0.z) : mn_length(mn_sub(l1, l0)) / mn_length(l0);
  printf("free body, %dD, %d cells, nu dt/dx^2 %g: rigid %.2e (%d iterations), wild: momentum "
         "%.2e, angular momentum %.2e (%d iterations, residual %.1e)\n",
         dim, n, stiffness, change, rigid_iterations, dp, dl, mac->stress.report.iterations,
         mac->stress.report.residual);
  CHECK_LE(change, 1e-10);
  CHECK_LE(dp, 1e-10);
  CHECK_LE(dl, 1e-10);
  CHECK_LE(mac->stress.report.iterations, 200);
  mac_case_end(&c);
}

static void test_free_body(void **state)
{
  (void)state;
  for (int i = 0; i < 4; i++)
    check_free_body(2, 32, (double[]){0.1, 10, 1e3, 1e4}[i]);
  check_free_body(2, 64, 1e4);
  check_free_body(2, 128, 1e4);
  check_free_body(3, 16, 1);
  check_free_body(3, 16, 1e4);
  check_free_body(3, 32, 1e4);
  CHECK_DONE();
}

/* The component-wise Laplacian of smoke, which drags liquid through the air. */
static void use_laplacian(mac_case *c)
{
  mn_mac *mac = c->fluid.self;
  for (int a = 0; a < mac->grid.dim; a++) {
    CHECK_OK(c->ctx, mn_stencil_create(c->ctx, &mac->grid, (mn_place)a, &mac->viscous[a]));
    CHECK_OK(c->ctx, mn_stencil_solver_create(c->ctx, &mac->grid, (mn_place)a, MN_PRESSURE_MGPCG,
                                              &mac->viscous_solver[a]));
  }
  mac->stress.on = 0;
  mac->continuation = MN_CONTINUE_CONSTANT;
}

static void test_control_laplacian(void **state)
{
  (void)state;
  mac_case c;
  begin_blob(&c, 2, 32, 1);
  mn_mac *mac = c.fluid.self;
  mn_stress_assemble(mac, 1); /* for the masses */
  use_laplacian(&c);
  mn_vec3 p0, l0, p1, l1;
  set_flow(&c, mac->star, turning_flat);
  for (int a = 0; a < 2; a++) /* the air is at rest */
    for (size_t q = 0; q < mac->star[a].size; q++)
      mac->star[a].data[q] *= mac->stress.mass[a].data[q] > 0;
  momenta(&c, &p0, &l0);
  spread(&c, 10 * mac->grid.dx * mac->grid.dx);
  momenta(&c, &p1, &l1);
  CHECK_LE(deviation(&c, turning_flat), 1e-10);
  CHECK_LE(fabs(l1.z / l0.z - 1), 1e-10);
  mac_case_end(&c);
  CHECK_MUST_HAVE_FAILED();
}

/* ---- the same through whole steps: a turn of the disk ---------------------------------------- */

static mn_status spin(void *user, mn_vec3 x, mn_vec3 *u)
{
  (void)user;
  *u = mn_v3(-(x.y - 0.5), x.x - 0.5, 0);
  return MN_OK;
}

static double angular_momentum(const mac_case *c)
{
  const mn_particles *p = mn_mac_look(&c->fluid).particles;
  double sum = 0;
  for (size_t i = 0; i < p->count; i++) {
    const double *x = mn_particle(p, i);
    mn_vec3 v = mn_mac_particle_velocity(&c->fluid, i);
    sum += *mn_particle_volume(p, i) * ((x[0] - 0.5) * v.y - (x[1] - 0.5) * v.x);
  }
  return sum;
}

typedef struct turn {
  double drift;   /* greatest relative change of the angular momentum in a step */
  double lost;    /* part of it lost in all */
  double profile; /* rms of the particles' velocity against that of a rigid turn, relative */
} turn;

static turn run_turn(mn_transfer transfer, double nu, int laplacian, double until)
{
  mac_case c;
  water_case_begin(&c, 2, mn_v3(1, 1, 0), 32);
  c.def.fluid.gravity = mn_v3(0, 0, 0);
  c.def.fluid.viscosity = nu;
  c.def.fluid.initial_velocity = (mn_field_fn){.eval = spin};
  c.def.fluid.transfer = transfer;
  CHECK_OK(c.ctx, mn_shape_sphere(c.ctx, 2, mn_v3(0.5, 0.5, 0), 0.3, &c.def.fluid.initial_water));
  mac_case_start(&c);
  if (laplacian)
    use_laplacian(&c);
  turn r = {0};
  double first = angular_momentum(&c), before = first;
  while (c.time < until - 1e-9) {
    mac_case_run(&c, c.time + 0.02, 0.02);
    double now = angular_momentum(&c);
    r.drift = check_worst(r.drift, fabs(now - before) / first);
    before = now;
  }
  r.lost = 1 - before / first;
  const mn_particles *p = mn_mac_look(&c.fluid).particles;
  double error = 0, all = 0;
  for (size_t i = 0; i < p->count; i++) {
    const double *x = mn_particle(p, i);
    mn_vec3 v = mn_mac_particle_velocity(&c.fluid, i);
    double dx = v.x + (x[1] - 0.5), dy = v.y - (x[0] - 0.5);
    error += dx * dx + dy * dy;
    all += (x[0] - 0.5) * (x[0] - 0.5) + (x[1] - 0.5) * (x[1] - 0.5);
  }
  r.profile = sqrt(error / all);
  printf("turning disk%s, nu %g%s, %g s: angular momentum %.2e per step, %.2e lost; profile %.2e\n",
         transfer == MN_TRANSFER_MARKER ? ", marker" : "", nu, laplacian ? ", laplacian" : "",
         until, r.drift, r.lost, r.profile);
  mac_case_end(&c);
  return r;
}

static void test_turning_disk(void **state)
{
  (void)state;
  turn thick = run_turn(MN_TRANSFER_APIC, 1, 0, 2);
  CHECK_LE(fabs(thick.lost), 0.01);
  CHECK_LE(thick.profile, 0.02);
  turn carried = run_turn(MN_TRANSFER_MARKER, 1, 0, 2);
  CHECK_LE(fabs(carried.lost), 0.02);
  CHECK_LE(carried.profile, 0.02);
  CHECK_DONE();
  turn braked = run_turn(MN_TRANSFER_APIC, 1, 1, 2);
  CHECK_LE(fabs(braked.lost), 0.01);
  CHECK_LE(braked.profile, 0.02);
  CHECK_MUST_HAVE_FAILED();
}

/* ---- velocity that comes back from the air does not grow --------------------------------------
 */

/* Runs the case and ends it: greatest energy (kinetic and potential) over that at the start. With
   `slope` velocity goes on into the air without limits. */
static double most_energy(mac_case *c, int slope, double until)
{
  mac_case_start(c);
  mn_mac *mac = c->fluid.self;
  if (slope)
    mac->continuation = MN_CONTINUE_SLOPE;
  double first = 0, most = 0;
  while (c->time < until - 1e-9 && most <= 2 * first) {
    water_sums sums = water_case_sums(c); /* places are half a step behind velocities */
    double height = sums.moment.y + 0.5 * mac->state.scalars[1] * sums.momentum.y;
    double energy = c->def.fluid.density * 9.81 * height;
    first = c->time > 0 ? first : energy;
    most = check_worst(most, energy + mn_mac_measure(&c->fluid).kinetic_energy);
    mac_case_run(c, c->time + 0.01, fmin(0.01, mn_mac_max_dt(mac)));
  }
  printf("  %s, nu %g%s: at most %.4f of the energy until %.2f s\n",
         c->def.fluid.transfer == MN_TRANSFER_MARKER ? "marker"
         : c->def.fluid.transfer == MN_TRANSFER_FLIP ? "flip"
                                                     : "apic",
         c->def.fluid.viscosity, slope ? ", slopes without limits" : "", most / first, c->time);
  mac_case_end(c);
  return most / first;
}

/* A block of water falls in a box, 24 cells, with markers: a path followed back may start in the
   air. */
static double falling_block(double nu, int slope)
{
  mac_case c;
  water_case_begin(&c, 2, mn_v3(1, 1, 0), 24);
  c.def.fluid.transfer = MN_TRANSFER_MARKER;
  c.def.fluid.viscosity = nu;
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, 2, mn_v3(0.1, 0.3, 0), mn_v3(0.6, 0.7, 0),
                               &c.def.fluid.initial_water));
  return most_energy(&c, slope, 2.5);
}

/* A dam breaks over a step, 40 cells high: particles near the surface take velocity from the air,
   too. */
static double dam_over_step(mn_transfer transfer, double nu, int slope)
{
  mac_case c;
  mn_solid_def step = {0};
  water_case_begin(&c, 2, mn_v3(1.5, 1, 0), 60);
  c.def.fluid.transfer = transfer;
  c.def.fluid.viscosity = nu;
  c.def.fluid.walls = MN_WALLS_SEPARATING;
  CHECK_OK(c.ctx,
           mn_shape_box(c.ctx, 2, mn_v3(0, 0, 0), mn_v3(0.4, 0.6, 0), &c.def.fluid.initial_water));
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, 2, mn_v3(0.7, 0, 0), mn_v3(0.8, 0.1, 0), &step.shape));
  c.def.solids = &step;
  c.def.solid_count = 1;
  double most = most_energy(&c, slope, 1.6);
  mn_shape_destroy(&step.shape);
  return most;
}

static void test_energy(void **state)
{
  (void)state;
  for (int i = 0; i < 2; i++)
    CHECK_LE(falling_block((double[]){1e-5, 1e-3}[i], 0), 1.001);
  CHECK_LE(dam_over_step(MN_TRANSFER_APIC, 1e-6, 0), 1.01);
  CHECK_LE(dam_over_step(MN_TRANSFER_APIC, 1e-3, 0), 1.01);
  CHECK_LE(dam_over_step(MN_TRANSFER_FLIP, 1e-6, 0), 1.01);
  CHECK_DONE();
  CHECK_LE(falling_block(1e-5, 1), 1.001);
  CHECK_MUST_HAVE_FAILED();
  CHECK_LE(dam_over_step(MN_TRANSFER_APIC, 1e-6, 1), 1.01);
  CHECK_MUST_HAVE_FAILED();
}

/* ---- walls that let go: a uniform fall has no stress ----------------------------------------- */

/* A block of water under the ceiling, air below: error of its mean velocity after 0.2 s, over g t.
 */
static double hanging(int dim, double nu, int walls)
{
  mac_case c;
  water_case_begin(&c, dim, mn_v3(1, 1, dim == 3), 16);
  c.def.fluid.viscosity = nu;
  c.def.fluid.walls = walls;
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, dim, mn_v3(0.25, 0.625, 0.25), mn_v3(0.75, 2, 0.75),
                               &c.def.fluid.initial_water));
  mac_case_start(&c);
  mac_case_run(&c, 0.2, 0.01);
  water_sums sums = water_case_sums(&c);
  double volume = dim == 3 ? 0.375 * 0.25 : 0.375 * 0.5;
  double error = fabs(sums.momentum.y / volume / (-9.81 * 0.2) - 1);
  printf("ceiling, %dD, nu %g, %s walls: error %.2e\n", dim, nu,
         walls == MN_WALLS_SEPARATING ? "separating" : "sticking", error);
  mac_case_end(&c);
  return error;
}

static void test_ceiling(void **state)
{
  (void)state;
  for (int i = 0; i < 3; i++)
    CHECK_LE(hanging(2, (double[]){0.01, 1, 100}[i], MN_WALLS_SEPARATING), 1e-10);
  CHECK_LE(hanging(3, 10, MN_WALLS_SEPARATING), 1e-10);
  CHECK_DONE();
  CHECK_LE(hanging(2, 1, MN_WALLS_STICKING), 1e-10);
  CHECK_MUST_HAVE_FAILED();
}

/* ---- at rest between walls that hold it -------------------------------------------------------
 */

/* Greatest speed in 50 steps of 0.01 s of a tank whose sides are no-slip. `alone`: weight acts
   without the pressure of the last step. */
static double creep(int dim, double nu, double level, mn_transfer transfer, int alone)
{
  mac_case c;
  water_case_begin(&c, dim, mn_v3(1, 1, dim == 3), 16);
  for (int s = 0; s < 2 * dim; s++)
    c.def.domain.side[s].kind = s == 3 ? MN_SIDE_OPEN : MN_SIDE_NOSLIP;
  c.def.fluid.viscosity = nu;
  c.def.fluid.transfer = transfer;
  if (transfer == MN_TRANSFER_LEVELSET)
    c.def.fluid.walls = MN_WALLS_STICKING;
  CHECK_OK(c.ctx, mn_shape_half_space(c.ctx, dim, mn_v3(0, level, 0), mn_v3(0, 1, 0),
                                      &c.def.fluid.initial_water));
  mac_case_start(&c);
  mn_mac *mac = c.fluid.self;
  double worst = 0;
  for (int i = 1; i <= 50; i++) {
    if (alone) {
      mn_field_fill(&mac->state.p, 0);
      mac->state.scalars[1] = 0.01; /* nor is it a first step */
    }
    mac_case_run(&c, 0.01 * i, 0.01);
    worst = check_worst(worst, mn_mac_measure(&c.fluid).max_speed);
  }
  printf("at rest, %dD, nu %g, filled to %g: %.2e m/s\n", dim, nu, level, worst);
  mac_case_end(&c);
  return worst;
}

static void test_rest(void **state)
{
  (void)state;
  static const double nu[] = {1e-3, 0.1, 10, 1e3};
  const double bound = 1e-8 * 2.2; /* sqrt(g H) */
  for (int i = 0; i < 4; i++) {
    CHECK_LE(creep(2, nu[i], 0.5, MN_TRANSFER_APIC, 0), bound);
    CHECK_LE(creep(2, nu[i], 0.503, MN_TRANSFER_APIC, 0), bound);
  }
  CHECK_LE(creep(2, 1, 0.5, MN_TRANSFER_FLIP, 0), bound);
  CHECK_LE(creep(2, 1, 0.5, MN_TRANSFER_MARKER, 0), bound);
  CHECK_LE(creep(2, 1, 0.5, MN_TRANSFER_LEVELSET, 0), bound);
  CHECK_LE(creep(3, 1, 0.5, MN_TRANSFER_APIC, 0), bound);
  CHECK_DONE();
  CHECK_LE(creep(2, 1, 0.5, MN_TRANSFER_APIC, 1), 1e3 * bound);
  CHECK_MUST_HAVE_FAILED();
}

/* A no-slip body under water, whose walls cut cells: faces that stand still feel weight and
   pressure as others do. */
static double rest_around(const char *shape, const char *nu, const char *noslip, const char *tilt)
{
  static const char SCENE[] =
      "local shape = param('shape', 'disk', '')\n"
      "return scene {\n"
      "  domain = box { size = {1, 1}, cells = {24, 24} },\n"
      "  fluid  = water { viscosity = param('nu', 1, ''), max_dt = 0.05,\n"
      "    initial_water = half_space { point = {0, 0.75}, normal = {param('tilt', 0, ''), 1} } "
      "},\n"
      "  solids = { obstacle { noslip = param('noslip', true, ''), shape =\n"
      "    shape == 'disk' and disk { center = {0.47, 0.33}, radius = 0.17 } or\n"
      "    shape == 'box' and box { lo = {0.3, 0.2}, hi = {0.6, 0.4} } or\n"
      "    half_space { point = {0.5, 0.2}, normal = {-0.3, 0.95} } } },\n"
      "  output = { frames = 1, every = 2 },\n"
      "}\n";
  mn_setting set[] = {{"shape", shape}, {"nu", nu}, {"noslip", noslip}, {"tilt", tilt}};
  double most = world_most_energy(SCENE, set, 4, 2);
  printf("at rest around a %s, nu %s, no slip %s: at most %.2e J\n", shape, nu, noslip, most);
  return most;
}

static void test_rest_around(void **state)
{
  (void)state;
  static const char *const shapes[] = {"disk", "box", "slope"}, *const nu[] = {"1e-6", "1"};
  for (int i = 0; i < 6; i++)
    CHECK_LE(rest_around(shapes[i % 3], nu[i / 3], "true", "0"), 1e-4); /* 0.07 to 12 J before */
  CHECK_LE(rest_around("disk", "1", "false", "0"), 1e-4);
  CHECK_DONE();
  CHECK_LE(rest_around("disk", "1", "true", "0.01"), 1e-4); /* the surface is not level */
  CHECK_MUST_HAVE_FAILED();
}

/* ---- A10 (b): Couette, also of two layers ---------------------------------------------------- */

/* A channel along x of height 1, filled, ends through, plates at y = 0 and 1; 8 cells long. */
static void begin_channel(mac_case *c, int cells, double nu)
{
  water_case_begin(c, 2, mn_v3(8.0 / cells, 1, 0), 8);
  c->def.fluid.gravity = mn_v3(0, 0, 0);
  c->def.fluid.transfer = MN_TRANSFER_LEVELSET; /* ends that go on bring no particles */
  c->def.domain.side[0].kind = c->def.domain.side[1].kind = MN_SIDE_THROUGH;
  c->def.domain.side[2].kind = c->def.domain.side[3].kind = MN_SIDE_NOSLIP;
  c->def.fluid.viscosity = nu;
  CHECK_OK(c->ctx, mn_shape_half_space(c->ctx, 2, mn_v3(0, 10, 0), mn_v3(0, 1, 0),
                                       &c->def.fluid.initial_water));
}

static const double THICK = 25; /* the lower layer over the upper one */

static mn_status layers(void *user, mn_vec3 x, mn_vec3 *value)
{
  (void)user;
  value->x = x.y < 0.25 ? THICK : 1;
  return MN_OK;
}

static double couette_error(double wall_speed, int two)
{
  mac_case c;
  begin_channel(&c, 16, 0.3);
  if (two)
    c.def.fluid.viscosity_factor = (mn_field_fn){.eval = layers};
  c.def.domain.side[3].velocity = mn_v3(wall_speed, 0, 0);
  mac_case_start(&c);
  mac_case_run(&c, 100, 2);
  double worst = 0, slope = two ? 1 / (0.75 + 0.25 / THICK) : 1, low = two ? slope / THICK : 1;
  const mn_mac_view v = mn_mac_look(&c.fluid);
  for (int j = 0; j < 16; j++) {
    double y = (j + 0.5) / 16, exact = y < 0.25 ? low * y : low * 0.25 + slope * (y - 0.25);
    for (int i = 0; i < 9; i++)
      worst = check_worst(worst, fabs(mn_get(&v.velocity[0], i, j, 0) - exact));
  }
  printf("Couette, %d layers: error %.2e\n", 1 + two, worst);
  mac_case_end(&c);
  return worst;
}

static void test_couette(void **state)
{
  (void)state;
  CHECK_LE(couette_error(1, 0), 1e-10);
  CHECK_LE(couette_error(1, 1), 1e-10);
  CHECK_DONE();
  CHECK_LE(couette_error(1.001, 1), 1e-10);
  CHECK_MUST_HAVE_FAILED();
}

/* ---- A10 (c): Stokes' second problem, under a free surface far above ------------------------- */

static double stokes_depth(double nu, double frequency)
{
  mac_case c;
  begin_channel(&c, 128, nu);
  mn_shape_destroy(&c.def.fluid.initial_water);
  CHECK_OK(c.ctx, mn_shape_half_space(c.ctx, 2, mn_v3(0, 0.9, 0), mn_v3(0, 1, 0),
                                      &c.def.fluid.initial_water));
  c.def.domain.side[2].velocity = mn_v3(1, 0, 0);
  c.def.domain.side[2].ramp =
      (mn_timefn){.kind = MN_TIME_WAVE, .amplitude = 1, .frequency = frequency};
  mac_case_start(&c);
  mn_mac *mac = c.fluid.self;
  set_flow(&c, mac->star, still);
  set_flow(&c, mac->gradient, still);
  double period = 1 / frequency, re[2] = {0}, im[2] = {0};
  int row[2] = {6, 31}; /* 25 cells apart */
  for (int i = 1; i <= 300; i++) {
    spread(&c, period / 60);
    double a = 2 * MN_PI * i / 60;
    for (int n = 0; n < 2 && i > 240; n++) { /* Fourier component over one period */
      re[n] += mn_get(&mac->star[0], 4, row[n], 0) * cos(a);
      im[n] += mn_get(&mac->star[0], 4, row[n], 0) * sin(a);
    }
  }
  mac_case_end(&c);
  return 25.0 / 128 / log(hypot(re[0], im[0]) / hypot(re[1], im[1]));
}

static void test_stokes_second_problem(void **state)
{
  (void)state;
  double nu = 0.01, frequency = 0.4, delta = sqrt(2 * nu / (2 * MN_PI * frequency));
  CHECK_NEAR(stokes_depth(nu, frequency), delta, 0.01 * delta);
  CHECK_DONE();
  CHECK_NEAR(stokes_depth(1.05 * nu, frequency), delta, 0.01 * delta);
  CHECK_MUST_HAVE_FAILED();
}

/* ---- A10 (d): nu dt / dx^2 = 1e4, whole steps, with a free surface --------------------------- */

static mn_status noise(void *user, mn_vec3 x, mn_vec3 *value)
{
  (void)x;
  uint64_t *seed = user;
  *value = mn_v3(check_random(seed) - 0.5, check_random(seed) - 0.5, check_random(seed) - 0.5);
  return MN_OK;
}

static void check_stiff(int dim, int n)
{
  mac_case c;
  uint64_t seed = 7;
  water_case_begin(&c, dim, mn_v3(1, 1, dim == 3 ? 1 : 0), n);
  for (int s = 0; s < 2 * dim; s++)
    c.def.domain.side[s].kind = MN_SIDE_NOSLIP;
  double dt = 1e-2;
  c.def.fluid.viscosity = 1e4 / (dt * n * n);
  c.def.fluid.gravity = mn_v3(0, 0, 0);
  c.def.fluid.initial_velocity = (mn_field_fn){.eval = noise, .user = &seed};
  CHECK_OK(c.ctx, mn_shape_half_space(c.ctx, dim, mn_v3(0, 0.603, 0), mn_v3(0, 1, 0),
                                      &c.def.fluid.initial_water));
  mac_case_start(&c);
  double start = mn_mac_measure(&c.fluid).kinetic_energy, most = 0;
  mac_case_run(&c, 5 * dt, dt);
  double early = mn_mac_measure(&c.fluid).kinetic_energy;
  for (int i = 0; i < 20; i++) {
    mac_case_run(&c, c.time + dt, dt);
    most = check_worst(most, mn_mac_measure(&c.fluid).kinetic_energy);
  }
  printf("stiff, %dD: energy %.2e, after 5 steps %.2e, then at most %.2e\n", dim, start, early,
         most);
  CHECK_LE(early, 1e-6 * start);
  CHECK_LE(most, fmax(early, 1e-24 * start)); /* that is 1e-12 of the speed: rest, to rounding */
  mac_case_end(&c);
}

static void test_stiff(void **state)
{
  (void)state;
  check_stiff(2, 32);
  check_stiff(3, 12);
  CHECK_DONE();
}

/* ---- order: a shear layer under a free surface that dies away ---------------------------------
 */

static double depth; /* of the case at hand */

static mn_vec3 shear(mn_vec3 x, double t)
{
  double k = MN_PI / (2 * depth);
  return mn_v3(sin(k * x.y) * exp(-0.1 * k * k * t), 0, 0);
}

static double shear_error(int cells, double fill)
{
  mac_case c;
  begin_channel(&c, cells, 0.1);
  mn_shape_destroy(&c.def.fluid.initial_water);
  depth = fill;
  CHECK_OK(c.ctx, mn_shape_half_space(c.ctx, 2, mn_v3(0, fill, 0), mn_v3(0, 1, 0),
                                      &c.def.fluid.initial_water));
  mac_case_start(&c);
  mn_mac *mac = c.fluid.self;
  set_flow(&c, mac->star, shear);
  set_flow(&c, mac->gradient, still);
  for (int i = 0; i < cells; i++)
    spread(&c, 1.0 / cells);
  double worst = 0;
  for (int j = 0; j < cells && (j + 0.5) / cells < fill; j++)
    worst = check_worst(worst, fabs(mn_get(&mac->star[0], 4, j, 0) -
                                    shear(mn_v3(0, (j + 0.5) / cells, 0), c.time).x));
  mac_case_end(&c);
  return worst;
}

static void test_shear_order(void **state)
{
  (void)state;
  double h[] = {1 / 16.0, 1 / 32.0, 1 / 64.0}, flat[3], cut[3];
  for (int i = 0; i < 3; i++) {
    flat[i] = shear_error(16 << i, 0.75);
    cut[i] = shear_error(16 << i, 0.75 - 0.3 * h[i]); /* the same cut on each grid */
  }
  CHECK_ORDER(h, flat, 3, 2.0, 0.1);
  CHECK_LE(flat[2], 1e-4);
  CHECK_ORDER(h, cut, 3, 1.0, 0.1);
  CHECK_LE(cut[2], 5e-3);
  CHECK_DONE();
}

/* ---- order: a steady flow with varying viscosity, made up -------------------------------------
 */

static int axes; /* of the case at hand */

static double made_factor(mn_vec3 x)
{
  return 1 + 0.5 * sin(2 * x.x + x.y) + (axes == 3 ? 0.3 * cos(3 * x.z) : 0);
}

static mn_vec3 made_flow(mn_vec3 x, double t)
{
  (void)t;
  double sx = sin(MN_PI * x.x), sy = sin(MN_PI * x.y), sz = axes == 3 ? sin(MN_PI * x.z) : 1;
  return mn_v3(sx * sx * sin(2 * MN_PI * x.y) * sz, (sx * exp(x.y) * sy + sx * sy) * sz,
               axes == 3 ? sx * sy * sz * (1 + x.x) : 0);
}

enum { MADE_FLOW = -1 };

/* d/dx_b of component a of the flow (part = MADE_FLOW), or of stress part (a, part), of fourth
   order */
static double made_stress(mn_vec3 x, int a, int b);
static double slope(mn_vec3 x, int b, int a, int part)
{
  const double e = 1e-3;
  double sum = 0;
  for (int n = -2; n <= 2; n++) {
    mn_vec3 y = x;
    y.v[b] += n * e;
    double w = n == 0 ? 0 : (n > 0 ? 1 : -1) * (n * n == 1 ? 8 : -1) / (12 * e);
    sum += w * (part == MADE_FLOW ? made_flow(y, 0).v[a] : made_stress(y, a, part));
  }
  return sum;
}
static double made_stress(mn_vec3 x, int a, int b)
{
  return made_factor(x) * (slope(x, b, a, MADE_FLOW) + slope(x, a, b, MADE_FLOW));
}

static mn_vec3 made_force(mn_vec3 x, double t)
{
  (void)t;
  mn_vec3 f = {{0, 0, 0}};
  for (int a = 0; a < axes; a++)
    for (int b = 0; b < axes; b++)
      f.v[a] -= slope(x, b, a, b);
  return f;
}

static mn_status made_factor_fn(void *user, mn_vec3 x, mn_vec3 *value)
{
  (void)user;
  value->x = made_factor(x);
  return MN_OK;
}

static double made_error(int dim, int n, int varying)
{
  mac_case c;
  axes = dim;
  water_case_begin(&c, dim, mn_v3(1, 1, dim == 3 ? 1 : 0), n);
  for (int s = 0; s < 2 * dim; s++)
    c.def.domain.side[s].kind = MN_SIDE_NOSLIP;
  c.def.fluid.walls = MN_WALLS_STICKING; /* no pressure holds it there */
  c.def.fluid.viscosity = 1;
  if (varying)
    c.def.fluid.viscosity_factor = (mn_field_fn){.eval = made_factor_fn};
  CHECK_OK(c.ctx, mn_shape_half_space(c.ctx, dim, mn_v3(0, 0.5, 0), mn_v3(0, 1, 0),
                                      &c.def.fluid.initial_water));
  mac_case_start(&c);
  mn_mac *mac = c.fluid.self;
  mac->state.scalars[1] = 100; /* s: in a first step pressure is taken to balance all forces */
  mn_field_fill(&mac->liquid_next, -10); /* full */
  set_flow(&c, mac->star, still);
  set_flow(&c, mac->gradient, made_force);
  for (int i = 0; i < 6; i++)
    spread(&c, 100);
  double error = deviation(&c, made_flow);
  mac_case_end(&c);
  return error;
}

static void test_made_flow(void **state)
{
  (void)state;
  double h[] = {1 / 16.0, 1 / 32.0, 1 / 64.0}, error[3], deep[3];
  for (int i = 0; i < 3; i++) {
    error[i] = made_error(2, 16 << i, 1);
    deep[i] = i < 2 ? made_error(3, 8 << i, 1) : 0;
  }
  printf("made flow: 2D %.2e %.2e %.2e, 3D %.2e %.2e\n", error[0], error[1], error[2], deep[0],
         deep[1]);
  CHECK_ORDER(h, error, 3, 2.0, 0.15);
  CHECK_LE(error[2], 2e-3);
  CHECK_LE(deep[1], deep[0] / 3);
  CHECK_DONE();
  CHECK_LE(made_error(2, 64, 0), 2e-3);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_free_body),
      cmocka_unit_test(test_control_laplacian),
      cmocka_unit_test(test_turning_disk),
      cmocka_unit_test(test_energy),
      cmocka_unit_test(test_ceiling),
      cmocka_unit_test(test_rest),
      cmocka_unit_test(test_rest_around),
      cmocka_unit_test(test_couette),
      cmocka_unit_test(test_stokes_second_problem),
      cmocka_unit_test(test_stiff),
      cmocka_unit_test(test_shear_order),
      cmocka_unit_test(test_made_flow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
