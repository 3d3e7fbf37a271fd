/* Family labels: a table puts the elements along an axis into groups (labels.h). Its plan. */
#include "cpu/labels.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/cuts.h"
#include "cpu/family.h"
#include "cpu/threads.h"

/* Lanes of a tile: as many streams as the prefetchers of a core follow. Rows that are short in memory are read one
 * after the other: of these a tile has more. A Xeon core transposes 12 groups of 8,760 labels at 12.9 GB/s with 16
 * lanes, and with 64 lanes at 10; plain sums read 15. */
#define FEW_LANES 16
#define MANY_LANES 64
#define SHORT_BYTES (1 << 17) /* of all their rows */
/* Rows of narrow elements have as many lanes as fill a line: kernels are slow on shorter ones. */
#define LINE_BYTES 64
/* Labels of a section: runs of a group are long then, and each costs a pass over its states. */
#define SECTION 4096
/* Bytes of a tile, and of a position's states of one word: both lie in the second-level cache. */
#define TILE_BYTES (1 << 18)
#define STATES_BYTES (1 << 19)
/* Bytes of neighbours of one group from which on they are folded where they lie. */
#define RUN_BYTES 32
/* Lanes that the kernels of fold/across/listed.h and fold/across/turned.h fold at a time. */
#define EIGHTS 8
/* Bytes of a tile that is made for listed.h: a Zen 5 core transposes rows of f32 into 8 KiB at 31 GB/s, into 14 KiB at
 * 29 and into 28 KiB at 22. */
#define EIGHTS_TILE_BYTES (1 << 13)
/* Bytes of all rows of lanes in eights up to which a tile has more lanes than eight. */
#define EIGHTS_SHORT_BYTES (1 << 14)
/* Labels of a section for turned.h, which makes no tile. Each operator reads the section again, from a cache. */
#define TURNED_SECTION 512
/* Labels of a group that a section has, on average, where each group's are folded together. */
#define FEW_LABELS 4
/* As those of nests (nest.c). */
#define TASKS 32
#define STATES_PART 4
/* Bytes a second of a core, and of those below which a thread does not pay. */
#define RATE 6e9
#define BYTES_PER_THREAD 131072

static int64_t element_bytes(const ndr_canonical *problem) {
  return (int64_t)ndr_dtype_bytes(problem->dtype);
}

static int scattered_axis(const ndr_canonical *problem) {
  for (int r = 0; r < problem->reduced_count; r++)
    if (problem->reduced[r].scattered) return r;
  return -1;
}

/* Whether an operator of a nest is argmin or argmax. */
static bool has_indices(const ndr_labels *nest, const ndr_canonical *problem) {
  for (int i = 0; i < problem->op_count; i++)
    if (ndr_op_is_index(problem->ops[i]) && ndr_labels_has(nest, problem, i)) return true;
  return false;
}

/* ---- the axes ---- */

/* The axis with the most lanes; of several a kept one, because results need no joins, and the one that is fastest. An
 * index grows along reduced axes, and lanes have one. */
static void choose_lanes(ndr_labels *nest, const ndr_canonical *problem) {
  const int kinds = has_indices(nest, problem) ? 1 : 2; /* of axes: kept, then reduced */
  nest->lanes_along = -1;
  nest->extent = 1;
  for (int reduced = 0; reduced < kinds; reduced++) {
    int count = reduced ? problem->reduced_count : problem->kept_count;
    for (int a = 0; a < count; a++) {
      const ndr_axis *axis = reduced ? &problem->reduced[a] : &problem->kept[a];
      if (axis->scattered || ndr_least(axis->size, FEW_LANES) <= ndr_least(nest->extent, FEW_LANES)) continue;
      nest->lanes_kept = !reduced;
      nest->lanes_along = a;
      nest->extent = axis->size;
      nest->lane_stride = axis->stride;
    }
  }
}

static int add_axis(ndr_nest_axis *axes, int *count, ndr_nest_axis axis) {
  if (axis.size <= 1) return -1;
  axes[*count] = axis;
  return (*count)++;
}

/* Steps through the chunks of lanes come first: they are the problem's fastest axis but for the labels, or as good. */
static void add_axes(ndr_labels *nest, const ndr_canonical *problem) {
  const ndr_nest_axis chunks = {ndr_cuts(nest->extent, nest->lanes), nest->lanes * nest->lane_stride, 0,
                                nest->lanes_along, nest->lanes};
  nest->lane_axis = -1;
  if (nest->lanes_along >= 0)
    nest->lane_axis = nest->lanes_kept ? add_axis(nest->kept, &nest->kept_count, chunks)
                                       : add_axis(nest->reduced, &nest->reduced_count, chunks);
  for (int k = 0; k < problem->kept_count; k++) {
    const ndr_axis *axis = &problem->kept[k];
    if (nest->lanes_kept && k == nest->lanes_along) continue;
    add_axis(nest->kept, &nest->kept_count, (ndr_nest_axis){axis->size, axis->stride, 0, k, 1});
  }
  for (int r = 0; r < problem->reduced_count; r++) {
    const ndr_axis *axis = &problem->reduced[r];
    if (r == nest->scattered || (!nest->lanes_kept && r == nest->lanes_along)) continue;
    add_axis(nest->reduced, &nest->reduced_count, (ndr_nest_axis){axis->size, axis->stride, axis->index, r, 1});
  }
}

