/* Building programs: equal nodes stand once, operands are converted to their common dtype. */
#include <math.h>
#include <string.h>

#include "core/operator.h"

static bool is_integer(ndr_dtype dtype) {
  return !ndr_dtype_is_float(dtype);
}

static bool is_complex(ndr_dtype dtype) {
  return ndr_dtype_class(dtype) == NDR_CLASS_COMPLEX;
}

static bool same_node(const ndr_node *a, const ndr_node *b) {
  if (a->kind != b->kind || a->dtype != b->dtype || a->a != b->a || a->b != b->b || a->c != b->c) return false;
  if (a->kind == NDR_NODE_REAL) return memcmp(&a->real, &b->real, sizeof a->real) == 0;
  return a->kind != NDR_NODE_INTEGER || a->integer == b->integer;
}

int ndr_program_node(ndr_program *program, ndr_node node) {
  for (int i = 0; i < program->node_count; i++)
    if (same_node(&program->nodes[i], &node)) return i;
  if (program->node_count == NDR_MOST_NODES) return -1;
  program->nodes[program->node_count] = node;
  return program->node_count++;
}

/* ---- promotion ---- */

/* The dtype of an integer class and a number of bytes. */
static ndr_dtype integer_of(bool is_signed, size_t bytes) {
  for (int d = NDR_I8; d <= NDR_U64; d++)
    if (ndr_dtype_bytes((ndr_dtype)d) == bytes && (ndr_dtype_class((ndr_dtype)d) == NDR_CLASS_INT) == is_signed)
      return (ndr_dtype)d;
  return NDR_I64;
}

static ndr_dtype promote_integers(ndr_dtype a, ndr_dtype b) {
  bool signed_a = ndr_dtype_class(a) == NDR_CLASS_INT, signed_b = ndr_dtype_class(b) == NDR_CLASS_INT;
  size_t bytes_a = ndr_dtype_bytes(a), bytes_b = ndr_dtype_bytes(b);
  if (a == NDR_BOOL) return b;
  if (b == NDR_BOOL) return a;
  if (signed_a == signed_b) return bytes_a >= bytes_b ? a : b;
  /* A signed type that holds all values of the unsigned one, if there is one. */
  size_t signed_bytes = signed_a ? bytes_a : bytes_b, unsigned_bytes = signed_a ? bytes_b : bytes_a;
  if (unsigned_bytes < signed_bytes) return integer_of(true, signed_bytes);
  return unsigned_bytes == 8 ? NDR_F64 : integer_of(true, 2 * unsigned_bytes);
}

/* The float that NumPy computes in beside a float or complex dtype; f16 and bf16 count as f32. */
static ndr_dtype float_of(ndr_dtype dtype) {
  bool wide = is_integer(dtype) ? ndr_dtype_bytes(dtype) >= 4 : dtype == NDR_F64 || dtype == NDR_C128;
  return wide ? NDR_F64 : NDR_F32;
}

ndr_dtype ndr_dtype_promote(ndr_dtype a, ndr_dtype b) {
  if (is_integer(a) && is_integer(b)) return promote_integers(a, b);
  bool wide = float_of(a) == NDR_F64 || float_of(b) == NDR_F64;
  if (is_complex(a) || is_complex(b)) return wide ? NDR_C128 : NDR_C64;
  return wide ? NDR_F64 : NDR_F32;
}

/* ---- conversions ---- */

static int64_t wrapped(int64_t value, ndr_dtype dtype) {
  int spare = 64 - 8 * (int)ndr_dtype_bytes(dtype);
  if (dtype == NDR_BOOL) return value != 0;
  if (ndr_dtype_class(dtype) == NDR_CLASS_INT) return (int64_t)((uint64_t)value << spare) >> spare;
  return (int64_t)((uint64_t)value << spare >> spare);
}

/* Constants are converted at once, where that is exact in every program: in f64, a number stays what it is. */
static bool convert_constant(const ndr_node *node, ndr_dtype dtype, ndr_node *constant) {
  bool real = ndr_dtype_class(dtype) == NDR_CLASS_FLOAT;
  *constant = *node;
  constant->dtype = dtype;
  if (node->kind == NDR_NODE_INTEGER && is_integer(dtype)) {
    constant->integer = wrapped(node->integer, dtype);
    return true;
  }
  if (node->kind == NDR_NODE_INTEGER && real) {
    constant->kind = NDR_NODE_REAL;
    constant->real = node->dtype == NDR_U64 ? (double)(uint64_t)node->integer : (double)node->integer;
    return fabs(constant->real) < 0x1p53;
  }
  if (node->kind == NDR_NODE_REAL && dtype == NDR_BOOL) {
    constant->kind = NDR_NODE_INTEGER;
    constant->integer = node->real != 0;
    return node->dtype == NDR_F64;
  }
  return (node->kind == NDR_NODE_REAL || node->kind == NDR_NODE_PARAMETER) && node->dtype == NDR_F64 && real;
}

