/* Batched assembly. A batch of elements is evaluated in parallel into a buffer that fits the cache;
   then every thread goes over the batch and adds what falls to its own rows. Each entry thus gets
   its terms in the order of the elements, for any number of threads, without colouring, atomics or
   a buffer for all elements. Rows fall to threads in strips of 16 nodes, since neighbouring
   elements touch neighbouring rows.

   The pattern has one dense dim x dim block per pair of nodes that share an element; `place` finds
   the block of each pair of each element. Verified by tests/unit/solid/test_assemble.c. */
#include "solid/assemble.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum {
  BATCH_DOUBLES = 1 << 17, /* a megabyte of element matrices */
  STRIP = 16,              /* nodes whose rows fall to one thread */
  SMALL = 1 << 14          /* entries of element matrices below which threads do not pay */
};

/* ---- pattern --------------------------------------------------------------------------------- */

/* Elements around each node: list[start[i] .. start[i + 1]) of one group. */
typedef struct around {
  int64_t *start;
  uint32_t *list;
} around;

static mn_status find_around(mn_context *ctx, const mn_energy_group *g, size_t nodes, around *out)
{
  size_t entries = g->count * (size_t)g->nodes;
  MN_TRY(MN_NEW(ctx, "elements around nodes", nodes + 2, &out->start));
  MN_TRY(MN_NEW(ctx, "elements around nodes", entries, &out->list));
  for (size_t i = 0; i < entries; i++)
    out->start[g->node[i] + 2]++;
  for (size_t i = 2; i < nodes + 2; i++)
    out->start[i] += out->start[i - 1];
  for (size_t i = 0; i < entries; i++)
    out->list[out->start[g->node[i] + 1]++] = (uint32_t)(i / (size_t)g->nodes);
  return MN_OK;
}

static void sort_columns(int64_t *col, int64_t n)
{
  for (int64_t i = 1; i < n; i++) { /* few per row */
    int64_t c = col[i], j = i;
    for (; j > 0 && col[j - 1] > c; j--)
      col[j] = col[j - 1];
    col[j] = c;
  }
}

/* Nodes that share an element with node i, itself included, each once. `seen` marks by i + 1. */
static int64_t neighbours(const mn_assembly *as, const around *ar, size_t i, uint32_t *seen,
                          int64_t *out)
{
  int64_t count = 0;
  seen[i] = (uint32_t)i + 1;
  if (out)
    out[count] = (int64_t)i;
  count++;
  for (int g = 0; g < as->groups; g++) {
    const mn_energy_group *group = as->group + g;
    for (int64_t k = ar[g].start[i]; k < ar[g].start[i + 1]; k++)
      for (int b = 0; b < group->nodes; b++) {
        uint32_t n = group->node[(size_t)ar[g].list[k] * (size_t)group->nodes + (size_t)b];
        if (seen[n] == (uint32_t)i + 1)
          continue;
        seen[n] = (uint32_t)i + 1;
        if (out)
          out[count] = n;
        count++;
      }
  }
  return count;
}

static mn_status make_blocks(mn_context *ctx, mn_assembly *as, const around *ar, uint32_t *seen)
{
  for (size_t i = 0; i < as->nodes; i++)
    as->row[i + 1] = as->row[i] + neighbours(as, ar, i, seen, NULL);
  MN_TRY(MN_NEW(ctx, "the blocks of a matrix", (size_t)as->row[as->nodes], &as->block));
  memset(seen, 0, as->nodes * sizeof *seen);
  for (size_t i = 0; i < as->nodes; i++) {
    int64_t *col = as->block + as->row[i];
    sort_columns(col, neighbours(as, ar, i, seen, col));
  }
  return MN_OK;
}

static mn_status make_pattern(mn_context *ctx, mn_assembly *as)
{
  size_t dim = (size_t)as->dim, rows = as->nodes * dim;
  size_t entries = (size_t)as->row[as->nodes] * dim * dim;
  mn_csr *a = &as->pattern;
  a->rows = a->cols = (int64_t)rows;
  MN_TRY(MN_NEW(ctx, "the solid's matrix", rows + 1, &a->start));
  MN_TRY(MN_NEW(ctx, "the solid's matrix", entries, &a->col));
  MN_TRY(MN_NEW(ctx, "the solid's matrix", entries, &a->value));
  int64_t e = 0;
  for (size_t i = 0; i < as->nodes; i++)
    for (size_t d = 0; d < dim; d++) {
      a->start[i * dim + d] = e;
      for (int64_t k = as->row[i]; k < as->row[i + 1]; k++)
        for (size_t c = 0; c < dim; c++)
          a->col[e++] = as->block[k] * (int64_t)dim + (int64_t)c;
    }
  a->start[rows] = e;
  return MN_OK;
}

