/* See zones.h: how wide tiles are, how many a block works on, and how many blocks share a multiprocessor. The lists are
 * in zones_write.c. */
#include "gpuplan/operands/zones.h"

#include <math.h>

#include "gpuplan/operands/operand_arrays.h"
#include "gpuplan/operands/table.h"

enum {
  MOST_BLOCKS = 4,          /* of a multiprocessor: while some copy, others add up */
  RESERVED_BYTES = 1 << 10, /* of a block's shared memory, by the system */
  LEAST_DATA = 24 << 10,    /* bytes of a tile; if they are fewer, a multiprocessor has one block less */
  LEAST_LAST = 8 << 10,     /* bytes of a tile of the only block */
  LEAST_WIDTH = 1 << 11,
  MOST_WIDTH = 1 << 15, /* labels of a tile have 16 bits */
  ROW_PADDING = 32,     /* bytes of a row of an array beside its elements */
  MOST_ROWS = 64,       /* NDR_TILE_ROWS in kernels/program/zones.cuh */
  ROW_BYTES = 32 << 10  /* of a block's rows together, where they are short */
};

/* How a block's shared memory is shared out. */
typedef struct layout {
  int64_t width, rows, bytes;
  int blocks; /* that a multiprocessor has; 0: it does not fit */
} layout;

static int64_t pieces_of(int64_t rows) {
  return 2 * NDR_THREADS / rows + NDR_WARP_THREADS;
}

static int words_of(const ndr_canonical *problem) {
  return ndr_canonical_words(problem, 0, problem->op_count);
}

