/* The columns of both solvers and their inner products.

   The reduced model needs columns only through the products (W and U: weights)

     ff = V^T W^2 V,   ss = Pb^T U^2 Pb,   fs = V^T W^2 Vb,   sf = Pb^T U^2 P

   A new column costs a pass over the others for its row and column of these, O(n k); nothing is
   done again for columns that are known. All k x k matrices are stored with the columns' capacity
   as leading dimension. The pivoted (published) model works on the columns themselves and has no
   products. Verified by tests/unit/couple/test_rmi_history.c (test_products). */
#include "couple/rmi_model.h"
#include "couple/rmi_tune.h"

#include <math.h>
#include <string.h>

#include "la/columns.h"
#include "math/vec.h"

/* A difference below this fraction of the vectors is rounding. */
static const double ROUNDING = 1e-14;

double mn_rmi_dt_scale(const mn_rmi *rmi)
{
  double before = rmi->number[MN_RMI_COLUMN_DT];
  return before > 0 && before != rmi->dt ? pow(before / rmi->dt, rmi->def.dt_power) : 1;
}

/* product <- the inner products of `columns` with W^2 v, a number every `stride`. */
static void products_with(mn_rmi *rmi, size_t n, const double *weight, const double *v,
                          int64_t count, const double *columns, size_t stride, double *product)
{
  double *weighted = rmi->products.weighted, *row = rmi->products.row;
  for (size_t i = 0; i < n; i++)
    weighted[i] = weight[i] * weight[i] * v[i];
  mn_columns_inner(n, (int)count, 1, columns, weighted, row);
  for (size_t j = 0; j < (size_t)count; j++)
    product[j * stride] = row[j];
}

static void add_products(mn_rmi *rmi, int is_fluid, size_t at)
{
  mn_rmi_products *q = &rmi->products;
  mn_rmi_pairs *f = &rmi->fluid, *s = &rmi->solid;
  size_t nx = rmi->def.x_size, np = rmi->def.p_size, ld = q->ld;
  const double *w = rmi->x_weight, *u = rmi->p_weight;
  if (!q->ff)
    return;
  if (is_fluid) {
    const double *dx = f->in + at * nx, *dp = f->out + at * np;
    products_with(rmi, nx, w, dx, *f->count, f->in, 1, q->ff + at * ld);
    for (size_t i = 0; i < at; i++)
      q->ff[at + i * ld] = q->ff[i + at * ld];
    products_with(rmi, nx, w, dx, *s->count, s->out, ld, q->fs + at);
    products_with(rmi, np, u, dp, *s->count, s->in, 1, q->sf + at * ld);
  } else {
    const double *dp = s->in + at * np, *dx = s->out + at * nx;
    products_with(rmi, np, u, dp, *s->count, s->in, 1, q->ss + at * ld);
    for (size_t i = 0; i < at; i++)
      q->ss[at + i * ld] = q->ss[i + at * ld];
    products_with(rmi, np, u, dp, *f->count, f->out, ld, q->sf + at);
    products_with(rmi, nx, w, dx, *f->count, f->in, 1, q->fs + at * ld);
  }
}

