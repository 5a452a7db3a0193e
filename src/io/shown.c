#include "io/shown.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

typedef enum kind { SMOKE, TEMPERATURE, SPEED, VORTICITY, PRESSURE, WATER, STRESS, BODIES } kind;

static const struct {
  const char *name, *label;
  mn_map map;
} KINDS[] = {[SMOKE] = {"smoke", "smoke", MN_MAP_SMOKE},
             [TEMPERATURE] = {"temperature", "temperature [K]", MN_MAP_HEAT},
             [SPEED] = {"speed", "speed [m/s]", MN_MAP_SPEED},
             [VORTICITY] = {"vorticity", "vorticity [1/s]", MN_MAP_DIVERGE},
             [PRESSURE] = {"pressure", "pressure [Pa]", MN_MAP_DIVERGE},
             [WATER] = {"water", "water", MN_MAP_WATER},
             [STRESS] = {"stress", "von Mises stress [Pa]", MN_MAP_SPEED},
             [BODIES] = {"bodies", "", MN_MAP_SPEED}};

/* What the scene asks for, or the nearest thing that the fluid carries. */
static kind choose(const mn_mac_view *view, const mn_model_def *def)
{
  kind k = view->liquid ? WATER : view->smoke ? SMOKE : SPEED;
  for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
    if (!strcmp(def->output.show, KINDS[i].name))
      k = (kind)i;
  if (!view->velocity)
    return k == STRESS ? STRESS : BODIES;
  int missing = k >= STRESS || (k == SMOKE && !view->smoke) ||
                (k == TEMPERATURE && !view->temperature) || (k == WATER && !view->liquid) ||
                (k == PRESSURE && !view->pressure);
  return missing ? SPEED : k;
}

/* ---- values at cells ------------------------------------------------------------------------- */

static double centre(const mn_mac_view *view, int a, int i, int j, int k)
{
  const mn_field *f = &view->velocity[a];
  int64_t at = mn_index(f, i, j, k);
  return 0.5 * (f->at[at] + f->at[at + f->stride[a]]);
}

/* d u_a / d x_b by centred differences, one-sided at the domain's sides. */
static double slope(const mn_mac_view *view, int a, int b, int i, int j, int k)
{
  int lo[3] = {i, j, k}, hi[3] = {i, j, k};
  lo[b] -= lo[b] > 0;
  hi[b] += hi[b] < view->grid->n[b] - 1;
  double rise = centre(view, a, hi[0], hi[1], hi[2]) - centre(view, a, lo[0], lo[1], lo[2]);
  return hi[b] > lo[b] ? rise / (view->grid->dx * (hi[b] - lo[b])) : 0;
}

static double vorticity(const mn_mac_view *view, int i, int j, int k)
{
  double z = slope(view, 1, 0, i, j, k) - slope(view, 0, 1, i, j, k);
  if (view->grid->dim == 2)
    return z;
  double x = slope(view, 2, 1, i, j, k) - slope(view, 1, 2, i, j, k);
  double y = slope(view, 0, 2, i, j, k) - slope(view, 2, 0, i, j, k);
  return sqrt(x * x + y * y + z * z);
}

static double value_at(const mn_mac_view *view, kind what, int i, int j, int k)
{
  switch (what) {
  case SMOKE:
    return mn_get(view->smoke, i, j, k);
  case TEMPERATURE:
    return mn_get(view->temperature, i, j, k);
  case PRESSURE:
    return mn_get(view->pressure, i, j, k);
  case WATER:
    return mn_get(view->liquid, i, j, k);
  case VORTICITY:
    return vorticity(view, i, j, k);
  case SPEED:
    break;
  case STRESS:
  case BODIES:
    return 0;
  }
  double sum = 0;
  for (int a = 0; a < view->grid->dim; a++) {
    double u = centre(view, a, i, j, k);
    sum += u * u;
  }
  return sqrt(sum);
}

/* Where neither fluid nor solid is, and nothing is to be shown. */
static int is_empty(const mn_mac_view *view, int i, int j, int k)
{
  const mn_field *f = view->volume;
  return view->empty && view->empty[f->at - f->data + mn_index(f, i, j, k)];
}

/* The mean over the fluid cells of one block; returns how many there are. A cell whose larger part
   is solid has its centre inside it: what the fluid is there, its neighbours tell better. */
static int block_mean(const mn_mac_view *view, kind what, const int at[3], int factor, float *out)
{
  int hi[3], count = 0;
  for (int a = 0; a < 3; a++) {
    hi[a] = a < view->grid->dim ? (at[a] + 1) * factor : 1;
    hi[a] = hi[a] < view->grid->n[a] ? hi[a] : view->grid->n[a];
  }
  double sum = 0;
  for (int k = at[2] * factor; k < hi[2]; k++)
    for (int j = at[1] * factor; j < hi[1]; j++)
      for (int i = at[0] * factor; i < hi[0]; i++) {
        double v = value_at(view, what, i, j, k);
        int empty = is_empty(view, i, j, k);
        if (isfinite(v) && (empty || !view->volume || mn_get(view->volume, i, j, k) >= 0.5)) {
          sum += empty ? 0 : v;
          count++;
        }
      }
  *out = count ? (float)(sum / count) : 0;
  return count;
}

