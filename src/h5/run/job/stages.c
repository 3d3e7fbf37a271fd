/* See stages.h. */
#include "h5/run/job/stages.h"

#include <limits.h>
#include <stdlib.h>

#include "core/status.h"

/* Up to so many states, 8 MiB of sums, groups are not taken apart. */
#define FEW_OUTPUTS ((int64_t)512 << 10)

/* To start reading anew costs little beside so many bytes, and beside so many chunks. */
#define STAGE_AIM ((int64_t)64 << 20)
#define CHUNKS_AIM 8

int64_t ndr_stage_bytes = -1;

static int64_t times(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static int64_t least_steps(const ndr_stage_sizes *sizes) {
  int64_t aim = ndr_stage_bytes < 0 ? STAGE_AIM : ndr_stage_bytes, chunks = times(CHUNKS_AIM, sizes->chunk);
  int64_t steps = aim / (sizes->step_bytes > 0 ? sizes->step_bytes : 1);
  return steps > chunks ? steps : chunks;
}

int ndr_stage_dim(const ndr_h5_groups *groups) {
  int i = 0;
  while (groups->along[0] && i < groups->ndim - 1 && groups->along[i]->count == 1) i++;
  return groups->dim + i;
}

/* ---- windows ---- */

/* How many windows a stage has along the dim that is cut; with those along the other dims each of them is `beside`
 * windows. As many as least_steps take; fewer if these make many states already, but so many that a cut falls between
 * chunks. */
static int64_t windows_of_stage(const ndr_stage_sizes *sizes, int64_t window, int64_t beside) {
  int64_t least = least_steps(sizes), wanted = least / window + (least % window != 0);
  if (ndr_stage_bytes >= 0 || beside == 1 || (sizes->chunk > 1 && !sizes->aligned)) return wanted;
  int64_t few = FEW_OUTPUTS / times(beside, sizes->outputs) + 1;
  while (few < wanted && times(few, window) % sizes->chunk != 0) few++;
  return few;
}

/* All dims before the one that is cut have one window, so that the windows of a stage follow each other. */
static ndr_status cut_windows(const ndr_h5_groups *groups, const ndr_stage_sizes *sizes, ndr_stage **stages,
                              int *count) {
  const ndr_h5_groups *along = ndr_h5_groups_axis(groups, ndr_stage_dim(groups));
  const ndr_windows range = ndr_h5_groups_range(along);
  int64_t beside = groups->count / along->count, windows = along->count, each = windows;
  bool few = ndr_stage_bytes < 0 && times(groups->count, sizes->outputs) <= FEW_OUTPUTS;
  if (!few) each = windows_of_stage(sizes, range.window, beside);
  if (each > windows || windows / each >= INT_MAX) each = windows;
  *count = (int)((windows - 1) / each + 1);
  *stages = calloc((size_t)*count, sizeof **stages);
  if (!*stages) return ndr_fail(NDR_ERR_MEMORY, "out of memory for the stages of groups");
  for (int s = 0; s < *count; s++) {
    int64_t first = s * each, end = s + 1 < *count ? first + each : windows;
    (*stages)[s] = (ndr_stage){first * beside, (end - first) * beside, first * range.window,
                               end < windows ? end * range.window : range.size};
  }
  return NDR_OK;
}

static ndr_status stage_windows(const ndr_h5_groups *groups, const ndr_stage *stage, ndr_groups **made) {
  ndr_windows ranges[NDR_MAX_DIMS];
  for (int i = 0; i < groups->ndim; i++) {
    ranges[i] = ndr_h5_groups_range(ndr_h5_groups_axis(groups, groups->dim + i));
    if (groups->dim + i != ndr_stage_dim(groups)) continue;
    ranges[i].begin = stage->begin;
    if (stage->end < ranges[i].end) ranges[i].end = stage->end;
  }
  return ndr_groups_boxes(made, groups->ndim, ranges);
}

/* ---- labels ---- */

/* Ends the stages with a step of `group`, of which none came before. */
static void cut(ndr_stage *stages, int *count, int64_t step, int64_t group) {
  ndr_stage *last = &stages[*count - 1];
  last->end = step;
  last->count = group - last->first;
  stages[(*count)++] = (ndr_stage){.first = group, .begin = step};
}

ndr_status ndr_stages_cut(const ndr_h5_groups *groups, const ndr_stage_sizes *sizes, ndr_stage **stages, int *count) {
  if (groups->how == NDR_GROUPING_WINDOWS) return cut_windows(groups, sizes, stages, count);
  int64_t least = least_steps(sizes), most = groups->length / least + 1, last = -1;
  bool few = ndr_stage_bytes < 0 && times(groups->count, sizes->outputs) <= FEW_OUTPUTS;
  few |= most > INT_MAX;
  bool whole = few || !ndr_h5_groups_layout(groups).sorted;
  ndr_stage *cuts = *stages = calloc(whole ? 1 : (size_t)most, sizeof *cuts);
  *count = 1;
  if (!cuts) return ndr_fail(NDR_ERR_MEMORY, "out of memory for the stages of groups");
  for (int64_t i = 0; i < groups->length && !whole; i++) {
    int64_t group = groups->group_of[i];
    if (group <= last) continue;
    if (last >= 0 && i - cuts[*count - 1].begin >= least) cut(cuts, count, i, group);
    last = group;
  }
  cuts[*count - 1].end = groups->length;
  cuts[*count - 1].count = groups->count - cuts[*count - 1].first;
  return NDR_OK;
}

ndr_status ndr_stage_groups(const ndr_h5_groups *groups, const ndr_stage *stage, ndr_groups **made) {
  *made = NULL;
  if (groups->how == NDR_GROUPING_WINDOWS) return stage_windows(groups, stage, made);
  int64_t *labels = malloc((size_t)groups->length * sizeof *labels + 1);
  if (!labels) return ndr_fail(NDR_ERR_MEMORY, "out of memory for the labels of groups");
  for (int64_t i = 0; i < groups->length; i++)
    labels[i] =
        i >= stage->begin && i < stage->end && groups->group_of[i] >= 0 ? groups->group_of[i] - stage->first : -1;
  const DLTensor tensor = ndr_tensor(labels, NDR_I64, 1, (int64_t[]){groups->length});
  ndr_status status = ndr_groups_create(made, &tensor, stage->count);
  free(labels);
  return status;
}
