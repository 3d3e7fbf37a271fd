/* Runs the loops of a nest, which nest.c has planned, with the threads of the pool. */
#include <string.h>

#include "cpu/pool.h"
#include "cpu/program/machine.h"

static void join_blocks(const ndr_engine *engine, uint64_t *into, const uint64_t *from) {
  int64_t pitch = engine->nest->pitch;
  for (int i = 0; i < engine->problem->op_count; i++) {
    const ndr_engine_op *op = &engine->outputs[i];
    ndr_engine_join(engine, op, into + op->block, pitch, from + op->block, pitch, pitch);
  }
}

/* ---- blockwise accumulation ---- */

typedef struct level_stack {
  uint64_t *blocks;
  int64_t block;
  int count;
  int taken[NDR_MAX_LEVELS]; /* blocks or steps that each level has accumulated */
} level_stack;

static void move_up(const ndr_engine *engine, level_stack *levels, int level) {
  uint64_t *from = levels->blocks + level * levels->block, *to = from + levels->block;
  if (levels->taken[level + 1]++)
    join_blocks(engine, to, from);
  else
    memcpy(to, from, (size_t)levels->block * sizeof *to);
  levels->taken[level] = 0;
}

/* Makes room in level 0 for a step. */
static void make_room(const ndr_engine *engine, level_stack *levels) {
  int full = 0;
  while (full + 1 < levels->count && levels->taken[full] == NDR_FAN) full++;
  while (full-- > 0) move_up(engine, levels, full);
}

/* Merges all levels into the top one and returns its states. */
static uint64_t *gather_levels(const ndr_engine *engine, level_stack *levels) {
  int top = levels->count - 1;
  while (top > 0 && !levels->taken[top]) top--;
  for (int level = 0; level < top; level++)
    if (levels->taken[level]) move_up(engine, levels, level);
  return levels->blocks + top * levels->block;
}

/* ---- tasks ---- */

/* A tile of a task: its cursors, and those of the chunk's first position and the task's first step. */
typedef struct task_tile {
  ndr_cursor kept, reduced, first_kept, first_reduced;
  /* Whether the tile after this one is at this step, and in this chunk. The last tile of a split claims the chunk: that
   * only makes a prefetch useless. */
  bool same_step, same_chunk;
} task_tile;

/* Moves to the next tile: at the next position; after the last one, at the first position and the next step; after the
 * last step, at the next chunk's first position and the first step. */
static void advance_tile(task_tile *at) {
  if (at->same_step || !at->same_chunk)
    ndr_cursor_advance(&at->kept);
  else
    at->kept = at->first_kept;
  if (at->same_step) return;
  if (at->same_chunk)
    ndr_cursor_advance(&at->reduced);
  else
    at->reduced = at->first_reduced;
}

/* Elements from a tile to the next. */
static int64_t tile_distance(const task_tile *at) {
  const ndr_cursor *kept = &at->kept, *reduced = &at->reduced;
  if (at->same_step) return ndr_cursor_next(kept) - kept->offset;
  if (at->same_chunk) return at->first_kept.offset - kept->offset + ndr_cursor_next(reduced) - reduced->offset;
  return ndr_cursor_next(kept) - kept->offset + at->first_reduced.offset - reduced->offset;
}

/* Finds where the arrays and place indices of programs are in the next tile. */
static void find_next(const struct ndr_machine *machine, const task_tile *now, ndr_tile_place *place) {
  task_tile next = *now;
  advance_tile(&next);
  ndr_machine_find(machine, &next.kept, &next.reduced, place->next);
}

