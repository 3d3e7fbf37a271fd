/* Times one problem beside reading its bytes and beside rivals, in turns, and takes the typical time of each. */
#include <stdlib.h>
#include <string.h>

#include "ndbench/ndbench.h"

/* Everything that is compared takes turns, so that a slow spell of the machine meets all. */
enum { ROUNDS = 5, READS = 2, MOST_LOOPS = 16 };

/* Longer calls have nothing to show beyond their samples. */
#define SHORT_CALL 50e-6

typedef struct contest {
  const bench_options *options;
  const bench_subject *subject;
  bench_samples ours, loops[MOST_LOOPS], peers[MOST_PEERS];
  int loop_count;
} contest;

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void sort(bench_samples *samples) {
  qsort(samples->seconds, (size_t)samples->count, sizeof *samples->seconds, compare);
}

static double typical(const bench_device *device, bench_samples *samples) {
  sort(samples);
  return samples->count ? samples->seconds[device->by_median ? samples->count / 2 : 0] : 0;
}

static bool add_sample(bench_samples *samples, double seconds) {
  if (seconds < 0) return false;
  samples->seconds[samples->count++] = seconds;
  return true;
}

/* Calls a sample so that one takes at least 100 us: short calls are timed back to back. */
static int64_t choose_batch(const bench_device *device, const bench_subject *subject) {
  int64_t batch = 1;
  for (; batch < device->most_batch; batch *= 2) {
    double seconds = device->sample(subject->call, subject->context, batch);
    if (seconds < 0 || seconds * (double)batch >= 100e-6) break;
  }
  return batch;
}

static void read_all(contest *c) {
  const bench_device *device = c->options->device;
  const bench_subject *s = c->subject;
  c->loop_count = 0;
  for (int loop = 0; loop < MOST_LOOPS && s->read > 0; loop++) {
    for (int i = 0; i < READS; i++) {
      double seconds = s->copied ? device->copy(c->options, s->copied, s->placed, s->read, loop)
                                 : device->read(c->options, s->placed, s->read, loop);
      if (!add_sample(&c->loops[loop], seconds)) return;
    }
    c->loop_count = loop + 1;
  }
}

static bool time_ours(contest *c, int64_t batch, int until) {
  while (c->ours.count < until)
    if (!add_sample(&c->ours, c->options->device->sample(c->subject->call, c->subject->context, batch))) return false;
  return true;
}

/* A peer sees the job only while it is its turn: what it holds does not stay on the device. Its first call is not
 * timed; one that gives another result than ours is not timed at all. */
static void time_peer(contest *c, const bench_peer *peer, bench_samples *samples, int until, double *back_to_back) {
  const bench_device *device = c->options->device;
  if (!peer->take(c->subject->job)) return;
  bool fine = device->sample(peer->call, NULL, 1) >= 0 && (samples->count || c->subject->accept(c->subject->context));
  while (fine && samples->count < until) fine = add_sample(samples, device->sample(peer->call, NULL, 1));
  if (fine && back_to_back) *back_to_back = device->back_to_back(peer->call, NULL);
  peer->leave();
}

static void time_peers(contest *c, bench_row *row, int until, bool last) {
  const bench_device *device = c->options->device;
  for (int p = 0; c->subject->job && device->peers && p < MOST_PEERS && device->peers[p]; p++) {
    bool brief = last && device->back_to_back && c->peers[p].count && c->peers[p].seconds[0] < SHORT_CALL;
    time_peer(c, device->peers[p], &c->peers[p], until, brief ? &row->peers[p].back_to_back : NULL);
  }
}

static void conclude(contest *c, bench_row *row) {
  const bench_device *device = c->options->device;
  row->typical = typical(device, &c->ours);
  row->samples = c->ours.count;
  row->seconds = c->ours.seconds[0];
  row->median = c->ours.seconds[c->ours.count / 2];
  for (int loop = 0; loop < c->loop_count; loop++) {
    double rate = (double)c->subject->read * (c->subject->copied ? 2 : 1) / typical(device, &c->loops[loop]);
    if (rate > row->ceiling) row->ceiling = rate;
  }
  int timed = 0;
  for (int p = 0; device->peers && p < MOST_PEERS && device->peers[p]; p++) {
    if (c->peers[p].count == 0) continue;
    row->peers[timed].back_to_back = row->peers[p].back_to_back;
    row->peers[timed].median = typical(device, &c->peers[p]);
    row->peers[timed++].peer = device->peers[p];
  }
}

bool bench_time(const bench_options *options, const bench_subject *subject, bench_row *row) {
  static contest c; /* too large for a stack */
  const bench_device *device = options->device;
  memset(&c, 0, sizeof c);
  c.options = options;
  c.subject = subject;
  row->batch = choose_batch(device, subject);
  for (int round = 0; round < ROUNDS; round++) {
    int until = options->repeat * (round + 1) / ROUNDS;
    read_all(&c);
    if (!time_ours(&c, row->batch, until)) return false;
    time_peers(&c, row, until, round == ROUNDS - 1);
  }
  conclude(&c, row);
  if (device->back_to_back && row->typical < SHORT_CALL)
    row->back_to_back = device->back_to_back(subject->call, subject->context);
  return row->back_to_back >= 0;
}
