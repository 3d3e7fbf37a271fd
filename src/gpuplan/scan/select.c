/* See select.h. For elements, and slices that are as short, it is counted first how many each tile keeps; then they are
 * moved. Of other slices the numbers of those that are kept are listed first. Indices come in one pass. */
#include "gpuplan/scan/select.h"

#include <stdlib.h>
#include <string.h>

#include "gpuplan/launch.h"
#include "gpuplan/operands/operand_arrays.h"
#include "gpuplan/scan/scan.h"
#include "gpuplan/scan/select_axes.h"

enum { ALIGNMENT = 16, MOST_BYTES = 16 /* of what select_elements moves as one */ };

_Static_assert(sizeof(ndr_select_params) <= 4096, "a kernel takes its arguments in 4 KiB");
_Static_assert(NDR_PARAM_AXES >= NDR_MAX_DIMS, "a walk has room for all dims");
_Static_assert(NDR_SELECT_TILE == 32 * NDR_SCAN_BLOCK, "a thread has a word of a tile");

/* Adds a launch with a block for each tile. `residents` is how many blocks fit on a multiprocessor without spills. */
static ndr_select_launch *add(ndr_select_plan *plan, ndr_select_kernel kernel, ndr_dtype truth) {
  ndr_select_launch *launch = &plan->launches[plan->count++];
  const bool dense = ndr_select_is_dense(&plan->params.read, 1);
  *launch = (ndr_select_launch){.kernel = kernel, .truth = truth, .grid = (unsigned)plan->params.tiles};
  launch->known = dense ? NDR_SELECT_DENSE_MASK : 0;
  launch->residents = dense ? 6 : 4;
  return launch;
}

/* The same of a kernel whose blocks wait for each other: for totals of tiles and their prefixes, as in one line of a
 * scan. */
static ndr_select_launch *add_waiting(ndr_select_plan *plan, ndr_select_kernel kernel, ndr_dtype truth) {
  const int64_t tiles = plan->params.tiles;
  if (tiles > 1) plan->posted_bytes = (size_t)ndr_scan_nodes(tiles, NDR_SCAN_LINE_GROUP(1), 1) * sizeof(ndr_posted);
  plan->workspace += plan->posted_bytes;
  return add(plan, kernel, truth);
}

/* Sets what the launch moves as one. */
static void move(ndr_select_plan *plan, ndr_select_launch *launch, const ndr_selection_addresses *addresses,
                 int64_t bytes) {
  launch->bytes = (int)bytes;
  launch->unit = ndr_select_unit(bytes | plan->params.from_step | plan->params.to_step, addresses, &plan->params.from,
                                 &plan->params.to);
}

/* ---- elements ---- */

/* Whether the selection is one of elements, or of slices that are moved as if they were. Returns their bytes, or 0. */
static int64_t walk_elements(ndr_select_params *p, const ndr_selection *s, int64_t bytes) {
  p->from.count = p->to.count = 0;
  if (s->dim < 0) {
    ndr_select_walk_all(&p->from, s, s->strides, bytes);
    if (s->by_dims)
      ndr_select_walk_all(&p->to, s, s->result_strides, bytes);
    else
      ndr_select_add_axis(&p->to, s->places, s->result_strides[0] * bytes, true);
    return bytes;
  }
  int64_t elements = ndr_select_walk_slice(s, bytes, &p->from, &p->to), whole = elements * bytes;
  bool together = ndr_select_is_dense(&p->from, bytes) && ndr_select_is_dense(&p->to, bytes);
  if (elements == 0 || elements > MOST_BYTES || whole > MOST_BYTES || !together) return 0;
  p->from.count = p->to.count = 0;
  ndr_select_add_axis(&p->from, s->places, s->strides[s->dim] * bytes, true);
  ndr_select_add_axis(&p->to, s->places, s->result_strides[s->dim] * bytes, true);
  return whole;
}

