/* Template: sums, moments (moments.h), extremes (rank.h), any, all, count and valid of 16-bit floats, with NaN
 * elements counted or left out, from
 *   NAME(kernel)     how its functions are called
 *   ELEMENT, INDEX   the storage type and the unsigned type of its size
 *   INFINITE         the bits of +infinity: NaN has more, whatever its sign
 *   WIDEN            the conversion of contiguous elements to f32
 *   PART_OF          see column.h; under SKIP it is not used
 *   LOAD_PART        eight elements as f32; where it is not defined, WIDEN converts them
 *   FLOAT_OF(x)      an element as f32
 *   LOAD_REAL        how eight are loaded as f64 (eight.h)
 *   SKIP             1: NaN elements are left out
 * Rows of a run are added up in trees of 16, as in column.h and with the same bound on the error: adding each element
 * in f64 takes twice the time. A run's last elements, which fill no row, are added in f64. For other sums, eight lanes
 * are added up in a register over four rows. Under SKIP, and for lanes after the last eight, blocks of four rows are
 * converted and then added, so that converted elements stay in the first-level cache. The other operators of these
 * dtypes fold converted tiles. */

/* Lanes that are converted at a time. */
#define BLOCK 64
#define SEEN(value) (SKIP && (value) != (value) ? 0 : (double)(value))

/* Adds lanes first .. first + lanes - 1 of up to four rows, from `row` on, to words[0 .. lanes - 1]. */
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
      EACH_PART(sum.part[p] += x.part[p])
    }
    memcpy(words + l, &sum, sizeof sum);
  }
}

/* Adds up all rows, and under SKIP counts the elements. Rows that lie far apart are read in blocks of four rows by 64
 * lanes: a Zen 5 core reads 16 GB/s in this way, and 12 GB/s with eight lanes of a row at a time. */
static void NAME(add_rows)(const ndr_tile *tile, uint64_t *words, uint64_t *counts) {
  const bool four = four_rows(tile, (int64_t)sizeof(ELEMENT)) || !is_dense(tile);
  const bool blocks = SKIP || (four && !tile->cached && tile->row_stride > 128);
  const int64_t lanes = SKIP ? tile->lanes : ROUNDED_LANES, eights = blocks ? 0 : lanes / 8 * 8;
  EACH_LANE(words[l] = word_of(0))
  for (int64_t row = 0; row < tile->rows && eights; row += four ? 4 : 1) {
    const int64_t rows = lower(four ? 4 : 1, tile->rows - row);
    prefetch_ahead(tile, row, rows, (int64_t)sizeof(ELEMENT));
    if (rows == 4)
      NAME(add_eights)(tile, row, 4, eights, words);
    else
      NAME(add_eights)(tile, row, rows, eights, words);
  }
  for (int64_t row = 0; row < tile->rows && eights < lanes; row += 4) {
    if (blocks) prefetch_ahead(tile, row, lower(4, tile->rows - row), (int64_t)sizeof(ELEMENT));
    int64_t l = eights;
    for (; four && l + BLOCK <= lanes; l += BLOCK)
      NAME(add_block)(tile, row, l, BLOCK, words + l, counts ? counts + l : NULL);
    if (l < lanes) NAME(add_block)(tile, row, l, lanes - l, words + l, counts ? counts + l : NULL);
  }
}

#if SKIP
#define COLUMNS false
#define RUN false
#else
#include "cpu/fold/dtype/column.h"

#define COLUMNS (is_columns(tile) ? (NAME(add_columns)(tile, states), true) : false)

/* Eight elements as f32. */
INLINE void NAME(load_part)(f32x8 *to, const ELEMENT *at) {
#ifdef LOAD_PART
  *to = (f32x8)LOAD_PART(at);
#else
  float wide[8];
  WIDEN(at, wide, 8);
  memcpy(to, wide, sizeof *to);
#endif
}

/* Adds up 16, 8, 4, 2 or 1 rows of a run in a tree, as column.h does, and their sum to the sums of the lanes. */
INLINE void NAME(add_few_of_run)(const ELEMENT *at, int rows, f64x8 *sums) {
  for (int part = 0; part < RUN_LANES / 8; part++) {
    f32x8 v[16];
    if (rows == 16) prefetch_row(at + part * 4 * RUN_LANES, 4 * RUN_LANES * sizeof(ELEMENT));
    for (int row = 0; row < rows; row++) NAME(load_part)(&v[row], at + row * RUN_LANES + part * 8);
    for (int left = rows / 2; left > 0; left /= 2)
      for (int k = 0; k < left; k++) v[k] = v[2 * k] + v[2 * k + 1];
    f64x8 sum;
    load_f64_f32(&sum, &v[0], 8);
    EACH_PART(sums[part].part[p] += sum.part[p])
  }
}

