/* The one pool of threads. Its threads start when they are first needed, and sleep between jobs.
 *
 * Every thread has a seat. The caller offers its job at as many seats as it wants, and a thread takes what its seat is
 * offered. When no work is left, the caller withdraws the offers that nobody took, and waits for the threads that took
 * one. A thread that the machine is too busy to run therefore costs the caller nothing, unless it is preempted in the
 * middle of its work. While nobody sleeps, only the caller and the thread write to a seat, which has cache lines of its
 * own: one counter for all threads would move from core to core as often as they begin and end. Locks are for sleeping,
 * for waking, and for starting and ending threads. */
#include "cpu/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "cpu/clock.h"
#include "cpu/fp_modes.h"
#include "cpu/openmp.h"
#include "cpu/threads.h"

enum { MOST = NDR_MOST_THREADS - 1 };

/* How long no thread is started after the system refused one: other programs' threads may have reached a limit. */
#define RETRY_NANOSECONDS 1000000000

enum { EMPTY, OFFERED, TAKEN };

typedef struct pool_seat {
  _Alignas(128) atomic_int state; /* processors fetch lines in pairs */
  atomic_bool asleep;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t offered;
} pool_seat;

static pool_seat seats[MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static int started;         /* number of threads */
static int64_t retry_at;    /* when more may be started, after the system refused one */
static _Atomic pid_t owner; /* the process that started them */
static atomic_bool stop, caller_waits;
static atomic_int sleeping; /* threads that sleep or are about to */

/* The average time from an offer to the beginning of a thread that slept, as measured: a few microseconds, or 35 to 110
 * in a virtual machine. Before they sleep, a thread polls that long for its next job, and the caller for its last
 * thread. */
static _Atomic int64_t wake_nanoseconds = 30000;
#define MOST_WAKE_NANOSECONDS 200000

/* The job. The caller that made the pool busy writes it, while no seat is offered or taken. */
static struct {
  _Alignas(128) atomic_bool busy;
  atomic_int next_to_wake; /* its first seat that no thread has tried to wake */
  ndr_pool_body *body;
  void *context;
  uint64_t fp_modes;
  int seats;
  int64_t begin, last_end; /* when it began, and when the one before it ended */
} job;

static int64_t now(void) {
  return ndr_read_clock(CLOCK_MONOTONIC);
}

static void relax(void) {
#if defined __x86_64__ || defined __i386__
  __builtin_ia32_pause();
#elif defined __aarch64__
  __asm__ volatile("yield");
#endif
}

/* More threads than cores would disturb each other by polling. */
static bool crowded(void) {
  return job.seats >= ndr_thread_count();
}

/* Polls for a short time until the seat leaves `state`. Returns whether it has. */
static bool linger(pool_seat *seat, int state) {
  int64_t end = now() + atomic_load(&wake_nanoseconds);
  do
    for (int i = 0; i < 16; i++) {
      if (atomic_load(&seat->state) != state) return true;
      relax();
    }
  while (now() < end);
  return false;
}

/* The lock is taken first because a thread holds it from setting `asleep` until it waits: the signal cannot come in
 * between. */
static void wake(pool_seat *seat) {
  pthread_mutex_lock(&seat->lock);
  pthread_mutex_unlock(&seat->lock);
  pthread_cond_signal(&seat->offered);
}

/* The caller wakes two threads, and every thread that begins two more, so that the caller need not wake all. */
static void wake_two(void) {
  for (int woken = 0; woken < 2 && atomic_load(&sleeping) > 0;) {
    int next = atomic_fetch_add(&job.next_to_wake, 1);
    if (next >= job.seats) return;
    if (!atomic_load(&seats[next].asleep)) continue;
    wake(&seats[next]);
    woken++;
  }
}

/* Takes or withdraws an offer, as `state` says; false: there is none. */
static bool end_offer(pool_seat *seat, int state) {
  int offered = OFFERED;
  return atomic_compare_exchange_strong(&seat->state, &offered, state);
}

static void leave(pool_seat *seat) {
  atomic_store(&seat->state, EMPTY);
  if (!atomic_load(&caller_waits)) return;
  pthread_mutex_lock(&lock);
  pthread_cond_signal(&done);
  pthread_mutex_unlock(&lock);
}

/* Returns whether the thread slept. No offer is missed: the thread adds to `sleeping` and then reads its seat; the
 * caller writes the seat and then adds 0 to `sleeping`. Whichever adds second sees what the other wrote. */
static bool sleep_until_offer(pool_seat *seat) {
  bool slept = false;
  pthread_mutex_lock(&seat->lock);
  atomic_store(&seat->asleep, true);
  atomic_fetch_add(&sleeping, 1);
  for (; atomic_load(&seat->state) != OFFERED && !atomic_load(&stop); slept = true)
    pthread_cond_wait(&seat->offered, &seat->lock);
  atomic_fetch_sub(&sleeping, 1);
  atomic_store(&seat->asleep, false);
  pthread_mutex_unlock(&seat->lock);
  return slept;
}

/* Each measurement counts an eighth and is cut off: a thread may have waited for a core. */
static void learn_from_waking(void) {
  int64_t took = now() - job.begin, mean = atomic_load(&wake_nanoseconds);
  if (took > MOST_WAKE_NANOSECONDS) took = MOST_WAKE_NANOSECONDS;
  atomic_store(&wake_nanoseconds, mean + (took - mean) / 8);
}

static void *run_thread(void *own) {
  pool_seat *seat = own;
  for (bool slept = false; !atomic_load(&stop);) {
    if (!end_offer(seat, TAKEN)) {
      slept = sleep_until_offer(seat);
      continue;
    }
    if (slept) learn_from_waking();
    slept = false;
    wake_two();
    ndr_set_fp_modes(job.fp_modes);
    job.body(job.context, (int)(seat - seats) + 1);
    bool lingers = !crowded();
    leave(seat);
    if (lingers) linger(seat, EMPTY);
  }
  return NULL;
}

static int create_thread(pool_seat *seat) {
  pthread_attr_t attributes;
  size_t bytes = 0;
  int error = pthread_attr_init(&attributes);
  if (error) return error;
  if (pthread_attr_getstacksize(&attributes, &bytes) == 0 && bytes < NDR_LEAST_STACK)
    pthread_attr_setstacksize(&attributes, NDR_LEAST_STACK);
  error = pthread_create(&seat->thread, &attributes, run_thread, seat);
  pthread_attr_destroy(&attributes);
  return error;
}

static bool start_thread(pool_seat *seat) {
  pthread_mutex_init(&seat->lock, NULL);
  pthread_cond_init(&seat->offered, NULL);
  atomic_store(&seat->asleep, false);
  atomic_store(&seat->state, EMPTY);
  if (create_thread(seat) == 0) return true;
  pthread_cond_destroy(&seat->offered);
  pthread_mutex_destroy(&seat->lock);
  return false;
}

/* Signals are for the program's own threads, except for those that a fault raises: where these are blocked, the process
 * dies although the program has a handler, as one has that maps an array's pages when they are first read. */
static void block_signals(sigset_t *before) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
  sigset_t blocked;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&blocked, faults[i]);
  pthread_sigmask(SIG_SETMASK, &blocked, before);
}

