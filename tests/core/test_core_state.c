/* The laws of partial states: identities are neutral, combining does not depend on grouping, finishing gives the
 * operator's value. States of single elements are written here from the layout that core/state.h documents. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/state.h"
#include "support/cases.h"
#include "support/oracle.h"
#include "support/suite.h"

typedef struct words {
  uint64_t word[NDR_MAX_WORDS];
} words;

static uint64_t real_word(long double value) {
  double narrow = (double)value;
  uint64_t word;
  memcpy(&word, &narrow, sizeof word);
  return word;
}

static uint64_t value_word(ndr_dtype dtype, long double value) {
  if (!is_integer(dtype)) return real_word(value);
  return is_signed(dtype) ? (uint64_t)(int64_t)value : (uint64_t)value;
}

static long double magnitude(element x) {
  return hypotl(x.re, x.im);
}

static words identity_of(const ndr_state *state) {
  words identity = {{0}};
  ndr_state_identity(state, identity.word, 1, 1);
  return identity;
}

/* The state that has seen one element, at flattened index `index`. x - x is 0, or NaN where x has no distance from
 * itself: the variance of an infinity is NaN. */
static words state_of(const ndr_state *state, element x, int64_t index) {
  bool complex = is_complex(state->dtype), nonzero = x.re != 0 || x.im != 0;
  uint64_t value = value_word(state->dtype, x.re), imaginary = complex ? real_word(x.im) : 0;
  if (state->skip_nan && (isnan(x.re) || isnan(x.im))) return identity_of(state);
  switch (state->op) {
  case NDR_SUM:
  case NDR_PROD: return (words){{value, imaginary}};
  case NDR_MIN:
  case NDR_MAX: return (words){{value}};
  case NDR_ARGMIN:
  case NDR_ARGMAX: return (words){{value, (uint64_t)index}};
  case NDR_PTP: return (words){{value, value}};
  case NDR_MEAN:
    if (complex) return (words){{value, imaginary, real_word(1)}};
    return (words){{real_word(x.re), real_word(1)}};
  case NDR_VAR:
  case NDR_STD:
    if (complex) return (words){{real_word(1), value, imaginary, real_word(x.re - x.re)}};
    return (words){{real_word(1), real_word(x.re), real_word(x.re - x.re)}};
  case NDR_NORM1:
  case NDR_NORMINF: return (words){{real_word(magnitude(x))}};
  case NDR_NORM2: return (words){{real_word(x.re * x.re + x.im * x.im)}};
  case NDR_LOGSUMEXP: return (words){{real_word(x.re), real_word(1)}};
  case NDR_ANY:
  case NDR_ALL:
  case NDR_COUNT: break;
  case NDR_VALID: return (words){{!isnan(x.re) && !isnan(x.im)}};
  }
  return (words){{nonzero}};
}

static words merged(const ndr_state *state, words a, words b) {
  ndr_state_merge(state, a.word, 1, 1, b.word, 1, 1, 1);
  return a;
}

static element finished(const ndr_state *state, words a) {
  unsigned char result[16] = {0};
  ndr_state_finish(state, a.word, 1, 1, 1, result, 1);
  return element_load(ndr_op_result(state->op, state->dtype), result);
}

/* Bitwise, but that floats may be different NaNs, or zeros of either sign. */
static bool same_word(bool real, uint64_t a, uint64_t b) {
  double x, y;
  memcpy(&x, &a, sizeof x);
  memcpy(&y, &b, sizeof y);
  return a == b || (real && ((isnan(x) && isnan(y)) || (x == 0 && y == 0)));
}

static bool same_words(const ndr_state *state, words a, words b) {
  bool real = !is_integer(state->dtype), same = true;
  for (int w = 0; w < ndr_state_words(state->op, state->dtype); w++)
    same = same && same_word(real, a.word[w], b.word[w]);
  /* A NaN maximum says it all; the sum beside it means nothing. */
  bool undefined = state->op == NDR_LOGSUMEXP && isnan(finished(state, a).re) && isnan(finished(state, b).re);
  return same || undefined;
}

static const char *name_of(const ndr_state *state) {
  static char text[64];
  snprintf(text, sizeof text, "%s %s%s", ndr_op_name(state->op), ndr_dtype_name(state->dtype),
           state->skip_nan ? " skipnan" : "");
  return text;
}

/* Holds a law for every op, dtype and skip_nan that go together. */
static void each_combination(void (*law)(ndr_state state, rng *random)) {
  rng random = {test_seed()};
  for (int op = 0; op < NDR_OP_COUNT; op++)
    for (int dtype = 0; dtype < NDR_DTYPE_COUNT; dtype++)
      for (int skip_nan = 0; skip_nan <= 1; skip_nan++)
        if (op_defined((ndr_op)op, (ndr_dtype)dtype))
          law((ndr_state){.op = (ndr_op)op, .dtype = (ndr_dtype)dtype, .skip_nan = skip_nan}, &random);
}

