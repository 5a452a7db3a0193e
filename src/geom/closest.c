/* Nearest points: within a triangle if the foot on its plane has no negative barycentric
   coordinate, else on the nearest of its edges; so too for triangles without area. Verified by
   tests/unit/grid/test_immersed.c against dense sampling. */
#include "geom/closest.h"

/* On the segment from a to b; the weight of b. */
static double on_segment(mn_vec3 a, mn_vec3 b, mn_vec3 p)
{
  mn_vec3 e = mn_sub(b, a);
  double along = mn_dot(e, mn_sub(p, a)), square = mn_dot(e, e);
  return along <= 0 ? 0 : along >= square ? 1 : along / square;
}

static double square_to(mn_vec3 a, mn_vec3 b, double t, mn_vec3 p)
{
  mn_vec3 d = mn_sub(mn_madd(mn_scale(1 - t, a), t, b), p);
  return mn_dot(d, d);
}

static double on_edges(const mn_vec3 x[3], mn_vec3 p, double weight[3])
{
  double least = INFINITY;
  for (int e = 0; e < 3; e++) {
    int f = (e + 1) % 3;
    double t = on_segment(x[e], x[f], p), square = square_to(x[e], x[f], t, p);
    if (square < least) {
      least = square;
      weight[e] = 1 - t;
      weight[f] = t;
      weight[(e + 2) % 3] = 0;
    }
  }
  return least;
}

double mn_closest(int dim, const mn_vec3 x[3], mn_vec3 p, double weight[3])
{
  if (dim == 2) {
    double t = on_segment(x[0], x[1], p);
    weight[0] = 1 - t;
    weight[1] = t;
    weight[2] = 0;
    return square_to(x[0], x[1], t, p);
  }
  mn_vec3 ab = mn_sub(x[1], x[0]), ac = mn_sub(x[2], x[0]), ap = mn_sub(p, x[0]);
  mn_vec3 n = mn_cross(ab, ac);
  double nn = mn_dot(n, n);
  double c = mn_dot(mn_cross(ab, ap), n), b = mn_dot(mn_cross(ap, ac), n); /* nn weight */
  if (!(nn > 0) || b < 0 || c < 0 || b + c > nn)
    return on_edges(x, p, weight);
  weight[1] = b / nn;
  weight[2] = c / nn;
  weight[0] = 1 - weight[1] - weight[2];
  double height = mn_dot(n, ap);
  return height * height / nn;
}
