/* See feed.h. One lock guards everything but the reading itself. */
#include "h5/read/slab/feed.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "h5/read/route/route.h"
#include "ndreduce/device.h"

typedef struct {
  ndr_slab slab; /* of a piece, the one at hand */
  void *data;
  int64_t pieces, task; /* to read, and how many of them a thread takes at once. A piece of the grid is one: it is
                         * handed out slab by slab, and done with the last */
  int64_t handed, done;
  ndr_slab_iterator at; /* of a piece: behind the slab at hand */
  ndr_status status;
  char reason[512]; /* of the first piece that failed */
} slot;

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
  ndr_feed_reduce *reduce; /* NULL: slots hold slabs */
  void *user;
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
  /* Of the thread that takes. */
  ndr_slot_scratch own;
  slot *mine;
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

/* Moves the feed's iterator on behind the piece that begins with the slot's slab. */
static void open_piece(ndr_feed *feed, slot *s) {
  ndr_slab next = s->slab;
  s->pieces = s->task = 1;
  s->at = feed->iterator;
  while (!next.ends && ndr_slab_iterator_next(&feed->iterator, &next)) continue;
}

/* Opens the next slab, or piece, if there is one and a slot for it. */
static bool open_slot(ndr_feed *feed) {
  slot *s = slot_of(feed, feed->opened);
  if (feed->exhausted || feed->opened - feed->given == feed->plan->slots) return false;
  if (!ndr_slab_iterator_next(&feed->iterator, &s->slab)) {
    feed->exhausted = true;
    return false;
  }
  s->handed = s->done = 0;
  if (feed->reduce)
    open_piece(feed, s);
  else
    s->pieces = ndr_slot_pieces(&feed->plan->slot, &s->slab, &s->task);
  s->status = NDR_OK;
  feed->opened++;
  return true;
}

/* What a thread does next: it goes on with its piece of the grid, whose states are in its core's cache; else takes the
 * oldest slot with pieces that nobody has. NULL if there is nothing to do now. */
static slot *find_work(ndr_feed *feed, slot *mine) {
  if (feed->reduce && mine && mine->handed < mine->pieces) return mine;
  for (int64_t i = feed->taken;; i++) {
    if (i == feed->opened && !open_slot(feed)) return NULL;
    slot *s = slot_of(feed, i);
    if (s->handed < s->pieces) return s;
  }
}

static double counted(const ndr_reader_scratch *scratch) {
  return scratch->read_seconds + scratch->decode_seconds + scratch->unpack_seconds;
}

static void collect(ndr_feed_times *times, ndr_reader_scratch *scratch) {
  times->read_seconds += scratch->read_seconds;
  times->decode_seconds += scratch->decode_seconds;
  times->unpack_seconds += scratch->unpack_seconds;
  times->stored_bytes += scratch->stored_bytes;
  scratch->read_seconds = scratch->decode_seconds = scratch->unpack_seconds = 0;
  scratch->stored_bytes = 0;
}

/* The seconds that a scratch has counted and that have not been collected. */
static double reading_seconds(const ndr_feed *feed, const ndr_slot_scratch *scratch) {
  double seconds = counted(&scratch->dataset);
  for (int i = 0; i < feed->plan->slot.beside_count; i++) seconds += counted(&scratch->besides[i]);
  return seconds;
}

static void keep_reason(slot *s, ndr_status status) {
  if (status == NDR_OK || s->status != NDR_OK) return;
  s->status = status;
  snprintf(s->reason, sizeof s->reason, "%s", ndr_last_error());
}

static void collect_all(ndr_feed *feed, ndr_slot_scratch *scratch) {
  collect(&feed->times, &scratch->dataset);
  for (int i = 0; i < feed->plan->slot.beside_count; i++) collect(&feed->times, &scratch->besides[i]);
}

/* Reads some pieces of a slab. Once a slab has failed, nobody needs the rest. */
static void read_some(ndr_feed *feed, slot *s, ndr_slot_scratch *scratch) {
  int64_t first = s->handed, count = s->pieces - first < s->task ? s->pieces - first : s->task;
  bool failed = s->status != NDR_OK;
  s->handed += count;
  pthread_mutex_unlock(&feed->lock);
  ndr_status status = failed ? NDR_OK : ndr_slot_read(&feed->plan->slot, &s->slab, first, count, scratch, s->data);
  pthread_mutex_lock(&feed->lock);
  keep_reason(s, status);
  s->done += count;
}

static int64_t elements_of(const slot *s, int ndim) {
  int64_t count = 1;
  for (int d = 0; d < ndim; d++) count *= s->slab.size[d];
  return count;
}

