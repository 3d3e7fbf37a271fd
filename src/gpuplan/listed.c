/* Planner's half of kernels/listed.cuh: outputs of few elements, in several runs or apart. */
#include "gpuplan/listed.h"

#include <math.h>

#include "gpuplan/strided.h"

/* Cycles of a multiprocessor for an output that `lanes` threads share: it waits for loads, looks up lines in its
 * first-level cache, and issues instructions. */
static double listed_cost(int64_t length, int64_t bytes, int lanes) {
  enum { OUTPUT = 15, JOIN = 3, LOAD = 4 };
  int64_t loads = (length + lanes - 1) / lanes, steps = (loads + NDR_LISTED_EACH - 1) / NDR_LISTED_EACH;
  double waiting = lanes * ((double)steps + 0.5) / 4, looking = 0.2 * fmin((double)bytes, 4) * (double)loads;
  double instructions = (double)(OUTPUT + JOIN * ndr_threads(lanes).log + LOAD * NDR_LISTED_EACH * steps);
  return waiting + looking + instructions * lanes / NDR_WARP_THREADS / 4;
}

/* Whether the elements of an output lie, and have indices, within what an int holds from the first on. */
static bool within_ints(const ndr_canonical *problem) {
  double span = 0, indices = 0;
  for (int a = 0; a < problem->reduced_count; a++) {
    span += ((double)problem->reduced[a].size - 1) * fabs((double)problem->reduced[a].stride);
    indices += ((double)problem->reduced[a].size - 1) * fabs((double)problem->reduced[a].index);
  }
  return fmax(span, indices) <= INT32_MAX;
}

bool ndr_listed_suits(const ndr_canonical *problem, const ndr_device *device) {
  enum { LEAST_OUTPUTS = 64 }; /* for each multiprocessor */
  if (problem->length > NDR_LISTED_ELEMENTS || problem->outputs < (int64_t)device->units * LEAST_OUTPUTS) return false;
  /* Lanes read neighbouring elements of an output. A single element has none. */
  if (problem->reduced_count > 0 && problem->kept[0].stride < problem->reduced[0].stride) return false;
  for (int a = 0; a < problem->kept_count; a++)
    if (problem->kept[a].stride == 0) return false; /* outputs that read the same elements lie apart */
  return within_ints(problem);
}

void ndr_listed_configure(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch) {
  enum { MOST_ROUNDS = 16, WAVES = 2 };
  int64_t length = problem->length, bytes = (int64_t)ndr_dtype_bytes(problem->dtype);
  int best = 1;
  for (int lanes = 2; lanes <= NDR_WARP_THREADS; lanes *= 2)
    if (listed_cost(length, bytes, lanes) < listed_cost(length, bytes, best)) best = lanes;
  ndr_launch_begin(launch, problem, NDR_KERNEL_TREE_LISTED);
  ndr_params *p = &launch->params;
  int64_t round = NDR_THREADS / best * NDR_LISTED_OUTPUTS, blocks = (int64_t)device->units * launch->blocks * WAVES;
  int64_t rounds = problem->outputs / (round * blocks);
  p->tree_listed.lanes = ndr_threads(best);
  p->tile_outputs = (int)(round * (rounds < 1 ? 1 : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds));
  p->work = (problem->outputs + p->tile_outputs - 1) / p->tile_outputs;
  ndr_launch_turn_results(problem, launch);
  ndr_launch_end(launch);
}
