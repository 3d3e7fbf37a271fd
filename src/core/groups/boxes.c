/* Groups of windows along one dim or several, which need no labels: how they are made, and cut into boxes. */
#include <stdlib.h>
#include <string.h>

#include "core/groups/groups.h"
#include "core/request/canonical.h"

/* ---- making them ---- */

static ndr_status check_windows(int ndim, const ndr_windows *windows, int64_t *shape, int64_t *count) {
  if (!windows) return ndr_fail(NDR_ERR_ARGUMENT, "windows is a null pointer");
  if (ndim < 1 || ndim > NDR_MAX_DIMS)
    return ndr_fail(NDR_ERR_DIMS, "windows along %d dims, must be 1 to %d", ndim, NDR_MAX_DIMS);
  *count = 1;
  for (int d = 0; d < ndim; d++) {
    const ndr_windows *w = &windows[d];
    shape[d] = w->size;
    if (w->window < 1) return ndr_fail(NDR_ERR_ARGUMENT, "a window of %lld", (long long)w->window);
    if (w->begin < 0 || w->begin >= w->end || w->end > w->size)
      return ndr_fail(NDR_ERR_ARGUMENT, "windows from %lld to %lld along a dim of size %lld", (long long)w->begin,
                      (long long)w->end, (long long)w->size);
    int64_t along = (w->end - w->begin - 1) / w->window + 1;
    if (__builtin_mul_overflow(*count, along, count)) return ndr_fail(NDR_ERR_OVERFLOW, "too many windows");
  }
  return ndr_check_shape(ndim, shape, 1);
}

ndr_status ndr_groups_boxes(ndr_groups **groups, int ndim, const ndr_windows *windows) {
  int64_t shape[NDR_MAX_DIMS] = {0}, count;
  if (!groups) return ndr_fail(NDR_ERR_ARGUMENT, "groups is a null pointer");
  *groups = NULL;
  NDR_TRY(check_windows(ndim, windows, shape, &count));
  ndr_groups *made = calloc(1, sizeof *made);
  if (made) made->windows = malloc((size_t)ndim * sizeof *windows);
  if (!made || !made->windows) {
    free(made);
    return ndr_fail(NDR_ERR_MEMORY, "out of memory for groups");
  }
  atomic_init(&made->holders, 1);
  made->ndim = ndim;
  memcpy(made->shape, shape, sizeof shape);
  memcpy(made->windows, windows, (size_t)ndim * sizeof *windows);
  made->count = count;
  *groups = made;
  return NDR_OK;
}

ndr_status ndr_groups_windows(ndr_groups **groups, int64_t length, int64_t window, ndr_rest rest) {
  if (!groups) return ndr_fail(NDR_ERR_ARGUMENT, "groups is a null pointer");
  *groups = NULL;
  if (window < 1) return ndr_fail(NDR_ERR_ARGUMENT, "a window of %lld", (long long)window);
  if ((unsigned)rest > NDR_REST_PAD) return ndr_fail(NDR_ERR_ARGUMENT, "rest is %d", (int)rest);
  if (length < 0) return ndr_fail(NDR_ERR_ARGUMENT, "a dim of size %lld", (long long)length);
  int64_t whole = length / window, left = length % window;
  if (left > 0 && rest == NDR_REST_REFUSE)
    return ndr_fail(NDR_ERR_ARGUMENT, "windows of %lld do not fill a dim of size %lld: trim or pad it",
                    (long long)window, (long long)length);
  bool pads = left > 0 && rest == NDR_REST_PAD;
  if (whole == 0 && !pads)
    return ndr_fail(NDR_ERR_ARGUMENT, "a dim of size %lld has no window of %lld", (long long)length, (long long)window);
  return ndr_groups_boxes(groups, 1, &(ndr_windows){length, 0, pads ? length : whole * window, window});
}

int64_t ndr_groups_windows_along(const ndr_groups *groups, int d) {
  const ndr_windows *w = &groups->windows[d];
  return (w->end - w->begin - 1) / w->window + 1;
}

/* ---- boxes ---- */

typedef struct stretch {
  int64_t first, groups, inner, window;
} stretch;

/* Cuts elements `from` to `to` - 1 into at most three stretches: the rest of a window that began before, whole windows,
 * and the beginning of another. Returns how many there are. */
static int cut(const ndr_windows *w, int64_t from, int64_t to, stretch stretches[3]) {
  int64_t begin = from > w->begin ? from : w->begin, end = to < w->end ? to : w->end;
  int count = 0;
  for (int64_t at = begin; at < end;) {
    int64_t in = (at - w->begin) % w->window, whole = in ? 0 : (end - at) / w->window;
    int64_t left = w->window - in < end - at ? w->window - in : end - at;
    stretches[count++] = (stretch){at - from, whole ? whole : 1, whole ? w->window : left, (at - w->begin) / w->window};
    at += whole ? whole * w->window : left;
  }
  return count;
}

bool ndr_groups_box(const ndr_groups *groups, const int64_t *offset, const int64_t *shape, int64_t at, ndr_box *box) {
  for (int d = groups->ndim - 1; d >= 0; d--) {
    stretch stretches[3];
    int count = cut(&groups->windows[d], offset[d], offset[d] + shape[d], stretches);
    if (count == 0) return false;
    const stretch *s = &stretches[at % count];
    at /= count;
    box->first[d] = s->first;
    box->groups[d] = s->groups;
    box->inner[d] = s->inner;
    box->window[d] = s->window;
  }
  return at == 0;
}

/* ---- labels in place of them ---- */

static int32_t label_of(const ndr_groups *groups, const int64_t *offset, const int64_t *index) {
  int64_t label = 0;
  for (int d = 0; d < groups->ndim; d++) {
    const ndr_windows *w = &groups->windows[d];
    int64_t at = offset[d] + index[d];
    if (at < w->begin || at >= w->end) return -1;
    label = label * ndr_groups_windows_along(groups, d) + (at - w->begin) / w->window;
  }
  return (int32_t)label;
}

ndr_status ndr_groups_label_boxes(const ndr_groups *groups, const int64_t *offset, const int64_t *shape,
                                  ndr_groups **made) {
  int64_t index[NDR_MAX_DIMS] = {0};
  NDR_TRY(ndr_groups_allocate(made, groups->ndim, shape, groups->count));
  memcpy((*made)->first, offset, (size_t)groups->ndim * sizeof *offset);
  for (int64_t at = 0; at < (*made)->length; at++) {
    (*made)->labels[at] = label_of(groups, offset, index);
    for (int d = groups->ndim - 1; d >= 0 && ++index[d] == shape[d]; d--) index[d] = 0;
  }
  return NDR_OK;
}
