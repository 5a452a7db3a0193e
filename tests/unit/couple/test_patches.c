/* Patches of points, and the partitioned iteration with inner products over patches: the same
   answers, as few solves where motions are smooth, the same bits after a checkpoint, products that
   are those of the columns also after a change of mass. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "couple/patches.h"
#include "couple/rmi_internal.h"
#include "math/vec.h"
#include "rmi_case.h"

/* ---- which points ---------------------------------------------------------------------------- */

enum { SIDE = 40, POINTS = 2 * SIDE * SIDE };

/* Two square surfaces far apart; points of both in turn. */
static void make_squares(mn_context *ctx, mn_interface *f)
{
  CHECK_OK(ctx, mn_interface_create(ctx, 3, POINTS, 0, f));
  for (int i = 0; i < POINTS; i++) {
    int at = i / 2;
    f->body[i] = i % 2;
    f->rigid[i] = i % 2 == 1;
    f->X[i] = mn_v3(at % SIDE - 7, at / SIDE + 3, 100 * f->body[i]);
  }
}

static void check_squares(int freedoms)
{
  mn_context *ctx = check_context(1);
  mn_interface f;
  mn_vector_map map;
  mn_rmi_patches p;
  make_squares(ctx, &f);
  CHECK_OK(ctx, mn_vector_map_create(ctx, &f, freedoms, &map));
  size_t more = 5, size = map.size + more;
  CHECK_OK(ctx, mn_patches_create(ctx, &f, &map, size, 2.5, &p));
  size_t patches = 2 * (SIDE * 2 / 5) * (SIDE * 2 / 5); /* 2 or 3 points along each edge */
  CHECK(p.p_count == 3 * patches);
  CHECK(p.x_count == (freedoms ? 3 * patches / 2 + 6 : 3 * patches) + more);
  static int members[3 * POINTS];
  static mn_vec3 first[3 * POINTS];
  memset(members, 0, sizeof members);
  double widest = 0;
  int mixed = 0;
  for (int i = 0; i < POINTS; i++) {
    uint32_t patch = p.p_patch[3 * i];
    CHECK(patch % 3 == 0 && p.p_patch[3 * i + 2] == patch + 2);
    if (!members[patch]++)
      first[patch] = f.X[i];
    mn_vec3 apart = mn_sub(f.X[i], first[patch]);
    mixed += apart.z != 0;
    widest = check_worst(widest, mn_length(apart));
  }
  for (size_t g = 0; g < p.p_count; g += 3)
    mixed += members[g] < 4 || members[g] > 9;
  CHECK(mixed == 0);
  CHECK_LE(widest, 3); /* of 3 x 3 points; of strangers 40 */
  memset(members, 0, sizeof members);
  for (size_t k = 0; k < size; k++)
    members[p.x_patch[k]]++;
  for (size_t g = 0; g < p.x_count; g++)
    CHECK(members[g] == 1 || (members[g] >= 4 && members[g] <= 9));
  mn_patches_destroy(&p);
  f.two_sided[7] = 1; /* cloth */
  CHECK_OK(ctx, mn_patches_create(ctx, &f, &map, size, 2.5, &p));
  CHECK(!p.x_patch && !p.p_patch);
  f.two_sided[7] = 0;
  f.count = 900; /* few */
  CHECK_OK(ctx, mn_patches_create(ctx, &f, &map, size, 2.5, &p));
  CHECK(!p.x_patch);
  mn_vector_map_destroy(&map);
  mn_interface_destroy(&f);
  mn_context_destroy(&ctx);
}

static void test_points(void **state)
{
  (void)state;
  check_squares(0);
  check_squares(1);
  CHECK_DONE();
}

/* ---- the iteration --------------------------------------------------------------------------- */

enum { N = 64 };

static mn_rmi *make(mn_context *ctx, int together)
{
  uint32_t patch[N];
  mn_rmi_def def = mn_rmi_def_default();
  mn_rmi *rmi;
  for (int i = 0; i < N; i++)
    patch[i] = (uint32_t)(i / together);
  mn_rmi_patches p = {(size_t)(N / together), (size_t)(N / together), patch, patch};
  def.x_size = def.p_size = N;
  def.tolerance = 1e-9;
  CHECK_OK(ctx, mn_rmi_create_patched(ctx, &def, together > 1 ? &p : NULL, &rmi));
  return rmi;
}

/* Solves of a substep; less than 0: failed. */
static int advance(mn_context *ctx, mn_rmi *rmi, membrane *m, double *error)
{
  double x[N], p[N], both[N];
  mn_rmi_report r;
  CHECK_OK(ctx, mn_rmi_step(rmi, m->dt, m->x0, membrane_fluid, m, membrane_solid, m, x, p, &r));
  if (r.reason != MN_CONVERGED)
    return -1;
  membrane_together(m, both);
  for (int i = 0; i < N; i++)
    *error = check_worst(*error, fabs(x[i] - both[i]));
  CHECK_OK(ctx, mn_rmi_accept(rmi));
  membrane_commit(m, x);
  return r.iterations;
}

