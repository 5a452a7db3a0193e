/* hypre's conjugate gradients with the structured multigrid PFMG on the half-sphere system, and
   policy iteration around them on its LCP.
   usage: peer_hypre N [REPEAT]; prints a JSON line each, the best of REPEAT. Cells that are no
   unknowns are rows of the identity, since a Struct grid is a box; it is trimmed to the unknowns'
   bounding box, which favours hypre. Its tolerance is on the 2-norm: it is tightened until the true
   infinity norm meets 1e-6, and the time is that of the loosest setting that does. */
#include <HYPRE.h>
#include <HYPRE_struct_ls.h>
#include <mpi.h>

#include "peer.h"

typedef struct box {
  int lo[3], hi[3];
  int64_t cells;
} box;

static box bounding_box(const peer_system *s)
{
  int n = s->n;
  box b = {{n, n, n}, {0, 0, 0}, 1};
  for (int64_t c = 0; c < (int64_t)n * n * n; c++) {
    int at[3] = {(int)(c % n), (int)(c / n % n), (int)(c / n / n)};
    for (int a = 0; a < 3 && s->number[c] >= 0; a++) {
      b.lo[a] = at[a] < b.lo[a] ? at[a] : b.lo[a];
      b.hi[a] = at[a] > b.hi[a] ? at[a] : b.hi[a];
    }
  }
  for (int a = 0; a < 3; a++)
    b.cells *= b.hi[a] - b.lo[a] + 1;
  return b;
}

static int64_t global_cell(const box *b, int n, int64_t c)
{
  int64_t nx = b->hi[0] - b->lo[0] + 1, ny = b->hi[1] - b->lo[1] + 1;
  return (b->lo[0] + c % nx) + n * ((b->lo[1] + c / nx % ny) + n * (b->lo[2] + c / nx / ny));
}

