/* How the pieces of a stage are dealt to ranks. Pure: all ranks find the same deal.
 *
 * Pieces are cut into ranges. The first ranges, one for each rank and of equal size, cover half of the pieces. The
 * others become smaller and smaller; they are handed out one after the other, to whoever is ready. A half is handed out
 * because the cost of a piece is unknown until it is read: chunks are compressed to different sizes. Pieces of the same
 * outputs stay in one range if they are few. Outputs whose pieces are in several ranges have owners, which merge the
 * partial states of the pieces. */
#ifndef NDR_H5_RANKS_DEAL_H
#define NDR_H5_RANKS_DEAL_H

#include "h5/read/slab/slab_iterator.h"

typedef struct ndr_deal {
  int ranks;
  int64_t stage;   /* moves the first ranges on by one rank from stage to stage */
  int64_t count;   /* how many ranges; the first ones may be empty, those from number `ranks` on are handed out */
  int64_t *begins; /* range i is the pieces begins[i] .. begins[i + 1] - 1 */
} ndr_deal;

/* Deals all pieces of the iterator, which is at its beginning. If there are many stages, the whole stage is one rank's.
 * *deal is all 0 or an earlier deal. Clear it afterwards, even after a failure. */
ndr_status ndr_deal_make(ndr_deal *deal, const ndr_slab_iterator *iterator, int ranks, int64_t stage,
                         int64_t stage_count);
void ndr_deal_clear(ndr_deal *deal);

/* The number of the first range that is this rank's; -1: none. */
int64_t ndr_deal_range(const ndr_deal *deal, int rank);

/* Whether pieces begin .. end - 1, which are all those of some outputs, are in several ranges. */
bool ndr_deal_splits(const ndr_deal *deal, int64_t begin, int64_t end);

/* The rank that then owns a column of those outputs. */
int ndr_deal_owner(const ndr_deal *deal, int64_t begin, int64_t end, int64_t column);

#endif
