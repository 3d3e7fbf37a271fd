/* Template: counts the elements x for which a comparison with their factor holds, x < w or another. Counts are
 * exact, so their order is free. From
 *   NAME(comparison) how its functions are called
 *   ELEMENT          the type of tile->data and tile->factors
 *   COUNT            a signed integer type of the same size, which holds a tile's rows
 *   BITS(a, b, how)  only with AVX-512: a mask of the lanes of two registers for which the comparison `how` holds
 *   COUNT_BITS       only with AVX-512: adds the masks of four pairs of registers to counts in bytes */
#ifdef RUN_PART
#define PART (RUN_PART * 8 / (int64_t)sizeof(ELEMENT)) /* lanes of a register */
typedef ELEMENT NAME(elements) __attribute__((vector_size(RUN_PART * 8)));
typedef COUNT NAME(counts) __attribute__((vector_size(RUN_PART * 8)));

#define BEGIN_COUNT(i) NAME(counts) n##i = {0};
#define STORE_COUNT(i) STORE_VECTOR(counts + l + (i)*PART, n##i);
#define COUNT_PART(i, how)                                                                                             \
  {                                                                                                                    \
    NAME(elements) a, b;                                                                                               \
    LOAD_VECTOR(a, x + (i)*PART);                                                                                      \
    LOAD_VECTOR(b, w + (i)*PART);                                                                                      \
    n##i -= (NAME(counts))(a how b);                                                                                   \
  }
#define COUNT_LESS(i) COUNT_PART(i, <)
#define COUNT_LESS_EQUAL(i) COUNT_PART(i, <=)
#define COUNT_GREATER(i) COUNT_PART(i, >)
#define COUNT_GREATER_EQUAL(i) COUNT_PART(i, >=)
#define COUNT_EQUAL(i) COUNT_PART(i, ==)
#define COUNT_UNEQUAL(i) COUNT_PART(i, !=)
#define COUNT_LANES(PARTS, width, ADD)                                                                                 \
  EACH_STEP(width, PART) {                                                                                             \
    FIND_AHEAD(width, ELEMENT, ELEMENT)                                                                                \
    PARTS(BEGIN_COUNT)                                                                                                 \
    for (int64_t row = 0; row < tile->rows; row++) {                                                                   \
      const ELEMENT *x = ROW(row) + l, *w = (const ELEMENT *)tile->factors + row * tile->factors_stride + l;           \
      PREFETCH_STEP(width)                                                                                             \
      PARTS(ADD)                                                                                                       \
    }                                                                                                                  \
    PARTS(STORE_COUNT)                                                                                                 \
  }
#ifdef BITS
/* A byte can count a tile's rows, NDR_ROWS at most. Counts in bytes are a quarter or an eighth of the memory that is
 * loaded and stored with each row. */
#define COUNTER uint8_t
#define BITS_OF(i, how)                                                                                                \
  BITS(VECTOR_AT(const NAME(elements), x + (i)*PART), VECTOR_AT(const NAME(elements), w + (i)*PART), how)
