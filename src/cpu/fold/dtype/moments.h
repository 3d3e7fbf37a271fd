/* Template: var and norm2 of one dtype, accumulated in f64, from
 *   NAME(kernel)   how its functions are called
 *   ELEMENT        the element type
 *   REAL_OF(x)     an element as f64
 *   LOAD_REAL      how eight are loaded as f64 (eight.h)
 *   SKIP           1: NaN elements are left out
 * The sums of a few lanes stay in registers for several rows. */

/* Adds eight elements to the sums of their lanes. */
INLINE void NAME(add_eight)(const ELEMENT *at, const f64x8 *shift, eight_sums *to) {
  f64x8 v;
  LOAD_REAL(&v, at, 8);
  EACH_PART(const i64_part there = v.part[p] == v.part[p]; f64_part d = shift ? v.part[p] - shift->part[p] : v.part[p];
            if (SKIP) d = (f64_part)((i64_part)d & there);
            if (SKIP && shift) to->count.part[p] += (f64_part)((i64_part)((f64_part){0} + 1.0) & there);
            if (shift) to->sum.part[p] += d; to->square.part[p] += d * d)
}

/* Adds up to four rows to the sums of lanes l .. l + 7. */
INLINE void NAME(add_part_of_rows)(const ELEMENT *const *at, int rows, int64_t l, const lane_sums *sums) {
  eight_sums s;
  f64x8 shift;
  take_sums(&s, sums, l, SKIP);
  if (sums->shift) load_f64_f64(&shift, sums->shift + l, 8);
  for (int k = 0; k < rows; k++) NAME(add_eight)(at[k] + l, sums->shift ? &shift : NULL, &s);
  store_sums(&s, sums, l, SKIP);
}

/* Adds an element of lane l. */
static inline void NAME(add_one)(ELEMENT x, int64_t l, const lane_sums *sums) {
  const double value = REAL_OF(x), d = sums->shift ? value - sums->shift[l] : value;
  if (SKIP && value != value) return;
  if (SKIP && sums->shift) sums->count[l] = word_of(f64_of(sums->count[l]) + 1);
  if (sums->shift) sums->sum[l] = word_of(f64_of(sums->sum[l]) + d);
  sums->square[l] = word_of(f64_of(sums->square[l]) + d * d);
}

/* Adds up to four rows from `row` on. Four rows are short or cached (four_rows): their lines are prefetched at once. */
INLINE void NAME(add_few_rows)(const ndr_tile *tile, int64_t row, int rows, int64_t lanes, const lane_sums *sums) {
  enum { LINE = 64 / sizeof(ELEMENT) };
  const bool short_rows = rows == 4;
  const ELEMENT *at[4];
  const char *soon[4];
  int64_t l = 0;
  for (int k = 0; k < rows; k++) at[k] = ROW(row + k);
  for (int k = 0; !short_rows && k < rows; k++) soon[k] = SOON(row + k);
  if (short_rows) prefetch_ahead(tile, row, rows, (int64_t)sizeof(ELEMENT));
  for (; l + LINE <= lanes; l += LINE) {
    for (int k = 0; !short_rows && k < rows; k++) __builtin_prefetch(soon[k] + l * (int64_t)sizeof(ELEMENT));
    for (int64_t part = l; part < l + LINE; part += 8) NAME(add_part_of_rows)(at, rows, part, sums);
  }
  for (; l + 8 <= lanes; l += 8) NAME(add_part_of_rows)(at, rows, l, sums);
  for (; l < lanes; l++)
    for (int k = 0; k < rows; k++) NAME(add_one)(at[k][l], l, sums);
}

INLINE void NAME(add_up_rows)(const ndr_tile *tile, int64_t lanes, const lane_sums *sums) {
  int64_t row = 0;
  if (four_rows(tile, (int64_t)sizeof(ELEMENT)))
    for (; row + 4 <= tile->rows; row += 4) NAME(add_few_rows)(tile, row, 4, lanes, sums);
  for (; row + 2 <= tile->rows; row += 2) NAME(add_few_rows)(tile, row, 2, lanes, sums);
  if (row < tile->rows) NAME(add_few_rows)(tile, row, 1, lanes, sums);
}

/* Adds `count` rows of RUN_LANES contiguous elements, `eights` * 8 lanes at a time, whose sums stay in registers for
 * ROWS rows. So few rows are still in the first-level cache for the next lanes. All lanes have the first one's shift.
 */
