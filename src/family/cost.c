/* How long a launch takes: a sum of what it does, each term with a weight of its kernel's. The terms are of the launch
 * and the device, so that weights that were found on one GPU serve others. tools/fit_costs.py fits them to the times of
 * random problems. */
#include <stdlib.h>
#include <string.h>

#include "family/launch.h"

enum { SECTOR = 32 };

/* Bytes a microsecond and multiprocessor of the GPU that the weights are from. */
#define FITTED_SHARE (4.8e6 / 132)

static const struct {
  const char *name;          /* the kernel's */
  int resident;              /* blocks that a multiprocessor runs at a time */
  double weights[NDR_TERMS]; /* microseconds a term */
} models[] = {
#define WEIGHTS(name, resident, ...) {#name, resident, {__VA_ARGS__}},
#include "family/weights.def"
};

/* Single elements of dense rows are read in another way than those of rows with a step, by the same kernel. */
static size_t model_of(const ndr_launch *launch) {
  bool dense = strcmp(launch->kernel, "thread_elements") == 0 && launch->params.axes[0].stride == 1;
  const char *name = dense ? "thread_dense" : launch->kernel;
  size_t m = 0;
  while (strcmp(models[m].name, name) != 0) m++;
  return m;
}

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

/* Bytes of the sectors that hold the problem's elements. Axes are taken by stride: one that steps within what those
 * before it cover, or within a sector, extends it; others repeat it. */
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
    if (step <= cover || step <= SECTOR)
      cover += step * (double)(axes[a].size - 1);
    else
      copies *= (double)axes[a].size;
  }
  return copies * cover + (copies > 1 ? copies * SECTOR / 2 : 0);
}

/* Byte offset of number n over some axes, innermost first. */
static int64_t offset_of(const ndr_param_axis *axes, int count, int64_t n, int64_t bytes) {
  int64_t offset = 0;
  for (int a = 0; a < count; a++) {
    int64_t rest = a + 1 < count ? n % axes[a].size : n;
    offset += rest * axes[a].stride;
    if (a + 1 < count) n /= axes[a].size;
  }
  return offset * bytes;
}

/* Sectors that the first load of a launch's first warp touches, where threads read single elements. */
static int first_sectors(const ndr_params *p, bool columns, int64_t bytes) {
  int64_t sector[NDR_WARP_THREADS];
  const ndr_param_axis *reduced = p->axes + p->kept_count;
  int count = 1;
  for (int t = 0; t < NDR_WARP_THREADS; t++) {
    int64_t member = t % p->team, number = t / p->team, offset;
    if (columns) {
      int64_t lane = member % p->lanes, row = member / p->lanes;
      int64_t rest = number / p->tiles, column = (number - rest * p->tiles) * p->lanes + lane;
      offset = smaller(column, p->axes[0].size - 1) * p->axes[0].stride * bytes;
      offset += offset_of(p->axes + 1, p->kept_count - 1, rest, bytes);
      offset += offset_of(reduced, p->reduced_count, smaller(row, p->length - 1), bytes);
    } else {
      offset = offset_of(p->axes, p->kept_count, smaller(number, p->outputs - 1), bytes);
      offset += offset_of(reduced, p->reduced_count, smaller(member, p->length - 1), bytes);
    }
    sector[t] = offset / SECTOR;
  }
  qsort(sector, NDR_WARP_THREADS, sizeof *sector, compare);
  for (int t = 1; t < NDR_WARP_THREADS; t++) count += sector[t] != sector[t - 1];
  return count;
}

/* What a kernel does: loads that a thread waits for one after the other, bytes of sectors asked for, instructions in
 * some unit of the kernel's own. */
typedef struct effort {
  int64_t steps;
  double requested, instructions;
  bool again; /* sectors are fetched each time that they are asked for */
} effort;

/* Whether sectors that several rows share have left the second-level cache when they are asked for again: rows are
 * walked along another axis than the densest, and those of all blocks on the device do not fit. */
static bool fetched_again(const ndr_params *p, const ndr_device *device, int resident, int64_t units, int64_t bytes) {
  const ndr_param_axis *axes = p->axes + p->kept_count;
  bool denser = false;
  for (int a = 1; a < p->reduced_count; a++)
    denser = denser || (axes[a].stride < axes[0].stride && axes[a].stride * bytes < SECTOR);
  int64_t blocks = smaller(p->work, (int64_t)device->units * resident), lanes = p->columns * (NDR_THREADS / p->team);
  double held = (double)(smaller(units, axes[0].size) * lanes * SECTOR) * (double)blocks;
  return denser && held > (double)device->l2_bytes / 2;
}

