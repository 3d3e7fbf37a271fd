/* Groups. What a group is reduced to must be what a mask gives that is true where its label is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ndreduce/groups.h"
#include "ndreduce/operator.h"
#include "ndreduce/plan.h"
#include "support/array.h"
#include "support/cases.h"
#include "support/operators.h"
#include "support/suite.h"

static const DLDevice cpu = {kDLCPU, 0};

/* ---- labels ---- */

typedef enum pattern { RUNS, EVEN_RUNS, CYCLE, CYCLE_OF_RUNS, BACKWARDS, SCATTERED, SORTED, NONE, PATTERNS } pattern;

static int by_value(const void *a, const void *b) {
  return *(const int32_t *)a - *(const int32_t *)b;
}

static void fill_labels(rng *random, pattern how, int32_t *labels, int64_t length, int64_t count) {
  int64_t inner = rng_between(random, 1, 5);
  int32_t label = 0;
  for (int64_t at = 0; at < length; at++) {
    switch (how) {
    case RUNS:
      if (rng_once_in(random, 4)) label = (int32_t)rng_between(random, -1, count - 1);
      labels[at] = label;
      break;
    case EVEN_RUNS: labels[at] = at / inner < count ? (int32_t)(at / inner) : -1; break;
    case CYCLE: labels[at] = (int32_t)(at % count); break;
    case CYCLE_OF_RUNS: labels[at] = (int32_t)(at / inner % count); break;
    case BACKWARDS: labels[at] = (int32_t)(count - 1 - at / inner % count); break;
    case NONE: labels[at] = -1; break;
    default: labels[at] = (int32_t)rng_between(random, -1, count - 1);
    }
  }
  if (how == SORTED) qsort(labels, (size_t)length, sizeof *labels, by_value);
}

/* ---- a call with groups, and the same by masks ---- */

typedef struct grouped_case {
  ndr_problem problem;
  test_array array, mask;
  int32_t *labels;
  int64_t length, shape[NDR_MAX_DIMS]; /* of the labels */
  int ndim, first;                     /* they lie along dims first .. first + ndim - 1 */
  int64_t count;
  ndr_groups *groups;
  bool masked;
} grouped_case;

/* Neighbouring reduced dims, at most three; false where none is reduced. */
static bool choose_dims(rng *random, grouped_case *c) {
  bool reduced[NDR_MAX_DIMS] = {false};
  int dims[NDR_MAX_DIMS], count = 0;
  for (int i = 0; i < c->problem.dim_count; i++) reduced[c->problem.dims[i]] = true;
  for (int d = 0; d < c->problem.ndim; d++)
    if (reduced[d]) dims[count++] = d;
  if (count == 0) return false;
  c->first = dims[rng_between(random, 0, count - 1)];
  c->ndim = 1;
  while (c->ndim < 3 && reduced[c->first + c->ndim] && !rng_once_in(random, 2)) c->ndim++;
  return true;
}

static void write_out_dims(ndr_problem *problem) {
  bool all = problem->dim_count < 0;
  if (all) problem->dim_count = problem->ndim;
  for (int i = 0; i < problem->dim_count; i++)
    problem->dims[i] = all ? i : problem->dims[i] + (problem->dims[i] < 0 ? problem->ndim : 0);
}

typedef enum layout { ANY_LAYOUT, ROWS_OF_LABELS, LINES_OF_LABELS } layout;

/* Rows of at least 64 bytes, more than a tile has, whose order a table may give; a part of the others is reduced. */
static void make_rows(rng *random, ndr_problem *problem) {
  problem->ndim = 3;
  problem->shape[0] = rng_between(random, 1, 3);
  problem->shape[1] = rng_between(random, 2, 400);
  problem->shape[2] = rng_between(random, 16, 90);
  problem->strides[2] = 1;
  problem->strides[1] = (problem->shape[2] + rng_between(random, 0, 3)) * (rng_once_in(random, 3) ? -1 : 1);
  problem->strides[0] = problem->shape[1] * 93;
  problem->dim_count = 1;
  problem->dims[0] = 1;
  if (rng_once_in(random, 3)) problem->dims[problem->dim_count++] = 2;
  if (rng_once_in(random, 3)) problem->dims[problem->dim_count++] = 0;
}

