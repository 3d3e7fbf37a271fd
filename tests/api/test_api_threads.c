/* Threads of the library's own: what becomes of them in a child of fork(), when the library is unloaded, when the
 * program ends, and where none can be had. A child that hangs is ended by its alarm, which fails the test. */
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): pthread_setattr_default_np
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu/pool.h"
#include "cpu/threads.h"
#include "support/cases.h"
#include "support/suite.h"

/* The sanitizers of today's compilers do not take their allocators' locks for a fork: where another thread has one of
 * them, the child waits for it for ever. So under these nothing is forked while other threads allocate. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define WITH_SANITIZER 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WITH_SANITIZER 1
#endif
#endif
#if defined WITH_SANITIZER
enum { FORKS = 0 };
#else
enum { FORKS = 1000 };
#endif
enum { LARGEST = 1 << 20, PATIENCE = 60 };

typedef ndr_status reduction(const DLTensor *, int, const int *, ndr_op, DLTensor *, const ndr_options *);

static float numbers[LARGEST];

static void make_numbers(void) {
  for (int i = 0; i < LARGEST; i++) numbers[i] = (float)(i % 1000) / 7;
}

/* The sum of the first numbers; NaN where it fails. */
static float sum_by(reduction *reduce, int64_t count, int threads) {
  float sum = 0;
  ndr_options options = NDR_OPTIONS_INIT;
  DLTensor array = ndr_tensor(numbers, NDR_F32, NDR_SHAPE(count));
  DLTensor result = ndr_tensor(&sum, NDR_F32, 0, NULL);
  options.threads = threads;
  return reduce(&array, NDR_ALL_DIMS, NDR_SUM, &result, &options) == NDR_OK ? sum : 0.0F / 0.0F;
}

static bool sums_are_right(void) {
  for (int64_t count = 1000; count <= LARGEST; count *= 4) {
    float alone = sum_by(ndreduce, count, 1);
    for (int threads = 0; threads < 9; threads++)
      if (sum_by(ndreduce, count, threads) != alone) return false;
  }
  return true;
}

/* Whether a child in which body runs ends well. */
static bool child_succeeds(bool (*body)(void)) {
  int status = -1;
  pid_t child = fork();
  if (child == 0) {
    signal(SIGALRM, SIG_DFL); /* Check's own handler may wait for what the child waits for */
    alarm(PATIENCE);
    _exit(body() ? 0 : 1);
  }
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int count_threads(void) {
  int count = 0;
  DIR *tasks = opendir("/proc/self/task");
  while (tasks && readdir(tasks)) count++;
  if (tasks) closedir(tasks);
  return count - 2; /* . and .. */
}

/* Whether there are so many threads; one that was joined may be listed for a moment longer. */
static bool threads_become(int count) {
  for (int i = 0; i < PATIENCE * 100 && count_threads() != count; i++) usleep(10000);
  return count_threads() == count;
}

static bool child_and_grandchild(void) {
  return sums_are_right() && child_succeeds(sums_are_right) && sums_are_right();
}

START_TEST(children_reduce) {
  make_numbers();
  ck_assert(sums_are_right());
  ck_assert(child_succeeds(child_and_grandchild));
  ck_assert(sums_are_right());
}
END_TEST

/* ---- forks while other threads are in the library ---- */

static atomic_bool enough;

static void *keep_reducing(void *unused) {
  for (int64_t count = LARGEST; !atomic_load(&enough); count -= 4096) {
    if (count < LARGEST / 2) count = LARGEST;
    sum_by(ndreduce, count, 4);
  }
  return unused;
}

static void *keep_remembering(void *unused) {
  while (!atomic_load(&enough)) {
    ndr_measurements_import("sum f32 [60,500] /0 on cpu 2 threads: rows 1 us");
    ndr_measurements_forget();
  }
  return unused;
}

static bool reduces_once(void) {
  float alone = sum_by(ndreduce, LARGEST, 1);
  return sum_by(ndreduce, LARGEST, 4) == alone && ndr_measurements_export(NULL, 0) < 1000;
}

START_TEST(children_of_busy_parents_reduce) {
  pthread_t threads[2];
  int failed = 0, forks = FORKS ? test_case_count(FORKS) : 0;
  make_numbers();
  ck_assert_int_eq(pthread_create(&threads[0], NULL, keep_reducing, NULL), 0);
  ck_assert_int_eq(pthread_create(&threads[1], NULL, keep_remembering, NULL), 0);
  for (int i = 0; i < forks && !failed; i++) failed += !child_succeeds(reduces_once);
  atomic_store(&enough, true);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  ck_assert_int_eq(failed, 0);
}
END_TEST

/* The threads of the pool poll for some time after a call, and are on their way to sleep then. */
START_TEST(children_of_polling_parents_reduce) {
  make_numbers();
  for (int i = 0; i < 100; i++) {
    float sum = sum_by(ndreduce, LARGEST, 4);
    if (i % 4) usleep((useconds_t)i);
    ck_assert_msg(child_succeeds(reduces_once), "fork %d", i);
    ck_assert(sum_by(ndreduce, LARGEST, 4) == sum);
  }
}
END_TEST

/* ---- calls at the same time ---- */

static void *sum_often(void *sum) {
  for (int i = 0; i < 50; i++) *(float *)sum = sum_by(ndreduce, LARGEST, 4);
  return NULL;
}

START_TEST(calls_may_overlap) {
  enum { CALLERS = 6 };
  pthread_t threads[CALLERS];
  float sums[CALLERS];
  make_numbers();
  for (int i = 0; i < CALLERS; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, sum_often, &sums[i]), 0);
  for (int i = 0; i < CALLERS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < CALLERS; i++) ck_assert(sums[i] == sum_by(ndreduce, LARGEST, 1));
}
END_TEST

