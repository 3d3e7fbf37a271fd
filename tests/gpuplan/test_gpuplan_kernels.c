/* No family and no kernel of the GPUs' planner is out of use: how often random problems get each. */
#include <stdio.h>
#include <string.h>

#include "gpuplan/launch.h"
#include "support/cases.h"
#include "support/gpus.h"
#include "support/suite.h"

enum { PROBLEMS = 3000, MOST_ELEMENTS = 1 << 28 };

static const char *const families[] = {"tree", "thread", "tile"};
enum { FAMILIES = sizeof families / sizeof *families };

/* Ten-thousandths of the plans: that a family must accept, and be chosen for, and that must name a kernel. Half of what
 * they are for a family, which is 10000 and 6280, 8650 and 1990, 6160 and 1720, and for a kernel. */
static const int accepts[FAMILIES] = {10000, 4325, 3080}, is_chosen[FAMILIES] = {3140, 995, 860};
static const int is_named[NDR_PLAN_KERNELS] = {
    [NDR_KERNEL_TREE_BLOCK] = 322,       [NDR_KERNEL_TREE_RUNS] = 514,      [NDR_KERNEL_TREE_STRIDED] = 1422,
    [NDR_KERNEL_TREE_LANES] = 613,       [NDR_KERNEL_TREE_LISTED] = 278,    [NDR_KERNEL_THREAD_VECTORS] = 314,
    [NDR_KERNEL_THREAD_SHIFTED] = 483,   [NDR_KERNEL_THREAD_PHASED] = 248,  [NDR_KERNEL_THREAD_FEW] = 108,
    [NDR_KERNEL_THREAD_ELEMENTS] = 154,  [NDR_KERNEL_THREAD_SPREAD] = 158,  [NDR_KERNEL_TILE_COLUMNS] = 66,
    [NDR_KERNEL_TILE_COLUMNS3] = 6,      [NDR_KERNEL_TILE_ROWS] = 42,       [NDR_KERNEL_TILE_STAGED] = 247,
    [NDR_KERNEL_TILE_RUN_VECTORS] = 125, [NDR_KERNEL_TILE_RUN_DENSE] = 169, [NDR_KERNEL_TILE_RUN_ELEMENTS] = 30,
    [NDR_KERNEL_TILE_VECTORS] = 188,
};

typedef struct census {
  int plans; /* problems times GPUs */
  int accepted[FAMILIES], chosen[FAMILIES];
  int named[NDR_PLAN_KERNELS]; /* by the plan that is chosen, for aligned arrays or others */
} census;

static void count_kernels(ndr_plan *plan, int *kernels) {
  const ndr_launches *launches = ndr_plan_launches(plan);
  kernels[launches->aligned.kernel]++;
  if (launches->unaligned.kernel != launches->aligned.kernel) kernels[launches->unaligned.kernel]++;
}

static void plan_by_each(census *seen, const char *text) {
  static ndr_plan plan;
  for (int g = 0; g < GPU_COUNT; g++) {
    assert_ok(gpu_plan(&plan, text, &gpus[g], NULL));
    seen->plans++;
    count_kernels(&plan, seen->named);
    for (int f = 0; f < FAMILIES; f++) seen->chosen[f] += strcmp(plan.family->name, families[f]) == 0;
    for (int f = 0; f < FAMILIES; f++) {
      ndr_status status = gpu_plan(&plan, text, &gpus[g], families[f]);
      ck_assert_msg(status == NDR_OK || status == NDR_ERR_UNSUPPORTED, "%s by %s: %s", text, families[f],
                    ndr_last_error());
      seen->accepted[f] += status == NDR_OK;
    }
  }
}

static void assert_floor(const char *name, const char *what, int count, int floor, const census *seen) {
  ck_assert_msg(floor > 0, "this test has no floor for how often %s %s", name, what);
  ck_assert_msg(count * 10000 >= floor * seen->plans, "%s %s in %d of %d plans", name, what, count, seen->plans);
}

/* Few wide rows, which random problems seldom are. */
static void plan_few_rows(census *seen, rng *random, ndr_dtype dtype) {
  char text[64];
  snprintf(text, sizeof text, "sum %s [%d,%d] /0", ndr_dtype_name(dtype), (int)rng_between(random, 2, 15),
           (int)rng_between(random, 1 << 16, 1 << 24));
  plan_by_each(seen, text);
}

START_TEST(every_family_and_kernel_is_of_use) {
  rng random = {test_seed()};
  census seen = {0};
  for (int i = 0; i < PROBLEMS; i++) {
    ndr_problem c = NDR_PROBLEM_INIT;
    ndr_dtype dtype = (ndr_dtype)rng_between(&random, 0, NDR_DTYPE_COUNT - 1);
    directed_case(&random, dtype, NDR_SUM, families[i % FAMILIES], MOST_ELEMENTS, &c);
    plan_by_each(&seen, case_text(&c));
    if (i % 50 == 0) plan_few_rows(&seen, &random, dtype);
  }
  for (int f = 0; f < FAMILIES; f++) {
    assert_floor(families[f], "is possible", seen.accepted[f], accepts[f], &seen);
    assert_floor(families[f], "is chosen", seen.chosen[f], is_chosen[f], &seen);
  }
  for (int k = 0; k < NDR_PLAN_KERNELS; k++)
    assert_floor(ndr_kernel_name((ndr_kernel)k), "is named", seen.named[k], is_named[k], &seen);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("gpuplan kernels");
  suite_case(suite, "choice", 60, every_family_and_kernel_is_of_use, NULL);
  return suite_run(suite);
}