static void random_elements(rng *random, ndr_dtype dtype, filling how, int count, element *values) {
  test_array memory;
  array_make(&memory, dtype, 1, (int64_t[]){count}, NULL);
  array_fill(&memory, random, how);
  element *loaded = array_elements(&memory.tensor);
  memcpy(values, loaded, (size_t)count * sizeof *values);
  free(loaded);
  array_free(&memory);
}

static void check_identity(ndr_state state, rng *random) {
  element x[64];
  words identity = identity_of(&state);
  /* 1 times a complex infinity is NaN in one part. */
  bool complex_product = state.op == NDR_PROD && is_complex(state.dtype);
  random_elements(random, state.dtype, complex_product ? FILL_WIDE : FILL_SPECIAL, 64, x);
  for (int i = 0; i < 64; i++) {
    words one = state_of(&state, x[i], i);
    ck_assert_msg(same_words(&state, merged(&state, identity, one), one), "%s: identity + x is not x = %Lg",
                  name_of(&state), x[i].re);
    ck_assert_msg(same_words(&state, merged(&state, one, identity), one), "%s: x + identity is not x = %Lg",
                  name_of(&state), x[i].re);
  }
  ck_assert_msg(same_words(&state, merged(&state, identity, identity), identity), "%s: identity + identity",
                name_of(&state));
}

START_TEST(identity_is_neutral) {
  each_combination(check_identity);
}
END_TEST

/* The largest and smallest values are the identities of min and max, and still are elements with an index. */
static void check_extreme_elements(ndr_state state, rng *random) {
  (void)random;
  if (!ndr_op_is_index(state.op)) return;
  unsigned char ones[8] = {0};
  bool smallest = state.op == NDR_ARGMIN;
  element worst = {smallest ? INFINITY : -INFINITY, 0};
  if (is_integer(state.dtype)) {
    memset(ones, smallest ? 0xff : 0, sizeof ones);
    if (is_signed(state.dtype)) ones[ndr_dtype_bytes(state.dtype) - 1] = smallest ? 0x7f : 0x80;
    worst = element_load(state.dtype, ones);
  }
  words sum = merged(&state, identity_of(&state), state_of(&state, worst, 7));
  ck_assert_msg(finished(&state, sum).re == 7, "%s: the index is %Lg", name_of(&state), finished(&state, sum).re);
  sum = merged(&state, state_of(&state, worst, 7), identity_of(&state));
  ck_assert_msg(finished(&state, sum).re == 7, "%s: the index is %Lg", name_of(&state), finished(&state, sum).re);
}

START_TEST(extreme_elements_are_not_taken_for_the_identity) {
  each_combination(check_extreme_elements);
}
END_TEST

static void check_grouping(ndr_state state, rng *random) {
  element x[48];
  if (!op_exact(state.op, state.dtype, true)) return;
  random_elements(random, state.dtype, state.op == NDR_PROD ? FILL_SPARSE : FILL_SMALL, 48, x);
  for (int i = 0; i + 3 <= 48; i += 3) {
    words a = state_of(&state, x[i], i), b = state_of(&state, x[i + 1], i + 1), c = state_of(&state, x[i + 2], i + 2);
    words left = merged(&state, merged(&state, a, b), c), right = merged(&state, a, merged(&state, b, c));
    ck_assert_msg(same_words(&state, left, right), "%s is not associative", name_of(&state));
    ck_assert_msg(same_words(&state, merged(&state, a, b), merged(&state, b, a)), "%s is not commutative",
                  name_of(&state));
  }
}

START_TEST(grouping_and_order_do_not_show) {
  each_combination(check_grouping);
}
END_TEST

/* A balanced tree over states of single elements, whatever they hold, finishes with the operator's value. */
static void check_trees(ndr_state state, rng *random) {
  static const filling fillings[] = {FILL_SMALL, FILL_WIDE, FILL_SPECIAL, FILL_SPARSE};
  enum { COUNT = 100 };
  element x[COUNT];
  words tree[COUNT];
  for (int f = 0; f < 4; f++) {
    ndr_problem problem = {
        .size = sizeof(ndr_problem), .dtype = state.dtype, .skip_nan = state.skip_nan, .ddof = f % 2};
    state.ddof = problem.ddof;
    random_elements(random, state.dtype, state.op == NDR_PROD ? FILL_UNIT : fillings[f], COUNT, x);
    for (int i = 0; i < COUNT; i++) tree[i] = state_of(&state, x[i], i);
    for (int step = 1; step < COUNT; step *= 2)
      for (int i = 0; i + step < COUNT; i += 2 * step) tree[i] = merged(&state, tree[i], tree[i + step]);
    answer expected = oracle_fold(&problem, state.op, x, COUNT);
    element got = finished(&state, tree[0]);
    ck_assert_msg(answer_accepts(&expected, ndr_op_result(state.op, state.dtype), got),
                  "%s, filling %d: %.20Lg is not in %.20Lg..%.20Lg", name_of(&state), f, got.re, expected.low.re,
                  expected.high.re);
  }
}

