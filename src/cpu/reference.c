/* The reference: reduces every problem one element at a time, from the definitions. The fast families are tested
 * against it; it shares only the states with them. */
#include <math.h>
#include <string.h>

#include "cpu/family.h"
#include "cpu/nest.h"
#include "lang/evaluate.h"

/* The most elements that are added one after another; longer ranges are halved. */
#define LEAF 64

typedef struct scalar {
  double re, im;
  int64_t i;
  uint64_t u;
  ndr_class class;
} scalar;

static scalar real(double value) {
  return (scalar){.re = value, .class = NDR_CLASS_FLOAT};
}

static scalar complex(double re, double im) {
  return (scalar){.re = re, .im = im, .class = NDR_CLASS_COMPLEX};
}

static scalar signed_integer(int64_t value) {
  return (scalar){.re = (double)value, .i = value, .u = (uint64_t)value, .class = NDR_CLASS_INT};
}

static scalar unsigned_integer(uint64_t value) {
  return (scalar){.re = (double)value, .u = value, .class = NDR_CLASS_UINT};
}

static scalar load(ndr_dtype dtype, const void *data, int64_t i) {
  switch (dtype) {
  case NDR_BOOL: return unsigned_integer(((const uint8_t *)data)[i] != 0);
  case NDR_I8: return signed_integer(((const int8_t *)data)[i]);
  case NDR_I16: return signed_integer(((const int16_t *)data)[i]);
  case NDR_I32: return signed_integer(((const int32_t *)data)[i]);
  case NDR_I64: return signed_integer(((const int64_t *)data)[i]);
  case NDR_U8: return unsigned_integer(((const uint8_t *)data)[i]);
  case NDR_U16: return unsigned_integer(((const uint16_t *)data)[i]);
  case NDR_U32: return unsigned_integer(((const uint32_t *)data)[i]);
  case NDR_U64: return unsigned_integer(((const uint64_t *)data)[i]);
  case NDR_F16: return real((double)ndr_f16_to_float(((const ndr_f16 *)data)[i]));
  case NDR_BF16: return real((double)ndr_bf16_to_float(((const ndr_bf16 *)data)[i]));
  case NDR_F32: return real((double)((const float *)data)[i]);
  case NDR_F64: return real(((const double *)data)[i]);
  case NDR_C64: return complex((double)((const ndr_c64 *)data)[i].re, (double)((const ndr_c64 *)data)[i].im);
  case NDR_C128: return complex(((const ndr_c128 *)data)[i].re, ((const ndr_c128 *)data)[i].im);
  }
  return real(0);
}

static double get(const uint64_t *word) {
  double value;
  memcpy(&value, word, sizeof value);
  return value;
}

static void put(uint64_t *word, double value) {
  memcpy(word, &value, sizeof value);
}

static void add(uint64_t *word, double value) {
  put(word, get(word) + value);
}

static bool is_float(scalar x) {
  return x.class == NDR_CLASS_FLOAT || x.class == NDR_CLASS_COMPLEX;
}

static bool is_nan(scalar x) {
  return is_float(x) && (isnan(x.re) || isnan(x.im));
}

static double magnitude(scalar x) {
  return hypot(x.re, x.im);
}

static void add_sum(uint64_t *words, scalar x) {
  if (is_float(x))
    add(&words[0], x.re);
  else
    words[0] += x.u;
  if (x.class == NDR_CLASS_COMPLEX) add(&words[1], x.im);
}

static void add_product(uint64_t *words, scalar x) {
  double re = get(&words[0]), im = get(&words[1]);
  if (!is_float(x)) {
    words[0] *= x.u;
  } else if (x.class == NDR_CLASS_FLOAT) {
    put(&words[0], re * x.re);
  } else {
    put(&words[0], re * x.re - im * x.im);
    put(&words[1], re * x.im + im * x.re);
  }
}

