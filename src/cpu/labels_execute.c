/* Runs the loops of family labels. */
#include <stdatomic.h>
#include <string.h>

#include "cpu/cuts.h"
#include "cpu/labels.h"
#include "cpu/pool.h"

/* Labels that are transposed at a time: their tile lies in the first-level cache. */
#define GATHERED_LABELS 64
/* Bytes ahead of the elements of a lane that are prefetched: a page, as in the kernels. */
#define AHEAD 4096

/* ---- a section ---- */

/* A thread's memory. */
typedef struct scratch {
  uint64_t *states, *joined; /* of the last steps, and of all before */
  char *gathered, *converted;
} scratch;

/* Folds the rows of a section, whose first is the tile's, at most NDR_ROWS at a time. */
static void fold_runs(const ndr_labels_run *run, const ndr_section *section, const ndr_engine_op *op, ndr_fold *fold,
                      const ndr_tile *tile, int64_t bytes, uint64_t *states) {
  const ndr_labels *nest = run->nest;
  const int32_t *rows = run->sections->order + section->label;
  for (int64_t r = section->run; r < section->end; r++) {
    const ndr_label_run *labels = &run->sections->runs[r];
    for (int64_t left = labels->count, count; left > 0; left -= count, rows += count) {
      ndr_tile part = *tile;
      part.rows = count = ndr_least(left, NDR_ROWS);
      if (labels->step) {
        part.data = (const char *)tile->data + rows[0] * tile->row_stride * bytes;
        part.index += rows[0] * tile->index_row;
        part.row_stride *= labels->step;
        part.index_row *= labels->step;
      } else {
        part.rows_at = rows;
      }
      fold(&part, states + op->block + labels->group * nest->lanes, nest->pitch);
    }
  }
}

/* Transposes the labels of a section: the tile's rows are dense then. Those that go backwards in memory stay so. */
static void gather(const ndr_labels_run *run, const ndr_section *section, ndr_tile *tile, char *to) {
  int log = log2_of(run->bytes);
  int64_t step = tile->row_stride, back = step == -1 ? section->length - 1 : 0;
  const char *from = (const char *)tile->data - back * run->bytes;
  bool whole = (step == 1 || step == -1) && run->isa->turn[log]; /* all of the section at once */
  if (whole) run->isa->turn[log](from, tile->lane_stride, to, section->length, tile->lanes);
  for (int64_t at = 0; !whole && at < section->length; at += GATHERED_LABELS) {
    int64_t labels = section->length - at < GATHERED_LABELS ? section->length - at : GATHERED_LABELS;
    run->isa->gather[log]((const char *)tile->data + at * step * run->bytes, step, tile->lane_stride,
                          to + at * tile->lanes * run->bytes, labels, tile->lanes, AHEAD);
  }
  tile->data = whole ? to + back * tile->lanes * run->bytes : to;
  tile->row_stride = whole && back ? -tile->lanes : tile->lanes;
  tile->spare = NDR_SPARE_BYTES / run->bytes;
  tile->cached = true;
}

static ndr_tile convert(const ndr_labels_run *run, const ndr_section *section, const ndr_tile *tile, ndr_dtype view,
                        char *to) {
  ndr_convert *elements = run->isa->convert[run->problem->dtype][view];
  int64_t bytes = (int64_t)ndr_dtype_bytes(view);
  ndr_tile converted = *tile;
  for (int64_t row = 0; row < section->length; row++)
    elements((const char *)tile->data + row * tile->row_stride * run->bytes, to + row * tile->lanes * bytes,
             tile->lanes);
  converted.data = to;
  converted.row_stride = tile->lanes;
  converted.spare = NDR_SPARE_BYTES / bytes;
  converted.cached = true;
  return converted;
}

