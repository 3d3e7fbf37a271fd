/* A record that appears under its name whole or not at all: a run that is ended leaves what was there before. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "common/atomic_file.h"

/* Devices and pipes are written to, not replaced. */
static bool is_special(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
}

static bool explain(const char *path) {
  ndr_explain_failure("%s: cannot be written: %s", path, strerror(errno));
  return false;
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

static bool write_special(const char *path, const char *bytes, size_t length) {
  int file = open(path, O_WRONLY);
  bool good = file >= 0 && write_bytes(file, bytes, length);
  if (file >= 0) good = close(file) == 0 && good;
  return good || explain(path);
}

bool cli_can_write(const char *path) {
  ndr_atomic_file file;
  if (is_special(path)) return access(path, W_OK) == 0 || explain(path);
  if (ndr_atomic_file_open(&file, path, true) != NDR_OK) return false;
  ndr_atomic_file_close(&file);
  return true;
}

bool cli_write_file(const char *path, const char *bytes, size_t length) {
  ndr_atomic_file file;
  if (is_special(path)) return write_special(path, bytes, length);
  if (ndr_atomic_file_open(&file, path, true) != NDR_OK) return false;
  bool good = ndr_atomic_file_write(&file, bytes, length) == NDR_OK && ndr_atomic_file_commit(&file) == NDR_OK;
  ndr_atomic_file_close(&file);
  return good;
}
