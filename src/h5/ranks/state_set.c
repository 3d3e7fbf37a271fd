/* See state_file.h: the files of all parts, whose records are found by their keys. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/status.h"
#include "h5/ranks/state_bytes.h"
#include "h5/ranks/state_file.h"
#include "ndreduce/h5.h"

typedef struct {
  ndr_state_key key;
  int file;
  int64_t at, bytes;
} place;

typedef struct {
  const char *path; /* the caller's */
  int fd;
  int64_t bytes;
  uint64_t check;
  int part, part_count;
  char *note, *job;
} state_file;

struct ndr_state_set {
  int count;
  state_file *files;
  ndr_h5_refused *refused; /* the caller's */
  int64_t place_count, capacity;
  place *places; /* by key */
};

/* Passes a status on; if it is a failure, notes which file is to blame, and why. */
static ndr_status refuse(const ndr_state_set *set, int file, ndr_h5_refusal why, ndr_status status) {
  if (status != NDR_OK) *set->refused = (ndr_h5_refused){why, file};
  return status;
}

static ndr_status damaged(const state_file *f, const char *why) {
  return ndr_fail(NDR_ERR_FILE, "%s: is no whole file of partial states: %s", f->path, why);
}

/* Reads bytes that must be there. */
static ndr_status read_at(const state_file *f, int64_t at, void *to, int64_t bytes) {
  if (bytes > f->bytes - at) return damaged(f, "it ends too early");
  for (char *next = to; bytes > 0;) {
    ssize_t got = pread(f->fd, next, (size_t)bytes, (off_t)at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ndr_fail(NDR_ERR_FILE, "%s: cannot be read: %s", f->path, strerror(errno));
    if (got == 0) return damaged(f, "it ends too early");
    next += got, at += got, bytes -= got;
  }
  return NDR_OK;
}

static ndr_status read_checked(state_file *f, int64_t *at, void *to, int64_t bytes) {
  NDR_TRY(read_at(f, *at, to, bytes));
  f->check = ndr_state_check(f->check, to, (size_t)bytes);
  *at += bytes;
  return NDR_OK;
}

static ndr_status read_text(state_file *f, int64_t *at, uint64_t length, char **text) {
  if (length > (uint64_t)f->bytes) return damaged(f, "it ends too early");
  *text = calloc((size_t)length + 1, 1);
  if (!*text) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", f->path);
  return read_checked(f, at, *text, (int64_t)length);
}

static ndr_status read_head(state_file *f, int64_t *at) {
  unsigned char head[NDR_STATE_HEAD];
  NDR_TRY(read_checked(f, at, head, sizeof head));
  if (memcmp(head, NDR_STATE_MAGIC, 8) != 0) return damaged(f, "it does not begin as one does");
  if (ndr_word_load(head + 8) != NDR_STATE_VERSION)
    return ndr_fail(NDR_ERR_UNSUPPORTED, "%s: has partial states of version %llu, and this library reads version %d",
                    f->path, (unsigned long long)ndr_word_load(head + 8), NDR_STATE_VERSION);
  uint64_t parts = ndr_word_load(head + 16);
  f->part = (int)(parts & INT32_MAX);
  f->part_count = (int)(parts >> 32 & INT32_MAX);
  if (f->part < 1 || f->part > f->part_count) return damaged(f, "its part has no valid number");
  NDR_TRY(read_text(f, at, ndr_word_load(head + 24), &f->note));
  return read_text(f, at, ndr_word_load(head + 32), &f->job);
}

static ndr_status open_file(state_file *f, const char *path, int64_t *at) {
  struct stat about;
  f->path = path;
  f->check = NDR_STATE_CHECK_START;
  f->fd = open(path, O_RDONLY | O_CLOEXEC); // NOLINT(cppcoreguidelines-pro-type-vararg): how POSIX has it
  if (f->fd < 0 || fstat(f->fd, &about) != 0)
    return ndr_fail(NDR_ERR_FILE, "%s: cannot be read: %s", path, strerror(errno));
  f->bytes = about.st_size;
  return read_head(f, at);
}

static void close_file(state_file *f) {
  if (f->fd >= 0) close(f->fd);
  free(f->note);
  free(f->job);
}

/* ---- Records ---------------------------------------------------------------------------------------------------- */

static ndr_status keep(ndr_state_set *set, const place *p) {
  if (set->place_count == set->capacity) {
    int64_t more = set->capacity * 2 + 64;
    place *all = realloc(set->places, (size_t)more * sizeof *all);
    if (!all) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", set->files[p->file].path);
    set->places = all;
    set->capacity = more;
  }
  set->places[set->place_count++] = *p;
  return NDR_OK;
}

static ndr_status read_records(ndr_state_set *set, int file, int64_t at) {
  state_file *f = &set->files[file];
  unsigned char record[NDR_STATE_RECORD], check[NDR_STATE_CHECKSUM];
  for (int64_t count = 0;; count++) {
    NDR_TRY(read_checked(f, &at, record, sizeof record));
    place p = {.file = file, .at = at};
    p.key = (ndr_state_key){(int64_t)ndr_word_load(record), (int64_t)ndr_word_load(record + 8),
                            (int64_t)ndr_word_load(record + 16)};
    p.bytes = (int64_t)ndr_word_load(record + 24);
    if (p.key.stage == -1 && p.key.column != count) return damaged(f, "records are missing");
    if (p.key.stage == -1) break;
    if (p.bytes < 0 || p.bytes > f->bytes - at) return damaged(f, "it ends too early");
    NDR_TRY(keep(set, &p));
    at += p.bytes;
  }
  NDR_TRY(read_at(f, at, check, sizeof check));
  if (ndr_word_load(check) != f->check) return damaged(f, "its checksum is another");
  return at + NDR_STATE_CHECKSUM == f->bytes ? NDR_OK : damaged(f, "something follows it");
}

static int order(const ndr_state_key *a, const ndr_state_key *b) {
  if (a->stage != b->stage) return a->stage < b->stage ? -1 : 1;
  if (a->piece != b->piece) return a->piece < b->piece ? -1 : 1;
  return a->column < b->column ? -1 : a->column > b->column;
}

static int by_key(const void *a, const void *b) {
  const place *p = a, *q = b;
  return order(&p->key, &q->key);
}

/* ---- The set ---------------------------------------------------------------------------------------------------- */

/* The words from the first to the last in which two texts differ. */
static void find_difference(const char *a, const char *b, int *begin, int *end_of_a, int *end_of_b) {
  int first = 0, i = (int)strlen(a), j = (int)strlen(b);
  while (a[first] && a[first] == b[first]) first++;
  while (first > 0 && a[first - 1] != ' ') first--;
  for (; i > first && j > first && a[i - 1] == b[j - 1]; i--) j--;
  for (; a[i] && a[i] != ' '; i++) j++;
  if (i > first && j > first && a[i - 1] == ',' && b[j - 1] == ',') i--, j--;
  *begin = first;
  *end_of_a = i;
  *end_of_b = j;
}

/* How a job's text has a file: "8384 bytes (1a6561a717e01653)". */
#define BYTES " bytes ("

/* Whether the texts first differ in a file's size or checksum; then *at is where its size begins. The words that differ
 * begin at `begin`. */
static bool find_file(const char *then, const char *now, int begin, int *at) {
  int space = (int)strlen(BYTES) - 1;
  if (begin > space && strncmp(now + begin - space, BYTES, strlen(BYTES)) == 0) begin -= space;
  while (begin > 0 && now[begin - 1] != ' ') begin--;
  const char *texts[] = {then + begin, now + begin};
  *at = begin;
  for (int i = 0; i < 2; i++) {
    size_t digits = strspn(texts[i], "0123456789");
    if (digits == 0 || strncmp(texts[i] + digits, BYTES, strlen(BYTES)) != 0) return false;
  }
  return true;
}

/* Names the file whose size stands at `at`: line k of `names` is the k-th file of the text. */
static ndr_status fail_file(const state_file *f, const char *job, int at, const char *names) {
  for (const char *told = job; (told = strstr(told, BYTES)) && told < job + at && strchr(names, '\n'); told++)
    names = strchr(names, '\n') + 1;
  int length = (int)strcspn(names, "\n");
  long long then = strtoll(f->job + at, NULL, 10), now = strtoll(job + at, NULL, 10);
  if (then == now)
    return ndr_fail(NDR_ERR_ARGUMENT, "%s: has partial states of another version of %.*s, which has other contents now",
                    f->path, length, names);
  return ndr_fail(NDR_ERR_ARGUMENT,
                  "%s: has partial states of another version of %.*s, which had %lld bytes and has %lld now", f->path,
                  length, names, then, now);
}

static ndr_status fail_job(const state_file *f, const char *job, const char *names) {
  enum { MOST = 120 };
  int begin, ends[2], at;
  find_difference(f->job, job, &begin, &ends[0], &ends[1]);
  if (find_file(f->job, job, begin, &at)) return fail_file(f, job, at, names);
  int lengths[] = {ends[0] - begin, ends[1] - begin};
  bool cut[] = {lengths[0] > MOST, lengths[1] > MOST};
  return ndr_fail(NDR_ERR_ARGUMENT, "%s: has partial states of another job (%.*s%s), not of this one (%.*s%s)", f->path,
                  cut[0] ? MOST : lengths[0], f->job + begin, cut[0] ? "..." : "", cut[1] ? MOST : lengths[1],
                  job + begin, cut[1] ? "..." : "");
}

static ndr_status add_file(ndr_state_set *set, int i, const char *path, const ndr_state_job *job) {
  state_file *f = &set->files[i];
  int64_t at = 0;
  ndr_status status = open_file(f, path, &at);
  if (status == NDR_OK) status = read_records(set, i, at); /* a damaged file may seem to be of another job */
  NDR_TRY(refuse(set, i, NDR_H5_REFUSED_FILE, status));
  if (strcmp(f->job, job->text) == 0) return NDR_OK;
  return refuse(set, i, NDR_H5_REFUSED_JOB, fail_job(f, job->text, job->files));
}

/* Names all parts that are missing, as a job array takes them: 2-4,7. */
static ndr_status fail_missing(const state_file *const *of, int count) {
  char list[256];
  int used = 0, missing = 0;
  for (int part = 1, end; part <= count; part = end + 1) {
    for (end = part; end <= count && !of[end]; end++) missing++;
    if (end == part || used > (int)sizeof list - 32) continue;
    used += snprintf(list + used, sizeof list - (size_t)used, "%s%d", used ? "," : "", part);
    if (end > part + 1) used += snprintf(list + used, sizeof list - (size_t)used, "-%d", end - 1);
    if (used > (int)sizeof list - 32) used += snprintf(list + used, sizeof list - (size_t)used, ",...");
  }
  if (missing == 0) return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT, missing == 1 ? "part %s of %d is missing" : "parts %s of %d are missing", list,
                  count);
}

