/* The lists of a table for kernels/program/zones.cuh: for each tile, which lane of which warp adds up which labels. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "gpuplan/operands/operand_arrays.h"
#include "gpuplan/operands/table.h"
#include "gpuplan/operands/zones.h"
#include "gpuplan/operands/zones_banks.h"
#include "gpuplan/operands/zones_cut.h"
#include "gpuplan/operands/zones_pairs.h"

enum {
  HEAD = 8,
  TILE_INTS = 8,
  QUAD = 4, /* labels that a lane loads at once */
  NOWHERE = INT_MIN
};

/* What one lane adds up: `count` of the writer's labels, every step-th from number `first` on. */
typedef struct lane_work {
  int64_t first, step, count;
  int64_t to;   /* as ndr_param_tiles has it: a group, a piece or NOWHERE */
  int64_t turn; /* lanes of one group have different turns */
} lane_work;

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
  int64_t row;       /* labels of a row */
  int64_t most;      /* labels of a lane, about */
  int64_t *next;     /* by group, its first label that is in no tile yet */
  int element_bytes; /* of array 0 */
  bool pairs;        /* entries are pairs (zones_pairs.h), not labels */
  lane_work *works;  /* of the tile at hand */
  int64_t work_count;
  list tiles, tasks, lanes, joins, entries; /* entries: two labels an int, or one pair */
  list labels;  /* of the tile at hand, counted from its first: group by group, those of a group sorted by bank */
  list ordered; /* room for ndr_order_reads: the labels of the lanes at hand, before and after */
} writer;

/* Most labels first. Groups take turns, so that the labels of a warp's lanes spread over all banks. */
static int by_count(const void *a, const void *b) {
  const lane_work *x = a, *y = b;
  if (x->count != y->count) return x->count < y->count ? 1 : -1;
  if (x->turn != y->turn) return x->turn < y->turn ? -1 : 1;
  return x->to < y->to ? -1 : x->to > y->to;
}

static int bank_of(const writer *w, int64_t label) {
  return ndr_bank_of((int32_t)label, w->element_bytes);
}

/* Adds the labels from `labels` to `end`, which are counted from the row's first, sorted by bank: lanes that take every
 * n-th of them read from all banks about equally often. */
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

/* A group's total in a tile is that of pieces first .. end - 1. */
static bool add_join(writer *w, int64_t group, int64_t first, int64_t end) {
  if (!grow(&w->joins, 4)) return false;
  int32_t *join = w->joins.ints + w->joins.count;
  join[0] = (int32_t)group;
  join[1] = (int32_t)first;
  join[2] = (int32_t)end;
  join[3] = 0;
  w->joins.count += 4;
  return true;
}

/* Deals the labels that group g has in a tile to one lane or several. */
static bool deal_group(writer *w, int64_t g, const ndr_zones_tile *tile, int64_t *pieces) {
  const ndr_table *table = w->table;
  int64_t from = w->next[g], to = from, first = w->labels.count;
  while (to < table->ends[g] && table->order[to] < tile->end) to++;
  w->next[g] = to;
  int64_t count = to - from, lanes = 2 * count > 3 * w->most ? ndr_ceil_div(count, w->most) : 1;
  if (count == 0) return true;
  if (!add_labels(w, table->order + from, table->order + to, tile->begin)) return false;
  if (lanes > 1 && !add_join(w, g - tile->first, *pieces, *pieces + lanes)) return false;
  for (int64_t k = 0; k < lanes; k++)
    w->works[w->work_count++] = (lane_work){.first = first + k,
                                            .step = lanes,
                                            .count = ndr_ceil_div(count - k, lanes),
                                            .to = lanes > 1 ? -1 - (*pieces)++ : g - tile->first,
                                            .turn = (k + g) % lanes};
  return true;
}

