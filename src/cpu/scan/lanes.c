/* Family lanes: neighbouring lines, a tile of them, are scanned side by side, element by element of all: row after row
 * where an array is scanned along a slow axis, and short lines along a fast one. Where there are fewer tiles than
 * threads, runs of rows are a chain: a run is read twice, the second time from the cache. */
#include <string.h>

#include "cpu/scan/scans.h"
#include "cpu/scan/tasks.h"
#include "cpu/scan/words.h"

/* Lines of a tile: rows are long, as memory likes them, and their words stay in the first-level cache. Narrower ones
 * serve more threads where lines are too short for a chain. */
#define MOST_LANES 512
#define LEAST_LANES 64
#define TILE_BYTES 16384
#define WORD_BYTES 16

typedef struct lanes_config {
  ndr_scan_words words;
  int64_t width, tiles; /* lines of a tile, and tiles along the innermost kept axis */
  ndr_scan_tasks tasks; /* units are tiles, blocks runs */
} lanes_config;
_Static_assert(sizeof(lanes_config) <= NDR_SCAN_CONFIG_BYTES, "the configuration fits in a plan");

typedef struct job {
  const ndr_scan_problem *problem;
  const lanes_config *config;
  const char *data;
  char *result, *chains;
  bool apart; /* not in place */
  _Atomic int64_t next;
} job;

typedef struct tile {
  _Alignas(64) char row[MOST_LANES * WORD_BYTES]; /* elements of a row, or results */
  _Alignas(64) char sums[MOST_LANES * WORD_BYTES];
  _Alignas(64) char before[MOST_LANES * WORD_BYTES]; /* what stands before the run */
  int64_t width;
  ndr_scan_place place;
} tile;

static const lanes_config *config_of(const ndr_scan_plan *plan) {
  return (const lanes_config *)(const void *)plan->config;
}

/* ---- rows ---- */

static void find_tile(const job *all, int64_t unit, tile *own) {
  int64_t inner = all->problem->kept[0].size, first = unit % all->config->tiles * all->config->width;
  own->width = inner - first < all->config->width ? inner - first : all->config->width;
  ndr_scan_line(all->problem, unit / all->config->tiles * inner + first, &own->place);
}

static void load_row(const job *all, const tile *own, int64_t row, char *to) {
  const ndr_scan_words *words = &all->config->words;
  int64_t at = own->place.at + row * all->problem->scan[0].stride, step = all->problem->kept[0].stride, some;
  for (int64_t l = 0; l < own->width; l += some) {
    some = own->width - l < NDR_SCAN_RUN ? own->width - l : NDR_SCAN_RUN;
    ndr_scan_words_load(words, all->data + (at + l * step) * words->from_bytes, step, to + l * words->bytes, some);
  }
}

static void store_row(const job *all, const tile *own, int64_t row, char *from) {
  const ndr_scan_words *words = &all->config->words;
  int64_t at = own->place.result + row * all->problem->scan[0].result;
  ndr_scan_words_store(words, all->apart, from, all->result + at * words->to_bytes, all->problem->kept[0].result,
                       own->width);
}

static void fill(const job *all, const unsigned char *word, char *to, int64_t count) {
  int64_t bytes = all->config->words.bytes;
  for (int64_t l = 0; l < count; l++) memcpy(to + l * bytes, word, (size_t)bytes);
}

static void store_first(const job *all, tile *own) {
  const ndr_scan_words *words = &all->config->words;
  int64_t at = own->place.result - all->problem->result_step;
  fill(all, words->first, own->row, own->width);
  ndr_scan_words_store(words, all->apart, own->row, all->result + at * words->to_bytes, all->problem->kept[0].result,
                       own->width);
}

/* ---- runs of rows ---- */

static int64_t end_of(const job *all, int64_t number) {
  int64_t end = (number + 1) * NDR_SCAN_RUN;
  return end < all->problem->length ? end : all->problem->length;
}

