/* Streams: equal bits from run to run on a busy device, one plan in several streams at once, threads, CUDA graphs. */
#include <pthread.h>
#include <stdlib.h>

#include "device.h"
#include "support/reduce.h"

enum { STREAMS = 4 };

/* Problems of each family, split and not; what rounds shows the order of the work. */
static const char *const problems[] = {
    "sum f32 [3000017] /0",     "sum f32 [40,100003] /1",   "sum f32 [200003,5] /0",  "var f32 [1000,2000] /0",
    "norm2 f32 [300,70,90] /1", "sum f64 [7,99,1001] /0,2", "mean f16 [511,4096] /1", "logsumexp f32 [33,65537] /1",
    "sum c64 [70,3001] /0",     "prod f64 [100,333] /1",
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

/* A case with its data, one plan, and for each stream a result and a workspace. */
typedef struct setup {
  ndr_problem problem;
  gpu_array array, results[STREAMS];
  gpu_block workspaces[STREAMS];
  cudaStream_t streams[STREAMS];
  ndr_plan *plan;
} setup;

static void set_up(setup *s, const char *text, int streams) {
  rng random = {test_seed()};
  memset(s, 0, sizeof *s);
  s->problem = (ndr_problem)NDR_PROBLEM_INIT;
  assert_ok(ndr_problem_parse(text, &s->problem));
  array_of_case(&s->array.host, &s->problem);
  array_fill(&s->array.host, &random, s->problem.ops[0] == NDR_PROD ? FILL_UNIT : FILL_WIDE);
  gpu_place(&s->array, GPU_DEVICE, 0);
  assert_ok(
      plan_array(&s->plan, &s->array.tensor, s->problem.dim_count, s->problem.dims, 1, s->problem.ops, NULL, NULL));
  for (int i = 0; i < streams; i++) {
    assert_ok(gpu_result(&s->results[i], GPU_DEVICE, &s->array.host.tensor, &s->problem, 0, NULL, NULL));
    gpu_workspace(&s->workspaces[i], s->plan);
    assert_cuda(cudaStreamCreateWithFlags(&s->streams[i], cudaStreamNonBlocking));
  }
  assert_cuda(cudaDeviceSynchronize());
}

static void tear_down(setup *s) {
  for (int i = 0; i < STREAMS; i++) {
    if (s->streams[i]) assert_cuda(cudaStreamDestroy(s->streams[i]));
    gpu_free(&s->results[i]);
    gpu_block_free(&s->workspaces[i]);
  }
  ndr_plan_destroy(s->plan);
  gpu_free(&s->array);
}

static ndr_status run_on(const setup *s, int i) {
  void *address = s->results[i].tensor.data;
  return ndr_plan_execute(s->plan, s->array.tensor.data, &address, s->workspaces[i].start, ndr_plan_workspace(s->plan),
                          s->streams[i]);
}

static void assert_same_bits(const setup *s, int i, const test_array *first, const char *when) {
  ck_assert_msg(memcmp(s->results[i].host.memory, first->memory, first->bytes) == 0, "%s: other bits %s",
                case_text(&s->problem), when);
}

/* ---- equal bits under load ---- */

/* Work of about a millisecond on a stream of its own, so that blocks of the two come and go in ever different orders.
 */
typedef struct load {
  void *memory;
  float *sums;
  cudaStream_t stream;
} load;

static void start_load(load *l) {
  assert_cuda(cudaMalloc(&l->memory, (size_t)1 << 28));
  assert_cuda(cudaMemset(l->memory, 0, (size_t)1 << 28));
  assert_cuda(cudaMalloc((void **)&l->sums, sizeof(float) << 15));
  assert_cuda(cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking));
}

static void add_load(const load *l, int i) {
  int64_t columns = INT64_C(1) << 11 << i % 5, rows = (INT64_C(1) << 26) / columns;
  DLTensor array = ndr_tensor(l->memory, NDR_F32, NDR_SHAPE(rows, columns)),
           sums = ndr_tensor(l->sums, NDR_F32, NDR_SHAPE(columns));
  array.device = sums.device = (DLDevice){kDLCUDA, 0};
  ndr_options options = NDR_OPTIONS_INIT;
  options.stream = l->stream;
  assert_ok(ndreduce(&array, NDR_DIMS(0), NDR_SUM, &sums, &options));
}

