/* What a nest costs, how many threads pay, and how it is put into a plan and described. */
#include <stdlib.h>
#include <string.h>

#include "cpu/fold/fold.h"
#include "cpu/program/machine.h"
#include "cpu/threads.h"

_Static_assert(sizeof(ndr_nest) <= NDR_CONFIG_BYTES, "a nest is a plan's configuration");

/* What a core does, measured on a Zen 4 core at 3.7 GHz; they need only be right beside each other. */
#define FOLD_RATE 35e9         /* bytes a second through one op, out of the cache */
#define GAP_RATE 18e9          /* the same of rows that are more gaps than outputs: slow ops lose more by them */
#define STEP_RATE 24e9         /* bytes a second gathered from strides up to 4 */
#define TRANSPOSE_RATE 25e9    /* transposed */
#define LAYER_RATE 6e9         /* the same of layers, two cache lines at a time from anywhere */
#define ACROSS_RATE 40e9       /* not transposed, but added up as they lie, by fold/across/across.h */
#define LANE_RATE 70e9         /* long lanes of contiguous elements, one after the other */
#define LANE_SECONDS 12e-9     /* starting each of them */
#define GATHER_SECONDS 0.5e-9  /* an element gathered from any other stride */
#define TILE_SECONDS 25e-9     /* starting one op on one tile */
#define ROW_SECONDS 0.7e-9     /* starting a row */
#define SHORT_ROW_SECONDS 2e-9 /* starting a row of few narrow elements: the last of them are added one by one */
#define FAR_SECONDS 70e-9      /* starting a row of less than a page in a page of its own */
/* Rows of 512 bytes and more are far only in problems larger than this, because smaller ones are in a cache, and only
 * if elements have 4 bytes or more: narrower ones take longer to add up than to arrive. */
#define NEAR_BYTES 2097152
#define LINES_BYTES 524288     /* lines that stay in a cache from one position to the next */
#define LINES_RATE 10e9        /* bytes a second of those that do not */
#define LINE_SECONDS 1e-9      /* an element of each of these, in more pages than the first level of translations has */
#define FAR_LANE_SECONDS 30e-9 /* starting a lane of less than 512 bytes in a page of its own */
#define NODE_SECONDS 0.1e-9    /* an element of a program's node */
#define SETTLE_SECONDS 25e-9   /* folding lanes together */
#define OUTPUT_SECONDS 1e-9    /* writing one result */
/* The same where results of neighbouring lanes have cache lines of their own, of more results than are in a cache. On a
 * Zen 3 core those of a transposed copy of f32 take 1 ns more for 550,000 outputs, and 5 ns for 50 million. */
#define SCATTER_SECONDS 1.2e-9
#define FAR_SCATTER_SECONDS 3e-9 /* the same of MANY_OUTPUTS */
#define MANY_OUTPUTS 1048576
#define TURN_SECONDS 2e-9 /* the same where they are stored across tiles, or those of long periods */
#define SCATTERED_OUTPUTS 262144
#define LINE_RESULTS 16 /* of 4 bytes: the choice does not depend on the results' dtype */

#define WAKE_SECONDS 5e-6 /* waking other threads; 35e-6 to 110e-6 in a virtual machine */

/* 128 KiB take a core 5 us. A thread that wakes up too late finds nothing left to do, and costs the caller a signal. On
 * 16 Intel cores a sum of 4 MB takes 15 us with 128 KiB a thread, and 26 us with 512 KiB. */
#define BYTES_PER_THREAD 131072

/* Most operators of numbers fold rows across (see ndr_isa). The choice must not depend on the operator, because a sum
 * has the same bits whatever else a call computes, and not on the instruction set, because it has the same bits on
 * every machine. So the rates are between those of sums and of argmax, with AVX2 and with AVX-512. Narrow elements are
 * folded across by a few operators, and transposed for the others: they have one rate. */
static double rate_of_rows(const ndr_canonical *problem) {
  return ndr_dtype_bytes(problem->dtype) >= 4 && !problem->skip_nan ? ACROSS_RATE : TRANSPOSE_RATE;
}

