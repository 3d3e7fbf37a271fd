/* See zones.h: how wide tiles are, how many a block works on, and how many blocks share a multiprocessor. The lists are
 * in zones_write.c. */
#include "gpuplan/operands/zones.h"

#include <math.h>

#include "gpuplan/operands/operand_arrays.h"
#include "gpuplan/operands/table.h"
#include "gpuplan/operands/zones_cut.h"
#include "gpuplan/operands/zones_pairs.h"

enum {
  MOST_BLOCKS = 4,          /* of a multiprocessor: while some copy, others add up */
  FEW_BLOCKS = 2,           /* of which each may have all that it gets of the shared memory */
  MOST_BYTES = 52 << 10,    /* of a tile with its states and pieces where more blocks share a multiprocessor; what is
                             * left goes to the states of an item's other rows */
  RESERVED_BYTES = 1 << 10, /* of a block's shared memory, by the system */
  LEAST_DATA = 12 << 10,    /* bytes of a tile; if they are fewer, a multiprocessor has one block less */
  LEAST_LAST = 8 << 10,     /* bytes of a tile of the only block */
  LEAST_WIDTH = 1 << 11,    /* of tiles of few elements */
  LEAST_APART = 1 << 8,     /* of tiles that share no group */
  NARROW_WIDTH = 1536,      /* labels: a narrower tile is rejected for one with fewer rows */
  GROUP_LABELS = 8,         /* labels of a group, on average, that a tile must have not to be narrow */
  MOST_WIDTH = 1 << 15,     /* labels of a tile have 16 bits */
  MOST_AT_ONCE = 4,
  ROW_PADDING = 32,    /* bytes of a row of an array beside its elements, at most */
  MOST_ROWS = 64,      /* NDR_TILE_ROWS in kernels/program/zones_tile.cuh */
  ROW_BYTES = 32 << 10 /* of a step's rows together, where they are short */
};

/* How a block's shared memory is shared out. */
typedef struct layout {
  int64_t width, rows; /* of a step */
  int64_t groups;      /* whose states a block has: those of a tile, at most, or all */
  int64_t tiles;       /* in a row, if tiles share no group; 0: all groups may have labels in any tile */
  int at_once;         /* rows that a lane adds up at a time */
  int blocks;          /* that a multiprocessor has; 0: it does not fit */
  int64_t spare;       /* bytes of a block's shared memory that are left */
} layout;

/* Sets of rows of a step. The rows of a set are added up at a time; each set walks the tile's lists once. */
static int64_t sets_of(int64_t rows, int at_once) {
  return ndr_ceil_div(rows, at_once);
}

/* Pieces that the groups first .. end - 1 have in a tile, at most. */
static int64_t count_pieces(const ndr_table *table, const layout *l, int64_t first, int64_t end) {
  int64_t sets = sets_of(l->rows, l->at_once), most = 2 * NDR_THREADS / sets + NDR_WARP_THREADS, pieces = 0;
  int64_t of_lane = ndr_zones_lane_labels(l->width, sets, l->groups);
  for (int64_t g = first; g < end && pieces < most; g++) {
    int64_t labels = table->ends[g] - (g ? table->ends[g - 1] : 0);
    if (labels > l->width) labels = l->width;
    if (2 * labels > 3 * of_lane) pieces += ndr_ceil_div(labels, of_lane);
  }
  return pieces < most ? pieces : most;
}

/* Pieces that a tile has, at most. */
static int64_t pieces_of(const ndr_canonical *problem, const layout *l) {
  const ndr_table *table = problem->table;
  ndr_zones_tile tile = {0};
  int64_t most = 0;
  if (l->tiles == 0) return count_pieces(table, l, 0, table->groups);
  while (ndr_zones_next_tile(table, l->width, l->groups, &tile)) {
    int64_t pieces = count_pieces(table, l, tile.first, tile.group_end);
    if (pieces > most) most = pieces;
  }
  return most;
}

