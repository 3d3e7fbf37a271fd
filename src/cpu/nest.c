/* Plans the loops of a nest. nest_execute.c runs them. */
#include "cpu/nest.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/cuts.h"
#include "cpu/fold/fold.h"
#include "cpu/program/machine.h"

_Static_assert((int)NDR_ROWS <= NDR_ROWS_BEHIND, "rows_ahead is at most a tile's rows");

/* Bytes of a row of a run of integers, for kernels that do not add it up in registers (fold/dtype/int_run.h), such as
 * those of runs that several outputs share. Four rows are read at a time: with 512 bytes between them the prefetchers
 * lose the stream and a Zen 4 core falls from 30 to 10 GB/s. With 128, where every second cache line comes first, it
 * reads 13 to 18 GB/s from memory, but 1.1 to 1.4 times as fast from caches as with a line. So arrays that no cache
 * holds have rows of a line. */
#define ROW_BYTES 128
#define FAR_ROW_BYTES 64
#define FAR_BYTES 16777216
/* Lanes of other rows: RUN_LANES (fold/lane.h). Floats have kernels that read such rows in order. */
#define LEAST_LANES 32
/* The most words of a chunk's states, of all ops: the second-level cache holds them beside the tile. */
#define CHUNK_WORDS 8192
/* Tasks that a large problem is cut into, and the bytes below which a task is not worth starting. */
#define TASKS 32
#define TASK_BYTES 65536
/* The bytes of a problem's splits are at least this many times those of their states. */
#define STATES_PART 32
/* Lanes of a tile where a row has more than NDR_LANES, or does not lie right after the one before: accumulators take a
 * part of the first-level cache. Of one or two bytes, as many as can be: streams of a page or more are longer. */
#define CUT_LANES 512
/* Lanes of a tile whose results are stored across tiles: so few that a chunk has many tiles. */
#define TURNED_LANES 64
/* The most lanes from one output to the next. */
#define MOST_GAP 16
/* The most bytes from one row to the next, where what is between them is gathered, too. */
#define GAP_BYTES 8
/* Layers of a tile, which a transposed square has. More of them leave fewer lanes: the lines of results that a tile
 * writes in part are written again long after, those of elements are read again by the next tile. */
#define MOST_LAYERS 16
/* The most rows of a tile with layers, and the most outputs along these if there is more than one row: where there are
 * more, rows are long enough to be read as they lie, in up to two thirds of the time. */
#define MOST_LAYERED_ROWS 8
#define SHORT_LAYERS 32
/* The most bytes of a lane with contiguous elements that one tile has whole, so that kernels of `across` and `along`
 * read memory in its order. A Zen 5 core reads 12 to 20 GB/s of parts of 255 elements, and up to 40 of whole lanes. */
#define WHOLE_BYTES 8192
/* Bytes of tiles between one and the one that is prefetched with it. */
#define PREFETCH_BYTES 8192
/* Bytes between an element of dense rows and the one that is prefetched with it. Sums of columns run at 80 % of the
 * rate of plain reads on a Zen 5 core with 8 to 16 KiB; with 4 KiB at 60 %. */
#define DENSE_AHEAD 12288
/* Bytes of rows between a row and the one that is prefetched with it, where rows lie apart. */
#define ROWS_AHEAD 16384
/* Bytes of the elements of a problem from which on tiles that are gathered are prefetched: a loop of loads that miss
 * the caches is up to twice as fast, and one whose elements are in them a tenth slower. */
#define GATHERED_BYTES 2097152

const char *ndr_nest_reject(const ndr_canonical *problem) {
  if (problem->outputs == 0 || problem->length == 0) return "no elements";
  if (problem->table) return "nests read no table";
  if (problem->kept_count + problem->reduced_count == 0) return "a single element";
  return ndr_machine_reject(problem);
}

bool ndr_nest_keeps_fastest(const ndr_canonical *problem) {
  if (problem->kept_count == 0 || problem->reduced_count == 0) return problem->kept_count > 0;
  int64_t kept = problem->kept[0].stride, reduced = problem->reduced[0].stride;
  return reduced == 0 || (kept != 0 && kept <= reduced);
}

