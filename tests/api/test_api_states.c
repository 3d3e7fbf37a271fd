/* Accumulators as bytes: exported and imported they give the bits of live merges, whatever the problem; another problem
 * is refused, and changes nothing. */
#include <stdio.h>
#include <stdlib.h>

#include "ndreduce/groups.h"
#include "ndreduce/operator.h"
#include "support/cases.h"
#include "support/cuts.h"
#include "support/exported.h"
#include "support/suite.h"

/* ---- round trips ---- */

enum { PARTS = 3 };

/* Merges parts into one accumulator, live and by way of bytes; and along a chain, in which each hands all it has on. */
static void compare_ways(const ndr_problem *problem, ndr_accumulator *const *parts, const char *what) {
  ndr_accumulator *live = accumulator_of(problem), *imported = accumulator_of(problem);
  ndr_accumulator *live_chain = accumulator_of(problem), *chain = accumulator_of(problem);
  for (int p = 0; p < PARTS; p++) {
    assert_ok(ndr_accumulator_merge(live, parts[p]));
    import_export(imported, parts[p]);
    ndr_accumulator *live_next = accumulator_of(problem), *next = accumulator_of(problem);
    assert_ok(ndr_accumulator_merge(live_next, parts[p]));
    assert_ok(ndr_accumulator_merge(live_next, live_chain));
    import_export(next, parts[p]);
    import_export(next, chain);
    ndr_accumulator_destroy(live_chain);
    ndr_accumulator_destroy(chain);
    live_chain = live_next;
    chain = next;
  }
  assert_equal(live, imported, what);
  assert_equal(live_chain, chain, what);
  ndr_accumulator_destroy(live);
  ndr_accumulator_destroy(imported);
  ndr_accumulator_destroy(live_chain);
  ndr_accumulator_destroy(chain);
}

static void check_case(rng *random, const ndr_problem *c, filling how) {
  test_array array;
  box boxes[MOST_BOXES];
  ndr_accumulator *parts[PARTS];
  array_of_case(&array, c);
  array_fill(&array, random, how);
  for (int p = 0; p < PARTS; p++) {
    parts[p] = accumulator_of(c);
    assert_ok(ndr_accumulator_cover(parts[p], 10 * p, rng_between(random, 0, 10)));
  }
  int count = random_boxes(random, c, boxes);
  for (int b = 0; b < count; b++) {
    DLTensor view = tensor_part(&array.tensor, &boxes[b]);
    assert_ok(ndr_accumulator_add(parts[rng_between(random, 0, PARTS - 1)], &view, boxes[b].offset));
  }
  compare_ways(c, parts, case_text(c));
  for (int p = 0; p < PARTS; p++) ndr_accumulator_destroy(parts[p]);
  array_free(&array);
}

START_TEST(random_problems_keep_their_bits) {
  rng random = {test_seed()};
  for (int i = 0; i < test_case_count(1000); i++) {
    ndr_problem c = NDR_PROBLEM_INIT;
    random_case(&random, 1000, &c);
    random_ops(&random, &c);
    check_case(&random, &c, (filling)rng_between(&random, 0, FILL_COUNT - 1));
  }
}
END_TEST

START_TEST(every_operator_of_every_dtype_keeps_its_bits) {
  rng random = {test_seed()};
  for (int op = 0; op < NDR_OP_COUNT; op++)
    for (int dtype = 0; dtype < NDR_DTYPE_COUNT; dtype++)
      for (int how = 0; op_defined((ndr_op)op, (ndr_dtype)dtype) && how < FILL_COUNT; how++) {
        ndr_problem c = NDR_PROBLEM_INIT;
        assert_ok(ndr_problem_parse("sum f32 [7,5,3] /0,2", &c));
        c.dtype = (ndr_dtype)dtype;
        c.ops[0] = (ndr_op)op;
        c.skip_nan = how % 2;
        check_case(&random, &c, (filling)how);
      }
}
END_TEST

/* ---- operands, groups, operators of one's own ---- */

enum { ROWS = 6, COLUMNS = 4, MOST_OPERANDS = 3 };

