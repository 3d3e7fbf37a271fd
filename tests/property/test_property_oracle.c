/* Random problems against the definitions: every dtype, op, option and layout, every family, any number of threads. */
#include "cpu/backend.h"
#include "support/oracle.h"
#include "support/reduce.h"
#include "support/suite.h"

static void assert_right(const ndr_problem *c, const test_array *array, const test_array *result, const char *how) {
  char message[512];
  bool right = oracle_accepts(c, c->ops[0], &array->tensor, &result->tensor, message, sizeof message);
  ck_assert_msg(right, "%s (%s, seed %llu): %s", case_text(c), how, (unsigned long long)test_seed(), message);
  ck_assert_msg(array_gaps_untouched(result), "%s (%s, seed %llu): wrote between the results", case_text(c), how,
                (unsigned long long)test_seed());
}

/* The result on 1 to 5 threads is the same to the bit as on one. Both lie as `layout` draws it: a family may take a
 * problem whose results lie one way, and not another way. */
static void assert_threads_do_not_show(const ndr_problem *c, const test_array *array, ndr_options options, rng layout,
                                       rng *random) {
  test_array alone, together;
  rng same = layout;
  options.threads = 1;
  assert_ok(case_reduce(c, 0, &array->tensor, &options, &alone, &layout));
  options.threads = (int)rng_between(random, 2, 5);
  assert_ok(case_reduce(c, 0, &array->tensor, &options, &together, &same));
  ck_assert_msg(same_elements(&alone.tensor, &together.tensor), "%s (seed %llu): differs on %d threads", case_text(c),
                (unsigned long long)test_seed(), options.threads);
  array_free(&alone);
  array_free(&together);
}

static void try_family(const ndr_problem *c, const test_array *array, const char *family, rng *random) {
  test_array result;
  ndr_options options = case_options(c);
  rng layout = *random;
  options.force_family = family;
  ndr_status status = case_reduce(c, 0, &array->tensor, &options, &result, random);
  ck_assert_msg(status == NDR_OK || (family && status == NDR_ERR_UNSUPPORTED), "%s (%s): %s", case_text(c),
                family ? family : "chosen", ndr_last_error());
  if (status == NDR_OK) {
    assert_right(c, array, &result, family ? family : "chosen");
    assert_threads_do_not_show(c, array, options, layout, random);
  }
  array_free(&result);
}

static void check_random_case(rng *random, int64_t most) {
  ndr_problem c = NDR_PROBLEM_INIT;
  test_array array;
  random_case(random, most, &c);
  array_of_case(&array, &c);
  array_fill(&array, random, random_filling(random, c.ops[0]));
  try_family(&c, &array, NULL, random);
  for (const ndr_family *const *family = ndr_backend_cpu.families; *family; family++)
    try_family(&c, &array, (*family)->name, random);
  array_free(&array);
}

START_TEST(small_problems) {
  rng random = {test_seed()};
  for (int i = 0; i < test_case_count(4000); i++) check_random_case(&random, 3000);
}
END_TEST

/* Large enough for several blocks, tiles and threads. */
START_TEST(large_problems) {
  rng random = {test_seed() + 1};
  for (int i = 0; i < test_case_count(4000) / 40; i++) check_random_case(&random, 400000);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("property oracle");
  suite_case(suite, "random", 1200, small_problems, large_problems, NULL);
  return suite_run(suite);
}
