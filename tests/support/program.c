/* See program.h. Each rule is written as C and named by its text. */
#include "program.h"

#include <string.h>

#define RULE(holds)                                                                                                    \
  if (!(holds)) return #holds

static bool is_real(ndr_dtype dtype) {
  return dtype == NDR_F32 || dtype == NDR_F64;
}

static bool is_complex_dtype(ndr_dtype dtype) {
  return dtype == NDR_C64 || dtype == NDR_C128;
}

static bool is_computed(ndr_dtype dtype) {
  return dtype != NDR_BOOL && dtype != NDR_F16 && dtype != NDR_BF16;
}

static bool is_whole(ndr_dtype dtype) {
  return dtype <= NDR_U64;
}

static bool fits(int64_t value, ndr_dtype dtype) {
  if (dtype == NDR_BOOL) return value == 0 || value == 1;
  if (dtype == NDR_I64 || dtype == NDR_U64) return true;
  int bits = 8 * (int)ndr_dtype_bytes(dtype);
  bool is_signed = dtype <= NDR_I64;
  int64_t most = (INT64_C(1) << (bits - is_signed)) - 1;
  return value <= most && value >= (is_signed ? -most - 1 : 0);
}

static const char *leaf_fault(const ndr_program *program, const ndr_node *node) {
  RULE(node->b == -1 && node->c == -1);
  switch (node->kind) {
  case NDR_NODE_ARRAY:
    RULE(node->a >= 0 && node->a < program->array_count);
    RULE(node->dtype == program->arrays[node->a]);
    return NULL;
  case NDR_NODE_INDEX: RULE(node->dtype == NDR_I64 && node->a >= 0 && node->a < NDR_MAX_DIMS); return NULL;
  case NDR_NODE_INTEGER: RULE(node->a == -1 && is_whole(node->dtype) && fits(node->integer, node->dtype)); return NULL;
  case NDR_NODE_REAL: RULE(node->a == -1 && is_real(node->dtype)); return NULL;
  case NDR_NODE_PARAMETER:
    RULE(is_real(node->dtype) && node->a >= 0 && node->a < program->parameter_count);
    return NULL;
  default: {
    RULE(node->kind == NDR_NODE_TOTAL);
    RULE(node->a >= 0 && node->a < program->part_count);
    const ndr_part *part = &program->parts[node->a];
    RULE(node->dtype == ndr_op_result(part->op, program->nodes[part->value].dtype));
    return NULL;
  }
  }
}

static const char *unary_fault(const ndr_node *node, ndr_dtype a) {
  ndr_dtype part = a == NDR_C64 ? NDR_F32 : a == NDR_C128 ? NDR_F64 : a;
  RULE(node->b == -1 && node->c == -1);
  switch (node->kind) {
  case NDR_NODE_CONVERT: RULE(node->dtype != a && (node->dtype == NDR_BOOL || is_computed(node->dtype))); return NULL;
  case NDR_NODE_NEGATE: RULE(node->dtype == a && is_computed(a)); return NULL;
  case NDR_NODE_ABS: RULE(node->dtype == part && is_computed(a) && !(a >= NDR_U8 && a <= NDR_U64)); return NULL;
  case NDR_NODE_NOT: RULE(node->dtype == NDR_BOOL && a == NDR_BOOL); return NULL;
  case NDR_NODE_ISNAN: RULE(node->dtype == NDR_BOOL && ndr_dtype_is_float(a)); return NULL;
  case NDR_NODE_REAL_PART:
  case NDR_NODE_IMAGINARY_PART: RULE(node->dtype == part && is_complex_dtype(a)); return NULL;
  case NDR_NODE_CONJUGATE: RULE(node->dtype == a && is_complex_dtype(a)); return NULL;
  default: RULE(node->dtype == a && is_real(a)); return NULL;
  }
}

static const char *binary_fault(const ndr_node *node, ndr_dtype a, ndr_dtype b) {
  RULE(node->c == -1);
  RULE(a == b);
  switch (node->kind) {
  case NDR_NODE_ADD:
  case NDR_NODE_SUBTRACT:
  case NDR_NODE_MULTIPLY: RULE(node->dtype == a && is_computed(a)); return NULL;
  case NDR_NODE_DIVIDE: RULE(node->dtype == a && (is_real(a) || is_complex_dtype(a))); return NULL;
  case NDR_NODE_POWER: RULE(node->dtype == a && is_real(a)); return NULL;
  case NDR_NODE_MINIMUM:
  case NDR_NODE_MAXIMUM: RULE(node->dtype == a && is_computed(a) && !is_complex_dtype(a)); return NULL;
  case NDR_NODE_LESS:
  case NDR_NODE_LESS_EQUAL: RULE(node->dtype == NDR_BOOL && !is_complex_dtype(a)); return NULL;
  case NDR_NODE_EQUAL:
  case NDR_NODE_UNEQUAL: RULE(node->dtype == NDR_BOOL); return NULL;
  default:
    RULE(node->kind == NDR_NODE_AND || node->kind == NDR_NODE_OR);
    RULE(node->dtype == NDR_BOOL && a == NDR_BOOL);
    return NULL;
  }
}

