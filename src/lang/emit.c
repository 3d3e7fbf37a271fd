/* The terms of the syntax tree, typed, become nodes. */
#include "lang/emit.h"

#include <string.h>

#include "core/own_ops.h"
#include "lang/typing.h"
#include "lang/words.h"

typedef struct builder {
  const ndr_typing *typing;
  const int *arrays;
  ndr_program *program;
  int mask;                   /* of parts; -1: none */
  bool skips_nan;             /* only NaN of the element leave places out: parts that fold it skip NaN themselves */
  int totals[NDR_MOST_PARTS]; /* the part of each update */
} builder;

static int add_node(const builder *b, ndr_node_kind kind, ndr_dtype dtype, int a) {
  return ndr_program_node(b->program, (ndr_node){.kind = kind, .dtype = dtype, .a = a, .b = -1, .c = -1});
}

static int add_constant(const builder *b, const ndr_type *type, ndr_dtype dtype) {
  ndr_node node = {.kind = NDR_NODE_INTEGER, .dtype = NDR_I64, .a = -1, .b = -1, .c = -1};
  if (type->dtype == NDR_F64) {
    node.kind = NDR_NODE_REAL;
    node.dtype = NDR_F64;
    node.real = type->real;
  } else {
    node.integer = type->integer;
  }
  return ndr_program_convert(b->program, ndr_program_node(b->program, node), dtype);
}

static int emit(const builder *b, int number, ndr_dtype dtype);

/* ---- terms ---- */

/* By squaring, from the exponent's highest bit downwards. */
static int emit_multiplications(const builder *b, int base, int64_t exponent, ndr_dtype dtype) {
  const ndr_type one = {.dtype = NDR_I64, .integer = 1};
  if (exponent == 0) return add_constant(b, &one, dtype);
  int bit = 62, value = base;
  while (!(exponent >> bit & 1)) bit--;
  while (bit-- > 0 && value >= 0) {
    value = ndr_program_binary(b->program, NDR_NODE_MULTIPLY, value, value);
    if (exponent >> bit & 1) value = ndr_program_binary(b->program, NDR_NODE_MULTIPLY, value, base);
  }
  return value;
}

static int emit_power(const builder *b, const ndr_syntax_node *node, ndr_dtype inner) {
  int64_t exponent;
  int base = emit(b, node->a, inner);
  if (ndr_typing_multiplies(b->typing, node, &exponent)) return emit_multiplications(b, base, exponent, inner);
  return ndr_program_binary(b->program, NDR_NODE_POWER, base, emit(b, node->b, inner));
}

static int emit_parameter(const builder *b, int number, ndr_dtype dtype) {
  return ndr_program_convert(b->program, add_node(b, NDR_NODE_PARAMETER, NDR_F64, number), dtype);
}

/* Horner's rule. */
static int emit_poly(const builder *b, const ndr_syntax_node *node, ndr_dtype inner) {
  const ndr_syntax_parameter *parameter = &b->typing->syntax->parameters[node->b];
  int x = emit(b, node->a, inner), number = parameter->first + parameter->count - 1;
  int value = emit_parameter(b, number, inner);
  while (number-- > parameter->first) {
    value = ndr_program_binary(b->program, NDR_NODE_MULTIPLY, value, x);
    value = ndr_program_binary(b->program, NDR_NODE_ADD, value, emit_parameter(b, number, inner));
    if (value >= 0) b->program->nodes[value].fused = true;
  }
  return value;
}

/* Whether a number lies beyond the limits of the integers that it is compared with, so that the result is known without
 * them; *truth is that result. */
static bool decided_by_number(const builder *b, const ndr_syntax_node *node, ndr_dtype inner, bool *truth) {
  const ndr_type *left = &b->typing->nodes[node->a], *right = &b->typing->nodes[node->b];
  const ndr_type *number = left->constant && left->dtype == NDR_I64 ? left : right;
  if (ndr_dtype_is_float(inner) || inner == NDR_BOOL || !number->constant || number->dtype != NDR_I64) return false;
  int beyond = ndr_typing_beyond(number, inner);
  int order = number == right ? beyond : -beyond; /* 1: the right operand is the larger one */
  bool greater = node->kind == NDR_SYNTAX_GREATER || node->kind == NDR_SYNTAX_GREATER_EQUAL;
  *truth = node->kind == NDR_NODE_UNEQUAL || (node->kind != NDR_NODE_EQUAL && (order > 0) != greater);
  return beyond != 0;
}

