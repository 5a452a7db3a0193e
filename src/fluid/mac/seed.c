/* Where particles come from: the initial shape (inflows: emit.c), and the splitting and merging
   that keeps enough of them in every cell without changing volume or momentum.

   Fresh liquid has 2^dim particles a cell, on a lattice of half a cell: evenly spread particles
   have the density 1 to rounding, so that water at rest stays at rest. (`jitter` scatters them
   about it.) At the rim of the shape, and at solids, a particle stands in the middle of what liquid
   there is in its half cell and has the volume of that: volume and surface are right below the size
   of a particle. */
#include "fluid/mac/internal.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/status.h"

/* ---- the initial shape ----------------------------------------------------------------------- */

/* Liquid of the half cell about x, by samples whose own edges are smoothed. */
static mn_half_cell examine(const mn_mac *mac, const mn_shape *shape, mn_vec3 x)
{
  int dim = mac->grid.dim, n = dim == 2 ? 4 : 3;
  double h = 0.5 * mac->grid.dx, d = h / n, liquid = mn_shape_distance(shape, x);
  if (liquid > h) /* which is more than half the diagonal */
    return (mn_half_cell){0, x};
  mn_half_cell open = mn_water_half_cell(mac, x);
  if (liquid < -h || !(open.part > 0))
    return open;
  double sum = 0;
  mn_vec3 moment = {{0, 0, 0}};
  for (int k = 0; k < (dim == 3 ? n : 1); k++)
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++) {
        mn_vec3 y = mn_v3(x.x + d * (i + 0.5) - 0.5 * h, x.y + d * (j + 0.5) - 0.5 * h,
                          dim == 3 ? x.z + d * (k + 0.5) - 0.5 * h : 0);
        double part = mn_clamp(0.5 - mn_shape_distance(shape, y) / d, 0, 1) *
                      mn_clamp(0.5 + mn_sample(&mac->geometry.solid, y) / d, 0, 1);
        sum += part;
        moment = mn_madd(moment, part, y);
      }
  if (!(sum > 0))
    return (mn_half_cell){0, x};
  return (mn_half_cell){sum / (n * n * (dim == 3 ? n : 1)), mn_scale(1 / sum, moment)};
}

/* A number in [-1/2, 1/2) of its own for each key. */
static double scatter(int64_t key, int n)
{
  int64_t pair[2] = {key, n};
  uint64_t h = mn_hash(MN_HASH_START, pair, sizeof pair);
  return (double)(h >> 11) * 0x1p-53 - 0.5;
}

mn_status mn_water_add_particle(mn_mac *mac, mn_vec3 x, mn_vec3 v, double volume)
{
  mn_particles *p = &mac->water.next;
  MN_TRY(mn_particles_reserve(mac->ctx, p->count + 1, p));
  double *row = mn_particle(p, p->count);
  memset(row, 0, (size_t)p->width * sizeof *row);
  for (int a = 0; a < p->dim; a++) {
    row[a] = x.v[a];
    if (p->volume > p->dim)
      row[p->dim + a] = v.v[a];
  }
  row[p->volume] = volume;
  p->count++;
  return MN_OK;
}

/* The liquid of the half cell about x, apart on the two sides of a shell. */
static int fill_half_cell(const mn_mac *mac, mn_vec3 x, mn_piece piece[2])
{
  const mn_shape *shape = mac->def->fluid.initial_water;
  if (mac->shell.on && mn_shell_is_beside(&mac->shell, x) &&
      mn_shape_distance(shape, x) < -0.5 * mac->grid.dx)
    return mn_water_split_half_cell(mac, x, piece);
  mn_half_cell c = examine(mac, shape, x);
  piece[0] = (mn_piece){.part = c.part, .center = c.center};
  return 1;
}

/* Particles of the initial shape or, at its rim, a few more: room for them is made at once. */
static size_t expected(const mn_mac *mac)
{
  const mn_field *volume = &mac->geometry.volume;
  size_t cells = 0;
  for (int k = 0; k < volume->n[2]; k++)
    for (int j = 0; j < volume->n[1]; j++)
      for (int i = 0; i < volume->n[0]; i++)
        cells += mn_get(volume, i, j, k) > 0 &&
                 mn_shape_distance(mac->def->fluid.initial_water, mn_position(volume, i, j, k)) <
                     mac->grid.dx;
  return cells << mac->grid.dim;
}

