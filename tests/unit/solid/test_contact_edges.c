/* Edges across edges: rigid boxes and meshes of boxes that meet where neither has a corner. */
#include <stdio.h>

#include "solids_case.h"

static const double G = 9.81;

/* A box, of its own kind or as a mesh of `cuts` pieces along each edge, turned about its middle. */
static mn_rigid_def *add_bar(solids_case *c, int mesh, mn_vec3 half, mn_vec3 middle, mn_vec3 axis,
                             double angle)
{
  char path[256];
  mn_shape *s, *turned;
  if (!mesh) {
    CHECK_OK(c->ctx, mn_shape_box(c->ctx, 3, mn_scale(-1, half), half, &s));
  } else {
    snprintf(path, sizeof path, "%s/bar.obj", check_folder);
    FILE *file = fopen(path, "w");
    int n = mesh, last = 1;
    for (int a = 0; a < 3; a++) /* both faces across each axis, as lattices of unshared vertices */
      for (int side = -1; side <= 1; side += 2) {
        int p = (a + 1) % 3, q = (a + 2) % 3;
        for (int j = 0; j <= n; j++)
          for (int i = 0; i <= n; i++) {
            double x[3];
            x[a] = side * half.v[a];
            x[p] = half.v[p] * (2.0 * i / n - 1);
            x[q] = half.v[q] * (2.0 * j / n - 1);
            fprintf(file, "v %.17g %.17g %.17g\n", x[0], x[1], x[2]);
          }
        for (int j = 0; j < n; j++)
          for (int i = 0; i < n; i++) {
            int v = last + j * (n + 1) + i, w = v + n + 1;
            if (side > 0)
              fprintf(file, "f %d %d %d\nf %d %d %d\n", v, v + 1, w + 1, v, w + 1, w);
            else
              fprintf(file, "f %d %d %d\nf %d %d %d\n", v, w + 1, v + 1, v, w, w + 1);
          }
        last += (n + 1) * (n + 1);
      }
    fclose(file);
    CHECK_OK(c->ctx, mn_shape_mesh(c->ctx, path, &s));
  }
  CHECK_OK(c->ctx, mn_shape_transform(c->ctx, s, middle, axis, angle, 1, &turned));
  return case_add(c, turned);
}

static const mn_vec3 X = {{1, 0, 0}}, Z = {{0, 0, 1}};

typedef struct rails {
  int bar, rail; /* 0: box, n: mesh with n pieces along an edge */
  double turn;   /* of the rails about their length */
  double shift;  /* of the rails along the bar, of their distance */
} rails;

/* A thin bar across two thin rails. */
static void lay(solids_case *c, rails r, double w, double above)
{
  double top = r.turn != 0 ? sqrt(2) * w : w;
  case_open(c, 3);
  add_bar(c, r.bar, mn_v3(0.5, w, w), mn_v3(0, top + w + above, 0), X, 0);
  for (int side = -1; side <= 1; side += 2)
    add_bar(c, r.rail, mn_v3(w, w, 0.5), mn_v3(side * (0.275 + 0.01 * r.shift), 0, 0.047), Z,
            r.turn)
        ->joint = MN_JOINT_FIXED;
}

static double rest(rails r, int search)
{
  static solids_case c;
  double w = 0.02;
  lay(&c, r, w, 0);
  c.def.contact.search = search;
  case_start(&c);
  double y = case_state(&c, 0)->x.y;
  for (int n = 0; n < 100; n++)
    case_step(&c, 0.005);
  const mn_rigid_state *s = case_state(&c, 0);
  double sunk = y - s->x.y, drift = hypot(s->x.x, s->x.z);
  double turn = mn_rigid_angle(mn_solids_rigid(c.solids), 0);
  printf(
      "bar %d on rails %d turned by %.2f, search %d: sinks %.1e m, moves %.1e m, turns %.1e rad, "
      "%.1e m/s\n",
      r.bar, r.rail, r.turn, search, sunk, drift, turn, mn_length(s->v));
  if (search) {
    CHECK_LE(drift, 1e-6);
    CHECK_LE(turn, 1e-6);
    CHECK_LE(mn_length(s->v), 1e-6);
  }
  case_close(&c);
  return sunk;
}

