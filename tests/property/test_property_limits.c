/* Problems as large as a request may be: every planner's arithmetic stays within 63 bits, as the undefined behaviour
 * sanitizer sees. Random shapes of 2^60 elements and more, strides that spread them over all of the address space. */
#include "support/cases.h"
#include "support/plan.h"
#include "support/suite.h"

/* 2^exponent, or one of its neighbours. */
static int64_t near_power(rng *random, int exponent) {
  int64_t power = INT64_C(1) << exponent;
  return power > 1 ? power + rng_between(random, -1, 1) : power;
}

/* About 2^62 bytes by size, or by the reach of strides, or both: the exponents of a budget are dealt out to the dims.
 */
static void huge_case(rng *random, ndr_problem *c) {
  int budget = (int)rng_between(random, 50, 62), ndim = (int)rng_between(random, 1, 5);
  *c = (ndr_problem)NDR_PROBLEM_INIT;
  c->dtype = (ndr_dtype)rng_between(random, 0, NDR_DTYPE_COUNT - 1);
  do c->ops[0] = (ndr_op)rng_between(random, 0, NDR_OP_COUNT - 1);
  while (!op_defined(c->ops[0], c->dtype));
  c->op_count = 1;
  c->ndim = ndim;
  for (size_t bytes = ndr_dtype_bytes(c->dtype); bytes > 1; bytes /= 2) budget--;
  for (int d = 0, left = budget; d < ndim; d++) {
    int exponent = d == ndim - 1 || rng_once_in(random, 4) ? left : (int)rng_between(random, 0, left);
    int reach = rng_once_in(random, 3) ? budget - exponent : (int)rng_between(random, 0, budget - exponent);
    c->shape[d] = near_power(random, exponent);
    c->strides[d] = rng_once_in(random, 4) ? 0 : near_power(random, reach > 0 ? reach - 1 : 0);
    if (rng_once_in(random, 4)) c->strides[d] = -c->strides[d];
    if (rng_once_in(random, 2)) c->dims[c->dim_count++] = d;
    left -= exponent;
  }
  c->skip_nan = rng_once_in(random, 2);
}

START_TEST(planners_take_what_requests_allow) {
  rng random = {test_seed()};
  int count = test_case_count(20000), taken = 0;
  for (int i = 0; i < count; i++) {
    ndr_problem c;
    huge_case(&random, &c);
    ndr_status status = plan_by_all(&c);
    ck_assert_msg(status == NDR_OK || status == NDR_ERR_OVERFLOW, "%s (seed %llu): %s", case_text(&c),
                  (unsigned long long)test_seed(), ndr_last_error());
    taken += status == NDR_OK;
  }
  ck_assert_int_gt(taken, count / 4);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("property limits");
  suite_case(suite, "planners", 600, planners_take_what_requests_allow, NULL);
  return suite_run(suite);
}
