/* See leafwise.h. */
#include "h5/run/leaf/leafwise.h"

#include <stdlib.h>
#include <string.h>

#include "h5/run/leaf/leaf.h"
#include "ndreduce/device.h"

/* Of one thread: a leaf as it was read, with what belongs to it beside the dataset. */
typedef struct {
  void *slot;
  ndr_leaf_buffers buffers;
} worker_buffers;

struct ndr_leafwise {
  const ndr_job *job;
  ndr_columns *pieces; /* one for each slot of the feed; kept for later pieces */
  int next;            /* slot of the piece that is taken next */
  worker_buffers *workers;
};

static ndr_status create(ndr_leafwise **created, const ndr_job *job) {
  ndr_leafwise *l = *created = calloc(1, sizeof *l);
  if (!l) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  l->job = job;
  l->pieces = calloc((size_t)job->feed.slots, sizeof *l->pieces);
  l->workers = calloc((size_t)job->feed.threads, sizeof *l->workers);
  return l->pieces && l->workers ? NDR_OK : ndr_fail(NDR_ERR_MEMORY, "out of memory");
}

ndr_status ndr_leafwise_begin(ndr_leafwise **leafwise, const ndr_job *job) {
  if (!*leafwise) return create(leafwise, job);
  (*leafwise)->next = 0;
  return NDR_OK;
}

static void close_columns(ndr_columns *columns) {
  for (int64_t i = 0; i < columns->count; i++) ndr_block_close(&columns->blocks[i]);
  free(columns->blocks);
  *columns = (ndr_columns){NULL, 0};
}

void ndr_leafwise_destroy(ndr_leafwise *l) {
  if (!l) return;
  for (int i = 0; l->pieces && i < l->job->feed.slots; i++) close_columns(&l->pieces[i]);
  for (int i = 0; l->workers && i < l->job->feed.threads; i++) {
    ndr_memory_free((DLDevice){kDLCPU, 0}, l->workers[i].slot);
    ndr_leaf_buffers_free(&l->workers[i].buffers);
  }
  free(l->pieces);
  free(l->workers);
  free(l);
}

static bool has_shape(const ndr_job *job, const ndr_block *block, const ndr_slab *slab) {
  for (int d = 0; d < job->dataset->info.ndim; d++)
    if (!job->reduced[d] && block->slab.size[d] != slab->size[d]) return false;
  return block->sums != NULL;
}

/* Takes the accumulator of an earlier piece where it has as many outputs along each dim. */
static ndr_status begin_column(const ndr_job *job, ndr_block *block, const ndr_slab *column) {
  if (has_shape(job, block, column)) return ndr_block_restart(block, job, column);
  ndr_block_close(block);
  return ndr_block_open(block, job, &job->uploaders[0], column);
}

static ndr_status begin_piece(const ndr_job *job, ndr_columns *columns, const ndr_slab *slab) {
  const ndr_slabs *slabs = &job->slabs[slab->part];
  int64_t count = ndr_slabs_leaves(slabs, slab->begin, slab->size, false);
  if (count != columns->count) {
    close_columns(columns);
    columns->blocks = calloc((size_t)count + 1, sizeof *columns->blocks);
    if (!columns->blocks) return ndr_fail(NDR_ERR_MEMORY, "out of memory for partial results");
    columns->count = count;
  }
  for (int64_t i = 0; i < count; i++) {
    const ndr_slab column = ndr_leaf_column(slabs, slab, i);
    NDR_TRY(begin_column(job, &columns->blocks[i], &column));
  }
  return NDR_OK;
}

static ndr_status add_leaf(const ndr_job *job, ndr_slab *leaf, worker_buffers *worker, ndr_slot_scratch *scratch,
                           ndr_accumulator *to) {
  const ndr_slot_plan *plan = &job->feed.slot;
  const ndr_leaf_slab from = {leaf, worker->slot};
  int64_t task;
  NDR_TRY(ndr_slot_read(plan, leaf, 0, ndr_slot_pieces(plan, leaf, &task), scratch, worker->slot));
  return ndr_leaf_add(job, &from, leaf, &worker->buffers, to);
}

ndr_status ndr_leafwise_reduce(void *user, int slot, ndr_slab *slab, int worker, ndr_slot_scratch *scratch) {
  ndr_leafwise *l = user;
  const ndr_job *job = l->job;
  const ndr_slabs *slabs = &job->slabs[slab->part];
  ndr_columns *columns = &l->pieces[slot];
  int64_t depth = ndr_slabs_leaves(slabs, slab->begin, slab->size, true);
  NDR_TRY(ndr_leaf_need(&l->workers[worker].slot, job->feed.slot_bytes));
  if (slab->begins) NDR_TRY(begin_piece(job, columns, slab));
  for (int64_t i = 0; i < columns->count * depth; i++) {
    ndr_slab leaf = ndr_leaf_find(job, slab, i / depth, i % depth);
    NDR_TRY(add_leaf(job, &leaf, &l->workers[worker], scratch, columns->blocks[i / depth].sums));
  }
  return NDR_OK;
}

ndr_columns *ndr_leafwise_columns(ndr_leafwise *l) {
  return &l->pieces[l->next];
}

void ndr_leafwise_next(ndr_leafwise *l) {
  l->next = (l->next + 1) % l->job->feed.slots;
}
