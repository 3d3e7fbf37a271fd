/* Canonical problems: each simplification by name, and then that none of them changes which element meets which output
 * under which index, over random views. */
#include <stdlib.h>

#include "core/request/canonical.h"
#include "support/cases.h"
#include "support/suite.h"

static void request_of(const char *text, ndr_request *request) {
  ndr_problem c = NDR_PROBLEM_INIT;
  assert_ok(ndr_problem_parse(text, &c));
  assert_ok(ndr_request_make(request, &c));
}

static ndr_canonical problem_of(const char *text) {
  ndr_request request;
  ndr_canonical problem;
  request_of(text, &request);
  assert_ok(ndr_canonical_make(&problem, &request));
  return problem;
}

#define assert_axis(axis, expected_size, expected_stride)                                                              \
  do {                                                                                                                 \
    ck_assert_int_eq((axis).size, expected_size);                                                                      \
    ck_assert_int_eq((axis).stride, expected_stride);                                                                  \
  } while (0)

START_TEST(dims_of_size_one_are_dropped) {
  ndr_canonical p = problem_of("sum f32 [1:77,4,1:-5,8,1] /0,1,4");
  ck_assert_int_eq(p.kept_count, 1);
  ck_assert_int_eq(p.reduced_count, 1);
  assert_axis(p.kept[0], 8, 1);
  assert_axis(p.reduced[0], 4, 8);
  ck_assert_int_eq(p.origin, 0);
}
END_TEST

START_TEST(compact_dims_merge_into_one) {
  ndr_canonical p = problem_of("sum f32 [2,3,4,5] /all");
  ck_assert_int_eq(p.kept_count, 0);
  ck_assert_int_eq(p.reduced_count, 1);
  assert_axis(p.reduced[0], 120, 1);
  ck_assert_int_eq(p.outputs, 1);
  ck_assert_int_eq(p.length, 120);
}
END_TEST

START_TEST(stepped_dims_merge_where_one_step_serves_both) {
  ndr_canonical p = problem_of("sum f32 [4:6,3:2] /all");
  ck_assert_int_eq(p.reduced_count, 1);
  assert_axis(p.reduced[0], 12, 2);
  p = problem_of("sum f32 [4:7,3:2] /all");
  ck_assert_int_eq(p.reduced_count, 2);
}
END_TEST

START_TEST(axes_are_sorted_by_stride) {
  ndr_canonical p = problem_of("sum f32 [3:2,5:1000,7:30,2:300] /1,3");
  ck_assert_int_eq(p.kept_count, 2);
  assert_axis(p.kept[0], 3, 2);
  assert_axis(p.kept[1], 7, 30);
  ck_assert_int_eq(p.reduced_count, 2);
  assert_axis(p.reduced[0], 2, 300);
  assert_axis(p.reduced[1], 5, 1000);
}
END_TEST

START_TEST(broadcast_axes_come_last) {
  ndr_canonical p = problem_of("sum f32 [6:0,5:8] /all");
  ck_assert_int_eq(p.reduced_count, 2);
  assert_axis(p.reduced[0], 5, 8);
  assert_axis(p.reduced[1], 6, 0);
}
END_TEST

START_TEST(transposed_sums_are_contiguous_again) {
  ndr_canonical p = problem_of("sum f32 [4:1,6:4] /all");
  ck_assert_int_eq(p.reduced_count, 1);
  assert_axis(p.reduced[0], 24, 1);
}
END_TEST

START_TEST(negative_strides_are_walked_from_the_other_end) {
  ndr_canonical p = problem_of("argmin f32 [8:-3] /0");
  assert_axis(p.reduced[0], 8, 3);
  ck_assert_int_eq(p.origin, -21);
  ck_assert_int_eq(p.reduced[0].index, -1);
  ck_assert_int_eq(p.index_origin, 7);
}
END_TEST

START_TEST(negative_kept_strides_move_the_result_instead) {
  ndr_canonical p = problem_of("sum,mean f32 [5:-4,4:1] /1");
  assert_axis(p.kept[0], 5, 4);
  ck_assert_int_eq(p.origin, -16);
  for (int i = 0; i < 2; i++) {
    ck_assert_int_eq(p.kept[0].result[i], -1);
    ck_assert_int_eq(p.result_origin[i], 4);
  }
}
END_TEST

