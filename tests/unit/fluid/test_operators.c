/* The grid fluid's operators against its own solve: the same equations, loads and answer. */
#include "operator_case.h"

/* ---- the same equations as solve ------------------------------------------------------------- */

static double difference(const mn_vec3 *a, const mn_vec3 *b, size_t n)
{
  double worst = 0, size = 1e-300;
  for (size_t i = 0; i < n; i++) {
    worst = check_worst(worst, mn_length(mn_sub(a[i], b[i])));
    size = fmax(size, mn_length(b[i]));
  }
  return worst / size;
}

/* What is left of the equations, over their tolerance, and the loads' relative difference. */
static void equations(setup s, double *left, double *loads, double wrong)
{
  bench a, b;
  start(&a, s);
  start(&b, s);
  begin(&a, 7, s.soft);
  begin(&b, 7, s.soft);
  CHECK_OK(a.c.ctx, a.c.fluid.ops->solve(a.mac, &a.b.face, &a.c.report));
  CHECK(a.c.report.reason == MN_CONVERGED);
  CHECK_OK(b.c.ctx, b.ops->assemble(b.mac, &b.b.face, &b.l));
  size_t cells = b.l.cells, rows = b.l.rows, points = b.b.face.count;
  CHECK_GE((double)rows, s.n / 4);
  double *p = numbers(cells, 0), *y = numbers(cells, 0), *U = numbers(rows, 0);
  double *F = numbers(rows, 0);
  mn_unknowns_gather(&b.mac->operators.unknowns, 1, &a.mac->dp, p);
  b.ops->gather(b.mac, b.b.face.V, U);
  b.ops->apply(b.mac, p, y);
  for (size_t i = 0; i < cells; i++)
    y[i] -= b.l.c[i];
  outflow(&b.l, 1 + wrong, U, y);
  for (size_t i = 0; i < cells && b.l.bound; i++)
    y[i] = b.l.bound[i] && p[i] <= 0 && y[i] > 0 ? 0 : y[i];
  *left = largest(y, cells) / b.l.tolerance;
  for (size_t r = 0; r < rows; r++)
    F[r] = push(&b.l, r, p) - b.l.mass[r] * (1 + wrong) * (U[r] - b.l.before[r]) / DT;
  mn_vec3 *load = calloc(points, sizeof *load);
  CHECK_OK(b.c.ctx, b.ops->scatter(b.mac, F, load));
  for (size_t i = 0; i < points; i++)
    load[i] = mn_add(load[i], b.l.rest[i]);
  *loads = difference(load, a.b.face.load, points);
  if (!wrong) { /* the rest of the substep is the same */
    mn_solve_report report;
    CHECK_OK(b.c.ctx, b.ops->adopt(b.mac, &b.b.face, p, &report));
    CHECK(report.reason == MN_CONVERGED);
    CHECK_LE(report.residual * 0.99, a.c.report.residual + 1e-3);
    CHECK_NEAR(report.divergence, a.c.report.divergence, 1e-9);
    CHECK(report.held == a.c.report.held);
    CHECK(!memcmp(a.b.face.load, b.b.face.load, points * sizeof *load));
    CHECK(!memcmp(a.b.face.mass, b.b.face.mass, points * sizeof *a.b.face.mass));
    CHECK_OK(a.c.ctx, a.c.fluid.ops->commit(a.mac));
    CHECK_OK(b.c.ctx, b.c.fluid.ops->commit(b.mac));
    mn_array x[32], z[32];
    int count = a.c.fluid.ops->arrays(a.mac, x, 32);
    CHECK(b.c.fluid.ops->arrays(b.mac, z, 32) == count);
    for (int n = 0; n < count; n++) {
      size_t size = 8;
      for (int d = 0; d < x[n].rank; d++)
        size *= x[n].shape[d];
      if (memcmp(x[n].data, z[n].data, size))
        print_message("array %s differs\n", x[n].name);
      CHECK(!memcmp(x[n].data, z[n].data, size));
    }
  }
  free(load);
  free(p);
  free(y);
  free(U);
  free(F);
  end(&a);
  end(&b);
}

