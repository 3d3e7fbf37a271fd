/* Template, part 4: any, all, count and valid of one dtype, from two conditions on an element x
 *   NONZERO    under SKIP, no to NaN
 *   PRESENT    x is not NaN; not defined for integers, which share one kernel that reads nothing */

static void NAME(count)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED uint64_t words[NDR_LANES];
  TALLY(NONZERO, words);
  settle(join_add_int, 1, tile, words, states, pitch);
}

static void NAME(any)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED uint64_t words[NDR_LANES];
  TALLY(NONZERO, words);
  EACH_LANE(words[l] = words[l] != 0)
  settle(join_or, 1, tile, words, states, pitch);
}

#if !SKIP /* NaN is nonzero, and never present: leaving it out changes neither */
static void NAME(all)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED uint64_t words[NDR_LANES];
  TALLY(NONZERO, words);
  EACH_LANE(words[l] = words[l] == (uint64_t)tile->rows)
  settle(join_and, 1, tile, words, states, pitch);
}

#ifdef PRESENT
static void NAME(valid)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED uint64_t words[NDR_LANES];
  TALLY(PRESENT, words);
  settle(join_add_int, 1, tile, words, states, pitch);
}
#endif
#endif

#undef NONZERO
#undef PRESENT
