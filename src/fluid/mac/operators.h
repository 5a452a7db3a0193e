/* The grid fluid's linear operators, for couplings that solve fluid and solid as one system. */
#ifndef MN_FLUID_MAC_OPERATORS_H
#define MN_FLUID_MAC_OPERATORS_H

#include "meniscus/operators.h"
#include "pressure/opened.h"
#include "pressure/unknowns.h"

enum { MN_MAC_OPERATOR_BUFFERS = 18 };

/* Work; nothing of it is state. */
typedef struct mn_mac_operators {
  int made;      /* what follows is of this substep, */
  long stamp;    /* this placement of bodies */
  int known;     /* told regions (enclose.h) or none, */
  int narrowed;  /* and faces narrowed (loads.c) or not */
  double factor; /* m^3/(s Pa), of the pressure system divided by its scale */
  mn_unknowns unknowns;
  mn_opened opened;
  mn_fluid_linear linear;
  mn_opened_face *face; /* [rows] */
  double *coefficient;  /* [rows] */
  double *product;      /* [cells] */
  double speed;         /* m/s */
  mn_buffer buffer[MN_MAC_OPERATOR_BUFFERS];
} mn_mac_operators;

extern const mn_fluid_operators mn_mac_fluid_operators;
void mn_mac_operators_free(mn_mac_operators *o);

#endif
