/* Template: sums of rows of contiguous complex numbers, an output each, as across.h has those of real ones: eight parts
 * of a row at a time, real ones and imaginary ones in turn. From
 *   NAME(kernel)   how its functions are called
 *   PART           the type of the parts
 *   LOAD_REAL      how eight of them are loaded as f64 (eight.h)
 *   NORM2_OF_PARTS the kernel of norm2 for rows of parts */
static void NAME(add_across)(const ndr_tile *tile, uint64_t *words) {
  const int64_t parts = 2 * tile->rows, tail = parts % 8, whole = parts - tail;
  const int64_t full = lanes_with(4, tile, 2 * (int64_t)sizeof(PART));
  i64x8 present;
  first_of_eight(&present, tail);
  for (int64_t l = 0; l < tile->lanes; l++) {
    const PART *at = (const PART *)tile->data + 2 * l * tile->lane_stride;
    f64x8 s = {{{0}}}, t = {{{0}}}, v;
    ALIGNED double sums[8];
    int64_t i = 0;
    __builtin_prefetch((const char *)at + AHEAD);
    for (; i + 16 <= whole; i += 16) {
      prefetch_row(at + i, 16 * sizeof(PART));
      LOAD_REAL(&v, at + i, 8);
      EACH_PART(s.part[p] += v.part[p])
      LOAD_REAL(&v, at + i + 8, 8);
      EACH_PART(t.part[p] += v.part[p])
    }
    if (i < whole) {
      LOAD_REAL(&v, at + i, 8);
      EACH_PART(s.part[p] += v.part[p])
    }
    if (tail) {
      if (l < full)
        LOAD_REAL(&v, at + whole, 8);
      else
        LOAD_REAL(&v, at + whole, tail);
      EACH_PART(v.part[p] += t.part[p]; t.part[p] = PICK_PART(present.part[p], v.part[p], t.part[p]))
    }
    EACH_PART(s.part[p] += t.part[p])
    memcpy(sums, &s, sizeof sums);
    WORD(0)[l] = word_of((sums[0] + sums[4]) + (sums[2] + sums[6]));
    WORD(1)[l] = word_of((sums[1] + sums[5]) + (sums[3] + sums[7]));
  }
}

static void NAME(sum)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  ALIGNED uint64_t words[2 * NDR_LANES];
  NAME(add_across)(tile, words);
  deposit(join_add2, 2, tile, words, states, pitch);
}

static void NAME(mean)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = tile->lanes;
  ALIGNED uint64_t words[3 * NDR_LANES];
  NAME(add_across)(tile, words);
  EACH_LANE(WORD(2)[l] = word_of((double)tile->rows))
  deposit(join_add3, 3, tile, words, states, pitch);
}

/* The squares of all parts. */
static void NAME(norm2)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  ndr_tile parts = *tile;
  parts.rows *= 2;
  parts.lane_stride *= 2;
  NORM2_OF_PARTS(&parts, states, pitch);
}

#undef NAME
#undef PART
#undef NORM2_OF_PARTS
#undef LOAD_REAL
