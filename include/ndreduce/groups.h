/* Groups: labels along a reduced dim. The result has a dim of groups in its place.
 *
 *   float x[4][2] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}}, sums[3][2];
 *   int32_t season[4] = {0, 2, 0, -1};
 *   DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(4, 2)), labels = ndr_tensor(season, NDR_I32, NDR_SHAPE(4));
 *   DLTensor result = ndr_tensor(sums, NDR_F32, NDR_SHAPE(3, 2));
 *   ndr_groups *groups = NULL;
 *   ndr_status status = ndr_groups_create(&groups, &labels, 3);
 *   if (status == NDR_OK) status = ndreduce(&array, NDR_DIMS(0), NDR_SUM, &result, NDR_OPTIONS(.groups = groups));
 *   if (status == NDR_OK) printf("%g %g %g %g\n", sums[0][0], sums[1][0], sums[2][0], sums[2][1]); // prints 6 0 3 4
 *   ndr_groups_destroy(groups);
 *
 * A label is the number of a group, from 0; an element whose label is -1 belongs to none. Labels may come in any order.
 * The dim of groups takes the place of options.group_dim, which must be one of the reduced dims; other reduced dims are
 * reduced in each group. With keepdims the others keep their size 1. argmin and argmax give the index in the whole
 * array, as without groups. A group without elements has the value of an empty reduction; for min and max that is inf
 * or the largest integer and -inf or the smallest (under skip_nan floats give NaN), for ptp NaN, or 0 for integers, for
 * argmin and argmax -1. options.initial counts once in every group.
 *
 * Labels of two dims and more, such as the zones of a map, stand for that many neighbouring dims, the first of which is
 * options.group_dim; all of them must be reduced, and the dim of groups takes the place of all.
 *
 * How labels are used: neighbours with equal labels, and labels that repeat with a period, are reduced as arrays with
 * strides. So months, years and hours of a regular axis, and windows of equal length, cost what the plain reduction
 * costs. Scattered labels of rows (of 64 contiguous bytes or more, without operands, operators of one's own, argmin and
 * argmax, on the CPU) cost about twice as much. All others are reduced piece by piece, a piece in about a microsecond:
 * sort the array by its labels first where there are many. With more than 4 million pieces a call fails with
 * NDR_ERR_UNSUPPORTED.
 *
 * Functions may be called from any thread at any time. */
#ifndef NDREDUCE_GROUPS_H
#define NDREDUCE_GROUPS_H

#include "ndreduce/ndreduce.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes groups from labels: any integer dtype, any strides, 1 dim or more, in the host's memory. They are copied.
 * `count` is the number of groups, 1 to 2^31 - 1, those without elements included. Fails with NDR_ERR_ARGUMENT where a
 * label is below -1 or not below count, and names it. Free with ndr_groups_destroy. */
NDR_API ndr_status ndr_groups_create(ndr_groups **groups, const DLTensor *labels, int64_t count);

/* What is left over where windows do not fill a dim. */
typedef enum ndr_rest {
  NDR_REST_REFUSE = 0, /* an error */
  NDR_REST_TRIM = 1,   /* belongs to no window */
  NDR_REST_PAD = 2     /* is a window of its own, shorter than the others */
} ndr_rest;

/* Makes groups of `window` neighbours along a dim of size `length`. */
NDR_API ndr_status ndr_groups_windows(ndr_groups **groups, int64_t length, int64_t window, ndr_rest rest);

/* The number of groups: the size of the result's dim. */
NDR_API int64_t ndr_groups_count(const ndr_groups *groups);

/* Frees groups; NULL is allowed. Plans and accumulators that were made with them go on. */
NDR_API void ndr_groups_destroy(ndr_groups *groups);

#ifdef __cplusplus
}
#endif
#endif
