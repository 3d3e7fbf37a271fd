/* Template: the loops that combine words of one type by one rule. */

/* Scans rows of words, one for each lane. `was` is a lane's sum up to the row before, which an exclusive scan stores,
 * and `is` the sum with this row. `value`, an expression of these, replaces the word. */
#define EACH_ROW(combine, value)                                                                                       \
  for (int64_t r = 0; r < rows; r++, w += lanes)                                                                       \
    for (int64_t l = 0; l < lanes; l++) {                                                                              \
      const __typeof__(*w) was = sums[l], is = combine(was, w[l]);                                                     \
      sums[l] = is;                                                                                                    \
      w[l] = value;                                                                                                    \
      (void)was;                                                                                                       \
    }

#define COMBINE(name, type, expression)                                                                                \
  static inline type combine_##name(const type a, const type b) {                                                      \
    return expression;                                                                                                 \
  }                                                                                                                    \
  static void merge_##name(const void *left, const void *right, void *target, int64_t count) {                         \
    const type *a = left, *b = right;                                                                                  \
    type *out = target;                                                                                                \
    for (int64_t i = 0; i < count; i++) out[i] = combine_##name(a[i], b[i]);                                           \
  }                                                                                                                    \
  static void join_##name(void *words, int64_t rows, int64_t lanes, const void *first) {                               \
    type *restrict w = words;                                                                                          \
    const type *restrict before = first;                                                                               \
    for (int64_t r = 0; r < rows; r++, w += lanes)                                                                     \
      for (int64_t l = 0; l < lanes; l++) w[l] = combine_##name(before[l], w[l]);                                      \
  }                                                                                                                    \
  static void fold_##name(const void *words, int64_t rows, int64_t lanes, void *target) {                              \
    const type *restrict w = words;                                                                                    \
    type *restrict sums = target;                                                                                      \
    for (int64_t r = 0; r < rows; r++, w += lanes)                                                                     \
      for (int64_t l = 0; l < lanes; l++) sums[l] = combine_##name(sums[l], w[l]);                                     \
  }                                                                                                                    \
  static void one_##name(type *w, int64_t rows, type *sum, const type *before, bool exclusive) {                       \
    type is = *sum;                                                                                                    \
    for (int64_t r = 0; r < rows; r++) {                                                                               \
      const type was = is;                                                                                             \
      is = combine_##name(was, w[r]);                                                                                  \
      w[r] = exclusive ? was : is;                                                                                     \
      if (before) w[r] = combine_##name(*before, w[r]);                                                                \
    }                                                                                                                  \
    *sum = is;                                                                                                         \
  }                                                                                                                    \
  static void scan_##name(void *words, int64_t rows, int64_t lanes, void *target, const void *first, bool exclusive) { \
    type *restrict w = words, *restrict sums = target;                                                                 \
    const type *restrict before = first;                                                                               \
    if (lanes == 1) {                                                                                                  \
      one_##name(w, rows, sums, before, exclusive);                                                                    \
      return;                                                                                                          \
    }                                                                                                                  \
    if (before && exclusive)                                                                                           \
      EACH_ROW(combine_##name, combine_##name(before[l], was))                                                         \
    else if (before)                                                                                                   \
      EACH_ROW(combine_##name, combine_##name(before[l], is))                                                          \
    else if (exclusive)                                                                                                \
      EACH_ROW(combine_##name, was)                                                                                    \
    else                                                                                                               \
      EACH_ROW(combine_##name, is)                                                                                     \
  }

/* The same for sets of eight lanes, whose sums stay in registers: row r belongs to set r % period. A row is `each`
 * values of `type`, in vectors that are its parts; `combine` combines two vectors, with the same bits as combine_NAME.
 */
#if defined __AVX512BW__
#define REGISTER 64
#elif defined __AVX2__
#define REGISTER 32
#else
#define REGISTER 16
#endif

#define EACH_EIGHT(combine, value)                                                                                     \
  for (int64_t r = c; r < rows; r += period)                                                                           \
    for (int p = 0; p < PARTS; p++) {                                                                                  \
      const part was = s[p], is = combine(was, w[r * PARTS + p]);                                                      \
      s[p] = is;                                                                                                       \
      w[r * PARTS + p] = value;                                                                                        \
      (void)was;                                                                                                       \
    }

#define EIGHT_OF(name, type, each, combine)                                                                            \
  typedef type part_##name                                                                                             \
      __attribute__((vector_size(each * sizeof(type) < REGISTER ? each * sizeof(type) : REGISTER), may_alias));        \
  static void fold8_##name(const void *words, int64_t rows, int64_t period, void *target) {                            \
    typedef part_##name part;                                                                                          \
    enum { PARTS = each * sizeof(type) / sizeof(part) };                                                               \
    const part *w = words;                                                                                             \
    for (int64_t c = 0; c < period; c++) {                                                                             \
      part s[PARTS];                                                                                                   \
      memcpy(s, (type *)target + each * c, sizeof s);                                                                  \
      for (int64_t r = c; r < rows; r += period)                                                                       \
        for (int p = 0; p < PARTS; p++) s[p] = combine(s[p], w[r * PARTS + p]);                                        \
      memcpy((type *)target + each * c, s, sizeof s);                                                                  \
    }                                                                                                                  \
  }                                                                                                                    \
  static void join8_##name(void *words, int64_t rows, int64_t period, const void *first) {                             \
    typedef part_##name part;                                                                                          \
    enum { PARTS = each * sizeof(type) / sizeof(part) };                                                               \
    part *w = words;                                                                                                   \
    for (int64_t c = 0; c < period; c++) {                                                                             \
      part before[PARTS];                                                                                              \
      memcpy(before, (const type *)first + each * c, sizeof before);                                                   \
      for (int64_t r = c; r < rows; r += period)                                                                       \
        for (int p = 0; p < PARTS; p++) w[r * PARTS + p] = combine(before[p], w[r * PARTS + p]);                       \
    }                                                                                                                  \
  }                                                                                                                    \
  static void scan8_##name(void *words, int64_t rows, int64_t period, void *target, const void *first,                 \
                           bool exclusive) {                                                                           \
    typedef part_##name part;                                                                                          \
    enum { PARTS = each * sizeof(type) / sizeof(part) };                                                               \
    part *w = words;                                                                                                   \
    for (int64_t c = 0; c < period; c++) {                                                                             \
      part s[PARTS], before[PARTS];                                                                                    \
      memcpy(s, (type *)target + each * c, sizeof s);                                                                  \
      if (first) memcpy(before, (const type *)first + each * c, sizeof before);                                        \
      if (first && exclusive)                                                                                          \
        EACH_EIGHT(combine, combine(before[p], was))                                                                   \
      else if (first)                                                                                                  \
        EACH_EIGHT(combine, combine(before[p], is))                                                                    \
      else if (exclusive)                                                                                              \
        EACH_EIGHT(combine, was)                                                                                       \
      else                                                                                                             \
        EACH_EIGHT(combine, is)                                                                                        \
      memcpy((type *)target + each * c, s, sizeof s);                                                                  \
    }                                                                                                                  \
  }

