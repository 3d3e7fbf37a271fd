/* Problems of any size, planned and not run: sizes and strides are made up, so nothing is allocated. */
#ifndef TEST_SUPPORT_PLANNERS_H
#define TEST_SUPPORT_PLANNERS_H

#include "ndreduce/plan.h"

/* Plans the problem by every family of the CPU, and of GPUs that are not there, and describes each plan. Families may
 * refuse it; the status is that of the first planner that fails otherwise. */
ndr_status plan_by_all(const ndr_problem *problem);

#endif
