/* Template: the kernels of f32 or f64, with NaN elements counted or left out, from
 *   NAME(kernel)          how its functions are called
 *   ELEMENT, INDEX        the element type and the unsigned type of its size
 *   WIDEN(at)             the run_part of the elements at an address
 *   LOAD_REAL             how eight are loaded as f64 (eight.h)
 *   VEC(op)               the instruction `op` for a register of elements
 *   COMPARE(a, b, how)    not 0 if any elements of two registers compare as `how` says
 *   RANK, RANK_MOST, INFINITE   see argument_run.h
 *   FLOAT_OF, PART_OF     see column.h; not defined for f64, whose columns FOLD_ROWS adds up
 *   SKIP                  1: NaN elements are left out
 *   EXP, PICK             exp_ and pick_ of the element type
 *   JOIN_FLOAT(kernel)    the join of values that treats NaN alike
 * Sums are accumulated in f64. */

#if SKIP
#define SEEN(value, otherwise) (x == x ? (value) : (otherwise))
#define COUNT_SEEN c = (INDEX)(c + (x == x))
#else
#define SEEN(value, otherwise) (value)
#define COUNT_SEEN (void)c
#endif

#if defined RUN_PART && !SKIP
#define RUN_SUM NAME(sum_of_run)
#define START 0
#define GROW(s, v) s + v
#define MEET(a, b) a + b
#include "cpu/fold/dtype/run.h"
#define RUN_SUM NAME(prod_of_run)
#define START 1
#define GROW(s, v) s *v
#define MEET(a, b) a *b
#include "cpu/fold/dtype/run.h"
#define RUN_SUM NAME(norm1_of_run)
#define START 0
#define GROW(s, v) s + (run_part)((run_part_bits)v & INT64_MAX)
#define MEET(a, b) a + b
#include "cpu/fold/dtype/run.h"

/* Adds up dense rows in the order of memory, with the bits of FOLD_ROWS. One row at a time: they are one stream, and
 * two at a time would be two. */
static void NAME(add_dense)(const ndr_tile *tile, uint64_t *words) {
  enum { LINE = 64 / sizeof(ELEMENT), LINES = 4 * LINE };
  const int64_t lanes = ROUNDED_LANES, rows = tile->rows, stride = tile->row_stride;
  const int64_t ahead = SOON(0) - (const char *)tile->data;
  const ELEMENT *at = tile->data;
  for (int64_t row = 0; row < rows; row++, at += stride) {
    int64_t l = 0;
    for (; l + LINES <= lanes; l += LINES) {
      ndr_prefetch((const char *)(at + l) + ahead, 256);
      for (int64_t part = l; part < l + LINES; part += RUN_PART) ADD_PART(words + part, WIDEN(at + part));
    }
    for (; l + LINE <= lanes; l += LINE) {
      __builtin_prefetch((const char *)(at + l) + ahead);
      for (int64_t part = l; part < l + LINE; part += RUN_PART) ADD_PART(words + part, WIDEN(at + part));
    }
    for (; l + RUN_PART <= lanes; l += RUN_PART) ADD_PART(words + l, WIDEN(at + l));
    for (; l < lanes; l++) words[l] = word_of(f64_of(words[l]) + (double)at[l]);
  }
}

/* Adds up a tile that is one run; false where it is none. */
#define RUN(op) (has_run_lanes(tile, 1) ? (NAME(op##_of_run)(tile->data, tile->rows, 1, words), true) : false)
/* Adds up a tile of dense rows that are too long to be read four at a time; false where it is none. */
#define DENSE(words)                                                                                                   \
  (is_dense(tile) && !four_rows(tile, (int64_t)sizeof(ELEMENT)) ? (NAME(add_dense)(tile, words), true) : false)
#else
#define RUN(op) false
#define DENSE(words) false
#endif

#if defined FLOAT_OF && !SKIP
#include "cpu/fold/dtype/column.h"
#define COLUMNS(states)                                                                                                \
  (is_wide_columns(tile, (int64_t)sizeof(ELEMENT)) ? (NAME(add_columns)(tile, states), true) : false)
#else
#define COLUMNS(states) false
#endif

#if !SKIP
/* The sums of a tile whose lanes are the real and imaginary parts of complex elements: `period` of them. */
static void NAME(add_complex)(const ndr_tile *tile, uint64_t *words) {
  const int64_t lanes = ROUNDED_LANES;
  if (COLUMNS(words)) return;
#ifdef RUN_PART
  if (has_run_lanes(tile, 2)) {
    NAME(sum_of_run)(tile->data, tile->rows, 2, words);
    return;
  }
#endif
  EACH_LANE(words[l] = word_of(0))
  if (!DENSE(words)) FOLD_ROWS(0, double s = f64_of(words[l]), s += (double)x, words[l] = word_of(s));
  collapse(join_add, tile, words);
}
#endif

