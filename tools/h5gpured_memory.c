/* Memory for results. The kernel promises more than there is and then ends programs that use it, this one or another,
 * so what cannot be had is refused before the work begins. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "h5gpured.h"

/* The number that follows `key` at the start of a line of a file, or that the file starts with for the key ""; -1 where
 * there is none, as for a limit that is "max". */
static int64_t read_number(const char *path, const char *key) {
  char line[256];
  long long value = -1;
  FILE *file = fopen(path, "r");
  if (!file) return -1;
  while (value < 0 && fgets(line, sizeof line, file)) {
    char *start = line + strlen(key), *end = start;
    if (strncmp(line, key, strlen(key)) == 0) value = strtoll(start, &end, 10);
    if (end == start) value = -1;
  }
  fclose(file);
  return value;
}

/* What a control group allows beyond what it uses, of which it gives up the files that are cached. */
static int64_t left_in_group(const char *folder, const char *limit, const char *used, const char *cached) {
  char path[PATH_MAX + 64];
  snprintf(path, sizeof path, "%s/%s", folder, limit);
  int64_t most = read_number(path, "");
  snprintf(path, sizeof path, "%s/%s", folder, used);
  int64_t now = read_number(path, "");
  snprintf(path, sizeof path, "%s/memory.stat", folder);
  int64_t files = read_number(path, cached);
  if (most < 0 || now < 0) return INT64_MAX;
  if (files > 0) now = files < now ? now - files : 0;
  return most > now ? most - now : 0;
}

/* The least of a group and those that it is in. Inside a container the path may be the host's, and only the root be
 * there. */
static int64_t left_in_groups(const char *root, const char *group, const char *limit, const char *used,
                              const char *cached) {
  char folder[PATH_MAX];
  int64_t least = INT64_MAX;
  size_t length = strlen(root);
  snprintf(folder, sizeof folder, "%s%s", root, group);
  for (;;) {
    int64_t left = left_in_group(folder, limit, used, cached);
    if (left < least) least = left;
    if (strlen(folder) <= length) return least;
    *strrchr(folder, '/') = 0;
  }
}

/* Lines are NUMBER:CONTROLLERS:PATH, without controllers in version 2. */
static int64_t left_in_all_groups(void) {
  char line[PATH_MAX];
  int64_t least = INT64_MAX;
  FILE *file = fopen("/proc/self/cgroup", "r");
  while (file && fgets(line, sizeof line, file)) {
    int64_t left = INT64_MAX;
    line[strcspn(line, "\n")] = 0;
    char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (path && path == controllers + 1)
      left = left_in_groups("/sys/fs/cgroup", path + 1, "memory.max", "memory.current", "file ");
    else if (path && strncmp(controllers, ":memory:", 8) == 0)
      left = left_in_groups("/sys/fs/cgroup/memory", path + 1, "memory.limit_in_bytes", "memory.usage_in_bytes",
                            "total_cache ");
    if (left < least) least = left;
  }
  if (file) fclose(file);
  return least;
}

static int64_t available(void) {
  int64_t free_kib = read_number("/proc/meminfo", "MemAvailable:"), swap = read_number("/proc/meminfo", "SwapFree:");
  int64_t machine = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE), groups = left_in_all_groups();
  if (free_kib >= 0) machine = (free_kib + (swap > 0 ? swap : 0)) * 1024;
  return groups < machine ? groups : machine;
}

/* How many times results are in memory at once. A file is put together there, and where elements may be missing they
 * are marked in a copy; a stream in memory is copied where it grows; a table or JSON has several characters for each
 * byte. */
static int copies(const answer *a) {
  if (!a->asked->output) return 1;
  if (a->asked->format == FORMAT_NPY) return 3;
  if (a->asked->format == FORMAT_CSV || a->asked->format == FORMAT_JSON) return 8;
  return a->info->masked ? 3 : 2;
}

static bool fits(const answer *a, int64_t bytes, const char *where) {
  int64_t left = available();
  if (bytes <= left / copies(a)) return true;
  if (copies(a) == 1)
    complain("%s: the results need %lld bytes of memory, of which %lld are available", where, (long long)bytes,
             (long long)left);
  else
    complain("%s: the results need %lld bytes of memory, %d times while they are written, of which %lld are available",
             where, (long long)bytes, copies(a), (long long)left);
  return false;
}

bool results_allocate(answer *a, const ndr_options *reduce, const DLTensor *tensor, const char *where) {
  int64_t bytes[NDR_MAX_OPS], total = 0;
  for (int i = 0; i < a->asked->op_count; i++) {
    DLTensor *result = &a->results[i];
    result->shape = a->shapes[i];
    if (ndr_result_describe(tensor, a->dim_count, a->dims, a->asked->ops[i], reduce, result) != NDR_OK) {
      complain("%s: %s", where, ndr_last_error());
      return false;
    }
    if (__builtin_mul_overflow(tensor_count(result), result->dtype.bits / 8, &bytes[i]) ||
        __builtin_add_overflow(total, bytes[i], &total)) {
      complain("%s: the results have more than 2^63 bytes", where);
      return false;
    }
  }
  if (!fits(a, total, where)) return false;
  for (int i = 0; i < a->asked->op_count; i++) {
    a->results[i].data = calloc((size_t)bytes[i] + 1, 1);
    if (a->results[i].data) continue;
    complain("%s: out of memory for results of %lld bytes", where, (long long)bytes[i]);
    return false;
  }
  return true;
}