/* Whether x is smaller than the state's value, or larger for max. A NaN beats every number. */
static bool beats(const uint64_t *words, scalar x, bool smaller) {
  double best = get(&words[0]);
  if (x.class == NDR_CLASS_INT) return smaller ? x.i < (int64_t)words[0] : x.i > (int64_t)words[0];
  if (x.class == NDR_CLASS_UINT) return smaller ? x.u < words[0] : x.u > words[0];
  if (isnan(best)) return false;
  return isnan(x.re) || (smaller ? x.re < best : x.re > best);
}

static bool ties(const uint64_t *words, scalar x) {
  return is_float(x) ? get(&words[0]) == x.re || (isnan(get(&words[0])) && isnan(x.re)) : words[0] == x.u;
}

static void add_extreme(uint64_t *words, scalar x, bool smaller, bool indexed, int64_t index, bool first) {
  bool wins = first || beats(words, x, smaller) || (indexed && ties(words, x) && index < (int64_t)words[1]);
  if (!wins) return;
  if (is_float(x))
    put(&words[0], x.re);
  else
    words[0] = x.u;
  if (indexed) words[1] = (uint64_t)index;
}

static void add_extremes(uint64_t *words, scalar x, bool first) {
  add_extreme(words, x, true, false, 0, first);
  add_extreme(words + 1, x, false, false, 0, first);
}

/* Welford's update of count, mean and sum of squared distances. */
static void add_moments(uint64_t *words, scalar x) {
  int parts = x.class == NDR_CLASS_COMPLEX ? 2 : 1;
  const double part[2] = {x.re, x.im};
  add(&words[0], 1);
  for (int p = 0; p < parts; p++) {
    double delta = part[p] - get(&words[1 + p]);
    add(&words[1 + p], delta / get(&words[0]));
    add(&words[1 + parts], delta * (part[p] - get(&words[1 + p])));
  }
}

static void add_exponential(uint64_t *words, double x) {
  double max = get(&words[0]);
  if (isnan(max)) return;
  if (x == max) {
    add(&words[1], 1);
  } else if (x < max) {
    add(&words[1], exp(x - max));
  } else {
    put(&words[1], get(&words[1]) * exp(max - x) + (isnan(x) ? x : 1));
    put(&words[0], x);
  }
}

static void add_element(const ndr_state *state, uint64_t *words, scalar x, int64_t index, bool first) {
  bool nonzero = is_float(x) ? x.re != 0 || x.im != 0 : x.u != 0;
  switch (state->op) {
  case NDR_SUM: add_sum(words, x); break;
  case NDR_PROD: add_product(words, x); break;
  case NDR_MIN: add_extreme(words, x, true, false, 0, first); break;
  case NDR_MAX: add_extreme(words, x, false, false, 0, first); break;
  case NDR_ARGMIN: add_extreme(words, x, true, true, index, first); break;
  case NDR_ARGMAX: add_extreme(words, x, false, true, index, first); break;
  case NDR_PTP: add_extremes(words, x, first); break;
  case NDR_MEAN:
    add(&words[0], x.re);
    if (x.class == NDR_CLASS_COMPLEX) add(&words[1], x.im);
    add(&words[x.class == NDR_CLASS_COMPLEX ? 2 : 1], 1);
    break;
  case NDR_VAR:
  case NDR_STD: add_moments(words, x); break;
  case NDR_NORM1: add(&words[0], magnitude(x)); break;
  case NDR_NORM2: add(&words[0], x.re * x.re + x.im * x.im); break;
  case NDR_NORMINF: add_extreme(words, real(magnitude(x)), false, false, 0, first); break;
  case NDR_LOGSUMEXP: add_exponential(words, x.re); break;
  case NDR_ANY: words[0] |= nonzero; break;
  case NDR_ALL: words[0] &= nonzero; break;
  case NDR_COUNT: words[0] += nonzero; break;
  case NDR_VALID: words[0] += !is_nan(x); break;
  }
}

static scalar scalar_of(ndr_scalar value) {
  switch (ndr_dtype_class(value.dtype)) {
  case NDR_CLASS_BOOL:
  case NDR_CLASS_UINT: return unsigned_integer(value.u);
  case NDR_CLASS_INT: return signed_integer(value.i);
  case NDR_CLASS_FLOAT: return real(value.re);
  case NDR_CLASS_COMPLEX: break;
  }
  return complex(value.re, value.im);
}

