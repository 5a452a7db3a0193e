/* Lengths of long vectors and of their differences. */
#ifndef MN_LA_NORMS_H
#define MN_LA_NORMS_H

#include <stddef.h>

/* The greatest |a - b|; infinite where one is. */
double mn_norm_max(size_t n, const double *a, const double *b);
/* The sum of a^2. */
double mn_norm_square(size_t n, const double *a);
/* The sum of (a - b)^2. */
double mn_norm_square_gap(size_t n, const double *a, const double *b);
/* The sum of e times (a - b). */
double mn_norm_dot_gap(size_t n, const double *e, const double *a, const double *b);

#endif
