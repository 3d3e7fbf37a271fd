/* How an array is cut: into leaves, which are added up one after the other, and slabs, which are read. Pure arithmetic.
 *
 * Cells cover the array: boxes of one extent, smaller at the edges, cut only at borders of storage units (chunks). A
 * cell is cut into leaves, which are reduced each on its own and then added, for every output in the order of the cells
 * and, in a cell, of its leaves, row by row. A stretch is a fixed number of cells that follow each other: its leaves
 * are added up by themselves, and their sum is added to that of the stretches before. A stretch of the cells of the
 * same outputs is a piece, the least that a process may have of a reduction. Cells, leaves and stretches follow from
 * shape, chunks, dtypes, dims and operators alone. So the last bits of a sum do not depend on memory, threads and
 * processes.
 *
 * A slab is what is read at once: a cell, or, where memory does not take that, a part of one, whole leaves in their
 * order; a chunk is then decoded for each part. The slabs over one range of the kept dims make a block: its outputs are
 * finished when its last slab has been added, so only one block's partial states exist at a time.
 *
 * Under `leafwise` a slab is not read at once: a thread reads a leaf of it, reduces that, and then reads the next. It
 * reduces all slabs that a block has of one piece, and owns their states meanwhile; other threads have other pieces.
 *
 * All are laid out from where the array's first unit begins, which may be `lead` elements before its first element:
 * start[] counts from there, begin[] from the first element. */
#ifndef NDR_H5_READ_SLABS_H
#define NDR_H5_READ_SLABS_H

#include <stdbool.h>
#include <stdint.h>

#include "ndreduce/ndreduce.h"

/* Arrays beside the dataset, and a mask that is computed (read/beside.h). */
#define NDR_SLABS_BESIDES (3 + 2 * NDR_MAX_OPERANDS)

/* In a slot arrays beside the dataset begin at multiples of this, as a device's copies do. */
#define NDR_SLABS_ALIGNMENT 256

typedef struct ndr_slabs {
  int ndim;
  int64_t shape[NDR_MAX_DIMS];
  int64_t unit[NDR_MAX_DIMS]; /* extent of a chunk, at most the shape; 1 where data are not chunked */
  int64_t lead[NDR_MAX_DIMS]; /* what the first unit lacks; less than unit */
  bool reduced[NDR_MAX_DIMS];
  int64_t groups; /* each of them has outputs of its own; 0: there are none */
  bool chunked;
  bool on_gpu; /* slabs are reduced by a GPU */
  /* Leaves have all kept dims of a cell if they can, and fewer elements of the reduced ones, so that they are long runs
   * of a file without chunks. */
  bool wide;
  bool in_place; /* leaves are unpacked, if at all, and reduced where they were read */
  bool leafwise; /* a worker holds a leaf, not a slab */
  /* Under `whole` a slot takes all chunks that a slab touches, of this extent, the first element being from[d] elements
   * behind a chunk's first. */
  bool whole;
  int64_t chunk[NDR_MAX_DIMS], from[NDR_MAX_DIMS];
  int64_t stored_bytes;                           /* of an element in the file */
  int64_t reduced_bytes;                          /* of one as it is reduced */
  int64_t cell[NDR_MAX_DIMS], leaf[NDR_MAX_DIMS]; /* extents that ndr_slabs_grid sets */
  int64_t stretch;                                /* cells of a stretch; ndr_slabs_grid sets it, too */
  int64_t element_bytes;                          /* in a slot */
  int64_t output_bytes;                           /* of partial states for each output of a block */
  int64_t scratch_bytes;                          /* that reading takes whatever the slab: chunks being decoded */
  int workers;                                    /* that reduce leaves, with room for a leaf and its states each */
  int slots;                                      /* slabs in memory at once; leafwise: pieces in work */
  int leaf_copies;                                /* of a leaf as it is reduced, that each worker has beside it */
  int64_t result_bytes;                           /* for each element of a slab, where it has a result of its own */
  /* Arrays beside the dataset. None shows in cells and leaves. */
  int beside_count;
  struct {
    bool along[NDR_MAX_DIMS]; /* it has that dim, and repeats its elements along the others */
    int64_t slot_bytes;       /* of an element in a slot; 0 for what is read once, or computed */
    int64_t leaf_bytes;       /* of one as it is reduced */
  } besides[NDR_SLABS_BESIDES];
  int64_t extent[NDR_MAX_DIMS]; /* of a slab; what ndr_slabs_fit sets */
} ndr_slabs;

