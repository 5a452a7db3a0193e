/* Blocked links and crossings of thin surfaces: watertight, and as loops over all elements say. */
#include "surfaces.h"

#include "geom/predicates.h"

/* ---- blocked links --------------------------------------------------------------------------- */

typedef int link_fn(const mn_immersed *im, int axis, int i, int j, int k);

static int exact_link(const mn_immersed *im, int axis, int i, int j, int k)
{
  return mn_immersed_blocks(im, axis, i, j, k);
}

static mn_vec3 centre_of(const mn_grid *g, int i, int j, int k)
{
  mn_field cell = {.grid = g, .place = MN_CELL};
  return mn_position(&cell, i, j, k);
}

static double plain_side(mn_vec3 a, mn_vec3 b, mn_vec3 p)
{
  return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

static int plain_cross(mn_vec3 a, mn_vec3 b, mn_vec3 p, mn_vec3 q)
{
  return plain_side(a, b, p) * plain_side(a, b, q) < 0 &&
         plain_side(p, q, a) * plain_side(p, q, b) < 0;
}

static int plain_any(const mn_immersed *im, mn_vec3 p, mn_vec3 q)
{
  for (size_t e = 0; e < im->elements; e++)
    if (plain_cross(im->X[im->element[2 * e]], im->X[im->element[2 * e + 1]], p, q))
      return 1;
  return 0;
}

/* Negative control: the same link in doubles, 2D. */
static int plain_link(const mn_immersed *im, int axis, int i, int j, int k)
{
  return plain_any(im, centre_of(im->grid, i - (axis == 0), j - (axis == 1), k),
                   centre_of(im->grid, i, j, k));
}

/* Negative control: the face itself instead of the link, 2D. */
static int face_itself(const mn_immersed *im, int axis, int i, int j, int k)
{
  mn_field node = {.grid = im->grid, .place = MN_NODE};
  return plain_any(im, mn_position(&node, i, j, k),
                   mn_position(&node, i + (axis == 1), j + (axis == 0), k));
}

enum { MOST = 16 * 16 };

/* Floods the cells through open links; counts the cells reached whose centre has another winding
   number than the cell where the flood began: leaks. */
static int leaks(const setup *s, link_fn *blocked)
{
  const int *n = s->grid.n;
  int dim = s->grid.dim, total = n[0] * n[1] * n[2], found = 0;
  static int component[8 * 8 * 8 + MOST], stack[8 * 8 * 8 + MOST];
  memset(component, 0, sizeof component);
  for (int start = 0; start < total; start++) {
    if (component[start])
      continue;
    double number = NAN;
    int depth = 0;
    component[start] = 1;
    stack[depth++] = start;
    while (depth) {
      int c = stack[--depth];
      int at[3] = {c % n[0], c / n[0] % n[1], c / n[0] / n[1]};
      mn_vec3 x = centre_of(&s->grid, at[0], at[1], at[2]);
      if (brute_distance(&s->f, 1, x) > 1e-9) { /* else the sum of angles means nothing */
        double w = round(winding_number(&s->f, 1, x));
        found += !isnan(number) && w != number;
        number = isnan(number) ? w : number;
      }
      for (int a = 0, stride = 1; a < dim; stride *= n[a++])
        for (int up = 0; up < 2; up++) {
          int to[3] = {at[0], at[1], at[2]}, face[3] = {at[0], at[1], at[2]};
          to[a] += up ? 1 : -1;
          face[a] += up;
          int next = c + (up ? stride : -stride);
          if (to[a] < 0 || to[a] >= n[a] || component[next] ||
              blocked(s->im, a, face[0], face[1], face[2]))
            continue;
          component[next] = 1;
          stack[depth++] = next;
        }
    }
  }
  return found;
}

static void watertight_2d(void **state)
{
  (void)state;
  uint64_t seed = 3;
  int leak[2] = {0, 0}, plain[2] = {0, 0}, face[2] = {0, 0};
  size_t links = 0;
  setup s;
  make(&s, 1, 2, (int[3]){12, 12, 1}, 1.0 / 12, mn_v3(0, 0, 0), 16, 16);
  part p = {.f = &s.f, .two_sided = 1};
  for (int n = 0; n < 4000; n++) {
    size_t m = 3 + (size_t)(13 * check_random(&seed));
    s.f.count = s.f.elements = m;
    set_circle(&p, mn_v3(0.5, 0.5, 0), 0.3, (int)m);
    random_shell(&s, s.f.count, &seed, n % 2);
    CHECK_OK(s.ctx, mn_immersed_place(s.im, &s.f));
    leak[n % 2] += leaks(&s, exact_link) > 0;
    if (n < 400) {
      plain[n % 2] += leaks(&s, plain_link) > 0;
      face[n % 2] += leaks(&s, face_itself) > 0;
    }
    links += s.im->links;
  }
  s.f.count = s.f.elements = 16;
  CHECK_LE(leak[0], 0);
  CHECK_LE(leak[1], 0);
  CHECK_GE((double)links, 4000);
  /* negative controls, of 200 each */
  CHECK_GE(plain[1], 20);
  CHECK_GE(face[0], 100);
  CHECK_GE(face[1], 100);
  drop(&s);
  CHECK_DONE();
}

static void watertight_3d(void **state)
{
  (void)state;
  uint64_t seed = 5;
  int leak[2] = {0, 0};
  size_t links = 0;
  setup s;
  make(&s, 1, 3, (int[3]){7, 7, 7}, 1.0 / 7, mn_v3(0, 0, 0), sphere_points(4), sphere_elements(4));
  part p = {.f = &s.f, .two_sided = 1};
  for (int n = 0; n < 1200; n++) {
    size_t m = 2 + (size_t)(3 * check_random(&seed));
    s.f.count = sphere_points(m);
    s.f.elements = sphere_elements(m);
    set_sphere(&p, mn_v3(0.5, 0.5, 0.5), 0.3, m);
    random_shell(&s, s.f.count, &seed, n % 2);
    CHECK_OK(s.ctx, mn_immersed_place(s.im, &s.f));
    leak[n % 2] += leaks(&s, exact_link) > 0;
    links += s.im->links;
  }
  CHECK_LE(leak[0], 0);
  CHECK_LE(leak[1], 0);
  CHECK_GE((double)links, 10000);
  drop(&s);
  CHECK_DONE();
}

/* The usual start of scenes: circles and boxes with corners on centres, faces and nodes. */
static void aligned(void **state)
{
  (void)state;
  int leak = 0, plain = 0;
  setup s;
  make(&s, 1, 2, (int[3]){16, 16, 1}, 1.0 / 16, mn_v3(0, 0, 0), 64, 64);
  part p = {.f = &s.f, .two_sided = 1};
  for (int m = 4; m <= 64; m += 4)
    for (int c = 0; c < 4; c++)
      for (int r = 4; r < 16; r++) {
        s.f.count = s.f.elements = (size_t)m;
        set_circle(&p, mn_v3(0.5 + (c & 1) / 32.0, 0.5 + (c >> 1) / 32.0, 0), r / 32.0, m);
        CHECK_OK(s.ctx, mn_immersed_place(s.im, &s.f));
        leak += leaks(&s, exact_link) > 0;
        plain += leaks(&s, plain_link) > 0;
      }
  CHECK_LE(leak, 0);
  CHECK_GE(plain, 20);
  drop(&s);
  make(&s, 1, 3, (int[3]){8, 8, 8}, 1.0 / 8, mn_v3(0, 0, 0), 8, 12);
  part q = {.f = &s.f, .two_sided = 1};
  leak = 0;
  for (int lo = 2; lo < 8; lo++)
    for (int hi = lo + 1; hi < 14; hi++) {
      set_box(&q, mn_v3(lo / 16.0, lo / 16.0, 3 / 16.0), mn_v3(hi / 16.0, 0.75, hi / 16.0 + 0.1));
      CHECK_OK(s.ctx, mn_immersed_place(s.im, &s.f));
      leak += leaks(&s, exact_link) > 0;
    }
  CHECK_LE(leak, 0);
  drop(&s);
  CHECK_DONE();
}

/* Every link, those of the outermost faces included, as the query between the centres has it. */
static int links_against_queries(const setup *s)
{
  int wrong = 0;
  for (int a = 0; a < s->grid.dim; a++) {
    const mn_field *f = &s->im->face[a];
    for (int k = 0; k < f->n[2]; k++)
      for (int j = 0; j < f->n[1]; j++)
        for (int i = 0; i < f->n[0]; i++) {
          mn_vec3 p = centre_of(&s->grid, i - (a == 0), j - (a == 1), k - (a == 2));
          mn_vec3 q = centre_of(&s->grid, i, j, k);
          double t;
          uint32_t e;
          int32_t number = s->im->blocked[a][mn_index(f, i, j, k)];
          int crosses = mn_immersed_crosses(s->im, p, q, &t, &e);
          wrong += crosses != (number != 0);
          if (!crosses || !number)
            continue;
          const mn_closed_face *l = &s->im->link[number - 1];
          wrong += l->axis != a || l->i != i || l->j != j || l->k != k || l->element != e ||
                   l->fraction != t || l->body != s->im->body_of[e];
        }
  }
  return wrong;
}

/* All elements, one after the other. */
static int brute_crosses(const mn_immersed *im, mn_vec3 p, mn_vec3 q, double *t)
{
  int found = 0;
  *t = INFINITY;
  for (size_t e = 0; e < im->elements; e++) {
    int dim = im->grid->dim;
    mn_vec3 x[3];
    for (int c = 0; c < dim; c++)
      x[c] = im->X[im->element[(size_t)(dim * (int)e + c)]];
    if (!im->two_sided[e] || !mn_segment_crosses(dim, x, p, q))
      continue;
    mn_vec3 a = mn_sub(x[1], x[0]);
    mn_vec3 n = dim == 2 ? mn_v3(-a.y, a.x, 0) : mn_cross(a, mn_sub(x[2], x[0]));
    double hp = mn_dot(n, mn_sub(p, x[0])), hq = mn_dot(n, mn_sub(q, x[0]));
    *t = mn_min(*t, hp == hq ? 0.5 : mn_clamp(hp / (hp - hq), 0, 1));
    found = 1;
  }
  return found;
}

static int wrong_crossing(const setup *s, mn_vec3 a, mn_vec3 b, int *hits)
{
  double t = INFINITY, exact;
  int got = mn_immersed_crosses(s->im, a, b, &t, NULL);
  *hits += got;
  return got != brute_crosses(s->im, a, b, &exact) || t != exact;
}

static double nearest_error(const setup *s, mn_vec3 a, int two_sided)
{
  size_t dim = (size_t)s->grid.dim;
  double weight[3], distance, sum = 0;
  uint32_t e = mn_immersed_nearest(s->im, a, two_sided ? MN_TWO_SIDED_BODIES : MN_CLOSED_BODIES,
                                   weight, &distance);
  uint32_t same = mn_immersed_nearest(s->im, a, two_sided ? 0 : 1, weight, &distance);
  mn_vec3 at = {{0}};
  if (e == MN_NO_ELEMENT || e != same)
    return INFINITY;
  for (size_t c = 0; c < dim; c++) {
    at = mn_madd(at, weight[c], s->f.X[s->f.element[dim * e + c]]);
    sum += weight[c];
  }
  double worst = fabs(distance - brute_distance(&s->f, two_sided, a));
  worst = check_worst(worst, fabs(mn_length(mn_sub(a, at)) - distance));
  return check_worst(worst, fabs(sum - 1));
}

static void queries(void **state)
{
  (void)state;
  uint64_t seed = 17;
  for (int dim = 2; dim <= 3; dim++) {
    int wrong_links = 0, wrong = 0, hits = 0;
    double worst = 0;
    setup s;
    make(&s, 1, dim, (int[3]){10, 9, 8}, 1.0 / 10, mn_v3(0.05, 0.1, 0.15),
         2 * (dim == 2 ? 12 : sphere_points(3)), 2 * (dim == 2 ? 12 : sphere_elements(3)));
    for (int n = 0; n < 200; n++) {
      shell_and_body(&s, &seed, n % 2);
      CHECK_OK(s.ctx, mn_immersed_place(s.im, &s.f));
      wrong_links += links_against_queries(&s);
      for (int m = 0; m < 100; m++) {
        mn_vec3 a = m % 10 ? random_in_box(&seed, dim, 0.3) : s.f.X[m / 10]; /* on the surface */
        mn_vec3 b = random_in_box(&seed, dim, 0.3);
        wrong += wrong_crossing(&s, a, m % 2 ? b : mn_madd(a, 0.1, mn_sub(b, a)), &hits);
        worst = check_worst(worst, nearest_error(&s, a, m % 2));
      }
    }
    CHECK_LE(wrong_links, 0);
    CHECK_LE(wrong, 0);
    CHECK_LE(worst, 1e-14);
    CHECK_GE(hits, 2000);
    drop(&s);
  }
  CHECK_DONE();
}

/* An open curve that ends within a cell: links are blocked up to its end and not beyond. */
static void open_curve(void **state)
{
  (void)state;
  setup s;
  make(&s, 1, 2, (int[3]){8, 8, 1}, 1, mn_v3(0, 0, 0), 3, 2);
  part p = {.f = &s.f, .two_sided = 1};
  set_point(&p, 0, mn_v3(0, 3.1, 0)); /* from the wall */
  set_point(&p, 1, mn_v3(2, 3.4, 0));
  set_point(&p, 2, mn_v3(4.51, 3.25, 0)); /* just past the centres at x = 4.5 */
  set_element(&p, 0, 0, 1, 0);
  set_element(&p, 1, 1, 2, 0);
  CHECK_OK(s.ctx, mn_immersed_place(s.im, &s.f));
  CHECK_NEAR((double)s.im->links, 5, 0);
  for (size_t l = 0; l < s.im->links; l++) { /* between the centres at y = 2.5 and 3.5 */
    const mn_closed_face *f = &s.im->link[l];
    CHECK(f->axis == 1 && f->j == 3 && f->i == (int)l && f->element == (l > 1) && f->body == 0);
  }
  CHECK_NEAR(s.im->link[0].fraction, 3.1 + 0.25 * 0.3 - 2.5, 1e-15);
  CHECK(!mn_immersed_blocks(s.im, 1, 5, 3, 0));
  s.f.X[2].x = 4.49; /* now short of them */
  CHECK_OK(s.ctx, mn_immersed_place(s.im, &s.f));
  CHECK_NEAR((double)s.im->links, 4, 0);
  CHECK(!mn_immersed_blocks(s.im, 1, 4, 3, 0));
  /* on the outermost face: between the last centre and the one beyond the wall */
  set_point(&p, 0, mn_v3(8.2, 1, 0));
  set_point(&p, 1, mn_v3(7.8, 2, 0));
  set_point(&p, 2, mn_v3(7.8, 2.6, 0));
  CHECK_OK(s.ctx, mn_immersed_place(s.im, &s.f));
  CHECK(mn_immersed_blocks(s.im, 0, 8, 1, 0) && mn_immersed_blocks(s.im, 0, 8, 2, 0));
  CHECK_NEAR((double)s.im->links, 2, 0);
  drop(&s);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(watertight_2d), cmocka_unit_test(watertight_3d), cmocka_unit_test(aligned),
      cmocka_unit_test(queries),       cmocka_unit_test(open_curve),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