/* The sum of `count` numbers, a power of 2, in a tree. Overwrites them. */
INLINE double NAME(add_halves)(double *sums, int count) {
  for (int stay = count / 2; stay > 0; stay /= 2)
    for (int l = 0; l < stay; l++) sums[l] += sums[l + stay];
  return sums[0];
}

/* The sum of a tile that is one run. Returns false if the tile is none, or if it has to be added up in f64: the user
 * may want that, or the sum is not finite, perhaps only because that of a few rows was too large for f32. */
static bool NAME(add_run)(const ndr_tile *tile, uint64_t *words) {
  f64x8 sums[RUN_LANES / 8] = {{{{0}}}};
  ALIGNED double lanes[RUN_LANES];
  int64_t row = 0;
  if (!has_run_lanes(tile, 1) || tile->cached || tile->in_f64) return false;
  for (; row + 16 <= tile->rows; row += 16) NAME(add_few_of_run)(ROW(row), 16, sums);
  if (tile->rows & 8) NAME(add_few_of_run)(ROW(row), 8, sums), row += 8;
  if (tile->rows & 4) NAME(add_few_of_run)(ROW(row), 4, sums), row += 4;
  if (tile->rows & 2) NAME(add_few_of_run)(ROW(row), 2, sums), row += 2;
  if (tile->rows & 1) NAME(add_few_of_run)(ROW(row), 1, sums);
  memcpy(lanes, sums, sizeof lanes);
  const double sum = NAME(add_halves)(lanes, RUN_LANES);
  words[0] = word_of(sum);
  return sum - sum == 0;
}

/* The sum of a tile of one short row, such as the elements of a run after its last whole row, in f64. Returns false if
 * the tile is none. */
static bool NAME(add_short_row)(const ndr_tile *tile, uint64_t *words) {
  ALIGNED float wide[RUN_LANES] = {0};
  ALIGNED double lanes[8];
  f64x8 sums = {{{0}}}, eight;
  if (tile->period > 1 || tile->rows != 1 || tile->lanes > RUN_LANES) return false;
  WIDEN(ROW(0), wide, tile->lanes);
  for (int64_t l = 0; l < tile->lanes; l += 8) {
    load_f64_f32(&eight, wide + l, 8);
    EACH_PART(sums.part[p] += eight.part[p])
  }
  memcpy(lanes, &sums, sizeof lanes);
  words[0] = word_of(NAME(add_halves)(lanes, 8));
  return true;
}

#define RUN (NAME(add_run)(tile, words) || NAME(add_short_row)(tile, words))
#endif

static void NAME(sum)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  ALIGNED uint64_t words[NDR_LANES];
  if (COLUMNS) return;
  if (RUN) {
    deposit(join_add, 1, tile, words, states, pitch);
    return;
  }
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
  if (RUN) {
    WORD(1)[0] = word_of((double)(tile->rows * lanes));
    deposit(join_add2, 2, tile, words, states, pitch);
    return;
  }
  EACH_LANE(WORD(1)[l] = word_of(SKIP ? 0 : (double)tile->rows))
  NAME(add_rows)(tile, words, WORD(1));
  settle(join_add2, 2, tile, words, states, pitch);
}

#undef SEEN
#define PRESENT ((x & 0x7fff) <= INFINITE)
#define NONZERO (((x & 0x7fff) != 0) & (!SKIP | PRESENT))
#include "cpu/fold/dtype/truth.h"

#include "cpu/fold/dtype/rank.h"

#define REAL_OF(x) (double)FLOAT_OF(x)
#include "cpu/fold/dtype/moments.h"

#undef COLUMNS
#undef RUN
#undef NAME
#undef ELEMENT
#undef INDEX
#undef INFINITE
#undef WIDEN
#undef LOAD_REAL
#undef LOAD_PART
#undef FLOAT_OF
#undef REAL_OF
#undef BLOCK
