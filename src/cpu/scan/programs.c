/* Family programs: operators of one's own. The values of a run's elements are computed by the code of the program
 * (cpu/program/code.h), each part is scanned from what stands before the run, element after element, and the results of
 * all places are computed from the running states. Lines are shared out to threads. */
#include <stdatomic.h>
#include <string.h>

#include "cpu/pool.h"
#include "cpu/program/code.h"
#include "cpu/scan/scans.h"
#include "cpu/scan/states.h"
#include "cpu/scan/words.h"

#define RUN NDR_SCAN_RUN
#define WORD_BYTES 16
#define NANOSECONDS 10 /* of an element, roughly */
/* States of a run lie word by word, behind one that stands before the run. */
#define PITCH (RUN + LEAD)
#define LEAD 8

/* How a part is scanned. */
typedef struct part_loops {
  int value, mask;             /* values of the code; mask is -1 where all places count */
  ndr_dtype dtype;             /* of the value */
  ndr_scan_load *load, *truth; /* truth: not NULL for any and all, whose elements it makes u8 */
  ndr_scan_clean *clean;       /* NULL: NaN are not left out */
  ndr_scan_loops loops;
  int64_t bytes; /* of a word */
  int before;    /* words of the state before those of the part */
  _Alignas(16) uint64_t nothing[2];
} part_loops;

/* What all threads share. */
typedef struct shared {
  ndr_state state;
  int words; /* of a state */
  part_loops parts[NDR_MOST_PARTS];
  const ndr_code *code; /* behind this struct */
} shared;

typedef union code_room {
  ndr_code code;
  char bytes[sizeof(ndr_code) + NDR_MOST_VALUES * sizeof(ndr_value)];
} code_room;

typedef struct programs_config {
  int64_t common, each; /* bytes of workspace: of all threads, and of one */
  int threads;
} programs_config;

typedef struct job {
  const ndr_scan_problem *problem;
  const ndr_isa *isa;
  const shared *common;
  const char *data[NDR_MOST_ARRAYS];
  char *result, *memory;
  int64_t each;
  _Atomic int64_t next;
} job;

/* A thread's memory. */
typedef struct room {
  ndr_code_memory code;
  char *arrays[NDR_MOST_ARRAYS], *words, *truth;
  uint64_t *states;
} room;

/* ---- making ---- */