#define SUMMED(op, start, term, join, columns, dense)                                                                  \
  static void NAME(op)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {                                        \
    const int64_t lanes = ROUNDED_LANES;                                                                               \
    ALIGNED uint64_t words[NDR_LANES];                                                                                 \
    if (columns) return;                                                                                               \
    if (RUN(op)) {                                                                                                     \
      deposit(join, 1, tile, words, states, pitch);                                                                    \
      return;                                                                                                          \
    }                                                                                                                  \
    EACH_LANE(words[l] = word_of(start))                                                                               \
    if (!(dense))                                                                                                      \
      FOLD_ROWS(0, double s = f64_of(words[l]), const double v = (double)x; s = term, words[l] = word_of(s));          \
    settle(join, 1, tile, words, states, pitch);                                                                       \
  }

SUMMED(sum, 0, s + SEEN(v, 0), join_add, COLUMNS(states), DENSE(words))
SUMMED(prod, 1, s *SEEN(v, 1), join_multiply, false, false)
SUMMED(norm1, 0, s + SEEN(fabs(v), 0), join_add, false, false)
#undef SUMMED

static void NAME(mean)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED uint64_t words[2 * NDR_LANES];
  ALIGNED INDEX count[NDR_LANES];
  if (COLUMNS(states)) {
    count_rows(tile, states + pitch);
    return;
  }
  if (RUN(sum)) {
    WORD(1)[0] = word_of((double)(tile->rows * lanes));
    deposit(join_add2, 2, tile, words, states, pitch);
    return;
  }
  EACH_LANE(words[l] = word_of(0); count[l] = SKIP ? 0 : (INDEX)tile->rows)
  if (!DENSE(words))
    FOLD_ROWS(0, double s = f64_of(words[l]); INDEX c = count[l], s += SEEN((double)x, 0);
              COUNT_SEEN, words[l] = word_of(s); count[l] = c);
  EACH_LANE(WORD(1)[l] = word_of((double)count[l]))
  settle(join_add2, 2, tile, words, states, pitch);
}

#define REAL_OF(x) (double)(x)
#include "cpu/fold/dtype/moments.h"

static void NAME(norminf)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED ELEMENT most[NDR_LANES];
  ALIGNED uint64_t words[NDR_LANES];
  EACH_LANE(most[l] = 0)
  FOLD_ROWS(0, ELEMENT m = most[l], const ELEMENT v = x < 0 ? -x : x;
            m = (v > m) | (!SKIP & (v != v)) ? v : m, most[l] = m);
  EACH_LANE(words[l] = word_of((double)most[l]))
  settle(join_max_f64, 1, tile, words, states, pitch);
}

/* Whether x replaces b. A NaN replaces every number, and the first NaN stays. Under SKIP everything replaces a NaN. */
#if SKIP
#define REPLACES(better, b) ((x better(b)) | ((b) != (b)))
#define FIRST_REPLACES(better, b) REPLACES(better, b)
#define START(limit) ((ELEMENT)NAN)
#else
#define REPLACES(better, b) ((x better(b)) | (x != x))
#define FIRST_REPLACES(better, b) (REPLACES(better, b) & ((b) == (b)))
#define START(limit) ((ELEMENT)(limit))
#endif

#define WINS(condition) ((INDEX)0 - (INDEX)(condition))

#ifdef RUN_PART
#include "cpu/fold/dtype/extreme.h"
#define EXTREMES(largest, best) NAME(extremes)(largest, tile, best)
#else
#define EXTREMES(largest, best) false
#endif

#include "cpu/fold/dtype/argument_run.h"

#if !SKIP
/* The value of the first of a run's largest, or least, elements. */
INLINE uint64_t NAME(extreme_of_run)(const ndr_tile *tile, bool largest) {
  uint64_t words[NDR_LANES + 1];
  NAME(argument_of_run)(tile, largest, words);
  return words[0];
}

ALONG(min, 1, join_min_f64, words[l] = NAME(extreme_of_run)(&run, false))
ALONG(max, 1, join_max_f64, words[l] = NAME(extreme_of_run)(&run, true))
ALONG(ptp, 2, join_ptp_f64, words[l] = NAME(extreme_of_run)(&run, false); WORD(1)[l] = NAME(extreme_of_run)(&run, true))
#endif

