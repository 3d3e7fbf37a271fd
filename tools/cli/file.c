/* A file that appears under its name whole or not at all: a run that is ended leaves what was there before. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

/* Devices and pipes are written to, not replaced. */
static bool is_special(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
}

/* The file that is meant, to be freed: a symbolic link stays one. NULL, with errno, where it cannot be one. */
static char *find_target(const char *path) {
  struct stat facts;
  size_t length = strlen(path);
  bool there = stat(path, &facts) == 0;
  if ((there && S_ISDIR(facts.st_mode)) || (length > 0 && path[length - 1] == '/'))
    errno = EISDIR;
  else if (!there)
    return errno == ENOENT ? strdup(path) : NULL;
  else if (access(path, W_OK) == 0)
    return realpath(path, NULL);
  return NULL;
}

/* Creates an empty file in the folder of the target; *name is to be freed. */
static int open_beside(const char *target, char **name) {
  char *copy = strdup(target), *folder = copy ? dirname(copy) : NULL;
  size_t capacity = folder ? strlen(folder) + 32 : 0;
  int file = -1;
  *name = folder ? malloc(capacity) : NULL;
  if (*name) {
    snprintf(*name, capacity, "%s/.ndreduce-XXXXXX", folder);
    file = mkstemp(*name);
  }
  free(copy);
  return file;
}

/* The permissions of what is replaced, or those of any new file. */
static int set_mode(int file, const char *target) {
  struct stat facts;
  if (stat(target, &facts) == 0) return fchmod(file, facts.st_mode & 0777);
  mode_t mask = umask(0);
  umask(mask);
  return fchmod(file, 0666 & ~mask);
}

static bool write_bytes(int file, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t written = write(file, bytes, length);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes += written;
    length -= (size_t)written;
  }
  return true;
}

/* Keeps errno. */
static void drop(char *temporary, char *target) {
  int reason = errno;
  if (temporary) unlink(temporary);
  free(temporary);
  free(target);
  errno = reason;
}

bool cli_can_write(const char *path) {
  if (is_special(path)) return access(path, W_OK) == 0;
  char *temporary = NULL, *target = find_target(path);
  int file = target ? open_beside(target, &temporary) : -1;
  if (file >= 0) close(file);
  drop(temporary, target);
  return file >= 0;
}

static bool write_special(const char *path, const char *bytes, size_t length) {
  int file = open(path, O_WRONLY);
  bool good = file >= 0 && write_bytes(file, bytes, length);
  if (file >= 0) good = close(file) == 0 && good;
  return good;
}

bool cli_write_file(const char *path, const char *bytes, size_t length) {
  if (is_special(path)) return write_special(path, bytes, length);
  char *temporary = NULL, *target = find_target(path);
  int file = target ? open_beside(target, &temporary) : -1;
  bool good = file >= 0 && write_bytes(file, bytes, length) && set_mode(file, target) == 0 && fsync(file) == 0;
  if (file >= 0) good = close(file) == 0 && good;
  good = good && rename(temporary, target) == 0;
  drop(good ? NULL : temporary, target);
  if (good) free(temporary);
  return good;
}
