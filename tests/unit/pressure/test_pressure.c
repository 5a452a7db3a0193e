/* Both pressure solvers against a dense solve on small random geometries, and against each other on
   larger ones. */
#include "cases.h"

static const int SMALL[2][3] = {{9, 7, 1}, {6, 5, 7}};

/* Solves A p = b densely; in closed regions with mean 0. */
static double *dense_solution(const test_case *t, const mn_pressure *v, double *A)
{
  int m = case_cells(t);
  const int *n = t->grid.n;
  double *x = calloc((size_t)m, sizeof *x);
  int *region = calloc((size_t)m, sizeof *region);
  for (int c = 0; c < m; c++) {
    region[c] = mn_pressure_region_of(v, c % n[0], c / n[0] % n[1], c / n[0] / n[1]);
    x[c] = region[c] < 0 ? 0 : mn_get(&t->b, c % n[0], c / n[0] % n[1], c / n[0] / n[1]);
    CHECK((region[c] < 0) == (A[c * m + c] == 0));
  }
  for (int c = 0; c < m; c++) {
    if (region[c] < 0)
      A[c * m + c] = 1;
    for (int d = 0; d < m; d++)
      if (region[c] >= 0 && region[d] == region[c] && mn_pressure_get_region(v, region[c]).closed)
        A[c * m + d] += 1;
  }
  CHECK(LAPACKE_dposv(LAPACK_ROW_MAJOR, 'U', m, 1, A, m, x, 1) == 0);
  free(region);
  return x;
}

static void against_dense(void **state)
{
  (void)state;
  for (int which = 0; which < 2; which++)
    for (int kind = CASE_OPEN; kind <= CASE_ANCHORED; kind++)
      for (uint64_t seed = 1; seed <= 5; seed++)
        for (int solver = MN_PRESSURE_MGPCG; solver <= MN_PRESSURE_PCG; solver++) {
          test_case t;
          mn_pressure *v;
          mn_solve_report report;
          case_create(&t, 1, which ? 3 : 2, SMALL[which], (case_kind)kind, seed);
          CHECK_OK(t.ctx, mn_pressure_create(t.ctx, &t.grid, (mn_pressure_solver)solver, &v));
          CHECK_OK(t.ctx, mn_pressure_assemble(v, &t.geometry));
          CHECK_OK(t.ctx, mn_pressure_solve(v, &t.b, 1e-9, 1e-9, 500, &t.p, &report));
          CHECK(report.reason == MN_CONVERGED);
          double *A = case_dense(&t), *x = dense_solution(&t, v, A), worst = 0, size = 0;
          for (int c = 0; c < case_cells(&t); c++) {
            const int *n = t.grid.n;
            double p = mn_get(&t.p, c % n[0], c / n[0] % n[1], c / n[0] / n[1]);
            worst = fmax(worst, fabs(p - x[c]));
            size = fmax(size, fabs(x[c]));
          }
          CHECK_LE(worst / size, 1e-8);
          free(A);
          free(x);
          mn_pressure_destroy(&v);
          case_destroy(&t);
        }
  CHECK_DONE();
}

