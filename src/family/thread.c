/* Planner's half of kernels/thread.cuh: the lane axis is kept; neighbouring threads own neighbouring outputs. */
#include "family/launch.h"

/* A thread accumulates at most so many rows: rounding errors and narrow integer totals stay bounded. */
enum { MOST_ROWS = 4096, PIECE_BYTES = 64 << 10 };

static const char *reject(const ndr_problem *problem, const ndr_device *device, char *text) {
  (void)device, (void)text;
  return problem->kept_count == 0 && problem->length != 1 ? "no axis is kept: there are no neighbouring outputs" : NULL;
}

static bool packets(const ndr_problem *problem) {
  return problem->kept_count > 0 && problem->kept[0].stride == 1 && ndr_packets_aligned(problem, &problem->kept[0]);
}

static double cost(const ndr_problem *problem, const ndr_device *device) {
  double bytes = (double)ndr_dtype_bytes(problem->dtype), efficiency = 0.95;
  int64_t stride = problem->kept_count ? problem->kept[0].stride : 1;
  double width = (double)(problem->kept_count ? problem->kept[0].size : 1) * bytes;
  if (!packets(problem)) {
    double step = (double)stride * bytes;
    efficiency *= stride == 1 ? (bytes >= 4 ? 0.97 : bytes / 4) : bytes / (step < 32 ? step : 32) * 0.8;
    if (stride == 0) efficiency = 0.5;
  }
  /* Rows narrower than a warp's read leave lanes idle, or sectors half used. */
  if (width < 512) efficiency *= (width + 32) / 544;
  return ndr_launch_cost(problem, device, efficiency);
}

static int64_t row_pieces(const ndr_plan *plan, int64_t tiles, int64_t row_bytes, int rows) {
  int64_t length = plan->problem.length, enough = (int64_t)plan->device.units * 8;
  int64_t piece = length;
  if (tiles < enough * 3 / 4) {
    piece = (length * tiles + enough - 1) / enough;
    int64_t least = PIECE_BYTES / (row_bytes > PIECE_BYTES ? PIECE_BYTES : row_bytes);
    if (piece < least) piece = least;
    if (piece < rows * 4) piece = rows * 4;
  }
  return piece > (int64_t)MOST_ROWS * rows ? (int64_t)MOST_ROWS * rows : piece;
}

static void configure_one(ndr_plan *plan, ndr_launch *launch, bool on_boundary) {
  const ndr_problem *problem = &plan->problem;
  bool wide = on_boundary && packets(problem);
  ndr_launch_begin(launch, problem, wide ? "thread_packets" : "thread_elements");
  ndr_params *p = &launch->params;
  if (p->kept_count == 0) { /* one output of one element: an axis of size 1 to stand on */
    p->kept_count = 1;
    p->axes[0] = (ndr_param_axis){1, 1, 1, 0, 0};
  }
  int64_t elements = wide ? ndr_packet_elements(problem->dtype) : 1;
  int64_t columns = (p->axes[0].size + elements - 1) / elements;
  int most = problem->length < 8 ? NDR_THREADS : wide ? 64 : 128;
  while (p->lanes < most && p->lanes < columns) p->lanes *= 2;
  int rows = NDR_THREADS / p->lanes;
  p->tile_outputs = p->lanes * (int)elements;
  p->work = (columns + p->lanes - 1) / p->lanes * (problem->outputs / p->axes[0].size);
  int64_t row_bytes = p->lanes * elements * (int64_t)ndr_dtype_bytes(problem->dtype);
  ndr_launch_split(launch, problem->length, row_pieces(plan, p->work, row_bytes, rows));
  ndr_launch_end(plan, launch);
}

static void configure(ndr_plan *plan) {
  ndr_launches *launches = ndr_plan_launches(plan);
  plan->workspace = 0;
  configure_one(plan, &launches->aligned, true);
  configure_one(plan, &launches->unaligned, false);
}

const ndr_family ndr_family_thread = {"thread", reject, cost, configure, ndr_launch_describe};