static int solves_of(mn_context *ctx, int together, double *error)
{
  static membrane m;
  mn_rmi *rmi = make(ctx, together);
  int sum = 0, solves = 0;
  membrane_make(&m, N, 4, 0.1, 0.01);
  for (int step = 0; step < 40 && solves >= 0; step++)
    sum += solves = advance(ctx, rmi, &m, error);
  mn_rmi_destroy(&rmi);
  return solves < 0 ? 10000 : sum;
}

static void test_answers(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  double error = 0, ignored = 0;
  int whole = solves_of(ctx, 1, &error), patched = solves_of(ctx, 2, &error);
  int blind = solves_of(ctx, N, &ignored); /* control: two numbers know no four waves */
  printf("solves in 40 substeps: %d; by patches of 2 %d; of all points %d\n", whole, patched,
         blind);
  CHECK_LE(error, 1e-8);
  CHECK_LE(patched, 1.1 * whole);
  CHECK_GE(blind, 1.5 * whole);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_checkpoint(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static membrane m, resumed;
  double error = 0;
  mn_rmi *rmi = make(ctx, 4), *other = make(ctx, 4);
  membrane_make(&m, N, 8, 0.1, 0.01);
  for (int step = 0; step < 12; step++)
    advance(ctx, rmi, &m, &error);
  mn_array from[16], to[16];
  int count = mn_rmi_arrays(rmi, from, 16);
  CHECK(mn_rmi_arrays(other, to, 16) == count && count == 15);
  for (int a = 0; a < count; a++)
    memcpy(to[a].data, from[a].data,
           8 * from[a].shape[0] * (from[a].rank > 1 ? from[a].shape[1] : 1));
  resumed = m;
  for (int step = 0; step < 30; step++) { /* beyond the room for idle columns */
    advance(ctx, rmi, &m, &error);
    advance(ctx, other, &resumed, &error);
  }
  CHECK(!memcmp(m.x0, resumed.x0, sizeof m.x0));
  mn_rmi_destroy(&rmi);
  mn_rmi_destroy(&other);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* The greatest error of a product of p with p, over the greatest product. */
static double wrong_products(const mn_rmi *rmi)
{
  const mn_rmi_pairs *f = &rmi->fluid, *s = &rmi->solid;
  size_t n = rmi->shorter.p, ld = rmi->products.ld;
  double worst = 0, most = 0;
  for (int64_t i = 0; i < *s->count; i++) {
    if (s->age[i] > rmi->def.reuse)
      continue;
    for (int64_t j = 0; j < *f->count; j++) {
      double sum = 0;
      if (f->age[j] > rmi->def.reuse)
        continue;
      for (size_t k = 0; k < n; k++)
        sum += s->in[(size_t)i * n + k] * f->out[(size_t)j * n + k];
      worst = check_worst(worst, fabs(sum - rmi->products.sf[(size_t)i + (size_t)j * ld]));
      most = fmax(most, fabs(sum));
    }
  }
  return worst / most;
}

/* p in patches of a column is the sum over patches of what p in full would be. */
static void test_shift(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static membrane m[2];
  double rate[N], error = 0, worst = 0, most = 0;
  mn_rmi *full = make(ctx, 1), *patched = make(ctx, 4);
  for (int k = 0; k < 2; k++)
    membrane_make(&m[k], N, 8, 0.1, 0.01);
  for (int step = 0; step < 2; step++) { /* as long as both have gone the same way */
    advance(ctx, full, &m[0], &error);
    advance(ctx, patched, &m[1], &error);
  }
  for (int i = 0; i < N; i++)
    rate[i] = 3 + i % 4;
  mn_rmi_shift_loads(full, rate);
  mn_rmi_shift_loads(patched, rate);
  CHECK_LE(wrong_products(full), 1e-13);
  CHECK_LE(wrong_products(patched), 1e-13);
  const double *p = full->fluid.out, *q = patched->fluid.out; /* the first column */
  for (int g = 0; g < N / 4; g++) {
    double sum = 0;
    for (int k = 0; k < 4; k++)
      sum += p[4 * g + k];
    worst = check_worst(worst, fabs(q[g] - sum / 2));
    most = fmax(most, fabs(q[g]));
  }
  CHECK_LE(worst / most, 1e-10);
  mn_rmi_destroy(&full);
  mn_rmi_destroy(&patched);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_points), cmocka_unit_test(test_answers),
                                     cmocka_unit_test(test_checkpoint),
                                     cmocka_unit_test(test_shift)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