/* Folds split number `split` for `count` positions; returns the block with their states. */
static uint64_t *run_task(const ndr_engine *engine, const ndr_scratch *scratch, int64_t first, int64_t count,
                          int64_t split) {
  const ndr_nest *nest = engine->nest;
  int64_t each = nest->steps / nest->splits, more = nest->steps % nest->splits;
  int64_t step = split * each + (split < more ? split : more), end = step + each + (split < more);
  level_stack levels = {.blocks = scratch->levels, .block = nest->block, .count = nest->levels};
  task_tile at;
  ndr_tile_place place;
  ndr_cursor_seek(&at.first_kept, nest->kept, nest->kept_count, first);
  ndr_cursor_seek(&at.first_reduced, nest->reduced, nest->reduced_count, step);
  at.reduced = at.first_reduced;
  if (engine->machine) ndr_machine_find(engine->machine, &at.first_kept, &at.first_reduced, place.next);
  for (; step < end; step++, ndr_cursor_advance(&at.reduced)) {
    make_room(engine, &levels);
    bool fresh = levels.taken[0]++ == 0;
    at.kept = at.first_kept;
    at.same_chunk = step + 1 < end || nest->splits > 1;
    for (int64_t position = 0; position < count; position++, ndr_cursor_advance(&at.kept)) {
      at.same_step = position + 1 < count;
      int64_t ahead = nest->ahead || !nest->rows_ahead ? nest->ahead : tile_distance(&at);
      if (engine->machine) {
        memcpy(place.at, place.next, sizeof place.at);
        find_next(engine->machine, &at, &place);
      }
      ndr_engine_fold(engine, scratch, &at.kept, &at.reduced, &place, levels.blocks, position, ahead, fresh);
    }
  }
  return gather_levels(engine, &levels);
}

static int64_t positions_of(const ndr_nest *nest, int64_t chunk) {
  int64_t left = nest->positions - chunk * nest->chunk;
  return left < nest->chunk ? left : nest->chunk;
}

/* Joins the splits of a chunk, neighbours first, and stores its results. */
static void join_splits(const ndr_engine *engine, uint64_t *partial, int64_t chunk) {
  const ndr_nest *nest = engine->nest;
  uint64_t *blocks = partial + chunk * nest->splits * nest->block;
  for (int64_t apart = 1; apart < nest->splits; apart *= 2)
    for (int64_t split = 0; split + apart < nest->splits; split += 2 * apart)
      join_blocks(engine, blocks + split * nest->block, blocks + (split + apart) * nest->block);
  ndr_engine_store(engine, blocks, chunk * nest->chunk, positions_of(nest, chunk));
}

/* ---- the whole ---- */

/* The tasks of an execute. Each thread has a share of them, the same in every execute of a plan: its core's cache may
 * still hold their elements. A thread that has done its share takes tasks from others'. */
typedef struct task_queue {
  const ndr_engine *engine;
  char *workspace;
  ndr_task_share *shares;  /* one for each thread */
  uint64_t *partial;       /* the states of all tasks, if chunks have several splits */
  _Atomic int64_t *unread; /* then, for each chunk: its splits that are not folded yet */
} task_queue;

static ndr_scratch scratch_of(const ndr_nest *nest, char *workspace, int thread) {
  ndr_scratch scratch;
  char *memory = workspace + thread * nest->scratch_bytes;
  scratch.levels = (uint64_t *)(void *)memory;
  scratch.gathered = memory + (nest->levels * nest->block * 8 + 63) / 64 * 64;
  scratch.converted = scratch.gathered + nest->gather_bytes;
  scratch.machine = memory + nest->scratch_bytes - (nest->program_bytes + 255) / 256 * 256;
  /* Lanes and positions that a last, smaller tile or chunk lacks are merged like the others, and must hold values. */
  memset(memory, 0, (size_t)(nest->levels * nest->block) * 8);
  return scratch;
}

