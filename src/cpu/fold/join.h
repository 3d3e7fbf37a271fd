/* Template: merges contiguous word-major states, as ndr_state_merge does, in loops that vectorise. Then turns
 * the kernels' lanes into states. */

#define JOIN(name, ...)                                                                                                \
  static void join_##name(uint64_t *restrict a, int64_t a_pitch, const uint64_t *restrict b, int64_t b_pitch,          \
                          int64_t count) {                                                                             \
    (void)a_pitch;                                                                                                     \
    (void)b_pitch;                                                                                                     \
    for (int64_t j = 0; j < count; j++) {                                                                              \
      __VA_ARGS__;                                                                                                     \
    }                                                                                                                  \
  }
#define A(w) a[(w)*a_pitch + j]
#define B(w) b[(w)*b_pitch + j]
#define FA(w) f64_of(A(w))
#define FB(w) f64_of(B(w))

JOIN(add_int, A(0) += B(0))
JOIN(multiply_int, A(0) *= B(0))
JOIN(or, A(0) |= B(0))
JOIN(and, A(0) &= B(0))
JOIN(add, A(0) = word_of(FA(0) + FB(0)))
JOIN(add2, A(0) = word_of(FA(0) + FB(0)); A(1) = word_of(FA(1) + FB(1)))
JOIN(add3, A(0) = word_of(FA(0) + FB(0)); A(1) = word_of(FA(1) + FB(1)); A(2) = word_of(FA(2) + FB(2)))
JOIN(add4, A(0) = word_of(FA(0) + FB(0)); A(1) = word_of(FA(1) + FB(1)); A(2) = word_of(FA(2) + FB(2));
     A(3) = word_of(FA(3) + FB(3)))
JOIN(multiply, A(0) = word_of(FA(0) * FB(0)))
JOIN(multiply_complex, double re = FA(0) * FB(0) - FA(1) * FB(1); double im = FA(0) * FB(1) + FA(1) * FB(0);
     A(0) = word_of(re); A(1) = word_of(im))

/* `better`: b's value wins whatever the indices are; `level`: the values are equal, and the lower index wins. */
#define JOIN_EXTREME(name, read, better, level)                                                                        \
  JOIN(name, read; A(0) = (better) ? B(0) : A(0))                                                                      \
  JOIN(arg##name, read; int wins = (better) | ((level) & ((int64_t)B(1) < (int64_t)A(1)));                             \
       uint64_t value = wins ? B(0) : A(0); uint64_t index = wins ? B(1) : A(1); A(0) = value; A(1) = index)

#define READ(type) const type x = (type)A(0), y = (type)B(0)
#define READ_FLOAT const double x = FA(0), y = FB(0)
#define BOTH_NAN ((x != x) & (y != y))
JOIN_EXTREME(min_i64, READ(int64_t), y < x, x == y)
JOIN_EXTREME(max_i64, READ(int64_t), y > x, x == y)
JOIN_EXTREME(min_u64, READ(uint64_t), y < x, x == y)
JOIN_EXTREME(max_u64, READ(uint64_t), y > x, x == y)
JOIN_EXTREME(min_f64, READ_FLOAT, (y < x) | ((y != y) & (x == x)), (x == y) | BOTH_NAN)
JOIN_EXTREME(max_f64, READ_FLOAT, (y > x) | ((y != y) & (x == x)), (x == y) | BOTH_NAN)
JOIN_EXTREME(min_skip, READ_FLOAT, (y < x) | ((x != x) & (y == y)), (x == y) | BOTH_NAN)
JOIN_EXTREME(max_skip, READ_FLOAT, (y > x) | ((x != x) & (y == y)), (x == y) | BOTH_NAN)

/* Joins word 0 by join_min_... and word 1 by join_max_.... */
#define JOIN_EXTREMES(suffix)                                                                                          \
  static void join_ptp_##suffix(uint64_t *restrict a, int64_t a_pitch, const uint64_t *restrict b, int64_t b_pitch,    \
                                int64_t count) {                                                                       \
    join_min_##suffix(a, a_pitch, b, b_pitch, count);                                                                  \
    join_max_##suffix(a + a_pitch, a_pitch, b + b_pitch, b_pitch, count);                                              \
  }
