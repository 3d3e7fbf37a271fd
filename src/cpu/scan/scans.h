/* Scans and selections on the CPU. */
#ifndef NDR_CPU_SCAN_SCANS_H
#define NDR_CPU_SCAN_SCANS_H

#include "cpu/threads.h"
#include "scan/plan.h"

extern const struct ndr_scan_calls ndr_cpu_scans;

/* The families: the planner's row and the function that runs a plan. */
typedef struct ndr_cpu_scan_family {
  ndr_scan_family family; /* first, so that a plan's family leads here */
  void (*run)(const ndr_scan_plan *plan, const void *const *data, void *result, void *workspace);
} ndr_cpu_scan_family;

extern const ndr_cpu_scan_family ndr_cpu_scan_scalar, ndr_cpu_scan_lines, ndr_cpu_scan_lanes, ndr_cpu_scan_programs;

/* The most threads that run the plan: no more than the pool has, whatever the caller allows. */
static inline int ndr_scan_most_threads(const ndr_scan_plan *plan) {
  return plan->threads < NDR_MOST_THREADS ? plan->threads : NDR_MOST_THREADS;
}

/* How many threads are worth their while: one for every 32768 elements. Sharing out fewer takes longer than scanning
 * them. */
static inline int ndr_scan_threads(const ndr_scan_plan *plan) {
  double worth = (double)plan->problem.lines * ((double)plan->problem.length + 1) / 32768;
  int most = ndr_scan_most_threads(plan);
  return worth < most ? (int)worth + 1 : most;
}

ndr_status ndr_cpu_select(const ndr_selection *selection, const ndr_selection_addresses *addresses, int id, int threads,
                          void *stream);

#endif
