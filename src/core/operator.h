/* Operators of one's own inside the library: the registry, and their programs for given dtypes. */
#ifndef NDR_CORE_OPERATOR_H
#define NDR_CORE_OPERATOR_H

#include "core/program.h"
#include "ndreduce/operator.h"

static inline bool ndr_op_is_own(ndr_op op) {
  return (int)op >= NDR_OWN_OPS && (int)op < NDR_OWN_OPS_END;
}

/* Keeps an operator of one's own, and its number, until it is released, also if it is destroyed meanwhile: for plans
 * and accumulators. Other numbers are left alone. */
void ndr_operator_hold(ndr_op op);
void ndr_operator_release(ndr_op op);

/* Makes the program of an operator of one's own. dtypes[k] is the dtype of its array k, and arrays[k] the number of
 * that array in the problem (0: the problem's own array, k: its operand k - 1); program->arrays is left to the caller.
 * With skip_nan, places where an array is NaN are not live. The values of the operator's parameters are copied. Fails
 * with NDR_ERR_OP where the operator is not defined for the dtypes, with a sentence that names the column and the
 * cause. */
ndr_status ndr_operator_program(ndr_op op, const ndr_dtype *dtypes, const int *arrays, bool skip_nan,
                                ndr_program *program);

/* Builds programs. Each adds a node unless there is an equal one, and returns its number, or -1 where there is no room.
 */
int ndr_program_node(ndr_program *program, ndr_node node);
int ndr_program_convert(ndr_program *program, int node, ndr_dtype dtype);
/* Converts both operands to their common dtype first (NumPy's promotion, with the exceptions that operator.h names). */
int ndr_program_binary(ndr_program *program, ndr_node_kind kind, int a, int b);
int ndr_program_unary(ndr_program *program, ndr_node_kind kind, int a);

/* NumPy's promotion of two dtypes; f16 and bf16 give f32. */
ndr_dtype ndr_dtype_promote(ndr_dtype a, ndr_dtype b);

/* A value of any dtype: bool and unsigned integers in u, signed ones in i, floats in re, complex in re and im. */
typedef struct ndr_scalar {
  ndr_dtype dtype;
  union {
    int64_t i;
    uint64_t u;
  };
  double re, im;
} ndr_scalar;

ndr_scalar ndr_scalar_load(ndr_dtype dtype, const void *data, int64_t element);
void ndr_scalar_store(ndr_scalar value, ndr_dtype dtype, void *data, int64_t element); /* rounds once */

/* The definition of what programs mean. Evaluates all nodes that do not depend on totals: values[] has node_count
 * entries, elements[k] is the element of array k, places[] the indices of NDR_NODE_INDEX nodes by their `a`. */
void ndr_program_evaluate(const ndr_program *program, const ndr_scalar *elements, const int64_t *places,
                          ndr_scalar *values);
/* The result, from the parts' totals in the types of totals (f64, i64, u64, pairs of f64). `result` must not be -1. */
ndr_scalar ndr_program_finish(const ndr_program *program, const ndr_scalar *totals, int64_t length);

/* Parses the operator that begins at *text with '{', with its values in parentheses if it has parameters, and moves
 * *text behind it. The same text and values give the same number in every call, for as long as the process lives or
 * until it is destroyed. Errors as ndr_operator_create, columns counted from *text. Used by the mini-language, which
 * also prints operators so. */
ndr_status ndr_operator_parse_braced(const char **text, ndr_op *op);
size_t ndr_operator_print_braced(ndr_op op, char *text, size_t capacity);

#endif
