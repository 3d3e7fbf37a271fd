/* Launches of family tree for problems that read several arrays: operands_rows, operands_short and operands_runs, whose
 * threads share runs. */
#include "gpuplan/operands/operand_arrays.h"
#include "gpuplan/operands/operands.h"
#include "gpuplan/strided.h"

enum {
  /* Chunks of a run that a lane reads in operands_short and operands_rows, at most. In operands_rows a warp's lanes may
   * have more where registers allow it: even numbers, for fewer kernels to compile. */
  FEW_CHUNKS = 4,
  MOST_CHUNKS = 12,
  MOST_SINGLE_CHUNKS = 16, /* of one element each */
  ROW_REGISTERS = 48,      /* that they take on their way, at most */
  /* Bytes of a run that come from memory, above which a whole block reads it; of var and std, which take long to join;
   * and of a run of all arrays, where an output has several. */
  BLOCK_RUN_BYTES = 16 << 10,
  MOMENTS_RUN_BYTES = 36 << 10,
  LONG_RUN_BYTES = 64 << 10,
  STEP_BYTES = NDR_THREADS * NDR_FLIGHT_BYTES(0, 1), /* of a split, at least */
  FEW_RUNS = 4,        /* runs for each multiprocessor, up to which blocks read shorter ones */
  MOST_RUNS = 1 << 16, /* of an output that blocks read */
  LANE_OUTPUTS = 8     /* that the lanes of a run of operands_rows reduce, one after the other */
};

const char *ndr_operands_reject_runs(const ndr_canonical *problem, const ndr_device *device) {
  (void)problem;
  return device->compiles ? NULL : NDR_NO_COMPILER;
}

static int64_t count_runs(const ndr_canonical *problem) {
  return problem->length / ndr_run_axis(problem)->size;
}

/* The ways to read single runs of outputs: what is fixed along all kept axes is the same for all outputs. */
static unsigned rows_ways(const ndr_canonical *problem, int elements) {
  unsigned ways = ndr_ways_along(problem, ndr_run_axis(problem), NULL, elements, false);
  for (int k = 0; k < ndr_count_arrays(problem); k++) {
    bool fixed = problem->kept_count > 0;
    for (int a = 0; a < problem->kept_count; a++) fixed = fixed && ndr_stride_of(&problem->kept[a], k) == 0;
    if (fixed) ways |= NDR_WAY_FIXED << (NDR_WAY_BITS * k);
  }
  return ways;
}

/* Starts a launch whose chunks have `elements`. */
static void begin_runs(const ndr_canonical *problem, ndr_launch *launch, ndr_kernel kernel, int elements, int steps) {
  const ndr_axis *along = ndr_run_axis(problem);
  bool peeled = kernel == NDR_KERNEL_OPERANDS_RUNS;
  ndr_launch_begin(launch, problem, kernel);
  if (problem->reduced_count == 0) launch->params.axes[launch->params.kept_count] = (ndr_param_axis){.size = 1};
  if (problem->reduced_count == 0) launch->params.reduced_count = 1;
  launch->operands.elements = elements;
  launch->operands.steps = steps;
  int outputs = 1; /* that a thread reads at a time */
  if (kernel == NDR_KERNEL_OPERANDS_ROWS) {
    launch->operands.ways = rows_ways(problem, elements);
    outputs = ndr_count_batch(problem, launch->operands.ways, elements, 1) / steps;
  } else {
    launch->operands.ways = ndr_ways_along(problem, along, peeled ? along : NULL, elements, peeled);
  }
  ndr_operands_begin(problem, launch, outputs < 1 ? 1 : outputs < 4 ? outputs : 4);
}

/* The same of a launch whose runs have `lanes` lanes, and no loops. */
static void begin_short(const ndr_canonical *problem, ndr_launch *launch, ndr_kernel kernel, int elements, int steps,
                        int lanes) {
  begin_runs(problem, launch, kernel, elements, steps);
  if (ndr_run_axis(problem)->size == (int64_t)lanes * steps * elements) launch->operands.ways |= NDR_WAYS_WHOLE;
}

