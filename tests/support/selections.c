#include "selections.h"

#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "suite.h"

static int64_t count_of(const ndr_problem *layout) {
  int64_t count = 1;
  for (int d = 0; d < layout->ndim; d++) count *= layout->shape[d];
  return count;
}

/* ---- arrays ---- */

static void set_strides(ndr_problem *layout) {
  int64_t step = 1;
  for (int d = layout->ndim - 1; d >= 0; d--) {
    layout->strides[d] = step;
    step *= layout->shape[d] > 0 ? layout->shape[d] : 1;
  }
}

/* Dims in a random order, now and then backwards or with gaps, so that no two elements share memory. */
static void spread(rng *random, ndr_problem *layout) {
  int order[NDR_MAX_DIMS];
  int64_t step = rng_between(random, 1, 2);
  rng_shuffle(random, layout->ndim, order);
  for (int i = 0; i < layout->ndim; i++) {
    int d = order[i];
    layout->strides[d] = rng_once_in(random, 3) ? -step : step;
    step = step * (layout->shape[d] > 0 ? layout->shape[d] : 1) + (rng_once_in(random, 3) ? 3 : 0);
  }
}

static void random_array(rng *random, int64_t most, ndr_problem *layout) {
  static const int64_t sizes[] = {1, 31, 32, 33, 1023, 1024, 1025, 8191, 8192, 8193, 16384, 20000},
                       widths[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 64, 300, 1025, 2100};
  random_case(random, most, layout);
  if (rng_once_in(random, 3)) return;
  layout->ndim = (int)rng_between(random, 1, 2);
  layout->shape[1] = widths[rng_between(random, 0, 12)];
  do layout->shape[0] = sizes[rng_between(random, 0, 11)];
  while (layout->shape[0] > 1 && count_of(layout) > most);
  if (layout->ndim == 2 && rng_once_in(random, 3)) {
    int64_t size = layout->shape[0];
    layout->shape[0] = layout->shape[1], layout->shape[1] = size;
  }
  set_strides(layout);
  if (rng_once_in(random, 3)) spread(random, layout);
}

static void fill_mask(test_array *mask, rng *random, int percent) {
  for (size_t i = 0; i < mask->bytes; i++)
    ((uint8_t *)mask->memory)[i] = rng_between(random, 0, 99) < percent ? (uint8_t)rng_between(random, 1, 255) : 0;
}

static void random_mask(selection_case *made, const ndr_problem *layout, rng *random) {
  static const int percents[] = {0, 1, 10, 50, 90, 100};
  bool all = made->dim == NDR_SCAN_ALL;
  ndr_problem mask = NDR_PROBLEM_INIT;
  mask.dtype = NDR_BOOL;
  mask.ndim = made->call == CALL_NONZERO ? 0 : !all ? 1 : layout->ndim;
  if (all && mask.ndim && rng_once_in(random, 5)) mask.ndim = (int)rng_between(random, 0, layout->ndim);
  for (int d = 0; d < mask.ndim; d++)
    mask.shape[d] = rng_once_in(random, 8) ? 1
                    : all                  ? layout->shape[layout->ndim - mask.ndim + d]
                                           : layout->shape[made->dim];
  set_strides(&mask);
  if (rng_once_in(random, 4)) spread(random, &mask);
  if (rng_once_in(random, 10))
    for (int d = 0; d < mask.ndim; d++) mask.strides[d] = 0;
  array_of_case(&made->mask, &mask);
  fill_mask(&made->mask, random, percents[rng_between(random, 0, 5)]);
}

/* ---- results ---- */

static void make_results(selection_case *made, rng *random) {
  const test_array *array = &made->array;
  const bool all = made->dim == NDR_SCAN_ALL;
  ndr_problem layout = NDR_PROBLEM_INIT;
  layout.dtype = made->call == CALL_NONZERO ? NDR_I64 : array->dtype;
  layout.ndim = made->call == CALL_NONZERO ? 2 : all ? 1 : array->tensor.ndim;
  if (made->call == CALL_PARTITION && all && random && rng_once_in(random, 2)) {
    layout.ndim = array->tensor.ndim;
    memcpy(layout.shape, array->shape, sizeof layout.shape);
  } else {
    memcpy(layout.shape, array->shape, sizeof layout.shape);
    layout.shape[all ? 0 : made->dim] = made->room;
    if (made->call == CALL_NONZERO) layout.shape[1] = array->tensor.ndim;
  }
  set_strides(&layout);
  if (random && rng_once_in(random, 3)) spread(random, &layout);
  array_of_case(&made->result, &layout);
  array_of_case(&made->expected, &layout);
}

