/* Plans for GPUs that are not there: the planner's half of the CUDA backend is pure C and needs numbers only. */
#ifndef TEST_SUPPORT_GPUS_H
#define TEST_SUPPORT_GPUS_H

#include "core/plan.h"

/* A small card of compute capability 7.5, an A100, an H200. */
#define GPU_COUNT 3
extern const ndr_device gpus[GPU_COUNT];
extern const char *const gpu_names[GPU_COUNT];

/* Problems in the mini-language, and the family that each should get; NULL: any. */
typedef struct gpu_case {
  const char *text;
  const char *family;
} gpu_case;
extern const gpu_case gpu_cases[]; /* ends with a NULL text */

/* A plan of the problem on the device by the estimate, or by the family that force names. */
ndr_status gpu_plan(ndr_plan *plan, const char *text, const ndr_device *device, const char *force);

/* Hands `check` the problem's plans for each of the GPUs: the estimate's, and that of each family that can. */
typedef void gpu_plan_check(const ndr_plan *plan, const char *text, const char *gpu);
ndr_status gpu_plans_each(const char *text, gpu_plan_check *check);

#endif
