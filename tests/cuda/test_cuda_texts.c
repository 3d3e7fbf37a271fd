/* The texts of kernels that are generated, through the NVRTC of this machine, which needs no GPU: random operators of
 * one's own, alone and beside others, with any facts of a launch, for the oldest and a new architecture. */
#include <stdio.h>
#include <stdlib.h>

#include "core/request/canonical.h"
#include "cuda/compile/compiler.h"
#include "cuda/compile/generate.h"
#include "cuda/scan/select_text.h"
#include "ndreduce/operator.h"
#include "spec/params.h"
#include "support/cases.h"
#include "support/operators.h"
#include "support/suite.h"

enum { MOST_OPS = 3, SKIPPED = 77 };
static const int architectures[] = {75, 90};

/* Compiles the text for each architecture; returns the milliseconds of the last. */
static double compile(const char *source, const char *what) {
  double milliseconds = 0;
  for (size_t a = 0; a < sizeof architectures / sizeof *architectures; a++) {
    void *code = NULL;
    size_t bytes = 0;
    double start = test_clock();
    ndr_status status = ndr_cuda_compile_text(source, architectures[a], &code, &bytes);
    milliseconds = 1e3 * (test_clock() - start);
    ck_assert_msg(status == NDR_OK, "%s for sm_%d: %s\n%s", what, architectures[a], ndr_last_error(), source);
    ck_assert_uint_gt(bytes, 0);
    free(code);
  }
  return milliseconds;
}

static char *generate(const ndr_cuda_operators *operators, const ndr_cuda_template *kernel) {
  size_t length = operators ? ndr_cuda_generate(operators, kernel, NULL, 0) : 0;
  char *text = malloc(length + 1);
  ck_assert_uint_eq(ndr_cuda_generate(operators, kernel, text, length + 1), length);
  return text;
}

static void compile_finish(const ndr_program *program) {
  size_t length = ndr_cuda_generate_finish(program, NULL, 0);
  char *text = malloc(length + 1);
  ndr_cuda_generate_finish(program, text, length + 1);
  compile(text, "the finish of states");
  free(text);
}

static double run_case(rng *random, ndr_dtype dtype, ndr_kernel kernel) {
  int64_t shape[2] = {64, 4096};
  DLTensor array = ndr_tensor(NULL, dtype, 2, shape);
  ndr_op ops[MOST_OPS];
  int count = rng_once_in(random, 2) ? 1 : (int)rng_between(random, 2, MOST_OPS);
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_request request;
  ndr_canonical canonical;
  for (int i = 0; i < count; i++) ops[i] = random_operator(random, dtype, i ? 2 : 1);
  assert_ok(ndr_problem_make(&problem, &array, NDR_DIMS(1), count, ops));
  problem.skip_nan = rng_once_in(random, 3);
  problem.accumulate = rng_once_in(random, 4) ? NDR_ACCUMULATE_F64 : NDR_ACCUMULATE_DEFAULT;
  assert_ok(ndr_request_make(&request, &problem));
  assert_ok(ndr_canonical_make(&canonical, &request));
  const ndr_cuda_operators operators = {&canonical, 0, count};
  unsigned facts = (unsigned)rng_between(random, 0, 2 * NDR_FACT_LONG_RUNS - 1);
  char *source = generate(&operators, &(ndr_cuda_template){.kind = kernel, .facts = facts});
  double milliseconds = compile(source, case_text(&problem));
  if (rng_once_in(random, 4) && canonical.programs[0]) compile_finish(canonical.programs[0]);
  free(source);
  ndr_canonical_free(&canonical);
  ndr_request_free(&request);
  for (int i = 0; i < count; i++)
    if (ndr_op_is_own(ops[i])) ndr_operator_destroy(ops[i]);
  return milliseconds;
}

START_TEST(random_texts_compile) {
  rng random = {test_seed() + (uint64_t)_i};
  ndr_dtype dtype = (ndr_dtype)_i;
  int cases = test_case_count(4);
  double total = 0;
  for (int i = 0; i < cases; i++)
    total += run_case(&random, dtype, (ndr_kernel)rng_between(&random, 0, NDR_PLAN_KERNELS - 1));
  printf("%s: %.0f ms a kernel\n", ndr_dtype_name(dtype), total / cases);
}
END_TEST

/* Each kernel of selections, for elements of several sizes and what may be known of them. */
START_TEST(selections_compile) {
  static const int sizes[][2] = {{1, 1}, {2, 2}, {4, 4}, {6, 2}, {8, 4}, {12, 4}, {16, 16}, {16, 1}};
  static const unsigned known[] = {0, NDR_SELECT_DENSE_MASK | NDR_SELECT_DENSE_FROM | NDR_SELECT_DENSE_TO,
                                   NDR_SELECT_COLUMNS | NDR_SELECT_FAR};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int k = 0; k < 3; k++) {
      char text[512], what[64];
      ndr_select_launch launch = {.kernel = (ndr_select_kernel)_i,
                                  .bytes = sizes[i][0],
                                  .unit = sizes[i][1],
                                  .truth = (ndr_dtype)((int)(3 * i + (size_t)k) % NDR_DTYPE_COUNT),
                                  .known = known[k] | (i % 2 ? NDR_SELECT_BOTH : 0),
                                  .residents = 4};
      size_t length = ndr_cuda_generate_select(&launch, text, sizeof text);
      ck_assert_uint_lt(length, sizeof text);
      snprintf(what, sizeof what, "kernel %d of selections", _i);
      compile(text, what);
    }
}
END_TEST

int main(void) {
  if (!ndr_cuda_can_compile()) {
    puts("skipped: NVRTC was not found");
    return SKIPPED;
  }
  Suite *suite = suite_create("cuda texts");
  TCase *cases = tcase_create("texts");
  tcase_set_timeout(cases, 600);
  tcase_add_loop_test(cases, random_texts_compile, 0, NDR_DTYPE_COUNT);
  tcase_add_loop_test(cases, selections_compile, NDR_SELECT_ELEMENTS, NDR_SELECT_SLICES + 1);
  suite_add_tcase(suite, cases);
  return suite_run(suite);
}
