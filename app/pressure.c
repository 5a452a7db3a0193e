#include "app.h"

#include <string.h>

static const app_option options[] = {
    {"--problem", "NAME", "mms-disk or half-sphere (default)"},
    {"--variant", "g|s", "half-sphere: gravity (default), or with a swirl added"},
    {"--n", "N", "cells along a side (default 64)"},
    {"--solver", "NAME",
     "linear: mgpcg (default), pcg; walls that liquid can leave: fast, fas, pi-pcg, pi-mg, pe-pcg, "
     "pe-mg, fmg, newton, pgs, mprgp; ablations: fas-trilinear, fas-constant, fas-plain-walls, "
     "fas-direct"},
    {"--iterations", "N", "at most this many, of the LCP solvers (default 10000)"},
    {"--tolerance", "X", "infinity norm of the residual (default 1e-6)"},
    {"--repeat", "N", "solves, of which the fastest is told (default 1)"},
    {"--threads", "N", "threads (default: all cores)"},
    {"--json", NULL, "one JSON object"},
    {0},
};

/* Number of the given word in the list (closed by NULL), 0 if the option is absent, -1 told. */
static int choose(const app_args *args, const char *name, const char *const *list)
{
  const char *word = app_get(args, name);
  if (!word)
    return 0;
  char allowed[256] = "";
  for (int i = 0; list[i]; i++) {
    if (!strcmp(word, list[i]))
      return i;
    snprintf(allowed + strlen(allowed), sizeof allowed - strlen(allowed), "%s%s", i ? ", " : "",
             list[i]);
  }
  app_error(MN_BAD_INPUT, "pressure: %s is \"%s\": must be one of %s", name, word, allowed);
  return -1;
}

static void print_object(const char *problem, const char *solver, double tolerance,
                         const mn_pressure_result *r, int errors, int lcp)
{
  cJSON *o = cJSON_CreateObject();
  cJSON_AddStringToObject(o, "problem", problem);
  cJSON_AddNumberToObject(o, "n", r->n);
  cJSON_AddNumberToObject(o, "unknowns", (double)r->unknowns);
  cJSON_AddStringToObject(o, "solver", solver);
  cJSON_AddNumberToObject(o, "threads", r->threads);
  cJSON_AddNumberToObject(o, "iterations", r->iterations);
  cJSON_AddNumberToObject(o, "outer", lcp ? r->outer : 1); /* linear: one system */
  cJSON_AddNumberToObject(o, "setup_s", r->setup_s);
  cJSON_AddNumberToObject(o, "solve_s", r->solve_s);
  cJSON_AddNumberToObject(o, "tolerance", tolerance);
  cJSON_AddNumberToObject(o, "residual", r->residual);
  if (lcp)
    cJSON_AddNumberToObject(o, "complementarity", r->complementarity);
  else
    cJSON_AddNullToObject(o, "complementarity");
  cJSON_AddNumberToObject(o, "wu_s", r->wu_s);
  cJSON_AddNumberToObject(o, "wu", r->wu_s > 0 ? (r->setup_s + r->solve_s) / r->wu_s : 0);
  cJSON_AddNumberToObject(o, "peak_mb", r->peak_mb);
  cJSON_AddStringToObject(o, "reason", mn_reason_text(r->reason));
  if (errors) {
    cJSON_AddNumberToObject(o, "p_l1", r->p_l1);
    cJSON_AddNumberToObject(o, "p_linf", r->p_linf);
    cJSON_AddNumberToObject(o, "grad_l1", r->grad_l1);
    cJSON_AddNumberToObject(o, "grad_linf", r->grad_linf);
  }
  app_print_json(o);
}

