/* Flexible conjugate gradients with the multigrid cycle M, and iterative refinement.

   In double: r = b - A x, x += e. In float, on r divided by its norm:

       z = M r,  beta = -(z, q)/(d, q),  d <- z + beta d,  q <- A z + beta q = A d,
       alpha = (z, r)/(d, q),  e += alpha d,  r -= alpha q

   [Notay 2000, one direction kept]. The cycle ends with a red sweep, so A z = r at red cells: A z
   has to be formed at black cells only. All sums are formed per slab and added in their order, so
   the bits do not depend on the threads. The residual is replaced by the true one when it has
   fallen 100 times; letting float go on to 1e-4 costs 1 iteration at n = 128 and 3 at 256. That
   true residual is the only stopping test. Tests: tests/unit/pressure/test_pressure.c. */
#include "pressure/mgpcg.h"

#include <math.h>
#include <string.h>

#include "base/status.h"

static const double REPLACE = 1e-2; /* fall of the residual between two true ones */
static const double AIM = 0.8;      /* of the tolerance, for the float residual */
enum { STALLED_AFTER = 4 };         /* refinements that gain less than a factor 2 */
enum { RED, BLACK };

typedef float lanes __attribute__((vector_size(4 * MN_MG_LANES), aligned(4), may_alias));
typedef int32_t bits __attribute__((vector_size(4 * MN_MG_LANES)));

mn_status mn_mgpcg_setup(mn_context *ctx, mn_mgpcg *v, const mn_system *s, const mn_regions *g)
{
  MN_TRY(mn_mgpcg_setup_finest(ctx, v, s, g));
  return mn_multigrid_coarsen(ctx, &v->mg, s->exec, MN_MG_LEVELS);
}

mn_status mn_mgpcg_setup_finest(mn_context *ctx, mn_mgpcg *v, const mn_system *s,
                                const mn_regions *g)
{
  MN_TRY(mn_multigrid_setup_finest(ctx, &v->mg, s, g));
  const mn_mg_level *L = &v->mg.level[0];
  size_t size = L->size, slabs = (size_t)L->slabs;
  v->scratch_row = (size_t)L->n[0] + 64;
  MN_TRY(mn_reserve(ctx, "mgpcg vectors", 6 * size, sizeof(float), &v->buffer[0]));
  MN_TRY(mn_reserve(ctx, "mgpcg sums", 4 * slabs, sizeof(double), &v->buffer[1]));
  MN_TRY(mn_reserve(ctx, "mgpcg rows", v->scratch_row * slabs, sizeof(double), &v->buffer[2]));
  float *x = v->buffer[0].data;
  for (int c = 0; c < 2; c++) {
    v->d[c] = x + (size_t)c * size;
    v->q[c] = x + (size_t)(2 + c) * size;
    v->e[c] = x + (size_t)(4 + c) * size;
  }
  v->partial = v->buffer[1].data;
  v->scratch = v->buffer[2].data;
  return MN_OK;
}

void mn_mgpcg_free(mn_mgpcg *v)
{
  mn_multigrid_free(&v->mg);
  for (int b = 0; b < 3; b++)
    mn_buffer_free(&v->buffer[b]);
}

size_t mn_mgpcg_bytes(const mn_mgpcg *v)
{
  return mn_multigrid_bytes(&v->mg) + v->buffer[0].bytes + v->buffer[1].bytes + v->buffer[2].bytes;
}

/* ---- double precision ---------------------------------------------------------------------- */

static double largest(const double *x, int count)
{
  int64_t worst = 0; /* bit patterns of non-negative numbers are ordered like the numbers */
  for (int i = 0; i < count; i++) {
    int64_t pattern;
    memcpy(&pattern, &x[i], sizeof pattern);
    pattern &= INT64_MAX;
    worst = pattern > worst ? pattern : worst;
  }
  double result;
  memcpy(&result, &worst, sizeof result);
  return result;
}