/* ---- the tile ---- */

static int64_t element_bytes(const ndr_canonical *problem) {
  return (int64_t)ndr_dtype_bytes(problem->dtype);
}

/* Rows of a tile, which are cut evenly. Where lanes are contiguous there are more: each tile costs another pass over
 * its states. */
static int64_t rows_that_fit(const ndr_canonical *problem, bool contiguous, int64_t lanes, int64_t row_extent) {
  int64_t rows = ndr_most((contiguous ? 4 : 1) * NDR_TILE_BYTES / (lanes * element_bytes(problem)), 1);
  rows = ndr_least(rows, NDR_ROWS);
  return ndr_cuts(row_extent, ndr_most(ndr_cuts(row_extent, rows), 1));
}

/* Whether a tile has as much as it can of each row of a kept axis: rows that lie one right after the other are read
 * whole, and each of those that lie anywhere is a stream of its own. */
static bool reads_whole(const ndr_axis *axis, const ndr_axis *rows) {
  return axis->stride == 1 && (rows->scattered || (axis->size <= NDR_LANES && rows->stride == axis->size));
}

/* Parts of a size that are at most `most`, a multiple of 16: even ones, and multiples of 16 too. */
static int64_t cut_evenly(int64_t size, int64_t most) {
  return ndr_least(ndr_cuts(ndr_cuts(size, ndr_cuts(size, most)), 16) * 16, size);
}

/* Lanes of a tile along a kept axis. If rows lie closer in memory than lanes, one tile should have all rows, so that it
 * uses the whole of each cache line. */
static int64_t lanes_that_fit(const ndr_canonical *problem, const ndr_axis *axis, const ndr_axis *rows,
                              int64_t row_gap) {
  bool narrow = element_bytes(problem) <= 2 && axis->stride == 1;
  int64_t lanes = narrow || reads_whole(axis, rows) ? NDR_LANES : CUT_LANES;
  if (rows->stride < axis->stride)
    lanes = ndr_most(
        32, ndr_least(lanes,
                      NDR_TILE_BYTES / (ndr_least(rows->size, NDR_ROWS) * row_gap * element_bytes(problem)) / 16 * 16));
  return cut_evenly(axis->size, lanes);
}

/* ---- the loops outside the tile ---- */

static int add_outer(ndr_nest_axis *axes, int *count, ndr_nest_axis axis) {
  if (axis.size <= 1) return -1;
  int at = (*count)++;
  /* An axis of stride 0 comes last: it brings no new data. */
  for (; at > 0 && axis.stride && (axes[at - 1].stride > axis.stride || !axes[at - 1].stride); at--)
    axes[at] = axes[at - 1];
  axes[at] = axis;
  return at;
}

/* Adds a kept axis in steps of `share` outputs; returns its number. */
static int add_kept_axis(ndr_nest *nest, const ndr_canonical *problem, int kept, int64_t share) {
  const ndr_axis *axis = &problem->kept[kept];
  ndr_nest_axis outer = {ndr_cuts(axis->size, share), share * axis->stride, 0, kept, share};
  int at = add_outer(nest->kept, &nest->kept_count, outer);
  if (at >= 0 && at <= nest->lane_axis) nest->lane_axis++;
  if (at >= 0 && at <= nest->layer_axis) nest->layer_axis++;
  return at;
}

static void add_kept(ndr_nest *nest, const ndr_canonical *problem, int skip) {
  nest->lane_axis = nest->layer_axis = -1;
  if (nest->form == NDR_NEST_ROWS)
    nest->lane_axis = add_kept_axis(nest, problem, nest->output_axis, ndr_cuts(nest->lanes, nest->gap));
  if (nest->layers > 1) nest->layer_axis = add_kept_axis(nest, problem, 0, nest->layers);
  for (int k = nest->layers > 1; k < problem->kept_count; k++)
    if (k != skip) add_kept_axis(nest, problem, k, 1);
}

/* The kept axis along which results are to be stored where those along the lanes would lie in a few sets of the caches:
 * the one along which they are closest together. -1: they lie well as they are. */
