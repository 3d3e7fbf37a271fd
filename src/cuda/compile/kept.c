/* A program loads what is kept into a GPU: it must be what this user's process wrote. So the folder and its files must
 * belong to the user, writable by no other, and be no links; a file's name is only a hash of its key, so that the whole
 * key stands in it and is compared; a checksum finds files that are damaged or were cut short. */
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): secure_getenv
#include "cuda/compile/kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAME = 64, STALE_SECONDS = 3600 };
static const char suffix[] = ".kernel", unfinished[] = ".part";

typedef struct header {
  char magic[8];
  uint64_t key_bytes, code_bytes, checksum; /* of the key and the code */
} header;
static const char magic[8] = "ndrkept1";

/* Multiplies by odd numbers and folds the high bits down, eight bytes at a time. */
unsigned long long ndr_cuda_hash(unsigned long long seed, const void *data, size_t bytes) {
  const unsigned char *at = data;
  uint64_t hash = seed ^ (bytes * UINT64_C(0x9e3779b97f4a7c15));
  for (size_t done = 0; done < bytes; done += 8) {
    uint64_t word = 0;
    memcpy(&word, at + done, bytes - done < 8 ? bytes - done : 8);
    hash = (hash ^ word) * UINT64_C(0xd6e8feb86659fd93);
    hash ^= hash >> 32;
  }
  return hash * UINT64_C(0x9e3779b97f4a7c15) ^ hash >> 29;
}

/* ---- the folder ---- */

/* A process with rights that its user lacks must not be told by that user's environment where to write. */
static bool folder_path(char *path, size_t capacity) {
  const char *own = secure_getenv("NDREDUCE_CACHE"), *cache = secure_getenv("XDG_CACHE_HOME"),
             *home = secure_getenv("HOME");
  int length = -1;
  if (own)
    length = *own ? snprintf(path, capacity, "%s", own) : -1;
  else if (cache && *cache == '/')
    length = snprintf(path, capacity, "%s/ndreduce", cache);
  else if (home && *home == '/')
    length = snprintf(path, capacity, "%s/.cache/ndreduce", home);
  return length > 0 && (size_t)length < capacity;
}

static void make_folder(const char *path) {
  char parent[PATH_MAX];
  if (mkdir(path, 0700) == 0 || errno != ENOENT) return;
  snprintf(parent, sizeof parent, "%s", path);
  char *slash = strrchr(parent, '/');
  if (!slash || slash == parent) return;
  *slash = 0;
  if (mkdir(parent, 0700) == 0) (void)mkdir(path, 0700);
}

static bool is_ours(const struct stat *status) {
  return status->st_uid == geteuid() && (status->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* -1 where there is none to be trusted. */
static int open_folder(bool make) {
  char path[PATH_MAX];
  struct stat status;
  if (!folder_path(path, sizeof path)) return -1;
  if (make) make_folder(path);
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder >= 0 && (fstat(folder, &status) != 0 || !is_ours(&status))) {
    close(folder);
    return -1;
  }
  return folder;
}

static void name_of(const char *key, char name[NAME]) {
  size_t bytes = strlen(key);
  snprintf(name, NAME, "%016llx%016llx%s", ndr_cuda_hash(1, key, bytes), ndr_cuda_hash(2, key, bytes), suffix);
}

static uint64_t checksum_of(const char *key, size_t key_bytes, const void *code, size_t code_bytes) {
  return ndr_cuda_hash(ndr_cuda_hash(3, key, key_bytes), code, code_bytes);
}

/* ---- reading ---- */

static bool read_all(int file, void *data, size_t bytes) {
  char *at = data;
  while (bytes > 0) {
    ssize_t some = read(file, at, bytes);
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) return false;
    at += some;
    bytes -= (size_t)some;
  }
  return true;
}

/* Takes the code out of a file of `bytes` bytes, if that is what was kept under the key. */
static void *read_file(int file, size_t bytes, const char *key, size_t *code_bytes) {
  header h;
  size_t key_bytes = strlen(key);
  if (bytes <= sizeof h + key_bytes || !read_all(file, &h, sizeof h) || memcmp(h.magic, magic, sizeof magic) != 0 ||
      h.key_bytes != key_bytes || h.code_bytes != bytes - sizeof h - key_bytes)
    return NULL;
  char *read = malloc(bytes - sizeof h + 1);
  if (!read) return NULL;
  if (!read_all(file, read, bytes - sizeof h) || memcmp(read, key, key_bytes) != 0 ||
      h.checksum != checksum_of(key, key_bytes, read + key_bytes, h.code_bytes)) {
    free(read);
    return NULL;
  }
  memmove(read, read + key_bytes, h.code_bytes);
  *code_bytes = h.code_bytes;
  return read;
}

