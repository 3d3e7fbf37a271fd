/* What a plan for a GPU launches: every element is somebody's work and nobody else's, and nothing exceeds the device.
 * How the kernels read these numbers is in spec/params.h; that they do is what tests/simt runs. */
#include <stdio.h>

#include "gpuplan/launch.h"
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

static bool is(const ndr_launch *launch, ndr_kernel kernel) {
  return launch->kernel == kernel;
}

static bool by_threads(const ndr_launch *launch) {
  return is(launch, NDR_KERNEL_THREAD_PACKETS) || is(launch, NDR_KERNEL_THREAD_ELEMENTS);
}

static bool in_runs(const ndr_launch *launch) {
  return is(launch, NDR_KERNEL_TILE_RUN_PACKETS) || is(launch, NDR_KERNEL_TILE_RUN_ELEMENTS);
}

/* Outputs side by side share a tile: each of its columns is one. */
static bool in_columns(const ndr_launch *launch) {
  return is(launch, NDR_KERNEL_TILE_COLUMNS) || is(launch, NDR_KERNEL_TILE_TRIPLES);
}

/* And so do groups of them. */
static bool in_groups(const ndr_launch *launch) {
  return is(launch, NDR_KERNEL_TILE_NARROW) || in_runs(launch);
}

/* `count` parts of `part` cover `whole`, and the last is not idle. */
static bool covers(int64_t count, int64_t part, int64_t whole) {
  return part > 0 && count == (whole + part - 1) / part;
}

/* Tiles and the outputs in them. */
static void check_outputs(const place *at, const ndr_canonical *problem, const ndr_launch *launch) {
  const ndr_params *p = &launch->params;
  int64_t tiles = p->work / p->splits, lane = problem->kept_count ? p->axes[0].size : 1;
  expect(at, p->work % p->splits == 0);
  expect(at, p->outputs == problem->outputs && p->length == problem->length);
  if (in_groups(launch)) { /* so are groups of outputs */
    int64_t groups = 1, warps = launch->threads / 32;
    for (int a = 0; a < p->group_axes; a++) groups *= problem->kept[(p->period > 1) + a].size;
    expect(at, p->side_groups == groups);
    expect(at, p->tile_outputs == p->tile_groups * p->period && covers(p->tiles, p->tile_groups, groups));
    expect(at, p->all_tiles == p->tiles * (problem->outputs / (groups * p->period)));
    if (in_runs(launch)) {
      int64_t elements = is(launch, NDR_KERNEL_TILE_RUN_PACKETS) ? 16 / (int64_t)ndr_dtype_bytes(problem->dtype) : 1;
      expect(at, tiles == p->all_tiles && p->lanes <= 256 && (p->runs == 1 || p->tile_groups == 1));
      expect(at, covers(p->runs, p->lanes * elements, p->run_units * p->tile_outputs));
      expect(at, p->reduced_count == problem->reduced_count - 1 && p->run_units == problem->reduced[0].size);
      expect(at, p->axes[p->kept_count + p->reduced_count].stride == problem->reduced[0].stride);
      expect(at, p->team <= 32);
    } else {
      expect(at, covers(tiles, warps * p->warp_tiles, p->all_tiles));
      expect(at, p->tile_outputs * p->run_units * (int64_t)ndr_dtype_bytes(problem->dtype) + 32 <= p->room);
    }
  } else if (by_threads(launch)) { /* rows of the fastest axis are cut into tiles one by one */
    int teams = (int)launch->threads / p->team;
    expect(at, p->all_tiles == p->tiles * (problem->outputs / lane) && covers(tiles, teams, p->all_tiles));
    expect(at, covers(p->tiles, p->columns, lane) && p->tile_outputs == p->columns * teams);
    expect(at, p->lanes <= p->team && (teams == 1 || p->splits == 1));
  } else if (in_columns(launch)) {
    int teams = (int)launch->threads / p->team;
    expect(at, p->period == lane && p->tile_outputs == lane * teams && covers(tiles, lane * teams, problem->outputs));
    expect(at, teams == 1 || (is(launch, NDR_KERNEL_TILE_TRIPLES) && p->splits == 1));
  } else {
    expect(at, covers(tiles, p->tile_outputs, problem->outputs));
    if (is(launch, NDR_KERNEL_TILE_PACKETS))
      expect(at, 16 % (p->run_units * (int64_t)ndr_dtype_bytes(problem->dtype)) == 0);
  }
}

/* What each tile's reduction is counted in, and the pieces that it is cut into. */
static void check_reduction(const place *at, const ndr_canonical *problem, const ndr_launch *launch) {
  const ndr_params *p = &launch->params;
  if (is(launch, NDR_KERNEL_TREE_LANES) || is(launch, NDR_KERNEL_TILE_NARROW) || is(launch, NDR_KERNEL_TILE_PACKETS)) {
    expect(at, p->splits == 1);
    if (is(launch, NDR_KERNEL_TILE_NARROW)) expect(at, p->runs * problem->reduced[0].size == problem->length);
    return;
  }
  int64_t runs = is(launch, NDR_KERNEL_TREE_BLOCK) || in_runs(launch) ? p->runs : 1, units = problem->length;
  if (is(launch, NDR_KERNEL_TREE_BLOCK)) units = problem->length ? problem->reduced[0].size : 0;
  if (is(launch, NDR_KERNEL_TREE_RUNS) || in_runs(launch)) units = problem->length / problem->reduced[0].size;
  expect(at, p->units == units);
  expect(at, p->splits == p->segments * runs);
  if (is(launch, NDR_KERNEL_TREE_BLOCK) && problem->length) expect(at, runs * units == problem->length);
  if (units) expect(at, covers(p->segments, p->piece, units));
}

