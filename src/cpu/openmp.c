/* See openmp.h. Finds the OpenMP libraries of the process, one of which may have come with a Python module, and whether
 * their threads are running. GNU's library, LLVM's and Intel's all have GOMP_parallel, which runs a parallel region. */
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): dl_iterate_phdr
#include "cpu/openmp.h"

#ifdef __linux__

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_LIBRARIES = 4, MOST_PATH = 512 };

typedef struct library {
  /* Runs region(context) in a team; `threads` 0: as many as the program's regions have by default. */
  void (*run)(void (*region)(void *), void *context, unsigned threads, unsigned flags);
  int (*thread)(void);  /* the number of a thread in its team */
  int (*threads)(void); /* how many threads a team has by default */
  int (*inside)(void);  /* whether the calling thread is in a region: a nested one would have this thread alone */
} library;

static struct {
  library libraries[MOST_LIBRARIES];
  int count;
  unsigned long long loads; /* how many libraries the process had ever loaded when it was searched */
} openmp;

/* Bit k: the last region of library k for this thread had to start threads, or ran alone. */
static _Thread_local unsigned without_threads;

/* The folder has a subfolder for each thread, and its link count is their number plus 2. */
static long count_threads(void) {
  struct stat folder;
  return stat("/proc/self/task", &folder) == 0 ? (long)folder.st_nlink - 2 : 0;
}

/* A child of fork() has none of its parent's threads, but GNU's library would wait for them for ever. */
static bool had_threads;
static atomic_bool lost_threads;

static void before_fork(void) {
  had_threads = count_threads() != 1;
}

static void note_fork(void) {
  if (had_threads) atomic_store(&lost_threads, true);
}

__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(before_fork, NULL, note_fork);
}

/* ---- which libraries there are ---- */

typedef struct search {
  char paths[MOST_LIBRARIES][MOST_PATH];
  int count;
  unsigned long long loads;
} search;

static bool is_openmp(const char *path) {
  static const char *const names[] = {"libgomp", "libomp", "libiomp5"};
  const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t length = strlen(names[i]);
    if (strncmp(file, names[i], length) == 0 && (file[length] == '.' || file[length] == '-')) return true;
  }
  return false;
}

static int note_library(struct dl_phdr_info *loaded, size_t size, void *context) {
  search *found = context;
  (void)size;
  found->loads = loaded->dlpi_adds;
  if (found->loads == openmp.loads) return 1;
  if (found->count < MOST_LIBRARIES && loaded->dlpi_name && is_openmp(loaded->dlpi_name) &&
      strlen(loaded->dlpi_name) < MOST_PATH)
    strcpy(found->paths[found->count++], loaded->dlpi_name);
  return 0;
}