/* The thread that folds the last split of a chunk joins the splits, so that no thread waits for another. */
static void do_task(const task_queue *queue, const ndr_scratch *scratch, int64_t task) {
  const ndr_nest *nest = queue->engine->nest;
  int64_t chunk = task / nest->splits, first = chunk * nest->chunk, count = positions_of(nest, chunk);
  if (nest->splits == 1) {
    const int64_t each = nest->by_position ? 1 : count;
    for (int64_t position = first; position < first + count; position += each)
      ndr_engine_store(queue->engine, run_task(queue->engine, scratch, position, each, 0), position, each);
    return;
  }
  uint64_t *block = run_task(queue->engine, scratch, first, count, task % nest->splits);
  memcpy(queue->partial + task * nest->block, block, (size_t)nest->block * sizeof *block);
  if (atomic_fetch_sub(&queue->unread[chunk], 1) == 1) join_splits(queue->engine, queue->partial, chunk);
}

/* The next task of a share; -1: none is left. */
static int64_t take_task(ndr_task_share *share) {
  if (atomic_load(&share->next) >= share->end) return -1;
  int64_t task = atomic_fetch_add(&share->next, 1);
  return task < share->end ? task : -1;
}

static ndr_scratch begin_thread(const task_queue *queue, int thread) {
  ndr_scratch scratch = scratch_of(queue->engine->nest, queue->workspace, thread);
  if (queue->engine->machine) ndr_machine_begin(queue->engine, scratch.machine);
  return scratch;
}

static void do_tasks(void *context, int thread) {
  task_queue *queue = context;
  int threads = queue->engine->nest->threads;
  ndr_scratch scratch = {0};
  for (int passed = 0; passed < threads; passed++) {
    ndr_task_share *share = &queue->shares[(thread + passed) % threads];
    for (int64_t task; (task = take_task(share)) >= 0;) {
      if (!scratch.levels) scratch = begin_thread(queue, thread);
      do_task(queue, &scratch, task);
    }
  }
}

static void share_out(int64_t tasks, int threads, ndr_task_share *shares) {
  int64_t each = tasks / threads, more = tasks % threads, next = 0;
  for (int thread = 0; thread < threads; thread++) {
    atomic_init(&shares[thread].next, next);
    shares[thread].end = next += each + (thread < more);
  }
}

static void run_tasks(const ndr_engine *engine, char *workspace) {
  const ndr_nest *nest = engine->nest;
  int64_t tasks = nest->chunks * nest->splits;
  task_queue queue = {.engine = engine, .shares = (ndr_task_share *)(void *)workspace};
  share_out(tasks, nest->threads, queue.shares);
  queue.workspace = workspace + nest->threads * (int64_t)sizeof *queue.shares;
  if (nest->splits > 1) {
    char *partial = queue.workspace + nest->threads * nest->scratch_bytes;
    queue.partial = (uint64_t *)(void *)partial;
    queue.unread = (_Atomic int64_t *)(void *)(partial + tasks * nest->block * 8);
    for (int64_t chunk = 0; chunk < nest->chunks; chunk++) atomic_init(&queue.unread[chunk], nest->splits);
  }
  ndr_pool_run(nest->threads, nest->nanoseconds, do_tasks, &queue);
}

/* Bytes of a lane's run from which on folding eight lanes as they lie is faster than transposing them: twice as many of
 * complex numbers. */
#define SHORT_BYTES 20
/* The same from which on folding each lane by itself may be faster: twice as many of bytes, of which a block has more
 * to search, and of floats of two bytes, whose ranks have to be found. */
#define LONG_BYTES 256

static ndr_lane_runs runs_of_lanes(const ndr_engine *engine) {
  const ndr_nest *nest = engine->nest;
  const int64_t bytes = nest->rows * engine->bytes;
  const int64_t least = ndr_dtype_is_complex(engine->problem->dtype) ? 2 * SHORT_BYTES : SHORT_BYTES;
  if (!ndr_nest_lanes_are_runs(nest) || bytes < least) return NDR_NO_RUNS;
  const bool slow = engine->bytes == 1 || (engine->bytes == 2 && ndr_dtype_is_float(engine->problem->dtype));
  return bytes >= (slow ? 2 * LONG_BYTES : LONG_BYTES) && nest->row_index > 0 ? NDR_LONG_RUNS : NDR_SHORT_RUNS;
}

