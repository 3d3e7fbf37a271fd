/* Plans of problems of any size: sizes and strides may be made up, since nothing is allocated or run. */
#ifndef TEST_SUPPORT_PLAN_H
#define TEST_SUPPORT_PLAN_H

#include "core/plan.h"

/* A plan of a problem in the mini-language by the internal planner, for the backend and device: by its estimate, or by
 * the family that force names. */
ndr_status plan_text(ndr_plan *plan, const char *text, const ndr_backend *backend, const ndr_device *device,
                     const char *force);

/* The same on the CPU. */
ndr_status cpu_plan(ndr_plan *plan, const char *text, const char *force);

/* Plans the problem by every family of the CPU, and of GPUs that are not there, and describes each plan. Families may
 * refuse it; the status is that of the first planner that fails otherwise. */
ndr_status plan_by_all(const ndr_problem *problem);

#endif
