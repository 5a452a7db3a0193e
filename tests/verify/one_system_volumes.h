/* A scene of closed regions under the couplings by one system beside xpm. */
#ifndef MN_TESTS_ONE_SYSTEM_VOLUMES_H
#define MN_TESTS_ONE_SYSTEM_VOLUMES_H

#include "closed_run.h"
#include "world_case.h"

typedef struct volume_case {
  const char *scene;
  double until; /* s */
  double off;   /* allowed, of what flowed in, or of the volume where nothing does */
  double dt;    /* s: all couplings take these substeps; 0: their own */
  const char *settings[6];
} volume_case;

typedef struct volume_result {
  double off;   /* greatest error of a volume at the end, of what flowed in or of the volume */
  double rough; /* sum of second differences of p0 over that of its values, greatest of regions */
  double p0[MN_REGIONS_MAX], most[MN_REGIONS_MAX]; /* Pa, at the end, and the greatest */
  int regions;
} volume_result;

static inline void volume_run(const char *scene, double until, double dt,
                              const char *const *settings, volume_result *v)
{
  closed_run r;
  double flown[MN_REGIONS_MAX] = {0}, off[MN_REGIONS_MAX] = {0}, last[2][MN_REGIONS_MAX] = {{0}};
  double second[MN_REGIONS_MAX] = {0}, sum[MN_REGIONS_MAX] = {0}, most[MN_REGIONS_MAX] = {0};
  double all = 0;
  int seen[MN_REGIONS_MAX] = {0};
  closed_open(&r, scene, settings);
  *v = (volume_result){0};
  while (mn_world_time(r.world) < until - 1e-9 && r.status == MN_OK) {
    double next = dt > 0 ? dt * floor(mn_world_time(r.world) / dt + 1.5) : until;
    r.status = mn_world_step(r.world, next, &r.info);
    for (int k = 0; k < r.info.closed_regions && r.status == MN_OK; k++) {
      const mn_region_info *g = &r.info.region[k];
      int i = g->id - 1;
      if (i >= MN_REGIONS_MAX)
        continue;
      most[i] = fmax(most[i], fabs(g->p0));
      flown[i] += r.info.dt * fabs(g->inflow);
      off[i] += r.info.dt * g->net_outflow;
      if (seen[i]++ >= 2) {
        second[i] += fabs(g->p0 - 2 * last[0][i] + last[1][i]);
        sum[i] += fabs(g->p0);
      }
      last[1][i] = last[0][i];
      last[0][i] = g->p0;
    }
  }
  CHECK_OK(r.ctx, r.status);
  v->regions = r.info.closed_regions;
  for (int i = 0; i < MN_REGIONS_MAX; i++)
    all = fmax(all, flown[i]);
  for (int k = 0; k < r.info.closed_regions; k++) {
    const mn_region_info *g = &r.info.region[k];
    int i = g->id - 1;
    double of = all > 0 ? all : g->volume;
    v->off = check_worst(v->off, fabs(off[i]) / of);
    v->rough = check_worst(v->rough, sum[i] > 0 ? second[i] / sum[i] : 0);
    v->p0[k] = g->p0;
    v->most[k] = most[i];
  }
  closed_close(&r);
}

static inline void volume_compare(const volume_case *c)
{
  static const char *const METHOD[] = {"coupling=xpm", "coupling=monolithic",
                                       "coupling=simultaneous"};
  volume_result v[3];
  for (int m = 0; m < 3; m++) {
    const char *settings[8] = {METHOD[m]};
    int n = 1;
    for (int k = 0; c->settings[k]; k++)
      settings[n++] = c->settings[k];
    settings[n] = NULL;
    volume_run(c->scene, c->until, c->dt, settings, &v[m]);
    printf("%-16s %-21s %d regions, p0 %.7g, volumes off by %.1e, p0 rough %.2e\n", c->scene,
           METHOD[m], v[m].regions, v[m].p0[0], v[m].off, v[m].rough);
    CHECK_LE(v[m].off,
             m == 2 ? 20 * c->off : c->off); /* one tangent; the next step makes it good */
    CHECK_NEAR(v[m].regions, v[0].regions, 0);
    for (int k = 0; k < v[m].regions; k++)
      CHECK_LE(fabs(v[m].p0[k] - v[0].p0[k]) / v[0].most[k], m == 2 ? 0.1 : 0.01);
    CHECK_LE(v[m].rough, 1.25 * v[0].rough + 1e-6);
  }
}

#endif
