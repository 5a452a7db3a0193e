/* Open fractions of faces and cells from a signed distance d at the nodes (d > 0: fluid).

   Faces: d is interpolated linearly along the four edges of a face; the polygon of the positive
   corners and the crossings is the open part (marching squares). The saddle, two positive corners
   opposite each other, is decided by the sign of the bilinear interpolant at its saddle point
   [Nielson 1991], which both cells of a face agree on. In 2D a face is an edge.

   Cells: in 2D the square above. In 3D the cube is cut into 24 tetrahedra (an edge, the centre of
   a face it belongs to, the centre of the cube; a centre carries the mean of its corners) and each
   is clipped exactly by the linear interpolant. The cut has all symmetries of the cube, so a
   symmetric set-up stays symmetric.

   Exact for every linear d. For a curved wall the error of one cut face is O(dx^2) of the wall's
   curvature, and sums over a wall converge at second order. What is thinner than a cell is lost.
   All corners d >= 0, one of them > 0: exactly 1; all d <= 0: exactly 0, so that a face lying in a
   wall is closed. Otherwise fraction(d) + fraction(-d) = 1.
   Verified by tests/unit/grid/test_fractions.c. */
#include "grid/fractions.h"

#include <assert.h>

/* Distances below this part of dx are round-off of a wall that lies on the grid's nodes: without
   the snap such a wall would open and close by chance. */
static const double SNAP = 1e-10;

/* Part of the way from a positive corner to the crossing; 1 if the other one is on the wall. */
static inline double reach(double positive, double other)
{
  return positive / (positive - other);
}

double mn_edge_fraction(double d0, double d1)
{
  if (d0 > 0)
    return d1 >= 0 ? 1 : reach(d0, d1);
  if (d1 > 0)
    return d0 >= 0 ? 1 : reach(d1, d0);
  return 0;
}

/* Corner triangle of c, cut off towards its two neighbours, which have the other sign. */
static inline double corner(double c, double a, double b)
{
  return c == 0 ? 0 : 0.5 * reach(c, a) * reach(c, b);
}

double mn_square_fraction(const double d[4])
{
  int p[4], positive = 0, negative = 0;
  for (int i = 0; i < 4; i++) {
    p[i] = d[i] > 0;
    positive += p[i];
    negative += d[i] < 0;
  }
  if (positive == 0)
    return 0;
  if (negative == 0)
    return 1;
  /* The neighbours of corner i on the square are i^1 and i^2, opposite is i^3. */
  if (positive == 1 || positive == 3) {
    int c = 0; /* the corner that differs */
    while (p[c] != (positive == 1))
      c++;
    if (positive == 1 && negative == 1 &&
        d[c ^ 3] == 0) /* a whole edge on the wall between + and -: half of it */
      return 0.5 * (reach(d[c], d[c ^ 1] < 0 ? d[c ^ 1] : d[c ^ 2]) + 0.5);
    double area = corner(d[c], d[c ^ 1], d[c ^ 2]);
    return positive == 1 ? area : 1 - area;
  }
  if (p[0] != p[3]) { /* two neighbours: a trapezoid between the edges that cross */
    int step = p[0] == p[1] ? 2 : 1, along = 3 - step;
    return 0.5 * (mn_edge_fraction(d[0], d[step]) + mn_edge_fraction(d[along], d[3]));
  }
  /* Two opposite corners c, c^3: joined or apart, by the sign of the bilinear saddle value. */
  int c = p[0] ? 0 : 1;
  double apart = corner(d[c], d[c ^ 1], d[c ^ 2]) + corner(d[c ^ 3], d[c ^ 1], d[c ^ 2]);
  double joined = 1 - corner(d[c ^ 1], d[c], d[c ^ 3]) - corner(d[c ^ 2], d[c], d[c ^ 3]);
  double saddle = d[c] * d[c ^ 3] - d[c ^ 1] * d[c ^ 2];
  return saddle > 0 ? joined : saddle < 0 ? apart : 0.5 * (joined + apart);
}

