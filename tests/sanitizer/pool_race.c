/* What the thread sanitizer must be silent about in the pool of threads, and, with RACE, what it must report: without
 * the first its warnings mean nothing, without the second its silence does not. */
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "cpu/pool.h"

enum { COUNT = 64, THREADS = 4 };

typedef struct work {
  double parts[COUNT];
  int done_by[THREADS];
  atomic_int next, begun;
#ifdef RACE
  int visits;
#else
  atomic_int visits;
#endif
} work;

/* Threads visit at the same time: what one does for the next task must not come between. */
static void visit_all(void *context, int thread) {
  work *w = context;
  atomic_fetch_add(&w->begun, 1);
  while (atomic_load(&w->begun) < THREADS) usleep(100);
  w->visits++;
  for (int i; (i = atomic_fetch_add(&w->next, 1)) < COUNT;) {
    w->parts[i] += i;
    w->done_by[thread]++;
  }
}

int main(void) {
  double sum = 0;
  int done = 0;
  for (int round = 0; round < 100; round++) {
    work w = {.visits = 0};
    ndr_pool_run(THREADS, 1000000000, visit_all, &w);
    for (int i = 0; i < COUNT; i++) sum += w.parts[i];
    for (int i = 0; i < THREADS; i++) done += w.done_by[i];
  }
  printf("%g %d\n", sum, done);
  return 0;
}
