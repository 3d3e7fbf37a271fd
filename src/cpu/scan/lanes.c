/* Family lanes: neighbouring lines, a tile of them, are scanned side by side, element by element of all. Rows of a tile
 * are read as they lie where lines are neighbours in memory, and else transposed, eight lines at a time. Where there
 * are fewer tiles than threads, runs of rows are a chain: a run is read twice, the second time from the cache. */
#include <math.h>
#include <string.h>

#include "cpu/cuts.h"
#include "cpu/fold/fold.h"
#include "cpu/scan/octet.h"
#include "cpu/scan/scans.h"
#include "cpu/scan/tasks.h"

/* Lines of a tile: rows are long, as memory likes them, and their words stay in the first-level cache. Narrower ones
 * serve more threads where lines are too short for a chain. */
#define MOST_LANES 512
#define LEAST_LANES 64
#define TILE_BYTES 16384
/* The most elements of a tile that is transposed, counting a run of each line. */
#define TRANSPOSED 4096
/* How many bytes ahead of what is transposed the cache is filled. */
#define AHEAD 1024
/* Rows from one that is read as it lies to the one that is prefetched with it. */
#define ROW_AHEAD 2

typedef struct lanes_config {
  ndr_scan_words words;
  int64_t width, tiles; /* lines of a tile, and tiles along the innermost kept axis */
  int64_t rows;         /* at a time */
  bool transposed;
  bool dense;           /* rows of the tile follow each other in the array and in the result */
  bool compact;         /* lines are short and follow each other in both */
  ndr_scan_tasks tasks; /* units are tiles, blocks runs */
} lanes_config;
_Static_assert(sizeof(lanes_config) <= NDR_SCAN_CONFIG_BYTES, "the configuration fits in a plan");

typedef struct job {
  const ndr_scan_problem *problem;
  const lanes_config *config;
  const char *data;
  char *result, *chains;
  bool out_of_place;
  _Atomic int64_t next;
} job;

#define SUMS_BYTES (MOST_LANES * NDR_SCAN_WORD_BYTES)

typedef struct tile {
  _Alignas(64) char sums[SUMS_BYTES];
  _Alignas(64) char before[SUMS_BYTES]; /* what stands before the run */
  _Alignas(64) char words[8 * NDR_SCAN_CHUNK * NDR_SCAN_WORD_BYTES];
  ndr_scan_octet octet; /* of rows that are not transposed it has the results */
  int64_t width;
  ndr_scan_place place;
} tile;

/* Results of transposed lines. */
typedef struct stage {
  _Alignas(64) char results[(TRANSPOSED + 8) * NDR_SCAN_WORD_BYTES];
} stage;

static const lanes_config *config_of(const ndr_scan_plan *plan) {
  return (const lanes_config *)(const void *)plan->config;
}

/* ---- rows as they lie ---- */

static void find_tile(const job *all, int64_t unit, tile *own) {
  int64_t inner = all->problem->kept[0].size, first = unit % all->config->tiles * all->config->width;
  own->width = inner - first < all->config->width ? inner - first : all->config->width;
  ndr_scan_line(all->problem, unit / all->config->tiles * inner + first, &own->place);
}

static void load_row(const job *all, const tile *own, int64_t row, int64_t count, int64_t rows_ahead, char *to) {
  const ndr_scan_words *words = &all->config->words;
  int64_t at = own->place.at + row * all->problem->scan[0].stride, step = all->problem->kept[0].stride;
  const char *from = all->data + at * words->from_bytes;
  if (step == 1)
    ndr_prefetch(from + rows_ahead * all->problem->scan[0].stride * words->from_bytes, count * words->from_bytes);
  ndr_scan_words_load(words, from, step, to, count);
}

static void load_rows(const job *all, tile *own, int64_t row, int64_t rows) {
  int64_t together = all->config->dense ? rows : 1, count = together * own->width;
  for (int64_t r = 0; r < rows; r += together)
    load_row(all, own, row + r, count, all->config->dense ? rows : ROW_AHEAD,
             own->words + r * own->width * all->config->words.bytes);
}

