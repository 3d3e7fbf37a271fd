/* Operators of one's own under emulation: random ones over random layouts, beside built-in ones, against the CPU. */
#include <stdio.h>
#include <string.h>

#include "drive.h"
#include "memory.h"
#include "runtime/control.h"
#include "support/operators.h"
#include "support/suite.h"

enum { MOST_ELEMENTS = 3000, MOST_OPS = 5 };
static const char *const families[] = {"tree", "thread", "tile", NULL};

/* A case: one array, and the results of both backends. */
typedef struct trial {
  ndr_problem problem;
  ndr_options options;
  device_array array, results[MOST_OPS];
  test_array expected[MOST_OPS];
  double initial;
} trial;

static void draw(trial *t, rng *random, ndr_dtype dtype, const char *family) {
  ndr_problem *problem = &t->problem;
  directed_case(random, dtype, NDR_SUM, family ? family : "tree", MOST_ELEMENTS, problem);
  problem->op_count = (int)rng_between(random, 1, rng_once_in(random, 2) ? 2 : MOST_OPS);
  for (int i = 0; i < problem->op_count; i++) problem->ops[i] = random_operator(random, dtype, i ? 2 : 1);
  problem->skip_nan = rng_once_in(random, 3);
  if (rng_once_in(random, 4)) problem->accumulate = NDR_ACCUMULATE_F64;
}

static void place(trial *t, rng *random, const twist *how, filling fill) {
  const ndr_problem *problem = &t->problem;
  bool same_layout = rng_once_in(random, 2);
  array_of_case(&t->array.host, problem);
  array_fill(&t->array.host, random, fill);
  device_array_of(&t->array, how->device, how->past);
  for (int i = 0; i < problem->op_count; i++) {
    assert_ok(array_result(&t->results[i].host, &t->array.host.tensor, problem->dim_count, problem->dims,
                           problem->ops[i], &t->options, same_layout ? NULL : random));
    assert_ok(array_result(&t->expected[i], &t->array.host.tensor, problem->dim_count, problem->dims, problem->ops[i],
                           &t->options, NULL));
    device_array_of(&t->results[i], how->device, 0);
  }
}

static ndr_status run(trial *t, const char *family) {
  const ndr_problem *problem = &t->problem;
  DLTensor *tensors[MOST_OPS], *expected[MOST_OPS];
  for (int i = 0; i < problem->op_count; i++) {
    tensors[i] = &t->results[i].tensor;
    expected[i] = &t->expected[i].tensor;
  }
  assert_ok(ndreduce_many(&t->array.host.tensor, problem->dim_count, problem->dims, problem->op_count, problem->ops,
                          expected, &t->options));
  t->options.force_family = family;
  return ndreduce_many(&t->array.tensor, problem->dim_count, problem->dims, problem->op_count, problem->ops, tensors,
                       &t->options);
}

static void check(trial *t, filling fill) {
  char why[512] = "";
  for (int i = 0; i < t->problem.op_count; i++) {
    char text[256] = "";
    ndr_operator_print(t->problem.ops[i], text, sizeof text);
    device_fetch(&t->results[i]);
    ck_assert_msg(array_gaps_untouched(&t->results[i].host), "%s\n  written between the results", announced_case());
    ck_assert_msg(results_agree(&t->results[i].host.tensor, &t->expected[i].tensor, fill == FILL_SMALL ? 4 : 4096, why,
                                sizeof why),
                  "%s\n  operator %d %s: %s", announced_case(), i, text, why);
  }
  ck_assert_msg(!simt_guards_broken(), "%s\n  something was written outside the arrays", announced_case());
}

static void finish(trial *t) {
  for (int i = 0; i < t->problem.op_count; i++) {
    device_free(&t->results[i]);
    array_free(&t->expected[i]);
    if (t->problem.ops[i] >= NDR_OWN_OPS) ndr_operator_destroy(t->problem.ops[i]);
  }
  device_free(&t->array);
}

START_TEST(test_random_programs) {
  rng random = {test_seed() + (uint64_t)_i};
  const char *family = families[_i % 4];
  ndr_dtype dtype = (ndr_dtype)(_i / 4 % NDR_DTYPE_COUNT);
  trial t = {.problem = NDR_PROBLEM_INIT};
  draw(&t, &random, dtype, family);
  twist how = random_twist(&random, dtype);
  filling fill = rng_once_in(&random, 3) ? FILL_SPECIAL : FILL_SMALL;
  t.options = case_options(&t.problem);
  announce_case(&t.problem, family, &how, (uint64_t)_i);
  simt_controls.order = how.order;
  place(&t, &random, &how, fill);
  ndr_status status = run(&t, family);
  ck_assert_msg(status == NDR_OK || (family && status == NDR_ERR_UNSUPPORTED), "%s\n  %s", announced_case(),
                ndr_last_error());
  if (status == NDR_OK) check(&t, fill);
  finish(&t);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("programs");
  TCase *cases = tcase_create("programs");
  tcase_set_timeout(cases, 600);
  tcase_add_loop_test(cases, test_random_programs, 0, test_case_count(NDR_DTYPE_COUNT * 4));
  suite_add_tcase(suite, cases);
  return suite_run(suite);
}
