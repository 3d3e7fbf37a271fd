/* Template, part 4: any, all and count of one dtype, from the number of nonzero elements of each lane. */

static void NAME(count)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  ALIGNED uint64_t words[NDR_LANES];
  NAME(nonzero)(tile, words);
  settle(join_add_int, 1, tile, words, states, pitch);
}

static void NAME(any)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = tile->lanes;
  ALIGNED uint64_t words[NDR_LANES];
  NAME(nonzero)(tile, words);
  EACH_LANE(words[l] = words[l] != 0)
  settle(join_or, 1, tile, words, states, pitch);
}

#if !SKIP /* NaN is nonzero: leaving it out changes nothing */
static void NAME(all)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = tile->lanes;
  ALIGNED uint64_t words[NDR_LANES];
  NAME(nonzero)(tile, words);
  EACH_LANE(words[l] = words[l] == (uint64_t)tile->rows)
  settle(join_and, 1, tile, words, states, pitch);
}
#endif
