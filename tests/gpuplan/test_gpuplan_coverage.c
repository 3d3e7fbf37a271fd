/* That what a plan for a GPU launches reads every element of every output once, whatever the planner picks: each launch
 * is walked through as spec/params.h says that its kernel does. */
#include <stdio.h>
#include <string.h>

#include "support/cases.h"
#include "support/gpus.h"
#include "support/launch_walk.h"
#include "support/random.h"
#include "support/suite.h"

enum { MOST = 1100000 }; /* elements of a problem */

/* How often each element was visited, by output and index; and where in the data elements are, by the problem. */
typedef struct coverage {
  const ndr_canonical *problem;
  int64_t strays;              /* visits of what is not there, or is elsewhere */
  unsigned char visits[MOST];  /* outputs x length */
  int64_t output_offset[MOST]; /* by the output's place in the result */
  int64_t element_offset[MOST];
} coverage;

/* Number n of the axes, innermost first: where in the data, and where in the result (kept) or the index (reduced). */
static void locate(const ndr_axis *axes, int count, bool kept, int64_t n, int64_t *offset, int64_t *other) {
  for (int a = 0; a < count; n /= axes[a++].size) {
    *offset += n % axes[a].size * axes[a].stride;
    *other += n % axes[a].size * (kept ? axes[a].result[0] : axes[a].index);
  }
}

static void coverage_start(coverage *c, const ndr_canonical *problem) {
  ck_assert(problem->outputs <= MOST && problem->length <= MOST && problem->outputs * problem->length <= MOST);
  c->problem = problem;
  c->strays = 0;
  memset(c->visits, 0, (size_t)(problem->outputs * problem->length));
  for (int64_t o = 0; o < problem->outputs; o++) {
    int64_t offset = 0, result = problem->result_origin[0];
    locate(problem->kept, problem->kept_count, true, o, &offset, &result);
    ck_assert(result >= 0 && result < problem->outputs); /* results are dense here */
    c->output_offset[result] = offset;
  }
  for (int64_t e = 0; e < problem->length; e++) {
    int64_t offset = 0, index = problem->index_origin;
    locate(problem->reduced, problem->reduced_count, false, e, &offset, &index);
    ck_assert(index >= 0 && index < problem->length);
    c->element_offset[index] = offset;
  }
}

static void visit(void *context, int64_t offset, int64_t result, int64_t index) {
  coverage *c = context;
  const ndr_canonical *problem = c->problem;
  result += problem->result_origin[0];
  bool there = result >= 0 && result < problem->outputs && index >= 0 && index < problem->length;
  if (there && offset == c->output_offset[result] + c->element_offset[index] &&
      c->visits[result * problem->length + index] < 2)
    c->visits[result * problem->length + index]++;
  else
    c->strays++;
}

/* How many of the launch's visits were wrong, or were none or more than one of an element. */
static int64_t walk(const ndr_canonical *problem, const ndr_launch *launch, int past, const char **wrong) {
  static coverage c;
  coverage_start(&c, problem);
  *wrong = launch_walk(launch, problem->dtype, past, visit, &c);
  int64_t bad = c.strays;
  for (int64_t i = 0; i < problem->outputs * problem->length; i++) bad += c.visits[i] != 1;
  return bad;
}

/* Only arg* has indices. Here each reduced element gets one, of its own, and the family that was chosen plans again. */
static void number_elements(ndr_plan *plan) {
  int64_t step = 1;
  plan->problem.index_origin = 0;
  for (int a = 0; a < plan->problem.reduced_count; a++) {
    plan->problem.reduced[a].index = step;
    step *= plan->problem.reduced[a].size;
  }
  plan->family->configure(plan);
}

