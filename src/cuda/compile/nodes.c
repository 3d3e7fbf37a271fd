/* See nodes.h. A node becomes a constant, n and its number, in the order of the program: operands stand before it. */
#include "cuda/compile/nodes.h"

#include <string.h>

#include "core/text.h"

static const struct {
  const char *of_elements, *of_totals;
} types[NDR_DTYPE_COUNT] = {
    [NDR_BOOL] = {"bool", "bool"},    [NDR_I8] = {"i8", "i64"},         [NDR_I16] = {"i16", "i64"},
    [NDR_I32] = {"i32", "i64"},       [NDR_I64] = {"i64", "i64"},       [NDR_U8] = {"u8", "u64"},
    [NDR_U16] = {"u16", "u64"},       [NDR_U32] = {"u32", "u64"},       [NDR_U64] = {"u64", "u64"},
    [NDR_F16] = {"float", "double"},  [NDR_BF16] = {"float", "double"}, [NDR_F32] = {"float", "double"},
    [NDR_F64] = {"double", "double"}, [NDR_C64] = {"c64", "c128"},      [NDR_C128] = {"c128", "c128"},
};

const char *ndr_cuda_value_type(ndr_cuda_place place, ndr_dtype dtype) {
  return place == NDR_CUDA_OF_ELEMENTS ? types[dtype].of_elements : types[dtype].of_totals;
}

/* The text of a node, in which each @ stands for the next operand and T for the type of the first. write_leaf() has
 * those without operands. */
static const char *const texts[] = {
    [NDR_NODE_CONVERT] = "@",
    [NDR_NODE_NEGATE] = "number<T>::negative(@)",
    [NDR_NODE_ABS] = "number<T>::size(@)",
    [NDR_NODE_NOT] = "!@",
    [NDR_NODE_SQRT] = "number<T>::root(@)",
    [NDR_NODE_EXP] = "number<T>::exponential(@)",
    [NDR_NODE_LOG] = "number<T>::logarithm(@)",
    [NDR_NODE_SIN] = "number<T>::sine(@)",
    [NDR_NODE_COS] = "number<T>::cosine(@)",
    [NDR_NODE_FLOOR] = "number<T>::floored(@)",
    [NDR_NODE_ISNAN] = "is_nan(@)",
    [NDR_NODE_REAL_PART] = "real_part(@)",
    [NDR_NODE_IMAGINARY_PART] = "imaginary_part(@)",
    [NDR_NODE_CONJUGATE] = "conjugate(@)",
    [NDR_NODE_ADD] = "number<T>::sum(@, @)",
    [NDR_NODE_SUBTRACT] = "number<T>::difference(@, @)",
    [NDR_NODE_MULTIPLY] = "number<T>::product(@, @)",
    [NDR_NODE_DIVIDE] = "number<T>::quotient(@, @)",
    [NDR_NODE_POWER] = "number<T>::power(@, @)",
    [NDR_NODE_MINIMUM] = "number<T>::least(@, @)",
    [NDR_NODE_MAXIMUM] = "number<T>::most(@, @)",
    [NDR_NODE_LESS] = "@ < @",
    [NDR_NODE_LESS_EQUAL] = "@ <= @",
    [NDR_NODE_EQUAL] = "equal(@, @)",
    [NDR_NODE_UNEQUAL] = "!equal(@, @)",
    [NDR_NODE_AND] = "@ && @",
    [NDR_NODE_OR] = "@ || @",
    [NDR_NODE_SELECT] = "@ ? @ : @",
};

/* A node that has no operands. Constants are written as their bits, so that none is rounded. narrow: its type is float.
 */
static void write_leaf(ndr_cuda_text *out, const ndr_node *node, bool narrow, const ndr_cuda_names *names) {
  unsigned long long bits;
  switch (node->kind) {
  case NDR_NODE_ARRAY:
    if (names->several)
      ndr_cuda_write(out, "x[i].array%d", node->a);
    else
      ndr_cuda_write(out, "x[i]");
    return;
  case NDR_NODE_INDEX: ndr_cuda_write(out, "x[i].place%d", node->a); return;
  case NDR_NODE_INTEGER: ndr_cuda_write(out, "(i64)0x%llxull", (unsigned long long)node->integer); return;
  case NDR_NODE_REAL:
    memcpy(&bits, &node->real, sizeof bits);
    ndr_cuda_write(out, "machine::double_of(0x%llxull)", bits);
    return;
  case NDR_NODE_PARAMETER:
    ndr_cuda_write(out, "%s[%d]",
                   narrow && ndr_cuda_is_narrow(names->parameters + node->a, names->all_parameters) ? "narrow"
                                                                                                    : "parameters",
                   names->parameters + node->a);
    return;
  default: ndr_cuda_write(out, "total%d", node->a); return;
  }
}

static void write_operation(ndr_cuda_text *out, const ndr_program *program, ndr_cuda_place place,
                            const ndr_node *node) {
  const char *type = ndr_cuda_value_type(place, program->nodes[node->a].dtype);
  int operands[3], count = ndr_node_operands(node, operands), used = 0;
  for (const char *c = texts[node->kind]; *c; c++) {
    if (*c == '@' && used < count)
      ndr_cuda_write(out, "n%d", operands[used++]);
    else if (*c == 'T')
      ndr_cuda_write(out, "%s", type);
    else
      ndr_cuda_write(out, "%c", *c);
  }
}

static bool is_step(const ndr_node *node) {
  return node->fused && ndr_dtype_class(node->dtype) == NDR_CLASS_FLOAT;
}

/* Whether nothing but steps of poly needs a node, as their product: they compute it themselves. */
static bool is_in_steps(const ndr_program *program, const bool needed[NDR_MOST_NODES], int number) {
  bool in_steps = false;
  for (int i = number + 1; i < program->node_count; i++) {
    int operands[3], count = ndr_node_operands(&program->nodes[i], operands);
    for (int k = 0; needed[i] && k < count; k++) {
      if (operands[k] != number) continue;
      if (k > 0 || !is_step(&program->nodes[i])) return false;
      in_steps = true;
    }
  }
  for (int k = 0; k < program->part_count; k++) {
    const ndr_part *part = &program->parts[k];
    if (part->value == number || part->mask == number || part->weight == number) return false;
  }
  return in_steps && program->result != number;
}

void ndr_cuda_write_nodes(ndr_cuda_text *out, const ndr_program *program, ndr_cuda_place place,
                          const ndr_cuda_names *names, const bool needed[NDR_MOST_NODES]) {
  const char *indent = place == NDR_CUDA_OF_ELEMENTS ? "      " : "    ";
  for (int i = 0; i < program->node_count; i++) {
    const ndr_node *node = &program->nodes[i];
    const char *type = ndr_cuda_value_type(place, node->dtype);
    bool leaf = node->kind < NDR_NODE_CONVERT, converts = leaf || node->kind == NDR_NODE_CONVERT;
    if (!needed[i] || is_in_steps(program, needed, i)) continue;
    ndr_cuda_write(out, "%sconst %s n%d = ", indent, type, i);
    if (converts) ndr_cuda_write(out, "conversion<%s>::of(", type);
    if (leaf)
      write_leaf(out, node, strcmp(type, "float") == 0, names);
    else if (is_step(node))
      ndr_cuda_write(out, "number<%s>::step(n%d, n%d, n%d)", type, program->nodes[node->a].a, program->nodes[node->a].b,
                     node->b);
    else
      write_operation(out, program, place, node);
    ndr_cuda_write(out, "%s;\n", converts ? ")" : "");
  }
}