/* Writes the labels of lanes that shared memory serves at once. to: where the first lane's labels go. */
static bool write_lanes(writer *w, const lane_work *works, int lanes, uint16_t *to) {
  int64_t counts[NDR_WARP_THREADS], count = 0;
  w->ordered.count = 0;
  for (int lane = 0; lane < lanes; lane++) count += counts[lane] = works[lane].count;
  if (!grow(&w->ordered, 2 * count)) return false;
  int32_t *label = w->ordered.ints, *ordered = label + count;
  for (int lane = 0; lane < lanes; lane++)
    for (int64_t i = 0; i < counts[lane]; i++) *label++ = w->labels.ints[works[lane].first + i * works[lane].step];
  ndr_order_reads(w->ordered.ints, counts, lanes, w->element_bytes, ordered);
  for (int lane = 0; lane < lanes; lane++)
    for (int64_t i = 0; i < counts[lane]; i++)
      to[(i / QUAD * NDR_WARP_THREADS + lane) * QUAD + i % QUAD] = (uint16_t)*ordered++;
  return true;
}

static bool write_labels(writer *w, const lane_work *works, int64_t count) {
  int at_once = ndr_lanes_at_once(w->element_bytes);
  uint16_t *labels = (uint16_t *)(void *)(w->entries.ints + w->entries.count);
  for (int64_t lane = 0; lane < count; lane += at_once) {
    int lanes = count - lane < at_once ? (int)(count - lane) : at_once;
    if (!write_lanes(w, works + lane, lanes, labels + QUAD * lane)) return false;
  }
  return true;
}

/* Writes the task of a warp's lanes; the first has the most labels, and the last ones may have no work. */
static bool write_task(writer *w, const lane_work *works, int64_t count) {
  int64_t quads = ndr_ceil_div(works->count, QUAD), each = 2 * NDR_WARP_THREADS;
  bool room = grow(&w->tasks, 1) && grow(&w->lanes, each) && grow(&w->entries, quads * each);
  if (!room || !w->entries.ints) return false;
  w->tasks.ints[w->tasks.count++] = (int32_t)(w->entries.count / 2);
  for (int64_t lane = 0; lane < NDR_WARP_THREADS; lane++) {
    const lane_work none = {.to = NOWHERE}, *work = lane < count ? &works[lane] : &none;
    w->lanes.ints[w->lanes.count++] = (int32_t)work->count;
    w->lanes.ints[w->lanes.count++] = (int32_t)work->to;
  }
  memset(w->entries.ints + w->entries.count, 0, (size_t)(quads * each) * sizeof *w->entries.ints);
  if (!write_labels(w, works, count)) return false;
  w->entries.count += quads * each;
  return true;
}

/* Writes the tasks of a tile whose lanes add up the labels of one group each. */
static bool write_groups(writer *w, const ndr_zones_tile *tile) {
  int64_t pieces = 0;
  w->work_count = w->labels.count = 0;
  for (int64_t g = tile->first; g < tile->group_end; g++)
    if (!deal_group(w, g, tile, &pieces)) return false;
  qsort(w->works, (size_t)w->work_count, sizeof *w->works, by_count);
  for (int64_t i = 0; i < w->work_count; i += NDR_WARP_THREADS) {
    int64_t left = w->work_count - i;
    if (!write_task(w, w->works + i, left < NDR_WARP_THREADS ? left : NDR_WARP_THREADS)) return false;
  }
  return true;
}

/* Writes the task of the warp whose first thread is `first`: the pairs of its threads. */
static bool write_pair_task(writer *w, const ndr_zones_dealt *dealt, int first) {
  const int64_t *begin = dealt->begin + first;
  int64_t each = 2 * NDR_WARP_THREADS, most = 0;
  for (int lane = 0; lane < NDR_WARP_THREADS; lane++)
    if (begin[lane + 1] - begin[lane] > most) most = begin[lane + 1] - begin[lane];
  int64_t ints = ndr_ceil_div(most, 2) * each;
  if (!grow(&w->tasks, 1) || !grow(&w->lanes, each) || !grow(&w->entries, ints)) return false;
  w->tasks.ints[w->tasks.count++] = (int32_t)(w->entries.count / 2);
  int32_t *entries = w->entries.ints + w->entries.count;
  memset(entries, 0, (size_t)ints * sizeof *entries);
  for (int lane = 0; lane < NDR_WARP_THREADS; lane++) {
    int64_t count = begin[lane + 1] - begin[lane];
    w->lanes.ints[w->lanes.count++] = (int32_t)count;
    w->lanes.ints[w->lanes.count++] = count > 0 ? 0 : NOWHERE;
    for (int64_t i = 0; i < count; i++)
      entries[i / 2 * each + 2 * lane + i % 2] = (int32_t)dealt->pairs[begin[lane] + i];
  }
  w->entries.count += ints;
  return true;
}

