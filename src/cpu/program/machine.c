/* Sizes and makes the code of a problem's programs, and how the nest walks their arrays. machine_run.c runs it. */
#include "cpu/program/machine.h"

#include <string.h>

#include "cpu/cuts.h"

/* Elements of a block. What is computed stays in the first-level cache with what it is computed from: means with a mask
 * and weights of 378 MB take 26 ms, and 44 with 1,024 elements, of which a polynomial needs no more. Where nothing is
 * computed, a block is only read a second time, from the second-level cache, and each has totals to join: deviations
 * with a weight for each latitude, of 7.8 MB, 0.6 ms, and 3.1 with 1,024. Rows of outputs touch their states once a
 * block: there as many rows as a tile usually has. (A Zen 5.) */
#define COMPUTED_BLOCK 4096
#define LARGE_BLOCK 8192

bool ndr_machine_there(const ndr_canonical *problem) {
  for (int i = 0; i < problem->op_count; i++)
    if (problem->programs[i]) return true;
  return false;
}

static int64_t rounded(int64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

static int64_t code_bytes(int values) {
  return rounded((int64_t)sizeof(ndr_code) + values * (int64_t)sizeof(ndr_value));
}

/* The largest code, with room for all its values. */
typedef union code_room {
  ndr_code code;
  _Alignas(64) char bytes[sizeof(ndr_code) + NDR_MOST_VALUES * sizeof(ndr_value)];
} code_room;

static void make_code(const ndr_canonical *problem, const ndr_isa *isa, int i, ndr_code *code) {
  ndr_state state = ndr_canonical_state(problem, i);
  ndr_code_make(code, isa, &state, problem->dtype, problem->accumulate_f64);
}

const char *ndr_machine_reject(const ndr_canonical *problem) {
  code_room room;
  for (int i = 0; i < problem->op_count; i++) {
    if (!problem->programs[i]) continue;
    make_code(problem, ndr_isa_here(), i, &room.code);
    if (room.code.overflows) return "an expression has no loop";
  }
  return NULL;
}

static int64_t array_bytes(const ndr_canonical *problem, int array) {
  return (int64_t)ndr_dtype_bytes(array ? problem->operand_dtypes[array - 1] : problem->dtype);
}

/* ---- how the nest walks ---- */

static int64_t step_of(const ndr_canonical *problem, const ndr_axis *axis, int walked) {
  if (walked == 0) return axis->stride;
  if (walked <= problem->operand_count) return axis->operand[walked - 1];
  return axis->place[walked - 1 - problem->operand_count];
}

static void walk_along(const ndr_canonical *problem, const ndr_nest *nest, int walked, ndr_walked *walk) {
  const ndr_axis *output = nest->output_axis < 0 ? NULL : &problem->kept[nest->output_axis];
  const ndr_axis *lanes =
      nest->form == NDR_NEST_ROWS ? &problem->kept[nest->output_axis] : &problem->reduced[nest->lanes_along];
  walk->lane = step_of(problem, lanes, walked);
  walk->period = output && nest->form != NDR_NEST_ROWS ? step_of(problem, output, walked) : 0;
  if (nest->form == NDR_NEST_RUN)
    walk->row = walk->lane * (nest->lanes / nest->period);
  else
    walk->row = nest->rows_along < 0 ? 0 : step_of(problem, &problem->reduced[nest->rows_along], walked);
  for (int k = 0; k < nest->kept_count; k++)
    walk->kept[k] = step_of(problem, &problem->kept[nest->kept[k].axis], walked) * nest->kept[k].share;
  for (int r = 0; r < nest->reduced_count; r++)
    walk->reduced[r] = step_of(problem, &problem->reduced[nest->reduced[r].axis], walked) * nest->reduced[r].share;
}

static void walk_all(const ndr_canonical *problem, const ndr_nest *nest, const void *const *data,
                     struct ndr_machine *machine) {
  machine->array_count = 1 + problem->operand_count;
  machine->walked_count = machine->array_count + problem->place_count;
  for (int w = 0; w < machine->walked_count; w++) {
    ndr_walked *walk = &machine->walked[w];
    walk_along(problem, nest, w, walk);
    walk->data = NULL;
    walk->bytes = walk->origin = 0;
    if (w >= machine->array_count) {
      walk->origin = problem->place_origin[w - machine->array_count];
      continue;
    }
    int64_t origin = w ? problem->operand_origin[w - 1] : problem->origin;
    walk->bytes = array_bytes(problem, w);
    walk->data = (const char *)data[w] + origin * walk->bytes;
  }
}

/* ---- codes and their memory ---- */

/* Whether a code's blocks have to stay in a cache, because they are computed, gathered or read twice. */
static bool stays_in_cache(const ndr_canonical *problem, const ndr_nest *nest, const ndr_code *code) {
  bool in_cache = code->runs_strips || code->rereads;
  for (int a = 0; a <= problem->operand_count; a++) {
    ndr_walked walk;
    int64_t step;
    if (!(code->arrays >> a & 1)) continue;
    walk_along(problem, nest, a, &walk);
    bool single = ndr_walked_lane_step(&walk, nest->form, nest->period, nest->lanes, &step);
    if (ndr_walked_is_row_factor(code, a, single, step)) continue;
    if (!single || !ndr_walked_is_direct(&walk, step, nest->lanes, nest->gather_rows)) in_cache = true;
  }
  return in_cache;
}

static bool is_constant(const ndr_code *code, int value) {
  return value < 0 || code->values[value].constant;
}

/* Whether each fold of a code is of arrays, by a kernel that can read them row by row, or of constants alone; and one
 * is of arrays. */
static bool folds_in_order(const ndr_code *code) {
  bool arrays = false;
  for (int f = 0; f < code->fold_count; f++) {
    const ndr_code_fold *fold = &code->folds[f];
    const bool constant = is_constant(code, fold->value);
    if (constant ? !is_constant(code, fold->factors) : !fold->in_order) return false;
    arrays = arrays || !constant;
  }
  return arrays;
}

/* From so many bytes on, tiles are read in the order of memory: fewer may be in a cache. */
#define FAR_BYTES (16 << 20)
/* Tiles of fewer rows are no faster so: two rows take a fifth longer, sixteen an eighth less. */
#define FEW_ROWS 8

bool ndr_machine_reads_in_order(const ndr_canonical *problem, const ndr_nest *nest) {
  code_room room;
  const ndr_program *program = problem->programs[0];
  if (problem->op_count > 1 || !program) return false; /* several would read memory as many times */
  if (nest->form != NDR_NEST_ROWS || nest->lane_stride != 1 || nest->rows_scattered) return false;
  if (ndr_plan_bytes_read(problem) < FAR_BYTES || nest->gather_rows < FEW_ROWS) return false;
  for (int p = 0; p < program->part_count; p++)
    if (ndr_program_part_is_plain(program, p, problem->dtype)) return false;
  make_code(problem, ndr_isa_here(), 0, &room.code);
  return !stays_in_cache(problem, nest, &room.code) && folds_in_order(&room.code);
}

/* The most rows of a block of a code: those that stay in a cache, if anything has to. They must not depend on a call's
 * other operators, as they decide which elements are added up first. */
static int64_t rows_of_block(const ndr_canonical *problem, const ndr_nest *nest, const ndr_code *code) {
  if (!stays_in_cache(problem, nest, code)) return nest->gather_rows;
  int64_t rows = (nest->form == NDR_NEST_ROWS || !code->runs_strips ? LARGE_BLOCK : COMPUTED_BLOCK) / nest->lanes;
  return rows < 1 ? 1 : rows < nest->gather_rows ? rows : nest->gather_rows;
}

/* Makes and places the code of operator i, number `code_count` of the machine, and widens the buffers of the arrays
 * that it reads. */
static void add_code(const ndr_canonical *problem, const ndr_nest *nest, const ndr_isa *isa, int i,
                     struct ndr_machine *machine, ndr_code *code) {
  make_code(problem, isa, i, code);
  int64_t rows = rows_of_block(problem, nest, code), elements = rows * nest->lanes;
  ndr_code_place(code, elements, ndr_most(nest->lanes, NDR_MOST_RUN_LANES));
  machine->rows[machine->code_count++] = rows;
  for (int a = 0; a <= problem->operand_count; a++) {
    int64_t bytes = (code->arrays >> a & 1) ? rounded(elements * array_bytes(problem, a)) : 0;
    if (machine->buffer_bytes[a] < bytes) machine->buffer_bytes[a] = bytes;
  }
}

void ndr_machine_size(const ndr_canonical *problem, ndr_nest *nest) {
  struct ndr_machine machine = {.code_count = 0};
  code_room room;
  nest->shared_bytes = rounded((int64_t)sizeof machine);
  nest->program_bytes = 0;
  for (int i = 0; i < problem->op_count; i++) {
    if (!problem->programs[i]) continue;
    add_code(problem, nest, ndr_isa_here(), i, &machine, &room.code);
    nest->shared_bytes += code_bytes(room.code.value_count);
    nest->program_bytes += rounded(room.code.register_bytes) + rounded(room.code.tile_bytes);
  }
  for (int a = 0; a <= problem->operand_count; a++) nest->program_bytes += machine.buffer_bytes[a];
}

struct ndr_machine *ndr_machine_make(const ndr_canonical *problem, const ndr_nest *nest, const ndr_isa *isa,
                                     const void *const *data, char *memory) {
  struct ndr_machine *machine = (struct ndr_machine *)(void *)memory;
  code_room room;
  int64_t words = 0;
  memset(machine, 0, sizeof *machine);
  memory += rounded((int64_t)sizeof *machine);
  for (int i = 0; i < problem->op_count; i++) {
    ndr_state state = ndr_canonical_state(problem, i);
    if (problem->programs[i]) {
      int c = machine->code_count;
      add_code(problem, nest, isa, i, machine, &room.code);
      int64_t bytes = code_bytes(room.code.value_count);
      memcpy(memory, &room, (size_t)bytes < sizeof room ? (size_t)bytes : sizeof room);
      machine->block[c] = words * nest->pitch;
      machine->codes[c] = (ndr_code *)(void *)memory;
      memory += bytes;
    }
    words += ndr_state_size(&state);
  }
  walk_all(problem, nest, data, machine);
  return machine;
}

void ndr_machine_find(const struct ndr_machine *machine, const ndr_cursor *kept, const ndr_cursor *reduced,
                      int64_t *at) {
  for (int w = 0; w < machine->walked_count; w++) {
    const ndr_walked *walk = &machine->walked[w];
    at[w] = walk->origin;
    for (int k = 0; k < kept->count; k++) at[w] += kept->at[k] * walk->kept[k];
    for (int r = 0; r < reduced->count; r++) at[w] += reduced->at[r] * walk->reduced[r];
  }
}
