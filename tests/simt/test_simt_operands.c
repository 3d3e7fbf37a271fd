/* The kernels of several arrays under emulation, for two operators made by hand (operands.cc): random problems around
 * the widths of chunks, warps and blocks, with arrays that begin anywhere, repeat, run backwards and leave elements
 * out. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuplan/operands/operand_arrays.h"
#include "gpuplan/operands/operands.h"
#include "launch.h"
#include "memory.h"
#include "module.h"
#include "support/cases.h"
#include "support/random.h"
#include "support/suite.h"

enum { MOST_ARRAYS = 3, MOST_ELEMENTS = 16000, MOST_BLOCKS = 300 };

/* operands.cc, compiled for what is known of any launch, of common ones of columns, and of common ones of runs. */
static struct {
  const char *path;
  unsigned facts;
  simt_module code;
  int run;
} modules[] = {
    {SIMT_MODULE_DIR "/simt_operands.so", 0, {0}, 0},
    {SIMT_MODULE_DIR "/simt_operands_columns.so", NDR_FACT_BLOCK_TEAMS | NDR_FACT_WHOLE_CHUNKS, {0}, 0},
    {SIMT_MODULE_DIR "/simt_operands_runs.so", NDR_FACT_ONE_UNIT, {0}, 0},
};
enum { MODULES = sizeof modules / sizeof *modules };

/* ---- problems ---- */

/* An operator of operands.cc. */
typedef struct operator_made {
  const char *name;
  int arrays, places;
  ndr_dtype dtypes[MOST_ARRAYS];
} operator_made;

static const operator_made operators[] = {
    {"masked", 2, 2, {NDR_F32, NDR_BOOL}},
    {"triple", 3, 0, {NDR_U8, NDR_F64, NDR_C64}},
};

/* An array in the emulated memory: the element that the walk starts at, and the block that it lies in. */
typedef struct walked_array {
  ndr_dtype dtype;
  size_t bytes;
  char *memory, *first;
} walked_array;

typedef struct task {
  const operator_made *op;
  ndr_plan plan;
  walked_array arrays[MOST_ARRAYS];
  char text[512];
} task;

static int64_t *stride_of(ndr_axis *axis, int k) {
  return k == 0 ? &axis->stride : &axis->operand[k - 1];
}

static ndr_axis *axis_of(ndr_canonical *problem, int a) {
  return a < problem->kept_count ? &problem->kept[a] : &problem->reduced[a - problem->kept_count];
}

/* A size around what a kernel's loops are made for. */
static int64_t random_size(rng *random, int64_t most) {
  static const int round[] = {4, 8, 16, 32, 64, 128, 256, 512, 1024};
  int64_t size = rng_once_in(random, 2) ? rng_between(random, 2, 70)
                                        : round[rng_between(random, 0, 8)] + rng_between(random, -2, 2);
  return size > most ? most : size < 2 ? 2 : size;
}

/* Gives array k strides: dense in the order of the axes, or with gaps, repeated, and, except for array 0, backwards and
 * with the axes in another order. */
static void lay_out(rng *random, task *t, int k, const int *order, int axes) {
  ndr_canonical *problem = &t->plan.problem;
  bool plain = rng_once_in(random, 2);
  int64_t step = plain || !rng_once_in(random, 4) ? 1 : rng_between(random, 2, 9);
  int turned = k > 0 && !plain && rng_once_in(random, 4);
  for (int i = 0; i < axes; i++) {
    ndr_axis *axis = axis_of(problem, order[turned ? axes - 1 - i : i]);
    bool still = !plain && rng_once_in(random, 4);
    int64_t *stride = stride_of(axis, k);
    *stride = still ? 0 : step;
    if (!still) step = step * axis->size + (!plain && rng_once_in(random, 4) ? rng_between(random, 1, 40) : 0);
    if (k > 0 && !plain && rng_once_in(random, 5)) *stride = -*stride;
  }
}

/* Elements from the walk's first to the array's first and behind its last. */
static void span(task *t, int k, int64_t *before, int64_t *behind) {
  ndr_canonical *problem = &t->plan.problem;
  *before = 0, *behind = 1;
  for (int a = 0; a < problem->kept_count + problem->reduced_count; a++) {
    ndr_axis *axis = axis_of(problem, a);
    int64_t reach = (axis->size - 1) * *stride_of(axis, k);
    if (reach < 0)
      *before -= reach;
    else
      *behind += reach;
  }
}

