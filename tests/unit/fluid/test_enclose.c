/* Closed regions as the grid fluid tells of them: volumes, inflows, and which side of every element
   faces which, against what the shapes say; which regions are whole. */
#include "body_case.h"
#include "fluid/mac/internal.h"
#include "mac_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Lines of a 2D interface, one body each. */
enum { POINTS = 8192 };
typedef struct lines {
  size_t points, elements;
  int bodies;
  mn_vec3 x[POINTS];
  uint32_t element[2 * POINTS];
  int body[POINTS];
  uint8_t two_sided[POINTS];
  mn_interface face;
} lines;
static lines L; /* too large for the stack */

static void begin_lines(void)
{
  L.points = L.elements = 0;
  L.bodies = 0;
}

/* A line through n points; with the fluid on its right. */
static void add_line(const mn_vec3 *x, size_t n, int closed, int two_sided)
{
  size_t first = L.points;
  for (size_t i = 0; i < n; i++) {
    L.x[L.points] = x[i];
    L.body[L.points] = L.bodies;
    L.two_sided[L.points++] = (uint8_t)two_sided;
  }
  for (size_t i = 0; i + !closed < n; i++) {
    L.element[2 * L.elements] = (uint32_t)(first + i);
    L.element[2 * L.elements++ + 1] = (uint32_t)(first + (i + 1) % n);
  }
  L.bodies++;
}

static void add_ring(double cx, double cy, double r, size_t n, double from, double to)
{
  mn_vec3 x[2048];
  int closed = to - from > 2 * MN_PI - 1e-9;
  for (size_t i = 0; i < n; i++) {
    double t = from + (to - from) * (double)i / (double)(closed ? n : n - 1);
    x[i] = mn_v3(cx + r * cos(t), cy + r * sin(t), 0);
  }
  add_line(x, n, closed, 1);
}

static void add_segment(mn_vec3 a, mn_vec3 b, size_t n)
{
  mn_vec3 x[2048];
  for (size_t i = 0; i <= n; i++)
    x[i] = mn_madd(a, (double)i / (double)n, mn_sub(b, a));
  add_line(x, n + 1, 0, 1);
}

static void add_box(mn_vec3 lo, mn_vec3 hi, size_t n, int two_sided)
{
  mn_vec3 x[2048], c[5] = {lo, mn_v3(hi.x, lo.y, 0), hi, mn_v3(lo.x, hi.y, 0), lo};
  for (size_t i = 0; i < 4 * n; i++)
    x[i] = mn_madd(c[i / n], (double)(i % n) / (double)n, mn_sub(c[i / n + 1], c[i / n]));
  add_line(x, 4 * n, 1, two_sided);
}

static mn_interface *end_lines(mn_context *ctx)
{
  mn_interface *f = &L.face;
  CHECK_OK(ctx, mn_interface_create(ctx, 2, L.points, L.elements, f));
  memcpy(f->X, L.x, L.points * sizeof *f->X);
  memcpy(f->body, L.body, L.points * sizeof *f->body);
  memcpy(f->two_sided, L.two_sided, L.points * sizeof *f->two_sided);
  memcpy(f->element, L.element, 2 * L.elements * sizeof *f->element);
  f->impulse = f->frozen = 1;
  return f;
}

/* One substep up to enclose. */
static mn_enclosed ask(mac_case *c, mn_interface *f, double dt)
{
  mn_enclosed e = {0};
  mac_case_start(c);
  CHECK_OK(c->ctx, c->fluid.ops->meet(c->fluid.self, f));
  CHECK_OK(c->ctx, c->fluid.ops->begin(c->fluid.self, 0, dt));
  CHECK_OK(c->ctx, c->fluid.ops->enclose(c->fluid.self, f, &e));
  return e;
}

/* How many of the elements of a body do not face `in` and `behind`. */
static int wrong_sides(const mn_enclosed *e, int body, int front, int behind)
{
  int wrong = 0;
  for (size_t n = 0; n < L.elements; n++)
    if (L.body[L.element[2 * n]] == body)
      wrong += e->facing[2 * n] != front || e->facing[2 * n + 1] != behind;
  return wrong;
}

