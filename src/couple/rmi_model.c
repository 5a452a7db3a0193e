/* The reduced model: what both solvers answered so far, as two low-rank Jacobians, solved together.

   Pairs of consecutive solves give columns: of the fluid V = [dx^f], P = [dp^f], of the solid
   Pb = [dp^s], Vb = [dx^s]. With weights W (of x) and U (of p) and QR factorisations W V = Q R,
   U Pb = Qb Rb the Jacobians of least squares are

     F_x = P R^-1 Q^T W = G Q^T W          S_p = Vb Rb^-1 Qb^T U = Gb Qb^T U

   and the model is   p = p^f + F_x (x - x^f),   x = x^s + S_p (p - p^s)   [Akbay 2018, eqs. 3 and
   4; Vierendeels 2007]. In the coordinates y = Q^T W (x - x^f), z = Qb^T U (p - p^s) it is k x k:

     C1 = Q^T W Gb,  C2 = Qb^T U G
     (I - C1 C2) y = Q^T W (x^s - x^f) + C1 Qb^T U (p^f - p^s)
     z = Qb^T U (p^f - p^s) + C2 y,     x = x^s + Gb z,     p = p^f + G y

   solved by LU. Nothing of the interface's size squared is formed; the cost is O(n k^2).

   Beyond the source. (1) Columns of earlier substeps follow those of this one, newest first; a
   column whose part orthogonal to newer ones is small says nothing new and, divided by that small
   part, much that is wrong: it is left out [Haelterman 2016]. Each solver has its own columns and
   filter. (2) The part of x - x^f that no column describes would be taken over whole, as by an
   unrelaxed step, which amplifies its error by mu; it is relaxed by 1/(1 + mu), mu as measured for
   the last such part. With no columns at all that is the first step of a run from rest. (3) A step
   longer than the residual by MOST_STEP is a model gone wrong: first the earlier columns go, then
   the model. Verified by tests/unit/couple/test_rmi.c, test_rmi_linear.c, test_rmi_tube.c. */
#include "couple/rmi_model.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "la/columns.h"
#include "la/dense.h"

/* Before anything is known: small enough for a light solid, and the secant that it gives is as good
   as any other. */
static const double FIRST_OMEGA = 0.1;
/* (I + M)^-1 shortens the residual when the fluid resists motion (mu > 0); it may lengthen it where
   the fluid gives way, but not by this. */
static const double MOST_STEP = 10;
/* A difference below this fraction of the vectors is rounding. */
static const double ROUNDING = 1e-14;
/* A remainder of less than this fraction of the step says nothing about its own mu. */
static const double LEAST_REMAINDER = 1e-2;

typedef struct side {
  int m;       /* columns that are in */
  int dropped; /* and left out */
  double *q;   /* [capacity * in_size], weight times orthonormal columns */
  double *g;   /* [capacity * out_size], answers over R */
  double *r;   /* [capacity * capacity] */
  int *kept;   /* [capacity] */
} side;

struct mn_rmi_model {
  side fluid, solid;
  int capacity;
  double *c1, *c2, *lu;  /* [capacity * capacity] */
  double *y, *z, *least; /* [capacity] */
  double *work;          /* [2 * capacity] */
  double *gap;           /* [the longer of x_size and p_size] */
  double *beyond;        /* [x_size] the relaxed remainder of the last step; 0: none */
  double *x, *p;         /* the model's answer */
  mn_arena arena;
};

static mn_status new_side(mn_context *ctx, size_t in_size, size_t out_size, size_t columns, side *s)
{
  MN_TRY(MN_NEW(ctx, "reduced model", columns * in_size, &s->q));
  MN_TRY(MN_NEW(ctx, "reduced model", columns * out_size, &s->g));
  MN_TRY(MN_NEW(ctx, "reduced model", columns * columns, &s->r));
  return MN_NEW(ctx, "reduced model", columns, &s->kept);
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
  MN_TRY(new_side(ctx, nx, np, k, &model->fluid));
  MN_TRY(new_side(ctx, np, nx, k, &model->solid));
  MN_TRY(MN_NEW(ctx, "reduced model", k * k, &model->c1));
  MN_TRY(MN_NEW(ctx, "reduced model", k * k, &model->c2));
  MN_TRY(MN_NEW(ctx, "reduced model", k * k, &model->lu));
  MN_TRY(MN_NEW(ctx, "reduced model", k, &model->y));
  MN_TRY(MN_NEW(ctx, "reduced model", k, &model->z));
  MN_TRY(MN_NEW(ctx, "reduced model", k, &model->least));
  MN_TRY(MN_NEW(ctx, "reduced model", 2 * k, &model->work));
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
  double *all[] = {model->fluid.q, model->fluid.g, model->fluid.r, model->solid.q, model->solid.g,
                   model->solid.r, model->c1,      model->c2,      model->lu,      model->y,
                   model->z,       model->least,   model->work,    model->gap,     model->beyond,
                   model->x,       model->p};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mn_free(all[i]);
  mn_free(model->fluid.kept);
  mn_free(model->solid.kept);
  mn_arena_destroy(&model->arena);
  mn_free(model);
  *handle = NULL;
}