START_TEST(kept_dims_merge_only_if_the_result_agrees) {
  ndr_request request;
  ndr_canonical p = problem_of("sum f32 [4,6,5] /2");
  ck_assert_int_eq(p.kept_count, 1);
  request_of("sum f32 [4,6,5] /2", &request);
  request.result_strides[0][0] = 1;
  request.result_strides[0][1] = 4;
  assert_ok(ndr_canonical_make(&p, &request));
  ck_assert_int_eq(p.kept_count, 2);
  assert_axis(p.kept[0], 6, 5);
  ck_assert_int_eq(p.kept[0].result[0], 4);
  ck_assert_int_eq(p.kept[1].result[0], 1);
}
END_TEST

START_TEST(index_steps_are_row_major_over_the_reduced_dims) {
  ndr_canonical p = problem_of("argmax f32 [4,5,6] /0,2");
  ck_assert_int_eq(p.reduced_count, 2);
  assert_axis(p.reduced[0], 6, 1);
  ck_assert_int_eq(p.reduced[0].index, 1);
  assert_axis(p.reduced[1], 4, 30);
  ck_assert_int_eq(p.reduced[1].index, 6);
}
END_TEST

START_TEST(reduced_dims_merge_only_if_the_index_agrees) {
  ndr_canonical sum = problem_of("sum f32 [4:1,5:4] /all"), arg = problem_of("argmin f32 [4:1,5:4] /all"),
                both = problem_of("sum,argmin f32 [4:1,5:4] /all"), compact = problem_of("argmin f32 [4,5] /all");
  ck_assert_int_eq(sum.reduced_count, 1);
  ck_assert_int_eq(arg.reduced_count, 2);
  ck_assert_int_eq(arg.reduced[0].index, 5);
  ck_assert_int_eq(arg.reduced[1].index, 1);
  ck_assert_int_eq(both.reduced_count, 2);
  ck_assert_int_eq(compact.reduced_count, 1);
}
END_TEST

START_TEST(a_slab_counts_in_the_whole) {
  ndr_request request;
  ndr_canonical p;
  request_of("argmin f32 [2,3,4] /0,2", &request);
  memcpy(request.whole_shape, (int64_t[]){10, 20, 30}, 3 * sizeof(int64_t));
  memcpy(request.offset, (int64_t[]){5, 7, 9}, 3 * sizeof(int64_t));
  request.partial = true;
  assert_ok(ndr_canonical_make(&p, &request));
  ck_assert_int_eq(p.index_origin, 5 * 30 + 9);
  ck_assert_int_eq(p.reduced[0].index, 1);
  ck_assert_int_eq(p.reduced[1].index, 30);
}
END_TEST

START_TEST(empty_results_and_empty_reductions_are_told_apart) {
  ndr_canonical p = problem_of("sum f32 [0,5] /0");
  ck_assert_int_eq(p.outputs, 5);
  ck_assert_int_eq(p.length, 0);
  p = problem_of("min f32 [0,5] /1");
  ck_assert_int_eq(p.outputs, 0);
  ck_assert_int_eq(p.length, 5);
}
END_TEST

/* An array without elements may have no address, and none is stepped to from there. */
START_TEST(empty_reductions_begin_where_the_array_does) {
  ndr_canonical p = problem_of("sum f32 [0:7,5:-3] /0");
  ck_assert_int_eq(p.outputs, 5);
  ck_assert_int_eq(p.origin, 0);
}
END_TEST

START_TEST(empty_reductions_of_ordered_ops_fail) {
  ndr_request request;
  ndr_canonical p;
  request_of("sum,argmax f32 [3,0] /1", &request);
  assert_fails(ndr_canonical_make(&p, &request), NDR_ERR_EMPTY, "argmax");
  request.partial = true;
  assert_ok(ndr_canonical_make(&p, &request));
}
END_TEST

START_TEST(scalars_have_one_output_and_one_element) {
  ndr_canonical p = problem_of("sum f32 [] /");
  ck_assert_int_eq(p.kept_count + p.reduced_count, 0);
  ck_assert_int_eq(p.outputs, 1);
  ck_assert_int_eq(p.length, 1);
}
END_TEST