static int turned_axis(const ndr_canonical *problem, int lanes) {
  enum { SET_BYTES = 1024, LEAST = 16 };
  int64_t apart = llabs(problem->kept[lanes].result[0]);
  ndr_dtype result = ndr_canonical_result(problem, 0);
  int found = -1;
  if (apart % (SET_BYTES / (int64_t)ndr_dtype_bytes(result)) != 0) return -1;
  for (int k = 0; k < problem->kept_count; k++) {
    const ndr_axis *axis = &problem->kept[k];
    if (llabs(axis->result[0]) >= apart || axis->size < LEAST) continue;
    apart = llabs(axis->result[0]);
    found = k;
  }
  return found;
}

/* Moves an axis to the front of those that are kept. */
static void put_first(ndr_nest *nest, int kept) {
  int at = 0;
  while (at < nest->kept_count && (nest->kept[at].axis != kept || at == nest->lane_axis)) at++;
  ndr_nest_axis axis = nest->kept[at];
  memmove(nest->kept + 1, nest->kept, (size_t)at * sizeof axis);
  nest->kept[0] = axis;
  if (nest->lane_axis >= 0 && nest->lane_axis < at) nest->lane_axis++;
}

static void add_reduced(ndr_nest *nest, const ndr_canonical *problem, int skip_lanes, int skip_rows) {
  int64_t groups = nest->lanes / nest->period; /* of a run: less than a row of them is left to the block before */
  int64_t blocks = nest->form == NDR_NEST_RUN ? ndr_most(1, ndr_cuts(nest->extent - (groups - 1), nest->rows * groups))
                                              : ndr_cuts(nest->row_extent, nest->rows);
  bool run = nest->form == NDR_NEST_RUN;
  ndr_nest_axis axis = {blocks, nest->rows * nest->row_stride, nest->rows * nest->row_index,
                        run ? nest->lanes_along : nest->rows_along, nest->rows * (run ? groups : 1)};
  nest->row_axis = add_outer(nest->reduced, &nest->reduced_count, axis);
  for (int r = 0; r < problem->reduced_count; r++) {
    if (r == skip_lanes || r == skip_rows) continue;
    const ndr_axis *from = &problem->reduced[r];
    int at =
        add_outer(nest->reduced, &nest->reduced_count, (ndr_nest_axis){from->size, from->stride, from->index, r, 1});
    if (at <= nest->row_axis) nest->row_axis++;
  }
}

/* Positions of a chunk whose states have `words` words: all that lie closer together than the steps of the reduction,
 * so that memory is read in its order, and enough to make a task of TASK_BYTES. */
static int64_t choose_chunk(const ndr_nest *nest, int64_t words, int64_t tile_bytes) {
  int64_t room = ndr_most(1, CHUNK_WORDS / ndr_most(1, words * nest->period)), wanted = 1;
  for (int k = 0; k < nest->kept_count && nest->steps > 1; k++)
    if (nest->kept[k].stride && nest->kept[k].stride < nest->reduced[0].stride && wanted <= room)
      wanted *= nest->kept[k].size;
  int64_t position_bytes = tile_bytes * ndr_least(nest->steps, TASK_BYTES);
  wanted = ndr_most(wanted, ndr_least(ndr_cuts(TASK_BYTES, position_bytes), nest->positions));
  return ndr_cuts(wanted, ndr_cuts(wanted, room));
}

/* Whether positions lie farther apart than steps, so that memory is read in its order one position after the other. */
static bool positions_are_far(const ndr_nest *nest) {
  for (int k = 0; k < nest->kept_count; k++)
    if (nest->kept[k].stride && nest->kept[k].stride < nest->reduced[0].stride) return false;
  return true;
}

/* Splits that make TASKS tasks. Chunks count as if states had two words, so that splits do not depend on the ops. */
static int64_t choose_splits(const ndr_nest *nest, const ndr_canonical *problem, int64_t tile_bytes) {
  double chunks = (double)ndr_cuts(nest->positions, choose_chunk(nest, 2, tile_bytes)), splits = TASKS / chunks;
  double bytes = (double)problem->length * (double)element_bytes(problem);
  double per_task = bytes * (double)problem->outputs / TASK_BYTES / chunks;
  if (splits > per_task) splits = per_task;
  if (splits > bytes / 16 / STATES_PART) splits = bytes / 16 / STATES_PART;
  return ndr_most(1, ndr_least((int64_t)splits, nest->steps));
}

