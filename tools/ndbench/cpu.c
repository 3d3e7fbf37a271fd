/* Timing on the CPU: the wall clock around calls that are done when they return. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ndbench/ndbench.h"

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Data that empty the caches before each call, for the gauge. The library reads them, on the threads that are timed:
 * OpenMP's would still spin when the call begins. */
static struct {
  ndr_plan *plan;
  void *data;
} other;

static void empty_caches(void) {
  int64_t sum;
  void *results[] = {&sum};
  (void)ndr_plan_execute(other.plan, other.data, results, NULL, 0, NULL);
}

/* Twice the third-level caches that the threads may use: one core's, times the threads, is at most what all have. */
static size_t bytes_to_empty(int threads) {
  const size_t least = 64 << 20, most = (size_t)1 << 30;
  char text[32] = "";
  FILE *fact = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");
  if (fact && !fgets(text, sizeof text, fact)) text[0] = 0;
  if (fact) fclose(fact);
  size_t bytes = ((size_t)strtoul(text, NULL, 10) << 11) * (size_t)threads; /* "32768K" */
#ifdef _SC_LEVEL3_CACHE_SIZE
  long all = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (all > 0 && bytes > 2 * (size_t)all) bytes = 2 * (size_t)all;
#endif
  return bytes < least ? least : bytes > most ? most : bytes;
}

static const char *open_cpu(const bench_options *options) {
  if (!options || !options->gauge) return NULL;
  size_t bytes = bytes_to_empty(bench_threads(options));
  ndr_problem sum = NDR_PROBLEM_INIT;
  sum.op_count = sum.ndim = sum.dim_count = 1;
  sum.ops[0] = NDR_SUM;
  sum.dtype = NDR_I64;
  sum.shape[0] = (int64_t)(bytes / sizeof(int64_t));
  sum.strides[0] = 1;
  ndr_options how = bench_plan_options(options, NULL);
  how.planning = NDR_ESTIMATE;
  other.data = bench_allocate(bytes);
  if (!other.data) return "out of memory to empty the caches";
  memset(other.data, 1, bytes);
  return ndr_plan_create(&other.plan, &sum, bench_cpu.place, NULL, &how) == NDR_OK ? NULL : ndr_last_error();
}

static void *place_data(void *host, size_t bytes) {
  (void)bytes;
  return host;
}

static void drop_data(void *placed, void *host) {
  (void)placed;
  (void)host;
}

static void fetch(void *host, const void *placed, size_t bytes) {
  memcpy(host, placed, bytes);
}

/* After a loop OpenMP's threads spin on the cores that a call would use, for up to 20 ms on an Intel core. */
static const struct timespec spinning = {.tv_nsec = 50000000};
static bool loops_may_spin;

static void await_loops(void) {
  if (loops_may_spin) nanosleep(&spinning, NULL);
  loops_may_spin = false;
}

static double sample(bool (*call)(void *context), void *context, int64_t batch) {
  await_loops();
  if (other.plan) {
    empty_caches();
    batch = 1;
  }
  double start = now();
  for (int64_t i = 0; i < batch; i++)
    if (!call(context)) return -1;
  return (now() - start) / (double)batch;
}

/* One sample of a read loop, or, with `to`, of a copy loop: as many passes as take at least 50 us, so that the clock's
 * own cost does not show; a single one where caches are emptied before. */
static double loop_seconds(int loop, void *to, const void *memory, size_t bytes, int threads) {
  static volatile uint64_t keep;
  uint64_t sum = 0;
  if (other.plan) empty_caches();
  double start = now(), end = start;
  int64_t passes = 0;
  for (int64_t more = 1; end - start < 50e-6; more *= 2) {
    for (int64_t i = 0; i < more; i++)
      if (!(to ? bench_copy(loop, to, memory, bytes, threads) : bench_read(loop, memory, bytes, threads, &sum)))
        return -1;
    passes += more;
    end = now();
    if (other.plan) break;
  }
  keep = sum;
  (void)keep;
  loops_may_spin = true;
  return (end - start) / (double)passes;
}

static double read_once(const bench_options *options, const void *placed, size_t bytes, int loop) {
  return bytes < 8 ? -1 : loop_seconds(loop, NULL, placed, bytes / 8 * 8, bench_threads(options));
}

static double copy_once(const bench_options *options, void *to, const void *from, size_t bytes, int loop) {
  return loop_seconds(loop, to, from, bytes, bench_threads(options));
}

const bench_device bench_cpu = {.name = "cpu",
                                .place = {kDLCPU, 0},
                                .reference = "scalar",
                                .most_batch = 1 << 20,
                                .line = 64,
                                .open = open_cpu,
                                .place_data = place_data,
                                .drop_data = drop_data,
                                .fetch = fetch,
                                .sample = sample,
                                .read = read_once,
                                .copy = copy_once};
