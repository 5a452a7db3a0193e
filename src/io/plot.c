#include "io/plot.h"

#include <math.h>
#include <stdio.h>

enum {
  WIDTH = 440,
  HEIGHT = 210,
  LEFT = 64,
  RIGHT = 12,
  TOP = 26,
  BOTTOM = 36,
  TICKS_MAX = 16,
  TICK_TEXT = 32
};

void mn_text_escape(mn_text *text, const char *words)
{
  for (; *words; words++) {
    unsigned char c = (unsigned char)*words;
    if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'')
      mn_text_add(text, "&#%d;", c);
    else if (c >= 32 || c == '\n' || c == '\t')
      mn_text_add_bytes(text, words, 1);
  }
}

int mn_plot_ticks(double lo, double hi, int wanted, double *ticks, int room)
{
  if (!(hi > lo) || !isfinite(hi - lo))
    return 0;
  double rough = (hi - lo) / wanted, power = pow(10, floor(log10(rough)));
  double part = rough / power;
  double step = power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
  int count = 0;
  double first = ceil(lo / step - 1e-9);
  for (double i = first; i * step <= hi + 1e-9 * step && count < room; i++)
    ticks[count++] = i == 0 ? 0 : i * step;
  return count;
}

/* Curve number i of a plot; -1 is its own. */
static mn_curve curve_of(const mn_plot *p, int i)
{
  return i < 0 ? (mn_curve){p->x, p->y, p->count} : p->others[i];
}

/* ---- one axis -------------------------------------------------------------------------------- */

typedef struct axis {
  int decades;
  int whole;       /* the values are whole numbers, so are the ticks */
  double lo, hi;   /* of the values, or of their logarithms */
  double base;     /* taken off the values: where they hardly change */
  double at0, at1; /* px of lo and hi */
} axis;

static double part_of(const axis *a, double v)
{
  double t = a->decades ? log10(v) : v - a->base;
  return a->at0 + (t - a->lo) / (a->hi - a->lo) * (a->at1 - a->at0);
}

static int drawable(const axis *a, double v)
{
  return isfinite(v) && (!a->decades || v > 0);
}

/* The range of the values of all curves with a margin; a wish for decades is granted when it helps.
 */
static int fit_axis(axis *a, const mn_plot *p, int vertical, int decades, double margin)
{
  double lo = INFINITY, hi = -INFINITY, least = INFINITY;
  a->whole = 1;
  for (int c = -1; c < p->other_count; c++) {
    mn_curve curve = curve_of(p, c);
    const double *v = vertical ? curve.y : curve.x;
    for (size_t i = 0; i < curve.count; i++)
      if (isfinite(v[i])) {
        lo = fmin(lo, v[i]);
        hi = fmax(hi, v[i]);
        least = v[i] > 0 ? fmin(least, v[i]) : least;
        a->whole = a->whole && v[i] == floor(v[i]);
      }
  }
  if (!(lo <= hi))
    return 0;
  a->decades = decades && lo >= 0 && hi > 100 * least;
  if (a->decades) {
    a->lo = floor(log10(fmax(least, 1e-24 * hi)));
    a->hi = ceil(log10(hi));
    return 1;
  }
  double size = fmax(fabs(lo), fabs(hi));
  if (hi - lo < 1e-5 * size && hi > lo) {
    double grain = 1e-4 * pow(10, floor(log10(size)));
    a->base = round(lo / grain) * grain;
    hi -= a->base;
    lo -= a->base;
  }
  double spare = hi > lo ? margin * (hi - lo) : hi != 0 ? 0.5 * fabs(hi) : 1;
  a->lo = lo - spare;
  a->hi = hi + spare;
  if (lo >= 0 && a->lo < 0 && hi > lo)
    a->lo = 0;
  return 1;
}

static int axis_ticks(const axis *a, int wanted, double *ticks)
{
  if (!a->decades) {
    int all = mn_plot_ticks(a->lo, a->hi, wanted, ticks, TICKS_MAX), kept = 0;
    for (int i = 0; i < all; i++)
      if (!a->whole || ticks[i] == floor(ticks[i]))
        ticks[kept++] = ticks[i];
    return kept;
  }
  int every = 1 + (int)((a->hi - a->lo) / wanted), count = 0;
  for (double e = a->lo; e <= a->hi && count < TICKS_MAX; e += every)
    ticks[count++] = e;
  return count;
}

static double tick_place(const axis *a, double tick)
{
  return a->at0 + (tick - a->lo) / (a->hi - a->lo) * (a->at1 - a->at0);
}

