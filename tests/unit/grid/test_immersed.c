/* Distances and insides of closed surfaces on a grid; what is refused. */
#include "surfaces.h"

typedef double distance_fn(mn_vec3 x);

/* Greatest error of the nodes within `reach` of the surface; and wrong signs anywhere further than
   `doubt` from it. */
static double distance_error(const mn_immersed *im, distance_fn *exact, double reach, double doubt,
                             int *wrong)
{
  const mn_field *d = &im->distance;
  double worst = 0;
  *wrong = 0;
  for (int k = 0; k < d->n[2]; k++)
    for (int j = 0; j < d->n[1]; j++)
      for (int i = 0; i < d->n[0]; i++) {
        double e = exact(mn_position(d, i, j, k)), got = mn_get(d, i, j, k);
        if (fabs(e) < reach)
          worst = check_worst(worst, fabs(got - e));
        *wrong += fabs(e) > doubt && (e > 0) != (got > 0);
      }
  return worst;
}

static mn_vec3 ball_centre;

static double ball(mn_vec3 x)
{
  return mn_length(mn_sub(x, ball_centre)) - 0.3;
}

/* ---- distances ------------------------------------------------------------------------------- */

static void circle_and_sphere(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++) {
    double h[3], error[3], volume[3];
    for (int r = 0; r < 3; r++) {
      size_t n = (size_t)(dim == 2 ? 16 : 8) << r;
      setup s;
      make(&s, 1, dim, (int[3]){24, 24, 24}, 1.0 / 24, mn_v3(0, 0, 0),
           dim == 2 ? n : sphere_points(n), dim == 2 ? n : sphere_elements(n));
      part p = {.f = &s.f};
      ball_centre = mn_v3(0.52, 0.47, dim == 2 ? 0 : 0.51);
      if (dim == 2)
        set_circle(&p, ball_centre, 0.3, (int)n);
      else
        set_sphere(&p, ball_centre, 0.3, n);
      CHECK_OK(s.ctx, mn_immersed_place(s.im, &s.f));
      int wrong;
      h[r] = 1.0 / (double)n;
      error[r] = distance_error(s.im, ball, 2.9 / 24, 2 * h[r] * h[r], &wrong);
      CHECK_LE(wrong, 0);
      double exact = dim == 2 ? MN_PI * 0.09 : 4.0 / 3 * MN_PI * 0.027;
      volume[r] = fabs(s.im->body[0].volume - exact);
      drop(&s);
    }
    CHECK_ORDER(h, error, 3, 2, 0.15);
    CHECK_ORDER(h, volume, 3, 2, 0.1);
  }
  CHECK_DONE();
}

static mn_vec3 box_lo, box_hi;

static double box_distance(mn_vec3 x)
{
  double outside = 0, inside = -INFINITY;
  for (int a = 0; a < 3; a++) {
    double d = mn_max(box_lo.v[a] - x.v[a], x.v[a] - box_hi.v[a]);
    outside += d > 0 ? d * d : 0;
    inside = mn_max(inside, d);
  }
  return outside > 0 ? sqrt(outside) : inside;
}

/* Boxes are exact, wherever they are: on nodes, on faces, out of the domain. */
static void boxes(void **state)
{
  (void)state;
  static const double place[5][2] = {
      {0.25, 0.75}, {0.28125, 0.71875}, {0.3, 0.66}, {-0.4, 0.5}, {-1, 2}};
  for (int b = 0; b < 5; b++) {
    setup s;
    make(&s, 1, 3, (int[3]){16, 16, 16}, 1.0 / 16, mn_v3(0, 0, 0), 8, 12);
    part p = {.f = &s.f};
    box_lo = mn_v3(place[b][0], 0.25, 0.3125);
    box_hi = mn_v3(place[b][1], 0.8125, 0.75);
    set_box(&p, box_lo, box_hi);
    CHECK_OK(s.ctx, mn_immersed_place(s.im, &s.f));
    int wrong;
    CHECK_LE(distance_error(s.im, box_distance, 2.9 / 16, 1e-9, &wrong), 1e-15);
    CHECK_LE(wrong, 0);
    mn_vec3 size = mn_sub(box_hi, box_lo);
    CHECK_NEAR(s.im->body[0].volume, size.x * size.y * size.z, 1e-15);
    CHECK_NEAR(s.im->body[0].hi.x, box_hi.x, 0);
    /* taken off again */
    s.f.elements = 0;
    CHECK_OK(s.ctx, mn_immersed_place(s.im, &s.f));
    double least = INFINITY;
    for (size_t i = 0; i < s.im->distance.size; i++)
      least = mn_min(least, s.im->distance.data[i]);
    CHECK_NEAR(least, s.im->band, 0);
    drop(&s);
  }
  CHECK_DONE();
}

