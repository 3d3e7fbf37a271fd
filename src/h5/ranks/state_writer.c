/* See state_file.h: what writes one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/atomic_file.h"
#include "core/status.h"
#include "h5/ranks/state_bytes.h"
#include "h5/ranks/state_file.h"

struct ndr_state_writer {
  ndr_atomic_file file;
  bool open;
  uint64_t check;
  int64_t records;
  unsigned char *bytes; /* of an export */
  size_t capacity;
};

static ndr_status write_checked(ndr_state_writer *w, const void *bytes, size_t count) {
  w->check = ndr_state_check(w->check, bytes, count);
  return ndr_atomic_file_write(&w->file, bytes, count);
}

static ndr_status write_head(ndr_state_writer *w, const ndr_state_head *head) {
  unsigned char bytes[NDR_STATE_HEAD] = NDR_STATE_MAGIC;
  size_t note = strlen(head->note), job = strlen(head->job);
  ndr_word_store(NDR_STATE_VERSION, bytes + 8);
  ndr_word_store((uint64_t)head->part | (uint64_t)head->part_count << 32, bytes + 16);
  ndr_word_store(note, bytes + 24);
  ndr_word_store(job, bytes + 32);
  NDR_TRY(write_checked(w, bytes, sizeof bytes));
  NDR_TRY(write_checked(w, head->note, note));
  return write_checked(w, head->job, job);
}

/* Only files of the same kind are replaced, as when a part is done again. */
static ndr_status check_replaced(const char *path) {
  char magic[8] = "";
  FILE *old = fopen(path, "rb");
  if (!old) return NDR_OK; /* what hinders that is said when it is written */
  size_t count = fread(magic, 1, sizeof magic, old);
  fclose(old);
  if (count == 0 || memcmp(magic, NDR_STATE_MAGIC, sizeof magic) == 0) return NDR_OK;
  return ndr_fail(NDR_ERR_FILE, "%s: exists already, and has no partial states", path);
}

ndr_status ndr_state_writer_open(ndr_state_writer **writer, const char *path, const ndr_state_head *head) {
  NDR_TRY(check_replaced(path));
  ndr_state_writer *w = *writer = calloc(1, sizeof *w);
  if (!w) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  w->check = NDR_STATE_CHECK_START;
  NDR_TRY(ndr_atomic_file_open(&w->file, path, true));
  w->open = true;
  return write_head(w, head);
}

static ndr_status write_record(ndr_state_writer *w, ndr_state_key key, size_t bytes) {
  unsigned char record[NDR_STATE_RECORD];
  ndr_word_store((uint64_t)key.stage, record);
  ndr_word_store((uint64_t)key.piece, record + 8);
  ndr_word_store((uint64_t)key.column, record + 16);
  ndr_word_store(bytes, record + 24);
  return write_checked(w, record, sizeof record);
}

static ndr_status reserve(ndr_state_writer *w, size_t needed) {
  if (w->capacity >= needed) return NDR_OK;
  free(w->bytes);
  w->bytes = malloc(needed);
  w->capacity = w->bytes ? needed : 0;
  return w->bytes ? NDR_OK : ndr_fail(NDR_ERR_MEMORY, "out of memory for partial results");
}

ndr_status ndr_state_writer_put(ndr_state_writer *w, ndr_state_key key, const ndr_accumulator *sums) {
  size_t needed;
  NDR_TRY(ndr_accumulator_export(sums, NULL, 0, &needed));
  NDR_TRY(reserve(w, needed));
  NDR_TRY(ndr_accumulator_export(sums, w->bytes, w->capacity, &needed));
  NDR_TRY(write_record(w, key, needed));
  w->records++;
  return ndr_atomic_file_write(&w->file, w->bytes, needed);
}

ndr_status ndr_state_writer_commit(ndr_state_writer *w) {
  unsigned char check[NDR_STATE_CHECKSUM];
  NDR_TRY(write_record(w, (ndr_state_key){-1, -1, w->records}, 0));
  ndr_word_store(w->check, check);
  NDR_TRY(ndr_atomic_file_write(&w->file, check, sizeof check));
  return ndr_atomic_file_commit(&w->file);
}

void ndr_state_writer_close(ndr_state_writer *w) {
  if (!w) return;
  if (w->open) ndr_atomic_file_close(&w->file);
  free(w->bytes);
  free(w);
}
