/* See atomic_file.h: writes to a file without a name, or with a temporary one, then links or renames it. */
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): O_TMPFILE
#include "common/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/status.h"

static ndr_status fail(const char *path, const char *what) {
  return ndr_fail(NDR_ERR_FILE, "%s: %s: %s", path, what, strerror(errno));
}

/* What is at path may be replaced, if anything is there. A rename would also replace a file without write permission,
 * but whoever took that away wants to keep the file. */
static ndr_status check_target(ndr_atomic_file *file, const char *path) {
  size_t length = strlen(path);
  if (length == 0) return ndr_fail(NDR_ERR_FILE, "'': is no name of a file");
  if (path[length - 1] == '/') return ndr_fail(NDR_ERR_FILE, "%s: is a folder's name, not a file's", path);
  if (lstat(path, &file->old) != 0) return errno == ENOENT ? NDR_OK : fail(path, "cannot be written");
  if (stat(path, &file->old) != 0) {
    if (errno == ENOENT) return ndr_fail(NDR_ERR_FILE, "%s: is a symbolic link that leads nowhere", path);
    return fail(path, "cannot be written");
  }
  if (S_ISDIR(file->old.st_mode)) return ndr_fail(NDR_ERR_FILE, "%s: is a folder, not a file", path);
  if (!S_ISREG(file->old.st_mode)) return ndr_fail(NDR_ERR_FILE, "%s: is not a regular file", path);
  if (!file->overwrite)
    return ndr_fail(NDR_ERR_FILE, "%s: exists already (ndr_h5_writer_options.overwrite replaces it)", path);
  if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0) return fail(path, "cannot be written");
  file->replaces = true;
  return NDR_OK;
}

/* Gives the new file the permissions of the old one, and its owner and group as far as the system allows. If the group
 * changes, its members get the permissions of everybody: they need not be those of the old group. */
static int keep_access(int fd, const struct stat *old) {
  mode_t mode = old->st_mode & 0777;
  bool kept = fchown(fd, old->st_uid, old->st_gid) == 0 || fchown(fd, (uid_t)-1, old->st_gid) == 0;
  if (!kept) mode = (mode & 0707) | (mode & 07) << 3;
  return fchmod(fd, mode);
}

/* The folder of path, to be freed. */
static char *folder_of(const char *path) {
  char *copy = strdup(path), *folder = copy ? strdup(dirname(copy)) : NULL;
  free(copy);
  return folder;
}

/* A file without a name is gone when the process is, however that ends. Some file systems have none, and a name can be
 * given to one later only through /proc. */
static int open_nameless(const char *folder) {
#ifdef O_TMPFILE
  if (access("/proc/self/fd", X_OK) == 0) return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
#else
  (void)folder;
#endif
  return -1;
}

/* Descriptors 0 to 2 are the program's. If it has closed one of them, the file would get its number, and with it what
 * the program prints. */
static int above_standard(int fd) {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), reason = errno;
  close(fd);
  errno = reason;
  return above;
}