/* Empty cells take the mean of their known neighbours, a few layers deep. `known` holds the pass in
   which a cell became known, so that a pass reads only what earlier ones made. */
static void extend(mn_shown *s, uint8_t *known)
{
  enum { LAYERS = 4 };
  int64_t stride[3] = {1, s->n[0], (int64_t)s->n[0] * s->n[1]};
  for (int pass = 2; pass < 2 + LAYERS; pass++)
    for (int k = 0; k < s->n[2]; k++)
      for (int j = 0; j < s->n[1]; j++)
        for (int i = 0; i < s->n[0]; i++) {
          int at[3] = {i, j, k}, count = 0;
          int64_t c = i + j * stride[1] + k * stride[2];
          if (known[c])
            continue;
          double sum = 0;
          for (int a = 0; a < s->dim; a++)
            for (int side = -1; side <= 1; side += 2) {
              int64_t d = c + side * stride[a];
              int in = at[a] + side >= 0 && at[a] + side < s->n[a];
              if (in && known[d] && known[d] < pass) {
                sum += s->value[d];
                count++;
              }
            }
          if (count) {
            s->value[c] = (float)(sum / count);
            known[c] = (uint8_t)pass;
          }
        }
}

/* ---- range ----------------------------------------------------------------------------------- */

/* The next of a list of round numbers: the scale stays still while the data grow a little. */
static double round_up(double x)
{
  static const double STEPS[] = {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10};
  if (!(x > 0) || !isfinite(x))
    return x;
  double power = pow(10, floor(log10(x)));
  for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++)
    if (x <= STEPS[i] * power * (1 + 1e-12))
      return STEPS[i] * power;
  return 10 * power;
}

static int by_value(const void *a, const void *b)
{
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/* The values at the fractions 0, 0.005, 0.995 and 1 of the sorted fluid cells: corners of the
   domain have unbounded vorticity and pressure, which must not set the scale. */
static mn_status quantiles(mn_context *ctx, const mn_shown *s, const uint8_t *known, double q[4])
{
  size_t cells = (size_t)s->n[0] * (size_t)s->n[1] * (size_t)s->n[2], count = 0;
  float *sorted;
  MN_TRY(MN_NEW(ctx, "values to sort", cells, &sorted));
  for (size_t i = 0; i < cells; i++)
    if (known[i] == 1)
      sorted[count++] = s->value[i];
  if (count) {
    qsort(sorted, count, sizeof *sorted, by_value);
    q[0] = sorted[0];
    q[1] = sorted[(size_t)(0.005 * (double)(count - 1))];
    q[2] = sorted[(size_t)(0.995 * (double)(count - 1))];
    q[3] = sorted[count - 1];
  }
  mn_free(sorted);
  return MN_OK;
}

static void set_range(mn_shown *s, kind what, const mn_model_def *def, const double q[4])
{
  const double *given = def->output.range;
  if (given[0] < given[1]) {
    s->lo = given[0];
    s->hi = given[1];
  } else if (what == WATER) { /* shown by its surface, not by values */
    s->lo = q[0];
    s->hi = q[3];
  } else if (what == SMOKE) {
    s->lo = 0;
    s->hi = q[3] > 1.001 ? round_up(q[3]) : 1;
  } else if (what == SPEED || (what == VORTICITY && s->dim == 3)) {
    s->lo = 0;
    s->hi = round_up(what == SPEED ? q[3] : q[2]);
    s->map = MN_MAP_SPEED;
  } else if (what == TEMPERATURE) {
    double below = def->fluid.ambient - q[0], above = q[3] - def->fluid.ambient;
    s->lo = def->fluid.ambient - (below > 0.05 * above ? round_up(below) : 0);
    s->hi = def->fluid.ambient + (above > 0.05 * below ? round_up(above) : 0);
  } else if (what == VORTICITY ||
             (q[1] < 0 && q[2] > 0 && fmin(-q[1], q[2]) > 0.1 * fmax(-q[1], q[2]))) {
    s->hi = round_up(fmax(-q[1], q[2]));
    s->lo = -s->hi;
  } else { /* pressure of one sign: from 0 if that is near */
    s->lo = q[1] >= 0 && q[1] < 0.5 * q[2] ? 0 : q[1];
    s->hi = s->lo + round_up(q[2] - s->lo);
    s->map = MN_MAP_SPEED;
  }
  if (!(s->hi - s->lo > 1e-9 * fmax(fabs(s->lo), fabs(s->hi))) || !(s->hi - s->lo > 1e-30)) {
    double middle = 0.5 * (s->lo + s->hi), half = fmax(0.5, 1e-3 * fabs(middle));
    int signed_map = s->map == MN_MAP_DIVERGE;
    s->lo = signed_map ? middle - half : s->lo;
    s->hi = s->lo + 2 * half;
  }
}

/* ---- the whole ------------------------------------------------------------------------------- */

mn_status mn_shown_make(mn_context *ctx, const mn_mac_view *view, const mn_model_def *def,
                        int limit, double stress, int tension, mn_shown *s)
{
  const mn_grid *g = view->grid;
  kind what = choose(view, def);
  *s = (mn_shown){.map = KINDS[what].map, .dim = g->dim, .origin = g->origin};
  s->nothing = what >= STRESS;
  if (what == STRESS)
    s->stress = def->output.range[1] > 0 ? def->output.range[1] : round_up(stress);
  snprintf(s->label, sizeof s->label, "%s",
           what == STRESS && tension ? "tension [N]" : KINDS[what].label);
  int longest = 1, factor;
  for (int a = 0; a < g->dim; a++)
    longest = g->n[a] > longest ? g->n[a] : longest;
  factor = (longest + limit - 1) / limit;
  for (int a = 0; a < 3; a++)
    s->n[a] = a < g->dim ? (g->n[a] + factor - 1) / factor : 1;
  s->dx = factor * g->dx;
  size_t cells = (size_t)s->n[0] * (size_t)s->n[1] * (size_t)s->n[2];
  uint8_t *known = NULL;
  MN_TRY(MN_NEW(ctx, "a preview's values", cells, &s->value));
  mn_status status = MN_NEW(ctx, "a preview's mask", cells, &known);
  if (status == MN_OK) {
    int threads = mn_context_threads(ctx), rows = s->n[1] * s->n[2];
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int row = 0; row < rows; row++)
      for (int i = 0; i < s->n[0]; i++) {
        int at[3] = {i, row % s->n[1], row / s->n[1]};
        size_t c = (size_t)row * (size_t)s->n[0] + (size_t)i;
        known[c] = block_mean(view, what, at, factor, &s->value[c]) > 0;
      }
    extend(s, known);
    double q[4] = {0, 0, 0, 0};
    status = quantiles(ctx, s, known, q);
    set_range(s, what, def, q);
    if (what == STRESS) {
      s->lo = 0;
      s->hi = s->stress > 0 ? s->stress : 1;
    }
  }
  mn_free(known);
  if (status != MN_OK)
    mn_shown_free(s);
  return status;
}

