/* The one pool of threads. Its threads start when they are first needed, and sleep between jobs.
 *
 * A job has seats. A thread takes a seat before it works and leaves it afterwards. When no work is left, the caller
 * removes the free seats and waits until the taken ones are left. A thread that the machine is too busy to run
 * therefore costs the caller nothing, unless it is preempted in the middle of its work. Seats are counted without a
 * lock, because a preempted thread might hold it; the lock is only for going to sleep. */
#include "cpu/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "cpu/threads.h"

enum { MOST = NDR_MOST_THREADS - 1 };

/* How long a thread polls for the next job, or the caller for the last thread, before it sleeps, as waking up takes
 * this long. */
#define LINGER_NANOSECONDS 30000

/* How long no thread is started after the system refused one: other programs' threads may have reached a limit. */
#define RETRY_NANOSECONDS 1000000000

/* Both counts are in one word, so that they change together. */
#define TAKEN 1u
#define FREE (1u << 16)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static pthread_t threads[MOST];
static int started;         /* number of threads */
static int64_t retry_at;    /* when more may be started, after the system refused one */
static _Atomic pid_t owner; /* the process that started them */
static atomic_bool busy, stop, caller_waits;
static atomic_uint seats; /* FREE and TAKEN */
static atomic_int sleeping;

/* The job; written while it has no seats. */
static ndr_pool_body *job;
static void *job_context;
static atomic_int job_threads;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void relax(void) {
#if defined __x86_64__ || defined __i386__
  __builtin_ia32_pause();
#elif defined __aarch64__
  __asm__ volatile("yield");
#endif
}

/* Polls until (seats & mask) is zero, or is not, for a short time. More threads than cores would disturb each other. */
static void linger(unsigned mask, bool zero) {
  if (atomic_load(&job_threads) > ndr_thread_count()) return;
  int64_t end = now() + LINGER_NANOSECONDS;
  do
    for (int i = 0; i < 16; i++) {
      if (((atomic_load(&seats) & mask) == 0) == zero || atomic_load(&stop)) return;
      relax();
    }
  while (now() < end);
}

/* Every thread that starts on a job wakes two more, so that the caller need not wake all. */
static void wake_two(void) {
  unsigned left = atomic_load(&seats) / FREE;
  int count = atomic_load(&sleeping);
  if (left == 0 || count == 0) return;
  /* A thread that is counted as sleeping but does not sleep yet holds the lock. */
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  pthread_cond_signal(&work);
  if (left > 1 && count > 1) pthread_cond_signal(&work);
}

/* Takes a seat and returns its number, or 0 if none is free. */
static int take_seat(void) {
  unsigned was = atomic_load(&seats);
  while (was >= FREE)
    if (atomic_compare_exchange_weak(&seats, &was, was - FREE + TAKEN))
      return atomic_load(&job_threads) - (int)(was / FREE);
  return 0;
}

static void leave_seat(void) {
  if ((atomic_fetch_sub(&seats, TAKEN) & (FREE - 1)) != TAKEN || !atomic_load(&caller_waits)) return;
  pthread_mutex_lock(&lock);
  pthread_cond_signal(&done);
  pthread_mutex_unlock(&lock);
}

static void sleep_until_work(void) {
  pthread_mutex_lock(&lock);
  atomic_fetch_add(&sleeping, 1);
  while (atomic_load(&seats) < FREE && !atomic_load(&stop)) pthread_cond_wait(&work, &lock);
  atomic_fetch_sub(&sleeping, 1);
  pthread_mutex_unlock(&lock);
}

static void *run_thread(void *unused) {
  (void)unused;
  while (!atomic_load(&stop)) {
    int thread = take_seat();
    if (!thread) {
      sleep_until_work();
      continue;
    }
    wake_two();
    job(job_context, thread);
    leave_seat();
    linger(~(FREE - 1), false);
  }
  return NULL;
}

/* Starts a thread that takes no signals: these are for the program's own threads. */
static void start_threads(int count) {
  sigset_t all, before;
  if (started >= count || (retry_at != 0 && now() < retry_at)) return;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_mutex_lock(&lock);
  atomic_store(&owner, getpid());
  retry_at = 0;
  while (started < count && retry_at == 0 && !atomic_load(&stop))
    if (pthread_create(&threads[started], NULL, run_thread, NULL) == 0)
      started++;
    else
      retry_at = now() + RETRY_NANOSECONDS;
  pthread_mutex_unlock(&lock);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Removes the seats that nobody has taken. */
static void end_job(void) {
  if ((atomic_fetch_and(&seats, FREE - 1) & (FREE - 1)) == 0) return;
  linger(FREE - 1, true);
  pthread_mutex_lock(&lock);
  atomic_store(&caller_waits, true);
  while (atomic_load(&seats) != 0) pthread_cond_wait(&done, &lock);
  atomic_store(&caller_waits, false);
  pthread_mutex_unlock(&lock);
}

void ndr_pool_run(int wanted, ndr_pool_body *body, void *context) {
  int count = wanted < NDR_MOST_THREADS ? wanted : NDR_MOST_THREADS;
  if (count < 2 || atomic_load(&stop) || atomic_exchange(&busy, true)) {
    body(context, 0);
    return;
  }
  start_threads(count - 1);
  job = body;
  job_context = context;
  atomic_store(&job_threads, count);
  atomic_store(&seats, (unsigned)(count - 1) * FREE);
  wake_two();
  body(context, 0);
  end_job();
  atomic_store(&busy, false);
}

/* ---- forks, and the end ---- */

/* A child of fork() has none of the threads, whatever they were doing; it starts its own. */
static void begin_anew(void) {
  lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  work = done = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
  started = 0;
  retry_at = 0;
  atomic_store(&busy, false);
  atomic_store(&caller_waits, false);
  atomic_store(&seats, 0);
  atomic_store(&sleeping, 0);
}

__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(NULL, NULL, begin_anew);
}

/* Ends the threads, because their code goes when the library is unloaded. Threads end between jobs, so that a call that
 * runs while the program exits is not disturbed. */
__attribute__((destructor)) static void end_threads(void) {
  if (atomic_load(&owner) != getpid()) return;
  pthread_mutex_lock(&lock);
  atomic_store(&stop, true);
  pthread_cond_broadcast(&work);
  int count = started;
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
}
