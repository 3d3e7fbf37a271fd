#include "support/gpu_ranks.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/status.h"
#include "ndreduce/comm.h"
#include "ndreduce/device.h"
#include "support/cuts.h"
#include "support/exported.h"
#include "support/oracle.h"
#include "support/suite.h"
#include "support/threads_comm.h"

enum { MOST_RANKS = 5 };

static DLDevice gpu_of(int rank) {
  int count = 1;
  (void)ndr_device_count(kDLCUDA, &count);
  return (DLDevice){kDLCUDA, rank % count};
}

/* ---- Arrays on a GPU -------------------------------------------------------------------------------------------- */

/* A copy of an array: of its memory, with what lies between the elements. */
typedef struct {
  DLTensor tensor;
  void *memory;
} copy;

static ndr_status copy_to(copy *made, const test_array *array, DLDevice device, void *stream) {
  *made = (copy){array->tensor, NULL};
  NDR_TRY(ndr_memory_allocate(device, array->bytes, &made->memory));
  made->tensor.data = (char *)made->memory + ((char *)array->tensor.data - (char *)array->memory);
  made->tensor.device = device;
  NDR_TRY(ndr_copy(device, made->memory, array->memory, array->bytes, stream));
  return ndr_stream_wait(device, stream);
}

/* What the ranks share, and the status and sentence of each. */
typedef struct {
  const ndr_problem *problem;
  const test_array *array;
  box *boxes;
  test_array *results; /* on the host; rank 0 copies them to its GPU, and back */
  ndr_status statuses[MOST_RANKS];
  char sentences[MOST_RANKS][512];
} work;

static ndr_status fetch_results(const work *w, const copy *results, DLDevice device, void *stream) {
  for (int i = 0; i < w->problem->op_count; i++)
    NDR_TRY(ndr_copy(device, w->results[i].memory, results[i].memory, w->results[i].bytes, stream));
  return ndr_stream_wait(device, stream);
}

static ndr_status reduce_copies(const work *w, ndr_comm *comm, copy *all, copy *results, ndr_options *options) {
  DLDevice device = gpu_of(comm->rank);
  DLTensor *pointers[NDR_MAX_OPS];
  box *own = &w->boxes[comm->rank];
  NDR_TRY(ndr_stream_create(device, &options->stream));
  NDR_TRY(copy_to(all, w->array, device, options->stream));
  for (int i = 0; comm->rank == 0 && i < w->problem->op_count; i++) {
    NDR_TRY(copy_to(&results[i], &w->results[i], device, options->stream));
    pointers[i] = &results[i].tensor;
  }
  DLTensor part = tensor_part(&all->tensor, own);
  NDR_TRY(ndreduce_parts(comm, w->problem, &part, own->offset, comm->rank == 0 ? pointers : NULL, options));
  return comm->rank == 0 ? fetch_results(w, results, device, options->stream) : NDR_OK;
}

static void body(ndr_comm *comm, void *user) {
  work *w = user;
  DLDevice device = gpu_of(comm->rank);
  copy all = {.memory = NULL}, results[NDR_MAX_OPS] = {{.memory = NULL}};
  ndr_options options = NDR_OPTIONS_INIT;
  w->statuses[comm->rank] = reduce_copies(w, comm, &all, results, &options);
  snprintf(w->sentences[comm->rank], sizeof w->sentences[0], "%s", ndr_last_error());
  ndr_memory_free(device, all.memory);
  for (int i = 0; i < NDR_MAX_OPS; i++) ndr_memory_free(device, results[i].memory);
  ndr_stream_destroy(device, options.stream);
}

static void make_results(const ndr_problem *c, const test_array *array, test_array *results) {
  ndr_options options = case_options(c);
  for (int i = 0; i < c->op_count; i++)
    assert_ok(array_result(&results[i], &array->tensor, c->dim_count, c->dims, c->ops[i], &options, NULL));
}

static void run(rng *random, const ndr_problem *c, const test_array *array, int ranks, box *boxes,
                test_array *results) {
  work w = {c, array, boxes, results, {0}, {""}};
  make_results(c, array, results);
  ck_assert_int_eq(threads_run(ranks, rng_next(random), body, &w, NULL), 0);
  for (int r = 0; r < ranks; r++)
    ck_assert_msg(w.statuses[r] == NDR_OK, "%s, rank %d of %d: %s", case_text(c), r, ranks, w.sentences[r]);
}

