/* Axes of a selection, as kernels walk along them. */
#ifndef NDR_GPUPLAN_SELECT_AXES_H
#define NDR_GPUPLAN_SELECT_AXES_H

#include "scan/selection.h"
#include "spec/select_params.h"

/* Adds an axis outside those that a walk has; `merges`: one that continues the last becomes part of it. */
void ndr_select_add_axis(ndr_select_walk *walk, int64_t size, int64_t stride, bool merges);

/* Sets the walk over the array's dims in row-major order, with these strides times `bytes`. */
void ndr_select_walk_all(ndr_select_walk *walk, const ndr_selection *selection, const int64_t *strides, int64_t bytes);

/* Sets the walks over a slice's elements in the array and in the result, which have the same axes: the first is the one
 * whose neighbours lie closest. Returns the number of elements. */
int64_t ndr_select_walk_slice(const ndr_selection *selection, int64_t bytes, ndr_select_walk *from,
                              ndr_select_walk *to);

/* Completes a walk, so that kernels can divide by its axes' sizes. */
void ndr_select_end_walk(ndr_select_walk *walk);

/* Whether numbers that follow each other lead to addresses that are `step` apart. */
bool ndr_select_is_dense(const ndr_select_walk *walk, int64_t step);

/* The widest unit, a power of 2 up to 16, that divides `bytes`, both addresses and all strides of both walks. */
int ndr_select_unit(int64_t bytes, const ndr_selection_addresses *addresses, const ndr_select_walk *from,
                    const ndr_select_walk *to);

#endif
