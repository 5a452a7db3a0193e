/* report.html: one self-contained page about a run. */
#ifndef MN_IO_REPORT_H
#define MN_IO_REPORT_H

#include "meniscus/model.h"

/* Reads run.json, steps.csv, probes.csv and preview/ in the run's directory (each may be missing)
   and writes report.html there. */
MN_MUST_CHECK mn_status mn_report_write(mn_context *ctx, const char *directory,
                                        const mn_model_def *def);

/* For other pages: the style, and the unit of a probe of the model ("" if it is none). */
extern const char mn_page_style[];
const char *mn_probe_unit(const mn_model_def *def, const char *name);

#endif
