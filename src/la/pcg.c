/* Conjugate gradients.

   Equation        A x = b, A symmetric positive definite, or semi-definite with b in its range.
   Scheme          [Hestenes 1952] with a preconditioner [Saad 2003, algorithm 9.1].
   Deviation       when the recursive residual passes the tolerance, the true one is computed; if
                   that does not pass, it replaces the recursive one and the iteration restarts.
                   A restart that gained less than a factor of two has reached rounding: stalled.
   Limits          sums per fixed block, in order: the same bits for any thread count.
   Verified by     tests/unit/la/test_pcg.c

   symbol   variable
   r, z     residual, preconditioned residual
   p, Ap    direction, its image */
#include "la/pcg.h"

#include <math.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/status.h"
#include "la/vector.h"

struct mn_pcg {
  mn_context *ctx;
  mn_precond_kind kind;
  mn_precond precond;
  const mn_csr *a;
  size_t capacity;
  double *r, *z, *p, *ap, *partial;
};

mn_status mn_pcg_create(mn_context *ctx, mn_precond_kind kind, mn_pcg **out)
{
  MN_TRY(MN_NEW(ctx, "a PCG solver", 1, out));
  (*out)->ctx = ctx;
  (*out)->kind = kind;
  return MN_OK;
}

void mn_pcg_destroy(mn_pcg **pcg)
{
  mn_pcg *s = *pcg;
  if (!s)
    return;
  double *arrays[] = {s->r, s->z, s->p, s->ap, s->partial};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    mn_free(arrays[i]);
  mn_precond_destroy(&s->precond);
  mn_free(s);
  *pcg = NULL;
}

mn_status mn_pcg_setup(mn_pcg *s, const mn_csr *a)
{
  if (a->rows != a->cols)
    return mn_fail(s->ctx, MN_BAD_INPUT, "PCG needs a square matrix, not %lld x %lld",
                   (long long)a->rows, (long long)a->cols);
  size_t n = (size_t)a->rows;
  s->a = NULL;
  if (n > s->capacity) {
    s->capacity = 0;
    double **arrays[] = {&s->r, &s->z, &s->p, &s->ap};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
      MN_TRY(mn_grow(s->ctx, "vectors of PCG", 0, n, sizeof(double), (void **)arrays[i]));
    MN_TRY(mn_grow(s->ctx, "sums of PCG", 0, mn_vector_blocks(n), sizeof(double),
                   (void **)&s->partial));
    s->capacity = n;
  }
  MN_TRY(mn_precond_setup(s->ctx, s->kind, a, &s->precond));
  s->a = a;
  return MN_OK;
}

/* r <- b - A x, z <- M^-1 r, p <- z; returns r . z */
static double restart(mn_pcg *s, const double *b, const double *x, double *residual)
{
  const mn_exec *exec = &s->ctx->exec;
  size_t n = (size_t)s->a->rows;
  mn_csr_residual(exec, s->a, b, x, s->r);
  *residual = mn_vector_max(exec, n, s->r, s->partial);
  mn_precond_apply(exec, &s->precond, s->r, s->z);
  mn_vector_copy(exec, n, s->z, s->p);
  return mn_vector_dot(exec, n, s->r, s->z, s->partial);
}

/* One step from (x, r, p) with r . z = *rz; returns ||r||_inf or NaN if p . A p is not positive. */
static double iterate(mn_pcg *s, double *x, double *rz)
{
  const mn_exec *exec = &s->ctx->exec;
  size_t n = (size_t)s->a->rows;
  mn_csr_multiply(exec, s->a, s->p, s->ap);
  double pap = mn_vector_dot(exec, n, s->p, s->ap, s->partial);
  if (!(pap > 0))
    return NAN;
  double alpha = *rz / pap;
  mn_vector_add(exec, n, alpha, s->p, x);
  mn_vector_add(exec, n, -alpha, s->ap, s->r);
  mn_precond_apply(exec, &s->precond, s->r, s->z);
  double next = mn_vector_dot(exec, n, s->r, s->z, s->partial);
  mn_vector_scale_add(exec, n, s->z, next / *rz, s->p); /* p <- z + beta p */
  *rz = next;
  return mn_vector_max(exec, n, s->r, s->partial);
}

mn_status mn_pcg_solve(mn_pcg *s, const double *b, double tolerance, int max_iterations, double *x,
                       mn_solve_report *report)
{
  if (!s->a)
    return mn_fail(s->ctx, MN_FAILED, "PCG was not set up with a matrix");
  double residual, checked;
  double rz = restart(s, b, x, &residual);
  *report = (mn_solve_report){.initial_residual = residual, .reason = MN_ITERATION_LIMIT};
  checked = residual;
  for (;;) {
    if (!isfinite(residual)) {
      report->reason = MN_DIVERGED;
      break;
    }
    if (residual <= tolerance && report->iterations > 0) { /* by recursion: is it true? */
      rz = restart(s, b, x, &residual);
      if (residual > tolerance && residual > checked / 2) {
        report->reason = MN_STALLED;
        break;
      }
      checked = residual;
    }
    if (residual <= tolerance) {
      report->reason = MN_CONVERGED;
      break;
    }
    if (report->iterations == max_iterations)
      break;
    report->iterations++;
    residual = iterate(s, x, &rz);
  }
  if (report->reason != MN_CONVERGED) /* of what x is now, not of the recursion */
    restart(s, b, x, &residual);
  report->residual = residual;
  return MN_OK;
}
