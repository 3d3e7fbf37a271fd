/* See openmp.h. The OpenMP library of the process may have come with a Python module. */
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): gettid and others
#include "cpu/openmp.h"

int ndr_openmp_least_team = 4;

#ifdef __linux__

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/symbol.h"
#include "cpu/clock.h"
#include "cpu/fp_modes.h"

/* The functions of the process's OpenMP library, if it has one, and that is GNU's. */
static struct {
  void *handle;
  /* Runs region(context) in a team of threads; 0 threads: as many as the program's regions have by default. */
  void (*run)(void (*region)(void *), void *context, unsigned threads, unsigned flags);
  int (*thread)(void);      /* the number of a thread in its team */
  int (*threads)(void);     /* how many threads a team has by default */
  int (*inside)(void);      /* whether the calling thread is in a region: a nested one would have this thread alone */
  unsigned long long loads; /* how many libraries the process had ever loaded when it was searched */
} openmp;

/* ---- which library there is ---- */

enum { MOST_PATH = 512 };

typedef struct search {
  char path[MOST_PATH]; /* of the last that was found; empty: it is too long */
  int count;
  unsigned long long loads;
} search;

static bool is_named(const char *path, const char *name) {
  const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
  const size_t length = strlen(name);
  return strncmp(file, name, length) == 0 && (file[length] == '.' || file[length] == '-');
}

static int visit(struct dl_phdr_info *loaded, size_t size, void *context) {
  search *found = context;
  const char *path = loaded->dlpi_name ? loaded->dlpi_name : "";
  (void)size;
  found->loads = loaded->dlpi_adds;
  if (found->loads == openmp.loads) return 1;
  if (is_named(path, "libgomp") || is_named(path, "libomp") || is_named(path, "libiomp5")) {
    found->path[0] = 0;
    if (strlen(path) < MOST_PATH) strcpy(found->path, path);
    found->count++;
  }
  return 0;
}

static bool find(const char *name, void *function) {
  return ndr_set_function(function, dlsym(openmp.handle, name));
}

static bool find_functions(void) {
  return find("GOMP_parallel", &openmp.run) && find("omp_get_thread_num", &openmp.thread) &&
         find("omp_get_max_threads", &openmp.threads) && find("omp_in_parallel", &openmp.inside);
}

static void close_library(void) {
  if (openmp.handle) dlclose(openmp.handle);
  openmp.handle = NULL;
}

/* LLVM's and Intel's libraries end a program that has several of them, or starts one too late, if they are only asked
 * something; and of several GNU ones it cannot be seen which has the program's threads. */
static bool find_library(void) {
  search found = {.count = 0};
  dl_iterate_phdr(visit, &found);
  if (found.loads == openmp.loads) return openmp.handle != NULL;
  openmp.loads = found.loads;
  close_library();
  if (found.count != 1 || !is_named(found.path, "libgomp")) return false;
  openmp.handle = dlopen(found.path, RTLD_LAZY | RTLD_NOLOAD);
  if (openmp.handle && !find_functions()) close_library();
  return openmp.handle != NULL;
}

/* ---- whether their threads are polling ---- */

/* Whether threads other than this one and the pool's have used CPU time since the last call. The system brings the
 * times of running threads up to date only a few hundred times a second. */
static bool others_used_time(int64_t (*pool_time)(void)) {
  static int64_t last;
  const int64_t own = ndr_read_clock(CLOCK_THREAD_CPUTIME_ID), pool = pool_time(),
                others = ndr_read_clock(CLOCK_PROCESS_CPUTIME_ID) - own - pool, before = last;
  last = others;
  return llabs(others - before) > 20000; /* the clocks are read one after the other */
}

/* Reads a file of one line; false: there is none. */
static bool read_line(const char *path, char *text, size_t capacity) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t length = file < 0 ? -1 : read(file, text, capacity - 1);
  if (file >= 0) close(file);
  if (length > 0) text[length] = 0;
  return length > 0;
}

/* The same, as proc(5) describes `stat`: finds what is behind the name in brackets; NULL: there is no such file. */
static const char *read_stat(const char *path, char *text, size_t capacity) {
  return read_line(path, text, capacity) ? strrchr(text, ')') : NULL;
}

