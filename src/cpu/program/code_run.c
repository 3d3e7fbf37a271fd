/* Runs the values of a code over a strip. */
#include <string.h>

#include "cpu/program/code.h"

#define FILL(type)                                                                                                     \
  case sizeof(type):                                                                                                   \
    for (int64_t l = 0; l < count; l++) memcpy((char *)to + l * bytes, from, sizeof(type));                            \
    return

void ndr_code_fill(const void *from, int64_t bytes, int64_t count, void *to) {
  switch (bytes) {
    FILL(uint8_t);
    FILL(uint16_t);
    FILL(uint32_t);
    FILL(uint64_t);
    FILL(ndr_c128);
  }
}
#undef FILL

char *ndr_code_where(const ndr_value *value, const ndr_code_memory *memory, const ndr_strip *strip) {
  switch ((ndr_value_place)value->place) {
  case NDR_IN_ARRAY: break;
  case NDR_IN_REGISTER: return memory->registers + value->offset;
  case NDR_IN_TILE:
    return memory->tiles + value->offset + strip->at * (int64_t)ndr_dtype_bytes((ndr_dtype)value->dtype);
  }
  return (char *)(uintptr_t)strip->elements[value->number];
}

static void run_value(const ndr_isa *isa, const ndr_code *code, int i, const ndr_code_memory *memory,
                      const ndr_strip *strip) {
  const ndr_value *value = &code->values[i];
  const int64_t bytes = (int64_t)ndr_dtype_bytes((ndr_dtype)value->dtype);
  char *out = ndr_code_where(value, memory, strip);
  const void *operand[3] = {NULL, NULL, NULL};
  const int numbers[3] = {value->a, value->b, value->c};
  for (int k = 0; k < 3; k++)
    if (numbers[k] >= 0) operand[k] = ndr_code_where(&code->values[numbers[k]], memory, strip);
  switch ((ndr_value_kind)value->kind) {
  case NDR_VALUE_ARRAY:
  case NDR_VALUE_INDEX: return;
  case NDR_VALUE_CONSTANT: ndr_code_fill((const uint64_t[2]){value->bits, 0}, bytes, strip->count, out); return;
  case NDR_VALUE_CONVERT:
    if (isa->convert[value->from][value->dtype])
      isa->convert[value->from][value->dtype](operand[0], out, strip->count);
    else if (operand[0])
      memcpy(out, operand[0], (size_t)(strip->count * bytes));
    return;
  case NDR_VALUE_STEP:
    isa->step[value->number][value->from](operand[0], operand[1], operand[2], out, strip->count);
    return;
  case NDR_VALUE_LIST:
    if (operand[0]) memcpy(out, operand[0], (size_t)((value->number - 1) * bytes));
    if (operand[1]) memcpy(out + (value->number - 1) * bytes, operand[1], (size_t)bytes);
    return;
  }
}

void ndr_code_run(const ndr_isa *isa, const ndr_code *code, const ndr_code_memory *memory, const ndr_strip *strip) {
  for (int i = code->first; i != 0; i = code->values[i].next) run_value(isa, code, i, memory, strip);
}

void ndr_code_begin(const ndr_isa *isa, const ndr_code *code, const ndr_code_memory *memory) {
  for (int i = 0; i < code->value_count; i++) {
    const ndr_value *value = &code->values[i];
    int64_t total = value->room;
    if (!value->used || !value->constant) continue;
    for (ndr_strip strip = {.at = 0}; strip.at < total; strip.at += strip.count) {
      strip.count = total - strip.at < code->strip ? total - strip.at : code->strip;
      run_value(isa, code, i, memory, &strip);
    }
  }
}