static void store_row(const job *all, const tile *own, int64_t row, int64_t count, const char *from) {
  const ndr_scan_words *words = &all->config->words;
  int64_t at = own->place.result + row * all->problem->scan[0].result;
  ndr_scan_words_move(words, all->out_of_place, from, all->result + at * words->to_bytes, all->problem->kept[0].result,
                      count);
}

/* The first row of an exclusive scan has the value of no elements. */
static void put_firsts(const job *all, int64_t count, char *results, int64_t pitch) {
  for (int64_t l = 0; l < count; l++)
    ndr_scan_words_first(&all->config->words, results + l * pitch * all->config->words.to_bytes);
}

static void store_rows(const job *all, tile *own, int64_t row, int64_t rows) {
  const ndr_scan_words *words = &all->config->words;
  int64_t together = all->config->dense ? rows : 1;
  const char *results = ndr_scan_words_finish(words, own->words, own->octet.lanes, rows * own->width);
  if (all->problem->exclusive && row == 0)
    put_firsts(all, own->width, results == own->octet.lanes ? own->octet.lanes : own->words, 1);
  for (int64_t r = 0; r < rows; r += together)
    store_row(all, own, row + r, together * own->width, results + r * own->width * words->to_bytes);
}

static void store_before(const job *all, tile *own) {
  const ndr_scan_words *words = &all->config->words;
  put_firsts(all, own->width, own->octet.lanes, 1);
  ndr_scan_words_move(words, false, own->octet.lanes,
                      all->result + (own->place.result - all->problem->result_step) * words->to_bytes,
                      all->problem->kept[0].result, own->width);
}

/* ---- rows that are transposed ---- */

static void transpose_rows(const job *all, tile *own, int64_t group, int64_t row, int64_t rows) {
  const ndr_scan_problem *problem = all->problem;
  const ndr_scan_words *words = &all->config->words;
  int64_t lines = ndr_least(own->width - 8 * group, 8), step = problem->kept[0].stride,
          stride = problem->scan[0].stride;
  const char *from = all->data + (own->place.at + 8 * group * step + row * stride) * words->from_bytes;
  if (lines == 8 && stride == 1 && ndr_scan_octet_loads(words) && rows % 8 == 0) {
    ndr_scan_octet_load(words, &own->octet, from, step, rows, AHEAD, own->words);
    return;
  }
  for (int64_t l = 0; l < lines; l++)
    ndr_scan_words_load(words, from + l * step * words->from_bytes, stride, ndr_scan_octet_lane(words, &own->octet, l),
                        rows);
  ndr_scan_octet_transpose(words, &own->octet, rows, own->words);
}

/* The distance between the results of neighbouring lanes in a stage. */
static int64_t stage_step(int64_t rows) {
  return rows < 1 ? 8 : (rows + 7) / 8 * 8;
}

static void store_lanes(const job *all, const tile *own, int64_t group, int64_t row, int64_t rows, const char *from) {
  const ndr_scan_words *words = &all->config->words;
  const ndr_scan_axis *lines = &all->problem->kept[0], *scan = &all->problem->scan[0];
  char *to = all->result + (own->place.result + 8 * group * lines->result + row * scan->result) * words->to_bytes;
  for (int64_t l = 0; l < ndr_least(own->width - 8 * group, 8); l++)
    ndr_scan_words_move(words, all->out_of_place, from + l * stage_step(rows) * words->to_bytes,
                        to + l * lines->result * words->to_bytes, scan->result, rows);
}

/* Scans rows of eight lines from `before` on. */
static void scan_transposed(const job *all, tile *own, int64_t group, int64_t first, int64_t end, char *results) {
  const ndr_scan_words *words = &all->config->words;
  int64_t at = 8 * group * words->bytes, rows, step = stage_step(end - first);
  for (int64_t row = first; row < end; row += rows) {
    rows = ndr_least(end - row, NDR_SCAN_CHUNK);
    transpose_rows(all, own, group, row, rows);
    ndr_scan_octet_scan(words, own->words, rows, 1, own->sums + at, words->sequential ? NULL : own->before + at,
                        all->problem->exclusive);
    ndr_scan_octet_store(words, &own->octet, own->words, rows, results + (row - first) * words->to_bytes, step);
  }
  if (all->problem->exclusive && first == 0) put_firsts(all, 8, results, step);
}

