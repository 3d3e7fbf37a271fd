/* See feed.h. One lock guards everything but the reading itself. */
#include "h5/read/feed.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ndreduce/device.h"

typedef struct {
  ndr_slab slab;
  void *data;
  int64_t pieces, task; /* to read, and how many of them a thread takes at once */
  int64_t own;          /* pieces of the dataset, the first; those of the arrays beside it follow */
  int64_t handed, done;
  ndr_status status;
  char reason[512]; /* of the first piece that failed */
} slot;

/* Of one thread: for the dataset, and for each array beside it. */
typedef struct {
  ndr_reader_scratch dataset, besides[NDR_MOST_BESIDES];
} scratches;

/* The tasks of one call of ndr_feed_share. */
typedef struct {
  ndr_feed_task *task;
  void *user;
  int64_t count, handed, done;
  ndr_status status;
  char reason[512]; /* of the first that failed */
} shared_tasks;

/* Slots are used in turn: `given` have been given back, those up to `taken` are out, those up to `opened` are being
 * filled or full. */
struct ndr_feed {
  const ndr_feed_plan *plan;
  pthread_mutex_t lock;
  pthread_cond_t work, ready; /* there may be pieces to read; the next slab may be whole */
  ndr_slab_iterator iterator;
  slot *slots;
  int64_t given, taken, opened;
  bool exhausted, stop; /* the iterator has ended; the threads shall */
  ndr_feed_times times;
  pthread_t *threads;
  int thread_count, workers; /* the latter have begun */
  shared_tasks shared_tasks;
  scratches own; /* of the thread that takes */
};

static slot *slot_of(const ndr_feed *feed, int64_t number) {
  return &feed->slots[number % feed->plan->slots];
}

static bool is_whole(const slot *s) {
  return s->done == s->pieces;
}

static bool next_is_whole(const ndr_feed *feed) {
  return feed->opened > feed->taken && is_whole(slot_of(feed, feed->taken));
}

static bool comes_with_slabs(const ndr_beside *beside) {
  return !beside->once && !beside->memory;
}

static int64_t pieces_beside(const ndr_feed *feed, const ndr_slab *slab) {
  int64_t count = 0;
  for (int i = 0; i < feed->plan->beside_count; i++)
    if (comes_with_slabs(&feed->plan->besides[i])) count += ndr_beside_pieces(&feed->plan->besides[i], slab);
  return count;
}

/* Opens the next slab, if there is one and a slot for it. */
static bool open_slot(ndr_feed *feed) {
  slot *s = slot_of(feed, feed->opened);
  if (feed->exhausted || feed->opened - feed->given == feed->plan->slots) return false;
  if (!ndr_slab_iterator_next(&feed->iterator, &s->slab)) {
    feed->exhausted = true;
    return false;
  }
  s->own = ndr_reader_pieces(&feed->plan->readers[s->slab.part], (ndr_box){s->slab.begin, s->slab.size}, &s->task);
  s->pieces = s->own > 0 ? s->own + pieces_beside(feed, &s->slab) : 0;
  s->handed = s->done = 0;
  s->status = NDR_OK;
  feed->opened++;
  return true;
}

/* The oldest slab with pieces that nobody reads yet; NULL if there is nothing to do now. */
static slot *find_work(ndr_feed *feed) {
  for (int64_t i = feed->taken;; i++) {
    if (i == feed->opened && !open_slot(feed)) return NULL;
    slot *s = slot_of(feed, i);
    if (s->handed < s->pieces) return s;
  }
}

/* Reads piece number `piece` of all those of the arrays beside the dataset. */
static ndr_status read_beside(const ndr_feed *feed, const slot *s, int64_t piece, scratches *scratch) {
  for (int i = 0; i < feed->plan->beside_count; i++) {
    const ndr_beside *beside = &feed->plan->besides[i];
    int64_t count = comes_with_slabs(beside) ? ndr_beside_pieces(beside, &s->slab) : 0;
    if (piece < count) return ndr_beside_read(beside, &scratch->besides[i], &s->slab, piece, s->data);
    piece -= count;
  }
  return NDR_OK;
}

