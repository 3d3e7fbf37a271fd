/* NDR_MEASURE: a plan's family by trial. */
#ifndef NDR_CORE_MEASURE_H
#define NDR_CORE_MEASURE_H

#include "core/plan.h"

/* A family whose predicted time is this many times the least one's is not tried. */
#define NDR_HOPELESS 16.0

/* Times the families that can run a plan's problem, on `data` (element 0 of the array; NULL: on scratch), makes the
 * plan the fastest one's and remembers it. The plan is one that ndr_plan_choose made by the cost model, whose choice
 * stands where nothing else is clearly faster. Where timing is not possible the plan stays as it is and `untimed` says
 * why. Nothing of the caller's is written. Threads that measure take turns. */
ndr_status ndr_plan_measure(ndr_plan *plan, const void *data, void *stream);

#endif
