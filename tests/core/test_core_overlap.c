/* Whether strided arrays overlap, against counting the bytes that both have. */
#include <stdlib.h>

#include "scan/overlap.h"
#include "support/cases.h"
#include "support/suite.h"

enum { BYTES = 4096, DIMS = 3 };

typedef struct layout {
  int64_t shape[DIMS], strides[DIMS];
  ndr_span span;
} layout;

static void mark(const layout *made, const uint8_t *memory, uint8_t *marks) {
  int64_t index[NDR_MAX_DIMS] = {0};
  memset(marks, 0, BYTES);
  do {
    int64_t at = 0;
    for (int d = 0; d < DIMS; d++) at += index[d] * made->strides[d]; /* 0 behind the last dim */
    const uint8_t *first = (const uint8_t *)made->span.address + at * (int64_t)made->span.bytes;
    memset(marks + (first - memory), 1, made->span.bytes);
  } while (next_index(made->span.ndim, made->shape, index));
}

static void make_random(layout *made, rng *random, const uint8_t *memory) {
  made->span = (ndr_span){memory + BYTES / 2 + rng_between(random, -60, 60), (size_t)1 << rng_between(random, 0, 3),
                          (int)rng_between(random, 0, DIMS), made->shape, made->strides};
  for (int d = 0; d < DIMS; d++) {
    made->shape[d] = rng_between(random, 1, 5);
    made->strides[d] = rng_between(random, -9, 9);
  }
}

START_TEST(arrays_overlap_where_they_share_a_byte) {
  static uint8_t memory[BYTES], of_a[BYTES], of_b[BYTES];
  rng random = {test_seed()};
  int overlaps = 0;
  for (int n = 0; n < 20000; n++) {
    layout a, b;
    bool shares = false;
    make_random(&a, &random, memory);
    make_random(&b, &random, memory);
    mark(&a, memory, of_a);
    mark(&b, memory, of_b);
    for (int i = 0; i < BYTES; i++) shares = shares || (of_a[i] && of_b[i]);
    ck_assert_int_eq(ndr_spans_overlap(&a.span, &b.span), shares);
    overlaps += shares;
  }
  ck_assert(overlaps > 2000 && overlaps < 18000);
}
END_TEST

START_TEST(halves_of_an_array_do_not_overlap) {
  int64_t shape[] = {1000, 3}, strides[] = {6, 1}, none[] = {0, 3};
  static float memory[6000];
  ndr_span left = {memory, 4, 2, shape, strides}, right = {memory + 3, 4, 2, shape, strides};
  ndr_span empty = {memory, 4, 2, none, strides};
  ck_assert(!ndr_spans_overlap(&left, &right));
  ck_assert(ndr_spans_overlap(&left, &left) && !ndr_spans_overlap(&left, &empty) && !ndr_spans_overlap(&empty, &left));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("core overlap");
  suite_case(suite, "overlap", 60, arrays_overlap_where_they_share_a_byte, halves_of_an_array_do_not_overlap, NULL);
  return suite_run(suite);
}
