/* Computes an element's state by the definition of programs (lang/evaluate.h). */
#include "cpu/scan/states.h"

#include <math.h>
#include <string.h>

#include "lang/evaluate.h"

ndr_state ndr_scan_state(const ndr_scan_problem *problem) {
  return (ndr_state){
      .op = problem->op, .dtype = problem->dtype, .skip_nan = problem->skip_nan, .program = problem->program};
}

static bool is_nan(const ndr_scalar *x) {
  return ndr_dtype_is_float(x->dtype) && (isnan(x->re) || (ndr_dtype_is_complex(x->dtype) && isnan(x->im)));
}

static bool is_nonzero(const ndr_scalar *x) {
  if (!ndr_dtype_is_float(x->dtype)) return x->u != 0;
  return x->re != 0 || (ndr_dtype_is_complex(x->dtype) && x->im != 0);
}

/* The state of one value: the value itself, but for logsumexp and truth. */
static void set_words(ndr_combine combine, const ndr_scalar *x, uint64_t *words) {
  if (combine == NDR_COMBINE_OR || combine == NDR_COMBINE_AND) {
    words[0] = is_nonzero(x);
  } else if (ndr_dtype_is_float(x->dtype)) {
    memcpy(&words[0], &x->re, sizeof x->re);
    if (ndr_dtype_is_complex(x->dtype)) memcpy(&words[1], &x->im, sizeof x->im);
  } else {
    words[0] = x->u;
  }
}

/* exp(x - x) is 1; of -inf there is nothing to add. */
static void set_exponential(const ndr_scalar *x, uint64_t *words) {
  double value = ndr_dtype_is_float(x->dtype) ? x->re : ndr_dtype_is_signed(x->dtype) ? (double)x->i : (double)x->u;
  double sum = isnan(value) ? value : value == -(double)INFINITY ? 0 : 1;
  memcpy(&words[0], &value, sizeof value);
  memcpy(&words[1], &sum, sizeof sum);
}

void ndr_scan_state_of(const ndr_scan_problem *problem, const ndr_state *state, const void *const *data,
                       const ndr_scan_place *place, uint64_t *words) {
  const ndr_program *program = problem->program;
  ndr_scalar elements[NDR_MOST_ARRAYS], values[NDR_MOST_NODES];
  elements[0] = ndr_scalar_load(problem->dtype, data[0], place->at);
  for (int k = 0; k < problem->operand_count; k++)
    elements[k + 1] = ndr_scalar_load(problem->operand_dtypes[k], data[k + 1], place->operand[k]);
  ndr_program_evaluate(program, elements, place->place, values);
  ndr_state_identity(state, words, 1, 1);
  for (int p = 0; p < program->part_count; p++) {
    const ndr_part *part = &program->parts[p];
    const ndr_scalar *x = &values[part->value];
    int before;
    (void)ndr_state_part(state, p, &before);
    if ((part->mask >= 0 && !values[part->mask].u) || (part->skip_nan && is_nan(x))) continue;
    if (ndr_op_combine(part->op) == NDR_COMBINE_LOGSUMEXP)
      set_exponential(x, words + before);
    else
      set_words(ndr_op_combine(part->op), x, words + before);
  }
}