static void stop_load(load *l) {
  assert_cuda(cudaStreamDestroy(l->stream));
  assert_cuda(cudaFree(l->memory));
  assert_cuda(cudaFree(l->sums));
}

START_TEST(a_hundred_runs_give_the_same_bits) {
  setup s;
  load l;
  int runs = gpu_subset() ? 3 : 100;
  if (!gpu_subset()) start_load(&l);
  set_up(&s, problems[_i], 2);
  assert_ok(run_on(&s, 1));
  assert_gpu_result(&s.problem, 0, &s.array, &s.results[1], "alone");
  for (int run = 0; run < runs; run++) {
    if (!gpu_subset()) add_load(&l, run);
    assert_cuda(cudaMemsetAsync(s.results[0].block.start, ARRAY_POISON, s.results[0].block.bytes, s.streams[0]));
    assert_ok(run_on(&s, 0));
    assert_cuda(cudaStreamSynchronize(s.streams[0]));
    assert_cuda(
        cudaMemcpy(s.results[0].host.memory, s.results[0].block.start, s.results[0].block.bytes, cudaMemcpyDefault));
    assert_same_bits(&s, 0, &s.results[1].host, "in a later run under load");
  }
  ck_assert(gpu_workspace_clean(&s.workspaces[0], s.plan));
  tear_down(&s);
  if (!gpu_subset()) stop_load(&l);
}
END_TEST

/* ---- one plan, several streams ---- */

START_TEST(one_plan_runs_in_several_streams) {
  setup s;
  set_up(&s, problems[_i], STREAMS);
  for (int round = 0; round < (gpu_subset() ? 1 : 20); round++) {
    for (int i = 0; i < STREAMS; i++)
      assert_cuda(cudaMemsetAsync(s.results[i].block.start, ARRAY_POISON, s.results[i].block.bytes, s.streams[i]));
    for (int i = 0; i < STREAMS; i++) assert_ok(run_on(&s, i));
    for (int i = 0; i < STREAMS; i++) gpu_fetch(&s.results[i]);
    for (int i = 1; i < STREAMS; i++) assert_same_bits(&s, i, &s.results[0].host, "in another stream");
  }
  for (int i = 0; i < STREAMS; i++) ck_assert(gpu_workspace_clean(&s.workspaces[i], s.plan));
  assert_gpu_result(&s.problem, 0, &s.array, &s.results[0], "in several streams");
  tear_down(&s);
}
END_TEST

/* Assertions are for the main thread: others report. */
typedef struct worker {
  const setup *s;
  int stream;
  ndr_status status;
} worker;

static void *call_often(void *argument) {
  worker *w = argument;
  ndr_options options = NDR_OPTIONS_INIT;
  DLTensor result = w->s->results[w->stream].tensor;
  options.stream = w->s->streams[w->stream];
  for (int i = 0; i < 50 && w->status == NDR_OK; i++)
    w->status = ndreduce(&w->s->array.tensor, w->s->problem.dim_count, w->s->problem.dims, w->s->problem.ops[0],
                         &result, &options);
  return NULL;
}

/* ndreduce() finds its own workspace: one a stream. */
START_TEST(threads_call_on_streams_of_their_own) {
  setup s;
  pthread_t threads[STREAMS];
  worker workers[STREAMS];
  set_up(&s, problems[_i], STREAMS);
  for (int i = 0; i < STREAMS; i++) {
    workers[i] = (worker){&s, i, NDR_OK};
    ck_assert_int_eq(pthread_create(&threads[i], NULL, call_often, &workers[i]), 0);
  }
  for (int i = 0; i < STREAMS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < STREAMS; i++) {
    ck_assert_msg(workers[i].status == NDR_OK, "%s", ndr_status_name(workers[i].status));
    gpu_fetch(&s.results[i]);
    assert_same_bits(&s, i, &s.results[0].host, "in another thread");
  }
  assert_gpu_result(&s.problem, 0, &s.array, &s.results[0], "in several threads");
  tear_down(&s);
}
END_TEST

/* ---- graphs ---- */

static ndr_status call_public(const setup *s) {
  ndr_options options = NDR_OPTIONS_INIT;
  DLTensor result = s->results[0].tensor;
  options.stream = s->streams[0];
  return ndreduce(&s->array.tensor, s->problem.dim_count, s->problem.dims, s->problem.ops[0], &result, &options);
}

