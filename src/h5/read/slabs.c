/* See slabs.h. Sizes are limited by constants, and only slabs by the memory there is. */
#include "h5/read/slabs.h"

#include <string.h>

/* A cell that, with those that are read meanwhile, stays in the last-level cache between being read and being reduced,
 * large enough that the price of a call is lost in it; in stored bytes. */
#define CELL_AIM ((int64_t)4 << 20)

/* Chunks of many outputs: several of them deep, so that each leaf takes in several elements an output. */
#define WIDE_CELL_AIM ((int64_t)16 << 20)

/* On the way to a GPU a slab takes 0.3 ms, next to which the calls that send and reduce it are small. */
#define GPU_CELL_AIM ((int64_t)16 << 20)

/* Packed bytes are reduced as f64, in eight times the room. */
#define MOST_EXPANSION 4

/* A leaf, as it is reduced, stays in the second-level cache. */
#define LEAF_AIM ((int64_t)1 << 20)

/* A leaf's kept dims are cut down to this many outputs before its reduced dims are: each cut of a reduced dim makes
 * states that must be added once more. */
#define LEAF_OUTPUTS 1024

/* States beyond the second-level cache are loaded and stored once a cell; with fewer outputs a block, more cells deep.
 */
#define OUTPUTS_AIM ((int64_t)32 << 10)

/* With groups, whose states a slab does not take in all: blocks of more outputs, so that runs in the file stay long. */
#define GROUPED_OUTPUTS_AIM ((int64_t)512 << 10)

/* A GPU merges states a hundred times as fast as slabs arrive; what a block costs is the wait for its results. */
#define GPU_OUTPUTS_AIM ((int64_t)1 << 20)

/* A GPU has two slabs as they are reduced, in a half of what it may take, beside those as they are stored. */
#define REDUCED_SHARE 4

/* From this many columns of leaves on, each with outputs of its own, all threads are busy. With fewer columns, leaves
 * of the same outputs are reduced at the same time, too. */
#define MANY_COLUMNS 16

/* A stretch is of so many elements an output, and group, or more, next to which its states are few; and there are no
 * more stretches than this. */
#define STRETCH_AIM 64
#define MOST_STRETCHES 4096

/* HDF5 keeps about 1 KiB for each chunk that a read selects. */
#define CHUNKS_AIM 4096