/* One solve, from x; returns the iterations. */
static int solve(const box *b, double *values, double *rhs, double *x, double tolerance,
                 double *setup_s, double *solve_s)
{
  static int offsets[7][3] = {{0, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {0, -1, 0},
                              {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
  int entries[7] = {0, 1, 2, 3, 4, 5, 6}, iterations;
  int lo[3] = {b->lo[0], b->lo[1], b->lo[2]}, hi[3] = {b->hi[0], b->hi[1], b->hi[2]};
  HYPRE_StructGrid grid;
  HYPRE_StructStencil stencil;
  HYPRE_StructMatrix A;
  HYPRE_StructVector vb, vx;
  HYPRE_StructSolver pcg, pfmg;
  double start = peer_seconds();
  HYPRE_StructGridCreate(MPI_COMM_SELF, 3, &grid);
  HYPRE_StructGridSetExtents(grid, lo, hi);
  HYPRE_StructGridAssemble(grid);
  HYPRE_StructStencilCreate(3, 7, &stencil);
  for (int e = 0; e < 7; e++)
    HYPRE_StructStencilSetElement(stencil, e, offsets[e]);
  HYPRE_StructMatrixCreate(MPI_COMM_SELF, grid, stencil, &A);
  HYPRE_StructMatrixInitialize(A);
  HYPRE_StructMatrixSetBoxValues(A, lo, hi, 7, entries, values);
  HYPRE_StructMatrixAssemble(A);
  HYPRE_StructVectorCreate(MPI_COMM_SELF, grid, &vb);
  HYPRE_StructVectorInitialize(vb);
  HYPRE_StructVectorSetBoxValues(vb, lo, hi, rhs);
  HYPRE_StructVectorAssemble(vb);
  HYPRE_StructVectorCreate(MPI_COMM_SELF, grid, &vx);
  HYPRE_StructVectorInitialize(vx);
  HYPRE_StructVectorSetBoxValues(vx, lo, hi, x);
  HYPRE_StructVectorAssemble(vx);
  HYPRE_StructPCGCreate(MPI_COMM_SELF, &pcg);
  HYPRE_StructPCGSetTol(pcg, tolerance);
  HYPRE_StructPCGSetMaxIter(pcg, 200);
  HYPRE_StructPCGSetTwoNorm(pcg, 1);
  HYPRE_StructPFMGCreate(MPI_COMM_SELF, &pfmg);
  HYPRE_StructPFMGSetMaxIter(pfmg, 1);
  HYPRE_StructPFMGSetTol(pfmg, 0);
  HYPRE_StructPFMGSetZeroGuess(pfmg);
  HYPRE_StructPFMGSetRelaxType(pfmg, 2); /* symmetric red-black Gauss-Seidel */
  HYPRE_StructPFMGSetNumPreRelax(pfmg, 1);
  HYPRE_StructPFMGSetNumPostRelax(pfmg, 1);
  HYPRE_StructPCGSetPrecond(pcg, HYPRE_StructPFMGSolve, HYPRE_StructPFMGSetup, pfmg);
  HYPRE_StructPCGSetup(pcg, A, vb, vx);
  double middle = peer_seconds();
  HYPRE_StructPCGSolve(pcg, A, vb, vx);
  double end = peer_seconds();
  HYPRE_StructPCGGetNumIterations(pcg, &iterations);
  HYPRE_StructVectorGetBoxValues(vx, lo, hi, x);
  HYPRE_StructPCGDestroy(pcg);
  HYPRE_StructPFMGDestroy(pfmg);
  HYPRE_StructVectorDestroy(vx);
  HYPRE_StructVectorDestroy(vb);
  HYPRE_StructMatrixDestroy(A);
  HYPRE_StructStencilDestroy(stencil);
  HYPRE_StructGridDestroy(grid);
  *setup_s = middle - start;
  *solve_s = end - middle;
  return iterations;
}

/* ---- the LCP ------------------------------------------------------------------------------- */

/* The arrays of a problem on the box. */
typedef struct arrays {
  double *values, *rhs, *x; /* on the box */
  double *field, *slack;    /* on all cells */
  unsigned char *held;
} arrays;

/* Rows without the held cells, which become rows of the identity. */
static void fill_rows(const peer_system *s, const box *b, arrays *t)
{
  int64_t n = s->n, step[6] = {-1, 1, -n, n, -n * n, n * n};
  for (int64_t c = 0; c < b->cells; c++) {
    int64_t g = global_cell(b, s->n, c);
    double *row = t->values + 7 * c;
    memcpy(row, s->row + 7 * g, 7 * sizeof *row);
    t->rhs[c] = s->b[g];
    t->x[c] = t->field[g];
    if (s->number[g] < 0 || t->held[g]) {
      memset(row, 0, 7 * sizeof *row);
      row[0] = 1;
      t->rhs[c] = t->x[c] = 0;
    }
    for (int side = 0; side < 6; side++)
      if (row[1 + side] != 0 && t->held[g + step[side]])
        row[1 + side] = 0;
  }
}

static int control(const peer_system *s, arrays *t, int first)
{
  int changed = 0;
  for (int64_t c = 0; c < (int64_t)s->n * s->n * s->n; c++) {
    if (!s->wall[c])
      continue;
    int held = first ? s->b[c] < 0 : s->row[7 * c] * t->field[c] < t->slack[c];
    changed += held != t->held[c];
    t->held[c] = (unsigned char)held;
  }
  return changed;
}

/* Norm of b over the free cells, which hypre's tolerance is relative to, and of the residual. */
static double relative_residual(const peer_system *s, const arrays *t)
{
  double rr = 0, bb = 0;
  for (int64_t c = 0; c < (int64_t)s->n * s->n * s->n; c++)
    if (s->number[c] >= 0 && !t->held[c]) {
      rr += t->slack[c] * t->slack[c];
      bb += s->b[c] * s->b[c];
    }
  return sqrt(rr / bb);
}

/* From p = 0: between two control tests the residual falls by `fall`, straight to `last` (relative)
   when nothing changed. Returns whether the LCP's residual is met. */
static int policy(const peer_system *s, const box *b, arrays *t, double fall, double last,
                  int *outer, int *inner, double *seconds, double *residual)
{
  double start = peer_seconds();
  size_t cells = (size_t)s->n * (size_t)s->n * (size_t)s->n;
  memset(t->field, 0, cells * sizeof *t->field);
  memset(t->held, 0, cells);
  control(s, t, 1);
  peer_lcp_residual(s, t->field, t->slack);
  *inner = 0;
  for (int changed = 1, k = *outer = 0; k < 40; k++) {
    double setup_s, solve_s, tolerance = fall * relative_residual(s, t);
    tolerance = changed && tolerance > last ? tolerance : last;
    fill_rows(s, b, t);
    *inner += solve(b, t->values, t->rhs, t->x, tolerance, &setup_s, &solve_s);
    ++*outer;
    for (int64_t c = 0; c < b->cells; c++)
      t->field[global_cell(b, s->n, c)] = t->x[c];
    *residual = peer_lcp_residual(s, t->field, t->slack);
    *seconds = peer_seconds() - start;
    if (*residual <= 1e-6)
      return 1;
    int before = changed;
    changed = control(s, t, 0);
    if (!changed && !before)
      return 0; /* `last` is too loose */
  }
  return 0;
}

static void policy_best(const peer_system *s, const box *b, arrays *t, int repeat)
{
  static const double falls[] = {0.1, 0.03};
  double best = 1e300, residual = 0, last = 1e-6;
  int outer = 0, inner = 0;
  for (int f = 0; f < 2; f++) {
    for (int n = 0, tries = 0; n < repeat && tries < 40; tries++) {
      double seconds, r;
      int o, i;
      if (!policy(s, b, t, falls[f], last, &o, &i, &seconds, &r)) {
        last *= 0.5;
        continue;
      }
      n++;
      if (seconds < best) {
        best = seconds;
        outer = o;
        inner = i;
        residual = r;
      }
    }
  }
  char name[80];
  snprintf(name, sizeof name, "hypre policy+PCG+PFMG, %d outer", outer);
  peer_print(s, name, inner, 0, best, residual);
}

int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 64, repeat = argc > 2 ? atoi(argv[2]) : 3;
  peer_system s;
  MPI_Init(&argc, &argv);
  HYPRE_Init();
  if (!peer_create(n, &s))
    return 1;
  box b = bounding_box(&s);
  size_t cells = (size_t)b.cells, all = (size_t)n * (size_t)n * (size_t)n;
  double *values = malloc(7 * cells * sizeof *values), *rhs = malloc(cells * sizeof *rhs);
  double *x = malloc(cells * sizeof *x), *field = calloc(all, sizeof *field);
  for (size_t c = 0; c < cells; c++) {
    size_t g = (size_t)global_cell(&b, n, (int64_t)c);
    memcpy(values + 7 * c, s.row + 7 * g, 7 * sizeof *values);
    if (s.number[g] < 0)
      values[7 * c] = 1;
    rhs[c] = s.b[g];
  }
  double best_setup = 1e300, best_solve = 1e300, residual = 1e300, tolerance = 1e-5;
  int iterations = 0;
  for (int t = 0; t < repeat;) {
    double setup_s, solve_s;
    memset(x, 0, cells * sizeof *x);
    iterations = solve(&b, values, rhs, x, tolerance, &setup_s, &solve_s);
    for (size_t c = 0; c < cells; c++)
      field[global_cell(&b, n, (int64_t)c)] = x[c];
    residual = peer_residual(&s, field);
    if (residual > 1e-6) {
      tolerance *= 0.7;
      continue;
    }
    if (setup_s + solve_s < best_setup + best_solve) {
      best_setup = setup_s;
      best_solve = solve_s;
    }
    t++;
  }
  peer_print(&s, "hypre PCG+PFMG", iterations, best_setup, best_solve, residual);
  fflush(stdout);
  arrays t = {values, rhs, x, field, malloc(all * sizeof(double)), malloc(all)};
  if (repeat > 0)
    policy_best(&s, &b, &t, n < 128 ? 2 : 1);
  free(t.slack);
  free(t.held);
  free(values);
  free(rhs);
  free(x);
  free(field);
  peer_destroy(&s);
  HYPRE_Finalize();
  MPI_Finalize();
  return 0;
}