static int64_t rounded(int64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

/* The dtype of the words that a part is scanned in: those of its state. */
static ndr_dtype word_of(ndr_op op, ndr_dtype dtype) {
  if (op == NDR_ANY || op == NDR_ALL) return NDR_U64;
  if (!ndr_dtype_is_integer(dtype)) return ndr_dtype_widest(dtype);
  return (op == NDR_MIN || op == NDR_MAX) && ndr_dtype_is_signed(dtype) ? NDR_I64 : NDR_U64;
}

static ndr_scan_rule rule_of(ndr_op op, bool number) {
  switch (op) {
  case NDR_SUM: return NDR_SCAN_SUM;
  case NDR_PROD: return NDR_SCAN_PROD;
  case NDR_MIN: return number ? NDR_SCAN_MIN_NUMBER : NDR_SCAN_MIN;
  case NDR_ALL: return NDR_SCAN_MIN;
  case NDR_MAX: return number ? NDR_SCAN_MAX_NUMBER : NDR_SCAN_MAX;
  default: return NDR_SCAN_MAX; /* any */
  }
}

static void make_part(const ndr_scan_isa *isa, const ndr_state *state, const ndr_part *part, int p, part_loops *made) {
  ndr_state own = ndr_state_part(state, p, &made->before);
  ndr_dtype word = word_of(part->op, own.dtype), dtype = made->dtype;
  bool truth = part->op == NDR_ANY || part->op == NDR_ALL, number = part->skip_nan && word == NDR_F64;
  made->truth =
      truth ? isa->truth[part->skip_nan && part->op == NDR_ANY ? NDR_SCAN_NAN_FALSE : NDR_SCAN_NAN_TRUE][dtype] : NULL;
  made->load = isa->load[truth ? NDR_U8 : dtype][word == NDR_I64 ? NDR_U64 : word];
  made->clean = part->skip_nan && (part->op == NDR_SUM || part->op == NDR_PROD) ? isa->clean[word] : NULL;
  made->loops = isa->loops[word][rule_of(part->op, number)];
  made->bytes = (int64_t)ndr_dtype_bytes(word);
  uint64_t identity[NDR_MAX_WORDS] = {0};
  ndr_state_identity(&own, identity, 1, 1);
  memcpy(made->nothing, identity, sizeof made->nothing);
}

/* Makes the code of the parts' values and masks. */
static void make_code(const ndr_scan_problem *problem, const ndr_isa *isa, ndr_code *code, part_loops *parts) {
  const ndr_program *program = problem->program;
  bool wanted[NDR_MOST_NODES] = {false};
  int values[NDR_MOST_NODES];
  memset(code, 0, sizeof *code);
  code->strip = RUN;
  for (int p = 0; p < program->part_count; p++) {
    wanted[program->parts[p].value] = true;
    if (program->parts[p].mask >= 0) wanted[program->parts[p].mask] = true;
  }
  ndr_code_nodes(code, isa, program, wanted, values);
  if (code->overflows) return;
  for (int p = 0; p < program->part_count; p++) {
    const ndr_part *part = &program->parts[p];
    part_loops *made = &parts[p];
    made->value = values[part->value];
    made->mask = part->mask < 0 ? -1 : values[part->mask];
    made->dtype = (ndr_dtype)code->values[made->value].dtype;
    code->folds[code->fold_count++] = (ndr_code_fold){.value = made->value, .factors = made->mask};
  }
  ndr_code_mark(code);
  ndr_code_place(code, RUN, RUN);
}

static int64_t code_bytes(const ndr_code *code) {
  return (int64_t)sizeof(ndr_code) + code->value_count * (int64_t)sizeof(ndr_value);
}

static room room_of(const shared *common, char *memory) {
  room made = {.code = {.registers = memory, .tiles = memory + rounded(common->code->register_bytes)}};
  memory = made.code.tiles + rounded(common->code->tile_bytes);
  for (int a = 0; a < NDR_MOST_ARRAYS; a++) made.arrays[a] = memory + a * RUN * WORD_BYTES;
  made.words = memory + NDR_MOST_ARRAYS * RUN * WORD_BYTES;
  made.truth = made.words + RUN * WORD_BYTES;
  made.states = (uint64_t *)(void *)(made.truth + RUN);
  return made;
}

static int64_t room_bytes(const ndr_code *code, int words) {
  return rounded(code->register_bytes) + rounded(code->tile_bytes) + (NDR_MOST_ARRAYS + 1) * RUN * WORD_BYTES + RUN +
         rounded((int64_t)words * PITCH * 8 + LEAD * 8);
}

static void make_shared(const ndr_scan_problem *problem, const ndr_isa *isa, shared *common) {
  code_room all;
  common->state = ndr_scan_state(problem);
  common->words = ndr_state_size(&common->state);
  make_code(problem, isa, &all.code, common->parts);
  char *code = (char *)common + rounded((int64_t)sizeof *common);
  memcpy(code, &all, (size_t)code_bytes(&all.code));
  common->code = (const ndr_code *)(const void *)code;
  for (int p = 0; p < problem->program->part_count; p++)
    make_part(ndr_scan_isa_here(), &common->state, &problem->program->parts[p], p, &common->parts[p]);
}

/* ---- the elements of a run ---- */

static int log2_of(int64_t bytes) {
  return __builtin_ctzll((uint64_t)bytes);
}

static int64_t array_bytes(const ndr_scan_problem *problem, int a) {
  return (int64_t)ndr_dtype_bytes(a ? problem->operand_dtypes[a - 1] : problem->dtype);
}

static int64_t array_step(const ndr_scan_axis *axis, int a) {
  return a ? axis->operand[a - 1] : axis->stride;
}

static int64_t array_at(const ndr_scan_place *place, int a) {
  return a ? place->operand[a - 1] : place->at;
}

/* Where element e of a line is, and how many follow it along the innermost axis. */
static int64_t find_element(const ndr_scan_problem *problem, const ndr_scan_place *line, int64_t e,
                            ndr_scan_place *place) {
  int64_t left = problem->scan_count ? problem->scan[0].size - e % problem->scan[0].size : 1;
  *place = *line;
  for (int a = 0; a < problem->scan_count; a++) {
    ndr_scan_step(problem, &problem->scan[a], a == problem->scan_count - 1 ? e : e % problem->scan[a].size, place);
    e /= problem->scan[a].size;
  }
  return left;
}

static void fill_indices(const job *all, const room *own, const ndr_strip *strip, const ndr_scan_place *place,
                         int64_t from, int64_t count) {
  const ndr_code *code = all->common->code;
  for (int i = 0; i < code->value_count; i++) {
    const ndr_value *value = &code->values[i];
    if (!value->used || value->kind != NDR_VALUE_INDEX) continue;
    int64_t *to = (int64_t *)(void *)ndr_code_where(value, &own->code, strip) + from;
    for (int64_t l = 0; l < count; l++)
      to[l] = place->place[value->number] + l * all->problem->scan[0].place[value->number];
  }
}

/* Arrays whose elements follow each other are read where they lie. */
static void take_elements(const job *all, const room *own, const ndr_scan_place *line, int64_t e, ndr_strip *strip) {
  const ndr_scan_problem *problem = all->problem;
  for (int a = 0; a <= problem->operand_count; a++) strip->elements[a] = own->arrays[a];
  for (int64_t done = 0, some; done < strip->count; done += some) {
    ndr_scan_place place;
    some = find_element(problem, line, e + done, &place);
    if (some > strip->count - done) some = strip->count - done;
    for (int a = 0; a <= problem->operand_count; a++) {
      int64_t bytes = array_bytes(problem, a), step = array_step(&problem->scan[0], a);
      const char *from = all->data[a] + array_at(&place, a) * bytes;
      if (!(all->common->code->arrays >> a & 1)) continue;
      if (step == 1 && some == strip->count)
        strip->elements[a] = from;
      else
        all->isa->gather[log2_of(bytes)](from, 0, step, own->arrays[a] + done * bytes, 1, some, 0);
    }
    if (problem->place_count) fill_indices(all, own, strip, &place, done, some);
  }
}

/* ---- parts ---- */

static void mask_words(const part_loops *part, const uint8_t *mask, char *words, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (!mask[i]) memcpy(words + i * part->bytes, part->nothing, (size_t)part->bytes);
}

static void put_states(const part_loops *part, const char *words, int64_t count, uint64_t *states) {
  uint64_t *to = states + part->before * PITCH;
  if (part->bytes == 8) {
    memcpy(to, words, (size_t)count * 8);
    return;
  }
  for (int64_t i = 0; i < count; i++) {
    memcpy(&to[i], words + i * 16, 8);
    memcpy(&to[PITCH + i], words + i * 16 + 8, 8);
  }
}

/* Scans a part over a run; the state in front of the run's is what stands before it. */
static void scan_part(const job *all, const room *own, int p, const ndr_strip *strip, uint64_t *states) {
  const part_loops *part = &all->common->parts[p];
  const ndr_code *code = all->common->code;
  const char *values = ndr_code_where(&code->values[part->value], &own->code, strip);
  _Alignas(16) uint64_t before[2] = {states[part->before * PITCH - 1], 0};
  if (part->bytes == 16) before[1] = states[(part->before + 1) * PITCH - 1];
  if (part->truth) {
    part->truth(values, 1, own->truth, strip->count);
    values = own->truth;
  }
  part->load(values, 1, own->words, strip->count);
  if (part->clean) part->clean(own->words, part->nothing, strip->count);
  if (part->mask >= 0)
    mask_words(part, (const uint8_t *)ndr_code_where(&code->values[part->mask], &own->code, strip), own->words,
               strip->count);
  part->loops.scan(own->words, strip->count, 1, before, NULL, false);
  put_states(part, own->words, strip->count, states);
}

/* ---- lines ---- */

static void store(const job *all, const ndr_scan_place *line, int64_t e, const uint64_t *states, int64_t count) {
  const ndr_scan_problem *problem = all->problem;
  int64_t bytes = (int64_t)ndr_dtype_bytes(problem->result_dtype);
  for (int64_t done = 0, some; done < count; done += some) {
    ndr_scan_place place;
    some = find_element(problem, line, e + done, &place);
    if (some > count - done) some = count - done;
    ndr_finish(all->isa, &all->common->state, states + done, PITCH, 1, some, all->result + place.result * bytes,
               problem->scan[0].result);
  }
}

static void scan_line(const job *all, const room *own, int64_t number) {
  const ndr_scan_problem *problem = all->problem;
  int64_t bytes = (int64_t)ndr_dtype_bytes(problem->result_dtype);
  uint64_t *states = own->states + LEAD;
  ndr_scan_place line;
  ndr_strip strip = {.at = 0};
  ndr_scan_line(problem, number, &line);
  ndr_state_identity(&all->common->state, states - 1, PITCH, 1);
  if (problem->longer)
    ndr_finish(all->isa, &all->common->state, states - 1, PITCH, 1, 1,
               all->result + (line.result - problem->result_step) * bytes, 1);
  for (int64_t e = 0; e < problem->length; e += strip.count) {
    strip.count = problem->length - e < RUN ? problem->length - e : RUN;
    take_elements(all, own, &line, e, &strip);
    ndr_code_run(all->isa, all->common->code, &own->code, &strip);
    for (int p = 0; p < problem->program->part_count; p++) scan_part(all, own, p, &strip, states);
    store(all, &line, e, problem->exclusive ? states - 1 : states, strip.count);
    for (int w = 0; w < all->common->words; w++) states[w * PITCH - 1] = states[w * PITCH + strip.count - 1];
  }
}

static void scan_lines(void *context, int thread) {
  job *all = context;
  room own = room_of(all->common, all->memory + thread * all->each);
  ndr_code_begin(all->isa, all->common->code, &own.code);
  for (int64_t line; (line = atomic_fetch_add(&all->next, 1)) < all->problem->lines;) scan_line(all, &own, line);
}

static void run(const ndr_scan_plan *plan, const void *const *data, void *result, void *workspace) {
  const programs_config *config = (const programs_config *)(const void *)plan->config;
  shared *common = workspace;
  job all = {
      .problem = &plan->problem, .isa = ndr_isa_here(), .common = common, .result = result, .each = config->each};
  double elements = (double)plan->problem.lines * (double)(plan->problem.length + 1);
  for (int a = 0; a <= plan->problem.operand_count; a++) all.data[a] = data[a];
  all.memory = (char *)workspace + config->common;
  make_shared(&plan->problem, all.isa, common);
  ndr_pool_run(config->threads, elements < 1e15 ? (int64_t)elements * NANOSECONDS : INT64_MAX, scan_lines, &all);
}

/* ---- planning ---- */

static const char *reject(const ndr_scan_problem *problem, const ndr_device *device, char *text) {
  code_room all;
  part_loops parts[NDR_MOST_PARTS];
  (void)device;
  (void)text;
  if (!ndr_op_is_own(problem->op)) return "built-in operators have loops of their own";
  make_code(problem, ndr_isa_here(), &all.code, parts);
  return all.code.overflows ? "an expression has no loop" : NULL;
}

static double cost(const ndr_scan_problem *problem, const ndr_device *device) {
  (void)device;
  return 1e-9 * (double)problem->lines * (NANOSECONDS * ((double)problem->length + 1) + 2000);
}

static void configure(ndr_scan_plan *plan) {
  programs_config *config = (programs_config *)(void *)plan->config;
  ndr_state state = ndr_scan_state(&plan->problem);
  part_loops parts[NDR_MOST_PARTS];
  code_room all;
  int threads = ndr_scan_threads(plan);
  make_code(&plan->problem, ndr_isa_here(), &all.code, parts);
  config->common = rounded((int64_t)sizeof(shared)) + rounded(code_bytes(&all.code));
  config->each = room_bytes(&all.code, ndr_state_size(&state));
  config->threads = plan->problem.lines < threads ? (int)plan->problem.lines : threads;
  plan->workspace = (size_t)(config->common + config->threads * config->each);
}

static size_t describe(const ndr_scan_plan *plan, char *text, size_t capacity) {
  size_t length = 0;
  (void)plan;
  ndr_text_append(text, capacity, &length, "runs of %d elements, one after the other", RUN);
  return length;
}

const ndr_cpu_scan_family ndr_cpu_scan_programs = {{"programs", reject, cost, configure, describe}, run};
