/* The lists of a table for kernels/zones.cuh: for each tile, which lane of which warp adds up which labels. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "gpuplan/operand_arrays.h"
#include "gpuplan/zones.h"
#include "gpuplan/zones_banks.h"

enum {
  HEAD = 8,
  LANE_LABELS = 4, /* that come together */
  NOWHERE = INT_MIN
};

/* What one lane adds up: every step-th of the tile's labels from number `first` on. */
typedef struct share {
  int64_t first, step, count, to;
  int64_t turn; /* of its group: which of the lanes of all groups it is among */
} share;

/* A list of ints that grows. */
typedef struct list {
  int32_t *ints;
  int64_t count, room;
} list;

static bool grow(list *l, int64_t by) {
  if (l->count + by <= l->room) return true;
  int64_t room = 2 * (l->count + by) + 1024;
  int32_t *grown = realloc(l->ints, (size_t)room * sizeof *grown);
  if (!grown) return false;
  l->ints = grown;
  l->room = room;
  return true;
}

typedef struct writer {
  const ndr_table *table;
  const ndr_param_tiles *own;
  int64_t most;  /* labels of a lane, about */
  int64_t *next; /* by group, its first label that is in no tile yet */
  int element;   /* bytes */
  share *shares; /* of the tile at hand */
  int64_t share_count;
  list tiles, tasks, lanes, joins, entries; /* entries: two labels an int */
  list labels; /* of a tile, counted from its first: those of each group in the order of their banks */
  list reads;  /* of the lanes at hand: as they are shared out, and as they come */
} writer;

/* Groups take turns, so that a warp's labels lie in all banks about as often. */
static int by_count(const void *a, const void *b) {
  const share *x = a, *y = b;
  if (x->count != y->count) return x->count < y->count ? 1 : -1;
  if (x->turn != y->turn) return x->turn < y->turn ? -1 : 1;
  return x->to < y->to ? -1 : x->to > y->to;
}

static int bank_of(const writer *w, int64_t label) {
  return ndr_bank_of((int32_t)label, w->element);
}

/* Adds the labels from `labels` to `end`, which are counted from the row's first, in the order of their banks: what is
 * dealt from them in turn then reads from all banks about as often. */
static bool add_labels(writer *w, const int32_t *labels, const int32_t *end, int64_t tile_begin) {
  int64_t ends[NDR_BANKS + 1] = {0};
  if (!grow(&w->labels, end - labels)) return false;
  int32_t *to = w->labels.ints + w->labels.count;
  w->labels.count += end - labels;
  for (const int32_t *l = labels; l < end; l++) ends[bank_of(w, *l - tile_begin) + 1]++;
  for (int bank = 0; bank < NDR_BANKS; bank++) ends[bank + 1] += ends[bank];
  for (const int32_t *l = labels; l < end; l++) to[ends[bank_of(w, *l - tile_begin)]++] = (int32_t)(*l - tile_begin);
  return true;
}

/* Shares out the labels that group g has in a tile, which goes from label `begin` to `end`. */
static bool share_group(writer *w, int64_t g, int64_t begin, int64_t end, int64_t *pieces) {
  const ndr_table *table = w->table;
  int64_t from = w->next[g], to = from, first = w->labels.count;
  while (to < table->ends[g] && table->order[to] < end) to++;
  w->next[g] = to;
  int64_t count = to - from, lanes = 2 * count > 3 * w->most ? ndr_ceil_div(count, w->most) : 1;
  if (count == 0) return true;
  if (!add_labels(w, table->order + from, table->order + to, begin)) return false;
  if (lanes > 1) {
    if (!grow(&w->joins, 4)) return false;
    int32_t *join = w->joins.ints + w->joins.count;
    join[0] = (int32_t)g;
    join[1] = (int32_t)*pieces;
    join[2] = (int32_t)(*pieces + lanes);
    join[3] = 0;
    w->joins.count += 4;
  }
  for (int64_t k = 0; k < lanes; k++)
    w->shares[w->share_count++] =
        (share){first + k, lanes, (count - k + lanes - 1) / lanes, lanes > 1 ? -1 - (*pieces)++ : g, (k + g) % lanes};
  return true;
}

/* Writes the labels of lanes that are served together. to: where the first lane's labels go. */
static bool write_lanes(writer *w, const share *shares, int lanes, uint16_t *to) {
  int64_t counts[NDR_WARP_THREADS], count = 0;
  w->reads.count = 0;
  for (int lane = 0; lane < lanes; lane++) count += counts[lane] = shares[lane].count;
  if (!grow(&w->reads, 2 * count)) return false;
  int32_t *labels = w->reads.ints, *ordered = labels + count;
  for (int lane = 0; lane < lanes; lane++)
    for (int64_t i = 0; i < counts[lane]; i++) *labels++ = w->labels.ints[shares[lane].first + i * shares[lane].step];
  ndr_order_reads(w->reads.ints, counts, lanes, w->element, ordered);
  for (int lane = 0; lane < lanes; lane++)
    for (int64_t i = 0; i < counts[lane]; i++)
      to[(i / LANE_LABELS * NDR_WARP_THREADS + lane) * LANE_LABELS + i % LANE_LABELS] = (uint16_t)*ordered++;
  return true;
}

