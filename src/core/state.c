/* The complete arithmetic of partial states on the host: identities, merging and finishing. The state of a program is
 * that of its parts, one after the other; what follows is of one part until the last section. */
#include "core/state.h"

#include <math.h>
#include <string.h>

#include "lang/evaluate.h"

/* What merging two states of an operator and a dtype does. */
typedef enum combine_rule {
  COMBINE_ADD_INT,
  COMBINE_ADD_FLOAT, /* every word */
  COMBINE_MULTIPLY_INT,
  COMBINE_MULTIPLY_FLOAT,
  COMBINE_MULTIPLY_COMPLEX,
  COMBINE_EXTREME, /* min max argmin argmax norminf */
  COMBINE_EXTREMES,
  COMBINE_MOMENTS,
  COMBINE_LOGSUMEXP,
  COMBINE_OR,
  COMBINE_AND
} combine_rule;

/* How the 8 bytes of a min, max, argmin or argmax value are read. */
typedef enum word_type { WORD_I64, WORD_U64, WORD_F64 } word_type;

static double f64_of(uint64_t word) {
  double value;
  memcpy(&value, &word, sizeof value);
  return value;
}

static uint64_t word_of(double value) {
  uint64_t word;
  memcpy(&word, &value, sizeof word);
  return word;
}

static word_type value_type(ndr_dtype dtype) {
  switch (ndr_dtype_class(dtype)) {
  case NDR_CLASS_INT: return WORD_I64;
  case NDR_CLASS_BOOL:
  case NDR_CLASS_UINT: return WORD_U64;
  case NDR_CLASS_FLOAT:
  case NDR_CLASS_COMPLEX: break;
  }
  return WORD_F64;
}

int ndr_state_words(ndr_op op, ndr_dtype dtype) {
  int parts = ndr_dtype_is_complex(dtype) ? 2 : 1;
  const int counts[NDR_OP_COUNT] = {
#define OP(NAME, value, name, result, empty, domain, combine, words, ...) [value] = words,
#include "spec/ops.def"
#undef OP
  };
  return counts[op];
}

static int words_of(const ndr_state *state) {
  return ndr_state_words(state->op, state->dtype) + (state->reliability ? 1 : 0);
}

static combine_rule rule_of(const ndr_state *state) {
  bool integer = value_type(state->dtype) != WORD_F64;
  switch (ndr_op_combine(state->op)) {
  case NDR_COMBINE_ADD: return integer ? COMBINE_ADD_INT : COMBINE_ADD_FLOAT;
  case NDR_COMBINE_MULTIPLY:
    if (ndr_dtype_is_complex(state->dtype)) return COMBINE_MULTIPLY_COMPLEX;
    return integer ? COMBINE_MULTIPLY_INT : COMBINE_MULTIPLY_FLOAT;
  case NDR_COMBINE_ADD_REAL: return COMBINE_ADD_FLOAT;
  case NDR_COMBINE_EXTREME: return COMBINE_EXTREME;
  case NDR_COMBINE_EXTREMES: return COMBINE_EXTREMES;
  case NDR_COMBINE_MOMENTS: return COMBINE_MOMENTS;
  case NDR_COMBINE_LOGSUMEXP: return COMBINE_LOGSUMEXP;
  case NDR_COMBINE_OR: return COMBINE_OR;
  case NDR_COMBINE_AND: return COMBINE_AND;
  case NDR_COMBINE_COUNT: break;
  }
  return COMBINE_ADD_INT;
}

/* ---- identity ---- */

static bool is_smallest(ndr_op op) {
  return op == NDR_MIN || op == NDR_ARGMIN;
}

static uint64_t extreme_identity(const ndr_state *state, bool smallest) {
  if (state->op == NDR_NORMINF) return word_of(0);
  switch (value_type(state->dtype)) {
  case WORD_I64: return (uint64_t)(smallest ? INT64_MAX : INT64_MIN);
  case WORD_U64: return smallest ? UINT64_MAX : 0;
  case WORD_F64: break;
  }
  return word_of(state->skip_nan ? (double)NAN : smallest ? (double)INFINITY : -(double)INFINITY);
}