static ndr_status check_parts(const ndr_state_set *set) {
  int count = set->files[0].part_count;
  const state_file **of = calloc((size_t)count + 1, sizeof *of);
  if (!of) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  ndr_status status = NDR_OK;
  int refused = -1;
  for (int i = 0; status == NDR_OK && i < set->count; i++) {
    const state_file *f = &set->files[i];
    if (f->part_count != count)
      status = ndr_fail(NDR_ERR_ARGUMENT, "%s: is part %d of %d, and %s one of %d", f->path, f->part, f->part_count,
                        set->files[0].path, count);
    else if (of[f->part])
      status = ndr_fail(NDR_ERR_ARGUMENT, "%s: is part %d of %d, as %s is", f->path, f->part, count, of[f->part]->path);
    else
      of[f->part] = f;
    if (status != NDR_OK) refused = i;
  }
  if (status == NDR_OK) status = fail_missing(of, count);
  free(of);
  return refuse(set, refused, NDR_H5_REFUSED_PARTS, status);
}

ndr_status ndr_state_set_open(ndr_state_set **opened, int count, const char *const *paths, const ndr_state_job *job,
                              ndr_h5_refused *refused) {
  ndr_state_set *set = *opened = calloc(1, sizeof *set);
  if (!set || !(set->files = calloc((size_t)count, sizeof *set->files)))
    return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  for (int i = 0; i < count; i++) set->files[i].fd = -1;
  set->count = count;
  set->refused = refused;
  for (int i = 0; i < count; i++) NDR_TRY(add_file(set, i, paths[i], job));
  if (set->place_count) qsort(set->places, (size_t)set->place_count, sizeof *set->places, by_key);
  return check_parts(set);
}