/* Folds a section whose lanes are in eights. */
static void fold_eights(const ndr_labels_run *run, const scratch *memory, const ndr_section *section, ndr_tile *tile) {
  const ndr_engine_op *ops = run->ops;
  if (run->nest->turned) {
    for (int i = 0; i < run->nest->op_count; i++)
      ops[i].turned(tile, run->sections->group + section->label, run->nest->lanes, memory->states + ops[i].block);
    return;
  }
  const ndr_row_lists lists = {.runs = section->single ? NULL : run->sections->runs + section->run,
                               .count = section->single ? section->labels : section->end - section->run,
                               .order = run->sections->order + section->label,
                               .group = run->sections->group + section->label,
                               .apart = run->nest->lanes};
  if (run->nest->lane_stride != 1) gather(run, section, tile, memory->gathered);
  for (int i = 0; i < run->nest->op_count; i++)
    ops[i].listed(tile, &lists, memory->states + ops[i].block, run->nest->pitch);
}

static void fold_section(const ndr_labels_run *run, const scratch *memory, const ndr_section *section, ndr_tile *tile) {
  const ndr_engine_op *ops = run->ops;
  int count = run->nest->op_count, left = 0;
  if (section->labels == 0) return;
  if (run->nest->eights) {
    fold_eights(run, memory, section, tile);
    return;
  }
  for (int i = 0; i < count; i++) {
    if (section->neighbours && ops[i].across)
      fold_runs(run, section, &ops[i], ops[i].across, tile, run->bytes, memory->states);
    else
      left++;
  }
  if (left && run->nest->lane_stride != 1) gather(run, section, tile, memory->gathered);
  for (int i = 0, end; left && i < count; i = end) {
    ndr_dtype view = ops[i].view;
    ndr_tile rows = *tile;
    if (view != run->problem->dtype) rows = convert(run, section, tile, view, memory->converted);
    for (end = i; end < count && ops[end].view == view; end++)
      if (!section->neighbours || !ops[end].across)
        fold_runs(run, section, &ops[end], ops[end].fold, &rows, (int64_t)ndr_dtype_bytes(view), memory->states);
  }
}

/* ---- states ---- */

static void clear(const ndr_labels_run *run, uint64_t *states) {
  for (int i = 0; i < run->nest->op_count; i++)
    ndr_state_identity(&run->ops[i].state, states + run->ops[i].block, run->nest->pitch, run->nest->pitch);
}

static void join(const ndr_labels_run *run, uint64_t *into, const uint64_t *from) {
  int64_t pitch = run->nest->pitch;
  for (int i = 0; i < run->nest->op_count; i++)
    run->ops[i].join(into + run->ops[i].block, pitch, from + run->ops[i].block, pitch, pitch);
}

/* Joins the lanes of each group, one half to the other, until one is left. */
static void join_lanes(const ndr_labels_run *run, uint64_t *states) {
  const ndr_labels *nest = run->nest;
  for (int i = 0; i < run->nest->op_count; i++)
    for (int64_t g = 0; g < nest->groups; g++) {
      uint64_t *group = states + run->ops[i].block + g * nest->lanes;
      for (int64_t lanes = nest->lanes, stay; lanes > 1; lanes = stay) {
        stay = (lanes + 1) / 2;
        run->ops[i].join(group, nest->pitch, group + stay, nest->pitch, lanes - stay);
      }
    }
}

/* Adds up the labels of sections `first` to end - 1; the count of group g is counts[g * lanes]. */
static void count_sections(const ndr_labels_run *run, int64_t first, int64_t end, uint64_t *counts) {
  for (int64_t s = first; s < end; s++) {
    const ndr_section *section = &run->sections->sections[s];
    const int32_t *group = run->sections->group + section->label;
    for (int64_t i = 0; i < section->length; i++) counts[(group[i] < 0 ? ~group[i] : group[i]) * run->nest->lanes] += 1;
  }
}

/* Adds those of whole rows, by the table. */
static void count_rows(const ndr_labels_run *run, int64_t rows, uint64_t *counts) {
  const int64_t *ends = run->problem->table->ends;
  for (int64_t g = 0; rows && g < run->nest->groups; g++)
    counts[g * run->nest->lanes] += (uint64_t)(rows * (ends[g] - (g ? ends[g - 1] : 0)));
}

/* Sets the second words of means, which the kernels of fold/across/turned.h leave: in all lanes of a group how many
 * labels it has in steps `first` to end - 1. */
