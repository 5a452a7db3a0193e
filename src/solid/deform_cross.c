/* The part of the implicit matrix that contact adds between nodes without a common element.

   A row of deform_press.c couples all its nodes. Where two of them share an element the block
   exists; for the others, of bodies that touch each other, this file keeps blocks of its own,
   sorted by row and column. The matrix that is factorised is then the sum of both patterns, with a
   factor of its own: each of the two is ordered again only when its own pattern changes. With the
   diagonal blocks alone Newton's method does not converge in 100 steps in any of the tests: the
   penalty is a hundred times stiffer than the bodies, two that touch could hardly move together.

   The blocks follow from the rows at hand alone, so that a resumed run gives the same bits.
   Verified by tests/unit/solid/test_contact_soft.c. */
#include "solid/deform_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

mn_status mn_deform_cross_create(mn_deform *d)
{
  mn_cross_blocks *c = &d->cross;
  MN_TRY(MN_NEW(d->ctx, "the matrix of contact", d->nodes + 1, &c->row));
  MN_TRY(MN_NEW(d->ctx, "the matrix of contact", mn_deform_dofs(d) + 1, &c->sum.start));
  return mn_sparse_create(d->ctx, &c->factor);
}

void mn_deform_cross_destroy(mn_deform *d)
{
  mn_cross_blocks *c = &d->cross;
  mn_free(c->row);
  mn_free(c->pair);
  mn_free(c->value);
  mn_csr_destroy(&c->sum);
  mn_sparse_destroy(&c->factor);
}

static int by_pair(const void *a, const void *b)
{
  const mn_node_pair *p = a, *q = b;
  if (p->row != q->row)
    return p->row < q->row ? -1 : 1;
  return p->col < q->col ? -1 : p->col > q->col;
}

static mn_status add_pair(mn_deform *d, uint32_t row, uint32_t col)
{
  mn_cross_blocks *c = &d->cross;
  if (mn_assembly_shares(&d->assembly, row, col))
    return MN_OK;
  if (c->count == c->capacity) {
    size_t more = 2 * c->capacity + 256, block = (size_t)(d->def.dim * d->def.dim);
    MN_TRY(mn_grow(d->ctx, "the matrix of contact", c->capacity, more, sizeof *c->pair,
                   (void **)&c->pair));
    mn_free(c->value);
    c->value = NULL;
    c->capacity = 0;
    MN_TRY(MN_NEW(d->ctx, "the matrix of contact", more * block, &c->value));
    c->capacity = more;
  }
  c->pair[c->count++] = (mn_node_pair){row, col};
  return MN_OK;
}

static void sort_pairs(mn_deform *d)
{
  mn_cross_blocks *c = &d->cross;
  size_t kept = 0;
  if (c->count)
    qsort(c->pair, c->count, sizeof *c->pair, by_pair);
  for (size_t i = 0; i < c->count; i++)
    if (kept == 0 || by_pair(&c->pair[kept - 1], &c->pair[i]) != 0)
      c->pair[kept++] = c->pair[i];
  c->count = kept;
  memset(c->row, 0, (d->nodes + 1) * sizeof *c->row);
  for (size_t i = 0; i < kept; i++)
    c->row[c->pair[i].row + 1]++;
  for (size_t i = 0; i < d->nodes; i++)
    c->row[i + 1] += c->row[i];
}

mn_status mn_deform_cross_begin(mn_deform *d)
{
  mn_cross_blocks *c = &d->cross;
  c->count = 0;
  for (size_t i = 0; i < d->presses; i++) {
    const mn_press *p = &d->press[i];
    for (int a = 0; p->across && a < p->nodes; a++)
      for (int b = 0; b < p->nodes; b++)
        MN_TRY(add_pair(d, p->node[a], p->node[b]));
  }
  sort_pairs(d);
  if (c->count)
    memset(c->value, 0, c->count * (size_t)(d->def.dim * d->def.dim) * sizeof *c->value);
  return MN_OK;
}

double *mn_deform_cross_block(mn_deform *d, uint32_t row, uint32_t col)
{
  mn_cross_blocks *c = &d->cross;
  size_t low = c->row[row], high = c->row[row + 1];
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (c->pair[middle].col == col)
      return c->value + middle * (size_t)(d->def.dim * d->def.dim);
    if (c->pair[middle].col < col)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

void mn_deform_cross_multiply(const mn_deform *d, const double *x, double *y)
{
  const mn_cross_blocks *c = &d->cross;
  size_t dim = (size_t)d->def.dim;
  for (size_t k = 0; k < c->count; k++)
    for (size_t i = 0; i < dim; i++)
      for (size_t j = 0; j < dim; j++)
        y[c->pair[k].row * dim + i] +=
            c->value[(k * dim + i) * dim + j] * x[c->pair[k].col * dim + j];
}

/* Entries of row i of the sum: those of the constrained matrix and of the blocks, by column. */
static int64_t sum_row(mn_deform *d, size_t i, int64_t e)
{
  mn_cross_blocks *c = &d->cross;
  const mn_csr *a = &d->constrained;
  size_t dim = (size_t)d->def.dim, node = i / dim, k = c->row[node];
  int64_t m = a->start[i];
  while (m < a->start[i + 1] || k < c->row[node + 1]) {
    if (k == c->row[node + 1] ||
        (m < a->start[i + 1] && a->col[m] < (int64_t)(c->pair[k].col * dim))) {
      c->sum.col[e] = a->col[m];
      c->sum.value[e++] = a->value[m++];
      continue;
    }
    for (size_t j = 0; j < dim; j++) {
      size_t col = c->pair[k].col * dim + j;
      int cut = mn_deform_is_fixed(d, i) || mn_deform_is_fixed(d, col);
      c->sum.col[e] = (int64_t)col;
      c->sum.value[e++] = cut ? 0 : c->value[(k * dim + i % dim) * dim + j];
    }
    k++;
  }
  return e;
}

mn_status mn_deform_cross_sum(mn_deform *d)
{
  mn_cross_blocks *c = &d->cross;
  size_t block = (size_t)(d->def.dim * d->def.dim);
  size_t entries = (size_t)mn_csr_entries(&d->constrained) + c->count * block;
  if (entries > c->entries) {
    size_t more = entries + entries / 8;
    mn_free(c->sum.col);
    mn_free(c->sum.value);
    c->sum.col = NULL, c->sum.value = NULL, c->entries = 0;
    MN_TRY(MN_NEW(d->ctx, "the matrix of contact", more, &c->sum.col));
    MN_TRY(MN_NEW(d->ctx, "the matrix of contact", more, &c->sum.value));
    c->entries = more;
  }
  c->sum.rows = c->sum.cols = (int64_t)mn_deform_dofs(d);
  int64_t e = 0;
  for (size_t i = 0; i < mn_deform_dofs(d); i++) {
    c->sum.start[i] = e;
    e = sum_row(d, i, e);
  }
  c->sum.start[c->sum.rows] = e;
  return MN_OK;
}

mn_status mn_deform_cross_factorise(mn_deform *d, mn_factor_report *report)
{
  d->active = d->cross.count ? d->cross.factor : d->factor;
  if (d->cross.count == 0)
    return mn_sparse_factorise(d->factor, &d->constrained, report);
  MN_TRY(mn_deform_cross_sum(d));
  return mn_sparse_factorise(d->cross.factor, &d->cross.sum, report);
}
