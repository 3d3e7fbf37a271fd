/* See structure.h: the files, and whether those of two ranks are the same. */
#include "h5/structure/structure.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "h5/ranks/state_bytes.h"

int64_t ndr_structure_bytes = (int64_t)256 << 20;

/* Files are looked up in the order in which they were first opened, more often than not. */
ndr_structure_file *ndr_structure_find(ndr_h5_structure *s, const char *name, bool add) {
  for (int i = 0; i < s->file_count; i++) {
    int at = (s->last + i) % s->file_count;
    if (strcmp(s->files[at]->name, name) != 0) continue;
    s->last = at;
    return s->files[at];
  }
  if (!add) return NULL;
  if (s->file_count == s->file_capacity) {
    int capacity = s->file_capacity ? 2 * s->file_capacity : 16;
    ndr_structure_file **more = realloc(s->files, (size_t)capacity * sizeof *more);
    if (!more) return NULL;
    s->files = more;
    s->file_capacity = capacity;
  }
  ndr_structure_file *file = calloc(1, sizeof *file);
  if (file) file->name = strdup(name);
  if (file && file->name) return s->files[s->file_count++] = file;
  free(file);
  return NULL;
}

/* ---- Whether two files are the same ------------------------------------------------------------------------------ */

enum { END_BYTES = 4096 };

/* Reads the ends of a file, and adds them to the checksum: the first change with the file's structure, the last when
 * something is appended. */
static bool add_ends(int fd, ndr_file_facts *facts, ndr_image *image, int64_t *room) {
  char bytes[END_BYTES];
  int64_t size = facts->bytes < END_BYTES ? facts->bytes : END_BYTES;
  facts->check = NDR_STATE_CHECK_START;
  for (int end = 0; end < (facts->bytes > END_BYTES ? 2 : 1); end++) {
    if (!ndr_image_read(image, fd, end ? facts->bytes - size : 0, size, bytes, room)) return false;
    facts->check = ndr_state_check(facts->check, (const unsigned char *)bytes, (size_t)size);
  }
  return true;
}

static int64_t nanoseconds(struct timespec time) {
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* All but the checksum. */
static bool get_facts(int fd, ndr_file_facts *facts) {
  struct stat about;
  if (fstat(fd, &about) != 0) return false;
  *facts = (ndr_file_facts){(int64_t)about.st_size, (int64_t)about.st_ino, nanoseconds(about.st_mtim),
                            nanoseconds(about.st_ctim), 0};
  return true;
}

static bool are_equal(const ndr_file_facts *a, const ndr_file_facts *b) {
  return a->bytes == b->bytes && a->inode == b->inode && a->modified == b->modified && a->changed == b->changed;
}

/* Reads nothing if all facts are the same: then it is one file, which both machines see. */
static bool is_that_of_rank_0(const ndr_structure_file *file, int fd, ndr_file_facts *here) {
  ndr_image none = {0, 0, NULL};
  if (are_equal(here, &file->facts)) return true;
  return here->bytes == file->facts.bytes && add_ends(fd, here, &none, NULL) && here->check == file->facts.check;
}

/* Rank 0 keeps one state of a file. If its times have changed since, rank 0 reads it anew; the others do so only if its
 * size or its ends have changed. */
static ndr_structure_file *enter_first(ndr_h5_structure *s, const char *name, int fd, ndr_file_facts *here) {
  ndr_structure_file *file = ndr_structure_find(s, name, true);
  if (!file) return NULL;
  if (file->known) return are_equal(here, &file->facts) ? file : NULL;
  if (!add_ends(fd, here, &file->image, &s->room)) return NULL;
  file->facts = *here;
  file->known = true;
  return file;
}

ndr_structure_file *ndr_structure_enter(ndr_h5_structure *s, const char *name, int fd) {
  ndr_file_facts here;
  if (!get_facts(fd, &here)) return NULL;
  if (s->comm->rank == 0) return enter_first(s, name, fd, &here);
  ndr_structure_file *file = ndr_structure_find(s, name, false);
  if (!file) return NULL;
  file->known = is_that_of_rank_0(file, fd, &here);
  return file->known ? file : NULL;
}

void ndr_structure_sum(ndr_h5_structure *s, const char *name, int64_t *bytes, uint64_t *check) {
  const ndr_structure_file *file = s ? ndr_structure_find(s, name, false) : NULL;
  ndr_file_facts facts = {.bytes = -1, .check = NDR_STATE_CHECK_START};
  ndr_image none = {0, 0, NULL};
  if (file && file->known) {
    facts = file->facts;
  } else {
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && get_facts(fd, &facts)) add_ends(fd, &facts, &none, NULL);
    if (fd >= 0) close(fd);
  }
  *bytes = facts.bytes;
  *check = facts.check;
}

void ndr_structure_opens(ndr_h5_structure *s) {
  s->opening = s->comm->rank == 0;
}