/* Adds rows of an array of values 1, 2, ..., with operands of others, to an accumulator of [ROWS,COLUMNS]. */
static void add_rows(ndr_accumulator *a, const ndr_problem *problem, int64_t first, int64_t count) {
  test_array arrays[1 + MOST_OPERANDS];
  const DLTensor *operands[MOST_OPERANDS];
  int64_t shape[] = {count, COLUMNS};
  for (int k = 0; k <= problem->operand_count; k++) {
    double values[ROWS * COLUMNS];
    ndr_dtype dtype = k == 0 ? problem->dtype : problem->operands[k - 1].dtype;
    for (int64_t i = 0; i < count * COLUMNS; i++)
      values[i] = dtype == NDR_BOOL ? (double)((first * COLUMNS + i) % 3 > 0)
                                    : (double)(1 + (7 * k + 1) * (first * COLUMNS + i) % 13) / 3;
    array_from(&arrays[k], dtype, 2, shape, values);
    if (k > 0) operands[k - 1] = &arrays[k].tensor;
  }
  assert_ok(ndr_accumulator_add_operands(a, &arrays[0].tensor, operands, (int64_t[]){first, 0}));
  for (int k = 0; k <= problem->operand_count; k++) array_free(&arrays[k]);
}

static const char *const with_operands[] = {
    "sum,mean,var,argmax f64 [6,4] /0 where=bool[4,1]",
    "mean,std f32 [6,4] /0 weights=f64[4,1] weighting=reliability",
    "sum,min f64 [6,4] /all initial=-0.1",
    "{rmse(x, y): s += (x - y)**2, n += 1 -> sqrt(s / n)},sum f32 [6,4] /0 where=bool[4,1] with=f32[4,1]",
    "{hot(x; t): n += x > t -> n}(1.5),{at(x): s += x * index(0) -> s} f64 [6,4] /0",
    "mean,logsumexp f32 [6,4] /0 groups=0:3[0,2,1,1,-1,0]",
    "mean f32 [6,4] /0 groups=0:3[0,2,1,1,-1,0] weights=f32[4,1]",
    "argmin,ptp f32 [6,4] /all keepdims groups=0,1:{0:6:4,0:4:3}",
};
enum { WITH_OPERANDS = sizeof with_operands / sizeof *with_operands };

START_TEST(operands_and_groups_keep_their_bits) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  const char *text = with_operands[_i];
  ndr_accumulator *parts[PARTS];
  assert_ok(ndr_problem_parse(text, &problem));
  for (int p = 0; p < PARTS; p++) {
    parts[p] = accumulator_of(&problem);
    add_rows(parts[p], &problem, 2 * p, 2);
  }
  compare_ways(&problem, parts, text);
  for (int p = 0; p < PARTS; p++) ndr_accumulator_destroy(parts[p]);
}
END_TEST

START_TEST(initial_counts_once) {
  int64_t out = 0, size = 1;
  DLTensor result = ndr_tensor(&out, NDR_I64, 0, NULL);
  ndr_accumulator *total = accumulator_of_text("sum i64 [4] /0 initial=100");
  for (int64_t at = 0; at < 4; at++) {
    ndr_accumulator *part = accumulator_of_text("sum i64 [4] /0 initial=100");
    DLTensor slab = ndr_tensor(&at, NDR_I64, 1, &size);
    assert_ok(ndr_accumulator_add(part, &slab, &at));
    import_export(total, part);
    ndr_accumulator_destroy(part);
    assert_ok(ndr_accumulator_finish(total, (DLTensor *[]){&result}));
    ck_assert_int_eq(out, 100 + at * (at + 1) / 2);
  }
  ndr_accumulator_destroy(total);
}
END_TEST

/* In another process an operator has another number; and it may have been destroyed. */
START_TEST(operators_are_known_by_their_text) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_accumulator *made[3];
  ndr_op ops[3];
  const char *text = "hot(x; t): n += x > t -> n";
  assert_ok(ndr_problem_parse("sum f64 [6,4] /0", &problem));
  for (int i = 0; i < 3; i++) {
    double limit = i < 2 ? 1.5 : 2.5;
    assert_ok(ndr_operator_create(&ops[i], text, &limit, 1));
    problem.ops[0] = ops[i];
    made[i] = accumulator_of(&problem);
    ndr_operator_destroy(ops[i]);
  }
  ck_assert(ops[0] != ops[1]);
  add_rows(made[1], &problem, 0, 6);
  import_export(made[0], made[1]);
  assert_equal(made[0], made[1], text);
  bytes exported = export_of(made[1]);
  assert_fails(ndr_accumulator_import(made[2], exported.at, exported.count), NDR_ERR_ARGUMENT, "n}(2.5) f64");
  free(exported.at);
  for (int i = 0; i < 3; i++) ndr_accumulator_destroy(made[i]);
}
END_TEST

