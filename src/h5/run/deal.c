/* See deal.h. */
#include "h5/run/deal.h"

#include <stdlib.h>

#include "core/status.h"

/* One in so many pieces is handed out; and of its share of those that are left, a rank gets one in so many at a time.
 */
enum { LATE_SHARE = 2, NEXT_SHARE = 2 };

/* So many stages for each rank, and no stage is divided. */
enum { STAGES = 2 };

/* The end of a range that should end at `piece`: pieces of the same outputs stay together if that moves it by a small
 * part of the range. */
static int64_t end_near(const ndr_slab_iterator *iterator, int64_t piece, int64_t pieces, int64_t size) {
  int64_t begin, end;
  if (piece >= pieces) return pieces;
  ndr_slab_iterator_alike(iterator, piece, &begin, &end);
  if (end - begin > (size + 1) / 2) return piece;
  return piece - begin < end - piece ? begin : end;
}

static void add(ndr_deal *deal, int64_t end) {
  int64_t before = deal->begins[deal->count];
  deal->begins[++deal->count] = end > before ? end : before;
}

/* Ranges of equal size, and then ever smaller ones; *deal has room for them. */
static void cut(ndr_deal *deal, const ndr_slab_iterator *iterator, int64_t pieces) {
  int64_t early = pieces - pieces / LATE_SHARE, size = early / deal->ranks;
  for (int i = 1; i <= deal->ranks; i++) {
    add(deal, end_near(iterator, size * i + early % deal->ranks * i / deal->ranks, pieces, size));
  }
  while (deal->begins[deal->count] < pieces) {
    int64_t begin = deal->begins[deal->count], more = (pieces - begin) / ((int64_t)NEXT_SHARE * deal->ranks);
    add(deal, end_near(iterator, begin + (more ? more : 1), pieces, more));
  }
}

ndr_status ndr_deal_make(ndr_deal *deal, const ndr_slab_iterator *iterator, int ranks, int64_t stage,
                         int64_t stage_count) {
  int64_t pieces = ndr_slab_iterator_pieces(iterator);
  bool whole = stage_count >= (int64_t)STAGES * ranks;
  ndr_deal_clear(deal);
  *deal = (ndr_deal){.ranks = ranks, .stage = stage};
  deal->begins = calloc((size_t)(ranks + pieces) + 2, sizeof *deal->begins);
  if (!deal->begins) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  if (whole)
    add(deal, pieces);
  else
    cut(deal, iterator, pieces);
  return NDR_OK;
}

void ndr_deal_clear(ndr_deal *deal) {
  free(deal->begins);
  deal->begins = NULL;
}

/* The rank that has a range, or would have it, if it were not handed out. */
static int rank_of(const ndr_deal *deal, int64_t range) {
  return (int)((range + deal->stage) % deal->ranks);
}

int64_t ndr_deal_range(const ndr_deal *deal, int rank) {
  for (int64_t i = 0; i < deal->ranks && i < deal->count; i++)
    if (rank_of(deal, i) == rank) return i;
  return -1;
}

/* The range that a piece is in. */
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