static ndr_status call_plan(const setup *s) {
  return run_on(s, 0);
}

/* Captures the call, then replays it on other data than it was captured with. */
static void check_graph(const char *text, ndr_status (*call)(const setup *s), const char *how) {
  setup s;
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  rng random = {test_seed() + 1};
  set_up(&s, text, 1);
  assert_ok(call(&s)); /* loads the kernel: capturing forbids that */
  assert_cuda(cudaDeviceSynchronize());
  assert_cuda(cudaStreamBeginCapture(s.streams[0], cudaStreamCaptureModeGlobal));
  ndr_status status = call(&s);
  assert_cuda(cudaStreamEndCapture(s.streams[0], &graph));
  ck_assert_msg(status == NDR_OK, "%s: %s", text, ndr_last_error());
  assert_cuda(cudaGraphInstantiate(&replay, graph, 0));
  for (int round = 0; round < 3; round++) {
    array_fill(&s.array.host, &random, s.problem.ops[0] == NDR_PROD ? FILL_UNIT : FILL_WIDE);
    assert_cuda(cudaMemcpy(s.array.block.start, s.array.host.memory, s.array.host.bytes, cudaMemcpyDefault));
    assert_cuda(cudaMemset(s.results[0].block.start, ARRAY_POISON, s.results[0].block.bytes));
    assert_cuda(cudaDeviceSynchronize());
    for (int again = 0; again < 3; again++) assert_cuda(cudaGraphLaunch(replay, s.streams[0]));
    assert_cuda(cudaStreamSynchronize(s.streams[0]));
    assert_gpu_result(&s.problem, 0, &s.array, &s.results[0], how);
  }
  assert_cuda(cudaGraphExecDestroy(replay));
  assert_cuda(cudaGraphDestroy(graph));
  tear_down(&s);
}

START_TEST(plans_are_captured) {
  check_graph(problems[_i], call_plan, "a plan replayed from a graph");
}
END_TEST

START_TEST(plain_calls_are_captured) {
  check_graph(problems[_i], call_public, "ndreduce() replayed from a graph");
}
END_TEST

/* A graph is replayed in one stream while plain calls go on in the stream that it was captured on. */
START_TEST(replay_and_calls_do_not_meet) {
  setup s;
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  DLTensor other;
  set_up(&s, "sum f32 [40,100003] /1", 2);
  ndr_options options = NDR_OPTIONS_INIT;
  assert_ok(call_public(&s));
  assert_cuda(cudaDeviceSynchronize());
  assert_cuda(cudaStreamBeginCapture(s.streams[0], cudaStreamCaptureModeGlobal));
  ndr_status status = call_public(&s);
  assert_cuda(cudaStreamEndCapture(s.streams[0], &graph));
  assert_ok(status);
  assert_cuda(cudaGraphInstantiate(&replay, graph, 0));
  other = s.results[1].tensor;
  options.stream = s.streams[0];
  for (int round = 0; round < (gpu_subset() ? 2 : 50); round++) {
    assert_cuda(cudaGraphLaunch(replay, s.streams[1]));
    assert_ok(ndreduce(&s.array.tensor, s.problem.dim_count, s.problem.dims, s.problem.ops[0], &other, &options));
  }
  gpu_fetch(&s.results[0]);
  gpu_fetch(&s.results[1]);
  assert_same_bits(&s, 1, &s.results[0].host, "beside a graph");
  assert_gpu_result(&s.problem, 0, &s.array, &s.results[1], "beside a graph");
  assert_cuda(cudaGraphExecDestroy(replay));
  assert_cuda(cudaGraphDestroy(graph));
  tear_down(&s);
}
END_TEST

/* ---- calls that follow each other ---- */

enum { LINKS = 200 };

/* Two arrays, each of which becomes three times the other in turns, and their totals. */
typedef struct chain {
  int64_t count;
  uint64_t *arrays[2], *totals;
  cudaStream_t stream;
} chain;

