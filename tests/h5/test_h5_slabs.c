/* Cutting arrays into slabs: every element once, on chunk borders, within the budget. */
#include <stdlib.h>

#include "h5/read/slab/slab_iterator.h"
#include "support/cases.h"
#include "support/suite.h"

#define KIB ((int64_t)1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

static ndr_slabs describe(int ndim, const int64_t *shape, const int64_t *chunk, int dim_count, const int *dims) {
  ndr_slabs slabs = {.ndim = ndim, .chunked = chunk != NULL, .element_bytes = 4, .output_bytes = 16, .slots = 1};
  slabs.stored_bytes = slabs.reduced_bytes = 4;
  slabs.workers = 1;
  for (int d = 0; d < ndim; d++) {
    slabs.shape[d] = shape[d];
    slabs.unit[d] = chunk ? chunk[d] : 1;
  }
  for (int i = 0; i < dim_count; i++) slabs.reduced[dims[i]] = true;
  return slabs;
}

static bool choose(ndr_slabs *slabs, int64_t budget) {
  ndr_slabs_grid(slabs, NULL, 0);
  return ndr_slabs_fit(slabs, NULL, false, budget) || ndr_slabs_fit(slabs, NULL, true, budget);
}

static void assert_extent(const ndr_slabs *slabs, const int64_t *expected) {
  ck_assert(memcmp(slabs->extent, expected, (size_t)slabs->ndim * sizeof *expected) == 0);
}

START_TEST(small_arrays_are_one_slab) {
  ndr_slabs slabs = describe(3, (int64_t[]){12, 6, 8}, NULL, NDR_DIMS(0));
  ck_assert(choose(&slabs, 256 * MIB));
  assert_extent(&slabs, (int64_t[]){12, 6, 8});
  ck_assert_int_eq(ndr_slabs_count(&slabs), 1);
}
END_TEST

START_TEST(a_scalar_is_one_slab) {
  ndr_slabs slabs = describe(0, NULL, NULL, 0, NULL);
  int64_t start[1] = {0};
  ck_assert(choose(&slabs, KIB));
  ck_assert_int_eq(ndr_slabs_count(&slabs), 1);
  ck_assert(!ndr_slabs_next(&slabs, true, start) && !ndr_slabs_next(&slabs, false, start));
}
END_TEST

START_TEST(empty_arrays_are_no_slab) {
  ndr_slabs slabs = describe(2, (int64_t[]){0, INT64_MAX / 4}, NULL, NDR_DIMS(0));
  ck_assert(choose(&slabs, KIB));
  ck_assert_int_eq(ndr_slabs_count(&slabs), 0);
}
END_TEST

/* Contiguous storage is read in long runs: the outermost dims are cut first. */
START_TEST(the_outermost_dims_are_cut_first) {
  ndr_slabs slabs = describe(3, (int64_t[]){1024, 512, 512}, NULL, NDR_DIMS(1));
  ck_assert(choose(&slabs, 256 * MIB));
  ck_assert_int_eq(slabs.extent[1], 512);
  ck_assert_int_eq(slabs.extent[2], 512);
  ck_assert_int_le(ndr_slabs_bytes(&slabs), 64 * MIB);
}
END_TEST

/* States of all outputs would not fit, so the outputs are done in blocks. */
START_TEST(many_outputs_come_in_blocks) {
  ndr_slabs slabs = describe(2, (int64_t[]){100, GIB}, NULL, NDR_DIMS(0));
  ck_assert(choose(&slabs, 64 * MIB));
  ck_assert_int_lt(ndr_slabs_outputs(&slabs) * slabs.output_bytes, 16 * MIB);
  ck_assert_int_ge(slabs.extent[1], 32 * KIB);
  ck_assert_int_gt(slabs.extent[0], 1);
}
END_TEST

START_TEST(a_chunk_that_does_not_fit_is_refused) {
  ndr_slabs slabs = describe(2, (int64_t[]){8192, 8192}, (int64_t[]){4096, 4096}, NDR_DIMS(0));
  slabs.scratch_bytes = 64 * MIB;
  ck_assert(!choose(&slabs, 64 * MIB));
  ck_assert(choose(&slabs, 256 * MIB));
  assert_extent(&slabs, (int64_t[]){4096, 4096});
}
END_TEST

