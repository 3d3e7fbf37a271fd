/* Times ndreduce_parts with a thread for each GPU beside plain calls: bench_parts [GPUS [MIB]]
 *
 * Each GPU has a part of MIB MiB (1024) of f32. For 1, 2, 4 ... up to GPUS GPUs (all) prints a line of JSON: plain_us
 * of ndreduce for one part, whole_us of ndreduce for all parts on one GPU, and parts_us of ndreduce_parts, from when
 * the first rank begins to when rank 0 has the results; and what the steps of a rank take. Where there are fewer GPUs
 * than ranks, several ranks share a GPU, and all parts together have MIB MiB. All are medians, with the wait for the
 * stream; results are compared. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "device.h"
#include "ndreduce/comm.h"
#include "ndreduce/device.h"
#include "support/threads_comm.h"

enum { RUNS = 41, MOST_RANKS = 16 };

typedef struct {
  const char *name;
  int64_t columns; /* outputs */
  ndr_op op;
} bench_case;

static const bench_case cases[] = {{"sum", 1, NDR_SUM},
                                   {"mean of columns", 4096, NDR_MEAN},
                                   {"var of columns", 4096, NDR_VAR},
                                   {"mean of many columns", 262144, NDR_MEAN}};

typedef struct {
  const bench_case *of;
  int ranks, gpus;
  int64_t rows; /* of a part */
  float *data[MOST_RANKS], *result;
  void *streams[MOST_RANKS];
  double begun[MOST_RANKS], ended[MOST_RANKS], took[RUNS];
  atomic_int arrivals; /* how often a rank has come to a barrier */
} work;

static void check(ndr_status status, const char *what) {
  if (status == NDR_OK) return;
  fprintf(stderr, "bench_parts: %s: %s\n", what, ndr_last_error());
  exit(1);
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *seconds) {
  qsort(seconds, RUNS, sizeof *seconds, ascending);
  return seconds[RUNS / 2];
}

static DLDevice device_of(const work *w, int rank) {
  return (DLDevice){kDLCUDA, rank % w->gpus};
}

static DLTensor tensor_on(DLDevice device, void *data, int ndim, int64_t *shape) {
  DLTensor tensor = ndr_tensor(data, NDR_F32, ndim, shape);
  tensor.device = device;
  return tensor;
}

/* The problem of an array of `rows` rows. */
static ndr_problem problem_of(const work *w, int64_t rows) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  problem.dtype = NDR_F32;
  problem.ndim = 2;
  problem.shape[0] = rows;
  problem.shape[1] = w->of->columns;
  problem.dim_count = problem.op_count = 1;
  problem.ops[0] = w->of->op;
  return problem;
}

/* ---- Plain ------------------------------------------------------------------------------------------------------ */

static double time_plain(const work *w, float *data, int64_t rows) {
  double seconds[RUNS];
  int64_t shape[] = {rows, w->of->columns}, columns = w->of->columns;
  DLTensor array = tensor_on(device_of(w, 0), data, 2, shape),
           result = tensor_on(device_of(w, 0), w->result, 1, &columns);
  ndr_options options = NDR_OPTIONS_INIT;
  options.stream = w->streams[0];
  for (int i = -3; i < RUNS; i++) {
    double begin = test_clock();
    check(ndreduce(&array, NDR_DIMS(0), w->of->op, &result, &options), "ndreduce");
    check(ndr_stream_wait(array.device, options.stream), "waiting");
    if (i >= 0) seconds[i] = test_clock() - begin;
  }
  return median(seconds);
}

static void fetch(const work *w, float *here) {
  DLDevice device = device_of(w, 0);
  check(ndr_copy(device, here, w->result, (size_t)w->of->columns * sizeof *here, w->streams[0]), "copying");
  check(ndr_stream_wait(device, w->streams[0]), "waiting");
}

/* ---- Parts ------------------------------------------------------------------------------------------------------ */

/* Threads that poll leave a barrier at the same time: those that sleep are woken one after the other. */
static void meet(work *w) {
  int arrival = atomic_fetch_add(&w->arrivals, 1), all = (arrival / w->ranks + 1) * w->ranks;
  while (atomic_load(&w->arrivals) < all) {
  }
}

