/* Template: the kernels of across.h and the one of var for one dtype, from
 *   NAME(kernel)                   how its functions are called
 *   ELEMENT                        the element type
 *   VALUES, LOAD_VALUES, ADD(a, b) the vector that holds eight of its values, how they are loaded and added
 *   NOT_A_NUMBER(v)                the mask of the values that are NaN
 *   LEAST, MOST                    the limits of the values
 *   LOAD_REAL                      how they are loaded as f64
 *   JOIN_ADD, JOIN_VALUE(kernel)   the joins of their sums and of their extremes
 *   NARROW                         if defined, narrow.h has the sums, means and extremes
 *   TURN                           if defined, there are kernels of listed.h and turned.h, too: the function of turn.h
 *                                  for the elements */
#define PLUS(a, b) ((a) + (b))

#ifndef NARROW
#define ACROSS NAME(sum)
#ifdef TURN
#define LISTED NAME(listed_sum)
#define TURNED NAME(turned_sum)
#endif
#define WORDS VALUES
#define LOAD LOAD_VALUES
#define START 0
#define GROW ADD
#define MEET ADD
#define MERGE JOIN_ADD
#define COUNTED 0
#include "cpu/fold/across/across.h"
#define ACROSS NAME(mean)
#ifdef TURN
#define LISTED NAME(listed_mean)
#define TURNED NAME(turned_mean)
#endif
#define WORDS f64x8
#define LOAD LOAD_REAL
#define START 0
#define GROW PLUS
#define MEET PLUS
#define MERGE join_add2
#define COUNTED 1
#include "cpu/fold/across/across.h"
#define ACROSS NAME(min)
#ifdef TURN
#define LISTED NAME(listed_min)
#define TURNED NAME(turned_min)
#endif
#define WORDS VALUES
#define LOAD LOAD_VALUES
#define START MOST
#define GROW(s, v) PICK_PART(((v) < (s)) | NOT_A_NUMBER(v), v, s)
#define MEET(a, b) GROW(a, b)
#define MERGE JOIN_VALUE(min)
#define COUNTED 0
#include "cpu/fold/across/across.h"
#define ACROSS NAME(max)
#ifdef TURN
#define LISTED NAME(listed_max)
#define TURNED NAME(turned_max)
#endif
#define WORDS VALUES
#define LOAD LOAD_VALUES
#define START LEAST
#define GROW(s, v) PICK_PART(((v) > (s)) | NOT_A_NUMBER(v), v, s)
#define MEET(a, b) GROW(a, b)
#define MERGE JOIN_VALUE(max)
#define COUNTED 0
#include "cpu/fold/across/across.h"
#endif
#define ACROSS NAME(norm2)
#ifdef TURN
#define LISTED NAME(listed_norm2)
#define TURNED NAME(turned_norm2)
#endif
#define WORDS f64x8
#define LOAD LOAD_REAL
#define START 0
#define GROW(s, v) ((s) + (v) * (v))
#define MEET PLUS
#define MERGE join_add
#define COUNTED 0
#include "cpu/fold/across/across.h"

/* Of eight rows from number `first` on the median of the first three elements, or the first of fewer; 0 if it is NaN.
 * Eight at a time: branches on elements at random would take longer than short rows. */
static void NAME(middles_of)(const ndr_tile *tile, int64_t first, double *middle) {
  const int64_t wanted = tile->rows < 8 ? lower(tile->rows, 3) : 8;
  ALIGNED double x[8][8], of_rows[3][8];
  for (int64_t r = 0; r < 8; r++) {
    f64x8 v;
    LOAD_REAL(&v, (const ELEMENT *)tile->data + lower(first + r, tile->lanes - 1) * tile->lane_stride, wanted);
    memcpy(x[r], &v, sizeof v);
  }
  for (int64_t k = 0; k < 3; k++)
    for (int64_t r = 0; r < 8; r++) of_rows[k][r] = x[r][tile->rows < 3 ? 0 : k];
  f64x8 a, b, c;
  memcpy(&a, of_rows[0], sizeof a);
  memcpy(&b, of_rows[1], sizeof b);
  memcpy(&c, of_rows[2], sizeof c);
  EACH_PART(const i64_part rises = a.part[p] < b.part[p]; const f64_part least = PICK_PART(rises, a.part[p], b.part[p]);
            const f64_part most = PICK_PART(rises, b.part[p], a.part[p]);
            const f64_part upper = PICK_PART(c.part[p] > most, most, c.part[p]);
            const f64_part found = PICK_PART(c.part[p] < least, least, upper);
            c.part[p] = PICK_PART(found == found, found, (f64_part){0}))
  memcpy(middle, &c, sizeof c);
}

/* Distances are taken from an element x of a row: (mean - x)^2 <= M2, so the subtraction in settle_moments loses at
 * most log2 of their number of bits (see var in float.h), and few unless x is far from the others. A single one that
 * is, is not the median of three. */
static void NAME(var)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = tile->lanes, tail = tile->rows % 8, whole = tile->rows - tail;
  i64x8 present;
  first_of_eight(&present, tail);
  const int64_t full = lanes_with(8, tile, (int64_t)sizeof(ELEMENT));
  ALIGNED uint64_t words[3 * NDR_LANES];
  ALIGNED double shift[NDR_LANES];
  for (int64_t first = 0; first < lanes; first += 8) {
    f64x8 sum[8], square[8], v;
    NAME(middles_of)(tile, first, shift + first);
    for (int64_t r = 0; r < 8; r++) {
      const int64_t lane = lower(first + r, lanes - 1);
      const ELEMENT *at = (const ELEMENT *)tile->data + lane * tile->lane_stride;
      f64x8 s = {{{0}}}, q = {{{0}}};
      const double x = shift[first + r];
      for (int64_t i = 0; i < whole; i += 8) {
        __builtin_prefetch((const char *)(at + i) + AHEAD);
        LOAD_REAL(&v, at + i, 8);
        EACH_PART(const f64_part d = v.part[p] - x; s.part[p] += d; q.part[p] += d * d)
      }
      if (tail) {
        if (lane < full)
          LOAD_REAL(&v, at + whole, 8);
        else
          LOAD_REAL(&v, at + whole, tail);
        EACH_PART(const f64_part d = (f64_part)((i64_part)(v.part[p] - x) & present.part[p]); s.part[p] += d;
                  q.part[p] += d * d)
      }
      sum[r] = s;
      square[r] = q;
    }
    FOLD_EIGHT(PLUS, sum);
    FOLD_EIGHT(PLUS, square);
    memcpy(WORD(1) + first, &sum[0], sizeof sum[0]);
    memcpy(WORD(2) + first, &square[0], sizeof square[0]);
  }
  EACH_LANE(WORD(0)[l] = word_of((double)tile->rows))
  settle_moments(tile, shift, NULL, words, states, pitch);
}

#undef PLUS
#undef NAME
#undef TURN
#undef ELEMENT
#undef VALUES
#undef LOAD_VALUES
#undef ADD
#undef NOT_A_NUMBER
#undef LEAST
#undef MOST
#undef LOAD_REAL
#undef JOIN_ADD
#undef JOIN_VALUE