/* Cuts chunks where there are fewer tasks than threads may want: outputs of few elements allow few splits. */
static void spread(ndr_nest *nest, int64_t tile_bytes) {
  double bytes = (double)tile_bytes * (double)nest->steps / (double)nest->splits;
  while (nest->chunk > 1 && nest->chunks * nest->splits < TASKS && (double)nest->chunk * bytes >= 2 * TASK_BYTES) {
    nest->chunk = ndr_cuts(nest->chunk, 2);
    nest->chunks = ndr_cuts(nest->positions, nest->chunk);
  }
}

/* The widest dtype that an operator converts the array's elements to: of a program, any of its parts may be one that
 * the nest folds. */
static ndr_dtype widest_view(const ndr_canonical *problem, int i) {
  const ndr_program *program = problem->programs[i];
  ndr_dtype widest = problem->dtype;
  for (int p = 0; p < (program ? program->part_count : 1); p++) {
    if (program && !ndr_program_part_is_plain(program, p, problem->dtype)) continue;
    ndr_op op = program ? program->parts[p].op : problem->ops[i];
    ndr_dtype view = ndr_fold_dtype(op, problem->dtype, problem->accumulate_f64);
    if (view != problem->dtype && (widest == problem->dtype || ndr_dtype_bytes(view) > ndr_dtype_bytes(widest)))
      widest = view;
  }
  return widest;
}

static void size_memory(ndr_nest *nest, const ndr_canonical *problem, int64_t words) {
  const int64_t gathered = ndr_nest_width(nest) * nest->gather_rows;
  int64_t converted = 0;
  for (int i = 0; i < problem->op_count; i++) {
    ndr_dtype to = widest_view(problem, i);
    if (to != problem->dtype) converted = ndr_most(converted, gathered * (int64_t)ndr_dtype_bytes(to));
  }
  nest->pitch = (nest->by_position ? 1 : nest->chunk) * nest->period;
  nest->block = nest->pitch * words;
  nest->gather_bytes = 0;
  if (nest->lane_stride != 1)
    nest->gather_bytes = ndr_cuts(gathered * element_bytes(problem) * nest->row_gap, 64) * 64 + NDR_SPARE_BYTES;
  nest->convert_bytes = ndr_least(converted, NDR_TILE_BYTES) + (converted ? NDR_SPARE_BYTES : 0);
  nest->scratch_bytes =
      ndr_cuts(ndr_cuts(nest->levels * nest->block * 8, 64) * 64 + nest->gather_bytes + nest->convert_bytes, 256) * 256;
}

/* Elements between a tile and the one `tiles` later along an axis; 0 where no array reaches so far. */
static int64_t later_tile(const ndr_nest_axis *axis, int64_t tiles) {
  return axis->stride < INT64_MAX / 64 / tiles ? axis->stride * tiles : 0;
}

/* Whether a gather waits for memory: there is much of it, and lanes have lines or rows have pages of their own, so that
 * processors do not see a stream. Steps of up to 4 are shuffles, whose rows are streams. */
static bool gather_misses(const ndr_nest *nest, int64_t tile_bytes) {
  enum { LINE = 64, PAGE = 4096 };
  double bytes = (double)tile_bytes / (double)(nest->lanes * nest->rows);
  double apart = bytes * (double)llabs(nest->lane_stride), rows_apart = bytes * (double)llabs(nest->row_stride);
  if ((double)tile_bytes * (double)nest->steps * (double)nest->positions < GATHERED_BYTES) return false;
  return nest->rows > 1 && (apart >= LINE || (rows_apart >= PAGE && llabs(nest->lane_stride) > 4));
}

/* Finds what is prefetched: of large tiles later rows, and over their end those of the next tile; of small ones a tile
 * some tiles later; of dense ones what lies DENSE_AHEAD bytes later. */
