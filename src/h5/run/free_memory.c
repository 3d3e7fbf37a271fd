/* See free_memory.h. What cannot be read limits nothing. */
#include "h5/run/free_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/control_groups.h"
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

static int64_t number_in(const char *folder, const char *name, const char *key) {
  char path[4096 + 64];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return read_number(path, key);
}

/* Pages of files count as free: the system drops them where memory is wanted. Without a limit, which version 1
 * writes as a number near 2^63, nothing more is read: this runs for each dataset. */
static void take_free(void *least, ndr_group_version version, const char *folder) {
  bool v2 = version == NDR_GROUP_V2;
  int64_t limit = number_in(folder, v2 ? "memory.max" : "memory.limit_in_bytes", "");
  if (limit < 0 || limit > INT64_MAX / 2) return;
  int64_t usage = number_in(folder, v2 ? "memory.current" : "memory.usage_in_bytes", "");
  int64_t cache = number_in(folder, "memory.stat", v2 ? "file " : "total_cache ");
  int64_t taken = usage > 0 ? usage - (cache > 0 ? cache : 0) : 0;
  int64_t free = taken < 0 ? limit : taken < limit ? limit - taken : 0;
  if (free < *(int64_t *)least) *(int64_t *)least = free;
}

static int64_t free_in_groups(const char *root) {
  char membership[1024], mount[1024];
  int64_t least = INT64_MAX;
  snprintf(membership, sizeof membership, "%s/proc/self/cgroup", root);
  snprintf(mount, sizeof mount, "%s/sys/fs/cgroup", root);
  ndr_visit_groups(membership, mount, "memory", take_free, &least);
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

int64_t ndr_default_memory(int processes) {
  int64_t free = ndr_free_memory("", false), share = free / SHARE / (processes > 1 ? processes : 1);
  return free != INT64_MAX && share > NDR_LEAST_MEMORY ? share : NDR_LEAST_MEMORY;
}

int64_t ndr_h5_free_memory(void) {
  int64_t free = ndr_free_memory("", true), machine = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
  return free == INT64_MAX ? machine : free;
}
