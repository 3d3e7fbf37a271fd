/* See zones_pairs.h. Shared memory serves half a warp at once if each thread reads or writes a state of 8 bytes. It
 * then has HALF banks, and a group's states lie in one of them. So each thread of a half has the groups of another
 * bank. */
#include "gpuplan/operands/zones_pairs.h"

#include <stdlib.h>

#include "gpuplan/operands/zones_banks.h"

enum {
  HALF = NDR_WARP_THREADS / 2,
  HALVES = NDR_THREADS / HALF,
  PAIR_LABELS = 6 /* of a group in a tile, on average: with fewer, pairs are faster (measured) */
};

bool ndr_zones_pay_pairs(const ndr_table *table, int64_t width) {
  int64_t parts = 0; /* the parts of all groups, each of which lies in one tile */
  for (int64_t g = 0, at = 0; g < table->groups; g++)
    for (int64_t tile = -1; at < table->ends[g]; at++) {
      parts += table->order[at] / width != tile;
      tile = table->order[at] / width;
    }
  return table->groups > NDR_THREADS && table->groups <= UINT16_MAX && table->count < PAIR_LABELS * parts;
}

/* ---- which thread has which groups ---- */

/* A group's labels in the tile: order[from] to order[from + count - 1] of the table. */
typedef struct share {
  int64_t from, count;
  int64_t group; /* counted from the tile's first */
} share;

static int by_count(const void *a, const void *b) {
  const share *x = a, *y = b;
  if (x->count != y->count) return x->count < y->count ? 1 : -1;
  return x->group < y->group ? -1 : x->group > y->group;
}

/* Finds the groups that have labels in the tile, most labels first, and moves next[] behind these. Returns how many. */
static int64_t find_shares(const ndr_table *table, const ndr_zones_tile *tile, int64_t *next, share *shares) {
  int64_t count = 0;
  for (int64_t g = tile->first; g < tile->group_end; g++) {
    int64_t from = next[g];
    while (next[g] < table->ends[g] && table->order[next[g]] < tile->end) next[g]++;
    if (next[g] > from) shares[count++] = (share){from, next[g] - from, g - tile->first};
  }
  qsort(shares, (size_t)count, sizeof *shares, by_count);
  return count;
}

/* Gives each share to a thread: of those that have the groups of its bank, to the one with the fewest labels. Threads
 * are numbered bank by bank here, and only later placed in the block. Sets thread_of[share], and adds to
 * labels[thread], which begin at 0. */
static void give_shares(const share *shares, int64_t count, int *thread_of, int64_t *labels) {
  for (int64_t i = 0; i < count; i++) {
    int first = (int)(shares[i].group % HALF) * HALVES, least = first;
    for (int t = first + 1; t < first + HALVES; t++)
      if (labels[t] < labels[least]) least = t;
    thread_of[i] = least;
    labels[least] += shares[i].count;
  }
}

typedef struct thread {
  int number; /* bank by bank */
  int64_t labels;
} thread;

static int by_labels(const void *a, const void *b) {
  const thread *x = a, *y = b;
  if (x->labels != y->labels) return x->labels < y->labels ? 1 : -1;
  return x->number < y->number ? -1 : 1;
}

/* Sets place[t] to where thread t, as numbered bank by bank, comes to lie in the block. Each half of a warp gets a
 * thread of each bank, all with about as many labels; the first of a half has the most. */
static void place_threads(const int64_t *labels, int *place) {
  thread banks[HALF][HALVES];
  for (int bank = 0; bank < HALF; bank++) {
    for (int k = 0; k < HALVES; k++) banks[bank][k] = (thread){bank * HALVES + k, labels[bank * HALVES + k]};
    qsort(banks[bank], HALVES, sizeof(thread), by_labels);
  }
  for (int half = 0; half < HALVES; half++) {
    thread threads[HALF];
    for (int bank = 0; bank < HALF; bank++) threads[bank] = banks[bank][half];
    qsort(threads, HALF, sizeof(thread), by_labels);
    for (int k = 0; k < HALF; k++) place[threads[k].number] = half * HALF + k;
  }
}

/* ---- the order of a thread's labels ---- */

typedef struct sorter {
  const ndr_table *table;
  const ndr_zones_tile *tile;
  int element_bytes;
  int32_t *labels;         /* of all threads, one after the other, those of a thread sorted by bank */
  int32_t *ordered;        /* the same, those of a thread in the order of reading */
  uint16_t *group;         /* by label */
  uint16_t *thread_number; /* by label; NDR_THREADS: it has none */
} sorter;