#define EXTREME(op, limit, better)                                                                                     \
  static void NAME(op)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {                                        \
    const int64_t lanes = ROUNDED_LANES;                                                                               \
    ALIGNED ELEMENT best[NDR_LANES];                                                                                   \
    ALIGNED uint64_t words[NDR_LANES];                                                                                 \
    if (!EXTREMES((limit) < 0, best)) {                                                                                \
      EACH_LANE(best[l] = START(limit))                                                                                \
      FOLD_ROWS(0, ELEMENT b = best[l], b = PICK(WINS(REPLACES(better, b)), x, b), best[l] = b);                       \
    }                                                                                                                  \
    EACH_LANE(words[l] = word_of((double)best[l]))                                                                     \
    settle(JOIN_FLOAT(op), 1, tile, words, states, pitch);                                                             \
  }                                                                                                                    \
                                                                                                                       \
  static void NAME(arg##op)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {                                   \
    const int64_t lanes = ROUNDED_LANES;                                                                               \
    ALIGNED ELEMENT best[NDR_LANES];                                                                                   \
    ALIGNED INDEX at[NDR_LANES];                                                                                       \
    ALIGNED uint64_t words[2 * NDR_LANES];                                                                             \
    if (is_one_run(tile) && ascends(tile)) {                                                                           \
      NAME(argument_of_run)(tile, (limit) < 0, words);                                                                 \
      deposit(JOIN_FLOAT(arg##op), 2, tile, words, states, pitch);                                                     \
      return;                                                                                                          \
    }                                                                                                                  \
    EACH_LANE(best[l] = ROW(0)[l]; at[l] = 0)                                                                          \
    FOLD_ROWS(1, ELEMENT b = best[l]; INDEX i = at[l], const INDEX wins = WINS(FIRST_REPLACES(better, b));             \
              b = PICK(wins, x, b); i = ((INDEX)row & wins) | (i & ~wins), best[l] = b; at[l] = i);                    \
    EACH_LANE(words[l] = word_of((double)best[l]))                                                                     \
    INDEX_WORDS(at, WORD(1));                                                                                          \
    EACH_LANE(WORD(1)[l] = SKIP && best[l] != best[l] ? (uint64_t)-1 : WORD(1)[l])                                     \
    settle(JOIN_FLOAT(arg##op), 2, tile, words, states, pitch);                                                        \
  }

EXTREME(min, INFINITY, <)
EXTREME(max, -INFINITY, >)
#undef EXTREME

static void NAME(ptp)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED ELEMENT least[NDR_LANES], most[NDR_LANES];
  ALIGNED uint64_t words[2 * NDR_LANES];
  const bool least_found = EXTREMES(false, least), most_found = EXTREMES(true, most);
  if (!least_found || !most_found) {
    EACH_LANE(least[l] = START(INFINITY); most[l] = START(-INFINITY))
    FOLD_ROWS(0, ELEMENT a = least[l]; ELEMENT b = most[l], a = PICK(WINS(REPLACES(<, a)), x, a);
              b = PICK(WINS(REPLACES(>, b)), x, b), least[l] = a; most[l] = b);
  }
  EACH_LANE(words[l] = word_of((double)least[l]); WORD(1)[l] = word_of((double)most[l]))
  settle(JOIN_FLOAT(ptp), 2, tile, words, states, pitch);
}

/* The first pass finds each lane's maximum, the second adds up e^(x - maximum). The sum is at least 1, because an
 * element that equals the maximum counts 1, even if both are infinite. */
static void NAME(logsumexp)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED ELEMENT top[NDR_LANES];
  ALIGNED uint64_t words[2 * NDR_LANES];
  EACH_LANE(top[l] = -(ELEMENT)INFINITY; WORD(1)[l] = word_of(0))
  FOLD_ROWS(0, ELEMENT t = top[l], t = (x > t) | (!SKIP & (x != x)) ? x : t, top[l] = t);
  for (int64_t row = 0; row < tile->rows; row++) {
    const ELEMENT *elements = ROW(row);
    EACH_LANE(const ELEMENT x = elements[l]; const ELEMENT e = EXP(x == top[l] ? 0 : x - top[l]);
              WORD(1)[l] = word_of(f64_of(WORD(1)[l]) + (double)SEEN(e, 0)))
  }
  EACH_LANE(words[l] = word_of((double)top[l]))
  settle(join_logsumexp, 2, tile, words, states, pitch);
}

#define NONZERO SEEN(x != 0, 0)
#define PRESENT (x == x)
#include "cpu/fold/dtype/truth.h"

#undef RUN
#undef COLUMNS
#undef FLOAT_OF
#undef DENSE
#undef NAME
#undef ELEMENT
#undef WIDEN
#undef LOAD_REAL
#undef INDEX
#undef JOIN_FLOAT
#undef EXP
#undef PICK
#undef SEEN
#undef COUNT_SEEN
#undef REPLACES
#undef FIRST_REPLACES
#undef START
#undef WINS
#undef EXTREMES
#undef VEC
#undef COMPARE
#undef RANK
#undef RANK_MOST
#undef INFINITE
#undef REAL_OF
#undef NAN_RANK
