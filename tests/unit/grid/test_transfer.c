/* W: constants, rigid motion, power, force and torque, faces out of reach. */
#include "surfaces.h"

#include "grid/transfer.h"

/* ---- helpers --------------------------------------------------------------------------------- */

/* Faces between a node inside and one outside of the closed bodies, then all blocked links. */
static size_t closed_faces(const mn_immersed *im, mn_closed_face *face, size_t room)
{
  size_t count = 0;
  for (int a = 0; a < im->grid->dim; a++) {
    const mn_field *f = &im->face[a];
    for (int k = 0; k < f->n[2]; k++)
      for (int j = 0; j < f->n[1]; j++)
        for (int i = 0; i < f->n[0]; i++) {
          const mn_field *d = &im->distance;
          int inside = 0, corners = im->grid->dim == 2 ? 2 : 4;
          for (int c = 0; c < corners; c++) {
            int u = (a + 1) % im->grid->dim, v = (a + 2) % 3, at[3] = {i, j, k};
            at[u] += c & 1;
            at[v] += c >> 1;
            inside += mn_get(d, at[0], at[1], at[2]) < 0;
          }
          if (!inside || inside == corners)
            continue;
          assert_true(count < room);
          face[count++] = (mn_closed_face){
              a, i, j, k, mn_immersed_face_body(im, a, i, j, k), MN_NO_ELEMENT, 0.5};
        }
  }
  for (size_t l = 0; l < im->links; l++) {
    assert_true(count < room);
    face[count++] = im->link[l];
  }
  return count;
}

enum { ROOM = 20000 };

typedef struct rows {
  setup s;
  mn_weights *w;
  mn_closed_face face[ROOM];
  double U[ROOM], F[ROOM];
} rows;
static rows r;

static mn_vec3 centre_of_face(const mn_closed_face *f)
{
  mn_field face = {.grid = &r.s.grid, .place = (mn_place)f->axis};
  return mn_position(&face, f->i, f->j, f->k);
}

/* A closed body 0 and a shell 1 beside each other, and a row for each face that they close. */
static void make_rows(int threads, int dim, int n, int rigid)
{
  size_t m = dim == 2 ? 3 * (size_t)n : (size_t)n;
  size_t points = dim == 2 ? m : sphere_points(m), elements = dim == 2 ? m : sphere_elements(m);
  make(&r.s, threads, dim, (int[3]){2 * n, n, n}, 1.0 / n, mn_v3(-0.3, 0.2, 0.1), 2 * points,
       2 * elements);
  part p = {.f = &r.s.f},
       q = {.f = &r.s.f, .point = points, .element = elements, .body = 1, .two_sided = 1};
  if (dim == 2) {
    set_circle(&p, mn_v3(0.18, 0.71, 0), 0.31, (int)m);
    set_circle(&q, mn_v3(1.2, 0.7, 0), 0.33, (int)m);
  } else {
    set_sphere(&p, mn_v3(0.18, 0.71, 0.6), 0.31, m);
    set_sphere(&q, mn_v3(1.2, 0.7, 0.61), 0.33, m);
  }
  for (size_t i = 0; i < r.s.f.count; i++)
    r.s.f.rigid[i] = (uint8_t)rigid;
  CHECK_OK(r.s.ctx, mn_immersed_place(r.s.im, &r.s.f));
  CHECK_OK(r.s.ctx, mn_weights_create(r.s.ctx, 1.5 / n, &r.w));
  size_t count = closed_faces(r.s.im, r.face, ROOM);
  CHECK_OK(r.s.ctx, mn_weights_place(r.w, r.s.im, r.face, count));
}

static void drop_rows(void)
{
  mn_weights_destroy(&r.w);
  drop(&r.s);
}

static mn_vec3 random_vector(uint64_t *seed, int dim)
{
  mn_vec3 v = mn_v3(2 * check_random(seed) - 1, 2 * check_random(seed) - 1, 0);
  if (dim == 3)
    v.z = 2 * check_random(seed) - 1;
  return v;
}

/* V of the rigid motion v + w x x, a different one for each body. */
static mn_vec3 motion_v[2], motion_w[2];

static mn_vec3 motion(int body, mn_vec3 x)
{
  return mn_add(motion_v[body], mn_cross(motion_w[body], x));
}

static void set_motion(uint64_t *seed, int turning)
{
  int dim = r.s.grid.dim;
  for (int b = 0; b < 2; b++) {
    mn_vec3 w = random_vector(seed, 3);
    motion_v[b] = random_vector(seed, dim);
    motion_w[b] = !turning ? mn_v3(0, 0, 0) : dim == 2 ? mn_v3(0, 0, w.z) : w;
  }
  for (size_t i = 0; i < r.s.f.count; i++)
    r.s.f.V[i] = motion(r.s.f.body[i], r.s.f.X[i]);
}