/* Sizes are not negative, so what overflows is larger than any limit. */
static int64_t times(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static int64_t plus(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t parts(int64_t size, int64_t part) {
  return size / part + (size % part != 0);
}

/* From where the first unit begins to the end of the array. */
static int64_t reach(const ndr_slabs *slabs, int d) {
  return plus(slabs->shape[d], slabs->lead[d]);
}

int64_t ndr_slabs_elements(const ndr_slabs *slabs) {
  int64_t count = 1;
  for (int d = 0; d < slabs->ndim; d++) count = times(count, slabs->extent[d]);
  return count;
}

/* Of one group. */
static int64_t group_outputs(const ndr_slabs *slabs, const int64_t *extent) {
  int64_t count = 1;
  for (int d = 0; d < slabs->ndim; d++)
    if (!slabs->reduced[d]) count = times(count, extent[d]);
  return count;
}

static int64_t of_groups(const ndr_slabs *slabs, int64_t outputs) {
  return slabs->groups ? times(outputs, slabs->groups) : outputs;
}

int64_t ndr_slabs_outputs(const ndr_slabs *slabs) {
  return of_groups(slabs, group_outputs(slabs, slabs->extent));
}

static int64_t chunks(const ndr_slabs *slabs) {
  int64_t count = 1;
  for (int d = 0; d < slabs->ndim; d++) count = times(count, parts(slabs->extent[d], slabs->unit[d]));
  return count;
}

/* The most elements along a dim that a slab holds, in whole chunks. A run of n elements touches (n - 2) / chunk + 2
 * chunks at most, wherever it begins. */
static int64_t held_along(const ndr_slabs *slabs, int d) {
  int64_t chunk = slabs->chunk[d], extent = slabs->extent[d], before = slabs->from[d] % chunk;
  bool aligned = (slabs->from[d] - slabs->lead[d]) % chunk == 0 && extent % chunk == 0;
  if (extent == 0) return 0;
  int64_t all = parts(plus(before, slabs->shape[d]), chunk);
  int64_t some = aligned ? extent / chunk : plus(extent, chunk - 2) / chunk + 1;
  return times(smaller(all, some), chunk);
}

int64_t ndr_slabs_held(const ndr_slabs *slabs) {
  int64_t count = 1;
  if (!slabs->whole) return ndr_slabs_elements(slabs);
  for (int d = 0; d < slabs->ndim; d++) count = times(count, held_along(slabs, d));
  return count;
}

static int64_t stored_bytes(const ndr_slabs *slabs) {
  return times(ndr_slabs_elements(slabs), slabs->stored_bytes);
}

static int64_t reduced_bytes(const ndr_slabs *slabs) {
  return times(ndr_slabs_elements(slabs), slabs->reduced_bytes);
}

/* Elements of array i that belong to a box of `extent`. */
static int64_t beside_elements(const ndr_slabs *slabs, int i, const int64_t *extent) {
  int64_t count = 1;
  for (int d = 0; d < slabs->ndim; d++)
    if (slabs->besides[i].along[d]) count = times(count, extent[d]);
  return count;
}

static int64_t aligned(int64_t bytes) {
  int64_t up = plus(bytes, NDR_SLABS_ALIGNMENT - 1);
  return up - up % NDR_SLABS_ALIGNMENT;
}

int64_t ndr_slabs_beside_bytes(const ndr_slabs *slabs, int i) {
  return aligned(times(beside_elements(slabs, i, slabs->extent), slabs->besides[i].slot_bytes));
}

int64_t ndr_slabs_slot_bytes(const ndr_slabs *slabs) {
  int64_t bytes = times(ndr_slabs_held(slabs), slabs->element_bytes);
  if (slabs->beside_count) bytes = aligned(bytes);
  for (int i = 0; i < slabs->beside_count; i++) bytes = plus(bytes, ndr_slabs_beside_bytes(slabs, i));
  return bytes;
}

int64_t ndr_slabs_operand_bytes(const ndr_slabs *slabs, int i) {
  const int64_t *extent = slabs->on_gpu ? slabs->extent : slabs->leaf;
  return aligned(times(beside_elements(slabs, i, extent), slabs->besides[i].leaf_bytes));
}

static int64_t operands_bytes(const ndr_slabs *slabs) {
  int64_t bytes = 0;
  for (int i = 0; i < slabs->beside_count; i++) bytes = plus(bytes, ndr_slabs_operand_bytes(slabs, i));
  return bytes;
}

int64_t ndr_slabs_leaf_bytes(const ndr_slabs *slabs) {
  int64_t bytes = slabs->reduced_bytes;
  for (int d = 0; d < slabs->ndim; d++) bytes = times(bytes, slabs->leaf[d]);
  return bytes;
}

static int64_t leaves_of(const ndr_slabs *slabs, const int64_t *extent, bool reduced) {
  int64_t count = 1;
  for (int d = 0; d < slabs->ndim; d++)
    if (slabs->reduced[d] == reduced && extent[d] > 0) count = times(count, parts(extent[d], slabs->leaf[d]));
  return count;
}

int64_t ndr_slabs_cell_leaves(const ndr_slabs *slabs, bool reduced) {
  return leaves_of(slabs, slabs->cell, reduced);
}

static int64_t leaf_outputs(const ndr_slabs *slabs) {
  return of_groups(slabs, group_outputs(slabs, slabs->leaf));
}

/* Room for leaves: each worker has one, unpacked, and its states; where several leaves of a cell come to the same
 * outputs, the states of all of them wait to be added in order. */
int64_t ndr_slabs_leaves_bytes(const ndr_slabs *slabs) {
  int64_t states = times(leaf_outputs(slabs), slabs->output_bytes);
  int64_t waiting = times(leaves_of(slabs, slabs->extent, true), leaves_of(slabs, slabs->extent, false));
  int64_t leaf = times(ndr_slabs_leaf_bytes(slabs), slabs->leaf_copies + 1);
  int64_t each = plus(plus(leaf, operands_bytes(slabs)), states);
  if (slabs->on_gpu) return times(ndr_slabs_outputs(slabs), slabs->output_bytes);
  return plus(times(each, slabs->workers), ndr_slabs_adds_apart(slabs) ? times(states, waiting) : 0);
}

int64_t ndr_slabs_bytes(const ndr_slabs *slabs) {
  int64_t slots = times(ndr_slabs_slot_bytes(slabs), slabs->slots);
  /* Those of a stretch, and those of the stretches before it. */
  int64_t states = times(ndr_slabs_outputs(slabs), times(slabs->output_bytes, 2));
  int64_t results = times(ndr_slabs_elements(slabs), slabs->result_bytes);
  return plus(plus(plus(plus(slots, states), ndr_slabs_leaves_bytes(slabs)), results), slabs->scratch_bytes);
}

/* How many slabs there are along a dim: those of whole cells, and of what is left at the end. */
static int64_t slabs_along(const ndr_slabs *slabs, int d) {
  int64_t all = reach(slabs, d), cell = slabs->cell[d], extent = slabs->extent[d];
  if (slabs->shape[d] == 0) return 0;
  return plus(times(all / cell, parts(cell, extent)), parts(all % cell, extent));
}

int64_t ndr_slabs_count(const ndr_slabs *slabs) {
  int64_t count = 1;
  for (int d = 0; d < slabs->ndim; d++) count = times(count, slabs_along(slabs, d));
  return count;
}

typedef enum { ALL, KEPT, REDUCED } which;

static const int64_t ones[NDR_MAX_DIMS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                           1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

/* Shortens dims, the outermost first, until measure is at most limit: what is left is one long run of storage. Each dim
 * is cut to equal shares, a whole number of units long. */
static void shorten(ndr_slabs *slabs, which dims, int64_t (*measure)(const ndr_slabs *), int64_t limit,
                    const int64_t *unit) {
  for (int d = 0; d < slabs->ndim; d++) {
    int64_t whole = slabs->extent[d], all = parts(whole, unit[d]), low = 1, high = all;
    if (all < 2 || dims == (slabs->reduced[d] ? KEPT : REDUCED) || measure(slabs) <= limit) continue;
    while (low < high) {
      int64_t middle = low + (high - low + 1) / 2;
      slabs->extent[d] = times(middle, unit[d]);
      if (measure(slabs) <= limit)
        low = middle;
      else
        high = middle - 1;
    }
    slabs->extent[d] = smaller(times(parts(all, parts(all, low)), unit[d]), whole);
  }
}

static int64_t least(int64_t aim, int shift) {
  return aim >> shift > 1 ? aim >> shift : 1;
}

static int64_t outputs_aim(const ndr_slabs *slabs, int shift) {
  return least(slabs->on_gpu ? GPU_OUTPUTS_AIM : slabs->groups ? GROUPED_OUTPUTS_AIM : OUTPUTS_AIM, shift);
}

static void choose_cell(ndr_slabs *slabs, const ndr_slabs *leader, int shift) {
  which cut = leader ? REDUCED : ALL;
  int64_t outputs = outputs_aim(slabs, shift), aim = CELL_AIM;
  for (int d = 0; d < slabs->ndim; d++) {
    bool follows = leader && !slabs->reduced[d];
    if (follows) slabs->lead[d] = leader->lead[d];
    slabs->extent[d] = follows ? leader->cell[d] : reach(slabs, d);
  }
  if (!leader) shorten(slabs, KEPT, ndr_slabs_outputs, outputs, slabs->unit);
  if (ndr_slabs_outputs(slabs) > outputs) aim = WIDE_CELL_AIM;
  aim = least(slabs->on_gpu ? GPU_CELL_AIM : aim, shift);
  shorten(slabs, cut, stored_bytes, aim, slabs->unit);
  shorten(slabs, cut, reduced_bytes, MOST_EXPANSION * aim, slabs->unit);
  if (slabs->chunked) shorten(slabs, cut, chunks, CHUNKS_AIM, slabs->unit);
  memcpy(slabs->cell, slabs->extent, sizeof slabs->cell);
}

/* Bytes, and nothing where outputs are few. */
static int64_t wide_bytes(const ndr_slabs *slabs) {
  return smaller(reduced_bytes(slabs), times(group_outputs(slabs, slabs->extent), LEAF_AIM / LEAF_OUTPUTS));
}

/* A GPU reduces a slab at once. */
static void choose_leaf(ndr_slabs *slabs, const ndr_slabs *leader, int shift) {
  which cut = leader ? REDUCED : ALL;
  for (int d = 0; leader && d < slabs->ndim; d++)
    if (!slabs->reduced[d]) slabs->extent[d] = leader->leaf[d];
  if (!slabs->on_gpu && !leader) {
    shorten(slabs, KEPT, ndr_slabs_outputs, outputs_aim(slabs, shift), ones);
    shorten(slabs, KEPT, wide_bytes, least(LEAF_AIM, shift), ones);
  }
  if (!slabs->on_gpu) shorten(slabs, cut, reduced_bytes, least(LEAF_AIM, shift), ones);
  memcpy(slabs->leaf, slabs->extent, sizeof slabs->leaf);
}

int64_t ndr_slabs_cells(const ndr_slabs *slabs, bool reduced) {
  int64_t count = 1;
  for (int d = 0; d < slabs->ndim; d++)
    if (slabs->reduced[d] == reduced && slabs->cell[d] > 0)
      count = times(count, parts(reach(slabs, d), slabs->cell[d]));
  return count;
}

int64_t ndr_slabs_cell_at(const ndr_slabs *slabs, bool reduced, const int64_t *start) {
  int64_t number = 0;
  for (int d = 0; d < slabs->ndim; d++)
    if (slabs->reduced[d] == reduced && slabs->cell[d] > 0)
      number = number * parts(reach(slabs, d), slabs->cell[d]) + start[d] / slabs->cell[d];
  return number;
}

static void choose_stretch(ndr_slabs *slabs) {
  int64_t deep = 1, aim = slabs->groups ? times(STRETCH_AIM, slabs->groups) : STRETCH_AIM;
  for (int d = 0; d < slabs->ndim; d++)
    if (slabs->reduced[d] && slabs->cell[d] > 0) deep = times(deep, slabs->cell[d]);
  int64_t least_cells = parts(ndr_slabs_cells(slabs, true), MOST_STRETCHES);
  slabs->stretch = parts(aim, deep) > least_cells ? parts(aim, deep) : least_cells;
}

void ndr_slabs_grid(ndr_slabs *slabs, const ndr_slabs *leader, int shift) {
  choose_cell(slabs, leader, shift);
  if (leader)
    slabs->stretch = leader->stretch;
  else
    choose_stretch(slabs);
  if (ndr_slabs_elements(slabs) > 0)
    choose_leaf(slabs, leader, shift);
  else
    memcpy(slabs->leaf, slabs->extent, sizeof slabs->leaf);
  memcpy(slabs->extent, slabs->cell, sizeof slabs->extent);
}

/* Whether the states of a leaf's outputs are few beside its elements, so that to merge them costs little. */
static bool has_few_states(const ndr_slabs *slabs) {
  int64_t elements = 1;
  for (int d = 0; d < slabs->ndim; d++) elements = times(elements, slabs->leaf[d]);
  return !slabs->groups || times(leaf_outputs(slabs), 4) <= elements;
}

bool ndr_slabs_adds_apart(const ndr_slabs *slabs) {
  return has_few_states(slabs) && ndr_slabs_cell_leaves(slabs, true) > 1 &&
         ndr_slabs_cell_leaves(slabs, false) < MANY_COLUMNS;
}

bool ndr_slabs_fit(ndr_slabs *slabs, const ndr_slabs *leader, bool in_parts, int64_t budget) {
  for (int d = 0; d < slabs->ndim; d++)
    slabs->extent[d] = leader && !slabs->reduced[d] ? leader->extent[d] : slabs->cell[d];
  if (ndr_slabs_elements(slabs) == 0) return true;
  /* Parts along reduced dims first: those along kept dims have every chunk decoded anew. */
  if (in_parts) shorten(slabs, REDUCED, ndr_slabs_bytes, budget, slabs->leaf);
  if (in_parts && !leader) shorten(slabs, KEPT, ndr_slabs_bytes, budget, slabs->leaf);
  int64_t on_device = plus(reduced_bytes(slabs), operands_bytes(slabs));
  return ndr_slabs_bytes(slabs) <= budget && (!slabs->on_gpu || on_device <= budget / REDUCED_SHARE);
}

int64_t ndr_slabs_mirrored(const ndr_slabs *slabs, int d, int64_t start) {
  int64_t cell = slabs->cell[d], extent = slabs->extent[d];
  if (cell == 0) return start;
  int64_t each = parts(cell, extent), number = start / cell * each + start % cell / extent;
  number = slabs_along(slabs, d) - 1 - number;
  return number / each * cell + number % each * extent;
}

/* Moves on by so much within every cell, or within the array where that is all of it. */
bool ndr_slabs_next(const ndr_slabs *slabs, bool reduced, int64_t *start) {
  for (int d = slabs->ndim - 1; d >= 0; d--) {
    if (slabs->reduced[d] != reduced || slabs->cell[d] == 0) continue;
    int64_t in_cell = start[d] % slabs->cell[d] + slabs->extent[d];
    start[d] += slabs->extent[d];
    if (in_cell < slabs->cell[d] && start[d] < reach(slabs, d)) return true;
    start[d] -= in_cell;
  }
  for (int d = slabs->ndim - 1; d >= 0; d--) {
    if (slabs->reduced[d] != reduced) continue;
    start[d] += slabs->cell[d];
    if (start[d] < reach(slabs, d)) return true;
    start[d] = 0;
  }
  return false;
}

void ndr_slabs_box(const ndr_slabs *slabs, const int64_t *start, int64_t *begin, int64_t *size) {
  for (int d = 0; d < slabs->ndim; d++) {
    int64_t from = start[d] > slabs->lead[d] ? start[d] : slabs->lead[d];
    int64_t cell_end = slabs->cell[d] ? start[d] / slabs->cell[d] * slabs->cell[d] + slabs->cell[d] : 0;
    int64_t end = smaller(smaller(cell_end, start[d] + slabs->extent[d]), reach(slabs, d));
    begin[d] = from - slabs->lead[d];
    size[d] = end > from ? end - from : 0;
  }
}

/* Along dim d: where in its cell a slab begins, and the number of its first leaf there. */
static int64_t leaves_along(const ndr_slabs *slabs, int d, int64_t begin, int64_t size, int64_t *from) {
  *from = (begin + slabs->lead[d]) % slabs->cell[d];
  return (*from + size - 1) / slabs->leaf[d] - *from / slabs->leaf[d] + 1;
}

int64_t ndr_slabs_leaves(const ndr_slabs *slabs, const int64_t *begin, const int64_t *size, bool reduced) {
  int64_t count = 1, from;
  for (int d = 0; d < slabs->ndim; d++) {
    if (slabs->reduced[d] != reduced) continue;
    if (size[d] == 0) return 0;
    count *= leaves_along(slabs, d, begin[d], size[d], &from);
  }
  return count;
}

int64_t ndr_slabs_leaf_at(const ndr_slabs *slabs, const int64_t *begin) {
  int64_t number = 0;
  for (int d = 0; d < slabs->ndim; d++)
    if (!slabs->reduced[d] && slabs->cell[d] > 0)
      number = number * parts(slabs->cell[d], slabs->leaf[d]) +
               (begin[d] + slabs->lead[d]) % slabs->cell[d] / slabs->leaf[d];
  return number;
}

void ndr_slabs_leaf(const ndr_slabs *slabs, const int64_t *begin, const int64_t *size, bool reduced, int64_t index,
                    int64_t *low, int64_t *count) {
  for (int d = slabs->ndim - 1; d >= 0; d--) {
    if (slabs->reduced[d] != reduced) continue;
    int64_t from, all = leaves_along(slabs, d, begin[d], size[d], &from), leaf = slabs->leaf[d];
    int64_t first = (from / leaf + index % all) * leaf, last = first + leaf;
    if (first < from) first = from;
    if (last > from + size[d]) last = from + size[d];
    low[d] = begin[d] + first - from;
    count[d] = last - first;
    index /= all;
  }
}