/* ---- sizes ---- */

static void choose_tile(ndr_labels *nest, const ndr_canonical *problem) {
  int64_t bytes = element_bytes(problem), least = nest->eights ? EIGHTS : 16, lanes = least,
          row = problem->reduced[nest->scattered].size * bytes,
          short_bytes = nest->eights ? EIGHTS_SHORT_BYTES : SHORT_BYTES;
  if (!nest->eights) lanes = ndr_most(FEW_LANES, LINE_BYTES / bytes);
  while (lanes < MANY_LANES && 2 * lanes * row <= short_bytes && 2 * lanes * nest->groups * 8 <= STATES_BYTES)
    lanes *= 2;
  nest->lanes = ndr_least(ndr_cuts(ndr_cuts(nest->extent, ndr_cuts(nest->extent, lanes)), least) * least, nest->extent);
  if (nest->eights) nest->lanes = ndr_cuts(nest->lanes, EIGHTS) * EIGHTS;
  while (nest->turned && !nest->lanes_kept && nest->lanes > EIGHTS && nest->extent % nest->lanes != 0)
    nest->lanes -= EIGHTS; /* labels are counted for all lanes alike */
  int64_t tile = (nest->eights ? EIGHTS_TILE_BYTES : TILE_BYTES) / (nest->lanes * bytes);
  nest->section = ndr_most(nest->eights ? 16 : 64, ndr_least(SECTION, tile / 16 * 16));
  if (nest->turned) nest->section = TURNED_SECTION;
}

/* Splits that make TASKS tasks, if each has STATES_PART times the bytes of its states. These count as one word, so that
 * splits do not depend on the ops. */
static void choose_splits(ndr_labels *nest, const ndr_canonical *problem) {
  double sections = (double)ndr_cuts(problem->reduced[nest->scattered].size, nest->section);
  double lanes = nest->lanes_kept ? (double)nest->lanes : 1, states = (double)(nest->groups * nest->lanes * 8);
  double bytes = (double)problem->length * lanes * (double)element_bytes(problem);
  double splits = (double)TASKS / (double)nest->positions;
  if (splits > bytes / states / STATES_PART) splits = bytes / states / STATES_PART;
  if (splits > sections * (double)nest->steps) splits = sections * (double)nest->steps;
  nest->splits = ndr_most(1, (int64_t)splits);
}

static void size_memory(ndr_labels *nest, const ndr_canonical *problem) {
  int64_t words = 0, elements = nest->lanes * nest->section, widest = 0;
  for (int i = 0; i < problem->op_count; i++) {
    if (!ndr_labels_has(nest, problem, i)) continue;
    words += ndr_canonical_words(problem, i, 1);
    nest->op_count++;
    if (nest->eights) continue; /* their kernels convert elements */
    ndr_dtype view = ndr_fold_dtype(problem->ops[i], problem->dtype, problem->accumulate_f64);
    if (view != problem->dtype) widest = ndr_most(widest, (int64_t)ndr_dtype_bytes(view));
  }
  nest->pitch = (nest->turned ? nest->groups + 1 : nest->groups) * nest->lanes;
  nest->block = nest->pitch * words;
  if (nest->lane_stride != 1 && !nest->turned)
    nest->gather_bytes = ndr_cuts(elements * element_bytes(problem), 64) * 64 + NDR_SPARE_BYTES;
  nest->convert_bytes = ndr_cuts(elements * widest, 64) * 64 + NDR_SPARE_BYTES;
  nest->scratch_bytes = ndr_cuts(2 * nest->block * 8 + nest->gather_bytes + nest->convert_bytes, 256) * 256;
}

/* Whether all tiles have lanes in eights, or may have elements of no output in the place of those that they lack. */
static bool has_eights(const ndr_labels *nest) {
  return nest->extent % EIGHTS == 0 || (nest->extent > EIGHTS && nest->lanes_kept && nest->lane_stride != 1);
}

static void make_nest(ndr_labels *nest, const ndr_canonical *problem, bool eights, bool all) {
  memset(nest, 0, sizeof *nest);
  nest->eights = eights;
  nest->all = all;
  nest->groups = problem->group.size;
  nest->scattered = scattered_axis(problem);
  choose_lanes(nest, problem);
  nest->turned = eights && problem->row_stride == 1 && nest->lane_stride != 1;
  choose_tile(nest, problem);
  add_axes(nest, problem);
  nest->positions = nest->steps = 1;
  for (int k = 0; k < nest->kept_count; k++) nest->positions *= nest->kept[k].size;
  for (int r = 0; r < nest->reduced_count; r++) nest->steps *= nest->reduced[r].size;
  choose_splits(nest, problem);
  size_memory(nest, problem);
}

