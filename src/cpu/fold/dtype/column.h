/* Template: sums of columns of floats of up to 32 bits, whose rows are rows of outputs. Up to 16 rows are
 * added up in a tree while their elements are in registers, and their sum is added to the states, which stay in the
 * first-level cache and are touched a sixteenth as often. A core has more rows' cache lines on their way than where it
 * goes on to the next accumulator with each row. From NAME, ELEMENT and
 *   FLOAT_OF(x)    an element as f32
 *   PART_OF(at)    a register of elements from an address on, as f32; where it is not defined, compilers vectorise
 *
 * A tree of 16 rounds 4 times, so that the sum of n elements is off by at most 4 * 2^-24 of the sum of their
 * magnitudes, however many they are, besides the rounding of f64 sums and of the result. */

/* Four addresses reach sixteen rows. Without them GCC 12 computes one for each row and step, and fewer loads are on
 * their way at once. */
#define ADDRESS(k) (fourth[(k) / 4] + (k) % 4 * stride + l)
#define AT(k) FLOAT_OF(*ADDRESS(k))
#define TREE_1(X, k) X(k)
#define TREE_2(X, k) (X(k) + X(k + 1))
#define TREE_4(X, k) (TREE_2(X, k) + TREE_2(X, k + 2))
#define TREE_8(X, k) (TREE_4(X, k) + TREE_4(X, k + 4))
#define TREE_16(X, k) (TREE_8(X, k) + TREE_8(X, k + 8))

#ifdef PART_OF
#define PART_AT(k) PART_OF(ADDRESS(k))
/* The last lanes overlap those before. */
#define PARTS(rows)                                                                                                    \
  for (const int64_t each = sizeof(PART_OF(at)) / sizeof *sums; l < lanes && lanes >= each;) {                         \
    if (l + each > lanes) l = lanes - each;                                                                            \
    const __typeof__(PART_OF(at)) sum = TREE_##rows(PART_AT, 0);                                                       \
    memcpy(sums + l, &sum, sizeof sum);                                                                                \
    l += each;                                                                                                         \
  }
#else
#define PARTS(rows)
#endif

#define FEW_ROWS(rows)                                                                                                 \
  static void NAME(add_##rows)(const ELEMENT *restrict at, int64_t stride, int64_t lanes, float *restrict sums) {      \
    const ELEMENT *const fourth[] = {at, at + (rows > 4) * 4 * stride, at + (rows > 8) * 8 * stride,                   \
                                     at + (rows > 8) * 12 * stride};                                                   \
    int64_t l = 0;                                                                                                     \
    PARTS(rows)                                                                                                        \
    for (; l < lanes; l++) sums[l] = TREE_##rows(AT, 0);                                                               \
  }
FEW_ROWS(1)
FEW_ROWS(2)
FEW_ROWS(4)
FEW_ROWS(8)
FEW_ROWS(16)

static inline int64_t NAME(add_few)(const ELEMENT *at, int64_t stride, int64_t lanes, int64_t rows, float *sums) {
  if (rows >= 16) return NAME(add_16)(at, stride, lanes, sums), 16;
  if (rows >= 8) return NAME(add_8)(at, stride, lanes, sums), 8;
  if (rows >= 4) return NAME(add_4)(at, stride, lanes, sums), 4;
  if (rows >= 2) return NAME(add_2)(at, stride, lanes, sums), 2;
  return NAME(add_1)(at, stride, lanes, sums), 1;
}

#undef ADDRESS
#undef AT
#undef TREE_1
#undef TREE_2
#undef TREE_4
#undef TREE_8
#undef TREE_16
#undef PART_AT
#undef PARTS
#undef FEW_ROWS

/* Adds up the rows in f64 for lanes whose sum is not finite. */
static void NAME(add_again)(const ELEMENT *restrict at, int64_t stride, int64_t lanes, int64_t rows,
                            const float *restrict sums, double *restrict wide) {
  EACH_LANE(wide[l] = 0)
  for (int64_t row = 0; row < rows; row++) EACH_LANE(wide[l] += (double)FLOAT_OF((at + row * stride)[l]))
  EACH_LANE(wide[l] = sums[l] - sums[l] == 0 ? (double)sums[l] : wide[l])
}

/* Sixteen rows that lie apart are as many streams, which prefetches would not make faster. */
static void NAME(add_columns)(const ndr_tile *tile, uint64_t *restrict states) {
  const int64_t lanes = tile->lanes;
  ALIGNED float sums[NDR_LANES];
  for (int64_t row = 0, done; row < tile->rows; row += done) {
    const ELEMENT *at = ROW(row);
    if (is_dense(tile)) prefetch_ahead(tile, row, lower(16, tile->rows - row), (int64_t)sizeof(ELEMENT));
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

#undef PART_OF