/* Bytes of `rows` rows, each of `width` labels: states, pieces and elements. */
static int64_t bytes_of(const ndr_canonical *problem, int64_t rows, int64_t width) {
  int64_t elements = 0;
  for (int k = 0; k < ndr_count_arrays(problem); k++) elements += width * ndr_array_bytes(problem, k) + ROW_PADDING;
  return rows * (8 * (int64_t)words_of(problem) * (problem->table->groups + pieces_of(rows)) + elements) +
         NDR_VECTOR_BYTES;
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

/* Rows of a block: several where they are short, but not so many that multiprocessors are idle. */
static int64_t count_rows(const ndr_canonical *problem, const ndr_device *device, int64_t width, int64_t available,
                          int blocks) {
  int64_t enough = (int64_t)device->units * blocks, rows = 1;
  while (rows < MOST_ROWS && rows * width * label_bytes(problem) < ROW_BYTES &&
         outputs_of(problem) >= 2 * rows * enough && bytes_of(problem, 2 * rows, width) <= available)
    rows *= 2;
  return rows;
}

/* The states that are joined, and where rows begin. */
int64_t ndr_zones_static_bytes(int words) {
  enum { JOINED = 64 /* states */, OTHER_BYTES = 1 << 10 };
  return JOINED * 8 * (int64_t)words + OTHER_BYTES;
}

static layout choose_layout(const ndr_canonical *problem, const ndr_device *device) {
  int64_t length = labels_of(problem)->size, rows_in_all = problem->length / length * outputs_of(problem);
  /* Narrow tiles keep all multiprocessors busy where there are few elements. */
  int64_t enough = ndr_ceil_div(length * rows_in_all, (int64_t)device->units * MOST_BLOCKS);
  if (enough < LEAST_WIDTH) enough = LEAST_WIDTH;
  for (int blocks = MOST_BLOCKS; blocks >= 1; blocks--) {
    int64_t available = device->shared_bytes_per_unit / blocks - RESERVED_BYTES;
    if (available > device->shared_bytes_per_block) available = device->shared_bytes_per_block;
    available -= ndr_zones_static_bytes(words_of(problem));
    int64_t width = (available - bytes_of(problem, 1, 0)) / label_bytes(problem);
    if (width >= length && length <= MOST_WIDTH && length <= enough) {
      int64_t rows = count_rows(problem, device, length, available, blocks);
      return (layout){length, rows, bytes_of(problem, rows, length), blocks};
    }
    bool wide = width * label_bytes(problem) >= (blocks > 1 ? LEAST_DATA : LEAST_LAST);
    if (!wide || width < NDR_LINE_BYTES) continue;
    if (width > MOST_WIDTH) width = MOST_WIDTH;
    if (width > enough) width = enough;
    int64_t lines = width / NDR_LINE_BYTES, tiles = ndr_ceil_div(length, lines * NDR_LINE_BYTES);
    width = ndr_ceil_div(ndr_ceil_div(length, tiles), NDR_LINE_BYTES) * NDR_LINE_BYTES;
    return (layout){width, 1, bytes_of(problem, 1, width), blocks};
  }
  return (layout){.blocks = 0};
}

const char *ndr_zones_reject(const ndr_canonical *problem, const ndr_device *device) {
  if (!device->compiles) return NDR_NO_COMPILER;
  if (labels_of(problem)->stride != 1) return "labels do not lie along the fastest axis";
  return choose_layout(problem, device).blocks ? NULL : "the states of all groups do not fit in shared memory";
}

/* How many tiles a part has, which is what a block works on: as many as make the whole fastest. Blocks run in waves.
 * What a block does beside its tiles, above all with the states of its groups, takes as long as some labels. Blocks
 * with several tiles fall into step, so that those of a multiprocessor first wait for memory together and then leave it
 * idle together. */
static int64_t choose_part_tiles(const ndr_canonical *problem, const ndr_device *device, const layout *chosen,
                                 int64_t row_blocks, int64_t tiles) {
  enum { START_LABELS = 1024, MOST_PARTS = 1 << 15 };
  static const double IN_STEP = 0.1, MOST_IN_STEP = 0.5;
  int64_t blocks = (int64_t)device->units * chosen->blocks, begin = ndr_ceil_div(tiles, MOST_PARTS), best = tiles;
  double besides = START_LABELS + 4 * (double)(chosen->rows * problem->table->groups), least = 0;
  for (int64_t each = begin; each <= tiles; each = each < 8 ? each + 1 : each + each / 8) {
    double waves = (double)ndr_ceil_div(row_blocks * ndr_ceil_div(tiles, each), blocks);
    double slower = 1 + fmin(MOST_IN_STEP, IN_STEP * (double)(each - 1));
    double time = waves * ((double)(each * chosen->width * chosen->rows) * slower + besides);
    if (each > begin && time >= least) continue;
    best = each;
    least = time;
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

void ndr_zones_configure(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, bool on_boundary) {
  (void)on_boundary;
  layout chosen = choose_layout(problem, device);
  ndr_launch_begin(launch, problem, NDR_KERNEL_TABLE_TILES);
  ndr_params *p = &launch->params;
  ndr_param_tiles *own = &p->table.tiles;
  int64_t outputs = outputs_of(problem), labels = labels_of(problem)->size;
  launch->operands.elements = launch->operands.steps = 1;
  ndr_table_order(problem, launch);
  own->tiles = (int)ndr_ceil_div(labels, chosen.width);
  own->width = (int)chosen.width;
  own->rows = (int)chosen.rows;
  own->row_threads_log = ndr_threads(NDR_THREADS / (int)chosen.rows).log;
  own->groups = (int)problem->table->groups;
  own->pieces = (int)pieces_of(chosen.rows);
  own->row_blocks = ndr_ceil_div(outputs, chosen.rows);
  int64_t units = problem->length / labels * own->tiles;
  int64_t part_units = choose_part_tiles(problem, device, &chosen, own->row_blocks, units);
  p->table.parts = (int)ndr_ceil_div(units, part_units);
  p->table.group_step = problem->group.result[0];
  p->table.joins_at = -1;
  p->table.joins = p->table.parts > 1 ? own->groups : 0;
  p->work = own->row_blocks * p->table.parts;
  ndr_launch_end(launch);
  ndr_table_end(problem, launch, p->table.parts > 1 ? (int64_t)own->groups * p->table.parts : 0);
  p->table.join_lanes_log = join_lanes_log(p->table.parts);
  p->units = units;
  p->split_units = part_units;
  launch->shared_bytes = (unsigned)chosen.bytes;
  launch->blocks = chosen.blocks;
}

double ndr_zones_cost(const ndr_canonical *problem, const ndr_device *device) {
  static const double START = 6e-6, SHARE = 0.75; /* of the bandwidth */
  layout chosen = choose_layout(problem, device);
  double elements = (double)outputs_of(problem) * (double)problem->length;
  double share = chosen.blocks > 1 ? SHARE : SHARE / 2;
  return START + elements * (double)label_bytes(problem) / (device->bandwidth * share);
}
