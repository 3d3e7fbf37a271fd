/* Makes code. What parts fold: values with neutral elements in place of those that are masked out, weighted values, and
 * the kernels for them. */
#include "cpu/program/code.h"

#include <math.h>
#include <string.h>

typedef struct part_code {
  ndr_code *code;
  const ndr_isa *isa;
  ndr_state state;
  int words_before;
  int value, mask, weight; /* values of the code; -1: none */
  bool skip;               /* NaN values are left out */
  bool accumulate_f64;
} part_code;

static ndr_dtype dtype_of(const part_code *p, int value) {
  return (ndr_dtype)p->code->values[value].dtype;
}

static int step(const part_code *p, int number, ndr_dtype dtype, int a, int b, int c) {
  return ndr_code_step(p->code, p->isa, number, dtype, a, b, c);
}

static int convert(const part_code *p, int value, ndr_dtype dtype) {
  return ndr_code_convert(p->code, p->isa, value, dtype);
}

static int both(const part_code *p, int a, int b) {
  return a < 0 ? b : b < 0 ? a : step(p, NDR_NODE_AND, NDR_BOOL, a, b, -1);
}

static int present(const part_code *p, int value) {
  int missing = step(p, NDR_NODE_ISNAN, dtype_of(p, value), value, -1, -1);
  return step(p, NDR_NODE_NOT, NDR_BOOL, missing, -1, -1);
}

/* The value where the mask is true, and elsewhere a constant. */
static int masked_or(const part_code *p, int mask, int value, double real, int64_t integer) {
  ndr_dtype dtype = dtype_of(p, value);
  int other = ndr_code_constant(p->code, dtype, real, integer);
  if (p->code->overflows) return 0;
  return step(p, NDR_NODE_SELECT, dtype, mask, value, other);
}

/* NULL: there is no kernel, or no room. */
static ndr_code_fold *add_fold(const part_code *p, ndr_fold *kernel, int value, int factors, int word) {
  ndr_code *code = p->code;
  if (!kernel || code->fold_count == NDR_MOST_CODE_FOLDS) {
    code->overflows = true;
    return NULL;
  }
  ndr_code_fold *fold = &code->folds[code->fold_count++];
  *fold = (ndr_code_fold){.fold = kernel,
                          .value = value,
                          .factors = factors,
                          .indexed = ndr_op_is_index(p->state.op),
                          .words_before = p->words_before + word};
  return fold;
}

/* The same of a kernel that looks at ndr_tile.in_order. */
static ndr_code_fold *add_in_order(const part_code *p, ndr_fold *kernel, int value, int factors, int word) {
  ndr_code_fold *fold = add_fold(p, kernel, value, factors, word);
  if (fold) fold->in_order = p->isa->reads_in_order;
  return fold;
}

/* ---- folds that compute the last instructions themselves ---- */

/* Whether a kernel with weights or a mask looks at ndr_tile.in_order. Those of moments read a tile twice. */
static bool reads_in_order(const part_code *p, ndr_factors what) {
  return p->isa->reads_in_order && (what == NDR_FACTORS_SUM || what == NDR_FACTORS_MEAN);
}

/* A mask's bytes, before they become 0 or 1. */
static int mask_bytes(const part_code *p, int mask) {
  const ndr_value *v = &p->code->values[mask];
  return v->kind == NDR_VALUE_CONVERT && v->from == NDR_U8 && v->dtype == NDR_BOOL ? v->a : mask;
}

static bool is_real(const part_code *p, int value) {
  return dtype_of(p, value) == NDR_F32 || dtype_of(p, value) == NDR_F64;
}

/* Folds elements that a mask leaves. */
static void add_masked(const part_code *p, ndr_factors what, int value, int mask) {
  ndr_fold *kernel = p->isa->masked[dtype_of(p, value)][what];
  ndr_code_fold *fold = add_fold(p, kernel, value, mask_bytes(p, mask), 0);
  if (fold) fold->in_order = reads_in_order(p, what);
}

static bool was_f32(const part_code *p, int value) {
  const ndr_value *v = &p->code->values[value];
  return v->kind == NDR_VALUE_CONVERT && v->from == NDR_F32 && v->dtype == NDR_F64;
}

/* What a value was before it was widened to f64; or the value. */
static int before_widening(const part_code *p, int value) {
  return was_f32(p, value) ? p->code->values[value].a : value;
}

