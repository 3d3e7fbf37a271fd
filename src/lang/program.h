/* Programs: what operators do that read more than the elements of one array, or compute with them first.
 *
 * A program computes values from the elements at one place of the problem's arrays, folds each value by a built-in
 * operator (a part), and computes the result from the totals of its parts:
 *
 *   rmse(x, y): s += (x - y)**2, n += 1 -> sqrt(s / n)      parts: sum of (x - y)**2, sum of 1
 *   mean of x, where m                                      part: mean of x where m; the result is the part's own
 *
 * An operator of one's own is a program, and so is a built-in operator that has a mask, weights or an initial value.
 * Its state is the states of its parts, one after the other (core/state.h), so that backends and accumulators merge
 * parts as they merge built-in operators.
 *
 * Nodes are a list in which operands stand before what uses them, and equal nodes stand once. Both operands of an
 * arithmetic node have the node's dtype, both of a comparison have one dtype: conversions are nodes.
 *
 * Values. bool is 0 or 1. Integers wrap to their dtype after every node. f16 and bf16 are computed as f32 and not
 * rounded in between; f32 and f64 are rounded after every node (no fused multiply-add); c64 as pairs of f32 or wider,
 * c128 as pairs of f64. Nodes of the result are computed in the types of totals: floats in f64, complex in pairs of
 * f64, integers in 64 bits; the last value is rounded once to result_dtype. lang/evaluate.c is the definition. */
#ifndef NDR_LANG_PROGRAM_H
#define NDR_LANG_PROGRAM_H

#include "core/own_ops.h"

enum {
  NDR_MOST_NODES = 256,
  NDR_MOST_PARTS = 8,
  NDR_MOST_ARRAYS = 1 + NDR_MAX_OPERANDS /* the problem's array, then its operands */
};

/* a, b and c are numbers of nodes unless a comment says otherwise. */
typedef enum ndr_node_kind {
  NDR_NODE_ARRAY,     /* the element of array a: 0 is the problem's array, k its operand k - 1 */
  NDR_NODE_INDEX,     /* the index of the place along dim a of the whole array; i64 */
  NDR_NODE_INTEGER,   /* the constant `integer`, which fits in dtype */
  NDR_NODE_REAL,      /* the constant `real` */
  NDR_NODE_PARAMETER, /* parameters[a], converted from f64; a float dtype */
  NDR_NODE_TOTAL,     /* only in results: the total of part a */
  NDR_NODE_CONVERT,   /* as C converts; to bool: whether it is not 0; complex to real: the real part */
  NDR_NODE_NEGATE,
  NDR_NODE_ABS, /* of complex: its real type */
  NDR_NODE_NOT, /* of bool */
  NDR_NODE_SQRT,
  NDR_NODE_EXP,
  NDR_NODE_LOG,
  NDR_NODE_SIN,
  NDR_NODE_COS,
  NDR_NODE_FLOOR,
  NDR_NODE_ISNAN, /* bool, of any dtype */
  NDR_NODE_REAL_PART,
  NDR_NODE_IMAGINARY_PART,
  NDR_NODE_CONJUGATE,
  NDR_NODE_ADD,
  NDR_NODE_SUBTRACT,
  NDR_NODE_MULTIPLY,
  NDR_NODE_DIVIDE,  /* floats and complex only */
  NDR_NODE_POWER,   /* floats only */
  NDR_NODE_MINIMUM, /* a NaN wins */
  NDR_NODE_MAXIMUM,
  NDR_NODE_LESS, /* comparisons give bool; of complex only EQUAL and UNEQUAL */
  NDR_NODE_LESS_EQUAL,
  NDR_NODE_EQUAL,
  NDR_NODE_UNEQUAL,
  NDR_NODE_AND, /* of bool */
  NDR_NODE_OR,
  NDR_NODE_SELECT /* a ? b : c; a is bool */
} ndr_node_kind;

typedef struct ndr_node {
  ndr_node_kind kind;
  ndr_dtype dtype; /* of the value */
  int a, b, c;     /* -1 where not used */
  bool fused;      /* a step of poly: a is a product, and a device may round it together with the sum */
  union {
    int64_t integer;
    double real;
  };
} ndr_node;

/* A built-in operator over computed values. */
typedef struct ndr_part {
  ndr_op op;
  int value;        /* the node that is folded; the part's dtype is its dtype */
  int mask;         /* a bool node: places where it is false are left out; -1: all count */
  int weight;       /* an f64 node: sum, mean, var, std and norm2 weight values by it; -1: none */
  bool skip_nan;    /* of the part's own value, as in ndr_state */
  bool reliability; /* var and std: weights are reliabilities, not frequencies */
} ndr_part;

typedef struct ndr_program {
  int array_count;
  ndr_dtype arrays[NDR_MOST_ARRAYS];
  int node_count, part_count, parameter_count;
  ndr_node nodes[NDR_MOST_NODES];
  ndr_part parts[NDR_MOST_PARTS];
  double parameters[NDR_MOST_PARAMETERS];
  int result;             /* a node; -1: what part 0's operator gives */
  ndr_dtype result_dtype; /* also where `result` is -1 */
} ndr_program;

/* Build programs. Each adds a node unless there is an equal one, and returns its number, or -1 where there is no room.
 */
int ndr_program_node(ndr_program *program, ndr_node node);
int ndr_program_convert(ndr_program *program, int node, ndr_dtype dtype);
/* Converts both operands to their common dtype first (NumPy's promotion, with the exceptions that operator.h names). */
int ndr_program_binary(ndr_program *program, ndr_node_kind kind, int a, int b);
int ndr_program_unary(ndr_program *program, ndr_node_kind kind, int a);

/* The operands of a node, as numbers of nodes, in the order a, b, c. Returns how many there are. */
int ndr_node_operands(const ndr_node *node, int operands[3]);

/* Mark, in NDR_MOST_NODES entries, the nodes that those depend on that are marked, and those that a part folds. */
void ndr_program_mark_needed(const ndr_program *program, bool *needed);
void ndr_program_mark_part(const ndr_program *program, int part, bool *needed);

/* Leaves out the nodes that neither a part nor the result needs. */
void ndr_program_drop_unused(ndr_program *program);

/* Makes the program that is no more than a built-in operator of the problem's array, of the dtype `array`. */
void ndr_program_built_in(ndr_program *program, ndr_op op, ndr_dtype array, bool skip_nan);

/* The part whose result is the program's, unchanged; -1 if the result is computed. */
int ndr_program_result_part(const ndr_program *program);

/* Whether a part is folded as a built-in operator is: its value is the problem's array itself, of the dtype `array`,
 * without a mask or weights. */
bool ndr_program_part_is_plain(const ndr_program *program, int part, ndr_dtype array);

/* Whether the program is no more than a built-in operator of the problem's array, with or without skip_nan. Over no
 * elements its minimum or maximum still is another one. */
bool ndr_program_is_built_in(const ndr_program *program, ndr_dtype array, bool skip_nan);

#endif
