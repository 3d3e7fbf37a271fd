/* Template: the kernels of bool that are not those of u8. An element may be any byte, and counts as 1 unless it
 * is 0: sums are counts, minima are all and maxima any. */
#define ELEMENT uint8_t
#define INDEX uint8_t

static inline uint64_t run_count_word(const ndr_tile *tile) {
  return word_of((double)sum_of_bytes(tile, 0, true));
}

static void mean_bool(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED uint64_t words[2 * NDR_LANES];
  if (is_one_run(tile)) {
    *WORD(0) = run_count_word(tile);
    *WORD(1) = word_of((double)(tile->rows * tile->lanes));
    deposit(join_add2, 2, tile, words, states, pitch);
    return;
  }
  TALLY(x != 0, words);
  EACH_LANE(words[l] = word_of((double)(uint32_t)words[l]); WORD(1)[l] = word_of((double)tile->rows))
  settle(join_add2, 2, tile, words, states, pitch);
}

static void norm2_bool(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  if (is_one_run(tile)) {
    deposit(join_add, 1, tile, (const uint64_t[]){run_count_word(tile)}, states, pitch);
    return;
  }
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED uint64_t words[NDR_LANES];
  TALLY(x != 0, words);
  EACH_LANE(words[l] = word_of((double)(uint32_t)words[l]))
  settle(join_add, 1, tile, words, states, pitch);
}

static void var_bool(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED uint64_t words[3 * NDR_LANES];
  if (is_one_run(tile)) {
    *WORD(0) = word_of((double)(tile->rows * tile->lanes));
    *WORD(1) = *WORD(2) = run_count_word(tile);
    deposit_exact_moments(tile, words, states, pitch);
    return;
  }
  TALLY(x != 0, words);
  EACH_LANE(words[l] = word_of((double)(uint32_t)words[l]))
  EACH_LANE(WORD(1)[l] = WORD(2)[l] = words[l]; words[l] = word_of((double)tile->rows))
  settle_exact_moments(tile, words, states, pitch);
}

#undef ELEMENT
#undef INDEX
