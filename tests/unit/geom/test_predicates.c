/* Signs against integer arithmetic: coordinates that are multiples of 2^-20 make every determinant
   an integer of at most 66 bits, which 128-bit arithmetic holds exactly. */
#include "check.h"

#include <math.h>

#include "geom/predicates.h"
#include "math/vec.h"

__extension__ typedef __int128 int128;

static const double UNIT = 1.0 / (1 << 20);

typedef struct point {
  int64_t v[3];
} point;

static point random_point(uint64_t *seed, int64_t range)
{
  point p;
  for (int a = 0; a < 3; a++)
    p.v[a] = (int64_t)(check_random(seed) * (double)(2 * range + 1)) - range;
  return p;
}

/* Far from the origin, so that differences in doubles are those of large numbers. */
static mn_vec3 place(point p)
{
  return mn_v3(1024 + UNIT * (double)p.v[0], -4096 + UNIT * (double)p.v[1],
               256 + UNIT * (double)p.v[2]);
}

static int sign128(int128 x)
{
  return (x > 0) - (x < 0);
}

static int128 wedge(point a, point b, point c, point d, int u, int v)
{
  return (int128)(b.v[u] - a.v[u]) * (d.v[v] - c.v[v]) -
         (int128)(b.v[v] - a.v[v]) * (d.v[u] - c.v[u]);
}

static int128 volume(point a, point b, point c, point d)
{
  int128 sum = 0;
  for (int w = 0; w < 3; w++)
    sum += wedge(a, b, a, c, (w + 1) % 3, (w + 2) % 3) * (d.v[w] - a.v[w]);
  return sum;
}

/* p on the plane of a, b, c or near it: a + s (b - a) + t (c - a), moved by at most `off` units. */
static point near_plane(uint64_t *seed, point a, point b, point c, int64_t off)
{
  int64_t s = (int64_t)(check_random(seed) * 8) - 4, t = (int64_t)(check_random(seed) * 8) - 4;
  point p = off ? random_point(seed, off) : (point){{0, 0, 0}};
  for (int i = 0; i < 3; i++)
    p.v[i] += a.v[i] + s * (b.v[i] - a.v[i]) + t * (c.v[i] - a.v[i]);
  return p;
}

static double plain_volume(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d)
{
  return mn_dot(mn_cross(mn_sub(b, a), mn_sub(c, a)), mn_sub(d, a));
}

static void signs(void **state)
{
  (void)state;
  uint64_t seed = 1;
  int wrong_wedge = 0, wrong_volume = 0, zeros = 0, plain = 0;
  for (int n = 0; n < 200000; n++) {
    int64_t range = n % 4 == 0 ? 4 : n % 4 == 1 ? 1000 : 1 << 20;
    point a = random_point(&seed, range), b = random_point(&seed, range),
          c = random_point(&seed, range), d = near_plane(&seed, a, b, c, n % 3);
    mn_vec3 x[4] = {place(a), place(b), place(c), place(d)};
    for (int w = 0; w < 3; w++) {
      int u = (w + 1) % 3, v = (w + 2) % 3;
      wrong_wedge +=
          mn_wedge_sign(x[0], x[1], x[2], x[3], u, v) != sign128(wedge(a, b, c, d, u, v));
    }
    int exact = sign128(volume(a, b, c, d));
    zeros += exact == 0;
    wrong_volume += mn_volume_sign(x[0], x[1], x[2], x[3]) != exact;
    double v = plain_volume(x[0], x[1], x[2], x[3]);
    plain += (v > 0) - (v < 0) != exact;
  }
  CHECK_LE(wrong_wedge, 0);
  CHECK_LE(wrong_volume, 0);
  CHECK_GE(zeros, 1000);
  CHECK_GE(plain, 1000); /* the formula in doubles: the cases are hard */
  CHECK_DONE();
}

