/* See select_axes.h. */
#include "gpuplan/scan/select_axes.h"

#include <stdlib.h>

#include "gpuplan/launch.h"

void ndr_select_add_axis(ndr_select_walk *walk, int64_t size, int64_t stride, bool merges) {
  ndr_select_param_axis *last = walk->count ? &walk->axes[walk->count - 1] : NULL;
  if (merges && size == 1) return;
  if (merges && last && stride == last->stride * last->size.size)
    last->size.size *= size;
  else
    walk->axes[walk->count++] = (ndr_select_param_axis){.size = {.size = size}, .stride = stride};
}

void ndr_select_walk_all(ndr_select_walk *walk, const ndr_selection *selection, const int64_t *strides, int64_t bytes) {
  walk->count = 0;
  for (int d = selection->ndim - 1; d >= 0; d--)
    ndr_select_add_axis(walk, selection->shape[d], strides[d] * bytes, true);
  ndr_select_end_walk(walk);
}

typedef struct slice_axis {
  int64_t size, from, to;
} slice_axis;

static int compare_axes(const void *a, const void *b) {
  const slice_axis *x = a, *y = b;
  int64_t of_x = llabs(x->from) + llabs(x->to), of_y = llabs(y->from) + llabs(y->to);
  return of_x < of_y ? -1 : of_x > of_y ? 1 : 0;
}

int64_t ndr_select_walk_slice(const ndr_selection *selection, int64_t bytes, ndr_select_walk *from,
                              ndr_select_walk *to) {
  slice_axis axes[NDR_MAX_DIMS];
  int count = 0;
  int64_t elements = 1;
  for (int d = selection->ndim - 1; d >= 0; d--) {
    if (d == selection->dim) continue;
    elements *= selection->shape[d];
    if (selection->shape[d] != 1)
      axes[count++] =
          (slice_axis){selection->shape[d], selection->strides[d] * bytes, selection->result_strides[d] * bytes};
  }
  qsort(axes, (size_t)count, sizeof *axes, compare_axes);
  from->count = to->count = 0;
  for (int a = 0; a < count; a++) {
    const slice_axis *inner = a ? &axes[a - 1] : NULL;
    if (inner && axes[a].from == inner->from * inner->size && axes[a].to == inner->to * inner->size) {
      axes[a] = (slice_axis){inner->size * axes[a].size, inner->from, inner->to};
      from->count--, to->count--;
    }
    ndr_select_add_axis(from, axes[a].size, axes[a].from, false);
    ndr_select_add_axis(to, axes[a].size, axes[a].to, false);
  }
  ndr_select_end_walk(from);
  ndr_select_end_walk(to);
  return elements;
}

void ndr_select_end_walk(ndr_select_walk *walk) {
  for (int a = 0; a < walk->count; a++) {
    ndr_scan_divisor *size = &walk->axes[a].size;
    ndr_param_divisor found = ndr_divisor(size->size);
    size->magic = found.magic;
    size->shift = found.shift;
  }
}

bool ndr_select_is_dense(const ndr_select_walk *walk, int64_t step) {
  return walk->count == 0 || (walk->count == 1 && walk->axes[0].stride == step);
}

int ndr_select_unit(int64_t bytes, const ndr_selection_addresses *addresses, const ndr_select_walk *from,
                    const ndr_select_walk *to) {
  uint64_t all = (uint64_t)bytes | (uintptr_t)addresses->array | (uintptr_t)addresses->result | NDR_VECTOR_BYTES;
  for (int a = 0; a < from->count; a++) all |= (uint64_t)from->axes[a].stride;
  for (int a = 0; a < to->count; a++) all |= (uint64_t)to->axes[a].stride;
  return (int)(all & (~all + 1));
}