static uint32_t find_block(const mn_assembly *as, size_t row, int64_t col)
{
  int64_t low = as->row[row], high = as->row[row + 1];
  while (high - low > 1) {
    int64_t middle = (low + high) / 2;
    if (as->block[middle] <= col)
      low = middle;
    else
      high = middle;
  }
  return (uint32_t)(low - as->row[row]);
}

static mn_status make_places(mn_context *ctx, mn_assembly *as)
{
  for (int g = 0; g < as->groups; g++) {
    const mn_energy_group *group = as->group + g;
    size_t n = (size_t)group->nodes;
    MN_TRY(MN_NEW(ctx, "places of elements", group->count * n * n, &as->place[g]));
    for (size_t e = 0; e < group->count; e++)
      for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
          as->place[g][(e * n + a) * n + b] =
              find_block(as, group->node[e * n + a], group->node[e * n + b]);
  }
  return MN_OK;
}

static size_t batch_size(const mn_energy_group *g)
{
  return BATCH_DOUBLES / (size_t)(g->nodes * g->dim * g->nodes * g->dim);
}

static mn_status make_batch(mn_context *ctx, mn_assembly *as)
{
  size_t most = 1, gradient = 1;
  for (int g = 0; g < as->groups; g++) {
    size_t batch = batch_size(as->group + g), n = (size_t)(as->group[g].nodes * as->dim);
    most = batch > most ? batch : most;
    gradient = batch * n > gradient ? batch * n : gradient;
  }
  MN_TRY(MN_NEW(ctx, "a batch of elements", most, &as->energy));
  MN_TRY(MN_NEW(ctx, "a batch of elements", most, &as->fine));
  MN_TRY(MN_NEW(ctx, "a batch of elements", gradient, &as->gradient));
  size_t rest = MN_ENERGY_LANES * MN_ENERGY_DOF_MAX * MN_ENERGY_DOF_MAX; /* of the last eight */
  return MN_NEW(ctx, "a batch of elements", BATCH_DOUBLES + rest, &as->matrix);
}

static mn_status create_with(mn_context *ctx, mn_assembly *as, around *ar, uint32_t **seen)
{
  MN_TRY(MN_NEW(ctx, "rows of blocks", as->nodes + 1, &as->row));
  MN_TRY(MN_NEW(ctx, "places of elements", (size_t)as->groups + 1, &as->place));
  MN_TRY(MN_NEW(ctx, "marks of nodes", as->nodes, seen));
  for (int g = 0; g < as->groups; g++)
    MN_TRY(find_around(ctx, as->group + g, as->nodes, ar + g));
  MN_TRY(make_blocks(ctx, as, ar, *seen));
  MN_TRY(make_pattern(ctx, as));
  MN_TRY(make_places(ctx, as));
  return make_batch(ctx, as);
}

mn_status mn_assembly_create(mn_context *ctx, const mn_exec *exec, int dim, size_t nodes,
                             const mn_energy_group *group, int groups, mn_assembly *as)
{
  around *ar = NULL;
  uint32_t *seen = NULL;
  *as = (mn_assembly){.exec = exec, .dim = dim, .groups = groups, .nodes = nodes, .group = group};
  MN_TRY(MN_NEW(ctx, "elements around nodes", (size_t)groups + 1, &ar));
  mn_status status = create_with(ctx, as, ar, &seen);
  for (int g = 0; g < groups; g++) {
    mn_free(ar[g].start);
    mn_free(ar[g].list);
  }
  mn_free(ar);
  mn_free(seen);
  if (status != MN_OK)
    mn_assembly_destroy(as);
  return status;
}

