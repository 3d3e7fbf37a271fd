/* Template: sums, means and moments of elements whose factors are weights or a mask. Accumulators stay in
 * registers, and nothing is written in between. From
 *   NAME(kernel)               how its functions are called
 *   ELEMENT, WEIGHT            the types of tile->data and tile->factors
 *   LANE_TERMS(x, w)           declares doubles from an element and its weight: `weight`, `value`, and their product
 *                              `term`
 *   PART_TERMS(x, w, i)        declares the same as run_parts, of part i of the elements and weights at two addresses
 *   ROW_FACTORS                defined where tiles may have row_factors; PART_TERMS asks `row_factor` for it
 *   COUNTED_IN_BYTES           defined where weights are 1 for factors, which are bytes, that are not 0, and else 0
 *   WEIGHT_DEPENDS_ON_ELEMENT  defined where an element can change its weight: lanes that share a row's factor do not
 *                              share the sum of weights then
 * A lane's terms are added row by row, so that all instruction sets give the same bits. */

#ifdef ROW_FACTORS
#define HAS_ROW_FACTORS(tile) ((tile)->row_factors)
#else
#define HAS_ROW_FACTORS(tile) false
#endif

/* Whether each lane adds up weights of its own, rather than part 0 those of the row for all. */
#ifdef WEIGHT_DEPENDS_ON_ELEMENT
#define OWN_WEIGHTS true
#else
#define OWN_WEIGHTS (!row_factor)
#endif

#define WEIGHTS_OF(row) ((const WEIGHT *)tile->factors + (row)*tile->factors_stride)
#define WEIGHT_OF(w, l) ((w)[row_factor ? 0 : (l)])

#define BEGIN_SUM(i) run_part s##i = {0}, n##i = {0};
#define ADD_SUM(i)                                                                                                     \
  {                                                                                                                    \
    PART_TERMS(x, w, i);                                                                                               \
    s##i += term;                                                                                                      \
    if (OWN_WEIGHTS)                                                                                                   \
      n##i += weight;                                                                                                  \
    else if ((i) == 0)                                                                                                 \
      row_weights += weight;                                                                                           \
  }
