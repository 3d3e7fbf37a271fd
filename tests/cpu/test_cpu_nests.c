/* Nests that the planner takes for large arrays only, of small ones: tiles with layers, lanes with gaps between
 * outputs, rows that are gathered with what lies between them; and runs of several tiles, one output after the other.
 * Their results, and their states, against those of the
 * scalar family, for each instruction set. */
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): setenv
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/types.h"
#include "cpu/backend.h"
#include "cpu/family.h"
#include "cpu/nest.h"
#include "support/cases.h"
#include "support/suite.h"

enum { DIMS = 4, MOST_ELEMENTS = 60000, MOST_AXES = 2 };

/* How many nests of each kind have run. */
typedef struct tally {
  int layers, ragged_layers, gaps, row_gaps, by_position;
} tally;

/* ---- random arrays, in which neither the order in memory nor the signs of strides are those of the dims ---- */

/* Around the sizes of squares, tiles and cache lines. */
static int64_t pick_size(rng *random) {
  static const int64_t sizes[] = {2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 79, 130};
  return sizes[rng_between(random, 0, sizeof sizes / sizeof *sizes - 1)];
}

static void pick_layout(rng *random, ndr_problem *c) {
  int order[DIMS] = {0, 1, 2, 3};
  int64_t elements = 1, stride = rng_once_in(random, 2) ? 1 : rng_between(random, 2, 9);
  c->ndim = (int)rng_between(random, 2, DIMS);
  for (int d = 0; d < c->ndim; d++) {
    c->shape[d] = pick_size(random);
    if (elements * c->shape[d] > MOST_ELEMENTS) c->shape[d] = 2;
    elements *= c->shape[d];
  }
  for (int d = c->ndim - 1; d > 0; d--) {
    int other = (int)rng_between(random, 0, d), first = order[d];
    order[d] = order[other];
    order[other] = first;
  }
  for (int i = 0; i < c->ndim; i++) {
    int64_t room = rng_once_in(random, 3) ? rng_between(random, 1, 3) : 0;
    c->strides[order[i]] = rng_once_in(random, 4) ? -stride : stride;
    stride = stride * (c->shape[order[i]] + room);
  }
}

static ndr_problem pick_problem(rng *random, ndr_dtype dtype) {
  ndr_problem c = NDR_PROBLEM_INIT;
  c.dtype = dtype;
  c.op_count = 1;
  do c.ops[0] = (ndr_op)rng_between(random, 0, NDR_OP_COUNT - 1);
  while (!op_defined(c.ops[0], dtype) || !op_exact(c.ops[0], dtype, true) || c.ops[0] == NDR_PROD);
  pick_layout(random, &c);
  c.skip_nan = rng_once_in(random, 8);
  for (int d = 0; d < c.ndim; d++)
    if (c.dim_count + 1 < c.ndim && rng_once_in(random, 3)) c.dims[c.dim_count++] = d;
  return c;
}

/* ---- running a nest ---- */

static void execute(const ndr_plan *plan, const void *data, void *result) {
  void *results[] = {result}, *workspace = NULL;
  assert_ok(ndr_backend_cpu.allocate(0, plan->workspace, NULL, &workspace));
  assert_ok(ndr_backend_cpu.execute(plan, &data, results, workspace, NULL));
  ndr_backend_cpu.release(0, workspace, NULL);
}

static void make_plan(ndr_plan *plan, const ndr_problem *c, bool partial) {
  ndr_request request;
  memset(plan, 0, sizeof *plan);
  assert_ok(ndr_request_make(&request, c));
  request.partial = partial;
  assert_ok(ndr_canonical_make(&plan->problem, &request));
  ndr_request_free(&request);
  plan->backend = &ndr_backend_cpu;
  plan->threads = 2;
  assert_ok(ndr_backend_cpu.device(0, &plan->device));
  assert_ok(ndr_plan_choose(plan, "scalar"));
}

/* What a problem is compared with. */
typedef struct comparison {
  const ndr_problem *c;
  ndr_plan *plan;
  const void *data;
  size_t bytes;
  void *expected, *got;
} comparison;

static void check(const comparison *k, const ndr_nest *nest) {
  char text[256];
  k->plan->family = &ndr_cpu_rows.family;
  ndr_nest_install(nest, k->plan);
  memset(k->got, ARRAY_POISON, k->bytes);
  execute(k->plan, k->data, k->got);
  ndr_nest_describe(k->plan, text, sizeof text);
  ck_assert_msg(memcmp(k->got, k->expected, k->bytes) == 0, "%s differs by %s (seed %llu)", case_text(k->c), text,
                (unsigned long long)test_seed());
}

