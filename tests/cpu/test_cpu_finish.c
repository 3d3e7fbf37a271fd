/* The vectorised way from states to results gives the bits of ndr_state_finish, for every op, dtype and layout. */
#include <math.h>
#include <string.h>

#include "cpu/fold/fold.h"
#include "support/cases.h"
#include "support/suite.h"

enum { MOST = 300, MOST_STEP = 3 };

/* Values around those that 16 bits hold: on them, between two, at their middle, beside it; and what is no number. */
static double any_value(rng *random) {
  static const double special[] = {0, -0.0, INFINITY, -INFINITY, NAN, 65504, 65519, 65520, 0x1p-24, 0x1p-25, 0x1p-14};
  double value = ldexp((double)rng_between(random, 1 << 10, (1 << 12) - 1), (int)rng_between(random, -36, 8));
  switch (rng_between(random, 0, 5)) {
  case 0: return special[rng_between(random, 0, sizeof special / sizeof *special - 1)];
  case 1: value = nextafter(value, rng_once_in(random, 2) ? INFINITY : 0); break;
  case 2: value = ldexp(rng_unit(random), (int)rng_between(random, -160, 160)); break;
  default: break;
  }
  return rng_once_in(random, 2) ? value : -value;
}

/* Words of an op of values, of counts for var and mean, or of bits. */
static void fill(rng *random, const ndr_state *state, uint64_t *words, size_t count) {
  const bool moments = state->op == NDR_VAR || state->op == NDR_STD, averages = state->op == NDR_MEAN;
  ndr_class class = ndr_dtype_class(state->dtype);
  bool real = class == NDR_CLASS_FLOAT || class == NDR_CLASS_COMPLEX || ndr_op_is_real(state->op);
  for (size_t i = 0; i < count; i++) {
    int64_t word = (int64_t)i / (MOST * MOST_STEP);
    bool is_count = (moments && word == 0) || (averages && word == ndr_state_words(state->op, state->dtype) - 1);
    double value = is_count ? (double)rng_between(random, 0, 5) : any_value(random);
    uint64_t bits = rng_next(random) >> rng_between(random, 0, 63);
    memcpy(&words[i], &value, sizeof value);
    if (!real) words[i] = rng_once_in(random, 2) ? bits : ~bits;
  }
}

static void check(rng *random, const ndr_isa *isa, const ndr_state *state) {
  static uint64_t states[NDR_MAX_WORDS * MOST * MOST_STEP];
  static char got[16 * MOST * MOST_STEP], expected[16 * MOST * MOST_STEP];
  int64_t step = rng_between(random, 1, MOST_STEP), result_step = rng_between(random, 1, MOST_STEP);
  int64_t count = rng_between(random, 0, MOST), pitch = MOST * MOST_STEP;
  fill(random, state, states, sizeof states / sizeof *states);
  memset(got, 0x5a, sizeof got);
  memset(expected, 0x5a, sizeof expected);
  isa->finish(state, states, pitch, step, count, got, result_step);
  ndr_state_finish(state, states, pitch, step, count, expected, result_step);
  ck_assert_msg(memcmp(got, expected, sizeof got) == 0, "%s of %s, %s: %lld states, steps %lld and %lld (seed %llu)",
                ndr_op_name(state->op), ndr_dtype_name(state->dtype), isa->name, (long long)count, (long long)step,
                (long long)result_step, (unsigned long long)test_seed());
}

START_TEST(finishing_in_vectors_gives_the_same_bits) {
  const ndr_isa *const known[] = {ndr_isa_baseline, ndr_isa_here()};
  rng random = {test_seed()};
  for (int i = 0; i < test_case_count(10); i++)
    for (int op = 0; op < NDR_OP_COUNT; op++)
      for (int dtype = 0; dtype < NDR_DTYPE_COUNT; dtype++) {
        ndr_state state = {.op = (ndr_op)op, .dtype = (ndr_dtype)dtype, .ddof = (double)rng_between(&random, 0, 2)};
        if (!op_defined(state.op, state.dtype)) continue;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) check(&random, known[k], &state);
      }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cpu finish");
  suite_case(suite, "finish", 60, finishing_in_vectors_gives_the_same_bits, NULL);
  return suite_run(suite);
}
