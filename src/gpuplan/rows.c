/* Orders and splits the rows that a block's threads walk. */
#include "gpuplan/rows.h"

#include <math.h>

void ndr_rows_order(ndr_params *p, int rows, int64_t bytes) {
  ndr_param_axis *axes = p->axes + p->kept_count;
  int first = 0;
  if (p->reduced_count == 0) return;
  bool share_sectors = (double)axes[0].stride * (double)bytes < NDR_SECTOR_BYTES && axes[0].size >= 2 * rows;
  for (int a = 1; !share_sectors && a < p->reduced_count; a++)
    if (axes[a].size > axes[first].size) first = a;
  ndr_param_axis axis = axes[first];
  axes[first] = axes[0];
  axes[0] = axis;
}

bool ndr_rows_strips_cover(int64_t size, int64_t width) {
  return size >= width && 4 * (ndr_ceil_div(size, width) * width - size) <= size;
}

int ndr_rows_state_cost(const ndr_canonical *problem) {
  enum { WORD_COST = 8 }; /* the best of 1, 2, 3, 4 and 8 on 460 problems */
  return WORD_COST * ndr_canonical_words(problem, 0, 1);
}

double ndr_rows_bytes(const ndr_params *p, int64_t bytes) {
  const ndr_param_axis *along = &p->axes[0], *walked = &p->axes[p->kept_count];
  int64_t columns = along->size < p->thread.team_columns ? along->size : p->thread.team_columns;
  double apart = (double)along->stride * (double)bytes, span = (double)(columns - 1) * apart + (double)bytes;
  double sectors = apart < NDR_SECTOR_BYTES ? ceil(span / NDR_SECTOR_BYTES) : (double)columns;
  double dense = p->reduced_count > 0 && walked->size > 1 ? fmax((double)(walked->stride * bytes), span) : span;
  return fmin(sectors * NDR_SECTOR_BYTES, dense);
}

/* Rounds a split's length so that the first axis is cut at the same rows for every index of the other axes. Where rows
 * of one of those share sectors, several blocks then read them at the same time. */
static int64_t align_split(const ndr_params *p, int64_t split, int64_t bytes) {
  const ndr_param_axis *axes = p->axes + p->kept_count;
  int64_t inner = p->reduced_count > 1 ? axes[0].size : 0;
  if (split < 1 || split >= inner || axes[0].stride * bytes < NDR_SECTOR_BYTES) return split;
  int64_t splits = (inner + split / 2) / split;
  return (inner + splits - 1) / splits;
}

int ndr_rows_split(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, int64_t units,
                   double row_bytes, int rows, int batch, int column_splits) {
  const ndr_params *p = &launch->params;
  int64_t most = units / ((int64_t)rows * batch), blocks = (int64_t)device->units * launch->blocks;
  int64_t one_step = ndr_launch_step(p->tile_outputs);
  ndr_tiles tiles = {p->work * column_splits, (double)units * row_bytes / column_splits, p->tile_outputs, launch->words,
                     launch->block_bytes};
  int64_t splits = ndr_best_splits(&tiles, blocks, most > 1 ? most : 1, one_step);
  int64_t longest = (int64_t)NDR_MOST_THREAD_ELEMENTS * rows, element = (int64_t)ndr_dtype_bytes(problem->dtype);
  if (element <= 2 && longest > NDR_NARROW_ROWS) longest = NDR_NARROW_ROWS;
  splits = ndr_bound_splits(splits, units, longest, p->work * column_splits, blocks);
  int64_t split = align_split(p, (units + splits - 1) / splits, element);
  return ndr_launch_split(launch, units, split > longest ? longest : split, column_splits, (int)one_step);
}