/* Gathering elements of `bytes` bytes whose rows, if they are contiguous, come at `row_rate`. */
static double gather_seconds(int64_t lane_stride, int64_t row_stride, int64_t rows, double bytes, double row_rate,
                             double elements) {
  enum { VECTOR = 16 };
  if (lane_stride == 1) return 0;
  if (lane_stride <= 4) return elements * bytes / STEP_RATE;
  if (row_stride == 1 && (double)rows * bytes >= VECTOR) return elements * bytes / row_rate;
  /* Lanes shorter than a vector are transposed, too, one vector a lane: those that begin at most a vector apart, and
   * others that are not too short. */
  if (row_stride == 1 && ((double)lane_stride * bytes <= VECTOR || rows >= NDR_LEAST_SQUARE_ROWS((int64_t)bytes)))
    return elements / (double)rows * VECTOR / TRANSPOSE_RATE;
  return elements * GATHER_SECONDS;
}

/* What programs take for `elements` elements: the operands are gathered, and each node is a pass over registers. */
static double program_seconds(const ndr_nest *nest, const ndr_canonical *problem, double elements) {
  double seconds = 0;
  for (int k = 0; k < problem->operand_count; k++) {
    const ndr_axis *lanes =
        nest->form == NDR_NEST_ROWS ? &problem->kept[nest->output_axis] : &problem->reduced[nest->lanes_along];
    int64_t lane = llabs(lanes->operand[k]), row = 0;
    if (nest->form == NDR_NEST_RUN)
      row = lane * (nest->lanes / nest->period);
    else if (nest->rows_along >= 0)
      row = llabs(problem->reduced[nest->rows_along].operand[k]);
    if (nest->period > 1 && nest->form != NDR_NEST_ROWS) lane = llabs(problem->kept[nest->output_axis].operand[k]);
    double bytes = (double)ndr_dtype_bytes(problem->operand_dtypes[k]);
    seconds += gather_seconds(lane, row, nest->rows, bytes, TRANSPOSE_RATE, elements);
  }
  for (int i = 0; i < problem->op_count; i++)
    if (problem->programs[i]) seconds += elements * NODE_SECONDS * problem->programs[i]->node_count;
  return seconds;
}

/* How many threads pay. Every family has the same answer for a problem. */
static double threads_that_pay(const ndr_canonical *problem, int most) {
  double bytes = ndr_plan_bytes_read(problem);
  double useful = bytes / BYTES_PER_THREAD;
  if (most > NDR_MOST_THREADS) most = NDR_MOST_THREADS;
  return useful < 2 ? 1 : useful < most ? useful : most;
}

/* Where memory is the limit, less work still wins. This grows with the work: which of two families is faster does not
 * depend on the number of threads. */
double ndr_nest_seconds(double work, const ndr_canonical *problem, const ndr_device *device) {
  double memory = ndr_plan_bytes_read(problem) / device->bandwidth;
  double threads = threads_that_pay(problem, device->units), each = work / threads;
  return (memory > each ? memory : each) + each / 16 + (threads > 1 ? WAKE_SECONDS : 0);
}

/* Whether only other steps read what lies between two rows of a tile. Positions of one step follow each other, so that
 * the lines of the caches that rows begin are still there. */
static bool skips_rows(const ndr_nest *nest, const ndr_canonical *problem) {
  if (nest->form != NDR_NEST_ROWS) return nest->form == NDR_NEST_GRID;
  bool fastest = nest->output_axis == 0 && ndr_nest_keeps_fastest(problem);
  return fastest && problem->reduced_count > 0 && nest->row_stride > problem->reduced[0].stride;
}

static double output_seconds(const ndr_nest *nest, const ndr_canonical *problem) {
  double outputs = (double)problem->outputs, seconds = outputs * OUTPUT_SECONDS;
  if (problem->outputs < SCATTERED_OUTPUTS) return seconds;
  if (nest->turned || (nest->form != NDR_NEST_ROWS && nest->period > 8)) return seconds + outputs * TURN_SECONDS;
  if (nest->form != NDR_NEST_ROWS) return seconds;
  bool scattered = llabs(problem->kept[nest->output_axis].result[0]) >= LINE_RESULTS;
  return seconds + (scattered ? outputs * (outputs < MANY_OUTPUTS ? SCATTER_SECONDS : FAR_SCATTER_SECONDS) : 0);
}

