/* The reduced model: what both solvers answered so far, as two low-rank Jacobians, solved together.

   Pairs of consecutive solves give columns: of the fluid V = [dx^f], P = [dp^f], of the solid
   Pb = [dp^s], Vb = [dx^s], all of weighted x and p (rmi_call.c). With QR factorisations V = Q R,
   Pb = Qb Rb the Jacobians of least squares are

     F_x = P R^-1 Q^T = G Q^T          S_p = Vb Rb^-1 Qb^T = Gb Qb^T

   and the model is   p = p^f + F_x (x - x^f),   x = x^s + S_p (p - p^s)   [Akbay 2018, eqs. 3 and
   4; Vierendeels 2007]. In the coordinates y = Q^T (x - x^f), z = Qb^T (p - p^s) it is k x k:

     C1 = Q^T Gb,  C2 = Qb^T G
     (I - C1 C2) y = Q^T (x^s - x^f) + C1 Qb^T (p^f - p^s)
     z = Qb^T (p^f - p^s) + C2 y,     x = x^s + Gb z,     p = p^f + G y

   solved by LU. Nothing of the interface's size squared is formed. With Q = V R^-1 all of it
   follows from inner products of columns (rmi_columns.c), R by Cholesky, at a cost of O(n k) per
   iteration; the published model, which may keep columns that are dependent but for rounding, has
   a true Q, O(n k^2).

   Beyond the source. (1) Columns of earlier substeps follow those of this one, newest first; a
   column whose part orthogonal to newer ones is small says nothing new and, divided by that small
   part, much that is wrong: it is left out [Haelterman 2016].
   Each solver has its own columns and filter. (2) The part of x - x^f that no column describes
   would be taken over whole, as by an unrelaxed step, which amplifies its error by mu; it is
   relaxed by 1/(1 + mu), mu as measured for the last such part. With no columns at all that is the
   first step of a run from rest. (3) A step longer than the residual by MOST_STEP is a model gone
   wrong: first the earlier columns go, then the model.

   Verified by tests/unit/couple/test_rmi_algebra.c (against dense matrices), test_rmi_linear.c,
   test_rmi_tube.c. */
#include "couple/rmi_model.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "la/columns.h"
#include "la/dense.h"
#include "la/norms.h"

/* Before anything is known: small enough for a light solid, and the secant that it gives is as good
   as any other. */
static const double FIRST_OMEGA = 0.1;
/* (I + M)^-1 shortens the residual when the fluid resists motion (mu > 0); it may lengthen it where
   the fluid gives way, and where a fictitious mass m is lent to a light solid: by m over its own
   mass in motions that the fluid does not resist. But not by this. */
static const double MOST_STEP = 1e4;
/* Nor will columns of earlier substeps take x this many times further than any step of this substep
   so far: where I - C1 C2 is nearly singular by what they remember they do (a soft disk: 300 times,
   to where the solid found no answer). */
static const double MOST_GROWTH = 30;
/* A remainder of less than this fraction of the step says nothing about its own mu. */
static const double LEAST_REMAINDER = 1e-2;

/* The factors of one solver's Jacobian, out_size x m times m x in_size. */
typedef struct side {
  int k;         /* columns looked at, newest first */
  int m;         /* that are in */
  double *r;     /* [capacity * capacity] */
  int *kept;     /* [capacity] which of the k */
  double *scale; /* [capacity] of p in each of the k: not 1 where dt has changed since */
  double *q, *g; /* pivoted only: Q, in_size x m, and answers over R, out_size x m */
} side;

struct mn_rmi_model {
  side fluid, solid;
  int capacity;
  double *c1, *c2, *lu;  /* [capacity * capacity] */
  double *y, *z, *least; /* [capacity] */
  double *order;         /* [capacity * capacity] products in the order of a side */
  double *all;           /* [capacity] a number for each column looked at */
  const double **at;     /* [capacity] columns */
  double *gap;           /* [the longer of x_size and p_size] */
  double *beyond;        /* [x_size] the relaxed remainder of the last step; 0: none */
  double *x, *p;         /* the model's answer */
  mn_arena arena;
};

