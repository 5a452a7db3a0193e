/* One system for fluid and solid.

   chentanez        [Chentanez 2006]: a jet of smoke against two rubber sheets (scene
                    rubber-sheets). Published: by one system stable at steps of 1/30 s; with time
                    splitting, which asks each side once, unstable at 1/30 s and stable at 1/60 s.
                    The paper gives neither masses nor the jet's speed; the scene's were chosen so
                    that splitting behaves so. A run counts as failed when a substep diverged.
   monolithic-cost  time of the coupling's substeps over that of one pressure solve of the same grid
                    with the sheets held still, with up to 10,000 nodes of sheets. */
#include "bench.h"

#include <math.h>
#include <string.h>

/* ---- chentanez ------------------------------------------------------------------------------- */

typedef struct sheets_result {
  double time, energy; /* s, J: how far it came; greatest kinetic energy of the sheets */
  int retries;
} sheets_result;

static void note_sheets(void *user, const mn_world *world, const mn_step_info *info)
{
  sheets_result *r = user;
  r->time = mn_world_time(world);
  if (!info)
    return;
  r->energy = fmax(r->energy, info->body_kinetic_energy);
  r->retries += info->retries;
}

int app_bench_chentanez(app_bench_run *run)
{
  static const struct {
    const char *row, *coupling, *dt;
    int stable;
  } cases[] = {{"simultaneous, dt = 1/30", "simultaneous", "0.0333333333333", 1},
               {"weak, dt = 1/30", "weak", "0.0333333333333", 0},
               {"weak, dt = 1/60", "weak", "0.0166666666667", 1},
               {"monolithic, dt = 1/30", "monolithic", "0.0333333333333", -1},
               {"xpm, dt = 1/30", "xpm", "0.0333333333333", -1}};
  const char *size = app_get(run->args, "--size");
  double until = run->full ? 2 : 1;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    sheets_result r = {0};
    mn_setting s[] = {
        {"coupling", cases[k].coupling}, {"dt", cases[k].dt}, {"n", size ? size : "16"}};
    app_bench_job job = {.scene = "rubber-sheets",
                         .settings = s,
                         .count = 3,
                         .until = until,
                         .strict = 1,
                         .each = note_sheets,
                         .user = &r};
    int bad = app_bench_scene(run, &job);
    if (bad)
      return bad;
    app_bench_number came = {.measured = job.failed ? INFINITY : until};
    if (cases[k].stable >= 0)
      came.published = cases[k].stable ? until : INFINITY;
    if (cases[k].stable > 0)
      came.bound = APP_AT_MOST, came.reference = until;
    else if (cases[k].stable == 0)
      came.bound = APP_AT_LEAST, came.reference = INFINITY;
    app_bench_compare(run, cases[k].row, "seconds simulated", came);
    app_bench_compare(run, cases[k].row, "  came to", (app_bench_number){r.time, 0, 0, 0});
    app_bench_compare(run, cases[k].row, "  halved substeps",
                      (app_bench_number){r.retries, 0, 0, 0});
    app_bench_compare(run, cases[k].row, "  energy of sheets, J",
                      (app_bench_number){r.energy, 0, 0, 0});
  }
  return 0;
}
