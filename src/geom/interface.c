/* The arrays of an interface. */
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "meniscus/box.h"

static mn_status make(mn_context *ctx, size_t n, mn_interface *f)
{
  MN_TRY(MN_NEW(ctx, "interface positions", n, &f->X));
  MN_TRY(MN_NEW(ctx, "interface velocities", n, &f->V));
  MN_TRY(MN_NEW(ctx, "interface normals", n, &f->N));
  MN_TRY(MN_NEW(ctx, "interface areas", n, &f->area));
  MN_TRY(MN_NEW(ctx, "interface loads", n, &f->load));
  MN_TRY(MN_NEW(ctx, "fictitious masses", n, &f->mass));
  MN_TRY(MN_NEW(ctx, "interface bodies", n, &f->body));
  MN_TRY(MN_NEW(ctx, "interface sides", n, &f->two_sided));
  MN_TRY(MN_NEW(ctx, "interface kinds", n, &f->rigid));
  MN_TRY(MN_NEW(ctx, "interface leads", n, &f->lead));
  return MN_NEW(ctx, "interface elements", (size_t)f->dim * f->elements, &f->element);
}

mn_status mn_interface_create(mn_context *ctx, int dim, size_t count, size_t elements,
                              mn_interface *interface)
{
  *interface = (mn_interface){.dim = dim, .count = count, .elements = elements};
  mn_status status = make(ctx, count, interface);
  if (status != MN_OK)
    mn_interface_destroy(interface);
  return status;
}

void mn_interface_destroy(mn_interface *f)
{
  void *all[] = {f->X,    f->V,         f->N,     f->area, f->load,   f->mass,
                 f->body, f->two_sided, f->rigid, f->lead, f->element};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mn_free(all[i]);
  memset(f, 0, sizeof *f);
}