/* Labels along the fastest dim, or the two fastest, and enough elements beside them to be folded side by side; some are
 * in several sections. */
static void make_lines(rng *random, ndr_problem *problem) {
  bool long_lines = rng_once_in(random, 5);
  problem->ndim = 3;
  problem->shape[0] = rng_between(random, 8, long_lines ? 20 : 70);
  problem->shape[1] = rng_between(random, 1, long_lines ? 2 : 12);
  problem->shape[2] = long_lines ? rng_between(random, 4000, 9000) : rng_between(random, 2, 150);
  problem->strides[2] = rng_once_in(random, 5) ? rng_between(random, 1, 2) * (rng_once_in(random, 2) ? -1 : 1) : 1;
  problem->strides[1] = problem->shape[2] * 2 + (rng_once_in(random, 2) ? 3 : 0);
  if (problem->strides[2] == 1 && rng_once_in(random, 2)) problem->strides[1] = problem->shape[2];
  problem->strides[0] = problem->shape[1] * problem->strides[1] + (rng_once_in(random, 2) ? 5 : 0);
  problem->dim_count = 0;
  if (rng_once_in(random, 4)) problem->dims[problem->dim_count++] = 0;
  if (rng_once_in(random, 2)) problem->dims[problem->dim_count++] = 1;
  problem->dims[problem->dim_count++] = 2;
}

static pattern pattern_of(rng *random, layout how) {
  static const pattern of_lines[] = {SCATTERED, SCATTERED, RUNS, SORTED, CYCLE_OF_RUNS};
  if (how == LINES_OF_LABELS) return of_lines[rng_between(random, 0, 4)];
  return how == ROWS_OF_LABELS ? SCATTERED : (pattern)rng_between(random, 0, PATTERNS - 1);
}

/* Windows along all of the labels' dims, few along a long one, and the labels that say the same. */
static void make_windows(rng *random, grouped_case *c) {
  ndr_windows windows[NDR_MAX_DIMS];
  int64_t index[NDR_MAX_DIMS] = {0}, at = 0;
  for (int d = 0; d < c->ndim; d++) {
    ndr_windows *w = &windows[d];
    w->size = c->shape[d];
    w->begin = rng_once_in(random, 3) ? rng_between(random, 0, w->size - 1) : 0;
    w->end = rng_once_in(random, 2) ? w->size : rng_between(random, w->begin + 1, w->size);
    w->window = w->size > 12 ? rng_between(random, w->size / 6, w->size) : rng_between(random, 1, 5);
  }
  do {
    int64_t label = 0;
    c->count = 1;
    for (int d = 0; d < c->ndim; d++) {
      const ndr_windows *w = &windows[d];
      int64_t along = (w->end - w->begin + w->window - 1) / w->window;
      bool in = index[d] >= w->begin && index[d] < w->end;
      c->count *= along;
      label = in && label >= 0 ? label * along + (index[d] - w->begin) / w->window : -1;
    }
    c->labels[at++] = (int32_t)label;
  } while (next_index(c->ndim, c->shape, index));
  assert_ok(ndr_groups_boxes(&c->groups, c->ndim, windows));
  ck_assert_int_eq(ndr_groups_count(c->groups), c->count);
}

static void make_groups(rng *random, grouped_case *c, layout how) {
  c->labels = malloc((size_t)(c->length + 1) * sizeof *c->labels);
  if (c->length > 0 && rng_once_in(random, 4)) {
    make_windows(random, c);
    return;
  }
  c->count = rng_between(random, 1, how == ANY_LAYOUT ? 9 : 40);
  fill_labels(random, pattern_of(random, how), c->labels, c->length, c->count);
  DLTensor labels = ndr_tensor(c->labels, NDR_I32, c->ndim, c->shape);
  assert_ok(ndr_groups_create(&c->groups, &labels, c->count));
}

