/* See fold.h. A column is the leaves of a block that are added to the same outputs. It has a block of states of its
 * own, so that columns are reduced at the same time, and another for the stretches before the one at hand. On a GPU a
 * slab is a leaf, and there is one column. */
#include "h5/run/leaf/fold.h"

#include <stdlib.h>

#include "h5/run/leaf/leaf.h"

struct ndr_fold {
  const ndr_job *job;
  ndr_feed *feed;
  ndr_gpus *gpus;            /* that reduce slabs; NULL: the CPU does */
  int64_t column_count;      /* of the block */
  int64_t depth;             /* leaves that the slab at hand has in each column */
  ndr_block *columns;        /* each one's states of the stretch at hand */
  ndr_block *before;         /* each one's states of the stretches before that; NULL where there are none */
  ndr_block *pieces;         /* states of single leaves of a slab, where they are added apart */
  ndr_columns spare;         /* memory of an earlier block, for stretches that are reduced by threads of the feed */
  ndr_leaf_buffers *buffers; /* for each thread */
  ndr_leaf_slab at;          /* the slab at hand */
};

ndr_status ndr_fold_create(ndr_fold **created, const ndr_job *job, ndr_feed *feed, ndr_gpus *gpus) {
  ndr_fold *fold = *created = calloc(1, sizeof *fold);
  if (!fold) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  fold->job = job;
  fold->feed = feed;
  fold->gpus = gpus->count ? gpus : NULL;
  fold->buffers = calloc((size_t)job->feed.threads, sizeof *fold->buffers);
  return fold->buffers ? NDR_OK : ndr_fail(NDR_ERR_MEMORY, "out of memory");
}

static void close_blocks(ndr_block **blocks, int64_t count) {
  for (int64_t i = 0; *blocks && i < count; i++) ndr_block_close(&(*blocks)[i]);
  free(*blocks);
  *blocks = NULL;
}

static ndr_status make_blocks(ndr_block **blocks, int64_t count) {
  *blocks = calloc((size_t)count + 1, sizeof **blocks);
  return *blocks ? NDR_OK : ndr_fail(NDR_ERR_MEMORY, "out of memory for partial results");
}

static void drop_block(ndr_fold *fold) {
  close_blocks(&fold->columns, fold->column_count);
  close_blocks(&fold->before, fold->column_count);
  fold->column_count = 0;
}

void ndr_fold_destroy(ndr_fold *fold) {
  if (!fold) return;
  drop_block(fold);
  close_blocks(&fold->spare.blocks, fold->spare.count);
  for (int i = 0; fold->buffers && i < fold->job->feed.threads; i++) ndr_leaf_buffers_free(&fold->buffers[i]);
  free(fold->buffers);
  free(fold);
}

static ndr_status open_columns(ndr_fold *fold, const ndr_slab *slab) {
  const ndr_job *job = fold->job;
  const ndr_slabs *slabs = &job->slabs[slab->part];
  NDR_TRY(make_blocks(&fold->columns, fold->column_count));
  for (int64_t i = 0; i < fold->column_count; i++) {
    ndr_slab column = fold->gpus ? *slab : ndr_leaf_column(slabs, slab, i);
    NDR_TRY(ndr_block_open(&fold->columns[i], job, &job->uploaders[0], &column));
  }
  return NDR_OK;
}

ndr_status ndr_fold_start(ndr_fold *fold, const ndr_slab *slab) {
  drop_block(fold);
  fold->column_count = fold->gpus ? 1 : ndr_slabs_leaves(&fold->job->slabs[slab->part], slab->begin, slab->size, false);
  return open_columns(fold, slab);
}

static ndr_state_key key_of(const ndr_job *job, const ndr_slab *slab, const ndr_block *column) {
  int64_t leaf = ndr_slabs_leaf_at(&job->slabs[slab->part], column->slab.begin);
  return (ndr_state_key){job->stage, slab->piece, leaf};
}

ndr_status ndr_columns_save(const ndr_columns *columns, const ndr_job *job, const ndr_slab *slab,
                            ndr_state_taker *taker, void *user) {
  for (int64_t i = 0; i < columns->count; i++)
    NDR_TRY(taker(user, key_of(job, slab, &columns->blocks[i]), columns->blocks[i].sums));
  return NDR_OK;
}

ndr_columns ndr_fold_columns(const ndr_fold *fold) {
  return (ndr_columns){fold->columns, fold->column_count};
}

/* Whether what comes of the slab is added to the stretches before it, and not apart. On a GPU that gives the same bits
 * if the slab is a stretch by itself. */
static bool is_added_at_once(const ndr_fold *fold, const ndr_slab *slab) {
  return fold->gpus && fold->before && slab->begins && slab->ends;
}

