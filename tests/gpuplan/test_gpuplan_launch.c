/* What a plan for a GPU launches: whatever the planner picks, every element of every output is read once, nothing
 * exceeds the device or the workspace, and no kernel divides by 0. */
#include <stdio.h>

#include "gpuplan/launch.h"
#include "gpuplan/strided.h"
#include "support/cases.h"
#include "support/gpus.h"
#include "support/random.h"
#include "support/suite.h"

/* Where a check failed. */
typedef struct place {
  const char *text, *gpu, *family, *kernel;
} place;

#define expect(place, condition)                                                                                       \
  ck_assert_msg(condition, "%s on %s, %s (%s): not so: %s", (place)->text, (place)->gpu, (place)->family,              \
                (place)->kernel, #condition)

/* ---- limits ---- */

/* Whether a divisor is that of a number. */
static bool divides(ndr_param_divisor by, int64_t number) {
  for (int64_t n = INT32_MAX / number * number - 1; n <= INT32_MAX; n += number)
    if ((int64_t)(by.magic ? (uint64_t)n * by.magic >> (32 + by.shift) : (uint64_t)n) != n / number) return false;
  return true;
}

/* A block joins splits in two steps at most: a tree of two levels, neither much longer than the other. */
static void check_splits(const place *at, const ndr_params *p) {
  expect(at, p->splits >= 1 && p->splits <= 1 << 22 && p->group_splits >= 1);
  expect(at, p->work == p->tile_count * p->splits && (p->splits == 1 || divides(p->tiles, p->tile_count)));
  expect(at, (int64_t)p->split_groups * p->group_splits >= p->splits);
  expect(at, (int64_t)(p->split_groups - 1) * p->group_splits < p->splits);
  expect(at, p->slots >= p->splits + (p->split_groups > 1 ? p->split_groups : 0) && p->slots <= 2 * (int64_t)p->splits);
  if (p->split_groups > 1) expect(at, (int64_t)p->group_splits * p->group_splits < 16 * (int64_t)p->splits);
}

static bool power(ndr_param_threads threads) {
  return threads.count >= 1 && threads.count <= NDR_THREADS && threads.count == 1 << threads.log;
}

/* Several outputs of a block are not split: only a whole block joins the splits of a tile. */
static bool team_fits(const ndr_params *p, ndr_param_threads team) {
  return power(team) && (team.count <= NDR_WARP_THREADS || team.count == NDR_THREADS) &&
         (team.count == NDR_THREADS || p->splits == 1);
}

static bool groups_fit(const ndr_param_groups *g) {
  return g->outputs > 0 && g->run_length > 0 && g->tile_groups > 0 && g->side > 0 && g->side_tiles > 0;
}

/* Whether a block accumulates a bounded number of elements, units of `elements` each, unless splits are as many as
 * there may be. Rounding errors grow with it. */
static bool splits_are_bounded(const ndr_params *p, int64_t elements) {
  int64_t most = NDR_MOST_SPLIT_ELEMENTS / elements;
  return p->split_units <= (most > NDR_THREADS ? most + NDR_THREADS : 2 * NDR_THREADS) ||
         2 * p->splits > NDR_MOST_SPLITS;
}

/* All rows that a thread reads have one phase, and all vectors of a tile have threads, wherever its first begins. */
static void check_phases(const place *at, const ndr_params *p) {
  const ndr_param_thread *own = &p->thread;
  const ndr_param_axis *walked = &p->axes[p->kept_count];
  int64_t step = INT64_C(1) << own->phase_step_log, elements = step * own->phases;
  expect(at, own->phases > 0 && (own->phases & (own->phases - 1)) == 0 && elements <= NDR_VECTOR_BYTES);
  expect(at, own->rows > 0 && own->rows % own->phases == 0 && own->rows * own->lanes.count <= NDR_THREADS);
  expect(at, own->lanes.count * elements >= own->team_columns + elements - 1);
  expect(at, walked->stride % step == 0 && own->phase_inverse * walked->stride % elements == step % elements);
  expect(at, power(own->joiners) && own->joiners.count * own->team_columns <= NDR_THREADS);
  expect(at, own->axis_teams > 0 && own->near_others == 1 && p->tile_outputs == own->team_columns);
  expect(at, divides(own->lane_count, own->lanes.count) && (!p->small || divides(own->teams, own->axis_teams)));
}

/* What each kernel divides by, what it takes for a power of 2, and how long splits are. */
static void check_kernel(const place *at, const ndr_launch *launch) {
  const ndr_params *p = &launch->params;
  switch (launch->kernel) {
  case NDR_KERNEL_TREE_BLOCK: expect(at, p->tree_block.run_splits > 0 && splits_are_bounded(p, 1)); break;
  case NDR_KERNEL_TREE_RUNS:
    expect(at, team_fits(p, p->tree_runs.team) && power(p->tree_runs.lanes));
    expect(at, p->tree_runs.team.count < NDR_THREADS || splits_are_bounded(p, p->axes[p->kept_count].size));
    break;
  case NDR_KERNEL_TREE_STRIDED:
    expect(at, team_fits(p, p->tree_strided.team));
    expect(at, p->tree_strided.team.count < NDR_THREADS || splits_are_bounded(p, 1));
    break;
  case NDR_KERNEL_TREE_LANES:
    expect(at, power(p->tree_lanes.lanes) && p->tree_lanes.lanes.count <= NDR_WARP_THREADS && p->splits == 1);
    expect(at, p->tree_lanes.lane_vectors_log <= 2);
    break;
  case NDR_KERNEL_THREAD_VECTORS:
  case NDR_KERNEL_THREAD_SHIFTED:
  case NDR_KERNEL_THREAD_SPREAD:
  case NDR_KERNEL_THREAD_ELEMENTS:
    expect(at, power(p->thread.team) && power(p->thread.lanes) && p->thread.lanes.count <= p->thread.team.count);
    expect(at, p->thread.axis_teams > 0 && (p->thread.team.count == NDR_THREADS || p->splits == 1));
    expect(at, !p->small || divides(p->thread.teams, p->thread.axis_teams));
    expect(at, p->thread.near_others == 1 || p->splits == 1);
    break;
  case NDR_KERNEL_THREAD_PHASED: check_phases(at, p); break;
  case NDR_KERNEL_THREAD_FEW:
    expect(at, p->thread.axis_teams > 0 && p->thread.lanes.count == p->thread.team.count && p->splits == 1);
    expect(at, p->thread.team_columns % p->thread.parts == 0);
    expect(at, p->length <= NDR_FEW_ROWS &&
                   p->thread.parts * p->length <= (p->thread.parts > 1 ? NDR_LOADS_THREAD_FEW : NDR_FEW_ROWS));
    expect(at, p->reduced_count == 1 && p->thread.near_others == 1);
    break;
  case NDR_KERNEL_TILE_COLUMNS:
    expect(at, p->tile_columns.rows.columns > 0 && p->tile_columns.rows.run_rows > 0);
    break;
  case NDR_KERNEL_TILE_COLUMNS3:
    expect(at, p->tile_columns3.rows.columns == 3 && p->tile_columns3.rows.run_rows > 0);
    expect(at, team_fits(p, p->tile_columns3.team) && p->tile_columns3.team.count >= NDR_WARP_THREADS);
    break;
  case NDR_KERNEL_TREE_LISTED:
    expect(at, power(p->tree_listed.lanes) && p->tree_listed.lanes.count <= NDR_WARP_THREADS && p->splits == 1);
    break;
  case NDR_KERNEL_TILE_ROWS:
    expect(at, p->tile_rows.rows > 0 && p->tile_rows.pitch >= p->tile_rows.length && p->splits == 1);
    expect(at, power(p->tile_rows.lanes) && p->tile_rows.lanes.count <= NDR_WARP_THREADS);
    break;
  case NDR_KERNEL_TILE_STAGED:
    expect(at, groups_fit(&p->tile_staged.groups) && p->tile_staged.piece > 0 && p->tile_staged.pieces.size > 0);
    expect(at, power(p->tile_staged.members));
    expect(at, p->tile_staged.members.count <= NDR_WARP_THREADS || p->tile_staged.members.count == NDR_THREADS);
    expect(at, p->units == 1 || p->tile_outputs * p->tile_staged.members.count <= NDR_THREADS);
    break;
  case NDR_KERNEL_TILE_RUN_VECTORS:
  case NDR_KERNEL_TILE_RUN_DENSE:
  case NDR_KERNEL_TILE_RUN_ELEMENTS:
    expect(at, groups_fit(&p->tile_runs.groups) && p->tile_runs.row_splits > 0);
    expect(at, p->tile_runs.row_threads >= 1 && p->tile_runs.row_threads <= NDR_THREADS);
    expect(at, power(p->tile_runs.joiners) && p->tile_runs.joiners.count <= NDR_WARP_THREADS);
    break;
  case NDR_KERNEL_TILE_VECTORS: expect(at, p->tile_vectors.row_length > 0 && p->splits == 1); break;
  default: expect(at, false);
  }
}

/* What a block has, and divisions by multiplication: `small` holds where numbers are small enough for them. */
static void check_block(const place *at, const ndr_device *device, const ndr_launch *launch) {
  enum { STATIC_BYTES = 10 << 10, WITHOUT_ASKING = 48 << 10 };
  const ndr_params *p = &launch->params;
  expect(at, launch->threads == NDR_THREADS);
  expect(at, launch->grid == (p->work > INT32_MAX ? INT32_MAX : p->work > 1 ? p->work : 1));
  expect(at, launch->shared_bytes + STATIC_BYTES <= WITHOUT_ASKING);
  expect(at, launch->shared_bytes + STATIC_BYTES <= device->shared_bytes_per_block);
  expect(at, p->small == (p->outputs < INT64_C(1) << 31 && p->length < INT64_C(1) << 31));
  for (int a = 0; p->small && a < p->kept_count + p->reduced_count; a++)
    if (p->axes[a].size > 1) expect(at, p->axes[a].magic > 0);
}

static int state_words(const ndr_canonical *problem) {
  int words = 0;
  for (int i = 0; i < problem->op_count; i++) words += ndr_state_words(problem->ops[i], problem->dtype);
  return words;
}

/* Outputs that are the fastest axis's are cut row by row: each row may waste less than a tile of the others. */
static int64_t tiles_of_their_own(const ndr_launch *launch) {
  bool rows = launch->kernel == NDR_KERNEL_THREAD_VECTORS || launch->kernel == NDR_KERNEL_THREAD_SHIFTED ||
              launch->kernel == NDR_KERNEL_THREAD_PHASED || launch->kernel == NDR_KERNEL_THREAD_FEW ||
              launch->kernel == NDR_KERNEL_THREAD_SPREAD || launch->kernel == NDR_KERNEL_THREAD_ELEMENTS;
  bool groups = launch->kernel == NDR_KERNEL_TILE_RUN_VECTORS || launch->kernel == NDR_KERNEL_TILE_RUN_ELEMENTS ||
                launch->kernel == NDR_KERNEL_TILE_RUN_DENSE;
  const ndr_params *p = &launch->params;
  if (groups) return p->outputs / (p->tile_runs.groups.side * p->tile_runs.groups.outputs);
  if (launch->kernel == NDR_KERNEL_TILE_STAGED)
    return p->outputs / (p->tile_staged.groups.side * p->tile_staged.groups.outputs);
  return rows ? p->thread.others : 1;
}

/* States of one launch, as spec/params.h lays them out: O(outputs x splits) of them. */
static void check_workspace(const place *at, const ndr_plan *plan, const ndr_launch *launch) {
  const ndr_params *p = &launch->params;
  if (p->splits == 1) return;
  double states = state_words(&plan->problem) * (double)p->slots * (double)p->padded;
  expect(at, (double)plan->workspace >= sizeof(ndr_posted) * states);
  expect(at, p->padded >= p->tile_count * p->tile_outputs && p->padded >= plan->problem.outputs);
  expect(at, p->padded < plan->problem.outputs + tiles_of_their_own(launch) * p->tile_outputs);
}

static void check_launch(const place *at, const ndr_plan *plan, const ndr_launch *launch) {
  const ndr_canonical *problem = &plan->problem;
  const ndr_params *p = &launch->params;
  expect(at, p->outputs == problem->outputs && p->length == problem->length);
  check_splits(at, p);
  check_kernel(at, launch);
  check_block(at, &plan->device, launch);
  if (ndr_kernel_has_teams(launch->kernel) && ndr_dtype_bytes(problem->dtype) == 2)
    expect(at, launch->params.split_units <= NDR_NARROW_ROWS);
  check_workspace(at, plan, launch);
}

static void check_plan(const ndr_plan *plan, const char *text, const char *gpu) {
  const ndr_launches *launches = ndr_plan_launches(plan);
  const ndr_launch *each[] = {&launches->aligned, &launches->unaligned, &launches->odd};
  int count = ndr_dtype_class(plan->problem.dtype) == NDR_CLASS_COMPLEX ? 3 : 2;
  bool split = false;
  for (int i = 0; i < count; i++) {
    place at = {text, gpu, plan->family->name, ndr_kernel_name(each[i]->kernel)};
    check_launch(&at, plan, each[i]);
    split = split || each[i]->params.splits > 1;
  }
  place at = {text, gpu, plan->family->name, "each"};
  expect(&at, plan->workspace > 0 || !split);
  expect(&at, plan->workspace % 256 == 0);
}

START_TEST(large_problems_stay_within_limits) {
  for (const gpu_case *c = gpu_cases; c->text; c++) assert_ok(gpu_plans_each(c->text, check_plan));
}
END_TEST

START_TEST(problems_around_every_edge_stay_within_limits) {
  static const int64_t sizes[] = {1,  2,   3,   4,   5,   7,   8,   15,  16,  17,   31,   32,   33,    63,    64,
                                  65, 127, 128, 129, 255, 256, 257, 511, 513, 1023, 1025, 4097, 16385, 65537, 1000003};
  static const char *const dtypes[] = {"u8", "f16", "f32", "f64", "c128"}, *const dims[] = {"0", "1", "0,2", "1,2",
                                                                                            "all"};
  char text[96];
  enum { SIZES = sizeof sizes / sizeof *sizes };
  for (int i = 0; i < SIZES; i++) {
    for (int j = 0; j < SIZES; j++) {
      int k = (i * 7 + j * 3) % 8;
      snprintf(text, sizeof text, "sum %s [%lld,%lld,%lld] /%s", dtypes[(i + j) % 5], (long long)sizes[i],
               (long long)sizes[j], (long long)sizes[k], dims[(i + 2 * j) % 5]);
      assert_ok(gpu_plans_each(text, check_plan));
    }
  }
}
END_TEST

START_TEST(outputs_without_elements_do_too) {
  assert_ok(gpu_plans_each("sum f32 [1000,0] /1", check_plan));
  assert_ok(gpu_plans_each("mean f64 [0] /0", check_plan));
  assert_ok(gpu_plans_each("count u8 [0,1000000] /0", check_plan));
  assert_ok(gpu_plans_each("sum f32 [0,1000] /1", check_plan));
  assert_ok(gpu_plans_each("sum u16 [1000,0] /0", check_plan));
  assert_ok(gpu_plans_each("sum f32 [0:1000,70:1,90:70,2:6300] /3", check_plan));
}
END_TEST

START_TEST(the_machine_is_filled) {
  static ndr_plan plan;
  static const char *const large[] = {"sum f32 [268435456] /0", "sum f32 [2,134217728] /1", "sum f32 [67108864,4] /0",
                                      "sum f32 [1048576,256] /0", "sum f64 [8,4000000,3] /1"};
  for (size_t c = 0; c < sizeof large / sizeof *large; c++) {
    for (int g = 0; g < GPU_COUNT; g++) {
      assert_ok(gpu_plan(&plan, large[c], &gpus[g], NULL));
      unsigned grid = ndr_plan_launches(&plan)->aligned.grid;
      ck_assert_msg(grid >= (unsigned)gpus[g].units, "%s on %s: %u blocks", large[c], gpu_names[g], grid);
      ck_assert_msg((double)plan.workspace < ndr_canonical_bytes(&plan.problem) / 20,
                    "%s on %s: %zu bytes of workspace", large[c], gpu_names[g], plan.workspace);
    }
  }
}
END_TEST

START_TEST(splits_of_long_rows_are_whole_rounds) {
  rng random = {test_seed()};
  for (int i = test_case_count(2000); i > 0; i--) {
    ndr_rounds r = {.runs = rng_between(&random, 1, 3000), .step_bytes = 16384};
    r.run_bytes = (double)rng_between(&random, 1, (int64_t)1 << rng_between(&random, 1, 34));
    r.round_steps = (int)rng_between(&random, 1, 2);
    r.least = rng_between(&random, 1, 40);
    r.most = rng_between(&random, 1, 300);
    int64_t steps = ndr_best_split_steps(&r, (int)rng_between(&random, 1, 150), (int)rng_between(&random, 1, 4));
    ck_assert_int_ge(steps, r.least);
    ck_assert_msg(steps == 1 || steps % r.round_steps == 0, "%lld steps", (long long)steps);
    ck_assert_int_le(steps, r.least + r.round_steps > r.most ? r.least + r.least / 32 + 2 * r.round_steps : r.most);
  }
}
END_TEST

START_TEST(magic_numbers_divide) {
  rng random = {1};
  for (int round = 0; round < 20000; round++) {
    int64_t size = round < 5000 ? round + 2 : rng_between(&random, 2, INT32_MAX);
    ndr_param_axis axis = {.size = size};
    ndr_axis_magic(&axis);
    for (int i = 0; i < 20; i++) {
      uint64_t n = (uint64_t)rng_between(&random, 0, INT32_MAX);
      if (i < 2) n = (uint64_t)(INT32_MAX / size * size - i); /* where a quotient steps up */
      ck_assert_msg((n * axis.magic) >> (32 + axis.shift) == n / (uint64_t)size, "%llu / %lld", (unsigned long long)n,
                    (long long)size);
    }
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("family launch");
  suite_case(suite, "limits", 120, large_problems_stay_within_limits, problems_around_every_edge_stay_within_limits,
             outputs_without_elements_do_too, NULL);
  suite_case(suite, "device", 60, the_machine_is_filled, magic_numbers_divide, splits_of_long_rows_are_whole_rounds,
             NULL);
  return suite_run(suite);
}
