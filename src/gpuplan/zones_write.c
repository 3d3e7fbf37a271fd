/* The lists of a table for kernels/zones.cuh: for each tile, which lane of which warp adds up which labels. */
#include <limits.h>
#include <stdlib.h>

#include "gpuplan/operand_arrays.h"
#include "gpuplan/zones.h"

enum { HEAD = 8, LANE_LABELS = 4 /* that come together */, NOWHERE = INT_MIN };

/* What one lane adds up: every step-th of the labels from `first` on. */
typedef struct share {
  int64_t first, step, count, to;
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
  share *shares; /* of the tile at hand */
  int64_t share_count;
  list tiles, tasks, lanes, joins, entries; /* entries: two labels an int */
} writer;

static int by_count(const void *a, const void *b) {
  const share *x = a, *y = b;
  if (x->count != y->count) return x->count < y->count ? 1 : -1;
  return x->to < y->to ? -1 : x->to > y->to;
}

/* Shares out the labels that group g has in a tile, which ends at label `end`. */
static bool share_group(writer *w, int64_t g, int64_t end, int64_t *pieces) {
  const ndr_table *table = w->table;
  int64_t first = w->next[g], last = first;
  while (last < table->ends[g] && table->order[last] < end) last++;
  w->next[g] = last;
  int64_t count = last - first, lanes = 2 * count > 3 * w->most ? ndr_ceil_div(count, w->most) : 1;
  if (count == 0) return true;
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
        (share){first + k, lanes, (count - k + lanes - 1) / lanes, lanes > 1 ? -1 - (*pieces)++ : g};
  return true;
}

/* Writes the task of 32 shares, of which the first has the most labels. */
static bool write_task(writer *w, const share *shares, int64_t count, int64_t tile_begin) {
  int64_t quads = ndr_ceil_div(shares->count, LANE_LABELS), each = 2 * NDR_WARP_THREADS;
  bool room = grow(&w->tasks, 1) && grow(&w->lanes, each) && grow(&w->entries, quads * each);
  if (!room || !w->entries.ints) return false;
  w->tasks.ints[w->tasks.count++] = (int32_t)(w->entries.count / 2);
  uint16_t *labels = (uint16_t *)(void *)(w->entries.ints + w->entries.count);
  for (int64_t lane = 0; lane < NDR_WARP_THREADS; lane++) {
    const share none = {.to = NOWHERE}, *s = lane < count ? &shares[lane] : &none;
    w->lanes.ints[w->lanes.count++] = (int32_t)s->count;
    w->lanes.ints[w->lanes.count++] = (int32_t)s->to;
    for (int64_t i = 0; i < quads * LANE_LABELS; i++) {
      int64_t at = (i / LANE_LABELS * NDR_WARP_THREADS + lane) * LANE_LABELS + i % LANE_LABELS;
      labels[at] = i < s->count ? (uint16_t)(w->table->order[s->first + i * s->step] - tile_begin) : 0;
    }
  }
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
  w->share_count = 0;
  for (int64_t g = 0; g < w->table->groups; g++)
    if (!share_group(w, g, begin + w->own->width, &pieces)) return false;
  qsort(w->shares, (size_t)w->share_count, sizeof *w->shares, by_count);
  for (int64_t s = 0; s < w->share_count; s += NDR_WARP_THREADS) {
    int64_t left = w->share_count - s;
    if (!write_task(w, w->shares + s, left < NDR_WARP_THREADS ? left : NDR_WARP_THREADS, begin)) return false;
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

ndr_status ndr_zones_write(const ndr_launch *launch, const ndr_table *table, int32_t **ints, size_t *bytes) {
  const ndr_param_tiles *own = &launch->params.table.tiles;
  writer w = {.table = table, .own = own, .most = most_labels(own)};
  *ints = NULL;
  bool written = write_tiles(&w) && collect(&w, ints, bytes);
  free(w.next);
  free(w.shares);
  free(w.tiles.ints);
  free(w.tasks.ints);
  free(w.lanes.ints);
  free(w.joins.ints);
  free(w.entries.ints);
  return written ? NDR_OK
                 : ndr_fail(NDR_ERR_MEMORY, "out of memory for a table of %lld labels", (long long)table->count);
}