void mn_assembly_destroy(mn_assembly *as)
{
  for (int g = 0; as->place && g < as->groups; g++)
    mn_free(as->place[g]);
  mn_free(as->place);
  mn_free(as->row);
  mn_free(as->block);
  mn_free(as->energy);
  mn_free(as->gradient);
  mn_free(as->matrix);
  mn_free(as->fine);
  mn_csr_destroy(&as->pattern);
  *as = (mn_assembly){0};
}

int mn_assembly_shares(const mn_assembly *as, size_t node, size_t other)
{
  return as->block[as->row[node] + find_block(as, node, (int64_t)other)] == (int64_t)other;
}

int64_t mn_assembly_entry(const mn_assembly *as, size_t node, int i, size_t other, int j)
{
  uint32_t block = find_block(as, node, (int64_t)other);
  return as->pattern.start[node * (size_t)as->dim + (size_t)i] + (int64_t)block * as->dim + j;
}

int64_t mn_assembly_diagonal(const mn_assembly *as, size_t node, int i)
{
  return mn_assembly_entry(as, node, i, node, i);
}

/* ---- batches --------------------------------------------------------------------------------- */

typedef enum wanted { ENERGY, GRADIENT, HESSIAN, HESSIAN_PSD, DAMPING } wanted;

static int threads_for(const mn_assembly *as, const mn_energy_group *g, size_t count)
{
  size_t n = (size_t)(g->nodes * g->dim);
  return count * n * n < SMALL ? 1 : as->exec->threads;
}

static void eval_one(mn_assembly *as, int g, size_t first, size_t k, const mn_vec3 *x,
                     const mn_vec3 *end, wanted what)
{
  const mn_energy_group *group = as->group + g;
  size_t nodes = (size_t)group->nodes, n = nodes * (size_t)as->dim;
  mn_vec3 local[MN_ENERGY_NODES_MAX], other[MN_ENERGY_NODES_MAX];
  for (size_t a = 0; a < nodes; a++)
    local[a] = x[group->node[(first + k) * nodes + a]];
  for (size_t a = 0; end && a < nodes; a++)
    other[a] = end[group->node[(first + k) * nodes + a]];
  if (end)
    mn_energy_middle(group, local, other, local);
  as->energy[k] = 0;
  if (what == DAMPING) {
    group->ops->damping(group, first + k, local, as->matrix + k * n * n);
    return;
  }
  as->fine[k] =
      (uint8_t)group->ops->eval(group, first + k, local, what == HESSIAN_PSD, &as->energy[k],
                                what == GRADIENT ? as->gradient + k * n : NULL,
                                what >= HESSIAN ? as->matrix + k * n * n : NULL);
}

/* Whether elements are done eight at once. */
static int by_eights(const mn_energy_group *group, const mn_vec3 *end, wanted what)
{
  return group->eval_eight && !end && what <= HESSIAN;
}

/* Elements first + k to first + k + count of a batch at once. */
static void eval_eight(mn_assembly *as, int g, size_t first, size_t k, size_t count,
                       const mn_vec3 *x, wanted what)
{
  const mn_energy_group *group = as->group + g;
  size_t n = (size_t)(group->nodes * as->dim);
  group->eval_eight(group, first + k, count, x, what < HESSIAN ? as->energy + k : NULL,
                    what == GRADIENT ? as->gradient + k * n : NULL,
                    what == HESSIAN ? as->matrix + k * n * n : NULL, as->fine + k);
}

/* At x, or at the middles of the step from x to `end`. */
static void eval_batch(mn_assembly *as, int g, size_t first, size_t count, const mn_vec3 *x,
                       const mn_vec3 *end, wanted what)
{
  int threads = threads_for(as, as->group + g, count);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (size_t k = 0; k < count; k += MN_ENERGY_LANES) {
    size_t left = count - k, some = left < MN_ENERGY_LANES ? left : MN_ENERGY_LANES;
    if (by_eights(as->group + g, end, what))
      eval_eight(as, g, first, k, some, x, what);
    for (size_t i = k; i < k + some && !by_eights(as->group + g, end, what); i++)
      eval_one(as, g, first, i, x, end, what);
  }
}

