/* The language of operators on any bytes: what parses must print, parse back and print the same; programs for any
 * dtypes must keep the rules of lang/program.h, and be evaluated without a fault. The first 8 bytes choose dtypes and
 * elements, the others are the text. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lang/braced.h"
#include "lang/emit.h"
#include "lang/evaluate.h"
#include "ndreduce/operator.h"
#include "support/program.h"

enum { PLACES = 4 };

static const int arrays[NDR_MOST_ARRAYS] = {0, 1, 2, 3, 4};

/* xorshift64* */
static uint64_t next(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 0x2545f4914f6cdd1du;
}

static ndr_scalar any_scalar(uint64_t *state, ndr_dtype dtype) {
  uint64_t bytes[2] = {next(state), next(state)};
  return ndr_scalar_load(dtype, bytes, 0);
}

static ndr_dtype total_dtype(ndr_dtype dtype) {
  switch (ndr_dtype_class(dtype)) {
  case NDR_CLASS_BOOL: return NDR_BOOL;
  case NDR_CLASS_INT: return NDR_I64;
  case NDR_CLASS_UINT: return NDR_U64;
  case NDR_CLASS_FLOAT: return NDR_F64;
  case NDR_CLASS_COMPLEX: break;
  }
  return NDR_C128;
}

static void evaluate(const ndr_program *program, uint64_t *state) {
  ndr_scalar values[NDR_MOST_NODES], elements[NDR_MOST_ARRAYS], totals[NDR_MOST_PARTS], result;
  int64_t places[NDR_MAX_DIMS];
  char stored[16];
  for (int k = 0; k < program->array_count; k++) elements[k] = any_scalar(state, program->arrays[k]);
  for (int d = 0; d < NDR_MAX_DIMS; d++) places[d] = (int64_t)(next(state) >> 1);
  ndr_program_evaluate(program, elements, places, values);
  for (int p = 0; p < program->part_count; p++) {
    ndr_dtype dtype = program->nodes[program->parts[p].value].dtype;
    totals[p] = any_scalar(state, total_dtype(ndr_op_result(program->parts[p].op, dtype)));
  }
  result = ndr_program_finish(program, totals);
  ndr_scalar_store(result, program->result_dtype, stored, 0);
}

static void check_program(ndr_op op, ndr_op back, const ndr_dtype *dtypes, int skip_nan, uint64_t *state) {
  ndr_program program, again;
  int node;
  if (ndr_emit_program(op, dtypes, arrays, skip_nan, &program) != NDR_OK) {
    require(ndr_emit_program(back, dtypes, arrays, skip_nan, &again) == NDR_ERR_OP && ndr_last_error()[0]);
    return;
  }
  require(ndr_emit_program(back, dtypes, arrays, skip_nan, &again) == NDR_OK);
  require(program_equal(&program, &again));
  program.array_count = ndr_operator_arrays(op);
  memcpy(program.arrays, dtypes, NDR_MOST_ARRAYS * sizeof *dtypes);
  require(program_fault(&program, &node) == NULL);
  for (int i = 0; i < PLACES; i++) evaluate(&program, state);
}

static char *print(size_t (*printer)(ndr_op op, char *text, size_t capacity), ndr_op op) {
  size_t length = printer(op, NULL, 0);
  char *text = malloc(length + 1);
  require(length > 0 && text != NULL);
  require(printer(op, text, length + 1) == length && strlen(text) == length);
  return text;
}

static ndr_op bind_any(ndr_op op, uint64_t state) {
  double values[NDR_MOST_PARAMETERS];
  ndr_op bound;
  int count = ndr_operator_parameters(op);
  for (int i = 0; i < count; i++) values[i] = (double)next(&state) * 0x1p-60;
  require(ndr_operator_bind(&bound, op, values, count) == NDR_OK);
  return bound;
}

static void check_operator(ndr_op op, const ndr_dtype *dtypes, int skip_nan, uint64_t *state) {
  ndr_op back;
  char *text = print(ndr_operator_print, op);
  require(ndr_operator_create(&back, text, NULL, 0) == NDR_OK);
  char *again = print(ndr_operator_print, back);
  require(strcmp(text, again) == 0);
  ndr_op bound = bind_any(op, *state), bound_back = bind_any(back, *state);
  ndr_operator_destroy(back);
  check_program(bound, bound_back, dtypes, skip_nan, state);
  ndr_operator_destroy(bound);
  ndr_operator_destroy(bound_back);
  free(text);
  free(again);
}

static void check_braces(ndr_op op) {
  ndr_op back;
  char *text = print(ndr_braced_print, op);
  const char *end = text;
  require(ndr_braced_parse(&end, &back) == NDR_OK && *end == 0);
  char *again = print(ndr_braced_print, back);
  require(strcmp(text, again) == 0);
  if (back != op) ndr_operator_destroy(back);
  free(text);
  free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input from = {data, size};
  ndr_dtype dtypes[NDR_MOST_ARRAYS];
  ndr_op op;
  uint64_t state = 1;
  for (int k = 0; k < NDR_MOST_ARRAYS; k++) dtypes[k] = (ndr_dtype)(take(&from, 1) % NDR_DTYPE_COUNT);
  bool skip_nan = take(&from, 1) & 1;
  state += take(&from, 2);
  char *text = malloc(from.size + 1);
  require(text != NULL);
  if (from.size) memcpy(text, from.data, from.size);
  text[from.size] = 0;
  const char *at = text;
  bool braced = *text == '{';
  if ((braced ? ndr_braced_parse(&at, &op) : ndr_operator_create(&op, text, NULL, 0)) == NDR_OK) {
    check_operator(op, dtypes, skip_nan, &state);
    check_braces(op);
    ndr_operator_destroy(op);
  } else {
    require(ndr_last_error()[0] != 0);
  }
  free(text);
  return 0;
}
