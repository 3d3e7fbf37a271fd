/* Template: the sum of a tile that is one contiguous run of one output, with the sums of all lanes in registers. Its
 * bits are those of FOLD_ROWS and settle. Besides NAME, ELEMENT and WIDEN (float.h), from RUN_SUM        the name of
 * the function START          of each sum GROW(s, v)     the sums s with the elements v added MEET(a, b)     two sums
 * joined */
static double RUN_SUM(const ndr_tile *tile) {
  const ELEMENT *at = tile->data;
#define BEGIN(i) run_part s##i = (run_part){0} + START;
#define STEP(i) s##i = GROW(s##i, (WIDEN(at + (i)*RUN_PART)));
#define TAKE(i) s##i,
  RUN_PARTS(BEGIN)
  for (int64_t row = 0; row < tile->rows; row++, at += RUN_LANES) {
    prefetch_row(at, RUN_LANES * sizeof(ELEMENT));
    RUN_PARTS(STEP)
  }
  const run_part parts[] = {RUN_PARTS(TAKE)};
#undef BEGIN
#undef STEP
#undef TAKE
  ALIGNED double sums[RUN_LANES];
  memcpy(sums, parts, sizeof sums);
  for (int l = 0; l < 16; l++) sums[l] = MEET(sums[l], sums[l + 16]);
  for (int l = 0; l < 8; l++) sums[l] = MEET(sums[l], sums[l + 8]);
  for (int l = 0; l < 4; l++) sums[l] = MEET(sums[l], sums[l + 4]);
  for (int l = 0; l < 2; l++) sums[l] = MEET(sums[l], sums[l + 2]);
  return MEET(sums[0], sums[1]);
}
#undef RUN_SUM
#undef START
#undef GROW
#undef MEET