int ndr_program_convert(ndr_program *program, int node, ndr_dtype dtype) {
  ndr_node constant;
  if (node < 0 || program->nodes[node].dtype == dtype) return node;
  if (convert_constant(&program->nodes[node], dtype, &constant)) return ndr_program_node(program, constant);
  return ndr_program_node(program, (ndr_node){.kind = NDR_NODE_CONVERT, .dtype = dtype, .a = node, .b = -1, .c = -1});
}

/* ---- operators ---- */

static ndr_dtype operand_dtype(ndr_node_kind kind, ndr_dtype common) {
  switch (kind) {
  case NDR_NODE_AND:
  case NDR_NODE_OR: return NDR_BOOL;
  case NDR_NODE_DIVIDE:
  case NDR_NODE_POWER: return is_integer(common) ? NDR_F64 : common;
  case NDR_NODE_ADD:
  case NDR_NODE_SUBTRACT:
  case NDR_NODE_MULTIPLY: return common == NDR_BOOL ? NDR_I64 : common;
  default: return common;
  }
}

static bool is_comparison(ndr_node_kind kind) {
  return kind >= NDR_NODE_LESS && kind <= NDR_NODE_UNEQUAL;
}

int ndr_program_binary(ndr_program *program, ndr_node_kind kind, int a, int b) {
  if (a < 0 || b < 0) return -1;
  ndr_dtype dtype = operand_dtype(kind, ndr_dtype_promote(program->nodes[a].dtype, program->nodes[b].dtype));
  a = ndr_program_convert(program, a, dtype);
  b = ndr_program_convert(program, b, dtype);
  if (a < 0 || b < 0) return -1;
  if (dtype == NDR_BOOL && kind == NDR_NODE_MINIMUM) kind = NDR_NODE_AND;
  if (dtype == NDR_BOOL && kind == NDR_NODE_MAXIMUM) kind = NDR_NODE_OR;
  if (is_comparison(kind)) dtype = NDR_BOOL;
  return ndr_program_node(program, (ndr_node){.kind = kind, .dtype = dtype, .a = a, .b = b, .c = -1});
}

static ndr_dtype real_of(ndr_dtype dtype) {
  return dtype == NDR_C64 ? NDR_F32 : dtype == NDR_C128 ? NDR_F64 : dtype;
}

static int zero_of(ndr_program *program, ndr_dtype dtype) {
  ndr_node node = {
      .kind = is_integer(dtype) ? NDR_NODE_INTEGER : NDR_NODE_REAL, .dtype = dtype, .a = -1, .b = -1, .c = -1};
  return ndr_program_node(program, node);
}

int ndr_program_unary(ndr_program *program, ndr_node_kind kind, int a) {
  if (a < 0) return -1;
  ndr_dtype given = program->nodes[a].dtype, dtype = ndr_dtype_promote(given, given), result;
  switch (kind) {
  case NDR_NODE_NOT: result = dtype = NDR_BOOL; break;
  case NDR_NODE_ISNAN:
    if (is_integer(given)) return zero_of(program, NDR_BOOL);
    dtype = given;
    result = NDR_BOOL;
    break;
  case NDR_NODE_NEGATE: result = dtype = dtype == NDR_BOOL ? NDR_I64 : dtype; break;
  case NDR_NODE_ABS:
    dtype = dtype == NDR_BOOL ? NDR_I64 : dtype;
    if (ndr_dtype_class(dtype) == NDR_CLASS_UINT) return a;
    result = real_of(dtype);
    break;
  case NDR_NODE_REAL_PART:
  case NDR_NODE_CONJUGATE:
    if (!is_complex(given)) return a;
    result = kind == NDR_NODE_CONJUGATE ? dtype : real_of(dtype);
    break;
  case NDR_NODE_IMAGINARY_PART:
    if (!is_complex(given)) return zero_of(program, dtype);
    result = real_of(dtype);
    break;
  case NDR_NODE_FLOOR:
    if (is_integer(given)) return a;
    result = dtype;
    break;
  default: result = dtype = is_integer(dtype) ? NDR_F64 : dtype;
  }
  a = ndr_program_convert(program, a, dtype);
  if (a < 0) return -1;
  return ndr_program_node(program, (ndr_node){.kind = kind, .dtype = result, .a = a, .b = -1, .c = -1});
}