/* r = b / scale - A x over the row's cells [range), 0 at dead ones. */
static void residual_row(const mn_mgpcg_run *t, const mn_mg_level *L, int j, int k, double *r)
{
  const mn_system *s = t->s;
  const mn_regions *g = t->g;
  const mn_field *x = t->x, *b = t->b;
  const mn_mg_row *row = mn_mg_row_at(L, j, k);
  const int *range = L->range[j + L->n[1] * k];
  const double *p = x->at + mn_index(x, 0, j, k), *rhs = b->at + mn_index(b, 0, j, k);
  int64_t sy = x->stride[1], sz = x->stride[2];
  double unscale = 1 / s->scale, diagonal = 2 * s->dim + s->excess;
  for (int i = range[0]; i < range[1]; i += 8) { /* rows to come: the hardware does not see them */
    __builtin_prefetch(p + i + sz + 3 * sy);
    __builtin_prefetch(rhs + i + 3 * sy);
  }
  for (int i = 2 * row->lo; i < range[0]; i++)
    r[i] = 0;
  for (int i = range[1]; i < 2 * row->hi; i++)
    r[i] = 0;
  if (s->dim == 3)
    for (int i = range[0]; i < range[1]; i++)
      r[i] = rhs[i] * unscale -
             (diagonal * p[i] -
              ((p[i - 1] + p[i + 1]) + (p[i - sy] + p[i + sy]) + (p[i - sz] + p[i + sz])));
  else
    for (int i = range[0]; i < range[1]; i++)
      r[i] =
          rhs[i] * unscale - (diagonal * p[i] - ((p[i - 1] + p[i + 1]) + (p[i - sy] + p[i + sy])));
  mn_mg_fine *fine = t->v->mg.fine + row->irregular[0] + row->irregular[1];
  const mn_mg_fine *end = t->v->mg.fine + row[1].irregular[0] + row[1].irregular[1];
  for (; fine < end; fine++) {
    int i = fine->i;
    double sum = rhs[i] * unscale - fine->diagonal * p[i];
    for (int a = 0; a < s->dim; a++) {
      /* x is arbitrary where nothing couples to it */
      sum += fine->c[2 * a] > 0 ? fine->c[2 * a] * p[i - x->stride[a]] : 0;
      sum += fine->c[2 * a + 1] > 0 ? fine->c[2 * a + 1] * p[i + x->stride[a]] : 0;
    }
    fine->r = sum;
    r[i] = fine->held ? 0 : sum;
  }
  const uint8_t *kind = mn_kind_row(g, j, k);
  for (int i = range[0]; i < range[1] && row->holes; i++)
    r[i] = kind[i] == MN_DEAD ? 0 : r[i];
  if (!g->closed)
    return;
  for (int n = g->first_run[j + L->n[1] * k]; n < g->first_run[j + L->n[1] * k + 1]; n++)
    for (int i = g->run[n].lo; i < g->run[n].hi; i++)
      r[i] -= g->mean[g->run[n].region] * unscale;
}

/* x += factor e on a slab. */
static void add_correction(void *user, const mn_mg_level *L, int slab)
{
  const mn_mgpcg_run *t = user;
  int k, j0, j1;
  mn_mg_slab_rows(L, slab, &k, &j0, &j1);
  for (int j = j0; j < j1; j++) {
    const mn_mg_row *row = mn_mg_row_at(L, j, k);
    const int *range = L->range[j + L->n[1] * k];
    if (row->lo >= row->hi)
      continue;
    for (int i = range[0]; i < range[1]; i += 8)
      __builtin_prefetch(t->x->at + mn_index(t->x, i, j + 3, k), 1);
    int even_colour = row->parity, odd_colour = 1 - even_colour;
    const float *even = t->v->e[even_colour] + row->base[even_colour];
    const float *odd = t->v->e[odd_colour] + row->base[odd_colour];
    double *p = t->x->at + mn_index(t->x, 0, j, k), factor = t->factor;
    if (range[0] & 1)
      p[range[0]] += factor * (double)odd[range[0] / 2];
    for (int h = (range[0] + 1) / 2; h < range[1] / 2; h++) {
      p[2 * h] += factor * (double)even[h];
      p[2 * h + 1] += factor * (double)odd[h];
    }
    if (range[1] & 1)
      p[range[1] - 1] += factor * (double)even[range[1] / 2];
  }
}

