/* Values and instructions of programs' code, and where they are. code_parts.c makes code of them. */
#include "cpu/program/code.h"

#include <string.h>

static int overflow(ndr_code *code) {
  code->overflows = true;
  return 0;
}

static bool equal(const ndr_value *a, const ndr_value *b) {
  return a->kind == b->kind && a->number == b->number && a->from == b->from && a->dtype == b->dtype && a->a == b->a &&
         a->b == b->b && a->c == b->c && a->bits == b->bits;
}

int ndr_code_add(ndr_code *code, ndr_value value) {
  const int operands[] = {value.a, value.b, value.c};
  for (int i = 0; i < code->value_count; i++)
    if (equal(&code->values[i], &value)) return i;
  if (code->value_count == NDR_MOST_VALUES) return overflow(code);
  value.constant = value.kind == NDR_VALUE_CONSTANT || value.kind >= NDR_VALUE_CONVERT;
  for (int i = 0; value.kind >= NDR_VALUE_CONVERT && i < 3; i++)
    if (operands[i] >= 0) value.constant = value.constant && code->values[operands[i]].constant;
  code->values[code->value_count] = value;
  return code->value_count++;
}

/* A value of no other, or of one. */
static int add_simple(ndr_code *code, ndr_value_kind kind, int number, ndr_dtype from, ndr_dtype dtype, int a) {
  return ndr_code_add(code, (ndr_value){.kind = (uint8_t)kind,
                                        .number = (int16_t)number,
                                        .from = (uint8_t)from,
                                        .dtype = (uint8_t)dtype,
                                        .a = (int16_t)a,
                                        .b = -1,
                                        .c = -1});
}

int ndr_code_constant(ndr_code *code, ndr_dtype dtype, double real, int64_t integer) {
  ndr_value value = {.kind = NDR_VALUE_CONSTANT, .a = -1, .b = -1, .c = -1};
  float narrow = (float)real;
  value.from = value.dtype = (uint8_t)dtype;
  switch (ndr_dtype_class(dtype)) {
  case NDR_CLASS_BOOL: value.bits = integer != 0; break;
  case NDR_CLASS_INT:
  case NDR_CLASS_UINT: value.bits = (uint64_t)integer; break;
  case NDR_CLASS_FLOAT:
  case NDR_CLASS_COMPLEX:
    if (dtype == NDR_F64 || dtype == NDR_C128)
      memcpy(&value.bits, &real, sizeof real);
    else
      memcpy(&value.bits, &narrow, sizeof narrow);
    break;
  }
  return ndr_code_add(code, value);
}

int ndr_code_step(ndr_code *code, const ndr_isa *isa, int number, ndr_dtype dtype, int a, int b, int c) {
  ndr_value value = {.kind = NDR_VALUE_STEP, .number = (int16_t)number, .from = (uint8_t)dtype};
  value.dtype = value.from;
  value.a = (int16_t)a;
  value.b = (int16_t)b;
  value.c = (int16_t)c;
  bool pair = dtype == NDR_C64 || dtype == NDR_C128;
  switch (number) {
  case NDR_NODE_LESS:
  case NDR_NODE_LESS_EQUAL:
  case NDR_NODE_EQUAL:
  case NDR_NODE_UNEQUAL:
  case NDR_NODE_ISNAN: value.dtype = NDR_BOOL; break;
  case NDR_NODE_ABS:
  case NDR_NODE_REAL_PART:
  case NDR_NODE_IMAGINARY_PART:
    if (pair) value.dtype = dtype == NDR_C64 ? NDR_F32 : NDR_F64;
    break;
  default: break;
  }
  return isa->step[number][dtype] ? ndr_code_add(code, value) : overflow(code);
}

/* ---- conversions ---- */