/* The pool has one job at a time; a call that comes during another has all shares to itself. */
static void sum_within(void *context, int thread) {
  float sum = sum_by(ndreduce, LARGEST, 8);
  if (thread == 0) *(float *)context = sum;
}

START_TEST(calls_may_come_from_within_the_pool) {
  float sum = 0;
  make_numbers();
  ndr_pool_run(4, 1000000000, sum_within, &sum);
  ck_assert(sum == sum_by(ndreduce, LARGEST, 1));
}
END_TEST

/* ---- threads come and go ---- */

START_TEST(threads_take_no_signals) {
  char path[300], line[256];
  make_numbers();
  ck_assert(sums_are_right());
  DIR *tasks = opendir("/proc/self/task");
  ck_assert_ptr_nonnull(tasks);
  int others = 0;
  for (struct dirent *task; (task = readdir(tasks));) {
    unsigned long long blocked = 0;
    if (task->d_name[0] == '.' || atoi(task->d_name) == getpid()) continue; /* NOLINT(cert-err34-c) */
    snprintf(path, sizeof path, "/proc/self/task/%.100s/status", task->d_name);
    FILE *status = fopen(path, "r");
    ck_assert_ptr_nonnull(status);
    while (fgets(line, sizeof line, status))
      if (strncmp(line, "SigBlk:", 7) == 0) blocked = strtoull(line + 7, NULL, 16);
    fclose(status);
    ck_assert_msg(blocked >> (SIGINT - 1) & 1 && blocked >> (SIGUSR1 - 1) & 1, "%llx", blocked);
    others++;
  }
  closedir(tasks);
  ck_assert_int_ge(others, 1);
}
END_TEST

/* What the unloaded library leaves behind would run code that is gone. */
static reduction *loaded;

static bool loaded_is_right(void) {
  return sum_by(loaded, LARGEST, 4) == sum_by(ndreduce, LARGEST, 1);
}

static bool load_and_unload(void) {
  int before = count_threads();
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  *(void **)&loaded = library ? dlsym(library, "ndreduce") : NULL;
  bool right = loaded && loaded_is_right() && threads_become(before + 3) && child_succeeds(loaded_is_right);
  return right && dlclose(library) == 0 && threads_become(before);
}

START_TEST(the_library_can_be_unloaded) {
  make_numbers();
  ck_assert(sums_are_right()); /* a sanitizer has a thread of its own from the first one on */
  for (int i = 0; i < 50; i++) ck_assert_msg(load_and_unload(), "round %d", i);
}
END_TEST

static bool exit_during_a_call(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, keep_reducing, NULL) != 0) return false;
  usleep(2000);
  exit(0); /* NOLINT(concurrency-mt-unsafe): that is the point */
}

START_TEST(programs_may_end_during_a_call) {
  make_numbers();
  for (int i = 0; i < 20; i++) ck_assert(child_succeeds(exit_during_a_call));
}
END_TEST

static atomic_int inside;

static void work_long(void *context, int thread) {
  atomic_fetch_add(&inside, 1);
  for (int i = 0; thread == 0 && i < PATIENCE * 1000 && atomic_load(&inside) < 2; i++) usleep(1000);
  usleep(thread == 0 ? 50000 : 150000);
  atomic_fetch_sub(&inside, 1);
  (void)context;
}

/* A caller that did not wait for the others would hand its memory back while they write to it. */
static void *run_and_look(void *unused) {
  ndr_pool_run(2, 1000000000, work_long, NULL);
  if (atomic_load(&inside) != 0) _exit(1);
  return unused;
}

static bool exit_during_a_job(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, run_and_look, NULL) != 0 || pthread_detach(thread) != 0) return false;
  for (int i = 0; i < PATIENCE * 500 && atomic_load(&inside) < 2; i++) usleep(1000);
  if (atomic_load(&inside) < 2) return false;
  usleep(20000);
  exit(0); /* NOLINT(concurrency-mt-unsafe): that is the point */
}

