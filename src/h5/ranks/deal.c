/* See deal.h. */
#include "h5/ranks/deal.h"

#include <stdlib.h>

#include "core/status.h"

enum {
  LATE_SHARE = 2,  /* 1 / LATE_SHARE of the pieces are handed out */
  NEXT_SHARE = 2,  /* the next range has 1 / (NEXT_SHARE * ranks) of the pieces that are left */
  WHOLE_STAGES = 2 /* from this many stages for each rank on, no stage is divided */
};

/* The end of a range of about `size` pieces that should end at `piece`. It is moved to where the next outputs' pieces
 * begin, unless the pieces of the same outputs are more than half of the range. */
static int64_t end_near(const ndr_slab_iterator *iterator, int64_t piece, int64_t pieces, int64_t size) {
  int64_t begin, end;
  if (piece >= pieces) return pieces;
  ndr_slab_iterator_alike(iterator, piece, &begin, &end);
  if (end - begin > (size + 1) / 2) return piece;
  return piece - begin < end - piece ? begin : end;
}

/* The end of a late range of about `more` pieces from `from` on. A range that would have three quarters of the pieces
 * of its first outputs takes all of them: then no states of these outputs are sent. If half of the pieces were enough,
 * ranges would be longer, and ranks would end further apart. */
static int64_t late_end(const ndr_slab_iterator *iterator, int64_t from, int64_t pieces, int64_t more) {
  int64_t begin, end;
  ndr_slab_iterator_alike(iterator, from, &begin, &end);
  if (from == begin && from + more < end && 4 * more >= 3 * (end - begin)) return end;
  return end_near(iterator, from + (more ? more : 1), pieces, more);
}

/* Adds a range; an end before its begin makes it empty. */
static void add_range(ndr_deal *deal, int64_t end) {
  int64_t begin = deal->begins[deal->count];
  deal->begins[++deal->count] = end > begin ? end : begin;
}

/* Ranges of equal size, one for each rank, and then ever smaller ones. */
static void cut_ranges(ndr_deal *deal, const ndr_slab_iterator *iterator, int64_t pieces) {
  int64_t early = pieces - pieces / LATE_SHARE, size = early / deal->ranks;
  for (int i = 1; i <= deal->ranks; i++) {
    add_range(deal, end_near(iterator, size * i + early % deal->ranks * i / deal->ranks, pieces, size));
  }
  while (deal->begins[deal->count] < pieces) {
    int64_t begin = deal->begins[deal->count], more = (pieces - begin) / ((int64_t)NEXT_SHARE * deal->ranks);
    add_range(deal, late_end(iterator, begin, pieces, more));
  }
}

ndr_status ndr_deal_make(ndr_deal *deal, const ndr_slab_iterator *iterator, int ranks, int64_t stage,
                         int64_t stage_count) {
  int64_t pieces = ndr_slab_iterator_pieces(iterator);
  bool whole = stage_count >= (int64_t)WHOLE_STAGES * ranks;
  ndr_deal_clear(deal);
  *deal = (ndr_deal){.ranks = ranks, .stage = stage};
  deal->begins = calloc((size_t)(ranks + pieces) + 2, sizeof *deal->begins);
  if (!deal->begins) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  if (whole)
    add_range(deal, pieces);
  else
    cut_ranges(deal, iterator, pieces);
  return NDR_OK;
}

void ndr_deal_clear(ndr_deal *deal) {
  free(deal->begins);
  deal->begins = NULL;
}

/* The ranks in turn: the first range of each, and the owners of outputs that are split. */
static int rank_of(const ndr_deal *deal, int64_t range) {
  return (int)((range + deal->stage) % deal->ranks);
}

int64_t ndr_deal_range(const ndr_deal *deal, int rank) {
  for (int64_t i = 0; i < deal->ranks && i < deal->count; i++)
    if (rank_of(deal, i) == rank) return i;
  return -1;
}

static int64_t range_of(const ndr_deal *deal, int64_t piece) {
  int64_t low = 0, high = deal->count;
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (deal->begins[middle] <= piece)
      low = middle;
    else
      high = middle;
  }
  return low;
}

bool ndr_deal_splits(const ndr_deal *deal, int64_t begin, int64_t end) {
  return range_of(deal, begin) != range_of(deal, end - 1);
}

int ndr_deal_owner(const ndr_deal *deal, int64_t begin, int64_t end, int64_t column) {
  int64_t first = range_of(deal, begin), ranges = range_of(deal, end - 1) - first + 1;
  return rank_of(deal, first + column % (ranges < deal->ranks ? ranges : deal->ranks));
}