static void place_labels(rng *random, grouped_case *c, layout how) {
  if (how == ANY_LAYOUT) return;
  const ndr_problem *problem = &c->problem;
  bool two = how == LINES_OF_LABELS && problem->dim_count > 1 && problem->dims[problem->dim_count - 2] == 1;
  c->first = c->ndim = 1;
  if (how == LINES_OF_LABELS && !(two && rng_once_in(random, 2))) c->first = 2;
  if (how == LINES_OF_LABELS && c->first == 1) c->ndim = 2;
}

static bool make_case(rng *random, grouped_case *c, layout how) {
  memset(c, 0, sizeof *c);
  random_case(random, 4000, &c->problem);
  if (how == ROWS_OF_LABELS) make_rows(random, &c->problem);
  if (how == LINES_OF_LABELS) make_lines(random, &c->problem);
  write_out_dims(&c->problem);
  if (c->problem.ndim > NDR_MAX_DIMS - 2 || !choose_dims(random, c)) return false;
  place_labels(random, c, how);
  c->length = 1;
  for (int d = 0; d < c->ndim; d++) c->length *= c->shape[d] = c->problem.shape[c->first + d];
  make_groups(random, c, how);
  array_of_case(&c->array, &c->problem);
  array_fill(&c->array, random, random_filling_of(random, &c->problem));
  c->masked = rng_once_in(random, 4);
  if (c->masked) {
    array_make(&c->mask, NDR_BOOL, c->problem.ndim, c->problem.shape, NULL);
    c->mask.tensor.strides = c->mask.strides;
    array_fill(&c->mask, random, FILL_WIDE);
  }
  return true;
}

static void free_case(grouped_case *c) {
  if (c->groups) {
    array_free(&c->array);
    if (c->masked) array_free(&c->mask);
  }
  ndr_groups_destroy(c->groups);
  free(c->labels);
}

static ndr_options options_of(const grouped_case *c) {
  ndr_options options = case_options(&c->problem);
  options.groups = c->groups;
  options.group_dim = c->first;
  options.where = c->masked ? &c->mask.tensor : NULL;
  return options;
}

/* A compact mask that is true where the label is `group`, and where the case's own mask is. */
static void mask_of_group(const grouped_case *c, int64_t group, test_array *mask) {
  int64_t index[NDR_MAX_DIMS] = {0};
  array_make(mask, NDR_BOOL, c->problem.ndim, c->problem.shape, NULL);
  if (array_count(&mask->tensor) == 0) return;
  do {
    int64_t label = 0;
    for (int d = 0; d < c->ndim; d++) label = label * c->shape[d] + index[c->first + d];
    bool in = c->labels[label] == group;
    if (in && c->masked) in = *(uint8_t *)element_at(&c->mask.tensor, index) != 0;
    *(uint8_t *)element_at(&mask->tensor, index) = in;
  } while (next_index(c->problem.ndim, c->problem.shape, index));
}

/* The results of one group: a view of all groups' without their dim, or with keepdims with size 1 in place of it. */
static DLTensor group_of(const grouped_case *c, const DLTensor *results, int64_t group, int64_t *shape,
                         int64_t *strides) {
  DLTensor view = *results;
  int at = 0, ndim = 0;
  for (int d = 0; d < c->first; d++) {
    bool reduced = false;
    for (int i = 0; i < c->problem.dim_count; i++) reduced = reduced || c->problem.dims[i] == d;
    at += !reduced || c->problem.keepdims;
  }
  view.data = (char *)view.data + group * results->strides[at] * results->dtype.bits / 8;
  for (int d = 0; d < results->ndim; d++) {
    if (d == at && !c->problem.keepdims) continue;
    for (int more = 0; d == at && more < c->ndim - 1; more++) shape[ndim] = 1, strides[ndim++] = 1;
    shape[ndim] = d == at ? 1 : results->shape[d];
    strides[ndim++] = results->strides[d];
  }
  view.shape = shape;
  view.strides = strides;
  view.ndim = ndim;
  return view;
}

