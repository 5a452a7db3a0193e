/* A stroke font of our own: each glyph is a few strokes on a grid of 16 units; base line at 4,
   capitals up to 16, small letters up to 12, descenders down to 0. A stroke is a run of x-y pairs
   in digits 0-9a-g; one that begins with ~ is bent into a smooth curve (Catmull-Rom), closed if it
   ends where it began. A single pair is a dot. */
#include <math.h>
#include <string.h>

#include "io/image.h"

/* clang-format off: a table */
static const char *const GLYPHS[128] = {
    ['!'] = "0g08 04",
    ['"'] = "0g0d 2g2d",
    ['#'] = "1417 173g 5f57 0c7c 0878",
    ['$'] = "~6e3f0d3a673506 3g33",
    ['%'] = "7g04 ~1g2f1c0d1g ~6978655469",
    ['&'] = "842d ~2d3g5f5d1906244688",
    ['\''] = "0g0d",
    ['('] = "~3g1d1733",
    [')'] = "~0g2d2703",
    ['*'] = "0b4f 4b0f 2g2a",
    ['+'] = "0969 3c36",
    [','] = "1502",
    ['-'] = "0949",
    ['.'] = "04",
    ['/'] = "036g",
    ['0'] = "~3g6d6734070d3g",
    ['1'] = "0d3g34",
    ['2'] = "~0d1f3g5f6d5a04 0464",
    ['3'] = "~0e3g5f6d5b2a ~2a5967553406",
    ['4'] = "444g0868",
    ['5'] = "5g1g0a ~0a3b5a67553405",
    ['6'] = "~5f3g1e0a07153455675a3b1a08",
    ['7'] = "0g6g24",
    ['8'] = "~3g5f6d5b3a1b0d1f3g ~3a596755341507193a",
    ['9'] = "~1534566a6d5f3g1f0d1a395a6c",
    [':'] = "04 0a",
    [';'] = "1502 1a",
    ['<'] = "6d0967",
    ['='] = "0b6b 0767",
    ['>'] = "0d6907",
    ['?'] = "~0e2g4g6e4b38 34",
    ['@'] = "~5b3b2938568b6e3e0b073464",
    ['A'] = "044g84 1878",
    ['B'] = "4g0g0444 0a4a ~4g6f6b4a ~4a787644",
    ['C'] = "~8e6g3g0d07346486",
    ['D'] = "3g0g0434 ~3g6f8c886534",
    ['E'] = "7g0g0474 0a6a",
    ['F'] = "7g0g04 0a6a",
    ['G'] = "~8e6g3g0d07346487 878a5a",
    ['H'] = "0g04 7g74 0a7a",
    ['I'] = "0g04",
    ['J'] = "4g47 ~47342405",
    ['K'] = "0g04 7g08 2a74",
    ['L'] = "0g0474",
    ['M'] = "040g488g84",
    ['N'] = "040g747g",
    ['O'] = "~4g6f8d87654425070d2f4g",
    ['P'] = "040g4g 4a0a ~4g7e7c4a",
    ['Q'] = "~4g6f8d87654425070d2f4g 5784",
    ['R'] = "040g4g 4a0a ~4g7e7c4a 4a74",
    ['S'] = "~7e4g1f0d1b6977653406",
    ['T'] = "0g8g 4g44",
    ['U'] = "0g07 ~07245477 7g77",
    ['V'] = "0g448g",
    ['W'] = "0g245e84ag",
    ['X'] = "0g74 7g04",
    ['Y'] = "0g4a8g 4a44",
    ['Z'] = "0g7g0474",
    ['['] = "3g0g0333",
    ['\\'] = "0g63",
    [']'] = "0g3g3303",
    ['^'] = "0c3g6c",
    ['_'] = "0363",
    ['`'] = "0g2d",
    ['a'] = "~6a4c2c0a06244466 6c64",
    ['b'] = "0g04 ~0a2c4c6a66442406",
    ['c'] = "~6b4c2c0a06244465",
    ['d'] = "~6a4c2c0a06244466 6g64",
    ['e'] = "0868 ~686a4c2c0a06244465",
    ['f'] = "~5g3f2c 2c24 0c5c",
    ['g'] = "~6a4c2c0a06244466 6c63 ~63513001",
    ['h'] = "0g04 ~0a2c4c6a 6a64",
    ['i'] = "0c04 0f",
    ['j'] = "3c32 ~322000 3f",
    ['k'] = "0g04 5c07 2954",
    ['l'] = "0g04",
    ['m'] = "0c04 ~0a1c3c4a 4a44 ~4a5c7c8a 8a84",
    ['n'] = "0c04 ~0a2c4c6a 6a64",
    ['o'] = "~3c6a6634060a3c",
    ['p'] = "0c00 ~0a2c4c6a66442406",
    ['q'] = "6c60 ~6a4c2c0a06244466",
    ['r'] = "0c04 ~0a1b2c4c",
    ['s'] = "~6b3c0a38663405",
    ['t'] = "2f26 ~263454 0c5c",
    ['u'] = "0c06 ~06244466 6c64",
    ['v'] = "0c346c",
    ['w'] = "0c244c648c",
    ['x'] = "0c64 6c04",
    ['y'] = "0c34 6c10",
    ['z'] = "0c6c0464",
    ['{'] = "~4g2e2b0a ~0a292543",
    ['|'] = "0g03",
    ['}'] = "~0g2e2b4a ~4a292503",
    ['~'] = "~092b4969",
};
/* clang-format on */

