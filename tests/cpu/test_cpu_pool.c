/* The pool of threads by itself: who begins a job, that all of its work is done, and who is woken for it. */
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): pthread_setattr_default_np
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu/fp_modes.h"
#include "cpu/pool.h"
#include "support/suite.h"

enum { TASKS = 64, THREADS = 4 };

#define LONG_JOB 1000000000

static void sleep_milliseconds(int milliseconds) {
  usleep((useconds_t)milliseconds * 1000);
}

/* ---- who begins ---- */

/* None begins after the call has returned. */
static void count_up(void *context, int thread) {
  (void)thread;
  atomic_fetch_add((atomic_int *)context, 1);
}

START_TEST(bodies_begin_once_each_at_most) {
  for (int i = 0; i < 1000; i++) {
    atomic_int begun = 0;
    ndr_pool_run(5, i % 2 ? LONG_JOB : 0, count_up, &begun);
    int now = atomic_load(&begun);
    ck_assert_int_ge(now, 1);
    ck_assert_int_le(now, 5);
    ck_assert_int_eq(now, atomic_load(&begun));
  }
}
END_TEST

typedef struct numbered {
  atomic_int begun[THREADS + 3], inside;
} numbered;

static void mark(void *context, int thread) {
  numbered *n = context;
  atomic_fetch_add(&n->inside, 1);
  atomic_fetch_add(&n->begun[thread], 1);
  usleep(thread == 0 ? 50 : 200);
  atomic_fetch_sub(&n->inside, 1);
}

/* Jobs of fewer threads follow those of more, and all that began have ended when the call returns. */
START_TEST(threads_have_numbers_of_their_own) {
  for (int i = 0; i < 300; i++) {
    int wanted = 1 + i % (THREADS + 3);
    numbered n = {.inside = 0};
    ndr_pool_run(wanted, LONG_JOB, mark, &n);
    ck_assert_int_eq(atomic_load(&n.inside), 0);
    ck_assert_int_eq(atomic_load(&n.begun[0]), 1);
    for (int thread = 1; thread < THREADS + 3; thread++) {
      ck_assert_int_le(atomic_load(&n.begun[thread]), 1);
      if (thread >= wanted) ck_assert_int_eq(atomic_load(&n.begun[thread]), 0);
    }
  }
}
END_TEST

/* ---- how they compute ---- */

enum { FLUSHING = 0x8040, ROUNDING_DOWN = 0x2000 }; /* of x86 */

typedef struct modes {
  uint64_t expected;
  atomic_int begun, wrong;
} modes;

static void compare_modes(void *context, int thread) {
  modes *m = context;
  atomic_fetch_add(&m->begun, 1);
  atomic_fetch_add(&m->wrong, (ndr_fp_modes() & ~UINT64_C(0x3f)) != (m->expected & ~UINT64_C(0x3f)));
  if (thread == 0) usleep(2000);
}

START_TEST(threads_have_the_modes_of_their_caller) {
#if defined __SSE2__
  const uint64_t own = ndr_fp_modes();
  int helped = 0;
  for (int i = 0; i < 20; i++) {
    modes m = {.expected = i % 2 ? own : own | FLUSHING | ROUNDING_DOWN};
    ndr_set_fp_modes(m.expected);
    ndr_pool_run(THREADS, LONG_JOB, compare_modes, &m);
    ndr_set_fp_modes(own);
    ck_assert_int_eq(atomic_load(&m.wrong), 0);
    helped += atomic_load(&m.begun) > 1;
  }
  ck_assert_int_gt(helped, 0);
#endif
}
END_TEST

/* ---- all work is done ---- */

/* Work within work is done by the thread that has it; the task numbers show that none is lost or done twice. */
typedef struct nest {
  int depth;
  atomic_int next;
  atomic_int done[TASKS];
} nest;

static void run_nest(void *context, int thread) {
  nest *outer = context;
  (void)thread;
  for (int i; (i = atomic_fetch_add(&outer->next, 1)) < TASKS;) {
    nest inner = {.depth = outer->depth + 1};
    if (inner.depth < 3) ndr_pool_run(THREADS, LONG_JOB, run_nest, &inner);
    for (int k = 0; inner.depth < 3 && k < TASKS; k++)
      if (atomic_load(&inner.done[k]) != 1) return;
    atomic_fetch_add(&outer->done[i], 1);
  }
}

