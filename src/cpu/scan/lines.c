/* Family lines: a line is cut into runs, eight of which are scanned side by side. First each run is added up; then what
 * stands before each is known, and the runs, which are in the cache now, are scanned from there. Lines whose elements
 * are combined in their order, or faster so than as runs, are scanned one element after the other. A few lines that lie
 * between each other, whose elements share cache lines, are cut together: their rows take turns. Any strides; several
 * scanned axes. */
#include <math.h>
#include <string.h>

#include "cpu/cuts.h"
#include "cpu/fold/fold.h"
#include "cpu/scan/octet.h"
#include "cpu/scan/scans.h"
#include "cpu/scan/tasks.h"

/* Words of a block. In a chain blocks are as large, so that one takes far longer than passing on what stands before the
 * next, and stay in the second-level cache. */
#define WORDS_BYTES 65536
#define MOST_RUNS 32
#define MOST_PERIOD 4
#define CACHE_LINE 64
/* How many bytes ahead of a line that is scanned in turn the cache is filled. */
#define AHEAD 4096

typedef struct lines_config {
  ndr_scan_words words;
  int64_t period; /* lines of a unit, which lie between each other */
  int64_t runs;   /* of a block */
  ndr_scan_tasks tasks;
  bool flat, flat_results; /* elements, and results, of a unit lie one after the other */
  bool in_turn;            /* no runs: the elements of a line are combined one after the other */
} lines_config;
_Static_assert(sizeof(lines_config) <= NDR_SCAN_CONFIG_BYTES, "the configuration fits in a plan");

typedef struct job {
  const ndr_scan_problem *problem;
  const lines_config *config;
  const char *data;
  char *result, *chains;
  bool out_of_place;
  _Atomic int64_t next;
} job;

/* The runs of a unit that are scanned at a time. Elements of a unit are numbered through all of its lines. */
typedef struct block {
  ndr_scan_octet octet;
  /* Sums of runs, and then what stands before them. That of run k in line c is number (k / 8 * period + c) * 8 + k % 8.
   */
  _Alignas(64) char sums[MOST_RUNS * MOST_PERIOD * NDR_SCAN_WORD_BYTES];
  ndr_scan_place place;
  int64_t first, count; /* elements */
} block;

typedef struct scanned {
  block block;
  _Alignas(64) char words[WORDS_BYTES]; /* of the block's runs: rows of eight runs, then those of the next eight */
  _Alignas(64) char stage[WORDS_BYTES]; /* results of eight runs */
} scanned;

static const lines_config *config_of(const ndr_scan_plan *plan) {
  return (const lines_config *)(const void *)plan->config;
}

/* ---- moving ---- */

/* Sets *at and *result to where element e of a line lies, from its first, in the array and in the result. Returns how
 * many follow along the innermost axis, with element e. */
static int64_t find_element(const ndr_scan_problem *problem, int64_t e, int64_t *at, int64_t *result) {
  *at = e * problem->scan[0].stride;
  *result = e * problem->scan[0].result;
  if (problem->scan_count < 2) return INT64_MAX;
  int64_t left = problem->scan[0].size - e % problem->scan[0].size;
  *at = *result = 0;
  for (int a = 0; a < problem->scan_count; a++) {
    int64_t i = a == problem->scan_count - 1 ? e : e % problem->scan[a].size;
    *at += i * problem->scan[a].stride;
    *result += i * problem->scan[a].result;
    e /= problem->scan[a].size;
  }
  return left;
}

static void load_elements(const job *all, const block *own, int64_t e, int64_t count, char *to) {
  const ndr_scan_problem *problem = all->problem;
  const ndr_scan_words *words = &all->config->words;
  const char *line = all->data + own->place.at * words->from_bytes;
  if (all->config->flat) {
    ndr_scan_words_load(words, line + e * words->from_bytes, 1, to, count);
    return;
  }
  for (int64_t done = 0, some, at, result; done < count; done += some) {
    some = find_element(problem, e + done, &at, &result);
    if (some > count - done) some = count - done;
    ndr_scan_words_load(words, line + at * words->from_bytes, problem->scan[0].stride, to + done * words->bytes, some);
  }
}