double mn_rmi_dt_scale(const mn_rmi *rmi)
{
  double before = rmi->number[MN_RMI_COLUMN_DT];
  return before > 0 && before != rmi->dt ? pow(before / rmi->dt, rmi->def.dt_power) : 1;
}

void mn_rmi_model_add(mn_rmi *rmi, mn_rmi_pairs *pairs, const double *in, const double *in_base,
                      const double *out, const double *out_base)
{
  const double *weight = pairs == &rmi->fluid ? rmi->x_weight : rmi->p_weight;
  size_t at = (size_t)*pairs->count;
  double *din = pairs->in + at * pairs->in_size, *dout = pairs->out + at * pairs->out_size;
  double most = 0, most_step = 0;
  for (size_t i = 0; i < pairs->in_size; i++) {
    din[i] = in[i] - in_base[i];
    most = fmax(most, fabs(weight[i] * in[i]));
    most_step = fmax(most_step, fabs(weight[i] * din[i]));
  }
  for (size_t i = 0; i < pairs->out_size; i++)
    dout[i] = out[i] - out_base[i];
  pairs->age[at] = 0;
  ++*pairs->count;
  if (!(most_step > ROUNDING * most)) /* from rest, or converged to the last digit: no column */
    mn_rmi_truncate(pairs, (int64_t)at);
}

/* Takes columns newest first into the side: weighted inputs in q, answers in g. With pivoting those
   of this substep become differences to the last solve, as published. Returns how many. */
static int gather(const mn_rmi *rmi, const mn_rmi_pairs *pairs, int old_too, side *s, double *least)
{
  int is_fluid = pairs == &rmi->fluid, k = 0;
  const double *weight = is_fluid ? rmi->x_weight : rmi->p_weight;
  size_t in = pairs->in_size, out = pairs->out_size;
  double scale = mn_rmi_dt_scale(rmi);
  int sum = rmi->def.columns == MN_RMI_PIVOTED;
  for (int64_t c = *pairs->count - 1; c >= 0 && k < rmi->def.max_columns; c--, k++) {
    int old = pairs->age[c] > 0;
    if (old && !old_too)
      break;
    double of_in = old && !is_fluid ? scale : 1, of_out = old && is_fluid ? scale : 1;
    const double *from = pairs->in + (size_t)c * in, *answer = pairs->out + (size_t)c * out;
    double *to = s->q + (size_t)k * in, *g = s->g + (size_t)k * out;
    int add = sum && !old && k > 0;
    for (size_t i = 0; i < in; i++)
      to[i] = of_in * weight[i] * from[i] + (add ? to[i - in] : 0);
    for (size_t i = 0; i < out; i++)
      g[i] = of_out * answer[i] + (add ? g[i - out] : 0);
    least[k] = old ? rmi->def.filter : rmi->def.filter_current;
  }
  return k;
}

static mn_status build_side(mn_rmi *rmi, const mn_rmi_pairs *pairs, int old_too, side *s)
{
  mn_rmi_model *model = rmi->model;
  int k = gather(rmi, pairs, old_too, s, model->least);
  size_t in = pairs->in_size, out = pairs->out_size;
  const double *weight = pairs == &rmi->fluid ? rmi->x_weight : rmi->p_weight;
  if (rmi->def.columns == MN_RMI_PIVOTED)
    MN_TRY(mn_columns_pivoted(rmi->ctx, &model->arena, in, k, s->q, rmi->def.filter_current, s->r,
                              s->kept, &s->m));
  else
    s->m = mn_columns_in_order(in, k, s->q, model->least, s->r, s->kept, model->work);
  s->dropped = k - s->m;
  for (int j = 0; j < s->m; j++)
    for (size_t i = 0; i < in; i++)
      s->q[(size_t)j * in + i] *= weight[i];
  mn_columns_reorder(out, s->m, s->kept, s->g);
  mn_columns_divide(out, s->m, s->r, s->g);
  return MN_OK;
}

