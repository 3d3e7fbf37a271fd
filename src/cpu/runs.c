/* Family runs: the fastest axis is reduced. A run of contiguous elements is folded into one output. A long run is cut
 * into rows; where runs are short, those along the next reduced axis are the rows. */
#include "cpu/family.h"
#include "cpu/fold/fold.h"
#include "cpu/nest.h"

static const char *reject(const ndr_canonical *problem, const ndr_device *device, char *text) {
  (void)device;
  (void)text;
  const char *why = ndr_nest_reject(problem);
  if (why) return why;
  if (ndr_nest_keeps_fastest(problem)) return "fastest axis is kept";
  return problem->reduced[0].scattered ? "fastest axis is scattered" : NULL;
}

static double choose(ndr_nest *nest, const ndr_canonical *problem, const ndr_device *device) {
  ndr_nest grid;
  ndr_nest_run(nest, problem, 0, -1);
  double seconds = ndr_nest_cost(nest, problem, device);
  if (problem->reduced_count < 2 || problem->reduced[0].size > NDR_LANES) return seconds;
  ndr_nest_grid(&grid, problem, 0, 1, -1);
  double other = ndr_nest_cost(&grid, problem, device);
  if (other >= seconds) return seconds;
  *nest = grid;
  return other;
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

const ndr_cpu_family ndr_cpu_runs = {{"runs", reject, cost, configure, ndr_nest_describe}, ndr_nest_execute};
