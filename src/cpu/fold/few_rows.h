/* Template: a few rows joined in a tree while their elements are in registers. A core has more rows' cache lines on
 * their way than where it goes on to the next accumulator with each row. From
 *   ELEMENT        the element type
 *   FEW(rows)      how the functions for 1, 2, 4, 8 and 16 rows are called; FEW(few) calls the one for the most of them
 *                  that there are, and returns how many it took
 *   PARTIAL        the type of what a few rows join to
 *   WIDE_OF(x)     an element as PARTIAL
 *   MEET(a, b)     two of them joined
 *   PART_OF(at)    a register of elements from an address on, as PARTIAL; where it is not defined, compilers vectorise
 * FEW and MEET are undefined at the end. */

/* Four addresses reach sixteen rows. Without them GCC 12 computes one for each row and step, and fewer loads are on
 * their way at once. */
#define ADDRESS(k) (fourth[(k) / 4] + (k) % 4 * stride + l)
#define AT(k) WIDE_OF(*ADDRESS(k))
#define TREE_1(X, k) X(k)
#define TREE_2(X, k) MEET(X(k), X(k + 1))
#define TREE_4(X, k) MEET(TREE_2(X, k), TREE_2(X, k + 2))
#define TREE_8(X, k) MEET(TREE_4(X, k), TREE_4(X, k + 4))
#define TREE_16(X, k) MEET(TREE_8(X, k), TREE_8(X, k + 8))

#ifdef PART_OF
#define PART_AT(k) PART_OF(ADDRESS(k))
/* The last lanes overlap those before. */
#define PARTS(rows)                                                                                                    \
  for (const int64_t each = sizeof(PART_OF(at)) / sizeof *sums; l < lanes && lanes >= each;) {                         \
    if (l + each > lanes) l = lanes - each;                                                                            \
    const __typeof__(PART_OF(at)) sum = TREE_##rows(PART_AT, 0);                                                       \
    memcpy(sums + l, &sum, sizeof sum);                                                                                \
    l += each;                                                                                                         \
  }
#else
#define PARTS(rows)
#endif

#define FEW_ROWS(rows)                                                                                                 \
  static void FEW(rows)(const ELEMENT *restrict at, int64_t stride, int64_t lanes, PARTIAL *restrict sums) {           \
    const ELEMENT *const fourth[] = {at, at + (rows > 4) * 4 * stride, at + (rows > 8) * 8 * stride,                   \
                                     at + (rows > 8) * 12 * stride};                                                   \
    int64_t l = 0;                                                                                                     \
    PARTS(rows)                                                                                                        \
    for (; l < lanes; l++) sums[l] = TREE_##rows(AT, 0);                                                               \
  }
FEW_ROWS(1)
FEW_ROWS(2)
FEW_ROWS(4)
FEW_ROWS(8)
FEW_ROWS(16)

static inline int64_t FEW(few)(const ELEMENT *at, int64_t stride, int64_t lanes, int64_t rows, PARTIAL *sums) {
  if (rows >= 16) return FEW(16)(at, stride, lanes, sums), 16;
  if (rows >= 8) return FEW(8)(at, stride, lanes, sums), 8;
  if (rows >= 4) return FEW(4)(at, stride, lanes, sums), 4;
  if (rows >= 2) return FEW(2)(at, stride, lanes, sums), 2;
  return FEW(1)(at, stride, lanes, sums), 1;
}

#undef ADDRESS
#undef AT
#undef TREE_1
#undef TREE_2
#undef TREE_4
#undef TREE_8
#undef TREE_16
#undef PART_AT
#undef PARTS
#undef FEW_ROWS
#undef FEW
#undef MEET
