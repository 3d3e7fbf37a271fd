/* Which part of a dataset is reduced. Reads no file. */
#ifndef NDR_H5_FILE_SELECT_H
#define NDR_H5_FILE_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "ndreduce/ndreduce.h"

/* `count` elements of a dim: from, from + step, ... The step is less than the dim's size, and 1 for fewer than two
 * elements, so that it can be multiplied by what elements are apart in a file. */
typedef struct ndr_selection {
  int64_t from, step, count;
} ndr_selection;

/* Reads the text between brackets. It has an entry for each dim: an index, which leaves the dim with size 1, or
 * START:STOP:STEP as in Python with a positive step. "..." stands for all dims that have no entry; without it those are
 * the last ones. Errors also name the dims; names may be NULL. */
ndr_status ndr_select_parse(const char *text, int ndim, const int64_t *shape, const char *const *names,
                            ndr_selection *selections);

#endif