#define ADD_COUNTS(ADD, how) COUNT_BITS(counts + l, BITS_OF(0, how), BITS_OF(1, how), BITS_OF(2, how), BITS_OF(3, how));
#else
#define COUNTER COUNT
#define LOAD_COUNT(i)                                                                                                  \
  NAME(counts) n##i;                                                                                                   \
  LOAD_VECTOR(n##i, counts + l + (i)*PART);
#define ADD_COUNTS(ADD, how)                                                                                           \
  FOUR_PARTS(LOAD_COUNT)                                                                                               \
  FOUR_PARTS(ADD)                                                                                                      \
  FOUR_PARTS(STORE_COUNT)
#endif
/* The same row by row, with accumulators in memory, for a tile that is in_order. */
#define COUNT_IN_ORDER(ADD, how)                                                                                       \
  const order_ahead ahead_x = ahead_in_order(tile, tile->row_stride, tile->ahead, sizeof(ELEMENT));                    \
  const order_ahead ahead_w = ahead_in_order(tile, tile->factors_stride, tile->factors_ahead, sizeof(ELEMENT));        \
  const int64_t rows = tile->rows;                                                                                     \
  const bool row_factor = tile->row_factors;                                                                           \
  const int64_t x_stride = tile->row_stride, w_stride = tile->factors_stride;                                          \
  const ELEMENT *row_x = tile->data, *row_w = tile->factors;                                                           \
  for (int64_t row = 0; row < rows; row++, row_x += x_stride, row_w += w_stride) {                                     \
    const order_ahead soon_x = ahead_of_row(ahead_x, row), soon_w = ahead_of_row(ahead_w, row);                        \
    for (int64_t l = 0; l < lanes; l += 4 * PART) {                                                                    \
      const ELEMENT *x = row_x + l, *w = row_w + (row_factor ? 0 : l);                                                 \
      PREFETCH_IN_ORDER(x, l, 4 * PART, soon_x)                                                                        \
      if (!row_factor) PREFETCH_IN_ORDER(w, l, 4 * PART, soon_w)                                                       \
      ADD_COUNTS(ADD, how)                                                                                             \
    }                                                                                                                  \
  }
#define COUNT_WIDE(name, ADD, how)                                                                                     \
  /* Folds whole steps of four parts, and returns how many lanes these are: 0 where it would not be faster. */         \
  static __attribute__((noinline)) int64_t NAME(name##_in_order)(const ndr_tile *tile, uint64_t *states,               \
                                                                 int64_t pitch) {                                      \
    ALIGNED COUNTER counts[NDR_WIDE_LANES];                                                                            \
    ALIGNED uint64_t words[NDR_WIDE_LANES];                                                                            \
    const int64_t lanes = tile->lanes / (4 * PART) * (4 * PART);                                                       \
    ndr_tile part = *tile;                                                                                             \
    part.lanes = part.period = lanes;                                                                                  \
    if (lanes < 8 * PART) return 0;                                                                                    \
    EACH_LANE(counts[l] = 0)                                                                                           \
    COUNT_IN_ORDER(ADD, how)                                                                                           \
    EACH_LANE(words[l] = (uint64_t)counts[l])                                                                          \
    deposit_from(join_add_int, 1, &part, words, NDR_WIDE_LANES, states, pitch);                                        \
    return lanes;                                                                                                      \
  }
#define FOLD_WIDE(name)                                                                                                \
  const int64_t folded = whole->in_order ? NAME(name##_in_order)(whole, states, pitch) : 0;                            \
  ndr_tile after;                                                                                                      \
  const ndr_tile *tile = whole;                                                                                        \
  if (folded == whole->lanes) return;                                                                                  \
  if (folded) {                                                                                                        \
    after = lanes_after(whole, folded, sizeof(ELEMENT), sizeof(ELEMENT));                                              \
    tile = &after;                                                                                                     \
  }
#define COUNT_REGISTERS(ADD)                                                                                           \
  COUNT_LANES(FOUR_PARTS, 4 * PART, ADD)                                                                               \
  COUNT_LANES(TWO_PARTS, 2 * PART, ADD)                                                                                \
  COUNT_LANES(ONE_PART, PART, ADD)
#else
#define COUNT_REGISTERS(ADD)
#define COUNT_WIDE(name, ADD, how)
#define FOLD_WIDE(name)                                                                                                \
  const int64_t folded = 0;                                                                                            \
  const ndr_tile *tile = whole;
#endif

#define COMPARE(name, ADD, how, bits)                                                                                  \
  COUNT_WIDE(name, ADD, bits)                                                                                          \
  static void NAME(name)(const ndr_tile *whole, uint64_t *states, int64_t pitch) {                                     \
    FOLD_WIDE(name)                                                                                                    \
    const int64_t lanes = tile->lanes;                                                                                 \
    ALIGNED COUNT counts[NDR_LANES];                                                                                   \
    ALIGNED uint64_t words[NDR_LANES];                                                                                 \
    int64_t done = 0;                                                                                                  \
    COUNT_REGISTERS(ADD)                                                                                               \
    for (int64_t l = done; l < lanes; l++) counts[l] = 0;                                                              \
    for (int64_t row = 0; done < lanes && row < tile->rows; row++) {                                                   \
      const ELEMENT *x = ROW(row), *w = (const ELEMENT *)tile->factors + row * tile->factors_stride;                   \
      for (int64_t l = done; l < lanes; l++) counts[l] += x[l] how w[l];                                               \
    }                                                                                                                  \
    EACH_LANE(words[l] = (uint64_t)counts[l])                                                                          \
    settle(join_add_int, 1, tile, words, states + folded, pitch);                                                      \
  }
COMPARE(less, COUNT_LESS, <, _CMP_LT_OQ)
COMPARE(less_equal, COUNT_LESS_EQUAL, <=, _CMP_LE_OQ)
COMPARE(greater, COUNT_GREATER, >, _CMP_GT_OQ)
COMPARE(greater_equal, COUNT_GREATER_EQUAL, >=, _CMP_GE_OQ)
COMPARE(equal, COUNT_EQUAL, ==, _CMP_EQ_OQ)
COMPARE(unequal, COUNT_UNEQUAL, !=, _CMP_NEQ_UQ)

#undef NAME
#undef ELEMENT
#undef COUNT
#undef PART
#undef BEGIN_COUNT
#undef STORE_COUNT
#undef COUNT_PART
#undef COUNT_LESS
#undef COUNT_LESS_EQUAL
#undef COUNT_GREATER
#undef COUNT_GREATER_EQUAL
#undef COUNT_EQUAL
#undef COUNT_UNEQUAL
#undef COUNT_LANES
#undef LOAD_COUNT
#undef COUNTER
#undef BITS
#undef COUNT_BITS
#undef BITS_OF
#undef ADD_COUNTS
#undef COUNT_IN_ORDER
#undef COUNT_WIDE
#undef FOLD_WIDE
#undef COUNT_REGISTERS
#undef COMPARE
