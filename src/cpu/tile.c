/* Family tile: the fastest axis is short, so that the lanes come from another axis. If the short axis is kept and the
 * next one is reduced, as in sums over the pixels of an image with 3 channels, it is the period of a run that several
 * outputs share, or of a grid whose rows lie along a third axis. Otherwise tiles are gathered; that transposes them if
 * the short axis is reduced, as in sums of 4 neighbours. Where the fastest axis is kept and results lie along another
 * one, as in a transposed copy, a tile has layers (nest.h). */
#include "cpu/family.h"
#include "cpu/fold/fold.h"
#include "cpu/nest.h"

/* How many reduced axes are tried as rows: the innermost ones, which use whole cache lines. */
#define ROW_AXES 2

static bool interleaves(const ndr_axis *run, const ndr_axis *kept) {
  return kept->size <= NDR_LANES / 4 && kept->stride > 0 && run->stride == kept->stride * kept->size;
}

/* Predicted seconds of the best choice of lanes other than the fastest axis; negative if there is none. */
static double choose(ndr_nest *best, const ndr_canonical *problem, const ndr_device *device) {
  ndr_search found = {problem, device, best, -1};
  bool keeps = ndr_nest_keeps_fastest(problem);
  ndr_nest nest;
  for (int r = 0; r < problem->reduced_count; r++) {
    if (problem->reduced[r].scattered) continue;
    for (int k = 0; k < problem->kept_count; k++) {
      if (!interleaves(&problem->reduced[r], &problem->kept[k])) continue;
      ndr_nest_run(&nest, problem, r, k);
      ndr_nest_consider(&found, &nest);
      if (problem->reduced[r].size * problem->kept[k].size > NDR_LANES || r + 1 == problem->reduced_count) continue;
      ndr_nest_grid(&nest, problem, r, r + 1, k);
      ndr_nest_consider(&found, &nest);
    }
    if (r == 0 && !keeps) continue;
    ndr_nest_run(&nest, problem, r, -1);
    ndr_nest_consider(&found, &nest);
  }
  int first = problem->reduced_count ? 0 : -1; /* -1: an output has one element */
  for (int k = keeps; k < problem->kept_count; k++) {
    for (int r = first; r < problem->reduced_count && r < ROW_AXES; r++) {
      ndr_nest_rows(&nest, problem, k, r);
      ndr_nest_consider(&found, &nest);
      if (ndr_nest_layers(&nest, problem, k, r)) ndr_nest_consider(&found, &nest);
    }
  }
  return found.seconds;
}

static const char *reject(const ndr_canonical *problem, const ndr_device *device, char *text) {
  ndr_nest nest;
  (void)text;
  const char *why = ndr_nest_reject(problem);
  if (why) return why;
  return choose(&nest, problem, device) < 0 ? "no axis but the fastest to take lanes from" : NULL;
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

const ndr_cpu_family ndr_cpu_tile = {{"tile", reject, cost, configure, ndr_nest_describe}, ndr_nest_execute};