static int words_of(const ndr_canonical *problem) {
  return ndr_canonical_words(problem, 0, problem->op_count);
}

/* Bytes of the elements of a tile: `rows` rows, each of `width` labels. */
static int64_t element_bytes_of(const ndr_canonical *problem, int64_t rows, int64_t width) {
  int64_t row = 0;
  for (int k = 0; k < ndr_count_arrays(problem); k++)
    row += (width * ndr_array_bytes(problem, k) + ROW_PADDING - 1) / NDR_VECTOR_BYTES * NDR_VECTOR_BYTES;
  return rows * row;
}

static int64_t states_of(const ndr_canonical *problem, const layout *l, int64_t rows) {
  return (int64_t)sizeof(double) * rows * words_of(problem) * l->groups;
}

/* Bytes of a tile, and of the states and pieces of its rows. */
static int64_t bytes_of(const ndr_canonical *problem, const layout *l) {
  int64_t pieces = (int64_t)sizeof(double) * l->rows * words_of(problem) * pieces_of(problem, l);
  return states_of(problem, l, l->rows) + pieces + NDR_VECTOR_BYTES + element_bytes_of(problem, l->rows, l->width);
}

static int64_t label_bytes(const ndr_canonical *problem) {
  int64_t bytes = ndr_array_bytes(problem, 0);
  for (int k = 1; k < ndr_count_arrays(problem); k++) bytes += ndr_array_bytes(problem, k);
  return bytes;
}

static const ndr_axis *labels_of(const ndr_canonical *problem) {
  return &problem->reduced[ndr_table_axis(problem)];
}

static int64_t outputs_of(const ndr_canonical *problem) {
  return problem->outputs / problem->group.size;
}

/* Rows of a step: several where they are short, but not so many that multiprocessors are idle. */
static int64_t count_rows(const ndr_canonical *problem, const ndr_device *device, const layout *l, int64_t available) {
  int64_t enough = (int64_t)device->units * l->blocks;
  layout more = *l;
  while (more.rows < MOST_ROWS && more.rows * l->width * label_bytes(problem) < ROW_BYTES &&
         outputs_of(problem) >= 2 * more.rows * enough) {
    more.rows *= 2;
    if (bytes_of(problem, &more) > available) return more.rows / 2;
  }
  return more.rows;
}

/* The states that are joined, and where rows begin. */
int64_t ndr_zones_static_bytes(int words) {
  enum { JOINED = 64 /* states */, OTHER_BYTES = 1 << 10 };
  return JOINED * 8 * (int64_t)words + OTHER_BYTES;
}

/* Bytes of shared memory that a block has for its tile, states and pieces. */
static int64_t available_bytes(const ndr_canonical *problem, const ndr_device *device, int blocks) {
  int64_t available = device->shared_bytes_per_unit / blocks - RESERVED_BYTES;
  if (available > device->shared_bytes_per_block) available = device->shared_bytes_per_block;
  return available - ndr_zones_static_bytes(words_of(problem));
}

/* Labels that a tile has at most, so that there is a tile for each block where elements are few. */
static int64_t enough_labels(const ndr_canonical *problem, const ndr_device *device, int at_once) {
  int64_t length = labels_of(problem)->size, rows = problem->length / length * outputs_of(problem);
  int64_t enough = ndr_ceil_div(length * rows, (int64_t)device->units * MOST_BLOCKS * at_once);
  return enough < LEAST_WIDTH ? LEAST_WIDTH : enough > MOST_WIDTH ? MOST_WIDTH : enough;
}

/* Tiles that share no group, as wide as their bytes allow: no totals are kept from one to the next. A tile may have
 * twice as many groups as one of average labels has, and LEAST_GROUPS more; then the most that one has. */