static void fill(rng *random, walked_array *array, size_t count) {
  for (size_t i = 0; i < count; i++) {
    int64_t value = rng_between(random, 0, 200) - (array->dtype == NDR_U8 ? 0 : 100);
    float part[2] = {(float)value, (float)rng_between(random, -9, 9)};
    double wide = (double)value;
    unsigned char byte = (unsigned char)(array->dtype == NDR_BOOL ? value > 0 : value);
    const void *from = array->dtype == NDR_F64 ? (const void *)&wide
                       : array->bytes == 1     ? (const void *)&byte
                                               : (const void *)part;
    memcpy(array->memory + i * array->bytes, from, array->bytes);
  }
}

static void make_array(rng *random, task *t, int k, int past) {
  walked_array *array = &t->arrays[k];
  int64_t before, behind;
  array->dtype = t->op->dtypes[k];
  array->bytes = ndr_dtype_bytes(array->dtype);
  size_t alignment = ndr_dtype_alignment(array->dtype);
  span(t, k, &before, &behind);
  size_t count = (size_t)(before + behind);
  array->memory = simt_allocate(count * array->bytes, (size_t)past / alignment * alignment);
  array->first = array->memory + (size_t)before * array->bytes;
  fill(random, array, count);
}

static void number_places(rng *random, task *t) {
  ndr_canonical *problem = &t->plan.problem;
  int64_t index = 1;
  problem->place_count = t->op->places;
  for (int k = 0; k < t->op->places; k++) {
    problem->place_origin[k] = rng_between(random, 0, 1000);
    axis_of(problem, (int)rng_between(random, 0, problem->kept_count + problem->reduced_count - 1))->place[k] =
        rng_between(random, -3, 3);
  }
  for (int a = 0; a < problem->reduced_count; index *= problem->reduced[a++].size) problem->reduced[a].index = index;
}

/* Kept and reduced axes, and the order in which array 0 has them. kept_first: its fastest axis is kept. */
static int make_axes(rng *random, task *t, bool kept_first, int *order) {
  ndr_canonical *problem = &t->plan.problem;
  int64_t elements = 1, step = 1;
  problem->kept_count = (int)rng_between(random, kept_first, 2);
  problem->reduced_count = (int)rng_between(random, !kept_first, 3);
  if (problem->kept_count + problem->reduced_count == 0) problem->kept_count = 1;
  int axes = problem->kept_count + problem->reduced_count, kept = 0, reduced = 0;
  for (int i = 0; i < axes; i++) {
    bool keep = i == 0 ? kept_first : rng_once_in(random, 2);
    if (kept == problem->kept_count) keep = false;
    if (reduced == problem->reduced_count) keep = true;
    order[i] = keep ? kept++ : problem->kept_count + reduced++;
    ndr_axis *axis = axis_of(problem, order[i]);
    int64_t most = MOST_ELEMENTS / elements;
    axis->size = most < 4 ? 2 : random_size(random, most / (i + 1 < axes ? 2 : 1));
    if (i == 0 && !kept_first && rng_once_in(random, 4))
      axis->size = rng_between(random, most / 4, most); /* long runs */
    elements *= axis->size;
  }
  problem->outputs = problem->length = 1;
  for (int a = 0; a < problem->kept_count; a++) problem->outputs *= problem->kept[a].size;
  for (int a = 0; a < problem->reduced_count; a++) problem->length *= problem->reduced[a].size;
  for (int a = problem->kept_count - 1; a >= 0; step *= problem->kept[a--].size) problem->kept[a].result[0] = step;
  return axes;
}

