/* Unpacking elements: every pair of dtypes, byte order, step and mask against one element at a time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "h5/read/unpack/isa.h"
#include "h5/read/unpack/unpack.h"
#include "support/cases.h"
#include "support/element.h"
#include "support/h5_stored.h"
#include "support/suite.h"

enum { MOST = 3000, MOST_STEP = 5, GAP = 64 };

/* ---- One element at a time -------------------------------------------------------------------------------------- */

static long double packed_value(ndr_dtype dtype, ndr_packed packed) {
  if (!is_integer(dtype)) return packed.f;
  return is_signed(dtype) ? packed.i : (long double)packed.u;
}

static bool is_missing(const ndr_unpack *u, long double value) {
  if (!u->masked) return false;
  if (isnan(value)) return true;
  for (int m = 0; m < u->missing_count; m++)
    if (value == packed_value(u->from, u->missing[m])) return true;
  return u->ranged && (value < packed_value(u->from, u->least) || value > packed_value(u->from, u->most));
}

static void reverse(unsigned char *bytes, size_t count) {
  for (size_t i = 0; i < count / 2; i++) {
    unsigned char first = bytes[i];
    bytes[i] = bytes[count - 1 - i];
    bytes[count - 1 - i] = first;
  }
}

static void unpack_one(const ndr_unpack *u, const void *from, void *to) {
  unsigned char native[16];
  size_t bytes = ndr_dtype_bytes(u->from), part = is_complex(u->from) ? bytes / 2 : bytes;
  memcpy(native, from, bytes);
  for (size_t at = 0; u->swap && at < bytes; at += part) reverse(native + at, part);
  if (u->from == u->to && !u->scaled && !u->masked) {
    memcpy(to, native, bytes);
    return;
  }
  element value = element_load(u->from, native);
  bool missing = is_missing(u, value.re);
  if (u->from != u->to || u->scaled) {
    double wide = (double)value.re * u->scale;
    value.re = wide + u->offset;
  }
  if (missing) value.re = NAN;
  element_store(u->to, to, value);
}

/* ---- Random ways to unpack -------------------------------------------------------------------------------------- */

static bool same(const ndr_unpack *u, const unsigned char *a, const unsigned char *b) {
  if (memcmp(a, b, ndr_dtype_bytes(u->to)) == 0) return true;
  return (u->masked || u->scaled) && isnan(element_load(u->to, a).re) && isnan(element_load(u->to, b).re);
}

static void check(const ndr_unpack *u, const unsigned char *from, int64_t step, int64_t count) {
  size_t in = ndr_dtype_bytes(u->from), out = ndr_dtype_bytes(u->to);
  unsigned char *to = aligned_alloc(64, (MOST + 4) * 16 + GAP), expected[16];
  memset(to, 0xa5, (MOST + 4) * 16 + GAP);
  ndr_unpack_run(u, from, step, to, count);
  for (int64_t i = 0; i < count; i++) {
    unpack_one(u, from + step * i * (int64_t)in, expected);
    ck_assert_msg(same(u, to + (size_t)i * out, expected),
                  "%s to %s, element %lld of %lld, step %lld, swap %d, %d missing, ranged %d, scaled %d",
                  ndr_dtype_name(u->from), ndr_dtype_name(u->to), (long long)i, (long long)count, (long long)step,
                  u->swap, u->missing_count, u->ranged, u->scaled);
  }
  for (int i = 0; i < GAP; i++) ck_assert_uint_eq(to[(size_t)count * out + (size_t)i], 0xa5);
  free(to);
}

START_TEST(elements_unpack_as_one_at_a_time_do) {
  rng random = {test_seed()};
  unsigned char *memory = malloc((MOST * MOST_STEP + 1) * 16);
  for (int i = 0; i < test_case_count(3000); i++) {
    ndr_dtype from = (ndr_dtype)rng_between(&random, 0, NDR_DTYPE_COUNT - 1);
    size_t bytes = ndr_dtype_bytes(from);
    int64_t count = rng_between(&random, 0, rng_once_in(&random, 4) ? MOST : 40);
    int64_t step = rng_once_in(&random, 2) ? 1 : rng_between(&random, -MOST_STEP, MOST_STEP),
            reach = count * llabs(step) + 1;
    unsigned char *first = memory + rng_between(&random, 0, 1); /* aligned or not */
    h5_random_bytes(memory, (size_t)reach * bytes + 1, &random);
    ndr_unpack u = h5_random_unpack(from, first, reach, &random);
    check(&u, step < 0 ? first + (size_t)(reach - 1) * bytes : first, step, count);
  }
  free(memory);
}
END_TEST