/* The dtype through which one dtype is converted to another for which there is no loop. */
static ndr_dtype between(ndr_dtype from, ndr_dtype to) {
  if (from == NDR_BOOL) return NDR_U8;
  if (from == NDR_F16 || from == NDR_BF16) return NDR_F32;
  if (from == NDR_C64 && to != NDR_C128) return NDR_F32;
  if (from == NDR_C128) return NDR_F64;
  if (to == NDR_C64) return NDR_F32;
  if (to == NDR_C128) return NDR_F64;
  if (from == NDR_F32 && ndr_dtype_is_integer(to)) return NDR_F64;
  if (from == NDR_F64 && ndr_dtype_is_integer(to)) return ndr_dtype_class(to) == NDR_CLASS_UINT ? NDR_U64 : NDR_I64;
  return from;
}

int ndr_code_convert(ndr_code *code, const ndr_isa *isa, int value, ndr_dtype dtype) {
  while (!code->overflows && (ndr_dtype)code->values[value].dtype != dtype) {
    ndr_dtype from = (ndr_dtype)code->values[value].dtype, to = dtype;
    bool same_bits = ndr_dtype_is_integer(from) && ndr_dtype_is_integer(to) && to != NDR_BOOL &&
                     ndr_dtype_bytes(from) == ndr_dtype_bytes(to);
    if (!same_bits && !isa->convert[from][to]) {
      to = between(from, to);
      if (to == from) return overflow(code);
    }
    value = add_simple(code, NDR_VALUE_CONVERT, 0, from, to, value);
  }
  return value;
}

/* ---- nodes ---- */

/* f16 and bf16 are computed as f32; in results, everything in the types of totals. */
static ndr_dtype held(ndr_dtype dtype, bool wide) {
  if (!wide) return dtype == NDR_F16 || dtype == NDR_BF16 ? NDR_F32 : dtype;
  return dtype == NDR_BOOL ? NDR_BOOL : ndr_dtype_widest(dtype);
}

/* Bytes of bool arrays may have any value: converted, they are 0 or 1. */
static int array_value(ndr_code *code, const ndr_isa *isa, const ndr_node *node, ndr_dtype array) {
  int value = add_simple(code, NDR_VALUE_ARRAY, node->a, array, array, -1);
  if (array == NDR_BOOL) return add_simple(code, NDR_VALUE_CONVERT, 0, NDR_U8, NDR_BOOL, value);
  return ndr_code_convert(code, isa, value, held(array, false));
}

static bool is_real(const ndr_code *code, int value, ndr_dtype dtype, double *real) {
  const ndr_value *v = &code->values[value];
  float narrow;
  if (v->kind != NDR_VALUE_CONSTANT) return false;
  memcpy(real, &v->bits, sizeof *real);
  memcpy(&narrow, &v->bits, sizeof narrow);
  if (dtype == NDR_F32) *real = (double)narrow;
  return true;
}

/* Squares, cubes and fourth powers are products. */
static int power(ndr_code *code, const ndr_isa *isa, ndr_dtype dtype, int base, int exponent) {
  double by;
  if (!is_real(code, exponent, dtype, &by) || (by != 2 && by != 3 && by != 4))
    return ndr_code_step(code, isa, NDR_NODE_POWER, dtype, base, exponent, -1);
  int square = ndr_code_step(code, isa, NDR_NODE_MULTIPLY, dtype, base, base, -1);
  if (by == 2) return square;
  return ndr_code_step(code, isa, NDR_NODE_MULTIPLY, dtype, square, by == 3 ? base : square, -1);
}

/* What a node without operands is; false for others. */
static bool leaf_value(ndr_code *code, const ndr_isa *isa, const ndr_program *program, const ndr_node *node,
                       ndr_dtype dtype, int *value) {
  switch (node->kind) {
  case NDR_NODE_ARRAY: *value = array_value(code, isa, node, program->arrays[node->a]); return true;
  case NDR_NODE_INDEX: *value = add_simple(code, NDR_VALUE_INDEX, node->a, NDR_I64, NDR_I64, -1); return true;
  case NDR_NODE_INTEGER: *value = ndr_code_constant(code, dtype, (double)node->integer, node->integer); return true;
  case NDR_NODE_REAL: *value = ndr_code_constant(code, dtype, node->real, 0); return true;
  case NDR_NODE_PARAMETER: *value = ndr_code_constant(code, dtype, program->parameters[node->a], 0); return true;
  case NDR_NODE_TOTAL: {
    ndr_dtype loaded = dtype == NDR_BOOL ? NDR_U64 : dtype;
    *value = add_simple(code, NDR_VALUE_ARRAY, node->a, loaded, loaded, -1);
    *value = ndr_code_convert(code, isa, *value, dtype);
    return true;
  }
  default: return false;
  }
}