/* The true residual of a slab, rounded, to f; its norm to partial. */
static void true_residual(void *user, const mn_mg_level *L, int slab)
{
  const mn_mgpcg_run *t = user;
  int k, j0, j1;
  double *r = t->v->scratch + (size_t)slab * t->v->scratch_row, worst = 0;
  mn_mg_slab_rows(L, slab, &k, &j0, &j1);
  for (int j = j0; j < j1; j++) {
    const mn_mg_row *row = mn_mg_row_at(L, j, k);
    if (row->lo >= row->hi)
      continue;
    residual_row(t, L, j, k, r);
    worst = mn_worse(worst, largest(r + 2 * row->lo, 2 * (row->hi - row->lo)));
    int even_colour = row->parity, odd_colour = 1 - even_colour;
    float *even = L->f[even_colour] + row->base[even_colour];
    float *odd = L->f[odd_colour] + row->base[odd_colour];
    for (int h = row->lo; h < row->hi; h++) {
      even[h] = (float)r[2 * h];
      odd[h] = (float)r[2 * h + 1];
    }
  }
  t->v->partial[slab] = worst;
}

/* x += factor e unless factor is 0, f = b - A x. */
static void refine(mn_mgpcg_run *t, double factor)
{
  static mn_mg_stage *const stages[2] = {add_correction, true_residual};
  const mn_mg_level *L = &t->v->mg.level[0];
  t->factor = factor;
  mn_mg_run(L, factor != 0 ? stages : stages + 1, factor != 0 ? 2 : 1, t);
  t->norm = mn_reduce(t->s->exec, MN_MAX, t->v->partial, L->slabs);
}

/* ---- single precision ---------------------------------------------------------------------- */

static void scale_residual(const mn_mgpcg *v, float factor)
{
  const mn_mg_level *L = &v->mg.level[0];
#pragma omp parallel for schedule(static) num_threads(L->threads)
  for (int s = 0; s < L->slabs; s++)
    for (int32_t i = L->slab[s].lo; i < L->slab[s].hi; i++) {
      L->f[RED][i] *= factor;
      L->f[BLACK][i] *= factor;
    }
}

#define LOAD(x) (*(const lanes *)(x))

/* t = A z at the black cells of a slab; 0 at dead ones. */
static void black_product(const mn_mgpcg *v, int s)
{
  const mn_mg_level *L = &v->mg.level[0];
  const mn_mg_slab *slab = &L->slab[s];
  const float *o = L->u[RED], *z = L->u[BLACK];
  float *out = L->t, diagonal = L->diagonal;
  int32_t hi = slab->hi;
  mn_mg_near t = mn_mg_near_of(L, slab, BLACK);
  if (v->mg.dim == 3)
    for (int32_t i = slab->lo; i < hi; i += MN_MG_LANES)
      *(lanes *)(out + i) =
          LOAD(z + i) * diagonal - (((LOAD(o + i + t.x[0]) + LOAD(o + i + t.x[1])) +
                                     (LOAD(o + i + t.y[0]) + LOAD(o + i + t.y[1]))) +
                                    (LOAD(o + i + t.z[0]) + LOAD(o + i + t.z[1])));
  else
    for (int32_t i = slab->lo; i < hi; i += MN_MG_LANES)
      *(lanes *)(out + i) =
          LOAD(z + i) * diagonal - ((LOAD(o + i + t.x[0]) + LOAD(o + i + t.x[1])) +
                                    (LOAD(o + i + t.y[0]) + LOAD(o + i + t.y[1])));
  for (int32_t d = slab->dead[BLACK]; d < slab[1].dead[BLACK]; d++)
    memset(L->t + L->dead[BLACK][d].at, 0, (size_t)L->dead[BLACK][d].count * sizeof *L->t);
  for (int32_t n = slab->irregular[BLACK]; n < slab[1].irregular[BLACK]; n++) {
    const mn_mg_cell *c = &L->irregular[BLACK][n];
    const float *at = o + c->at;
    float sum = ((c->c[0] * at[t.x[0]] + c->c[1] * at[t.x[1]]) +
                 (c->c[2] * at[t.y[0]] + c->c[3] * at[t.y[1]])) +
                (c->c[4] * at[t.z[0]] + c->c[5] * at[t.z[1]]);
    out[c->at] = c->inverse > 0 ? z[c->at] / c->inverse - sum : 0;
  }
}

