/* See ranks.h: partial states are sent to the owner of their outputs, which merges and finishes them; boxes of results
 * are sent to rank 0. */
#include <stdlib.h>
#include <string.h>

#include "core/words.h"
#include "h5/ranks/ranks_inside.h"
#include "h5/read/route/gather.h"
#include "h5/run/job/host.h"
#include "h5/run/leaf/leaf.h"

/* ---- States ----------------------------------------------------------------------------------------------------- */

static bool is_key(ndr_state_key a, ndr_state_key b) {
  return a.stage == b.stage && a.piece == b.piece && a.column == b.column;
}

static ndr_owned_state **list_of(ndr_ranks *r, ndr_state_key key) {
  return &r->owned[(uint64_t)(key.piece + 31 * key.column + 1021 * key.stage) % NDR_OWNED_LISTS];
}

ndr_status ndr_ranks_own(ndr_ranks *r, unsigned char *letter, size_t count) {
  ndr_owned_state *state = malloc(sizeof *state);
  if (!state) {
    free(letter);
    return ndr_fail(NDR_ERR_MEMORY, "out of memory for partial results");
  }
  const ndr_state_key key = {(int64_t)ndr_word_load(letter), (int64_t)ndr_word_load(letter + 8),
                             (int64_t)ndr_word_load(letter + 16)};
  ndr_owned_state **list = list_of(r, key);
  *state = (ndr_owned_state){*list, key, letter, count};
  *list = state;
  return NDR_OK;
}

static void free_state(ndr_owned_state *state) {
  free(state->letter);
  free(state);
}

void ndr_ranks_drop_owned(ndr_ranks *r) {
  for (int i = 0; i < NDR_OWNED_LISTS; i++) {
    for (ndr_owned_state *next; r->owned[i]; r->owned[i] = next) {
      next = r->owned[i]->next;
      free_state(r->owned[i]);
    }
  }
}

/* Takes a piece's states out of their list; NULL if they have not come. */
static ndr_owned_state *take_state(ndr_ranks *r, ndr_state_key key) {
  ndr_owned_state **at = list_of(r, key);
  while (*at && !is_key((*at)->key, key)) at = &(*at)->next;
  ndr_owned_state *found = *at;
  if (found) *at = found->next;
  return found;
}

static int owner_of(const ndr_ranks *r, int64_t piece, int64_t column) {
  int64_t begin, end;
  ndr_slab_iterator_alike(&r->job->feed.iterator, piece, &begin, &end);
  return ndr_deal_owner(&r->deal, begin, end, column);
}

bool ndr_ranks_splits(const ndr_ranks *r, const ndr_slab *slab) {
  int64_t begin, end;
  ndr_slab_iterator_alike(&r->job->feed.iterator, slab->piece, &begin, &end);
  return ndr_deal_splits(&r->deal, begin, end);
}

ndr_status ndr_ranks_send_states(void *user, ndr_state_key key, const ndr_accumulator *sums) {
  ndr_ranks *r = user;
  size_t bytes;
  int to = owner_of(r, key.piece, key.column);
  NDR_TRY(ndr_accumulator_export(sums, NULL, 0, &bytes));
  unsigned char *letter = malloc(NDR_STATES_HEAD + bytes);
  if (!letter) return ndr_fail(NDR_ERR_MEMORY, "out of memory for partial results");
  ndr_word_store((uint64_t)key.stage, letter);
  ndr_word_store((uint64_t)key.piece, letter + 8);
  ndr_word_store((uint64_t)key.column, letter + 16);
  ndr_status status = ndr_accumulator_export(sums, letter + NDR_STATES_HEAD, bytes, &bytes);
  if (status == NDR_OK && to == r->rank) return ndr_ranks_own(r, letter, NDR_STATES_HEAD + bytes);
  if (status == NDR_OK) status = ndr_ranks_send(r, to, NDR_LETTER_STATES, letter, NDR_STATES_HEAD + bytes);
  free(letter);
  return status;
}

/* ---- Outputs ---------------------------------------------------------------------------------------------------- */

/* Waits for a piece's states, and adds them to an accumulator. */
static ndr_status import_state(ndr_ranks *r, ndr_state_key key, ndr_accumulator *into) {
  ndr_owned_state *state;
  while (!(state = take_state(r, key))) NDR_TRY(ndr_ranks_wait(r));
  ndr_status status = ndr_accumulator_import(into, state->letter + NDR_STATES_HEAD, state->count - NDR_STATES_HEAD);
  free_state(state);
  return status;
}

/* Merges the pieces of a column's outputs in their order, as one process does. */
static ndr_status add_pieces(ndr_ranks *r, ndr_block *sums, int64_t leaf, int64_t begin, int64_t end) {
  const ndr_job *job = r->job;
  for (int64_t piece = begin; piece < end; piece++) {
    const ndr_state_key key = {job->stage, piece, leaf};
    ndr_block next = {.sums = NULL};
    bool first = piece == begin;
    ndr_status status = first ? NDR_OK : ndr_block_open(&next, job, &job->uploaders[0], &sums->slab);
    if (status == NDR_OK) status = import_state(r, key, first ? sums->sums : next.sums);
    if (status == NDR_OK && !first) status = ndr_block_merge(sums, &next);
    ndr_block_close(&next);
    NDR_TRY(status);
  }
  return NDR_OK;
}

