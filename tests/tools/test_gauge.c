/* The lines that the gauge counts, against marks set by a walk over every element. */
#include <string.h>

#include "ndbench/gauge.h"
#include "support/suite.h"

#include "../../tools/ndbench/gauge_lines.c" /* NOLINT(bugprone-suspicious-include): tools are programs, not libraries */

enum { MOST_BYTES = 1 << 20, CASES = 20000 };

static unsigned char marks[MOST_BYTES / 16];

static uint64_t roll(void) {
  static uint64_t state = 1;
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* Marks the line of each element, and counts the marks. */
static int walk(const ndr_problem *reduction, int line) {
  int64_t low, high, index[NDR_MAX_DIMS] = {0};
  int size = (int)ndr_dtype_bytes(reduction->dtype), count = 0, d = 0;
  assert_ok(ndr_problem_extent(reduction, &low, &high));
  ck_assert_int_le((high - low + 1) * size, MOST_BYTES);
  memset(marks, 0, sizeof marks);
  while (d >= 0) {
    int64_t at = -low;
    for (int i = 0; i < reduction->ndim; i++) at += index[i] * reduction->strides[i];
    marks[at * size / line] = 1;
    for (d = reduction->ndim - 1; d >= 0 && ++index[d] == reduction->shape[d]; d--) index[d] = 0;
  }
  for (size_t i = 0; i < sizeof marks; i++) count += marks[i];
  return count;
}

/* Up to four dims in any order, with pitches and steps of any size, reversed and broadcast. */
static ndr_problem pick(void) {
  ndr_problem reduction = NDR_PROBLEM_INIT;
  int64_t stride = 1 + (int64_t)(roll() % 3 ? 0 : roll() % 70);
  int order[4] = {0, 1, 2, 3};
  reduction.dtype = (ndr_dtype)(roll() % NDR_DTYPE_COUNT);
  reduction.op_count = 1; /* for messages: it is not run */
  reduction.ndim = (int)(roll() % 5);
  for (int i = reduction.ndim - 1; i > 0; i--) {
    int j = (int)(roll() % (uint64_t)(i + 1)), other = order[j];
    order[j] = order[i];
    order[i] = other;
  }
  for (int i = 0; i < reduction.ndim; i++) {
    int d = order[i];
    reduction.shape[d] = 1 + (int64_t)(roll() % 9);
    reduction.strides[d] = roll() % 10 ? stride : 0;
    if (reduction.strides[d]) stride *= reduction.shape[d];
    if (roll() % 3 == 0) stride += (int64_t)(roll() % 20);
    if (roll() % 4 == 0) reduction.strides[d] *= -1;
  }
  return reduction;
}

START_TEST(lines_are_those_that_a_walk_marks) {
  int compared = 0;
  for (int i = 0; i < CASES; i++) {
    ndr_problem reduction = pick();
    int64_t low, high;
    assert_ok(ndr_problem_extent(&reduction, &low, &high));
    if ((high - low + 1) * (int64_t)ndr_dtype_bytes(reduction.dtype) > MOST_BYTES) continue;
    for (int line = 16; line <= 64; line *= 2) {
      char text[2048];
      ndr_problem_print(&reduction, text, sizeof text);
      int expected = walk(&reduction, line);
      double counted = gauge_lines(&reduction, line);
      ck_assert_msg(counted == expected, "case %d, '%s', lines of %d: %g, not %d", i, text, line, counted, expected);
      compared++;
    }
  }
  ck_assert_int_gt(compared, CASES);
}
END_TEST

static double lines_of(const char *text, int line) {
  ndr_problem reduction = NDR_PROBLEM_INIT;
  assert_ok(ndr_problem_parse(text, &reduction));
  return gauge_lines(&reduction, line);
}

START_TEST(some_counts_are_known) {
  ck_assert_double_eq(lines_of("sum f32 [1000,1000,1000] /0", 64), 62500000);
  ck_assert_double_eq(lines_of("sum f32 [1000000000:16] /0", 64), 1e9);
  ck_assert_double_eq(lines_of("sum f32 [1000000000:32] /0", 32), 1e9);
  ck_assert_double_eq(lines_of("sum f32 [1000000000:0,8] /0", 32), 1);
  ck_assert_double_eq(lines_of("sum f32 [0,8] /0", 32), 0);
  ck_assert_double_eq(lines_of("sum i8 [3:100,65:-1] /0", 64), 5);
}
END_TEST

/* [3:2,2:3] holds 0, 2, 3, 4, 5 and 7. */
START_TEST(dims_that_interleave_are_bounded_by_their_extent) {
  ck_assert_double_eq(lines_of("sum f32 [3:2,2:3] /0", 16), 2);
  ck_assert_double_eq(lines_of("sum f64 [1000:1,1000:1] /0", 64), 250);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("gauge");
  suite_case(suite, "lines", 120, lines_are_those_that_a_walk_marks, some_counts_are_known,
             dims_that_interleave_are_bounded_by_their_extent, NULL);
  return suite_run(suite);
}
