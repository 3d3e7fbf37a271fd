/* Which part of a dataset is reduced, as it is written. Reads no file. */
#ifndef NDR_H5_FILE_SELECT_H
#define NDR_H5_FILE_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "ndreduce/ndreduce.h"

/* `count` elements of a dim: from, from + step, ... The step is less than the dim's size, and 1 for fewer than two
 * elements, so that it can be multiplied by what elements are apart in a file. */
typedef struct ndr_selection {
  int64_t from, step, count;
  /* The dim is selected by its coordinates instead: what is written behind NAME=, in the text that was parsed, and its
   * length. NULL for indices. The numbers above are then those of the whole dim. */
  const char *values;
  int length;
} ndr_selection;

/* Reads the text between brackets. An entry without a name is of the next dim: an index, which leaves the dim with size
 * 1, or START:STOP:STEP as in Python with a positive step. "..." stands for all dims that have no entry; without it
 * those are the last ones. NAME=VALUES is of the dim of that name or number, whatever its place among the entries.
 * Errors also name the dims; names may be NULL. */
ndr_status ndr_select_parse(const char *text, int ndim, const int64_t *shape, const char *const *names,
                            ndr_selection *selections);

/* The next NAME of an entry NAME=VALUES, from *text on, blanks around it dropped; *text is moved behind its '='.
 * Returns its length, or -1 after the last. */
int ndr_select_next_name(const char **text, const char **name);

#endif