static void describe_trial(task *t) {
  ndr_canonical *problem = &t->plan.problem;
  size_t length = (size_t)snprintf(t->text, sizeof t->text, "%s", t->op->name);
  for (int a = 0; a < problem->kept_count + problem->reduced_count; a++) {
    ndr_axis *axis = axis_of(problem, a);
    length += (size_t)snprintf(t->text + length, sizeof t->text - length, "%s%lld",
                               a < problem->kept_count ? " k" : " r", (long long)axis->size);
    for (int k = 0; k < t->op->arrays; k++)
      length += (size_t)snprintf(t->text + length, sizeof t->text - length, ":%lld", (long long)*stride_of(axis, k));
  }
  for (int k = 0; k < t->op->arrays; k++)
    length +=
        (size_t)snprintf(t->text + length, sizeof t->text - length, " @%d", (int)((uintptr_t)t->arrays[k].first % 16));
  length += (size_t)snprintf(t->text + length, sizeof t->text - length, "\n  ");
  t->plan.family->describe(&t->plan, t->text + length, sizeof t->text - length);
}

static void make_trial(rng *random, task *t, const operator_made *op, bool columns, int past) {
  int order[8];
  ndr_canonical *problem = &t->plan.problem;
  memset(t, 0, sizeof *t);
  t->op = op;
  problem->dtype = op->dtypes[0];
  problem->op_count = 1;
  problem->operand_count = op->arrays - 1;
  for (int k = 1; k < op->arrays; k++) problem->operand_dtypes[k - 1] = op->dtypes[k];
  int axes = make_axes(random, t, rng_once_in(random, 8) ? !columns : columns, order);
  if (columns && problem->kept_count == 0) columns = false;
  for (int k = 0; k < op->arrays; k++) lay_out(random, t, k, order, axes);
  for (int a = 0; !columns && rng_once_in(random, 2) && a < problem->kept_count; a++)
    *stride_of(&problem->kept[a], 1) = 0; /* the second array may be the same for all outputs */
  number_places(random, t);
  bool together = rng_once_in(random, 2); /* the same element of all arrays begins a chunk */
  for (int k = 0; k < op->arrays; k++)
    make_array(random, t, k, together ? past * (int)ndr_dtype_bytes(op->dtypes[k]) : (int)rng_between(random, 0, 15));
  t->plan.device = (ndr_device){.size = sizeof(ndr_device),
                                .type = kDLCUDA,
                                .units = (int)rng_between(random, 1, 4),
                                .threads_per_unit = 2048,
                                .bandwidth = 4.8e12,
                                .capability = 90,
                                .compiles = 1};
  t->plan.family = columns ? &ndr_family_thread : &ndr_family_tree;
  ck_assert_ptr_null(t->plan.family->reject(problem, &t->plan.device, t->text));
  t->plan.family->configure(&t->plan);
}

static void free_trial(task *t) {
  for (int k = 0; k < t->op->arrays; k++) simt_release(t->arrays[k].memory);
}

/* ---- what must come out ---- */

static void step(const task *t, const ndr_axis *axes, int count, int64_t n, int64_t *offset, int64_t *place,
                 int64_t *index, int64_t *result) {
  for (int a = 0; a < count; n /= axes[a++].size) {
    int64_t i = n % axes[a].size;
    for (int k = 0; k < t->op->arrays; k++) offset[k] += i * *stride_of((ndr_axis *)(uintptr_t)&axes[a], k);
    for (int k = 0; k < t->op->places; k++) place[k] += i * axes[a].place[k];
    *index += i * axes[a].index;
    *result += i * axes[a].result[0];
  }
}

static int64_t value_at(const task *t, int k, int64_t offset, int part) {
  const walked_array *array = &t->arrays[k];
  const char *at = array->first + offset * (int64_t)array->bytes;
  float narrow[2] = {0};
  double wide;
  if (array->bytes == 1) return *(const unsigned char *)at;
  if (array->dtype == NDR_F64) return memcpy(&wide, at, sizeof wide), (int64_t)wide;
  memcpy(narrow, at, array->bytes);
  return (int64_t)narrow[part];
}

static int64_t term(const task *t, const int64_t *offset, const int64_t *place, int64_t index) {
  if (t->op == &operators[0])
    return value_at(t, 1, offset[1], 0) ? value_at(t, 0, offset[0], 0) * (1 + index % 7) + 3 * place[0] - 5 * place[1]
                                        : 0;
  return value_at(t, 0, offset[0], 0) * value_at(t, 1, offset[1], 0) + value_at(t, 2, offset[2], 0) -
         2 * value_at(t, 2, offset[2], 1);
}

