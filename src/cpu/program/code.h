/* Compiles programs for the fast families.
 *
 * A block of a tile's places, rows x lanes, is taken in strips of a few hundred elements. For each strip a program's
 * instructions run one after the other; each is a loop of fold/step/step.h over registers of a strip's length, which
 * stay in the first-level cache. What is folded is written to a tile of the block's size, and the kernels of
 * fold/fold.h then fold these tiles as they fold those of arrays. So the states are those of built-in operators, and `s
 * += x` is `sum`.
 *
 * Where a part has a mask, elements that it leaves out are replaced by what its operator ignores: 0 for sums, 1 for
 * products, the limits for minima and maxima, and NaN under skip_nan. The operators that ignore nothing have kernels of
 * their own (fold/factors/masked.h). So have the commonest folds of f32 and f64 (fold/factors/factors.h,
 * fold/factors/compare.h): with weights or a mask, sums whose last instruction is a product, sums of squared
 * differences, and counts of comparisons. They read two arrays or tiles at once, and nothing is written in between.
 * Values that do not depend on elements are computed once for each thread. */
#ifndef NDR_CPU_CODE_H
#define NDR_CPU_CODE_H

#include "cpu/fold/fold.h"

#define NDR_STRIP 512 /* elements of a register over arrays */
#define NDR_MOST_VALUES 768
#define NDR_MOST_CODE_FOLDS (2 * NDR_MOST_PARTS)

typedef enum ndr_value_kind {
  NDR_VALUE_ARRAY,    /* elements of array `number`, as they are stored */
  NDR_VALUE_CONSTANT, /* `bits` */
  NDR_VALUE_INDEX,    /* place index `number` */
  NDR_VALUE_CONVERT,  /* a, whose dtype is `from` */
  NDR_VALUE_STEP,     /* the instruction step[number][from] of a, b and c */
  NDR_VALUE_LIST      /* `number` constants: those of a, another list or a single one, and b behind them */
} ndr_value_kind;

typedef enum ndr_value_place { NDR_IN_ARRAY, NDR_IN_REGISTER, NDR_IN_TILE } ndr_value_place;

/* A value of every element, or (LIST) a few constants at the beginning of a register. a, b and c are earlier values
 * unless the kind says otherwise; -1 where not used. */
typedef struct ndr_value {
  uint8_t kind;        /* ndr_value_kind */
  uint8_t from, dtype; /* ndr_dtype; dtype is never f16 or bf16, except of arrays */
  uint8_t place;       /* ndr_value_place; place, last, next, used, offset and room are set once all values are there */
  int16_t number, a, b, c;
  int16_t last; /* the last value that uses it; 0: none */
  int16_t next; /* of a value that is computed for each strip: the next one that is; 0: none */
  bool constant, used;
  int64_t offset; /* bytes to it in the memory of its place */
  int64_t room;   /* elements there */
  uint64_t bits;  /* of a constant; complex ones have no imaginary part */
} ndr_value;

/* One kernel over one value's tile. */
typedef struct ndr_code_fold {
  ndr_fold *fold;
  int value, factors;                    /* factors: weights, a mask or factors, for kernels of two arrays; else -1 */
  bool indexed;                          /* rows must ascend by index */
  bool takes_row_factors;                /* its kernel looks at ndr_tile.row_factors */
  bool in_order;                         /* its kernel looks at ndr_tile.in_order */
  bool last_reader, last_factors_reader; /* no fold of two arrays behind it reads its value, or its factors */
  int words_before;                      /* words of the program's state before those that it folds into */
} ndr_code_fold;

