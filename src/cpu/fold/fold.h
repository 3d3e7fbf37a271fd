/* The machine-dependent half of the fast families: micro-kernels that fold a tile of elements into states.
 *
 * A tile is `rows` rows of `lanes` contiguous elements. Every kernel works on lanes that do not depend on each other,
 * or, where a tile is one run and the result exact, on its elements in any order, so the compiler vectorises it for
 * whatever width the instruction set has, and all of them give the same bits. Lane l
 * belongs to output l % period. A period of `lanes` means a row of outputs, a period of 1 a run of one output, and a
 * period of 3 the three channels of an image.
 *
 * Tiles are small (a kernel sums at most NDR_ROWS elements one after another), so accumulation is blockwise. */
#ifndef NDR_CPU_FOLD_FOLD_H
#define NDR_CPU_FOLD_FOLD_H

#include "core/state.h"

#define NDR_LANES 1024 /* the most lanes of a tile: their accumulators stay in the first-level cache */
/* The same where ndr_tile.in_order. */
#define NDR_WIDE_LANES 2048
/* The most rows, but of tiles for `across` and `along`: 8 bits count them, and 16 bits hold their sum of 8-bit
 * elements. */
#define NDR_ROWS 255
/* Bytes behind gathered or converted elements that kernels may read: more than half a register of any instruction set.
 */
#define NDR_SPARE_BYTES 64

typedef struct ndr_tile {
  const void *data;
  const void *factors;    /* only kernels of masked.h, factors.h and compare.h look at it */
  int64_t factors_stride; /* its row_stride */
  int64_t factors_ahead;  /* its `ahead` */
  bool row_factors;       /* all lanes of a row have the row's first factor; only kernels of weights look at it, and in
                           * tiles that are in_order those of compare.h */
  bool in_order; /* the tile, whose lanes are outputs, is to be read row by row, which is the order of memory; only
                  * kernels of factors.h, but not those of moments, and of compare.h look at it, for the same bits */
  int64_t lanes, rows;
  int64_t row_stride;     /* in elements; may be negative */
  const int32_t *rows_at; /* not NULL: row r is rows_at[r] * row_stride elements from the first, which is not a row; its
                           * lanes are outputs. At least rows_ahead numbers of rows follow those of the tile. */
  int64_t spare;          /* elements behind the last lane of each row that may be read; they do not enter results */
  int64_t lane_stride;    /* only kernels of `across` and `along` look at it: to the others lanes are contiguous */
  int64_t period;         /* divides lanes */
  /* The flattened index of lane l in row r is index + r * index_row + l / period * index_lane, index_row >= 0. */
  int64_t index, index_row, index_lane;
  /* With row r is prefetched row r + rows_ahead or, past the last, row r + rows_ahead - rows of the tile that begins
   * `ahead` bytes after this one; nothing if both are 0. With rows_at, and if ahead is 0, past the last are the rows
   * that follow in rows_at. 0 <= rows_ahead <= rows. Kernels of factors.h and compare.h look at `ahead` alone: 0 is
   * nothing. */
  int64_t rows_ahead, ahead;
  bool reread; /* several kernels read the tile: those of factors.h and compare.h prefetch what lies `ahead` and
                * factors_ahead bytes after each element */
  bool cached; /* the elements were just written, and are in a cache */
  bool in_f64; /* no sum may be formed in f32 */
  bool fresh;  /* states hold nothing yet: store the tile's states instead of merging them */
} ndr_tile;

/* The address of a row of elements of `bytes` bytes. */
static inline const char *ndr_row_at(const ndr_tile *tile, int64_t row, int64_t bytes) {
  int64_t at = tile->rows_at ? tile->rows_at[row] : row;
  return (const char *)tile->data + at * tile->row_stride * bytes;
}

/* Prefetches `bytes` bytes. Inlined, as all that only prefetches: GCC 12 takes such functions for pure, and leaves out
 * calls of them. */
static inline __attribute__((always_inline)) void ndr_prefetch(const char *first, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(first + at);
}

/* The address of what is prefetched with a row. Rows that a table names go on in the table, unless other lanes of them
 * are the next tile. */
static inline const char *ndr_row_ahead(const ndr_tile *tile, int64_t row, int64_t bytes) {
  int64_t later = row + tile->rows_ahead;
  return later < tile->rows || (tile->rows_at && tile->ahead == 0)
             ? ndr_row_at(tile, later, bytes)
             : ndr_row_at(tile, later - tile->rows, bytes) + tile->ahead;
}

