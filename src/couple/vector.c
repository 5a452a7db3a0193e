#include "couple/vector.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/quat.h"
#include "math/svd.h"

/* ---- which number is what -------------------------------------------------------------------- */

/* The points of each rigid body side by side. */
static mn_status list_points(mn_context *ctx, const mn_interface *f, mn_vector_map *map)
{
  MN_TRY(MN_NEW(ctx, "points of rigid bodies", f->count, &map->list));
  for (int b = 1; b < map->bodies; b++)
    map->body[b].begin = map->body[b - 1].begin + map->body[b - 1].points;
  for (int b = 0; b < map->bodies; b++)
    map->body[b].points = 0; /* counted up again */
  for (size_t i = 0; i < f->count; i++)
    if (map->rigid[i]) {
      mn_vector_body *body = &map->body[map->first[i]];
      map->list[body->begin + body->points++] = i;
    }
  return MN_OK;
}

static mn_status make(mn_context *ctx, const mn_interface *f, int freedoms, mn_vector_map *map)
{
  int greatest = -1;
  MN_TRY(MN_NEW(ctx, "places in the coupling's vector", f->count, &map->first));
  MN_TRY(MN_NEW(ctx, "kinds in the coupling's vector", f->count, &map->rigid));
  for (size_t i = 0; i < f->count; i++)
    if (freedoms && f->rigid[i] && f->body[i] > greatest)
      greatest = f->body[i];
  size_t numbers = (size_t)(greatest + 1), per_body = map->dim == 2 ? 3 : 6;
  size_t *number = NULL; /* of a body among the rigid ones, plus 1 */
  MN_TRY(MN_NEW(ctx, "numbers of rigid bodies", numbers + 1, &number));
  mn_status status = MN_NEW(ctx, "rigid bodies of a coupling", numbers + 1, &map->body);
  for (size_t i = 0; i < f->count && status == MN_OK; i++) {
    map->rigid[i] = freedoms && f->rigid[i] && f->body[i] >= 0;
    if (!map->rigid[i]) {
      map->first[i] = map->size;
      map->size += (size_t)map->dim;
      continue;
    }
    size_t *n = &number[f->body[i]];
    if (!*n) {
      map->body[map->bodies].first = map->size;
      map->size += per_body;
      *n = (size_t)++map->bodies;
    }
    map->first[i] = *n - 1;
    map->body[*n - 1].points++;
  }
  mn_free(number);
  MN_TRY(status);
  return list_points(ctx, f, map);
}

mn_status mn_vector_map_create(mn_context *ctx, const mn_interface *interface, int freedoms,
                               mn_vector_map *map)
{
  *map = (mn_vector_map){.dim = interface->dim, .count = interface->count};
  mn_status status = make(ctx, interface, freedoms, map);
  if (status != MN_OK)
    mn_vector_map_destroy(map);
  return status;
}

void mn_vector_map_destroy(mn_vector_map *map)
{
  mn_free(map->first);
  mn_free(map->rigid);
  mn_free(map->list);
  mn_free(map->body);
  memset(map, 0, sizeof *map);
}

/* ---- centres --------------------------------------------------------------------------------- */

static mn_vec3 mean_of(const mn_vector_map *m, int b, const mn_vec3 *X)
{
  const mn_vector_body *body = &m->body[b];
  mn_vec3 sum = mn_v3(0, 0, 0);
  for (size_t k = 0; k < body->points; k++)
    sum = mn_add(sum, X[m->list[body->begin + k]]);
  return mn_scale(1 / (double)body->points, sum);
}

void mn_vector_map_start(mn_vector_map *m, const mn_vec3 *start)
{
  m->start = start;
  for (int b = 0; b < m->bodies; b++) {
    mn_vector_body *body = &m->body[b];
    body->center = mean_of(m, b, start);
    body->radius = 0;
    for (size_t k = 0; k < body->points; k++) {
      mn_vec3 arm = mn_sub(start[m->list[body->begin + k]], body->center);
      body->radius += mn_length(arm) / (double)body->points;
    }
  }
}

