/* NDR_MEASURE over a backend made up for the purpose: its clock shows what the families are said to take, not what the
 * machine happens to do. Its device works while the host goes on, and may have a cache. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/measure/measure.h"
#include "core/measure/measurements.h"
#include "core/measure/trial.h"
#include "support/suite.h"

/* ---- the backend ---- */

enum { CACHE = 1 << 20 };
static const double sweep_rate = CACHE / 10e-6;

static struct {
  double host, device;          /* when each has done what it was given */
  double seconds[3], cached[3]; /* that one execute of each family takes, and from the cache where that differs */
  double first[3];              /* the host's for each family's first launch */
  double launch;                /* and for each one */
  double hiccup[3];             /* what the first and the tenth execute take more */
  int executes[3], sweeps;      /* of the problem asked for, of others */
  int64_t cache, stays;         /* bytes; those of others to be read until the array is no longer in the cache */
  ndr_op swept;                 /* by which operator */
  int live, clocks;             /* allocations not yet released, clocks not yet stopped */
  int allocations_left;         /* -1: all */
  bool no_clock, fails;
} toy;

static int number_of(const ndr_plan *plan) {
  return plan->family->name[0] - 'a';
}

static const char *reject_short(const ndr_canonical *problem, const ndr_device *device, char *text) {
  (void)device, (void)text;
  return problem->length < 100 ? "short" : NULL;
}

static const char *reject_nothing(const ndr_canonical *problem, const ndr_device *device, char *text) {
  (void)problem, (void)device, (void)text;
  return NULL;
}

static double cost_1(const ndr_canonical *problem, const ndr_device *device) {
  (void)problem, (void)device;
  return 1e-6;
}

static double cost_2(const ndr_canonical *problem, const ndr_device *device) {
  return 2 * cost_1(problem, device);
}

static double cost_of_c(const ndr_canonical *problem, const ndr_device *device) {
  return (problem->length > 10000 ? 2 : 0.5) * NDR_HOPELESS * cost_1(problem, device);
}

static void configure(ndr_plan *plan) {
  plan->workspace = 64;
}

static size_t describe(const ndr_plan *plan, char *text, size_t capacity) {
  (void)plan;
  return (size_t)snprintf(text, capacity, "toy");
}

static const ndr_family a = {"a", reject_nothing, cost_1, configure, describe};
static const ndr_family b = {"b", reject_short, cost_2, configure, describe};
static const ndr_family c = {"c", reject_nothing, cost_of_c, configure, describe};
static const ndr_family *const families[] = {&a, &b, &c, NULL};

static double latest(void) {
  return toy.host > toy.device ? toy.host : toy.device;
}

static double time_asked(int family) {
  bool cached = toy.stays > 0 && toy.cached[family] > 0;
  int before = toy.executes[family]++;
  toy.stays = toy.cache;
  if (before == 0) toy.host += toy.first[family];
  return (cached ? toy.cached[family] : toy.seconds[family]) + (before == 0 || before == 9 ? toy.hiccup[family] : 0);
}

/* Whatever has one output is no problem of these tests. */
static double time_sweep(const ndr_plan *plan) {
  int64_t bytes = plan->problem.length * (int64_t)sizeof(float);
  toy.stays -= bytes;
  toy.swept = plan->problem.ops[0];
  toy.sweeps++;
  return (double)bytes / sweep_rate;
}

static ndr_status execute(const ndr_plan *plan, const void *const *data, void *const *results, void *workspace,
                          void *stream) {
  (void)stream;
  double seconds = plan->problem.outputs == 1 ? time_sweep(plan) : time_asked(number_of(plan));
  toy.host += toy.launch;
  toy.device = latest() + seconds;
  ck_assert_ptr_nonnull(workspace);
  /* Scratch is as large as the problem. */
  ck_assert_int_eq(((const float *)data[0])[plan->problem.outputs * plan->problem.length - 1] > 1, 0);
  size_t bytes = ndr_dtype_bytes(ndr_op_result(plan->problem.ops[0], plan->problem.dtype));
  memset((char *)results[0] + (size_t)(plan->problem.outputs - 1) * bytes, 1, bytes);
  return toy.fails ? ndr_fail(NDR_ERR_DEVICE, "the toy is broken") : NDR_OK;
}

static ndr_status allocate(int id, size_t bytes, void *stream, void **memory) {
  (void)id, (void)stream;
  *memory = toy.allocations_left ? malloc(bytes) : NULL;
  if (!*memory) return ndr_fail(NDR_ERR_MEMORY, "the toy is full");
  if (toy.allocations_left > 0) toy.allocations_left--;
  toy.live++;
  return NDR_OK;
}