START_TEST(options_reach_the_problem) {
  ndr_canonical p = problem_of("var f32 [4] /0 skipnan ddof=1.5 acc=f64");
  ck_assert(p.skip_nan && p.accumulate_f64 && p.ddof == 1.5 && !p.partial);
  ndr_state state = ndr_canonical_state(&p, 0);
  ck_assert(state.op == NDR_VAR && state.dtype == NDR_F32 && state.skip_nan && state.ddof == 1.5);
}
END_TEST

/* So such operators have the plans, and the bits, of the built-in ones. */
START_TEST(operators_that_say_no_more_are_built_in_ones) {
  static const struct {
    const char *text;
    int op; /* NDR_OP_COUNT: it stays a program */
  } cases[] = {
      {"{t(x): s += x -> s} f32 [4,5] /0", NDR_SUM},
      {"{t(x): s += x -> s} c64 [4,5] /0 skipnan", NDR_SUM},
      {"{t(x): s += x -> s} i8 [4,5] /0 skipnan acc=f64", NDR_SUM},
      {"{t(x): p *= x -> p} f64 [4,5] /0", NDR_PROD},
      {"{t(x): a |= x -> a} bool [4,5] /0 skipnan", NDR_ANY},
      {"{t(x): m max= x -> m} f64 [4,5] /0", NDR_OP_COUNT}, /* -inf over no elements */
      {"{t(x): m min= x -> m} f32 [4,5] /0 skipnan", NDR_OP_COUNT},
      {"{t(x): s += x -> s} bf16 [4,5] /0", NDR_SUM},
      {"{t(x): s += x -> 2 * s} f32 [4,5] /0", NDR_OP_COUNT},
      {"{t(x): s += x * 2 -> s} f32 [4,5] /0", NDR_OP_COUNT},
      {"{t(x): s += x, n += 1 -> s} f32 [4,5] /0", NDR_OP_COUNT},
      {"{t(x): s += x -> s} f32 [4,5] /0 where=bool[5,1]", NDR_OP_COUNT},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ndr_request request;
    ndr_canonical p;
    request_of(cases[i].text, &request);
    assert_ok(ndr_canonical_make(&p, &request));
    ndr_request_free(&request);
    const bool built_in = cases[i].op != NDR_OP_COUNT;
    ck_assert_msg((p.programs[0] == NULL) == built_in && (!built_in || (int)p.ops[0] == cases[i].op), "%s",
                  cases[i].text);
    ndr_canonical_free(&p);
  }
}
END_TEST

/* ---- random views ---- */

typedef struct meeting {
  int64_t element, result[2], index;
} meeting;

static int compare(const void *a, const void *b) {
  return memcmp(a, b, sizeof(meeting));
}

/* Which element meets which outputs under which index, read off the request. */
static int64_t meetings_of_request(const ndr_request *request, meeting *out) {
  int64_t index[NDR_MAX_DIMS] = {0}, count = 0;
  for (int d = 0; d < request->problem.ndim; d++)
    if (request->problem.shape[d] == 0) return 0;
  do {
    meeting m = {0};
    for (int d = 0; d < request->problem.ndim; d++) {
      m.element += index[d] * request->problem.strides[d];
      if (request->reduced[d])
        m.index = m.index * request->whole_shape[d] + index[d];
      else
        for (int i = 0; i < 2; i++) m.result[i] += index[d] * request->result_strides[i][d];
    }
    out[count++] = m;
  } while (next_index(request->problem.ndim, request->problem.shape, index));
  return count;
}

/* The same, read off the canonical problem. */
static int64_t meetings_of_problem(const ndr_canonical *p, meeting *out) {
  int64_t shape[NDR_MAX_DIMS], index[NDR_MAX_DIMS] = {0}, count = 0;
  int axes = p->kept_count + p->reduced_count;
  if (p->outputs == 0 || p->length == 0) return 0;
  for (int a = 0; a < axes; a++) shape[a] = a < p->kept_count ? p->kept[a].size : p->reduced[a - p->kept_count].size;
  do {
    meeting m = {p->origin, {p->result_origin[0], p->result_origin[1]}, p->index_origin};
    for (int a = 0; a < axes; a++) {
      const ndr_axis *axis = a < p->kept_count ? &p->kept[a] : &p->reduced[a - p->kept_count];
      m.element += index[a] * axis->stride;
      if (a >= p->kept_count) m.index += index[a] * axis->index;
      for (int i = 0; i < 2 && a < p->kept_count; i++) m.result[i] += index[a] * axis->result[i];
    }
    out[count++] = m;
  } while (next_index(axes, shape, index));
  return count;
}

