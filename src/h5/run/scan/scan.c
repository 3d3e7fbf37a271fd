/* See scan.h. A leaf becomes words, with one place more along the scanned dim, at the end where the scan begins: the
 * words that are carried stand there. The scan of all of them has the running values, and the next ones to carry. */
#include "h5/run/scan/scan.h"

#include <stdlib.h>
#include <string.h>

#include "h5/read/route/gather.h"
#include "h5/run/leaf/leaf.h"
#include "ndreduce/device.h"
#include "ndreduce/scan.h"

static const DLDevice host = {kDLCPU, 0};

/* Buffers of one thread, NULL until they are needed. */
typedef struct {
  ndr_leaf_buffers leaf;
  void *words, *valid, *seen;
} buffers;

struct ndr_scan_slabs {
  const ndr_job *job;
  ndr_feed *feed;
  int64_t column_count, depth;
  buffers *buffers;
  ndr_leaf_slab at;                              /* the slab at hand */
  int64_t low[NDR_MAX_DIMS], size[NDR_MAX_DIMS]; /* the block's kept dims; 0 and 1 along the scanned one */
  char *carry;                                   /* a word for each line of the block */
  uint8_t *seen;                                 /* whether an element of the line has counted */
  void *results;                                 /* of a slab, compact */
};

/* A leaf as words: [outer][rows][inner], where rows are those of the leaf and one more. */
typedef struct {
  const ndr_running *running;
  const ndr_slab *leaf;
  int64_t outer, rows, inner;
  int64_t strides[NDR_MAX_DIMS]; /* in words */
  int64_t first, before, last;   /* rows: of the leaf's elements, of what stands before them, of what goes on */
  int64_t place;                 /* the row of the first result */
} view;

static view view_of(const ndr_job *job, const ndr_slab *leaf) {
  const ndr_running *r = job->running;
  int64_t count = leaf->size[r->dim];
  view v = {.running = r, .leaf = leaf, .outer = 1, .rows = count + 1, .inner = 1};
  for (int64_t d = job->dataset->info.ndim - 1, step = 1; d >= 0; d--) {
    v.strides[d] = step;
    step *= leaf->size[d] + (d == r->dim);
    if (d > r->dim) v.inner *= leaf->size[d];
    if (d < r->dim) v.outer *= leaf->size[d];
  }
  v.first = r->reverse ? 0 : 1;
  v.before = r->reverse ? count : 0;
  v.last = r->reverse ? 0 : count;
  v.place = r->exclusive ? 1 - v.first : v.first;
  return v;
}

ndr_status ndr_scan_slabs_create(ndr_scan_slabs **created, const ndr_job *job, ndr_feed *feed) {
  ndr_scan_slabs *scan = *created = calloc(1, sizeof *scan);
  if (!scan) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  scan->job = job;
  scan->feed = feed;
  scan->buffers = calloc((size_t)job->feed.threads, sizeof *scan->buffers);
  return scan->buffers ? NDR_OK : ndr_fail(NDR_ERR_MEMORY, "out of memory");
}

static void drop_block(ndr_scan_slabs *scan) {
  free(scan->carry);
  free(scan->seen);
  scan->carry = NULL;
  scan->seen = NULL;
}

void ndr_scan_slabs_destroy(ndr_scan_slabs *scan) {
  if (!scan) return;
  drop_block(scan);
  for (int i = 0; scan->buffers && i < scan->job->feed.threads; i++) {
    buffers *b = &scan->buffers[i];
    ndr_leaf_buffers_free(&b->leaf);
    ndr_memory_free(host, b->words);
    ndr_memory_free(host, b->valid);
    ndr_memory_free(host, b->seen);
  }
  ndr_memory_free(host, scan->results);
  free(scan->buffers);
  free(scan);
}

ndr_status ndr_scan_slabs_start(ndr_scan_slabs *scan, const ndr_slab *slab) {
  const ndr_running *r = scan->job->running;
  size_t bytes = ndr_dtype_bytes(r->word);
  int64_t count = 1;
  drop_block(scan);
  for (int d = 0; d < scan->job->dataset->info.ndim; d++) {
    scan->low[d] = d == r->dim ? 0 : slab->whole[d];
    scan->size[d] = d == r->dim ? 1 : slab->size[d];
    count *= scan->size[d];
  }
  scan->carry = malloc((size_t)count * bytes + 1);
  scan->seen = calloc((size_t)count + 1, 1);
  if (!scan->carry || !scan->seen) return ndr_fail(NDR_ERR_MEMORY, "out of memory for what slabs carry");
  for (int64_t i = 0; i < count; i++) memcpy(scan->carry + (size_t)i * bytes, r->nothing, bytes);
  return NDR_OK;
}

/* ---- What is carried --------------------------------------------------------------------------------------------- */

/* `lines` has an element of dtype for each line of the block. Copies those of the leaf's lines to `there`, where they
 * have these strides; under `back` from there to `lines`. */