/* Each launch for an array that it is for: on a boundary of 16 bytes, off it, off those of complex numbers. */
static void check_plan(const ndr_plan *original, const char *text, const char *gpu) {
  static ndr_plan plan;
  plan = *original;
  number_elements(&plan);
  const ndr_launches *launches = ndr_plan_launches(&plan);
  const ndr_launch *each[] = {&launches->aligned, &launches->unaligned, &launches->odd};
  int count = ndr_dtype_class(plan.problem.dtype) == NDR_CLASS_COMPLEX ? 3 : 2;
  for (int i = 0; i < count; i++) {
    int past = i == 0 ? 0 : (int)ndr_vector_elements(plan.problem.dtype) - 1;
    const char *wrong;
    int64_t bad = walk(&plan.problem, each[i], past, &wrong);
    ck_assert_msg(!wrong && bad == 0, "%s on %s, %s, %d elements off a boundary: %s; %lld wrong visits", text, gpu,
                  ndr_kernel_name(each[i]->kernel), past, wrong ? wrong : "walked to the end", (long long)bad);
  }
}

/* What each kernel is for, in sizes that can be walked through: permuted, pitched, stepped, reversed, repeated, dense
 * and not, cut into splits that are joined in one step and in two. */
static const struct {
  const char *text, *kernel; /* which one of the plans has */
} walked[] = {
    {"sum f32 [200000] /0", "tree_block"},
    {"sum u8 [3,50000] /1", "tree_block"},
    {"sum f64 [3:-60000,2:-30000,20000:-1] /0,2", "tree_block"},
    {"argmax f32 [2,16385,3:0] /1,2", "tree_strided"},
    {"sum c64 [100000:3] /0", "tree_strided"},
    {"sum f16 [30,7:600,513] /1,2", "tree_runs"},
    {"sum f32 [2:1,100:700,300:2] /1,2", "tree_strided"},
    {"sum f32 [1000,64] /1", "tree_lanes"},
    {"sum f32 [10000:70,3:20,7:2] /1,2", "tree_listed"},
    {"argmax u8 [20000:50,12] /1", "tree_listed"},
    {"min i16 [9000:4,20:36000,3:720000,2:1] /3", "tree_listed"},
    {"sum i16 [30000:5,6:300000,3:1800000,2:150000] /3", "tree_strided"},
    {"sum i8 [2000,70] /1", "tree_lanes"},
    {"sum f32 [20,1024] /0", "thread_vectors"},
    {"sum f32 [100,7:4100,100:41] /0,1", "thread_elements"},
    {"sum f64 [100,7,64] /1", "thread_vectors"},
    {"sum f16 [33,4,1025] /0", "thread_elements"},
    {"sum f32 [1000,64] /0", "thread_vectors"},
    {"sum f64 [300,3:1,400:3] /0", "thread_vectors"},
    {"sum i16 [301:1203,3:1,401:3] /0", "thread_phased"},
    {"sum i64 [301:1203,3:1,401:3] /0", "thread_spread"},
    {"sum f64 [4:1,700:600,150:4] /1", "thread_vectors"},
    {"sum f32 [10000,5] /0", "tile_columns"},
    {"sum u8 [3:170000,1000:128,128:1] /1", "tile_columns"},
    {"sum f32 [30000,3] /0", "tile_columns3"},
    {"sum f32 [20,6000,3] /1", "tile_columns3"},
    {"argmin f32 [10000,9] /1", "tile_rows"},
    {"sum f16 [5000:80,77] /1", "tile_rows"},
    {"sum u8 [500,259] /1", "tile_rows"},
    {"sum f16 [2000,7,5] /1", "tile_staged"},
    {"sum i16 [9:10000,300:30,2:3000,30:1] /2,3", "tile_staged"},
    {"sum f32 [100,20,48] /0,2", "tile_run_vectors"},
    {"argmax f32 [40,20:1000,49] /0,2", "tile_run_vectors"},
    {"sum u8 [200,2,250] /0,2", "tile_run_vectors"},
    {"sum bf16 [500:103,76] /0,1", "tile_run_vectors"},
    {"argmax f32 [200,5:9,9:1,9:1800] /0,2", "tile_run_elements"},
    {"sum f64 [37,9:80,2:20,4:3,3] /0,1,3", "tile_run_elements"},
    {"sum f32 [200,5:9,9:1,9:1800] /0,2", "tile_run_dense"},
    {"sum u8 [7,3001,7] /0,2", "tile_run_dense"},
    {"sum i16 [9:20000,5,40,12] /0,2", "tile_run_dense"},
    {"mean bf16 [60,32,3,16] /0,2", "tile_run_dense"},
    {"sum f64 [30,500,2] /0,2", "tile_run_dense"},
    {"sum u8 [5,2,40,45] /0,2", "tile_run_dense"},
    {"sum u8 [30000,4] /1", "tile_vectors"},
    {"sum f16 [7777,2] /1", "tile_vectors"},
    {"sum f32 [29999] /", "tile_vectors"},
};