static layout lay_out_apart(const ndr_canonical *problem, const ndr_device *device, int at_once) {
  enum { LEAST_GROUPS = 32 };
  int64_t available = available_bytes(problem, device, MOST_BLOCKS), enough = enough_labels(problem, device, at_once);
  layout l = {.width = available / (at_once * label_bytes(problem)),
              .rows = at_once,
              .at_once = at_once,
              .blocks = MOST_BLOCKS};
  if (l.width > enough) l.width = enough;
  while (l.width >= LEAST_APART) {
    l.groups = LEAST_GROUPS + 2 * problem->table->groups * l.width / labels_of(problem)->size;
    l.tiles = ndr_zones_count_tiles(problem->table, l.width, &l.groups);
    if (l.tiles < 2) break;
    int64_t bytes = bytes_of(problem, &l);
    l.spare = available - bytes;
    if (l.spare >= 0) return l;
    l.width = l.width * available / bytes;
  }
  return (layout){.blocks = 0};
}

/* Tiles that all groups may have labels in: a whole row, if it fits, or parts of a row that are equally wide. */
static layout lay_out(const ndr_canonical *problem, const ndr_device *device, int at_once, int blocks) {
  int64_t length = labels_of(problem)->size, enough = enough_labels(problem, device, at_once);
  int64_t available = available_bytes(problem, device, blocks);
  layout l = {
      .width = LEAST_WIDTH, .rows = at_once, .groups = problem->table->groups, .at_once = at_once, .blocks = blocks};
  int64_t most = blocks > FEW_BLOCKS && available > MOST_BYTES ? MOST_BYTES : available;
  int64_t width = LEAST_WIDTH + (most - bytes_of(problem, &l)) / (at_once * label_bytes(problem));
  bool whole = width >= length && length <= MOST_WIDTH && length <= enough;
  if (whole) {
    l.width = length;
    l.rows = count_rows(problem, device, &l, most);
    whole = bytes_of(problem, &l) <= available; /* wider tiles may have more pieces of long groups */
  }
  if (!whole) {
    l.rows = at_once;
    l.width = width < MOST_WIDTH ? width : MOST_WIDTH;
    while (l.width > NDR_LINE_BYTES && bytes_of(problem, &l) > available) l.width -= NDR_LINE_BYTES;
    bool wide = at_once * l.width * label_bytes(problem) >= (blocks > 1 ? LEAST_DATA : LEAST_LAST);
    if (!wide || l.width < NDR_LINE_BYTES) return (layout){.blocks = 0};
    if (l.width > enough) l.width = enough;
    int64_t lines = l.width / NDR_LINE_BYTES, tiles = ndr_ceil_div(length, lines * NDR_LINE_BYTES);
    l.width = ndr_ceil_div(ndr_ceil_div(length, tiles), NDR_LINE_BYTES) * NDR_LINE_BYTES;
  }
  l.spare = available - bytes_of(problem, &l);
  return l.spare >= 0 ? l : (layout){.blocks = 0};
}

/* Rows that a lane can add up at a time: as many as leave their accumulators in registers. Where operators ask for
 * places, so do these. */
static int most_at_once(const ndr_canonical *problem) {
  enum { REGISTERS = 8 };
  bool places = problem->place_count > 0;
  for (int i = 0; i < problem->op_count; i++)
    places = places || (!problem->programs[i] && ndr_op_is_index(problem->ops[i]));
  int registers = ndr_count_registers(problem) * ndr_count_arrays(problem), most = places ? 1 : MOST_AT_ONCE;
  while (most > 1 && (most * registers > REGISTERS || most > outputs_of(problem))) most /= 2;
  return most;
}

static bool is_whole(const ndr_canonical *problem, const layout *l) {
  return l->blocks > 0 && l->width == labels_of(problem)->size;
}

/* Whether the first-level cache keeps the lists of a tile beside so many blocks. More than the lists take is kept free
 * (measured), because other lines of the cache map to the same sets. */
static bool keeps_lists(const ndr_device *device, const layout *l, int64_t bytes) {
  enum { LIST_BYTES = 12 /* of a label */ };
  return device->shared_bytes_per_unit - l->blocks * bytes >= LIST_BYTES * l->width;
}