/* Positive part of a tetrahedron with the values v. */
static double tetrahedron_fraction(const double v[4])
{
  double p[4], n[4];
  int np = 0, nn = 0, zeros = 0;
  for (int i = 0; i < 4; i++) {
    if (v[i] > 0)
      p[np++] = v[i];
    else
      n[nn++] = v[i];
    zeros += v[i] == 0;
  }
  switch (np) {
  case 0:
    return zeros == 4 ? 0.5 : 0;
  case 1:
    return reach(p[0], n[0]) * reach(p[0], n[1]) * reach(p[0], n[2]);
  case 2: {
    /* the prism between the two positive corners a, b: three tetrahedra */
    double ac = reach(p[0], n[0]), ad = reach(p[0], n[1]);
    double bc = reach(p[1], n[0]), bd = reach(p[1], n[1]);
    return ac * ad + ac * (1 - ad) * bd + (1 - ac) * bc * bd;
  }
  case 3:
    if (n[0] == 0)
      return 1;
    return 1 - reach(n[0], p[0]) * reach(n[0], p[1]) * reach(n[0], p[2]);
  default:
    return 1;
  }
}

static double cube_fraction(const double d[8])
{
  int positive = 0, negative = 0;
  double centre = 0;
  for (int i = 0; i < 8; i++) {
    positive += d[i] > 0;
    negative += d[i] < 0;
    centre += 0.125 * d[i];
  }
  if (positive == 0)
    return 0;
  if (negative == 0)
    return 1;
  double sum = 0;
  for (int a = 0; a < 3; a++) {
    int b = 1 << (a + 1) % 3, c = 1 << (a + 2) % 3;
    for (int side = 0; side < 2; side++) {
      int base = side << a;
      int loop[5] = {base, base + b, base + b + c, base + c, base};
      double face = 0;
      for (int e = 0; e < 4; e++)
        face += 0.25 * d[loop[e]];
      for (int e = 0; e < 4; e++)
        sum += tetrahedron_fraction((double[4]){d[loop[e]], d[loop[e + 1]], face, centre});
    }
  }
  return mn_clamp(sum / 24, 0, 1);
}

double mn_cell_fraction(int dim, const double *d)
{
  return dim == 3 ? cube_fraction(d) : mn_square_fraction(d);
}

static inline double snapped(double d, double threshold)
{
  return fabs(d) <= threshold ? 0 : d;
}

static void faces_of_axis(const mn_field *node, int a, mn_field *open)
{
  assert(node->place == MN_NODE && (int)open->place == a);
  int three = node->grid->dim == 3;
  int64_t sb = node->stride[three ? (a + 1) % 3 : 1 - a],
          sc = three ? node->stride[(a + 2) % 3] : 0;
  double threshold = SNAP * node->grid->dx;
  int slabs = mn_slabs(open), threads = node->grid->exec->threads;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(open, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < open->n[0]; i++) {
        const double *p = node->at + mn_index(node, i, j, k);
        double d[4] = {snapped(p[0], threshold), snapped(p[sb], threshold),
                       snapped(p[sc], threshold), snapped(p[sb + sc], threshold)};
        mn_set(open, i, j, k, three ? mn_square_fraction(d) : mn_edge_fraction(d[0], d[1]));
      }
  }
}

void mn_face_fractions(const mn_field *node_distance, mn_field open[3])
{
  for (int a = 0; a < node_distance->grid->dim; a++)
    faces_of_axis(node_distance, a, &open[a]);
}

void mn_cell_fractions(const mn_field *node_distance, mn_field *volume)
{
  const mn_field *node = node_distance;
  assert(node->place == MN_NODE && volume->place == MN_CELL);
  int three = node->grid->dim == 3, corners = three ? 8 : 4;
  double threshold = SNAP * node->grid->dx;
  int slabs = mn_slabs(volume), threads = node->grid->exec->threads;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(volume, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < volume->n[0]; i++) {
        const double *p = node->at + mn_index(node, i, j, k);
        double d[8];
        for (int c = 0; c < corners; c++)
          d[c] = snapped(p[(c & 1) + (c >> 1 & 1) * node->stride[1] + (c >> 2) * node->stride[2]],
                         threshold);
        mn_set(volume, i, j, k, mn_cell_fraction(node->grid->dim, d));
      }
  }
}