static void test_rest(void **state)
{
  (void)state;
  for (int bar = 0; bar < 3; bar++)
    for (int rail = 0; rail < 3; rail++)
      for (int flat = 0; flat < 2; flat++) {
        static const int PIECES[] = {0, 1, 6};
        rails r = {PIECES[bar], PIECES[rail], flat ? 0 : MN_PI / 4, 0};
        CHECK_LE(fabs(rest(r, 1)), 1e-6);
      }
  rails thin = {1, 1, MN_PI / 4, 0};
  CHECK_GE(rest(thin, 0), 0.01); /* the control: with points alone it slips through */
  CHECK_DONE();
}

/* Falls with several times its thickness a substep. */
static double fall(rails r, int sweep)
{
  static solids_case c;
  double w = 0.004, high = 0.111;
  lay(&c, r, w, high);
  c.def.contact.sweep = sweep;
  c.body[0].velocity = mn_v3(0, -4, 0);
  case_start(&c);
  double y = case_state(&c, 0)->x.y - high, deep = 0;
  for (int n = 0; n < 100; n++) {
    case_step(&c, 0.005);
    deep = mn_max(deep, mn_solids_last(c.solids)->penetration);
  }
  double sunk = y - case_state(&c, 0)->x.y;
  printf("bar %d falls on rails %d at 4 m/s, sweep %d: sinks %.1e m; deepest %.1e m\n", r.bar,
         r.rail, sweep, sunk, deep);
  case_close(&c);
  return sunk;
}

static void test_fall(void **state)
{
  (void)state;
  for (int kind = 0; kind < 4; kind++) {
    rails r = {kind & 1, kind & 2 ? 6 : 0, kind & 2 ? MN_PI / 4 : 0, 0};
    CHECK_LE(fabs(fall(r, 1)), 1e-3 * 0.5);
  }
  rails r = {1, 1, MN_PI / 4, 0};
  CHECK_LE(fabs(fall(r, 1)), 1e-3 * 0.5);
  CHECK_GE(fall(r, 0), 0.1); /* the control is through before it is seen */
  CHECK_DONE();
}

/* On a slope: a bar on the edges of rails that run down slides along them as a block does. */
static void test_friction(void **state)
{
  (void)state;
  static solids_case c;
  double angle = 0.3, end = 0.4;
  for (int mesh = 0; mesh < 2; mesh++)
    for (int slides = 0; slides < 2; slides++) {
      rails r = {mesh, mesh, MN_PI / 4, 0};
      double mu = slides ? 0.2 : 0.4, a = slides ? G * (sin(angle) - mu * cos(angle)) : 0;
      lay(&c, r, 0.02, 0);
      c.def.gravity = mn_v3(0, -G * cos(angle), -G * sin(angle));
      for (int i = 0; i < 3; i++)
        c.body[i].friction = mu;
      case_start(&c);
      double z = case_state(&c, 0)->x.z;
      for (int n = 0; n < 80; n++)
        case_step(&c, end / 80);
      double way = z - case_state(&c, 0)->x.z;
      printf("%s, mu %.1f: slides %.6f m, exactly %.6f m\n", mesh ? "meshes" : "boxes", mu, way,
             0.5 * a * end * end);
      CHECK_NEAR(way, 0.5 * a * end * end, slides ? 2e-4 : 1e-6);
      case_close(&c);
    }
  CHECK_DONE();
}

/* Layers of crossed bars, each on the two below; then edge over edge on top. */
static void test_stack(void **state)
{
  (void)state;
  static solids_case c;
  for (int mesh = 0; mesh < 2; mesh++) {
    double w = 0.02, layers = 5;
    case_open(&c, 3);
    case_wall(&c, mn_v3(0, -w, 0), mn_v3(0, 1, 0));
    for (int k = 0; k < layers; k++)
      for (int side = -1; side <= 1; side += 2) {
        double off = side * 0.131;
        add_bar(&c, mesh, k % 2 ? mn_v3(0.2, w, w) : mn_v3(w, w, 0.2),
                k % 2 ? mn_v3(0, 2 * w * k, off) : mn_v3(off, 2 * w * k, 0), X, 0);
      }
    case_start(&c);
    for (int n = 0; n < 200; n++)
      case_step(&c, 0.005);
    double worst = 0, speed = 0;
    for (int i = 1; i < c.def.rigid_count; i++) {
      const mn_rigid_state *s = case_state(&c, i);
      worst = mn_max(worst, fabs(s->x.y - 2 * w * ((i - 1) / 2)));
      speed = mn_max(speed, mn_length(s->v));
    }
    printf("stack of %s: moved by %.1e m, %.1e m/s\n", mesh ? "meshes" : "boxes", worst, speed);
    CHECK_LE(worst, 1e-5);
    CHECK_LE(speed, 1e-4);
    case_close(&c);
  }
  CHECK_DONE();
}