/* What is folded does not change: only less of it is read at once. */
START_TEST(a_chunk_beyond_the_budget_is_read_in_parts) {
  ndr_slabs rich = describe(2, (int64_t[]){8192, 8192}, (int64_t[]){4096, 4096}, NDR_DIMS(0)), poor = rich;
  ck_assert(choose(&rich, 256 * MIB) && choose(&poor, 8 * MIB));
  ck_assert_int_le(ndr_slabs_bytes(&poor), 8 * MIB);
  ck_assert_int_lt(ndr_slabs_elements(&poor), ndr_slabs_elements(&rich));
  ck_assert(memcmp(poor.leaf, rich.leaf, sizeof rich.leaf) == 0);
  for (int d = 0; d < 2; d++) ck_assert_int_eq(poor.extent[d] % poor.leaf[d], 0);
}
END_TEST

/* A field a chunk: several at a time, and leaves of as many elements deep. */
START_TEST(chunks_of_many_outputs_make_deep_leaves) {
  ndr_slabs slabs = describe(3, (int64_t[]){2976, 361, 720}, (int64_t[]){1, 361, 720}, NDR_DIMS(0));
  slabs.stored_bytes = slabs.element_bytes = 2;
  slabs.reduced_bytes = 8;
  ck_assert(choose(&slabs, 256 * MIB));
  ck_assert_int_ge(slabs.cell[0], 16);
  ck_assert_int_ge(slabs.leaf[0], 8);
  ck_assert_int_ge(ndr_slabs_cell_leaves(&slabs, false), 16);
  ck_assert_int_le(ndr_slabs_leaf_bytes(&slabs), MIB);
}
END_TEST

/* Packed blocks: as deep as the cell, so that there is nothing to add apart. */
START_TEST(chunks_of_few_outputs_make_leaves_of_their_depth) {
  ndr_slabs slabs = describe(3, (int64_t[]){2976, 361, 720}, (int64_t[]){24, 61, 120}, NDR_DIMS(0));
  slabs.stored_bytes = slabs.element_bytes = 2;
  slabs.reduced_bytes = 8;
  ck_assert(choose(&slabs, 256 * MIB));
  ck_assert_int_ge(slabs.cell[0], 48);
  ck_assert_int_eq(ndr_slabs_cell_leaves(&slabs, true), 1);
  ck_assert(!ndr_slabs_adds_apart(&slabs));
}
END_TEST

START_TEST(huge_claims_do_not_overflow) {
  int64_t huge = INT64_MAX / 4;
  ndr_slabs one = describe(1, &huge, NULL, NDR_DIMS(0)), chunked = describe(1, &huge, &huge, NDR_DIMS(0));
  ck_assert(choose(&one, 64 * MIB));
  ck_assert_int_gt(ndr_slabs_count(&one), huge / (16 * MIB));
  ndr_slabs_grid(&chunked, NULL, 0);
  ck_assert(!ndr_slabs_fit(&chunked, NULL, false, 64 * MIB));
  ck_assert(ndr_slabs_fit(&chunked, NULL, true, 64 * MIB));
}
END_TEST

/* ---- Any shape -------------------------------------------------------------------------------------------------- */