/* Instructions that change nothing for a dtype; false for others. */
static bool plain_value(ndr_code *code, ndr_node_kind kind, ndr_dtype of, int a, int *value) {
  bool pair = of == NDR_C64 || of == NDR_C128;
  *value = a;
  switch (kind) {
  case NDR_NODE_ABS: return ndr_dtype_class(of) == NDR_CLASS_UINT || of == NDR_BOOL;
  case NDR_NODE_FLOOR: return ndr_dtype_is_integer(of);
  case NDR_NODE_REAL_PART:
  case NDR_NODE_CONJUGATE: return !pair;
  case NDR_NODE_IMAGINARY_PART:
    if (!pair) *value = ndr_code_constant(code, of, 0, 0);
    return !pair;
  case NDR_NODE_ISNAN:
    if (ndr_dtype_is_integer(of)) *value = ndr_code_constant(code, NDR_BOOL, 0, 0);
    return ndr_dtype_is_integer(of);
  default: return false;
  }
}

/* The constants of `list`, which may be a single one, and another behind them. */
static int add_list(ndr_code *code, ndr_dtype dtype, int count, int list, int constant) {
  return ndr_code_add(code, (ndr_value){.kind = NDR_VALUE_LIST,
                                        .number = (int16_t)count,
                                        .from = (uint8_t)dtype,
                                        .dtype = (uint8_t)dtype,
                                        .a = (int16_t)list,
                                        .b = (int16_t)constant,
                                        .c = -1});
}

/* chain * x + addend as one instruction, if `chain` is steps of Horner's rule in the same x; -1 if it is not, or has as
 * many as there are instructions for. */
static int extend_horner(ndr_code *code, const ndr_isa *isa, ndr_dtype dtype, int chain, int x, int addend) {
  ndr_value v = code->values[chain];
  if (v.kind != NDR_VALUE_STEP || v.from != dtype || v.number < NDR_STEP_HORNER_1 || v.number >= NDR_STEP_HORNER_8)
    return -1;
  if (v.number == NDR_STEP_HORNER_1 && v.b != x) { /* the first product may be written either way round */
    int16_t first = v.a;
    v.a = v.b;
    v.b = first;
  }
  if (v.b != x) return -1;
  int list = add_list(code, dtype, v.number - NDR_STEP_HORNER_1 + 2, v.c, addend);
  return ndr_code_step(code, isa, v.number + 1, dtype, v.a, x, list);
}

/* A product and `addend` as one instruction; -1 if `product` is none. A product, or a chain of them, that others need,
 * too, is computed twice. */
static int multiply_add(ndr_code *code, const ndr_isa *isa, ndr_dtype dtype, int product, int addend) {
  const ndr_value p = code->values[product];
  bool multiplies = p.kind == NDR_VALUE_STEP && p.number == NDR_NODE_MULTIPLY && !p.constant;
  int number = code->values[addend].constant ? NDR_STEP_HORNER_1 : NDR_STEP_MULTIPLY_ADD, longer = -1;
  if (!multiplies || !isa->step[number][dtype]) return -1;
  if (number == NDR_STEP_HORNER_1) longer = extend_horner(code, isa, dtype, p.a, p.b, addend);
  if (number == NDR_STEP_HORNER_1 && longer < 0) longer = extend_horner(code, isa, dtype, p.b, p.a, addend);
  return longer < 0 ? ndr_code_step(code, isa, number, dtype, p.a, p.b, addend) : longer;
}