static void count_labels(const ndr_labels_run *run, int64_t first, int64_t end, uint64_t *states) {
  const ndr_labels *nest = run->nest;
  const int64_t sections = run->sections->count, rows = (end - first) / sections;
  const int64_t begin = first % sections, behind = begin + (end - first) % sections; /* without the whole rows */
  for (int i = 0; i < nest->op_count; i++) {
    uint64_t *counts = states + run->ops[i].block + nest->pitch;
    if (run->ops[i].words < 2) continue;
    memset(counts, 0, (size_t)nest->pitch * sizeof *counts);
    count_rows(run, rows, counts);
    count_sections(run, begin, ndr_least(behind, sections), counts);
    count_sections(run, 0, behind - sections, counts); /* of the next row, if there are any */
    for (int64_t g = 0; g < nest->pitch; g += nest->lanes) {
      const double count = (double)counts[g];
      for (int64_t l = 0; l < nest->lanes; l++) memcpy(&counts[g + l], &count, sizeof count);
    }
  }
}

/* ---- tasks ---- */

/* The tile of a section where the cursors are. */
static ndr_tile tile_at(const ndr_labels_run *run, const ndr_section *section, const ndr_cursor *kept,
                        const ndr_cursor *reduced) {
  const ndr_labels *nest = run->nest;
  const ndr_canonical *problem = run->problem;
  const int64_t index_row = problem->reduced[nest->scattered].index;
  const int64_t element = kept->offset + reduced->offset + section->first * problem->row_stride;
  const int64_t lanes = ndr_labels_lanes(nest, nest->lanes_kept ? kept : reduced);
  ndr_tile tile = {.data = run->data + element * run->bytes,
                   .lanes = lanes,
                   .period = lanes,
                   .rows = section->length,
                   .row_stride = problem->row_stride,
                   .lane_stride = nest->lane_stride,
                   .index = problem->index_origin + reduced->index + section->first * index_row,
                   .index_row = index_row,
                   .in_f64 = problem->accumulate_f64};
  tile.spare = ndr_spare_behind(&tile, run->to_end - element);
  return tile;
}

/* Folds a split of a position; returns its block. */
static uint64_t *run_task(const ndr_labels_run *run, const scratch *memory, int64_t position, int64_t split) {
  const ndr_labels *nest = run->nest;
  const int64_t sections = run->sections->count, all = nest->steps * sections;
  const int64_t each = all / nest->splits, more = all % nest->splits;
  const int64_t first = split * each + (split < more ? split : more), end = first + each + (split < more);
  const int64_t joined_after = run->sections->joined_after; /* lest sums have many terms one after the other */
  const bool joins = end - first > joined_after;
  int64_t at = first % sections, taken = 0;
  ndr_cursor kept, reduced;
  ndr_cursor_seek(&kept, nest->kept, nest->kept_count, position);
  ndr_cursor_seek(&reduced, nest->reduced, nest->reduced_count, first / sections);
  clear(run, memory->states);
  if (joins) clear(run, memory->joined);
  for (int64_t step = first; step < end; step++) {
    const ndr_section *section = &run->sections->sections[at];
    ndr_tile tile = tile_at(run, section, &kept, &reduced);
    fold_section(run, memory, section, &tile);
    if (++taken == joined_after && step + 1 < end) {
      join(run, memory->joined, memory->states);
      clear(run, memory->states);
      taken = 0;
    }
    if (++at < sections) continue;
    at = 0;
    ndr_cursor_advance(&reduced);
  }
  if (joins) join(run, memory->joined, memory->states);
  uint64_t *states = joins ? memory->joined : memory->states;
  if (nest->turned) count_labels(run, first, end, states);
  if (!nest->lanes_kept) join_lanes(run, states);
  return states;
}

typedef struct task_list {
  const ndr_labels_run *run;
  char *workspace;
  uint64_t *partial;       /* the blocks of all tasks, if positions have several splits */
  _Atomic int64_t *unread; /* then, for each position: its splits that are not folded yet */
  _Atomic int64_t next;
} task_list;