static bool is_done_once(int depth) {
  nest work = {.depth = depth};
  ndr_pool_run(THREADS, LONG_JOB, run_nest, &work);
  for (int i = 0; i < TASKS; i++)
    if (atomic_load(&work.done[i]) != 1) return false;
  return true;
}

START_TEST(work_may_hold_work) {
  ck_assert(is_done_once(0));
}
END_TEST

/* Threads poll for a while after a job, go to sleep, sleep: jobs come at all of these times. */
START_TEST(jobs_come_at_any_time) {
  for (int gap = 0; gap < 1000; gap++) {
    ck_assert_msg(is_done_once(2), "gap %d us", gap);
    if (gap) usleep((useconds_t)gap);
  }
}
END_TEST

static void *call_often(void *failed) {
  for (int i = 0; i < 500; i++)
    if (!is_done_once(2)) *(bool *)failed = true;
  return NULL;
}

START_TEST(callers_may_be_many) {
  enum { CALLERS = 12 };
  pthread_t threads[CALLERS];
  bool failed[CALLERS] = {false};
  for (int i = 0; i < CALLERS; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, call_often, &failed[i]), 0);
  for (int i = 0; i < CALLERS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < CALLERS; i++) ck_assert(!failed[i]);
}
END_TEST

/* ---- who is woken ---- */

typedef struct gathering {
  atomic_int begun;
  int wanted, milliseconds;
} gathering;

/* The caller waits until as many have begun as are wanted, or the time is over. */
static void gather(void *context, int thread) {
  gathering *g = context;
  atomic_fetch_add(&g->begun, 1);
  for (int i = 0; thread == 0 && i < g->milliseconds && atomic_load(&g->begun) < g->wanted; i++) sleep_milliseconds(1);
}

static int threads_that_come(int64_t nanoseconds, int wanted, int milliseconds) {
  gathering g = {.wanted = wanted, .milliseconds = milliseconds};
  ndr_pool_run(wanted, nanoseconds, gather, &g);
  return atomic_load(&g.begun);
}

START_TEST(long_jobs_wake_all) {
  for (int i = 0; i < 20; i++) {
    int wanted = i % 2 ? THREADS : 3 * THREADS;
    ck_assert_int_eq(threads_that_come(LONG_JOB, wanted, 20000), wanted);
    sleep_milliseconds(i);
  }
}
END_TEST

/* A busy machine may keep a thread from going to sleep for long, but not every time. */
START_TEST(a_short_job_by_itself_wakes_none) {
  bool alone = false;
  ck_assert_int_eq(threads_that_come(LONG_JOB, THREADS, 20000), THREADS);
  for (int i = 0; i < 50 && !alone; i++) {
    sleep_milliseconds(20);
    alone = threads_that_come(1000, THREADS, 20) == 1;
  }
  ck_assert(alone);
}
END_TEST

/* Short jobs one after the other do wake them, so that they are awake for the next ones. */
START_TEST(short_jobs_in_a_row_wake_some) {
  bool helped = false;
  ck_assert_int_eq(threads_that_come(LONG_JOB, THREADS, 20000), THREADS);
  sleep_milliseconds(20);
  for (int i = 0; i < 100000 && !helped; i++) helped = threads_that_come(1000, THREADS, 0) > 1;
  ck_assert(helped);
}
END_TEST

/* ---- what threads are like ---- */

typedef struct likeness {
  atomic_int begun;
  atomic_bool wrong;
} likeness;

static void await_helper(likeness *seen, int thread) {
  atomic_fetch_add(&seen->begun, 1);
  for (int i = 0; thread == 0 && i < 20000 && atomic_load(&seen->begun) < 2; i++) sleep_milliseconds(1);
}

/* A program may have handlers for faults, which must run; other signals are for its own threads. */
static void look_at_signals(void *context, int thread) {
  likeness *seen = context;
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, NULL, &blocked);
  bool faults = sigismember(&blocked, SIGSEGV) || sigismember(&blocked, SIGBUS) || sigismember(&blocked, SIGFPE);
  bool others = sigismember(&blocked, SIGTERM) && sigismember(&blocked, SIGALRM) && sigismember(&blocked, SIGUSR1);
  if (thread != 0 && (faults || !others)) atomic_store(&seen->wrong, true);
  await_helper(seen, thread);
}

