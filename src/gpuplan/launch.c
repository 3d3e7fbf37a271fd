/* Fills in and completes launches. What a launch costs is in cost.c; describe.c has its words. */
#include "gpuplan/launch.h"

#include <math.h>
#include <string.h>

static const struct {
  const char *name;
  enum { TREE, THREAD, TILE } family;
  enum { VECTOR, ELEMENT } loads;
  int blocks;
} kernels[NDR_ALL_KERNELS] = {
#define ROW(NAME, name, family, file, loads, blocks, ...) [NDR_KERNEL_##NAME] = {#name, family, loads, blocks},
    NDR_KERNEL_ROWS(ROW, ) NDR_OPERAND_KERNEL_ROWS(ROW, )
#undef ROW
};

const char *ndr_kernel_name(ndr_kernel kernel) {
  return kernels[kernel].name;
}

bool ndr_kernel_has_teams(ndr_kernel kernel) {
  return kernels[kernel].family == THREAD;
}

bool ndr_kernel_loads_vectors(ndr_kernel kernel) {
  return kernels[kernel].loads == VECTOR;
}

int ndr_kernel_blocks(ndr_kernel kernel) {
  return kernels[kernel].blocks;
}

int64_t ndr_gcd(int64_t a, int64_t b) {
  return b ? ndr_gcd(b, a % b) : a;
}

int64_t ndr_vector_elements(ndr_dtype dtype) {
  return NDR_VECTOR_BYTES / (int64_t)ndr_dtype_bytes(dtype);
}

bool ndr_vectors_aligned(const ndr_canonical *problem, const ndr_axis *fastest) {
  int64_t elements = ndr_vector_elements(problem->dtype);
  if (fastest->size % elements) return false;
  for (int a = 0; a < problem->kept_count; a++)
    if (&problem->kept[a] != fastest && problem->kept[a].stride % elements) return false;
  for (int a = 0; a < problem->reduced_count; a++)
    if (&problem->reduced[a] != fastest && problem->reduced[a].stride % elements) return false;
  return true;
}

bool ndr_canonical_special(const ndr_canonical *problem) {
  bool narrow = problem->dtype != NDR_F64 && problem->dtype != NDR_C128;
  bool changes = false; /* valid is the same with every option */
  for (int i = 0; i < problem->op_count; i++) changes = changes || problem->ops[i] != NDR_VALID;
  if (!changes || !ndr_dtype_is_float(problem->dtype)) return false;
  return problem->skip_nan || (problem->accumulate_f64 && narrow);
}

bool ndr_canonical_uncompiled(const ndr_canonical *problem, const ndr_device *device) {
  return ndr_canonical_special(problem) && !device->compiles;
}

double ndr_canonical_bytes(const ndr_canonical *problem) {
  return (double)problem->outputs * (double)problem->length * (double)ndr_dtype_bytes(problem->dtype);
}

/* For n < 2^31: with s = ceil(log2 d) - 1 and m = floor(2^(32+s) / d) + 1, m * d exceeds 2^(32+s) by at most d, which
 * is at most 2^(s+1), so n * m / 2^(32+s) is above n / d by less than 1 / d. */
ndr_param_divisor ndr_divisor(int64_t by) {
  unsigned s = 0;
  if (by < 2 || by >= INT64_C(1) << 31) return (ndr_param_divisor){0, 0};
  while (INT64_C(2) << s < by) s++;
  return (ndr_param_divisor){(unsigned)((UINT64_C(1) << (32 + s)) / (uint64_t)by + 1), s};
}

void ndr_axis_magic(ndr_param_axis *axis) {
  ndr_param_divisor size = ndr_divisor(axis->size);
  axis->magic = size.magic;
  axis->shift = size.shift;
}

void ndr_launch_begin(ndr_launch *launch, const ndr_canonical *problem, ndr_kernel kernel) {
  ndr_params *p = &launch->params;
  memset(launch, 0, sizeof *launch);
  launch->kernel = kernel;
  launch->threads = NDR_THREADS;
  launch->blocks = ndr_kernel_blocks(kernel);
  launch->words = 1;
  p->outputs = problem->outputs;
  p->length = problem->length;
  p->index_origin = problem->index_origin;
  p->ddof = problem->ddof;
  p->splits = p->split_groups = p->group_splits = p->tile_outputs = p->turned = 1;
  p->kept_count = problem->kept_count;
  p->reduced_count = problem->reduced_count;
  p->small = problem->outputs < INT64_C(1) << 31 && problem->length < INT64_C(1) << 31;
  p->partial = problem->partial;
  for (int a = 0; a < problem->kept_count; a++) {
    const ndr_axis *axis = &problem->kept[a];
    p->axes[a] = (ndr_param_axis){.size = axis->size, .stride = axis->stride, .result_stride = axis->result[0]};
  }
  for (int a = 0; a < problem->reduced_count; a++) {
    const ndr_axis *axis = &problem->reduced[a];
    p->axes[problem->kept_count + a] =
        (ndr_param_axis){.size = axis->size, .stride = axis->stride, .index_step = axis->index};
  }
  for (int a = 0; a < problem->kept_count + problem->reduced_count; a++) ndr_axis_magic(&p->axes[a]);
}

