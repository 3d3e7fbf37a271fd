/* Measurements through the public calls on the CPU: taken, remembered, written down, read back, forgotten. What wins is
 * this machine's business and not tested; test_core_measure has a clock that can be set. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/plan.h"
#include "support/oracle.h"
#include "support/reduce.h"
#include "support/suite.h"

enum { ROWS = 60, COLUMNS = 500, TEXT = 1 << 18 };

static const ndr_options measure = {.size = sizeof measure, .planning = NDR_MEASURE, .threads = 2};
static const ndr_options estimate = {.size = sizeof estimate, .threads = 2};

static const char *exported(void) {
  static _Thread_local char text[TEXT];
  ck_assert_uint_lt(ndr_measurements_export(text, sizeof text), sizeof text);
  return text;
}

static int line_count(const char *text) {
  int lines = 0;
  for (; *text; text++) lines += *text == '\n';
  return lines;
}

static void fill(test_array *array, rng *random) {
  array_make(array, NDR_F32, 2, (int64_t[]){ROWS, COLUMNS}, NULL);
  array_fill(array, random, FILL_SMALL);
}

static void assert_sums(const test_array *array, const float *sums) {
  for (int64_t c = 0; c < COLUMNS; c++) {
    double sum = 0;
    for (int64_t r = 0; r < ROWS; r++) sum += (double)array_get(&array->tensor, (int64_t[]){r, c}).re;
    ck_assert((double)sums[c] == sum);
  }
}

/* Describes the plan that the options lead to. */
static const char *described(const char *problem, const ndr_options *options) {
  static char text[4096];
  ndr_problem c = NDR_PROBLEM_INIT;
  ndr_plan *plan;
  assert_ok(ndr_problem_parse(problem, &c));
  DLTensor array = {.device = {kDLCPU, 0},
                    .ndim = c.ndim,
                    .dtype = ndr_dtype_to_dlpack(c.dtype),
                    .shape = c.shape,
                    .strides = c.strides};
  ndr_options mine = *options;
  mine.skip_nan = c.skip_nan;
  mine.ddof = c.ddof;
  mine.keepdims = c.keepdims;
  mine.accumulate = c.accumulate;
  assert_ok(plan_array(&plan, &array, c.dim_count, c.dims, c.op_count, c.ops, NULL, &mine));
  ndr_plan_describe(plan, text, sizeof text);
  ndr_plan_destroy(plan);
  return text;
}

static void assert_chosen(const char *problem, const ndr_options *options, const char *family) {
  const char *line = strchr(described(problem, options), '\n') + 1;
  ck_assert_msg(strncmp(line, family, strlen(family)) == 0, "%s: not %s but %s", problem, family, line);
}

/* ---- measuring ---- */

START_TEST(measuring_reduces_and_remembers) {
  test_array array;
  rng random = {test_seed()};
  float sums[COLUMNS];
  DLTensor result = ndr_tensor(sums, NDR_F32, NDR_SHAPE(COLUMNS));
  fill(&array, &random);
  for (int round = 0; round < 3; round++) {
    memset(sums, 0, sizeof sums);
    assert_ok(ndreduce(&array.tensor, NDR_DIMS(0), NDR_SUM, &result, &measure));
    assert_sums(&array, sums);
    ck_assert_int_eq(line_count(exported()), 1);
  }
  ck_assert_msg(strncmp(exported(), "sum f32 [60,500] /0 on cpu 2 threads: ", 38) == 0, "%s", exported());
  ck_assert_ptr_nonnull(strstr(described("sum f32 [60,500] /0", &estimate), ", measured "));
  ck_assert_ptr_null(strstr(described("sum f32 [60,501] /0", &estimate), "measured"));
  array_free(&array);
}
END_TEST