static void identity_of(const ndr_state *state, uint64_t *words) {
  memset(words, 0, NDR_MAX_WORDS * sizeof *words);
  switch (rule_of(state)) {
  case COMBINE_ADD_INT:
  case COMBINE_ADD_FLOAT:
  case COMBINE_MOMENTS:
  case COMBINE_OR: break;
  case COMBINE_AND:
  case COMBINE_MULTIPLY_INT: words[0] = 1; break;
  case COMBINE_MULTIPLY_FLOAT:
  case COMBINE_MULTIPLY_COMPLEX: words[0] = word_of(1); break;
  case COMBINE_LOGSUMEXP: words[0] = word_of(-(double)INFINITY); break;
  case COMBINE_EXTREME:
    words[0] = extreme_identity(state, is_smallest(state->op));
    words[1] = (uint64_t)(state->skip_nan && value_type(state->dtype) == WORD_F64 ? -1 : INT64_MAX);
    break;
  case COMBINE_EXTREMES:
    words[0] = extreme_identity(state, true);
    words[1] = extreme_identity(state, false);
    break;
  }
}

static void fill_identity(const ndr_state *state, uint64_t *states, int64_t pitch, int64_t count) {
  uint64_t words[NDR_MAX_WORDS];
  identity_of(state, words);
  for (int w = 0; w < words_of(state); w++)
    for (int64_t j = 0; j < count; j++) states[w * pitch + j] = words[w];
}

/* ---- combine ---- */

/* Whether b replaces a as the smallest or largest value; NaN wins, or loses under skip_nan. */
static bool beats(const ndr_state *state, word_type type, bool smaller, uint64_t b, uint64_t a) {
  if (type == WORD_I64) return smaller ? (int64_t)b < (int64_t)a : (int64_t)b > (int64_t)a;
  if (type == WORD_U64) return smaller ? b < a : b > a;
  double x = f64_of(a), y = f64_of(b);
  if (isnan(x) || isnan(y)) return state->skip_nan ? isnan(x) && !isnan(y) : isnan(y) && !isnan(x);
  return smaller ? y < x : y > x;
}

static bool same_value(word_type type, uint64_t a, uint64_t b) {
  if (type != WORD_F64) return a == b;
  return f64_of(a) == f64_of(b) || (isnan(f64_of(a)) && isnan(f64_of(b)));
}

/* Two equal values keep the lower index; an index of -1 (nothing seen yet) never stands against a real one because only
 * NaN carries it, and under skip_nan NaN loses. */
static void combine_extreme(const ndr_state *state, word_type type, uint64_t *a, const uint64_t *b) {
  bool indexed = ndr_op_is_index(state->op);
  if (beats(state, type, is_smallest(state->op), b[0], a[0]) ||
      (indexed && same_value(type, a[0], b[0]) && (int64_t)b[1] < (int64_t)a[1])) {
    a[0] = b[0];
    if (indexed) a[1] = b[1];
  }
}

static void combine_extremes(const ndr_state *state, uint64_t *a, const uint64_t *b) {
  for (int w = 0; w < 2; w++)
    if (beats(state, value_type(state->dtype), w == 0, b[w], a[w])) a[w] = b[w];
}

/* Chan, Golub and LeVeque (1979): means and squared distances of two samples give those of their union. Elements of
 * weight 0 count only if they are NaN or infinite: then the squared distances are NaN. */
static void combine_moments(int parts, uint64_t *a, const uint64_t *b) {
  double n = f64_of(a[0]), m = f64_of(b[0]), total = n + m, spread = 0;
  if (m == 0 && f64_of(b[parts + 1]) == 0) return;
  for (int p = 1; p <= parts; p++) {
    double mean = f64_of(a[p]), delta = f64_of(b[p]) - mean;
    spread += delta * delta;
    a[p] = n == 0 ? b[p] : word_of(mean + delta * (m / total));
  }
  double m2 = f64_of(a[parts + 1]) + f64_of(b[parts + 1]);
  a[parts + 1] = n == 0 ? word_of(m2) : word_of(m2 + spread * (n * m / total));
  a[0] = word_of(total);
}

/* Scales both sums to the larger maximum. Equal maxima, infinite ones included, need no scaling (inf - inf is NaN). */
static void combine_logsumexp(bool skip_nan, uint64_t *a, const uint64_t *b) {
  double x = f64_of(a[0]), y = f64_of(b[0]), s = f64_of(a[1]), t = f64_of(b[1]);
  if (skip_nan && isnan(y)) return;
  double top = isnan(x) || x > y ? x : y;
  double sum = (x == top ? s : s * exp(x - top)) + (y == top ? t : t * exp(y - top));
  a[0] = word_of(top);
  a[1] = word_of(sum);
}