static void eval_mean_batch(mn_assembly *as, int g, size_t first, size_t count, const mn_vec3 *x0,
                            const mn_vec3 *x1)
{
  const mn_energy_group *group = as->group + g;
  size_t nodes = (size_t)group->nodes, n = nodes * (size_t)as->dim;
  int threads = threads_for(as, group, count);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (size_t k = 0; k < count; k++) {
    mn_vec3 local[2][MN_ENERGY_NODES_MAX];
    for (size_t a = 0; a < nodes; a++) {
      local[0][a] = x0[group->node[(first + k) * nodes + a]];
      local[1][a] = x1[group->node[(first + k) * nodes + a]];
    }
    as->fine[k] = (uint8_t)mn_energy_mean_gradient(group, first + k, local[0], local[1],
                                                   as->gradient + k * n);
  }
}

static int owner(uint32_t node, int threads)
{
  return (int)(node / STRIP % (uint32_t)threads);
}

static void scatter_gradient(mn_assembly *as, int g, size_t first, size_t count, double *gradient)
{
  const mn_energy_group *group = as->group + g;
  size_t nodes = (size_t)group->nodes, dim = (size_t)as->dim;
  int threads = threads_for(as, group, count);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int t = 0; t < threads; t++)
    for (size_t i = 0; i < count * nodes; i++) {
      uint32_t node = group->node[first * nodes + i];
      if (owner(node, threads) != t)
        continue;
      for (size_t d = 0; d < dim; d++)
        gradient[node * dim + d] += as->gradient[i * dim + d];
    }
}

/* Row a of an element's matrix: value += scale times it. */
static inline void scatter_row(const mn_assembly *as, size_t dim, size_t nodes, uint32_t node,
                               const uint32_t *place, const double *m, double scale, double *value)
{
  size_t n = nodes * dim;
  for (size_t i = 0; i < dim; i++) {
    double *row = value + as->pattern.start[node * dim + i];
    for (size_t b = 0; b < nodes; b++)
      for (size_t j = 0; j < dim; j++)
        row[place[b] * dim + j] += scale * m[i * n + b * dim + j];
  }
}

/* Row a of an element's matrix that was made with seven others: see energy.h. */
static inline void scatter_lane(const mn_assembly *as, size_t nodes, size_t a, uint32_t node,
                                const uint32_t *place, const double *m, double scale, double *value)
{
  size_t n = 3 * nodes;
  for (size_t i = 0; i < 3; i++) {
    double *row = value + as->pattern.start[node * 3 + i];
    for (size_t b = 0; b < nodes; b++)
      for (size_t j = 0; j < 3; j++) {
        size_t r = 3 * a + i, c = 3 * b + j, at = r < c ? c * n + r : r * n + c;
        row[place[b] * 3 + j] += scale * m[at * MN_ENERGY_LANES];
      }
  }
}

static void scatter_lanes(mn_assembly *as, int g, size_t first, size_t count, double scale,
                          double *value)
{
  const mn_energy_group *group = as->group + g;
  size_t nodes = (size_t)group->nodes, n = nodes * 3;
  int threads = threads_for(as, group, count);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int t = 0; t < threads; t++)
    for (size_t k = 0; k < count; k++) {
      const double *m = as->matrix + k / MN_ENERGY_LANES * MN_ENERGY_LANES * n * n;
      for (size_t a = 0; a < nodes; a++) {
        uint32_t node = group->node[(first + k) * nodes + a];
        if (owner(node, threads) != t)
          continue;
        const uint32_t *place = as->place[g] + ((first + k) * nodes + a) * nodes;
        if (nodes == 4)
          scatter_lane(as, 4, a, node, place, m + k % MN_ENERGY_LANES, scale, value);
        else
          scatter_lane(as, nodes, a, node, place, m + k % MN_ENERGY_LANES, scale, value);
      }
    }
}

static void scatter_matrix(mn_assembly *as, int g, size_t first, size_t count, double scale,
                           double *value)
{
  const mn_energy_group *group = as->group + g;
  size_t nodes = (size_t)group->nodes, dim = (size_t)as->dim, n = nodes * dim;
  int threads = threads_for(as, group, count);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int t = 0; t < threads; t++)
    for (size_t k = 0; k < count; k++)
      for (size_t a = 0; a < nodes; a++) {
        uint32_t node = group->node[(first + k) * nodes + a];
        if (owner(node, threads) != t)
          continue;
        const uint32_t *place = as->place[g] + ((first + k) * nodes + a) * nodes;
        const double *m = as->matrix + k * n * n + a * dim * n;
        if (dim == 3)
          scatter_row(as, 3, nodes, node, place, m, scale, value);
        else
          scatter_row(as, 2, nodes, node, place, m, scale, value);
      }
}