START_TEST(trees_finish_with_the_value) {
  each_combination(check_trees);
}
END_TEST

/* An identity that has seen nothing finishes as a reduction over no elements; min and max as their limits, ptp as none.
 */
static void check_empty(ndr_state state, rng *random) {
  (void)random;
  element got = finished(&state, identity_of(&state));
  if (op_has_empty(state.op)) {
    ndr_problem problem = {.size = sizeof(ndr_problem), .dtype = state.dtype};
    answer expected = oracle_fold(&problem, state.op, NULL, 0);
    ck_assert_msg(answer_accepts(&expected, ndr_op_result(state.op, state.dtype), got), "%s of nothing is %Lg%+Lgi",
                  name_of(&state), got.re, got.im);
  } else if (state.op == NDR_PTP) {
    ck_assert_msg(is_integer(state.dtype) ? got.re == 0 : isnan(got.re), "%s of nothing is %Lg", name_of(&state),
                  got.re);
  } else if (ndr_op_is_index(state.op)) {
    ck_assert_msg(got.re == -1, "%s of nothing is %Lg", name_of(&state), got.re);
  } else {
    unsigned char limit[8] = {0};
    memset(limit, state.op == NDR_MIN ? 0xff : 0, sizeof limit);
    if (is_signed(state.dtype)) limit[ndr_dtype_bytes(state.dtype) - 1] = state.op == NDR_MIN ? 0x7f : 0x80;
    long double expected = is_integer(state.dtype) ? element_load(state.dtype, limit).re
                           : state.skip_nan        ? (long double)NAN
                           : state.op == NDR_MIN   ? (long double)INFINITY
                                                   : -(long double)INFINITY;
    ck_assert_msg(isnan(expected) ? isnan(got.re) : got.re == expected, "%s of nothing is %Lg", name_of(&state),
                  got.re);
  }
}

START_TEST(identities_finish_as_empty_reductions) {
  each_combination(check_empty);
}
END_TEST

static element fold(ndr_op op, bool skip_nan, int count, const double *x) {
  ndr_state state = {.op = op, .dtype = NDR_F64, .skip_nan = skip_nan};
  words sum = identity_of(&state);
  for (int i = count - 1; i >= 0; i--) sum = merged(&state, state_of(&state, (element){x[i], 0}, i), sum);
  return finished(&state, sum);
}

START_TEST(ties_go_to_the_lower_index) {
  ck_assert(fold(NDR_ARGMIN, false, 5, (double[]){3, 1, 2, 1, 1}).re == 1);
  ck_assert(fold(NDR_ARGMAX, false, 5, (double[]){3, 5, 2, 5, 5}).re == 1);
  ck_assert(fold(NDR_ARGMAX, false, 3, (double[]){-0.0, 0, 0}).re == 0);
  ck_assert(fold(NDR_ARGMIN, false, 3, (double[]){0, -0.0, 0}).re == 0);
}
END_TEST

START_TEST(the_first_nan_wins) {
  double x[] = {3, NAN, -INFINITY, NAN, INFINITY};
  ck_assert(fold(NDR_ARGMIN, false, 5, x).re == 1);
  ck_assert(fold(NDR_ARGMAX, false, 5, x).re == 1);
  ck_assert(isnan(fold(NDR_MIN, false, 5, x).re));
  ck_assert(isnan(fold(NDR_MAX, false, 5, x).re));
}
END_TEST

START_TEST(skip_nan_lets_nan_lose) {
  double x[] = {NAN, 3, NAN, -INFINITY, 7}, none[] = {NAN, NAN};
  ck_assert(fold(NDR_ARGMIN, true, 5, x).re == 3);
  ck_assert(fold(NDR_ARGMAX, true, 5, x).re == 4);
  ck_assert(isinf(fold(NDR_MIN, true, 5, x).re) && fold(NDR_MAX, true, 5, x).re == 7);
  ck_assert(fold(NDR_ARGMIN, true, 2, none).re == -1 && fold(NDR_ARGMAX, true, 2, none).re == -1);
  ck_assert(isnan(fold(NDR_MIN, true, 2, none).re) && isnan(fold(NDR_MEAN, true, 2, none).re));
  ck_assert(fold(NDR_SUM, true, 2, none).re == 0 && fold(NDR_PROD, true, 2, none).re == 1);
}
END_TEST

