/* Planner's half of kernels/thread.cuh: the lane axis is kept; neighbouring threads own neighbouring outputs. */
#include "family/launch.h"

/* A thread accumulates at most so many rows: rounding errors and narrow integer totals stay bounded. */
enum { MOST_ROWS = 4096 };

static const char *reject(const ndr_problem *problem, const ndr_device *device, char *text) {
  (void)text;
  if (ndr_problem_uncompiled(problem, device)) return NDR_UNCOMPILED;
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

static int64_t row_pieces(const ndr_plan *plan, int64_t tiles, int rows) {
  int64_t length = plan->problem.length, enough = (int64_t)plan->device.units * 8;
  int64_t piece = length;
  if (tiles < enough * 3 / 4) {
    piece = (length * tiles + enough - 1) / enough;
    if (piece < rows * 8) piece = rows * 8;
  }
  return piece > (int64_t)MOST_ROWS * rows ? (int64_t)MOST_ROWS * rows : piece;
}

/* Rows are walked along one reduced axis and decoded once a stretch of it: the longest makes the fewest stretches. */
static void longest_first(ndr_params *p) {
  ndr_param_axis *axes = p->axes + p->kept_count;
  int longest = 0;
  for (int a = 1; a < p->reduced_count; a++)
    if (axes[a].size > axes[longest].size) longest = a;
  ndr_param_axis axis = axes[longest];
  axes[longest] = axes[0];
  if (p->reduced_count > 0) axes[0] = axis;
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
  longest_first(p);
  int64_t elements = wide ? ndr_packet_elements(problem->dtype) : 1;
  int64_t columns = (p->axes[0].size + elements - 1) / elements;
  /* Few rows are walked by one thread each: enough for a batch of loads before the block's rows are joined. */
  int64_t length = problem->length;
  int most = length < 16 ? NDR_THREADS : length < 64 ? 128 : length < 1024 && wide ? 64 : 32;
  int lanes = 1;
  while (lanes < most && lanes < columns) lanes *= 2;
  ndr_launch_lanes(launch, lanes);
  int rows = NDR_THREADS / lanes;
  while (1 << p->row_log < rows) p->row_log++;
  p->tile_outputs = p->lanes * (int)elements;
  p->tiles = (columns + p->lanes - 1) / p->lanes;
  p->work = p->tiles * (problem->outputs / p->axes[0].size);
  ndr_launch_split(launch, problem->length, row_pieces(plan, p->work, rows), 1);
  ndr_launch_end(launch);
}

static void configure(ndr_plan *plan) {
  ndr_launches *launches = ndr_plan_launches(plan);
  configure_one(plan, &launches->aligned, true);
  configure_one(plan, &launches->unaligned, false);
  ndr_launches_end(plan);
}

const ndr_family ndr_family_thread = {"thread", reject, cost, configure, ndr_launch_describe};