/* Folds f64 elements with f64 weights, as what they were before they were widened. */
static void add_weighted(const part_code *p, ndr_factors what, int value, int weight) {
  ndr_weight_dtypes dtypes = !was_f32(p, value)   ? NDR_WEIGHT_F64_F64
                             : was_f32(p, weight) ? NDR_WEIGHT_F32_F32
                                                  : NDR_WEIGHT_F32_F64;
  if (dtypes == NDR_WEIGHT_F32_F32) weight = before_widening(p, weight);
  ndr_fold *kernel = p->isa->weighted[p->skip][dtypes][what];
  ndr_code_fold *fold = add_fold(p, kernel, before_widening(p, value), weight, 0);
  if (!fold) return;
  fold->takes_row_factors = true;
  fold->in_order = reads_in_order(p, what);
}

static bool is_zero(const part_code *p, int value) {
  const ndr_value *v = &p->code->values[value];
  return v->kind == NDR_VALUE_CONSTANT && v->bits == 0;
}

/* Whether a value is there without an instruction: an array's elements as they are stored, or a constant. */
static bool is_array_or_constant(const part_code *p, int value) {
  const ndr_value *v = &p->code->values[value];
  return v->kind == NDR_VALUE_ARRAY || v->kind == NDR_VALUE_CONSTANT;
}

/* Folds the sum of products into word 0 if they are squares of a difference; else false. */
static bool fold_squared_difference(const part_code *p, const ndr_value *product) {
  const ndr_value of = p->code->values[product->a];
  if (product->a != product->b) return false;
  if (of.kind != NDR_VALUE_STEP || of.number != NDR_NODE_SUBTRACT) return false;
  if (!is_array_or_constant(p, of.a) || !is_array_or_constant(p, of.b)) return false;
  bool swapped = p->code->values[of.a].constant;
  add_in_order(p, p->isa->squared_difference[product->dtype], swapped ? of.b : of.a, swapped ? of.a : of.b, 0);
  return true;
}

/* Folds the sum of products, or of values that a mask selects and that are else 0, into word 0; false where the value
 * is neither, or belongs to another word. */
static bool fold_term(const part_code *p, int value, int word) {
  const ndr_value v = p->code->values[value];
  if (v.kind != NDR_VALUE_STEP || v.constant || word != 0 || !is_real(p, value)) return false;
  if (v.number == NDR_NODE_SELECT && is_zero(p, v.c)) {
    add_masked(p, NDR_FACTORS_SUM, v.b, v.a);
    return true;
  }
  if (v.number != NDR_NODE_MULTIPLY) return false;
  if (fold_squared_difference(p, &v)) return true;
  if (v.dtype == NDR_F64)
    add_weighted(p, NDR_FACTORS_SUM, v.a, v.b);
  else
    add_in_order(p, p->isa->product[v.dtype], v.a, v.b, 0);
  return true;
}

/* Folds the number of elements for which a comparison is true; false if the value is not one. */
static bool fold_comparison(const part_code *p, int value, int word) {
  static const struct {
    ndr_node_kind node;
    ndr_compare how, mirrored;
  } known[] = {{NDR_NODE_LESS, NDR_COMPARE_LESS, NDR_COMPARE_GREATER},
               {NDR_NODE_LESS_EQUAL, NDR_COMPARE_LESS_EQUAL, NDR_COMPARE_GREATER_EQUAL},
               {NDR_NODE_EQUAL, NDR_COMPARE_EQUAL, NDR_COMPARE_EQUAL},
               {NDR_NODE_UNEQUAL, NDR_COMPARE_UNEQUAL, NDR_COMPARE_UNEQUAL}};
  const ndr_value v = p->code->values[value];
  if (v.kind != NDR_VALUE_STEP || v.constant || (v.from != NDR_F32 && v.from != NDR_F64)) return false;
  if (!is_array_or_constant(p, v.a) || !is_array_or_constant(p, v.b)) return false;
  bool swapped = p->code->values[v.a].constant;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (v.number != (int)known[i].node) continue;
    ndr_compare how = swapped ? known[i].mirrored : known[i].how;
    add_in_order(p, p->isa->count_compared[v.from][how], swapped ? v.b : v.a, swapped ? v.a : v.b, word);
    return true;
  }
  return false;
}