/* Random polygons with reentrant corners, holes, bodies within holes: signs by the sum of angles,
   distances by the nearest of all elements; half of the corners on nodes. */
static double random_coordinate(uint64_t *seed, double dx)
{
  double x = 0.1 + 0.8 * check_random(seed);
  return check_random(seed) < 0.5 ? dx * round(x / dx) : x;
}

static void random_closed(void **state)
{
  (void)state;
  uint64_t seed = 11;
  double worst = 0;
  int wrong = 0, inside = 0;
  for (int n = 0; n < 400; n++) {
    setup s;
    int dim = n % 4 ? 2 : 3;
    size_t m = dim == 2 ? 12 : 4;
    int cells = dim == 2 ? 16 : 8;
    make(&s, 1, dim, (int[3]){cells, cells, cells}, 1.0 / cells, mn_v3(0, 0, 0),
         dim == 2 ? m : sphere_points(m), dim == 2 ? m : sphere_elements(m));
    part p = {.f = &s.f};
    if (dim == 2) {
      set_circle(&p, mn_v3(0.5, 0.5, 0), 0.4, n % 2 ? 12 : -12);
    } else {
      set_sphere(&p, mn_v3(0.5, 0.5, 0.5), 0.4, m);
    }
    for (size_t i = 0; i < s.f.count; i++)
      for (int a = 0; a < dim; a++)
        if (check_random(&seed) < 0.6)
          s.f.X[i].v[a] = random_coordinate(&seed, s.grid.dx);
    CHECK_OK(s.ctx, mn_immersed_place(s.im, &s.f));
    const mn_field *d = &s.im->distance;
    for (int k = 0; k < d->n[2]; k++)
      for (int j = 0; j < d->n[1]; j++)
        for (int i = 0; i < d->n[0]; i++) {
          mn_vec3 x = mn_position(d, i, j, k);
          double got = mn_get(d, i, j, k), exact = brute_distance(&s.f, 0, x);
          worst = check_worst(worst, fabs(fabs(got) - mn_min(exact, s.im->band)));
          if (exact > 1e-9) {
            int solid = winding_number(&s.f, 0, x) > 0.5;
            wrong += solid != (got < 0);
            inside += solid;
          }
        }
    drop(&s);
  }
  CHECK_LE(worst, 1e-14);
  CHECK_LE(wrong, 0);
  CHECK_GE(inside, 1000);
  CHECK_DONE();
}

/* Greatest difference to the nearest of all elements. */
static double all_nodes_error(const setup *s)
{
  const mn_field *d = &s->im->distance;
  double worst = 0;
  for (int k = 0; k < d->n[2]; k++)
    for (int j = 0; j < d->n[1]; j++)
      for (int i = 0; i < d->n[0]; i++) {
        double exact = brute_distance(&s->f, 0, mn_position(d, i, j, k));
        worst = check_worst(worst, fabs(fabs(mn_get(d, i, j, k)) - mn_min(exact, s->im->band)));
      }
  return worst;
}

/* Surfaces from smooth to jagged: elements visit fewer nodes the smoother they are, and none may be
   missed. The last one has three points of its own for every triangle: nobody's neighbour. */
static void smooth_to_jagged(void **state)
{
  (void)state;
  static const double rough[7] = {0, 0.003, 0.01, 0.03, 0.1, 0.3, 0.01};
  uint64_t seed = 41;
  for (int n = 0; n < 7; n++) {
    size_t m = n % 2 ? 12 : 20;
    setup s;
    make(&s, 1, 3, (int[3]){14, 14, 14}, 1.0 / 14, mn_v3(0, 0, 0), 3 * sphere_elements(m),
         sphere_elements(m));
    s.f.count = sphere_points(m);
    part p = {.f = &s.f};
    set_sphere(&p, mn_v3(0.5, 0.5, 0.5), 0.3, m);
    for (size_t i = 0; i < s.f.count; i++)
      s.f.X[i] = mn_madd(s.f.X[i], rough[n] * (check_random(&seed) - 0.5),
                         mn_sub(s.f.X[i], mn_v3(0.5, 0.5, 0.5)));
    if (n == 6) {
      static mn_vec3 X[5000];
      memcpy(X, s.f.X, s.f.count * sizeof *X);
      for (size_t c = 0; c < 3 * s.f.elements; c++) {
        s.f.X[c] = X[s.f.element[c]];
        s.f.element[c] = (uint32_t)c;
      }
      s.f.count = 3 * s.f.elements;
    }
    CHECK_OK(s.ctx, mn_immersed_place(s.im, &s.f));
    CHECK_LE(all_nodes_error(&s), 1e-14);
    drop(&s);
  }
  CHECK_DONE();
}

