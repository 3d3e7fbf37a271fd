/* Plans of problems that read several arrays: which family runs which layout, how it reads the arrays, and that no
 * launch exceeds what its kernel can do. */
#include <stdio.h>
#include <string.h>

#include "gpuplan/operands/operands.h"
#include "support/gpus.h"
#include "support/plan.h"
#include "support/random.h"
#include "support/suite.h"

/* The H200, with a compiler. */
static ndr_device device_with_compiler(int g) {
  ndr_device device = gpus[g];
  device.compiles = 1;
  return device;
}

static const struct {
  const char *text, *family, *description; /* how the description begins */
} layouts[] = {
    {"mean f32 [268435456] /0 where=bool[1]", "tree", "operands_runs, chunks of 4 (f32: vectors, bool: vectors)"},
    {"mean f32 [16384,16384] /1 where=bool[16384,1]", "tree",
     "operands_runs, chunks of 4 (f32: vectors, bool: vectors)"},
    {"mean f32 [1000,1001] /1 where=bool[1001,1]", "tree", "operands_runs, chunks of 4 (f32: vectors, bool: vectors)"},
    {"mean f32 [16384,16384] /0 where=bool[16384,1]", "thread",
     "operands_columns, chunks of 4 (f32: vectors, bool: vectors)"},
    {"mean f32 [128,512,1024] /1 where=bool[524288,1024,1]", "thread",
     "operands_columns, chunks of 4 (f32: vectors, bool: vectors)"},
    {"mean f32 [512,512,1024] /0,2 where=bool[524288,1024,1]", "tree",
     "operands_runs, chunks of 4 (f32: vectors, bool: vectors)"},
    {"mean f32 [10000,10001] /0 where=bool[10001,1]", "thread",
     "operands_columns, 4 chunks of 1 (f32: vectors, bool: vectors)"},
    {"mean f32 [10000,10004] /0 where=bool[10005,1]", "thread",
     "operands_columns, 4 chunks of 1 (f32: vectors, bool: vectors)"},
    {"mean f32 [1000,120,1001] /0,1 weights=f32[0,1,0]", "thread",
     "operands_columns, 4 chunks of 1 (f32: vectors, f32: one for all)"},
    {"std f64 [700:82171,82109] /0 weights=f64[82171,1]", "thread",
     "operands_columns, 2 chunks of 1 (f64: vectors, f64: vectors)"},
    {"mean f32 [10000,257] /0 where=bool[257,1]", "thread",
     "operands_columns, 2 chunks of 1 (f32: vectors, bool: vectors)"},
    {"mean f32 [10000,129] /0 where=bool[129,1]", "thread",
     "operands_columns, chunks of 1 (f32: vectors, bool: vectors)"},
    {"mean f32 [10000,129] /0 weights=f32[1,0]", "thread",
     "operands_columns, chunks of 4 (f32: shifted, f32: one for all)"},
    {"mean bf16 [10000,10001] /0 where=bool[10001,1]", "thread",
     "operands_columns, 4 chunks of 1 (bf16: vectors, bool: vectors)"},
    {"mean bf16 [10000,365,30] /1 where=bool[10950,30,1]", "thread",
     "operands_columns, chunks of 2 (bf16: vectors, bool: vectors)"},
    {"mean u8 [10000,10001] /0 where=bool[10001,1]", "thread",
     "operands_columns, chunks of 4 (u8: shifted, bool: shifted)"},
    {"mean f32 [10000000,3] /0 where=bool[3,1]", "thread", "operands_columns, chunks of 1"},
    {"mean f32 [10000000,3] /1 where=bool[3,1]", "tree", "operands_rows, chunks of 1"},
    {"mean f32 [20000,3,49] /0,2 where=bool[147,49,1]", "tree", "operands_short, chunks of 1"},
    {"mean f32 [16384,16384] /0 weights=f32[1,0]", "thread",
     "operands_columns, chunks of 4 (f32: vectors, f32: one for all, twice the bytes in flight)"},
    {"std f32 [16384,16384] /0 weights=f32[1,0]", "thread",
     "operands_columns, chunks of 4 (f32: vectors, f32: one for all, twice the bytes in flight)"},
    {"std f32 [64,128,64,512] /0,2 weights=f32[0,0,1,0]", "thread",
     "operands_columns, chunks of 4 (f32: vectors, f32: one for all, own runs, twice the bytes in flight)"},
    {"mean f32 [100000,1000] /1 where=bool[1000,1]", "tree",
     "operands_rows, chunks of 4 (f32: vectors, bool: vectors)"},
    {"std f32 [65536,4096] /1 where=bool[4096,1]", "tree",
     "operands_runs, chunks of 4 (f32: vectors, bool: vectors), grid 8192 x 256 threads, 32 lanes"},
    {"mean f32 [65536,4096] /1 where=bool[4096,1]", "tree",
     "operands_runs, chunks of 4 (f32: vectors, bool: vectors), grid 65536 x 256 threads, 256 lanes"},
    {"std f32 [600,4096] /1 where=bool[4096,1]", "tree",
     "operands_runs, chunks of 4 (f32: vectors, bool: vectors), grid 600 x 256 threads, 256 lanes"},
    {"mean f32 [100000,1000] /1 weights=f32[0,1]", "tree", "operands_rows, chunks of 4 (f32: vectors, f32: vectors)"},
    {"std f32 [10000,8760] /1 weights=f32[0,1]", "tree",
     "operands_runs, chunks of 4 (f32: vectors, f32: vectors), grid 1250 x 256 threads, 32 lanes"},
    {"mean f32 [16384,16384] /1 weights=f32[0,1]", "tree", "operands_runs, chunks of 4 (f32: vectors, f32: vectors)"},
    {"mean f64 [16384,8192] /all weights=f64[8192,1]", "tree",
     "operands_runs, chunks of 2 (f64: vectors, f64: vectors)"},
    {"sum bf16 [16384,32768] /1 where=bool[32768,1]", "tree",
     "operands_runs, chunks of 8 (bf16: vectors, bool: vectors)"},
    {"sum u8 [16384,65536] /1 where=bool[65536,1]", "tree", "operands_runs, chunks of 16 (u8: vectors, bool: vectors)"},
};