static void scan_lines(const job *all, tile *own, int64_t first, int64_t end, stage *own_stage) {
  for (int64_t g = 0; 8 * g < own->width; g++) {
    scan_transposed(all, own, g, first, end, own_stage->results);
    store_lanes(all, own, g, first, end - first, own_stage->results);
  }
}

/* Short lines that follow each other: each of eight lanes has a few whole ones. */
static void scan_short(const job *all, tile *own, stage *own_stage) {
  const ndr_scan_words *words = &all->config->words;
  int64_t length = all->problem->length, lines = all->config->width / 8, rows = lines * length;
  ndr_scan_octet_load(words, &own->octet, all->data + own->place.at * words->from_bytes, rows, rows, AHEAD, own->words);
  for (int64_t k = 0; k < lines; k++) {
    ndr_scan_words_fill(words, words->sequential ? words->before : words->nothing, own->sums, 8);
    ndr_scan_octet_scan(words, own->words + 8 * k * length * words->bytes, length, 1, own->sums,
                        words->sequential ? NULL : own->before, all->problem->exclusive);
  }
  ndr_scan_octet_store(words, &own->octet, own->words, rows, own_stage->results, rows);
  if (all->problem->exclusive) put_firsts(all, all->config->width, own_stage->results, length);
  ndr_scan_words_move(words, all->out_of_place, own_stage->results, all->result + own->place.result * words->to_bytes,
                      1, 8 * rows);
}

/* ---- runs of rows ---- */

static int64_t end_of(const job *all, int64_t number) {
  return ndr_least((number + 1) * NDR_SCAN_RUN, all->problem->length);
}

/* The sums of a run. */
static void add_run(const job *all, int64_t number, tile *own) {
  const ndr_scan_words *words = &all->config->words;
  int64_t end = end_of(all, number), rows;
  ndr_scan_words_fill(words, words->nothing, own->sums, own->width);
  for (int64_t g = 0; all->config->transposed && 8 * g < own->width; g++)
    for (int64_t row = number * NDR_SCAN_RUN; row < end; row += rows) {
      rows = ndr_least(end - row, NDR_SCAN_CHUNK);
      transpose_rows(all, own, g, row, rows);
      ndr_scan_octet_fold(words, own->words, rows, 1, own->sums + 8 * g * words->bytes);
    }
  for (int64_t row = number * NDR_SCAN_RUN; !all->config->transposed && row < end; row += rows) {
    rows = ndr_least(end - row, all->config->rows);
    load_rows(all, own, row, rows);
    words->loops.fold(own->words, rows, own->width, own->sums);
  }
}

/* Scans a run from `before` on and stores it; `sums` are those of the run, or of a sequential scan those up to here. */
static void scan_run(const job *all, int64_t number, tile *own, stage *own_stage) {
  const ndr_scan_words *words = &all->config->words;
  int64_t first = number * NDR_SCAN_RUN, end = end_of(all, number), rows;
  if (words->sequential)
    memcpy(own->sums, own->before, sizeof own->sums);
  else
    ndr_scan_words_fill(words, words->nothing, own->sums, own->width);
  if (all->config->transposed) {
    scan_lines(all, own, first, end, own_stage);
    return;
  }
  for (int64_t row = first; row < end; row += rows) {
    rows = ndr_least(end - row, all->config->rows);
    load_rows(all, own, row, rows);
    words->loops.scan(own->words, rows, own->width, own->sums, words->sequential ? NULL : own->before,
                      all->problem->exclusive);
    store_rows(all, own, row, rows);
  }
}

/* ---- units ---- */

static void scan_unit(const job *all, int64_t unit, tile *own, stage *own_stage) {
  const ndr_scan_words *words = &all->config->words;
  find_tile(all, unit, own);
  if (all->problem->longer) store_before(all, own);
  ndr_scan_words_fill(words, words->before, own->before, own->width);
  if (all->config->compact && own->width == all->config->width) {
    scan_short(all, own, own_stage);
    return;
  }
  for (int64_t number = 0; number < all->config->tasks.blocks; number++) {
    scan_run(all, number, own, own_stage);
    if (words->sequential)
      memcpy(own->before, own->sums, sizeof own->before);
    else
      words->loops.merge(own->before, own->sums, own->before, own->width);
  }
}