static double total(lanes x)
{
  double sum = 0;
  for (int l = 0; l < MN_MG_LANES; l++)
    sum += (double)x[l];
  return sum;
}

/* t = A z at the black cells of a slab, and its part of the sums (z, A z), (z, q), (z, r). */
static void product_and_sums(void *user, const mn_mg_level *L, int s)
{
  enum { CHUNK = 32 * MN_MG_LANES }; /* summed in float before it goes to double */
  const mn_mgpcg *v = user;
  double slab[3] = {0, 0, 0};
  black_product(v, s);
  for (int32_t from = L->slab[s].lo; from < L->slab[s].hi; from += CHUNK) {
    int32_t to = from + CHUNK < L->slab[s].hi ? from + CHUNK : L->slab[s].hi;
    lanes zw = {0}, zq = {0}, zr = {0}, zrr = {0};
    for (int32_t i = from; i < to; i += MN_MG_LANES) {
      lanes zb = LOAD(L->u[BLACK] + i), zd = LOAD(L->u[RED] + i);
      zw += zb * LOAD(L->t + i);
      zrr += zd * LOAD(L->f[RED] + i);
      zr += zb * LOAD(L->f[BLACK] + i);
      if (!v->first)
        zq += zb * LOAD(v->q[BLACK] + i) + zd * LOAD(v->q[RED] + i);
    }
    double red = total(zrr);
    slab[0] += total(zw) + red;
    slab[1] += total(zq);
    slab[2] += total(zr) + red;
  }
  for (int t = 0; t < 3; t++)
    v->partial[t * L->slabs + s] = slab[t];
}

/* d = z + beta d, q = A z + beta q, e += alpha d, r -= alpha q; returns ||r||_inf. `first`: there
   is no d yet; `fresh`: there is no e yet. */
static double advance(mn_mgpcg *v, const mn_exec *exec, float alpha, float beta, int first,
                      int fresh)
{
  const mn_mg_level *L = &v->mg.level[0];
#pragma omp parallel for schedule(static) num_threads(L->threads)
  for (int s = 0; s < L->slabs; s++) {
    bits worst = {0};
    for (int c = 0; c < 2; c++) {
      const float *z = L->u[c], *az = c == RED ? L->f[RED] : L->t;
      float *d = v->d[c], *q = v->q[c], *e = v->e[c], *r = L->f[c];
      for (int32_t i = L->slab[s].lo; i < L->slab[s].hi; i += MN_MG_LANES) {
        lanes dn = LOAD(z + i), qn = LOAD(az + i), en = {0};
        if (!first) {
          dn += LOAD(d + i) * beta;
          qn += LOAD(q + i) * beta;
        }
        if (!fresh)
          en = LOAD(e + i);
        lanes rn = LOAD(r + i) - qn * alpha;
        *(lanes *)(d + i) = dn;
        *(lanes *)(q + i) = qn;
        *(lanes *)(e + i) = en + dn * alpha;
        *(lanes *)(r + i) = rn;
        bits size = (bits)rn & INT32_MAX, more = size > worst;
        worst = (size & more) | (worst & ~more);
      }
    }
    int32_t top = 0;
    for (int l = 0; l < MN_MG_LANES; l++)
      top = worst[l] > top ? worst[l] : top;
    float norm;
    memcpy(&norm, &top, sizeof norm);
    v->partial[s] = mn_worse(0, (double)norm);
  }
  return mn_reduce(exec, MN_MAX, v->partial, L->slabs);
}

