/* Exact signs of determinants, and crossings decided by them.

   A determinant of coordinate differences is first evaluated in doubles; if it exceeds the bound of
   its rounding errors, its sign is right. Otherwise every difference is written exactly as a sum of
   two doubles, and sums and products are carried on as expansions: sums of doubles whose bits do
   not overlap, in ascending order, so that the last one has the sign [Shewchuk 1997]. Products are
   split by fma.

   The shift of the query points, (e, e^2, e^3), e -> 0+, turns each sign into that of a polynomial
   in e: the sign of its first coefficient that is not 0 [Edelsbrunner and Mucke 1990]. With N the
   normal (b - a) x (c - a), D = q - p, E = b - a:
     side of a line     [ E x (p - a), -E_v, E_u ]           (coefficients of 1, e_u, e_v)
     side of a plane    [ N . (p - a), N_x, N_y, N_z ]
     line pq past ab    [ D x (a - p) . (b - p), (D x E)_x, (D x E)_y, (D x E)_z ]
   The last is identically 0 only where the edge is parallel to pq: then the triangle is too, p and
   q are on the same side of it, and the sign is not asked for.

   Limits: products of differences must neither overflow nor underflow (lengths within 1e-90 to
   1e+90). Verified by tests/unit/geom/test_predicates.c. */
#include "geom/predicates.h"

#include <float.h>
#include <math.h>

static const double HALF_EPSILON = 0.5 * DBL_EPSILON; /* of one rounding */

/* ---- expansions ------------------------------------------------------------------------------ */

enum { DIFFERENCE = 2, AREA = 16, VOLUME = 192 }; /* components at most */

static inline double two_sum(double a, double b, double *low)
{
  double s = a + b, bb = s - a;
  *low = (a - (s - bb)) + (b - bb);
  return s;
}

static inline double two_product(double a, double b, double *low)
{
  double p = a * b;
  *low = fma(a, b, -p);
  return p;
}

/* a - b, exactly; returns the number of components. */
static int difference(double a, double b, double h[DIFFERENCE])
{
  double low, high = two_sum(a, -b, &low);
  int n = 0;
  if (low != 0)
    h[n++] = low;
  if (high != 0)
    h[n++] = high;
  return n;
}

/* e += b, in place; room for one more component. */
static int grow(int n, double *e, double b)
{
  int kept = 0;
  double q = b;
  for (int i = 0; i < n; i++) {
    double low;
    q = two_sum(q, e[i], &low);
    if (low != 0)
      e[kept++] = low;
  }
  if (q != 0)
    e[kept++] = q;
  return kept;
}

/* s += sign e f, in place. */
static int add_product(int n, double *s, double sign, int ne, const double *e, int nf,
                       const double *f)
{
  for (int i = 0; i < ne; i++)
    for (int j = 0; j < nf; j++) {
      double low, high = two_product(sign * e[i], f[j], &low);
      n = grow(n, s, low);
      n = grow(n, s, high);
    }
  return n;
}

static inline int sign_of(double x)
{
  return (x > 0) - (x < 0);
}

static int expansion_sign(int n, const double *e)
{
  return n ? sign_of(e[n - 1]) : 0;
}

/* (b - a) x (d - c) */
static int wedge_expansion(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d, int u, int v, double s[AREA])
{
  double bu[DIFFERENCE], bv[DIFFERENCE], du[DIFFERENCE], dv[DIFFERENCE];
  int nbu = difference(b.v[u], a.v[u], bu), nbv = difference(b.v[v], a.v[v], bv);
  int ndu = difference(d.v[u], c.v[u], du), ndv = difference(d.v[v], c.v[v], dv);
  int n = add_product(0, s, 1, nbu, bu, ndv, dv);
  return add_product(n, s, -1, nbv, bv, ndu, du);
}

/* ---- signs ----------------------------------------------------------------------------------- */

