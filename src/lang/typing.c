/* Types every term of an operator, from numbers and arrays upwards. Computes nothing but terms of literal numbers. */
#include "lang/typing.h"

#include <math.h>
#include <string.h>

#include "lang/promote.h"
#include "lang/words.h"

typedef struct term {
  ndr_typing *typing;
  const ndr_syntax_node *node;
  ndr_type *type;
  int operands;
  const ndr_type *a, *b, *c; /* of the operands that there are; others are not to be read */
} term;

#define FAIL(term, ...) NDR_FAIL_AT(NDR_ERR_OP, (term)->typing->syntax->text, (term)->node->column, __VA_ARGS__)

static bool is_whole(const ndr_type *type) {
  return type->constant && type->dtype == NDR_I64;
}

static double constant_of(const ndr_type *type) {
  return type->dtype == NDR_F64 ? type->real : (double)type->integer;
}

static void set_type(ndr_type *type, ndr_dtype dtype, ndr_dtype inner, bool weak) {
  *type = (ndr_type){.dtype = dtype, .inner = inner, .weak = weak};
}

static void set_integer(ndr_type *type, int64_t value) {
  *type = (ndr_type){.dtype = NDR_I64, .inner = NDR_I64, .weak = true, .constant = true, .integer = value};
}

/* A value that is not finite is left to be computed by the program: constants are finite, unless the text has inf. */
static void set_real(ndr_type *type, double value) {
  set_type(type, NDR_F64, NDR_F64, true);
  type->constant = isfinite(value);
  type->real = value;
}

/* ---- common dtypes ---- */

int ndr_typing_beyond(const ndr_type *constant, ndr_dtype dtype) {
  int bits = 8 * (int)ndr_dtype_bytes(dtype);
  bool is_signed = ndr_dtype_is_signed(dtype);
  int64_t most = is_signed ? INT64_MAX >> (64 - bits) : bits == 64 ? INT64_MAX : (INT64_C(1) << bits) - 1;
  if (constant->integer > most) return 1;
  return constant->integer < (is_signed ? -most - 1 : 0) ? -1 : 0;
}

/* A number beside an array. A whole number that is not known before the values are (n, or what depends on a parameter)
 * has 64 bits, so that it is not cut to an integer of fewer. */
static ndr_dtype adopt(const ndr_type *number, ndr_dtype array) {
  ndr_dtype dtype = ndr_dtype_promote(array, array);
  if (number->dtype == NDR_BOOL || ndr_dtype_is_float(dtype)) return dtype;
  if (number->dtype == NDR_F64) return NDR_F64;
  if (dtype == NDR_BOOL) return NDR_I64;
  if (number->constant) return dtype;
  return ndr_dtype_widest(dtype);
}

static ndr_dtype common_of(const ndr_type *a, const ndr_type *b) {
  if (a->weak && !b->weak) return adopt(a, b->dtype);
  if (b->weak && !a->weak) return adopt(b, a->dtype);
  return ndr_dtype_promote(a->dtype, b->dtype);
}

/* A whole number beside integers must fit in their dtype. */
static ndr_status check_fit(const term *t, const ndr_type *type, int node, ndr_dtype dtype) {
  if (!is_whole(type) || !ndr_dtype_is_integer(dtype) || dtype == NDR_BOOL || ndr_typing_beyond(type, dtype) == 0)
    return NDR_OK;
  return NDR_FAIL_AT(NDR_ERR_OP, t->typing->syntax->text, t->typing->syntax->nodes[node].column,
                     "%lld does not fit in %s", (long long)type->integer, ndr_dtype_name(dtype));
}

static ndr_status check_operands(const term *t, ndr_dtype dtype) {
  NDR_TRY(check_fit(t, t->a, t->node->a, dtype));
  return check_fit(t, t->b, t->node->b, dtype);
}

static ndr_status refuse_complex(const term *t, ndr_dtype dtype) {
  if (!ndr_dtype_is_complex(dtype)) return NDR_OK;
  return FAIL(t, "%s is not defined for complex numbers (%s)", ndr_word_of(t->node->kind)->text, ndr_dtype_name(dtype));
}

/* ---- terms of literal numbers ---- */