START_TEST(planning_touches_nothing_of_the_caller_s) {
  test_array array;
  rng random = {test_seed()};
  float sums[COLUMNS];
  DLTensor result = ndr_tensor(sums, NDR_F32, NDR_SHAPE(COLUMNS));
  ndr_plan *plan;
  ndr_op op = NDR_SUM;
  fill(&array, &random);
  void *copy = malloc(array.bytes);
  ck_assert_ptr_nonnull(copy);
  memcpy(copy, array.memory, array.bytes);
  for (int c = 0; c < COLUMNS; c++) sums[c] = -7;
  assert_ok(plan_array(&plan, &array.tensor, NDR_DIMS(0), 1, &op, (const DLTensor *[]){&result}, &measure));
  for (int c = 0; c < COLUMNS; c++) ck_assert(sums[c] == -7);
  ck_assert(memcmp(copy, array.memory, array.bytes) == 0);
  assert_ok(ndr_plan_execute(plan, array.memory, (void *[]){sums}, NULL, 0, NULL));
  assert_sums(&array, sums);
  ndr_plan_destroy(plan);
  free(copy);
  array_free(&array);
}
END_TEST

START_TEST(random_problems_are_measured) {
  rng random = {test_seed()};
  int count = test_case_count(60);
  for (int i = 0; i < count; i++) {
    ndr_problem problem = NDR_PROBLEM_INIT;
    test_array array, result;
    char why[512];
    random_case(&random, 3000, &problem);
    array_of_case(&array, &problem);
    array_fill(&array, &random, random_filling(&random, problem.ops[0]));
    ndr_options options = case_options(&problem);
    options.planning = NDR_MEASURE;
    assert_ok(case_reduce(&problem, 0, &array.tensor, &options, &result, &random));
    ck_assert_msg(oracle_accepts(&problem, problem.ops[0], &array.tensor, &result.tensor, why, sizeof why), "%s: %s",
                  case_text(&problem), why);
    array_free(&result);
    array_free(&array);
  }
  char *before = strdup(exported());
  ck_assert_int_gt(line_count(before), 0);
  ndr_measurements_forget();
  assert_ok(ndr_measurements_import(before));
  ck_assert_str_eq(exported(), before);
  free(before);
}
END_TEST

START_TEST(accumulators_measure_their_slabs) {
  test_array array;
  rng random = {test_seed()};
  float sums[COLUMNS];
  DLTensor result = ndr_tensor(sums, NDR_F32, NDR_SHAPE(COLUMNS)), *results[] = {&result};
  ndr_accumulator *accumulator;
  ndr_op op = NDR_SUM;
  fill(&array, &random);
  assert_ok(accumulate_array(&accumulator, (DLDevice){kDLCPU, 0}, NDR_F32, 2, (int64_t[]){ROWS, COLUMNS}, NDR_DIMS(0),
                             1, &op, &measure));
  assert_ok(ndr_accumulator_add(accumulator, &array.tensor, (int64_t[]){0, 0}));
  assert_ok(ndr_accumulator_finish(accumulator, results));
  assert_sums(&array, sums);
  ck_assert_ptr_nonnull(strstr(exported(), "sum f32 [60,500] /0 on cpu 2 threads: "));
  ndr_accumulator_destroy(accumulator);
  array_free(&array);
}
END_TEST

START_TEST(what_cannot_be_timed_is_estimated) {
  ndr_device device = {.size = sizeof device, .type = kDLCPU, .units = 96, .bandwidth = 3e11};
  ndr_options options = measure;
  options.device = &device;
  ck_assert_ptr_nonnull(strstr(described("sum f32 [60,500] /0", &options), "\nnot measured: the device was described"));
  ck_assert_ptr_nonnull(strstr(described("sum f32 [100000,100000] /0", &measure), "\nnot measured: "));
  options = measure;
  options.force_family = "scalar";
  ck_assert_ptr_nonnull(strstr(described("sum f32 [60,500] /0", &options), "(forced)"));
  described("sum f32 [60,0] /1", &measure);
  described("sum f32 [] /", &measure);
  ck_assert_str_eq(exported(), "");
}
END_TEST

/* ---- the text ---- */