/* Says of each label whose it is. */
static void mark_labels(const sorter *s, const share *shares, int64_t count, const int *thread_of, const int *place) {
  for (int64_t l = s->tile->begin; l < s->tile->end; l++) s->thread_number[l - s->tile->begin] = NDR_THREADS;
  for (int64_t i = 0; i < count; i++)
    for (int64_t k = 0; k < shares[i].count; k++) {
      int64_t label = s->table->order[shares[i].from + k] - s->tile->begin;
      s->group[label] = (uint16_t)shares[i].group;
      s->thread_number[label] = (uint16_t)place[thread_of[i]];
    }
}

/* Puts each thread's labels behind each other, sorted by bank. */
static void put_labels(const sorter *s, const ndr_zones_dealt *dealt) {
  int64_t end[NDR_THREADS], bank_end[NDR_BANKS + 1] = {0}, width = s->tile->end - s->tile->begin;
  for (int32_t l = 0; l < width; l++) bank_end[ndr_bank_of(l, s->element_bytes) + 1]++;
  for (int bank = 0; bank < NDR_BANKS; bank++) bank_end[bank + 1] += bank_end[bank];
  for (int32_t l = 0; l < width; l++) s->ordered[bank_end[ndr_bank_of(l, s->element_bytes)]++] = l;
  for (int t = 0; t < NDR_THREADS; t++) end[t] = dealt->begin[t];
  for (int64_t i = 0; i < width; i++) {
    int t = s->thread_number[s->ordered[i]];
    if (t < NDR_THREADS) s->labels[end[t]++] = s->ordered[i];
  }
}

/* Orders them so that few of the threads that are served at once read from one bank. */
static void order_labels(const sorter *s, const ndr_zones_dealt *dealt) {
  int at_once = ndr_lanes_at_once(s->element_bytes);
  for (int first = 0; first < NDR_THREADS; first += at_once) {
    int64_t counts[NDR_WARP_THREADS];
    for (int k = 0; k < at_once; k++) counts[k] = dealt->begin[first + k + 1] - dealt->begin[first + k];
    ndr_order_reads(s->labels + dealt->begin[first], counts, at_once, s->element_bytes,
                    s->ordered + dealt->begin[first]);
  }
}

/* Sets dealt->begin and allocates dealt->pairs; false without memory. thread_of[count] is room. */
static bool deal(const sorter *s, const share *shares, int64_t count, int *thread_of, ndr_zones_dealt *dealt) {
  int64_t labels[NDR_THREADS] = {0};
  int place[NDR_THREADS];
  give_shares(shares, count, thread_of, labels);
  place_threads(labels, place);
  for (int t = 0; t < NDR_THREADS; t++) dealt->begin[place[t] + 1] = labels[t];
  for (int t = 0; t < NDR_THREADS; t++) dealt->begin[t + 1] += dealt->begin[t];
  mark_labels(s, shares, count, thread_of, place);
  put_labels(s, dealt);
  order_labels(s, dealt);
  int64_t all = dealt->begin[NDR_THREADS];
  dealt->pairs = malloc((size_t)(all + 1) * sizeof *dealt->pairs);
  for (int64_t i = 0; dealt->pairs && i < all; i++)
    dealt->pairs[i] = (uint32_t)s->ordered[i] | (uint32_t)s->group[s->ordered[i]] << 16;
  return dealt->pairs != NULL;
}

bool ndr_zones_deal(const ndr_table *table, const ndr_zones_tile *tile, int element_bytes, int64_t *next,
                    ndr_zones_dealt *dealt) {
  size_t groups = (size_t)(tile->group_end - tile->first), width = (size_t)(tile->end - tile->begin) + 1;
  share *shares = malloc(groups * sizeof *shares);
  int *thread_of = malloc(groups * sizeof *thread_of);
  sorter s = {table,
              tile,
              element_bytes,
              malloc(width * sizeof *s.labels),
              malloc(width * sizeof *s.ordered),
              malloc(width * sizeof *s.group),
              malloc(width * sizeof *s.thread_number)};
  *dealt = (ndr_zones_dealt){.pairs = NULL};
  bool fine = shares && thread_of && s.labels && s.ordered && s.group && s.thread_number;
  if (fine) fine = deal(&s, shares, find_shares(table, tile, next, shares), thread_of, dealt);
  free(shares);
  free(thread_of);
  free(s.labels);
  free(s.ordered);
  free(s.group);
  free(s.thread_number);
  return fine;
}