static void store_results(const job *all, const block *own, int64_t e, int64_t count, const char *from) {
  const ndr_scan_problem *problem = all->problem;
  const ndr_scan_words *words = &all->config->words;
  char *line = all->result + own->place.result * words->to_bytes;
  if (all->config->flat_results) {
    ndr_scan_words_move(words, all->out_of_place, from, line + e * words->to_bytes, 1, count);
    return;
  }
  for (int64_t done = 0, some, at, result; done < count; done += some) {
    some = find_element(problem, e + done, &at, &result);
    if (some > count - done) some = count - done;
    ndr_scan_words_move(words, all->out_of_place, from + done * words->to_bytes, line + result * words->to_bytes,
                        problem->scan[0].result, some);
  }
}

/* ---- eight runs ---- */

static int64_t run_of(const job *all) {
  return NDR_SCAN_RUN * all->config->period;
}

static char *sums_of(const job *all, block *own, int64_t group) {
  return own->sums + 8 * group * all->config->period * all->config->words.bytes;
}

/* How many elements run number `lane` of a group of eight has: fewer than a whole run at the block's end. */
static int64_t run_length(const job *all, const block *own, int64_t group, int64_t lane) {
  int64_t left = own->count - (8 * group + lane) * run_of(all);
  return left < 0 ? 0 : left < run_of(all) ? left : run_of(all);
}

/* Loads `rows` rows of eight runs, from `row` on. Words behind the end of a run may have any value. */
static void load_rows(const job *all, block *own, int64_t group, int64_t row, int64_t rows, char *to) {
  const ndr_scan_words *words = &all->config->words;
  int64_t first = own->first + 8 * group * run_of(all);
  if (all->config->flat && ndr_scan_octet_loads(words) && run_length(all, own, group, 7) == run_of(all)) {
    ndr_scan_octet_load(words, &own->octet, all->data + (own->place.at + first + row) * words->from_bytes, run_of(all),
                        rows, 8 * run_of(all) * words->from_bytes, to);
    return;
  }
  for (int64_t lane = 0; lane < 8; lane++) {
    int64_t left = run_length(all, own, group, lane) - row, count = left < rows ? left : rows;
    if (count > 0)
      load_elements(all, own, first + lane * run_of(all) + row, count, ndr_scan_octet_lane(words, &own->octet, lane));
  }
  ndr_scan_octet_transpose(words, &own->octet, rows, to);
}

/* Scans eight runs from their beginnings into words_of_rows; where that is NULL, only adds them up. */
static void scan_group(const job *all, block *own, int64_t group, char *words_of_rows) {
  const lines_config *config = all->config;
  const ndr_scan_words *words = &config->words;
  int64_t length = run_length(all, own, group, 0), most = ndr_scan_octet_rows(words, config->period), rows;
  char *sums = sums_of(all, own, group);
  ndr_scan_words_fill(words, words->nothing, sums, 8 * config->period);
  for (int64_t row = 0; row < length; row += rows) {
    _Alignas(64) char some[8 * NDR_SCAN_CHUNK * NDR_SCAN_WORD_BYTES];
    char *to = words_of_rows ? words_of_rows + 8 * row * words->bytes : some;
    rows = length - row < most ? length - row : most;
    load_rows(all, own, group, row, rows, to);
    if (words_of_rows)
      ndr_scan_octet_scan(words, to, rows, config->period, sums, NULL, all->problem->exclusive);
    else
      ndr_scan_octet_fold(words, to, rows, config->period, sums);
  }
}

static char *words_of(const job *all, scanned *own, int64_t group) {
  return own->words + 8 * group * run_of(all) * all->config->words.bytes;
}