static void expect_results(const task *t, int64_t *expected) {
  const ndr_canonical *problem = &t->plan.problem;
  for (int64_t o = 0; o < problem->outputs; o++) {
    int64_t kept[MOST_ARRAYS] = {0}, kept_place[NDR_MOST_PLACES], none = 0, result = 0, sum = 0;
    memcpy(kept_place, problem->place_origin, sizeof kept_place);
    step(t, problem->kept, problem->kept_count, o, kept, kept_place, &none, &result);
    for (int64_t n = 0; n < problem->length; n++) {
      int64_t offset[MOST_ARRAYS], place[NDR_MOST_PLACES], index = problem->index_origin, unused = 0;
      memcpy(offset, kept, sizeof kept);
      memcpy(place, kept_place, sizeof place);
      step(t, problem->reduced, problem->reduced_count, n, offset, place, &index, &unused);
      sum += term(t, offset, place, index);
    }
    expected[result] = sum;
  }
}

/* ---- running ---- */

typedef struct call {
  void (*kernel)(ndr_program_params);
  ndr_program_params params;
} call;

static void one_thread(const void *argument) {
  const call *c = argument;
  c->kernel(c->params);
}

/* The next weaker way: whatever comes by aligned vectors, or is the same for all, can be read element by element, and
 * what is fixed can be read again. Digits of the ways that were planned become 0 in the order of a number's bits. A
 * shifted chunk may reach behind the end, where single elements would be read. */
static unsigned weaken(unsigned ways, unsigned which, int arrays) {
  unsigned weaker = ways & 0x77777u;
  for (int k = 0; k < arrays; k++) {
    if (which >> 2 * k & 1) weaker &= ~(4u << 4 * k);
    if (which >> 2 * k & 2 && (ways >> 4 * k & 3) != NDR_WAY_SHIFTED) weaker &= ~(3u << 4 * k);
  }
  return weaker;
}

/* The kernel of operands.cc that reads in exactly these ways. */
static void *find_kernel_of(const simt_module *module, const task *t, const ndr_launch *launch, unsigned ways,
                            char *name, size_t capacity) {
  snprintf(name, capacity, "%s_%s_%d_%d_%0*x", ndr_kernel_name(launch->kernel), t->op->name, launch->operands.elements,
           launch->operands.steps, t->op->arrays, ways);
  return simt_module_find(module, name);
}

/* The kernel of operands.cc that reads most nearly as planned. */
static void *find_kernel(const simt_module *module, const task *t, const ndr_launch *launch, unsigned ways, char *name,
                         size_t capacity) {
  const unsigned of_all[] = {NDR_WAYS_TWICE | NDR_WAYS_OWN_RUNS | NDR_WAYS_WHOLE, NDR_WAYS_OWN_RUNS | NDR_WAYS_WHOLE,
                             0};
  for (size_t i = 0; i < sizeof of_all / sizeof *of_all; i++) {
    unsigned held = ways & of_all[i];
    /* With these bits only in the planned ways; without them there is a kernel for each of the ways. */
    unsigned choices = held ? 1 : 1u << 2 * t->op->arrays;
    for (unsigned which = 0; which < choices; which++) {
      void *kernel = find_kernel_of(module, t, launch, weaken(ways, which, t->op->arrays) | held, name, capacity);
      if (kernel) return kernel;
    }
  }
  return NULL;
}

/* Has threads that own columns read single elements that lie apart, where no plan would: most of a row's last strip may
 * be repeated. */
static void spread_again(rng *random, const ndr_canonical *problem, ndr_launch *launch) {
  ndr_params *p = &launch->params;
  ndr_param_thread *own = &p->thread;
  int steps = problem->operand_count > 1 || rng_once_in(random, 2) ? 2 : 4, width = own->lanes.count * steps;
  if (launch->kernel != NDR_KERNEL_OPERANDS_COLUMNS || own->lanes.count < NDR_WARP_THREADS) return;
  if (p->axes[0].size < width) return;
  const ndr_axis *walked = problem->reduced_count ? &problem->reduced[launch->operands.walked] : NULL;
  launch->operands.elements = 1;
  launch->operands.steps = steps;
  launch->operands.ways = ndr_ways_along(problem, &problem->kept[0], walked, 1, false);
  own->team_columns = width;
  own->axis_teams = ndr_ceil_div(p->axes[0].size, width);
  int teams = NDR_THREADS / own->team.count;
  p->tile_outputs = width * teams;
  p->work = ndr_ceil_div(own->axis_teams * own->others, teams);
  ndr_launch_split(launch, p->units, p->units, 1, ndr_launch_step(NDR_THREADS));
  ndr_launch_end(launch);
}

