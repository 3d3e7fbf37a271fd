/* Moves the elements, slices or indices that are selected. */
#include <string.h>

#include "cpu/scan/select.h"

/* Elements are moved as integers, so that no bit of a NaN changes. c64 lie on multiples of 4. */
typedef uint64_t word __attribute__((aligned(4), may_alias));
typedef struct pair {
  uint64_t low, high;
} pair;

#define GATHER(type)                                                                                                   \
  do {                                                                                                                 \
    const type *x = (const type *)from;                                                                                \
    type *y = (type *)to;                                                                                              \
    if (stride == 1 && step == 1)                                                                                      \
      for (int64_t j = 0; j < count; j++) y[j] = x[list[j]];                                                           \
    else                                                                                                               \
      for (int64_t j = 0; j < count; j++) y[j * step] = x[list[j] * stride];                                           \
  } while (0)

/* One element of each place. */
static void gather(int64_t bytes, const void *from, int64_t stride, const uint16_t *list, int64_t count, void *to,
                   int64_t step) {
  switch (bytes) {
  case 1: GATHER(uint8_t); break;
  case 2: GATHER(uint16_t); break;
  case 4: GATHER(uint32_t); break;
  case 8: GATHER(word); break;
  default: GATHER(pair); break;
  }
}

#define COPY(type)                                                                                                     \
  for (int64_t i = 0; i < count; i++) ((type *)to)[i * step] = ((const type *)from)[i * stride]

/* Neighbours along one axis. */
static void copy(int64_t bytes, const void *from, int64_t stride, int64_t count, void *to, int64_t step) {
  if (stride == 1 && step == 1) {
    memcpy(to, from, (size_t)(count * bytes));
    return;
  }
  switch (bytes) {
  case 1: COPY(uint8_t); break;
  case 2: COPY(uint16_t); break;
  case 4: COPY(uint32_t); break;
  case 8: COPY(word); break;
  default: COPY(pair); break;
  }
}

/* ---- elements ---- */

/* A result of the array's shape: the places from `to` on, as many as lie along its last dim. */
static int64_t find_place(const ndr_selection *made, int64_t to, int64_t count, int64_t *at) {
  int last = made->ndim - 1;
  *at = 0;
  if (last < 0) return count;
  int64_t left = made->shape[last] - to % made->shape[last];
  for (int d = last; d >= 0; d--) {
    *at += to % made->shape[d] * made->result_strides[d];
    to /= made->shape[d];
  }
  return left < count ? left : count;
}

static void move_elements(const ndr_select_job *job, const ndr_select_piece *piece, const uint16_t *list, int64_t count,
                          int64_t to) {
  const ndr_selection *made = job->made;
  const char *from = job->array + piece->at * job->element;
  if (!made->by_dims) {
    gather(job->element, from, piece->stride, list, count, job->result + to * job->result_step * job->element,
           job->result_step);
    return;
  }
  int64_t step = made->ndim ? made->result_strides[made->ndim - 1] : 1;
  for (int64_t done = 0, at, some; done < count; done += some) {
    some = find_place(made, to + done, count - done, &at);
    gather(job->element, from, piece->stride, list + done, some, job->result + at * job->element, step);
  }
}

/* ---- slices ---- */

/* Where element `rest` of a slice lies, and how many follow it along the innermost axis. */
static int64_t find_rest(const ndr_select_job *job, int64_t rest, int64_t *at, int64_t *result) {
  int64_t left = job->rest_axes ? job->rest[0].size - rest % job->rest[0].size : 1;
  *at = *result = 0;
  for (int a = 0; a < job->rest_axes; a++) {
    *at += rest % job->rest[a].size * job->rest[a].stride;
    *result += rest % job->rest[a].size * job->rest[a].result;
    rest /= job->rest[a].size;
  }
  return left;
}

/* Runs of a slice are copied place by place where they are longer than the step between places, else elements of all
 * places are gathered. */
static void move_slices(const ndr_select_job *job, const ndr_select_piece *piece, const uint16_t *list, int64_t count,
                        int64_t to, int64_t from_rest, int64_t to_rest) {
  int64_t bytes = job->element, step = job->result_step, some;
  const int64_t stride = job->rest_axes ? job->rest[0].stride : 1, result = job->rest_axes ? job->rest[0].result : 1;
  bool rows = job->rest_axes && job->rest[0].size >= 4 && stride < (piece->stride < 0 ? -piece->stride : piece->stride);
  for (int64_t rest = from_rest; rest < to_rest; rest += some) {
    int64_t at, there;
    some = find_rest(job, rest, &at, &there);
    if (some > to_rest - rest) some = to_rest - rest;
    const char *from = job->array + (piece->at + at) * bytes;
    char *target = job->result + (to * step + there) * bytes;
    for (int64_t j = 0; rows && j < count; j++)
      copy(bytes, from + list[j] * piece->stride * bytes, stride, some, target + j * step * bytes, result);
    for (int64_t i = 0; !rows && i < some; i++)
      gather(bytes, from + i * stride * bytes, piece->stride, list, count, target + i * result * bytes, step);
  }
}

/* ---- indices ---- */

static void put_indices(const ndr_select_job *job, const ndr_select_piece *piece, const uint16_t *list, int64_t count,
                        int64_t to) {
  const int64_t step = job->made->result_strides[0], across = job->made->result_strides[1];
  for (int d = 0; d < job->place_axes; d++) {
    int64_t *target = (int64_t *)(void *)job->result + to * step + d * across;
    int64_t first = piece->index[job->place_axes - 1 - d];
    if (d < job->place_axes - 1)
      for (int64_t j = 0; j < count; j++) target[j * step] = first;
    else if (step == 1)
      for (int64_t j = 0; j < count; j++) target[j] = first + list[j];
    else
      for (int64_t j = 0; j < count; j++) target[j * step] = first + list[j];
  }
}

void ndr_select_move(const ndr_select_job *job, const ndr_select_piece *piece, const uint16_t *list, int64_t count,
                     int64_t to, int64_t from_rest, int64_t to_rest) {
  if (count > job->made->room - to) count = job->made->room - to;
  if (count <= 0) return;
  if (job->made->kind == NDR_SELECTION_NONZERO)
    put_indices(job, piece, list, count, to);
  else if (job->made->dim < 0)
    move_elements(job, piece, list, count, to);
  else
    move_slices(job, piece, list, count, to, from_rest, to_rest);
}