JOIN_EXTREMES(i64)
JOIN_EXTREMES(u64)
JOIN_EXTREMES(f64)
JOIN_EXTREMES(skip)

/* Chan, Golub and LeVeque (1979). An empty side has weight 0 and mean 0; the squared distance to it may overflow and
 * must not count. */
#define SPREAD(square) (((n > 0) & (m > 0)) ? (square) * (n * part) : 0)
JOIN(moments, const double n = FA(0); const double m = FB(0); const double total = n + m;
     const double part = total > 0 ? m / total : 0; const double delta = FB(1) - FA(1); A(0) = word_of(total);
     A(1) = word_of(FA(1) + delta * part); A(2) = word_of(FA(2) + FB(2) + SPREAD(delta * delta)))
JOIN(moments_complex, const double n = FA(0); const double m = FB(0); const double total = n + m;
     const double part = total > 0 ? m / total : 0; const double re = FB(1) - FA(1); const double im = FB(2) - FA(2);
     A(0) = word_of(total); A(1) = word_of(FA(1) + re * part); A(2) = word_of(FA(2) + im * part);
     A(3) = word_of(FA(3) + FB(3) + SPREAD(re * re + im * im)))

/* With reliability weights, one word more. */
static void join_moments_squares(uint64_t *restrict a, int64_t a_pitch, const uint64_t *restrict b, int64_t b_pitch,
                                 int64_t count) {
  join_moments(a, a_pitch, b, b_pitch, count);
  join_add(a + 3 * a_pitch, a_pitch, b + 3 * b_pitch, b_pitch, count);
}

static void join_moments_complex_squares(uint64_t *restrict a, int64_t a_pitch, const uint64_t *restrict b,
                                         int64_t b_pitch, int64_t count) {
  join_moments_complex(a, a_pitch, b, b_pitch, count);
  join_add(a + 4 * a_pitch, a_pitch, b + 4 * b_pitch, b_pitch, count);
}

/* Equal maxima, infinite ones included, need no scaling; a NaN maximum makes both factors NaN. */
JOIN(logsumexp, const double x = FA(0); const double y = FB(0); const double top = ((x != x) | (x > y)) ? x : y;
     const double s = FA(1) * exp_f64(x == top ? 0 : x - top); const double t = FB(1) * exp_f64(y == top ? 0 : y - top);
     A(0) = word_of(top); A(1) = word_of(s + t))

/* ---- from lanes to states ---- */

/* Joins the lanes of each output, one half to the other until one is left. */
static void collapse(ndr_join *join, const ndr_tile *tile, uint64_t *words) {
  for (int64_t lanes = tile->lanes; lanes > tile->period;) {
    int64_t stay = (lanes / tile->period + 1) / 2 * tile->period;
    join(words, NDR_LANES, words + stay, NDR_LANES, lanes - stay);
    lanes = stay;
  }
}

/* Joins `period` states of a tile to others, or stores them. Their words are `apart` words apart. */
static void deposit_from(ndr_join *join, int word_count, const ndr_tile *tile, const uint64_t *words, int64_t apart,
                         uint64_t *states, int64_t pitch) {
  if (!tile->fresh) {
    join(states, pitch, words, apart, tile->period);
    return;
  }
  for (int w = 0; w < word_count; w++)
    memcpy(states + w * pitch, words + w * apart, (size_t)tile->period * sizeof *words);
}

static void deposit(ndr_join *join, int word_count, const ndr_tile *tile, const uint64_t *words, uint64_t *states,
                    int64_t pitch) {
  deposit_from(join, word_count, tile, words, NDR_LANES, states, pitch);
}

/* A lane of a tile whose lanes are outputs with contiguous elements. */
static inline ndr_tile run_of(const ndr_tile *tile, int64_t lane, int64_t bytes) {
  return (ndr_tile){.data = (const char *)tile->data + lane * tile->lane_stride * bytes,
                    .lanes = tile->rows,
                    .rows = 1,
                    .period = 1,
                    .index = tile->index,
                    .index_lane = tile->index_row};
}