static mn_status new_side(mn_context *ctx, size_t in_size, size_t out_size, size_t columns,
                          int pivoted, side *s)
{
  MN_TRY(MN_NEW(ctx, "reduced model", columns * columns, &s->r));
  MN_TRY(MN_NEW(ctx, "reduced model", columns, &s->kept));
  MN_TRY(MN_NEW(ctx, "reduced model", columns, &s->scale));
  if (!pivoted)
    return MN_OK;
  MN_TRY(MN_NEW(ctx, "reduced model", columns * in_size, &s->q));
  return MN_NEW(ctx, "reduced model", columns * out_size, &s->g);
}

mn_status mn_rmi_model_create(mn_rmi *rmi, mn_rmi_model **out)
{
  mn_context *ctx = rmi->ctx;
  size_t nx = rmi->def.x_size, np = rmi->def.p_size;
  if (nx > INT_MAX || np > INT_MAX)
    return mn_fail(ctx, MN_BAD_INPUT, "mn_rmi: x_size is %zu and p_size %zu; the most is %d", nx,
                   np, INT_MAX);
  MN_TRY(MN_NEW(ctx, "reduced model", 1, out));
  mn_rmi_model *model = *out;
  int most = rmi->def.max_columns;
  model->capacity = most;
  size_t k = (size_t)most;
  int pivoted = rmi->def.columns == MN_RMI_PIVOTED;
  MN_TRY(new_side(ctx, nx, np, k, pivoted, &model->fluid));
  MN_TRY(new_side(ctx, np, nx, k, pivoted, &model->solid));
  MN_TRY(MN_NEW(ctx, "reduced model", k * k, &model->c1));
  MN_TRY(MN_NEW(ctx, "reduced model", k * k, &model->c2));
  MN_TRY(MN_NEW(ctx, "reduced model", k * k, &model->lu));
  MN_TRY(MN_NEW(ctx, "reduced model", k, &model->y));
  MN_TRY(MN_NEW(ctx, "reduced model", k, &model->z));
  MN_TRY(MN_NEW(ctx, "reduced model", k, &model->least));
  MN_TRY(MN_NEW(ctx, "reduced model", k * k, &model->order));
  MN_TRY(MN_NEW(ctx, "reduced model", k, &model->all));
  MN_TRY(MN_NEW(ctx, "reduced model", k, &model->at));
  MN_TRY(MN_NEW(ctx, "reduced model", nx > np ? nx : np, &model->gap));
  MN_TRY(MN_NEW(ctx, "reduced model", nx, &model->beyond));
  MN_TRY(MN_NEW(ctx, "reduced model", nx, &model->x));
  return MN_NEW(ctx, "reduced model", np, &model->p);
}

void mn_rmi_model_destroy(mn_rmi_model **handle)
{
  mn_rmi_model *model = *handle;
  if (!model)
    return;
  double *all[] = {model->fluid.q, model->fluid.g, model->fluid.r, model->fluid.scale,
                   model->solid.q, model->solid.g, model->solid.r, model->solid.scale,
                   model->c1,      model->c2,      model->lu,      model->y,
                   model->z,       model->least,   model->order,   model->all,
                   model->gap,     model->beyond,  model->x,       model->p};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mn_free(all[i]);
  mn_free(model->at);
  mn_free(model->fluid.kept);
  mn_free(model->solid.kept);
  mn_arena_destroy(&model->arena);
  mn_free(model);
  *handle = NULL;
}

/* ---- one side -------------------------------------------------------------------------------- */

/* Which columns are looked at: all of this substep, then earlier ones, newest first. */
static void look(const mn_rmi *rmi, const mn_rmi_pairs *pairs, int old_too, side *s, double *least)
{
  int64_t first = mn_rmi_columns_first(rmi, pairs);
  s->k = 0;
  for (int64_t c = *pairs->count - 1; c >= first && s->k < rmi->def.max_columns; c--, s->k++) {
    int old = pairs->age[c] > 0;
    if (old && !old_too)
      break;
    s->scale[s->k] = old ? mn_rmi_dt_scale(rmi, pairs->dt[c]) : 1;
    least[s->k] = old ? rmi->def.filter : rmi->def.filter_current;
  }
}

/* The place of the j-th newest column. */
static size_t place(const mn_rmi_pairs *pairs, int j)
{
  return (size_t)(*pairs->count - 1 - j);
}