int mn_wedge_sign(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d, int u, int v)
{
  double left = (b.v[u] - a.v[u]) * (d.v[v] - c.v[v]);
  double right = (b.v[v] - a.v[v]) * (d.v[u] - c.v[u]);
  /* Differences and products have the right sign, so opposite signs decide. */
  if (sign_of(left) != sign_of(right) || left == 0)
    return left == 0 ? -sign_of(right) : right == 0 ? sign_of(left) : sign_of(left - right);
  double det = left - right;
  if (fabs(det) > (3 + 16 * HALF_EPSILON) * HALF_EPSILON * (fabs(left) + fabs(right)))
    return sign_of(det);
  double s[AREA];
  return expansion_sign(wedge_expansion(a, b, c, d, u, v, s), s);
}

static int exact_volume_sign(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d)
{
  double area[AREA], height[DIFFERENCE], s[VOLUME];
  int n = 0;
  for (int w = 0; w < 3; w++) {
    int na = wedge_expansion(a, b, a, c, (w + 1) % 3, (w + 2) % 3, area);
    int nh = difference(d.v[w], a.v[w], height);
    n = add_product(n, s, 1, na, area, nh, height);
  }
  return expansion_sign(n, s);
}

int mn_volume_sign(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d)
{
  double det = 0, size = 0;
  for (int w = 0; w < 3; w++) {
    int u = (w + 1) % 3, v = (w + 2) % 3;
    double left = (b.v[u] - a.v[u]) * (c.v[v] - a.v[v]);
    double right = (b.v[v] - a.v[v]) * (c.v[u] - a.v[u]);
    double height = d.v[w] - a.v[w];
    det += (left - right) * height;
    size += (fabs(left) + fabs(right)) * fabs(height);
  }
  if (size == 0)
    return 0; /* each product has a factor that is exactly 0 */
  if (fabs(det) > (8 + 64 * HALF_EPSILON) * HALF_EPSILON * size)
    return sign_of(det);
  return exact_volume_sign(a, b, c, d);
}

int mn_line_side(mn_vec3 a, mn_vec3 b, mn_vec3 p, int u, int v)
{
  int s = mn_wedge_sign(a, b, a, p, u, v);
  if (s)
    return s;
  int by_u = sign_of(a.v[v] - b.v[v]), by_v = sign_of(b.v[u] - a.v[u]);
  if (u < v) /* the shift along the lower axis is the greater one */
    return by_u ? by_u : by_v;
  return by_v ? by_v : by_u;
}

int mn_plane_side(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 p)
{
  int s = mn_volume_sign(a, b, c, p);
  for (int w = 0; !s && w < 3; w++)
    s = mn_wedge_sign(a, b, a, c, (w + 1) % 3, (w + 2) % 3);
  return s;
}

/* The line from the shifted p to q passes the edge from a to b: sign of the volume of p, q, a, b.
 */
static int edge_side(mn_vec3 p, mn_vec3 q, mn_vec3 a, mn_vec3 b)
{
  int s = mn_volume_sign(p, q, a, b);
  for (int w = 0; !s && w < 3; w++)
    s = mn_wedge_sign(p, q, a, b, (w + 1) % 3, (w + 2) % 3);
  return s;
}

/* Side of point a from the line through the shifted p and q: the shift moves a the other way. */
static int point_side(mn_vec3 p, mn_vec3 q, mn_vec3 a)
{
  int s = mn_wedge_sign(p, q, p, a, 0, 1);
  if (!s)
    s = sign_of(q.y - p.y);
  return s ? s : sign_of(p.x - q.x);
}

int mn_segment_crosses(int dim, const mn_vec3 x[3], mn_vec3 p, mn_vec3 q)
{
  if (dim == 2) {
    int from = mn_line_side(x[0], x[1], p, 0, 1), to = mn_line_side(x[0], x[1], q, 0, 1);
    if (from == to || point_side(p, q, x[0]) == point_side(p, q, x[1]))
      return 0;
    return to;
  }
  int from = mn_plane_side(x[0], x[1], x[2], p), to = mn_plane_side(x[0], x[1], x[2], q);
  if (from == to)
    return 0;
  int s = edge_side(p, q, x[0], x[1]);
  return s == edge_side(p, q, x[1], x[2]) && s == edge_side(p, q, x[2], x[0]) ? to : 0;
}
