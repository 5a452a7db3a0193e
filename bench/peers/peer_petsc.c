/* PETSc's conjugate gradients with the algebraic multigrid GAMG on the half-sphere system.
   usage: peer_petsc N [REPEAT]; prints one JSON line, the best of REPEAT. As for hypre, the
   relative tolerance is tightened until the true infinity norm meets 1e-6. */
#include <petscksp.h>

#include "peer.h"

static Mat assemble(const peer_system *s)
{
  int64_t n = s->n, step[6] = {-1, 1, -n, n, -n * n, n * n};
  Mat A;
  MatCreateSeqAIJ(PETSC_COMM_SELF, (PetscInt)s->unknowns, (PetscInt)s->unknowns, 7, NULL, &A);
  for (int64_t c = 0; c < n * n * n; c++) {
    PetscInt row = (PetscInt)s->number[c], columns[7], count = 0;
    PetscScalar values[7];
    if (row < 0)
      continue;
    columns[count] = row;
    values[count++] = s->row[7 * c];
    for (int side = 0; side < 6; side++)
      if (s->row[7 * c + 1 + side] != 0) {
        columns[count] = (PetscInt)s->number[c + step[side]];
        values[count++] = s->row[7 * c + 1 + side];
      }
    MatSetValues(A, 1, &row, count, columns, values, INSERT_VALUES);
  }
  MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
  MatSetOption(A, MAT_SPD, PETSC_TRUE);
  return A;
}

int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 64, repeat = argc > 2 ? atoi(argv[2]) : 3;
  peer_system s;
  PetscInitialize(&argc, &argv, NULL, NULL);
  if (!peer_create(n, &s))
    return 1;
  size_t all = (size_t)n * (size_t)n * (size_t)n;
  double *field = calloc(all, sizeof *field), residual = 1e300, tolerance = 1e-5;
  double best_setup = 1e300, best_solve = 1e300;
  PetscInt iterations = 0;
  for (int t = 0; t < repeat;) {
    double start = peer_seconds();
    Mat A = assemble(&s);
    Vec b, x;
    KSP ksp;
    PC pc;
    PetscScalar *values;
    MatCreateVecs(A, &x, &b);
    VecGetArray(b, &values);
    for (size_t c = 0; c < all; c++)
      if (s.number[c] >= 0)
        values[s.number[c]] = s.b[c];
    VecRestoreArray(b, &values);
    KSPCreate(PETSC_COMM_SELF, &ksp);
    KSPSetOperators(ksp, A, A);
    KSPSetType(ksp, KSPCG);
    KSPGetPC(ksp, &pc);
    PCSetType(pc, PCGAMG);
    KSPSetTolerances(ksp, tolerance, 0, PETSC_DEFAULT, 500);
    KSPSetUp(ksp);
    double middle = peer_seconds();
    KSPSolve(ksp, b, x);
    double end = peer_seconds();
    KSPGetIterationNumber(ksp, &iterations);
    VecGetArray(x, &values);
    for (size_t c = 0; c < all; c++)
      field[c] = s.number[c] >= 0 ? values[s.number[c]] : 0;
    VecRestoreArray(x, &values);
    residual = peer_residual(&s, field);
    KSPDestroy(&ksp);
    VecDestroy(&x);
    VecDestroy(&b);
    MatDestroy(&A);
    if (residual > 1e-6) {
      tolerance *= 0.7;
      continue;
    }
    if (middle - start + end - middle < best_setup + best_solve) {
      best_setup = middle - start;
      best_solve = end - middle;
    }
    t++;
  }
  peer_print(&s, "PETSc CG+GAMG", (int)iterations, best_setup, best_solve, residual);
  free(field);
  peer_destroy(&s);
  PetscFinalize();
  return 0;
}