/* Pivoted: differences of this substep are taken to the last solve, as published. */
static mn_status build_pivoted(mn_rmi *rmi, const mn_rmi_pairs *pairs, side *s)
{
  int is_fluid = pairs == &rmi->fluid;
  size_t in = pairs->in_size, out = pairs->out_size;
  for (int j = 0; j < s->k; j++) {
    size_t c = place(pairs, j);
    double of_in = is_fluid ? 1 : s->scale[j], of_out = is_fluid ? s->scale[j] : 1;
    const double *from = pairs->in + c * in, *answer = pairs->out + c * out;
    double *to = s->q + (size_t)j * in, *g = s->g + (size_t)j * out;
    int add = j > 0 && pairs->age[c] == 0;
    for (size_t i = 0; i < in; i++)
      to[i] = of_in * from[i] + (add ? to[i - in] : 0);
    for (size_t i = 0; i < out; i++)
      g[i] = of_out * answer[i] + (add ? g[i - out] : 0);
  }
  MN_TRY(mn_columns_pivoted(rmi->ctx, &rmi->model->arena, in, s->k, s->q, rmi->def.filter_current,
                            s->r, s->kept, &s->m));
  mn_columns_reorder(out, s->m, s->kept, s->g);
  mn_columns_divide(out, s->m, s->r, s->g);
  return MN_OK;
}

static mn_status build_side(mn_rmi *rmi, const mn_rmi_pairs *pairs, int old_too, side *s)
{
  mn_rmi_model *model = rmi->model;
  look(rmi, pairs, old_too, s, model->least);
  if (s->q)
    return build_pivoted(rmi, pairs, s);
  int is_fluid = pairs == &rmi->fluid, k = s->k;
  const double *product = is_fluid ? rmi->products.ff : rmi->products.ss;
  for (int j = 0; j < k; j++)
    for (int i = 0; i < k; i++)
      model->order[i + j * k] = product[place(pairs, i) + place(pairs, j) * rmi->products.ld] *
                                (is_fluid ? 1 : s->scale[i] * s->scale[j]);
  s->m = mn_columns_in_order(k, model->order, model->least, s->r, s->kept);
  return MN_OK;
}

/* c <- Q^T G of the other side: a and b are the columns of the products, b's answers. */
static void cross(mn_rmi *rmi, const mn_rmi_pairs *of_a, const side *a, const mn_rmi_pairs *of_b,
                  const side *b, double *c)
{
  int is_fluid = of_a == &rmi->fluid, m = a->m;
  if (a->q) {
    mn_columns_inner(of_a->in_size, m, b->m, a->q, b->g, c);
    return;
  }
  const double *product = is_fluid ? rmi->products.fs : rmi->products.sf;
  for (int j = 0; j < b->m; j++)
    for (int i = 0; i < m; i++) {
      size_t row = place(of_a, a->kept[i]), col = place(of_b, b->kept[j]);
      c[i + j * m] = product[row + col * rmi->products.ld] *
                     (is_fluid ? 1 : a->scale[a->kept[i]] * b->scale[b->kept[j]]);
    }
  mn_columns_divide_left(m, b->m, a->r, c);
  if (m)
    mn_columns_divide((size_t)m, b->m, b->r, c);
}

/* y <- Q^T (a - b) */
static void project(mn_rmi *rmi, const mn_rmi_pairs *pairs, const side *s, const double *a,
                    const double *b, double *y)
{
  mn_rmi_model *model = rmi->model;
  int is_fluid = pairs == &rmi->fluid;
  size_t n = is_fluid ? rmi->shorter.x : pairs->in_size; /* of p only without patches */
  const double *in = is_fluid ? pairs->x_short : pairs->in;
  if (is_fluid)
    mn_rmi_shorten_x(rmi, a, b, model->gap);
  for (size_t i = 0; i < n && !is_fluid; i++)
    model->gap[i] = a[i] - b[i];
  if (s->q) {
    mn_columns_inner(n, s->m, 1, s->q, model->gap, y);
    return;
  }
  if (s->m)
    mn_columns_inner(n, s->k, 1, in + place(pairs, s->k - 1) * n, model->gap, model->all);
  for (int i = 0; i < s->m; i++)
    y[i] = model->all[s->k - 1 - s->kept[i]] * (is_fluid ? 1 : s->scale[s->kept[i]]);
  mn_columns_divide_left(s->m, 1, s->r, y);
}