/* Splits that are joined together in the first of two steps; all of them where one step is enough. */
static int group_splits_of(int64_t splits, int64_t one_step) {
  int group = 8;
  if (splits <= one_step) return (int)splits;
  while ((int64_t)group * group < splits) group *= 2;
  return group;
}

int ndr_launch_split(ndr_launch *launch, int64_t units, int64_t split_units, int times, int one_step) {
  int64_t splits = split_units < 1 ? units : (units + split_units - 1) / split_units;
  if (splits > NDR_MOST_SPLITS / times) splits = NDR_MOST_SPLITS / times;
  if (splits < 1) splits = 1;
  return ndr_launch_cut(launch, units, (units + splits - 1) / splits, times, one_step);
}

int ndr_launch_cut(ndr_launch *launch, int64_t units, int64_t split_units, int times, int one_step) {
  ndr_params *p = &launch->params;
  p->units = units;
  p->split_units = split_units;
  int range_splits = p->split_units ? (int)((units + p->split_units - 1) / p->split_units) : 1;
  p->splits = range_splits * times;
  p->group_splits = group_splits_of(p->splits, one_step);
  p->split_groups = (p->splits + p->group_splits - 1) / p->group_splits;
  return range_splits;
}

int ndr_launch_joiners(int64_t outputs) {
  int lanes = outputs == 1 ? NDR_THREADS : NDR_WARP_THREADS;
  while (lanes > 1 && lanes * outputs > NDR_THREADS) lanes /= 2;
  return lanes;
}

int ndr_launch_step(int64_t outputs) {
  return (outputs == 1 ? 4 : 16) * ndr_launch_joiners(outputs);
}

int64_t ndr_join_batches(int64_t outputs, int64_t splits, int64_t group_splits) {
  int64_t lanes = ndr_launch_joiners(outputs), rounds = (outputs * lanes + NDR_THREADS - 1) / NDR_THREADS;
  int64_t at_once = lanes * NDR_JOIN_LOADS, groups = (splits + group_splits - 1) / group_splits;
  int64_t batches = splits > 1 ? (group_splits + at_once - 1) / at_once : 0;
  if (groups > 1) batches += (groups + at_once - 1) / at_once;
  return rounds * batches;
}

enum {
  STATE_BYTES = 8,        /* a word of a state */
  FIRST_BYTES = 48 << 10, /* of a split: read up to twice as fast while half of the blocks or fewer run */
  LAG = 20,               /* the slowest multiprocessor ends 1/LAG of a split after the others */
  /* Time, in the bytes that a block reads meanwhile. */
  BLOCK_BYTES = 24 << 10, /* a block's start and end */
  JOIN_BYTES = 28 << 10,  /* joining in one step: a store, a load, and what the last block does then */
  SECOND_BYTES = 6 << 10, /* the second step */
  BATCH_BYTES = 4 << 10   /* a batch of loads of states */
};
static const double LATER = 0.25; /* what each wave but the first adds, of the time to start and end a block */

/* Blocks run in waves of `blocks`, each of which takes as long as a split and a block's start and end. If fewer run,
 * each reads its first bytes faster. Where a block has one output, later waves start while blocks of those before still
 * read. Where it has many, joining their states takes the time that this saves. */
double ndr_splits_time(const ndr_tiles *tiles, int64_t blocks, int64_t splits, int64_t one_step) {
  double grid = (double)tiles->count * (double)splits, filled = grid / (double)blocks, waves = ceil(filled);
  double states = splits > 1 ? (double)tiles->outputs * tiles->words * STATE_BYTES : 0;
  double bytes = tiles->bytes / (double)splits + states;
  double saved = fmin(bytes, FIRST_BYTES) * (1 - fmin(1, fmax(0.5, filled)));
  double block = tiles->block_bytes > 0 ? tiles->block_bytes : BLOCK_BYTES;
  double started = tiles->outputs == 1 ? 1 + LATER * (waves - 1) : waves;
  double time = waves * (bytes - saved) + started * block + bytes / LAG;
  if (splits == 1) return time;
  time += JOIN_BYTES + (splits > one_step ? SECOND_BYTES : 0);
  double batches = (double)ndr_join_batches(tiles->outputs, splits, group_splits_of(splits, one_step));
  return time + batches * tiles->words * BATCH_BYTES;
}

