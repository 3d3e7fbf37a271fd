#include "drive.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpuplan/strided.h"
#include "memory.h"
#include "runtime/control.h"
#include "sanitizer.h"

void device_array_of(device_array *made, int device, size_t past) {
  test_array *host = &made->host;
  made->memory = simt_allocate(host->bytes, past);
  if (!made->memory) abort();
  memcpy(made->memory, host->memory, host->bytes);
  made->tensor = host->tensor;
  made->tensor.data = (char *)made->memory + ((char *)host->tensor.data - (char *)host->memory);
  made->tensor.device = (DLDevice){kDLCUDA, device};
}

void device_fetch(device_array *array) {
  memcpy(array->host.memory, array->memory, array->host.bytes);
}

void device_free(device_array *array) {
  simt_release(array->memory);
  array_free(&array->host);
}

twist random_twist(rng *random, ndr_dtype dtype) {
  static const int splits[] = {2, 3, 5, 63, 64, 65, 100, 150};
  size_t alignment = ndr_dtype_alignment(dtype);
  return (twist){.device = (int)rng_between(random, 0, 2),
                 .past = rng_once_in(random, 2) ? 0 : (size_t)rng_between(random, 0, 15) / alignment * alignment,
                 .splits = rng_once_in(random, 2) ? 0 : splits[rng_between(random, 0, 7)],
                 .turned = rng_once_in(random, 2) ? 1 : (int)rng_between(random, 2, 9),
                 .order = rng_once_in(random, 4) ? 0 : rng_next(random)};
}

/* Where several teams of a block have an output each, outputs are not split. */
static bool can_split(const ndr_launch *launch) {
  switch (launch->kernel) {
  case NDR_KERNEL_TREE_RUNS: return launch->params.tree_runs.team.count == NDR_THREADS;
  case NDR_KERNEL_TREE_STRIDED: return launch->params.tree_strided.team.count == NDR_THREADS;
  case NDR_KERNEL_TILE_COLUMNS3: return launch->params.tile_columns3.team.count == NDR_THREADS;
  case NDR_KERNEL_THREAD_VECTORS:
  case NDR_KERNEL_THREAD_SHIFTED:
  case NDR_KERNEL_THREAD_PHASED:
  case NDR_KERNEL_THREAD_SPREAD:
  case NDR_KERNEL_THREAD_ELEMENTS: return launch->params.thread.team.count == NDR_THREADS;
  case NDR_KERNEL_TILE_VECTORS:
  case NDR_KERNEL_THREAD_FEW:
  case NDR_KERNEL_TREE_LANES: return false;
  default: return true;
  }
}

/* Cuts the launch's units into splits of at most split_units. */
static void split_again(ndr_launch *launch, int64_t split_units) {
  ndr_params *p = &launch->params;
  bool by_run = launch->kernel == NDR_KERNEL_TREE_BLOCK;
  bool by_columns = launch->kernel == NDR_KERNEL_TILE_RUN_VECTORS || launch->kernel == NDR_KERNEL_TILE_RUN_ELEMENTS ||
                    launch->kernel == NDR_KERNEL_TILE_RUN_DENSE;
  int times = by_run ? p->tree_block.runs : by_columns ? p->tile_runs.column_splits : 1;
  /* By the smaller limit, so that few splits are joined in two steps too. */
  int splits = ndr_launch_split(launch, p->units, split_units, times, ndr_launch_step(NDR_THREADS));
  if (by_run) p->tree_block.run_splits = splits;
  if (by_columns) p->tile_runs.row_splits = splits;
}

static void twist_launch(ndr_launch *launch, const twist *how) {
  enum { MOST_BLOCKS = 400 };
  ndr_params *p = &launch->params;
  if (how->turned > 1 && ndr_launch_turns(launch)) {
    ndr_launch_turn(launch, how->turned);
    ndr_launch_end(launch);
  }
  if (how->splits && can_split(launch)) {
    p->work = p->tile_count;
    int64_t most = p->work ? MOST_BLOCKS / p->work : 1, splits = how->splits > most ? most : how->splits;
    split_again(launch, splits > 1 ? (p->units + splits - 1) / splits : p->units);
    ndr_launch_end(launch);
  }
}

void apply_twist(ndr_plan *plan, const twist *how) {
  ndr_launches *launches = ndr_plan_launches(plan);
  twist_launch(&launches->aligned, how);
  twist_launch(&launches->unaligned, how);
  ndr_launches_end(plan);
}

void fail_every_call(ndr_status (*run)(void *user), void *user) {
  const int blocks = simt_living_blocks() + 1;
  int failed = 0;
  for (int64_t call = 1; call < 60; call++) {
    simt_controls.calls = 0;
    simt_controls.failing_call = call;
    bool fails = run(user) != NDR_OK;
    failed += fails;
    simt_controls.failing_call = 0;
    if (fails) ck_assert_int_le(simt_living_blocks(), blocks);
    if (simt_controls.calls < call) break;
  }
  ck_assert_int_gt(failed, 2);
}

static char announced[CASE_TEXT + 256];

#if WITH_ASAN
static void last_words(void) {
  static const char start[] = "\nwhile running: ";
  if (write(STDERR_FILENO, start, sizeof start - 1) < 0 || write(STDERR_FILENO, announced, strlen(announced)) < 0)
    return;
  (void)!write(STDERR_FILENO, "\n", 1);
}
#endif

void announce_case(const ndr_problem *problem, const char *family, const twist *how, uint64_t seed) {
  snprintf(announced, sizeof announced,
           "%s | family %s, device %d, %zu bytes past, %d splits, turned by %d, order %llx | seed %llu",
           case_text(problem), family ? family : "any", how->device, how->past, how->splits, how->turned,
           (unsigned long long)how->order, (unsigned long long)seed);
#if WITH_ASAN
  __sanitizer_set_death_callback(last_words);
#endif
}

const char *announced_case(void) {
  return announced;
}
