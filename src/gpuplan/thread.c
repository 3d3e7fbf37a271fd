/* Planner's half of kernels/thread.cuh: the fastest axis is kept; neighbouring threads own neighbouring outputs. */
#include <stdlib.h>

#include "gpuplan/mapped.h"
#include "gpuplan/operands/operands.h"
#include "gpuplan/operands/operators.h"
#include "gpuplan/operands/table.h"
#include "gpuplan/phased.h"
#include "gpuplan/rows.h"

enum {
  LINE_THREADS = NDR_LINE_BYTES / NDR_VECTOR_BYTES, /* that read a cache line */
  MANY_ROWS = 16,     /* of an output, from which lanes are chosen so that blocks fill waves */
  BATCHES = 2,        /* at least, that a thread reads where the rows of a block are shared by several teams */
  LINE_BATCHES = 8,   /* the same where a team reads more than a line at a time */
  TURNED_BYTES = 256, /* of an output's elements, up to which it pays to turn results */
  TURNED_LANES = 32,  /* of a team then, where a lane reads an element; LINE_THREADS where it reads a vector */
  TURNED_OTHERS = 64, /* up to so many combinations of other kept axes, all are numbered before the next columns */
  STRIP = NDR_WARP_THREADS * NDR_SPREAD_COLUMNS, /* columns of a warp in thread_spread */
  FEW_WAVES = 2, /* waves of blocks that a problem must fill for thread_few, whose threads load all rows at once */
  MORE_WAVES = 3 /* the same where they load them in several batches */
};

/* Fewer lanes are chosen only if they take at most this share of the best time so far. */
static const double LANES_GAIN = 0.97;

_Static_assert(NDR_THREADS *NDR_LOADS_THREAD_ELEMENTS *LINE_BATCHES <= NDR_NARROW_ROWS, "totals fit in 32 bits");

static const char *reject(const ndr_canonical *problem, const ndr_device *device, char *text) {
  (void)text;
  if (problem->table) return ndr_table_reject(problem, device);
  if (ndr_operands_needed(problem)) return ndr_operands_reject_columns(problem, device);
  if (ndr_canonical_uncompiled(problem, device)) return NDR_UNCOMPILED;
  if (ndr_launch_has_program(problem) && !device->compiles) return NDR_NO_COMPILER;
  if (ndr_dtype_bytes(problem->dtype) <= 2 &&
      (problem->length + NDR_MOST_SPLITS - 1) / NDR_MOST_SPLITS > NDR_NARROW_ROWS)
    return "splits of 8- and 16-bit elements cannot hold that many rows";
  return problem->kept_count == 0 && problem->length != 1 ? "no axis is kept: there are no neighbouring outputs" : NULL;
}

/* What a thread reads of a row: where columns lie side by side, as many as a vector holds if all rows are aligned, else
 * several a warp apart, or narrow ones shifted into place; provided that no thread is idle while others accumulate many
 * columns each. */
static ndr_kernel kernel_for(const ndr_canonical *problem, const ndr_device *device, bool on_boundary) {
  int64_t elements = ndr_vector_elements(problem->dtype);
  if (problem->kept_count == 0 || problem->kept[0].stride != 1) return NDR_KERNEL_THREAD_ELEMENTS;
  bool few = ndr_canonical_bytes(problem) < (double)device->units * NDR_THREADS * NDR_VECTOR_BYTES;
  if (few && elements >= 4 && problem->length > 1) return NDR_KERNEL_THREAD_ELEMENTS;
  if (on_boundary && ndr_vectors_aligned(problem, &problem->kept[0])) return NDR_KERNEL_THREAD_VECTORS;
  if (NDR_CAN_SPREAD(ndr_dtype_bytes(problem->dtype)) && ndr_rows_strips_cover(problem->kept[0].size, STRIP))
    return NDR_KERNEL_THREAD_SPREAD;
  return problem->kept[0].size >= elements ? NDR_KERNEL_THREAD_SHIFTED : NDR_KERNEL_THREAD_ELEMENTS;
}