static ndr_engine_op describe_op(const ndr_engine *engine, int number, ndr_state state, int64_t block) {
  ndr_engine_op described = ndr_engine_describe(engine->isa, engine->problem, number, state, runs_of_lanes(engine));
  described.block = block;
  return described;
}

static void add_sorted(ndr_engine *engine, ndr_engine_op op) {
  int at = engine->fold_count++;
  for (; at > 0 && engine->ops[at - 1].view > op.view; at--) engine->ops[at] = engine->ops[at - 1];
  engine->ops[at] = op;
}

/* Parts that are folded as built-in operators are. */
static void add_plain_parts(ndr_engine *engine, const ndr_engine_op *output) {
  const ndr_program *program = output->state.program;
  for (int p = 0; p < program->part_count; p++) {
    int before;
    ndr_state part = ndr_state_part(&output->state, p, &before);
    if (!ndr_program_part_is_plain(program, p, engine->problem->dtype)) continue;
    add_sorted(engine, describe_op(engine, output->number, part, output->block + before * engine->nest->pitch));
  }
}

static void describe_ops(ndr_engine *engine) {
  int64_t block = 0;
  for (int number = 0; number < engine->problem->op_count; number++) {
    ndr_state state = ndr_canonical_state(engine->problem, number);
    ndr_engine_op *output = &engine->outputs[number];
    if (state.program) {
      *output = (ndr_engine_op){.number = number, .state = state, .words = ndr_state_size(&state), .block = block};
      add_plain_parts(engine, output);
    } else {
      *output = describe_op(engine, number, state, block);
      add_sorted(engine, *output);
    }
    block += output->words * engine->nest->pitch;
  }
}

/* The most parts that are folded as they are: all of all programs. */
enum { MOST_FOLDS = NDR_MAX_OPS * NDR_MOST_PARTS };

static void execute_programs(ndr_engine *engine, const void *const *data, char *workspace) {
  ndr_engine_op outputs[NDR_MAX_OPS], ops[MOST_FOLDS];
  engine->outputs = outputs;
  engine->ops = ops;
  describe_ops(engine);
  engine->machine = ndr_machine_make(engine->problem, engine->nest, engine->isa, data, workspace);
  run_tasks(engine, workspace + engine->nest->shared_bytes);
  engine->outputs = engine->ops = NULL;
}

static void execute_built_in(ndr_engine *engine, char *workspace) {
  ndr_engine_op outputs[NDR_MAX_OPS], ops[NDR_MAX_OPS];
  engine->outputs = outputs;
  engine->ops = ops;
  describe_ops(engine);
  run_tasks(engine, workspace);
  engine->outputs = engine->ops = NULL;
}

void ndr_nest_execute_rows(const ndr_plan *plan, const int32_t *rows, const void *const *data, void *const *results,
                           void *workspace) {
  _Alignas(64) char small[NDR_SMALL_WORKSPACE];
  ndr_engine engine = {.nest = (const ndr_nest *)(const void *)plan->config,
                       .problem = &plan->problem,
                       .isa = ndr_isa_here(),
                       .bytes = (int64_t)ndr_dtype_bytes(plan->problem.dtype),
                       .to_end = ndr_elements_to_end(&plan->problem),
                       .rows = rows,
                       .results = results};
  engine.data = (const char *)data[0] + plan->problem.origin * engine.bytes;
  char *memory = plan->workspace ? workspace : small;
  if (engine.nest->shared_bytes)
    execute_programs(&engine, data, memory);
  else
    execute_built_in(&engine, memory);
}

void ndr_nest_execute(const ndr_plan *plan, const void *const *data, void *const *results, void *workspace) {
  ndr_nest_execute_rows(plan, NULL, data, results, workspace);
}
