/* Finishes states of programs whose results are expressions: many at a time, by the instructions that compute values.
 */
#include <string.h>

#include "cpu/program/code.h"

enum { OUTPUTS = 64, MEMORY = 32768 };

/* Whether a part's total is its state's words. */
static bool is_word(const ndr_program *program, int part) {
  switch (program->parts[part].op) {
  case NDR_SUM:
  case NDR_PROD:
  case NDR_MIN:
  case NDR_MAX:
  case NDR_ANY:
  case NDR_ALL:
  case NDR_COUNT:
  case NDR_VALID: return true;
  default: return false;
  }
}

/* The limits of a narrower dtype, to which minima and maxima of no element are cut. */
static void cut(ndr_dtype dtype, uint64_t *words, int64_t count) {
  int spare = dtype == NDR_BOOL ? 63 : 64 - 8 * (int)ndr_dtype_bytes(dtype);
  if (ndr_dtype_is_signed(dtype)) {
    const int64_t most = INT64_MAX >> spare, least = INT64_MIN >> spare;
    for (int64_t j = 0; j < count; j++) {
      int64_t value = (int64_t)words[j];
      words[j] = (uint64_t)(value > most ? most : value < least ? least : value);
    }
  } else {
    const uint64_t most = UINT64_MAX >> spare;
    for (int64_t j = 0; j < count; j++) words[j] = words[j] > most ? most : words[j];
  }
}

/* The totals of a part: words, or pairs of words. */
static void load_totals(const ndr_state *state, int part, const uint64_t *states, int64_t pitch, int64_t step,
                        int64_t count, uint64_t *totals) {
  int before;
  ndr_state of = ndr_state_part(state, part, &before);
  const uint64_t *re = states + before * pitch, *im = re + pitch;
  if (ndr_dtype_is_complex(ndr_state_result(&of))) {
    for (int64_t j = 0; j < count; j++) {
      totals[2 * j] = re[j * step];
      totals[2 * j + 1] = im[j * step];
    }
    return;
  }
  for (int64_t j = 0; j < count; j++) totals[j] = re[j * step];
  if ((of.op == NDR_MIN || of.op == NDR_MAX) && !ndr_dtype_is_float(of.dtype)) cut(of.dtype, totals, count);
}

static void make(ndr_code *code, const ndr_isa *isa, const ndr_state *state) {
  const ndr_program *program = state->program;
  int values[NDR_MOST_NODES];
  memset(code, 0, sizeof *code);
  code->strip = OUTPUTS;
  for (int p = 0; p < program->part_count; p++)
    if (!is_word(program, p)) code->overflows = true;
  if (code->overflows) return;
  ndr_code_result_nodes(code, isa, program, values);
  ndr_dtype result = program->result_dtype;
  if (result == NDR_F16 || result == NDR_BF16) result = NDR_F64; /* rounded once, at the end */
  int value = ndr_code_convert(code, isa, values[program->result], result);
  code->folds[code->fold_count++] = (ndr_code_fold){.value = value, .factors = -1};
  if (code->overflows) return;
  ndr_code_mark(code);
  ndr_code_place(code, OUTPUTS, OUTPUTS);
}

static void store(const char *values, ndr_dtype dtype, int64_t count, char *to, int64_t step) {
  const int64_t bytes = (int64_t)ndr_dtype_bytes(dtype);
  const double *reals = (const double *)(const void *)values;
  for (int64_t j = 0; j < count; j++) {
    uint16_t half;
    if (dtype == NDR_F16 || dtype == NDR_BF16) {
      half = dtype == NDR_F16 ? ndr_f16_from_double(reals[j]) : ndr_bf16_from_double(reals[j]);
      memcpy(to + j * step * bytes, &half, sizeof half);
    } else {
      memcpy(to + j * step * bytes, values + j * bytes, (size_t)bytes);
    }
  }
}

/* Results of a code, OUTPUTS at a time. */
static void run(const ndr_isa *isa, const ndr_code *code, const ndr_state *state, const uint64_t *states, int64_t pitch,
                int64_t step, int64_t count, char *result, int64_t result_step) {
  _Alignas(64) char memory[MEMORY];
  _Alignas(64) uint64_t totals[NDR_MOST_PARTS][2 * OUTPUTS];
  const ndr_code_memory of = {memory, memory + (code->register_bytes + 63) / 64 * 64};
  const ndr_value *value = &code->values[code->folds[0].value];
  const int64_t bytes = (int64_t)ndr_dtype_bytes(state->program->result_dtype);
  ndr_strip strip = {.at = 0};
  for (int p = 0; p < NDR_MOST_PARTS; p++) strip.elements[p] = (const char *)totals[p];
  ndr_code_begin(isa, code, &of);
  for (int64_t done = 0; done < count; done += strip.count) {
    strip.count = count - done < OUTPUTS ? count - done : OUTPUTS;
    for (int p = 0; p < state->program->part_count; p++)
      if (code->arrays >> p & 1) load_totals(state, p, states + done * step, pitch, step, strip.count, totals[p]);
    ndr_code_run(isa, code, &of, &strip);
    store(ndr_code_where(value, &of, &strip), state->program->result_dtype, strip.count,
          result + done * result_step * bytes, result_step);
  }
}

/* False: the code does not fit. Not inlined: its memory would be on the stack of every finish. */
__attribute__((noinline)) static bool finish_by_code(const ndr_isa *isa, const ndr_state *state, const uint64_t *states,
                                                     int64_t pitch, int64_t step, int64_t count, char *result,
                                                     int64_t result_step) {
  union {
    ndr_code code;
    char bytes[sizeof(ndr_code) + NDR_MOST_VALUES * sizeof(ndr_value)];
  } room;
  make(&room.code, isa, state);
  if (room.code.overflows || room.code.register_bytes + room.code.tile_bytes + 128 > MEMORY) return false;
  run(isa, &room.code, state, states, pitch, step, count, result, result_step);
  return true;
}

void ndr_finish(const ndr_isa *isa, const ndr_state *state, const uint64_t *states, int64_t pitch, int64_t step,
                int64_t count, void *result, int64_t result_step) {
  enum { LEAST = 8 }; /* fewer are finished sooner than code is made */
  bool by_code = state->program && ndr_program_result_part(state->program) < 0 && count >= LEAST;
  if (by_code && finish_by_code(isa, state, states, pitch, step, count, result, result_step)) return;
  isa->finish(state, states, pitch, step, count, result, result_step);
}