/* A block that slides without friction over flush tiles, a hair's breadth in them, catches nowhere;
   turned askew too. */
static void test_tiles(void **state)
{
  (void)state;
  static solids_case c;
  for (int kind = 0; kind < 4; kind++) {
    int mesh = kind & 1;
    double h = 0.1;
    case_open(&c, 3);
    add_bar(&c, mesh, mn_v3(h, h, h), mn_v3(0, h, 0.013), mn_v3(0, 1, 0), kind & 2 ? 0.37 : 0);
    c.body[0].velocity = mn_v3(1, 0, 0.1);
    for (int i = 0; i < 6; i++)
      add_bar(&c, mesh, mn_v3(0.15, 0.05, 0.4), mn_v3(0.3 * i - 0.1, -0.05, 0), X, 0)->joint =
          MN_JOINT_FIXED;
    for (int i = 0; i < c.def.rigid_count; i++)
      c.body[i].friction = 0;
    case_start(&c);
    for (int n = 0; n < 200; n++)
      case_step(&c, 0.005);
    const mn_rigid_state *s = case_state(&c, 0);
    double turned = mn_rigid_angle(mn_solids_rigid(c.solids), 0);
    printf("block over tiles, %s, askew %d: %.6f m/s, %.6f m/s, height %.1e m, turns %.1e rad\n",
           mesh ? "meshes" : "boxes", kind & 2, s->v.x, s->v.z, s->x.y - h, turned);
    CHECK_NEAR(s->v.x, 1, 1e-6);
    CHECK_NEAR(s->v.z, 0.1, 1e-6);
    CHECK_NEAR(s->x.y, h, 1e-4);
    CHECK_LE(turned, 1e-4);
    case_close(&c);
  }
  CHECK_DONE();
}

/* A rectangle slides along the flat side of a longer one without friction: its velocity at the end,
   less the exact one. */
static double slide(int search, double angle)
{
  static solids_case c;
  mn_shape *s, *turned;
  double a = 4, end = 0.5;
  mn_vec3 down = mn_v3(sin(angle), -cos(angle), 0), along = mn_v3(cos(angle), sin(angle), 0);
  static const double half[2][2] = {{0.1, 0.05}, {0.9, 0.05}};
  case_open(&c, 2);
  c.def.contact.search = search;
  c.def.gravity = mn_add(mn_scale(a, along), mn_scale(9, down));
  for (int i = 0; i < 2; i++) {
    mn_vec3 h = mn_v3(half[i][0], half[i][1], 0);
    mn_vec3 middle = i ? mn_scale(0.1, down) : mn_scale(-0.5, along);
    CHECK_OK(c.ctx, mn_shape_box(c.ctx, 2, mn_scale(-1, h), h, &s));
    CHECK_OK(c.ctx, mn_shape_transform(c.ctx, s, middle, Z, angle, 1, &turned));
    mn_rigid_def *body = case_add(&c, turned);
    body->friction = 0;
    if (i)
      body->joint = MN_JOINT_FIXED;
  }
  case_start(&c);
  for (int n = 0; n < 250; n++)
    case_step(&c, end / 250);
  double off = mn_dot(case_state(&c, 0)->v, along) - a * end;
  printf("slides at %.1f rad, search %d: off by %.1e m/s\n", angle, search, off);
  case_close(&c);
  return fabs(off);
}

static void test_slide(void **state)
{
  (void)state;
  CHECK_LE(slide(1, 0), 1e-9);
  CHECK_LE(slide(1, -0.4), 1e-6);
  CHECK_GE(slide(0, 0), 0.1); /* the control: points of the longer one catch the corner */
  CHECK_DONE();
}

/* Two bars that fly against each other, edge across edge off their middles, without gravity: both
   momenta stay, and so does the energy of perfect bounces. */