static void same_as_solve(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int body = DISK; body <= PLATE; body++)
      for (int soft = 0; soft < 2; soft++)
        for (int water = 0; water < 3; water++) {
          setup s = {dim, dim == 2 ? 24 : 12, water > 0, water > 1, !water, soft, (kind)body};
          double left, loads;
          equations(s, &left, &loads, 0);
          CHECK_LE(left, 1.01);
          CHECK_LE(loads, 1e-12);
        }
  CHECK_DONE();
  for (int body = DISK; body <= PLATE; body++) {
    double left, loads;
    equations((setup){2, 24, 0, 0, 1, 0, (kind)body}, &left, &loads, 1e-3);
    CHECK_LE(left, 1.01);
    CHECK_LE(loads, 1e-12);
    CHECK_MUST_HAVE_FAILED();
  }
}

/* ---- operators ------------------------------------------------------------------------------- */

/* y = A x of a sparse matrix; returns the greatest asymmetry if it is square, and whether columns
   ascend. */
static void multiply(const mn_sparse_matrix *A, const double *x, double *y)
{
  for (int64_t r = 0; r < A->rows; r++) {
    y[r] = 0;
    for (int64_t e = A->start[r]; e < A->start[r + 1]; e++) {
      CHECK(e == A->start[r] || A->col[e] > A->col[e - 1]);
      y[r] += A->value[e] * x[A->col[e]];
    }
  }
}

static void matrices(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int water = 0; water < 2; water++)
      for (int body = DISK; body <= RING; body++)
        for (int soft = 0; soft < 2; soft++) {
          bench t;
          start(&t, (setup){dim, dim == 2 ? 20 : 10, water, 0, 1, soft, (kind)body});
          begin(&t, 3, 0);
          CHECK_OK(t.c.ctx, t.ops->assemble(t.mac, &t.b.face, &t.l));
          size_t cells = t.l.cells, rows = t.l.rows, points = t.b.face.count;
          double *x = numbers(cells, 5), *y = numbers(cells, 9), *Lx = numbers(cells, 0);
          double *Ly = numbers(cells, 0), *z = numbers(cells, 0);
          mn_sparse_matrix L, W;
          CHECK_OK(t.c.ctx, t.ops->matrix(t.mac, &L));
          CHECK(L.rows == (int64_t)cells && L.cols == L.rows);
          t.ops->apply(t.mac, x, Lx);
          t.ops->apply(t.mac, y, Ly);
          multiply(&L, x, z);
          CHECK_LE(apart(Lx, z, cells), 1e-14);
          CHECK_NEAR(dot(y, Lx, cells), dot(x, Ly, cells), 1e-13 * cells * largest(Lx, cells));
          CHECK_GE(dot(x, Lx, cells), 0);
          /* W and its transpose, of all freedoms; in 2D the third one does not count */
          double *V = numbers(3 * points, 11), *U = numbers(rows, 0), *WV = numbers(rows, 0);
          double *F = numbers(rows, 13);
          mn_vec3 *load = calloc(points, sizeof *load);
          CHECK_OK(t.c.ctx, t.ops->weights(t.mac, &W));
          CHECK(W.rows == (int64_t)rows && W.cols == 3 * (int64_t)points);
          t.ops->gather(t.mac, (const mn_vec3 *)V, U);
          multiply(&W, V, WV);
          CHECK_LE(apart(U, WV, rows), 1e-12);
          CHECK_OK(t.c.ctx, t.ops->scatter(t.mac, F, load));
          CHECK_NEAR(dot(F, U, rows), dot((const double *)load, V, 3 * points), 1e-11);
          /* D and its transpose */
          double power = 0;
          memset(z, 0, cells * sizeof *z);
          outflow(&t.l, 1, U, z);
          for (size_t r = 0; r < rows; r++)
            power += push(&t.l, r, x) * U[r];
          CHECK_NEAR(power, dot(z, x, cells), 1e-14);
          free(x);
          free(y);
          free(z);
          free(Lx);
          free(Ly);
          free(V);
          free(U);
          free(WV);
          free(F);
          free(load);
          end(&t);
        }
  CHECK_DONE();
}