/* Whole rows, if they fit: as many at a time as a lane can add up, from `most` down to `least`. Four rows at a time are
 * taken only where three blocks share a multiprocessor. So are two rows of more than MANY_GROUPS groups: their warps
 * have different numbers of tasks, and wait for each other. */
static layout lay_out_whole(const ndr_canonical *problem, const ndr_device *device, int most, int least) {
  enum { MANY_GROUPS = NDR_THREADS };
  layout l = {.blocks = 0};
  for (int at_once = most; at_once >= least; at_once /= 2)
    for (int blocks = MOST_BLOCKS; blocks > 1; blocks--) {
      if (blocks == 2 && (at_once > 2 || (at_once == 2 && problem->table->groups > MANY_GROUPS))) continue;
      l = lay_out(problem, device, at_once, blocks);
      if (!is_whole(problem, &l)) continue;
      if (blocks < MOST_BLOCKS || most == 1 || keeps_lists(device, &l, bytes_of(problem, &l))) return l;
    }
  return (layout){.blocks = 0};
}

/* The first of these that fits: whole rows, two or more at a time; tiles that share no group; whole rows, one at a
 * time; other tiles, of as many rows at a time as leave them wide. */
static layout choose_layout(const ndr_canonical *problem, const ndr_device *device) {
  int most = most_at_once(problem);
  layout l = lay_out_whole(problem, device, most, 2);
  for (int at_once = most; at_once >= 1 && l.blocks == 0; at_once /= 2) l = lay_out_apart(problem, device, at_once);
  if (l.blocks == 0) l = lay_out_whole(problem, device, 1, 1);
  if (l.blocks > 0) return l;
  int64_t narrow = GROUP_LABELS * problem->table->groups;
  if (narrow < NARROW_WIDTH) narrow = NARROW_WIDTH;
  for (int blocks = MOST_BLOCKS; blocks >= 1; blocks--)
    for (int at_once = most; at_once >= 1; at_once /= 2) {
      l = lay_out(problem, device, at_once, blocks);
      if (l.blocks > 0 && (l.width >= narrow || at_once == 1)) return l;
    }
  return (layout){.blocks = 0};
}

const char *ndr_zones_reject(const ndr_canonical *problem, const ndr_device *device) {
  if (!device->compiles) return NDR_NO_COMPILER;
  if (labels_of(problem)->stride != 1) return "labels do not lie along the fastest axis";
  return choose_layout(problem, device).blocks ? NULL : "the states of all groups do not fit in shared memory";
}

/* What a block takes at a time: some rows, for some of the tiles of all combinations of the other reduced axes. */
typedef struct item {
  int64_t rows, tiles;
} item;

/* The items that make the whole fastest. Blocks take one item after the other. A tile's lists are read once for all
 * rows of an item, and take as long as some of its elements. So does what a block does for an item, above all with the
 * states of its groups. Items that have not all tiles are joined by a second launch, unless tiles share no group: then
 * an item has one tile of all combinations of the other reduced axes, and so the totals of its groups. */
static item choose_item(const ndr_canonical *problem, const ndr_device *device, const layout *l, int64_t tiles) {
  enum { ITEM_LABELS = 512, JOIN_LABELS = 8192, MOST_PARTS = 1 << 15, MOST_STEPS = 64 };
  static const double LISTS = 0.5;
  int64_t blocks = (int64_t)device->units * l->blocks, begin = ndr_ceil_div(tiles, MOST_PARTS), end = tiles;
  if (l->tiles > 0) begin = end = tiles / l->tiles;
  const bool joins = l->tiles == 0;
  item best = {l->rows, tiles};
  double least = -1;
  for (int64_t rows = l->rows; rows <= l->rows * MOST_STEPS; rows += l->rows) {
    if (states_of(problem, l, rows - l->rows) > l->spare || rows >= outputs_of(problem) + l->rows) break;
    double besides = ITEM_LABELS + 4 * (double)(rows * l->groups);
    for (int64_t each = begin; each <= end; each = each < 8 ? each + 1 : each + each / 8) {
      double items = (double)(ndr_ceil_div(outputs_of(problem), rows) * ndr_ceil_div(tiles, each));
      double labels = (double)(each * l->width) * ((double)rows + LISTS * (double)l->rows) + besides;
      double time = ceil(items / (double)blocks) * labels + (joins && each < tiles ? JOIN_LABELS : 0);
      if (least >= 0 && time >= least) continue;
      best = (item){rows, each};
      least = time;
    }
  }
  return best;
}