/* Rows that a thread loads at once. */
static int rows_in_flight(ndr_kernel kernel, int64_t bytes) {
  switch (kernel) {
  case NDR_KERNEL_THREAD_VECTORS: return NDR_LOADS_THREAD_VECTORS;
  case NDR_KERNEL_THREAD_SHIFTED: return NDR_LOADS_THREAD_SHIFTED;
  case NDR_KERNEL_THREAD_SPREAD: return NDR_SPREAD_ROWS(bytes);
  default: return NDR_LOADS_THREAD_ELEMENTS;
  }
}

/* Columns of a thread, or of one of its parts. */
static int thread_columns(ndr_kernel kernel, ndr_dtype dtype) {
  if (kernel == NDR_KERNEL_THREAD_ELEMENTS) return 1;
  if (kernel == NDR_KERNEL_THREAD_SPREAD) return NDR_SPREAD_COLUMNS;
  return (int)ndr_vector_elements(dtype);
}

/* Rows that a team reads at a time, out of the `rows` of a block. They are halved until a thread reads at least two
 * batches, or eight where a team reads more than a cache line at a time; but not further than leaves enough blocks to
 * keep the device busy. So a block is one team, whose rows can be split, wherever there are NDR_NARROW_ROWS of them. */
static int team_rows(const ndr_canonical *problem, const ndr_device *device, const ndr_launch *launch, int rows,
                     int batch) {
  if (launch->kernel == NDR_KERNEL_THREAD_FEW) return 1;
  int64_t enough = (int64_t)device->units * ndr_kernel_blocks(launch->kernel), length = problem->length;
  int64_t teams = launch->params.thread.axis_teams * launch->params.thread.others;
  int left = rows;
  while (left > 1 && teams >= enough * 2 * (rows / left)) {
    bool wide = left * launch->params.thread.lanes.count > LINE_THREADS;
    if (length >= (int64_t)left * batch * (wide ? LINE_BATCHES : BATCHES)) break;
    left /= 2;
  }
  return left;
}

/* Vectors along the fastest axis. */
static int64_t row_vectors(const ndr_canonical *problem) {
  int64_t elements = ndr_vector_elements(problem->dtype);
  return (problem->kept[0].size + elements - 1) / elements;
}

/* Whether rows lie along one axis and are few enough for thread_few, and columns are so many that each thread can have
 * its own. Rows that a thread does not load all at once are read faster by thread_vectors, if they are aligned. */
static bool rows_are_few(const ndr_canonical *problem, const ndr_device *device, ndr_kernel kernel) {
  int64_t block = NDR_THREADS * ndr_vector_elements(problem->dtype), length = problem->length;
  int64_t bytes = (int64_t)ndr_dtype_bytes(problem->dtype);
  bool more = length > NDR_FEW_LOADS(bytes);
  if (kernel == NDR_KERNEL_THREAD_ELEMENTS || length < 2 || problem->kept_count == 0) return false;
  if (more && (length > NDR_FEW_ROWS || kernel == NDR_KERNEL_THREAD_VECTORS)) return false;
  if (problem->reduced_count != 1 || row_vectors(problem) < LINE_THREADS) return false;
  int64_t blocks = (int64_t)device->units * ndr_kernel_blocks(NDR_KERNEL_THREAD_FEW);
  return problem->outputs >= (more ? MORE_WAVES : FEW_WAVES) * blocks * block * NDR_FEW_PARTS(length, bytes);
}

/* Whether neighbouring threads should write results of neighbouring teams: those of neighbouring columns lie further
 * apart, outputs have few elements, a team still reads a line of a row, and teams together write sectors. */
static bool turns_results(const ndr_canonical *problem) {
  int64_t bytes = (int64_t)ndr_dtype_bytes(problem->dtype);
  int64_t result = ndr_launch_result_bytes(problem);
  if (problem->kept_count < 2 || problem->length * bytes > TURNED_BYTES) return false;
  const ndr_axis *column = &problem->kept[0], *next = &problem->kept[1];
  if (llabs(next->result[0]) >= llabs(column->result[0])) return false;
  return column->size * bytes >= NDR_LINE_BYTES && next->size * result >= NDR_SECTOR_BYTES;
}