/* Two launches that count what is kept before each tile. */
static void add_counts(ndr_select_plan *plan) {
  const int64_t tiles = plan->params.tiles, chunks = ndr_ceil_div(tiles, NDR_SELECT_CHUNK);
  add(plan, NDR_SELECT_COUNT, NDR_BOOL)->residents = 8;
  add(plan, NDR_SELECT_SUMS, NDR_BOOL)->grid = (unsigned)chunks;
  plan->list_bytes = (size_t)(tiles + chunks) * sizeof(int64_t);
  plan->workspace += plan->list_bytes + (size_t)tiles * NDR_SCAN_BLOCK * sizeof *plan->params.words;
}

static void plan_elements(ndr_select_plan *plan, const ndr_selection *s, const ndr_selection_addresses *addresses,
                          int64_t bytes) {
  bool parted = s->kind == NDR_SELECTION_PARTITION;
  add_counts(plan);
  ndr_select_launch *launch = add(plan, NDR_SELECT_ELEMENTS, NDR_BOOL);
  move(plan, launch, addresses, bytes);
  if (parted) launch->known |= NDR_SELECT_BOTH;
  if (ndr_select_is_dense(&plan->params.from, bytes)) launch->known |= NDR_SELECT_DENSE_FROM;
  if (ndr_select_is_dense(&plan->params.to, bytes)) launch->known |= NDR_SELECT_DENSE_TO;
  const unsigned dense = NDR_SELECT_DENSE_MASK | NDR_SELECT_DENSE_FROM | NDR_SELECT_DENSE_TO;
  launch->residents = (launch->known & dense) == dense ? 5 : 4;
}

static void plan_indices(ndr_select_plan *plan, const ndr_selection *s) {
  const int64_t bytes = sizeof(int64_t);
  for (int d = s->ndim - 1; d >= 0; d--)
    ndr_select_add_axis(&plan->params.to, s->shape[d], d * s->result_strides[1] * bytes, false);
  ndr_select_end_walk(&plan->params.to);
  plan->params.to_step = s->result_strides[0] * bytes;
  add_waiting(plan, NDR_SELECT_INDICES, s->dtype);
}

/* ---- slices ---- */

static int64_t elements_of(const ndr_select_walk *walk, int first) {
  int64_t elements = 1;
  for (int a = first; a < walk->count; a++) elements *= walk->axes[a].size.size;
  return elements;
}

/* Widens elements that follow each other along the first axis, in the array and in the result, to vectors. */
static void widen(ndr_select_plan *plan, ndr_select_launch *launch, const ndr_selection_addresses *addresses) {
  ndr_select_param_axis *from = &plan->params.from.axes[0], *to = &plan->params.to.axes[0];
  const int64_t run = from->size.size * launch->bytes;
  from->stride = to->stride = 0; /* any unit divides 0 */
  move(plan, launch, addresses, run);
  launch->bytes = launch->unit;
  from->stride = to->stride = launch->bytes;
  from->size.size = to->size.size = run / launch->bytes;
  ndr_select_end_walk(&plan->params.from);
  ndr_select_end_walk(&plan->params.to);
  launch->known |= NDR_SELECT_DENSE_FROM | NDR_SELECT_DENSE_TO;
}

/* As many blocks as there can be items, or as run at a time if those are fewer: see select_slices. */
static unsigned slices_grid(const ndr_select_plan *plan, const ndr_select_launch *launch, int64_t slices,
                            const ndr_device *device) {
  const int64_t width = NDR_SCAN_BLOCK * NDR_SELECT_LOADS(launch->bytes);
  const bool columns = (launch->known & NDR_SELECT_COLUMNS) != 0;
  const int64_t run = columns ? slices : plan->params.run, runs = columns ? plan->params.outer : slices;
  const int64_t items = (columns ? 1 : plan->params.outer) *
                        (run > width ? runs * ndr_ceil_div(run, width) : ndr_ceil_div(runs, width / run));
  const int64_t blocks = (int64_t)device->units * launch->residents;
  return (unsigned)(items < blocks ? items : blocks);
}

