/* Building programs: equal nodes stand once, operands are converted to their common dtype. */
#include "lang/program.h"

#include <math.h>
#include <string.h>

#include "lang/promote.h"
#include "lang/scalar.h"

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

/* ---- conversions ---- */

/* Constants are converted at once, where that is exact in every program: in f64, a number stays what it is. */
static bool convert_constant(const ndr_node *node, ndr_dtype dtype, ndr_node *constant) {
  bool real = ndr_dtype_class(dtype) == NDR_CLASS_FLOAT;
  *constant = *node;
  constant->dtype = dtype;
  if (node->kind == NDR_NODE_INTEGER && ndr_dtype_is_integer(dtype)) {
    constant->integer = ndr_integer_cut(node->integer, dtype);
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
  case NDR_NODE_POWER: return ndr_dtype_is_integer(common) ? NDR_F64 : common;
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

static int zero_of(ndr_program *program, ndr_dtype dtype) {
  ndr_node node = {.kind = ndr_dtype_is_integer(dtype) ? NDR_NODE_INTEGER : NDR_NODE_REAL,
                   .dtype = dtype,
                   .a = -1,
                   .b = -1,
                   .c = -1};
  return ndr_program_node(program, node);
}

int ndr_program_unary(ndr_program *program, ndr_node_kind kind, int a) {
  if (a < 0) return -1;
  ndr_dtype given = program->nodes[a].dtype, dtype = ndr_dtype_promote(given, given), result;
  switch (kind) {
  case NDR_NODE_NOT: result = dtype = NDR_BOOL; break;
  case NDR_NODE_ISNAN:
    if (ndr_dtype_is_integer(given)) return zero_of(program, NDR_BOOL);
    dtype = given;
    result = NDR_BOOL;
    break;
  case NDR_NODE_NEGATE: result = dtype = dtype == NDR_BOOL ? NDR_I64 : dtype; break;
  case NDR_NODE_ABS:
    dtype = dtype == NDR_BOOL ? NDR_I64 : dtype;
    if (ndr_dtype_class(dtype) == NDR_CLASS_UINT) return a;
    result = ndr_dtype_real(dtype);
    break;
  case NDR_NODE_REAL_PART:
  case NDR_NODE_CONJUGATE:
    if (!ndr_dtype_is_complex(given)) return a;
    result = kind == NDR_NODE_CONJUGATE ? dtype : ndr_dtype_real(dtype);
    break;
  case NDR_NODE_IMAGINARY_PART:
    if (!ndr_dtype_is_complex(given)) return zero_of(program, dtype);
    result = ndr_dtype_real(dtype);
    break;
  case NDR_NODE_FLOOR:
    if (ndr_dtype_is_integer(given)) return a;
    result = dtype;
    break;
  default: result = dtype = ndr_dtype_is_integer(dtype) ? NDR_F64 : dtype;
  }
  a = ndr_program_convert(program, a, dtype);
  if (a < 0) return -1;
  return ndr_program_node(program, (ndr_node){.kind = kind, .dtype = result, .a = a, .b = -1, .c = -1});
}

/* ---- what depends on what ---- */

int ndr_node_operands(const ndr_node *node, int operands[3]) {
  operands[0] = node->a;
  operands[1] = node->b;
  operands[2] = node->c;
  if (node->kind < NDR_NODE_CONVERT) return 0;
  return node->b < 0 ? 1 : node->c < 0 ? 2 : 3;
}

void ndr_program_mark_needed(const ndr_program *program, bool *needed) {
  for (int i = program->node_count - 1; i >= 0; i--) {
    int operands[3], count = needed[i] ? ndr_node_operands(&program->nodes[i], operands) : 0;
    for (int k = 0; k < count; k++) needed[operands[k]] = true;
  }
}

void ndr_program_mark_part(const ndr_program *program, int part, bool *needed) {
  const ndr_part *folded = &program->parts[part];
  needed[folded->value] = true;
  if (folded->mask >= 0) needed[folded->mask] = true;
  if (folded->weight >= 0) needed[folded->weight] = true;
}

static int moved(const int *to, int node) {
  return node < 0 ? node : to[node];
}

void ndr_program_drop_unused(ndr_program *program) {
  bool needed[NDR_MOST_NODES] = {false};
  int to[NDR_MOST_NODES], count = 0;
  if (program->result >= 0) needed[program->result] = true;
  for (int i = 0; i < program->part_count; i++) ndr_program_mark_part(program, i, needed);
  ndr_program_mark_needed(program, needed);
  for (int i = 0; i < program->node_count; i++) {
    if (!needed[i]) continue;
    ndr_node node = program->nodes[i];
    if (node.kind >= NDR_NODE_CONVERT) {
      node.a = moved(to, node.a);
      node.b = moved(to, node.b);
      node.c = moved(to, node.c);
    }
    program->nodes[count] = node;
    to[i] = count++;
  }
  program->node_count = count;
  program->result = moved(to, program->result);
  for (int i = 0; i < program->part_count; i++) {
    ndr_part *part = &program->parts[i];
    part->value = moved(to, part->value);
    part->mask = moved(to, part->mask);
    part->weight = moved(to, part->weight);
  }
}

/* ---- programs that are built-in operators ---- */

void ndr_program_built_in(ndr_program *program, ndr_op op, ndr_dtype array, bool skip_nan) {
  memset(program, 0, sizeof *program);
  program->array_count = program->node_count = program->part_count = 1;
  program->arrays[0] = array;
  program->nodes[0] = (ndr_node){.kind = NDR_NODE_ARRAY, .dtype = array, .b = -1, .c = -1};
  program->parts[0] = (ndr_part){.op = op, .mask = -1, .weight = -1, .skip_nan = skip_nan};
  program->result = -1;
  program->result_dtype = ndr_op_result(op, array);
}

/* A total that is only converted to wider types rounds to the result as the part's own result does. */
int ndr_program_result_part(const ndr_program *program) {
  int node = program->result;
  ndr_class class = ndr_dtype_class(program->result_dtype);
  if (node < 0) return 0;
  for (; program->nodes[node].kind == NDR_NODE_CONVERT; node = program->nodes[node].a) {
    ndr_dtype dtype = program->nodes[node].dtype;
    if (ndr_dtype_class(dtype) != class || ndr_dtype_bytes(dtype) < ndr_dtype_bytes(program->result_dtype)) return -1;
  }
  if (program->nodes[node].kind != NDR_NODE_TOTAL) return -1;
  const ndr_part *part = &program->parts[program->nodes[node].a];
  ndr_dtype result = ndr_op_result(part->op, program->nodes[part->value].dtype);
  return result == program->result_dtype ? program->nodes[node].a : -1;
}

bool ndr_program_part_is_plain(const ndr_program *program, int part, ndr_dtype array) {
  const ndr_part *folded = &program->parts[part];
  const ndr_node *value = &program->nodes[folded->value];
  return folded->mask < 0 && folded->weight < 0 && value->kind == NDR_NODE_ARRAY && value->a == 0 &&
         value->dtype == array;
}

bool ndr_program_is_built_in(const ndr_program *program, ndr_dtype array, bool skip_nan) {
  return program->part_count == 1 && ndr_program_part_is_plain(program, 0, array) &&
         (program->parts[0].skip_nan == skip_nan || ndr_dtype_is_integer(array)) &&
         ndr_program_result_part(program) == 0;
}