/* West's update (1979) of the sum of weights, mean and weighted sum of squared distances. */
static void add_weighted_moments(const ndr_state *state, uint64_t *words, scalar x, double weight) {
  int parts = x.class == NDR_CLASS_COMPLEX ? 2 : 1;
  const double part[2] = {x.re, x.im};
  add(&words[0], weight);
  double total = get(&words[0]), share = total != 0 ? weight / total : 0;
  for (int p = 0; p < parts; p++) {
    double delta = part[p] - get(&words[1 + p]);
    add(&words[1 + p], delta * share);
    add(&words[1 + parts], weight * delta * (part[p] - get(&words[1 + p])));
  }
  if (state->reliability) add(&words[2 + parts], weight * weight);
}

static void add_weighted(const ndr_state *state, uint64_t *words, scalar x, double weight) {
  bool pair = x.class == NDR_CLASS_COMPLEX;
  if (state->op == NDR_VAR || state->op == NDR_STD) {
    add_weighted_moments(state, words, x, weight);
    return;
  }
  if (state->op == NDR_NORM2) {
    add(&words[0], weight * (x.re * x.re + x.im * x.im));
    return;
  }
  add(&words[0], weight * x.re);
  if (pair) add(&words[1], weight * x.im);
  if (state->op == NDR_MEAN) add(&words[pair ? 2 : 1], weight);
}

/* A place in the arrays of a problem. */
typedef struct position {
  int64_t at[NDR_MOST_ARRAYS]; /* elements from the first of each array */
  int64_t index;
  int64_t places[NDR_MOST_PLACES];
} position;

static position start_of(const ndr_canonical *problem) {
  position start = {.at = {problem->origin}, .index = problem->index_origin};
  for (int k = 0; k < problem->operand_count; k++) start.at[1 + k] = problem->operand_origin[k];
  for (int k = 0; k < problem->place_count; k++) start.places[k] = problem->place_origin[k];
  return start;
}

static void step_along(const ndr_canonical *problem, const ndr_axis *axis, int64_t steps, position *place) {
  place->at[0] += steps * axis->stride;
  place->index += steps * axis->index;
  for (int k = 0; k < problem->operand_count; k++) place->at[1 + k] += steps * axis->operand[k];
  for (int k = 0; k < problem->place_count; k++) place->places[k] += steps * axis->place[k];
}

typedef struct range {
  const ndr_canonical *problem;
  const void *const *data;
  ndr_state state;
  position origin; /* of the output's first element */
} range;

/* Element e, counted along the reduced axes. */
static position place_of(const range *over, int64_t e) {
  position place = over->origin;
  for (int r = 0; r < over->problem->reduced_count; r++) {
    const ndr_axis *axis = &over->problem->reduced[r];
    step_along(over->problem, axis, e % axis->size, &place);
    e /= axis->size;
  }
  return place;
}

/* Adds elements first .. first + count - 1. */
static void fold_leaf(const range *over, int64_t first, int64_t count, uint64_t *words) {
  bool any = false;
  for (int64_t e = first; e < first + count; e++) {
    position place = place_of(over, e);
    scalar x = load(over->problem->dtype, over->data[0], place.at[0]);
    if (over->state.skip_nan && is_nan(x)) continue;
    add_element(&over->state, words, x, place.index, !any);
    any = true;
  }
}

static void evaluate_at(const range *over, const position *place, ndr_scalar *values) {
  const ndr_canonical *problem = over->problem;
  ndr_scalar elements[NDR_MOST_ARRAYS];
  elements[0] = ndr_scalar_load(problem->dtype, over->data[0], place->at[0]);
  for (int k = 0; k < problem->operand_count; k++)
    elements[1 + k] = ndr_scalar_load(problem->operand_dtypes[k], over->data[1 + k], place->at[1 + k]);
  ndr_program_evaluate(over->state.program, elements, place->places, values);
}