static int sum_value(ndr_code *code, const ndr_isa *isa, ndr_dtype dtype, int a, int b) {
  int sum = multiply_add(code, isa, dtype, a, b);
  if (sum < 0) sum = multiply_add(code, isa, dtype, b, a);
  return sum < 0 ? ndr_code_step(code, isa, NDR_NODE_ADD, dtype, a, b, -1) : sum;
}

static int node_value(ndr_code *code, const ndr_isa *isa, const ndr_program *program, const ndr_node *node, bool wide,
                      const int *values) {
  ndr_dtype dtype = held(node->dtype, wide);
  int a = -1, b = -1, c = -1, value;
  if (leaf_value(code, isa, program, node, dtype, &value)) return value;
  if (node->a >= 0) a = values[node->a];
  if (node->b >= 0) b = values[node->b];
  if (node->c >= 0) c = values[node->c];
  if (code->overflows) return 0;
  ndr_dtype of = (ndr_dtype)code->values[node->kind == NDR_NODE_SELECT ? b : a].dtype;
  if (node->kind == NDR_NODE_CONVERT) return ndr_code_convert(code, isa, a, dtype);
  if (node->kind == NDR_NODE_POWER) return power(code, isa, of, a, b);
  if (node->kind == NDR_NODE_ADD) return sum_value(code, isa, of, a, b);
  if (plain_value(code, node->kind, of, a, &value)) return value;
  return ndr_code_step(code, isa, (int)node->kind, of, a, b, c);
}

void ndr_code_nodes(ndr_code *code, const ndr_isa *isa, const ndr_program *program, const bool *wanted, int *values) {
  bool needed[NDR_MOST_NODES];
  memcpy(needed, wanted, sizeof needed);
  ndr_program_mark_needed(program, needed);
  for (int n = 0; n < program->node_count && !code->overflows; n++)
    values[n] = needed[n] ? node_value(code, isa, program, &program->nodes[n], false, values) : 0;
}

void ndr_code_result_nodes(ndr_code *code, const ndr_isa *isa, const ndr_program *program, int *values) {
  bool needed[NDR_MOST_NODES] = {false};
  needed[program->result] = true;
  ndr_program_mark_needed(program, needed);
  for (int n = 0; n < program->node_count && !code->overflows; n++)
    if (needed[n]) values[n] = node_value(code, isa, program, &program->nodes[n], true, values);
}

/* ---- where values are ---- */

/* Whether only folds that take one factor a row read this value. To be asked when its `last` is final. */
static bool is_row_factor(const ndr_code *code, int value) {
  if (code->values[value].last != 0) return false;
  for (int f = 0; f < code->fold_count; f++) {
    const ndr_code_fold *fold = &code->folds[f];
    if (fold->value == value || (fold->factors == value && !fold->takes_row_factors)) return false;
  }
  return true;
}

/* Whether a fold of two arrays behind number `f` reads a value. */
static bool is_read_later(const ndr_code *code, int f, int value) {
  for (f++; f < code->fold_count; f++) {
    const ndr_code_fold *fold = &code->folds[f];
    if (fold->factors >= 0 && (fold->value == value || fold->factors == value)) return true;
  }
  return false;
}

/* Marks what the folds need. Other values were made on the way to something simpler. */
void ndr_code_mark(ndr_code *code) {
  int reading = 0;
  for (int f = 0; f < code->fold_count; f++) {
    const int value = code->folds[f].value, factors = code->folds[f].factors;
    bool reads = !code->values[value].constant || (factors >= 0 && !code->values[factors].constant);
    if (reads) reading++;
    code->folds[f].last_reader = !is_read_later(code, f, value);
    code->folds[f].last_factors_reader = factors >= 0 && factors != value && !is_read_later(code, f, factors);
    code->values[value].used = true;
    if (factors >= 0) code->values[factors].used = true;
  }
  for (int i = code->value_count - 1; i >= 0; i--) {
    ndr_value *value = &code->values[i];
    const int operands[] = {value->a, value->b, value->c};
    for (int k = 0; value->used && k < 3; k++) {
      if (operands[k] < 0) continue;
      ndr_value *operand = &code->values[operands[k]];
      if (operand->last < i) operand->last = (int16_t)i;
      operand->used = true;
    }
    if (value->used && value->kind == NDR_VALUE_ARRAY) {
      code->arrays |= 1u << value->number;
      if (is_row_factor(code, i)) code->row_factor_arrays |= 1u << value->number;
    }
    if (value->used && value->kind != NDR_VALUE_ARRAY && !value->constant) code->runs_strips = true;
    if (!value->used || value->kind < NDR_VALUE_CONVERT || value->constant) continue;
    value->next = (int16_t)code->first; /* value 0 is computed of nothing */
    code->first = i;
  }
  code->shares = reading > 1;
  if (code->shares) code->rereads = true;
}