/* Folds a value as a built-in operator folds elements of its dtype. */
static void fold_as(const part_code *p, ndr_op op, int value, int word) {
  ndr_dtype view = ndr_fold_dtype(op, dtype_of(p, value), p->accumulate_f64);
  int viewed = convert(p, value, view);
  if (p->code->overflows || (op == NDR_SUM && !p->skip && fold_term(p, viewed, word))) return;
  if ((op == NDR_SUM || op == NDR_COUNT) && fold_comparison(p, viewed, word)) return;
  add_fold(p, p->isa->fold[p->skip && ndr_dtype_is_float(view)][view][op], viewed, -1, word);
}

/* ---- weights ---- */

/* What the kernels with weights fold for an operator; false where they do not. */
static bool factors_of(const ndr_state *state, ndr_factors *what) {
  switch (state->op) {
  case NDR_SUM: *what = NDR_FACTORS_SUM; return true;
  case NDR_MEAN: *what = NDR_FACTORS_MEAN; return true;
  case NDR_VAR:
  case NDR_STD: *what = state->reliability ? NDR_FACTORS_SQUARES : NDR_FACTORS_MOMENTS; return true;
  default: return false;
  }
}

/* Leaves out what the mask does, and NaN under skip_nan, as zeros without weight. Before they are widened: that takes
 * half as long. */
static void zero_masked(part_code *p) {
  int mask = p->skip ? both(p, p->mask, present(p, p->value)) : p->mask;
  p->skip = false;
  if (mask < 0) return;
  p->value = masked_or(p, mask, p->value, 0, 0);
  p->weight = convert(p, masked_or(p, mask, before_widening(p, p->weight), 0, 0), NDR_F64);
}

/* Complex elements, and norms. */
static void fold_weighted_products(part_code *p, ndr_dtype wide) {
  ndr_op op = p->state.op;
  int value = convert(p, p->value, wide);
  if (op == NDR_VAR || op == NDR_STD) {
    if (!p->code->overflows) add_fold(p, p->isa->complex_moments[p->state.reliability], value, p->weight, 0);
    return;
  }
  if (op == NDR_NORM2 && wide == NDR_C128) {
    int re = step(p, NDR_NODE_REAL_PART, wide, value, -1, -1);
    int im = step(p, NDR_NODE_IMAGINARY_PART, wide, value, -1, -1);
    re = step(p, NDR_NODE_MULTIPLY, NDR_F64, re, re, -1);
    im = step(p, NDR_NODE_MULTIPLY, NDR_F64, im, im, -1);
    value = step(p, NDR_NODE_ADD, NDR_F64, re, im, -1);
    wide = NDR_F64;
  } else if (op == NDR_NORM2) {
    value = step(p, NDR_NODE_MULTIPLY, wide, value, value, -1);
  }
  value = step(p, wide == NDR_C128 ? NDR_STEP_SCALE : NDR_NODE_MULTIPLY, wide, value, p->weight, -1);
  fold_as(p, NDR_SUM, value, 0);
  if (op == NDR_MEAN) fold_as(p, NDR_SUM, p->weight, 2);
}

static void fold_weighted(part_code *p) {
  ndr_factors what = NDR_FACTORS_SUM;
  ndr_dtype wide = ndr_dtype_is_complex(dtype_of(p, p->value)) ? NDR_C128 : NDR_F64;
  bool kernel = wide == NDR_F64 && factors_of(&p->state, &what);
  if (!kernel || !p->skip)
    zero_masked(p);
  else if (p->mask >= 0) /* the kernel leaves out NaN */
    p->value = masked_or(p, p->mask, p->value, (double)NAN, 0);
  if (p->state.op == NDR_VAR || p->state.op == NDR_STD) p->code->rereads = true;
  if (p->code->overflows) return;
  if (!kernel) {
    fold_weighted_products(p, wide);
    return;
  }
  int value = convert(p, p->value, NDR_F64);
  if (!p->code->overflows) add_weighted(p, what, value, p->weight);
}

/* ---- masks ---- */