/* to <- to + columns R^-1 y: of the inputs, or of the answers (G y). */
static void combine(mn_rmi *rmi, const mn_rmi_pairs *pairs, const side *s, int answers,
                    const double *y, double *to)
{
  mn_rmi_model *model = rmi->model;
  size_t n = answers ? pairs->out_size : pairs->in_size;
  int of_p = answers == (pairs == &rmi->fluid);
  if (!s->m)
    return;
  if (answers && s->g) {
    mn_columns_combine(n, s->m, 1, s->g, y, to);
    return;
  }
  double *coefficient = model->least; /* free after the sides are built */
  memcpy(coefficient, y, (size_t)s->m * sizeof(double));
  mn_columns_solve(s->m, s->r, coefficient);
  const double *columns = answers ? pairs->out : pairs->in;
  for (int i = 0; i < s->m; i++) { /* of all that were looked at, most may not be in */
    model->at[i] = columns + place(pairs, s->kept[i]) * n;
    coefficient[i] *= of_p ? s->scale[s->kept[i]] : 1;
  }
  mn_columns_add(n, s->m, (const double *const *)model->at, coefficient, to);
}

/* ---- both together --------------------------------------------------------------------------- */

/* Both Jacobians from the columns at hand. */
static mn_status build(mn_rmi *rmi, int old_too)
{
  MN_TRY(build_side(rmi, &rmi->fluid, old_too, &rmi->model->fluid));
  return build_side(rmi, &rmi->solid, old_too, &rmi->model->solid);
}

/* The model's x and p from the last pair of each solver. MN_FAILED if the system is singular. */
static mn_status answer(mn_rmi *rmi, const double *x_f, const double *p_f, const double *p_s,
                        const double *x_s)
{
  mn_rmi_model *model = rmi->model;
  const side *f = &model->fluid, *s = &model->solid;
  int mf = f->m, ms = s->m;
  cross(rmi, &rmi->fluid, f, &rmi->solid, s, model->c1);
  cross(rmi, &rmi->solid, s, &rmi->fluid, f, model->c2);
  project(rmi, &rmi->fluid, f, x_s, x_f, model->y);
  memset(model->z, 0, (size_t)ms * sizeof(double));
  if (rmi->def.loads == MN_RMI_LOADS_OF_MODEL) /* else p_s is p_f */
    project(rmi, &rmi->solid, s, p_f, p_s, model->z);
  if (mf) {
    mn_columns_combine((size_t)mf, ms, 1, model->c1, model->z, model->y);
    for (int j = 0; j < mf; j++) /* I - C1 C2 */
      for (int i = 0; i < mf; i++) {
        double sum = i == j;
        for (int l = 0; l < ms; l++)
          sum -= model->c1[i + l * mf] * model->c2[l + j * ms];
        model->lu[i + j * mf] = sum;
      }
    MN_TRY(mn_dense_solve(rmi->ctx, &model->arena, mf, model->lu, 1, model->y, model->y));
  }
  if (ms)
    mn_columns_combine((size_t)ms, mf, 1, model->c2, model->y, model->z);
  memcpy(model->x, x_s, rmi->def.x_size * sizeof(double));
  combine(rmi, &rmi->solid, s, 1, model->z, model->x);
  return MN_OK;
}

static void tell(const mn_rmi *rmi, mn_rmi_report *report)
{
  const side *f = &rmi->model->fluid, *s = &rmi->model->solid;
  report->fluid_columns = f->m;
  report->solid_columns = s->m;
  report->modes = f->m < s->m ? f->m : s->m;
  report->dropped = f->k - f->m + s->k - s->m;
}

static double length(const mn_rmi *rmi, const double *a, const double *b)
{
  return sqrt(mn_norm_square_gap(rmi->def.x_size, a, b));
}

void mn_rmi_model_learn(mn_rmi *rmi)
{
  const double *e = rmi->model->beyond;
  size_t n = rmi->def.x_size;
  double square = mn_norm_square(n, e);
  double whole = mn_norm_square_gap(n, rmi->x_f, rmi->x_f_base);
  double along = mn_norm_dot_gap(n, e, rmi->r_base, rmi->r);
  if (!(square > LEAST_REMAINDER * LEAST_REMAINDER * whole) || !isfinite(along / square))
    return;
  rmi->remainder[1] = fmax(1, along / square);
  if (rmi->iterations == 2)
    rmi->remainder[0] = rmi->remainder[1];
}