/* (d, r), not 0 after the residual was replaced */
static double direction_residual(const mn_mgpcg *v, const mn_exec *exec)
{
  const mn_mg_level *L = &v->mg.level[0];
#pragma omp parallel for schedule(static) num_threads(L->threads)
  for (int s = 0; s < L->slabs; s++) {
    v->partial[s] = 0;
    for (int c = 0; c < 2; c++) {
      lanes sum = {0};
      for (int32_t i = L->slab[s].lo; i < L->slab[s].hi; i += MN_MG_LANES)
        sum += *(const lanes *)(v->d[c] + i) * *(const lanes *)(L->f[c] + i);
      v->partial[s] += total(sum);
    }
  }
  return mn_reduce(exec, MN_SUM, v->partial, L->slabs);
}

/* The extra part of A z: of black cells it belongs to t; of red ones, where A z is read from r, to
   q, so that  A z + beta q  has it. */
static void add_extra(const mn_mgpcg *v, const mn_mgpcg_extra *x, float beta)
{
  for (int n = 0; n < x->count; n++)
    if (x->place[n].colour == BLACK)
      v->mg.level[0].t[x->place[n].at] += x->value[n];
    else if (beta != 0)
      v->q[RED][x->place[n].at] += x->value[n] / beta;
}

/* Where there is no q to take it, it is added to q and r afterwards. */
static void add_red_extra(const mn_mgpcg *v, const mn_mgpcg_extra *x, float alpha, double *norm)
{
  for (int n = 0; n < x->count; n++)
    if (x->place[n].colour == RED) {
      float *r = &v->mg.level[0].f[RED][x->place[n].at];
      v->q[RED][x->place[n].at] += x->value[n];
      *r -= alpha * x->value[n];
      *norm = mn_worse(*norm, (double)*r);
    }
}

int mn_mgpcg_iterate(mn_mgpcg_run *t, double target, int max_iterations)
{
  mn_mgpcg *v = t->v;
  const mn_exec *exec = t->s->exec;
  double norm = 1, dr = t->dq > 0 ? direction_residual(v, exec) : 0;
  int fresh = 1;
  t->broken = 0;
  for (; norm > target && t->iterations < max_iterations; fresh = 0) {
    double sums[3];
    int first = !(t->dq > 0);
    v->first = first;
    mn_multigrid_cycle(&v->mg, product_and_sums, v);
    for (int n = 0; n < 3; n++)
      sums[n] =
          mn_reduce(exec, MN_SUM, v->partial + n * v->mg.level[0].slabs, v->mg.level[0].slabs);
    if (t->extra)
      sums[0] += t->extra->product(t->extra->user, v->mg.level[0].u);
    double beta = first ? 0 : -sums[1] / t->dq;
    double dq = sums[0] + beta * (2 * sums[1] + beta * t->dq);
    t->broken = !(dq > 0);
    if (t->broken)
      break;
    float alpha = (float)((sums[2] + beta * dr) / dq);
    if (t->extra)
      add_extra(v, t->extra, (float)beta);
    if (t->extra && t->extra->follow)
      t->extra->follow(t->extra->user, (float)beta, alpha);
    norm = advance(v, exec, alpha, (float)beta, first, fresh);
    if (t->extra && (float)beta == 0)
      add_red_extra(v, t->extra, alpha, &norm);
    t->dq = dq;
    dr = 0; /* by the choice of alpha */
    t->iterations++;
  }
  return !fresh;
}

