/* BLAS on one thread: its own threading splits sums by the number of threads and so changes bits;
   parallelism belongs to the library's loops. */
#ifndef MN_LA_BLAS_H
#define MN_LA_BLAS_H

/* Called by every adapter before it calls LAPACK or SuiteSparse. OpenBLAS keeps its number of
   threads per process, so this is the one setting of the process that the library changes: from
   the first dense or sparse direct solve on, OpenBLAS runs on one thread, also for the program
   that embeds the library. It is not set back, because another thread may be inside a solve of its
   own. A program that wants a threaded OpenBLAS sets it again before its own calls. */
void mn_blas_one_thread(void);

#endif
