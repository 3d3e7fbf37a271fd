/* A launch that reads several arrays, once their addresses are known: how it reads each, and its arguments. Also says
 * in words how a launch reads them. */
#include "gpuplan/operands/operand_arrays.h"
#include "gpuplan/operands/operands.h"

/* Whether an array may be read by chunks from here on, where `reference` is such a place of another array. */
static bool is_in_phase(uintptr_t at, int64_t bytes, uintptr_t reference, int64_t reference_bytes, int64_t elements) {
  if (at % (uintptr_t)bytes || reference % (uintptr_t)reference_bytes) return false;
  return (at / (uintptr_t)bytes - reference / (uintptr_t)reference_bytes) % (uintptr_t)elements == 0;
}

/* Whether threads own neighbouring outputs. */
static bool owns_columns(const ndr_launch *launch) {
  return launch->kernel == NDR_KERNEL_OPERANDS_COLUMNS || launch->kernel == NDR_KERNEL_TABLE_COLUMNS;
}

/* The ways for arrays that begin here: those off the boundaries of the array that decides, or off any, are shifted into
 * place where the kernel can do that, and otherwise read element by element. */
static unsigned ways_here(const ndr_canonical *problem, const ndr_launch *launch, const void *const *first) {
  unsigned ways = launch->operands.ways;
  bool peeled = launch->kernel == NDR_KERNEL_OPERANDS_RUNS;
  bool shifts = launch->operands.elements > 1 && (peeled || owns_columns(launch));
  int widest = -1;
  for (int k = 0; k < ndr_count_arrays(problem); k++) {
    bool whole = (uintptr_t)first[k] % (uintptr_t)ndr_array_bytes(problem, k) == 0;
    if ((NDR_WAY_OF(ways, k) & 3) != NDR_WAY_VECTOR || !whole) continue;
    if (widest < 0 || ndr_array_bytes(problem, k) > ndr_array_bytes(problem, widest)) widest = k;
  }
  for (int k = 0; k < ndr_count_arrays(problem); k++) {
    bool other = peeled && widest >= 0; /* otherwise the phase must be 0 */
    int64_t bytes = ndr_array_bytes(problem, k);
    bool whole = (uintptr_t)first[k] % (uintptr_t)bytes == 0;
    unsigned way = NDR_WAY_OF(ways, k) & 3;
    if (way != NDR_WAY_VECTOR && way != NDR_WAY_SHIFTED) continue;
    if (way == NDR_WAY_VECTOR && !is_in_phase((uintptr_t)first[k], bytes, other ? (uintptr_t)first[widest] : 0,
                                              other ? ndr_array_bytes(problem, widest) : 1, launch->operands.elements))
      way = NDR_WAY_SHIFTED;
    if (way == NDR_WAY_SHIFTED && !(whole && shifts)) way = NDR_WAY_ELEMENTS;
    ways = (ways & ~(3u << (NDR_WAY_BITS * k))) | way << (NDR_WAY_BITS * k);
  }
  return ways;
}

/* The axis of the problem that is axes[a] of the launch; NULL: an axis of one element. */
static const ndr_axis *launched_axis(const ndr_canonical *problem, const ndr_launch *launch, int a) {
  int reduced = a - problem->kept_count, walked = launch->operands.walked;
  if (reduced < 0) return &problem->kept[a];
  if (reduced >= problem->reduced_count) return NULL;
  return &problem->reduced[reduced == 0 ? walked : reduced == walked ? 0 : reduced];
}

static void fill_in(const ndr_canonical *problem, const ndr_launch *launch, const void *const *first,
                    ndr_program_params *params) {
  params->base = launch->params;
  params->base.data = first[0];
  for (int k = 0; k < problem->operand_count; k++)
    params->operands[k] = (ndr_param_operand){.data = first[k + 1], .extent = 1};
  for (int k = 0; k < problem->place_count; k++)
    params->places[k] = (ndr_param_place){.start = problem->place_origin[k]};
  for (int a = 0; a < ndr_count_axes(problem); a++) {
    const ndr_axis *axis = launched_axis(problem, launch, a);
    for (int k = 0; k < problem->operand_count; k++) {
      params->operands[k].stride[a] = axis->operand[k];
      if (axis->operand[k] > 0) params->operands[k].extent += (axis->size - 1) * axis->operand[k];
    }
    for (int k = 0; k < problem->place_count; k++) params->places[k].step[a] = axis->place[k];
  }
}

/* Whether all arrays begin on multiples of their elements' sizes. Complex numbers may begin on multiples of half that.
 */
