/* Timing on the CPU: the wall clock around calls that are done when they return. */
#include <string.h>
#include <time.h>

#include "ndbench/ndbench.h"

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static const char *open_cpu(const bench_options *options) {
  (void)options;
  return NULL;
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

static double sample(bool (*call)(void *context), void *context, int64_t batch) {
  double start = now();
  for (int64_t i = 0; i < batch; i++)
    if (!call(context)) return -1;
  return (now() - start) / (double)batch;
}

/* One sample of a read loop: as many passes as take at least 50 us, so that the clock's own cost does not show. */
static double read_seconds(int loop, const void *memory, size_t bytes, int threads) {
  static volatile uint64_t keep;
  uint64_t sum = 0;
  double start = now(), end = start;
  int64_t passes = 0;
  for (int64_t more = 1; end - start < 50e-6; more *= 2) {
    for (int64_t i = 0; i < more; i++)
      if (!bench_read(loop, memory, bytes, threads, &sum)) return -1;
    passes += more;
    end = now();
  }
  keep = sum;
  (void)keep;
  return (end - start) / (double)passes;
}

static double read_once(const bench_options *options, const void *placed, size_t bytes, int loop) {
  return bytes < 8 ? -1 : read_seconds(loop, placed, bytes / 8 * 8, bench_threads(options));
}

const bench_device bench_cpu = {.name = "cpu",
                                .place = {kDLCPU, 0},
                                .reference = "scalar",
                                .most_batch = 1 << 20,
                                .open = open_cpu,
                                .place_data = place_data,
                                .drop_data = drop_data,
                                .fetch = fetch,
                                .sample = sample,
                                .read = read_once};
