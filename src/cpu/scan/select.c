/* Runs selections: blocks of places are counted, the counts added up, and then each block knows where what it keeps
 * goes. A long slice is cut, so that several threads move parts of the same slices. */
#include "cpu/scan/select.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/pool.h"
#include "cpu/scan/scans.h"

#define BLOCK 16384             /* places */
#define SLICE_BYTES (256 << 10) /* of slices of a block that a task moves */

typedef struct schedule {
  ndr_select_job *job;
  int64_t blocks, cuts; /* blocks of places, and cuts of their slices */
  int64_t *before;      /* places that are kept before each block; before that is known, those in it */
  bool moves;
  _Atomic int64_t next;
} schedule;

/* ---- axes ---- */

static bool follows(const ndr_select_axis *inner, const ndr_select_axis *outer) {
  return outer->stride == inner->stride * inner->size && outer->mask == inner->mask * inner->size &&
         outer->result == inner->result * inner->size;
}

/* Indices are those of the array's own dims, so these do not merge. */
static void add_axis(ndr_select_axis *axes, int *count, const ndr_select_axis *axis, bool merges) {
  if (merges && axis->size == 1) return;
  if (merges && *count > 0 && follows(&axes[*count - 1], axis))
    axes[*count - 1].size *= axis->size;
  else
    axes[(*count)++] = *axis;
}

static int compare_axes(const void *a, const void *b) {
  int64_t x = llabs(((const ndr_select_axis *)a)->stride), y = llabs(((const ndr_select_axis *)b)->stride);
  return x < y ? -1 : x > y ? 1 : 0;
}

static void set_axes(ndr_select_job *job) {
  const ndr_selection *made = job->made;
  ndr_select_axis rest[NDR_MAX_DIMS];
  int rests = 0;
  for (int d = made->ndim - 1; d >= 0; d--) {
    ndr_select_axis axis = {made->shape[d], made->strides[d], made->mask_strides[d],
                            made->dim < 0 ? 0 : made->result_strides[d]};
    if (made->dim < 0 || d == made->dim)
      add_axis(job->places, &job->place_axes, &axis, made->kind != NDR_SELECTION_NONZERO);
    else
      rest[rests++] = axis;
  }
  job->rest_size = 1;
  qsort(rest, (size_t)rests, sizeof *rest, compare_axes);
  for (int a = 0; a < rests; a++) {
    job->rest_size *= rest[a].size;
    add_axis(job->rest, &job->rest_axes, &rest[a], true);
  }
  job->result_step = made->dim >= 0 ? made->result_strides[made->dim] : made->result_strides[0];
}

/* ---- pieces ---- */

/* Sets the piece that begins at place `first`. *mask is where the mask of that place lies, *mask_stride how far it is
 * to that of the next, in elements. */
static void find_piece(const ndr_select_job *job, int64_t first, int64_t end, ndr_select_piece *piece, int64_t *mask,
                       int64_t *mask_stride) {
  static const ndr_select_axis single = {1, 1, 1, 1};
  const ndr_select_axis *inner = job->place_axes ? &job->places[0] : &single;
  int64_t most = end - first < NDR_PIECE ? end - first : NDR_PIECE, left = inner->size - first % inner->size;
  piece->first = first;
  piece->count = left < most ? left : most;
  piece->at = *mask = 0;
  piece->stride = inner->stride;
  *mask_stride = inner->mask;
  for (int a = 0; a < job->place_axes; a++) {
    piece->index[a] = first % job->places[a].size;
    piece->at += piece->index[a] * job->places[a].stride;
    *mask += piece->index[a] * job->places[a].mask;
    first /= job->places[a].size;
  }
}

static uint16_t bits_of[256][8]; /* the numbers of the bits that are set in each byte */
static uint8_t count_of[256];    /* how many these are */
static pthread_once_t bits_made = PTHREAD_ONCE_INIT;

static void make_bits(void) {
  for (int byte = 0; byte < 256; byte++)
    for (int bit = 0; bit < 8; bit++)
      if (byte >> bit & 1) bits_of[byte][count_of[byte]++] = (uint16_t)bit;
}

/* Lists the numbers of the places whose byte is `wanted`, and returns how many they are. A product gathers eight bytes
 * of 0 or 1 in its highest byte, a bit each. Eight numbers are written for them, whatever their bits; those that are
 * too many are overwritten by the next eight. */
static int64_t make_list(const uint8_t *kept, int64_t count, uint8_t wanted, uint16_t *list) {
  const uint64_t ones = UINT64_C(0x0101010101010101), flip = wanted ? 0 : ones;
  int64_t length = 0, i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t eight;
    memcpy(&eight, kept + i, 8);
    eight ^= flip;
    const int byte = (int)(eight * UINT64_C(0x0102040810204080) >> 56);
    for (int k = 0; k < 8; k++) list[length + k] = (uint16_t)(i + bits_of[byte][k]);
    length += count_of[byte];
  }
  for (; i < count; i++) {
    list[length] = (uint16_t)i;
    length += kept[i] == wanted;
  }
  return length;
}

static int64_t count_kept(const uint8_t *kept, int64_t count) {
  int64_t sum = 0;
  for (int64_t i = 0; i < count; i++) sum += kept[i];
  return sum;
}

