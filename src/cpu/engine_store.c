/* Finishes states and writes the results, or writes the states. */
#include <string.h>

#include "cpu/cuts.h"
#include "cpu/program/machine.h"

/* `count` states of one op, and where their results go. */
typedef struct cell {
  const uint64_t *states;
  int64_t from;   /* words from one state to the next */
  int64_t result; /* the first result's element */
  int64_t to;     /* elements from one result to the next */
  int64_t count;
} cell;

void ndr_engine_join(const ndr_engine *engine, const ndr_engine_op *output, uint64_t *into, int64_t into_pitch,
                     const uint64_t *from, int64_t from_pitch, int64_t count) {
  if (!output->state.program) {
    output->join(into, into_pitch, from, from_pitch, count);
    return;
  }
  for (int p = 0; p < output->state.program->part_count; p++) {
    int before;
    ndr_state part = ndr_state_part(&output->state, p, &before);
    engine->isa->join (&part)(into + before * into_pitch, into_pitch, from + before * from_pitch, from_pitch, count);
  }
}

/* Merges the states into those that are there. */
static void merge_cell(const ndr_engine *engine, const ndr_engine_op *op, const cell *given) {
  int64_t from_pitch = engine->nest->pitch, to_pitch = engine->problem->outputs;
  uint64_t *to = (uint64_t *)engine->results[op->number] + given->result;
  if (given->from == 1 && given->to == 1)
    ndr_engine_join(engine, op, to, to_pitch, given->states, from_pitch, given->count);
  else
    ndr_state_merge(&op->state, to, to_pitch, given->to, given->states, from_pitch, given->from, given->count);
}

static void store_cell(const ndr_engine *engine, const ndr_engine_op *op, const cell *given) {
  if (!engine->problem->partial) {
    int64_t bytes = (int64_t)ndr_dtype_bytes(ndr_state_result(&op->state));
    ndr_finish(engine->isa, &op->state, given->states, engine->nest->pitch, given->from, given->count,
               (char *)engine->results[op->number] + given->result * bytes, given->to);
    return;
  }
  if (engine->problem->merges) {
    merge_cell(engine, op, given);
    return;
  }
  for (int w = 0; w < op->words; w++) {
    const uint64_t *from = given->states + w * engine->nest->pitch;
    uint64_t *to = (uint64_t *)engine->results[op->number] + w * engine->problem->outputs + given->result;
    if (given->from == 1 && given->to == 1)
      memcpy(to, from, (size_t)given->count * sizeof *to);
    else
      for (int64_t j = 0; j < given->count; j++) to[j * given->to] = from[j * given->from];
  }
}

static int64_t step_of(const ndr_engine *engine, int axis, const ndr_engine_op *op) {
  const ndr_nest_axis *outer = &engine->nest->kept[axis];
  return engine->problem->kept[outer->axis].result[op->number] * outer->share;
}

static int64_t place_of(const ndr_engine *engine, const ndr_cursor *kept, const ndr_engine_op *op) {
  int64_t place = engine->problem->result_origin[op->number];
  for (int k = 0; k < kept->count; k++) place += kept->at[k] * step_of(engine, k, op);
  return place;
}

/* Stores the outputs of a tile with layers, which `first` has the first one of. Those of all layers are finished at
 * once where the lanes' results lie one after the other. */
static void store_layers(const ndr_engine *engine, const ndr_engine_op *op, const cell *first, int64_t layers) {
  _Alignas(64) char finished[NDR_LANES * sizeof(ndr_c128)];
  const int64_t apart = engine->problem->kept[0].result[op->number], count = first->count;
  const int64_t bytes = (int64_t)ndr_dtype_bytes(ndr_state_result(&op->state));
  char *to = (char *)engine->results[op->number] + first->result * bytes;
  if (first->to != 1 || engine->problem->partial) {
    for (cell layer = *first; layers > 0; layers--, layer.states += count, layer.result += apart)
      store_cell(engine, op, &layer);
    return;
  }
  ndr_finish(engine->isa, &op->state, first->states, engine->nest->pitch, 1, layers * count, finished, 1);
  for (int64_t l = 0; l < layers; l++)
    memcpy(to + l * apart * bytes, finished + l * count * bytes, (size_t)(count * bytes));
}

