/* Planner's half of kernels/thread.cuh: the fastest axis is kept; neighbouring threads own neighbouring outputs. */
#include "gpuplan/rows.h"

enum {
  LINE_THREADS = 8, /* that read a cache line */
  FEW_ROWS = 3,     /* at most, for which thread_few copies two batches */
  /* Of a block of thread_few: dynamic, with a vector more for each warp, and all. */
  FEW_BYTES = (NDR_THREADS + NDR_BLOCK_WARPS) * NDR_LOADS_THREAD_FEW * NDR_VECTOR_BYTES,
  FEW_BLOCK_BYTES = FEW_BYTES + (12 << 10)
};

static const char *reject(const ndr_canonical *problem, const ndr_device *device, char *text) {
  (void)text;
  if (ndr_canonical_uncompiled(problem, device)) return NDR_UNCOMPILED;
  return problem->kept_count == 0 && problem->length != 1 ? "no axis is kept: there are no neighbouring outputs" : NULL;
}

/* What a thread reads of a row: where columns lie side by side, as many as a vector holds, shifted into place unless
 * all rows are aligned; provided that no thread is idle while others accumulate many columns each. */
static ndr_kernel kernel_for(const ndr_canonical *problem, const ndr_device *device, bool on_boundary) {
  int64_t elements = ndr_vector_elements(problem->dtype);
  if (problem->kept_count == 0 || problem->kept[0].stride != 1) return NDR_KERNEL_THREAD_ELEMENTS;
  bool few = ndr_canonical_bytes(problem) < (double)device->units * NDR_THREADS * NDR_VECTOR_BYTES;
  if (few && elements >= 4 && problem->length > 1) return NDR_KERNEL_THREAD_ELEMENTS;
  if (on_boundary && ndr_vectors_aligned(problem, &problem->kept[0])) return NDR_KERNEL_THREAD_VECTORS;
  return problem->kept[0].size >= elements ? NDR_KERNEL_THREAD_SHIFTED : NDR_KERNEL_THREAD_ELEMENTS;
}

/* Elements from the walk's start to behind the array's last one. */
static int64_t extent(const ndr_params *p) {
  int64_t last = 0;
  for (int a = 0; a < p->kept_count + p->reduced_count; a++) last += (p->axes[a].size - 1) * p->axes[a].stride;
  return last + 1;
}

static int loads_in_flight(ndr_kernel kernel) {
  switch (kernel) {
  case NDR_KERNEL_THREAD_VECTORS: return NDR_LOADS_THREAD_VECTORS;
  case NDR_KERNEL_THREAD_SHIFTED: return NDR_LOADS_THREAD_SHIFTED;
  case NDR_KERNEL_THREAD_FEW: return NDR_LOADS_THREAD_FEW;
  default: return NDR_LOADS_THREAD_ELEMENTS;
  }
}

/* Rows that a team reads at a time, out of the `rows` of a block. They are halved until a thread reads at least two
 * batches, or eight where a team reads more than a cache line at a time; but not further than leaves enough blocks to
 * keep the device busy. */
static int team_rows(const ndr_canonical *problem, const ndr_device *device, const ndr_launch *launch, int rows,
                     int batch) {
  int64_t enough = (int64_t)device->units * ndr_kernel_blocks(launch->kernel), length = problem->length;
  int left = rows;
  while (left > 1 && launch->params.thread.teams >= enough * 2 * (rows / left)) {
    bool wide = left * launch->params.thread.lanes.count > LINE_THREADS;
    if (length >= (int64_t)left * batch * (wide ? 8 : 2)) break;
    left /= 2;
  }
  return left;
}

/* Rows that thread_few copies at a time, and the parts that it has room for. */
static int few_batch(int64_t length) {
  return (int)(length < NDR_LOADS_THREAD_FEW ? length : NDR_LOADS_THREAD_FEW);
}
static int few_parts(int64_t length) {
  return NDR_LOADS_THREAD_FEW / few_batch(length);
}