START_TEST(layouts_get_their_kernels) {
  static ndr_plan plan;
  char text[400];
  ndr_device device = device_with_compiler(GPU_COUNT - 1);
  assert_ok(gpu_plan(&plan, layouts[_i].text, &device, NULL));
  plan.family->describe(&plan, text, sizeof text);
  ck_assert_msg(strcmp(plan.family->name, layouts[_i].family) == 0, "%s: %s, %s", layouts[_i].text, plan.family->name,
                text);
  ck_assert_msg(strncmp(text, layouts[_i].description, strlen(layouts[_i].description)) == 0, "%s: %s",
                layouts[_i].text, text);
  ndr_canonical_free(&plan.problem);
}
END_TEST

/* Whether the launch for a mask that begins here, beside an aligned array, reads single elements that lie apart. */
static bool is_spread(const char *text, uintptr_t mask) {
  static ndr_plan plan;
  ndr_program_params params;
  unsigned ways;
  ndr_device device = device_with_compiler(GPU_COUNT - 1);
  const void *arrays[] = {(const void *)(uintptr_t)4096, (const void *)mask};
  assert_ok(gpu_plan(&plan, text, &device, "thread"));
  bool spread = ndr_operands_launch(&plan, arrays, &params, &ways)->operands.steps > 1;
  ndr_canonical_free(&plan.problem);
  return spread;
}