static void find_ahead(ndr_nest *nest, int64_t tile_bytes) {
  int64_t tiles = ndr_cuts(PREFETCH_BYTES, tile_bytes), row_bytes = tile_bytes / nest->rows;
  bool wanted = nest->lane_stride == 1 || gather_misses(nest, tile_bytes);
  nest->ahead = nest->rows_ahead = 0;
  if (nest->form == NDR_NEST_RUN || nest->layers > 1 || !wanted) return;
  if (nest->rows_scattered && nest->lane_stride != 1) return;
  nest->rows_ahead = nest->rows;
  if (!nest->rows_scattered && nest->row_stride == nest->lanes && tile_bytes >= DENSE_AHEAD)
    nest->ahead = DENSE_AHEAD / (row_bytes / nest->lanes);
  else if (tiles == 1)
    nest->rows_ahead = ndr_least(ndr_cuts(ROWS_AHEAD, row_bytes), nest->rows);
  else if (nest->chunk > 1 && !nest->by_position)
    nest->ahead = later_tile(&nest->kept[0], tiles);
  else if (nest->steps > 1)
    nest->ahead = later_tile(&nest->reduced[0], tiles);
}

/* Leaves the steps along the scattered axis to the table. */
static void find_scattered(ndr_nest *nest, const ndr_canonical *problem) {
  nest->scattered_axis = -1;
  nest->rows_scattered = nest->form != NDR_NEST_RUN && nest->rows_along >= 0 && problem->reduced_count > 0 &&
                         problem->reduced[nest->rows_along].scattered;
  if (nest->rows_scattered) nest->row_stride = nest->lanes;
  for (int r = 0; r < nest->reduced_count; r++) {
    ndr_nest_axis *axis = &nest->reduced[r];
    if (!problem->reduced[axis->axis].scattered) continue;
    nest->scattered_axis = r;
    axis->stride = axis->index = 0;
  }
}

static void complete(ndr_nest *nest, const ndr_canonical *problem) {
  if (!nest->gather_rows) nest->gather_rows = nest->rows;
  int64_t words = ndr_canonical_words(problem, 0, problem->op_count),
          tile_bytes = ndr_nest_width(nest) * nest->rows * element_bytes(problem);
  nest->positions = nest->steps = 1;
  for (int k = 0; k < nest->kept_count; k++) nest->positions *= nest->kept[k].size;
  for (int r = 0; r < nest->reduced_count; r++) nest->steps *= nest->reduced[r].size;
  nest->chunk = choose_chunk(nest, words, tile_bytes);
  nest->chunks = ndr_cuts(nest->positions, nest->chunk);
  nest->splits = choose_splits(nest, problem, tile_bytes);
  spread(nest, tile_bytes);
  nest->by_position = nest->steps > 1 && nest->splits == 1 && positions_are_far(nest);
  find_scattered(nest, problem);
  find_ahead(nest, tile_bytes);
  nest->levels = 1;
  for (int64_t n = ndr_cuts(nest->steps, nest->splits); n > NDR_FAN; n = ndr_cuts(n, NDR_FAN)) nest->levels++;
  size_memory(nest, problem, words);
}

void ndr_nest_widen(ndr_nest *nest, const ndr_canonical *problem, int64_t most) {
  ndr_nest_axis *axis = &nest->kept[0];
  if (nest->lane_axis != 0 || nest->lane_stride != 1 || nest->gap > 1 || nest->by_position) return;
  int64_t joined = ndr_least(ndr_least(most / nest->lanes, nest->chunk), axis->size);
  if (joined < 2) return;
  joined = ndr_cuts(axis->size, ndr_cuts(axis->size, joined));
  nest->lanes = nest->period = ndr_least(joined * nest->lanes, nest->extent);
  nest->positions = nest->positions / axis->size * ndr_cuts(axis->size, joined);
  *axis = (ndr_nest_axis){.size = ndr_cuts(axis->size, joined),
                          .stride = axis->stride * joined,
                          .axis = axis->axis,
                          .share = axis->share * joined};
  nest->chunk = ndr_cuts(nest->chunk, joined);
  nest->chunks = ndr_cuts(nest->positions, nest->chunk);
  size_memory(nest, problem, ndr_canonical_words(problem, 0, problem->op_count));
}