/* Both Jacobians from the columns at hand. */
static mn_status build(mn_rmi *rmi, int old_too)
{
  MN_TRY(build_side(rmi, &rmi->fluid, old_too, &rmi->model->fluid));
  return build_side(rmi, &rmi->solid, old_too, &rmi->model->solid);
}

static const double *difference(size_t n, const double *a, const double *b, double *to)
{
  for (size_t i = 0; i < n; i++)
    to[i] = a[i] - b[i];
  return to;
}

/* The model's x and p from the last pair of each solver. MN_FAILED if the system is singular. */
static mn_status answer(mn_rmi *rmi, const double *x_f, const double *p_f, const double *p_s,
                        const double *x_s)
{
  mn_rmi_model *model = rmi->model;
  const side *f = &model->fluid, *s = &model->solid;
  size_t nx = rmi->def.x_size, np = rmi->def.p_size;
  int mf = f->m, ms = s->m;
  mn_columns_inner(nx, mf, ms, f->q, s->g, model->c1);
  mn_columns_inner(np, ms, mf, s->q, f->g, model->c2);
  mn_columns_inner(nx, mf, 1, f->q, difference(nx, x_s, x_f, model->gap), model->y);
  mn_columns_inner(np, ms, 1, s->q, difference(np, p_f, p_s, model->gap), model->z);
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
  memcpy(model->x, x_s, nx * sizeof(double));
  memcpy(model->p, p_f, np * sizeof(double));
  mn_columns_combine(nx, ms, 1, s->g, model->z, model->x);
  mn_columns_combine(np, mf, 1, f->g, model->y, model->p);
  return MN_OK;
}

static void tell(const mn_rmi *rmi, mn_rmi_report *report)
{
  const side *f = &rmi->model->fluid, *s = &rmi->model->solid;
  report->fluid_columns = f->m;
  report->solid_columns = s->m;
  report->modes = f->m < s->m ? f->m : s->m;
  report->dropped = f->dropped + s->dropped;
}

/* Weighted length of a - b; b may be NULL. */
static double length(const mn_rmi *rmi, const double *a, const double *b)
{
  double sum = 0;
  for (size_t i = 0; i < rmi->def.x_size; i++) {
    double d = rmi->x_weight[i] * (b ? a[i] - b[i] : a[i]);
    sum += d * d;
  }
  return sqrt(sum);
}

void mn_rmi_model_learn(mn_rmi *rmi)
{
  const double *e = rmi->model->beyond, *w = rmi->x_weight;
  double along = 0, square = 0, whole = 0;
  for (size_t i = 0; i < rmi->def.x_size; i++) {
    double step = w[i] * (rmi->x_f[i] - rmi->x_f_base[i]);
    along -= w[i] * e[i] * (w[i] * (rmi->r[i] - rmi->r_base[i]));
    square += w[i] * e[i] * (w[i] * e[i]);
    whole += step * step;
  }
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
  double most = rmi->def.columns == MN_RMI_PIVOTED
                    ? INFINITY
                    : MOST_STEP * length(rmi, rmi->x_s_base, rmi->x_f_base);
  for (int old_too = 1; old_too >= 0; old_too--)
    if (build(rmi, old_too) == MN_OK &&
        answer(rmi, rmi->x_f_base, rmi->p_f_base, rmi->p_s_base, rmi->x_s_base) == MN_OK) {
      double step = length(rmi, model->x, rmi->x_f_base);
      if (isfinite(step) && step <= most)
        return;
    }
  model->fluid.m = model->solid.m = 0;
  memcpy(model->x, rmi->x_s_base, rmi->def.x_size * sizeof(double));
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
  report->omega = rmi->def.omega > 0 ? rmi->def.omega
                  : remainder >= 1   ? 1 / remainder
                                     : FIRST_OMEGA;
  /* x - x^f = described + beyond; y of the model is Q^T W (x - x^f) */
  memset(model->gap, 0, nx * sizeof(double));
  mn_columns_combine(nx, model->fluid.m, 1, model->fluid.q, model->y, model->gap);
  for (size_t i = 0; i < nx; i++) {
    double described = model->gap[i] / (rmi->x_weight[i] * rmi->x_weight[i]);
    model->beyond[i] = report->omega * (model->x[i] - rmi->x_f_base[i] - described);
    rmi->x_f[i] = rmi->x_f_base[i] + described + model->beyond[i];
  }
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
  mn_columns_combine(nx, solid->m, 1, solid->g, model->z, model->gap);
  for (size_t i = 0; i < nx; i++)
    rmi->load_shift = fmax(rmi->load_shift, fabs(rmi->x_weight[i] * model->gap[i]));
}