static void release(int id, void *memory, void *stream) {
  (void)id, (void)stream;
  toy.live -= memory != NULL;
  free(memory);
}

static ndr_status clock_start(int id, void *stream, void **clock) {
  (void)id, (void)stream;
  if (toy.no_clock) return ndr_fail(NDR_ERR_UNSUPPORTED, "the toy has no clock");
  double *started = malloc(sizeof *started);
  ck_assert_ptr_nonnull(started);
  *started = latest();
  toy.clocks++;
  *clock = started;
  return NDR_OK;
}

static ndr_status clock_stop(int id, void *stream, void *clock, double *seconds) {
  (void)id, (void)stream;
  *seconds = latest() - *(double *)clock;
  toy.host = latest();
  toy.clocks--;
  free(clock);
  return NDR_OK;
}

static ndr_status identity(const ndr_state *state, int id, uint64_t *states, int64_t count, void *stream) {
  (void)id, (void)stream;
  ndr_state_identity(state, states, count, count);
  return NDR_OK;
}

static const ndr_backend backend = {.name = "toy",
                                    .families = families,
                                    .execute = execute,
                                    .allocate = allocate,
                                    .release = release,
                                    .clock_start = clock_start,
                                    .clock_stop = clock_stop,
                                    .states_identity = identity};

static void set_up(void) {
  ndr_measurements_drop_all();
  memset(&toy, 0, sizeof toy);
  toy.allocations_left = -1;
  toy.seconds[0] = 30e-6;
  toy.seconds[1] = 20e-6;
  toy.seconds[2] = 10e-6;
}

/* Whatever happened, nothing is left behind. */
static void tear_down(void) {
  ck_assert_int_eq(toy.live, 0);
  ck_assert_int_eq(toy.clocks, 0);
}

static ndr_plan plan_over(int64_t length) {
  ndr_plan plan = {.backend = &backend,
                   .device = {.type = kDLCUDA, .units = 4, .l2_bytes = toy.cache, .capability = 90}};
  plan.problem = (ndr_canonical){.dtype = NDR_F32, .op_count = 1, .outputs = 3, .length = length, .kept_count = 1};
  plan.problem.kept[0] = (ndr_axis){.size = 3, .stride = length, .result = {1}};
  plan.problem.reduced[0] = (ndr_axis){.size = length, .stride = 1};
  plan.problem.reduced_count = 1;
  assert_ok(ndr_plan_choose(&plan, NULL));
  return plan;
}

static void assert_text(const ndr_plan *plan, const char *part) {
  char text[2048];
  ndr_plan_describe(plan, text, sizeof text);
  ck_assert_msg(strstr(text, part) != NULL, "'%s' is not in:\n%s", part, text);
}

/* ---- tests ---- */

START_TEST(the_fastest_wins_whatever_was_predicted) {
  ndr_plan plan = plan_over(1000);
  ck_assert_ptr_eq(plan.family, &a);
  assert_ok(ndr_plan_measure(&plan, NULL, NULL));
  ck_assert_ptr_eq(plan.family, &c);
  assert_text(&plan, "\nc       3 outputs x 1000, reads 12 KB, writes 12 B, workspace 64 B, predicted 8 us, "
                     "measured 10 us\n        toy\n");
  assert_text(&plan, "\na       slower: predicted 1 us, measured 30 us\n");
  assert_text(&plan, "\nb       slower: predicted 2 us, measured 20 us\n");
  for (int f = 0; f < 3; f++) ck_assert_int_ge(toy.executes[f], 2);
}
END_TEST

START_TEST(hiccups_do_not_decide) {
  toy.hiccup[0] = toy.hiccup[1] = toy.hiccup[2] = 10e-3;
  ndr_plan plan = plan_over(1000);
  assert_ok(ndr_plan_measure(&plan, NULL, NULL));
  ck_assert_ptr_eq(plan.family, &c);
  assert_text(&plan, "predicted 8 us, measured 10 us\n");
}
END_TEST

static void assert_c_wins(const char *seconds) {
  char measured[64];
  ndr_plan plan = plan_over(1000);
  assert_ok(ndr_plan_measure(&plan, NULL, NULL));
  ck_assert_ptr_eq(plan.family, &c);
  snprintf(measured, sizeof measured, "predicted 8 us, measured %s\n", seconds);
  assert_text(&plan, measured);
}

