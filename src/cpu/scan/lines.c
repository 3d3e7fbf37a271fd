/* Family lines: elements of a line are loaded run by run into slots, in which eight runs are scanned at a time: of one
 * long line, of several short ones, or of lines that lie between each other, whose elements share cache lines. Then
 * what stands before each run is added, and it is stored. Any strides; several scanned axes. */
#include <string.h>

#include "cpu/scan/scans.h"
#include "cpu/scan/tasks.h"
#include "cpu/scan/words.h"

/* Words before a slot's run: an exclusive scan puts there what stands before. */
#define LEAD (NDR_SCAN_SLOT - NDR_SCAN_RUN)
#define WORD_BYTES 16 /* of the largest */

typedef struct lines_config {
  ndr_scan_words words;
  int64_t lines, runs; /* of a unit: neighbouring lines, and runs of each at a time, which make a block */
  ndr_scan_tasks tasks;
  int64_t ahead; /* blocks from one to the next of a thread */
} lines_config;
_Static_assert(sizeof(lines_config) <= NDR_SCAN_CONFIG_BYTES, "the configuration fits in a plan");

typedef struct job {
  const ndr_scan_problem *problem;
  const lines_config *config;
  const char *data;
  char *result, *chains;
  bool apart; /* not in place */
  _Atomic int64_t next;
} job;

/* Run k of line c is in slot k * lines + c. */
typedef struct block {
  _Alignas(64) char slots[(NDR_SCAN_SLOTS * NDR_SCAN_SLOT + LEAD) * WORD_BYTES];
  _Alignas(16) char before[NDR_SCAN_SLOTS * WORD_BYTES]; /* what stands before each slot */
  int64_t lines, first;                                  /* lines there are, and the first element of each */
  int64_t runs, last;                                    /* runs of each line, and elements of the last one */
  ndr_scan_place places[NDR_SCAN_SLOTS];                 /* where lines begin */
} block;

static const lines_config *config_of(const ndr_scan_plan *plan) {
  return (const lines_config *)(const void *)plan->config;
}

static char *slot_of(const job *all, block *own, int64_t slot) {
  return own->slots + (slot * NDR_SCAN_SLOT + LEAD) * all->config->words.bytes;
}

/* ---- moving ---- */