/* ---- there and back -------------------------------------------------------------------------- */

static mn_quat quat_of(mn_mat3 r)
{
  double trace = r.m[0][0] + r.m[1][1] + r.m[2][2];
  mn_quat q = {1 + trace, r.m[2][1] - r.m[1][2], r.m[0][2] - r.m[2][0], r.m[1][0] - r.m[0][1]};
  return mn_quat_unit(q); /* exact but for turns by nearly pi, which no substep makes */
}

/* The rotation vector that turns the body's points at the start best into X: of sum b a^T the
   nearest rotation. */
static mn_vec3 turn_of(const mn_vector_map *m, int b, mn_vec3 center, const mn_vec3 *X)
{
  const mn_vector_body *body = &m->body[b];
  mn_mat3 sum = {{{0}}}, R, S;
  for (size_t k = 0; k < body->points; k++) {
    size_t i = m->list[body->begin + k];
    mn_vec3 from = mn_sub(m->start[i], body->center), to = mn_sub(X[i], center);
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++)
        sum.m[r][c] += to.v[r] * from.v[c];
  }
  if (m->dim == 2)
    return mn_v3(0, 0, atan2(sum.m[1][0] - sum.m[0][1], sum.m[0][0] + sum.m[1][1]));
  mn_polar(&sum, &R, &S);
  return mn_quat_log(quat_of(R));
}

/* The numbers of x are those of X in their order. */
static int is_plain(const mn_vector_map *m)
{
  return m->dim == 3 && !m->bodies;
}

void mn_vector_map_pack(const mn_vector_map *m, const mn_vec3 *X, double *x)
{
  for (size_t i = 0; i < m->count && is_plain(m); i++)
    for (size_t a = 0; a < 3; a++)
      x[3 * i + a] = X[i].v[a] - m->start[i].v[a];
  for (size_t i = 0; i < m->count && !is_plain(m); i++)
    for (int a = 0; a < m->dim && !m->rigid[i]; a++)
      x[m->first[i] + (size_t)a] = X[i].v[a] - m->start[i].v[a];
  for (int b = 0; b < m->bodies; b++) {
    double *at = x + m->body[b].first;
    mn_vec3 center = mean_of(m, b, X), turn = turn_of(m, b, center, X);
    for (int a = 0; a < m->dim; a++)
      at[a] = center.v[a] - m->body[b].center.v[a];
    for (int a = m->dim == 2 ? 2 : 0, k = m->dim; a < 3; a++, k++)
      at[k] = m->body[b].radius * turn.v[a];
  }
}

void mn_vector_map_unpack(const mn_vector_map *m, const double *x, mn_vec3 *X)
{
  for (size_t i = 0; i < m->count && is_plain(m); i++)
    for (size_t a = 0; a < 3; a++)
      X[i].v[a] = m->start[i].v[a] + x[3 * i + a];
  for (size_t i = 0; i < m->count && !is_plain(m); i++) {
    if (m->rigid[i])
      continue;
    X[i] = m->start[i];
    for (int a = 0; a < m->dim; a++)
      X[i].v[a] += x[m->first[i] + (size_t)a];
  }
  for (int b = 0; b < m->bodies; b++) {
    const mn_vector_body *body = &m->body[b];
    const double *at = x + body->first;
    mn_vec3 move = mn_v3(0, 0, 0), turn = move;
    double scale = body->radius > 0 ? 1 / body->radius : 0;
    for (int a = 0; a < m->dim; a++)
      move.v[a] = at[a];
    for (int a = m->dim == 2 ? 2 : 0, k = m->dim; a < 3; a++, k++)
      turn.v[a] = scale * at[k];
    mn_quat q = mn_quat_exp(turn);
    mn_vec3 center = mn_add(body->center, move);
    for (size_t k = 0; k < body->points; k++) {
      size_t i = m->list[body->begin + k];
      X[i] = mn_add(center, mn_quat_rotate(q, mn_sub(m->start[i], body->center)));
    }
  }
}