/* Bools: the operators that count, with what is masked out of the way. */
static void fold_truth(part_code *p) {
  ndr_op op = p->state.op;
  ndr_dtype dtype = dtype_of(p, p->value);
  int mask = p->mask;
  if (op == NDR_VALID) {
    if (ndr_dtype_is_float(dtype)) mask = both(p, mask, present(p, p->value));
    fold_as(p, NDR_COUNT, mask, 0);
    return;
  }
  if (p->skip && op != NDR_ALL) mask = both(p, mask, present(p, p->value));
  int truth = convert(p, p->value, NDR_BOOL);
  if (op == NDR_ALL)
    truth = step(p, NDR_NODE_OR, NDR_BOOL, truth, step(p, NDR_NODE_NOT, NDR_BOOL, mask, -1, -1), -1);
  else
    truth = both(p, truth, mask);
  p->skip = false;
  fold_as(p, op, truth, 0);
}

/* Sums and counts of elements where the mask is true, which small integers have exactly as f32. */
static void fold_mean(part_code *p) {
  ndr_dtype dtype = dtype_of(p, p->value);
  int parts = ndr_dtype_is_complex(dtype) ? 2 : 1, value = p->value;
  if (!ndr_dtype_is_float(dtype)) value = convert(p, value, ndr_dtype_bytes(dtype) < 4 ? NDR_F32 : NDR_F64);
  if (p->code->overflows) return;
  if (is_real(p, value)) {
    add_masked(p, NDR_FACTORS_MEAN, value, p->mask);
    return;
  }
  fold_as(p, NDR_SUM, masked_or(p, p->mask, value, 0, 0), 0);
  fold_as(p, NDR_NORM2, p->mask, parts); /* the number of bools, as f64 */
}

static void fold_moments(part_code *p) {
  int parts = ndr_dtype_is_complex(dtype_of(p, p->value)) ? 2 : 1;
  int value = p->value;
  if (parts == 2 || !is_real(p, value)) value = convert(p, value, parts == 2 ? NDR_C128 : NDR_F64);
  if (p->code->overflows) return;
  p->code->rereads = true;
  if (parts == 1) {
    add_masked(p, NDR_FACTORS_MOMENTS, value, p->mask);
    return;
  }
  int weight = convert(p, p->mask, NDR_F64);
  add_fold(p, p->isa->complex_moments[0], masked_or(p, p->mask, value, 0, 0), weight, 0);
}

static void fold_argument(part_code *p) {
  ndr_dtype wide = ndr_dtype_widest(dtype_of(p, p->value));
  int value = convert(p, p->value, wide);
  add_fold(p, p->isa->masked_argument[p->state.op == NDR_ARGMAX][wide], value, p->mask, 0);
}

/* The limits of a dtype, as the bits of an integer of it. */
static int64_t limit(ndr_dtype dtype, bool largest) {
  int spare = 64 - 8 * (int)ndr_dtype_bytes(dtype);
  if (ndr_dtype_is_signed(dtype)) return largest ? INT64_MAX >> spare : INT64_MIN >> spare;
  return largest ? (int64_t)(UINT64_MAX >> spare) : 0;
}

static void fold_extreme(part_code *p, bool smallest, int word) {
  int value = p->value;
  if (dtype_of(p, value) == NDR_BOOL) value = convert(p, value, NDR_U8);
  ndr_dtype dtype = dtype_of(p, value);
  int64_t none = ndr_dtype_is_float(dtype) ? 0 : limit(dtype, smallest);
  value = masked_or(p, p->mask, value, smallest ? (double)INFINITY : -(double)INFINITY, none);
  fold_as(p, smallest ? NDR_MIN : NDR_MAX, value, word);
}

static void fold_neutral(part_code *p, double real, int64_t integer) {
  ndr_dtype view = ndr_fold_dtype(p->state.op, dtype_of(p, p->value), p->accumulate_f64);
  int value = p->state.op == NDR_LOGSUMEXP ? convert(p, p->value, view) : p->value;
  if (!p->code->overflows) fold_as(p, p->state.op, masked_or(p, p->mask, value, real, integer), 0);
}

/* Kernels of NaN that are left out leave out what the mask does, too. */
static void fold_as_missing(part_code *p) {
  int value = masked_or(p, p->mask, p->value, (double)NAN, 0);
  if (!p->code->overflows) fold_as(p, p->state.op, value, 0);
}

