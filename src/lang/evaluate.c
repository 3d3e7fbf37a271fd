/* The definition of what programs mean: one place, one node at a time. Fast loops and kernels are compared with it. */
#include "lang/evaluate.h"

#include <math.h>

/* What a node is computed from. In `wide` nothing is rounded or wrapped before the end: integers have 64 bits, floats
 * are f64. */
typedef struct place {
  const ndr_program *program;
  ndr_scalar *values;
  const ndr_scalar *elements, *totals;
  const int64_t *indices;
  bool wide;
} place;

/* ---- arithmetic; the caller settles ---- */

static ndr_scalar real_value(double value) {
  return (ndr_scalar){.re = value};
}

/* Smith's way, which divides by neither square. */
static ndr_scalar divide_complex(ndr_scalar a, ndr_scalar b) {
  if (fabs(b.re) >= fabs(b.im)) {
    double ratio = b.im / b.re, divisor = b.re + b.im * ratio;
    if (b.re == 0 && b.im == 0) return (ndr_scalar){.re = a.re / fabs(b.re), .im = a.im / fabs(b.re)};
    return (ndr_scalar){.re = (a.re + a.im * ratio) / divisor, .im = (a.im - a.re * ratio) / divisor};
  }
  double ratio = b.re / b.im, divisor = b.im + b.re * ratio;
  return (ndr_scalar){.re = (a.re * ratio + a.im) / divisor, .im = (a.im * ratio - a.re) / divisor};
}

static ndr_scalar compute_floats(ndr_node_kind kind, ndr_scalar a, ndr_scalar b, bool complex) {
  switch (kind) {
  case NDR_NODE_ADD: return (ndr_scalar){.re = a.re + b.re, .im = a.im + b.im};
  case NDR_NODE_SUBTRACT: return (ndr_scalar){.re = a.re - b.re, .im = a.im - b.im};
  case NDR_NODE_MULTIPLY:
    if (!complex) return real_value(a.re * b.re);
    return (ndr_scalar){.re = a.re * b.re - a.im * b.im, .im = a.re * b.im + a.im * b.re};
  case NDR_NODE_DIVIDE: return complex ? divide_complex(a, b) : real_value(a.re / b.re);
  case NDR_NODE_POWER: return real_value(pow(a.re, b.re));
  case NDR_NODE_MINIMUM: return isnan(a.re) || a.re < b.re ? a : b;
  default: return isnan(a.re) || a.re > b.re ? a : b;
  }
}

static ndr_scalar compute_integers(ndr_node_kind kind, ndr_scalar a, ndr_scalar b, bool less) {
  switch (kind) {
  case NDR_NODE_ADD: return (ndr_scalar){.u = a.u + b.u};
  case NDR_NODE_SUBTRACT: return (ndr_scalar){.u = a.u - b.u};
  case NDR_NODE_MULTIPLY: return (ndr_scalar){.u = a.u * b.u};
  case NDR_NODE_MINIMUM: return less ? a : b;
  default: return less ? b : a;
  }
}

static bool compare(ndr_node_kind kind, ndr_scalar a, ndr_scalar b) {
  bool less, equal;
  if (ndr_dtype_is_float(a.dtype)) {
    less = a.re < b.re;
    equal = a.re == b.re && a.im == b.im;
  } else {
    less = ndr_dtype_is_signed(a.dtype) ? a.i < b.i : a.u < b.u;
    equal = a.u == b.u;
  }
  return kind == NDR_NODE_LESS ? less : kind == NDR_NODE_LESS_EQUAL ? less || equal : equal == (kind == NDR_NODE_EQUAL);
}

static ndr_scalar negate(ndr_scalar a) {
  return (ndr_scalar){.u = 0 - a.u, .re = -a.re, .im = -a.im};
}

static ndr_scalar magnitude(ndr_scalar a) {
  if (ndr_dtype_is_complex(a.dtype)) return real_value(hypot(a.re, a.im));
  if (ndr_dtype_is_float(a.dtype)) return real_value(fabs(a.re));
  return ndr_dtype_is_signed(a.dtype) && a.i < 0 ? negate(a) : a;
}

static bool is_nan(ndr_scalar a) {
  return ndr_dtype_is_float(a.dtype) && (isnan(a.re) || isnan(a.im));
}