static void add_links(const chain *c) {
  ndr_options options = NDR_OPTIONS_INIT;
  options.stream = c->stream;
  for (int i = 0; i < LINKS; i++) {
    int64_t shape[] = {3, c->count}, strides[] = {0, 1};
    DLTensor from = ndr_tensor(c->arrays[i % 2], NDR_U64, 2, shape), whole = from;
    DLTensor to = ndr_tensor(c->arrays[(i + 1) % 2], NDR_U64, 1, shape + 1);
    DLTensor total = ndr_tensor(c->totals + i, NDR_U64, 0, NULL);
    from.strides = strides;
    whole.shape = shape + 1, whole.ndim = 1;
    from.device = whole.device = to.device = total.device = (DLDevice){kDLCUDA, 0};
    assert_ok(ndreduce(&from, NDR_DIMS(0), NDR_SUM, &to, &options));
    if (i % 4 == 0) assert_ok(ndreduce(&whole, NDR_DIMS(0), NDR_SUM, &total, &options));
  }
}

static void assert_links(const chain *c, uint64_t *value) {
  uint64_t *read = malloc((size_t)c->count * sizeof *read), totals[LINKS];
  assert_cuda(cudaStreamSynchronize(c->stream));
  assert_cuda(cudaMemcpy(read, c->arrays[0], (size_t)c->count * sizeof *read, cudaMemcpyDefault));
  assert_cuda(cudaMemcpy(totals, c->totals, sizeof totals, cudaMemcpyDefault));
  for (int i = 0; i < LINKS; i++, *value *= 3)
    if (i % 4 == 0) ck_assert_uint_eq(totals[i], *value * (uint64_t)c->count);
  for (int64_t k = 0; k < c->count; k++) ck_assert_uint_eq(read[k], *value);
  free(read);
}

/* Each call reads what the one before it has written, and writes what that one has read (ndr_cuda_start). */
START_TEST(calls_see_what_is_before_them) {
  const int64_t counts[] = {1, 1000, 40000, 3000017};
  chain c = {.count = counts[_i]};
  size_t bytes = (size_t)c.count * sizeof(uint64_t);
  uint64_t value = 0x0101010101010101;
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  for (int a = 0; a < 2; a++) assert_cuda(cudaMalloc((void **)&c.arrays[a], bytes));
  assert_cuda(cudaMalloc((void **)&c.totals, LINKS * sizeof(uint64_t)));
  assert_cuda(cudaStreamCreateWithFlags(&c.stream, cudaStreamNonBlocking));
  assert_cuda(cudaMemset(c.arrays[0], 1, bytes));
  assert_cuda(cudaDeviceSynchronize());
  for (int round = 0; round < (gpu_subset() ? 1 : 10); round++) {
    add_links(&c);
    assert_links(&c, &value);
  }
  assert_cuda(cudaStreamBeginCapture(c.stream, cudaStreamCaptureModeGlobal));
  add_links(&c);
  assert_cuda(cudaStreamEndCapture(c.stream, &graph));
  assert_cuda(cudaGraphInstantiate(&replay, graph, 0));
  for (int round = 0; round < (gpu_subset() ? 1 : 10); round++) {
    assert_cuda(cudaGraphLaunch(replay, c.stream));
    assert_links(&c, &value);
  }
  assert_cuda(cudaGraphExecDestroy(replay));
  assert_cuda(cudaGraphDestroy(graph));
  assert_cuda(cudaStreamDestroy(c.stream));
  for (int a = 0; a < 2; a++) assert_cuda(cudaFree(c.arrays[a]));
  assert_cuda(cudaFree(c.totals));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cuda streams");
  TCase *tests = tcase_create("every problem");
  int count = gpu_subset() ? 3 : PROBLEMS;
  tcase_add_loop_test(tests, a_hundred_runs_give_the_same_bits, 0, count);
  tcase_add_loop_test(tests, one_plan_runs_in_several_streams, 0, count);
  tcase_add_loop_test(tests, threads_call_on_streams_of_their_own, 0, count);
  tcase_add_loop_test(tests, plans_are_captured, 0, count);
  tcase_add_loop_test(tests, plain_calls_are_captured, 0, count);
  tcase_add_loop_test(tests, calls_see_what_is_before_them, 0, gpu_subset() ? 2 : 4);
  suite_add_tcase(suite, tests);
  suite_case(suite, "graphs", 60, replay_and_calls_do_not_meet, NULL);
  return gpu_suite_run(suite);
}
