#include <stdio.h>
#include <unistd.h>

#include "h5/run/job/job.h"
#include "support/gpu_ranks.h"
#include "support/h5_any.h"
#include "support/suite.h"
#include "support/threads_comm.h"

enum { MOST_RANKS = 5, MOST_PARTS = 4 };

/* What the ranks share, and the status and sentence of each. */
typedef struct {
  const char *path;
  const ndr_problem *problem;
  ndr_h5_options how;
  DLTensor *const *results; /* rank 0's */
  ndr_status statuses[MOST_RANKS];
  char sentences[MOST_RANKS][512];
} work;

static ndr_status reduce_file(const char *path, const ndr_problem *problem, DLTensor *const *results,
                              const ndr_h5_options *how) {
  ndr_h5_dataset *dataset;
  ndr_status status = ndr_h5_open(&dataset, path, NULL, NULL);
  if (status == NDR_OK) status = ndr_h5_reduce(dataset, problem, results, how);
  ndr_h5_close(dataset);
  return status;
}

static void body(ndr_comm *comm, void *user) {
  work *w = user;
  ndr_h5_options how = w->how;
  how.comm = comm;
  how.threads = 1 + comm->rank % 2;
  w->statuses[comm->rank] = reduce_file(w->path, w->problem, comm->rank == 0 ? w->results : NULL, &how);
  snprintf(w->sentences[comm->rank], sizeof w->sentences[0], "%s", ndr_last_error());
}

static void assert_same(const ndr_problem *problem, const test_array *one, test_array *other, const char *how) {
  for (int i = 0; i < problem->op_count; i++) {
    ck_assert_msg(memcmp(one[i].memory, other[i].memory, one[i].bytes) == 0, "%s: other bits of %s %s",
                  case_text(problem), ndr_op_name(problem->ops[i]), how);
    array_free(&other[i]);
  }
}

static void check_ranks(rng *random, const char *path, const ndr_problem *problem, const test_array *alone) {
  test_array together[NDR_MAX_OPS];
  DLTensor *results[NDR_MAX_OPS];
  work w = {path, problem, NDR_H5_OPTIONS_INIT, results, {0}, {""}};
  int ranks = (int)rng_between(random, 2, MOST_RANKS);
  char how[64];
  w.how.device = NDR_H5_ALL;
  h5_make_results(problem, together, results);
  ck_assert_int_eq(threads_run(ranks, rng_next(random), body, &w, NULL), 0);
  for (int r = 0; r < ranks; r++) ck_assert_msg(w.statuses[r] == NDR_OK, "rank %d of %d: %s", r, ranks, w.sentences[r]);
  snprintf(how, sizeof how, "by %d ranks", ranks);
  assert_same(problem, alone, together, how);
}

/* The CPU merges states of GPUs: what does not round has the same bits. */
static void check_on_cpu(const char *path, const ndr_problem *problem, const test_array *alone, ndr_h5_options merge) {
  test_array merged[NDR_MAX_OPS];
  DLTensor *results[NDR_MAX_OPS];
  merge.device = NDR_H5_CPU;
  h5_make_results(problem, merged, results);
  assert_ok(reduce_file(path, problem, results, &merge));
  for (int i = 0; i < problem->op_count; i++) {
    bool same = memcmp(alone[i].memory, merged[i].memory, alone[i].bytes) == 0;
    ck_assert_msg(same || !op_exact(problem->ops[i], problem->dtype, false), "%s: other bits of %s merged by the CPU",
                  case_text(problem), ndr_op_name(problem->ops[i]));
    array_free(&merged[i]);
  }
}

static void check_parts(rng *random, const char *path, const ndr_problem *problem, const test_array *alone) {
  char names[MOST_PARTS][128];
  const char *states[MOST_PARTS];
  test_array merged[NDR_MAX_OPS];
  DLTensor *results[NDR_MAX_OPS];
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  how.part_count = (int)rng_between(random, 1, MOST_PARTS);
  for (how.part = 1; how.part <= how.part_count; how.part++) {
    states[how.part - 1] = how.state = names[how.part - 1];
    snprintf(names[how.part - 1], sizeof names[0], "%s.%d", path, how.part);
    how.device = how.part % 2 ? NDR_H5_CUDA : NDR_H5_ALL;
    assert_ok(reduce_file(path, problem, NULL, &how));
  }
  ndr_h5_options merge = NDR_H5_OPTIONS_INIT; /* on a GPU, as the parts are */
  merge.state_count = how.part_count;
  merge.states = states;
  h5_make_results(problem, merged, results);
  assert_ok(reduce_file(path, problem, results, &merge));
  assert_same(problem, alone, merged, "in parts");
  check_on_cpu(path, problem, alone, merge);
  for (int i = 0; i < how.part_count; i++) unlink(names[i]);
}

static void check_file(rng *random, const char *path, const ndr_problem *problem) {
  test_array alone[NDR_MAX_OPS];
  DLTensor *results[NDR_MAX_OPS];
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  how.device = NDR_H5_CUDA;
  h5_make_results(problem, alone, results);
  assert_ok(reduce_file(path, problem, results, &how));
  check_ranks(random, path, problem, alone);
  check_parts(random, path, problem, alone);
  for (int i = 0; i < problem->op_count; i++) array_free(&alone[i]);
}

void gpu_ranks_check_files(rng *random, const char *path, int64_t most) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_first_shift = (int)rng_between(random, 8, 18);
  do h5_write_any(random, path, most, &problem);
  while (!test_has_dtype(problem.dtype));
  check_file(random, path, &problem);
  ndr_first_shift = 0;
}

/* Slabs of 8 rows of f64, or 16 of f32, so that a piece is 8 slabs, or 4, and there are 13. */
void gpu_ranks_check_stretches(rng *random, ndr_dtype dtype, const char *path) {
  const int64_t shape[] = {800, 8};
  test_array array;
  array_make(&array, dtype, 2, shape, NULL);
  array_fill(&array, random, FILL_WIDE);
  ndr_h5_dataset *dataset = h5_open_written(path, &array.tensor, dtype, NULL);
  ndr_problem problem = *h5_problem(dataset, 1, (int[]){0}, 2, (ndr_op[]){NDR_MEAN, NDR_VAR});
  ndr_h5_close(dataset);
  array_free(&array);
  ndr_first_shift = 15;
  check_file(random, path, &problem);
  ndr_first_shift = 0;
}