/* The change of the solve's pressure with V, by L and D. */
static void answers_to_V(void **state)
{
  (void)state;
  for (int body = DISK; body <= PLATE; body++) {
    setup s = {2, 24, 0, 0, 1, 1, (kind)body};
    bench t;
    start(&t, s);
    begin(&t, 17, 1);
    CHECK_OK(t.c.ctx, t.ops->assemble(t.mac, &t.b.face, &t.l));
    size_t cells = t.l.cells, rows = t.l.rows, points = t.b.face.count;
    double *p = numbers(cells, 0), *c = numbers(cells, 0), *y = numbers(cells, 0);
    double *U = numbers(rows, 0);
    mn_vec3 *dV = calloc(points, sizeof *dV);
    memcpy(c, t.l.c, cells * sizeof *c);
    CHECK_OK(t.c.ctx, t.c.fluid.ops->solve(t.mac, &t.b.face, &t.c.report));
    mn_unknowns_gather(&t.mac->operators.unknowns, -1, &t.mac->dp, p);
    uint64_t seed = 23;
    for (size_t i = 0; i < points; i++) {
      dV[i] = mn_v3(check_random(&seed) - 0.5, check_random(&seed) - 0.5, 0);
      t.b.face.V[i] = mn_add(t.b.face.V[i], dV[i]);
    }
    CHECK_OK(t.c.ctx, t.c.fluid.ops->solve(t.mac, &t.b.face, &t.c.report));
    double *after = numbers(cells, 0);
    mn_unknowns_gather(&t.mac->operators.unknowns, 1, &t.mac->dp, after);
    for (size_t i = 0; i < cells; i++)
      p[i] += after[i];
    CHECK_OK(t.c.ctx, t.ops->assemble(t.mac, &t.b.face, &t.l));
    CHECK(!memcmp(c, t.l.c, cells * sizeof *c)); /* V has nothing to do with it */
    t.ops->gather(t.mac, dV, U);
    t.ops->apply(t.mac, p, y);
    double size = largest(y, cells);
    outflow(&t.l, 1, U, y);
    CHECK_LE(largest(y, cells) / size, 1e-10);
    t.mac->operators.made = 0; /* and anew */
    CHECK_OK(t.c.ctx, t.ops->assemble(t.mac, &t.b.face, &t.l));
    CHECK_LE(apart(t.l.c, c, cells), 1e-13);
    free(p);
    free(c);
    free(y);
    free(U);
    free(dV);
    free(after);
    end(&t);
  }
  CHECK_DONE();
}

/* ---- closed regions -------------------------------------------------------------------------- */

/* A ring that closes fluid in, with a pressure that only the coupled system could know: loads of
   the whole pressure, velocities as before, and what others see of it as after `lift`. */