void mn_rmi_columns_add(mn_rmi *rmi, mn_rmi_pairs *pairs, const double *in, const double *in_base,
                        const double *out, const double *out_base)
{
  int is_fluid = pairs == &rmi->fluid;
  const double *weight = is_fluid ? rmi->x_weight : rmi->p_weight;
  size_t at = (size_t)*pairs->count;
  double *din = pairs->in + at * pairs->in_size, *dout = pairs->out + at * pairs->out_size;
  double most = 0, most_step = 0;
  for (size_t i = 0; i < pairs->in_size; i++) {
    din[i] = in[i] - in_base[i];
    most = mn_max(most, fabs(weight[i] * in[i])); /* fmax is a call */
    most_step = mn_max(most_step, fabs(weight[i] * din[i]));
  }
  for (size_t i = 0; i < pairs->out_size; i++)
    dout[i] = out[i] - out_base[i];
  pairs->age[at] = 0;
  ++*pairs->count;
  if (most_step > ROUNDING * most)
    add_products(rmi, is_fluid, at);
  else /* from rest, or converged to the last digit: no column */
    mn_rmi_columns_truncate(rmi, pairs, (int64_t)at);
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
    memset(pairs->age + from, 0, columns * sizeof *pairs->age);
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

/* a(i, j) <- a(rows[i], cols[j]) in place; both lists ascend. NULL: the first n or m. */
static void pick(double *a, size_t ld, const int *rows, size_t n, const int *cols, size_t m)
{
  if (a)
    for (size_t j = 0; j < m; j++)
      for (size_t i = 0; i < n; i++)
        a[i + j * ld] = a[(rows ? (size_t)rows[i] : i) + (cols ? (size_t)cols[j] : j) * ld];
}

/* Rows below `rows` and columns below `cols` times s; both: s^2. */
static void scale_old(double *a, size_t ld, size_t end, size_t rows, size_t cols, double s)
{
  if (a)
    for (size_t j = 0; j < end; j++)
      for (size_t i = 0; i < end; i++)
        a[i + j * ld] *= (i < rows ? s : 1) * (j < cols ? s : 1);
}

/* Columns of earlier substeps scaled to the new dt: p answers x like dt^-power. */
static void rescale(mn_rmi *rmi, double s)
{
  size_t np = rmi->def.p_size, ld = rmi->products.ld, end = used(rmi);
  size_t f = (size_t)rmi->count_before[0], b = (size_t)rmi->count_before[1];
  for (size_t i = 0; i < f * np; i++)
    rmi->fluid.out[i] *= s;
  for (size_t i = 0; i < b * np; i++)
    rmi->solid.in[i] *= s;
  scale_old(rmi->products.ss, ld, end, b, b, s);
  scale_old(rmi->products.sf, ld, end, b, f, s);
}

static void age(mn_rmi *rmi, mn_rmi_pairs *pairs)
{
  mn_rmi_products *q = &rmi->products;
  int *stay = q->stay;
  size_t kept = 0, in = pairs->in_size, out = pairs->out_size, ld = q->ld, end = used(rmi);
  int64_t count = *pairs->count;
  for (int64_t c = 0; c < count; c++) {
    if (pairs->age[c] >= rmi->def.reuse || count - c > rmi->def.max_columns)
      continue;
    pairs->age[kept] = pairs->age[c] + 1;
    if (kept != (size_t)c) {
      memcpy(pairs->in + kept * in, pairs->in + (size_t)c * in, in * sizeof(double));
      memcpy(pairs->out + kept * out, pairs->out + (size_t)c * out, out * sizeof(double));
    }
    stay[kept++] = (int)c;
  }
  if (pairs == &rmi->fluid) {
    pick(q->ff, ld, stay, kept, stay, kept);
    pick(q->fs, ld, stay, kept, NULL, end);
    pick(q->sf, ld, NULL, end, stay, kept);
  } else {
    pick(q->ss, ld, stay, kept, stay, kept);
    pick(q->sf, ld, stay, kept, NULL, end);
    pick(q->fs, ld, NULL, end, stay, kept);
  }
  mn_rmi_columns_truncate(rmi, pairs, (int64_t)kept);
}

/* to += rate times the x of the same column */
static void shift(const mn_rmi *rmi, int64_t count, const double *rate, const double *x, double *to)
{
  size_t n = rmi->def.x_size;
  for (size_t c = 0; c < (size_t)count; c++)
    for (size_t i = 0; i < n; i++)
      to[c * n + i] += rate[i] * x[c * n + i];
}

void mn_rmi_shift_loads(mn_rmi *rmi, const double *rate)
{
  mn_rmi_pairs *f = &rmi->fluid, *s = &rmi->solid;
  if (rmi->def.method != MN_RMI_REDUCED)
    return;
  shift(rmi, *f->count, rate, f->in, f->out);
  shift(rmi, *s->count, rate, s->out, s->in);
  int64_t fluid = *f->count, solid = *s->count;
  *f->count = *s->count = 0;
  while (*f->count < fluid) { /* products anew, as when columns come */
    ++*f->count;
    add_products(rmi, 1, (size_t)*f->count - 1);
  }
  while (*s->count < solid) {
    ++*s->count;
    add_products(rmi, 0, (size_t)*s->count - 1);
  }
}

void mn_rmi_columns_age(mn_rmi *rmi)
{
  double scale = mn_rmi_dt_scale(rmi);
  if (scale != 1)
    rescale(rmi, scale);
  age(rmi, &rmi->fluid);
  age(rmi, &rmi->solid);
  rmi->number[MN_RMI_COLUMN_DT] = rmi->dt;
}