static int link_nameless(int fd, const char *path) {
  char from[32];
  snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
  return linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

/* Gives the file a temporary name, and creates it if there is none yet. If that fails, file->temporary is NULL. The
 * name is short, because one next to a long name might be too long; if it is taken, others are tried. */
static void name_temporary(ndr_atomic_file *file, const char *folder) {
  size_t capacity = strlen(folder) + 64;
  int result = -1;
  file->temporary = malloc(capacity);
  for (int attempt = 0; file->temporary && attempt < 1000; attempt++) {
    snprintf(file->temporary, capacity, "%s/.ndreduce-%ld-%d", folder, (long)getpid(), attempt);
    if (file->fd >= 0)
      result = link_nameless(file->fd, file->temporary);
    else
      result = file->fd = open(file->temporary, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
    if (result >= 0 || errno != EEXIST) break;
  }
  if (result >= 0) return;
  free(file->temporary);
  file->temporary = NULL;
}

static ndr_status create_temporary(ndr_atomic_file *file) {
  char *folder = folder_of(file->path);
  if (!folder) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", file->path);
  file->fd = open_nameless(folder);
  if (file->fd < 0) name_temporary(file, folder);
  file->fd = above_standard(file->fd);
  ndr_status status = file->fd >= 0 ? NDR_OK : fail(file->path, "its folder cannot be written to");
  free(folder);
  if (status == NDR_OK && file->replaces && keep_access(file->fd, &file->old) != 0)
    status = fail(file->path, "its permissions cannot be kept");
  return status;
}

void ndr_atomic_file_discard(ndr_atomic_file *file) {
  if (file->fd >= 0) close(file->fd);
  if (file->temporary) unlink(file->temporary);
  free(file->temporary);
  file->fd = -1;
  file->temporary = NULL;
}

/* If the temporary file has a name, it is removed again once it is known that it can be made. The first write makes it
 * anew: if the program ends before, nothing is left behind. */
ndr_status ndr_atomic_file_open(ndr_atomic_file *file, const char *path, bool overwrite) {
  *file = (ndr_atomic_file){.fd = -1, .overwrite = overwrite};
  NDR_TRY(check_target(file, path));
  file->path = file->replaces ? realpath(path, NULL) : strdup(path);
  if (!file->path) return fail(path, "cannot be written");
  ndr_status status = create_temporary(file);
  if (file->temporary) ndr_atomic_file_discard(file);
  if (status != NDR_OK) ndr_atomic_file_close(file);
  return status;
}

ndr_status ndr_atomic_file_write(ndr_atomic_file *file, const void *data, size_t bytes) {
  const char *from = data;
  if (file->fd < 0) NDR_TRY(create_temporary(file));
  while (bytes > 0) {
    ssize_t written = write(file->fd, from, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(file->path, "cannot be written");
    from += written;
    bytes -= (size_t)written;
  }
  return NDR_OK;
}

ndr_status ndr_atomic_file_write_at(ndr_atomic_file *file, long long at, const void *data, size_t bytes) {
  const char *from = data;
  while (bytes > 0) {
    ssize_t written = pwrite(file->fd, from, bytes, (off_t)at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(file->path, "cannot be written");
    from += written;
    at += written;
    bytes -= (size_t)written;
  }
  return NDR_OK;
}

ndr_status ndr_atomic_file_read_at(ndr_atomic_file *file, long long at, void *data, size_t bytes) {
  char *to = data;
  while (bytes > 0) {
    ssize_t count = pread(file->fd, to, bytes, (off_t)at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(file->path, "what has been written of it cannot be read");
    if (count == 0) memset(to, 0, bytes);
    if (count == 0) break;
    to += count;
    at += count;
    bytes -= (size_t)count;
  }
  return NDR_OK;
}

ndr_status ndr_atomic_file_resize(ndr_atomic_file *file, long long bytes) {
  return ftruncate(file->fd, (off_t)bytes) == 0 ? NDR_OK : fail(file->path, "cannot be written");
}

/* A part is kept for the superuser. File systems without a size, such as those of a network, say 0. */
long long ndr_atomic_file_space(const ndr_atomic_file *file) {
  struct statvfs system;
  long long bytes;
  if (fstatvfs(file->fd, &system) != 0 || system.f_blocks == 0) return LLONG_MAX;
  fsblkcnt_t blocks = geteuid() == 0 ? system.f_bfree : system.f_bavail;
  return __builtin_mul_overflow(blocks, system.f_frsize, &bytes) ? LLONG_MAX : bytes;
}

/* Only a rename replaces what is there, and it takes a name. */
static int rename_nameless(ndr_atomic_file *file) {
  char *folder = folder_of(file->path);
  if (folder) name_temporary(file, folder);
  free(folder);
  return file->temporary ? rename(file->temporary, file->path) : -1;
}

/* A link fails if the name is taken, so a file that has appeared since the check is not lost. Some file systems have no
 * links. */
static int give_name(ndr_atomic_file *file) {
  if (!file->temporary) {
    int linked = link_nameless(file->fd, file->path);
    return linked != 0 && errno == EEXIST && file->overwrite ? rename_nameless(file) : linked;
  }
  if (file->overwrite) return rename(file->temporary, file->path);
  if (link(file->temporary, file->path) == 0) return unlink(file->temporary);
  if (errno == EEXIST || access(file->path, F_OK) == 0) {
    errno = EEXIST;
    return -1;
  }
  return rename(file->temporary, file->path);
}

/* The new name is durable once the folder is; some file systems cannot sync one. */
static ndr_status sync_folder(const ndr_atomic_file *file) {
  char *folder = folder_of(file->path);
  int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  free(folder);
  int result = fd >= 0 ? fsync(fd) : 0, reason = errno;
  if (fd >= 0) close(fd);
  errno = reason;
  return result == 0 || errno == EINVAL ? NDR_OK : fail(file->path, "its folder cannot be synced");
}

/* Network file systems may report lost bytes only on closing. They have no files without a name, which must stay
 * open. */
ndr_status ndr_atomic_file_commit(ndr_atomic_file *file) {
  NDR_TRY(ndr_atomic_file_write(file, NULL, 0));
  if (fsync(file->fd) != 0) return fail(file->path, "cannot be written");
  if (file->temporary) {
    int closed = close(file->fd);
    file->fd = -1;
    if (closed != 0) return fail(file->path, "cannot be written");
  }
  if (give_name(file) != 0) return fail(file->path, "cannot be renamed to");
  free(file->temporary);
  file->temporary = NULL;
  ndr_atomic_file_discard(file); /* what has its name now is no longer ours to write to */
  return sync_folder(file);
}

void ndr_atomic_file_close(ndr_atomic_file *file) {
  ndr_atomic_file_discard(file);
  free(file->path);
  *file = (ndr_atomic_file){.fd = -1};
}