static ndr_status read_pieces(const ndr_feed *feed, const slot *s, int64_t first, int64_t count, scratches *scratch) {
  const ndr_reader *reader = &feed->plan->readers[s->slab.part];
  for (int64_t i = first; i < first + count; i++)
    NDR_TRY(i < s->own ? ndr_reader_read(reader, &scratch->dataset, (ndr_box){s->slab.begin, s->slab.size}, i, s->data)
                       : read_beside(feed, s, i - s->own, scratch));
  return NDR_OK;
}

static void collect(ndr_feed_times *times, ndr_reader_scratch *scratch) {
  times->read_seconds += scratch->read_seconds;
  times->decode_seconds += scratch->decode_seconds;
  times->unpack_seconds += scratch->unpack_seconds;
  times->stored_bytes += scratch->stored_bytes;
  scratch->read_seconds = scratch->decode_seconds = scratch->unpack_seconds = 0;
  scratch->stored_bytes = 0;
}

static void clear(scratches *scratch) {
  ndr_reader_scratch_clear(&scratch->dataset);
  for (int i = 0; i < NDR_MOST_BESIDES; i++) ndr_reader_scratch_clear(&scratch->besides[i]);
}

/* Reads some pieces of a slab; the lock is held before and after. Once a slab has failed, nobody needs the rest. */
static void do_work(ndr_feed *feed, slot *s, scratches *scratch) {
  int64_t first = s->handed, count = s->pieces - first < s->task ? s->pieces - first : s->task;
  bool failed = s->status != NDR_OK;
  s->handed += count;
  pthread_mutex_unlock(&feed->lock);
  ndr_status status = failed ? NDR_OK : read_pieces(feed, s, first, count, scratch);
  pthread_mutex_lock(&feed->lock);
  if (status != NDR_OK && s->status == NDR_OK) {
    s->status = status;
    snprintf(s->reason, sizeof s->reason, "%s", ndr_last_error());
  }
  s->done += count;
  collect(&feed->times, &scratch->dataset);
  for (int i = 0; i < feed->plan->beside_count; i++) collect(&feed->times, &scratch->besides[i]);
  if (is_whole(s)) pthread_cond_signal(&feed->ready);
}

/* Does one of the tasks that are shared; the lock is held before and after. False if none is left to hand out. */
static bool help(ndr_feed *feed, int worker) {
  shared_tasks *e = &feed->shared_tasks;
  if (e->handed == e->count) return false;
  int64_t index = e->handed++;
  bool failed = e->status != NDR_OK;
  pthread_mutex_unlock(&feed->lock);
  ndr_status status = failed ? NDR_OK : e->task(e->user, index, worker);
  pthread_mutex_lock(&feed->lock);
  if (status != NDR_OK && e->status == NDR_OK) {
    e->status = status;
    snprintf(e->reason, sizeof e->reason, "%s", ndr_last_error());
  }
  if (++e->done == e->count) pthread_cond_signal(&feed->ready);
  return true;
}

static void *run_thread(void *argument) {
  ndr_feed *feed = argument;
  scratches scratch = {0};
  pthread_mutex_lock(&feed->lock);
  int worker = ++feed->workers;
  while (!feed->stop) {
    if (help(feed, worker)) continue;
    slot *s = find_work(feed);
    if (s)
      do_work(feed, s, &scratch);
    else
      pthread_cond_wait(&feed->work, &feed->lock);
  }
  pthread_mutex_unlock(&feed->lock);
  clear(&scratch);
  return NULL;
}

static ndr_status allocate(ndr_feed *feed) {
  feed->slots = calloc((size_t)feed->plan->slots, sizeof *feed->slots);
  feed->threads = calloc((size_t)feed->plan->threads, sizeof *feed->threads);
  if (!feed->slots || !feed->threads) return ndr_fail(NDR_ERR_MEMORY, "out of memory for buffers");
  for (int i = 0; i < feed->plan->slots; i++)
    NDR_TRY(ndr_memory_allocate(feed->plan->place, (size_t)feed->plan->slot_bytes, &feed->slots[i].data));
  return NDR_OK;
}

