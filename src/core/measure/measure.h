/* Chooses a plan's family by timing (NDR_MEASURE). */
#ifndef NDR_CORE_MEASURE_H
#define NDR_CORE_MEASURE_H

#include "core/plan.h"

/* A family is not tried if its predicted time is more than this many times the least predicted time. */
#define NDR_HOPELESS 16.0

/* Times the families that can run the plan's problem, changes the plan to the fastest, and remembers the choice. The
 * plan is one that ndr_plan_choose made by the cost model; that choice stands unless another is clearly faster. data
 * is as for a backend's execute; if it is NULL, scratch stands for the arrays. If timing is impossible, the plan stays
 * as it is and `untimed` says why. The caller's memory is not written. Threads that measure take turns. */
ndr_status ndr_plan_measure(ndr_plan *plan, const void *const *data, void *stream);

#endif