/* Adds what stands before each of eight runs, and stores them. */
static void store_group(const job *all, scanned *own, int64_t group) {
  const lines_config *config = all->config;
  const ndr_scan_words *words = &config->words;
  int64_t length = run_length(all, &own->block, group, 0), most = ndr_scan_octet_rows(words, config->period), rows;
  for (int64_t row = 0; row < length; row += rows) {
    char *from = words_of(all, own, group) + 8 * row * words->bytes;
    rows = length - row < most ? length - row : most;
    ndr_scan_octet_join(words, from, rows, config->period, sums_of(all, &own->block, group));
    ndr_scan_octet_store(words, &own->block.octet, from, rows, own->stage + row * words->to_bytes, run_of(all));
  }
  for (int64_t c = 0; all->problem->exclusive && own->block.first + group == 0 && c < config->period; c++)
    ndr_scan_words_first(words, own->stage + c * words->to_bytes);
  int64_t first = 8 * group * run_of(all), left = own->block.count - first;
  store_results(all, &own->block, own->block.first + first, left < 8 * run_of(all) ? left : 8 * run_of(all),
                own->stage);
}

/* ---- blocks ---- */

static void find_block(const job *all, int64_t number, block *own) {
  int64_t most = all->config->runs * run_of(all), length = all->problem->length * all->config->period;
  own->first = number * most;
  own->count = length - own->first < most ? length - own->first : most;
}

static int64_t groups_of(const job *all, const block *own) {
  return (own->count + 8 * run_of(all) - 1) / (8 * run_of(all));
}

/* Replaces the sum of each run by what stands before it. `carry`, a word for each line, is what stands before the
 * block, and becomes what stands behind it. */
static void pass_runs(const job *all, block *own, char *carry) {
  const ndr_scan_words *words = &all->config->words;
  int64_t runs = (own->count + run_of(all) - 1) / run_of(all), bytes = words->bytes;
  for (int64_t k = 0; k < runs; k++) {
    for (int64_t c = 0; c < all->config->period; c++) {
      char *sum = sums_of(all, own, k / 8) + (8 * c + k % 8) * bytes, *before = carry + c * bytes;
      _Alignas(16) char after[NDR_SCAN_WORD_BYTES];
      words->loops.merge(before, sum, after, 1);
      memcpy(sum, before, (size_t)bytes);
      memcpy(before, after, (size_t)bytes);
    }
  }
}

static void store_firsts(const job *all, const ndr_scan_place *place) {
  const ndr_scan_problem *problem = all->problem;
  for (int64_t c = 0; problem->longer && c < all->config->period; c++) {
    int64_t at = place->result - problem->result_step + (c ? c * problem->kept[0].result : 0);
    ndr_scan_words_first(&all->config->words, all->result + at * all->config->words.to_bytes);
  }
}

/* Results before the first boundary of a cache line, if they lie one after the other. */
static int64_t elements_to_line(const job *all, const scanned *own) {
  const int64_t bytes = all->config->words.to_bytes;
  uintptr_t first = (uintptr_t)(all->result + own->block.place.result * bytes);
  return all->config->flat_results ? (int64_t)(-first % CACHE_LINE) / bytes : 0;
}

/* For products of floats, whose order is kept, and for sums of integers whose lines are in no chain: to add takes less
 * time than to transpose. */
static void scan_in_turn(const job *all, scanned *own, char *carry) {
  const ndr_scan_words *words = &all->config->words;
  if (all->problem->length == 0) return; /* there may be no arrays */
  const char *line = all->data + own->block.place.at * words->from_bytes;
  int64_t to_line = elements_to_line(all, own);
  for (int64_t e = 0, count; e < all->problem->length; e += count) {
    count = ndr_least(all->problem->length - e, e == 0 && to_line > 0 ? to_line : NDR_SCAN_CHUNK);
    if (all->config->flat) ndr_prefetch(line + e * words->from_bytes + AHEAD, count * words->from_bytes);
    load_elements(all, &own->block, e, count, own->words);
    words->loops.scan(own->words, count, 1, carry, NULL, all->problem->exclusive);
    store_results(all, &own->block, e, count, ndr_scan_words_finish(words, own->words, own->stage, count));
  }
}

