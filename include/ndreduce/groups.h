/* Groups: labels along a reduced dim. The result has a dim of groups in its place.
 *
 *   float x[4][2] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}}, sums[3][2];
 *   int32_t season[4] = {0, 2, 0, -1};
 *   int64_t shape[] = {4, 2}, by_season[] = {3, 2};
 *   DLTensor array = ndr_tensor(x, NDR_F32, 2, shape), labels = ndr_tensor(season, NDR_I32, 1, shape);
 *   DLTensor result = ndr_tensor(sums, NDR_F32, 2, by_season);
 *   ndr_groups *groups = NULL;
 *   ndr_status status = ndr_groups_create(&groups, &labels, 3);
 *   if (status == NDR_OK) status = ndreduce(&array, NDR_DIMS(0), NDR_SUM, &result, NDR_OPTIONS(.groups = groups));
 *   if (status == NDR_OK) printf("%g %g %g %g\n", sums[0][0], sums[1][0], sums[2][0], sums[2][1]); // prints 6 0 3 4
 *   ndr_groups_destroy(groups);
 *
 * A label is the number of a group, from 0; an element whose label is -1 belongs to none, which unsigned labels cannot
 * say. Labels may come in any order.
 * The dim of groups takes the place of options.group_dim, which must be one of the reduced dims; other reduced dims are
 * reduced in each group. With keepdims the others keep their size 1. argmin and argmax give the index in the whole
 * array, as without groups. A group without elements has the value of an empty reduction; for min and max that is inf
 * or the largest integer and -inf or the smallest (under skip_nan floats give NaN), for ptp NaN, or 0 for integers, for
 * argmin and argmax -1. options.initial counts once in every group.
 *
 * Labels with k dims, such as the zones of a map, cover dims group_dim .. group_dim + k - 1. All of them must be
 * reduced, and the dim of groups takes the place of all. The array has at most NDR_MAX_DIMS + k - 3 dims.
 *
 * What it costs: labels are cut into pieces that an array with strides can hold: runs of equal labels, runs of equal
 * length whose labels count up or down, and both repeated with a period. So months and years of a regular axis, hours,
 * and windows cost what the plain reduction costs. Each piece is one launch on a GPU, and one more for each operator if
 * its group has other pieces, too; these are queued on the call's stream. Labels in many small pieces are read by a
 * table instead, or sorted.
 *
 * On the CPU, where each label has a row of 64 contiguous bytes or more, rows are reduced where they lie, at about 0.9
 * of the rate of the plain reduction; groups of nine such rows at 0.6 to 0.8. Where labels lie along the fastest dim,
 * and another dim has 8 elements or more, a table serves all of a row's labels that are in more pieces than one. Sums
 * of f32 by 12 to 366 groups of 8,760 labels in no order, by months, and by zones of a map run at about 0.8 to 1 of the
 * plain rate, by 10,000 groups at about half. Integers of 8 and 16 bits, complex numbers, skip_nan, and other operators
 * than sum, mean, norm2, min and max are slower: elements are copied, unless runs of labels are long. argmin and
 * argmax, which take runs one by one, run at 0.15. The table is part of the plan, and is for up to 16,384 groups. It
 * takes about 8 bytes a label where nothing is copied, else up to 32. The workspace has, for each thread, the states of
 * all groups for 8 to 64 outputs, twice. Elsewhere, and for masks, weights and operators of one's own, elements are
 * copied group by group, in blocks, at about a third to a half of the plain rate, in memory that each thread allocates.
 *
 * On a GPU with run-time compilation labels of more than 4 pieces become a table in device memory, 4 to 8 bytes a
 * label, and one launch, or two, reduces all groups. The plan owns the table: making it waits for the copy, and
 * destroying it for the device. So capture in a graph what a plan of yours executes, and destroy the graph first. Where
 * labels lie along the fastest axis, the states of all groups, 8 bytes a word, should fit in a block's shared memory
 * (on Hopper 25,000 sums). If not, and where another reduced dim is the fastest, elements would be gathered one by one,
 * up to eight times slower; then labels are left in pieces unless these would take longer.
 *
 * Where no table serves, argmin, argmax and index(d) need a plan for each piece; with more than 65,536 of them, or 4
 * million pieces in all, a call fails with NDR_ERR_UNSUPPORTED: sort the array by its labels first. Families are not
 * measured (NDR_MEASURE counts as NDR_ESTIMATE), and forcing one leaves labels in pieces. Where groups have several
 * pieces, a workspace has the partial states of all results.
 *
 * After NDR_ERR_MEMORY some groups' results may have been written, and of a slab some groups added.
 *
 * Results are bitwise equal from run to run and for any number of threads.
 *
 * Functions may be called from any thread at any time; groups may be destroyed once the calls that were given them have
 * returned. */