/* Greatest error of U as that motion at the face's centre, or where the row's force acts. */
static double motion_error(int at_centre)
{
  double worst = 0;
  mn_weights_gather(r.w, r.s.f.V, r.U);
  for (size_t row = 0; row < r.w->rows; row++) {
    const mn_closed_face *f = &r.w->face[row];
    mn_vec3 x = at_centre ? centre_of_face(f) : r.w->where[row];
    worst = check_worst(worst, fabs(r.U[row] - motion(f->body, x).v[f->axis]));
  }
  return worst;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void constants_and_motion(void **state)
{
  (void)state;
  uint64_t seed = 2;
  for (int dim = 2; dim <= 3; dim++)
    for (int rigid = 0; rigid < 2; rigid++) {
      make_rows(1, dim, 16, rigid);
      CHECK_GE((double)r.w->rows, 50);
      CHECK_NEAR((double)r.w->fallbacks, 0, 0);
      set_motion(&seed, 0);
      CHECK_LE(motion_error(1), 1e-14); /* constants */
      set_motion(&seed, 1);
      if (rigid)
        CHECK_LE(motion_error(1), 1e-13);
      else {
        CHECK_LE(motion_error(0), 1e-13); /* linear fields where the row acts, */
        CHECK_GE(motion_error(1), 1e-4);  /* which is not the face's centre: the control */
      }
      drop_rows();
    }
  CHECK_DONE();
}

static mn_vec3 total_torque(const mn_interface *f, mn_vec3 *force)
{
  mn_vec3 torque = {{0}};
  *force = torque;
  for (size_t i = 0; i < f->count; i++) {
    *force = mn_add(*force, f->load[i]);
    torque = mn_add(torque, mn_cross(f->X[i], f->load[i]));
  }
  return torque;
}

static void power_force_torque(void **state)
{
  (void)state;
  uint64_t seed = 3;
  for (int dim = 2; dim <= 3; dim++)
    for (int rigid = 0; rigid < 2; rigid++) {
      make_rows(1, dim, 12, rigid);
      double faces = 0, points = 0, size = 0;
      mn_vec3 force = {{0}}, torque = {{0}}, got;
      for (size_t i = 0; i < r.s.f.count; i++)
        r.s.f.V[i] = random_vector(&seed, dim);
      mn_weights_gather(r.w, r.s.f.V, r.U);
      for (size_t row = 0; row < r.w->rows; row++) {
        const mn_closed_face *f = &r.w->face[row];
        mn_vec3 along = {{0}}, x = rigid ? centre_of_face(f) : r.w->where[row];
        along.v[f->axis] = r.F[row] = 2 * check_random(&seed) - 1;
        faces += r.F[row] * r.U[row];
        force = mn_add(force, along);
        torque = mn_add(torque, mn_cross(x, along));
        size += fabs(r.F[row]);
      }
      CHECK_OK(r.s.ctx, mn_weights_scatter(r.w, r.F, r.s.f.load));
      for (size_t i = 0; i < r.s.f.count; i++)
        points += mn_dot(r.s.f.load[i], r.s.f.V[i]);
      CHECK_LE(fabs(faces - points) / size, 1e-13);
      torque = mn_sub(torque, total_torque(&r.s.f, &got));
      CHECK_LE(mn_length(mn_sub(force, got)) / size, 1e-14);
      CHECK_LE(mn_length(torque) / size, 1e-14);
      /* adds up */
      CHECK_OK(r.s.ctx, mn_weights_scatter(r.w, r.F, r.s.f.load));
      mn_vec3 twice;
      total_torque(&r.s.f, &twice);
      CHECK_LE(mn_length(mn_sub(twice, mn_scale(2, got))) / size, 1e-14);
      /* shares of a mass */
      double total = 0, shared = 0, least = INFINITY;
      for (size_t row = 0; row < r.w->rows; row++) {
        r.F[row] = check_random(&seed);
        total += r.F[row];
      }
      mn_weights_share(r.w, r.F, r.s.f.mass);
      for (size_t i = 0; i < r.s.f.count; i++) {
        shared += r.s.f.mass[i];
        least = mn_min(least, r.s.f.mass[i]);
      }
      CHECK_LE(fabs(shared - total) / total, 1e-14);
      CHECK_GE(least, 0);
      drop_rows();
    }
  CHECK_DONE();
}

/* The check at run time sees a weight that was tampered with, and leaves the load alone. */
static void tampered(void **state)
{
  (void)state;
  make_rows(1, 2, 12, 0);
  for (size_t row = 0; row < r.w->rows; row++)
    r.F[row] = 1;
  r.w->weight[5] *= 1 + 1e-6;
  CHECK_FAILS(r.s.ctx, mn_weights_scatter(r.w, r.F, r.s.f.load), MN_FAILED, "N of");
  r.w->weight[5] /= 1 + 1e-6;
  CHECK_OK(r.s.ctx, mn_weights_scatter(r.w, r.F, r.s.f.load));
  r.w->where[3].y += 1e-6; /* a row along x */
  CHECK(r.w->face[3].axis == 0);
  CHECK_FAILS(r.s.ctx, mn_weights_scatter(r.w, r.F, r.s.f.load), MN_FAILED, "torque");
  double sum = 0;
  for (size_t i = 0; i < r.s.f.count; i++)
    sum += r.s.f.load[i].x + r.s.f.load[i].y;
  CHECK_NEAR(sum, (double)r.w->rows, 1e-11); /* once, not twice */
  r.F[0] = NAN;
  CHECK_FAILS(r.s.ctx, mn_weights_scatter(r.w, r.F, r.s.f.load), MN_FAILED, "nan");
  drop_rows();
  CHECK_DONE();
}

/* Stretched to three times its length a shell leaves faces without any point in reach. */
static void stretched(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++) {
    int n = 24;
    size_t side = 9, quads = side - 1, points = dim == 2 ? side : side * side;
    setup *s = &r.s;
    make(s, 1, dim, (int[3]){2 * n, n, n}, 1.0 / n, mn_v3(0, 0, 0), points,
         dim == 2 ? quads : 2 * quads * quads);
    part p = {.f = &s->f, .two_sided = 1};
    double spacing = 4.2 / n; /* 1.4 dx three times */
    size_t e = 0;
    for (size_t i = 0; i < points; i++) {
      mn_vec3 x = mn_v3(0.2 + spacing * (double)(i % side), 0.5, 0);
      if (dim == 3)
        x = mn_v3(0.2 + spacing * (double)(i % side), 0.1 + 0.7 / n * (double)(i / side),
                  0.503 + 0.01 * (double)(i % 3));
      set_point(&p, i, x);
      s->f.V[i] = mn_v3(1 + x.x, 2 - 3 * x.x, x.x - x.y);
    }
    for (size_t j = 0; j < (dim == 2 ? 1 : quads); j++)
      for (size_t i = 0; i < quads; i++) {
        size_t a = i + side * j;
        set_element(&p, e++, a, a + 1, a + 1 + side);
        if (dim == 3)
          set_element(&p, e++, a, a + 1 + side, a + side);
      }
    CHECK_OK(s->ctx, mn_immersed_place(s->im, &s->f));
    CHECK_OK(s->ctx, mn_weights_create(s->ctx, 1.0 / n, &r.w));
    CHECK_OK(s->ctx, mn_weights_place(r.w, s->im, s->im->link, s->im->links));
    CHECK_GE((double)r.w->fallbacks, 0.1 * (double)r.w->rows);
    mn_weights_gather(r.w, s->f.V, r.U);
    double worst = 0, far = 0;
    for (size_t row = 0; row < r.w->rows; row++) {
      const mn_closed_face *f = &r.w->face[row];
      mn_vec3 x = r.w->where[row], v = mn_v3(1 + x.x, 2 - 3 * x.x, x.x - x.y);
      worst = check_worst(worst, fabs(r.U[row] - v.v[f->axis])); /* linear in x: exact there */
      far = check_worst(far, mn_length(mn_sub(x, centre_of_face(f))));
      r.F[row] = 1 + (double)row;
    }
    CHECK_LE(worst, 1e-13);
    CHECK_LE(far * n, 1.0); /* no further than the kernel reaches */
    CHECK_OK(s->ctx, mn_weights_scatter(r.w, r.F, s->f.load));
    drop_rows();
  }
  CHECK_DONE();
}