/* The solvers agree; sizes that are odd, thin and no powers of two. */
static void solvers_agree(void **state)
{
  (void)state;
  static const int SIZES[6][3] = {{64, 64, 1},  {37, 90, 1},  {200, 5, 1},
                                  {24, 24, 24}, {33, 18, 21}, {5, 60, 7}};
  for (int which = 0; which < 6; which++)
    for (int kind = CASE_OPEN; kind <= CASE_ANCHORED; kind++) {
      test_case t;
      mn_field p;
      mn_solve_report report[2];
      int dim = SIZES[which][2] > 1 ? 3 : 2;
      case_create(&t, 1, dim, SIZES[which], (case_kind)kind, (uint64_t)(10 * which + kind));
      CHECK_OK(t.ctx, mn_field_create(t.ctx, &t.grid, MN_CELL, "p", &p));
      for (int solver = MN_PRESSURE_MGPCG; solver <= MN_PRESSURE_PCG; solver++) {
        mn_pressure *v;
        CHECK_OK(t.ctx, mn_pressure_create(t.ctx, &t.grid, (mn_pressure_solver)solver, &v));
        CHECK_OK(t.ctx, mn_pressure_assemble(v, &t.geometry));
        CHECK_OK(t.ctx,
                 mn_pressure_solve(v, &t.b, 1e-8, 1e-7, 2000, solver ? &p : &t.p, &report[solver]));
        CHECK(report[solver].reason == MN_CONVERGED);
        mn_pressure_destroy(&v);
      }
      double worst = 0, size = 0;
      for (size_t i = 0; i < p.size; i++) {
        worst = fmax(worst, fabs(p.data[i] - t.p.data[i]));
        size = fmax(size, fabs(p.data[i]));
      }
      printf("%d x %d x %d kind %d: %d and %d iterations\n", SIZES[which][0], SIZES[which][1],
             SIZES[which][2], kind, report[0].iterations, report[1].iterations);
      CHECK_LE(worst / size, 1e-7);
      mn_field_destroy(&p);
      case_destroy(&t);
    }
  CHECK_DONE();
}

/* Incompatible b: reported with its sum, p untouched but for the cells outside. */
static void incompatible(void **state)
{
  (void)state;
  test_case t;
  mn_pressure *v;
  mn_solve_report report;
  case_create(&t, 1, 2, (int[3]){16, 16, 1}, CASE_CLOSED, 3);
  CHECK_OK(t.ctx, mn_pressure_create(t.ctx, &t.grid, MN_PRESSURE_MGPCG, &v));
  CHECK_OK(t.ctx, mn_pressure_assemble(v, &t.geometry));
  int r = mn_pressure_region_of(v, 8, 8, 0);
  CHECK(r >= 0 && mn_pressure_get_region(v, r).closed);
  mn_set(&t.b, 8, 8, 0, mn_get(&t.b, 8, 8, 0) + 0.5);
  CHECK_OK(t.ctx, mn_pressure_solve(v, &t.b, 1e-8, 1e-6, 100, &t.p, &report));
  CHECK(report.reason == MN_INCOMPATIBLE);
  CHECK(report.closed_regions >= 1);
  CHECK_NEAR(mn_pressure_get_region(v, r).rhs_sum, 0.5, 1e-10);
  for (size_t i = 0; i < t.p.size; i++)
    CHECK(t.p.data[i] == 0);
  mn_pressure_destroy(&v);
  case_destroy(&t);
  CHECK_DONE();
}

/* What mn_pressure_gradient gives is what A is made of: -div(w grad p) = b. */
static void gradient_closes_the_divergence(void **state)
{
  (void)state;
  for (int which = 0; which < 2; which++)
    for (int kind = CASE_OPEN; kind <= CASE_WALLS; kind++) {
      test_case t;
      mn_pressure *v;
      mn_field gradient[3];
      mn_solve_report report;
      int dim = which ? 3 : 2;
      case_create(&t, 1, dim, SMALL[which], (case_kind)kind, 11);
      for (int a = 0; a < dim; a++)
        CHECK_OK(t.ctx, mn_field_create(t.ctx, &t.grid, (mn_place)a, "gradient", &gradient[a]));
      CHECK_OK(t.ctx, mn_pressure_create(t.ctx, &t.grid, MN_PRESSURE_MGPCG, &v));
      CHECK_OK(t.ctx, mn_pressure_assemble(v, &t.geometry));
      CHECK_OK(t.ctx, mn_pressure_solve(v, &t.b, 1e-9, 1e-9, 500, &t.p, &report));
      mn_pressure_gradient(v, &t.p, gradient);
      double worst = 0;
      for (int c = 0; c < case_cells(&t); c++) {
        int i = c % t.grid.n[0], j = c / t.grid.n[0] % t.grid.n[1];
        int k = c / t.grid.n[0] / t.grid.n[1];
        if (mn_pressure_region_of(v, i, j, k) < 0)
          continue;
        double sum = mn_get(&t.b, i, j, k);
        for (int a = 0; a < dim; a++) {
          const double *w = t.open[a].at + mn_index(&t.open[a], i, j, k);
          const double *g = gradient[a].at + mn_index(&gradient[a], i, j, k);
          int64_t up = t.open[a].stride[a];
          sum += (w[up] * g[up] - w[0] * g[0]) / t.grid.dx;
        }
        worst = fmax(worst, fabs(sum));
      }
      CHECK_LE(worst, 2e-9);
      for (int a = 0; a < dim; a++)
        mn_field_destroy(&gradient[a]);
      mn_pressure_destroy(&v);
      case_destroy(&t);
    }
  CHECK_DONE();
}

