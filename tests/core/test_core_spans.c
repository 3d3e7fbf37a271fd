/* Sets of numbers, compared with an array of bools; and the checksum of exported states. */
#include <stdlib.h>

#include "core/checksum.h"
#include "core/spans.h"
#include "core/words.h"
#include "support/cases.h"
#include "support/suite.h"

/* ---- spans ---- */

enum { NUMBERS = 40, MOST_SPANS = 8 };

static void random_set(rng *random, ndr_spans *set, bool *inside) {
  int64_t at = rng_between(random, 0, 3);
  set->count = 0;
  memset(inside, 0, NUMBERS);
  for (int s = (int)rng_between(random, 0, MOST_SPANS); s > 0 && at < NUMBERS - 4; s--) {
    ndr_span span = {at, at + rng_between(random, 1, 4)};
    for (int64_t n = span.first; n < span.end; n++) inside[n] = true;
    set->spans[set->count++] = span;
    at = span.end + rng_between(random, 1, 12);
  }
}

static void assert_set(const ndr_spans *set, const bool *inside) {
  for (size_t s = 0; s < set->count; s++) {
    ck_assert(set->spans[s].first < set->spans[s].end);
    ck_assert(s == 0 || set->spans[s - 1].end < set->spans[s].first);
  }
  for (int64_t n = 0; n < NUMBERS; n++) {
    int64_t end, expected = n;
    while (expected < NUMBERS && inside[expected] == inside[n]) expected++;
    ck_assert_int_eq(ndr_spans_have(set, n, &end), inside[n]);
    ck_assert_int_eq(end, expected == NUMBERS ? INT64_MAX : expected);
  }
}

START_TEST(joined_sets_have_the_numbers_of_both) {
  rng random = {test_seed()};
  int joins = 0, overlaps = 0;
  for (int round = 0; round < 20000; round++) {
    ndr_span spans[2][MOST_SPANS];
    bool one[NUMBERS], other[NUMBERS], overlap = false;
    ndr_spans a = {0, spans[0]}, b = {0, spans[1]}, joined;
    random_set(&random, &a, one);
    random_set(&random, &b, other);
    for (int n = 0; n < NUMBERS; n++) overlap = overlap || (one[n] && other[n]);
    if (overlap) {
      assert_fails(ndr_spans_join(&a, &b, &joined), NDR_ERR_ARGUMENT, "covered already");
      overlaps++;
    } else {
      assert_ok(ndr_spans_join(&a, &b, &joined));
      for (int n = 0; n < NUMBERS; n++) one[n] = one[n] || other[n];
      assert_set(&joined, one);
      joins++;
    }
    free(joined.spans);
  }
  ck_assert(joins > 1000 && overlaps > 1000);
}
END_TEST

/* ---- checksum ---- */

/* A bit at a time, by the definition: the remainder of a polynomial. */
static uint64_t slow_checksum(const unsigned char *bytes, size_t count) {
  uint64_t rest = 0;
  for (size_t bit = 0; bit < 64 * count; bit++) {
    rest ^= (uint64_t)(bytes[bit / 8] >> bit % 8 & 1);
    rest = rest >> 1 ^ (rest & 1 ? UINT64_C(0xda73e275b6bf47f2) : 0);
  }
  return rest;
}

START_TEST(checksums_are_remainders) {
  rng random = {test_seed()};
  unsigned char bytes[8 * 70 + 1];
  for (int round = 0; round < 500; round++) {
    size_t count = (size_t)rng_between(&random, 0, 70);
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)rng_next(&random);
    ck_assert(ndr_checksum(bytes + 1, count) == slow_checksum(bytes + 1, count));
  }
}
END_TEST

/* 0x3ff0... and 0x4000... are 1.0 and 2.0. */
START_TEST(swapped_words_change_the_checksum) {
  enum { WORDS = 1 << 12 };
  unsigned char *bytes = calloc(WORDS, 8);
  ndr_word_store(UINT64_C(0x3ff0000000000000), bytes);
  for (size_t at = 1; at < WORDS; at++) {
    ndr_word_store(UINT64_C(0x4000000000000000), bytes + 8 * at);
    uint64_t before = ndr_checksum(bytes, WORDS);
    ndr_word_store(UINT64_C(0x4000000000000000), bytes);
    ndr_word_store(UINT64_C(0x3ff0000000000000), bytes + 8 * at);
    ck_assert(ndr_checksum(bytes, WORDS) != before);
    ndr_word_store(UINT64_C(0x3ff0000000000000), bytes);
    ndr_word_store(0, bytes + 8 * at);
  }
  free(bytes);
}
END_TEST

/* a * b modulo the polynomial, as checksums write it: the highest bit is 1. */
static uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  for (int bit = 63; bit >= 0; bit--, a = a >> 1 ^ (a & 1 ? UINT64_C(0xda73e275b6bf47f2) : 0))
    if (b >> bit & 1) product ^= a;
  return product;
}

static uint64_t power_of_x(uint64_t exponent) {
  uint64_t power = UINT64_C(1) << 63, square = UINT64_C(1) << 62;
  for (; exponent; exponent >>= 1, square = times(square, square))
    if (exponent & 1) power = times(power, square);
  return power;
}

/* x has order 2^64 - 1: x^n is 1 for that n, and not for the quotient of that and any of its prime factors. */
START_TEST(its_polynomial_is_primitive) {
  static const uint64_t primes[] = {3, 5, 17, 257, 641, 65537, 6700417};
  const uint64_t one = UINT64_C(1) << 63;
  uint64_t rest = UINT64_MAX;
  ck_assert(power_of_x(UINT64_MAX) == one);
  for (size_t i = 0; i < sizeof primes / sizeof *primes; i++) {
    ck_assert(power_of_x(UINT64_MAX / primes[i]) != one);
    rest /= primes[i];
  }
  ck_assert(rest == 1);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("core spans");
  suite_case(suite, "spans", 60, joined_sets_have_the_numbers_of_both, NULL);
  suite_case(suite, "checksum", 60, checksums_are_remainders, swapped_words_change_the_checksum,
             its_polynomial_is_primitive, NULL);
  return suite_run(suite);
}
