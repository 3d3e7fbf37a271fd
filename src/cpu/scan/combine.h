/* Template: the loops that combine words of one type by one rule. */

/* Eight runs are scanned at a time, as long as there are as many: a sum waits some cycles for the one before it, and
 * the others fill them. */
#define COMBINE(name, type, expression)                                                                                \
  static inline type combine_##name(const type a, const type b) {                                                      \
    return expression;                                                                                                 \
  }                                                                                                                    \
  static void merge_##name(const void *left, const void *right, void *target, int64_t count) {                         \
    const type *a = left, *b = right;                                                                                  \
    type *out = target;                                                                                                \
    for (int64_t i = 0; i < count; i++) out[i] = combine_##name(a[i], b[i]);                                           \
  }                                                                                                                    \
  static void shift_##name(const void *before, void *target, int64_t count) {                                          \
    const type a = *(const type *)before;                                                                              \
    type *words = target;                                                                                              \
    for (int64_t i = 0; i < count; i++) words[i] = combine_##name(a, words[i]);                                        \
  }                                                                                                                    \
  static inline __attribute__((always_inline)) void group_##name(type *x, int64_t runs, int64_t count,                 \
                                                                 const char *ahead, int64_t step) {                    \
    type a[8];                                                                                                         \
    for (int64_t k = 0; k < runs; k++) a[k] = x[k * NDR_SCAN_SLOT];                                                    \
    for (int64_t i = 1; i < count; i++, ahead += step) {                                                               \
      __builtin_prefetch(ahead);                                                                                       \
      for (int64_t k = 0; k < runs; k++)                                                                               \
        x[i + k * NDR_SCAN_SLOT] = a[k] = combine_##name(a[k], x[i + k * NDR_SCAN_SLOT]);                              \
    }                                                                                                                  \
  }                                                                                                                    \
  static void runs_##name(void *words, int64_t slots, int64_t count, const char *ahead, int64_t step) {                \
    type *x = words;                                                                                                   \
    for (; slots >= 8; slots -= 8, x += 8 * NDR_SCAN_SLOT, ahead += count * step)                                      \
      group_##name(x, 8, count, ahead, step);                                                                          \
    if (slots >= 4) group_##name(x, 4, count, ahead, step);                                                            \
    x += slots / 4 * 4 * NDR_SCAN_SLOT;                                                                                \
    if (slots % 4 >= 2) group_##name(x, 2, count, ahead, step);                                                        \
    x += slots % 4 / 2 * 2 * NDR_SCAN_SLOT;                                                                            \
    if (slots % 2) group_##name(x, 1, count, ahead, step);                                                             \
  }

COMBINE(sum_u64, uint64_t, a + b)
COMBINE(sum_f64, double, a + b)
COMBINE(sum_c128, ndr_c128, ((ndr_c128){a.re + b.re, a.im + b.im}))
COMBINE(prod_u64, uint64_t, a *b)
COMBINE(prod_f64, double, a *b)
COMBINE(prod_c128, ndr_c128, ((ndr_c128){a.re * b.re - a.im * b.im, a.re *b.im + a.im *b.re}))

#define EXTREMES(name, type)                                                                                           \
  COMBINE(min_##name, type, b < a ? b : a)                                                                             \
  COMBINE(max_##name, type, b > a ? b : a)
EXTREMES(i8, int8_t)
EXTREMES(i16, int16_t)
EXTREMES(i32, int32_t)
EXTREMES(i64, int64_t)
EXTREMES(u8, uint8_t)
EXTREMES(u16, uint16_t)
EXTREMES(u32, uint32_t)
EXTREMES(u64, uint64_t)

/* A NaN that comes first stays: of numbers `b < a` is false beside one. */
#define FLOAT_EXTREMES(name, type)                                                                                     \
  COMBINE(min_##name, type, a != a ? a : b < a || b != b ? b : a)                                                      \
  COMBINE(max_##name, type, a != a ? a : b > a || b != b ? b : a)                                                      \
  COMBINE(min_number_##name, type, b < a || a != a ? b : a)                                                            \
  COMBINE(max_number_##name, type, b > a || a != a ? b : a)
FLOAT_EXTREMES(f32, float)
FLOAT_EXTREMES(f64, double)

/* The sum of the smaller maximum is scaled to the larger one; where both are equal, infinite ones too, neither is. */
static inline ndr_c128 combine_pair(const ndr_c128 a, const ndr_c128 b) {
  const double top = a.re != a.re || a.re > b.re ? a.re : b.re;
  const double scale = a.re == b.re ? 1.0 : exp_f64(a.re == top ? b.re - top : a.re - top);
  return (ndr_c128){top, a.re == top ? a.im + b.im * scale : a.im * scale + b.im};
}
COMBINE(pairs, ndr_c128, combine_pair(a, b))

static void make_pairs(void *words, bool skip_nan, int64_t count) {
  const double *from = (const double *)words + count;
  ndr_c128 *to = words;
  for (int64_t i = 0; i < count; i++) {
    const double x = skip_nan && from[i] != from[i] ? -(double)INFINITY : from[i];
    to[i] = (ndr_c128){x, x == -(double)INFINITY ? 0.0 : x == x ? 1.0 : x};
  }
}

static void finish_pairs(void *words, int64_t count) {
  const ndr_c128 *from = words;
  double *to = words;
  for (int64_t i = 0; i < count; i++) {
    const ndr_c128 x = from[i];
    to[i] = isinf(x.re) ? x.re : x.re + log(x.im);
  }
}
