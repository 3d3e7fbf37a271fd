/* Random problems against the definitions, for one dtype or all: every op, family, option and layout, on the real
 * device and as planned for others, each twice in one workspace with equal bits.
 *   test_cuda_oracle DTYPE|all [SEED]
 * Goes on for NDR_TEST_SECONDS a dtype (default 4); a second word repeats the one case of that seed. */
#include <stdio.h>
#include <stdlib.h>

#include "cuda/device.h"
#include "device.h"
#include "gpuplan/launch.h"
#include "support/reduce.h"

static const char *const families[] = {"tree", "thread", "tile", NULL};
enum { CHOICES = sizeof families / sizeof *families };

static ndr_dtype only = NDR_F32;
static bool every_dtype;
static const char *only_seed;
static int launches[NDR_KERNEL_COUNT]; /* problems that each kernel was launched for */

/* How one problem is run, beside what the problem says. */
typedef struct manner {
  const char *family;
  gpu_memory data, result;
  size_t past;       /* bytes that the array starts beyond 256 */
  ndr_device device; /* what it is planned for */
  bool pretend;      /* that device is not the real one */
} manner;

static const char *manner_text(const manner *how, uint64_t seed) {
  static char text[256];
  snprintf(text, sizeof text, "family %s, %zu bytes past, data in memory %d, result in %d, %d units%s, seed %llu",
           how->family ? how->family : "chosen", how->past, (int)how->data, (int)how->result, how->device.units,
           how->pretend ? " (pretended)" : "", (unsigned long long)seed);
  return text;
}

/* Splits follow from the number of multiprocessors: small problems on a large machine reach what large ones do here. */
static void draw_manner(rng *random, const char *family, manner *how) {
  static const int units[] = {1, 3, 16, 64, 500};
  *how = (manner){.family = family};
  assert_ok(ndr_cuda_device(0, &how->device));
  how->pretend = rng_once_in(random, 2);
  if (how->pretend) how->device.units = units[rng_between(random, 0, 4)];
  if (how->pretend && rng_once_in(random, 3)) how->device.l2_bytes = 1 << 20;
  if (rng_once_in(random, 12)) how->data = rng_once_in(random, 2) ? GPU_MANAGED : GPU_PINNED;
  if (rng_once_in(random, 12)) how->result = rng_once_in(random, 2) ? GPU_MANAGED : GPU_PINNED;
}

/* Kernels for these are compiled at run time, which takes as long as a hundred cases. */
static void thin_special(rng *random, ndr_problem *problem) {
  if (is_integer(problem->dtype) || rng_once_in(random, 10)) return;
  problem->skip_nan = 0;
  problem->accumulate = NDR_ACCUMULATE_DEFAULT;
}

static void draw_options(rng *random, ndr_problem *problem) {
  problem->keepdims = rng_once_in(random, 4);
  problem->skip_nan = rng_once_in(random, 3);
  problem->accumulate = rng_once_in(random, 3) ? NDR_ACCUMULATE_F64 : NDR_ACCUMULATE_DEFAULT;
}

static void draw_problem(rng *random, ndr_dtype dtype, const char *family, ndr_problem *problem) {
  int64_t most = !gpu_subset() && rng_once_in(random, 50) ? 300000 : 6000;
  ndr_op op;
  do op = (ndr_op)rng_between(random, 0, NDR_OP_COUNT - 1);
  while (!op_defined(op, dtype));
  if (family) {
    directed_case(random, dtype, op, family, most, problem);
    draw_options(random, problem);
  } else {
    random_case_of(random, dtype, most, problem);
  }
  thin_special(random, problem);
}

/* Twice in the same workspace: it must be ready again, and the bits the same. */
static void execute(const ndr_plan *plan, const gpu_array *array, gpu_array *result, const char *how) {
  gpu_block workspace;
  void *addresses[] = {result->tensor.data};
  unsigned char *before = malloc(result->host.bytes + 1);
  if (!before) abort();
  gpu_workspace(&workspace, plan);
  for (int round = 0; round < 2; round++) {
    ndr_status status =
        ndr_plan_execute(plan, array->tensor.data, addresses, workspace.start, ndr_plan_workspace(plan), NULL);
    ck_assert_msg(status == NDR_OK, "%s\n  %s", ndr_last_error(), how);
    ck_assert_msg(gpu_workspace_clean(&workspace, plan), "%s: the workspace is not as it was", how);
    gpu_fetch(result);
    ck_assert_msg(!round || memcmp(before, result->host.memory, result->host.bytes) == 0, "%s: not the same bits", how);
    memcpy(before, result->host.memory, result->host.bytes);
  }
  gpu_block_free(&workspace);
  free(before);
}