void mn_shown_free(mn_shown *s)
{
  mn_free(s->value);
  *s = (mn_shown){0};
}

static void cubic_weights(double t, double w[4])
{
  w[0] = 0.5 * t * (t * (2 - t) - 1);
  w[1] = 0.5 * (t * t * (3 * t - 5) + 2);
  w[2] = 0.5 * t * (t * (4 - 3 * t) + 1);
  w[3] = 0.5 * t * t * (t - 1);
}

double mn_shown_smooth(const mn_shown *s, double x, double y)
{
  double p[2] = {(x - s->origin.x) / s->dx - 0.5, (y - s->origin.y) / s->dx - 0.5};
  int base[2];
  double w[2][4], sum = 0;
  for (int a = 0; a < 2; a++) {
    base[a] = (int)floor(p[a]);
    cubic_weights(p[a] - base[a], w[a]);
  }
  for (int b = 0; b < 4; b++)
    for (int a = 0; a < 4; a++) {
      int i = base[0] + a - 1, j = base[1] + b - 1;
      i = i < 0 ? 0 : i >= s->n[0] ? s->n[0] - 1 : i;
      j = j < 0 ? 0 : j >= s->n[1] ? s->n[1] - 1 : j;
      sum += w[0][a] * w[1][b] * (double)s->value[(size_t)j * (size_t)s->n[0] + (size_t)i];
    }
  return sum;
}

void mn_shown_strip(const mn_shown *s, double time, mn_image *image, int x, int y, int width,
                    mn_rgb ink)
{
  enum { BAR = 170, THICK = 11, SIZE = 10 };
  char text[64];
  snprintf(text, sizeof text, "t = %.4g s", time);
  mn_image_text(image, x + 1, y + SIZE + 5, SIZE + 1, ink, text);
  if (s->map == MN_MAP_WATER || !*s->label)
    return;
  int left = x + width - BAR - 6, top = y + 4;
  mn_image_rectangle(image, left - 1, top - 1, BAR + 2, THICK + 2, ink, 1);
  for (int i = 0; i < BAR; i++)
    mn_image_rectangle(image, left + i, top, 1, THICK, mn_map_colour(s->map, (i + 0.5) / BAR), 1);
  mn_image_text(image, left - 10 - mn_image_text_width(SIZE, s->label), top + SIZE, SIZE, ink,
                s->label);
  for (int i = 0; i < 3; i++) {
    double v = s->lo + 0.5 * i * (s->hi - s->lo);
    snprintf(text, sizeof text, "%.4g", fabs(v) < 1e-12 * (s->hi - s->lo) ? 0 : v);
    double at = left + 0.5 * i * BAR;
    mn_image_line(image, at, top + THICK + 1, at, top + THICK + 4, 1, ink, 1);
    double right = mn_image_text_width(SIZE, text), start = at - 0.5 * right;
    if (start + right > x + width)
      start = x + width - right;
    mn_image_text(image, start, top + THICK + 7 + SIZE, SIZE, ink, text);
  }
}