/* How many places are kept: a result without room says so. */
static int64_t count_kept(const selection_case *made) {
  selection_case none = *made;
  int64_t count = -1;
  if (made->call == CALL_PARTITION) none.call = CALL_SELECT;
  none.room = 0;
  make_results(&none, NULL);
  ndr_status status = selection_run(&none, &made->array.tensor, &made->mask.tensor, &none.result.tensor, &count, NULL);
  ck_assert(status == NDR_OK || count > 0);
  array_free(&none.result);
  array_free(&none.expected);
  return count;
}

static void expect(selection_case *made) {
  int64_t count = -1;
  ndr_status status =
      selection_run(made, &made->array.tensor, &made->mask.tensor, &made->expected.tensor, &count, NULL);
  ck_assert_msg(status == (made->kept > made->room ? NDR_ERR_RESULT : NDR_OK), "%s: %s", made->text, ndr_last_error());
  ck_assert_int_eq(count, made->kept);
}

static void describe(selection_case *made) {
  static const char *const calls[] = {"select", "partition", "nonzero"};
  size_t length = 0, capacity = sizeof made->text;
  ndr_text_append(made->text, capacity, &length, "%s %s [", calls[made->call], ndr_dtype_name(made->array.dtype));
  for (int d = 0; d < made->array.tensor.ndim; d++)
    ndr_text_append(made->text, capacity, &length, "%s%lld:%lld", d ? "," : "", (long long)made->array.shape[d],
                    (long long)made->array.strides[d]);
  ndr_text_append(made->text, capacity, &length, "]");
  if (made->dim != NDR_SCAN_ALL) ndr_text_append(made->text, capacity, &length, " along %d", made->dim);
  ndr_text_append(made->text, capacity, &length, ", %lld kept, room for %lld", (long long)made->kept,
                  (long long)made->room);
}

static int64_t places_of(const selection_case *made) {
  return made->dim == NDR_SCAN_ALL ? array_count(&made->array.tensor) : made->array.shape[made->dim];
}

/* ---- public ---- */

void selection_random(selection_case *made, rng *random, int64_t most) {
  ndr_problem layout;
  memset(made, 0, sizeof *made);
  random_array(random, most, &layout);
  made->call = (selection_call)rng_between(random, 0, CALL_COUNT - 1);
  bool all = made->call == CALL_NONZERO || layout.ndim == 0 || rng_once_in(random, 2);
  made->dim = all ? NDR_SCAN_ALL : (int)rng_between(random, 0, layout.ndim - 1);
  array_of_case(&made->array, &layout);
  array_fill(&made->array, random,
             made->call != CALL_NONZERO ? FILL_WIDE : (filling)rng_between(random, 0, FILL_COUNT - 1));
  random_mask(made, &layout, random);
  made->kept = count_kept(made);
  made->room = made->call == CALL_PARTITION ? places_of(made)
               : rng_once_in(random, 4)     ? made->kept / 2
                                            : made->kept + rng_between(random, 0, 3);
  make_results(made, random);
  describe(made);
  expect(made);
}

void selection_of(selection_case *made, rng *random, const selection_form *form) {
  ndr_problem layout = NDR_PROBLEM_INIT;
  memset(made, 0, sizeof *made);
  layout.dtype = form->dtype;
  layout.ndim = form->ndim;
  memcpy(layout.shape, form->shape, sizeof layout.shape);
  set_strides(&layout);
  made->call = form->call;
  made->dim = form->dim;
  array_of_case(&made->array, &layout);
  array_fill(&made->array, random, form->call == CALL_NONZERO ? FILL_SMALL : FILL_WIDE);
  bool all = form->dim == NDR_SCAN_ALL;
  array_make(&made->mask, NDR_BOOL,
             form->call == CALL_NONZERO ? 0
             : all                      ? form->ndim
                                        : 1,
             all ? form->shape : &form->shape[form->dim], NULL);
  fill_mask(&made->mask, random, form->percent);
  made->kept = count_kept(made);
  made->room = places_of(made);
  make_results(made, NULL);
  describe(made);
  expect(made);
}

void selection_free(selection_case *made) {
  array_free(&made->array);
  array_free(&made->mask);
  array_free(&made->result);
  array_free(&made->expected);
}

ndr_status selection_run(const selection_case *given, const DLTensor *array, const DLTensor *mask, DLTensor *result,
                         int64_t *count, void *stream) {
  ndr_select_options options = NDR_SELECT_OPTIONS_INIT;
  options.stream = stream;
  if (given->call == CALL_NONZERO) return ndr_nonzero(array, result, count, &options);
  return (given->call == CALL_SELECT ? ndr_select : ndr_partition)(array, mask, given->dim, result, count, &options);
}