/* ---- other problems ---- */

static const char *const others[] = {
    "sum f32 [4,5] /0",
    "sum f32 [4,5] /1",
    "sum f32 [4,5] /all",
    "max f32 [4,5] /0",
    "sum f64 [4,5] /0",
    "sum f32 [4,6] /0",
    "sum f32 [4,5,1] /0",
    "sum,max f32 [4,5] /0",
    "sum f32 [4,5] /0 skipnan",
    "sum f32 [4,5] /0 keepdims",
    "sum f32 [4,5] /0 ddof=1",
    "sum f32 [4,5] /0 acc=f64",
    "sum f32 [4,5] /0 initial=1",
    "sum f32 [4,5] /0 initial=2",
    "sum f32 [4,5] /0 where=bool[5,1]",
    "sum f32 [4,5] /0 weights=f32[5,1]",
    "sum f32 [4,5] /0 weights=f64[5,1]",
    "sum f32 [4,5] /0 weights=f64[5,1] weighting=reliability",
    "sum f32 [4,5] /0 groups=0:2[0,0,1,1]",
    "sum f32 [4,5] /0 groups=0:2[0,1,1,1]",
    "sum f32 [4,5] /0 groups=0:{0:4:2}",
    "{hot(x; t): n += x > t -> n}(1.5) f32 [4,5] /0",
    "{hot(x; t): n += x > t -> n}(2.5) f32 [4,5] /0",
    "{hot(x; t): n += x >= t -> n}(1.5) f32 [4,5] /0",
    "{two(x, y): s += x * y -> s} f32 [4,5] /0 with=f32[5,1]",
};
enum { OTHERS = sizeof others / sizeof *others };

START_TEST(other_problems_are_refused) {
  ndr_accumulator *made[OTHERS];
  bytes exported[OTHERS];
  for (int i = 0; i < OTHERS; i++) {
    made[i] = accumulator_of_text(others[i]);
    exported[i] = export_of(made[i]);
  }
  for (int i = 0; i < OTHERS; i++)
    for (int j = 0; j < OTHERS; j++) {
      if (i == j) continue;
      assert_fails(ndr_accumulator_import(made[i], exported[j].at, exported[j].count), NDR_ERR_ARGUMENT,
                   "is of another problem: '");
      assert_unchanged(made[i], &exported[i]);
    }
  assert_fails(ndr_accumulator_import(made[0], exported[1].at, exported[1].count), NDR_ERR_ARGUMENT,
               "another problem: 'sum f32 [4,5] /1', this one of 'sum f32 [4,5] /0'");
  for (int i = 0; i < OTHERS; i++) {
    ndr_accumulator_destroy(made[i]);
    free(exported[i].at);
  }
}
END_TEST

/* Where texts are long, the error shows them where they differ. */
START_TEST(errors_show_where_long_texts_differ) {
  static const char start[] =
      "sum,mean,prod,min,max,argmin,argmax,ptp,var,std,norm1,norm2,norminf,logsumexp,any,all,count "
      "f64 [123456,234567,8,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] /0,1 ";
  char one[512], other[512];
  snprintf(one, sizeof one, "%sddof=1", start);
  snprintf(other, sizeof other, "%sddof=2", start);
  ndr_accumulator *a = accumulator_of_text(one), *b = accumulator_of_text(other);
  bytes exported = export_of(b);
  ndr_status status = ndr_accumulator_import(a, exported.at, exported.count);
  ck_assert_int_eq(status, NDR_ERR_ARGUMENT);
  ck_assert_msg(strstr(ndr_last_error(), "ddof=2', this one of '...") && strstr(ndr_last_error(), "ddof=1'"), "%s",
                ndr_last_error());
  ndr_accumulator_destroy(a);
  ndr_accumulator_destroy(b);
  free(exported.at);
}
END_TEST