/* Rows of a mask that all threads read again come from a cache. */
START_TEST(arrays_off_their_boundaries_are_spread) {
  ck_assert(!is_spread("mean f32 [1000,2000] /0 where=bool[2000,1]", 8192));
  ck_assert(is_spread("mean f32 [1000,2000] /0 where=bool[2000,1]", 8193));
  ck_assert(!is_spread("mean f32 [1000,100,2000] /0,1 where=bool[0,2000,1]", 8193));
  ck_assert(is_spread("mean bf16 [1000,2000] /0 where=bool[2000,1]", 8193));
  ck_assert(!is_spread("mean u8 [1000,2000] /0 where=bool[2000,1]", 8193));
}
END_TEST

START_TEST(without_a_compiler_there_is_no_kernel) {
  static ndr_plan plan;
  ck_assert_int_eq(gpu_plan(&plan, "sum f32 [100,100] /0 where=bool[100,1]", &gpus[2], NULL), NDR_ERR_UNSUPPORTED);
  ck_assert_msg(strstr(ndr_last_error(), "run-time compilation") != NULL, "%s", ndr_last_error());
  ndr_canonical_free(&plan.problem);
}
END_TEST

START_TEST(families_say_why_they_cannot) {
  static ndr_plan plan;
  ndr_device device = device_with_compiler(2);
  ck_assert_int_eq(gpu_plan(&plan, "sum f32 [100,100] /all where=bool[100,1]", &device, "thread"), NDR_ERR_UNSUPPORTED);
  ck_assert_ptr_nonnull(strstr(ndr_last_error(), "no axis is kept"));
  ndr_canonical_free(&plan.problem);
  ck_assert_int_eq(gpu_plan(&plan, "sum f32 [100,3] /1 where=bool[3,1]", &device, "tile"), NDR_ERR_UNSUPPORTED);
  ck_assert_ptr_nonnull(strstr(ndr_last_error(), "families thread and tree"));
  ndr_canonical_free(&plan.problem);
}
END_TEST

static bool power(ndr_param_threads threads) {
  return threads.count >= 1 && threads.count <= NDR_THREADS && threads.count == 1 << threads.log;
}

