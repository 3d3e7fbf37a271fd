/* What a launch does that takes time: the sectors that it touches, the loads that it waits for, and so on, counted from
 * its arguments. */
#include <stdlib.h>

#include "gpuplan/rows.h"

/* Bytes that memory hands to the second-level cache, at least, and that this keeps together. */
enum { BURST = 64, LINE = 128 };

/* How long a byte takes out of a first-level cache, which hands out two sectors a cycle, where one from memory takes 1;
 * in elements of 8 bytes twice as long. */
#define CACHED 0.32

/* Bytes a microsecond and multiprocessor of the GPU that the weights are from. */
#define FITTED_SHARE (4.8e6 / 132)

static int64_t parts(int64_t whole, int64_t part) {
  return part > 0 ? (whole + part - 1) / part : 1;
}

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int compare(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* Bytes of the bursts that hold the problem's elements. Axes are taken by stride: one that steps within what those
 * before it cover, or within a burst, extends it; others repeat it. */
static double footprint(const ndr_params *p, int64_t bytes) {
  struct {
    int64_t stride, size;
  } axes[NDR_PARAM_AXES];
  int count = 0;
  double cover = (double)bytes, copies = 1;
  for (int a = 0; a < p->kept_count + p->reduced_count; a++) {
    int64_t stride = p->axes[a].stride < 0 ? -p->axes[a].stride : p->axes[a].stride, at = count;
    if (stride == 0) continue;
    for (; at > 0 && axes[at - 1].stride > stride; at--) axes[at] = axes[at - 1];
    axes[at].stride = stride;
    axes[at].size = p->axes[a].size;
    count++;
  }
  for (int a = 0; a < count; a++) {
    double step = (double)(axes[a].stride * bytes);
    if (step <= cover || step <= BURST)
      cover += step * (double)(axes[a].size - 1);
    else
      copies *= (double)axes[a].size;
  }
  return copies * cover + (copies > 1 ? copies * BURST / 2 : 0);
}

/* Where number n over some axes, innermost first, leads: bytes in the array, and elements in aux. */
typedef struct place {
  int64_t offset, aux;
} place;

static place locate(const ndr_param_axis *axes, int count, int64_t n, int64_t bytes) {
  place at = {0, 0};
  for (int a = 0; a < count; a++) {
    int64_t rest = a + 1 < count ? n % axes[a].size : n;
    at.offset += rest * axes[a].stride * bytes;
    at.aux += rest * axes[a].aux;
    if (a + 1 < count) n /= axes[a].size;
  }
  return at;
}

static int count_sectors(int64_t sector[NDR_WARP_THREADS]) {
  int count = 1;
  qsort(sector, NDR_WARP_THREADS, sizeof *sector, compare);
  for (int t = 1; t < NDR_WARP_THREADS; t++) count += sector[t] != sector[t - 1];
  return count;
}

/* Sectors in which a warp's worth of neighbouring outputs are written. */
static int written_sectors(const ndr_params *p, int64_t bytes) {
  int64_t sector[NDR_WARP_THREADS];
  for (int t = 0; t < NDR_WARP_THREADS; t++)
    sector[t] = locate(p->axes, p->kept_count, smaller(t, p->outputs - 1), 0).aux * bytes / NDR_SECTOR_BYTES;
  return count_sectors(sector);
}

/* Sectors that the first load of a launch's first warp touches, where threads read single elements. */
static int first_sectors(const ndr_params *p, bool columns, int64_t bytes) {
  int64_t sector[NDR_WARP_THREADS];
  const ndr_param_axis *reduced = p->axes + p->kept_count;
  for (int t = 0; t < NDR_WARP_THREADS; t++) {
    int64_t member = t % p->team, number = t / p->team, offset;
    if (columns) {
      int64_t lane = member % p->lanes, row = member / p->lanes;
      int64_t rest = number / p->tiles, column = (number - rest * p->tiles) * p->lanes + lane;
      offset = smaller(column, p->axes[0].size - 1) * p->axes[0].stride * bytes;
      offset += locate(p->axes + 1, p->kept_count - 1, rest, bytes).offset;
      offset += locate(reduced, p->reduced_count, smaller(row, p->length - 1), bytes).offset;
    } else {
      offset = locate(p->axes, p->kept_count, smaller(number, p->outputs - 1), bytes).offset;
      offset += locate(reduced, p->reduced_count, smaller(member, p->length - 1), bytes).offset;
    }
    sector[t] = offset / NDR_SECTOR_BYTES;
  }
  return count_sectors(sector);
}

/* What a kernel does: loads that a thread waits for one after the other, and stretches that it starts; columns that it
 * accumulates, where these are many; bytes of sectors that its loads touch, those that come from the second-level
 * cache, and from memory, and of these, what is fetched by lanes that walk rows of their own, and by lanes that read
 * the same; instructions in some unit of the kernel's own. */
typedef struct counts {
  int64_t steps, stretches, columns;
  double touched, fetched, memory, apart, again, instructions;
} counts;

static counts dense_counts(const ndr_params *p, int64_t bytes) {
  double elements = (double)p->outputs * (double)p->length;
  return (counts){.steps = 1,
                  .stretches = 1,
                  .fetched = elements * (double)bytes,
                  .memory = footprint(p, bytes),
                  .instructions = elements};
}

/* Rows that share sectors, of an axis that is not walked first, ask for them again. How many bytes of lines the
 * second-level cache has seen meanwhile: those of all blocks, each its columns of the rows of the axes before; none
 * where other blocks read the same at the same time, as they do whose pieces begin alike. */
static double bytes_meanwhile(const ndr_params *p, const ndr_device *device, int resident, int64_t bytes) {
  const ndr_param_axis *axes = p->axes + p->kept_count;
  int densest = 0;
  int64_t inner = 1, units = smaller(p->piece, p->units), kept = p->axes[0].stride * bytes;
  for (int a = 1; a < p->reduced_count; a++)
    if (axes[a].stride < axes[densest].stride && axes[a].stride * bytes < NDR_SECTOR_BYTES) densest = a;
  if (densest == 0) return 0;
  for (int a = 0; a < densest; a++) inner *= axes[a].size;
  int64_t columns = (int64_t)p->columns * (NDR_THREADS / p->team);
  double row = (double)(columns * smaller(kept, LINE));
  int64_t running = smaller(p->work, (int64_t)device->units * resident), pieces = parts(inner, units);
  if (units > inner) return row * (double)inner * (double)running;
  bool alike = kept <= NDR_SECTOR_BYTES && pieces * units - inner < units / 8 && pieces * p->tile_count < running;
  return alike ? 0 : row * (double)inner * (double)p->tile_count;
}

static counts tree_counts(const ndr_launch *launch, int64_t bytes) {
  const ndr_params *p = &launch->params;
  counts e = dense_counts(p, bytes);
  int64_t units = smaller(p->piece, p->units);
  if (launch->kernel == NDR_KERNEL_TREE_STRIDED) {
    e.steps = parts(units, (int64_t)p->team * NDR_LOADS_TREE_STRIDED);
    e.fetched = e.instructions * first_sectors(p, false, bytes);
    e.instructions *= 1 + p->reduced_count;
    return e;
  }
  if (launch->kernel == NDR_KERNEL_TREE_BLOCK) {
    e.steps = parts(units * bytes, (int64_t)NDR_THREADS * NDR_PACKET_BYTES * NDR_LOADS_TREE_BLOCK);
    return e;
  }
  int64_t run = p->axes[p->kept_count].size, packets = parts(run * bytes, NDR_PACKET_BYTES), each = p->length / run;
  double runs = (double)p->outputs * (double)each;
  bool alone = launch->kernel == NDR_KERNEL_TREE_LANES;
  int64_t batches = parts(packets, (int64_t)p->lanes * (alone ? NDR_LOADS_TREE_LANES : NDR_LOADS_TREE_RUNS));
  e.fetched = runs * (double)(parts(packets, p->lanes) * p->lanes * NDR_PACKET_BYTES);
  if (alone) {
    e.steps = p->lane_shift >= 0 ? 1 : batches;
    e.touched = p->lane_shift >= 0 ? 0 : e.fetched;
    return e;
  }
  e.touched = runs * (double)(parts(run * bytes, NDR_SECTOR_BYTES) * NDR_SECTOR_BYTES);
  e.stretches = parts(units, p->team / p->lanes);
  e.steps = batches * e.stretches;
  return e;
}

/* Where threads read single elements: neighbouring ones share sectors or do not, and so do a thread's next rows. */
static void count_single(const ndr_params *p, const ndr_device *device, int resident, int64_t bytes, counts *e) {
  int64_t run = p->reduced_count ? p->axes[p->kept_count].size : 1;
  int64_t step = p->reduced_count ? p->axes[p->kept_count].stride * bytes : NDR_SECTOR_BYTES;
  double busy = (double)p->axes[0].size / (double)(p->tiles * p->lanes);
  int64_t sharing = step == 0 ? run : parts(NDR_SECTOR_BYTES, step);
  double shared = step < NDR_SECTOR_BYTES ? (double)smaller(sharing, run) : 1;
  e->touched = e->fetched * first_sectors(p, true, bytes) / (busy * (double)bytes);
  e->fetched = e->touched / shared;
  for (int a = 0; a < p->kept_count; a++)
    if (p->axes[a].stride == 0) e->again = e->fetched;
  if (p->axes[0].stride * bytes >= BURST && step < BURST) e->apart = e->memory;
  /* What is asked for again comes from memory where the cache is half full meanwhile, or more. */
  double missed = bytes_meanwhile(p, device, resident, bytes) / (double)device->l2_bytes - 0.5;
  if (e->fetched > e->memory && missed > 0) e->memory += (e->fetched - e->memory) * (missed < 1 ? missed : 1);
  /* What is touched comes out of the first-level cache while more comes from memory: only the rest takes time. */
  double rest = e->touched * (bytes > 4 ? 2 : 1) * CACHED - e->memory;
  e->touched = rest > 0 ? rest : 0;
}

/* Walking a piece's rows, of which a block or team reads `rows` at a time and a thread asks for `batch` in a row. */
static void count_walk(const ndr_params *p, int64_t rows, int64_t batch, counts *e) {
  int64_t units = smaller(p->piece, p->units), walked = p->reduced_count ? p->axes[p->kept_count].size : 1;
  e->stretches = parts(units, walked);
  e->steps = e->stretches * parts(smaller(units, walked), rows * batch);
  e->instructions = (double)p->work * NDR_THREADS * (double)(e->steps * batch);
}

static counts thread_counts(const ndr_launch *launch, const ndr_device *device, int resident, int64_t bytes) {
  const ndr_params *p = &launch->params;
  bool single = launch->kernel == NDR_KERNEL_THREAD_ELEMENTS;
  counts e = dense_counts(p, bytes);
  count_walk(p, p->team / p->lanes, single ? NDR_LOADS_THREAD_ELEMENTS : NDR_LOADS_THREAD_PACKETS, &e);
  if (single)
    count_single(p, device, resident, bytes, &e);
  else
    e.columns = NDR_PACKET_BYTES / bytes;
  return e;
}

/* Threads walk the elements, or packets, of short runs; the block's states meet at the end. */
static counts run_counts(const ndr_launch *launch, int64_t bytes) {
  const ndr_params *p = &launch->params;
  bool wide = launch->kernel == NDR_KERNEL_TILE_RUN_PACKETS;
  int64_t rows = NDR_THREADS / p->lanes, group = p->run_units * p->period * bytes;
  counts e = dense_counts(p, bytes);
  count_walk(p, rows, wide ? NDR_LOADS_TILE_RUN_PACKETS : NDR_LOADS_TILE_RUN_ELEMENTS, &e);
  if (p->axes[p->period > 1].stride * bytes != group)
    e.fetched *= ((double)group + 0.5 * NDR_SECTOR_BYTES) / (double)group;
  e.columns = parts(smaller(p->run_units * bytes / (wide ? NDR_PACKET_BYTES : bytes), p->lanes) * rows, p->team) *
              parts(p->tile_outputs, NDR_THREADS / p->team);
  return e;
}

/* Warps read tiles of short rows. */
static counts narrow_counts(const ndr_launch *launch, int64_t bytes) {
  const ndr_params *p = &launch->params;
  counts e = dense_counts(p, bytes);
  int64_t rounds = parts(p->tile_outputs, NDR_WARP_THREADS / p->lanes) * parts(p->run_units, p->lanes);
  e.steps = p->warp_tiles * p->runs;
  e.stretches = e.steps * rounds;
  e.instructions = (double)p->all_tiles * (double)p->runs * (double)rounds * NDR_WARP_THREADS;
  return e;
}

/* Blocks read dense rows of few columns. */
static counts column_counts(const ndr_launch *launch, int64_t bytes) {
  const ndr_params *p = &launch->params;
  bool triples = launch->kernel == NDR_KERNEL_TILE_TRIPLES;
  counts e = dense_counts(p, bytes);
  int64_t units = smaller(p->piece, p->units), run = p->axes[p->kept_count].size;
  int64_t packets = smaller(units, run) * p->period * bytes / NDR_PACKET_BYTES + 1;
  e.stretches = parts(units, run);
  e.steps =
      e.stretches * parts(packets, triples ? p->team * NDR_LOADS_TILE_TRIPLES : p->lanes * NDR_LOADS_TILE_COLUMNS);
  e.columns = triples ? 0 : e.stretches * NDR_PACKET_BYTES / bytes;
  e.touched = (double)e.stretches * (double)p->work * NDR_THREADS * NDR_PACKET_BYTES;
  return e;
}

/* Threads turn packets into outputs. */
static counts packet_counts(const ndr_launch *launch, int64_t bytes) {
  counts e = dense_counts(&launch->params, bytes);
  e.steps = launch->params.units / NDR_THREADS;
  return e;
}

static counts count(const ndr_launch *launch, const ndr_device *device, int resident, int64_t bytes) {
  switch (launch->kernel) {
  case NDR_KERNEL_THREAD_PACKETS:
  case NDR_KERNEL_THREAD_ELEMENTS: return thread_counts(launch, device, resident, bytes);
  case NDR_KERNEL_TILE_COLUMNS:
  case NDR_KERNEL_TILE_TRIPLES: return column_counts(launch, bytes);
  case NDR_KERNEL_TILE_NARROW: return narrow_counts(launch, bytes);
  case NDR_KERNEL_TILE_RUN_PACKETS:
  case NDR_KERNEL_TILE_RUN_ELEMENTS: return run_counts(launch, bytes);
  case NDR_KERNEL_TILE_PACKETS: return packet_counts(launch, bytes);
  default: return tree_counts(launch, bytes);
  }
}

/* Loads that a thread which joins pieces waits for. */
static int64_t joining_loads(const ndr_params *p) {
  int lanes = ndr_launch_joiners(p->tile_outputs);
  if (p->splits == 1) return 0;
  return parts(p->group, lanes) + (p->groups > 1 ? parts(p->groups, lanes) : 0);
}

void ndr_launch_terms(const ndr_canonical *problem, const ndr_device *device, const ndr_launch *launch,
                      double terms[NDR_TERMS]) {
  int resident = ndr_kernel_blocks(launch->kernel);
  const ndr_params *p = &launch->params;
  int64_t bytes = (int64_t)ndr_dtype_bytes(problem->dtype);
  int64_t result = (int64_t)ndr_dtype_bytes(ndr_op_result(problem->ops[0], problem->dtype));
  double waves = (double)p->work / ((double)device->units * resident), rate = device->bandwidth * 1e-6;
  counts e = count(launch, device, resident, bytes);
  /* Other devices are taken to be balanced as the fitted one: multiprocessors as much slower as their bandwidth. */
  double share = FITTED_SHARE / (rate / device->units), idle = waves < 1 ? 1 - waves : 0;
  if (waves < 1) waves = 1;
  terms[NDR_TERM_START] = 1;
  terms[NDR_TERM_MEMORY] = e.memory / rate;
  terms[NDR_TERM_APART] = e.apart / rate;
  terms[NDR_TERM_FETCHED] = e.fetched / rate;
  terms[NDR_TERM_AGAIN] = e.again / rate;
  terms[NDR_TERM_TOUCHED] = e.touched / rate;
  terms[NDR_TERM_WRITTEN] =
      (double)p->outputs * written_sectors(p, result) * NDR_SECTOR_BYTES / NDR_WARP_THREADS / rate;
  terms[NDR_TERM_WAVES] = waves * share;
  terms[NDR_TERM_STEPS] = (double)e.steps * waves * share;
  terms[NDR_TERM_IDLE] = (double)e.steps * idle * share;
  terms[NDR_TERM_STRETCHES] = (double)e.stretches * waves * share;
  terms[NDR_TERM_COLUMNS] = (double)e.columns * waves * share;
  terms[NDR_TERM_INSTRUCTIONS] = e.instructions / device->units * 1e-3 * share;
  terms[NDR_TERM_OUTPUTS] = (double)p->outputs / device->units * 1e-3 * share;
  terms[NDR_TERM_JOINS] = (p->splits > 1) + (p->groups > 1);
  terms[NDR_TERM_JOINING] = (double)joining_loads(p);
}