static ndr_status add_bytes(const ndr_state_set *set, const place *p, ndr_accumulator *into) {
  const state_file *f = &set->files[p->file];
  char reason[512];
  unsigned char *bytes = malloc((size_t)p->bytes + 1);
  if (!bytes) return ndr_fail(NDR_ERR_MEMORY, "out of memory for partial results");
  ndr_status status = read_at(f, p->at, bytes, p->bytes);
  if (status == NDR_OK) {
    status = ndr_accumulator_import(into, bytes, (size_t)p->bytes);
    snprintf(reason, sizeof reason, "%s", ndr_last_error());
    if (status != NDR_OK) status = ndr_fail(status, "%s: %s", f->path, reason);
  }
  free(bytes);
  return refuse(set, p->file, NDR_H5_REFUSED_FILE, status);
}

ndr_status ndr_state_set_add(ndr_state_set *set, ndr_state_key key, ndr_accumulator *into) {
  const place wanted = {.key = key};
  const place *found = NULL;
  if (set->place_count) found = bsearch(&wanted, set->places, (size_t)set->place_count, sizeof *set->places, by_key);
  if (!found)
    return refuse(set, 0, NDR_H5_REFUSED_FILE,
                  ndr_fail(NDR_ERR_FILE, "%s: and the other files have no states of piece %lld", set->files[0].path,
                           (long long)key.piece));
  return add_bytes(set, found, into);
}

void ndr_state_set_close(ndr_state_set *set) {
  if (!set) return;
  for (int i = 0; i < set->count; i++) close_file(&set->files[i]);
  free(set->files);
  free(set->places);
  free(set);
}

/* Opens a file and takes one of its texts over. */
static ndr_status take_text(const char *path, bool job, char **text) {
  state_file f = {.fd = -1};
  int64_t at = 0;
  ndr_status status = open_file(&f, path, &at);
  char **from = job ? &f.job : &f.note;
  *text = status == NDR_OK ? *from : NULL;
  if (status == NDR_OK) *from = NULL;
  close_file(&f);
  return status;
}

ndr_status ndr_state_file_job(const char *path, char **job) {
  return take_text(path, true, job);
}

ndr_status ndr_h5_state_note(const char *path, char **note) {
  if (!path || !note) return ndr_fail(NDR_ERR_ARGUMENT, "%s is a null pointer", path ? "note" : "path");
  return take_text(path, false, note);
}