/* Where element e of a line lies, from its first, and how many lie behind it along the innermost axis. */
static int64_t find_element(const ndr_scan_problem *problem, int64_t e, int64_t *at, int64_t *result) {
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

static void load_run(const job *all, const ndr_scan_place *line, int64_t e, int64_t count, char *to) {
  const ndr_scan_problem *problem = all->problem;
  const ndr_scan_words *words = &all->config->words;
  const int64_t stride = problem->scan[0].stride;
  if (problem->scan_count < 2) {
    ndr_scan_words_load(words, all->data + (line->at + e * stride) * words->from_bytes, stride, to, count);
    return;
  }
  for (int64_t done = 0, some, at, result; done < count; done += some) {
    some = find_element(problem, e + done, &at, &result);
    if (some > count - done) some = count - done;
    ndr_scan_words_load(words, all->data + (line->at + at) * words->from_bytes, stride, to + done * words->bytes, some);
  }
}

static void store_run(const job *all, const ndr_scan_place *line, int64_t e, int64_t count, char *from) {
  const ndr_scan_problem *problem = all->problem;
  const ndr_scan_words *words = &all->config->words;
  const int64_t stride = problem->scan[0].result;
  if (problem->scan_count < 2) {
    char *to = all->result + (line->result + e * stride) * words->to_bytes;
    ndr_scan_words_store(words, all->apart, from, to, stride, count);
    return;
  }
  for (int64_t done = 0, some, at, result; done < count; done += some) {
    some = find_element(problem, e + done, &at, &result);
    if (some > count - done) some = count - done;
    ndr_scan_words_store(words, all->apart, from + done * words->bytes,
                         all->result + (line->result + result) * words->to_bytes, stride, some);
  }
}

/* ---- blocks ---- */

static void find_lines(const job *all, int64_t unit, block *own) {
  int64_t first = unit * all->config->lines, left = all->problem->lines - first;
  own->lines = left < all->config->lines ? left : all->config->lines;
  ndr_scan_line(all->problem, first, &own->places[0]);
  int64_t inner = all->problem->kept_count ? all->problem->kept[0].size : 1, at = first % inner;
  for (int64_t c = 1; c < own->lines; c++) {
    at = at + 1 < inner ? at + 1 : 0;
    own->places[c] = own->places[c - 1];
    if (at > 0)
      ndr_scan_step(all->problem, &all->problem->kept[0], 1, &own->places[c]);
    else
      ndr_scan_line(all->problem, first + c, &own->places[c]);
  }
}

static int64_t run_length(const block *own, int64_t run) {
  return run == own->runs - 1 ? own->last : NDR_SCAN_RUN;
}

/* Sets what is loaded into the cache while the runs are scanned: the elements of the next block that this thread takes,
 * where it takes all that lie between them. Returns the bytes for each element of a slot. */
static int64_t next_elements(const job *all, const block *own, const char **ahead) {
  const ndr_scan_problem *problem = all->problem;
  int64_t step = problem->scan[0].stride * all->config->words.from_bytes;
  int64_t first = own->first + all->config->ahead * all->config->runs * NDR_SCAN_RUN;
  if (problem->scan_count != 1 || first >= problem->length || step <= 0 || step > 64) return 0;
  *ahead = all->data + own->places[0].at * all->config->words.from_bytes + first * step;
  return 8 * step / own->lines;
}

/* Loads block number `number`, and scans each run by itself; of a sequential scan from `carry` on. */
static void scan_runs(const job *all, int64_t number, block *own, const char *carry) {
  const ndr_scan_words *words = &all->config->words;
  int64_t most = all->config->runs * NDR_SCAN_RUN, left;
  own->first = number * most;
  left = all->problem->length - own->first;
  if (left > most) left = most;
  own->runs = (left + NDR_SCAN_RUN - 1) / NDR_SCAN_RUN;
  own->last = left - (own->runs - 1) * NDR_SCAN_RUN;
  for (int64_t k = 0; k < own->runs; k++) {
    for (int64_t c = 0; c < own->lines; c++) {
      char *slot = slot_of(all, own, k * own->lines + c);
      load_run(all, &own->places[c], own->first + k * NDR_SCAN_RUN, run_length(own, k), slot);
      if (words->sequential) words->loops.shift(carry + c * words->bytes, slot, 1);
    }
  }
  int64_t full = (own->last == NDR_SCAN_RUN ? own->runs : own->runs - 1) * own->lines;
  const char *ahead = own->slots;
  int64_t step = next_elements(all, own, &ahead);
  words->loops.runs(slot_of(all, own, 0), full, NDR_SCAN_RUN, ahead, step);
  words->loops.runs(slot_of(all, own, full), own->runs * own->lines - full, own->last, ahead, 0);
}

/* Notes what stands before each run, and moves carry, a word for each line, behind the block. */
static void pass_runs(const job *all, block *own, char *carry) {
  const ndr_scan_words *words = &all->config->words;
  int64_t bytes = words->bytes;
  _Alignas(16) char totals[NDR_SCAN_SLOTS * WORD_BYTES];
  for (int64_t k = 0; k < own->runs; k++) {
    memcpy(own->before + k * own->lines * bytes, carry, (size_t)(own->lines * bytes));
    for (int64_t c = 0; c < own->lines; c++)
      memcpy(totals + c * bytes, slot_of(all, own, k * own->lines + c) + (run_length(own, k) - 1) * bytes,
             (size_t)bytes);
    if (words->sequential)
      memcpy(carry, totals, (size_t)(own->lines * bytes));
    else
      words->loops.merge(carry, totals, carry, own->lines);
  }
}

static void store_first(const job *all, const ndr_scan_place *line, int64_t at) {
  const ndr_scan_words *words = &all->config->words;
  _Alignas(16) char first[WORD_BYTES];
  memcpy(first, words->first, sizeof first);
  ndr_scan_words_store(words, all->apart, first, all->result + (line->result + at) * words->to_bytes, 1, 1);
}

/* An exclusive run begins with what stands before it, and lacks its last value. */
static void store_slot(const job *all, block *own, int64_t k, int64_t c) {
  const ndr_scan_words *words = &all->config->words;
  char *slot = slot_of(all, own, k * own->lines + c), *before = own->before + (k * own->lines + c) * words->bytes;
  int64_t count = run_length(own, k), e = own->first + k * NDR_SCAN_RUN;
  if (!words->sequential && !(e == 0 && words->fresh)) words->loops.shift(before, slot, count);
  if (all->problem->exclusive) {
    slot -= words->bytes;
    memcpy(slot, e == 0 ? (const char *)words->first : before, (size_t)words->bytes);
  }
  store_run(all, &own->places[c], e, count, slot);
}

static void store_runs(const job *all, block *own) {
  if (all->problem->longer && own->first == 0)
    for (int64_t c = 0; c < own->lines; c++) store_first(all, &own->places[c], -all->problem->result_step);
  for (int64_t k = 0; k < own->runs; k++)
    for (int64_t c = 0; c < own->lines; c++) store_slot(all, own, k, c);
}

/* ---- units ---- */

static void begin_carry(const job *all, char *carry) {
  const ndr_scan_words *words = &all->config->words;
  for (int64_t c = 0; c < all->config->lines; c++)
    memcpy(carry + c * words->bytes, words->before, (size_t)words->bytes);
}

static void scan_unit(const job *all, int64_t unit, block *own) {
  _Alignas(16) char carry[NDR_SCAN_SLOTS * WORD_BYTES];
  begin_carry(all, carry);
  find_lines(all, unit, own);
  if (all->problem->length == 0)
    for (int64_t c = 0; c < own->lines; c++) store_first(all, &own->places[c], -all->problem->result_step);
  for (int64_t number = 0; number < all->config->tasks.blocks; number++) {
    scan_runs(all, number, own, carry);
    pass_runs(all, own, carry);
    store_runs(all, own);
  }
}

/* The block of another thread, run by run. */
typedef struct helper {
  const job *all;
  const block *own; /* of the same lines */
} helper;

static void help(void *context, int64_t number, const void *before, void *after) {
  const job *all = ((helper *)context)->all;
  const block *own = ((helper *)context)->own;
  const ndr_scan_words *words = &all->config->words;
  _Alignas(64) char run[NDR_SCAN_SLOT * WORD_BYTES];
  int64_t first = number * all->config->runs * NDR_SCAN_RUN, end = first + all->config->runs * NDR_SCAN_RUN, count;
  memcpy(after, before, (size_t)(own->lines * words->bytes));
  if (end > all->problem->length) end = all->problem->length;
  for (int64_t e = first; e < end; e += count) {
    count = end - e < NDR_SCAN_RUN ? end - e : NDR_SCAN_RUN;
    for (int64_t c = 0; c < own->lines; c++) {
      char *carry = (char *)after + c * words->bytes;
      load_run(all, &own->places[c], e, count, run);
      words->loops.runs(run, 1, count, run, 0);
      words->loops.merge(carry, run + (count - 1) * words->bytes, carry, 1);
    }
  }
}

/* In place elements may be gone before a helper reads them. */
static void scan_block(const job *all, int64_t unit, int64_t number, block *own) {
  _Alignas(16) char carry[NDR_SCAN_SLOTS * WORD_BYTES];
  ndr_scan_chain chain = ndr_scan_tasks_chain(&all->config->tasks, all->chains, unit);
  helper other = {all, own};
  find_lines(all, unit, own);
  scan_runs(all, number, own, NULL);
  memcpy(carry, ndr_scan_chain_take(&chain, number, all->apart ? help : NULL, &other, carry), (size_t)chain.bytes);
  pass_runs(all, own, carry);
  ndr_scan_chain_pass(&chain, number, carry);
  store_runs(all, own);
}

static void scan_tasks(void *context, int thread) {
  job *all = context;
  const lines_config *config = all->config;
  block own;
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
  const lines_config *config = config_of(plan);
  job all = {&plan->problem, config, data[0], result, workspace, data[0] != result, 0};
  for (int64_t unit = 0; config->tasks.chained && unit < config->tasks.units; unit++) {
    ndr_scan_chain chain = ndr_scan_tasks_chain(&config->tasks, all.chains, unit);
    ndr_scan_chain_begin(&chain, config->tasks.blocks);
    begin_carry(&all, (char *)chain.words);
  }
  ndr_scan_tasks_run(plan, scan_tasks, &all);
}

/* ---- planning ---- */

/* Lines that lie between each other. */
static int64_t interleaved(const ndr_scan_problem *problem) {
  const ndr_scan_axis *lines = &problem->kept[0], *scan = &problem->scan[0];
  int64_t apart = scan->stride < 0 ? -scan->stride : scan->stride;
  if (problem->kept_count == 0 || problem->scan_count == 0 || lines->size > NDR_SCAN_SLOTS) return 1;
  return lines->stride < apart && lines->stride * (int64_t)ndr_dtype_bytes(problem->dtype) < 64 ? lines->size : 1;
}

static void configure(ndr_scan_plan *plan) {
  const ndr_scan_problem *problem = &plan->problem;
  lines_config *config = (lines_config *)(void *)plan->config;
  int64_t runs = (problem->length + NDR_SCAN_RUN - 1) / NDR_SCAN_RUN, together = interleaved(problem);
  ndr_scan_words_make(problem, &config->words);
  /* Slots of the largest words would not fit in the first-level cache: a sum of 2^24 c64 takes 38 ms instead of 50. */
  int64_t slots = config->words.bytes > 8 && together <= NDR_SCAN_SLOTS / 2 ? NDR_SCAN_SLOTS / 2 : NDR_SCAN_SLOTS;
  config->runs = config->words.sequential || runs < 1 ? 1 : runs;
  if (config->runs > slots / together) config->runs = slots / together;
  config->lines = together > 1 ? together : slots / config->runs;
  config->tasks.units = (problem->lines + config->lines - 1) / config->lines;
  config->tasks.blocks = (runs + config->runs - 1) / config->runs;
  config->tasks.chain_bytes = config->lines * config->words.bytes;
  ndr_scan_tasks_end(&config->tasks, plan, config->lines,
                     !config->words.sequential && config->tasks.blocks > 1 && plan->threads > 1 &&
                         config->tasks.units < 4 * (int64_t)plan->threads);
  config->ahead = config->tasks.chained ? ndr_scan_threads(plan) : 1;
}

static const char *reject(const ndr_scan_problem *problem, const ndr_device *device, char *text) {
  (void)device;
  (void)text;
  return ndr_scan_words_reject(problem);
}

/* Measured on one core, in nanoseconds: an element that lies beside the next, or beside that of another line; one that
 * has a cache line to itself; and what a run takes beside its elements. */
static double cost(const ndr_scan_problem *problem, const ndr_device *device) {
  double length = (double)problem->length + 1, run = length < NDR_SCAN_RUN ? length : NDR_SCAN_RUN;
  int64_t bytes = problem->scan[0].stride * (int64_t)ndr_dtype_bytes(problem->dtype);
  bool near = problem->scan_count == 0 || (bytes < 64 && bytes > -64);
  double element = near ? 0.9 : interleaved(problem) > 1 ? 1.5 : 4;
  (void)device;
  return 1e-9 * (double)problem->lines * length * (element + 20 / run);
}

static size_t describe(const ndr_scan_plan *plan, char *text, size_t capacity) {
  const lines_config *config = config_of(plan);
  size_t length = 0;
  ndr_text_append(text, capacity, &length, "%lld lines at a time, %lld runs of %d each, %lld blocks%s",
                  (long long)config->lines, (long long)config->runs, NDR_SCAN_RUN, (long long)config->tasks.blocks,
                  config->tasks.chained ? " in a chain" : "");
  return length;
}

const ndr_cpu_scan_family ndr_cpu_scan_lines = {{"lines", reject, cost, configure, describe}, run};
