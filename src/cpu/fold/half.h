/* Template, part 9: sums, any, all, count and valid of 16-bit floats, with NaN elements counted or left out, from
 *   NAME(kernel)     how its functions are called
 *   ELEMENT, INDEX   the storage type and the unsigned type of its size
 *   INFINITE         the bits of +infinity: NaN has more, whatever its sign
 *   WIDEN            the conversion of contiguous elements to f32
 *   WIDE_OF, PART_OF  see column.h; under SKIP they are not used
 *   LOAD_REAL        how eight are loaded as f64 (eight.h)
 *   SKIP             1: NaN elements are left out
 * For sums, eight lanes are added up in a register over four rows. Under SKIP, and for lanes that are left, blocks of
 * four rows are converted and added before the next: what is converted never leaves the first-level cache. The other
 * operators of these dtypes fold converted tiles. */

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

/* Adds up to four rows from `row` on to the first `lanes` lanes, a multiple of 8. */
static inline void NAME(add_eights)(const ndr_tile *tile, int64_t row, int64_t rows, int64_t lanes, uint64_t *words) {
  for (int64_t l = 0; l < lanes; l += 8) {
    f64x8 sum, x;
    memcpy(&sum, words + l, sizeof sum);
    for (int64_t r = row; r < row + rows; r++) {
      LOAD_REAL(&x, ROW(r) + l, 8);
      sum = sum + x;
    }
    memcpy(words + l, &sum, sizeof sum);
  }
}

/* Rows that are a page or more apart are read in blocks of four by 64 lanes: with eight lanes of each at a time a Zen 5
 * core reads 12 GB/s, with 64 of them 16. */
static void NAME(add_rows)(const ndr_tile *tile, uint64_t *words, uint64_t *counts) {
  const bool four = four_rows(tile, (int64_t)sizeof(ELEMENT)), far = four && !tile->cached && tile->row_stride > 128;
  const int64_t lanes = tile->lanes, eights = SKIP || far ? 0 : lanes / 8 * 8;
  EACH_LANE(words[l] = word_of(0))
  for (int64_t row = 0; row < tile->rows && eights; row += four ? 4 : 1) {
    const int64_t rows = lower(four ? 4 : 1, tile->rows - row);
    for (int64_t r = row; tile->ahead && r < row + rows; r++)
      prefetch_ahead(tile, ROW(r), (size_t)lanes * sizeof(ELEMENT));
    if (rows == 4)
      NAME(add_eights)(tile, row, 4, eights, words);
    else
      NAME(add_eights)(tile, row, rows, eights, words);
  }
  for (int64_t row = 0; row < tile->rows && eights < lanes; row += 4) {
    for (int64_t r = row; far && tile->ahead && r < row + 4 && r < tile->rows; r++)
      prefetch_ahead(tile, ROW(r), (size_t)lanes * sizeof(ELEMENT));
    int64_t l = eights;
    for (; four && l + BLOCK <= lanes; l += BLOCK)
      NAME(add_block)(tile, row, l, BLOCK, words + l, counts ? counts + l : NULL);
    if (l < lanes) NAME(add_block)(tile, row, l, lanes - l, words + l, counts ? counts + l : NULL);
  }
}

#if SKIP
#define COLUMNS false
#else
#define PARTIAL float
#include "cpu/fold/column.h"

#define COLUMNS (is_columns(tile) ? (NAME(add_columns)(tile, states), true) : false)
#endif

static void NAME(sum)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  ALIGNED uint64_t words[NDR_LANES];
  if (COLUMNS) return;
  NAME(add_rows)(tile, words, NULL);
  settle(join_add, 1, tile, words, states, pitch);
}

static void NAME(mean)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = tile->lanes;
  ALIGNED uint64_t words[2 * NDR_LANES];
  if (COLUMNS) {
    count_rows(tile, states + pitch);
    return;
  }
  EACH_LANE(WORD(1)[l] = word_of(SKIP ? 0 : (double)tile->rows))
  NAME(add_rows)(tile, words, WORD(1));
  settle(join_add2, 2, tile, words, states, pitch);
}

#undef SEEN
#define PRESENT ((x & 0x7fff) <= INFINITE)
#define NONZERO (((x & 0x7fff) != 0) & (!SKIP | PRESENT))
#include "cpu/fold/truth.h"

#undef COLUMNS
#undef NAME
#undef ELEMENT
#undef INDEX
#undef INFINITE
#undef WIDEN
#undef LOAD_REAL
#undef BLOCK