/* The model's x, if there is one that can be trusted; else that of no model at all. */
static void choose_x(mn_rmi *rmi)
{
  mn_rmi_model *model = rmi->model;
  int pivoted = rmi->def.columns == MN_RMI_PIVOTED;
  double most = pivoted ? INFINITY : MOST_STEP * length(rmi, rmi->x_s_base, rmi->x_f_base);
  double growth = pivoted || rmi->iterations == 1 ? INFINITY : MOST_GROWTH * rmi->longest;
  for (int old_too = 1; old_too >= 0; old_too--)
    if (build(rmi, old_too) == MN_OK &&
        answer(rmi, rmi->x_f_base, rmi->p_f_base, rmi->p_s_base, rmi->x_s_base) == MN_OK) {
      double step = length(rmi, model->x, rmi->x_f_base);
      if (isfinite(step) && step <= (old_too ? fmin(most, growth) : most))
        return;
    }
  model->fluid.m = model->solid.m = model->fluid.k = model->solid.k = 0;
  memcpy(model->x, rmi->x_s_base, rmi->def.x_size * sizeof(double));
}

/* Q y */
static void describe(mn_rmi *rmi, double *to)
{
  const side *f = &rmi->model->fluid;
  if (!f->q) {
    combine(rmi, &rmi->fluid, f, 0, rmi->model->y, to);
    return;
  }
  mn_columns_combine(rmi->def.x_size, f->m, 1, f->q, rmi->model->y, to);
}

void mn_rmi_model_next_x(mn_rmi *rmi, mn_rmi_report *report)
{
  mn_rmi_model *model = rmi->model;
  size_t nx = rmi->def.x_size;
  double remainder = rmi->remainder[rmi->iterations > 1];
  if (remainder < 1)
    remainder = rmi->remainder[0];
  choose_x(rmi);
  tell(rmi, report);
  report->omega = rmi->iterations == 1 && rmi->first_omega > 0 ? rmi->first_omega
                  : rmi->def.omega > 0                         ? rmi->def.omega
                  : remainder >= 1                             ? 1 / remainder
                                                               : FIRST_OMEGA;
  /* x - x^f = described + beyond; y of the model is Q^T (x - x^f) */
  memset(model->gap, 0, nx * sizeof(double));
  describe(rmi, model->gap);
  for (size_t i = 0; i < nx; i++) {
    model->beyond[i] = report->omega * (model->x[i] - rmi->x_f_base[i] - model->gap[i]);
    rmi->x_f[i] = rmi->x_f_base[i] + model->gap[i] + model->beyond[i];
  }
  rmi->longest = fmax(rmi->longest, length(rmi, rmi->x_f, rmi->x_f_base));
}

double mn_rmi_model_promises(mn_rmi *rmi)
{
  if (*rmi->solid.count == 0 || build(rmi, 1) != MN_OK ||
      answer(rmi, rmi->x_f, rmi->p_f, rmi->p_s, rmi->x_s) != MN_OK)
    return 0;
  double most = mn_norm_max(rmi->def.x_size, rmi->model->x, rmi->x_s);
  return isfinite(most) ? most : 0;
}

void mn_rmi_model_loads(mn_rmi *rmi, mn_rmi_report *report)
{
  if (*rmi->solid.count == 0) /* the two start solves */
    return;
  mn_rmi_model *model = rmi->model;
  const side *f = &model->fluid, *solid = &model->solid;
  size_t nx = rmi->def.x_size, np = rmi->def.p_size;
  if (build(rmi, 1) != MN_OK ||
      answer(rmi, rmi->x_f, rmi->p_f, rmi->p_s_base, rmi->x_s_base) != MN_OK)
    return;
  memcpy(model->p, rmi->p_f, np * sizeof(double));
  combine(rmi, &rmi->fluid, f, 1, model->y, model->p);
  for (size_t i = 0; i < np; i++)
    if (!isfinite(model->p[i]))
      return;
  memcpy(rmi->p_s, model->p, np * sizeof(double));
  tell(rmi, report);
  /* S_p (p - p^f) = Gb C2 y */
  memset(model->z, 0, (size_t)model->capacity * sizeof(double));
  memset(model->gap, 0, nx * sizeof(double));
  if (solid->m)
    mn_columns_combine((size_t)solid->m, f->m, 1, model->c2, model->y, model->z);
  combine(rmi, &rmi->solid, solid, 1, model->z, model->gap);
  for (size_t i = 0; i < nx; i++)
    rmi->load_shift = fmax(rmi->load_shift, fabs(model->gap[i]));
}
