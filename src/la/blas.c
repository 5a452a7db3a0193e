#include "la/blas.h"

/* OpenBLAS's own names. Weak: with another BLAS, which then must be sequential, they are absent. */
extern int openblas_get_num_threads(void) __attribute__((weak));
extern void openblas_set_num_threads(int threads) __attribute__((weak));

void mn_blas_one_thread(void)
{
  if (openblas_get_num_threads && openblas_set_num_threads && openblas_get_num_threads() != 1)
    openblas_set_num_threads(1);
}