/* The block of another thread. */
typedef struct helper {
  const job *all;
  const tile *own; /* of the same lines */
} helper;

static void help(void *context, int64_t number, const void *before, void *after) {
  const job *all = ((helper *)context)->all;
  tile other;
  other.width = ((helper *)context)->own->width;
  other.place = ((helper *)context)->own->place;
  add_run(all, number, &other);
  all->config->words.loops.merge(before, other.sums, after, other.width);
}

/* In place elements may be gone before a helper reads them. */
static void scan_block(const job *all, int64_t unit, int64_t number, tile *own, stage *own_stage) {
  const ndr_scan_words *words = &all->config->words;
  ndr_scan_chain chain = ndr_scan_tasks_chain(&all->config->tasks, all->chains, unit);
  helper other = {all, own};
  find_tile(all, unit, own);
  if (all->problem->longer && number == 0) store_before(all, own);
  add_run(all, number, own);
  memcpy(own->before, ndr_scan_chain_take(&chain, number, all->out_of_place ? help : NULL, &other, own->before),
         (size_t)(own->width * words->bytes));
  words->loops.merge(own->before, own->sums, own->sums, own->width);
  ndr_scan_chain_pass(&chain, number, own->sums);
  scan_run(all, number, own, own_stage);
}

static void scan_tasks(void *context, int thread) {
  job *all = context;
  const lanes_config *config = all->config;
  tile own;
  stage own_stage;
  (void)thread;
  for (ndr_scan_task task; ndr_scan_tasks_take(&config->tasks, &all->next, &task);) {
    if (config->tasks.chained)
      scan_block(all, task.unit, task.block, &own, &own_stage);
    else
      for (int64_t unit = task.unit; unit < task.end; unit++) scan_unit(all, unit, &own, &own_stage);
  }
  if (all->out_of_place) config->words.fence();
}

static void run(const ndr_scan_plan *plan, const void *const *data, void *result, void *workspace) {
  const lanes_config *config = config_of(plan);
  job all = {&plan->problem, config, data[0], result, workspace, data[0] != result, 0};
  ndr_scan_tasks_begin_chains(&config->tasks, &config->words, all.chains);
  ndr_scan_tasks_run(plan, scan_tasks, &all);
}

/* ---- planning ---- */

static int64_t magnitude(int64_t stride) {
  return stride < 0 ? -stride : stride;
}

/* Whether elements of a line are nearer to each other than lines. */
static bool is_transposed(const ndr_scan_problem *problem) {
  return problem->scan_count == 1 && magnitude(problem->scan[0].stride) < problem->kept[0].stride;
}

/* Whether rows of a tile follow each other in the array and in the result. */
static bool is_dense(const ndr_scan_problem *problem) {
  const ndr_scan_axis *lines = &problem->kept[0], *scan = &problem->scan[0];
  return problem->scan_count == 1 && lines->stride == 1 && lines->result == 1 && lines->size <= LEAST_LANES &&
         scan->stride == lines->size && scan->result == lines->size;
}

/* How many whole lines, which follow each other in the array and in the result, fill whole tiles of a lane; 0: none do.
 */
static int64_t short_lines(const ndr_scan_problem *problem) {
  const ndr_scan_axis *lines = &problem->kept[0], *scan = &problem->scan[0];
  int64_t length = problem->length, step = length % 8 == 0 ? 1 : length % 4 == 0 ? 2 : length % 2 == 0 ? 4 : 8;
  if (length < 1 || problem->scan_count != 1 || scan->stride != 1 || scan->result != 1 || lines->stride != length ||
      lines->result != length || step * length > NDR_SCAN_CHUNK || lines->size < 8 * step)
    return 0;
  int64_t most = ndr_least(NDR_SCAN_CHUNK / length, lines->size / 8);
  return most / step * step;
}

