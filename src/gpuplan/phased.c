/* Planner's half of kernels/phased.cuh: many rows of columns that lie side by side and begin anywhere. */
#include "gpuplan/phased.h"

#include "gpuplan/rows.h"

enum {
  ROW_BYTES = 1024,     /* of a row that a team reads, at most */
  LONG_ROW_BYTES = 512, /* the same where rows are LONG or more: fewer columns are joined over more rows */
  LONG = 1024,
  THREAD_ROWS = 24 /* rows of a thread, at least: the join at the end costs about as many */
};

/* Phases along the walked axis, and whether the starts of all runs have one of them. Rows a vector apart or more are
 * needed: then only the last row's last vector may reach beyond the array. */
static bool find_phases(ndr_params *p, int64_t elements) {
  const ndr_param_axis *axes = p->axes + p->kept_count;
  int64_t step = ndr_gcd(axes[0].stride, elements), phases = elements / step, inverse = 1;
  for (int a = 0; a < p->reduced_count; a++)
    if (axes[a].stride < elements || axes[a].stride % step) return false;
  while (inverse < phases && inverse * (axes[0].stride / step) % phases != 1 % phases) inverse++;
  p->thread.phases = (int)phases;
  p->thread.phase_step_log = ndr_threads((int)step).log;
  p->thread.phase_inverse = (int)inverse;
  return true;
}

/* Cuts the columns into tiles. Vectors that begin `elements` - 1 before a tile's first column must still hold its last
 * one. */
static void cut_columns(ndr_params *p, int64_t length, int64_t elements) {
  ndr_param_thread *own = &p->thread;
  int64_t size = p->axes[0].size;
  int64_t lanes = (length < LONG ? ROW_BYTES : LONG_ROW_BYTES) / NDR_VECTOR_BYTES, most = NDR_THREADS / own->phases;
  if (lanes > most) lanes = most;
  most = (NDR_THREADS + elements - 1) / elements;
  if (lanes > most) lanes = most;
  int64_t columns = lanes * elements - (elements - 1);
  own->axis_teams = (size + columns - 1) / columns;
  own->team_columns = (int)((size + own->axis_teams - 1) / own->axis_teams);
  own->lanes = (ndr_param_threads){(int)((own->team_columns + elements - 1 + elements - 1) / elements), 0};
  own->lane_count = ndr_divisor(own->lanes.count);
  own->rows = NDR_THREADS / own->lanes.count / own->phases * own->phases;
}

bool ndr_phased_configure(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch) {
  int64_t elements = ndr_vector_elements(problem->dtype), bytes = (int64_t)ndr_dtype_bytes(problem->dtype);
  ndr_launch_begin(launch, problem, NDR_KERNEL_THREAD_PHASED);
  ndr_params *p = &launch->params;
  ndr_param_thread *own = &p->thread;
  if (elements == 1 || p->reduced_count == 0) return false;
  int64_t vectors = p->axes[0].size / elements + 2;
  ndr_rows_order(p, vectors < NDR_THREADS ? (int)(NDR_THREADS / vectors) : 1, bytes);
  if (!find_phases(p, elements)) return false;
  cut_columns(p, problem->length, elements);
  if (problem->length < (int64_t)own->rows * THREAD_ROWS) return false;
  own->team = ndr_threads(NDR_THREADS);
  own->others = problem->outputs / p->axes[0].size;
  own->near_others = own->parts = 1;
  int joiners = NDR_WARP_THREADS;
  while (joiners > 1 && (joiners * own->team_columns > NDR_THREADS || joiners > own->rows)) joiners /= 2;
  own->joiners = ndr_threads(joiners);
  p->tile_outputs = own->team_columns;
  p->work = own->axis_teams * own->others;
  launch->words = ndr_rows_state_cost(problem);
  ndr_rows_split(problem, device, launch, problem->length, ndr_rows_bytes(p, bytes), own->rows, NDR_LOADS_THREAD_PHASED,
                 1);
  ndr_launch_end(launch);
  return true;
}