static void assert_canonical(const ndr_axis *axes, int count, const char *text) {
  for (int a = 0; a < count; a++) {
    ck_assert_msg(axes[a].size >= 2, "%s: an axis of size %lld is left", text, (long long)axes[a].size);
    ck_assert_msg(axes[a].stride >= 0, "%s: a negative stride is left", text);
    bool sorted = a == 0 || axes[a].stride == 0 || (axes[a - 1].stride != 0 && axes[a - 1].stride <= axes[a].stride);
    ck_assert_msg(sorted, "%s: axis %d is out of order", text, a);
  }
}

enum { MOST = 1500 };

static void check_view(const ndr_problem *c, rng *random) {
  static meeting expected[MOST], got[MOST];
  ndr_request request;
  ndr_canonical problem;
  ndr_op ops[2] = {c->ops[0], is_complex(c->dtype) ? NDR_SUM : NDR_ARGMAX};
  test_array layout[2];
  DLTensor array = {.ndim = c->ndim, .dtype = ndr_dtype_to_dlpack(c->dtype), .shape = (int64_t *)(uintptr_t)c->shape};
  array.strides = (int64_t *)(uintptr_t)c->strides;
  array.device.device_type = kDLCPU;
  ndr_problem both = *c;
  both.op_count = 2;
  both.keepdims = 0;
  memcpy(both.ops, ops, sizeof ops);
  assert_ok(ndr_request_make(&request, &both));
  for (int i = 0; i < 2; i++) assert_ok(array_result(&layout[i], &array, c->dim_count, c->dims, ops[i], NULL, random));
  assert_ok(ndr_request_results(&request, (const DLTensor *[]){&layout[0].tensor, &layout[1].tensor}));
  request.partial = true;
  assert_ok(ndr_canonical_make(&problem, &request));
  assert_canonical(problem.kept, problem.kept_count, case_text(c));
  assert_canonical(problem.reduced, problem.reduced_count, case_text(c));
  int64_t count = meetings_of_request(&request, expected);
  ck_assert_msg(meetings_of_problem(&problem, got) == count, "%s: other elements", case_text(c));
  if (is_complex(c->dtype)) /* without arg* the index says nothing */
    for (int64_t i = 0; i < count; i++) expected[i].index = got[i].index = 0;
  qsort(expected, (size_t)count, sizeof *expected, compare);
  qsort(got, (size_t)count, sizeof *got, compare);
  ck_assert_msg(memcmp(expected, got, (size_t)count * sizeof *got) == 0, "%s: element, output and index do not match",
                case_text(c));
  for (int i = 0; i < 2; i++) array_free(&layout[i]);
}

START_TEST(canonical_form_changes_no_meeting) {
  rng random = {test_seed()};
  for (int i = 0; i < test_case_count(4000); i++) {
    ndr_problem c = NDR_PROBLEM_INIT;
    random_case(&random, MOST, &c);
    check_view(&c, &random);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("core problem");
  suite_case(suite, "axes", 10, dims_of_size_one_are_dropped, compact_dims_merge_into_one,
             stepped_dims_merge_where_one_step_serves_both, axes_are_sorted_by_stride, broadcast_axes_come_last,
             transposed_sums_are_contiguous_again, negative_strides_are_walked_from_the_other_end,
             negative_kept_strides_move_the_result_instead, kept_dims_merge_only_if_the_result_agrees, NULL);
  suite_case(suite, "indices", 10, index_steps_are_row_major_over_the_reduced_dims,
             reduced_dims_merge_only_if_the_index_agrees, a_slab_counts_in_the_whole, NULL);
  suite_case(suite, "kinds", 10, empty_results_and_empty_reductions_are_told_apart,
             empty_reductions_begin_where_the_array_does, empty_reductions_of_ordered_ops_fail,
             scalars_have_one_output_and_one_element, options_reach_the_problem,
             operators_that_say_no_more_are_built_in_ones, NULL);
  suite_case(suite, "random views", 300, canonical_form_changes_no_meeting, NULL);
  return suite_run(suite);
}
