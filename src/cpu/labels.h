/* The loops of family `labels`: a table puts the elements along one axis into groups, and lanes lie along another.
 *
 *   for each task             lanes of the kept positions times a split of the reduction; threads take tasks
 *     for each step             of the other reduced axes and of the sections of labels, which are innermost
 *       transpose the section     into a tile whose rows are labels
 *       for each run of labels    of one group
 *         fold its rows             into the states of the group, which has one for each lane
 *
 * Sections whose runs are long are not transposed: each lane has a run where it lies (fold/across/across.h). Where the
 * lanes' axis is reduced, their states are joined at the end.
 *
 * Sums, means and extremes of most dtypes have kernels for eight lanes at a time, and loops of their own, with small
 * sections:
 *
 * - Contiguous labels are not copied. A kernel transposes eight labels of eight lanes in registers and adds each of
 *   them to the states of its group (fold/across/turned.h). Sections have no runs.
 * - Labels with another stride are copied to a tile, and those of lanes that lie side by side are in one already; a
 *   kernel folds all runs of a section in one call (fold/across/listed.h). Tiles are small: what is written beside
 *   elements that come from memory has to stay in the first-level cache.
 *
 * The other operators have large tiles, in which runs are long. All of this follows from the problem's axes, labels and
 * dtype and the operator, so that results do not depend on the number of threads, and those of operators in eights not
 * on the other operators of the call. The others have other lanes and runs if argmin or argmax is among them. */
#ifndef NDR_CPU_LABELS_H
#define NDR_CPU_LABELS_H

#include "cpu/engine.h"
#include "cpu/sections.h"

/* The loops of some operators of a problem. */
typedef struct ndr_labels {
  bool eights; /* has the operators with kernels for eight lanes at a time, else those without */
  bool all;    /* has all operators; eights is false */
  bool turned; /* with eights: runs the kernels of fold/across/turned.h, else those of fold/across/listed.h */
  int op_count;
  int64_t groups;
  int scattered;   /* the reduced axis of the labels */
  bool lanes_kept; /* the lanes' axis is problem->kept[lanes_along], else problem->reduced[lanes_along] */
  int lanes_along;
  int64_t lanes, extent; /* of a tile, and of all of them */
  int64_t lane_stride;
  int64_t section; /* the most labels of a section */
  int lane_axis;   /* the axis of the loops that steps through the lanes, kept or reduced; -1: none does */
  int kept_count, reduced_count;
  ndr_nest_axis kept[NDR_MAX_DIMS + 1], reduced[NDR_MAX_DIMS + 1]; /* of the loops, but for sections */
  int64_t positions, steps, splits;
  int64_t pitch; /* states of an op for a position; if turned, with those of labels that belong to no group, the last */
  int64_t block; /* words of a position's states of all ops */
  int64_t gather_bytes, convert_bytes, scratch_bytes;
  int threads;
  int64_t nanoseconds;
} ndr_labels;

/* What a plan is configured to: the loops of operators in eights, and of the others; those without operators are not
 * run. */
enum { NDR_LABELS_NESTS = 2 };

static inline const ndr_labels *ndr_labels_nests(const ndr_plan *plan) {
  return (const ndr_labels *)(const void *)plan->config;
}

/* Whether operator i of a problem is one of a nest's. */
static inline bool ndr_labels_has(const ndr_labels *nest, const ndr_canonical *problem, int i) {
  bool skip = problem->skip_nan && ndr_dtype_is_float(problem->dtype);
  return nest->all || (!skip && ndr_op_is_listed(problem->ops[i], problem->dtype)) == nest->eights;
}

/* What is fixed while a nest is executed. */
typedef struct ndr_labels_run {
  const ndr_labels *nest;
  const ndr_canonical *problem;
  const ndr_sections *sections;
  const ndr_isa *isa;
  const char *data; /* the element where the walk starts */
  int64_t to_end;   /* ndr_elements_to_end */
  int64_t bytes;    /* of an element */
  void *const *results;
  ndr_engine_op *ops; /* those of the nest, sorted by the dtype that they fold */
} ndr_labels_run;

/* Lanes of a tile at a place of the lanes' axis. */
static inline int64_t ndr_labels_lanes(const ndr_labels *nest, const ndr_cursor *cursor) {
  int64_t left = nest->extent - (nest->lane_axis < 0 ? 0 : cursor->at[nest->lane_axis] * nest->lanes);
  return left < nest->lanes ? left : nest->lanes;
}

/* Runs a plan of the family. */
void ndr_labels_execute(const ndr_plan *plan, const void *const *data, void *const *results, void *workspace);

/* Writes the results, or partial states, of a position from its block. */
void ndr_labels_store(const ndr_labels_run *run, const uint64_t *block, int64_t position);

/* The sections of each nest; NULL: it has no operators. See ndr_backend.make_table and free_table. */
typedef struct ndr_labels_table {
  ndr_sections *sections[NDR_LABELS_NESTS];
} ndr_labels_table;

ndr_status ndr_labels_make_table(const ndr_plan *plan, void **memory);
void ndr_labels_free_table(int id, void *memory);

#endif