static void check_group(const grouped_case *c, ndr_op op, const DLTensor *results, int64_t group, int number) {
  test_array mask, expected;
  int64_t shape[NDR_MAX_DIMS], strides[NDR_MAX_DIMS];
  char why[256];
  ndr_options options = case_options(&c->problem);
  DLTensor view = group_of(c, results, group, shape, strides);
  mask_of_group(c, group, &mask);
  options.where = &mask.tensor;
  array_make(&expected, mask.dtype, 0, NULL, NULL);
  array_free(&expected);
  ndr_dtype dtype = NDR_F64;
  (void)ndr_dtype_from_dlpack(view.dtype, &dtype);
  array_make(&expected, dtype, view.ndim, view.shape, NULL);
  ndr_status status = ndreduce(&c->array.tensor, c->problem.dim_count, c->problem.dims, op, &expected.tensor, &options);
  if (status != NDR_ERR_EMPTY) { /* no element at all: a mask does not help, groups do */
    assert_ok(status);
    ck_assert_msg(results_agree(&view, &expected.tensor, 16, why, sizeof why), "case %d: %s of %s, group %d: %s",
                  number, ndr_op_name(op) ? ndr_op_name(op) : "own", case_text(&c->problem), (int)group, why);
  }
  array_free(&mask);
  array_free(&expected);
}

static void check_by_masks(uint64_t seed, int cases, layout how) {
  rng random = {seed};
  for (int number = 0; number < cases; number++) {
    grouped_case c;
    test_array results;
    if (!make_case(&random, &c, how)) continue;
    bool own = rng_once_in(&random, 6);
    ndr_op op = own ? random_operator(&random, c.problem.dtype, 1) : c.problem.ops[0];
    ndr_options options = options_of(&c);
    assert_ok(array_result(&results, &c.array.tensor, c.problem.dim_count, c.problem.dims, op, &options, &random));
    assert_ok(ndreduce(&c.array.tensor, c.problem.dim_count, c.problem.dims, op, &results.tensor, &options));
    ck_assert(array_gaps_untouched(&results));
    for (int64_t group = 0; group < c.count; group++) check_group(&c, op, &results.tensor, group, number);
    if (own) ndr_operator_destroy(op);
    array_free(&results);
    free_case(&c);
  }
}

START_TEST(a_group_is_what_a_mask_gives) {
  check_by_masks(test_seed(), test_case_count(1500), ANY_LAYOUT);
}
END_TEST

START_TEST(so_is_one_of_scattered_rows) {
  check_by_masks(test_seed() + 3, test_case_count(300), ROWS_OF_LABELS);
}
END_TEST

START_TEST(so_is_one_of_labels_along_the_fastest_dim) {
  check_by_masks(test_seed() + 4, test_case_count(600), LINES_OF_LABELS);
}
END_TEST

/* ---- plans and accumulators ---- */

static void assert_same(const grouped_case *c, const test_array *a, const test_array *b, int number) {
  char why[256];
  ck_assert_msg(results_agree(&a->tensor, &b->tensor, 16, why, sizeof why), "case %d: %s: %s", number,
                case_text(&c->problem), why);
}

static ndr_problem problem_with_groups(const grouped_case *c) {
  ndr_problem problem = c->problem;
  problem.groups = c->groups;
  problem.group_dim = c->first;
  problem.op_count = 1;
  if (c->masked) assert_ok(ndr_problem_add_operand(&problem, NDR_WHERE, &c->mask.tensor));
  return problem;
}

