/* Multigrid whose aggregates end at thin walls: the same answers, in iterations that do not grow
   with the grid; its matrices are symmetric and keep what anchors them. */
#include "cases.h"
#include "pressure/mgpcg.h"

static mn_solve_report solve(test_case *t, int thin, mn_field *p)
{
  mn_pressure *v;
  mn_solve_report report;
  t->geometry.thin = thin;
  mn_field_fill(p, 0);
  CHECK_OK(t->ctx, mn_pressure_create(t->ctx, &t->grid, MN_PRESSURE_MGPCG, &v));
  CHECK_OK(t->ctx, mn_pressure_assemble(v, &t->geometry));
  CHECK_OK(t->ctx, mn_pressure_solve(v, &t->b, 1e-9, 1e-7, 500, p, &report));
  CHECK(report.reason == MN_CONVERGED);
  mn_pressure_destroy(&v);
  return report;
}

/* A tenth of all faces closed at random, and many nearly so. */
static void same_answer(void **state)
{
  (void)state;
  static const int SIZES[6][3] = {{64, 64, 1},  {37, 90, 1},  {200, 5, 1},
                                  {24, 24, 24}, {33, 18, 21}, {5, 60, 7}};
  for (int which = 0; which < 6; which++)
    for (int kind = CASE_OPEN; kind <= CASE_WALLS; kind++) {
      test_case t;
      mn_field p;
      case_create(&t, 1, SIZES[which][2] > 1 ? 3 : 2, SIZES[which], (case_kind)kind,
                  (uint64_t)(20 * which + kind));
      CHECK_OK(t.ctx, mn_field_create(t.ctx, &t.grid, MN_CELL, "p", &p));
      mn_solve_report plain = solve(&t, 0, &p), split = solve(&t, 1, &t.p);
      double worst = 0, size = 0;
      for (size_t i = 0; i < p.size; i++) {
        worst = check_worst(worst, fabs(p.data[i] - t.p.data[i]));
        size = fmax(size, fabs(p.data[i]));
      }
      CHECK_LE(worst / size, 1e-8);
      CHECK_LE(split.iterations, plain.iterations + 2);
      mn_field_destroy(&p);
      case_destroy(&t);
    }
  CHECK_DONE();
}

/* A box, open above, with a wall along a x + b y + c z = d that leaves a gap on both sides. */
static void make_wall(test_case *t, int dim, int n, mn_vec3 normal, double d)
{
  int cells[3] = {n, n, dim == 3 ? n : 1};
  case_create(t, 1, dim, cells, CASE_OPEN, 5);
  mn_field *cell = &t->liquid; /* only for positions */
  for (int a = 0; a < dim; a++)
    for (int k = 0; k < t->open[a].n[2]; k++)
      for (int j = 0; j < t->open[a].n[1]; j++)
        for (int i = 0; i < t->open[a].n[0]; i++) {
          int at[3] = {i, j, k}, low = at[a] == 0, high = at[a] == n;
          mn_vec3 x = mn_position(cell, i - (a == 0), j - (a == 1), k - (a == 2));
          mn_vec3 y = mn_position(cell, i, j, k);
          int crossed = (mn_dot(x, normal) < d) != (mn_dot(y, normal) < d) && x.y > 0.1 &&
                        x.y < 0.8 && x.x > 0.1;
          mn_set(&t->open[a], i, j, k, low || (high && a != 0) || crossed ? 0 : 1);
        }
  uint64_t seed = 9;
  for (size_t i = 0; i < t->b.size; i++)
    t->b.data[i] = check_random(&seed) - 0.5;
}

static const mn_vec3 NORMALS[3] = {{{1, 0, 0}}, {{1, 0.45, 0.2}}, {{0.7, 0.7, -0.3}}};