static void fold_masked(part_code *p) {
  switch (p->state.op) {
  case NDR_ANY:
  case NDR_ALL:
  case NDR_COUNT:
  case NDR_VALID: fold_truth(p); return;
  default: break;
  }
  if (p->skip) {
    fold_as_missing(p);
    return;
  }
  switch (p->state.op) {
  case NDR_MEAN: fold_mean(p); return;
  case NDR_VAR:
  case NDR_STD: fold_moments(p); return;
  case NDR_ARGMIN:
  case NDR_ARGMAX: fold_argument(p); return;
  case NDR_MIN: fold_extreme(p, true, 0); return;
  case NDR_MAX: fold_extreme(p, false, 0); return;
  case NDR_PTP:
    fold_extreme(p, true, 0);
    fold_extreme(p, false, 1);
    return;
  case NDR_PROD: fold_neutral(p, 1, 1); return;
  case NDR_LOGSUMEXP: fold_neutral(p, -(double)INFINITY, 0); return;
  default: fold_neutral(p, 0, 0); return;
  }
}

/* ---- the whole ---- */

/* A value before conversions that do not change what is folded: sums and products of integers have the same bits before
 * they are widened to 64 bits, and what was converted to bool has the same truth. Conversions of bool arrays, which
 * only make their bytes 0 or 1, stay. */
static int before_conversion(const ndr_code *code, ndr_op op, int value) {
  const ndr_value *v = &code->values[value];
  if (v->kind != NDR_VALUE_CONVERT || code->values[v->a].dtype != v->from) return value;
  bool widens = (v->dtype == NDR_I64 || v->dtype == NDR_U64 || v->from == NDR_BOOL) &&
                !ndr_dtype_is_float((ndr_dtype)v->from) && !ndr_dtype_is_float((ndr_dtype)v->dtype);
  bool truth = v->dtype == NDR_BOOL && ndr_op_is_truth(op) && op != NDR_VALID;
  if (((op == NDR_SUM || op == NDR_PROD) && widens) || truth) return before_conversion(code, op, v->a);
  return value;
}

static bool is_one(const ndr_code *code, int value) {
  const ndr_value *v = &code->values[value];
  return v->kind == NDR_VALUE_CONSTANT && !ndr_dtype_is_float((ndr_dtype)v->dtype) && v->bits == 1;
}

void ndr_code_part(ndr_code *code, const ndr_isa *isa, const ndr_program *program, const ndr_state *state, int part,
                   const int *values, bool accumulate_f64) {
  const ndr_part *given = &program->parts[part];
  part_code p = {.code = code, .isa = isa, .value = values[given->value], .mask = -1, .weight = -1};
  p.accumulate_f64 = accumulate_f64;
  p.state = ndr_state_part(state, part, &p.words_before);
  if (given->mask >= 0) p.mask = values[given->mask];
  if (given->weight >= 0) p.weight = values[given->weight];
  p.skip = given->skip_nan && ndr_dtype_is_float(dtype_of(&p, p.value));
  if (p.weight >= 0) {
    fold_weighted(&p);
    return;
  }
  p.value = before_conversion(code, p.state.op, p.value);
  bool ones = (p.state.op == NDR_SUM || p.state.op == NDR_COUNT) && is_one(code, p.value);
  if (ones && p.mask < 0) { /* the kernel of valid reads nothing */
    add_fold(&p, isa->fold[0][NDR_U8][NDR_VALID], p.value, -1, 0);
    return;
  }
  if (ones) {
    fold_as(&p, NDR_COUNT, p.mask, 0);
    return;
  }
  (p.mask >= 0 ? fold_masked(&p) : fold_as(&p, p.state.op, p.value, 0));
}

void ndr_code_make(ndr_code *code, const ndr_isa *isa, const ndr_state *state, ndr_dtype array, bool accumulate_f64) {
  const ndr_program *program = state->program;
  bool wanted[NDR_MOST_NODES] = {false};
  int values[NDR_MOST_NODES];
  memset(code, 0, sizeof *code);
  code->strip = NDR_STRIP;
  for (int p = 0; p < program->part_count; p++)
    if (!ndr_program_part_is_plain(program, p, array)) ndr_program_mark_part(program, p, wanted);
  ndr_code_nodes(code, isa, program, wanted, values);
  for (int p = 0; p < program->part_count && !code->overflows; p++)
    if (!ndr_program_part_is_plain(program, p, array))
      ndr_code_part(code, isa, program, state, p, values, accumulate_f64);
  if (!code->overflows) ndr_code_mark(code);
}