START_TEST(arrays_come_from_memory) {
  toy.cache = CACHE;
  for (int f = 0; f < 3; f++) toy.cached[f] = (1 + f) * 1e-6;
  assert_c_wins("10 us");
}
END_TEST

START_TEST(launches_are_not_timed) {
  toy.cache = CACHE;
  toy.launch = 5e-6;
  for (int f = 0; f < 3; f++) toy.seconds[f] = (3 - f) * 1e-6;
  assert_c_wins("1 us");
  ck_assert_int_eq(toy.sweeps, toy.executes[0] + toy.executes[1] + toy.executes[2]);
}
END_TEST

START_TEST(lucky_turns_do_not_decide) {
  toy.cache = CACHE;
  toy.hiccup[0] = -29e-6;
  assert_c_wins("10 us");
  ck_assert_int_ge(toy.executes[0], 15);
}
END_TEST

START_TEST(loading_is_not_timed) {
  toy.cache = CACHE;
  toy.first[2] = 0.2;
  assert_c_wins("10 us");
  ck_assert_int_ge(toy.executes[2], 15);
}
END_TEST

START_TEST(the_sweep_is_another_kernel) {
  toy.cache = CACHE;
  for (ndr_op op = NDR_SUM; op < NDR_OP_COUNT; op++) {
    ndr_plan plan = plan_over(1000);
    plan.problem.ops[0] = op;
    assert_ok(ndr_plan_measure(&plan, NULL, NULL));
    ck_assert_int_gt(toy.sweeps, 0);
    ck_assert_int_ne(toy.swept, op);
  }
}
END_TEST

START_TEST(the_model_s_choice_stands_within_the_noise) {
  toy.seconds[1] = toy.seconds[0] * 0.99;
  toy.seconds[2] = 1;
  ndr_plan plan = plan_over(1000);
  assert_ok(ndr_plan_measure(&plan, NULL, NULL));
  ck_assert_ptr_eq(plan.family, &a);
  assert_text(&plan, "\nb       not clearly faster: predicted 2 us, measured 29.7 us\n");
  ck_assert_int_le(toy.executes[2], 2); /* out of the race at once */
}
END_TEST

START_TEST(the_hopeless_are_not_tried) {
  ndr_plan plan = plan_over(20000);
  assert_ok(ndr_plan_measure(&plan, NULL, NULL));
  ck_assert_ptr_eq(plan.family, &b);
  ck_assert_int_eq(toy.executes[2], 0);
  assert_text(&plan, "\nc       not measured: predicted 32 us\n");
}
END_TEST

START_TEST(families_that_reject_are_not_tried) {
  ndr_plan plan = plan_over(50);
  assert_ok(ndr_plan_measure(&plan, NULL, NULL));
  ck_assert_ptr_eq(plan.family, &c);
  ck_assert_int_eq(toy.executes[1], 0);
  assert_text(&plan, "\nb       rejected: short\n");
}
END_TEST

START_TEST(plans_to_come_take_what_was_measured) {
  ndr_plan plan = plan_over(1000);
  assert_ok(ndr_plan_measure(&plan, NULL, NULL));
  int executes = toy.executes[0];
  ndr_plan again = plan_over(1000), other = plan_over(1001);
  ck_assert_ptr_eq(again.family, &c);
  assert_ok(ndr_plan_measure(&again, NULL, NULL));
  ck_assert_int_eq(toy.executes[0], executes);
  assert_text(&again, "measured 10 us");
  ck_assert_ptr_eq(other.family, &a);
}
END_TEST

START_TEST(a_choice_that_cannot_be_taken_is_measured_again) {
  char key[NDR_MEASUREMENT_KEY];
  ndr_plan plan = plan_over(50);
  ndr_timings timings = {.choice = &b, .seconds = {1, 1, 1}};
  ndr_measurement_key(&plan, key);
  ndr_measurement *made = ndr_measurement_make(key, &backend, &timings);
  ndr_measurements_remember(1, &made);
  plan = plan_over(50);
  ck_assert_ptr_eq(plan.family, &a);
  assert_ok(ndr_plan_measure(&plan, NULL, NULL));
  ck_assert_ptr_eq(plan.family, &c);
}
END_TEST