/* ---- the three forms ---- */

static const ndr_axis no_rows = {.size = 1};
static const ndr_nest plain = {.layers = 1, .gap = 1, .row_gap = 1};

/* Returns the axis of the rows. */
static const ndr_axis *place_rows(ndr_nest *nest, const ndr_canonical *problem, int kept_lanes, int reduced_rows) {
  const ndr_axis *lanes = &problem->kept[kept_lanes];
  const ndr_axis *rows = reduced_rows < 0 ? &no_rows : &problem->reduced[reduced_rows];
  *nest = plain;
  nest->form = NDR_NEST_ROWS;
  nest->output_axis = kept_lanes;
  nest->rows_along = reduced_rows;
  nest->extent = lanes->size;
  nest->row_extent = rows->size;
  nest->lane_stride = lanes->stride;
  nest->row_stride = rows->stride;
  nest->row_index = rows->index;
  return rows;
}

/* Elements between rows are gathered, too, where transposing them is faster than gathering one by one. */
static int64_t gather_gap(const ndr_nest *nest, const ndr_canonical *problem, const ndr_axis *rows) {
  int64_t apart = rows->stride * element_bytes(problem);
  bool gaps = rows->stride > 1 && apart <= GAP_BYTES && !rows->scattered;
  return gaps && nest->lane_stride > 4 && rows->size * apart >= 16 ? rows->stride : 1;
}

/* Whether a tile has all rows, though it gathers fewer at a time, because lanes have contiguous elements: kernels of
 * `across` and `along` then read each lane to its end. This does not depend on the operators (see rate_of_rows in
 * nest_plan.c). */
static bool has_whole_runs(const ndr_nest *nest, const ndr_canonical *problem, const ndr_axis *rows) {
  if (rows->stride != 1 || rows->scattered || nest->lane_stride == 1 || problem->skip_nan) return false;
  return rows->size * element_bytes(problem) <= WHOLE_BYTES;
}

void ndr_nest_rows(ndr_nest *nest, const ndr_canonical *problem, int kept_lanes, int reduced_rows) {
  const ndr_axis *rows = place_rows(nest, problem, kept_lanes, reduced_rows), *lanes = &problem->kept[kept_lanes];
  nest->row_gap = gather_gap(nest, problem, rows);
  nest->lanes = nest->period = lanes_that_fit(problem, lanes, rows, nest->row_gap);
  nest->rows = rows_that_fit(problem, lanes->stride == 1, nest->lanes * nest->row_gap, rows->size);
  if (nest->rows > 8 && nest->rows < rows->size && lanes->stride == 1)
    nest->rows = ndr_least(ndr_cuts(nest->rows, 16) * 16, 240);
  nest->gather_rows = nest->rows;
  if (has_whole_runs(nest, problem, rows)) nest->rows = rows->size;
  int turned = problem->reduced_count < 2 && nest->gather_rows == rows->size ? turned_axis(problem, kept_lanes) : -1;
  nest->turned = turned >= 0;
  if (nest->turned) nest->lanes = nest->period = ndr_least(nest->lanes, TURNED_LANES);
  add_kept(nest, problem, kept_lanes);
  if (nest->turned) put_first(nest, turned);
  add_reduced(nest, problem, -1, reduced_rows);
  complete(nest, problem);
}

bool ndr_nest_gaps(ndr_nest *nest, const ndr_canonical *problem, int reduced_rows) {
  const ndr_axis *rows = place_rows(nest, problem, 0, reduced_rows), *lanes = &problem->kept[0];
  if (lanes->stride < 2 || lanes->stride > MOST_GAP || rows->scattered || ndr_machine_there(problem)) return false;
  nest->gap = lanes->stride;
  nest->lane_stride = 1;
  nest->extent = (lanes->size - 1) * nest->gap + 1;
  nest->lanes = nest->period =
      ndr_least(cut_evenly(lanes->size, ndr_most(CUT_LANES / nest->gap / 16, 1) * 16) * nest->gap, nest->extent);
  nest->rows = rows_that_fit(problem, false, nest->lanes, rows->size);
  add_kept(nest, problem, 0);
  add_reduced(nest, problem, -1, reduced_rows);
  complete(nest, problem);
  return true;
}

