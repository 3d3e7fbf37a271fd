/* How the pieces of a stage are dealt to ranks. Pure: all ranks find the same.
 *
 * Pieces are cut into ranges. Each rank has one of the first, of equal size, which cover half of the pieces; the
 * others, which become smaller and smaller, go one after the other to whoever is ready. So much is handed out because
 * nobody knows what pieces cost: how many bytes a chunk has is known when it is read. Pieces of the same outputs stay
 * together where they are few. Where they do not, their outputs have owners, who put the partial states together. */
#ifndef NDR_H5_RUN_DEAL_H
#define NDR_H5_RUN_DEAL_H

#include "h5/read/slab_iterator.h"

typedef struct ndr_deal {
  int ranks;
  int64_t stage;   /* the ranks take turns from stage to stage */
  int64_t count;   /* ranges, of which some of the first may be empty; those from `ranks` on are handed out */
  int64_t *begins; /* of them, and the end of the last */
} ndr_deal;

/* Deals all pieces of the iterator, which is at its beginning. One of so many stages, if there are enough of them, is
 * one rank's as a whole. Clear it afterwards, even after a failure. */
ndr_status ndr_deal_make(ndr_deal *deal, const ndr_slab_iterator *iterator, int ranks, int64_t stage,
                         int64_t stage_count);
void ndr_deal_clear(ndr_deal *deal);

/* The range that a rank has from the beginning; -1: none. */
int64_t ndr_deal_range(const ndr_deal *deal, int rank);

/* Whether pieces begin .. end - 1 are in several ranges; and which rank then owns a column of their outputs. */
bool ndr_deal_splits(const ndr_deal *deal, int64_t begin, int64_t end);
int ndr_deal_owner(const ndr_deal *deal, int64_t begin, int64_t end, int64_t column);

#endif