/* The thread that folds the last split of a position joins the splits, neighbours first. */
static void join_splits(const task_list *list, int64_t position) {
  const ndr_labels *nest = list->run->nest;
  uint64_t *blocks = list->partial + position * nest->splits * nest->block;
  for (int64_t apart = 1; apart < nest->splits; apart *= 2)
    for (int64_t split = 0; split + apart < nest->splits; split += 2 * apart)
      join(list->run, blocks + split * nest->block, blocks + (split + apart) * nest->block);
  ndr_labels_store(list->run, blocks, position);
}

static void do_tasks(void *context, int thread) {
  task_list *list = context;
  const ndr_labels *nest = list->run->nest;
  char *start = list->workspace + thread * nest->scratch_bytes;
  scratch memory = {.states = (uint64_t *)(void *)start, .gathered = start + 2 * nest->block * 8};
  memory.joined = memory.states + nest->block;
  memory.converted = memory.gathered + nest->gather_bytes;
  for (int64_t task; (task = atomic_fetch_add(&list->next, 1)) < nest->positions * nest->splits;) {
    int64_t position = task / nest->splits;
    const uint64_t *block = run_task(list->run, &memory, position, task % nest->splits);
    if (nest->splits == 1) {
      ndr_labels_store(list->run, block, position);
      continue;
    }
    memcpy(list->partial + task * nest->block, block, (size_t)nest->block * sizeof *block);
    if (atomic_fetch_sub(&list->unread[position], 1) == 1) join_splits(list, position);
  }
}

/* ---- the whole ---- */

/* Operators sorted by the dtype that they fold, so that elements are converted once for each. */
static void describe_ops(ndr_labels_run *run, ndr_engine_op *ops) {
  const ndr_canonical *problem = run->problem;
  int64_t block = 0;
  for (int number = 0, at = 0, next = 0; number < problem->op_count; number++) {
    if (!ndr_labels_has(run->nest, problem, number)) continue;
    bool across = run->nest->lane_stride != 1 && problem->row_stride == 1;
    ndr_engine_op op = ndr_engine_describe(run->isa, problem, number, ndr_canonical_state(problem, number),
                                           across ? NDR_SHORT_RUNS : NDR_NO_RUNS);
    at = next++;
    op.block = block;
    block += op.words * run->nest->pitch;
    for (; at > 0 && ops[at - 1].view > op.view; at--) ops[at] = ops[at - 1];
    ops[at] = op;
  }
}

static void run_nest(const ndr_plan *plan, const ndr_labels *nest, const ndr_sections *sections,
                     const void *const *data, void *const *results, void *workspace) {
  ndr_engine_op ops[NDR_MAX_OPS];
  ndr_labels_run run = {.nest = nest,
                        .problem = &plan->problem,
                        .sections = sections,
                        .isa = ndr_isa_here(),
                        .to_end = ndr_elements_to_end(&plan->problem),
                        .bytes = (int64_t)ndr_dtype_bytes(plan->problem.dtype),
                        .results = results,
                        .ops = ops};
  run.data = (const char *)data[0] + plan->problem.origin * run.bytes;
  describe_ops(&run, ops);
  task_list list = {.run = &run, .workspace = workspace};
  if (nest->splits > 1) {
    int64_t tasks = nest->positions * nest->splits;
    list.partial = (uint64_t *)(void *)((char *)workspace + nest->threads * nest->scratch_bytes);
    list.unread = (_Atomic int64_t *)(void *)(list.partial + tasks * nest->block);
    for (int64_t position = 0; position < nest->positions; position++)
      atomic_init(&list.unread[position], nest->splits);
  }
  ndr_pool_run(nest->threads, nest->nanoseconds, do_tasks, &list);
}

void ndr_labels_execute(const ndr_plan *plan, const void *const *data, void *const *results, void *workspace) {
  const ndr_labels *nests = ndr_labels_nests(plan);
  const ndr_labels_table *table = plan->problem.table->memory;
  for (int n = 0; n < NDR_LABELS_NESTS; n++)
    if (nests[n].op_count) run_nest(plan, &nests[n], table->sections[n], data, results, workspace);
}
