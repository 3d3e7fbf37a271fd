/* Family rows: the fastest axis is kept. Neighbouring lanes own neighbouring outputs, or also what lies
 * between these in memory, and rows are added one by one. */
#include "cpu/family.h"
#include "cpu/nest.h"

static const char *reject(const ndr_canonical *problem, const ndr_device *device, char *text) {
  (void)device;
  (void)text;
  const char *why = ndr_nest_reject(problem);
  if (why) return why;
  return ndr_nest_keeps_fastest(problem) ? NULL : "fastest axis is reduced";
}

/* Rows lie along the reduced axis with the smallest stride, or along the next one where that leaves fewer tiles. What
 * lies between outputs are lanes, too, where that is faster than gathering. */
static double choose(ndr_nest *best, const ndr_canonical *problem, const ndr_device *device) {
  ndr_search search = {problem, device, best, -1};
  ndr_nest nest;
  for (int r = problem->reduced_count ? 0 : -1; r < problem->reduced_count && r < 2; r++) {
    ndr_nest_rows(&nest, problem, 0, r);
    ndr_nest_consider(&search, &nest);
    if (ndr_nest_gaps(&nest, problem, r)) ndr_nest_consider(&search, &nest);
  }
  return search.seconds;
}

static double cost(const ndr_canonical *problem, const ndr_device *device) {
  ndr_nest nest;
  return choose(&nest, problem, device);
}

static void configure(ndr_plan *plan) {
  ndr_nest nest;
  choose(&nest, &plan->problem, &plan->device);
  ndr_nest_install(&nest, plan);
}

const ndr_cpu_family ndr_cpu_rows = {{"rows", reject, cost, configure, ndr_nest_describe}, ndr_nest_execute};
