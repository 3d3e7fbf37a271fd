/* Template, part 9: sums, any, all, count and valid of 16-bit floats, with NaN elements counted or left out, from
 *   NAME(kernel)     how its functions are called
 *   ELEMENT, INDEX   the storage type and the unsigned type of its size
 *   INFINITE         the bits of +infinity: NaN has more, whatever its sign
 *   WIDEN            the conversion of contiguous elements to f32
 *   SKIP             1: NaN elements are left out
 * For sums, blocks of four rows are converted and added before the next: four streams are read at once, and what is
 * converted never leaves the first-level cache. The other operators of these dtypes fold converted tiles. */

#define BLOCK 64
#define SEEN(value) (SKIP && (value) != (value) ? 0 : (double)(value))

/* Lanes first .. first + lanes - 1 of up to four rows from `row` on. */
static inline void NAME(add_block)(const ndr_tile *tile, int64_t row, int64_t first, int64_t lanes, uint64_t *words,
                                   uint64_t *counts) {
  ALIGNED float wide[4][NDR_LANES];
  int64_t rows = tile->rows - row < 4 ? tile->rows - row : 4;
  for (int64_t r = 0; r < rows; r++) WIDEN(ROW(row + r) + first, wide[r], lanes);
  for (int64_t r = rows; r < 4; r++) memset(wide[r], 0, (size_t)lanes * sizeof wide[r][0]);
  EACH_LANE(double s = f64_of(words[l]); s += SEEN(wide[0][l]); s += SEEN(wide[1][l]); s += SEEN(wide[2][l]);
            s += SEEN(wide[3][l]); words[l] = word_of(s))
  for (int64_t r = 0; SKIP && counts && r < rows; r++)
    EACH_LANE(counts[l] = word_of(f64_of(counts[l]) + (wide[r][l] == wide[r][l] ? 1 : 0)))
}

static void NAME(add_rows)(const ndr_tile *tile, uint64_t *words, uint64_t *counts) {
  const int64_t lanes = tile->lanes;
  const bool interleaved = four_rows(tile, (int64_t)sizeof(ELEMENT));
  EACH_LANE(words[l] = word_of(0))
  for (int64_t row = 0; row < tile->rows; row += 4) {
    int64_t l = 0;
    for (int64_t r = row; tile->ahead && r < row + 4 && r < tile->rows; r++)
      prefetch_ahead(tile, ROW(r), (size_t)lanes * sizeof(ELEMENT));
    for (; interleaved && l + BLOCK <= lanes; l += BLOCK)
      NAME(add_block)(tile, row, l, BLOCK, words + l, counts ? counts + l : NULL);
    if (l < lanes) NAME(add_block)(tile, row, l, lanes - l, words + l, counts ? counts + l : NULL);
  }
}

static void NAME(sum)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  ALIGNED uint64_t words[NDR_LANES];
  NAME(add_rows)(tile, words, NULL);
  settle(join_add, 1, tile, words, states, pitch);
}

static void NAME(mean)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = tile->lanes;
  ALIGNED uint64_t words[2 * NDR_LANES];
  EACH_LANE(WORD(1)[l] = word_of(SKIP ? 0 : (double)tile->rows))
  NAME(add_rows)(tile, words, WORD(1));
  settle(join_add2, 2, tile, words, states, pitch);
}

#undef SEEN
#define PRESENT ((x & 0x7fff) <= INFINITE)
#define NONZERO (((x & 0x7fff) != 0) & (!SKIP | PRESENT))
#include "cpu/fold/truth.h"

#undef NAME
#undef ELEMENT
#undef INDEX
#undef INFINITE
#undef WIDEN
#undef BLOCK