/* A point that leaves a plane or line by the last bit of one coordinate. */
static void last_bit(void **state)
{
  (void)state;
  mn_vec3 a = mn_v3(0.1, 0.2, 0.3), b = mn_v3(1.7, 0.2, 0.3), c = mn_v3(0.1, 2.3, 0.3);
  mn_vec3 p = mn_v3(0.77, 0.33, 0.3);
  CHECK_NEAR(mn_volume_sign(a, b, c, p), 0, 0);
  p.z = nextafter(0.3, 1);
  CHECK_NEAR(mn_volume_sign(a, b, c, p), 1, 0);
  CHECK_NEAR(mn_volume_sign(a, c, b, p), -1, 0);
  p.z = nextafter(0.3, 0);
  CHECK_NEAR(mn_volume_sign(a, b, c, p), -1, 0);
  /* the line y = x, its first point off by one unit in the last place */
  double e = 0x1p-53;
  mn_vec3 q = mn_v3(0.5, 0.5, 0), r = mn_v3(12, 12, 0), s = mn_v3(24, 24, 0);
  CHECK_NEAR(mn_wedge_sign(q, r, q, s, 0, 1), 0, 0);
  CHECK_NEAR(mn_wedge_sign(mn_v3(0.5 + e, 0.5, 0), r, mn_v3(0.5 + e, 0.5, 0), s, 0, 1), -1, 0);
  CHECK_NEAR(mn_wedge_sign(mn_v3(0.5, 0.5 + e, 0), r, mn_v3(0.5, 0.5 + e, 0), s, 0, 1), 1, 0);
  CHECK_DONE();
}

/* The shift, for real: integers scaled up, so that p and q can be moved by less than the smallest
   difference. Signs must be those of the points moved. */
static point moved(point p, int64_t scale, const int64_t e[3])
{
  for (int a = 0; a < 3; a++)
    p.v[a] = p.v[a] * scale + e[a];
  return p;
}

static int crosses_moved(int dim, const point x[3], point p, point q)
{
  /* coordinates within +-2: minors are below 2^7, so the shifts of 2^22, 2^11, 1 in units of 2^-36
     keep their order, and determinants fit in 128 bits */
  static const int64_t shift[3] = {1 << 22, 1 << 11, 1}, none[3] = {0, 0, 0};
  int64_t scale = (int64_t)1 << 36;
  point y[3], r = moved(p, scale, shift), s = moved(q, scale, shift);
  for (int c = 0; c < dim; c++)
    y[c] = moved(x[c], scale, none);
  if (dim == 2) {
    int from = sign128(wedge(y[0], y[1], y[0], r, 0, 1));
    int to = sign128(wedge(y[0], y[1], y[0], s, 0, 1));
    return from != to && sign128(wedge(r, s, r, y[0], 0, 1)) != sign128(wedge(r, s, r, y[1], 0, 1))
               ? to
               : 0;
  }
  int from = sign128(volume(y[0], y[1], y[2], r)), to = sign128(volume(y[0], y[1], y[2], s));
  int e = sign128(volume(r, s, y[0], y[1]));
  return from != to && e == sign128(volume(r, s, y[1], y[2])) &&
                 e == sign128(volume(r, s, y[2], y[0]))
             ? to
             : 0;
}

static void shifted(void **state)
{
  (void)state;
  uint64_t seed = 7;
  for (int dim = 2; dim <= 3; dim++) {
    int wrong = 0, crossings = 0, reversed = 0;
    for (int n = 0; n < 300000; n++) {
      point x[3], p = random_point(&seed, 2), q = random_point(&seed, 2);
      mn_vec3 X[3];
      for (int c = 0; c < 3; c++) {
        x[c] = random_point(&seed, 2);
        if (dim == 2)
          x[c].v[2] = 0;
        X[c] = place(x[c]);
      }
      if (dim == 2)
        p.v[2] = q.v[2] = 0;
      int got = mn_segment_crosses(dim, X, place(p), place(q));
      wrong += got != crosses_moved(dim, x, p, q);
      reversed += got != -mn_segment_crosses(dim, X, place(q), place(p));
      crossings += got != 0;
    }
    CHECK_LE(wrong, 0);
    CHECK_LE(reversed, 0);
    CHECK_GE(crossings, 1000);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(signs),
      cmocka_unit_test(last_bit),
      cmocka_unit_test(shifted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