static void finish(mac_case *c)
{
  mn_interface_destroy(&L.face);
  mac_case_end(c);
}

static void open_top(mac_case *c, double w, double h, int n)
{
  mac_case_begin(c, 2, mn_v3(w, h, 0), n);
  c->def.domain.side[3].kind = MN_SIDE_OPEN;
}

/* The region that holds x. */
static int region_at(const mac_case *c, double x, double y)
{
  const mn_mac *mac = c->fluid.self;
  int i = (int)floor(x / mac->grid.dx), j = (int)floor(y / mac->grid.dx);
  return mac->enclosure.label[mac->b.at - mac->b.data + mn_index(&mac->b, i, j, 0)];
}

/* ---- shells ---------------------------------------------------------------------------------- */

static void test_ring(void **state)
{
  (void)state;
  uint64_t seed = 7;
  int wrong = 0, count = 0;
  double volume = 0, center = 0;
  for (int n = 0; n < 60; n++) {
    mac_case c;
    double r = 0.15 + 0.2 * check_random(&seed), x = 0.4 + 0.2 * check_random(&seed),
           y = 0.4 + 0.2 * check_random(&seed);
    size_t nodes = 20 + (size_t)(200 * check_random(&seed));
    open_top(&c, 1, 1, 32);
    begin_lines();
    add_ring(x, y, r, nodes, 0, 2 * MN_PI);
    mn_enclosed e = ask(&c, end_lines(c.ctx), 0.01);
    count += e.count == 1;
    wrong += wrong_sides(&e, 0, MN_FACES_NONE, 0);
    double exact = 0.5 * (double)nodes * r * r * sin(2 * MN_PI / (double)nodes);
    volume = check_worst(volume, fabs(e.volume[0] / exact - 1));
    center = check_worst(center, hypot(e.center[0].x - x, e.center[0].y - y) * 32);
    finish(&c);
  }
  printf("60 rings: volumes within %.3f, centres within %.3f cells\n", volume, center);
  CHECK(count == 60);
  CHECK(wrong == 0);
  CHECK_LE(volume, 0.06); /* whole cells, radii from 5 cells on */
  CHECK_LE(center, 0.2);
  CHECK_DONE();
  /* a hole of two cells: nothing is enclosed */
  mac_case c;
  open_top(&c, 1, 1, 32);
  begin_lines();
  add_ring(0.5, 0.5, 0.25, 100, 0.3, 2 * MN_PI);
  mn_enclosed e = ask(&c, end_lines(c.ctx), 0.01);
  CHECK(e.count == 1);
  CHECK(wrong_sides(&e, 0, MN_FACES_NONE, 0) == 0);
  finish(&c);
  CHECK_MUST_HAVE_FAILED();
}

/* Nodes on cell centres, on faces' centres and on nodes; and diagonals through centres. */
static void test_on_centres(void **state)
{
  (void)state;
  for (int n = 0; n < 3; n++)
    for (int turned = 0; turned < 2; turned++) {
      mac_case c;
      double dx = 1.0 / 32, off = (n == 0 ? 0.5 : n == 1 ? 0.25 : 0) * dx;
      open_top(&c, 1, 1, 32);
      begin_lines();
      if (turned) {
        mn_vec3 x[64], k[5] = {mn_v3(0, -8, 0), mn_v3(8, 0, 0), mn_v3(0, 8, 0), mn_v3(-8, 0, 0),
                               mn_v3(0, -8, 0)};
        for (int i = 0; i < 32; i++) {
          mn_vec3 d = mn_madd(k[i / 8], i % 8 / 8.0, mn_sub(k[i / 8 + 1], k[i / 8]));
          x[i] = mn_add(mn_v3(0.5 + off, 0.5 + off, 0), mn_scale(dx, d));
        }
        add_line(x, 32, 1, 1);
      } else
        add_box(mn_v3(8 * dx + off, 8 * dx + off, 0), mn_v3(24 * dx + off, 24 * dx + off, 0), 16,
                1);
      mn_enclosed e = ask(&c, end_lines(c.ctx), 0.01);
      CHECK(e.count == 1);
      CHECK(wrong_sides(&e, 0, MN_FACES_NONE, 0) == 0);
      finish(&c);
    }
  CHECK_DONE();
}

