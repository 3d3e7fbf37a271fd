/* See slabs.h: chooses the extents of cells, leaves and stretches, which constants limit, and of slabs, which the
 * memory there is limits. */
#include <string.h>

#include "h5/read/slab/slabs_inside.h"

/* Stored bytes of a cell. It is small enough to stay in the last-level cache, with those that are read meanwhile, from
 * being read to being reduced, and so large that the price of a call is lost in it. */
#define CELL_AIM ((int64_t)4 << 20)

/* Chunks of many outputs: several of them deep, so that each leaf takes in several elements an output. */
#define WIDE_CELL_AIM ((int64_t)16 << 20)

/* On the way to a GPU a slab takes 0.3 ms, next to which the calls that send and reduce it are small. */
#define GPU_CELL_AIM ((int64_t)16 << 20)

/* As it is reduced a cell may be so many times as large as it is aimed to be in the file. Packed bytes, which are
 * reduced as f64, are eight times as large. */
#define MOST_EXPANSION 4

/* A leaf, as it is reduced, stays in the second-level cache. */
#define LEAF_AIM ((int64_t)1 << 20)

/* A `wide` one may have half as much again as that cache, and its outputs' states beside it: the deeper it is, the less
 * often these are loaded and stored. */
#define WIDE_LEAF_AIM ((int64_t)2 << 20)

/* A leaf's kept dims are cut down to this many outputs before its reduced dims are: each cut of a reduced dim makes
 * states that must be added once more. Not of `wide` ones: to add states of the outputs of a cell costs less than to
 * read the file in short runs, or to copy the leaf out of the slab. */
#define LEAF_OUTPUTS 1024

/* Outputs of a block. States beyond the second-level cache are loaded and stored once a cell; with fewer outputs cells
 * are deeper. */
#define OUTPUTS_AIM ((int64_t)32 << 10)

/* With groups, whose states a slab does not take in all: blocks of more outputs, so that runs in the file stay long. */
#define GROUPED_OUTPUTS_AIM ((int64_t)512 << 10)

/* A GPU merges states a hundred times as fast as slabs arrive; what a block costs is the wait for its results. */
#define GPU_OUTPUTS_AIM ((int64_t)1 << 20)

/* A GPU has two slabs as they are reduced, in a half of what it may take, beside those as they are stored. */
#define REDUCED_SHARE 4

/* A stretch has so many elements of each output and group, or more, so that its states are few beside them. */
#define STRETCH_AIM 64
#define MOST_STRETCHES 4096

/* HDF5 keeps about 1 KiB for each chunk that a read selects. */
#define CHUNKS_AIM 4096

static int64_t stored_bytes(const ndr_slabs *slabs) {
  return times(ndr_slabs_elements(slabs), slabs->stored_bytes);
}

static int64_t reduced_bytes(const ndr_slabs *slabs) {
  return times(ndr_slabs_elements(slabs), slabs->reduced_bytes);
}

static int64_t chunks(const ndr_slabs *slabs) {
  int64_t count = 1;
  for (int d = 0; d < slabs->ndim; d++) count = times(count, ceil_div(slabs->extent[d], slabs->unit[d]));
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
    int64_t whole = slabs->extent[d], all = ceil_div(whole, unit[d]), low = 1, high = all;
    if (all < 2 || dims == (slabs->reduced[d] ? KEPT : REDUCED) || measure(slabs) <= limit) continue;
    while (low < high) {
      int64_t middle = low + (high - low + 1) / 2;
      slabs->extent[d] = times(middle, unit[d]);
      if (measure(slabs) <= limit)
        low = middle;
      else
        high = middle - 1;
    }
    slabs->extent[d] = smaller(times(ceil_div(all, ceil_div(all, low)), unit[d]), whole);
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

/* Reduced bytes; or less if outputs are few, so that a leaf of up to LEAF_OUTPUTS is not cut along its kept dims. */
static int64_t wide_bytes(const ndr_slabs *slabs) {
  return smaller(reduced_bytes(slabs), times(ndr_group_outputs(slabs, slabs->extent), LEAF_AIM / LEAF_OUTPUTS));
}

/* A GPU reduces a slab at once. */
static void choose_leaf(ndr_slabs *slabs, const ndr_slabs *leader, int shift) {
  which cut = leader ? REDUCED : ALL;
  for (int d = 0; leader && d < slabs->ndim; d++)
    if (!slabs->reduced[d]) slabs->extent[d] = leader->leaf[d];
  if (!slabs->on_gpu && !leader) {
    shorten(slabs, KEPT, ndr_slabs_outputs, outputs_aim(slabs, shift), ones);
    if (!slabs->wide) shorten(slabs, KEPT, wide_bytes, least(LEAF_AIM, shift), ones);
  }
  if (!slabs->on_gpu) shorten(slabs, cut, reduced_bytes, least(slabs->wide ? WIDE_LEAF_AIM : LEAF_AIM, shift), ones);
  memcpy(slabs->leaf, slabs->extent, sizeof slabs->leaf);
}

static void choose_stretch(ndr_slabs *slabs) {
  int64_t deep = 1, aim = slabs->groups ? times(STRETCH_AIM, slabs->groups) : STRETCH_AIM;
  for (int d = 0; d < slabs->ndim; d++)
    if (slabs->reduced[d] && slabs->cell[d] > 0) deep = times(deep, slabs->cell[d]);
  int64_t least_cells = ceil_div(ndr_slabs_cells(slabs, true), MOST_STRETCHES);
  slabs->stretch = ceil_div(aim, deep) > least_cells ? ceil_div(aim, deep) : least_cells;
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

bool ndr_slabs_fit(ndr_slabs *slabs, const ndr_slabs *leader, bool in_parts, int64_t budget) {
  for (int d = 0; d < slabs->ndim; d++)
    slabs->extent[d] = leader && !slabs->reduced[d] ? leader->extent[d] : slabs->cell[d];
  if (ndr_slabs_elements(slabs) == 0) return true;
  /* Parts along reduced dims first: those along kept dims have every chunk decoded anew. Leaf by leaf the former take
   * no memory. */
  if (in_parts && !slabs->leafwise) shorten(slabs, REDUCED, ndr_slabs_bytes, budget, slabs->leaf);
  if (in_parts && !leader) shorten(slabs, KEPT, ndr_slabs_bytes, budget, slabs->leaf);
  int64_t on_device = plus(reduced_bytes(slabs), ndr_slabs_operands_bytes(slabs));
  return ndr_slabs_bytes(slabs) <= budget && (!slabs->on_gpu || on_device <= budget / REDUCED_SHARE);
}