mn_status mn_water_fill(mn_mac *mac)
{
  const mn_grid *g = &mac->grid;
  const mn_fluid_def *fluid = &mac->def->fluid;
  const mn_field *volume = &mac->geometry.volume;
  double h = 0.5 * g->dx;
  MN_TRY(mn_particles_reserve(mac->ctx, expected(mac), &mac->water.next));
  for (int k = 0; k < (g->dim == 3 ? 2 * g->n[2] : 1); k++)
    for (int j = 0; j < 2 * g->n[1]; j++)
      for (int i = 0; i < 2 * g->n[0]; i++) {
        if (!(mn_get(volume, i / 2, j / 2, k / 2) > 0))
          continue; /* solid, or an inflow */
        mn_vec3 x = mn_v3(g->origin.x + h * (i + 0.5), g->origin.y + h * (j + 0.5),
                          g->dim == 3 ? g->origin.z + h * (k + 0.5) : 0);
        int64_t key = i + ((int64_t)j + (int64_t)k * 2 * g->n[1]) * 2 * g->n[0];
        mn_piece piece[2];
        int pieces = fill_half_cell(mac, x, piece);
        for (int n = 0; n < pieces; n++) {
          if (piece[n].part < 1e-3)
            continue;
          for (int a = 0; a < g->dim; a++)
            piece[n].center.v[a] += fluid->jitter * h * piece[n].part * scatter(key, a);
          MN_TRY(mn_water_add_particle(mac, piece[n].center, mn_v3(0, 0, 0),
                                       piece[n].part * mac->water.unit));
        }
      }
  return MN_OK;
}

int mn_water_is_hidden(const mn_mac *mac, mn_vec3 x, mn_vec3 y)
{
  return mac->shell.on && mn_immersed_crosses(mac->shell.end.surface, x, y, NULL, NULL);
}

static mn_vec3 position(const mn_particles *p, int64_t i)
{
  const double *row = mn_particle(p, (size_t)i);
  return mn_v3(row[0], row[1], p->dim == 3 ? row[2] : 0);
}

/* ---- splitting and merging ------------------------------------------------------------------- */

/* A particle with more than this part of a fresh one's volume may be split to fill a gap. */
static const double GAP_FILLER = 0.3;

/* One particle into two of half the volume, `shift` to either side of where it was, if no shell
   stands between them. */
static mn_status split(mn_mac *mac, int64_t i, const double shift[3])
{
  mn_particles *p = &mac->water.next;
  int dim = p->dim;
  mn_vec3 x = position(p, i), d = mn_v3(shift[0], shift[1], dim == 3 ? shift[2] : 0);
  if (mn_water_is_hidden(mac, x, mn_add(x, d)) || mn_water_is_hidden(mac, x, mn_sub(x, d)))
    return MN_OK;
  MN_TRY(mn_particles_reserve(mac->ctx, p->count + 1, p));
  MN_TRY(mn_particle_cells_reserve(mac->ctx, p->count + 1, &mac->water.cells));
  double *one = mn_particle(p, (size_t)i), *two = mn_particle(p, p->count);
  mac->water.cells.cell[i] = 1; /* it moves; see mn_water_sort_again */
  one[p->volume] *= 0.5;
  memcpy(two, one, (size_t)p->width * sizeof *two);
  for (int a = 0; a < dim; a++) {
    one[a] += shift[a];
    two[a] -= shift[a];
  }
  for (int a = 0; a < dim && mac->def->fluid.transfer == MN_TRANSFER_APIC; a++)
    for (int b = 0; b < dim; b++) {
      double change = one[2 * dim + 1 + a * dim + b] * shift[b];
      one[dim + a] += change;
      two[dim + a] -= change;
    }
  p->count++;
  return MN_OK;
}

/* Two particles into one: volume, momentum and centre stay. */
static void merge(mn_particles *p, int64_t i, int64_t j)
{
  double *one = mn_particle(p, (size_t)i), *two = mn_particle(p, (size_t)j);
  double sum = one[p->volume] + two[p->volume], part = two[p->volume] / sum;
  for (int a = 0; a < p->width; a++)
    one[a] += part * (two[a] - one[a]);
  one[p->volume] = sum;
}

/* The lightest particle of [first, last) that is still there, but not `other`; -1 if none. */
static int64_t lightest(const mn_mac *mac, int64_t first, int64_t last, int64_t other)
{
  const mn_particles *p = &mac->water.next;
  int64_t best = -1;
  for (int64_t i = first; i < last; i++)
    if (i != other && mac->water.cells.cell[i] >= 0 &&
        (best < 0 || *mn_particle_volume(p, (size_t)i) < *mn_particle_volume(p, (size_t)best)))
      best = i;
  return best;
}

