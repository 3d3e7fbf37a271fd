/* Planner's half of kernels/staged.cuh and tile_rows.cuh: outputs whose elements lie close together, which a block
 * copies to shared memory. */
#include <math.h>
#include <stdio.h>

#include "gpuplan/groups.h"

enum {
  STAGE_BYTES = NDR_LOADS_TILE_STAGED * NDR_THREADS * NDR_VECTOR_BYTES,
  LEAST_BYTES = 2 << 10, /* of a stage, where the problem has more: a block's barriers cost as much */
  LONG_BYTES = 8 << 10,  /* rows from here on without a step are for a tree */
  SHARED_BYTES = STAGE_BYTES + 4 * NDR_VECTOR_BYTES
};

/* Bytes of a stage, as a multiple of those of the sectors that must be read; dense rows have no better way. */
#define MOST_GAPS 1.4
#define MOST_ROW_GAPS 1.8

/* A group of outputs, as in params.h, and the groups that lie side by side. Counts and strides are in elements. */
typedef struct stage {
  int64_t outputs, column_step;
  int64_t length, element_step;
  int64_t span; /* from a group's first element to behind its last */
  int64_t side, pitch;
  int axes; /* kept axes along which groups lie side by side */
  int64_t bytes;
  int words; /* of an output's state */
} stage;

/* Bytes of the sectors that the group's elements touch, if a group alone is read. */
static double touched_bytes(const stage *s) {
  double row = (double)((s->outputs - 1) * s->column_step + 1) * (double)s->bytes;
  if (s->column_step * s->bytes > NDR_SECTOR_BYTES) row = (double)s->outputs * NDR_SECTOR_BYTES;
  row += 0.5 * NDR_SECTOR_BYTES;
  double step = (double)(s->element_step * s->bytes);
  return (double)s->length * (step < row ? step : row);
}

static stage stage_of(const ndr_canonical *problem) {
  bool kept = problem->kept_count > 0 && problem->kept[0].stride < problem->reduced[0].stride;
  stage s = {.outputs = 1, .length = problem->reduced[0].size, .element_step = problem->reduced[0].stride, .side = 1};
  s.bytes = (int64_t)ndr_dtype_bytes(problem->dtype);
  s.words = ndr_canonical_words(problem, 0, 1);
  if (kept) {
    s.outputs = problem->kept[0].size;
    s.column_step = problem->kept[0].stride;
  }
  s.span = (s.length - 1) * s.element_step + (s.outputs - 1) * s.column_step + 1;
  s.pitch = s.span;
  for (int a = kept; a < problem->kept_count; a++, s.axes++) {
    int64_t stride = problem->kept[a].stride;
    bool too_large = (double)s.side * (double)(s.pitch * s.bytes) >= STAGE_BYTES;
    if (s.axes == 0 ? stride < s.span : too_large || stride != s.pitch * s.side) break;
    if (s.axes == 0) s.pitch = stride;
    s.side *= problem->kept[a].size;
  }
  return s;
}

static bool is_dense_row(const stage *s) {
  return s->outputs == 1 && s->element_step == 1;
}

/* Whether a stage may hold several groups: the gaps between and within them are small. */
static bool shares_stages(const stage *s) {
  return (double)(s->pitch * s->bytes) <= (is_dense_row(s) ? MOST_ROW_GAPS : MOST_GAPS) * touched_bytes(s);
}

static bool rows_aligned(const stage *s) {
  return s->pitch * s->bytes % NDR_VECTOR_BYTES == 0;
}

/* Whether dense rows are read from shared memory by vectors: all begin with one, or narrow elements have long rows. */
static bool reads_vectors(const stage *s) {
  bool long_rows = s->bytes <= 2 && s->length >= NDR_LONG_ROW_VECTORS * (NDR_VECTOR_BYTES / s->bytes);
  return is_dense_row(s) && (long_rows || rows_aligned(s));
}

/* Elements that a thread reads from shared memory at a time. */
static int64_t elements_at_once(const stage *s) {
  return reads_vectors(s) ? NDR_VECTOR_BYTES / s->bytes : 1;
}

/* Whether outputs are whole dense rows of one axis: tile_rows does no more than these need. */
static bool is_rows(const ndr_canonical *problem, const stage *s) {
  return is_dense_row(s) && s->axes == 1 && problem->outputs == s->side && problem->length == s->length &&
         s->span * s->bytes <= STAGE_BYTES && shares_stages(s);
}

/* Of the threads that read shared memory at the same time, how many read different words of one bank. Neighbours are
 * `members` threads of an output, and then those of the next. */
