/* The dtypes of an operator's expressions, over arrays of given dtypes. */
#ifndef NDR_LANG_TYPING_H
#define NDR_LANG_TYPING_H

#include "lang/syntax.h"

/* The type of a term. A weak term comes from numbers and parameters alone. Its dtype is bool, i64 or f64; beside a term
 * that is not weak it takes the other's. */
typedef struct ndr_type {
  ndr_dtype dtype;
  ndr_dtype inner; /* the dtype to which operands are converted first */
  bool weak;
  bool constant; /* weak, and known: `integer` of i64, `real` of f64 */
  union {
    int64_t integer;
    double real;
  };
} ndr_type;

typedef struct ndr_typing {
  const ndr_syntax *syntax;
  const ndr_dtype *dtypes; /* of the arrays */
  ndr_type nodes[NDR_MOST_NODES];
} ndr_typing;

/* Types all nodes of the syntax. Fails with NDR_ERR_OP. */
ndr_status ndr_typing_make(ndr_typing *typing);

/* The dtype of an update's values. */
ndr_dtype ndr_typing_value(const ndr_typing *typing, const ndr_syntax_update *update);

/* Whether a constant exponent becomes multiplications; *exponent is its value. */
bool ndr_typing_multiplies(const ndr_typing *typing, const ndr_syntax_node *power, int64_t *exponent);

/* -1 if a constant integer is below all values of an integer dtype, 1 if it is above them, else 0. */
int ndr_typing_beyond(const ndr_type *constant, ndr_dtype dtype);

#endif
