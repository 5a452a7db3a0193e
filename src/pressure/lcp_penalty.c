/* The penalty method for the pressure LCP.

       (A + rho Pi(p_k)) p_{k+1} = b,   Pi = 1 at separating cells with p_k < 0, else 0

   [Lai 2021, algorithm 3]. A held cell keeps p = -(A p - b) / rho. The thesis takes rho =
   10^3 / tolerance; here it is multiplied by the cell's diagonal and the size of b, so that it
   means the same in any unit: D p of a held cell stays below the tolerance. p is not projected at
   the end: the neighbours' equations hold for the negative values. Since p depends on rho, every
   solve starts from the cells that stood at or below 0 and are pushed there. Tests:
   tests/unit/pressure/test_lcp_oracle.c, test_lcp.c. */
#include <math.h>

#include "base/status.h"
#include "pressure/lcp_internal.h"

enum { MOST_OUTER = 200 };
static const double STIFFNESS = 1e3;

mn_status mn_lcp_penalty(mn_lcp_solver *v, const mn_lcp_task *t)
{
  const mn_field *A = &t->lcp->matrix.diagonal;
  mn_field *D = &v->system.diagonal;
  mn_solve_report *out = &t->report->solve;
  double size = 1;
  out->residual = out->initial_residual;
  if (out->residual <= t->tolerance)
    return MN_OK;
  for (int a = 0; a < v->grid->dim; a++)
    v->system.off[a] = t->lcp->matrix.off[a]; /* borrowed */
  for (size_t i = 0; i < A->size; i++) {
    size = fmax(size, A->data[i] > 0 ? fabs(t->b->data[i]) : 0);
    v->active[i] = t->lcp->separating[i] && t->p->data[i] <= 0 && v->r.data[i] < 0;
  }
  for (int k = 0; k < MOST_OUTER; k++) {
    mn_solve_report inner = {0};
    int changed = 0;
    for (size_t i = 0; i < A->size; i++) {
      double rho = STIFFNESS * size / t->tolerance * mn_lcp_weight(A->data[i]);
      D->data[i] = A->data[i] + (v->active[i] ? rho : 0);
    }
    MN_TRY(mn_stencil_setup(v->linear, &v->system));
    MN_TRY(mn_stencil_solve(v->linear, t->b, t->tolerance, t->max_iterations - out->iterations,
                            t->p, &inner));
    out->iterations += inner.iterations;
    t->report->outer++;
    for (size_t i = 0; i < A->size; i++)
      if (t->lcp->separating[i]) {
        unsigned char active = t->p->data[i] < 0;
        changed += active != v->active[i];
        v->active[i] = active;
      }
    out->residual = mn_lcp_passes_residual(&v->passes, t->lcp, t->b, t->p, &v->r);
    if (out->residual <= t->tolerance || !changed || out->iterations >= t->max_iterations)
      break;
  }
  return MN_OK;
}
