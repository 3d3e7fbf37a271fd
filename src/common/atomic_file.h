/* A file that appears under its name whole or not at all. Knows nothing of what is written. */
#ifndef NDR_COMMON_ATOMIC_FILE_H
#define NDR_COMMON_ATOMIC_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "ndreduce/ndreduce.h"

typedef struct ndr_atomic_file {
  char *path;      /* with symbolic links followed, so that a link stays one and its target is replaced */
  char *temporary; /* NULL while the file has no name, and once it has been renamed */
  int fd;          /* -1 before the first write where files must have names, and once it is committed or discarded */
  bool overwrite, replaces;
  struct stat old; /* of what is replaced */
} ndr_atomic_file;

/* Creates the temporary file, in the folder of path; without a name, where the file system can do that. A file that is
 * replaced must be one that could be written to; the new one gets its permissions, and its owner and group where that
 * is allowed. On failure nothing needs to be closed. */
ndr_status ndr_atomic_file_open(ndr_atomic_file *file, const char *path, bool overwrite);

ndr_status ndr_atomic_file_write(ndr_atomic_file *file, const void *data, size_t bytes);

/* Once ndr_atomic_file_write has been called: writes at any place, reads what has been written there (zeros beyond the
 * end), and makes the file `bytes` long. */
ndr_status ndr_atomic_file_write_at(ndr_atomic_file *file, long long at, const void *data, size_t bytes);
ndr_status ndr_atomic_file_read_at(ndr_atomic_file *file, long long at, void *data, size_t bytes);
ndr_status ndr_atomic_file_resize(ndr_atomic_file *file, long long bytes);

/* Bytes that its file system has left for it once it has been written to; the most there can be where that is unknown.
 */
long long ndr_atomic_file_space(const ndr_atomic_file *file);

/* Makes the bytes durable, then the name; what is written afterwards is another file. */
ndr_status ndr_atomic_file_commit(ndr_atomic_file *file);

/* Throws away what has been written: the next write begins the file anew. */
void ndr_atomic_file_discard(ndr_atomic_file *file);

/* Removes the temporary file if there still is one. */
void ndr_atomic_file_close(ndr_atomic_file *file);

#endif
