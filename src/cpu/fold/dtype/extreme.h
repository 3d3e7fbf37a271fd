/* Template: the least or largest element of each lane, a register of lanes at a time, where no element is NaN. float.h
 * includes it, and its parameters are those of float.h.
 *
 * The instructions for minimum and maximum return their second operand if both are equal. The best element so far is
 * the second one, so that of equal elements the first in memory stays, as it does in FOLD_ROWS. Comparing each element,
 * looking for NaN and selecting takes three times as long. */
typedef __typeof__(VEC(setzero)()) NAME(vector);

/* Elements of a register, and registers of a row of RUN_LANES. */
#define PER ((int64_t)(sizeof(NAME(vector)) / sizeof(ELEMENT)))
#define PARTS (RUN_LANES / PER)

INLINE NAME(vector) NAME(better)(bool largest, NAME(vector) x, NAME(vector) b) {
  return largest ? VEC(max)(x, b) : VEC(min)(x, b);
}

/* Updates best[0 .. RUN_LANES - 1] from rows of as many lanes. Returns whether an element is NaN. */
INLINE bool NAME(extremes_of_rows)(bool largest, const ELEMENT *at, int64_t stride, int64_t rows, bool prefetches,
                                   ELEMENT *best) {
  NAME(vector) b[PARTS];
  unsigned unordered = 0;
  for (int64_t i = 0; i < PARTS; i++) b[i] = VEC(loadu)(best + i * PER);
  for (int64_t row = 0; row < rows; row++, at += stride) {
    if (prefetches) prefetch_row(at, RUN_LANES * sizeof(ELEMENT));
    for (int64_t i = 0; i < PARTS; i += 2) {
      const NAME(vector) x = VEC(loadu)(at + i * PER), y = VEC(loadu)(at + (i + 1) * PER);
      unordered |= COMPARE(x, y, _CMP_UNORD_Q);
      b[i] = NAME(better)(largest, x, b[i]);
      b[i + 1] = NAME(better)(largest, y, b[i + 1]);
    }
  }
  for (int64_t i = 0; i < PARTS; i++) VEC(storeu)(best + i * PER, b[i]);
  return unordered != 0;
}

/* Writes the least or largest element of each lane to best[]. Returns false if an element is NaN, or if the tile has
 * fewer lanes than RUN_LANES. The last RUN_LANES lanes overlap those before: an element that is read twice changes
 * nothing. */
INLINE bool NAME(extremes)(bool largest, const ndr_tile *tile, ELEMENT *best) {
  const int64_t lanes = tile->lanes, stride = tile->row_stride;
  const int64_t several = tile->rows_at || is_dense(tile) ? 1 : four_rows(tile, (int64_t)sizeof(ELEMENT)) ? 4 : 2;
  bool unordered = false;
  if (lanes < RUN_LANES) return false;
  EACH_LANE(best[l] = largest ? -(ELEMENT)INFINITY : (ELEMENT)INFINITY)
  if (has_run_lanes(tile, 1)) return !NAME(extremes_of_rows)(largest, ROW(0), stride, tile->rows, !tile->cached, best);
  for (int64_t row = 0, rows; row < tile->rows && !unordered; row += rows) {
    rows = row + several <= tile->rows ? several : 1;
    const char *soon = SOON(row), *soon1 = SOON(row + rows - 1);
    if (rows == 4) prefetch_ahead(tile, row, 4, (int64_t)sizeof(ELEMENT));
    for (int64_t first = 0; first < lanes; first += RUN_LANES) {
      const int64_t l = lower(first, lanes - RUN_LANES);
      if (rows < 4) ndr_prefetch(soon + l * (int64_t)sizeof(ELEMENT), RUN_LANES * (int64_t)sizeof(ELEMENT));
      if (rows == 2) ndr_prefetch(soon1 + l * (int64_t)sizeof(ELEMENT), RUN_LANES * (int64_t)sizeof(ELEMENT));
      if (rows == 4)
        unordered |= NAME(extremes_of_rows)(largest, ROW(row) + l, stride, 4, false, best + l);
      else if (rows == 2)
        unordered |= NAME(extremes_of_rows)(largest, ROW(row) + l, stride, 2, false, best + l);
      else
        unordered |= NAME(extremes_of_rows)(largest, ROW(row) + l, stride, 1, false, best + l);
    }
  }
  return !unordered;
}

#undef PER
#undef PARTS