/* The most chunks of a run that a lane may hold, so that it needs no loop. */
static int most_chunks(const ndr_canonical *problem, int elements) {
  if (count_runs(problem) > 1) return FEW_CHUNKS;
  int most = ROW_REGISTERS / ndr_chunk_registers(problem, rows_ways(problem, elements), elements) & ~1,
      bound = elements == 1 ? MOST_SINGLE_CHUNKS : MOST_CHUNKS;
  return most < FEW_CHUNKS ? FEW_CHUNKS : most < bound ? most : bound;
}

/* Chunks of a run that each of its lanes reads in operands_rows. */
static int lane_chunks(int64_t chunks, int lanes) {
  int each = (int)ndr_ceil_div(chunks, lanes);
  return each > FEW_CHUNKS ? each + (each & 1) : each;
}

/* Lanes of a run of `chunks` chunks: few, since they have to join what they have. */
static int short_lanes(int64_t chunks) {
  return ndr_power_from(ndr_ceil_div(chunks, FEW_CHUNKS), NDR_WARP_THREADS);
}

static void configure_rows(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, int elements) {
  int64_t chunks = ndr_run_axis(problem)->size / elements;
  int lanes = short_lanes(chunks), steps = lane_chunks(chunks, lanes), groups = NDR_THREADS / lanes;
  begin_short(problem, launch, NDR_KERNEL_OPERANDS_ROWS, elements, steps, lanes);
  ndr_params *p = &launch->params;
  p->operand_short = (ndr_param_operand_short){ndr_threads(lanes), ndr_threads(lanes)};
  int each = LANE_OUTPUTS;
  while (each > 1 && problem->outputs < (int64_t)device->units * groups * each) each /= 2;
  p->tile_outputs = groups * each;
  p->work = ndr_ceil_div(problem->outputs, p->tile_outputs);
  ndr_launch_split(launch, problem->length, problem->length, 1, 1);
}

static void configure_short(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, int elements) {
  const ndr_axis *along = ndr_run_axis(problem);
  int64_t chunks = along->size / elements, runs = count_runs(problem);
  int lanes = short_lanes(chunks), steps = (int)ndr_ceil_div(chunks, lanes);
  begin_short(problem, launch, NDR_KERNEL_OPERANDS_SHORT, elements, steps, lanes);
  int64_t loads = ndr_ceil_div(runs * lanes * steps, ndr_count_batch(problem, launch->operands.ways, elements, 1));
  int team = ndr_small_output(problem, device, loads) ? NDR_WARP_THREADS : NDR_THREADS;
  launch->params.operand_short = (ndr_param_operand_short){ndr_threads(team), ndr_threads(lanes)};
  ndr_launch_shared(problem, device, launch, team, runs, along->size,
                    (double)ndr_chunk_bytes(problem, along, along->size), NDR_THREADS / lanes);
}

/* A block reads a piece of a run, which is a split or a part of one. */
static void configure_pieces(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch) {
  const ndr_axis *along = ndr_run_axis(problem);
  ndr_params *p = &launch->params;
  ndr_param_operand_runs *own = &p->operand_runs;
  int64_t runs = count_runs(problem), bytes = ndr_chunk_bytes(problem, along, along->size),
          one_step = ndr_launch_step(1);
  int64_t blocks = (int64_t)device->units * launch->blocks, most = bytes / STEP_BYTES, tiles = problem->outputs * runs;
  ndr_tiles work = {tiles, (double)bytes, 1, launch->words, launch->block_bytes};
  int64_t splits = ndr_best_splits(&work, blocks, most > 1 ? most : 1, one_step);
  splits = ndr_bound_splits(splits, along->size, NDR_MOST_SPLIT_ELEMENTS, tiles, blocks);
  if (splits > NDR_MOST_SPLITS / runs) splits = NDR_MOST_SPLITS / runs > 1 ? NDR_MOST_SPLITS / runs : 1;
  int64_t line = NDR_LINE_BYTES; /* elements: pieces begin on lines where the run does */
  own->piece = ndr_ceil_div(ndr_ceil_div(along->size, splits), line) * line;
  own->team = own->lanes = ndr_threads(NDR_THREADS);
  own->pieces.size = ndr_ceil_div(along->size, own->piece);
  p->tile_outputs = 1;
  p->work = problem->outputs;
  ndr_launch_split(launch, problem->length ? runs * own->pieces.size : 0, 1, 1, (int)one_step);
}

