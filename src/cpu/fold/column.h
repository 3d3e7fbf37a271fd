/* Template, part 10: sums of columns, whose rows are rows of outputs. A few rows are added up in a tree (few_rows.h),
 * and their sum is added to the states, which stay in the first-level cache and are touched a sixteenth as often. From
 * NAME, ELEMENT and PARTIAL             the type of the sum of a few rows: f32 for elements of up to 32 bits, and f64
 *   WIDE_OF, PART_OF    see few_rows.h
 *
 * A tree of 16 rounds 4 times, so that the sum of n elements is off by at most 4 * 2^-24 of the sum of their
 * magnitudes, however many they are, besides the rounding of f64 sums and of the result. */

#define FEW(rows) NAME(add_##rows)
#define MEET(a, b) ((a) + (b))
#include "cpu/fold/few_rows.h"

/* Adds up the rows in f64 for lanes whose sum is not finite. */
static void NAME(add_again)(const ELEMENT *restrict at, int64_t stride, int64_t lanes, int64_t rows,
                            const PARTIAL *restrict sums, double *restrict wide) {
  EACH_LANE(wide[l] = 0)
  for (int64_t row = 0; row < rows; row++) EACH_LANE(wide[l] += (double)WIDE_OF((at + row * stride)[l]))
  EACH_LANE(wide[l] = sums[l] - sums[l] == 0 ? (double)sums[l] : wide[l])
}

static void NAME(add_columns)(const ndr_tile *tile, uint64_t *restrict states) {
  const int64_t lanes = tile->lanes;
  ALIGNED PARTIAL sums[NDR_LANES];
  for (int64_t row = 0, done; row < tile->rows; row += done) {
    const ELEMENT *at = ROW(row);
    for (int64_t r = row; is_dense(tile) && r < row + 16 && r < tile->rows; r++)
      prefetch_ahead(tile, ROW(r), (size_t)lanes * sizeof(ELEMENT));
    done = NAME(add_few)(at, tile->row_stride, lanes, tile->rows - row, sums);
    const bool first = tile->fresh && row == 0;
    uint32_t bad = 0;
    EACH_LANE(bad |= sums[l] - sums[l] != 0)
    if (bad) {
      ALIGNED double wide[NDR_LANES];
      NAME(add_again)(at, tile->row_stride, lanes, done, sums, wide);
      EACH_LANE(states[l] = word_of((first ? 0 : f64_of(states[l])) + wide[l]))
      continue;
    }
    if (first)
      EACH_LANE(states[l] = word_of(0 + (double)sums[l]))
    else
      EACH_LANE(states[l] = word_of(f64_of(states[l]) + (double)sums[l]))
  }
}

#undef PARTIAL
#undef WIDE_OF
#undef PART_OF