/* The sums of a run. */
static void add_run(const job *all, int64_t number, tile *own) {
  int64_t first = number * NDR_SCAN_RUN;
  load_row(all, own, first, own->sums);
  for (int64_t row = first + 1; row < end_of(all, number); row++) {
    load_row(all, own, row, own->row);
    all->config->words.loops.merge(own->sums, own->row, own->sums, own->width);
  }
}

/* The results of an exclusive scan are stored before the row is added: it may be the same memory. */
static void store_exclusive(const job *all, tile *own, int64_t row, bool begins, bool fresh) {
  const ndr_scan_words *words = &all->config->words;
  char *spare = own->row;
  if (begins)
    memcpy(spare, own->before, (size_t)(own->width * words->bytes));
  else if (fresh || words->sequential)
    memcpy(spare, own->sums, (size_t)(own->width * words->bytes));
  else
    words->loops.merge(own->before, own->sums, spare, own->width);
  if (row == 0) fill(all, words->first, spare, own->width);
  store_row(all, own, row, spare);
}

static void store_inclusive(const job *all, tile *own, int64_t row, bool fresh) {
  const ndr_scan_words *words = &all->config->words;
  if (fresh || words->sequential)
    memcpy(own->row, own->sums, (size_t)(own->width * words->bytes));
  else
    words->loops.merge(own->before, own->sums, own->row, own->width);
  store_row(all, own, row, own->row);
}

/* Scans a run from `before` on and stores it; `sums` are those of the run, or of a sequential scan those up to here. */
static void scan_run(const job *all, int64_t number, tile *own) {
  const ndr_scan_words *words = &all->config->words;
  _Alignas(64) char next[MOST_LANES * WORD_BYTES];
  bool fresh = number == 0 && words->fresh;
  if (words->sequential) memcpy(own->sums, own->before, (size_t)(own->width * words->bytes));
  for (int64_t first = number * NDR_SCAN_RUN, row = first; row < end_of(all, number); row++) {
    bool begins = row == first && !words->sequential;
    load_row(all, own, row, next);
    if (all->problem->exclusive) store_exclusive(all, own, row, begins, fresh);
    if (begins)
      memcpy(own->sums, next, (size_t)(own->width * words->bytes));
    else
      words->loops.merge(own->sums, next, own->sums, own->width);
    if (!all->problem->exclusive) store_inclusive(all, own, row, fresh);
  }
}

/* ---- units ---- */

