/* Sixty small scenes that a coupling must bear: every one finishes, or stops with a reason.

   Density of the body over the fluid's: 0.001, 0.1, 1, 100, 10,000; stiffness 1e2 to 1e10 (N/m of a
   rigid body's spring, Young's modulus, E A of a rod); rigid, elastic, thin; smoke, water; open,
   closed: 5 x 3 x 2 x 2, the stiffness going round with the number so that each meets all others.

   open, smoke    a body in a jet            open, water    the same body under water
   closed         a piston or a plug across the box, or a balloon, on fluid that has no way out;
                  smoke flows in, water is pressed by the weight */
#ifndef MN_TESTS_SWEEP_CASE_H
#define MN_TESTS_SWEEP_CASE_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "world_case.h"

enum { SWEEP_CASES = 60 };

static const char SWEEP_SCENE[] =
    "local kind, fluid = param('kind', 0, ''), param('fluid', 0, '')\n"
    "local closed = param('closed', 0, '') == 1\n"
    "local ratio, stiff = param('ratio', 1, ''), param('stiff', 1e4, '')\n"
    "local coupling = param('coupling', 'monolithic', '')\n"
    "local water = fluid == 1\n"
    "local rho, g = water and 1000 or 1, water and 9.81 or 0\n"
    "local density = ratio * rho\n"
    "local body, wet, source\n"
    "if kind == 0 then\n"
    "  local shape = closed and box { lo = {-0.25, 0.5}, hi = {1.25, 0.7} }\n"
    "                       or disk { center = {0.5, 0.45}, radius = 0.16 }\n"
    "  body = rigid { name = 'body', shape = shape, density = density, joint = 'slider',\n"
    "                 joint_axis = {0, 1}, spring = stiff }\n"
    "elseif kind == 1 then\n"
    "  local lo, hi = closed and {0, 0.5} or {0.25, 0.4}, closed and {1, 0.75} or {0.75, 0.65}\n"
    "  body = elastic { name = 'body', shape = box { lo = lo, hi = hi }, density = density,\n"
    "                   spacing = 0.125, young = stiff, poisson = 0.3,\n"
    "                   fixed = closed and union { box { lo = {-1, 0}, hi = {0.01, 1} },\n"
    "                                              box { lo = {0.99, 0}, hi = {2, 1} } } or nil }\n"
    "elseif closed then\n"
    "  body = rod { name = 'body', shape = disk { center = {0.5, 0.5}, radius = 0.27 },\n"
    "               spacing = 0.05, density = 0.1 * density, stretch = stiff, bend = 1e-5 * stiff "
    "}\n"
    "else\n"
    "  body = rod { name = 'body', from = {0.2, 0.45}, to = {0.8, 0.45}, spacing = 0.05,\n"
    "               density = 0.1 * density, stretch = stiff, bend = 1e-5 * stiff }\n"
    "end\n"
    "if closed then\n"
    "  wet = kind == 2 and disk { center = {0.5, 0.5}, radius = 0.27 }\n"
    "                  or box { lo = {-1, -1}, hi = {2, 0.5} }\n"
    "  source = kind == 2 and inflow { shape = disk { center = {0.5, 0.5}, radius = 0.1 },\n"
    "                                  speed = 0.1 }\n"
    "           or inflow { shape = box { lo = {0.375, -1}, hi = {0.625, 0.125} },\n"
    "                       velocity = {0, 0.2} }\n"
    "else\n"
    "  wet = box { lo = {-1, -1}, hi = {2, 0.75} }\n"
    "  source = inflow { shape = box { lo = {0.375, -1}, hi = {0.625, 0.125} },\n"
    "                    velocity = {0, 0.5} }\n"
    "end\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {16, 16}, top = 'open' },\n"
    "  fluid    = water and smoke and _ENV.water { gravity = {0, -g}, initial_water = wet }\n"
    "             or smoke { density = 1, gravity = {0, 0} },\n"
    "  sources  = not water and { source } or {},\n"
    "  solids   = { body },\n"
    "  dynamics = dynamics { gravity = {0, -g}, dt = 0.02, check_start = false, contact = false "
    "},\n"
    "  coupling = couple { method = coupling },\n"
    "  probes   = { position { of = 'body', axis = 'y' } },\n"
    "  output   = { frames = 100, every = 0.02 },\n"
    "}\n";

typedef struct sweep_result {
  int finished, steps, retries;
  mn_status status;
  char words[160]; /* the case */
  char reason[512];
  double energy; /* J, kinetic, of both at the end */
} sweep_result;

/* So many frames of 0.02 s. */
static inline sweep_result sweep_run(int number, const char *coupling, int frames)
{
  static const char *const RATIO[] = {"0.001", "0.1", "1", "100", "10000"};
  static const char *const STIFF[] = {"1e2", "1e4", "1e6", "1e8", "1e10"};
  static const char *const KIND[] = {"rigid", "elastic", "thin"};
  int kind = number % 3, fluid = number / 3 % 2, closed = number / 6 % 2, ratio = number / 12;
  int stiff = (number + number / 5 + number / 12) % 5;
  char text[3][4];
  snprintf(text[0], sizeof *text, "%d", kind);
  snprintf(text[1], sizeof *text, "%d", fluid);
  snprintf(text[2], sizeof *text, "%d", closed);
  mn_setting s[] = {{"kind", text[0]},       {"fluid", text[1]},      {"closed", text[2]},
                    {"ratio", RATIO[ratio]}, {"stiff", STIFF[stiff]}, {"coupling", coupling}};
  sweep_result r = {0};
  snprintf(r.words, sizeof r.words, "%2d %-8s %-7s %-5s %-6s ratio %-6s stiff %s", number, coupling,
           KIND[kind], fluid ? "water" : "smoke", closed ? "closed" : "open", RATIO[ratio],
           STIFF[stiff]);
  world_case c;
  world_open(&c, SWEEP_SCENE, s, 6, 1);
  while (mn_world_frame(c.world) < frames && world_step(&c))
    ;
  r.finished = c.status == MN_OK;
  r.status = c.status;
  r.steps = c.steps;
  r.retries = c.retries;
  r.energy = c.info.kinetic_energy + c.info.body_kinetic_energy;
  snprintf(r.reason, sizeof r.reason, "%s", r.finished ? "" : mn_context_message(c.ctx));
  world_close(&c);
  return r;
}

/* All of them: each finishes with numbers, or stops with a reason, which at most `most` do. */
static inline void sweep_all(const char *coupling, int frames, int most)
{
  int stopped = 0;
  for (int i = 0; i < SWEEP_CASES; i++) {
    sweep_result r = sweep_run(i, coupling, frames);
    printf("  %s: %s in %d substeps, %d retries, %.3g J %.300s\n", r.words,
           r.finished ? "done" : "stopped", r.steps, r.retries, r.energy, r.reason);
    CHECK(r.finished || (r.status == MN_FAILED && strlen(r.reason) > 20));
    CHECK(isfinite(r.energy));
    stopped += !r.finished;
  }
  printf("  %s: %d of %d stopped with a reason\n", coupling, stopped, (int)SWEEP_CASES);
  CHECK_LE(stopped, most);
}

#endif
