/* A variable that an attribute of a dataset names, as CF does: bounds, coordinates of several dims, a grid mapping. It
 * is cut as the dataset is: along the dims that both have, only the selected part counts, and the variables of a
 * series' files are joined along the series' dim. Copying it to an output is the matter of cf_copy_variable.h. */
#ifndef NDR_H5_CF_VARIABLE_H
#define NDR_H5_CF_VARIABLE_H

#include "h5/file/dataset.h"

typedef struct ndr_cf_variable {
  int count; /* files that it is read from; 0: there is none of that name */
  ndr_h5_dataset **pieces;
  ndr_h5_dataset whole; /* borrows the texts and the id of the first piece */
  bool converted;       /* only its values are those of the whole: see ndr_cf_variable_read_values */
  bool fits;            /* it may be copied: it has none of the reduced dims, and means the same in all files */
} ndr_cf_variable;

/* Looks in the group of the dataset and in those above it, as CF does. info.dtype is not set where
 * its elements are no numbers. A dim that it shares with several dims of the dataset counts as the one that is kept.
 * `bounds`: it has the units of the coordinates along the dim of a series, and is converted with them. Fails where what
 * is there cannot be read. To be closed even then. */
ndr_status ndr_cf_variable_open(ndr_cf_variable *v, const ndr_h5_dataset *source, const bool *reduced, const char *name,
                                bool bounds);

void ndr_cf_variable_close(ndr_cf_variable *v);

/* The bytes of its elements if they are numbers or texts and take at most `most` bytes, else `most` + 1. Negative if
 * that cannot be told. */
int64_t ndr_cf_variable_bytes(const ndr_cf_variable *v, int64_t most);

/* Reads all of `whole` as `type`, its own; texts of variable length are to be reclaimed, even after a failure. */
bool ndr_cf_variable_read(const ndr_cf_variable *v, hid_t type, void *data);

/* Reads the numbers of `whole`, unpacked and converted. No piece may be short. */
bool ndr_cf_variable_read_values(const ndr_cf_variable *v, double *values);

/* Names the file and the path that it comes from and the part of it that is selected; no two variables have the same
 * text. To be freed; NULL if memory is short. */
char *ndr_cf_variable_origin(const ndr_cf_variable *v);

#endif