/* A warp reads a run. */
static void configure_warps(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch) {
  const ndr_axis *along = ndr_run_axis(problem);
  ndr_param_operand_runs *own = &launch->params.operand_runs;
  int64_t runs = count_runs(problem), bytes = ndr_chunk_bytes(problem, along, along->size);
  int64_t loads = runs * ndr_ceil_div(bytes, NDR_FLIGHT_BYTES(0, 1));
  int team = runs == 1 || ndr_small_output(problem, device, loads) ? NDR_WARP_THREADS : NDR_THREADS;
  own->team = ndr_threads(team);
  own->lanes = ndr_threads(NDR_WARP_THREADS);
  own->piece = along->size;
  own->pieces.size = 1;
  ndr_launch_shared(problem, device, launch, team, problem->length ? runs : 0, along->size, (double)bytes,
                    NDR_BLOCK_WARPS);
}

/* Whether states have moments, which take longer to join than others. */
static bool joins_moments(const ndr_canonical *problem) {
  for (int i = 0; i < problem->op_count; i++) {
    const ndr_program *program = problem->programs[i];
    if (!program && (problem->ops[i] == NDR_VAR || problem->ops[i] == NDR_STD)) return true;
    for (int k = 0; program && k < program->part_count; k++)
      if (program->parts[k].op == NDR_VAR || program->parts[k].op == NDR_STD) return true;
  }
  return false;
}

/* Whether blocks rather than warps read runs, or pieces of them. A warp that reads a run joins its threads and finishes
 * once, the warps of a block do so each. */
static bool runs_are_long(const ndr_canonical *problem, const ndr_device *device, const ndr_launch *launch) {
  const ndr_axis *along = ndr_run_axis(problem);
  int64_t runs = count_runs(problem), bytes = ndr_chunk_bytes(problem, along, along->size);
  double tasks = (double)problem->outputs * (double)runs, units = (double)device->units;
  if (runs > MOST_RUNS) return false;
  if (tasks <= units * FEW_RUNS) return bytes >= STEP_BYTES / 4;
  if (runs > 1) return bytes > LONG_RUN_BYTES;
  int64_t fresh = along->size / launch->operands.elements *
                  ndr_fresh_bytes(problem, launch->operands.ways, launch->operands.elements);
  bool warps_fill_device = tasks >= units * launch->blocks * NDR_BLOCK_WARPS;
  return fresh > (warps_fill_device && joins_moments(problem) ? MOMENTS_RUN_BYTES : BLOCK_RUN_BYTES);
}

void ndr_operands_runs(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, bool on_boundary) {
  const ndr_axis *along = ndr_run_axis(problem);
  int elements = on_boundary ? ndr_aligned_elements(problem, along) : 1;
  int64_t shortest = (int64_t)elements * NDR_WARP_THREADS * most_chunks(problem, elements);
  if (problem->length > 0 && along->size <= shortest) {
    if (count_runs(problem) == 1)
      configure_rows(problem, device, launch, elements);
    else
      configure_short(problem, device, launch, elements);
  } else {
    int decider = ndr_find_decider(problem, along);
    elements = decider < 0 ? 1 : (int)(NDR_VECTOR_BYTES / ndr_array_bytes(problem, decider));
    begin_runs(problem, launch, NDR_KERNEL_OPERANDS_RUNS, elements, 1);
    if (runs_are_long(problem, device, launch))
      configure_pieces(problem, device, launch);
    else
      configure_warps(problem, device, launch);
    ndr_axis_magic(&launch->params.operand_runs.pieces);
  }
  ndr_launch_end(launch);
}