/* A ring with a ball in its hole, and another ball that overlaps the ring. */
static double nested_exact(mn_vec3 x)
{
  double r = mn_length(mn_sub(x, mn_v3(0.5, 0.5, 0)));
  double ring = mn_max(r - 0.4, 0.25 - r), ball_in = r - 0.1;
  double other = mn_length(mn_sub(x, mn_v3(0.85, 0.5, 0))) - 0.12;
  return mn_min(mn_min(ring, ball_in), other);
}

static void nested(void **state)
{
  (void)state;
  setup s;
  size_t n = 600;
  make(&s, 1, 2, (int[3]){40, 40, 1}, 1.0 / 40, mn_v3(0, 0, 0), 4 * n, 4 * n);
  part ring = {.f = &s.f}, hole = {.f = &s.f, .point = n, .element = n},
       in = {.f = &s.f, .point = 2 * n, .element = 2 * n, .body = 1},
       other = {.f = &s.f, .point = 3 * n, .element = 3 * n, .body = 4};
  set_circle(&ring, mn_v3(0.5, 0.5, 0), 0.4, (int)n);
  set_circle(&hole, mn_v3(0.5, 0.5, 0), 0.25, -(int)n);
  set_circle(&in, mn_v3(0.5, 0.5, 0), 0.1, (int)n);
  set_circle(&other, mn_v3(0.85, 0.5, 0), 0.12, (int)n);
  CHECK_OK(s.ctx, mn_immersed_place(s.im, &s.f));
  int wrong = 0, wrong_body = 0;
  double worst = 0;
  const mn_field *d = &s.im->distance;
  for (int j = 0; j < d->n[1]; j++)
    for (int i = 0; i < d->n[0]; i++) {
      mn_vec3 x = mn_position(d, i, j, 0);
      double exact = nested_exact(x), got = mn_get(d, i, j, 0);
      wrong += fabs(exact) > 1e-4 && (exact > 0) != (got > 0);
      if (exact > 0) /* in the fluid the union's distance is the nearest */
        worst = check_worst(worst, fabs(got - mn_min(exact, s.im->band)));
      uint32_t e = s.im->nearest[mn_index(d, i, j, 0)];
      double r = mn_length(mn_sub(x, mn_v3(0.5, 0.5, 0)));
      if (r < 0.17 && r > 0.03)
        wrong_body += e == MN_NO_ELEMENT || s.im->body_of[e] != 1;
    }
  CHECK_LE(wrong, 0);
  CHECK_LE(wrong_body, 0);
  CHECK_LE(worst, 1e-4);
  CHECK_NEAR(s.im->body[0].volume, MN_PI * (0.16 - 0.0625), 1e-4);
  CHECK_NEAR(s.im->body[1].volume, MN_PI * 0.01, 1e-5);
  CHECK(s.im->bodies == 5 && s.im->body[2].elements == 0);
  CHECK_NEAR(mn_immersed_face_body(s.im, 0, 24, 20, 0), 1, 0); /* x = 0.6 */
  CHECK_NEAR(mn_immersed_face_body(s.im, 0, 4, 20, 0), 0, 0);  /* x = 0.1 */
  CHECK_NEAR(mn_immersed_face_body(s.im, 1, 38, 20, 0), 4, 0); /* x = 0.9625, y = 0.5: within */
  drop(&s);
  CHECK_DONE();
}

/* ---- failures, repetition -----------------------------------------------------------------------
 */

static void refused(void **state)
{
  (void)state;
  setup s;
  make(&s, 1, 2, (int[3]){8, 8, 1}, 1.0 / 8, mn_v3(0, 0, 0), 16, 16);
  part p = {.f = &s.f};
  set_circle(&p, mn_v3(0.5, 0.5, 0), 0.3, 16);
  CHECK_OK(s.ctx, mn_immersed_place(s.im, &s.f));
  s.f.X[5].y = NAN;
  CHECK_FAILS(s.ctx, mn_immersed_place(s.im, &s.f), MN_FAILED, "point 5");
  s.f.X[5].y = 0.7;
  s.f.element[7] = 99;
  CHECK_FAILS(s.ctx, mn_immersed_place(s.im, &s.f), MN_FAILED, "point 99 of 16");
  s.f.element[7] = 4;
  s.f.body[4] = 3;
  CHECK_FAILS(s.ctx, mn_immersed_place(s.im, &s.f), MN_FAILED, "bodies 0 and 3");
  s.f.body[4] = -1;
  CHECK_FAILS(s.ctx, mn_immersed_place(s.im, &s.f), MN_FAILED, "body -1");
  s.f.body[4] = 0;
  s.f.elements = 12;
  CHECK_FAILS(s.ctx, mn_immersed_place(s.im, &s.f), MN_FAILED, "open edge");
  CHECK(s.im->elements == 0 && mn_get(&s.im->distance, 4, 4, 0) == s.im->band);
  s.f.elements = 16;
  s.f.dim = 3;
  CHECK_FAILS(s.ctx, mn_immersed_place(s.im, &s.f), MN_FAILED, "dimension 3");
  s.f.dim = 2;
  CHECK_OK(s.ctx, mn_immersed_place(s.im, &s.f));
  CHECK(mn_get(&s.im->distance, 4, 4, 0) < 0);
  drop(&s);
  make(&s, 1, 3, (int[3]){8, 8, 8}, 1.0 / 8, mn_v3(0, 0, 0), 8, 12);
  part q = {.f = &s.f};
  set_box(&q, mn_v3(0.2, 0.2, 0.2), mn_v3(0.8, 0.7, 0.6));
  CHECK_OK(s.ctx, mn_immersed_place(s.im, &s.f));
  uint32_t a = s.f.element[0];
  s.f.element[0] = s.f.element[1]; /* one triangle turned round */
  s.f.element[1] = a;
  CHECK_FAILS(s.ctx, mn_immersed_place(s.im, &s.f), MN_FAILED, "body 0, which should be closed");
  drop(&s);
  CHECK_DONE();
}