/* dlsym returns an object pointer. POSIX allows it to be copied to a function pointer. */
static bool find_function(void *handle, const char *name, void *function) {
  void *symbol = dlsym(handle, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

/* Searches again only when libraries have been loaded since. Handles are not closed: polling threads keep the library
 * loaded anyway. */
static void find_libraries(void) {
  search found = {.count = 0};
  dl_iterate_phdr(note_library, &found);
  if (found.loads == openmp.loads) return;
  openmp.loads = found.loads;
  openmp.count = 0;
  without_threads = 0;
  for (int i = 0; i < found.count; i++) {
    void *handle = dlopen(found.paths[i], RTLD_LAZY | RTLD_NOLOAD);
    library *l = &openmp.libraries[openmp.count];
    if (handle && find_function(handle, "GOMP_parallel", &l->run) &&
        find_function(handle, "omp_get_thread_num", &l->thread) &&
        find_function(handle, "omp_get_max_threads", &l->threads) &&
        find_function(handle, "omp_in_parallel", &l->inside))
      openmp.count++;
  }
}

/* ---- whether their threads are polling ---- */

static int64_t read_clock(clockid_t clock) {
  struct timespec time;
  return clock_gettime(clock, &time) == 0 ? (int64_t)time.tv_sec * 1000000000 + time.tv_nsec : 0;
}

/* Whether threads other than this one and the pool's have used CPU time since the last call. The system brings the
 * times of running threads up to date only a few hundred times a second. */
static bool others_used_time(int64_t (*pool_time)(void)) {
  static int64_t last;
  const int64_t own = read_clock(CLOCK_THREAD_CPUTIME_ID), pool = pool_time(),
                others = read_clock(CLOCK_PROCESS_CPUTIME_ID) - own - pool, before = last;
  last = others;
  return llabs(others - before) > 20000; /* the clocks are read one after the other */
}

/* The core on which a thread of the process runs, or for which it waits; -1: it sleeps. In proc(5)'s `stat`, the state
 * follows the name in brackets, and the core is the 36th field behind the state. */
static int core_of(int thread) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  if (length <= 0) return -1;
  text[length] = 0;
  const char *at = strrchr(text, ')');
  if (!at || strncmp(at, ") R", 3) != 0) return -1;
  for (int blank = 0; at && blank < 37; blank++) at = strchr(at + 1, ' ');
  return at ? (int)strtol(at, NULL, 10) : -1;
}

enum { MOST_CORES = 1024 };

/* Whether more than half of `wanted` threads are running, this one included, each on a core of its own. At the end of a
 * region the caller would wait for a thread that waits for another's core. Looks at a limited number of threads. */
static bool run_on_own_cores(int wanted) {
  bool taken[MOST_CORES] = {false};
  DIR *folder = opendir("/proc/self/task");
  int running = 0, looked_at = 0;
  bool apart = true;
  if (!folder) return false;
  for (struct dirent *entry; apart && running < wanted && looked_at < 4 * wanted && (entry = readdir(folder));
       looked_at++) {
    const int core = entry->d_name[0] == '.' ? -1 : core_of((int)strtol(entry->d_name, NULL, 10));
    if (core < 0 || core >= MOST_CORES) continue;
    apart = !taken[core];
    taken[core] = true;
    running++;
  }
  closedir(folder);
  return apart && 2 * running > wanted;
}

/* ---- running ---- */

typedef struct job {
  ndr_pool_body *body;
  void *context;
  int (*thread)(void); /* the number of a thread in its team, as the library says */
  int wanted;
  atomic_int joined;
} job;

static void join_in(void *context) {
  job *j = context;
  const int thread = j->thread();
  atomic_fetch_add(&j->joined, 1);
  if (thread < j->wanted) j->body(j->context, thread);
}

/* Returns whether the library had a team for this thread already: others joined in, and no thread was started. */
static bool run_in(const library *l, job *j) {
  const long threads = count_threads();
  l->run(join_in, j, 0, 0);
  return atomic_load(&j->joined) > 1 && count_threads() <= threads;
}

/* Work shorter than the first is done before it is known whether threads poll. Where most of the pool is awake, only
 * work longer than the second is worth it. */
#define SHORT_NANOSECONDS 1000000
#define LONG_NANOSECONDS 10000000

bool ndr_openmp_run(int wanted, int64_t nanoseconds, int awake, int64_t (*pool_time)(void), ndr_pool_body *body,
                    void *context) {
  if (nanoseconds < SHORT_NANOSECONDS || (2 * awake >= wanted && nanoseconds < LONG_NANOSECONDS)) return false;
  if (atomic_load(&lost_threads)) return false;
  find_libraries();
  for (int i = 0; i < openmp.count; i++) {
    const library *l = &openmp.libraries[i];
    if (without_threads & 1u << i || l->inside() || 2 * l->threads() < wanted) continue;
    if (!others_used_time(pool_time) || !run_on_own_cores(wanted + awake)) return false;
    if (!run_in(l, &(job){body, context, l->thread, wanted, 0})) without_threads |= 1u << i;
    return true;
  }
  return false;
}

#else

bool ndr_openmp_run(int wanted, int64_t nanoseconds, int awake, int64_t (*pool_time)(void), ndr_pool_body *body,
                    void *context) {
  (void)wanted, (void)nanoseconds, (void)awake, (void)pool_time, (void)body, (void)context;
  return false;
}

#endif