static void start_threads(int count) {
  sigset_t before;
  if (started >= count || (retry_at != 0 && now() < retry_at)) return;
  block_signals(&before);
  pthread_mutex_lock(&lock);
  atomic_store(&owner, getpid());
  retry_at = 0;
  while (started < count && retry_at == 0 && !atomic_load(&stop))
    if (start_thread(&seats[started]))
      started++;
    else
      retry_at = now() + RETRY_NANOSECONDS;
  pthread_mutex_unlock(&lock);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Waking threads pays where there is much to do, or where jobs follow each other: then they are awake for the next. */
static bool waking_pays(int64_t nanoseconds) {
  int64_t wake = atomic_load(&wake_nanoseconds);
  return nanoseconds > 2 * wake || job.begin - job.last_end < wake;
}

/* next_to_wake stays behind the last seat until all are offered, so that a thread that begins early wakes nobody: a
 * thread woken before its offer would sleep again, and nobody would wake it. */
static void offer_job(int64_t nanoseconds) {
  job.begin = now();
  atomic_store(&job.next_to_wake, job.seats);
  for (int i = 0; i < job.seats; i++) atomic_store_explicit(&seats[i].state, OFFERED, memory_order_release);
  if (!waking_pays(nanoseconds)) return;
  atomic_store(&job.next_to_wake, 0);
  if (atomic_fetch_add(&sleeping, 0) > 0) wake_two();
}

static void wait_for(pool_seat *seat) {
  if (!crowded() && linger(seat, TAKEN)) return;
  pthread_mutex_lock(&lock);
  atomic_store(&caller_waits, true);
  while (atomic_load(&seat->state) != EMPTY) pthread_cond_wait(&done, &lock);
  atomic_store(&caller_waits, false);
  pthread_mutex_unlock(&lock);
}

static void end_job(void) {
  for (int i = 0; i < job.seats; i++)
    if (atomic_load(&seats[i].state) == OFFERED) end_offer(&seats[i], EMPTY);
  for (int i = 0; i < job.seats; i++)
    if (atomic_load(&seats[i].state) != EMPTY) wait_for(&seats[i]);
}

static void run_job(int count, int64_t nanoseconds, ndr_pool_body *body, void *context) {
  start_threads(count - 1);
  job.body = body;
  job.context = context;
  job.fp_modes = ndr_fp_modes();
  job.seats = count - 1 < started ? count - 1 : started;
  offer_job(nanoseconds);
  body(context, 0);
  end_job();
}

/* The CPU time of all threads together, in nanoseconds. */
static int64_t threads_time(void) {
  int64_t total = 0;
  clockid_t clock;
  for (int i = 0; i < started; i++)
    if (pthread_getcpuclockid(seats[i].thread, &clock) == 0) total += ndr_read_clock(clock);
  return total;
}

void ndr_pool_run(int wanted, int64_t nanoseconds, ndr_pool_body *body, void *context) {
  int count = wanted < NDR_MOST_THREADS ? wanted : NDR_MOST_THREADS, cancel;
  if (count < 2 || atomic_load(&stop) || atomic_exchange(&job.busy, true)) {
    body(context, 0);
    return;
  }
  /* A caller that is cancelled while it waits would leave threads that work on its memory. */
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  if (!ndr_openmp_run(count, nanoseconds, started - atomic_load(&sleeping), threads_time, body, context))
    run_job(count, nanoseconds, body, context);
  job.last_end = now();
  atomic_store(&job.busy, false);
  pthread_setcancelstate(cancel, NULL);
}

/* ---- forks, and the end ---- */

/* A child of fork() has none of the threads, whatever they were doing; it starts its own. */
static void begin_anew(void) {
  for (int i = 0; i < started; i++) atomic_store(&seats[i].state, EMPTY);
  lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  done = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
  started = 0;
  retry_at = 0;
  atomic_store(&job.busy, false);
  atomic_store(&caller_waits, false);
  atomic_store(&sleeping, 0);
}

__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(NULL, NULL, begin_anew);
}

/* Takes a lock, unless somebody keeps it for a second. */
static bool lock_for_end(pthread_mutex_t *wanted) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += 1;
  return pthread_mutex_timedlock(wanted, &end) == 0;
}

/* Ends the threads, because their code goes when the library is unloaded. Threads end between jobs, so that a call that
 * runs while the program exits is not disturbed. Where a handler of signals calls exit(), the thread that it
 * interrupted may hold a lock, which nobody gives back: then the threads end with the program. */
__attribute__((destructor)) static void end_threads(void) {
  if (atomic_load(&owner) != getpid() || !lock_for_end(&lock)) return;
  atomic_store(&stop, true);
  int count = started;
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < count; i++) {
    if (!lock_for_end(&seats[i].lock)) return;
    pthread_mutex_unlock(&seats[i].lock);
    pthread_cond_signal(&seats[i].offered);
  }
  for (int i = 0; i < count; i++) pthread_join(seats[i].thread, NULL);
}
