/* Template: any, all, count and valid of one dtype, from two conditions on an element x
 *   NONZERO    under SKIP, no to NaN
 *   PRESENT    x is not NaN; not defined for integers, which share one kernel that reads nothing
 * and, for bytes, COUNT_OF_RUN (int_run.h) */

static inline uint64_t NAME(count_of_run)(const ndr_tile *tile) {
#ifdef COUNT_OF_RUN
  return (uint64_t)COUNT_OF_RUN(tile);
#else
  uint64_t count = 0;
  FOLD_RUN(INDEX c = 0, c = (INDEX)(c + (NONZERO)), count += (uint64_t)c);
  return count;
#endif
}

static void NAME(count)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  if (is_one_run(tile)) {
    deposit(join_add_int, 1, tile, (const uint64_t[]){NAME(count_of_run)(tile)}, states, pitch);
    return;
  }
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED uint64_t words[NDR_LANES];
  TALLY(NONZERO, words);
  settle(join_add_int, 1, tile, words, states, pitch);
}

static void NAME(any)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  if (is_one_run(tile)) {
    deposit(join_or, 1, tile, (const uint64_t[]){NAME(count_of_run)(tile) != 0}, states, pitch);
    return;
  }
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED uint64_t words[NDR_LANES];
  TALLY(NONZERO, words);
  EACH_LANE(words[l] = words[l] != 0)
  settle(join_or, 1, tile, words, states, pitch);
}

#if !SKIP /* NaN is nonzero, and never present: leaving it out changes neither */
static void NAME(all)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  if (is_one_run(tile)) {
    deposit(join_and, 1, tile, (const uint64_t[]){NAME(count_of_run)(tile) == (uint64_t)(tile->rows * tile->lanes)},
            states, pitch);
    return;
  }
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED uint64_t words[NDR_LANES];
  TALLY(NONZERO, words);
  EACH_LANE(words[l] = words[l] == (uint64_t)tile->rows)
  settle(join_and, 1, tile, words, states, pitch);
}

#ifdef PRESENT
static inline uint64_t NAME(valid_of_run)(const ndr_tile *tile) {
  uint64_t count = 0;
  FOLD_RUN(INDEX c = 0, c = (INDEX)(c + (PRESENT)), count += (uint64_t)c);
  return count;
}

static void NAME(valid)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  if (is_one_run(tile)) {
    deposit(join_add_int, 1, tile, (const uint64_t[]){NAME(valid_of_run)(tile)}, states, pitch);
    return;
  }
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED uint64_t words[NDR_LANES];
  TALLY(PRESENT, words);
  settle(join_add_int, 1, tile, words, states, pitch);
}
#endif
#endif

#if !SKIP
ALONG(count, 1, join_add_int, words[l] = NAME(count_of_run)(&run))
ALONG(any, 1, join_or, words[l] = NAME(count_of_run)(&run) != 0)
#ifdef PRESENT
ALONG(valid, 1, join_add_int, words[l] = NAME(valid_of_run)(&run))
#endif
ALONG(all, 1, join_and, words[l] = NAME(count_of_run)(&run) == (uint64_t)run.lanes)
#endif

#undef COUNT_OF_RUN
#undef NONZERO
#undef PRESENT