/* Registers that hold the same value for a whole strip, or that others fill before it is run. */
static bool keeps_register(const ndr_value *value) {
  return value->constant || value->kind == NDR_VALUE_INDEX;
}

static int64_t bytes_of(const ndr_value *value) {
  return (int64_t)ndr_dtype_bytes((ndr_dtype)value->dtype);
}

static bool is_register(const ndr_value *value) {
  return value->used && value->place == NDR_IN_REGISTER;
}

/* A computed value's register is used again after the last value that reads it. Those of constants last. */
static void place_registers(ndr_code *code) {
  int64_t bytes = 0, spare[NDR_MOST_VALUES];
  int spare_count = 0;
  for (int i = 0; i < code->value_count; i++)
    if (is_register(&code->values[i]) && bytes < bytes_of(&code->values[i])) bytes = bytes_of(&code->values[i]);
  for (int i = 0; i < code->value_count; i++) {
    ndr_value *value = &code->values[i];
    if (is_register(value) && (keeps_register(value) || spare_count == 0)) {
      value->offset = code->register_bytes;
      code->register_bytes += code->strip * bytes;
    } else if (is_register(value)) {
      value->offset = spare[--spare_count];
    }
    const int operands[] = {value->a, value->b, value->c};
    for (int k = 0; value->used && k < 3; k++) {
      bool again = (k > 0 && operands[k] == operands[0]) || (k > 1 && operands[k] == operands[1]);
      const ndr_value *operand = operands[k] < 0 || again ? NULL : &code->values[operands[k]];
      if (operand && is_register(operand) && !keeps_register(operand) && operand->last == i)
        spare[spare_count++] = operand->offset;
    }
  }
}

/* Whether a value is a constant that is a factor of folds, and nothing else. */
static bool is_constant_factor(const ndr_code *code, int value) {
  bool other = code->values[value].last != 0;
  for (int f = 0; f < code->fold_count; f++) other = other || code->folds[f].value == value;
  return code->values[value].constant && !other;
}

/* Elements of the tile of a value that is folded. Constants that are computed from it have a strip's. */
static int64_t tile_room(const ndr_code *code, int value, int64_t block, int64_t lanes) {
  if (is_constant_factor(code, value)) return lanes;
  return code->values[value].constant && block < code->strip ? code->strip : block;
}

/* What is folded has a tile, unless it is an array. */
void ndr_code_place(ndr_code *code, int64_t block, int64_t lanes) {
  for (int i = 0; i < code->value_count; i++) {
    code->values[i].place = code->values[i].kind == NDR_VALUE_ARRAY ? NDR_IN_ARRAY : NDR_IN_REGISTER;
    code->values[i].room = code->strip;
  }
  for (int f = 0; f < code->fold_count; f++) {
    const int folded[] = {code->folds[f].value, code->folds[f].factors};
    for (int k = 0; k < 2; k++) {
      ndr_value *value = folded[k] < 0 ? NULL : &code->values[folded[k]];
      if (!value || value->place != NDR_IN_REGISTER) continue;
      value->place = NDR_IN_TILE;
      value->room = tile_room(code, folded[k], block, lanes);
      value->offset = code->tile_bytes;
      code->tile_bytes += (value->room * bytes_of(value) + 63) / 64 * 64;
    }
  }
  place_registers(code);
}