START_TEST(another_begin_is_refused) {
  const char *text = "{at(x): s += x * index(0) -> s} f64 [6,4] /0";
  ndr_accumulator *a = accumulator_of_text(text), *b = accumulator_of_text(text), *c = accumulator_of_text(text);
  assert_ok(ndr_accumulator_begin(a, (int64_t[]){0, 12}));
  assert_ok(ndr_accumulator_begin(b, (int64_t[]){0, 12}));
  import_export(a, b);
  bytes exported = export_of(a), before = export_of(c);
  assert_fails(ndr_accumulator_import(c, exported.at, exported.count), NDR_ERR_ARGUMENT, "dim 1");
  assert_unchanged(c, &before);
  free(exported.at);
  free(before.at);
  ndr_accumulator_destroy(a);
  ndr_accumulator_destroy(b);
  ndr_accumulator_destroy(c);
}
END_TEST

/* ---- what is covered ---- */

START_TEST(spans_are_joined) {
  int64_t end;
  ndr_accumulator *a = accumulator_of_text("sum f32 [4] /0"), *b = accumulator_of_text("sum f32 [4] /0");
  ck_assert(!ndr_accumulator_covered(a, 0, &end) && end == INT64_MAX);
  assert_ok(ndr_accumulator_cover(a, 2, 3));
  assert_ok(ndr_accumulator_cover(a, 9, 0));
  assert_ok(ndr_accumulator_cover(b, 5, 1));
  assert_ok(ndr_accumulator_cover(b, 0, 1));
  assert_ok(ndr_accumulator_merge(a, b));
  ck_assert(ndr_accumulator_covered(a, 0, &end) && end == 1);
  ck_assert(!ndr_accumulator_covered(a, 1, &end) && end == 2);
  ck_assert(ndr_accumulator_covered(a, 3, &end) && end == 6);
  ck_assert(!ndr_accumulator_covered(a, 9, &end) && end == INT64_MAX);
  ck_assert(!ndr_accumulator_covered(a, -5, &end) && end == 0);
  ck_assert(ndr_accumulator_covered(a, 5, NULL) && !ndr_accumulator_covered(NULL, 5, NULL));
  assert_ok(ndr_accumulator_cover(a, INT64_MAX - 1, 1));
  ck_assert(ndr_accumulator_covered(a, INT64_MAX - 1, &end) && end == INT64_MAX);
  ndr_accumulator_destroy(a);
  ndr_accumulator_destroy(b);
}
END_TEST

START_TEST(covering_checks_the_numbers) {
  ndr_accumulator *a = accumulator_of_text("sum f32 [4] /0");
  assert_ok(ndr_accumulator_cover(a, 2, 3));
  bytes before = export_of(a);
  assert_fails(ndr_accumulator_cover(a, 0, 10), NDR_ERR_ARGUMENT, "numbers 2 to 4 are covered already");
  assert_fails(ndr_accumulator_cover(a, 4, 1), NDR_ERR_ARGUMENT, "numbers 4 to 4");
  assert_fails(ndr_accumulator_cover(a, -1, 2), NDR_ERR_ARGUMENT, "2 numbers from -1 on: neither may be negative");
  assert_fails(ndr_accumulator_cover(a, 7, -2), NDR_ERR_ARGUMENT, "-2 numbers from 7 on: neither");
  assert_fails(ndr_accumulator_cover(a, INT64_MAX, 1), NDR_ERR_ARGUMENT, "2^63 - 1");
  assert_fails(ndr_accumulator_cover(a, 1, INT64_MAX), NDR_ERR_ARGUMENT, "2^63 - 1");
  assert_fails(ndr_accumulator_cover(NULL, 1, 1), NDR_ERR_ARGUMENT, "accumulator");
  assert_unchanged(a, &before);
  free(before.at);
  ndr_accumulator_destroy(a);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("api states");
  suite_case(suite, "round trips", 300, random_problems_keep_their_bits, every_operator_of_every_dtype_keeps_its_bits,
             initial_counts_once, operators_are_known_by_their_text, NULL);
  TCase *operands = tcase_create("operands");
  tcase_add_loop_test(operands, operands_and_groups_keep_their_bits, 0, WITH_OPERANDS);
  suite_add_tcase(suite, operands);
  suite_case(suite, "other problems", 120, other_problems_are_refused, errors_show_where_long_texts_differ,
             another_begin_is_refused, NULL);
  suite_case(suite, "covered", 30, spans_are_joined, covering_checks_the_numbers, NULL);
  return suite_run(suite);
}