/* Rigid bodies whose points lie on a line, or in one place: no torque about the line, and the row
   acts on it. */
static void slender(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (size_t points = 1; points <= 5; points += 2) {
      setup *s = &r.s;
      make(s, 1, dim, (int[3]){8, 8, 8}, 1.0 / 8, mn_v3(0, 0, 0), points, points - 1);
      part p = {.f = &s->f, .two_sided = 1};
      if (dim == 3)
        s->f.elements = 0;
      for (size_t i = 0; i < points; i++)
        set_point(&p, i, mn_v3(0.2 + 0.1 * (double)i, 0.3 + 0.07 * (double)i, dim == 3 ? 0.41 : 0));
      for (size_t e = 0; e < s->f.elements; e++)
        set_element(&p, e, e, e + 1, 0);
      for (size_t i = 0; i < points; i++) {
        s->f.rigid[i] = 1;
        mn_vec3 turning = dim == 2 ? mn_v3(0, 0, 0.7) : mn_v3(0.3, -0.2, 0.7);
        s->f.V[i] = mn_add(mn_v3(1, 2, 0), mn_cross(turning, s->f.X[i]));
      }
      mn_closed_face face[3] = {{0, 3, 4, 2, 0, MN_NO_ELEMENT, 0.5},
                                {1, 3, 4, 2, 0, MN_NO_ELEMENT, 0.5},
                                {2, 3, 4, 2, 0, MN_NO_ELEMENT, 0.5}};
      for (int f = 0; f < 3 && dim == 2; f++)
        face[f].k = 0;
      CHECK_OK(s->ctx, mn_immersed_place(s->im, &s->f));
      CHECK_OK(s->ctx, mn_weights_create(s->ctx, 1.5 / 8, &r.w));
      CHECK_OK(s->ctx, mn_weights_place(r.w, s->im, face, (size_t)dim));
      CHECK_NEAR(r.w->fit[0].rank, points == 1 ? 0 : dim == 2 ? 1 : 2, 0);
      mn_weights_gather(r.w, s->f.V, r.U);
      for (size_t row = 0; row < (size_t)dim; row++) {
        mn_vec3 turning = dim == 2 ? mn_v3(0, 0, 0.7) : mn_v3(0.3, -0.2, 0.7);
        mn_vec3 v = mn_add(mn_v3(1, 2, 0), mn_cross(turning, r.w->where[row]));
        CHECK_NEAR(r.U[row], v.v[row], 1e-14);
        r.F[row] = 1 + (double)row;
      }
      CHECK_OK(s->ctx, mn_weights_scatter(r.w, r.F, s->f.load));
      drop_rows();
    }
  CHECK_DONE();
}

