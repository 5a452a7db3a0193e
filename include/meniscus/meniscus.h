/* Meniscus: fluids and solids that move each other. Includes the whole public interface. */
#ifndef MENISCUS_H
#define MENISCUS_H

#include "meniscus/base.h"
#include "meniscus/box.h"
#include "meniscus/compare.h"
#include "meniscus/contest.h"
#include "meniscus/coupling.h"
#include "meniscus/model.h"
#include "meniscus/motion.h"
#include "meniscus/operators.h"
#include "meniscus/pressure.h"
#include "meniscus/rmi.h"
#include "meniscus/run.h"
#include "meniscus/scene.h"
#include "meniscus/shape.h"
#include "meniscus/solid_problem.h"
#include "meniscus/timefn.h"
#include "meniscus/world.h"

#endif