START_TEST(plans_with_a_workspace_give_the_same_bits) {
  rng random = {test_seed() + 1};
  int cases = test_case_count(300);
  for (int number = 0; number < cases; number++) {
    grouped_case c;
    test_array called, planned;
    ndr_plan *plan;
    if (!make_case(&random, &c, (layout)(number % 3))) continue;
    ndr_options options = options_of(&c);
    ndr_problem problem = problem_with_groups(&c);
    const ndr_op op = problem.ops[0];
    assert_ok(array_result(&called, &c.array.tensor, problem.dim_count, problem.dims, op, &options, NULL));
    assert_ok(array_result(&planned, &c.array.tensor, problem.dim_count, problem.dims, op, &options, NULL));
    assert_ok(ndreduce(&c.array.tensor, problem.dim_count, problem.dims, op, &called.tensor, &options));
    assert_ok(ndr_plan_create(&plan, &problem, cpu, NULL, NULL));
    ndr_groups_destroy(c.groups); /* the plan holds them */
    size_t bytes = (ndr_plan_workspace(plan) + 255) / 256 * 256;
    void *workspace = bytes ? aligned_alloc(256, bytes) : NULL;
    const void *data[] = {c.array.tensor.data, c.mask.tensor.data};
    ck_assert(c.array.tensor.byte_offset == 0);
    void *results[] = {planned.tensor.data};
    assert_ok(ndr_plan_execute_operands(plan, data, results, workspace, bytes, NULL));
    ck_assert_msg(same_elements(&called.tensor, &planned.tensor), "case %d", number);
    ck_assert(ndr_plan_describe(plan, NULL, 0) > 0);
    ndr_plan_destroy(plan);
    free(workspace);
    array_free(&called);
    array_free(&planned);
    DLTensor labels = ndr_tensor(c.labels, NDR_I32, c.ndim, c.shape);
    assert_ok(ndr_groups_create(&c.groups, &labels, c.count));
    free_case(&c);
  }
}
END_TEST

/* A view of the box of a tensor. */
static DLTensor box_of(const DLTensor *tensor, const int64_t *begin, int64_t *size) {
  DLTensor box = *tensor;
  for (int d = 0; box.data && d < tensor->ndim; d++)
    box.data = (char *)box.data + begin[d] * tensor->strides[d] * tensor->dtype.bits / 8;
  box.shape = size;
  return box;
}

/* Adds the part of the array between `begin` and begin + size, cut in two along some dim, the later half first. */
static void add_slabs(rng *random, const grouped_case *c, ndr_accumulator *accumulator, const int64_t *begin,
                      const int64_t *size, int cuts) {
  int d = c->problem.ndim ? (int)rng_between(random, 0, c->problem.ndim - 1) : 0;
  int64_t half[NDR_MAX_DIMS], at[NDR_MAX_DIMS];
  memcpy(half, size, sizeof half);
  memcpy(at, begin, sizeof at);
  if (cuts == 0 || c->problem.ndim == 0 || size[d] < 2) {
    DLTensor slab = box_of(&c->array.tensor, begin, half), mask;
    const DLTensor *operands[] = {&mask};
    if (c->masked) mask = box_of(&c->mask.tensor, begin, half);
    assert_ok(ndr_accumulator_add_operands(accumulator, &slab, operands, begin));
    return;
  }
  int64_t first = rng_between(random, 1, size[d] - 1);
  at[d] = begin[d] + first;
  half[d] = size[d] - first;
  add_slabs(random, c, accumulator, at, half, cuts - 1);
  half[d] = first;
  add_slabs(random, c, accumulator, begin, half, cuts - 1);
}