/* Same bits for any number of threads, and for a place that had others before; no memory asked for
   once the sizes stand. */
static void repeatable(void **state)
{
  (void)state;
  setup s[3];
  uint64_t seed = 23;
  for (int t = 0; t < 3; t++)
    make(&s[t], (int[3]){1, 2, 5}[t], 3, (int[3]){20, 18, 16}, 1.0 / 16, mn_v3(0, 0, 0),
         2 * sphere_points(3), 2 * sphere_elements(3));
  int different = 0;
  for (int n = 0; n < 10; n++) {
    shell_and_body(&s[0], &seed, n % 2);
    for (int t = 1; t < 3; t++) {
      memcpy(s[t].f.X, s[0].f.X, s[0].f.count * sizeof *s[0].f.X);
      memcpy(s[t].f.body, s[0].f.body, s[0].f.count * sizeof *s[0].f.body);
      memcpy(s[t].f.two_sided, s[0].f.two_sided, s[0].f.count);
      memcpy(s[t].f.element, s[0].f.element, 3 * s[0].f.elements * sizeof *s[0].f.element);
    }
    for (int t = 0; t < 3; t++)
      if (n % 2 == 0 || t < 2) /* the last one places every other */
        CHECK_OK(s[t].ctx, mn_immersed_place(s[t].im, &s[t].f));
    for (int t = 1; t < 3; t++) {
      const mn_immersed *a = s[0].im, *b = s[t].im;
      if (n % 2 && t == 2)
        continue;
      different += memcmp(a->distance.data, b->distance.data, a->distance.size * sizeof(double)) ||
                   a->links != b->links ||
                   memcmp(a->link, b->link, a->links * sizeof *a->link) != 0;
    }
  }
  CHECK_LE(different, 0);
  int64_t before = s[0].ctx->allocations;
  for (int n = 0; n < 3; n++)
    CHECK_OK(s[0].ctx, mn_immersed_place(s[0].im, &s[0].f));
  CHECK_NEAR((double)(s[0].ctx->allocations - before), 0, 0);
  for (int t = 0; t < 3; t++)
    drop(&s[t]);
  CHECK_DONE();
}

/* Every allocation fails once: the sentence comes, nothing leaks (seen by the sanitizer's run). */
static void out_of_memory(void **state)
{
  (void)state;
  uint64_t seed = 29;
  setup s;
  make(&s, 1, 2, (int[3]){8, 8, 1}, 1.0 / 8, mn_v3(0, 0, 0), 24, 24);
  shell_and_body(&s, &seed, 0);
  int failed = 0;
  for (int n = 1; n < 100; n++) {
    mn_immersed *im = NULL;
    s.ctx->fail_allocation = s.ctx->allocations + n;
    mn_status status = mn_immersed_create(s.ctx, &s.grid, &im);
    if (status == MN_OK)
      status = mn_immersed_place(im, &s.f);
    s.ctx->fail_allocation = 0;
    if (status == MN_OK) {
      mn_immersed_destroy(&im);
      break;
    }
    failed++;
    if (im) { /* usable again */
      CHECK_OK(s.ctx, mn_immersed_place(im, &s.f));
      mn_immersed_destroy(&im);
    }
  }
  CHECK_GE(failed, 10);
  CHECK_LE(failed, 50);
  drop(&s);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(circle_and_sphere), cmocka_unit_test(boxes),
      cmocka_unit_test(random_closed),     cmocka_unit_test(nested),
      cmocka_unit_test(smooth_to_jagged),  cmocka_unit_test(refused),
      cmocka_unit_test(repeatable),        cmocka_unit_test(out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