#define STORE_SUM(i)                                                                                                   \
  STORE_VECTOR(words + l + (i)*RUN_PART, s##i);                                                                        \
  if (counts) STORE_VECTOR(WORD(1) + l + (i)*RUN_PART, OWN_WEIGHTS ? n##i : row_weights);
#define SUM_LANES(PARTS, width)                                                                                        \
  EACH_STEP(width, RUN_PART) {                                                                                         \
    FIND_AHEAD(width, ELEMENT, WEIGHT)                                                                                 \
    run_part row_weights = {0};                                                                                        \
    PARTS(BEGIN_SUM)                                                                                                   \
    for (int64_t row = 0; row < tile->rows; row++) {                                                                   \
      const ELEMENT *x = ROW(row) + l;                                                                                 \
      const WEIGHT *w = &WEIGHT_OF(WEIGHTS_OF(row), l);                                                                \
      PREFETCH_STEP(width)                                                                                             \
      PARTS(ADD_SUM)                                                                                                   \
    }                                                                                                                  \
    PARTS(STORE_SUM)                                                                                                   \
  }

/* Each lane's sum of terms into word 0 and, with `counts`, of weights into word 1. `row_factor`: the tile's. */
static inline void NAME(add_terms_by)(const ndr_tile *tile, uint64_t *restrict words, const bool counts,
                                      const bool row_factor) {
  const int64_t lanes = tile->lanes;
  int64_t done = 0;
#ifdef RUN_PART
  if (!counts || !OWN_WEIGHTS) { /* eight accumulators, and one: sixteen were no faster */
    SUM_LANES(EIGHT_PARTS_AT_ONCE, 8 * RUN_PART)
  }
  SUM_LANES(FOUR_PARTS, 4 * RUN_PART)
  SUM_LANES(TWO_PARTS, 2 * RUN_PART)
  SUM_LANES(ONE_PART, RUN_PART)
#endif
  for (int64_t l = done; l < lanes; l++) words[l] = WORD(1)[l] = word_of(0);
  for (int64_t row = 0; done < lanes && row < tile->rows; row++) {
    const ELEMENT *restrict x = ROW(row);
    const WEIGHT *restrict w = WEIGHTS_OF(row);
    for (int64_t l = done; l < lanes; l++) {
      LANE_TERMS(x[l], WEIGHT_OF(w, l));
      words[l] = word_of(f64_of(words[l]) + term);
      if (counts) WORD(1)[l] = word_of(f64_of(WORD(1)[l]) + weight);
    }
  }
}

/* Chooses when it is compiled. */
static inline void NAME(add_terms)(const ndr_tile *tile, uint64_t *restrict words, const bool counts) {
  if (HAS_ROW_FACTORS(tile))
    NAME(add_terms_by)(tile, words, counts, true);
  else
    NAME(add_terms_by)(tile, words, counts, false);
}

#ifdef RUN_PART
#define IN_ORDER_LANES (8 * RUN_PART)
#ifdef COUNTED_IN_BYTES
#define WEIGHTS_IN_WORDS false
#else
#define WEIGHTS_IN_WORDS true
#endif
#define ADD_IN_ORDER(i)                                                                                                \
  {                                                                                                                    \
    PART_TERMS(x, w, i);                                                                                               \
    ADD_PART(sums + (i)*RUN_PART, term);                                                                               \
    if (counts && OWN_WEIGHTS && WEIGHTS_IN_WORDS) ADD_PART(weights + (i)*RUN_PART, weight);                           \
  }

#ifdef COUNTED_IN_BYTES
typedef uint8_t NAME(bytes) __attribute__((vector_size(IN_ORDER_LANES)));

/* Adds 1 for each byte that is not 0. */
INLINE void NAME(count_bytes)(const uint8_t *at, uint8_t *counted) {
  NAME(bytes) x, n;
  LOAD_VECTOR(x, at);
  LOAD_VECTOR(n, counted);
  n -= (NAME(bytes))(x != 0);
  STORE_VECTOR(counted, n);
}

/* Adds what was counted in a tile to a word of its states. */
static inline void NAME(deposit_counted)(const ndr_tile *tile, int64_t lanes, const uint8_t *counted, uint64_t *word) {
  if (tile->fresh)
    EACH_LANE(word[l] = word_of((double)counted[l]))
  else
    EACH_LANE(word[l] = word_of(f64_of(word[l]) + (double)counted[l]))
}
#endif

/* The same as add_terms_by, row by row, IN_ORDER_LANES at a time, with accumulators in memory. `lanes` is a multiple of
 * these. A lane's words are NDR_WIDE_LANES apart. Weights that are counted in bytes go into `counted` instead. */
INLINE void NAME(add_in_order_by)(const ndr_tile *tile, int64_t lanes, uint64_t *words, uint8_t *counted,
                                  const bool counts, const bool row_factor) {
  const order_ahead ahead_x = ahead_in_order(tile, tile->row_stride, tile->ahead, sizeof(ELEMENT));
  const order_ahead ahead_w = ahead_in_order(tile, tile->factors_stride, tile->factors_ahead, sizeof(WEIGHT));
  const ELEMENT *row_x = tile->data;
  const WEIGHT *row_w = tile->factors;
  const int64_t rows = tile->rows, x_stride = tile->row_stride, w_stride = tile->factors_stride;
  double row_weights = 0;
  EACH_LANE(words[l] = word_of(0))
  if (counts && WEIGHTS_IN_WORDS) EACH_LANE(words[NDR_WIDE_LANES + l] = word_of(0))
  if (counts && !WEIGHTS_IN_WORDS) memset(counted, 0, (size_t)lanes);
  for (int64_t row = 0; row < rows; row++, row_x += x_stride, row_w += w_stride) {
    const order_ahead soon_x = ahead_of_row(ahead_x, row), soon_w = ahead_of_row(ahead_w, row);
    const WEIGHT first = *row_w;
    row_weights += (double)first;
    for (int64_t l = 0; l < lanes; l += IN_ORDER_LANES) {
      const ELEMENT *x = row_x + l;
      const WEIGHT *w = row_factor ? &first : row_w + l;
      uint64_t *sums = words + l, *weights = sums + NDR_WIDE_LANES;
      PREFETCH_IN_ORDER(x, l, IN_ORDER_LANES, soon_x)
      if (!row_factor) PREFETCH_IN_ORDER(w, l, IN_ORDER_LANES, soon_w)
#ifdef COUNTED_IN_BYTES
      if (counts) NAME(count_bytes)(w, counted + l);
#endif
      EIGHT_PARTS_AT_ONCE(ADD_IN_ORDER)
      (void)weights;
    }
  }
  if (counts && !OWN_WEIGHTS) EACH_LANE(words[NDR_WIDE_LANES + l] = word_of(row_weights))
  (void)row_weights;
}

/* Folds whole steps of IN_ORDER_LANES of a tile that is in_order, and returns how many lanes these are: 0 where it
 * would not be faster. */
static __attribute__((noinline)) int64_t NAME(fold_in_order)(const ndr_tile *tile, uint64_t *states, int64_t pitch,
                                                             const bool counts) {
  ALIGNED uint64_t words[2 * NDR_WIDE_LANES];
  ALIGNED uint8_t counted[NDR_WIDE_LANES];
  ndr_tile part = *tile;
  part.lanes = part.period = tile->lanes / IN_ORDER_LANES * IN_ORDER_LANES;
  /* A row of one step is read at once by the other loop, too; a few steps with a factor a row are as fast there. */
  if (tile->lanes < (HAS_ROW_FACTORS(tile) ? 8 : 2) * IN_ORDER_LANES) return 0;
  if (HAS_ROW_FACTORS(tile))
    NAME(add_in_order_by)(tile, part.lanes, words, counted, counts, true);
  else
    NAME(add_in_order_by)(tile, part.lanes, words, counted, counts, false);
  if (counts && WEIGHTS_IN_WORDS)
    deposit_from(join_add2, 2, &part, words, NDR_WIDE_LANES, states, pitch);
  else
    deposit_from(join_add, 1, &part, words, NDR_WIDE_LANES, states, pitch);
#ifdef COUNTED_IN_BYTES
  if (counts) NAME(deposit_counted)(tile, part.lanes, counted, states + pitch);
#endif
  return part.lanes;
}

/* `rest` becomes the tile of the lanes that are left. Small tiles are many, and a copy of each takes time. */
#define FOLD_IN_ORDER(counts)                                                                                          \
  const int64_t done = tile->in_order ? NAME(fold_in_order)(tile, states, pitch, counts) : 0;                          \
  ndr_tile after;                                                                                                      \
  const ndr_tile *rest = tile;                                                                                         \
  if (done == tile->lanes) return;                                                                                     \
  if (done) {                                                                                                          \
    after = lanes_after(tile, done, sizeof(ELEMENT), sizeof(WEIGHT));                                                  \
    rest = &after;                                                                                                     \
  }
#else
#define FOLD_IN_ORDER(counts)                                                                                          \
  const int64_t done = 0;                                                                                              \
  const ndr_tile *rest = tile;
#endif

static void NAME(sum)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  ALIGNED uint64_t words[2 * NDR_LANES];
  FOLD_IN_ORDER(false)
  NAME(add_terms)(rest, words, false);
  settle(join_add, 1, rest, words, states + done, pitch);
}

#ifdef MOMENTS
static void NAME(mean)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  ALIGNED uint64_t words[2 * NDR_LANES];
  FOLD_IN_ORDER(true)
  NAME(add_terms)(rest, words, true);
  settle(join_add2, 2, rest, words, states + done, pitch);
}