/* ---- States as bytes -------------------------------------------------------------------------------------------- */

/* Adds a part to an accumulator on a device. */
static void add_part(ndr_accumulator *to, const test_array *array, box *part, DLDevice device, void *stream) {
  copy all;
  assert_ok(copy_to(&all, array, device, stream));
  DLTensor tensor = tensor_part(&all.tensor, part);
  assert_ok(ndr_accumulator_add(to, &tensor, part->offset));
  assert_ok(ndr_stream_wait(device, stream));
  ndr_memory_free(device, all.memory);
}

/* The same tree by hand: of two ranks each, and then of two pairs. Rank r's states are on its GPU. */
static void merge_by_hand(const ndr_problem *c, const test_array *array, int ranks, box *boxes, test_array *results) {
  ndr_accumulator *all[MOST_RANKS];
  ndr_options options = NDR_OPTIONS_INIT;
  copy there[NDR_MAX_OPS];
  DLTensor *pointers[NDR_MAX_OPS];
  make_results(c, array, results);
  for (int r = 0; r < ranks; r++) {
    assert_ok(ndr_accumulator_create(&all[r], c, gpu_of(r), &options));
    add_part(all[r], array, &boxes[r], gpu_of(r), NULL);
  }
  for (int step = 1; step < ranks; step *= 2)
    for (int r = 0; r + step < ranks; r += 2 * step) import_export(all[r], all[r + step]);
  for (int i = 0; i < c->op_count; i++) {
    assert_ok(copy_to(&there[i], &results[i], gpu_of(0), NULL));
    pointers[i] = &there[i].tensor;
  }
  assert_ok(ndr_accumulator_finish(all[0], pointers));
  for (int i = 0; i < c->op_count; i++)
    assert_ok(ndr_copy(gpu_of(0), results[i].memory, there[i].memory, results[i].bytes, NULL));
  assert_ok(ndr_stream_wait(gpu_of(0), NULL));
  for (int i = 0; i < c->op_count; i++) ndr_memory_free(gpu_of(0), there[i].memory);
  for (int r = 0; r < ranks; r++) ndr_accumulator_destroy(all[r]);
}

/* ---- Checks ----------------------------------------------------------------------------------------------------- */

static void assert_same(const ndr_problem *c, const test_array *one, const test_array *other, const char *how) {
  for (int i = 0; i < c->op_count; i++)
    ck_assert_msg(memcmp(one[i].memory, other[i].memory, one[i].bytes) == 0, "%s: other bits of %s %s", case_text(c),
                  ndr_op_name(c->ops[i]), how);
}

static void free_results(const ndr_problem *c, test_array *results) {
  for (int i = 0; i < c->op_count; i++) array_free(&results[i]);
}

void gpu_ranks_check_arrays(rng *random, ndr_dtype dtype, int64_t most) {
  ndr_problem c = NDR_PROBLEM_INIT;
  test_array array, first[NDR_MAX_OPS], again[NDR_MAX_OPS], by_hand[NDR_MAX_OPS];
  box boxes[MOST_RANKS];
  char message[512];
  random_case_of(random, dtype, most, &c);
  random_ops(random, &c);
  array_of_case(&array, &c);
  array_fill(&array, random, random_filling_of(random, &c));
  int ranks = random_parts(random, &c, MOST_RANKS, boxes);
  run(random, &c, &array, ranks, boxes, first);
  for (int i = 0; i < c.op_count; i++)
    ck_assert_msg(oracle_accepts(&c, c.ops[i], &array.tensor, &first[i].tensor, message, sizeof message),
                  "%s, %d ranks, seed %llu: %s", case_text(&c), ranks, (unsigned long long)test_seed(), message);
  run(random, &c, &array, ranks, boxes, again);
  merge_by_hand(&c, &array, ranks, boxes, by_hand);
  assert_same(&c, first, again, "in another order of messages");
  assert_same(&c, first, by_hand, "by export and import");
  free_results(&c, first);
  free_results(&c, again);
  free_results(&c, by_hand);
  array_free(&array);
}
