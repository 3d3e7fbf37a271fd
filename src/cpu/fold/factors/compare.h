/* Template: counts the elements x for which a comparison with their factor holds, x < w or another. Counts are
 * exact, so their order is free. From
 *   NAME(comparison) how its functions are called
 *   ELEMENT          the type of tile->data and tile->factors
 *   COUNT            a signed integer type of the same size, which holds a tile's rows */
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
#define COUNT_REGISTERS(ADD)                                                                                           \
  COUNT_LANES(FOUR_PARTS, 4 * PART, ADD)                                                                               \
  COUNT_LANES(TWO_PARTS, 2 * PART, ADD)                                                                                \
  COUNT_LANES(ONE_PART, PART, ADD)
#else
#define COUNT_REGISTERS(ADD)
#endif

#define COMPARE(name, ADD, how)                                                                                        \
  static void NAME(name)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {                                      \
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
    settle(join_add_int, 1, tile, words, states, pitch);                                                               \
  }
COMPARE(less, COUNT_LESS, <)
COMPARE(less_equal, COUNT_LESS_EQUAL, <=)
COMPARE(greater, COUNT_GREATER, >)
COMPARE(greater_equal, COUNT_GREATER_EQUAL, >=)
COMPARE(equal, COUNT_EQUAL, ==)
COMPARE(unequal, COUNT_UNEQUAL, !=)

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
#undef COUNT_REGISTERS
#undef COMPARE