/* Threads that share a row: a power of 2. Each reads a vector, or an element, of its `loads`. */
static int count_lanes(const ndr_canonical *problem, const ndr_device *device, int64_t loads, int64_t others) {
  /* The fewer rows there are, the more of them each thread walks: enough for a batch of loads before the join. */
  int most = problem->length < MANY_ROWS ? NDR_THREADS : NDR_WARP_THREADS, lanes = 1;
  while (lanes < most && lanes < loads) lanes *= 2;
  while (lanes > NDR_WARP_THREADS && loads * others < (int64_t)device->units * lanes) lanes /= 2;
  return lanes;
}

/* Cuts the fastest axis into as few teams of `lanes` lanes as possible, all about equally wide, and returns the columns
 * of one: whole lines of vectors, or whole strips of thread_spread. */
static int64_t even_columns(const ndr_canonical *problem, ndr_kernel kernel, int64_t lanes) {
  int64_t size = problem->kept[0].size, most = lanes * thread_columns(kernel, problem->dtype);
  int64_t team = ndr_ceil_div(size, ndr_ceil_div(size, most));
  int64_t whole = kernel == NDR_KERNEL_THREAD_VECTORS  ? LINE_THREADS * ndr_vector_elements(problem->dtype)
                  : kernel == NDR_KERNEL_THREAD_SPREAD ? STRIP
                                                       : 1;
  return ndr_ceil_div(team, whole) * whole;
}

/* count_lanes where columns fill a warp or more, and rows are many. Tries a block's lanes first: a team then reads long
 * stretches of memory. Takes fewer if these fill waves better or leave fewer states to join. */
static int choose_lanes(const ndr_canonical *problem, const ndr_device *device, ndr_kernel kernel) {
  int64_t size = problem->kept[0].size, others = problem->outputs / size,
          columns = thread_columns(kernel, problem->dtype);
  int64_t blocks = (int64_t)device->units * ndr_kernel_blocks(kernel), bytes = (int64_t)ndr_dtype_bytes(problem->dtype);
  int best = NDR_THREADS;
  double least = 0;
  for (int lanes = NDR_THREADS; lanes >= NDR_WARP_THREADS; lanes /= 2) {
    int64_t rows = (int64_t)NDR_THREADS / lanes * rows_in_flight(kernel, bytes),
            team = even_columns(problem, kernel, lanes);
    if (lanes > NDR_WARP_THREADS && lanes / 2 * columns >= size) continue;
    if (least > 0 && problem->length < rows) break;
    ndr_tiles tiles = {.count = ndr_ceil_div(size, team) * others,
                       .bytes = (double)problem->length * (double)(team * bytes),
                       .outputs = team,
                       .words = ndr_rows_state_cost(problem)};
    int64_t one_step = ndr_launch_step(team), most = problem->length / rows;
    int64_t splits = ndr_best_splits(&tiles, blocks, most > 1 ? most : 1, one_step);
    double time = ndr_splits_time(&tiles, blocks, splits, one_step);
    if (least == 0 || time < least * LANES_GAIN) best = lanes, least = time;
  }
  return best;
}

/* Cuts a block's threads into teams, each of as many rows as pay, and outputs into tiles of a block's teams. Returns
 * the number of a block's teams. */
static int cut_teams(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, bool turned) {
  ndr_params *p = &launch->params;
  ndr_param_thread *own = &p->thread;
  int lanes = own->lanes.count;
  int batch = rows_in_flight(launch->kernel, (int64_t)ndr_dtype_bytes(problem->dtype));
  int rows = team_rows(problem, device, launch, NDR_THREADS / lanes, batch);
  int teams = NDR_THREADS / lanes / rows;
  own->team = ndr_threads(lanes * rows);
  own->near_others = !turned || own->others < 1 ? 1 : own->others <= TURNED_OTHERS ? own->others : teams;
  int64_t numbered = (own->others + own->near_others - 1) / own->near_others * own->near_others;
  p->tile_outputs = own->team_columns * teams;
  p->work = (own->axis_teams * numbered + teams - 1) / teams;
  return teams;
}