static void scan_unit(const job *all, int64_t unit, scanned *own) {
  _Alignas(16) char carry[MOST_PERIOD * NDR_SCAN_WORD_BYTES];
  const lines_config *config = all->config;
  ndr_scan_words_fill(&config->words, config->words.before, carry, config->period);
  ndr_scan_line(all->problem, unit * config->period, &own->block.place);
  store_firsts(all, &own->block.place);
  if (config->in_turn) {
    scan_in_turn(all, own, carry);
    return;
  }
  for (int64_t number = 0; number < config->tasks.blocks; number++) {
    find_block(all, number, &own->block);
    scan_group(all, &own->block, 0, own->words);
    pass_runs(all, &own->block, carry);
    store_group(all, own, 0);
  }
}

/* The block of another thread. */
typedef struct helper {
  const job *all;
  const ndr_scan_place *place;
} helper;

static void help(void *context, int64_t number, const void *before, void *after) {
  const job *all = ((helper *)context)->all;
  block other;
  other.place = *((helper *)context)->place;
  find_block(all, number, &other);
  for (int64_t group = 0; group < groups_of(all, &other); group++) scan_group(all, &other, group, NULL);
  memcpy(after, before, (size_t)(all->config->period * all->config->words.bytes));
  pass_runs(all, &other, after);
}

/* In place elements may be gone before a helper reads them. */
static void scan_block(const job *all, int64_t unit, int64_t number, scanned *own) {
  _Alignas(16) char carry[MOST_PERIOD * NDR_SCAN_WORD_BYTES];
  ndr_scan_chain chain = ndr_scan_tasks_chain(&all->config->tasks, all->chains, unit);
  helper other = {all, &own->block.place};
  ndr_scan_line(all->problem, unit * all->config->period, &own->block.place);
  if (number == 0) store_firsts(all, &own->block.place);
  find_block(all, number, &own->block);
  for (int64_t group = 0; group < groups_of(all, &own->block); group++)
    scan_group(all, &own->block, group, words_of(all, own, group));
  memcpy(carry, ndr_scan_chain_take(&chain, number, all->out_of_place ? help : NULL, &other, carry),
         (size_t)chain.bytes);
  pass_runs(all, &own->block, carry);
  ndr_scan_chain_pass(&chain, number, carry);
  for (int64_t group = 0; group < groups_of(all, &own->block); group++) store_group(all, own, group);
}

static void scan_tasks(void *context, int thread) {
  job *all = context;
  const lines_config *config = all->config;
  scanned own;
  (void)thread;
  for (ndr_scan_task task; ndr_scan_tasks_take(&config->tasks, &all->next, &task);) {
    if (config->tasks.chained)
      scan_block(all, task.unit, task.block, &own);
    else
      for (int64_t unit = task.unit; unit < task.end; unit++) scan_unit(all, unit, &own);
  }
  if (all->out_of_place) config->words.fence();
}

static void run(const ndr_scan_plan *plan, const void *const *data, void *result, void *workspace) {
  const lines_config *config = config_of(plan);
  job all = {&plan->problem, config, data[0], result, workspace, data[0] != result, 0};
  ndr_scan_tasks_begin_chains(&config->tasks, &config->words, all.chains);
  ndr_scan_tasks_run(plan, scan_tasks, &all);
}

/* ---- planning ---- */

/* How many lines lie between each other, in the array and in the result; 1 where none do, or too many. */
static int64_t interleaved(const ndr_scan_problem *problem) {
  const ndr_scan_axis *lines = &problem->kept[0], *scan = &problem->scan[0];
  if (problem->kept_count == 0 || problem->scan_count != 1 || lines->stride != 1 || lines->result != 1) return 1;
  return lines->size <= MOST_PERIOD && scan->stride == lines->size && scan->result == lines->size ? lines->size : 1;
}

