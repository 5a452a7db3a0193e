/* The columns of both solvers and their inner products.

   The reduced model needs columns only through the products

     ff = V^T V,   ss = Pb^T Pb,   fs = V^T Vb,   sf = Pb^T P

   A new column costs a pass over the others for its row and column of these, O(n k); nothing is
   done again for columns that are known. All k x k matrices are stored with the columns' capacity
   as leading dimension. Entries of long vectors may be in patches: products are then those of sums
   over patches, each over the root of its entries, so that a field that is the same all over a
   patch has the length it had; x is kept in full as well, to be combined. The pivoted (published)
   model works on the columns themselves and has no
   products. Verified by tests/unit/couple/test_rmi_history.c (test_products). */
#include "couple/rmi_model.h"
#include "couple/rmi_tune.h"

#include <math.h>
#include <string.h>

#include "la/columns.h"
#include "la/norms.h"

/* A difference below this fraction of the vectors is rounding. */
static const double ROUNDING = 1e-14;

double mn_rmi_dt_scale(const mn_rmi *rmi, double dt)
{
  return dt > 0 && dt != rmi->dt ? pow(dt / rmi->dt, rmi->def.dt_power) : 1;
}

int64_t mn_rmi_columns_first(const mn_rmi *rmi, const mn_rmi_pairs *pairs)
{
  int64_t first = 0;
  while (first < *pairs->count && pairs->age[first] > rmi->def.reuse)
    first++;
  return first;
}

/* to <- the sums of a - b (b NULL: of a) over patches; without patches a - b itself. */
static void shorten(size_t n, const uint32_t *patch, const double *scale, size_t count,
                    const double *a, const double *b, double *to)
{
  if (!patch) {
    for (size_t i = 0; i < n; i++)
      to[i] = a[i] - b[i];
    return;
  }
  memset(to, 0, count * sizeof *to);
  for (size_t i = 0; i < n; i++)
    to[patch[i]] += b ? a[i] - b[i] : a[i];
  for (size_t g = 0; g < count; g++)
    to[g] *= scale[g];
}

void mn_rmi_shorten_x(const mn_rmi *rmi, const double *a, const double *b, double *to)
{
  const mn_rmi_short *s = &rmi->shorter;
  shorten(rmi->def.x_size, s->x_patch, s->x_scale, s->x, a, b, to);
}

static void shorten_p(const mn_rmi *rmi, const double *a, const double *b, double *to)
{
  const mn_rmi_short *s = &rmi->shorter;
  shorten(rmi->def.p_size, s->p_patch, s->p_scale, s->p, a, b, to);
}

static double *p_of(const mn_rmi *rmi, const mn_rmi_pairs *pairs)
{
  return pairs == &rmi->fluid ? pairs->out : pairs->in;
}

static double *x_of(const mn_rmi *rmi, const mn_rmi_pairs *pairs)
{
  return pairs == &rmi->fluid ? pairs->in : pairs->out;
}

/* product <- the inner products of the columns in use with v, a number every `stride`. */
static void products_with(mn_rmi *rmi, const mn_rmi_pairs *pairs, int of_p, const double *v,
                          size_t stride, double *product)
{
  size_t n = of_p ? rmi->shorter.p : rmi->shorter.x, count = (size_t)*pairs->count;
  size_t first = (size_t)mn_rmi_columns_first(rmi, pairs);
  const double *columns = of_p ? p_of(rmi, pairs) : pairs->x_short;
  double *row = rmi->products.row;
  mn_columns_inner(n, (int)(count - first), 1, columns + first * n, v, row);
  for (size_t j = first; j < count; j++)
    product[j * stride] = row[j - first];
}

static void mirror(double *square, size_t ld, size_t at)
{
  for (size_t i = 0; i < at; i++)
    square[at + i * ld] = square[i + at * ld];
}