static void test_impact(void **state)
{
  (void)state;
  static solids_case c;
  for (int mesh = 0; mesh < 2; mesh++) {
    double w = 0.03;
    case_open(&c, 3);
    c.def.gravity = mn_v3(0, 0, 0);
    add_bar(&c, mesh, mn_v3(0.3, w, w), mn_v3(0.09, 0.1, 0), X, MN_PI / 4)->velocity =
        mn_v3(0, -1, 0.2);
    add_bar(&c, mesh, mn_v3(w, w, 0.3), mn_v3(0, 0, 0.11), Z, MN_PI / 4);
    for (int i = 0; i < 2; i++)
      c.body[i].restitution = 1, c.body[i].friction = 0;
    case_start(&c);
    const mn_rigid *r = mn_solids_rigid(c.solids);
    mn_vec3 P = mn_rigid_momentum(r, -1), L = mn_rigid_angular(r, -1, mn_v3(0, 0, 0));
    double E = mn_rigid_kinetic(r, -1), deep = 0;
    for (int n = 0; n < 60; n++) {
      case_step(&c, 0.002);
      deep = mn_max(deep, mn_solids_last(c.solids)->penetration);
    }
    double dP = mn_length(mn_sub(mn_rigid_momentum(r, -1), P)) / mn_length(P);
    double dL = mn_length(mn_sub(mn_rigid_angular(r, -1, mn_v3(0, 0, 0)), L)) / mn_length(L);
    double dE = mn_rigid_kinetic(r, -1) / E - 1, pushed = mn_length(case_state(&c, 1)->v);
    printf(
        "impact of %s: momentum %.1e, angular %.1e, energy %.1e; pushed to %.3f m/s; %.1e m deep\n",
        mesh ? "meshes" : "boxes", dP, dL, dE, pushed, deep);
    CHECK_LE(dP, 1e-12);
    CHECK_LE(dL, 1e-12);
    CHECK_LE(fabs(dE), 5e-3);
    CHECK_GE(pushed, 0.1);
    CHECK_LE(deep, 1e-3 * 0.3);
    case_close(&c);
  }
  CHECK_DONE();
}

/* A heap of mesh and box bars, thrown together: nothing is deep in anything. */
static void test_heap(void **state)
{
  (void)state;
  static solids_case c;
  case_open(&c, 3);
  case_wall(&c, mn_v3(0, 0, 0), mn_v3(0, 1, 0));
  for (int i = 0; i < 12; i++)
    add_bar(&c, i % 2, mn_v3(0.2, 0.02, 0.04),
            mn_v3(0.03 * (i % 3), 0.3 + 0.42 * i, 0.02 * (i % 5)), mn_v3(sin(i), 1, cos(2 * i)),
            1.3 * i);
  case_start(&c);
  double deep = 0, energy = HUGE_VAL, gain = 0;
  const mn_rigid *r = mn_solids_rigid(c.solids);
  for (int n = 0; n < 800; n++) {
    case_step(&c, 0.004);
    deep = mn_max(deep, mn_solids_last(c.solids)->penetration);
    double e = mn_rigid_kinetic(r, -1) + mn_rigid_potential(r, -1);
    gain = mn_max(gain, e - energy);
    energy = e;
  }
  double low = HUGE_VAL, speed = 0;
  for (int i = 1; i < c.def.rigid_count; i++) {
    low = mn_min(low, case_state(&c, i)->x.y);
    speed = mn_max(speed, mn_length(case_state(&c, i)->v));
  }
  printf("heap: deepest %.1e m, lowest %.4f m, fastest %.1e m/s, energy gained %.1e J of %.1e J\n",
         deep, low, speed, gain, energy);
  CHECK_LE(deep, 0.005 * 0.2);
  CHECK_GE(low, 0.019);
  CHECK_LE(speed, 0.05);
  CHECK_LE(gain, 1e-3 * energy);
  case_close(&c);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rest),  cmocka_unit_test(test_fall),
                                     cmocka_unit_test(test_stack), cmocka_unit_test(test_friction),
                                     cmocka_unit_test(test_tiles), cmocka_unit_test(test_impact),
                                     cmocka_unit_test(test_slide), cmocka_unit_test(test_heap)};
  return cmocka_run_group_tests(tests, check_folder_make, check_folder_remove);
}