static void test_nested(void **state)
{
  (void)state;
  for (int closed = 0; closed < 2; closed++) {
    mac_case c;
    open_top(&c, 10, 10, 64);
    c.def.domain.side[3].kind = closed ? MN_SIDE_SLIP : MN_SIDE_OPEN;
    begin_lines();
    add_ring(5, 5, 1.5, 60, 0, 2 * MN_PI);
    add_ring(5, 5, 2.5, 100, 0, 2 * MN_PI);
    add_ring(5, 5, 3.5, 140, 0, 2 * MN_PI);
    mn_enclosed e = ask(&c, end_lines(c.ctx), 0.01);
    int r[4] = {region_at(&c, 5, 5), region_at(&c, 7, 5), region_at(&c, 5, 8),
                region_at(&c, 0.2, 0.2)};
    CHECK(e.count == 3 + closed);
    CHECK((r[3] >= 0) == closed);
    for (int ring = 0; ring < 3; ring++)
      CHECK(wrong_sides(&e, ring, r[ring + 1], r[ring]) == 0);
    CHECK_NEAR(e.volume[r[1]], 4 * MN_PI, 0.03 * 4 * MN_PI);
    CHECK_NEAR(e.volume[r[2]], 6 * MN_PI, 0.03 * 6 * MN_PI);
    finish(&c);
  }
  CHECK_DONE();
}

/* A closed box, parted by a shell across it, with wall to wall. */
static void test_parted(void **state)
{
  (void)state;
  for (int n = 0; n < 8; n++) {
    mac_case c;
    double x = 0.5 + n / 8.0 / 32;
    open_top(&c, 1, 1, 32);
    c.def.domain.side[3].kind = MN_SIDE_SLIP;
    begin_lines();
    add_segment(mn_v3(x, 0, 0), mn_v3(x + 0.1, 1, 0), 40);
    mn_enclosed e = ask(&c, end_lines(c.ctx), 0.01);
    CHECK(e.count == 2);
    CHECK(wrong_sides(&e, 0, region_at(&c, 0.9, 0.5), region_at(&c, 0.1, 0.5)) == 0);
    CHECK_NEAR(e.volume[0] + e.volume[1], 1, 1e-12);
    CHECK_NEAR(e.inflow[0], 0, 0);
    finish(&c);
  }
  CHECK_DONE();
}

/* Two shells closer than a cell: what is between is not known; around them it is. */
static void test_folded(void **state)
{
  (void)state;
  /* one open line that folds over itself, its end through its own middle; then drawn back */
  static const double TAIL[] = {0.25, -0.25};
  for (int k = 0; k < 2; k++) {
    static mac_case c;
    mn_vec3 x[512];
    size_t n = 0;
    open_top(&c, 1, 1, 32);
    begin_lines();
    for (int i = 0; i < 100; i++) /* along the bottom, then up and back in a bow */
      x[n++] = mn_v3(0.2 + 0.004 * i, 0.3, 0);
    for (int i = 0; i <= 100; i++)
      x[n++] = mn_v3(0.6 + 0.2 * sin(MN_PI * i / 100), 0.5 - 0.2 * cos(MN_PI * i / 100), 0);
    for (int i = 1; i <= 100; i++) /* and down through the first part, or not as far */
      x[n++] = mn_v3(0.6 - 0.002 * i, 0.7 - (0.4 + 0.4 * TAIL[k]) * i / 100, 0);
    add_line(x, n, 0, 1);
    mn_interface *f = end_lines(c.ctx);
    mn_enclosed e = ask(&c, f, 0.01);
    CHECK(e.count == (k == 0));
    if (k == 0) {
      double area = 0.5 * MN_PI * 0.2 * 0.2 + 0.4 * 0.5 * 0.16; /* the bow, and beside the tail */
      CHECK_NEAR(e.volume[0], area, 0.04 * area);
    }
    finish(&c);
  }
  CHECK_DONE();
}