/* What gathering a tile takes. Layers are contiguous, and transposed. */
static double tile_gather_seconds(const ndr_nest *nest, const ndr_canonical *problem, double elements) {
  double bytes = (double)ndr_dtype_bytes(problem->dtype);
  if (nest->row_gap > 1)
    return gather_seconds(nest->lane_stride, 1, nest->rows * nest->row_gap, bytes, TRANSPOSE_RATE,
                          elements * (double)nest->row_gap);
  if (nest->layers == 1)
    return gather_seconds(nest->lane_stride, nest->row_stride, nest->rows, bytes, rate_of_rows(problem), elements);
  bool together = nest->row_stride == nest->layers;
  return gather_seconds(nest->lane_stride, 1, together ? nest->rows * nest->layers : nest->layers, bytes,
                        together ? TRANSPOSE_RATE : LAYER_RATE, elements);
}

/* What a tile whose lanes lie apart takes because of the lines and pages that it does not use up. The lines of a tile
 * that are more than a cache has are gone before other positions use the rest of them. */
static double far_seconds(const ndr_nest *nest, double bytes, double total) {
  enum { LINE = 64, STREAM = 512, PAGE = 4096, PAGES = 64 };
  double lanes = (double)nest->lanes, rows = (double)nest->rows, apart = bytes * (double)nest->lane_stride;
  double along = bytes * (double)nest->row_stride, lane = along * (rows - 1) + bytes, seconds = 0;
  if (nest->layers > 1 || apart < LINE) return 0;
  double lines = along < LINE ? lanes * (lane / LINE + 1) : lanes * rows, unused = lines * LINE - lanes * rows * bytes;
  if (lines * LINE > LINES_BYTES && unused > 0)
    seconds = unused / LINES_RATE;
  else if (along >= LINE && apart >= PAGE && lines > PAGES && total > NEAR_BYTES)
    seconds = lines * LINE_SECONDS;
  return apart >= PAGE && lane < STREAM ? seconds + lanes * FAR_LANE_SECONDS : seconds;
}

/* Bytes of lanes that are long, but not so long that programs, for which they are transposed, lose more than others
 * gain by folding them as they lie. */
#define LONG_LANE 512
#define LONGEST_LANE 4096

/* Whether a tile has long lanes whole, which most ops fold as they lie. This does not depend on the ops, either. */
static bool has_long_lanes(const ndr_nest *nest, const ndr_canonical *problem) {
  const int64_t bytes = nest->rows * (int64_t)ndr_dtype_bytes(problem->dtype);
  return ndr_nest_lanes_are_runs(nest) && nest->rows == nest->row_extent && !problem->skip_nan &&
         problem->operand_count == 0 && bytes >= LONG_LANE && bytes <= LONGEST_LANE;
}

/* Seconds that one op takes one thread. */
static double op_seconds(const ndr_nest *nest, const ndr_canonical *problem) {
  double bytes = (double)ndr_dtype_bytes(problem->dtype), elements = (double)problem->outputs * (double)problem->length;
  double tiles = (double)nest->positions * (double)nest->steps, tile = elements / tiles;
  double rows = nest->form == NDR_NEST_RUN ? tile / (double)nest->lanes + 1 : (double)nest->rows;
  if (has_long_lanes(nest, problem)) {
    const double lane = LANE_SECONDS + (double)nest->rows * bytes / LANE_RATE;
    return tiles * (TILE_SECONDS + (double)nest->lanes * lane) + output_seconds(nest, problem);
  }
  double row = bytes < 4 && (double)nest->lanes * bytes < 64 ? SHORT_ROW_SECONDS : ROW_SECONDS;
  double one = TILE_SECONDS + rows * row + tile * (double)nest->gap * bytes / (nest->gap > 1 ? GAP_RATE : FOLD_RATE) +
               tile_gather_seconds(nest, problem, tile) + far_seconds(nest, bytes, elements * bytes) +
               program_seconds(nest, problem, tile);
  if (nest->form != NDR_NEST_ROWS) one += SETTLE_SECONDS;
  if (skips_rows(nest, problem) && (double)nest->row_stride * bytes >= 4096 &&
      (double)nest->lanes * bytes < (bytes >= 4 && elements * bytes > NEAR_BYTES ? 4096 : 512))
    one += rows * FAR_SECONDS;
  if (nest->form == NDR_NEST_RUN && nest->extent % (nest->lanes / nest->period)) one += TILE_SECONDS + SETTLE_SECONDS;
  return tiles * one + output_seconds(nest, problem);
}

