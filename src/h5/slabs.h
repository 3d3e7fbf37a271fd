/* How an array is cut into pieces that fit in memory. Pure arithmetic.
 *
 * The array is covered by slabs of one extent, smaller at the edges, cut only at borders of storage units (chunks), so
 * that each unit is read once. The slabs over one range of the kept dims make a block: its outputs are finished when
 * its last slab has been added, so only one block's partial states exist at a time.
 *
 * Slabs are laid out from where the array's first unit begins, which may be `lead` elements before its first element:
 * start[] counts from there, begin[] from the first element. */
#ifndef NDR_H5_SLABS_H
#define NDR_H5_SLABS_H

#include <stdbool.h>
#include <stdint.h>

#include "ndreduce/ndreduce.h"

typedef struct ndr_slabs {
  int ndim;
  int64_t shape[NDR_MAX_DIMS];
  int64_t unit[NDR_MAX_DIMS]; /* extent of a chunk, at most the shape; 1 where data are not chunked */
  int64_t lead[NDR_MAX_DIMS]; /* what the first unit lacks; less than unit */
  bool reduced[NDR_MAX_DIMS];
  bool chunked;
  bool far; /* slabs are reduced by a GPU */
  /* Under `whole` a slot takes all chunks that a slab touches, of this extent, the first element being from[d] elements
   * behind a chunk's first. */
  bool whole;
  int64_t chunk[NDR_MAX_DIMS], from[NDR_MAX_DIMS];
  int64_t element_bytes;        /* in a slot */
  int64_t reduced_bytes;        /* of an element as it is reduced; 0: as in a slot */
  int64_t output_bytes;         /* of partial states for each output of a block */
  int64_t scratch_bytes;        /* that reading takes whatever the slab: chunks being decoded */
  int slots;                    /* slabs in memory at once */
  int64_t extent[NDR_MAX_DIMS]; /* of a slab; what ndr_slabs_choose sets */
} ndr_slabs;

/* Chooses extents so that slabs, states and scratch fit in budget bytes. Fails with NDR_ERR_MEMORY where even one unit
 * does not, naming the bytes that it takes. Sizes of 0 are legal. */
ndr_status ndr_slabs_choose(ndr_slabs *slabs, int64_t budget);

/* The same for an array that is reduced together with leader's, block by block: cuts the kept dims as leader does. */
ndr_status ndr_slabs_follow(ndr_slabs *slabs, const ndr_slabs *leader, int64_t budget);

/* Elements and outputs of a whole slab, elements that a slot takes for it, the bytes it takes in all, and how many
 * slabs there are. */
int64_t ndr_slabs_elements(const ndr_slabs *slabs);
int64_t ndr_slabs_held(const ndr_slabs *slabs);
int64_t ndr_slabs_outputs(const ndr_slabs *slabs);
int64_t ndr_slabs_bytes(const ndr_slabs *slabs);
int64_t ndr_slabs_count(const ndr_slabs *slabs);

/* Walks along the dims that are reduced (or along those that are kept) from slab to slab: start[] of these dims moves
 * on to the next one, or back to 0 with the answer false after the last. */
bool ndr_slabs_next(const ndr_slabs *slabs, bool reduced, int64_t *start);

/* The elements of the slab that starts at start[]. */
void ndr_slabs_box(const ndr_slabs *slabs, const int64_t *start, int64_t *begin, int64_t *size);

#endif