static ndr_status join_column(ndr_ranks *r, const ndr_slab *column, int64_t leaf, int64_t begin, int64_t end) {
  ndr_block sums;
  ndr_status status = ndr_block_open(&sums, r->job, &r->job->uploaders[0], column);
  if (status == NDR_OK) status = add_pieces(r, &sums, leaf, begin, end);
  if (status == NDR_OK) status = ndr_blocks_finish(&sums, 1, r->job, column, r->results);
  ndr_block_close(&sums);
  return status;
}

/* Joins the columns that this rank owns, of the block whose first slab this is. */
static ndr_status join_block(ndr_ranks *r, const ndr_slab *slab) {
  const ndr_slabs *slabs = &r->job->slabs[slab->part];
  int64_t begin, end, columns = ndr_slabs_leaves(slabs, slab->begin, slab->size, false);
  ndr_slab_iterator_alike(&r->job->feed.iterator, slab->piece, &begin, &end);
  if (!ndr_deal_splits(&r->deal, begin, end)) return NDR_OK;
  for (int64_t i = 0; i < columns; i++) {
    const ndr_slab column = ndr_leaf_column(slabs, slab, i);
    int64_t leaf = ndr_slabs_leaf_at(slabs, column.begin);
    if (ndr_deal_owner(&r->deal, begin, end, leaf) == r->rank) NDR_TRY(join_column(r, &column, leaf, begin, end));
  }
  return NDR_OK;
}

ndr_status ndr_ranks_join(ndr_ranks *r) {
  ndr_slab_iterator iterator = r->job->feed.iterator;
  ndr_slab slab;
  iterator.from = iterator.to = 0;
  while (ndr_slab_iterator_next(&iterator, &slab))
    if (slab.first) NDR_TRY(join_block(r, &slab));
  return NDR_OK;
}

/* ---- Results ---------------------------------------------------------------------------------------------------- */

/* The dtype and shape of result i, without data; the shape is in shape[]. */
static ndr_status describe_result(const ndr_ranks *r, int i, DLTensor *result, int64_t *shape) {
  *result = (DLTensor){.shape = shape};
  return ndr_problem_result(&r->job->problem, i, result);
}

/* Bytes in front of the elements in a letter with a box. */
static size_t box_head(const DLTensor *result) {
  return 8 + (size_t)16 * (size_t)result->ndim;
}

ndr_status ndr_ranks_put_box(void *user, int i, const int64_t *begin, const int64_t *size, void *data) {
  ndr_ranks *r = user;
  DLTensor result;
  int64_t shape[NDR_MAX_DIMS];
  NDR_TRY(describe_result(r, i, &result, shape));
  size_t head = box_head(&result), bytes = result.dtype.bits / 8;
  for (int d = 0; d < result.ndim; d++) bytes *= (size_t)size[d];
  unsigned char *box = malloc(head + bytes);
  if (!box) return ndr_fail(NDR_ERR_MEMORY, "out of memory for results");
  ndr_word_store((uint64_t)i, box);
  for (int d = 0; d < result.ndim; d++) {
    ndr_word_store((uint64_t)begin[d], box + 8 + (size_t)16 * (size_t)d);
    ndr_word_store((uint64_t)size[d], box + 16 + (size_t)16 * (size_t)d);
  }
  if (bytes) memcpy(box + head, data, bytes);
  ndr_status status = ndr_ranks_send(r, 0, NDR_LETTER_BOX, box, head + bytes);
  free(box);
  return status;
}

/* Copies a compact box into a result in memory. */
static ndr_status copy_box(const DLTensor *result, const int64_t *begin, const int64_t *size, const void *data) {
  ndr_dtype dtype;
  ndr_gather gather = {0};
  NDR_TRY(ndr_dtype_from_dlpack(result->dtype, &dtype));
  const ndr_unpack as_it_is = NDR_UNPACK_INIT(dtype);
  int64_t bytes = result->dtype.bits / 8, steps[NDR_MAX_DIMS], froms[NDR_MAX_DIMS], offset = 0, from = bytes, to = 1;
  for (int d = result->ndim - 1; d >= 0; d--) {
    if (size[d] == 0) return NDR_OK;
    steps[d] = (result->strides ? result->strides[d] : to) * bytes;
    froms[d] = from;
    from *= size[d];
    to *= result->shape[d];
    offset += begin[d] * steps[d];
  }
  for (int d = 0; d < result->ndim; d++) ndr_gather_add(&gather, size[d], froms[d], steps[d]);
  ndr_gather_run(&gather, &as_it_is, data, ndr_host_address(result) + offset);
  return NDR_OK;
}

ndr_status ndr_ranks_take_box(ndr_ranks *r, const unsigned char *bytes, size_t count) {
  DLTensor result;
  int64_t shape[NDR_MAX_DIMS], begin[NDR_MAX_DIMS] = {0}, size[NDR_MAX_DIMS] = {0};
  int i = (int)ndr_word_load(bytes);
  NDR_TRY(describe_result(r, i, &result, shape));
  for (int d = 0; d < result.ndim; d++) {
    begin[d] = (int64_t)ndr_word_load(bytes + 8 + (size_t)16 * (size_t)d);
    size[d] = (int64_t)ndr_word_load(bytes + 16 + (size_t)16 * (size_t)d);
  }
  size_t head = box_head(&result);
  if (!r->job->sink) return copy_box(r->results[i], begin, size, bytes + head);
  void *data = malloc(count - head + 1); /* aligned, and the sink's to change */
  if (!data) return ndr_fail(NDR_ERR_MEMORY, "out of memory for results");
  memcpy(data, bytes + head, count - head);
  ndr_status status = r->job->sink->put(r->job->sink->user, i, begin, size, data);
  free(data);
  return status;
}
