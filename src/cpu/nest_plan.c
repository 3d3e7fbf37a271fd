#include <string.h>

#include "cpu/fold.h"
#include "cpu/nest.h"

_Static_assert(sizeof(ndr_nest) <= NDR_CONFIG_BYTES, "a nest is a plan's configuration");

/* What a core does, measured on a Zen 4 core at 3.7 GHz; they need only be right beside each other. */
#define FOLD_RATE 35e9        /* bytes a second through one op, out of the cache */
#define CONVERT_RATE 40e9     /* bytes a second */
#define SHUFFLE_RATE 16e9     /* bytes a second gathered from strides up to 4, or transposed */
#define GATHER_SECONDS 0.5e-9 /* an element gathered from any other stride */
#define TILE_SECONDS 25e-9    /* starting one op on one tile */
#define ROW_SECONDS 0.7e-9    /* starting a row */
#define SETTLE_SECONDS 25e-9  /* folding lanes together */
#define OUTPUT_SECONDS 1e-9   /* writing one result */

static double gather_seconds(const ndr_nest *nest, double elements, double bytes) {
  if (nest->lane_stride == 1) return 0;
  if (nest->lane_stride <= 4 || (nest->row_stride == 1 && nest->rows * bytes >= 16))
    return elements * bytes / SHUFFLE_RATE;
  return elements * GATHER_SECONDS;
}

double ndr_nest_cost(const ndr_nest *nest, const ndr_problem *problem, const ndr_device *device) {
  double bytes = (double)ndr_dtype_bytes(problem->dtype), elements = (double)problem->outputs * (double)problem->length;
  double tiles = (double)nest->positions * (double)nest->steps, tile = elements / tiles;
  double rows = nest->form == NDR_NEST_RUN ? tile / (double)nest->lanes + 1 : (double)nest->rows;
  double op = TILE_SECONDS + rows * ROW_SECONDS + tile * bytes / FOLD_RATE;
  if (nest->form != NDR_NEST_ROWS) op += SETTLE_SECONDS;
  if (nest->form == NDR_NEST_RUN && nest->extent % (nest->lanes / nest->period)) op += TILE_SECONDS + SETTLE_SECONDS;
  double one = op * problem->op_count + gather_seconds(nest, tile, bytes);
  if (nest->convert_bytes) one += tile * bytes / CONVERT_RATE;
  double work = tiles * one + (double)problem->outputs * OUTPUT_SECONDS;
  double parallel = (double)(nest->chunks * nest->pieces < device->units ? nest->chunks * nest->pieces : device->units);
  double memory = elements * bytes / device->bandwidth;
  work /= parallel > 1 ? parallel : 1;
  return (memory > work ? memory : work) + work / 16;
}

void ndr_nest_install(const ndr_nest *nest, ndr_plan *plan) {
  int64_t tasks = nest->chunks > INT64_MAX / nest->pieces ? INT64_MAX : nest->chunks * nest->pieces;
  int threads = plan->threads > 0 ? plan->threads : plan->device.units;
  ndr_nest installed = *nest;
  installed.slots = threads < 1 ? 1 : threads > 1024 ? 1024 : threads;
  if (installed.slots > tasks) installed.slots = (int)tasks;
  memcpy(plan->config, &installed, sizeof installed);
  plan->workspace = (size_t)installed.slots * (size_t)nest->scratch_bytes;
  if (nest->pieces > 1) plan->workspace += (size_t)(tasks * nest->block) * 8;
}

size_t ndr_nest_describe(const ndr_plan *plan, char *text, size_t capacity) {
  size_t length = 0;
  const ndr_nest *nest = (const ndr_nest *)(const void *)plan->config;
  if (capacity) text[0] = 0;
  ndr_text_append(text, capacity, &length, "tiles of %lld lanes x %lld rows", (long long)nest->lanes,
                  (long long)nest->rows);
  if (nest->form == NDR_NEST_RUN && nest->period > 1)
    ndr_text_append(text, capacity, &length, " of period %lld", (long long)nest->period);
  if (nest->gather_bytes)
    ndr_text_append(text, capacity, &length, " gathered by stride %lld", (long long)nest->lane_stride);
  if (nest->convert_bytes) ndr_text_append(text, capacity, &length, " converted");
  ndr_text_append(text, capacity, &length, ", %lld tasks of %lld positions x %lld steps, %d threads",
                  (long long)(nest->chunks * nest->pieces), (long long)nest->chunk,
                  (long long)((nest->steps + nest->pieces - 1) / nest->pieces), nest->slots);
  return length;
}