/* What is behind that many blanks. Of what read_stat() returns, 1 is the state. */
static const char *find_field(const char *text, int number) {
  for (int blank = 0; text && blank < number; blank++) text = strchr(text + 1, ' ');
  return text ? text + 1 : NULL;
}

/* The core on which a thread of the process runs, or for which it waits; -1: it sleeps. */
static int core_of(int thread) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
  const char *stat = read_stat(path, text, sizeof text), *state = find_field(stat, 1), *core = find_field(stat, 37);
  return state && *state == 'R' && core ? (int)strtol(core, NULL, 10) : -1;
}

/* Whether the process is a child of fork() that executes its parent's program. It has none of the parent's threads, but
 * GNU's library would wait for them for ever. */
static bool is_forked(void) {
  enum { PF_FORKNOEXEC = 0x40 };
  static pid_t asked;
  static bool answer;
  if (asked == getpid()) return answer;
  char text[512];
  const char *flags = find_field(read_stat("/proc/self/stat", text, sizeof text), 7);
  asked = getpid();
  answer = !flags || (strtoul(flags, NULL, 10) & PF_FORKNOEXEC) != 0;
  return answer;
}

/* Whether more threads of the machine want to run than it has cores. The fourth number of /proc/loadavg says how many
 * do; a few may be the system's. */
static bool is_crowded(void) {
  char text[64];
  const char *running = read_line("/proc/loadavg", text, sizeof text) ? find_field(text, 3) : NULL;
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return !running || strtol(running, NULL, 10) > cores + cores / 8 + 1;
}

enum { MOST_CORES = 1024 };

/* Whether at least `wanted` threads are running, this one included, each on a core of its own. At the end of a region
 * the caller would wait for a thread that waits for another's core. Looks at a limited number of threads. */
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
  return apart && running >= wanted;
}

/* ---- running ---- */

typedef struct job {
  ndr_pool_body *body;
  void *context;
  uint64_t fp_modes;
  int wanted;
} job;

/* As much as threads of the pool have at least; that of OpenMP's may be set to less. */
static bool has_stack(void) {
  pthread_attr_t attributes;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
  if (pthread_attr_getstacksize(&attributes, &bytes) != 0) bytes = 0;
  pthread_attr_destroy(&attributes);
  return bytes >= NDR_LEAST_STACK;
}

static void join_in(void *context) {
  const job *j = context;
  const int thread = openmp.thread();
  const uint64_t own = ndr_fp_modes();
  if (thread >= j->wanted || (thread > 0 && !has_stack())) return;
  ndr_set_fp_modes(j->fp_modes);
  j->body(j->context, thread);
  ndr_set_fp_modes(own);
}

/* Work shorter than the first is done before it is known whether threads poll. Where most of the pool is awake, only
 * work longer than the second is worth it. */
#define SHORT_NANOSECONDS 500000
#define LONG_NANOSECONDS 10000000

bool ndr_openmp_run(int wanted, int64_t nanoseconds, int awake, int64_t (*pool_time)(void), ndr_pool_body *body,
                    void *context) {
  if (nanoseconds < SHORT_NANOSECONDS || (2 * awake >= wanted && nanoseconds < LONG_NANOSECONDS)) return false;
  /* Other threads than the first one may have no team, and whether they do cannot be seen. */
  if (gettid() != getpid() || !find_library() || is_forked() || !others_used_time(pool_time)) return false;
  const int team = openmp.threads();
  if (team < ndr_openmp_least_team || 2 * team < wanted || team > 2 * wanted || openmp.inside()) return false;
  if (is_crowded() || !run_on_own_cores(team + awake)) return false;
  openmp.run(join_in, &(job){body, context, ndr_fp_modes(), wanted}, 0, 0);
  return true;
}

#else

bool ndr_openmp_run(int wanted, int64_t nanoseconds, int awake, int64_t (*pool_time)(void), ndr_pool_body *body,
                    void *context) {
  (void)wanted, (void)nanoseconds, (void)awake, (void)pool_time, (void)body, (void)context;
  return false;
}

#endif