static int64_t count_block(const ndr_select_job *job, int64_t first, int64_t end) {
  uint8_t kept[NDR_PIECE];
  ndr_select_piece piece;
  int64_t sum = 0, mask, stride;
  for (int64_t at = first; at < end; at += piece.count) {
    find_piece(job, at, end, &piece, &mask, &stride);
    ndr_select_truth(job, mask, stride, piece.count, kept);
    sum += count_kept(kept, piece.count);
  }
  return sum;
}

/* Moves places `first` to before `end`, elements from_rest to before to_rest of each slice. `before` places before
 * `first` are kept. */
static void move_block(const ndr_select_job *job, int64_t first, int64_t end, int64_t before, int64_t from_rest,
                       int64_t to_rest) {
  uint8_t kept[NDR_PIECE];
  uint16_t list[NDR_PIECE + 8];
  ndr_select_piece piece;
  int64_t mask, stride;
  for (int64_t at = first; at < end; at += piece.count) {
    find_piece(job, at, end, &piece, &mask, &stride);
    ndr_select_truth(job, mask, stride, piece.count, kept);
    int64_t length = make_list(kept, piece.count, 1, list);
    ndr_select_move(job, &piece, list, length, before, from_rest, to_rest);
    if (job->made->kind == NDR_SELECTION_PARTITION && length < piece.count)
      ndr_select_move(job, &piece, list, make_list(kept, piece.count, 0, list), job->kept + at - before, from_rest,
                      to_rest);
    before += length;
  }
}

/* ---- threads ---- */

static void do_task(const schedule *all, int64_t task) {
  int64_t block = task / all->cuts, cut = task % all->cuts, first = block * BLOCK, places = all->job->made->places;
  int64_t end = first + BLOCK < places ? first + BLOCK : places, size = all->job->rest_size;
  if (all->moves)
    move_block(all->job, first, end, all->before[block], size * cut / all->cuts, size * (cut + 1) / all->cuts);
  else
    all->before[block] = count_block(all->job, first, end);
}

static void do_tasks(void *context, int thread) {
  schedule *all = context;
  int64_t tasks = all->blocks * all->cuts;
  (void)thread;
  for (int64_t task; (task = atomic_fetch_add(&all->next, 1)) < tasks;) do_task(all, task);
}

/* A place takes about a nanosecond, and as much again for eight bytes that are moved. */
static void run_tasks(schedule *all, int threads) {
  int64_t tasks = all->blocks * all->cuts;
  double nanoseconds = (double)all->job->made->places;
  if (all->moves) nanoseconds *= 1 + (double)(all->job->rest_size * all->job->element) / 8;
  atomic_store(&all->next, 0);
  if (nanoseconds < 50000) threads = 1;
  ndr_pool_run(tasks < threads ? (int)tasks : threads, nanoseconds < 1e15 ? (int64_t)nanoseconds : INT64_MAX, do_tasks,
               all);
}

/* A slice of up to 2^62 elements is cut as if it had no more than 2^40. */
static int64_t cuts_of(const ndr_select_job *job) {
  int64_t size = job->rest_size, most = INT64_C(1) << 40;
  int64_t places = job->made->places < BLOCK ? job->made->places : BLOCK;
  int64_t cuts = (size < most ? size : most) * job->element / SLICE_BYTES * places;
  if (cuts < 1) cuts = 1;
  if (cuts > 1024) cuts = 1024;
  return cuts < size ? cuts : size;
}

static ndr_status run(ndr_select_job *job, int64_t *count, int threads) {
  schedule all = {job, (job->made->places + BLOCK - 1) / BLOCK, 1, NULL, false, 0};
  all.before = malloc((size_t)all.blocks * sizeof *all.before);
  if (!all.before)
    return ndr_fail(NDR_ERR_MEMORY, "out of memory for the counts of %lld blocks", (long long)all.blocks);
  run_tasks(&all, threads);
  for (int64_t b = 0; b < all.blocks; b++) {
    int64_t own = all.before[b];
    all.before[b] = job->kept;
    job->kept += own;
  }
  *count = job->kept;
  all.moves = true;
  all.cuts = cuts_of(job);
  if (job->rest_size > 0) run_tasks(&all, threads);
  free(all.before);
  return NDR_OK;
}

ndr_status ndr_cpu_select(const ndr_selection *selection, const ndr_selection_addresses *addresses, int id, int threads,
                          void *stream) {
  ndr_select_job job = {.made = selection,
                        .array = addresses->array,
                        .mask = addresses->mask,
                        .result = addresses->result,
                        .element = (int64_t)ndr_dtype_bytes(selection->dtype)};
  (void)id;
  (void)stream;
  if (selection->places == 0) {
    *addresses->count = 0;
    return NDR_OK;
  }
  pthread_once(&bits_made, make_bits);
  set_axes(&job);
  NDR_TRY(run(&job, addresses->count, threads));
  if (job.kept <= selection->room) return NDR_OK;
  return ndr_fail(NDR_ERR_RESULT, "the result has room for %lld places, and %lld are kept", (long long)selection->room,
                  (long long)job.kept);
}