static bool are_whole(const ndr_canonical *problem, const void *const *first) {
  for (int k = 0; k < ndr_count_arrays(problem); k++)
    if ((uintptr_t)first[k] % (uintptr_t)ndr_array_bytes(problem, k)) return false;
  return true;
}

const ndr_launch *ndr_operands_launch(const ndr_plan *plan, const void *const *arrays, ndr_program_params *params,
                                      unsigned *ways) {
  const ndr_canonical *problem = &plan->problem;
  const ndr_launches *launches = ndr_plan_launches(plan);
  const ndr_launch *launch = &launches->aligned, *unaligned = &launches->unaligned;
  const void *first[1 + NDR_MAX_OPERANDS] = {NULL};
  for (int k = 0; k < ndr_count_arrays(problem); k++) {
    int64_t origin = k == 0 ? problem->origin : problem->operand_origin[k - 1];
    first[k] = arrays[k]; /* NULL where there are no elements */
    if (origin) first[k] = (const char *)arrays[k] + origin * ndr_array_bytes(problem, k);
  }
  if (owns_columns(launch)) {
    bool spread = launch->kernel == NDR_KERNEL_OPERANDS_COLUMNS && unaligned->operands.steps > 1;
    if (!are_whole(problem, first) || (spread && ndr_shifts_fresh(problem, ways_here(problem, launch, first))))
      launch = unaligned;
  } else if (launch->kernel != NDR_KERNEL_OPERANDS_RUNS && launch->kernel != NDR_KERNEL_TABLE_TILES) {
    int decider = ndr_find_decider(problem, ndr_run_axis(problem));
    int64_t chunk = decider < 0 ? 1 : launch->operands.elements * ndr_array_bytes(problem, decider);
    if (decider >= 0 && (uintptr_t)first[decider] % (uintptr_t)chunk) launch = unaligned;
  }
  *ways = ways_here(problem, launch, first);
  fill_in(problem, launch, first, params);
  return launch;
}

size_t ndr_operands_describe(const ndr_canonical *problem, const ndr_launch *launch, char *text, size_t capacity) {
  static const char *const names[] = {"elements", "vectors", "one for all", "shifted"};
  const ndr_params *p = &launch->params;
  size_t length = 0;
  int lanes = owns_columns(launch)                         ? p->thread.lanes.count
              : launch->kernel == NDR_KERNEL_OPERANDS_RUNS ? p->operand_runs.lanes.count
                                                           : p->operand_short.lanes.count;
  ndr_text_append(text, capacity, &length, "%s, ", ndr_kernel_name(launch->kernel));
  if (launch->kernel == NDR_KERNEL_TABLE_TILES)
    ndr_text_append(text, capacity, &length, "%d rows at a time, %s", launch->operands.steps,
                    launch->operands.ways & NDR_WAYS_PAIRS ? "label by label, " : "");
  if (owns_columns(launch) && launch->operands.steps > 1)
    ndr_text_append(text, capacity, &length, "%d ", launch->operands.steps);
  ndr_text_append(text, capacity, &length, "chunks of %d (", launch->operands.elements);
  for (int k = 0; k < ndr_count_arrays(problem); k++)
    ndr_text_append(text, capacity, &length, "%s%s: %s", k ? ", " : "",
                    ndr_dtype_name(k == 0 ? problem->dtype : problem->operand_dtypes[k - 1]),
                    names[NDR_WAY_OF(launch->operands.ways, k) & 3]);
  if (launch->operands.ways & NDR_WAYS_OWN_RUNS) ndr_text_append(text, capacity, &length, ", own runs");
  if (launch->operands.ways & NDR_WAYS_TWICE) ndr_text_append(text, capacity, &length, ", twice the bytes in flight");
  if (launch->kernel == NDR_KERNEL_TABLE_TILES) {
    ndr_text_append(text, capacity, &length,
                    "), grid %u x %u threads, %d tiles of %d labels, items of %d rows, %d parts, %u bytes shared",
                    launch->grid, launch->threads, p->table.tiles.tiles, p->table.tiles.width, p->table.tiles.rows,
                    p->table.parts, launch->shared_bytes);
    return length;
  }
  if (launch->kernel == NDR_KERNEL_TABLE_COLUMNS) {
    ndr_text_append(text, capacity, &length, "), grid %u x %u threads, %d lanes, teams of %d, %d tasks, %lld slots",
                    launch->grid, launch->threads, lanes, p->thread.team.count, p->table.tasks, (long long)p->slots);
    return length;
  }
  ndr_text_append(text, capacity, &length, "), grid %u x %u threads, %d lanes, split %d", launch->grid, launch->threads,
                  lanes, p->splits);
  if (p->split_groups > 1) ndr_text_append(text, capacity, &length, " in %d groups", p->split_groups);
  return length;
}
