/* Template, part 6: the kernels of c128, with NAME, INDEX and SKIP as in float.h. An element is NaN if either part
 * is. */

#define PRESENT ((x.re == x.re) & (x.im == x.im))
#if SKIP
#define SEEN PRESENT
#else
#define SEEN 1
#endif

static void NAME(mean)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = tile->lanes;
  ALIGNED double re[NDR_LANES], im[NDR_LANES], count[NDR_LANES];
  ALIGNED uint64_t words[3 * NDR_LANES];
  EACH_LANE(re[l] = 0; im[l] = 0; count[l] = 0)
  FOLD_ROWS(0, double s = re[l]; double t = im[l]; double c = count[l], s += SEEN ? x.re : 0; t += SEEN ? x.im : 0;
            c += SEEN, re[l] = s; im[l] = t; count[l] = c);
  EACH_LANE(WORD(0)[l] = word_of(re[l]); WORD(1)[l] = word_of(im[l]); WORD(2)[l] = word_of(count[l]))
  settle(join_add3, 3, tile, words, states, pitch);
}

static void NAME(sum)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = tile->lanes;
  ALIGNED double re[NDR_LANES], im[NDR_LANES];
  ALIGNED uint64_t words[2 * NDR_LANES];
  EACH_LANE(re[l] = 0; im[l] = 0)
  FOLD_ROWS(0, double s = re[l]; double t = im[l], s += SEEN ? x.re : 0; t += SEEN ? x.im : 0, re[l] = s; im[l] = t);
  EACH_LANE(WORD(0)[l] = word_of(re[l]); WORD(1)[l] = word_of(im[l]))
  settle(join_add2, 2, tile, words, states, pitch);
}

static void NAME(prod)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = tile->lanes;
  ALIGNED double re[NDR_LANES], im[NDR_LANES];
  ALIGNED uint64_t words[2 * NDR_LANES];
  EACH_LANE(re[l] = 1; im[l] = 0)
  FOLD_ROWS(0, double s = re[l]; double t = im[l], const double u = SEEN ? s * x.re - t * x.im : s;
            t = SEEN ? s * x.im + t * x.re : t; s = u, re[l] = s; im[l] = t);
  EACH_LANE(WORD(0)[l] = word_of(re[l]); WORD(1)[l] = word_of(im[l]))
  settle(join_multiply_complex, 2, tile, words, states, pitch);
}

#define SUMMED(op, term, combine, join)                                                                                \
  static void NAME(op)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {                                        \
    const int64_t lanes = tile->lanes;                                                                                 \
    ALIGNED uint64_t words[NDR_LANES];                                                                                 \
    EACH_LANE(words[l] = word_of(0))                                                                                   \
    FOLD_ROWS(0, double s = f64_of(words[l]), const double v = SEEN ? (term) : 0; s = combine, words[l] = word_of(s)); \
    settle(join, 1, tile, words, states, pitch);                                                                       \
  }

SUMMED(norm1, magnitude(x.re, x.im), s + v, join_add)
SUMMED(norm2, x.re *x.re + x.im * x.im, s + v, join_add)
SUMMED(norminf, magnitude(x.re, x.im), pick_f64(-(uint64_t)((v > s) | (v != v)), v, s), join_max_f64)
#undef SUMMED

/* As in float.h, but always of the first elements that are not NaN. */
static void NAME(sample)(const ndr_tile *tile, double *re, double *im) {
  const int64_t lanes = tile->lanes;
  for (int64_t l = 0; l < lanes; l++) {
    double count = 0, s = 0, t = 0;
    for (int64_t row = 0; count < 4 && row < tile->rows; row++) {
      const ndr_c128 x = ROW(row)[l];
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
#include "cpu/fold/truth.h"

#undef NAME
#undef ELEMENT
#undef INDEX
#undef SEEN