START_TEST(an_imported_choice_is_taken_in_both_modes) {
  assert_ok(ndr_measurements_import("# from another run\n\n"
                                    "  sum f32 [60,500] /0 on cpu 2 threads: scalar 1 us, rows 2.5 us\r\n"
                                    "sum f32 [500:1,60:500] /1 skipnan on cpu 2 threads: tile 3e1 us"));
  assert_chosen("sum f32 [60,500] /0", &estimate, "scalar");
  assert_chosen("sum f32 [60,500] /0", &measure, "scalar");
  assert_chosen("sum f32 [60,500] /0 keepdims ddof=1", &estimate, "scalar");
  assert_chosen("sum f32 [60:-500,500] /0", &estimate, "scalar");
  assert_chosen("sum f32 [3,20,500] /0,1", &estimate, "scalar");
  assert_chosen("sum f32 [60,500] /0 skipnan", &estimate, "tile");
  /* other problems, another number of threads */
  const ndr_options one = {.size = sizeof one, .threads = 1};
  assert_chosen("sum f32 [60,500] /0", &one, "rows");
  assert_chosen("sum f64 [60,500] /0", &estimate, "rows");
  assert_chosen("sum f32 [60,501] /0", &estimate, "rows");
  assert_chosen("max f32 [60,500] /0", &estimate, "rows");
  assert_chosen("sum f32 [60,500] /0 acc=f64", &estimate, "rows");
  ck_assert_str_eq(exported(), "sum f32 [60,500] /0 on cpu 2 threads: scalar 1 us, rows 2.5 us\n"
                               "sum f32 [60,500] /0 skipnan on cpu 2 threads: tile 30 us\n");
}
END_TEST

START_TEST(later_lines_and_imports_replace_earlier_ones) {
  assert_ok(ndr_measurements_import("sum f32 [60,500] /0 on cpu 2 threads: scalar 1 us\n"
                                    "sum f32 [60,500] /0 on cpu 2 threads: tile 1 us\n"));
  assert_chosen("sum f32 [60,500] /0", &estimate, "tile");
  assert_ok(ndr_measurements_import("sum f32 [60,500] /0 on cpu 2 threads: scalar 1 us"));
  assert_chosen("sum f32 [60,500] /0", &estimate, "scalar");
  ck_assert_int_eq(line_count(exported()), 1);
  ndr_measurements_forget();
  assert_chosen("sum f32 [60,500] /0", &estimate, "rows");
  ck_assert_str_eq(exported(), "");
}
END_TEST

START_TEST(a_choice_that_cannot_run_is_passed_over) {
  assert_ok(ndr_measurements_import("sum f32 [60,500] /0 on cpu 2 threads: runs 1 us\n"));
  assert_chosen("sum f32 [60,500] /0", &estimate, "rows");
}
END_TEST

static const char *family_held(const DLTensor *array, const DLTensor *result, const ndr_options *options) {
  ndr_plan *plan;
  ndr_op op = NDR_SUM;
  const ndr_call call = {array, NDR_DIMS(0), 1, &op, &result, options};
  assert_ok(ndr_plan_hold(&plan, &call));
  const char *name = plan->family->name;
  ndr_plan_let_go(plan);
  return name;
}

START_TEST(cached_plans_follow) {
  static float x[ROWS * COLUMNS], sums[COLUMNS];
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(ROWS, COLUMNS)),
           result = ndr_tensor(sums, NDR_F32, NDR_SHAPE(COLUMNS));
  ck_assert_str_eq(family_held(&array, &result, &estimate), "rows");
  assert_ok(ndr_measurements_import("sum f32 [60,500] /0 on cpu 2 threads: scalar 1 us"));
  ck_assert_str_eq(family_held(&array, &result, &estimate), "scalar");
  ck_assert_str_eq(family_held(&array, &result, &measure), "scalar");
  ndr_measurements_forget();
  ck_assert_str_eq(family_held(&array, &result, &estimate), "rows");
}
END_TEST