static void closed_region(void **state)
{
  (void)state;
  const double p0 = 123;
  for (int dim = 2; dim <= 3; dim++) {
    setup s = {dim, dim == 2 ? 32 : 16, 0, 0, 1, 0, RING};
    bench a, b;
    mn_enclosed told;
    mn_solve_report report;
    start(&a, s);
    start(&b, s);
    begin(&a, 7, 0);
    begin(&b, 7, 0);
    CHECK_OK(a.c.ctx, a.c.fluid.ops->enclose(a.mac, &a.b.face, &told));
    CHECK_OK(a.c.ctx, a.c.fluid.ops->solve(a.mac, &a.b.face, &report));
    CHECK_OK(a.c.ctx, a.c.fluid.ops->lift(a.mac, &p0, 1));
    CHECK_OK(b.c.ctx, b.c.fluid.ops->enclose(b.mac, &b.b.face, &told));
    CHECK(told.count == 1);
    mn_vec3 center = told.center[0];
    CHECK_OK(b.c.ctx, b.ops->assemble(b.mac, &b.b.face, &b.l));
    size_t cells = b.l.cells, rows = b.l.rows, points = b.b.face.count;
    double *p = numbers(cells, 0), *inside = numbers(cells, 0), *F = numbers(rows, 0);
    double *U = numbers(rows, 0), volume = 0, flow = 0, size = 0;
    CHECK(b.l.region && b.l.volume);
    mn_unknowns_gather(&b.mac->operators.unknowns, 1, &a.mac->dp, p);
    b.ops->gather(b.mac, b.b.face.V, U);
    outflow(&b.l, -1, U, inside);
    for (size_t i = 0; i < cells; i++) {
      int in = b.l.region && b.l.region[i] == 0;
      volume += in ? b.l.volume[i] : 0;
      flow += in ? b.l.c[i] + inside[i] : 0;
      size += in ? fabs(b.l.c[i]) : 0;
      inside[i] = in ? p0 : 0;
      p[i] += inside[i];
    }
    CHECK_NEAR(volume, told.volume[0], 1e-12);
    CHECK_LE(fabs(flow) / size, 1e-12);
    CHECK_OK(b.c.ctx, b.ops->adopt(b.mac, &b.b.face, p, &report));
    CHECK(report.reason == MN_CONVERGED);
    CHECK(report.closed_regions == 1);
    CHECK_LE(fabs(report.net_flow) / size, 1e-12);
    mn_vec3 *load = calloc(points, sizeof *load);
    for (size_t r = 0; r < rows; r++)
      F[r] = push(&b.l, r, inside);
    CHECK_OK(b.c.ctx, b.ops->scatter(b.mac, F, load));
    for (size_t i = 0; i < points; i++)
      load[i] = mn_add(load[i], a.b.face.load[i]);
    CHECK_LE(difference(b.b.face.load, load, points), 1e-12);
    CHECK_GE(largest(F, rows), 0.1);
    CHECK_OK(a.c.ctx, a.c.fluid.ops->commit(a.mac));
    CHECK_OK(b.c.ctx, b.c.fluid.ops->commit(b.mac));
    mn_mac_view seen[2] = {mn_mac_look(&a.c.fluid), mn_mac_look(&b.c.fluid)};
    CHECK_LE(apart(seen[0].pressure->data, seen[1].pressure->data, seen[0].pressure->size), 1e-12);
    for (int x = 0; x < dim; x++)
      CHECK_LE(apart(seen[0].velocity[x].data, seen[1].velocity[x].data, seen[0].velocity[x].size),
               1e-12);
    /* the next guess has it, whether the coupling asks for regions or not */
    for (int asks = 0; asks < 2; asks++) {
      b.c.time = DT;
      CHECK_OK(b.c.ctx, b.c.fluid.ops->begin(b.mac, DT, DT));
      if (asks)
        CHECK_OK(b.c.ctx, b.c.fluid.ops->enclose(b.mac, &b.b.face, &told));
      CHECK_OK(b.c.ctx, b.ops->assemble(b.mac, &b.b.face, &b.l));
      double sum = 0, above = 0; /* the fluid's own part of the pressure has mean 0 */
      volume = 0;
      for (size_t i = 0; i < b.l.cells; i++)
        if (b.l.region[i] == 0) {
          sum += b.l.p[i] * b.l.volume[i];
          volume += b.l.volume[i];
        }
      mn_vec3 weight = mn_scale(3, b.c.def.fluid.gravity);
      if (!asks)
        above = mn_dot(weight, mn_sub(mn_mac_top(b.mac), center));
      CHECK_NEAR(sum / volume - above, p0, 0.01 * p0);
    }
    free(load);
    free(p);
    free(inside);
    free(F);
    free(U);
    end(&a);
    end(&b);
  }
  CHECK_DONE();
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void refusals(void **state)
{
  (void)state;
  bench t;
  mn_solve_report report;
  start(&t, (setup){2, 16, 0, 0, 1, 0, DISK});
  begin(&t, 3, 0);
  CHECK_FAILS(t.c.ctx, t.ops->adopt(t.mac, &t.b.face, NULL, &report), MN_BAD_INPUT, "assembled");
  t.b.face.impulse = 0;
  CHECK_FAILS(t.c.ctx, t.ops->assemble(t.mac, &t.b.face, &t.l), MN_BAD_INPUT, "coupling.load");
  t.b.face.impulse = 1;
  /* without any body the table is still good */
  mn_interface none = {.dim = 2, .impulse = 1};
  CHECK_OK(t.c.ctx, t.ops->assemble(t.mac, &none, &t.l));
  end(&t);
  mac_case c;
  mn_fluid_linear l = {0};
  mac_case_begin(&c, 2, mn_v3(1, 1, 0), 16);
  c.def.domain.side[3].kind = MN_SIDE_OPEN;
  mac_case_start(&c);
  const mn_fluid_operators *ops = c.fluid.ops->operators;
  CHECK_OK(c.ctx, c.fluid.ops->begin(c.fluid.self, 0, DT));
  CHECK_OK(c.ctx, ops->assemble(c.fluid.self, NULL, &l));
  CHECK(l.cells == 256 && l.rows == 0);
  CHECK_OK(c.ctx, ops->prepare(c.fluid.self, NULL, NULL));
  double p[256] = {0};
  CHECK_OK(c.ctx, ops->adopt(c.fluid.self, NULL, p, &report));
  CHECK(report.reason == MN_CONVERGED);
  mac_case_end(&c);
  CHECK_DONE();
}

/* Least and sum of the masses, over that of a cell; bound cells. */
static void weigh(const bench *t, double *least, double *sum, int *bound)
{
  double cell = t->mac->def->fluid.density * pow(t->mac->grid.dx, t->mac->grid.dim);
  *least = *sum = *bound = 0;
  for (size_t r = 0; r < t->l.rows; r++) {
    *least = fmin(*least, t->l.mass[r] / cell);
    *sum += t->l.mass[r] / cell;
  }
  for (size_t i = 0; i < t->l.cells; i++)
    *bound += t->l.bound[i];
}

/* Without masses below 0, from the call that asks for it to the end of the substep. */
static void narrow_faces(void **state)
{
  (void)state;
  double least, sum, again;
  int bound, bounds;
  for (int k = 0; k < 4; k++) {
    bench t;
    ready(&t, (setup){2 + k / 2, k < 2 ? 32 : 18, 1, 1, 0, 0, DISK});
    t.b.face.frozen = k % 2;
    size_t cells = t.l.cells;
    weigh(&t, &least, &sum, &bounds);
    CHECK_LE(least, -0.1);
    t.l.positive = 1;
    CHECK_OK(t.c.ctx, t.ops->assemble(t.mac, &t.b.face, &t.l));
    weigh(&t, &least, &again, &bound);
    CHECK(least >= 0 && t.l.cells == cells && bound == bounds && t.l.positive);
    CHECK_GE(again, sum + 1);
    t.l.positive = 0;
    CHECK_OK(t.c.ctx, t.ops->assemble(t.mac, &t.b.face, &t.l));
    weigh(&t, &least, &again, &bound);
    CHECK(least >= 0 && t.l.positive);
    begin(&t, 3, 0);
    t.l.positive = 0;
    CHECK_OK(t.c.ctx, t.ops->assemble(t.mac, &t.b.face, &t.l));
    weigh(&t, &least, &again, &bound);
    CHECK_NEAR(again, sum, 0);
    end(&t);
  }
  CHECK_DONE();
}

/* The second substep makes do with the first one's memory, but for the coarsest matrix. */
static void no_allocation(void **state)
{
  (void)state;
  for (int water = 0; water < 2; water++) {
    bench t;
    mn_solve_report report;
    start(&t, (setup){2, 24, water, water, !water, 0, PLATE});
    for (int step = 0; step < 3; step++) {
      int64_t before = 0;
      begin(&t, 3, 0);
      CHECK_OK(t.c.ctx, t.c.fluid.ops->solve(t.mac, &t.b.face, &report));
      before = t.c.ctx->allocations;
      CHECK_OK(t.c.ctx, t.ops->assemble(t.mac, &t.b.face, &t.l));
      double *open = open_by(&t, 1);
      CHECK_OK(t.c.ctx, t.ops->prepare(t.mac, open, NULL));
      answering a = {.t = &t, .open = open};
      double *p = numbers(t.l.cells, 0);
      CHECK_OK(t.c.ctx, t.ops->conjugate(t.mac, answer, NULL, NULL, &a, t.l.c, t.l.tolerance, 100,
                                         p, &report));
      CHECK_OK(t.c.ctx, t.ops->adopt(t.mac, &t.b.face, p, &report));
      if (step > 0)
        CHECK_LE((double)(t.c.ctx->allocations - before), 1);
      free(open);
      free(p);
    }
    end(&t);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(same_as_solve), cmocka_unit_test(matrices),
      cmocka_unit_test(answers_to_V),  cmocka_unit_test(closed_region),
      cmocka_unit_test(narrow_faces),  cmocka_unit_test(refusals),
      cmocka_unit_test(no_allocation)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