INLINE void NAME(add_long_rows)(const ELEMENT *at, int64_t count, const lane_sums *sums, const int eights) {
  enum { ROWS = 16 };
  for (; count > 0; count -= ROWS, at += ROWS * RUN_LANES) {
    for (int lane = 0; lane < RUN_LANES; lane += 8 * eights) {
      eight_sums s[4];
      f64x8 shift;
      if (sums->shift) load_f64_f64(&shift, sums->shift, 8);
      for (int i = 0; i < eights; i++) take_sums(&s[i], sums, lane + 8 * i, SKIP);
      for (int64_t row = 0; row < lower(count, ROWS); row++) {
        if (lane == 0) prefetch_row(at + row * RUN_LANES, RUN_LANES * sizeof(ELEMENT));
        for (int i = 0; i < eights; i++)
          NAME(add_eight)(at + row * RUN_LANES + lane + 8 * i, sums->shift ? &shift : NULL, &s[i]);
      }
      for (int i = 0; i < eights; i++) store_sums(&s[i], sums, lane + 8 * i, SKIP);
    }
  }
}

/* Adds the elements of a run to RUN_LANES lanes. */
INLINE void NAME(add_up_run)(const ndr_tile *tile, const lane_sums *sums, const int eights) {
  const int64_t elements = tile->rows * tile->lanes, rows = elements / RUN_LANES, left = elements % RUN_LANES;
  const ELEMENT *const rest = (const ELEMENT *)tile->data + rows * RUN_LANES;
  int64_t l = 0;
  NAME(add_long_rows)(tile->data, rows, sums, eights);
  for (; l + 8 <= left; l += 8) NAME(add_part_of_rows)(&rest, 1, l, sums);
  for (; l < left; l++) NAME(add_one)(rest[l], l, sums);
}

/* The mean of four elements of each lane. Under SKIP, if one of the four is NaN, the lane's first element that is not
 * NaN; NaN if it has none. */
static void NAME(sample)(const ndr_tile *tile, double *mean) {
  const int64_t lanes = tile->lanes;
  const ELEMENT *p0 = ROW(0), *p1 = ROW(tile->rows / 4), *p2 = ROW(tile->rows / 2), *p3 = ROW(tile->rows * 3 / 4);
  uint64_t missing = 0;
  EACH_LANE(mean[l] = (REAL_OF(p0[l]) * 0.25 + REAL_OF(p1[l]) * 0.25) + (REAL_OF(p2[l]) * 0.25 + REAL_OF(p3[l]) * 0.25);
            missing += mean[l] != mean[l])
  for (int64_t row = 0; SKIP && missing && row < tile->rows; row++) {
    missing = 0;
    EACH_LANE(mean[l] = mean[l] == mean[l] ? mean[l] : REAL_OF(ROW(row)[l]); missing += mean[l] != mean[l])
  }
}

/* Distances are taken from `shift`, the mean of a few of the tile's elements. It is near the mean of all elements. At
 * worst, when these few lie far from the others, n (mean - shift)^2 <= n M2. So the subtraction in settle_moments loses
 * few of 53 bits, however far the mean is from 0, and none if the few are all elements. */
static void NAME(var)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const bool run = is_one_run(tile);
  const int64_t lanes = run ? RUN_LANES : rounded_up(tile, 8);
  ALIGNED double shift[NDR_LANES];
  ALIGNED uint64_t words[3 * NDR_LANES];
  const lane_sums sums = {.shift = shift, .count = WORD(0), .sum = WORD(1), .square = WORD(2)};
  ndr_tile summed = *tile;
  NAME(sample)(tile, shift);
  average_lanes(tile, shift);
  for (int64_t l = tile->lanes; l < lanes; l++) shift[l] = shift[0];
  EACH_LANE(WORD(0)[l] = word_of(SKIP ? 0 : (double)tile->rows); WORD(1)[l] = WORD(2)[l] = word_of(0))
  if (run) {
    summed.lanes = RUN_LANES;
    if (!SKIP) EACH_LANE(WORD(0)[l] = word_of(l == 0 ? (double)(tile->rows * tile->lanes) : 0))
    NAME(add_up_run)(tile, &sums, RUN_MOMENTS);
  } else {
    NAME(add_up_rows)(tile, lanes, &sums);
  }
  settle_moments(&summed, shift, NULL, words, states, pitch);
}

static void NAME(norm2)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const bool run = is_one_run(tile);
  const int64_t lanes = run ? RUN_LANES : rounded_up(tile, 8);
  ALIGNED uint64_t words[NDR_LANES];
  const lane_sums sums = {.square = words};
  ndr_tile summed = *tile;
  EACH_LANE(words[l] = word_of(0))
  if (run) {
    summed.lanes = RUN_LANES;
    NAME(add_up_run)(tile, &sums, RUN_SQUARES);
  } else {
    NAME(add_up_rows)(tile, lanes, &sums);
  }
  settle(join_add, 1, &summed, words, states, pitch);
}