static void test_narrow(void **state)
{
  (void)state;
  int told = 0, unknown = 0;
  for (int n = 0; n < 20; n++) {
    mac_case c;
    double dx = 1.0 / 40, gap = (0.1 + 0.04 * n) * dx;
    open_top(&c, 1, 1, 40);
    begin_lines();
    add_ring(0.5, 0.49, 0.25, 120, 0, 2 * MN_PI);
    add_ring(0.5, 0.49, 0.25 + gap, 120, 0, 2 * MN_PI);
    mn_enclosed e = ask(&c, end_lines(c.ctx), 0.01);
    int inner = region_at(&c, 0.5, 0.5);
    CHECK(wrong_sides(&e, 0, MN_FACES_UNKNOWN, inner) == 0);
    CHECK(wrong_sides(&e, 1, MN_FACES_NONE, MN_FACES_UNKNOWN) == 0);
    for (int g = 0; g < e.count; g++)
      CHECK(e.whole[g] == (g == inner));
    /* the control: pieces of the gap that links connect are regions of the grid */
    told += e.count > 1;
    finish(&c);
  }
  CHECK(told > 0);
  /* rings that touch on one side: elements in the narrow part face the whole, or nobody knows */
  for (int n = 0; n < 10; n++) {
    mac_case c;
    double dx = 1.0 / 40;
    open_top(&c, 1, 1, 40);
    begin_lines();
    add_ring(0.5, 0.5, 0.3, 160, 0, 2 * MN_PI);
    add_ring(0.5 + (4 - 0.13 * n) * dx, 0.5, 0.3 - 4 * dx, 140, 0, 2 * MN_PI);
    mn_enclosed e = ask(&c, end_lines(c.ctx), 0.01);
    int between = region_at(&c, 0.5 - 0.3 + 3 * dx, 0.5), inner = region_at(&c, 0.5, 0.5);
    int wrong = 0;
    CHECK(between >= 0 && inner >= 0 && between != inner);
    for (size_t q = 0; q < L.elements; q++) {
      int32_t front = e.facing[2 * q], behind = e.facing[2 * q + 1];
      int ring = L.body[L.element[2 * q]];
      int32_t gap = ring ? front : behind, clear = ring ? behind : front;
      wrong += gap != between && gap != MN_FACES_UNKNOWN;
      wrong += clear != (ring ? inner : MN_FACES_NONE);
      unknown += gap == MN_FACES_UNKNOWN;
    }
    CHECK(wrong == 0);
    finish(&c);
  }
  printf("rings that touch: %d sides unknown\n", unknown);
  CHECK(unknown > 0);
  CHECK_LE(unknown, 10 * 60);
  CHECK_DONE();
}

/* ---- bodies, walls, sources ------------------------------------------------------------------ */

/* A piston from wall to wall, closed below, open above; it ends in the walls or at them. */
static void test_piston(void **state)
{
  (void)state;
  for (int n = 0; n < 24; n++) { /* the second dozen: layers of 0.6 to 1.35 cells */
    mac_case c;
    double y = n < 12 ? 0.5 + n % 4 / 4.0 / 24 : (0.6 + n % 4 / 4.0) / 40;
    double out = (double[]){0, 0.02, 0.3}[n / 4 % 3];
    open_top(&c, 0.6, 1.2, 24);
    c.def.domain.side[3].kind = MN_SIDE_OPEN;
    begin_lines();
    add_box(mn_v3(-out, y, 0), mn_v3(0.6 + out, y + 0.15, 0), 40, 0);
    mn_enclosed e = ask(&c, end_lines(c.ctx), 0.01);
    int wrong = 0;
    CHECK(e.count == 1);
    for (size_t q = 0; q < L.elements; q++) {
      mn_vec3 a = L.x[L.element[2 * q]], b = L.x[L.element[2 * q + 1]];
      double middle = 0.5 * (a.x + b.x);
      int inside = middle > 1e-9 && middle < 0.6 - 1e-9;
      int below = a.y < y + 1e-9 && b.y < y + 1e-9 && inside;
      wrong += e.facing[2 * q] != (below ? 0 : inside ? MN_FACES_NONE : MN_FACES_WALL);
      wrong += e.facing[2 * q + 1] != MN_FACES_NONE;
    }
    CHECK(wrong == 0);
    CHECK(e.whole[0]);
    CHECK_NEAR(e.volume[0], 0.6 * y, n < 12 ? 1e-9 : 1e-3 * y); /* corners in walls */
    CHECK_NEAR(e.center[0].y, 0.5 * y, 1e-2 * y);
    finish(&c);
  }
  CHECK_DONE();
}

