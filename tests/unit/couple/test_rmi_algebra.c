/* The reduced model against the published equations with dense matrices: Jacobians by
   pseudo-inverses,

     x = (I - S_p F_x)^-1 [x^s + S_p (p^f - p^s - F_x x^f)]      (2.6)
     p = (I - F_x S_p)^-1 [p^f + F_x (x^s - x^f - S_p p^s)]      (2.7)

   of what two linear solvers, with unlike sizes of x and p, were asked and answered so far. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "la/dense.h"

enum { NX = 7, NP = 5, MOST = 6 };

typedef struct pair {
  double A[NP * NX], a[NP], B[NX * NP], b[NX];
  double x_f[MOST][NX], p_f[MOST][NP], p_s[MOST][NP], x_s[MOST][NX];
  int fluids, solids;
} pair;

static mn_status fluid(void *user, const double *x, double *p)
{
  pair *s = user;
  for (int i = 0; i < NP; i++) {
    p[i] = s->a[i];
    for (int j = 0; j < NX; j++)
      p[i] += s->A[i + j * NP] * x[j];
  }
  memcpy(s->x_f[s->fluids], x, sizeof *s->x_f);
  memcpy(s->p_f[s->fluids++], p, sizeof *s->p_f);
  return MN_OK;
}

static mn_status solid(void *user, const double *p, const double *x_at, double *x)
{
  pair *s = user;
  CHECK(!memcmp(x_at, s->x_f[s->fluids - 1], sizeof *s->x_f));
  for (int i = 0; i < NX; i++) {
    x[i] = s->b[i];
    for (int j = 0; j < NP; j++)
      x[i] += s->B[i + j * NX] * p[j];
  }
  memcpy(s->p_s[s->solids], p, sizeof *s->p_s);
  memcpy(s->x_s[s->solids++], x, sizeof *s->x_s);
  return MN_OK;
}

/* J (out x in) = answers times the pseudo-inverse of the questions, from solves 0 .. count - 1. */
static void jacobian(mn_context *ctx, int count, int in, const double *asked, int out,
                     const double *answered, double *J)
{
  mn_arena arena = {0};
  int k = count - 1, rank = 0;
  double V[NX * MOST], P[NX * MOST], identity[NX * NX] = {0}, inverse[MOST * NX];
  for (int j = 0; j < k; j++) {
    for (int i = 0; i < in; i++)
      V[i + j * in] = asked[(j + 1) * in + i] - asked[j * in + i];
    for (int i = 0; i < out; i++)
      P[i + j * out] = answered[(j + 1) * out + i] - answered[j * out + i];
  }
  for (int i = 0; i < in; i++)
    identity[i + i * in] = 1;
  memset(J, 0, (size_t)(in * out) * sizeof *J);
  if (k < 1)
    return;
  CHECK_OK(ctx, mn_dense_least_squares(ctx, &arena, in, k, V, in, identity, 1e-12, inverse, &rank));
  CHECK(rank == k);
  for (int i = 0; i < out; i++)
    for (int j = 0; j < in; j++)
      for (int l = 0; l < k; l++)
        J[i + j * out] += P[i + l * out] * inverse[l + j * k];
  mn_arena_destroy(&arena);
}

/* v <- (I - J1 J2)^-1 [start + J1 (rest - J2 from)], of n and m numbers: both equations. */
static void solve(mn_context *ctx, int n, int m, const double *J1, const double *J2,
                  const double *start, const double *rest, const double *from, double *v)
{
  mn_arena arena = {0};
  double M[NX * NX], inner[NX];
  for (int i = 0; i < m; i++) {
    inner[i] = rest[i];
    for (int j = 0; j < n; j++)
      inner[i] -= J2[i + j * m] * from[j];
  }
  for (int i = 0; i < n; i++) {
    v[i] = start[i];
    for (int l = 0; l < m; l++)
      v[i] += J1[i + l * n] * inner[l];
    for (int j = 0; j < n; j++) {
      M[i + j * n] = i == j;
      for (int l = 0; l < m; l++)
        M[i + j * n] -= J1[i + l * n] * J2[l + j * m];
    }
  }
  CHECK_OK(ctx, mn_dense_solve(ctx, &arena, n, M, 1, v, v));
  mn_arena_destroy(&arena);
}

static double gap(int n, const double *a, const double *b)
{
  double worst = 0;
  for (int i = 0; i < n; i++)
    worst = check_worst(worst, fabs(a[i] - b[i]));
  return worst;
}

static void make(pair *s, uint64_t seed)
{
  memset(s, 0, sizeof *s);
  for (int i = 0; i < NP * NX; i++) {
    s->A[i] = 2 * check_random(&seed) - 1;
    s->B[i] = 0.3 * (2 * check_random(&seed) - 1); /* S F shrinks: every solve is the best so far */
  }
  for (int i = 0; i < NX; i++)
    s->b[i] = check_random(&seed);
  for (int i = 0; i < NP; i++)
    s->a[i] = check_random(&seed);
}

static void test_equations(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (int kind = 0; kind < 4; kind++) /* both ways of columns, both of loads */
    for (uint64_t seed = 1; seed <= 5; seed++) {
      static pair s;
      make(&s, seed);
      mn_rmi_def def = mn_rmi_def_default();
      def.x_size = NX;
      def.p_size = NP;
      def.tolerance = 1e-14;
      def.max_iterations = 5;
      def.omega = 1;
      def.filter_current = 0;
      def.columns = kind % 2 ? MN_RMI_PIVOTED : MN_RMI_NEWEST;
      def.loads = kind / 2 ? MN_RMI_LOADS_OF_MODEL : MN_RMI_LOADS_OF_FLUID;
      mn_rmi *rmi;
      double start[NX] = {0}, x[NX], p[NP];
      CHECK_OK(ctx, mn_rmi_create(ctx, &def, &rmi));
      CHECK_OK(ctx, mn_rmi_step(rmi, 1, start, fluid, &s, solid, &s, x, p, NULL));
      mn_rmi_destroy(&rmi);
      CHECK(s.fluids == 5);
      double worst_x = 0, worst_p = 0;
      for (int k = 1; k < 4; k++) { /* after k solves of each */
        double F[NP * NX], S[NX * NP], expected[NX];
        jacobian(ctx, k, NX, s.x_f[0], NP, s.p_f[0], F);
        jacobian(ctx, k, NP, s.p_s[0], NX, s.x_s[0], S);
        double rest[NP];
        for (int i = 0; i < NP; i++)
          rest[i] = s.p_f[k - 1][i] - s.p_s[k - 1][i];
        solve(ctx, NX, NP, S, F, s.x_s[k - 1], rest, s.x_f[k - 1], expected);
        worst_x = check_worst(worst_x, gap(NX, expected, s.x_f[k]));
        if (def.loads == MN_RMI_LOADS_OF_FLUID || k < 2) {
          worst_p = check_worst(worst_p, gap(NP, s.p_f[k], s.p_s[k]));
          continue;
        }
        jacobian(ctx, k + 1, NX, s.x_f[0], NP, s.p_f[0], F);
        double shift[NX];
        for (int i = 0; i < NX; i++)
          shift[i] = s.x_s[k - 1][i] - s.x_f[k][i];
        solve(ctx, NP, NX, F, S, s.p_f[k], shift, s.p_s[k - 1], expected);
        worst_p = check_worst(worst_p, gap(NP, expected, s.p_s[k]));
      }
      CHECK_LE(worst_x, 1e-10);
      CHECK_LE(worst_p, 1e-10);
    }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_equations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