/* M2 is rounded after the means: a far offset may not swamp the spread. */
START_TEST(moments_keep_a_small_spread_on_a_large_mean) {
  double x[] = {1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4};
  ck_assert(fabsl(fold(NDR_VAR, false, 4, x).re - 1.25L) < 1e-6L);
}
END_TEST

START_TEST(logsumexp_does_not_overflow) {
  double high[] = {1000, 1000, -INFINITY}, low[] = {-1000, -1000}, infinite[] = {INFINITY, 1}, none[] = {-INFINITY};
  ck_assert(fabsl(fold(NDR_LOGSUMEXP, false, 3, high).re - (1000 + logl(2))) < 1e-9L);
  ck_assert(fabsl(fold(NDR_LOGSUMEXP, false, 2, low).re - (-1000 + logl(2))) < 1e-9L);
  ck_assert(isinf(fold(NDR_LOGSUMEXP, false, 2, infinite).re));
  ck_assert(fold(NDR_LOGSUMEXP, false, 1, none).re == -INFINITY);
}
END_TEST

/* States are word-major with any pitch and step; what lies between is left alone. */
START_TEST(arrays_of_states_have_pitch_and_step) {
  enum { COUNT = 5, STEP = 3, PITCH = 20, UNTOUCHED = 77 };
  ndr_state state = {.op = NDR_ARGMAX, .dtype = NDR_I32};
  uint64_t into[2 * PITCH], from[2 * COUNT];
  int64_t result[2 * COUNT];
  for (int i = 0; i < 2 * PITCH; i++) into[i] = UNTOUCHED;
  for (uint64_t j = 0; j < COUNT; j++) {
    into[j * STEP] = j;
    into[PITCH + j * STEP] = j;
    from[j] = COUNT - 1 - j;
    from[COUNT + j] = 100 + j;
  }
  ndr_state_merge(&state, into, PITCH, STEP, from, COUNT, 1, COUNT);
  for (int i = 0; i < 2 * COUNT; i++) result[i] = -5;
  ndr_state_finish(&state, into, PITCH, STEP, COUNT, result, 2);
  for (int j = 0; j < COUNT; j++) {
    ck_assert_int_eq(result[2 * j], j < 2 ? 100 + j : j);
    ck_assert_int_eq(result[2 * j + 1], -5);
    ck_assert_uint_eq(into[j * STEP + 1], UNTOUCHED);
    ck_assert_uint_eq(into[PITCH + j * STEP + 2], UNTOUCHED);
  }
}
END_TEST

START_TEST(words_are_as_documented) {
  ck_assert_int_eq(ndr_state_words(NDR_SUM, NDR_F32), 1);
  ck_assert_int_eq(ndr_state_words(NDR_SUM, NDR_C64), 2);
  ck_assert_int_eq(ndr_state_words(NDR_MEAN, NDR_I8), 2);
  ck_assert_int_eq(ndr_state_words(NDR_MEAN, NDR_C128), 3);
  ck_assert_int_eq(ndr_state_words(NDR_VAR, NDR_F64), 3);
  ck_assert_int_eq(ndr_state_words(NDR_STD, NDR_C64), 4);
  ck_assert_int_eq(ndr_state_words(NDR_ARGMIN, NDR_U64), 2);
  ck_assert_int_eq(ndr_state_words(NDR_LOGSUMEXP, NDR_F16), 2);
  ck_assert_int_eq(ndr_state_words(NDR_NORM2, NDR_C128), 1);
  ck_assert_int_eq(ndr_state_words(NDR_COUNT, NDR_BOOL), 1);
  ck_assert_int_eq(ndr_state_words(NDR_VALID, NDR_C64), 1);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("core state");
  suite_case(suite, "laws", 60, identity_is_neutral, extreme_elements_are_not_taken_for_the_identity,
             grouping_and_order_do_not_show, trees_finish_with_the_value, identities_finish_as_empty_reductions, NULL);
  suite_case(suite, "rules", 10, ties_go_to_the_lower_index, the_first_nan_wins, skip_nan_lets_nan_lose,
             moments_keep_a_small_spread_on_a_large_mean, logsumexp_does_not_overflow,
             arrays_of_states_have_pitch_and_step, words_are_as_documented, NULL);
  return suite_run(suite);
}