void *ndr_cuda_kept_read(const char *key, size_t *bytes) {
  char name[NAME];
  struct stat status;
  void *code = NULL;
  int folder = open_folder(false);
  if (folder < 0) return NULL;
  name_of(key, name);
  int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  close(folder);
  if (file < 0) return NULL;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && is_ours(&status) && status.st_size > 0 &&
      (uint64_t)status.st_size <= NDR_CUDA_KEPT_BYTES)
    code = read_file(file, (size_t)status.st_size, key, bytes);
  if (code) (void)futimens(file, NULL); /* it was used now */
  close(file);
  return code;
}

/* ---- writing ---- */

static bool write_all(int file, const void *data, size_t bytes) {
  const char *at = data;
  while (bytes > 0) {
    ssize_t some = write(file, at, bytes);
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) return false;
    at += some;
    bytes -= (size_t)some;
  }
  return true;
}

static bool ends_with(const char *name, const char *end) {
  size_t length = strlen(name), ending = strlen(end);
  return length > ending && strcmp(name + length - ending, end) == 0;
}

/* Adds up the folder's files, and finds the one that was not used for longest. Files that another process has not
 * finished are left alone, unless it must have ended long ago. */
static size_t look_through(DIR *files, char oldest[NAME]) {
  size_t total = 0;
  struct timespec least = {0, 0};
  *oldest = 0;
  rewinddir(files);
  for (const struct dirent *entry; (entry = readdir(files)) != NULL;) {
    struct stat status;
    if (strlen(entry->d_name) >= NAME || fstatat(dirfd(files), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (ends_with(entry->d_name, unfinished) && time(NULL) - status.st_mtim.tv_sec > STALE_SECONDS)
      (void)unlinkat(dirfd(files), entry->d_name, 0);
    if (!ends_with(entry->d_name, suffix)) continue;
    total += (size_t)status.st_size;
    if (*oldest && (status.st_mtim.tv_sec > least.tv_sec ||
                    (status.st_mtim.tv_sec == least.tv_sec && status.st_mtim.tv_nsec >= least.tv_nsec)))
      continue;
    least = status.st_mtim;
    strcpy(oldest, entry->d_name);
  }
  return total;
}

/* Closes the folder. */
static void keep_within_bytes(int folder) {
  char oldest[NAME];
  DIR *files = fdopendir(folder);
  if (!files) {
    close(folder);
    return;
  }
  while (look_through(files, oldest) > NDR_CUDA_KEPT_BYTES && *oldest)
    if (unlinkat(folder, oldest, 0) != 0) break;
  closedir(files);
}

/* The file appears under its name when it is whole. */
static bool write_file(int folder, const char *key, const void *code, size_t bytes) {
  char name[NAME], part[NAME];
  header h = {.key_bytes = strlen(key), .code_bytes = bytes};
  struct timespec now;
  memcpy(h.magic, magic, sizeof magic);
  h.checksum = checksum_of(key, h.key_bytes, code, bytes);
  name_of(key, name);
  clock_gettime(CLOCK_REALTIME, &now);
  snprintf(part, sizeof part, "%ld.%ld%s", (long)getpid(), now.tv_nsec, unfinished);
  int file = openat(folder, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return false;
  bool written = write_all(file, &h, sizeof h) && write_all(file, key, h.key_bytes) && write_all(file, code, bytes);
  written = close(file) == 0 && written && renameat(folder, part, folder, name) == 0;
  if (!written) (void)unlinkat(folder, part, 0);
  return written;
}

void ndr_cuda_kept_write(const char *key, const void *code, size_t bytes) {
  if (bytes > NDR_CUDA_KEPT_BYTES / 4) return;
  int folder = open_folder(true);
  if (folder < 0) return;
  if (write_file(folder, key, code, bytes))
    keep_within_bytes(folder);
  else
    close(folder);
}