static ndr_status fold_integers(const term *t) {
  int64_t a = t->a->integer, b = t->operands > 1 ? t->b->integer : 0, value = 0;
  bool over = t->node->kind == NDR_NODE_ADD        ? __builtin_add_overflow(a, b, &value)
              : t->node->kind == NDR_NODE_SUBTRACT ? __builtin_sub_overflow(a, b, &value)
              : t->node->kind == NDR_NODE_MULTIPLY ? __builtin_mul_overflow(a, b, &value)
                                                   : __builtin_sub_overflow(0, a, &value);
  if (over) return FAIL(t, "the result of '%s' does not fit in 64 bits", ndr_word_of(t->node->kind)->text);
  set_integer(t->type, value);
  return NDR_OK;
}

static ndr_status fold_integer_power(const term *t) {
  int64_t base = t->a->integer, value = 1;
  for (int64_t left = t->b->integer; left > 0; left >>= 1) {
    bool over = (left & 1) && __builtin_mul_overflow(value, base, &value);
    if (over || (left > 1 && __builtin_mul_overflow(base, base, &base)))
      return FAIL(t, "the result of '%s' does not fit in 64 bits", "**");
  }
  set_integer(t->type, value);
  return NDR_OK;
}

static double fold_real(int kind, double a, double b) {
  switch (kind) {
  case NDR_NODE_ADD: return a + b;
  case NDR_NODE_SUBTRACT: return a - b;
  case NDR_NODE_MULTIPLY: return a * b;
  case NDR_NODE_DIVIDE: return a / b;
  case NDR_NODE_POWER: return pow(a, b);
  case NDR_NODE_SQRT: return sqrt(a);
  case NDR_NODE_EXP: return exp(a);
  case NDR_NODE_LOG: return log(a);
  case NDR_NODE_SIN: return sin(a);
  case NDR_NODE_COS: return cos(a);
  case NDR_NODE_FLOOR: return floor(a);
  default: return -a;
  }
}

/* Replaces the type of a term of constants by its value. */
static ndr_status fold(const term *t) {
  if (!t->a->constant || (t->operands > 1 && !t->b->constant)) return NDR_OK;
  if (t->type->dtype == NDR_I64) return t->node->kind == NDR_NODE_POWER ? fold_integer_power(t) : fold_integers(t);
  set_real(t->type, fold_real(t->node->kind, constant_of(t->a), t->operands > 1 ? constant_of(t->b) : 0));
  return NDR_OK;
}

/* ---- operators ---- */

static ndr_status type_arithmetic(const term *t) {
  ndr_dtype dtype = common_of(t->a, t->b);
  if (t->node->kind == NDR_NODE_DIVIDE && ndr_dtype_is_integer(dtype)) dtype = NDR_F64;
  if (dtype == NDR_BOOL) dtype = NDR_I64;
  NDR_TRY(check_operands(t, dtype));
  set_type(t->type, dtype, dtype, t->a->weak && t->b->weak);
  return fold(t);
}

bool ndr_typing_multiplies(const ndr_typing *typing, const ndr_syntax_node *power, int64_t *exponent) {
  const ndr_type *base = &typing->nodes[power->a], *type = &typing->nodes[power->b];
  *exponent = type->integer;
  return is_whole(type) && type->integer >= 0 && (type->integer <= 16 || ndr_dtype_is_integer(base->dtype));
}

static ndr_status type_power(const term *t) {
  int64_t exponent;
  ndr_dtype dtype;
  if (ndr_typing_multiplies(t->typing, t->node, &exponent)) {
    dtype = ndr_dtype_promote(t->a->dtype, t->a->dtype);
    if (dtype == NDR_BOOL) dtype = NDR_I64;
  } else {
    dtype = common_of(t->a, t->b);
    if (ndr_dtype_is_integer(dtype)) dtype = NDR_F64;
    if (ndr_dtype_is_complex(dtype))
      return FAIL(t, "complex numbers (%s) have whole powers from 0 to 16 only", ndr_dtype_name(dtype));
  }
  set_type(t->type, dtype, dtype, t->a->weak && t->b->weak);
  return fold(t);
}

static ndr_status type_comparison(const term *t) {
  ndr_dtype dtype = common_of(t->a, t->b);
  if (t->node->kind != NDR_NODE_EQUAL && t->node->kind != NDR_NODE_UNEQUAL) NDR_TRY(refuse_complex(t, dtype));
  set_type(t->type, NDR_BOOL, dtype, t->a->weak && t->b->weak);
  return NDR_OK;
}

