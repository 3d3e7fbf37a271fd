/* Counts the cores that the process may use: it asks the environment, the affinity mask and the control groups. */
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): sched_getaffinity
#include "cpu/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/control_groups.h"

static int smaller_limit(int a, int b) {
  return a == 0 || (b > 0 && b < a) ? b : a;
}

/* The cores of a quota, which is a time for each period. A fraction of a core counts as one; 0: no limit. */
static int cores_of(double quota, double period) {
  if (quota <= 0 || period <= 0 || quota / period >= NDR_MOST_THREADS) return 0;
  int cores = (int)(quota / period);
  return cores < quota / period ? cores + 1 : cores;
}

/* Reads the first numbers of a file of one line; returns how many there are. */
static int read_numbers(const char *folder, const char *name, int count, double *numbers) {
  char path[4096 + 256], line[128], *at = line, *end;
  int found = 0;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  if (!fgets(line, sizeof line, file)) *line = 0;
  fclose(file);
  for (; found < count; found++, at = end) {
    numbers[found] = strtod(at, &end);
    if (end == at) break;
  }
  return found;
}

/* Control groups of version 2 have one file, which starts with "max" if there is no limit. Version 1 has two files, and
 * -1 for no limit. */
static void take_quota(void *least, ndr_group_version version, const char *folder) {
  double quota[2];
  bool told = version == NDR_GROUP_V2 ? read_numbers(folder, "cpu.max", 2, quota) == 2
                                      : read_numbers(folder, "cpu.cfs_quota_us", 1, &quota[0]) == 1 &&
                                            read_numbers(folder, "cpu.cfs_period_us", 1, &quota[1]) == 1;
  if (told) *(int *)least = smaller_limit(*(int *)least, cores_of(quota[0], quota[1]));
}

int ndr_quota_cores(const char *membership, const char *root) {
  int cores = 0;
  ndr_visit_groups(membership, root, "cpu", take_quota, &cores);
  return cores;
}

static int affine_cores(void) {
#ifdef __linux__
  cpu_set_t *set = CPU_ALLOC(NDR_MOST_THREADS * 8);
  size_t bytes = CPU_ALLOC_SIZE(NDR_MOST_THREADS * 8);
  int count = set && sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
  CPU_FREE(set);
  if (count > 0) return count;
#endif
  return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* The first number of a list, such as OMP_NUM_THREADS may hold; 0 if there is none. */
static int number_in_environment(const char *name) {
  const char *text = getenv(name);
  long number = text ? strtol(text, NULL, 10) : 0;
  return number < 1 ? 0 : number > NDR_MOST_THREADS ? NDR_MOST_THREADS : (int)number;
}

static int count_threads(void) {
  int wanted = number_in_environment("OMP_NUM_THREADS");
  if (!wanted) wanted = smaller_limit(affine_cores(), ndr_quota_cores("/proc/self/cgroup", "/sys/fs/cgroup"));
  wanted = smaller_limit(wanted, number_in_environment("OMP_THREAD_LIMIT"));
  return wanted < 1 ? 1 : wanted > NDR_MOST_THREADS ? NDR_MOST_THREADS : wanted;
}

/* Counted once, because plans depend on it; a child of fork() counts again, as it may have other cores. */
static atomic_int counted;

int ndr_thread_count(void) {
  int count = atomic_load(&counted);
  if (!count) atomic_store(&counted, count = count_threads());
  return count;
}

static void count_again(void) {
  atomic_store(&counted, 0);
}

__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(NULL, NULL, count_again);
}