#define EIGHT(name, type, combine) EIGHT_OF(name, type, 8, combine)

#define PLUS(a, b) ((a) + (b))
#define TIMES(a, b) ((a) * (b))

COMBINE(sum_u64, uint64_t, a + b)
COMBINE(sum_f64, double, a + b)
COMBINE(sum_c128, ndr_c128, ((ndr_c128){a.re + b.re, a.im + b.im}))
COMBINE(prod_u64, uint64_t, a *b)
COMBINE(prod_f64, double, a *b)
EIGHT_OF(sum_c128, double, 16, PLUS)
EIGHT(sum_u64, uint64_t, PLUS)
EIGHT(sum_f64, double, PLUS)
EIGHT(prod_u64, uint64_t, TIMES)
EIGHT(prod_f64, double, TIMES)
/* A product that is rounded before it is added to: GCC 12 makes vectors of two such products and a sum, and multiplies
 * and adds in one step whatever -ffp-contract says. */
static inline double product(double a, double b) {
  double value = a * b;
#if defined __x86_64__
  __asm__("" : "+x"(value));
#endif
  return value;
}
COMBINE(prod_c128, ndr_c128,
        ((ndr_c128){product(a.re, b.re) - product(a.im, b.im), product(a.re, b.im) + product(a.im, b.re)}))

/* x in the lanes where `mask` is true, that is all ones, and y in the others. */
#define PICK(mask, x, y) ((__typeof__(x))(((__typeof__(mask))(x) & (mask)) | ((__typeof__(mask))(y) & ~(mask))))
#define MINIMUM(a, b) PICK((b) < (a), b, a)
#define MAXIMUM(a, b) PICK((b) > (a), b, a)
#define EXTREMES(name, type)                                                                                           \
  COMBINE(min_##name, type, b < a ? b : a)                                                                             \
  COMBINE(max_##name, type, b > a ? b : a)                                                                             \
  EIGHT(min_##name, type, MINIMUM)                                                                                     \
  EIGHT(max_##name, type, MAXIMUM)
EXTREMES(i8, int8_t)
EXTREMES(i16, int16_t)
EXTREMES(i32, int32_t)
EXTREMES(i64, int64_t)
EXTREMES(u8, uint8_t)
EXTREMES(u16, uint16_t)
EXTREMES(u32, uint32_t)
EXTREMES(u64, uint64_t)

/* A NaN that comes first stays: of numbers `b < a` is false beside one. */
#define MINIMUM_NAN(a, b) PICK(((a) == (a)) & (((b) < (a)) | ((b) != (b))), b, a)
#define MAXIMUM_NAN(a, b) PICK(((a) == (a)) & (((b) > (a)) | ((b) != (b))), b, a)
#define MINIMUM_NUMBER(a, b) PICK(((b) < (a)) | ((a) != (a)), b, a)
#define MAXIMUM_NUMBER(a, b) PICK(((b) > (a)) | ((a) != (a)), b, a)
#define FLOAT_EXTREMES(name, type)                                                                                     \
  COMBINE(min_##name, type, a != a ? a : b < a || b != b ? b : a)                                                      \
  COMBINE(max_##name, type, a != a ? a : b > a || b != b ? b : a)                                                      \
  COMBINE(min_number_##name, type, b < a || a != a ? b : a)                                                            \
  COMBINE(max_number_##name, type, b > a || a != a ? b : a)                                                            \
  EIGHT(min_##name, type, MINIMUM_NAN)                                                                                 \
  EIGHT(max_##name, type, MAXIMUM_NAN)                                                                                 \
  EIGHT(min_number_##name, type, MINIMUM_NUMBER)                                                                       \
  EIGHT(max_number_##name, type, MAXIMUM_NUMBER)
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