/* The products of column `at` of one solver. */
static void add_products(mn_rmi *rmi, int is_fluid, size_t at)
{
  mn_rmi_products *q = &rmi->products;
  const mn_rmi_pairs *f = &rmi->fluid, *s = &rmi->solid;
  size_t ld = q->ld;
  const double *dx = (is_fluid ? f : s)->x_short + at * rmi->shorter.x;
  const double *dp = (is_fluid ? f->out : s->in) + at * rmi->shorter.p;
  products_with(rmi, f, 0, dx, 1, (is_fluid ? q->ff : q->fs) + at * ld);
  products_with(rmi, s, 1, dp, 1, (is_fluid ? q->sf : q->ss) + at * ld);
  if (is_fluid)
    products_with(rmi, s, 0, dx, ld, q->fs + at);
  else
    products_with(rmi, f, 1, dp, ld, q->sf + at);
  mirror(is_fluid ? q->ff : q->ss, ld, at);
}

/* The same of the last columns of both, which have one p: the fluid's columns of x are read once
   for both, and the solid's of p. */
static void add_products_of_both(mn_rmi *rmi)
{
  mn_rmi_products *q = &rmi->products;
  const mn_rmi_pairs *f = &rmi->fluid, *s = &rmi->solid;
  size_t ld = q->ld, nx = rmi->shorter.x, at_f = (size_t)*f->count - 1,
         at_s = (size_t)*s->count - 1;
  const double *dx_f = f->x_short + at_f * nx, *dx_s = s->x_short + at_s * nx;
  const double *dp = f->out + at_f * rmi->shorter.p;
  size_t first = (size_t)mn_rmi_columns_first(rmi, f), from = (size_t)mn_rmi_columns_first(rmi, s);
  mn_columns_inner_two(nx, (int)(at_f + 1 - first), f->x_short + first * nx, dx_f, dx_s,
                       q->ff + first + at_f * ld, q->fs + first + at_s * ld);
  products_with(rmi, s, 0, dx_f, ld, q->fs + at_f);
  products_with(rmi, s, 1, dp, 1, q->sf + at_f * ld);
  memcpy(q->ss + from + at_s * ld, q->sf + from + at_f * ld, (at_s + 1 - from) * sizeof *q->ss);
  products_with(rmi, f, 1, dp, ld, q->sf + at_s);
  mirror(q->ff, ld, at_f);
  mirror(q->ss, ld, at_s);
}

/* Beyond as many rows and columns all products are 0. */
static size_t used(const mn_rmi *rmi)
{
  int64_t most = *rmi->fluid.count > *rmi->solid.count ? *rmi->fluid.count : *rmi->solid.count;
  return most < 0 ? 0 : most < (int64_t)rmi->products.ld ? (size_t)most : rmi->products.ld;
}

/* Zero in rows from `row` on and in columns from `col` on, up to `end`. */
static void clear(double *a, size_t ld, size_t end, size_t row, size_t col)
{
  if (a)
    for (size_t j = 0; j < end; j++)
      for (size_t i = j < col ? row : 0; i < end; i++)
        a[i + j * ld] = 0;
}

void mn_rmi_columns_truncate(mn_rmi *rmi, mn_rmi_pairs *pairs, int64_t count)
{
  mn_rmi_products *q = &rmi->products;
  size_t from = (size_t)count, ld = q->ld, end = used(rmi);
  if (*pairs->count > pairs->capacity) /* a damaged checkpoint */
    *pairs->count = pairs->capacity;
  if (*pairs->count > count) {
    size_t columns = (size_t)(*pairs->count - count);
    memset(pairs->in + from * pairs->in_size, 0, columns * pairs->in_size * sizeof(double));
    memset(pairs->out + from * pairs->out_size, 0, columns * pairs->out_size * sizeof(double));
    memset(pairs->x_short + from * rmi->shorter.x, 0, columns * rmi->shorter.x * sizeof(double));
    memset(pairs->age + from, 0, columns * sizeof *pairs->age);
    memset(pairs->dt + from, 0, columns * sizeof *pairs->dt);
    if (pairs == &rmi->fluid) {
      clear(q->ff, ld, end, from, from);
      clear(q->fs, ld, end, from, end);
      clear(q->sf, ld, end, end, from);
    } else {
      clear(q->ss, ld, end, from, from);
      clear(q->sf, ld, end, from, end);
      clear(q->fs, ld, end, end, from);
    }
  }
  *pairs->count = count;
}

