/* The definition of what programs mean: one place, one node at a time. Fast loops and kernels are compared with it. */
#include <math.h>
#include <string.h>

#include "core/operator.h"

/* What a node is computed from. In `wide` nothing is rounded or wrapped before the end: integers have 64 bits, floats
 * are f64. */
typedef struct place {
  const ndr_program *program;
  ndr_scalar *values;
  const ndr_scalar *elements, *totals;
  const int64_t *indices;
  int64_t length;
  bool wide;
} place;

static bool is_complex(ndr_dtype dtype) {
  return ndr_dtype_class(dtype) == NDR_CLASS_COMPLEX;
}

static bool is_signed(ndr_dtype dtype) {
  return ndr_dtype_class(dtype) == NDR_CLASS_INT;
}

/* ---- elements ---- */

ndr_scalar ndr_scalar_load(ndr_dtype dtype, const void *data, int64_t element) {
  ndr_scalar value = {.dtype = dtype};
  size_t bytes = ndr_dtype_bytes(dtype);
  const char *from = (const char *)data + element * (int64_t)bytes;
  union {
    uint8_t u8;
    int8_t i8;
    uint16_t u16;
    int16_t i16;
    uint32_t u32;
    int32_t i32;
    uint64_t u64;
    int64_t i64;
    float f32[2];
    double f64[2];
  } stored;
  memcpy(&stored, from, bytes);
  switch (dtype) {
  case NDR_BOOL: value.u = stored.u8 != 0; break;
  case NDR_I8: value.i = 0 + stored.i8; break;
  case NDR_I16: value.i = stored.i16; break;
  case NDR_I32: value.i = stored.i32; break;
  case NDR_I64: value.i = stored.i64; break;
  case NDR_U8: value.u = stored.u8; break;
  case NDR_U16: value.u = stored.u16; break;
  case NDR_U32: value.u = stored.u32; break;
  case NDR_U64: value.u = stored.u64; break;
  case NDR_F16: value.re = (double)ndr_f16_to_float(stored.u16); break;
  case NDR_BF16: value.re = (double)ndr_bf16_to_float(stored.u16); break;
  case NDR_F32: value.re = (double)stored.f32[0]; break;
  case NDR_F64: value.re = stored.f64[0]; break;
  case NDR_C64:
    value.re = (double)stored.f32[0];
    value.im = (double)stored.f32[1];
    break;
  case NDR_C128:
    value.re = stored.f64[0];
    value.im = stored.f64[1];
    break;
  }
  return value;
}

/* ---- conversions ---- */

/* Cuts an integer to the bits of its dtype. */
static ndr_scalar wrap(ndr_scalar value, ndr_dtype dtype) {
  int spare = 64 - 8 * (int)ndr_dtype_bytes(dtype);
  if (is_signed(dtype))
    value.i = (int64_t)(value.u << spare) >> spare;
  else
    value.u = value.u << spare >> spare;
  return value;
}

/* Rounds or cuts a computed value to its node's dtype. */
static ndr_scalar settle(ndr_scalar value, ndr_dtype dtype, bool wide) {
  value.dtype = dtype;
  if (wide) return value;
  switch (ndr_dtype_class(dtype)) {
  case NDR_CLASS_BOOL: break;
  case NDR_CLASS_INT:
  case NDR_CLASS_UINT: return wrap(value, dtype);
  case NDR_CLASS_FLOAT:
    if (dtype != NDR_F64) value.re = (double)(float)value.re;
    break;
  case NDR_CLASS_COMPLEX:
    if (dtype == NDR_C128) break;
    value.re = (double)(float)value.re;
    value.im = (double)(float)value.im;
  }
  return value;
}

static bool is_true(ndr_scalar value) {
  return ndr_dtype_is_float(value.dtype) ? value.re != 0 || value.im != 0 : value.u != 0;
}

