/* Plans of problems in the mini-language by the internal planner: nothing is allocated or run. */
#ifndef TEST_SUPPORT_PLAN_H
#define TEST_SUPPORT_PLAN_H

#include "core/plan.h"

/* A plan of the problem by the backend for the device; by its estimate, or by the family that force names. */
ndr_status plan_text(ndr_plan *plan, const char *text, const ndr_backend *backend, const ndr_device *device,
                     const char *force);

/* The same on the CPU. */
ndr_status cpu_plan(ndr_plan *plan, const char *text, const char *force);

#endif