static void test_body_in_box(void **state)
{
  (void)state;
  mac_case c;
  body_case b;
  mac_case_begin(&c, 2, mn_v3(1, 1, 0), 32);
  body_disk(&b, c.ctx, 0.2, 90);
  body_put(&b, mn_v3(0.47, 0.52, 0), 0.1, mn_v3(0.3, 0.2, 0), 1);
  mn_enclosed e = ask(&c, &b.face, 0.01);
  int wrong = 0;
  CHECK(e.count == 1);
  for (size_t q = 0; q < b.face.elements; q++)
    wrong += e.facing[2 * q] != 0 || e.facing[2 * q + 1] != MN_FACES_NONE;
  CHECK(wrong == 0);
  CHECK_NEAR(e.volume[0], 1 - b.volume, 1e-9);
  CHECK_NEAR(e.inflow[0], 0, 0); /* its own motion is not counted */
  body_destroy(&b);
  mac_case_end(&c);
  CHECK_DONE();
}

/* A balloon at the end of a tube of width w between two blocks, with an inlet below. */
static void tube(mac_case *c, mn_solid_def solid[2], mn_source_def *source, mn_timefn ramp)
{
  open_top(c, 2, 2, 40);
  c->def.solids = solid;
  c->def.solid_count = 2;
  for (int n = 0; n < 2; n++) {
    solid[n] = mn_solid_def_default();
    CHECK_OK(c->ctx, mn_shape_box(c->ctx, 2, mn_v3(n ? 1.3 : -1, -1, 0), mn_v3(n ? 3 : 0.7, 0.5, 0),
                                  &solid[n].shape));
  }
  *source = mn_source_def_default();
  CHECK_OK(c->ctx, mn_shape_box(c->ctx, 2, mn_v3(0, -0.1, 0), mn_v3(2, 0.08, 0), &source->shape));
  source->velocity = mn_v3(0, 3, 0);
  source->ramp = ramp;
  c->def.sources = source;
  c->def.source_count = 1;
}

static void test_tube(void **state)
{
  (void)state;
  mac_case c;
  mn_solid_def solid[2];
  mn_source_def source;
  /* linear over 0.01 s: its mean over the substep is half of what it comes to */
  tube(&c, solid, &source, (mn_timefn){.kind = MN_TIME_LINEAR, .to = 1, .duration = 0.01});
  begin_lines();
  /* the arc ends below the rim of the tube, within the blocks */
  double from = -MN_PI / 2 + asin(0.35 / 0.5), to = 1.5 * MN_PI - asin(0.35 / 0.5);
  add_ring(1, 0.8, 0.5, 90, from, to);
  mn_enclosed e = ask(&c, end_lines(c.ctx), 0.01);
  int wrong = 0;
  CHECK(e.count == 1);
  for (size_t q = 0; q < L.elements; q++) {
    double y = 0.5 * (L.x[L.element[2 * q]].y + L.x[L.element[2 * q + 1]].y);
    if (y > 0.5)
      wrong += e.facing[2 * q] != MN_FACES_NONE || e.facing[2 * q + 1] != 0;
    else
      wrong += e.facing[2 * q] >= 0;
  }
  CHECK(wrong == 0);
  CHECK_NEAR(e.inflow[0], 0.5 * 3 * 0.6, 1e-12);
  finish(&c);
  mn_shape_destroy(&solid[0].shape);
  mn_shape_destroy(&solid[1].shape);
  mn_shape_destroy(&source.shape);
  CHECK_DONE();
}