ndr_status ndr_fold_load(ndr_fold *fold, const ndr_slab *slab, ndr_state_set *set) {
  ndr_block *to = is_added_at_once(fold, slab) ? fold->before : fold->columns;
  for (int64_t i = 0; i < fold->column_count; i++)
    NDR_TRY(ndr_state_set_add(set, key_of(fold->job, slab, &fold->columns[i]), to[i].sums));
  return NDR_OK;
}

static ndr_status merge_column(void *user, int64_t index, int worker) {
  ndr_fold *fold = user;
  (void)worker;
  return ndr_block_merge(&fold->before[index], &fold->columns[index]);
}

ndr_status ndr_fold_end_stretch(ndr_fold *fold, const ndr_slab *slab) {
  if (is_added_at_once(fold, slab)) return NDR_OK;
  if (fold->before)
    NDR_TRY(fold->gpus ? ndr_block_merge(fold->before, fold->columns)
                       : ndr_feed_share(fold->feed, merge_column, fold, fold->column_count));
  if (slab->last) return NDR_OK;
  if (fold->before)
    close_blocks(&fold->columns, fold->column_count);
  else
    fold->before = fold->columns;
  fold->columns = NULL;
  return open_columns(fold, slab);
}

ndr_status ndr_fold_finish(ndr_fold *fold, DLTensor *const *results, const ndr_slab *slab) {
  ndr_block *all = fold->before ? fold->before : fold->columns;
  NDR_TRY(ndr_blocks_finish(all, fold->column_count, fold->job, slab, results));
  drop_block(fold);
  return NDR_OK;
}

ndr_status ndr_fold_add_stretch(ndr_fold *fold, ndr_columns *columns, DLTensor *const *results, const ndr_slab *slab) {
  fold->column_count = columns->count;
  if (!fold->before && !slab->last) {
    fold->before = columns->blocks;
    *columns = fold->spare;
    fold->spare = (ndr_columns){NULL, 0};
    return NDR_OK;
  }
  for (int64_t i = 0; fold->before && i < columns->count; i++)
    NDR_TRY(ndr_block_merge(&fold->before[i], &columns->blocks[i]));
  if (!slab->last) return NDR_OK;
  NDR_TRY(ndr_blocks_finish(fold->before ? fold->before : columns->blocks, columns->count, fold->job, slab, results));
  if (!fold->before) return NDR_OK;
  close_blocks(&fold->spare.blocks, fold->spare.count);
  fold->spare = (ndr_columns){fold->before, fold->column_count};
  fold->before = NULL;
  return NDR_OK;
}

/* ---- A slab ----------------------------------------------------------------------------------------------------- */

static ndr_status do_leaf(void *user, int64_t index, int worker) {
  ndr_fold *fold = user;
  ndr_slab leaf = ndr_leaf_find(fold->job, fold->at.slab, index / fold->depth, index % fold->depth);
  ndr_block *piece = &fold->pieces[index];
  NDR_TRY(ndr_block_open(piece, fold->job, &fold->job->uploaders[0], &fold->columns[index / fold->depth].slab));
  return ndr_leaf_add(fold->job, &fold->at, &leaf, &fold->buffers[worker], piece->sums);
}

static ndr_status do_column(void *user, int64_t index, int worker) {
  ndr_fold *fold = user;
  for (int64_t i = 0; i < fold->depth; i++) {
    ndr_slab leaf = ndr_leaf_find(fold->job, fold->at.slab, index, i);
    NDR_TRY(ndr_leaf_add(fold->job, &fold->at, &leaf, &fold->buffers[worker], fold->columns[index].sums));
  }
  return NDR_OK;
}

static ndr_status add_apart(ndr_fold *fold) {
  int64_t count = fold->column_count * fold->depth;
  NDR_TRY(make_blocks(&fold->pieces, count));
  ndr_status status = ndr_feed_share(fold->feed, do_leaf, fold, count);
  for (int64_t i = 0; status == NDR_OK && i < count; i++)
    status = ndr_block_merge(&fold->columns[i / fold->depth], &fold->pieces[i]);
  close_blocks(&fold->pieces, count);
  return status;
}

static ndr_status add_leaves(ndr_fold *fold, const ndr_slab *slab, void *data) {
  const ndr_slabs *slabs = &fold->job->slabs[slab->part];
  fold->at = (ndr_leaf_slab){slab, data};
  fold->depth = ndr_slabs_leaves(slabs, slab->begin, slab->size, true);
  if (fold->depth == 0 || fold->column_count == 0) return NDR_OK;
  return ndr_slabs_adds_apart(slabs) ? add_apart(fold)
                                     : ndr_feed_share(fold->feed, do_column, fold, fold->column_count);
}

ndr_status ndr_fold_add(ndr_fold *fold, ndr_slab *slab, void *data) {
  if (fold->gpus) {
    ndr_block *to = is_added_at_once(fold, slab) ? fold->before : fold->columns;
    return ndr_gpus_add(fold->gpus, fold->feed, to, slab, data);
  }
  NDR_TRY(add_leaves(fold, slab, data));
  ndr_feed_give(fold->feed);
  return NDR_OK;
}
