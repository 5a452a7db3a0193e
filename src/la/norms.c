/* Each sum is kept in LANES parts, entry i in part i % LANES, which the compiler adds side by side:
   a single sum has to wait for itself at every entry. The order is the same on every machine.
   Verified by tests/unit/la/test_norms.c. */
#include "la/norms.h"

#include "math/vec.h"

enum { LANES = 8 };

static double sum_of(const double *part)
{
  double sum = 0;
  for (int l = 0; l < LANES; l++)
    sum += part[l];
  return sum;
}

double mn_norm_max(size_t n, const double *a, const double *b)
{
  double part[LANES] = {0}, most = 0;
  size_t whole = n - n % LANES;
  for (size_t i = 0; i < whole; i += LANES)
    for (size_t l = 0; l < LANES; l++)
      part[l] = mn_max(part[l], fabs(a[i + l] - b[i + l]));
  for (size_t i = whole; i < n; i++)
    most = mn_max(most, fabs(a[i] - b[i]));
  for (int l = 0; l < LANES; l++)
    most = mn_max(most, part[l]);
  return most;
}

double mn_norm_square(size_t n, const double *a)
{
  double part[LANES] = {0};
  size_t whole = n - n % LANES;
  for (size_t i = 0; i < whole; i += LANES)
    for (size_t l = 0; l < LANES; l++)
      part[l] += a[i + l] * a[i + l];
  for (size_t i = whole; i < n; i++)
    part[i - whole] += a[i] * a[i];
  return sum_of(part);
}

double mn_norm_square_gap(size_t n, const double *a, const double *b)
{
  double part[LANES] = {0};
  size_t whole = n - n % LANES;
  for (size_t i = 0; i < whole; i += LANES)
    for (size_t l = 0; l < LANES; l++)
      part[l] += (a[i + l] - b[i + l]) * (a[i + l] - b[i + l]);
  for (size_t i = whole; i < n; i++)
    part[i - whole] += (a[i] - b[i]) * (a[i] - b[i]);
  return sum_of(part);
}

double mn_norm_dot_gap(size_t n, const double *e, const double *a, const double *b)
{
  double part[LANES] = {0};
  size_t whole = n - n % LANES;
  for (size_t i = 0; i < whole; i += LANES)
    for (size_t l = 0; l < LANES; l++)
      part[l] += e[i + l] * (a[i + l] - b[i + l]);
  for (size_t i = whole; i < n; i++)
    part[i - whole] += e[i] * (a[i] - b[i]);
  return sum_of(part);
}