static int emit_comparison(const builder *b, const ndr_syntax_node *node, ndr_dtype inner) {
  bool truth;
  if (decided_by_number(b, node, inner, &truth)) {
    const ndr_type constant = {.dtype = NDR_I64, .integer = truth};
    return add_constant(b, &constant, NDR_BOOL);
  }
  int left = emit(b, node->a, inner), right = emit(b, node->b, inner);
  switch (node->kind) {
  case NDR_SYNTAX_GREATER: return ndr_program_binary(b->program, NDR_NODE_LESS, right, left);
  case NDR_SYNTAX_GREATER_EQUAL: return ndr_program_binary(b->program, NDR_NODE_LESS_EQUAL, right, left);
  default: return ndr_program_binary(b->program, (ndr_node_kind)node->kind, left, right);
  }
}

static int emit_select(const builder *b, const ndr_syntax_node *node, ndr_dtype inner) {
  int condition = emit(b, node->a, NDR_BOOL), yes = emit(b, node->b, inner), no = emit(b, node->c, inner);
  if (condition < 0 || yes < 0 || no < 0) return -1;
  return ndr_program_node(b->program,
                          (ndr_node){.kind = NDR_NODE_SELECT, .dtype = inner, .a = condition, .b = yes, .c = no});
}

static int emit_part(const builder *b, ndr_op op, int value);

static int emit_total(const builder *b, int part) {
  const ndr_part *given = &b->program->parts[part];
  return add_node(b, NDR_NODE_TOTAL, ndr_op_result(given->op, b->program->nodes[given->value].dtype), part);
}

static int emit_length(const builder *b) {
  const ndr_type one = {.dtype = NDR_I64, .integer = 1};
  int part = emit_part(b, NDR_SUM, add_constant(b, &one, NDR_I64));
  return part < 0 ? -1 : emit_total(b, part);
}

static int emit_node(const builder *b, const ndr_syntax_node *node, const ndr_type *type) {
  switch (node->kind) {
  case NDR_NODE_ARRAY: return add_node(b, NDR_NODE_ARRAY, type->dtype, b->arrays[node->a]);
  case NDR_NODE_INDEX: return add_node(b, NDR_NODE_INDEX, NDR_I64, node->a);
  case NDR_NODE_PARAMETER: return emit_parameter(b, node->a, NDR_F64);
  case NDR_NODE_TOTAL: return emit_total(b, b->totals[node->a]);
  case NDR_SYNTAX_LENGTH: return emit_length(b);
  case NDR_NODE_POWER: return emit_power(b, node, type->inner);
  case NDR_SYNTAX_POLY: return emit_poly(b, node, type->inner);
  case NDR_NODE_SELECT: return emit_select(b, node, type->inner);
  case NDR_SYNTAX_F64: return emit(b, node->a, type->inner);
  case NDR_NODE_LESS:
  case NDR_NODE_LESS_EQUAL:
  case NDR_SYNTAX_GREATER:
  case NDR_SYNTAX_GREATER_EQUAL:
  case NDR_NODE_EQUAL:
  case NDR_NODE_UNEQUAL: return emit_comparison(b, node, type->inner);
  default: break;
  }
  /* isnan looks at what it is given; the others convert. */
  const ndr_typing *typing = b->typing;
  if (ndr_word_of(node->kind)->operands == 1) {
    ndr_dtype inner = node->kind == NDR_NODE_ISNAN ? typing->nodes[node->a].dtype : type->inner;
    return ndr_program_unary(b->program, (ndr_node_kind)node->kind, emit(b, node->a, inner));
  }
  int left = emit(b, node->a, type->inner), right = emit(b, node->b, type->inner);
  return ndr_program_binary(b->program, (ndr_node_kind)node->kind, left, right);
}