/* What b is above compatibility in closed regions. A region with a held cell is not closed. */
static void find_means(mn_mgpcg_run *t)
{
  mn_regions *g = t->g;
  const mn_multigrid *mg = &t->v->mg;
  if (!g->closed)
    return;
  mn_region_sums(g, t->b);
  for (int r = 0; r < g->count; r++)
    g->mean[r] = g->region[r].closed ? g->mean[r] / (double)g->region[r].cells : 0;
  for (int n = 0; n < mg->bounds && mg->held; n++)
    if (mg->fine[mg->bound[n].fine].held)
      g->mean[mn_region_at(g, mg->bound[n].i, mg->bound[n].j, mg->bound[n].k)] = 0;
}

void mn_mgpcg_start(mn_mgpcg_run *t)
{
  t->dq = 0;
  find_means(t);
  refine(t, 0);
}

void mn_mgpcg_hold(mn_mgpcg_run *t, int n, int held)
{
  mn_multigrid *mg = &t->v->mg;
  const mn_mg_level *L = &mg->level[0];
  const mn_mg_bound *cell = &mg->bound[n];
  const mn_mg_fine *fine = &mg->fine[cell->fine];
  int colour = (cell->i + cell->j + cell->k) & 1;
  int32_t at = L->irregular[colour][cell->entry].at;
  double *x = &t->x->at[mn_index(t->x, cell->i, cell->j, cell->k)];
  mn_mg_near near = mn_mg_near_of(L, &L->slab[L->dim == 3 ? cell->k : 0], colour);
  int64_t step[6] = {near.x[0], near.x[1], near.y[0], near.y[1], near.z[0], near.z[1]};
  for (int side = 0; side < 6 && held; side++)
    if (fine->c[side] > 0)
      L->f[1 - colour][at + step[side]] -= (float)(fine->c[side] * *x);
  *x = held ? 0 : *x;
  L->f[colour][at] += held ? 0 : (float)fine->r;
  mn_multigrid_hold(mg, n, held);
}

void mn_mgpcg_restart(mn_mgpcg_run *t)
{
  const mn_multigrid *mg = &t->v->mg;
  const mn_mg_level *L = &mg->level[0];
  t->dq = 0;
  if (t->g->closed) { /* held cells change what is closed */
    mn_mgpcg_start(t);
    return;
  }
  for (int n = 0; n < mg->bounds; n++) {
    int colour = (mg->bound[n].i + mg->bound[n].j + mg->bound[n].k) & 1;
    float *f = &L->f[colour][L->irregular[colour][mg->bound[n].entry].at];
    *f = mg->fine[mg->bound[n].fine].held ? 0 : *f;
    t->norm = mn_worse(t->norm, (double)*f);
  }
}

void mn_mgpcg_advance(mn_mgpcg_run *t, double goal, double fall, int max_iterations)
{
  double norm = t->norm, aim = AIM * goal / norm;
  scale_residual(t->v, (float)(1 / norm));
  int changed = mn_mgpcg_iterate(t, aim > fall ? aim : fall, max_iterations);
  refine(t, changed ? norm : 0);
  if (t->broken)
    t->dq = 0;
}

void mn_mgpcg_solve(mn_mgpcg *v, const mn_system *s, mn_regions *g, const mn_field *b,
                    double tolerance, int max_iterations, mn_field *x, mn_solve_report *report)
{
  mn_mgpcg_run t = {.v = v, .s = s, .g = g, .b = b, .x = x};
  double goal = tolerance / s->scale;
  mn_mgpcg_start(&t);
  report->initial_residual = t.norm * s->scale;
  report->reason = MN_ITERATION_LIMIT;
  for (int slow = 0; t.norm > goal && isfinite(t.norm) && t.iterations < max_iterations;) {
    double before = t.norm;
    mn_mgpcg_advance(&t, goal, REPLACE, max_iterations);
    slow = t.norm < 0.5 * before ? 0 : slow + 1;
    if (slow >= STALLED_AFTER && t.norm > goal) {
      report->reason = MN_STALLED;
      break;
    }
  }
  report->iterations = t.iterations;
  report->residual = t.norm * s->scale;
  if (t.norm <= goal)
    report->reason = MN_CONVERGED;
  else if (!isfinite(t.norm))
    report->reason = MN_DIVERGED;
}
