/* The families of the CPU backend: the planner's row and the function that runs a plan of the family. */
#ifndef NDR_CPU_FAMILY_H
#define NDR_CPU_FAMILY_H

#include "core/plan.h"

typedef struct ndr_cpu_family {
  ndr_family family; /* first, so that a plan's family leads here */
  void (*run)(const ndr_plan *plan, const void *const *data, void *const *results, void *workspace);
} ndr_cpu_family;

extern const ndr_cpu_family ndr_cpu_scalar, ndr_cpu_rows, ndr_cpu_runs, ndr_cpu_tile, ndr_cpu_labels;

#endif