static const char *node_fault(const ndr_program *program, int number) {
  const ndr_node *node = &program->nodes[number];
  const ndr_node *nodes = program->nodes;
  if (node->kind < NDR_NODE_CONVERT) return leaf_fault(program, node);
  RULE(node->a >= 0 && node->a < number && node->b < number && node->c < number);
  if (node->kind == NDR_NODE_SELECT) {
    RULE(node->b >= 0 && node->c >= 0 && nodes[node->a].dtype == NDR_BOOL);
    RULE(nodes[node->b].dtype == node->dtype && nodes[node->c].dtype == node->dtype);
    return NULL;
  }
  if (node->kind < NDR_NODE_ADD) return unary_fault(node, nodes[node->a].dtype);
  RULE(node->b >= 0);
  return binary_fault(node, nodes[node->a].dtype, nodes[node->b].dtype);
}

static bool same_node(const ndr_node *a, const ndr_node *b) {
  if (a->kind != b->kind || a->dtype != b->dtype || a->a != b->a || a->b != b->b || a->c != b->c) return false;
  if (a->kind != NDR_NODE_INTEGER && a->kind != NDR_NODE_REAL) return true;
  return memcmp(&a->integer, &b->integer, sizeof a->integer) == 0;
}

static void mark(const ndr_program *program, bool *used, int from) {
  if (from >= 0) used[from] = true;
  for (int i = from; i >= 0; i--) {
    const ndr_node *node = &program->nodes[i];
    if (!used[i] || node->kind < NDR_NODE_CONVERT) continue;
    if (node->a >= 0) used[node->a] = true;
    if (node->b >= 0) used[node->b] = true;
    if (node->c >= 0) used[node->c] = true;
  }
}

static const char *part_fault(const ndr_program *program, const ndr_part *part, bool *used) {
  bool of_part[NDR_MOST_NODES] = {false};
  RULE((unsigned)part->op < NDR_OP_COUNT);
  RULE(part->value >= 0 && part->value < program->node_count && part->mask < program->node_count);
  RULE(ndr_op_check(part->op, program->nodes[part->value].dtype) == NDR_OK);
  RULE(part->mask < 0 || program->nodes[part->mask].dtype == NDR_BOOL);
  mark(program, of_part, part->value);
  mark(program, of_part, part->mask);
  for (int i = 0; i < program->node_count; i++) {
    RULE(!of_part[i] || program->nodes[i].kind != NDR_NODE_TOTAL);
    used[i] = used[i] || of_part[i];
  }
  return NULL;
}

const char *program_fault(const ndr_program *program, int *node) {
  bool used[NDR_MOST_NODES] = {false};
  *node = -1;
  RULE(program->node_count > 0 && program->node_count <= NDR_MOST_NODES);
  RULE(program->part_count > 0 && program->part_count <= NDR_MOST_PARTS);
  RULE(program->result >= -1 && program->result < program->node_count);
  RULE(program->result < 0 || program->nodes[program->result].dtype == program->result_dtype);
  for (*node = 0; *node < program->part_count; ++*node) {
    const char *fault = part_fault(program, &program->parts[*node], used);
    if (fault) return fault;
  }
  mark(program, used, program->result);
  for (*node = 0; *node < program->node_count; ++*node) {
    const char *fault = node_fault(program, *node);
    if (fault) return fault;
    RULE(used[*node]);
    for (int i = 0; i < *node; i++) RULE(!same_node(&program->nodes[i], &program->nodes[*node]));
  }
  return NULL;
}

static bool same_part(const ndr_part *a, const ndr_part *b) {
  return a->op == b->op && a->value == b->value && a->mask == b->mask && a->weight == b->weight &&
         a->skip_nan == b->skip_nan && a->reliability == b->reliability;
}

bool program_equal(const ndr_program *a, const ndr_program *b) {
  bool equal = a->node_count == b->node_count && a->part_count == b->part_count && a->result == b->result &&
               a->result_dtype == b->result_dtype && a->parameter_count == b->parameter_count;
  for (int i = 0; equal && i < a->node_count; i++) equal = same_node(&a->nodes[i], &b->nodes[i]);
  for (int i = 0; equal && i < a->part_count; i++) equal = same_part(&a->parts[i], &b->parts[i]);
  return equal && memcmp(a->parameters, b->parameters, (size_t)a->parameter_count * sizeof *a->parameters) == 0;
}