/* 0 if an element of the batch is inverted. */
static int batch_fine(const mn_assembly *as, int g, size_t first, size_t count, mn_inverted *bad)
{
  for (size_t k = 0; k < count; k++)
    if (!as->fine[k]) {
      *bad = (mn_inverted){g, first + k};
      return 0;
    }
  return 1;
}

int mn_assembly_energy(mn_assembly *as, const mn_vec3 *x, int body, double *energy,
                       double *gradient, mn_inverted *inverted)
{
  *energy = 0;
  if (gradient)
    memset(gradient, 0, as->nodes * (size_t)as->dim * sizeof *gradient);
  for (int g = 0; g < as->groups; g++) {
    const mn_energy_group *group = as->group + g;
    size_t batch = batch_size(group);
    if (body >= 0 && group->body != body)
      continue;
    for (size_t first = 0; first < group->count; first += batch) {
      size_t left = group->count - first, count = left < batch ? left : batch;
      eval_batch(as, g, first, count, x, NULL, gradient ? GRADIENT : ENERGY);
      if (!batch_fine(as, g, first, count, inverted))
        return 0;
      double sum = 0;
      for (size_t k = 0; k < count; k++)
        sum += as->energy[k];
      *energy += sum;
      if (gradient)
        scatter_gradient(as, g, first, count, gradient);
    }
  }
  return 1;
}

int mn_assembly_mean_gradient(mn_assembly *as, const mn_vec3 *x0, const mn_vec3 *x1,
                              double *gradient, mn_inverted *inverted)
{
  memset(gradient, 0, as->nodes * (size_t)as->dim * sizeof *gradient);
  for (int g = 0; g < as->groups; g++) {
    size_t all = as->group[g].count, batch = batch_size(as->group + g);
    for (size_t first = 0; first < all; first += batch) {
      size_t count = all - first < batch ? all - first : batch;
      eval_mean_batch(as, g, first, count, x0, x1);
      if (!batch_fine(as, g, first, count, inverted))
        return 0;
      scatter_gradient(as, g, first, count, gradient);
    }
  }
  return 1;
}

static int add_hessians(mn_assembly *as, const mn_vec3 *x, const mn_vec3 *end, int psd,
                        int weigh_beta, double *value, mn_inverted *inverted)
{
  for (int g = 0; g < as->groups; g++) {
    const mn_energy_group *group = as->group + g;
    size_t batch = batch_size(group);
    double scale = weigh_beta ? group->beta : 1;
    if (scale == 0)
      continue;
    for (size_t first = 0; first < group->count; first += batch) {
      size_t left = group->count - first, count = left < batch ? left : batch;
      wanted what = psd ? HESSIAN_PSD : HESSIAN;
      eval_batch(as, g, first, count, x, end, what);
      if (!batch_fine(as, g, first, count, inverted))
        return 0;
      if (by_eights(group, end, what))
        scatter_lanes(as, g, first, count, scale, value);
      else
        scatter_matrix(as, g, first, count, scale, value);
    }
  }
  return 1;
}

int mn_assembly_hessian(mn_assembly *as, const mn_vec3 *x, int psd, int weigh_beta, double *value,
                        mn_inverted *inverted)
{
  return add_hessians(as, x, NULL, psd, weigh_beta, value, inverted);
}

int mn_assembly_mean_hessian(mn_assembly *as, const mn_vec3 *x0, const mn_vec3 *x1, int psd,
                             double *value, mn_inverted *inverted)
{
  return add_hessians(as, x0, x1, psd, 0, value, inverted);
}

void mn_assembly_damping(mn_assembly *as, const mn_vec3 *x, double *value)
{
  for (int g = 0; g < as->groups; g++) {
    const mn_energy_group *group = as->group + g;
    size_t batch = batch_size(group);
    if (!group->ops->damping)
      continue;
    for (size_t first = 0; first < group->count; first += batch) {
      size_t left = group->count - first, count = left < batch ? left : batch;
      eval_batch(as, g, first, count, x, NULL, DAMPING);
      scatter_matrix(as, g, first, count, 1, value);
    }
  }
}