START_TEST(bad_lines_are_refused_and_change_nothing) {
  static const struct {
    const char *line, *reason;
  } bad[] = {
      {"nonsense", "does not say on which device"},
      {"sum f32 [60,500 /0 on cpu 2 threads: rows 1 us", "column 17"},
      {"sum f33 [60,500] /0 on cpu 2 threads: rows 1 us", "expected a dtype"},
      {"max c64 [60] /0 on cpu 2 threads: rows 1 us", "max"},
      {"sum f32 [60,500] /2 on cpu 2 threads: rows 1 us", "dim 2 is out of range"},
      {"sum f32 [60,0] /1 on cpu 2 threads: rows 1 us", "nothing to reduce"},
      {"max f32 [60,0] /1 on cpu 2 threads: rows 1 us", "max over no elements"},
      {"sum f32 [9:9223372036854775807] /0 on cpu 2 threads: rows 1 us", "62 bits"},
      {"sum f32 [60] /0 on abacus 2 threads: rows 1 us", "no backend 'abacus'"},
      {"sum f32 [60] /0 on cpu threads: rows 1 us", "after 'on cpu'"},
      {"sum f32 [60] /0 on cpu 0 threads: rows 1 us", "after 'on cpu'"},
      {"sum f32 [60] /0 on cpu 99999999999999999999 threads: rows 1 us", "after 'on cpu'"},
      {"sum f32 [60] /0 on cpu 2 SMs sm_90: rows 1 us", "after 'on cpu'"},
      {"sum f32 [60] /0 on cpu 2 threads:", "after 'on cpu'"},
      {"sum f32 [60] /0 on cpu 2 threads: tree 1 us", "backend cpu has no family 'tree'"},
      {"sum f32 [60] /0 on cpu 2 threads: rows", "family rows has no time"},
      {"sum f32 [60] /0 on cpu 2 threads: rows 1 ms", "family rows has no time"},
      {"sum f32 [60] /0 on cpu 2 threads: rows -1 us", "family rows has no time"},
      {"sum f32 [60] /0 on cpu 2 threads: rows nan us", "family rows has no time"},
      {"sum f32 [60] /0 on cpu 2 threads: rows inf us", "family rows has no time"},
      {"sum f32 [60] /0 on cpu 2 threads: rows 0 us", "family rows has no time"},
      {"sum f32 [60] /0 on cpu 2 threads: rows 1 us, rows 2 us", "named twice"},
      {"sum f32 [60] /0 on cpu 2 threads: rows 1 us,", "',' follows"},
      {"sum f32 [60] /0 on cpu 2 threads: rows 1 us; fast", "'; fast' follows"},
  };
  static const char good[] = "sum f32 [60,500] /0 on cpu 2 threads: scalar 1 us\n";
  char text[512];
  assert_ok(ndr_measurements_import(good));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    snprintf(text, sizeof text, "sum f32 [7,9] /0 on cpu 2 threads: tile 1 us\n\n%s\n%s", bad[i].line, good);
    assert_fails(ndr_measurements_import(text), NDR_ERR_PARSE, bad[i].reason);
    ck_assert_msg(strncmp(ndr_last_error(), "line 3: ", 8) == 0, "%s", ndr_last_error());
    ck_assert_str_eq(exported(), good);
  }
  assert_fails(ndr_measurements_import(NULL), NDR_ERR_ARGUMENT, "null");
}
END_TEST

START_TEST(a_line_too_long_is_refused) {
  static char text[1 << 14];
  memset(text, 'a', sizeof text - 1);
  assert_fails(ndr_measurements_import(text), NDR_ERR_PARSE, "line 1: it is longer than");
}
END_TEST

START_TEST(the_longest_problem_survives) {
  char text[4096];
  size_t length = 0;
  for (int i = 0; i < NDR_MAX_OPS; i++) ndr_text_append(text, sizeof text, &length, "%sargmax", i ? "," : "");
  ndr_text_append(text, sizeof text, &length, " bf16 [");
  for (int d = 0; d < NDR_MAX_DIMS; d++)
    ndr_text_append(text, sizeof text, &length, "%s2:%lld", d ? "," : "", 36028797018963968 - 1 - 3 * (d + 1) * 17LL);
  ndr_text_append(text, sizeof text, &length, "] /0 skipnan acc=f64 on cpu 1048576 threads: scalar 1e+300 us\n");
  assert_ok(ndr_measurements_import(text));
  char *before = strdup(exported());
  ck_assert_int_eq(line_count(before), 1);
  ndr_measurements_forget();
  assert_ok(ndr_measurements_import(before));
  ck_assert_str_eq(exported(), before);
  free(before);
}
END_TEST