/* C leaves open what happens beyond the limits: there they are taken, and 0 for NaN. */
static int64_t integer_of(double value, bool is_unsigned) {
  if (isnan(value)) return 0;
  if (is_unsigned) return (int64_t)(value <= 0 ? 0 : value >= 0x1p64 ? UINT64_MAX : (uint64_t)value);
  return value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

static ndr_scalar convert(ndr_scalar value, ndr_dtype dtype, bool wide) {
  ndr_scalar out = {.dtype = dtype};
  bool from_float = ndr_dtype_is_float(value.dtype), single = !wide && dtype != NDR_F64 && dtype != NDR_C128;
  if (dtype == NDR_BOOL) {
    out.u = is_true(value);
    return out;
  }
  if (!ndr_dtype_is_float(dtype)) {
    out.i = from_float ? integer_of(value.re, !is_signed(dtype)) : value.i;
  } else if (from_float) {
    out.re = value.re;
    if (is_complex(dtype)) out.im = value.im;
  } else if (is_signed(value.dtype)) { /* straight to f32, not by way of f64 */
    out.re = single ? (double)(float)value.i : (double)value.i;
  } else {
    out.re = single ? (double)(float)value.u : (double)value.u;
  }
  return settle(out, dtype, wide);
}

void ndr_scalar_store(ndr_scalar value, ndr_dtype dtype, void *data, int64_t element) {
  size_t bytes = ndr_dtype_bytes(dtype);
  char *to = (char *)data + element * (int64_t)bytes;
  /* Halves are rounded from f64, once. */
  bool half = dtype == NDR_F16 || dtype == NDR_BF16;
  value = convert(value, half ? NDR_F64 : dtype, false);
  switch (dtype) {
  case NDR_F16: memcpy(to, &(ndr_f16){ndr_f16_from_double(value.re)}, bytes); break;
  case NDR_BF16: memcpy(to, &(ndr_bf16){ndr_bf16_from_double(value.re)}, bytes); break;
  case NDR_F32: memcpy(to, &(float){(float)value.re}, bytes); break;
  case NDR_F64: memcpy(to, &value.re, bytes); break;
  case NDR_C64: memcpy(to, &(ndr_c64){(float)value.re, (float)value.im}, bytes); break;
  case NDR_C128: memcpy(to, &(ndr_c128){value.re, value.im}, bytes); break;
  default:
    switch (bytes) {
    case 1: memcpy(to, &(uint8_t){(uint8_t)value.u}, bytes); break;
    case 2: memcpy(to, &(uint16_t){(uint16_t)value.u}, bytes); break;
    case 4: memcpy(to, &(uint32_t){(uint32_t)value.u}, bytes); break;
    default: memcpy(to, &value.u, bytes);
    }
  }
}

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
    less = is_signed(a.dtype) ? a.i < b.i : a.u < b.u;
    equal = a.u == b.u;
  }
  return kind == NDR_NODE_LESS ? less : kind == NDR_NODE_LESS_EQUAL ? less || equal : equal == (kind == NDR_NODE_EQUAL);
}

static ndr_scalar negate(ndr_scalar a) {
  return (ndr_scalar){.u = 0 - a.u, .re = -a.re, .im = -a.im};
}

static ndr_scalar magnitude(ndr_scalar a) {
  if (is_complex(a.dtype)) return real_value(hypot(a.re, a.im));
  if (ndr_dtype_is_float(a.dtype)) return real_value(fabs(a.re));
  return is_signed(a.dtype) && a.i < 0 ? negate(a) : a;
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
  if (ndr_dtype_is_float(a.dtype)) return compute_floats(kind, a, b, is_complex(a.dtype));
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
  case NDR_NODE_LENGTH: value = (ndr_scalar){.i = at->length}; break;
  case NDR_NODE_CONVERT: return convert(values[node->a], node->dtype, at->wide);
  case NDR_NODE_SELECT: value = values[node->a].u ? values[node->b] : values[node->c]; break;
  default:
    value = node->b < 0 ? compute_one(node->kind, values[node->a])
                        : compute_two(node->kind, values[node->a], values[node->b]);
  }
  return settle(value, node->dtype, at->wide);
}

/* The operands of a node, as numbers of nodes; returns how many there are. */
static int operands_of(const ndr_node *node, int *operands) {
  if (node->kind < NDR_NODE_CONVERT) return 0;
  operands[0] = node->a;
  operands[1] = node->b;
  operands[2] = node->c;
  return node->b < 0 ? 1 : node->c < 0 ? 2 : 3;
}

void ndr_program_evaluate(const ndr_program *program, const ndr_scalar *elements, const int64_t *places,
                          ndr_scalar *values) {
  const place at = {program, values, elements, elements, places, 0, false};
  bool of_totals[NDR_MOST_NODES];
  for (int i = 0; i < program->node_count; i++) {
    const ndr_node *node = &program->nodes[i];
    int operands[3], count = operands_of(node, operands);
    of_totals[i] = node->kind == NDR_NODE_TOTAL || node->kind == NDR_NODE_LENGTH;
    for (int k = 0; k < count; k++) of_totals[i] = of_totals[i] || of_totals[operands[k]];
    values[i] = of_totals[i] ? (ndr_scalar){.dtype = node->dtype} : evaluate_node(&at, node);
  }
}

/* The dtype in which a node of the result is computed. */
static ndr_dtype widest(ndr_dtype dtype) {
  switch (ndr_dtype_class(dtype)) {
  case NDR_CLASS_BOOL: return NDR_BOOL;
  case NDR_CLASS_INT: return NDR_I64;
  case NDR_CLASS_UINT: return NDR_U64;
  case NDR_CLASS_FLOAT: return NDR_F64;
  case NDR_CLASS_COMPLEX: break;
  }
  return NDR_C128;
}

ndr_scalar ndr_program_finish(const ndr_program *program, const ndr_scalar *totals, int64_t length) {
  static const int64_t no_indices[NDR_MAX_DIMS] = {0}; /* results have no nodes of elements */
  ndr_scalar values[NDR_MOST_NODES], result;
  const place at = {program, values, totals, totals, no_indices, length, true};
  bool used[NDR_MOST_NODES] = {false};
  used[program->result] = true;
  for (int i = program->result; i >= 0; i--) {
    int operands[3], count = used[i] ? operands_of(&program->nodes[i], operands) : 0;
    for (int k = 0; k < count; k++) used[operands[k]] = true;
  }
  for (int i = 0; i <= program->result; i++)
    if (used[i]) values[i] = evaluate_node(&at, &program->nodes[i]);
  result = values[program->result];
  result.dtype = widest(program->nodes[program->result].dtype);
  return result;
}