/* Stores the outputs of one tile, which lie along an axis. */
static void store_rows(const ndr_engine *engine, const uint64_t *block, const ndr_cursor *kept, int64_t position) {
  const ndr_nest *nest = engine->nest;
  for (int i = 0; i < engine->problem->op_count; i++) {
    const ndr_engine_op *op = &engine->outputs[i];
    cell outputs = {.states = block + op->block + position * nest->period,
                    .from = nest->gap,
                    .result = place_of(engine, kept, op),
                    .to = engine->problem->kept[nest->output_axis].result[op->number],
                    .count =
                        nest->form == NDR_NEST_ROWS ? ndr_cuts(ndr_lanes_at(nest, kept), nest->gap) : nest->period};
    if (nest->layers == 1)
      store_cell(engine, op, &outputs);
    else
      store_layers(engine, op, &outputs, ndr_layers_at(nest, kept));
  }
}

/* Copies results that lie one after the other to places `step` apart; complex ones may lie on half their size. */
static void copy_line(const char *from, int64_t count, int64_t bytes, char *to, int64_t step) {
  if (step == 1)
    memcpy(to, from, (size_t)(count * bytes));
  else
    for (int64_t p = 0; p < count; p++) memcpy(to + p * step * bytes, from + p * bytes, (size_t)bytes);
}

/* Stores the outputs of `count` tiles along the innermost axis, along which they lie closer together than in a tile. */
static void store_turned(const ndr_engine *engine, const uint64_t *block, const ndr_cursor *kept, int64_t position,
                         int64_t count) {
  enum { LANES = 32, POSITIONS = 64 };
  const ndr_nest *nest = engine->nest;
  _Alignas(64) char finished[LANES * POSITIONS * sizeof(ndr_c128)], lines[sizeof finished];
  int64_t lanes = ndr_lanes_at(nest, kept);
  for (int i = 0; i < engine->problem->op_count; i++) {
    const ndr_engine_op *op = &engine->outputs[i];
    int64_t apart = engine->problem->kept[nest->output_axis].result[op->number], step = step_of(engine, 0, op);
    int64_t bytes = (int64_t)ndr_dtype_bytes(ndr_state_result(&op->state));
    const uint64_t *states = block + op->block + position * nest->period;
    char *to = (char *)engine->results[op->number] + place_of(engine, kept, op) * bytes;
    for (int64_t p = 0; p < count; p += POSITIONS) {
      int64_t positions = count - p < POSITIONS ? count - p : POSITIONS;
      for (int64_t l = 0; l < lanes; l += LANES) {
        int64_t some = lanes - l < LANES ? lanes - l : LANES;
        for (int64_t q = 0; q < positions; q++)
          ndr_finish(engine->isa, &op->state, states + (p + q) * nest->period + l, nest->pitch, 1, some,
                     finished + q * LANES * bytes, 1);
        engine->isa->gather[log2_of(bytes)](finished, 1, LANES, lines, some, positions, 0);
        for (int64_t q = 0; q < some; q++)
          copy_line(lines + q * positions * bytes, positions, bytes, to + ((l + q) * apart + p * step) * bytes, step);
      }
    }
  }
}

/* Stores tiles of few outputs: one output of each of `count` positions along the innermost axis at a time. */
static void store_across(const ndr_engine *engine, const uint64_t *block, const ndr_cursor *kept, int64_t position,
                         int64_t count) {
  const ndr_nest *nest = engine->nest;
  for (int i = 0; i < engine->problem->op_count; i++) {
    const ndr_engine_op *op = &engine->outputs[i];
    int64_t apart = nest->output_axis < 0 ? 0 : engine->problem->kept[nest->output_axis].result[op->number];
    for (int64_t q = 0; q < nest->period; q++) {
      cell outputs = {.states = block + op->block + position * nest->period + q,
                      .from = nest->period,
                      .result = place_of(engine, kept, op) + q * apart,
                      .to = nest->kept_count ? step_of(engine, 0, op) : 0,
                      .count = count};
      store_cell(engine, op, &outputs);
    }
  }
}

/* Whether a tile of a grid or a run has more outputs than there are positions along the innermost axis: then results
 * are stored tile by tile. */
static bool has_long_period(const ndr_nest *nest) {
  return nest->form != NDR_NEST_ROWS && nest->period > (nest->kept_count ? nest->kept[0].size : 1);
}

void ndr_engine_store(const ndr_engine *engine, const uint64_t *block, int64_t first, int64_t count) {
  const ndr_nest *nest = engine->nest;
  ndr_cursor kept;
  for (int64_t done = 0, some; done < count; done += some) {
    ndr_cursor_seek(&kept, nest->kept, nest->kept_count, first + done);
    some = 1;
    bool turned = nest->turned && !engine->problem->partial;
    if ((nest->form == NDR_NEST_ROWS && !turned) || has_long_period(nest)) {
      store_rows(engine, block, &kept, done);
      continue;
    }
    if (nest->kept_count) some = nest->kept[0].size - kept.at[0];
    if (some > count - done) some = count - done;
    (turned ? store_turned : store_across)(engine, block, &kept, done, some);
  }
}