static void copy_lines(const ndr_scan_slabs *scan, const view *v, ndr_dtype dtype, void *lines, void *there,
                       const int64_t *strides, bool back) {
  const ndr_unpack plain = NDR_UNPACK_INIT(dtype);
  int64_t bytes = (int64_t)ndr_dtype_bytes(dtype), steps[NDR_MAX_DIMS], offset = 0, step = bytes;
  int ndim = scan->job->dataset->info.ndim;
  ndr_gather gather = {0};
  for (int d = ndim - 1; d >= 0; d--) {
    steps[d] = step;
    if (d != v->running->dim) offset += (v->leaf->whole[d] - scan->low[d]) * step;
    step *= scan->size[d];
  }
  for (int d = 0; d < ndim; d++) {
    if (d == v->running->dim) continue;
    ndr_gather_add(&gather, v->leaf->size[d], back ? strides[d] * bytes : steps[d],
                   back ? steps[d] : strides[d] * bytes);
  }
  char *at = (char *)lines + offset;
  ndr_gather_run(&gather, &plain, back ? there : at, back ? at : there);
}

static void copy_carry(const ndr_scan_slabs *scan, const view *v, char *words, int64_t row, bool back) {
  char *there = words + row * v->inner * (int64_t)ndr_dtype_bytes(v->running->word);
  copy_lines(scan, v, v->running->word, scan->carry, there, v->strides, back);
}

static void copy_seen(const ndr_scan_slabs *scan, const view *v, uint8_t *seen, bool back) {
  int64_t strides[NDR_MAX_DIMS];
  for (int64_t d = scan->job->dataset->info.ndim - 1, step = 1; d >= 0; d--) {
    strides[d] = step;
    if (d != v->running->dim) step *= v->leaf->size[d];
  }
  copy_lines(scan, v, NDR_U8, scan->seen, seen, strides, back);
}

/* ---- Results before which no element counts ---------------------------------------------------------------------- */

static void mark_row(const view *v, char *words, int64_t o, int64_t row, const uint8_t *valid, uint8_t *seen) {
  const ndr_running *r = v->running;
  int64_t place = (o * v->rows + v->place + row) * v->inner;
  const uint8_t *counts = valid + (o * (v->rows - 1) + row) * v->inner;
  for (int64_t i = 0; i < v->inner; i++) {
    if (seen[i]) continue;
    if (r->exclusive || !counts[i]) ndr_running_mark(r, words, place + i);
    seen[i] = counts[i];
  }
}

static void mark(const view *v, char *words, const uint8_t *valid, uint8_t *seen) {
  int64_t rows = v->rows - 1;
  for (int64_t o = 0; o < v->outer; o++)
    for (int64_t k = 0; k < rows; k++)
      mark_row(v, words, o, v->running->reverse ? rows - 1 - k : k, valid, seen + o * v->inner);
}

/* ---- A leaf ------------------------------------------------------------------------------------------------------ */

/* Finds the mask of the leaf, as compact bytes; NULL where there is none. It lies in valid[], whose values replace
 * those of the mask as they are computed from them. */
static ndr_status find_mask(const ndr_scan_slabs *scan, ndr_slab *leaf, void *elements, buffers *b, uint8_t **keep) {
  const ndr_job *job = scan->job;
  const ndr_unpack plain = NDR_UNPACK_INIT(NDR_U8);
  int ndim = job->dataset->info.ndim;
  ndr_beside_tensors given;
  ndr_gather gather = {0};
  int64_t steps[NDR_MAX_DIMS];
  *keep = NULL;
  if (!job->operands || !job->operands->count) return NDR_OK;
  DLTensor x = {.data = elements, .device = host, .ndim = ndim, .shape = leaf->size};
  x.dtype = ndr_dtype_to_dlpack(job->problem.dtype);
  NDR_TRY(ndr_leaf_operands(job, &scan->at, leaf, &x, &b->leaf, &given));
  const DLTensor *mask = &given.tensors[0];
  for (int64_t d = ndim - 1, step = 1; d >= 0; d--) {
    steps[d] = step;
    step *= leaf->size[d];
  }
  for (int d = 0; d < ndim; d++) ndr_gather_add(&gather, leaf->size[d], given.strides[0][d], steps[d]);
  *keep = b->valid;
  ndr_gather_run(&gather, &plain, (char *)mask->data + mask->byte_offset, *keep);
  return NDR_OK;
}

static ndr_status need_buffers(const ndr_scan_slabs *scan, buffers *b) {
  const ndr_slabs *slabs = &scan->job->slabs[0];
  int64_t elements = 1, outputs = 1, word = (int64_t)ndr_dtype_bytes(scan->job->running->word);
  for (int i = 1; i < scan->job->part_count; i++)
    if (ndr_slabs_leaf_bytes(&scan->job->slabs[i]) > ndr_slabs_leaf_bytes(slabs)) slabs = &scan->job->slabs[i];
  for (int d = 0; d < slabs->ndim; d++) {
    elements *= slabs->leaf[d];
    if (d != scan->job->running->dim) outputs *= slabs->leaf[d];
  }
  NDR_TRY(ndr_leaf_need(&b->words, (elements + outputs) * word));
  NDR_TRY(ndr_leaf_need(&b->valid, elements));
  return ndr_leaf_need(&b->seen, outputs);
}

