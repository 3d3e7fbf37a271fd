/* Single operators by a family of the planner's: plan, twist, run, compare with the oracle. */
#ifndef SIMT_FORCED_H
#define SIMT_FORCED_H

#include "drive.h"
#include "gpuplan/launch.h"

typedef struct outcome {
  bool ran, turned;
  ndr_kernel kernel;
  char why[1024]; /* "" when all is well */
} outcome;

/* Runs the problem on a random array, by the plan of this family for the device `planned_for`, or, where that is NULL,
 * for the array's. Where the family refuses the problem, `ran` is false. */
outcome run_forced(const ndr_problem *problem, const char *family, const ndr_device *planned_for, const twist *how,
                   rng *random);

#endif