#define expect(condition)                                                                                              \
  ck_assert_msg(condition, "%s (%s): not so: %s", text, ndr_kernel_name(launch->kernel), #condition)

/* What kernels divide by, what they take for a power of 2, and that only a whole block has splits. */
static void check_launch(const char *text, const ndr_canonical *problem, const ndr_launch *launch) {
  const ndr_params *p = &launch->params;
  int team = NDR_THREADS, elements = launch->operands.elements;
  expect(elements >= 1 && elements <= 16 && (elements & (elements - 1)) == 0);
  expect(launch->operands.steps >= 1 && launch->operands.steps <= 16);
  expect(launch->operands.steps <= 4 ||
         (launch->kernel == NDR_KERNEL_OPERANDS_ROWS && launch->operands.steps % 2 == 0));
  expect(p->work == p->tile_count * p->splits && p->splits >= 1 && p->splits <= NDR_MOST_SPLITS);
  if (launch->kernel == NDR_KERNEL_OPERANDS_COLUMNS) {
    const ndr_param_thread *own = &p->thread;
    team = own->team.count;
    expect(power(own->team) && power(own->lanes) && own->lanes.count <= own->team.count);
    bool whole = true; /* no load reads elements beyond the last column */
    for (int k = 0; k <= problem->operand_count; k++)
      whole = whole && (NDR_WAY_OF(launch->operands.ways, k) & 3) != NDR_WAY_SHIFTED;
    expect(own->team_columns == own->lanes.count * elements * launch->operands.steps);
    expect(own->axis_teams * own->team_columns >= p->axes[0].size);
    if (launch->operands.steps > 1)
      expect(elements == 1 && own->lanes.count >= NDR_WARP_THREADS && own->team_columns <= p->axes[0].size);
    expect(!whole || p->axes[0].size % elements == 0);
    expect(own->axis_teams * own->others * (NDR_THREADS / team) >= p->tile_count);
    expect(p->tile_count * (NDR_THREADS / team) >= own->axis_teams * own->others);
  } else if (launch->kernel == NDR_KERNEL_OPERANDS_RUNS) {
    const ndr_param_operand_runs *own = &p->operand_runs;
    team = own->team.count;
    expect(power(own->team) && power(own->lanes) && own->lanes.count <= team);
    expect(own->piece * own->pieces.size >= p->axes[p->kept_count].size);
    expect(own->piece * (own->pieces.size - 1) < p->axes[p->kept_count].size);
    expect(p->units * p->axes[p->kept_count].size == problem->length * own->pieces.size);
  } else {
    const ndr_param_operand_short *own = &p->operand_short;
    team = own->team.count;
    int steps = launch->operands.steps;
    int64_t step = (int64_t)own->lanes.count * elements, held = step * steps, size = p->axes[p->kept_count].size;
    expect(power(own->team) && power(own->lanes) && own->lanes.count <= NDR_WARP_THREADS);
    expect(held >= size && size % elements == 0 && step * NDR_SURE_CHUNKS(steps) <= size);
    expect((launch->operands.ways & NDR_WAYS_WHOLE) == 0 || held == size);
    expect(launch->kernel == NDR_KERNEL_OPERANDS_SHORT || problem->length == size);
  }
  expect(team == NDR_THREADS || team <= NDR_WARP_THREADS || launch->kernel == NDR_KERNEL_OPERANDS_COLUMNS);
  expect(team == NDR_THREADS || p->splits == 1);
}

/* A problem of three dims, with a mask or weights or both: dense ones, or such that repeat along some dims. */
static void write_problem(rng *random, char *text, size_t capacity) {
  static const char *const dims[] = {"0", "1", "2", "0,1", "0,2", "1,2", "all"};
  static const char *const dtypes[] = {"u8", "bf16", "f32", "f64"};
  static const char *const repeated[] = {"where=bool[0,1,0]", "weights=f32[1,0,0]", "weights=f64[0,0,1]", ""};
  long long size[3];
  for (int d = 0; d < 3; d++) size[d] = (1 << rng_between(random, 0, 10)) + rng_between(random, 0, 3);
  const char *second = repeated[rng_between(random, 0, 3)],
             *first = strncmp(second, "where", 5) ? "where=bool" : "weights=f64";
  snprintf(text, capacity, "mean %s [%lld,%lld,%lld] /%s %s[%lld,%lld,1] %s", dtypes[rng_between(random, 0, 3)],
           size[0], size[1], size[2], dims[rng_between(random, 0, 6)], first, size[1] * size[2], size[2], second);
}

START_TEST(launches_fit_their_kernels) {
  static ndr_plan plan;
  rng random = {7};
  char text[160];
  for (int i = 0; i < 2000; i++) {
    write_problem(&random, text, sizeof text);
    ndr_device device = device_with_compiler((int)rng_between(&random, 0, GPU_COUNT - 1));
    for (int f = 0; f < 2; f++) {
      ndr_status status = gpu_plan(&plan, text, &device, f ? "thread" : "tree");
      if (status != NDR_ERR_UNSUPPORTED) {
        assert_ok(status);
        check_launch(text, &plan.problem, &ndr_plan_launches(&plan)->aligned);
        check_launch(text, &plan.problem, &ndr_plan_launches(&plan)->unaligned);
      }
      ndr_canonical_free(&plan.problem);
    }
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("gpuplan operands");
  TCase *each = tcase_create("layouts");
  tcase_add_loop_test(each, layouts_get_their_kernels, 0, (int)(sizeof layouts / sizeof *layouts));
  suite_add_tcase(suite, each);
  suite_case(suite, "plans", 60, arrays_off_their_boundaries_are_spread, without_a_compiler_there_is_no_kernel,
             families_say_why_they_cannot, launches_fit_their_kernels, NULL);
  return suite_run(suite);
}