static ndr_kernel kernel_of(const ndr_plan *plan, const void *data) {
  return ndr_plan_launch(plan,
                         (const char *)data + plan->problem.origin * (int64_t)ndr_dtype_bytes(plan->problem.dtype))
      ->kernel;
}

static bool run_problem(const ndr_problem *problem, manner *how, rng *random, uint64_t seed) {
  gpu_array array, result;
  ndr_plan *plan;
  char text[CASE_TEXT + 300];
  ndr_options options = case_options(problem);
  size_t alignment = problem->dtype == NDR_C64 || problem->dtype == NDR_C128 ? ndr_dtype_bytes(problem->dtype) / 2
                                                                             : ndr_dtype_bytes(problem->dtype);
  if (rng_once_in(random, 2)) how->past = (size_t)rng_between(random, 0, 15) / alignment * alignment;
  snprintf(text, sizeof text, "%s | %s", case_text(problem), manner_text(how, seed));
  options.force_family = how->family;
  if (how->pretend) options.device = &how->device;
  array_of_case(&array.host, problem);
  array_fill(&array.host, random, random_filling(random, problem->ops[0]));
  gpu_place(&array, how->data, how->past);
  assert_ok(gpu_result(&result, how->result, &array.host.tensor, problem, 0, &options, random));
  const DLTensor *results[] = {&result.tensor};
  ndr_status status =
      plan_array(&plan, &array.tensor, problem->dim_count, problem->dims, 1, problem->ops, results, &options);
  ck_assert_msg(status == NDR_OK || (how->family && status == NDR_ERR_UNSUPPORTED), "%s: %s", text, ndr_last_error());
  if (status == NDR_OK) {
    launches[kernel_of(plan, array.tensor.data)]++;
    execute(plan, &array, &result, text);
    assert_gpu_result(problem, 0, &array, &result, text);
    ck_assert_msg(gpu_block_guarded(&array.block), "%s: wrote beside the array", text);
  }
  ndr_plan_destroy(plan);
  gpu_free(&array);
  gpu_free(&result);
  return status == NDR_OK;
}

static bool run_seed(ndr_dtype dtype, uint64_t seed) {
  rng random = {seed};
  ndr_problem problem = NDR_PROBLEM_INIT;
  manner how;
  const char *family = families[seed % CHOICES];
  draw_manner(&random, family, &how);
  draw_problem(&random, dtype, family, &problem);
  return run_problem(&problem, &how, &random, seed);
}

static void run_dtype(ndr_dtype dtype) {
  int ran[CHOICES] = {0}, asked = 0, least = gpu_subset() ? test_case_count(24) : 200;
  double until = test_clock() + test_seconds(gpu_subset() ? 0 : 4);
  uint64_t seed = test_seed() * 1000003 + (uint64_t)dtype * 10000000;
  memset(launches, 0, sizeof launches);
  for (; asked < least || test_clock() < until; asked++, seed++) ran[seed % CHOICES] += run_seed(dtype, seed);
  printf("%s: %d cases; ran tree %d, thread %d, tile %d, chosen %d\n", ndr_dtype_name(dtype), asked, ran[0], ran[1],
         ran[2], ran[3]);
  for (int k = 0; k < NDR_KERNEL_COUNT; k++)
    if (launches[k]) printf("  %s: %d\n", ndr_kernel_name((ndr_kernel)k), launches[k]);
  for (int f = 0; f < CHOICES; f++)
    ck_assert_msg(ran[f] * 12 > asked, "%s ran %d of %d", families[f] ? families[f] : "chosen", ran[f], asked);
}

START_TEST(random_problems) {
  if (only_seed)
    run_seed(only, strtoull(only_seed, NULL, 0));
  else if (only == (ndr_dtype)_i || every_dtype)
    run_dtype((ndr_dtype)_i);
}
END_TEST

int main(int argc, char **argv) {
  every_dtype = argc == 2 && strcmp(argv[1], "all") == 0;
  if (argc < 2 || argc > 3 || (!every_dtype && ndr_dtype_parse(argv[1], &only) != NDR_OK)) {
    fprintf(stderr, "usage: test_cuda_oracle DTYPE|all [SEED]\n");
    return 2;
  }
  only_seed = argc == 3 ? argv[2] : NULL;
  Suite *suite = suite_create("cuda oracle");
  TCase *problems = tcase_create("random");
  tcase_add_loop_test(problems, random_problems, only_seed ? (int)only : 0,
                      only_seed ? (int)only + 1 : NDR_DTYPE_COUNT);
  suite_add_tcase(suite, problems);
  return gpu_suite_run(suite);
}
