/* hypre's conjugate gradients with the structured multigrid PFMG on the half-sphere system.
   usage: peer_hypre N [REPEAT]; prints one JSON line, the best of REPEAT. Cells that are no
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

/* One solve; returns the iterations. */
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
  HYPRE_StructVectorSetConstantValues(vx, 0);
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
  free(values);
  free(rhs);
  free(x);
  free(field);
  peer_destroy(&s);
  HYPRE_Finalize();
  MPI_Finalize();
  return 0;
}