/* Makes the type that of one constant of its dtype, which is i64 or f64. */
static void take_constant(ndr_type *type, const ndr_type *constant) {
  if (type->dtype == NDR_I64)
    set_integer(type, constant->integer);
  else
    set_real(type, constant_of(constant));
}

static ndr_status type_extreme(const term *t) {
  ndr_dtype dtype = common_of(t->a, t->b);
  NDR_TRY(refuse_complex(t, dtype));
  NDR_TRY(check_operands(t, dtype));
  set_type(t->type, dtype, dtype, t->a->weak && t->b->weak);
  if (!t->a->constant || !t->b->constant) return NDR_OK;
  bool less = dtype == NDR_I64 ? t->a->integer < t->b->integer : constant_of(t->a) < constant_of(t->b);
  take_constant(t->type, less == (t->node->kind == NDR_NODE_MINIMUM) ? t->a : t->b);
  return NDR_OK;
}

static ndr_status type_select(const term *t) {
  ndr_dtype dtype = common_of(t->b, t->c);
  NDR_TRY(check_fit(t, t->b, t->node->b, dtype));
  NDR_TRY(check_fit(t, t->c, t->node->c, dtype));
  set_type(t->type, dtype, dtype, t->a->weak && t->b->weak && t->c->weak);
  if (t->a->constant && t->b->constant && t->c->constant) take_constant(t->type, constant_of(t->a) != 0 ? t->b : t->c);
  return NDR_OK;
}

static ndr_status type_poly(const term *t) {
  ndr_type number = {.dtype = NDR_F64, .weak = true};
  ndr_dtype dtype = common_of(t->a, &number);
  set_type(t->type, dtype, dtype, t->a->weak);
  return NDR_OK;
}

/* ---- functions of one argument ---- */

static ndr_status type_float_function(const term *t) {
  ndr_dtype dtype = ndr_dtype_promote(t->a->dtype, t->a->dtype);
  NDR_TRY(refuse_complex(t, dtype));
  bool whole = t->node->kind == NDR_NODE_FLOOR && ndr_dtype_is_integer(dtype);
  if (ndr_dtype_is_integer(dtype) && !whole) dtype = NDR_F64;
  set_type(t->type, dtype, dtype, t->a->weak);
  if (whole) { /* already whole */
    t->type->constant = t->a->constant;
    t->type->integer = t->a->integer;
    return NDR_OK;
  }
  return fold(t);
}

static ndr_status type_negation(const term *t) {
  ndr_dtype dtype = ndr_dtype_promote(t->a->dtype, t->a->dtype);
  if (dtype == NDR_BOOL) dtype = NDR_I64;
  set_type(t->type, dtype, dtype, t->a->weak);
  return fold(t);
}

/* abs, real, imag and conj. */
static ndr_status type_part(const term *t) {
  ndr_dtype dtype = ndr_dtype_promote(t->a->dtype, t->a->dtype);
  if (dtype == NDR_BOOL && t->node->kind == NDR_NODE_ABS) dtype = NDR_I64;
  set_type(t->type, t->node->kind == NDR_NODE_CONJUGATE ? dtype : ndr_dtype_real(dtype), dtype, t->a->weak);
  if (!t->a->constant) return NDR_OK;
  ndr_type part = *t->a;
  if (t->node->kind == NDR_NODE_ABS) {
    if (part.integer == INT64_MIN) return FAIL(t, "the result of '%s' does not fit in 64 bits", "abs");
    if (part.integer < 0) part.integer = -part.integer;
    part.real = fabs(part.real);
  }
  if (t->node->kind == NDR_NODE_IMAGINARY_PART) part.integer = 0, part.real = 0;
  take_constant(t->type, &part);
  return NDR_OK;
}

/* Numbers, too, are no longer converted to what stands beside them. */
static void type_f64(const term *t) {
  ndr_dtype dtype = ndr_dtype_is_complex(t->a->dtype) ? NDR_C128 : NDR_F64;
  set_type(t->type, dtype, dtype, false);
}

/* ---- names ---- */

static void type_total(const term *t) {
  const ndr_syntax_update *update = &t->typing->syntax->updates[t->node->a];
  ndr_dtype value = ndr_typing_value(t->typing, update), dtype = ndr_op_result(update->op, value);
  bool number = t->typing->nodes[update->value].weak && (dtype == NDR_I64 || dtype == NDR_F64);
  set_type(t->type, dtype, dtype, number);
}

