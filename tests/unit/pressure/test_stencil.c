/* mn_stencil as implicit viscosity uses it: 1 + nu dt / h^2 times a Laplacian on face unknowns with
   rows removed, solved by both solvers. */
#include "cases.h"

typedef struct viscous {
  mn_context *ctx;
  mn_grid grid;
  mn_stencil s;
  mn_field b, x, r;
} viscous;

/* Faces inside a disk are given (no rows), the others coupled by nu = nu dt / h^2; couplings to
   given faces stay in the diagonal, those to the right half are twice as strong with `vary`. */
static void create(viscous *t, int threads, int dim, const int n[3], mn_place place, double nu,
                   int vary)
{
  uint64_t seed = 9;
  t->ctx = check_context(threads);
  t->grid = mn_grid_make(&t->ctx->exec, dim, n, 1.0 / n[0], mn_v3(0, 0, 0));
  CHECK_OK(t->ctx, mn_stencil_create(t->ctx, &t->grid, place, &t->s));
  CHECK_OK(t->ctx, mn_field_create(t->ctx, &t->grid, place, "b", &t->b));
  CHECK_OK(t->ctx, mn_field_create(t->ctx, &t->grid, place, "x", &t->x));
  CHECK_OK(t->ctx, mn_field_create(t->ctx, &t->grid, place, "r", &t->r));
  mn_field *D = &t->s.diagonal;
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < D->n[2]; k++)
      for (int j = 0; j < D->n[1]; j++)
        for (int i = 0; i < D->n[0]; i++) {
          mn_vec3 x = mn_position(D, i, j, k);
          int64_t c = mn_index(D, i, j, k);
          int given = hypot(x.x - 0.4, x.y - 0.3) < 0.15 || (place == MN_FACE_X && i == 0);
          mn_set(&t->b, i, j, k, given ? 0 : uniform(&seed, -1, 1));
          if (pass == 0) {
            D->at[c] = given ? 0 : 1;
            continue;
          }
          for (int a = 0; a < dim && D->at[c] > 0; a++) {
            int at[3] = {i, j, k};
            double value = vary && x.x > 0.5 ? 2 * nu : nu;
            if (at[a] == 0 || !(D->at[c - D->stride[a]] > 0)) {
              D->at[c] += value;
              continue;
            }
            t->s.off[a].at[c] = value;
            D->at[c] += value;
            D->at[c - D->stride[a]] += value;
          }
        }
}

static void destroy(viscous *t)
{
  mn_stencil_destroy(&t->s);
  mn_field_destroy(&t->b);
  mn_field_destroy(&t->x);
  mn_field_destroy(&t->r);
  mn_context_destroy(&t->ctx);
}

static void helmholtz(void **state)
{
  (void)state;
  static const int SIZES[2][3] = {{96, 70, 1}, {28, 33, 20}};
  static const double NU[4] = {1e-2, 1, 100, 1e4};
  static const int MOST[4] = {4, 7, 12, 18}; /* iterations */
  for (int which = 0; which < 2; which++)
    for (int place = MN_FACE_X; place <= MN_CELL; place++)
      for (int v = 0; v < 4; v++) {
        if (!which && place == MN_FACE_Z)
          continue;
        viscous t;
        mn_field other;
        mn_solve_report report[2];
        create(&t, 1, which ? 3 : 2, SIZES[which], (mn_place)place, NU[v], v == 2);
        CHECK_OK(t.ctx, mn_field_create(t.ctx, &t.grid, (mn_place)place, "x", &other));
        for (int kind = MN_PRESSURE_MGPCG; kind <= MN_PRESSURE_PCG; kind++) {
          mn_stencil_solver *solver;
          CHECK_OK(t.ctx, mn_stencil_solver_create(t.ctx, &t.grid, (mn_place)place,
                                                   (mn_pressure_solver)kind, &solver));
          CHECK_OK(t.ctx, mn_stencil_setup(solver, &t.s));
          mn_field *x = kind ? &other : &t.x;
          CHECK_OK(t.ctx, mn_stencil_solve(solver, &t.b, 1e-10, 1000, x, &report[kind]));
          CHECK(report[kind].reason == MN_CONVERGED);
          CHECK_LE(mn_stencil_residual(&t.s, &t.b, x, &t.r), 1.01e-10);
          mn_stencil_solver_destroy(&solver);
        }
        printf("dim %d place %d nu %g: %d and %d iterations\n", t.grid.dim, place, NU[v],
               report[0].iterations, report[1].iterations);
        CHECK_LE(report[0].iterations, MOST[v]);
        double worst = 0; /* the least eigenvalue is at least 1, so errors are below residuals */
        for (size_t i = 0; i < other.size; i++)
          worst = fmax(worst, fabs(other.data[i] - t.x.data[i]));
        CHECK_LE(worst, 1e-9);
        mn_field_destroy(&other);
        destroy(&t);
      }
  CHECK_DONE();
}

/* Values at points that are no unknowns are neither read nor written. */
static void leaves_others_alone(void **state)
{
  (void)state;
  for (int kind = MN_PRESSURE_MGPCG; kind <= MN_PRESSURE_PCG; kind++) {
    viscous t;
    mn_stencil_solver *solver;
    mn_solve_report report;
    create(&t, 2, 2, (int[3]){40, 40, 1}, MN_FACE_X, 3, 0);
    for (size_t i = 0; i < t.x.size; i++)
      t.x.data[i] = t.s.diagonal.data[i] > 0 ? 0 : 7;
    CHECK_OK(t.ctx, mn_stencil_solver_create(t.ctx, &t.grid, MN_FACE_X, (mn_pressure_solver)kind,
                                             &solver));
    CHECK_OK(t.ctx, mn_stencil_setup(solver, &t.s));
    CHECK_OK(t.ctx, mn_stencil_solve(solver, &t.b, 1e-10, 1000, &t.x, &report));
    CHECK(report.reason == MN_CONVERGED);
    CHECK_LE(mn_stencil_residual(&t.s, &t.b, &t.x, &t.r), 1.01e-10);
    for (size_t i = 0; i < t.x.size; i++)
      CHECK(t.s.diagonal.data[i] > 0 || t.x.data[i] == 7);
    mn_stencil_solver_destroy(&solver);
    destroy(&t);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(helmholtz),
                                     cmocka_unit_test(leaves_others_alone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