/* Folds a tile into `period` states. */
typedef void ndr_fold(const ndr_tile *tile, uint64_t *states, int64_t pitch);

/* Rows of a tile that belong to one group, at most NDR_ROWS. They follow those of the run before in an order, which
 * lists places of rows; where step is not 0, each is that much behind the one before. */
typedef struct ndr_label_run {
  int32_t group, count, step;
} ndr_label_run;

/* Rows of a tile, by group; lanes are outputs. With `runs`: `count` runs, whose rows follow one another in `order`.
 * Without: the rows order[0] to order[count - 1], row i of group group[i]. Eight lanes are loaded at a time, so that up
 * to seven elements behind a row are read, and enter states that nobody uses. The states of group g begin at
 * states[g * apart]. */
typedef struct ndr_row_lists {
  const ndr_label_run *runs;
  int64_t count;
  const int32_t *order, *group;
  int64_t apart;
} ndr_row_lists;

/* Folds all of them, each into the states of its group. */
typedef void ndr_fold_lists(const ndr_tile *tile, const ndr_row_lists *lists, uint64_t *states, int64_t pitch);

/* Folds a tile whose rows are contiguous labels (row_stride 1), each into the states of its group. Row i is of group
 * group[i]; where eight rows from a multiple of eight on are all of group g, the first of these entries may be ~g, and
 * the eight are then folded at once. Eight lanes are folded at a time: where fewer are left, the last one also enters
 * states that nobody uses. The states of group g begin at states[g * apart]. Of means only the sums are folded: the
 * caller counts labels. */
typedef void ndr_fold_turned(const ndr_tile *tile, const int32_t *group, int64_t apart, uint64_t *states);

/* into[j] = combine(into[j], from[j]): ndr_state_merge for contiguous states. */
typedef void ndr_join(uint64_t *into, int64_t into_pitch, const uint64_t *from, int64_t from_pitch, int64_t count);

/* Gathers a tile from memory of any strides into dense rows. What lies `ahead` bytes later is prefetched; 0: nothing.
 */
typedef void ndr_gather(const void *from, int64_t row_stride, int64_t lane_stride, void *to, int64_t rows,
                        int64_t lanes, int64_t ahead);

/* The fewest contiguous elements of a lane that are transposed as a square of 16 bytes faster than one by one. */
#define NDR_LEAST_SQUARE_ROWS(bytes) ((bytes) < 4 ? 4 / (bytes) + 1 : 2)

/* Transposes long rows of contiguous elements, one for each lane, into dense rows of lanes. */
typedef void ndr_turn(const void *from, int64_t lane_stride, void *to, int64_t rows, int64_t lanes);

/* Converts contiguous elements. */
typedef void ndr_convert(const void *from, void *to, int64_t count);

/* An instruction of a program: out[l] from a[l], b[l] and c[l]. HORNER_k reads c[0] to c[k - 1] for every l. */
typedef void ndr_step(const void *a, const void *b, const void *c, void *out, int64_t count);

/* Instructions have the numbers of nodes. SCALE multiplies complex numbers by real ones. MULTIPLY_ADD is a * b + c.
 * HORNER_k is k steps of Horner's rule: v = a, then v = v * b + c[0], ... v * b + c[k - 1]. Each product and each sum
 * is rounded. */
#define NDR_EACH_HORNER(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8)
#define NDR_HORNER_ENUMERATOR(k) NDR_STEP_HORNER_##k,
enum {
  NDR_STEP_SCALE = NDR_NODE_SELECT + 1,
  NDR_STEP_MULTIPLY_ADD,
  NDR_EACH_HORNER(NDR_HORNER_ENUMERATOR) NDR_STEP_COUNT
};
#undef NDR_HORNER_ENUMERATOR

/* What the kernels of factors.h fold. */
typedef enum ndr_factors {
  NDR_FACTORS_SUM,
  NDR_FACTORS_MEAN,    /* the sums of terms and of weights */
  NDR_FACTORS_MOMENTS, /* of weighted elements */
  NDR_FACTORS_SQUARES, /* the same with the sum of squared weights */
  NDR_FACTORS_COUNT
} ndr_factors;

/* The dtypes of elements and of their weights. */
typedef enum ndr_weight_dtypes {
  NDR_WEIGHT_F32_F32,
  NDR_WEIGHT_F32_F64,
  NDR_WEIGHT_F64_F64,
  NDR_WEIGHT_DTYPES_COUNT
} ndr_weight_dtypes;