static void tick_text(const axis *a, double tick, char out[TICK_TEXT])
{
  if (a->decades)
    snprintf(out, TICK_TEXT, "1e%+.0f", tick);
  else
    snprintf(out, TICK_TEXT, "%.6g", tick);
}

/* ---- the curve ------------------------------------------------------------------------------- */

/* One point per sample, or where there are more than a screen shows the least and greatest of each
   pixel column, so that no peak is lost. */
static void add_curve(mn_text *t, const mn_curve *p, int number, const axis *ax, const axis *ay)
{
  size_t columns = 2 * (size_t)WIDTH, group = p->count / columns + 1;
  int open = 0;
  for (size_t i = 0; i < p->count; i += group) {
    size_t end = i + group < p->count ? i + group : p->count, lo = end, hi = end;
    for (size_t k = i; k < end; k++)
      if (drawable(ax, p->x[k]) && drawable(ay, p->y[k])) {
        lo = lo == end || p->y[k] < p->y[lo] ? k : lo;
        hi = hi == end || p->y[k] > p->y[hi] ? k : hi;
      }
    if (lo == end) {
      if (open)
        mn_text_add(t, "\"/>\n");
      open = 0;
      continue;
    }
    if (!open && number)
      mn_text_add(t, "<polyline class=\"curve curve%d\" points=\"", number);
    else if (!open)
      mn_text_add(t, "<polyline class=\"curve\" points=\"");
    open = 1;
    size_t first = lo < hi ? lo : hi, second = lo < hi ? hi : lo;
    mn_text_add(t, "%.2f,%.2f ", part_of(ax, p->x[first]), part_of(ay, p->y[first]));
    if (second != first)
      mn_text_add(t, "%.2f,%.2f ", part_of(ax, p->x[second]), part_of(ay, p->y[second]));
  }
  if (open)
    mn_text_add(t, "\"/>\n");
}

static void add_axes(mn_text *t, const axis *ax, const axis *ay)
{
  double ticks[TICKS_MAX];
  char words[TICK_TEXT];
  int count = axis_ticks(ay, 5, ticks);
  for (int i = 0; i < count; i++) {
    double y = tick_place(ay, ticks[i]);
    tick_text(ay, ticks[i], words);
    mn_text_add(t, "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>", LEFT, y,
                WIDTH - RIGHT, y);
    mn_text_add(t, "<text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                LEFT - 6, y + 3.5, words);
  }
  count = axis_ticks(ax, 6, ticks);
  for (int i = 0; i < count; i++) {
    double x = tick_place(ax, ticks[i]);
    tick_text(ax, ticks[i], words);
    mn_text_add(t, "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>", x, TOP, x,
                HEIGHT - BOTTOM);
    mn_text_add(t, "<text class=\"tick\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x,
                HEIGHT - BOTTOM + 14, words);
  }
  mn_text_add(t, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", LEFT,
              TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
}

void mn_plot_svg(mn_text *t, const mn_plot *p)
{
  axis ax = {.at0 = LEFT, .at1 = WIDTH - RIGHT}, ay = {.at0 = HEIGHT - BOTTOM, .at1 = TOP};
  mn_text_add(t,
              "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 %d %d\" "
              "width=\"%d\" height=\"%d\" role=\"img\">\n<title>",
              WIDTH, HEIGHT, WIDTH, HEIGHT);
  mn_text_escape(t, p->title);
  mn_text_add(t, "</title>\n");
  int any = fit_axis(&ax, p, 0, 0, 0) && fit_axis(&ay, p, 1, p->decades, 0.06);
  if (any) {
    add_axes(t, &ax, &ay);
    for (int c = -1; c < p->other_count; c++) {
      mn_curve curve = curve_of(p, c);
      add_curve(t, &curve, c + 1, &ax, &ay);
    }
  } else
    mn_text_add(t, "<text class=\"tick\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">no data</text>\n",
                WIDTH / 2, HEIGHT / 2);
  mn_text_add(t, "<text class=\"name\" x=\"%d\" y=\"16\">", LEFT);
  mn_text_escape(t, p->title);
  if (p->unit && *p->unit) {
    mn_text_add(t, " [");
    mn_text_escape(t, p->unit);
    mn_text_add(t, "]");
  }
  if (ay.base != 0)
    mn_text_add(t, " minus %.10g", ay.base);
  mn_text_add(t,
              "</text>\n<text class=\"tick\" x=\"%d\" y=\"%d\" text-anchor=\"end\">time "
              "[s]</text>\n</svg>\n",
              WIDTH - RIGHT, HEIGHT - 6);
}
