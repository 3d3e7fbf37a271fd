/* The program's own OpenMP threads do the work while they poll, and only then. CTest runs this twice: with threads that
 * poll for ever (OMP_WAIT_POLICY=active), and with threads that sleep. */
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu/openmp.h"
#include "support/cases.h"
#include "support/suite.h"

enum { THREADS = 2, TRIES = 20000, LONG_JOB = 1000000000, SHORT_JOB = 1000 };

static atomic_int counter;

/* Starts OpenMP's threads unless they are there. */
static void run_region(void) {
#pragma omp parallel num_threads(THREADS)
  atomic_fetch_add(&counter, 1);
}

typedef struct calls {
  atomic_int begun[THREADS], inside;
} calls;

static void mark(void *context, int thread) {
  calls *n = context;
  atomic_fetch_add(&n->inside, 1);
  atomic_fetch_add(&n->begun[thread], 1);
  usleep(50);
  atomic_fetch_sub(&n->inside, 1);
}

static int64_t no_pool(void) {
  return 0;
}

/* Tries again, as on a busy machine a thread that polls may have no core at the moment. Polls between the tries, so
 * that this thread keeps its own core. */
static bool runs(calls *n, int tries) {
  for (int i = 0; i < tries; i++) {
    if (ndr_openmp_run(THREADS, LONG_JOB, 0, no_pool, mark, n)) return true;
    const double end = test_clock() + 1e-4;
    while (test_clock() < end) continue;
  }
  return false;
}

static long count_threads(void) {
  struct stat folder;
  return stat("/proc/self/task", &folder) == 0 ? (long)folder.st_nlink : 0;
}

static bool polls(void) {
  const char *policy = getenv("OMP_WAIT_POLICY");
  return policy && strcmp(policy, "active") == 0;
}

/* Whether other programs often want the cores: then OpenMP's threads are left alone. */
static bool is_busy(void) {
  enum { SAMPLES = 200 };
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  int busy = 0;
  for (int i = 0; i < SAMPLES; i++, usleep(5000)) {
    int running = 0;
    FILE *file = fopen("/proc/loadavg", "r");
    if (!file || fscanf(file, "%*f %*f %*f %d", &running) != 1) running = 0;
    if (file) fclose(file);
    busy += running > cores + 1;
  }
  return 10 * busy > SAMPLES;
}
static bool kept_busy; /* so that a test could not be made */

START_TEST(threads_that_poll_do_the_work) {
  run_region();
  const long threads = count_threads();
  for (int i = 0; i < 50; i++) {
    calls n = {.inside = 0};
    if (!runs(&n, TRIES)) {
      ck_assert_msg(is_busy(), "threads that poll were not found");
      kept_busy = true;
      return;
    }
    ck_assert_int_eq(atomic_load(&n.inside), 0);
    for (int thread = 0; thread < THREADS; thread++) ck_assert_int_eq(atomic_load(&n.begun[thread]), 1);
  }
  ck_assert_int_eq(count_threads(), threads);
}
END_TEST

START_TEST(threads_that_sleep_are_left_alone) {
  calls n = {.inside = 0};
  run_region();
  usleep(50000);
  ck_assert_int_eq(runs(&n, 50), 0);
  ck_assert_int_eq(atomic_load(&n.begun[0]), 0);
}
END_TEST

START_TEST(short_work_and_an_awake_pool_leave_them_alone) {
  calls n = {.inside = 0};
  run_region();
  for (int i = 0; i < 50; i++) {
    ck_assert(!ndr_openmp_run(THREADS, SHORT_JOB, 0, no_pool, mark, &n));
    ck_assert(!ndr_openmp_run(THREADS, LONG_JOB / 200, THREADS - 1, no_pool, mark, &n));
  }
  ck_assert_int_eq(atomic_load(&n.begun[0]), 0);
}
END_TEST

/* A region within a region has one thread. */
START_TEST(a_caller_within_a_region_keeps_the_pool) {
  atomic_int begun = 0;
#pragma omp parallel num_threads(THREADS)
  {
#pragma omp single
    {
      calls n = {.inside = 0};
      for (int i = 0; i < 50; i++) atomic_fetch_add(&begun, ndr_openmp_run(THREADS, LONG_JOB, 0, no_pool, mark, &n));
    }
  }
  ck_assert_int_eq(atomic_load(&begun), 0);
}
END_TEST

/* Another thread may have no team, although this one's polls. */
static void *call_from_another(void *ran) {
  calls n = {.inside = 0};
  *(bool *)ran = runs(&n, 50);
  return NULL;
}

START_TEST(other_threads_use_the_pool) {
  pthread_t thread;
  bool ran = true;
  run_region();
  ck_assert_int_eq(pthread_create(&thread, NULL, call_from_another, &ran), 0);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  ck_assert_int_eq(ran, 0);
}
END_TEST

/* To start another one could fail, and GNU's library would end the program. */
START_TEST(a_larger_team_is_not_started) {
  calls n = {.inside = 0};
  run_region();
  omp_set_num_threads(2 * THREADS);
  ck_assert_int_eq(runs(&n, 50), 0);
  omp_set_num_threads(THREADS);
}
END_TEST

static void *stay_busy(void *nothing) {
  for (;;) atomic_fetch_add(&counter, 1);
  return nothing;
}

/* GNU's library would wait for ever for the parent's threads. The child's busy thread must not pass for one of them.
 * Check's own children would be such: this program runs with CK_FORK=no. */
START_TEST(a_child_of_fork_uses_the_pool) {
  int status = -1;
  run_region();
  const pid_t child = fork();
  if (child == 0) {
    calls n = {.inside = 0};
    pthread_t thread;
    alarm(20);
    _exit(pthread_create(&thread, NULL, stay_busy, NULL) != 0 || runs(&n, 200));
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("openmp");
  ndr_openmp_least_team = THREADS;
  if (polls())
    suite_case(suite, "polling", 120, threads_that_poll_do_the_work, short_work_and_an_awake_pool_leave_them_alone,
               a_caller_within_a_region_keeps_the_pool, other_threads_use_the_pool, a_larger_team_is_not_started,
               a_child_of_fork_uses_the_pool, NULL);
  else
    suite_case(suite, "sleeping", 120, threads_that_sleep_are_left_alone, NULL);
  const int failed = suite_run(suite);
  if (kept_busy) puts("other programs kept the cores busy");
  return !failed && kept_busy ? 77 : failed;
}