/* Returns false where results should be turned, but a block is one team. */
static bool configure_teams(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch,
                            ndr_kernel kernel, bool turned) {
  ndr_launch_begin(launch, problem, kernel);
  ndr_params *p = &launch->params;
  if (p->kept_count == 0) { /* one output of one element: give it an axis of size 1 */
    p->kept_count = 1;
    p->axes[0] = (ndr_param_axis){.size = 1, .stride = 1, .result_stride = 1};
  }
  ndr_param_thread *own = &p->thread;
  int64_t elements = thread_columns(kernel, problem->dtype), bytes = (int64_t)ndr_dtype_bytes(problem->dtype);
  own->others = problem->outputs / p->axes[0].size;
  own->parts = kernel == NDR_KERNEL_THREAD_FEW ? (int)NDR_FEW_PARTS(problem->length, bytes) : 1;
  int64_t loads = (p->axes[0].size + elements * own->parts - 1) / (elements * own->parts);
  bool cut_evenly =
      kernel != NDR_KERNEL_THREAD_FEW && !turned && loads >= NDR_WARP_THREADS && problem->length >= MANY_ROWS;
  int lanes = cut_evenly ? choose_lanes(problem, device, kernel) : count_lanes(problem, device, loads, own->others);
  if (cut_evenly) launch->words = ndr_rows_state_cost(problem);
  int most = ndr_kernel_loads_vectors(kernel) ? LINE_THREADS : TURNED_LANES;
  if (turned && lanes > most) lanes = most;
  own->lanes = ndr_threads(lanes);
  own->team_columns = cut_evenly ? (int)even_columns(problem, kernel, lanes) : own->parts * lanes * (int)elements;
  ndr_rows_order(p, NDR_THREADS / lanes, bytes);
  own->axis_teams = (p->axes[0].size + own->team_columns - 1) / own->team_columns;
  int teams = cut_teams(problem, device, launch, turned);
  if (turned && teams == 1) return false;
  if (teams == 1 && kernel != NDR_KERNEL_THREAD_FEW)
    ndr_rows_split(problem, device, launch, problem->length, ndr_rows_bytes(p, bytes), NDR_THREADS / lanes,
                   rows_in_flight(kernel, bytes), 1);
  else
    ndr_launch_split(launch, problem->length, problem->length, 1, 1);
  ndr_launch_end(launch);
  return true;
}

/* `mapped`: the columns are those of ndr_mapped_columns, which thread_few does not know. */
static void configure_columns(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch,
                              ndr_kernel kernel, bool mapped) {
  if (kernel == NDR_KERNEL_THREAD_SHIFTED && ndr_phased_configure(problem, device, launch)) return;
  if (!mapped && rows_are_few(problem, device, kernel)) kernel = NDR_KERNEL_THREAD_FEW;
  configure_teams(problem, device, launch, kernel, false);
}

static void configure_one(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch,
                          bool on_boundary) {
  if (problem->table) {
    ndr_table_configure(problem, device, launch, on_boundary);
    return;
  }
  if (ndr_operands_needed(problem)) {
    ndr_operands_columns(problem, device, launch, on_boundary);
    return;
  }
  ndr_kernel kernel = kernel_for(problem, device, on_boundary);
  if (turns_results(problem) && configure_teams(problem, device, launch, kernel, true)) return;
  ndr_canonical columns;
  bool mapped = ndr_mapped_columns(problem, &columns);
  ndr_kernel wide = mapped ? kernel_for(&columns, device, on_boundary) : NDR_KERNEL_THREAD_ELEMENTS;
  if (wide == NDR_KERNEL_THREAD_ELEMENTS) {
    configure_columns(problem, device, launch, kernel, false);
    return;
  }
  configure_columns(&columns, device, launch, wide, true);
  ndr_mapped_launch(problem, launch);
}

static double cost(const ndr_canonical *problem, const ndr_device *device) {
  return ndr_launches_cost(problem, device, configure_one);
}

static void configure(ndr_plan *plan) {
  ndr_launches_configure(plan, configure_one);
}

const ndr_family ndr_family_thread = {"thread", reject, cost, configure, ndr_launch_describe};