static effort tree_effort(const ndr_launch *launch, int64_t bytes) {
  enum { BATCH = 4 };
  const ndr_params *p = &launch->params;
  double elements = (double)p->outputs * (double)p->length;
  effort e = {1, elements * (double)bytes, elements, false};
  int64_t units = smaller(p->piece, p->units);
  if (strcmp(launch->kernel, "tree_strided") == 0) {
    e.steps = parts(units, (int64_t)p->team * BATCH);
    e.requested = elements * first_sectors(p, false, bytes);
    e.instructions = elements * (1 + p->reduced_count);
    return e;
  }
  if (strcmp(launch->kernel, "tree_block") == 0) {
    e.steps = parts(units * bytes, (int64_t)NDR_THREADS * NDR_PACKET_BYTES * 2 * BATCH);
    return e;
  }
  int64_t run = p->axes[p->kept_count].size, packets = parts(run * bytes, NDR_PACKET_BYTES), each = p->length / run;
  double runs = (double)p->outputs * (double)each;
  int64_t batches = parts(packets, (int64_t)p->lanes * BATCH);
  e.requested = runs * (double)(parts(packets, p->lanes) * p->lanes * NDR_PACKET_BYTES);
  if (strcmp(launch->kernel, "tree_lanes") == 0) {
    e.steps = p->lane_shift >= 0 ? 1 : batches;
    return e;
  }
  e.instructions = runs * p->lanes * (double)batches;
  e.steps = batches * parts(units, p->team / p->lanes);
  return e;
}

static effort thread_effort(const ndr_launch *launch, const ndr_device *device, int resident, int64_t bytes) {
  const ndr_params *p = &launch->params;
  bool single = strcmp(launch->kernel, "thread_elements") == 0;
  int64_t batch = single ? 16 : 4, rows = p->team / p->lanes, units = smaller(p->piece, p->units);
  int64_t run = p->reduced_count ? p->axes[p->kept_count].size : 1;
  effort e = {1, (double)p->outputs * (double)p->length * (double)bytes, 0, false};
  e.steps = parts(units, run) * parts(smaller(units, run), rows * batch);
  e.instructions = (double)p->work * NDR_THREADS * (double)(e.steps * batch);
  if (single) {
    double busy = (double)p->axes[0].size / (double)(p->tiles * p->lanes);
    e.requested *= first_sectors(p, true, bytes) / (busy * (double)bytes);
    e.again = p->reduced_count > 1 && fetched_again(p, device, resident, units, bytes);
  }
  return e;
}

static effort tile_effort(const ndr_launch *launch, int64_t bytes) {
  const ndr_params *p = &launch->params;
  double elements = (double)p->outputs * (double)p->length;
  effort e = {1, elements * (double)bytes, elements, false};
  if (strcmp(launch->kernel, "tile_packets") == 0) {
    e.steps = p->units / NDR_THREADS;
  } else if (strcmp(launch->kernel, "tile_narrow") == 0) {
    e.steps = p->team * p->runs;
  } else {
    bool triples = strcmp(launch->kernel, "tile_triples") == 0;
    int64_t units = smaller(p->piece, p->units), run = p->axes[p->kept_count].size, stretches = parts(units, run);
    int64_t packets = smaller(units, run) * p->period * bytes / NDR_PACKET_BYTES + 1;
    e.steps = stretches * parts(packets, triples ? p->team * 6 : p->lanes * 4);
    e.instructions = (double)(stretches * p->work) * NDR_THREADS;
  }
  return e;
}

const char *ndr_launch_terms(const ndr_problem *problem, const ndr_device *device, const ndr_launch *launch,
                             double terms[NDR_TERMS]) {
  const ndr_params *p = &launch->params;
  size_t m = model_of(launch);
  int64_t bytes = (int64_t)ndr_dtype_bytes(problem->dtype);
  int resident = models[m].resident;
  double waves = (double)p->work / ((double)device->units * resident), rate = device->bandwidth * 1e-6;
  effort e = strncmp(launch->kernel, "tree", 4) == 0     ? tree_effort(launch, bytes)
             : strncmp(launch->kernel, "thread", 6) == 0 ? thread_effort(launch, device, resident, bytes)
                                                         : tile_effort(launch, bytes);
  /* Other devices are taken to be balanced as the fitted one: multiprocessors as much slower as their bandwidth. */
  double share = FITTED_SHARE / (rate / device->units);
  if (waves < 1) waves = 1;
  terms[0] = 1;
  terms[1] = (e.again ? e.requested : footprint(p, bytes)) / rate;
  terms[2] = e.requested / rate;
  terms[3] = (double)e.steps * waves * share;
  terms[4] = waves * share;
  terms[5] = e.instructions / device->units * 1e-3 * share;
  terms[6] = (p->splits > 1) + (p->groups > 1);
  terms[7] = p->splits > 1 ? 16.0 * p->splits * (double)p->outputs / rate : 0;
  return models[m].name;
}

double ndr_launch_cost(const ndr_problem *problem, const ndr_device *device, const ndr_launch *launch) {
  double terms[NDR_TERMS], time = 0;
  size_t m = model_of(launch);
  if (problem->outputs == 0 || problem->length == 0) return 1e-6;
  ndr_launch_terms(problem, device, launch, terms);
  for (int t = 1; t < NDR_TERMS; t++) time += terms[t] * models[m].weights[t];
  return 1e-6 * (models[m].weights[0] + time * problem->op_count);
}
