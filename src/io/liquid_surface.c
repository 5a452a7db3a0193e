/* The water as a closed body, cut off by the domain's sides and by solids.

   The level set is known at cell centres. Two layers are put around them along each axis: the
   domain's side, where it is what it is in the cell beside it, and air right behind the side, at no
   distance from it. The contour of all this closes along the sides and never passes them: between
   the two layers it lies on the side wherever it lies.

       outside  side  centre  centre  ...  centre  side  outside        points of the lattice
          0      0     1/2     3/2         n - 1/2   n      n           where they are, in cells

   Within a solid the level set is that of the fluid beside it, so that the surface goes on to the
   solid as it comes; the solid's own distance cuts it off there (contour.c).

   Verified by tests/unit/io/test_liquid_surface.c and tests/regress/test_surface.sh. */
#include "io/liquid_surface.h"

#include <math.h>

#include "base/status.h"

enum { LAYERS = 2 }; /* around the cells */

typedef struct lattice {
  const mn_mac_view *view;
  mn_grid grid;           /* its points are this grid's cells */
  mn_field liquid, solid; /* negative in the liquid; negative outside solids */
} lattice;

/* ---- places ---------------------------------------------------------------------------------- */

/* The domain's low side along an axis, m. */
static double low_side(const mn_grid *g, int axis)
{
  return g->origin.v[axis] + g->dx * g->lo[axis];
}

/* A lattice coordinate (points at whole numbers) in cells of the domain. */
static double place_of(double point, int cells)
{
  double s = point - LAYERS + 0.5;
  if (s < 0.5)
    return s > -0.5 ? 0.5 * (s + 0.5) : 0;
  if (s > cells - 0.5)
    return s < cells + 0.5 ? 0.5 * (s + cells - 0.5) : cells;
  return s;
}

static mn_vec3 place_of_point(const lattice *l, int i, int j, int k)
{
  const mn_grid *g = l->view->grid;
  int at[3] = {i, j, k};
  mn_vec3 x = {{0, 0, 0}};
  for (int a = 0; a < g->dim; a++)
    x.v[a] = low_side(g, a) + g->dx * place_of(at[a], g->n[a]);
  return x;
}

/* Where the contour's points are in the domain. Those between the outermost layers lie on a side,
   and look out of it. */
static void place_points(const lattice *l, mn_contour *c)
{
  const mn_grid *g = l->view->grid;
  for (size_t p = 0; p < c->points; p++) {
    mn_vec3 out = {{0, 0, 0}};
    for (int a = 0; a < g->dim; a++) {
      double point = (c->x[p].v[a] - l->grid.origin.v[a]) / g->dx - 0.5;
      out.v[a] = point < LAYERS - 1 ? -1 : point > g->n[a] + LAYERS ? 1 : 0;
      c->x[p].v[a] = low_side(g, a) + g->dx * place_of(point, g->n[a]);
    }
    double length = mn_length(out);
    if (length > 0)
      c->n[p] = mn_scale(1 / length, out);
  }
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The cell nearest to a point of the lattice; returns 1 if the point is outside. */
static int nearest_cell(const lattice *l, int i, int j, int k, int cell[3])
{
  const mn_grid *g = l->view->grid;
  int at[3] = {i, j, k}, outside = 0;
  for (int a = 0; a < 3; a++) {
    int s = at[a] - (a < g->dim ? LAYERS : 0);
    outside |= a < g->dim && (s < -1 || s > g->n[a]);
    cell[a] = s < 0 ? 0 : s < g->n[a] ? s : g->n[a] - 1;
  }
  return outside;
}

static double solid_at_cell(const mn_mac_view *view, const int cell[3])
{
  return mn_sample(view->solid, mn_position(view->liquid, cell[0], cell[1], cell[2]));
}

/* The least level set among the cells around that a solid does not fill: those beside it or,
   `corners`, all of them; INFINITY if there are none. */
static double least_around(const mn_mac_view *view, const int cell[3], int corners)
{
  const mn_field *phi = view->liquid;
  double least = INFINITY;
  for (int n = 0; n < (phi->grid->dim == 3 ? 27 : 9); n++) {
    int off[3] = {n % 3 - 1, n / 3 % 3 - 1, phi->grid->dim == 3 ? n / 9 - 1 : 0}, to[3], inside = 1;
    for (int a = 0; a < 3; a++) {
      to[a] = cell[a] + off[a];
      inside &= to[a] >= 0 && to[a] < phi->n[a];
    }
    if (!inside || (!corners && off[0] * off[0] + off[1] * off[1] + off[2] * off[2] != 1))
      continue;
    if (solid_at_cell(view, to) > 0 || mn_get(view->volume, to[0], to[1], to[2]) > 0)
      least = fmin(least, mn_get(phi, to[0], to[1], to[2]));
  }
  return least;
}

/* The level set in a cell. Where a solid fills it the solver's own is made for the pressure; deep
   inside nobody asks. */
static double liquid_at_cell(const mn_mac_view *view, const int cell[3])
{
  double phi = mn_get(view->liquid, cell[0], cell[1], cell[2]);
  if (!view->solid || mn_get(view->volume, cell[0], cell[1], cell[2]) > 0)
    return phi;
  double solid = solid_at_cell(view, cell);
  if (solid > 0 || solid < -2 * view->grid->dx)
    return phi;
  double around = least_around(view, cell, 0);
  if (!isfinite(around))
    around = least_around(view, cell, 1);
  return isfinite(around) ? around : phi;
}

static mn_status fill(mn_context *ctx, lattice *l)
{
  const mn_mac_view *view = l->view;
  MN_TRY(mn_field_create(ctx, &l->grid, MN_CELL, "closed surface", &l->liquid));
  if (view->solid)
    MN_TRY(mn_field_create(ctx, &l->grid, MN_CELL, "closed surface", &l->solid));
  int threads = l->grid.exec->threads, n[3] = {l->liquid.n[0], l->liquid.n[1], l->liquid.n[2]};
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int row = 0; row < n[1] * n[2]; row++)
    for (int i = 0; i < n[0]; i++) {
      int j = row % n[1], k = row / n[1], cell[3];
      int outside = nearest_cell(l, i, j, k, cell);
      double phi = liquid_at_cell(view, cell);
      mn_set(&l->liquid, i, j, k, outside ? fabs(phi) : phi);
      if (view->solid)
        mn_set(&l->solid, i, j, k, -mn_sample(view->solid, place_of_point(l, i, j, k)));
    }
  return MN_OK;
}

mn_status mn_liquid_surface(mn_context *ctx, const mn_mac_view *view, mn_contour *out)
{
  const mn_grid *g = view->grid;
  lattice l = {.view = view};
  mn_vec3 origin = g->origin;
  int n[3];
  for (int a = 0; a < 3; a++) {
    n[a] = g->n[a] + (a < g->dim ? 2 * LAYERS : 0);
    origin.v[a] = a < g->dim ? low_side(g, a) - LAYERS * g->dx : g->origin.v[a];
  }
  l.grid = mn_grid_make(g->exec, g->dim, n, g->dx, origin);
  mn_status status = fill(ctx, &l);
  if (status == MN_OK)
    status = mn_contour_make_within(ctx, &l.liquid, view->solid ? &l.solid : NULL, out);
  if (status == MN_OK)
    place_points(&l, out);
  mn_field_destroy(&l.liquid);
  mn_field_destroy(&l.solid);
  return status;
}