/* a(i, j) <- a(i + rows, j + cols) up to `end`. */
static void move_up(double *a, size_t ld, size_t end, size_t rows, size_t cols)
{
  if (a)
    for (size_t j = 0; j + cols < end; j++)
      for (size_t i = 0; i + rows < end; i++)
        a[i + j * ld] = a[i + rows + (j + cols) * ld];
}

/* Forgets the columns before `first`. */
static void drop(mn_rmi *rmi, mn_rmi_pairs *pairs, size_t first)
{
  mn_rmi_products *q = &rmi->products;
  size_t in = pairs->in_size, out = pairs->out_size, kept = (size_t)*pairs->count - first;
  if (!first)
    return;
  memmove(pairs->in, pairs->in + first * in, kept * in * sizeof(double));
  memmove(pairs->out, pairs->out + first * out, kept * out * sizeof(double));
  if (rmi->shorter.x_patch)
    memmove(pairs->x_short, pairs->x_short + first * rmi->shorter.x,
            kept * rmi->shorter.x * sizeof(double));
  memmove(pairs->age, pairs->age + first, kept * sizeof *pairs->age);
  memmove(pairs->dt, pairs->dt + first, kept * sizeof *pairs->dt);
  size_t ld = q->ld, end = used(rmi);
  int is_fluid = pairs == &rmi->fluid;
  move_up(is_fluid ? q->ff : q->ss, ld, end, first, first);
  move_up(is_fluid ? q->fs : q->sf, ld, end, first, 0);
  move_up(is_fluid ? q->sf : q->fs, ld, end, 0, first);
  mn_rmi_columns_truncate(rmi, pairs, (int64_t)kept);
}

/* Adds a column without its products; 0: there is none to add. */
static int append(mn_rmi *rmi, mn_rmi_pairs *pairs, const double *in, const double *in_base,
                  const double *out, const double *out_base)
{
  int is_fluid = pairs == &rmi->fluid;
  int64_t *before = &rmi->count_before[!is_fluid];
  if (*pairs->count == pairs->capacity) { /* more iterations than columns are ever looked at */
    drop(rmi, pairs, MN_RMI_IDLE_COLUMNS);
    *before = *before > MN_RMI_IDLE_COLUMNS ? *before - MN_RMI_IDLE_COLUMNS : 0;
  }
  size_t at = (size_t)*pairs->count;
  const double *x = is_fluid ? in : out, *x_base = is_fluid ? in_base : out_base;
  size_t nx = rmi->def.x_size, np = rmi->def.p_size;
  double *dx = x_of(rmi, pairs) + at * nx, *dp = p_of(rmi, pairs) + at * rmi->shorter.p;
  for (size_t i = 0; i < nx; i++)
    dx[i] = x[i] - x_base[i];
  if (rmi->shorter.x_patch)
    mn_rmi_shorten_x(rmi, dx, NULL, pairs->x_short + at * rmi->shorter.x);
  shorten_p(rmi, is_fluid ? out : in, is_fluid ? out_base : in_base, dp);
  pairs->age[at] = 0;
  pairs->dt[at] = rmi->dt;
  ++*pairs->count;
  if (mn_norm_square(pairs->in_size, is_fluid ? dx : dp) >
      ROUNDING * ROUNDING * mn_norm_square(is_fluid ? nx : np, in))
    return 1;
  mn_rmi_columns_truncate(rmi, pairs, (int64_t)at); /* from rest, or converged to the last digit */
  return 0;
}