static ndr_status scan_words(const view *v, void *words) {
  int64_t shape[] = {v->outer, v->rows, v->inner};
  DLTensor tensor = {.data = words, .device = host, .ndim = 3, .shape = shape};
  ndr_scan_options options = NDR_SCAN_OPTIONS_INIT;
  tensor.dtype = ndr_dtype_to_dlpack(v->running->word);
  options.reverse = v->running->reverse;
  options.threads = 1;
  return ndr_scan(&tensor, 1, v->running->op, &tensor, &options);
}

/* Copies the leaf's results to their place among those of the slab. */
static void put_results(const ndr_scan_slabs *scan, const view *v, const char *words) {
  const ndr_slab *slab = scan->at.slab;
  const ndr_unpack plain = NDR_UNPACK_INIT(v->running->to);
  int64_t bytes = (int64_t)ndr_dtype_bytes(v->running->to), steps[NDR_MAX_DIMS], offset = 0, step = bytes;
  int ndim = scan->job->dataset->info.ndim;
  ndr_gather gather = {0};
  for (int d = ndim - 1; d >= 0; d--) {
    steps[d] = step;
    offset += (v->leaf->begin[d] - slab->begin[d]) * step;
    step *= slab->size[d];
  }
  for (int d = 0; d < ndim; d++) ndr_gather_add(&gather, v->leaf->size[d], v->strides[d] * bytes, steps[d]);
  ndr_gather_run(&gather, &plain, words + v->place * v->inner * bytes, (char *)scan->results + offset);
}

static ndr_status scan_leaf(ndr_scan_slabs *scan, ndr_slab *leaf, int worker) {
  const ndr_running *r = scan->job->running;
  buffers *b = &scan->buffers[worker];
  int64_t bytes = (int64_t)ndr_dtype_bytes(r->word), from_bytes = (int64_t)ndr_dtype_bytes(r->from);
  view v = view_of(scan->job, leaf);
  int64_t run = (v.rows - 1) * v.inner, lines = v.outer * v.inner;
  void *elements;
  uint8_t *keep;
  NDR_TRY(need_buffers(scan, b));
  NDR_TRY(ndr_leaf_unpack(scan->job, &scan->at, leaf, &b->leaf, &elements));
  NDR_TRY(find_mask(scan, leaf, elements, b, &keep));
  if (r->marks) copy_seen(scan, &v, b->seen, false);
  bool marks = r->marks && memchr(b->seen, 0, (size_t)lines);
  for (int64_t o = 0; o < v.outer; o++)
    ndr_running_load(r, (char *)elements + o * run * from_bytes, run, keep ? keep + o * run : NULL,
                     (char *)b->words + (o * v.rows + v.first) * v.inner * bytes,
                     marks ? (uint8_t *)b->valid + o * run : NULL);
  copy_carry(scan, &v, b->words, v.before, false);
  NDR_TRY(scan_words(&v, b->words));
  copy_carry(scan, &v, b->words, v.last, true);
  if (marks) {
    mark(&v, b->words, b->valid, b->seen);
    copy_seen(scan, &v, b->seen, true);
  }
  ndr_running_store(r, b->words, v.outer * v.rows * v.inner);
  put_results(scan, &v, b->words);
  return NDR_OK;
}

/* ---- A slab ------------------------------------------------------------------------------------------------------ */

static ndr_status do_column(void *user, int64_t index, int worker) {
  ndr_scan_slabs *scan = user;
  for (int64_t i = 0; i < scan->depth; i++) {
    int64_t number = scan->job->running->reverse ? scan->depth - 1 - i : i;
    ndr_slab leaf = ndr_leaf_find(scan->job, scan->at.slab, index, number);
    NDR_TRY(scan_leaf(scan, &leaf, worker));
  }
  return NDR_OK;
}

static ndr_status need_results(ndr_scan_slabs *scan) {
  int64_t most = 0;
  for (int i = 0; i < scan->job->part_count; i++) {
    int64_t elements = ndr_slabs_elements(&scan->job->slabs[i]);
    if (elements > most) most = elements;
  }
  return ndr_leaf_need(&scan->results, most * (int64_t)ndr_dtype_bytes(scan->job->running->to));
}

ndr_status ndr_scan_slabs_add(ndr_scan_slabs *scan, const ndr_slab *slab, void *data) {
  const ndr_slabs *slabs = &scan->job->slabs[slab->part];
  scan->at = (ndr_leaf_slab){slab, data};
  scan->column_count = ndr_slabs_leaves(slabs, slab->begin, slab->size, false);
  scan->depth = ndr_slabs_leaves(slabs, slab->begin, slab->size, true);
  if (scan->depth == 0 || scan->column_count == 0) return NDR_OK;
  NDR_TRY(need_results(scan));
  return ndr_feed_share(scan->feed, do_column, scan, scan->column_count);
}

ndr_status ndr_scan_slabs_put(ndr_scan_slabs *scan, const ndr_slab *slab) {
  const ndr_sink *sink = scan->job->sink;
  if (scan->depth == 0 || scan->column_count == 0) return NDR_OK;
  return sink->put(sink->user, 0, slab->whole, slab->size, scan->results);
}