START_TEST(the_end_of_a_program_disturbs_no_call) {
  for (int i = 0; i < 5; i++) ck_assert(child_succeeds(exit_during_a_job));
}
END_TEST

static bool set_stack_size(size_t bytes) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  return pthread_attr_setstacksize(&attributes, bytes) == 0 && pthread_setattr_default_np(&attributes) == 0;
}

/* Stacks of 128 TiB fit in no address space. */
static bool reduces_without_threads(void) {
  int before = count_threads();
  return set_stack_size((size_t)1 << 47) && sums_are_right() && count_threads() == before;
}

START_TEST(no_threads_are_needed) {
  make_numbers();
  ck_assert(child_succeeds(reduces_without_threads));
}
END_TEST

/* A limit that is gone after a second is not remembered. */
static bool threads_come_later(void) {
  int before = count_threads();
  if (!reduces_without_threads() || !set_stack_size((size_t)1 << 20)) return false;
  sleep(2);
  return sums_are_right() && count_threads() > before;
}

START_TEST(a_limit_on_threads_may_be_for_a_while) {
  make_numbers();
  ck_assert(child_succeeds(threads_come_later));
}
END_TEST

/* ---- how many there are ---- */

static bool counts_one(void) {
  return ndr_thread_count() == 1;
}

static bool counts_three(void) {
  return ndr_thread_count() == 3;
}

START_TEST(the_environment_sets_the_count) {
  int before = ndr_thread_count();
  ck_assert_int_ge(before, 1);
  setenv("OMP_NUM_THREADS", "3,2", 1);
  ck_assert(child_succeeds(counts_three));
  setenv("OMP_THREAD_LIMIT", "1", 1);
  ck_assert(child_succeeds(counts_one));
  unsetenv("OMP_NUM_THREADS");
  ck_assert(child_succeeds(counts_one));
  ck_assert_int_eq(ndr_thread_count(), before);
}
END_TEST

static void write_file(const char *folder, const char *name, const char *text) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  ck_assert_ptr_nonnull(file);
  fputs(text, file);
  fclose(file);
}

START_TEST(control_groups_limit_the_count) {
  char root[] = "/tmp/ndreduce-XXXXXX", folder[100], membership[100], command[100];
  ck_assert_ptr_nonnull(mkdtemp(root));
  snprintf(membership, sizeof membership, "%s/cgroup", root);
  ck_assert_int_eq(ndr_quota_cores(membership, root), 0);
  write_file(root, "cgroup", "4:memory,cpuset:/a\n3:cpuacct,cpu:/a\n0::/outer/inner\n");
  ck_assert_int_eq(ndr_quota_cores(membership, root), 0);
  snprintf(folder, sizeof folder, "%s/outer", root);
  ck_assert_int_eq(mkdir(folder, 0700), 0);
  write_file(folder, "cpu.max", "450000 100000\n");
  ck_assert_int_eq(ndr_quota_cores(membership, root), 5);
  snprintf(folder, sizeof folder, "%s/outer/inner", root);
  ck_assert_int_eq(mkdir(folder, 0700), 0);
  write_file(folder, "cpu.max", "max 100000\n");
  ck_assert_int_eq(ndr_quota_cores(membership, root), 5);
  write_file(folder, "cpu.max", "50000 100000\n");
  ck_assert_int_eq(ndr_quota_cores(membership, root), 1);
  write_file(folder, "cpu.max", "300000 100000\n");
  ck_assert_int_eq(ndr_quota_cores(membership, root), 3);
  snprintf(folder, sizeof folder, "%s/cpu", root);
  ck_assert_int_eq(mkdir(folder, 0700), 0);
  write_file(folder, "cpu.cfs_period_us", "100000\n");
  write_file(folder, "cpu.cfs_quota_us", "-1\n");
  ck_assert_int_eq(ndr_quota_cores(membership, root), 3);
  write_file(folder, "cpu.cfs_quota_us", "200000\n");
  ck_assert_int_eq(ndr_quota_cores(membership, root), 2);
  snprintf(command, sizeof command, "rm -r %s", root);
  ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c,concurrency-mt-unsafe) */
}
END_TEST

int main(void) {
  Suite *suite = suite_create("threads");
  suite_case(suite, "threads", 600, children_reduce, children_of_busy_parents_reduce,
             children_of_polling_parents_reduce, calls_may_overlap, calls_may_come_from_within_the_pool,
             threads_take_no_signals, the_library_can_be_unloaded, programs_may_end_during_a_call,
             the_end_of_a_program_disturbs_no_call, no_threads_are_needed, a_limit_on_threads_may_be_for_a_while,
             the_environment_sets_the_count, control_groups_limit_the_count, NULL);
  return suite_run(suite);
}
