/* Planner's half of kernels/thread.cuh: the lane axis is kept; neighbouring threads own neighbouring outputs. */
#include "family/launch.h"

/* A thread reads PACKET_ROWS or ELEMENT_ROWS rows at a time, and accumulates MOST_ROWS at most: rounding errors and
 * narrow integer totals stay bounded. LINE_THREADS read a cache line. */
enum { MOST_ROWS = 4096, PACKET_ROWS = 4, ELEMENT_ROWS = 16, RESIDENT_BLOCKS = 4, LINE_THREADS = 8 };

/* Seconds: the joins of a block's rows. */
#define JOIN_LATENCY 1.5e-6

static const char *reject(const ndr_problem *problem, const ndr_device *device, char *text) {
  (void)text;
  if (ndr_problem_uncompiled(problem, device)) return NDR_UNCOMPILED;
  return problem->kept_count == 0 && problem->length != 1 ? "no axis is kept: there are no neighbouring outputs" : NULL;
}

static bool packets(const ndr_problem *problem) {
  return problem->kept_count > 0 && problem->kept[0].stride == 1 && ndr_packets_aligned(problem, &problem->kept[0]);
}

/* The share of the lanes that have a column. */
static double busy_lanes(int64_t columns) {
  int64_t lanes = 1;
  while (lanes < NDR_WARP_THREADS && lanes < columns) lanes *= 2;
  int64_t slots = (columns + lanes - 1) / lanes * lanes;
  return (double)columns / (double)slots;
}

static double cost(const ndr_problem *problem, const ndr_device *device) {
  double bytes = (double)ndr_dtype_bytes(problem->dtype), length = (double)problem->length;
  const ndr_axis one = {.size = 1, .stride = 1}, *lane = problem->kept_count ? &problem->kept[0] : &one;
  double width = (double)lane->size * bytes;
  /* Rows that follow each other closely are read whole, however narrow. Others leave sectors half used. */
  bool dense = problem->reduced_count && problem->reduced[0].stride <= lane->size * lane->stride;
  double efficiency = dense || width >= 512 ? 0.95 : 0.95 * (width + 32) / 544;
  if (!packets(problem)) {
    double step = (double)lane->stride * bytes;
    /* What a step leaves out is read as well. */
    bool inside = problem->reduced_count && (double)problem->reduced[0].stride * bytes <= 8;
    efficiency *= (bytes >= 4 ? 1 : bytes / 4) * length / (length + ELEMENT_ROWS);
    if (lane->stride == 1)
      efficiency *= 0.9 * busy_lanes(lane->size);
    else
      efficiency *= inside ? (step <= 64 ? 0.75 : step <= 4096 ? 0.4 : 0.2) : bytes / (step < 32 ? step : 32) * 0.8;
    if (lane->stride == 0) efficiency = 0.5;
  }
  return ndr_launch_cost(problem, device, efficiency) + JOIN_LATENCY;
}

/* Cuts a tile's rows where there are too few tiles for all multiprocessors to be busy to the end. */
static void split_rows(const ndr_plan *plan, ndr_launch *launch, int rows, int batch) {
  const ndr_params *p = &launch->params;
  int64_t length = plan->problem.length, most = length / ((int64_t)rows * batch);
  double bytes = (double)length * p->tile_outputs * (double)ndr_dtype_bytes(plan->problem.dtype);
  int64_t parts = ndr_launch_parts(p->work, bytes, (int64_t)plan->device.units * RESIDENT_BLOCKS, most > 1 ? most : 1);
  int64_t piece = (length + parts - 1) / parts, longest = (int64_t)MOST_ROWS * rows;
  ndr_launch_split(launch, length, piece > longest ? longest : piece, 1, NDR_STEP_OF_THREAD);
}

/* Rows of a team, of the block's: so few that a thread reads two batches, and more where the team still reads a cache
 * line at a time; but enough blocks to keep the machine busy. */
static int team_rows(const ndr_plan *plan, const ndr_launch *launch, int rows, int batch) {
  int64_t enough = (int64_t)plan->device.units * RESIDENT_BLOCKS, length = plan->problem.length;
  int left = rows;
  while (left > 1 && launch->params.all_tiles >= enough * 2 * (rows / left)) {
    bool wide = left * launch->params.lanes > LINE_THREADS;
    if (length >= (int64_t)left * batch * (wide ? 8 : 2)) break;
    left /= 2;
  }
  return left;
}

/* Rows are walked along one reduced axis and decoded once a stretch of it. The longest makes the fewest stretches; but
 * where rows share sectors, and the block's `rows` at a time are within a stretch, the densest. */
static void order_rows(ndr_params *p, int rows, double bytes) {
  ndr_param_axis *axes = p->axes + p->kept_count;
  int first = 0;
  bool shared = p->reduced_count && (double)axes[0].stride * bytes < 32 && axes[0].size >= 2 * rows;
  for (int a = 1; !shared && a < p->reduced_count; a++)
    if (axes[a].size > axes[first].size) first = a;
  ndr_param_axis axis = axes[first];
  axes[first] = axes[0];
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
  int64_t elements = wide ? ndr_packet_elements(problem->dtype) : 1;
  int64_t columns = (p->axes[0].size + elements - 1) / elements;
  /* Few rows are walked by one thread each: enough for a batch of loads before the block's rows are joined. */
  int64_t length = problem->length;
  int most = length < 16 ? NDR_THREADS : length < 64 ? 128 : length < 1024 && wide ? 64 : 32;
  int lanes = 1;
  while (lanes < most && lanes < columns) lanes *= 2;
  int64_t others = problem->outputs / p->axes[0].size;
  while (lanes > NDR_WARP_THREADS && columns * others < (int64_t)plan->device.units * lanes) lanes /= 2;
  ndr_launch_lanes(launch, lanes);
  order_rows(p, NDR_THREADS / lanes, (double)ndr_dtype_bytes(problem->dtype));
  p->columns = lanes * (int)elements;
  p->tiles = (columns + lanes - 1) / lanes;
  p->all_tiles = p->tiles * others;
  int batch = wide ? PACKET_ROWS : ELEMENT_ROWS, rows = team_rows(plan, launch, NDR_THREADS / lanes, batch);
  int teams = NDR_THREADS / lanes / rows;
  ndr_launch_team(launch, lanes * rows);
  p->tile_outputs = p->columns * teams;
  p->work = (p->all_tiles + teams - 1) / teams;
  if (teams == 1)
    split_rows(plan, launch, rows, batch);
  else
    ndr_launch_split(launch, length, length, 1, NDR_STEP_OF_THREAD);
  ndr_launch_end(launch);
}

static void configure(ndr_plan *plan) {
  ndr_launches *launches = ndr_plan_launches(plan);
  configure_one(plan, &launches->aligned, true);
  configure_one(plan, &launches->unaligned, false);
  ndr_launches_end(plan);
}

const ndr_family ndr_family_thread = {"thread", reject, cost, configure, ndr_launch_describe};