static int64_t heaviest(const mn_particles *p, int64_t first, int64_t last)
{
  int64_t best = first;
  for (int64_t i = first + 1; i < last; i++)
    if (*mn_particle_volume(p, (size_t)i) > *mn_particle_volume(p, (size_t)best))
      best = i;
  return best;
}

/* The heaviest particle in the cells around, still there and heavy enough to split; -1 if none. */
static int64_t heaviest_around(const mn_mac *mac, const int at[3], mn_vec3 middle)
{
  const mn_water *w = &mac->water;
  int64_t best = -1;
  double most = GAP_FILLER * w->unit;
  int deep = w->next.dim == 3;
  for (int k = at[2] - deep; k <= at[2] + deep; k++)
    for (int j = at[1] - 1; j <= at[1] + 1; j++) {
      int64_t first, last;
      mn_particle_run(&w->cells, at[0] - 1, at[0] + 1, j, k, &first, &last);
      for (int64_t i = first; i < last; i++)
        if (w->cells.cell[i] >= 0 && *mn_particle_volume(&w->next, (size_t)i) > most &&
            !mn_water_is_hidden(mac, middle, position(&w->next, i))) {
          best = i;
          most = *mn_particle_volume(&w->next, (size_t)i);
        }
    }
  return best;
}

/* An empty cell inside: a lattice that flow has stretched parts into lines of particles. One beside
   the gap is split across it, half way to the middle of the cell. */
static mn_status fill_gap(mn_mac *mac, int64_t cell, int *changes)
{
  const int *n = mac->water.cells.n;
  int at[3] = {(int)(cell % n[0]), (int)(cell / n[0] % n[1]), (int)(cell / n[0] / n[1])};
  mn_vec3 middle = mn_position(&mac->geometry.volume, at[0], at[1], at[2]);
  int64_t i = heaviest_around(mac, at, middle);
  if (i < 0)
    return MN_OK;
  if (!(mn_get(&mac->geometry.volume, at[0], at[1], at[2]) >= 1))
    return MN_OK;
  double shift[3] = {0};
  for (int a = 0; a < mac->grid.dim; a++)
    shift[a] = 0.5 * (middle.v[a] - mn_particle(&mac->water.next, (size_t)i)[a]);
  ++*changes;
  return split(mac, i, shift);
}

/* Cells inside with less than three quarters of the particles of fresh liquid get one more, those
   with more than three times as many one less. Returns by how many it changed, through *changes. */
static mn_status resample_cell(mn_mac *mac, int64_t cell, double phi, int *changes)
{
  mn_water *w = &mac->water;
  mn_particles *p = &w->next;
  int64_t first = w->cells.start[cell], last = w->cells.start[cell + 1], fresh = 1 << p->dim;
  if (last - first > 3 * fresh) {
    int64_t i = lightest(mac, first, last, -1), j = lightest(mac, first, last, i);
    if (i >= 0 && j >= 0 && !mn_water_is_hidden(mac, position(p, i), position(p, j)) &&
        *mn_particle_volume(p, (size_t)i) + *mn_particle_volume(p, (size_t)j) <= 2.01 * w->unit) {
      merge(p, i, j);
      w->cells.cell[i] = 1;
      w->cells.cell[j] = -1;
      ++*changes;
    }
  } else if (last > first && last - first < fresh * 3 / 4 && phi < -mac->grid.dx) {
    int64_t i = heaviest(p, first, last);
    if (*mn_particle_volume(p, (size_t)i) > 0.6 * w->unit) {
      double shift[3];
      for (int a = 0; a < p->dim; a++)
        shift[a] = 0.4 * mac->grid.dx * scatter(cell, a);
      MN_TRY(split(mac, i, shift));
      ++*changes;
    }
  } else if (last == first && phi < -mac->grid.dx)
    return fill_gap(mac, cell, changes);
  return MN_OK;
}

mn_status mn_water_resample(mn_mac *mac)
{
  mn_water *w = &mac->water;
  const mn_field *phi = &mac->liquid_next;
  int changes = 0;
  size_t marked = w->next.count;
  if (marked) /* else there may be no array yet */
    memset(w->cells.cell, 0, marked * sizeof *w->cells.cell);
  for (int k = 0; k < phi->n[2]; k++)
    for (int j = 0; j < phi->n[1]; j++)
      for (int i = 0; i < phi->n[0]; i++) {
        int64_t cell = i + (int64_t)phi->n[0] * (j + (int64_t)phi->n[1] * k);
        MN_TRY(resample_cell(mac, cell, mn_get(phi, i, j, k), &changes));
      }
  return changes ? mn_water_sort_again(mac, marked) : MN_OK;
}