double ndr_nest_cost(const ndr_nest *nest, const ndr_canonical *problem, const ndr_device *device) {
  return ndr_nest_seconds(op_seconds(nest, problem), problem, device);
}

void ndr_nest_consider(ndr_search *search, const ndr_nest *nest) {
  double seconds = ndr_nest_cost(nest, search->problem, search->device);
  if (search->seconds >= 0 && seconds >= search->seconds) return;
  search->seconds = seconds;
  *search->best = *nest;
}

static int64_t tasks_of(const ndr_nest *nest) {
  return nest->chunks > INT64_MAX / nest->splits ? INT64_MAX : nest->chunks * nest->splits;
}

static int choose_threads(const ndr_nest *nest, const ndr_plan *plan) {
  int threads = (int)threads_that_pay(&plan->problem, plan->threads > 0 ? plan->threads : plan->device.units);
  return tasks_of(nest) < threads ? (int)tasks_of(nest) : threads;
}

/* At most a minute: more makes no difference to the pool, and elements that are repeated could make it overflow. */
static int64_t nanoseconds_of(const ndr_nest *nest, const ndr_canonical *problem) {
  double seconds = op_seconds(nest, problem) * problem->op_count;
  return (int64_t)(1e9 * (seconds < 60 ? seconds : 60));
}

void ndr_nest_install(const ndr_nest *nest, ndr_plan *plan) {
  ndr_nest installed = *nest;
  installed.nanoseconds = nanoseconds_of(nest, &plan->problem);
  if (ndr_machine_reads_in_order(&plan->problem, nest)) {
    installed.in_order = true;
    ndr_nest_widen(&installed, &plan->problem, NDR_WIDE_LANES);
  }
  installed.threads = choose_threads(&installed, plan);
  if (ndr_machine_there(&plan->problem)) ndr_machine_size(&plan->problem, &installed);
  installed.scratch_bytes += (installed.program_bytes + 255) / 256 * 256;
  memcpy(plan->config, &installed, sizeof installed);
  plan->workspace = (size_t)installed.threads * (sizeof(ndr_task_share) + (size_t)installed.scratch_bytes);
  if (nest->splits > 1) plan->workspace += (size_t)(tasks_of(&installed) * installed.block + installed.chunks) * 8;
  plan->workspace += (size_t)installed.shared_bytes;
  if (plan->workspace <= NDR_SMALL_WORKSPACE) plan->workspace = 0;
}

size_t ndr_nest_describe(const ndr_plan *plan, char *text, size_t capacity) {
  size_t length = 0;
  const ndr_nest *nest = (const ndr_nest *)(const void *)plan->config;
  if (capacity) text[0] = 0;
  ndr_text_append(text, capacity, &length, "tiles of %lld lanes x %lld rows", (long long)nest->lanes,
                  (long long)nest->rows);
  if (nest->layers > 1) ndr_text_append(text, capacity, &length, " x %lld layers", (long long)nest->layers);
  if (nest->form == NDR_NEST_RUN && nest->period > 1)
    ndr_text_append(text, capacity, &length, " of period %lld", (long long)nest->period);
  if (nest->gap > 1) ndr_text_append(text, capacity, &length, ", an output every %lld lanes", (long long)nest->gap);
  if (nest->gather_bytes)
    ndr_text_append(text, capacity, &length, " gathered by stride %lld", (long long)nest->lane_stride);
  if (nest->convert_bytes) ndr_text_append(text, capacity, &length, " converted");
  if (nest->turned) ndr_text_append(text, capacity, &length, ", results stored across tiles");
  if (nest->in_order) ndr_text_append(text, capacity, &length, " in their order");
  int64_t steps = nest->steps / nest->splits + (nest->steps % nest->splits != 0);
  ndr_text_append(text, capacity, &length, ", %lld tasks of %lld positions x %lld steps, %d thread%s",
                  (long long)nest->chunks * nest->splits, (long long)nest->chunk, (long long)steps, nest->threads,
                  NDR_PLURAL(nest->threads));
  return length;
}
