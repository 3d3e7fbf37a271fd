/* Template: sums over contiguous elements of which every `period`-th belongs to the same output, a power of 2 below
 * RUN_LANES. The sums of all lanes are in registers. Their bits are those of FOLD_ROWS and settle. Besides NAME,
 * ELEMENT and WIDEN (float.h), from
 *   RUN_SUM        the name of the function
 *   START          of each sum
 *   GROW(s, v)     the sums s with the elements v added
 *   MEET(a, b)     two sums joined */
static inline void RUN_SUM(const ELEMENT *at, int64_t rows, int period, uint64_t *words) {
#define BEGIN(i) run_part s##i = (run_part){0} + START;
#define STEP(i) s##i = GROW(s##i, (WIDEN(at + (i)*RUN_PART)));
#define TAKE(i) s##i,
  RUN_PARTS(BEGIN)
  for (int64_t row = 0; row < rows; row++, at += RUN_LANES) {
    prefetch_row(at, RUN_LANES * sizeof(ELEMENT));
    RUN_PARTS(STEP)
  }
  const run_part parts[] = {RUN_PARTS(TAKE)};
#undef BEGIN
#undef STEP
#undef TAKE
  ALIGNED double sums[RUN_LANES];
  memcpy(sums, parts, sizeof sums);
  for (int stay = RUN_LANES / 2; stay >= period; stay /= 2)
    for (int l = 0; l < stay; l++) sums[l] = MEET(sums[l], sums[l + stay]);
  memcpy(words, sums, (size_t)period * sizeof *sums);
}
#undef RUN_SUM
#undef START
#undef GROW
#undef MEET