/* As a slab does that HDF5 has read into the end of the room for its unpacked elements. */
START_TEST(elements_unpack_in_the_room_they_end_in) {
  rng random = {test_seed()};
  unsigned char *room = aligned_alloc(64, MOST * 16 + 64), *apart = aligned_alloc(64, MOST * 16 + 64);
  for (int i = 0; i < test_case_count(1000); i++) {
    ndr_dtype from = (ndr_dtype)rng_between(&random, 0, NDR_DTYPE_COUNT - 1);
    int64_t count = rng_between(&random, 1, MOST);
    h5_random_bytes(room, MOST * 16, &random);
    ndr_unpack u = h5_random_unpack(from, room, count, &random);
    size_t in = (size_t)count * ndr_dtype_bytes(u.from), out = (size_t)count * ndr_dtype_bytes(u.to);
    ndr_unpack_run(&u, room + out - in, 1, apart, count);
    ndr_unpack_run(&u, room + out - in, 1, room, count);
    for (int64_t e = 0; e < count; e++)
      ck_assert(same(&u, room + (size_t)e * ndr_dtype_bytes(u.to), apart + (size_t)e * ndr_dtype_bytes(u.to)));
  }
  free(room);
  free(apart);
}
END_TEST

/* ---- What is taken as it is ------------------------------------------------------------------------------------- */

START_TEST(only_what_needs_nothing_is_copied) {
  ndr_unpack u = NDR_UNPACK_INIT(NDR_F32);
  ck_assert(ndr_unpack_copies(&u));
  u.masked = true; /* NaN is missing, and is NaN already */
  ck_assert(ndr_unpack_copies(&u));
  u.missing_count = 1;
  ck_assert(!ndr_unpack_copies(&u));
  u = (ndr_unpack)NDR_UNPACK_INIT(NDR_F32);
  u.swap = true;
  ck_assert(!ndr_unpack_copies(&u));
  u = ndr_unpack_native(&u);
  ck_assert(ndr_unpack_copies(&u));
  u.scaled = true;
  ck_assert(!ndr_unpack_copies(&u));
}
END_TEST

/* Zero of either sign is the same number. */
START_TEST(masks_compare_numbers) {
  float values[] = {0.0f, -0.0f, 1.0f, INFINITY, -INFINITY, NAN}, got[6];
  ndr_unpack u = NDR_UNPACK_INIT(NDR_F32);
  u.masked = true;
  u.missing_count = 1;
  ndr_unpack_run(&u, values, 1, got, 6);
  ck_assert(isnan(got[0]) && isnan(got[1]) && got[2] == 1 && got[3] == INFINITY && got[4] == -INFINITY &&
            isnan(got[5]));
  u.missing_count = 0;
  u.ranged = true;
  u.least.f = 0;
  u.most.f = INFINITY;
  ndr_unpack_run(&u, values, 1, got, 6);
  ck_assert(got[0] == 0 && got[1] == 0 && got[2] == 1 && got[3] == INFINITY && isnan(got[4]) && isnan(got[5]));
}
END_TEST

/* Unpacking and totals choose their loops by it. */
START_TEST(the_environment_narrows_the_instruction_set) {
  const ndr_unpack_isa widest = ndr_unpack_isa_up_to(NULL);
  ck_assert_int_eq(ndr_unpack_isa_up_to("baseline"), NDR_UNPACK_BASELINE);
  ck_assert_int_eq(ndr_unpack_isa_up_to("avx2"), widest < NDR_UNPACK_AVX2 ? widest : NDR_UNPACK_AVX2);
  ck_assert_int_eq(ndr_unpack_isa_up_to("avx512"), widest);
  ck_assert_int_eq(ndr_unpack_isa_up_to("none of these"), widest);
  ck_assert_int_eq(ndr_unpack_isa_here(), ndr_unpack_isa_up_to(getenv("NDR_CPU_ISA")));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5_unpack");
  suite_case(suite, "elements", 60, elements_unpack_as_one_at_a_time_do, elements_unpack_in_the_room_they_end_in, NULL);
  suite_case(suite, "rules", 10, only_what_needs_nothing_is_copied, masks_compare_numbers,
             the_environment_narrows_the_instruction_set, NULL);
  return suite_run(suite);
}