static void print_text(const char *problem, const char *solver, const mn_pressure_result *r,
                       int errors, int lcp)
{
  double total = r->setup_s + r->solve_s;
  printf("%s, n = %d: %zu unknowns, %s on %d threads\n", problem, r->n, r->unknowns, solver,
         r->threads);
  printf("  %s after %d iterations, residual %.3g\n", mn_reason_text(r->reason), r->iterations,
         r->residual);
  if (lcp)
    printf("  %d outer iterations, complementarity %.3g\n", r->outer, r->complementarity);
  printf("  setup %.4g s + solve %.4g s = %.4g s = %.1f WU (1 WU: one residual sweep, %.4g s)\n",
         r->setup_s, r->solve_s, total, r->wu_s > 0 ? total / r->wu_s : 0, r->wu_s);
  printf("  memory %.1f MB = %.0f bytes per unknown\n", r->peak_mb,
         r->unknowns ? r->peak_mb * 1048576 / (double)r->unknowns : 0);
  if (errors)
    printf("  errors: p %.3g (L1) %.3g (max), grad p %.3g (L1) %.3g (max)\n", r->p_l1, r->p_linf,
           r->grad_l1, r->grad_linf);
}

static int pressure(app_args *args)
{
  static const char *const problems[] = {"half-sphere", "mms-disk", NULL};
  static const char *const variants[] = {"g", "s", NULL};
  static const char *const solvers[] = {
      "mgpcg",           "pcg",        "fast",   "fas", "pi-pcg", "pi-mg",         "pe-pcg",
      "pe-mg",           "fmg",        "newton", "pgs", "mprgp",  "fas-trilinear", "fas-constant",
      "fas-plain-walls", "fas-direct", NULL};
  int p = choose(args, "--problem", problems), v = choose(args, "--variant", variants),
      s = choose(args, "--solver", solvers), n = 64, repeat = 1, most = 10000;
  double tolerance = 1e-6;
  if (p < 0 || v < 0 || s < 0 || app_get_int(args, "--n", 4, 4096, &n) ||
      app_get_int(args, "--repeat", 1, 1000, &repeat) ||
      app_get_int(args, "--iterations", 1, 1000000000, &most) ||
      app_get_number(args, "--tolerance", &tolerance))
    return MN_BAD_INPUT;
  if (p == 1 && app_get(args, "--variant"))
    return app_error(MN_BAD_INPUT, "pressure: --variant is for half-sphere only");
  mn_context *ctx = NULL;
  int bad = app_context(args, &ctx);
  if (bad)
    return bad;
  mn_problem problem = p   ? MN_PROBLEM_MMS_DISK
                       : v ? MN_PROBLEM_HALF_SPHERE_S
                           : MN_PROBLEM_HALF_SPHERE_G;
  mn_pressure_result r = {0};
  int lcp = s > 1;
  mn_status status =
      lcp ? mn_lcp_problem(ctx, problem, n, solvers[s], tolerance, repeat, most, &r)
          : mn_pressure_problem(ctx, problem, n, s ? MN_PRESSURE_PCG : MN_PRESSURE_MGPCG, tolerance,
                                repeat, &r);
  if (status != MN_OK)
    app_fail(ctx, status);
  else if (app_get(args, "--json"))
    print_object(problems[p], solvers[s], tolerance, &r, p, lcp);
  else
    print_text(problems[p], solvers[s], &r, p, lcp);
  if (status == MN_OK && r.reason != MN_CONVERGED)
    status = (mn_status)app_error(MN_FAILED, "pressure: no solution (%s), residual %.3g",
                                  mn_reason_text(r.reason), r.residual);
  mn_context_destroy(&ctx);
  return (int)status;
}

const app_command app_pressure = {
    "pressure",
    "pressure [--problem mms-disk|half-sphere] [--variant g|s] [--n N] [--solver NAME] "
    "[--iterations N] [--tolerance X] [--repeat N] [--threads N] [--json]",
    "solve one stand-alone pressure problem and measure it",
    "half-sphere: liquid with a wavy surface in the lower half of a sphere, 3D. mms-disk: a known "
    "solution in a\ndisk with walls, 2D, with its errors. A work unit (WU) is one 7-point residual "
    "sweep over as many cells,\ntimed in the same run.",
    0,
    options,
    pressure,
};