/* The node of a term of the syntax, converted to dtype. */
static int emit(const builder *b, int number, ndr_dtype dtype) {
  const ndr_type *type = &b->typing->nodes[number];
  if (type->constant) return add_constant(b, type, dtype);
  return ndr_program_convert(b->program, emit_node(b, &b->typing->syntax->nodes[number], type), dtype);
}

/* ---- parts ---- */

/* The number of the part that folds the value; equal parts are one. */
static int emit_part(const builder *b, ndr_op op, int value) {
  ndr_program *program = b->program;
  if (value < 0) return -1;
  for (int i = 0; i < program->part_count; i++)
    if (program->parts[i].op == op && program->parts[i].value == value) return i;
  /* Where min= and max= skip all elements, they give another value than the built-in operators. */
  const bool skips = b->skips_nan && program->nodes[value].kind == NDR_NODE_ARRAY && op != NDR_MIN && op != NDR_MAX;
  program->parts[program->part_count] =
      (ndr_part){.op = op, .value = value, .mask = skips ? -1 : b->mask, .weight = -1, .skip_nan = skips};
  return program->part_count++;
}

static bool reads_only_element(const ndr_syntax *syntax) {
  for (int i = 1; i < syntax->array_count; i++)
    if (ndr_syntax_reads(syntax, i)) return false;
  return true;
}

/* A node that is true where neither the element nor another array that is read is NaN; -1 if none can hold NaN. */
static int emit_mask(const builder *b) {
  int mask = -1;
  for (int i = 0; i < b->typing->syntax->array_count; i++) {
    bool looked_at = i == 0 || ndr_syntax_reads(b->typing->syntax, i);
    if (!looked_at || !ndr_dtype_is_float(b->typing->dtypes[i])) continue;
    int array = add_node(b, NDR_NODE_ARRAY, b->typing->dtypes[i], b->arrays[i]);
    int number = ndr_program_unary(b->program, NDR_NODE_NOT, ndr_program_unary(b->program, NDR_NODE_ISNAN, array));
    mask = mask < 0 ? number : ndr_program_binary(b->program, NDR_NODE_AND, mask, number);
  }
  return mask;
}

static bool emit_all(builder *b) {
  const ndr_syntax *syntax = b->typing->syntax;
  for (int i = 0; i < syntax->update_count; i++) {
    const ndr_syntax_update *update = &syntax->updates[i];
    b->totals[i] = emit_part(b, update->op, emit(b, update->value, ndr_typing_value(b->typing, update)));
    if (b->totals[i] < 0) return false;
  }
  b->program->result_dtype = b->typing->nodes[syntax->result].dtype;
  b->program->result = emit(b, syntax->result, b->program->result_dtype);
  return b->program->result >= 0;
}

/* ---- the whole ---- */

static ndr_status make(const ndr_own_op *own, const ndr_dtype *dtypes, const int *arrays, bool skip_nan,
                       ndr_program *program) {
  const ndr_syntax *syntax = own->definition->syntax;
  ndr_typing typing = {.syntax = syntax, .dtypes = dtypes};
  NDR_TRY(ndr_typing_make(&typing));
  memset(program, 0, sizeof *program);
  program->parameter_count = syntax->number_count;
  memcpy(program->parameters, own->values, sizeof program->parameters);
  builder b = {&typing, arrays, program, -1, skip_nan && reads_only_element(syntax), {0}};
  if (skip_nan) b.mask = emit_mask(&b);
  if (!emit_all(&b))
    return ndr_fail(NDR_ERR_OP, "operator '%.60s' has more than %d nodes for these dtypes", own->definition->name,
                    NDR_MOST_NODES);
  ndr_program_drop_unused(program);
  return NDR_OK;
}

ndr_status ndr_emit_program(ndr_op op, const ndr_dtype *dtypes, const int *arrays, bool skip_nan,
                            ndr_program *program) {
  ndr_own_op *own = ndr_own_op_hold(op);
  if (!own) return ndr_fail(NDR_ERR_OP, "there is no operator of number %d", (int)op);
  ndr_status status = make(own, dtypes, arrays, skip_nan, program);
  ndr_own_op_release(own);
  return status;
}
