/* See gather.h. Unpacking itself is in unpack.c. */
#include "h5/read/route/gather.h"

#include <string.h>

#include "ndreduce/ndreduce.h"

void ndr_gather_add(ndr_gather *gather, int64_t size, int64_t from, int64_t to) {
  if (size == 1) return;
  ndr_gather_axis *outer = gather->count ? &gather->axes[gather->count - 1] : NULL;
  if (outer && outer->from == from * size && outer->to == to * size)
    *outer = (ndr_gather_axis){outer->size * size, from, to};
  else
    gather->axes[gather->count++] = (ndr_gather_axis){size, from, to};
}

bool ndr_gather_is_run(const ndr_gather *gather, int64_t from_bytes, int64_t to_bytes) {
  return gather->count == 0 ||
         (gather->count == 1 && gather->axes[0].from == from_bytes && gather->axes[0].to == to_bytes);
}

int64_t ndr_gather_elements(const ndr_gather *gather) {
  int64_t count = 1;
  for (int i = 0; i < gather->count; i++) count *= gather->axes[i].size;
  return count;
}

int64_t ndr_gather_span(const ndr_gather *gather, int64_t from_bytes) {
  int64_t span = from_bytes;
  for (int i = 0; i < gather->count; i++) span += (gather->axes[i].size - 1) * gather->axes[i].from;
  return span;
}

/* The innermost axis: a row that unpacking can write, else element by element. */
static void copy_row(const ndr_gather_axis *axis, const ndr_unpack *unpack, const char *from, char *to) {
  int64_t from_bytes = (int64_t)ndr_dtype_bytes(unpack->from), to_bytes = (int64_t)ndr_dtype_bytes(unpack->to);
  if (axis->to == to_bytes && axis->from % from_bytes == 0) {
    ndr_unpack_run(unpack, from, axis->from / from_bytes, to, axis->size);
    return;
  }
  for (int64_t i = 0; i < axis->size; i++) ndr_unpack_run(unpack, from + i * axis->from, 1, to + i * axis->to, 1);
}

/* A walk over the rows of a gather: all axes but the innermost. */
typedef struct {
  int64_t at[NDR_MAX_DIMS], from, to;
} rows;

static bool next_row(const ndr_gather *gather, rows *r) {
  for (int i = gather->count - 2; i >= 0; i--) {
    const ndr_gather_axis *axis = &gather->axes[i];
    r->from += axis->from;
    r->to += axis->to;
    if (++r->at[i] < axis->size) return true;
    r->from -= axis->from * axis->size;
    r->to -= axis->to * axis->size;
    r->at[i] = 0;
  }
  return false;
}

void ndr_gather_run(const ndr_gather *gather, const ndr_unpack *unpack, const void *from, void *to) {
  const ndr_gather_axis one = {1, (int64_t)ndr_dtype_bytes(unpack->from), (int64_t)ndr_dtype_bytes(unpack->to)};
  const ndr_gather_axis *row = gather->count ? &gather->axes[gather->count - 1] : &one;
  rows r = {{0}, 0, 0};
  do copy_row(row, unpack, (const char *)from + r.from, (char *)to + r.to);
  while (next_row(gather, &r));
}

static void fill_row(const ndr_gather_axis *axis, size_t bytes, const void *element, char *to) {
  if (axis->to != (int64_t)bytes) {
    for (int64_t i = 0; i < axis->size; i++) memcpy(to + i * axis->to, element, bytes);
    return;
  }
  size_t all = (size_t)axis->size * bytes;
  memcpy(to, element, bytes);
  for (size_t done = bytes; done < all; done *= 2) memcpy(to + done, to, done < all - done ? done : all - done);
}

void ndr_gather_fill(const ndr_gather *gather, size_t bytes, const void *element, void *to) {
  const ndr_gather_axis one = {1, 0, (int64_t)bytes};
  const ndr_gather_axis *row = gather->count ? &gather->axes[gather->count - 1] : &one;
  rows r = {{0}, 0, 0};
  do fill_row(row, bytes, element, (char *)to + r.to);
  while (next_row(gather, &r));
}