static void scan_unit(const job *all, int64_t unit, tile *own) {
  const ndr_scan_words *words = &all->config->words;
  find_tile(all, unit, own);
  if (all->problem->longer) store_first(all, own);
  fill(all, words->before, own->before, own->width);
  for (int64_t number = 0; number < all->config->tasks.blocks; number++) {
    scan_run(all, number, own);
    if (words->sequential)
      memcpy(own->before, own->sums, (size_t)(own->width * words->bytes));
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
static void scan_block(const job *all, int64_t unit, int64_t number, tile *own) {
  const ndr_scan_words *words = &all->config->words;
  ndr_scan_chain chain = ndr_scan_tasks_chain(&all->config->tasks, all->chains, unit);
  helper other = {all, own};
  find_tile(all, unit, own);
  if (all->problem->longer && number == 0) store_first(all, own);
  add_run(all, number, own);
  memcpy(own->before, ndr_scan_chain_take(&chain, number, all->apart ? help : NULL, &other, own->before),
         (size_t)(own->width * words->bytes));
  words->loops.merge(own->before, own->sums, own->row, own->width);
  ndr_scan_chain_pass(&chain, number, own->row);
  scan_run(all, number, own);
}

static void scan_tasks(void *context, int thread) {
  job *all = context;
  const lanes_config *config = all->config;
  tile own;
  (void)thread;
  for (ndr_scan_task task; ndr_scan_tasks_take(&config->tasks, &all->next, &task);) {
    if (config->tasks.chained)
      scan_block(all, task.unit, task.block, &own);
    else
      for (int64_t unit = task.unit; unit < task.end; unit++) scan_unit(all, unit, &own);
  }
  if (all->apart) config->words.fence();
}

static void run(const ndr_scan_plan *plan, const void *const *data, void *result, void *workspace) {
  const lanes_config *config = config_of(plan);
  job all = {&plan->problem, config, data[0], result, workspace, data[0] != result, 0};
  for (int64_t unit = 0; config->tasks.chained && unit < config->tasks.units; unit++) {
    ndr_scan_chain chain = ndr_scan_tasks_chain(&config->tasks, all.chains, unit);
    ndr_scan_chain_begin(&chain, config->tasks.blocks);
    fill(&all, config->words.before, (char *)chain.words, config->width);
  }
  ndr_scan_tasks_run(plan, scan_tasks, &all);
}

/* ---- planning ---- */

/* Short lines that follow each other: all that a tile reads, row by row, should stay in the first-level cache. */
static int64_t widest_tile(const ndr_scan_problem *problem) {
  int64_t apart = problem->kept[0].stride * (int64_t)ndr_dtype_bytes(problem->dtype);
  int64_t most = apart <= TILE_BYTES / MOST_LANES ? MOST_LANES : TILE_BYTES / apart;
  most = most < LEAST_LANES ? LEAST_LANES : most;
  return problem->kept[0].size < most ? problem->kept[0].size : most;
}

static void configure(ndr_scan_plan *plan) {
  const ndr_scan_problem *problem = &plan->problem;
  lanes_config *config = (lanes_config *)(void *)plan->config;
  int64_t inner = problem->kept[0].size, outer = problem->lines / inner, wanted = 2 * (int64_t)plan->threads;
  ndr_scan_words_make(problem, &config->words);
  config->width = widest_tile(problem);
  config->tasks.blocks = (problem->length + NDR_SCAN_RUN - 1) / NDR_SCAN_RUN;
  bool chains = !config->words.sequential && plan->threads > 1 && config->tasks.blocks >= wanted;
  while (!chains && plan->threads > 1 && config->width >= 2 * LEAST_LANES && outer * (inner / config->width) < wanted)
    config->width = (config->width + 1) / 2;
  config->tiles = (inner + config->width - 1) / config->width;
  config->tasks.units = outer * config->tiles;
  config->tasks.chain_bytes = config->width * config->words.bytes;
  ndr_scan_tasks_end(&config->tasks, plan, config->width, chains && config->tasks.units < wanted);
}

static const char *reject(const ndr_scan_problem *problem, const ndr_device *device, char *text) {
  (void)device;
  (void)text;
  if (problem->kept_count == 0) return "there is one line";
  if (problem->scan_count > 1) return "several axes are scanned";
  return ndr_scan_words_reject(problem);
}

/* Measured as those of lines.c; and what a row of a tile takes beside its elements. */
static double cost(const ndr_scan_problem *problem, const ndr_device *device) {
  int64_t bytes = (int64_t)ndr_dtype_bytes(problem->dtype), stride = problem->kept[0].stride * bytes;
  double width = (double)widest_tile(problem);
  double element = stride <= bytes ? 0.6 : stride < 64 || width * (double)stride <= TILE_BYTES ? 1.5 : 5;
  (void)device;
  return 1e-9 * (double)problem->lines * ((double)problem->length + 1) * (element + 40 / width);
}

static size_t describe(const ndr_scan_plan *plan, char *text, size_t capacity) {
  const lanes_config *config = config_of(plan);
  size_t length = 0;
  ndr_text_append(text, capacity, &length, "tiles of %lld lines, %lld runs of %d%s", (long long)config->width,
                  (long long)config->tasks.blocks, NDR_SCAN_RUN, config->tasks.chained ? " in a chain" : "");
  return length;
}

const ndr_cpu_scan_family ndr_cpu_scan_lanes = {{"lanes", reject, cost, configure, describe}, run};