/* A disk or ball that blows on all sides, in a shell: the inflow is speed times its surface. */
static void test_round_source(void **state)
{
  (void)state;
  for (int n = 0; n < 12; n++) {
    mac_case c;
    mn_source_def source = mn_source_def_default();
    double R = 0.07 + 0.011 * n;
    open_top(&c, 1, 1, 40);
    CHECK_OK(c.ctx, mn_shape_sphere(c.ctx, 2, mn_v3(0.51, 0.49 + 0.001 * n, 0), R, &source.shape));
    source.speed = 0.3;
    source.ramp = (mn_timefn){.kind = MN_TIME_COSINE, .to = 1, .duration = 0.01};
    c.def.sources = &source;
    c.def.source_count = 1;
    begin_lines();
    add_ring(0.5, 0.5, 0.4, 150, 0, 2 * MN_PI);
    mn_enclosed e = ask(&c, end_lines(c.ctx), 0.01);
    CHECK(e.count == 1);
    CHECK(wrong_sides(&e, 0, MN_FACES_NONE, 0) == 0);
    CHECK_NEAR(e.inflow[0], 0.5 * 0.3 * 2 * MN_PI * R, 1e-12);
    finish(&c);
    mn_shape_destroy(&source.shape);
  }
  CHECK_DONE();
}

/* A solid that is driven pushes its volume into the region below a shell. */
static void test_driven(void **state)
{
  (void)state;
  mac_case c;
  mn_solid_def solid = mn_solid_def_default();
  open_top(&c, 1, 1, 32);
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, 2, mn_v3(-1, -1, 0), mn_v3(2, 0.21, 0), &solid.shape));
  solid.moving = 1;
  solid.motion.translate = mn_v3(0, 1, 0);
  solid.motion.path = (mn_timefn){.kind = MN_TIME_RATE, .rate = 0.7};
  c.def.solids = &solid;
  c.def.solid_count = 1;
  begin_lines();
  add_segment(mn_v3(0, 0.6, 0), mn_v3(1, 0.63, 0), 40);
  mn_enclosed e = ask(&c, end_lines(c.ctx), 0.01);
  CHECK(e.count == 1);
  CHECK(wrong_sides(&e, 0, 0, MN_FACES_NONE) == 0);
  CHECK_NEAR(e.inflow[0], 0.7, 1e-12);
  finish(&c);
  mn_shape_destroy(&solid.shape);
  CHECK_DONE();
}

static void test_sphere(void **state)
{
  (void)state;
  mac_case c;
  body_case b;
  mac_case_begin(&c, 3, mn_v3(1, 1, 1), 24);
  c.def.domain.side[5].kind = MN_SIDE_OPEN;
  body_ball(&b, c.ctx, 0.27, 4);
  for (size_t i = 0; i < b.face.count; i++)
    b.face.two_sided[i] = 1;
  body_put(&b, mn_v3(0.5, 0.48, 0.52), 0, mn_v3(0, 0, 0), 0);
  mn_enclosed e = ask(&c, &b.face, 0.01);
  int wrong = 0;
  CHECK(e.count == 1);
  for (size_t q = 0; q < b.face.elements; q++)
    wrong += e.facing[2 * q] != MN_FACES_NONE || e.facing[2 * q + 1] != 0;
  CHECK(wrong == 0);
  CHECK_NEAR(e.volume[0], b.volume, 0.02 * b.volume);
  body_destroy(&b);
  mac_case_end(&c);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ring),        cmocka_unit_test(test_on_centres),
      cmocka_unit_test(test_nested),      cmocka_unit_test(test_parted),
      cmocka_unit_test(test_folded),      cmocka_unit_test(test_narrow),
      cmocka_unit_test(test_piston),      cmocka_unit_test(test_driven),
      cmocka_unit_test(test_body_in_box), cmocka_unit_test(test_tube),
      cmocka_unit_test(test_sphere),      cmocka_unit_test(test_round_source)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