static void does_not_grow(void **state)
{
  (void)state;
  int grows = 0;
  for (int dim = 2; dim <= 3; dim++)
    for (int which = 0; which < 3; which++) {
      int count[3] = {0}, plain[3] = {0};
      for (int level = 0; level < (dim == 2 ? 3 : 2); level++) {
        test_case t;
        /* in the middle of coarse cells on many levels */
        make_wall(&t, dim, (dim == 2 ? 32 : 16) << level, NORMALS[which], 0.345);
        plain[level] = solve(&t, 0, &t.p).iterations;
        count[level] = solve(&t, 1, &t.p).iterations;
        case_destroy(&t);
      }
      print_message("dim %d, wall %d: %d %d %d, plain %d %d %d\n", dim, which, count[0], count[1],
                    count[2], plain[0], plain[1], plain[2]);
      for (int level = 0; level < (dim == 2 ? 3 : 2); level++)
        CHECK_LE(count[level], 12);
      int last = dim == 2 ? 2 : 1;
      CHECK_LE(count[last], count[0] + 4);
      grows += plain[last] > plain[0] + 4;
    }
  CHECK_GE(grows, 3); /* or there is nothing to show */
  CHECK_DONE();
}

/* Of all cells of a level: the greatest difference of couplings that should be the same, and the
   sum of what anchors. */
static void inspect(const mn_mg_level *L, double *asymmetry, double *anchors, int *couplings)
{
  int64_t step[3] = {1, L->n[0], (int64_t)L->n[0] * L->n[1]}, cells = step[2] * L->n[2];
  float(*c)[6] = calloc((size_t)cells, sizeof *c);
  *asymmetry = *anchors = 0;
  *couplings = 0;
  for (int row = 0; row < L->n[1] * L->n[2]; row++) {
    int32_t entry[2] = {L->row[row].irregular[0], L->row[row].irregular[1]};
    for (int i = L->range[row][0]; i < L->range[row][1]; i++) {
      int64_t at = i + (int64_t)row * L->n[0];
      int colour = (i + L->row[row].parity) & 1;
      for (int side = 0; side < 2 * L->dim && L->kind[at] == MN_REGULAR; side++)
        c[at][side] = 1;
      if (L->kind[at] != MN_IRREGULAR)
        continue;
      memcpy(c[at], L->irregular[colour][entry[colour]].c, sizeof c[at]);
      *anchors += (double)L->cell_excess[colour][entry[colour]++];
    }
  }
  for (int64_t at = 0; at < cells; at++)
    for (int side = 1; side < 2 * L->dim; side += 2)
      if (at + step[side / 2] < cells) {
        double here = (double)c[at][side], there = (double)c[at + step[side / 2]][side - 1];
        *asymmetry = check_worst(*asymmetry, fabs(here - there));
        *couplings += here > 0;
      }
  free(c);
}

static void levels(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int which = 0; which < 4; which++) {
      test_case t;
      mn_pressure *v;
      mn_mgpcg mgpcg = {0};
      int n[3] = {27, 22, dim == 3 ? 19 : 1};
      if (which < 3)
        make_wall(&t, dim, 26, NORMALS[which], 0.345);
      else
        case_create(&t, 1, dim, n, CASE_OPEN, 3);
      CHECK_OK(t.ctx, mn_pressure_create(t.ctx, &t.grid, MN_PRESSURE_MGPCG, &v));
      CHECK_OK(t.ctx, mn_pressure_assemble(v, &t.geometry));
      mgpcg.mg.split = 1;
      CHECK_OK(t.ctx, mn_mgpcg_setup(t.ctx, &mgpcg, mn_pressure_system(v), mn_pressure_regions(v)));
      CHECK_GE((double)mgpcg.mg.level[0].orphans, 1);
      double first = 0;
      for (int l = 0; l < mgpcg.mg.levels; l++) {
        double asymmetry, anchors;
        int couplings;
        inspect(&mgpcg.mg.level[l], &asymmetry, &anchors, &couplings);
        CHECK_LE(asymmetry, 1e-6);
        first = l ? first : anchors;
        CHECK_NEAR(anchors * pow(2, (dim - 1) * l), first, 1e-4 * first);
      }
      mn_mgpcg_free(&mgpcg);
      mn_pressure_destroy(&v);
      case_destroy(&t);
    }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_answer), cmocka_unit_test(does_not_grow),
                                     cmocka_unit_test(levels)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