/* Defines a kernel that folds each lane l as a run: the code writes the words of its state to those of lane l. */
#define ALONG(op, word_count, join, ...)                                                                               \
  static void NAME(along_##op)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {                                \
    ALIGNED uint64_t words[(word_count)*NDR_LANES];                                                                    \
    for (int64_t l = 0; l < tile->lanes; l++) {                                                                        \
      const ndr_tile run = run_of(tile, l, (int64_t)sizeof(ELEMENT));                                                  \
      __VA_ARGS__;                                                                                                     \
    }                                                                                                                  \
    deposit(join, word_count, tile, words, states, pitch);                                                             \
  }

static void settle(ndr_join *join, int word_count, const ndr_tile *tile, uint64_t *words, uint64_t *states,
                   int64_t pitch) {
  collapse(join, tile, words);
  deposit(join, word_count, tile, words, states, pitch);
}

/* The kernel of valid for dtypes that have no NaN. */
static void valid_integer(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = tile->lanes;
  ALIGNED uint64_t words[NDR_LANES];
  EACH_LANE(words[l] = (uint64_t)tile->rows)
  settle(join_add_int, 1, tile, words, states, pitch);
}

/* Sets the lanes of each output to the mean of their values. NaN is a lane without a value; the mean of none is 0. */
static void average_lanes(const ndr_tile *tile, double *values) {
  const int64_t lanes = tile->lanes, period = tile->period;
  if (period == lanes) {
    EACH_LANE(values[l] = values[l] == values[l] ? values[l] : 0)
    return;
  }
  ALIGNED double seen[NDR_LANES];
  EACH_LANE(seen[l] = values[l] == values[l]; values[l] = values[l] == values[l] ? values[l] : 0)
  for (int64_t left = lanes; left > period;) {
    const int64_t stay = (left / period + 1) / 2 * period;
    for (int64_t l = 0; l < left - stay; l++) values[l] += values[l + stay], seen[l] += seen[l + stay];
    left = stay;
  }
  for (int64_t p = 0; p < period; p++) values[p] = seen[p] > 0 ? values[p] / seen[p] : 0;
  for (int64_t first = period; first < lanes; first += period)
    for (int64_t p = 0; p < period; p++) values[first + p] = values[p];
}

/* Joins the lanes of each output, and turns its count, sums of distances from the shift and sum of their squares into
 * moments. A sum that is infinite makes M2 NaN; squares that overflow make it infinite. */
static void settle_moments(const ndr_tile *tile, const double *shift_re, const double *shift_im, uint64_t *words,
                           uint64_t *states, int64_t pitch) {
  const int parts = shift_im ? 2 : 1;
  const int64_t lanes = tile->period;
  uint64_t *m2 = WORD(parts + 1);
  collapse(shift_im ? join_add4 : join_add3, tile, words);
  for (int p = 1; p <= parts; p++) {
    const double *shift = p == 1 ? shift_re : shift_im;
    EACH_LANE(double n = f64_of(WORD(0)[l]); double sum = f64_of(WORD(p)[l]); double offset = n > 0 ? sum / n : 0;
              double excess = sum * offset;
              m2[l] = word_of(f64_of(m2[l]) - (excess > MOST_F64 ? 0 : excess) - (sum - sum));
              WORD(p)[l] = word_of(shift[l] + offset))
  }
  EACH_LANE(m2[l] = word_of(f64_of(m2[l]) < 0 ? 0 : f64_of(m2[l])))
  deposit(shift_im ? join_moments_complex : join_moments, parts + 2, tile, words, states, pitch);
}

/* The same from count, sum and sum of squares of integers of up to 16 bits. M2 is (n Q - S^2) / n. Of up to 1024
 * elements the terms are exact in f64. Of more, up to 2^17, their difference is below 2^64, so that terms may wrap. */
