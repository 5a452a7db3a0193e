/* MIC(0)-preconditioned conjugate gradients for mn_stencil.

   M = L L^T with the pattern of A and, nearly, its row sums: pivot_c = a_cc - sum_a (off_a
   e)^2_{c-a}
   - tau sum_a (off_a (couplings of c - a to its other upper neighbours) e^2)_{c-a}, e =
   1/sqrt(pivot), tau = .97; a pivot below .25 a_cc is replaced by a_cc [Bridson 2015, fig. 5.8].
   Tests: tests/unit/pressure/test_pressure.c (against a dense solve). */
#include "pressure/mic.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

static const double TAU = 0.97, SAFE = 0.25;
enum { RESTARTS = 8 }; /* with the true residual, after the recursive one met the tolerance */

mn_status mn_mic_create(mn_context *ctx, const mn_grid *grid, mn_place place, mn_mic *pcg)
{
  mn_field *fields[5] = {&pcg->factor, &pcg->r, &pcg->z, &pcg->d, &pcg->q};
  *pcg = (mn_mic){0};
  for (int f = 0; f < 5; f++) {
    mn_status status = mn_field_create(ctx, grid, place, "PCG vector", fields[f]);
    if (status != MN_OK) {
      mn_mic_destroy(pcg);
      return status;
    }
  }
  size_t rows = (size_t)pcg->r.n[1] * (size_t)pcg->r.n[2];
  mn_status status = MN_NEW(ctx, "PCG rows", rows, &pcg->range);
  if (status != MN_OK)
    mn_mic_destroy(pcg);
  return status;
}

void mn_mic_destroy(mn_mic *pcg)
{
  mn_free(pcg->range);
  pcg->range = NULL;
  mn_field_destroy(&pcg->factor);
  mn_field_destroy(&pcg->r);
  mn_field_destroy(&pcg->z);
  mn_field_destroy(&pcg->d);
  mn_field_destroy(&pcg->q);
}

void mn_mic_setup(mn_mic *pcg, const mn_stencil *s)
{
  const mn_field *D = &s->diagonal;
  int dim = D->grid->dim;
  mn_field_fill(&pcg->factor, 0);
  mn_field_fill(&pcg->r, 0); /* all vectors stay 0 outside the ranges */
  mn_field_fill(&pcg->z, 0);
  mn_field_fill(&pcg->d, 0);
  mn_field_fill(&pcg->q, 0);
  for (int k = 0; k < D->n[2]; k++)
    for (int j = 0; j < D->n[1]; j++) {
      int *range = pcg->range[j + D->n[1] * k];
      range[0] = range[1] = 0;
      for (int i = 0; i < D->n[0]; i++) {
        int64_t c = mn_index(D, i, j, k);
        if (!(D->at[c] > 0))
          continue;
        range[0] = range[1] ? range[0] : i;
        range[1] = i + 1;
        double pivot = D->at[c];
        for (int a = 0; a < dim; a++) {
          int64_t m = c - D->stride[a];
          double e = pcg->factor.at[m], off = s->off[a].at[c], others = 0;
          if (e == 0)
            continue; /* no unknown there */
          for (int t = 0; t < dim; t++)
            if (t != a && D->at[m + D->stride[t]] > 0)
              others += s->off[t].at[m + D->stride[t]];
          pivot -= off * e * off * e + TAU * off * others * e * e;
        }
        if (pivot < SAFE * D->at[c])
          pivot = D->at[c];
        pcg->factor.at[c] = 1 / sqrt(pivot);
      }
    }
}

/* First and last place of a row's unknowns, the latter exclusive. */
static void row_of(const mn_mic *pcg, int j, int k, int64_t *first, int64_t *end)
{
  const int *range = pcg->range[j + pcg->r.n[1] * k];
  int64_t row = mn_index(&pcg->r, 0, j, k);
  *first = row + range[0];
  *end = row + range[1];
}

/* z = M^-1 r: L t = r, then L^T z = t. */
static void precondition(const mn_mic *pcg, const mn_stencil *s, const mn_field *r, mn_field *z)
{
  const mn_field *e = &pcg->factor;
  int dim = r->grid->dim;
  for (int k = 0; k < r->n[2]; k++)
    for (int j = 0; j < r->n[1]; j++) {
      int64_t first, end;
      row_of(pcg, j, k, &first, &end);
      for (int64_t c = first; c < end; c++) {
        double t = r->at[c];
        for (int a = 0; a < dim; a++) {
          int64_t m = c - r->stride[a];
          t += s->off[a].at[c] * e->at[m] * z->at[m];
        }
        z->at[c] = t * e->at[c];
      }
    }
  for (int k = r->n[2] - 1; k >= 0; k--)
    for (int j = r->n[1] - 1; j >= 0; j--) {
      int64_t first, end;
      row_of(pcg, j, k, &first, &end);
      for (int64_t c = end - 1; c >= first; c--) {
        double t = z->at[c];
        for (int a = 0; a < dim; a++) {
          int64_t m = c + r->stride[a];
          t += s->off[a].at[m] * e->at[c] * z->at[m];
        }
        z->at[c] = t * e->at[c];
      }
    }
}

