/* The columns of both solvers and their inner products.

   The reduced model needs columns only through the products

     ff = V^T V,   ss = Pb^T Pb,   fs = V^T Vb,   sf = Pb^T P

   A new column costs a pass over the others for its row and column of these, O(n k); nothing is
   done again for columns that are known. All k x k matrices are stored with the columns' capacity
   as leading dimension. The pivoted (published) model works on the columns themselves and has no
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

/* product <- the inner products of the columns in use with v, a number every `stride`. */
static void products_with(mn_rmi *rmi, const mn_rmi_pairs *pairs, int answers, const double *v,
                          size_t stride, double *product)
{
  size_t n = answers ? pairs->out_size : pairs->in_size, count = (size_t)*pairs->count;
  size_t first = (size_t)mn_rmi_columns_first(rmi, pairs);
  const double *columns = answers ? pairs->out : pairs->in;
  double *row = rmi->products.row;
  mn_columns_inner(n, (int)(count - first), 1, columns + first * n, v, row);
  for (size_t j = first; j < count; j++)
    product[j * stride] = row[j - first];
}

static void add_products(mn_rmi *rmi, int is_fluid, size_t at)
{
  mn_rmi_products *q = &rmi->products;
  const mn_rmi_pairs *f = &rmi->fluid, *s = &rmi->solid;
  size_t nx = rmi->def.x_size, np = rmi->def.p_size, ld = q->ld;
  if (!q->ff)
    return;
  const double *dx = (is_fluid ? f->in : s->out) + at * nx;
  const double *dp = (is_fluid ? f->out : s->in) + at * np;
  products_with(rmi, f, 0, dx, 1, (is_fluid ? q->ff : q->fs) + at * ld);
  products_with(rmi, s, 0, dp, 1, (is_fluid ? q->sf : q->ss) + at * ld);
  if (is_fluid)
    products_with(rmi, s, 1, dx, ld, q->fs + at);
  else
    products_with(rmi, f, 1, dp, ld, q->sf + at);
  double *own = is_fluid ? q->ff : q->ss;
  for (size_t i = 0; i < at; i++)
    own[at + i * ld] = own[i + at * ld];
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
  memmove(pairs->age, pairs->age + first, kept * sizeof *pairs->age);
  memmove(pairs->dt, pairs->dt + first, kept * sizeof *pairs->dt);
  size_t ld = q->ld, end = used(rmi);
  int is_fluid = pairs == &rmi->fluid;
  move_up(is_fluid ? q->ff : q->ss, ld, end, first, first);
  move_up(is_fluid ? q->fs : q->sf, ld, end, first, 0);
  move_up(is_fluid ? q->sf : q->fs, ld, end, 0, first);
  mn_rmi_columns_truncate(rmi, pairs, (int64_t)kept);
}

void mn_rmi_columns_add(mn_rmi *rmi, mn_rmi_pairs *pairs, const double *in, const double *in_base,
                        const double *out, const double *out_base)
{
  int is_fluid = pairs == &rmi->fluid;
  int64_t *before = &rmi->count_before[!is_fluid];
  if (*pairs->count == pairs->capacity) { /* more iterations than columns are ever looked at */
    drop(rmi, pairs, MN_RMI_IDLE_COLUMNS);
    *before = *before > MN_RMI_IDLE_COLUMNS ? *before - MN_RMI_IDLE_COLUMNS : 0;
  }
  size_t at = (size_t)*pairs->count;
  double *din = pairs->in + at * pairs->in_size, *dout = pairs->out + at * pairs->out_size;
  for (size_t i = 0; i < pairs->in_size; i++)
    din[i] = in[i] - in_base[i];
  for (size_t i = 0; i < pairs->out_size; i++)
    dout[i] = out[i] - out_base[i];
  pairs->age[at] = 0;
  pairs->dt[at] = rmi->dt;
  ++*pairs->count;
  if (mn_norm_square(pairs->in_size, din) >
      ROUNDING * ROUNDING * mn_norm_square(pairs->in_size, in))
    add_products(rmi, is_fluid, at);
  else /* from rest, or converged to the last digit: no column */
    mn_rmi_columns_truncate(rmi, pairs, (int64_t)at);
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

/* p of all columns += rate times x; both are times their weights, p is that of the column's dt. */
static void shift(const mn_rmi *rmi, const mn_rmi_pairs *pairs, const double *rate, const double *x,
                  double *p)
{
  size_t n = rmi->def.x_size;
  const double *w = rmi->x_weight, *u = rmi->p_weight;
  for (size_t c = 0; c < (size_t)*pairs->count; c++) {
    double part = 1 / mn_rmi_dt_scale(rmi, pairs->dt[c]);
    for (size_t i = 0; i < n; i++)
      p[c * n + i] += (u ? u[i] : 1) / (w ? w[i] : 1) * part * rate[i] * x[c * n + i];
  }
}

void mn_rmi_shift_loads(mn_rmi *rmi, const double *rate)
{
  mn_rmi_pairs *f = &rmi->fluid, *s = &rmi->solid;
  if (rmi->def.method != MN_RMI_REDUCED)
    return;
  rmi->dt = rmi->number[MN_RMI_DT1]; /* a restored object has none of its own */
  drop(rmi, f, (size_t)mn_rmi_columns_first(rmi, f));
  drop(rmi, s, (size_t)mn_rmi_columns_first(rmi, s));
  shift(rmi, f, rate, f->in, f->out);
  shift(rmi, s, rate, s->out, s->in);
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
  age(rmi, &rmi->fluid);
  age(rmi, &rmi->solid);
}