/* ---- the family ---- */

static const char *reject(const ndr_canonical *problem, const ndr_device *device, char *text) {
  (void)device;
  (void)text;
  if (!problem->table) return "there is no table of labels";
  if (problem->programs_owner) return "programs read no table";
  return NULL;
}

static double cost(const ndr_canonical *problem, const ndr_device *device) {
  return ndr_plan_bytes_read(problem) / RATE / device->units;
}

static int choose_threads(const ndr_labels *nest, const ndr_plan *plan) {
  int64_t threads = plan->threads > 0 ? plan->threads : plan->device.units;
  double pay = ndr_plan_bytes_read(&plan->problem) / BYTES_PER_THREAD;
  if (pay < (double)threads) threads = ndr_most(1, (int64_t)pay);
  return (int)ndr_least(ndr_least(threads, NDR_MOST_THREADS), nest->positions * nest->splits);
}

/* At most a minute, as ndr_nest_install says. */
static int64_t nanoseconds_of(const ndr_canonical *problem) {
  double seconds = ndr_plan_bytes_read(problem) / RATE * problem->op_count;
  return (int64_t)(1e9 * (seconds < 60 ? seconds : 60));
}

static void configure(ndr_plan *plan) {
  ndr_labels nests[NDR_LABELS_NESTS];
  make_nest(&nests[0], &plan->problem, true, false);
  const bool eights = has_eights(&nests[0]);
  if (!eights) nests[0].op_count = 0;
  make_nest(&nests[1], &plan->problem, false, !eights);
  plan->workspace = 0;
  for (int n = 0; n < NDR_LABELS_NESTS; n++) {
    ndr_labels *nest = &nests[n];
    nest->threads = choose_threads(nest, plan);
    nest->nanoseconds = nanoseconds_of(&plan->problem);
    size_t bytes = (size_t)(nest->threads * nest->scratch_bytes);
    if (nest->splits > 1) bytes += (size_t)(nest->positions * (nest->splits * nest->block + 1) * 8);
    if (nest->op_count && bytes > plan->workspace) plan->workspace = bytes;
  }
  memcpy(plan->config, nests, sizeof nests);
}

static size_t describe(const ndr_plan *plan, char *text, size_t capacity) {
  size_t length = 0;
  if (capacity) text[0] = 0;
  for (int n = 0; n < NDR_LABELS_NESTS; n++) {
    const ndr_labels *nest = &ndr_labels_nests(plan)[n];
    if (nest->op_count)
      ndr_text_append(
          text, capacity, &length, "%ssections of %lld labels x %lld lanes along a %s axis, %lld tasks, %d thread%s",
          length ? "; " : "", (long long)nest->section, (long long)nest->lanes, nest->lanes_kept ? "kept" : "reduced",
          (long long)nest->positions * nest->splits, nest->threads, NDR_PLURAL(nest->threads));
  }
  return length;
}

_Static_assert(NDR_LABELS_NESTS * sizeof(ndr_labels) <= NDR_CONFIG_BYTES, "they are a plan's configuration");

static ndr_status make_sections(const ndr_labels *nest, const ndr_canonical *problem, ndr_sections **made) {
  ndr_cutting cutting = {.length = problem->reduced[nest->scattered].size,
                         .most = nest->section,
                         .long_run = INT32_MAX,
                         .few = nest->eights ? FEW_LABELS : 0,
                         .neighbours = has_indices(nest, problem),
                         .turned = nest->turned};
  if (!nest->eights && nest->lane_stride != 1 && problem->row_stride == 1)
    cutting.long_run = ndr_most(2, RUN_BYTES / element_bytes(problem));
  return ndr_sections_make(made, problem->table, &cutting);
}

ndr_status ndr_labels_make_table(const ndr_plan *plan, void **memory) {
  ndr_labels_table *made = calloc(1, sizeof *made);
  ndr_status status = made ? NDR_OK : ndr_fail(NDR_ERR_MEMORY, "out of memory for a table of labels");
  for (int n = 0; status == NDR_OK && n < NDR_LABELS_NESTS; n++)
    if (ndr_labels_nests(plan)[n].op_count)
      status = make_sections(&ndr_labels_nests(plan)[n], &plan->problem, &made->sections[n]);
  if (status != NDR_OK) ndr_labels_free_table(0, made);
  *memory = status == NDR_OK ? made : NULL;
  return status;
}

void ndr_labels_free_table(int id, void *memory) {
  ndr_labels_table *table = memory;
  (void)id;
  for (int n = 0; table && n < NDR_LABELS_NESTS; n++) ndr_sections_free(table->sections[n]);
  free(table);
}

const ndr_cpu_family ndr_cpu_labels = {{"labels", reject, cost, configure, describe}, ndr_labels_execute};
