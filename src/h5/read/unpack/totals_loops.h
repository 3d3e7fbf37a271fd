/* Template: the loops of totals.c over integers of one dtype and byte order. Needs NAME(loop), ISA, the attribute of
 * its functions, ELEMENT, STORED, an unsigned integer of any alignment with the same bits, NATIVE(bits), these bits in
 * the machine's byte order, and MEMBER of ndr_packed. `missing` and `ranged` are constants, so that each use is one
 * straight loop. */

#define LIMITS                                                                                                         \
  const ELEMENT first = (ELEMENT)u->missing[0].MEMBER, second = (ELEMENT)u->missing[1].MEMBER;                         \
  const ELEMENT least = (ELEMENT)u->least.MEMBER, most = (ELEMENT)u->most.MEMBER;

#define IS_MISSING(x)                                                                                                  \
  ((missing > 0 ? (x) == first : 0) | (missing > 1 ? (x) == second : 0) | (ranged ? ((x) < least) | ((x) > most) : 0))

/* Several rows while a lane's accumulators are in registers. */
static inline __attribute__((always_inline)) void NAME(rows_if)(const ndr_unpack *u, const STORED *from, int64_t step,
                                                                int rows, int64_t lanes, int32_t *restrict sums,
                                                                uint16_t *restrict counts, int missing, bool ranged) {
  LIMITS
  for (int64_t l = 0; l < lanes; l++) {
    int32_t sum = sums[l];
    uint16_t count = counts[l];
    for (int k = 0; k < rows; k++) {
      const ELEMENT x = (ELEMENT)NATIVE(from[k * step + l]);
      const ELEMENT kept = IS_MISSING(x) ? (ELEMENT)0 : (ELEMENT)-1;
      sum += (ELEMENT)(x & kept);
      count = (uint16_t)(count + (kept & 1));
    }
    sums[l] = sum;
    counts[l] = count;
  }
}

#define ROWS(missing, ranged)                                                                                          \
  if (rows == TOTALS_ROWS)                                                                                             \
    NAME(rows_if)(u, from, step, TOTALS_ROWS, lanes, sums, counts, missing, ranged);                                   \
  else                                                                                                                 \
    NAME(rows_if)(u, from, step, 1, lanes, sums, counts, missing, ranged);

/* TOTALS_ROWS rows, or one. */
static ISA void NAME(rows)(const ndr_unpack *u, const void *from, int64_t step, int rows, int64_t lanes,
                           int32_t *restrict sums, uint16_t *restrict counts) {
  EACH_WAY(ROWS)
}

static inline __attribute__((always_inline)) void NAME(run_if)(const ndr_unpack *u, const STORED *from, int64_t count,
                                                               int32_t *sum, int32_t *counted, int missing,
                                                               bool ranged) {
  LIMITS
  int32_t total = 0, valid = 0;
  for (int64_t i = 0; i < count; i++) {
    const ELEMENT x = (ELEMENT)NATIVE(from[i]);
    const ELEMENT kept = IS_MISSING(x) ? (ELEMENT)0 : (ELEMENT)-1;
    total += (ELEMENT)(x & kept);
    valid += kept & 1;
  }
  *sum = total;
  *counted = valid;
}

#define RUN(missing, ranged) NAME(run_if)(u, from, count, sum, counted, missing, ranged);

static ISA void NAME(run)(const ndr_unpack *u, const void *from, int64_t count, int32_t *sum, int32_t *counted) {
  EACH_WAY(RUN)
}

#undef LIMITS
#undef IS_MISSING
#undef ROWS
#undef RUN
#undef NAME
#undef ELEMENT
#undef STORED
#undef NATIVE
#undef MEMBER