static void combine_product(uint64_t *a, const uint64_t *b) {
  double re = f64_of(a[0]), im = f64_of(a[1]), x = f64_of(b[0]), y = f64_of(b[1]);
  a[0] = word_of(re * x - im * y);
  a[1] = word_of(re * y + im * x);
}

static void combine_one(const ndr_state *state, combine_rule rule, uint64_t *a, const uint64_t *b) {
  switch (rule) {
  case COMBINE_ADD_INT:
  case COMBINE_ADD_FLOAT: break; /* add_words */
  case COMBINE_MULTIPLY_INT: a[0] *= b[0]; break;
  case COMBINE_MULTIPLY_FLOAT: a[0] = word_of(f64_of(a[0]) * f64_of(b[0])); break;
  case COMBINE_MULTIPLY_COMPLEX: combine_product(a, b); break;
  case COMBINE_EXTREME:
    combine_extreme(state, state->op == NDR_NORMINF ? WORD_F64 : value_type(state->dtype), a, b);
    break;
  case COMBINE_EXTREMES: combine_extremes(state, a, b); break;
  case COMBINE_MOMENTS: {
    int parts = ndr_dtype_is_complex(state->dtype) ? 2 : 1;
    combine_moments(parts, a, b);
    if (state->reliability) a[parts + 2] = word_of(f64_of(a[parts + 2]) + f64_of(b[parts + 2]));
    break;
  }
  case COMBINE_LOGSUMEXP: combine_logsumexp(state->skip_nan, a, b); break;
  case COMBINE_OR: a[0] |= b[0]; break;
  case COMBINE_AND: a[0] &= b[0]; break;
  }
}

/* Sums have loops of their own, so that these vectorise: slabs of a wide array merge millions of states. */
static void add_words(bool integer, uint64_t *into, int64_t into_step, const uint64_t *from, int64_t from_step,
                      int64_t count) {
  for (int64_t j = 0; integer && j < count; j++) into[j * into_step] += from[j * from_step];
  for (int64_t j = 0; !integer && j < count; j++)
    into[j * into_step] = word_of(f64_of(into[j * into_step]) + f64_of(from[j * from_step]));
}

static void merge_part(const ndr_state *state, uint64_t *into, int64_t into_pitch, int64_t into_step,
                       const uint64_t *from, int64_t from_pitch, int64_t from_step, int64_t count) {
  int words = words_of(state);
  combine_rule rule = rule_of(state);
  if (rule == COMBINE_ADD_INT || rule == COMBINE_ADD_FLOAT) {
    for (int w = 0; w < words; w++)
      add_words(rule == COMBINE_ADD_INT, into + w * into_pitch, into_step, from + w * from_pitch, from_step, count);
    return;
  }
  for (int64_t j = 0; j < count; j++) {
    uint64_t a[NDR_MAX_WORDS] = {0}, b[NDR_MAX_WORDS] = {0};
    for (int w = 0; w < words; w++) {
      a[w] = into[w * into_pitch + j * into_step];
      b[w] = from[w * from_pitch + j * from_step];
    }
    combine_one(state, rule, a, b);
    for (int w = 0; w < words; w++) into[w * into_pitch + j * into_step] = a[w];
  }
}

/* ---- finish ---- */

static void store_real(ndr_dtype dtype, double value, char *out) {
  switch (dtype) {
  case NDR_F16: memcpy(out, &(ndr_f16){ndr_f16_from_double(value)}, 2); break;
  case NDR_BF16: memcpy(out, &(ndr_bf16){ndr_bf16_from_double(value)}, 2); break;
  case NDR_F32: memcpy(out, &(float){(float)value}, 4); break;
  default: memcpy(out, &value, 8); break;
  }
}

/* The low bytes of a two's complement word are the narrower integer. */
static void store_integer(ndr_dtype dtype, uint64_t word, char *out) {
  switch (ndr_dtype_bytes(dtype)) {
  case 1: memcpy(out, &(uint8_t){(uint8_t)word}, 1); break;
  case 2: memcpy(out, &(uint16_t){(uint16_t)word}, 2); break;
  case 4: memcpy(out, &(uint32_t){(uint32_t)word}, 4); break;
  default: memcpy(out, &word, 8); break;
  }
}