static double dot(const mn_mic *pcg, const mn_field *a, const mn_field *b)
{
  double sum = 0;
  for (int k = 0; k < a->n[2]; k++)
    for (int j = 0; j < a->n[1]; j++) {
      int64_t first, end;
      row_of(pcg, j, k, &first, &end);
      for (int64_t c = first; c < end; c++)
        sum += a->at[c] * b->at[c];
    }
  return sum;
}

/* q = A d; both are 0 outside the unknowns. */
static void multiply(const mn_mic *pcg, const mn_stencil *s, const mn_field *d, mn_field *q)
{
  const mn_field *D = &s->diagonal;
  int dim = D->grid->dim;
  for (int k = 0; k < D->n[2]; k++)
    for (int j = 0; j < D->n[1]; j++) {
      int64_t first, end;
      row_of(pcg, j, k, &first, &end);
      for (int64_t c = first; c < end; c++) {
        double sum = D->at[c] * d->at[c];
        for (int a = 0; a < dim; a++) {
          int64_t up = D->stride[a];
          sum -= s->off[a].at[c] * d->at[c - up] + s->off[a].at[c + up] * d->at[c + up];
        }
        q->at[c] = D->at[c] > 0 ? sum : 0;
      }
    }
}

/* x += alpha d, r -= alpha q; returns ||r||_inf */
static double advance(const mn_mic *pcg, double alpha, mn_field *x, mn_field *r)
{
  double worst = 0;
  for (int k = 0; k < x->n[2]; k++)
    for (int j = 0; j < x->n[1]; j++) {
      int64_t first, end;
      row_of(pcg, j, k, &first, &end);
      for (int64_t c = first; c < end; c++) {
        x->at[c] += alpha * pcg->d.at[c];
        r->at[c] -= alpha * pcg->q.at[c];
        worst = mn_worse(worst, r->at[c]);
      }
    }
  return worst;
}

/* d = z + beta d */
static void turn(mn_mic *pcg, double beta)
{
  for (int k = 0; k < pcg->d.n[2]; k++)
    for (int j = 0; j < pcg->d.n[1]; j++) {
      int64_t first, end;
      row_of(pcg, j, k, &first, &end);
      for (int64_t c = first; c < end; c++)
        pcg->d.at[c] = pcg->z.at[c] + beta * pcg->d.at[c];
    }
}

static double true_residual(mn_mic *pcg, const mn_stencil *s, mn_regions *regions,
                            const mn_field *b, const mn_field *x)
{
  double worst = mn_stencil_residual(s, b, x, &pcg->r);
  if (!regions || !regions->closed)
    return worst;
  mn_region_subtract_mean(regions, &pcg->r);
  worst = 0;
  for (size_t i = 0; i < pcg->r.size; i++)
    worst = mn_worse(worst, pcg->r.data[i]);
  return worst;
}

void mn_mic_solve(mn_mic *pcg, const mn_stencil *s, mn_regions *regions, const mn_field *b,
                  double tolerance, int max_iterations, mn_field *x, mn_solve_report *report)
{
  double worst = true_residual(pcg, s, regions, b, x);
  report->initial_residual = worst;
  report->iterations = 0;
  report->reason = MN_ITERATION_LIMIT;
  for (int start = 0; worst > tolerance && start < RESTARTS; start++) {
    double before = worst, rz_old = 1;
    mn_field_fill(&pcg->d, 0);
    for (int first = 1; worst > tolerance && report->iterations < max_iterations; first = 0) {
      precondition(pcg, s, &pcg->r, &pcg->z);
      double rz = dot(pcg, &pcg->r, &pcg->z);
      turn(pcg, first ? 0 : rz / rz_old);
      multiply(pcg, s, &pcg->d, &pcg->q);
      double dq = dot(pcg, &pcg->d, &pcg->q);
      if (!(dq > 0))
        break;
      worst = advance(pcg, rz / dq, x, &pcg->r);
      rz_old = rz;
      report->iterations++;
    }
    worst = true_residual(pcg, s, regions, b, x);
    if (report->iterations >= max_iterations)
      break;
    report->reason = MN_STALLED;
    if (!(worst < 0.5 * before))
      break;
  }
  report->residual = worst;
  if (worst <= tolerance)
    report->reason = MN_CONVERGED;
  else if (!isfinite(worst))
    report->reason = MN_DIVERGED;
}