/* Bits do not depend on the threads; nothing is allocated twice; bad rows are refused. */
static void repeatable(void **state)
{
  (void)state;
  static double U[2][ROOM];
  static mn_vec3 load[2][ROOM];
  uint64_t seed;
  for (int t = 0; t < 2; t++) {
    seed = 31;
    make_rows(t ? 3 : 1, 3, 12, 0);
    int64_t before = r.s.ctx->allocations;
    CHECK_OK(r.s.ctx, mn_weights_place(r.w, r.s.im, r.face, r.w->rows));
    for (size_t i = 0; i < r.s.f.count; i++)
      r.s.f.V[i] = random_vector(&seed, 3);
    mn_weights_gather(r.w, r.s.f.V, U[t]);
    for (size_t row = 0; row < r.w->rows; row++)
      r.F[row] = check_random(&seed);
    CHECK_OK(r.s.ctx, mn_weights_scatter(r.w, r.F, r.s.f.load));
    CHECK_NEAR((double)(r.s.ctx->allocations - before), 0, 0);
    memcpy(load[t], r.s.f.load, r.s.f.count * sizeof **load);
    mn_closed_face bad = {0, 1, 1, 1, 7, MN_NO_ELEMENT, 0.5};
    CHECK_FAILS(r.s.ctx, mn_weights_place(r.w, r.s.im, &bad, 1), MN_FAILED, "body 7 of 2");
    drop_rows();
  }
  CHECK(!memcmp(U[0], U[1], sizeof U[0]));
  CHECK(!memcmp(load[0], load[1], sizeof load[0]));
  CHECK_DONE();
}

/* No points, no faces: nothing happens. */
static void nothing(void **state)
{
  (void)state;
  make(&r.s, 1, 2, (int[3]){4, 4, 1}, 1, mn_v3(0, 0, 0), 0, 0);
  CHECK_OK(r.s.ctx, mn_immersed_place(r.s.im, &r.s.f));
  CHECK_OK(r.s.ctx, mn_weights_create(r.s.ctx, 1.5, &r.w));
  CHECK_OK(r.s.ctx, mn_weights_place(r.w, r.s.im, NULL, 0));
  mn_weights_gather(r.w, NULL, NULL);
  CHECK_OK(r.s.ctx, mn_weights_scatter(r.w, NULL, NULL));
  mn_weights_share(r.w, NULL, NULL);
  mn_weights *w = NULL;
  CHECK_FAILS(r.s.ctx, mn_weights_create(r.s.ctx, 0, &w), MN_BAD_INPUT, "radius");
  drop_rows();
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(constants_and_motion),
      cmocka_unit_test(power_force_torque),
      cmocka_unit_test(tampered),
      cmocka_unit_test(stretched),
      cmocka_unit_test(slender),
      cmocka_unit_test(repeatable),
      cmocka_unit_test(nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