/* The identity of min and max is a limit of the word; in a narrower result it is that of the dtype. */
static uint64_t within_dtype(ndr_dtype dtype, uint64_t word) {
  int spare = dtype == NDR_BOOL ? 63 : 64 - 8 * (int)ndr_dtype_bytes(dtype);
  if (value_type(dtype) == WORD_U64) return word > UINT64_MAX >> spare ? UINT64_MAX >> spare : word;
  int64_t most = INT64_MAX >> spare, value = (int64_t)word;
  return (uint64_t)(value > most ? most : value < -most - 1 ? -most - 1 : value);
}

static void store_parts(ndr_dtype dtype, const double *value, char *out) {
  if (!ndr_dtype_is_complex(dtype)) {
    store_real(dtype, value[0], out);
    return;
  }
  ndr_dtype part = dtype == NDR_C64 ? NDR_F32 : NDR_F64;
  store_real(part, value[0], out);
  store_real(part, value[1], out + ndr_dtype_bytes(part));
}

/* ---- totals ---- */

static ndr_scalar real_total(double value) {
  return (ndr_scalar){.dtype = NDR_F64, .re = value};
}

static ndr_scalar integer_total(ndr_dtype dtype, uint64_t word) {
  return (ndr_scalar){.dtype = value_type(dtype) == WORD_I64 ? NDR_I64 : NDR_U64, .u = word};
}

static ndr_scalar float_total(ndr_dtype dtype, double re, double im) {
  return ndr_dtype_is_complex(dtype) ? (ndr_scalar){.dtype = NDR_C128, .re = re, .im = im} : real_total(re);
}

/* The smallest is above the largest where no element was seen; infinities have no difference. */
static ndr_scalar difference(ndr_dtype dtype, const uint64_t *words) {
  word_type type = value_type(dtype);
  double least = f64_of(words[0]), most = f64_of(words[1]);
  bool seen = type == WORD_I64 ? (int64_t)words[0] <= (int64_t)words[1] : words[0] <= words[1];
  if (type == WORD_F64) return real_total(least <= most ? most - least : (double)NAN);
  return integer_total(dtype, seen ? words[1] - words[0] : 0);
}

static double logsumexp_value(double max, double sum) {
  return isinf(max) ? max : max + log(sum);
}

static double variance(const ndr_state *state, const uint64_t *words) {
  int parts = ndr_dtype_is_complex(state->dtype) ? 2 : 1;
  double n = f64_of(words[0]), less = state->ddof;
  if (state->reliability) less *= f64_of(words[parts + 2]) / n;
  return n == 0 ? (double)NAN : f64_of(words[parts + 1]) / fmax(n - less, 0);
}

static ndr_scalar mean(const ndr_state *state, const uint64_t *words) {
  bool two = ndr_dtype_is_complex(state->dtype);
  double n = f64_of(words[two ? 2 : 1]);
  if (state->weighted && n == 0) return float_total(state->dtype, (double)NAN, (double)NAN);
  return float_total(state->dtype, f64_of(words[0]) / n, two ? f64_of(words[1]) / n : 0);
}

/* What an operator gives, before it is rounded to the result's dtype. */
static ndr_scalar total_of(const ndr_state *state, const uint64_t *words) {
  switch (state->op) {
  case NDR_SUM:
  case NDR_PROD:
  case NDR_MIN:
  case NDR_MAX: {
    ndr_dtype result = ndr_op_result(state->op, state->dtype);
    if (value_type(state->dtype) != WORD_F64) return integer_total(result, within_dtype(result, words[0]));
    return float_total(result, f64_of(words[0]), ndr_dtype_is_complex(result) ? f64_of(words[1]) : 0);
  }
  case NDR_ARGMIN: /* no element: -1, also where the identity's index is the highest, which every other is below */
  case NDR_ARGMAX: return integer_total(NDR_I64, words[1] == INT64_MAX ? (uint64_t)-1 : words[1]);
  case NDR_PTP: return difference(state->dtype, words);
  case NDR_MEAN: return mean(state, words);
  case NDR_VAR: return real_total(variance(state, words));
  case NDR_STD: return real_total(sqrt(variance(state, words)));
  case NDR_NORM1:
  case NDR_NORMINF: return real_total(f64_of(words[0]));
  case NDR_NORM2: return real_total(sqrt(f64_of(words[0])));
  case NDR_LOGSUMEXP: return real_total(logsumexp_value(f64_of(words[0]), f64_of(words[1])));
  case NDR_ANY:
  case NDR_ALL: return integer_total(NDR_U64, words[0] != 0);
  case NDR_COUNT:
  case NDR_VALID: break;
  }
  return integer_total(NDR_I64, words[0]);
}