START_TEST(slabs_come_in_any_order) {
  rng random = {test_seed() + 2};
  int cases = test_case_count(500);
  for (int number = 0; number < cases; number++) {
    grouped_case c;
    test_array called, added;
    ndr_accumulator *accumulator;
    const int64_t begin[NDR_MAX_DIMS] = {0};
    if (!make_case(&random, &c, (layout)(number % 3))) continue;
    ndr_options options = options_of(&c);
    ndr_problem problem = problem_with_groups(&c);
    const ndr_op op = problem.ops[0];
    assert_ok(array_result(&called, &c.array.tensor, problem.dim_count, problem.dims, op, &options, NULL));
    assert_ok(array_result(&added, &c.array.tensor, problem.dim_count, problem.dims, op, &options, &random));
    assert_ok(ndreduce(&c.array.tensor, problem.dim_count, problem.dims, op, &called.tensor, &options));
    assert_ok(ndr_accumulator_create(&accumulator, &problem, cpu, NULL));
    add_slabs(&random, &c, accumulator, begin, problem.shape, (int)rng_between(&random, 0, 3));
    DLTensor *results[] = {&added.tensor};
    assert_ok(ndr_accumulator_finish(accumulator, results));
    if (c.array.bytes > 0 || array_count(&added.tensor) == 0) assert_same(&c, &called, &added, number);
    ndr_accumulator_destroy(accumulator);
    array_free(&called);
    array_free(&added);
    free_case(&c);
  }
}
END_TEST

/* ---- elsewhere in the interface ---- */

START_TEST(measuring_with_groups_is_estimating) {
  rng random = {test_seed() + 5};
  for (int number = 0; number < 20; number++) {
    grouped_case c;
    test_array results;
    if (!make_case(&random, &c, ROWS_OF_LABELS)) continue;
    ndr_options options = options_of(&c);
    options.planning = NDR_MEASURE;
    const ndr_op op = c.problem.ops[0];
    assert_ok(array_result(&results, &c.array.tensor, c.problem.dim_count, c.problem.dims, op, &options, NULL));
    results.tensor.strides = results.strides;
    assert_ok(ndreduce(&c.array.tensor, c.problem.dim_count, c.problem.dims, op, &results.tensor, &options));
    for (int64_t group = 0; group < c.count; group++) check_group(&c, op, &results.tensor, group, number);
    array_free(&results);
    free_case(&c);
  }
}
END_TEST

START_TEST(labels_print_as_they_are) {
  rng random = {test_seed() + 4};
  for (int number = 0; number < test_case_count(500); number++) {
    grouped_case c;
    if (!make_case(&random, &c, ANY_LAYOUT)) continue;
    ndr_problem problem = c.problem, again = NDR_PROBLEM_INIT;
    problem.groups = c.groups;
    problem.group_dim = c.first;
    size_t length = ndr_problem_print(&problem, NULL, 0);
    char *printed = malloc(length + 1), *second = malloc(length + 1);
    ck_assert_uint_eq(ndr_problem_print(&problem, printed, length + 1), length);
    assert_ok(ndr_problem_parse(printed, &again));
    ndr_problem_print(&again, second, length + 1);
    ck_assert_str_eq(printed, second);
    ndr_options options = case_options(&c.problem), other = options;
    options.groups = c.groups, other.groups = again.groups;
    options.group_dim = other.group_dim = c.first;
    test_array a, b;
    const ndr_op op = NDR_COUNT;
    assert_ok(array_result(&a, &c.array.tensor, problem.dim_count, problem.dims, op, &options, NULL));
    assert_ok(array_result(&b, &c.array.tensor, problem.dim_count, problem.dims, op, &options, NULL));
    assert_ok(ndreduce(&c.array.tensor, problem.dim_count, problem.dims, op, &a.tensor, &options));
    assert_ok(ndreduce(&c.array.tensor, problem.dim_count, problem.dims, op, &b.tensor, &other));
    ck_assert(same_elements(&a.tensor, &b.tensor));
    array_free(&a);
    array_free(&b);
    free(printed);
    free(second);
    free_case(&c);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("groups");
  suite_case(suite, "by masks", 120, a_group_is_what_a_mask_gives, so_is_one_of_scattered_rows,
             so_is_one_of_labels_along_the_fastest_dim, NULL);
  suite_case(suite, "plans and slabs", 120, plans_with_a_workspace_give_the_same_bits, slabs_come_in_any_order, NULL);
  suite_case(suite, "elsewhere", 30, measuring_with_groups_is_estimating, labels_print_as_they_are, NULL);
  return suite_run(suite);
}
