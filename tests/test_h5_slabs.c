/* Cutting arrays into slabs: every element once, on chunk borders, within the budget. */
#include <stdlib.h>

#include "h5/slabs.h"
#include "support/cases.h"
#include "support/suite.h"

#define KIB ((int64_t)1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

static ndr_slabs describe(int ndim, const int64_t *shape, const int64_t *chunk, int dim_count, const int *dims) {
  ndr_slabs slabs = {.ndim = ndim, .chunked = chunk != NULL, .element_bytes = 4, .output_bytes = 16, .slots = 1};
  for (int d = 0; d < ndim; d++) {
    slabs.shape[d] = shape[d];
    slabs.unit[d] = chunk ? chunk[d] : 1;
  }
  for (int i = 0; i < dim_count; i++) slabs.reduced[dims[i]] = true;
  return slabs;
}

static void assert_extent(const ndr_slabs *slabs, const int64_t *expected) {
  ck_assert(memcmp(slabs->extent, expected, (size_t)slabs->ndim * sizeof *expected) == 0);
}

START_TEST(small_arrays_are_one_slab) {
  ndr_slabs slabs = describe(3, (int64_t[]){12, 6, 8}, NULL, NDR_DIMS(0));
  assert_ok(ndr_slabs_choose(&slabs, 256 * MIB));
  assert_extent(&slabs, (int64_t[]){12, 6, 8});
  ck_assert_int_eq(ndr_slabs_count(&slabs), 1);
}
END_TEST

START_TEST(a_scalar_is_one_slab) {
  ndr_slabs slabs = {.element_bytes = 4, .output_bytes = 16, .slots = 1};
  int64_t start[1] = {0};
  assert_ok(ndr_slabs_choose(&slabs, KIB));
  ck_assert_int_eq(ndr_slabs_count(&slabs), 1);
  ck_assert(!ndr_slabs_next(&slabs, true, start) && !ndr_slabs_next(&slabs, false, start));
}
END_TEST

START_TEST(empty_arrays_are_no_slab) {
  ndr_slabs slabs = describe(2, (int64_t[]){0, INT64_MAX / 4}, NULL, NDR_DIMS(0));
  assert_ok(ndr_slabs_choose(&slabs, KIB));
  ck_assert_int_eq(ndr_slabs_count(&slabs), 0);
}
END_TEST

/* Contiguous storage is read in long runs: the outermost dims are cut first. */
START_TEST(the_outermost_dims_are_cut_first) {
  ndr_slabs slabs = describe(3, (int64_t[]){1024, 512, 512}, NULL, NDR_DIMS(1));
  assert_ok(ndr_slabs_choose(&slabs, 256 * MIB));
  ck_assert_int_eq(slabs.extent[1], 512);
  ck_assert_int_eq(slabs.extent[2], 512);
  ck_assert_int_le(ndr_slabs_bytes(&slabs), 64 * MIB);
}
END_TEST

/* States of all outputs would not fit, so the outputs are done in blocks. */
START_TEST(many_outputs_come_in_blocks) {
  ndr_slabs slabs = describe(2, (int64_t[]){100, GIB}, NULL, NDR_DIMS(0));
  assert_ok(ndr_slabs_choose(&slabs, 64 * MIB));
  ck_assert_int_lt(ndr_slabs_outputs(&slabs) * slabs.output_bytes, 16 * MIB);
  ck_assert_int_ge(slabs.extent[1], 64 * KIB);
  ck_assert_int_gt(slabs.extent[0], 1);
}
END_TEST

START_TEST(a_chunk_that_does_not_fit_is_refused) {
  ndr_slabs slabs = describe(2, (int64_t[]){8192, 8192}, (int64_t[]){4096, 4096}, NDR_DIMS(0));
  assert_fails(ndr_slabs_choose(&slabs, 32 * MIB), NDR_ERR_MEMORY, "chunk");
  assert_ok(ndr_slabs_choose(&slabs, 128 * MIB));
  assert_extent(&slabs, (int64_t[]){4096, 4096});
}
END_TEST

START_TEST(huge_claims_do_not_overflow) {
  int64_t huge = INT64_MAX / 4;
  ndr_slabs one = describe(1, &huge, NULL, NDR_DIMS(0)), chunked = describe(1, &huge, &huge, NDR_DIMS(0));
  assert_ok(ndr_slabs_choose(&one, 64 * MIB));
  ck_assert_int_gt(ndr_slabs_count(&one), huge / (16 * MIB));
  assert_fails(ndr_slabs_choose(&chunked, 64 * MIB), NDR_ERR_MEMORY, "chunk");
}
END_TEST