static void random_slabs(rng *random, ndr_slabs *slabs) {
  *slabs = (ndr_slabs){.ndim = (int)rng_between(random, 0, 5), .chunked = rng_once_in(random, 2)};
  slabs->slots = (int)rng_between(random, 1, 3);
  slabs->workers = (int)rng_between(random, 1, 3);
  slabs->element_bytes = slabs->stored_bytes = 1 << rng_between(random, 0, 4);
  slabs->reduced_bytes = slabs->element_bytes;
  slabs->output_bytes = 16 * rng_between(random, 1, 8);
  for (int d = 0; d < slabs->ndim; d++) {
    slabs->shape[d] = rng_between(random, 1, slabs->ndim > 3 ? 7 : 12);
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

/* The leaf that each element is in, by the order in which leaves are added to its output; and how often it is in one.
 */
typedef struct {
  int64_t *order;
  int *seen;
} cover;

static int64_t index_of(const ndr_slabs *slabs, const int64_t *begin, const int64_t *at) {
  int64_t index = 0;
  for (int d = 0; d < slabs->ndim; d++) index = index * slabs->shape[d] + begin[d] + at[d];
  return index;
}

static void mark_leaf(const ndr_slabs *slabs, const int64_t *low, const int64_t *count, int64_t order, cover *c) {
  int64_t at[NDR_MAX_DIMS] = {0};
  do {
    int64_t index = index_of(slabs, low, at);
    c->seen[index]++;
    c->order[index] = order;
  } while (next_index(slabs->ndim, count, at));
}

/* Marks the leaves of a slab, which come `before`th and later in their block; returns how many there are a column. */
static int64_t mark_slab(const ndr_slabs *slabs, const int64_t *start, int64_t before, cover *c) {
  int64_t begin[NDR_MAX_DIMS], size[NDR_MAX_DIMS], low[NDR_MAX_DIMS], count[NDR_MAX_DIMS];
  ndr_slabs_box(slabs, start, begin, size);
  int64_t columns = ndr_slabs_leaves(slabs, begin, size, false), depth = ndr_slabs_leaves(slabs, begin, size, true);
  for (int64_t i = 0; i < columns * depth; i++) {
    ndr_slabs_leaf(slabs, begin, size, false, i / depth, low, count);
    ndr_slabs_leaf(slabs, begin, size, true, i % depth, low, count);
    mark_leaf(slabs, low, count, before + i % depth, c);
  }
  return depth;
}

static int64_t elements_of(const ndr_slabs *slabs) {
  int64_t elements = 1;
  for (int d = 0; d < slabs->ndim; d++) elements *= slabs->shape[d];
  return elements;
}

/* Every element is in one leaf of one slab. */
static int64_t *find_order(const ndr_slabs *slabs) {
  int64_t start[NDR_MAX_DIMS] = {0}, slab_count = 0, elements = elements_of(slabs);
  cover c = {calloc((size_t)elements, sizeof *c.order), calloc((size_t)elements, sizeof *c.seen)};
  do {
    int64_t before = 0;
    do {
      before += mark_slab(slabs, start, before, &c);
      check_room(slabs, start);
      slab_count++;
    } while (ndr_slabs_next(slabs, true, start));
  } while (ndr_slabs_next(slabs, false, start));
  for (int64_t i = 0; i < elements; i++) ck_assert_int_eq(c.seen[i], 1);
  ck_assert_int_eq(slab_count, ndr_slabs_count(slabs));
  free(c.seen);
  return c.order;
}

START_TEST(slabs_cover_every_element_once) {
  rng random = {test_seed()};
  for (int i = 0; i < test_case_count(400); i++) {
    ndr_slabs slabs;
    random_slabs(&random, &slabs);
    int64_t budget = (int64_t)1 << rng_between(&random, 6, 20);
    ndr_slabs_grid(&slabs, NULL, (int)rng_between(&random, 0, 22));
    if (!ndr_slabs_fit(&slabs, NULL, rng_once_in(&random, 2), budget)) continue;
    ck_assert_int_le(ndr_slabs_bytes(&slabs), budget);
    for (int d = 0; d < slabs.ndim; d++)
      ck_assert(slabs.cell[d] == slabs.shape[d] + slabs.lead[d] || slabs.cell[d] % slabs.unit[d] == 0);
    free(find_order(&slabs));
  }
}
END_TEST

/* Whatever the budget, elements are in the same leaves, which are added in the same order. */
START_TEST(the_budget_does_not_change_the_order) {
  rng random = {test_seed()};
  int cases = 0;
  for (int i = 0; i < test_case_count(400); i++) {
    ndr_slabs rich;
    random_slabs(&random, &rich);
    ndr_slabs_grid(&rich, NULL, (int)rng_between(&random, 12, 22));
    ndr_slabs poor = rich;
    ck_assert(ndr_slabs_fit(&rich, NULL, false, GIB));
    for (int64_t budget = GIB; budget > 0 && ndr_slabs_fit(&poor, NULL, true, budget);
         budget = ndr_slabs_bytes(&poor) * 3 / 4) {
      int64_t *one = find_order(&rich), *other = find_order(&poor);
      ck_assert(memcmp(one, other, (size_t)elements_of(&rich) * sizeof *one) == 0);
      cases += ndr_slabs_elements(&poor) < ndr_slabs_elements(&rich);
      free(one);
      free(other);
    }
  }
  ck_assert_int_gt(cases, test_case_count(400) / 4);
}
END_TEST

/* Of which piece the slabs from `from` on and before `to` say that each element is. */
static void mark_pieces(const ndr_slabs *slabs, int64_t from, int64_t to, int64_t *pieces) {
  ndr_slab_iterator iterator = {.part_count = 1, .parts = slabs, .from = from, .to = to};
  ndr_slab slab;
  bool begun = false;
  int64_t last = -1;
  while (ndr_slab_iterator_next(&iterator, &slab)) {
    int64_t at[NDR_MAX_DIMS] = {0};
    ck_assert(slab.piece >= from && slab.piece < to);
    ck_assert(slab.begins == !begun && (slab.begins || slab.piece == last));
    begun = !slab.ends;
    last = slab.piece;
    if (ndr_slabs_leaves(slabs, slab.begin, slab.size, true) * ndr_slabs_leaves(slabs, slab.begin, slab.size, false) ==
        0)
      continue;
    do {
      int64_t index = index_of(slabs, slab.begin, at);
      ck_assert_int_eq(pieces[index], -1);
      pieces[index] = slab.piece;
    } while (next_index(slabs->ndim, slab.size, at));
  }
  ck_assert(!begun);
}

/* The pieces of elements, found by `parts` processes. */
static int64_t *find_pieces(const ndr_slabs *slabs, int64_t parts) {
  const ndr_slab_iterator iterator = {.part_count = 1, .parts = slabs};
  int64_t elements = elements_of(slabs), *pieces = malloc((size_t)elements * sizeof *pieces);
  int64_t count = ndr_slab_iterator_pieces(&iterator);
  for (int64_t i = 0; i < elements; i++) pieces[i] = -1;
  for (int64_t p = 0; p < parts; p++)
    if (count * (p + 1) / parts > count * p / parts)
      mark_pieces(slabs, count * p / parts, count * (p + 1) / parts, pieces);
  for (int64_t i = 0; i < elements; i++) ck_assert(pieces[i] >= 0 && pieces[i] < count);
  return pieces;
}

/* Whatever the budget, and however many processes there are. */
START_TEST(every_element_has_its_piece) {
  rng random = {test_seed() + 1};
  int cases = 0;
  for (int i = 0; i < test_case_count(400); i++) {
    ndr_slabs rich;
    random_slabs(&random, &rich);
    ndr_slabs_grid(&rich, NULL, (int)rng_between(&random, 12, 22));
    rich.stretch = rng_between(&random, 1, 4);
    ndr_slabs poor = rich;
    ck_assert(ndr_slabs_fit(&rich, NULL, false, GIB));
    if (!ndr_slabs_fit(&poor, NULL, true, ndr_slabs_bytes(&rich) * 3 / 4)) continue;
    int64_t *one = find_pieces(&rich, 1), *other = find_pieces(&poor, rng_between(&random, 1, 9));
    ck_assert(memcmp(one, other, (size_t)elements_of(&rich) * sizeof *one) == 0);
    cases += one[elements_of(&rich) - 1] > 0;
    free(one);
    free(other);
  }
  ck_assert_int_gt(cases, test_case_count(400) / 8);
}
END_TEST

/* The slabs of a block from the last to the first, those of the parts of a series, too. */
START_TEST(a_block_can_be_read_backward) {
  ndr_slabs parts[3];
  const int64_t lengths[] = {70, 1, 33};
  for (int i = 0; i < 3; i++) {
    parts[i] = describe(2, (int64_t[]){lengths[i], 12}, (int64_t[]){10, 4}, NDR_DIMS(0));
    if (i == 0) parts[i].lead[0] = 3;
    ndr_slabs_grid(&parts[i], i ? &parts[0] : NULL, 15);
    ck_assert(ndr_slabs_fit(&parts[i], i ? &parts[0] : NULL, true, 1024));
  }
  ndr_slab slabs[400], slab;
  int count = 0, first = 0;
  for (ndr_slab_iterator forward = {.part_count = 3, .parts = parts}; ndr_slab_iterator_next(&forward, &slab);) {
    ck_assert_int_lt(count, 400);
    slabs[count++] = slab;
  }
  ck_assert_int_gt(count, 12);
  ndr_slab_iterator backward = {.part_count = 3, .parts = parts, .backward = true};
  for (int end = 0; first < count; first = end) {
    while (!slabs[end].last) end++;
    end++;
    for (int i = end - 1; i >= first; i--) {
      ck_assert(ndr_slab_iterator_next(&backward, &slab));
      ck_assert_int_eq(slab.part, slabs[i].part);
      ck_assert(memcmp(slab.whole, slabs[i].whole, sizeof slab.whole) == 0);
      ck_assert(memcmp(slab.size, slabs[i].size, sizeof slab.size) == 0);
      ck_assert(slab.first == (i == end - 1) && slab.last == (i == first));
    }
  }
  ck_assert(!ndr_slab_iterator_next(&backward, &slab));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 slabs");
  suite_case(suite, "shapes", 10, small_arrays_are_one_slab, a_scalar_is_one_slab, empty_arrays_are_no_slab,
             the_outermost_dims_are_cut_first, many_outputs_come_in_blocks, a_chunk_that_does_not_fit_is_refused,
             a_chunk_beyond_the_budget_is_read_in_parts, chunks_of_many_outputs_make_deep_leaves,
             chunks_of_few_outputs_make_leaves_of_their_depth, huge_claims_do_not_overflow, NULL);
  suite_case(suite, "any", 60, slabs_cover_every_element_once, a_block_can_be_read_backward,
             the_budget_does_not_change_the_order, every_element_has_its_piece, NULL);
  return suite_run(suite);
}
