/* See free_memory.h. A control group's limit holds for all groups inside it, so each one up to the root is asked. What
 * cannot be read limits nothing. */
#include "h5/run/free_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ndreduce/h5.h"

#define SHARE 4

/* The number behind `key` in a file of lines "KEY NUMBER"; where key is "", the file's first. -1 where there is none,
 * as for "max". */
static int64_t read_number(const char *path, const char *key) {
  char line[256];
  int64_t found = -1;
  size_t length = strlen(key);
  FILE *file = fopen(path, "r");
  if (!file) return -1;
  while (found < 0 && fgets(line, sizeof line, file))
    if (strncmp(line, key, length) == 0) {
      char *end;
      int64_t number = strtoll(line + length, &end, 10);
      if (end != line + length) found = number;
      if (length == 0) break;
    }
  fclose(file);
  return found;
}

/* How the two versions name things. */
typedef struct {
  const char *mount, *limit, *usage, *cache;
} version;

static const version v1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache "};
static const version v2 = {"/sys/fs/cgroup", "memory.max", "memory.current", "file "};

/* What is free in a group, its path beginning with a slash or empty. */
static int64_t free_in(const char *root, const version *v, const char *group) {
  char path[1024];
  snprintf(path, sizeof path, "%s%s%s/%s", root, v->mount, group, v->limit);
  int64_t limit = read_number(path, "");
  snprintf(path, sizeof path, "%s%s%s/%s", root, v->mount, group, v->usage);
  int64_t usage = read_number(path, "");
  snprintf(path, sizeof path, "%s%s%s/memory.stat", root, v->mount, group);
  int64_t cache = read_number(path, v->cache);
  if (limit < 0) return INT64_MAX;
  int64_t taken = usage > 0 ? usage - (cache > 0 ? cache : 0) : 0;
  return taken < 0 ? limit : taken < limit ? limit - taken : 0;
}

/* In a container the path may be that of the host, which is not there; the mount's own files then tell. */
static int64_t free_in_all(const char *root, const version *v, char *group) {
  int64_t least = INT64_MAX;
  for (;;) {
    int64_t here = free_in(root, v, group);
    if (here < least) least = here;
    char *slash = strrchr(group, '/');
    if (!slash) return least;
    *slash = 0;
  }
}

/* Lines are NUMBER:CONTROLLERS:PATH; v2 has number 0 and no controllers. */
static int64_t free_in_groups(const char *root) {
  char line[1024];
  int64_t least = INT64_MAX;
  snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
  FILE *file = fopen(line, "r");
  if (!file) return least;
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path) continue;
    *path++ = 0;
    const version *v = strcmp(controllers, ":") == 0 ? &v2 : strstr(controllers, "memory") ? &v1 : NULL;
    int64_t here = v ? free_in_all(root, v, path) : INT64_MAX;
    if (here < least) least = here;
  }
  fclose(file);
  return least;
}

int64_t ndr_free_memory(const char *root, bool swap) {
  char path[1024];
  snprintf(path, sizeof path, "%s/proc/meminfo", root);
  int64_t kib = read_number(path, "MemAvailable:"), swap_kib = swap ? read_number(path, "SwapFree:") : 0;
  int64_t limited = free_in_groups(root);
  if (kib >= 0 && swap_kib > 0) kib += swap_kib;
  return kib >= 0 && kib * 1024 < limited ? kib * 1024 : limited;
}

int64_t ndr_default_memory(void) {
  int64_t free = ndr_free_memory("", false);
  return free != INT64_MAX && free / SHARE > NDR_LEAST_MEMORY ? free / SHARE : NDR_LEAST_MEMORY;
}

int64_t ndr_h5_free_memory(void) {
  int64_t free = ndr_free_memory("", true), machine = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
  return free == INT64_MAX ? machine : free;
}