START_TEST(memory_is_bounded) {
  enum { MOST = 1024 };
  static char text[TEXT];
  size_t length = 0;
  for (int i = 1; i <= MOST; i++)
    ndr_text_append(text, sizeof text, &length, "sum u8 [%d,3] /0 on cpu 2 threads: tile 1 us\n", i + 1);
  assert_ok(ndr_measurements_import(text));
  ck_assert_str_eq(exported(), text);
  assert_ok(ndr_measurements_import("sum u8 [7777,3] /0 on cpu 2 threads: rows 1 us"));
  ck_assert_int_eq(line_count(exported()), MOST);
  ck_assert_ptr_null(strstr(exported(), "[2,3]")); /* the oldest gave way */
  ck_assert_ptr_nonnull(strstr(exported(), "sum u8 [3,3]"));
  const char *last = strstr(exported(), "sum u8 [7777,3]");
  ck_assert(last && strchr(last, '\n')[1] == 0);
  ndr_text_append(text, sizeof text, &length, "sum u8 [7,3] /0 on cpu 2 threads: tile 1 us\n");
  assert_fails(ndr_measurements_import(text), NDR_ERR_PARSE, "line 1025: at most 1024");
}
END_TEST

START_TEST(exporting_is_cut_like_snprintf) {
  static const char text[] = "sum f32 [60,500] /0 on cpu 2 threads: scalar 1 us\n";
  char cut[sizeof text + 8];
  assert_ok(ndr_measurements_import(text));
  ck_assert_uint_eq(ndr_measurements_export(NULL, 0), sizeof text - 1);
  for (size_t capacity = 1; capacity <= sizeof text; capacity++) {
    memset(cut, '#', sizeof cut);
    ck_assert_uint_eq(ndr_measurements_export(cut, capacity), sizeof text - 1);
    ck_assert(strlen(cut) == capacity - 1 && strncmp(cut, text, capacity - 1) == 0 && cut[capacity] == '#');
  }
}
END_TEST

/* ---- several threads ---- */

enum { THREADS = 4, ROUNDS = 30 };

typedef struct worker {
  pthread_t thread;
  test_array array;
  uint64_t seed;
  int wrong;
} worker;

static void *work(void *argument) {
  worker *w = argument;
  rng random = {w->seed};
  static const char text[] =
      "sum f32 [60,500] /0 on cpu 2 threads: tile 1 us\nsum f32 [5,6] /0 on cpu 2 threads: tile 1 us";
  for (int round = 0; round < ROUNDS; round++) {
    float sums[COLUMNS] = {0};
    DLTensor result = ndr_tensor(sums, NDR_F32, NDR_SHAPE(COLUMNS));
    char out[1024];
    w->wrong +=
        ndreduce(&w->array.tensor, NDR_DIMS(0), NDR_SUM, &result, rng_once_in(&random, 2) ? &measure : &estimate) != 0;
    for (int64_t c = 0; c < COLUMNS; c += 50) {
      double sum = 0;
      for (int64_t r = 0; r < ROWS; r++) sum += (double)array_get(&w->array.tensor, (int64_t[]){r, c}).re;
      w->wrong += (double)sums[c] != sum;
    }
    if (rng_once_in(&random, 3)) ndr_measurements_forget();
    if (rng_once_in(&random, 3)) w->wrong += ndr_measurements_import(text) != NDR_OK;
    w->wrong += ndr_measurements_export(out, sizeof out) >= sizeof out;
  }
  return NULL;
}

START_TEST(threads_may_do_all_at_once) {
  static worker workers[THREADS];
  for (int t = 0; t < THREADS; t++) {
    workers[t].seed = test_seed() + (uint64_t)t;
    fill(&workers[t].array, &(rng){workers[t].seed});
    ck_assert_int_eq(pthread_create(&workers[t].thread, NULL, work, &workers[t]), 0);
  }
  for (int t = 0; t < THREADS; t++) {
    pthread_join(workers[t].thread, NULL);
    ck_assert_int_eq(workers[t].wrong, 0);
    array_free(&workers[t].array);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("api measure");
  suite_case(suite, "measuring", 120, measuring_reduces_and_remembers, planning_touches_nothing_of_the_caller_s,
             random_problems_are_measured, accumulators_measure_their_slabs, what_cannot_be_timed_is_estimated, NULL);
  suite_case(suite, "text", 60, an_imported_choice_is_taken_in_both_modes, later_lines_and_imports_replace_earlier_ones,
             a_choice_that_cannot_run_is_passed_over, cached_plans_follow, bad_lines_are_refused_and_change_nothing,
             a_line_too_long_is_refused, the_longest_problem_survives, memory_is_bounded,
             exporting_is_cut_like_snprintf, NULL);
  suite_case(suite, "threads", 300, threads_may_do_all_at_once, NULL);
  return suite_run(suite);
}