static void configure(ndr_scan_plan *plan) {
  const ndr_scan_problem *problem = &plan->problem;
  lines_config *config = (lines_config *)(void *)plan->config;
  int64_t runs = (problem->length + NDR_SCAN_RUN - 1) / NDR_SCAN_RUN, threads = ndr_scan_most_threads(plan);
  ndr_scan_words_make(problem, &config->words);
  config->period = config->words.sequential || config->words.bytes > 8 ? 1 : interleaved(problem);
  config->flat = config->period > 1 || (problem->scan_count == 1 && problem->scan[0].stride == 1);
  config->flat_results = config->period > 1 || (problem->scan_count == 1 && problem->scan[0].result == 1);
  config->tasks.units = problem->lines / config->period;
  bool chained = !config->words.sequential && runs > 8 && threads > 1 && config->tasks.units < 4 * threads;
  config->in_turn =
      config->words.sequential || (ndr_scan_words_sums_integers(problem) && config->period == 1 && !chained);
  config->runs = 8;
  int64_t bytes = NDR_SCAN_RUN * config->period * config->words.bytes;
  while (chained && 2 * config->runs * bytes <= WORDS_BYTES && runs / config->runs > 8 * threads) config->runs *= 2;
  config->tasks.blocks = (runs + config->runs - 1) / config->runs;
  config->tasks.chain_bytes = config->period * config->words.bytes;
  ndr_scan_tasks_plan(&config->tasks, plan, config->period, chained);
}

static const char *reject(const ndr_scan_problem *problem, const ndr_device *device, char *text) {
  (void)device;
  (void)text;
  return ndr_scan_words_reject(problem);
}

/* In nanoseconds, measured on one core. Of a line that is scanned in turn, an element (IN_TURN) and what the line takes
 * beside its elements (LINE_IN_TURN); the same of runs (IN_RUNS, LINE_OF_RUNS), whose lanes a line of few runs leaves
 * unused; an element of words that do not fill vectors (ONE_BY_ONE); of elements that do not lie beside each other, one
 * of several in a cache line (APART) or the only one (ALONE), and what joins each to those before (JOIN). */
static double cost(const ndr_scan_problem *problem, const ndr_device *device) {
  const double IN_TURN = 0.4, LINE_IN_TURN = 30, IN_RUNS = 0.36, LINE_OF_RUNS = 400, ONE_BY_ONE = 1.7, APART = 2,
               ALONE = 4, JOIN = 1;
  double length = (double)problem->length + 1, lines = (double)problem->lines;
  int64_t bytes = problem->scan[0].stride * (int64_t)ndr_dtype_bytes(problem->dtype);
  bool near = problem->scan_count == 0 || bytes == (int64_t)ndr_dtype_bytes(problem->dtype) || interleaved(problem) > 1;
  double unused = length < 8 * NDR_SCAN_RUN ? 8 / ceil(length / NDR_SCAN_RUN) : 1; /* lanes of a vector */
  bool far = bytes <= -CACHE_LINE || bytes >= CACHE_LINE;
  (void)device;
  if (!near) return 1e-9 * lines * length * ((far ? ALONE : APART) * unused + JOIN);
  if (ndr_scan_words_sums_integers(problem) && interleaved(problem) == 1)
    return 1e-9 * lines * (length * IN_TURN + LINE_IN_TURN);
  if (!ndr_scan_words_fill_vectors(problem)) return 1e-9 * lines * length * ONE_BY_ONE;
  return 1e-9 * lines * (length * IN_RUNS * unused + LINE_OF_RUNS);
}

static size_t describe(const ndr_scan_plan *plan, char *text, size_t capacity) {
  const lines_config *config = config_of(plan);
  size_t length = 0;
  if (config->in_turn)
    ndr_text_append(text, capacity, &length, "each line in turn, %d elements at a time", NDR_SCAN_CHUNK);
  else
    ndr_text_append(text, capacity, &length, "%lld lines at a time, %lld blocks of %lld runs of %d%s",
                    (long long)config->period, (long long)config->tasks.blocks, (long long)config->runs, NDR_SCAN_RUN,
                    config->tasks.chained ? " in a chain" : "");
  return length;
}

const ndr_cpu_scan_family ndr_cpu_scan_lines = {{"lines", reject, cost, configure, describe}, run};
