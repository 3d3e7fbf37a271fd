/* How a plan is chosen and described, with families made up for the purpose. */
#include <stdio.h>

#include "core/plan.h"
#include "support/suite.h"

static const char *reject_short(const ndr_canonical *problem, const ndr_device *device, char *text) {
  (void)device;
  if (problem->length >= 100) return NULL;
  snprintf(text, 160, "only %lld elements an output", (long long)problem->length);
  return text;
}

static const char *reject_nothing(const ndr_canonical *problem, const ndr_device *device, char *text) {
  (void)problem;
  (void)device;
  (void)text;
  return NULL;
}

static double cost_low(const ndr_canonical *problem, const ndr_device *device) {
  return (double)problem->length / device->bandwidth;
}

static double cost_high(const ndr_canonical *problem, const ndr_device *device) {
  return 10 * cost_low(problem, device);
}

static void configure(ndr_plan *plan) {
  plan->config[0] = 42;
  plan->workspace = 512;
}

static size_t describe(const ndr_plan *plan, char *text, size_t capacity) {
  return (size_t)snprintf(text, capacity, "parameter %d", plan->config[0]);
}

static const ndr_family slow = {"slow", reject_nothing, cost_high, configure, describe};
static const ndr_family fast = {"fast", reject_short, cost_low, configure, describe};
static const ndr_family *const both[] = {&slow, &fast, NULL}, *const only_fast[] = {&fast, NULL};
static const ndr_backend backend = {.name = "toy", .families = both}, narrow = {.name = "toy", .families = only_fast};

static ndr_plan plan_over(int64_t length, const ndr_backend *owner) {
  ndr_plan plan = {.backend = owner, .device = {.type = kDLCPU, .units = 4, .bandwidth = 1e9}};
  plan.problem = (ndr_canonical){.dtype = NDR_F32, .op_count = 1, .outputs = 3, .length = length};
  static char text[64];
  snprintf(text, sizeof text, "sum f32 [3,%lld] /1", (long long)length);
  plan.text = text;
  return plan;
}

START_TEST(the_cheapest_family_that_can_is_chosen) {
  ndr_plan plan = plan_over(1000, &backend);
  assert_ok(ndr_plan_choose(&plan, NULL));
  ck_assert_ptr_eq(plan.family, &fast);
  ck_assert(plan.workspace == 512 && plan.config[0] == 42 && !plan.forced);
}
END_TEST

START_TEST(a_family_that_rejects_is_passed_over) {
  ndr_plan plan = plan_over(10, &backend);
  assert_ok(ndr_plan_choose(&plan, NULL));
  ck_assert_ptr_eq(plan.family, &slow);
}
END_TEST

START_TEST(a_forced_family_is_taken_or_says_why_not) {
  ndr_plan plan = plan_over(1000, &backend);
  assert_ok(ndr_plan_choose(&plan, "slow"));
  ck_assert(plan.family == &slow && plan.forced);
  plan = plan_over(10, &backend);
  assert_fails(ndr_plan_choose(&plan, "fast"), NDR_ERR_UNSUPPORTED, "only 10 elements an output");
}
END_TEST

START_TEST(an_unknown_family_is_answered_with_those_there_are) {
  ndr_plan plan = plan_over(1000, &backend);
  assert_fails(ndr_plan_choose(&plan, "warp"), NDR_ERR_UNSUPPORTED, "'warp'");
  assert_fails(ndr_plan_choose(&plan, "warp"), NDR_ERR_UNSUPPORTED, "slow, fast");
}
END_TEST

START_TEST(nothing_to_choose_from_is_an_error) {
  ndr_plan plan = plan_over(10, &narrow);
  assert_fails(ndr_plan_choose(&plan, NULL), NDR_ERR_UNSUPPORTED, "toy");
}
END_TEST

static void assert_text(const ndr_plan *plan, const char *part) {
  char text[2048];
  ck_assert_uint_lt(ndr_plan_describe(plan, text, sizeof text), sizeof text);
  ck_assert_msg(strstr(text, part) != NULL, "'%s' is not in:\n%s", part, text);
}

START_TEST(a_description_names_the_problem_the_choice_and_the_losers) {
  ndr_plan plan = plan_over(1000, &backend);
  assert_ok(ndr_plan_choose(&plan, NULL));
  assert_text(&plan, "sum f32 [3,1000] /1 on toy:0 (4 threads)");
  assert_text(&plan, "fast    3 outputs x 1000");
  assert_text(&plan, "parameter 42");
  assert_text(&plan, "workspace 512 B");
  assert_text(&plan, "slow    slower: predicted 10 us");
  plan = plan_over(10, &backend);
  assert_ok(ndr_plan_choose(&plan, NULL));
  assert_text(&plan, "fast    rejected: only 10 elements an output");
  plan = plan_over(1000, &backend);
  assert_ok(ndr_plan_choose(&plan, "slow"));
  assert_text(&plan, "(forced)");
  assert_text(&plan, "fast    not forced");
}
END_TEST

START_TEST(a_description_is_cut_like_snprintf) {
  char whole[2048], cut[2048];
  ndr_plan plan = plan_over(1000, &backend);
  assert_ok(ndr_plan_choose(&plan, NULL));
  size_t length = ndr_plan_describe(&plan, whole, sizeof whole);
  ck_assert_uint_eq(length, strlen(whole));
  for (size_t capacity = 0; capacity <= length + 1; capacity++) {
    memset(cut, '#', sizeof cut);
    ck_assert_uint_eq(ndr_plan_describe(&plan, cut, capacity), length);
    ck_assert_int_eq(cut[capacity], '#');
    if (capacity == 0) continue;
    ck_assert_uint_eq(strlen(cut), capacity <= length ? capacity - 1 : length);
    ck_assert_int_eq(strncmp(cut, whole, capacity - 1), 0);
  }
}
END_TEST

START_TEST(appended_text_counts_past_the_end) {
  char text[8] = "";
  size_t length = 0;
  ndr_text_append(text, sizeof text, &length, "%s", "abcde");
  ndr_text_append(text, sizeof text, &length, "%d", 123456);
  ndr_text_append(text, sizeof text, &length, "!");
  ck_assert_uint_eq(length, 12);
  ck_assert_str_eq(text, "abcde12");
  length = 0;
  ndr_text_append(NULL, 0, &length, "four");
  ck_assert_uint_eq(length, 4);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("core plan");
  suite_case(suite, "choice", 10, the_cheapest_family_that_can_is_chosen, a_family_that_rejects_is_passed_over,
             a_forced_family_is_taken_or_says_why_not, an_unknown_family_is_answered_with_those_there_are,
             nothing_to_choose_from_is_an_error, NULL);
  suite_case(suite, "text", 10, a_description_names_the_problem_the_choice_and_the_losers,
             a_description_is_cut_like_snprintf, appended_text_counts_past_the_end, NULL);
  return suite_run(suite);
}