/* ---- Any shape -------------------------------------------------------------------------------------------------- */

static void random_slabs(rng *random, ndr_slabs *slabs) {
  *slabs = (ndr_slabs){.ndim = (int)rng_between(random, 0, 5), .chunked = rng_once_in(random, 2)};
  slabs->slots = (int)rng_between(random, 1, 3);
  slabs->element_bytes = 1 << rng_between(random, 0, 4);
  slabs->output_bytes = 16 * rng_between(random, 1, 8);
  for (int d = 0; d < slabs->ndim; d++) {
    slabs->shape[d] = rng_between(random, 1, 12);
    slabs->unit[d] = slabs->chunked ? rng_between(random, 1, slabs->shape[d]) : 1;
    slabs->lead[d] = rng_between(random, 0, slabs->unit[d] - 1);
    slabs->reduced[d] = rng_once_in(random, 2);
  }
  slabs->whole = slabs->chunked && rng_once_in(random, 2);
  bool others = rng_once_in(random, 3); /* chunks of which slabs know nothing, as in a series' later files */
  for (int d = 0; slabs->whole && d < slabs->ndim; d++) {
    slabs->chunk[d] = others ? rng_between(random, 1, 15) : slabs->unit[d];
    slabs->from[d] = others ? rng_between(random, 0, 20) : slabs->lead[d] + slabs->unit[d] * rng_between(random, 0, 2);
  }
}

/* A slot has room for all chunks that a slab touches. */
static void check_room(const ndr_slabs *slabs, const int64_t *start) {
  int64_t begin[NDR_MAX_DIMS], size[NDR_MAX_DIMS], held = 1;
  ndr_slabs_box(slabs, start, begin, size);
  for (int d = 0; slabs->whole && d < slabs->ndim; d++) {
    int64_t chunk = slabs->chunk[d], first = (slabs->from[d] + begin[d]) / chunk;
    held *= ((slabs->from[d] + begin[d] + size[d] - 1) / chunk - first + 1) * chunk;
  }
  if (slabs->whole) ck_assert_int_le(held, ndr_slabs_held(slabs));
}

/* Counts in seen how often each element is in a slab. */
static void mark_slab(const ndr_slabs *slabs, const int64_t *start, int *seen) {
  int64_t begin[NDR_MAX_DIMS], size[NDR_MAX_DIMS], at[NDR_MAX_DIMS] = {0};
  ndr_slabs_box(slabs, start, begin, size);
  do {
    int64_t index = 0;
    for (int d = 0; d < slabs->ndim; d++) index = index * slabs->shape[d] + begin[d] + at[d];
    seen[index]++;
  } while (next_index(slabs->ndim, size, at));
}

static void check_cover(const ndr_slabs *slabs) {
  int64_t elements = 1, start[NDR_MAX_DIMS] = {0}, count = 0;
  for (int d = 0; d < slabs->ndim; d++) elements *= slabs->shape[d];
  int *seen = calloc((size_t)elements, sizeof *seen);
  do {
    do {
      mark_slab(slabs, start, seen);
      check_room(slabs, start);
      count++;
    } while (ndr_slabs_next(slabs, true, start));
  } while (ndr_slabs_next(slabs, false, start));
  for (int64_t i = 0; i < elements; i++) ck_assert_int_eq(seen[i], 1);
  ck_assert_int_eq(count, ndr_slabs_count(slabs));
  free(seen);
}

START_TEST(slabs_cover_every_element_once) {
  rng random = {test_seed()};
  for (int i = 0; i < test_case_count(400); i++) {
    ndr_slabs slabs;
    random_slabs(&random, &slabs);
    int64_t budget = (int64_t)1 << rng_between(&random, 6, 20);
    if (ndr_slabs_choose(&slabs, budget) != NDR_OK) continue;
    ck_assert_int_le(ndr_slabs_bytes(&slabs), budget);
    for (int d = 0; d < slabs.ndim; d++)
      ck_assert(slabs.extent[d] == slabs.shape[d] + slabs.lead[d] || slabs.extent[d] % slabs.unit[d] == 0);
    check_cover(&slabs);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 slabs");
  suite_case(suite, "shapes", 10, small_arrays_are_one_slab, a_scalar_is_one_slab, empty_arrays_are_no_slab,
             the_outermost_dims_are_cut_first, many_outputs_come_in_blocks, a_chunk_that_does_not_fit_is_refused,
             huge_claims_do_not_overflow, NULL);
  suite_case(suite, "any", 60, slabs_cover_every_element_once, NULL);
  return suite_run(suite);
}