static void check_nests(const comparison *k, tally *seen) {
  const ndr_canonical *problem = &k->plan->problem;
  ndr_nest nest;
  if (problem->kept_count == 0) return;
  for (int r = problem->reduced_count ? 0 : -1; r < problem->reduced_count && r < MOST_AXES; r++) {
    if (ndr_nest_gaps(&nest, problem, r)) {
      check(k, &nest);
      seen->gaps++;
    }
    for (int lanes = 0; lanes < problem->kept_count; lanes++) {
      ndr_nest_rows(&nest, problem, lanes, r);
      check(k, &nest);
      seen->row_gaps += nest.row_gap > 1;
      if (!ndr_nest_layers(&nest, problem, lanes, r)) continue;
      check(k, &nest);
      seen->layers++;
      seen->ragged_layers += nest.layer_extent % nest.layers && nest.extent % nest.lanes;
    }
  }
}

/* Runs along the reduced axis. */
static void check_runs(const comparison *k, tally *seen) {
  ndr_nest nest;
  ndr_nest_run(&nest, &k->plan->problem, 0, -1);
  check(k, &nest);
  seen->by_position += nest.by_position;
}

static void check_problem(rng *random, ndr_problem c, void (*nests)(const comparison *k, tally *seen), tally *seen) {
  static ndr_plan plan;
  test_array array;
  bool partial = ndr_dtype_class(c.dtype) != NDR_CLASS_FLOAT && !ndr_op_is_real(c.ops[0]) && rng_once_in(random, 3);
  make_plan(&plan, &c, partial);
  ndr_state state = ndr_canonical_state(&plan.problem, 0);
  size_t result =
      partial ? 8 * (size_t)ndr_state_size(&state) : ndr_dtype_bytes(ndr_canonical_result(&plan.problem, 0));
  comparison k = {&c, &plan, NULL, (size_t)plan.problem.outputs * result, NULL, NULL};
  array_of_case(&array, &c);
  array_fill(&array, random, FILL_SMALL);
  k.data = (const char *)array.tensor.data + array.tensor.byte_offset;
  k.expected = malloc(k.bytes);
  k.got = malloc(k.bytes);
  ck_assert(k.expected && k.got);
  execute(&plan, k.data, k.expected);
  nests(&k, seen);
  free(k.expected);
  free(k.got);
  array_free(&array);
}

static void check_isa(const char *isa) {
  rng random = {test_seed()};
  tally seen = {0};
  setenv("NDR_CPU_ISA", isa, 1);
  for (int i = test_case_count(20); i > 0; i--)
    for (int dtype = 0; dtype < NDR_DTYPE_COUNT; dtype++)
      check_problem(&random, pick_problem(&random, (ndr_dtype)dtype), check_nests, &seen);
  ck_assert_int_gt(seen.layers, 0);
  ck_assert(seen.ragged_layers > 0 || test_share() > 1); // a share of the cases may have none
  ck_assert_int_gt(seen.gaps, 0);
  ck_assert_int_gt(seen.row_gaps, 0);
}

START_TEST(baseline) {
  check_isa("baseline");
}
END_TEST

START_TEST(avx2) {
  check_isa("avx2");
}
END_TEST

START_TEST(avx512) {
  check_isa("avx512");
}
END_TEST

/* Several tiles of each output, and several outputs of a task. */
START_TEST(long_rows) {
  static const ndr_op ops[] = {NDR_SUM, NDR_MEAN, NDR_ANY, NDR_COUNT};
  rng random = {test_seed()};
  tally seen = {0};
  for (int dtype = 0; dtype < NDR_DTYPE_COUNT; dtype++)
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
      ndr_problem c = NDR_PROBLEM_INIT;
      char text[64];
      int64_t row = 40000 / (int64_t)ndr_dtype_bytes((ndr_dtype)dtype) + rng_between(&random, 0, 99);
      snprintf(text, sizeof text, "sum %s [%lld,%lld] /1", ndr_dtype_name((ndr_dtype)dtype),
               (long long)rng_between(&random, 1, 66), (long long)row);
      assert_ok(ndr_problem_parse(text, &c));
      c.ops[0] = ops[i];
      check_problem(&random, c, check_runs, &seen);
    }
  ck_assert_int_gt(seen.by_position, 0);
}
END_TEST

/* Nests are not made where there is no element, or no axis for what they are. */
START_TEST(refusals) {
  static const char *const problems[] = {"sum f32 [64:1,64:64] /", "sum f32 [64:2,64:128] /", "sum f32 [5,64] /1",
                                         "sum f32 [600:1,700:1] /"};
  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
    static ndr_plan plan;
    ndr_problem c = NDR_PROBLEM_INIT;
    ndr_nest nest;
    assert_ok(ndr_problem_parse(problems[i], &c));
    make_plan(&plan, &c, false);
    int r = plan.problem.reduced_count ? 0 : -1;
    ck_assert(!ndr_nest_layers(&nest, &plan.problem, 0, r));
    ck_assert_int_eq(ndr_nest_layers(&nest, &plan.problem, plan.problem.kept_count - 1, r), i == 0);
    ck_assert_int_eq(ndr_nest_gaps(&nest, &plan.problem, r), i == 1);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cpu nests");
  suite_case(suite, "nests", 300, baseline, avx2, avx512, long_rows, refusals, NULL);
  return suite_run(suite);
}