#ifndef NDREDUCE_GROUPS_H
#define NDREDUCE_GROUPS_H

#include "ndreduce/ndreduce.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes groups from labels: any integer dtype, any strides, 1 dim or more, on the CPU. They are copied, 4 bytes each.
 * `count` is the number of groups, 1 to 2^31 - 1, those without elements included. On failure *groups is NULL:
 * NDR_ERR_ARGUMENT where a label is below -1 or not below count, and names it; NDR_ERR_DTYPE for labels that are not
 * integers; NDR_ERR_MEMORY. Free with ndr_groups_destroy. */
NDR_API ndr_status ndr_groups_create(ndr_groups **groups, const DLTensor *labels, int64_t count);

/* What is left over where windows do not fill a dim. */
typedef enum ndr_rest {
  NDR_REST_REFUSE = 0, /* an error */
  NDR_REST_TRIM = 1,   /* belongs to no window */
  NDR_REST_PAD = 2     /* is a window of its own, shorter than the others */
} ndr_rest;

/* Makes groups of `window` neighbours, 1 or more, along a dim of size `length`: element i is in group i / window. On
 * failure *groups is NULL: NDR_ERR_ARGUMENT where the windows do not fill the dim and rest is NDR_REST_REFUSE, or where
 * there would be no group. Free with ndr_groups_destroy. */
NDR_API ndr_status ndr_groups_windows(ndr_groups **groups, int64_t length, int64_t window, ndr_rest rest);

/* Windows along a dim of size `size`: elements `begin` to end - 1, `window` of them at a time. The last may have fewer.
 * Elements before and behind these are in no window. */
typedef struct ndr_windows {
  int64_t size, begin, end, window;
} ndr_windows;

/* Makes groups of windows along `ndim` dims that lie next to each other, such as boxes of 2 x 2 cells of a map:
 *   const ndr_windows of_map[] = {{180, 0, 180, 2}, {361, 0, 360, 2}}; // the last column is in no window
 * The windows are counted row by row, and result in one dim of as many groups. They are read as views of the array, and
 * have no labels: an array may be of any size, and there may be more than 2^31 windows. Only index(d), and on a GPU
 * argmin and argmax, take labels, 4 bytes for each element along these dims of an array or slab, and up to 2^31 - 1
 * windows.
 * On failure *groups is NULL: NDR_ERR_ARGUMENT where a range is empty or leaves its dim. Free with ndr_groups_destroy.
 *
 * Without groups: windows that fill their dims are a view, and its dims 1 and 3 are reduced,
 *   DLTensor boxes = ndr_tensor(x, NDR_F32, NDR_SHAPE(90, 2, 180, 2)); // x is [180][360], the result [90][180] */
NDR_API ndr_status ndr_groups_boxes(ndr_groups **groups, int ndim, const ndr_windows *windows);

/* The number of groups, which is the size of the result's dim; of NULL 0. */
NDR_API int64_t ndr_groups_count(const ndr_groups *groups);

/* Frees groups; NULL is allowed. Plans and accumulators that were made with them go on. The library may keep a plan,
 * and with it the labels, for the next call. */
NDR_API void ndr_groups_destroy(ndr_groups *groups);

#ifdef __cplusplus
}
#endif
#endif
