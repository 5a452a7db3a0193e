#include "base/exec.h"

double mn_reduce(const mn_exec *exec, mn_reduction op, const double *slab, int count)
{
  (void)exec; /* a reduction over ranks follows here once there are several */
  double r = count > 0 ? slab[0] : 0;
  for (int i = 1; i < count; i++)
    r = op == MN_SUM   ? r + slab[i]
        : op == MN_MAX ? (slab[i] > r ? slab[i] : r)
                       : (slab[i] < r ? slab[i] : r);
  return r;
}