static void check_groups(const place *at, const ndr_params *p) {
  expect(at, p->splits >= 1 && p->splits <= 1 << 22);
  expect(at, covers(p->groups, p->group, p->splits));
  expect(at, p->slots == p->splits + (p->groups > 1 ? p->groups : 0));
  /* A tree of two levels: neither is much longer than the other. */
  if (p->groups > 1) expect(at, (int64_t)p->group * p->group < 16 * (int64_t)p->splits);
}

/* Work groups of threads inside a block. */
static void check_block(const place *at, const ndr_device *device, const ndr_launch *launch) {
  enum { STATIC_BYTES = 10 << 10, WITHOUT_ASKING = 48 << 10 };
  const ndr_params *p = &launch->params;
  expect(at, launch->threads >= 32 && launch->threads % 32 == 0 && launch->threads <= 1024);
  expect(at, launch->grid >= 1 && launch->grid <= INT32_MAX && launch->grid <= (p->work > 1 ? p->work : 1));
  expect(at, launch->shared_bytes + STATIC_BYTES <= WITHOUT_ASKING);
  expect(at, launch->shared_bytes + STATIC_BYTES <= device->shared_bytes_per_block);
  expect(at, p->lanes >= 1 && p->lanes <= (int)launch->threads);
  if (!in_columns(launch) && !in_runs(launch)) expect(at, p->lanes == 1 << p->lane_log);
  if (is(launch, NDR_KERNEL_TREE_RUNS) || is(launch, NDR_KERNEL_TREE_STRIDED) || in_runs(launch))
    expect(at, p->team == 1 << p->team_log);
}

static int state_words(const ndr_canonical *problem) {
  int words = 0;
  for (int i = 0; i < problem->op_count; i++) words += ndr_state_words(problem->ops[i], problem->dtype);
  return words;
}

/* Counters and states of one launch, as spec/params.h lays them out. */
static void check_workspace(const place *at, const ndr_plan *plan, const ndr_launch *launch) {
  const ndr_params *p = &launch->params;
  if (p->splits == 1) return;
  int64_t tiles = p->work / p->splits, tile_rows = 1;
  double counters = (double)ndr_plan_counter_bytes(plan), states = (double)plan->workspace - counters;
  expect(at, p->padded == tiles * p->tile_outputs);
  expect(at, counters >= 4.0 * (double)tiles * (p->groups + 1));
  expect(at, states >= 8.0 * state_words(&plan->problem) * (double)p->slots * (double)p->padded);
  /* O(outputs x split): each row of the fastest axis wastes less than a tile. */
  if (by_threads(launch)) tile_rows = plan->problem.outputs / p->axes[0].size;
  expect(at, p->padded < plan->problem.outputs + tile_rows * p->tile_outputs);
  expect(at, p->slots <= 2 * (int64_t)p->splits);
}

static void check_plan(const ndr_plan *plan, const char *text, const char *gpu) {
  const ndr_launches *launches = ndr_plan_launches(plan);
  const ndr_launch *each[] = {&launches->aligned, &launches->unaligned, &launches->odd};
  int count = ndr_dtype_class(plan->problem.dtype) == NDR_CLASS_COMPLEX ? 3 : 2;
  bool split = false;
  for (int i = 0; i < count; i++) {
    place at = {text, gpu, plan->family->name, ndr_kernel_name(each[i]->kernel)};
    check_outputs(&at, &plan->problem, each[i]);
    check_reduction(&at, &plan->problem, each[i]);
    check_groups(&at, &each[i]->params);
    check_block(&at, &plan->device, each[i]);
    check_workspace(&at, plan, each[i]);
    split = split || each[i]->params.splits > 1;
  }
  place at = {text, gpu, plan->family->name, "each"};
  expect(&at, plan->workspace > 0 || !split);
  expect(&at, ndr_plan_counter_bytes(plan) % 256 == 0);
}

/* By every family that can, not only the one that would be chosen. */
static void check_problem(const char *text) {
  static ndr_plan plan;
  static const char *const families[] = {NULL, "tree", "thread", "tile"};
  for (int g = 0; g < GPU_COUNT; g++) {
    for (int f = 0; f < 4; f++) {
      if (f > 0 && gpu_plan(&plan, text, &gpus[g], families[f]) == NDR_ERR_UNSUPPORTED) continue;
      if (f == 0) assert_ok(gpu_plan(&plan, text, &gpus[g], NULL));
      check_plan(&plan, text, gpu_names[g]);
    }
  }
}

START_TEST(the_table_s_problems_are_covered_once) {
  for (const gpu_case *c = gpu_cases; c->text; c++) check_problem(c->text);
}
END_TEST

START_TEST(problems_around_every_edge_are_covered_once) {
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
      check_problem(text);
    }
  }
}
END_TEST

START_TEST(outputs_without_elements_are_covered_too) {
  check_problem("sum f32 [1000,0] /1");
  check_problem("mean f64 [0] /0");
  check_problem("count u8 [0,1000000] /0");
  check_problem("sum f32 [0,1000] /1");
  check_problem("sum u16 [1000,0] /0");
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
  suite_case(suite, "coverage", 120, the_table_s_problems_are_covered_once, problems_around_every_edge_are_covered_once,
             outputs_without_elements_are_covered_too, NULL);
  suite_case(suite, "device", 60, the_machine_is_filled, magic_numbers_divide, NULL);
  return suite_run(suite);
}