static void store_total(ndr_dtype result, const ndr_scalar *total, char *out) {
  if (ndr_dtype_is_float(result))
    store_parts(result, (double[]){total->re, total->im}, out);
  else
    store_integer(result, total->u, out);
}

static void finish_part(const ndr_state *state, ndr_dtype result, const uint64_t *states, int64_t pitch, int64_t step,
                        int64_t count, char *out, int64_t out_step) {
  int words = words_of(state);
  for (int64_t j = 0; j < count; j++) {
    uint64_t one[NDR_MAX_WORDS] = {0};
    for (int w = 0; w < words; w++) one[w] = states[w * pitch + j * step];
    ndr_scalar total = total_of(state, one);
    store_total(result, &total, out + j * out_step);
  }
}

/* ---- programs ---- */

static int part_count(const ndr_state *state) {
  return state->program ? state->program->part_count : 1;
}

ndr_state ndr_state_part(const ndr_state *state, int part, int *words_before) {
  const ndr_program *program = state->program;
  ndr_state found = *state;
  *words_before = 0;
  for (int p = 0; program && p <= part; p++) {
    const ndr_part *own = &program->parts[p];
    if (p > 0) *words_before += words_of(&found);
    found = (ndr_state){.op = own->op,
                        .dtype = program->nodes[own->value].dtype,
                        .skip_nan = own->skip_nan,
                        .ddof = state->ddof,
                        .weighted = own->weight >= 0};
    found.reliability = found.weighted && own->reliability && ndr_op_combine(own->op) == NDR_COMBINE_MOMENTS;
  }
  return found;
}

int ndr_state_size(const ndr_state *state) {
  int before;
  ndr_state last = ndr_state_part(state, part_count(state) - 1, &before);
  return before + words_of(&last);
}

ndr_dtype ndr_state_result(const ndr_state *state) {
  return state->program ? state->program->result_dtype : ndr_op_result(state->op, state->dtype);
}

void ndr_state_identity(const ndr_state *state, uint64_t *states, int64_t pitch, int64_t count) {
  for (int p = 0, before; p < part_count(state); p++) {
    ndr_state part = ndr_state_part(state, p, &before);
    fill_identity(&part, states + before * pitch, pitch, count);
  }
}

void ndr_state_merge(const ndr_state *state, uint64_t *into, int64_t into_pitch, int64_t into_step,
                     const uint64_t *from, int64_t from_pitch, int64_t from_step, int64_t count) {
  for (int p = 0, before; p < part_count(state); p++) {
    ndr_state part = ndr_state_part(state, p, &before);
    merge_part(&part, into + before * into_pitch, into_pitch, into_step, from + before * from_pitch, from_pitch,
               from_step, count);
  }
}

/* Evaluates the result from the totals of all parts. */
static void finish_program(const ndr_state *state, const uint64_t *states, int64_t pitch, int64_t step, int64_t count,
                           void *result, int64_t result_step) {
  const ndr_program *program = state->program;
  ndr_scalar totals[NDR_MOST_PARTS];
  for (int64_t j = 0; j < count; j++) {
    for (int p = 0, before; p < program->part_count; p++) {
      ndr_state part = ndr_state_part(state, p, &before);
      uint64_t one[NDR_MAX_WORDS] = {0};
      for (int w = 0; w < words_of(&part); w++) one[w] = states[(before + w) * pitch + j * step];
      totals[p] = total_of(&part, one);
    }
    ndr_scalar value = ndr_program_finish(program, totals);
    ndr_scalar_store(value, program->result_dtype, result, j * result_step);
  }
}

void ndr_state_finish(const ndr_state *state, const uint64_t *states, int64_t pitch, int64_t step, int64_t count,
                      void *result, int64_t result_step) {
  int only = state->program ? ndr_program_result_part(state->program) : 0, before;
  if (only < 0) {
    finish_program(state, states, pitch, step, count, result, result_step);
    return;
  }
  ndr_dtype dtype = ndr_state_result(state);
  ndr_state part = ndr_state_part(state, only, &before);
  finish_part(&part, dtype, states + before * pitch, pitch, step, count, result,
              result_step * (int64_t)ndr_dtype_bytes(dtype));
}