void mn_rmi_columns_add(mn_rmi *rmi, mn_rmi_pairs *pairs, const double *in, const double *in_base,
                        const double *out, const double *out_base)
{
  if (append(rmi, pairs, in, in_base, out, out_base) && rmi->products.ff)
    add_products(rmi, pairs == &rmi->fluid, (size_t)*pairs->count - 1);
}

void mn_rmi_columns_add_both(mn_rmi *rmi)
{
  int of_fluid = append(rmi, &rmi->fluid, rmi->x_f, rmi->x_f_base, rmi->p_f, rmi->p_f_base);
  int of_solid = append(rmi, &rmi->solid, rmi->p_f, rmi->p_f_base, rmi->x_s, rmi->x_s_base);
  if (!rmi->products.ff)
    return;
  if (of_fluid && of_solid)
    add_products_of_both(rmi);
  else if (of_fluid || of_solid)
    add_products(rmi, of_fluid, (size_t) * (of_fluid ? &rmi->fluid : &rmi->solid)->count - 1);
}

static void age(mn_rmi *rmi, mn_rmi_pairs *pairs)
{
  int64_t count = *pairs->count;
  for (int64_t c = 0; c < count; c++)
    pairs->age[c] = count - c > rmi->def.max_columns ? rmi->def.reuse + 1 : pairs->age[c] + 1;
  int64_t first = mn_rmi_columns_first(rmi, pairs);
  if (first >= MN_RMI_IDLE_COLUMNS || first == count)
    drop(rmi, pairs, (size_t)first);
}

/* p of all columns in use += rate times x; both are times their weights, p is that of the column's
 * dt. */
static void shift(const mn_rmi *rmi, const mn_rmi_pairs *pairs, const double *restrict rate,
                  const double *x, double *p)
{
  size_t n = rmi->def.x_size;
  const double *w = rmi->x_weight, *u = rmi->p_weight;
  const mn_rmi_short *s = &rmi->shorter;
  for (size_t c = (size_t)mn_rmi_columns_first(rmi, pairs); c < (size_t)*pairs->count; c++) {
    double part = 1 / mn_rmi_dt_scale(rmi, pairs->dt[c]);
    const double *restrict of_x = x + c * n;
    double *restrict of_p = p + c * s->p;
    if (!w && !u && !s->p_patch) /* nearly always */
      for (size_t i = 0; i < n; i++)
        of_p[i] += part * rate[i] * of_x[i];
    else
      for (size_t i = 0; i < n; i++) {
        size_t patch = s->p_patch ? s->p_patch[i] : i;
        double more = (u ? u[i] : 1) / (w ? w[i] : 1) * part * rate[i] * of_x[i];
        of_p[patch] += s->p_patch ? s->p_scale[patch] * more : more;
      }
  }
}

void mn_rmi_shift_loads(mn_rmi *rmi, const double *rate)
{
  mn_rmi_pairs *f = &rmi->fluid, *s = &rmi->solid;
  mn_rmi_products *q = &rmi->products;
  if (rmi->def.method != MN_RMI_REDUCED)
    return;
  rmi->dt = rmi->number[MN_RMI_DT1]; /* a restored object has none of its own */
  shift(rmi, f, rate, f->in, f->out);
  shift(rmi, s, rate, s->out, s->in);
  size_t np = rmi->shorter.p;
  for (size_t c = (size_t)mn_rmi_columns_first(rmi, f); q->sf && c < (size_t)*f->count; c++)
    products_with(rmi, s, 1, f->out + c * np, 1, q->sf + c * q->ld);
  for (size_t c = (size_t)mn_rmi_columns_first(rmi, s); q->ss && c < (size_t)*s->count; c++)
    products_with(rmi, s, 1, s->in + c * np, 1, q->ss + c * q->ld);
}

void mn_rmi_columns_age(mn_rmi *rmi)
{
  age(rmi, &rmi->fluid);
  age(rmi, &rmi->solid);
}