/* Writes the tasks of a tile whose lanes add pairs, a task for each warp. */
static bool write_pairs(writer *w, const ndr_zones_tile *tile) {
  ndr_zones_dealt dealt;
  bool fine = ndr_zones_deal(w->table, tile, w->element_bytes, w->next, &dealt);
  for (int first = 0; fine && first < NDR_THREADS; first += NDR_WARP_THREADS) fine = write_pair_task(w, &dealt, first);
  free(dealt.pairs);
  return fine;
}

static bool write_tile(writer *w, const ndr_zones_tile *tile) {
  if (!grow(&w->tiles, TILE_INTS)) return false;
  int32_t *head = w->tiles.ints + w->tiles.count;
  w->tiles.count += TILE_INTS;
  head[0] = (int32_t)w->tasks.count;
  head[2] = (int32_t)(w->joins.count / 4);
  head[4] = (int32_t)tile->begin;
  head[5] = (int32_t)(tile->end - tile->begin);
  head[6] = (int32_t)tile->first;
  head[7] = (int32_t)(tile->group_end - tile->first);
  if (!(w->pairs ? write_pairs(w, tile) : write_groups(w, tile))) return false;
  head[1] = (int32_t)w->tasks.count;
  head[3] = (int32_t)(w->joins.count / 4);
  return true;
}

/* Tile number n, where all groups may have labels in any: tiles are equally wide, but for the last. */
static ndr_zones_tile even_tile(const writer *w, int64_t n) {
  int64_t begin = n * w->own->width, end = begin + w->own->width;
  return (ndr_zones_tile){begin, end < w->row ? end : w->row, 0, w->table->groups};
}

static bool write_tiles(writer *w) {
  ndr_zones_tile tile = {0};
  bool apart = w->own->groups < w->table->groups; /* tiles share no group */
  w->next = malloc((size_t)w->table->groups * sizeof *w->next);
  w->works = malloc(((size_t)w->own->width + NDR_WARP_THREADS) * sizeof *w->works);
  if (!w->next || !w->works) return false;
  for (int64_t g = 0; g < w->table->groups; g++) w->next[g] = g ? w->table->ends[g - 1] : 0;
  for (int64_t n = 0; n < w->own->tiles; n++) {
    if (!apart)
      tile = even_tile(w, n);
    else if (!ndr_zones_next_tile(w->table, w->own->width, w->own->groups, &tile))
      return false;
    if (!write_tile(w, &tile)) return false;
  }
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

ndr_status ndr_zones_write(const ndr_canonical *problem, const ndr_launch *launch, int32_t **ints, size_t *bytes) {
  const ndr_param_tiles *own = &launch->params.table.tiles;
  writer w = {.table = problem->table,
              .own = own,
              .row = problem->reduced[ndr_table_axis(problem)].size,
              .most =
                  ndr_zones_lane_labels(own->width, ndr_ceil_div(own->step_rows, launch->operands.steps), own->groups),
              .element_bytes = (int)ndr_array_bytes(problem, 0),
              .pairs = (launch->operands.ways & NDR_WAYS_PAIRS) != 0};
  *ints = NULL;
  bool written = write_tiles(&w) && collect(&w, ints, bytes);
  free(w.next);
  free(w.works);
  free(w.tiles.ints);
  free(w.tasks.ints);
  free(w.lanes.ints);
  free(w.joins.ints);
  free(w.entries.ints);
  free(w.labels.ints);
  free(w.ordered.ints);
  return written
             ? NDR_OK
             : ndr_fail(NDR_ERR_MEMORY, "out of memory for a table of %lld labels", (long long)problem->table->count);
}
