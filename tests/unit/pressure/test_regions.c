/* Connected regions against a flood fill: same partition, same numbers, same closed regions. */
#include "cases.h"

static void flood(const test_case *t, const double *A, int start, int number, int *region)
{
  int m = case_cells(t), *stack = malloc((size_t)m * sizeof *stack), top = 0;
  stack[top++] = start;
  region[start] = number;
  while (top > 0) {
    int c = stack[--top];
    for (int d = 0; d < m; d++)
      if (A[c * m + d] != 0 && region[d] < 0) {
        region[d] = number;
        stack[top++] = d;
      }
  }
  free(stack);
}

static void against_flood_fill(void **state)
{
  (void)state;
  static const int SIZES[2][3] = {{17, 13, 1}, {7, 8, 6}};
  int most = 0;
  for (int which = 0; which < 2; which++)
    for (int kind = CASE_OPEN; kind <= CASE_WALLS; kind++)
      for (uint64_t seed = 1; seed <= 12; seed++) {
        test_case t;
        mn_pressure *v;
        uint64_t more = seed;
        int dim = which ? 3 : 2;
        case_create(&t, 1 + (int)(seed % 2), dim, SIZES[which], (case_kind)kind, seed);
        for (int a = 0; a < dim; a++) /* close more faces: many regions */
          for (size_t i = 0; i < t.open[a].size; i++)
            t.open[a].data[i] *= check_random(&more) < 0.06 * (double)seed ? 0 : 1;
        CHECK_OK(t.ctx, mn_pressure_create(t.ctx, &t.grid, MN_PRESSURE_MGPCG, &v));
        CHECK_OK(t.ctx, mn_pressure_assemble(v, &t.geometry));
        double *A = case_dense(&t);
        int m = case_cells(&t), count = 0, wrong = 0, *region = malloc((size_t)m * sizeof *region);
        size_t unknowns = 0;
        for (int c = 0; c < m; c++)
          region[c] = -1;
        for (int c = 0; c < m; c++) {
          if (A[c * m + c] == 0)
            continue;
          unknowns++;
          if (region[c] < 0)
            flood(&t, A, c, count++, region);
        }
        for (int c = 0; c < m; c++) {
          int at[3] = {c % SIZES[which][0], c / SIZES[which][0] % SIZES[which][1],
                       c / SIZES[which][0] / SIZES[which][1]};
          wrong += mn_pressure_region_of(v, at[0], at[1], at[2]) != region[c];
        }
        CHECK(wrong == 0);
        CHECK(mn_pressure_region_count(v) == count);
        CHECK(mn_pressure_unknowns(v) == unknowns);
        for (int r = 0; r < count; r++) {
          mn_pressure_region got = mn_pressure_get_region(v, r);
          double excess = 0;
          size_t cells = 0;
          for (int c = 0; c < m; c++)
            for (int d = 0; d < m && region[c] == r; d++) {
              excess += A[c * m + d];
              cells += d == 0;
            }
          CHECK(got.cells == cells);
          CHECK(got.closed == (excess < 1e-9));
          CHECK(mn_pressure_region_of(v, got.first[0], got.first[1], got.first[2]) == r);
        }
        most = count > most ? count : most;
        free(A);
        free(region);
        mn_pressure_destroy(&v);
        case_destroy(&t);
      }
  CHECK(most > 20);
  CHECK_DONE();
}

/* Failing any one allocation is reported and leaks nothing (asan looks). */
static void out_of_memory(void **state)
{
  (void)state;
  for (int64_t fail = 1; fail < 200; fail++) {
    test_case t;
    mn_pressure *v = NULL;
    case_create(&t, 1, 2, (int[3]){10, 9, 1}, CASE_OPEN, 1);
    t.ctx->fail_allocation = t.ctx->allocations + fail;
    mn_status status = mn_pressure_create(t.ctx, &t.grid, MN_PRESSURE_MGPCG, &v);
    if (status == MN_OK)
      status = mn_pressure_assemble(v, &t.geometry);
    int done = t.ctx->allocations < t.ctx->fail_allocation;
    CHECK(done ? status == MN_OK : status == MN_ENVIRONMENT);
    mn_pressure_destroy(&v);
    case_destroy(&t);
    if (done)
      break;
    CHECK(fail < 199);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(against_flood_fill),
                                     cmocka_unit_test(out_of_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