START_TEST(given_data_are_read) {
  float data[3000] = {0};
  ndr_plan plan = plan_over(1000);
  toy.allocations_left = 1 + 1; /* a result and a workspace at least; the race itself returns what it takes */
  assert_ok(ndr_plan_measure(&plan, (const void *[]){data}, NULL));
  ck_assert_ptr_nonnull(strstr(plan.untimed, "full")); /* the second batch's workspace was not to be had */
  toy.allocations_left = -1;
  plan.untimed[0] = 0;
  data[2999] = 0.5f;
  assert_ok(ndr_plan_measure(&plan, (const void *[]){data}, NULL));
  ck_assert_ptr_eq(plan.family, &c);
  ck_assert(data[2999] == 0.5f);
}
END_TEST

START_TEST(without_memory_or_a_clock_the_model_decides) {
  for (int left = 0; left < 10; left++) {
    toy.cache = left < 5 ? 0 : CACHE; /* which takes a sweep's scratch and workspace, too */
    ndr_plan plan = plan_over(1000);
    toy.allocations_left = left % 5;
    assert_ok(ndr_plan_measure(&plan, NULL, NULL));
    ck_assert_ptr_eq(plan.family, &a);
    assert_text(&plan, "\nnot measured: the toy is full\n");
  }
  ndr_plan plan = plan_over(1000);
  toy.no_clock = true;
  assert_ok(ndr_plan_measure(&plan, NULL, NULL));
  ck_assert_ptr_eq(plan.family, &a);
  assert_text(&plan, "\nnot measured: the toy has no clock\n");
}
END_TEST

START_TEST(scratch_is_bounded) {
  ndr_plan plan = plan_over(INT64_C(1) << 40);
  assert_ok(ndr_plan_measure(&plan, NULL, NULL));
  assert_text(&plan, "of scratch are more than is taken for it");
  toy.cache = NDR_MOST_SCRATCH;
  plan = plan_over(1000);
  assert_ok(ndr_plan_measure(&plan, NULL, NULL));
  assert_text(&plan, "of scratch are more than is taken for it");
  ck_assert_int_eq(toy.executes[0], 0);
}
END_TEST

START_TEST(a_family_that_fails_is_reported) {
  ndr_plan plan = plan_over(1000);
  toy.fails = true;
  assert_fails(ndr_plan_measure(&plan, NULL, NULL), NDR_ERR_DEVICE, "the toy is broken");
}
END_TEST

START_TEST(nothing_is_timed_over_nothing) {
  ndr_plan plan = plan_over(1000);
  plan.problem.length = 0;
  assert_ok(ndr_plan_measure(&plan, NULL, NULL));
  ck_assert(toy.executes[0] == 0 && !plan.timings.choice);
}
END_TEST

START_TEST(keys_are_canonical) {
  char key[NDR_MEASUREMENT_KEY];
  ndr_plan plan = plan_over(1000);
  ndr_measurement_key(&plan, key);
  ck_assert_str_eq(key, "sum f32 [3,1000] /1 on toy 4 SMs sm_90");
  /* what the results look like, and the index of arg*, keep axes apart that reading sees as one */
  plan.problem.reduced_count = 2;
  plan.problem.reduced[0] = (ndr_axis){.size = 10, .stride = 1, .index = 100};
  plan.problem.reduced[1] = (ndr_axis){.size = 100, .stride = 10, .index = 1};
  ndr_measurement_key(&plan, key);
  ck_assert_str_eq(key, "sum f32 [3,1000] /1 on toy 4 SMs sm_90");
  plan.problem.skip_nan = plan.problem.accumulate_f64 = true;
  plan.problem.kept[0].stride = 0;
  plan.device.type = kDLCPU;
  plan.threads = 7;
  ndr_measurement_key(&plan, key);
  ck_assert_str_eq(key, "sum f32 [3:0,1000] /1 skipnan acc=f64 on toy 7 threads");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("core measure");
  TCase *tests = tcase_create("measure");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  const TTest *const all[] = {the_fastest_wins_whatever_was_predicted,
                              hiccups_do_not_decide,
                              arrays_come_from_memory,
                              launches_are_not_timed,
                              lucky_turns_do_not_decide,
                              loading_is_not_timed,
                              the_sweep_is_another_kernel,
                              the_model_s_choice_stands_within_the_noise,
                              the_hopeless_are_not_tried,
                              families_that_reject_are_not_tried,
                              plans_to_come_take_what_was_measured,
                              a_choice_that_cannot_be_taken_is_measured_again,
                              given_data_are_read,
                              without_memory_or_a_clock_the_model_decides,
                              scratch_is_bounded,
                              a_family_that_fails_is_reported,
                              nothing_is_timed_over_nothing,
                              keys_are_canonical};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) tcase_add_test(tests, all[i]);
  suite_add_tcase(suite, tests);
  return suite_run(suite);
}
