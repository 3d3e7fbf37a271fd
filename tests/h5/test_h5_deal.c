/* How pieces are dealt to ranks: each piece is in one range, pieces of the same outputs stay together where they are
 * few, and outputs of several ranges have one owner among those that have them. */
#include <stdlib.h>
#include <string.h>

#include "h5/ranks/deal.h"
#include "support/cases.h"
#include "support/suite.h"

/* A random array, cut into small cells. */
static void cut_any(rng *random, ndr_slabs *slabs) {
  *slabs = (ndr_slabs){.ndim = (int)rng_between(random, 1, 3), .stored_bytes = 4, .reduced_bytes = 4};
  for (int d = 0; d < slabs->ndim; d++) {
    slabs->shape[d] = rng_between(random, rng_once_in(random, 20) ? 0 : 1, slabs->ndim == 1 ? 4000 : 40);
    slabs->unit[d] = slabs->chunk[d] = 1;
    slabs->reduced[d] = rng_once_in(random, 2);
  }
  slabs->element_bytes = 4;
  slabs->output_bytes = 8;
  slabs->slots = slabs->workers = 1;
  ndr_slabs_grid(slabs, NULL, (int)rng_between(random, 8, 18));
}

static void check_ranges(const ndr_deal *deal, int64_t pieces, int ranks) {
  int64_t owned = 0;
  ck_assert_int_eq(deal->begins[0], 0);
  ck_assert_int_eq(deal->begins[deal->count], pieces);
  for (int64_t i = 0; i < deal->count; i++) {
    ck_assert_int_le(deal->begins[i], deal->begins[i + 1]);
    if (i >= ranks) ck_assert_int_lt(deal->begins[i], deal->begins[i + 1]);
  }
  for (int rank = 0; rank < ranks; rank++) {
    int64_t range = ndr_deal_range(deal, rank);
    ck_assert(range == -1 || (range < deal->count && range < ranks));
    owned += range >= 0;
  }
  ck_assert_int_eq(owned, deal->count < ranks ? deal->count : ranks);
}

/* The range that has a piece. */
static int64_t range_of(const ndr_deal *deal, int64_t piece, int64_t from) {
  while (deal->begins[from + 1] <= piece) from++;
  return from;
}

static void check_outputs(const ndr_deal *deal, const ndr_slab_iterator *iterator, int64_t pieces) {
  for (int64_t piece = 0, last = 0, begin, end; piece < pieces; piece = end) {
    ndr_slab_iterator_alike(iterator, piece, &begin, &end);
    ck_assert(begin == piece && end > begin && end <= pieces);
    int64_t first = range_of(deal, begin, last);
    last = range_of(deal, end - 1, first);
    ck_assert_int_eq(ndr_deal_splits(deal, begin, end), first != last);
    for (int64_t column = 0; column < 3; column++) {
      int owner = ndr_deal_owner(deal, begin, end, column);
      bool has = false;
      for (int64_t range = first; range <= last; range++) has = has || (range + deal->stage) % deal->ranks == owner;
      ck_assert(has);
    }
  }
}

START_TEST(every_piece_is_in_one_range) {
  rng random = {test_seed()};
  for (int i = 0; i < test_case_count(500); i++) {
    ndr_slabs slabs;
    ndr_deal deal = {.begins = NULL};
    cut_any(&random, &slabs);
    const ndr_slab_iterator iterator = {.part_count = 1, .parts = &slabs};
    int ranks = (int)rng_between(&random, 1, 40);
    int64_t stages = rng_between(&random, 1, 100), stage = rng_between(&random, 0, stages - 1);
    int64_t pieces = ndr_slab_iterator_pieces(&iterator);
    assert_ok(ndr_deal_make(&deal, &iterator, ranks, stage, stages));
    check_ranges(&deal, pieces, ranks);
    check_outputs(&deal, &iterator, pieces);
    if (stages >= 2 * ranks) ck_assert_int_eq(deal.count, 1);
    ndr_deal_clear(&deal);
  }
}
END_TEST

/* 1,000 blocks of outputs with one piece each, or with ten, are not divided among 8 ranks; one block is. */
START_TEST(few_pieces_stay_together) {
  const struct {
    int64_t outputs, stretches;
    bool splits;
  } known[] = {{1000, 1, false}, {1000, 10, false}, {1, 4000, true}};
  for (int i = 0; i < 3; i++) {
    ndr_slabs slabs = {.ndim = 2, .reduced = {false, true}, .stretch = 1};
    ndr_deal deal = {.begins = NULL};
    slabs.shape[0] = known[i].outputs, slabs.shape[1] = known[i].stretches;
    for (int d = 0; d < 2; d++) slabs.cell[d] = slabs.leaf[d] = slabs.extent[d] = slabs.unit[d] = 1;
    const ndr_slab_iterator iterator = {.part_count = 1, .parts = &slabs};
    int64_t pieces = known[i].outputs * known[i].stretches, splits = 0;
    ck_assert_int_eq(ndr_slab_iterator_pieces(&iterator), pieces);
    assert_ok(ndr_deal_make(&deal, &iterator, 8, 0, 1));
    for (int64_t begin = 0, end; begin < pieces; begin = end) {
      ndr_slab_iterator_alike(&iterator, begin, &begin, &end);
      /* The last ranges are smaller than a block. */
      if (end <= deal.begins[8]) splits += ndr_deal_splits(&deal, begin, end);
    }
    ck_assert_msg((ndr_deal_splits(&deal, 0, known[i].stretches) || splits > 0) == known[i].splits, "case %d", i);
    ndr_deal_clear(&deal);
  }
}
END_TEST

/* 8 blocks of outputs of 16 pieces each, for two ranks: states of the last two blocks' pieces alone are sent. */
START_TEST(blocks_stay_whole_while_ranges_have_most_of_one) {
  ndr_slabs slabs = {.ndim = 2, .shape = {8, 16}, .reduced = {false, true}, .stretch = 1};
  ndr_deal deal = {.begins = NULL};
  for (int d = 0; d < 2; d++) slabs.cell[d] = slabs.leaf[d] = slabs.extent[d] = slabs.unit[d] = 1;
  const ndr_slab_iterator iterator = {.part_count = 1, .parts = &slabs};
  assert_ok(ndr_deal_make(&deal, &iterator, 2, 0, 1));
  for (int64_t block = 0; block < 8; block++)
    ck_assert_int_eq(ndr_deal_splits(&deal, 16 * block, 16 * block + 16), block >= 6);
  ndr_deal_clear(&deal);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 deal");
  suite_case(suite, "deal", 60, every_piece_is_in_one_range, few_pieces_stay_together,
             blocks_stay_whole_while_ranges_have_most_of_one, NULL);
  return suite_run(suite);
}