static int64_t widest_tile(const ndr_scan_problem *problem) {
  if (short_lines(problem) > 0) return 8 * short_lines(problem);
  int64_t most = MOST_LANES, length = problem->length < NDR_SCAN_RUN ? problem->length : NDR_SCAN_RUN;
  if (is_transposed(problem)) most = ndr_least(TRANSPOSED / (8 * stage_step(length)), MOST_LANES / 8) * 8;
  return ndr_least(problem->kept[0].size, most);
}

static void configure(ndr_scan_plan *plan) {
  const ndr_scan_problem *problem = &plan->problem;
  lanes_config *config = (lanes_config *)(void *)plan->config;
  int64_t inner = problem->kept[0].size, outer = problem->lines / inner;
  int64_t threads = ndr_scan_most_threads(plan), wanted = 2 * threads;
  ndr_scan_words_make(problem, &config->words);
  config->transposed = is_transposed(problem);
  config->compact = short_lines(problem) > 0 && ndr_scan_octet_loads(&config->words);
  config->width = widest_tile(problem);
  config->tasks.blocks = (problem->length + NDR_SCAN_RUN - 1) / NDR_SCAN_RUN;
  bool chains = !config->words.sequential && threads > 1 && config->tasks.blocks >= wanted;
  while (!chains && threads > 1 && !config->transposed && config->width >= 2 * LEAST_LANES &&
         outer * (inner / config->width) < wanted)
    config->width = (config->width + 1) / 2;
  if (config->transposed && !config->compact && config->width > 8 && outer * (inner / config->width) < wanted)
    config->width = 8;
  config->rows = ndr_least(NDR_SCAN_CHUNK * 8 / config->width, NDR_SCAN_CHUNK);
  if (config->rows < 1) config->rows = 1;
  config->dense = is_dense(problem);
  config->tiles = (inner + config->width - 1) / config->width;
  config->tasks.units = outer * config->tiles;
  config->tasks.chain_bytes = config->width * config->words.bytes;
  ndr_scan_tasks_plan(&config->tasks, plan, config->width, chains && config->tasks.units < wanted);
}

static const char *reject(const ndr_scan_problem *problem, const ndr_device *device, char *text) {
  (void)device;
  (void)text;
  if (problem->kept_count == 0) return "there is one line";
  if (problem->scan_count > 1) return "several axes are scanned";
  return ndr_scan_words_reject(problem);
}

/* In nanoseconds, measured as the cost of lines.c: an element of lines that are transposed in groups of eight, the last
 * of which takes as long with fewer lines, and then has them loaded one by one; and what each of their rows takes. */
static double transposed_cost(double width) {
  const double WHOLE_GROUPS = 0.42, PART_OF_GROUP = 0.63, ROW = 0.5;
  double groups = ceil(width / 8);
  return ((8 * groups > width ? PART_OF_GROUP : WHOLE_GROUPS) * 8 * groups + ROW) / width;
}

/* The same of lines whose rows are read as they lie. */
static double cost_as_it_lies(const ndr_scan_problem *problem, double width) {
  int64_t bytes = (int64_t)ndr_dtype_bytes(problem->dtype), stride = problem->kept[0].stride * bytes;
  double element = stride <= bytes ? 0.6 : stride < 64 || width * (double)stride <= TILE_BYTES ? 1.5 : 5;
  return element + (is_dense(problem) ? 4 : 40) / width;
}

static double cost(const ndr_scan_problem *problem, const ndr_device *device) {
  double width = (double)widest_tile(problem);
  double element = is_transposed(problem) ? transposed_cost(width) : cost_as_it_lies(problem, width);
  (void)device;
  return 1e-9 * (double)problem->lines * ((double)problem->length + 1) * element;
}

static size_t describe(const ndr_scan_plan *plan, char *text, size_t capacity) {
  const lanes_config *config = config_of(plan);
  size_t length = 0;
  ndr_text_append(text, capacity, &length, "tiles of %lld lines%s, %lld runs of %d%s", (long long)config->width,
                  config->transposed ? " that are transposed" : "", (long long)config->tasks.blocks, NDR_SCAN_RUN,
                  config->tasks.chained ? " in a chain" : "");
  return length;
}

const ndr_cpu_scan_family ndr_cpu_scan_lanes = {{"lanes", reject, cost, configure, describe}, run};
