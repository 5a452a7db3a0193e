#include "couple/rmi_model.h"

#include <math.h>

#include "base/status.h"

mn_status mn_rmi_model_create(mn_rmi *rmi, mn_rmi_model **model)
{
  *model = NULL;
  return mn_fail(rmi->ctx, MN_BAD_INPUT, "mn_rmi: the reduced method is being written");
}

void mn_rmi_model_destroy(mn_rmi_model **model)
{
  *model = NULL;
}

double mn_rmi_dt_scale(const mn_rmi *rmi)
{
  double before = rmi->number[MN_RMI_COLUMN_DT];
  return before > 0 && before != rmi->dt ? pow(before / rmi->dt, rmi->def.dt_power) : 1;
}

void mn_rmi_model_add(mn_rmi *rmi, mn_rmi_pairs *pairs, const double *in, const double *in_old,
                      const double *out, const double *out_old)
{
  (void)rmi, (void)pairs, (void)in, (void)in_old, (void)out, (void)out_old;
}

void mn_rmi_model_next_x(mn_rmi *rmi, mn_rmi_report *report)
{
  (void)rmi, (void)report;
}

void mn_rmi_model_loads(mn_rmi *rmi, mn_rmi_report *report)
{
  (void)rmi, (void)report;
}
