/* What must come out of selections and sorting, and whether a rung's results, of whatever ladder, are right. */
#include <stdlib.h>
#include <string.h>

#include "ladder/ladder.h"

int ladder_limit(const ladder_data *data) {
  return data->keep * (LADDER_VALUES / 100);
}

unsigned ladder_order_of(const ladder_rung *rung) {
  switch (rung->kernel) {
  case LADDER_SELECT_ATOMIC:
  case LADDER_SELECT_WARP: return LADDER_ANY_ORDER;
  case LADDER_QUICKSORT:
  case LADDER_CUB_SORT: return LADDER_SORTED;
  default: return LADDER_IN_ORDER;
  }
}

/* Element i if it is a whole number from 0 to LADDER_VALUES - 1, else -1. */
static int64_t whole(ladder_dtype dtype, const void *array, int64_t i) {
  double value = dtype == LADDER_I32   ? (double)((const int32_t *)array)[i]
                 : dtype == LADDER_F32 ? (double)((const float *)array)[i]
                                       : ((const double *)array)[i];
  return value >= 0 && value < LADDER_VALUES && value == (double)(int64_t)value ? (int64_t)value : -1;
}

static void put(ladder_dtype dtype, void *array, int64_t i, int64_t value) {
  switch (dtype) {
  case LADDER_I32: ((int32_t *)array)[i] = (int32_t)value; break;
  case LADDER_F32: ((float *)array)[i] = (float)value; break;
  case LADDER_F64: ((double *)array)[i] = (double)value; break;
  }
}

/* Sorts by counting each number. False: memory is short, or an element is no such number; then the array is as it was.
 */
static bool sort(ladder_dtype dtype, void *array, int64_t count) {
  int64_t *often = calloc(LADDER_VALUES, sizeof *often), at = 0;
  bool known = often != NULL;
  for (int64_t i = 0; known && i < count; i++) {
    int64_t value = whole(dtype, array, i);
    known = value >= 0;
    if (known) often[value]++;
  }
  for (int64_t value = 0; known && value < LADDER_VALUES; value++)
    for (int64_t i = 0; i < often[value]; i++) put(dtype, array, at++, value);
  free(often);
  return known;
}

bool ladder_select(ladder_data *data, unsigned order) {
  int64_t limit = order == LADDER_SORTED ? LADDER_VALUES : ladder_limit(data);
  data->expected_count = 0;
  for (int64_t i = 0; i < data->elements; i++) {
    int64_t value = whole(data->dtype, data->host, i);
    if (value < limit) put(data->dtype, data->expected, data->expected_count++, value);
  }
  return order == LADDER_IN_ORDER || sort(data->dtype, data->expected, data->expected_count);
}

bool ladder_check(ladder_data *data, const ladder_rung *rung, void *got, int64_t selected, char *complaint,
                  size_t capacity) {
  unsigned goal = ladder_goal(data, rung);
  const void *expected = ladder_expected(data, goal);
  if (!expected) {
    snprintf(complaint, capacity, "out of memory");
    return false;
  }
  if (data->kind == LADDER_SELECT && goal != LADDER_SORTED && selected != data->expected_count) {
    snprintf(complaint, capacity, "%lld elements are kept, it must be %lld", (long long)selected,
             (long long)data->expected_count);
    return false;
  }
  /* Where sorting fails, the comparison finds the element that is no such number. */
  if (data->kind == LADDER_SELECT && goal == LADDER_ANY_ORDER) (void)sort(data->dtype, got, selected);
  return ladder_same(data->dtype, data->expected_count, got, expected, complaint, capacity);
}