/* Reduces the slab at hand of a piece, and moves on to the next. */
static void reduce_one(ndr_feed *feed, slot *s, int worker, ndr_slot_scratch *scratch) {
  s->handed = 1;
  pthread_mutex_unlock(&feed->lock);
  double begin = ndr_seconds();
  ndr_status status = feed->reduce(feed->user, (int)(s - feed->slots), &s->slab, worker, scratch);
  double seconds = ndr_seconds() - begin - reading_seconds(feed, scratch);
  pthread_mutex_lock(&feed->lock);
  keep_reason(s, status);
  feed->times.reduce_seconds += seconds;
  feed->times.slabs++;
  feed->times.elements += elements_of(s, feed->iterator.parts[s->slab.part].ndim);
  if (status == NDR_OK && !s->slab.ends && ndr_slab_iterator_next(&s->at, &s->slab))
    s->handed = 0;
  else
    s->done = 1;
}

/* Does a part of what fills a slot; the lock is held before and after. */
static void do_work(ndr_feed *feed, slot *s, int worker, ndr_slot_scratch *scratch) {
  if (feed->reduce)
    reduce_one(feed, s, worker, scratch);
  else
    read_some(feed, s, scratch);
  collect_all(feed, scratch);
  if (feed->reduce || is_whole(s)) pthread_cond_signal(&feed->ready);
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
  ndr_slot_scratch scratch = {0};
  pthread_mutex_lock(&feed->lock);
  int worker = ++feed->workers;
  slot *s = NULL;
  while (!feed->stop) {
    if (help(feed, worker)) continue;
    s = find_work(feed, s);
    if (s)
      do_work(feed, s, worker, &scratch);
    else
      pthread_cond_wait(&feed->work, &feed->lock);
  }
  pthread_mutex_unlock(&feed->lock);
  ndr_slot_scratch_clear(&scratch);
  return NULL;
}

static ndr_status allocate(ndr_feed *feed) {
  feed->slots = calloc((size_t)feed->plan->slots, sizeof *feed->slots);
  feed->threads = calloc((size_t)feed->plan->threads, sizeof *feed->threads);
  if (!feed->slots || !feed->threads) return ndr_fail(NDR_ERR_MEMORY, "out of memory for buffers");
  for (int i = 0; !feed->reduce && i < feed->plan->slots; i++)
    NDR_TRY(ndr_memory_allocate(feed->plan->place, (size_t)feed->plan->slot_bytes, &feed->slots[i].data));
  return NDR_OK;
}

ndr_status ndr_feed_create(ndr_feed **created, const ndr_feed_plan *plan, ndr_feed_reduce *reduce, void *user) {
  *created = NULL;
  ndr_feed *feed = calloc(1, sizeof *feed);
  if (!feed) return ndr_fail(NDR_ERR_MEMORY, "out of memory for buffers");
  feed->plan = plan;
  feed->reduce = reduce;
  feed->user = user;
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

/* Fills slots until the next one is whole, or nothing is left; with `reduce` until a slab is reduced. */
static ndr_feed_state fill(ndr_feed *feed) {
  for (;;) {
    slot *s = next_is_whole(feed) ? NULL : find_work(feed, feed->mine);
    if (s) {
      feed->mine = s;
      do_work(feed, s, 0, &feed->own);
      if (feed->reduce && !next_is_whole(feed)) return NDR_FEED_BUSY;
    } else if (next_is_whole(feed)) { /* an empty slab is whole as soon as it is opened */
      return NDR_FEED_TAKEN;
    } else if (feed->opened == feed->taken) {
      return NDR_FEED_ENDED;
    } else {
      pthread_cond_wait(&feed->ready, &feed->lock);
      if (feed->reduce && !next_is_whole(feed)) return NDR_FEED_BUSY;
    }
  }
}

ndr_status ndr_feed_take(ndr_feed *feed, ndr_slab *slab, void **data, ndr_feed_state *state) {
  pthread_mutex_lock(&feed->lock);
  *state = fill(feed);
  slot *next = slot_of(feed, feed->taken);
  ndr_status status = NDR_OK;
  if (*state == NDR_FEED_TAKEN) {
    status = next->status;
    *slab = next->slab;
    *data = next->data;
    feed->taken++;
  }
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
  ndr_slot_scratch_clear(&feed->own);
  for (int i = 0; feed->slots && i < feed->plan->slots; i++) ndr_memory_free(feed->plan->place, feed->slots[i].data);
  free(feed->slots);
  free(feed->threads);
  pthread_cond_destroy(&feed->ready);
  pthread_cond_destroy(&feed->work);
  pthread_mutex_destroy(&feed->lock);
  free(feed);
}