static ndr_scalar compute_one(ndr_node_kind kind, ndr_scalar a) {
  switch (kind) {
  case NDR_NODE_NEGATE: return negate(a);
  case NDR_NODE_ABS: return magnitude(a);
  case NDR_NODE_NOT: return (ndr_scalar){.u = !a.u};
  case NDR_NODE_SQRT: return real_value(sqrt(a.re));
  case NDR_NODE_EXP: return real_value(exp(a.re));
  case NDR_NODE_LOG: return real_value(log(a.re));
  case NDR_NODE_SIN: return real_value(sin(a.re));
  case NDR_NODE_COS: return real_value(cos(a.re));
  case NDR_NODE_FLOOR: return real_value(floor(a.re));
  case NDR_NODE_ISNAN: return (ndr_scalar){.u = is_nan(a)};
  case NDR_NODE_REAL_PART: return real_value(a.re);
  case NDR_NODE_IMAGINARY_PART: return real_value(a.im);
  default: return (ndr_scalar){.re = a.re, .im = -a.im}; /* CONJUGATE */
  }
}

static ndr_scalar compute_two(ndr_node_kind kind, ndr_scalar a, ndr_scalar b) {
  switch (kind) {
  case NDR_NODE_LESS:
  case NDR_NODE_LESS_EQUAL:
  case NDR_NODE_EQUAL:
  case NDR_NODE_UNEQUAL: return (ndr_scalar){.u = compare(kind, a, b)};
  case NDR_NODE_AND: return (ndr_scalar){.u = a.u & b.u};
  case NDR_NODE_OR: return (ndr_scalar){.u = a.u | b.u};
  default: break;
  }
  if (ndr_dtype_is_float(a.dtype)) return compute_floats(kind, a, b, ndr_dtype_is_complex(a.dtype));
  return compute_integers(kind, a, b, compare(NDR_NODE_LESS, a, b));
}

/* ---- nodes ---- */

static ndr_scalar evaluate_node(const place *at, const ndr_node *node) {
  const ndr_scalar *values = at->values;
  ndr_scalar value;
  switch (node->kind) {
  case NDR_NODE_ARRAY: return at->elements[node->a];
  case NDR_NODE_INDEX: value = (ndr_scalar){.i = at->indices[node->a]}; break;
  case NDR_NODE_INTEGER: value = (ndr_scalar){.i = node->integer}; break;
  case NDR_NODE_REAL: value = real_value(node->real); break;
  case NDR_NODE_PARAMETER: value = real_value(at->program->parameters[node->a]); break;
  case NDR_NODE_TOTAL: value = at->totals[node->a]; break;
  case NDR_NODE_CONVERT: return ndr_scalar_convert(values[node->a], node->dtype, at->wide);
  case NDR_NODE_SELECT: value = values[node->a].u ? values[node->b] : values[node->c]; break;
  default:
    value = node->b < 0 ? compute_one(node->kind, values[node->a])
                        : compute_two(node->kind, values[node->a], values[node->b]);
  }
  return ndr_scalar_settle(value, node->dtype, at->wide);
}

void ndr_program_evaluate(const ndr_program *program, const ndr_scalar *elements, const int64_t *places,
                          ndr_scalar *values) {
  const place at = {program, values, elements, elements, places, false};
  bool of_totals[NDR_MOST_NODES];
  for (int i = 0; i < program->node_count; i++) {
    const ndr_node *node = &program->nodes[i];
    int operands[3], count = ndr_node_operands(node, operands);
    of_totals[i] = node->kind == NDR_NODE_TOTAL;
    for (int k = 0; k < count; k++) of_totals[i] = of_totals[i] || of_totals[operands[k]];
    values[i] = of_totals[i] ? (ndr_scalar){.dtype = node->dtype} : evaluate_node(&at, node);
  }
}

ndr_scalar ndr_program_finish(const ndr_program *program, const ndr_scalar *totals) {
  static const int64_t no_indices[NDR_MAX_DIMS] = {0}; /* results have no nodes of elements */
  ndr_scalar values[NDR_MOST_NODES], result;
  const place at = {program, values, totals, totals, no_indices, true};
  bool needed[NDR_MOST_NODES] = {false};
  needed[program->result] = true;
  ndr_program_mark_needed(program, needed);
  for (int i = 0; i <= program->result; i++)
    if (needed[i]) values[i] = evaluate_node(&at, &program->nodes[i]);
  result = values[program->result];
  result.dtype = ndr_dtype_widest(program->nodes[program->result].dtype);
  return result;
}