ndr_status ndr_feed_create(ndr_feed **created, const ndr_feed_plan *plan) {
  *created = NULL;
  ndr_feed *feed = calloc(1, sizeof *feed);
  if (!feed) return ndr_fail(NDR_ERR_MEMORY, "out of memory for buffers");
  feed->plan = plan;
  feed->iterator = plan->iterator;
  pthread_mutex_init(&feed->lock, NULL);
  pthread_cond_init(&feed->work, NULL);
  pthread_cond_init(&feed->ready, NULL);
  ndr_status status = allocate(feed);
  if (status != NDR_OK) {
    ndr_feed_destroy(feed);
    return status;
  }
  while (feed->thread_count < plan->threads - 1 &&
         pthread_create(&feed->threads[feed->thread_count], NULL, run_thread, feed) == 0)
    feed->thread_count++;
  *created = feed;
  return NDR_OK;
}

ndr_status ndr_feed_take(ndr_feed *feed, ndr_slab *slab, void **data, bool *done) {
  pthread_mutex_lock(&feed->lock);
  for (;;) {
    slot *s = next_is_whole(feed) ? NULL : find_work(feed);
    if (s)
      do_work(feed, s, &feed->own);
    else if (feed->opened == feed->taken || next_is_whole(feed)) /* an empty slab is whole as soon as it is opened */
      break;
    else
      pthread_cond_wait(&feed->ready, &feed->lock);
  }
  slot *next = slot_of(feed, feed->taken);
  *done = feed->opened == feed->taken;
  *slab = next->slab;
  *data = next->data;
  feed->taken += !*done;
  ndr_status status = *done ? NDR_OK : next->status;
  pthread_mutex_unlock(&feed->lock);
  return status == NDR_OK ? NDR_OK : ndr_fail(status, "%s", next->reason);
}

void ndr_feed_give(ndr_feed *feed) {
  pthread_mutex_lock(&feed->lock);
  feed->given++;
  pthread_cond_broadcast(&feed->work);
  pthread_mutex_unlock(&feed->lock);
}

ndr_status ndr_feed_share(ndr_feed *feed, ndr_feed_task *task, void *user, int64_t count) {
  pthread_mutex_lock(&feed->lock);
  feed->shared_tasks = (shared_tasks){.task = task, .user = user, .count = count};
  if (count > 1) pthread_cond_broadcast(&feed->work);
  while (help(feed, 0)) continue;
  while (feed->shared_tasks.done < count) pthread_cond_wait(&feed->ready, &feed->lock);
  ndr_status status = feed->shared_tasks.status;
  pthread_mutex_unlock(&feed->lock);
  return status == NDR_OK ? NDR_OK : ndr_fail(status, "%s", feed->shared_tasks.reason);
}

ndr_feed_times ndr_feed_spent(ndr_feed *feed) {
  pthread_mutex_lock(&feed->lock);
  ndr_feed_times times = feed->times;
  pthread_mutex_unlock(&feed->lock);
  return times;
}

void ndr_feed_destroy(ndr_feed *feed) {
  if (!feed) return;
  pthread_mutex_lock(&feed->lock);
  feed->stop = true;
  pthread_cond_broadcast(&feed->work);
  pthread_mutex_unlock(&feed->lock);
  for (int i = 0; i < feed->thread_count; i++) pthread_join(feed->threads[i], NULL);
  clear(&feed->own);
  for (int i = 0; feed->slots && i < feed->plan->slots; i++) ndr_memory_free(feed->plan->place, feed->slots[i].data);
  free(feed->slots);
  free(feed->threads);
  pthread_cond_destroy(&feed->ready);
  pthread_cond_destroy(&feed->work);
  pthread_mutex_destroy(&feed->lock);
  free(feed);
}
