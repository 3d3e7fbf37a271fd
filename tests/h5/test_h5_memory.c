/* How much memory is free: what a machine and its control groups tell, written to files in a folder of our own. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "h5/run/free_memory.h"
#include "support/suite.h"

#define MIB ((int64_t)1 << 20)

static char root[64], files[16][256];
static int file_count;

static void make_folders(char *path) {
  for (char *slash = strchr(path + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    mkdir(path, 0700);
    *slash = '/';
  }
}

static void put(const char *name, const char *text) {
  char *path = files[file_count++];
  snprintf(path, sizeof files[0], "%s/%s", root, name);
  make_folders(path);
  FILE *file = fopen(path, "w");
  ck_assert_ptr_nonnull(file);
  fputs(text, file);
  fclose(file);
}

static void begin(void) {
  snprintf(root, sizeof root, "/tmp/ndreduce-memory-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(root));
  file_count = 0;
}

/* Removes the files, and then the folders that are left empty, up to the root's own. */
static void end(void) {
  for (int i = 0; i < file_count; i++) unlink(files[i]);
  for (int i = 0; i < file_count; i++)
    for (char *slash = strrchr(files[i], '/'); slash >= files[i] + strlen(root); slash = strrchr(files[i], '/')) {
      *slash = 0;
      rmdir(files[i]);
    }
  ck_assert_int_ne(access(root, F_OK), 0);
}

static void put_machine(void) {
  put("proc/meminfo", "MemTotal:       8388608 kB\nMemFree:         123 kB\nMemAvailable:    4194304 kB\n"
                      "SwapFree:        1048576 kB\n");
}

START_TEST(a_machine_tells_what_is_available) {
  begin();
  put_machine();
  ck_assert_int_eq(ndr_free_memory(root, false), 4096 * MIB);
  ck_assert_int_eq(ndr_free_memory(root, true), 5120 * MIB);
  end();
}
END_TEST

START_TEST(nothing_told_is_no_limit) {
  begin();
  put("proc/else", "");
  ck_assert_int_eq(ndr_free_memory(root, false), INT64_MAX);
  end();
}
END_TEST

/* 1 GiB, of which 300 MiB are taken, 100 of them by pages of files; the group above allows 600 MiB in all. */
START_TEST(groups_of_v2_limit_it) {
  begin();
  put_machine();
  put("proc/self/cgroup", "0::/user/job\n");
  put("sys/fs/cgroup/user/job/memory.max", "1073741824\n");
  put("sys/fs/cgroup/user/job/memory.current", "314572800\n");
  put("sys/fs/cgroup/user/job/memory.stat", "anon 1\nfile 104857600\nfile_mapped 7\n");
  ck_assert_int_eq(ndr_free_memory(root, false), (1024 - 200) * MIB);
  put("sys/fs/cgroup/user/memory.max", "629145600\n");
  ck_assert_int_eq(ndr_free_memory(root, false), 600 * MIB);
  end();
}
END_TEST

START_TEST(groups_of_v2_without_a_limit_do_not) {
  begin();
  put_machine();
  put("proc/self/cgroup", "0::/user/job\n");
  put("sys/fs/cgroup/user/job/memory.max", "max\n");
  put("sys/fs/cgroup/user/job/memory.current", "314572800\n");
  ck_assert_int_eq(ndr_free_memory(root, false), 4096 * MIB);
  end();
}
END_TEST

/* In a container the path is the host's, and the limit at the mount's own place. */
START_TEST(groups_of_v1_limit_it) {
  begin();
  put_machine();
  put("proc/self/cgroup", "5:cpu,cpuacct:/docker/1\n4:memory:/docker/1\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n");
  put("sys/fs/cgroup/memory/memory.usage_in_bytes", "104857600\n");
  put("sys/fs/cgroup/memory/memory.stat", "cache 5\ntotal_cache 52428800\n");
  ck_assert_int_eq(ndr_free_memory(root, false), (512 - 50) * MIB);
  end();
}
END_TEST

START_TEST(a_full_group_has_none_left) {
  begin();
  put("proc/self/cgroup", "0::/\n");
  put("sys/fs/cgroup/memory.max", "1048576\n");
  put("sys/fs/cgroup/memory.current", "2097152\n");
  ck_assert_int_eq(ndr_free_memory(root, false), 0);
  end();
}
END_TEST

START_TEST(the_default_is_a_share_of_it) {
  int64_t share = ndr_default_memory(1), free = ndr_free_memory("", false);
  ck_assert_int_ge(share, NDR_LEAST_MEMORY);
  ck_assert_int_lt(share, free > 2 * NDR_LEAST_MEMORY ? free : 2 * NDR_LEAST_MEMORY);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 memory");
  suite_case(suite, "free", 10, a_machine_tells_what_is_available, nothing_told_is_no_limit, groups_of_v2_limit_it,
             groups_of_v2_without_a_limit_do_not, groups_of_v1_limit_it, a_full_group_has_none_left,
             the_default_is_a_share_of_it, NULL);
  return suite_run(suite);
}