/* The same for a program: the values of its parts are added. */
static void fold_leaf_of_parts(const range *over, int64_t first, int64_t count, uint64_t *words) {
  const ndr_program *program = over->state.program;
  ndr_scalar values[NDR_MOST_NODES];
  bool any[NDR_MOST_PARTS] = {false};
  for (int64_t e = first; e < first + count; e++) {
    position place = place_of(over, e);
    evaluate_at(over, &place, values);
    for (int p = 0; p < program->part_count; p++) {
      const ndr_part *part = &program->parts[p];
      int before;
      ndr_state state = ndr_state_part(&over->state, p, &before);
      scalar x = scalar_of(values[part->value]);
      if ((part->mask >= 0 && !values[part->mask].u) || (part->skip_nan && is_nan(x))) continue;
      if (part->weight >= 0)
        add_weighted(&state, words + before, x, values[part->weight].re);
      else
        add_element(&state, words + before, x, place.index, !any[p]);
      any[p] = true;
    }
  }
}

/* Reduces a range by halves, so that the error grows like the logarithm of its length. */
static void fold_range(const range *over, int64_t first, int64_t count, uint64_t *words) {
  ndr_state_identity(&over->state, words, 1, 1);
  if (count <= LEAF) {
    (over->state.program ? fold_leaf_of_parts : fold_leaf)(over, first, count, words);
    return;
  }
  uint64_t other[NDR_MAX_PROGRAM_WORDS] = {0};
  fold_range(over, first, count / 2, words);
  fold_range(over, first + count / 2, count - count / 2, other);
  ndr_state_merge(&over->state, words, 1, 1, other, 1, 1, 1);
}

static void reduce_output(const ndr_canonical *problem, const void *const *data, int i, int64_t output, void *result) {
  range over = {problem, data, ndr_canonical_state(problem, i), start_of(problem)};
  int64_t place = problem->result_origin[i], rest = output;
  for (int k = 0; k < problem->kept_count; k++) {
    const ndr_axis *axis = &problem->kept[k];
    step_along(problem, axis, rest % axis->size, &over.origin);
    place += rest % axis->size * axis->result[i];
    rest /= axis->size;
  }
  uint64_t words[NDR_MAX_PROGRAM_WORDS] = {0};
  fold_range(&over, 0, problem->length, words);
  if (problem->merges) {
    ndr_state_merge(&over.state, (uint64_t *)result + place, problem->outputs, 1, words, 1, 1, 1);
    return;
  }
  if (problem->partial) {
    for (int w = 0; w < ndr_state_size(&over.state); w++) ((uint64_t *)result)[w * problem->outputs + place] = words[w];
    return;
  }
  int64_t bytes = (int64_t)ndr_dtype_bytes(ndr_state_result(&over.state));
  ndr_state_finish(&over.state, words, 1, 1, 1, (char *)result + place * bytes, 1);
}

static void run(const ndr_plan *plan, const void *const *data, void *const *results, void *workspace) {
  (void)workspace;
  for (int i = 0; i < plan->problem.op_count; i++)
    for (int64_t output = 0; output < plan->problem.outputs; output++)
      reduce_output(&plan->problem, data, i, output, results[i]);
}

static const char *reject(const ndr_canonical *problem, const ndr_device *device, char *text) {
  (void)device;
  (void)text;
  if (problem->table) return "it reads no table";
  for (int r = 0; r < problem->reduced_count; r++)
    if (problem->reduced[r].scattered) return "an axis is scattered";
  return NULL;
}

/* About 20 ns for each element. That only one thread works, and that each op takes this time, is left out: the choice
 * of a family must depend on neither, because families add in different orders. */
static double cost(const ndr_canonical *problem, const ndr_device *device) {
  return ndr_nest_seconds(20e-9 * ((double)problem->length + 1) * (double)problem->outputs, problem, device);
}

static void configure(ndr_plan *plan) {
  plan->workspace = 0;
}

static size_t describe(const ndr_plan *plan, char *text, size_t capacity) {
  size_t length = 0;
  (void)plan;
  ndr_text_append(text, capacity, &length, "one element at a time");
  return length;
}

const ndr_cpu_family ndr_cpu_scalar = {{"scalar", reject, cost, configure, describe}, run};