static const char UNKNOWN[] = "0g6g64040g";
enum { SEGMENTS_MAX = 256, POINTS_MAX = 32, CURVE_STEPS = 6, CAP_UNITS = 12, SPACE_UNITS = 5 };

typedef struct strokes {
  int count;
  double segment[SEGMENTS_MAX][4]; /* x0, y0, x1, y1 in units above the base line */
} strokes;

static int unit_of(char c)
{
  return c >= 'a' ? c - 'a' + 10 : c - '0';
}

static const char *glyph_of(char c)
{
  const char *glyph = (unsigned char)c < 128 ? GLYPHS[(unsigned char)c] : NULL;
  return glyph ? glyph : UNKNOWN;
}

static double advance(char c)
{
  if (c == ' ')
    return SPACE_UNITS;
  int width = 0;
  for (const char *s = glyph_of(c); *s;) {
    if (*s == '~' || *s == ' ') {
      s++;
      continue;
    }
    width = unit_of(s[0]) > width ? unit_of(s[0]) : width;
    s += 2;
  }
  return width + 3.5;
}

static void add_segment(strokes *g, double x0, double y0, double x1, double y1)
{
  if (g->count < SEGMENTS_MAX) {
    double *s = g->segment[g->count++];
    s[0] = x0, s[1] = y0, s[2] = x1, s[3] = y1;
  }
}

static double catmull_rom(double a, double b, double c, double d, double t)
{
  return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

static void add_stroke(strokes *g, double p[][2], int n, int smooth)
{
  if (n == 1)
    add_segment(g, p[0][0], p[0][1] + 0.4, p[0][0], p[0][1] + 0.4);
  int closed = n > 2 && p[0][0] == p[n - 1][0] && p[0][1] == p[n - 1][1];
  for (int i = 0; i + 1 < n; i++) {
    const double *b = p[i], *c = p[i + 1];
    const double *a = i > 0 ? p[i - 1] : closed ? p[n - 2] : b;
    const double *d = i + 2 < n ? p[i + 2] : closed ? p[1] : c;
    double x = b[0], y = b[1];
    for (int s = 1; s <= (smooth ? CURVE_STEPS : 1); s++) {
      double t = (double)s / CURVE_STEPS;
      double nx = smooth ? catmull_rom(a[0], b[0], c[0], d[0], t) : c[0];
      double ny = smooth ? catmull_rom(a[1], b[1], c[1], d[1], t) : c[1];
      add_segment(g, x, y, nx, ny);
      x = nx, y = ny;
    }
  }
}

static void load_glyph(char c, strokes *g)
{
  g->count = 0;
  const char *s = glyph_of(c);
  while (*s) {
    double p[POINTS_MAX][2];
    int n = 0, smooth = *s == '~';
    s += smooth;
    for (; *s && *s != ' '; s += 2)
      if (n < POINTS_MAX) {
        p[n][0] = unit_of(s[0]);
        p[n++][1] = unit_of(s[1]) - 4;
      }
    s += *s == ' ';
    add_stroke(g, p, n, smooth);
  }
}

static double distance(const double s[4], double x, double y)
{
  double dx = s[2] - s[0], dy = s[3] - s[1], length2 = dx * dx + dy * dy;
  double t = length2 > 0 ? ((x - s[0]) * dx + (y - s[1]) * dy) / length2 : 0;
  t = t < 0 ? 0 : t > 1 ? 1 : t;
  return hypot(x - s[0] - t * dx, y - s[1] - t * dy);
}

/* A pixel is covered as far as the nearest stroke reaches into it: once per glyph, so that crossing
   strokes do not darken each other. */
static void draw_glyph(mn_image *image, const strokes *g, double x, double y, double unit,
                       double width, mn_rgb colour)
{
  int x0 = (int)floor(x - 2 * unit - 1), x1 = (int)ceil(x + 14 * unit + 1);
  int y0 = (int)floor(y - 14 * unit - 1), y1 = (int)ceil(y + 6 * unit + 1);
  for (int j = y0; j < y1; j++)
    for (int i = x0; i < x1; i++) {
      double px = (i + 0.5 - x) / unit, py = (y - j - 0.5) / unit, least = 1e9;
      for (int s = 0; s < g->count; s++) {
        double d = distance(g->segment[s], px, py);
        least = d < least ? d : least;
      }
      double cover = 0.5 * width + 0.5 - least * unit;
      if (cover > 0)
        mn_image_blend(image, i, j, colour, cover < 1 ? cover : 1);
    }
}

void mn_image_text(mn_image *image, double x, double y, double size, mn_rgb colour,
                   const char *text)
{
  double unit = size / CAP_UNITS;
  double width = size / 8 > 1.15 ? size / 8 : 1.15; /* of a stroke, px */
  strokes g;
  for (; *text; text++) {
    if (*text != ' ') {
      load_glyph(*text, &g);
      draw_glyph(image, &g, x, y, unit, width, colour);
    }
    x += advance(*text) * unit;
  }
}

double mn_image_text_width(double size, const char *text)
{
  double width = 0;
  for (; *text; text++)
    width += advance(*text);
  return width * size / CAP_UNITS;
}