bool ndr_nest_layers(ndr_nest *nest, const ndr_canonical *problem, int kept_lanes, int reduced_rows) {
  const ndr_axis *rows = place_rows(nest, problem, kept_lanes, reduced_rows), *layers = &problem->kept[0];
  int64_t bytes = element_bytes(problem);
  /* Lanes that are neighbours are not gathered. */
  if (kept_lanes == 0 || layers->stride != 1 || nest->lane_stride <= 1 || rows->scattered || ndr_machine_there(problem))
    return false;
  if (rows->size > (layers->size <= SHORT_LAYERS ? MOST_LAYERED_ROWS : 1)) return false;
  int64_t room = ndr_least(NDR_LANES, NDR_TILE_BYTES / (rows->size * bytes));
  nest->rows = rows->size;
  nest->layer_extent = layers->size;
  nest->layers = cut_evenly(layers->size, MOST_LAYERS);
  nest->lanes = cut_evenly(nest->extent, ndr_most(room / nest->layers / 16, 1) * 16);
  nest->period = ndr_nest_width(nest);
  add_kept(nest, problem, kept_lanes);
  add_reduced(nest, problem, -1, reduced_rows);
  complete(nest, problem);
  return nest->layers > 1;
}

void ndr_nest_grid(ndr_nest *nest, const ndr_canonical *problem, int reduced_lanes, int reduced_rows, int kept_period) {
  const ndr_axis *lanes = &problem->reduced[reduced_lanes], *rows = &problem->reduced[reduced_rows];
  *nest = plain;
  nest->form = NDR_NEST_GRID;
  nest->output_axis = kept_period;
  nest->lanes_along = reduced_lanes;
  nest->rows_along = reduced_rows;
  nest->period = kept_period < 0 ? 1 : problem->kept[kept_period].size;
  nest->lanes = lanes->size * nest->period;
  nest->lane_stride = kept_period < 0 ? lanes->stride : problem->kept[kept_period].stride;
  nest->lane_index = lanes->index;
  nest->row_extent = rows->size;
  nest->row_stride = rows->stride;
  nest->row_index = rows->index;
  nest->rows = rows_that_fit(problem, false, nest->lanes, rows->size);
  add_kept(nest, problem, kept_period);
  add_reduced(nest, problem, reduced_lanes, reduced_rows);
  complete(nest, problem);
}

/* Groups of `period` elements in a row of a run, a power of 2. A row that several outputs share has twice the lanes. */
static int64_t groups_of_row(const ndr_canonical *problem, int64_t period) {
  double bytes = (double)problem->outputs * (double)problem->length * (double)element_bytes(problem);
  int64_t lanes = LEAST_LANES, groups = 1;
  if (problem->dtype < NDR_F16)
    lanes = bytes < FAR_BYTES ? ndr_most(ROW_BYTES / element_bytes(problem), lanes)
                              : FAR_ROW_BYTES / element_bytes(problem);
  if (period > 1) lanes *= 2;
  while (2 * groups * period <= lanes) groups *= 2;
  return groups;
}

void ndr_nest_run(ndr_nest *nest, const ndr_canonical *problem, int reduced_lanes, int kept_period) {
  const ndr_axis *run = &problem->reduced[reduced_lanes];
  *nest = plain;
  nest->form = NDR_NEST_RUN;
  nest->output_axis = kept_period;
  nest->lanes_along = reduced_lanes;
  nest->period = kept_period < 0 ? 1 : problem->kept[kept_period].size;
  nest->extent = run->size;
  int64_t groups = ndr_least(groups_of_row(problem, nest->period), run->size);
  nest->lanes = groups * nest->period;
  nest->lane_stride = kept_period < 0 ? run->stride : problem->kept[kept_period].stride;
  nest->lane_index = run->index;
  nest->row_stride = groups * run->stride;
  nest->row_index = groups * run->index;
  nest->rows = rows_that_fit(problem, false, nest->lanes, run->size / groups);
  add_kept(nest, problem, kept_period);
  add_reduced(nest, problem, reduced_lanes, -1);
  complete(nest, problem);
}