static bool write_labels(writer *w, const share *shares, int64_t count) {
  int together = ndr_lanes_together(w->element);
  uint16_t *labels = (uint16_t *)(void *)(w->entries.ints + w->entries.count);
  for (int64_t lane = 0; lane < count; lane += together) {
    int lanes = count - lane < together ? (int)(count - lane) : together;
    if (!write_lanes(w, shares + lane, lanes, labels + LANE_LABELS * lane)) return false;
  }
  return true;
}

/* Writes the task of 32 shares, of which the first has the most labels. */
static bool write_task(writer *w, const share *shares, int64_t count) {
  int64_t quads = ndr_ceil_div(shares->count, LANE_LABELS), each = 2 * NDR_WARP_THREADS;
  bool room = grow(&w->tasks, 1) && grow(&w->lanes, each) && grow(&w->entries, quads * each);
  if (!room || !w->entries.ints) return false;
  w->tasks.ints[w->tasks.count++] = (int32_t)(w->entries.count / 2);
  for (int64_t lane = 0; lane < NDR_WARP_THREADS; lane++) {
    const share none = {.to = NOWHERE}, *s = lane < count ? &shares[lane] : &none;
    w->lanes.ints[w->lanes.count++] = (int32_t)s->count;
    w->lanes.ints[w->lanes.count++] = (int32_t)s->to;
  }
  memset(w->entries.ints + w->entries.count, 0, (size_t)(quads * each) * sizeof *w->entries.ints);
  if (!write_labels(w, shares, count)) return false;
  w->entries.count += quads * each;
  return true;
}

static bool write_tile(writer *w, int64_t tile) {
  int64_t begin = tile * w->own->width, pieces = 0;
  if (!grow(&w->tiles, 4)) return false;
  int32_t *head = w->tiles.ints + w->tiles.count;
  w->tiles.count += 4;
  head[0] = (int32_t)w->tasks.count;
  head[2] = (int32_t)(w->joins.count / 4);
  w->share_count = w->labels.count = 0;
  for (int64_t g = 0; g < w->table->groups; g++)
    if (!share_group(w, g, begin, begin + w->own->width, &pieces)) return false;
  qsort(w->shares, (size_t)w->share_count, sizeof *w->shares, by_count);
  for (int64_t s = 0; s < w->share_count; s += NDR_WARP_THREADS) {
    int64_t left = w->share_count - s;
    if (!write_task(w, w->shares + s, left < NDR_WARP_THREADS ? left : NDR_WARP_THREADS)) return false;
  }
  head[1] = (int32_t)w->tasks.count;
  head[3] = (int32_t)(w->joins.count / 4);
  return true;
}

static bool write_tiles(writer *w) {
  w->next = malloc((size_t)w->table->groups * sizeof *w->next);
  w->shares = malloc(((size_t)w->own->width + NDR_WARP_THREADS) * sizeof *w->shares);
  if (!w->next || !w->shares) return false;
  for (int64_t g = 0; g < w->table->groups; g++) w->next[g] = g ? w->table->ends[g - 1] : 0;
  for (int64_t tile = 0; tile < w->own->tiles; tile++)
    if (!write_tile(w, tile)) return false;
  return true;
}

static int64_t append(int32_t *ints, int64_t at, const list *l) {
  for (int64_t i = 0; i < l->count; i++) ints[at + i] = l->ints[i];
  return ndr_ceil_div(at + l->count, 4) * 4;
}

/* Puts all lists behind each other; each begins on a multiple of 16 bytes. */
static bool collect(const writer *w, int32_t **ints, size_t *bytes) {
  int64_t count = HEAD + w->tiles.count + w->tasks.count + w->lanes.count + w->joins.count + w->entries.count + 5 * 4;
  *ints = count < INT_MAX ? calloc((size_t)count, sizeof **ints) : NULL;
  if (!*ints) return false;
  int64_t at = append(*ints, HEAD, &w->tiles);
  const list *const lists[] = {&w->tasks, &w->lanes, &w->joins, &w->entries};
  for (int l = 0; l < 4; l++) {
    (*ints)[l] = (int32_t)at;
    at = append(*ints, at, lists[l]);
  }
  *bytes = (size_t)at * sizeof **ints;
  return true;
}

/* So many labels of a lane that all threads have one share of the tile each, unless that is very little. */
static int64_t most_labels(const ndr_param_tiles *own) {
  enum { LEAST = 16 };
  int64_t spare = own->groups <= NDR_THREADS / 2 ? own->groups : 0; /* shares that are not full: one for each group */
  int64_t even = ndr_ceil_div((int64_t)own->width * own->rows, NDR_THREADS - spare);
  return even < LEAST ? LEAST : even;
}

ndr_status ndr_zones_write(const ndr_canonical *problem, const ndr_launch *launch, int32_t **ints, size_t *bytes) {
  const ndr_param_tiles *own = &launch->params.table.tiles;
  writer w = {
      .table = problem->table, .own = own, .most = most_labels(own), .element = (int)ndr_array_bytes(problem, 0)};
  *ints = NULL;
  bool written = write_tiles(&w) && collect(&w, ints, bytes);
  free(w.next);
  free(w.shares);
  free(w.tiles.ints);
  free(w.tasks.ints);
  free(w.lanes.ints);
  free(w.joins.ints);
  free(w.entries.ints);
  free(w.labels.ints);
  free(w.reads.ints);
  return written
             ? NDR_OK
             : ndr_fail(NDR_ERR_MEMORY, "out of memory for a table of %lld labels", (long long)problem->table->count);
}
