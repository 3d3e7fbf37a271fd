/* Template: the kernels of what a neutral element cannot express: moments of weighted complex elements, and
 * the place of the smallest or largest element where some do not count. tile->factors has, element by element, f64
 * weights or bytes that are 0 where an element does not count. */

#define FACTORS(type) ((const type *)tile->factors + row * tile->factors_stride)

/* Gives every lane what its output has. */
static void spread_outputs(const ndr_tile *tile, double *values) {
  for (int64_t l = tile->period; l < tile->lanes; l++) values[l] = values[l - tile->period];
}

/* Words 0 and on, of complex elements: the sum of weights, the weighted mean, the weighted squared distances from it,
 * and with `squares` the sum of squared weights. As factors.h does it. */
static void weighted_moments_c128(const ndr_tile *tile, uint64_t *words, bool squares) {
  const int64_t lanes = tile->lanes;
  ALIGNED double re[NDR_LANES], im[NDR_LANES];
  ALIGNED uint64_t off[2 * NDR_LANES];
  uint64_t *m2 = WORD(3), *v2 = WORD(4);
  EACH_LANE(words[l] = WORD(1)[l] = WORD(2)[l] = word_of(0))
  for (int64_t row = 0; row < tile->rows; row++) {
    const ndr_c128 *elements = (const ndr_c128 *)tile->data + row * tile->row_stride;
    const double *weights = FACTORS(double);
    EACH_LANE(const ndr_c128 x = elements[l]; const double w = weights[l]; words[l] = word_of(f64_of(words[l]) + w);
              WORD(1)[l] = word_of(f64_of(WORD(1)[l]) + w * x.re); WORD(2)[l] = word_of(f64_of(WORD(2)[l]) + w * x.im))
  }
  collapse(join_add3, tile, words);
  for (int64_t l = 0; l < tile->period; l++) {
    const double n = f64_of(words[l]);
    re[l] = n != 0 ? f64_of(WORD(1)[l]) / n : 0;
    im[l] = n != 0 ? f64_of(WORD(2)[l]) / n : 0;
  }
  spread_outputs(tile, re);
  spread_outputs(tile, im);
  EACH_LANE(m2[l] = v2[l] = off[l] = off[NDR_LANES + l] = word_of(0))
  for (int64_t row = 0; row < tile->rows; row++) {
    const ndr_c128 *elements = (const ndr_c128 *)tile->data + row * tile->row_stride;
    const double *weights = FACTORS(double);
    EACH_LANE(const ndr_c128 x = elements[l]; const double w = weights[l]; const double u = x.re - re[l];
              const double v = x.im - im[l]; off[l] = word_of(f64_of(off[l]) + w * u);
              off[NDR_LANES + l] = word_of(f64_of(off[NDR_LANES + l]) + w * v);
              m2[l] = word_of(f64_of(m2[l]) + w * (u * u + v * v)); v2[l] = word_of(f64_of(v2[l]) + w * w))
  }
  collapse(join_add, tile, m2);
  collapse(join_add2, tile, off);
  if (squares) collapse(join_add, tile, v2);
  for (int64_t l = 0; l < tile->period; l++) {
    const double n = f64_of(words[l]), u = f64_of(off[l]), v = f64_of(off[NDR_LANES + l]);
    const double excess = n != 0 ? u * (u / n) + v * (v / n) : 0, left = f64_of(m2[l]) - excess;
    m2[l] = word_of(((n > 0) & (left < 0)) ? 0 : left);
    WORD(1)[l] = word_of(n != 0 ? re[l] + u / n : re[l]);
    WORD(2)[l] = word_of(n != 0 ? im[l] + v / n : im[l]);
  }
}

static void moments_c128(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  ALIGNED uint64_t words[NDR_MAX_WORDS * NDR_LANES];
  weighted_moments_c128(tile, words, false);
  deposit(join_moments_complex, 4, tile, words, states, pitch);
}

static void moments_squares_c128(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  ALIGNED uint64_t words[NDR_MAX_WORDS * NDR_LANES];
  weighted_moments_c128(tile, words, true);
  deposit(join_moments_complex_squares, 5, tile, words, states, pitch);
}

/* An output without an element that counts keeps `start` and the highest index, INT64_MAX, which loses to any other. */
#define MASKED_ARGUMENT(name, type, start, word_of_value, wins, join)                                                  \
  static void masked_##name(const ndr_tile *tile, uint64_t *states, int64_t pitch) {                                   \
    const int64_t lanes = tile->lanes;                                                                                 \
    ALIGNED type best[NDR_LANES];                                                                                      \
    ALIGNED int64_t at[NDR_LANES], index[NDR_LANES];                                                                   \
    ALIGNED uint64_t words[2 * NDR_LANES];                                                                             \
    EACH_LANE(best[l] = start; at[l] = INT64_MAX; index[l] = 0)                                                        \
    INDEX_WORDS(index, (uint64_t *)index);                                                                             \
    for (int64_t row = 0; row < tile->rows; row++) {                                                                   \
      const type *elements = (const type *)tile->data + row * tile->row_stride;                                        \
      const uint8_t *mask = FACTORS(uint8_t);                                                                          \
      EACH_LANE(const type x = elements[l]; const type b = best[l];                                                    \
                const bool take = (mask[l] != 0) & ((wins) | (at[l] == INT64_MAX)); best[l] = take ? x : b;            \
                at[l] = take ? index[l] + row * tile->index_row : at[l])                                               \
    }                                                                                                                  \
    EACH_LANE(words[l] = word_of_value(best[l]); WORD(1)[l] = (uint64_t)at[l])                                         \
    settle(join, 2, tile, words, states, pitch);                                                                       \
  }
MASKED_ARGUMENT(argmin_i64, int64_t, INT64_MAX, (uint64_t), x < b, join_argmin_i64)
MASKED_ARGUMENT(argmax_i64, int64_t, INT64_MIN, (uint64_t), x > b, join_argmax_i64)
MASKED_ARGUMENT(argmin_u64, uint64_t, UINT64_MAX, (uint64_t), x < b, join_argmin_u64)
MASKED_ARGUMENT(argmax_u64, uint64_t, 0, (uint64_t), x > b, join_argmax_u64)
MASKED_ARGUMENT(argmin_f64, double, (double)INFINITY, word_of, (x < b) | ((x != x) & (b == b)), join_argmin_f64)
MASKED_ARGUMENT(argmax_f64, double, -(double)INFINITY, word_of, (x > b) | ((x != x) & (b == b)), join_argmax_f64)
#undef MASKED_ARGUMENT
#undef FACTORS