/* How an element compares with its factor. */
typedef enum ndr_compare {
  NDR_COMPARE_LESS,
  NDR_COMPARE_LESS_EQUAL,
  NDR_COMPARE_GREATER,
  NDR_COMPARE_GREATER_EQUAL,
  NDR_COMPARE_EQUAL,
  NDR_COMPARE_UNEQUAL,
  NDR_COMPARE_COUNT
} ndr_compare;

typedef struct ndr_isa {
  const char *name;
  /* NULL where op folds another dtype than the array's: see ndr_fold_dtype. */
  ndr_fold *fold[2][NDR_DTYPE_COUNT][NDR_OP_COUNT]; /* [skip_nan][dtype][op] */
  /* Folds the array's elements where rows are contiguous (row_stride 1) and lanes are not: each lane is an output with
   * a run of its own, and eight lanes are folded at a time. NULL where there is none; NaN elements count. */
  ndr_fold *across[NDR_DTYPE_COUNT][NDR_OP_COUNT]; /* [dtype][op] */
  /* The same, one lane after the other, for long runs along which indices grow (index_row > 0). */
  ndr_fold *along[NDR_DTYPE_COUNT][NDR_OP_COUNT];
  /* NULL where there is none; NaN elements count. */
  ndr_fold_lists *listed[NDR_DTYPE_COUNT][NDR_OP_COUNT];  /* [dtype][op] */
  ndr_fold_turned *turned[NDR_DTYPE_COUNT][NDR_OP_COUNT]; /* where `listed` has one */
  ndr_gather *gather[5];                                  /* by log2 of the element's bytes */
  ndr_turn *turn[5];                                      /* the same; NULL: there is none */
  ndr_convert *convert[NDR_DTYPE_COUNT][NDR_DTYPE_COUNT]; /* [from][to] */
  /* [number][dtype of the operands; of SELECT, of the values]. Bool is 0 or 1. NULL where there is none. */
  ndr_step *step[NDR_STEP_COUNT][NDR_DTYPE_COUNT];
  ndr_fold *weighted[2][NDR_WEIGHT_DTYPES_COUNT][NDR_FACTORS_COUNT]; /* [skip_nan][dtypes], `factors` being weights */
  /* Kernels of f32 and f64, `factors` being bytes that are 0 where an element does not count. */
  ndr_fold *masked[NDR_DTYPE_COUNT][NDR_FACTORS_COUNT];
  bool reads_in_order; /* kernels of factors.h and compare.h take tiles that are in_order */
  /* The sum of element * factor, each product rounded to the dtype. */
  ndr_fold *product[NDR_DTYPE_COUNT];
  /* The sum of (element - factor)^2; both the difference and its square are rounded to the dtype. */
  ndr_fold *squared_difference[NDR_DTYPE_COUNT];
  ndr_fold *count_compared[NDR_DTYPE_COUNT][NDR_COMPARE_COUNT]; /* how many elements compare so with their factor */
  /* Weighted moments of c128, `factors` being f64 weights: [with the sum of squared weights]. */
  ndr_fold *complex_moments[2];
  /* argmin and argmax, `factors` being bytes that are 0 where an element does not count: [largest][dtype]. */
  ndr_fold *masked_argument[2][NDR_DTYPE_COUNT];
  ndr_join *(*join)(const ndr_state *state);
  /* ndr_state_finish with loops that vectorise for the common results. */
  void (*finish)(const ndr_state *state, const uint64_t *states, int64_t pitch, int64_t step, int64_t count,
                 void *result, int64_t result_step);
} ndr_isa;

/* NULL if the build does not compile for the instruction set. */
extern const ndr_isa *const ndr_isa_baseline, *const ndr_isa_avx2, *const ndr_isa_avx512;

/* The widest instruction set that this machine has, or what NDR_CPU_ISA in the environment names. */
const ndr_isa *ndr_isa_here(void);

/* The dtype that elements are converted to before op folds them. It holds them exactly, except 64-bit integers, and its
 * kernels are exact enough for the result. Only logsumexp computes in less than f64. */
ndr_dtype ndr_fold_dtype(ndr_op op, ndr_dtype dtype, bool accumulate_f64);

/* Whether there are kernels of fold/across/listed.h and fold/across/turned.h. */
bool ndr_op_is_listed(ndr_op op, ndr_dtype dtype);

#endif