#define BEGIN_MOMENTS(i)                                                                                               \
  run_part o##i = {0}, m##i = {0}, q##i = {0}, c##i;                                                                   \
  LOAD_VECTOR(c##i, mean + l + (i)*RUN_PART);
#define ADD_MOMENTS(i)                                                                                                 \
  {                                                                                                                    \
    PART_TERMS(x, w, i);                                                                                               \
    const run_part u = value - c##i;                                                                                   \
    (void)term;                                                                                                        \
    o##i += weight * u;                                                                                                \
    m##i += weight * (u * u);                                                                                          \
    if (squares) q##i += weight * weight;                                                                              \
  }
#define STORE_MOMENTS(i)                                                                                               \
  STORE_VECTOR(words + l + (i)*RUN_PART, o##i);                                                                        \
  STORE_VECTOR(WORD(1) + l + (i)*RUN_PART, m##i);                                                                      \
  if (squares) STORE_VECTOR(WORD(2) + l + (i)*RUN_PART, q##i);
#define MOMENT_LANES(PARTS, width)                                                                                     \
  EACH_STEP(width, RUN_PART) {                                                                                         \
    const int64_t soon_x = tile->ahead, soon_w = tile->factors_ahead;                                                  \
    PARTS(BEGIN_MOMENTS)                                                                                               \
    for (int64_t row = 0; row < tile->rows; row++) {                                                                   \
      const ELEMENT *x = ROW(row) + l;                                                                                 \
      const WEIGHT *w = &WEIGHT_OF(WEIGHTS_OF(row), l);                                                                \
      PREFETCH_STEP(width)                                                                                             \
      PARTS(ADD_MOMENTS)                                                                                               \
    }                                                                                                                  \
    PARTS(STORE_MOMENTS)                                                                                               \
  }

/* Each lane's sums of weighted distances from `mean` and of their weighted squares and, with `squares`, of squared
 * weights. */
INLINE void NAME(add_distances_by)(const ndr_tile *tile, const double *restrict mean, uint64_t *restrict words,
                                   const bool squares, const bool row_factor) {
  const int64_t lanes = tile->lanes;
  int64_t done = 0;
#ifdef RUN_PART
  MOMENT_LANES(TWO_PARTS, 2 * RUN_PART)
  MOMENT_LANES(ONE_PART, RUN_PART)
#endif
  for (int64_t l = done; l < lanes; l++) words[l] = WORD(1)[l] = WORD(2)[l] = word_of(0);
  for (int64_t row = 0; done < lanes && row < tile->rows; row++) {
    const ELEMENT *restrict x = ROW(row);
    const WEIGHT *restrict w = WEIGHTS_OF(row);
    for (int64_t l = done; l < lanes; l++) {
      LANE_TERMS(x[l], WEIGHT_OF(w, l));
      const double u = value - mean[l];
      (void)term;
      words[l] = word_of(f64_of(words[l]) + weight * u);
      WORD(1)[l] = word_of(f64_of(WORD(1)[l]) + weight * (u * u));
      if (squares) WORD(2)[l] = word_of(f64_of(WORD(2)[l]) + weight * weight);
    }
  }
}

INLINE void NAME(add_distances)(const ndr_tile *tile, const double *restrict mean, uint64_t *restrict words,
                                const bool squares) {
  if (HAS_ROW_FACTORS(tile))
    NAME(add_distances_by)(tile, mean, words, squares, true);
  else
    NAME(add_distances_by)(tile, mean, words, squares, false);
}

/* Words 0 and on: the sum of weights, the weighted mean, the weighted squared distances from it, and with `squares` the
 * sum of squared weights. Two passes over the tile, which is in a cache: distances are taken from a mean that is
 * rounded, and then corrected by what they add up to, so that equal elements have no variance. */
INLINE void NAME(fold_moments)(const ndr_tile *tile, uint64_t *states, int64_t pitch, const bool squares) {
  ALIGNED uint64_t sums[2 * NDR_LANES], off[3 * NDR_LANES], words[4 * NDR_LANES];
  ALIGNED double mean[NDR_LANES];
  ndr_tile first = *tile;
  first.ahead = first.factors_ahead = 0; /* the second pass takes longer, and prefetches the next tile */
  NAME(add_terms)(&first, sums, true);
  collapse(join_add2, tile, sums);
  for (int64_t l = 0; l < tile->period; l++) {
    const double n = f64_of(sums[NDR_LANES + l]);
    mean[l] = n != 0 ? f64_of(sums[l]) / n : 0;
  }
  spread_outputs(tile, mean);
  NAME(add_distances)(tile, mean, off, squares);
  collapse(squares ? join_add3 : join_add2, tile, off);
  for (int64_t l = 0; l < tile->period; l++) {
    const double n = f64_of(sums[NDR_LANES + l]), u = f64_of(off[l]), m2 = f64_of(off[NDR_LANES + l]);
    const double left = m2 - (n != 0 ? u * (u / n) : 0);
    words[l] = word_of(n);
    WORD(1)[l] = word_of(n != 0 ? mean[l] + u / n : mean[l]);
    WORD(2)[l] = word_of(((n > 0) & (left < 0)) ? 0 : left);
    if (squares) WORD(3)[l] = off[2 * NDR_LANES + l];
  }
  deposit(squares ? join_moments_squares : join_moments, squares ? 4 : 3, tile, words, states, pitch);
}

static void NAME(moments)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  NAME(fold_moments)(tile, states, pitch, false);
}

static void NAME(moments_squares)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  NAME(fold_moments)(tile, states, pitch, true);
}
#undef BEGIN_MOMENTS
#undef ADD_MOMENTS
#undef STORE_MOMENTS
#undef MOMENT_LANES
#undef MOMENTS
#endif

#undef NAME
#undef LANE_TERMS
#undef PART_TERMS
#undef ROW_FACTORS
#undef WEIGHT_DEPENDS_ON_ELEMENT
#undef HAS_ROW_FACTORS
#undef OWN_WEIGHTS
#undef WEIGHTS_OF
#undef WEIGHT_OF
#undef BEGIN_SUM
#undef ADD_SUM
#undef STORE_SUM
#undef SUM_LANES
#undef IN_ORDER_LANES
#undef ADD_IN_ORDER
#undef WEIGHTS_IN_WORDS
#undef FOLD_IN_ORDER
#undef COUNTED_IN_BYTES