static void run_rank(ndr_comm *comm, void *user) {
  work *w = user;
  int r = comm->rank;
  int64_t shape[] = {w->rows, w->of->columns}, offset[] = {r * w->rows, 0}, columns = w->of->columns;
  DLTensor part = tensor_on(device_of(w, r), w->data[r], 2, shape);
  DLTensor result = tensor_on(device_of(w, r), w->result, 1, &columns), *results[] = {&result};
  ndr_problem problem = problem_of(w, w->ranks * w->rows);
  ndr_options options = NDR_OPTIONS_INIT;
  options.stream = w->streams[r];
  (void)cudaSetDevice(part.device.device_id);
  for (int i = -3; i < RUNS; i++) {
    meet(w);
    w->begun[r] = test_clock();
    check(ndreduce_parts(comm, &problem, &part, offset, results, &options), "ndreduce_parts");
    if (r == 0) check(ndr_stream_wait(part.device, options.stream), "waiting");
    w->ended[r] = test_clock();
    meet(w);
    if (r > 0 || i < 0) continue;
    double begin = w->begun[0];
    for (int k = 1; k < w->ranks; k++) begin = w->begun[k] < begin ? w->begun[k] : begin;
    w->took[i] = w->ended[0] - begin;
  }
}

static double time_parts(work *w) {
  atomic_store(&w->arrivals, 0);
  if (threads_run(w->ranks, 0, run_rank, w, NULL) != 0) exit(1);
  return median(w->took);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------ */

/* What a rank's steps take by themselves: to begin and add, to export, to import, to finish. */
static void time_steps(const work *w, double *steps) {
  double each[4][RUNS];
  int64_t shape[] = {w->rows, w->of->columns}, offset[] = {0, 0}, columns = w->of->columns;
  DLDevice device = device_of(w, 0);
  DLTensor part = tensor_on(device, w->data[0], 2, shape), result = tensor_on(device, w->result, 1, &columns),
           *results[] = {&result};
  ndr_problem problem = problem_of(w, w->rows);
  ndr_options options = NDR_OPTIONS_INIT;
  options.stream = w->streams[0];
  for (int i = 0; i < RUNS; i++) {
    ndr_accumulator *a;
    size_t count;
    double at[5];
    at[0] = test_clock();
    check(ndr_accumulator_create(&a, &problem, device, &options), "creating");
    check(ndr_accumulator_add(a, &part, offset), "adding");
    check(ndr_stream_wait(device, options.stream), "waiting");
    at[1] = test_clock();
    check(ndr_accumulator_export(a, NULL, 0, &count), "exporting");
    void *bytes = malloc(count);
    check(ndr_accumulator_export(a, bytes, count, &count), "exporting");
    at[2] = test_clock();
    check(ndr_accumulator_import(a, bytes, count), "importing");
    check(ndr_stream_wait(device, options.stream), "waiting");
    at[3] = test_clock();
    check(ndr_accumulator_finish(a, results), "finishing");
    check(ndr_stream_wait(device, options.stream), "waiting");
    ndr_accumulator_destroy(a);
    at[4] = test_clock();
    free(bytes);
    for (int k = 0; k < 4; k++) each[k][i] = at[k + 1] - at[k];
  }
  for (int k = 0; k < 4; k++) steps[k] = median(each[k]);
}

/* ---- All -------------------------------------------------------------------------------------------------------- */

static void compare(const bench_case *of, int ranks, const float *whole, const float *parts) {
  for (int64_t i = 0; i < of->columns; i++) {
    if (whole[i] - parts[i] <= 1e-4F * whole[i] && parts[i] - whole[i] <= 1e-4F * whole[i]) continue;
    fprintf(stderr, "bench_parts: %s, %d ranks: output %lld is %g, not %g\n", of->name, ranks, (long long)i, parts[i],
            whole[i]);
    exit(1);
  }
}

static void print(const work *w, int64_t part_bytes, double plain, double whole, double parts, const double *steps) {
  printf("{\"case\": \"%s f32 [%lld,%lld]\", \"ranks\": %d, \"gpus\": %d, \"part_mib\": %lld, \"plain_us\": %.1f, "
         "\"whole_us\": %.1f, \"parts_us\": %.1f, \"add_us\": %.1f, \"export_us\": %.1f, \"import_us\": %.1f, "
         "\"finish_us\": %.1f}\n",
         w->of->name, (long long)w->ranks * w->rows, (long long)w->of->columns, w->ranks,
         w->ranks > w->gpus ? w->gpus : w->ranks, (long long)(part_bytes >> 20), 1e6 * plain, 1e6 * whole, 1e6 * parts,
         1e6 * steps[0], 1e6 * steps[1], 1e6 * steps[2], 1e6 * steps[3]);
  fflush(stdout);
}

/* The parts of all ranks on one GPU lie one behind the other, so that they are an array, too. */
static void bench(const bench_case *of, int ranks, int gpus, int64_t part_bytes, float *whole, float *const *there) {
  work w = {.of = of, .ranks = ranks, .gpus = gpus};
  double steps[4];
  bool shared = ranks > gpus;
  if (shared) part_bytes /= ranks;
  w.rows = part_bytes / 4 / of->columns;
  for (int r = 0; r < ranks; r++) {
    DLDevice device = device_of(&w, r);
    w.data[r] = shared || r == 0 ? whole + r * (part_bytes / 4) : there[r];
    check(ndr_stream_create(device, &w.streams[r]), "a stream");
  }
  void *result;
  check(ndr_memory_allocate(device_of(&w, 0), (size_t)of->columns * sizeof(float), &result), "allocating");
  w.result = result;
  float *one = malloc((size_t)of->columns * sizeof *one), *other = malloc((size_t)of->columns * sizeof *other);
  double plain = time_plain(&w, w.data[0], w.rows), all = time_plain(&w, whole, ranks * w.rows);
  fetch(&w, one);
  time_steps(&w, steps);
  double parts = time_parts(&w);
  fetch(&w, other);
  compare(of, ranks, one, other);
  print(&w, part_bytes, plain, all, parts, steps);
  for (int r = 0; r < ranks; r++) ndr_stream_destroy(device_of(&w, r), w.streams[r]);
  ndr_memory_free(device_of(&w, 0), result);
  free(one);
  free(other);
}

/* Numbers from 1 to 2, the same on all devices. */
static float *fill(DLDevice device, int64_t bytes) {
  enum { BLOCK = 16 << 20 };
  static float numbers[BLOCK / 4];
  void *memory;
  uint64_t state = 1;
  for (int i = 0; i < BLOCK / 4; i++) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    numbers[i] = 1 + (float)(state >> 40) * 0x1p-24F;
  }
  check(ndr_memory_allocate(device, (size_t)bytes, &memory), "allocating");
  for (int64_t at = 0; at < bytes; at += BLOCK)
    check(ndr_copy(device, (char *)memory + at, numbers, BLOCK, NULL), "copying");
  check(ndr_stream_wait(device, NULL), "waiting");
  return memory;
}

int main(int argc, char **argv) {
  int gpus = 0, most = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
  int64_t part_bytes = (int64_t)(argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1024) << 20;
  float *there[MOST_RANKS] = {NULL};
  if (ndr_device_count(kDLCUDA, &gpus) != NDR_OK) return printf("%s\n", ndr_last_error()), GPU_SKIPPED;
  if (most < 1) most = gpus;
  if (most > MOST_RANKS || part_bytes < 16 << 20) return 2;
  threads_poll_nanoseconds = 10000000;
  float *whole = fill((DLDevice){kDLCUDA, 0}, most > gpus ? part_bytes : most * part_bytes);
  for (int r = 1; r < most && r < gpus; r++) there[r] = fill((DLDevice){kDLCUDA, r}, part_bytes);
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int ranks = 1; ranks <= most; ranks *= 2) bench(&cases[c], ranks, gpus, part_bytes, whole, there);
  return 0;
}
