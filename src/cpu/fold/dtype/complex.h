/* Template: the kernels of c64 or c128, with NAME, INDEX and SKIP as in float.h, and the kernels PART(kernel)
 * of its parts; SKIP has no use for them. An element is NaN if either part is. */

#define PRESENT ((x.re == x.re) & (x.im == x.im))
#if SKIP
#define SEEN PRESENT
#else
#define SEEN 1
#endif

#if SKIP
static void NAME(mean)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED double re[NDR_LANES], im[NDR_LANES], count[NDR_LANES];
  ALIGNED uint64_t words[3 * NDR_LANES];
  EACH_LANE(re[l] = 0; im[l] = 0; count[l] = 0)
  FOLD_ROWS(0, double s = re[l]; double t = im[l]; double c = count[l], s += SEEN ? x.re : 0; t += SEEN ? x.im : 0;
            c += SEEN, re[l] = s; im[l] = t; count[l] = c);
  EACH_LANE(WORD(0)[l] = word_of(re[l]); WORD(1)[l] = word_of(im[l]); WORD(2)[l] = word_of(count[l]))
  settle(join_add3, 3, tile, words, states, pitch);
}

static void NAME(sum)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED double re[NDR_LANES], im[NDR_LANES];
  ALIGNED uint64_t words[2 * NDR_LANES];
  EACH_LANE(re[l] = 0; im[l] = 0)
  FOLD_ROWS(0, double s = re[l]; double t = im[l], s += SEEN ? x.re : 0; t += SEEN ? x.im : 0, re[l] = s; im[l] = t);
  EACH_LANE(WORD(0)[l] = word_of(re[l]); WORD(1)[l] = word_of(im[l]))
  settle(join_add2, 2, tile, words, states, pitch);
}
#else
/* Lanes first .. first + lanes - 1 as twice as many lanes of parts. A run that fits into the registers has as many
 * lanes as these, and twice the rows. */
static inline ndr_tile NAME(parts_of)(const ndr_tile *tile, int64_t first, int64_t lanes) {
  ndr_tile parts = *tile;
  const bool run = has_run_lanes(tile, 1);
  parts.data = (const ELEMENT *)tile->data + first;
  parts.lanes = run ? RUN_LANES : 2 * lanes;
  parts.rows = run ? 2 * tile->rows : tile->rows;
  parts.row_stride = run ? RUN_LANES : 2 * tile->row_stride;
  parts.spare = run ? 0 : 2 * tile->spare;
  return parts;
}

/* Sums of the real and imaginary parts of the tile's outputs, in words 0 and 1. */
static void NAME(add_parts)(const ndr_tile *tile, uint64_t *words) {
  ALIGNED uint64_t sums[NDR_LANES];
  const bool outputs = tile->period == tile->lanes;
  const int64_t most = outputs ? NDR_LANES / 2 : NDR_LANES / 2 / tile->period * tile->period;
  for (int64_t first = 0; first < tile->lanes; first += most) {
    const int64_t some = lower(most, tile->lanes - first), lanes = outputs ? some : tile->period;
    ndr_tile parts = NAME(parts_of)(tile, first, some);
    parts.period = 2 * lanes;
    parts.fresh = true;
    PART(add_complex)(&parts, sums);
    uint64_t *re = words + (outputs ? first : 0), *im = re + NDR_LANES;
    if (outputs || first == 0)
      EACH_LANE(re[l] = sums[2 * l]; im[l] = sums[2 * l + 1])
    else
      EACH_LANE(re[l] = word_of(f64_of(re[l]) + f64_of(sums[2 * l]));
                im[l] = word_of(f64_of(im[l]) + f64_of(sums[2 * l + 1])))
  }
}

static void NAME(sum)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  ALIGNED uint64_t words[2 * NDR_LANES];
  NAME(add_parts)(tile, words);
  deposit(join_add2, 2, tile, words, states, pitch);
}

static void NAME(mean)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = tile->period, count = tile->rows * (tile->lanes / tile->period);
  ALIGNED uint64_t words[3 * NDR_LANES];
  NAME(add_parts)(tile, words);
  EACH_LANE(WORD(2)[l] = word_of((double)count))
  deposit(join_add3, 3, tile, words, states, pitch);
}
#endif