/* Whether rows, along one axis, are so few that a thread's loads of one column do not keep memory busy, and so wide
 * that blocks which read several do. */
static bool rows_are_few(const ndr_canonical *problem, const ndr_device *device, ndr_kernel kernel) {
  int64_t block = NDR_THREADS * ndr_vector_elements(problem->dtype), length = problem->length;
  if (kernel == NDR_KERNEL_THREAD_ELEMENTS || length < 2 || length > FEW_ROWS || problem->kept_count == 0) return false;
  if (problem->reduced_count != 1 || device->shared_bytes_per_block < FEW_BLOCK_BYTES) return false;
  int64_t blocks = (int64_t)device->units * ndr_kernel_blocks(NDR_KERNEL_THREAD_FEW);
  return problem->kept[0].size >= 8 * block && problem->outputs >= blocks * block * few_parts(length);
}

/* Cuts what a block reads of a few rows into parts, so that it copies as many vectors as it has room for. */
static void take_few_rows(ndr_launch *launch, int64_t length) {
  ndr_param_thread *own = &launch->params.thread;
  own->batch = few_batch(length);
  own->parts = few_parts(length);
  own->team_columns *= own->parts;
  launch->shared_bytes = FEW_BYTES;
}

static void configure_one(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch,
                          bool on_boundary) {
  ndr_kernel kernel = kernel_for(problem, device, on_boundary);
  bool wide = kernel != NDR_KERNEL_THREAD_ELEMENTS, few = rows_are_few(problem, device, kernel);
  if (few) kernel = NDR_KERNEL_THREAD_FEW;
  ndr_launch_begin(launch, problem, kernel);
  ndr_params *p = &launch->params;
  if (p->kept_count == 0) { /* one output of one element: give it an axis of size 1 */
    p->kept_count = 1;
    p->axes[0] = (ndr_param_axis){.size = 1, .stride = 1, .result_stride = 1};
  }
  int64_t elements = wide ? ndr_vector_elements(problem->dtype) : 1;
  int64_t columns = (p->axes[0].size + elements - 1) / elements;
  /* The fewer rows there are, the more of them each thread walks: enough for a batch of loads before the join. */
  int64_t length = problem->length, bytes = (int64_t)ndr_dtype_bytes(problem->dtype);
  int most = length < 16 ? NDR_THREADS : length < 64 ? 128 : length < 1024 && wide ? 64 : 32;
  int lanes = 1;
  while (lanes < most && lanes < columns) lanes *= 2;
  int64_t others = problem->outputs / p->axes[0].size;
  while (lanes > NDR_WARP_THREADS && columns * others < (int64_t)device->units * lanes) lanes /= 2;
  ndr_param_thread *own = &p->thread;
  own->lanes = ndr_threads(lanes);
  ndr_rows_order(p, NDR_THREADS / lanes, bytes);
  own->team_columns = lanes * (int)elements;
  if (few) take_few_rows(launch, length);
  own->axis_teams = (p->axes[0].size + own->team_columns - 1) / own->team_columns;
  own->teams = own->axis_teams * others;
  own->extent = extent(p);
  int batch = loads_in_flight(kernel), rows = team_rows(problem, device, launch, NDR_THREADS / lanes, batch);
  int teams = NDR_THREADS / lanes / rows;
  own->team = ndr_threads(lanes * rows);
  p->tile_outputs = own->team_columns * teams;
  p->work = (own->teams + teams - 1) / teams;
  if (teams == 1 && !few)
    ndr_rows_split(problem, device, launch, length, (double)(own->team_columns * bytes), rows, batch, 1);
  else
    ndr_launch_split(launch, length, length, 1, 1);
  ndr_launch_end(launch);
}

static double cost(const ndr_canonical *problem, const ndr_device *device) {
  return ndr_launches_cost(problem, device, configure_one);
}

static void configure(ndr_plan *plan) {
  ndr_launches_configure(plan, configure_one);
}

const ndr_family ndr_family_thread = {"thread", reject, cost, configure, ndr_launch_describe};