/* Bits of p for 1, 2 and 4 threads, and when the solver is used a second time. */
static void same_bits(void **state)
{
  (void)state;
  static const int SIZES[2][3] = {{150, 130, 1}, {40, 36, 44}};
  for (int which = 0; which < 2; which++)
    for (int kind = CASE_OPEN; kind <= CASE_WALLS; kind++) {
      double *first = NULL;
      for (int threads = 1; threads <= 4; threads *= 2) {
        test_case t;
        mn_pressure *v;
        mn_solve_report report;
        case_create(&t, threads, which ? 3 : 2, SIZES[which], (case_kind)kind, 5);
        CHECK_OK(t.ctx, mn_pressure_create(t.ctx, &t.grid, MN_PRESSURE_MGPCG, &v));
        for (int again = 0; again < 2; again++) {
          mn_field_fill(&t.p, 0);
          CHECK_OK(t.ctx, mn_pressure_assemble(v, &t.geometry));
          CHECK_OK(t.ctx, mn_pressure_solve(v, &t.b, 1e-7, 1e-7, 500, &t.p, &report));
          CHECK(report.reason == MN_CONVERGED);
          if (!first) {
            first = malloc(t.p.size * sizeof *first);
            memcpy(first, t.p.data, t.p.size * sizeof *first);
          }
          CHECK(memcmp(first, t.p.data, t.p.size * sizeof *first) == 0);
        }
        mn_pressure_destroy(&v);
        case_destroy(&t);
      }
      free(first);
    }
  CHECK_DONE();
}

/* A NaN is not mistaken for convergence. */
static void nan_is_reported(void **state)
{
  (void)state;
  for (int solver = MN_PRESSURE_MGPCG; solver <= MN_PRESSURE_PCG; solver++) {
    test_case t;
    mn_pressure *v;
    mn_solve_report report;
    case_create(&t, 2, 3, (int[3]){12, 12, 12}, CASE_OPEN, 3);
    CHECK_OK(t.ctx, mn_pressure_create(t.ctx, &t.grid, (mn_pressure_solver)solver, &v));
    CHECK_OK(t.ctx, mn_pressure_assemble(v, &t.geometry));
    CHECK(mn_pressure_region_of(v, 7, 8, 9) == mn_pressure_region_of(v, 10, 10, 10));
    mn_set(&t.b, 7, 8, 9, NAN);
    CHECK_OK(t.ctx, mn_pressure_solve(v, &t.b, 1e-6, 1e-6, 100, &t.p, &report));
    CHECK(report.reason == MN_DIVERGED);
    mn_pressure_destroy(&v);
    case_destroy(&t);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(against_dense), cmocka_unit_test(solvers_agree),
      cmocka_unit_test(incompatible),  cmocka_unit_test(gradient_closes_the_divergence),
      cmocka_unit_test(same_bits),     cmocka_unit_test(nan_is_reported)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