static ndr_status type_node(const term *t) {
  switch (t->node->kind) {
  case NDR_NODE_ARRAY: set_type(t->type, t->typing->dtypes[t->node->a], NDR_BOOL, false); return NDR_OK;
  case NDR_NODE_INDEX: set_type(t->type, NDR_I64, NDR_I64, false); return NDR_OK;
  case NDR_NODE_PARAMETER: set_type(t->type, NDR_F64, NDR_F64, true); return NDR_OK;
  case NDR_SYNTAX_LENGTH: set_type(t->type, NDR_I64, NDR_I64, true); return NDR_OK;
  case NDR_NODE_TOTAL: type_total(t); return NDR_OK;
  case NDR_NODE_INTEGER: set_integer(t->type, t->node->integer); return NDR_OK;
  case NDR_NODE_REAL:
    set_real(t->type, t->node->real);
    t->type->constant = true;
    return NDR_OK;
  case NDR_NODE_SQRT:
  case NDR_NODE_EXP:
  case NDR_NODE_LOG:
  case NDR_NODE_SIN:
  case NDR_NODE_COS:
  case NDR_NODE_FLOOR: return type_float_function(t);
  case NDR_NODE_NEGATE: return type_negation(t);
  case NDR_NODE_ABS:
  case NDR_NODE_REAL_PART:
  case NDR_NODE_IMAGINARY_PART:
  case NDR_NODE_CONJUGATE: return type_part(t);
  case NDR_SYNTAX_F64: type_f64(t); return NDR_OK;
  case NDR_NODE_NOT:
  case NDR_NODE_ISNAN: set_type(t->type, NDR_BOOL, NDR_BOOL, t->a->weak); return NDR_OK;
  case NDR_NODE_AND:
  case NDR_NODE_OR: set_type(t->type, NDR_BOOL, NDR_BOOL, t->a->weak && t->b->weak); return NDR_OK;
  case NDR_NODE_ADD:
  case NDR_NODE_SUBTRACT:
  case NDR_NODE_MULTIPLY:
  case NDR_NODE_DIVIDE: return type_arithmetic(t);
  case NDR_NODE_POWER: return type_power(t);
  case NDR_NODE_MINIMUM:
  case NDR_NODE_MAXIMUM: return type_extreme(t);
  case NDR_NODE_SELECT: return type_select(t);
  case NDR_SYNTAX_POLY: return type_poly(t);
  default: return type_comparison(t);
  }
}

ndr_dtype ndr_typing_value(const ndr_typing *typing, const ndr_syntax_update *update) {
  return update->op == NDR_ALL || update->op == NDR_ANY ? NDR_BOOL : typing->nodes[update->value].dtype;
}

/* How many of a, b and c are nodes. */
static int operands_of(const ndr_syntax_node *node) {
  const ndr_word *word = ndr_word_of(node->kind);
  if (node->kind == NDR_NODE_SELECT) return 3;
  if (node->kind == NDR_NODE_INDEX || !word) return 0;
  return node->kind == NDR_SYNTAX_POLY ? 1 : word->operands;
}

ndr_status ndr_typing_make(ndr_typing *typing) {
  const ndr_syntax *syntax = typing->syntax;
  for (int i = 0; i < syntax->node_count; i++) {
    const ndr_syntax_node *node = &syntax->nodes[i];
    int operands = operands_of(node);
    const ndr_type *types = typing->nodes;
    term t = {typing,
              node,
              &typing->nodes[i],
              operands,
              &types[operands > 0 ? node->a : 0],
              &types[operands > 1 ? node->b : 0],
              &types[operands > 2 ? node->c : 0]};
    NDR_TRY(type_node(&t));
  }
  for (int i = 0; i < syntax->update_count; i++) {
    const ndr_syntax_update *update = &syntax->updates[i];
    if ((update->op == NDR_MIN || update->op == NDR_MAX) && ndr_dtype_is_complex(ndr_typing_value(typing, update)))
      return NDR_FAIL_AT(NDR_ERR_OP, syntax->text, update->column, "%s= is not defined for complex numbers (%s)",
                         ndr_op_name(update->op), ndr_dtype_name(ndr_typing_value(typing, update)));
  }
  return NDR_OK;
}