static int bank_conflicts(const stage *s, int members) {
  enum { ROW_BYTES = 128, WORD_BYTES = 4, WORDS = ROW_BYTES / WORD_BYTES };
  uint64_t read = (uint64_t)(s->bytes * elements_at_once(s)), word = read > WORD_BYTES ? read : WORD_BYTES;
  uint64_t banks = ROW_BYTES / word, seen[WORDS]; /* unsigned: huge offsets wrap, by whole rows of banks */
  int most = 1;
  for (uint64_t t = 0; t < banks; t++) {
    uint64_t output = t / (uint64_t)members, group = output / (uint64_t)s->outputs;
    uint64_t column = output - group * (uint64_t)s->outputs;
    uint64_t element = t % (uint64_t)members * (uint64_t)elements_at_once(s);
    uint64_t offset =
        group * (uint64_t)s->pitch + column * (uint64_t)s->column_step + element * (uint64_t)s->element_step;
    seen[t] = offset * (uint64_t)s->bytes / word;
    int same = 1;
    for (uint64_t u = 0; u < t && same > 0; u++) /* 0: the word is read already */
      same = seen[u] == seen[t] ? 0 : same + (seen[u] % banks == seen[t] % banks);
    if (same > most) most = same;
  }
  return most;
}

const char *ndr_staged_reject(const ndr_canonical *problem, char *text) {
  if (problem->reduced_count == 0) return "nothing is reduced";
  if (problem->reduced[0].stride == 0 || (problem->kept_count > 0 && problem->kept[0].stride == 0))
    return "every axis repeats its elements";
  if (problem->kept_count == 0 && problem->reduced[0].stride == 1)
    return "no axis is kept: one output has nothing to share a tile with";
  stage s = stage_of(problem);
  if (s.outputs > 1 && s.element_step < (s.outputs - 1) * s.column_step + 1) return "rows of the kept axis overlap";
  if (s.outputs > NDR_THREADS) return "the kept fastest axis is wider than the tile";
  if (s.outputs * s.column_step * s.bytes > STAGE_BYTES / 4) return "a row of the kept axis exceeds the stage";
  bool shared = shares_stages(&s);
  if (!shared && (double)(s.span * s.bytes) > MOST_GAPS * touched_bytes(&s)) return "gaps between elements are large";
  int64_t bytes = s.span * s.bytes;
  if (is_dense_row(&s) && bytes > LONG_BYTES) {
    snprintf(text, 160, "rows of %lld bytes exceed the stage", (long long)bytes);
    return text;
  }
  if (s.outputs > 1 && bank_conflicts(&s, 1) > 4) return "columns lie in the same banks of shared memory";
  int64_t held = (shared ? (s.side - 1) * s.pitch + s.span : s.span) * s.bytes;
  bool whole = problem->length == s.length && problem->outputs == s.side * s.outputs;
  return held < LEAST_BYTES && !whole ? "a stage holds too few elements" : NULL;
}

bool ndr_staged_can(const ndr_canonical *problem) {
  char text[160];
  return !ndr_staged_reject(problem, text);
}

/* How a tile's groups are cut out and shared among threads. */
typedef struct cut {
  int64_t groups, piece;
  int members;
} cut;

/* Instructions of warps for each output where `members` threads share one: those of the stage, and of each round of
 * outputs. A bank of shared memory delivers a word while four warps issue an instruction; vectors were measured to take
 * twice that. Few threads leave latencies uncovered. */
static double member_cost(const stage *s, const cut *c) {
  enum { STAGE = 100, ROUND = 50, JOIN = 8, WORD = 4, MORE = 2, END = 6, WORD_BYTES = 4, BUSY = 128 };
  int64_t at_once = elements_at_once(s), reads = (c->piece + at_once - 1) / at_once;
  int64_t own = (reads + c->members - 1) / c->members, outputs = c->groups * s->outputs;
  int64_t ends = at_once > 1 && !rows_aligned(s) ? (at_once + c->members - 1) / c->members : 0;
  double words = at_once > 1 ? 2.0 * NDR_VECTOR_BYTES / WORD_BYTES : 1, threads = (double)(outputs * c->members);
  double per_read = WORD * words * bank_conflicts(s, c->members) + MORE * (double)(at_once - 1);
  double round = ROUND + JOIN * s->words * ndr_threads(c->members).log + (double)own * per_read + (double)(ends * END);
  double warps = ceil(threads / NDR_WARP_THREADS);
  return (STAGE * NDR_BLOCK_WARPS + warps * round * fmax(BUSY / threads, 1)) / (double)outputs;
}

/* Shares the outputs of a tile among threads. Where outputs have several units, a thread has one output. In tile_rows
 * the last round may be part full where several threads share a row: there rounds are few. */
static cut share_outputs(const stage *s, cut whole, bool several, bool rows) {
  cut best = whole;
  best.members = NDR_THREADS;
  if (s->outputs == 1 && whole.groups < 4) {
    best.groups = 1;
    return best;
  }
  for (int members = 1; members <= NDR_WARP_THREADS && members <= whole.piece; members *= 2) {
    cut c = {whole.groups, whole.piece, members};
    int64_t slots = NDR_THREADS / members, most = slots / s->outputs; /* groups of a round */
    if (several && most == 0) break;
    if (c.groups > most && most > 0 && (!rows || members == 1)) c.groups = several ? most : c.groups / most * most;
    if (members == 1 || member_cost(s, &c) < member_cost(s, &best)) best = c;
  }
  return best;
}