/* Sets cell and leaf; each shift halves the sizes aimed at. Where the array is reduced together with leader's, block by
 * block, the kept dims are cut as leader's; else leader is NULL. Sizes of 0 are legal. */
void ndr_slabs_grid(ndr_slabs *slabs, const ndr_slabs *leader, int shift);

/* Sets the extents of slabs so that slots, states and scratch take at most `budget` bytes: those of a cell, or under
 * `parts` of as many of its leaves as fit. The kept dims are cut as leader's. False if even that is too much. */
bool ndr_slabs_fit(ndr_slabs *slabs, const ndr_slabs *leader, bool parts, int64_t budget);

/* A slab of full extent: its elements, the elements that a slot holds for it, and its outputs, those of all groups. */
int64_t ndr_slabs_elements(const ndr_slabs *slabs);
int64_t ndr_slabs_held(const ndr_slabs *slabs);
int64_t ndr_slabs_outputs(const ndr_slabs *slabs);

/* Bytes of a slab of full extent in a slot, and of the box of array i that belongs to it. */
int64_t ndr_slabs_slot_bytes(const ndr_slabs *slabs);
int64_t ndr_slabs_beside_bytes(const ndr_slabs *slabs, int i);

/* Bytes of the box of array i that belongs to a leaf, or on a GPU to a slab, as it is reduced. */
int64_t ndr_slabs_operand_bytes(const ndr_slabs *slabs, int i);

/* Bytes of states: those of the stretches in work, and those of the stretches before them. */
int64_t ndr_slabs_states_bytes(const ndr_slabs *slabs);

/* Bytes of all slots, states, leaves, results of a slab's elements and scratch together. */
int64_t ndr_slabs_bytes(const ndr_slabs *slabs);

/* How many slabs the array is cut into. */
int64_t ndr_slabs_count(const ndr_slabs *slabs);

/* How many cells there are along the dims that are reduced (or that are kept), and which of them the slab at start[] is
 * of, row by row. */
int64_t ndr_slabs_cells(const ndr_slabs *slabs, bool reduced);
int64_t ndr_slabs_cell_at(const ndr_slabs *slabs, bool reduced, const int64_t *start);

/* Bytes of leaves that are being reduced, and of their states where these are not a piece's. */
int64_t ndr_slabs_leaves_bytes(const ndr_slabs *slabs);

/* Bytes of a leaf as it is reduced, and how many leaves a cell has along the dims that are reduced, or that are kept.
 */
int64_t ndr_slabs_leaf_bytes(const ndr_slabs *slabs);
int64_t ndr_slabs_cell_leaves(const ndr_slabs *slabs, bool reduced);

/* Whether leaves of the same outputs are reduced separately and added later, in their order. This follows from the
 * grid. */
bool ndr_slabs_adds_apart(const ndr_slabs *slabs);

/* Moves start[] on to the next slab along the reduced (or the kept) dims. After the last slab it moves back to 0 and
 * returns false. */
bool ndr_slabs_next(const ndr_slabs *slabs, bool reduced, int64_t *start);

/* Where the slab starts along dim d that is as many slabs before the last one as the slab at `start` is behind the
 * first.
 */
int64_t ndr_slabs_mirrored(const ndr_slabs *slabs, int d, int64_t start);

/* The elements of the slab that starts at start[]. */
void ndr_slabs_box(const ndr_slabs *slabs, const int64_t *start, int64_t *begin, int64_t *size);

/* How many leaves a slab, the box of begin[] and size[], has along the dims that are reduced, or that are kept. */
int64_t ndr_slabs_leaves(const ndr_slabs *slabs, const int64_t *begin, const int64_t *size, bool reduced);

/* Which leaf of its cell, along the kept dims, begin[] is in. */
int64_t ndr_slabs_leaf_at(const ndr_slabs *slabs, const int64_t *begin);

/* Where leaf number `index` of those that ndr_slabs_leaves counts lies: sets low[] and count[] of these dims. */
void ndr_slabs_leaf(const ndr_slabs *slabs, const int64_t *begin, const int64_t *size, bool reduced, int64_t index,
                    int64_t *low, int64_t *count);

#endif