static void deposit_exact_moments(const ndr_tile *tile, uint64_t *words, uint64_t *states, int64_t pitch) {
  const int64_t lanes = tile->period, elements = tile->rows * (tile->lanes / tile->period);
  if (elements <= 1024)
    EACH_LANE(const double n = f64_of(WORD(0)[l]); const double sum = f64_of(WORD(1)[l]);
              WORD(2)[l] = word_of((n * f64_of(WORD(2)[l]) - sum * sum) / n))
  else
    EACH_LANE(const uint64_t sum = (uint64_t)(int64_t)f64_of(WORD(1)[l]);
              const uint64_t squares = (uint64_t)(int64_t)f64_of(WORD(2)[l]);
              WORD(2)[l] = word_of((double)((uint64_t)elements * squares - sum * sum) / (double)elements))
  EACH_LANE(WORD(1)[l] = word_of(f64_of(WORD(1)[l]) / f64_of(WORD(0)[l])))
  deposit(join_moments, 3, tile, words, states, pitch);
}

/* The same after joining the lanes of each output. */
static void settle_exact_moments(const ndr_tile *tile, uint64_t *words, uint64_t *states, int64_t pitch) {
  collapse(join_add3, tile, words);
  deposit_exact_moments(tile, words, states, pitch);
}

/* ---- which join an op has ---- */

static ndr_join *join_extreme(const ndr_state *state, bool smaller) {
  switch (ndr_dtype_class(state->dtype)) {
  case NDR_CLASS_INT: return smaller ? join_min_i64 : join_max_i64;
  case NDR_CLASS_BOOL:
  case NDR_CLASS_UINT: return smaller ? join_min_u64 : join_max_u64;
  case NDR_CLASS_FLOAT:
  case NDR_CLASS_COMPLEX: break;
  }
  if (state->skip_nan) return smaller ? join_min_skip : join_max_skip;
  return smaller ? join_min_f64 : join_max_f64;
}

static ndr_join *join_argument(const ndr_state *state, bool smaller) {
  switch (ndr_dtype_class(state->dtype)) {
  case NDR_CLASS_INT: return smaller ? join_argmin_i64 : join_argmax_i64;
  case NDR_CLASS_BOOL:
  case NDR_CLASS_UINT: return smaller ? join_argmin_u64 : join_argmax_u64;
  case NDR_CLASS_FLOAT:
  case NDR_CLASS_COMPLEX: break;
  }
  if (state->skip_nan) return smaller ? join_argmin_skip : join_argmax_skip;
  return smaller ? join_argmin_f64 : join_argmax_f64;
}

static ndr_join *join_extremes(const ndr_state *state) {
  switch (ndr_dtype_class(state->dtype)) {
  case NDR_CLASS_INT: return join_ptp_i64;
  case NDR_CLASS_BOOL:
  case NDR_CLASS_UINT: return join_ptp_u64;
  case NDR_CLASS_FLOAT:
  case NDR_CLASS_COMPLEX: break;
  }
  return state->skip_nan ? join_ptp_skip : join_ptp_f64;
}

static ndr_join *join_of(const ndr_state *state) {
  ndr_class class = ndr_dtype_class(state->dtype);
  bool floating = class == NDR_CLASS_FLOAT, complex = class == NDR_CLASS_COMPLEX;
  switch (state->op) {
  case NDR_SUM: return complex ? join_add2 : floating ? join_add : join_add_int;
  case NDR_PROD: return complex ? join_multiply_complex : floating ? join_multiply : join_multiply_int;
  case NDR_MIN: return join_extreme(state, true);
  case NDR_MAX: return join_extreme(state, false);
  case NDR_ARGMIN: return join_argument(state, true);
  case NDR_ARGMAX: return join_argument(state, false);
  case NDR_PTP: return join_extremes(state);
  case NDR_MEAN: return complex ? join_add3 : join_add2;
  case NDR_VAR:
  case NDR_STD:
    if (state->reliability) return complex ? join_moments_complex_squares : join_moments_squares;
    return complex ? join_moments_complex : join_moments;
  case NDR_NORM1:
  case NDR_NORM2: return join_add;
  case NDR_NORMINF: return join_max_f64;
  case NDR_LOGSUMEXP: return join_logsumexp;
  case NDR_ANY: return join_or;
  case NDR_ALL: return join_and;
  case NDR_COUNT:
  case NDR_VALID: break;
  }
  return join_add_int;
}