/* Tries 1/16 to 1/2 of a wave (`waves` is -5 to -1), one_step splits (0), and as many splits as fit into 1 to
 * MOST_WAVES waves. */
int64_t ndr_best_splits(const ndr_tiles *tiles, int64_t blocks, int64_t most, int64_t one_step) {
  enum { MOST_WAVES = 16, PARTS = 5 };
  static const int divisor[PARTS] = {16, 8, 4, 3, 2};
  int64_t best = 1, count = tiles->count;
  double least = 0;
  if (count < 1) return 1;
  for (int64_t waves = -PARTS; waves <= MOST_WAVES; waves++) {
    int64_t splits = waves > 0   ? waves * blocks / count
                     : waves < 0 ? blocks / divisor[waves + PARTS] / count
                                 : one_step;
    if (splits > most) splits = most;
    if (splits < 1) splits = 1;
    double time = ndr_splits_time(tiles, blocks, splits, one_step);
    if (waves == -PARTS || time < least) best = splits, least = time;
  }
  return best;
}

/* The time that all runs take in splits of `steps` steps, in the bytes that a multiprocessor reads meanwhile. One with
 * fewer than `blocks` blocks reads slower (ALONE). One with more to read than the mean ends later by a part of that
 * only (BALANCE), as it reads faster once others have ended. Fitted to 160 problems of 2 MB to 1 GB on an H200. */
static double rounds_time(const ndr_rounds *r, int multiprocessors, int blocks, int64_t steps) {
  enum { START_BYTES = 6400, WAVE_BYTES = 15600, JOINING_BYTES = 62 << 10 };
  const double ALONE = 0.3, BALANCE = 0.065;
  double bytes = fmin((double)steps * r->step_bytes, r->run_bytes), splits = ceil(r->run_bytes / bytes);
  double mean = (double)r->runs * r->run_bytes / multiprocessors;
  double most_blocks = ceil((double)r->runs * splits / multiprocessors);
  double time = mean + BALANCE * (most_blocks * bytes - mean);
  if (most_blocks < blocks) time *= 1 + ALONE * (blocks - most_blocks);
  time += most_blocks * START_BYTES + ceil(most_blocks / blocks) * WAVE_BYTES;
  return time + (splits > 1 ? JOINING_BYTES : 0);
}

/* The next longer split to try: a round more, and from 32 rounds on a 32nd part more. */
static int64_t longer_split(const ndr_rounds *r, int64_t steps) {
  int64_t whole = steps / r->round_steps;
  return (1 + whole + whole / 32) * r->round_steps;
}

int64_t ndr_best_split_steps(const ndr_rounds *r, int multiprocessors, int blocks) {
  int64_t steps = 1;
  while (steps < r->least) steps = longer_split(r, steps);
  int64_t best = steps;
  double least_time = rounds_time(r, multiprocessors, blocks, steps);
  while ((double)steps * r->step_bytes < r->run_bytes) {
    steps = longer_split(r, steps);
    if (steps > r->most) break;
    double time = rounds_time(r, multiprocessors, blocks, steps);
    if (time < least_time) best = steps, least_time = time;
  }
  return best;
}

int64_t ndr_bound_splits(int64_t splits, int64_t units, int64_t longest, int64_t tiles, int64_t blocks) {
  int64_t least = (units + longest - 1) / longest, wave = tiles > 0 ? blocks / tiles : 0; /* splits of a tile */
  if (splits >= least) return splits;
  return wave > 1 && least > wave ? (least + wave - 1) / wave * wave : least;
}

ndr_param_threads ndr_threads(int count) {
  ndr_param_threads threads = {count, 0};
  while (1 << threads.log < count) threads.log++;
  return threads;
}

void ndr_launch_end(ndr_launch *launch) {
  ndr_params *p = &launch->params;
  p->extent = 1;
  for (int a = 0; a < NDR_PARAM_AXES; a++)
    if (p->axes[a].size > 0) p->extent += (p->axes[a].size - 1) * p->axes[a].stride;
  int64_t tiles = p->tile_count = p->work;
  p->padded = tiles * p->tile_outputs;
  p->slots = p->splits + (p->split_groups > 1 ? p->split_groups : 0);
  p->work = tiles * p->splits;
  p->tiles = p->splits > 1 ? ndr_divisor(tiles) : (ndr_param_divisor){.magic = 1}; /* of which every quotient is 0 */
  if (ndr_kernel_has_teams(launch->kernel)) p->thread.teams = ndr_divisor(p->thread.axis_teams);
  launch->grid = (unsigned)(p->work > INT32_MAX ? INT32_MAX : p->work < 1 ? 1 : p->work);
}