/* Cuts what a block has into more splits than were planned. */
static void split_again(rng *random, ndr_launch *launch) {
  static const int counts[] = {2, 3, 5, 64, 65, 150};
  ndr_params *p = &launch->params;
  bool whole = launch->kernel == NDR_KERNEL_OPERANDS_COLUMNS ? p->thread.team.count == NDR_THREADS
               : launch->kernel == NDR_KERNEL_OPERANDS_RUNS  ? p->operand_runs.team.count == NDR_THREADS
               : launch->kernel == NDR_KERNEL_OPERANDS_SHORT ? p->operand_short.team.count == NDR_THREADS
                                                             : false;
  int64_t splits = counts[rng_between(random, 0, 5)];
  if (splits > MOST_BLOCKS / p->tile_count) splits = MOST_BLOCKS / p->tile_count;
  if (!whole || splits < 2) return;
  p->work = p->tile_count;
  ndr_launch_split(launch, p->units, (p->units + splits - 1) / splits, 1, ndr_launch_step(NDR_THREADS));
  ndr_launch_end(launch);
}

static int kernels_run[NDR_ALL_KERNELS], splits_run, chunks_run, shifted_run, spread_run, own_runs_run, twice_run,
    whole_run, fixed_run, skipped, tried;

/* Returns false where operands.cc lacks the kernel: chunks of some sizes are rare. */
static bool run_launch(rng *random, task *t, const ndr_launch *launch, unsigned ways, call *made, size_t slots) {
  const ndr_params *p = &launch->params;
  char name[96];
  int m = MODULES - 1;
  while ((ndr_launch_facts(launch) & modules[m].facts) != modules[m].facts) m--;
  const simt_module *module = &modules[m].code;
  if (rng_once_in(random, 2)) ways |= NDR_WAYS_TWICE;
  bool several = p->reduced_count > 1; /* runs of a column */
  if (launch->kernel == NDR_KERNEL_OPERANDS_COLUMNS && (several || rng_once_in(random, 2))) ways ^= NDR_WAYS_OWN_RUNS;
  made->kernel = (void (*)(ndr_program_params))(uintptr_t)find_kernel(module, t, launch, ways, name, sizeof name);
  if (!made->kernel) return false;
  simt_launch run = {.body = one_thread,
                     .argument = made,
                     .grid = p->work,
                     .threads = NDR_THREADS,
                     .statics = module->statics,
                     .statics_bytes = module->statics_bytes,
                     .order = rng_once_in(random, 3) ? 0 : rng_next(random),
                     .waiting = p->splits > 1};
  const char *why = simt_run(&run);
  ck_assert_msg(!why, "%s\n  %s: %s", t->text, name, why);
  for (size_t i = 0; i < slots * sizeof(ndr_posted); i++)
    ck_assert_msg(((const char *)made->params.base.partials)[i] == 0, "%s\n  %s left a slot that is not empty", t->text,
                  name);
  kernels_run[launch->kernel]++;
  modules[m].run++;
  splits_run += p->splits > 1;
  chunks_run += launch->operands.elements > 1 && (ways & 0x33333u) % 16 == NDR_WAY_VECTOR;
  shifted_run += strchr(strrchr(name, '_'), '3') != NULL;
  spread_run += launch->kernel == NDR_KERNEL_OPERANDS_COLUMNS && launch->operands.steps > 1;
  unsigned long read = strtoul(strrchr(name, '_') + 1, NULL, 16);
  own_runs_run += (read & NDR_WAYS_OWN_RUNS) && p->reduced_count > 1;
  twice_run += (read & NDR_WAYS_TWICE) != 0;
  whole_run += (read & NDR_WAYS_WHOLE) != 0;
  fixed_run += launch->kernel == NDR_KERNEL_OPERANDS_ROWS && (read & 0x44444u);
  return true;
}