/* Lanes that join a total's parts, a few each: those of a warp at most, or a whole block. */
static int join_lanes_log(int parts) {
  enum { PARTS = 8 };
  if (parts > PARTS * NDR_WARP_THREADS) return ndr_threads(NDR_THREADS).log;
  int log = 0;
  while (parts >> log > PARTS && 1 << log < NDR_WARP_THREADS) log++;
  return log;
}

/* The tiles of a layout, but for the rows of an item. */
static ndr_param_tiles tiles_of(const ndr_canonical *problem, const layout *l) {
  int64_t labels = labels_of(problem)->size;
  return (ndr_param_tiles){.tiles = (int)(l->tiles ? l->tiles : ndr_ceil_div(labels, l->width)),
                           .width = (int)l->width,
                           .step_rows = (int)l->rows,
                           .row_threads_log = ndr_threads(NDR_THREADS / (int)l->rows).log,
                           .groups = (int)l->groups,
                           .pieces = (int)pieces_of(problem, l),
                           .units = problem->length / labels};
}

void ndr_zones_configure(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, bool on_boundary) {
  (void)on_boundary;
  layout chosen = choose_layout(problem, device);
  ndr_launch_begin(launch, problem, NDR_KERNEL_TABLE_TILES);
  ndr_params *p = &launch->params;
  ndr_param_tiles *own = &p->table.tiles;
  launch->operands.elements = 1;
  launch->operands.steps = chosen.at_once;
  ndr_table_order(problem, launch);
  *own = tiles_of(problem, &chosen);
  if (words_of(problem) == 1 && ndr_zones_pay_pairs(problem->table, own->width))
    launch->operands.ways |= NDR_WAYS_PAIRS;
  int64_t units = own->units * own->tiles;
  item chosen_item = choose_item(problem, device, &chosen, units);
  own->rows = (int)chosen_item.rows;
  own->row_blocks = ndr_ceil_div(outputs_of(problem), own->rows);
  p->table.parts = (int)ndr_ceil_div(units, chosen_item.tiles);
  p->table.group_step = problem->group.result[0];
  p->table.joins_at = -1;
  bool joins = chosen.tiles == 0 && p->table.parts > 1;
  p->table.joins = joins ? own->groups : 0;
  p->work = own->row_blocks * p->table.parts;
  ndr_launch_end(launch);
  ndr_table_end(problem, launch, joins ? (int64_t)own->groups * p->table.parts : 0);
  p->table.join_lanes_log = join_lanes_log(p->table.parts);
  p->units = units;
  p->split_units = chosen_item.tiles;
  launch->shared_bytes = (unsigned)(bytes_of(problem, &chosen) + states_of(problem, &chosen, own->rows - chosen.rows));
  launch->blocks = chosen.blocks;
  int64_t at_once = (int64_t)device->units * chosen.blocks;
  if (launch->grid > at_once) launch->grid = (unsigned)at_once;
}

double ndr_zones_cost(const ndr_canonical *problem, const ndr_device *device) {
  static const double START = 6e-6, SHARE = 0.85; /* of the bandwidth */
  layout chosen = choose_layout(problem, device);
  double elements = (double)outputs_of(problem) * (double)problem->length;
  double share = chosen.blocks > 1 ? SHARE : SHARE / 2;
  return START + elements * (double)label_bytes(problem) / (device->bandwidth * share);
}