static void NAME(prod)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED double re[NDR_LANES], im[NDR_LANES];
  ALIGNED uint64_t words[2 * NDR_LANES];
  EACH_LANE(re[l] = 1; im[l] = 0)
  FOLD_ROWS(0, double s = re[l]; double t = im[l], const double u = SEEN ? s * (double)x.re - t * (double)x.im : s;
            t = SEEN ? s * x.im + t * x.re : t; s = u, re[l] = s; im[l] = t);
  EACH_LANE(WORD(0)[l] = word_of(re[l]); WORD(1)[l] = word_of(im[l]))
  settle(join_multiply_complex, 2, tile, words, states, pitch);
}

#define SQUARE(part) ((double)(part) * (double)(part))
#define SUMMED(op, term, combine, join)                                                                                \
  static void NAME(op)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {                                        \
    const int64_t lanes = ROUNDED_LANES;                                                                               \
    ALIGNED uint64_t words[NDR_LANES];                                                                                 \
    EACH_LANE(words[l] = word_of(0))                                                                                   \
    FOLD_ROWS(0, double s = f64_of(words[l]), const double v = SEEN ? (term) : 0; s = combine, words[l] = word_of(s)); \
    settle(join, 1, tile, words, states, pitch);                                                                       \
  }

SUMMED(norm1, magnitude((double)x.re, (double)x.im), s + v, join_add)
SUMMED(norm2_of_lanes, SQUARE(x.re) + SQUARE(x.im), s + v, join_add)
SUMMED(norminf, magnitude((double)x.re, (double)x.im), pick_f64(-(uint64_t)((v > s) | (v != v)), v, s), join_max_f64)
#undef SUMMED
#undef SQUARE

/* Of a run, every part is a lane. */
static void NAME(norm2)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
#if !SKIP
  if (tile->period == 1 && 2 * tile->lanes <= NDR_LANES) {
    const ndr_tile parts = NAME(parts_of)(tile, 0, tile->lanes);
    PART(norm2)(&parts, states, pitch);
    return;
  }
#endif
  NAME(norm2_of_lanes)(tile, states, pitch);
}

/* As in float.h, but always of the first elements that are not NaN. */
static void NAME(sample)(const ndr_tile *tile, double *re, double *im) {
  const int64_t lanes = tile->lanes;
  for (int64_t l = 0; l < lanes; l++) {
    double count = 0, s = 0, t = 0;
    for (int64_t row = 0; count < 4 && row < tile->rows; row++) {
      const ELEMENT x = ROW(row)[l];
      bool seen = !isnan(x.re) && !isnan(x.im);
      s += seen ? x.re * 0.25 : 0;
      t += seen ? x.im * 0.25 : 0;
      count += seen;
    }
    re[l] = count > 0 ? s / (count * 0.25) : (double)NAN;
    im[l] = count > 0 ? t / (count * 0.25) : (double)NAN;
  }
}

/* As in float.h. */
static void NAME(var)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = tile->lanes;
  ALIGNED double shift_re[NDR_LANES], shift_im[NDR_LANES], re[NDR_LANES], im[NDR_LANES], square[NDR_LANES],
      count[NDR_LANES];
  ALIGNED uint64_t words[4 * NDR_LANES];
  NAME(sample)(tile, shift_re, shift_im);
  average_lanes(tile, shift_re);
  average_lanes(tile, shift_im);
  EACH_LANE(re[l] = 0; im[l] = 0; square[l] = 0; count[l] = 0)
  FOLD_ROWS(0, double s = re[l]; double t = im[l]; double q = square[l];
            double c = count[l], const double u = SEEN ? x.re - shift_re[l] : 0;
            const double v = SEEN ? x.im - shift_im[l] : 0; s += u; t += v; q += u * u + v * v; c += SEEN, re[l] = s;
            im[l] = t; square[l] = q; count[l] = c);
  EACH_LANE(WORD(0)[l] = word_of(count[l]); WORD(1)[l] = word_of(re[l]); WORD(2)[l] = word_of(im[l]);
            WORD(3)[l] = word_of(square[l]))
  settle_moments(tile, shift_re, shift_im, words, states, pitch);
}

#define NONZERO (((x.re != 0) | (x.im != 0)) & SEEN)
#include "cpu/fold/dtype/truth.h"

#undef NAME
#undef PART
#undef ELEMENT
#undef INDEX
#undef SEEN