static bool had;
static const char *wanted;

static void look_for(const ndr_plan *plan, const char *text, const char *gpu) {
  (void)text, (void)gpu;
  had = had || strcmp(ndr_kernel_name(ndr_plan_launches(plan)->aligned.kernel), wanted) == 0;
}

START_TEST(every_kernel_covers_its_problems_once) {
  for (size_t i = 0; i < sizeof walked / sizeof *walked; i += (size_t)test_share()) {
    had = false;
    wanted = walked[i].kernel;
    assert_ok(gpu_plans_each(walked[i].text, look_for));
    ck_assert_msg(had, "%s: no %s", walked[i].text, wanted);
    assert_ok(gpu_plans_each(walked[i].text, check_plan));
  }
}
END_TEST

/* Strides of a random layout: axes in any order, with gaps, steps, in reverse, some repeating. */
static void random_problem(rng *random, char *text, size_t capacity) {
  static const char *const dtypes[] = {"u8", "f16", "f32", "f64", "c64"};
  int count = (int)rng_between(random, 1, 4), order[4] = {0, 1, 2, 3};
  int64_t sizes[4], strides[4], left = 10000, step = rng_once_in(random, 4) ? rng_between(random, 2, 5) : 1;
  size_t length = 0;
  for (int i = 0; i < count; i++) {
    int64_t most = rng_once_in(random, 3) ? left : left < 40 ? left : 40;
    sizes[i] = rng_between(random, 1, most);
    left /= sizes[i];
    int j = (int)rng_between(random, 0, i), other = order[i];
    order[i] = order[j], order[j] = other;
  }
  for (int i = 0; i < count; i++) {
    int a = order[i];
    strides[a] = rng_once_in(random, 20) ? 0 : rng_once_in(random, 8) ? -step : step;
    step = step * sizes[a] + (rng_once_in(random, 3) ? rng_between(random, 1, 16) : 0);
  }
  length += (size_t)snprintf(text, capacity, "sum %s [", dtypes[rng_between(random, 0, 4)]);
  for (int i = 0; i < count; i++)
    length += (size_t)snprintf(text + length, capacity - length, "%s%lld:%lld", i ? "," : "", (long long)sizes[i],
                               (long long)strides[i]);
  length += (size_t)snprintf(text + length, capacity - length, "] /");
  bool any = false;
  for (int i = 0; i < count; i++) {
    if (rng_once_in(random, 2)) continue;
    length += (size_t)snprintf(text + length, capacity - length, "%s%d", any ? "," : "", i);
    any = true;
  }
}

START_TEST(random_problems_are_covered_once) {
  rng random = {test_seed()};
  char text[200];
  for (int i = test_case_count(60); i > 0; i--) {
    random_problem(&random, text, sizeof text);
    assert_ok(gpu_plans_each(text, check_plan));
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("family coverage");
  suite_case(suite, "coverage", 240, every_kernel_covers_its_problems_once, random_problems_are_covered_once, NULL);
  return suite_run(suite);
}