static void run_trial(rng *random, task *t) {
  static call made;
  static int64_t expected[MOST_ELEMENTS];
  unsigned ways;
  const void *arrays[MOST_ARRAYS];
  int64_t outputs = t->plan.problem.outputs;
  for (int k = 0; k < t->op->arrays; k++) arrays[k] = t->arrays[k].first;
  ndr_launches *launches = ndr_plan_launches(&t->plan);
  if (rng_once_in(random, 3))
    spread_again(random, &t->plan.problem, &launches->aligned),
        spread_again(random, &t->plan.problem, &launches->unaligned);
  if (rng_once_in(random, 2)) split_again(random, &launches->aligned), split_again(random, &launches->unaligned);
  describe_trial(t);
  memset(&made, 0, sizeof made);
  const ndr_launch *launch = ndr_operands_launch(&t->plan, arrays, &made.params, &ways);
  size_t slots = (size_t)(launch->params.slots * launch->params.padded);
  int64_t *result = simt_allocate((size_t)outputs * sizeof *result, 0);
  made.params.base.result[0] = result;
  made.params.base.partials = simt_allocate(slots * sizeof(ndr_posted), 0);
  memset(made.params.base.partials, 0, slots * sizeof(ndr_posted));
  bool ran = run_launch(random, t, launch, ways, &made, slots);
  tried++, skipped += !ran;
  expect_results(t, expected);
  for (int64_t o = 0; ran && o < outputs; o++)
    ck_assert_msg(result[o] == expected[o], "%s\n  result %lld is %lld, not %lld", t->text, (long long)o,
                  (long long)result[o], (long long)expected[o]);
  ck_assert_msg(!simt_guards_broken(), "%s\n  something was written outside the arrays", t->text);
  simt_release(result);
  simt_release(made.params.base.partials);
}

/* Random problems whose first array begins at each place of a vector. */
static void run_family(const operator_made *op, bool columns) {
  static task t;
  for (int past = 0; past < 16; past++) {
    for (int i = 0; i < (test_share() > 1 ? 2 : test_case_count(4)); i++) {
      rng random = {test_seed() + (uint64_t)(past * 1000 + i)};
      make_trial(&random, &t, op, columns, past);
      run_trial(&random, &t);
      free_trial(&t);
    }
  }
}

START_TEST(test_columns) {
  run_family(&operators[_i], true);
  if (_i == 0) ck_assert_int_gt(shifted_run, 0);
  ck_assert_int_gt(own_runs_run, 0);
  ck_assert_int_gt(twice_run, 0);
  ck_assert_int_gt(spread_run, 0);
  ck_assert_int_gt(kernels_run[NDR_KERNEL_OPERANDS_COLUMNS], 0);
  ck_assert_int_gt(modules[1].run, 0);
  ck_assert_int_gt(splits_run, 0);
  ck_assert_int_lt(skipped * 5, tried);
  ck_assert_int_gt(chunks_run, 0);
}
END_TEST

START_TEST(test_runs) {
  run_family(&operators[_i], false);
  ck_assert_int_gt(kernels_run[NDR_KERNEL_OPERANDS_RUNS], 0);
  ck_assert_int_gt(kernels_run[NDR_KERNEL_OPERANDS_SHORT], 0);
  ck_assert_int_gt(kernels_run[NDR_KERNEL_OPERANDS_ROWS], 0);
  if (_i == 0) ck_assert_int_gt(whole_run, 0);
  if (_i == 0) ck_assert_int_gt(fixed_run, 0);
  ck_assert_int_gt(modules[2].run, 0);
  ck_assert_int_gt(splits_run, 0);
  ck_assert_int_lt(skipped * 5, tried);
  ck_assert_int_gt(chunks_run, 0);
}
END_TEST

int main(void) {
  for (int m = 0; m < MODULES; m++) {
    const char *why = simt_module_open(&modules[m].code, modules[m].path);
    if (!why) continue;
    fprintf(stderr, "%s\n", why);
    return 1;
  }
  Suite *suite = suite_create("simt operands");
  TCase *tests = tcase_create("kernels");
  tcase_set_timeout(tests, 600);
  tcase_add_loop_test(tests, test_columns, 0, 2);
  tcase_add_loop_test(tests, test_runs, 0, 2);
  suite_add_tcase(suite, tests);
  return suite_run(suite);
}