static cut cut_of(const ndr_canonical *problem, const ndr_device *device, const stage *s) {
  cut c = {.groups = 1, .piece = s->length};
  int64_t row = (s->outputs - 1) * s->column_step + 1, most = STAGE_BYTES / s->bytes;
  bool several = problem->length > s->length || s->span > most;
  if (several) most /= 2; /* a unit is copied while another is folded */
  if (s->span > most) c.piece = (most - row) / s->element_step + 1;
  int64_t even = problem->outputs / s->outputs / ((int64_t)device->units * 4) + 1;
  if (s->span <= most && shares_stages(s)) c.groups = (most - s->span) / s->pitch + 1;
  if (c.groups > s->side) c.groups = s->side;
  if (c.groups > even) c.groups = even;
  return share_outputs(s, c, several, is_rows(problem, s));
}

bool ndr_staged_suits(const ndr_canonical *problem, const ndr_device *device) {
  enum { MUCH_BYTES = 8 << 10, MOST_CONFLICTS = 4 };
  if (!ndr_staged_can(problem)) return false;
  stage s = stage_of(problem);
  if (problem->length == s.length) return true;
  cut c = cut_of(problem, device, &s);
  int64_t elements = (c.groups - 1) * s.pitch + (c.piece - 1) * s.element_step + (s.outputs - 1) * s.column_step + 1;
  return elements * s.bytes >= MUCH_BYTES && bank_conflicts(&s, c.members) <= MOST_CONFLICTS;
}

static void configure_rows(const ndr_canonical *problem, const stage *s, const cut *c, ndr_launch *launch,
                           bool on_boundary) {
  ndr_launch_begin(launch, problem, NDR_KERNEL_TILE_ROWS);
  ndr_params *p = &launch->params;
  bool aligned = on_boundary && rows_aligned(s);
  p->tile_rows = (ndr_param_tile_rows){.length = (int)s->length,
                                       .pitch = (int)s->pitch,
                                       .rows = (int)c->groups,
                                       .reading = aligned            ? NDR_ROWS_ALIGNED
                                                  : reads_vectors(s) ? NDR_ROWS_BY_VECTOR
                                                  : c->members == 1  ? NDR_ROWS_WHOLE
                                                                     : NDR_ROWS_BY_ELEMENT,
                                       .lanes = ndr_threads(c->members)};
  launch->shared_bytes = SHARED_BYTES;
  p->tile_outputs = (int)c->groups;
  p->work = (problem->outputs + c->groups - 1) / c->groups;
  ndr_launch_end(launch);
}

void ndr_staged_configure(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch,
                          bool on_boundary) {
  stage s = stage_of(problem);
  cut c = cut_of(problem, device, &s);
  if (is_rows(problem, &s) && c.members <= NDR_WARP_THREADS) {
    configure_rows(problem, &s, &c, launch, on_boundary);
    return;
  }
  ndr_launch_begin(launch, problem, NDR_KERNEL_TILE_STAGED);
  ndr_params *p = &launch->params;
  ndr_param_tile_staged *own = &p->tile_staged;
  own->groups = (ndr_param_groups){.outputs = (int)s.outputs,
                                   .run_length = (int)c.piece,
                                   .side_axes = s.axes,
                                   .tile_groups = (int)c.groups,
                                   .side = s.side,
                                   .side_tiles = (s.side + c.groups - 1) / c.groups};
  own->members = ndr_threads(c.members);
  own->pitch = c.groups > 1 ? (int)s.pitch : 0;
  own->element_step = (int)s.element_step;
  own->column_step = (int)s.column_step;
  own->piece = (int)c.piece;
  own->pieces = (ndr_param_axis){.size = (s.length + c.piece - 1) / c.piece};
  ndr_axis_magic(&own->pieces);
  own->smem_bytes = SHARED_BYTES;
  launch->shared_bytes = (unsigned)own->smem_bytes;
  p->tile_outputs = (int)(c.groups * s.outputs);
  p->work = ndr_group_tile_count(problem, &own->groups);
  int64_t units = problem->length / s.length * own->pieces.size, one_step = ndr_launch_step(NDR_THREADS);
  int64_t elements = (c.groups - 1) * s.pitch + (c.piece - 1) * s.element_step + 1; /* of a unit */
  double tile_bytes = (double)units * (double)elements * (double)s.bytes;
  int64_t blocks = (int64_t)device->units * launch->blocks;
  int64_t splits = ndr_best_splits(&(ndr_tiles){p->work, tile_bytes, p->tile_outputs, 1, 0}, blocks, units, one_step);
  ndr_launch_split(launch, units, (units + splits - 1) / splits, 1, (int)one_step);
  ndr_launch_end(launch);
}