typedef struct ndr_code {
  int value_count, fold_count;
  bool overflows;             /* there are more values than fit, or one that no instruction computes */
  unsigned arrays;            /* bit a: array a is read */
  unsigned row_factor_arrays; /* bit a: array a is only read as factors, by folds that take one for each row */
  bool runs_strips;           /* some value has to be computed, or found, for each strip */
  int first;                  /* the first value that is computed for each strip; 0: none */
  bool rereads;               /* a kernel reads what it folds twice, or several kernels read arrays */
  bool shares;                /* several kernels read arrays */
  ndr_code_fold folds[NDR_MOST_CODE_FOLDS];
  int64_t strip;                      /* the most elements of a strip */
  int64_t register_bytes, tile_bytes; /* memory of a thread */
  ndr_value values[];                 /* NDR_MOST_VALUES while it is made */
} ndr_code;

/* Makes the code of a program's parts, except those that are folded as built-in operators are. `state` is the
 * program's, and room is for NDR_MOST_VALUES values. accumulate_f64 is the problem's. Values have no places yet. */
void ndr_code_make(ndr_code *code, const ndr_isa *isa, const ndr_state *state, ndr_dtype array, bool accumulate_f64);

/* Adds values. Each returns the value's number; an equal one is not added again. If there is no room, or no instruction
 * computes the value, it returns 0, and the code `overflows`. */
int ndr_code_add(ndr_code *code, ndr_value value);
int ndr_code_constant(ndr_code *code, ndr_dtype dtype, double real, int64_t integer);
int ndr_code_convert(ndr_code *code, const ndr_isa *isa, int value, ndr_dtype dtype);
int ndr_code_step(ndr_code *code, const ndr_isa *isa, int number, ndr_dtype dtype, int a, int b, int c);

/* The values of a program's nodes, which a part's value, mask or weight needs. */
void ndr_code_nodes(ndr_code *code, const ndr_isa *isa, const ndr_program *program, const bool *wanted, int *values);

/* The values of the nodes that a program's result needs, computed in the types of totals: array p is then the totals of
 * part p. */
void ndr_code_result_nodes(ndr_code *code, const ndr_isa *isa, const ndr_program *program, int *values);

/* Sets `used`, `last` and `next` of values, which folds are the last readers, and the code's arrays, row_factor_arrays,
 * runs_strips, first, rereads and shares, once values and folds are there. */
void ndr_code_mark(ndr_code *code);

/* Gives marked values their places: what is folded a tile of `block` elements, others registers. A constant that is a
 * factor of folds only has a row of `lanes` elements, which all rows share. */
void ndr_code_place(ndr_code *code, int64_t block, int64_t lanes);

/* Adds the folds of a part. */
void ndr_code_part(ndr_code *code, const ndr_isa *isa, const ndr_program *program, const ndr_state *state, int part,
                   const int *values, bool accumulate_f64);

/* ---- running ---- */

/* Memory of a thread for one code. */
typedef struct ndr_code_memory {
  char *registers, *tiles;
} ndr_code_memory;

/* `count` elements of a block from `at` on, in the order of its rows, and where they are in each array. */
typedef struct ndr_strip {
  int64_t at, count;
  const char *elements[NDR_MOST_PARTS > NDR_MOST_ARRAYS ? NDR_MOST_PARTS : NDR_MOST_ARRAYS];
} ndr_strip;

/* Where a value of the strip is. */
char *ndr_code_where(const ndr_value *value, const ndr_code_memory *memory, const ndr_strip *strip);

/* Computes what does not depend on elements; then, for each strip, the rest. Place indices are the caller's to write.
 */
void ndr_code_begin(const ndr_isa *isa, const ndr_code *code, const ndr_code_memory *memory);
void ndr_code_run(const ndr_isa *isa, const ndr_code *code, const ndr_code_memory *memory, const ndr_strip *strip);

/* Writes `count` copies of one element. */
void ndr_code_fill(const void *from, int64_t bytes, int64_t count, void *to);

/* ndr_state_finish in loops that vectorise. */
void ndr_finish(const ndr_isa *isa, const ndr_state *state, const uint64_t *states, int64_t pitch, int64_t step,
                int64_t count, void *result, int64_t result_step);

#endif