START_TEST(threads_take_the_signals_of_faults) {
  likeness seen = {.begun = 0};
  ndr_pool_run(2, LONG_JOB, look_at_signals, &seen);
  ck_assert_int_eq(atomic_load(&seen.begun), 2);
  ck_assert(!atomic_load(&seen.wrong));
}
END_TEST

static void look_at_cancelling(void *context, int thread) {
  int state;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  if (thread == 0 && state != PTHREAD_CANCEL_DISABLE) atomic_store(&((likeness *)context)->wrong, true);
}

/* A caller that was cancelled while it waits would leave threads that work on its memory. */
START_TEST(callers_are_not_cancelled_in_a_call) {
  likeness seen = {.begun = 0};
  int state;
  ndr_pool_run(2, LONG_JOB, look_at_cancelling, &seen);
  ck_assert(!atomic_load(&seen.wrong));
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
  ck_assert_int_eq(state, PTHREAD_CANCEL_ENABLE);
}
END_TEST

static void look_at_stack(void *context, int thread) {
  pthread_attr_t attributes;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstacksize(&attributes, &bytes);
    pthread_attr_destroy(&attributes);
  }
  if (thread != 0 && bytes < 200000) atomic_store(&((likeness *)context)->wrong, true);
  await_helper(context, thread);
}

static bool threads_have_stacks(void) {
  likeness seen = {.begun = 0};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, 32768) != 0 || pthread_setattr_default_np(&attributes) != 0) return false;
  ndr_pool_run(2, LONG_JOB, look_at_stack, &seen);
  return atomic_load(&seen.begun) == 2 && !atomic_load(&seen.wrong);
}

/* The default is the program's, and so changed in a child only. */
START_TEST(stacks_hold_the_loops) {
  int status = -1;
  pid_t child = fork();
  if (child == 0) _exit(threads_have_stacks() ? 0 : 1);
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

/* ---- the end ---- */

/* The thread sanitizer has a pthread_mutex_unlock of its own. */
#if defined __has_feature
#if __has_feature(thread_sanitizer)
#define HAS_OWN_LOCKS
#endif
#endif
#if defined __SANITIZE_THREAD__
#define HAS_OWN_LOCKS
#endif

#ifndef HAS_OWN_LOCKS
static pthread_t caller;
static atomic_bool armed;

/* Takes the place of the C library's: a signal comes while the caller of a job still holds a lock. */
int pthread_mutex_unlock(pthread_mutex_t *mutex) {
  int (*unlock)(pthread_mutex_t *);
  void *found = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
  memcpy(&unlock, &found, sizeof unlock);
  if (atomic_load(&armed) && pthread_equal(pthread_self(), caller)) {
    atomic_store(&armed, false);
    raise(SIGUSR1);
  }
  return unlock(mutex);
}

static void end_program(int number) {
  (void)number;
  exit(0); // NOLINT(bugprone-signal-handler,cert-sig30-c): programs do
}

static void be_interrupted(void) {
  caller = pthread_self();
  signal(SIGUSR1, end_program);
  alarm(20);
  for (int i = 0; i < 1000; i++) {
    atomic_int begun = 0;
    atomic_store(&armed, i > 0); /* the threads are there */
    ndr_pool_run(THREADS, LONG_JOB, count_up, &begun);
    sleep_milliseconds(1);
  }
  _exit(1);
}

START_TEST(a_handler_that_interrupts_the_caller_may_exit) {
  int status = -1;
  pid_t child = fork();
  if (child == 0) be_interrupted();
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST
#define ENDS a_handler_that_interrupts_the_caller_may_exit,
#else
#define ENDS
#endif

int main(void) {
  Suite *suite = suite_create("pool");
  suite_case(suite, "pool", 600, bodies_begin_once_each_at_most, threads_have_the_modes_of_their_caller,
             threads_have_numbers_of_their_own, work_may_hold_work, jobs_come_at_any_time, callers_may_be_many,
             long_jobs_wake_all, a_short_job_by_itself_wakes_none, short_jobs_in_a_row_wake_some,
             threads_take_the_signals_of_faults, callers_are_not_cancelled_in_a_call, stacks_hold_the_loops, ENDS NULL);
  return suite_run(suite);
}