static void plan_slices(ndr_select_plan *plan, const ndr_selection *s, const ndr_selection_addresses *addresses,
                        const ndr_device *device) {
  ndr_select_params *p = &plan->params;
  const int64_t bytes = (int64_t)ndr_dtype_bytes(s->dtype);
  const bool parted = s->kind == NDR_SELECTION_PARTITION;
  const int64_t slices = s->room < s->places ? s->room : s->places;
  const unsigned known = (parted ? NDR_SELECT_BOTH : 0) | (s->places > UINT32_MAX ? NDR_SELECT_FAR : 0);
  p->from_step = s->strides[s->dim] * bytes;
  p->to_step = s->result_strides[s->dim] * bytes;
  plan->workspace += (size_t)slices * (s->places > UINT32_MAX ? sizeof(uint64_t) : sizeof(uint32_t));
  add_waiting(plan, NDR_SELECT_NUMBERS, NDR_BOOL)->known |= known;
  if (slices == 0) return;
  ndr_select_launch *launch = add(plan, NDR_SELECT_SLICES, NDR_BOOL);
  launch->known = known;
  move(plan, launch, addresses, bytes);
  const ndr_select_param_axis *from = &p->from.axes[0], *to = &p->to.axes[0];
  if (llabs(p->from_step) + llabs(p->to_step) < llabs(from->stride) + llabs(to->stride)) {
    launch->known |= NDR_SELECT_COLUMNS;
    p->outer = elements_of(&p->from, 0);
  } else {
    if (from->stride == bytes && to->stride == bytes) widen(plan, launch, addresses);
    p->run = from->size.size;
    p->outer = elements_of(&p->from, 1);
  }
  launch->residents = NDR_SELECT_LOADS(launch->bytes) > 4 ? 3 : 4;
  launch->grid = slices_grid(plan, launch, slices, device);
}

/* ---- all ---- */

static void walk_mask(ndr_select_walk *walk, const ndr_selection *s) {
  if (s->dim < 0)
    ndr_select_walk_all(walk, s, s->mask_strides, 1);
  else
    ndr_select_add_axis(walk, s->places, s->mask_strides[s->dim], true);
}

static void plan_launches(ndr_select_plan *plan, const ndr_selection *s, const ndr_selection_addresses *addresses,
                          const ndr_device *device) {
  ndr_select_params *p = &plan->params;
  int64_t bytes = s->kind == NDR_SELECTION_NONZERO ? 0 : walk_elements(p, s, (int64_t)ndr_dtype_bytes(s->dtype));
  if (s->kind == NDR_SELECTION_NONZERO) {
    plan_indices(plan, s);
  } else if (bytes) {
    plan_elements(plan, s, addresses, bytes);
  } else if (elements_of(&p->from, 0) == 0) {
    p->room = 0; /* slices without elements are counted only */
    add_waiting(plan, NDR_SELECT_NUMBERS, NDR_BOOL);
  } else {
    plan_slices(plan, s, addresses, device);
  }
  for (int i = 0; i < plan->count; i++) plan->launches[i].capability = device->capability;
}

ndr_status ndr_select_plan_make(const ndr_selection *selection, const ndr_selection_addresses *addresses,
                                const ndr_device *device, ndr_select_plan *plan) {
  const ndr_selection *s = selection;
  memset(plan, 0, sizeof *plan);
  if (!device->compiles)
    return ndr_fail(NDR_ERR_UNSUPPORTED,
                    "selections need NVRTC (libnvrtc.so) to compile their kernels, which was not found");
  if (s->places == 0) return NDR_OK;
  ndr_select_params *p = &plan->params;
  p->tiles = ndr_ceil_div(s->places, NDR_SELECT_TILE);
  if (p->tiles > INT32_MAX)
    return ndr_fail(NDR_ERR_UNSUPPORTED, "a selection on a GPU is from at most %lld places, not from %lld",
                    (long long)INT32_MAX * NDR_SELECT_TILE, (long long)s->places);
  p->array = addresses->array, p->mask = addresses->mask, p->result = addresses->result;
  p->count = (long long *)addresses->count;
  p->places = s->places, p->room = s->room;
  walk_mask(&p->read, s);
  plan->workspace = ALIGNMENT;
  plan_launches(plan, s, addresses, device);
  return NDR_OK;
}

void ndr_select_plan_place(ndr_select_plan *plan, void *workspace) {
  char *at = (char *)workspace + plan->posted_bytes;
  plan->params.posted = workspace;
  plan->params.total = (long long *)(void *)at;
  plan->params.list = at + ALIGNMENT;
  plan->params.words = (unsigned *)(void *)(at + ALIGNMENT + plan->list_bytes);
}
