/* The parts of ndbench whose mistakes would not show in what it prints. */
#include <math.h>
#include <stdlib.h>

#include "../../tools/ndbench/read.c"   /* NOLINT(bugprone-suspicious-include): its static functions are tested */
#include "../../tools/ndbench/verify.c" /* NOLINT(bugprone-suspicious-include) */
#include "core/types.h"
#include "support/suite.h"

static bool same(const char *text, ndr_dtype result, const void *got, const void *expected) {
  ndr_problem reduction = NDR_PROBLEM_INIT;
  char complaint[160] = "";
  assert_ok(ndr_problem_parse(text, &reduction));
  bool verdict = bench_same(&reduction, reduction.ops[0], result, 1, got, expected, complaint, sizeof complaint);
  ck_assert(verdict == (complaint[0] == 0));
  return verdict;
}

START_TEST(integers_must_agree_exactly) {
  ck_assert(same("sum i8 [100] /0", NDR_I64, &(int64_t){7}, &(int64_t){7}));
  ck_assert(!same("sum i8 [100] /0", NDR_I64, &(int64_t){7}, &(int64_t){8}));
  ck_assert(!same("any f32 [100] /0", NDR_BOOL, &(uint8_t){0}, &(uint8_t){1}));
}
END_TEST

START_TEST(floats_may_differ_by_rounding_alone) {
  ck_assert(same("norm1 f32 [1000] /0", NDR_F32, &(float){1000}, &(float){1000.0001F}));
  ck_assert(!same("norm1 f32 [1000] /0", NDR_F32, &(float){1000}, &(float){1001}));
  ck_assert(!same("norm1 f32 [1000] /0 acc=f64", NDR_F32, &(float){1000}, &(float){1000.01F}));
  ck_assert(!same("sum f64 [1000] /0", NDR_F64, &(double){1}, &(double){1 + 1e-9}));
  ck_assert(!same("mean f32 [1000] /0", NDR_F32, &(float){0.5F}, &(float){NAN}));
  ck_assert(same("mean f32 [1000] /0", NDR_F32, &(float){NAN}, &(float){NAN}));
  ck_assert(same("max f32 [10] /0", NDR_F32, &(float){0}, &(float){-0.0F}));
  ck_assert(!same("max f32 [10] /0", NDR_F32, &(float){0.5F}, &(float){0.50000006F}));
}
END_TEST

START_TEST(the_second_part_of_a_complex_number_counts) {
  float a[2] = {1, 2}, b[2] = {1, 3};
  ck_assert(same("sum c64 [10] /0", NDR_C64, a, a));
  ck_assert(!same("sum c64 [10] /0", NDR_C64, a, b));
}
END_TEST

START_TEST(halves_are_decoded) {
  for (unsigned bits = 0; bits <= 0xffff; bits++) {
    uint16_t half = (uint16_t)bits;
    double expected[] = {(double)ndr_f16_to_float(half), (double)ndr_bf16_to_float(half)};
    double got[] = {part(NDR_F16, &half, 0), part(NDR_BF16, &half, 0)};
    for (int f = 0; f < 2; f++)
      ck_assert_msg(isnan(expected[f]) ? isnan(got[f]) : got[f] == expected[f], "%04x is %g", bits, got[f]);
  }
}
END_TEST

/* A read loop that skips a word would be a ceiling that is too high. */
START_TEST(read_loops_read_every_word_once) {
  enum { MOST = 300000 }; /* more than two pieces of a loop that shares pieces out */
  static uint64_t words[MOST];
  for (size_t i = 0; i < MOST; i++) words[i] = i * i + 1;
  for (size_t count = 0; count < MOST; count += 1 + count / 5) {
    uint64_t expected = 0, unused = 0;
    int loops = 0;
    for (size_t i = 0; i < count; i++) expected += words[i];
    for (int loop = 0; bench_read(loop, words, 0, 1, &unused); loop++, loops++) {
      for (int threads = 1; threads <= 5; threads++) {
        uint64_t sum = 0;
        ck_assert(bench_read(loop, words, count * sizeof *words, threads, &sum));
        ck_assert_uint_eq(sum, expected);
      }
    }
    ck_assert_int_ge(loops, 5);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("ndbench");
  suite_case(suite, "verify", 30, integers_must_agree_exactly, floats_may_differ_by_rounding_alone,
             the_second_part_of_a_complex_number_counts, halves_are_decoded, NULL);
  suite_case(suite, "read", 30, read_loops_read_every_word_once, NULL);
  return suite_run(suite);
}
