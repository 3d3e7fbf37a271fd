/* Finishes the states of a position and writes the results, or writes the states. */
#include <stdlib.h>
#include <string.h>

#include "cpu/labels.h"
#include "cpu/program/code.h"

/* The first result of an op at a position. */
static int64_t place_of(const ndr_labels_run *run, const ndr_cursor *kept, int number) {
  int64_t place = run->problem->result_origin[number];
  for (int k = 0; k < kept->count; k++) {
    const ndr_nest_axis *axis = &kept->axes[k];
    place += kept->at[k] * run->problem->kept[axis->axis].result[number] * axis->share;
  }
  return place;
}

/* The states of a group lie one after the other, and so do those of a lane `lanes` apart. */
typedef struct block_of_results {
  int64_t lanes, place, lane_step, group_step;
} block_of_results;

static void store_states(const ndr_labels_run *run, const ndr_engine_op *op, const uint64_t *states,
                         const block_of_results *to) {
  const ndr_labels *nest = run->nest;
  for (int w = 0; w < op->words; w++) {
    uint64_t *word = (uint64_t *)run->results[op->number] + w * run->problem->outputs + to->place;
    for (int64_t l = 0; l < to->lanes; l++)
      for (int64_t g = 0; g < nest->groups; g++)
        word[l * to->lane_step + g * to->group_step] = states[w * nest->pitch + g * nest->lanes + l];
  }
}

/* Finishes along the groups, where their results lie one after the other. The states of a few groups at a time are
 * transposed before. */
static void store_groups(const ndr_labels_run *run, const ndr_engine_op *op, const uint64_t *states,
                         const block_of_results *to, char *results, int64_t bytes) {
  enum { MOST_STATES = 512 };
  const ndr_labels *nest = run->nest;
  _Alignas(64) uint64_t turned[NDR_MAX_WORDS * MOST_STATES];
  const int64_t most = MOST_STATES / nest->lanes;
  for (int64_t g = 0, groups; g < nest->groups; g += groups) {
    groups = nest->groups - g < most ? nest->groups - g : most;
    for (int w = 0; w < op->words; w++)
      run->isa->gather[3](states + w * nest->pitch + g * nest->lanes, 1, nest->lanes, turned + w * MOST_STATES,
                          to->lanes, groups, 0);
    const bool dense = to->lane_step == groups;
    for (int64_t l = 0; l < to->lanes; l += dense ? to->lanes : 1)
      ndr_finish(run->isa, &op->state, turned + l * groups, MOST_STATES, 1, dense ? to->lanes * groups : groups,
                 results + (l * to->lane_step + g) * bytes, 1);
  }
}

/* Finishes along the lanes, or along the groups where their results lie closer together. */
static void store_results(const ndr_labels_run *run, const ndr_engine_op *op, const uint64_t *states,
                          const block_of_results *to) {
  const ndr_labels *nest = run->nest;
  int64_t bytes = (int64_t)ndr_dtype_bytes(ndr_state_result(&op->state));
  char *results = (char *)run->results[op->number] + to->place * bytes;
  if (to->lanes > 1 && to->group_step == 1 && nest->groups > 1) {
    store_groups(run, op, states, to, results, bytes);
    return;
  }
  if (to->lanes == 1 || (llabs(to->group_step) < llabs(to->lane_step) && nest->groups > 1)) {
    for (int64_t l = 0; l < to->lanes; l++)
      ndr_finish(run->isa, &op->state, states + l, nest->pitch, nest->lanes, nest->groups,
                 results + l * to->lane_step * bytes, to->group_step);
    return;
  }
  for (int64_t g = 0; g < nest->groups; g++)
    ndr_finish(run->isa, &op->state, states + g * nest->lanes, nest->pitch, 1, to->lanes,
               results + g * to->group_step * bytes, to->lane_step);
}

void ndr_labels_store(const ndr_labels_run *run, const uint64_t *block, int64_t position) {
  const ndr_labels *nest = run->nest;
  const ndr_canonical *problem = run->problem;
  ndr_cursor kept;
  ndr_cursor_seek(&kept, nest->kept, nest->kept_count, position);
  for (int i = 0; i < nest->op_count; i++) {
    const ndr_engine_op *op = &run->ops[i];
    const block_of_results to = {
        .lanes = nest->lanes_kept ? ndr_labels_lanes(nest, &kept) : 1,
        .place = place_of(run, &kept, op->number),
        .lane_step = nest->lanes_kept ? problem->kept[nest->lanes_along].result[op->number] : 0,
        .group_step = problem->group.result[op->number],
    };
    (problem->partial ? store_states : store_results)(run, op, block + op->block, &to);
  }
}
