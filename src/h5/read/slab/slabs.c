/* See slabs.h: what slabs, cells and leaves take, and where they lie. slabs_cut.c chooses their extents. */
#include "h5/read/slab/slabs_inside.h"

/* From this many columns of leaves on, each with outputs of its own, all threads are busy. With fewer columns, leaves
 * of the same outputs are reduced at the same time, too. */
#define MANY_COLUMNS 16

static int64_t elements_of(const ndr_slabs *slabs, const int64_t *extent) {
  int64_t count = 1;
  for (int d = 0; d < slabs->ndim; d++) count = times(count, extent[d]);
  return count;
}

int64_t ndr_slabs_elements(const ndr_slabs *slabs) {
  return elements_of(slabs, slabs->extent);
}

static int64_t of_groups(const ndr_slabs *slabs, int64_t outputs) {
  return slabs->groups ? times(outputs, slabs->groups) : outputs;
}

int64_t ndr_slabs_outputs(const ndr_slabs *slabs) {
  return of_groups(slabs, ndr_group_outputs(slabs, slabs->extent));
}

/* The most elements along a dim that a slab holds, in whole chunks. A run of n elements touches (n - 2) / chunk + 2
 * chunks at most, wherever it begins. */
static int64_t held_along(const ndr_slabs *slabs, int d) {
  int64_t chunk = slabs->chunk[d], extent = slabs->extent[d], before = slabs->from[d] % chunk;
  bool aligned = (slabs->from[d] - slabs->lead[d]) % chunk == 0 && extent % chunk == 0;
  if (extent == 0) return 0;
  int64_t all = ceil_div(plus(before, slabs->shape[d]), chunk);
  int64_t some = aligned ? extent / chunk : plus(extent, chunk - 2) / chunk + 1;
  return times(smaller(all, some), chunk);
}

/* The extents of what a slot is for. */
static const int64_t *slot_extent(const ndr_slabs *slabs) {
  return slabs->leafwise ? slabs->leaf : slabs->extent;
}

int64_t ndr_slabs_held(const ndr_slabs *slabs) {
  int64_t count = 1;
  if (!slabs->whole) return elements_of(slabs, slot_extent(slabs));
  for (int d = 0; d < slabs->ndim; d++) count = times(count, held_along(slabs, d));
  return count;
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
  return aligned(times(beside_elements(slabs, i, slot_extent(slabs)), slabs->besides[i].slot_bytes));
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

int64_t ndr_slabs_operands_bytes(const ndr_slabs *slabs) {
  int64_t bytes = 0;
  for (int i = 0; i < slabs->beside_count; i++) bytes = plus(bytes, ndr_slabs_operand_bytes(slabs, i));
  return bytes;
}

int64_t ndr_slabs_leaf_bytes(const ndr_slabs *slabs) {
  return times(slabs->reduced_bytes, elements_of(slabs, slabs->leaf));
}

static int64_t leaves_of(const ndr_slabs *slabs, const int64_t *extent, bool reduced) {
  int64_t count = 1;
  for (int d = 0; d < slabs->ndim; d++)
    if (slabs->reduced[d] == reduced && extent[d] > 0) count = times(count, ceil_div(extent[d], slabs->leaf[d]));
  return count;
}

int64_t ndr_slabs_cell_leaves(const ndr_slabs *slabs, bool reduced) {
  return leaves_of(slabs, slabs->cell, reduced);
}

static int64_t leaf_outputs(const ndr_slabs *slabs) {
  return of_groups(slabs, ndr_group_outputs(slabs, slabs->leaf));
}

/* Room for leaves: each worker has one, unpacked, and its states; where several leaves of a cell come to the same
 * outputs, the states of all of them wait to be added in order. Under `leafwise` leaves are added to the states of the
 * piece at once. */
int64_t ndr_slabs_leaves_bytes(const ndr_slabs *slabs) {
  int64_t states = times(leaf_outputs(slabs), slabs->output_bytes);
  int64_t waiting = times(leaves_of(slabs, slabs->extent, true), leaves_of(slabs, slabs->extent, false));
  int64_t leaf = slabs->in_place ? 0 : times(ndr_slabs_leaf_bytes(slabs), slabs->leaf_copies + 1);
  int64_t each = plus(leaf, ndr_slabs_operands_bytes(slabs));
  if (slabs->on_gpu) return times(ndr_slabs_outputs(slabs), slabs->output_bytes);
  if (slabs->leafwise) return times(each, slabs->workers);
  each = plus(each, states);
  return plus(times(each, slabs->workers), ndr_slabs_adds_apart(slabs) ? times(states, waiting) : 0);
}

int64_t ndr_slabs_states_bytes(const ndr_slabs *slabs) {
  int64_t stretches = slabs->leafwise ? slabs->slots : 1;
  return times(ndr_slabs_outputs(slabs), times(slabs->output_bytes, stretches + 1));
}

int64_t ndr_slabs_bytes(const ndr_slabs *slabs) {
  int64_t slots = times(ndr_slabs_slot_bytes(slabs), slabs->leafwise ? slabs->workers : slabs->slots);
  int64_t states = ndr_slabs_states_bytes(slabs);
  int64_t results = times(ndr_slabs_elements(slabs), slabs->result_bytes);
  return plus(plus(plus(plus(slots, states), ndr_slabs_leaves_bytes(slabs)), results), slabs->scratch_bytes);
}

/* How many slabs there are along a dim: those of whole cells, and of what is left at the end. */
static int64_t slabs_along(const ndr_slabs *slabs, int d) {
  int64_t all = reach(slabs, d), cell = slabs->cell[d], extent = slabs->extent[d];
  if (slabs->shape[d] == 0) return 0;
  return plus(times(all / cell, ceil_div(cell, extent)), ceil_div(all % cell, extent));
}

int64_t ndr_slabs_count(const ndr_slabs *slabs) {
  int64_t count = 1;
  for (int d = 0; d < slabs->ndim; d++) count = times(count, slabs_along(slabs, d));
  return count;
}

int64_t ndr_slabs_cells(const ndr_slabs *slabs, bool reduced) {
  int64_t count = 1;
  for (int d = 0; d < slabs->ndim; d++)
    if (slabs->reduced[d] == reduced && slabs->cell[d] > 0)
      count = times(count, ceil_div(reach(slabs, d), slabs->cell[d]));
  return count;
}

int64_t ndr_slabs_cell_at(const ndr_slabs *slabs, bool reduced, const int64_t *start) {
  int64_t number = 0;
  for (int d = 0; d < slabs->ndim; d++)
    if (slabs->reduced[d] == reduced && slabs->cell[d] > 0)
      number = number * ceil_div(reach(slabs, d), slabs->cell[d]) + start[d] / slabs->cell[d];
  return number;
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

int64_t ndr_slabs_mirrored(const ndr_slabs *slabs, int d, int64_t start) {
  int64_t cell = slabs->cell[d], extent = slabs->extent[d];
  if (cell == 0) return start;
  int64_t each = ceil_div(cell, extent), number = start / cell * each + start % cell / extent;
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

/* How many leaves a slab has along dim d; *from is where it begins in its cell. */
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
      number = number * ceil_div(slabs->cell[d], slabs->leaf[d]) +
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
